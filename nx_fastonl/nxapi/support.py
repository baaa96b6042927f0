"""Which calls of NetworkX's functions this backend leaves to NetworkX, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from numbers import Real
from os import PathLike
from typing import Any

import networkx as nx
import numpy as np

from nx_fastonl._lib.checks import as_float, check_fraction, shortened
from nx_fastonl._lib.limits import LARGEST_NUMBER
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.graph.live import LiveGraph, may_be_one_sided
from nx_fastonl.nxapi import algorithms, electrical, readers

# With fewer nodes, NetworkX takes less time than converting the graph. Its other functions are slower on any graph.
MIN_NODES = {"google_matrix": 80, "katz_centrality": 10, "approximate_current_flow_betweenness_centrality": 5}
# Above this, NetworkX is faster on directed graphs, if its iteration ends within `max_iter` steps. Whether it does is
# tried on arrays, in a fraction of NetworkX's time: what NetworkX would fail at runs here.
SLOW_ALPHA = 0.99
# Above this, it may take so long that it would seem not to end.
MAX_ALPHA = 0.9999

Arguments = Mapping[str, Any]
Reason = Callable[[Arguments], str | None]


def why_unsupported(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Why this backend would not give NetworkX's answer; None if it would."""
    if name not in UNSUPPORTED:
        return None
    try:
        given = _bound(name, args, kwargs)
    except TypeError as error:  # not arguments of this function
        return str(error)
    return next((reason for reason_for in UNSUPPORTED[name] if (reason := reason_for(given))), None)


def why_slower(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Why NetworkX would be faster; None if it would not."""
    if kwargs.get("l1_error") is not None:  # an argument that NetworkX does not have
        return None
    if name in MIN_NODES:
        n = len(_bound(name, args, kwargs)["G"])
        if n < MIN_NODES[name]:
            return f"converting a graph of {n} nodes would take longer than NetworkX does"
    return _slow_alpha(_bound(name, args, kwargs)) if name == "pagerank" else None


def _bound(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
    bound = SIGNATURES[name].bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


def _bad_damping(given: Arguments) -> str | None:
    try:
        alpha = check_fraction("alpha", given["alpha"])
    except (TypeError, ValueError) as error:
        return str(error)
    return (
        f"this backend may take too long where alpha is above {MAX_ALPHA}, got {alpha!r}" if alpha > MAX_ALPHA else None
    )


def _bad_masses(given: Arguments) -> str | None:
    largest = LARGEST_NUMBER
    for name in ("personalization", "dangling", "nstart"):
        masses = given[name]
        if masses is None:
            continue
        if not (hasattr(masses, "get") and hasattr(masses, "items")):
            return f"{name} must be a dict {{node: value}}, got {type(masses).__name__}"
        for node, mass in masses.items():
            if not isinstance(mass, Real) or not 0.0 <= as_float(mass) <= largest:
                given_value = f"{name} gives node {shortened(node)} the value {shortened(mass)}"
                return f"{given_value}; numbers from 0 to {largest:g} are supported"
    return None


def _bad_numbers(given: Arguments) -> str | None:
    if not isinstance(given["alpha"], Real):
        return f"alpha must be a real number, got {given['alpha']!r}"
    for name in ("beta", "nstart"):
        if not isinstance(given[name], Mapping):
            continue
        for node, value in given[name].items():
            if not isinstance(value, Real):
                return f"{name} gives node {node!r} the value {value!r}; real numbers are supported"
    return None


def _bad_start(given: Arguments) -> str | None:
    start = given["nstart"]
    if start is None or (isinstance(start, Mapping) and start.keys() == set(given["G"])):
        return None
    return "nstart must be a dict with a value for each node of the graph"


def _no_labels(given: Arguments) -> str | None:
    return "a CSRGraph has no node attributes, so no labels" if isinstance(given["G"], CSRGraph) else None


def _one_sided(given: Arguments) -> str | None:
    if isinstance(given["G"], nx.Graph) and may_be_one_sided(given["G"]):
        return "an undirected view of a directed graph may have two weights for an edge"
    return None


def _other_numbers(given: Arguments) -> str | None:
    if given["solver"] not in ("full", "lu", "cg"):
        return f'solver must be "full", "lu" or "cg", got {shortened(given["solver"])}'
    if given["dtype"] not in (float, "float", np.float64, np.float32):
        return f"dtype must be float, numpy.float64 or numpy.float32, got {shortened(given['dtype'])}"
    return None


def _multigraph(given: Arguments) -> str | None:
    return "NetworkX ignores the weights of parallel edges here" if given["G"].is_multigraph() else None


def _bad_samples(given: Arguments) -> str | None:
    for name in ("epsilon", "kmax", "sample_weight"):
        if not isinstance(given[name], Real):
            return f"{name} must be a number, got {shortened(given[name])}"
    return None


def _slow_alpha(given: Arguments) -> str | None:
    G, alpha = given["G"], given["alpha"]
    if not G.is_directed() or alpha <= SLOW_ALPHA:
        return None
    # Not from NetworkX's cache: it would take its own first conversion for a second one, and warn.
    arguments = {**given, "G": LiveGraph(G) if isinstance(G, nx.Graph) else G}
    del arguments["l1_error"]
    if not algorithms.power_iteration_ends(**arguments):
        return None
    return f"NetworkX takes less time on directed graphs where alpha is above {SLOW_ALPHA}, got {alpha!r}"


def _other_graph(given: Arguments) -> str | None:
    create_using = given["create_using"]
    if create_using is None or create_using is nx.Graph or create_using is nx.DiGraph:
        return None
    shown = f"a {type(create_using).__name__} to fill" if isinstance(create_using, nx.Graph) else repr(create_using)
    return f"create_using must be nx.Graph or nx.DiGraph for a CSRGraph, got {shown}"


def _not_sparse(given: Arguments) -> str | None:
    if not hasattr(given["A"], "tocoo"):
        return f"A must be a scipy sparse array, got {type(given['A']).__name__}"
    if given["edge_attribute"] != "weight":
        return f"the attribute of a CSRGraph's edges is weight, got edge_attribute={shortened(given['edge_attribute'])}"
    return None


def _other_columns(given: Arguments) -> str | None:
    if given["edge_key"] is not None:
        return f"a CSRGraph has no keys of edges, got edge_key={shortened(given['edge_key'])}"
    wanted = given["edge_attr"]
    if wanted is True:
        ends = (given["source"], given["target"])
        wanted = [column for column in given["df"].columns if column not in ends]
    if wanted is None or wanted == "weight" or (isinstance(wanted, list | tuple) and list(wanted) == ["weight"]):
        return None
    return f"the attribute of a CSRGraph's edges is weight, got edge_attr={shortened(wanted)}"


def _unread(given: Arguments) -> str | None:
    path = given["path"]
    if not isinstance(path, str | PathLike | list | tuple) and not (hasattr(path, "seekable") and path.seekable()):
        return "the lines can be read only once; should NetworkX have to read them, they would be gone"
    if given["nodetype"] not in (None, str, int):
        return f"nodes of a CSRGraph that is read are texts or integers, got nodetype={given['nodetype']!r}"
    return None


def _other_data(given: Arguments) -> str | None:
    data = given["data"]
    if data is True or data is False or _is_weight(data):
        return None
    expected = 'expected True, False or (("weight", float),)'
    return f"the attribute of a CSRGraph's edges is weight, got data={shortened(data)}; {expected}"


def _is_weight(data: Any) -> bool:
    return isinstance(data, list | tuple) and len(data) == 1 and tuple(data[0]) in (("weight", float), ("weight", int))


UNSUPPORTED: dict[str, tuple[Reason, ...]] = {
    "pagerank": (_bad_damping, _bad_masses),
    "google_matrix": (_one_sided,),
    "katz_centrality": (_bad_numbers, _bad_start, _one_sided),
    "local_and_global_consistency": (_no_labels,),
    "harmonic_function": (_no_labels,),
    "resistance_distance": (_one_sided,),
    "current_flow_closeness_centrality": (_other_numbers, _one_sided),
    "approximate_current_flow_betweenness_centrality": (_other_numbers, _bad_samples, _multigraph, _one_sided),
    "from_scipy_sparse_array": (_other_graph, _not_sparse),
    "read_edgelist": (_other_graph, _unread, _other_data),
    "read_weighted_edgelist": (_other_graph, _unread),
    "from_pandas_edgelist": (_other_graph, _other_columns),
}
SIGNATURES = {
    name: signature(getattr(module, name))
    for module in (algorithms, electrical, readers)
    for name in UNSUPPORTED
    if hasattr(module, name)
}
