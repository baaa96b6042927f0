"""Nodes whose own code raises, at any call of it: a change has happened wholly or not at all, and the next works."""

import contextlib

import networkx as nx
import pytest

import nx_fastonl as fo
from tests.hostile import Broken, Fuse, HostileNode, each_call

VERBS = {
    "add_node": lambda graph, node: graph.add_node(node(9)),
    "add_nodes_from": lambda graph, node: graph.add_nodes_from([node(1), node(9), node(10), node(9)]),
    "add_edge": lambda graph, node: graph.add_edge(node(9), node(0), weight=2.0),
    "add_edge, known": lambda graph, node: graph.add_edge(node(3), node(0), weight=2.0, time=5.0),
    "add_edges_from": lambda graph, node: graph.add_edges_from(
        [(node(9), node(1)), (node(2), node(10)), (node(9), node(10)), (node(0), node(1))], times=[1, 2, 3, 4]
    ),
    "add_weighted_edges_from": lambda graph, node: graph.add_weighted_edges_from([(node(0), node(9), 0.5)]),
    "remove_edge": lambda graph, node: graph.remove_edge(node(1), node(2)),
    "remove_edges_from": lambda graph, node: graph.remove_edges_from([(node(1), node(2)), (node(0), node(1))]),
    "remove_node": lambda graph, node: graph.remove_node(node(5)),
    "remove_node, a first one": lambda graph, node: graph.remove_node(node(1)),
    "remove_nodes_from": lambda graph, node: graph.remove_nodes_from([node(1), node(5), node(4), node(77), node(5)]),
    "expire_before": lambda graph, _: graph.expire_before(10.0),
}


def _graph(directed, node):
    """Nodes that were there from the start, others that came later, one of them in the row of a node that left."""
    G = nx.DiGraph if directed else nx.Graph
    graph = fo.DynamicGraph(G([(node(u), node(u + 1)) for u in range(3)]))
    graph.remove_node(node(3))
    graph.add_edges_from([(node(5), node(1)), (node(4), node(5)), (node(3), node(5))], times=[1.0, 2.0, 20.0])
    return graph


def _content(graph):
    """Nodes, edges and times by name; a row in which two nodes stand would show."""
    rows = [graph._nodes.find(node) for node in graph]
    assert len(set(rows)) == len(rows) == len(graph), "two nodes share a row"
    names = {u: node.name for u, node in zip(rows, graph, strict=True)}
    edges = {(u.name, v.name): weight for u, v, weight in graph.edges(data="weight")}
    times = {(names[u], names[v]): time for (u, v), time in graph._times.items()}
    return [node.name for node in graph], edges, times


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("lasting", [False, True])
@pytest.mark.parametrize("verb", VERBS)
def test_a_change_is_whole_whenever_a_node_raises(verb, lasting, directed):
    fuse = Fuse()

    def node(name):
        return HostileNode(name, fuse)

    change = VERBS[verb]
    graph = _graph(directed, node)
    before = _content(graph)
    fuse.arm(0)
    change(graph, node)
    n_calls = fuse.n_calls
    after = _content(graph)
    assert before != after

    def attempt(k):
        graph = _graph(directed, node)
        fuse.arm(k, lasting=lasting)
        with contextlib.suppress(Broken):
            change(graph, node)
        fuse.arm(0)
        assert _content(graph) == (before if k <= n_calls else after)
        graph.add_edge(node(20), node(21))
        graph.add_edge(node(22), node(0))
        assert len(_content(graph)[0]) == len(before[0] if k <= n_calls else after[0]) + 3
        return k <= n_calls

    assert each_call(attempt) == n_calls + 1


def test_a_node_whose_hash_changes_while_it_joins_is_refused():
    class Changing(HostileNode):
        def __hash__(self):
            self._fuse.call()
            return self._fuse.n_calls

    graph, fuse = fo.DynamicGraph(nx.path_graph(2)), Fuse()
    with pytest.raises(ValueError, match="hash"):
        graph.add_edge(Changing(0, fuse), 0)
    assert (list(graph), graph.edges()) == ([0, 1], [(0, 1)])


def test_a_type_error_of_a_node_is_not_taken_for_a_missing_hash():
    fuse = Fuse()
    for graph in (
        fo.CSRGraph.from_networkx(nx.Graph([(HostileNode(0, fuse), HostileNode(2, fuse))])),
        fo.DynamicGraph(),
    ):
        if len(graph) == 0:
            graph.add_edge(HostileNode(0, fuse), HostileNode(2, fuse))
        fuse.arm(2, error=TypeError)  # the first call is that of `__hash__`
        with pytest.raises(TypeError, match="call 2"):
            HostileNode(2, fuse) in graph  # noqa: B015  looking it up is what raises
        assert [0] not in graph


def test_a_type_error_of_a_hash_that_works_again_is_raised():
    class Like(HostileNode):
        """Equals an integer of the graph's range."""

        def __hash__(self):
            self._fuse.call()
            return self.name

        def __eq__(self, other):
            return other == self.name

    fuse = Fuse()
    for k in range(1, 9):
        graph = fo.DynamicGraph(nx.path_graph(3))
        fuse.arm(k, error=TypeError)
        with contextlib.suppress(TypeError):
            graph.add_node(Like(1, fuse))
        assert list(graph) == [0, 1, 2]


class Changing:
    """A node whose `__eq__` calls a function once."""

    then = None

    def __init__(self, name):
        self.name = name

    def __hash__(self):
        return 7

    def __eq__(self, other):
        then, Changing.then = Changing.then, None
        if then is not None:
            then()
        return isinstance(other, Changing) and self.name == other.name

    def __repr__(self):
        return f"<{self.name}>"


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("nested", ["add_node", "add_edge", "remove_node"])
@pytest.mark.parametrize("verb", ["add_node", "add_nodes_from", "add_edge", "add_edges_from", "remove_edges_from"])
def test_a_node_cannot_change_the_graph_that_looks_it_up_for_a_change(verb, nested, directed):
    nested_verbs = {**VERBS, "remove_node": lambda graph, node: graph.remove_node(node(5))}
    graph = _graph(directed, Changing)
    before = _content(graph)
    Changing.then = lambda: nested_verbs[nested](graph, Changing)
    with pytest.raises(RuntimeError, match="in the middle of another change"):
        VERBS[verb](graph, Changing)
    assert _content(graph) == before
    VERBS[verb](graph, Changing)
    assert _content(graph) != before


def test_a_node_that_its_own_look_up_removes_takes_no_other_node_with_it():
    graph = _graph(False, Changing)

    def replace():
        graph.remove_node(Changing(5))
        graph.add_node("other")

    Changing.then = replace
    with contextlib.suppress(nx.NetworkXError):
        graph.remove_node(Changing(5))
    assert "other" in graph
