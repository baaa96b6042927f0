"""A lock that many readers share and one writer has alone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType

__all__ = ["SharedLock"]


class SharedLock:
    """Held by any number of threads that read, or by one that writes.

    A thread may take it again while it has it, also to write while it reads: it then waits until no other thread reads.
    Threads that want to write come before those that begin to read. It must not be held while a caller's code runs.

    Attributes
    ----------
    reading, writing : context managers
    """

    def __init__(self) -> None:
        self._changed = threading.Condition(threading.Lock())
        self._readers: dict[int, int] = {}  # how often each thread has it to read
        self._writer, self._depth, self._waiting = 0, 0, 0
        self.reading, self.writing = _Side(self._read, self._end_reading), _Side(self._write, self._end_writing)

    def _read(self) -> None:
        me = threading.get_ident()
        with self._changed:
            if self._writer != me and me not in self._readers:
                while self._writer or self._waiting:
                    self._changed.wait()
            self._readers[me] = self._readers.get(me, 0) + 1

    def _end_reading(self) -> None:
        me = threading.get_ident()
        with self._changed:
            if self._readers[me] > 1:
                self._readers[me] -= 1
            else:
                del self._readers[me]
                self._changed.notify_all()

    def _write(self) -> None:
        me = threading.get_ident()
        with self._changed:
            if self._writer != me:
                self._waiting += 1
                try:
                    while self._writer or any(reader != me for reader in self._readers):
                        self._changed.wait()
                finally:
                    self._waiting -= 1
                    self._changed.notify_all()
                self._writer = me
            self._depth += 1

    def _end_writing(self) -> None:
        with self._changed:
            self._depth -= 1
            if self._depth == 0:
                self._writer = 0
                self._changed.notify_all()


class _Side:
    """One of both ways to hold the lock."""

    def __init__(self, begin: Callable[[], None], end: Callable[[], None]) -> None:
        self._begin, self._end = begin, end

    def __enter__(self) -> None:
        self._begin()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end()
