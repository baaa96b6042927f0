"""Rows of a matrix of which each comes from one push."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.pool import Lease, Pool
from nx_fastonl.batch.rows import MatrixRows
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.push._filter import NodeFilter
from nx_fastonl.push._rows import RowBlock, RowPlan
from nx_fastonl.push._workspace import Workspace
from nx_fastonl.push.local import FIRST_EPSILON_FACTOR, UNLIMITED
from nx_fastonl.push.system import LinearSystem

__all__ = ["PushedRows"]

# Where at least one of so many nodes is a source, the thresholds of all nodes are computed in advance. Pushes then need
# not look up the degrees of the nodes that they reach, which saves them a fifth to a third of their time.
NODES_PER_SOURCE = 256
# Rounds with a falling epsilon pay only below this epsilon: other pushes are too short.
ROUNDS_BELOW = 3e-5
# Room for so many values of each row at first, where their number is not known; and at most so many where it is.
VALUES_PER_ROW = 64
MAX_VALUES_PER_ROW = 1024


class PushedRows(MatrixRows):
    """What the rows of PageRank and of kernels have in common.

    Parameters
    ----------
    graph, sources, dtype
        As for `MatrixRows`.
    system : LinearSystem
        What is pushed on.
    epsilon : float
        A node is pushed while its residual is at least this, per neighbour.
    top_k : int or None
        How many values of each row are kept.
    mass_tolerance : float, optional
        Each push goes on until the residual mass is at most this.
    max_operations : int, optional
        How many edges each push may walk.
    allowed : NodeFilter, optional
        Which nodes may be in a row, by default all.
    """

    def __init__(
        self,
        graph: CSRGraph,
        sources: NDArray[np.int32] | None,
        dtype: str,
        *,
        system: LinearSystem,
        epsilon: float,
        top_k: int | None,
        mass_tolerance: float | None = None,
        max_operations: int | None = None,
        allowed: NodeFilter | None = None,
    ) -> None:
        super().__init__(graph, sources, dtype)
        self.system, self.push_epsilon, self.mass_tolerance = system, epsilon, mass_tolerance
        self.top_k = None if top_k is None else int(top_k)  # JSON has no numbers of numpy
        self.max_operations = UNLIMITED if max_operations is None else max_operations
        self.allowed = NodeFilter() if allowed is None else allowed
        self._workspaces: Pool[Workspace] = Pool()

    def plan(self, cancelled: NDArray[np.uint8]) -> RowPlan:
        """How rows are pushed."""
        return RowPlan(
            self.push_epsilon,
            FIRST_EPSILON_FACTOR if self.push_epsilon < ROUNDS_BELOW else 1.0,
            self.system.omega,
            cancelled,
            target=self.mass_tolerance or 0.0,
            max_operations=self.max_operations,
            top_k=self.top_k,
            allowed=self.allowed,
        )

    def room(self, n_rows: int) -> RowBlock:
        """An empty block for so many rows."""
        return RowBlock(n_rows, n_rows * min(self.top_k or VALUES_PER_ROW, len(self.graph), MAX_VALUES_PER_ROW))

    def workspace(self, *, plain: bool = False) -> Lease[Workspace]:
        """Scratch memory, with thresholds where that pays, unless it has to be `plain`."""
        # A push that may end early, or changes epsilon, would not leave thresholds as they were.
        is_kept = self.mass_tolerance is None and self.max_operations == UNLIMITED
        if is_kept and not plain and NODES_PER_SOURCE * len(self) >= len(self.graph):
            return self._workspaces.lease(self._workspace_with_thresholds, len(self.graph))
        return self.graph.scratch(Workspace)

    def _workspace_with_thresholds(self, n: int) -> Workspace:
        workspace = Workspace(n)
        workspace.know_thresholds(self._thresholds)
        return workspace

    @cached_property
    def _thresholds(self) -> NDArray[np.float64]:
        return self.push_epsilon * np.diff(self.graph.indptr)
