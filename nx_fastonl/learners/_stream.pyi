import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

from nx_fastonl.learners._history import LabelHistory

@disjoint_base
class Engine:
    def __init__(self, history: LabelHistory) -> None: ...

def run(
    engine: Engine,
    nodes: NDArray[np.int32],
    labels: NDArray[np.int32],
    draws: NDArray[np.float64],
    predicted: NDArray[np.int32],
) -> None: ...
def learn(engine: Engine, u: int, y: int) -> None: ...
def forget(engine: Engine, u: int) -> None: ...
