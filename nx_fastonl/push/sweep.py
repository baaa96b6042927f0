"""Sweep cuts: the best set of nodes among the prefixes of a list."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.arrays import no_marks
from nx_fastonl._lib.checks import Unknown, check_count, check_unknown, shortened
from nx_fastonl._lib.html import facts, few_names, view, view_or_none
from nx_fastonl.graph._dicts import dict_from_arrays
from nx_fastonl.graph.base import RowGraph
from nx_fastonl.graph.convert import as_row_graph
from nx_fastonl.graph.vectors import Masses, is_by_row, sparse_vector, unframed
from nx_fastonl.nxapi.dispatch import dispatchable
from nx_fastonl.push import _sweep

__all__ = ["Prefixes", "SweepCut", "SweepProfile", "check_undirected", "prefixes", "sweep_cut"]


class SweepProfile(NamedTuple):
    """What a sweep saw: one number for each prefix of its nodes, the shortest first.

    Attributes
    ----------
    conductance : numpy.ndarray of float
        `cut` divided by the smaller of `volume` and the volume of all other nodes; 1 where one of these is 0.
    cut : numpy.ndarray of float
        The weight of the edges that leave the prefix.
    volume : numpy.ndarray of float
        The sum of the degrees of its nodes.

    Examples
    --------
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> profile = fo.sweep_cut(nx.path_graph(4), {0: 4, 1: 3, 2: 2, 3: 1}, per_degree=False).profile
    >>> profile.cut.tolist(), profile.volume.tolist()
    ([1.0, 1.0, 1.0, 0.0], [1.0, 3.0, 5.0, 6.0])
    """

    conductance: NDArray[np.float64]
    cut: NDArray[np.float64]
    volume: NDArray[np.float64]


@dataclass(frozen=True, repr=False, eq=False)
class SweepCut:
    """A set of nodes that few edges leave, and the sweep that found it.

    Attributes
    ----------
    nodes : list of nodes
        The set, in the order of the sweep. This object has them too: for ``len``, for ``in``, and to iterate over.
    conductance : float
        The weight of the edges that leave the set, divided by the smaller of the two sums of degrees: of its nodes, and
        of all others. 1 where one of these is 0.
    cut, volume : float
        The weight of the edges that leave the set, and the sum of the degrees of its nodes.
    order : list of nodes
        All nodes that were swept, in their order. `nodes` are the first of them.
    profile : SweepProfile
        Conductance, cut and volume after each node of `order`.

    Examples
    --------
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> fo.sweep_cut(nx.barbell_graph(3, 0), {0: 3, 1: 3, 2: 2, 3: 1})
    SweepCut(3 nodes, 4 swept, conductance=0.1429)
    """

    nodes: list[Any]
    conductance: float
    cut: float
    volume: float
    order: list[Any]
    profile: SweepProfile

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self._node_set
        except TypeError:  # it has no hash, so that it is no node
            return False

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def _node_set(self) -> frozenset[Any]:
        return frozenset(self.nodes)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._summary()})"

    def _summary(self) -> str:
        return f"{len(self):,} nodes, {len(self.order):,} swept, conductance={self.conductance:.4g}"

    def _repr_html_(self) -> str | None:
        return view_or_none(self._view)

    def _view(self) -> str:
        nodes = {"nodes": few_names(self.nodes, len(self)), "swept": len(self.order)}
        numbers = {field.name: getattr(self, field.name) for field in fields(self) if field.type in ("float", "int")}
        return view(type(self).__name__, self._summary(), facts({**nodes, **numbers}))


class Prefixes(NamedTuple):
    """The rows of a sweep, what it saw, and the number of rows in the best prefix."""

    rows: NDArray[np.int32]
    profile: SweepProfile
    size: int

    @property
    def conductance(self) -> float:
        return float(self.profile.conductance[self.size - 1])

    def named(self, graph: RowGraph) -> dict[str, Any]:
        """The attributes of a `SweepCut`."""
        order: list[Hashable] = list(dict_from_arrays(graph.nodes, self.rows, self.profile.conductance, zeros=True))
        for values in self.profile:
            values.flags.writeable = False
        last = self.size - 1
        return {
            "nodes": order[: self.size],
            "conductance": self.conductance,
            "cut": float(self.profile.cut[last]),
            "volume": float(self.profile.volume[last]),
            "order": order,
            "profile": self.profile,
        }


def prefixes(
    graph: RowGraph,
    rows: NDArray[np.int32],
    scores: NDArray[np.float64],
    max_size: int | None = None,
    max_volume: float = math.inf,
) -> Prefixes:
    """Sweep over the rows, those with the largest scores first; of equal ones, the first rows.

    The best prefix has the lowest conductance; of several, it is the shortest.
    """
    order = np.lexsort((rows, -scores))
    rows = rows[order if max_size is None else order[: min(max_size, len(order))]]
    with graph.scratch(no_marks) as inside:
        cut, volume, conductance = _sweep.sweep(graph.view, inside, rows, graph.volume, graph.n_entries, max_volume)
    return Prefixes(rows[: len(cut)], SweepProfile(conductance, cut, volume), int(conductance.argmin()) + 1)


def check_undirected(graph: RowGraph) -> None:
    if graph.is_directed():
        raise nx.NetworkXNotImplemented(
            "conductance is that of an undirected graph: CSRGraph.from_networkx(G).without_arrows(), or A + A.T of a "
            "matrix, adds up both arcs between two nodes"
        )


@dispatchable
def sweep_cut(
    G: Any,
    vector: Masses,
    max_size: int | None = None,
    *,
    per_degree: bool = True,
    unknown: Unknown = "error",
    weight: str | None = "weight",
) -> SweepCut:
    """The set of lowest conductance among the nodes with the largest values of a vector.

    Nodes are sorted by their value, divided by their degree. Each prefix of this list is a set, and its conductance
    says how few of its edges leave it. One pass over the edges of these nodes computes all of them.

    Parameters
    ----------
    G : nx.Graph, scipy sparse array, CSRGraph or DynamicGraph
        Undirected: of a directed one, pass `CSRGraph.without_arrows`. The conversion of an nx.Graph is kept for later
        calls: see `CSRGraph.from_networkx`.
    vector : dict, array, table or column of float
        ``{node: value}``, or a value for each node in the order of ``list(G)``. A table has the columns node and
        weight; a pandas Series goes by its index, unless that only counts the rows, and is an error if both are
        integers. No value may be negative. Nodes whose value is 0 are not swept.
    max_size : int, optional
        The set has at most this many nodes. Unlimited by default.
    per_degree : bool, default True
        Divide values by degrees, as personalised PageRank needs it. Isolated nodes then come first. Otherwise sort the
        values as they are.
    unknown : {"error", "skip"}, default "error"
        What to do with nodes of `vector` that are not in the graph.
    weight : str or None, default "weight"
        The edge attribute that holds the weight, 1 where it is missing. None ignores weights.

    Returns
    -------
    SweepCut
        Of equal values, those come first whose nodes come first in ``list(G)``; in a `DynamicGraph`, whose rows do. Of
        several sets of the lowest conductance, it is the smallest.

    Raises
    ------
    networkx.NodeNotFound
        If a node of `vector` is not in the graph and `unknown` is ``"error"``.
    networkx.NetworkXNotImplemented
        If `G` is directed.
    networkx.NetworkXPointlessConcept
        If `G` has no nodes.
    TypeError, ValueError
        If a parameter is of the wrong type or out of range, or no value is above 0.

    See Also
    --------
    local_community : The set around some nodes, from personalised PageRank.
    plotting.plot_sweep

    Notes
    -----
    A self-loop counts once in the degree of its node, as everywhere in this package, and never leaves a set.
    ``nx.conductance`` counts it twice. Where a set or all other nodes have no edge, there is no cut, and the
    conductance is 1.

    References
    ----------
    R. Andersen, F. Chung, K. Lang: Local graph partitioning using PageRank vectors. FOCS 2006.

    Examples
    --------
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> G = nx.karate_club_graph()
    >>> found = fo.sweep_cut(G, fo.personalized_pagerank_local(G, personalization=33, tol=1e-6))
    >>> len(found), round(found.conductance, 3)
    (18, 0.1)
    >>> found.profile.conductance[:3].round(3)
    array([1.   , 0.922, 0.821])
    """
    vector = unframed(vector, "vector")
    graph = as_row_graph(G, weight, in_order=is_by_row(vector))
    with graph.reading():
        check_undirected(graph)
        check_count("max_size", max_size)
        check_unknown(unknown)
        if not isinstance(per_degree, bool | np.bool_):
            raise TypeError(f"per_degree must be True or False, got {shortened(per_degree)}")
        rows, values = sparse_vector(graph, vector, "vector", unknown)
        if per_degree:
            degrees = graph.degrees[rows]
            values = np.divide(values, degrees, out=np.full(len(rows), np.inf), where=degrees > 0.0)
        return SweepCut(**prefixes(graph, rows.astype(np.int32), values, max_size).named(graph))
