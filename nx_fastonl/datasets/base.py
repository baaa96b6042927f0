"""`Dataset`: a graph whose nodes have labels."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import networkx as nx

from nx_fastonl.graph.csr import CSRGraph

__all__ = ["Dataset"]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A graph whose nodes have labels.

    Attributes
    ----------
    name : str
        Its name in `DATASETS`, or "planted-partition".
    graph : CSRGraph or nx.Graph
        Undirected, unless arrows were asked for. In an nx.Graph, the node attribute "label" holds the labels.
    labels : dict, or another mapping
        ``{node: label}`` for the nodes that have a label.
    description : str
        What the nodes, the edges and the labels are, and where they come from.

    Examples
    --------
    >>> from nx_fastonl.datasets import load_karate
    >>> karate = load_karate()
    >>> karate
    Dataset karate: 34 nodes, 78 edges, 2 labels
    >>> karate.graph
    CSRGraph with 34 nodes and 78 edges
    >>> karate.labels[33]
    'Officer'
    """

    name: str
    graph: CSRGraph | nx.Graph[Any]
    labels: Mapping[Hashable, Hashable]
    description: str

    def __repr__(self) -> str:
        n, m = self.graph.number_of_nodes(), self.graph.number_of_edges()
        return f"Dataset {self.name}: {n:,} nodes, {m:,} edges, {len(set(self.labels.values()))} labels"
