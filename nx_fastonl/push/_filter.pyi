from typing import Any, final

import numpy as np
from numpy.typing import NDArray

@final
class NodeFilter:
    exclude_neighbors: bool
    def __init__(
        self, marks: NDArray[np.uint8] = ..., allowed_mark: int = ..., *, exclude_neighbors: bool = ...
    ) -> None: ...
    def allows(self, rows: NDArray[Any]) -> NDArray[np.bool_]: ...
