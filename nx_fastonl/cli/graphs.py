"""Graphs that commands work on: files of edges, and folders that ``convert`` has made."""

from __future__ import annotations

import re
import warnings
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from nx_fastonl.cli.answers import UsageError
from nx_fastonl.cli.inputs import STANDARD_STREAM, name_of, opened
from nx_fastonl.cli.screen import shows_progress, warn
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.graph.names import IntegerNames

__all__ = [
    "NamedGraph",
    "in_options",
    "in_words_of_options",
    "is_folder",
    "open_or_read",
    "read_edges",
    "warnings_as_lines",
]

# Integers as Python writes them. "007" and "1_000" stay texts, so that they go out as they came in.
INTEGER = re.compile(r"0|-?[1-9][0-9]*")
# What messages call by the names of Python's arguments, and how to say it on the command line.
OPTIONS = (
    (re.compile(r"\bheader=True\b"), "--header"),
    (re.compile(r"\bheader=False\b"), "--no-header"),
    (re.compile(r"\bdirected=True\b"), "--directed"),
    (re.compile(r"\bpass graph="), "name it as GRAPH"),
    (re.compile(r"\bcolumns=\(([^)]*)\)"), lambda found: "--columns " + re.sub(r"[\s'\"]", "", found[1])),
    (re.compile(r"\b(delimiter|columns|header|comments)=(?=\s)"), r"--\1"),
    (re.compile(r"\b(delimiter|comments)=(?=\S)"), r"--\1 "),
)


class NamedGraph(NamedTuple):
    """A graph, and how messages call where it comes from."""

    name: str
    graph: CSRGraph

    def node(self, name: Any) -> Hashable:
        """The node that has this name in another file or on the command line."""
        text = str(name)
        if not INTEGER.fullmatch(text):
            return text
        try:
            number = int(text)
        except ValueError:  # it has more digits than any node of the graph
            return text
        has_integers_only = isinstance(self.graph.nodes, range | IntegerNames)
        return number if has_integers_only or (number in self.graph and text not in self.graph) else text

    def without_edges(self, nodes: Iterable[Hashable]) -> list[Hashable]:
        """Those of these nodes to which and from which no edge leads."""
        has_edges = self.graph.degrees > 0.0
        has_edges[self.graph.indices] = True
        return [node for node in nodes if not has_edges[self.graph.index(node)]]


def is_folder(path: str) -> bool:
    return path != STANDARD_STREAM and Path(path).is_dir()


def open_or_read(arguments: Any, nodes: Iterable[str] | None = None) -> NamedGraph:
    """The graph that the argument GRAPH names: a folder is opened, a file is read, with `nodes` added."""
    path = arguments.graph
    if not is_folder(path):
        return NamedGraph(name_of(path), read_edges([path], arguments, nodes))
    for name in reading_options(arguments):
        raise UsageError(f"{path} is a folder: --{name} is for files of edges, when they are converted")
    return NamedGraph(path, CSRGraph.open(path))


def reading_options(arguments: Any) -> list[str]:
    """Those of the options that say how files of edges are read which were given."""
    options = ("delimiter", "columns", "header", "comments", "directed")
    given = {name: getattr(arguments, name) for name in options}
    return [name for name, value in given.items() if value is not None and (value is not False or name == "header")]


def read_edges(paths: list[str], arguments: Any, nodes: Iterable[str] | None = None) -> CSRGraph:
    """The graph of files of edges. What there is to say about them goes to standard error, in a line each."""
    with _opened(paths) as files, in_words_of_options():
        return CSRGraph.from_edge_file(
            files,
            delimiter=arguments.delimiter,
            columns=arguments.columns,
            header=arguments.header,
            comments=arguments.comments,
            directed=arguments.directed,
            nodes=nodes,
            progress=shows_progress(),
        )


@contextmanager
def _opened(paths: list[str]) -> Iterator[list[Any]]:
    if STANDARD_STREAM not in paths:
        yield paths
        return
    with opened(STANDARD_STREAM) as file:
        yield [file if path == STANDARD_STREAM else path for path in paths]


@contextmanager
def in_words_of_options() -> Iterator[None]:
    """Warnings become lines, and these and errors name options of the command line."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            yield
        except (FileNotFoundError, ValueError) as error:
            if isinstance(error, OSError) and error.errno is not None:  # of the operating system
                raise
            kind = FileNotFoundError if isinstance(error, OSError) else ValueError
            raise kind(in_options(str(error))) from error
    for warning in found:
        warn(in_options(str(warning.message)))


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Warnings become lines, each at once."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *_, **__: warn(in_options(str(message)))
        yield


def in_options(message: str) -> str:
    """A message with the options of the command line in place of Python's arguments."""
    for pattern, option in OPTIONS:
        message = pattern.sub(option, message)
    return message
