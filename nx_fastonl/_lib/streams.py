"""Files that are read from their beginning to their end: compressed or not, by path, by pattern or already open."""

from __future__ import annotations

import bz2
import glob
import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from nx_fastonl._lib.checks import shortened
from nx_fastonl._lib.files import errors_name
from nx_fastonl._lib.progress import progress_bar

# What a caller may pass for a file.
FileLike = str | os.PathLike[str] | BinaryIO
# Bytes that are looked at to tell what a file holds.
BEGIN_BYTES = 64
# A file may stand for many times as much as it holds: real ones, of edges or of events, for about 30 times. One that
# stands for more than the first number, and for more than so many bytes, is refused.
MOST_TIMES, FREE_BYTES = 200, 1 << 26


class Source(NamedTuple):
    """A file to be read, and how messages call it."""

    file: Path | BinaryIO
    name: str


class ExpansionError(ValueError):
    """A small file that stands for far more than it holds."""


def check_expansion(expanded: int, stored: int, advice: str) -> None:
    """Raise ExpansionError if a file of `stored` bytes has given too many bytes, `expanded` so far."""
    if expanded > max(FREE_BYTES, MOST_TIMES * stored):
        raise ExpansionError(
            f"{stored:,} bytes stand for {expanded >> 20:,} MiB or more, which is over {MOST_TIMES} times as much; "
            f"if that is intended, {advice}"
        )


def sources_of(path: FileLike | Sequence[FileLike]) -> list[Source]:
    """All files that a caller means by a path, a pattern such as ``edges-*.csv``, an open file, or several of them."""
    if isinstance(path, str | os.PathLike):
        return [Source(found, str(found)) for found in _matching(os.fspath(path))]
    if hasattr(path, "read"):
        if isinstance(path, io.TextIOBase):
            raise TypeError("an open file must be binary, got one of text; open it with mode 'rb'")
        file = cast(BinaryIO, path)
        return [Source(file, str(getattr(file, "name", "the open file")).replace("<stdin>", "standard input"))]
    if not isinstance(path, Sequence):
        raise TypeError(f"path must be a path, an open binary file or a list of these, got {shortened(path)}")
    if not path:
        raise ValueError("path is an empty list; expected at least one file")
    return [source for item in path for source in sources_of(item)]


def _matching(path: str) -> list[Path]:
    if not glob.has_magic(path) or Path(path).exists():
        return [Path(path)]
    found = sorted(glob.glob(path, recursive=True))  # noqa: PTH207  # Path.glob takes no absolute patterns
    if not found:
        raise FileNotFoundError(f"no file matches {path}")
    return [Path(item) for item in found]


class Progress:
    """A bar over the bytes of all files, as they are stored; none unless one is wanted."""

    def __init__(self, sources: Sequence[Source], wanted: bool) -> None:
        self._bar: Any = None
        if wanted:
            paths = [source.file for source in sources if isinstance(source.file, Path)]
            total = sum(path.stat().st_size for path in paths if path.is_file()) if len(paths) == len(sources) else None
            self._bar = progress_bar(total=total, unit="B", unit_scale=True, desc="reading", delay=1, leave=False)
        self._reached = 0

    def reach(self, file: Any) -> None:
        """Move the bar to where this file is read."""
        if self._bar is not None and file.seekable():
            position = file.tell()
            self._bar.update(position - self._reached)
            self._reached = position

    def end_file(self) -> None:
        self._reached = 0

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


class Stream(NamedTuple):
    """A file as it is read: `text` is what it holds, from `begin` on, and `stored` what the disk holds."""

    text: BinaryIO
    stored: BinaryIO
    begin: bytes


@contextmanager
def opened(source: Source) -> Iterator[Stream]:
    """The content of a file. What is wrong with the file is said with its name."""
    with errors_name(source.name):
        if isinstance(source.file, Path):
            with source.file.open("rb") as file:
                yield from _decompressed(file, source.name)
        else:
            yield from _decompressed(source.file, source.name)


def _decompressed(stored: BinaryIO, name: str) -> Iterator[Stream]:
    begin, file = _begun(stored)
    compression = _compression(begin, name)
    try:
        begin, text = _begun(compression.open(file), cast(_Continued, file.raw))
        yield Stream(text, stored, begin)
    except ExpansionError as error:
        raise ValueError(f"{name}: {error}") from None
    except EOFError as error:
        raise ValueError(f"{name} ends in the middle of its compressed data; fetch it once more") from error
    except compression.errors as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{name}: the compressed data is damaged ({error}); fetch the file once more") from error


def _begun(file: Any, stored: _Continued | None = None) -> tuple[bytes, io.BufferedReader]:
    """The first bytes of a file, and a file that has them still. One read may give fewer, as from a pipe."""
    begin = b""
    while len(begin) < BEGIN_BYTES and (more := file.read(BEGIN_BYTES - len(begin))):
        begin += more
    return begin, io.BufferedReader(_Continued(begin, file, stored))


class _Continued(io.RawIOBase):
    """A file of which the first bytes were read already. It is left open when this is closed.

    With `stored`, which `file` reads, it refuses to give far more than what was read there.
    """

    def __init__(self, begin: bytes, file: Any, stored: _Continued | None) -> None:
        self.size = 0  # of what was read
        self._begin, self._file, self._stored = memoryview(begin), file, stored
        self._read: Callable[[Any], int] = getattr(file, "readinto1", None) or file.readinto

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._begin:
            size = min(len(buffer), len(self._begin))
            buffer[:size], self._begin = self._begin[:size], self._begin[size:]
        else:
            size = self._read(buffer)
        self.size += size
        if self._stored is not None:
            check_expansion(self.size, self._stored.size, "unpack it first")
        return size


class Compression(NamedTuple):
    """How a file is compressed, if it is: what reads it, and the exceptions of damaged data."""

    open: Callable[[Any], Any]
    errors: tuple[type[Exception], ...] = ()


def _compression(magic: bytes, name: str) -> Compression:
    if magic.startswith(b"\x1f\x8b"):
        return Compression(lambda stored: gzip.GzipFile(fileobj=stored), (gzip.BadGzipFile, zlib.error))
    if magic.startswith(b"BZh"):
        return Compression(bz2.BZ2File, (OSError,))
    if magic.startswith(b"\xfd7zXZ\x00"):
        import lzma  # some builds of Python have none

        return Compression(lzma.LZMAFile, (lzma.LZMAError,))
    if magic.startswith(b"\x28\xb5\x2f\xfd"):
        return _zstandard(name)
    if magic.startswith(b"PK\x03\x04"):
        raise ValueError(f"{name} is a ZIP archive; unpack it first")
    return Compression(lambda stored: stored)


def _zstandard(name: str) -> Compression:
    try:
        from compression import zstd  # from Python 3.14 on
    except ImportError:
        try:
            import zstandard
        except ImportError as error:
            raise ImportError(f"{name} is compressed by zstd, which needs zstandard: pip install zstandard") from error
        return Compression(
            lambda stored: io.BufferedReader(_ZstandardReader(stored, zstandard.ZstdDecompressor())),
            (zstandard.ZstdError,),
        )
    return Compression(zstd.ZstdFile, (zstd.ZstdError,))


class _ZstandardReader(io.RawIOBase):
    """What a file of zstandard frames holds. The package's own reader takes the end of a cut file for its end."""

    BYTES_AT_ONCE = 4096  # they may stand for 32,000 times as many

    def __init__(self, stored: Any, decompressor: Any) -> None:
        self._stored, self._decompressor = stored, decompressor
        self._frame: Any = None
        self._found = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._found:
            data = self._frame.unused_data if self._frame is not None and self._frame.eof else b""
            data = data or self._stored.read(self.BYTES_AT_ONCE)
            if not data:
                if self._frame is not None and not self._frame.eof:
                    raise EOFError
                return 0
            if self._frame is None or self._frame.eof:
                self._frame = self._decompressor.decompressobj()
            self._found = memoryview(self._frame.decompress(data))
        size = min(len(buffer), len(self._found))
        buffer[:size], self._found = self._found[:size], self._found[size:]
        return size
