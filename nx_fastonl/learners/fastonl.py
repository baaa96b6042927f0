"""FastONL: the relaxation on one diffusion for the whole stream, and as in the paper on a push for each node."""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.arrays import check_restored
from nx_fastonl.graph.base import RowGraph
from nx_fastonl.kernels.graph_kernel import UNIT_ROUNDOFF, GraphKernel
from nx_fastonl.learners import _diffusion, _relaxation, _stream
from nx_fastonl.learners._columns import PushEngine
from nx_fastonl.learners._history import LabelHistory
from nx_fastonl.learners.base import Answers, Certificate, JoiningAnswers
from nx_fastonl.learners.columns import ColumnLearner, PushColumns
from nx_fastonl.learners.diffusion import Diffusion
from nx_fastonl.learners.joining import JoiningNodes
from nx_fastonl.learners.proof import prove
from nx_fastonl.learners.relaxation import Evidence, RelaxationLearner
from nx_fastonl.learners.tuning import Tuning
from nx_fastonl.push._workspace import Workspace
from nx_fastonl.push.local import diagonal_entries, edges_of_column

__all__ = ["FastONL", "FifoFastONL"]

# Beyond this fraction of learned nodes, O(n) set-up is paid for by the nodes already learned.
FRACTION_FOR_THRESHOLDS = 1 / 256
# Nodes read in one call: enough that the cost of the call does not matter, few enough that scores take little memory.
READ_BATCH = 1024
# Where an entry of the diagonal has to be accurate, its push has this epsilon, divided by the number of neighbours.
DIAGONAL_ACCURACY = 1e-4


class FastONL(RelaxationLearner):
    """The relaxation on one diffusion for all nodes: learning spreads a label, and predicting reads what arrived.

    Parameters
    ----------
    kernel : GraphKernel
    history : LabelHistory
    tuning : Tuning
        Epsilon, as for `Diffusion`, and the trace.
    dtype : numpy.dtype
        Of the diffusion's numbers.
    """

    parts: ClassVar[dict[str, Any]] = {
        **RelaxationLearner.parts,
        "kernel": GraphKernel,
        "_tuning": Tuning,
        "_dtype": np.dtype,
        "diffusion": Diffusion,
    }

    def __init__(
        self,
        kernel: GraphKernel,
        history: LabelHistory,
        tuning: Tuning,
        *,
        dtype: np.dtype[Any],
    ) -> None:
        self.kernel, self._tuning, self._dtype = kernel, tuning, dtype
        self.diffusion = Diffusion(kernel, tuning.epsilon_at(kernel.n), dtype)
        super().__init__(
            len(kernel.graph),
            history,
            tuning.trace_at(kernel.n),
            trace_per_label=tuning.trace_per_label,
            constant=-kernel.g,
            unit=kernel.a,
            position=kernel.graph.position,
        )
        self.lock = self.diffusion.lock  # scores and the sum of gradients change together

    @property
    def graph(self) -> RowGraph:
        return self.kernel.graph

    def catch_up(self) -> None:
        kernel = self.kernel.renewed()
        self.diffusion.check_range(kernel)
        tuning = self._tuning.on(kernel)
        self.gradients.add_rows(len(kernel.graph))
        self.diffusion.follow(kernel, tuning.epsilon_at(kernel.n), self.history, self.gradients)
        self.gradients.measure(kernel.a, tuning.trace_at(kernel.n), -kernel.g)
        self.kernel, self._tuning = kernel, tuning

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        check_restored(self._dtype in (np.float64, np.float32), "numbers")
        check_restored(self.diffusion.fits(self.graph, self.k) and self.diffusion.absorption == 0.0, "diffusion")
        self.lock = self.diffusion.lock

    def blank(self, history: LabelHistory) -> FastONL:
        return type(self)(self.kernel, history, self._tuning, dtype=self._dtype)

    def reserve_labels(self, k: int) -> None:
        with self.diffusion.lock:
            super().reserve_labels(k)
            self.diffusion.store.reserve_labels(k)

    def best_of_each(self, rows: NDArray[np.int32]) -> NDArray[np.int32]:
        found = [rows[:0]]
        for batch in _batches(rows):
            scores, _ = self._scores(batch, self.kernel.s(batch))
            found.append(_relaxation.best_of_each(self.history, scores))
        return np.concatenate(found)

    def probabilities_of_each(self, rows: NDArray[np.int32], k: int) -> NDArray[np.float64]:
        found = [np.zeros((0, k))]
        for batch in _batches(rows):
            scores, diagonals = self._scores(batch, self.kernel.s(batch))
            scores = np.ascontiguousarray(scores[:, :k])
            found.append(_relaxation.probabilities_of_each(self.gradients, scores, diagonals))
        return np.concatenate(found)

    def learn_many(self, rows: NDArray[np.int32], labels: NDArray[np.int32]) -> None:
        s = self.kernel.s(rows)
        with self.lock:
            self.finish()
            energy, single_energy = (-self._sums(rows, labels, s)[0]).tolist()
            view, store = self.kernel.system.view, self.diffusion.store
            sums = (energy, single_energy)
            _diffusion.learn_together(self.gradients, self.history, view, store, rows, labels, s, *sums)
            self.diffusion.settle_at(rows, labels)
            self.finish()

    def finish(self) -> None:
        """Finish what an interrupted call left undone."""
        with self.lock:
            self.diffusion.settle()
            unfinished = self.gradients.unfinished
            if unfinished is not None:
                # The sum of M over pairs with at least one new node, from the scores of new nodes before and after.
                after, diagonals = self._sums(*unfinished)
                energy, single_energy = (-after).tolist()
                self.gradients.finish(energy, single_energy, diagonals)

    def run(self, rows: NDArray[np.int32], labels: NDArray[np.int32], draws: NDArray[np.float64]) -> Answers:
        predicted = np.empty(len(rows), dtype=np.int32)
        with self.kernel.graph.scratch(Workspace) as workspace, self.lock:
            self.finish()
            self.gradients.reserve(self.k, len(rows))
            engine = self._engine(workspace)
            _stream.run(engine, rows, labels, draws, predicted)
        return Answers(predicted)

    def join(self, nodes: JoiningNodes) -> JoiningAnswers:
        kernel, k = self.kernel, self.k
        c, s = kernel.at_degrees(nodes.degrees)
        pivots = c + nodes.degrees
        with self.lock:
            self.finish()
            scores = (kernel.a * s / pivots)[:, None] * nodes.votes(self.diffusion, k)
            if self.gradients.constant != 0.0:
                scores += self.gradients.constant * self.gradients.sums(k)
            diagonals = np.maximum(kernel.a * s**2 / pivots + self.gradients.constant, 0.0)
            predicted = _relaxation.best_of_each(self.history, scores)
            return JoiningAnswers(predicted, _relaxation.probabilities_of_each(self.gradients, scores, diagonals))

    def certify(self, u: int, max_operations: int) -> Certificate:
        """The best label of node u, with its margin and the margin's error."""
        self.finish()
        if self.k == 0:
            return Certificate(None, math.inf, 0.0, certain=False)
        return prove([self.diffusion], u, max_operations, lambda rows: self._judge(u, *rows[0]))

    def _judge(self, u: int, row: NDArray[np.float64], off: float) -> Certificate:
        """The best label by a row of the diffusion whose entries have at most this error."""
        with self.lock:
            k = self.k
            shift = self.gradients.constant * self.gradients.sums(k)
            rounding = UNIT_ROUNDOFF * (self.diffusion.roundings + 2) * float(np.abs(shift).max())
        factor = self.kernel.a * self.kernel.s_of(u)
        scores = factor * row[:k] + shift
        error = 2.0 * float(factor * off * (1.0 + UNIT_ROUNDOFF) + rounding)
        y = _relaxation.best(self.history, scores, 0.0)
        margin = float(np.partition(scores, 1)[1] - scores[y]) if k > 1 else math.inf
        return Certificate(y, margin, error, bool(error < margin))

    def _engine(self, workspace: Workspace) -> _diffusion.DiffusionEngine:
        diffusion, kernel = self.diffusion.run(workspace), self.kernel
        return _diffusion.DiffusionEngine(self.history, self.gradients, diffusion, kernel.scaling, kernel.a)

    def _learn(self, u: int, y: int, evidence: Evidence, *, independent: bool) -> None:
        scores, magnitude, diagonal, s = evidence
        with self.kernel.graph.scratch(Workspace) as workspace, self.lock:
            engine = self._engine(workspace)
            engine.take(scores, s=s, diagonal=diagonal, magnitude=magnitude, independent=independent)
            _stream.learn(engine, u, y)

    def _forget(self, u: int, evidence: Evidence) -> None:
        with self.kernel.graph.scratch(Workspace) as workspace, self.lock:
            engine = self._engine(workspace)
            engine.take(evidence.scores, s=evidence.s, diagonal=evidence.diagonal)
            _stream.forget(engine, u)

    def _evidence(self, u: int) -> Evidence:
        s = self.kernel.s_of(u)
        scores, diagonals = self._scores(np.array([u], dtype=np.int32), np.array([s]))
        return Evidence(scores[0], float(np.abs(scores).max(initial=0.0)), float(diagonals[0]), s)

    def _scores(
        self, rows: NDArray[np.int32], s: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The scores of several nodes, and their entries of the diagonal of M."""
        with self.lock:
            self.finish()
            return self._read(rows, s, self.k)

    def _read(
        self, rows: NDArray[np.int32], s: NDArray[np.float64], k: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The same for k labels, whether or not all is finished."""
        lanes, diagonals = self.diffusion.read(rows)
        factor = self.kernel.a * s
        scores = factor[:, None] * lanes[:, :k]
        if self.gradients.constant != 0.0:
            scores += self.gradients.constant * self.gradients.sums(k)
        # Estimated from below: with the negative constant it may fall below 0, though the exact entry is positive.
        return scores, np.maximum(factor * s * diagonals + self.gradients.constant, 0.0)

    def _sums(
        self, rows: NDArray[np.int32], labels: NDArray[np.int32], s: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sums over nodes of the score of their label, and of all their scores; their entries of M's diagonal."""
        sums, entries = np.zeros(2), np.empty(len(rows))
        k = max(self.k, int(labels.max(initial=-1)) + 1)
        for start in range(0, len(rows), READ_BATCH):
            batch = slice(start, start + READ_BATCH)
            scores, diagonals = self._read(rows[batch], s[batch], k)
            sums += scores[np.arange(len(scores)), labels[batch]].sum(), scores.sum()
            entries[batch] = diagonals
        return sums, entries

    def _with_sharper_diagonal(self, u: int, evidence: Evidence) -> Evidence:
        neighbours = max(int(self.kernel.graph.neighbor_counts(u)), 1)
        row, epsilon = np.array([u], dtype=np.int32), np.array([DIAGONAL_ACCURACY / neighbours])
        entries, _ = diagonal_entries(self.kernel.system, row, epsilon)
        diagonal = self.kernel.a * evidence.s**2 * float(entries[0]) + self.gradients.constant
        return evidence._replace(diagonal=diagonal)


class FifoFastONL(ColumnLearner):
    """The paper's practical loop: a push per arriving node. A whole stream runs in compiled code."""

    def __init__(self, kernel: GraphKernel, history: LabelHistory, tuning: Tuning) -> None:
        super().__init__(PushColumns(kernel, tuning.epsilon_at(kernel.n)), history, tuning)
        # Once many nodes were learned: a workspace in which the thresholds of all nodes are known, so that the loop
        # need not test whether a node is new.
        self._workspace: Workspace | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._workspace = None

    def blank(self, history: LabelHistory) -> FifoFastONL:
        return FifoFastONL(self._columns.kernel, history, self._tuning)

    def catch_up(self) -> None:
        self._workspace = None
        super().catch_up()

    def run(self, rows: NDArray[np.int32], labels: NDArray[np.int32], draws: NDArray[np.float64]) -> Answers:
        graph, kernel, push_epsilon = self.graph, self._columns.kernel, self._columns.push_epsilon
        predicted = np.empty(len(rows), dtype=np.int32)
        with self.lock:
            self.gradients.reserve(self.k, len(rows))
            own, self._workspace = self._workspace, None  # dropped if an exception leaves it half-written
            if own is None and self.history.n_learned + len(rows) > len(graph) * FRACTION_FOR_THRESHOLDS:
                own = Workspace(len(graph))
                own.know_thresholds(push_epsilon * graph.neighbor_counts(slice(None)))
            with graph.scratch(Workspace) if own is None else nullcontext(own) as workspace:
                engine = PushEngine(
                    self.history,
                    self.gradients,
                    kernel.system.view,
                    kernel.scaling,
                    workspace,
                    push_epsilon,
                    kernel.a,
                    edges_of_column(kernel.system),
                    kernel.system.elimination.column,
                )
                _stream.run(engine, rows, labels, draws, predicted)
            self._workspace = own
        return Answers(predicted)


def _batches(rows: NDArray[np.int32]) -> list[NDArray[np.int32]]:
    return [rows[start : start + READ_BATCH] for start in range(0, len(rows), READ_BATCH)]
