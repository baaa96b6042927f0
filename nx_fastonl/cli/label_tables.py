"""Labels that come in as tables of node and label."""

from __future__ import annotations

import io
import json
from codecs import BOM_UTF8
from collections.abc import Hashable, Iterator, Sequence
from textwrap import shorten
from typing import Any, NamedTuple

from nx_fastonl._lib.checks import a_few, cut, shortened
from nx_fastonl._lib.parquet import ParquetTable
from nx_fastonl._lib.plain import is_missing
from nx_fastonl._lib.streams import ExpansionError
from nx_fastonl.cli.formats import TableError, format_of, pyarrow_module
from nx_fastonl.cli.graphs import NamedGraph
from nx_fastonl.cli.inputs import (
    STANDARD_STREAM,
    column_count,
    is_header,
    longest_integer,
    lower,
    name_of,
    opened,
    rows_of_text,
)

__all__ = ["LabelTable", "labels_of", "parse_labels", "read_labels"]

LABEL_COLUMNS = ("node", "label")
# Rows of a table in Parquet that are read at once, at most.
BATCH_ROWS = 1 << 14
# The name under which pandas stores an index in a Parquet file begins with this.
INDEX_COLUMN = "__index_level_"

# The number of the line or entry, the node and its label.
LabelRow = tuple[int, Any, Any]


class LabelTable(NamedTuple):
    """A table of nodes and labels as it is written: how messages call it and its rows, and the rows."""

    name: str
    unit: str
    rows: list[LabelRow]

    @property
    def nodes(self) -> list[str]:
        """The names of all nodes."""
        return [str(node) for _, node, _ in self.rows]


def read_labels(path: str) -> LabelTable:
    """Read labels of nodes, in the order of the file.

    CSV and TSV hold a node and a label in each line. Blanks may separate them too, and a first line ``node,label`` is a
    header. JSON is ``{node: label, ...}`` or ``[{"node": ..., "label": ...}, ...]``. Parquet has columns node and label
    (needs pyarrow). A node with an empty label has none. In CSV and TSV, all labels are texts.

    Parameters
    ----------
    path : str
        The file; "-" for standard input, whose content shows the format.

    Returns
    -------
    LabelTable

    Raises
    ------
    TableError
        If the file does not hold such a table.
    ImportError
        If pyarrow is needed and not installed.
    OSError
        If the file cannot be read.
    """
    with opened(path) as file:
        content = file.read()
    return parse_labels(content, name_of(path), _content_format(path, content))


def parse_labels(content: bytes, name: str, file_format: str) -> LabelTable:
    """As `read_labels`, from the content of a file that messages call `name`."""
    rows, unit = {
        "json": (_json_labels, "entry"),
        "parquet": (_parquet_labels, "row"),
    }.get(file_format, (_text_labels, "line"))
    found = LabelTable(name, unit, list(rows(content, name)))
    for number, node, _ in found.rows:
        if node is None or node == "":
            raise TableError(f"{name}, {unit} {number}: no node; expected node, label")
    return found


def labels_of(
    table: LabelTable, graph: NamedGraph, *, skip: bool = False
) -> tuple[dict[Hashable, Hashable], list[Hashable]]:
    """The labels of a graph's nodes, and the nodes that are not in it, which `skip` leaves out.

    Raises TableError if there are no labels, if one is listed twice or, without `skip`, if some are not in the graph.
    """
    name, unit, rows = table
    labels: dict[Hashable, Hashable] = {}
    first_seen: dict[Hashable, int] = {}
    missing: dict[Hashable, int] = {}
    for number, given, label in rows:
        node = graph.node(given)
        problem = None
        if node not in graph.graph:
            missing.setdefault(node, number)
            continue
        if node in first_seen:
            problem = f"is listed twice, first in {unit} {first_seen[node]}"
        elif not isinstance(label, Hashable):
            problem = "has a label that is not a text, a number, true or false"
        elif isinstance(label, str):
            problem = _problem_of(label)
        if problem:
            raise TableError(f"{name}, {unit} {number}: node {shortened(node)} {problem}")
        first_seen[node] = number
        if not is_missing(label):
            labels[node] = label
    if missing and not skip:
        raise TableError(_not_in_graph(table, graph, missing))
    if not labels:
        raise TableError(f"{name} has no labels" if not missing else f"{name} has no labels of nodes in {graph.name}")
    return labels, list(missing)


def _not_in_graph(table: LabelTable, graph: NamedGraph, missing: dict[Hashable, int]) -> str:
    first = next(iter(missing.values()))
    if len(missing) == 1:
        problem = f"node {a_few(missing)} is not in {graph.name}"
    else:
        problem = f"this is the first of {len(missing):,} nodes that are not in {graph.name}: {a_few(missing)}"
    them = "it" if len(missing) == 1 else "them"
    hint = "a header should read node, label; " if first == 1 and table.unit == "line" else ""
    add = f", --unknown add adds {them} without edges" if graph.graph.path is None else ""
    return f"{table.name}, {table.unit} {first}: {problem}; {hint}--unknown skip leaves {them} out{add}"


def _problem_of(label: str) -> str | None:
    if isinstance(label, _LongInteger):
        return f"has a label of {len(label):,} digits; numbers have up to {longest_integer():,}, texts stand in quotes"
    try:
        label.encode()
    except UnicodeEncodeError as error:  # JSON can write half of a character, which is none: "\\ud83d"
        half = label[error.start]
        return f"has a label with half of a character, {half!r}, which cannot be written; expected both halves"
    return None


def _content_format(path: str, content: bytes) -> str:
    """The format that the suffix names; for standard input, the format that the content shows."""
    if path != STANDARD_STREAM:
        return format_of(path) or "csv"
    if content.startswith(b"PAR1"):
        return "parquet"
    return "json" if content.removeprefix(BOM_UTF8).lstrip()[:1] in (b"{", b"[") else "csv"


def _text_labels(content: bytes, name: str) -> Iterator[LabelRow]:
    node, label = 0, 1
    for i, (line, cells) in enumerate(rows_of_text(io.BytesIO(content), name)):
        if i == 0 and is_header(cells, LABEL_COLUMNS):
            _check_label_columns(lower(cells), f"{name}, line {line}")
            node, label = lower(cells).index("node"), lower(cells).index("label")
            continue
        if len(cells) != 2:
            raise TableError(
                f"{name}, line {line}: {column_count(cells)} ({cut(', '.join(cells))}); expected node, label"
            )
        yield line, cells[node], cells[label] or None


def _json_labels(content: bytes, name: str) -> Iterator[LabelRow]:
    try:
        found = json.loads(content, object_pairs_hook=_Pairs, parse_int=_integer)
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
        _check_label_columns([column for column, _ in entry], f"{name}, entry {number}")
        pairs = dict(entry)
        yield number, pairs["node"], pairs["label"]


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as a list, which keeps a name that is listed twice."""


class _LongInteger(str):
    """An integer of more digits than Python reads, as it is written."""

    __slots__ = ()


def _integer(text: str) -> int | _LongInteger:
    try:
        return int(text)
    except ValueError:
        return _LongInteger(text)


def _parquet_labels(content: bytes, name: str) -> Iterator[LabelRow]:
    pa = pyarrow_module("pyarrow")
    try:
        table = ParquetTable(content)
        columns = [column for column in table.schema.names if not column.startswith(INDEX_COLUMN)]
        _check_label_columns(columns, name)
        row = 1
        for nodes, labels in table.batches(LABEL_COLUMNS, BATCH_ROWS):
            yield from zip(range(row, row + len(nodes)), nodes.to_pylist(), labels.to_pylist(), strict=True)
            row += len(nodes)
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{name}: not a Parquet file") from error
    except UnicodeDecodeError as error:
        raise TableError(f"{name}: not text in UTF-8") from error
    except ExpansionError as error:
        raise TableError(f"{name}: {error}") from error


def _check_label_columns(found: Sequence[str], where: str) -> None:
    if sorted(found) != sorted(LABEL_COLUMNS):
        raise TableError(f"{where}: columns {cut(', '.join(found)) or 'none'}; expected node, label")
