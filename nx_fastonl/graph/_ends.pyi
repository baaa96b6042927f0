import numpy as np
from numpy.typing import NDArray

from nx_fastonl.graph._names import IntegerTable, TextTable

def number_texts(
    table: TextTable,
    source_data: NDArray[np.uint8],
    source_offsets: NDArray[np.int64],
    target_data: NDArray[np.uint8],
    target_offsets: NDArray[np.int64],
    sources: NDArray[np.int32],
    targets: NDArray[np.int32],
) -> None: ...
def find_texts(
    table: TextTable, data: NDArray[np.uint8], offsets: NDArray[np.int64], rows: NDArray[np.int32]
) -> None: ...
def number_integers(
    table: IntegerTable,
    source_values: NDArray[np.int64],
    target_values: NDArray[np.int64],
    sources: NDArray[np.int32],
    targets: NDArray[np.int32],
) -> None: ...
