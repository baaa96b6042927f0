"""Labels as callers pass them: mappings, pairs, arrays or the name of an attribute -> pairs of a node and its label."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Sized
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.checks import Unknown, UnknownLabels, a_few, check_unknown, shortened
from nx_fastonl._lib.frames import Column, Table, is_frame, one_column, read_frame
from nx_fastonl._lib.plain import is_missing
from nx_fastonl.graph.base import RowGraph
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.graph.edgebunch import checked_node
from nx_fastonl.graph.live import LiveGraph
from nx_fastonl.graph.names import of_other_type
from nx_fastonl.graph.vectors import check_row_order

# In an integer array or column, a node without a label: scikit-learn's convention. Anywhere else it is a label.
UNLABELLED = -1
PAIRS_EXPECTED = (
    "labels must hold pairs (node, label), as zip(nodes, labels) makes them; "
    "if it is a list with one label for each node, in the order of the graph, pass np.asarray(labels)"
)
NO_NODE = object()
# Kinds of numpy's types whose values have an equal plain Python object.
PLAIN_KINDS = "biufUS"

# Tables and columns of data frame libraries have no type in common.
Labels = Mapping[Hashable, Hashable] | Iterable[tuple[Hashable, Hashable]] | NDArray[Any] | str | Any


def read_attribute(G: Any, labels: Labels) -> Labels:
    """The labels as they are or, where `labels` is the name of a node attribute of `G`, what that attribute holds."""
    if not isinstance(labels, str):
        return labels
    if not isinstance(G, nx.Graph | LiveGraph):
        raise TypeError(f"labels={shortened(labels)} names a node attribute, and only an nx.Graph has those")
    attributes = G.attributes if isinstance(G, LiveGraph) else dict(G.nodes(data=True))
    found = {node: data[labels] for node, data in attributes.items() if labels in data}
    if not found and len(G) > 0:
        raise ValueError(f"no node has the attribute {shortened(labels)}")
    return found


def label_stream(labels: Labels, graph: CSRGraph) -> tuple[Iterable[tuple[Hashable, Any]], int | None]:
    """Pairs of a node and its label, in order of arrival, and how many there are if that is known.

    An array holds a label for each node, in the order of the graph's rows. So does a column without names of nodes, and
    the nodes must be 0, 1, 2, ... in this order. The unlabelled nodes of both are left out. Other labels may be such
    that `is_missing`.
    """
    if isinstance(labels, str):
        raise TypeError(
            f"labels={shortened(labels)} names a node attribute, and the labeler has no attributes: "
            f"pass nx.get_node_attributes(G, {shortened(labels)})"
        )
    if is_frame(labels):
        return _of_frame(read_frame(labels, "labels"), graph)
    if not isinstance(labels, Iterable) or (isinstance(labels, np.ndarray) and labels.ndim == 0):
        raise TypeError(
            "labels must be a dict, pairs (node, label), a table of nodes and labels, an array with a label for each "
            f"node or an attribute's name, got {shortened(labels)}"
        )
    if hasattr(labels, "items"):
        return labels.items(), len(labels) if isinstance(labels, Sized) else None
    if isinstance(labels, np.ndarray) and labels.ndim == 1 and labels.dtype.kind != "V":
        return _by_row(labels, graph)
    total = len(labels) if isinstance(labels, Sized) else None
    if isinstance(labels, np.ndarray) and labels.ndim == 2:
        return _pairs(labels.tolist()), total
    return _pairs(labels), total


def _by_row(labels: NDArray[Any], graph: CSRGraph) -> tuple[Iterable[tuple[Hashable, Any]], int]:
    """The nodes of the rows that have a label, with their labels."""
    if len(labels) != len(graph):
        raise ValueError(
            f"labels is an array of length {len(labels)} and the graph has {len(graph)} nodes; "
            "an array must hold a label for each node, in the order of the graph"
        )
    values: NDArray[Any] = np.ma.getdata(labels)
    labelled = ~np.ma.getmaskarray(labels)
    if values.dtype.kind in "fcmM":
        labelled &= values == values  # neither NaN nor NaT
    elif values.dtype.kind not in "biuUS":
        labelled &= np.fromiter((not is_missing(label) for label in values), dtype=bool, count=len(values))
    if values.dtype.kind in "iu":
        labelled[labelled] = values[labelled] != UNLABELLED
    rows = np.flatnonzero(labelled).tolist()
    nodes = rows if isinstance(graph.nodes, range) else map(graph.nodes.__getitem__, rows)
    known = values[labelled]
    return zip(nodes, known.tolist() if known.dtype.kind in PLAIN_KINDS else known, strict=True), len(rows)


def _of_frame(labels: Table | Column, graph: CSRGraph) -> tuple[Iterable[tuple[Hashable, Any]], int]:
    """The same of a table of nodes and labels, or of a column of labels. An index with names holds the nodes."""
    if isinstance(labels, Table):
        nodes, column = labels.named("node", "label")
        return zip(nodes.nodes(), column.values(), strict=True), len(column)
    values = labels.values()
    if {type(label) for label in values if label is not None} == {int}:
        values = [None if label == UNLABELLED else label for label in values]
    if labels.index is not None and labels.has_names:
        return zip(labels.index.nodes(), values, strict=True), len(values)
    check_row_order(labels, graph, "labels")
    return _by_row(np.fromiter(values, dtype=object, count=len(values)), graph)


def _pairs(labels: Iterable[Any]) -> Iterator[tuple[Hashable, Any]]:
    for item in labels:
        if type(item) is not tuple:
            is_sequence = isinstance(item, tuple | list) or (isinstance(item, np.ndarray) and item.ndim == 1)
            if not is_sequence:
                raise TypeError(f"{PAIRS_EXPECTED}; got {shortened(item)}")
        if len(item) != 2:
            raise TypeError(f"{PAIRS_EXPECTED}; got {shortened(item)}")
        yield item


def with_labels(pairs: Iterable[tuple[Hashable, Any]]) -> Iterator[tuple[Hashable, Any]]:
    """The pairs whose label is not missing: of the others, the nodes need not be in the graph."""
    return ((node, label) for node, label in pairs if not is_missing(label))


def unknown_nodes(
    pairs: Sequence[tuple[Hashable, Any]], graph: RowGraph, unknown: UnknownLabels, *, can_grow: bool
) -> list[Hashable]:
    """The nodes of these pairs that the graph does not have; an error unless `unknown` says what becomes of them."""
    with graph.reading():
        missing = [node for node, _ in pairs if node not in graph]
    if unknown != "error":
        missing = [checked_node(node) for node in missing]
    if not missing or (unknown == "skip" and len(missing) < len(pairs)) or unknown == "add":
        return list(dict.fromkeys(missing))
    distinct = list({repr(node): node for node in missing}.values())  # they need not be hashable
    hint = of_other_type(distinct[0], graph)
    if unknown == "skip":
        raise ValueError(f'no node of labels is in the graph{hint}; unknown="skip" left out {a_few(distinct)}')
    them = "it" if len(distinct) == 1 else "them"
    add = f', unknown="add" adds {them} without edges' if can_grow else ""
    which = f"node {a_few(distinct)} is" if len(distinct) == 1 else f"{len(distinct):,} nodes of labels are"
    listed = "" if len(distinct) == 1 else f": {a_few(distinct)}"
    raise nx.NodeNotFound(f'{which} not in the graph{hint}{listed}; unknown="skip" leaves {them} out{add}')


def known_labels(labels: Labels, graph: CSRGraph, unknown: Unknown) -> list[tuple[Hashable, Any]]:
    """The nodes that have a label, and these: of nodes in the graph, if `unknown` does not make an error of others."""
    check_unknown(unknown)
    pairs = list(with_labels(label_stream(labels, graph)[0]))
    skipped = set(unknown_nodes(pairs, graph, unknown, can_grow=False))
    return [(node, label) for node, label in pairs if node not in skipped] if skipped else pairs


class PlainLabels(dict[Hashable, Hashable]):
    """From labels as callers pass them to plain Python objects; to None where a node has no label."""

    def of(self, nodes: Sequence[Hashable], labels: Sequence[Any]) -> list[Hashable | None]:
        """The labels of these nodes."""
        try:
            return [self[label] for label in labels]
        except (TypeError, ValueError):  # find the node of the bad label, and name it
            pairs = zip(nodes, labels, strict=True)
            return [None if is_missing(label) else checked_label(node, label) for node, label in pairs]

    def __missing__(self, label: Any) -> Hashable | None:
        if is_missing(label):
            return None
        plain = self[label] = checked_label(NO_NODE, label)
        return plain


def checked_label(node: Any, label: Any) -> Hashable:
    """The label as a plain Python object; an error if it is missing or cannot be hashed."""
    if isinstance(label, np.generic) and label.dtype.kind in PLAIN_KINDS:
        label = label.item()
    try:
        hash(label)
    except TypeError:
        whose = "" if node is NO_NODE else f" for node {shortened(node)}"
        raise TypeError(f"a label must be hashable, got {shortened(label)}{whose}") from None
    if is_missing(label):
        raise ValueError(f"the label of node {shortened(node)} is {shortened(label)}, which means that it has none")
    plain: Hashable = label
    return plain


def distinct_labels(classes: Iterable[Hashable]) -> list[Hashable]:
    """All possible labels, as a caller gives them, each once."""
    if isinstance(classes, str | Mapping) or not isinstance(classes, Iterable):
        raise TypeError(f"classes must be a collection of labels, got {shortened(classes)}")
    labels = one_column(classes, "classes", "label").values() if is_frame(classes) else list(classes)
    if any(isinstance(label, Hashable) and is_missing(label) for label in labels):
        raise ValueError(f"classes holds None or NaN, which mean that a node has no label, got {a_few(labels)}")
    labels = [checked_label(NO_NODE, label) for label in labels]
    if len(set(labels)) < len(labels):
        raise ValueError(f"classes must hold each label once, got {a_few(labels)}")
    if not labels:
        raise ValueError("classes is empty; leave it out to discover labels as they appear")
    return labels
