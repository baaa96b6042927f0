"""Edges in Parquet files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.checks import cut, shortened
from nx_fastonl._lib.limits import WEIGHT_RANGE, allowed_weights
from nx_fastonl._lib.streams import Source, Stream
from nx_fastonl.graph._gathered import GatheredEdges
from nx_fastonl.graph.edgelayout import Columns, known_columns
from nx_fastonl.graph.ends import Utf8, arrow_utf8

# How a file begins.
MAGIC = b"PAR1"
# Rows of a table that are in memory at once.
BATCH_ROWS = 1 << 18


def read_parquet(source: Source, stream: Stream, columns: Columns | None, edges: GatheredEdges) -> None:
    """Gather the rows of a table with two columns of integers or texts and, optionally, weights."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(f"{source.name} is in Parquet, which needs pyarrow: pip install pyarrow") from error

    try:
        stored = source.file if isinstance(source.file, Path) else pa.BufferReader(stream.text.read())
        table = parquet.ParquetFile(stored)
        names = table.schema_arrow.names
        chosen = _chosen(names, columns)
        edges.begin_file(len(chosen) == 3)
        row = 0
        for batch in table.iter_batches(BATCH_ROWS, columns=chosen):
            _add_batch([batch.column(name) for name in chosen], chosen, row, edges)
            row += batch.num_rows
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
        if names.count(str(name)) != 1:
            raise ValueError(f"one column named {shortened(name)} is wanted, among {cut(', '.join(names))}")
    return [str(name) for name in found]


def _add_batch(arrays: list[Any], names: list[str], row: int, edges: GatheredEdges) -> None:
    import pyarrow as pa

    for array, name in zip(arrays, names, strict=True):
        if array.null_count:
            at = row + array.is_null().to_pylist().index(True)
            raise ValueError(f"row {at}: column {name} is empty")
    ends = [_plain(array, name) for array, name in zip(arrays[:2], names, strict=False)]
    weights = np.empty(0)
    if len(arrays) == 3:
        if not (pa.types.is_integer(arrays[2].type) or pa.types.is_floating(arrays[2].type)):
            raise ValueError(f"column {names[2]} must hold numbers, got {arrays[2].type}")
        weights = _weights(arrays[2].to_numpy(zero_copy_only=False), row)
    if all(pa.types.is_integer(array.type) for array in ends):
        sources, targets = (array.to_numpy() for array in ends)
        edges.add_integers(sources, targets, weights)
    else:
        (source_data, source_offsets), (target_data, target_offsets) = (_texts(array, row) for array in ends)
        edges.add_texts(source_data, source_offsets, target_data, target_offsets, weights)


def _plain(array: Any, name: str) -> Any:
    """Integers of 64 bits, or texts."""
    import pyarrow as pa

    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if pa.types.is_integer(kind):
        try:
            return array.cast(pa.int64())
        except pa.ArrowInvalid:  # too large
            return array.cast(kind).cast(pa.large_string())
    if str(kind) in ("string", "large_string", "string_view"):  # older versions do not know all of them
        return array.cast(pa.large_string())
    raise ValueError(f"column {name} must hold integers or texts, got {array.type}")


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
