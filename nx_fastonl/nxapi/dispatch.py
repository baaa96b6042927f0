"""NetworkX's dispatch for the package's own functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import networkx as nx

from nx_fastonl.graph.live import BACKEND_NAME

Function = TypeVar("Function", bound=Callable[..., Any])


def dispatchable(function: Function) -> Function:
    """Give a function of a graph `G` and an edge attribute `weight` the keyword `backend`, as NetworkX's have it.

    NetworkX knows it under its name with a prefix, as all dispatched functions share one name space. Graphs of other
    backends, which NetworkX would reject, are converted.
    """
    dispatched = nx._dispatchable(function, name=f"{BACKEND_NAME}_{function.__name__}", edge_attrs="weight")

    @wraps(dispatched)
    def dispatch(G: Any, *args: Any, backend: str | None = None, **kwargs: Any) -> Any:
        is_foreign = getattr(G, "__networkx_backend__", BACKEND_NAME) not in ("networkx", BACKEND_NAME)
        if is_foreign and backend in (None, BACKEND_NAME):
            backend = "networkx"
        return dispatched(G, *args, backend=backend, **kwargs)

    return cast(Function, dispatch)
