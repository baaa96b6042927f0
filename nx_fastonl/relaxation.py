"""The online relaxation: water-filling, surrogate gradients, and the learner that keeps them. No graph in it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nx_fastonl import _relaxation
from nx_fastonl._arrays import enlarged

__all__ = ["surrogate_gradient", "surrogate_loss", "water_filling"]

MARK = np.dtype([("s", np.float64), ("label", np.int32), ("row", np.int32)])


def water_filling(psi: ArrayLike) -> NDArray[np.float64]:
    """The distribution ``q = max(psi - tau, 0)`` over labels, with tau such that q sums to 1.

    Parameters
    ----------
    psi : array_like of float
        The scores of one or more labels.

    Returns
    -------
    numpy.ndarray
        The labels' probabilities. Adding the same number to all scores changes nothing.

    Raises
    ------
    ValueError
        If `psi` is empty, not one-dimensional or not finite.

    Examples
    --------
    >>> from nx_fastonl.relaxation import water_filling
    >>> water_filling([0.5, 0.25, -3.0]).tolist()
    [0.625, 0.375, 0.0]
    """
    scores = _as_scores(psi)
    probabilities = np.empty_like(scores)
    _relaxation.fill(scores, np.empty_like(scores), probabilities)
    return probabilities


def surrogate_loss(psi: ArrayLike, y: int) -> float:
    """The convex loss that stands in for a mistake: at least ``1 - water_filling(psi)[y]``.

    With S the labels that have a positive probability: ``1 - q[y]`` if y is among them, otherwise
    ``(1 + max of the other scores - psi[y]) / (1 + 1 / |S|)``.

    Parameters
    ----------
    psi : array_like of float
        The scores of one or more labels.
    y : int
        The label revealed.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `psi` is empty, not one-dimensional or not finite, or has no entry `y`.

    Examples
    --------
    >>> from nx_fastonl.relaxation import surrogate_loss
    >>> surrogate_loss([0.5, 0.25, -3.0], 0), surrogate_loss([0.5, 0.25, -3.0], 2)
    (0.375, 3.0)
    """
    return _surrogate(psi, y)[0]


def surrogate_gradient(psi: ArrayLike, y: int) -> NDArray[np.float64]:
    """The gradient of `surrogate_loss`: what the learner keeps of a node. It sums to 0.

    Parameters
    ----------
    psi : array_like of float
        The scores of one or more labels.
    y : int
        The label revealed.

    Returns
    -------
    numpy.ndarray

    Raises
    ------
    ValueError
        If `psi` is empty, not one-dimensional or not finite, or has no entry `y`.

    Examples
    --------
    >>> from nx_fastonl.relaxation import surrogate_gradient
    >>> surrogate_gradient([0.5, 0.25, -3.0], 0).tolist()
    [-0.5, 0.5, 0.0]
    """
    return _surrogate(psi, y)[1]


def _surrogate(psi: ArrayLike, y: int) -> tuple[float, NDArray[np.float64]]:
    scores = _as_scores(psi)
    if not 0 <= y < len(scores):
        raise ValueError(f"y must be a label between 0 and {len(scores) - 1}, got {y!r}")
    gradient = np.empty_like(scores)
    loss = _relaxation.gradient(scores, y, np.empty_like(scores), gradient)
    return loss, gradient


def _as_scores(psi: ArrayLike) -> NDArray[np.float64]:
    scores = np.array(psi, dtype=np.float64)
    if scores.ndim != 1 or scores.size == 0 or not np.isfinite(scores).all():
        raise ValueError(f"psi must be a list of one or more finite numbers, got {psi!r}")
    return np.asarray(scores - scores.max())  # a shift changes nothing, and keeps the level's digits


class Evidence(NamedTuple):
    """What speaks for the labels of a node t: smaller scores for better labels."""

    scores: NDArray[np.float64]  # G @ M[:, t]
    size: float  # the largest magnitude that they were summed from
    diagonal: float  # M[t, t]
    s: float  # s_t


class RelaxationLearner(ABC):
    """Learns from labels through a kernel matrix M.

    The score of node t is ``v = G @ M[:, t]``, where G holds a gradient for each node learned. How to come by the
    scores is up to the subclass.

    Parameters
    ----------
    n : int
        The number of nodes.
    trace : float
        T_1, the trace of M.
    trace_per_label : bool
        Whether T_1 is `trace` for each known label, as in the paper's experiments.
    constant : float
        What is added to every entry of M.
    """

    def __init__(self, n: int, trace: float, *, trace_per_label: bool = False, constant: float = 0.0) -> None:
        self._totals: _relaxation.Totals = {
            "squares": 0.0,
            "ones": 0.0,
            "spent": 0.0,
            "trace": trace,
            "per_label": trace_per_label,
        }
        self._constant = constant
        self.k = 0
        # What is kept of each node: s_i times its gradient. Those of several entries are rows of `_gradients`, of
        # which row 0 is nobody's; rows and lanes are added by doubling.
        self._marks = np.zeros(n, dtype=MARK)
        self._gradients = np.zeros((16, 4))
        self._n_rows = 1
        self._free_rows: list[int] = []
        self._gradient_sum = np.zeros(4)

    @abstractmethod
    def _evidence(self, u: int) -> Evidence:
        """What speaks for the labels of node u, by what is kept of all nodes."""

    def _spread(  # noqa: B027  scores may need no preparation
        self, u: int, old: NDArray[np.float64], new: NDArray[np.float64]
    ) -> None:
        """Prepare for scores after what is kept of node u has changed. If it raises, nothing must have changed."""

    def _with_sharper_diagonal(self, u: int, evidence: Evidence) -> Evidence:  # noqa: ARG002  it may be exact already
        """The same with a diagonal entry that is hardly off, where it was only estimated."""
        return evidence

    def prepare(self, u: int) -> None:  # noqa: B027  nothing may take long
        """Do what takes long of `learn`, without changing anything."""

    def add_label(self) -> None:
        """Make room for one more label, which no node has had yet."""
        lanes = len(self._gradient_sum)
        if self.k == lanes:
            self._gradients = enlarged(self._gradients, len(self._gradients), 2 * lanes)
            self._gradient_sum = enlarged(self._gradient_sum, 2 * lanes)
        self.k += 1  # last: a thread that predicts meanwhile must not look for lanes that are not there yet

    def drop_label(self) -> None:
        """Take `add_label` back, for a label that no node has got."""
        self.k -= 1

    def best(self, u: int, counts: NDArray[np.int64], appearances: NDArray[np.int64]) -> int | None:
        """The label with the best score; ties by counts, then by appearances. None while there is no label."""
        scores, size, _, _ = self._evidence(u)
        return _relaxation.best(scores, size, counts, appearances) if len(scores) else None

    def draw(self, u: int, number: float) -> int | None:
        """The label that a number between 0 and 1 picks from the distribution. None while there is no label."""
        psi = self._psi(u)
        return _relaxation.drawn(psi, number) if len(psi) else None

    def probabilities(self, u: int) -> NDArray[np.float64]:
        """The distribution over labels that a prediction is drawn from."""
        psi = self._psi(u)
        return water_filling(psi) if len(psi) else psi

    def learn(self, u: int, y: int) -> None:
        """Keep the gradient of label `y` at node `u`, in place of what was kept of u before."""
        self._learn(u, y, alone=False)

    def fit(self, rows: NDArray[np.int32], labels: NDArray[np.int32]) -> None:
        """Keep a gradient of each of these nodes, which are new, as if it were the only one: in any order."""
        totals, gradient_sum = self._totals, self._gradient_sum  # replaced in learning, not changed
        learned = []
        try:
            for u, y in zip(rows.tolist(), labels.tolist(), strict=True):
                self._learn(u, y, alone=True)
                learned.append(u)
        except BaseException:
            for u in learned:
                self._spread(u, self._kept(u), np.zeros(self.k))
                self._marks[u] = 0
            self._totals, self._gradient_sum = totals, gradient_sum
            raise

    def _learn(self, u: int, y: int, *, alone: bool) -> None:
        evidence = self._evidence(u)
        old_s, _, old_row = self._marks[u].item()
        old = self._kept(u)
        totals, gradient_sum, scores = self._totals.copy(), self._gradient_sum.copy(), evidence.scores
        if old_s:
            # Without what was kept of u itself, scores differ by just that.
            evidence = self._with_sharper_diagonal(u, evidence)
            gradient = old / old_s
            scores = scores - evidence.diagonal * gradient
            gradient_sum[: self.k] -= gradient
            totals["squares"] -= evidence.diagonal * float(gradient @ gradient) + 2.0 * float(gradient @ scores)
            totals["spent"] -= evidence.diagonal
            totals["ones"] -= 0.0 if old_row else evidence.diagonal - 2.0 * float(scores.sum())
        self._make_room(1)
        free = self._free_rows[-1] if self._free_rows else self._n_rows
        mark, totals = _relaxation.keep(
            scores,
            y,
            evidence.diagonal,
            evidence.s,
            self._gradients[free],
            free,
            gradient_sum,
            totals,
            np.empty((2, self.k)),
            alone,
        )
        new = self._gradients[free, : self.k] if mark[2] else self._one_entry(y, mark[0])
        self._spread(u, old, new)
        # Nothing was changed up to here.
        self._marks[u] = mark
        self._totals, self._gradient_sum = totals, gradient_sum
        if mark[2] and self._free_rows:
            self._free_rows.pop()
        elif mark[2]:
            self._n_rows += 1
        if old_row:
            self._free_rows.append(old_row)

    def _kept(self, u: int) -> NDArray[np.float64]:
        """What is kept of node u: s times its gradient."""
        s, label, row = self._marks[u].item()
        return self._gradients[row, : self.k].copy() if row else self._one_entry(label, s)

    def _one_entry(self, label: int, s: float) -> NDArray[np.float64]:
        kept = np.zeros(self.k)
        kept[label : label + 1] = -s  # nothing while there is no label
        return kept

    def _make_room(self, count: int) -> None:
        """Have `count` rows more than are in use."""
        rows, lanes = self._gradients.shape
        if self._n_rows + count > rows:
            self._gradients = enlarged(self._gradients, max(self._n_rows + count, 2 * rows), lanes, used=self._n_rows)

    def _psi(self, u: int) -> NDArray[np.float64]:
        scores, _, diagonal, _ = self._evidence(u)
        psi = np.empty_like(scores)
        if len(psi):
            _relaxation.psi(scores, diagonal, self._totals, psi)
        return psi


class Column(NamedTuple):
    """Column t of a kernel matrix: ``M[i, t] = factor * s_i * values[i] + constant`` at `nodes`, else `constant`."""

    nodes: NDArray[np.int32]
    values: NDArray[np.float64]
    own: float  # the value at node t itself
    s: float  # s_t
    factor: float  # common to the whole column


class ColumnLearner(RelaxationLearner):
    """Comes by scores through columns of M, one at a time.

    Parameters
    ----------
    n, trace, trace_per_label, constant
        As for `RelaxationLearner`.
    columns : callable
        From the row of a node to its `Column`.
    symmetrized : bool
        Take the mean of ``G @ M[:, t]`` and ``G @ M[t, :]``, as the paper's analysis does.
    """

    def __init__(
        self,
        n: int,
        columns: Callable[[int], Column],
        trace: float,
        *,
        trace_per_label: bool = False,
        constant: float = 0.0,
        symmetrized: bool = False,
    ) -> None:
        super().__init__(n, trace, trace_per_label=trace_per_label, constant=constant)
        self._columns = columns
        # Where symmetrized: the sum over learned nodes i of s_i gradient_i times their columns' values at each node.
        self._row_scores = np.zeros((n, 4)) if symmetrized else None
        self._latest: tuple[int, Column] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_latest": None}

    def add_label(self) -> None:
        if self._row_scores is not None and self.k == self._row_scores.shape[1]:
            self._row_scores = enlarged(self._row_scores, len(self._row_scores), 2 * self.k)
        super().add_label()

    def prepare(self, u: int) -> None:
        """Get the column of node u, so that learning it next takes no time and cannot be interrupted half-way."""
        self._column(u)

    def _spread(self, u: int, old: NDArray[np.float64], new: NDArray[np.float64]) -> None:
        if self._row_scores is not None:
            column = self._column(u)
            _relaxation.add_to_rows(column.nodes, column.values, new - old, self._row_scores)

    def _column(self, u: int) -> Column:
        """The column of node u; the latest is kept, so that learning what was just predicted costs no second one."""
        latest = self._latest
        if latest is not None and latest[0] == u:
            return latest[1]
        column = self._columns(u)
        self._latest = (u, column)
        return column

    def _evidence(self, u: int) -> Evidence:
        column = self._column(u)
        diagonal = column.factor * column.s * column.own + self._constant
        scores = np.zeros(self.k)  # k is read once: another thread may add a label meanwhile
        k = len(scores)
        if k == 0:
            return Evidence(scores, 0.0, diagonal, column.s)
        size = _relaxation.add_gradients(column.nodes, column.values, self._marks, self._gradients, scores)
        if self._row_scores is not None:
            scores += self._row_scores[u, :k]
            scores *= 0.5
        scores *= column.factor
        size *= column.factor
        if self._constant != 0.0:
            shift = self._constant * self._gradient_sum[:k]
            scores += shift
            size = max(size, float(np.abs(shift).max()))
        return Evidence(scores, size, diagonal, column.s)
