"""The online relaxation: water-filling, surrogate gradients, and the learner that keeps them. No graph in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nx_fastonl import _relaxation

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


class Column(NamedTuple):
    """Column t of a kernel matrix: ``M[i, t] = factor * s_i * values[i] + constant`` at `nodes`, else `constant`."""

    nodes: NDArray[np.int32]
    values: NDArray[np.float64]
    own: float  # the value at node t itself
    s: float  # s_t
    factor: float  # common to the whole column


class RelaxationLearner:
    """Learns from labels through the columns of a kernel matrix M.

    The score of node t is ``v = G @ M[:, t]``, where G holds a gradient for each node learned. Smaller is better.

    Parameters
    ----------
    n : int
        The number of nodes.
    columns : callable
        From the row of a node to its `Column`.
    trace : float
        T_1, the trace of M.
    trace_per_label : bool
        Whether T_1 is `trace` for each known label, as in the paper's experiments.
    constant : float
        What is added to every entry of M.
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
        self._columns = columns
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
        # Where symmetrized: the sum over learned nodes i of s_i gradient_i times their columns' values at each node.
        self._row_scores = np.zeros((n, 4)) if symmetrized else None
        self._latest: tuple[int, Column] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_latest": None}

    def add_label(self) -> None:
        """Make room for one more label, which no node has had yet."""
        lanes = len(self._gradient_sum)
        if self.k == lanes:
            self._gradients = np.pad(self._gradients, ((0, 0), (0, lanes)))
            self._gradient_sum = np.pad(self._gradient_sum, (0, lanes))
            if self._row_scores is not None:
                self._row_scores = np.pad(self._row_scores, ((0, 0), (0, lanes)))
        self.k += 1  # last: a thread that predicts meanwhile must not look for lanes that are not there yet

    def prepare(self, u: int) -> None:
        """Get the column of node u, so that learning it next takes no time and cannot be interrupted half-way."""
        self._column(u)

    def best(self, u: int, counts: NDArray[np.int64], appearances: NDArray[np.int64]) -> int | None:
        """The label with the best score; ties by counts, then by appearances. None while there is no label."""
        scores, size = self._scores(u, self._column(u))
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
        column = self._column(u)
        self._forget(u, column)
        self._make_room(1)
        row_number = self._free_rows[-1] if self._free_rows else self._n_rows
        mark, self._totals = _relaxation.keep(
            self._scores(u, column)[0],
            y,
            self._diagonal(column),
            column.s,
            self._gradients[row_number],
            row_number,
            self._gradient_sum,
            self._totals,
            np.empty((2, self.k)),
        )
        self._marks[u] = mark
        if mark[2] and self._free_rows:
            self._free_rows.pop()
        elif mark[2]:
            self._n_rows += 1
        self._spread(u, column, 1.0)

    def _forget(self, u: int, column: Column) -> None:
        """Take back what was kept of node u, if anything was."""
        s, _, row = self._marks[u].item()
        if s == 0.0:
            return
        kept = self._kept(u) / s
        self._spread(u, column, -1.0)
        self._marks[u] = 0
        self._gradient_sum[: self.k] -= kept
        scores, _ = self._scores(u, column)
        diagonal = self._diagonal(column)
        self._totals["squares"] -= diagonal * float(kept @ kept) + 2.0 * float(kept @ scores)
        self._totals["spent"] -= diagonal
        if row:
            self._free_rows.append(row)
        else:
            self._totals["ones"] -= diagonal - 2.0 * float(scores.sum())

    def _kept(self, u: int) -> NDArray[np.float64]:
        """What is kept of node u: s times its gradient."""
        s, label, row = self._marks[u].item()
        if row:
            return self._gradients[row, : self.k]
        kept = np.zeros(self.k)
        kept[label] = -s
        return kept

    def _spread(self, u: int, column: Column, sign: float) -> None:
        """Where symmetrized, add what is kept of node u to all that its column reaches."""
        if self._row_scores is not None:
            _relaxation.add_to_rows(column.nodes, column.values, sign * self._kept(u), self._row_scores)

    def _make_room(self, count: int) -> None:
        """Have `count` rows more than are in use."""
        more = self._n_rows + count - len(self._gradients)
        if more > 0:
            self._gradients = np.pad(self._gradients, ((0, max(more, len(self._gradients))), (0, 0)))

    def _column(self, u: int) -> Column:
        """The column of node u; the latest is kept, so that learning what was just predicted costs no second one."""
        latest = self._latest
        if latest is not None and latest[0] == u:
            return latest[1]
        column = self._columns(u)
        self._latest = (u, column)
        return column

    def _scores(self, u: int, column: Column) -> tuple[NDArray[np.float64], float]:
        """The scores ``G @ M[:, u]``, and the largest magnitude that they were summed from."""
        scores = np.zeros(self.k)  # k is read once: another thread may add a label meanwhile
        k = len(scores)
        if k == 0:
            return scores, 0.0
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
        return scores, size

    def _psi(self, u: int) -> NDArray[np.float64]:
        column = self._column(u)
        scores, _ = self._scores(u, column)
        psi = np.empty_like(scores)
        if len(psi):
            _relaxation.psi(scores, self._diagonal(column), self._totals, psi)
        return psi

    def _diagonal(self, column: Column) -> float:
        return column.factor * column.s * column.own + self._constant
