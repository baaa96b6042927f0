from collections.abc import Iterable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from nx_fastonl.graph._names import IntegerTable, TextTable

INTEGERS_PER_EDGE: int

@final
class GatheredEdges:
    def __init__(self, chunk_size: int) -> None: ...
    @property
    def count(self) -> int: ...
    def begin_file(self, is_weighted: bool) -> None: ...
    def add_integers(
        self, sources: NDArray[np.int64], targets: NDArray[np.int64], weights: NDArray[np.float64]
    ) -> None: ...
    def add_texts(
        self,
        source_data: NDArray[np.uint8],
        source_offsets: NDArray[np.int64],
        target_data: NDArray[np.uint8],
        target_offsets: NDArray[np.int64],
        weights: NDArray[np.float64],
    ) -> None: ...
    def add_nodes(self, names: Iterable[bytes]) -> None: ...
    def has_text(self, text: bytes) -> bool: ...
    def finish(
        self,
    ) -> tuple[
        list[tuple[NDArray[Any], NDArray[Any], NDArray[np.float64] | None]], int | NDArray[np.int64] | TextTable
    ]: ...

def number_pairs(table: IntegerTable, sources: NDArray[np.int32], targets: NDArray[np.int32]) -> None: ...
def numbered_by_bitmap(
    chunks: list[tuple[NDArray[Any], NDArray[Any], NDArray[np.float64] | None]],
    further: NDArray[np.int32],
    largest: int,
) -> int | NDArray[np.int64]: ...
def mark(seen: NDArray[np.uint64], values: NDArray[np.int32]) -> None: ...
def replace_by_rank(seen: NDArray[np.uint64], ranks: NDArray[np.int32], values: NDArray[np.int32]) -> None: ...
def marked(seen: NDArray[np.uint64], n: int) -> NDArray[np.int64]: ...
