"""A first look: ``python -m nx_fastonl`` on the karate club, who is close to one member and who sides with whom."""

import networkx as nx

from nx_fastonl.online import online_node_labeling
from nx_fastonl.pagerank import personalized_pagerank_local

MEMBER = 22


def main() -> None:
    """Print the karate club's ten members closest to one of them, then how well their sides are predicted online."""
    club = nx.karate_club_graph()
    closest, info = personalized_pagerank_local(club, personalization=MEMBER, top_k=10, full_output=True)
    lines = [f"Zachary's karate club, {len(club)} members: the ten closest to member {MEMBER}", ""]
    longest = max(closest.values())
    for node, value in closest.items():
        lines.append(f"  {node:>3}  {value:.4f}  {'#' * round(40 * value / longest)}")
    certain = "certain" if info.top_k_certain else "not certain"
    lines += ["", f"L1 error at most {info.l1_error:.1e}; these ten are {certain}; {info.operations:,} edges walked"]
    sides = online_node_labeling(club, "club")
    lines += [f"Whose side is each member on, asked one by one? {sides.mistakes} mistakes in {len(sides)}"]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
