"""Jobs: rows of a matrix that are written to a folder, shard by shard, by threads, processes or machines.

The manifest of the folder says what the rows are. A shard is a folder of its own below it, made under another name and
then renamed: it is there as a whole, or not at all. Every process that works on a shard makes the same, so a task may
be lost, repeated or raced without harm, and a job that was stopped goes on with the shards that are missing.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import re
import secrets
import shutil
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.checks import check_count, check_jobs, shortened
from nx_fastonl._lib.files import ABANDONED_AFTER, errors_name, sync_folder
from nx_fastonl._lib.folders import (
    MANIFEST,
    Content,
    DamagedError,
    Folder,
    check_sums,
    fingerprint_of,
    open_folder,
    read_arrays,
    remove_folder,
    remove_strays,
    write_folder,
)
from nx_fastonl._lib.log import warn_caller
from nx_fastonl._lib.progress import check_progress, counting_bar
from nx_fastonl.batch.engines import is_elsewhere, over_joblib
from nx_fastonl.batch.matrix import (
    DAMAGED_SHARD,
    KIND,
    SHARD_KIND,
    VERSION,
    MatrixLayout,
    SavedMatrix,
    complete_shards,
    open_matrix,
    shard_name,
)
from nx_fastonl.batch.rows import MAX_ROWS_PER_BLOCK, Block, MatrixRows, in_threads, joined, rows_per_block
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.graph.storage import KIND as GRAPH_KIND
from nx_fastonl.graph.storage import names_content

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["Shard", "computed", "planned_by", "shards", "write_part"]

# A job has so many shards, so that workers are evenly busy, or fewer with so many rows each: a shard is five files. But
# a shard has at most so many values or, where their number is not known, so many rows. What a row takes beside its
# values is less than two more of them.
SHARDS = 64
MIN_ROWS = 16
MAX_VALUES = 1 << 21
MAX_ROWS = 1 << 12
VALUES_PER_ROW = 2
# Where a graph is saved that has no folder yet, below the folder of the rows.
GRAPH = "graph-for-workers"
UNFINISHED = re.compile(r"\.part-[0-9a-f]{16}-([0-9]+)@([0-9a-f]{16})")
NEVER_CANCELLED = np.zeros(1, dtype=np.uint8)
REMEDY = "name another folder, or remove this one"
# What the functions that write rows are told about how to compute them, and their tasks are not.
NOT_OF_TASKS = ("n_jobs", "progress", "exact")

Function = TypeVar("Function", bound=Callable[..., Any])
# For each function that writes rows: what plans them, from the same arguments.
_plans: dict[Callable[..., Any], Callable[..., MatrixRows]] = {}


def planned_by(plan: Callable[..., MatrixRows]) -> Callable[[Function], Function]:
    """Tell `shards` what plans the rows of a function."""

    def register(function: Function) -> Function:
        _plans[function] = plan
        return function

    return register


@dataclass(frozen=True)
class Shard:
    """A task of a job: some rows to compute and to write. It is small, and can be sent anywhere.

    Made by `shards`.

    Attributes
    ----------
    folder : str
        The folder of all rows.
    first, last : int
        Its rows: from the first to before the last.

    Examples
    --------
    >>> import tempfile
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fo.CSRGraph.from_networkx(nx.karate_club_graph()).save(f"{folder}/graph")
    ...     graph = fo.CSRGraph.open(f"{folder}/graph")
    ...     task = fo.shards(fo.ppr_matrix, graph, top_k=3, out=f"{folder}/rows", rows_per_shard=20)[1]
    ...     task.first, task.last, task.done, task.path.name
    (20, 34, False, 'rows-000000000020-000000000034')
    """

    folder: str
    first: int
    last: int
    _job: str = field(repr=False)  # the fingerprint of what the rows are
    _graph: str = field(repr=False)  # the folder of the graph
    _rows_type: type[MatrixRows] = field(repr=False)

    @property
    def path(self) -> Path:
        """Where its rows are, once they are complete."""
        return Path(self.folder) / shard_name(self.first, self.last)

    @property
    def done(self) -> bool:
        """Whether its rows are complete."""
        return (self.path / MANIFEST).is_file()

    def run(self) -> None:
        """Compute its rows and write them, unless they are there.

        Raises
        ------
        ValueError
            If its folder holds other rows by now, or the folder of the graph another graph.

        Examples
        --------
        >>> import tempfile
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fo.CSRGraph.from_networkx(nx.karate_club_graph()).save(f"{folder}/graph")
        ...     graph = fo.CSRGraph.open(f"{folder}/graph")
        ...     task = fo.shards(fo.ppr_matrix, graph, top_k=3, out=f"{folder}/rows", rows_per_shard=20)[1]
        ...     task.run()
        ...     task.done
        True
        """
        if self.done:
            return
        _folder_of(self)  # what is kept for the next task may be of rows that have been replaced
        try:
            rows = _opened_rows(replace(self, first=0, last=0))
        except (FileNotFoundError, DamagedError):
            if self.done:  # by another call, which has then removed the graph that it had saved for workers
                return
            raise
        pieces = _Pieces(self, MAX_ROWS_PER_BLOCK)
        for i in range(len(pieces)):
            pieces.compute(i, rows, NEVER_CANCELLED)


def shards(
    function: Callable[..., Any],
    *args: Any,
    out: str | os.PathLike[str],
    rows_per_shard: int | None = None,
    **kwargs: Any,
) -> list[Shard]:
    """The tasks of a job that writes rows to a folder: for a batch queue, or any other system that runs tasks.

    Each task may run on any machine that sees the folder and that of the graph. Once all have run, `open_matrix` opens
    the folder.

    Parameters
    ----------
    function : callable
        `ppr_matrix` or `kernel_matrix`.
    *args
        What it would be called with. Pass a graph that `CSRGraph.open` has opened. Any other is saved to the folder
        ``graph-for-workers`` below `out`.
    out : path-like
        The folder for the rows. If it holds some of these rows already, their tasks are ``done``.
    rows_per_shard : int, optional
        As for `ppr_matrix`.
    **kwargs
        What else it would be called with, without `n_jobs` and `progress`.

    Returns
    -------
    list of Shard
        In the order of their rows. ``shard.run()`` computes its rows, unless they are there.

    Raises
    ------
    TypeError
        If the function is another one.
    ValueError
        If the folder holds other rows; the message says what differs.
    OSError
        If the folder cannot be written.

    See Also
    --------
    ppr_matrix, kernel_matrix, open_matrix

    Examples
    --------
    >>> import tempfile
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fo.CSRGraph.from_networkx(nx.karate_club_graph()).save(f"{folder}/graph")
    ...     graph = fo.CSRGraph.open(f"{folder}/graph")
    ...     tasks = fo.shards(fo.ppr_matrix, graph, top_k=3, out=f"{folder}/rows", rows_per_shard=20)
    ...     for task in tasks:
    ...         task.run()
    ...     len(tasks), fo.open_matrix(f"{folder}/rows").shape
    (2, (34, 34))
    """
    plan = next((plan for planned, plan in _plans.items() if planned is function), None)
    if plan is None:
        raise TypeError(f"shards takes ppr_matrix or kernel_matrix, got {shortened(function)}")
    bound = inspect.signature(function).bind(*args, **kwargs)
    for name in NOT_OF_TASKS:
        if bound.arguments.pop(name, None) not in (None, False):
            raise TypeError(f"shards has no parameter {name}: it lists tasks, and whoever runs them decides how")
    try:
        inspect.signature(plan).bind(*bound.args, **bound.kwargs)
    except TypeError as error:
        raise TypeError(f"{function.__name__}: {error}") from None
    job = _Job(plan(*bound.args, **bound.kwargs), out, rows_per_shard)
    return job.tasks(job.graph_folder())


def computed(
    rows: MatrixRows,
    out: str | os.PathLike[str] | None,
    rows_per_shard: int | None,
    n_jobs: int | None,
    progress: bool,
) -> sparse.csr_array | SavedMatrix:
    """All rows, in memory or in a folder."""
    if out is None:
        if rows_per_shard is not None:
            raise ValueError(f"rows_per_shard={rows_per_shard} is for rows that are written to a folder: pass out= too")
        return rows.to_scipy(n_jobs, progress)
    check_progress(progress)
    job = _Job(rows, out, rows_per_shard)
    job.run(n_jobs, progress)
    matrix = open_matrix(job.path)
    if matrix._job != job.fingerprint:
        raise ValueError(f"{job.path} holds other rows than when this job began: somebody has replaced it meanwhile")
    return matrix


def write_part(
    rows: MatrixRows,
    out: str | os.PathLike[str],
    part: tuple[int, int],
    rows_per_shard: int | None,
    n_jobs: int | None,
    progress: bool,
) -> tuple[int, int]:
    """Write part i of n of all shards, in this process; return how many of all are complete, and how many there are."""
    check_jobs("n_jobs", n_jobs)
    check_progress(progress)
    job = _Job(rows, out, rows_per_shard)
    tasks = job.tasks("")
    i, n = part
    job.run_here(tasks[i - 1 :: n], n_jobs, progress)
    return complete_shards(job.path)


class _Job:
    """Rows, and the folder that they are written to. Making one begins the folder, or checks what it holds."""

    def __init__(self, rows: MatrixRows, out: str | os.PathLike[str], rows_per_shard: int | None) -> None:
        check_count("rows_per_shard", rows_per_shard)
        if not isinstance(out, str | os.PathLike):
            raise TypeError(f"out must be the path of a folder, got {shortened(out)}")
        self.rows, self.path = rows, Path(out).absolute()
        wanted = None if rows_per_shard is None else min(int(rows_per_shard), max(1, len(rows)))
        if not (self.path / MANIFEST).exists():
            size = _default_size(rows) if wanted is None else wanted
            try:
                write_folder(self.path, KIND, VERSION, _content(rows, size), replace=False)
            except FileExistsError:
                if not (self.path / MANIFEST).exists():  # if it does, another process was faster, with the same or not
                    raise
        folder = open_folder(self.path, KIND, VERSION)
        found: int = folder.content.details.get("rows_per_shard", 0)
        if wanted is not None and wanted != found:
            raise ValueError(f"{self.path} has shards of {found} rows, not {rows_per_shard}: {REMEDY}")
        _check_same(folder, _content(rows, found), rows.parameter_of_array)
        check_sums(folder, folder.content.arrays.keys() & rows.parameter_of_array.keys())  # before work, not after it
        self.fingerprint = folder.fingerprint
        self.layout = MatrixLayout(len(rows), len(rows.graph), found)
        sync_folder(self.path)  # of shards too, whose process was killed right after it had renamed them
        _remove_unfinished(self.path)
        remove_strays(self.path, min_age=ABANDONED_AFTER)

    def tasks(self, graph: str) -> list[Shard]:
        layout = self.layout
        return [
            Shard(str(self.path), first, layout.last(first), self.fingerprint, graph, type(self.rows))
            for first in layout.starts
        ]

    def run(self, n_jobs: int | None, progress: bool) -> None:
        """Compute what is missing."""
        if not is_elsewhere():
            self.run_here(self.tasks(""), n_jobs, progress)
        elif missing := [shard for shard in self.tasks("") if not shard.done]:
            graph = self.graph_folder()
            _count(over_joblib(_run, [replace(shard, _graph=graph) for shard in missing], n_jobs), missing, progress)
        saved = self.path / GRAPH  # for workers, by this call or an earlier one
        if self.rows.graph.path is None and saved.is_dir() and self._is_there():
            remove_folder(saved, GRAPH_KIND)

    def _is_there(self) -> bool:
        """Whether the folder still holds these rows: it may have been moved, and another one be in its place."""
        with suppress(FileNotFoundError, ValueError):
            return open_folder(self.path, KIND, VERSION).fingerprint == self.fingerprint
        return False

    def run_here(self, tasks: list[Shard], n_jobs: int | None, progress: bool) -> None:
        """Compute what is missing of these shards, over threads of this process."""
        cancelled = np.zeros(1, dtype=np.uint8)
        missing = [shard for shard in tasks if not shard.done]
        step = rows_per_block(_number_of_rows(missing), n_jobs)

        def compute(piece: tuple[_Pieces, int]) -> int:
            pieces, i = piece
            return pieces.compute(i, self.rows, cancelled)

        _count(in_threads(compute, _pieces_of(missing, step), n_jobs, cancelled), missing, progress)

    def graph_folder(self) -> str:
        """Where workers find the graph. One that has no folder yet is saved below that of the rows."""
        graph = self.rows.graph
        if graph.path is not None:
            return str(graph.path)
        path = self.path / GRAPH
        try:
            saved = CSRGraph.open(path, verify=False).fingerprint
        except (FileNotFoundError, DamagedError):
            saved = ""
        if saved != graph.fingerprint:
            warn_caller(
                f"the graph has no folder that workers could open: it is saved to {path}. Save it once with "
                "CSRGraph.save, and pass what CSRGraph.open gives, to avoid this"
            )
            graph.save(path)
        return str(path)


class _Pieces:
    """A shard whose rows are computed piece by piece, perhaps by several threads. The last one to end writes it."""

    def __init__(self, shard: Shard, step: int) -> None:
        self._shard, self._step = shard, step
        self._starts = range(shard.first, shard.last, step)
        self._blocks: dict[int, Block] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._starts)

    def compute(self, i: int, rows: MatrixRows, cancelled: NDArray[np.uint8]) -> int:
        """Compute piece i, and write the shard if it was the last one; return how many rows it has."""
        first = self._starts[i]
        last = min(first + self._step, self._shard.last)
        block = rows.block(first, last, cancelled)
        with self._lock:
            self._blocks[i] = block
            is_complete = len(self._blocks) == len(self)
        if is_complete:
            blocks = [self._blocks.pop(i) for i in range(len(self))]
            _write_shard(self._shard, blocks[0] if len(blocks) == 1 else joined(blocks, rows.dtype))
        return last - first


def _pieces_of(shards: Iterable[Shard], step: int) -> Iterator[tuple[_Pieces, int]]:
    for shard in shards:
        pieces = _Pieces(shard, step)
        for i in range(len(pieces)):
            yield pieces, i


def _number_of_rows(shards: Iterable[Shard]) -> int:
    return sum(shard.last - shard.first for shard in shards)


def _count(made: Generator[int], missing: list[Shard], progress: bool) -> None:
    """Wait for all, under a progress bar that counts rows. Whatever ends this ends what is under way."""
    with closing(made), counting_bar(_number_of_rows(missing), progress, "source") as count:
        for n_rows in made:
            count(n_rows)


def _run(shard: Shard) -> int:
    shard.run()
    return shard.last - shard.first


def _folder_of(shard: Shard) -> Folder:
    """The folder of all rows, if these are still the ones that this shard is a part of."""
    folder = open_folder(Path(shard.folder), KIND, VERSION)
    if folder.fingerprint != shard._job:
        raise ValueError(
            f"{shard.folder} holds other rows than when this job began: somebody has replaced it meanwhile"
        )
    return folder


@lru_cache(maxsize=1)  # a worker maps the graph once, for all its tasks
def _opened_rows(shard: Shard) -> MatrixRows:
    """The rows that a shard is a part of; it stands for all shards of its job."""
    folder = _folder_of(shard)
    # Compiled loops trust the sources, so they must be those that the fingerprint stands for.
    details = folder.content.details
    arrays = read_arrays(folder, folder.content.arrays.keys() & shard._rows_type.parameter_of_array.keys())
    opened = CSRGraph.open(shard._graph)
    if opened.fingerprint != details["graph"]:
        raise ValueError(
            f"{shard._graph} holds another graph than when this task was made: its fingerprint is "
            f"{opened.fingerprint[:12]}..., expected {details['graph'][:12]}..."
        )
    sources = arrays.pop("sources", None)
    return shard._rows_type.restored(opened, sources, details["dtype"], details["parameters"], arrays)


def _content(rows: MatrixRows, rows_per_shard: int) -> Content:
    """What the manifest of a job says."""
    names = names_content(rows.graph.nodes)
    details = {
        "function": rows.function,
        "parameters": rows.parameters,
        "dtype": rows.dtype,
        "shape": [len(rows), len(rows.graph)],
        "rows_per_shard": rows_per_shard,
        "graph": rows.graph.fingerprint,
    }
    arrays = dict(rows.arrays)
    if rows.sources is not None:
        arrays["sources"] = rows.sources
    return names._replace(details={**details, **names.details}, arrays={**arrays, **names.arrays})


def _default_size(rows: MatrixRows) -> int:
    length = rows.max_row_length
    most = MAX_ROWS if length is None else MAX_VALUES // (min(length, len(rows.graph)) + VALUES_PER_ROW)
    return max(1, min(most, len(rows), max(MIN_ROWS, -(-len(rows) // SHARDS))))


def _check_same(folder: Folder, content: Content, parameter_of_array: dict[str, str]) -> None:
    """Raise an error that says what differs, if a folder holds other rows."""
    if folder.fingerprint == fingerprint_of(KIND, content):
        return
    found, wanted = folder.content.details, content.details
    if found.get("graph") != wanted["graph"]:  # on which defaults depend
        raise ValueError(f"{folder.path} holds rows of another graph, or of other weights: {REMEDY}")
    differences: list[tuple[str, Any, Any]] = [
        (name, found.get(name), wanted[name]) for name in ("function", "dtype") if found.get(name) != wanted[name]
    ]
    if not differences:
        had, given = found["parameters"], wanted["parameters"]
        pairs = ((name, had.get(name), given.get(name)) for name in {**given, **had})
        differences = [(name, old, new) for name, old, new in pairs if old != new]
        differences.sort(key=lambda difference: difference[2] is None)  # first, what the caller has named
    if differences:
        name, old, new = differences[0]
        raise ValueError(f"{folder.path} holds rows with {name}={old!r}, not {name}={new!r}: {REMEDY}")
    for array, parameter in parameter_of_array.items():
        old, new = folder.content.arrays.get(array), content.arrays.get(array)
        if (old is None) != (new is None) or (old is not None and new is not None and not np.array_equal(old, new)):
            raise ValueError(f"{folder.path} holds rows with other {parameter}: {REMEDY}")
    raise ValueError(f"{folder.path} holds other rows: {REMEDY}")


def _write_shard(shard: Shard, block: Block) -> None:
    """Write a shard under another name, then rename it. If another process was faster, its shard is as good."""
    folder = Path(shard.folder)
    part = folder / f".part-{secrets.token_hex(8)}-{os.getpid()}@{_machine()}"
    details, process = {"job": shard._job, "first": shard.first, "last": shard.last}, os.getpid()
    with errors_name(shard.path):
        try:
            write_folder(part, SHARD_KIND, VERSION, Content(details, block._asdict(), {}, {}))
            _folder_of(shard)
            try:
                part.rename(shard.path)
            except OSError:
                if not shard.done:
                    if shard.path.exists():
                        raise DamagedError(shard.path, f"it has no {MANIFEST}", DAMAGED_SHARD) from None
                    raise
        finally:
            if os.getpid() == process and part.exists():  # else this child was forked meanwhile
                shutil.rmtree(part, ignore_errors=True)
        sync_folder(folder)


def _remove_unfinished(folder: Path) -> None:
    """Remove what processes that were killed have left: those of this machine at once, all others after a day."""
    machine = _machine()
    for entry in folder.iterdir():
        found = UNFINISHED.fullmatch(entry.name)
        if found is None:
            continue
        with suppress(OSError):
            is_old = time.time() - entry.lstat().st_mtime > ABANDONED_AFTER
            if is_old or (found[2] == machine and not _is_alive(int(found[1]))):
                shutil.rmtree(entry, ignore_errors=True)


@lru_cache(maxsize=1)
def _machine() -> str:
    """What tells this machine from any other, and on it the processes of one container from those of others."""
    known = [socket.gethostname()]
    with suppress(OSError):  # Linux
        known += [Path("/proc/sys/kernel/random/boot_id").read_text(), str(Path("/proc/self/ns/pid").readlink())]
    return hashlib.sha256("\n".join(known).encode()).hexdigest()[:16]


def _is_alive(pid: int) -> bool:
    if os.name != "posix":
        return True  # elsewhere, to ask is to kill
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it belongs to somebody else
        pass
    return True
