"""What can happen to a graph: each change as a value, before it is made."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple, TypeAlias

from nx_fastonl.graph.edgebunch import EdgeBunch, Ends

__all__ = ["AddEdges", "AddNodes", "ExpireEdges", "GraphEvent", "RemoveEdges", "RemoveNodes"]


class AddNodes(NamedTuple):
    """Nodes join, but for those that are there."""

    nodes: list[Hashable]


class AddEdges(NamedTuple):
    """Edges join, with the nodes that they need, or get other weights and times."""

    edges: EdgeBunch


class RemoveEdges(NamedTuple):
    """Edges leave, as far as they are there."""

    sources: Ends
    targets: Ends


class RemoveNodes(NamedTuple):
    """Nodes leave with their edges, as far as they are there."""

    nodes: list[Hashable]


class ExpireEdges(NamedTuple):
    """Edges leave whose time is before this one."""

    time: float


GraphEvent: TypeAlias = AddNodes | AddEdges | RemoveEdges | RemoveNodes | ExpireEdges
