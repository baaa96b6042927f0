import numpy as np
from numpy.typing import NDArray

from nx_fastonl.graph._view import GraphView
from nx_fastonl.learners._history import LabelHistory

def running_sums(graph: GraphView) -> NDArray[np.float64]: ...
def spanning_tree(
    graph: GraphView, cumulative: NDArray[np.float64], in_tree: NDArray[np.uint8], seed: int, max_steps: int
) -> NDArray[np.int64] | None: ...
def line_up(
    parents: NDArray[np.int32], weights: NDArray[np.float64]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]: ...
def occupy(occupied: NDArray[np.uint8], positions: NDArray[np.int32], nodes: NDArray[np.int32]) -> None: ...
def learn(
    history: LabelHistory,
    occupied: NDArray[np.uint8],
    positions: NDArray[np.int32],
    nodes: NDArray[np.int32],
    labels: NDArray[np.int32],
) -> None: ...
def forget(history: LabelHistory, occupied: NDArray[np.uint8], positions: NDArray[np.int32], u: int) -> None: ...
def vote(
    occupied: NDArray[np.uint8],
    order: NDArray[np.int32],
    positions: NDArray[np.int32],
    distances: NDArray[np.float64],
    begins: NDArray[np.int32],
    history: LabelHistory,
    u: int,
    votes: NDArray[np.float64],
) -> None: ...
