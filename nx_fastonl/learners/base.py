"""What every learner does, on rows of the graph and labels counted from 0."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nx_fastonl.learners._history import LabelHistory

__all__ = ["Certificate", "Learner", "summing_to_one"]


class Certificate(NamedTuple):
    """The best label of a node, its margin, the margin's error, and whether the label is certain."""

    label: int | None
    margin: float
    error: float
    certain: bool


class Learner(ABC):
    """Learns labels of nodes and predicts those of others.

    Attributes
    ----------
    history : LabelHistory
        The labels of the nodes that were learned. It changes in the same compiled call as all else that learning
        changes.
    """

    history: LabelHistory
    calibrated = False  # whether probabilities say how often a label is right

    @property
    def k(self) -> int:
        """The number of labels known."""
        return self.history.k

    @abstractmethod
    def blank(self, history: LabelHistory) -> Learner:
        """A learner that has learned nothing. It shares with this one whatever does not depend on labels."""

    def reserve_labels(self, k: int) -> None:
        """Make room for k labels."""
        self.history.reserve(k)

    @abstractmethod
    def learn(self, u: int, y: int) -> None:
        """Learn label `y` of node `u`, in place of another that it had: all or nothing. There must be room for it."""

    @abstractmethod
    def learn_many(self, rows: NDArray[np.int32], labels: NDArray[np.int32]) -> None:
        """Learn labels of distinct nodes that were not learned before, in no particular order: all or none."""

    @abstractmethod
    def best(self, u: int) -> int | None:
        """The best label, ties broken by the history. None means: guess at random, or there is no label yet."""

    @abstractmethod
    def draw(self, u: int, number: float) -> int | None:
        """The label that a number between 0 and 1 picks from the distribution; None while there is no label."""

    @abstractmethod
    def probabilities(self, u: int) -> NDArray[np.float64]:
        """The distribution over the k labels."""

    def best_of_each(self, rows: NDArray[np.int32]) -> NDArray[np.int32]:
        """What `best` gives for each node; -1 for None."""
        return _as_codes([self.best(u) for u in rows.tolist()])

    def probabilities_of_each(self, rows: NDArray[np.int32], k: int) -> NDArray[np.float64]:
        """The distribution over the first k labels for each node, as rows of a matrix."""
        found = np.array([self.probabilities(u)[:k] for u in rows.tolist()]).reshape(len(rows), k)
        return summing_to_one(found) if k < self.k else found  # a label has just joined

    def run(self, rows: NDArray[np.int32], labels: NDArray[np.int32], draws: NDArray[np.float64]) -> NDArray[np.int32]:
        """Predict and learn nodes that were not learned before, one after the other.

        Predictions are those of `best`, or with a number for each node in `draws` those of `draw`; -1 for None. If this
        raises, ``history.n_learned`` tells how many nodes were learned.
        """
        predicted = []
        for i, (u, y) in enumerate(zip(rows.tolist(), labels.tolist(), strict=True)):
            predicted.append(self.draw(u, draws[i]) if len(draws) else self.best(u))
            self.learn(u, y)
        return _as_codes(predicted)

    @abstractmethod
    def forget(self, u: int) -> None:
        """Take the label of node `u`, which was learned, out again: all or nothing."""

    def certify(self, u: int, max_operations: int) -> Certificate | None:  # noqa: ARG002  most learners cannot
        """The label that the exact kernel gives to node u, as far as that can be proved; None if there is no proof."""
        return None


def summing_to_one(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows divided by their sums; uniform where that is 0."""
    totals = shares.sum(axis=1, keepdims=True)
    return np.where(totals > 0.0, shares / np.where(totals > 0.0, totals, 1.0), 1.0 / max(shares.shape[1], 1))


def _as_codes(labels: list[int | None]) -> NDArray[np.int32]:
    return np.array([-1 if y is None else y for y in labels], dtype=np.int32)
