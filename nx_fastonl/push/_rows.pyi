from typing import final

import numpy as np
from numpy.typing import NDArray

from nx_fastonl.push._filter import NodeFilter
from nx_fastonl.push._system import SystemView
from nx_fastonl.push._workspace import Workspace

@final
class RowBlock:
    n_rows: int
    def __init__(self, n_rows: int, n_values: int) -> None: ...
    def reserve(self, n_values: int) -> None: ...
    def add(self, columns: NDArray[np.int32], values: NDArray[np.float64], error: float) -> None: ...
    def arrays(
        self,
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]: ...

@final
class RowPlan:
    top_k: int
    def __init__(
        self,
        epsilon: float,
        first_epsilon_factor: float,
        omega: float,
        cancelled: NDArray[np.uint8],
        *,
        target: float = ...,
        max_operations: int = ...,
        top_k: int | None = ...,
        allowed: NodeFilter = ...,
    ) -> None: ...

def pagerank_rows(
    system: SystemView,
    work: Workspace,
    block: RowBlock,
    sources: NDArray[np.int32],
    plan: RowPlan,
    damping: float,
    rounding: float,
    counts: NDArray[np.int32],
    tol: float = ...,
) -> int: ...
