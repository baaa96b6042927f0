import numpy as np
from numpy.typing import NDArray

from nx_fastonl.push._pulled import PulledRows

def update_directions(
    rows: PulledRows,
    r: NDArray[np.float64],
    p: NDArray[np.float64],
    betas: NDArray[np.float64],
    first: int,
    last: int,
) -> None: ...
def multiply(
    rows: PulledRows,
    p: NDArray[np.float64],
    q: NDArray[np.float64],
    sums: NDArray[np.float64],
    first: int,
    last: int,
) -> None: ...
def advance(
    rows: PulledRows,
    x: NDArray[np.float64],
    r: NDArray[np.float64],
    p: NDArray[np.float64],
    q: NDArray[np.float64],
    alphas: NDArray[np.float64],
    sums: NDArray[np.float64],
    first: int,
    last: int,
) -> None: ...
def residual_and_energy(
    rows: PulledRows,
    b: NDArray[np.float64],
    x: NDArray[np.float64],
    r: NDArray[np.float64],
    slack: NDArray[np.float64],
    sums: NDArray[np.float64],
    first: int,
    last: int,
) -> None: ...
def add_node_currents(
    rows: PulledRows,
    x: NDArray[np.float64],
    ends: NDArray[np.int32],
    currents: NDArray[np.float64],
    first: int,
    last: int,
) -> None: ...
def tree_energy(
    order: NDArray[np.int32],
    parents: NDArray[np.int32],
    resistances: NDArray[np.float64],
    flows: NDArray[np.float64],
    slack: NDArray[np.float64],
) -> NDArray[np.float64]: ...
