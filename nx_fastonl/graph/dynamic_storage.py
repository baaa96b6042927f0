"""A DynamicGraph on disk, row by row as it is: JSON and arrays."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.arrays import restored_count
from nx_fastonl._lib.checks import shortened
from nx_fastonl._lib.plain import from_json
from nx_fastonl.graph.dynamic import GraphState
from nx_fastonl.graph.growing_names import NamesState
from nx_fastonl.graph.names import TextNames, integer_names
from nx_fastonl.graph.storage import name_arrays, storable_names

__all__ = ["read_state", "write_state"]

Arrays = dict[str, NDArray[Any]]
# The numbers of a graph's names.
COUNTS = ("n_used", "n_joined", "n_removals")


def write_state(state: GraphState) -> tuple[dict[str, Any], Arrays]:
    """What a graph is made of. Raises if the name of a node cannot be saved."""
    nodes = state.nodes
    arrays: Arrays = {
        "indptr": state.indptr,
        "indices": state.indices,
        "times": state.times,
        "removed": nodes.removed,
        "later_rows": nodes.later_rows,
        "free": nodes.free,
        "removals": nodes.removals,
        **{f"degrees_{i}": degrees for i, degrees in enumerate(state.degrees)},
    }
    if state.weights is not None:
        arrays["weights"] = state.weights
    details: dict[str, Any] = {"directed": state.directed, "positions": state.positions}
    details.update({name: getattr(nodes, name) for name in COUNTS})
    for part, names in (("first", nodes.first), ("later", tuple(nodes.later))):
        storable = storable_names(names)
        kind, found = name_arrays(storable)
        details[part] = [kind, len(storable)]
        arrays.update({f"{part}_{name}": array for name, array in found.items()})
    return details, arrays


def read_state(details: Mapping[str, Any], arrays: Arrays) -> GraphState:
    """The reverse. What the arrays hold is checked when a graph takes it; names are checked here."""
    numbers = [_array(arrays, name, np.int64) for name in ("removed", "later_rows", "free")]
    removed, later_rows, free = numbers
    later = list(_names("later", details["later"], arrays))
    counts = [restored_count(details[name], "names") for name in COUNTS]
    removals = _array(arrays, "removals", np.int64, dimensions=2)
    first = _names("first", details["first"], arrays)
    positions = [int(position) for position in details["positions"]]
    return GraphState(
        bool(details["directed"]),
        NamesState(first, removed, later, later_rows, free, counts[0], counts[1], counts[2], removals),
        _array(arrays, "indptr", np.int64),
        _array(arrays, "indices", np.int32),
        _array(arrays, "weights", np.float64) if "weights" in arrays else None,
        [_array(arrays, f"degrees_{i}", np.float64) for i in range(len(positions))],
        positions,
        _array(arrays, "times", np.float64, dimensions=2),
    )


def _names(part: str, described: Sequence[Any], arrays: Arrays) -> Sequence[Hashable]:
    kind, n = described
    if kind == "range":
        return range(n)
    if kind == "integers":
        names: Sequence[Hashable] = integer_names(_array(arrays, f"{part}_names", np.int64))
    elif kind == "texts":
        offsets = _array(arrays, f"{part}_name_offsets", np.int64)
        data = _array(arrays, f"{part}_names", np.uint8)
        if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(data) or (np.diff(offsets) < 0).any():
            raise ValueError(f"the offsets of {part} names are wrong")
        texts = TextNames(data, offsets)
        texts.slots  # noqa: B018  raises if two are equal
        names = texts
    elif kind == "json":
        names = tuple(map(from_json, json.loads(_array(arrays, f"{part}_names", np.uint8).tobytes())))
    else:
        raise ValueError(f"unknown kind of names {shortened(kind)}")
    if len(names) != n:
        raise ValueError(f"{len(names)} {part} names instead of {shortened(n)}")
    return names


def _array(arrays: Arrays, name: str, dtype: Any, dimensions: int = 1) -> NDArray[Any]:
    array = arrays[name]
    if array.dtype.newbyteorder("=") != dtype or array.ndim != dimensions:
        raise ValueError(f"{name} has {array.dtype} of shape {array.shape}")
    return array.astype(dtype, copy=False)
