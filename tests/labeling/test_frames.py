"""Tables and columns of data frame libraries as labels, against dicts and lists of plain values."""

import datetime as dt
import decimal
import sys
from unittest import mock

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nx_fastonl as fo
from nx_fastonl.labeling.labels import label_stream
from tests.frame_kinds import COLUMNS, TABLES, pl

NAMES = ("d", "a", "c", "b")
GRAPH = fo.CSRGraph.from_networkx(nx.path_graph(NAMES))
NUMBERED = fo.CSRGraph.from_networkx(nx.path_graph(4))
DAY = dt.datetime(2024, 5, 1, 12, 30)

nodes_and_labels = st.one_of(
    *(
        st.lists(st.tuples(nodes, labels), min_size=1, max_size=6, unique_by=lambda pair: pair[0])
        for nodes in (st.text("abcü", max_size=3), st.integers(-(2**53) + 1, 2**53 - 1))
        for labels in (
            st.none() | st.text("xyz", max_size=2),
            st.none() | st.integers(-3, 3),
            st.none() | st.booleans(),
            st.none() | st.sampled_from([0.5, 1.25, -2.0]),
        )
    )
)


def plain(values):
    """Values that are equal and of the same types have equal representations."""
    return [None if value is None or value != value else value for value in values]


def pairs_of(labels, graph):
    return list(label_stream(labels, graph)[0])


@pytest.fixture(scope="module")
def model():
    return fo.OnlineNodeLabeler(nx.karate_club_graph()).fit({0: "Mr. Hi", 33: "Officer"})


class TestTables:
    @pytest.mark.parametrize("kind", TABLES)
    @settings(max_examples=30)
    @given(pairs=nodes_and_labels)
    def test_rows_are_pairs_of_plain_values(self, kind, pairs):
        nodes, labels = [node for node, _ in pairs], [label for _, label in pairs]
        graph = fo.CSRGraph.from_edges(range(len(nodes)), range(len(nodes)), nodes=nodes)
        found = pairs_of(TABLES[kind]({"node": nodes, "label": labels}), graph)
        assert found == pairs
        kinds = {type(label) for label in labels} - {float, int}  # whole floats become integers
        assert {type(node) for node, _ in found} == {type(node) for node in nodes}
        assert {type(label) for _, label in found} - {float, int} == kinds

    @pytest.mark.parametrize("kind", TABLES)
    def test_columns_are_found(self, kind):
        make, pairs = TABLES[kind], [("b", "x"), ("a", "y")]
        nodes, labels = ["b", "a"], ["x", "y"]
        for columns in (
            {"node": nodes, "label": labels},
            {"label": labels, "node": nodes},
            {"id": nodes, "club": labels},
            {"node": nodes, "club": labels},
            {"id": nodes, "label": labels},
            {"age": [1, 2], "label": labels, "more": [3, 4], "node": nodes},
        ):
            assert pairs_of(make(columns), GRAPH) == pairs

    @pytest.mark.parametrize("kind", TABLES)
    @pytest.mark.parametrize(
        "names", [("label", "id"), ("id", "node"), ("id", "a", "b"), ("node", "a", "b"), ("label",)]
    )
    def test_columns_that_could_be_others(self, kind, names):
        with pytest.raises(
            ValueError, match=rf"labels is a table with the columns '{names[0]}'.* expected columns node"
        ):
            label_stream(TABLES[kind]({name: ["a"] for name in names}), GRAPH)

    def test_the_message_says_how(self):
        columns = {"a": [1], "b": [2], "c": [3]}
        for table, how in (
            (pd.DataFrame(columns), r"labels\[\['a', 'b'\]\]"),
            (pl.DataFrame(columns), r"labels\[\['a', 'b'\]\]"),
            (pa.table(columns), r"labels\.select\(\['a', 'b'\]\)"),
        ):
            with pytest.raises(ValueError, match=f"{how} chooses 2 of them"):
                label_stream(table, GRAPH)
        for table, how in (
            (pd.DataFrame([(0, "a", 1)]), r"columns 0, 1, 2; .*; labels\[\[0, 1\]\] chooses"),
            (pd.DataFrame([(0, "a", 1)], columns=["a", ("b", 1), 2]), r"labels\[\['a', \('b', 1\)\]\] chooses"),
        ):
            with pytest.raises(ValueError, match=how):
                label_stream(table, GRAPH)
        with pytest.raises(ValueError, match=r"reset_index\(\) makes a column of an index"):
            label_stream(pd.DataFrame({"label": ["x"]}, index=["a"]), GRAPH)
        with pytest.raises(ValueError, match="two columns of the same name"):
            label_stream(pd.DataFrame([["a", 1]], columns=["node", "node"]), GRAPH)

    @pytest.mark.parametrize("kind", TABLES)
    def test_a_node_must_not_be_missing(self, kind):
        table = TABLES[kind]({"node": ["a", None, None], "label": [1, 2, 3]})
        with pytest.raises(ValueError, match="column 'node' of labels has no node in row 1, and in 2 of 3 rows in all"):
            label_stream(table, GRAPH)

    def test_an_empty_table_has_no_labels(self):
        for make in TABLES.values():
            assert pairs_of(make({"node": [], "label": []}), GRAPH) == []

    def test_lazy_tables_are_to_be_collected(self):
        with pytest.raises(
            TypeError, match=r"labels is a LazyFrame, whose rows are not there yet.*labels\.collect\(\)"
        ):
            label_stream(pl.LazyFrame({"node": ["a"], "label": [1]}), GRAPH)

    def test_minus_one_is_a_label(self):
        for make in TABLES.values():
            assert pairs_of(make({"node": [2, 0], "label": [-1, 0]}), NUMBERED) == [(2, -1), (0, 0)]

    def test_names_that_are_no_texts_or_integers(self):
        graph = fo.CSRGraph.from_edges([0, 1], [1, 2], nodes=[DAY, dt.date(2024, 5, 2), decimal.Decimal("1.5")])
        for make in (pd.DataFrame, pl.DataFrame):
            for node in graph.nodes:
                ((found, label),) = pairs_of(make({"node": [node], "label": [DAY]}), graph)
                assert (found, label) == (node, DAY)
                assert (type(found), type(label)) == (type(node), dt.datetime)

    def test_tuples_of_pandas(self):
        graph = fo.CSRGraph.from_edges([0], [1], nodes=[("a", 1), ("a", 2)])
        frame = pd.DataFrame({"node": [("a", 2)], "label": [("x", None)]})
        assert pairs_of(frame, graph) == [(("a", 2), ("x", None))]
        series = pd.Series(["x", "y"], index=pd.MultiIndex.from_tuples(graph.nodes))
        assert pairs_of(series, graph) == [(("a", 1), "x"), (("a", 2), "y")]


class TestNumbers:
    """Integers that became floats because some are missing."""

    def test_whole_floats_are_integers(self):
        for make in (pd.DataFrame, pl.DataFrame):
            found = pairs_of(make({"node": [1.0, 0.0], "label": [float("nan"), 7.0]}), NUMBERED)
            assert repr(found) == "[(1, None), (0, 7)]"

    def test_other_floats_stay(self):
        graph = fo.CSRGraph.from_edges([0], [1], nodes=[0.5, 1])
        found = pairs_of(pd.DataFrame({"node": [1.0, 0.5], "label": [2.0, float("inf")]}), graph)
        assert repr(found) == "[(1.0, 2.0), (0.5, inf)]"
        assert fo.OnlineNodeLabeler(graph).learn_many(dict(found)).labels == {1: 2.0, 0.5: float("inf")}

    def test_floats_that_may_be_several_integers(self):
        with pytest.raises(
            ValueError,
            match=r"holds 9007199254740992\.0: floats of its type do not tell integers apart from 2\*\*53 on",
        ):
            label_stream(pd.DataFrame({"node": [1.0, 2.0**53], "label": [1, 2]}), GRAPH)
        assert pairs_of(pd.DataFrame({"node": [2**53 + 1], "label": [1]}), GRAPH) == [(2**53 + 1, 1)]

    def test_large_integers(self):
        for make in (pd.DataFrame, pl.DataFrame, pa.table):
            table = make({"node": np.array([2**64 - 1], dtype=np.uint64), "label": np.array([2**63], dtype=np.uint64)})
            assert pairs_of(table, GRAPH) == [(2**64 - 1, 2**63)]

    def test_nanoseconds_are_not_cut(self):
        for times in (
            pl.Series([1, 1001, None], dtype=pl.Datetime("ns")),
            pd.Series(pd.to_datetime(["2024-01-01 00:00:00.000000001", None, None])),
            pa.array([1, None, None], pa.timestamp("ns")),
        ):
            with pytest.raises(ValueError, match="times with nanoseconds"):
                label_stream(_table(times), GRAPH)
        ((_, label), *_) = pairs_of(_table(pl.Series([1000], dtype=pl.Datetime("ns"))), GRAPH)
        assert repr(label) == "datetime.datetime(1970, 1, 1, 0, 0, 0, 1)"

    @pytest.mark.parametrize(
        "values",
        [
            pl.Series([1, 1001], dtype=pl.Duration("ns")),
            pl.Series([1, 1001]).cast(pl.Time),
            pd.Series(pd.to_timedelta([1, 1001], unit="ns")),
            pa.array([1, 1001], pa.time64("ns")),
            pa.array([1, 1001], pa.duration("ns")),
            pd.Series([pd.Timestamp(1), pd.Timestamp(1001)], dtype=object),
            pd.Series([pd.Timedelta(1), pd.Timedelta(1001)], dtype=object),
        ],
        ids=str,
    )
    def test_nanoseconds_of_other_times(self, values):
        with pytest.raises(ValueError, match=r"nanoseconds, and (those|times) of Python have microseconds"):
            label_stream(_table(values), GRAPH)

    def test_microseconds_of_other_times(self):
        for values in (
            pl.Series([1000, 2000], dtype=pl.Duration("ns")),
            pl.Series([1000, 2000]).cast(pl.Time),
            pd.Series(pd.to_timedelta([1000, 2000], unit="ns")),
            pa.array([1000, 2000], pa.time64("ns")),
            pa.array([1, 2], pa.time64("us")),
            pa.array([1, 2], pa.duration("us")),
        ):
            assert len({label for _, label in pairs_of(_table(values), GRAPH)}) == 2


def _table(labels):
    nodes = ["a", "b", "c"][: len(labels)]
    if isinstance(labels, pa.Array):
        return pa.table({"node": nodes, "label": labels})
    return (pl.DataFrame if isinstance(labels, pl.Series) else pd.DataFrame)({"node": nodes, "label": labels})


def by_name(labels):
    """The labels that a column without names gives the nodes of the path, by what these are called in GRAPH."""
    return {NAMES[node]: label for node, label in pairs_of(labels, NUMBERED)}


class TestColumns:
    """A label for each node, in the order of the graph."""

    @pytest.mark.parametrize("kind", COLUMNS)
    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            ([3, -1, None, 0], {"d": 3, "b": 0}),
            ([3, -1, 3, 0], {"d": 3, "c": 3, "b": 0}),
            (["x", None, "-1", "x"], {"d": "x", "c": "-1", "b": "x"}),
            ([-1.0, None, None, 0.5], {"d": -1.0, "b": 0.5}),
            ([True, None, False, True], {"d": True, "c": False, "b": True}),
            ([None] * 4, {}),
        ],
    )
    def test_nulls_and_minus_one_mean_no_label(self, kind, values, expected):
        found = by_name(COLUMNS[kind](values))
        assert found == expected
        assert [type(label) for label in found.values()] == [type(label) for label in expected.values()]

    def test_types_of_polars(self):
        for series in (
            pl.Series([3, 0, 4, None], dtype=pl.UInt8),
            pl.Series(["x", None, "y", "x"], dtype=pl.Categorical),
            pl.Series(["x", None, "y", "x"], dtype=pl.Enum(["y", "x"])),
            pl.Series([3, 2**70, None, "x"], dtype=pl.Object),
            pl.Series([dt.date(2024, 1, 1), None, None, dt.date(2024, 1, 2)]),
        ):
            expected = {node: label for node, label in zip(NAMES, series.to_list(), strict=True) if label is not None}
            assert by_name(series) == expected

    def test_dictionaries_of_arrow(self):
        array = pa.array(["x", None, "y", "x"]).dictionary_encode()
        assert by_name(array) == {"d": "x", "c": "y", "b": "x"}

    def test_what_cannot_be_hashed(self):
        with pytest.raises(TypeError, match=r"must be hashable, got \[1\] for node 0"):
            fo.OnlineNodeLabeler(NUMBERED).learn_many(pl.Series([[1], [2], [3], [4]]))

    def test_the_length_is_that_of_the_graph(self):
        for make in COLUMNS.values():
            with pytest.raises(
                ValueError, match="without names of nodes, and it has 2 rows, and the graph has 4 nodes"
            ):
                label_stream(make([1, 2]), NUMBERED)

    @pytest.mark.parametrize("kind", COLUMNS)
    def test_the_order_is_one_that_everybody_knows(self, kind):
        labels = COLUMNS[kind](list("wxyz"))
        for names in (NAMES, [2, 0, 1, 3], [1, 2, 3, 4]):
            graph, model = fo.CSRGraph.from_networkx(nx.path_graph(names)), fo.OnlineNodeLabeler(nx.path_graph(names))
            with pytest.raises(
                ValueError, match=r"the graph's nodes are not 0, 1, 2, \.\.\. in this order: pass dict\(zip"
            ):
                label_stream(labels, graph)
            in_order = dict(zip(names, "wxyz", strict=True))
            assert model.fit(np.asarray(labels)).labels == in_order
            assert model.fit(dict(zip(names, labels, strict=True))).n_learned == 4

    def test_a_series_of_pandas_goes_by_its_index(self):
        assert pairs_of(pd.Series(["x", None], index=["b", "a"]), GRAPH) == [("b", "x"), ("a", None)]
        # Indices, too, become floats where one is missing, or was.
        assert repr(pairs_of(pd.Series([1, 0], index=[2.0, 0.0]), NUMBERED)) == "[(2, 1), (0, 0)]"
        with pytest.raises(ValueError, match="the index of labels has no node in row 1"):
            label_stream(pd.Series([1, 2], index=["a", None]), GRAPH)

    def test_minus_one_in_a_column_of_integers_means_no_label_whatever_its_index(self):
        for dtype in (int, float, object, "Int64"):
            labels = pd.Series([3, -1, 0], index=["d", "a", "b"], dtype=dtype)
            assert pairs_of(labels, GRAPH) == [("d", 3), ("a", None), ("b", 0)]
            assert fo.OnlineNodeLabeler(GRAPH).fit(labels).labels == {"d": 3, "b": 0}
        assert pairs_of(pd.Series([0.5, -1], index=["d", "a"]), GRAPH) == [("d", 0.5), ("a", -1.0)]
        assert pairs_of(pd.Series(["x", -1], index=["d", "a"]), GRAPH) == [("d", "x"), ("a", -1)]

    def test_an_index_that_counts_rows_names_no_nodes(self):
        for labels in (["x", None, "y", "x"], [3, -1, 3, 0]):
            expected = pairs_of(pl.Series(labels), NUMBERED)
            assert pairs_of(pd.Series(labels), NUMBERED) == expected
            assert pairs_of(pd.DataFrame({"club": labels})["club"], NUMBERED) == expected
        assert pairs_of(pd.Series([], dtype=object), GRAPH) == []
        column, model = pd.Series(["x", "y"]), fo.OnlineNodeLabeler(NUMBERED)
        for use in (model.fit, model.run, model.learn_many):
            with pytest.raises(
                ValueError, match=r"index is without names of nodes, and it has 2 rows, and the graph has 4"
            ):
                use(column)
        assert model.fit(column.to_dict()).labels == {0: "x", 1: "y"}
        assert model.fit(dict(zip([3, 2], column, strict=True))).labels == {3: "x", 2: "y"}


class TestNodes:
    """Columns and tables of nodes to ask about."""

    @pytest.mark.parametrize("kind", {**COLUMNS, "pandas": pd.Series})
    def test_answers_are_those_of_lists(self, model, kind):
        nodes = [5, 31, 8]
        column = {**COLUMNS, "pandas": pd.Series}[kind](nodes)
        assert model.predict_many(column) == model.predict_many(nodes)
        assert (model.predict_proba_many(column) == model.predict_proba_many(nodes)).all()
        assert model.predict_set_many(column) == model.predict_set_many(nodes)
        assert model.certify_many(column) == model.certify_many(nodes)
        assert model.reached(column) == model.reached(nodes)

    @pytest.mark.parametrize("kind", TABLES)
    def test_a_table_has_a_column_node(self, model, kind):
        for columns in ({"node": [5, 31]}, {"who": [5, 31]}, {"age": [1, 2], "node": [5, 31]}):
            assert model.predict_many(TABLES[kind](columns)) == model.predict_many([5, 31])
        with pytest.raises(ValueError, match="nodes is a table with the columns 'a', 'b'; expected a column node"):
            model.predict_many(TABLES[kind]({"a": [1], "b": [2]}))

    def test_booleans_are_no_nodes(self, model):
        for make in COLUMNS.values():
            with pytest.raises(ValueError, match="must name nodes, got a column of booleans; pass the nodes"):
                model.predict_many(make([True, False, True]))

    def test_candidates(self):
        G = nx.karate_club_graph()
        for make in COLUMNS.values():
            found = fo.personalized_pagerank_local(G, 0.85, 5, candidates=make([1, 2, 3]), exclude=make([2]), top_k=3)
            assert set(found) == {1, 3}
        table = pl.DataFrame({"node": [1, 99]})
        assert set(fo.personalized_pagerank_local(G, 0.85, 5, candidates=table, top_k=3, unknown="skip")) == {1}

    def test_rows_of_matrices(self):
        G = nx.karate_club_graph()
        for make in COLUMNS.values():
            for rows in (fo.ppr_matrix, fo.kernel_matrix):
                assert (rows(G, make([3, 1])) != rows(G, [3, 1])).nnz == 0

    def test_classes(self):
        G = nx.path_graph(3)
        for make in COLUMNS.values():
            assert fo.OnlineNodeLabeler(G, classes=make(["x", "y"])).classes == ("x", "y")


def check_that_nodes_of_others_stay(graph, model):
    """Fail to learn labels, while nodes and edges are added as another thread may do it."""
    look_up, change = model._labels_and_unknown, model._change

    def look_up_before_a_node_joins(labels, unknown):
        found = look_up(labels, unknown)
        if unknown == "add":
            graph.add_node("e")
        return found

    def change_after_an_edge_joins(*given):
        graph.add_edge("f", "a")
        return change(*given)

    def fail(use):
        with pytest.raises(ValueError, match="not one of the classes"):
            use({"e": 7, "f": 1}, unknown="add")

    with mock.patch.object(model, "_labels_and_unknown", look_up_before_a_node_joins):
        for use in (model.learn_many, model.fit, model.run):
            fail(use)
            assert (graph.nodes, model.n_learned) == ([*NAMES, "e"], 0)
            graph.remove_node("e")
    with mock.patch.object(model, "_change", change_after_an_edge_joins):
        fail(model.learn_many)
    assert (graph.nodes, graph.number_of_edges()) == ([*NAMES, "f"], 4)


class TestUnknown:
    """Labels of nodes that are not in the graph."""

    LABELS = {"a": 1, "e": 2, "b": 3, "f": 4}  # noqa: RUF012

    def forms(self):
        """The same labels in every form, iterators aside."""
        columns = {"node": list(self.LABELS), "label": list(self.LABELS.values())}
        return [self.LABELS, list(self.LABELS.items()), *(make(columns) for make in TABLES.values())]

    def test_an_error_counts_them_before_anything_is_learned(self):
        model = fo.OnlineNodeLabeler(GRAPH)
        message = r"2 nodes of labels are not in the graph: 'e', 'f'; unknown=\"skip\" leaves them out$"
        for labels in self.forms():
            for use in (model.run, model.learn_many, model.fit):
                with pytest.raises(nx.NodeNotFound, match=message):
                    use(labels)
        assert model.n_learned == 0
        with pytest.raises(nx.NodeNotFound, match=r"^node 'e' is not in the graph; unknown=\"skip\" leaves it out$"):
            model.run([("a", 1), ("e", 2)])
        assert model.n_learned == 0

    def test_skip(self):
        for labels in self.forms():
            assert fo.OnlineNodeLabeler(GRAPH).learn_many(labels, unknown="skip").labels == {"a": 1, "b": 3}
            assert fo.OnlineNodeLabeler(GRAPH).fit(labels, unknown="skip").labels == {"a": 1, "b": 3}
            assert fo.online_node_labeling(GRAPH, labels, unknown="skip").nodes == ("a", "b")
        stream = fo.OnlineNodeLabeler(GRAPH).run(iter(self.LABELS.items()), unknown="skip")
        assert stream.nodes == ("a", "b")

    def test_nothing_left(self):
        model = fo.OnlineNodeLabeler(GRAPH)
        for use, make in ((model.fit, dict), (model.run, dict), (model.run, list), (model.run, iter)):
            with pytest.raises(
                ValueError, match=r"no node of labels is in the graph; unknown=\"skip\" left out 'e', 'f'"
            ):
                use(make([("e", 1), ("f", 2)]), unknown="skip")
        assert len(model.run([], unknown="skip")) == len(model.run(iter([]), unknown="skip")) == 0
        assert model.run(iter([("e", 1), ("a", 2), ("f", 2)]), unknown="skip").nodes == ("a",)

    @pytest.mark.parametrize("none", [None, float("nan"), pd.NA])
    def test_a_node_without_a_label_need_not_be_in_the_graph(self, none):
        graph = fo.DynamicGraph(nx.path_graph(NAMES))
        model = fo.OnlineNodeLabeler(graph)
        for unknown in ("error", "skip", "add"):
            for use in (model.fit, fo.OnlineNodeLabeler(graph).learn_many):
                assert use({"a": 1, "z": none}, unknown=unknown).labels == {"a": 1}
            assert model.fit([("z", none)], unknown=unknown).labels == {}
        assert graph.nodes == list(NAMES)
        for labels in ({"z": none, "a": 1}, iter([("z", none), ("a", 1)])):
            assert fo.OnlineNodeLabeler(graph).run(labels).nodes == ("a",)
        assert graph.nodes == list(NAMES)

    @pytest.mark.parametrize("use", ["run", "learn_many", "fit"])
    def test_add(self, use):
        for labels in [*self.forms(), *([iter(self.LABELS.items())] if use == "run" else [])]:
            graph = fo.DynamicGraph(nx.path_graph(NAMES))
            model = fo.OnlineNodeLabeler(graph)
            getattr(model, use)(labels, unknown="add")
            assert model.labels == self.LABELS
            assert (graph.nodes, graph.number_of_edges()) == ([*NAMES, "e", "f"], 3)

    def test_added_nodes_leave_again_if_labels_are_bad(self):
        graph = fo.DynamicGraph(nx.path_graph(NAMES))
        model = fo.OnlineNodeLabeler(graph, classes=[1, 2])
        for use in (model.learn_many, model.fit):
            with pytest.raises(ValueError, match="not one of the classes"):
                use({"e": 1, "a": 7}, unknown="add")
            with pytest.raises(TypeError, match="must be hashable"):
                use([("e", 1), ("f", [])], unknown="add")
        with pytest.raises(ValueError, match="class_prior"):
            model.fit({"e": 1, "a": 2}, unknown="add", class_prior={1: 0.5})
        assert (graph.nodes, model.n_learned) == (list(NAMES), 0)

    @pytest.mark.parametrize("make", [list, dict, iter])
    def test_of_a_stream_that_fails_only_learned_nodes_stay(self, make):
        graph = fo.DynamicGraph(nx.path_graph(NAMES))
        model = fo.OnlineNodeLabeler(graph, classes=[1, 2])
        with pytest.raises(ValueError, match="not one of the classes"):
            model.run(make([("e", 1), ("f", 7), ("g", 2)]), unknown="add")
        assert (graph.nodes, model.labels) == ([*NAMES, "e"], {"e": 1})

    def test_an_iterator_that_raises_leaves_no_node_behind(self):
        def arrivals(graph):
            yield "e", 1
            yield "f", 2
            graph.add_edge("g", "h")
            yield "g", []

        graph = fo.DynamicGraph(nx.path_graph(NAMES))
        model = fo.OnlineNodeLabeler(graph)
        with pytest.raises(TypeError, match="must be hashable"):
            model.run(arrivals(graph), unknown="add")
        assert (graph.nodes, model.labels) == ([*NAMES, "e", "f", "g", "h"], {"e": 1, "f": 2})

    @pytest.mark.parametrize("is_durable", [False, True])
    def test_nodes_of_others_stay_if_labels_are_bad(self, is_durable, tmp_path):
        if is_durable:
            with fo.DurableGraph(tmp_path / "graph", nx.path_graph(NAMES)) as graph:
                check_that_nodes_of_others_stay(graph, graph.labeler("one", classes=[1]))
        else:
            graph = fo.DynamicGraph(nx.path_graph(NAMES))
            check_that_nodes_of_others_stay(graph, fo.OnlineNodeLabeler(graph, classes=[1]))

    def test_a_durable_graph_keeps_added_nodes(self, tmp_path):
        with fo.DurableGraph(tmp_path / "graph", nx.path_graph(NAMES)) as graph:
            graph.labeler("one").fit(self.LABELS, unknown="add")
            graph.labeler("two").learn_many(self.LABELS, unknown="skip")
        with fo.DurableGraph(tmp_path / "graph") as graph:
            assert graph.labeler("one").labels == self.LABELS
            assert len(graph.labeler("two").labels) == 4

    def test_only_graphs_that_change_can_grow(self):
        for use in (fo.OnlineNodeLabeler(GRAPH).run, fo.OnlineNodeLabeler(GRAPH).fit):
            with pytest.raises(
                ValueError, match=r'must be "error" or "skip", got \'add\'; a DynamicGraph can add them'
            ):
                use(self.LABELS, unknown="add")
        with pytest.raises(ValueError, match=r'must be "error" or "skip" or "add", got True'):
            fo.OnlineNodeLabeler(fo.DynamicGraph(nx.path_graph(2))).run(iter({}), unknown=True)

    def test_texts_that_look_like_nodes(self):
        with pytest.raises(nx.NodeNotFound, match="node '3' is not in the graph, which has the integer 3"):
            fo.OnlineNodeLabeler(NUMBERED).fit({"3": 1})
        graph = fo.CSRGraph.from_edges(["1"], ["2"])
        with pytest.raises(
            nx.NodeNotFound, match="2 nodes of labels are not in the graph, which has the text '2': 2, 7"
        ):
            fo.OnlineNodeLabeler(graph).fit({2: 1, 7: 1})

    def test_an_iterator_is_looked_up_as_it_arrives(self):
        model = fo.OnlineNodeLabeler(GRAPH)
        with pytest.raises(nx.NodeNotFound, match="'e'"):
            model.run(iter(self.LABELS.items()))
        assert model.labels == {"a": 1}


class TestToFrame:
    BACKENDS = ("pandas", "polars", "pyarrow")

    @pytest.mark.parametrize("backend", BACKENDS)
    @settings(max_examples=25)
    @given(
        st.lists(st.none() | st.text("xyz", max_size=1) | st.integers(0, 2), min_size=5, max_size=5).filter(
            lambda labels: len({type(label) for label in labels if label is not None}) < 2
        )
    )
    def test_labels_come_back(self, backend, labels):
        G = nx.path_graph(["a", "b", "c", "d", "e"])
        known = {node: label for node, label in zip(G, labels, strict=True) if label is not None}
        seq = fo.online_node_labeling(G, pl.DataFrame({"node": list(G), "label": labels}))
        frame = seq.to_frame(backend)
        names = {"pandas": lambda: list(frame.columns), "polars": lambda: frame.columns}
        expected = ["node", "predicted", "truth", "correct", "error_rate", "probability"]
        assert names.get(backend, lambda: frame.column_names)() == expected
        frame = frame.rename(columns={"truth": "label"}) if backend == "pandas" else frame
        frame = frame.rename({"truth": "label"}) if backend == "polars" else frame
        frame = frame.rename_columns([*expected[:2], "label", *expected[3:]]) if backend == "pyarrow" else frame
        again = fo.online_node_labeling(G, frame) if known else fo.online_node_labeling(G, {})
        assert (again, again.truth) == (seq, tuple(known.values()))

    def test_types_of_columns(self):
        seq = fo.LabelSequence((None, 1), (1, 2), (1, 2), (0.0, 0.5), (0.0, 0.25))
        frame = seq.to_frame()
        assert frame["node"].dtype == np.int64
        assert list(frame["predicted"]) == [None, 1]  # and no floats
        frame = seq.to_frame("polars")
        assert frame.dtypes == [pl.Int64, pl.Int64, pl.Int64, pl.Boolean, pl.Float64, pl.Float64]
        assert seq.to_frame("pyarrow")["predicted"].to_pylist() == [None, 1]

    def test_nodes_of_several_types(self):
        seq = fo.LabelSequence(("x", "y"), (1, ("a", 2)), ("x", "y"))
        assert list(seq.to_frame()["node"]) == [1, ("a", 2)]
        for backend in ("polars", "pyarrow"):
            with pytest.raises(
                TypeError, match=f'column node holds .* int, tuple, and a column of {backend} .*"pandas"'
            ):
                seq.to_frame(backend)
        assert list(fo.LabelSequence(("x",), (2**70,), ("x",)).to_frame()["node"]) == [2**70]
        with pytest.raises(TypeError, match="integers of more than 64 bits"):
            fo.LabelSequence(("x",), (2**70,), ("x",)).to_frame("polars")

    def test_times_with_and_without_a_time_zone(self):
        zoned = DAY.replace(tzinfo=dt.UTC)
        seq = fo.LabelSequence(("x", "x"), (DAY, zoned), ("x", "x"))
        assert list(seq.to_frame()["node"]) == [DAY, zoned]
        for backend in ("polars", "pyarrow"):
            with pytest.raises(TypeError, match="holds values of type datetime, datetime with a time zone, and"):
                seq.to_frame(backend)
            fo.LabelSequence(("x",), (zoned,), ("x",)).to_frame(backend)

    def test_texts_that_are_not_in_utf_8(self):
        frame = fo.LabelSequence(("x", "x"), ("a", "\udc80"), ("x", "x")).to_frame()
        assert list(frame["node"]) == ["a", "\udc80"]
        assert frame["node"].dtype == object

    @pytest.mark.parametrize("backend", BACKENDS)
    def test_nothing(self, backend):
        assert len(fo.LabelSequence((), (), ()).to_frame(backend)) == 0

    def test_unknown_and_missing_libraries(self, monkeypatch):
        seq = fo.LabelSequence(("x",), (0,), ("x",))
        with pytest.raises(
            ValueError, match='unknown backend \'excel\'; tables are made by "pandas", "polars", "pyarrow"'
        ):
            seq.to_frame("excel")
        for package in ("polars", "narwhals"):
            monkeypatch.setitem(sys.modules, package, None)
            with pytest.raises(
                ImportError, match=rf'to_frame\(backend="polars"\) needs {package}: pip install {package}'
            ):
                seq.to_frame("polars")


class TestEvents:
    EVENTS = [  # noqa: RUF012
        {"event": "edge", "u": 1, "v": 2, "weight": 2.5},
        {"event": "label", "node": 1, "label": "x", "time": 7.0},
        {"event": "edge", "u": 2, "v": 3},
        {"event": "question", "node": 3},
        {"event": "arrival", "node": 2, "label": "x"},
    ]

    @pytest.mark.parametrize("kind", TABLES)
    def test_rows_of_a_table_are_events(self, kind):
        names = ("event", "u", "v", "node", "label", "weight", "time")
        table = TABLES[kind]({name: [event.get(name) for event in self.EVENTS] for name in names})
        stream = fo.replay(table)
        assert repr(list(stream)) == repr(list(fo.replay(self.EVENTS)))
        assert repr(stream.graph.nodes) == "[1, 2, 3]"

    def test_columns_are_checked(self):
        with pytest.raises(ValueError, match="events: columns event, who; expected event and some of"):
            fo.replay(pl.DataFrame({"event": ["edge"], "who": ["a"]}))
        with pytest.raises(TypeError, match="events must be a table with the columns event"):
            fo.replay(pl.Series(["edge"]))

    def test_a_bad_row_is_named(self):
        stream = fo.replay(pl.DataFrame({"event": ["node", "question"], "node": ["a", "b"]}))
        with pytest.raises(nx.NodeNotFound, match="events, row 2: node 'b' is not in the graph"):
            next(stream)


def test_a_cut_takes_tables():
    labels = {node: node % 2 for node in range(34)}
    G = nx.karate_club_graph()
    for make in TABLES.values():
        table = make({"node": list(labels), "label": list(labels.values())})
        assert fo.labeling_cut(G, table) == fo.labeling_cut(G, labels)


def test_narwhals_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(
        ImportError, match="labels is a DataFrame of polars, which needs narwhals: pip install narwhals"
    ):
        fo.OnlineNodeLabeler(GRAPH).fit(pl.DataFrame({"node": ["a"], "label": [1]}))


def test_an_index_that_counts_by_two_names_nodes():
    labels = pd.Series(["a", "b"], index=pd.RangeIndex(0, 4, 2))
    assert fo.OnlineNodeLabeler(NUMBERED).fit(labels).labels == {0: "a", 2: "b"}


@pytest.mark.parametrize(
    "make", [pl.Series, pd.Series, pa.array, lambda values: pd.Series(values, dtype=object), pd.Categorical]
)
class TestBooleans:
    """Columns that say of each row whether it counts name no nodes."""

    MESSAGE = "must name nodes, got a column of booleans; pass the nodes where it is true"

    def test_as_nodes(self, make):
        mask, G = make([False, True, True, False]), nx.path_graph(4)
        for use in (
            lambda: fo.local_community(G, mask),
            lambda: fo.personalized_pagerank_local(G, personalization=mask),
            lambda: fo.DynamicPageRank(fo.DynamicGraph(G), mask),
            lambda: fo.OnlineNodeLabeler(G).predict_many(mask),
        ):
            with pytest.raises(ValueError, match=self.MESSAGE):
                use()

    def test_as_ends_and_as_nodes_of_labels(self, make):
        library = pa.table if make is pa.array else (pl if make is pl.Series else pd).DataFrame
        edges = library({"source": make([True, False]), "target": make([False, False])})
        with pytest.raises(ValueError, match=self.MESSAGE):
            fo.DynamicGraph(edges)
        with pytest.raises(TypeError, match=r"integers or texts|an integer or a text|texts or integers"):
            fo.CSRGraph.from_edges(edges)
        with pytest.raises(ValueError, match=self.MESSAGE):
            fo.replay(library({"event": ["edge", "edge"], "u": make([True, False]), "v": make([False, False])}))
        with pytest.raises(ValueError, match=self.MESSAGE):
            label_stream(pl.DataFrame({"node": [True, False], "label": [1, 2]}), GRAPH)


@pytest.mark.parametrize("column", [pl.Series([2.0**24], dtype=pl.Float32), pd.Series([2.0**24], dtype="float32")])
def test_floats_of_single_precision_tell_fewer_integers_apart(column):
    with pytest.raises(ValueError, match=r"holds 16777216\.0: floats of its type .* from 2\*\*24 on"):
        fo.OnlineNodeLabeler(GRAPH).predict_many(column)
    with pytest.raises(TypeError, match=r"sources holds 16777216\.0 in row 0; expected an integer"):
        fo.CSRGraph.from_edges(column, column)
    table = (pl if isinstance(column, pl.Series) else pd).DataFrame({"event": ["node"], "node": column})
    with pytest.raises(ValueError, match=r"column 'node' of events holds 16777216\.0: floats of its type"):
        fo.replay(table)


def test_booleans_in_a_file_of_events_name_no_nodes(tmp_path):
    pq.write_table(pa.table({"event": ["node"], "node": [True]}), tmp_path / "events.parquet")
    with pytest.raises(ValueError, match="row 1: node must name a node, got the boolean True"):
        list(fo.replay(tmp_path / "events.parquet"))


class TestUnknownNodes:
    def test_of_labels_of_a_cut(self):
        labels = pl.DataFrame({"node": ["a", "zoe", "b", "yann"], "label": [1, 2, 2, None]})
        with pytest.raises(nx.NodeNotFound, match="'zoe' is not in the graph; unknown=\"skip\" leaves it out"):
            fo.labeling_cut(GRAPH, labels)
        assert fo.labeling_cut(GRAPH, labels, unknown="skip") == fo.labeling_cut(GRAPH, {"a": 1, "b": 2})
        with pytest.raises(ValueError, match='must be "error" or "skip", got \'add\''):
            fo.labeling_cut(GRAPH, labels, unknown="add")

    def test_of_labels_that_are_drawn(self):
        pytest.importorskip("matplotlib").use("Agg")
        labels = {"a": 1, "zoe": 2, "yann": 1, "b": None, "xena": None}
        with pytest.raises(nx.NodeNotFound, match="2 nodes of labels are not in the graph: 'zoe', 'yann'; unknown="):
            fo.plotting.plot_labels(GRAPH, labels)
        ax = fo.plotting.plot_labels(GRAPH, labels, {"b": 1, "zoe": 1}, unknown="skip")
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["1", "no label", "mistake"]
        ax.figure.clear()
