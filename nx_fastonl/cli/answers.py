"""Where the answer of a command goes: a table to a file or to standard output, a line about it to standard error."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nx_fastonl._lib.files import write_file
from nx_fastonl.cli.formats import TableError, format_of
from nx_fastonl.cli.render import records_of, render
from nx_fastonl.cli.screen import say_json, tell, write


class UsageError(Exception):
    """Arguments that do not go together."""


class Output(NamedTuple):
    """The file of the table (None for standard output), its format, and whether JSON goes to standard output."""

    path: Path | None
    file_format: str
    json: bool


class Answer(NamedTuple):
    """A table, what else there is to report, and a line about both for people."""

    columns: Mapping[str, Sequence[Any]]
    report: dict[str, Any]
    message: str


def output_of(arguments: Any) -> Output:
    """Where the answer goes. Called before the work begins, so that wrong arguments are reported at once."""
    if arguments.output != "-":
        path = Path(arguments.output)
        check_folder(path)
        file_format = arguments.format or format_of(arguments.output)
        if file_format is None:
            raise UsageError(f"the suffix of {path} names no known format: add --format csv, tsv, json or parquet")
        return Output(path, file_format, arguments.json)
    if arguments.json and arguments.format:
        raise UsageError("--json prints to standard output: with --format, name a file with --output")
    if arguments.format == "parquet" and sys.stdout.isatty():
        raise UsageError("Parquet is a binary format, which a terminal cannot show: name a file with --output")
    return Output(None, arguments.format or "csv", arguments.json)


def check_folder(path: Path) -> None:
    """Raise an error if a file cannot be written because its folder is missing or it is itself a folder."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(path.parent))


def check_new_folder(path: Path) -> None:
    """Raise an error if a folder cannot be made because the one around it is missing, or a file has its name."""
    if path.exists() and not path.is_dir():
        raise FileExistsError(errno.EEXIST, "this is a file; name a folder, which may not exist yet", str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(path.parent))


def deliver(answer: Answer, output: Output, name: str) -> None:
    """Write the table and the report. In JSON on standard output, the table is in the report under this name."""
    if output.path is not None:
        write_file(output.path, _rendered(answer, output))
    elif not output.json:
        write(_rendered(answer, output))
    if output.json:
        table = {"output": str(output.path)} if output.path is not None else {name: records_of(answer.columns)}
        say_json({**answer.report, **table})
    else:
        tell(answer.message)


def _rendered(answer: Answer, output: Output) -> bytes:
    try:
        return render(answer.columns, output.file_format)
    except TableError as error:
        raise TableError(f"{output.path or 'standard output'}: {error}") from error
