"""Graphs on disk: what of a CSRGraph is saved, and what is checked when it is opened."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.checks import shortened
from nx_fastonl._lib.folders import Content, DamagedError, Folder, check_sums, fingerprint_of, open_folder, write_folder
from nx_fastonl._lib.plain import from_json, to_json
from nx_fastonl.graph._check import find_damage
from nx_fastonl.graph.names import HALVES, IntegerNames, NameSlots, TextNames
from nx_fastonl.graph.rows import MAX_NODES, Rows

__all__ = [
    "StoredGraph",
    "Verify",
    "graph_content",
    "graph_fingerprint",
    "name_arrays",
    "names_content",
    "open_graph",
    "save_graph",
    "storable_names",
    "stored_graph",
    "stored_names",
]

# CSRGraph imports this module.
Graph = Any
Verify = Literal[True, False, "checksum"]

KIND = "nx_fastonl graph"
VERSION = 1


class StoredGraph(NamedTuple):
    """What opening a folder gives: the parts of a CSRGraph, mapped."""

    rows: Rows
    degrees: NDArray[np.float64]
    nodes: Sequence[Hashable]
    directed: bool
    self_loops: int
    fingerprint: str


def save_graph(graph: Graph, path: Path) -> str:
    """Save a graph to a folder; return its fingerprint."""
    return write_folder(path, KIND, VERSION, graph_content(graph))


def graph_content(graph: Graph) -> Content:
    """What is saved of a graph."""
    nodes = storable_names(graph.nodes)
    content = _content(graph, nodes)
    content.derived_details["self_loops"] = graph.self_loops
    content.derived_arrays["degrees"] = graph.degrees
    _add_derived(content, nodes)
    return content


def names_content(nodes: Sequence[Hashable]) -> Content:
    """What is saved of the names of a graph."""
    nodes = storable_names(nodes)
    kind, arrays = name_arrays(nodes)
    content = Content({"names": kind}, arrays, {}, {})
    _add_derived(content, nodes)
    return content


def _add_derived(content: Content, nodes: Sequence[Hashable]) -> None:
    """Add what names are found by."""
    if isinstance(nodes, IntegerNames):
        content.derived_details["ascending"] = nodes.ascending
    if isinstance(nodes, TextNames) or (isinstance(nodes, IntegerNames) and not nodes.ascending):
        content.derived_details["seed"] = nodes.slots.seed
        content.derived_arrays["slots"] = nodes.slots.slots


def graph_fingerprint(graph: Graph) -> str:
    """What tells a graph from others by its rows, weights and names: the same as in its folder, if it were saved."""
    return fingerprint_of(KIND, _content(graph, storable_names(graph.nodes)))


def open_graph(path: Path, verify: Verify) -> StoredGraph:
    """Map a saved graph to memory."""
    if verify not in (True, False, "checksum"):
        raise ValueError(f'verify must be True, False or "checksum", got {shortened(verify)}')
    folder = open_folder(path, KIND, VERSION)
    if verify == "checksum":
        check_sums(folder)
    return stored_graph(folder, check=verify is not False)


def stored_graph(folder: Folder, *, check: bool) -> StoredGraph:
    """The parts of a graph in an open folder."""
    try:
        return _stored(folder, check=check)
    except DamagedError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise DamagedError(folder.path, f"its arrays and its manifest do not fit together ({error})") from error


def _content(graph: Graph, nodes: Sequence[Hashable]) -> Content:
    arrays = {"indptr": graph.indptr, "indices": graph.indices}
    if graph.weights is not None:
        arrays["weights"] = graph.weights
    kind, names = name_arrays(nodes)
    details = {"nodes": len(nodes), "directed": graph.is_directed(), "names": kind}
    return Content(details, {**arrays, **names}, {}, {})


def name_arrays(nodes: Sequence[Hashable]) -> tuple[str, dict[str, NDArray[Any]]]:
    """The kind of names that `storable_names` gave, and their arrays."""
    if isinstance(nodes, range):
        return "range", {}
    if isinstance(nodes, IntegerNames):
        return "integers", {"names": nodes.values}
    if isinstance(nodes, TextNames):
        return "texts", {"names": nodes.data, "name_offsets": nodes.offsets}
    return "json", {"names": np.frombuffer(json.dumps(nodes).encode(), dtype=np.uint8)}


def storable_names(nodes: Sequence[Hashable]) -> Sequence[Hashable]:
    """The names in arrays, where all are integers or all are texts; otherwise as a list for JSON."""
    if not isinstance(nodes, tuple):
        return nodes
    plain = [to_json(node, "node") for node in nodes]
    if all(type(node) is int and -(2**63) <= node < 2**63 for node in plain):
        return IntegerNames(np.array(plain, dtype=np.int64))
    if all(type(node) is str for node in plain):
        texts = [node.encode(errors=HALVES) for node in plain]
        offsets = np.zeros(len(texts) + 1, dtype=np.int64)
        np.cumsum([len(text) for text in texts], out=offsets[1:])
        return TextNames(np.frombuffer(b"".join(texts), dtype=np.uint8), offsets)
    return plain


def _stored(folder: Folder, *, check: bool) -> StoredGraph:
    details, arrays, derived, derived_arrays = folder.content
    n, directed, kind = details["nodes"], details["directed"], details["names"]
    loops = derived["self_loops"]
    if type(n) is not int or not 1 <= n <= MAX_NODES or type(directed) is not bool or type(loops) is not int:
        raise ValueError(f"{shortened(n)} nodes, directed: {shortened(directed)}, {shortened(loops)} self-loops")
    indices = _array(arrays, "indices", np.int32)
    rows = Rows(
        _array(arrays, "indptr", np.int64, n + 1),
        indices,
        _array(arrays, "weights", np.float64, len(indices)) if "weights" in arrays else None,
    )
    degrees = _array(derived_arrays, "degrees", np.float64, n)
    nodes = _names(kind, n, folder.content)
    if check:
        damage = find_damage(*rows, degrees, *_name_finders(folder.content), directed=directed)
        damage = damage or _disorder(nodes, folder.content)
        if damage is None and not 0 <= loops <= n:
            damage = f"there are {loops} self-loops"
        if damage is not None:
            raise DamagedError(folder.path, damage)
    return StoredGraph(rows, degrees, nodes, directed, loops, folder.fingerprint)


def stored_names(folder: Folder, n: int) -> Sequence[Hashable]:
    """The names that `names_content` gave to a folder, checked; with their checksum where they are read whole."""
    try:
        nodes = _names(folder.content.details["names"], n, folder.content)
        if isinstance(nodes, range):
            return nodes
        if isinstance(nodes, tuple) or (isinstance(nodes, IntegerNames) and nodes.ascending):
            check_sums(folder, ["names"])
        no_edges = np.zeros(n + 1, dtype=np.int64), np.empty(0, dtype=np.int32), None, np.zeros(n)
        damage = find_damage(*no_edges, *_name_finders(folder.content)) or _disorder(nodes, folder.content)
    except DamagedError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise DamagedError(folder.path, f"its names do not fit together ({error})") from error
    if damage is not None:
        raise DamagedError(folder.path, damage)
    return nodes


def _name_finders(content: Content) -> tuple[NDArray[Any] | None, NDArray[Any], int]:
    """What finds names by texts and slots, for `find_damage`."""
    slots = content.derived_arrays.get("slots", np.empty(0, dtype=np.int32))
    return content.arrays.get("name_offsets"), slots, len(content.arrays.get("names", ()))


def _disorder(nodes: Sequence[Hashable], content: Content) -> str | None:
    if isinstance(nodes, IntegerNames) and content.derived_details["ascending"]:
        return None if (nodes.values[1:] > nodes.values[:-1]).all() else "names do not ascend"
    return None


def _names(kind: str, n: int, content: Content) -> Sequence[Hashable]:
    """The names of the nodes. Integers and texts stay where they are, and so do the slots to find them by."""
    if kind == "range":
        return range(n)
    slots = None
    if "slots" in content.derived_arrays:
        found = _array(content.derived_arrays, "slots", np.int32)
        seed = content.derived_details["seed"]
        if len(found) < 2 * n or len(found) & (len(found) - 1) or type(seed) is not int or not 0 <= seed < 2**64:
            raise ValueError(f"{len(found)} slots for {n} names")
        slots = NameSlots(found, seed)
    if kind == "integers":
        ascending = bool(content.derived_details["ascending"])
        return IntegerNames(_array(content.arrays, "names", np.int64, n), slots, ascending=ascending)
    names = _array(content.arrays, "names", np.uint8)
    if kind == "texts":
        return TextNames(names, _array(content.arrays, "name_offsets", np.int64, n + 1), slots)
    if kind == "json":
        return tuple(map(from_json, json.loads(names.tobytes())))
    raise ValueError(f"unknown kind of names {shortened(kind)}")


def _array(arrays: dict[str, NDArray[Any]], name: str, dtype: Any, size: int | None = None) -> NDArray[Any]:
    """An array of this type and size, as the machine reads it."""
    array = arrays[name]
    if array.dtype.newbyteorder("=") != dtype or array.ndim != 1 or (size is not None and len(array) != size):
        raise ValueError(f"{name} has {array.dtype} of shape {array.shape}")
    return array.astype(dtype, copy=False)
