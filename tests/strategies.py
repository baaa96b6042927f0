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


def nodes_of(G):
    return st.sampled_from(list(G))


def alphas():
    return st.floats(0.02, 0.95)


def epsilons():
    return st.sampled_from([0.3, 1e-2, 1e-4, 1e-7])


def masses(G):
    return st.dictionaries(nodes_of(G), st.floats(0.1, 5.0), min_size=1)
