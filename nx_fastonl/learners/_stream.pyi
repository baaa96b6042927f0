import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

from nx_fastonl.learners._history import LabelHistory
from nx_fastonl.learners._relaxation import GradientStore

@disjoint_base
class Engine:
    def __init__(self, gradients: GradientStore) -> None: ...

def run(
    engine: Engine,
    history: LabelHistory,
    nodes: NDArray[np.int32],
    scales: NDArray[np.float64],
    labels: NDArray[np.int32],
    draws: NDArray[np.float64],
    predicted: NDArray[np.int32],
) -> None: ...
def learn(
    engine: Engine,
    history: LabelHistory,
    scores: NDArray[np.float64],
    u: int,
    y: int,
    *,
    s: float,
    diagonal: float,
    independent: bool,
) -> None: ...
def forget(engine: Engine, history: LabelHistory, scores: NDArray[np.float64], u: int, *, diagonal: float) -> None: ...
