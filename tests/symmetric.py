"""Graphs in which many nodes are alike, so that many values of PageRank are equal."""

from __future__ import annotations

import networkx as nx


def symmetric_graphs() -> dict[str, nx.Graph]:
    random, random_digraph = (nx.gnm_random_graph(30, 90, seed=3, directed=directed) for directed in (False, True))
    tree = nx.bfs_tree(nx.balanced_tree(3, 5), 0)
    rings = nx.DiGraph()
    for ring in range(8):
        nx.add_cycle(rings, ["hub", *((ring, place) for place in range(6))])
    return {
        "path": nx.path_graph(50),
        "cycle with tails": nx.corona_product(nx.cycle_graph(12), nx.path_graph(1)),
        "barbell": nx.barbell_graph(4, 2),
        "grid": nx.grid_2d_graph(8, 8),
        "caveman": nx.connected_caveman_graph(6, 6),
        "balanced tree": nx.balanced_tree(3, 5),
        "hypercube": nx.hypercube_graph(6),
        "les_miserables": nx.les_miserables_graph(),
        "karate club": nx.karate_club_graph(),
        "random tree": nx.random_labeled_tree(2000, seed=1),
        "copies of a random graph": nx.disjoint_union_all([random] * 20),
        "directed path": nx.path_graph(50, create_using=nx.DiGraph),
        "directed tree, outwards": tree,
        "directed tree, inwards": tree.reverse(),
        "directed rings through a hub": rings,
        "directed grid": nx.grid_2d_graph(8, 8, create_using=nx.DiGraph),
        "copies of a random digraph": nx.disjoint_union_all([random_digraph] * 20),
        "copies of a large digraph": nx.disjoint_union_all(
            [nx.gnm_random_graph(3000, 9000, seed=5, directed=True)] * 3
        ),
        "scale-free digraph": nx.scale_free_graph(500, seed=1),
    }
