"""Nodes whose own code raises, at any call of it: a labeler and its graph are as before, or as after."""

import contextlib

import networkx as nx
import pytest

import nx_fastonl as fo
from tests.fuzz.invariants import check_whole
from tests.hostile import Broken, Fuse, HostileNode, each_call

CALLS = {
    "learn_one": lambda model, node: model.learn_one(node(2), "red"),
    "overwrite": lambda model, node: model.learn_one(node(0), "blue", overwrite=True),
    "forget": lambda model, node: model.forget(node(0)),
    "learn_many": lambda model, node: model.learn_many([(node(2), "red"), (node(5), "blue")]),
    "fit": lambda model, node: model.fit([(node(2), "red"), (node(5), "blue")]),
    "run": lambda model, node: model.run([(node(2), "red")]),
}
GROWING = {
    "learn_many": lambda model, node: model.learn_many(
        [(node(20), "red"), (node(2), "red"), (node(21), "blue")], unknown="add"
    ),
    "fit": lambda model, node: model.fit([(node(20), "red"), (node(2), "red"), (node(21), "blue")], unknown="add"),
    "run": lambda model, node: model.run([(node(20), "red"), (node(21), "blue")], unknown="add"),
}


def _content(model):
    graph = model._given_graph
    nodes = [] if graph is None else [node.name for node in graph]
    return {node.name: label for node, label in model.labels.items()}, nodes


def _check_all_or_nothing(call, make_graph, lasting, method):
    fuse = Fuse()

    def node(name):
        return HostileNode(name, fuse)

    def new_model():
        graph = make_graph(nx.path_graph(list(map(node, range(8)))))
        return fo.OnlineNodeLabeler(graph, method=method).fit([(node(0), "red"), (node(7), "blue")])

    model = new_model()
    before = _content(model)
    fuse.arm(0)
    call(model, node)
    n_calls, after = fuse.n_calls, _content(model)

    def attempt(k):
        model = new_model()
        fuse.arm(k, lasting=lasting)
        with contextlib.suppress(Broken):
            call(model, node)
        fuse.arm(0)
        assert _content(model) == (before if k <= n_calls else after)
        if method == "fastonl":
            check_whole(model)
        model.learn_one(node(4), "blue")
        model.predict_many()
        return k <= n_calls

    assert each_call(attempt) == n_calls + 1


@pytest.mark.parametrize("method", ["fastonl", "adaptive"])
@pytest.mark.parametrize("lasting", [False, True])
@pytest.mark.parametrize("make_graph", [fo.CSRGraph.from_networkx, fo.DynamicGraph])
@pytest.mark.parametrize("call", CALLS)
def test_labels_are_learned_whole_whenever_a_node_raises(call, make_graph, lasting, method):
    _check_all_or_nothing(CALLS[call], make_graph, lasting, method)


@pytest.mark.parametrize("lasting", [False, True])
@pytest.mark.parametrize("call", GROWING)
def test_nodes_that_were_added_leave_again_whenever_a_node_raises(call, lasting):
    _check_all_or_nothing(GROWING[call], fo.DynamicGraph, lasting, "fastonl")


class HostileText(str):
    """A text that raises; a DurableGraph writes it as the text that it is."""

    __slots__ = ("fuse",)

    def __new__(cls, text, fuse):
        self = super().__new__(cls, text)
        self.fuse = fuse
        return self

    def __hash__(self):
        self.fuse.call()
        return str.__hash__(self)

    def __eq__(self, other):
        self.fuse.call()
        return str.__eq__(self, other)


DURABLE = {
    "add": lambda graph, name: graph.add_edges_from([(name("x"), name("a")), (name("y"), name("x"))], times=[1.0, 2.0]),
    "remove": lambda graph, name: graph.remove_nodes_from([name("a"), name("late"), name("b")]),
    "learn": lambda graph, name: graph.labeler("m").learn_many([(name("late"), "red"), (name("a"), "blue")]),
}


@pytest.mark.parametrize("lasting", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize("verb", DURABLE)
def test_memory_and_disk_agree_whenever_a_node_raises(verb, lasting, tmp_path):
    fuse = Fuse()

    def name(text):
        return HostileText(text, fuse)

    def content(graph):
        nodes, labels = map(str, graph), graph.labeler("m").labels
        edges = {tuple(sorted(map(str, edge))) for edge in graph.edges()}
        return list(nodes), edges, {str(node): label for node, label in labels.items()}

    def new_graph(folder):
        graph = fo.DurableGraph(folder, nx.path_graph(["a", "b", "c"]), sync="never")
        graph.add_edge(name("late"), name("c"))
        graph.labeler("m", method="fastonl")
        return graph

    with new_graph(tmp_path / "0") as graph:
        before = content(graph)
        fuse.arm(0)
        DURABLE[verb](graph, name)
        n_calls, after = fuse.n_calls, content(graph)

    def attempt(k):
        with new_graph(tmp_path / str(k)) as graph:
            fuse.arm(k, lasting=lasting)
            with contextlib.suppress(Broken):
                DURABLE[verb](graph, name)
            fuse.arm(0)
            found = content(graph)
        assert found == (before if k <= n_calls else after)
        with fo.DurableGraph(tmp_path / str(k)) as graph:
            assert content(graph) == found
        return k <= n_calls

    assert each_call(attempt) == n_calls + 1
