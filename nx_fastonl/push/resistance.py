"""Effective resistances: `effective_resistance`, and arrays of them on a connected graph."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, overload

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.checks import check_between, check_jobs, shortened
from nx_fastonl._lib.frames import Column, Table, is_frame, read_frame
from nx_fastonl._lib.html import facts, view, view_or_none
from nx_fastonl._lib.limits import MAX_WEIGHT_RATIO
from nx_fastonl._lib.log import warn_caller
from nx_fastonl.graph.convert import as_csr_graph
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.graph.edgetable import edge_columns
from nx_fastonl.nxapi.dispatch import dispatchable
from nx_fastonl.push.elimination import MAX_NODES, Elimination
from nx_fastonl.push.laplacian import (
    ENERGY_ROUNDING,
    FEW_ROUNDINGS,
    MAX_DENSE,
    Enough,
    Float64s,
    Laplacian,
    OutOfPatience,
    Potentials,
    blocks_of,
    connected_part,
)
from nx_fastonl.push.reduction import reduced_resistances, rounding_errors

__all__ = [
    "MAX_ERROR_PER_TOL",
    "Bounded",
    "ResistanceInfo",
    "all_resistances",
    "effective_resistance",
    "pair_resistances",
    "resistance_sums",
    "resistances_from",
]

TOLERANCES = 1e-12, 0.5
# A dense inverse of n rows takes as long as steps that walk this times n squared edges, for each of n sources.
DENSE_STEPS = 0.04
# What one row costs in a step, in edges.
EDGES_PER_ROW = 4
# Where pairs have so many nodes in common, potentials of nodes take the place of those of pairs. They take twice as
# many steps: their errors count once, and not squared.
PAIRS_PER_NODE = 2
# Rounding errors of weights that differ much may leave errors of this many times what is asked for.
MAX_ERROR_PER_TOL = 1000.0
# Reducing a network to as many pairs as it has nodes takes so many times longer than to one pair, and to more pairs in
# proportion.
REDUCTIONS_PER_NODE = 2.0


class Bounded(NamedTuple):
    """Values, and how far each may be from the exact one."""

    values: Float64s
    errors: Float64s


def _middle(found: Potentials) -> Bounded:
    """The middle of what the energies of sources can be."""
    rounding = ENERGY_ROUNDING * found.scales
    least = np.maximum(found.energies - rounding, 0.0)
    half = 0.5 * (found.energies + found.gaps + rounding - least)
    values = least + half
    return Bounded(values, half + FEW_ROUNDINGS * values)


def _relative(tol: float) -> Enough:
    """Gaps that leave a relative error of at most half of `tol`: the rest is room for rounding errors."""
    return lambda energies, gaps: gaps <= tol * energies


@dataclass(frozen=True)
class ResistanceInfo:
    """What `effective_resistance` found out about its answers.

    Attributes
    ----------
    errors : list of float
        How far each resistance may be from the exact one, 0 where that is 0 or infinite. The bounds are proven: they
        count rounding errors too. Parallel edges are added in double precision before.
    operations : int
        Edges walked by steps of conjugate gradients, over all sources. The passes that compute bounds are not counted.
        It is 0 in trees and in components of up to 200 nodes, which take no steps.

    Examples
    --------
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> G = nx.karate_club_graph()
    >>> [resistance], info = fo.effective_resistance(G, [(0, 33)], tol=1e-6, full_output=True)
    >>> info.errors[0] <= 1e-6 * resistance
    True
    """

    errors: list[float]
    operations: int

    def __repr__(self) -> str:
        largest = max(self.errors, default=0.0)
        return f"ResistanceInfo({len(self.errors):,} errors, of at most {largest:.2g}, operations={self.operations})"

    def _repr_html_(self) -> str | None:
        return view_or_none(self._view)

    def _view(self) -> str:
        found = {"pairs": len(self.errors), "largest error": max(self.errors, default=None)}
        return view("ResistanceInfo", "", facts({**found, "operations": self.operations}))


@overload
def effective_resistance(
    G: Any,
    pairs: Iterable[tuple[Hashable, Hashable]],
    weight: str | None = ...,
    *,
    tol: float = ...,
    n_jobs: int | None = ...,
    full_output: Literal[False] = ...,
) -> list[float]: ...
@overload
def effective_resistance(
    G: Any,
    pairs: Iterable[tuple[Hashable, Hashable]],
    weight: str | None = ...,
    *,
    tol: float = ...,
    n_jobs: int | None = ...,
    full_output: Literal[True],
) -> tuple[list[float], ResistanceInfo]: ...
@dispatchable
def effective_resistance(
    G: Any,
    pairs: Iterable[tuple[Hashable, Hashable]],
    weight: str | None = "weight",
    *,
    tol: float = 1e-8,
    n_jobs: int | None = None,
    full_output: bool = False,
) -> list[float] | tuple[list[float], ResistanceInfo]:
    """The effective resistance between nodes, if each edge is a resistor, on graphs of any size.

    It is the voltage that drives a current of 1 from the one node to the other. The more paths there are, and the
    shorter they are, the smaller it is. ``resistance * weight`` is the probability that an edge is in a random spanning
    tree. Each pair takes one solve of a sparse system, or less where many pairs have nodes in common. The error is
    certified. In trees, and in components of up to 2,000 nodes, weights may differ by any factor. Elsewhere, if they
    differ so much that the error stays above `tol`, a RuntimeWarning says so.

    Parameters
    ----------
    G : nx.Graph, scipy sparse array, CSRGraph or DynamicGraph
        Undirected: of a directed one, pass `CSRGraph.without_arrows`. Self-loops carry no current.
    pairs : iterable of (node, node), array with two columns, or table
        The pairs. In a table, columns are found as `CSRGraph.from_edges` finds the ends of edges.
    weight : str or None, default "weight"
        The edge attribute that holds the strength of an edge, 1 where it is missing: its conductance, which is
        1 / resistance. Parallel edges add up. None ignores weights, as ``nx.resistance_distance`` does by default.
        Given weights, that takes them for resistances, unless ``invert_weight=False``.
    tol : float, default 1e-8
        The largest relative error of each resistance, from 1e-12 to 0.5.
    n_jobs : int, optional
        Threads, by default 1; -1 for one per core. The result does not depend on it.
    full_output : bool, default False
        Whether to return the errors as well.

    Returns
    -------
    resistances : list of float
        In the order of `pairs`: 0 from a node to itself, infinity between nodes that no path joins.
    info : ResistanceInfo
        Only with ``full_output=True``.

    Raises
    ------
    networkx.NodeNotFound
        If a node is not in the graph.
    networkx.NetworkXNotImplemented
        If `G` is directed.
    networkx.NetworkXPointlessConcept
        If `G` has no nodes.
    ValueError
        If `tol`, `n_jobs` or a weight is out of range, an element of `pairs` is no pair, or it cannot be told which
        columns of a table count. Also if weights differ by a factor of more than 1e24 in a component of more than 2,000
        nodes that is no tree: errors could not be certified there.
    TypeError
        If `pairs` is something else.

    See Also
    --------
    personalized_pagerank_local : Another measure of how close nodes are, which walks only near the seeds.

    Examples
    --------
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> G = nx.Graph([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
    >>> [round(r, 6) for r in fo.effective_resistance(G, [("a", "b"), ("a", "c"), ("a", "a")])]
    [0.75, 1.0, 0.0]
    """
    check_between("tol", tol, *TOLERANCES)
    check_jobs("n_jobs", n_jobs)
    listed = _ends_of_pairs(pairs)
    graph = as_csr_graph(G, weight)
    if graph.is_directed():
        raise nx.NetworkXNotImplemented(
            "effective_resistance needs an undirected graph; pass CSRGraph.without_arrows() of a directed one"
        )
    ends = np.array(graph.rows_of(listed), dtype=np.int64).reshape(-1, 2)
    values, errors = np.full(len(ends), np.inf), np.zeros(len(ends))
    values[ends[:, 0] == ends[:, 1]] = 0.0
    components = graph.components[ends]
    open_pairs = np.flatnonzero((components[:, 0] == components[:, 1]) & (ends[:, 0] != ends[:, 1]))
    operations = 0
    for chosen, rows in _by_component(graph, open_pairs, components[open_pairs, 0]):
        part = connected_part(graph, rows)
        laplacian = Laplacian(part, n_jobs)
        if _is_out_of_reach(laplacian) and not laplacian.is_tree:
            raise ValueError(
                f"in the component of node {shortened(graph.nodes[int(rows[0])])}, the largest weight is "
                f"{laplacian.weight_ratio:.1g} times the smallest one; with {len(part):,} nodes and cycles, errors are "
                f"known up to a factor of {MAX_WEIGHT_RATIO:g}: leave out edges that hardly conduct, and join nodes "
                "that are as one"
            )
        found = pair_resistances(laplacian, np.searchsorted(rows, ends[chosen]), float(tol))
        values[chosen], errors[chosen] = found.values, found.errors
        operations += laplacian.n_steps * part.n_entries
    missed = np.flatnonzero(errors > tol * values)
    if len(missed):
        u, v = (shortened(graph.nodes[end]) for end in ends[missed[0]].tolist())
        error = errors[missed[0]] / values[missed[0]]
        warn_caller(
            f"{len(missed)} of {len(ends)} resistances have a relative error above tol = {tol:g}, as that from {u} to "
            f"{v}, at most {error:.1g}: rounding errors of weights that differ much, or more steps than are allowed",
            RuntimeWarning,
        )
    resistances: list[float] = values.tolist()
    return (resistances, ResistanceInfo(errors.tolist(), operations)) if full_output else resistances


def _by_component(
    graph: CSRGraph, pairs: NDArray[np.intp], components: NDArray[np.integer]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """The pairs of each component that has some, and the rows of this component."""
    if len(pairs) == 0:
        return
    by_component = np.argsort(graph.components, kind="stable")
    order = np.argsort(components, kind="stable")
    wanted, starts = np.unique(components[order], return_index=True)
    sorted_components = graph.components[by_component]
    for chosen, component in zip(np.split(pairs[order], starts[1:]), wanted.tolist(), strict=True):
        first, last = (int(np.searchsorted(sorted_components, component, side)) for side in ("left", "right"))
        yield chosen, by_component[first:last]


def _ends_of_pairs(pairs: Iterable[tuple[Hashable, Hashable]]) -> list[Hashable]:
    """Both nodes of each pair in turn."""
    if is_frame(pairs):
        pairs = _pairs_of_table(read_frame(pairs, "pairs"))
    elif isinstance(pairs, np.ndarray):
        pairs = pairs.tolist()  # plain Python objects
    if not isinstance(pairs, Iterable):
        raise TypeError(
            "pairs must be a table, an array with two columns or an iterable of pairs of nodes, such as [(0, 5)], got "
            f"{shortened(pairs)}"
        )
    ends: list[Hashable] = []
    for pair in pairs:
        is_sequence = isinstance(pair, tuple | list) or (isinstance(pair, np.ndarray) and pair.ndim == 1)
        if not is_sequence or len(pair) != 2:
            hint = f"; for one pair pass [{shortened(pairs)}]" if isinstance(pairs, tuple) and len(pairs) == 2 else ""
            raise ValueError(f"pairs must hold pairs of nodes, such as [(0, 5)], got {shortened(pair)}{hint}")
        ends.extend(pair)
    return ends


def _pairs_of_table(table: Table | Column) -> Iterable[tuple[Hashable, Hashable]]:
    if not isinstance(table, Table):
        raise TypeError("pairs must be a table with the columns source and target, got one column")
    columns = edge_columns(table, weights_matter=False)
    return zip(columns.sources.nodes(), columns.targets.nodes(), strict=True)


def _is_out_of_reach(laplacian: Laplacian) -> bool:
    """Whether weights differ so much, among so many nodes, that no errors are known except along a tree."""
    return len(laplacian) > MAX_NODES and laplacian.weight_ratio > MAX_WEIGHT_RATIO


def pair_resistances(laplacian: Laplacian, pairs: NDArray[np.integer], tol: float) -> Bounded:
    """The resistance between the nodes of each pair, to this relative error."""
    distinct, which = np.unique(np.sort(pairs, axis=1), axis=0, return_inverse=True)
    values, errors = np.zeros(len(distinct)), np.zeros(len(distinct))
    others = np.flatnonzero(distinct[:, 0] != distinct[:, 1])
    values[others], errors[others] = _of_pairs(laplacian, distinct[others], tol)
    which = which.reshape(-1)
    return Bounded(values[which], errors[which])


def _of_pairs(laplacian: Laplacian, pairs: NDArray[np.integer], tol: float) -> Bounded:
    """The resistances of distinct pairs of two nodes, in the cheapest way."""
    if laplacian.is_tree:
        return _along_tree(laplacian, pairs)
    if _suits_reduction(laplacian):
        return _reduced(laplacian, pairs)
    if _is_out_of_reach(laplacian):
        return _unknown(len(pairs))
    n = len(laplacian)
    if n > MAX_NODES:
        return _from_currents(laplacian, pairs, tol)
    edges = Elimination.patience(n) * (1.0 + REDUCTIONS_PER_NODE * len(pairs) / n)
    laplacian.patience = edges / laplacian.graph.n_entries
    try:
        return _from_currents(laplacian, pairs, tol)
    except OutOfPatience:
        return _reduced(laplacian, pairs)
    finally:
        laplacian.patience = np.inf


def _unknown(count: int) -> Bounded:
    return Bounded(np.zeros(count), np.full(count, np.inf))


def _along_tree(laplacian: Laplacian, pairs: NDArray[np.integer]) -> Bounded:
    values = np.zeros(len(pairs))
    for block in blocks_of(len(pairs)):
        values[block] = laplacian.tree_energies(laplacian.pair_sources(pairs[block]))
    return Bounded(values, FEW_ROUNDINGS * values)


def _suits_reduction(laplacian: Laplacian) -> bool:
    """Whether reducing the network takes less time than steps, or is the only way."""
    is_only_way = len(laplacian) <= MAX_NODES and laplacian.weight_ratio > MAX_WEIGHT_RATIO
    return is_only_way or laplacian.suits_dense(for_each_node=False)


def _reduced(laplacian: Laplacian, pairs: NDArray[np.integer]) -> Bounded:
    values = reduced_resistances(laplacian.graph, pairs)
    return Bounded(values, rounding_errors(len(laplacian)) * values)


def _from_currents(laplacian: Laplacian, pairs: NDArray[np.integer], tol: float) -> Bounded:
    """The resistances of pairs from currents from each node that many of them share, or for each of them."""
    values, errors = _unknown(len(pairs))
    for group in _groups(pairs) if len(pairs) > 1 else []:
        nodes = np.unique(pairs[group])
        if len(group) >= PAIRS_PER_NODE * (len(nodes) - 1):
            values[group], errors[group] = _between(laplacian, nodes, np.searchsorted(nodes, pairs[group]), tol)
    missing = np.flatnonzero(~(errors <= tol * values))
    for block in blocks_of(len(missing)):
        chosen = missing[block]
        found = laplacian.potentials(laplacian.pair_sources(pairs[chosen]), _relative(tol))
        values[chosen], errors[chosen] = _middle(found)
    return Bounded(values, errors)


def _groups(pairs: NDArray[np.integer]) -> list[NDArray[np.intp]]:
    """The pairs that hang together by nodes they share."""
    from scipy.sparse import coo_array, csgraph

    nodes, ends = np.unique(pairs, return_inverse=True)
    ends = ends.reshape(-1, 2)
    joined = coo_array((np.ones(len(pairs)), (ends[:, 0], ends[:, 1])), shape=(len(nodes), len(nodes)))
    _, numbers = csgraph.connected_components(joined, directed=False)
    groups = numbers[ends[:, 0]]
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)


def _between(
    laplacian: Laplacian,
    nodes: NDArray[np.integer],
    pairs: NDArray[np.integer],
    tol: float,
    *,
    for_each_node: bool = False,
) -> Bounded:
    """The resistances between some of the nodes, from potentials of a current from each of them to the first.

    With b = b_u - b_v and potentials x_u, x_v whose gaps are T_u and T_v, Cauchy and Schwarz say of the resistance R
    that ``|R - b . (x_u - x_v)| <= sqrt(R) (sqrt(T_u) + sqrt(T_v))``.
    """
    degrees = laplacian.graph.degrees[nodes]
    wanted = (0.25 * tol) ** 2 / degrees.max()  # no resistance is below 1 / degree
    others = np.column_stack([nodes[1:], np.full(len(nodes) - 1, nodes[0])])
    # Of the potentials of each node, only those at itself and at its partners are kept: all would be n squared numbers.
    own, at_partners = np.zeros(len(nodes)), np.zeros(pairs.shape)
    roots, sizes = np.zeros(len(nodes)), np.zeros(len(nodes))
    orders = [np.argsort(ends, kind="stable") for ends in pairs.T]
    for block in blocks_of(len(others)):
        b = laplacian.pair_sources(others[block])
        found = laplacian.potentials(b, lambda _, gaps: gaps <= wanted, for_each_node=for_each_node)
        numbers = block + 1
        own[numbers] = found.x[laplacian.row_of[nodes[numbers]], block - block[0]]
        roots[numbers], sizes[numbers] = np.sqrt(found.gaps), np.abs(own[numbers])
        for side, order in enumerate(orders):
            chosen = order[slice(*np.searchsorted(pairs[:, side], [numbers[0], numbers[-1] + 1], sorter=order))]
            partners, columns = pairs[chosen, 1 - side], pairs[chosen, side] - numbers[0]
            at_partners[chosen, side] = found.x[laplacian.row_of[nodes[partners]], columns]
    u, v = pairs.T
    values = (own[u] - at_partners[:, 0]) - (at_partners[:, 1] - own[v])
    slack = roots[u] + roots[v]
    rounding = ENERGY_ROUNDING * (sizes[u] + sizes[v] + np.abs(at_partners).sum(axis=1))
    largest = 0.5 * (slack + np.sqrt(slack**2 + 4.0 * (np.abs(values) + rounding)))  # the square root of R, at most
    return Bounded(values, (1.0 + FEW_ROUNDINGS) * slack * largest + rounding)


def resistances_from(laplacian: Laplacian, node: int, tol: float) -> Float64s | None:
    """The resistances from one node to all nodes; None if they cannot be had to `MAX_ERROR_PER_TOL` times `tol`."""
    if not laplacian.has_similar_weights:
        pairs = np.column_stack([np.full(len(laplacian), node), np.arange(len(laplacian))])
        found = pair_resistances(laplacian, pairs, tol)
        return found.values if _is_accurate(found, tol).all() else None
    energies = _energies(
        laplacian, lambda block: laplacian.pair_sources(np.column_stack([np.full_like(block, node), block])), tol
    )
    if energies is not None:
        return energies.values if _is_accurate(energies, tol).all() else None
    inverse = laplacian.inverse()
    if inverse is None:
        return None
    values: Float64s = inverse[node, node] + inverse.diagonal() - 2.0 * inverse[node]
    return values


def resistance_sums(laplacian: Laplacian, tol: float) -> Float64s | None:
    """The sum of the resistances from each node to all others; None as in `resistances_from`.

    It is ``n g + sum of all g``, where g is the energy of a current from the node, spread evenly over all nodes.
    """
    if _needs_reduction(laplacian):
        return _sums_of_all(laplacian, tol)
    if _is_out_of_reach(laplacian):
        return None
    n, energies = len(laplacian), _energies(laplacian, laplacian.mean_sources, tol)
    if energies is not None:
        if _is_accurate(energies, tol).all():
            return n * energies.values + float(energies.values.sum())
        return _sums_of_all(laplacian, tol) if n <= MAX_NODES else None
    inverse = laplacian.inverse()
    if inverse is None:
        return None
    diagonal: Float64s = inverse.diagonal()
    return n * diagonal + float(diagonal.sum()) - 2.0 * np.asarray(inverse.sum(axis=0), dtype=np.float64)


def _needs_reduction(laplacian: Laplacian) -> bool:
    return not laplacian.has_similar_weights and _suits_reduction(laplacian)


def _sums_of_all(laplacian: Laplacian, tol: float) -> Float64s | None:
    values = all_resistances(laplacian, tol)
    return None if values is None else values.sum(axis=1)


def _energies(laplacian: Laplacian, sources: Callable[[NDArray[np.intp]], Float64s], tol: float) -> Bounded | None:
    """The energy of a source for each node; None if a dense inverse takes less time.

    Only where weights are similar may it be a dense inverse: nothing says how large its errors are. Once an error is
    too large, the others are infinite.
    """
    n = len(laplacian)
    may_invert = n <= MAX_DENSE and laplacian.has_similar_weights
    if may_invert and laplacian.suits_dense(for_each_node=True):
        return None
    energies = _unknown(n)
    for block in blocks_of(n):
        found = laplacian.potentials(sources(block), _relative(tol), for_each_node=True)
        edges = found.n_steps * (laplacian.graph.n_entries + EDGES_PER_ROW * n)
        if may_invert and edges > DENSE_STEPS * n * n:
            return None
        energies.values[block], energies.errors[block] = _middle(found)
        if not _is_accurate(energies, tol)[block].all():
            break
    return energies


def _is_accurate(found: Bounded, tol: float) -> NDArray[np.bool_]:
    return found.errors <= MAX_ERROR_PER_TOL * tol * found.values


def all_resistances(laplacian: Laplacian, tol: float) -> Float64s | None:
    """The resistances between all nodes; None as in `resistances_from`."""
    if not laplacian.has_similar_weights:
        return _all_without_inverse(laplacian, tol)
    inverse = laplacian.inverse()
    if inverse is None:
        return None
    diagonal = inverse.diagonal().copy()
    for u in range(len(laplacian)):  # columns, so that the array keeps its memory; it stays symmetric to the last bit
        inverse[:, u] = (diagonal + diagonal[u]) - 2.0 * inverse[:, u]
    return inverse


def _all_without_inverse(laplacian: Laplacian, tol: float) -> Float64s | None:
    """All resistances where weights differ much: from potentials between each node and one, and reduced networks.

    Potentials do not give the resistances beyond a weak bridge. These come from reduced networks.
    """
    n = len(laplacian)
    pairs = np.column_stack(np.triu_indices(n, 1))
    found = _unknown(len(pairs))
    if not (_suits_reduction(laplacian) or _is_out_of_reach(laplacian)):
        found = _between(laplacian, np.arange(n), pairs, MAX_ERROR_PER_TOL * tol, for_each_node=True)
    missing = np.flatnonzero(~_is_accurate(found, tol))
    if len(missing):
        if n > MAX_NODES:
            return None
        found.values[missing], _ = _reduced(laplacian, pairs[missing])
    values = np.zeros((n, n))
    values[pairs[:, 0], pairs[:, 1]] = values[pairs[:, 1], pairs[:, 0]] = found.values
    return values
