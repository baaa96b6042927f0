"""A directed graph as an undirected one, and which way each edge of that points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.arrays import check_restored, read_only
from nx_fastonl.graph._arrows import ArrowView, both_ways, count_arcs
from nx_fastonl.graph._view import GraphView
from nx_fastonl.graph.rows import Rows

__all__ = ["Arrows", "rows_both_ways"]

# CSRGraph imports this module.
Graph = Any

# The codes of an edge: an arc from the node of the row, to it, or both.
OUT, IN = 1, 2


class Arrows:
    """Which way the edges of an undirected graph point that was made of a directed one: W + W^T of W.

    So one walk over the rows of W + W^T sees both directions, and W and its transpose are not needed beside it.

    Attributes
    ----------
    graph : CSRGraph
        W + W^T. A row lists the nodes that its node points to, in the order given, then others that point to it.
    codes : numpy.ndarray of uint8
        Parallel to ``graph.indices``: 1 for an arc from the node of the row, 2 for one to it, 3 for both.
    out_weights, in_weights : numpy.ndarray of float
        The weights of these arcs, 0 where there is none. Empty where every arc has weight 1.
    mean_weight : float
        Of an arc.
    view : GraphView
        The graph and its arrows, for compiled loops.
    """

    def __init__(
        self,
        graph: Graph,
        codes: NDArray[np.uint8],
        out_weights: NDArray[np.float64],
        in_weights: NDArray[np.float64],
    ) -> None:
        self.graph = graph
        self.codes = read_only(codes, np.uint8)
        self.out_weights, self.in_weights = read_only(out_weights, np.float64), read_only(in_weights, np.float64)
        out_degrees, in_degrees = count_arcs(graph.indptr, self.codes)
        is_weighted = len(self.out_weights) > 0
        self.mean_weight = float(self.out_weights.sum() / out_degrees.sum()) if is_weighted else 1.0
        arrows = ArrowView(self.codes, self.out_weights, self.in_weights, out_degrees, in_degrees)
        self.view = GraphView(graph.indptr[:-1], graph.indptr[1:], graph.indices, graph.weights, graph.degrees, arrows)

    def rows_out(self) -> Rows:
        """The rows of W, as they were given."""
        out = (self.codes & OUT) > 0
        indptr = np.concatenate([[0], np.cumsum(out)])[self.graph.indptr]
        return Rows(indptr, self.graph.indices[out], self.out_weights[out] if len(self.out_weights) else None)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.graph, self.codes, self.out_weights, self.in_weights)


def rows_both_ways(graph: Graph) -> tuple[Rows, tuple[NDArray[Any], ...]]:
    """The rows of W + W^T, and what else `Arrows` takes. A self-loop counts twice, as two arcs between two nodes do."""
    indptr, indices, codes, out_weights, in_weights = both_ways(graph.indptr, graph.indices, graph.weights)
    weights = out_weights + in_weights if graph.weights is not None else None
    if weights is None and (codes == OUT + IN).any():
        weights = 1.0 + (codes == OUT + IN)
    return Rows(indptr, indices, weights), (codes, out_weights, in_weights)


def _restored(
    graph: Graph, codes: NDArray[np.uint8], out_weights: NDArray[np.float64], in_weights: NDArray[np.float64]
) -> Arrows:
    codes, out_weights, in_weights = np.array(codes), np.array(out_weights), np.array(in_weights)
    size = len(graph.indices)
    check_restored(not graph.is_directed() and np.shape(codes) == (size,), "arrows")
    check_restored(np.shape(out_weights) == np.shape(in_weights) and np.shape(out_weights) in ((0,), (size,)), "arrows")
    check_restored(bool(((codes >= OUT) & (codes <= OUT + IN)).all()), "arrows")
    for way, weights in ((OUT, out_weights), (IN, in_weights)):
        check_restored(bool(((weights > 0.0) == ((codes[: len(weights)] & way) > 0)).all()), "arrows")
        check_restored(bool(np.isfinite(weights).all()), "arrows")
    return Arrows(graph, codes, out_weights, in_weights)
