"""Pickled graphs and labelers with some bits flipped: loading and using them raises or works."""

import functools
import pickle

import networkx as nx
import numpy as np

import nx_fastonl as fo
from tests.fuzz.verdicts import Wrong, check

METHODS = ("fastonl", "fastonl-fifo", "relaxation", "approximate", "weighted-majority", "weighted-tree")


@functools.cache
def _pickles():
    """Graphs and labelers, small and of every kind."""
    G = nx.path_graph(6)
    G.add_edge(1, 4, weight=2.5)
    found = [
        fo.CSRGraph.from_networkx(G),
        fo.CSRGraph.from_edges([0, 1, 2], [1, 2, 0], nodes=["a", "b", "c"], directed=True),
    ]
    found += [fo.OnlineNodeLabeler(G, method=method, seed=1).fit({0: "x", 5: "y"}) for method in METHODS]
    found.append(fo.OnlineNodeLabeler(G, ["x", "y"], dtype="float32"))
    return [pickle.dumps(each, protocol=protocol) for each in found for protocol in (2, 5)]


def pickles(draw):
    """One pickle, damaged, loaded and used."""
    which = draw.below(len(_pickles()))
    content = bytearray(_pickles()[which])
    flips = [(draw.below(len(content)), draw.below(8)) for _ in range(draw.choice([1, 1, 1, 2, 3, 8]))]
    for at, bit in flips:
        content[at] ^= 1 << bit
    if draw.chance(0.05):
        del content[draw.below(len(content)) :]
    draw.note(which=which, flips=flips)
    try:
        loaded = pickle.loads(bytes(content))
    except Exception:  # noqa: BLE001  a damaged pickle may raise anything
        return False
    try:
        _use(loaded)
    except Wrong:
        raise
    except Exception:  # noqa: BLE001
        return True
    return True


def _use(loaded):
    if isinstance(loaded, fo.OnlineNodeLabeler):
        graph = loaded._graph
        if isinstance(graph, fo.CSRGraph):
            _check_graph(graph)
        loaded.predict_many()
        loaded.learn_many({list(graph)[2]: "x"})
        loaded.run([(list(graph)[3], "y"), (list(graph)[4], "z")])
        loaded.predict_proba_many()
    elif isinstance(loaded, fo.CSRGraph):
        _check_graph(loaded)
        fo.fifo_push(loaded, next(iter(loaded)), 0.5, 0.01, max_operations=1000)
        fo.personalized_pagerank_local(loaded, 0.5, max_iter=1000)


def _check_graph(graph):
    """What compiled loops trust. They may not happen to stumble over it here."""
    n, indptr, indices = len(graph), graph.indptr, graph.indices
    for name in ("indptr", "indices", "degrees"):
        check(not getattr(graph, name).flags.writeable, "{} can be written", name)
    check(len(indptr) == n + 1 and indptr[0] == 0 and indptr[-1] == len(indices), "indptr {} of {} nodes", indptr, n)
    check((np.diff(indptr) >= 0).all(), "indptr {}", indptr)
    check(((indices >= 0) & (indices < n)).all(), "indices {} of {} nodes", indices, n)
    check(len(graph.degrees) == n, "{} degrees of {} nodes", len(graph.degrees), n)
    check(graph.weights is None or len(graph.weights) == len(indices), "weights {}", graph.weights)
