"""Arrays that grow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def enlarged(array: NDArray[Any], *shape: int, used: int | None = None) -> NDArray[Any]:
    """A larger array with the same first entries and zeros beyond, where memory is committed only once written.

    Of the first axis, only `used` entries are copied: the others are zero.
    """
    larger = np.zeros(shape, dtype=array.dtype)
    kept = array[:used]
    larger[tuple(map(slice, kept.shape))] = kept
    return larger
