"""The files of the command ``example``: Zachary's karate club, with the clubs of ten of its members."""

from __future__ import annotations

import networkx as nx

from nx_fastonl.cli.render import render

# In the order in which they are labelled; Mr. Hi and the officer come first, then four more of each club.
MEMBERS = (0, 33, 5, 23, 16, 28, 2, 30, 8, 26)


def example_files() -> dict[str, bytes]:
    """The content of a list of edges and of a table of labels, by the name of the file."""
    club = nx.karate_club_graph()
    sources, targets, weights = zip(*club.edges(data="weight"), strict=True)
    labels = [club.nodes[member]["club"] for member in MEMBERS]
    return {
        "friends.csv": render({"source": sources, "target": targets, "weight": weights}, "csv"),
        "clubs.csv": render({"node": MEMBERS, "label": labels}, "csv"),
    }
