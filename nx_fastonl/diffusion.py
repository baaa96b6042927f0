"""One diffusion for all labels: what every label learned has spread over the graph so far, kept at rest."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nx_fastonl import _diffusion, _relaxation
from nx_fastonl._arrays import enlarged
from nx_fastonl.kernels import GraphKernel
from nx_fastonl.push import SMALLEST_EPSILON, give_back, take_workspace

__all__ = ["Diffusion", "Sources"]

PLACE = np.dtype([("row", np.int32), ("neighbours", np.float32)])
# Lanes of a block: in double precision, a line of the cache.
MOST_LANES = 8
FEWEST_LANES = 2
FEWEST_ROWS = 4096
# Of one operation in double precision.
ROUNDING = float(np.finfo(np.float64).eps)


class Sources(NamedTuple):
    """Masses that one label gets at distinct nodes."""

    label: int
    nodes: NDArray[np.int32]
    masses: NDArray[np.float64]


class _Extremes(NamedTuple):
    """The largest values over all nodes."""

    neighbours_per_c: float
    pivot_per_c: float
    s_per_c: float


class Diffusion:
    """The estimates Z and residuals R of ``H Z + R = B``, a column for each label, for sources B that are added to.

    At rest, ``|R[u]| < theta * neighbours[u]`` in every lane, with ``theta = rate * mass``, where `mass` sums up the
    largest magnitude that each node got.

    Parameters
    ----------
    kernel : GraphKernel
        The system H.
    epsilon : float
        The paper's: what may rest at a node per neighbour and unit of mass.
    dtype : numpy.dtype
        Of Z and R: double or single precision.

    Attributes
    ----------
    mass : float
        The sum over nodes of the largest magnitude of their sources.
    tally : numpy.ndarray
        The rows of Z and R in use, and how often masses were added and nodes pushed, ever.
    lock : threading.RLock
        Held while anything changes or is read.
    """

    def __init__(self, kernel: GraphKernel, epsilon: float, dtype: np.dtype[Any]) -> None:
        self.kernel = kernel
        self.rate = kernel.limit(epsilon)
        self.mass = 0.0
        self.k = 0
        self.places = np.zeros((len(kernel.graph), 1), dtype=PLACE)
        self.residuals = np.zeros((FEWEST_ROWS, FEWEST_LANES), dtype=dtype)
        self.estimates = np.zeros((FEWEST_ROWS, FEWEST_LANES), dtype=dtype)
        self.owners = np.zeros(FEWEST_ROWS, dtype=np.int64)  # the place of each row
        self.tally = np.array([1, 0, 0], dtype=np.int64)  # row 0 is nobody's
        self._largest_theta = 0.0
        # Lanes in which an interrupted push left nodes active.
        self._restless: set[int] = set()
        self.lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, lock=threading.RLock())

    @property
    def n_rows(self) -> int:
        """The rows of Z and R in use."""
        return int(self.tally[0])

    @property
    def roundings(self) -> int:
        """How many operations may each have added a rounding error to a residual: additions and pushes."""
        return int(self.tally[1] + self.tally[2])

    @property
    def width(self) -> int:
        """The lanes of a block."""
        return int(self.residuals.shape[1])

    @property
    def theta(self) -> float:
        """What may rest at a node per neighbour: never 0, which nothing would ever be below."""
        return max(self.rate * self.mass, SMALLEST_EPSILON)

    @property
    def largest_theta(self) -> float:
        """The largest `theta` that there was: what may have come to rest under it."""
        return max(self._largest_theta, self.theta)

    def add_label(self) -> None:
        """Add a lane: in the first block while that can grow, then in blocks of their own."""
        with self.lock:
            n, blocks = self.places.shape
            used = self.n_rows
            if self.k == blocks * self.width and self.width < MOST_LANES:
                self.residuals, self.estimates = (
                    enlarged(array, len(array), 2 * self.k, used=used) for array in (self.residuals, self.estimates)
                )
            elif self.k == blocks * self.width:
                places, owners = np.zeros((n, blocks + 1), dtype=PLACE), self.owners.copy()
                node, block = np.divmod(owners[1:used], blocks)
                places[node, block] = self.places[node, block]
                owners[1:used] = node * (blocks + 1) + block
                self.places, self.owners = places, owners
            self.k += 1

    def drop_label(self) -> None:
        """Take the last lane back, which has no sources; what is still on the way there is left to the next."""
        self.k -= 1

    def look(self, rows: NDArray[np.int32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Rows of ``inv(H) B``, and diagonal entries of ``inv(H)``, from what a push reaches."""
        kernel = self.kernel
        workspace = take_workspace(kernel.graph)
        with self.lock:
            scores = np.empty((len(rows), self.places.shape[1] * self.width))
            diagonals = np.empty(len(rows))
            _diffusion.look(
                *kernel.system.arrays(kernel.graph),
                *workspace.arrays(),
                self.places,
                self.residuals,
                self.estimates,
                rows,
                scores,
                diagonals,
                epsilon=self._sight(),
                shift=kernel.system.shift,
                slope=kernel.system.slope,
            )
        give_back(kernel.graph, workspace)
        return scores, diagonals

    def sight(self, u: int) -> float:
        """The residual per neighbour down to which node u looks around: small enough for it to be pushed."""
        indptr = self.kernel.graph.indptr
        return min(self._sight(), 1.0 / max(int(indptr[u + 1] - indptr[u]), 1))

    def _sight(self) -> float:
        return _diffusion.sight(len(self.kernel.graph), self.tally)

    def read(
        self, u: int, nodes: NDArray[np.int32], estimate: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], float]:
        """Row u of ``inv(H) B``, as `look` has it, by a push ``H z + r = e_u``; and how far any entry can be off.

        Pushing every node touched once more gives values ``z + r / pivot`` and leaves at most a mass of
        ``|r| D / pivot``. The row is ``Z[u] + values R``, but for what that mass reads of ``inv(H) R``; since
        ``H 1 = c``, no entry of ``inv(H) R`` is larger than ``max(|R| / c)``.
        """
        kernel = self.kernel
        c, degrees = kernel.c(nodes), kernel.graph.degrees[nodes]
        residual, residual_rounding = kernel.residual(u, nodes, estimate)
        values = estimate + residual / (c + degrees)
        left = float((np.abs(residual) * degrees / (c + degrees) + residual_rounding).sum())
        with self.lock:
            places = self.places["row"]
            own = self.estimates[places[u]].astype(np.float64)  # block, lane
            found = own + [values @ self.residuals[places[nodes, block]] for block in range(places.shape[1])]
            resting, drift = self.largest_theta * self._extremes.neighbours_per_c, self._drift()
        read = float(np.abs(values) @ c)  # values R is at most this times max(|R| / c)
        rounding = ROUNDING * (len(nodes) + 4) * (float(np.abs(own).max()) + read * (resting + drift))
        return found.ravel(), left * (resting + drift) + read * drift + rounding

    def rest(self) -> None:
        """Finish what an interrupted push left undone."""
        with self.lock:
            self._settle_restless()

    def _drift(self) -> float:
        """How far R can be from ``B - H Z``, in units of c, by rounding.

        A push rounds Z, and R once at each end of an edge; adding a mass rounds R. With Z at most ``max(s / c)`` and
        what rests, each error is a few roundings of ``(c + D) Z``.
        """
        largest = self._extremes.s_per_c + self.largest_theta * self._extremes.neighbours_per_c
        unit = float(np.finfo(self.residuals.dtype).eps)
        return 8.0 * unit * self.roundings * self._extremes.pivot_per_c * largest

    @cached_property
    def _extremes(self) -> _Extremes:
        kernel = self.kernel
        rows = np.arange(len(kernel.graph))
        c = kernel.c(rows)
        return _Extremes(
            neighbours_per_c=float((np.diff(kernel.graph.indptr) / c).max()),
            pivot_per_c=float(1.0 + (kernel.graph.degrees / c).max()),
            s_per_c=float((kernel.s(rows) / c).max()),
        )

    def add(self, sources: Sequence[Sources], mass: float) -> None:
        """Add sources to B, and `mass` to the mass; push until all is at rest. Interrupted, it takes all back."""
        with self.lock:
            self._settle_restless()
            before = self.mass
            moving = [source._replace(masses=source.masses.copy()) for source in sources]
            try:
                self.mass += mass
                for source in moving:
                    self._settle(source, self.theta)
            except BaseException:
                self._largest_theta = self.largest_theta
                moved = [a._replace(masses=a.masses - b.masses) for a, b in zip(sources, moving, strict=True)]
                self._subtract(moved, self.mass - before)
                raise
            self._largest_theta = self.largest_theta

    def take_back(self, sources: Sequence[Sources], mass: float) -> None:
        """Undo `add`, at once: what has to be pushed for that is pushed before more is added."""
        with self.lock:
            self._subtract(sources, mass)

    def _subtract(self, sources: Sequence[Sources], mass: float) -> None:
        self.mass -= mass
        for label, nodes, masses in sources:
            block, lane = divmod(label, self.width)
            # A node without a row got nothing, and row 0 loses nothing.
            self.residuals[self.places["row"][nodes, block], lane] -= masses
            self._restless.add(label)

    def run(
        self,
        learner_arrays: tuple[Any, ...],
        *,
        a: float,
        constant: float,
        k: int,
        n_gradients: int,
        n_learned: int,
    ) -> tuple[_relaxation.Totals, int]:
        """The compiled loop over a stream, on this diffusion; see `_diffusion.run`."""
        kernel = self.kernel
        workspace = take_workspace(kernel.graph)
        with self.lock:
            self._settle_restless()
            totals, n_gradients, self.mass = _diffusion.run(
                *kernel.system.arrays(kernel.graph),
                *workspace.arrays(),
                self.places,
                self.residuals,
                self.estimates,
                self.owners,
                self.tally,
                self._grow,
                *learner_arrays,
                rate=self.rate,
                learned_mass=self.mass,
                shift=kernel.system.shift,
                slope=kernel.system.slope,
                a=a,
                constant=constant,
                k=k,
                n_gradients=n_gradients,
                n_learned=n_learned,
            )
            self._largest_theta = self.largest_theta
        give_back(kernel.graph, workspace)
        return totals, n_gradients

    def _settle(self, source: Sources, theta: float) -> None:
        """Move the masses to their nodes, and push until the lane is at rest."""
        lacking = self.n_rows + len(source.nodes) - len(self.residuals)
        if lacking > 0:
            self._grow(lacking)
        graph, system = self.kernel.graph, self.kernel.system
        workspace = take_workspace(graph)
        _diffusion.settle(
            *system.arrays(graph),
            workspace.queue,
            self.places,
            self.residuals,
            self.estimates,
            self.owners,
            self.tally,
            self._grow,
            source.nodes,
            source.masses,
            label=source.label,
            theta=theta,
            shift=system.shift,
            slope=system.slope,
        )
        give_back(graph, workspace)

    def _settle_restless(self) -> None:
        """Push on where an interrupted push stopped: all nodes of its lane are looked at once."""
        while self._restless:
            label = min(self._restless)
            block = label // self.width
            nodes, blocks = np.divmod(self.owners[1 : self.n_rows], self.places.shape[1])
            nodes = nodes[blocks == block].astype(np.int32)
            indptr = self.kernel.graph.indptr
            self.places["neighbours"][nodes, block] = indptr[nodes + 1] - indptr[nodes]
            self._settle(Sources(label, nodes, np.zeros(len(nodes))), self.largest_theta)
            self._restless.discard(label)

    def _grow(self, count: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]:
        """Add at least `count` rows, and as many as there are."""
        capacity, used = len(self.residuals), self.n_rows
        capacity += max(count, capacity)
        self.residuals, self.estimates, self.owners = (
            enlarged(array, capacity, *array.shape[1:], used=used)
            for array in (self.residuals, self.estimates, self.owners)
        )
        return self.residuals, self.estimates, self.owners
