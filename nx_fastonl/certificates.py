"""Proof that a prediction is that of the exact kernel: looking around a node until nothing left out can matter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nx_fastonl import _relaxation
from nx_fastonl.fastonl import FastONL
from nx_fastonl.push import local_push

__all__ = ["CertifiedLabel", "certify"]

# By how much the mass that is left over falls from one look to the next, at least and at most.
GENTLEST_STEP, STEEPEST_STEP = 0.25, 1e-3
# Edges that the first look may walk, whatever the budget.
FIRST_OPERATIONS = 20_000
# Nothing is gained from less mass: rounding errors are as large.
LEAST_MASS = 1e-14


@dataclass(frozen=True)
class CertifiedLabel:
    """What `OnlineNodeLabeler.certify_one` found.

    Attributes
    ----------
    label : label
        The best label as far as was looked; None while no label is known.
    margin : float
        How much worse the score of the second best label is; infinite where there is no second.
    error : float
        How much `margin` can be off from that of the exact kernel.
    certain : bool
        Whether ``error < margin``, so that the exact kernel gives the same label for what was learned.

    Examples
    --------
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> model = fo.OnlineNodeLabeler(nx.karate_club_graph(), classes=["Mr. Hi", "Officer"])
    >>> model.certify_one(8).certain  # nothing was learned
    False
    >>> found = model.fit({0: "Mr. Hi", 33: "Officer"}).certify_one(8)
    >>> found.label, found.certain
    ('Officer', True)
    """

    label: Any
    margin: float
    error: float
    certain: bool


def certify(
    learner: FastONL, u: int, counts: NDArray[np.int64], appearances: NDArray[np.int64], max_operations: int
) -> tuple[int | None, float, float, bool]:
    """The best label of node u, its margin, the margin's error, and whether the label is certain.

    Pushing from u, ``H z + r = e_u``, gives the scores but for an error that falls with r: see `Diffusion.read`.
    """
    graph, system = learner.kernel.graph, learner.kernel.system
    learner.diffusion.rest()
    if learner.k == 0:
        return None, math.inf, 0.0, False
    epsilon = learner.diffusion.sight(u)
    result = local_push(graph, [u], [1.0], system, epsilon, max_operations=FIRST_OPERATIONS)
    found: tuple[int, float, float, bool] | None = None
    while True:
        scores, error = learner.bounded_scores(u, result.nodes, result.estimate)
        # A push that the budget cuts short may be worse than the one before.
        if found is None or 2.0 * error < found[2]:
            y = _relaxation.best(scores, 0.0, counts, appearances)
            margin = float(np.partition(scores, 1)[1] - scores[y]) if learner.k > 1 else math.inf
            found = y, margin, 2.0 * error, bool(2.0 * error < margin)
        _, margin, error, certain = found
        mass = result.residual_mass
        if certain or error == 0.0 or max_operations <= 0 or mass < LEAST_MASS:
            return found
        mass *= min(GENTLEST_STEP, max(STEEPEST_STEP, 0.5 * margin / error))
        result = local_push(graph, [u], [1.0], system, epsilon, mass_tolerance=mass, max_operations=max_operations)
        max_operations -= result.operations
