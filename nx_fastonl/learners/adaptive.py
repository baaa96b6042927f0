"""The adaptive learner: cheap experts and a diffusion, mixed by weights that are learned along the stream."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib._sharing import ThreadLock
from nx_fastonl._lib.arrays import (
    check_parts,
    check_restored,
    restored_array,
    restored_count,
    restored_number,
    shape_of,
)
from nx_fastonl._lib.log import log_rebuild
from nx_fastonl.graph._view import GraphView
from nx_fastonl.graph.arrows import Arrows
from nx_fastonl.graph.base import RowGraph
from nx_fastonl.graph.dynamic_rows import DynamicArrows
from nx_fastonl.kernels.graph_kernel import GraphKernel
from nx_fastonl.learners import _adaptive, _relaxation, _stream
from nx_fastonl.learners._history import LabelHistory
from nx_fastonl.learners._mixture import Mixture
from nx_fastonl.learners._neighbors import NeighborCounts
from nx_fastonl.learners.base import Answers, Certificate, JoiningAnswers, Learner, summing_to_one
from nx_fastonl.learners.diffusion import Diffusion
from nx_fastonl.learners.fitting import FittedWeights, LeftOut, fit_weights, leave_out, solve_votes, votes_without
from nx_fastonl.learners.joining import JoiningNodes
from nx_fastonl.learners.proof import BoundedRow, prove
from nx_fastonl.learners.tuning import Tuning
from nx_fastonl.push._workspace import Workspace

__all__ = ["NEIGHBOR_EXPERTS", "AdaptiveLearner"]

# The experts that need no diffusion.
NEIGHBOR_EXPERTS = ("vote", "compatibility", "profile", "degree", "frequency")
# Of a directed graph, those that look at edges have two more: one for arcs out, one for arcs in. They say what these
# add to the edges. So where both arcs of every pair of nodes are there, they say nothing.
ARROW_EXPERTS = NEIGHBOR_EXPERTS[:-1]
ARROW_NAMES = (" out", " in")
# Features are right up to this fraction of themselves.
FEATURE_ROUNDING = 1e-11
# Walks end at a learned node with probability 1/2. So labels spread as far as to the next learned nodes.
ABSORPTION = 1.0
# How slowly the weights move from where they start: in streams, and where labels are known at once. Those of arcs move
# more slowly: on many graphs, arrows say little.
PRECISION, FIT_PRECISION, ARROW_FACTOR = 10.0, 30.0, 2.0
# Where the weights start: of both experts of the first diffusion, and of others.
START_OF_DIFFUSION = 0.5
_START = {"profile": 0.2, "degree": 0.1}
# Labels are learned on a copy if that has at most this many numbers per label: then copying takes a tenth of the time.
# For fewer labels, it may have as many numbers as for FEW_LABELS.
COPIED_PER_LABEL, FEW_LABELS = 1000, 30
# Neighbours are counted anew where more edges than this, and than the graph has, have changed.
MIN_RECOUNTED = 1000


# What is saved of the options.
SETTINGS: dict[str, Any] = {
    "tuning": Tuning,
    "experts": tuple,
    "half_life": int | float,
    "dtype": np.dtype,
    "arrows": Arrows | DynamicArrows | None,
}


class Forecasts(NamedTuple):
    """Of several nodes: probabilities of labels, the label predicted or -1, whether any label is in reach."""

    probabilities: NDArray[np.float64]
    labels: NDArray[np.int32]
    reached: NDArray[np.bool_]


class AdaptiveLearner(Learner):
    """Several experts, each with an opinion on every label, and a mixture of them that follows the log loss.

    Parameters
    ----------
    graph : RowGraph
        An undirected one.
    kernels : dict
        ``{name: GraphKernel}`` of the diffusions. Each gives two experts: its votes, and the same centred.
    fit_kernels : dict
        The same for labels that are known at once.
    history : LabelHistory
    tuning : Tuning
        Epsilon: see `Diffusion`.
    experts : sequence of str
        Those of `NEIGHBOR_EXPERTS` that are asked.
    half_life : float
        After this many arrivals, losses and counts matter half as much; infinite if nothing is forgotten.
    dtype : numpy.dtype
        Of the diffusions' numbers.
    arrows : Arrows or DynamicArrows, optional
        Which way the edges of the graph point.

    Attributes
    ----------
    names : tuple of str
        Of the experts, in the order of the mixture's weights.
    diffusions : list of Diffusion
    counts : NeighborCounts
    mixture : Mixture
    """

    calibrated = True
    parts: ClassVar[dict[str, Any]] = {
        **Learner.parts,
        "_graph": RowGraph,
        "arrows": Arrows | DynamicArrows | None,
        "_kernels": dict,
        "_fit_kernels": dict,
        "_settings": dict,
        "names": tuple,
        "is_fitted": bool,
        "diffusions": list,
        "_label_mass": list,
        "counts": NeighborCounts,
        "_start": np.ndarray,
        "_precision": np.ndarray,
        "mixture": Mixture,
        "_thresholds": dict,
    }

    def __init__(
        self,
        graph: RowGraph,
        kernels: dict[str, GraphKernel],
        fit_kernels: dict[str, GraphKernel],
        history: LabelHistory,
        *,
        tuning: Tuning,
        experts: Sequence[str],
        half_life: float,
        dtype: np.dtype[Any],
        arrows: Arrows | DynamicArrows | None = None,
    ) -> None:
        self._graph, self.history, self.arrows = graph, history, arrows
        self._kernels, self._fit_kernels = kernels, fit_kernels
        self._settings: dict[str, Any] = {
            "tuning": tuning,
            "experts": tuple(experts),
            "half_life": half_life,
            "dtype": dtype,
            "arrows": arrows,
        }
        self.names = _names(kernels, experts, arrows)
        self._places = _places(self.names, 1 if arrows is None else 3)
        self._diffuse(kernels)
        if arrows is None:
            self.counts = NeighborCounts(len(graph), graph.mean_weight, half_life)
        else:
            self.counts = NeighborCounts(len(graph), arrows.mean_weight, half_life, graph.mean_weight)
        self.counts.position = graph.position
        self._start = np.array([_START.get(name, 0.0) for name in self.names])
        self._start[:2] = START_OF_DIFFUSION if kernels else 1.0
        self._precision = np.array([ARROW_FACTOR if name.endswith(ARROW_NAMES) else 1.0 for name in self.names])
        self.mixture = Mixture(self._start.tolist(), (PRECISION * self._precision).tolist(), half_life)
        self._thresholds: dict[float, tuple[int, float]] = {}  # of prediction sets: after how many arrivals, and what
        self.lock = ThreadLock()  # held while anything changes or is read
        self.reserve_labels(history.k)
        self.begin()

    @property
    def graph(self) -> RowGraph:
        return self._graph

    def catch_up(self) -> None:
        graph = self.graph
        stream_kernels, fit_kernels = (
            {name: kernel.renewed() for name, kernel in kernels.items()}
            for kernels in (self._kernels, self._fit_kernels)
        )
        for diffusion, name in zip(self.diffusions, stream_kernels, strict=True):
            diffusion.check_range(stream_kernels[name], fit_kernels[name])
        self._kernels, self._fit_kernels = stream_kernels, fit_kernels
        kernels = fit_kernels if self.is_fitted else stream_kernels
        epsilon = self._settings["tuning"].epsilon_at(max(graph.number_of_nodes(), 1))
        for diffusion, kernel in zip(self.diffusions, kernels.values(), strict=True):
            diffusion.follow(kernel, epsilon, self.history)
        self.counts.add_rows(len(graph))
        changes = graph.changes_since(self.counts.position) if self.counts.position >= 0 else None
        if changes is None or len(changes) > max(graph.n_entries, MIN_RECOUNTED):
            began = perf_counter()
            self.counts.recount(self._view, self.history, graph.position)
            log_rebuild("the counts of labels around nodes", changes, began)
        else:
            self.counts.repair(self._view, self.history, changes, graph.position)

    def _diffuse(self, kernels: dict[str, GraphKernel], *, fitted: bool = False) -> None:
        """Begin diffusions with these kernels."""
        self.is_fitted = fitted
        dtype, n = self._settings["dtype"], max(self.graph.number_of_nodes(), 1)
        epsilon = self._settings["tuning"].epsilon_at(n)
        self.diffusions = [Diffusion(kernel, epsilon, dtype, absorption=ABSORPTION) for kernel in kernels.values()]
        # How much of all votes each label gets, up to a factor.
        self._label_mass = [np.zeros(1) for _ in kernels]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._restore(state)
        self._check_settings()
        k, n = self.k, len(self.names)
        check_restored(self.counts.fits(self.history), "labels and counts")
        check_restored(self.counts.views == (1 if self.arrows is None else 3), "counts")
        check_restored(self.mixture.n_experts == n, "experts")
        check_restored(len(self.diffusions) == len(self._label_mass) == len(self._kernels), "experts")
        for diffusion in self.diffusions:
            check_restored(isinstance(diffusion, Diffusion) and diffusion.fits(self._graph, k), "experts")
            check_restored(diffusion.absorption == ABSORPTION, "experts")
        sizes = [shape_of(mass, "experts", 1) for mass in self._label_mass]
        check_restored(all(lanes >= k for (lanes,) in sizes), "experts")
        masses = [
            restored_array(mass, "experts", np.float64, size)
            for mass, size in zip(self._label_mass, sizes, strict=True)
        ]
        start, precision = (
            restored_array(numbers, "experts", np.float64, (n,)) for numbers in (self._start, self._precision)
        )
        for coverage, (steps, threshold) in self._thresholds.items():
            restored_number(coverage, "thresholds", 0.0, 1.0)
            restored_count(steps, "thresholds", 0, self.mixture.n_steps)
            restored_number(threshold, "thresholds", 0.0)
        self.__dict__.update(_label_mass=masses, _start=start, _precision=precision)
        self._places = _places(self.names, self.counts.views)

    def _check_settings(self) -> None:
        """Raise unless what was saved of kernels, experts and options is what `__init__` may be given."""
        check_parts(self._settings, "settings", SETTINGS)
        experts, arrows = self._settings["experts"], self.arrows
        check_restored(set(experts) <= set(NEIGHBOR_EXPERTS) and len(set(experts)) == len(experts), "experts")
        check_restored(self.names == _names(self._kernels, experts, arrows), "experts")
        check_restored(arrows is self._settings["arrows"], "arrows")
        check_restored(arrows is None or arrows.graph is self._graph, "arrows")
        check_restored(list(self._kernels) == list(self._fit_kernels), "kernels")
        for kernel in (*self._kernels.values(), *self._fit_kernels.values()):
            check_restored(isinstance(kernel, GraphKernel) and kernel.graph is self._graph, "kernels")
        restored_number(self._settings["half_life"], "settings", 1.0, math.inf)
        check_restored(self._settings["dtype"] in (np.float64, np.float32), "settings")

    def blank(self, history: LabelHistory) -> AdaptiveLearner:
        return AdaptiveLearner(self.graph, self._kernels, self._fit_kernels, history, **self._settings)

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
            yield _adaptive.AdaptiveEngine(self.history, self._view, self.counts, self.mixture, expert, self._places)

    @property
    def _view(self) -> GraphView:
        """The graph, and its arrows if it has some."""
        return self.graph.view if self.arrows is None else self.arrows.view

    def learn(self, u: int, y: int) -> None:
        with self._engine() as engine:
            engine.features_of(u)
            _stream.learn(engine, u, y)

    def learn_many(self, rows: NDArray[np.int32], labels: NDArray[np.int32]) -> None:
        """Learn in the order given, as a stream does. If this is interrupted, what was learned is taken back.

        Where a copy takes little of the time, labels are learned on the copy, and an interrupt changes nothing at all.
        For a few labels on a large graph, learned nodes are forgotten again. That leaves the diffusions with other
        residuals than before, though as small: votes then differ within the accuracy that epsilon asks for.
        """
        with self.lock:
            size = self.counts.size + sum(diffusion.store.size for diffusion in self.diffusions)
            if size > COPIED_PER_LABEL * max(len(rows), FEW_LABELS):
                self._learn_in_place(rows, labels)
                return
            copy = self._copy()
            copy._learn_in_place(rows, labels)
            # One call in C: whatever interrupts this, all of it is replaced or nothing.
            self.__dict__.update(copy.__getstate__())

    def _copy(self) -> AdaptiveLearner:
        """The same with numbers of its own."""
        other = AdaptiveLearner.__new__(AdaptiveLearner)
        own = {
            "history": self.history.copy(),
            "counts": self.counts.copy(),
            "mixture": self.mixture.copy(),
            "diffusions": [diffusion.copy() for diffusion in self.diffusions],
        }
        masses = [mass.copy() for mass in self._label_mass]
        state = {**self.__getstate__(), **own, "_label_mass": masses, "_thresholds": dict(self._thresholds)}
        other.__dict__.update(state, _places=self._places, lock=ThreadLock())
        return other

    def _learn_in_place(self, rows: NDArray[np.int32], labels: NDArray[np.int32]) -> None:
        with self._engine() as engine:
            before, mixture, k = self.history.n_learned, self.mixture.copy(), self.k
            try:
                _stream.run(engine, rows, labels, np.empty(0), np.empty(len(rows), dtype=np.int32))
            except BaseException:
                _adaptive.take_back(engine, rows[: self.history.n_learned - before], mixture, k)
                self._thresholds.clear()
                raise

    def fit(self, rows: NDArray[np.int32], labels: NDArray[np.int32]) -> None:
        """Learn labels that are known at once, where none was before.

        Diffusions are solved on the whole graph. The weights are learned from known nodes whose labels are left out.
        """
        if len(rows) == 0:
            return
        order = np.argsort(rows)
        rows, labels = rows[order], labels[order]
        with self.lock:
            self._diffuse(self._fit_kernels, fitted=True)
            self.reserve_labels(self.history.k)
            self.reserve_labels(int(labels.max(initial=-1)) + 1)
            self.counts.learn(self._view, self.history, rows, labels)
            for diffusion, mass in zip(self.diffusions, self._label_mass, strict=True):
                mass[: self.k] = solve_votes(diffusion, rows, labels, self.k)
            left_out = leave_out(rows, labels)
            if len(left_out.rows) == 0:
                return
            features = self._features_without(left_out, np.bincount(labels, minlength=self.k))
            self._calibrate(features, left_out)
            self.mixture.fit(*self._fit_weights(features, left_out.labels))

    def _fit_weights(self, features: NDArray[np.float64], labels: NDArray[np.int32]) -> FittedWeights:
        return fit_weights(features, labels, self._start, FIT_PRECISION * self._precision)

    def _calibrate(self, features: NDArray[np.float64], left_out: LeftOut) -> None:
        """Learn how sure the mixture may be of nodes from which its weights were not learned.

        The folds are dealt into halves: each is judged by the weights that the other gives.
        """
        halves = [left_out.folds % 2 == half for half in (0, 1)]
        fitted = [self._fit_weights(features[~half], left_out.labels[~half]) for half in halves]
        with self._engine() as engine:
            for told in (False, True):
                for half, weights in zip(halves, fitted, strict=True):
                    self.mixture.fit(*weights)
                    _adaptive.calibrate(engine, features[half], left_out.labels[half], told)

    def _features_without(self, left_out: LeftOut, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """What experts say of known nodes whose labels are left out in turn."""
        features = np.zeros((len(left_out.rows), len(self.names), self.k))
        with self._engine() as engine:
            for fold in left_out.in_folds():
                found = np.empty((len(fold), *features.shape[1:]))
                engine.features_without(left_out.rows[fold], found)
                features[fold] = found
        frequencies = self.counts.frequencies(self.k, self.history.n_arrivals)
        for i, diffusion in enumerate(self.diffusions):
            votes = votes_without(diffusion, left_out, counts)
            features[:, 2 * i] = log_shares(votes, frequencies)
            features[:, 2 * i + 1] = log_shares(self._centred(i, votes), frequencies)
        return features

    def _centred(self, i: int, votes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Votes of diffusion i minus what each label would get of them if labels meant nothing."""
        mass = self._label_mass[i][: self.k]
        return np.asarray(votes - votes.sum(axis=-1, keepdims=True) * mass / (mass.sum() or 1.0))

    def know_prior(self, prior: NDArray[np.float64]) -> None:
        """Scale probabilities by how much more frequent labels are than among the learned nodes."""
        frequencies = self.counts.frequencies(self.k, self.history.n_arrivals)
        self.mixture.know_prior(np.log(prior) - np.log(frequencies))

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
        return self._forecasts(rows, 0).labels

    def draw(self, u: int, number: float) -> int | None:
        below = np.cumsum(self.probabilities(u))
        return (
            int(np.searchsorted(below, number * below[-1], side="right").clip(max=len(below) - 1))
            if len(below)
            else None
        )

    def probabilities(self, u: int) -> NDArray[np.float64]:
        with self.lock:
            return self._forecasts(np.array([u], dtype=np.int32), self.k).probabilities.ravel()

    def probabilities_of_each(self, rows: NDArray[np.int32], k: int) -> NDArray[np.float64]:
        found = self._forecasts(rows, k).probabilities
        return summing_to_one(found) if k < self.k else found  # a label has just joined

    def prediction_sets(self, rows: NDArray[np.int32], coverage: float) -> list[NDArray[np.int32]]:
        """Labels whose probability is not too small for this coverage; always with the label predicted."""
        with self.lock:
            probabilities, labels, _ = self._forecasts(rows, self.k)
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

    def reached(self, rows: NDArray[np.int32]) -> NDArray[np.bool_]:
        return self._forecasts(rows, 0).reached

    def _forecasts(self, rows: NDArray[np.int32], k: int) -> Forecasts:
        probabilities, labels = np.zeros((len(rows), k)), np.empty(len(rows), dtype=np.int32)
        reached = np.zeros(len(rows), dtype=np.uint8)
        with self._engine() as engine:
            engine.forecasts(rows, probabilities, labels, reached)
        return Forecasts(probabilities, labels, reached.astype(np.bool_))

    def join(self, nodes: JoiningNodes) -> JoiningAnswers:
        return self._join(nodes)[0]

    def _join(self, nodes: JoiningNodes) -> tuple[JoiningAnswers, NDArray[np.float64]]:
        """The answers, and what each expert says of each node."""
        with self.lock:
            m, k = len(nodes), self.k
            features = np.zeros((m, len(self.names), k))
            predicted, probabilities = np.empty(m, dtype=np.int32), np.zeros((m, k))
            reached = self._diffused_features(nodes, features).astype(np.uint8)
            engine = _adaptive.AdaptiveEngine(
                self.history, nodes.view, self.counts, self.mixture, None, self._places, joining=True
            )
            engine.forecasts_joining(features, probabilities, predicted, reached)
        return JoiningAnswers(predicted, probabilities), features

    def _diffused_features(self, nodes: JoiningNodes, features: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Write what diffusions say of nodes that join; return whether any label has spread to them."""
        frequencies = self.counts.frequencies(self.k, self.history.n_arrivals)
        reached = np.zeros(len(nodes), dtype=np.bool_)
        for i, diffusion in enumerate(self.diffusions):
            diffusion.settle()
            votes = nodes.votes(diffusion, self.k)
            sizes = np.maximum(np.abs(votes).sum(axis=1), 1.0)  # its own label would give a node 1
            features[:, 2 * i] = log_shares(votes, frequencies, sizes)
            features[:, 2 * i + 1] = log_shares(self._centred(i, votes), frequencies, sizes)
            reached |= votes.max(axis=1, initial=0.0) > _adaptive.ROUNDING * sizes
        return reached

    def certify(self, u: int, max_operations: int) -> Certificate:
        """The label that the mixture, with its present weights, gives to node u on exact diffusions."""
        if self.k == 0:
            return Certificate(None, math.inf, 0.0, certain=False)
        with self._engine() as engine:
            features = engine.features_of(u)
        if not self.reached(np.array([u], dtype=np.int32))[0]:
            return Certificate(self.best(u), 0.0, math.inf, certain=False)
        return prove(self.diffusions, u, max_operations, lambda rows: self._judge(features, rows))

    def _judge(self, features: NDArray[np.float64], rows: list[BoundedRow]) -> Certificate:
        """The best label, where diffusions' rows have errors of at most so much, and other features are exact."""
        k, weights = features.shape[1], self.mixture.expert_weights
        frequencies = self.counts.frequencies(k, self.history.n_arrivals)
        low, middle, high = features.copy(), features.copy(), features.copy()
        for i, (row, off) in enumerate(rows):
            share = self._label_mass[i][:k] / self._label_mass[i][:k].sum()
            centred = self._centred(i, row[:k])
            off += _adaptive.ROUNDING * float(np.abs(row[:k]).sum())
            for e, votes, error in ((2 * i, row[:k], off), (2 * i + 1, centred, off * (1.0 + (k - 2) * share))):
                bounds = share_bounds(votes, error, frequencies)
                low[e], middle[e], high[e] = (np.log(mixed_with(frequencies, bound)) for bound in bounds)
        signs = weights >= 0.0
        offsets = self.mixture.label_offsets(k)
        scores = weights @ middle + offsets
        lowest = weights @ np.where(signs[:, None], low, high) + offsets
        highest = weights @ np.where(signs[:, None], high, low) + offsets
        seen = self.history.label_counts[:k] > 0
        y = int(_relaxation.best(self.history, np.where(seen, -scores, np.inf), 0.0))
        others = seen & (np.arange(k) != y)
        if not others.any():
            return Certificate(y, math.inf, 0.0, certain=True)
        rounding = FEATURE_ROUNDING * float(np.abs(weights) @ np.abs(features).max(axis=1))
        least = float((lowest[y] - highest[others]).min()) - rounding
        most = float((highest[y] - lowest[others]).min()) + rounding
        margin = max(0.5 * (least + most), 0.0)  # the present one may lie at either end
        error = max(margin - least, most - margin)
        return Certificate(y, margin, error, bool(error < margin))

    def compatibility(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How many times as often as chance edges join two labels, and how many edges do; by weight.

        Of a directed graph the same for arcs, from the label of the row to that of the column.
        """
        with self.lock:
            counts = np.asarray(self.counts.pair_counts(self.k, self.history.n_arrivals))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = counts * counts.sum() / np.outer(counts.sum(axis=1), counts.sum(axis=0))
        return ratios, counts

    def weights(self) -> dict[str, float]:
        """How much each expert counts now: those of edges less what those of arcs take away."""
        weights = dict(zip(self.names, self.mixture.expert_weights.tolist(), strict=True))
        for name in ARROW_EXPERTS:
            for way in ARROW_NAMES:
                if name + way in weights:
                    weights[name] -= weights[name + way]
        return weights


def _names(kernels: Iterable[str], experts: Sequence[str], arrows: Any) -> tuple[str, ...]:
    """The experts in the order of the mixture's weights."""
    diffused = (name + kind for name in kernels for kind in ("", " centred"))
    pointed = [name for name in ARROW_EXPERTS if name in experts] if arrows is not None else []
    return (*diffused, *experts, *(name + way for name in pointed for way in ARROW_NAMES))


def _places(names: Sequence[str], views: int) -> NDArray[np.intp]:
    """Where in the mixture the experts that need no diffusion stand, for each view of the edges; -1 if they do not."""
    ways = ("", *ARROW_NAMES)[:views]
    return np.array(
        [[names.index(name + way) if name + way in names else -1 for name in NEIGHBOR_EXPERTS] for way in ways],
        dtype=np.intp,
    )


def log_shares(
    votes: NDArray[np.float64], frequencies: NDArray[np.float64], sizes: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """The logarithms of the shares of votes in each row, mixed with the label frequencies.

    Votes are rounding errors that are too small beside the size of their row, by default the sum of their magnitudes.
    """
    sizes = np.abs(votes).sum(axis=1) if sizes is None else sizes
    votes = np.where(votes > _adaptive.ROUNDING * sizes[:, np.newaxis], votes, 0.0)
    totals = votes.sum(axis=1, keepdims=True)
    shares = np.where(totals > 0.0, votes / np.where(totals > 0.0, totals, 1.0), frequencies)
    return np.log(mixed_with(frequencies, shares))


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
