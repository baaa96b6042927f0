"""Arrays that grow, arrays that nobody can change; what comes from pickles and folders, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

# Counts that are saved are at most this, so that there is room in 64 bits for what is counted later.
LARGEST_SAVED_COUNT = 1 << 62
# Magnitudes that are saved are at most this: sums and products of two of them do not overflow.
LARGEST_SAVED_MAGNITUDE = 1e150


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


# What a pickle or a folder holds is trusted by compiled loops once it was checked: each class that is saved says below
# its `restored` or in its `__setstate__` which arrays and numbers it is made of, and what they may be.


def restored_array(
    array: Any,
    what: str,
    dtype: DTypeLike,
    shape: tuple[int, ...],
    least: float | None = None,
    most: float | None = None,
) -> NDArray[Any]:
    """A copy of an array of this type and shape, with values from `least` to `most`.

    By default, integers may have any value, and other numbers magnitudes of up to `LARGEST_SAVED_MAGNITUDE`.
    """
    is_right = isinstance(array, np.ndarray) and array.dtype.newbyteorder("=") == dtype and array.shape == shape
    check_restored(is_right, what)
    copy: NDArray[Any] = np.array(array, dtype=dtype, order="C")
    if copy.dtype.kind == "f":
        largest = min(LARGEST_SAVED_MAGNITUDE, float(np.finfo(copy.dtype).max))
        least, most = (-largest if least is None else least), (largest if most is None else most)
    whole = (least is None or bool((copy >= least).all())) and (most is None or bool((copy <= most).all()))
    check_restored(whole, what)
    return copy


def restored_count(value: Any, what: str, least: int = 0, most: int = LARGEST_SAVED_COUNT) -> int:
    """A whole number from `least` to `most`."""
    check_restored(isinstance(value, int | np.integer) and bool(least <= value <= most), what)
    return int(value)


def restored_number(
    value: Any, what: str, least: float = -LARGEST_SAVED_MAGNITUDE, most: float = LARGEST_SAVED_MAGNITUDE
) -> float:
    """A number from `least` to `most`."""
    check_restored(isinstance(value, int | float | np.floating) and bool(least <= value <= most), what)
    return float(value)


def check_parts(state: Mapping[str, Any], what: str, types: Mapping[str, Any]) -> None:
    """Raise unless a state has these parts and no others, each of its type."""
    check_restored(state.keys() == types.keys(), what)
    check_restored(all(isinstance(state[name], kind) for name, kind in types.items()), what)


def shape_of(array: Any, what: str, dimensions: int) -> tuple[int, ...]:
    """The shape of an array with so many dimensions, to which others must fit."""
    check_restored(isinstance(array, np.ndarray) and array.ndim == dimensions, what)
    return tuple(array.shape)


def check_restored(whole: bool, what: str) -> None:
    """Raise unless what a pickle or a folder holds fits together: compiled loops trust it."""
    if not whole:
        raise ValueError(f"what was saved is damaged: its {what} do not fit together")
