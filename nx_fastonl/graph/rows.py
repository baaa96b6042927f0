"""Edges, sparse matrices and NetworkX's dicts -> rows of neighbours, as plain arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nx_fastonl._lib.checks import shortened
from nx_fastonl._lib.limits import allowed_weights, weight_range
from nx_fastonl.graph._check import find_fault
from nx_fastonl.graph._dicts import arrays_from_adjacency
from nx_fastonl.graph._edges import sorted_rows

MAX_NODES = np.iinfo(np.int32).max
NAMES_IN_TABLES = "Where integers are names, pass a table of edges, with the columns source and target"

# Sources, targets and, unless all are 1, weights.
EdgeChunk = tuple[NDArray[Any], NDArray[Any], NDArray[np.float64] | None]


class Rows(NamedTuple):
    """The neighbours of node u are ``indices[indptr[u]:indptr[u + 1]]``; `weights` is None where all are 1."""

    indptr: NDArray[np.integer]
    indices: NDArray[np.integer]
    weights: NDArray[np.float64] | None


def rows_from_adjacency(
    adjacency: Mapping[Hashable, Mapping[Hashable, Any]], weight: str | None, multigraph: bool
) -> tuple[Sequence[Hashable], Rows]:
    """The nodes and rows of NetworkX's dict of dicts."""
    nodes, indptr, indices, weights = arrays_from_adjacency(adjacency, weight, multigraph)
    return nodes, Rows(indptr, indices, weights)


def first_named(rows: Rows) -> Rows:
    """The rows of an undirected graph, made symmetric.

    Where (u, v) and (v, u) differ, the node that comes first decides, as for nx.to_scipy_sparse_array.
    """
    if find_fault(*rows, symmetric=True) is None:
        return rows
    sources = np.repeat(np.arange(len(rows.indptr) - 1), np.diff(rows.indptr))
    once = sources <= rows.indices
    weights = None if rows.weights is None else rows.weights[once]
    return rows_from_edges(sources[once], rows.indices[once], weights, len(rows.indptr) - 1, directed=False)


def rows_from_scipy(A: Any) -> tuple[Rows, bool]:
    """The rows of a sparse adjacency matrix, and whether it is symmetric."""
    from scipy import sparse

    is_sparse: bool = sparse.issparse(A)
    if not is_sparse:
        raise TypeError(f"expected a scipy sparse array or matrix, got {type(A).__name__}")
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"an adjacency matrix is square, got shape {A.shape}")
    if A.dtype.kind not in "biuf":
        raise ValueError(f"an adjacency matrix holds real numbers, got dtype {A.dtype}")
    if A.format in ("csr", "csc", "bsr"):
        A = type(A)((A.data, A.indices, A.indptr), shape=A.shape)  # on the same arrays: scipy's checks would change A
        check_compressed(A.indptr, A.indices, A.shape[0] // (A.blocksize[0] if A.format == "bsr" else 1))
    rows = _compressed_rows(A) if A.format in ("csr", "csc") else _entry_rows(A)
    return rows, find_fault(*rows, symmetric=True) is None


def _entry_rows(A: Any) -> Rows:
    """The rows of a matrix of any format, from its entries one by one."""
    coo = A.tocoo()
    sources, targets = coo.coords
    return rows_from_edges(sources, targets, _unless_ones(coo.data), A.shape[0], directed=True)


def _compressed_rows(A: Any) -> Rows:
    """The rows of a matrix in compressed rows or columns: copied, or sorted anew."""
    n, values = A.shape[0], _unless_ones(A.data)
    if A.format == "csr" and A.has_canonical_format and (values is None or values.all()):
        _check_size(n)
        indptr, indices = np.array(A.indptr, dtype=np.int64), np.array(A.indices, dtype=np.int32)
        check_compressed(indptr, indices, n)  # once more: another thread may have changed them
        return Rows(indptr, indices, None if values is None else _checked_copy(values, indptr, indices))
    others = np.repeat(np.arange(n, dtype=A.indices.dtype), np.diff(A.indptr))
    sources, targets = (others, A.indices) if A.format == "csr" else (A.indices, others)
    return rows_from_edges(sources, targets, values, n, directed=True)


def check_compressed(indptr: NDArray[np.integer], indices: NDArray[np.integer], n: int) -> None:
    """Raise unless these say where rows begin, and entries in n columns."""
    if indptr[0] != 0 or indptr[-1] != len(indices) or (indptr[1:] < indptr[:-1]).any():
        raise ValueError(f"the matrix's indptr must rise from 0 to the number of its indices, {len(indices)}")
    if len(indices) and not (indices.min() >= 0 and indices.max() < n):
        raise ValueError(f"the matrix's indices must lie between 0 and {n - 1}, got {indices.min()} to {indices.max()}")


def _checked_copy(values: NDArray[Any], indptr: NDArray[np.int64], indices: NDArray[np.int32]) -> NDArray[np.float64]:
    copy = np.array(values, dtype=np.float64)
    check_weights(copy, lambda e: (np.searchsorted(indptr, e, "right") - 1, indices[e]))
    return copy


def _unless_ones(values: NDArray[Any]) -> NDArray[Any] | None:
    return None if (values == 1).all() else values


def rows_from_edges(
    sources: ArrayLike,
    targets: ArrayLike,
    weights: ArrayLike | None,
    n: int | None,
    *,
    directed: bool,
    keep_last: bool = False,
    nodes: Sequence[Hashable] | None = None,
) -> Rows:
    """The rows of edges given by their ends; `n` is by default the largest end plus 1.

    Edges given twice add up; with `keep_last`, the one given last counts. `nodes` are the rows' names, for errors.
    """
    rows, columns = _ends(sources, "sources"), _ends(targets, "targets")
    if rows.dtype != columns.dtype:
        rows, columns = rows.astype(np.int64), columns.astype(np.int64)
    values = np.empty(0) if weights is None else np.asarray(weights)
    if values.ndim != 1 or len(rows) != len(columns) or (weights is not None and len(values) != len(rows)):
        shapes = (rows.shape, columns.shape, (len(rows),) if weights is None else values.shape)
        raise ValueError(f"sources, targets and weights must be parallel, got shapes {shapes}")
    check_weights(values, lambda e: (_name(nodes, int(rows[e])), _name(nodes, int(columns[e]))))
    if n is None:
        n = 1 + int(max(rows.max(), columns.max())) if len(rows) else 0
        if n > MAX_NODES:
            raise ValueError(f"edge ends count nodes, of which there may be 2**31 - 1, got {n - 1}. {NAMES_IN_TABLES}")
    _check_size(n)
    for ends in (rows, columns):
        if len(ends) and not (ends.min() >= 0 and ends.max() < n):
            got = f"got {ends.min()} to {ends.max()}"
            raise ValueError(f"edge ends must lie between 0 and {n - 1}, {got}: they count nodes. {NAMES_IN_TABLES}")
    chunk = (rows, columns, None if weights is None else np.ascontiguousarray(values, dtype=np.float64))
    return rows_from_chunks([chunk], n, directed=directed, keep_last=keep_last)


def rows_from_chunks(chunks: list[EdgeChunk], n: int, *, directed: bool, keep_last: bool = False) -> Rows:
    """The rows of edges that were checked. Chunks are taken from the list, and are freed if nobody else has them."""
    indptr, indices, found = sorted_rows(chunks, n, directed, keep_last)
    return Rows(indptr, indices, None if (found == 1.0).all() else found)


def _check_size(n: int) -> None:
    if not 0 <= n <= MAX_NODES:
        raise ValueError(f"a graph may have 1 to 2**31 - 1 nodes, got n = {n}")


def _ends(values: ArrayLike, name: str) -> NDArray[np.integer]:
    """The ends of edges as they are given, copied only where they are no array of integers side by side."""
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype in (np.int32, np.int64):
        return np.ascontiguousarray(values)
    return integers(values, name)


def integers(values: ArrayLike, name: str) -> NDArray[np.integer]:
    """A copy of a one-dimensional array of integers, as signed integers that are wide enough to add to."""
    array = np.array(values)
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


def _name(nodes: Sequence[Hashable] | None, row: int) -> Hashable:
    return row if nodes is None or not 0 <= row < len(nodes) else nodes[row]


def check_weights(values: NDArray[Any], ends: Callable[[int], tuple[Any, Any]], *, directed: bool = False) -> None:
    """Raise for the first bad weight; `ends` gives the edge at a position."""
    if values.dtype.kind not in "biuf":
        raise ValueError(f"weights must be real numbers, got dtype {values.dtype}")
    smallest, largest = weight_range(directed)
    if len(values) == 0 or (float(values.min()) >= smallest and float(values.max()) <= largest):
        return
    as_float = values.astype(np.float64, copy=False)
    bad = ~((as_float == 0) | ((as_float >= smallest) & (as_float <= largest)))
    if bad.any():
        e = int(bad.argmax())
        u, v = (int(end) if isinstance(end, np.integer) else end for end in ends(e))
        raise ValueError(
            f"edge ({shortened(u)}, {shortened(v)}) has weight {values[e]}; a weight must be "
            f"{allowed_weights(directed, or_zero=True)}"
        )
