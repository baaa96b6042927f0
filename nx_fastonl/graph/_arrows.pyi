from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

@disjoint_base
class ArrowView:
    def __init__(
        self,
        codes: NDArray[Any],
        out_weights: NDArray[Any],
        in_weights: NDArray[Any],
        out_degrees: NDArray[Any],
        in_degrees: NDArray[Any],
    ) -> None: ...

def both_ways(
    indptr: NDArray[np.integer], indices: NDArray[np.integer], weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8], NDArray[np.float64], NDArray[np.float64]]: ...
def count_arcs(
    indptr: NDArray[np.integer], codes: NDArray[np.uint8]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
