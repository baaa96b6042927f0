"""Other packages' methods for labels that are known at once. Each is used only where its package is installed."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nx_fastonl.graph.csr import CSRGraph

# From the graph as the package takes it, known rows and their labels 0, 1, ..., k - 1 to the labels of all rows.
Predict = Callable[[Any, NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]


@dataclass(frozen=True)
class Peer:
    """A method of another package.

    Attributes
    ----------
    module : str
        What is imported.
    requirement : str
        What is installed.
    predict : callable
    convert : callable
        From a `CSRGraph` to what the package takes.
    max_nodes : int
        On larger graphs it takes minutes.
    """

    module: str
    requirement: str
    predict: Predict
    convert: Callable[[CSRGraph], Any]
    max_nodes: int


@lru_cache(maxsize=1)
def _matrix(graph: CSRGraph) -> Any:
    from scipy import sparse

    return sparse.csr_matrix(graph.to_scipy())  # graphlearning takes * for the product, as matrices do


@lru_cache(maxsize=1)
def _networkx(graph: CSRGraph) -> Any:
    import networkx as nx

    G = graph.to_networkx()
    return nx.relabel_nodes(G, {node: u for u, node in enumerate(graph.nodes)})


def _graphlearning(make: str, options: dict[str, Any], W: Any, rows: Any, labels: Any) -> NDArray[np.int64]:
    """The labels that graphlearning gives each component by itself; without a known one, the most frequent.

    On the whole graph, Poisson learning has no solution where labels do not balance within a component, and one node
    without edges makes all of its values NaN.
    """
    import graphlearning as gl
    from scipy.sparse import csgraph

    _, component = csgraph.connected_components(W, directed=False)
    predicted = np.full(W.shape[0], np.bincount(labels).argmax())
    for c in np.unique(component[rows]):
        members, known = np.flatnonzero(component == c), component[rows] == c
        names, numbers = np.unique(labels[known], return_inverse=True)
        if len(names) == 1:
            predicted[members] = names[0]
            continue
        model = getattr(gl.ssl, make)(W[members][:, members], **options)
        model.fit(np.searchsorted(members, rows[known]), numbers)
        predicted[members] = names[np.asarray(model.predict(), dtype=np.int64)]
    return predicted


def _sknetwork(make: str, W: Any, rows: Any, labels: Any) -> NDArray[np.int64]:
    from sknetwork import classification

    known = np.full(W.shape[0], -1)
    known[rows] = labels
    return np.asarray(getattr(classification, make)().fit_predict(W, labels=known), dtype=np.int64)


def _node_classification(function: str, G: Any, rows: Any, labels: Any) -> NDArray[np.int64]:
    from networkx.algorithms import node_classification

    for u, label in zip(rows.tolist(), labels.tolist(), strict=True):
        G.nodes[u]["label"] = label
    try:
        predicted = getattr(node_classification, function)(G, backend="networkx")
    finally:
        for u in rows.tolist():
            del G.nodes[u]["label"]
    of_node = dict(zip(G, predicted, strict=True))
    return np.array([of_node[u] for u in range(len(G))], dtype=np.int64)


def _of_graphlearning(make: str, **options: Any) -> Peer:
    predict = partial(_graphlearning, make, options)
    return Peer("graphlearning", "graphlearning==1.7.5", predict, _matrix, max_nodes=200_000)


def _of_sknetwork(make: str) -> Peer:
    return Peer("sknetwork", "scikit-network", partial(_sknetwork, make), _matrix, max_nodes=1_000_000)


def _of_networkx(function: str) -> Peer:
    return Peer("networkx", "networkx", partial(_node_classification, function), _networkx, max_nodes=3_000)


PEERS = {
    "graphlearning Laplace": _of_graphlearning("laplace"),
    "graphlearning Laplace, mean shift": _of_graphlearning("laplace", mean_shift=True),
    "graphlearning WNLL": _of_graphlearning("laplace", reweighting="wnll"),
    "graphlearning WNLL, mean shift": _of_graphlearning("laplace", reweighting="wnll", mean_shift=True),
    # Poisson learning has no mean shift: its values have mean 0. The reweighted Laplacian of its authors has one.
    "graphlearning Poisson": _of_graphlearning("poisson"),
    "graphlearning Poisson weights": _of_graphlearning("laplace", reweighting="poisson"),
    "graphlearning Poisson weights, mean shift": _of_graphlearning("laplace", reweighting="poisson", mean_shift=True),
    "scikit-network PageRank": _of_sknetwork("PageRankClassifier"),
    "scikit-network diffusion": _of_sknetwork("DiffusionClassifier"),
    "scikit-network propagation": _of_sknetwork("Propagation"),
    "NetworkX harmonic": _of_networkx("harmonic_function"),
    "NetworkX consistency": _of_networkx("local_and_global_consistency"),
}


def installed_peers() -> dict[str, Peer]:
    return {name: peer for name, peer in PEERS.items() if _is_installed(peer.module)}


def missing_peers() -> list[str]:
    """A line for each package that is not installed."""
    missing: dict[str, int] = {}
    for peer in PEERS.values():
        if not _is_installed(peer.module):
            missing[peer.requirement] = missing.get(peer.requirement, 0) + 1
    return [f"Without {count} methods of {name}: pip install {name}" for name, count in missing.items()]


@contextlib.contextmanager
def quiet() -> Any:
    """What peers print and warn of is not shown."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def _is_installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None
