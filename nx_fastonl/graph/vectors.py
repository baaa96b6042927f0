"""Vectors over the nodes: dicts and arrays as callers pass them -> rows and values; rows and values -> arrays."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.checks import Unknown, a_few, shortened
from nx_fastonl._lib.frames import Column, Table, is_frame, read_frame
from nx_fastonl._lib.limits import LARGEST_NUMBER
from nx_fastonl.graph.base import RowGraph

# The rows and values of a sparse vector over the nodes.
SparseVector = tuple[NDArray[np.intp], NDArray[np.float64]]
# What callers pass for one: {node: value}, or floats in the order of the rows.
Masses = Mapping[Hashable, float] | NDArray[np.floating] | Column

# Kinds of numpy's types that hold nodes: integers, objects, texts and bytes.
NODE_KINDS = "iuOUST"


def sparse_vector(graph: RowGraph, masses: Masses, name: str, unknown: Unknown = "error") -> SparseVector:
    """Rows and values of a {node: mass} dict or a float array that holds some mass and nothing negative."""
    if isinstance(masses, Column):
        masses = _weights_of_rows(graph, masses, name)
    if isinstance(masses, np.ndarray):
        return _from_array(graph, masses, name)
    if not hasattr(masses, "items"):
        expected = f"a dict {{node: value}} or an array of {len(graph)} floats, one for each node"
        hint = "; np.asarray makes an array of a list" if isinstance(masses, list) else ""
        raise TypeError(f"{name} must be {expected}, got {shortened(masses)}{hint}")
    vector: dict[int, float] = {}
    skipped: list[Hashable] = []
    skips, largest = unknown == "skip", LARGEST_NUMBER
    for node, mass in masses.items():
        if skips and node not in graph:
            skipped.append(node)
            continue
        row = graph.index(node)
        try:
            value = math.nan if isinstance(mass, str) else float(mass)
        except (TypeError, ValueError, OverflowError):
            value = math.nan
        if not 0.0 <= value <= largest:
            raise ValueError(
                f"{name} gives node {shortened(node)} the value {shortened(mass)}; "
                f"it must be a number between 0 and {largest:g}"
            )
        if value > 0.0:
            vector[row] = vector.get(row, 0.0) + value
    if not vector:
        raise ValueError(_nothing_left(name, skipped))
    return np.array(list(vector)), np.array(list(vector.values()))


def unframed(values: Any, name: str) -> Any:
    """A table, column or iterator of weights or seeds as a dict or a list, which mean the same; others as they are.

    An iterator may run the caller's code, so it is read before a graph is. A column of numbers without names stays a
    `Column`: what it means depends on the graph.
    """
    if values is None:
        return None
    if isinstance(values, Iterator):
        return list(values)
    if not is_frame(values):
        return values
    found = read_frame(values, name)
    if isinstance(found, Table):
        if len(found.columns) == 1 and found.columns != ["weight"]:
            return found.column(0).nodes()
        nodes, weights = found.named("node", "weight")
        return _summed(nodes, weights)
    if not found.holds_numbers():
        return found.nodes()
    if found.index is None:
        return found
    if found.holds_integers() and found.index.holds_integers():
        raise ValueError(
            f"{name} is a column of integers with an index of integers, so it may be weights or seeds: pass "
            f"{name}.to_dict() for weights, {name}.to_list() for seeds"
        )
    return _summed(found.index, found) if found.has_names else found


def is_by_row(values: Any) -> bool:
    """Whether these may be weights in the order of the nodes."""
    return isinstance(values, np.ndarray | Column)


def weights_or_seeds(graph: RowGraph, column: Column, name: str) -> NDArray[np.float64] | list[Hashable]:
    """What a column of numbers without names holds: floats are weights, and integers seeds."""
    if not column.holds_integers():
        return _weights_of_rows(graph, column, name)
    if len(column) == len(graph):
        as_floats, as_list = column.casts
        raise ValueError(
            f"{name} is a column of integers with an entry for each of the {len(graph)} nodes, so it may be weights or "
            f"seeds: pass {name}.{as_floats} for weights, {name}.{as_list} for seeds"
        )
    return column.nodes()


def _weights_of_rows(graph: RowGraph, column: Column, name: str) -> NDArray[np.float64]:
    if column.holds_integers():
        raise ValueError(
            f"{name} is a column of integers; it must hold {len(graph)} floats, one for each node in the order of the "
            f"graph: pass {name}.{column.casts[0]}"
        )
    check_row_order(column, graph, name)
    return column.numbers()


def check_row_order(column: Column, graph: RowGraph, name: str) -> None:
    """Raise if a column without names may be other than a value for each node, in the graph's order.

    Where nodes are 0, 1, 2, ..., that is the order of the column. Otherwise nobody has seen the order of the nodes: it
    may be that of the edges of a table.
    """
    n_rows, n = len(column), len(graph)
    if n_rows != n:
        problem = f"it has {n_rows} rows, and the graph has {n} nodes"
    elif graph.nodes != range(n) and any(row != node for row, node in enumerate(graph.nodes)):
        problem = "the graph's nodes are not 0, 1, 2, ... in this order"
    else:
        return
    what = "a column" if column.index is None else "a column whose index is"
    counted = f", {name}.to_dict() if the index counts nodes" if column.index is not None else ""
    raise ValueError(
        f"{name} is {what} without names of nodes, and {problem}: pass dict(zip(nodes, {name})), where nodes are those "
        f"of {name}{counted}, or np.asarray({name}) if they are in the order of list(G)"
    )


def _summed(nodes: Column, weights: Column) -> dict[Hashable, float]:
    """The weight of each node, where a node may come several times."""
    found: dict[Hashable, float] = {}
    for node, weight in zip(nodes.nodes(), weights.numbers().tolist(), strict=True):
        found[node] = found.get(node, 0.0) + weight
    return found


def distribution(graph: RowGraph, masses: Masses, name: str, unknown: Unknown = "error") -> SparseVector:
    rows, values = sparse_vector(graph, masses, name, unknown)
    return rows, values / values.sum()


def dense_vector(graph: RowGraph, rows: NDArray[np.integer], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values in the order of all rows, 0 elsewhere."""
    vector = np.zeros(len(graph))
    vector[rows] = values
    return vector


def holds_weights(graph: Any, array: NDArray[Any], name: str) -> bool:
    """Whether an array is a weight for each node (floats), or names nodes. What could be either is an error."""
    kind, covers = array.dtype.kind, array.shape == (len(graph),)
    if isinstance(array, np.ma.MaskedArray):
        raise ValueError(_masked(name, "pass array.filled(0.0) for weights, array.compressed().tolist() for seeds"))
    if kind == "f" and covers:
        if graph.has_float_nodes:
            raise ValueError(
                f"{name} is an array of {array.dtype}, and the graph has floats as nodes: pass "
                "dict(zip(G, array.tolist())) for weights, array.tolist() for seeds"
            )
        return True
    if covers and (kind in "biu" or (kind == "O" and all(isinstance(entry, Real) for entry in array))):
        raise ValueError(
            f"{name} is an array of {array.dtype} with an entry for each of the {len(graph)} nodes, so it may be "
            "weights or seeds: pass array.astype(float) for weights, array.tolist() for seeds"
        )
    if array.ndim == 1 and kind in NODE_KINDS:
        return False
    raise ValueError(
        f"{name} is an array of {array.dtype} of shape {array.shape}: for weights pass {len(graph)} floats, one for "
        "each node in the order of the graph; for seeds pass a list of nodes, such as array.tolist()"
    )


def _from_array(graph: RowGraph, masses: NDArray[Any], name: str) -> SparseVector:
    if isinstance(masses, np.ma.MaskedArray):
        raise ValueError(_masked(name, "pass array.filled(0.0)"))
    values = np.array(masses)  # copied first: then nobody can change what was checked
    if values.dtype.kind != "f" or values.shape != (len(graph),):
        got = f"{name} is an array of {values.dtype} of shape {values.shape}"
        right = f"it must hold {len(graph)} floats, one for each node in the order of the graph"
        are_numbers = values.shape == (len(graph),) and values.dtype.kind in "biu"
        hint = ": pass array.astype(float)" if are_numbers else ""
        raise ValueError(f"{got}; {right}{hint}")
    with np.errstate(over="ignore"):  # long doubles above the largest double become infinite, which is refused
        values = values.astype(np.float64, copy=False)
    largest = LARGEST_NUMBER
    bad = ~((values >= 0.0) & (values <= largest))
    if bad.any():
        u = int(bad.argmax())
        raise ValueError(
            f"{name}[{u}], which is for node {shortened(graph.nodes[u])}, is {float(values[u])!r}; "
            f"it must be a number between 0 and {largest:g}"
        )
    rows = np.flatnonzero(values)
    if len(rows) == 0:
        raise ValueError(_nothing_left(name, []))
    return rows, values[rows]


def _masked(name: str, advice: str) -> str:
    return f"{name} is a masked array, whose masked entries have no value: {advice}"


def _nothing_left(name: str, skipped: list[Hashable]) -> str:
    if skipped:
        return f'{name} has no node of the graph with a positive value; unknown="skip" left out {a_few(skipped)}'
    return f"{name} sums to zero; at least one node needs a positive value"
