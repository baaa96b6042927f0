"""Edges in Parquet files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.checks import cut, shortened
from nx_fastonl._lib.limits import WEIGHT_RANGE, allowed_weights
from nx_fastonl._lib.parquet import ParquetTable
from nx_fastonl._lib.streams import Source, Stream
from nx_fastonl.graph._gathered import GatheredEdges
from nx_fastonl.graph.edgelayout import Columns, known_columns
from nx_fastonl.graph.ends import Utf8, arrow_utf8

# How a file begins.
MAGIC = b"PAR1"
# The types of texts. Older versions do not know all of them.
TEXTS = ("string", "large_string", "string_view")
# Rows of a table that are in memory at once, at most.
BATCH_ROWS = 1 << 16


def read_parquet(source: Source, stream: Stream, columns: Columns | None, edges: GatheredEdges) -> None:
    """Gather the rows of a table with two columns of integers or texts and, optionally, weights."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise ImportError(f"{source.name} is in Parquet, which needs pyarrow: pip install pyarrow") from error

    try:
        table = ParquetTable(source.file if isinstance(source.file, Path) else stream.text.read())
        chosen = _chosen(table.schema.names, columns)
        _check_types([table.schema.field(name).type for name in chosen], chosen)
        edges.begin_file(len(chosen) == 3)
        row = 0
        for arrays in table.batches(chosen, BATCH_ROWS):
            _add_batch(arrays, chosen, row, edges)
            row += len(arrays[0])
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"not a Parquet file that can be read: {error}") from error


def _chosen(names: list[str], columns: Columns | None) -> list[str]:
    """The names of the columns of source, target and, if there is one, weight."""
    if columns is None:
        known = known_columns(names)
        if known is not None:
            return [names[column] for column in known if column >= 0]
        if len(names) != 2:
            raise ValueError(
                f"which of the columns {cut(', '.join(names))} are the ends of an edge? columns=(..., ...) says so"
            )
        columns = names
    found = [names[column] if isinstance(column, int) and column < len(names) else column for column in columns]
    for name in found:
        if isinstance(name, int):
            raise ValueError(f"no column {name}: columns count from 0, and these are {cut(', '.join(names))}")
        if names.count(str(name)) != 1:
            raise ValueError(f"one column named {shortened(name)} is wanted, among {cut(', '.join(names))}")
    return [str(name) for name in found]


def _add_batch(arrays: list[Any], names: list[str], row: int, edges: GatheredEdges) -> None:
    import pyarrow as pa

    for array, name in zip(arrays, names, strict=True):
        if array.null_count:
            at = row + array.is_null().to_pylist().index(True)
            raise ValueError(f"row {at}: column {name} is empty")
    ends = [_plain(array) for array in arrays[:2]]
    weights = _weights(arrays[2].to_numpy(zero_copy_only=False), row) if len(arrays) == 3 else np.empty(0)
    if all(pa.types.is_integer(array.type) for array in ends):
        sources, targets = (array.to_numpy() for array in ends)
        edges.add_integers(sources, targets, weights)
    else:
        (source_data, source_offsets), (target_data, target_offsets) = (_texts(array, row) for array in ends)
        edges.add_texts(source_data, source_offsets, target_data, target_offsets, weights)


def _check_types(types: list[Any], names: list[str]) -> None:
    """Raise unless the ends are integers or texts, perhaps as categories, and the weights numbers."""
    import pyarrow as pa

    for kind, name in zip(types[:2], names, strict=False):
        values = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not (pa.types.is_integer(values) or str(values) in TEXTS):
            raise ValueError(f"column {name} must hold integers or texts, got {kind}")
    for kind in types[2:]:
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise ValueError(f"column {names[2]} must hold numbers, got {kind}")


def _plain(array: Any) -> Any:
    """Integers of 64 bits, or texts."""
    import pyarrow as pa

    if pa.types.is_integer(array.type):
        try:
            return array.cast(pa.int64())
        except pa.ArrowInvalid:  # too large
            pass
    return array.cast(pa.large_string())


def _texts(array: Any, row: int) -> Utf8:
    """The bytes of an array of texts, and where each begins; none of them is empty."""
    import pyarrow as pa

    array = array.cast(pa.large_string())
    array.validate(full=True)  # that it is UTF-8
    data, starts = arrow_utf8(array)
    if (starts[1:] == starts[:-1]).any():
        raise ValueError(f"row {row + int((starts[1:] == starts[:-1]).argmax())}: the name of a node is empty")
    return data, starts


def _weights(values: NDArray[Any], row: int) -> NDArray[np.float64]:
    weights = np.ascontiguousarray(values, dtype=np.float64)
    smallest, largest = WEIGHT_RANGE
    bad = ~((weights == 0) | ((weights >= smallest) & (weights <= largest)))
    if bad.any():
        at = int(bad.argmax())
        raise ValueError(f"row {row + at}: the weight {values[at]} must be {allowed_weights(False, or_zero=True)}")
    return weights
