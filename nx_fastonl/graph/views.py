"""What notebooks show of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.html import bars, facts, few_names, heading, number, view

__all__ = ["graph_view"]

# Above this the neighbours of all nodes are not counted just to look at a graph: that takes some 10 milliseconds here.
MAX_COUNTED_NODES = 2_000_000


def graph_view(
    graph: Any, nodes: Any, counts: NDArray[np.integer] | None, weighted: bool, more: dict[str, object]
) -> str:
    """The view of a graph: its size, the first of its `nodes`, and how many neighbours nodes have.

    `counts` are those of all nodes, in any order; None leaves the histogram out. `more` are further facts.
    """
    n, m = graph.number_of_nodes(), graph.number_of_edges()
    kind = "directed" if graph.is_directed() else "undirected"
    shown = {
        "weights": "one per edge" if weighted else "every weight is 1",
        "names of nodes": few_names(nodes, n) if n else None,
        **more,
    }
    return view(type(graph).__name__, f"{kind}, {n:,} nodes, {m:,} edges", facts(shown), _histogram(counts))


def _histogram(counts: NDArray[np.integer] | None) -> str:
    """Nodes by their number of neighbours: 0, 1, 2 to 3, 4 to 7, ..."""
    if counts is None or len(counts) == 0:
        return ""
    sizes = np.bincount(np.frexp(counts.astype(np.float32))[1])
    first = int(np.flatnonzero(sizes)[0])
    least = 0 if first == 0 else 2 ** (first - 1)
    ends = (f"{least:,}", "neighbours, on a logarithmic scale", number(counts.max()))
    described = f"nodes by their number of neighbours, from {int(counts.min()):,} to {int(counts.max()):,}"
    return heading("Nodes by their number of neighbours") + bars(sizes[first:].tolist(), ends, described)
