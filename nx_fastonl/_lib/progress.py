"""Progress bars."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any


def with_progress(items: Iterable[Any], total: int | None, progress: bool, unit: str) -> Iterable[Any]:
    """The same items, under a progress bar if one is wanted."""
    return progress_bar(items, total=total, unit=unit) if progress else items


def progress_bar(items: Iterable[Any] | None = None, **options: Any) -> Any:
    """A tqdm bar: over `items`, or moved by its ``update``."""
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError("progress=True needs tqdm: pip install tqdm") from error
    return tqdm(items, **options)


def check_progress(progress: bool) -> None:
    """Raise if a bar is wanted and cannot be made, before anything else happens."""
    if progress:
        progress_bar(disable=True)


@contextmanager
def counting_bar(total: int, progress: bool, unit: str) -> Iterator[Callable[[int], object]]:
    """A function that moves a bar by so many items; one that does nothing, if no bar is wanted."""
    if not progress:
        yield lambda _: None
        return
    with progress_bar(total=total, unit=unit) as bar:
        yield bar.update


def in_batches(items: Sequence[Any], size: int, progress: bool, unit: str) -> Iterator[Sequence[Any]]:
    """Consecutive batches of a sequence, under a bar that counts single items."""
    with counting_bar(len(items), progress, unit) as count:
        for start in range(0, len(items), size):
            batch = items[start : start + size]
            yield batch
            count(len(batch))
