"""Lanes of a diffusion that pushes would take too long to settle."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nx_fastonl.learners._diffusion import DiffusionStore
from nx_fastonl.push.elimination import Factor
from nx_fastonl.push.system import LinearSystem

__all__ = ["SlowLanes"]

# A solution is off by rounding. Solving for what is left makes it smaller, as long as there are digits.
MAX_STEPS = 8


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
        while len(active):
            factor = self._factor(int(active[0]), walked)
            if factor is None:
                return walked  # twice as much, then ask again
            self._solve(store, factor, label, theta)
            active = np.setdiff1d(active, factor.rows)
        return 0

    def _factor(self, u: int, walked: int) -> Factor | None:
        """The factor of the component of node u, if it is known, or computed faster than pushes have been so far."""
        elimination = self._system.elimination
        factor = elimination.known(u)
        if factor is not None and np.array_equal(factor.pivots, self._system.pivots(factor.rows)):
            return factor
        rows = elimination.component(u)
        if rows is None or elimination.patience(rows) > walked:
            return None
        return elimination.factorise(rows, self._system.pivots(rows))

    def _solve(self, store: DiffusionStore, factor: Factor, label: int, theta: float) -> None:
        """Settle a lane in one component, as far as rounding allows."""
        block, lane = divmod(label, store.width)
        worst = np.inf
        for _ in range(MAX_STEPS):
            slots = store.slot_indices[factor.rows, block]
            corrections = factor.solve(store.residuals[slots, lane].astype(np.float64))
            before, worst = worst, store.correct(self._system.view, factor.rows, corrections, label, theta)
            if worst < 1.0:
                return
            if worst > 0.5 * before:
                break
        # Residuals of this size are rounding errors.
        store.accept(theta * worst * (1.0 + np.finfo(np.float64).eps))
