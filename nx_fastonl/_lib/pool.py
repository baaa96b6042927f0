"""Scratch memory that is used again."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Generic, TypeVar

Scratch = TypeVar("Scratch")


class Lease(Generic[Scratch]):
    """Scratch memory, lent for a ``with`` block. If the block raises, the memory may be half-written and is dropped."""

    __slots__ = ("_idle", "_scratch")

    def __init__(self, idle: list[Scratch], scratch: Scratch) -> None:
        self._idle = idle
        self._scratch = scratch

    def __enter__(self) -> Scratch:
        return self._scratch

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self._idle.append(self._scratch)


class Pool(Generic[Scratch]):
    """Idle scratch memory of one kind. Threads may share a pool: list.pop and list.append are atomic."""

    def __init__(self) -> None:
        self._idle: list[Scratch] = []

    def __len__(self) -> int:
        return len(self._idle)

    def lease(self, make: Callable[[int], Scratch], size: int) -> Lease[Scratch]:
        """Idle scratch memory, or new memory if none is idle. The caller must leave it as clean as new memory."""
        try:
            return Lease(self._idle, self._idle.pop())
        except IndexError:
            return Lease(self._idle, make(size))
