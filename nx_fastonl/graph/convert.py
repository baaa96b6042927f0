"""Whatever graph a caller passes -> CSRGraph, or the rows of a graph that changes."""

from __future__ import annotations

import os
from typing import Any

import networkx as nx
import numpy as np

from nx_fastonl._lib.frames import is_frame
from nx_fastonl._lib.log import logger
from nx_fastonl.graph.base import ChangingGraph, RowGraph
from nx_fastonl.graph.csr import CSRGraph, csr_graph_of
from nx_fastonl.graph.live import BACKEND_NAME, LiveGraph


def as_csr_graph(G: Any, weight: str | None = "weight") -> CSRGraph:
    """The CSRGraph of whatever graph a user passes. A CSRGraph has one weight: any name means it, None ignores it."""
    if isinstance(G, CSRGraph):
        return G.unweighted if weight is None else G
    if isinstance(G, ChangingGraph):
        return as_csr_graph(G.freeze(), weight)
    if isinstance(G, LiveGraph):
        graph = csr_graph_of(G, weight)
        G.warn_of_unused(weight)
        return graph
    if isinstance(G, nx.Graph):
        return CSRGraph.from_networkx(G, weight)
    from scipy import sparse

    if sparse.issparse(G):
        return CSRGraph.from_scipy(G, weight=weight)
    if getattr(G, "__networkx_backend__", None) is not None:
        logger.info("a %s is made an nx.Graph first, by its own backend", type(G).__name__)
        return CSRGraph.from_networkx(_to_networkx(G, backend="networkx"), weight)
    hint = "; wrap it in scipy.sparse.csr_array" if isinstance(G, np.ndarray) else ""
    if isinstance(G, str | os.PathLike):
        hint = "; CSRGraph.from_edge_file reads a file of edges, CSRGraph.open a folder that a graph was saved to"
    if isinstance(G, list | tuple):
        hint = "; nx.Graph(edges) makes a graph of pairs, and DynamicGraph.add_edges_from takes them"
    if is_frame(G):
        hint = "; CSRGraph.from_edges and DynamicGraph make a graph of a table of edges"
    raise TypeError(
        f"expected an nx.Graph, a scipy sparse array, a CSRGraph or a DynamicGraph, got {type(G).__name__}{hint}"
    )


def as_row_graph(G: Any, weight: str | None = "weight", *, in_order: bool = False) -> RowGraph:
    """The same, but of a DynamicGraph its rows, which are not copied: for computations that are local.

    With `in_order`, arrays come or go in the order of the nodes, which rows that are used again do not keep.
    """
    if isinstance(G, ChangingGraph) and not in_order and (weight is not None or G.rows.weights is None):
        return G.rows
    return as_csr_graph(G, weight)


def _itself(G: nx.Graph[Any]) -> nx.Graph[Any]:
    return G


# Called with backend="networkx", it returns another backend's graph as an nx.Graph.
_to_networkx: Any = nx._dispatchable(_itself, name=f"{BACKEND_NAME}_to_networkx", preserve_all_attrs=True)
