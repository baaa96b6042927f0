"""Models on disk: a learner as JSON and arrays, and the graph that it learns on.

This is what pickle does, for the classes of a learner and no others. Each says by its ``__reduce__`` or
``__getstate__`` what it is made of, and checks that when it is made again. A file can choose among these classes, and
can run no code.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.folders import Content, DamagedError, Folder, check_sums, open_folder, read_arrays, write_folder
from nx_fastonl.graph.arrows import Arrows
from nx_fastonl.graph.convert import as_csr_graph
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.graph.dynamic_rows import DynamicArrows, DynamicRows
from nx_fastonl.graph.storage import graph_content, stored_graph
from nx_fastonl.kernels import graph_kernel
from nx_fastonl.learners import _diffusion, _history, _mixture, _neighbors, _relaxation, tuning
from nx_fastonl.learners.adaptive import AdaptiveLearner
from nx_fastonl.learners.base import Learner
from nx_fastonl.learners.columns import ColumnLearner, ExactColumns, PushColumns, restored_series
from nx_fastonl.learners.diffusion import Diffusion
from nx_fastonl.learners.fastonl import FastONL, FifoFastONL
from nx_fastonl.learners.perceptron import Perceptron
from nx_fastonl.learners.registry import undirected_for
from nx_fastonl.learners.voters import WeightedMajority, WeightedTree

__all__ = ["SavedLearner", "decode_learner", "encode_learner", "read_model", "write_model"]

KIND = "nx_fastonl model"
VERSION = 1
# The arrays of the graph beside those of the model.
GRAPH = "graph_"

# What a learner is made of. The names stand in files, and stay.
CLASSES: dict[str, type[object]] = {
    "adaptive": AdaptiveLearner,
    "fastonl": FastONL,
    "fastonl-fifo": FifoFastONL,
    "columns": ColumnLearner,
    "perceptron": Perceptron,
    "weighted-majority": WeightedMajority,
    "weighted-tree": WeightedTree,
    "diffusion": Diffusion,
    "push-columns": PushColumns,
    "exact-columns": ExactColumns,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "label-history": _history.restored,
    "gradient-store": _relaxation.restored,
    "diffusion-store": _diffusion.restored,
    "neighbor-counts": _neighbors.restored,
    "mixture": _mixture.restored,
    "kernel": graph_kernel.restored,
    "tuning": tuning.restored,
    "series-columns": restored_series,
}
_CLASS_NAMES = {made: name for name, made in CLASSES.items()}
_FUNCTION_NAMES = {made: name for name, made in FUNCTIONS.items()}


class SavedLearner(NamedTuple):
    """A learner without its graph: a tree of JSON that refers to arrays by name."""

    tree: Any
    arrays: dict[str, NDArray[Any]]


def encode_learner(learner: Learner) -> SavedLearner:
    """Copies of all that a learner is made of."""
    encoder = _Encoder()
    return SavedLearner(encoder.encode(learner, "learner"), encoder.arrays)


def decode_learner(path: Path, saved: SavedLearner, graph: Any, arrows: Any) -> Learner:
    """The learner on its graph; errors name the folder."""
    try:
        learner = _Decoder(saved.arrays, graph, arrows).decode(saved.tree)
        if not isinstance(learner, Learner) or learner.graph is not graph:
            raise TypeError("no learner on its graph")
    except Exception as error:  # whatever a tree that was tampered with leads to
        raise DamagedError(path, f"its learner cannot be made again ({error})") from error
    return learner


def write_model(
    path: Path,
    settings: Mapping[str, Any],
    learner: SavedLearner,
    graph: CSRGraph,
    arrows: Arrows | None,
    *,
    include_graph: bool,
    graph_path: Path | None,
) -> None:
    """Save a model to a folder, with its graph or with where that is."""
    graph = _given_graph(graph, arrows)
    details = {"settings": dict(settings), "learner": learner.tree, "fingerprint": graph.fingerprint}
    content = Content(details, dict(learner.arrays), {}, {})
    if include_graph:
        stored = graph_content(graph)
        details["graph"] = [stored.details, stored.derived_details]
        for part, arrays in ((content.arrays, stored.arrays), (content.derived_arrays, stored.derived_arrays)):
            part.update({GRAPH + name: array for name, array in arrays.items()})
    elif graph_path is not None:
        details["graph_path"] = str(graph_path)
    write_folder(path, KIND, VERSION, content)


class ReadModel(NamedTuple):
    """A model as it was saved, on its graph."""

    settings: dict[str, Any]
    learner: Learner
    graph: CSRGraph
    graph_path: Path | None


def read_model(path: Path, G: Any) -> ReadModel:
    """The model that was saved to a folder; on the graph that it was saved with, unless this is given."""
    folder = open_folder(path, KIND, VERSION)
    content = folder.content
    own = read_arrays(folder, [name for name in content.arrays if not name.startswith(GRAPH)])
    if G is None:
        check_sums(folder)  # of a graph that was saved with it
    try:
        settings, details = dict(content.details["settings"]), content.details
        method, direction, weight = (settings[name] for name in ("method", "direction", "weight"))
        expected = str(details["fingerprint"])
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedError(path, f"its settings are incomplete ({error})") from error
    given = _graph_of(folder, G, weight)
    try:
        graph, arrows = undirected_for(method, given, direction) if given.is_directed() else (given, None)
        is_other = _given_graph(graph, arrows).fingerprint != expected
    except nx.NetworkXNotImplemented:  # the method takes no directed graph
        is_other = True
    if is_other:
        raise ValueError(f"{path} was learned on another graph than {'the one given' if G is not None else given.path}")
    learner = decode_learner(path, SavedLearner(details.get("learner"), own), graph, arrows)
    learner.begin()  # it may have been on a graph that changes
    return ReadModel(settings, learner, graph, given.path)


def _given_graph(graph: CSRGraph, arrows: Arrows | None) -> CSRGraph:
    """The graph with its arrows."""
    return graph if arrows is None else CSRGraph._made(arrows.rows_out(), graph.nodes, directed=True)


def _graph_of(folder: Folder, G: Any, weight: str | None) -> CSRGraph:
    details, arrays, _, derived_arrays = folder.content
    if G is not None:
        return as_csr_graph(G, weight)
    if "graph" in details:
        named = [
            {name.removeprefix(GRAPH): array for name, array in part.items() if name.startswith(GRAPH)}
            for part in (arrays, derived_arrays)
        ]
        try:
            own, derived = details["graph"]
        except (TypeError, ValueError) as error:
            raise DamagedError(folder.path, "its graph is not described") from error
        content = Content(own, named[0], derived, named[1])
        stored = stored_graph(Folder(folder.path, content, str(details["fingerprint"]), {}), check=True)
        return CSRGraph._of_stored(stored, None)
    if "graph_path" in details:
        found = Path(details["graph_path"])
        if not found.is_dir():
            raise FileNotFoundError(
                f"{folder.path} was saved without its graph, which was in {found}; that is gone: pass graph="
            )
        return as_csr_graph(CSRGraph.open(found), weight)
    raise ValueError(f"{folder.path} was saved without its graph: pass graph=")


class _Encoder:
    """Python objects -> JSON. What occurs twice is written once, and referred to."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []  # as long as they live, no other object has their id

    def encode(self, value: Any, owner: str) -> Any:
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, int | np.integer):
            return int(value)
        if isinstance(value, float | np.floating):
            return float(value)
        if isinstance(value, CSRGraph | DynamicRows):
            return {"graph": None}
        if isinstance(value, Arrows | DynamicArrows):
            return {"arrows": None}
        if isinstance(value, np.ndarray):
            name = f"{owner}_{len(self.arrays)}"
            self.arrays[name] = np.array(value)
            return {"array": name}
        if isinstance(value, tuple | list):
            return {type(value).__name__: [self.encode(part, owner) for part in value]}
        if isinstance(value, dict):
            return {"dict": [[self.encode(key, owner), self.encode(part, owner)] for key, part in value.items()]}
        if isinstance(value, np.dtype):
            return {"dtype": value.str}
        return self._encode_object(value)

    def _encode_object(self, value: Any) -> Any:
        if id(value) in self._seen:
            return {"same": self._seen[id(value)]}
        function, arguments, *more = value.__reduce_ex__(4)
        is_new = function is copyreg.__newobj__  # type: ignore[attr-defined]
        name = _CLASS_NAMES[type(value)] if is_new else _FUNCTION_NAMES[function]
        owner = name.replace("-", "_")
        encoded = self.encode(more[0], owner) if is_new else self.encode(arguments, owner)
        self._seen[id(value)] = len(self._kept)
        self._kept.append(value)
        return {"class" if is_new else "function": [name, encoded]}


class _Decoder:
    """The reverse."""

    def __init__(self, arrays: dict[str, NDArray[Any]], graph: Any, arrows: Any) -> None:
        self._arrays, self._graph, self._arrows = arrays, graph, arrows
        self._kept: list[Any] = []

    def decode(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        ((kind, content),) = value.items()
        if kind == "array":
            return self._arrays[content]
        if kind in ("tuple", "list"):
            return (tuple if kind == "tuple" else list)(map(self.decode, content))
        if kind == "dict":
            return {self.decode(key): self.decode(part) for key, part in content}
        if kind == "dtype":
            return np.dtype(content)
        if kind == "graph":
            return self._graph
        if kind == "arrows":
            return self._arrows
        if kind == "same":
            return self._kept[content]
        made = self._decode_object(kind, *content)
        self._kept.append(made)
        return made

    def _decode_object(self, kind: str, name: str, content: Any) -> Any:
        decoded = self.decode(content)
        if kind == "function":
            return FUNCTIONS[name](*decoded)
        made: Any = object.__new__(CLASSES[name])
        if hasattr(made, "__setstate__"):
            made.__setstate__(decoded)
        else:
            made.__dict__.update(decoded)
        return made
