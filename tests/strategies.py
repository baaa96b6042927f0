"""Random graphs and parameters for hypothesis."""

import networkx as nx
import numpy as np
from hypothesis import strategies as st

WEIGHTS = {
    "none": None,
    "int": st.integers(1, 9),
    "float": st.floats(0.01, 100.0),
    "float32": st.floats(0.0625, 64.0, width=32).map(np.float32),
}


@st.composite
def small_graphs(draw, directed=False, max_nodes=12):
    """Weighted or not, with self-loops, isolated nodes, several components, one node, ints or strings as nodes."""
    n = draw(st.integers(1, max_nodes))
    names = draw(st.sampled_from([list(range(n)), [f"node {i}" for i in range(n)], list(range(n, 0, -1))]))
    pairs = [(u, v) for u in range(n) for v in range(n) if directed or u <= v]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=3 * n))
    G = nx.DiGraph() if directed else nx.Graph()
    G.add_nodes_from(names)
    weights = WEIGHTS[draw(st.sampled_from(sorted(WEIGHTS)))]
    for u, v in edges:
        G.add_edge(names[u], names[v], **({} if weights is None else {"weight": draw(weights)}))
    return G


def in_double(G):
    """Weights as Python's floats: NetworkX adds single precision in single precision, this package does not."""
    for _, _, data in G.edges(data=True):
        data.update((name, float(value)) for name, value in data.items())
    return G


def nodes_of(G):
    return st.sampled_from(list(G))


def alphas():
    return st.floats(0.02, 0.95)


def epsilons():
    return st.sampled_from([0.3, 1e-2, 1e-4, 1e-7])


def masses(G):
    return st.dictionaries(nodes_of(G), st.floats(0.1, 5.0), min_size=1)


@st.composite
def graphs_with_ties(draw):
    """Copies, cliques, trees, stars, grids, bipartite graphs; a few edges may weigh more, some by a few last bits."""
    size = draw(st.integers(2, 5))
    kind = draw(st.sampled_from(["copies", "caveman", "tree", "star", "grid", "bipartite", "cycle", "barbell"]))
    if kind == "copies":  # of a random graph, some of them joined by a node
        pattern = nx.gnp_random_graph(size, 0.6, seed=draw(st.integers(0, 20)))
        G = nx.disjoint_union_all([pattern] * 3)
        G.add_edges_from((3 * size, copy * size) for copy in range(draw(st.integers(0, 3))))
    elif kind == "barbell":
        G = nx.barbell_graph(size, draw(st.integers(0, 2)))
    else:
        G = {
            "caveman": lambda: nx.connected_caveman_graph(3, max(size, 2)),
            "tree": lambda: nx.balanced_tree(min(size, 3), 2),
            "star": lambda: nx.star_graph(2 * size),
            "grid": lambda: nx.convert_node_labels_to_integers(nx.grid_2d_graph(size, 3)),
            "bipartite": lambda: nx.complete_bipartite_graph(size, 3),
            "cycle": lambda: nx.cycle_graph(2 * size),
        }[kind]()
    if draw(st.booleans()):
        for u, v in draw(st.lists(st.sampled_from(sorted(G.edges)), max_size=3)) if G.edges else []:
            G[u][v]["weight"] = draw(st.integers(1, 3)) + draw(st.integers(0, 9)) * 2**-51
    direction = draw(st.sampled_from(["none", "both ways", "one way"]))
    if direction == "none":
        return G
    directed = G.to_directed()
    if direction == "one way":
        directed.remove_edges_from([(u, v) for u, v in directed.edges if u > v])
    return directed
