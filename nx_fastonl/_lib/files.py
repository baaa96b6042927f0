"""Files that are written completely or not at all, by one process at a time."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from io import FileIO
from pathlib import Path

from nx_fastonl._lib.forks import removed_on_error

# The names of temporary files: what the file's own name hashes to, and a token.
TEMPORARY = re.compile(r"\.nx-fastonl-[0-9a-f]{16}-[0-9a-f]{16}\.part")
# A temporary file that is older than this, in seconds, belongs to a process that was killed.
ABANDONED_AFTER = 24 * 60 * 60
# How long, in seconds, to wait for another process that writes the same file.
LOCK_TIMEOUT = 60


def write_file(path: Path, content: bytes, *, replace: bool = True, check: Callable[[], None] = lambda: None) -> None:
    """Replace the file by one with this content. If that fails, the file stays as it was, and the error names it.

    Without `replace`, a file that is there already is a FileExistsError: of two processes that write a new file, one
    gets it. Where the file system has no hard links, both may succeed, and the file is that of the last.

    The content first goes to a temporary file in the same folder, which then takes the name of the old one. A process
    that is killed leaves its temporary file behind. The next one that writes the same file removes it, if it is
    older than a day.

    Right before the new name is given, `check` is called, which may raise. What is replaced is a file of the folder
    that was there at the check, also if another one takes its place at this moment.
    """
    with errors_name(path):
        if path.exists() and not path.is_file():  # a device such as /dev/null is written to; a folder raises an error
            path.write_bytes(content)
            return
        target = Path(os.path.realpath(path))  # a symbolic link keeps pointing to the new file
        if target.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        with _held_folder(target.parent) as folder:
            _write(target, content, folder, replace=replace, check=check)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Inside this block, no other process is inside a block for the same file. Needs filelock.

    The operating system frees the lock when its holder ends, also if it is killed. The empty file ``.NAME.lock`` stays:
    if it were removed, two processes could hold locks on two files of that name.
    """
    try:
        from filelock import FileLock, Timeout
    except ImportError as error:
        raise ImportError("a file that several processes may write needs filelock: pip install filelock") from error
    lock = FileLock(path.with_name(f".{path.name}.lock"), timeout=LOCK_TIMEOUT)
    try:
        with errors_name(path):
            lock.acquire()
    except Timeout as error:
        raise TimeoutError(
            f"{path}: another process has held {lock.lock_file} for {LOCK_TIMEOUT} seconds; end it, then try again"
        ) from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _held_folder(path: Path) -> Iterator[int | None]:
    """A handle of the folder, which stays its own if it is moved; None where the system has no such handles."""
    if os.rename not in os.supports_dir_fd:
        yield None
        return
    handle = os.open(path, getattr(os, "O_PATH", os.O_RDONLY))  # a folder that one may write to, but not list, will do
    try:
        yield handle
    finally:
        os.close(handle)


def _write(target: Path, content: bytes, folder: int | None, *, replace: bool, check: Callable[[], None]) -> None:
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    # Other names than the target's own: that may be as long as names can be.
    stem = f".nx-fastonl-{sha256(os.fsencode(target.name)).hexdigest()[:16]}-"
    temporary = target.with_name(f"{stem}{secrets.token_hex(8)}.part")
    # Until it has the permissions of the old file, nobody else may read it. Those of a new file follow the umask.
    permissions = 0o666 if mode is None else 0o600
    # "x": what somebody else has put there, such as a symbolic link, is neither written to nor removed.
    opener = lambda name, flags: os.open(name, flags, permissions)  # noqa: E731
    file = open(temporary, "xb", buffering=0, opener=opener)  # noqa: SIM115
    with removed_on_error(temporary):
        with file:
            write_all(file, content)
            os.fsync(file.fileno())  # otherwise, after a power failure, the new name could belong to an empty file
            written = os.fstat(file.fileno()).st_mtime
        if mode is not None:
            temporary.chmod(mode)
        check()
        if not replace:
            _rename_to_new(temporary, target)
        elif folder is None:
            temporary.replace(target)
        else:
            os.replace(temporary.name, target.name, src_dir_fd=folder, dst_dir_fd=folder)
    _remove_abandoned(target.parent, stem, written)


def _rename_to_new(temporary: Path, target: Path) -> None:
    try:
        os.link(temporary, target)  # unlike a rename, it replaces nothing
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):  # a file system without hard links
        if target.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
        temporary.replace(target)
    else:
        temporary.unlink()


def _remove_abandoned(folder: Path, stem: str, now: float) -> None:
    """Remove temporary files of processes that were killed. `now` is by the clock of the folder, perhaps a server's."""
    for path in folder.glob(f"{stem}*.part"):
        with suppress(OSError):  # another process may be faster
            if TEMPORARY.fullmatch(path.name) and now - path.lstat().st_mtime > ABANDONED_AFTER:
                path.unlink()


def write_all(file: FileIO, content: bytes | memoryview) -> None:
    """Write to a file without a buffer. A buffer would be written once more by a child that is forked meanwhile."""
    rest = memoryview(content)
    while rest:
        rest = rest[file.write(rest) :]


def sync_folder(folder: Path) -> None:
    """Let the names of the files in a folder survive a power failure, where the system can promise that."""
    with suppress(OSError):  # Windows opens no folders
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def errors_name(path: Path | str) -> Iterator[None]:
    """Errors of the operating system name this file, not a temporary one or none."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
