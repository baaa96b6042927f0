"""Events that are written before they happen, so that memory and disk have the same ones."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, NamedTuple

from nx_fastonl._lib.journal import Journal

__all__ = ["EventLog", "Outcome"]

# What became of an event that was interrupted: it happened, it did not, or only as far as this other record says.
Outcome = Literal["happened", "did not happen"] | bytes


class _Pending(NamedTuple):
    """An event that was written, or is being written, at this position, and may not have happened yet."""

    position: int
    outcome: Callable[[], Outcome]


class EventLog:
    """A journal of events, one at a time.

    An event is written, then it happens. If it raises, or is interrupted, its outcome decides whether its record stays.
    Where that is interrupted too, it is done before the next event.

    Parameters
    ----------
    journal : Journal

    Attributes
    ----------
    journal : Journal
        May be replaced while no event happens.
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._pending: _Pending | None = None
        # Held from before an event is written until it has happened.
        self._lock = threading.RLock()

    @property
    def is_unsettled(self) -> bool:
        """Whether an event was interrupted, and nobody has decided about its record."""
        return self._pending is not None

    @contextmanager
    def recorded(self, record: bytes, outcome: Callable[[], Outcome]) -> Iterator[None]:
        """Inside this block an event happens, whose record is on disk as the journal promises."""
        self.check_between_events()
        with self._lock:
            self._settle()
            self._pending = _Pending(self.journal.n_bytes, outcome)
            try:
                self.journal.append(record)
                yield
            except BaseException:
                self._settle()
                raise
            self._pending = None

    @contextmanager
    def between_events(self) -> Iterator[None]:
        """Inside this block no event happens."""
        self.check_between_events()
        with self._lock:
            yield

    def check_between_events(self) -> None:
        """Raise if this thread is in the middle of an event, or keeps events out, as a signal handler may find it."""
        if self._lock._is_owned():  # type: ignore[attr-defined]  # as threading.Condition asks it
            raise RuntimeError(
                "this thread is in the middle of another change of the same graph, or saves it; a signal handler can "
                "neither change nor save nor close it"
            )

    def settle(self) -> None:
        """Decide about the record of an event that was interrupted. In a forked child, that is left to the parent."""
        self.check_between_events()
        self._settle()

    def _settle(self) -> None:
        if self.journal.is_inherited:
            return
        with self._lock:
            if self._pending is None:
                return
            position, outcome = self._pending
            found = outcome()
            if found != "happened" and self.journal.n_bytes > position:
                self.journal.cut(position)
            if isinstance(found, bytes):
                self.journal.append(found)
            self._pending = None
