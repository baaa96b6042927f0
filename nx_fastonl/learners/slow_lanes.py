"""Lanes of a diffusion that pushes would take too long to settle."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nx_fastonl.learners._diffusion import DiffusionStore
from nx_fastonl.push.elimination import MAX_STEPS, Inverse
from nx_fastonl.push.system import LinearSystem

__all__ = ["SlowLanes"]


class SlowLanes:
    """Settles a lane of a diffusion where pushing has cost more than solving the system exactly.

    Parameters
    ----------
    system : LinearSystem
        H.
    """

    def __init__(self, system: LinearSystem) -> None:
        self._system = system

    def __call__(self, store: DiffusionStore, active: NDArray[np.int32], label: int, theta: float, walked: int) -> int:
        """Settle small components in the lane of a label, if that is cheaper; return how many more edges to walk.

        `active` are the nodes that are still to be pushed, `walked` is the number of edges that were walked so far. 0
        is returned where nothing is left to push.
        """
        elimination = self._system.elimination
        while len(active):
            first = active[:1]
            cost = elimination.cost(first)
            inverse = None if cost is None or cost > walked else elimination.inverse(first)
            if inverse is None:
                return walked  # twice as much, then ask again
            self._solve(store, inverse, label, theta)
            active = np.setdiff1d(active, inverse.rows)
        return 0

    def _solve(self, store: DiffusionStore, inverse: Inverse, label: int, theta: float) -> None:
        """Settle a lane in one component, as far as rounding allows."""
        block, lane = divmod(label, store.width)
        worst = np.inf
        for _ in range(MAX_STEPS):
            slots = store.slot_indices[inverse.rows, block]
            corrections = inverse.solve(store.residuals[slots, lane].astype(np.float64))
            before, worst = worst, store.correct(self._system.view, inverse.rows, corrections, label, theta)
            if worst < 1.0:
                return
            if worst > 0.5 * before:
                break
        # Residuals of this size are rounding errors.
        store.accept(theta * worst * (1.0 + np.finfo(np.float64).eps))
