"""Lanes of a diffusion that pushes would take too long to settle."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nx_fastonl.learners._diffusion import UNLIMITED, DiffusionStore
from nx_fastonl.push.system import LinearSystem

__all__ = ["LaneElimination"]

# A solution is off by rounding. Solving for what is left makes it smaller, as long as there are digits.
MAX_STEPS = 8


class LaneElimination:
    """Settles a lane of a diffusion where pushing has cost more than solving the system exactly.

    Parameters
    ----------
    system : LinearSystem
        H.
    store : DiffusionStore
        The diffusion.
    """

    def __init__(self, system: LinearSystem, store: DiffusionStore) -> None:
        self._system, self._store = system, store

    def __call__(self, label: int, theta: float, walked: int) -> int:
        """Settle the lane of a label if that is cheaper than pushing on; else return how many more edges to walk.

        `walked` is the number of edges that were walked so far; 0 is returned where nothing is left to push.
        """
        elimination = self._system.elimination
        more = 0
        for component in np.unique(self._system.graph.components[self._active(label, theta)]).tolist():
            patience = elimination.patience(component)
            if patience > walked:
                more = max(more, patience - walked)
            elif not self._solve(component, label, theta):
                more = UNLIMITED
        return more

    def _active(self, label: int, theta: float) -> NDArray[np.intp]:
        """The nodes that are active in the lane of a label."""
        block, lane = divmod(label, self._store.width)
        slots = self._store.slot_indices[:, block]
        rows = np.flatnonzero(slots)
        residuals = np.abs(self._store.residuals[slots[rows], lane])
        neighbours = self._system.graph.neighbor_counts(rows)
        allowances = np.maximum(neighbours, self._store.least_allowance)
        return np.asarray(rows[(residuals >= theta * allowances) & (neighbours > 0)])

    def _solve(self, component: int, label: int, theta: float) -> bool:
        """Settle a lane in one component; False if rounding forbids it."""
        rows = self._system.elimination.rows(component)
        if rows is None:
            return False
        block, lane = divmod(label, self._store.width)
        worst = np.inf
        for _ in range(MAX_STEPS):
            slots = self._store.slot_indices[rows, block]
            residuals = self._store.residuals[slots, lane].astype(np.float64)
            corrections = self._system.elimination.solve(component, residuals)
            before, worst = worst, self._store.correct(self._system.view, rows, corrections, label, theta)
            if worst < 1.0:
                return True
            if worst > 0.5 * before:
                break
        # Residuals of this size are rounding errors.
        self._store.accept(theta * worst * (1.0 + np.finfo(np.float64).eps))
        return True
