"""Arrays that grow, arrays that nobody can change, arrays from pickles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def enlarged(array: NDArray[Any], *shape: int, used: int | None = None) -> NDArray[Any]:
    """A larger copy of an array. The new entries are zero, and take memory only once they are written.

    Along the first axis, only `used` entries are copied; the others must be zero.
    """
    larger = np.zeros(shape, dtype=array.dtype)
    copied = array[:used]
    larger[tuple(map(slice, copied.shape))] = copied
    return larger


def no_marks(n: int) -> NDArray[np.uint8]:
    """A mark for each of n nodes, all 0: scratch memory for sets of nodes."""
    return np.zeros(n, dtype=np.uint8)


def frozen(array: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """A copy that cannot be made writable again: compiled loops trust what was checked."""
    return read_only(np.array(array, dtype=dtype, order="C"), dtype)


def read_only(array: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """A view that cannot be made writable, of an array that nobody else has; a copy only where the type differs."""
    own: Any = np.ascontiguousarray(array, dtype=dtype)
    view: NDArray[Any] = np.frombuffer(memoryview(own).toreadonly(), dtype=dtype).reshape(own.shape)
    return view


def check_restored(whole: bool, what: str) -> None:
    """Raise unless what a pickle holds fits together: compiled loops trust it."""
    if not whole:
        raise ValueError(f"the pickle is damaged: its {what} do not fit together")
