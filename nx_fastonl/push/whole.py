"""Vectors that cover the graph: every row pulls from its neighbours, in threads."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.limits import SINGLE_PIVOTS
from nx_fastonl._lib.threads import usable_cores
from nx_fastonl.push import _bicgstab, _substitution, _whole
from nx_fastonl.push._pulled import PulledRows
from nx_fastonl.push.elimination import MAX_NODES, Inverse
from nx_fastonl.push.local import NEVER_CANCELLED
from nx_fastonl.push.system import LinearSystem

__all__ = ["WholeSolution", "solve_everywhere"]

# The fraction of a residual that a round leaves is at least the precision of its steps times this, or times half of the
# number of steps in which mass settles. Then the residual is computed anew, in double precision.
SMALLEST_FACTOR = 4.0
# Chebyshev's bound is one on the energy of an error. How much larger the L1 norm may be depends on how the mass
# was spread at first: see `Rounds.chebyshev`. This power of that bound was seen from one node, and from all nodes.
SPREAD_POWER = 0.7
# A round that leaves more than this fraction of the mass has met rounding errors, or does not converge.
STALLED_FACTOR = 0.5
# Where a step settles less than this fraction of the mass, rounding errors of single precision would grow too large.
SLOW_FRACTION = 1e-3
# Where ties are kept, a directed graph is solved until this fraction of the mass is left, divided by that which a step
# settles: little more than rounding errors.
TIES_TOLERANCE = 2e-15
# With fewer entries, Gauss-Seidel sweeps in one compiled loop take less time than the calls that BiCGSTAB is made of.
FEW_ENTRIES = 12_000
# With fewer entries each, threads wait for each other longer than they work.
ENTRIES_PER_THREAD = 250_000

# Over-relaxations of so many steps are computed before they are taken.
STEPS_AT_ONCE = 4096

TINY = float(np.finfo(float).tiny)

Float32s = NDArray[np.float32]
Float64s = NDArray[np.float64]


class WholeSolution(NamedTuple):
    """An estimate over all nodes and its residual, ``H @ estimate + residual == source``.

    The mass is the L1 norm of the residual, the largest one where there are several columns. Where `exact` is true,
    rounding errors are all that is left, even if they exceed the tolerance.
    """

    estimate: Float64s
    residual: Float64s
    mass: float
    operations: int
    exact: bool = False


def solve_everywhere(
    system: LinearSystem,
    source: Float64s,
    tolerance: float,
    *,
    guess: Float64s | None = None,
    keep_ties: bool = False,
    n_jobs: int | None = None,
    cancelled: NDArray[np.uint8] = NEVER_CANCELLED,
) -> WholeSolution:
    """Solve ``H z = source`` until the residual mass is at most `tolerance`, or only rounding errors are left.

    Each round solves in single precision for the residual that the rounds before have left, which is computed in double
    precision. So errors of single precision do not stay, and half the memory is read. The result does not depend on the
    number of threads. On undirected graphs, `source` may have several columns, which are solved for at once.

    With `keep_ties`, nodes that are alike have the same estimate up to rounding errors, whatever the tolerance is. On
    undirected graphs, the steps are then in double precision: each treats such nodes alike. On directed graphs they
    go on until little more than rounding errors is left.
    """
    solve = _solve_directed if system.graph.is_directed() else _solve_undirected
    return solve(system, source, tolerance, guess, keep_ties, n_jobs, cancelled)


def _solve_undirected(
    system: LinearSystem,
    source: Float64s,
    tolerance: float,
    guess: Float64s | None,
    keep_ties: bool,
    n_jobs: int | None,
    cancelled: NDArray[np.uint8],
) -> WholeSolution:
    inverses = _inverses(system, source, tolerance)
    small = np.sort(np.concatenate([np.empty(0, np.int32), *(inverse.rows for inverse in inverses)]))
    others = np.arange(len(source), dtype=np.int32)
    if inverses:
        others = np.setdiff1d(others, small, assume_unique=True)
    estimate, residual, places = np.empty_like(source), np.empty_like(source), np.empty(len(source), dtype=np.intp)
    total, operations, exact = 0.0, 0, len(small) > 0
    for nodes, is_solved_exactly in ((small, True), (others, False)):
        if len(nodes) == 0:
            continue
        rows = PulledRows(system.view, nodes, directed=False)
        with Threads(rows.ends, n_jobs) as threads:
            rounds = Rounds(rows, system.radius, threads, np.float64 if keep_ties else np.float32, cancelled)
            start = None if guess is None else guess[rows.order]
            places[rows.order] = np.arange(len(nodes))
            solve = partial(_solve_exactly, inverses, places) if is_solved_exactly else rounds.chebyshev
            z, left, mass = rounds.refine(solve, source[rows.order], max(tolerance - total, 0.0), start)
        estimate[rows.order], residual[rows.order] = z, left
        exact &= is_solved_exactly or mass <= tolerance
        total += mass
        operations += rounds.n_steps * int(rows.ends[-1])
    return WholeSolution(estimate, residual, total, operations, exact)


def _inverses(system: LinearSystem, source: Float64s, tolerance: float) -> list[Inverse]:
    """The inverses on all small components, if computing them is cheaper than the steps of an iteration."""
    mass = float(np.abs(source).sum(axis=0).max(initial=0.0))
    if not system.settles_slowly or mass <= tolerance:
        return []
    graph, elimination = system.graph.whole(), system.elimination
    by_component = np.argsort(graph.components, kind="stable").astype(np.int32)
    components = np.split(by_component, np.cumsum(np.bincount(graph.components))[:-1])
    small = [rows for rows in components if 1 < len(rows) <= MAX_NODES]
    walked = chebyshev_steps(system.radius, tolerance / mass) * graph.n_entries
    if sum(elimination.patience(len(rows)) for rows in small) > walked:
        return []
    inverses = (elimination.inverse(rows[:1]) for rows in small)
    return [inverse for inverse in inverses if inverse is not None]


def _solve_exactly(
    inverses: list[Inverse],
    places: NDArray[np.intp],
    source: Float64s,
    factor: float,  # noqa: ARG001  all but rounding errors is settled
) -> Float64s:
    """The solution on components with these inverses. `places` says where each of their nodes stands in the source."""
    z = np.empty_like(source)
    for inverse in inverses:
        at = places[inverse.rows]
        z[at] = inverse.solve(source[at])
    return z


def _solve_directed(
    system: LinearSystem,
    source: Float64s,
    tolerance: float,
    guess: Float64s | None,
    keep_ties: bool,
    n_jobs: int | None,
    cancelled: NDArray[np.uint8],
) -> WholeSolution:
    """Only nodes on cycles, or on a way from one cycle to another, need an iteration. For others one push is exact."""
    every_node = np.arange(len(source), dtype=np.int32)
    estimate, residual = np.zeros_like(source), source.copy()
    known = system.elimination.known(every_node) if system.settles_slowly else None
    if known is not None:
        _, estimate, residual = known.solution(source)
        return WholeSolution(estimate, residual, float(np.abs(residual).sum()), 0, exact=True)
    if guess is not None:
        _substitution.substitute(system.view, every_node, guess, estimate, residual)
    if keep_ties:
        tolerance = min(tolerance, TIES_TOLERANCE / (1.0 - system.radius) * float(np.abs(source).sum()))
    upstream, core, downstream = _substitution.peel(system.view)
    _substitution.settle(system.view, upstream, estimate, residual)
    rows = PulledRows(system.view, core, directed=True)
    n_entries = int(rows.ends[-1])
    with Threads(rows.ends, n_jobs) as threads:
        in_sweeps = n_entries < FEW_ENTRIES
        rounds = Rounds(rows, system.radius, threads, np.float64 if in_sweeps else np.float32, cancelled)
        if system.settles_slowly and 0 < len(core) <= MAX_NODES:
            rounds.max_steps = system.elimination.patience(len(core)) // max(n_entries, 1)
        solve = rounds.gauss_seidel if in_sweeps else rounds.bicgstab
        z, _, mass = rounds.refine(solve, residual[rows.order], tolerance, None)
    inverse = system.elimination.invert(core) if mass > tolerance and rounds.max_steps is not None else None
    if inverse is not None:
        _substitution.substitute(system.view, core, inverse.solution(residual[core]).estimate, estimate, residual)
    else:
        _substitution.substitute(system.view, rows.order, z, estimate, residual)
    _substitution.settle(system.view, downstream, estimate, residual)
    mass = float(np.abs(residual).sum())
    operations = rounds.n_steps * n_entries + system.graph.n_entries
    return WholeSolution(estimate, residual, mass, operations, exact=inverse is not None)


class Rounds:
    """What a round is made of. Iterations solve ``H x = b`` until the mass of what is left has fallen by a factor.

    Sweeps and BiCGSTAB take at most `max_steps` in all, where that is not None.
    """

    def __init__(
        self, rows: PulledRows, radius: float, threads: Threads, precision: type, cancelled: NDArray[np.uint8]
    ) -> None:
        self.rows, self.radius, self.threads, self.cancelled = rows, radius, threads, cancelled
        self.n_steps = 0
        self.max_steps: int | None = None
        threads.run(rows.fill)
        self.pivots = np.asarray(rows.pivots)
        self.precision = np.float32 if precision == np.float32 and self._fits_single_precision() else np.float64
        self.smallest_factor = float(np.finfo(self.precision).eps) * max(SMALLEST_FACTOR, 0.5 / (1.0 - radius))

    def refine(
        self, solve: Callable[[Float64s, float], Float64s], b: Float64s, tolerance: float, start: Float64s | None
    ) -> tuple[Float64s, Float64s, float]:
        """Rounds until the mass is at most the tolerance: the solution, its residual and the mass of that."""
        z, residual, mass = np.zeros_like(b), b, float(np.abs(b).sum(axis=0).max(initial=0.0))
        if start is not None:
            z, (residual, mass) = start, self.residual(b, start)
        while mass > tolerance:
            wanted = max(0.9 * tolerance / mass, TINY)
            n_rounds = math.ceil(math.log(wanted) / math.log(self.smallest_factor))
            next_z = z + solve(residual, wanted ** (1.0 / n_rounds))
            next_residual, next_mass = self.residual(b, next_z)
            stalled = not next_mass <= STALLED_FACTOR * mass
            if next_mass < mass:
                z, residual, mass = next_z, next_residual, next_mass
            if stalled and solve != self.bicgstab:
                break
            if stalled:
                solve = self.gauss_seidel
        return z, residual, mass

    def _fits_single_precision(self) -> bool:
        smallest, largest = self.pivots.min(initial=1.0), self.pivots.max(initial=1.0)
        return 1.0 - self.radius > SLOW_FRACTION and smallest > SINGLE_PIVOTS[0] and largest < SINGLE_PIVOTS[1]

    def residual(self, b: Float64s, z: Float64s) -> tuple[Float64s, float]:
        """What z lacks, and its mass."""
        left, sums = np.empty_like(b), np.empty((self.threads.n_chunks, *b.shape[1:]))
        self.threads.run(_whole.residual if b.ndim == 1 else _whole.block_residual, self.rows, b, z, left, sums)
        self.n_steps += 1
        return left, math.fsum(sums) if b.ndim == 1 else max(map(math.fsum, sums.T), default=0.0)

    def chebyshev(self, source: Float64s, factor: float) -> Float64s:
        """Chebyshev's iteration, for symmetric systems."""
        scale, b = self._scaled(source)
        first = (source.T / self.pivots).T  # the first step needs no walk
        # How much larger the L1 norm may be than the norm of 1 / pivot, compared to the same for this vector.
        norms = np.sqrt(self.pivots.sum() * (first * source).sum(axis=0))
        spread = max(1.0, float((norms / np.maximum(np.abs(source).sum(axis=0), TINY)).max()))
        count = chebyshev_steps(self.radius, factor / spread**SPREAD_POWER)
        x, previous = (first / scale).astype(self.precision), np.zeros_like(b)
        step = _whole.steps if b.ndim == 1 else _whole.block_steps
        for omegas in chebyshev_omegas(self.radius, count, STEPS_AT_ONCE if self.threads.n_jobs == 1 else 1):
            self.threads.run(step, self.rows, b, x, previous, omegas, self.cancelled)
            if len(omegas) % 2:
                x, previous = previous, x
        self.n_steps += count - 1
        return scale * x.astype(np.float64)

    def gauss_seidel(self, source: Float64s, factor: float) -> Float64s:
        """Gauss-Seidel sweeps, which never need more steps than Jacobi's iteration."""
        x = np.zeros_like(source)
        target, most = factor * float(np.abs(source).sum()), self._jacobi_steps(factor) + 1
        self.n_steps += _whole.gauss_seidel(self.rows, source, x, target, most, self.cancelled)
        return x

    def bicgstab(self, source: Float64s, factor: float) -> Float64s:
        """BiCGSTAB on ``y - W (y / pivot) = b``, for systems that are not symmetric.

        It may break down or stop converging. So it takes no more steps than Jacobi's iteration would.
        """
        scale, b = self._scaled(source)
        run, rows, sums = self.threads.run, self.rows, np.empty((self.threads.n_chunks, 2))
        vectors, next_rho = _bicgstab.start(b)
        mass, rho, alpha, omega = float(np.abs(b).sum()), 1.0, 1.0, 1.0
        target, most = factor * mass, self.n_steps + self._jacobi_steps(factor)
        try:
            while mass > target and self.n_steps < most:
                run(_bicgstab.turn, rows, vectors, (next_rho / rho) * (alpha / omega), omega)
                run(_bicgstab.multiply_direction, rows, vectors, sums, self.cancelled)
                rho, alpha = next_rho, next_rho / math.fsum(sums[:, 0])
                run(_bicgstab.step, rows, vectors, alpha)
                run(_bicgstab.multiply_rest, rows, vectors, sums, self.cancelled)
                omega = math.fsum(sums[:, 0]) / math.fsum(sums[:, 1])
                run(_bicgstab.advance, vectors, alpha, omega, sums)
                next_rho, mass = (math.fsum(column) for column in sums.T)
                self.n_steps += 2
        except (ArithmeticError, ValueError):
            pass  # It broke down, perhaps with infinite values. `refine` sees how far it got.
        return np.asarray(scale * _bicgstab.estimate(vectors), dtype=np.float64)

    def _scaled(self, source: Float64s) -> tuple[float, NDArray[np.floating]]:
        """A scale, and the source divided by it, in the precision of the steps."""
        scale = float(np.abs(source).max())
        return scale, (source / scale).astype(self.precision)

    def _jacobi_steps(self, factor: float) -> int:
        most = math.ceil(math.log(factor) / math.log(self.radius)) if self.radius > 0.0 else 1
        return most if self.max_steps is None else max(min(most, self.max_steps - self.n_steps), 0)


def chebyshev_steps(radius: float, factor: float) -> int:
    """The number of steps of Chebyshev's iteration that make an error smaller by this factor.

    The eigenvalues of Jacobi's iteration are real and lie between -radius and radius.
    """
    rate = radius / (1.0 + math.sqrt(1.0 - radius**2))
    return max(1, math.ceil(math.log(2.0 / max(factor, TINY)) / -math.log(rate))) if rate > 0.0 else 1


def chebyshev_omegas(radius: float, count: int, at_once: int) -> Iterator[Float64s]:
    """The over-relaxations of all steps but the first, which needs none, in batches."""
    omega = 2.0
    for first in range(1, count, at_once):
        batch = np.empty(min(at_once, count - first))
        for i in range(len(batch)):
            omega = 1.0 / (1.0 - 0.25 * radius**2 * omega)
            batch[i] = omega
        yield batch


class Threads:
    """Threads that divide the chunks of rows, so that each has about as many entries.

    `ends` says how many entries there are before each chunk, and in all.
    """

    def __init__(self, ends: NDArray[np.int64], n_jobs: int | None) -> None:
        self.n_chunks = len(ends) - 1
        self.n_jobs, self._parts = 1, [(0, self.n_chunks)]
        if n_jobs is None or n_jobs == 1:
            return
        most = min(self.n_chunks, int(ends[-1]) // ENTRIES_PER_THREAD)
        self.n_jobs = max(1, min(usable_cores() if n_jobs == -1 else n_jobs, most))
        cuts = np.searchsorted(ends, np.linspace(0, ends[-1], self.n_jobs + 1)[1:-1]).tolist()
        self._parts = list(pairwise([0, *cuts, self.n_chunks]))

    def __enter__(self) -> Self:
        self._others = ThreadPoolExecutor(self.n_jobs - 1) if self.n_jobs > 1 else None
        return self

    def __exit__(self, *error: object) -> None:
        if self._others is not None:
            self._others.shutdown()

    def run(self, work: Callable[..., None], *arguments: Any) -> None:
        """Call ``work(*arguments, first, last)`` for all chunks."""
        if self._others is None:
            work(*arguments, 0, self.n_chunks)
            return
        others = [self._others.submit(work, *arguments, *part) for part in self._parts[1:]]
        try:
            work(*arguments, *self._parts[0])
        finally:
            for other in others:
                other.result()
