"""NetworkX's dispatch for the package's own functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar, cast

import networkx as nx

from nx_fastonl._lib.checks import perhaps
from nx_fastonl.graph.live import BACKEND_NAME

Function = TypeVar("Function", bound=Callable[..., Any])


def dispatchable(function: Function) -> Function:
    """Give a function of a graph `G` and an edge attribute `weight` the keyword `backend`, as NetworkX's have it.

    NetworkX knows it under its name with a prefix, as all dispatched functions share one name space. Graphs of other
    backends, which NetworkX would reject, are converted.
    """
    name, parameters = function.__name__, signature(function).parameters
    keywords = {"backend", *parameters}
    takes_any = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values())
    dispatched = nx._dispatchable(function, name=f"{BACKEND_NAME}_{name}", edge_attrs="weight")

    @wraps(dispatched)
    def dispatch(G: Any, *args: Any, backend: str | None = None, **kwargs: Any) -> Any:
        if not takes_any and not kwargs.keys() <= keywords:
            wrong = next(keyword for keyword in kwargs if keyword not in keywords)
            raise TypeError(f"{name}() got an unexpected keyword argument {wrong!r}{perhaps(wrong, keywords)}")
        is_foreign = getattr(G, "__networkx_backend__", BACKEND_NAME) not in ("networkx", BACKEND_NAME)
        if is_foreign and backend in (None, BACKEND_NAME):
            backend = "networkx"
        return dispatched(G, *args, backend=backend, **kwargs)

    return cast(Function, dispatch)
