"""An nx.Graph as this package sees it, and the arrays that were made of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import islice
from time import perf_counter
from typing import Any, NamedTuple, cast

import networkx as nx

from nx_fastonl._lib.checks import perhaps, shortened
from nx_fastonl._lib.log import elapsed, logger, warn_caller
from nx_fastonl.graph._dicts import have_weights, some_edges, weights_of
from nx_fastonl.graph.rows import Rows, first_named, rows_from_adjacency

BACKEND_NAME = "fastonl"
DEFAULT_WEIGHT = "weight"
ALL_ATTRIBUTES = (True, True)  # the cache key that NetworkX looks up, whatever attributes a function needs
# How many weights are compared before a conversion is used again: all of a small graph, some of a larger one. Each
# takes about 10 nanoseconds.
MAX_CHECKED_EDGES = 256


class Conversion(NamedTuple):
    """What was made of a graph, and what must not have changed for it to be used again."""

    made: Any
    n_nodes: int
    n_entries: int  # of all rows
    edges: list[Any]  # attribute dicts of some edges
    weights: list[Any]  # of these edges, when the graph was converted
    is_whole: bool  # whether these are all edges


class LiveGraph:
    """An nx.Graph as this package sees it: its attributes as they are now, its edges as arrays when they are asked for.

    NetworkX's cache holds it, and drops it when the graph is changed through its methods. So it may store the arrays.
    It refers to the graph's dicts and not to the graph, because that would delay freeing the graph. Views, such as
    ``G.subgraph()``, are not told when their graph changes: for them nothing is stored.
    """

    __networkx_backend__ = BACKEND_NAME

    def __init__(self, G: nx.Graph[Any]) -> None:
        self.graph: dict[Any, Any] = G.graph
        self.attributes: Mapping[Hashable, Mapping[Any, Any]] = cast(Any, G)._node
        self.adjacency: Mapping[Hashable, Mapping[Hashable, Any]] = cast(Any, G)._adj  # G.adj would wrap every row
        self._directed = G.is_directed()
        self._multigraph = G.is_multigraph()
        self._is_view = hasattr(G, "_graph")
        self._may_be_one_sided = may_be_one_sided(G)
        self._conversions: dict[str | None, Conversion] = {}
        self._unused_weights: set[str | None] = set()  # names that no edge had when the graph was converted

    def __len__(self) -> int:
        return len(self.attributes)

    def __repr__(self) -> str:
        return f"LiveGraph of {len(self)} nodes"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_conversions": {}}

    def is_directed(self) -> bool:
        """Whether the edges have a direction."""
        return self._directed

    def is_multigraph(self) -> bool:
        """Whether there may be parallel edges."""
        return self._multigraph

    def conversion(
        self, weight: str | None, make: Callable[[Sequence[Hashable], Rows, bool], Any], *, recount: bool = False
    ) -> Any:
        """What `make` returns for the nodes, rows and direction of the graph with this weight; stored until it changes.

        NetworkX clears its cache, and so drops what is stored here, when a graph is changed through its methods. It
        does not notice two kinds of change:

        - ``G[u][v]["weight"] = 2``. The weights of up to 256 edges are compared at each use, in some 3 microseconds.
          In a graph with no more edges every such change is seen. In a larger one these edges are spread evenly: a
          change of all weights is seen, a change of one weight in a hundred with a probability of 92 %, a change of a
          single weight hardly ever. So the first use of such a conversion in a process warns. For NetworkX's own
          functions, NetworkX gives the warning.
        - A change that fails half-way, such as ``G.add_edges_from([(0, 9), (1,)])``. A different number of nodes is
          always noticed; with `recount`, which visits every node, a different number of edges too.
        """
        stored = self._conversions.get(weight)
        if stored is not None and self._is_current(stored, weight, recount):
            if not (stored.is_whole or recount or "cache" in nx.config.warnings_to_ignore):
                warn_of_partial_checks()
            logger.debug("used the arrays that are kept of an nx.Graph with %d nodes, weight=%r", len(self), weight)
            return stored.made
        if stored is not None:
            logger.info(
                "dropped the arrays that were kept of an nx.Graph with %d nodes, weight=%r: it was changed by other "
                "means than NetworkX's methods",
                stored.n_nodes,
                weight,
            )
        began = perf_counter()
        nodes, rows = self._rows(weight)
        self._unused_weights.discard(weight)
        if self._is_unused(weight, rows):
            self._unused_weights.add(weight)
        made = make(nodes, rows, self._directed)
        logger.info(
            "converted an nx.Graph with %d nodes, weight=%r, in %s%s",
            len(self),
            weight,
            elapsed(began),
            "; it is a view, which is converted at every call" if self._is_view else "",
        )
        if not self._is_view:
            self._conversions[weight] = self._to_store(made, weight)
        return made

    def warn_of_unused(self, weight: str | None) -> None:
        """Warn of the name of a weight that no edge had at the last conversion, so that all weights are 1.

        NetworkX's functions do not. The default name is not warned of either: edges need no weights.
        """
        if weight in self._unused_weights:
            edges = islice(self._edges(), MAX_CHECKED_EDGES)
            names = {name for data in edges for name in data if isinstance(name, str)}
            hint = perhaps(weight, names) if isinstance(weight, str) else ""
            warn_caller(f"no edge has the attribute {shortened(weight)}, so all weights are 1{hint}")

    def to_networkx(self) -> nx.Graph[Any]:
        """A NetworkX graph of the same kind, with the same nodes, edges and attributes."""
        kinds = {
            (False, False): nx.Graph,
            (False, True): nx.DiGraph,
            (True, False): nx.MultiGraph,
            (True, True): nx.MultiDiGraph,
        }
        G: Any = kinds[self._multigraph, self._directed]()
        G.graph.update(self.graph)
        G.add_nodes_from(self.attributes.items())
        for u, neighbours in self.adjacency.items():
            for v, data in neighbours.items():
                if self._multigraph:
                    G.add_edges_from((u, v, key, attributes) for key, attributes in data.items())
                else:
                    G.add_edges_from([(u, v, data)])  # names of attributes need not be texts
        return cast("nx.Graph[Any]", G)

    def _is_unused(self, weight: str | None, rows: Rows) -> bool:
        """Whether a weight is named, and no edge has it."""
        if weight is None or weight == DEFAULT_WEIGHT or len(rows.indices) == 0:
            return False
        if rows.weights is not None and not self._multigraph:  # parallel edges add up to other weights than 1
            return False
        return not any(weight in data for data in self._edges())

    def _edges(self) -> Iterator[Mapping[Any, Any]]:
        """The attributes of each edge, of an undirected one twice."""
        for neighbors in self.adjacency.values():
            for data in neighbors.values():
                yield from data.values() if self._multigraph else (data,)

    def _rows(self, weight: str | None) -> tuple[Sequence[Hashable], Rows]:
        nodes, rows = rows_from_adjacency(self.adjacency, weight, self._multigraph)
        return nodes, first_named(rows) if self._may_be_one_sided else rows

    def _to_store(self, made: Any, weight: str | None) -> Conversion:
        if weight is None:
            return Conversion(made, len(self), self._count_entries(), [], [], is_whole=True)
        edges, is_whole = some_edges(self.adjacency, self._multigraph, MAX_CHECKED_EDGES)
        return Conversion(made, len(self), self._count_entries(), edges, weights_of(edges, weight), is_whole)

    def _is_current(self, stored: Conversion, weight: str | None, recount: bool) -> bool:
        return (
            stored.n_nodes == len(self)
            and have_weights(stored.edges, weight, stored.weights)
            and not (recount and stored.n_entries != self._count_entries())
        )

    def _count_entries(self) -> int:
        return sum(map(len, self.adjacency.values()))


_told: list[bool] = []


def warn_of_partial_checks() -> None:
    """Tell the user, once in a process, which changes a stored conversion of a large graph may miss."""
    if _told:
        return
    _told.append(True)  # first: a warning may be an error
    warn_caller(
        'nx_fastonl keeps the arrays of this nx.Graph: after changes such as G[u][v]["weight"] = 2, call '
        'G.__networkx_cache__.clear(); nx.config.warnings_to_ignore.add("cache") silences this'
    )


def may_be_one_sided(G: nx.Graph[Any]) -> bool:
    """Whether this is an undirected view in which (u, v) and (v, u) may differ.

    It may be a view of a directed graph, or have a filter of edges that depends on the direction.
    """
    whole: Any = G
    while hasattr(whole, "_graph"):
        if getattr(whole, "_EDGE_OK", nx.filters.no_filter) is not nx.filters.no_filter:
            break
        whole = whole._graph
    return not G.is_directed() and (whole.is_directed() or hasattr(whole, "_graph"))


def live_graph(G: nx.Graph[Any]) -> LiveGraph:
    """The LiveGraph of `G`, the same each time until `G` changes, where NetworkX's cache may be used."""
    cache = getattr(G, "__networkx_cache__", None)
    if cache is None or not nx.config.cache_converted_graphs:
        return LiveGraph(G)
    conversions: dict[Any, LiveGraph] = cache.setdefault("backends", {}).setdefault(BACKEND_NAME, {})
    live = conversions.get(ALL_ATTRIBUTES)
    if live is None:
        live = conversions[ALL_ATTRIBUTES] = LiveGraph(G)
    return live
