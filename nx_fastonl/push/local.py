"""One local push: budgets and tolerances around the compiled loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nx_fastonl.push import _push
from nx_fastonl.push._workspace import Workspace
from nx_fastonl.push.elimination import LEAST_EDGES, Solution
from nx_fastonl.push.system import LinearSystem

NEVER_CANCELLED = np.zeros(1, dtype=np.uint8)
UNLIMITED = np.iinfo(np.int64).max

# An adaptive push begins with its epsilon times this, so that mass gathers before it is pushed on.
FIRST_EPSILON_FACTOR = 64.0


@dataclass(frozen=True)
class PushResult:
    """The result of a push, over the touched nodes only: ``H @ estimate + residual == source``."""

    nodes: NDArray[np.int32]
    estimate: NDArray[np.float64]
    residual: NDArray[np.float64]
    operations: int
    pushes: int
    epochs: int
    decay: float
    converged: bool
    pulled: bool = False  # all rows at once

    def pushed(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The nodes that were pushed, often many fewer than were touched, and their estimates."""
        where = np.flatnonzero(self.estimate)
        return (
            (self.nodes, self.estimate) if len(where) == len(self.nodes) else (self.nodes[where], self.estimate[where])
        )

    @classmethod
    def exact(cls, found: Solution, walked: PushResult | None = None) -> PushResult:
        """An exact solution up to rounding, after this push."""
        operations, pushes, epochs = (0, 0, 0) if walked is None else (walked.operations, walked.pushes, walked.epochs)
        return cls(*found, operations, pushes, epochs, decay=0.0, converged=True)

    @property
    def residual_mass(self) -> float:
        return float(np.abs(self.residual).sum())


def local_push(
    system: LinearSystem,
    sources: Sequence[int] | NDArray[np.integer],
    masses: Sequence[float] | NDArray[np.float64],
    epsilon: float,
    *,
    adaptive: bool = True,
    mass_tolerance: float | None = None,
    max_operations: int | None = None,
    max_epochs: int | None = None,
    measure: bool = False,
    cancelled: NDArray[np.uint8] = NEVER_CANCELLED,
) -> PushResult:
    """Push from distinct `sources` until no residual reaches `epsilon` per neighbour.

    With `mass_tolerance`, epsilon then falls until the residual mass is at most that. `adaptive` allows rounds and
    sweeps in place of the paper's queue; `measure` sums up the decay of the mass per epoch, which the paper's local
    bound needs. Setting ``cancelled[0]`` from another thread ends the push with KeyboardInterrupt.
    """
    effort = _push.Effort(
        UNLIMITED if max_operations is None else min(max_operations, UNLIMITED),
        UNLIMITED if max_epochs is None else min(max_epochs, UNLIMITED),
        cancelled,
    )
    with system.graph.scratch(Workspace) as workspace:
        workspace.start(sources, masses)
        converged = push_on(system, workspace, effort, epsilon, mass_tolerance, adaptive=adaptive, measure=measure)
        nodes, estimate, residual = workspace.drain()
    work = (effort.operations, effort.pushes, effort.epochs, effort.decay)
    return PushResult(nodes, estimate, residual, *work, converged)


def push_on(
    system: LinearSystem,
    workspace: Workspace,
    effort: _push.Effort,
    epsilon: float,
    mass_tolerance: float | None = None,
    *,
    adaptive: bool = True,
    measure: bool = False,
) -> bool:
    """Push what is in a workspace, as `local_push` does; return whether it converged within the effort."""
    return _push.push(
        system.view,
        workspace,
        effort,
        first_epsilon=FIRST_EPSILON_FACTOR * epsilon if adaptive else epsilon,
        epsilon=epsilon,
        omega=system.omega if adaptive else 0.0,
        target=mass_tolerance or 0.0,
        measure=measure,
    )


def push_or_solve(
    system: LinearSystem,
    sources: Sequence[int] | NDArray[np.integer],
    masses: Sequence[float] | NDArray[np.float64],
    epsilon: float,
    *,
    mass_tolerance: float | None = None,
    max_operations: int | None = None,
    cancelled: NDArray[np.uint8] = NEVER_CANCELLED,
) -> PushResult:
    """`local_push`; the exact solution where that is cheaper, because few nodes can be reached from the sources.

    What the exact solution leaves is rounding, which may be more than `mass_tolerance`.
    """

    def push(budget: int | None) -> PushResult:
        most = min(UNLIMITED if number is None else number for number in (budget, max_operations))
        return local_push(
            system, sources, masses, epsilon, mass_tolerance=mass_tolerance, max_operations=most, cancelled=cancelled
        )

    if not system.settles_slowly:
        return push(None)
    elimination, rows = system.elimination, np.asarray(sources, dtype=np.int32)
    walked = None
    if elimination.known(rows) is None:
        walked = push(LEAST_EDGES)
        if not walked.converged:
            walked = push(elimination.cost(rows))
        if walked.converged or (max_operations is not None and walked.operations >= max_operations):
            return walked
    found = elimination.solve(rows, np.asarray(masses, dtype=np.float64))
    return push(None) if found is None else PushResult.exact(found, walked)


def fifo_column(
    system: LinearSystem, u: int, epsilon: float
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
    """The nodes, estimate and residual of `local_push` from node u, not adaptive; faster. Node u is the first.

    What takes longer than `edges_of_column` is solved exactly where few nodes can be reached.
    """
    with system.graph.scratch(Workspace) as workspace:
        return _push.column(system.view, workspace, u, epsilon, edges_of_column(system), system.elimination.column)


def edges_of_column(system: LinearSystem) -> int:
    """How many edges a push for one of many columns may walk before it is solved exactly, if few nodes can be reached.

    Columns share the inverse. It is not counted whether it is there already: no column depends on the others.
    """
    return LEAST_EDGES if system.settles_slowly else UNLIMITED


def diagonal_entries(
    system: LinearSystem, rows: NDArray[np.int32], epsilons: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Entries of the diagonal of inv(H), and the residual mass of the push for each.

    With ``H z + r = e_u`` from a push, an entry is ``z[u] + r z + r r / pivot`` up to a term of second order in r,
    which is not negative where r is not.
    """
    entries, masses = np.empty(len(rows)), np.empty(len(rows))
    if system.settles_slowly:
        for i, u in enumerate(rows.tolist()):
            result = push_or_solve(system, [u], [1.0], float(epsilons[i]))
            z, r = result.estimate, result.residual
            entries[i] = z[result.nodes == u][0] + r @ (z + r / system.pivots(result.nodes))
            masses[i] = r.sum()
        return entries, masses
    with system.graph.scratch(Workspace) as workspace:
        _push.diagonal(system.view, workspace, rows, epsilons, entries, masses)
    return entries, masses
