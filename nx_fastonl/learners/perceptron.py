"""The kernel perceptron, on the diffusion of FastONL."""

from __future__ import annotations

from nx_fastonl.learners import _diffusion
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
    kernel, history, tuning, dtype
        As for `FastONL`; the trace is 0.
    """

    def _engine(self, workspace: Workspace) -> _diffusion.PerceptronEngine:
        diffusion, kernel = self.diffusion.run(workspace), self.kernel
        return _diffusion.PerceptronEngine(self.history, self.gradients, diffusion, kernel.scaling, kernel.a)
