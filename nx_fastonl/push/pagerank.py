"""Personalised PageRank near the seeds: personalized_pagerank_local."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple, cast, overload

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.checks import (
    Unknown,
    check_count,
    check_fraction,
    check_jobs,
    check_positive,
    check_unknown,
    shortened,
)
from nx_fastonl._lib.frames import Column
from nx_fastonl._lib.html import record_view
from nx_fastonl.graph._dicts import dict_from_arrays
from nx_fastonl.graph.base import RowGraph
from nx_fastonl.graph.convert import as_row_graph
from nx_fastonl.graph.vectors import (
    Masses,
    SparseVector,
    dense_vector,
    distribution,
    holds_weights,
    is_by_row,
    unframed,
    weights_or_seeds,
)
from nx_fastonl.nxapi.dispatch import dispatchable
from nx_fastonl.push.candidates import Allowed, checked_candidates
from nx_fastonl.push.local import NEVER_CANCELLED, PushResult
from nx_fastonl.push.rule import cover, push_or_pull
from nx_fastonl.push.system import LinearSystem
from nx_fastonl.push.top import LargestValues, largest_values

__all__ = ["PageRankInfo", "personalized_pagerank_local"]

# The default of epsilon in graphs with up to this many neighbours per node. Denser ones get less, in proportion.
DEFAULT_EPSILON = 1e-6
MANY_NEIGHBOURS = 20
# The first epsilon of a push that has to reach an L1 error. It falls until the error is reached.
FIRST_EPSILON = 1e-6
# The L1 error by default where every node is a seed.
GLOBAL_TOLERANCE = 1e-6
# With more nodes, `repr` counts those that are tied.
MAX_TIED_SHOWN = 20
# Rounding adds up to this, divided by the probability to stop, to the L1 error of a vector. It includes sums over so
# many neighbours. Where nodes were pushed, each further neighbour of a node adds up to half a unit of rounding of what
# has reached the node, as equal terms round in one direction.
L1_ROUNDING = 1e-15
FEW_NEIGHBOURS = 8
NEIGHBOUR_ROUNDING = 0.5 * float(np.finfo(float).eps)
# Neighbours are counted only where that could change the error by more than this fraction.
NEGLIGIBLE = 1e-3


@dataclass(frozen=True)
class PageRankInfo:
    """Statistics of one call of `personalized_pagerank_local`.

    Attributes
    ----------
    l1_error : float
        An upper bound on the L1 distance to the exact vector, before `top_k` cut the result.
    top_k_proven : bool or None
        Whether the nodes returned are proven to be the k largest of the exact vector, among those that may be in the
        answer; None without `top_k`. Without `epsilon` and `tol`, their order is proven too, apart from nodes in one
        group of `tied`. See the notes of `personalized_pagerank_local`.
    tied : tuple of tuples of nodes
        Groups of nodes that are equal, or so close that double precision does not tell their order. The nodes of a
        group are in the order returned; the last group may go on with nodes that are not returned, in any order. Empty
        unless `top_k` was given, without `epsilon` and `tol`, and the proof succeeded.
    operations, pushes, epochs : int
        Edges walked, nodes pushed, and passes over the active nodes. Where all nodes are computed at once, each pass
        counts as a push of every node.

    Examples
    --------
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> _, info = fo.personalized_pagerank_local(nx.karate_club_graph(), personalization=22, full_output=True)
    >>> info.l1_error < 1e-4, info.top_k_proven, info.pushes > 0
    (True, None, True)
    """

    l1_error: float
    top_k_proven: bool | None
    tied: tuple[tuple[Hashable, ...], ...]
    operations: int
    pushes: int
    epochs: int

    def __repr__(self) -> str:
        n_tied = sum(map(len, self.tied))
        tied = repr(self.tied) if n_tied <= MAX_TIED_SHOWN else f"<{n_tied:,} nodes in {len(self.tied):,} groups>"
        shown = {**{field.name: repr(getattr(self, field.name)) for field in fields(self)}, "tied": tied}
        return f"PageRankInfo({', '.join(f'{name}={value}' for name, value in shown.items())})"

    def _repr_html_(self) -> str | None:
        return record_view(self)


@overload
def personalized_pagerank_local(
    G: Any,
    alpha: float = ...,
    personalization: Masses | Hashable | Iterable[Hashable] | None = ...,
    max_iter: int | None = ...,
    tol: float | None = ...,
    nstart: Masses | None = ...,
    weight: str | None = ...,
    dangling: Masses | None = ...,
    *,
    epsilon: float | None = ...,
    top_k: int | None = ...,
    candidates: Iterable[Hashable] | None = ...,
    exclude: Iterable[Hashable] | None = ...,
    exclude_neighbors: bool = ...,
    max_operations: int | None = ...,
    n_jobs: int | None = ...,
    unknown: Unknown = ...,
    as_array: Literal[False] = ...,
    full_output: Literal[False] = ...,
) -> dict[Any, float]: ...
@overload
def personalized_pagerank_local(
    G: Any,
    alpha: float = ...,
    personalization: Masses | Hashable | Iterable[Hashable] | None = ...,
    max_iter: int | None = ...,
    tol: float | None = ...,
    nstart: Masses | None = ...,
    weight: str | None = ...,
    dangling: Masses | None = ...,
    *,
    epsilon: float | None = ...,
    top_k: int | None = ...,
    candidates: Iterable[Hashable] | None = ...,
    exclude: Iterable[Hashable] | None = ...,
    exclude_neighbors: bool = ...,
    max_operations: int | None = ...,
    n_jobs: int | None = ...,
    unknown: Unknown = ...,
    as_array: Literal[False] = ...,
    full_output: Literal[True],
) -> tuple[dict[Any, float], PageRankInfo]: ...
@overload
def personalized_pagerank_local(
    G: Any,
    alpha: float = ...,
    personalization: Masses | Hashable | Iterable[Hashable] | None = ...,
    max_iter: int | None = ...,
    tol: float | None = ...,
    nstart: Masses | None = ...,
    weight: str | None = ...,
    dangling: Masses | None = ...,
    *,
    epsilon: float | None = ...,
    top_k: None = ...,
    candidates: Iterable[Hashable] | None = ...,
    exclude: Iterable[Hashable] | None = ...,
    exclude_neighbors: bool = ...,
    n_jobs: int | None = ...,
    unknown: Unknown = ...,
    as_array: Literal[True],
    full_output: Literal[False] = ...,
) -> NDArray[np.float64]: ...
@overload
def personalized_pagerank_local(
    G: Any,
    alpha: float = ...,
    personalization: Masses | Hashable | Iterable[Hashable] | None = ...,
    max_iter: int | None = ...,
    tol: float | None = ...,
    nstart: Masses | None = ...,
    weight: str | None = ...,
    dangling: Masses | None = ...,
    *,
    epsilon: float | None = ...,
    top_k: None = ...,
    candidates: Iterable[Hashable] | None = ...,
    exclude: Iterable[Hashable] | None = ...,
    exclude_neighbors: bool = ...,
    n_jobs: int | None = ...,
    unknown: Unknown = ...,
    as_array: Literal[True],
    full_output: Literal[True],
) -> tuple[NDArray[np.float64], PageRankInfo]: ...
@dispatchable
def personalized_pagerank_local(
    G: Any,
    alpha: float = 0.85,
    personalization: Masses | Hashable | Iterable[Hashable] | None = None,
    max_iter: int | None = None,
    tol: float | None = None,
    nstart: Masses | None = None,
    weight: str | None = "weight",
    dangling: Masses | None = None,
    *,
    epsilon: float | None = None,
    top_k: int | None = None,
    candidates: Iterable[Hashable] | None = None,
    exclude: Iterable[Hashable] | None = None,
    exclude_neighbors: bool = False,
    max_operations: int | None = None,
    n_jobs: int | None = None,
    unknown: Unknown = "error",
    as_array: bool = False,
    full_output: bool = False,
) -> dict[Any, float] | NDArray[np.float64] | tuple[dict[Any, float] | NDArray[np.float64], PageRankInfo]:
    """Personalised PageRank of the nodes near the seeds, with a known error.

    It takes the parameters of ``nx.pagerank``, in the same order, but it is another function: `tol` is the error of the
    answer, a seed that is not in the graph is an error, and nodes that were not reached are left out. The guide to
    local PageRank has a table of what differs. With `epsilon` and few seeds it walks only near them, so the time
    depends on their neighbourhood more than on the size of the graph.

    Parameters
    ----------
    G : nx.Graph, scipy sparse array, CSRGraph or DynamicGraph
        Directed or not. The conversion of an nx.Graph is kept for later calls: see `CSRGraph.from_networkx`.
    alpha : float, default 0.85
        The damping, between 0 and 1: the probability to follow an edge, as in ``nx.pagerank``.
    personalization : dict, array, node or collection of nodes, optional
        The seeds. A dict gives their weights, need not name every node, and is normalised. So is an array of floats, a
        weight for each node in the order of ``list(G)``. A node of the graph is one seed; any other iterable, also an
        array of integers, texts or objects, is several seeds. An array that may be either is an error. Of pandas,
        polars or Arrow, a table has the columns node and weight, or only node; a pandas Series of numbers has weights
        by its index, unless that only counts the rows, and is an error if both are integers; other columns are as
        arrays. By default every node is a seed of the same weight. Where there are several seeds, at least an eighth of
        the nodes, nothing is local: the L1 error is then at most 1e-6, unless `tol` or `epsilon` is given.
    max_iter : int, optional
        The largest number of passes over the active nodes. Unlimited by default, unlike ``nx.pagerank``: a push always
        ends, though the work grows as ``1 / (1 - alpha)``. With a limit, nodes are always pushed, on one thread.
    tol : float, optional
        Push until the L1 error is certainly at most `tol`; `epsilon` is then ignored. It may not be below
        ``2e-15 / (1 - alpha)``, where rounding errors begin. In a directed graph, or with `max_iter`, rounding errors
        at nodes with edges from very many others may exceed a small `tol`: ``info.l1_error`` counts them.
    nstart : dict or array of float, optional
        A guess of the answer, ``{node: value}`` or in the order of ``list(G)``. The push then starts from the guess
        instead of from zero, and pushes only what the guess lacks. The answer differs within its error. A guess takes
        time for every edge of the graph. It is ignored if some node has no out-edge.
    weight : str or None, default "weight"
        The edge attribute that holds the weight, 1 where it is missing. None ignores weights.
    dangling : dict or array of float, optional
        Where mass goes from nodes without out-edges, ``{node: weight}`` or in the order of ``list(G)``; by default back
        to the seeds.
    epsilon : float, optional
        A node is pushed only while its residual exceeds this, per neighbour and as a fraction of what the heaviest seed
        starts with. Used where `tol` is not given. In an undirected graph without weights, with no isolated seed, no
        value is off by more than `epsilon` times the number of the node's neighbours. By default 1e-6; in a graph whose
        nodes have more than 20 neighbours on average, 2e-5 divided by that number.
    top_k : int, optional
        Return only the k largest values, largest first. Without `epsilon` and `tol`, the push goes on until they are
        proven, as a set and in their order, or `max_operations` are used up.
    candidates : collection of nodes, optional
        Only these nodes may be in the answer, by default all. They are looked up in each call, whether they are reached
        or not. Walks go through all nodes, and values do not depend on the candidates.
    exclude : collection of nodes, optional
        These nodes may not be in the answer.
    exclude_neighbors : bool, default False
        Neither the seeds nor their neighbours may be in the answer: recommend what is new to the seeds. In a directed
        graph, neighbours are where the edges of a seed lead. Not where every node is a seed by default.
    max_operations : int, optional
        How many edges may be walked for that proof. By default 20 times the edges of the graph, where an undirected
        edge counts twice, as it is walked from both ends; if the seeds cover the graph, after all rows have been
        computed at once. The node that is being pushed at the end is finished.
    n_jobs : int, optional
        Threads for a vector that covers the graph, with `tol` or `top_k`: all rows are then computed at once. By
        default 1; -1 for one per core. The result does not depend on it.
    unknown : {"error", "skip"}, default "error"
        What to do with nodes of `personalization`, `nstart`, `dangling`, `candidates` and `exclude` that are not in the
        graph. ``nx.pagerank`` skips them.
    as_array : bool, default False
        Return an array of the values of all nodes, in the order of ``list(G)``, instead of a dict. Not with `top_k`.
        It takes time and memory for every node, also for those not reached.
    full_output : bool, default False
        Also return a `PageRankInfo`: the error bound, whether the top k are proven, and the work done.

    Returns
    -------
    pagerank : dict or numpy.ndarray
        ``{node: value}`` of the nodes reached; every other node has 0. With ``as_array=True`` the values of all nodes,
        0 for those that may not be in the answer.
    info : PageRankInfo
        With ``full_output=True`` only.

    Raises
    ------
    networkx.NodeNotFound
        If a seed, or a node of `nstart`, `dangling`, `candidates` or `exclude`, is not in the graph and `unknown` is
        ``"error"``.
    networkx.NetworkXPointlessConcept
        If `G` has no nodes.
    networkx.PowerIterationFailedConvergence
        If `max_iter` passes were not enough.
    TypeError, ValueError
        If a parameter is of the wrong type or out of range, the seeds' weights add up to zero, no seed is in the graph,
        an array may be weights or seeds, `max_operations` is given though nothing is to be proven, or
        `exclude_neighbors` is set though all nodes are seeds by default.

    See Also
    --------
    ppr_matrix : One vector for each of many seeds.
    fifo_push : The paper's push, which also returns what is left to push.

    Notes
    -----
    With `top_k`, without `epsilon` and `tol`, ``info.top_k_proven`` makes these claims about the exact vector. All
    rounding errors are counted.

    - A node returned before another one has the larger value, unless ``info.tied`` has both in one group.
    - A node that is not returned has a smaller value than each that is, unless one group has both.
    - If fewer than k nodes are returned, all others have the value 0: no walk from the seeds reaches them.

    Nodes in one group are twins, whose values are equal because swapping them leaves the graph as it was, or they
    differ by so little that rounding errors hide it. The values are as exact as the proof needs, within
    ``info.l1_error``. If the proof fails, the largest values found are returned. `nstart` is not used.

    Where nodes may not be in the answer, all of this concerns the others only: a candidate need not be told apart from
    a node that is none. ``info.l1_error`` is about the whole vector.

    With `epsilon` or `tol`, ``info.top_k_proven`` claims only that no other node has a larger value. The order is not
    looked at.

    Examples
    --------
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> G = nx.karate_club_graph()
    >>> top, info = fo.personalized_pagerank_local(G, personalization=22, top_k=3, full_output=True)
    >>> [(node, round(value, 3)) for node, value in top.items()]
    [(33, 0.178), (22, 0.166), (32, 0.137)]
    >>> info.top_k_proven, info.tied
    (True, ())

    The closest of those that node 22 has no edge to:

    >>> list(fo.personalized_pagerank_local(G, personalization=22, top_k=3, exclude_neighbors=True))
    [23, 31, 2]

    Arrays in and out:

    >>> import numpy as np
    >>> weights = np.linspace(0.0, 1.0, num=34)
    >>> fo.personalized_pagerank_local(G, personalization=weights, tol=1e-9, as_array=True)[:3].round(3)
    array([0.065, 0.045, 0.053])
    """
    proves = top_k is not None and epsilon is None and tol is None
    # Iterators may run the caller's code, so they are read before the graph is.
    candidates, exclude = (list(nodes) if isinstance(nodes, Iterator) else nodes for nodes in (candidates, exclude))
    personalization, nstart, dangling = (
        unframed(masses, name)
        for masses, name in ((personalization, "personalization"), (nstart, "nstart"), (dangling, "dangling"))
    )
    given = (personalization, nstart, dangling)
    covers = personalization is None or nstart is not None or any(map(is_by_row, given))
    graph = as_row_graph(G, weight, in_order=as_array or proves or covers)
    with graph.reading():
        alpha = _checked_alpha(alpha, starts_anywhere=personalization is None)
        epsilon_given = epsilon is not None
        epsilon = default_epsilon(graph) if epsilon is None else check_positive("epsilon", epsilon)
        if tol is not None:
            tol = check_positive("tol", tol)
        check_count("max_iter", max_iter)
        check_count("top_k", top_k)
        check_count("max_operations", max_operations)
        if max_operations is not None and not proves:
            raise ValueError(
                "max_operations limits the proof of the k largest: give top_k, and neither epsilon nor tol"
            )
        check_jobs("n_jobs", n_jobs)
        check_unknown(unknown)
        if as_array and top_k is not None:
            raise ValueError(
                "top_k returns few nodes and as_array=True returns all: leave one of them out, "
                f"got top_k={shortened(top_k)}"
            )
        start = None
        if nstart is not None:
            rows, values = distribution(graph, nstart, "nstart", unknown)
            if not graph.has_dead_ends:  # there, rounding errors of the guess would grow beyond the certified error
                start = dense_vector(graph, rows, values)
        if personalization is None:
            seeds = everywhere(graph)
        else:
            seeds = distribution(graph, as_weights(graph, personalization), "personalization", unknown)
        many_seeds = len(seeds[0]) > 1 and cover(graph, seeds[0])
        if tol is None and (personalization is None or (many_seeds and not epsilon_given)):
            tol = GLOBAL_TOLERANCE  # nothing is local
        jumps = None if dangling is None else distribution(graph, dangling, "dangling", unknown)
        named = checked_candidates(graph, candidates, exclude, exclude_neighbors, unknown)
        if named.exclude_neighbors and personalization is None:
            raise ValueError("exclude_neighbors=True leaves no node where all are seeds: give personalization")

        with named.around(graph, seeds[0]) as allowed:
            if top_k is not None and proves:
                largest = largest_values(
                    graph.whole(), seeds, jumps, alpha, top_k, allowed, max_operations, max_iter, n_jobs
                )
                top = dict_from_arrays(graph.nodes, largest.rows, largest.values)
                return (top, _info_of_largest(graph, largest, alpha)) if full_output else top

            found = pagerank_vector(graph, seeds, jumps, alpha, epsilon, tol, max_iter, start=start, n_jobs=n_jobs)
            found, proven = found if allowed.n_nodes == graph.number_of_nodes() else _without(found, allowed), None
            nodes, values = found.nodes, found.values
            if top_k is not None:
                order = np.argsort(-values, kind="stable")[:top_k]
                nodes, values, proven = nodes[order], values[order], _top_is_proven(graph, found, order, top_k, allowed)
        pagerank = dense_vector(graph, nodes, values) if as_array else dict_from_arrays(graph.nodes, nodes, values)
        if not full_output:
            return pagerank
        work = (found.total(counter) for counter in ("operations", "pushes", "epochs"))
        return pagerank, PageRankInfo(found.l1_error, proven, (), *work)


class PageRankVector(NamedTuple):
    """A PageRank vector over the nodes that were pushed, with what is known of its error."""

    nodes: NDArray[np.int32]
    values: NDArray[np.float64]
    l1_error: float
    walks: list[tuple[float, PushResult]]  # the pushes that it is made of, and their factors

    def total(self, counter: str) -> int:
        return sum(getattr(result, counter) for _, result in self.walks)


def pagerank_vector(
    graph: RowGraph,
    seeds: SparseVector,
    jumps: SparseVector | None,
    damping: float,
    epsilon: float = FIRST_EPSILON,
    tol: float | None = None,
    max_iter: int | None = None,
    cancelled: NDArray[np.uint8] = NEVER_CANCELLED,
    start: NDArray[np.float64] | None = None,
    keep_ties: bool = False,
    n_jobs: int | None = None,
    system: LinearSystem | None = None,
) -> PageRankVector:
    """PageRank of `seeds` where dead ends jump to `jumps`, by default back to the seeds.

    `start` is a guess for the whole vector: only what it lacks is pushed. It is ignored where dead ends jump to other
    nodes than the seeds. `keep_ties` gives nodes that are alike the same value: see `push_or_pull`.

    Let Y(b) be the vector of walks from b that die in dead ends, and leak(b) = 1 - |Y(b)| what they lose there. Walks
    that jump to q instead give x = Y(p) + kappa Y(q) with kappa = leak(p) / (1 - leak(q)). Residuals rho_p and rho_q
    leave an L1 error of at most |rho_p| + kappa |rho_q|, and 1 + kappa <= 1 / (1 - damping).
    """
    system = LinearSystem(graph, shift=0.0, slope=1.0 / damping) if system is None else system
    at_hubs = hub_rounding(graph, damping, tol)
    rounding = L1_ROUNDING / (1.0 - damping) + (at_hubs or 0.0)
    mass_tolerance = None
    if tol is not None:
        epsilon, mass_tolerance = FIRST_EPSILON, check_tolerance(graph, damping, tol)
    else:
        epsilon = scaled_epsilon(graph, seeds, epsilon)

    guess = None
    if start is not None and (jumps is None or not graph.has_dead_ends):
        # x = Y(p) / |Y(p)|, and the leak of Y(p) is what is in dead ends times damping / (1 - damping).
        kept = 1.0 / (1.0 + damping / (1.0 - damping) * float(start[graph.degrees == 0.0].sum()))
        guess = kept * start / ((1.0 - damping) * system.pivots(np.arange(len(graph))))

    def push(vector: SparseVector, pull: bool) -> PushResult:
        result = push_or_pull(
            system,
            *vector,
            epsilon,
            mass_tolerance=mass_tolerance,
            max_epochs=max_iter,
            guess=guess,
            keep_ties=keep_ties,
            pull=pull,
            n_jobs=n_jobs,
            cancelled=cancelled,
        )
        if not result.converged:
            raise nx.PowerIterationFailedConvergence(max_iter)
        return result

    def walk(vector: SparseVector, pull: bool) -> Walk:
        result = push(vector, pull)
        nodes, estimate = result.pushed()
        # No value is negative. What a guess or a pull has below zero is wrong, and the error without it is smaller.
        values = np.maximum((1.0 - damping) * system.pivots(nodes) * estimate, 0.0)
        dead = float(values[graph.degrees[nodes] == 0.0].sum()) if graph.has_dead_ends else 0.0
        error = result.residual_mass
        if at_hubs is None:
            negligible = NEGLIGIBLE * error if tol is None else 0.0
            error += _counted_rounding(graph, result, nodes, values, negligible) / (1.0 - damping)
        return Walk(result, nodes, values, damping / (1.0 - damping) * dead, error)

    def vector(pull: bool) -> PageRankVector:
        first = walk(seeds, pull)
        if jumps is None or first.leak == 0.0:
            scale = 1.0 / (1.0 - first.leak)
            error = scale * first.error + rounding
            return PageRankVector(first.nodes, scale * first.values, error, [(scale, first.result)])
        second = walk(jumps, pull)
        kappa = first.leak / (1.0 - second.leak)
        union, position = np.unique(np.concatenate([first.nodes, second.nodes]), return_inverse=True)
        return PageRankVector(
            union,
            np.bincount(position, np.concatenate([first.values, kappa * second.values])).astype(np.float64),
            first.error + kappa * second.error + rounding,
            [(1.0, first.result), (kappa, second.result)],
        )

    found = vector(pull=False)
    if tol is None or mass_tolerance is None or found.l1_error <= tol:
        return found
    if max_iter is None and not graph.is_directed():
        return vector(pull=True)  # which has no rounding errors at hubs
    mass_tolerance = max(mass_tolerance - 2.0 * (found.l1_error - tol), 0.5 * mass_tolerance)
    return vector(pull=False)


class Walk(NamedTuple):
    """What was pushed from one source: values, what they lose in dead ends, and their L1 error."""

    result: PushResult
    nodes: NDArray[np.int32]
    values: NDArray[np.float64]
    leak: float
    error: float


def hub_rounding(graph: RowGraph, damping: float, tol: float | None) -> float | None:
    """What sums over many neighbours add to the L1 error of any vector, at most; None where it matters beside `tol`."""
    if tol is None:
        return None
    most = NEIGHBOUR_ROUNDING * graph.number_of_nodes() / (1.0 - damping)
    return most if most <= NEGLIGIBLE * tol else None


def _counted_rounding(
    graph: RowGraph, result: PushResult, nodes: NDArray[np.int32], values: NDArray[np.float64], negligible: float
) -> float:
    """What sums over many neighbours add to the L1 error of a vector, times the probability to stop.

    Neighbours are counted only if this can be more than `negligible`.
    """
    if result.pulled and not graph.is_directed():
        return 0.0
    most = NEIGHBOUR_ROUNDING * graph.number_of_nodes()  # values add up to 1
    if most <= negligible:
        return most
    return NEIGHBOUR_ROUNDING * float(np.maximum(graph._in_counts(nodes) - FEW_NEIGHBOURS, 0) @ values)


def check_tolerance(graph: RowGraph, damping: float, tol: float) -> float:
    """The residual mass that gives an L1 error of `tol`, which may not be too small."""
    if tol < smallest_tolerance(damping):
        least = f"{smallest_tolerance(damping):.1g}"
        raise ValueError(f"tol must be at least {least}, where rounding errors begin, got {tol!r}")
    rounding = L1_ROUNDING / (1.0 - damping) + (hub_rounding(graph, damping, tol) or 0.0)
    return (tol - rounding) * (1.0 - damping if graph.has_dead_ends else 1.0)


def smallest_tolerance(damping: float) -> float:
    """The smallest L1 error that can be asked for: twice what rounding may add."""
    return 2.0 * L1_ROUNDING / (1.0 - damping)


def everywhere(graph: RowGraph) -> SparseVector:
    """Every node with the same mass."""
    n = len(graph)
    return np.arange(n), np.full(n, 1.0 / n)


def default_epsilon(graph: RowGraph) -> float:
    """Errors per neighbour add up: where nodes have many, each may be the less."""
    return DEFAULT_EPSILON * min(1.0, MANY_NEIGHBOURS * graph.number_of_nodes() / max(graph.n_entries, 1))


def _info_of_largest(graph: RowGraph, largest: LargestValues, damping: float) -> PageRankInfo:
    effort, names = largest.effort, graph.nodes
    return PageRankInfo(
        largest.l1_error + L1_ROUNDING / (1.0 - damping),
        largest.proven,
        tuple(tuple(names[u] for u in group.tolist()) for group in largest.tied),
        effort.operations,
        effort.pushes,
        effort.epochs,
    )


def scaled_epsilon(graph: RowGraph, seeds: SparseVector, epsilon: float) -> float:
    """Epsilon for the heaviest seed's share of the mass, and small enough that this seed is pushed."""
    rows, masses = seeds
    heaviest = float(masses.max())
    u = rows[masses.argmax()]
    neighbours = int(graph.neighbor_counts(u))
    return min(epsilon * heaviest, heaviest / max(neighbours, 1))


def _error_per_degree(graph: RowGraph, found: PageRankVector) -> tuple[float, float]:
    """The e and f in |x - estimate| <= e * D + f, entry by entry, on undirected graphs.

    That is max(|r| / D), and the largest |r| of nodes without edges.
    """
    per_degree = isolated = 0.0
    for factor, result in found.walks:
        degrees, residual = graph.degrees[result.nodes], np.abs(result.residual)
        connected = degrees > 0.0
        per_degree += factor * float((residual[connected] / degrees[connected]).max(initial=0.0))
        isolated += factor * float(residual[~connected].max(initial=0.0))
    return per_degree, isolated


def _without(found: PageRankVector, allowed: Allowed) -> PageRankVector:
    """The values of the nodes that may be in the answer; the error is still that of the whole vector."""
    kept = allowed.filter.allows(found.nodes)
    return found if kept.all() else found._replace(nodes=found.nodes[kept], values=found.values[kept])


def _top_is_proven(graph: RowGraph, found: PageRankVector, top: NDArray[np.intp], top_k: int, allowed: Allowed) -> bool:
    """Whether every value of the top k, less its error, beats every other value of a node allowed plus its error."""
    if len(top) == allowed.n_nodes:
        return True
    if len(top) < top_k:
        return False
    error, error_elsewhere = np.full(len(found.nodes), found.l1_error), found.l1_error
    if not graph.is_directed():
        per_degree, isolated = _error_per_degree(graph, found)
        error = np.minimum(error, per_degree * graph.degrees[found.nodes] + isolated + L1_ROUNDING)
        error_elsewhere = min(error_elsewhere, per_degree * allowed.largest_degree + isolated + L1_ROUNDING)
    others = np.ones(len(found.nodes), dtype=bool)
    others[top] = False
    rival = (found.values + error)[others].max(initial=0.0)
    if len(found.nodes) < allowed.n_nodes:
        rival = max(rival, error_elsewhere)
    return bool((found.values - error)[top].min() > rival)


def as_weights(graph: RowGraph, personalization: Any, name: str = "personalization") -> Masses:
    """The seeds as {node: weight} or floats, from a dict or its like, an array, a node, or an iterable of nodes."""
    if isinstance(personalization, Column):
        personalization = weights_or_seeds(graph, personalization, name)
    if personalization in graph:
        return {personalization: 1.0}
    if hasattr(personalization, "items"):
        return cast(Mapping[Hashable, float], personalization)
    if isinstance(personalization, str) or not isinstance(personalization, Iterable):
        return {personalization: 1.0}
    if isinstance(personalization, np.ndarray):
        if holds_weights(graph, personalization, name):
            return personalization
        personalization = personalization.tolist()
    seeds = list(personalization)
    if seeds and len(seeds) == len(graph) and all(isinstance(seed, float) and seed not in graph for seed in seeds):
        raise TypeError(f"{name} is a collection of nodes, and these are numbers; for weights pass an array of them")
    return dict.fromkeys(seeds, 1.0)


def _checked_alpha(alpha: Any, *, starts_anywhere: bool) -> float:
    """Check alpha. If it may be a node, and nothing says where walks start, the error says how to name that node."""
    try:
        return check_fraction("alpha", alpha)
    except (TypeError, ValueError) as error:
        if not starts_anywhere or isinstance(alpha, float):
            raise
        raise type(error)(f"{error}; personalization={shortened(alpha)} says where walks start") from None
