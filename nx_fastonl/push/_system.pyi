from typing import final

import numpy as np
from numpy.typing import NDArray

from nx_fastonl.graph._view import GraphView

@final
class SystemView(GraphView):
    def __init__(
        self, graph: GraphView, shift: float, slope: float, diagonal: NDArray[np.float64] | None = ...
    ) -> None: ...
