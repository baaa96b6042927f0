"""The paper's FIFOPush, exactly as published, with the bounds that its theorems give."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal, cast, overload

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.checks import check_between, check_count, check_fraction, check_positive
from nx_fastonl._lib.html import record_view
from nx_fastonl._lib.limits import WEIGHT_RANGE
from nx_fastonl.graph._dicts import dict_from_arrays
from nx_fastonl.graph.convert import as_row_graph
from nx_fastonl.graph.names import missing_node
from nx_fastonl.graph.vectors import Masses, dense_vector, is_by_row, sparse_vector, unframed
from nx_fastonl.nxapi.dispatch import dispatchable
from nx_fastonl.push.local import PushResult, local_push
from nx_fastonl.push.system import LinearSystem

__all__ = ["PushInfo", "fifo_push"]


@dataclass(frozen=True)
class PushInfo:
    """Statistics of one call of `fifo_push`.

    Attributes
    ----------
    operations : int
        Edges walked, the paper's R_T: the neighbours of every pushed node, summed over pushes.
    pushes, epochs : int
        Nodes pushed, and passes over the active nodes.
    residual_mass : float
        What is left to push. For ``kind="ppr"`` this is the L1 error of the estimate. Where mass can end in a node
        without out-edges, it is an upper bound on that error.
    worst_case_bound : float
        An upper bound on `operations` known before the push: ``mass / (alpha * epsilon)`` for ``kind="ppr"``.
    local_bound : float
        The local upper bound on `operations`: ``V / f * log(mass / least)``. V is the mean volume of an epoch, f the
        mean fraction of the mass that an epoch settles, and ``least`` the least mass that can be left. It is infinite
        where nothing is left or the budget ended first.
    outcome : str
        ``"converged"`` or ``"budget exhausted"``.

    Examples
    --------
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> _, residual, info = fo.fifo_push(nx.path_graph(5), 0, alpha=0.5, epsilon=0.1, full_output=True)
    >>> info.operations, info.pushes, info.outcome
    (4, 3, 'converged')
    >>> info.residual_mass == sum(residual.values())
    True
    >>> info.operations <= info.local_bound <= info.worst_case_bound
    True
    """

    operations: int
    pushes: int
    epochs: int
    residual_mass: float
    worst_case_bound: float
    local_bound: float
    outcome: Literal["converged", "budget exhausted"]

    def _repr_html_(self) -> str | None:
        return record_view(self)


@overload
def fifo_push(
    G: Any,
    source: Hashable | Masses,
    alpha: float = ...,
    epsilon: float = ...,
    kind: Literal["ppr", "laplacian"] = ...,
    weight: str | None = ...,
    *,
    max_operations: int | None = ...,
    as_array: Literal[False] = ...,
    full_output: Literal[False] = ...,
) -> tuple[dict[Any, float], dict[Any, float]]: ...
@overload
def fifo_push(
    G: Any,
    source: Hashable | Masses,
    alpha: float = ...,
    epsilon: float = ...,
    kind: Literal["ppr", "laplacian"] = ...,
    weight: str | None = ...,
    *,
    max_operations: int | None = ...,
    as_array: Literal[False] = ...,
    full_output: Literal[True],
) -> tuple[dict[Any, float], dict[Any, float], PushInfo]: ...
@overload
def fifo_push(
    G: Any,
    source: Hashable | Masses,
    alpha: float = ...,
    epsilon: float = ...,
    kind: Literal["ppr", "laplacian"] = ...,
    weight: str | None = ...,
    *,
    max_operations: int | None = ...,
    as_array: Literal[True],
    full_output: Literal[False] = ...,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
@overload
def fifo_push(
    G: Any,
    source: Hashable | Masses,
    alpha: float = ...,
    epsilon: float = ...,
    kind: Literal["ppr", "laplacian"] = ...,
    weight: str | None = ...,
    *,
    max_operations: int | None = ...,
    as_array: Literal[True],
    full_output: Literal[True],
) -> tuple[NDArray[np.float64], NDArray[np.float64], PushInfo]: ...
@dispatchable
def fifo_push(
    G: Any,
    source: Hashable | Masses,
    alpha: float = 0.15,
    epsilon: float = 1e-6,
    kind: Literal["ppr", "laplacian"] = "ppr",
    weight: str | None = "weight",
    *,
    max_operations: int | None = None,
    as_array: bool = False,
    full_output: bool = False,
) -> tuple[Any, Any] | tuple[Any, Any, PushInfo]:
    """Approximate one column of a graph kernel by the paper's FIFOPush, touching only nodes near the source.

    Mass starts at the source. Nodes that hold at least `epsilon` per neighbour are pushed, in the order in which they
    reached it: a fraction of their mass settles, the remaining mass moves to the neighbours.

    Parameters
    ----------
    G : nx.Graph, scipy sparse array, CSRGraph or DynamicGraph
        Directed graphs push along out-edges, for ``kind="ppr"`` only. The conversion of an nx.Graph is kept for later
        calls: see `CSRGraph.from_networkx`.
    source : node, dict or array of float
        Where the mass starts: one node with mass 1; or masses that are not negative, as ``{node: mass}`` or for each
        node in the order of ``list(G)``.
    alpha : float, default 0.15
        For ``"ppr"`` the probability to stop at each step, between 0 and 1: 1 minus the `alpha` of ``nx.pagerank``.
        For ``"laplacian"`` the regularisation, any positive number.
    epsilon : float, default 1e-6
        A node is pushed only while its residual is at least this, per neighbour. A smaller value is more accurate and
        reaches further.
    kind : {"ppr", "laplacian"}, default "ppr"
        ``"ppr"``: personalised PageRank, ``x = alpha (I - (1 - alpha) P^T)^-1 b`` with ``P = D^-1 W``; the
        paper's type-L.
        ``"laplacian"``: the regularised Laplacian, ``x = (alpha I + D - W)^-1 b``; its other type.
    weight : str or None, default "weight"
        The edge attribute that holds the weight, 1 where it is missing. None ignores weights.
    max_operations : int, optional
        Stop at the push that reaches this many edges. The estimate is then coarser; the residual still says by how
        much.
    as_array : bool, default False
        Return arrays of the values of all nodes, in the order of ``list(G)``, instead of dicts.
    full_output : bool, default False
        Also return a `PushInfo`: operations, epochs, residual mass, both bounds of the paper, and the outcome.

    Returns
    -------
    estimate : dict or numpy.ndarray
        ``{node: value}`` of the nodes that were pushed. Every other node has 0.
    residual : dict or numpy.ndarray
        ``{node: value}`` of the mass not yet pushed. Every other node has 0. With b the mass at the source,
        ``"ppr"`` has ``sum(estimate) + sum(residual) == sum(b)`` and the sum of the residual is the exact L1 error;
        ``"laplacian"`` has ``(alpha I + D - W) @ estimate + residual == b``. Only in a node without out-edges the
        fraction 1 - alpha of the mass is lost, as in the formula for x above.
    info : PushInfo
        With ``full_output=True`` only.

    Raises
    ------
    networkx.NodeNotFound
        If a source is not in the graph.
    networkx.NetworkXNotImplemented
        If `G` is directed and `kind` is ``"laplacian"``.
    networkx.NetworkXPointlessConcept
        If `G` has no nodes.
    TypeError, ValueError
        If a parameter is of the wrong type or out of range.

    Notes
    -----
    The residual is that of the linear system. For ``"laplacian"`` the paper counts 1 / alpha times as much, and its
    rule ``r >= epsilon d`` is applied in its own scale, as ``residual >= alpha * epsilon * neighbours``.

    References
    ----------
    B. Zhou, Y. Sun, R. Babanezhad, "Fast Online Node Labeling for Very Large Graphs", ICML 2023, Algorithm 2.

    Examples
    --------
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> estimate, residual = fo.fifo_push(nx.path_graph(5), 0, alpha=0.5, epsilon=0.1)
    >>> estimate
    {0: 0.5625, 1: 0.25}
    >>> residual
    {1: 0.0625, 2: 0.125}
    """
    source = unframed(source, "source")
    graph = as_row_graph(G, weight, in_order=as_array or is_by_row(source))
    with graph.reading():
        epsilon = check_positive("epsilon", epsilon)
        if kind == "ppr":
            alpha = check_fraction("alpha", alpha)
            system, push_epsilon = LinearSystem(graph, shift=0.0, slope=1.0 / (1.0 - alpha)), epsilon
        elif kind == "laplacian":
            check_between("alpha", alpha, *WEIGHT_RANGE)
            alpha = float(alpha)
            if graph.is_directed():
                raise nx.NetworkXNotImplemented(
                    'kind="laplacian" needs an undirected graph; kind="ppr" takes directed ones'
                )
            system, push_epsilon = LinearSystem(graph, shift=alpha, slope=1.0), alpha * epsilon
        else:
            raise ValueError(f'kind must be "ppr" or "laplacian", got {kind!r}')
        check_count("max_operations", max_operations, least=0)
        if source not in graph and not (hasattr(source, "items") or is_by_row(source)):
            raise nx.NodeNotFound(f"{missing_node(source, graph)}; for several sources pass {{node: mass}}")
        start = {cast(Hashable, source): 1.0} if source in graph else cast(Masses, source)
        sources, masses = sparse_vector(graph, start, "source")

        result = local_push(
            system, sources, masses, push_epsilon, adaptive=False, max_operations=max_operations, measure=full_output
        )
        pushed, estimates = result.pushed()
        if kind == "ppr":
            estimates = alpha * system.pivots(pushed) * estimates
        estimate: Any
        residual: Any
        if as_array:
            estimate = dense_vector(graph, pushed, estimates)
            residual = dense_vector(graph, result.nodes, result.residual)
        else:
            estimate = dict_from_arrays(graph.nodes, pushed, estimates)
            residual = dict_from_arrays(graph.nodes, result.nodes, result.residual)
        if not full_output:
            return estimate, residual
        return estimate, residual, _push_info(system, push_epsilon, sources, math.fsum(masses), result)


def _push_info(
    system: LinearSystem, epsilon: float, sources: NDArray[np.intp], mass: float, result: PushResult
) -> PushInfo:
    graph = system.graph
    # Every push settles at least this fraction of `epsilon` for each of its neighbours.
    least_settled = epsilon * system.settled_fraction(graph.largest_degree)
    worst_case_bound = mass / least_settled if least_settled > 0.0 else math.inf

    pushed, _ = result.pushed()
    neighbours = graph.neighbor_counts(pushed)
    pushed, neighbours = pushed[neighbours > 0], neighbours[neighbours > 0]
    pivots = system.pivots(pushed)
    # A node that still holds mass got at least `weight * epsilon * neighbours / pivot` from its last pushed neighbour.
    if graph.weights is None:
        lightest: Any = 1.0
    else:
        slots, counts = graph.row_slots(pushed)
        lightest = np.minimum.reduceat(graph.weights[slots], np.cumsum(counts) - counts) if len(pushed) else 1.0
    least_share = float((lightest * epsilon * neighbours / pivots).min()) if len(pushed) else 0.0
    never_pushed = np.isin(result.nodes, sources) & (result.estimate == 0.0)
    holders = int(((result.residual > 0.0) & ~never_pushed).sum())
    least_left = holders * least_share
    if result.epochs == 0:
        local_bound = 0.0
    elif result.converged and least_left > 0.0 and result.decay > 0.0:
        local_bound = result.operations / result.decay * math.log(mass / least_left)
    else:
        local_bound = math.inf
    return PushInfo(
        result.operations,
        result.pushes,
        result.epochs,
        result.residual_mass,
        worst_case_bound,
        local_bound,
        "converged" if result.converged else "budget exhausted",
    )
