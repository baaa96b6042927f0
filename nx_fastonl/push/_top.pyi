from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nx_fastonl.push._filter import NodeFilter
from nx_fastonl.push._system import SystemView
from nx_fastonl.push._workspace import Workspace

_Residuals: TypeAlias = tuple[float, float, float]

def survey(
    system: SystemView, work: Workspace, allowed: NodeFilter, k: int, with_rounding: bool
) -> tuple[NDArray[np.float64], NDArray[np.int32], _Residuals, _Residuals, float, int, int, int]: ...
def rivals(
    system: SystemView, work: Workspace, allowed: NodeFilter, floor: float, most: float, offset: float, slope: float
) -> NDArray[np.int32]: ...
def roundings(system: SystemView, rows: NDArray[np.int32]) -> NDArray[np.float64]: ...
def recompute(system: SystemView, work: Workspace, sources: NDArray[np.int32], masses: NDArray[np.float64]) -> None: ...
