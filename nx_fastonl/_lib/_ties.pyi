import numpy as np
from numpy.typing import NDArray

def with_ties(values: NDArray[np.float64], gap: float) -> NDArray[np.float64]: ...
