"""Arrays that grow."""

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
