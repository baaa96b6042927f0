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
        self._mutex = threading.Lock()  # held for a moment, while the numbers below are looked at
        self._freed = threading.Condition(self._mutex)
        self._readers: dict[int, int] = {}  # how often each thread has it to read
        self._writer, self._depth = 0, 0  # the thread that writes, and how often it has it
        self._waiting, self._waiting_writers = 0, 0
        self.reading, self.writing = _Side(self._read, self._end_reading), _Side(self._write, self._end_writing)

    def _read(self) -> None:
        me = threading.get_ident()
        with self._mutex:
            readers = self._readers
            if me in readers:
                readers[me] += 1
                return
            if self._writer != me:
                while self._writer or self._waiting_writers:
                    self._wait()
            readers[me] = 1

    def _end_reading(self) -> None:
        me = threading.get_ident()
        with self._mutex:
            if self._readers[me] > 1:
                self._readers[me] -= 1
                return
            del self._readers[me]
            if self._waiting:
                self._freed.notify_all()

    def _write(self) -> None:
        me = threading.get_ident()
        with self._mutex:
            if self._writer != me:
                self._waiting_writers += 1
                try:
                    while self._writer or any(reader != me for reader in self._readers):
                        self._wait()
                finally:
                    self._waiting_writers -= 1
                    if self._waiting:
                        self._freed.notify_all()
                self._writer = me
            self._depth += 1

    def _end_writing(self) -> None:
        with self._mutex:
            self._depth -= 1
            if self._depth == 0:
                self._writer = 0
                if self._waiting:
                    self._freed.notify_all()

    def _wait(self) -> None:
        self._waiting += 1
        try:
            self._freed.wait()
        finally:
            self._waiting -= 1


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
