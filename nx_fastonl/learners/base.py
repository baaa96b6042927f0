"""What every learner does, on rows of the graph and labels counted from 0."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib._sharing import ThreadLock
from nx_fastonl._lib.arrays import check_parts, check_restored
from nx_fastonl.graph.base import RowGraph
from nx_fastonl.learners._history import LabelHistory
from nx_fastonl.learners.joining import JoiningNodes

__all__ = ["Answers", "CannotFollowError", "Certificate", "JoiningAnswers", "LabelKeeper", "Learner", "summing_to_one"]


class CannotFollowError(ValueError):
    """The graph is out of the range of a model that followed it until now."""

    @classmethod
    def because(cls, error: ValueError) -> CannotFollowError:
        """The error of a model, from that of what it is made of."""
        return cls(
            f"this model cannot follow its graph as that is now: {error}. Its labels are kept, and it goes on once the "
            "change of the graph is taken back"
        )


class Certificate(NamedTuple):
    """The best label of a node, its margin, the margin's error, and whether the label is certain."""

    label: int | None
    margin: float
    error: float
    certain: bool


class Answers(NamedTuple):
    """What was predicted along a stream: the labels, -1 for None, and how probable the learner held two of them.

    A row of `probabilities` holds, as of before the node was learned, the probability of the predicted label and that
    of the true one: 0 where no label was predicted, and where the true one had not been seen. None: the learner has no
    calibrated probabilities.
    """

    predicted: NDArray[np.int32]
    probabilities: NDArray[np.float64] | None = None


class JoiningAnswers(NamedTuple):
    """The labels predicted of nodes that join, and their distributions over all labels known, a row for each node."""

    predicted: NDArray[np.int32]
    probabilities: NDArray[np.float64]


class Learner(ABC):
    """Learns labels of nodes and predicts those of others.

    Attributes
    ----------
    history : LabelHistory
        The labels of the nodes that were learned. It changes in the same compiled call as all else that learning
        changes.
    lock : ThreadLock
        Held while anything changes, and while several numbers are read that must belong together.
    calibrated : bool
        Whether `probabilities` say how often each label is right.
    parts : dict
        What is saved of it, by name, and of which type each is.
    """

    parts: ClassVar[dict[str, Any]] = {"history": LabelHistory, "_followed": object}

    history: LabelHistory
    lock: ThreadLock
    calibrated = False
    is_fitted = False  # whether the labels were known at once, where this makes a difference
    _is_following = False
    _followed: Hashable = 0  # the version of the graph that all is right for

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self.parts}

    def _restore(self, state: Mapping[str, Any]) -> None:
        """Take the parts that a pickle or a snapshot holds: those named, with a label for each row of the graph."""
        check_parts(state, "parts", self.parts)
        self.__dict__.update(state)
        check_restored(self.history.n == len(self.graph), "labels and graph")
        self.lock = ThreadLock()

    @property
    @abstractmethod
    def graph(self) -> RowGraph:
        """The graph, of which a learner may know nothing else."""

    def begin(self) -> None:
        """Begin with the graph as it is now."""
        self._followed = self.graph.version
        if self.graph.can_change:
            self.history.n_removals = self.graph.nodes.n_removals

    @property
    def is_behind(self) -> bool:
        """Whether the graph has changed since this last caught up with it."""
        return self._followed != self.graph.version

    def follow(self) -> Learner:
        """Catch up with the graph, which may have changed, and forget the labels of nodes that have left it.

        The graph must not change meanwhile. If this is interrupted, the next call goes on. It returns the learner that
        has caught up: this one, or the one that a `WaitingLearner` makes. If the graph is out of its range, it raises a
        CannotFollowError and leaves what was learned as it is.
        """
        graph = self.graph
        if self._followed == graph.version:
            return self
        with self.lock:
            if self._followed == graph.version:  # another thread did it
                return self
            if self._is_following:
                raise RuntimeError("this model is catching up with its graph; a signal handler cannot use it meanwhile")
            self._is_following = True
            try:
                self.history.add_rows(len(graph))
                try:
                    self.catch_up()
                except ValueError as error:
                    raise CannotFollowError.because(error) from error
                for u in graph.nodes.removed_since(self.history.n_removals):
                    if self.history.label_of(u) is not None:
                        self.forget(u)
                self.begin()
            finally:
                self._is_following = False
        return self

    def learned(self) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """The nodes that were learned and are in the graph, in the order in which they arrived, and their labels.

        For this and the next two, the learner need not have caught up with the graph.
        """
        (rows, labels), gone = self.history.learned(), self._gone()
        if gone:
            stay = ~np.isin(rows, gone)
            rows, labels = rows[stay], labels[stay]
        return rows, labels

    @property
    def n_learned(self) -> int:
        """How many nodes were learned and are in the graph."""
        return self.history.n_learned - sum(self.history.label_of(u) is not None for u in self._gone())

    def has_learned(self, u: int) -> bool:
        """Whether the node that has row u now was learned."""
        return u < self.history.n and self.history.label_of(u) is not None and u not in self._gone()

    def _gone(self) -> list[int]:
        """The rows of nodes that have left the graph since this last caught up with it."""
        graph = self.graph
        if not graph.can_change:
            return []
        gone: list[int] = [u for u in graph.nodes.removed_since(self.history.n_removals) if u < self.history.n]
        return gone

    @abstractmethod
    def catch_up(self) -> None:
        """Make all but the history right for the graph as it is now: what follows from rows and edges."""

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

    def fit(self, rows: NDArray[np.int32], labels: NDArray[np.int32]) -> None:
        """The same where nothing was learned before and the order means nothing, which may take more time."""
        self.learn_many(rows, labels)

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

    def prediction_sets(
        self,
        rows: NDArray[np.int32],  # noqa: ARG002  most learners cannot
        coverage: float,  # noqa: ARG002
    ) -> list[NDArray[np.int32]] | None:
        """For each node a set of labels that holds the true one this often along a stream; None if there are none."""
        return None

    def run(self, rows: NDArray[np.int32], labels: NDArray[np.int32], draws: NDArray[np.float64]) -> Answers:
        """Predict and learn nodes that were not learned before, one after the other.

        Predictions are those of `best`, or with a number for each node in `draws` those of `draw`. If this raises,
        ``history.n_learned`` tells how many nodes were learned.
        """
        predicted: list[int | None] = []
        probabilities: list[list[float]] = []
        for i, (u, y) in enumerate(zip(rows.tolist(), labels.tolist(), strict=True)):
            found = self.draw(u, draws[i]) if len(draws) else self.best(u)
            predicted.append(found)
            if self.calibrated:
                known = self.probabilities(u)
                probabilities.append(
                    [known[label] if label is not None and label < len(known) else 0.0 for label in (found, y)]
                )
            self.learn(u, y)
        return Answers(_as_codes(predicted), np.array(probabilities).reshape(-1, 2) if self.calibrated else None)

    @abstractmethod
    def forget(self, u: int) -> None:
        """Take the label of node `u`, which was learned, out again: all or nothing."""

    def reached(self, rows: NDArray[np.int32]) -> NDArray[np.bool_] | None:  # noqa: ARG002  most learners do not tell
        """Whether any learned label is in reach of each node; None if the learner does not tell."""
        return None

    def join(self, nodes: JoiningNodes) -> JoiningAnswers | None:  # noqa: ARG002  most learners cannot
        """What is predicted of nodes outside of the graph, each as if it alone joined; None if that is not known."""
        return None

    def certify(self, u: int, max_operations: int) -> Certificate | None:  # noqa: ARG002  most learners cannot
        """The label that the exact kernel gives to node u, as far as that can be proved; None if there is no proof."""
        return None


class LabelKeeper(Learner):
    """Learns nothing beyond the labels themselves."""

    def __init__(self, graph: RowGraph, history: LabelHistory) -> None:
        self._graph, self.history = graph, history
        self.lock = ThreadLock()
        self.begin()

    @property
    def graph(self) -> RowGraph:
        return self._graph

    def learn(self, u: int, y: int) -> None:
        self.learn_many(np.array([u], dtype=np.int32), np.array([y], dtype=np.int32))

    def learn_many(self, rows: NDArray[np.int32], labels: NDArray[np.int32]) -> None:
        self.reserve_labels(int(labels.max(initial=-1)) + 1)
        self.history.record(rows, labels)

    def forget(self, u: int) -> None:
        self.history.drop(u)


def summing_to_one(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows divided by their sums; uniform where that is 0."""
    totals = shares.sum(axis=1, keepdims=True)
    return np.where(totals > 0.0, shares / np.where(totals > 0.0, totals, 1.0), 1.0 / max(shares.shape[1], 1))


def _as_codes(labels: list[int | None]) -> NDArray[np.int32]:
    return np.array([-1 if y is None else y for y in labels], dtype=np.int32)
