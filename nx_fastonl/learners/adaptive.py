"""The adaptive learner: cheap experts and a diffusion, mixed by weights that are learned along the stream."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.arrays import check_restored
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.kernels.graph_kernel import GraphKernel
from nx_fastonl.learners import _adaptive, _relaxation, _stream
from nx_fastonl.learners._history import LabelHistory
from nx_fastonl.learners._mixture import Mixture
from nx_fastonl.learners._neighbors import NeighborCounts
from nx_fastonl.learners.base import Answers, Certificate, Learner, summing_to_one
from nx_fastonl.learners.diffusion import Diffusion
from nx_fastonl.learners.proof import BoundedRow, prove
from nx_fastonl.push._workspace import Workspace

__all__ = ["NEIGHBOR_EXPERTS", "AdaptiveLearner"]

# The experts that need no diffusion.
NEIGHBOR_EXPERTS = ("vote", "compatibility", "profile", "degree", "frequency")
# Features are right up to this fraction of themselves.
FEATURE_ROUNDING = 1e-11
# Walks end at a learned node with probability 1/2. So labels spread as far as to the next learned nodes.
ABSORPTION = 1.0
# How slowly the weights move at the start: as if this many labels had agreed with them.
PRECISION = 10.0


class AdaptiveLearner(Learner):
    """Several experts, each with an opinion on every label, and a mixture of them that follows the log loss.

    Parameters
    ----------
    graph : CSRGraph
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
        graph: CSRGraph,
        kernels: dict[str, GraphKernel],
        history: LabelHistory,
        *,
        epsilon: float,
        experts: Sequence[str],
        half_life: float,
        dtype: np.dtype[Any],
    ) -> None:
        self.graph, self.history = graph, history
        self._kernels = kernels
        self._settings: dict[str, Any] = {
            "epsilon": epsilon,
            "experts": tuple(experts),
            "half_life": half_life,
            "dtype": dtype,
        }
        self.names = (*(name + kind for name in kernels for kind in ("", " centred")), *experts)
        self._places = tuple(self.names.index(name) if name in experts else -1 for name in NEIGHBOR_EXPERTS)
        self.diffusions = [Diffusion(k, epsilon, dtype, absorption=ABSORPTION) for k in kernels.values()]
        self._label_mass = [np.zeros(1) for _ in kernels]
        self.counts = NeighborCounts(len(self.graph), self.graph.mean_weight, half_life)
        start = np.zeros(len(self.names))
        start[:2] = 0.5
        self.mixture = Mixture(start.tolist(), PRECISION, half_life)
        self._thresholds: dict[float, tuple[int, float]] = {}  # of prediction sets: after how many arrivals, and what
        self.lock = threading.RLock()  # held while anything changes or is read
        self.reserve_labels(history.k)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        history, counts, diffusions = state["history"], state["counts"], state["diffusions"]
        check_restored(history.k <= counts.lanes and state["mixture"].n_experts == len(state["names"]), "experts")
        check_restored(counts.n == history.n, "experts")
        masses = [np.array(mass, dtype=np.float64) for mass in state["_label_mass"]]
        check_restored(len(masses) == len(diffusions) and all(len(mass) >= history.k for mass in masses), "experts")
        check_restored(all(diffusion.store.lanes >= history.k for diffusion in diffusions), "experts")
        self.__dict__.update(state, _label_mass=masses, lock=threading.RLock())

    def blank(self, history: LabelHistory) -> AdaptiveLearner:
        return AdaptiveLearner(self.graph, self._kernels, history, **self._settings)

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
                expert = _adaptive.DiffusionExpert(run, kernel.system.view, diffusion.absorption, mass, expert)
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
                self._thresholds.clear()
                raise

    def forget(self, u: int) -> None:
        with self._engine() as engine:
            _stream.forget(engine, u)

    def run(self, rows: NDArray[np.int32], labels: NDArray[np.int32], draws: NDArray[np.float64]) -> Answers:
        predicted, probabilities = np.empty(len(rows), dtype=np.int32), np.zeros((len(rows), 2))
        with self._engine() as engine:
            self.mixture.reserve(len(rows))
            engine.tell(probabilities)
            _stream.run(engine, rows, labels, draws, predicted)
        return Answers(predicted, probabilities)

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
        return self._forecasts(np.array([u], dtype=np.int32), self.k)[0].ravel()

    def probabilities_of_each(self, rows: NDArray[np.int32], k: int) -> NDArray[np.float64]:
        found = self._forecasts(rows, k)[0]
        return summing_to_one(found) if k < self.k else found  # a label has just joined

    def prediction_sets(self, rows: NDArray[np.int32], coverage: float) -> list[NDArray[np.int32]]:
        """Labels whose probability is not too small for this coverage; always with the label predicted."""
        with self.lock:
            probabilities, labels = self._forecasts(rows, self.k)
            threshold = self._threshold(coverage)
        return [
            np.union1d(np.flatnonzero(1.0 - row <= threshold), label[label >= 0]).astype(np.int32)
            for row, label in zip(probabilities, labels[:, np.newaxis], strict=True)
        ]

    def _threshold(self, coverage: float) -> float:
        """How improbable a label in a prediction set may be. It starts at the coverage, and follows each arrival."""
        steps, threshold = self._thresholds.get(coverage, (0, coverage))
        threshold = self.mixture.threshold(coverage, threshold, steps)
        self._thresholds[coverage] = (self.mixture.n_steps, threshold)
        return threshold

    def _forecasts(self, rows: NDArray[np.int32], k: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        probabilities, labels = np.zeros((len(rows), k)), np.empty(len(rows), dtype=np.int32)
        with self._engine() as engine:
            engine.forecasts(rows, probabilities, labels)
        return probabilities, labels

    def certify(self, u: int, max_operations: int) -> Certificate:
        """The label that the mixture, with its present weights, gives to node u on exact diffusions."""
        if self.k == 0:
            return Certificate(None, math.inf, 0.0, certain=False)
        with self._engine() as engine:
            features = engine.features_of(u)
        return prove(self.diffusions, u, max_operations, lambda rows: self._judge(features, rows))

    def _judge(self, features: NDArray[np.float64], rows: list[BoundedRow]) -> Certificate:
        """The best label, where diffusions' rows have errors of at most so much, and other features are exact."""
        k, weights = features.shape[1], self.mixture.expert_weights
        frequencies = self.counts.frequencies(k, self.history.n_arrivals)
        low, middle, high = features.copy(), features.copy(), features.copy()
        for i, (row, off) in enumerate(rows):
            share = self._label_mass[i][:k] / self._label_mass[i][:k].sum()
            centred = row[:k] - row[:k].sum() * share
            off += _adaptive.ROUNDING * float(np.abs(row[:k]).sum())
            for e, votes, error in ((2 * i, row[:k], off), (2 * i + 1, centred, off * (1.0 + (k - 2) * share))):
                bounds = share_bounds(votes, error, frequencies)
                low[e], middle[e], high[e] = (np.log(mixed_with(frequencies, bound)) for bound in bounds)
        signs = weights >= 0.0
        scores, lowest = weights @ middle, weights @ np.where(signs[:, None], low, high)
        highest = weights @ np.where(signs[:, None], high, low)
        y = int(_relaxation.best(self.history, -scores, 0.0))
        others = np.arange(k) != y
        if k == 1:
            return Certificate(y, math.inf, 0.0, certain=True)
        margin = float((scores[y] - scores[others]).min())
        rounding = FEATURE_ROUNDING * float(np.abs(weights) @ np.abs(features).max(axis=1))
        error = margin - float((lowest[y] - highest[others]).min()) + rounding
        return Certificate(y, margin, error, bool(error < margin))

    def compatibility(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How many times as often as chance edges join two labels, and how many edges do; by weight."""
        with self.lock:
            counts = self.counts.pair_counts(self.k, self.history.n_arrivals)
        ends = counts.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = counts * ends.sum() / np.outer(ends, ends)
        return ratios, counts

    def weights(self) -> dict[str, float]:
        """How much each expert counts now."""
        return dict(zip(self.names, self.mixture.expert_weights.tolist(), strict=True))


def mixed_with(frequencies: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares of votes, mixed with the label frequencies: no label is ruled out."""
    return (1.0 - _adaptive.FREQUENCY_SHARE) * shares + _adaptive.FREQUENCY_SHARE * frequencies


def share_bounds(
    votes: NDArray[np.float64], error: NDArray[np.float64] | float, frequencies: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The smallest, the present and the largest share of each label, if each vote may be off by its error.

    Where all votes are 0, or may be, the shares are the label frequencies, or may be.
    """
    low, middle, high = (np.maximum(bound, 0.0) for bound in (votes - error, votes, votes + error))
    if not middle.any():
        middle = frequencies
    if not low.any():
        return np.zeros_like(votes), middle / middle.sum(), np.ones_like(votes)
    return low / (low + high.sum() - high), middle / middle.sum(), high / (high + low.sum() - low)
