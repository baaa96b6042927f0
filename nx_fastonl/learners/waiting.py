"""What is left of a learner that cannot be made at present: its labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.arrays import check_restored, restored_array, restored_count, shape_of
from nx_fastonl.graph.base import RowGraph
from nx_fastonl.learners._history import LabelHistory
from nx_fastonl.learners.base import CannotFollowError, LabelKeeper, Learner

__all__ = ["WaitingLearner", "checked_history"]


class WaitingLearner(LabelKeeper):
    """Has the labels of a learner whose graph is out of its range, and makes it anew once the graph is not.

    Parameters
    ----------
    graph : RowGraph
    history : LabelHistory
    make : callable
        From a new history, with as many rows and labels, to the learner; a ValueError if it cannot be made.
    calibrated : bool
        As the learner has it.
    fitted : bool
        Whether the labels were known at once.
    """

    def __init__(
        self,
        graph: RowGraph,
        history: LabelHistory,
        make: Callable[[LabelHistory], Learner],
        *,
        calibrated: bool,
        fitted: bool,
    ) -> None:
        super().__init__(graph, history)
        self._make = make
        self._made: Learner | None = None
        self.calibrated, self.is_fitted = calibrated, fitted

    def follow(self) -> Learner:
        with self.lock:
            if self._made is None:
                self._forget_removed()
                try:
                    self._made = self._relearned()
                except ValueError as error:
                    raise CannotFollowError.because(error) from error
            return self._made

    def _forget_removed(self) -> None:
        """Forget the labels of nodes that have left the graph."""
        self.history.add_rows(len(self._graph))
        for u in self._graph.nodes.removed_since(self.history.n_removals):
            self.history.drop(u)
        self.begin()

    def _relearned(self) -> Learner:
        rows, labels = self.history.learned()
        learner = self._make(LabelHistory(len(self._graph), self.k))
        learn = learner.fit if self.is_fitted else learner.learn_many
        if len(rows):
            learn(rows.astype(np.int32), labels)
        learner.begin()
        return learner

    def _ask_made(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("follow() gives the learner to ask")

    catch_up = blank = best = draw = probabilities = _ask_made


def checked_history(n: int, k: int, rows: NDArray[np.integer], labels: NDArray[np.integer]) -> LabelHistory:
    """The history of n nodes and k labels in which these nodes were learned, as a snapshot has it, checked."""
    (count,) = shape_of(rows, "labels", 1)
    history = LabelHistory(n, restored_count(k, "labels"))
    learned = restored_array(rows, "labels", np.intp, (count,), 0, n - 1).astype(np.int32)
    check_restored(len(np.unique(learned)) == count, "labels")
    history.record(learned, restored_array(labels, "labels", np.int32, (count,), 0, k - 1))
    return history
