"""Anything graph-like -> CSRGraph: the one place where dicts of nodes meet arrays."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, cast

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from nx_fastonl._convert import WEIGHT_RANGE, arrays_from_adjacency

__all__ = ["CSRGraph", "as_csr_graph"]

BACKEND_NAME = "fastonl"
ALL_ATTRIBUTES = (True, True)  # under which NetworkX finds it, whatever attributes it asks for
NO_WEIGHTS = np.empty(0)
MOST_NODES = np.iinfo(np.int32).max


class CSRGraph:
    """A graph as compressed sparse rows: what every function of the package computes on.

    Passing an ``nx.Graph`` or a sparse array to a function makes one of these on the way; make it yourself to convert
    once, or to work with graphs too large for NetworkX. It cannot be changed, and copies the arrays that it is given.
    It has one weight: where a function asks for the name of one, any name means it, and None ignores it.

    Parameters
    ----------
    indptr, indices : array_like of int
        The neighbours of node ``u`` are ``indices[indptr[u]:indptr[u + 1]]``, each at most once. An undirected
        graph lists every edge in both rows, a self-loop once.
    weights : array_like of float, optional
        Positive, parallel to `indices`; every weight is 1 by default.
    nodes : sequence of hashable, optional
        The names of the nodes, by default 0, 1, 2, ...
    directed : bool, default False
        Whether the rows hold out-edges only.
    check : bool, default True
        False skips the check that no neighbour is listed twice and that an undirected graph is symmetric, for arrays
        known to be right. Whatever could read past an array is always checked.

    Attributes
    ----------
    indptr, indices : numpy.ndarray of int
        As given. All arrays are read-only.
    weights : numpy.ndarray of float, or None
        As given, or None: every weight is 1.
    degrees : numpy.ndarray of float
        The sum of the weights in each row, or the number of neighbours where there are no weights.
    nodes : sequence of hashable
        The names of the nodes, in the order of the rows.

    Raises
    ------
    ValueError
        If the arrays do not describe a graph.
    TypeError
        If `nodes` is not a sequence, or a name cannot be hashed.
    networkx.NetworkXPointlessConcept
        If there are no nodes.

    See Also
    --------
    CSRGraph.from_networkx, CSRGraph.from_scipy, CSRGraph.from_edges

    Examples
    --------
    >>> import nx_fastonl as fo
    >>> graph = fo.CSRGraph(indptr=[0, 1, 3, 4], indices=[1, 0, 2, 1], nodes=["a", "b", "c"])
    >>> graph
    CSRGraph with 3 nodes and 2 edges
    >>> graph.degrees.tolist()
    [1.0, 2.0, 1.0]
    """

    __networkx_backend__ = BACKEND_NAME  # NetworkX's own functions take it too

    indptr: NDArray[np.int32] | NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float64] | None
    degrees: NDArray[np.float64]  # weighted; `indptr` has the numbers of neighbours
    nodes: Sequence[Hashable]

    def __init__(
        self,
        indptr: ArrayLike,
        indices: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        nodes: Sequence[Hashable] | None = None,
        directed: bool = False,
        check: bool = True,
    ) -> None:
        indptr, indices = _integers(indptr, "indptr"), _integers(indices, "indices")
        n = len(indptr) - 1
        if n == 0:
            raise nx.NetworkXPointlessConcept("the graph has no nodes; there is nothing to compute on")
        if n < 0 or indptr[0] != 0 or indptr[-1] != len(indices) or (indptr[1:] < indptr[:-1]).any():
            raise ValueError(f"indptr must rise from 0 to len(indices) = {len(indices)}")
        if len(indices) and not (indices.min() >= 0 and indices.max() < n):
            raise ValueError(f"indices must lie between 0 and {n - 1}, got {indices.min()} to {indices.max()}")
        if n > MOST_NODES:
            raise ValueError(f"a graph may have at most 2**31 - 1 nodes, got {n}")
        self._directed = bool(directed)
        self._index: dict[Hashable, int] | None = None
        if nodes is None or (isinstance(nodes, range) and nodes == range(n)):
            self.nodes = range(n)
        else:
            self.nodes = _node_tuple(nodes)
            self._index = {node: u for u, node in enumerate(self.nodes)}
            if not len(self.nodes) == len(self._index) == n:
                names = f"{len(self.nodes)} names, {len(self._index)} of them different"
                raise ValueError(f"nodes must name each of the {n} nodes once, got {names}")
        offset_type = np.int32 if len(indices) <= np.iinfo(np.int32).max else np.int64
        self.indptr = _frozen(indptr, offset_type)
        self.indices = _frozen(indices, np.int32)
        self.weights = None if weights is None else self._checked_weights(weights)
        self.degrees = _frozen(self._sum_rows(), np.float64)
        if check:
            self._check_rows()
        # Idle scratch memory of earlier pushes. list.pop and list.append are atomic, so threads share it safely.
        self._idle_workspaces: list[Any] = []

    @classmethod
    def from_networkx(cls, G: nx.Graph[Any], weight: str | None = "weight") -> CSRGraph:
        """Convert a NetworkX graph, or fetch the conversion that NetworkX's cache holds.

        NetworkX drops the cache when a graph is changed through its methods. It does not see
        ``G[u][v]["weight"] = 2``: call ``G.__networkx_cache__.clear()`` after that. Views, such as ``G.subgraph()``,
        do not hear of changes to their graph and are converted anew each time.

        Parameters
        ----------
        G : nx.Graph, nx.DiGraph, nx.MultiGraph or nx.MultiDiGraph
            Parallel edges add up; edges of weight 0 are left out.
        weight : str or None, default "weight"
            The edge attribute that holds the weight, 1 where it is missing. None ignores weights.

        Returns
        -------
        CSRGraph

        Raises
        ------
        ValueError
            If a weight is negative, infinite, not a number, or too large or small to compute with.
        TypeError
            If `G` is not an ``nx.Graph``.
        networkx.NetworkXPointlessConcept
            If `G` has no nodes.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> G = nx.karate_club_graph()
        >>> fo.CSRGraph.from_networkx(G)
        CSRGraph with 34 nodes and 78 edges
        >>> fo.CSRGraph.from_networkx(G) is fo.CSRGraph.from_networkx(G)
        True
        """
        if not isinstance(G, nx.Graph):
            raise TypeError(f"expected an nx.Graph, got a {type(G).__module__}.{type(G).__qualname__}")
        return live_graph(G).csr_graph(weight)

    @classmethod
    def from_scipy(
        cls,
        A: Any,
        *,
        nodes: Sequence[Hashable] | None = None,
        directed: bool | None = None,
        weight: str | None = "weight",
    ) -> CSRGraph:
        """Convert a scipy sparse array or matrix; entry ``[u, v]`` is the weight of the edge from u to v.

        Parameters
        ----------
        A : scipy sparse array or matrix
            Square, of any format. Duplicate entries add up; zeros are left out. It is never changed.
        nodes : sequence of hashable, optional
            The names of the rows, by default 0, 1, 2, ...
        directed : bool, optional
            By default the graph is undirected if `A` is symmetric.
        weight : str or None, default "weight"
            None makes every weight 1.

        Returns
        -------
        CSRGraph

        Raises
        ------
        ValueError
            If `A` is not square, has a bad weight, or is not symmetric though ``directed=False``, or if `nodes` does
            not name each row once.
        TypeError
            If `A` is not sparse, or `nodes` is not a sequence.
        networkx.NetworkXPointlessConcept
            If there are no rows.

        Examples
        --------
        >>> import nx_fastonl as fo, scipy.sparse
        >>> fo.CSRGraph.from_scipy(scipy.sparse.csr_array([[0, 1, 0], [1, 0, 2], [0, 2, 0]]))
        CSRGraph with 3 nodes and 2 edges
        """
        is_sparse: bool = sparse.issparse(A)
        if not is_sparse:
            raise TypeError(f"expected a scipy sparse array or matrix, got {type(A).__name__}")
        if A.ndim != 2 or A.shape[0] != A.shape[1]:
            raise ValueError(f"an adjacency matrix is square, got shape {A.shape}")
        if A.dtype.kind not in "biuf":
            raise ValueError(f"an adjacency matrix holds real numbers, got dtype {A.dtype}")
        if hasattr(A, "check_format"):
            A.check_format(full_check=True)
        coo: Any = sparse.coo_array(A)
        _check_weights(coo.data, lambda e: (coo.coords[0][e], coo.coords[1][e]))
        csr = coo.astype(np.float64).tocsr()  # as floats, small integers cannot overflow where entries add up
        csr.eliminate_zeros()
        symmetric = abs(csr - csr.T).nnz == 0
        if directed is False and not symmetric:
            raise ValueError("the matrix is not symmetric; pass directed=True, or A + A.T")
        if directed is None:
            directed = not symmetric
        weights = None if weight is None or (csr.data == 1).all() else csr.data
        return cls(csr.indptr, csr.indices, weights, nodes=nodes, directed=directed, check=False)

    @classmethod
    def from_edges(
        cls,
        sources: ArrayLike,
        targets: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        n: int | None = None,
        nodes: Sequence[Hashable] | None = None,
        directed: bool = False,
    ) -> CSRGraph:
        """Build a graph from arrays of edge ends.

        Parameters
        ----------
        sources, targets : array_like of int
            The ends of each edge, counted from 0. An undirected edge is given once; edges given twice add up.
        weights : array_like of float, optional
            A weight for each edge, by default 1.
        n : int, optional
            The number of nodes, by default ``len(nodes)`` or the largest end plus 1.
        nodes : sequence of hashable, optional
            The names of the nodes, by default 0, 1, 2, ...
        directed : bool, default False
            Whether edges lead only from source to target.

        Returns
        -------
        CSRGraph

        Raises
        ------
        ValueError
            If the arrays differ in length, an end or a weight is out of range, or `nodes` does not name each node once.
        TypeError
            If `nodes` is not a sequence.
        networkx.NetworkXPointlessConcept
            If there are no nodes.

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> fo.CSRGraph.from_edges([0, 1], [1, 2], weights=[0.5, 2])
        CSRGraph with 3 nodes and 2 edges
        """
        rows, columns = _integers(sources, "sources"), _integers(targets, "targets")
        values = np.ones(len(rows)) if weights is None else np.asarray(weights)
        if values.ndim != 1 or not len(rows) == len(columns) == len(values):
            shapes = (rows.shape, columns.shape, values.shape)
            raise ValueError(f"sources, targets and weights must be parallel, got shapes {shapes}")
        _check_weights(values, lambda e: (rows[e], columns[e]))
        if n is None:
            n = len(nodes) if nodes is not None else 1 + int(max(rows.max(initial=0), columns.max(initial=0)))
            n = n if len(rows) or nodes is not None else 0
        if not 0 <= n <= MOST_NODES:
            raise ValueError(f"a graph may have 1 to 2**31 - 1 nodes, got n = {n}")
        for ends in (rows, columns):
            if len(ends) and not (ends.min() >= 0 and ends.max() < n):
                raise ValueError(f"edge ends must lie between 0 and {n - 1}, got {ends.min()} to {ends.max()}")
        if not directed:
            back = rows != columns
            rows, columns = np.concatenate([rows, columns[back]]), np.concatenate([columns, rows[back]])
            values = np.concatenate([values, values[back]])
        matrix = sparse.coo_array((values.astype(np.float64), (rows, columns)), shape=(n, n)).tocsr()
        matrix.eliminate_zeros()
        total = None if (matrix.data == 1).all() else matrix.data
        return cls(matrix.indptr, matrix.indices, total, nodes=nodes, directed=directed, check=False)

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        return self._find(node) is not None

    def __repr__(self) -> str:
        kind = "directed " if self._directed else ""
        return f"{kind}CSRGraph with {len(self)} nodes and {self.number_of_edges()} edges"

    def __setattr__(self, name: str, value: Any) -> None:
        if "_idle_workspaces" in self.__dict__:  # the last that __init__ sets
            raise AttributeError("a CSRGraph cannot be changed; make a new one")
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_idle_workspaces": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for array in (self.indptr, self.indices, self.weights, self.degrees):
            if array is not None:
                array.flags.writeable = False

    def is_directed(self) -> bool:
        """Whether the rows hold out-edges only.

        Returns
        -------
        bool

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> fo.CSRGraph.from_edges([0, 1], [1, 2], directed=True).is_directed()
        True
        """
        return self._directed

    def is_multigraph(self) -> bool:
        """Whether there may be parallel edges: never, as they were added up.

        Returns
        -------
        bool
            False.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> graph = fo.CSRGraph.from_networkx(nx.MultiGraph([(0, 1), (0, 1)]))
        >>> graph.is_multigraph(), graph.weights.tolist()
        (False, [2.0, 2.0])
        """
        return False

    def number_of_nodes(self) -> int:
        """The number of nodes.

        Returns
        -------
        int

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> fo.CSRGraph.from_edges([0, 1], [1, 2], n=5).number_of_nodes()
        5
        """
        return len(self)

    def number_of_edges(self) -> int:
        """The number of edges, a self-loop counting as one.

        Returns
        -------
        int

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> fo.CSRGraph.from_edges([0, 1, 2], [1, 2, 2]).number_of_edges()
        3
        """
        return len(self.indices) if self._directed else (len(self.indices) + self._self_loops) // 2

    def index(self, node: Hashable) -> int:
        """The row of `node`.

        Parameters
        ----------
        node : node
            What `nodes` has in that row, or equals it.

        Returns
        -------
        int
            The position of the node in `nodes`, counted from 0.

        Raises
        ------
        networkx.NodeNotFound
            If `node` is not in the graph.

        See Also
        --------
        CSRGraph.rows_of

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> fo.CSRGraph.from_networkx(nx.path_graph(["a", "b", "c"])).index("b")
        1
        """
        u = self._find(node)
        if u is None:
            raise nx.NodeNotFound(f"node {node!r} is not in the graph")
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

        See Also
        --------
        CSRGraph.index

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> fo.CSRGraph.from_networkx(nx.path_graph(["a", "b", "c"])).rows_of(["c", "a"])
        [2, 0]
        """
        n = len(self.nodes) if self._index is None else 0
        return [node if type(node) is int and 0 <= node < n else self.index(node) for node in nodes]

    def to_scipy(self) -> sparse.csr_array:
        """The adjacency matrix, sharing this graph's arrays where it can.

        Returns
        -------
        scipy.sparse.csr_array
            Rows and columns follow `nodes`; every entry is 1 where there are no weights.

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> fo.CSRGraph.from_edges([0, 1], [1, 2]).to_scipy().toarray()
        array([[0., 1., 0.],
               [1., 0., 1.],
               [0., 1., 0.]])
        """
        data = np.ones(len(self.indices)) if self.weights is None else self.weights
        return sparse.csr_array((data, self.indices, self.indptr), shape=(len(self), len(self)))

    def to_networkx(self) -> nx.Graph[Any]:
        """The graph as an ``nx.Graph`` or ``nx.DiGraph``, its weights, if it has any, as edge attribute "weight".

        Returns
        -------
        nx.Graph or nx.DiGraph

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> G = fo.CSRGraph.from_edges([0, 1], [1, 2], weights=[0.5, 2]).to_networkx()
        >>> G.edges(data="weight")
        EdgeDataView([(0, 1, 0.5), (1, 2, 2.0)])
        """
        rows = np.repeat(np.arange(len(self)), np.diff(self.indptr))
        once = slice(None) if self._directed else rows <= self.indices
        sources, targets = (map(self.nodes.__getitem__, ends[once].tolist()) for ends in (rows, self.indices))
        G: nx.Graph[Any] = nx.DiGraph() if self._directed else nx.Graph()
        G.add_nodes_from(self.nodes)
        if self.weights is None:
            G.add_edges_from(zip(sources, targets, strict=True))
        else:
            G.add_weighted_edges_from(zip(sources, targets, self.weights[once].tolist(), strict=True))
        return G

    @cached_property
    def unweighted(self) -> CSRGraph:
        """The same graph with every weight 1."""
        if self.weights is None:
            return self
        return CSRGraph(self.indptr, self.indices, nodes=self.nodes, directed=self._directed, check=False)

    @cached_property
    def largest_degree(self) -> float:
        """The largest weighted degree."""
        return float(self.degrees.max())

    @cached_property
    def has_dead_ends(self) -> bool:
        """Whether some node has no out-edge."""
        return bool((self.degrees == 0.0).any())

    @cached_property
    def components(self) -> NDArray[np.int32]:
        """The number of the connected component of each node; directions do not matter."""
        _, components = sparse.csgraph.connected_components(self.to_scipy(), directed=False)
        return _frozen(components, np.int32)

    @cached_property
    def _self_loops(self) -> int:
        return int((self.indices == np.repeat(np.arange(len(self)), np.diff(self.indptr))).sum())

    def _find(self, node: Any) -> int | None:
        try:
            if self._index is not None:
                return self._index.get(node)
            u = hash(node)  # an integer's hash is the integer, and what equals it has the same: as in a dict
        except TypeError:  # unhashable
            return None
        return u if 0 <= u < len(self.nodes) and bool(u == node) else None

    def _check_rows(self) -> None:
        W = self.to_scipy()
        if not W.has_canonical_format:
            W = W.copy()
            W.sum_duplicates()
            if W.nnz < len(self.indices):
                raise ValueError("a row lists a neighbour twice; CSRGraph.from_edges adds such edges up")
        if not self._directed and abs(W - W.T).nnz > 0:
            raise ValueError("the arrays are not symmetric; pass directed=True, or list every edge in both rows")

    def _checked_weights(self, weights: ArrayLike) -> NDArray[np.float64]:
        values = np.asarray(weights)
        if values.shape != self.indices.shape:
            raise ValueError(f"weights must be parallel to indices, got shapes {values.shape} and {self.indices.shape}")
        _check_weights(values, lambda e: (np.searchsorted(self.indptr, e, "right") - 1, self.indices[e]))
        if not (values > 0).all():
            raise ValueError("weights must be positive; leave edges of weight 0 out of the arrays")
        return _frozen(values, np.float64)

    def _sum_rows(self) -> NDArray[np.float64]:
        if self.weights is None:
            return np.diff(self.indptr).astype(np.float64)
        return self.to_scipy() @ np.ones(len(self))


class LiveGraph:
    """An nx.Graph as this package sees it: its attributes as they are now, its edges as arrays when they are asked for.

    NetworkX's cache keeps it, and drops it when the graph is changed through its methods; so it may keep the arrays.
    It refers to the graph's dicts, not to the graph, which would then be freed late. Views, such as ``G.subgraph()``,
    do not hear of changes to their graph: of them it keeps nothing.
    """

    __networkx_backend__ = BACKEND_NAME

    def __init__(self, G: nx.Graph[Any]) -> None:
        self.graph: dict[Any, Any] = G.graph
        self.attributes: Mapping[Hashable, Mapping[Any, Any]] = cast(Any, G)._node
        self.adjacency: Mapping[Hashable, Mapping[Hashable, Any]] = cast(Any, G)._adj  # G.adj would wrap every row
        self._directed = G.is_directed()
        self._multigraph = G.is_multigraph()
        self._is_view = hasattr(G, "_graph")
        self._two_sided = loses_directions(G)
        self._conversions: dict[str | None, tuple[CSRGraph, int]] = {}

    def __len__(self) -> int:
        return len(self.attributes)

    def __repr__(self) -> str:
        return f"LiveGraph of {len(self)} nodes"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_conversions": {}}

    def is_directed(self) -> bool:
        """Whether the edges have a direction."""
        return self._directed

    def is_multigraph(self) -> bool:
        """Whether there may be parallel edges."""
        return self._multigraph

    def csr_graph(self, weight: str | None = "weight", *, recount: bool = False) -> CSRGraph:
        """The edges and one of their attributes, as arrays.

        NetworkX does not clear its cache where a change fails half-way. A number of nodes that differs is always
        noticed; with `recount`, which looks at every node, a number of edges too.
        """
        graph, entries = self._conversions.get(weight, (None, 0))
        if graph is None or len(graph) != len(self) or (recount and entries != self._count_entries()):
            graph = self._convert(weight)
            if not self._is_view:
                self._conversions[weight] = graph, self._count_entries()
        return graph

    def to_networkx(self) -> nx.Graph[Any]:
        """A NetworkX graph of the same kind, with the same nodes, edges and attributes."""
        kinds = {
            (False, False): nx.Graph,
            (False, True): nx.DiGraph,
            (True, False): nx.MultiGraph,
            (True, True): nx.MultiDiGraph,
        }
        G: Any = kinds[self._multigraph, self._directed]()
        G.graph.update(self.graph)
        G.add_nodes_from(self.attributes.items())
        for u, neighbours in self.adjacency.items():
            for v, data in neighbours.items():
                if self._multigraph:
                    G.add_edges_from((u, v, key, attributes) for key, attributes in data.items())
                else:
                    G.add_edges_from([(u, v, data)])  # names of attributes need not be texts
        return cast("nx.Graph[Any]", G)

    def _convert(self, weight: str | None) -> CSRGraph:
        nodes, indptr, indices, weights = arrays_from_adjacency(self.adjacency, weight, self._multigraph)
        if not self._two_sided:
            return CSRGraph(indptr, indices, weights, nodes=nodes, directed=self._directed, check=False)
        # As for nx.to_scipy_sparse_array, the edge of the node that comes first counts.
        rows = np.repeat(np.arange(len(nodes)), np.diff(indptr))
        once = rows <= indices
        return CSRGraph.from_edges(rows[once], indices[once], None if weights is None else weights[once], nodes=nodes)

    def _count_entries(self) -> int:
        return sum(map(len, self.adjacency.values()))


def loses_directions(G: nx.Graph[Any]) -> bool:
    """Whether this is a view of a directed graph as an undirected one: (u, v) and (v, u) are then edges apart."""
    whole: Any = G
    while hasattr(whole, "_graph"):
        whole = whole._graph
    return whole.is_directed() and not G.is_directed()


def live_graph(G: nx.Graph[Any]) -> LiveGraph:
    """The LiveGraph of `G`, the same each time until `G` changes, where NetworkX's cache may be used."""
    cache = getattr(G, "__networkx_cache__", None)
    if cache is None or not nx.config.cache_converted_graphs:
        return LiveGraph(G)
    conversions: dict[Any, LiveGraph] = cache.setdefault("backends", {}).setdefault(BACKEND_NAME, {})
    live = conversions.get(ALL_ATTRIBUTES)
    if live is None:
        live = conversions[ALL_ATTRIBUTES] = LiveGraph(G)
    return live


def as_csr_graph(G: Any, weight: str | None = "weight") -> CSRGraph:
    """The CSRGraph of whatever graph a user passes; one that is a CSRGraph already has only one weight, or None."""
    if isinstance(G, CSRGraph):
        return G.unweighted if weight is None else G
    if isinstance(G, LiveGraph):
        return G.csr_graph(weight)
    if isinstance(G, nx.Graph):
        return CSRGraph.from_networkx(G, weight)
    if sparse.issparse(G):
        return CSRGraph.from_scipy(G, weight=weight)
    if getattr(G, "__networkx_backend__", None) is not None:
        return CSRGraph.from_networkx(_to_networkx(G, backend="networkx"), weight)
    hint = "; wrap it in scipy.sparse.csr_array" if isinstance(G, np.ndarray) else ""
    raise TypeError(f"expected an nx.Graph, a scipy sparse array or a CSRGraph, got {type(G).__name__}{hint}")


def _itself(G: nx.Graph[Any]) -> nx.Graph[Any]:
    return G


# Called with backend="networkx", it gives what NetworkX makes of another backend's graph.
_to_networkx: Any = nx._dispatchable(_itself, name=f"{BACKEND_NAME}_to_networkx", preserve_all_attrs=True)


def _integers(values: ArrayLike, name: str) -> NDArray[np.integer]:
    """A one-dimensional array of signed integers, wide enough to add to."""
    array = np.asarray(values)
    if array.size == 0:
        array = array.astype(np.int32)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be a one-dimensional array of integers, got {array.dtype} of shape {array.shape}"
        )
    if array.dtype in (np.int32, np.int64):
        return array
    if array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name} holds {array.max()}; a graph may have at most 2**31 - 1 nodes")
    return array.astype(np.int64)


def _node_tuple(nodes: Any) -> tuple[Hashable, ...]:
    if isinstance(nodes, np.ndarray):
        nodes = nodes.tolist()  # plain Python objects
    elif not hasattr(nodes, "__getitem__"):
        raise TypeError(f"nodes must be a sequence, whose order names the rows, got {type(nodes).__name__}")
    return tuple(nodes)


def _frozen(array: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """A copy that nobody can change: the compiled loops trust what was checked."""
    copy = np.array(array, dtype=dtype)
    copy.flags.writeable = False
    return copy


def _check_weights(values: NDArray[Any], ends: Any) -> None:
    """Raise for the first bad weight; `ends` gives the edge at a position."""
    if values.dtype.kind not in "biuf":
        raise ValueError(f"weights must be real numbers, got dtype {values.dtype}")
    smallest, largest = WEIGHT_RANGE
    as_float = values.astype(np.float64, copy=False)
    bad = ~((as_float == 0) | ((as_float >= smallest) & (as_float <= largest)))
    if bad.any():
        e = int(bad.argmax())
        u, v = (int(end) for end in ends(e))
        raise ValueError(
            f"edge ({u}, {v}) has weight {values[e]}; a weight must be 0 or a number "
            f"between {smallest:g} and {largest:g}"
        )
