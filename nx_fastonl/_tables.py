"""Files of the command line: edge lists and tables of labels in, tables out.

Whatever is wrong in a file is a `TableError` that names the file and the line.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
from array import array
from codecs import BOM_UTF8
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import chain
from pathlib import Path
from textwrap import shorten
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from nx_fastonl._convert import WEIGHT_RANGE
from nx_fastonl._labels import is_missing
from nx_fastonl.graph import CSRGraph

__all__ = ["FORMATS", "NamedGraph", "TableError", "format_of", "read_graph", "read_labels", "render", "write_file"]

FORMATS = ("csv", "tsv", "json", "parquet")
STANDARD_STREAM = "-"
EDGE_COLUMNS = ("source", "target", "weight")
# What others call the first two; a line of these is a header.
EDGE_ENDS = (("source", "target"), ("from", "to"), ("src", "dst"), ("u", "v"), ("node1", "node2"))
LABEL_COLUMNS = ("node", "label")
SEPARATORS = {"csv": ",", "tsv": "\t"}
# As str(int(...)) writes it: "007" and "1_000" are names, which should come out as they went in.
INTEGER = re.compile(r"0|-?[1-9][0-9]*")
# What pandas calls a column in which it keeps the names of rows.
INDEX_COLUMN = "__index_level_"

# A number of the line or entry, the node and its label.
LabelRow = tuple[int, Any, Any]


class TableError(ValueError):
    """A file that does not hold what it should; the message says where."""


class NamedGraph(NamedTuple):
    """A graph with the file that it came from, and whether its nodes are integers or texts."""

    name: str
    graph: CSRGraph
    integers: bool

    def node(self, name: Any) -> Hashable:
        """The node that this name in another file, or on the command line, means."""
        text = str(name)
        return int(text) if self.integers and INTEGER.fullmatch(text) else text


def format_of(path: str) -> str | None:
    """The format that the suffix of a file tells; None for a suffix that tells none."""
    suffix = Path(path).suffix.lower().removeprefix(".")
    return suffix if suffix in FORMATS else None


# Edge lists


def read_graph(path: str, *, directed: bool = False, progress: bool = False) -> NamedGraph:
    """The graph of an edge list: two columns of nodes, and weights in a third if there is one.

    Columns are separated by tabs, commas or blanks, as the first line shows. Lines that begin with # and empty lines
    are skipped; a first line ``source,target[,weight]``, or from,to or its like, is a header. Edges that are listed
    twice, for an undirected graph in either direction, add up. If all names of nodes are integers, they are read as
    such.

    Parameters
    ----------
    path : str
        The file; "-" for standard input.
    directed : bool, default False
        Whether edges lead only from the first column to the second.
    progress : bool, default False
        Count lines on standard error, if it takes longer than a second (needs tqdm).

    Returns
    -------
    NamedGraph
        Nodes are in order of appearance.

    Raises
    ------
    TableError
        If there are no edges, or a line is none.
    OSError
        If the file cannot be read.
    """
    with _opened(path) as file:
        return parse_graph(_counted(file) if progress else file, _shown(path), directed=directed)


def parse_graph(lines: Iterable[bytes], name: str, *, directed: bool = False) -> NamedGraph:
    """As `read_graph`, from the lines of a file that errors call `name`."""
    rows: dict[str, int] = {}
    sources, targets, weights = array("q"), array("q"), array("d")
    width, has_header = 0, False
    for line, cells in _records(lines, name):
        if width == 0:
            width, has_header = _edge_width(cells, name, line), _is_edge_header(cells)
            if has_header:
                continue
        if len(cells) != width:
            raise TableError(f"{name}, line {line}: {_columns(cells)}, but {width} in the first line")
        if "" in cells:
            raise TableError(f"{name}, line {line}: column {cells.index('') + 1} is empty")
        sources.append(rows.setdefault(cells[0], len(rows)))
        targets.append(rows.setdefault(cells[1], len(rows)))
        if width == 3:
            weights.append(_weight(cells[2], name, line))
    if not sources:
        raise TableError(f"{name}: there are no edges in it")
    names = list(rows)
    are_integers = [INTEGER.fullmatch(text) is not None for text in names]
    if not has_header and len(names) > 2 and all(are_integers[2:]) and all(text[0].isalpha() for text in names[:2]):
        # As two more nodes it would go unnoticed, and make texts of all integers.
        raise TableError(f"{name}: {names[0]}, {names[1]} looks like a header, which should read source, target")
    integers = all(are_integers)
    graph = CSRGraph.from_edges(
        np.asarray(sources),
        np.asarray(targets),
        np.asarray(weights) if width == 3 else None,
        nodes=[int(text) for text in names] if integers else names,
        directed=directed,
    )
    return NamedGraph(name, graph, integers)


def _edge_width(cells: list[str], name: str, line: int) -> int:
    """The number of columns that the first line shows."""
    if _is_edge_header(cells):
        if _lower(cells)[:2] not in EDGE_ENDS or _lower(cells)[2:] not in ((), ("weight",)):
            found = ", ".join(cells)
            raise TableError(f"{name}, line {line}: columns {found}; expected source, target and, optionally, weight")
    elif len(cells) not in (2, 3):
        raise TableError(
            f"{name}, line {line}: {_columns(cells)}; expected two nodes and, optionally, a weight, separated by "
            "commas, tabs or blanks"
        )
    return len(cells)


def _is_edge_header(cells: list[str]) -> bool:
    return _is_header(cells, EDGE_COLUMNS) or _lower(cells)[:2] in EDGE_ENDS


def _weight(text: str, name: str, line: int) -> float:
    smallest, largest = WEIGHT_RANGE
    try:
        value = float(text)
    except ValueError:
        raise TableError(f"{name}, line {line}: weight {text!r} is not a number") from None
    if not (value == 0.0 or smallest <= value <= largest):
        raise TableError(
            f"{name}, line {line}: weight {text} is not 0 or a number between {smallest:g} and {largest:g}"
        )
    return value


# Tables of labels


def read_labels(path: str, graph: NamedGraph) -> dict[Hashable, Hashable]:
    """The labels of a graph's nodes, in the order of the file.

    CSV and TSV hold a node and a label in each line; blanks separate too, and a first line ``node,label`` is a header.
    JSON is ``{node: label, ...}`` or ``[{"node": ..., "label": ...}, ...]``. Parquet has columns node and label (needs
    pyarrow). An empty label means that the node has none. In CSV and TSV labels are texts.

    Parameters
    ----------
    path : str
        The file; "-" for standard input, where the content tells the format.
    graph : NamedGraph
        The graph that the nodes belong to.

    Returns
    -------
    dict
        ``{node: label}`` of the nodes that have one.

    Raises
    ------
    TableError
        If there are no labels, a node is not in the graph or is there twice, or the file does not hold such a table.
    ImportError
        If pyarrow is needed and not installed.
    OSError
        If the file cannot be read.
    """
    with _opened(path) as file:
        content = file.read()
    return parse_labels(content, _shown(path), _content_format(path, content), graph)


def parse_labels(content: bytes, name: str, file_format: str, graph: NamedGraph) -> dict[Hashable, Hashable]:
    """As `read_labels`, from the content of a file that errors call `name`."""
    rows, place = {
        "json": (_json_labels, "entry"),
        "parquet": (_parquet_labels, "row"),
    }.get(file_format, (_text_labels, "line"))
    labels: dict[Hashable, Hashable] = {}
    first_seen: dict[Hashable, int] = {}
    for number, given, label in rows(content, name):
        node = graph.node(given)
        problem = None
        if node not in graph.graph:
            hint = "; a header should read node, label" if number == 1 and place == "line" else ""
            problem = f"is not in {graph.name}{hint}"
        elif node in first_seen:
            problem = f"was there before, at {place} {first_seen[node]}"
        elif not isinstance(label, Hashable):
            problem = "has a label that is no text, number, true or false"
        if problem:
            raise TableError(f"{name}, {place} {number}: node {node!r} {problem}")
        first_seen[node] = number
        if not is_missing(label):
            labels[node] = label
    if not labels:
        raise TableError(f"{name}: there are no labels in it")
    return labels


def _content_format(path: str, content: bytes) -> str:
    """The format of a table: as the suffix says, or for a file without name as it looks."""
    if path != STANDARD_STREAM:
        return format_of(path) or "csv"
    if content.startswith(b"PAR1"):
        return "parquet"
    return "json" if content.removeprefix(BOM_UTF8).lstrip()[:1] in (b"{", b"[") else "csv"


def _text_labels(content: bytes, name: str) -> Iterator[LabelRow]:
    node, label = 0, 1
    for i, (line, cells) in enumerate(_records(io.BytesIO(content), name)):
        if i == 0 and _is_header(cells, LABEL_COLUMNS):
            _check_label_columns(_lower(cells), f"{name}, line {line}")
            node, label = _lower(cells).index("node"), _lower(cells).index("label")
            continue
        if len(cells) != 2:
            raise TableError(f"{name}, line {line}: {_columns(cells)} ({', '.join(cells)}); expected node, label")
        yield line, cells[node], cells[label] or None


def _json_labels(content: bytes, name: str) -> Iterator[LabelRow]:
    try:
        found = json.loads(content, object_pairs_hook=_Pairs)
    except json.JSONDecodeError as error:
        raise TableError(f"{name}, line {error.lineno}: not JSON: {error.msg}") from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise TableError(f"{name}: not JSON") from error
    if isinstance(found, _Pairs):
        yield from ((number, node, label) for number, (node, label) in enumerate(found, start=1))
        return
    if not isinstance(found, list):
        found = [found]
    for number, entry in enumerate(found, start=1):
        if not isinstance(entry, _Pairs):
            raise TableError(
                f'{name}, entry {number}: expected {{"node": ..., "label": ...}}, got {shorten(json.dumps(entry), 60)}'
            )
        record = dict(entry)
        _check_label_columns(tuple(record), f"{name}, entry {number}")
        yield number, record["node"], record["label"]


class _Pairs(list[tuple[str, Any]]):
    """A JSON object that keeps names which are there twice."""


def _parquet_labels(content: bytes, name: str) -> Iterator[LabelRow]:
    try:
        table = _pyarrow("parquet").read_table(io.BytesIO(content))
    except (OSError, ValueError) as error:  # ArrowInvalid is a ValueError
        raise TableError(f"{name}: not a Parquet file") from error
    columns = [column for column in table.column_names if not column.startswith(INDEX_COLUMN)]
    _check_label_columns(columns, name)
    nodes, labels = (table.column(column).to_pylist() for column in LABEL_COLUMNS)
    yield from zip(range(1, len(nodes) + 1), nodes, labels, strict=True)


def _check_label_columns(found: Sequence[str], where: str) -> None:
    if sorted(found) != sorted(LABEL_COLUMNS):
        raise TableError(f"{where}: columns {', '.join(found) or 'none'}; expected node, label")


# Lines and cells


class _Lines:
    """The lines of a file that are neither empty nor comments, as text, with the number of the line last begun.

    What a quoted cell holds after a line break is never a comment: who reads records says when one is complete.
    """

    def __init__(self, lines: Iterable[bytes], name: str) -> None:
        self.number = 0
        self.complete = True
        self._lines = enumerate(lines, start=1)
        self._name = name

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        for number, line in self._lines:
            try:
                text = line.decode()
            except UnicodeDecodeError:
                raise TableError(f"{self._name}, line {number}: not text in UTF-8") from None
            if number == 1:
                text = text.removeprefix("\ufeff")
            if not self.complete:
                return text
            begin = text.lstrip()
            if begin and not begin.startswith("#"):
                self.number, self.complete = number, False
                return text
        raise StopIteration


def _records(lines: Iterable[bytes], name: str) -> Iterator[tuple[int, list[str]]]:
    """The cells of each line, without blanks around them, and the number of the line."""
    found = _Lines(lines, name)
    try:
        for cells in _split(found):
            yield found.number, [cell.strip() for cell in cells]
            found.complete = True
    except csv.Error as error:
        raise TableError(f"{name}, line {found.number}: {error}") from error


def _split(lines: _Lines) -> Iterator[list[str]]:
    first = next(lines, None)
    if first is None:
        return
    for separator in ("\t", ","):
        if separator in first.strip():
            # Strict, as a quote that is never closed would swallow the rest of the file.
            yield from csv.reader(chain([first], lines), delimiter=separator, skipinitialspace=True, strict=True)
            return
    yield from (line.split() for line in chain([first], lines))


def _is_header(cells: list[str], columns: tuple[str, ...]) -> bool:
    """Whether one of the cells is the name of a column."""
    return not set(_lower(cells)).isdisjoint(columns)


def _lower(cells: list[str]) -> tuple[str, ...]:
    return tuple(cell.lower() for cell in cells)


def _columns(cells: list[str]) -> str:
    return "1 column" if len(cells) == 1 else f"{len(cells)} columns"


# Tables out


def render(columns: Mapping[str, Sequence[Any]], file_format: str) -> bytes:
    """A table in one of the `FORMATS`.

    Parameters
    ----------
    columns : dict
        ``{name: values}``. None is an empty cell of CSV and TSV, null elsewhere.
    file_format : str
        JSON is a list of records; Parquet needs pyarrow.

    Returns
    -------
    bytes

    Raises
    ------
    ImportError
        If pyarrow is needed and not installed.
    TypeError, ValueError
        If a column mixes types that Parquet cannot hold together.
    """
    if file_format == "parquet":
        return _parquet(columns)
    if file_format == "json":
        return _json(records_of(columns))
    separator = SEPARATORS[file_format]
    rows = chain([tuple(columns)], zip(*columns.values(), strict=True))
    return "".join(separator.join(_cell(value, separator) for value in row) + "\n" for row in rows).encode()


def records_of(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """The rows of a table, as dicts."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def write_file(path: Path, content: bytes) -> None:
    """Write a whole file or nothing: under another name beside it first."""
    if path.exists() and not path.is_file():  # /dev/null must not be replaced, and a folder is refused
        path.write_bytes(content)
        return
    path = path.resolve()  # a link stays one
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        if path.exists():
            part.chmod(path.stat().st_mode)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _cell(value: Any, separator: str) -> str:
    text = "" if value is None else str(value)
    # A line that begins with # would be taken for a comment.
    if text.startswith("#") or any(mark in text for mark in (separator, '"', "\n", "\r")):
        return '"' + text.replace('"', '""') + '"'
    return text


def _json(records: list[dict[str, Any]]) -> bytes:
    """A record in each line."""
    lines = ",\n".join(json.dumps(record, ensure_ascii=False, default=str) for record in records)
    return f"[\n{lines}\n]\n".encode() if records else b"[]\n"


def _parquet(columns: Mapping[str, Sequence[Any]]) -> bytes:
    parquet, pyarrow = _pyarrow("parquet"), import_module("pyarrow")
    arrays = {}
    for name, values in columns.items():
        try:
            arrays[name] = pyarrow.array(list(values))
        except (OverflowError, TypeError, ValueError) as error:
            raise TableError(f"Parquet cannot hold column {name} ({error}); csv and json can") from error
    content = io.BytesIO()
    parquet.write_table(pyarrow.table(arrays), content)
    return content.getvalue()


def _pyarrow(part: str) -> Any:
    try:
        return import_module(f"pyarrow.{part}")
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: pip install pyarrow") from error


# Names and streams


def _shown(path: str) -> str:
    return "standard input" if path == STANDARD_STREAM else path


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    if path == STANDARD_STREAM:
        if sys.stdin is None:
            raise TableError("standard input is closed")
        yield sys.stdin.buffer
    else:
        with Path(path).open("rb") as file:
            yield file


def _counted(lines: Iterable[bytes]) -> Iterable[bytes]:
    from tqdm import tqdm

    return tqdm(lines, desc="reading", unit=" lines", delay=1, leave=False)
