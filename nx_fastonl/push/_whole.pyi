import numpy as np
from numpy.typing import NDArray

from nx_fastonl.push._pulled import PulledRows

def steps(
    rows: PulledRows,
    b: NDArray[np.floating],
    x: NDArray[np.floating],
    previous: NDArray[np.floating],
    omegas: NDArray[np.float64],
    cancelled: NDArray[np.uint8],
    first: int,
    last: int,
) -> None: ...
def block_steps(
    rows: PulledRows,
    b: NDArray[np.floating],
    x: NDArray[np.floating],
    previous: NDArray[np.floating],
    omegas: NDArray[np.float64],
    cancelled: NDArray[np.uint8],
    first: int,
    last: int,
) -> None: ...
def residual(
    rows: PulledRows,
    b: NDArray[np.float64],
    x: NDArray[np.float64],
    out: NDArray[np.float64],
    sums: NDArray[np.float64],
    first: int,
    last: int,
) -> None: ...
def block_residual(
    rows: PulledRows,
    b: NDArray[np.float64],
    x: NDArray[np.float64],
    out: NDArray[np.float64],
    sums: NDArray[np.float64],
    first: int,
    last: int,
) -> None: ...
def gauss_seidel(
    rows: PulledRows,
    b: NDArray[np.float64],
    x: NDArray[np.float64],
    target: float,
    most: int,
    cancelled: NDArray[np.uint8],
) -> int: ...
