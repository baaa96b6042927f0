"""NetworkX's functions that read graphs: the same arguments, and a CSRGraph without an nx.Graph in between.

Where NetworkX would make a graph that a CSRGraph cannot be, NotImplementedError hands the call back to NetworkX.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from nx_fastonl.graph._ends import number_integers, number_texts
from nx_fastonl.graph._names import IntegerTable, TextTable
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.graph.ends import Texts, numbered_ends
from nx_fastonl.graph.names import IntegerNames, text_names
from nx_fastonl.graph.rows import EdgeChunk, Rows, check_weights, rows_from_chunks, rows_from_edges, rows_from_scipy

# With more, Python's garbage collector would look through their cells again and again.
LINES_AT_ONCE = 4096
SOME_WEIGHTS = "some lines have a weight and some have none, so that only some edges of NetworkX's would have one"
ZERO = "NetworkX keeps edges of weight 0, which a CSRGraph leaves out"


def from_scipy_sparse_array(
    A: Any, parallel_edges: bool = False, create_using: Any = None, edge_attribute: str = "weight"
) -> CSRGraph:
    """``nx.from_scipy_sparse_array``: of entries for the same edge, the last one counts."""
    n, m = A.shape
    if n != m:
        raise nx.NetworkXError(f"Adjacency matrix not square: nx,ny={A.shape}")
    directed = _is_directed(create_using)
    with _handing_back():
        entries = A.tocoo() if A.format in ("lil", "dok", "dia", "bsr") else A
        if not entries.data.all():
            raise NotImplementedError(ZERO)
        rows, symmetric = rows_from_scipy(entries)
        if len(rows.indices) < entries.nnz or not (directed or symmetric):
            sources, targets = entries.tocoo().coords
            rows = rows_from_edges(sources, targets, entries.data, n, directed=directed, keep_last=True)
        return _graph(rows, None, directed, weighted=True)


def from_pandas_edgelist(
    df: Any,
    source: Hashable = "source",
    target: Hashable = "target",
    edge_attr: Any = None,
    create_using: Any = None,
    edge_key: Hashable | None = None,
) -> CSRGraph:
    """``nx.from_pandas_edgelist``: of lines for the same edge, the last one counts."""
    columns = df[source], df[target]
    try:
        weights = None if edge_attr is None else df["weight"]
    except (KeyError, TypeError) as error:
        raise nx.NetworkXError(f"Invalid edge_attr argument: {edge_attr}") from error
    directed = _is_directed(create_using)
    with _handing_back():
        sources, targets, names = numbered_ends(*columns)
        if weights is not None and not np.asarray(weights).all():
            raise NotImplementedError(ZERO)
        rows = rows_from_edges(sources, targets, weights, None, directed=directed, keep_last=True)
        return _graph(rows, names, directed, weighted=weights is not None)


def read_edgelist(
    path: Any,
    comments: str | None = "#",
    delimiter: str | None = None,
    create_using: Any = None,
    nodetype: type | None = None,
    data: Any = True,
    edgetype: Any = None,
    encoding: str = "utf-8",
) -> CSRGraph:
    """``nx.read_edgelist``: of lines for the same edge, the last one counts.

    `path` is an open file, as NetworkX opens it, or a list of lines. A call that is handed back to NetworkX leaves the
    file where it was.
    """
    start = path.tell() if hasattr(path, "tell") else None
    try:
        return _graph_of_lines(path, comments, delimiter, create_using, nodetype, data, encoding)
    except NotImplementedError:
        if start is not None:
            path.seek(start)
        raise


def read_weighted_edgelist(
    path: Any,
    comments: str | None = "#",
    delimiter: str | None = None,
    create_using: Any = None,
    nodetype: type | None = None,
    encoding: str = "utf-8",
) -> CSRGraph:
    """``nx.read_weighted_edgelist``, as `read_edgelist`."""
    read: Callable[..., CSRGraph] = nx.utils.open_file(0, mode="rb")(read_edgelist)
    return read(path, comments, delimiter, create_using, nodetype, (("weight", float),), encoding=encoding)


def _graph_of_lines(
    lines: Iterable[str | bytes],
    comments: str | None,
    delimiter: str | None,
    create_using: Any,
    nodetype: type | None,
    data: Any,
    encoding: str,
) -> CSRGraph:
    table = IntegerTable() if nodetype is int else TextTable()
    chunks: list[EdgeChunk] = []
    for block in _blocks(lines):
        texts = [line if isinstance(line, str) else line.decode(encoding) for line in block]
        if comments is not None:
            texts = [text if (at := text.find(comments)) < 0 else text[:at] for text in texts]
        edges = [cells for text in texts if len(cells := text.rstrip("\n").split(delimiter)) >= 2]
        if edges:
            try:
                sources, targets = _numbered(table, edges)
                weights = _weights(edges, data)
            except ValueError as error:
                raise _error_of(edges, nodetype, data) from error
            if weights is not None:
                _check_weights(sources, targets, weights)
            chunks.append((sources, targets, weights))
    if not chunks:
        raise NotImplementedError("the lines have no edges, and a CSRGraph has at least one node")
    weighted, directed = chunks[0][2] is not None, _is_directed(create_using)
    for *_, weights in chunks:
        if (weights is not None) != weighted:
            raise NotImplementedError(SOME_WEIGHTS)
    names = text_names(table) if isinstance(table, TextTable) else IntegerNames(table.names())
    rows = rows_from_chunks(chunks, len(names), directed=directed, keep_last=True)
    return _graph(rows, names, directed, weighted=weighted)


def _blocks(lines: Iterable[str | bytes]) -> Iterator[list[str | bytes]]:
    remaining = iter(lines)
    while block := list(islice(remaining, LINES_AT_ONCE)):
        yield block


def _weights(edges: list[list[str]], data: Any) -> NDArray[np.float64] | None:
    """The weights in the third column; None if NetworkX would give the edges no attribute."""
    if data is False or all(len(cells) == 2 for cells in edges):
        return None
    if data is True:
        if any(cells[2:] not in ([], ["{}"]) for cells in edges):
            raise NotImplementedError(
                'edge data in dicts is left to NetworkX; data=(("weight", float),) reads a column of weights'
            )
        return None
    [(_, number)] = data
    if any(len(cells) == 2 for cells in edges):
        raise NotImplementedError(SOME_WEIGHTS)
    return np.array([number(weight) for _, _, weight in edges], dtype=np.float64)


def _error_of(edges: list[list[str]], nodetype: type | None, data: Any) -> Exception:
    """What NetworkX, which goes line by line, raises for the first line that is wrong."""
    for u, v, *cells in edges:
        if nodetype is int and not (_can_be(int, u) and _can_be(int, v)):
            return TypeError(f"Failed to convert nodes {u},{v} to type {nodetype}.")
        if cells and not isinstance(data, bool):
            [(_, number)] = data
            if len(cells) > 1:
                return IndexError(f"Edge data {cells} and data_keys {data} are not the same length")
            if not _can_be(number, cells[0]):
                return TypeError(f"Failed to convert weight data {cells[0]} to type {number}.")
    raise AssertionError("every line is right")


def _can_be(kind: type, text: str) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True


def _numbered(table: TextTable | IntegerTable, edges: list[list[str]]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The rows of both nodes of each edge."""
    rows, columns = np.empty(len(edges), dtype=np.int32), np.empty(len(edges), dtype=np.int32)
    sources, targets = [cells[0] for cells in edges], [cells[1] for cells in edges]
    if isinstance(table, TextTable):
        number_texts(table, *Texts(sources, "sources").block(0), *Texts(targets, "targets").block(0), rows, columns)
    else:
        number_integers(table, *_integers(sources, targets), rows, columns)
    return rows, columns


def _integers(sources: list[str], targets: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    try:
        return np.array(list(map(int, sources)), dtype=np.int64), np.array(list(map(int, targets)), dtype=np.int64)
    except OverflowError as error:
        raise NotImplementedError("a node is an integer of more than 64 bits") from error


def _check_weights(sources: NDArray[np.int32], targets: NDArray[np.int32], weights: NDArray[np.float64]) -> None:
    if not weights.all():
        raise NotImplementedError(ZERO)
    with _handing_back():
        check_weights(weights, lambda e: (sources[e], targets[e]))


def _graph(rows: Rows, names: Sequence[Hashable] | None, directed: bool, *, weighted: bool) -> CSRGraph:
    """The graph. Where edges of NetworkX's would have an attribute, they have weights, even if all are 1."""
    if weighted and rows.weights is None:
        rows = rows._replace(weights=np.ones(len(rows.indices)))
    with _handing_back():
        return CSRGraph._made(rows, names, directed)


def _is_directed(create_using: Any) -> bool:
    return create_using is not None and issubclass(create_using, nx.DiGraph)


@contextmanager
def _handing_back() -> Iterator[None]:
    """Hand back to NetworkX what a CSRGraph cannot hold."""
    try:
        yield
    except (TypeError, ValueError, nx.NetworkXPointlessConcept) as error:
        raise NotImplementedError(str(error)) from error
