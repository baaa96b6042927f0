"""Models that ``label`` makes, goes on with and saves."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from networkx import NetworkXNotImplemented

from nx_fastonl._lib.checks import shortened
from nx_fastonl.cli.answers import UsageError
from nx_fastonl.cli.formats import TableError
from nx_fastonl.cli.graphs import NamedGraph, in_words_of_options, is_folder, open_or_read, reading_options
from nx_fastonl.cli.inputs import STANDARD_STREAM
from nx_fastonl.cli.label_tables import LabelTable
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.labeling.labeler import OnlineNodeLabeler
from nx_fastonl.learners.registry import kernel_of, smoothness_of

__all__ = ["check_arguments", "labeled_graph", "new_labels", "new_model", "save_model", "settings_of"]

# What a new model is made with, and a saved one has.
SETTINGS = ("method", "kernel", "smoothness", "seed")


def check_arguments(arguments: Any) -> None:
    """Raise UsageError for arguments that do not go together. Called before anything is read."""
    if arguments.graph == arguments.labels == STANDARD_STREAM:
        raise UsageError("GRAPH and LABELS cannot both come from standard input")
    if arguments.model is None:
        if arguments.graph is None:
            raise UsageError("GRAPH or LABELS is missing; with --model, both may be left out")
        if arguments.unknown == "add" and is_folder(arguments.graph):
            raise UsageError(f"{arguments.graph} is a folder: --unknown add adds nodes to files only")
        return
    if arguments.labels is not None and is_folder(arguments.labels):
        raise UsageError(f"{arguments.labels} is a folder, and LABELS a table; with --model, both may be left out")
    if arguments.labels is None and arguments.online:
        raise UsageError("--online needs LABELS, to predict them one by one")
    for name in SETTINGS:
        if getattr(arguments, name) is not None:
            raise UsageError(f"--{name} is for a new model: {arguments.model} has its own")
    for name in reading_options(arguments) if arguments.graph is None else ():
        raise UsageError(f"--{name} is for files of edges: {arguments.model} has its graph")
    if arguments.unknown == "add":
        raise UsageError(f"--unknown add cannot add nodes to the graph of {arguments.model}")


def new_labels(
    model: OnlineNodeLabeler, labels: dict[Hashable, Hashable], table: LabelTable
) -> dict[Hashable, Hashable]:
    """The labels that the model has not learned before. Raises for a node that has another label now."""
    known = model.labels.copy()
    for node, label in labels.items():
        if node in known and known[node] != label:
            raise TableError(
                f"{table.name}: node {shortened(node)} has the label {shortened(label)}, and the model has learned "
                f"{shortened(known[node])}"
            )
    return {node: label for node, label in labels.items() if node not in known}


def labeled_graph(arguments: Any, table: LabelTable | None) -> tuple[NamedGraph, OnlineNodeLabeler, dict[str, Any]]:
    """The graph, a model on it that has not yet learned the labels of the table, and how it was made."""
    if arguments.model is not None:
        return _saved(arguments)
    source = open_or_read(arguments, table.nodes if table is not None and arguments.unknown == "add" else None)
    settings = settings_of(arguments)
    return source, new_model(source.graph, arguments, settings), settings


def new_model(graph: Any, arguments: Any, settings: dict[str, Any]) -> OnlineNodeLabeler:
    """A model that has learned nothing."""
    try:
        return OnlineNodeLabeler(graph, **settings)
    except NetworkXNotImplemented:  # whose message names arguments of Python
        is_converted = arguments.graph is not None and is_folder(arguments.graph)
        instead = "convert it without --directed" if is_converted else "leave out --directed"
        raise UsageError(
            f"method {settings['method']!r} needs an undirected graph: {instead}, or use --method adaptive"
        ) from None


def save_model(model: OnlineNodeLabeler, graph: CSRGraph, path: str) -> None:
    """Save a model: with its graph, unless that is in a folder of its own."""
    model.save(path, include_graph=graph.path is None)


def settings_of(arguments: Any) -> dict[str, Any]:
    """What a new model is made with."""
    method = arguments.method or "adaptive"
    return {
        "method": method,
        "kernel": kernel_of(method, arguments.kernel),
        "smoothness": smoothness_of(method, arguments.smoothness, online=arguments.online),
        "seed": arguments.seed or 0,
    }


def _saved(arguments: Any) -> tuple[NamedGraph, OnlineNodeLabeler, dict[str, Any]]:
    source = None if arguments.graph is None else open_or_read(arguments)
    with in_words_of_options():
        model = OnlineNodeLabeler.load(arguments.model, None if source is None else source.graph)
    if source is None:
        source = NamedGraph(f"the graph of {arguments.model}", model.graph)
    return source, model, {"model": arguments.model}
