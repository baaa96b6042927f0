"""DynamicRows: the rows of a graph that changes, as computations take them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib._sharing import SharedLock
from nx_fastonl._lib.pool import Pool
from nx_fastonl.graph._arrows import ArrowView
from nx_fastonl.graph._dynamic import RowPool
from nx_fastonl.graph._view import GraphView
from nx_fastonl.graph.base import RowGraph
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.graph.growing_names import GrowingNames
from nx_fastonl.graph.rows import Rows

__all__ = ["DynamicArrows", "DynamicRows"]


class DynamicRows(RowGraph):
    """The rows of a `DynamicGraph` as they are now: undirected ones, out-edges, or those of W + W^T.

    Rows that no node has are empty. What this gives is right as long as `reading` is held.

    Parameters
    ----------
    pool : RowPool
    nodes : GrowingNames
    lock : SharedLock
        Held by whoever changes or reads the graph.
    directed : bool
        Whether the rows hold out-edges only.

    Attributes
    ----------
    both_ways : DynamicArrowRows or None
        The rows of W + W^T, where these hold out-edges only.
    owner : weak reference
        To the `DynamicGraph` that has these rows.
    loops : float
        How often a self-loop stands in W.
    """

    can_change = True
    loops = 1.0

    def __init__(self, pool: RowPool, nodes: GrowingNames, lock: SharedLock, *, directed: bool) -> None:
        self.pool, self.nodes, self._lock, self._directed = pool, nodes, lock, directed
        self.both_ways: DynamicArrowRows | None = None
        self.owner: Callable[[], Any] = _nobody
        self._pools: dict[Any, Pool[Any]] = {}
        self._view: tuple[int, GraphView] | None = None
        self._whole: tuple[tuple[int, int], CSRGraph] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        graph = self.owner()
        if graph is None:
            raise TypeError("the rows of a graph that changes are pickled with their graph, which is gone")
        return _rows_of, (graph, self is not graph.rows)

    def __len__(self) -> int:
        return self.pool.n_rows

    def _find(self, node: Any) -> int | None:
        row: int | None = self.nodes.find(node)
        return row

    def is_directed(self) -> bool:
        return self._directed

    def number_of_nodes(self) -> int:
        return len(self.nodes)

    def number_of_edges(self) -> int:
        return self.pool.n_entries if self._directed else (self.pool.n_entries + self.pool.n_loops) // 2

    def reading(self) -> AbstractContextManager[Any]:
        return self._lock.reading

    def add_rows(self, n_rows: int) -> None:
        """Make room for at least so many rows, and for half as many more as there are."""
        if n_rows > len(self):
            self.pool.add_rows(max(n_rows, len(self) + len(self) // 2))
            self._pools = {}  # scratch memory is as long as the rows were

    @property
    def position(self) -> int:
        return self.pool.position

    @property
    def degree_roundings(self) -> int:
        return self.pool.n_rounded

    @property
    def version(self) -> tuple[int, int, int]:
        return self.pool.position, self.nodes.n_joined, self.nodes.n_removals

    def changes_since(self, position: int) -> NDArray[Any] | None:
        """What changed from a position on; None if the log does not have it."""
        return self.pool.changes(position) if self.pool.first_position <= position <= self.pool.position else None

    @property
    def indices(self) -> NDArray[np.int32]:
        return self.pool.arrays[2]

    @property
    def weights(self) -> NDArray[np.float64] | None:
        return self.pool.arrays[3]

    @property
    def degrees(self) -> NDArray[np.float64]:
        return self.pool.arrays[4]

    @property
    def row_starts(self) -> NDArray[np.int64]:
        return self.pool.arrays[0]

    @property
    def n_entries(self) -> int:
        return self.pool.n_entries

    @property
    def largest_degree(self) -> float:
        return self.pool.largest_degree

    @property
    def mean_weight(self) -> float:
        return float(self.degrees.sum() / self.n_entries) if self.n_entries else 1.0

    @property
    def volume(self) -> float:
        return self.pool.volume

    @property
    def has_dead_ends(self) -> bool:
        return self.pool.n_empty > len(self) - len(self.nodes)

    @property
    def view(self) -> GraphView:
        found = self._view
        if found is None or found[0] != self.pool.n_arrays:
            found = self._view = (self.pool.n_arrays, self._make_view())
        return found[1]

    def _make_view(self) -> GraphView:
        return GraphView(*self.pool.arrays)

    def neighbor_counts(self, rows: Any) -> NDArray[np.int64]:
        starts, stops, *_ = self.pool.arrays
        return np.asarray(stops[rows] - starts[rows])

    def node_rows(self) -> Sequence[int]:
        rows: Sequence[int] = self.nodes.rows()
        return rows

    def row(self, u: int) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        """Copies of the neighbours of row u, and of their weights."""
        starts, stops, indices, weights, _ = self.pool.arrays
        entries = slice(starts[u], stops[u])
        return indices[entries].copy(), None if weights is None else weights[entries].copy()

    def whole(self) -> CSRGraph:
        """The same rows as a CSRGraph whose nodes are called 0, 1, 2, ...; kept until something changes."""
        now, found = (self.pool.position, len(self)), self._whole
        if found is None or found[0] != now:
            starts, stops, slots = self.pool.packed()
            weights = None if self.weights is None else self.weights[slots]
            rows = Rows(np.concatenate([starts[:1], stops]), self.indices[slots], weights)
            found = self._whole = (now, CSRGraph._made(rows, None, self._directed))
        return found[1]

    @property
    def arrows(self) -> DynamicArrows:
        """A directed graph without its arrows, and which way they point."""
        return DynamicArrows(self.without_arrows())

    def without_arrows(self) -> DynamicArrowRows:
        """The rows of W + W^T of a directed graph."""
        assert self.both_ways is not None
        return self.both_ways


class DynamicArrowRows(DynamicRows):
    """The rows of W + W^T of a directed graph that changes."""

    loops = 2.0

    def _make_view(self) -> GraphView:
        starts, stops, indices, weights, degrees = self.pool.arrays
        return GraphView(starts, stops, indices, weights, degrees, ArrowView(*self.pool.arrow_arrays))


class DynamicArrows(NamedTuple):
    """Which way the edges of W + W^T point now, as `Arrows` says it of a graph that cannot change."""

    graph: DynamicArrowRows

    @property
    def view(self) -> GraphView:
        return self.graph.view

    @property
    def mean_weight(self) -> float:
        """Of an arc."""
        _, out_weights, _, out_counts, _ = self.graph.pool.arrow_arrays
        slots = self.graph.pool.packed()[2]
        return float(out_weights[slots].sum() / out_counts.sum()) if len(slots) else 1.0


def _nobody() -> None:
    """The owner of rows that no graph has."""


def _rows_of(graph: Any, both_ways: bool) -> DynamicRows:
    """What a pickle holds of rows."""
    rows: DynamicRows = graph.rows.both_ways if both_ways else graph.rows
    return rows
