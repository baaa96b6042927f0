"""Many rows of a sparse matrix at once: in blocks, over threads, under a progress bar, into one scipy CSR array."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from itertools import islice
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.frames import is_frame
from nx_fastonl._lib.progress import counting_bar
from nx_fastonl._lib.threads import usable_cores
from nx_fastonl.graph.base import RowGraph
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.graph.edgetable import listed_nodes

if TYPE_CHECKING:
    from scipy import sparse

__all__ = [
    "Block",
    "MatrixRows",
    "Row",
    "check_node_array",
    "checked_dtype",
    "checked_nodes",
    "csr_of",
    "in_threads",
    "joined",
    "largest_by_column",
    "n_threads",
    "rows_of",
    "rows_per_block",
    "sources_or_all",
]

# A block has at most so many rows, so that Ctrl-C and the progress bar do not wait; and each thread gets several.
MAX_ROWS_PER_BLOCK = 256
BLOCKS_PER_THREAD = 16
MAX_THREADS = 1024
DTYPES = ("float64", "float32")

Row = tuple[NDArray[np.int32], NDArray[np.float64]]
Item = TypeVar("Item")
Result = TypeVar("Result")


class Block(NamedTuple):
    """Consecutive rows of a matrix, as scipy's CSR arrays have them, and a bound on the error of each."""

    offsets: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.floating[Any]]
    errors: NDArray[np.float64]


class MatrixRows(ABC):
    """The rows of a matrix, which are yet to be computed: what they are, and how a block of them is made.

    Parameters
    ----------
    graph : CSRGraph
    sources : numpy.ndarray of int32, optional
        The row of the graph that each row of the matrix belongs to; by default all, in their order.
    dtype : {"float64", "float32"}
        The type of the values.
    """

    # What the rows are, in the words of users.
    function: ClassVar[str]
    # What makes the error of a row of those of its values.
    total_error: ClassVar[np.ufunc]
    # Which parameter of that function each array comes from: the sources, and those that `arrays` may have.
    parameter_of_array: ClassVar[dict[str, str]]

    def __init__(self, graph: CSRGraph, sources: NDArray[np.int32] | None, dtype: str) -> None:
        self.graph, self.sources, self.dtype = graph, sources, dtype

    def __len__(self) -> int:
        return len(self.graph) if self.sources is None else len(self.sources)

    def sources_of(self, first: int, last: int) -> NDArray[np.int32]:
        """The rows of the graph that these rows of the matrix belong to."""
        return np.arange(first, last, dtype=np.int32) if self.sources is None else self.sources[first:last]

    def block(self, first: int, last: int, cancelled: NDArray[np.uint8], *, with_errors: bool = True) -> Block:
        """The rows from the first to before the last. They do not depend on how rows are cut into blocks."""
        found = self._block(self.sources_of(first, last), cancelled, with_errors=with_errors)
        values = found.values.astype(self.dtype, copy=False)
        if with_errors and values.dtype != found.values.dtype:
            rounding = np.zeros(len(found.errors))
            row_of_value = np.repeat(np.arange(len(rounding)), np.diff(found.offsets))
            self.total_error.at(rounding, row_of_value, np.abs(found.values - values))
            found = found._replace(errors=found.errors + rounding)
        return found._replace(values=values)

    @abstractmethod
    def _block(self, sources: NDArray[np.int32], cancelled: NDArray[np.uint8], *, with_errors: bool) -> Block:
        """The rows of these sources in double precision. Without errors, those may be 0."""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """What else than graph, sources and type decides about the rows, as JSON has it."""

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """What of that is too large for JSON."""
        return {}

    @property
    @abstractmethod
    def max_row_length(self) -> int | None:
        """How many values a row has at most, where that is known in advance."""

    @classmethod
    @abstractmethod
    def restored(
        cls,
        graph: CSRGraph,
        sources: NDArray[np.int32] | None,
        dtype: str,
        parameters: dict[str, Any],
        arrays: dict[str, NDArray[Any]],
    ) -> MatrixRows:
        """The rows that have these `parameters` and `arrays`."""

    def to_scipy(self, n_jobs: int | None, progress: bool) -> sparse.csr_array:
        """Compute all rows, over threads of this process."""
        step = rows_per_block(len(self), n_jobs)
        starts = range(0, len(self), step)
        blocks: list[Block | None] = [None] * len(starts)
        cancelled = np.zeros(1, dtype=np.uint8)

        def make(i: int) -> int:
            last = min(starts[i] + step, len(self))
            blocks[i] = self.block(starts[i], last, cancelled, with_errors=False)
            return last - starts[i]

        pieces = in_threads(make, range(len(starts)), n_jobs, cancelled)
        with closing(pieces), counting_bar(len(self), progress, "source") as count:
            for made in pieces:
                count(made)
        return csr_of([block for block in blocks if block is not None], len(self.graph), self.dtype)


def csr_of(blocks: Sequence[Block], n_columns: int, dtype: str) -> sparse.csr_array:
    """One scipy array of consecutive blocks."""
    from scipy import sparse

    offsets, columns, values, errors = joined(blocks, dtype)
    return sparse.csr_array((values, columns, offsets), shape=(len(errors), n_columns))


def joined(blocks: Sequence[Block], dtype: str) -> Block:
    """One block of consecutive ones."""
    errors = np.concatenate([np.empty(0), *(block.errors for block in blocks)])
    offsets = np.zeros(len(errors) + 1, dtype=np.int64)
    np.concatenate([offsets[:0], *(np.diff(block.offsets) for block in blocks)], out=offsets[1:])
    np.cumsum(offsets, out=offsets)
    columns = np.concatenate([np.empty(0, dtype=np.int32), *(block.columns for block in blocks)])
    values = np.concatenate([np.empty(0, dtype=dtype), *(block.values for block in blocks)])
    return Block(offsets, columns, values, errors)


def rows_of(graph: RowGraph, nodes: Any, name: str) -> Sequence[int]:
    """The rows of a collection of nodes, by default of all nodes."""
    if nodes is None:
        return graph.node_rows()
    return graph.rows_of(checked_nodes(graph, nodes, name))


def sources_or_all(graph: CSRGraph, nodes: Any, name: str) -> NDArray[np.int32] | None:
    """The rows of a collection of nodes; None stands for all, so that no list of them is made."""
    return None if nodes is None else np.array(rows_of(graph, nodes, name), dtype=np.int32)


def checked_nodes(graph: Container[Any], nodes: Any, name: str) -> list[Any]:
    """The nodes of a collection, which need not be in the graph. A node of the graph is no collection."""
    if is_frame(nodes):
        return listed_nodes(nodes, name)
    check_node_array(nodes, name)
    if nodes in graph or isinstance(nodes, str) or not isinstance(nodes, Iterable):
        raise TypeError(f"{name} must be a collection of nodes; for one node pass [{nodes!r}]")
    return list(nodes)


def check_node_array(nodes: Any, name: str) -> None:
    """Raise an error if nodes are in an array that cannot hold a collection of them."""
    if isinstance(nodes, np.ndarray) and (nodes.ndim != 1 or nodes.dtype.kind == "b"):
        raise ValueError(
            f"{name} must be a collection of nodes, got an array of {nodes.dtype} of shape {nodes.shape}; "
            "of an array of booleans, pass the nodes where it is true"
        )


def checked_dtype(dtype: Any) -> str:
    """The name of a type of values."""
    try:
        name = str(np.dtype(dtype))
    except TypeError:
        name = ""
    if dtype is None or name not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, got {dtype!r}")
    return name


def largest_by_column(columns: NDArray[np.int32], values: NDArray[np.float64], top_k: int | None) -> Row:
    """The k largest values, all by default, in the order of their columns. Of equal values, the first columns count."""
    order = np.argsort(columns)
    columns, values = columns[order], values[order]
    if top_k is not None and top_k < len(values):
        largest = np.sort(np.argsort(-values, kind="stable")[:top_k])
        columns, values = columns[largest], values[largest]
    return columns, values


def n_threads(n_jobs: int | None) -> int:
    """The number of threads that `n_jobs` stands for; more than `MAX_THREADS` would only wait for each other."""
    return 1 if n_jobs is None else usable_cores() if n_jobs == -1 else min(n_jobs, MAX_THREADS)


def rows_per_block(n_rows: int, n_jobs: int | None) -> int:
    """How many rows a thread computes at a time, where there are so many to compute."""
    return max(1, min(MAX_ROWS_PER_BLOCK, -(-n_rows // (BLOCKS_PER_THREAD * n_threads(n_jobs)))))


def in_threads(
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None, cancelled: NDArray[np.uint8]
) -> Generator[Result]:
    """Map over threads, in the order in which results are there.

    If this ends early, it also ends the pushes that are under way: it sets ``cancelled[0]``, which they look at. Close
    it, so that an error of whoever reads the results does so too.
    """
    threads = n_threads(n_jobs)
    if threads == 1:
        yield from map(function, items)
        return
    waiting, done = iter(items), SimpleQueue[Future[Result]]()
    with ThreadPoolExecutor(threads) as pool:

        def submit(count: int) -> int:
            """Let the pool begin so many more items, or those that are left; return how many."""
            futures = [pool.submit(function, item) for item in islice(waiting, count)]
            for future in futures:
                future.add_done_callback(done.put)
            return len(futures)

        try:
            # A few more than there are threads: no thread waits, and there is no future for each of a million items.
            pending = submit(2 * threads)
            while pending:
                yield done.get().result()
                pending += submit(1) - 1
        except BaseException:
            cancelled[0] = 1
            pool.shutdown(wait=False, cancel_futures=True)
            raise
