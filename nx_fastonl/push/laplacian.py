"""The Laplacian of a connected graph: potentials, the energy of currents, and bounds on what is left out of both.

A current source b, which sums to 0, drives potentials x with ``L x == b``, and the energy ``R = b . x``. Whatever x is,

    2 b . x - x . L x  <=  R  <=  2 b . x - x . L x + T        with  r = b - L x.

Dirichlet's principle is the left inequality: no potentials give more. Thomson's is the right one: no flow that carries
b from its sources to its sinks has less energy than R. Such a flow is that of x together with one that sends r along
the edges of a spanning tree; T is the energy of the latter. It counts the rounding errors of r, so it is never too
small: where weights differ much, the energy of these errors may be more than R.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.threads import one_blas_thread
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.push import _conjugate
from nx_fastonl.push._pulled import PulledRows
from nx_fastonl.push._system import SystemView
from nx_fastonl.push.whole import Threads

__all__ = [
    "ENERGY_ROUNDING",
    "FEW_ROUNDINGS",
    "MAX_DENSE",
    "Laplacian",
    "OutOfPatience",
    "Potentials",
    "blocks_of",
    "connected_part",
]

# Sources that are solved for at once: as many as the compiled loops walk together.
COLUMNS = 8
# Steps until the bounds are computed for the first time; then after a few more, or an eighth part more.
FIRST_CHECK = 8
NEXT_CHECK = 4
# No solution takes more steps than this, nor more than some for each node.
MAX_STEPS = 50_000
STEPS_PER_NODE = 4
# Of the residual's square, per node and relative to the first one: what is left then is rounding errors.
EXHAUSTED = 1e-30
# Where potentials x are rounded, the sum of ``r**2 / pivot`` is at most this times that of ``pivot * x**2``: they are
# rounded twice, and no eigenvalue of L, divided by the pivots, is above 2. What is not larger may be nothing else.
POTENTIAL_ROUNDING = (2.0 * np.finfo(float).eps) ** 2
# A column of such a small residual is given up once so many checks in a row have not halved its gap.
STAGNANT_CHECKS = 3
# Rounding errors of the sums of energies, as a fraction of these. However long rows are and however many there are,
# such a sum is off by little more than the 64 terms are that compiled loops add one after another: by 1e-14.
ENERGY_ROUNDING = 1e-13
# With no more nodes, a dense factor takes less time than conjugate gradients for a few sources; and, with no more than
# the second number, for a source of each node.
MAX_DENSE_FACTOR = 200
MAX_DENSE_FOR_EACH = 2_000
# A dense inverse of as many rows takes 1.2 GB and a minute; conjugate gradients must do beyond that.
MAX_DENSE = 12_000
# As long as no weight is more than so many times another one, resistances from a dense inverse were at most 3e-10 of
# themselves off, on paths of 4,000 nodes.
SIMILAR_WEIGHTS = 1000.0
# What a few roundings may take from a number, as a fraction of it.
FEW_ROUNDINGS = 1e-15
Float64s = NDArray[np.float64]
# From energies and gaps of columns, which columns are good enough.
Enough = Callable[[Float64s, Float64s], NDArray[np.bool_]]


class Potentials(NamedTuple):
    """Potentials that sources drive, one in each column, by the rows of `Laplacian.rows`.

    The energy of each column's source lies between `energies` and ``energies + gaps``, up to rounding errors: these are
    `ENERGY_ROUNDING` of `scales`, the sums of magnitudes that the energies are made of.
    """

    x: Float64s
    energies: Float64s
    gaps: Float64s
    scales: Float64s
    n_steps: int


class Tree(NamedTuple):
    """A spanning tree: its rows, each behind its parent; their parents and the resistances of the edges to these."""

    order: NDArray[np.int32]
    parents: NDArray[np.int32]
    resistances: Float64s


def connected_part(graph: CSRGraph, rows: NDArray[np.integer] | None = None) -> CSRGraph:
    """The component of an undirected graph with these rows, which ascend, by default all; without its self-loops."""
    if rows is None:
        rows = np.arange(len(graph))
    if len(rows) == len(graph) and graph.self_loops == 0:
        return graph
    slots, counts = graph.row_slots(rows)
    ends = np.searchsorted(rows, graph.indices[slots])
    starts = np.repeat(np.arange(len(rows)), counts)
    kept = starts != ends
    indptr = np.concatenate([[0], np.cumsum(np.bincount(starts[kept], minlength=len(rows)))])
    weights = None if graph.weights is None else graph.weights[slots[kept]]
    return CSRGraph(indptr, ends[kept], weights)


class Laplacian:
    """``L = D - W`` of a connected, undirected graph without self-loops.

    Parameters
    ----------
    graph : CSRGraph
        See `connected_part`.
    n_jobs : int, optional
        Threads of conjugate gradients; -1 is one for each core. Results do not depend on it.
    """

    def __init__(self, graph: CSRGraph, n_jobs: int | None = None) -> None:
        self.graph, self._n_jobs = graph, n_jobs
        self.n_steps = 0  # of conjugate gradients, over all sources
        self.patience: float = np.inf  # steps after which `potentials` raises `OutOfPatience`

    def __len__(self) -> int:
        return len(self.graph)

    @cached_property
    def has_similar_weights(self) -> bool:
        """Whether no weight is so much larger than another one that a dense inverse loses digits."""
        return self.weight_ratio <= SIMILAR_WEIGHTS

    @cached_property
    def weight_ratio(self) -> float:
        """The largest weight, divided by the smallest one."""
        weights = self.graph.weights
        return 1.0 if weights is None or len(weights) == 0 else float(weights.max() / weights.min())

    @property
    def is_tree(self) -> bool:
        return self.graph.n_entries == 2 * (len(self) - 1)

    @cached_property
    def rows(self) -> PulledRows:
        """What the steps pull from."""
        rows = PulledRows(SystemView(self.graph.view, 0.0, 1.0), np.arange(len(self), dtype=np.int32), directed=False)
        rows.fill(0, len(rows.ends) - 1)
        return rows

    @cached_property
    def row_of(self) -> NDArray[np.int32]:
        """The row of each node."""
        row_of = np.empty(len(self), dtype=np.int32)
        row_of[self.rows.order] = np.arange(len(self), dtype=np.int32)
        return row_of

    @cached_property
    def tree(self) -> Tree:
        """Shortest paths from the node of the largest degree, where the length of an edge is its resistance."""
        from scipy.sparse import csgraph, csr_array

        root, W = int(self.graph.degrees.argmax()), self.graph.shared_matrix
        parents: NDArray[np.int32]
        if self.graph.weights is None:
            order, parents = csgraph.breadth_first_order(W, root)
            resistances = np.ones(len(self))
        else:
            indptr = self.graph.indptr  # in 32 bits if that can be: scipy 1.13 takes no others here
            indptr = indptr if len(W.indices) >= 2**31 else indptr.astype(np.int32)
            lengths = csr_array((1.0 / self.graph.weights, self.graph.indices, indptr), shape=W.shape)
            _, parents = csgraph.dijkstra(lengths, indices=np.array(root), return_predecessors=True)
            sources = np.repeat(np.arange(len(self)), np.diff(self.graph.indptr))
            edges = np.flatnonzero(parents[self.graph.indices] == sources)
            resistances = np.zeros(len(self))
            resistances[self.graph.indices[edges]] = lengths.data[edges]
            # Lengths may be equal up to rounding errors: the tree itself says who stands behind whom.
            downwards = csr_array((np.ones(len(edges)), (sources[edges], self.graph.indices[edges])), shape=W.shape)
            order, _ = csgraph.breadth_first_order(downwards, root)
        parents[root] = root
        rows, above = self.row_of[order], self.row_of[parents[order]]
        return Tree(np.ascontiguousarray(rows), np.ascontiguousarray(above), resistances[order])

    def pair_sources(self, pairs: NDArray[np.integer]) -> Float64s:
        """A current of 1 from the first node of each pair to the second: one column for each, over rows."""
        b, columns = np.zeros((len(self), len(pairs))), np.arange(len(pairs))
        b[self.row_of[pairs[:, 0]], columns] += 1.0
        b[self.row_of[pairs[:, 1]], columns] -= 1.0
        return b

    def mean_sources(self, nodes: NDArray[np.integer]) -> Float64s:
        """A current of 1 from each of the nodes, spread evenly over all: one column for each, over rows."""
        b = np.full((len(self), len(nodes)), -1.0 / len(self))
        b[self.row_of[nodes], np.arange(len(nodes))] += 1.0
        return b

    def suits_dense(self, *, for_each_node: bool) -> bool:
        """Whether a dense factor takes less time than conjugate gradients for a few sources, or `for_each_node`."""
        return len(self) <= (MAX_DENSE_FOR_EACH if for_each_node else MAX_DENSE_FACTOR)

    def potentials(self, b: Float64s, enough: Enough, *, for_each_node: bool = False) -> Potentials:
        """Potentials that the sources drive, as good as they can be got if some are not `enough`.

        Sources `for_each_node` come block by block, and a dense factor serves all of them.
        With `patience`, sources that are not `enough` raise.
        """
        direct = self._direct(b) if self.suits_dense(for_each_node=for_each_node) else None
        if direct is not None and enough(direct.energies, direct.gaps).all():
            return direct
        with Threads(self.rows.ends, self._n_jobs) as threads:
            found = _Gradients(self, b, threads).solve(enough)
        self.n_steps += found.n_steps * b.shape[1]
        if enough(found.energies, found.gaps).all():
            return found
        if self.patience < np.inf:
            raise OutOfPatience
        if len(self) > MAX_DENSE:
            return found
        direct = direct or self._direct(b)
        return direct if direct.gaps.sum() < found.gaps.sum() else found

    def tree_energies(self, b: Float64s) -> Float64s:
        """The energies of the flows that send these sources along the tree, up to `FEW_ROUNDINGS` of themselves."""
        return _conjugate.tree_energy(*self.tree, b.copy(), np.zeros_like(b))

    def gaps(self, r: Float64s, slack: Float64s) -> Float64s:
        """No less than the energies of the flows that send r along the tree, where r may be off by `slack`.

        Both are used up.
        """
        return (1.0 + FEW_ROUNDINGS) * _conjugate.tree_energy(*self.tree, r, slack)

    def inverse(self) -> Float64s | None:
        """The inverse of L with one node grounded, whose row and column are 0; None if it cannot be computed.

        Memory for n squared numbers is taken, and no more.
        """
        from scipy.linalg import lapack

        ground = self._ground
        L = self._dense()
        with one_blas_thread(len(self)):
            L, failed = lapack.dpotrf(L, lower=1, clean=0, overwrite_a=1)
            if failed:
                return None
            L, failed = lapack.dpotri(L, lower=1, overwrite_c=1)
        for first in range(0, len(self), 512):  # the upper triangle from the lower one
            block = slice(first, first + 512)
            square = np.tril(L[block, block])
            L[block, block] = square + np.tril(square, -1).T
            L[block, first + 512 :] = L[first + 512 :, block].T
        L[ground, ground] = 0.0
        return None if failed else L

    @cached_property
    def _ground(self) -> int:
        return int(self.graph.degrees.argmax())

    def _dense(self) -> Float64s:
        """L with one node grounded: its row and column are those of the identity."""
        n, ground = len(self), self._ground
        L = np.zeros((n, n), order="F")
        sources = np.repeat(np.arange(n), np.diff(self.graph.indptr))
        L[self.graph.indices, sources] = -1.0 if self.graph.weights is None else -self.graph.weights
        L[np.diag_indices(n)] = self.graph.degrees
        L[ground, :] = L[:, ground] = 0.0
        L[ground, ground] = 1.0
        return L

    @cached_property
    def _factor(self) -> Float64s | None:
        from scipy.linalg import lapack

        with one_blas_thread(len(self)):
            factor, failed = lapack.dpotrf(self._dense(), lower=1, clean=0, overwrite_a=1)
        return None if failed else factor

    def _direct(self, b: Float64s) -> Potentials:
        """Potentials from a dense factor, improved once by the residual that the first ones leave."""
        from scipy.linalg import lapack

        with Threads(self.rows.ends, None) as threads:
            state = _Gradients(self, b, threads)
            for _ in range(2):
                if self._factor is None:
                    break
                at_nodes = np.empty_like(b)
                at_nodes[self.rows.order] = state.r
                at_nodes[self._ground] = 0.0
                with one_blas_thread(len(self)):
                    at_nodes, _ = lapack.dpotrs(self._factor, at_nodes, lower=1)
                state.x += at_nodes[self.rows.order]
                energies, gaps = state.bounds()
        if self._factor is None:
            energies, gaps = state.bounds()
        return Potentials(state.x, energies, gaps, state.scales, 0)


class OutOfPatience(Exception):  # noqa: N818  nothing is wrong: another way takes less time
    """Conjugate gradients have taken as many steps as they may, or do not reach what is enough."""


class _Gradients:
    """Conjugate gradients for several sources, with the diagonal of L as preconditioner.

    Each column stops by itself, so its result does not depend on the others.
    """

    def __init__(self, laplacian: Laplacian, b: Float64s, threads: Threads) -> None:
        self.laplacian, self.rows, self.b = laplacian, laplacian.rows, b
        self.run, self.n_chunks = threads.run, threads.n_chunks
        # Steps add to `moves`, and checks add these to the potentials: there, small ones would be rounded away.
        self.x, self.moves, self.r = np.zeros_like(b), np.zeros_like(b), b.copy()
        self.rho, self.scales = np.zeros(b.shape[1]), np.zeros(b.shape[1])

    def solve(self, enough: Enough) -> Potentials:
        """Steps until all columns are good enough, or there were too many."""
        k = self.b.shape[1]
        p, q, sums = np.zeros_like(self.b), np.empty_like(self.b), np.empty((self.n_chunks, k))
        betas, active = np.zeros(k), np.ones(k, dtype=bool)
        most = min(MAX_STEPS, FIRST_CHECK + STEPS_PER_NODE * len(self.laplacian))
        if self.laplacian.patience < np.inf:
            most = min(most, int(self.laplacian.patience - self.laplacian.n_steps) // k)
        n_steps, next_check = 0, FIRST_CHECK
        energies, gaps = self.bounds()
        stagnation = _Stagnation(gaps)
        exhausted = EXHAUSTED * len(self.laplacian) * self.rho
        while active.any() and n_steps < most:
            self.run(_conjugate.update_directions, self.rows, self.r, p, betas)
            self.run(_conjugate.multiply, self.rows, p, q, sums)
            # What is left of a column that was solved may lie along the null vector, where steps have no end.
            alphas = _ratios(self.rho, sums.sum(axis=0), active & (self.rho > exhausted))
            self.run(_conjugate.advance, self.rows, self.moves, self.r, p, q, alphas, sums)
            n_steps += 1
            before, self.rho = self.rho, sums.sum(axis=0)
            if n_steps in (next_check, most):
                energies, gaps = self.bounds()
                stagnant = stagnation.seen(gaps, self._is_rounding())
                active &= ~enough(energies, gaps) & (self.rho > exhausted) & ~stagnant
                next_check += max(NEXT_CHECK, n_steps // 8)
            betas = _ratios(self.rho, before, active)
        return Potentials(self.x, energies, gaps, self.scales, n_steps)

    def bounds(self) -> tuple[Float64s, Float64s]:
        """Energies and gaps. The residual is computed anew, so that rounding errors do not add up in it.

        L maps constants to 0, so rounding errors may move potentials and residuals by any constant. It is taken out:
        of a large constant, products with b would keep few digits.
        """
        self.x += self.moves
        self.moves.fill(0.0)
        self.x -= self.x[0].copy()
        sums, slack = np.empty((self.n_chunks, 5, self.b.shape[1])), np.empty_like(self.b)
        self.run(_conjugate.residual_and_energy, self.rows, self.b, self.x, self.r, slack, sums)
        twice_energy, work, self.rho = (_column_sums(sums[:, which]) for which in ([0, 1], [2, 3], [4]))
        energies: Float64s = 2.0 * work - 0.5 * twice_energy
        self.scales = np.abs(self.b * self.x).sum(axis=0) + 0.5 * twice_energy
        gaps = self.laplacian.gaps(self.r.copy(), slack)
        pivots = np.asarray(self.rows.pivots)
        self.r -= np.outer(pivots, self.r.sum(axis=0) / pivots.sum())
        return energies, gaps

    def _is_rounding(self) -> NDArray[np.bool_]:
        """Of which columns the residual may be nothing but rounding errors of the potentials."""
        floor: Float64s = POTENTIAL_ROUNDING * np.einsum("i,ij,ij->j", self.rows.pivots, self.x, self.x)
        return self.rho <= floor


class _Stagnation:
    """Which columns do not get better, check after check."""

    def __init__(self, gaps: Float64s) -> None:
        self._gaps, self._checks = gaps, np.zeros(len(gaps), dtype=int)

    def seen(self, gaps: Float64s, is_rounding: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which columns to give up, given at which of them rounding errors may be all that is left.

        Others may take many steps until their gap falls: on a path, as many as it has nodes.
        """
        halved = gaps <= 0.5 * self._gaps
        self._gaps = np.where(halved, gaps, self._gaps)
        self._checks = np.where(halved | ~is_rounding, 0, self._checks + 1)
        return self._checks >= STAGNANT_CHECKS


def _column_sums(sums: Float64s) -> Float64s:
    """The sums of each column over all else, of pairs of sums of pairs, which is how numpy adds what is contiguous."""
    total: Float64s = np.ascontiguousarray(sums.T).sum(axis=(1, 2))
    return total


def _ratios(above: Float64s, below: Float64s, where: NDArray[np.bool_]) -> Float64s:
    """Quotients, 0 elsewhere and where there is nothing left to divide."""
    return np.divide(above, below, out=np.zeros_like(above), where=where & (below > 0.0))


def blocks_of(count: int) -> Iterator[NDArray[np.intp]]:
    """The numbers below `count`, some at a time."""
    for first in range(0, count, COLUMNS):
        yield np.arange(first, min(first + COLUMNS, count))
