import numpy as np
from numpy.typing import NDArray

from nx_fastonl.push._pulled import PulledRows

def direct(
    rows: PulledRows,
    out: NDArray[np.float32],
    scaled: NDArray[np.float32],
    x: NDArray[np.float32],
    a: float,
    y: NDArray[np.float32],
    b: float,
    z: NDArray[np.float32],
    first: int,
    last: int,
) -> None: ...
def apply(
    rows: PulledRows,
    x: NDArray[np.float32],
    scaled: NDArray[np.float32],
    out: NDArray[np.float32],
    other: NDArray[np.float32],
    sums: NDArray[np.float64],
    cancelled: NDArray[np.uint8],
    first: int,
    last: int,
) -> None: ...
def advance(
    z: NDArray[np.float32],
    a: float,
    p: NDArray[np.float32],
    b: float,
    scaled: NDArray[np.float32],
    r: NDArray[np.float32],
    s: NDArray[np.float32],
    t: NDArray[np.float32],
    other: NDArray[np.float32],
    sums: NDArray[np.float64],
    first: int,
    last: int,
) -> None: ...
