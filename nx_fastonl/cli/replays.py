"""The events that ``replay`` reads, and the answers that it writes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Self

from nx_fastonl._lib.checks import shortened
from nx_fastonl._lib.files import errors_name
from nx_fastonl._lib.progress import with_progress
from nx_fastonl._lib.streams import FileLike, sources_of
from nx_fastonl.cli.answers import UsageError, check_folder
from nx_fastonl.cli.formats import TableError
from nx_fastonl.cli.graphs import NamedGraph, open_or_read, reading_options
from nx_fastonl.cli.inputs import STANDARD_STREAM, opened
from nx_fastonl.cli.models import new_model, settings_of
from nx_fastonl.cli.render import line_of
from nx_fastonl.cli.screen import write
from nx_fastonl.graph.dynamic import DynamicGraph
from nx_fastonl.labeling.eventfile import Located, read_events
from nx_fastonl.labeling.events import NODES
from nx_fastonl.labeling.replay import Answer, Replay

__all__ = ["AnswerWriter", "open_replay"]

FORMATS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv"}


@contextmanager
def open_replay(arguments: Any) -> Iterator[Replay]:
    """The replay of a file or of standard input, on the graph and with the model that the arguments ask for."""
    if arguments.events == arguments.graph == STANDARD_STREAM:
        raise UsageError("EVENTS and --graph cannot both come from standard input")
    source = None
    if arguments.graph is not None:
        source = open_or_read(arguments)
    else:
        for name in reading_options(arguments):
            if name != "directed":
                raise UsageError(f"--{name} is for the file of --graph")
    graph = DynamicGraph(directed=arguments.directed) if source is None else DynamicGraph(source.graph)
    model = new_model(graph, arguments, settings_of(arguments))
    with _events_file(arguments.events) as file:
        located = read_events(file)
        events = with_progress(
            located if source is None else _named(located, source), None, arguments.progress, "event"
        )
        yield Replay(events, graph, model, arguments.window)


@contextmanager
def _events_file(path: str) -> Iterator[FileLike]:
    if path == STANDARD_STREAM:
        with opened(path) as file:
            yield file
    else:
        for source in sources_of(path):
            with errors_name(source.name):
                Path(source.name).stat()  # now, rather than when answers are expected
        yield path


def _named(events: Iterable[Located], graph: NamedGraph) -> Iterator[Located]:
    """The same events, with nodes named as in the file of the graph, where all are integers or all are texts."""
    for event in events:
        names = {name: graph.node(event.item[name]) for name in NODES if isinstance(event.item.get(name), int | str)}
        yield event._replace(item=event.item | names)


class AnswerWriter:
    """Writes answers, each at once, to standard output or a file, which is opened by ``with``.

    Made before the work begins, so that wrong arguments are reported at once.
    """

    def __init__(self, arguments: Any) -> None:
        self._path = None if arguments.output == STANDARD_STREAM else Path(arguments.output)
        found = "jsonl" if self._path is None else FORMATS.get(self._path.suffix.lower())
        self._format = arguments.format or found
        if self._format is None:
            raise UsageError(f"the suffix of {self._path} names no known format: add --format jsonl or csv")
        if self._path is not None:
            check_folder(self._path)
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        if self._path is not None:
            with errors_name(self._path):
                self._file = self._path.open("wb")
        if self._format == "csv":
            self._write(line_of(Answer._fields, ","))
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, answer: Answer) -> None:
        if self._format == "csv":
            self._write(line_of(answer, ","))
        else:
            self._write(json.dumps(answer._asdict(), ensure_ascii=False, default=str) + "\n")

    def _write(self, line: str) -> None:
        name = self._path or "standard output"
        try:
            content = line.encode()
        except UnicodeEncodeError:
            raise TableError(f"{name}: half of a character cannot be written, in {shortened(line)}") from None
        if self._file is None:
            write(content)
            return
        with errors_name(name):
            self._file.write(content)
            self._file.flush()
