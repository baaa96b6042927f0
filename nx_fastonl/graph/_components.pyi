import numpy as np
from numpy.typing import NDArray

from nx_fastonl.graph._view import GraphView

def component_numbers(view: GraphView, symmetric: bool) -> NDArray[np.int32]: ...
def count_self_loops(view: GraphView) -> int: ...
