"""Vectors that cover the graph: every row pulls from its neighbours, in threads."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.push import _whole
from nx_fastonl.push.local import NEVER_CANCELLED, PushResult, local_push
from nx_fastonl.push.system import LinearSystem

__all__ = ["WholeSolution", "push_or_pull", "solve_everywhere"]

# Steps in single precision make a residual smaller by no more than this, or by this divided by what a step settles.
# Then it is computed anew, in double precision.
LARGEST_GAIN = 1e-6
LARGEST_GAIN_PER_STEP = 2e-7
# A round that makes the residual smaller by less than this has met rounding errors.
LEAST_GAIN = 0.5

# The rule by which rows are pulled. A vector covers the graph if at least this fraction of the nodes are sources, or if
# a push that has to reach a tolerance has walked the edges of the graph this many times.
COVERING_FRACTION = 0.125
COVERING_SWEEPS = 4

# How often the residual of a guess is pushed, at most.
MAX_IMPROVEMENTS = 4

NOTHING_WALKED = PushResult(np.empty(0, np.int32), np.empty(0), np.empty(0), 0, 0, 0, 0.0, converged=False)

Work = Callable[[int, int], None]


class WholeSolution(NamedTuple):
    """An estimate over all nodes, its residual, ``H @ estimate + residual == source``, and that one's L1 norm."""

    estimate: NDArray[np.float64]
    residual: NDArray[np.float64]
    mass: float
    steps: int


def push_or_pull(
    system: LinearSystem,
    sources: NDArray[np.intp],
    masses: NDArray[np.float64],
    epsilon: float,
    *,
    mass_tolerance: float | None = None,
    max_epochs: int | None = None,
    guess: NDArray[np.float64] | None = None,
    n_jobs: int | None = None,
    cancelled: NDArray[np.uint8] = NEVER_CANCELLED,
) -> PushResult:
    """`local_push`; but where a vector has to reach a tolerance, and covers an undirected graph, all rows pull at once.

    Pulling begins with the guess, which is over all nodes. Where nothing is pulled, what the guess lacks is pushed.
    `max_epochs` counts passes of a push, so with it nothing is pulled.
    """
    graph = system.graph

    def push(rows: NDArray[np.intp], values: NDArray[np.float64], max_operations: int | None = None) -> PushResult:
        return local_push(
            system,
            rows,
            values,
            epsilon,
            mass_tolerance=mass_tolerance,
            max_operations=max_operations,
            max_epochs=max_epochs,
            cancelled=cancelled,
        )

    if mass_tolerance is None or max_epochs is not None or graph.is_directed():
        if guess is None:
            return push(sources, masses)
        return _push_rest(system, _everywhere(graph, sources, masses), guess, push, mass_tolerance)
    walked = NOTHING_WALKED
    if guess is None and len(sources) < COVERING_FRACTION * len(graph):
        walked = push(sources, masses, COVERING_SWEEPS * len(graph.indices))
        if walked.converged:
            return walked
        guess = _everywhere(graph, walked.nodes, walked.estimate)
    source = _everywhere(graph, sources, masses)
    found = solve_everywhere(system, source, mass_tolerance, guess=guess, n_jobs=n_jobs, cancelled=cancelled)
    if found.mass > mass_tolerance:  # rounding errors do not let it
        return push(sources, masses)
    return PushResult(
        np.arange(len(graph), dtype=np.int32),
        found.estimate,
        found.residual,
        walked.operations + found.steps * len(graph.indices),
        walked.pushes + found.steps * len(graph),
        walked.epochs + found.steps,
        decay=0.0,
        converged=True,
    )


def _push_rest(
    system: LinearSystem,
    source: NDArray[np.float64],
    guess: NDArray[np.float64],
    push: Callable[[NDArray[np.intp], NDArray[np.float64]], PushResult],
    mass_tolerance: float | None,
) -> PushResult:
    """Push what the guess lacks; again if rounding errors of many pushes have added up to more than the tolerance."""
    rows, estimate = np.arange(len(guess)), guess.copy()
    transposed, pivots = system.graph.shared_matrix.T, system.pivots(rows)
    residual = source + transposed @ estimate - pivots * estimate
    for _ in range(MAX_IMPROVEMENTS):
        result = push(rows, residual)
        estimate[result.nodes] += result.estimate
        residual = source + transposed @ estimate - pivots * estimate
        if not result.converged or mass_tolerance is None or np.abs(residual).sum() <= mass_tolerance:
            break
    return replace(result, nodes=rows.astype(np.int32), estimate=estimate, residual=residual)


def solve_everywhere(
    system: LinearSystem,
    source: NDArray[np.float64],
    tolerance: float,
    *,
    guess: NDArray[np.float64] | None = None,
    n_jobs: int | None = None,
    cancelled: NDArray[np.uint8] = NEVER_CANCELLED,
) -> WholeSolution:
    """Solve ``H z = source`` on an undirected graph until the residual mass is at most `tolerance`, or only rounding.

    Rounds of Chebyshev's iteration in single precision, each on the residual that the rounds before have left, which is
    computed in double precision. So errors of single precision do not stay, and half the memory is read. The result
    does not depend on the number of threads.
    """
    n = len(source)
    estimate = np.zeros(n) if guess is None else guess.copy()
    residual, sums = np.empty(n), np.empty(-(-n // _whole.ROWS_PER_CHUNK))
    n_steps = 0
    with _threads(system, len(sums), n_jobs) as (in_threads, jobs):

        def measure() -> float:
            in_threads(partial(_whole.residual, system.view, source, estimate, residual, sums))
            return math.fsum(sums)

        def correction(source: NDArray[np.float32], omegas: NDArray[np.float64]) -> NDArray[np.float32]:
            x, previous = np.zeros_like(source), np.zeros_like(source)
            for batch in [omegas] if jobs == 1 else np.split(omegas, len(omegas)):
                in_threads(partial(_whole.steps, system.view, source, x, previous, batch, cancelled))
                if len(batch) % 2:
                    x, previous = previous, x
            return x

        gain = max(LARGEST_GAIN, min(0.1, LARGEST_GAIN_PER_STEP / (1.0 - system.radius)))
        mass = measure()
        while mass > tolerance:
            largest = float(np.abs(residual).max())
            omegas = chebyshev_omegas(system.radius, max(0.5 * tolerance / mass, gain))
            estimate += largest * correction((residual / largest).astype(np.float32), omegas)
            n_steps += len(omegas) + 1
            before, mass = mass, measure()
            if mass > LEAST_GAIN * before:
                break
    return WholeSolution(estimate, residual, mass, n_steps)


def chebyshev_omegas(radius: float, factor: float) -> NDArray[np.float64]:
    """The over-relaxations of as many steps as make an error smaller by this factor.

    The eigenvalues of Jacobi's iteration are real and lie between -radius and radius.
    """
    rate = radius / (1.0 + math.sqrt(1.0 - radius**2))
    count = max(1, math.ceil(math.log(2.0 / factor) / -math.log(rate))) if rate > 0.0 else 1
    omegas, omega = [1.0], 2.0
    for _ in range(count - 1):
        omega = 1.0 / (1.0 - 0.25 * radius**2 * omega)
        omegas.append(omega)
    return np.array(omegas)


def _everywhere(graph: CSRGraph, rows: NDArray[np.integer], values: NDArray[np.float64]) -> NDArray[np.float64]:
    vector = np.zeros(len(graph))
    vector[rows] = values
    return vector


@contextmanager
def _threads(system: LinearSystem, n_chunks: int, n_jobs: int | None) -> Iterator[tuple[Callable[[Work], None], int]]:
    """Calls ``work(first, last)`` for all chunks, in threads that have about as many edges each; and their number."""
    jobs = min(os.cpu_count() or 1 if n_jobs == -1 else n_jobs or 1, n_chunks)
    if jobs == 1:
        yield (lambda work: work(0, n_chunks)), 1
        return
    ends = system.graph.indptr[np.minimum(np.arange(n_chunks + 1) * _whole.ROWS_PER_CHUNK, len(system.graph))]
    cuts = [0, *np.searchsorted(ends, np.linspace(0, ends[-1], jobs + 1)[1:-1]).tolist(), n_chunks]
    parts = list(pairwise(cuts))

    def run(work: Work) -> None:
        others = [threads.submit(work, *part) for part in parts[1:]]
        try:
            work(*parts[0])
        finally:
            for other in others:
                other.result()

    with ThreadPoolExecutor(jobs - 1) as threads:
        yield run, jobs
