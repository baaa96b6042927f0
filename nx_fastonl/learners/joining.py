"""Nodes that join a graph: each alone, by edges to nodes that do not change for it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from nx_fastonl.graph._arrows import ArrowView
from nx_fastonl.graph._edges import row_sums
from nx_fastonl.graph._view import GraphView
from nx_fastonl.graph.arrows import OUT
from nx_fastonl.graph.rows import Rows
from nx_fastonl.learners.diffusion import Diffusion

__all__ = ["JoiningNodes"]


class JoiningNodes:
    """Nodes that are not in a graph, and their edges to its nodes; of a directed graph, their arcs out.

    They see the graph as it is without them. So what is said of one of them depends on no other, and nothing is
    computed anew.

    Parameters
    ----------
    rows : Rows
        A row of neighbours for each node that joins: rows of the graph that was learned on.

    Attributes
    ----------
    degrees : numpy.ndarray of float
    """

    def __init__(self, rows: Rows) -> None:
        self.indptr = np.asarray(rows.indptr, dtype=np.int64)
        self.indices = np.asarray(rows.indices, dtype=np.int32)
        weights = np.ones(len(self.indices)) if rows.weights is None else rows.weights
        self.weights = np.asarray(weights, dtype=np.float64)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, nodes: slice) -> JoiningNodes:
        starts = self.indptr[nodes.start : nodes.stop + 1]
        entries = slice(starts[0], starts[-1])
        return JoiningNodes(Rows(starts - starts[0], self.indices[entries], self.weights[entries]))

    @property
    def degrees(self) -> NDArray[np.float64]:
        return np.asarray(row_sums(self.indptr, self.weights))

    @property
    def view(self) -> GraphView:
        """The rows, for compiled loops."""
        counts = np.diff(self.indptr).astype(np.int32)
        codes = np.full(len(self.indices), OUT, dtype=np.uint8)
        arrows = ArrowView(codes, self.weights, np.zeros_like(self.weights), counts, np.zeros_like(counts))
        return GraphView(self.indptr[:-1], self.indptr[1:], self.indices, self.weights, self.degrees, arrows)

    @cached_property
    def _neighbors(self) -> tuple[NDArray[np.int32], sparse.csr_array]:
        """The nodes that any of these is joined to, and the weights as a matrix with a column for each of them."""
        found, columns = np.unique(self.indices, return_inverse=True)
        shape = (len(self), len(found))
        return found, sparse.csr_array((self.weights, columns.ravel(), self.indptr), shape=shape)

    def votes(self, diffusion: Diffusion, k: int) -> NDArray[np.float64]:
        """The weighted sums of what a diffusion says of k labels at the neighbours.

        With ``H z = b`` and a new row (pivot, -w) of H, its value is ``w @ z / pivot``.
        """
        found, W = self._neighbors
        return np.asarray(W @ diffusion.read(found)[0][:, :k])
