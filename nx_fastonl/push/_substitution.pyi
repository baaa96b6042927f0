import numpy as np
from numpy.typing import NDArray

from nx_fastonl.push._system import SystemView

def peel(system: SystemView) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]: ...
def settle(
    system: SystemView, nodes: NDArray[np.int32], estimate: NDArray[np.float64], residual: NDArray[np.float64]
) -> None: ...
def substitute(
    system: SystemView,
    nodes: NDArray[np.int32],
    values: NDArray[np.float64],
    estimate: NDArray[np.float64],
    residual: NDArray[np.float64],
) -> None: ...
