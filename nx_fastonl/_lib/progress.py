"""Progress bars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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


def in_batches(items: Sequence[Any], size: int, progress: bool, unit: str) -> Iterator[Sequence[Any]]:
    """Consecutive batches of a sequence, under a bar that counts single items."""
    bar = progress_bar(total=len(items), unit=unit) if progress else None
    try:
        for start in range(0, len(items), size):
            batch = items[start : start + size]
            yield batch
            if bar is not None:
                bar.update(len(batch))
    finally:
        if bar is not None:
            bar.close()
