"""The kernel perceptron, on the diffusion of FastONL."""

from __future__ import annotations

from typing import Any

import numpy as np

from nx_fastonl.kernels.graph_kernel import GraphKernel
from nx_fastonl.learners import _diffusion
from nx_fastonl.learners._history import LabelHistory
from nx_fastonl.learners.fastonl import FastONL
from nx_fastonl.push._workspace import Workspace

__all__ = ["Perceptron"]


class Perceptron(FastONL):
    """The multi-class kernel perceptron: a mistake stores ``e_predicted - e_true``, a right prediction nothing.

    The prediction is the best label at the time of learning, without what was stored of the node itself. While no label
    is known, and in `learn_many`, ``-e_true`` is stored.

    The perceptron defines no distribution over labels. `draw` and `probabilities` take the water-filling of the scores,
    divided by the norm of what is stored: that of the relaxation with a trace of 0.

    Parameters
    ----------
    kernel, history, epsilon, dtype
        As for `FastONL`.
    """

    def __init__(self, kernel: GraphKernel, history: LabelHistory, epsilon: float, *, dtype: np.dtype[Any]) -> None:
        super().__init__(kernel, history, epsilon, trace=0.0, trace_per_label=False, dtype=dtype)
        self._settings = {"epsilon": epsilon, "dtype": dtype}

    def _engine(self, workspace: Workspace) -> _diffusion.PerceptronEngine:
        diffusion, kernel = self.diffusion.run(workspace), self.kernel
        return _diffusion.PerceptronEngine(self.history, self.gradients, diffusion, kernel.scaling, kernel.a)
