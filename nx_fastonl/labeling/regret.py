"""What is guaranteed about the mistakes: the regret bound, and the cut that says which labellings it covers."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, Literal, Unpack

import numpy as np

from nx_fastonl._lib.checks import Unknown, check_positive, check_whole
from nx_fastonl.graph.convert import as_csr_graph
from nx_fastonl.kernels.graph_kernel import GraphKernel
from nx_fastonl.kernels.table import KernelParameters
from nx_fastonl.labeling.labels import Labels, checked_label, known_labels, read_attribute
from nx_fastonl.nxapi.dispatch import dispatchable

__all__ = ["labeling_cut", "regret_bound"]

# Up to this many nodes, the trace is exact by default.
MAX_NODES_FOR_EXACT = 2_000


@dispatchable
def regret_bound(
    G: Any,
    k: int,
    kernel: str = "normalized-laplacian",
    smoothness: float | None = None,
    method: Literal["relaxation", "fastonl-fifo"] = "relaxation",
    *,
    epsilon: float | None = None,
    exact: bool | None = None,
    weight: str | None = "weight",
    **parameters: Unpack[KernelParameters],
) -> float:
    """How many more mistakes than the best smooth labelling the learner can be expected to make.

    Whatever the labels are and whatever the order of arrival, the expected number of mistakes with
    ``predict="sample"`` is at most ``loss(f) + regret_bound``. Here f is any labelling whose `labeling_cut` is at most
    lam, and ``loss(f)`` is at most twice the number of nodes that f labels wrongly. In particular, if lam is at least
    the cut of the true labelling, the expected number of mistakes is at most the bound.

    Parameters
    ----------
    G : nx.Graph, scipy sparse array or CSRGraph
        Undirected: of a directed one, pass `CSRGraph.without_arrows`.
    k : int
        The number of labels, at least 2, all known from the start.
    kernel, smoothness
        As for `kernel_column`.
    method : {"relaxation", "fastonl-fifo"}, default "relaxation"
        The exact learner, ``sqrt(k * trace(M))``, or the one on pushed columns, with ``symmetrized=True``:
        ``sqrt(k * trace(M)) + sqrt(2 * E)``, where E bounds the sum of all errors of the pushed columns.
    epsilon : float, optional
        For ``"fastonl-fifo"``, by default 0.1 / n.
    exact : bool, optional
        Whether to compute the trace exactly, which takes O(n^3) and is possible for up to 20,000 nodes; by default up
        to 2,000. Otherwise it is estimated from a sample, and the bound is an estimate too.
    weight : str or None, default "weight"
        The edge attribute that holds the weight, 1 where it is missing. None ignores weights.
    **parameters
        `lam`, `beta`, `b` and `S`, as for `kernel_column`.

    Returns
    -------
    float
        A bound above the number of nodes, common for large lam, guarantees nothing.

    Raises
    ------
    networkx.NodeNotFound
        If a node of `S` is not in the graph.
    networkx.NetworkXNotImplemented
        If `G` is directed.
    networkx.NetworkXPointlessConcept
        If `G` has no nodes.
    TypeError, ValueError
        If a parameter is unknown, of the wrong type or out of range, or the graph is too large for `exact`.

    See Also
    --------
    labeling_cut

    Notes
    -----
    With lam = n^gamma the trace of M is O(n^(1 + gamma)) for kernels whose inverse is bounded away from 0, and the
    bound is the paper's O(sqrt(n^(1 + gamma))). The derivation is in the documentation's theory of
    the learner.

    References
    ----------
    B. Zhou, Y. Sun, R. Babanezhad, "Fast Online Node Labeling for Very Large Graphs", ICML 2023.
    A. Rakhlin, K. Sridharan, "Efficient Online Multiclass Prediction on Graphs via Surrogate Losses", AISTATS 2017.

    Examples
    --------
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> G = nx.barbell_graph(100, 0)  # two cliques and an edge between them
    >>> truth = {node: node // 100 for node in G}
    >>> cut = fo.labeling_cut(G, truth)
    >>> round(cut, 2), round(fo.regret_bound(G, 2, lam=cut), 1)
    (0.02, 32.9)
    """
    graph = as_csr_graph(G, weight)
    n = len(graph)
    check_whole("k", k, least=2)
    if method not in ("relaxation", "fastonl-fifo"):
        raise ValueError(f'method must be "relaxation" or "fastonl-fifo", got {method!r}')
    epsilon = check_positive("epsilon", 0.1 / n if epsilon is None else epsilon)
    graph_kernel = GraphKernel(graph, kernel, smoothness, **parameters)
    if exact is None:
        exact = n <= MAX_NODES_FOR_EXACT
    regret = math.sqrt(k) * math.sqrt(graph_kernel.exact_trace() if exact else graph_kernel.estimated_trace())
    if method == "relaxation":
        return regret
    rows = np.arange(n)
    # Every residual stays below this epsilon per neighbour, so every estimate is off by at most max(r / c).
    off = graph_kernel.push_epsilon(epsilon) * float((np.diff(graph.indptr) / graph_kernel.c(rows)).max())
    errors = graph_kernel.a * float(graph_kernel.s(rows).sum()) ** 2 * off
    return regret + math.sqrt(2.0 * errors)


@dispatchable
def labeling_cut(
    G: Any,
    labels: Labels,
    kernel: str = "normalized-laplacian",
    smoothness: float | None = None,
    *,
    unknown: Unknown = "error",
    weight: str | None = "weight",
    **parameters: Unpack[KernelParameters],
) -> float:
    """How much a labelling cuts the graph, as the kernel measures it: `regret_bound` covers it if lam is at least this.

    It is the sum over labels of ``f inv(K) f``, where f is 1 at the nodes that have the label and 0 elsewhere.
    For ``"laplacian"`` that is twice the weight of the edges between nodes of different labels. With the other kernels
    even a labelling with one label may have a cut above 0. Where K depends on lam through the default of `beta`, pass a
    `beta` here and to `regret_bound`.

    Parameters
    ----------
    G : nx.Graph, scipy sparse array or CSRGraph
        Undirected: of a directed one, pass `CSRGraph.without_arrows`.
    labels : dict, iterable of pairs, table, array, or str
        As for `online_node_labeling`. At a node without a label, every f is 0.
    kernel, smoothness
        As for `kernel_column`.
    unknown : {"error", "skip"}, default "error"
        What to do with labels of nodes that are not in the graph.
    weight : str or None, default "weight"
        The edge attribute that holds the weight, 1 where it is missing. None ignores weights.
    **parameters
        `lam`, `beta`, `b` and `S`, as for `kernel_column`.

    Returns
    -------
    float

    Raises
    ------
    networkx.NodeNotFound
        If labelled nodes are not in the graph and `unknown` is ``"error"``, or a node of `S` is not.
    networkx.NetworkXNotImplemented
        If `G` is directed.
    networkx.NetworkXPointlessConcept
        If `G` has no nodes.
    TypeError, ValueError
        If a parameter is unknown, of the wrong type or out of range. If `unknown` is ``"skip"``, and nodes came, but
        none that is in the graph.

    See Also
    --------
    regret_bound

    Examples
    --------
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> fo.labeling_cut(nx.path_graph(4), {0: "a", 1: "a", 2: "b", 3: "b"}, kernel="laplacian")
    2.0
    """
    graph = as_csr_graph(G, weight)
    graph_kernel = GraphKernel(graph, kernel, smoothness, **parameters)
    codes: dict[Hashable, int] = {}
    y = np.full(len(graph), -1)
    for node, label in known_labels(read_attribute(G, labels), graph, unknown):
        y[graph.index(node)] = codes.setdefault(checked_label(node, label), len(codes))
    rows = np.arange(len(graph))
    s, labelled = graph_kernel.s(rows), y >= 0
    # M = a diag(s) inv(H) diag(s) up to a constant, so inv(M) = diag(1/s) H diag(1/s) / a, and H = diag(c) + L.
    heads, tails = np.repeat(rows, np.diff(graph.indptr)), graph.indices
    weights = 1.0 if graph.weights is None else graph.weights
    at_heads, at_tails = labelled[heads] / s[heads], labelled[tails] / s[tails]
    same = y[heads] == y[tails]
    jumps = np.where(same, (at_heads - at_tails) ** 2, at_heads**2 + at_tails**2)
    along_edges = float((weights * jumps).sum()) / 2.0
    at_nodes = float((graph_kernel.c(rows) / s**2)[labelled].sum())
    n_labelled = int(labelled.sum())
    cut = 2.0 * graph_kernel.lam / graph_kernel.a * (along_edges + at_nodes)
    cut -= graph_kernel.lam / len(graph) * n_labelled
    return max(cut, 0.0) + graph_kernel.b * float((np.bincount(y[labelled]) ** 2).sum())
