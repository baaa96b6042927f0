from typing import Any

from numpy.typing import NDArray
from typing_extensions import disjoint_base

from nx_fastonl.graph._arrows import ArrowView

@disjoint_base
class GraphView:
    def __init__(
        self,
        starts: NDArray[Any],
        stops: NDArray[Any],
        indices: NDArray[Any],
        weights: Any,
        degrees: Any,
        arrows: ArrowView = ...,
    ) -> None: ...
