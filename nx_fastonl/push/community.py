"""The community around some nodes: a push, then a sweep."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nx_fastonl._lib.checks import Unknown, check_count, check_fraction, check_positive, check_unknown
from nx_fastonl.graph.base import RowGraph
from nx_fastonl.graph.convert import as_row_graph
from nx_fastonl.graph.vectors import Masses, SparseVector, distribution, is_by_row, unframed
from nx_fastonl.nxapi.dispatch import dispatchable
from nx_fastonl.push import _push
from nx_fastonl.push._sweep import pushed_so_far
from nx_fastonl.push._workspace import Workspace
from nx_fastonl.push.local import FIRST_EPSILON_FACTOR, NEVER_CANCELLED, UNLIMITED, edges_of_column, push_or_solve
from nx_fastonl.push.pagerank import as_weights, scaled_epsilon
from nx_fastonl.push.sweep import Prefixes, SweepCut, check_undirected, prefixes
from nx_fastonl.push.system import LinearSystem

__all__ = ["LocalCommunity", "local_community"]

# Where epsilon is not given, one push goes through these, and each is followed by a sweep.
EPSILONS = (1e-3, 1e-4, 1e-5)


@dataclass(frozen=True, repr=False, eq=False)
class LocalCommunity(SweepCut):
    """The community around some nodes, as `local_community` found it.

    It has what a `SweepCut` has, and what the push did.

    Attributes
    ----------
    epsilon : float
        The epsilon of the push whose sweep is this one.
    operations : int
        How many edges were walked by pushing.

    Examples
    --------
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> found = fo.local_community(nx.barbell_graph(10, 0), 0, epsilon=1e-4)
    >>> found, found.epsilon
    (LocalCommunity(10 nodes, 10 swept, conductance=0.01099), 0.0001)
    """

    epsilon: float
    operations: int


@dispatchable
def local_community(
    G: Any,
    seeds: Masses | Hashable | Iterable[Hashable],
    alpha: float = 0.85,
    epsilon: float | None = None,
    max_size: int | None = None,
    *,
    unknown: Unknown = "error",
    weight: str | None = "weight",
) -> LocalCommunity:
    """The community around some nodes: of the nodes close to them, a set that few edges leave.

    Personalised PageRank sorts the nodes near the seeds, by value divided by degree. The best prefix of this list is
    the community. The work depends on the nodes that are reached, not on the size of the graph.

    Parameters
    ----------
    G : nx.Graph, scipy sparse array, CSRGraph or DynamicGraph
        Undirected: of a directed one, pass `CSRGraph.without_arrows`. The conversion of an nx.Graph is kept for later
        calls: see `CSRGraph.from_networkx`.
    seeds : node, collection of nodes, dict, array, table or column
        As `personalization` of `personalized_pagerank_local`.
    alpha : float, default 0.85
        The damping, between 0 and 1, as in `personalized_pagerank_local`. A larger one finds larger communities.
    epsilon : float, optional
        A node is pushed only while its residual exceeds this, per neighbour and as a fraction of what the heaviest seed
        starts with. A smaller one reaches more nodes. By default it falls, from 1e-3 to 1e-5, with a sweep after each
        step, and the lowest conductance wins.
    max_size : int, optional
        The community has at most this many nodes. Unlimited by default.
    unknown : {"error", "skip"}, default "error"
        What to do with seeds that are not in the graph.
    weight : str or None, default "weight"
        The edge attribute that holds the weight, 1 where it is missing. None ignores weights.

    Returns
    -------
    LocalCommunity
        Its sum of degrees is at most half of that of all nodes, unless the first node of the sweep alone has more. One
        seed is always the first node. Of several seeds, some may be left out.

    Raises
    ------
    networkx.NodeNotFound
        If a seed is not in the graph and `unknown` is ``"error"``.
    networkx.NetworkXNotImplemented
        If `G` is directed.
    networkx.NetworkXPointlessConcept
        If `G` has no nodes.
    TypeError, ValueError
        If a parameter is of the wrong type or out of range, the seeds' weights add up to zero, no seed is in the graph,
        or an array may be weights or seeds.

    See Also
    --------
    sweep_cut : The same for any vector.
    plotting.plot_sweep

    Notes
    -----
    The order of equal values, self-loops, and the conductance where one side has no edges are as in `sweep_cut`. An
    isolated seed is a community alone, of conductance 1. If the component of the seeds has at most half of all edges,
    and the push covers it, it is the community: its conductance is 0, and no other set is better.

    References
    ----------
    R. Andersen, F. Chung, K. Lang: Local graph partitioning using PageRank vectors. FOCS 2006.

    Examples
    --------
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> found = fo.local_community(nx.les_miserables_graph(), "Enjolras")
    >>> len(found.nodes), round(found.conductance, 3)
    (16, 0.102)
    >>> found.nodes[:4]
    ['Enjolras', 'Prouvaire', 'Combeferre', 'Grantaire']
    """
    seeds = unframed(seeds, "seeds")
    graph = as_row_graph(G, weight, in_order=is_by_row(seeds))
    with graph.reading():
        check_undirected(graph)
        alpha = check_fraction("alpha", alpha)
        epsilons = EPSILONS if epsilon is None else (check_positive("epsilon", epsilon),)
        check_count("max_size", max_size)
        check_unknown(unknown)
        sources = distribution(graph, as_weights(graph, seeds, "seeds"), "seeds", unknown)
        found, epsilon, operations = _best_sweep(graph, sources, alpha, epsilons, max_size)
        return LocalCommunity(**found.named(graph), epsilon=epsilon, operations=operations)


def _best_sweep(
    graph: RowGraph, seeds: SparseVector, damping: float, epsilons: tuple[float, ...], max_size: int | None
) -> tuple[Prefixes, float, int]:
    """The best of the sweeps while epsilon falls, its epsilon, and how many edges were walked."""
    system = LinearSystem(graph, shift=0.0, slope=1.0 / damping)
    effort = _push.Effort(edges_of_column(system), UNLIMITED, NEVER_CANCELLED)
    operations = 0  # of pushes from the start, where this one would take long
    half = 0.5 * graph.volume
    best: tuple[Prefixes, float] | None = None
    before = 0.0
    with graph.scratch(Workspace) as work:
        work.start(*seeds)
        for epsilon in epsilons:
            scaled = scaled_epsilon(graph, seeds, epsilon)
            is_settled = _push.push(
                system.view,
                work,
                effort,
                first_epsilon=before or FIRST_EPSILON_FACTOR * scaled,
                epsilon=scaled,
                omega=system.omega,
                target=0.0,
                measure=False,
            )
            before = scaled
            if is_settled:
                rows, scores = pushed_so_far(work)
            else:
                result = push_or_solve(system, *seeds, scaled)
                is_reached = result.estimate > 0.0
                rows, scores = result.nodes[is_reached], result.estimate[is_reached]
                operations += result.operations
            # The pivots are the degrees, times a constant: estimates are in the order of the values per degree.
            scores[graph.degrees[rows] == 0.0] = np.inf
            pushed_seeds = np.flatnonzero(np.isin(rows, seeds[0]))
            if len(pushed_seeds):  # as in the exact vector, whatever is left to push
                scores[pushed_seeds[scores[pushed_seeds].argmax()]] = np.inf
            found = prefixes(graph, rows, scores, max_size, half)
            if best is None or found.conductance < best[0].conductance:
                best = found, epsilon
        work.drain()
    assert best is not None
    return *best, effort.operations + operations
