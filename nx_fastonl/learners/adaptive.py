"""The adaptive learner: cheap experts and a diffusion, mixed by weights that are learned along the stream."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.arrays import check_restored
from nx_fastonl.kernels.graph_kernel import GraphKernel
from nx_fastonl.learners import _adaptive, _stream
from nx_fastonl.learners._history import LabelHistory
from nx_fastonl.learners._mixture import Mixture
from nx_fastonl.learners._neighbors import NeighborCounts
from nx_fastonl.learners.base import Learner
from nx_fastonl.learners.diffusion import Diffusion
from nx_fastonl.push._workspace import Workspace

__all__ = ["NEIGHBOR_EXPERTS", "AdaptiveLearner"]

# The experts that need no diffusion.
NEIGHBOR_EXPERTS = ("vote", "compatibility", "profile", "degree", "frequency")
# Walks end at a learned node with probability 1/2. So labels spread as far as to the next learned nodes.
ABSORPTION = 1.0
# How slowly the weights move at the start: as if this many labels had agreed with them.
PRECISION = 10.0


class AdaptiveLearner(Learner):
    """Several experts, each with an opinion on every label, and a mixture of them that follows the log loss.

    Parameters
    ----------
    kernels : dict
        ``{name: GraphKernel}`` of the diffusions. Each gives two experts: its votes, and the same centred.
    history : LabelHistory
    epsilon : float
        The paper's epsilon: see `Diffusion`.
    experts : sequence of str
        Those of `NEIGHBOR_EXPERTS` that are asked.
    half_life : float
        After this many arrivals, losses and counts matter half as much; infinite if nothing is forgotten.
    dtype : numpy.dtype
        Of the diffusions' numbers.

    Attributes
    ----------
    names : tuple of str
        Of the experts, in the order of the mixture's weights.
    diffusions : list of Diffusion
    counts : NeighborCounts
    mixture : Mixture
    """

    calibrated = True

    def __init__(
        self,
        kernels: dict[str, GraphKernel],
        history: LabelHistory,
        *,
        epsilon: float,
        experts: Sequence[str],
        half_life: float,
        dtype: np.dtype[Any],
    ) -> None:
        self.history = history
        self._kernels = kernels
        self._settings: dict[str, Any] = {
            "epsilon": epsilon,
            "experts": tuple(experts),
            "half_life": half_life,
            "dtype": dtype,
        }
        self.graph = next(iter(kernels.values())).graph
        self.names = (*(name + kind for name in kernels for kind in ("", " centred")), *experts)
        self._places = tuple(self.names.index(name) if name in experts else -1 for name in NEIGHBOR_EXPERTS)
        self.diffusions = [Diffusion(k, epsilon, dtype, absorption=ABSORPTION) for k in kernels.values()]
        self._label_mass = [np.zeros(1) for _ in kernels]
        self.counts = NeighborCounts(len(self.graph), self.graph.mean_weight, half_life)
        start = np.zeros(len(self.names))
        start[0] = 1.0
        self.mixture = Mixture(start, PRECISION, half_life)
        self.lock = threading.RLock()  # held while anything changes or is read
        self.reserve_labels(history.k)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        history, counts, diffusions = state["history"], state["counts"], state["diffusions"]
        check_restored(history.k <= counts.lanes and state["mixture"].n_experts == len(state["names"]), "experts")
        check_restored(len(counts.learned_neighbors) == history.n, "experts")
        masses = [np.array(mass, dtype=np.float64) for mass in state["_label_mass"]]
        check_restored(len(masses) == len(diffusions) and all(len(mass) >= history.k for mass in masses), "experts")
        check_restored(all(diffusion.store.lanes >= history.k for diffusion in diffusions), "experts")
        self.__dict__.update(state, _label_mass=masses, lock=threading.RLock())

    def blank(self, history: LabelHistory) -> AdaptiveLearner:
        return AdaptiveLearner(self._kernels, history, **self._settings)

    def reserve_labels(self, k: int) -> None:
        with self.lock:
            super().reserve_labels(k)
            self.counts.reserve_labels(k)
            for i, diffusion in enumerate(self.diffusions):
                diffusion.store.reserve_labels(k)
                mass = self._label_mass[i]
                if len(mass) < k:
                    self._label_mass[i] = np.concatenate([mass, np.zeros(max(k, 2 * len(mass)) - len(mass))])

    @contextmanager
    def _engine(self) -> Iterator[_adaptive.AdaptiveEngine]:
        """The learner at work, with nothing left undone by an interrupt, while the lock is held."""
        with self.graph.scratch(Workspace) as workspace, self.lock:
            expert: _adaptive.DiffusionExpert | None = None
            for diffusion, mass in zip(reversed(self.diffusions), reversed(self._label_mass), strict=True):
                diffusion.settle()
                kernel = diffusion.kernel
                run = diffusion.run(workspace)
                expert = _adaptive.DiffusionExpert(
                    run, kernel.system.view, kernel.scaling, diffusion.absorption, mass, expert
                )
            yield _adaptive.AdaptiveEngine(
                self.history, self.graph.view, self.counts, self.mixture, expert, self._places
            )

    def learn(self, u: int, y: int) -> None:
        with self._engine() as engine:
            engine.features_of(u)
            _stream.learn(engine, u, y)

    def learn_many(self, rows: NDArray[np.int32], labels: NDArray[np.int32]) -> None:
        """Learn in the order given, as a stream does. If this is interrupted, what was learned is taken back."""
        with self._engine() as engine:
            before, mixture, k = self.history.n_learned, self.mixture.copy(), self.k
            try:
                _stream.run(engine, rows, labels, np.empty(0), np.empty(len(rows), dtype=np.int32))
            except BaseException:
                _adaptive.take_back(engine, rows[: self.history.n_learned - before], mixture, k)
                raise

    def forget(self, u: int) -> None:
        with self._engine() as engine:
            _stream.forget(engine, u)

    def run(self, rows: NDArray[np.int32], labels: NDArray[np.int32], draws: NDArray[np.float64]) -> NDArray[np.int32]:
        predicted = np.empty(len(rows), dtype=np.int32)
        with self._engine() as engine:
            self.mixture.reserve(len(rows))
            _stream.run(engine, rows, labels, draws, predicted)
        return predicted

    def best(self, u: int) -> int | None:
        found = int(self.best_of_each(np.array([u], dtype=np.int32))[0])
        return None if found < 0 else found

    def best_of_each(self, rows: NDArray[np.int32]) -> NDArray[np.int32]:
        return self._forecasts(rows, 0)[1]

    def draw(self, u: int, number: float) -> int | None:
        below = np.cumsum(self.probabilities(u))
        return (
            int(np.searchsorted(below, number * below[-1], side="right").clip(max=len(below) - 1))
            if len(below)
            else None
        )

    def probabilities(self, u: int) -> NDArray[np.float64]:
        return self._forecasts(np.array([u], dtype=np.int32), self.k)[0][0]

    def probabilities_of_each(self, rows: NDArray[np.int32], k: int) -> NDArray[np.float64]:
        return self._forecasts(rows, k)[0]

    def _forecasts(self, rows: NDArray[np.int32], k: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        probabilities, labels = np.zeros((len(rows), k)), np.empty(len(rows), dtype=np.int32)
        with self._engine() as engine:
            engine.forecasts(rows, probabilities, labels)
        return probabilities, labels

    def weights(self) -> dict[str, float]:
        """How much each expert counts now."""
        return dict(zip(self.names, self.mixture.expert_weights.tolist(), strict=True))
