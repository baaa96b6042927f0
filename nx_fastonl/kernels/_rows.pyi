from typing import final

import numpy as np
from numpy.typing import NDArray

from nx_fastonl.kernels._scaling import Scaling
from nx_fastonl.push._rows import RowBlock, RowPlan
from nx_fastonl.push._system import SystemView
from nx_fastonl.push._workspace import Workspace

@final
class Certifier:
    def __init__(
        self, shift: float, slope: float, largest_s: float, rounding: float, c: NDArray[np.float64] | None = None
    ) -> None: ...
    def reserve(self, size: int) -> None: ...

def kernel_rows(
    system: SystemView,
    scaling: Scaling,
    work: Workspace,
    block: RowBlock,
    sources: NDArray[np.int32],
    plan: RowPlan,
    a: float,
    certifier: Certifier | None,
) -> int: ...
