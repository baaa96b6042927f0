"""Small components of a system, solved exactly: for where mass settles so slowly that a push would take longer."""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.threads import one_blas_thread
from nx_fastonl.graph._component import component
from nx_fastonl.graph.base import RowGraph

__all__ = ["Elimination", "Factor"]

# Components with more nodes are left to pushes. A factor of this many rows takes 32 MB.
MAX_NODES = 2000
# So many factors are kept, of at most so many bytes in all: those that were used last. Sources may be in any order.
MAX_FACTORS = 64
MAX_FACTOR_BYTES = 1 << 28
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

    def column(self, u: int) -> NDArray[np.float64]:
        """Column u of ``inv(H)`` at the rows, up to rounding."""
        return self.solve((self.rows == u).astype(np.float64))

    def holds(self, u: int) -> bool:
        at = int(np.searchsorted(self.rows, u))
        return at < len(self.rows) and bool(self.rows[at] == u)


class Elimination:
    """Factorises ``H`` on components of up to `MAX_NODES` nodes. Some factors are kept. Several threads may use it.

    Parameters
    ----------
    graph : RowGraph
        Undirected.
    """

    def __init__(self, graph: RowGraph) -> None:
        self._graph = graph
        # The one that was used last is the last one. No two are of the same component.
        self._factors: list[Factor] = []
        self._lock = threading.Lock()

    def known(self, u: int) -> Factor | None:
        """The factor of the component of node u, if it is kept."""
        with self._lock:
            i = next((i for i in reversed(range(len(self._factors))) if self._factors[i].holds(u)), None)
            if i is None:
                return None
            self._factors.append(self._factors.pop(i))
            return self._factors[-1]

    def _keep(self, factor: Factor) -> None:
        """Keep a factor in place of an older one of its component, and of those that were used least recently."""
        with self._lock:
            first = int(factor.rows[0])
            kept = [*(other for other in self._factors if not other.holds(first)), factor]
            while len(kept) > MAX_FACTORS or sum(other.cholesky[0].nbytes for other in kept) > MAX_FACTOR_BYTES:
                kept.pop(0)
            self._factors = kept

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
        factor = Factor(rows, pivots, cholesky)
        self._keep(factor)
        return factor

    def component(self, u: int) -> NDArray[np.int32] | None:
        """The rows of the component of node u, sorted; None if it is too large."""
        return component(self._graph.view, u, MAX_NODES)
