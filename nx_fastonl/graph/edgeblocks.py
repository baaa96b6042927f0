"""The text of a file in blocks, as the tokenizer reads it."""

from __future__ import annotations

from typing import Any

from nx_fastonl._lib.streams import Progress, Stream
from nx_fastonl.graph._edgefile import EdgeTokenizer, LineError
from nx_fastonl.graph._gathered import GatheredEdges

# Bytes that are read at a time. A line that is longer makes its buffer larger, up to the second number.
BLOCK_BYTES = 1 << 20
MAX_RECORD_BYTES = 1 << 26


class TextBlocks:
    """A buffer that holds the next bytes of a file. It is full unless the file ends in it."""

    def __init__(self, stream: Stream, progress: Progress) -> None:
        self._file: Any = stream.text
        self._stored, self._progress = stream.stored, progress
        self._buffer, self._filled = bytearray(BLOCK_BYTES), 0
        self._fill()

    @property
    def head(self) -> memoryview:
        """The bytes that come next."""
        return memoryview(self._buffer)[: self._filled]

    @property
    def is_last(self) -> bool:
        """Whether the file has no more bytes."""
        return self._filled < len(self._buffer)

    def skip(self, size: int) -> None:
        """Drop bytes from the front, and fill the buffer again."""
        left = self._filled - size
        self._buffer[:left] = self._buffer[size : self._filled]
        self._filled = left
        self._fill()

    def enlarge(self, line: int) -> None:
        """Make room for more bytes: what is there is not all of the record that begins in this line."""
        if len(self._buffer) >= MAX_RECORD_BYTES:
            raise LineError(
                f"line {line}: longer than {MAX_RECORD_BYTES >> 20} MiB; is it a list of edges, and is every quote "
                "closed?"
            )
        larger = bytearray(2 * len(self._buffer))  # a new one: views of the old one cannot follow
        larger[: self._filled] = self.head
        self._buffer = larger
        self._fill()

    def read_all(self, tokenizer: EdgeTokenizer, edges: GatheredEdges) -> None:
        """Gather all edges up to the end of the file."""
        while True:
            used = tokenizer.read(self._buffer, self._filled, self.is_last, edges)
            self._progress.reach(self._stored)
            if self.is_last:
                return
            if used == 0:
                self.enlarge(tokenizer.line)
            else:
                self.skip(used)

    def _fill(self) -> None:
        with memoryview(self._buffer) as view:
            while self._filled < len(view):
                size = self._file.readinto1(view[self._filled :])  # one read at a time: Ctrl-C is noticed between two
                if not size:
                    return
                self._filled += size
