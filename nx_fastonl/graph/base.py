"""RowGraph: what every computation asks of a graph, whether it can change or not."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeVar

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.pool import Lease, Pool
from nx_fastonl.graph._view import GraphView
from nx_fastonl.graph.names import missing_node

__all__ = ["ChangingGraph", "RowGraph"]

Scratch = TypeVar("Scratch")


class RowGraph(ABC):
    """Rows of neighbours, and the names of the nodes: a `CSRGraph`, or a `DynamicGraph` as it is now.

    The neighbours of row u are ``indices[e]`` for e from ``row_starts[u]``, ``neighbor_counts(u)`` of them. There may
    be rows without a node, which are empty.

    Attributes
    ----------
    nodes : sequence of hashable
        The names of the nodes, by row.
    indices : numpy.ndarray of int32
    weights : numpy.ndarray of float, or None
        Parallel to `indices`; None where every weight is 1.
    degrees : numpy.ndarray of float
        The sum of the weights in each row.
    row_starts : numpy.ndarray of int64
        Where each row starts in `indices`.
    n_entries : int
        The number of entries in all rows.
    view : GraphView
        What compiled loops see of the graph: its arrays, shared.
    largest_degree : float
        No degree is larger.
    mean_weight : float
        The mean weight of an edge; 1 where there is none.
    volume : float
        The sum of all degrees. A graph that cannot change computes it once, the others keep it up to date.
    has_dead_ends : bool
        Whether some node has no out-edge.
    can_change : bool
    version : hashable
        Another one after each change.
    position : int
        How many changes of edges there were.
    degree_roundings : int
        How many units of rounding any degree may be off by, beyond one for each entry of its row.
    """

    can_change = False
    _pools: dict[Any, Pool[Any]]

    if TYPE_CHECKING:  # attributes or properties, as each graph has them
        nodes: Any

        @property
        def indices(self) -> NDArray[np.int32]: ...
        @property
        def weights(self) -> NDArray[np.float64] | None: ...
        @property
        def degrees(self) -> NDArray[np.float64]: ...
        @property
        def row_starts(self) -> NDArray[np.integer]: ...
        @property
        def n_entries(self) -> int: ...
        @property
        def view(self) -> GraphView: ...
        @property
        def largest_degree(self) -> float: ...
        @property
        def mean_weight(self) -> float: ...
        @property
        def volume(self) -> float: ...
        @property
        def has_dead_ends(self) -> bool: ...
        @property
        def version(self) -> Hashable: ...
        @property
        def position(self) -> int: ...
        @property
        def degree_roundings(self) -> int: ...

        # Of graphs that can change.
        loops: float

        def changes_since(self, position: int) -> NDArray[Any] | None: ...
    else:
        version = position = degree_roundings = 0  # of graphs that cannot change

    @abstractmethod
    def __len__(self) -> int:
        """The number of rows."""

    @abstractmethod
    def _find(self, node: Any) -> int | None:
        """The row of a node; None if it is not in the graph."""

    @abstractmethod
    def is_directed(self) -> bool:
        """Whether the rows hold out-edges only."""

    @abstractmethod
    def number_of_nodes(self) -> int:
        """The number of nodes."""

    @abstractmethod
    def neighbor_counts(self, rows: Any) -> NDArray[np.int64]:
        """The number of neighbours of the nodes in these rows."""

    def _in_counts(self, rows: Any) -> NDArray[np.integer]:
        """How many nodes have an edge to each of these rows; or more, where that is not known.

        In a directed graph, the first call may look at all edges.
        """
        return np.full(np.shape(rows), self.number_of_nodes()) if self.is_directed() else self.neighbor_counts(rows)

    @abstractmethod
    def node_rows(self) -> Sequence[int]:
        """The rows of all nodes, in the order of the nodes."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[Any]:
        """Held while the graph is read: it does not change meanwhile."""

    @abstractmethod
    def whole(self) -> Any:
        """The same rows as a CSRGraph, for computations that look at all of them."""

    def __contains__(self, node: object) -> bool:
        return self._find(node) is not None

    def index(self, node: Hashable) -> int:
        """The row of `node`.

        Parameters
        ----------
        node : node
            A node of the graph, or what is equal to it.

        Returns
        -------
        int
            Counted from 0.

        Raises
        ------
        networkx.NodeNotFound
            If `node` is not in the graph.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> fo.CSRGraph.from_networkx(nx.path_graph(["a", "b", "c"])).index("b")
        1
        """
        u = self._find(node)
        if u is None:
            raise nx.NodeNotFound(missing_node(node, self))
        return u

    def rows_of(self, nodes: Iterable[Hashable]) -> list[int]:
        """The rows of several nodes, as `index` gives them.

        Parameters
        ----------
        nodes : iterable of nodes
            In any order; a node may come more than once.

        Returns
        -------
        list of int
            In the same order.

        Raises
        ------
        networkx.NodeNotFound
            If a node is not in the graph.
        TypeError
            If `nodes` is not iterable.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> fo.CSRGraph.from_networkx(nx.path_graph(["a", "b", "c"])).rows_of(["c", "a"])
        [2, 0]
        """
        n = len(self.nodes) if isinstance(self.nodes, range) else 0
        return [node if type(node) is int and 0 <= node < n else self.index(node) for node in nodes]

    def row_slots(self, rows: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the entries of several rows stand in `indices`, row after row, and how many each has.

        Parameters
        ----------
        rows : numpy.ndarray of int

        Returns
        -------
        slots, counts : numpy.ndarray of int

        Examples
        --------
        >>> import numpy as np
        >>> import nx_fastonl as fo
        >>> fo.CSRGraph.from_edges([0, 1], [1, 2]).row_slots(np.array([2, 0]))
        (array([3, 0]), array([1, 1]))
        """
        counts = self.neighbor_counts(rows)
        before = np.cumsum(counts) - counts
        return np.repeat(self.row_starts[rows] - before, counts) + np.arange(counts.sum()), counts

    def scratch(self, make: Callable[[int], Scratch]) -> Lease[Scratch]:
        """Scratch memory for one computation on this graph. Later computations use it again.

        Parameters
        ----------
        make : callable
            From the number of rows to new scratch memory.

        Returns
        -------
        context manager
            It gives clean memory, which the caller must leave clean. After an exception the memory is dropped.

        Raises
        ------
        TypeError
            If `make` cannot be hashed.

        Examples
        --------
        >>> import numpy as np
        >>> import nx_fastonl as fo
        >>> graph = fo.CSRGraph.from_edges([0, 1], [1, 2])
        >>> with graph.scratch(np.zeros) as scratch:
        ...     len(scratch)
        3
        """
        pool: Pool[Scratch] | None = self._pools.get(make)
        if pool is None:
            pool = self._pools.setdefault(make, Pool())
        return pool.lease(make, len(self))


class ChangingGraph(ABC):
    """A graph that changes: what it is made of now.

    Attributes
    ----------
    rows : RowGraph
        Its rows, which computations walk while `rows.reading` is held.
    """

    rows: RowGraph

    @abstractmethod
    def freeze(self) -> Any:
        """The graph as it is now, as a CSRGraph."""

    @abstractmethod
    def _add_new_nodes(self, nodes: Iterable[Hashable], new: list[Hashable]) -> None:
        """Add nodes, and append those to `new` that are not there: before that, so that an interrupt loses none."""

    @abstractmethod
    def _remove_lone_nodes(self, nodes: Collection[Hashable], is_kept: Callable[[int], bool]) -> None:
        """Remove those of these very objects that have no edge, and whose rows are not kept. Runs no code of theirs."""
