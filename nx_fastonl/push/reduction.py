"""Small networks reduced to two nodes: resistances to the last digits, however much weights differ.

Taking a node out of a network leaves the resistances between all others as they are, if its neighbours are joined as
`_reduction` says. With two nodes left, the resistance between these is 1 / weight. Nothing is subtracted, so each step
rounds each weight by a few units. A network whose weights are all off by at most a fraction has resistances that are
off by no more, so the errors of the steps add up, and do not multiply.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.threads import one_blas_thread
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.push._reduction import eliminate, resistances_between

__all__ = ["reduced_resistances", "rounding_errors"]

# Nodes that are taken out together. BLAS adds what they leave to all others.
BLOCK = 64
# With no more nodes, each pair takes all others out for itself.
FEW = 16
# Units of rounding, of a fraction of a weight, for each node that is taken out. Its sum is off by little more than one,
# and there is one for a quotient, a product and an addition. BLAS adds a block's products in any order, which is one
# for each of them, and three for the block.
UNITS_PER_NODE = 6


def rounding_errors(n: int) -> float:
    """How far a resistance in a network of n nodes may be off, as a fraction of it."""
    return 0.5 * float(np.finfo(float).eps) * (UNITS_PER_NODE * n + 2)


def reduced_resistances(graph: CSRGraph, pairs: NDArray[np.integer]) -> NDArray[np.float64]:
    """The resistance between the nodes of each pair, in a connected graph without self-loops. No pair is of one node.

    Each is off by at most `rounding_errors` of itself. What underflows does no harm: with weights from 1e-100 on, no
    resistance is so large that such a conductor beside it would change it by 1e-100 of itself.
    """
    values = np.empty(len(pairs))
    if len(pairs) == 0:
        return values
    n = len(graph)
    W = np.zeros((n, n))
    sources = np.repeat(np.arange(n), np.diff(graph.indptr))
    W[sources, graph.indices] = 1.0 if graph.weights is None else graph.weights
    with one_blas_thread(n):
        _divide(W, np.asarray(pairs, dtype=np.int64), np.arange(len(pairs)), values)
    return values


def _divide(
    W: NDArray[np.float64], pairs: NDArray[np.int64], numbers: NDArray[np.intp], values: NDArray[np.float64]
) -> None:
    """Write the resistances of the pairs, whose numbers are these. W is symmetric.

    The pairs of each half have fewer nodes between them. So the others are taken out once for all of these pairs, and
    in all it takes a few times as long as for one of them: of n nodes, in the order of n cubed for all pairs too.
    """
    nodes, ends = np.unique(pairs, return_inverse=True)
    ends = ends.reshape(pairs.shape)
    if len(nodes) < len(W):
        W = _reduced(W, nodes)
    if len(nodes) <= FEW:
        values[numbers] = resistances_between(W, ends)
        return
    side = int(len(np.unique(ends[:, 1])) > len(np.unique(ends[:, 0])))
    order = np.argsort(ends[:, side], kind="stable")
    for half in (order[: len(order) // 2], order[len(order) // 2 :]):
        _divide(W, ends[half], numbers[half], values)


def _reduced(W: NDArray[np.float64], nodes: NDArray[np.intp]) -> NDArray[np.float64]:
    """The network of these nodes only."""
    kept = len(nodes)
    others = np.delete(np.arange(len(W)), nodes)
    order = np.concatenate([nodes, others])
    rest = W[np.ix_(order, order)]
    for last in range(len(W), kept, -BLOCK):
        first = max(kept, last - BLOCK)
        fractions = np.empty((last - first, first))
        eliminate(rest, first, last, fractions)
        rest[:first, :first] += fractions.T @ rest[first:last, :first]
    lower: NDArray[np.float64] = np.tril(rest[:kept, :kept], -1)
    return lower + lower.T
