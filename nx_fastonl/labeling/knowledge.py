"""What a labeler has learned: the learner, and the labels behind the numbers that it counts with."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.arrays import check_restored
from nx_fastonl.learners._history import LabelHistory
from nx_fastonl.learners.base import Learner

__all__ = ["Knowledge", "LabelEntry", "restored_knowledge"]


class LabelEntry:
    """A label, and its number once a node was learned with it. Labels that are equal share one entry."""

    __slots__ = ("label", "number")

    def __init__(self, label: Hashable) -> None:
        self.label = label
        self.number: int | None = None


class Knowledge:
    """What a labeler has learned; `OnlineNodeLabeler.fit` replaces it whole.

    Looking up an entry runs the label's own ``__hash__`` and ``__eq__``, so it is done while no lock is held. All else
    works with entries.

    The learner alone says what was learned, and it changes in one compiled call. An interrupt before that call may
    leave numbered entries that no node has: they are beyond the learner's k, and the next change takes their numbers
    back.

    Parameters
    ----------
    learner : Learner
    given : sequence of labels
        All possible labels, numbered from the start; empty if they are discovered.
    """

    def __init__(self, learner: Learner, given: Sequence[Hashable]) -> None:
        self.learner = learner
        self._entries = {label: LabelEntry(label) for label in given}
        self._numbered = list(self._entries.values())
        for number, entry in enumerate(self._numbered):
            entry.number = number

    def __reduce__(self) -> tuple[Any, ...]:
        return restored_knowledge, (self.learner, self.classes)

    def blank(self, given: Sequence[Hashable]) -> Knowledge:
        """The same with nothing learned."""
        return Knowledge(self.learner.blank(LabelHistory(self.learner.history.n, len(given))), given)

    @property
    def classes(self) -> list[Any]:
        """The labels known, in the order of their numbers."""
        return [entry.label for entry in self._numbered[: self.learner.k]]

    @property
    def n_learned(self) -> int:
        return self.learner.history.n_learned

    def follow(self) -> None:
        """Catch up with the graph: see `Learner.follow`."""
        self.learner = self.learner.follow()

    def find(self, label: Hashable) -> LabelEntry | None:
        """The entry of a label, if it has one."""
        return self._entries.get(label)

    def entry(self, label: Hashable) -> LabelEntry:
        """The entry of a label, a new one if it has none."""
        found = self._entries.get(label)
        return self._entries.setdefault(label, LabelEntry(label)) if found is None else found

    def label_of(self, u: int) -> Any:
        """The label that node u was learned with; None if it was not."""
        y = self.learner.history.label_of(u)
        return None if y is None else self._numbered[y].label

    def first_learned(self, rows: NDArray[np.int32]) -> int | None:
        """The first of these nodes that was learned before; None if none was."""
        again = np.flatnonzero(self.learner.history.labels_of(rows) >= 0)
        return int(rows[again[0]]) if len(again) else None

    def label(self, number: int | None) -> Any:
        """The label with this number; None for None and -1."""
        return None if number is None or number < 0 else self._numbered[number].label

    def labels(self, numbers: NDArray[np.int32]) -> list[Any]:
        """The labels with these numbers; None for -1."""
        labels = [*(entry.label for entry in self._numbered), None]
        return [labels[number] for number in numbers.tolist()]

    def learned(self) -> tuple[list[int], list[Any]]:
        """The nodes that were learned, in the order in which they arrived, and their labels."""
        rows, numbers = self.learner.learned()
        return rows.tolist(), self.labels(numbers)

    def numbers(self, entries: Iterable[LabelEntry]) -> NDArray[np.int32]:
        """The numbers of these entries, new ones for those that have none; the learner gets room for them."""
        while len(self._numbered) > self.learner.k:
            self._numbered[-1].number = None
            self._numbered.pop()
        found = []
        for entry in entries:
            if entry.number is None:
                self._numbered.append(entry)
                entry.number = len(self._numbered) - 1
            found.append(entry.number)
        self.learner.reserve_labels(len(self._numbered))
        return np.array(found, dtype=np.int32)


def restored_knowledge(learner: Learner, classes: list[Hashable]) -> Knowledge:
    """What a pickle or a snapshot holds, checked."""
    check_restored(learner.k == len(classes) == len(set(classes)), "labels and classes")
    return Knowledge(learner, classes)
