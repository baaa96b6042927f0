from collections.abc import Callable
from typing import final

import numpy as np
from numpy.typing import NDArray

from nx_fastonl.push._system import SystemView
from nx_fastonl.push._workspace import Workspace

@final
class Effort:
    operations: int
    pushes: int
    epochs: int
    decay: float
    max_operations: int
    def __init__(
        self, max_operations: int, max_epochs: int, cancelled: NDArray[np.uint8], operations: int = 0
    ) -> None: ...

def push(
    system: SystemView,
    work: Workspace,
    effort: Effort,
    *,
    first_epsilon: float,
    epsilon: float,
    omega: float,
    target: float,
    measure: bool,
) -> bool: ...
def column(
    system: SystemView,
    work: Workspace,
    source: int,
    epsilon: float,
    max_edges: int,
    exact_column: Callable[[int], tuple[NDArray[np.int32], NDArray[np.float64]] | None],
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]: ...
def diagonal(
    system: SystemView,
    work: Workspace,
    sources: NDArray[np.int32],
    epsilons: NDArray[np.float64],
    entries: NDArray[np.float64],
    masses: NDArray[np.float64],
) -> None: ...
def residual(
    system: SystemView,
    work: Workspace,
    source: int,
    nodes: NDArray[np.int32],
    estimate: NDArray[np.float64],
    c: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
