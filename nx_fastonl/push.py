"""One local push on a CSRGraph: scratch memory, budgets and tolerances around the compiled loop."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nx_fastonl import _push
from nx_fastonl.graph import NO_WEIGHTS, CSRGraph

CELL = np.dtype([("residual", np.float64), ("limit", np.float64)])
NEVER_CANCELLED = np.zeros(1, dtype=np.uint8)
NO_LIMIT = np.iinfo(np.int64).max

# The textbook's over-relaxation suits spectra that reach as far below zero as above. Real graphs' do not, and want
# more: a tenth of the way to 2 saved a sixth to a quarter of the sweeps, for dampings from 0.7 to 0.99 on three graphs.
BEYOND_TEXTBOOK = 0.1
# Mass gathers under an epsilon this many times the one asked for before it is pushed on.
FIRST_ROUND = 64.0
# By how much epsilon falls while a residual mass is asked for.
GENTLEST_STEP, STEEPEST_STEP = 0.5, 1 / 16
# Where more over-relaxation than this is due, mass settles so slowly that FIFO order does not pay.
SLOW_OMEGA = 1.6
# Below this, limits vanish among the smallest numbers there are.
SMALLEST_EPSILON = 1e-300


@dataclass(frozen=True, eq=False)
class System:
    """The linear system ``H z = b`` with ``H = diag(pivot) - W`` and ``pivot = shift + slope * diagonal``.

    The diagonal is the degrees unless one is given, together with the largest ``D / pivot``. Personalised PageRank has
    ``slope = 1 / (1 - alpha)``, the regularised Laplacian ``shift = alpha``.
    """

    shift: float
    slope: float
    diagonal: NDArray[np.float64] | None = None
    radius: float | None = None

    def arrays(self, graph: CSRGraph) -> tuple[Any, NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
        """The graph and the diagonal as the compiled loops take them."""
        weights = NO_WEIGHTS if graph.weights is None else graph.weights
        return graph.indptr, graph.indices, weights, self.diagonal_of(graph)

    def diagonal_of(self, graph: CSRGraph) -> NDArray[np.float64]:
        """The diagonal as the compiled loop takes it: nothing where it is the number of neighbours."""
        if self.diagonal is not None:
            return self.diagonal
        return NO_WEIGHTS if graph.weights is None else graph.degrees

    def pivots(self, degrees: NDArray[np.float64]) -> NDArray[np.float64]:
        """The diagonal as the compiled loop has it: an empty row gets 1."""
        pivots = self.shift + self.slope * degrees
        pivots[pivots == 0.0] = 1.0
        return pivots

    def settled_part(self, degree: float) -> float:
        """The part of its residual that a push at a node of this degree removes from the whole."""
        return (self.shift + (self.slope - 1.0) * degree) / (self.shift + self.slope * degree) if degree > 0.0 else 1.0

    def omega(self, graph: CSRGraph) -> float:
        """The over-relaxation for sweeps, from the spectral radius of the Jacobi iteration."""
        if graph.is_directed() or graph.largest_degree == 0.0:
            return 1.0  # over-relaxation need not converge on a system that is not symmetric
        radius = self.radius
        if radius is None:
            radius = graph.largest_degree / (self.shift + self.slope * graph.largest_degree)
        textbook = 2.0 / (1.0 + math.sqrt(1.0 - radius**2))
        return textbook + BEYOND_TEXTBOOK * (2.0 - textbook)


@dataclass(frozen=True)
class PushResult:
    """What a push left behind, over the touched nodes only: ``H @ estimate + residual == source``."""

    nodes: NDArray[np.int32]
    estimate: NDArray[np.float64]
    residual: NDArray[np.float64]
    operations: int
    pushes: int
    epochs: int
    decay: float
    converged: bool

    def pushed(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The nodes that were pushed, often far fewer than were touched, and their estimates."""
        where = np.flatnonzero(self.estimate)
        return self.nodes[where], self.estimate[where]

    @property
    def residual_mass(self) -> float:
        return float(np.abs(self.residual).sum())


class Workspace:
    """Arrays of the graph's length, all zero between two pushes. Memory is committed only where a push writes."""

    def __init__(self, n: int) -> None:
        self.cells = np.zeros(n, dtype=CELL)
        self.estimate = np.zeros(n)
        self.queue = np.zeros(n + 1, dtype=np.int32)
        self.touched = np.zeros(n + 1, dtype=np.int32)

    def arrays(self) -> tuple[NDArray[np.void], NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]:
        """The arrays as the compiled loops take them."""
        return self.cells, self.estimate, self.queue, self.touched


def take_workspace(graph: CSRGraph) -> Workspace:
    """An idle workspace of the graph. Give it back all zero, or not at all if an exception left it half-written."""
    try:
        workspace: Workspace = graph._idle_workspaces.pop()
    except IndexError:
        workspace = Workspace(len(graph))
    return workspace


def give_back(graph: CSRGraph, workspace: Workspace) -> None:
    graph._idle_workspaces.append(workspace)


def local_push(
    graph: CSRGraph,
    sources: Sequence[int] | NDArray[np.intp],
    masses: Sequence[float] | NDArray[np.float64],
    system: System,
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
    sweeps in place of the paper's queue; `measure` sums up the decay of the mass that the paper's local bound rests
    on. Setting ``cancelled[0]`` from another thread ends the push with KeyboardInterrupt.
    """
    omega = system.omega(graph) if adaptive else 0.0
    first_epsilon = FIRST_ROUND * epsilon if adaptive else epsilon
    max_operations = NO_LIMIT if max_operations is None else min(max_operations, NO_LIMIT)
    max_epochs = NO_LIMIT if max_epochs is None else min(max_epochs, NO_LIMIT)
    workspace = take_workspace(graph)
    cells, estimate, touched = workspace.cells, workspace.estimate, workspace.touched
    n_touched = len(sources)
    touched[:n_touched] = sources
    cells["residual"][sources] = masses

    operations = pushes = epochs = 0
    decay = 0.0
    while True:
        n_touched, operations_now, pushes_now, epochs, decay, converged = _push.push(
            *system.arrays(graph),
            *workspace.arrays(),
            n_touched,
            first_epsilon=first_epsilon,
            epsilon=epsilon,
            shift=system.shift,
            slope=system.slope,
            omega=omega,
            target=mass_tolerance or 0.0,
            epochs=epochs,
            max_operations=max_operations - operations,
            max_epochs=max_epochs,
            measure=measure,
            cancelled=cancelled,
        )
        operations += operations_now
        pushes += pushes_now
        if mass_tolerance is None or not converged:
            break
        mass = float(np.abs(cells["residual"][touched[:n_touched]]).sum())
        converged = mass <= mass_tolerance
        if converged or epsilon < SMALLEST_EPSILON:
            break
        first_epsilon = epsilon
        epsilon *= min(GENTLEST_STEP, max(STEEPEST_STEP, mass_tolerance / mass))

    nodes, estimates, residuals = _push.drain(cells, estimate, touched, n_touched)
    give_back(graph, workspace)
    return PushResult(nodes, estimates, residuals, operations, pushes, epochs, decay, converged)


def fifo_column(
    graph: CSRGraph, u: int, system: System, epsilon: float
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
    """The nodes, estimate and residual of `local_push` from node u, not adaptive; sooner."""
    workspace = take_workspace(graph)
    found = _push.column(
        *system.arrays(graph), *workspace.arrays(), u, epsilon=epsilon, shift=system.shift, slope=system.slope
    )
    give_back(graph, workspace)
    return found


def diagonal_entries(
    graph: CSRGraph, rows: NDArray[np.int32], system: System, epsilons: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Entries of the diagonal of inv(H), and the mass that the pushes for them left over.

    With ``H z + r = e_u`` from a push, an entry is ``z[u] + r z + r r / pivot`` but for a term of second order in r,
    which is not negative where r is not.
    """
    entries, masses = np.empty(len(rows)), np.empty(len(rows))
    if system.omega(graph) > SLOW_OMEGA:
        for i, u in enumerate(rows.tolist()):
            result = local_push(graph, [u], [1.0], system, float(epsilons[i]))
            z, r = result.estimate, result.residual
            diagonal = graph.degrees if system.diagonal is None else system.diagonal
            pivots = system.pivots(diagonal[result.nodes])
            entries[i], masses[i] = z[result.nodes == u][0] + r @ (z + r / pivots), r.sum()
        return entries, masses
    workspace = take_workspace(graph)
    arrays = (*system.arrays(graph), *workspace.arrays())
    _push.diagonal(*arrays, rows, epsilons, entries, masses, shift=system.shift, slope=system.slope)
    give_back(graph, workspace)
    return entries, masses
