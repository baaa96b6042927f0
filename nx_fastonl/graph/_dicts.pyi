from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

def arrays_from_adjacency(
    adjacency: Mapping[Hashable, Mapping[Hashable, Any]], weight: str | None, multigraph: bool
) -> tuple[Sequence[Hashable], NDArray[np.int64], NDArray[np.int32], NDArray[np.float64] | None]: ...
def some_edges(
    adjacency: Mapping[Hashable, Mapping[Hashable, Any]], multigraph: bool, max_edges: int
) -> tuple[list[Any], bool]: ...
def have_weights(edges: list[Any], weight: str | None, values: list[Any]) -> bool: ...
def dict_from_arrays(
    nodes: Sequence[Hashable], ids: NDArray[np.int32], values: NDArray[np.float64]
) -> dict[Hashable, float]: ...
