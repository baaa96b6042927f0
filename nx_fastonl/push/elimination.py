"""Small components of a system, solved exactly: for where mass settles so slowly that a push would take longer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.threads import one_blas_thread
from nx_fastonl.graph._component import component
from nx_fastonl.graph.base import RowGraph

__all__ = ["Elimination", "Factor"]

# Components with more nodes are left to pushes. A factor of this many rows takes 32 MB.
MAX_NODES = 2000
# Any push may walk this many edges first: some 0.3 milliseconds.
LEAST_EDGES = 1 << 17
# Edges that are walked while a dense matrix is factorised: this, times the cube of its rows.
EDGES_PER_ROW_CUBED = 1 / 64


class Factor(NamedTuple):
    """H on one component, factorised; the rows are sorted."""

    rows: NDArray[np.int32]
    pivots: NDArray[np.float64]
    cholesky: tuple[NDArray[np.float64], bool]

    def solve(self, b: NDArray[np.float64]) -> NDArray[np.float64]:
        """The solution of ``H z = b`` at the rows, up to rounding."""
        from scipy import linalg

        with one_blas_thread(len(b)):
            solution: NDArray[np.float64] = linalg.cho_solve(self.cholesky, b, check_finite=False)
        return solution


class Elimination:
    """Factorises ``H`` on components of up to `MAX_NODES` nodes. The latest factor is kept.

    Parameters
    ----------
    graph : RowGraph
        Undirected.
    """

    def __init__(self, graph: RowGraph) -> None:
        self._graph = graph
        self._latest: Factor | None = None

    def known(self, u: int) -> Factor | None:
        """The latest factor, if it is that of the component of node u."""
        latest = self._latest
        if latest is None:
            return None
        at = int(np.searchsorted(latest.rows, u))
        return latest if at < len(latest.rows) and latest.rows[at] == u else None

    def patience(self, rows: NDArray[np.int32]) -> int:
        """How many edges a push may walk before factorising this component is cheaper."""
        return LEAST_EDGES + int(len(rows) ** 3 * EDGES_PER_ROW_CUBED)

    def factorise(self, rows: NDArray[np.int32], pivots: NDArray[np.float64]) -> Factor | None:
        """H on a component: these pivots, minus the weights; None if it is singular to working precision."""
        from scipy import linalg

        edges, counts = self._graph.row_slots(rows)
        H = np.zeros((len(rows), len(rows)))
        at = np.repeat(np.arange(len(rows)), counts), np.searchsorted(rows, self._graph.indices[edges])
        np.subtract.at(H, at, 1.0 if self._graph.weights is None else self._graph.weights[edges])
        H[np.diag_indices_from(H)] += pivots
        try:
            with one_blas_thread(len(rows)):
                cholesky = linalg.cho_factor(H, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            return None
        self._latest = Factor(rows, pivots, cholesky)
        return self._latest

    def component(self, u: int) -> NDArray[np.int32] | None:
        """The rows of the component of node u, sorted; None if it is too large."""
        return component(self._graph.view, u, MAX_NODES)
