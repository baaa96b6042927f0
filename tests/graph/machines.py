"""A DynamicGraph and an nx.Graph that are given the same calls, for hypothesis."""

import networkx as nx
import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import nx_fastonl as fo

NODES = st.integers(0, 11)
WEIGHTS = st.one_of(st.none(), st.floats(0.1, 5.0), st.sampled_from([1.0, 100.0]))
EDGES = st.lists(st.tuples(NODES, NODES), max_size=8)


class GraphMachine(RuleBasedStateMachine):
    """All verbs of a DynamicGraph. `G` is the truth; `times` are those of the edges that have one."""

    def __init__(self):
        super().__init__()
        self.graph, self.G, self.times = None, None, {}

    @initialize(directed=st.booleans(), n=st.integers(0, 6), seed=st.integers(0, 20))
    def begin(self, directed, n, seed):
        self.G = nx.gnp_random_graph(n, 0.4, seed=seed, directed=directed)
        self.graph = fo.DynamicGraph(self.G)

    def key(self, u, v):
        return (u, v) if self.G.is_directed() else frozenset((u, v))

    @rule(node=NODES)
    def add_node(self, node):
        self.graph.add_node(node)
        self.G.add_node(node)

    @rule(u=NODES, v=NODES, weight=WEIGHTS, time=st.one_of(st.none(), st.integers(0, 9)))
    def add_edge(self, u, v, weight, time):
        self.graph.add_edge(u, v, weight, time=time)
        self.G.add_edge(u, v, **({} if weight is None else {"weight": weight}))
        if time is not None:
            self.times[self.key(u, v)] = time

    @rule(edges=EDGES, as_array=st.booleans(), weighted=st.booleans())
    def add_edges(self, edges, as_array, weighted):
        weights = [1.0 + (i % 3) / 2 for i in range(len(edges))] if weighted else None
        given = np.array(edges, dtype=np.int64).reshape(-1, 2) if as_array else edges
        self.graph.add_edges_from(given, weights)
        for i, (u, v) in enumerate(edges):
            self.G.add_edge(u, v, **({} if weights is None else {"weight": weights[i]}))

    @rule(edges=st.lists(st.tuples(NODES, NODES, st.floats(0.1, 5.0)), max_size=4))
    def add_weighted_edges(self, edges):
        self.graph.add_weighted_edges_from(edges)
        self.G.add_weighted_edges_from(edges)

    @rule(u=NODES, v=NODES)
    def remove_edge(self, u, v):
        if self.G.has_edge(u, v):
            self.graph.remove_edge(u, v)
            self.G.remove_edge(u, v)
            self.times.pop(self.key(u, v), None)

    @rule(edges=EDGES, as_array=st.booleans())
    def remove_edges(self, edges, as_array):
        self.graph.remove_edges_from(np.array(edges, dtype=np.int64).reshape(-1, 2) if as_array else edges)
        self.G.remove_edges_from(edges)
        for u, v in edges:
            self.times.pop(self.key(u, v), None)

    @rule(nodes=st.lists(NODES, max_size=2))
    def remove_nodes(self, nodes):
        self.graph.remove_nodes_from(nodes)
        self.G.remove_nodes_from(nodes)
        self.times = {key: time for key, time in self.times.items() if not set(nodes) & set(key)}

    @rule(time=st.integers(0, 10))
    def expire(self, time):
        old = {key for key, happened in self.times.items() if happened < time}
        gone = [(u, v) for u, v in self.G.edges if self.key(u, v) in old]
        assert self.graph.expire_before(time) == len(gone)
        self.G.remove_edges_from(gone)
        self.times = {key: happened for key, happened in self.times.items() if happened >= time}

    @invariant()
    def graphs_are_equal(self):
        if self.graph is None:
            return
        assert list(self.graph) == list(self.G)
        assert self.graph.number_of_edges() == self.G.number_of_edges()
        found, truth = (
            {self.key(u, v): weight for u, v, weight in graph.edges(data="weight", **default)}
            for graph, default in ((self.graph, {}), (self.G, {"default": 1.0}))
        )
        assert found == truth


def adjacency_by_row(graph, G):
    """W of an nx.Graph, in the rows of a DynamicGraph that has the same edges; of a directed one W + W^T."""
    n = len(graph.rows)
    W = np.zeros((n, n))
    for u, v, weight in G.edges(data="weight", default=1.0):
        i, j = graph.rows.index(u), graph.rows.index(v)
        W[i, j] += weight
        if G.is_directed() or i != j:
            W[j, i] += weight
    return W
