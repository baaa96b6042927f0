"""NetworkX's functions of electrical networks: the same arguments, answers and exceptions, from sparse solves.

Where weights cannot be computed with, NotImplementedError hands the call back to NetworkX.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Hashable, Iterable
from typing import Any, cast

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib._ties import with_ties
from nx_fastonl._lib.limits import MAX_WEIGHT_RATIO
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.graph.live import LiveGraph
from nx_fastonl.graph.rows import rows_from_adjacency
from nx_fastonl.nxapi.algorithms import by_node, converted, is_empty
from nx_fastonl.push._conjugate import add_node_currents
from nx_fastonl.push.laplacian import Laplacian, blocks_of, connected_part
from nx_fastonl.push.resistance import (
    MAX_ERROR_PER_TOL,
    all_resistances,
    pair_resistances,
    resistance_sums,
    resistances_from,
)
from nx_fastonl.push.whole import Threads

_Graph = LiveGraph | CSRGraph

# The relative error that resistances are asked for with. Where they are not from a dense inverse of similar weights,
# MAX_ERROR_PER_TOL times as much is certified.
TOLERANCE = 1e-12
# The error of a current that steps go on to, where 1 flows in all; and the largest one that is accepted, where rounding
# errors of the potentials end the steps before.
CURRENT_TOLERANCE = 1e-11
MAX_CURRENT_ERROR = 1e-9
# Values that differ by no more than this fraction are equal, up to rounding errors.
TIE = 1e-11
# With fewer nodes, a dense inverse takes less time than a certificate, where weights are similar.
MAX_DENSE_PAIR = 50
INACCURATE = (
    "the accuracy cannot be reached: weights differ so much that rounding errors are too large, or it takes more steps "
    "than are allowed"
)


def resistance_distance(
    G: _Graph,
    nodeA: Hashable | None = None,
    nodeB: Hashable | None = None,
    weight: str | None = None,
    invert_weight: bool = True,
) -> Any:  # a float, a dict of them, or a dict of dicts
    """``nx.resistance_distance``: one solve for two nodes, unless the graph is tiny."""
    if is_empty(G):
        raise nx.NetworkXError("Graph G must contain at least one node.")
    shape = _connected(G, None, "Graph G must be strongly connected.")
    for name, node in (("A", nodeA), ("B", nodeB)):
        if node is not None and node not in shape:
            raise nx.NetworkXError(f"Node {name} is not in graph G.")
    graph = _conductances(G, weight) if invert_weight and weight is not None else _with_weights(G, weight)
    laplacian = Laplacian(connected_part(graph))
    if nodeA is not None and nodeB is not None:
        if len(graph) <= MAX_DENSE_PAIR and laplacian.has_similar_weights:
            return float(_from_one(laplacian, graph.index(nodeA))[graph.index(nodeB)])
        found = pair_resistances(laplacian, np.array([graph.rows_of([nodeA, nodeB])]), TOLERANCE)
        _check_accuracy(bool(found.errors[0] <= MAX_ERROR_PER_TOL * TOLERANCE * found.values[0]))
        return float(found.values[0])
    if nodeA is not None or nodeB is not None:
        start = graph.index(nodeB if nodeA is None else nodeA)
        return by_node(G, graph, _from_one(laplacian, start))
    values = _reached(all_resistances(laplacian, TOLERANCE))
    return dict(zip(_nodes(G, graph), (by_node(G, graph, row) for row in _tied(values)), strict=True))


def current_flow_closeness_centrality(
    G: _Graph, weight: str | None = None, dtype: Any = float, solver: str = "lu"
) -> dict[Any, float]:
    """``nx.current_flow_closeness_centrality``, which is also ``nx.information_centrality``."""
    del dtype, solver  # support.py has checked them: this is in double precision, by a solver of its own
    if len(G) < 2:  # from version 3.7 on, NetworkX has an answer
        tiny: dict[Any, float] = nx.current_flow_closeness_centrality(_as_networkx(G), backend="networkx")
        return tiny
    graph = _connected(G, weight)
    sums = _reached(resistance_sums(Laplacian(connected_part(graph)), TOLERANCE))
    return {node: 1.0 / value for node, value in by_node(G, graph, with_ties(sums, TIE)).items()}


def approximate_current_flow_betweenness_centrality(
    G: _Graph,
    normalized: bool = True,
    weight: str | None = None,
    dtype: Any = float,
    solver: str = "full",
    epsilon: float = 0.5,
    kmax: int = 10000,
    seed: Any = None,
    *,
    sample_weight: float = 1,
) -> dict[Any, float]:
    """``nx.approximate_current_flow_betweenness_centrality``, from the pairs that NetworkX draws."""
    del dtype, solver
    graph = _connected(G, weight)
    n = len(graph)
    cstar = n * (n - 1) / ((n - 1.0) * (n - 2.0)) if n > 2 else 0.0
    k = int(sample_weight * np.ceil((cstar / epsilon) ** 2 * np.log(n))) if epsilon > 0 else 0
    if k <= 0:  # NetworkX's versions differ in what they say of this
        new = {} if sample_weight == 1 else {"sample_weight": sample_weight}
        strange: dict[Any, float] = nx.approximate_current_flow_betweenness_centrality(
            _as_networkx(G), normalized, weight, epsilon=epsilon, kmax=kmax, seed=seed, **new, backend="networkx"
        )
        return strange
    if k > kmax:
        raise nx.NetworkXError(f"Number random pairs k>kmax ({k}>{kmax}) ", "Increase kmax or epsilon")
    # NetworkX numbers the nodes so, and draws numbers.
    order = np.array(graph.rows_of(nx.utils.reverse_cuthill_mckee_ordering(_as_networkx(G))))
    pairs = order[_drawn_pairs(_copied(seed), n, k)]
    currents = _currents(Laplacian(connected_part(graph)), pairs)
    _drawn_pairs(seed, n, k)  # only now: had this been handed back, NetworkX would have to draw the same pairs
    values = currents * (cstar / (2 * k) * (1.0 if normalized else (n - 1.0) * (n - 2.0) / 2.0))
    return by_node(G, graph, with_ties(values, TIE))


def _drawn_pairs(seed: Any, n: int, k: int) -> NDArray[np.int64]:
    return np.array([seed.sample(range(n), 2) for _ in range(k)])


def _copied(seed: Any) -> Any:
    """A generator that draws the same numbers. The operating system's has no state, so it stands for itself."""
    if isinstance(seed, random.SystemRandom):
        return seed
    if isinstance(seed, nx.utils.PythonRandomViaNumpyBits):  # whose copies would draw from numpy's global generator
        return nx.utils.PythonRandomViaNumpyBits(copy.deepcopy(vars(seed)["_rng"]))
    return copy.deepcopy(seed)


def _currents(laplacian: Laplacian, pairs: NDArray[np.integer]) -> NDArray[np.float64]:
    """Of the flows between the nodes of each pair, the sum of magnitudes at each other node.

    With a gap T, they are off by at most ``sqrt(D T)`` at a node of degree D, as Cauchy and Schwarz say.
    """
    _check_accuracy(laplacian.weight_ratio <= MAX_WEIGHT_RATIO)
    wanted, accepted = (error**2 / laplacian.graph.largest_degree for error in (CURRENT_TOLERANCE, MAX_CURRENT_ERROR))
    currents = np.zeros(len(laplacian))
    for block in blocks_of(len(pairs)):
        found = laplacian.potentials(laplacian.pair_sources(pairs[block]), lambda _, gaps: gaps <= wanted)
        _check_accuracy(bool((found.gaps <= accepted).all()))
        with Threads(laplacian.rows.ends, None) as threads:
            threads.run(add_node_currents, laplacian.rows, found.x, laplacian.row_of[pairs[block]], currents)
    at_nodes = np.empty_like(currents)
    at_nodes[laplacian.rows.order] = currents
    return at_nodes


def _from_one(laplacian: Laplacian, start: int) -> NDArray[np.float64]:
    values = _reached(resistances_from(laplacian, start, TOLERANCE)) if len(laplacian) > 1 else np.zeros(1)
    values[start] = 0.0
    tied: NDArray[np.float64] = with_ties(np.maximum(values, 0.0), TIE)
    return tied


def _tied(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """A symmetric matrix of resistances in which values that differ by rounding errors are equal."""
    np.fill_diagonal(values, 0.0)
    tied: NDArray[np.float64] = with_ties(np.maximum(values, 0.0).ravel(order="K"), TIE)
    return tied.reshape(values.shape)


def _connected(G: _Graph, weight: str | None, message: str = "Graph not connected.") -> CSRGraph:
    """The graph with this weight, if its edges join all nodes, whatever they weigh."""
    if is_empty(G):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    shape = converted(G, None)
    if shape.components.any():
        raise nx.NetworkXError(message)
    return shape if weight is None else _with_weights(G, weight)


def _with_weights(G: _Graph, weight: str | None) -> CSRGraph:
    return _whole(converted(G, weight))


def _whole(graph: CSRGraph) -> CSRGraph:
    if graph.components.any():
        raise NotImplementedError("edges that conduct nothing join what is not connected otherwise")
    return graph


def _check_accuracy(reached: bool) -> None:
    if not reached:
        raise NotImplementedError(INACCURATE)


def _reached(values: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Values that are None if they cannot be had as accurate as they must be."""
    if values is None:
        raise NotImplementedError(INACCURATE)
    return values


def _conductances(G: _Graph, weight: str) -> CSRGraph:
    """The graph whose weights are 1 / weight, before parallel edges add up."""
    if not isinstance(G, LiveGraph):
        graph = converted(G, weight)
        weights = None if graph.weights is None else 1.0 / graph.weights
        return CSRGraph(graph.indptr, graph.indices, weights, nodes=graph.nodes)
    multiple = G.is_multigraph()
    inverted = {
        u: {
            v: {weight: sum(1 / edge[weight] for edge in data.values()) if multiple else 1 / data[weight]}
            for v, data in neighbours.items()
        }
        for u, neighbours in G.adjacency.items()
    }
    try:
        nodes, rows = rows_from_adjacency(inverted, weight, multigraph=False)
    except ValueError as error:
        raise NotImplementedError(str(error)) from error
    return _whole(CSRGraph(*rows, nodes=nodes))


def _as_networkx(G: _Graph) -> nx.Graph[Any]:
    """The graph for NetworkX's own functions, on the same dicts where there are some."""
    if not isinstance(G, LiveGraph):
        return G.to_networkx()
    shared: Any = nx.Graph()
    shared._node, shared._adj = G.attributes, G.adjacency
    return cast("nx.Graph[Any]", shared)


def _nodes(G: _Graph, graph: CSRGraph) -> Iterable[Hashable]:
    return G.adjacency if isinstance(G, LiveGraph) else graph.nodes
