"""A first look: ``python -m nx_fastonl`` finds the people closest to one member of the karate club."""

import networkx as nx

from nx_fastonl.pagerank import personalized_pagerank_local

MEMBER = 22


def main() -> None:
    """Print the karate club's ten members closest to one of them, with the error that is certified."""
    club = nx.karate_club_graph()
    closest, info = personalized_pagerank_local(club, personalization=MEMBER, top_k=10, full_output=True)
    lines = [f"Zachary's karate club, {len(club)} members: the ten closest to member {MEMBER}", ""]
    longest = max(closest.values())
    for node, value in closest.items():
        lines.append(f"  {node:>3}  {value:.4f}  {'#' * round(40 * value / longest)}")
    certain = "certain" if info.top_k_certain else "not certain"
    lines += ["", f"L1 error at most {info.l1_error:.1e}; these ten are {certain}; {info.operations:,} edges walked"]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
