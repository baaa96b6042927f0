import numpy as np
from numpy.typing import NDArray

from nx_fastonl.push._pulled import PulledRows

def start(b: NDArray[np.floating]) -> tuple[NDArray[np.floating], float]: ...
def estimate(vectors: NDArray[np.floating]) -> NDArray[np.floating]: ...
def turn(rows: PulledRows, vectors: NDArray[np.floating], beta: float, omega: float, first: int, last: int) -> None: ...
def step(rows: PulledRows, vectors: NDArray[np.floating], alpha: float, first: int, last: int) -> None: ...
def multiply_direction(
    rows: PulledRows,
    vectors: NDArray[np.floating],
    sums: NDArray[np.float64],
    cancelled: NDArray[np.uint8],
    first: int,
    last: int,
) -> None: ...
def multiply_rest(
    rows: PulledRows,
    vectors: NDArray[np.floating],
    sums: NDArray[np.float64],
    cancelled: NDArray[np.uint8],
    first: int,
    last: int,
) -> None: ...
def advance(
    vectors: NDArray[np.floating], alpha: float, omega: float, sums: NDArray[np.float64], first: int, last: int
) -> None: ...
