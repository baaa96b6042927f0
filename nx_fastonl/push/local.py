"""One local push: budgets and tolerances around the compiled loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nx_fastonl.push import _push
from nx_fastonl.push._workspace import Workspace
from nx_fastonl.push.elimination import LEAST_EDGES, Factor
from nx_fastonl.push.system import LinearSystem

NEVER_CANCELLED = np.zeros(1, dtype=np.uint8)
UNLIMITED = np.iinfo(np.int64).max

# An adaptive push begins with its epsilon times this, so that mass gathers before it is pushed on.
FIRST_EPSILON_FACTOR = 64.0
# Above this over-relaxation, mass settles so slowly that FIFO order takes longer than an adaptive push.
SLOW_OMEGA = 1.6


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
    def exact(
        cls, factor: Factor, u: int, operations: int = 0, pushes: int = 0, epochs: int = 0, decay: float = 0.0
    ) -> PushResult:
        """The exact solution for mass 1 from node u, after this much work. No residual is left beyond rounding."""
        estimate = factor.column(u)
        return cls(factor.rows, estimate, np.zeros(len(estimate)), operations, pushes, epochs, decay, converged=True)

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
    system: LinearSystem, u: int, epsilon: float, cancelled: NDArray[np.uint8] = NEVER_CANCELLED
) -> PushResult:
    """`local_push` of mass 1 from node u; on a small component the exact solution, where that is cheaper."""
    push = partial(local_push, system, [u], [1.0], epsilon, cancelled=cancelled)
    if system.omega <= SLOW_OMEGA:
        return push()
    elimination = system.elimination
    factor = elimination.known(u)
    result = push(max_operations=0 if factor else LEAST_EDGES)
    if result.converged:
        return result
    if factor is None:
        rows = elimination.component(u)
        result = push(max_operations=None if rows is None else elimination.patience(rows))
        if rows is None or result.converged:
            return result
        factor = elimination.factorise(rows, system.pivots(rows))
        if factor is None:
            return push()
    return PushResult.exact(factor, u, result.operations, result.pushes, result.epochs, result.decay)


def fifo_column(
    system: LinearSystem, u: int, epsilon: float
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
    """The nodes, estimate and residual of `local_push` from node u, not adaptive; faster."""
    with system.graph.scratch(Workspace) as workspace:
        return _push.column(system.view, workspace, u, epsilon)


def diagonal_entries(
    system: LinearSystem, rows: NDArray[np.int32], epsilons: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Entries of the diagonal of inv(H), and the residual mass of the push for each.

    With ``H z + r = e_u`` from a push, an entry is ``z[u] + r z + r r / pivot`` up to a term of second order in r,
    which is not negative where r is not.
    """
    entries, masses = np.empty(len(rows)), np.empty(len(rows))
    if system.omega > SLOW_OMEGA:
        for i, u in enumerate(rows.tolist()):
            result = push_or_solve(system, u, float(epsilons[i]))
            z, r = result.estimate, result.residual
            entries[i] = z[result.nodes == u][0] + r @ (z + r / system.pivots(result.nodes))
            masses[i] = r.sum()
        return entries, masses
    with system.graph.scratch(Workspace) as workspace:
        _push.diagonal(system.view, workspace, rows, epsilons, entries, masses)
    return entries, masses
