"""Random graphs whose arcs follow a table of labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from math import isqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nx_fastonl._lib.checks import check_positive, check_whole, shortened
from nx_fastonl._lib.seeds import as_seed
from nx_fastonl.datasets._planted import draw_pairs
from nx_fastonl.datasets.base import Dataset
from nx_fastonl.datasets.loaders import dataset_of
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.graph.rows import MAX_NODES

# Room for pairs: their expected number, and this many standard deviations. If it is too small, they are drawn again.
DEVIATIONS = 8


def make_planted_partition(
    sizes: Sequence[int],
    compatibility: ArrayLike,
    *,
    mean_degree: float = 10.0,
    directed: bool = True,
    seed: int | np.random.Generator | None = None,
    as_networkx: bool = False,
) -> Dataset:
    """A random graph in which labels decide how often nodes are joined.

    Every pair of nodes is drawn by itself, without loops and parallel arcs. Time and memory are proportional to the
    number of arcs.

    Parameters
    ----------
    sizes : sequence of int
        How many nodes each label has. The first ``sizes[0]`` nodes have label 0, the next ``sizes[1]`` label 1, ...
    compatibility : array_like of float
        ``compatibility[i, j]`` is how many times as often as chance a node with label i points to one with label j.
        All of it is multiplied by one number, such that `mean_degree` holds. So only the ratios of its entries count.
    mean_degree : float, default 10.0
        The expected number of arcs from a node, over all nodes; in an undirected graph that of neighbours.
    directed : bool, default True
        Whether the graph is directed. If not, the table must be symmetric.
    seed : int or numpy.random.Generator, optional
        The same seed gives the same graph.
    as_networkx : bool, default False
        Whether the graph is an ``nx.DiGraph`` or ``nx.Graph`` rather than a `nx_fastonl.CSRGraph`.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If there are no sizes, or one is less than 1; if the table is not square, holds negative numbers, or joins no
        two nodes; if it is not symmetric though ``directed=False``; if `mean_degree` is not positive, or asks for more
        arcs than there are pairs; or if `seed` is negative.
    TypeError
        If a size, `mean_degree` or `seed` is not a number.

    Notes
    -----
    By chance, all pairs of nodes would be joined equally often. `nx_fastonl.OnlineNodeLabeler.compatibility` knows
    labels only at the ends of arcs: its chance is that ends meet at random. So it shows this table, scaled, where nodes
    of all labels have equally many arcs, out and in.

    Examples
    --------
    Labels that point to the next one, and from the last to the first:

    >>> from nx_fastonl.datasets import make_planted_partition
    >>> cycle = make_planted_partition([400, 400, 400], [[1, 4, 1], [1, 1, 4], [4, 1, 1]], seed=1)
    >>> cycle.graph
    directed CSRGraph with 1200 nodes and 11956 edges
    >>> cycle.labels[0], cycle.labels[400]
    (0, 1)
    """
    counts = _checked_sizes(sizes)
    table = _checked_table(compatibility, len(counts), directed)
    probabilities = _probabilities(counts, table, check_positive("mean_degree", mean_degree), directed)
    starts = np.concatenate([[0], np.cumsum(counts)])
    sources, targets = _pairs(starts, probabilities, directed, _draw_seed(seed))
    graph = CSRGraph.from_edges(sources, targets, n=int(starts[-1]), directed=directed)
    labels: dict[Hashable, Hashable] = dict(enumerate(np.repeat(np.arange(len(counts)), counts).tolist()))
    return dataset_of("planted-partition", make_planted_partition, graph, labels, as_networkx)


def _draw_seed(seed: int | np.random.Generator | None) -> int:
    rng = seed if isinstance(seed, np.random.Generator) else np.random.default_rng(as_seed(seed))
    return int(rng.integers(2**63))


def _checked_sizes(sizes: Sequence[int]) -> NDArray[np.int64]:
    if isinstance(sizes, str) or not isinstance(sizes, Iterable):
        raise TypeError(f"sizes must be a sequence of whole numbers, got {shortened(sizes)}")
    checked = list(sizes)
    if not checked:
        raise ValueError("sizes is empty; it has the number of nodes of each label")
    for i, size in enumerate(checked):
        check_whole(f"sizes[{i}]", size, least=1, most=MAX_NODES)
    if sum(checked) > MAX_NODES:
        raise ValueError(f"a graph may have at most 2**31 - 1 nodes, got {sum(checked)}")
    return np.array(checked, dtype=np.int64)


def _checked_table(compatibility: ArrayLike, k: int, directed: bool) -> NDArray[np.float64]:
    try:
        table = np.array(compatibility, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(f"compatibility must be a table of numbers, got {shortened(compatibility)}") from None
    if table.shape != (k, k):
        raise ValueError(f"compatibility must have a row and a column for each of {k} labels, got shape {table.shape}")
    for i, j in np.argwhere(~((table >= 0.0) & np.isfinite(table))).tolist():
        raise ValueError(f"compatibility[{i}, {j}] must be 0 or a positive number, got {table[i, j]}")
    for i, j in () if directed else np.argwhere(table != table.T).tolist():
        raise ValueError(
            f"compatibility[{i}, {j}] is {table[i, j]} and compatibility[{j}, {i}] is {table[j, i]}; "
            "they must be equal, or pass directed=True"
        )
    return table


def _probabilities(
    sizes: NDArray[np.int64], table: NDArray[np.float64], mean_degree: float, directed: bool
) -> NDArray[np.float64]:
    """The probability of an arc for each pair of labels."""
    pairs = np.outer(sizes, sizes) - np.diag(sizes)  # of a node and another one
    possible = np.where(pairs > 0, table, 0.0)
    if not possible.any():
        raise ValueError("compatibility joins no two nodes: it is 0 wherever there are two")
    possible = possible / possible.max()
    largest = float((possible * pairs).sum()) / int(sizes.sum())  # the mean degree if the likeliest pairs are certain
    if mean_degree > largest * (1.0 + 1e-12):  # exactly as many is right, whatever was rounded
        i, j = (int(at) for at in np.unravel_index(possible.argmax(), possible.shape))
        raise ValueError(
            f"mean_degree must be at most {largest:g} with these sizes and this table, got {shortened(mean_degree)}: "
            f"then every node with label {i} {'points' if directed else 'is joined'} to all with label {j}"
        )
    probabilities: NDArray[np.float64] = np.minimum(possible * (mean_degree / largest), 1.0)
    return probabilities


def _pairs(
    starts: NDArray[np.int64], probabilities: NDArray[np.float64], directed: bool, seed: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    sizes = np.diff(starts)
    expected = float(((np.outer(sizes, sizes) - np.diag(sizes)) * probabilities).sum()) / (1 if directed else 2)
    room = int(expected) + DEVIATIONS * (isqrt(int(expected)) + 1)
    while True:
        sources, targets = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
        count = draw_pairs(starts, probabilities, directed, seed, sources, targets)
        if count <= room:
            return sources[:count], targets[:count]
        room = count
