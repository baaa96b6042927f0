"""Random graphs whose edges follow labels, with degrees that follow a power law."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import isqrt, log

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nx_fastonl._lib.checks import check_between, check_positive, check_whole, shortened
from nx_fastonl._lib.seeds import as_seed
from nx_fastonl.datasets._planted import draw_pairs, expected_pairs
from nx_fastonl.datasets.base import Dataset
from nx_fastonl.datasets.labels import ArrayLabels
from nx_fastonl.datasets.loaders import dataset_of
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.graph.rows import MAX_NODES

CLASSES, HOMOPHILY = 10, 0.8
# Time and memory grow with the square of the number of labels.
MAX_CLASSES = 2_000
# Room for pairs: their expected number, and this many standard deviations. If it is too small, they are drawn again.
DEVIATIONS = 8
# The largest weight of a block of nodes is at most this many times the smallest.
BLOCK_RATIO = 2**0.5


def planted_partition(
    n: int,
    classes: int | Sequence[float] | None = None,
    *,
    mean_degree: float = 20.0,
    homophily: float | None = None,
    compatibility: ArrayLike | None = None,
    exponent: float | None = 2.5,
    label_noise: float = 0.0,
    directed: bool = False,
    seed: int | np.random.Generator | None = None,
    as_networkx: bool = False,
) -> Dataset:
    """A random graph in which labels decide how often nodes are joined.

    Every pair of nodes is drawn by itself, without loops and parallel edges. Degrees follow a power law. Time and
    memory are proportional to the number of edges: some ten million edges take a second.

    Parameters
    ----------
    n : int
        The number of nodes. Those of label 0 come first, then those of label 1, ...
    classes : int or sequence of float, optional
        The number of labels, whose nodes are equally many, or the fraction of the nodes that each label has, up to a
        factor. By default 10, or as many as `compatibility` has rows; at most 2,000, which take some seconds.
    mean_degree : float, default 20.0
        The expected number of neighbours of a node, over all nodes; in a directed graph that of arcs from it.
    homophily : float, default 0.8
        The fraction of edges inside of a label, from 0 to 1. Not with `compatibility`.
    compatibility : array_like of float, optional
        A table: ``compatibility[i, j]`` is how many times as often as chance a node with label i points to one with
        label j. All of it is multiplied by one number, such that `mean_degree` holds. So only the ratios of its entries
        count. For an undirected graph, it must be symmetric.
    exponent : float or None, default 2.5
        Of the power law: the fraction of nodes with degree d falls with ``d ** -exponent``. More than 2. None draws all
        nodes of a label equally often.
    label_noise : float, default 0.0
        The probability, from 0 to 1, that a node's label is replaced by another one, at random. The graph does not
        depend on it: the same seed without noise gives the labels that the edges follow.
    directed : bool, default False
        Whether the graph is directed. A node that many point to then also points to many.
    seed : int or numpy.random.Generator, optional
        The same seed gives the same graph.
    as_networkx : bool, default False
        Whether the graph is an ``nx.DiGraph`` or ``nx.Graph`` rather than a `nx_fastonl.CSRGraph`.

    Returns
    -------
    Dataset
        Its `labels` are a mapping in the memory of an array, which is ``labels.array``.

    Raises
    ------
    ValueError
        If a number is out of its range; if `homophily` and `compatibility` are both given; if a label has no nodes; if
        the table is not square, holds negative numbers, joins no two nodes, or is not symmetric though the graph is
        undirected; or if `mean_degree` asks for more edges than the labels allow.
    TypeError
        If an argument is of another type.

    Notes
    -----
    The degree-corrected block model: nodes u and v, of labels i and j, are joined with probability
    ``factor[i, j] * weight[u] * weight[v]``, or 1 if that is more. So nodes with the largest weights get somewhat fewer
    neighbours than the power law says. The factors make up for it: `mean_degree` and `homophily` are those expected.

    By chance, ends of edges would meet in proportion to the weights of the nodes, which every label has the same mean
    of. `nx_fastonl.OnlineNodeLabeler.compatibility` knows labels only at the ends of arcs: its chance is that these
    meet at random. So it shows the table given here, scaled, where nodes of all labels have equally many arcs, out and
    in.

    References
    ----------
    .. [1] B. Karrer and M. E. J. Newman. Stochastic blockmodels and community structure in networks. Physical Review E
       83, 016107, 2011.

    Examples
    --------
    >>> from nx_fastonl.datasets import planted_partition
    >>> made = planted_partition(100_000, classes=4, seed=1)
    >>> made
    Dataset planted-partition: 100,000 nodes, 1,002,132 edges, 4 labels
    >>> made.graph.degrees.mean().item(), made.graph.degrees.max().item()
    (20.04264, 7790.0)

    Labels that point to the next one, and from the last to the first:

    >>> cycle = planted_partition(1200, compatibility=[[1, 4, 1], [1, 1, 4], [4, 1, 1]], directed=True, seed=1)
    >>> cycle.labels[0], cycle.labels[400]
    (0, 1)
    """
    check_whole("n", n, least=1, most=MAX_NODES)
    check_positive("mean_degree", mean_degree)
    table = None if compatibility is None else _checked_table(compatibility, directed)
    sizes = _sizes(int(n), _shares(classes, table))
    weights = {size: _power_law(size, exponent) for size in sorted(set(sizes))}
    if table is None:
        factors = _factors_of_homophily(sizes, weights, HOMOPHILY if homophily is None else homophily, mean_degree)
    elif homophily is None:
        factors = _factors_of_table(sizes, weights, table, mean_degree)
    else:
        raise ValueError("homophily and compatibility both say how labels are joined; pass one of them")
    _check_noise(label_noise, len(sizes))
    rng = seed if isinstance(seed, np.random.Generator) else np.random.default_rng(as_seed(seed))
    expected = int(mean_degree * n / (1 if directed else 2))
    sources, targets = _pairs(sizes, weights, factors, expected, directed, rng)
    graph = CSRGraph.from_edges(sources, targets, n=n, directed=directed)
    labels = ArrayLabels(_with_noise(np.repeat(np.arange(len(sizes), dtype=np.int32), sizes), label_noise, rng))
    return dataset_of("planted-partition", planted_partition, graph, labels, as_networkx)


def _checked_table(compatibility: ArrayLike, directed: bool) -> NDArray[np.float64]:
    try:
        table = np.array(compatibility, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(f"compatibility must be a table of numbers, got {shortened(compatibility)}") from None
    if table.ndim != 2 or table.shape[0] != table.shape[1] or table.size == 0:
        raise ValueError(f"compatibility must have a row and a column for each label, got shape {table.shape}")
    for i, j in np.argwhere(~((table >= 0.0) & np.isfinite(table))).tolist():
        raise ValueError(f"compatibility[{i}, {j}] must be 0 or a positive number, got {table[i, j]}")
    for i, j in () if directed else np.argwhere(table != table.T).tolist():
        raise ValueError(
            f"compatibility[{i}, {j}] is {table[i, j]} and compatibility[{j}, {i}] is {table[j, i]}; "
            "they must be equal, or pass directed=True"
        )
    return table


def _shares(classes: int | Sequence[float] | None, table: NDArray[np.float64] | None) -> list[float]:
    """How many nodes each label has, up to a factor."""
    if classes is None:
        return [1.0] * (CLASSES if table is None else len(table))
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        check_whole("classes", classes, least=1, most=MAX_CLASSES)
        shares = [1.0] * int(classes)
    else:
        shares = [check_positive(f"classes[{i}]", share) for i, share in enumerate(classes)]
    if not shares:
        raise ValueError("classes is empty; it has the fraction of the nodes of each label")
    if len(shares) > MAX_CLASSES:
        raise ValueError(f"classes must name at most {MAX_CLASSES} labels, got {len(shares)}")
    if table is not None and len(table) != len(shares):
        raise ValueError(
            f"compatibility must have a row and a column for each of {len(shares)} labels, got shape {table.shape}"
        )
    return shares


def _sizes(n: int, shares: list[float]) -> list[int]:
    """The number of nodes of each label; they add up to n."""
    cumulative = np.cumsum(shares)
    sizes: list[int] = np.diff(np.rint(cumulative / cumulative[-1] * n).astype(np.int64), prepend=0).tolist()
    if 0 in sizes:
        raise ValueError(f"label {sizes.index(0)} would have none of the {n} nodes; ask for more nodes or fewer labels")
    return sizes


def _power_law(size: int, exponent: float | None) -> NDArray[np.float64]:
    """Weights with a mean of 1, the largest first: quantiles of a power law."""
    if exponent is None:
        return np.ones(size)
    if check_positive("exponent", exponent) <= 2.0:
        raise ValueError(f"exponent must be more than 2, where the mean is finite, got {shortened(exponent)}")
    weights: NDArray[np.float64] = ((np.arange(size) + 0.5) / size) ** (-1.0 / (exponent - 1.0))
    weights /= weights.mean()
    return weights


def _check_noise(label_noise: float, k: int) -> None:
    check_between("label_noise", label_noise, 0.0, 1.0)
    if label_noise > 0 and k == 1:
        raise ValueError(f"label_noise must be 0 where there is only one label, got {shortened(label_noise)}")


def _with_noise(labels: NDArray[np.int32], label_noise: float, rng: np.random.Generator) -> NDArray[np.int32]:
    """The labels, some of them replaced by another one."""
    if label_noise > 0:
        k = int(labels[-1]) + 1
        noisy = np.flatnonzero(rng.random(len(labels)) < label_noise)
        labels[noisy] = (labels[noisy] + rng.integers(1, k, size=len(noisy), dtype=np.int32)) % k
    return labels


def _factors_of_homophily(
    sizes: list[int], weights: dict[int, NDArray[np.float64]], homophily: float, mean_degree: float
) -> NDArray[np.float64]:
    """The factors that put this fraction of edges inside of labels: equally many for the nodes of each label."""
    check_between("homophily", homophily, 0.0, 1.0)
    if homophily > 0 and max(sizes) == 1:
        raise ValueError(f"homophily must be 0 where no label has two nodes, got {shortened(homophily)}")
    if homophily < 1 and len(sizes) == 1:
        raise ValueError(f"homophily must be 1 where there is only one label, got {shortened(homophily)}")
    factors = np.zeros((len(sizes), len(sizes)))
    for table, fraction in ((np.diag(1.0 / np.array(sizes)), homophily), (1.0 - np.eye(len(sizes)), 1.0 - homophily)):
        if fraction > 0:
            factors += _factors_of_table(sizes, weights, table, mean_degree, fraction)
    return factors


def _factors_of_table(
    sizes: list[int],
    weights: dict[int, NDArray[np.float64]],
    table: NDArray[np.float64],
    mean_degree: float,
    fraction: float = 1.0,
) -> NDArray[np.float64]:
    """The table times a number, such that this fraction of the mean degree is expected."""
    n = sum(sizes)
    has_pairs = ~np.diag(np.array(sizes) == 1)  # of a node and another one
    table = np.where(has_pairs, table, 0.0)
    if not table.any():
        raise ValueError("compatibility joins no two nodes: it is 0 wherever there are two")
    table = table / table.max()
    # Labels of one size have the same weights, so that many cells of the table are alike.
    cells = Counter((sizes[i], sizes[j], float(table[i, j]), i == j) for i, j in np.argwhere(table > 0).tolist())

    def expected(scale: float) -> tuple[float, float]:
        """How many arcs are certain if the table is multiplied by `scale`, and how many others there are per unit."""
        certain = others = 0.0
        for (rows, columns, entry, same), count in cells.items():
            certain_here, others_here = expected_pairs(weights[rows], weights[columns], scale * entry, same)
            certain += count * certain_here
            others += count * others_here * entry
        return certain, others

    lightest = np.array([weights[size][-1] for size in sizes])
    least = table * np.outer(lightest, lightest)
    most = 1.0 / float(least.max())  # then all pairs of one cell are certain: with more it could not follow the table
    # Newton's method. The number of arcs is concave in the scale, so that no step goes too far.
    scale, arcs = 0.0, fraction * mean_degree * n
    while True:
        certain, others = expected(scale)
        larger = (arcs - certain) / others if others > 0 else scale
        if larger > most:
            certain, others = expected(most)
            largest = certain + most * others
            if arcs <= largest * (1.0 + 1e-12):  # exactly as many is right, whatever was rounded
                return table * most
            label, other = (int(at) for at in np.unravel_index(least.argmax(), least.shape))
            raise ValueError(
                f"mean_degree must be at most {largest / n / fraction:g} here, got {shortened(mean_degree)}: "
                f"then nodes with label {label} are joined to all with label {other}"
            )
        if larger <= scale * (1.0 + 1e-12):
            return table * scale
        scale = larger


def _pairs(
    sizes: list[int],
    weights: dict[int, NDArray[np.float64]],
    factors: NDArray[np.float64],
    expected: int,
    directed: bool,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Draw the ends of arcs, or of edges."""
    ends = np.cumsum([0, *sizes])
    # The nodes by label and weight, the largest first: which of them has which weight is drawn here.
    nodes = np.concatenate([rng.permutation(np.arange(*label, dtype=np.int32)) for label in pairwise(ends.tolist())])
    blocks = {size: _block_starts(of_size) for size, of_size in weights.items()}
    starts = np.concatenate([*(end + blocks[size] for end, size in zip(ends, sizes, strict=False)), ends[-1:]])
    labels = np.repeat(np.arange(len(sizes), dtype=np.int32), [len(blocks[size]) for size in sizes])
    of_places = np.concatenate([weights[size] for size in sizes])
    seed = int(rng.integers(2**63))
    room = expected + DEVIATIONS * (isqrt(expected) + 1)
    while True:
        sources, targets = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
        count = draw_pairs(starts, labels, factors, of_places, nodes, directed, seed, sources, targets)
        if count <= room:
            return sources[:count], targets[:count]
        room = count


def _block_starts(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Where the blocks of nodes with like weights begin."""
    block = np.floor(np.log(weights[0] / weights) / log(BLOCK_RATIO))
    return np.flatnonzero(np.diff(block, prepend=-1.0))
