"""Changes of a graph <-> records of a journal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.checks import shortened
from nx_fastonl._lib.plain import from_json, to_json
from nx_fastonl._lib.records import RecordReader, RecordWriter
from nx_fastonl.graph.edgebunch import Ends, checked_bunch, checked_weight
from nx_fastonl.graph.events import (
    AddEdge,
    AddEdges,
    AddNodes,
    ExpireEdges,
    GraphEvent,
    RemoveEdge,
    RemoveEdges,
    RemoveNodes,
)

__all__ = ["GRAPH_EVENTS", "read_event", "write_event"]

# The first words of their records, which stay.
GRAPH_EVENTS = ("add nodes", "add edge", "add edges", "remove edge", "remove edges", "remove nodes", "expire edges")


def write_event(event: GraphEvent) -> bytes:
    """The record of a change. Raises if the name of a node cannot be written."""
    writer = RecordWriter()
    match event:
        case AddNodes(nodes):
            return writer.record(["add nodes", writer.names(nodes, "node")])
        case AddEdge(u, v, weight, time):
            return writer.record(["add edge", to_json(u, "node"), to_json(v, "node"), weight, time])
        case RemoveEdge(u, v):
            return writer.record(["remove edge", to_json(u, "node"), to_json(v, "node")])
        case AddEdges(edges):
            ends = [writer.names(edges.sources, "node"), writer.names(edges.targets, "node")]
            is_given = len(edges) > 0 and not np.isnan(edges.weights).all()
            weights = writer.array(edges.weights) if is_given else None
            times = None if edges.times is None else writer.array(edges.times)
            return writer.record(["add edges", *ends, weights, times])
        case RemoveEdges(sources, targets):
            return writer.record(["remove edges", writer.names(sources, "node"), writer.names(targets, "node")])
        case RemoveNodes(nodes, _):
            return writer.record(["remove nodes", writer.names(nodes, "node")])
        case ExpireEdges(time):
            return writer.record(["expire edges", time])


def read_event(reader: RecordReader, *, directed: bool) -> GraphEvent:
    """The change of a graph, directed or not, that a record is about; its first word is one of `GRAPH_EVENTS`."""
    kind, *content = reader.content
    if kind == "add nodes":
        return AddNodes(reader.listed(content[0]))
    if kind in ("add edge", "remove edge"):
        u, v = from_json(content[0]), from_json(content[1])
        if kind == "remove edge":
            return RemoveEdge(u, v)
        weight, time = (None if number is None else float(number) for number in content[2:4])
        return AddEdge(u, v, None if weight is None else checked_weight(u, v, weight, directed), time)
    if kind == "add edges":
        sources, targets = _ends(reader, *content[:2])
        n = len(sources)
        weights = np.full(n, np.nan) if content[2] is None else _numbers(reader, content[2], n)
        times = None if content[3] is None else _numbers(reader, content[3], n)
        return AddEdges(checked_bunch(sources, targets, weights, times, directed))
    if kind == "remove edges":
        return RemoveEdges(*_ends(reader, *content))
    if kind == "remove nodes":
        return RemoveNodes(reader.listed(content[0]))
    return ExpireEdges(float(content[0]))


def _ends(reader: RecordReader, sources: object, targets: object) -> tuple[Ends, Ends]:
    found = [reader.names(sources), reader.names(targets)]
    if len(found[0]) != len(found[1]):
        raise ValueError(f"a record has {len(found[0])} sources and {len(found[1])} targets")
    if not all(isinstance(ends, np.ndarray) for ends in found):
        found = [ends.tolist() if isinstance(ends, np.ndarray) else ends for ends in found]
    return found[0], found[1]


def _numbers(reader: RecordReader, entry: object, n: int) -> NDArray[np.float64]:
    found = reader.array(entry, np.float64)
    if len(found) != n or np.isinf(found).any():
        raise ValueError(f"a record has {shortened(entry)} numbers for {n} edges")
    return found
