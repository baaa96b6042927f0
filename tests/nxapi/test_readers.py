"""NetworkX's readers through the backend: what NetworkX reads, or a refusal."""

import bz2
import gzip
import io
import logging
import re
from contextlib import contextmanager

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import nx_fastonl as fo
from nx_fastonl.nxapi import readers
from tests.oracles import outcome


def through_backend(function, *args, **kwargs):
    graph = function(*args, backend="fastonl", **kwargs)
    assert isinstance(graph, fo.CSRGraph)
    return graph


def assert_same(graph, G):
    """The graph holds what NetworkX's does: the nodes in order, the edges and their data."""
    found = graph.to_networkx()
    assert list(graph) == list(G)
    assert list(map(type, graph)) == list(map(type, G))
    assert graph.is_directed() == G.is_directed()
    assert found._adj == G._adj


@contextmanager
def refused(reason):
    """NetworkX raises its own error, whose cause is the backend's."""
    with pytest.raises(NotImplementedError) as caught:
        yield
    assert re.search(reason, str(caught.value.__cause__))


def reasons(caplog):
    return " ".join(record.getMessage() for record in caplog.records)


kinds = st.sampled_from([nx.Graph, nx.DiGraph])
weights = st.sampled_from([1, 2, 0.5])
pairs = st.tuples(st.integers(0, 4), st.integers(0, 4))


class TestScipy:
    @given(
        st.lists(st.tuples(pairs, weights), max_size=12),
        kinds,
        st.booleans(),
        st.sampled_from(["csr", "csc", "coo", "lil", "dok", "bsr"]),
    )
    def test_of_entries_for_one_edge_the_last_counts(self, entries, kind, mirrored, layout):
        if mirrored:
            entries = entries + [((v, u), weight) for (u, v), weight in entries]
        ends = tuple(np.array([pair[i] for pair, _ in entries], dtype=np.int32) for i in (0, 1))
        A = sparse.coo_array((np.array([weight for _, weight in entries], dtype=float), ends), shape=(5, 5))
        if layout != "coo":
            A = A.asformat(layout)
        found = through_backend(nx.from_scipy_sparse_array, A, create_using=kind)
        assert_same(found, nx.from_scipy_sparse_array(A, create_using=kind))

    def test_entries_that_a_row_lists_twice(self):
        A = sparse.csr_array((np.array([1.0, 2.0, 3.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
        for kind in (nx.Graph, nx.DiGraph):
            found = through_backend(nx.from_scipy_sparse_array, A, create_using=kind)
            assert_same(found, nx.from_scipy_sparse_array(A, create_using=kind))

    def test_is_not_square(self):
        A = sparse.csr_array((2, 3))
        with pytest.raises(nx.NetworkXError, match=r"not square: nx,ny=\(2, 3\)"):
            nx.from_scipy_sparse_array(A, backend="fastonl")

    @pytest.mark.parametrize(
        ("A", "reason"),
        [
            (sparse.csr_array((np.zeros(1), np.zeros(1, int), np.array([0, 1])), shape=(1, 1)), "edges of weight 0"),
            (sparse.csr_array([[0, -1], [-1, 0]]), "has weight -1"),
            (sparse.csr_array([[0, 1j], [1j, 0]]), "real numbers"),
            (sparse.csr_array((0, 0)), "no nodes"),
        ],
    )
    def test_what_a_csr_graph_cannot_hold(self, A, reason):
        with refused(reason):
            nx.from_scipy_sparse_array(A, backend="fastonl")


class TestPandas:
    @given(st.lists(st.tuples(pairs, weights), min_size=1, max_size=12), kinds, st.sampled_from([int, str]), st.data())
    def test_of_lines_for_one_edge_the_last_counts(self, edges, kind, node, data):
        frame = pd.DataFrame(
            {
                "source": [node(u) for (u, _), _ in edges],
                "target": [node(v) for (_, v), _ in edges],
                "weight": [weight for _, weight in edges],
            }
        )
        edge_attr = data.draw(st.sampled_from([None, "weight", ["weight"], ("weight",), True]))
        found = through_backend(nx.from_pandas_edgelist, frame, edge_attr=edge_attr, create_using=kind)
        assert_same(found, nx.from_pandas_edgelist(frame, edge_attr=edge_attr, create_using=kind))

    def test_names_of_columns(self):
        frame = pd.DataFrame({0: ["a", "b"], "to": ["c", "a"]})
        assert_same(through_backend(nx.from_pandas_edgelist, frame, 0, "to"), nx.from_pandas_edgelist(frame, 0, "to"))

    @pytest.mark.parametrize("dtype", ["int8", "uint32", "string", "category"])
    def test_types_of_columns(self, dtype):
        frame = pd.DataFrame({"source": [3, 1], "target": [1, 2]})
        frame = frame.astype(str).astype(dtype) if dtype in ("string", "category") else frame.astype(dtype)
        assert_same(through_backend(nx.from_pandas_edgelist, frame), nx.from_pandas_edgelist(frame))

    @pytest.mark.parametrize("options", [{"source": "nowhere"}, {"edge_attr": "weight"}])
    def test_columns_that_are_missing(self, options):
        frame = pd.DataFrame({"source": ["a"], "target": ["b"]})
        expected = outcome(nx.from_pandas_edgelist, frame, **options)
        assert outcome(nx.from_pandas_edgelist, frame, backend="fastonl", **options) == expected

    @pytest.mark.parametrize("nodes", [[0.5, 1.5], [None, "a"], [("a", "b"), ("c", "d")], [1, "a"], [True, False]])
    def test_nodes_of_other_types_are_left_to_networkx(self, nodes):
        frame = pd.DataFrame({"source": nodes, "target": nodes[::-1]})
        with pytest.raises(NotImplementedError):
            nx.from_pandas_edgelist(frame, backend="fastonl")


cells = st.text(st.sampled_from("ab1 \t,;#{}é'\"\r"), max_size=3)
lines = st.lists(st.lists(cells | st.sampled_from(["1", "22", "0.5"]), max_size=4), max_size=6)


class TestFiles:
    @settings(max_examples=500)
    @given(
        lines,
        st.sampled_from([" ", ",", "\t", ", "]),
        st.fixed_dictionaries(
            {},
            optional={
                "comments": st.sampled_from(["#", None, "a", "é1"]),
                "delimiter": st.sampled_from([None, ",", "\t", " ", ", "]),
                "create_using": kinds,
                "nodetype": st.sampled_from([int, str, None]),
                "data": st.sampled_from([True, False, (("weight", float),), [("weight", int)]]),
            },
        ),
        st.integers(1, 4),
    )
    def test_the_same_graph_or_error_or_a_refusal_that_leaves_the_file(self, rows, separator, options, at_once):
        content = "".join(separator.join(row) + "\n" for row in rows).encode()
        expected = outcome(nx.read_edgelist, io.BytesIO(content), **options)
        file = io.BytesIO(content)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(readers, "LINES_AT_ONCE", at_once)
            found = outcome(nx.read_edgelist, file, backend="fastonl", **options)
        if isinstance(found, fo.CSRGraph):
            assert_same(found, expected)
        elif found is NotImplementedError:
            assert file.tell() == 0
        else:
            assert found == expected

    @given(st.lists(st.tuples(st.sampled_from("abü"), st.sampled_from("abü"), weights), min_size=1), kinds, st.data())
    def test_ordinary_files_are_not_refused(self, edges, kind, data):
        separator = data.draw(st.sampled_from([" ", "\t"]))
        content = "# comment\n" + "".join(separator.join(map(str, edge)) + "\r\n" for edge in edges)
        for function, options in (
            (nx.read_weighted_edgelist, {}),
            (nx.read_edgelist, {"data": False}),
            (nx.read_edgelist, {"data": (("weight", float),)}),
        ):
            found = through_backend(function, io.BytesIO(content.encode()), create_using=kind, **options)
            assert_same(found, function(io.BytesIO(content.encode()), create_using=kind, **options))

    @pytest.mark.parametrize(("suffix", "opened"), [("", open), (".gz", gzip.open), (".bz2", bz2.open)])
    def test_files_that_networkx_writes(self, tmp_path, suffix, opened):
        G = nx.karate_club_graph()
        path = tmp_path / f"karate.txt{suffix}"
        nx.write_weighted_edgelist(G, path)
        assert_same(
            through_backend(nx.read_weighted_edgelist, path, nodetype=int),
            nx.read_weighted_edgelist(path, nodetype=int),
        )
        nx.write_edgelist(nx.path_graph(4), path)  # with {} in each line
        assert_same(through_backend(nx.read_edgelist, str(path)), nx.read_edgelist(path))
        with opened(path, "rb") as file:
            assert_same(through_backend(nx.read_edgelist, file), nx.read_edgelist(path))

    def test_lines_in_a_list(self):
        found = through_backend(nx.read_edgelist, ["a b", b"b c"])
        assert list(found) == ["a", "b", "c"]

    @pytest.mark.parametrize(
        ("content", "options", "reason"),
        [
            (b"a b {'weight': 2}", {}, "edge data in dicts"),
            (b"a b 1\nb c", {"data": (("weight", float),)}, "some have none"),
            (b"a b 0", {"data": (("weight", float),)}, "edges of weight 0"),
            (b"a b -1", {"data": (("weight", float),)}, "has weight -1"),
            (b"a b nan", {"data": (("weight", float),)}, "has weight nan"),
            (b"1 99999999999999999999", {"nodetype": int}, "64 bits"),
            (b"# nothing", {}, "no edges"),
        ],
    )
    def test_what_a_csr_graph_cannot_hold(self, content, options, reason):
        file = io.BytesIO(content)
        with refused(reason):
            nx.read_edgelist(file, backend="fastonl", **options)
        assert file.tell() == 0

    @pytest.mark.parametrize(
        ("function", "lines", "reason"),
        [
            (nx.read_edgelist, b"a b\nb c {'cost': 2}\n", "edge data in dicts"),
            (nx.read_weighted_edgelist, b"a b 1\nb c 0\n", "edges of weight 0"),
        ],
    )
    def test_a_file_that_is_read_from_its_middle_stays_there(self, function, lines, reason):
        file = io.BytesIO(b"x y\n" + lines)
        file.readline()
        with refused(reason):
            function(file, backend="fastonl")
        assert file.tell() == len(b"x y\n")
        with nx.config.backend_priority(generators=["fastonl"]):
            assert list(function(file)) == ["a", "b", "c"]

    def test_of_weights_in_some_blocks_only(self, monkeypatch):
        monkeypatch.setattr(readers, "LINES_AT_ONCE", 1)
        with refused("some have none"):
            nx.read_weighted_edgelist(io.BytesIO(b"a b 1\nb c"), backend="fastonl")


@pytest.mark.parametrize(
    ("function", "args", "options", "reason"),
    [
        (nx.from_scipy_sparse_array, (sparse.eye_array(2),), {"create_using": nx.MultiGraph}, "nx.Graph or nx.DiGraph"),
        (nx.from_scipy_sparse_array, (sparse.eye_array(2),), {"create_using": nx.DiGraph()}, "a DiGraph to fill"),
        (nx.from_scipy_sparse_array, (sparse.eye_array(2),), {"edge_attribute": "cost"}, "edge_attribute='cost'"),
        (nx.from_scipy_sparse_array, (np.eye(2),), {}, "scipy sparse array, got ndarray"),
        (nx.from_pandas_edgelist, (pd.DataFrame(columns=["source", "target"]),), {"edge_key": "k"}, "edge_key='k'"),
        (nx.from_pandas_edgelist, (pd.DataFrame(columns=["source", "target", "c"]),), {"edge_attr": True}, "['c']"),
        (nx.from_pandas_edgelist, (pd.DataFrame(),), {"edge_attr": ["weight", "cost"]}, "['weight', 'cost']"),
        (nx.read_edgelist, (["a b"],), {"nodetype": float}, "nodetype=<class 'float'>"),
        (nx.read_edgelist, (["a b"],), {"data": (("cost", float),)}, "data=(('cost', "),
        (nx.read_edgelist, (["a b"],), {"data": (("weight", float), ("cost", float))}, "('cost', <class 'float'>))"),
        (nx.read_edgelist, (iter(["a b"]),), {}, "only once"),
        (nx.read_weighted_edgelist, (["a b 1"],), {"create_using": nx.MultiDiGraph}, "nx.Graph or nx.DiGraph"),
    ],
)
def test_refusals_have_a_reason(function, args, options, reason, caplog):
    caplog.set_level(logging.DEBUG, logger="networkx")
    with pytest.raises(NotImplementedError, match="for the given arguments"):
        function(*args, backend="fastonl", **options)
    assert reason in reasons(caplog)


class TestDispatch:
    def test_nothing_is_dispatched_unless_asked_for(self, tmp_path):
        path = tmp_path / "edges.txt"
        path.write_text("a b\n")
        with nx.config.backend_priority(algos=["fastonl"]):
            assert type(nx.read_edgelist(path)) is nx.Graph
            assert type(nx.from_scipy_sparse_array(sparse.eye_array(2))) is nx.Graph

    def test_networkx_reads_what_is_refused(self, tmp_path):
        path = tmp_path / "edges.txt"
        path.write_text("a b\nb c\n")
        with nx.config.backend_priority(generators=["fastonl"]):
            assert isinstance(nx.read_edgelist(path), fo.CSRGraph)
            path.write_text("a b\nb c {'cost': 1}\n")
            G = nx.read_edgelist(path)
        assert G.edges["b", "c"] == {"cost": 1}
        assert list(G) == ["a", "b", "c"]

    def test_a_graph_that_was_read_runs_here(self):
        graph = nx.read_edgelist(["a b", "b c"], backend="fastonl")
        assert nx.pagerank(graph) == nx.pagerank(nx.path_graph(["a", "b", "c"]), backend="fastonl")
