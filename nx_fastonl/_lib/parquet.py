"""Parquet files, read in batches that take bounded memory, whatever the file says of itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from nx_fastonl._lib.streams import check_expansion

__all__ = ["ParquetTable"]

# The texts of a batch take about this much, unless a single one takes more.
BATCH_BYTES = 1 << 25
# What a row takes at least, once it is read.
ROW_BYTES = 8
PLAINLY = "write it without dictionaries and compression"


class ParquetTable:
    """A table in a Parquet file. Needs pyarrow.

    A few kilobytes may stand for gigabytes: a text that all rows share is stored once, and equal rows are only counted.
    So batches have few rows where there is a long text, and a file that expands too much is refused.

    Attributes
    ----------
    schema : pyarrow.Schema
        The columns and their types.
    """

    def __init__(self, file: Path | bytes) -> None:
        """Raises what pyarrow raises for a file that it cannot read, and ImportError without pyarrow."""
        pa, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        self._size = len(file) if isinstance(file, bytes) else file.stat().st_size
        self._open: Callable[..., Any] = lambda **options: parquet.ParquetFile(
            pa.BufferReader(file) if isinstance(file, bytes) else file, **options
        )
        self._file = self._open()
        self.schema = self._file.schema_arrow

    def batches(self, columns: Sequence[str], most_rows: int) -> Iterator[list[Any]]:
        """The arrays of these columns, for so many rows at a time or fewer. Categories become their values.

        Raises ExpansionError if they take far more memory than the file.
        """
        expanded = ROW_BYTES * self._file.metadata.num_rows
        self._check(expanded)
        texts = self._texts(columns)
        by_dictionary = self._open(read_dictionary=texts)
        for group in range(self._file.num_row_groups):
            longest = self._longest_repeated(by_dictionary, group, texts) if texts else 0
            n_rows = max(1, min(most_rows, BATCH_BYTES // max(longest, 1)))
            for batch in self._file.iter_batches(n_rows, row_groups=[group], columns=list(columns)):
                arrays = [_values(batch.column(name)) for name in columns]
                expanded += sum(array.nbytes for array in arrays)
                self._check(expanded)
                yield arrays

    def _check(self, expanded: int) -> None:
        check_expansion(expanded, self._size, PLAINLY)

    def _texts(self, columns: Sequence[str]) -> list[str]:
        """Those of the columns whose values may have any length."""
        schema = self._file.schema
        kinds = {schema.column(i).path: schema.column(i).physical_type for i in range(len(schema))}
        return [name for name in columns if kinds.get(name) == "BYTE_ARRAY"]

    def _longest_repeated(self, by_dictionary: Any, group: int, texts: list[str]) -> int:
        """The length of the longest text that this group of rows stores once for several rows.

        Such texts stand at the beginning of each column, so a file that is read `by_dictionary` gives all of them with
        the first row. Others are stored as often as they occur, and their sizes are known without reading them.
        """
        metadata = self._file.metadata.row_group(group)
        for i in range(metadata.num_columns):
            column = metadata.column(i)
            if column.path_in_schema in texts:
                self._check(column.total_uncompressed_size)
        first = next(by_dictionary.iter_batches(1, row_groups=[group], columns=texts), None)
        if first is None:
            return 0
        repeated = [getattr(column, "dictionary", column) for column in first.columns]
        compute = import_module("pyarrow.compute")
        return max((compute.max(compute.binary_length(values)).as_py() or 0 for values in repeated), default=0)


def _values(array: Any) -> Any:
    """The values of an array of categories, nulls among the categories too. Arrow has no cast for those of polars."""
    categories = getattr(array, "dictionary", None)
    if categories is None:
        return array
    pa = import_module("pyarrow")
    if str(categories.type) in ("string", "string_view"):
        categories = categories.cast(pa.large_string())
    return categories.take(array.indices)
