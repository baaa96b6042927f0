"""FastONL: the relaxation on one diffusion for the whole stream, and as in the paper on a push for each node."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nx_fastonl import _fastonl, _relaxation
from nx_fastonl.diffusion import ROUNDING, Diffusion, Sources
from nx_fastonl.kernels import GraphKernel
from nx_fastonl.push import Workspace, diagonal_entries, fifo_column, give_back, take_workspace
from nx_fastonl.relaxation import Column, ColumnLearner, Evidence, RelaxationLearner

__all__ = ["FastONL", "FifoFastONL", "PushColumns"]

# Once this part of the nodes was learned, memory and time for every node are no more than that for those.
PART_FOR_LIMITS = 1 / 256
# Nodes looked at in one go: enough to forget the cost of the call, few enough for their scores to be forgotten soon.
NODES_AT_ONCE = 1024
# Where an entry of the diagonal has to be right, a push for it leaves this part of the source at a neighbour.
DIAGONAL_ACCURACY = 1e-4


class FastONL(RelaxationLearner):
    """The relaxation on one diffusion for all nodes: learning spreads a label, and predicting reads what arrived.

    Parameters
    ----------
    kernel : GraphKernel
    epsilon : float
        The paper's: see `Diffusion`.
    trace, trace_per_label
        As for `RelaxationLearner`.
    dtype : numpy.dtype
        Of the diffusion's numbers.
    """

    def __init__(
        self, kernel: GraphKernel, epsilon: float, trace: float, *, trace_per_label: bool, dtype: np.dtype[Any]
    ) -> None:
        super().__init__(len(kernel.graph), trace, trace_per_label=trace_per_label, constant=-kernel.g)
        self.kernel = kernel
        self.diffusion = Diffusion(kernel, epsilon, dtype)

    def add_label(self) -> None:
        self.diffusion.add_label()
        super().add_label()

    def drop_label(self) -> None:
        super().drop_label()
        self.diffusion.drop_label()

    def best_of_each(
        self, rows: NDArray[np.int32], counts: NDArray[np.int64], appearances: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        """What `best` gives for each node."""
        with self.diffusion.lock:
            scores, _ = self._scores(rows, self.kernel.s(rows), self._gradient_sum)
        best = np.empty(len(rows), dtype=np.int32)
        _relaxation.best_of_each(scores, counts, appearances, best)
        return best

    def fit(self, rows: NDArray[np.int32], labels: NDArray[np.int32]) -> None:
        s = self.kernel.s(rows)
        mass = float(s.sum())
        order = np.argsort(labels, kind="stable")
        present, starts = np.unique(labels[order], return_index=True)
        parts = np.split(order, starts)[1:]
        sources = [Sources(y, rows[part], -s[part]) for y, part in zip(present.tolist(), parts, strict=True)]
        gradient_sum = self._gradient_sum - np.bincount(labels, minlength=len(self._gradient_sum))
        with self.diffusion.lock:
            before, _ = self._sums(rows, labels, s, self._gradient_sum)
            self.diffusion.add(sources, mass)
            try:
                after, diagonals = self._sums(rows, labels, s, gradient_sum)
            except BaseException:
                self.diffusion.take_back(sources, mass)
                raise
            # The sum of M over pairs with at least one new node, from the scores of new nodes before and after.
            self._totals["squares"] -= before[0] + after[0]
            self._totals["ones"] -= before[1] + after[1]
            self._totals["spent"] += diagonals
            self._gradient_sum = gradient_sum
            self._marks["s"][rows], self._marks["label"][rows], self._marks["row"][rows] = s, labels, 0

    def run(
        self,
        rows: NDArray[np.int32],
        labels: NDArray[np.int32],
        draws: NDArray[np.float64],
        counts: NDArray[np.int64],
        appearances: NDArray[np.int64],
        known: int,
    ) -> NDArray[np.int32]:
        """As `FifoFastONL.run`."""
        self._make_room(len(rows))
        predicted = np.empty(len(rows), dtype=np.int32)
        learner_arrays = (self._marks, self._gradients, self._gradient_sum, self._totals, counts, appearances)
        self._totals, self._n_rows = self.diffusion.run(
            (*learner_arrays, rows, self.kernel.s(rows), labels, draws, predicted),
            a=self.kernel.a,
            constant=self._constant,
            k=known,
            n_gradients=self._n_rows,
            n_learned=int(counts.sum()),
        )
        return predicted

    def bounded_scores(
        self, u: int, nodes: NDArray[np.int32], estimate: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], float]:
        """The scores of node u by a push from it, and how far any of them can be off."""
        with self.diffusion.lock:
            row, off = self.diffusion.read(u, nodes, estimate)
            shift = self._constant * self._gradient_sum[: self.k]
            rounding = ROUNDING * (self.diffusion.roundings + 2) * float(np.abs(shift).max())
        factor = self.kernel.a * self.kernel.s_of(u)
        return factor * row[: self.k] + shift, float(factor * off * (1.0 + ROUNDING) + rounding)

    def _learn(self, u: int, y: int, *, alone: bool) -> None:
        with self.diffusion.lock:  # scores and the sum of gradients change together
            super()._learn(u, y, alone=alone)

    def _evidence(self, u: int) -> Evidence:
        s = self.kernel.s_of(u)
        with self.diffusion.lock:
            scores, diagonals = self._scores(np.array([u], dtype=np.int32), np.array([s]), self._gradient_sum)
        return Evidence(scores[0], float(np.abs(scores).max(initial=0.0)), float(diagonals[0]), s)

    def _scores(
        self, rows: NDArray[np.int32], s: NDArray[np.float64], gradient_sum: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The scores of several nodes, and their entries of the diagonal of M."""
        k = self.k  # read once: another thread may add a label meanwhile
        lanes, diagonals = self.diffusion.look(rows)
        factor = self.kernel.a * s
        scores = factor[:, None] * lanes[:, :k]
        if self._constant != 0.0:
            scores += self._constant * gradient_sum[:k]
        # Estimated from below, but what is left without the constant is positive.
        return scores, np.maximum(factor * s * diagonals + self._constant, 0.0)

    def _sums(
        self,
        rows: NDArray[np.int32],
        labels: NDArray[np.int32],
        s: NDArray[np.float64],
        gradient_sum: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], float]:
        """Sums over nodes: of the score of their label and of all scores, and of the diagonal of M."""
        sums, trace = np.zeros(2), 0.0
        for start in range(0, len(rows), NODES_AT_ONCE):
            part = slice(start, start + NODES_AT_ONCE)
            scores, diagonals = self._scores(rows[part], s[part], gradient_sum)
            sums += scores[np.arange(len(scores)), labels[part]].sum(), scores.sum()
            trace += float(diagonals.sum())
        return sums, trace

    def _with_sharper_diagonal(self, u: int, evidence: Evidence) -> Evidence:
        graph = self.kernel.graph
        neighbours = max(int(graph.indptr[u + 1] - graph.indptr[u]), 1)
        row, epsilon = np.array([u], dtype=np.int32), np.array([DIAGONAL_ACCURACY / neighbours])
        entries, _ = diagonal_entries(graph, row, self.kernel.system, epsilon)
        return evidence._replace(diagonal=self.kernel.a * evidence.s**2 * float(entries[0]) + self._constant)

    def _spread(self, u: int, old: NDArray[np.float64], new: NDArray[np.float64]) -> None:
        change = new - old
        node = np.array([u], dtype=np.int32)
        sources = [Sources(y, node, change[y : y + 1]) for y in np.flatnonzero(change).tolist()]
        self.diffusion.add(sources, float(np.abs(new).max() - np.abs(old).max()))


class PushColumns:
    """Columns by the paper's FIFOPush, the kernel's constant left out."""

    def __init__(self, kernel: GraphKernel, epsilon: float) -> None:
        self.kernel = kernel
        self.epsilon = epsilon

    def __call__(self, u: int) -> Column:
        kernel = self.kernel
        nodes, estimate, _ = fifo_column(kernel.graph, u, kernel.system, kernel.limit(self.epsilon))
        s = kernel.s_of(u)
        own = float(estimate[0])  # a push lists its source first
        return Column(nodes, estimate, own, s, kernel.a * s)


class FifoFastONL(ColumnLearner):
    """The paper's practical loop: a push per arriving node. A whole stream runs in compiled code."""

    def __init__(self, kernel: GraphKernel, epsilon: float, trace: float, *, trace_per_label: bool = False) -> None:
        columns = PushColumns(kernel, epsilon)
        super().__init__(len(kernel.graph), columns, trace, trace_per_label=trace_per_label, constant=-kernel.g)
        self.kernel = kernel
        self._limit = kernel.limit(epsilon)
        # Once many nodes were learned, a workspace of its own in which the limits of all nodes are worked out, so that
        # the loop need not ask which nodes it met before.
        self._workspace: Workspace | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_workspace": None}

    def run(
        self,
        rows: NDArray[np.int32],
        labels: NDArray[np.int32],
        draws: NDArray[np.float64],
        counts: NDArray[np.int64],
        appearances: NDArray[np.int64],
        known: int,
    ) -> NDArray[np.int32]:
        """Predict and learn nodes that were not learned before, one after the other.

        The same as `best` or `draw`, and `learn`, in turn, except that of the k labels only the first `known` can be
        predicted from the start; the others join when they are learned. With `draws`, predictions are drawn from the
        distributions. Updates `counts` and `appearances` of labels.
        """
        self._make_room(len(rows))
        graph, system = self.kernel.graph, self.kernel.system
        n_learned = int(counts.sum())
        if self._workspace is None and n_learned + len(rows) > len(graph) * PART_FOR_LIMITS:
            self._workspace = Workspace(len(graph))
            neighbours = np.diff(graph.indptr)
            self._workspace.cells["limit"] = -np.maximum(self._limit * neighbours, np.finfo(np.float64).tiny)
        limits_known = self._workspace is not None
        workspace, self._workspace = self._workspace or take_workspace(graph), None
        predicted = np.empty(len(rows), dtype=np.int32)
        self._totals, self._n_rows = _fastonl.run(
            *system.arrays(graph),
            *workspace.arrays(),
            self._marks,
            self._gradients,
            self._gradient_sum,
            self._totals,
            counts,
            appearances,
            rows,
            self.kernel.s(rows),
            labels,
            draws,
            predicted,
            epsilon=self._limit,
            shift=system.shift,
            slope=system.slope,
            a=self.kernel.a,
            constant=self._constant,
            k=known,
            n_rows=self._n_rows,
            n_learned=n_learned,
            limits_known=limits_known,
        )
        if limits_known:
            self._workspace = workspace
        else:
            give_back(graph, workspace)
        return predicted
