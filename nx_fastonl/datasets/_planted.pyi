import numpy as np
from numpy.typing import NDArray

def draw_pairs(
    starts: NDArray[np.int64],
    probabilities: NDArray[np.float64],
    directed: bool,
    seed: int,
    sources: NDArray[np.int32],
    targets: NDArray[np.int32],
) -> int: ...
