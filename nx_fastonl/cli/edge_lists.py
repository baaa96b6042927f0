"""Graphs that come in as lists of edges."""

from __future__ import annotations

import re
from array import array
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np

from nx_fastonl._lib.checks import WEIGHT_RANGE, cut, shortened
from nx_fastonl._lib.progress import progress_bar
from nx_fastonl.cli.formats import TableError
from nx_fastonl.cli.inputs import column_count, is_header, longest_integer, lower, name_of, opened, rows_of_text
from nx_fastonl.graph.csr import CSRGraph

__all__ = ["NamedGraph", "parse_graph", "read_graph"]

EDGE_COLUMNS = ("source", "target", "weight")
# Names of the first two columns that are in use: a first line with one of these pairs is a header.
EDGE_ENDS = (("source", "target"), ("from", "to"), ("src", "dst"), ("u", "v"), ("node1", "node2"))
# Integers as Python writes them. "007" and "1_000" stay texts, so that they go out as they came in.
INTEGER = re.compile(r"0|-?[1-9][0-9]*")


class NamedGraph(NamedTuple):
    """A graph, the name of its file, and whether its nodes are integers (otherwise they are texts)."""

    name: str
    graph: CSRGraph
    integers: bool

    def node(self, name: Any) -> Hashable:
        """The node that has this name in another file or on the command line."""
        text = str(name)
        if not self.integers or not INTEGER.fullmatch(text):
            return text
        try:
            return int(text)
        except ValueError:  # it has more digits than any node of the graph
            return text


def read_graph(path: str, *, directed: bool = False, progress: bool = False) -> NamedGraph:
    """Read the graph of an edge list: two columns of nodes and, optionally, a third with weights.

    Tabs, commas or blanks separate the columns. Empty lines, and lines that begin with #, are skipped. A first line
    ``source,target[,weight]``, or from,to or similar, is a header. The weights of an edge that is listed twice add up;
    in an undirected graph, both directions are one edge. If the names of all nodes are integers, nodes are integers.

    Parameters
    ----------
    path : str
        The file; "-" for standard input.
    directed : bool, default False
        Whether edges lead only from the first column to the second.
    progress : bool, default False
        Count lines on standard error if reading takes longer than a second (needs tqdm).

    Returns
    -------
    NamedGraph
        Nodes are in order of appearance.

    Raises
    ------
    TableError
        If there are no edges, or a line is not an edge.
    OSError
        If the file cannot be read.
    """
    with opened(path) as file:
        lines = progress_bar(file, desc="reading", unit=" lines", delay=1, leave=False) if progress else file
        return parse_graph(lines, name_of(path), directed=directed)


def parse_graph(lines: Iterable[bytes], name: str, *, directed: bool = False) -> NamedGraph:
    """As `read_graph`, from the lines of a file that messages call `name`."""
    rows: dict[str, int] = {}
    sources, targets, weights = array("q"), array("q"), array("d")
    width, has_header = 0, False
    longest, too_long = longest_integer(), None
    for line, cells in rows_of_text(lines, name):
        if width == 0:
            width, has_header = _width(cells, name, line), _is_edge_header(cells)
            if has_header:
                continue
        if len(cells) != width:
            raise TableError(f"{name}, line {line}: {column_count(cells)}, but {width} in the first line")
        if "" in cells:
            raise TableError(f"{name}, line {line}: column {cells.index('') + 1} is empty")
        if len(cells[0]) > longest or len(cells[1]) > longest:
            too_long = too_long or _too_long(cells[:2], f"{name}, line {line}", longest)
        sources.append(rows.setdefault(cells[0], len(rows)))
        targets.append(rows.setdefault(cells[1], len(rows)))
        if width == 3:
            weights.append(_weight(cells[2], name, line))
    if not sources:
        raise TableError(f"{name} has no edges")
    names = list(rows)
    are_integers = [INTEGER.fullmatch(text) is not None for text in names]
    if not has_header and len(names) > 2 and all(are_integers[2:]) and all(text[0].isalpha() for text in names[:2]):
        # As two more nodes it would go unnoticed, and turn all integers into texts.
        found = cut(f"{names[0]}, {names[1]}")
        raise TableError(f"{name}: {found} looks like a header, which should read source, target")
    integers = all(are_integers)
    if integers and too_long:
        raise TableError(too_long)
    graph = CSRGraph.from_edges(
        np.asarray(sources),
        np.asarray(targets),
        np.asarray(weights) if width == 3 else None,
        nodes=[int(text) for text in names] if integers else names,
        directed=directed,
    )
    return NamedGraph(name, graph, integers)


def _too_long(cells: list[str], where: str, longest: int) -> str | None:
    """What is wrong with these names if they are integers."""
    for text in cells:
        digits = len(text.removeprefix("-"))
        if digits > longest:
            return f"{where}: a node of {digits:,} digits; where all nodes are integers, they have up to {longest:,}"
    return None


def _width(cells: list[str], name: str, line: int) -> int:
    """The number of columns in the first line."""
    if _is_edge_header(cells):
        if lower(cells)[:2] not in EDGE_ENDS or lower(cells)[2:] not in ((), ("weight",)):
            found = cut(", ".join(cells))
            raise TableError(f"{name}, line {line}: columns {found}; expected source, target and, optionally, weight")
    elif len(cells) not in (2, 3):
        raise TableError(
            f"{name}, line {line}: {column_count(cells)}; expected two nodes and, optionally, a weight, separated by "
            "commas, tabs or blanks"
        )
    return len(cells)


def _is_edge_header(cells: list[str]) -> bool:
    return is_header(cells, EDGE_COLUMNS) or lower(cells)[:2] in EDGE_ENDS


def _weight(text: str, name: str, line: int) -> float:
    smallest, largest = WEIGHT_RANGE
    try:
        value = float(text)
    except ValueError:
        raise TableError(f"{name}, line {line}: the weight must be a number, got {shortened(text)}") from None
    if not (value == 0.0 or smallest <= value <= largest):
        raise TableError(
            f"{name}, line {line}: the weight must be 0 or lie between {smallest:g} and {largest:g}, got {cut(text)}"
        )
    return value
