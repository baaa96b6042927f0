"""Labels that are known at once: diffusions solved on the whole graph, weights learned from nodes left out in turn."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nx_fastonl.learners.diffusion import Diffusion
from nx_fastonl.push.local import diagonal_entries
from nx_fastonl.push.whole import solve_everywhere

__all__ = ["FittedWeights", "LeftOut", "fit_weights", "leave_out", "solve_votes", "votes_without"]

# What a solution may leave of each label's mass, which is 1 for each of its nodes.
SOLVED_MASS = 1e-2
# Columns solved for at once: a loop of known length shares the walk over the graph.
COLUMNS_AT_ONCE = 8
# Beyond this many nodes times labels, which take 2 GB, labels are pushed: that takes memory only where they reach.
MAX_SOLVED = 1 << 27
# Each label's nodes are dealt into at most this many folds.
MAX_FOLDS = 10
# Weights are learned from a quarter of the known nodes, but from at least and at most so many: there are few weights,
# and a push from each node takes time.
LEAST_LEFT_OUT, MOST_LEFT_OUT = 128, 1024
# The epsilon of the push for an entry of the diagonal, divided by the number of neighbours. What other nodes of the
# same label give to a node may be hundreds of times smaller than what it gives to itself.
DIAGONAL_EPSILON = 1e-4
# Newton's method takes a handful of steps; each is halved until the loss falls, up to so often.
MAX_STEPS, MAX_HALVINGS = 30, 15


# Weights, and the second derivative of the loss there.
FittedWeights: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]


class LeftOut(NamedTuple):
    """Known nodes whose labels are left out in turn, and the folds in which they are."""

    rows: NDArray[np.int32]
    labels: NDArray[np.int32]
    folds: NDArray[np.int64]

    def in_folds(self) -> list[NDArray[np.intp]]:
        """The positions of the nodes of each fold."""
        return [np.flatnonzero(self.folds == fold) for fold in np.unique(self.folds)]


def leave_out(rows: NDArray[np.int32], labels: NDArray[np.int32]) -> LeftOut:
    """Deal the nodes of each label into folds: a sample of those that are not alone with their label.

    A fold has as many nodes of a label as any other, up to one. So leaving it out hardly changes which labels are
    frequent, while leaving out single nodes would make each true label look rarer than it is. Rows are sorted: what is
    drawn depends on nothing else, not even on the numbers of the labels.
    """
    order = np.random.default_rng(0).permutation(len(rows))
    counts = np.bincount(labels)
    n_folds = max(2, min(MAX_FOLDS, int(counts.max(initial=0))))
    size = min(max(len(rows) // 4, LEAST_LEFT_OUT), MOST_LEFT_OUT)
    chosen = order[counts[labels[order]] > 1][:size]
    _, firsts, codes = np.unique(labels, return_index=True, return_inverse=True)
    groups = firsts[codes[chosen]]  # the first node of the same label
    by_label, groups = chosen[np.argsort(groups, kind="stable")], np.sort(groups)
    ranks = np.arange(len(by_label)) - np.searchsorted(groups, groups)
    return LeftOut(rows[by_label], labels[by_label], ranks % n_folds)


def solve_votes(
    diffusion: Diffusion, rows: NDArray[np.int32], labels: NDArray[np.int32], k: int
) -> NDArray[np.float64]:
    """Solve a diffusion in which only these nodes are known; return how much of all votes each label gets.

    With ``H z = e_i`` the weighted sum of votes from node i is ``D z``, which is entry i of ``inv(H) D``.
    """
    degrees = diffusion.kernel.graph.degrees
    n, total = len(degrees), float(degrees.sum())
    diffusion.absorb(rows)
    pushed = n * k > MAX_SOLVED
    if pushed:
        diffusion.spread(rows, labels)
    # Columns are the labels, and then the degrees divided by their sum.
    sums = np.empty(0)
    for first in range(k if pushed else 0, k + 1, COLUMNS_AT_ONCE):
        source, width = np.zeros((n, COLUMNS_AT_ONCE)), min(COLUMNS_AT_ONCE, k - first)
        chosen = (labels >= first) & (labels < first + width)
        source[rows[chosen], labels[chosen] - first] = 1.0
        if width < COLUMNS_AT_ONCE:
            source[:, width] = degrees / (total or 1.0)
        solution = solve_everywhere(diffusion.system, source, SOLVED_MASS)
        if width > 0:
            diffusion.take(first, solution.estimate[:, :width].copy(), solution.residual[:, :width].copy())
        if width < COLUMNS_AT_ONCE:
            sums = solution.estimate[:, width]
    if not pushed:
        diffusion.count(rows)
    totals = np.bincount(labels, sums[rows], minlength=k)
    if not totals.any():
        totals = np.bincount(labels, minlength=k).astype(np.float64)
    return np.asarray(totals * (len(rows) / totals.sum()), dtype=np.float64)


def votes_without(diffusion: Diffusion, left_out: LeftOut, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The votes at known nodes, as if the label of each were not known, up to a factor for each node.

    Node i with label y gives ``M_ii`` to its own vote, ``M = inv(H)``. Without it, H has a smaller entry at i, which
    multiplies all votes at i by the same. Its label then has one node less than it would have beside an unknown node of
    the same label: its votes are scaled up to as many as there are.
    """
    rows, labels, _ = left_out
    neighbours = np.maximum(diffusion.kernel.graph.neighbor_counts(rows), 1)
    own, _ = diagonal_entries(diffusion.system, rows, DIAGONAL_EPSILON / neighbours)
    votes = diffusion.read(rows)[0][:, : len(counts)]
    at = np.arange(len(rows)), labels
    votes[at] = np.maximum(votes[at] - own, 0.0) * counts[labels] / (counts[labels] - 1)
    return votes


def fit_weights(
    features: NDArray[np.float64],
    labels: NDArray[np.int32],
    start: NDArray[np.float64],
    precision: NDArray[np.float64],
) -> FittedWeights:
    """The weights of the least log loss, and its second derivative there.

    The loss of weights w is ``sum(precision (w - start)^2) / 2`` plus the sum over nodes of ``-log q[y]`` with
    ``q ~ exp(w @ x)``; ``features[i]`` is x of node i, a row for each expert and a column for each label.
    """
    weights, loss = start, np.inf
    step = np.zeros_like(start)
    hessian = np.diag(precision)
    for _ in range(MAX_STEPS):
        for _ in range(MAX_HALVINGS):
            q, latest = _mixed(features, labels, weights - step)
            latest += 0.5 * float((precision * (weights - step - start) ** 2).sum())
            if latest <= loss:
                break
            step = step / 2.0
        else:
            break
        weights, improved, loss = weights - step, loss - latest, latest
        if improved < 1e-9 * (1.0 + abs(loss)):
            break
        relative = features - np.einsum("mek,mk->me", features, q)[:, :, np.newaxis]
        gradient = precision * (weights - start) - relative[np.arange(len(labels)), :, labels].sum(axis=0)
        scaled = (relative * np.sqrt(q)[:, np.newaxis]).transpose(1, 0, 2).reshape(len(start), -1)
        hessian = np.diag(precision) + scaled @ scaled.T
        step = np.linalg.solve(hessian, gradient)
    return weights, hessian


def _mixed(
    features: NDArray[np.float64], labels: NDArray[np.int32], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """The distribution over labels at each node, and the sum of the log losses."""
    scores = np.einsum("e,mek->mk", weights, features)
    scores -= scores.max(axis=1, keepdims=True)
    sums = np.exp(scores).sum(axis=1)
    loss = float((np.log(sums) - scores[np.arange(len(labels)), labels]).sum())
    return np.exp(scores) / sums[:, np.newaxis], loss
