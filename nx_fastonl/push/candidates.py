"""Which nodes may be in an answer: candidates, without those that are excluded."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.arrays import no_marks
from nx_fastonl._lib.checks import Unknown, shortened
from nx_fastonl._lib.frames import is_frame, named_nodes
from nx_fastonl.batch.rows import check_node_array, checked_nodes
from nx_fastonl.graph.base import RowGraph
from nx_fastonl.graph.names import IntegerNames
from nx_fastonl.push._filter import NodeFilter

__all__ = ["Allowed", "Candidates", "checked_candidates"]


class Allowed(NamedTuple):
    """The nodes that may be in one answer: how to tell them, how many they are, and a bound on their degrees."""

    filter: NodeFilter
    n_nodes: int
    largest_degree: float


class Candidates(NamedTuple):
    """What callers say of the nodes that may be in an answer.

    Rows ascend, and each is there once. `only` is None if all nodes are candidates.
    """

    only: NDArray[np.int32] | None = None
    exclude: NDArray[np.int32] | None = None
    exclude_neighbors: bool = False

    @property
    def number(self) -> int | None:
        """How many candidates there are, where they were named."""
        return None if self.only is None else len(self.only)

    @contextmanager
    def around(self, graph: RowGraph, seeds: NDArray[np.integer]) -> Iterator[Allowed]:
        """The nodes that may be in the answer for these seeds. Marks are written to scratch memory, and removed."""
        excluded = [] if self.exclude is None else [self.exclude]
        if self.exclude_neighbors:
            slots, _ = graph.row_slots(seeds)
            excluded += [seeds.astype(np.int32), graph.indices[slots]]
        if self.only is None and not excluded:
            yield Allowed(NodeFilter(), graph.number_of_nodes(), graph.largest_degree)
            return
        with graph.scratch(no_marks) as marks:
            allowed = self._mark(graph, marks, np.unique(np.concatenate([np.empty(0, dtype=np.int32), *excluded])))
            yield allowed
            for rows in (self.only, *excluded):
                if rows is not None:
                    marks[rows] = 0

    def filter(self, graph: RowGraph) -> NodeFilter:
        """What all answers have in common."""
        if self.only is None and self.exclude is None:
            return NodeFilter(exclude_neighbors=self.exclude_neighbors)
        excluded = np.empty(0, dtype=np.int32) if self.exclude is None else self.exclude
        return self._mark(graph, no_marks(len(graph)), excluded).filter

    def _mark(self, graph: RowGraph, marks: NDArray[np.uint8], excluded: NDArray[np.int32]) -> Allowed:
        """Mark the candidates that are left or, where all nodes are candidates, those that are not."""
        if self.only is None:
            marks[excluded] = 1
            node_filter = NodeFilter(marks, 0, exclude_neighbors=self.exclude_neighbors)
            return Allowed(node_filter, graph.number_of_nodes() - len(excluded), graph.largest_degree)
        marks[self.only] = 1
        marks[excluded] = 0
        node_filter = NodeFilter(marks, 1, exclude_neighbors=self.exclude_neighbors)
        count = int(np.count_nonzero(marks[self.only]))
        return Allowed(node_filter, count, float(graph.degrees[self.only].max(initial=0.0)))


def checked_candidates(
    graph: RowGraph,
    candidates: Iterable[Hashable] | None,
    exclude: Iterable[Hashable] | None,
    exclude_neighbors: bool,
    unknown: Unknown = "error",
) -> Candidates:
    """The candidates that a caller names."""
    if not isinstance(exclude_neighbors, bool | np.bool_):
        raise TypeError(
            f"exclude_neighbors must be True or False, got {shortened(exclude_neighbors)}; "
            "single nodes can be named in exclude"
        )
    return Candidates(
        _checked_rows(graph, candidates, "candidates", unknown),
        _checked_rows(graph, exclude, "exclude", unknown),
        bool(exclude_neighbors),
    )


def _checked_rows(graph: RowGraph, nodes: Any, name: str, unknown: Unknown) -> NDArray[np.int32] | None:
    if nodes is None:
        return None
    if is_frame(nodes):
        nodes = named_nodes(nodes, name)
    if isinstance(nodes, np.ndarray):
        check_node_array(nodes, name)
        rows = _rows_of_integers(graph, nodes)
        if rows is not None:
            return np.unique(rows)
        nodes = nodes.tolist()  # Python's integers are found faster
    named = checked_nodes(graph, nodes, name)
    if unknown == "skip":
        named = [node for node in named if node in graph]
    return np.unique(np.array(graph.rows_of(named), dtype=np.int32))


def _rows_of_integers(graph: RowGraph, nodes: NDArray[Any]) -> NDArray[np.int32] | None:
    """The rows of integers, all at once; None where the names of the graph do not allow that, or lack one of them."""
    names = graph.nodes
    if nodes.dtype.kind != "i" or len(names) == 0:
        return None
    if isinstance(names, IntegerNames) and names.ascending:
        rows = np.minimum(names.values.searchsorted(nodes), len(names) - 1)
        found = names.values[rows] == nodes
    elif isinstance(names, range) and names == range(len(names)):
        rows, found = nodes, (nodes >= 0) & (nodes < len(names))
    else:
        return None
    return rows.astype(np.int32) if found.all() else None
