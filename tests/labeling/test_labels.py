import math

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nx_fastonl as fo
from nx_fastonl._lib.plain import is_missing
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.graph.live import live_graph
from nx_fastonl.labeling.labels import (
    PlainLabels,
    checked_label,
    distinct_labels,
    label_stream,
    read_attribute,
)

NAN = float("nan")
NAMES = ("d", "a", "c", "b")
GRAPH = CSRGraph.from_networkx(nx.path_graph(NAMES))
NUMBERED = CSRGraph.from_networkx(nx.path_graph(4))


def labelled(labels, graph=GRAPH):
    """What a caller learns: the nodes that have a label, and the labels as plain objects; the count must be right."""
    stream, total = label_stream(labels, graph)
    pairs = list(stream)
    assert total in (None, len(pairs))
    plain = PlainLabels()
    found = [(node, label) for node, given in pairs for label in plain.of([node], [given]) if label is not None]
    return dict(found)


class TestArrays:
    """One label for each node, in the order of the graph."""

    @pytest.mark.parametrize(
        ("array", "expected"),
        [
            (np.array([3, -1, 3, 0]), {"d": 3, "c": 3, "b": 0}),
            (np.array([3, -1, 3, 0], dtype=np.int8), {"d": 3, "c": 3, "b": 0}),
            (np.array([3, -2, 255, 0]), {"d": 3, "a": -2, "c": 255, "b": 0}),
            (np.array([3, 255, 3, 0], dtype=np.uint8), {"d": 3, "a": 255, "c": 3, "b": 0}),
            (np.array([1.5, NAN, -1.0, 0.0]), {"d": 1.5, "c": -1.0, "b": 0.0}),
            (np.array(["x", "", "nan", "-1"]), {"d": "x", "a": "", "c": "nan", "b": "-1"}),
            (np.array([True, False, True, False]), {"d": True, "a": False, "c": True, "b": False}),
            (np.array(["x", None, -1, NAN], dtype=object), {"d": "x", "c": -1}),
            (np.array([pd.NA, "x", pd.NaT, ("y", 1)], dtype=object), {"a": "x", "b": ("y", 1)}),
            (np.ma.array([3, 4, -1, 3], mask=[1, 0, 0, 0]), {"a": 4, "b": 3}),
            (np.ma.array([3, 4, -1, 3]), {"d": 3, "a": 4, "b": 3}),
            (np.ma.array(["x", "y", "z", "x"], mask=[0, 0, 1, 1]), {"d": "x", "a": "y"}),
            (np.ma.array(["x", None, [], NAN], mask=[0, 0, 1, 0], dtype=object), {"d": "x"}),
            (np.ma.array([0.5, NAN, 1.5, 2.5], mask=[1, 0, 0, 0]), {"c": 1.5, "b": 2.5}),
            (np.array([-1, -1, -1, -1]), {}),
            (np.array([b"x", b"", b"x", b"y"]), {"d": b"x", "a": b"", "c": b"x", "b": b"y"}),
        ],
        ids=lambda value: getattr(value, "dtype", ""),
    )
    def test_entries_that_mean_no_label_are_left_out(self, array, expected):
        found = labelled(array)
        assert found == expected
        assert [type(label) for label in found.values()] == [type(label) for label in expected.values()]
        assert label_stream(array, GRAPH)[1] == len(expected)
        rows = {NAMES.index(node): label for node, label in expected.items()}
        assert labelled(array, NUMBERED) == rows

    @pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="numpy has it since 2.0")
    def test_texts_of_any_length(self):
        array = np.array(["x", None, "y", "x"], dtype=np.dtypes.StringDType(na_object=None))
        self.test_entries_that_mean_no_label_are_left_out(array, {"d": "x", "c": "y", "b": "x"})

    def test_times(self):
        for unit in ("D", "ns"):  # nanoseconds would become plain numbers
            days = np.array(["2024-01-01", "NaT", "2024-01-02", "2024-01-01"], dtype=f"datetime64[{unit}]")
            assert labelled(days) == {"d": days[0], "c": days[2], "b": days[3]}

    @pytest.mark.parametrize("labels", [np.zeros(3), np.array(["x"] * 5), np.ma.zeros(0)])
    def test_wrong_length_names_both(self, labels):
        with pytest.raises(ValueError, match=f"array of length {len(labels)} and the graph has 4 nodes; an array must"):
            label_stream(labels, GRAPH)

    def test_two_columns_are_pairs(self):
        assert labelled(np.array([["b", "x"], ["a", "y"]])) == {"b": "x", "a": "y"}
        # In pairs, -1 is a label like any other.
        assert labelled(np.array([[2, 0], [1, -1], [3, 0]]), NUMBERED) == {2: 0, 1: -1, 3: 0}
        masked = np.ma.array([[2, 0], [1, 5]], mask=[[0, 1], [0, 0]])
        assert labelled(masked, NUMBERED) == {1: 5}

    @pytest.mark.parametrize("shape", [(4, 1), (4, 3), (2, 2, 2)])
    def test_other_shapes_are_refused(self, shape):
        with pytest.raises(TypeError, match=r"pairs \(node, label\)"):
            list(label_stream(np.zeros(shape), GRAPH)[0])

    def test_records_are_refused(self):
        records = np.array([("d", 1)] * 4, dtype=[("node", "U1"), ("label", int)])
        with pytest.raises(TypeError, match=r"pairs \(node, label\)"):
            list(label_stream(records, GRAPH)[0])

    @settings(max_examples=25)
    @given(st.lists(st.sampled_from([-1, 0, 1, 2]), min_size=34, max_size=34))
    def test_run_as_the_dict_of_the_labelled_nodes(self, labels):
        G = nx.relabel_nodes(nx.karate_club_graph(), lambda node: f"member {node}")
        expected = fo.online_node_labeling(G, {node: y for node, y in zip(G, labels, strict=True) if y >= 0})
        for array in (np.array(labels), np.ma.masked_equal(labels, -1), pd.Series(labels, index=G).replace(-1, None)):
            found = fo.online_node_labeling(G, array)
            assert found == expected
            assert {type(label) for label in found.truth} <= {int, float}
        A = nx.to_scipy_sparse_array(G)
        assert list(fo.online_node_labeling(A, np.array(labels))) == list(expected)


class TestMappings:
    def test_minus_one_is_a_label(self):
        assert labelled({"a": -1, "b": 0}) == {"a": -1, "b": 0}

    def test_pandas_series_goes_by_its_index(self):
        series = pd.Series(["x", None, pd.NA, NAN], index=["b", "a", "d", "c"])
        assert labelled(series) == {"b": "x"}
        assert labelled(pd.Series({2: 1, 0: pd.NA}, dtype="Int64"), NUMBERED) == {2: 1}

    def test_mapping_without_a_length(self):
        class Labels:
            def __iter__(self):
                raise AssertionError

            def items(self):
                yield "a", 1

        assert labelled(Labels()) == {"a": 1}
        assert label_stream(Labels(), GRAPH)[1] is None


class TestPairs:
    def test_in_the_order_given(self):
        pairs = [("b", 1), ("a", -1)]
        for labels in (pairs, [list(pair) for pair in pairs]):
            assert list(labelled(labels).items()) == pairs
            assert label_stream(labels, GRAPH)[1] == 2
        assert list(labelled(pair for pair in pairs).items()) == pairs
        assert label_stream(iter(pairs), GRAPH)[1] is None

    @pytest.mark.parametrize("labels", [[3, -1, 3, 0], ["x", "y", "x", "y"], [None, "x", "y", "x"], ["xy"] * 4])
    def test_list_of_labels_is_told_to_become_an_array(self, labels):
        with pytest.raises(TypeError, match=r"pairs \(node, label\), as zip.*pass np\.asarray\(labels\); got") as error:
            list(label_stream(labels, GRAPH)[0])
        assert str(error.value).endswith(repr(labels[0]))
        assert labelled(np.asarray(labels, dtype=object))


class TestAttributes:
    def test_are_those_of_now_in_the_order_of_the_graph(self, karate):
        expected = nx.get_node_attributes(karate, "club")
        assert list(read_attribute(karate, "club").items()) == list(expected.items())
        karate.nodes[0]["club"] = "none"
        del karate.nodes[1]["club"]
        del expected[1]
        assert read_attribute(live_graph(karate), "club") == {**expected, 0: "none"}

    def test_other_labels_pass(self, karate):
        for labels in ({}, [(0, "a")], np.zeros(34), 5):
            assert read_attribute(karate, labels) is labels

    def test_errors(self, karate):
        with pytest.raises(ValueError, match="no node has the attribute 'team'"):
            read_attribute(karate, "team")
        with pytest.raises(TypeError, match=r"labels='club' names a node attribute, and only an nx\.Graph has those"):
            read_attribute(fo.CSRGraph.from_networkx(karate), "club")
        with pytest.raises(TypeError, match=r"pass nx\.get_node_attributes\(G, 'club'\)"):
            label_stream("club", GRAPH)
        assert read_attribute(nx.Graph(), "club") == {}


@pytest.mark.parametrize("labels", [5, None, np.array(5), np.ma.masked])
def test_what_is_no_collection_is_refused(labels):
    with pytest.raises(
        TypeError, match=r"labels must be a dict, pairs .*, a table .*, an array .* or an attribute's name, got"
    ):
        label_stream(labels, GRAPH)


@pytest.mark.parametrize(
    ("label", "missing"),
    [
        (None, True),
        (NAN, True),
        (np.float32(NAN), True),
        (np.datetime64("NaT", "s"), True),
        (pd.NA, True),
        (pd.NaT, True),
        (np.ma.masked, True),
        (0, False),
        (-1, False),
        ("", False),
        ("nan", False),
        ((), False),
        (np.zeros(2), False),
        ([], False),
    ],
)
def test_is_missing(label, missing):
    assert is_missing(label) is missing


def test_checked_label():
    assert type(checked_label(0, np.int8(3))) is int
    assert type(checked_label(0, np.str_("x"))) is str
    assert checked_label(0, ("x", 1)) == ("x", 1)
    with pytest.raises(TypeError, match=r"a label must be hashable, got \[\] for node 'a'"):
        checked_label("a", [])
    with pytest.raises(ValueError, match="the label of node 'a' is nan, which means that it has none"):
        checked_label("a", math.nan)


def test_bad_label_names_its_node():
    with pytest.raises(TypeError, match=r"must be hashable, got \{\} for node 'b'"):
        PlainLabels().of(["a", "b"], ["x", {}])


def test_distinct_labels():
    assert distinct_labels(np.array([2, 0])) == [2, 0]
    assert distinct_labels({"x": 1}.keys()) == ["x"]
