"""Proofs of labels: a node is read further and further, until one label is certain or the budget ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from nx_fastonl.learners.base import Certificate
from nx_fastonl.learners.diffusion import Diffusion
from nx_fastonl.push.local import PushResult, local_push

__all__ = ["prove"]

# From one push to the next, the residual mass allowed is multiplied by a factor between these two.
SMALLEST_MASS_DROP, LARGEST_MASS_DROP = 0.25, 1e-3
# Edges that the first push may walk, whatever the budget.
FIRST_OPERATIONS = 20_000
# Below this mass further pushes gain nothing: rounding errors are as large.
MIN_MASS = 1e-14

BoundedRow = tuple[NDArray[np.float64], float]


def prove(
    diffusions: Sequence[Diffusion], u: int, max_operations: int, judge: Callable[[list[BoundedRow]], Certificate]
) -> Certificate:
    """The best certificate that `judge` gives for the diffusions' rows at node u, and bounds on their errors.

    Pushing from u, ``H z + r = e_u``, gives a row up to an error that falls with r: see `Diffusion.read_with_bound`.
    """

    def push(diffusion: Diffusion, mass: float | None, most: int) -> PushResult:
        epsilon = diffusion.read_epsilon(u)
        return local_push(diffusion.system, [u], [1.0], epsilon, mass_tolerance=mass, max_operations=most)

    results = [push(diffusion, None, FIRST_OPERATIONS) for diffusion in diffusions]
    found: Certificate | None = None
    while True:
        pairs = zip(diffusions, results, strict=True)
        latest = judge([diffusion.read_with_bound(u, result.nodes, result.estimate) for diffusion, result in pairs])
        # A push that the budget cuts short may be worse than the one before.
        if found is None or latest.error < found.error:
            found = latest
        masses = [result.residual_mass for result in results]
        if found.certain or found.error == 0.0 or max_operations <= 0 or max(masses, default=0.0) < MIN_MASS:
            return found
        drop = min(SMALLEST_MASS_DROP, max(LARGEST_MASS_DROP, 0.5 * found.margin / found.error))
        results = [push(d, drop * mass, max_operations) for d, mass in zip(diffusions, masses, strict=True)]
        max_operations -= sum(result.operations for result in results)
