from typing import final

import numpy as np
from numpy.typing import NDArray

from nx_fastonl.push._system import SystemView

@final
class PulledRows:
    order: NDArray[np.int32]
    ends: NDArray[np.int64]
    pivots: NDArray[np.float64]
    def __init__(self, system: SystemView, nodes: NDArray[np.int32], directed: bool) -> None: ...
    def fill(self, first: int, last: int) -> None: ...
