import numpy as np
from numpy.typing import NDArray

from nx_fastonl._relaxation import Totals

def run(
    indptr: NDArray[np.int32] | NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[np.float64],
    diagonal: NDArray[np.float64],
    cells: NDArray[np.void],
    estimate: NDArray[np.float64],
    queue: NDArray[np.int32],
    touched: NDArray[np.int32],
    marks: NDArray[np.void],
    gradients: NDArray[np.float64],
    gradient_sum: NDArray[np.float64],
    totals: Totals,
    counts: NDArray[np.int64],
    appearances: NDArray[np.int64],
    rows: NDArray[np.int32],
    scales: NDArray[np.float64],
    labels: NDArray[np.int32],
    draws: NDArray[np.float64],
    predicted: NDArray[np.int32],
    *,
    epsilon: float,
    shift: float,
    slope: float,
    a: float,
    constant: float,
    k: int,
    n_rows: int,
    n_learned: int,
    limits_known: bool,
) -> tuple[Totals, int]: ...
