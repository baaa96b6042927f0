import numpy as np
from numpy.typing import NDArray

from nx_fastonl.graph._view import GraphView

def reachable(view: GraphView, sources: NDArray[np.int32], most: int) -> NDArray[np.int32] | None: ...
