"""Labels that come in as tables of node and label."""

from __future__ import annotations

import io
import json
from codecs import BOM_UTF8
from collections.abc import Hashable, Iterator, Sequence
from textwrap import shorten
from typing import Any

from nx_fastonl.cli.edge_lists import NamedGraph
from nx_fastonl.cli.formats import TableError, format_of, pyarrow_module
from nx_fastonl.cli.inputs import STANDARD_STREAM, column_count, is_header, lower, name_of, opened, rows_of_text
from nx_fastonl.labeling.labels import is_missing

__all__ = ["parse_labels", "read_labels"]

LABEL_COLUMNS = ("node", "label")
# The name under which pandas stores an index in a Parquet file begins with this.
INDEX_COLUMN = "__index_level_"

# The number of the line or entry, the node and its label.
LabelRow = tuple[int, Any, Any]


def read_labels(path: str, graph: NamedGraph) -> dict[Hashable, Hashable]:
    """Read the labels of a graph's nodes, in the order of the file.

    CSV and TSV hold a node and a label in each line. Blanks may separate them too, and a first line ``node,label`` is a
    header. JSON is ``{node: label, ...}`` or ``[{"node": ..., "label": ...}, ...]``. Parquet has columns node and label
    (needs pyarrow). A node with an empty label has none. In CSV and TSV, all labels are texts.

    Parameters
    ----------
    path : str
        The file; "-" for standard input, whose content shows the format.
    graph : NamedGraph
        The graph that the nodes belong to.

    Returns
    -------
    dict
        ``{node: label}`` for the nodes that have a label.

    Raises
    ------
    TableError
        If there are no labels, a node is not in the graph or is listed twice, or the file does not hold such a table.
    ImportError
        If pyarrow is needed and not installed.
    OSError
        If the file cannot be read.
    """
    with opened(path) as file:
        content = file.read()
    return parse_labels(content, name_of(path), _content_format(path, content), graph)


def parse_labels(content: bytes, name: str, file_format: str, graph: NamedGraph) -> dict[Hashable, Hashable]:
    """As `read_labels`, from the content of a file that messages call `name`."""
    rows, unit = {
        "json": (_json_labels, "entry"),
        "parquet": (_parquet_labels, "row"),
    }.get(file_format, (_text_labels, "line"))
    labels: dict[Hashable, Hashable] = {}
    first_seen: dict[Hashable, int] = {}
    for number, given, label in rows(content, name):
        node = graph.node(given)
        problem = None
        if node not in graph.graph:
            hint = "; a header should read node, label" if number == 1 and unit == "line" else ""
            problem = f"is not in {graph.name}{hint}"
        elif node in first_seen:
            problem = f"is listed twice, first in {unit} {first_seen[node]}"
        elif not isinstance(label, Hashable):
            problem = "has a label that is not a text, a number, true or false"
        if problem:
            raise TableError(f"{name}, {unit} {number}: node {node!r} {problem}")
        first_seen[node] = number
        if not is_missing(label):
            labels[node] = label
    if not labels:
        raise TableError(f"{name} has no labels")
    return labels


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
            raise TableError(f"{name}, line {line}: {column_count(cells)} ({', '.join(cells)}); expected node, label")
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
        pairs = dict(entry)
        _check_label_columns(tuple(pairs), f"{name}, entry {number}")
        yield number, pairs["node"], pairs["label"]


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as a list, which keeps a name that is listed twice."""


def _parquet_labels(content: bytes, name: str) -> Iterator[LabelRow]:
    try:
        table = pyarrow_module("pyarrow.parquet").read_table(io.BytesIO(content))
    except (OSError, ValueError) as error:  # ArrowInvalid is a ValueError
        raise TableError(f"{name}: not a Parquet file") from error
    columns = [column for column in table.column_names if not column.startswith(INDEX_COLUMN)]
    _check_label_columns(columns, name)
    nodes, labels = (table.column(column).to_pylist() for column in LABEL_COLUMNS)
    yield from zip(range(1, len(nodes) + 1), nodes, labels, strict=True)


def _check_label_columns(found: Sequence[str], where: str) -> None:
    if sorted(found) != sorted(LABEL_COLUMNS):
        raise TableError(f"{where}: columns {', '.join(found) or 'none'}; expected node, label")
