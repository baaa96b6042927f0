"""What a forked child inherits and must not use as it is: locks that other threads held, and files of its parent.

A child has one thread. What the others were doing at the fork, they never end.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

__all__ = ["Inherited", "removed_on_error", "tell_of_forks"]


class Inherited(Protocol):
    """An object that is told when it finds itself in a forked child."""

    def _begin_in_child(self) -> None: ...


_owners: weakref.WeakSet[Inherited] = weakref.WeakSet()


def tell_of_forks(owner: Inherited) -> None:
    """Call ``owner._begin_in_child()`` in each forked child, before anything else happens there."""
    _owners.add(owner)


@contextmanager
def removed_on_error(path: Path) -> Iterator[None]:
    """Remove the file that this block has made, if it raises; but not in a child that was forked inside of it."""
    process = os.getpid()
    try:
        yield
    except BaseException:
        if os.getpid() == process:
            with suppress(OSError):
                path.unlink()
        raise


def _begin_in_child() -> None:
    for owner in list(_owners):
        owner._begin_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_in_child)
