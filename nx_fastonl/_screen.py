"""What the command line shows: text, JSON, and tables, which on a terminal are drawn by rich."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table


def shows_progress() -> bool:
    return sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None


def has_screen() -> bool:
    return sys.stdout.isatty() and importlib.util.find_spec("rich") is not None


def write(content: bytes) -> None:
    """Write all to standard output, which without a buffer (PYTHONUNBUFFERED) takes what fits and drops the rest."""
    sys.stdout.flush()
    rest = memoryview(content)
    while rest:
        rest = rest[sys.stdout.buffer.write(rest) :]
    sys.stdout.flush()


def say(text: str) -> None:
    write(f"{text}\n".encode())


def say_json(value: Any) -> None:
    say(json.dumps(value, indent=2, default=str))


def show_frame(frame: pd.DataFrame) -> None:
    table = frame.reset_index()
    rows = [tuple(_shown(value) for value in row) for row in table.itertuples(index=False)]
    numbers = tuple(i for i, dtype in enumerate(table.dtypes) if dtype.kind in "iuf")
    show_table(tuple(map(str, table.columns)), rows, numbers)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:g}"
    return str(value)


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> None:
    """Print a table; the columns of these numbers to the right."""
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    if has_screen():
        from rich.console import Console

        console = Console()
        if sum(width + 3 for i, width in enumerate(widths) if i == 0 or i in numbers) < console.width:
            console.print(_rich_table(columns, rows, numbers))
            return  # otherwise rich would cut numbers off
    for row in (columns, *rows) if any(columns) else rows:
        say(_line(row, widths, numbers))


@contextmanager
def growing_table(
    columns: Sequence[str], names: Sequence[str], *, silent: bool
) -> Iterator[Callable[[Sequence[str]], None]]:
    """A table that rows are added to, one for each of the names; on a screen, names yet to come are in it already."""
    numbers = range(1, len(columns))
    if silent:
        yield lambda _: None
    elif has_screen():
        from rich.live import Live

        rows: list[Sequence[str]] = []

        def table() -> Table:
            waiting = [(name, *[""] * len(numbers)) for name in names[len(rows) :]]
            return _rich_table(columns, [*rows, *waiting], numbers)

        with Live(table(), auto_refresh=False) as live:

            def add(row: Sequence[str]) -> None:
                rows.append(row)
                live.update(table(), refresh=True)

            yield add
    else:
        widths = [max(map(len, names)), *(max(len(column), 8) for column in columns[1:])]
        say(_line(columns, widths, numbers))
        yield lambda row: say(_line(row, widths, numbers))


def _rich_table(columns: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_header=any(columns))
    for i, column in enumerate(columns):
        table.add_column(Text(column), justify="right" if i in numbers else "left", no_wrap=i == 0)
    for row in rows:
        table.add_row(*map(Text, row))  # as texts, in which [brackets] mean nothing
    return table


def _line(cells: Sequence[str], widths: Sequence[int], numbers: Sequence[int]) -> str:
    padded = [
        cell.rjust(width) if i in numbers else cell.ljust(width)
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join(padded).rstrip()
