"""Tables of edges and columns of nodes, of data frame libraries -> columns by their role, lists of nodes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np

from nx_fastonl._lib.checks import shortened
from nx_fastonl._lib.frames import Column, Table, is_frame, named_nodes
from nx_fastonl._lib.log import warn_caller
from nx_fastonl.graph.edgelayout import KNOWN_ENDS, are_ignored, known_columns, known_weight

__all__ = ["EdgeColumns", "edge_columns", "listed_nodes"]

ENDS_EXPECTED = (
    "expected columns source and target, or two with other names, in this order; weights are in a column named weight"
)


class EdgeColumns(NamedTuple):
    """The columns of a table of edges; None where it has none."""

    sources: Column
    targets: Column
    weights: Column | None
    times: Column | None


def edge_columns(table: Table, *, weights_matter: bool = True) -> EdgeColumns:
    """The columns by their names, as files of edges have them; or two columns in their order.

    Where weights matter, and none is found, a warning names the columns that may hold them.
    """
    lower = [name.lower() for name in table.columns]
    found, weight = known_columns(lower), known_weight(lower)
    time = lower.index("time") if lower.count("time") == 1 else -1
    ends = [number for number in range(len(lower)) if number not in (weight, time)] if found is None else found[:2]
    if len(ends) != 2:
        table.refuse(ENDS_EXPECTED, 2)
    if found is None:
        _check_order(table, *(table.columns[end] for end in ends))
    sources, targets = map(table.column, ends)
    weights, times = (table.column(number) if number >= 0 else None for number in (weight, time))
    others = [] if weight >= 0 or not weights_matter else [i for i in range(len(lower)) if i not in (*ends, time)]
    ignored = [table.columns[i] for i in others if table.column(i).has_numbers]
    if ignored:
        warn_caller(f"{table.name} is a table in which {are_ignored(ignored)}; a column named weight holds the weights")
    return EdgeColumns(sources, targets, weights, times)


def _check_order(table: Table, source: str, target: str) -> None:
    """Raise if one of two columns, which count by their order, has a name that says otherwise."""
    sources, targets = zip(*KNOWN_ENDS, strict=True)
    if source.lower() in targets or target.lower() in sources:
        raise ValueError(
            f"{table.name} is a table in which the column {shortened(source)} would hold the sources and "
            f"{shortened(target)} the targets, by their order, and a name says otherwise: name them source and target"
        )


def listed_nodes(nodes: Iterable[Any], name: str) -> list[Hashable]:
    """The nodes of a column or of a table with a column "node", as plain objects; of other collections as they are."""
    if not is_frame(nodes):
        return list(nodes)
    found = named_nodes(nodes, name)
    return found.tolist() if isinstance(found, np.ndarray) else found
