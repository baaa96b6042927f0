"""One diffusion for all labels: how far the labels learned so far have spread over the graph."""

from __future__ import annotations

import math
from functools import cached_property
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib._sharing import ThreadLock
from nx_fastonl._lib.arrays import check_parts, check_restored, restored_array, restored_number
from nx_fastonl._lib.log import log_rebuild
from nx_fastonl.graph.base import RowGraph
from nx_fastonl.kernels.graph_kernel import UNIT_ROUNDOFF, GraphKernel
from nx_fastonl.learners._diffusion import DiffusionRun, DiffusionStore
from nx_fastonl.learners._history import LabelHistory
from nx_fastonl.learners._relaxation import GradientStore
from nx_fastonl.learners.slow_lanes import SlowLanes
from nx_fastonl.push._workspace import Workspace
from nx_fastonl.push.system import LinearSystem

__all__ = ["Diffusion"]

# The epsilon of the push that reads a node's scores, where the epsilon of learning is the usual one, or larger. A
# smaller one asks for more accuracy: nodes are then read more finely too, as the root of it.
READ_EPSILON = 0.06
USUAL_EPSILON = 0.1  # divided by n
# Residuals are computed anew rather than repaired where more edges than this have changed, plus one for so many edges
# that are walked for it: about as many take as long as one repair.
LEAST_CHANGES, EDGES_PER_REPAIR = 1000, 8


# What is saved of a diffusion.
PARTS: dict[str, Any] = {"kernel": GraphKernel, "absorption": float, "pivots": np.ndarray, "store": DiffusionStore}


class _Extremes(NamedTuple):
    """The largest values over all nodes."""

    allowance_per_c: float
    pivot_per_c: float
    s_per_c: float


class Diffusion:
    """The estimates Z and residuals R of ``H Z + R = B``, a column for each label. Learning adds sources to B.

    When all is settled, ``|R[u]| < theta * allowance[u]`` in every lane, with ``theta = rate * mass``. `mass` is the
    sum over nodes of the largest magnitude of their sources. The allowance is the number of neighbours, and no less
    than `_least_allowance`.

    Parameters
    ----------
    kernel : GraphKernel
        The system H.
    epsilon : float
        The paper's epsilon: the residual that may stay at a node, per neighbour and unit of mass.
    dtype : numpy.dtype
        Of Z and R: double or single precision.
    absorption : float, default 0
        Walks end at a learned node with probability ``absorption / (1 + absorption)``: learning a node adds
        ``absorption * D`` to its c.

    Attributes
    ----------
    store : DiffusionStore
        Z and R, and what compiled loops count.
    lock : ThreadLock
        Held while anything changes or is read.
    """

    def __init__(self, kernel: GraphKernel, epsilon: float, dtype: np.dtype[Any], *, absorption: float = 0.0) -> None:
        self.kernel, self.absorption = kernel, absorption
        self.system, self.pivots = kernel.system, np.empty(0)
        if absorption > 0.0:
            self._own_pivots(kernel.system.pivots(np.arange(len(kernel.graph))))
        n, rate = len(kernel.graph), kernel.push_epsilon(epsilon)
        read_epsilon = READ_EPSILON * min(1.0, math.sqrt(epsilon * kernel.n / USUAL_EPSILON))
        allowance, single = _least_allowance(kernel), dtype == np.float32
        self.store = DiffusionStore(n, rate, allowance, read_epsilon, single, kernel.n, kernel.graph.position)
        self.store.when_slow = SlowLanes(self.system)
        self.lock = ThreadLock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in PARTS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        check_parts(state, "diffusion", PARTS)
        store, kernel, n = state["store"], state["kernel"], len(state["kernel"].graph)
        absorption = restored_number(state["absorption"], "diffusion", 0.0)
        pivots = restored_array(state["pivots"], "diffusion", np.float64, (n if absorption > 0.0 else 0,))
        check_restored(len(store.slot_indices) == n, "diffusion")
        self.__dict__.update(state, pivots=pivots, system=kernel.system, lock=ThreadLock())
        if absorption > 0.0:
            least = kernel.system.pivots(np.arange(n)) * (1.0 - 4.0 * UNIT_ROUNDOFF)
            check_restored(bool((pivots >= least).all()), "diffusion")
            self._own_pivots(pivots)
        store.when_slow = SlowLanes(self.system)
        self._check_magnitudes()

    def fits(self, graph: RowGraph, k: int) -> bool:
        """Whether it is on this graph, and has room for k labels."""
        return self.kernel.graph is graph and self.store.lanes >= k

    def _check_magnitudes(self) -> None:
        """Raise if a number is larger than any can be: a push takes the longer, the larger a residual is.

        Z is at most ``max(s / c)``, plus the largest settled residual over c, and R is at most ``s + 2 pivot Z``. Four
        times as much leaves room for pushes that were interrupted, and for rounding.
        """
        pivot = float(self.system.pivots(np.arange(len(self.kernel.graph))).max(initial=0.0))
        largest = 4.0 * (self._extremes.s_per_c + self.largest_theta * self._extremes.allowance_per_c)
        for numbers, most in ((self.store.estimates, largest), (self.store.residuals, (1.0 + 2.0 * pivot) * largest)):
            # Single precision cannot hold every bound.
            check_restored(bool((np.abs(numbers) <= np.float64(most)).all()), "diffusion")

    def copy(self) -> Diffusion:
        """The same with numbers of its own."""
        other = Diffusion.__new__(Diffusion)
        other.__dict__.update(self.__dict__, store=self.store.copy(), lock=ThreadLock())
        if len(self.pivots):
            other._own_pivots(self.pivots.copy())
        other.store.when_slow = SlowLanes(other.system)
        return other

    def _own_pivots(self, pivots: NDArray[np.float64]) -> None:
        """Take pivots that change as nodes are learned."""
        self.pivots = pivots
        self.system = LinearSystem(self.kernel.graph, 0.0, 1.0, pivots, self.kernel.system.radius)

    def follow(
        self, kernel: GraphKernel, epsilon: float, history: LabelHistory, gradients: GradientStore | None = None
    ) -> None:
        """Catch up with a graph that has changed, of which this is the kernel now.

        R is repaired, exactly up to rounding, for each edge that has changed: ``R -= (H' - H) Z`` and ``R += B' - B``.
        Where many have, or the log does not reach back so far, ``R = B - H Z`` is computed anew from the present Z.
        Then nodes are pushed whose residual has become too large. If this is interrupted, the next call goes on.

        Sources are what `gradients` have stored, which get the scaling that nodes have now; or, if they are None, a
        mass of 1 for each learned node.
        """
        graph, store = kernel.graph, self.store
        changes = self._changes()
        depends_on_n = kernel.follows_n and kernel.n != store.n_nodes
        n_before = len(store.slot_indices)
        store.add_rows(len(graph))
        store.rate = kernel.push_epsilon(epsilon)
        if kernel is not self.kernel:
            pivots, system = self.pivots, kernel.system
            if self.absorption > 0.0:
                if len(pivots) < len(graph):
                    pivots = np.concatenate([pivots, kernel.system.pivots(np.arange(len(pivots), len(graph)))])
                system = LinearSystem(graph, 0.0, 1.0, pivots, kernel.system.radius)
            # One call in C: whatever interrupts this, all of it is replaced or nothing.
            self.__dict__.update(kernel=kernel, system=system, pivots=pivots)
        store.when_slow = SlowLanes(self.system)
        self.system.__dict__.pop("elimination", None)  # it may know components as they were
        if changes is None or depends_on_n or len(changes) > self._changes_before_rebuild():
            began = perf_counter()
            self._rebuild(history, gradients)
            log_rebuild("a diffusion of labels", changes, began, "its kernel follows n" if depends_on_n else "")
            return
        if len(graph) > n_before:
            self._widen_extremes(np.arange(n_before, len(graph), dtype=np.int32))
        store.n_nodes = kernel.n
        if len(changes) == 0:
            return
        was_settled = not store.unsettled_lanes
        touched = np.unique(np.concatenate([changes["u"], changes["v"]]))
        self._widen_extremes(touched)
        threw_away = store.repair(
            self.system.view,
            kernel.system.view,
            self.pivots,
            self.absorption,
            history,
            gradients,
            kernel.scaling,
            changes,
            graph.loops,
            graph.position,
        )
        if was_settled and not threw_away:
            with graph.scratch(Workspace) as workspace:
                store.settle_around(self.system.view, workspace, touched)
        else:
            self.settle()

    def check_range(self, *kernels: GraphKernel) -> None:
        """Raise if the graph as it is now is out of the range of these kernels, in the precision of Z and R.

        Only nodes around which edges have changed are looked at, unless c depends on the number of nodes. In double
        precision, the kernels were checked when they were made.
        """
        if not self.store.single:
            return
        changes = self._changes()
        for kernel in kernels:
            if changes is None or (kernel.follows_n and kernel.n != self.store.n_nodes):
                kernel.check_single_precision()
            else:
                kernel.check_single_precision(np.concatenate([changes["u"], changes["v"]]))

    def _changes(self) -> NDArray[Any] | None:
        """What has changed in the graph since this last caught up with it; None if that is not known."""
        position: int = self.store.position
        return self.kernel.graph.changes_since(position) if position >= 0 else None

    def _changes_before_rebuild(self) -> float:
        graph, store = self.kernel.graph, self.store
        walked = store.n_slots * graph.n_entries / max(len(graph), 1)
        return LEAST_CHANGES + walked / EDGES_PER_REPAIR

    def _rebuild(self, history: LabelHistory, gradients: GradientStore | None) -> None:
        """Compute the residuals anew from the present estimates, then settle."""
        kernel, graph = self.kernel, self.kernel.graph
        if self.absorption > 0.0:
            self.pivots[:] = kernel.system.pivots(np.arange(len(graph)))
            self.absorb(history.learned()[0].astype(np.int32))
        if gradients is not None:
            gradients.rescale(kernel.scaling, graph.position)
        self.__dict__.pop("_extremes", None)
        self.store.recompute(self.system.view, history, gradients, graph.position)
        self.store.n_nodes = kernel.n
        self.settle()

    def c(self, rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """What H has beyond the Laplacian, at these rows."""
        c = self.kernel.c(rows)
        if len(self.pivots) == 0:
            return c
        more = self.pivots[rows] - self.kernel.system.pivots(rows)
        return np.where(more > 0.0, self.pivots[rows] - self.kernel.graph.degrees[rows], c)

    @property
    def roundings(self) -> int:
        """The number of operations that may each have added a rounding error to a residual: additions and pushes."""
        return self.store.n_additions + self.store.n_pushes

    @property
    def largest_theta(self) -> float:
        """The largest `theta` so far: every residual was settled under this or a smaller one."""
        return max(self.store.largest_theta, self.store.theta)

    def dense(self, k: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Z and R as dense matrices with a column for each of k labels: for tests."""
        slots = self.store.slot_indices
        both = (self.store.estimates, self.store.residuals)
        Z, R = (numbers[slots].reshape(len(slots), -1)[:, :k].astype(np.float64) for numbers in both)
        return Z, R

    def absorb(self, rows: NDArray[np.int32]) -> None:
        """Let these nodes absorb what comes from others, before anything has spread."""
        self.pivots[rows] = self.kernel.system.pivots(rows) + self.absorption * self.kernel.graph.degrees[rows]

    def take(self, first: int, estimates: NDArray[np.float64], residuals: NDArray[np.float64]) -> None:
        """Take Z and R, which were solved for, of the labels from `first` on."""
        neighbours = self.kernel.graph.neighbor_counts(slice(None))
        isolated = np.flatnonzero(neighbours == 0)  # there, one push is exact up to rounding
        estimates[isolated] += residuals[isolated] / self.system.pivots(isolated)[:, None]
        residuals[isolated] = 0.0
        self.store.fill(self.system.view, first, estimates, residuals)
        allowances = np.maximum(neighbours, max(self.store.least_allowance, 1.0))
        theta = float((np.abs(residuals).max(axis=1) / allowances).max(initial=0.0))
        self.store.accept(theta * (1.0 + UNIT_ROUNDOFF), int(neighbours.max(initial=0)))

    def spread(self, rows: NDArray[np.int32], labels: NDArray[np.int32]) -> None:
        """Let labels spread from these nodes by pushes, each with a mass of 1."""
        with self.lock:
            self.store.place(self.system.view, rows, labels)
            self.settle_at(rows, labels)

    def count(self, rows: NDArray[np.int32]) -> None:
        """Count these nodes, each with a mass of 1, as sources of what was taken."""
        self.store.count_sources(len(rows), float(len(rows)))

    def run(self, workspace: Workspace) -> DiffusionRun:
        """The diffusion at work, for compiled loops."""
        return DiffusionRun(self.system.view, self.store, workspace, self.pivots)

    def read(self, rows: NDArray[np.int32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Rows of ``inv(H) B``, and diagonal entries of ``inv(H)``, from what a push from each node reaches."""
        with self.kernel.graph.scratch(Workspace) as workspace, self.lock:
            found, diagonals = np.empty((len(rows), self.store.lanes)), np.empty(len(rows))
            self.store.read(self.system.view, workspace, rows, found, diagonals)
        return found, diagonals

    def read_epsilon(self, u: int) -> float:
        """The epsilon of the push by which node u is read: small enough for u itself to be pushed."""
        return min(self.store.read_epsilon(), 1.0 / max(int(self.kernel.graph.neighbor_counts(u)), 1))

    def read_with_bound(
        self, u: int, nodes: NDArray[np.int32], estimate: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], float]:
        """Row u of ``inv(H) B``, as `read` has it, by a push ``H z + r = e_u``; and a bound on its entries' error.

        Pushing every touched node once more gives values ``z + r / pivot`` and leaves at most a mass of
        ``|r| D / pivot``. The row is ``Z[u] + values R``, up to that mass times an entry of ``inv(H) R``.
        Since ``H 1 = c``, no such entry is larger than ``max(|R| / c)``.
        """
        with self.kernel.graph.scratch(Workspace) as workspace, self.lock:
            c = self.c(nodes)
            found = np.empty(self.store.lanes)
            view = self.system.view
            left, read = self.store.read_with_bound(view, workspace, u, nodes, estimate, c, found)
            own = float(np.abs(self.store.estimates[self.store.slot_indices[u]]).max())
            settled, drift = self.largest_theta * self._extremes.allowance_per_c, self._drift()
        # The sum of values R is at most `read` times max(|R| / c).
        rounding = UNIT_ROUNDOFF * (len(nodes) + 4) * (own + read * (settled + drift))
        return found, left * (settled + drift) + read * drift + rounding

    def _drift(self) -> float:
        """A bound on how much R differs from ``B - H Z`` by rounding, in units of c.

        A push rounds Z, and R once at each end of an edge; adding a mass rounds R. Z is at most ``max(s / c)``, plus
        the largest settled residual over c. So each error is a few roundings of ``(c + D) Z``.
        """
        largest = self._extremes.s_per_c + self.largest_theta * self._extremes.allowance_per_c
        unit = float(np.finfo(np.float32 if self.store.single else np.float64).eps)
        return 8.0 * unit * self.roundings * self._extremes.pivot_per_c * largest

    @cached_property
    def _extremes(self) -> _Extremes:
        return self._extremes_of(np.arange(len(self.kernel.graph), dtype=np.int32))

    def _extremes_of(self, rows: NDArray[np.int32]) -> _Extremes:
        kernel = self.kernel
        c, allowances = kernel.c(rows), np.maximum(kernel.graph.neighbor_counts(rows), self.store.least_allowance)
        s = np.ones(len(c)) if self.absorption > 0.0 else kernel.s(rows)
        return _Extremes(
            allowance_per_c=float((allowances / c).max(initial=0.0)),
            pivot_per_c=float(1.0 + (kernel.graph.degrees[rows] / c).max(initial=0.0)),
            s_per_c=float((s / c).max(initial=0.0)),
        )

    def _widen_extremes(self, rows: NDArray[np.int32]) -> None:
        """Let the largest values over all nodes be at least those of rows that have changed."""
        if "_extremes" in self.__dict__:
            self.__dict__["_extremes"] = _Extremes(*map(max, self._extremes, self._extremes_of(rows)))

    def settle(self) -> None:
        """Push until all is settled: what was added, and what interrupted pushes left undone."""
        with self.lock:
            for label in self.store.unsettled_lanes:
                with self.kernel.graph.scratch(Workspace) as workspace:
                    self.store.resettle(self.system.view, workspace, label)

    def settle_at(self, rows: NDArray[np.int32], labels: NDArray[np.int32]) -> None:
        """The same where masses were added to these nodes in the lanes of these labels, and all else is settled."""
        order = np.argsort(labels, kind="stable")
        present, starts = np.unique(labels[order], return_index=True)
        with self.lock:
            for label, nodes in zip(present.tolist(), np.split(rows[order], starts)[1:], strict=True):
                with self.kernel.graph.scratch(Workspace) as workspace:
                    self.store.settle(self.system.view, workspace, nodes, label, self.store.theta)


def _least_allowance(kernel: GraphKernel) -> float:
    """The residual that may stay at any node, in units of theta.

    The error of scores is bounded by the largest allowance over c. Where c is the same for all nodes, the hubs decide
    about it, and pushing other nodes more finely than hubs costs much and proves nothing. This allows every node about
    as much as the normalised Laplacian allows a node with an average number of neighbours.
    """
    if kernel.slowness == 0.0:
        return 0.0
    largest = float(kernel.graph.neighbor_counts(slice(None)).max(initial=0))
    return min(largest, kernel.graph.n_entries / kernel.n * kernel.slowness)
