"""Texts as ends of edges, in every kind of column."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from nx_fastonl.graph import ends as ends_module
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.graph.ends import numbered_ends
from nx_fastonl.graph.names import IntegerNames, TextNames


def polars_series(values):
    return pytest.importorskip("polars").Series(values)


def in_chunks(values, type_=None):
    middle = len(values) // 2
    return pa.chunked_array([pa.array(values[:middle], pa.string()), pa.array(values[middle:], pa.string())]).cast(
        type_
    )


COLUMNS = {
    "list": list,
    "tuple": tuple,
    "numpy": np.array,
    "numpy objects": lambda values: np.array(values, dtype=object),
    "numpy, every second": lambda values: np.repeat(np.array(values), 2)[::2],
    "pandas": pd.Series,
    "pandas object": lambda values: pd.Series(values, dtype=object),
    "pandas, other index": lambda values: pd.Series(values, index=range(len(values), 0, -1)),
    "pandas string": lambda values: pd.Series(values, dtype="string[python]"),
    "pandas Arrow": lambda values: pd.Series(values, dtype="string[pyarrow]"),
    "pandas category": lambda values: pd.Series(values, dtype="category"),
    "Arrow": pa.array,
    "Arrow, cut": lambda values: pa.array(["", "b", *values])[2:],
    "Arrow large": lambda values: pa.array(values, pa.large_string()),
    "Arrow view": lambda values: pa.array(values, pa.string_view()),
    "Arrow dictionary": lambda values: pa.array(values).dictionary_encode(),
    "Arrow chunks": lambda values: in_chunks(values, pa.string()),
    "Arrow large chunks": lambda values: in_chunks(values, pa.large_string()),
    "polars": polars_series,
}
if hasattr(np.dtypes, "StringDType"):
    COLUMNS["numpy strings"] = lambda values: np.array(values, dtype=np.dtypes.StringDType())

# Without NUL at the end, which numpy's arrays of texts cannot hold.
names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=3) | st.sampled_from("abc")


def in_order_of_appearance(pairs):
    rows = {}
    for pair in pairs:
        for name in pair:
            rows.setdefault(name, len(rows))
    return rows


@pytest.mark.parametrize("kind", COLUMNS)
@given(st.data())
def test_texts_are_numbered_as_they_appear(kind, data):
    pairs = data.draw(st.lists(st.tuples(names, names), min_size=1, max_size=9))
    weights = data.draw(st.lists(st.sampled_from([1.0, 2.5]), min_size=len(pairs), max_size=len(pairs)))
    rows = in_order_of_appearance(pairs)
    sources, targets = ([pair[i] for pair in pairs] for i in (0, 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ends_module, "BLOCK", data.draw(st.sampled_from([2, 3, 100])))
        graph = CSRGraph.from_edges(COLUMNS[kind](sources), COLUMNS[kind](targets), weights, directed=True)
    W = np.zeros((len(rows), len(rows)))
    for (source, target), weight in zip(pairs, weights, strict=True):
        W[rows[source], rows[target]] += weight
    assert isinstance(graph.nodes, TextNames)
    assert list(graph) == list(rows)
    assert [graph.index(name) for name in rows] == list(range(len(rows)))
    assert_array_equal(graph.to_scipy().toarray(), W)


@pytest.mark.parametrize("kind", ["pandas", "pandas string", "pandas category", "polars"])
def test_columns_are_read_without_pyarrow_too(kind, monkeypatch):
    sources, targets = COLUMNS[kind](["b", "ü"]), COLUMNS[kind](["a", "b"])
    monkeypatch.setattr(ends_module, "sys", SimpleNamespace(modules={}))
    assert list(CSRGraph.from_edges(sources, targets)) == ["b", "a", "ü"]


@given(st.lists(st.tuples(names, names), max_size=9), st.randoms())
def test_nodes_give_the_order(pairs, random):
    nodes = [*in_order_of_appearance(pairs), "never seen"]
    random.shuffle(nodes)
    sources, targets = ([pair[i] for pair in pairs] for i in (0, 1))
    graph = CSRGraph.from_edges(sources, targets, nodes=nodes, directed=True)
    assert list(graph) == nodes
    expected = CSRGraph.from_edges(
        *([nodes.index(name) for name in ends] for ends in (sources, targets)), nodes=nodes, directed=True
    )
    assert_array_equal(graph.to_scipy().toarray(), expected.to_scipy().toarray())


@pytest.mark.parametrize(
    "column",
    [
        pd.Series,
        lambda values: pd.Series(values, dtype="int32"),
        lambda values: pd.Series(values, dtype="Int64"),
        lambda values: pd.Series(values, dtype="int64[pyarrow]"),
        pa.array,
        lambda values: pa.chunked_array([values[:1], values[1:]]),
        polars_series,
    ],
)
def test_columns_of_integers_count_nodes(column):
    graph = CSRGraph.from_edges(column([3, 0, 1]), column([0, 1, 1]))
    assert graph.nodes == range(4)
    assert graph.to_networkx().edges == CSRGraph.from_edges([3, 0, 1], [0, 1, 1]).to_networkx().edges


@pytest.mark.parametrize("values", [pa.array([0, 1], pa.int32()), pa.array([0, 1]), pd.Series([0, 1])])
def test_integers_are_not_copied(values):
    found = ends_module.column_of(values, "sources")
    assert np.shares_memory(found, values.to_numpy())
    assert_array_equal(found, [0, 1])


@pytest.mark.parametrize(
    ("values", "row", "shown"),
    [
        (["a", None, "c"], 1, "None"),
        (["a", 5, "c"], 1, "5"),
        (np.array(["a", "b", float("nan")], dtype=object), 2, "nan"),
        (pd.Series(["a", "b", None]), 2, "None"),
        (pd.Series(["a", None, "b"], dtype="string[python]"), 1, "(None|<NA>)"),
        (pa.array([None, "a", "b"]), 0, "None"),
        (pa.array([1, 2, None]), 2, "None"),
        (pd.Series([1, 2, None], dtype="Int64"), 2, "(None|nan)"),
        (pd.Series([1, 2, None]), 2, "nan"),
        (np.array([1, None, 2], dtype=object), 1, "None"),
    ],
)
def test_a_missing_end_is_named_with_its_row(values, row, shown):
    with pytest.raises(TypeError, match=rf"sources holds {shown} in row {row}; expected"):
        CSRGraph.from_edges(values, ["x", "y", "z"])


@pytest.mark.parametrize(
    ("sources", "targets", "options", "kind", "message"),
    [
        (["a"], [1], {}, TypeError, "sources holds texts, but the other ends are int64"),
        ([1], ["a"], {}, TypeError, "targets holds texts, but the other ends are int64"),
        (["a", "b"], ["a"], {}, ValueError, "must be parallel, got 2 and 1"),
        (np.array([b"a"]), np.array([b"b"]), {}, TypeError, "numpy.char.decode(sources)"),
        (["a"], ["b"], {"n": 2}, ValueError, "got n = 2 and texts"),
        (["a"], ["ü"], {"nodes": ["a", "b"]}, ValueError, "targets holds 'ü' in row 0, which is not among nodes"),
        (["a"], ["b"], {"nodes": ["a", "b", "a"]}, ValueError, "3 names, 2 of them different"),
        (["a"], ["b"], {"nodes": ["a", "b", 3]}, TypeError, "nodes must be texts, got 3"),
        (np.array([["a"]]), np.array([["b"]]), {}, ValueError, "one-dimensional"),
    ],
)
def test_what_is_wrong_with_texts(sources, targets, options, kind, message):
    with pytest.raises(kind, match=re.escape(message)):
        CSRGraph.from_edges(sources, targets, **options)


def test_an_unknown_text_far_behind_is_named(monkeypatch):
    monkeypatch.setattr(ends_module, "BLOCK", 2)
    with pytest.raises(ValueError, match="sources holds 'x' in row 4"):
        CSRGraph.from_edges(list("abcdx"), list("abcda"), nodes="abcd")


def test_no_texts_and_no_nodes_are_no_graph():
    graph = CSRGraph.from_edges(np.array([], dtype=str), pa.array([], pa.string()), nodes=["a"])
    assert list(graph) == ["a"]


@given(st.lists(st.tuples(*[st.integers(-(2**63), 2**63 - 1) | st.integers(0, 3)] * 2), max_size=9))
def test_integers_as_names_are_numbered_as_they_appear(pairs):
    rows = in_order_of_appearance(pairs)
    sources, targets = (np.array([pair[i] for pair in pairs], dtype=np.int64) for i in (0, 1))
    found = numbered_ends(sources, targets)
    assert isinstance(found.names, IntegerNames)
    assert list(found.names) == list(rows)
    assert found.sources.tolist() == [rows[pair[0]] for pair in pairs]
    assert found.targets.tolist() == [rows[pair[1]] for pair in pairs]


def test_categories_of_arrow():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["a", "b"]))
    assert list(CSRGraph.from_edges(column, pa.array(["x", "y", "z"]))) == ["a", "x", "b", "y", "z"]
    numbers = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array([0, 2]))
    assert len(CSRGraph.from_edges(numbers, pa.array([1, 1, 1]))) == 3
    without = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", None]))
    with pytest.raises(TypeError, match="sources holds None in row 1"):
        CSRGraph.from_edges(without, pa.array(["b", "c"]))


def test_integers_that_are_no_counts_are_noticed():
    ring = [10, 20, 30, 40], [20, 30, 40, 10]
    with pytest.warns(UserWarning, match=r"most of the nodes 0 to 40 have no edge.* pass a table .*n=41 says so"):
        assert len(CSRGraph.from_edges(*ring)) == 41
    assert len(CSRGraph.from_edges(*ring, n=41)) == 41
    assert len(CSRGraph.from_edges([0, 1], [1, 7])) == 8  # no warning: half of the nodes may have an edge
    with pytest.raises(ValueError, match=r"got 1000000000000\. Where integers are names, pass a table"):
        CSRGraph.from_edges([10**12], [1])
    with pytest.raises(ValueError, match=r"between 0 and 1, got 10 to 20: they count nodes\. Where integers are names"):
        CSRGraph.from_edges([10, 20], [20, 10], nodes=[10, 20])
