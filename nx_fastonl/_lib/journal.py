"""An append-only file of records that survives crashes: what was acknowledged is there when it is opened again.

`journalfile` describes the layout of the file: a header with a token of the caller, and records of bytes, each with
its length, a check of the length and a CRC-32. It also says what a crash leaves, and how that differs from damage.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Literal, NamedTuple, Self, get_args
from zlib import crc32

from nx_fastonl._lib import journalfile
from nx_fastonl._lib.checks import check_whole, shortened
from nx_fastonl._lib.files import errors_name, sync_folder, write_file
from nx_fastonl._lib.forks import tell_of_forks
from nx_fastonl._lib.journalfile import JournalDamaged

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

__all__ = ["BATCH_SECONDS", "Journal", "JournalDamaged", "Sync", "check_sync"]

Sync = Literal["always", "batch", "never"]
# With sync="batch", a record that is older than this is synced by the next append. Unless sync="always" does so each
# time, an append asks after this time whether the file still has a name.
BATCH_SECONDS = 0.1
# Opening it again where it was would begin a new one.
GONE = "was removed, or moved to another disk, while it was open"


def check_sync(sync: object) -> None:
    if not (isinstance(sync, str) and sync in get_args(Sync)):
        raise ValueError(f"sync must be one of {', '.join(map(repr, get_args(Sync)))}, got {shortened(sync)}")


class _Whole(NamedTuple):
    """Where the last whole record ends, and how many there are. Replaced in one step, so that the two always fit."""

    end: int
    n: int


class Journal:
    """A journal that is open for appending, by this process alone. Made by `create` and `open`.

    Appending and cutting are safe from several threads. An append that raises has left no record, with one exception:
    an interrupt may come after the record was taken in. Then `n_records` counts it.

    Attributes
    ----------
    path : pathlib.Path
    is_inherited : bool
        Whether a process has opened it from which this one was forked. Only that one writes to it.
    """

    def __init__(self, path: Path | str, sync: Sync, *, recover: bool = False, new: bytes | None = None) -> None:
        check_sync(sync)
        self.path = Path(os.path.realpath(path))
        self.is_inherited = False
        self._sync: Sync = sync
        self._lock = threading.Lock()
        self._refusal = ""
        self._unsynced_since: float | None = None
        self._named_at = 0.0
        aside = None
        with errors_name(path), ExitStack() as opened:
            if new is None:
                self.path.stat()  # no lock file is made where there is no journal
            # This file stays: if it were removed, two processes could hold locks on two files of its name.
            self._lock_file = opened.enter_context(self.lock_path.open("ab"))
            _take_lock(self._lock_file)
            if new is not None:
                _write_new(self.path, new)
            self._file = opened.enter_context(self.path.open("r+b", buffering=0))
            # To read what was written, wherever the folder has been moved since.
            self._written = opened.enter_context(self.path.open("rb", buffering=0))
            with self._as_it_is() as file:
                self._header = journalfile.read_header(self.path, file)
                end, n, damage = journalfile.scan(self._header, file)
                if damage and not recover:
                    raise JournalDamaged(self.path, end, n, damage)
                if damage:
                    aside = journalfile.set_aside(self.path, file, end)
            self._whole = _Whole(end, n)
            self._counts_names = self._n_names() > 0  # some file systems do not
            self._unsettled = True
            self._check_usable()
            self._sync_now()  # a process that was killed may have left records that are not on disk
            tell_of_forks(self)
            if aside:
                warnings.warn(
                    f"{self.path} was damaged at byte {end}: {damage}. The {n} records before that are kept, "
                    f"the rest of the file is in {aside}",
                    stacklevel=3,
                )
            opened.pop_all()

    @classmethod
    def create(cls, path: Path | str, token: bytes, sync: Sync = "always") -> Self:
        """Make a journal without records, completely or not at all, and open it. FileExistsError if there is one.

        The `token` says what the journal continues, in up to 65,536 bytes. `open` describes `sync`.
        """
        return cls(path, sync, new=journalfile.new_header(token))

    @classmethod
    def open(cls, path: Path | str, sync: Sync = "always", *, recover: bool = False) -> Self:
        """Open a journal. What a crash left behind its last whole record is cut off.

        Parameters
        ----------
        path : path of a file
        sync : "always", "batch" or "never"
            When a record is on disk, where it survives a power cut. "always": before `append` returns. "batch":
            `BATCH_SECONDS` after it was written, if appends go on, and after `sync` or `close`. "never": when the
            operating system decides. A process that is killed loses no record whose `append` has returned, whichever it
            is. On macOS, a drive may hold records in its cache longer.
        recover : bool
            Whether to keep the records before any damage, to copy the rest to a file beside the journal, and to warn
            with the name of that file.

        Raises
        ------
        JournalDamaged
            A record before the end is damaged, or the header, without which nothing can be recovered.
        BlockingIOError
            The journal is open already, in this process or another.
        """
        return cls(path, sync, recover=recover)

    @property
    def token(self) -> bytes:
        return self._header.token

    @property
    def lock_path(self) -> Path:
        """The empty file that is locked while the journal is open."""
        return self.path.with_name(f".{self.path.name}.lock")

    @property
    def n_bytes(self) -> int:
        """The length of the file, and the position of the next record."""
        return self._whole.end

    @property
    def n_records(self) -> int:
        return self._whole.n

    def is_in_place(self) -> bool:
        """Whether its path leads to it: its folder may have been moved since it was opened, or removed."""
        self._check_open()
        try:
            return os.path.samestat(self.path.stat(), os.fstat(self._file.fileno()))
        except (FileNotFoundError, NotADirectoryError):
            return False

    def records(self, start: int | None = None) -> Iterator[bytes]:
        """Iterate over the payloads that are there now, from this position on. Nothing may be cut meanwhile."""
        with self._lock:
            self._check_open()
            if start is None:
                start = self._header.size
            self._check_position(start)
        return self._payloads(start, self._whole.end)

    def append(self, payload: bytes) -> int:
        """Write a record, and return its position."""
        return self.append_many((payload,))

    def append_many(self, payloads: Iterable[bytes]) -> int:
        """Write records and sync once; return the position of the first. A crash may keep only the first of them."""
        summed = [(payload, crc32(payload)) for payload in map(journalfile.as_payload, payloads)]
        with self._lock, errors_name(self.path):
            self._check_usable()
            position = end = self._whole.end
            parts = []
            for payload, payload_crc in summed:
                parts += [journalfile.record_head(self._header, end, len(payload), payload_crc), payload]
                end += len(parts[-2]) + len(payload)
            try:
                self._unsettled = True
                self._write(b"".join(parts))
                self._whole = _Whole(end, self._whole.n + len(summed))
                self._unsettled = False
            except BaseException:
                self._settle()
                raise
        return position

    def cut(self, position: int) -> None:
        """Take back all records from this position on. Synced as an append is."""
        with self._lock:
            self._check_usable()
            self._check_position(position)
            with self._as_it_is() as file:
                rest = journalfile.read_records(self.path, self._header, file, position, self._whole.end)
                shorter = _Whole(position, self._whole.n - sum(1 for _ in rest))
            self._unsettled = True
            self._whole = shorter
            self._check_usable()

    def sync(self) -> None:
        """Return when all records are on disk."""
        with self._lock, errors_name(self.path):
            self._check_usable()
            self._sync_now()

    def close(self) -> None:
        """Sync unless that is "never", and let others open the journal. May be called again."""
        with self._lock, errors_name(self.path):
            try:
                if not self._file.closed and not self._refusal:
                    self._check_usable()
                    if self._sync != "never" and self._unsynced_since is not None:
                        self._sync_now()
            finally:
                self._file.close()
                self._written.close()
                _release_lock(self._lock_file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Invariant: the file holds the records up to `_whole.end`, and the next write begins there. While `_unsettled`,
    # more may follow, and who takes the lock next cuts that off. If that fails, or syncing does, `_refusal` says why
    # nothing more is written.

    def _check_usable(self) -> None:
        self._check_open()
        if self._unsettled and not self._refusal:
            self._settle()
        if self._refusal:
            way_out = "" if self._refusal.endswith(GONE) else "; close it and open it again"
            why = f"the journal takes no more records, since {self._refusal}{way_out}"
            raise OSError(errno.EIO, why, str(self.path))

    def _check_open(self) -> None:
        if self.is_inherited:
            raise ValueError(
                f"{self.path} was opened by the process that this one was forked from, and only that one writes to it; "
                "close it there, then open it here"
            )
        if self._file.closed:
            raise ValueError(f"{self.path} is closed")

    def _check_position(self, position: int) -> None:
        check_whole("position", position, 0)
        if position == self._whole.end:
            return
        with self._as_it_is() as file:
            if position > self._whole.end or not journalfile.begins_record(self._header, file, position):
                raise ValueError(f"{self.path}: no record begins at {position}; a position is what append returned")

    def _as_it_is(self) -> BinaryIO:
        """The file, to be read: a buffer that was filled before may hold bytes that were cut off since."""
        return open(self._written.fileno(), "rb", closefd=False)

    def _payloads(self, start: int, end: int) -> Iterator[bytes]:
        with self.path.open("rb") as file:  # others may read at the same time
            yield from journalfile.read_records(self.path, self._header, file, start, end)

    def _settle(self) -> None:
        try:
            os.ftruncate(self._file.fileno(), self._whole.end)
            os.lseek(self._file.fileno(), self._whole.end, os.SEEK_SET)
            self._note_unsynced(time.monotonic())
            if self._sync == "always" and not self._refusal:
                self._sync_now()
        except OSError as error:
            self._refusal = self._refusal or f"what lies behind its last record could not be cut off ({error})"
        else:
            self._unsettled = False

    def _write(self, content: bytes) -> None:
        now = time.monotonic()
        oldest = self._note_unsynced(now)
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(self._file.fileno(), rest) :]
        if self._sync == "always" or (self._sync == "batch" and now - oldest >= BATCH_SECONDS):
            self._sync_now()
        if self._sync == "always" or now - self._named_at >= BATCH_SECONDS:
            self._check_named(now)

    def _check_named(self, now: float) -> None:
        """Raise if nobody can open the file any more."""
        if self._counts_names and self._n_names() == 0:
            self._refusal = f"it {GONE}"
            raise OSError(errno.ESTALE, f"the journal {GONE}")
        self._named_at = now

    def _n_names(self) -> int:
        return os.fstat(self._file.fileno()).st_nlink

    def _note_unsynced(self, now: float) -> float:
        """Remember since when something is not synced."""
        if self._unsynced_since is None:
            self._unsynced_since = now
        return self._unsynced_since

    def _begin_in_child(self) -> None:
        """Let only the parent write, and its lock end with it."""
        self.is_inherited = True
        self._lock = threading.Lock()  # a thread of the parent may hold the other
        for file in (self._file, self._written, self._lock_file):
            file.close()

    def _sync_now(self) -> None:
        try:
            getattr(os, "fdatasync", os.fsync)(self._file.fileno())
        except OSError as error:
            self._refusal = f"it could not be synced, and nobody knows what of it is on disk ({error})"
            raise
        self._unsynced_since = None


def _write_new(path: Path, header: bytes) -> None:
    if path.exists():
        raise FileExistsError(errno.EEXIST, "exists already; open it, or name another file")
    write_file(path, header, replace=False)
    sync_folder(path.parent)


def _take_lock(file: BinaryIO) -> None:
    """Lock a file until it is closed, by `_release_lock` or when the process ends."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError) as error:
        why = "the journal is open already, in this process or another; close it there first"
        raise BlockingIOError(errno.EWOULDBLOCK, why) from error


def _release_lock(file: BinaryIO) -> None:
    if not file.closed:
        if sys.platform != "win32":  # closing is not enough if another process has inherited the file
            fcntl.flock(file, fcntl.LOCK_UN)
        file.close()
