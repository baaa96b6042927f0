"""Matrix Market files. scipy's reader of them ends the process at some files that are damaged."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from nx_fastonl._lib.checks import cut
from nx_fastonl._lib.streams import Progress, Stream
from nx_fastonl.graph._edgefile import EdgeTokenizer, LineError
from nx_fastonl.graph._gathered import GatheredEdges
from nx_fastonl.graph.edgeblocks import TextBlocks
from nx_fastonl.graph.edgelayout import Columns

# How a file begins, in small letters.
MAGIC = b"%%matrixmarket"
FIRST_LINE = re.compile(
    r"%%matrixmarket +matrix +coordinate +(pattern|real|double|integer) +(general|symmetric)", re.IGNORECASE
)
SIZE_LINE = re.compile(rb"([0-9]{1,10})[ \t]+([0-9]{1,10})[ \t]+([0-9]{1,18})")
MAX_LINE = 1 << 16
# So many rows may have no entries: a few bytes must not ask for all memory.
MAX_EMPTY_ROWS = 10_000_000


def read_matrix_market(stream: Stream, columns: Columns | None, edges: GatheredEdges, progress: Progress) -> str:
    """Gather the entries of a square matrix; return its symmetry: "general", or "symmetric", which lists half of them.

    Its rows are numbered from 1, as in the file, and may be empty.
    """
    file: Any = stream.text
    first = file.readline(MAX_LINE).decode("utf-8", "backslashreplace").strip()
    found = FIRST_LINE.fullmatch(first)
    if not found:
        raise LineError(
            f"line 1: {cut(first)}; expected a matrix in coordinate format, pattern, real or integer, and general or "
            "symmetric. CSRGraph.from_scipy takes what scipy.io.mmread makes of others"
        )
    line, text = 2, file.readline(MAX_LINE)
    while text.startswith(b"%") or (text and not text.strip()):
        line, text = line + text.endswith(b"\n"), file.readline(MAX_LINE)
    size = SIZE_LINE.fullmatch(text.strip())
    if not size:
        shown = cut(text.decode("utf-8", "backslashreplace").strip())
        raise LineError(f"line {line}: expected the numbers of rows, columns and entries, got {shown!r}")
    n, width, count = map(int, size.groups())
    if n != width:
        raise LineError(f"line {line}: an adjacency matrix is square, got {n} rows and {width} columns")
    if n > 2 * count + MAX_EMPTY_ROWS or n >= 2**31 - 1:
        raise LineError(
            f"line {line}: {n} rows with {count} entries; write them as a list of edges, without empty rows"
        )
    has_values = found[1].lower() != "pattern"
    is_weighted = has_values and (columns is None or len(columns) == 3)
    edges.begin_file(is_weighted)
    tokenizer = EdgeTokenizer(
        ord(" "), b"%", (0, 1, 2 if is_weighted else -1), width=3 if has_values else 2, line=line + 1
    )
    TextBlocks(stream, progress).read_all(tokenizer, edges)
    if edges.count != count:
        raise ValueError(f"{edges.count} entries, but {count} are announced in line {line}; is the file complete?")
    ends = edges.small_ends()
    if ends is None or ends[0] < 1 or ends[1] > n:
        raise ValueError(f"rows and columns must be numbered from 1 to {n}, as line {line} says")
    edges.add_small_nodes(np.arange(1, n + 1, dtype=np.int32))
    return found[2].lower()
