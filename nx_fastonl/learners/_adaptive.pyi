from typing import final

import numpy as np
from numpy.typing import NDArray

from nx_fastonl.graph._view import GraphView
from nx_fastonl.learners._diffusion import DiffusionRun
from nx_fastonl.learners._history import LabelHistory
from nx_fastonl.learners._mixture import Mixture
from nx_fastonl.learners._neighbors import NeighborCounts
from nx_fastonl.learners._stream import Engine
from nx_fastonl.push._system import SystemView

FREQUENCY_SHARE: float
ROUNDING: float

@final
class DiffusionExpert:
    def n_features(self) -> int: ...
    def __init__(
        self,
        run: DiffusionRun,
        unlearned: SystemView,
        absorption: float,
        label_mass: NDArray[np.float64],
        others: DiffusionExpert | None,
    ) -> None: ...

@final
class AdaptiveEngine(Engine):
    def __init__(
        self,
        history: LabelHistory,
        graph: GraphView,
        counts: NeighborCounts,
        mixture: Mixture,
        diffusions: DiffusionExpert | None,
        places: NDArray[np.intp],
        joining: bool = False,
    ) -> None: ...
    def tell(self, probabilities: NDArray[np.float64]) -> None: ...
    def forecasts(
        self,
        nodes: NDArray[np.int32],
        probabilities: NDArray[np.float64],
        labels: NDArray[np.int32],
        reached: NDArray[np.uint8],
    ) -> None: ...
    def forecasts_joining(
        self,
        features: NDArray[np.float64],
        probabilities: NDArray[np.float64],
        labels: NDArray[np.int32],
        reached: NDArray[np.uint8],
    ) -> None: ...
    def features_of(self, u: int) -> NDArray[np.float64]: ...
    def features_without(self, nodes: NDArray[np.int32], features: NDArray[np.float64]) -> None: ...

def calibrate(engine: AdaptiveEngine, features: NDArray[np.float64], labels: NDArray[np.int32], told: bool) -> None: ...
def take_back(engine: AdaptiveEngine, nodes: NDArray[np.int32], mixture: Mixture, k: int) -> None: ...
