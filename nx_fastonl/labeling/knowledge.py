"""What a labeler has learned: names of labels and their numbers, the labels of nodes, and the learner."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nx_fastonl.learners._history import LabelHistory
from nx_fastonl.learners.base import Learner

__all__ = ["Knowledge"]


@dataclass
class Knowledge:
    """What a labeler has learned; `OnlineNodeLabeler.fit` replaces it whole."""

    learner: Learner
    classes: list[Any]  # the label of each number
    codes: dict[Hashable, int] = field(init=False)  # the number of each label
    learned: dict[int, int] = field(default_factory=dict)  # the number of the label of each learned row

    def __post_init__(self) -> None:
        self.codes = {label: y for y, label in enumerate(self.classes)}

    def blank(self, given: list[Any] | None) -> Knowledge:
        """The same with nothing learned, and only the classes that were given."""
        classes = list(given or ())
        return Knowledge(self.learner.blank(LabelHistory(len(classes))), classes)

    def code_of(self, label: Hashable) -> int:
        """The number of a label, a new one if it has none yet."""
        if label not in self.codes:
            self.classes.append(label)  # first: another thread may predict it as soon as the learner knows it
            self.learner.reserve_labels(len(self.classes))
            self.codes[label] = len(self.classes) - 1
        return self.codes[label]

    def record(self, rows: Iterable[int]) -> None:
        """Copy from the learner which of these rows were learned, and drop labels that no node has."""
        for u in rows:
            y = self.learner.label_of(u)
            if y is not None:
                self.learned[u] = y
        while len(self.classes) > self.learner.k:
            self.codes.pop(self.classes.pop(), None)

    def catch_up(self, n: int) -> None:
        """Take over what an interrupt kept from being recorded."""
        if len(self.learned) != self.learner.history.n_learned:
            self.record(range(n))

    def names(self, codes: NDArray[np.int32]) -> list[Any]:
        """The labels of these numbers; None for -1."""
        classes = [*self.classes, None]
        return [classes[y] for y in codes.tolist()]
