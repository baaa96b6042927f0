import numpy as np
from numpy.typing import NDArray

from nx_fastonl.push._system import SystemView

ROWS_PER_CHUNK: int

def steps(
    system: SystemView,
    b: NDArray[np.floating],
    x: NDArray[np.floating],
    previous: NDArray[np.floating],
    omegas: NDArray[np.float64],
    cancelled: NDArray[np.uint8],
    first: int,
    last: int,
) -> None: ...
def residual(
    system: SystemView,
    b: NDArray[np.float64],
    x: NDArray[np.float64],
    out: NDArray[np.float64],
    sums: NDArray[np.float64],
    first: int,
    last: int,
) -> None: ...
