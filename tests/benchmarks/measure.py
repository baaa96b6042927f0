"""Timing that a busy machine disturbs little, and the graphs to time on."""

from __future__ import annotations

import time
from pathlib import Path

import networkx as nx
import numpy as np

from nx_fastonl.graph import CSRGraph

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
GRAPHS = ("com-dblp", "ogbn-arxiv", "cnr-2000")


def load(name: str) -> CSRGraph:
    with np.load(DATA / f"{name}.npz") as arrays:
        return CSRGraph(arrays["indptr"], arrays["indices"], arrays.get("weights"))


def load_labels(name: str) -> np.ndarray:
    """Numbers, -1 for nodes without a label."""
    with np.load(DATA / f"{name}.npz") as arrays:
        return arrays["labels"]


def to_networkx(graph: CSRGraph) -> nx.Graph:
    rows = np.repeat(np.arange(len(graph)), np.diff(graph.indptr))
    once = rows <= graph.indices
    G = nx.Graph()
    G.add_nodes_from(range(len(graph)))
    G.add_edges_from(zip(rows[once].tolist(), graph.indices[once].tolist(), strict=True))
    return G


def best_times(functions: dict[str, object], repeat: int, clock=time.thread_time) -> dict[str, float]:
    """The least seconds of CPU of each function, the runs of all of them interleaved so that they share the noise.

    The clock is that of this thread: idle BLAS threads of one peer, still spinning, must not count against the next.
    """
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(repeat):
        for name, function in functions.items():
            start = clock()
            function()
            best[name] = min(best[name], clock() - start)
    return best
