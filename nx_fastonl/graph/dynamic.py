"""DynamicGraph: a graph whose nodes and edges come and go."""

from __future__ import annotations

import heapq
import weakref
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from functools import partial
from itertools import islice
from time import perf_counter
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray

from nx_fastonl._lib._sharing import SharedLock
from nx_fastonl._lib.arrays import check_restored
from nx_fastonl._lib.checks import shortened
from nx_fastonl._lib.frames import is_frame
from nx_fastonl._lib.html import NAMES_SHOWN, view_or_none
from nx_fastonl._lib.log import elapsed, logger
from nx_fastonl.graph._dynamic import RowPool
from nx_fastonl.graph.base import ChangingGraph
from nx_fastonl.graph.convert import as_csr_graph
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.graph.dynamic_rows import DynamicArrowRows, DynamicRows
from nx_fastonl.graph.edgebunch import EdgeBunch, Ends, checked_node, checked_time, checked_weight, edge_bunch
from nx_fastonl.graph.edgetable import listed_nodes
from nx_fastonl.graph.events import (
    AddEdge,
    AddEdges,
    AddNodes,
    ExpireEdges,
    GraphEvent,
    RemoveEdge,
    RemoveEdges,
    RemoveNodes,
)
from nx_fastonl.graph.growing_names import GrowingNames, NamesState
from nx_fastonl.graph.live import BACKEND_NAME
from nx_fastonl.graph.names import find_in_range, missing_node
from nx_fastonl.graph.rows import MAX_NODES, Rows, check_weights
from nx_fastonl.graph.views import MAX_COUNTED_NODES, graph_view

__all__ = ["DynamicGraph", "GraphState"]

# Edges that are changed in one compiled call. Between two calls Python looks for signals, and an interrupt takes back
# what was done.
EDGES_AT_ONCE = 1 << 17
# The rows of a graph without nodes, which wait for them.
FIRST_ROWS = 16
# A degree is a sum that was added to many times: it differs from the sum of the weights by at most this fraction.
DEGREE_ROUNDING = 1e-6


class GraphState(NamedTuple):
    """All that a DynamicGraph is made of."""

    directed: bool
    nodes: NamesState
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float64] | None
    degrees: list[NDArray[np.float64]]  # of the rows and, if they are directed, of those of W + W^T
    positions: list[int]  # how many changes of either there were
    times: NDArray[np.float64]  # of edges that have one: both rows and the time


class DynamicGraph(ChangingGraph):
    """A graph whose nodes and edges come and go, by the methods that ``nx.Graph`` has for it.

    Every function of the package takes it. Local ones walk its rows as they are, without a conversion. Models on it
    (`OnlineNodeLabeler`, `DynamicPageRank`) answer for the graph as it is when they are asked. It has one weight per
    edge, and no other attributes.

    An edge joins or leaves in time that follows the shorter of its two rows, and a change is all or nothing, whatever
    interrupts it, and whatever the nodes' own ``__eq__`` and ``__hash__`` raise. Threads may read and change a graph at
    the same time: a change waits until nobody reads.

    Parameters
    ----------
    G : nx.Graph, scipy sparse array, CSRGraph, DynamicGraph or table of edges, optional
        Copied, without times of edges, which `DynamicGraph.copy` keeps; by default there are no nodes. A table is one
        that `add_edges_from` takes.
    directed : bool, optional
        By default as `G` is, or False. With False, the arcs between two nodes of a directed `G` add up; with True,
        each edge of an undirected one becomes two arcs.
    weight : str or None, default "weight"
        The edge attribute of `G` that holds the weight, 1 where it is missing. None ignores weights.

    Raises
    ------
    TypeError
        If `G` is no graph.
    ValueError
        If it has a bad weight.

    See Also
    --------
    DynamicPageRank, OnlineNodeLabeler, replay

    Examples
    --------
    >>> import nx_fastonl as fo
    >>> graph = fo.DynamicGraph()
    >>> graph.add_edges_from([("ann", "bob"), ("bob", "cid")])
    >>> model = fo.OnlineNodeLabeler(graph)
    >>> model.learn_one("ann", "red")
    >>> graph.add_edge("dee", "cid", weight=2.5)
    >>> model.predict_one("dee")
    'red'
    >>> graph
    DynamicGraph with 4 nodes and 3 edges
    """

    __networkx_backend__ = BACKEND_NAME  # NetworkX's own functions take it too

    def __init__(self, G: Any = None, directed: bool | None = None, *, weight: str | None = "weight") -> None:
        edges = edge_bunch(G, directed=directed is True) if is_frame(G) else None
        rows, nodes, is_directed = _rows_of(G if edges is None else None, directed, weight)
        self._set_up(rows, nodes, is_directed)
        if edges is not None:
            self._add_edges(edges if weight is not None else edges.unweighted())

    def _set_up(self, rows: Rows, nodes: GrowingNames, directed: bool) -> None:
        pool = RowPool("outward" if directed else "undirected", *rows)
        self._take(pool, _both_ways(rows) if directed else None, nodes, directed)

    def _take(self, pool: RowPool, both_ways: RowPool | None, nodes: GrowingNames, directed: bool) -> None:
        self._lock = SharedLock()
        self._nodes, self._directed = nodes, directed
        self.rows: DynamicRows = DynamicRows(pool, nodes, self._lock, directed=directed)
        if both_ways is not None:
            self.rows.both_ways = DynamicArrowRows(both_ways, nodes, self._lock, directed=False)
        for rows in self._pools():
            rows.owner = weakref.ref(self)
        self._n_changes = 0
        self._frozen: tuple[int, CSRGraph] | None = None
        # The times of edges that have one, by their rows, and a heap of them, which may also have times of the past.
        self._times: dict[tuple[int, int], float] = {}
        self._n_timed = 0  # how often times were set
        self._by_time: list[tuple[float, int, int]] = []

    def __reduce__(self) -> tuple[Any, ...]:
        with self._lock.reading:
            return _restored, tuple(self._state())

    def _state(self) -> GraphState:
        """Copies of all that the graph is made of, rows of nobody included: models store numbers by row."""
        pools = [rows.pool for rows in self._pools()]
        starts, stops, slots = pools[0].packed()
        weights = self.rows.weights
        times = np.array([(u, v, time) for (u, v), time in self._times.items()], dtype=np.float64).reshape(-1, 3)
        return GraphState(
            self._directed,
            self._nodes.state(),
            np.concatenate([starts[:1], stops]) if len(stops) else np.zeros(1, dtype=np.int64),
            self.rows.indices[slots],
            None if weights is None else weights[slots],
            [pool.arrays[4].copy() for pool in pools],
            [pool.position for pool in pools],
            times,
        )

    def _restore(self, state: GraphState) -> None:
        """Become the graph that had this state, which is checked."""
        directed, nodes = bool(state.directed), GrowingNames.restored(NamesState(*state.nodes))
        indptr: NDArray[Any] = state.indptr
        indices, weights = state.indices, state.weights
        n = len(indptr) - 1
        if n > 0:  # copied and checked
            graph = CSRGraph(indptr, indices, weights, directed=directed)
            indptr, indices, weights = graph.indptr, graph.indices, graph.weights
        else:
            check_restored(n == 0 and len(indptr) == 1 and len(indices) == 0, "rows")
        is_free = np.ones(n, dtype=bool)
        is_free[np.array(nodes.rows(), dtype=np.int64)] = False
        check_restored(n >= nodes.n_used and not np.diff(indptr)[is_free].any(), "rows and names")
        check_restored(not is_free[indices].any(), "rows and names")
        check_restored(len(state.degrees) == len(state.positions) == 1 + directed, "rows")
        rows = Rows(indptr, indices, weights)
        shape = "outward" if directed else "undirected"
        makers = [partial(RowPool, shape, *rows), partial(_both_ways, rows)]
        pools: list[RowPool] = []
        for make, degrees, position in zip(makers, state.degrees, state.positions, strict=False):
            summed = make().arrays[4]
            check_restored(np.shape(degrees) == (n,) and position >= 0, "rows and degrees")
            check_restored(bool(np.allclose(degrees, summed, rtol=DEGREE_ROUNDING, atol=0.0)), "rows and degrees")
            pools.append(make(position=position, degrees=degrees))
        self._take(pools[0], pools[1] if directed else None, nodes, directed)
        sources, targets = state.times[:, 0].astype(np.int32), state.times[:, 1].astype(np.int32)
        for u, v in zip(sources.tolist(), targets.tolist(), strict=True):
            check_restored(0 <= u < n and 0 <= v < n and pools[0].weight(u, v) > 0.0, "times and edges")
        self._set_times(sources, targets, state.times[:, 2])

    # ------------------------------------------------------------------------------------------------ reading

    def __len__(self) -> int:
        return len(self._nodes)

    def __iter__(self) -> Iterator[Any]:
        with self._lock.reading:
            return iter(list(self._nodes))

    def __contains__(self, node: object) -> bool:
        with self._lock.reading:
            return node in self.rows

    def __repr__(self) -> str:
        kind = "directed " if self._directed else ""
        return f"{kind}{type(self).__name__} with {len(self)} nodes and {self.number_of_edges()} edges"

    def _repr_html_(self) -> str | None:
        return view_or_none(self._view)

    def _view(self) -> str:
        counts = None
        with self._lock.reading:
            nodes, n = list(islice(self._nodes, NAMES_SHOWN)), len(self)
            if n <= MAX_COUNTED_NODES:
                counts = self.rows.neighbor_counts(slice(None))
                isolated = n - np.count_nonzero(counts)  # rows of nobody have no neighbours either
                counts = np.concatenate([counts[counts > 0], np.zeros(isolated, counts.dtype)])
        return graph_view(self, nodes, counts, self.rows.weights is not None, self._facts())

    def _facts(self) -> dict[str, object]:
        """What notebooks show beside the size of the graph."""
        return {"edges with a time": len(self._times) or None}

    def is_directed(self) -> bool:
        """Whether edges lead only from their source to their target.

        Returns
        -------
        bool

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> fo.DynamicGraph(directed=True).is_directed()
        True
        """
        return self._directed

    def is_multigraph(self) -> bool:
        """Whether there may be parallel edges: never.

        Returns
        -------
        bool
            False.

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> fo.DynamicGraph().is_multigraph()
        False
        """
        return False

    @property
    def nodes(self) -> list[Any]:
        """The nodes, in the order in which they joined."""
        return list(self)

    def number_of_nodes(self) -> int:
        """The number of nodes.

        Returns
        -------
        int

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> fo.DynamicGraph(nx.path_graph(3)).number_of_nodes()
        3
        """
        return len(self)

    def number_of_edges(self) -> int:
        """The number of edges, a self-loop counting as one.

        Returns
        -------
        int

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> fo.DynamicGraph(nx.path_graph(3)).number_of_edges()
        2
        """
        return self.rows.number_of_edges()

    def has_node(self, node: Hashable) -> bool:
        """Whether a node is in the graph.

        Parameters
        ----------
        node : object
            Any object.

        Returns
        -------
        bool

        Raises
        ------
        TypeError
            Never: what cannot be hashed is in no graph.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> fo.DynamicGraph(nx.path_graph(3)).has_node(5)
        False
        """
        return node in self

    def has_edge(self, u: Hashable, v: Hashable) -> bool:
        """Whether there is an edge from `u` to `v`.

        Parameters
        ----------
        u, v : nodes
            They need not be in the graph.

        Returns
        -------
        bool

        Raises
        ------
        TypeError
            Never: what cannot be hashed is in no graph.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> fo.DynamicGraph(nx.path_graph(3)).has_edge(0, 2)
        False
        """
        return self.weight(u, v) > 0.0

    def weight(self, u: Hashable, v: Hashable) -> float:
        """The weight of the edge from `u` to `v`; 0 if there is none.

        Parameters
        ----------
        u, v : nodes
            They need not be in the graph.

        Returns
        -------
        float

        Raises
        ------
        TypeError
            Never: what cannot be hashed is in no graph.

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> graph = fo.DynamicGraph()
        >>> graph.add_edge("a", "b", weight=2.5)
        >>> graph.weight("b", "a"), graph.weight("a", "c")
        (2.5, 0.0)
        """
        with self._lock.reading:
            a, b = self._nodes.find(u), self._nodes.find(v)
            return 0.0 if a is None or b is None else self.rows.pool.weight(a, b)

    def neighbors(self, node: Hashable) -> Iterator[Any]:
        """The neighbours of a node; those that it points to, if the graph is directed.

        Parameters
        ----------
        node : node
            One of the graph.

        Returns
        -------
        iterator of nodes
            As they are now: later changes do not matter to it.

        Raises
        ------
        networkx.NetworkXError
            If `node` is not in the graph.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> list(fo.DynamicGraph(nx.path_graph(3)).neighbors(1))
        [0, 2]
        """
        with self._lock.reading:
            found, _ = self.rows.row(self._row_of(node))
            return iter(self._nodes.at(found))

    def predecessors(self, node: Hashable) -> Iterator[Any]:
        """The nodes that point to a node; its neighbours, if the graph is undirected.

        Parameters
        ----------
        node : node
            One of the graph.

        Returns
        -------
        iterator of nodes
            As they are now: later changes do not matter to it.

        Raises
        ------
        networkx.NetworkXError
            If `node` is not in the graph.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> list(fo.DynamicGraph(nx.DiGraph([(0, 1), (1, 2)])).predecessors(1))
        [0]
        """
        with self._lock.reading:
            return iter(self._nodes.at(self._predecessor_rows(self._row_of(node))))

    def degree(self, nodes: Any = None, weight: str | None = None) -> Any:
        """The degree of a node, or pairs of nodes and their degrees.

        As in NetworkX, a self-loop counts twice, and in a directed graph arcs in and arcs out add up.

        Parameters
        ----------
        nodes : node or iterable of nodes, optional
            By default all nodes.
        weight : str or None, default None
            Any name adds up weights; None counts edges.

        Returns
        -------
        int, float, or list of tuples
            A number for one node, otherwise tuples ``(node, degree)``.

        Raises
        ------
        networkx.NetworkXError
            If a node is not in the graph.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> graph = fo.DynamicGraph(nx.path_graph(3))
        >>> graph.degree(1)
        2
        >>> graph.degree()
        [(0, 1), (1, 2), (2, 1)]
        """
        if nodes is not None and nodes in self:
            with self._lock.reading:
                return self._degree(self._row_of(nodes), weight)
        if nodes is not None and (isinstance(nodes, str) or not isinstance(nodes, Iterable)):
            raise nx.NetworkXError(f"The {missing_node(nodes, self)}.")
        listed = list(self) if nodes is None else list(nodes)
        with self._lock.reading:
            return [(node, self._degree(self._row_of(node), weight)) for node in listed]

    def _degree(self, u: int, weight: str | None) -> int | float:
        loop = self.rows.pool.weight(u, u)
        if weight is not None:
            rows = self.rows if self.rows.both_ways is None else self.rows.both_ways
            return float(rows.degrees[u]) + (loop if self.rows.both_ways is None else 0.0)
        count = int(self.rows.neighbor_counts(u))
        if self.rows.both_ways is None:
            return count + (loop > 0.0)
        return count + len(self._predecessor_rows(u))

    def edges(self, data: bool | str = False) -> list[tuple[Any, ...]]:
        """The edges, each once.

        Parameters
        ----------
        data : bool or str, default False
            As in NetworkX: with ``"weight"``, tuples ``(u, v, weight)``; with True, ``(u, v, {"weight": weight})``,
            where the dict is empty if the graph has no weights.

        Returns
        -------
        list of tuples

        Raises
        ------
        ValueError
            If `data` names another attribute: there is none.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> fo.DynamicGraph(nx.path_graph(3)).edges()
        [(0, 1), (1, 2)]
        """
        if not isinstance(data, bool) and data != "weight":
            raise ValueError(
                f'edges have no attribute but their weight: data must be True, False or "weight", got {data!r}'
            )
        G = self.to_networkx()
        if isinstance(data, str):
            return list(G.edges(data=data, default=1.0))
        return list(G.edges(data=True) if data else G.edges)

    def freeze(self) -> CSRGraph:
        """The graph as it is now, which cannot be changed. It is copied only if something has changed since last time.

        Returns
        -------
        CSRGraph

        Raises
        ------
        networkx.NetworkXPointlessConcept
            If there are no nodes.

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> graph = fo.DynamicGraph()
        >>> graph.add_edge(0, 1)
        >>> frozen = graph.freeze()
        >>> graph.add_edge(1, 2)
        >>> frozen, graph
        (CSRGraph with 2 nodes and 1 edges, DynamicGraph with 3 nodes and 2 edges)
        """
        began = perf_counter()
        with self._lock.reading:
            found = self._frozen
            if found is not None and found[0] == self._n_changes:
                return found[1]
            rows, _ = self._packed()
            graph = CSRGraph._made(rows, self._plain_nodes(), self._directed)
            self._frozen = (self._n_changes, graph)
        # A handler of the log may be the caller's code: the graph is no longer being read.
        logger.info("copied a %s with %d nodes to a CSRGraph, in %s", type(self).__name__, len(graph), elapsed(began))
        return graph

    def to_networkx(self) -> nx.Graph[Any]:
        """The graph as an ``nx.Graph`` or ``nx.DiGraph``, its weights, if it has any, as edge attribute "weight".

        Returns
        -------
        nx.Graph or nx.DiGraph

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> graph = fo.DynamicGraph()
        >>> graph.add_edge("a", "b")
        >>> graph.to_networkx().edges
        EdgeView([('a', 'b')])
        """
        if len(self) == 0:
            return nx.DiGraph() if self._directed else nx.Graph()
        return self.freeze().to_networkx()

    def copy(self) -> DynamicGraph:
        """A graph of its own with the same nodes, edges and times.

        Returns
        -------
        DynamicGraph

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> graph = fo.DynamicGraph()
        >>> graph.add_edge(0, 1)
        >>> other = graph.copy()
        >>> other.remove_edge(0, 1)
        >>> graph.number_of_edges()
        1
        """
        return _restored(*self.__reduce__()[1])

    # ------------------------------------------------------------------------------------------------ changing

    def add_node(self, node: Hashable) -> None:
        """Add a node, unless it is there.

        Parameters
        ----------
        node : hashable
            Anything but None.

        Raises
        ------
        TypeError
            If it cannot be hashed.
        ValueError
            If it is None.

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> graph = fo.DynamicGraph()
        >>> graph.add_node("ann")
        >>> list(graph)
        ['ann']
        """
        self._commit(AddNodes([checked_node(node)]))

    def add_nodes_from(self, nodes: Iterable[Hashable]) -> None:
        """Add nodes, but for those that are there.

        Parameters
        ----------
        nodes : iterable of hashable
            Tuples of a node and a dict, as NetworkX has them for attributes, are nodes without attributes. A column of
            pandas, polars or Arrow, or a table with a column node, will do.

        Raises
        ------
        TypeError
            If one cannot be hashed; no node is added then.
        ValueError
            If one is None.

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> graph = fo.DynamicGraph()
        >>> graph.add_nodes_from(["ann", "bob"])
        >>> len(graph)
        2
        """
        self._commit(AddNodes([_node_of(node) for node in listed_nodes(nodes, "nodes")]))

    def add_edge(self, u: Hashable, v: Hashable, weight: float | None = None, *, time: float | None = None) -> None:
        """Add an edge, with its nodes if they are not there, or change the weight of one that is there.

        Parameters
        ----------
        u, v : hashable
            The nodes that it joins.
        weight : float, optional
            By default 1 for a new edge; an edge that is there keeps its weight.
        time : float, optional
            When the edge happened, for `expire_before`. An edge that is there gets this time in place of its own.

        Raises
        ------
        TypeError
            If a node cannot be hashed.
        ValueError
            If a node is None, or the weight is not a positive number.

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> graph = fo.DynamicGraph()
        >>> graph.add_edge("ann", "bob", weight=2.0)
        >>> graph.add_edge("bob", "ann")
        >>> graph.weight("ann", "bob")
        2.0
        """
        u, v = checked_node(u), checked_node(v)
        weight = None if weight is None else checked_weight(u, v, weight, self._directed)
        self._commit(AddEdge(u, v, weight, None if time is None else checked_time(time)))

    def add_edges_from(self, edges: Any, weights: ArrayLike | None = None, times: ArrayLike | None = None) -> None:
        """Add edges, or change the weights of those that are there: all or, if this raises, none.

        Parameters
        ----------
        edges : array with two columns, table, or iterable of tuples
            Tuples ``(u, v)``, or ``(u, v, data)`` with a dict whose "weight" counts. Arrays of integers take least
            time. A table of pandas, polars or Arrow has its ends in columns found as by `CSRGraph.from_edges`, and may
            have the columns weight and time.
        weights : array_like of float, optional
            A weight for each edge. By default, and where it is not a number, as a missing value of a table is, a new
            edge has weight 1, and others keep theirs.
        times : array_like of float, optional
            When each edge happened, for `expire_before`.

        Raises
        ------
        TypeError
            If an edge is no tuple, or a node cannot be hashed.
        ValueError
            If a node is None, a weight is not a positive number, or the arrays do not fit together.

        See Also
        --------
        DynamicGraph.add_weighted_edges_from

        Examples
        --------
        >>> import numpy as np
        >>> import nx_fastonl as fo
        >>> graph = fo.DynamicGraph()
        >>> graph.add_edges_from(np.array([[0, 1], [1, 2]]), weights=[0.5, 2.0])
        >>> graph.edges(data="weight")
        [(0, 1, 0.5), (1, 2, 2.0)]
        """
        self._commit(AddEdges(edge_bunch(edges, weights, times, directed=self._directed)))

    def add_weighted_edges_from(self, edges: Any, times: ArrayLike | None = None) -> None:
        """Add edges with weights, or change the weights of those that are there: all or, if this raises, none.

        Parameters
        ----------
        edges : array with three columns, table, or iterable of tuples
            Tuples ``(u, v, weight)``. A table as for `add_edges_from`, with a column weight.
        times : array_like of float, optional
            When each edge happened, for `expire_before`.

        Raises
        ------
        TypeError
            If an edge is no such tuple, or a node cannot be hashed.
        ValueError
            If a node is None, a weight is not a positive number, or the arrays do not fit together.

        See Also
        --------
        DynamicGraph.add_edges_from

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> graph = fo.DynamicGraph()
        >>> graph.add_weighted_edges_from([("ann", "bob", 0.5)])
        >>> graph.weight("ann", "bob")
        0.5
        """
        self._commit(AddEdges(edge_bunch(edges, times=times, weighted=True, directed=self._directed)))

    def remove_edge(self, u: Hashable, v: Hashable) -> None:
        """Remove an edge.

        Parameters
        ----------
        u, v : nodes
            The nodes that it joins. They stay.

        Raises
        ------
        networkx.NetworkXError
            If there is no such edge.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> graph = fo.DynamicGraph(nx.path_graph(3))
        >>> graph.remove_edge(0, 1)
        >>> graph.edges()
        [(1, 2)]
        """
        with self._lock.writing:
            if not self.has_edge(u, v):
                raise nx.NetworkXError(f"The edge {shortened(u)}-{shortened(v)} is not in the graph")
            self._commit(RemoveEdge(u, v))

    def remove_edges_from(self, edges: Any) -> None:
        """Remove edges, as far as they are there.

        Parameters
        ----------
        edges : array with two columns, table, or iterable of tuples
            Tuples ``(u, v)``; what else stands in them is ignored. A table as for `add_edges_from`.

        Raises
        ------
        TypeError
            If an edge is no tuple.
        ValueError
            If an array has another number of columns.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> graph = fo.DynamicGraph(nx.path_graph(3))
        >>> graph.remove_edges_from([(0, 1), (0, 2)])
        >>> graph.number_of_edges()
        1
        """
        bunch = edge_bunch(edges, ends_only=True)
        self._commit(RemoveEdges(bunch.sources, bunch.targets))

    def remove_node(self, node: Hashable) -> None:
        """Remove a node with its edges. Models forget its label.

        Parameters
        ----------
        node : node
            One of the graph.

        Raises
        ------
        networkx.NetworkXError
            If it is not in the graph.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> graph = fo.DynamicGraph(nx.path_graph(3))
        >>> graph.remove_node(1)
        >>> graph
        DynamicGraph with 2 nodes and 0 edges
        """
        with self._lock.writing:
            self._row_of(node)
            self._commit(RemoveNodes([node]))  # looked up again: what the node's __eq__ has changed since counts

    def remove_nodes_from(self, nodes: Iterable[Hashable]) -> None:
        """Remove nodes with their edges, as far as they are there.

        Parameters
        ----------
        nodes : iterable of nodes
            They need not be in the graph.

        Raises
        ------
        TypeError
            If `nodes` is not iterable.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> graph = fo.DynamicGraph(nx.path_graph(3))
        >>> graph.remove_nodes_from([1, 5])
        >>> list(graph)
        [0, 2]
        """
        self._commit(RemoveNodes(listed_nodes(nodes, "nodes")))

    def expire_before(self, time: float) -> int:
        """Remove the edges that happened before a time. Those that were given no time stay.

        Parameters
        ----------
        time : float
            Edges of this time stay.

        Returns
        -------
        int
            How many edges were removed.

        Raises
        ------
        TypeError, ValueError
            If `time` is not a finite number.

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> graph = fo.DynamicGraph()
        >>> graph.add_edges_from([("ann", "bob"), ("bob", "cid")], times=[2019, 2024])
        >>> graph.expire_before(2020)
        1
        >>> graph.edges()
        [('bob', 'cid')]
        """
        time = checked_time(time)
        with self._lock.writing:
            before = self.number_of_edges()
            self._commit(ExpireEdges(time))
            return before - self.number_of_edges()

    # ------------------------------------------------------------------------------------------------ how it is done

    def _commit(self, event: GraphEvent) -> None:
        """Make a change that was checked: all of it or, if this raises, nothing."""
        with self._lock.writing:
            self._apply(event)

    def _apply(self, event: GraphEvent) -> None:
        with self._lock.changing:
            self._n_changes += 1
            match event:
                case AddEdge(u, v, weight, time):
                    self._add_edge(u, v, weight, time)
                case RemoveEdge(u, v):
                    self._remove_edge(u, v)
                case AddNodes(nodes):
                    self._add_nodes(nodes)
                case AddEdges(edges):
                    self._add_edges(edges)
                case RemoveEdges(sources, targets):
                    self._remove_edges(self._known_rows(sources), self._known_rows(targets))
                case RemoveNodes(nodes, rows):
                    self._remove_rows(self._found_rows(nodes) if rows is None else rows)
                case ExpireEdges(time):
                    self._expire(time)

    def _pools(self) -> list[DynamicRows]:
        return [self.rows] if self.rows.both_ways is None else [self.rows, self.rows.both_ways]

    def _row_of(self, node: Any) -> int:
        u = self._nodes.find(node)
        if u is None:
            raise nx.NetworkXError(f"The {missing_node(node, self.rows)}.")
        return u

    def _known_rows(self, nodes: Ends) -> NDArray[np.int32]:
        """The rows of nodes; -1 for those that are not in the graph."""
        if isinstance(nodes, np.ndarray):
            return self._nodes.find_integers(nodes).astype(np.int32)
        return np.array([-1 if u is None else u for u in map(self._nodes.find, nodes)], dtype=np.int32)

    def _found_rows(self, nodes: Iterable[Hashable]) -> list[int]:
        """The rows of those nodes that are in the graph, each once."""
        return [u for u in dict.fromkeys(map(self._nodes.find, nodes)) if u is not None]

    def _joined_rows(self, nodes: Ends) -> NDArray[np.int32]:
        """The rows of nodes that are all in the graph."""
        if isinstance(nodes, np.ndarray):
            return self._nodes.find_integers(nodes).astype(np.int32)
        rows = list(map(self._nodes.find, nodes))
        if None in rows:
            node = nodes[rows.index(None)]
            raise ValueError(f"the hash of node {shortened(node)}, or what it equals, changed while it was added")
        return np.array(rows, dtype=np.int32)

    def _predecessor_rows(self, u: int) -> NDArray[np.int32]:
        if self.rows.both_ways is None:
            return self.rows.row(u)[0]
        pool = self.rows.both_ways.pool
        starts, stops, indices, *_ = pool.arrays
        entries = slice(starts[u], stops[u])
        return indices[entries][(pool.arrow_arrays[0][entries] & 2) > 0]

    def _add_nodes(self, nodes: Iterable[Hashable]) -> None:
        new = self._new_nodes(nodes)
        before = self._nodes.n_later, self._nodes.n_used
        try:
            self._join(new)
        except BaseException:
            self._nodes.take_back(*before)
            raise

    def _add_new_nodes(self, nodes: Iterable[Hashable], new: list[Hashable]) -> None:
        checked = [checked_node(node) for node in nodes]
        with self._lock.writing:
            found = self._new_nodes(checked)
            new += found
            if found:
                self._commit(AddNodes(found))

    def _remove_lone_nodes(self, nodes: Collection[Hashable], is_kept: Callable[[int], bool]) -> None:
        with self._lock.writing:
            rows = self._nodes.rows_of_objects(nodes)
            lone = [u for u in rows if self._degree(u, weight=None) == 0 and not is_kept(u)]
            if lone:
                self._commit(RemoveNodes([self._nodes[u] for u in lone], lone))

    def _new_nodes(self, nodes: Iterable[Hashable]) -> list[Hashable]:
        """Those of these nodes that are not there, each once."""
        return [node for node in dict.fromkeys(nodes) if self._nodes.find(node) is None]

    def _join(self, new: list[Hashable]) -> None:
        """Add nodes that are not there. What raises may leave this half-done; then `take_back` undoes it."""
        for node in new:
            self._nodes.add(node)
        if self._nodes.n_used > MAX_NODES:
            raise ValueError(f"a graph may have at most 2**31 - 1 nodes, got {self._nodes.n_used}")
        for rows in self._pools():
            rows.add_rows(self._nodes.n_used)

    def _add_edges(self, edges: EdgeBunch) -> None:
        new = self._new_ends(edges)
        before = self._nodes.n_later, self._nodes.n_used
        positions = self._positions()
        try:
            self._join(new)
            sources, targets = self._joined_rows(edges.sources), self._joined_rows(edges.targets)
            self._set_weights(sources, targets, edges.weights)
            if edges.times is not None:
                self._set_times(sources, targets, edges.times)
        except BaseException:
            if self._positions() == positions:  # no edge has joined, and no time is set
                self._nodes.take_back(*before)
            elif edges.times is not None:
                self._set_times(sources, targets, edges.times)
            raise

    def _new_ends(self, edges: EdgeBunch) -> list[Hashable]:
        """The ends of edges that are not there, in the order in which they are given."""
        if not (isinstance(edges.sources, np.ndarray) and isinstance(edges.targets, np.ndarray)):
            return self._new_nodes(node for pair in zip(edges.sources, edges.targets, strict=True) for node in pair)
        unknown = (self._known_rows(edges.sources) < 0) | (self._known_rows(edges.targets) < 0)
        ends = np.stack([edges.sources[unknown], edges.targets[unknown]], axis=1).ravel()
        distinct, firsts = np.unique(ends, return_index=True)
        return self._new_nodes(distinct[np.argsort(firsts)].tolist())

    def _positions(self) -> list[int]:
        """How many changes of edges and of times there were, those included that have only begun."""
        return [*(rows.position for rows in self._pools()), self._n_timed]

    def _add_edge(self, u: Hashable, v: Hashable, weight: float | None, time: float | None) -> None:
        i, j = self._nodes.find(u), self._nodes.find(v)
        if i is None or j is None or time is not None:
            value = np.array([np.nan if weight is None else weight])
            self._add_edges(EdgeBunch([u], [v], value, None if time is None else np.array([time])))
        else:
            self._set_weight(i, j, np.nan if weight is None else weight)

    def _remove_edge(self, u: Hashable, v: Hashable) -> None:
        i, j = self._nodes.find(u), self._nodes.find(v)
        if i is None or j is None:
            return
        if self._times:
            self._remove_edges(np.array([i], dtype=np.int32), np.array([j], dtype=np.int32))
        else:
            self._set_weight(i, j, 0.0)

    def _set_weight(self, u: int, v: int, weight: float) -> None:
        """Set the weight of one edge: all or, if this is interrupted, nothing."""
        both_ways = self.rows.both_ways
        if both_ways is None:
            self.rows.pool.set_weight(u, v, weight)
        else:
            self._set_weights(np.array([u], dtype=np.int32), np.array([v], dtype=np.int32), np.array([weight]))

    def _set_weights(
        self, sources: NDArray[np.int32], targets: NDArray[np.int32], weights: NDArray[np.float64]
    ) -> None:
        """Set the weights of edges, 0 for those that leave: all or, if this is interrupted, none."""
        pools = [rows.pool for rows in self._pools()]
        positions = [pool.position for pool in pools]
        try:
            for pool in pools:
                pool.keep_log(len(sources))
            for start in range(0, len(sources), EDGES_AT_ONCE):
                chunk = slice(start, start + EDGES_AT_ONCE)
                for pool in pools:
                    pool.set_weights(sources[chunk], targets[chunk], weights[chunk])
        except BaseException:
            for pool, position in zip(pools, positions, strict=True):
                pool.undo(position)
                pool.release_log()
            raise
        for pool in pools:
            pool.release_log()

    def _remove_edges(self, sources: NDArray[np.int32], targets: NDArray[np.int32]) -> None:
        known = (sources >= 0) & (targets >= 0)
        sources, targets = sources[known], targets[known]
        positions = self._positions()
        try:
            self._set_weights(sources, targets, np.zeros(len(sources)))
            self._drop_times(sources, targets)
        except BaseException:
            if self._positions() != positions:  # the edges have left
                self._drop_times(sources, targets)
            raise

    def _drop_times(self, sources: NDArray[np.int32], targets: NDArray[np.int32]) -> None:
        if self._times:
            for u, v in zip(sources.tolist(), targets.tolist(), strict=True):
                self._times.pop(self._key(u, v), None)

    def _remove_rows(self, rows: list[int]) -> None:
        """Remove the nodes of these rows with their edges."""
        try:
            self._clear_rows(rows)
        except BaseException:  # an interrupt, as no node's code runs: what is left of it is done before that goes on
            self._clear_rows(rows)
            raise

    def _clear_rows(self, rows: list[int]) -> None:
        for u in rows:
            if not self._nodes.has(u):
                continue
            if self._times:
                for v in self.rows.row(u)[0].tolist():
                    self._times.pop(self._key(u, v), None)
                for v in self._predecessor_rows(u).tolist():
                    self._times.pop(self._key(v, u), None)
            if self.rows.both_ways is not None:
                sources = self._predecessor_rows(u).copy()
                self.rows.pool.set_weights(sources, np.full_like(sources, u), np.zeros(len(sources)))
                self.rows.both_ways.pool.clear_row(u)
            self.rows.pool.clear_row(u)
            self._nodes.remove(u)

    def _key(self, u: int, v: int) -> tuple[int, int]:
        return (u, v) if self._directed or u <= v else (v, u)

    def _set_times(self, sources: NDArray[np.int32], targets: NDArray[np.int32], times: NDArray[np.float64]) -> None:
        self._n_timed += 1
        for u, v, time in zip(sources.tolist(), targets.tolist(), times.tolist(), strict=True):
            key = self._key(u, v)
            self._times[key] = time
            heapq.heappush(self._by_time, (time, *key))
        if len(self._by_time) > 2 * len(self._times) + 64:
            self._by_time = [(time, *key) for key, time in self._times.items()]
            heapq.heapify(self._by_time)

    def _expire(self, time: float) -> None:
        popped: list[tuple[float, int, int]] = []
        try:
            while self._by_time and self._by_time[0][0] < time:
                popped.append(heapq.heappop(self._by_time))
            expired = {(u, v) for happened, u, v in popped if self._times.get((u, v)) == happened}
            ends = np.array(sorted(expired), dtype=np.int32).reshape(-1, 2)
            self._remove_edges(np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1]))
        except BaseException:
            for entry in popped:
                heapq.heappush(self._by_time, entry)
            raise

    def _packed(self) -> tuple[Rows, list[int]]:
        """The rows of the nodes in their order, without those of nobody, and where each was."""
        order = np.array(self._nodes.rows(), dtype=np.int64)
        slots, counts = self.rows.row_slots(order)
        numbers = np.full(len(self.rows), -1, dtype=np.int32)
        numbers[order] = np.arange(len(order))
        weights = self.rows.weights
        indptr = np.concatenate([[0], np.cumsum(counts)])
        rows = Rows(indptr, numbers[self.rows.indices[slots]], None if weights is None else weights[slots])
        return rows, order.tolist()

    def _plain_nodes(self) -> Any:
        nodes = list(self._nodes)
        is_counting = all(type(node) is int and node == i for i, node in enumerate(nodes))
        return None if is_counting else nodes


def _node_of(node: Any) -> Hashable:
    if isinstance(node, tuple) and len(node) == 2 and isinstance(node[1], dict):
        node = node[0]
    return checked_node(node)


def _rows_of(G: Any, directed: bool | None, weight: str | None) -> tuple[Rows, GrowingNames, bool]:
    """What a graph begins with: rows, names, and whether it is directed."""
    if directed is not None and not isinstance(directed, bool):
        raise TypeError(f"directed must be True, False or None, got {shortened(directed)}")
    if G is None or (isinstance(G, nx.Graph | DynamicGraph) and len(G) == 0):
        nothing = Rows(np.zeros(FIRST_ROWS + 1, dtype=np.int64), np.empty(0, dtype=np.int32), None)
        is_directed = directed if directed is not None or G is None else G.is_directed()
        return nothing, GrowingNames(range(0), lambda node: find_in_range(0, node)), bool(is_directed)
    graph = as_csr_graph(G, weight)
    graph._check_saved()
    if directed is False:
        graph = graph.without_arrows()
    rows = Rows(graph.indptr, graph.indices, graph.weights)
    if directed and not graph.is_directed() and rows.weights is not None:
        check_weights(rows.weights, graph._edge_at, directed=True)
    return rows, GrowingNames(graph.nodes, graph._finder), graph.is_directed() if directed is None else directed


def _both_ways(rows: Rows, **options: Any) -> RowPool:
    """The rows of W + W^T, from those of W."""
    if len(rows.indptr) == 1:
        nothing = np.empty(0)
        given: tuple[Any, ...] = (rows.indptr, rows.indices, None, nothing.astype(np.uint8), nothing, nothing)
    else:
        arrows = CSRGraph._made(rows, None, directed=True).arrows
        graph = arrows.graph
        given = (graph.indptr, graph.indices, graph.weights, arrows.codes, arrows.out_weights, arrows.in_weights)
    return RowPool("both ways", *given, **options)


def _restored(*state: Any) -> DynamicGraph:
    """What a pickle holds, checked."""
    graph = DynamicGraph.__new__(DynamicGraph)
    graph._restore(GraphState(*state))
    return graph
