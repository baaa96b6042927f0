from typing import Any

import numpy as np
from numpy.typing import NDArray

def sorted_rows(
    sources: NDArray[Any], targets: NDArray[Any], weights: NDArray[np.float64], n: int, directed: bool
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]: ...
def row_sums(indptr: NDArray[np.integer], weights: NDArray[np.float64]) -> NDArray[np.float64]: ...
