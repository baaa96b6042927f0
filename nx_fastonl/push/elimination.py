"""When a system is solved exactly instead of pushed, and how: where mass settles slowly among few nodes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.forks import tell_of_forks
from nx_fastonl._lib.threads import one_blas_thread
from nx_fastonl.graph._component import reachable
from nx_fastonl.graph.base import RowGraph

__all__ = ["LEAST_EDGES", "SLOW_RADIUS", "Elimination", "Inverse", "Solution"]

# Nothing is solved exactly where D / pivot is never larger: mass then settles within some hundred passes.
SLOW_RADIUS = 0.958
# More nodes are left to pushes. H and its inverse take 64 MB with so many rows.
MAX_NODES = 2000
# So many inverses are kept, of at most so many bytes in all: those that were used last. Sources may be in any order.
MAX_KEPT = 64
MAX_KEPT_BYTES = 1 << 29
# Any push may walk this many edges first: some 0.3 milliseconds.
LEAST_EDGES = 1 << 17
# Edges that are walked while a dense matrix is inverted: this, times the cube of its rows.
EDGES_PER_ROW_CUBED = 1 / 64
# A solution is off by rounding. Solving for what is left makes it smaller, as long as there are digits.
MAX_STEPS = 8
# What a solution lacks is rounding if it is at most so much, and so much for each neighbour of the node that has most,
# times the sum of ``pivot |z|``. Sums over many neighbours round: the second is what was seen of that, and some more.
ROUNDING = 4.0 * float(np.finfo(np.float64).eps)
NEIGHBOUR_ROUNDING = float(np.finfo(np.float64).eps) / 16.0

# What a system has for its pivots, by rows.
Pivots: TypeAlias = Callable[[NDArray[np.int32]], NDArray[np.float64]]


class Solution(NamedTuple):
    """``H @ estimate + residual`` is the source at these rows, and nothing leaves them."""

    rows: NDArray[np.int32]
    estimate: NDArray[np.float64]
    residual: NDArray[np.float64]


class Inverse(NamedTuple):
    """H on some nodes, and its inverse; the rows are sorted."""

    rows: NDArray[np.int32]
    pivots: NDArray[np.float64]
    H: NDArray[np.float64]
    inverse: NDArray[np.float64]
    rounding: float  # of what a solution lacks, per unit of ``pivot |z|``

    def solve(self, b: NDArray[np.float64]) -> NDArray[np.float64]:
        """The solution of ``H z = b`` at the rows, up to rounding."""
        with one_blas_thread(len(b)):
            solution: NDArray[np.float64] = self.inverse @ b
        return solution

    def column(self, u: int) -> NDArray[np.float64]:
        """Column u of ``inv(H)`` at the rows, up to rounding."""
        return self.inverse[:, int(np.searchsorted(self.rows, u))].copy()

    def solution(self, b: NDArray[np.float64]) -> Solution:
        """The solution for a source at the rows, which lacks as little as rounding allows; b may have several columns.

        What it lacks is computed by one sum for each row.
        """
        with one_blas_thread(len(b)):
            sources = np.flatnonzero(b)
            is_one = b.ndim == 1 and len(sources) == 1
            z = self.inverse[:, sources[0]] * b[sources[0]] if is_one else self.inverse @ b
            residual = b - self.H @ z
            for _ in range(MAX_STEPS):
                mass = np.abs(residual).sum()
                if mass <= self.rounding * (self.pivots @ np.abs(z)).sum():
                    break
                better = z + self.inverse @ residual
                left = b - self.H @ better
                if not np.abs(left).sum() <= 0.5 * mass:
                    break
                z, residual = better, left
        return Solution(self.rows, z, residual)

    def holds(self, nodes: NDArray[np.int32]) -> bool:
        at = np.searchsorted(self.rows, nodes)
        return bool((at < len(self.rows)).all()) and bool((self.rows[at] == nodes).all())

    @property
    def nbytes(self) -> int:
        return self.H.nbytes + self.inverse.nbytes


class Elimination:
    """Solves ``H z = b`` exactly where few nodes can be reached from the sources. Several threads may use it.

    This is the one place that says when: `cost` is how many edges may be walked before.

    Parameters
    ----------
    graph : RowGraph
    pivots : callable
        The pivots at some rows, now. Where they have changed, what was kept does not count.
    """

    def __init__(self, graph: RowGraph, pivots: Pivots) -> None:
        self._graph, self._pivots = graph, pivots
        # The one that was used last is the last one.
        self._kept: list[Inverse] = []
        self._begin_in_child()
        tell_of_forks(self)

    def _begin_in_child(self) -> None:
        self._lock = threading.Lock()  # a thread of the parent may hold the one before

    def cost(self, sources: NDArray[np.int32]) -> int | None:
        """How many edges may be walked from these nodes before an exact solution is cheaper; None if it never is.

        It is 0 if the inverse is kept.
        """
        if self.known(sources) is not None:
            return 0
        rows = self.rows(sources)
        return None if rows is None else self.patience(len(rows))

    @staticmethod
    def patience(n: int) -> int:
        """How many edges may be walked before it is cheaper to invert H on n nodes."""
        return LEAST_EDGES + int(n**3 * EDGES_PER_ROW_CUBED)

    def rows(self, sources: NDArray[np.int32]) -> NDArray[np.int32] | None:
        """All nodes that the sources lead to, sorted; None if they are too many."""
        return reachable(self._graph.view, sources, MAX_NODES)

    def inverse(self, sources: NDArray[np.int32]) -> Inverse | None:
        """The inverse on all nodes that the sources lead to; None if they are too many, or H is singular there."""
        found = self.known(sources)
        if found is not None:
            return found
        rows = self.rows(sources)
        found = None if rows is None else self.invert(rows)
        if found is not None:
            self._keep(found)
        return found

    def column(self, u: int) -> tuple[NDArray[np.int32], NDArray[np.float64]] | None:
        """The nodes and values of column u of ``inv(H)``, u first, up to rounding; None where there is no inverse."""
        inverse = self.inverse(np.array([u], dtype=np.int32))
        if inverse is None:
            return None
        nodes, values = inverse.rows.copy(), inverse.column(u)
        at = [int(np.searchsorted(nodes, u)), 0]
        nodes[at[::-1]], values[at[::-1]] = nodes[at], values[at]
        return nodes, values

    def solve(self, sources: NDArray[np.int32], masses: NDArray[np.float64]) -> Solution | None:
        """The exact solution for these masses, up to rounding; None where there is no inverse."""
        inverse = self.inverse(sources)
        if inverse is None:
            return None
        b = np.zeros(len(inverse.rows))
        b[np.searchsorted(inverse.rows, sources)] = masses
        return inverse.solution(b)

    def known(self, sources: NDArray[np.int32]) -> Inverse | None:
        """The inverse on the nodes that the sources lead to, if it is kept and still right."""
        with self._lock:
            i = next((i for i in reversed(range(len(self._kept))) if self._kept[i].holds(sources)), None)
            if i is None:
                return None
            self._kept.append(self._kept.pop(i))
            found = self._kept[-1]
        return found if np.array_equal(found.pivots, self._pivots(found.rows)) else None

    def _keep(self, found: Inverse) -> None:
        """Keep an inverse in place of an older one of its nodes, and of those that were used least recently."""
        with self._lock:
            kept = [*(other for other in self._kept if not other.holds(found.rows[:1])), found]
            while len(kept) > MAX_KEPT or sum(other.nbytes for other in kept) > MAX_KEPT_BYTES:
                kept.pop(0)
            self._kept = kept

    def invert(self, rows: NDArray[np.int32]) -> Inverse | None:
        """The inverse of H on these rows, which are sorted; None if H is singular to working precision."""
        graph, pivots = self._graph, self._pivots(rows)
        edges, counts = graph.row_slots(rows)
        ends = graph.indices[edges]
        to = np.searchsorted(rows, ends)
        inside = rows[np.minimum(to, len(rows) - 1)] == ends
        H = np.zeros((len(rows), len(rows)))
        H[to[inside], np.repeat(np.arange(len(rows)), counts)[inside]] = (
            -1.0 if graph.weights is None else -graph.weights[edges[inside]]
        )
        H[np.diag_indices_from(H)] += pivots
        with one_blas_thread(len(rows)):
            inverse = _inverse(H) if graph.is_directed() else _symmetric_inverse(H)
        if inverse is None or not np.isfinite(inverse).all():
            return None
        return Inverse(rows, pivots, H, inverse, ROUNDING + NEIGHBOUR_ROUNDING * int(counts.max(initial=0)))


def _symmetric_inverse(H: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """The inverse of a positive definite matrix; None if it is none to working precision."""
    from scipy.linalg import lapack

    factor, info = lapack.dpotrf(H, lower=1, clean=0)
    if info == 0:
        factor, info = lapack.dpotri(factor, lower=1, overwrite_c=1)
    if info != 0:
        return None
    below = np.tril(factor)
    return np.ascontiguousarray(below + np.tril(below, -1).T)


def _inverse(H: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """The inverse of any matrix; None if it is singular."""
    from scipy.linalg import lapack

    factor, pivots, info = lapack.dgetrf(H)
    if info == 0:
        room = int(lapack.dgetri_lwork(len(H))[0])
        factor, info = lapack.dgetri(factor, pivots, lwork=room, overwrite_lu=1)
    return np.ascontiguousarray(factor) if info == 0 else None
