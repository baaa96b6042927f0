from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from nx_fastonl.push._system import SystemView
from nx_fastonl.push._workspace import Workspace

@final
class KeptVector:
    work: Workspace
    mass: float
    rounding: float
    least_rounding: float
    dead: float
    volume: int
    epsilon: float
    settled: bool
    reached: Any
    def __init__(self, n: int) -> None: ...
    def add_rows(self, n: int) -> None: ...
    def follow(
        self,
        system: SystemView,
        changes: NDArray[np.void],
        directed: bool,
        forgotten: NDArray[np.int32],
        sources: NDArray[np.int32],
        masses: NDArray[np.float64],
        degree_roundings: int,
        reached: Any,
    ) -> None: ...
    def recompute(
        self,
        system: SystemView,
        sources: NDArray[np.int32],
        masses: NDArray[np.float64],
        degree_roundings: int,
        reached: object,
    ) -> None: ...
    def clear(self) -> None: ...
    def accept(self, epsilon: float) -> None: ...
    def settle_around(self, system: SystemView, nodes: NDArray[np.int32], max_operations: int) -> None: ...
    def start_from(self, nodes: NDArray[np.int32], estimate: NDArray[np.float64]) -> None: ...
    def settle_all(self, system: SystemView, epsilon: float, max_operations: int = ...) -> None: ...
    def value(self, system: SystemView, u: int) -> float: ...
    def values(self, system: SystemView) -> tuple[NDArray[np.int32], NDArray[np.float64]]: ...
    def dense(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
