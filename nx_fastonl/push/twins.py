"""Twins: two nodes that can swap places and leave the graph as it was. Their PageRank is equal, to every digit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nx_fastonl.graph.base import RowGraph
from nx_fastonl.graph.csr import CSRGraph

__all__ = ["twins_of"]


class _Edges(NamedTuple):
    """The edges into some nodes, node after node: those of the i-th are indptr[i]:indptr[i + 1]."""

    indptr: NDArray[np.intp]
    sources: NDArray[np.integer]
    weights: NDArray[np.float64] | None


def twins_of(graph: RowGraph, u: int, others: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which of the other nodes are twins of node u.

    The edges into both must agree once the names u and v are swapped in one of them: ``W[w, u] == W[w, v]`` for every
    other w, ``W[u, u] == W[v, v]`` and ``W[v, u] == W[u, v]``. Out-edges matter only where one of the two leads to the
    other or to itself: then their degrees must be equal too. The equations of PageRank then say that ``x_u - x_v`` is
    a fraction of itself, so it is 0. This reads the edges of the nodes, or all edges of a directed graph.
    """
    rows = np.concatenate([[u], others])
    edges = _columns(graph.whole(), rows) if graph.is_directed() else _rows(graph, rows)
    sizes = np.diff(edges.indptr)
    alike: NDArray[np.bool_] = sizes == sizes[0]
    slots = edges.indptr[:-1][alike][:, None] + np.arange(sizes[0])
    sources, v = edges.sources[slots], rows[alike][:, None]
    swapped = np.where(sources == u, v, np.where(sources == v, u, sources))
    order = np.argsort(swapped, axis=1)
    swapped = np.take_along_axis(swapped, order, axis=1)
    equal = (swapped == swapped[0]).all(axis=1)
    if edges.weights is not None:
        weights = np.take_along_axis(edges.weights[slots], order, axis=1)
        equal &= (weights == weights[0]).all(axis=1)
    if graph.is_directed():
        for i in np.flatnonzero(equal & ((sources == u) | (sources == v)).any(axis=1)):
            equal[i] = _degrees_are_equal(graph, u, int(v[i, 0]))
    alike[alike] = equal
    return alike[1:]


def _rows(graph: RowGraph, rows: NDArray[np.integer]) -> _Edges:
    slots, counts = graph.row_slots(rows)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return _Edges(indptr, graph.indices[slots], None if graph.weights is None else graph.weights[slots])


def _columns(graph: CSRGraph, rows: NDArray[np.integer]) -> _Edges:
    place = np.full(len(graph), -1)
    place[rows] = np.arange(len(rows))
    slots = np.flatnonzero(place[graph.indices] >= 0)
    columns = place[graph.indices[slots]]
    slots = slots[np.argsort(columns, kind="stable")]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=len(rows)))])
    sources = np.searchsorted(graph.indptr, slots, side="right") - 1
    return _Edges(indptr, sources, None if graph.weights is None else graph.weights[slots])


def _degrees_are_equal(graph: RowGraph, u: int, v: int) -> bool:
    """Whether both have the same weights, in any order: sums that were rounded prove nothing."""
    _, _, weights = of_both = _rows(graph, np.array([u, v]))
    first, second = np.diff(of_both.indptr).tolist()
    if weights is None or first != second:
        return bool(first == second)
    return bool((np.sort(weights[:first]) == np.sort(weights[first:])).all())
