import numpy as np
from numpy.typing import NDArray

def draw_pairs(
    starts: NDArray[np.int64],
    labels: NDArray[np.int32],
    factors: NDArray[np.float64],
    weights: NDArray[np.float64],
    nodes: NDArray[np.int32],
    directed: bool,
    seed: int,
    sources: NDArray[np.int32],
    targets: NDArray[np.int32],
) -> int: ...
def expected_pairs(
    row_weights: NDArray[np.float64], column_weights: NDArray[np.float64], factor: float, same: bool
) -> tuple[float, float]: ...
