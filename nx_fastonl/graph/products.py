"""Products with the adjacency matrix W of a graph, without scipy, which takes longer to import than most products."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nx_fastonl.graph.csr import CSRGraph


def transpose_times(graph: CSRGraph, vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """``W.T @ vector``: what each node gets where every node sends its value along its edges."""
    along_edges = np.repeat(vector, np.diff(graph.indptr))
    if graph.weights is not None:
        along_edges *= graph.weights
    return np.asarray(np.bincount(graph.indices, along_edges, minlength=len(graph)), dtype=np.float64)
