import numpy as np
from numpy.typing import NDArray

from nx_fastonl.graph._view import GraphView
from nx_fastonl.push._workspace import Workspace

def pushed_so_far(work: Workspace) -> tuple[NDArray[np.int32], NDArray[np.float64]]: ...
def sweep(
    view: GraphView,
    inside: NDArray[np.uint8],
    order: NDArray[np.int32],
    total: float,
    n_entries: int,
    max_volume: float = ...,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
