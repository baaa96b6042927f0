from collections.abc import Callable
from typing import final

import numpy as np
from numpy.typing import NDArray

from nx_fastonl.kernels._scaling import Scaling
from nx_fastonl.learners._history import LabelHistory
from nx_fastonl.learners._relaxation import GradientStore, RelaxationEngine
from nx_fastonl.push._system import SystemView
from nx_fastonl.push._workspace import Workspace

@final
class PushEngine(RelaxationEngine):
    def __init__(
        self,
        history: LabelHistory,
        gradients: GradientStore,
        system: SystemView,
        scaling: Scaling,
        work: Workspace,
        epsilon: float,
        a: float,
        max_edges: int,
        exact_column: Callable[[int], tuple[NDArray[np.int32], NDArray[np.float64]] | None],
    ) -> None: ...

@final
class RowEngine(RelaxationEngine):
    def __init__(
        self,
        history: LabelHistory,
        gradients: GradientStore,
        row_scores: NDArray[np.float64],
        nodes: NDArray[np.int32],
        values: NDArray[np.float64],
    ) -> None: ...
