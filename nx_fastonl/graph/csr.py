"""CSRGraph: rows of neighbours, and the names of the nodes."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakValueDictionary

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray

from nx_fastonl._lib.arrays import read_only
from nx_fastonl._lib.checks import check_count, shortened
from nx_fastonl._lib.folders import DamagedError
from nx_fastonl._lib.frames import Table, is_frame, one_column, read_frame
from nx_fastonl._lib.html import view_or_none
from nx_fastonl._lib.log import elapsed, logger, warn_caller
from nx_fastonl._lib.pool import Pool
from nx_fastonl._lib.streams import FileLike
from nx_fastonl.graph._check import find_fault
from nx_fastonl.graph._components import component_numbers, count_self_loops
from nx_fastonl.graph._edges import row_sums
from nx_fastonl.graph._view import GraphView
from nx_fastonl.graph.arrows import Arrows, rows_both_ways
from nx_fastonl.graph.base import RowGraph
from nx_fastonl.graph.edgefile import read_edge_files
from nx_fastonl.graph.edgetable import edge_columns, listed_nodes
from nx_fastonl.graph.ends import named_ends, numbered_texts, whole_column
from nx_fastonl.graph.live import BACKEND_NAME, LiveGraph, live_graph
from nx_fastonl.graph.names import ArrayNames, finder_of, integer_names
from nx_fastonl.graph.rows import (
    MAX_NODES,
    NAMES_IN_TABLES,
    Rows,
    check_weights,
    integers,
    rows_from_edges,
    rows_from_scipy,
)
from nx_fastonl.graph.storage import StoredGraph, Verify, graph_fingerprint, open_graph, save_graph
from nx_fastonl.graph.views import MAX_COUNTED_NODES, graph_view

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["CSRGraph"]

# With more nodes than this for each edge, at least half of them have none.
NODES_PER_EDGE = 4
_NOTHING = nullcontext()


class CSRGraph(RowGraph):
    """A graph as compressed sparse rows: what every function of the package computes on.

    A function that is given an ``nx.Graph`` or a sparse array makes one of these first. Make one yourself to convert
    only once, or to work with graphs too large for NetworkX. It cannot be changed, and copies the arrays that it is
    given. It has one weight per edge. Where a function takes the name of a weight, any name means this one, and None
    ignores it.

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
    path : pathlib.Path or None
        The folder that the graph was opened from; None if it is in memory.

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
    CSRGraph.from_networkx, CSRGraph.from_scipy, CSRGraph.from_edges, CSRGraph.open

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
    degrees: NDArray[np.float64]  # weighted; differences of `indptr` are the numbers of neighbours
    nodes: Sequence[Hashable]
    path: Path | None
    _finder: Callable[[Any], int | None]

    def __init__(
        self,
        indptr: ArrayLike,
        indices: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        nodes: Sequence[Hashable] | None = None,
        directed: bool = False,
    ) -> None:
        # Copied first: then neither the caller's code nor another thread can change what was checked.
        indptr, indices = integers(indptr, "indptr"), integers(indices, "indices")
        weights = None if weights is None else np.array(weights)
        n = len(indptr) - 1
        if n == 0:
            raise nx.NetworkXPointlessConcept("the graph has no nodes; there is nothing to compute on")
        if n < 0 or indptr[0] != 0 or indptr[-1] != len(indices) or (indptr[1:] < indptr[:-1]).any():
            raise ValueError(f"indptr must rise from 0 to len(indices) = {len(indices)}")
        if len(indices) and not (indices.min() >= 0 and indices.max() < n):
            raise ValueError(f"indices must lie between 0 and {n - 1}, got {indices.min()} to {indices.max()}")
        if n > MAX_NODES:
            raise ValueError(f"a graph may have at most 2**31 - 1 nodes, got {n}")
        self._name(nodes, n)
        self._directed = bool(directed)
        self.indptr = read_only(indptr, np.int64)
        self.indices = read_only(indices, np.int32)
        self.weights = None if weights is None else self._checked_weights(weights)
        self._check_rows()
        self._finish()

    @classmethod
    def _made(cls, rows: Rows, nodes: Sequence[Hashable] | None, directed: bool) -> CSRGraph:
        """The graph of rows that were made here, so that they are right and nobody else has them: nothing is copied."""
        if len(rows.indptr) == 1:
            raise nx.NetworkXPointlessConcept("the graph has no nodes; there is nothing to compute on")
        graph = cls.__new__(cls)
        graph._name(nodes, len(rows.indptr) - 1)
        graph._directed = bool(directed)
        graph.indptr, graph.indices = read_only(rows.indptr, np.int64), read_only(rows.indices, np.int32)
        graph.weights = None if rows.weights is None else graph._checked_weights(rows.weights)
        graph._finish()
        return graph

    def _name(self, nodes: Sequence[Hashable] | None, n: int) -> None:
        self.nodes = range(n) if nodes is None or (isinstance(nodes, range) and nodes == range(n)) else _sequence(nodes)
        self._finder, different = finder_of(self.nodes)
        if not len(self.nodes) == different == n:
            names = f"{len(self.nodes)} names, {different} of them different"
            raise ValueError(f"nodes must name each of the {n} nodes once, got {names}")

    def _find(self, node: Any) -> int | None:
        return self._finder(node)

    def _finish(self) -> None:
        if self.weights is None:
            self.degrees = read_only(np.diff(self.indptr), np.float64)
        else:
            self.degrees = read_only(row_sums(self.indptr, self.weights), np.float64)
        self._fault = None  # rows that were made or checked here
        self._close(path=None)

    def _close(self, path: Path | None) -> None:
        self.path = path
        self._pools: dict[Any, Pool[Any]] = {}
        self._is_frozen = True

    @classmethod
    def from_networkx(cls, G: nx.Graph[Any], weight: str | None = "weight") -> CSRGraph:
        """Convert a NetworkX graph, or fetch the conversion that NetworkX's cache holds.

        NetworkX drops the cache when a graph is changed through its methods. It does not see
        ``G[u][v]["weight"] = 2``. In a graph with up to 256 edges such a change is noticed here. In a larger graph only
        256 of the edges are compared, so call ``G.__networkx_cache__.clear()`` after changing weights in place. Views,
        such as ``G.subgraph()``, are not told when their graph changes, so they are converted again at each call.

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
        live = live_graph(G)
        graph = csr_graph_of(live, weight)
        live.warn_of_unused(weight)
        return graph

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
        began = perf_counter()
        rows, symmetric = rows_from_scipy(A)
        if directed is False and not symmetric:
            raise ValueError("the matrix is not symmetric; pass directed=True, or A + A.T")
        if directed is None:
            directed = not symmetric
        if weight is None:
            rows = rows._replace(weights=None)
        graph = cls._made(rows, nodes, directed)
        logger.info("converted a scipy array with %d nodes, in %s", len(graph), elapsed(began))
        return graph

    @classmethod
    def from_edges(
        cls,
        sources: Any,
        targets: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        *,
        n: int | None = None,
        nodes: Sequence[Hashable] | None = None,
        directed: bool = False,
    ) -> CSRGraph:
        """Build a graph from arrays of edge ends, or from a table of edges.

        Parameters
        ----------
        sources, targets : array_like of int or of str
            The ends of each edge: integers, counted from 0, or the names of nodes, as texts. Both are taken from
            lists, from arrays of numpy, and from columns of pandas, polars and Arrow; int32 and int64 are not copied.
            An undirected edge is given once; edges given twice add up. Instead of both, `sources` may be a table of
            pandas, polars or Arrow. Its columns are found by their names: source and target, from and to, src and dst,
            u and v or the like, and weight; or they are two, beside that of the weight. Integers in a table are names,
            as texts are.
        weights : array_like of float, optional
            A weight for each edge, by default 1.
        n : int, optional
            The number of nodes, by default ``len(nodes)`` or the largest end plus 1; where this leaves most nodes
            without an edge, a warning says so. Not for texts or a table.
        nodes : sequence or column of hashable, optional
            The names of the nodes, by default 0, 1, 2, ... or, where ends are names, these in the order in which they
            appear: ``sources[0]``, ``targets[0]``, ``sources[1]``, ... Ends that are names must be among `nodes`.
        directed : bool, default False
            Whether edges lead only from source to target.

        Returns
        -------
        CSRGraph

        Raises
        ------
        ValueError
            If the arrays differ in length, an end or a weight is out of range, a name is not among `nodes`, `nodes`
            does not name each node once, or it cannot be told which columns of a table count.
        TypeError
            If an end is missing, only one of both columns holds texts, or `nodes` is not a sequence.
        ImportError
            If a table is given and narwhals is not installed.
        networkx.NetworkXPointlessConcept
            If there are no nodes.

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> fo.CSRGraph.from_edges([0, 1], [1, 2], weights=[0.5, 2])
        CSRGraph with 3 nodes and 2 edges
        >>> list(fo.CSRGraph.from_edges(["ann", "bob"], ["cid", "ann"]))
        ['ann', 'cid', 'bob']
        """
        nodes = None if nodes is None else _sequence(nodes)
        is_table = targets is None
        if is_table:
            sources, targets, weights = _of_table(sources, weights)
        elif is_frame(weights):
            weights = one_column(weights, "weights", "weight").numbers()
        sources, targets = whole_column(sources, "sources"), whole_column(targets, "targets")
        sources, targets, names = (named_ends if is_table else numbered_texts)(sources, targets, nodes)
        if names is not None:
            if n is not None:
                got = f"got n = {shortened(n)} and {'a table' if is_table else 'texts'}"
                raise ValueError(f"n is for ends that count nodes, integers in two columns, {got}; leave it out")
            nodes = names
        if nodes is not None and n is None:
            n = len(nodes)
        check_count("n", n, least=0)
        rows = rows_from_edges(sources, targets, weights, n, directed=directed, nodes=nodes)
        n_nodes = len(rows.indptr) - 1
        if n is None and n_nodes > NODES_PER_EDGE * len(sources):
            warn_caller(
                f"most of the nodes 0 to {n_nodes - 1} have no edge: integers in two columns count nodes. "
                f"{NAMES_IN_TABLES}; if they are numbers, n={n_nodes} says so"
            )
        return cls._made(rows, nodes, directed)

    @classmethod
    def from_edge_file(
        cls,
        path: FileLike | Sequence[FileLike],
        *,
        delimiter: str | None = None,
        columns: Sequence[str] | Sequence[int] | None = None,
        header: bool | None = None,
        comments: str | None = None,
        directed: bool = False,
        nodes: Iterable[str | int] | None = None,
        progress: bool = False,
    ) -> CSRGraph:
        r"""Read a file with an edge per line, as it is commonly found.

        The first lines show what separates the cells (tabs, semicolons, commas, ``|`` or runs of blanks), which columns
        count, and whether there is a header. Two columns are the ends of edges, and a third one, if it holds numbers,
        their weights. Of more columns, a header must tell those that count: source and target, from and to, src and
        dst, u and v or the like, and weight, w or value. A first line that looks like a header by what follows it is
        taken for one, and a warning says so. Where it may be a header or an edge, an error does.

        Cells may stand in quotes, as in CSV. Edges that are listed twice add up, in an undirected graph also where they
        are listed in both directions.

        Where all nodes are integers of up to 64 bits, as Python writes them, they become integers, in ascending order.
        Else they stay texts, in the order in which they appear. A file is read block by block, and the peak of memory
        is about twice that of the graph.

        Matrix Market and Parquet are read too. A matrix must be symmetric, or `directed` be True. Its nodes are
        numbered from 1, as in the file. Of a table, columns are found by their names, or are the only two.

        Parameters
        ----------
        path : path, open binary file, or a list of these
            Compressed or not (gz, bz2, xz; zstd from Python 3.14 on, or with the package zstandard). Paths may be
            patterns, such as ``"edges-*.csv.gz"``. The edges of all files make one graph; each may begin with the same
            header.
        delimiter : str, optional
            The character between cells; ``" "`` stands for any run of blanks and tabs.
        columns : sequence of str or int, optional
            The columns of the source, the target and, optionally, the weight: by their names in the header, or by
            numbers, from 0. With two of them, weights are ignored.
        header : bool, optional
            Whether the first line names the columns.
        comments : str, optional
            Lines that begin with one of these characters are skipped, by default ``"#%"``. The empty text stands for no
            comments.
        directed : bool, default False
            Whether edges lead only from source to target.
        nodes : iterable of str or int, optional
            More nodes, which have no edges if the file does not name them.
        progress : bool, default False
            Show a progress bar over the bytes of the files if reading takes longer than a second (needs tqdm).

        Returns
        -------
        CSRGraph

        Raises
        ------
        ValueError
            If there are no edges, a line is not an edge, or it cannot be told where the edges stand. The message names
            the file and the line, and the option that helps.
        TypeError
            If `path` or `nodes` holds something else.
        OSError
            If a file cannot be read; FileNotFoundError if there is none.
        ImportError
            If a file needs a package that is not installed.

        See Also
        --------
        CSRGraph.from_edges

        Examples
        --------
        >>> import io
        >>> import nx_fastonl as fo
        >>> file = io.BytesIO(b"source,target,weight\nann,bob,2\nbob,cid,0.5\n")
        >>> graph = fo.CSRGraph.from_edge_file(file)
        >>> graph
        CSRGraph with 3 nodes and 2 edges
        >>> list(graph)
        ['ann', 'bob', 'cid']
        """
        rows, names = read_edge_files(
            path,
            delimiter=delimiter,
            columns=columns,
            header=header,
            comments=comments,
            directed=directed,
            nodes=nodes,
            progress=progress,
        )
        return cls._made(rows, names, directed)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, verify: Verify = True) -> CSRGraph:
        """Open a graph that `save` has saved. Its arrays stay on disk, and are read where they are needed.

        Processes that open the same folder share its memory. The graph pickles as the path of the folder.

        Parameters
        ----------
        path : path-like
            The folder.
        verify : {True, False, "checksum"}, default True
            True makes sure, in one pass over the arrays, that no damage to them can lead outside of an array or to a
            computation without end. It does not notice every change, such as that of a name or an arc. Before a copy of
            the graph is changed, or its arrows are learned on, rows are checked to list each neighbour once.
            ``"checksum"`` notices every change, and takes two to three times as long. False looks at the manifest and
            at sizes only. That takes milliseconds however large the graph is, and is for folders that nobody else can
            write to: a damaged one may crash Python.

        Returns
        -------
        CSRGraph

        Raises
        ------
        ValueError
            If the folder is damaged, holds something else, or was saved by a newer version.
        FileNotFoundError
            If there is no such folder, or it was not saved completely.

        See Also
        --------
        CSRGraph.save

        Notes
        -----
        A folder is never changed while it is open: saving to it again puts other files there. Do not write to its
        files by other means.

        Examples
        --------
        >>> import tempfile
        >>> import nx_fastonl as fo
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fo.CSRGraph.from_edges([0, 1], [1, 2]).save(f"{folder}/path")
        ...     graph = fo.CSRGraph.open(f"{folder}/path")
        >>> graph
        CSRGraph with 3 nodes and 2 edges
        """
        return cls._mapped(Path(path), verify, None)

    @classmethod
    def _mapped(cls, path: Path, verify: Verify, fingerprint: str | None) -> CSRGraph:
        """The graph that is saved there; it must have this fingerprint, if one is given."""
        stored = open_graph(path, verify)
        if fingerprint is not None and stored.fingerprint != fingerprint:
            raise ValueError(
                f"{path} holds another graph than before: its fingerprint is {stored.fingerprint[:12]}..., expected "
                f"{fingerprint[:12]}..."
            )
        graph = cls._of_stored(stored, path)
        if verify is False:
            graph.__dict__["_fault"] = None  # nobody else could write to it
        return graph

    @classmethod
    def _of_stored(cls, stored: StoredGraph, path: Path | None) -> CSRGraph:
        graph = cls.__new__(cls)
        graph._name(stored.nodes, len(stored.degrees))
        graph._directed, rows = stored.directed, stored.rows
        graph.indptr, graph.indices = read_only(rows.indptr, np.int64), read_only(rows.indices, np.int32)
        graph.weights = None if rows.weights is None else read_only(rows.weights, np.float64)
        graph.degrees = read_only(stored.degrees, np.float64)
        graph.__dict__.update(self_loops=stored.self_loops, fingerprint=stored.fingerprint)
        graph._close(None if path is None else path.resolve())
        return graph

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the graph to a folder, from which `open` maps it to memory.

        The folder has an ``.npy`` file for each array, and a ``manifest.json`` with their checksums. If this is
        interrupted, or the disk is full, then what was there before is still there, and whole. Processes that have
        opened it keep what they have opened.

        Parameters
        ----------
        path : path-like
            The folder. It is made; if it holds a graph already, this takes its place.

        Raises
        ------
        TypeError
            If the name of a node cannot be saved: integers, texts, numbers, True, False and tuples of these can.
        OSError
            If the folder cannot be written, or has other files in it.

        See Also
        --------
        CSRGraph.open

        Examples
        --------
        >>> import tempfile
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fo.CSRGraph.from_networkx(nx.karate_club_graph()).save(f"{folder}/karate")
        ...     fo.CSRGraph.open(f"{folder}/karate").degrees[0]
        np.float64(42.0)
        """
        save_graph(self, Path(path))

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.nodes)

    def __repr__(self) -> str:
        kind = "directed " if self._directed else ""
        return f"{kind}CSRGraph with {len(self)} nodes and {self.number_of_edges()} edges"

    def _repr_html_(self) -> str | None:
        return view_or_none(self._view)

    def _view(self) -> str:
        counts = np.diff(self.indptr) if len(self) <= MAX_COUNTED_NODES else None
        more: dict[str, object] = {"saved in": None if self.path is None else str(self.path)}
        return graph_view(self, self.nodes, counts, self.weights is not None, more)

    def __setattr__(self, name: str, value: Any) -> None:
        if "_is_frozen" in self.__dict__:  # the last attribute that __init__ sets
            raise AttributeError("a CSRGraph cannot be changed; make a new one")
        super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.path is not None:
            return _reopened, (str(self.path), self.fingerprint)
        return _restored, (self.nodes, (self.indptr, self.indices, self.weights), self._directed)

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
        return len(self.indices) if self._directed else (len(self.indices) + self.self_loops) // 2

    def neighbor_counts(self, rows: Any) -> NDArray[np.int64]:
        """The number of neighbours of the nodes in these rows.

        Parameters
        ----------
        rows : int, slice or array of int
            Rows, as `index` gives them.

        Returns
        -------
        numpy.ndarray of int
            A self-loop counts as one neighbour.

        Raises
        ------
        IndexError
            If there is no such row.

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> fo.CSRGraph.from_edges([0, 1], [1, 2]).neighbor_counts([0, 1]).tolist()
        [1, 2]
        """
        return np.asarray(self.indptr[1:][rows] - self.indptr[:-1][rows])

    def node_rows(self) -> range:
        """All rows, in turn.

        Returns
        -------
        range

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> fo.CSRGraph.from_edges([0, 1], [1, 2]).node_rows()
        range(0, 3)
        """
        return range(len(self.nodes))

    def reading(self) -> AbstractContextManager[None]:
        """A context manager that does nothing: the graph cannot change while it is read.

        Returns
        -------
        context manager

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> graph = fo.CSRGraph.from_edges([0, 1], [1, 2])
        >>> with graph.reading():
        ...     graph.number_of_edges()
        2
        """
        return _NOTHING

    def whole(self) -> CSRGraph:
        """The graph itself.

        Returns
        -------
        CSRGraph

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> graph = fo.CSRGraph.from_edges([0, 1], [1, 2])
        >>> graph.whole() is graph
        True
        """
        return self

    def to_scipy(self) -> sparse.csr_array:
        """The adjacency matrix. It shares this graph's arrays, which cannot be changed, where rows are sorted.

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
        matrix = self.shared_matrix
        if not matrix.has_sorted_indices:  # scipy would sort them in place, as soon as it needs that
            matrix = matrix.copy()
            matrix.sort_indices()
        return matrix

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

    def without_arrows(self) -> CSRGraph:
        """The undirected graph with the weights of both arcs between two nodes added up: W + W^T.

        It is made once, straight from the arrays, and kept with this graph.

        Returns
        -------
        CSRGraph
            This graph itself where it is undirected.

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> graph = fo.CSRGraph.from_edges([0, 1, 1], [1, 0, 2], directed=True)
        >>> graph.without_arrows().to_scipy().toarray().tolist()
        [[0.0, 2.0, 0.0], [2.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
        """
        return self.arrows.graph if self._directed else self

    @property
    def row_starts(self) -> NDArray[np.integer]:
        """Where each row starts in `indices`."""
        return self.indptr[:-1]

    @property
    def n_entries(self) -> int:
        """The number of entries in all rows."""
        return len(self.indices)

    @property
    def shared_matrix(self) -> sparse.csr_array:
        """The adjacency matrix on this graph's own arrays, its rows in any order. Sorting it would fail."""
        from scipy import sparse

        data = np.ones(len(self.indices)) if self.weights is None else self.weights
        return sparse.csr_array((data, self.indices, self.indptr), shape=(len(self), len(self)))

    @cached_property
    def unweighted(self) -> CSRGraph:
        """The same graph with every weight 1."""
        if self.weights is None:
            return self
        return CSRGraph(self.indptr, self.indices, nodes=self.nodes, directed=self._directed)

    @cached_property
    def arrows(self) -> Arrows:
        """A directed graph without its arrows, and which way they point."""
        self._check_saved()
        began = perf_counter()
        rows, arrows = rows_both_ways(self)
        made = Arrows(CSRGraph._made(rows, self.nodes, directed=False), *arrows)
        logger.info("made W + W^T of a directed CSRGraph with %d nodes, in %s", len(self), elapsed(began))
        return made

    @cached_property
    def view(self) -> GraphView:
        """What compiled loops see of the graph: its arrays, shared."""
        return GraphView(self.indptr[:-1], self.indptr[1:], self.indices, self.weights, self.degrees)

    def _in_counts(self, rows: Any) -> NDArray[np.integer]:
        return self._counts_in[rows] if self._directed else self.neighbor_counts(rows)

    @cached_property
    def _counts_in(self) -> NDArray[np.int32]:
        return np.bincount(self.indices, minlength=len(self)).astype(np.int32)

    @cached_property
    def largest_degree(self) -> float:
        """The largest weighted degree."""
        return float(self.degrees.max())

    @cached_property
    def mean_weight(self) -> float:
        """The mean weight of an edge; 1 where there is none."""
        return float(self.weights.mean()) if self.weights is not None and len(self.weights) else 1.0

    @cached_property
    def volume(self) -> float:
        """The sum of all degrees."""
        return float(self.n_entries if self.weights is None else self.mean_weight * self.n_entries)

    @cached_property
    def has_dead_ends(self) -> bool:
        """Whether some node has no out-edge."""
        return bool((self.degrees == 0.0).any())

    @cached_property
    def has_float_nodes(self) -> bool:
        """Whether some node is a float, so that an array of floats may hold nodes."""
        kinds = set(map(type, self.nodes)) if isinstance(self.nodes, tuple) else set()
        return any(issubclass(kind, float | np.floating) for kind in kinds)

    @cached_property
    def components(self) -> NDArray[np.int32]:
        """The number of the connected component of each node; directions do not matter."""
        return read_only(component_numbers(self.view, symmetric=not self._directed), np.int32)

    @cached_property
    def fingerprint(self) -> str:
        """What tells the graph from others: a SHA-256 of its rows, weights and names."""
        return graph_fingerprint(self)

    @cached_property
    def self_loops(self) -> int:
        """The number of self-loops."""
        return count_self_loops(self.view)

    @cached_property
    def _fault(self) -> Literal["twice", "one-sided"] | None:
        """What is wrong with the rows; opening a saved graph does not look for it."""
        return find_fault(self.indptr, self.indices, self.weights, symmetric=not self._directed)

    def _check_saved(self) -> None:
        """Raise if rows contradict each other, as those of a saved graph may that somebody has altered.

        Who changes a graph, or makes W + W^T of it, relies on finding each edge in both rows, once.
        """
        if self._fault is None:
            return
        why = "a row lists a neighbour twice" if self._fault == "twice" else "two rows differ about an edge"
        if self.path is not None:
            raise DamagedError(self.path, why)
        raise ValueError(f"the graph was saved and altered: {why}")

    def _check_rows(self) -> None:
        fault = find_fault(self.indptr, self.indices, self.weights, symmetric=not self._directed)
        if fault == "twice":
            raise ValueError("a row lists a neighbour twice; CSRGraph.from_edges adds such edges up")
        if fault == "one-sided":
            W: Any = self.to_scipy()
            u, v = (int(ends[0]) for ends in (W != W.T).nonzero())
            raise ValueError(
                f"the arrays are not symmetric: rows {u} and {v} differ about their edge. Pass directed=True, or list "
                "every edge in both rows, with the same weight"
            )

    def _edge_at(self, e: int) -> tuple[Hashable, Hashable]:
        """The nodes that the edge at a position in `indices` joins."""
        u = int(np.searchsorted(self.indptr, e, "right")) - 1
        return self.nodes[u], self.nodes[int(self.indices[e])]

    def _checked_weights(self, weights: ArrayLike) -> NDArray[np.float64]:
        values = np.asarray(weights)  # our own copy already
        if values.shape != self.indices.shape:
            raise ValueError(f"weights must be parallel to indices, got shapes {values.shape} and {self.indices.shape}")
        check_weights(values, self._edge_at, directed=self._directed)
        if not (values > 0).all():
            raise ValueError("weights must be positive; leave edges of weight 0 out of the arrays")
        return read_only(values, np.float64)


def _of_table(table: Any, weights: Any) -> tuple[Any, Any, Any]:
    """The columns of sources and targets as their library has them, and an array of weights or None."""
    found = read_frame(table, "edges") if is_frame(table) else None
    if not isinstance(found, Table):
        raise TypeError(
            "targets are missing: pass them after the sources, as from_edges(*zip(*pairs)) does, or a table of edges; "
            f"got {shortened(table)}"
        )
    columns = edge_columns(found)
    if weights is not None:
        raise ValueError(
            "a table of edges holds their weights, in a column named weight: leave weights= out, and rename the column "
            "if it has another name"
        )
    for column, what in zip(columns, ("node", "node", "number"), strict=False):
        if column is not None:
            column.check_complete(what)
    numbers = None if columns.weights is None else columns.weights.numbers()
    return columns.sources.native, columns.targets.native, numbers


def _sequence(nodes: Any) -> Sequence[Hashable]:
    """Names that nobody can change: in arrays, or else in a tuple. A range that counts from 0 stays one."""
    if isinstance(nodes, ArrayNames) or (isinstance(nodes, range) and nodes == range(len(nodes))):
        return nodes
    if isinstance(nodes, range):
        return integer_names(np.arange(nodes.start, nodes.stop, nodes.step))
    if is_frame(nodes):
        return tuple(listed_nodes(nodes, "nodes"))
    if isinstance(nodes, np.ndarray):
        if nodes.ndim == 1 and nodes.dtype.kind == "i":
            return integer_names(nodes)
        nodes = nodes.tolist()  # plain Python objects
    elif not hasattr(nodes, "__getitem__"):
        raise TypeError(f"nodes must be a sequence, whose order names the rows, got {type(nodes).__name__}")
    return tuple(nodes)


def csr_graph_of(live: LiveGraph, weight: str | None, *, recount: bool = False) -> CSRGraph:
    """The CSRGraph that a LiveGraph stores for this weight, or a new one; see `LiveGraph.conversion`."""
    graph: CSRGraph = live.conversion(weight, _from_rows, recount=recount)
    return graph


def _from_rows(nodes: Sequence[Hashable], rows: Rows, directed: bool) -> CSRGraph:
    return CSRGraph(*rows, nodes=nodes, directed=directed)


# Graphs that pickles have opened, so that several of them share one.
_reopened_graphs: WeakValueDictionary[tuple[str, str], CSRGraph] = WeakValueDictionary()


def _reopened(path: str, fingerprint: str) -> CSRGraph:
    graph = _reopened_graphs.get((path, fingerprint))
    if graph is None:
        graph = _reopened_graphs[path, fingerprint] = CSRGraph._mapped(Path(path), True, fingerprint)
    return graph


def _restored(
    nodes: Sequence[Hashable], rows: tuple[ArrayLike, ArrayLike, ArrayLike | None], directed: bool
) -> CSRGraph:
    return CSRGraph(*rows, nodes=nodes, directed=directed)
