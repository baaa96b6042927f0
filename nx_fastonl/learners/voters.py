"""Methods without a kernel: labelled neighbours vote, or the nearest labelled nodes on random spanning trees."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.arrays import check_restored, restored_array, shape_of
from nx_fastonl.graph.base import RowGraph
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.learners import _relaxation, _tree
from nx_fastonl.learners._history import LabelHistory
from nx_fastonl.learners.base import LabelKeeper

__all__ = ["WeightedMajority", "WeightedTree"]

# A walk that takes more steps than this for each edge is stuck between edges of very different weights.
MAX_STEPS_PER_EDGE = 10_000


class _Voter(LabelKeeper):
    """Subclasses decide who votes."""

    guesses = False  # whether a node without a vote gets a random label rather than the most frequent one

    parts: ClassVar[dict[str, Any]] = {**LabelKeeper.parts, "_graph": RowGraph}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._restore(state)

    def blank(self, history: LabelHistory) -> _Voter:
        other = copy(self)
        _Voter.__init__(other, self._graph, history)
        return other

    @abstractmethod
    def votes(self, u: int) -> NDArray[np.float64]:
        """A number for each label, larger is better."""

    def best(self, u: int) -> int | None:
        votes = self.votes(u)
        if len(votes) == 0 or (self.guesses and not votes.any()):
            return None
        return _relaxation.best(self.history, -votes, float(votes.max()))

    def draw(self, u: int, number: float) -> int | None:
        below = np.cumsum(self.probabilities(u))
        if len(below) == 0:
            return None
        # The first label whose running sum exceeds the number. Despite rounding, its probability is never 0.
        return int((below > min(number, float(np.nextafter(below[-1], 0.0)))).argmax())

    def probabilities(self, u: int) -> NDArray[np.float64]:
        """The shares of the votes; uniform where there is none."""
        votes = self.votes(u)
        return votes / votes.sum() if votes.any() else np.full(len(votes), 1.0 / max(len(votes), 1))


class WeightedMajority(_Voter):
    """The labelled neighbours vote, each with the weight of its edge."""

    guesses = True  # as in the paper's experiments

    def catch_up(self) -> None:
        """Nothing: votes are counted when they are asked for."""

    def votes(self, u: int) -> NDArray[np.float64]:
        start = int(self._graph.row_starts[u])
        row = slice(start, start + int(self._graph.neighbor_counts(u)))
        neighbours, weights = self._graph.indices[row], self._graph.weights
        labels = self.history.labels_of(neighbours)
        voting = (labels >= 0) & (neighbours != u)
        weights = None if weights is None else weights[row][voting]
        return np.bincount(labels[voting], weights, minlength=self.k).astype(np.float64)


class WeightedTree(_Voter):
    """Random spanning trees vote, each for the label of the nearest labelled node on the tree laid out on a line.

    A tree is drawn with a probability proportional to the product of its weights (Wilson's algorithm), separately in
    every component. Neighbours on the line are ``1 / weight`` apart. A vote takes O(log n).

    References
    ----------
    N. Cesa-Bianchi, C. Gentile, F. Vitale, G. Zappella, "Random Spanning Trees and the Prediction of Weighted Graphs",
    JMLR 2013. D. B. Wilson, "Generating Random Spanning Trees More Quickly than the Cover Time", STOC 1996.
    """

    parts: ClassVar[dict[str, Any]] = {
        **_Voter.parts,
        **dict.fromkeys(("_seeds", "_order", "_positions", "_distances", "_begins"), np.ndarray),
    }
    _order: NDArray[np.int32]
    _positions: NDArray[np.int32]
    _distances: NDArray[np.float64]
    _begins: NDArray[np.int32]
    _occupied: NDArray[np.uint8]

    def __init__(self, graph: RowGraph, history: LabelHistory, trees: int, seed: int) -> None:
        super().__init__(graph, history)
        self._seeds = np.random.default_rng(seed).integers(2**63, size=trees)
        self.catch_up()

    def catch_up(self) -> None:
        """Draw the trees, for the graph as it is now."""
        graph = self._graph.whole()
        lines = [random_line(graph, int(seed)) for seed in self._seeds]
        order, positions, distances, begins = (np.stack(arrays) for arrays in zip(*lines, strict=True))
        occupied = _no_leaves(positions)
        _tree.occupy(occupied, positions, self.history.learned()[0].astype(np.int32))
        self.__dict__.update(
            _order=order, _positions=positions, _distances=distances, _begins=begins, _occupied=occupied
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        n, (trees,) = self.history.n, shape_of(self._seeds, "trees", 1)
        check_restored(trees > 0, "trees")
        lines = {
            "_seeds": restored_array(self._seeds, "trees", np.int64, (trees,), 0),
            "_order": restored_array(self._order, "trees", np.int32, (trees, n), 0, n - 1),
            "_positions": restored_array(self._positions, "trees", np.int32, (trees, n), 0, n - 1),
            "_distances": restored_array(self._distances, "trees", np.float64, (trees, n), 0.0),
            "_begins": restored_array(self._begins, "trees", np.int32, (trees, n), 0, n - 1),
        }
        occupied = _no_leaves(lines["_positions"])
        _tree.occupy(occupied, lines["_positions"], self.history.learned()[0].astype(np.int32))
        self.__dict__.update(lines, _occupied=occupied)

    def blank(self, history: LabelHistory) -> WeightedTree:
        other = cast(WeightedTree, super().blank(history))
        other._occupied = np.zeros_like(self._occupied)
        return other

    def learn_many(self, rows: NDArray[np.int32], labels: NDArray[np.int32]) -> None:
        self.reserve_labels(int(labels.max(initial=-1)) + 1)
        _tree.learn(self.history, self._occupied, self._positions, rows, labels)

    def forget(self, u: int) -> None:
        _tree.forget(self.history, self._occupied, self._positions, u)

    def votes(self, u: int) -> NDArray[np.float64]:
        votes = np.zeros(self.k)
        _tree.vote(self._occupied, self._order, self._positions, self._distances, self._begins, self.history, u, votes)
        return votes


def _no_leaves(positions: NDArray[np.int32]) -> NDArray[np.uint8]:
    """For each line a complete binary tree over its positions, none of them occupied."""
    trees, n = positions.shape
    return np.zeros((trees, 2 << (n - 1).bit_length()), dtype=np.uint8)


def random_tree(graph: CSRGraph, seed: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The parent of each node in a random spanning tree of its component, -1 for roots, and the edge's weight."""
    is_root = np.zeros(len(graph), dtype=np.uint8)
    _, roots = np.unique(graph.components, return_index=True)
    is_root[roots] = 1
    max_steps = MAX_STEPS_PER_EDGE * max(len(graph.indices), 1000)
    edges = _tree.spanning_tree(graph.view, _tree.running_sums(graph.view), is_root, seed, max_steps)
    if edges is None:
        raise ValueError(
            f"no spanning tree after {max_steps:,} random steps: the weights of neighbouring edges differ too much"
        )
    has_parent = edges >= 0
    parents = np.full(len(graph), -1, dtype=np.int32)
    parents[has_parent] = graph.indices[edges[has_parent]]
    weights = np.zeros(len(graph))
    weights[has_parent] = 1.0 if graph.weights is None else graph.weights[edges[has_parent]]
    return parents, weights


def random_line(
    graph: CSRGraph, seed: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]:
    """A random spanning tree on a line: nodes in order, positions of nodes, distances, where each tree begins."""
    return _tree.line_up(*random_tree(graph, seed))
