import pickle
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nx_fastonl as fo
from nx_fastonl.graph._names import IntegerTable, TextTable
from nx_fastonl.graph.names import IntegerNames, integer_names, text_names

INTEGERS = st.one_of(st.integers(-5, 40), st.integers(-(2**63), 2**63 - 1))
TEXTS = st.one_of(st.text(max_size=3), st.text(min_size=7, max_size=40))


def table_of(kind, names, encode):
    table = kind()
    rows = [table.add(encode(name)) for name in names]
    return table, rows


@given(st.lists(INTEGERS, max_size=300))
def test_integers_are_numbered_as_a_dict_would(values):
    expected: dict = {}
    numbers = [expected.setdefault(value, len(expected)) for value in values]
    table, rows = table_of(IntegerTable, values, int)
    assert rows == numbers
    assert len(table) == len(expected)
    names = IntegerNames(table.names())
    assert list(names) == list(expected)
    assert [names.find(value) for value in expected] == list(expected.values())


@given(st.lists(TEXTS, max_size=300))
def test_texts_are_numbered_as_a_dict_would(texts):
    expected: dict = {}
    numbers = [expected.setdefault(text, len(expected)) for text in texts]
    table, rows = table_of(TextTable, texts, lambda text: text.encode(errors="surrogatepass"))
    assert rows == numbers
    assert len(table) == len(expected)
    names = text_names(table)
    assert list(names) == list(expected)
    assert [names.find(text) for text in expected] == list(expected.values())


@given(st.lists(INTEGERS, min_size=1, max_size=60, unique=True), st.booleans(), st.data())
def test_integers_are_found_as_in_a_dict(values, ascending, data):
    values = sorted(values) if ascending else values
    names = IntegerNames(np.array(values))
    index = {value: u for u, value in enumerate(values)}
    for node in [*values, *data.draw(st.lists(INTEGERS)), 2**70, -1, 0.5, "1", None, float("nan"), float("inf")]:
        assert names.find(node) == index.get(node)
    for node in (np.int32(3), 3.0, Fraction(3), True, np.float32(3)):
        assert names.find(node) == index.get(node)
    assert names.find([1]) is None


@given(st.lists(TEXTS, min_size=1, max_size=60, unique=True), st.data())
def test_texts_are_found_as_in_a_dict(texts, data):
    table, _ = table_of(TextTable, texts, lambda text: text.encode(errors="surrogatepass"))
    names = text_names(table)
    index = {text: u for u, text in enumerate(texts)}
    for node in [*texts, *data.draw(st.lists(TEXTS)), b"a", 1, None, "\udc80", "a\0"]:
        assert names.find(node) == index.get(node)


@pytest.mark.parametrize("count", [8, 9, 4095, 4096, 4097, 10_000])
def test_names_are_a_sequence(count):
    values = np.random.default_rng(0).permutation(count) * 3
    table, _ = table_of(TextTable, map(str, values), str.encode)
    for names, expected in (
        (IntegerNames(values), tuple(values.tolist())),
        (text_names(table), tuple(map(str, values))),
    ):
        assert len(names) == count
        assert tuple(names) == expected
        assert names == expected
        assert names[0] == expected[0]
        assert names[-1] == expected[-1]
        assert names[2:7:2] == expected[2:7:2]
        assert names.index(expected[5]) == 5
        assert names.count(expected[5]) == 1
        assert names.count("no") == 0
        with pytest.raises(IndexError):
            names[count]
        with pytest.raises(ValueError, match="not among the names"):
            names.index(expected[5], 6)
        assert type(names[0]) is type(expected[0])
        assert pickle.loads(pickle.dumps(names)) == names
        assert f"{count:,} names" in repr(names)


def test_an_array_of_integers_names_nodes_without_objects():
    graph = fo.CSRGraph.from_edges([0, 1], [1, 2], nodes=np.array([30, 10, 20]))
    assert isinstance(graph.nodes, IntegerNames)
    assert list(graph) == [30, 10, 20]
    assert graph.index(10) == 1
    assert 11 not in graph
    assert fo.personalized_pagerank_local(graph, personalization={10: 1}).keys() == {10, 20, 30}
    assert pickle.loads(pickle.dumps(graph)).nodes == graph.nodes
    assert graph.to_networkx().has_edge(10, 20)


def test_integers_that_come_twice_are_refused():
    with pytest.raises(ValueError, match="3 names, 2 of them different"):
        fo.CSRGraph.from_edges([0, 1], [1, 2], nodes=np.array([3, 1, 3]))
    with pytest.raises(ValueError, match="each of the 3 nodes once, got 2 names"):
        fo.CSRGraph([0, 1, 2, 2], [1, 0], nodes=np.array([3, 1]))


def test_given_integers_are_copied():
    values = np.array([5, 6])
    names = integer_names(values)
    values[0] = 9
    assert list(names) == [5, 6]
    with pytest.raises(ValueError, match="read-only"):
        names.values[0] = 1


CALLS = {
    "personalization": lambda G, node: fo.personalized_pagerank_local(G, personalization=node),
    "a dict": lambda G, node: fo.personalized_pagerank_local(G, personalization={node: 1.0}),
    "candidates": lambda G, node: fo.ppr_matrix(G, top_k=1, candidates=[node]),
    "ppr_matrix": lambda G, node: fo.ppr_matrix(G, [node]),
    "fifo_push": fo.fifo_push,
    "local_community": fo.local_community,
    "sweep_cut": lambda G, node: fo.sweep_cut(G, {node: 1.0}),
    "kernel_column": fo.kernel_column,
    "effective_resistance": lambda G, node: fo.effective_resistance(G, [(node, node)]),
    "predict_one": lambda G, node: fo.OnlineNodeLabeler(G).predict_one(node),
    "learn_one": lambda G, node: fo.OnlineNodeLabeler(G).learn_one(node, "a"),
    "fit": lambda G, node: fo.OnlineNodeLabeler(G).fit({node: "a"}),
    "DynamicPageRank": lambda G, node: fo.DynamicPageRank(fo.DynamicGraph(G), node),
    "remove_node": lambda G, node: fo.DynamicGraph(G).remove_node(node),
    "degree": lambda G, node: fo.DynamicGraph(G).degree(node),
    "neighbors": lambda G, node: list(fo.DynamicGraph(G).neighbors(node)),
    "replay": lambda G, node: list(fo.replay([("question", node)], fo.DynamicGraph(G))),
    "plot_pagerank": lambda G, node: fo.plotting.plot_pagerank(G, node),
}


@pytest.mark.filterwarnings("ignore:.*are two nodes:UserWarning")  # replay says so too
@pytest.mark.parametrize("name", CALLS)
def test_errors_name_the_node_that_is_written_alike(name):
    G = nx.path_graph([1, 2, "3", "4"])
    for node, hint in (("2", "has the integer 2"), (3, "has the text '3'")):
        with pytest.raises(nx.NetworkXException, match=f"{node!r}.*, which {hint}"):
            CALLS[name](G, node)
    with pytest.raises(nx.NetworkXException, match=r"^(?!.*which has)"):
        CALLS[name](G, "5")


def test_other_nodes_are_not_written_alike():
    graph = fo.CSRGraph.from_networkx(nx.path_graph([2, 3, "4"]))
    for node in ("9" * 5000, 10**5000, True, "02", "+2", " 2", "2.0"):
        with pytest.raises(nx.NodeNotFound, match=r"is not in the graph$"):
            graph.index(node)
