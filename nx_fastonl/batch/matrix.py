"""Matrices on disk, in shards: `SavedMatrix` and `open_matrix`."""

from __future__ import annotations

import os
import re
import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.checks import shortened
from nx_fastonl._lib.folders import MANIFEST, DamagedError, Folder, check_sums, open_folder, read_arrays
from nx_fastonl._lib.forks import tell_of_forks
from nx_fastonl._lib.html import facts, few_names, view, view_or_none
from nx_fastonl.batch.rows import DTYPES, Block, checked_nodes
from nx_fastonl.graph.names import ArrayNames, finder_of
from nx_fastonl.graph.rows import MAX_NODES
from nx_fastonl.graph.storage import stored_names

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["MatrixLayout", "SavedMatrix", "complete_shards", "open_matrix", "open_shard", "shard_name"]

KIND, SHARD_KIND = "nx_fastonl matrix", "nx_fastonl rows"
VERSION = 1
SHARD = re.compile(r"rows-(\d{12,})-(\d{12,})")
DAMAGED_SHARD = "Remove this folder of a shard, and repeat the call that has written the rows"
# Shards that are mapped at once. Each takes four maps, of the some 65,000 that the system allows, and keeps four files
# open. So they are at most a quarter of the files that the process may have open.
MAX_OPEN_SHARDS = 1024
FILES_PER_SHARD = 4


class MatrixLayout(NamedTuple):
    """How the rows of a matrix are cut into shards."""

    n_rows: int
    n_columns: int
    rows_per_shard: int

    @property
    def starts(self) -> range:
        """The first row of each shard."""
        return range(0, self.n_rows, self.rows_per_shard)

    def last(self, first: int) -> int:
        """The row after those of the shard that begins with `first`."""
        return min(first + self.rows_per_shard, self.n_rows)


def shard_name(first: int, last: int) -> str:
    """The name of the folder of a shard. It exists once the shard is complete."""
    return f"rows-{first:012d}-{last:012d}"


def open_shard(
    path: Path, job: str, first: int, last: int, n_columns: int, verify: Literal[True, "checksum"] = True
) -> Block:
    """Map a shard to memory, and check that nothing in it leads outside of an array; with "checksum", all its bytes."""
    try:
        folder = open_folder(path, SHARD_KIND, VERSION)
        if verify == "checksum":
            check_sums(folder)
    except DamagedError as error:
        raise DamagedError(path, error.why, DAMAGED_SHARD) from error
    except (FileNotFoundError, NotADirectoryError) as error:
        raise DamagedError(path, f"it has no {MANIFEST}", DAMAGED_SHARD) from error
    details, arrays = folder.content.details, folder.content.arrays
    if details.get("job") != job:
        raise ValueError(f"{path} belongs to rows with other parameters than those of its folder: remove it")
    if [details.get("first"), details.get("last")] != [first, last]:
        why = f"it holds {_rows_of(details)}, and its name says {first} to {last - 1}"
        raise DamagedError(path, why, DAMAGED_SHARD)
    try:
        block = Block(arrays["offsets"], arrays["columns"], arrays["values"], arrays["errors"])
        _check_block(block, last - first, n_columns)
    except (KeyError, ValueError) as error:
        raise DamagedError(path, f"its arrays do not fit together ({error})", DAMAGED_SHARD) from error
    return block


def _rows_of(details: Mapping[str, Any]) -> str:
    """Which rows a shard holds, as its manifest says."""
    first, last = details.get("first"), details.get("last")
    return f"rows {first} to {last - 1}" if type(first) is type(last) is int else "rows that it does not name"


def max_open_shards() -> int:
    """How many shards may be mapped at once."""
    try:
        import resource
    except ImportError:  # on Windows, a map keeps no file open
        return MAX_OPEN_SHARDS
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if limit == resource.RLIM_INFINITY:
        return MAX_OPEN_SHARDS
    return max(1, min(MAX_OPEN_SHARDS, limit // (4 * FILES_PER_SHARD)))


def _check_block(block: Block, n_rows: int, n_columns: int) -> None:
    offsets, columns, values, errors = block
    types = [str(array.dtype.newbyteorder("=")) for array in (offsets, columns, errors, values)]
    if types[:3] != ["int64", "int32", "float64"] or types[3] not in DTYPES:
        raise ValueError(f"arrays of {', '.join(types)}")
    if not offsets.ndim == columns.ndim == values.ndim == errors.ndim == 1:
        raise ValueError("arrays of several dimensions")
    if len(offsets) != n_rows + 1 or len(errors) != n_rows or len(columns) != len(values):
        raise ValueError(f"{len(offsets)} offsets, {len(errors)} errors, {len(columns)} columns, {len(values)} values")
    if offsets[0] != 0 or offsets[-1] != len(columns) or (offsets[1:] < offsets[:-1]).any():
        raise ValueError("the offsets do not rise from 0 to their end")
    if len(columns) and not (columns.min() >= 0 and columns.max() < n_columns):
        raise ValueError("there are columns that the matrix does not have")


def _read_sources(folder: Folder) -> NDArray[Any] | None:
    """The sources of a matrix, compared with their checksum: a wrong one would give its row to another node."""
    return read_arrays(folder, ["sources"])["sources"] if "sources" in folder.content.arrays else None


def _are_rows(sources: NDArray[Any], n: int) -> bool:
    if sources.dtype != np.int32 or sources.ndim != 1:
        return False
    return not len(sources) or (int(sources.min()) >= 0 and int(sources.max()) < n)


class SavedMatrix:
    """Rows that `ppr_matrix` or `kernel_matrix` has written to a folder. They stay on disk until they are asked for.

    Made by `open_matrix`. Several threads may use it.

    Parameters
    ----------
    folder : Folder
        Its manifest, read and checked.

    Attributes
    ----------
    path : pathlib.Path
        The folder.
    shape : tuple of int
        The numbers of rows and columns.
    dtype : numpy.dtype
        The type of the values.
    nodes : sequence
        The nodes that columns belong to, in their order.
    parameters : dict
        What the rows were computed with, such as ``{"function": "ppr_matrix", "alpha": 0.85, ...}``.

    Raises
    ------
    ValueError
        If the manifest contradicts itself.

    Examples
    --------
    >>> import tempfile
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     P = fo.ppr_matrix(nx.karate_club_graph(), top_k=3, out=f"{folder}/rows")
    ...     P
    ...     list(P.row(22)), P.rows([22, 0]).shape, P[10:].shape
    <SavedMatrix of 34 rows and 34 columns, by ppr_matrix>
    ([33, 22, 32], (2, 34), (24, 34))
    """

    path: Path
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    nodes: Sequence[Hashable]
    parameters: dict[str, Any]

    def __init__(self, folder: Folder) -> None:
        details, sources = folder.content.details, _read_sources(folder)
        try:
            n_rows, n_columns = details["shape"]
            self.layout = MatrixLayout(n_rows, n_columns, details["rows_per_shard"])
            self.dtype = np.dtype(details["dtype"])
            self.parameters = {"function": details["function"], **details["parameters"]}
            if not all(type(number) is int for number in self.layout) or min(self.layout[1:]) < 1 or self.layout[0] < 0:
                raise ValueError(f"{self.layout}")
            if self.layout.n_columns > MAX_NODES:
                raise ValueError(f"{self.layout}")
            if self.layout.n_rows != (self.layout.n_columns if sources is None else len(sources)):
                raise ValueError(f"{self.layout.n_rows} rows")
            if details["dtype"] not in DTYPES:
                raise ValueError(f"values of {self.dtype}")
            if sources is not None and not _are_rows(sources, self.layout.n_columns):
                raise ValueError("there are sources that are no columns")
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedError(folder.path, f"its manifest does not fit together ({error})") from error
        self.path = folder.path
        self.shape = (self.layout.n_rows, self.layout.n_columns)
        self.nodes = stored_names(folder, self.layout.n_columns)
        self._find, _ = finder_of(self.nodes)
        self._sources, self._job = sources, folder.fingerprint
        self._shards: OrderedDict[int, Block] = OrderedDict()
        self._max_open = max_open_shards()
        self._begin_in_child()
        tell_of_forks(self)

    def _begin_in_child(self) -> None:
        self._lock = threading.Lock()  # a thread of the parent may hold the one before

    @cached_property
    def sources(self) -> Sequence[Hashable]:
        """The nodes that rows belong to, in their order."""
        return self.nodes if self._sources is None else self._names(self._sources)

    def __len__(self) -> int:
        return self.layout.n_rows

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("a SavedMatrix is not iterated over: shards() gives all its rows, and sources are their nodes")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        raise TypeError("a SavedMatrix stays on disk: to_scipy() reads all of it, and shards() a part at a time")

    def __contains__(self, node: object) -> bool:
        """Whether it has a row of this node."""
        return self._row_of(node) is not None

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"<SavedMatrix of {rows:,} rows and {columns:,} columns, by {self.parameters['function']}>"

    def _repr_html_(self) -> str | None:
        return view_or_none(self._view)

    def _view(self) -> str:
        (rows, columns), of = self.shape, self.parameters
        shown = {
            "type of values": self.dtype.name,
            "nodes": few_names(self.nodes, columns),
            "saved in": str(self.path),
            "shards": len(self.layout.starts),
        }
        made_with = {name: value for name, value in of.items() if name != "function" and value is not None}
        return view(
            "SavedMatrix", f"{rows:,} rows and {columns:,} columns, by {of['function']}", facts(shown), facts(made_with)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (str(self.path), self._job)

    def row(self, node: Hashable) -> dict[Hashable, float]:
        """The row of a node.

        Parameters
        ----------
        node : node
            One of the sources.

        Returns
        -------
        dict
            ``{node: value}``, the largest value first.

        Raises
        ------
        networkx.NodeNotFound
            If the matrix has no row of this node.

        Examples
        --------
        >>> import tempfile
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     P = fo.ppr_matrix(nx.karate_club_graph(), top_k=3, out=f"{folder}/rows")
        ...     {node: round(value, 3) for node, value in P.row(22).items()}
        {33: 0.178, 22: 0.166, 32: 0.137}
        """
        first, block = self._shard_of(i := self._position(node))
        columns, values = _row(block, i - first)
        order = np.argsort(-values, kind="stable")
        return dict(zip(self._names(columns[order]), values[order].tolist(), strict=True))

    def error(self, node: Hashable) -> float:
        """A bound on the error of the row of a node, before `top_k` cut it: of ``ppr_matrix`` in the L1 norm, of
        ``kernel_matrix`` of each value.

        Parameters
        ----------
        node : node
            One of the sources.

        Returns
        -------
        float

        Raises
        ------
        networkx.NodeNotFound
            If the matrix has no row of this node.

        Examples
        --------
        >>> import tempfile
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     P = fo.ppr_matrix(nx.karate_club_graph(), tol=1e-8, out=f"{folder}/rows")
        ...     P.error(22) <= 1e-8
        True
        """
        first, block = self._shard_of(i := self._position(node))
        return float(block.errors[i - first])

    def rows(self, nodes: Iterable[Hashable]) -> sparse.csr_array:
        """The rows of several nodes.

        Parameters
        ----------
        nodes : iterable of nodes
            Sources, in any order; one may come more than once.

        Returns
        -------
        scipy.sparse.csr_array
            Row i belongs to the i-th of them.

        Raises
        ------
        networkx.NodeNotFound
            If the matrix has no row of a node.
        TypeError
            If `nodes` is one node.

        Examples
        --------
        >>> import tempfile
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     P = fo.ppr_matrix(nx.karate_club_graph(), top_k=3, out=f"{folder}/rows")
        ...     P.rows([22, 0, 22]).shape
        (3, 34)
        """
        return self[np.array([self._position(node) for node in checked_nodes(self, nodes, "nodes")], dtype=np.int64)]

    def __getitem__(self, rows: slice | Sequence[int] | NDArray[np.integer]) -> sparse.csr_array:
        """Rows by their number: a slice, a collection of numbers, or an array of a bool for each row."""
        if isinstance(rows, slice):
            numbers = np.arange(*rows.indices(len(self)))
        else:
            # As of scipy's arrays, a tuple would be a row and a column.
            numbers = np.asarray(None if isinstance(rows, tuple) else rows)
            if numbers.dtype == bool and numbers.shape == (len(self),):
                numbers = np.flatnonzero(numbers)
            if numbers.size == 0:
                numbers = numbers.astype(np.int64)
            if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
                raise TypeError(
                    f"rows are taken by a slice or a list of their numbers, as in matrix[3:5]; got {shortened(rows)}. "
                    "matrix.row(node) and matrix.rows(nodes) take nodes"
                )
            outside = (numbers < -len(self)) | (numbers >= len(self))
            if outside.any():
                raise IndexError(f"row {numbers[outside.argmax()]} of a matrix with {len(self)} rows")
            numbers = numbers.astype(np.int64)
            numbers = np.where(numbers < 0, numbers + len(self), numbers)
        return self._copied(numbers)

    def shards(self) -> Iterator[tuple[Sequence[Hashable], sparse.csr_array]]:
        """All rows, one shard after another, each with the nodes that its rows belong to. They are not copied.

        Returns
        -------
        iterator of (sequence, scipy.sparse.csr_array)
            The nodes, and their rows, which are to be read only.

        Examples
        --------
        >>> import tempfile
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     P = fo.ppr_matrix(nx.karate_club_graph(), top_k=3, out=f"{folder}/rows", rows_per_shard=20)
        ...     [(len(nodes), rows.shape) for nodes, rows in P.shards()]
        [(20, (20, 34)), (14, (14, 34))]
        """
        from scipy import sparse

        for first in self.layout.starts:
            last = self.layout.last(first)
            block = self._open(first)
            rows = sparse.csr_array((block.values, block.columns, block.offsets), shape=(last - first, self.shape[1]))
            sources = np.arange(first, last) if self._sources is None else self._sources[first:last]
            yield self._names(sources), rows

    def to_scipy(self) -> sparse.csr_array:
        """The whole matrix, in memory.

        Returns
        -------
        scipy.sparse.csr_array

        Examples
        --------
        >>> import tempfile
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fo.ppr_matrix(nx.karate_club_graph(), top_k=3, out=f"{folder}/rows").to_scipy().nnz
        102
        """
        return self[:]

    def _position(self, node: Hashable) -> int:
        i = self._row_of(node)
        if i is None:
            raise nx.NodeNotFound(f"the matrix has no row of {shortened(node)}")
        return i

    def _row_of(self, node: object) -> int | None:
        u = self._find(node)
        if u is None or self._sources is None:
            return u
        values, order = self._sorted_sources
        at = int(np.searchsorted(values, u))
        return int(order[at]) if at < len(values) and values[at] == u else None

    @cached_property
    def _sorted_sources(self) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
        sources = np.asarray(self._sources)
        order = np.argsort(sources, kind="stable")
        return sources[order], order

    def _names(self, columns: NDArray[np.integer]) -> Sequence[Hashable]:
        if isinstance(self.nodes, ArrayNames):
            return self.nodes.at(columns)
        return [self.nodes[u] for u in columns.tolist()]

    def _shard_of(self, i: int) -> tuple[int, Block]:
        """The shard that holds row i, and its first row."""
        first = i - i % self.layout.rows_per_shard
        return first, self._open(first)

    def _open(self, first: int) -> Block:
        with self._lock:
            block = self._shards.get(first)
            if block is not None:
                self._shards.move_to_end(first)
                return block
        block = self._map(first)
        with self._lock:
            self._shards[first] = block
            while len(self._shards) > self._max_open:
                self._shards.popitem(last=False)
        return block

    def _map(self, first: int, verify: Literal[True, "checksum"] = True) -> Block:
        last = self.layout.last(first)
        path = self.path / shard_name(first, last)
        block = open_shard(path, self._job, first, last, self.shape[1], verify)
        if block.values.dtype.name != self.dtype.name:
            why = f"it holds values of {block.values.dtype} in a matrix of {self.dtype}"
            raise DamagedError(path, why, DAMAGED_SHARD)
        return block

    def _copied(self, numbers: NDArray[np.int64]) -> sparse.csr_array:
        """These rows, in memory. Few shards are mapped at a time, so they are opened twice: for their sizes, first."""
        from scipy import sparse

        offsets = np.zeros(len(numbers) + 1, dtype=np.int64)
        at = 1
        for block in self._blocks(numbers):
            offsets[at : at + len(block.errors)] = np.diff(block.offsets)
            at += len(block.errors)
        np.cumsum(offsets, out=offsets)
        columns, values = np.empty(offsets[-1], dtype=np.int32), np.empty(offsets[-1], dtype=self.dtype)
        at = 0
        for block in self._blocks(numbers):
            columns[at : at + len(block.columns)] = block.columns
            values[at : at + len(block.columns)] = block.values
            at += len(block.columns)
        return sparse.csr_array((values, columns, offsets), shape=(len(numbers), self.shape[1]))

    def _blocks(self, numbers: NDArray[np.int64]) -> Iterator[Block]:
        """These rows as they are mapped, those that follow each other within a shard together."""
        shard = numbers // self.layout.rows_per_shard
        ends = np.flatnonzero((np.diff(numbers) != 1) | (np.diff(shard) != 0)) + 1
        for part in np.split(numbers, ends) if len(numbers) else ():
            first, block = self._shard_of(int(part[0]))
            offsets = block.offsets[part[0] - first : part[-1] - first + 2]
            values = slice(int(offsets[0]), int(offsets[-1]))
            errors = block.errors[part[0] - first : part[-1] - first + 1]
            yield Block(offsets - offsets[0], block.columns[values], block.values[values], errors)


def _row(block: Block, i: int) -> tuple[NDArray[np.int32], NDArray[np.floating[Any]]]:
    part = slice(int(block.offsets[i]), int(block.offsets[i + 1]))
    return block.columns[part], block.values[part]


def _reopened(path: str, job: str) -> SavedMatrix:
    """What a pickled matrix becomes: the folder that it was, if it still holds the same rows."""
    matrix = open_matrix(path)
    if matrix._job != job:
        raise ValueError(
            f"{path} holds other rows than when the matrix was pickled: somebody has replaced it meanwhile"
        )
    return matrix


def open_matrix(path: str | os.PathLike[str], verify: Literal[True, "checksum"] = True) -> SavedMatrix:
    """Open a folder to which `ppr_matrix` or `kernel_matrix` has written all rows.

    Parameters
    ----------
    path : path-like
        What was passed as `out`.
    verify : {True, "checksum"}, default True
        By default, each shard is checked when it is first read, so that nothing in it leads outside of an array; which
        node a row belongs to is compared with its checksum. ``"checksum"`` reads all that is saved now, and compares it
        with its checksums.

    Returns
    -------
    SavedMatrix
        The rows, mapped to memory.

    Raises
    ------
    FileNotFoundError
        If there is no such folder, or nothing was saved to it.
    ValueError
        If the folder holds something else, is damaged, or does not have all shards yet.

    See Also
    --------
    ppr_matrix, kernel_matrix

    Examples
    --------
    >>> import tempfile
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = fo.ppr_matrix(nx.karate_club_graph(), top_k=3, out=f"{folder}/rows")
    ...     list(fo.open_matrix(f"{folder}/rows").row(22))
    [33, 22, 32]
    """
    if verify not in (True, "checksum"):
        raise ValueError(f'verify must be True or "checksum", got {shortened(verify)}')
    folder = open_folder(Path(path).absolute(), KIND, VERSION)
    if verify == "checksum":
        check_sums(folder)
    matrix = SavedMatrix(folder)
    complete, starts = _complete(matrix), matrix.layout.starts
    if len(complete) < len(starts):
        missing = next(first for first in starts if first not in complete)
        raise ValueError(
            f"{path} is not complete: {len(starts) - len(complete):,} of {len(starts):,} shards are missing, the first "
            f"with row {missing:,}. The call that has begun it computes what is missing"
        )
    if verify == "checksum":
        for first in starts:
            matrix._map(first, verify)
    return matrix


def complete_shards(path: str | os.PathLike[str]) -> tuple[int, int]:
    """How many shards of the folder of a job are complete, and how many there are."""
    matrix = SavedMatrix(open_folder(Path(path).absolute(), KIND, VERSION))
    return len(_complete(matrix)), len(matrix.layout.starts)


def _complete(matrix: SavedMatrix) -> set[int]:
    """The first row of each shard that is complete. A damaged manifest may promise any number of them."""
    layout, complete = matrix.layout, set()
    for entry in os.scandir(matrix.path):
        name = SHARD.fullmatch(entry.name)
        first = int(name[1]) if name else -1
        is_of_layout = first in layout.starts and entry.name == shard_name(first, layout.last(first))
        if is_of_layout and (matrix.path / entry.name / MANIFEST).is_file():
            complete.add(first)
    return complete
