"""Systems that pushes would take too long to solve, solved exactly on small components."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from nx_fastonl._lib.threads import one_blas_thread
from nx_fastonl.graph.csr import CSRGraph

__all__ = ["Elimination"]

# Components with more nodes are left to pushes. A factor of this many rows takes 32 MB.
MAX_NODES = 2000
# A push that walks as many edges takes as long as factorising a dense matrix: this, times the cube of its rows.
EDGES_PER_ROW_CUBED = 1 / 64
# Whatever the size, a push may walk this many edges first: some 0.3 milliseconds.
LEAST_EDGES = 1 << 17
UNLIMITED = np.iinfo(np.int64).max


class _Factor(NamedTuple):
    component: int
    rows: NDArray[np.int32]
    cholesky: tuple[NDArray[np.float64], bool]


class Elimination:
    """Solves ``H z = b`` exactly on components of up to `MAX_NODES` nodes. The latest factor is kept.

    Parameters
    ----------
    graph : CSRGraph
        Undirected.
    pivots : callable
        From rows to the diagonal of H there; elsewhere H is minus the weights.
    """

    def __init__(self, graph: CSRGraph, pivots: Callable[[NDArray[Any]], NDArray[np.float64]]) -> None:
        self._graph, self._pivots = graph, pivots
        self._latest: _Factor | None = None

    def patience(self, component: int) -> int:
        """How many edges a push in this component may walk before solving it exactly is cheaper."""
        size = int(self._graph.component_sizes[component])
        if size > MAX_NODES:
            return int(UNLIMITED)
        if self._latest is not None and self._latest.component == component:
            return 0
        return LEAST_EDGES + int(size**3 * EDGES_PER_ROW_CUBED)

    def rows(self, component: int) -> NDArray[np.int32] | None:
        """The rows of a component; None if H is singular there to working precision."""
        factor = self._factor(component)
        return None if factor is None else factor.rows

    def solve(self, component: int, b: NDArray[np.float64]) -> NDArray[np.float64]:
        """The solution at the rows of a component, up to rounding; `b` is parallel to them."""
        factor = self._factor(component)
        if factor is None:
            raise ValueError("H is singular to working precision")
        with one_blas_thread(len(b)):
            solution: NDArray[np.float64] = linalg.cho_solve(factor.cholesky, b, check_finite=False)
        return solution

    def _factor(self, component: int) -> _Factor | None:
        if self._latest is None or self._latest.component != component:
            rows = np.flatnonzero(self._graph.components == component).astype(np.int32)
            H = -self._graph.to_scipy()[rows][:, rows].toarray()
            diagonal = np.arange(len(rows))
            H[diagonal, diagonal] += self._pivots(rows)
            try:
                with one_blas_thread(len(rows)):
                    cholesky = linalg.cho_factor(H, lower=True, overwrite_a=True, check_finite=False)
            except linalg.LinAlgError:
                return None
            self._latest = _Factor(component, rows, cholesky)
        return self._latest
