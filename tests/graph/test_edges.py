"""Edges given by their ends become sorted rows."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import nx_fastonl as fo
from nx_fastonl.graph._edges import sorted_rows
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.graph.rows import rows_from_edges


@st.composite
def edges(draw, max_nodes=7):
    """Ends of edges, some given twice or both ways, and weights, if any."""
    n = draw(st.integers(1, max_nodes))
    ends = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=25))
    dtype = draw(st.sampled_from([np.int32, np.int64]))
    sources, targets = (np.array([pair[i] for pair in pairs], dtype=dtype) for i in (0, 1))
    weights = st.lists(st.sampled_from([0.0, 0.1, 0.7, 1.0, 1e16]), min_size=len(pairs), max_size=len(pairs))
    return n, sources, targets, draw(st.none() | weights.map(np.array))


@settings(max_examples=300, deadline=None)
@given(edges(), st.booleans())
def test_edges_given_twice_add_up(given_edges, directed):
    n, sources, targets, weights = given_edges
    W = np.zeros((n, n))
    for e, (u, v) in enumerate(zip(sources, targets, strict=True)):
        W[u, v] += 1.0 if weights is None else weights[e]
        if not directed and u != v:
            W[v, u] += 1.0 if weights is None else weights[e]
    graph = fo.CSRGraph.from_edges(sources, targets, weights, n=n, directed=directed)
    assert_array_equal(graph.to_scipy().toarray(), W)
    assert_allclose(graph.degrees, W.sum(axis=1))
    for u in range(n):
        row = graph.indices[graph.indptr[u] : graph.indptr[u + 1]]
        assert (np.diff(row) > 0).all()
        assert (W[u, row] > 0).all()
    assert (graph.weights is None) == bool(np.isin(W, (0.0, 1.0)).all())


@settings(max_examples=300, deadline=None)
@given(edges(), st.booleans())
def test_the_edge_given_last_counts(given_edges, directed):
    n, sources, targets, weights = given_edges
    W = np.zeros((n, n))
    for e, (u, v) in enumerate(zip(sources, targets, strict=True)):
        W[u, v] = 1.0 if weights is None else weights[e]
        if not directed:
            W[v, u] = W[u, v]
    rows = rows_from_edges(sources, targets, weights, n, directed=directed, keep_last=True)
    found = CSRGraph._made(rows, None, directed)
    assert_array_equal(found.to_scipy().toarray(), W)
    assert (rows.weights is None) == bool(np.isin(W, (0.0, 1.0)).all())


def test_ends_are_not_copied_and_what_is_made_of_them_is():
    rng = np.random.default_rng(0)
    m = 400_000
    sources, targets = (rng.integers(0, 20_000, m).astype(np.int32) for _ in range(2))
    weights = rng.random(m)
    fo.CSRGraph.from_edges([0], [1])  # whatever the first call loads
    tracemalloc.start()
    graph = fo.CSRGraph.from_edges(sources, targets, weights)
    size, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak <= 2.5 * size
    assert size <= 1.1 * sum(array.nbytes for array in (graph.indptr, graph.indices, graph.weights, graph.degrees))
    before = graph.indices.copy()
    sources[:], targets[:], weights[:] = 0, 0, 0.0
    assert_array_equal(graph.indices, before)


@pytest.mark.parametrize("ends", [([0, 5], [1, 1]), ([0, 1], [-1, 1])])
def test_ends_that_another_thread_changes_are_never_written_by(ends):
    """They were checked before: what lies outside now was changed since."""
    sources, targets = (np.array(end, dtype=np.int64) for end in ends)
    with pytest.raises(ValueError, match="changed while they were read"):
        sorted_rows([(sources, targets, None)], 2, True)
