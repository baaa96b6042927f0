"""Rows that are pushed, cut and packed in compiled code."""

import tracemalloc

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import nx_fastonl as fo
from nx_fastonl.push import _rows
from nx_fastonl.push import rows as pushed_rows
from nx_fastonl.push.matrix import NOT_COUNTED, plan_rows
from tests import oracles
from tests.strategies import small_graphs

RUNNING = np.zeros(1, dtype=np.uint8)
GRAPHS = small_graphs() | small_graphs(directed=True)


def all_rows(rows):
    return rows.block(0, len(rows), RUNNING)


def dense(block, n):
    found = np.zeros((len(block.errors), n))
    for i, (start, stop) in enumerate(zip(block.offsets, block.offsets[1:], strict=False)):
        found[i, block.columns[start:stop]] = block.values[start:stop]
    return found


def exact_rows(G, alpha):
    return np.array([oracles.pagerank(oracles.adjacency(G), row, alpha) for row in np.eye(len(G))])


@given(GRAPHS, st.sampled_from([0.3, 0.85, 0.97]), st.sampled_from([0.3, 1e-2, 1e-4, 1e-7]))
def test_every_row_is_within_its_bound(G, alpha, epsilon):
    block = all_rows(plan_rows(G, alpha=alpha, epsilon=epsilon))
    found, exact = dense(block, len(G)), exact_rows(G, alpha)
    assert (np.abs(found - exact).sum(axis=1) <= block.errors + 1e-12).all()
    assert (found >= 0.0).all()
    assert (found.diagonal() > 0.0).all()  # each source was pushed, whatever epsilon is
    if not G.is_directed():
        # No residual is as large as its threshold, so no value is off by more than epsilon times the degree.
        plain = fo.ppr_matrix(G, alpha=alpha, epsilon=epsilon, weight=None).toarray()
        W = oracles.adjacency(G, weight=None)
        exact = np.array([oracles.pagerank(W, row, alpha) for row in np.eye(len(G))])
        neighbours = np.maximum((W > 0).sum(axis=1), 1)
        connected = (W > 0).any(axis=1)
        assert (np.abs(plain - exact)[connected] <= epsilon * neighbours + 1e-12).all()


@given(GRAPHS, st.integers(1, 14))
def test_the_largest_values_are_kept_and_ties_go_to_the_first_columns(G, k):
    whole = fo.ppr_matrix(G, epsilon=1e-3)
    cut = fo.ppr_matrix(G, epsilon=1e-3, top_k=k)
    for i in range(len(G)):
        row, kept = whole[[i]], cut[[i]]
        order = np.lexsort((row.indices, -row.data))[:k]
        expected = dict(zip(row.indices[order].tolist(), row.data[order].tolist(), strict=True))
        assert dict(zip(kept.indices.tolist(), kept.data.tolist(), strict=True)) == expected
        assert (np.diff(kept.indices) > 0).all()


@pytest.mark.parametrize("n", [40, 300, 70_000])
@pytest.mark.parametrize("top_k", [None, 1, 47, 48, 49, 200])
def test_columns_ascend_in_rows_of_any_length(n, top_k):
    """Short rows are sorted by insertion; longer ones by one byte after another, of which these n have one to three."""
    rng = np.random.default_rng(n)
    graph = fo.CSRGraph.from_edges(rng.integers(n, size=4 * n), rng.integers(n, size=4 * n), nodes=range(n))
    rows = fo.ppr_matrix(graph, [0, n // 2, n - 1], epsilon=1e-4, top_k=top_k)
    for i in range(3):
        row = rows[[i]]
        assert (np.diff(row.indices) > 0).all()
        alone = fo.ppr_matrix(graph, [[0, n // 2, n - 1][i]], epsilon=1e-4).toarray()[0]
        assert (row.data == alone[row.indices]).all()
        if top_k is not None:
            assert len(row.data) == min(top_k, np.count_nonzero(alone))
            assert row.data.sum() == pytest.approx(np.sort(alone)[-top_k:].sum(), rel=1e-12)


def test_columns_ascend_where_nodes_have_all_bits():
    n = (1 << 24) + 2  # the last node is the first with more than three bytes
    others = np.append(np.arange(99, 0, -1), n - 1)
    edges = sparse.csr_array((np.ones(100), (np.zeros(100, dtype=np.int32), others)), shape=(n, n))
    row = fo.ppr_matrix(fo.CSRGraph.from_scipy(edges, directed=True), [0])
    assert row.indices.tolist() == [0, *range(1, 100), n - 1]


@pytest.mark.parametrize("epsilon", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("directed", [False, True])
def test_thresholds_known_in_advance_change_nothing(epsilon, directed, monkeypatch):
    G = nx.gnp_random_graph(300, 0.03, seed=1, directed=directed)
    for u, v in G.edges:
        G[u][v]["weight"] = 0.1 + (u * v) % 7
    hub = nx.star_graph(400)  # pushed once at least, though its threshold is above 1
    for graph in (G, hub):
        known = all_rows(plan_rows(graph, epsilon=epsilon))
        with monkeypatch.context() as patch:
            patch.setattr(pushed_rows, "NODES_PER_SOURCE", 0)
            unknown = all_rows(plan_rows(graph, epsilon=epsilon))
        for a, b in zip(known, unknown, strict=True):
            assert a.tobytes() == b.tobytes()


def test_rows_do_not_depend_on_blocks_or_on_rows_before_them():
    G = nx.barabasi_albert_graph(200, 3, seed=1)
    for parameters in ({"epsilon": 1e-4}, {"epsilon": 1e-7, "top_k": 5}, {"tol": 1e-5}):
        rows = plan_rows(G, **parameters)
        whole = dense(all_rows(rows), 200)
        for first, last in ((0, 200), (17, 18), (100, 163)):
            assert (dense(rows.block(first, last, RUNNING), 200) == whole[first:last]).all()


@pytest.mark.parametrize("parameters", [{"epsilon": 1e-5}, {"tol": 1e-4, "top_k": 9}])
def test_single_precision_is_rounded_double_precision(karate, parameters):
    double = fo.ppr_matrix(karate, **parameters)
    single = fo.ppr_matrix(karate, dtype="float32", **parameters)
    assert single.dtype == np.float32
    assert (single.indices == double.indices).all()
    assert (single.data == double.data.astype(np.float32)).all()
    with pytest.raises(ValueError, match="dtype must be one of float64, float32, got 'int8'"):
        fo.ppr_matrix(karate, dtype="int8")


def test_room_grows_as_it_is_needed():
    """Rows without a limit are longer than the room that is made for them at first."""
    G = nx.complete_graph(300)
    P = fo.ppr_matrix(G, epsilon=1e-9)
    assert P.nnz == 300 * 300
    exact = oracles.pagerank(oracles.adjacency(G), np.eye(300)[7], 0.85)
    np.testing.assert_allclose(P.toarray()[7], exact, atol=1e-6)


def test_a_large_top_k_takes_no_more_memory_than_the_values():
    n = 100_000
    ring = fo.CSRGraph.from_scipy(sparse.eye_array(n, k=1, format="csr"), directed=True)
    rows = plan_rows(ring, range(256), epsilon=1e-2, top_k=n)
    tracemalloc.start()
    try:
        rows.block(0, 256, RUNNING)
        assert tracemalloc.get_traced_memory()[1] < 100 * n  # n values of each row were 3,000 * n
    finally:
        tracemalloc.stop()


def test_a_block_has_room_for_its_rows():
    block = _rows.RowBlock(1, 0)
    block.add([0], [0.5], 0.1)
    with pytest.raises(ValueError, match="the block has room for 1 rows, not 2"):
        block.add([0], [0.5], 0.1)
    assert block.arrays()[1].tolist() == [0]


def test_rows_that_are_pulled_leave_nothing_for_the_next():
    G = nx.disjoint_union(nx.barabasi_albert_graph(3000, 3, seed=1), nx.cycle_graph(5))
    sources = [source for i in range(4) for source in (i, 3000 + i)]  # too far to push, and easy, in turn
    found = fo.ppr_matrix(G, sources, tol=1e-8).toarray()
    assert found.sum(axis=1) == pytest.approx(np.ones(8), abs=1e-7)
    for i, source in enumerate(sources):
        assert (found[i] == fo.ppr_matrix(G, [source], tol=1e-8).toarray()[0]).all()


@pytest.mark.parametrize(("alpha", "epsilon"), [(0.999, 1e-9), (0.85, 1e-4)], ids=["in a row", "between short rows"])
def test_another_thread_ends_the_rows(alpha, epsilon):
    G = nx.gnp_random_graph(2000, 0.01, seed=1)
    rows = plan_rows(G, alpha=alpha, epsilon=epsilon)
    with pytest.raises(KeyboardInterrupt):
        rows.block(0, 2000, np.ones(1, dtype=np.uint8))


def test_of_equal_values_the_first_columns_are_kept():
    for n, k in ((6, 3), (80, 70)):
        assert fo.ppr_matrix(nx.star_graph(n), [0], top_k=k).indices.tolist() == list(range(k))


@pytest.mark.parametrize("missing", [0, 1])
def test_room_that_is_just_enough_and_room_that_is_not(karate, missing):
    rows = plan_rows(karate, [0, 1])
    expected = all_rows(rows)
    block = _rows.RowBlock(2, len(expected.values) - missing)
    with rows.workspace() as workspace:
        sources = np.array([0, 1], dtype=np.int32)
        _rows.pagerank_rows(rows.system.view, workspace, block, sources, rows.plan(RUNNING), 0.85, 0.0, NOT_COUNTED)
    for found, right in zip(block.arrays()[:3], expected, strict=False):
        assert found.tolist() == right.tolist()


def test_the_most_values_of_a_row():
    G = nx.path_graph(9)
    assert plan_rows(G).max_row_length is None
    assert plan_rows(G, top_k=5).max_row_length == 5
    assert plan_rows(G, top_k=5, candidates=[1, 2]).max_row_length == 2
    assert plan_rows(G, top_k=1, candidates=[1, 2]).max_row_length == 1
