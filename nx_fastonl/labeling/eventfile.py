"""Files of events: JSON lines, CSV and Parquet -> dicts, with the place of each for messages."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path, PurePath
from typing import Any, BinaryIO, NamedTuple, cast

from nx_fastonl._lib.checks import cut, shortened
from nx_fastonl._lib.files import errors_name
from nx_fastonl._lib.frames import FIRST_INEXACT, Table, read_frame
from nx_fastonl._lib.parquet import ParquetTable
from nx_fastonl._lib.streams import ExpansionError, FileLike, Source, Stream, opened, sources_of
from nx_fastonl.graph.names import INTEGER
from nx_fastonl.labeling.events import FIELDS, NODES

__all__ = ["Located", "events_of_lines", "events_of_table", "read_events"]

PARQUET = b"PAR1"
# How files begin that are no text: in Parquet, or compressed.
BINARY = (PARQUET, b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd")
COMPRESSED = {".gz", ".bz2", ".xz", ".zst"}
SEPARATORS = {".csv": ",", ".tsv": "\t"}
# Rows of a table that are in memory at once.
BATCH_ROWS = 1 << 14


class Located(NamedTuple):
    """An event as it was read: `place` and `number` say where, as in "events.jsonl, line" and 3."""

    place: str
    number: int
    item: Any

    @property
    def where(self) -> str:
        return f"{self.place} {self.number}"


def read_events(path: FileLike) -> Iterator[Located]:
    """The events of a file, one after the other; of several files if the path is a pattern.

    Those of an open file, such as a pipe, come as soon as their line is there.
    """
    for source in sources_of(path):
        if _is_live_text(source.file):
            with errors_name(source.name):
                yield from events_of_lines(cast(BinaryIO, source.file), source.name)
            continue
        with opened(source) as stream:
            if stream.begin.startswith(PARQUET):
                yield from _parquet_events(source, stream)
            else:
                yield from events_of_lines(stream.text, source.name, _suffix(source))


def _is_live_text(file: Any) -> bool:
    """Whether this is an open file of text. To find out, no more is read than is there."""
    return hasattr(file, "peek") and not file.peek(1).startswith(BINARY)


def events_of_lines(lines: Iterable[bytes], name: str, suffix: str | None = None) -> Iterator[Located]:
    """The events in lines of text, each as soon as its line is there. By default the first line shows the format."""
    texts, place = _decoded(lines, name), f"{name}, line"
    if suffix is None:
        first = next(texts, "")
        texts = chain([first], texts)
        suffix = ".jsonl" if first.lstrip()[:1] in ("{", "[", "") else ".csv"
    yield from _csv_events(texts, place, SEPARATORS[suffix]) if suffix in SEPARATORS else _json_events(texts, place)


def _suffix(source: Source) -> str | None:
    """What the name of a file says about its format."""
    if not isinstance(source.file, Path):
        return None
    suffixes = [suffix.lower() for suffix in PurePath(source.name).suffixes]
    while suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    if suffix in (".jsonl", ".ndjson", *SEPARATORS):
        return suffix
    if suffix == ".parquet":
        raise ValueError(f"{source.name} is not a Parquet file, though its name says so")
    raise ValueError(f"{source.name}: the name of a file of events must end in .jsonl, .ndjson, .csv, .tsv or .parquet")


def _decoded(lines: Iterable[bytes], name: str) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        try:
            text = line.decode()
        except UnicodeDecodeError:
            raise ValueError(f"{name}, line {number}: not text in UTF-8") from None
        yield text.removeprefix("\ufeff") if number == 1 else text  # the byte order mark that some editors write


def _json_events(lines: Iterable[str], place: str) -> Iterator[Located]:
    decode = json.JSONDecoder(parse_constant=_refuse_constant).decode
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            item = decode(line.strip())
        except (ValueError, RecursionError) as error:  # JSONDecodeError is a ValueError
            problem = error.msg if isinstance(error, json.JSONDecodeError) else error
            raise ValueError(f"{place} {number}: not a line of JSON: {problem}") from error
        if not isinstance(item, dict):
            raise ValueError(
                f'{place} {number}: expected an object such as {{"event": "question", "node": 1}}, '
                f"got {shortened(item)}"
            )
        for name in (*NODES, "label"):
            if isinstance(item.get(name), list):
                item[name] = _hashable(item[name])
        yield Located(place, number, item)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a value of JSON")


def _hashable(value: Any) -> Any:
    """Tuples in place of lists, which JSON has for both."""
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def _csv_events(lines: Iterable[str], place: str, separator: str) -> Iterator[Located]:
    rows = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
    columns: list[str] = []
    begin = 1
    try:
        for cells in rows:
            if any(cells):
                if not columns:
                    columns = _checked_columns([cell.strip() for cell in cells], f"{place} {begin}")
                elif len(cells) != len(columns):
                    raise ValueError(
                        f"{place} {begin}: {len(cells)} cells, expected {len(columns)}: {', '.join(columns)}"
                    )
                else:
                    yield Located(place, begin, _of_cells(columns, cells, place, begin))
            begin = rows.line_num + 1
    except csv.Error as error:
        raise ValueError(f"{place} {begin}: {error}") from error


def _of_cells(columns: list[str], cells: list[str], place: str, number: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, cell in zip(columns, map(str.strip, cells), strict=True):
        if cell == "":
            continue
        if name in NODES:
            found[name] = _node(cell, place, number)
        elif name in ("weight", "time"):
            found[name] = _number(cell)
        else:
            found[name] = cell
    return found


def _node(cell: str, place: str, number: int) -> int | str:
    """An integer or a text. Of integers in a column with empty cells pandas makes floats, such as 1.0."""
    whole = cell.removesuffix(".0")
    if not INTEGER.fullmatch(whole):
        return cell
    if whole != cell:
        _check_exact(float(cell), place, number)
    return int(whole)


def _check_exact(node: float, place: str, number: int) -> None:
    if abs(node) >= FIRST_INEXACT:
        raise ValueError(
            f"{place} {number}: node {node!r} was an integer before it became a float, which from 2**53 on does not "
            "tell integers apart; write the column as integers, in pandas with dtype Int64"
        )


def _number(cell: str) -> float | str:
    """A number, or the text that is none, which later messages show."""
    try:
        return float(cell)
    except ValueError:
        return cell


def _checked_columns(found: list[str], where: str) -> list[str]:
    if "event" not in found or not set(found) <= set(FIELDS) or len(set(found)) < len(found):
        raise ValueError(
            f"{where}: columns {cut(', '.join(found))}; expected event and some of {', '.join(FIELDS[1:])}, each once"
        )
    return found


def _parquet_events(source: Source, stream: Stream) -> Iterator[Located]:
    try:
        import pyarrow as pa
    except ImportError as error:
        raise ImportError(f"{source.name} is in Parquet, which needs pyarrow: pip install pyarrow") from error

    place, row = f"{source.name}, row", 0
    try:
        table = ParquetTable(source.file if isinstance(source.file, Path) else stream.text.read())
        columns = _checked_columns(table.schema.names, source.name)
        for arrays in table.batches(columns, BATCH_ROWS):
            for values in zip(*(array.to_pylist() for array in arrays), strict=True):
                row += 1
                yield Located(place, row, _of_values(columns, values, place, row))
    except ExpansionError as error:
        raise ValueError(f"{source.name}: {error}") from None
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{source.name}: not a Parquet file that can be read: {error}") from error


def events_of_table(table: Any) -> Iterator[Located]:
    """The events in the rows of a table of a data frame library."""
    found = read_frame(table, "events")
    if not isinstance(found, Table):
        raise TypeError(
            f"events must be a table with the columns event and some of {', '.join(FIELDS[1:])}, got a column"
        )
    columns = _checked_columns(found.columns, "events")
    values = [
        found.column(number).nodes_or_none() if name in NODES else found.column(number).values()
        for number, name in enumerate(columns)
    ]
    return (
        Located("events, row", row, _of_values(columns, cells, "events, row", row))
        for row, cells in enumerate(zip(*values, strict=True), start=1)
    )


def _of_values(columns: list[str], values: tuple[Any, ...], place: str, number: int) -> dict[str, Any]:
    found = {name: value for name, value in zip(columns, values, strict=True) if value is not None and value == value}
    for name in NODES:  # pandas stores integers as floats where some are missing
        value = found.get(name)
        if isinstance(value, bool):
            raise ValueError(f"{place} {number}: {name} must name a node, got the boolean {value}")
        if isinstance(value, float) and value.is_integer():
            _check_exact(value, place, number)
            found[name] = int(value)
    return found
