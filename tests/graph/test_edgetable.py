"""Tables of edges of data frame libraries, against columns and tuples."""

import datetime
import sys

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nx_fastonl as fo
from nx_fastonl.graph.edgebunch import edge_bunch
from nx_fastonl.graph.names import IntegerNames, TextNames
from tests.frame_kinds import COLUMNS, TABLES, pl

names = st.lists(st.tuples(st.text("abcü", max_size=2), st.text("abcü", max_size=2)), min_size=1, max_size=8)
numbers = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=8)

# Functions that take a vector over the nodes, with an answer that can be compared.
VECTOR_USES = {
    "sweep_cut": lambda G, vector: fo.sweep_cut(G, vector).order,
    "local_community": lambda G, vector: fo.local_community(G, vector).order,
    "fifo_push": lambda G, vector: fo.fifo_push(G, vector, 0.2, 1e-3),
    "personalization": lambda G, vector: fo.personalized_pagerank_local(G, personalization=vector),
    "nstart and dangling": lambda G, vector: fo.personalized_pagerank_local(G, nstart=vector, dangling=vector),
}


def edges_of(graph):
    return sorted(graph.to_networkx().edges(data="weight", default=1.0), key=repr)


@pytest.mark.parametrize("kind", TABLES)
@settings(max_examples=30)
@given(pairs=names | numbers, with_weights=st.booleans(), directed=st.booleans())
def test_a_table_is_its_columns(kind, pairs, with_weights, directed):
    sources, targets = ([pair[i] for pair in pairs] for i in (0, 1))
    weights = [0.5 + i for i in range(len(pairs))] if with_weights else None
    names = list(dict.fromkeys(end for pair in pairs for end in pair))
    numbers = ([names.index(end) for end in ends] for ends in (sources, targets))
    expected = fo.CSRGraph.from_edges(*numbers, weights, nodes=names, directed=directed)
    columns = {"source": sources, "target": targets, **({"weight": weights} if with_weights else {})}
    found = fo.CSRGraph.from_edges(TABLES[kind](columns), directed=directed)
    assert list(found) == list(expected)
    assert edges_of(found) == edges_of(expected)
    assert isinstance(found.nodes, TextNames if isinstance(names[0], str) else IntegerNames)
    among = fo.CSRGraph.from_edges(TABLES[kind](columns), nodes=names[::-1], directed=directed)
    assert list(among) == names[::-1]
    assert nx.utils.graphs_equal(among.to_networkx(), found.to_networkx())

    changing = fo.DynamicGraph(TABLES[kind](columns), directed)
    by_tuples = fo.DynamicGraph(directed=directed)
    by_tuples.add_edges_from(pairs, weights)
    assert changing.nodes == by_tuples.nodes
    assert {type(node) for node in changing} == {type(node) for node in by_tuples}
    assert edges_of(changing) == edges_of(by_tuples)
    changing.remove_edges_from(TABLES[kind](columns))
    assert changing.number_of_edges() == 0


@pytest.mark.parametrize("kind", TABLES)
def test_columns_are_found_by_name(kind):
    make = TABLES[kind]
    for table in (
        make({"From": [0, 1], "To": [1, 2], "W": [0.5, 2.0]}),
        make({"weight": [0.5, 2.0], "target": [1, 2], "age": [7, 7], "source": [0, 1]}),
        make({"a": [0, 1], "weight": [0.5, 2.0], "b": [1, 2]}),
    ):
        assert edges_of(fo.CSRGraph.from_edges(table)) == [(0, 1, 0.5), (1, 2, 2.0)]
        assert edges_of(fo.DynamicGraph(table)) == [(0, 1, 0.5), (1, 2, 2.0)]
        assert fo.DynamicGraph(table, weight=None).edges("weight") == [(0, 1, 1.0), (1, 2, 1.0)]


@pytest.mark.parametrize("kind", [kind for kind in TABLES if kind != "pandas objects"])
def test_a_column_of_numbers_that_is_ignored_is_told(kind):
    make = TABLES[kind]
    table = make({"source": ["a"], "target": ["b"], "strength": [5.0], "note": ["x"], "time": [3]})
    for use in (fo.CSRGraph.from_edges, fo.DynamicGraph, fo.DynamicGraph().add_edges_from):
        with pytest.warns(UserWarning, match="edges is a table in which the column strength is ignored; a") as told:
            use(table)
        assert [warning.filename for warning in told] == [__file__]
    with pytest.warns(UserWarning, match="the columns km, age are ignored"):
        fo.CSRGraph.from_edges(make({"u": [0], "km": [2], "age": [0.5], "v": [1]}))
    graph = fo.DynamicGraph()  # what follows warns of nothing
    graph.add_edges_from(table, weights=[2.0])
    graph.remove_edges_from(table)


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("names", [("a",), ("a", "b", "c"), ("source", "b", "weight", "time", "d"), ("weight", "a")])
def test_columns_that_could_be_others(kind, names):
    table = TABLES[kind]({name: [1] for name in names})
    for use in (fo.CSRGraph.from_edges, fo.DynamicGraph, fo.DynamicGraph().add_edges_from):
        with pytest.raises(
            ValueError, match=r"edges is a table with the columns .* expected columns source and target"
        ):
            use(table)


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("names", [("target", "person"), ("person", "Source"), ("dst", "src2"), ("a", "from")])
def test_a_name_in_the_place_of_the_other_end(kind, names, karate):
    table = TABLES[kind](dict(zip(names, ([1], [2]), strict=True)))
    message = f"the column '{names[0]}' would hold the sources and '{names[1]}' the targets.*name them source and"
    for use in (
        fo.CSRGraph.from_edges,
        fo.DynamicGraph,
        fo.DynamicGraph().remove_edges_from,
        lambda pairs: fo.effective_resistance(karate, pairs),
    ):
        with pytest.raises(ValueError, match=message):
            use(table)
    right = TABLES[kind]({"source": [1], "person": [2], "weight": [0.5]})
    assert edges_of(fo.CSRGraph.from_edges(right, directed=True)) == [(1, 2, 0.5)]


@pytest.mark.parametrize("kind", TABLES)
def test_weights_and_times(kind):
    graph = fo.DynamicGraph()
    graph.add_edges_from(TABLES[kind]({"u": ["a", "b"], "v": ["b", "c"], "weight": [None, 2.0], "time": [2019, 2024]}))
    assert graph.edges("weight") == [("a", "b", 1.0), ("b", "c", 2.0)]
    assert graph.expire_before(2020) == 1
    with pytest.raises(ValueError, match="expected columns source, target and weight"):
        graph.add_weighted_edges_from(TABLES[kind]({"u": ["a"], "v": ["b"]}))
    graph.add_weighted_edges_from(TABLES[kind]({"u": ["a"], "v": ["b"], "w": [3]}), times=[2025])
    assert graph.weight("a", "b") == 3.0
    for name in ("weight", "time"):
        with pytest.raises(
            ValueError, match=rf"the {name}s of edges are in column '{name}' of edges: leave {name}s= out"
        ):
            graph.add_edges_from(TABLES[kind]({"u": ["a"], "v": ["b"], name: [3]}), **{f"{name}s": [1.0]})


def test_columns_of_weights_and_times():
    for make in COLUMNS.values():
        graph = fo.DynamicGraph()
        graph.add_edges_from([(0, 1), (1, 2)], weights=make([0.5, None]), times=make([1.0, 2.0]))
        assert graph.edges("weight") == [(0, 1, 0.5), (1, 2, 1.0)]
        assert graph.expire_before(2.0) == 1
        assert edges_of(fo.CSRGraph.from_edges([0], [1], make([2.5]))) == [(0, 1, 2.5)]
    with pytest.raises(ValueError, match="weight nan"):
        fo.CSRGraph.from_edges([0, 1], [1, 2], pl.Series([1.0, None]))
    with pytest.raises(TypeError, match="weights must hold numbers, got 'x' in a column of String"):
        fo.CSRGraph.from_edges([0], [1], pl.Series(["x"]))
    with pytest.raises(TypeError, match="times must hold numbers, got datetime"):
        graph.add_edges_from([(0, 1)], times=pd.Series(pd.to_datetime(["2024-01-01"])))


@pytest.mark.parametrize("kind", TABLES)
def test_an_end_must_not_be_missing(kind):
    table = TABLES[kind]({"source": ["a", None, None], "target": ["b", "c", "a"]})
    graph = fo.DynamicGraph()
    for use in (fo.CSRGraph.from_edges, graph.add_edges_from):
        with pytest.raises(
            ValueError, match="column 'source' of edges has no node in row 1, and in 2 of 3 rows in all"
        ):
            use(table)
    assert len(graph) == 0


@pytest.mark.parametrize("kind", TABLES)
def test_a_weight_must_not_be_missing_in_a_graph_that_stays(kind):
    table = TABLES[kind]({"source": ["a", "b"], "target": ["b", "c"], "weight": [2.5, None]})
    with pytest.raises(ValueError, match="column 'weight' of edges has no number in row 1, and in 1 of 2 rows in all"):
        fo.CSRGraph.from_edges(table)
    growing = fo.DynamicGraph(table)
    assert (growing.weight("a", "b"), growing.weight("b", "c")) == (2.5, 1.0)


def test_integers_that_became_floats():
    columns = {"source": [0.0, 1.0], "target": [1.0, 2.0]}
    for make in TABLES.values():
        assert repr(list(fo.CSRGraph.from_edges(make(columns)))) == "[0, 1, 2]"
        assert repr(fo.DynamicGraph(make(columns)).nodes) == "[0, 1, 2]"
    for value in (0.5, 2.0**53):
        for dtype in (float, object):
            with pytest.raises(TypeError, match=rf"sources holds {value!r} in row 0; expected an integer or a text"):
                fo.CSRGraph.from_edges(pd.Series([value], dtype=dtype), pd.Series([1.0], dtype=dtype))
    with pytest.raises(TypeError, match="sources holds True in row 1; expected an integer or a text"):
        fo.CSRGraph.from_edges(pd.Series([2, True], dtype=object), pd.Series([1, 2]))
    with pytest.raises(ValueError, match="must be a one-dimensional array of integers, got float64"):
        fo.CSRGraph.from_edges(np.array([0.0]), np.array([1.0]))  # numpy makes no floats of integers


@pytest.mark.parametrize("kind", TABLES)
def test_integers_in_a_table_are_names(kind):
    table = TABLES[kind]({"source": [20, 10], "target": [30, 20]})
    assert list(fo.CSRGraph.from_edges(table)) == [20, 30, 10]
    for nodes in ([10, 20, 30, 40], np.array([10, 20, 30, 40]), range(10, 50, 10), pl.Series([10, 20, 30, 40])):
        graph = fo.CSRGraph.from_edges(table, nodes=nodes)
        assert list(graph) == [10, 20, 30, 40]
        assert sorted(graph.to_networkx().edges()) == [(10, 20), (20, 30)]
    with pytest.raises(ValueError, match="targets holds 30 in row 0, which is not among nodes"):
        fo.CSRGraph.from_edges(table, nodes=[10, 20])
    with pytest.raises(TypeError, match="the ends of edges are integers, so nodes must be integers, got 'x'"):
        fo.CSRGraph.from_edges(table, nodes=[10, "x"])
    with pytest.raises(ValueError, match="got n = 31 and a table; leave it out"):
        fo.CSRGraph.from_edges(table, n=31)


def test_integers_without_a_sign():
    schema = {"source": pl.UInt64, "target": pl.UInt64}
    assert list(fo.CSRGraph.from_edges(pl.DataFrame({"source": [7], "target": [5]}, schema=schema))) == [7, 5]
    with pytest.raises(TypeError, match="integers of up to 64 bits with a sign, got uint64"):
        fo.CSRGraph.from_edges(pl.DataFrame({"source": [2**63], "target": [5]}, schema=schema))


def test_integers_stay_in_arrays():
    for make in TABLES.values():
        bunch = edge_bunch(make({"source": [5, 7], "target": [7, 9]}))
        if make is not TABLES["pandas objects"]:
            assert isinstance(bunch.sources, np.ndarray)
        assert list(bunch.sources) == [5, 7]
    large = pl.DataFrame({"source": [2**63], "target": [1]}, schema={"source": pl.UInt64, "target": pl.Int8})
    assert fo.DynamicGraph(large).nodes == [2**63, 1]


@pytest.mark.parametrize("kind", {**COLUMNS, **TABLES, "pandas": pd.Series})
def test_nodes_of_columns(kind):
    make = {**COLUMNS, "pandas": pd.Series}.get(kind) or (lambda nodes: TABLES[kind]({"node": nodes}))
    graph = fo.DynamicGraph()
    graph.add_nodes_from(make(["a", "b", "c"]))
    graph.remove_nodes_from(make(["b", "z"]))
    assert graph.nodes == ["a", "c"]
    named = fo.CSRGraph.from_edges([0], [1], nodes=make(["x", "y"]))
    assert list(named) == ["x", "y"]


def test_what_is_no_table_of_edges():
    with pytest.raises(TypeError, match=r"targets are missing: pass them after the sources, .* or a table of edges"):
        fo.CSRGraph.from_edges([0, 1])
    with pytest.raises(TypeError, match="targets are missing"):
        fo.CSRGraph.from_edges(pl.Series([0, 1]))
    with pytest.raises(TypeError, match="edges must be a table with the columns source and target, got one column"):
        fo.DynamicGraph(pl.Series([0, 1]))
    with pytest.raises(ValueError, match=r"in a column named weight: leave weights= out"):
        fo.CSRGraph.from_edges(pl.DataFrame({"u": [0], "v": [1]}), weights=[1.0])
    with pytest.raises(TypeError, match="must be a table or a column of pandas"):
        fo.DynamicGraph(pd.DataFrame({"u": [0], "v": [1]}).groupby("u"))


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_of_edges_is_no_graph(kind):
    with pytest.raises(
        TypeError, match=r"expected an nx\.Graph.*; CSRGraph\.from_edges and DynamicGraph make a graph of"
    ):
        fo.OnlineNodeLabeler(TABLES[kind]({"source": ["a"], "target": ["b"]}))


@pytest.mark.parametrize("kind", TABLES)
def test_tables_of_pairs(kind, karate):
    expected = fo.effective_resistance(karate, [(0, 33), (1, 2), (5, 5)])
    sources, targets = [0, 1, 5], [33, 2, 5]
    for columns in (
        {"target": targets, "source": sources},
        {"a": sources, "b": targets},
        {"age": [1, 2, 3], "u": sources, "v": targets, "weight": [4, 5, 6]},
    ):
        assert fo.effective_resistance(karate, TABLES[kind](columns)) == expected


def test_a_durable_graph_begins_with_a_table(tmp_path):
    table = pa.table({"source": ["a"], "target": ["b"]})
    fo.DurableGraph(tmp_path / "graph", table).close()
    with fo.DurableGraph(tmp_path / "graph") as graph:
        graph.add_edges_from(pl.DataFrame({"source": ["b"], "target": ["c"]}))
    with fo.DurableGraph(tmp_path / "graph") as graph:
        assert edges_of(graph) == [("a", "b", 1.0), ("b", "c", 1.0)]


def test_columns_are_read_without_narwhals(monkeypatch):
    monkeypatch.setitem(sys.modules, "narwhals", None)
    assert list(fo.CSRGraph.from_edges(pl.Series(["a"]), pl.Series(["b"]))) == ["a", "b"]
    with pytest.raises(ImportError, match="edges is a DataFrame of polars, which needs narwhals: pip install narwhals"):
        fo.CSRGraph.from_edges(pl.DataFrame({"source": ["a"], "target": ["b"]}))


def test_nodes_that_count_stay_a_range():
    graph = fo.CSRGraph.from_edges([0, 1], [1, 2], nodes=range(3))
    assert isinstance(graph.nodes, range)
    assert list(graph) == [0, 1, 2]
    assert isinstance(fo.CSRGraph.from_edges([0, 1], [1, 2], nodes=range(1, 4)).nodes, IntegerNames)
    assert list(fo.CSRGraph.from_edges(pl.DataFrame({"u": [2, 0], "v": [1, 1]}), nodes=range(3))) == [0, 1, 2]
    with pytest.raises(ValueError, match="nodes must name each of the 2 nodes once, got 3 names"):
        fo.CSRGraph.from_edges([0], [1], n=2, nodes=range(3))
    with pytest.raises(TypeError, match="the ends of edges are texts, so nodes must be texts, got 0"):
        fo.CSRGraph.from_edges(["a"], ["b"], nodes=range(2))


def test_the_index_of_a_table_is_not_read(monkeypatch):
    def fail(_):
        raise AssertionError("read")

    monkeypatch.setattr(pd.MultiIndex, "to_flat_index", fail)
    edges = pd.DataFrame(
        {"source": ["a", "b"], "target": ["b", "c"]}, index=pd.MultiIndex.from_tuples([(0, 1), (0, 2)])
    )
    assert list(fo.CSRGraph.from_edges(edges)) == ["a", "b", "c"]


class TestSeeds:
    """Tables and columns as personalization, and as other weights of nodes."""

    G = nx.karate_club_graph()

    def ranks(self, seeds, **options):
        return fo.personalized_pagerank_local(self.G, personalization=seeds, **options)

    @pytest.mark.parametrize("kind", TABLES)
    def test_tables(self, kind):
        make = TABLES[kind]
        assert self.ranks(make({"node": [5, 8], "weight": [1, 3]})) == self.ranks({5: 1.0, 8: 3.0})
        assert self.ranks(make({"a": [5, 8, 5], "b": [0.5, 3, 0.5]})) == self.ranks({5: 1.0, 8: 3.0})
        assert self.ranks(make({"node": [5, 8]})) == self.ranks([5, 8])
        found = fo.fifo_push(self.G, make({"node": [5, 8], "weight": [1, 3]}))
        assert found == fo.fifo_push(self.G, {5: 1.0, 8: 3.0})
        graph = fo.DynamicGraph(self.G)
        by_table = fo.DynamicPageRank(graph, make({"node": [5, 8], "weight": [1, 3]}))
        assert by_table.top(3) == fo.DynamicPageRank(graph, {5: 1.0, 8: 3.0}).top(3)
        guess = make({"node": list(self.G), "weight": [1.0] * 34})
        assert self.ranks(5, nstart=guess, tol=1e-9) == self.ranks(5, nstart=dict.fromkeys(self.G, 1.0), tol=1e-9)
        with pytest.raises(ValueError, match="node 8 the value nan; it must be a number"):
            self.ranks(make({"node": [5, 8], "weight": [1, None]}))
        with pytest.raises(ValueError, match="expected columns node and weight"):
            self.ranks(make({"a": [5], "b": [1], "c": [2]}))

    @pytest.mark.parametrize("kind", COLUMNS)
    def test_columns(self, kind):
        assert self.ranks(COLUMNS[kind]([5, 8])) == self.ranks([5, 8])
        with pytest.raises(ValueError, match="so it may be weights or seeds"):
            self.ranks(COLUMNS[kind](list(range(34))))
        weights = [i / 34 for i in range(34)]
        assert self.ranks(COLUMNS[kind](weights)) == self.ranks(np.array(weights))

    def test_a_series_of_pandas_has_weights_by_its_index(self):
        for dtype in (float, object, "category"):
            assert self.ranks(pd.Series({5: 1.5, 8: 3.0}, dtype=dtype)) == self.ranks({5: 1.5, 8: 3.0})
        G = nx.relabel_nodes(self.G, str)
        expected = fo.personalized_pagerank_local(G, personalization={"5": 1.0, "8": 3.0})
        for dtype in (int, float, object, "category"):
            weights = pd.Series({"5": 1, "8": 3}, dtype=dtype)
            assert fo.personalized_pagerank_local(G, personalization=weights) == expected
        found = fo.personalized_pagerank_local(G, personalization=pd.Series(["5", "8"]))
        assert found == fo.personalized_pagerank_local(G, personalization=["5", "8"])

    @pytest.mark.parametrize("dtype", ["int64", "Int64", object, "category"])
    def test_integers_by_integers_may_be_weights_or_seeds(self, dtype):
        column = pd.DataFrame({"node": range(33, -1, -1)}, dtype=dtype)["node"]
        message = r"personalization\.to_dict\(\) for weights, personalization\.to_list\(\) for seeds"
        for seeds in (column, column[column.isin([20, 30])], column[3:6], column[:2], column.set_axis(range(1, 35))):
            with pytest.raises(ValueError, match=message):
                self.ranks(seeds)
        filtered = column[column.isin([20, 30])]
        assert self.ranks(filtered.to_list()) == self.ranks([30, 20])
        assert self.ranks(filtered.to_dict()) == self.ranks({3: 30, 13: 20})

    @pytest.mark.parametrize("kind", TABLES)
    def test_a_table_of_weights_alone_names_no_nodes(self, kind):
        with pytest.raises(ValueError, match="a table with the columns 'weight'; expected columns node and weight"):
            self.ranks(TABLES[kind]({"weight": [1, 2]}))

    @pytest.mark.parametrize("use", VECTOR_USES)
    def test_an_index_that_counts_rows_names_no_nodes(self, use):
        weights = [0.9, 0.8, 0.1, 0.2]
        find = VECTOR_USES[use]
        for make in (fo.CSRGraph.from_networkx, fo.DynamicGraph):
            G = make(nx.path_graph(4))
            assert find(G, pd.Series(weights)) == find(G, pl.Series(weights)) == find(G, np.array(weights))
            for kind in (pd.Series, pl.Series, pa.array):
                with pytest.raises(
                    ValueError, match="names of nodes, and it has 2 rows, and the graph has 4 nodes: pass"
                ):
                    find(G, kind([0.9, 0.8]))
                for names in ([3, 2, 1, 0], ["d", "b", "c", "a"]):
                    with pytest.raises(
                        ValueError, match=r"nodes are not 0, 1, 2, \.\.\. in this order: pass dict\(zip"
                    ):
                        find(make(nx.path_graph(names)), kind(weights))

    @pytest.mark.parametrize("use", VECTOR_USES)
    def test_integers_are_weights_in_the_words_of_their_library(self, use):
        find, G = VECTOR_USES[use], nx.path_graph(["a", "b", "c", "d"])
        for column, call in (
            (pl.Series([1, 2, 3, 4]), r"cast\(float\)"),
            (pa.array([1, 2, 3, 4]), r'cast\("double"\)'),
            (pd.Index([1, 2, 3, 4]), r"astype\(float\)"),
        ):
            with pytest.raises(ValueError, match=rf"is a column of integers.*: pass \w+\.{call}"):
                find(G, column)

    def test_a_vector_that_is_kept_needs_names(self):
        graph = fo.DynamicGraph(nx.path_graph(4))
        for column in (pd.Series([0.5, 0.5, 0.0, 1.0]), pl.Series([0.5, 0.5, 0.0, 1.0])):
            with pytest.raises(TypeError, match="a column of weights without the names of nodes"):
                fo.DynamicPageRank(graph, column)
        for seeds in (pl.Series([1]), pd.Series([2.0], index=[1])):
            found = fo.DynamicPageRank(graph, seeds)
            assert list(found.top(1)) == [1]

    @pytest.mark.parametrize("kind", TABLES)
    def test_communities_of_tables(self, kind):
        make = TABLES[kind]
        by_dict = fo.local_community(self.G, {5: 1.0, 8: 3.0})
        assert fo.local_community(self.G, make({"node": [5, 8], "weight": [1, 3]})).order == by_dict.order
        assert fo.local_community(self.G, make({"node": [5, 8]})).order == fo.local_community(self.G, [5, 8]).order
        vector = make({"node": [5, 8, 0], "weight": [1.0, 3.0, 2.0]})
        assert fo.sweep_cut(self.G, vector).order == fo.sweep_cut(self.G, {5: 1.0, 8: 3.0, 0: 2.0}).order

    def test_communities_of_columns(self):
        values = np.linspace(0.0, 1.0, 34)
        for column in (pd.Series(values), pl.Series(values), pa.array(values)):
            assert fo.local_community(self.G, column).order == fo.local_community(self.G, values).order
            assert fo.sweep_cut(self.G, column).order == fo.sweep_cut(self.G, values).order
        seeds = fo.local_community(self.G, [0, 33]).order
        assert fo.local_community(self.G, pl.Series([0, 33])).order == seeds
        assert fo.local_community(self.G, pd.Series([0, 33]).to_list()).order == seeds
        for use, name in ((fo.local_community, "seeds"), (fo.sweep_cut, "vector")):
            with pytest.raises(ValueError, match=f"{name} is a column of integers with an index of integers"):
                use(self.G, pd.Series([0, 33]))


def test_a_bad_weight_names_the_nodes():
    table = pd.DataFrame({"source": [10, 20, 1], "target": [20, 30, 2], "weight": [1.0, -5.0, 1.0]})
    with pytest.raises(ValueError, match=r"edge \(20, 30\) has weight -5"):
        fo.CSRGraph.from_edges(table)
    with pytest.raises(ValueError, match=r"edge \('bob', 'cleo'\) has weight nan"):
        fo.CSRGraph.from_edges(["ann", "bob"], ["bob", "cleo"], [5.0, float("nan")])
    with pytest.raises(ValueError, match=r"edge \('b', 'c'\) has weight -5"):
        fo.CSRGraph.from_edges([0, 1], [1, 2], [1, -5], nodes="abc")


@pytest.mark.parametrize("type_", [pl.Categorical, pl.Enum(["a", "b", "c"])])
def test_categories_of_polars(type_):
    sources, targets = pl.Series(["a", "b"], dtype=type_), pl.Series(["b", "c"], dtype=type_)
    for found in (
        fo.CSRGraph.from_edges(sources, targets),
        fo.CSRGraph.from_edges(pl.DataFrame({"u": sources, "v": targets})),
    ):
        assert list(found) == ["a", "b", "c"]
        assert sorted(found.to_networkx().edges) == [("a", "b"), ("b", "c")]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([[1], [2]]),
        pa.array([b"a", b"b"]),
        pl.Series([[1], [2]]),
        pl.Series([datetime.time(1), datetime.time(2)]),
        pl.Series([object(), object()]),
        pl.Series([1, 2], dtype=pl.Int128),
        pd.Series(pd.period_range("2026", periods=2, freq="D")),
    ],
)
def test_columns_that_hold_no_ends(values):
    with pytest.raises(TypeError, match=r"sources must be a column of integers or texts|sources holds"):
        fo.CSRGraph.from_edges(values, [0, 1])
