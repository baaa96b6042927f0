"""The formats of tables, and the error of a table that cannot be read or written."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

FORMATS = ("csv", "tsv", "json", "parquet")
SEPARATORS = {"csv": ",", "tsv": "\t"}


class TableError(ValueError):
    """A file that does not hold what it should. The message names the file and, if there is one, the line."""


def format_of(path: str) -> str | None:
    """The format that the suffix of a file names; None for an unknown suffix."""
    suffix = Path(path).suffix.lower().removeprefix(".")
    return suffix if suffix in FORMATS else None


def pyarrow_module(name: str) -> Any:
    """A module of pyarrow, which reads and writes Parquet."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: pip install pyarrow") from error
