"""What the command line prints: text, JSON, and tables, which rich draws if standard output is a terminal."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from nx_fastonl._lib.checks import printable
from nx_fastonl._lib.files import errors_name

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

# The characters of a message that are shown.
MAX_MESSAGE = 1_000


def shows_progress() -> bool:
    return sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None


def has_screen() -> bool:
    return sys.stdout.isatty() and importlib.util.find_spec("rich") is not None


def write(content: bytes) -> None:
    """Write everything to standard output: to a terminal without the characters that it would obey.

    Without a buffer (PYTHONUNBUFFERED), one call may write only some of it.
    """
    if sys.stdout.isatty():
        content = printable(content.decode(errors="surrogateescape")).encode()
    with errors_name("standard output"):
        sys.stdout.flush()
        rest = memoryview(content)
        while rest:
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.flush()


def say(text: str) -> None:
    write(f"{text}\n".encode(errors="surrogateescape"))  # a name of a file may not be text: it goes out as it came in


def tell(text: str) -> None:
    """Write a line for people to standard error. If nobody can read it, the answer is not the worse for it."""
    try:
        sys.stderr.write(f"{printable(text)}\n")
        sys.stderr.flush()
    except OSError:
        give_up(sys.stderr)


def warn(text: str) -> None:
    """Write a line to standard error about something the user probably did not intend."""
    tell(f"warning: {in_one_line(text)}")


def in_one_line(text: str) -> str:
    """The text, without line breaks and other characters that a terminal obeys; of a long one, both ends."""
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return shown if len(shown) <= MAX_MESSAGE else f"{shown[: MAX_MESSAGE // 2]} ... {shown[-MAX_MESSAGE // 2 :]}"


def give_up(stream: TextIO) -> None:
    """Drop what cannot be written to this stream: Python would fail to write it, and complain, when it exits."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def say_json(value: Any) -> None:
    say(json.dumps(value, indent=2, default=str))


def show_frame(frame: pd.DataFrame) -> None:
    table = frame.reset_index()
    rows = [tuple(_shown(value) for value in row) for row in table.itertuples(index=False)]
    right_aligned = tuple(i for i, dtype in enumerate(table.dtypes) if dtype.kind in "iuf")
    show_table(tuple(map(str, table.columns)), rows, right_aligned)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:g}"
    return str(value)


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]], right_aligned: Sequence[int] = ()) -> None:
    """Print a table. `right_aligned` holds the indices of columns with numbers."""
    columns, rows = list(map(printable, columns)), [list(map(printable, row)) for row in rows]
    if has_screen():
        from rich.console import Console

        console = Console()
        widths = _widths(columns, rows)
        if sum(width + 3 for i, width in enumerate(widths) if i == 0 or i in right_aligned) < console.width:
            console.print(_rich_table(columns, rows, right_aligned))
            return  # on a narrower terminal, rich would cut numbers off: the table is printed as plain text
    for line in table_lines(columns, rows, right_aligned):
        say(line)


def table_lines(columns: Sequence[str], rows: Sequence[Sequence[str]], right_aligned: Sequence[int]) -> list[str]:
    """A table as lines of plain text. Without names of columns, it has no header."""
    widths = _widths(columns, rows)
    return [_line(row, widths, right_aligned) for row in ((columns, *rows) if any(columns) else rows)]


def _widths(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(columns, *rows, strict=True)]


@contextmanager
def growing_table(
    columns: Sequence[str], names: Sequence[str], *, silent: bool
) -> Iterator[Callable[[Sequence[str]], None]]:
    """Print a table that gets one row for each of the names. A terminal shows all names from the start."""
    right_aligned = range(1, len(columns))
    if silent:
        yield lambda _: None
    elif has_screen():
        from rich.live import Live

        rows: list[Sequence[str]] = []

        def table() -> Table:
            waiting = [(name, *[""] * len(right_aligned)) for name in names[len(rows) :]]
            return _rich_table(columns, [*rows, *waiting], right_aligned)

        with Live(table(), auto_refresh=False) as live:

            def add(row: Sequence[str]) -> None:
                rows.append(row)
                live.update(table(), refresh=True)

            yield add
    else:
        widths = [max(map(len, names)), *(max(len(column), 8) for column in columns[1:])]
        say(_line(columns, widths, right_aligned))
        yield lambda row: say(_line(row, widths, right_aligned))


def _rich_table(columns: Sequence[str], rows: Sequence[Sequence[str]], right_aligned: Sequence[int]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_header=any(columns))
    for i, column in enumerate(columns):
        table.add_column(Text(column), justify="right" if i in right_aligned else "left", no_wrap=i == 0)
    for row in rows:
        table.add_row(*map(Text, row))  # rich would take [brackets] in a str for markup
    return table


def _line(cells: Sequence[str], widths: Sequence[int], right_aligned: Sequence[int]) -> str:
    padded = [
        cell.rjust(width) if i in right_aligned else cell.ljust(width)
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join(padded).rstrip()
