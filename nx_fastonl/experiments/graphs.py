"""The graphs that tasks name: loaded once, from the folder that the run was given."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, cast

from nx_fastonl import datasets
from nx_fastonl.graph.csr import CSRGraph

_folder: ContextVar[str | None] = ContextVar("_folder", default=None)


@contextmanager
def data_from(folder: str | os.PathLike[str] | None) -> Iterator[None]:
    """Inside this block, `load_graph` takes the datasets' files from this folder. None: from the default folder."""
    token = _folder.set(None if folder is None else os.fspath(folder))
    try:
        yield
    finally:
        _folder.reset(token)


def load_graph(name: str) -> tuple[CSRGraph, dict[Any, Any]]:
    """The graph of this name and its labels."""
    return _load(name, _folder.get() or os.environ.get(datasets.DATA_HOME))


@lru_cache(maxsize=1)  # the tasks of one graph follow each other
def _load(name: str, folder: str | None) -> tuple[CSRGraph, dict[Any, Any]]:
    data = datasets.load(name, data_home=folder)
    return cast(CSRGraph, data.graph), data.labels
