from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

from nx_fastonl.kernels._scaling import Scaling
from nx_fastonl.learners._history import LabelHistory
from nx_fastonl.learners._relaxation import GradientStore, RelaxationEngine
from nx_fastonl.push._system import SystemView
from nx_fastonl.push._workspace import Workspace

SLOT: np.dtype[np.void]

@final
class DiffusionStore:
    residuals: NDArray[Any]
    estimates: NDArray[Any]
    single: bool
    width: int
    n_slots: int
    n_additions: int
    n_pushes: int
    when_slow: Callable[[DiffusionStore, NDArray[np.int32], int, float, int], int]
    rate: float
    least_allowance: float
    largest_read_epsilon: float
    mass: float
    largest_theta: float
    n_nodes: int
    position: int
    def __init__(
        self,
        n: int,
        rate: float,
        least_allowance: float,
        largest_read_epsilon: float,
        single: bool,
        n_nodes: int = ...,
        position: int = ...,
    ) -> None: ...
    @property
    def lanes(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def slot_indices(self) -> NDArray[np.int32]: ...
    @property
    def theta(self) -> float: ...
    @property
    def unsettled_lanes(self) -> list[int]: ...
    def resize(self, slots: int, width: int) -> None: ...
    def reserve_slots(self, count: int) -> None: ...
    def reserve_labels(self, k: int) -> None: ...
    def add_rows(self, n: int) -> None: ...
    def repair(
        self,
        system: SystemView,
        unlearned: SystemView,
        pivots: NDArray[np.float64],
        absorption: float,
        history: LabelHistory,
        gradients: GradientStore | None,
        scaling: Scaling,
        changes: NDArray[Any],
        loops: float,
        position: int,
    ) -> bool: ...
    def recompute(
        self,
        system: SystemView,
        history: LabelHistory,
        gradients: GradientStore | None,
        position: int,
    ) -> None: ...
    def settle_around(self, system: SystemView, work: Workspace, nodes: NDArray[np.int32]) -> int: ...
    def settle(
        self, system: SystemView, work: Workspace, nodes: NDArray[np.int32], label: int, theta: float
    ) -> None: ...
    def resettle(self, system: SystemView, work: Workspace, label: int) -> None: ...
    def correct(
        self,
        system: SystemView,
        nodes: NDArray[np.int32],
        corrections: NDArray[np.float64],
        label: int,
        theta: float,
    ) -> float: ...
    def accept(self, theta: float, roundings: int = 0) -> None: ...
    def fill(
        self, system: SystemView, first: int, estimates: NDArray[np.float64], residuals: NDArray[np.float64]
    ) -> None: ...
    def place(self, system: SystemView, nodes: NDArray[np.int32], labels: NDArray[np.int32]) -> None: ...
    def count_sources(self, count: int, mass: float) -> None: ...
    def copy(self) -> DiffusionStore: ...
    def read_epsilon(self) -> float: ...
    def read(
        self,
        system: SystemView,
        work: Workspace,
        nodes: NDArray[np.int32],
        rows: NDArray[np.float64],
        diagonals: NDArray[np.float64],
    ) -> None: ...
    def read_with_bound(
        self,
        system: SystemView,
        work: Workspace,
        u: int,
        nodes: NDArray[np.int32],
        estimate: NDArray[np.float64],
        c: NDArray[np.float64],
        row: NDArray[np.float64],
    ) -> tuple[float, float]: ...

@final
class DiffusionRun:
    def __init__(
        self, system: SystemView, store: DiffusionStore, work: Workspace, pivots: NDArray[np.float64]
    ) -> None: ...

@disjoint_base
class DiffusionEngine(RelaxationEngine):
    def __init__(
        self, history: LabelHistory, gradients: GradientStore, diffusion: DiffusionRun, scaling: Scaling, a: float
    ) -> None: ...

@final
class PerceptronEngine(DiffusionEngine): ...

def learn_together(
    gradients: GradientStore,
    history: LabelHistory,
    system: SystemView,
    store: DiffusionStore,
    nodes: NDArray[np.int32],
    labels: NDArray[np.int32],
    s: NDArray[np.float64],
    energy: float,
    single_energy: float,
) -> None: ...
def restored(settings: Any, arrays: Any, unsettled: Any, counts: Any, sums: Any) -> DiffusionStore: ...
