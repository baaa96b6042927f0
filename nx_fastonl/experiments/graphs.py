"""The graphs that tasks name: datasets, from the folder that the run was given, and files. The last one is kept."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from nx_fastonl import datasets
from nx_fastonl._lib.checks import shortened
from nx_fastonl.graph.csr import CSRGraph

# A graph by this suffix is a file, any other a dataset.
SUFFIX = ".npz"
# A graph by this prefix is ogbn-arxiv with classes of years as labels; the file that follows has them.
BY_YEAR = "arxiv-by-year="
# A graph that is drawn: labels point to the next one, and from the last to the first.
PLANTED = "planted"
# The last year of each class; those after the last one are a class too.
LAST_YEARS = (2013, 2015, 2017, 2018)

_folder: ContextVar[str | None] = ContextVar("_folder", default=None)


@contextmanager
def data_from(folder: str | os.PathLike[str] | None) -> Iterator[None]:
    """Inside this block, `load_graph` takes the datasets' files from this folder. None: from the default folder."""
    token = _folder.set(None if folder is None else os.fspath(folder))
    try:
        yield
    finally:
        _folder.reset(token)


def graph_keys(graphs: Iterable[str | os.PathLike[str]]) -> list[str]:
    """What tasks call these graphs: datasets by name, files by their whole path.

    Raises if two have one name: tables could not tell them apart.
    """
    keys = dict.fromkeys(_key(graph) for graph in graphs)
    by_name: dict[str, str] = {}
    for key in keys:
        other = by_name.setdefault(graph_name(key), key)
        if other != key:
            raise ValueError(f"two graphs have the name {graph_name(key)}: {shortened(other)} and {shortened(key)}")
    return list(keys)


def graph_name(key: str) -> str:
    """What tables and pictures call this graph."""
    if _is_by_year(key):
        return BY_YEAR.removesuffix("=")
    return Path(key).stem if _is_file(key) else key


def load_graph(key: str, *, arrows: bool = False) -> tuple[CSRGraph, dict[Any, Any]]:
    """The graph of this key and its labels. With `arrows`, it is directed where what it is read from is."""
    return _load(key, _folder.get() or os.environ.get(datasets.DATA_HOME), arrows)


def load_labelled_graph(key: str, *, arrows: bool = False) -> tuple[CSRGraph, dict[Any, Any]]:
    """The graph of this key and its labels, of which there is at least one."""
    graph, labels = load_graph(key, arrows=arrows)
    if not labels:
        raise ValueError(f"{key} has no labels; this experiment needs the array labels, with -1 for nodes without one")
    return graph, labels


def _key(graph: str | os.PathLike[str]) -> str:
    # The whole path: a run that goes on with earlier results may be started in another folder.
    key = os.fspath(graph) if isinstance(graph, os.PathLike) else graph
    if key == BY_YEAR.removesuffix("="):
        raise ValueError(f"{key} needs a file with the array year: {BY_YEAR}FILE.npz")
    if _is_by_year(key):
        return f"{BY_YEAR}{Path(key.removeprefix(BY_YEAR)).absolute()}"
    return str(Path(key).absolute()) if _is_file(key) else key


def _is_file(key: object) -> bool:
    return isinstance(key, str) and key.endswith(SUFFIX)


def _is_by_year(key: object) -> bool:
    return isinstance(key, str) and key.startswith(BY_YEAR)


@lru_cache(maxsize=1)  # the tasks of one graph follow each other
def _load(key: str, folder: str | None, arrows: bool) -> tuple[CSRGraph, dict[Any, Any]]:
    if _is_file(key) and not _is_by_year(key):
        return _read(Path(key), arrows)
    if key == PLANTED:
        cycle = [[1, 4, 1], [1, 1, 4], [4, 1, 1]]
        made = datasets.planted_partition(180, compatibility=cycle, mean_degree=8, exponent=None, directed=True, seed=0)
        pointed = cast(CSRGraph, made.graph)
        return pointed if arrows else pointed.without_arrows(), dict(made.labels)
    if key == "ogbn-arxiv" or _is_by_year(key):  # the one dataset that has arrows
        data = datasets.fetch_ogbn_arxiv(directed=arrows, data_home=folder)
    else:
        data = datasets.load(key, data_home=folder)
    graph = cast(CSRGraph, data.graph)
    if _is_by_year(key):
        return graph, _classes_of_years(Path(key.removeprefix(BY_YEAR)), len(graph))
    return graph, dict(data.labels)


def _classes_of_years(path: Path, n: int) -> dict[Any, Any]:
    years = _arrays(path, ("year",))["year"]
    if years.shape != (n,) or years.dtype.kind not in "iu":
        found = f"an array of {years.dtype} of shape {years.shape}"
        raise ValueError(f"{path}: year must be an integer for each of the {n} nodes of ogbn-arxiv, got {found}")
    return dict(enumerate(np.searchsorted(LAST_YEARS, years).tolist()))


def _read(path: Path, arrows: bool) -> tuple[CSRGraph, dict[Any, Any]]:
    """The graph in a file, and its labels.

    `indptr` and `indices` are compressed sparse rows, `weights` those of the edges, `labels` integers, -1 for a node
    without one. Unless `arrows` are kept, arcs that are not the same in both directions are made edges: of weight 1
    without weights, otherwise with the sum of the weights of both directions.
    """
    arrays = _arrays(path, ("indptr", "indices"), ("weights", "labels"))
    try:
        graph = CSRGraph(arrays["indptr"], arrays["indices"], arrays.get("weights"), directed=True)
        W = graph.to_scipy()
        if abs(W - W.T).max() == 0.0:
            graph = CSRGraph(graph.indptr, graph.indices, graph.weights)
        elif not arrows:
            graph = CSRGraph.from_scipy(W + W.T, weight="weight" if "weights" in arrays else None)
        return graph, _labels(arrays.get("labels"), len(graph))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from error


def _arrays(path: Path, needed: tuple[str, ...], others: tuple[str, ...] = ()) -> dict[str, NDArray[Any]]:
    """The arrays of these names in a file. Raises if one that is needed is missing."""
    names = (*needed, *others)
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    try:
        # Opened here: numpy leaves a file open that is no archive.
        with path.open("rb") as opened, np.load(opened) as file:
            arrays = {name: file[name] for name in names if name in file}
    except (ValueError, TypeError, EOFError, OSError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"{path} is not a file of arrays, as numpy.savez writes it") from error
    for name in needed:
        if name not in arrays:
            found = ", ".join(arrays) or f"none of {', '.join(names)}"
            raise ValueError(f"{path} lacks the array {name}; it has {found}")
    return arrays


def _labels(labels: NDArray[Any] | None, n: int) -> dict[Any, Any]:
    if labels is None:
        return {}
    if labels.shape != (n,) or labels.dtype.kind not in "iu":
        found = f"an array of {labels.dtype} of shape {labels.shape}"
        raise ValueError(f"labels must be an integer for each of the {n} nodes, -1 for none, got {found}")
    return {u: label for u, label in enumerate(labels.tolist()) if label != -1}
