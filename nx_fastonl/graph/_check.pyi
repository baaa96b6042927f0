from typing import Literal

import numpy as np
from numpy.typing import NDArray

def find_fault(
    indptr: NDArray[np.integer], indices: NDArray[np.integer], weights: NDArray[np.float64] | None, *, symmetric: bool
) -> Literal["twice", "one-sided"] | None: ...
