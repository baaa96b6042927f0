from typing import TypedDict, type_check_only

import numpy as np
from numpy.typing import NDArray

@type_check_only
class Totals(TypedDict):
    squares: float
    ones: float
    spent: float
    trace: float
    per_label: bool

def fill(psi: NDArray[np.float64], scratch: NDArray[np.float64], probabilities: NDArray[np.float64]) -> int: ...
def gradient(
    psi: NDArray[np.float64], y: int, scratch: NDArray[np.float64], gradient: NDArray[np.float64]
) -> float: ...
def psi(scores: NDArray[np.float64], diagonal: float, totals: Totals, psi: NDArray[np.float64]) -> None: ...
def keep(
    scores: NDArray[np.float64],
    y: int,
    diagonal: float,
    s: float,
    row: NDArray[np.float64],
    row_number: int,
    gradient_sum: NDArray[np.float64],
    totals: Totals,
    scratch: NDArray[np.float64],
    alone: bool,
) -> tuple[tuple[float, int, int], Totals]: ...
def best(
    scores: NDArray[np.float64], size: float, counts: NDArray[np.int64], appearances: NDArray[np.int64]
) -> int: ...
def best_of_each(
    scores: NDArray[np.float64],
    counts: NDArray[np.int64],
    appearances: NDArray[np.int64],
    found: NDArray[np.int32],
) -> None: ...
def drawn(psi: NDArray[np.float64], draw: float) -> int: ...
def add_gradients(
    nodes: NDArray[np.int32],
    values: NDArray[np.float64],
    marks: NDArray[np.void],
    rows: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> float: ...
def add_to_rows(
    nodes: NDArray[np.int32],
    values: NDArray[np.float64],
    gradient: NDArray[np.float64],
    rows: NDArray[np.float64],
) -> None: ...
