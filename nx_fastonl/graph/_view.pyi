from typing import Any

from numpy.typing import NDArray
from typing_extensions import disjoint_base

@disjoint_base
class GraphView:
    def __init__(
        self, starts: NDArray[Any], stops: NDArray[Any], indices: NDArray[Any], weights: Any, degrees: Any
    ) -> None: ...
