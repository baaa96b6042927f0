"""The methods that the paper compares with: exact and power-iteration kernels, weighted majority, weighted tree."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from nx_fastonl import _relaxation, _tree
from nx_fastonl.graph import NO_WEIGHTS, CSRGraph
from nx_fastonl.kernels import GraphKernel
from nx_fastonl.relaxation import Column

__all__ = ["ExactColumns", "SeriesColumns", "WeightedMajority", "WeightedTree"]

# A walk that takes more steps than this for each edge is stuck between edges of very different weights.
MOST_STEPS_PER_EDGE = 10_000


class ExactColumns:
    """Columns of the exact kernel matrix, constant included."""

    def __init__(self, kernel: GraphKernel) -> None:
        self._matrix = kernel.exact()
        self._rows = np.arange(len(kernel.graph), dtype=np.int32)

    def __call__(self, u: int) -> Column:
        values = self._matrix[u]
        return Column(self._rows, values, float(values[u]), s=1.0, factor=1.0)

    def trace(self) -> float:
        return float(np.trace(self._matrix))


class SeriesColumns:
    """Columns by power iteration: the first terms of ``inv(H) = sum of (W / pivot)^i / pivot``, one column at a time.

    For the normalised Laplacian this is ``2 n lam / (n + lam) * sum of (n / (n + lam) D^-1/2 W D^-1/2)^i``.
    """

    def __init__(self, kernel: GraphKernel, terms: int) -> None:
        rows = np.arange(len(kernel.graph), dtype=np.int32)
        self._rows = rows
        self._terms = terms
        self._s = kernel.s(rows)
        self._a = kernel.a
        self._inverse_pivots = 1.0 / (kernel.c(rows) + kernel.graph.degrees)
        self._W = kernel.graph.to_scipy()

    def __call__(self, u: int) -> Column:
        term = np.zeros(len(self._rows))
        term[u] = self._s[u] * self._inverse_pivots[u]
        total = term.copy()
        for _ in range(self._terms):
            term = self._inverse_pivots * (self._W @ term)
            total += term
        values = self._s * total
        return Column(self._rows, values, float(values[u]), s=1.0, factor=self._a)


class _Voter(ABC):
    """Keeps the labels of nodes; who votes is up to the subclass."""

    guesses = False  # whether a node without a vote gets a random label rather than the most frequent one

    def __init__(self, graph: CSRGraph) -> None:
        self.k = 0
        self._graph = graph
        self._labels = np.full(len(graph), -1, dtype=np.int32)

    def add_label(self) -> None:
        self.k += 1

    def drop_label(self) -> None:
        self.k -= 1

    def learn(self, u: int, y: int) -> None:
        self._labels[u] = y

    def fit(self, rows: NDArray[np.int32], labels: NDArray[np.int32]) -> None:
        for u, y in zip(rows.tolist(), labels.tolist(), strict=True):
            self.learn(u, y)

    def prepare(self, u: int) -> None:  # noqa: B027  learning a label takes no time, here and in all subclasses
        pass

    @abstractmethod
    def votes(self, u: int) -> NDArray[np.float64]:
        """A number for each label, larger is better."""

    def best(self, u: int, counts: NDArray[np.int64], appearances: NDArray[np.int64]) -> int | None:
        votes = self.votes(u)
        if len(votes) == 0 or (self.guesses and not votes.any()):
            return None
        return _relaxation.best(-votes, float(votes.max()), counts, appearances)

    def draw(self, u: int, number: float) -> int | None:
        below = np.cumsum(self.probabilities(u))
        if len(below) == 0:
            return None
        # The first whose sum exceeds the number: never one of probability 0, rounding or not.
        return int((below > min(number, float(np.nextafter(below[-1], 0.0)))).argmax())

    def probabilities(self, u: int) -> NDArray[np.float64]:
        """The shares of the votes; all alike where there is none."""
        votes = self.votes(u)
        return votes / votes.sum() if votes.any() else np.full(len(votes), 1.0 / max(len(votes), 1))


class WeightedMajority(_Voter):
    """The labelled neighbours vote, each with the weight of its edge."""

    guesses = True  # as in the paper's experiments

    def votes(self, u: int) -> NDArray[np.float64]:
        row = slice(self._graph.indptr[u], self._graph.indptr[u + 1])
        labels = self._labels[self._graph.indices[row]]
        voting = (labels >= 0) & (self._graph.indices[row] != u)
        weights = None if self._graph.weights is None else self._graph.weights[row][voting]
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

    def __init__(self, graph: CSRGraph, trees: int, seed: int) -> None:
        super().__init__(graph)
        seeds = np.random.default_rng(seed).integers(2**63, size=trees)
        lines = [random_line(graph, int(tree_seed)) for tree_seed in seeds]
        order, positions, distances, begins = (np.stack(arrays) for arrays in zip(*lines, strict=True))
        self._order, self._positions, self._distances, self._begins = order, positions, distances, begins
        leaves = 1 << (len(graph) - 1).bit_length()
        self._occupied = np.zeros((trees, 2 * leaves), dtype=np.uint8)

    def learn(self, u: int, y: int) -> None:
        super().learn(u, y)
        _tree.occupy(self._occupied, self._positions, u)

    def votes(self, u: int) -> NDArray[np.float64]:
        votes = np.zeros(self.k)
        _tree.vote(self._occupied, self._order, self._positions, self._distances, self._begins, self._labels, u, votes)
        return votes


def random_tree(graph: CSRGraph, seed: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The parent of each node in a random spanning tree of its component, -1 for roots, and the edge's weight."""
    is_root = np.zeros(len(graph), dtype=np.uint8)
    _, roots = np.unique(graph.components, return_index=True)
    is_root[roots] = 1
    cumulative = NO_WEIGHTS if graph.weights is None else _tree.running_sums(graph.indptr, graph.weights)
    max_steps = MOST_STEPS_PER_EDGE * max(len(graph.indices), 1000)
    edges = _tree.spanning_tree(graph.indptr, graph.indices, cumulative, is_root, seed, max_steps)
    if edges is None:
        raise ValueError(
            f"no spanning tree after {max_steps:,} random steps: the weights of neighbouring edges differ too much"
        )
    hangs = edges >= 0
    parents = np.full(len(graph), -1, dtype=np.int32)
    parents[hangs] = graph.indices[edges[hangs]]
    weights = np.zeros(len(graph))
    weights[hangs] = 1.0 if graph.weights is None else graph.weights[edges[hangs]]
    return parents, weights


def random_line(
    graph: CSRGraph, seed: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]:
    """A random spanning tree on a line: nodes in order, positions of nodes, distances, where each tree begins."""
    return _tree.line_up(*random_tree(graph, seed))
