"""What edge lists and tables of labels have in common: streams that are read, and the cells in lines of text."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from nx_fastonl._lib.files import errors_name
from nx_fastonl.cli.formats import TableError

STANDARD_STREAM = "-"


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """The file, or standard input for "-"."""
    if path == STANDARD_STREAM:
        if sys.stdin is None:
            raise TableError("standard input is closed")
        with errors_name(name_of(path)):
            yield sys.stdin.buffer
    else:
        with errors_name(Path(path)), Path(path).open("rb") as file:
            yield file


def name_of(path: str) -> str:
    """The name of the file in messages."""
    return "standard input" if path == STANDARD_STREAM else path


def rows_of_text(lines: Iterable[bytes], name: str) -> Iterator[tuple[int, list[str]]]:
    """The number of each line and its cells, without blanks around them. Empty lines and comments are skipped.

    The first line shows whether tabs, commas or blanks separate the cells.
    """
    text = _TextLines(lines, name)
    try:
        for cells in _split(text):
            yield text.number, [cell.strip() for cell in cells]
            text.is_row_complete = True
    except csv.Error as error:
        raise TableError(f"{name}, line {text.number}: {error}") from error


def longest_integer() -> int:
    """The number of digits that Python reads as an integer. The time that it takes grows with their square."""
    return sys.get_int_max_str_digits() or sys.maxsize


def is_header(cells: list[str], columns: tuple[str, ...]) -> bool:
    """Whether one of the cells is the name of a column."""
    return not set(lower(cells)).isdisjoint(columns)


def lower(cells: list[str]) -> tuple[str, ...]:
    return tuple(cell.lower() for cell in cells)


def column_count(cells: list[str]) -> str:
    return "1 column" if len(cells) == 1 else f"{len(cells)} columns"


class _TextLines:
    """The lines of a file as text, without empty lines and comments.

    `number` is that of the line in which the current row begins. A quoted cell may go over several lines, and a line
    inside it is never a comment: the reader of rows sets `is_row_complete`.
    """

    def __init__(self, lines: Iterable[bytes], name: str) -> None:
        self.number = 0
        self.is_row_complete = True
        self._lines = enumerate(lines, start=1)
        self._name = name

    def __iter__(self) -> _TextLines:
        return self

    def __next__(self) -> str:
        for number, line in self._lines:
            try:
                text = line.decode()
            except UnicodeDecodeError:
                raise TableError(f"{self._name}, line {number}: not text in UTF-8") from None
            if number == 1:
                if "\0" in text:  # text in UTF-16, or no text at all
                    raise TableError(f"{self._name}, line 1: a NUL character; expected text in UTF-8")
                text = text.removeprefix("\ufeff")  # the byte order mark that some editors write
            if not self.is_row_complete:
                return text
            begin = text.lstrip()
            if begin and not begin.startswith("#"):
                if self.number == 0 and "\r" in begin.rstrip() and '"' not in begin:
                    raise TableError(
                        f"{self._name}, line {number}: a carriage return inside the line; lines end with LF or CR LF"
                    )
                self.number, self.is_row_complete = number, False
                return text
        raise StopIteration


def _split(lines: _TextLines) -> Iterator[list[str]]:
    first = next(lines, None)
    if first is None:
        return
    for separator in ("\t", ","):
        if separator in first.strip():
            # Strict: otherwise a quote that is never closed would swallow the rest of the file.
            yield from csv.reader(chain([first], lines), delimiter=separator, skipinitialspace=True, strict=True)
            return
    yield from (line.split() for line in chain([first], lines))
