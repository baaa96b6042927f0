"""Labels as callers pass them: streams, mappings and attributes on one side, plain hashable objects on the other."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Sized
from typing import Any

import networkx as nx
import numpy as np

from nx_fastonl.graph import LiveGraph

MEANT = "labels must hold pairs (node, label), as zip(nodes, labels) makes them"

NO_NODE = object()

Labels = Mapping[Hashable, Hashable] | Iterable[tuple[Hashable, Hashable]] | str


def arrivals(G: Any, labels: Labels) -> tuple[Iterable[tuple[Hashable, Any]], int | None]:
    """The pairs of node and label, in order, and how many there are if that is known."""
    if isinstance(labels, str):
        if not isinstance(G, nx.Graph | LiveGraph):
            raise TypeError(f"labels={labels!r} names a node attribute, and only an nx.Graph has those")
        attributes = G.attributes if isinstance(G, LiveGraph) else dict(G.nodes(data=True))
        found = [(node, data[labels]) for node, data in attributes.items() if labels in data]
        if not found and len(G) > 0:
            raise ValueError(f"no node has the attribute {labels!r}")
        return found, len(found)
    if hasattr(labels, "itertuples"):
        raise TypeError("labels is a DataFrame; pass zip(frame[nodes], frame[labels]), naming the two columns")
    if not isinstance(labels, Iterable) or (isinstance(labels, np.ndarray) and labels.ndim == 0):
        raise TypeError(f"labels must be a dict, an iterable of (node, label) or an attribute's name, got {labels!r}")
    total = len(labels) if isinstance(labels, Sized) else None
    if hasattr(labels, "items"):
        return labels.items(), total
    return _pairs(labels), total


def _pairs(labels: Iterable[Any]) -> Iterator[tuple[Hashable, Any]]:
    for item in labels:
        if type(item) is not tuple:
            is_row = isinstance(item, tuple | list) or (isinstance(item, np.ndarray) and item.ndim == 1)
            if not is_row:
                raise TypeError(f"{MEANT}, got {item!r}")
        if len(item) != 2:
            raise TypeError(f"{MEANT}, got {item!r}")
        yield item


class PlainLabels(dict[Hashable, Hashable]):
    """Labels as plain Python objects, by the labels as they came; None for what marks a node without one."""

    def of(self, nodes: Sequence[Hashable], labels: Sequence[Any]) -> list[Hashable | None]:
        """The labels of these nodes."""
        try:
            return [self[label] for label in labels]
        except (TypeError, ValueError):  # to say of which node the bad label is
            pairs = zip(nodes, labels, strict=True)
            return [None if is_missing(label) else checked_label(node, label) for node, label in pairs]

    def __missing__(self, label: Any) -> Hashable | None:
        if is_missing(label):
            return None
        plain = self[label] = checked_label(NO_NODE, label)
        return plain


def is_missing(label: Any) -> bool:
    """Whether this marks a node without a label: None, or what pandas makes of it."""
    if label is None:
        return True
    try:
        return bool(label != label)
    except (TypeError, ValueError):  # pandas.NA cannot tell; an array is refused elsewhere
        return isinstance(label, Hashable)


def checked_label(node: Any, label: Any) -> Hashable:
    """A label that is one, as a plain Python object."""
    if isinstance(label, np.generic) and label.dtype.kind in "biufU":
        label = label.item()
    try:
        hash(label)
    except TypeError:
        whose = "" if node is NO_NODE else f" for node {node!r}"
        raise TypeError(f"a label must be hashable, got {label!r}{whose}") from None
    if is_missing(label):
        raise ValueError(f"the label of node {node!r} is {label!r}, which means that it has none")
    plain: Hashable = label
    return plain


def distinct_labels(classes: Iterable[Hashable]) -> list[Hashable]:
    """The labels that there are, each once."""
    if isinstance(classes, str | Mapping) or not isinstance(classes, Iterable):
        raise TypeError(f"classes must be a collection of labels, got {classes!r}")
    labels = list(classes)
    if any(isinstance(label, Hashable) and is_missing(label) for label in labels):
        raise ValueError(f"classes holds None or NaN, which mean that a node has no label, got {labels!r}")
    labels = [checked_label(NO_NODE, label) for label in labels]
    if len(set(labels)) < len(labels):
        raise ValueError(f"classes must hold each label once, got {labels!r}")
    if not labels:
        raise ValueError("classes is empty; leave it out to discover labels as they appear")
    return labels
