from typing import Literal

import numpy as np
from numpy.typing import NDArray

def find_fault(
    indptr: NDArray[np.integer], indices: NDArray[np.integer], weights: NDArray[np.float64] | None, *, symmetric: bool
) -> Literal["twice", "one-sided"] | None: ...
def find_damage(
    indptr: NDArray[np.integer],
    indices: NDArray[np.integer],
    weights: NDArray[np.float64] | None,
    degrees: NDArray[np.float64],
    name_offsets: NDArray[np.int64] | None,
    slots: NDArray[np.int32],
    name_size: int,
    *,
    directed: bool = False,
) -> str | None: ...
