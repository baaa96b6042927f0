"""Many rows of a sparse matrix at once: over threads, under a progress bar, into one scipy CSR array."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.progress import with_progress
from nx_fastonl.graph.base import RowGraph

if TYPE_CHECKING:
    from scipy import sparse

# Few enough to keep threads evenly busy, many enough that handing them out costs little.
ROWS_PER_TASK = 16

Row = tuple[NDArray[np.int32], NDArray[np.float64]]


def rows_of(graph: RowGraph, nodes: Any, name: str) -> Sequence[int]:
    """The rows of a collection of nodes, by default of all nodes."""
    if nodes is None:
        return graph.node_rows()
    return graph.rows_of(checked_nodes(graph, nodes, name))


def checked_nodes(graph: RowGraph, nodes: Any, name: str) -> list[Any]:
    """The nodes of a collection, which need not be in the graph."""
    if nodes in graph or isinstance(nodes, str) or not isinstance(nodes, Iterable):
        raise TypeError(f"{name} must be a collection of nodes; for one node pass [{nodes!r}]")
    return list(nodes)


def largest_by_column(columns: NDArray[np.int32], values: NDArray[np.float64], top_k: int | None) -> Row:
    """The k largest values, all by default, in the order of their columns."""
    if top_k is not None:
        largest = np.argsort(-values, kind="stable")[:top_k]
        columns, values = columns[largest], values[largest]
    order = np.argsort(columns)
    return columns[order], values[order]


def stack_rows(
    make_row: Callable[[int, NDArray[np.uint8]], Row],
    rows: Sequence[int],
    n_columns: int,
    n_jobs: int | None,
    progress: bool,
) -> sparse.csr_array:
    """Row i of the result is what ``make_row(rows[i], cancelled)`` gives: columns and values."""
    from scipy import sparse

    cancelled = np.zeros(1, dtype=np.uint8)
    made = _in_threads(lambda row: make_row(row, cancelled), rows, n_jobs, cancelled)
    found = list(with_progress(made, len(rows), progress, "source"))
    indptr = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(columns) for columns, _ in found], out=indptr[1:])
    indices = np.concatenate([columns for columns, _ in found]) if found else np.empty(0, dtype=np.int32)
    values = np.concatenate([values for _, values in found]) if found else np.empty(0)
    return sparse.csr_array((values, indices, indptr), shape=(len(rows), n_columns))


def _in_threads(function: Any, items: Any, n_jobs: int | None, cancelled: NDArray[np.uint8]) -> Iterator[Any]:
    """Map over threads, in order. If this ends early, it also ends the pushes that are under way."""
    if n_jobs is None or n_jobs == 1:
        yield from map(function, items)
        return
    batches = [items[start : start + ROWS_PER_TASK] for start in range(0, len(items), ROWS_PER_TASK)]
    with ThreadPoolExecutor(os.cpu_count() if n_jobs == -1 else n_jobs) as threads:
        try:
            for results in threads.map(lambda batch: [function(item) for item in batch], batches):
                yield from results
        except BaseException:
            cancelled[0] = 1
            threads.shutdown(wait=False, cancel_futures=True)
            raise
