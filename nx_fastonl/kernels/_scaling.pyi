from typing import final

import numpy as np
from numpy.typing import NDArray

from nx_fastonl.graph._view import GraphView

@final
class Scaling:
    def __init__(
        self, graph: GraphView, isolated: float, S: NDArray[np.float64] | None = None, constant: float = ...
    ) -> None: ...
