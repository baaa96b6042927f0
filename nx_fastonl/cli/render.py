"""Tables that go out, as CSV, TSV, JSON or Parquet."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from nx_fastonl._lib.checks import shortened
from nx_fastonl.cli.formats import SEPARATORS, TableError, pyarrow_module

__all__ = ["line_of", "records_of", "render"]


def render(columns: Mapping[str, Sequence[Any]], file_format: str) -> bytes:
    """The content of a file with this table.

    Parameters
    ----------
    columns : dict
        ``{name: values}``. None becomes an empty cell in CSV and TSV, null in JSON and Parquet.
    file_format : str
        One of `FORMATS`. JSON is a list of objects, one per row; Parquet needs pyarrow.

    Returns
    -------
    bytes

    Raises
    ------
    ImportError
        If pyarrow is needed and not installed.
    TableError
        If a column holds values that Parquet cannot store in one column, or a text that UTF-8 cannot hold.
    """
    if file_format == "parquet":
        return _parquet(columns)
    text = _json(records_of(columns)) if file_format == "json" else _lines(columns, SEPARATORS[file_format])
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise TableError(_unwritable(columns)) from error


def records_of(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """The rows of a table, each as a dict."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _unwritable(columns: Mapping[str, Sequence[Any]]) -> str:
    for name, values in columns.items():
        for i, value in enumerate(values, start=1):
            try:
                str(value).encode()
            except UnicodeEncodeError:
                return f"row {i}, column {name}: {shortened(value)} has half of a character, which cannot be written"
    return "a name of a column cannot be written"


def _lines(columns: Mapping[str, Sequence[Any]], separator: str) -> str:
    rows = chain([tuple(columns)], zip(*columns.values(), strict=True))
    return "".join(line_of(row, separator) for row in rows)


def line_of(row: Sequence[Any], separator: str) -> str:
    """A row of CSV or TSV, with its end."""
    return separator.join(_cell(value, separator) for value in row) + "\n"


def _cell(value: Any, separator: str) -> str:
    text = "" if value is None else str(value)
    # Without quotes, a line that begins with # would be read as a comment.
    if text.startswith("#") or any(mark in text for mark in (separator, '"', "\n", "\r")):
        return '"' + text.replace('"', '""') + '"'
    return text


def _json(records: list[dict[str, Any]]) -> str:
    """One record per line."""
    lines = ",\n".join(json.dumps(record, ensure_ascii=False, default=str) for record in records)
    return f"[\n{lines}\n]\n" if records else "[]\n"


def _parquet(columns: Mapping[str, Sequence[Any]]) -> bytes:
    pyarrow, parquet = pyarrow_module("pyarrow"), pyarrow_module("pyarrow.parquet")
    arrays = {}
    for name, values in columns.items():
        try:
            arrays[name] = pyarrow.array(list(values))
        except UnicodeEncodeError as error:
            raise TableError(_unwritable(columns)) from error
        except (OverflowError, TypeError, ValueError) as error:
            raise TableError(f"Parquet cannot hold column {name} ({error}); csv and json can") from error
    content = io.BytesIO()
    parquet.write_table(pyarrow.table(arrays), content)
    return content.getvalue()
