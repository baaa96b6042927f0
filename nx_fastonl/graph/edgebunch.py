"""Edges as NetworkX's methods take them -> their ends, weights and times side by side, checked."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nx_fastonl._lib.checks import as_float, shortened
from nx_fastonl._lib.frames import Table, is_frame, one_column, read_frame
from nx_fastonl._lib.limits import allowed_weights, weight_range
from nx_fastonl.graph.edgetable import edge_columns

__all__ = ["EdgeBunch", "checked_bunch", "checked_node", "checked_time", "checked_weight", "edge_bunch"]

# Names of nodes: integers in an array, or any objects in a list.
Ends = NDArray[np.int64] | list[Hashable]


class EdgeBunch(NamedTuple):
    """Edges, each with a weight and a time; where either was not given, it is not a number."""

    sources: Ends
    targets: Ends
    weights: NDArray[np.float64]
    times: NDArray[np.float64] | None  # None where no edge has one

    def __len__(self) -> int:
        return len(self.sources)

    def unweighted(self) -> EdgeBunch:
        """The same edges without weights."""
        return EdgeBunch(self.sources, self.targets, np.full(len(self), np.nan), self.times)


def edge_bunch(
    edges: Any,
    weights: ArrayLike | None = None,
    times: ArrayLike | None = None,
    *,
    weighted: bool = False,
    ends_only: bool = False,
    directed: bool = False,
) -> EdgeBunch:
    """The edges of an array with two columns, of a table, or of tuples, as ``nx.Graph.add_edges_from`` takes them.

    With `weighted`, the third entry of each tuple is its weight, otherwise it is a dict that may hold a "weight". With
    `ends_only`, it does not matter. Of arcs, as `directed` says they are, weights are checked as arcs.
    """
    weights, times = _numbers(weights, "weights"), _numbers(times, "times")
    if is_frame(edges):
        return _of_table(read_frame(edges, "edges"), weights, times, weighted, ends_only, directed)
    if isinstance(edges, np.ndarray):
        columns = 3 if weighted else 2
        if edges.ndim != 2 or edges.shape[1] != columns:
            raise ValueError(f"an array of edges must have {columns} columns, got one of shape {edges.shape}")
        edges = np.array(edges)  # copied first: then nobody can change what was checked
        if weighted:
            weights, edges = edges[:, 2], edges[:, :2]
            if edges.dtype.kind == "f" and (edges == np.trunc(edges)).all() and (np.abs(edges) < 2**53).all():
                edges = edges.astype(np.int64)
        if edges.dtype.kind in "iu":
            if edges.dtype.kind == "u" and edges.size and edges.max() > np.iinfo(np.int64).max:
                raise ValueError(f"a node that is an integer may have 63 bits here, got {edges.max()}")
            sources, targets = (np.ascontiguousarray(edges[:, i], dtype=np.int64) for i in (0, 1))
            return checked_bunch(sources, targets, weights, times, directed)
        ends = edges.tolist()
        return checked_bunch(
            [checked_node(u) for u, _ in ends], [checked_node(v) for _, v in ends], weights, times, directed
        )
    found = [_edge(edge, weighted, ends_only, directed) for edge in _iterated(edges)]
    bunch = checked_bunch([u for u, _, _ in found], [v for _, v, _ in found], weights, times, directed)
    if weights is not None:
        return bunch
    values = [np.nan if weight is None else checked_weight(u, v, weight, directed) for u, v, weight in found]
    return EdgeBunch(bunch.sources, bunch.targets, np.array(values, dtype=np.float64), bunch.times)


def _numbers(values: ArrayLike | None, name: str) -> ArrayLike | None:
    return one_column(values, name, name.removesuffix("s")).numbers() if is_frame(values) else values


def _of_table(table: Any, weights: Any, times: Any, weighted: bool, ends_only: bool, directed: bool) -> EdgeBunch:
    """Integers that fit into an array stay in one."""
    if not isinstance(table, Table):
        raise TypeError("edges must be a table with the columns source and target, got one column")
    columns = edge_columns(table, weights_matter=not ends_only and weights is None)
    sources: Ends | None = columns.sources.integers()
    targets: Ends | None = columns.targets.integers()
    if sources is None or targets is None:
        sources, targets = ([checked_node(node) for node in column.nodes()] for column in columns[:2])
    if weighted and columns.weights is None:
        table.refuse("expected columns source, target and weight", 3)
    for name, column, given in (("weights", columns.weights, weights), ("times", columns.times, times)):
        if given is not None and column is not None and not ends_only:
            raise ValueError(f"the {name} of edges are in {column.name}: leave {name}= out")
    if not ends_only:
        weights = weights if columns.weights is None else columns.weights.numbers()
        times = times if columns.times is None else columns.times.numbers()
    return checked_bunch(sources, targets, weights, times, directed)


def _iterated(edges: Any) -> Iterable[Any]:
    if isinstance(edges, str) or not isinstance(edges, Iterable):
        raise TypeError(
            f"edges must be a table, an array with two columns or an iterable of tuples, got {shortened(edges)}"
        )
    return edges


def _edge(edge: Any, weighted: bool, ends_only: bool, directed: bool) -> tuple[Hashable, Hashable, Any]:
    if not isinstance(edge, Sequence | np.ndarray) or isinstance(edge, str) or len(edge) not in (2, 3):
        raise TypeError(f"an edge must be a tuple (u, v) or (u, v, data), got {shortened(edge)}")
    if weighted and len(edge) == 2:
        raise TypeError(f"an edge with a weight must be a tuple (u, v, weight), got {shortened(edge)}")
    weight: Any = None
    if len(edge) == 3 and not ends_only:
        weight = edge[2]
        if weighted and weight is None:
            _refuse(edge[0], edge[1], weight, directed)
        if not weighted:
            if not hasattr(weight, "get"):
                raise TypeError(
                    f"the third entry of an edge must be a dict, got {shortened(weight)}; "
                    "add_weighted_edges_from takes tuples (u, v, weight)"
                )
            if "time" in weight:
                raise ValueError(
                    f"an edge's dict may hold its weight, got {shortened(edge)}; times are given by times="
                )
            weight = weight.get("weight")
    return checked_node(edge[0]), checked_node(edge[1]), weight


def checked_node(node: Any) -> Hashable:
    """A node as a plain Python object; an error if it cannot be one."""
    if isinstance(node, np.generic):
        node = node.item()
    if node is None:
        raise ValueError("None cannot be a node")
    try:
        hash(node)
    except TypeError:
        raise TypeError(f"a node must be hashable, got {shortened(node)}") from None
    found: Hashable = node
    return found


def checked_weight(u: Hashable, v: Hashable, weight: Any, directed: bool) -> float:
    """The weight of an edge, or of an arc, as a float; an error if it cannot be one."""
    try:
        found = np.nan if isinstance(weight, str | bool) else as_float(weight)
    except (TypeError, ValueError):
        found = np.nan
    smallest, largest = weight_range(directed)
    if not smallest <= found <= largest:
        _refuse(u, v, weight, directed)
    return found


def _refuse(u: Hashable, v: Hashable, weight: Any, directed: bool) -> None:
    raise ValueError(
        f"edge ({shortened(u)}, {shortened(v)}) has weight {shortened(weight)}; a weight must be "
        f"{allowed_weights(directed)}; remove_edge removes an edge"
    )


def checked_bunch(
    sources: Ends, targets: Ends, weights: ArrayLike | None, times: ArrayLike | None, directed: bool
) -> EdgeBunch:
    """Edges whose ends were checked, with weights and times that are checked here. A weight that is NaN is missing."""
    values = np.full(len(sources), np.nan)
    if weights is not None:
        given = np.array(weights)
        if given.shape != (len(sources),) or given.dtype.kind not in "iuf":
            got = f"{given.dtype} of shape {given.shape}"
            raise ValueError(f"weights must be a number for each of the {len(sources)} edges, got {got}")
        with np.errstate(over="ignore"):
            values = given.astype(np.float64)
        smallest, largest = weight_range(directed)
        bad = ~(((values >= smallest) & (values <= largest)) | np.isnan(values))
        if bad.any():
            i = int(bad.argmax())
            u, v = (ends[i].item() if isinstance(ends, np.ndarray) else ends[i] for ends in (sources, targets))
            _refuse(u, v, given[i].item(), directed)
    return EdgeBunch(sources, targets, values, _checked_times(times, len(sources)))


def checked_time(time: Any) -> float:
    """A time as a float; an error if it is none."""
    if isinstance(time, bool) or not isinstance(time, Real):
        raise TypeError(f"time must be a number, got {shortened(time)}{_how_to_number(time)}")
    found = as_float(time)
    if not math.isfinite(found):
        raise ValueError(f"time must be a finite number, got {shortened(time)}")
    return found


def _checked_times(times: ArrayLike | None, count: int) -> NDArray[np.float64] | None:
    if times is None:
        return None
    given = np.array(times)
    if given.dtype.kind == "M":
        raise TypeError("times must be numbers, got datetimes: pass array.astype('datetime64[s]').astype(float)")
    if given.shape == (count,) and given.dtype.kind in "UO":
        bad = next((time for time in given.tolist() if isinstance(time, bool) or not isinstance(time, Real)), None)
        raise TypeError(
            f"times must be a number for each of the {count} edges, got {shortened(bad)}{_how_to_number(bad)}"
        )
    if given.shape != (count,) or given.dtype.kind not in "iuf":
        raise ValueError(
            f"times must be a number for each of the {count} edges, got {given.dtype} of shape {given.shape}"
        )
    found = given.astype(np.float64)
    if not np.isfinite(found).all():
        raise ValueError(f"times must be finite numbers, got {found[~np.isfinite(found)][0]}")
    return found


def _how_to_number(time: Any) -> str:
    """How to make seconds of a date, if this is one."""
    if isinstance(time, datetime):
        return "; its timestamp() is one"
    if isinstance(time, str):
        with suppress(ValueError):
            datetime.fromisoformat(time)
            return f"; datetime.fromisoformat({time!r}).timestamp() makes seconds of it"
    return ""
