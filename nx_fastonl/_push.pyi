import numpy as np
from numpy.typing import NDArray

def push(
    indptr: NDArray[np.int32] | NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[np.float64],
    degrees: NDArray[np.float64],
    cells: NDArray[np.void],
    estimate: NDArray[np.float64],
    queue: NDArray[np.int32],
    touched: NDArray[np.int32],
    n_touched: int,
    *,
    first_epsilon: float,
    epsilon: float,
    shift: float,
    slope: float,
    omega: float,
    target: float,
    epochs: int,
    max_operations: int,
    max_epochs: int,
    measure: bool,
    cancelled: NDArray[np.uint8],
) -> tuple[int, int, int, int, float, bool]: ...
def drain(
    cells: NDArray[np.void], estimate: NDArray[np.float64], touched: NDArray[np.int32], n_touched: int
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]: ...
def column(
    indptr: NDArray[np.int32] | NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[np.float64],
    degrees: NDArray[np.float64],
    cells: NDArray[np.void],
    estimate: NDArray[np.float64],
    queue: NDArray[np.int32],
    touched: NDArray[np.int32],
    source: int,
    *,
    epsilon: float,
    shift: float,
    slope: float,
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]: ...
def diagonal(
    indptr: NDArray[np.int32] | NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[np.float64],
    degrees: NDArray[np.float64],
    cells: NDArray[np.void],
    estimate: NDArray[np.float64],
    queue: NDArray[np.int32],
    touched: NDArray[np.int32],
    sources: NDArray[np.int32],
    epsilons: NDArray[np.float64],
    entries: NDArray[np.float64],
    masses: NDArray[np.float64],
    *,
    shift: float,
    slope: float,
) -> None: ...
