"""What can happen to a graph: each change as a value, before it is made."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple, TypeAlias

from nx_fastonl.graph.edgebunch import EdgeBunch, Ends

__all__ = ["AddEdge", "AddEdges", "AddNodes", "ExpireEdges", "GraphEvent", "RemoveEdge", "RemoveEdges", "RemoveNodes"]


class AddNodes(NamedTuple):
    """Nodes join, but for those that are there."""

    nodes: list[Hashable]


class AddEdges(NamedTuple):
    """Edges join, with the nodes that they need, or get other weights and times."""

    edges: EdgeBunch


class AddEdge(NamedTuple):
    """The same of one edge; `weight` and `time` are None where they were not given."""

    u: Hashable
    v: Hashable
    weight: float | None
    time: float | None


class RemoveEdges(NamedTuple):
    """Edges leave, as far as they are there."""

    sources: Ends
    targets: Ends


class RemoveEdge(NamedTuple):
    """One edge leaves, if it is there."""

    u: Hashable
    v: Hashable


class RemoveNodes(NamedTuple):
    """Nodes leave with their edges, as far as they are there."""

    nodes: list[Hashable]
    rows: list[int] | None = None  # of the nodes, where they were found already


class ExpireEdges(NamedTuple):
    """Edges leave whose time is before this one."""

    time: float


GraphEvent: TypeAlias = AddNodes | AddEdge | AddEdges | RemoveEdge | RemoveEdges | RemoveNodes | ExpireEdges
