"""FastONL as the paper describes it: the relaxation, with the column of each arriving node by a FIFOPush."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nx_fastonl import _fastonl
from nx_fastonl.graph import NO_WEIGHTS
from nx_fastonl.kernels import GraphKernel
from nx_fastonl.push import Workspace, local_push
from nx_fastonl.relaxation import Column, RelaxationLearner

__all__ = ["FastONL", "PushColumns"]

# Once this part of the nodes was learned, memory and time for every node are no more than that for those.
PART_FOR_LIMITS = 1 / 256


class PushColumns:
    """Columns by the paper's FIFOPush, the kernel's constant left out."""

    def __init__(self, kernel: GraphKernel, epsilon: float) -> None:
        self.kernel = kernel
        self.epsilon = epsilon

    def __call__(self, u: int) -> Column:
        kernel = self.kernel
        result = local_push(kernel.graph, [u], [1.0], kernel.system, kernel.limit(self.epsilon), adaptive=False)
        s = float(kernel.s(u))
        own = float(result.estimate[0])  # a push lists its source first
        return Column(result.nodes, result.estimate, own, s, kernel.a * s)


class FastONL(RelaxationLearner):
    """The paper's practical loop: a push per arriving node. A whole stream runs in compiled code."""

    def __init__(self, kernel: GraphKernel, epsilon: float, trace: float, *, trace_per_label: bool = False) -> None:
        columns = PushColumns(kernel, epsilon)
        super().__init__(len(kernel.graph), columns, trace, trace_per_label=trace_per_label, constant=-kernel.g)
        self._kernel = kernel
        self._limit = kernel.limit(epsilon)
        self._workspace: Workspace | None = None
        self._limits_known = False

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_workspace": None, "_limits_known": False}

    def run(
        self,
        rows: NDArray[np.int32],
        labels: NDArray[np.int32],
        draws: NDArray[np.float64],
        counts: NDArray[np.int64],
        appearances: NDArray[np.int64],
        known: int,
    ) -> NDArray[np.int32]:
        """Predict and learn nodes that were not learned before, one after the other.

        The same as `best` or `draw`, and `learn`, in turn, except that of the k labels only the first `known` can be
        predicted from the start; the others join when they are learned. With `draws`, predictions are drawn from the
        distributions. Updates `counts` and `appearances` of labels.
        """
        self._make_room(len(rows))
        graph, system = self._kernel.graph, self._kernel.system
        n_learned = int(counts.sum())
        workspace, self._workspace = self._workspace or Workspace(len(graph)), None
        if not self._limits_known and n_learned > len(graph) * PART_FOR_LIMITS:
            self._work_out_limits(workspace)
        predicted = np.empty(len(rows), dtype=np.int32)
        limits_known, self._limits_known = self._limits_known, False  # an exception leaves no workspace behind
        self._totals, self._n_rows = _fastonl.run(
            graph.indptr,
            graph.indices,
            NO_WEIGHTS if graph.weights is None else graph.weights,
            system.diagonal_of(graph),
            workspace.cells,
            workspace.estimate,
            workspace.queue,
            workspace.touched,
            self._marks,
            self._gradients,
            self._gradient_sum,
            self._totals,
            counts,
            appearances,
            rows,
            self._kernel.s(rows),
            labels,
            draws,
            predicted,
            epsilon=self._limit,
            shift=system.shift,
            slope=system.slope,
            a=self._kernel.a,
            constant=self._constant,
            k=known,
            n_rows=self._n_rows,
            n_learned=n_learned,
            limits_known=limits_known,
        )
        self._workspace, self._limits_known = workspace, limits_known
        return predicted

    def _work_out_limits(self, workspace: Workspace) -> None:
        """Write the limit of every node, so that the loop need not ask which nodes it met before."""
        neighbours = np.diff(self._kernel.graph.indptr)
        workspace.cells["limit"] = -np.maximum(self._limit * neighbours, np.finfo(np.float64).tiny)
        self._limits_known = True
