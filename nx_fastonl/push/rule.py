"""The rule by which a vector is pushed or pulled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.log import logger
from nx_fastonl.graph.base import RowGraph
from nx_fastonl.graph.vectors import dense_vector
from nx_fastonl.push._substitution import substitute
from nx_fastonl.push.local import NEVER_CANCELLED, PushResult, local_push, push_or_solve
from nx_fastonl.push.system import LinearSystem
from nx_fastonl.push.whole import chebyshev_steps, solve_everywhere

# A vector covers the graph if at least this fraction of the nodes are sources, or if a push that has to reach a
# tolerance has walked this fraction of the edges.
COVERING_FRACTION = 0.125
COVERING_EDGES = 0.5
# On an undirected graph, the push goes on all the same if rows would pull fewer times than this. A pass of a push
# settles as much as two such steps and takes as long as four. But rows must be copied first, and begin with a residual
# that is spread unevenly.
MIN_STEPS = 30

# How often the residual of a guess is pushed, at most.
MAX_IMPROVEMENTS = 4

NOTHING_WALKED = PushResult(np.empty(0, np.int32), np.empty(0), np.empty(0), 0, 0, 0, 0.0, converged=False)


def push_or_pull(
    system: LinearSystem,
    sources: NDArray[np.intp],
    masses: NDArray[np.float64],
    epsilon: float,
    *,
    mass_tolerance: float | None = None,
    max_epochs: int | None = None,
    guess: NDArray[np.float64] | None = None,
    keep_ties: bool = False,
    pull: bool = False,
    n_jobs: int | None = None,
    cancelled: NDArray[np.uint8] = NEVER_CANCELLED,
) -> PushResult:
    """`push_or_solve`; but where a vector has to reach a tolerance, and covers the graph, all rows pull at once.

    With `pull`, the vector counts as one that covers the graph. So it does with `keep_ties`, and nodes that are alike
    then have the same value.
    Pulling begins with the guess, which is over all nodes. Where nothing is pulled, what the guess lacks is pushed.
    `max_epochs` counts passes of a push, so with it nothing is pulled or solved exactly. If rounding errors keep pulled
    rows above the tolerance, they are pushed after all, and ties are not kept.
    """
    graph = system.graph

    def push(rows: NDArray[np.integer], values: NDArray[np.float64], max_operations: int | None = None) -> PushResult:
        if max_epochs is not None:
            return local_push(
                system,
                rows,
                values,
                epsilon,
                mass_tolerance=mass_tolerance,
                max_epochs=max_epochs,
                cancelled=cancelled,
            )
        return push_or_solve(
            system,
            rows,
            values,
            epsilon,
            mass_tolerance=mass_tolerance,
            max_operations=max_operations,
            cancelled=cancelled,
        )

    if mass_tolerance is None or max_epochs is not None:
        if guess is None:
            return push(sources, masses)
        return _push_rest(system, dense_vector(graph, sources, masses), guess, push, mass_tolerance)
    walked = NOTHING_WALKED
    if not (keep_ties or pull or guess is not None or cover(graph, sources)):
        walked = push(sources, masses, edges_before_pulling(system, mass_tolerance))
        if walked.converged:
            return walked
        guess = dense_vector(graph, walked.nodes, walked.estimate)
    source = dense_vector(graph, sources, masses)
    logger.debug(
        "pulled a vector of %d nodes instead of pushing it: it covers the graph; %d edges were walked before",
        len(graph),
        walked.operations,
    )
    found = solve_everywhere(
        system, source, mass_tolerance, guess=guess, keep_ties=keep_ties, n_jobs=n_jobs, cancelled=cancelled
    )
    if found.mass > mass_tolerance and not found.exact:
        logger.info("pushed a vector after all: rounding errors kept pulled rows above the tolerance")
        result = push(sources, masses)
        return replace(result, operations=walked.operations + found.operations + result.operations)
    passes = -(-found.operations // max(graph.n_entries, 1))
    return PushResult(
        np.arange(len(graph), dtype=np.int32),
        found.estimate,
        found.residual,
        walked.operations + found.operations,
        walked.pushes + passes * len(graph),
        walked.epochs + passes,
        decay=0.0,
        converged=True,
        pulled=True,
    )


def cover(graph: RowGraph, sources: NDArray[np.integer]) -> bool:
    """Whether so many nodes are sources that nothing is local."""
    return len(sources) >= COVERING_FRACTION * graph.number_of_nodes()


def edges_before_pulling(system: LinearSystem, mass_tolerance: float) -> int | None:
    """How many edges a push may walk before rows pull; None if they never should."""
    if not system.graph.is_directed() and chebyshev_steps(system.radius, min(mass_tolerance, 1.0)) < MIN_STEPS:
        return None
    return int(COVERING_EDGES * system.graph.n_entries)


def _push_rest(
    system: LinearSystem,
    source: NDArray[np.float64],
    guess: NDArray[np.float64],
    push: Callable[[NDArray[np.integer], NDArray[np.float64]], PushResult],
    mass_tolerance: float | None,
) -> PushResult:
    """Push what the guess lacks; again if rounding errors of many pushes have added up to more than the tolerance."""
    nodes, estimate = np.arange(len(guess), dtype=np.int32), guess.copy()

    def left() -> NDArray[np.float64]:
        residual = source.copy()
        substitute(system.view, nodes, estimate, np.zeros_like(estimate), residual)
        return residual

    residual = left()
    for _ in range(MAX_IMPROVEMENTS):
        result = push(nodes, residual)
        estimate[result.nodes] += result.estimate
        residual = left()
        if not result.converged or mass_tolerance is None or np.abs(residual).sum() <= mass_tolerance:
            break
    return replace(result, nodes=nodes, estimate=estimate, residual=residual)
