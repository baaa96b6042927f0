"""NetworkX's own functions, computed on arrays: the same arguments, answers and exceptions.

NetworkX calls them through backend.py, after support.py has checked the arguments. Where the package cannot compute
with the weights of a graph, NotImplementedError hands the call back to NetworkX.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib._ties import with_ties
from nx_fastonl._lib.checks import as_float, shortened
from nx_fastonl.graph.convert import as_csr_graph
from nx_fastonl.graph.csr import CSRGraph, csr_graph_of
from nx_fastonl.graph.live import LiveGraph
from nx_fastonl.graph.products import transpose_times
from nx_fastonl.graph.vectors import SparseVector, dense_vector
from nx_fastonl.push.pagerank import everywhere, pagerank_vector, smallest_tolerance

if TYPE_CHECKING:
    from scipy import sparse

    _Graph = LiveGraph | CSRGraph | sparse.sparray | sparse.spmatrix

# NetworkX's power iteration stops when a step changes the vector by less than N * tol; the error may still be much
# larger. This backend knows its L1 error. What it asks for is this times N * tol, and never more than this.
ERROR_PER_TOL = 1e-6
# Values that differ by no more than this fraction are equal, up to rounding errors.
TIE = 1e-12
# NetworkX before 3.6 takes the roots of local_and_global_consistency in another order, so other ties break by rounding.
HAS_OLD_ROUNDING = [int(number) for number in re.findall(r"\d+", nx.__version__)[:2]] < [3, 6]
NO_SEED = "personalization gives every node of the graph 0; at least one needs a positive value"


def pagerank(
    G: _Graph,
    alpha: float = 0.85,
    personalization: Mapping[Hashable, float] | None = None,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: Mapping[Hashable, float] | None = None,
    weight: str | None = "weight",
    dangling: Mapping[Hashable, float] | None = None,
    *,
    l1_error: float | None = None,
) -> dict[Any, float]:
    """``nx.pagerank``, to the L1 error that is given.

    By default `tol` gives it, and nodes that are alike have equal values. This ends whatever `max_iter` is. Where power
    iteration cannot give an answer, it raises as NetworkX does.
    """
    if is_empty(G):
        return {}
    alpha, graph = float(alpha), converted(G, weight)
    seeds = everywhere(graph) if personalization is None else _scaled(graph, personalization)
    if seeds is None:
        raise ZeroDivisionError(NO_SEED)
    jumps = None if dangling is None else _scaled(graph, dangling)
    start = None if nstart is None else _scaled(graph, nstart)
    given_but_zero = (dangling is not None and jumps is None) or (nstart is not None and start is None)
    if operator.index(max_iter) < 1 or not tol > 0.0 or given_but_zero:
        raise nx.PowerIterationFailedConvergence(max_iter)
    least = 2.0 * smallest_tolerance(alpha)
    keeps_ties = l1_error is None
    if l1_error is None:
        l1_error = max(least, ERROR_PER_TOL * min(len(graph) * as_float(tol), 1.0) - TIE)
    elif not l1_error >= least:
        raise ValueError(
            f"l1_error must be at least {least:.1g}, where rounding errors begin, got {shortened(l1_error)}"
        )
    # NetworkX begins with the uniform vector, which may be the very answer where all degrees are equal.
    if nstart is None and len(seeds[0]) == len(graph) and graph.degrees.min() == graph.largest_degree:
        start = everywhere(graph)
    # Where walks end in dead ends, rounding errors of a guess could grow beyond the error that is asked for.
    guess = None if start is None or graph.has_dead_ends else dense_vector(graph, *start)
    # Scaling to a sum of 1 may double the error that the solver leaves. No L1 error is above 2.
    found = pagerank_vector(
        graph, seeds, jumps, alpha, tol=0.5 * min(as_float(l1_error), 2.0), start=guess, keep_ties=keeps_ties
    )
    values = dense_vector(graph, found.nodes, found.values)
    values /= values.sum()
    return by_node(G, graph, with_ties(values, TIE) if keeps_ties else values)


def power_iteration_ends(
    G: _Graph,
    alpha: float,
    personalization: Mapping[Hashable, float] | None,
    max_iter: int,
    tol: float,
    nstart: Mapping[Hashable, float] | None,
    weight: str | None,
    dangling: Mapping[Hashable, float] | None,
) -> bool:
    """Whether NetworkX's own ``nx.pagerank`` would end within `max_iter` steps: the same steps on arrays, to see it."""
    if is_empty(G):
        return True
    alpha, graph = float(alpha), converted(G, weight)
    seeds = everywhere(graph) if personalization is None else _scaled(graph, personalization)
    jumps = seeds if dangling is None else _scaled(graph, dangling)
    start = everywhere(graph) if nstart is None else _scaled(graph, nstart)
    if seeds is None or jumps is None or start is None:
        return False
    p, q, x = (dense_vector(graph, *vector) for vector in (seeds, jumps, start))
    is_dangling = graph.degrees == 0.0
    share = alpha / np.where(is_dangling, 1.0, graph.degrees)
    for _ in range(max_iter):
        last, x = x, transpose_times(graph, share * x) + alpha * x[is_dangling].sum() * q + (1.0 - alpha) * p
        if np.abs(x - last).sum() < len(graph) * tol:
            return True
    return False


def google_matrix(
    G: _Graph,
    alpha: float = 0.85,
    personalization: Mapping[Hashable, float] | None = None,
    nodelist: Sequence[Hashable] | None = None,
    weight: str | None = "weight",
    dangling: Mapping[Hashable, float] | None = None,
) -> NDArray[np.float64]:
    """``nx.google_matrix``: dense, with a row and a column for each node of `nodelist`."""
    if is_empty(G):
        return np.zeros((0, 0))
    graph = converted(G, weight)
    n = len(graph)
    nodes: Sequence[Hashable] = graph.nodes if nodelist is None else list(nodelist)
    A = graph.shared_matrix.toarray()
    if nodelist is not None:
        _check_nodelist(graph, nodes)
        rows = graph.rows_of(nodes)
        A = A[np.ix_(rows, rows)]
    if personalization is None:
        p = np.repeat(1.0 / n, n)
    else:
        p = np.array([personalization.get(node, 0) for node in nodes], dtype=float)
        if p.sum() == 0:
            raise ZeroDivisionError(NO_SEED)
        p /= p.sum()
    jumps = p
    if dangling is not None:
        jumps = np.array([dangling.get(node, 0) for node in nodes], dtype=float)
        jumps /= jumps.sum()
    A[A.sum(axis=1) == 0] = jumps
    A /= A.sum(axis=1)[:, np.newaxis]
    google: NDArray[np.float64] = alpha * A + (1 - alpha) * p
    return google


def katz_centrality(
    G: _Graph,
    alpha: float = 0.1,
    beta: Any = 1.0,  # a number, or one for each node
    max_iter: int = 1000,
    tol: float = 1.0e-6,
    nstart: Mapping[Hashable, float] | None = None,
    normalized: bool = True,
    weight: str | None = None,
) -> dict[Any, float]:
    """``nx.katz_centrality``: the same iteration, with one sparse product per step."""
    if is_empty(G):
        return {}
    graph = converted(G, weight)
    n = len(graph)
    try:
        b = np.full(n, float(beta))
    except (TypeError, ValueError, AttributeError) as error:
        if set(beta) != set(graph.nodes):
            raise nx.NetworkXError("beta dictionary must have a value for every node") from error
        b = np.array([beta[node] for node in graph.nodes], dtype=float)
    W = graph.shared_matrix
    if graph.is_directed():
        W = W.T.tocsr()
    x = np.zeros(n) if nstart is None else np.array([nstart[node] for node in graph.nodes], dtype=float)
    with np.errstate(
        over="ignore", invalid="ignore"
    ):  # with alpha above 1 / the largest eigenvalue, x grows without end
        for _ in range(max_iter):
            last, x = x, alpha * (W @ x) + b
            if np.abs(x - last).sum() < n * tol:
                length = math.hypot(*x.tolist()) if normalized else 1.0  # hypot neither overflows nor underflows
                centrality = by_node(G, graph, x / (length or 1.0))
                return centrality if nstart is None else {node: centrality[node] for node in nstart}
    raise nx.PowerIterationFailedConvergence(max_iter)


def local_and_global_consistency(
    G: LiveGraph, alpha: float = 0.99, max_iter: int = 30, label_name: str = "label"
) -> list[Any]:
    """``nx.node_classification.local_and_global_consistency``: sums in the same order, so ties break the same way."""
    W, degrees, rows, classes, labels = _labelled(G, label_name)
    root = np.sqrt(1.0 / degrees) if HAS_OLD_ROUNDING else 1.0 / np.sqrt(degrees)
    W.data = alpha * (_along_rows(W, root) * W.data * root[W.indices])
    return _spread(W, 1 - alpha, rows, classes, labels, max_iter)


def harmonic_function(G: LiveGraph, max_iter: int = 30, label_name: str = "label") -> list[Any]:
    """``nx.node_classification.harmonic_function``: sums in the same order, so ties break the same way."""
    W, degrees, rows, classes, labels = _labelled(G, label_name)
    share = 1.0 / degrees
    share[rows] = 0.0  # a labelled node keeps its label, whatever its neighbours have
    W.data = _along_rows(W, share) * W.data
    return _spread(W, 1.0, rows, classes, labels, max_iter)


def _labelled(
    G: LiveGraph, label_name: str
) -> tuple[sparse.csr_array, NDArray[np.float64], list[int], list[int], NDArray[Any]]:
    """Adjacency and degrees; rows and classes of the nodes that have a label now; the label of each class."""
    if len(G) == 0:
        raise nx.NetworkXError("Graph has no nodes or edges")
    if not isinstance(G, LiveGraph):
        raise nx.NetworkXError(f"a {type(G).__name__} has no node attributes, so no node is labeled by '{label_name}'")
    found = [(u, data[label_name]) for u, data in enumerate(G.attributes.values()) if label_name in data]
    if not found:
        raise nx.NetworkXError(f"No node on the input graph is labeled by '{label_name}'.")
    number: dict[Hashable, int] = {}
    classes = [number.setdefault(label, len(number)) for _, label in found]
    # An array, as in NetworkX: it gives labels of several types a common type.
    labels = np.array(list(number))
    W = converted(G, "weight").shared_matrix.sorted_indices()
    degrees: NDArray[Any] = W.sum(axis=0)
    degrees[degrees == 0.0] = 1.0
    return W, degrees, [u for u, _ in found], classes, labels


def _along_rows(W: sparse.csr_array, values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.repeat(values, np.diff(W.indptr))


def _spread(
    P: sparse.csr_array, mass: float, rows: list[int], classes: list[int], labels: NDArray[Any], steps: int
) -> list[Any]:
    """Repeat F = P F + B, where B has `mass` at the class of each of `rows`; the label of each row's largest entry."""
    B = np.zeros((P.shape[0], len(labels)))
    B[rows, classes] = mass
    F = np.zeros_like(B)
    for _ in range(steps):
        F = P @ F + B
    predicted: list[Any] = labels[F.argmax(axis=1)].tolist()
    return predicted


def is_empty(G: Any) -> bool:
    return (G.shape[0] if hasattr(G, "shape") else len(G)) == 0


def converted(G: _Graph, weight: str | None) -> CSRGraph:
    try:
        return csr_graph_of(G, weight, recount=True) if isinstance(G, LiveGraph) else as_csr_graph(G, weight)
    except ValueError as error:
        raise NotImplementedError(str(error)) from error


def _scaled(graph: CSRGraph, masses: Mapping[Hashable, float]) -> SparseVector | None:
    """The values that a dict gives to nodes of the graph, scaled to a sum of 1; None if all are 0."""
    known = [(graph.index(node), float(mass)) for node, mass in masses.items() if mass and node in graph]
    if not known:
        return None
    values = np.array([mass for _, mass in known])
    return np.array([u for u, _ in known]), values / math.fsum(values)


def _check_nodelist(graph: CSRGraph, nodelist: Sequence[Hashable]) -> None:
    unknown = {node for node in nodelist if node not in graph}
    if unknown:
        raise nx.NetworkXError(f"Nodes {unknown} in nodelist is not in G")
    if len(set(nodelist)) < len(nodelist):
        raise nx.NetworkXError("nodelist contains duplicates.")


def by_node(G: _Graph, graph: CSRGraph, values: NDArray[np.float64]) -> dict[Any, float]:
    # The caller's node objects: to make numbers anew takes half the time of making the dict.
    nodes = G.adjacency if isinstance(G, LiveGraph) else graph.nodes
    return dict(zip(nodes, values.tolist(), strict=True))
