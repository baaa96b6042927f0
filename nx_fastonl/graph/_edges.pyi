from typing import Any

import numpy as np
from numpy.typing import NDArray

def sorted_rows(
    chunks: list[tuple[NDArray[Any], NDArray[Any], NDArray[np.float64] | None]],
    n: int,
    directed: bool,
    keep_last: bool = False,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]: ...
def row_sums(indptr: NDArray[np.integer], weights: NDArray[np.float64]) -> NDArray[np.float64]: ...
def count_ends(sources: NDArray[Any], targets: NDArray[Any], directed: bool, counts: NDArray[np.int64]) -> None: ...
def scatter(
    sources: NDArray[Any],
    targets: NDArray[Any],
    weights: NDArray[np.float64],
    directed: bool,
    reached: NDArray[np.int64],
    ends: NDArray[np.int32],
    end_weights: NDArray[np.float64],
) -> None: ...
