"""Scratch memory that is used again."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Generic, TypeVar

Scratch = TypeVar("Scratch")


class Lease(Generic[Scratch]):
    """Scratch memory for the length of a ``with`` block. What an exception left half-written is dropped."""

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

    def lease(self, make: Callable[[], Scratch]) -> Lease[Scratch]:
        """Idle scratch memory, or new memory where none is idle. Leave it as clean as `make` makes it."""
        try:
            return Lease(self._idle, self._idle.pop())
        except IndexError:
            return Lease(self._idle, make())
