"""Folders of arrays with a manifest: what was saved before or what is saved now, never something between.

The files of arrays have names of their own each time, and ``manifest.json`` says which of them count. To save is to
write new files, then to replace the manifest in one step, then to remove the old files. Whoever reads meanwhile has the
old files or the new ones, and an array that is mapped to memory never changes.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.checks import shortened
from nx_fastonl._lib.files import ABANDONED_AFTER, TEMPORARY, errors_name, sync_folder, write_all, write_file

__all__ = [
    "Content",
    "DamagedError",
    "Folder",
    "check_sums",
    "fingerprint_of",
    "open_folder",
    "read_arrays",
    "remove_folder",
    "remove_strays",
    "write_folder",
]

MANIFEST = "manifest.json"
# A manifest is read whole, and this is more than any has.
LARGEST_MANIFEST = 1 << 28
ARRAY_FILE = re.compile(r"[a-z0-9_]+-[0-9a-f]{16}\.npy")
# Types of arrays: truth values, integers and floats of up to 64 bits.
NUMBERS = re.compile(r"\|[biu]1|<[iuf][248]")
# What .npy files begin with, and where their arrays begin: at a multiple of this.
MAGIC, ALIGNMENT = b"\x93NUMPY\x01\x00", 64
BLOCK = 1 << 22
# Tries to open a folder that others save to meanwhile.
TRIES = 20


class Content(NamedTuple):
    """What a folder holds: a JSON-like dict and arrays. What is `derived` from them does not count as content."""

    details: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    derived_details: dict[str, Any]
    derived_arrays: dict[str, NDArray[Any]]


class Folder(NamedTuple):
    """A folder that was opened: its path, its content, a fingerprint of this, and the checksum of each array."""

    path: Path
    content: Content
    fingerprint: str
    checksums: dict[str, str]


class DamagedError(ValueError):
    """A saved folder is not as it was written."""

    def __init__(self, path: Path, why: str, remedy: str = "Save it again, or take it from a backup") -> None:
        super().__init__(path, why, remedy)  # so that it can be pickled: workers raise it too
        self.path, self.why, self.remedy = path, why, remedy

    def __str__(self) -> str:
        return f"{self.path} is damaged: {self.why}. {self.remedy}"


def fingerprint_of(kind: str, content: Content) -> str:
    """What tells this content from any other: the same whenever and wherever it is saved."""
    plain = {name: _plain(array) for name, array in content.arrays.items()}
    return _fingerprint(kind, content.details, {name: _entry(array, _sha256(array)) for name, array in plain.items()})


def write_folder(
    path: Path,
    kind: str,
    version: int,
    content: Content,
    *,
    replace: bool = True,
    check: Callable[[], None] = lambda: None,
) -> str:
    """Save the content to a folder, new or with other content of this kind; return its fingerprint.

    Without `replace`, other content is a FileExistsError. Right before the manifest is replaced, `check` is called,
    which may raise.

    If that fails, nothing has changed, and the error names the folder. A process that is killed may leave files behind
    that no manifest names. The next one that saves to the folder removes them, if they are older than a day.
    """
    with errors_name(path):
        folder = Path(os.path.realpath(path))  # a symbolic link keeps pointing to it
        old = _old_files(folder, path, kind)
        token, written = secrets.token_hex(8), []
        is_new, process = not folder.is_dir(), os.getpid()
        is_first = is_new or not (folder / MANIFEST).exists()
        if is_new:
            folder.mkdir(exist_ok=True)  # another process may be faster
        try:
            entries: dict[str, dict[str, Any]] = {}
            with ExitStack() as open_files:
                streams = []
                for name, array in {**content.arrays, **content.derived_arrays}.items():
                    file = folder / f"{name}-{token}.npy"
                    written.append(file)
                    streams.append(open_files.enter_context(file.open("xb", buffering=0)))
                    plain = _plain(array)
                    entries[name] = {"file": file.name, **_entry(plain, _write_array(streams[-1], plain))}
                for stream in streams:  # after all were written: the system then needs few steps for all of them
                    os.fsync(stream.fileno())
            sync_folder(folder)
            own = {name: entries[name] for name in content.arrays}
            fingerprint = _fingerprint(kind, content.details, own)
            manifest = {
                "format": kind,
                "version": version,
                "fingerprint": fingerprint,
                "details": content.details,
                "derived": content.derived_details,
                "arrays": own,
                "derived_arrays": {name: entries[name] for name in content.derived_arrays},
            }
            text = json.dumps({**manifest, "checksum": _digest(manifest)}, indent=1)
            write_file(folder / MANIFEST, text.encode(), replace=replace, check=check)
        except BaseException:
            # An interrupt may come right after the manifest was replaced, and a child be forked before.
            if os.getpid() == process and not _is_named(folder, token):
                for file in written:
                    with suppress(OSError):
                        file.unlink()
                if is_new:
                    with suppress(OSError):
                        folder.rmdir()
            raise
        sync_folder(folder)
        if is_first:  # also if it was made by a process that was killed before it had done so
            sync_folder(folder.parent)
        _remove(folder, old, keep={file.name for file in written})
    return fingerprint


def open_folder(path: Path, kind: str, version: int) -> Folder:
    """What was saved to this folder, its arrays mapped to memory. Their content is not looked at."""
    manifest: dict[str, Any] = {}
    for _ in range(TRIES):
        latest = _read_manifest(path, kind, version)
        if latest == manifest:
            break  # nobody has saved meanwhile: the file that is missing was there before
        manifest = latest
        try:
            found = [_open_arrays(path, manifest[part]) for part in ("arrays", "derived_arrays")]
        except FileNotFoundError:
            continue
        content = Content(manifest["details"], found[0], manifest["derived"], found[1])
        entries = {**manifest["arrays"], **manifest["derived_arrays"]}
        return Folder(
            path, content, manifest["fingerprint"], {name: entry["sha256"] for name, entry in entries.items()}
        )
    raise DamagedError(path, "a file that its manifest names is missing")


def check_sums(folder: Folder, names: Iterable[str] | None = None) -> None:
    """Compare these arrays, by default all, with their checksums."""
    arrays = {**folder.content.arrays, **folder.content.derived_arrays}
    for name in arrays if names is None else names:
        _check_sum(folder, name, arrays[name])


def read_arrays(folder: Folder, names: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Copies of these arrays in memory, compared with their checksums."""
    copies = {name: np.array(folder.content.arrays[name]) for name in names}
    for name, array in copies.items():
        _check_sum(folder, name, array)
    return copies


def _check_sum(folder: Folder, name: str, array: NDArray[Any]) -> None:
    if _sha256(array) != folder.checksums[name]:
        raise DamagedError(folder.path, f"the checksum of its array {name} is wrong")


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """The array as it is written: rows one after another, the lowest byte of a number first."""
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))


def _bytes(array: NDArray[Any]) -> memoryview:
    content: Any = array
    return memoryview(content).cast("B") if array.size else memoryview(b"")


def _sha256(array: NDArray[Any]) -> str:
    return hashlib.sha256(_bytes(array)).hexdigest()


def _entry(array: NDArray[Any], sha256: str) -> dict[str, Any]:
    return {"dtype": array.dtype.str, "shape": list(array.shape), "sha256": sha256}


def _fingerprint(kind: str, details: Mapping[str, Any], entries: Mapping[str, Mapping[str, Any]]) -> str:
    arrays = {name: [entry["dtype"], entry["shape"], entry["sha256"]] for name, entry in entries.items()}
    return _digest({"format": kind, "details": details, "arrays": arrays})


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _write_array(stream: FileIO, array: NDArray[Any]) -> str:
    """Write a file that ``np.load`` reads; return the SHA-256 of the array's bytes."""
    checksum = hashlib.sha256()
    content = _bytes(array)
    write_all(stream, _header(array.dtype, array.shape))
    for start in range(0, len(content), BLOCK):
        block = content[start : start + BLOCK]
        checksum.update(block)
        write_all(stream, block)
    return checksum.hexdigest()


def _old_files(folder: Path, path: Path, kind: str) -> list[str]:
    """The files that the manifest of an existing folder names. Raises if the folder has another purpose."""
    if not folder.exists():
        if not folder.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, f"there is no folder {path.parent} to save in")
        return []
    if not folder.is_dir():
        raise FileExistsError(errno.EEXIST, "this is a file; name a folder, which may not exist yet")
    if not (folder / MANIFEST).exists():
        others = [entry.name for entry in folder.iterdir() if not _is_ours(entry.name)]
        if others:
            raise FileExistsError(errno.EEXIST, f"the folder has other files, such as {min(others)}; name a new folder")
        return []
    try:
        manifest = _read_json(folder)
    except DamagedError:
        manifest = {"format": kind}  # by its other files it is ours, so that it can be saved again
        if not all(_is_ours(entry.name) or entry.name == MANIFEST for entry in folder.iterdir()):
            manifest = {}
    if manifest.get("format") != kind:
        found = shortened(manifest.get("format", "something else"))
        raise FileExistsError(
            errno.EEXIST, f"the folder holds {found}, which is not replaced by {kind!r}; name another folder"
        )
    parts = [manifest.get(part) for part in ("arrays", "derived_arrays")]
    entries = [entry for part in parts if isinstance(part, dict) for entry in part.values()]
    names = [entry.get("file") for entry in entries if isinstance(entry, dict)]
    return [name for name in names if isinstance(name, str) and ARRAY_FILE.fullmatch(name)]


def _is_ours(name: str) -> bool:
    return bool(ARRAY_FILE.fullmatch(name) or TEMPORARY.fullmatch(name))


def _is_named(folder: Path, token: str) -> bool:
    """Whether the manifest names files with this token."""
    try:
        return token in (folder / MANIFEST).read_text()
    except (OSError, ValueError):
        return False


def _remove(folder: Path, old: list[str], keep: set[str]) -> None:
    """Remove the files of the manifest before, and those that a killed process left a day ago or earlier."""
    for name in old:
        with suppress(OSError):  # a file that is mapped cannot be removed on Windows
            (folder / name).unlink()
    _remove_others(folder, keep, ABANDONED_AFTER)


def remove_strays(path: Path, min_age: float = 0.0) -> None:
    """Remove the files that killed processes have left, if they are older than this, in seconds.

    Nobody may have begun to save to the folder since then.
    """
    manifest = _read_json(path)
    named = {entry["file"] for part in ("arrays", "derived_arrays") for entry in manifest[part].values()}
    _remove_others(path, named, min_age)


def remove_folder(path: Path, kind: str) -> None:
    """Remove what was saved to a folder, completely or not, and the folder itself unless it has other files.

    Content of another kind stays, and what cannot be removed.
    """
    with suppress(OSError, DamagedError):
        if (path / MANIFEST).exists():
            if _read_json(path).get("format") != kind:
                return
            (path / MANIFEST).unlink()
        _remove_others(path, set(), 0.0)
        path.rmdir()


def _remove_others(folder: Path, keep: set[str], min_age: float) -> None:
    """Remove all of our files but these and younger ones."""
    now = time.time()
    for file in folder.iterdir():
        if file.name not in keep and _is_ours(file.name):
            with suppress(OSError):
                if min_age == 0.0 or now - file.lstat().st_mtime > min_age:
                    file.unlink()


def _read_json(path: Path) -> dict[str, Any]:
    with (path / MANIFEST).open("rb") as file:
        text = file.read(LARGEST_MANIFEST + 1)
    try:
        found = json.loads(text) if len(text) <= LARGEST_MANIFEST else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise DamagedError(path, f"its {MANIFEST} is not as it was written")
    return found


def _read_manifest(path: Path, kind: str, version: int) -> dict[str, Any]:
    with errors_name(path):
        if not path.is_dir():
            if path.exists():
                raise NotADirectoryError(errno.ENOTDIR, f"this is a file; expected a folder that holds {kind!r}")
            raise FileNotFoundError(errno.ENOENT, "no such folder")
        if not (path / MANIFEST).exists():
            raise FileNotFoundError(
                errno.ENOENT, f"the folder has no {MANIFEST}: nothing was saved to it, or not completely"
            )
        manifest = _read_json(path)
    if manifest.get("format") != kind:
        raise ValueError(f"{path} holds {shortened(manifest.get('format'))}, expected {kind!r}")
    found = manifest.get("version")
    if not isinstance(found, int) or found < 1:
        raise DamagedError(path, f"its version is {shortened(found)}")
    if found > version:
        raise ValueError(
            f"{path} was saved by a newer nx_fastonl, in version {found} of its format; this one reads versions up to "
            f"{version}: pip install --upgrade nx-fastonl"
        )
    checksum = manifest.pop("checksum", None)
    if checksum != _digest(manifest) or not _is_complete(manifest):
        raise DamagedError(path, f"its {MANIFEST} is not as it was written")
    return manifest


def _is_complete(manifest: Mapping[str, Any]) -> bool:
    """Whether the parts of a manifest are there, and its fingerprint is that of its content."""
    parts = [manifest.get(part) for part in ("details", "derived", "arrays", "derived_arrays")]
    if not all(isinstance(part, dict) for part in parts):
        return False
    try:
        entries = {**manifest["arrays"], **manifest["derived_arrays"]}
        if not all(isinstance(entry["sha256"], str) for entry in entries.values()):
            return False
        found = _fingerprint(manifest["format"], manifest["details"], manifest["arrays"])
        return bool(found == manifest["fingerprint"])
    except (KeyError, TypeError):
        return False


def _open_arrays(path: Path, entries: Mapping[str, Mapping[str, Any]]) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {}
    for name, entry in entries.items():
        with _damage(path, name):
            file, dtype, shape = str(entry["file"]), str(entry["dtype"]), tuple(map(int, entry["shape"]))
            if not (ARRAY_FILE.fullmatch(file) and NUMBERS.fullmatch(dtype) and min(shape, default=0) >= 0):
                raise ValueError("its entry in the manifest is wrong")
            arrays[name] = _open_array(path / file, np.dtype(dtype), shape)
    return arrays


@contextmanager
def _damage(path: Path, name: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise DamagedError(path, f"array {name}: {error}") from error


def _open_array(file: Path, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    header, size = _header(dtype, shape), math.prod(shape) * dtype.itemsize
    with file.open("rb") as stream:
        if stream.read(len(header)) != header:
            raise ValueError(f"its file does not begin as one with {dtype} of shape {shape} does")
        length = os.fstat(stream.fileno()).st_size
        if length != len(header) + size:
            raise ValueError(f"its file has {length:,} bytes, expected {len(header) + size:,}")
        return np.asarray(np.memmap(stream, dtype, "r", len(header), shape)) if size else np.empty(shape, dtype)


def _header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """How an ``.npy`` file with this array begins, in version 1.0 of NumPy's format."""
    text = f"{{'descr': '{dtype.str}', 'fortran_order': False, 'shape': {shape}, }}"
    size = -(-(len(MAGIC) + 3 + len(text)) // ALIGNMENT) * ALIGNMENT
    padded = text.ljust(size - len(MAGIC) - 3) + "\n"
    return MAGIC + len(padded).to_bytes(2, "little") + padded.encode()
