from typing import Self, final

from nx_fastonl.graph._gathered import GatheredEdges

class LineError(ValueError): ...

@final
class EdgeTokenizer:
    def __new__(
        cls,
        delimiter: int,
        comments: bytes,
        columns: tuple[int, int, int] = (0, 1, -1),
        width: int = 0,
        skips_first: bool = False,
        line: int = 1,
    ) -> Self: ...
    @property
    def line(self) -> int: ...
    @property
    def comments_among_edges(self) -> int: ...
    @property
    def first_comment_line(self) -> int: ...
    def read(self, text: bytearray, size: int, is_last: bool, edges: GatheredEdges) -> int: ...
    def sample(self, text: bytearray | memoryview, is_last: bool, most: int) -> list[tuple[int, list[bytes]]]: ...

def shown(text: bytes, start: int, stop: int) -> str: ...
