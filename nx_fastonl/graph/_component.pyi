import numpy as np
from numpy.typing import NDArray

from nx_fastonl.graph._view import GraphView

def component(view: GraphView, u: int, most: int) -> NDArray[np.int32] | None: ...
