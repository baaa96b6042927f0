"""The online relaxation: water-filling, surrogate gradients, and their learner. It knows nothing of graphs."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nx_fastonl._lib._sharing import ThreadLock
from nx_fastonl._lib.arrays import check_restored
from nx_fastonl.learners import _relaxation
from nx_fastonl.learners._history import LabelHistory
from nx_fastonl.learners.base import Learner

__all__ = ["surrogate_gradient", "surrogate_loss", "water_filling"]


def water_filling(psi: ArrayLike) -> NDArray[np.float64]:
    """The distribution ``q = max(psi - tau, 0)`` over labels, with tau such that q sums to 1.

    Parameters
    ----------
    psi : array_like of float
        The scores of one or more labels.

    Returns
    -------
    numpy.ndarray
        The labels' probabilities. Adding the same number to all scores changes nothing.

    Raises
    ------
    ValueError
        If `psi` is empty, not one-dimensional or not finite.

    Examples
    --------
    >>> from nx_fastonl.learners.relaxation import water_filling
    >>> water_filling([0.5, 0.25, -3.0]).tolist()
    [0.625, 0.375, 0.0]
    """
    return _relaxation.water_filling(_as_scores(psi))


def surrogate_loss(psi: ArrayLike, y: int) -> float:
    """The convex loss that stands in for a mistake: at least ``1 - water_filling(psi)[y]``.

    With S the labels that have a positive probability: ``1 - q[y]`` if y is among them, otherwise
    ``(1 + max of the other scores - psi[y]) / (1 + 1 / |S|)``.

    Parameters
    ----------
    psi : array_like of float
        The scores of one or more labels.
    y : int
        The label revealed.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `psi` is empty, not one-dimensional or not finite, or has no entry `y`.

    Examples
    --------
    >>> from nx_fastonl.learners.relaxation import surrogate_loss
    >>> surrogate_loss([0.5, 0.25, -3.0], 0), surrogate_loss([0.5, 0.25, -3.0], 2)
    (0.375, 3.0)
    """
    return _surrogate(psi, y)[0]


def surrogate_gradient(psi: ArrayLike, y: int) -> NDArray[np.float64]:
    """The gradient of `surrogate_loss`: what the learner stores of a node. It sums to 0.

    Parameters
    ----------
    psi : array_like of float
        The scores of one or more labels.
    y : int
        The label revealed.

    Returns
    -------
    numpy.ndarray

    Raises
    ------
    ValueError
        If `psi` is empty, not one-dimensional or not finite, or has no entry `y`.

    Examples
    --------
    >>> from nx_fastonl.learners.relaxation import surrogate_gradient
    >>> surrogate_gradient([0.5, 0.25, -3.0], 0).tolist()
    [-0.5, 0.5, 0.0]
    """
    return _surrogate(psi, y)[1]


def _surrogate(psi: ArrayLike, y: int) -> tuple[float, NDArray[np.float64]]:
    scores = _as_scores(psi)
    if not 0 <= y < len(scores):
        raise ValueError(f"y must be a label between 0 and {len(scores) - 1}, got {y!r}")
    return _relaxation.surrogate_of(scores, y)


def _as_scores(psi: ArrayLike) -> NDArray[np.float64]:
    scores = np.array(psi, dtype=np.float64)
    if scores.ndim != 1 or scores.size == 0 or not np.isfinite(scores).all():
        raise ValueError(f"psi must be a list of one or more finite numbers, got {psi!r}")
    return np.asarray(scores - scores.max())  # a shift changes nothing, and numbers near 0 lose fewer digits


class Evidence(NamedTuple):
    """What a prediction at a node t depends on. Better labels have smaller scores."""

    scores: NDArray[np.float64]  # G @ M[:, t]
    magnitude: float  # the largest magnitude that the scores were summed from
    diagonal: float  # M[t, t]
    s: float  # s_t


class RelaxationLearner(Learner):
    """Learns from labels through a kernel matrix M.

    The score of node t is ``v = G @ M[:, t]``, where G holds a gradient for each node learned. Subclasses compute the
    scores.

    Parameters
    ----------
    n : int
        The number of nodes.
    history : LabelHistory
    trace : float
        T_1, the trace of M. A larger trace gives flatter distributions.
    trace_per_label : bool
        Whether T_1 is `trace` for each known label, as in the paper's experiments.
    constant : float
        What is added to every entry of M.
    unit : float
        What all entries of M are multiples of.
    position : int
        How many changes of edges the graph has seen.

    Attributes
    ----------
    gradients : GradientStore
        What is stored of each learned node.
    """

    parts: ClassVar[dict[str, Any]] = {**Learner.parts, "gradients": _relaxation.GradientStore}

    def __init__(
        self,
        n: int,
        history: LabelHistory,
        trace: float,
        *,
        trace_per_label: bool = False,
        constant: float = 0.0,
        unit: float = 1.0,
        position: int = 0,
    ) -> None:
        self.history = history
        self.gradients = _relaxation.GradientStore(n, trace, trace_per_label, constant, unit, position)
        self.reserve_labels(history.k)
        self.lock = ThreadLock()
        self.begin()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._restore(state)
        check_restored(self.gradients.fits(self.history), "labels and gradients")

    @abstractmethod
    def _evidence(self, u: int) -> Evidence:
        """The evidence at node u, from what is stored of all nodes."""

    @abstractmethod
    def _learn(self, u: int, y: int, evidence: Evidence, *, independent: bool) -> None:
        """Learn label y of node u by the evidence; `independent` as if it were the only node."""

    @abstractmethod
    def _forget(self, u: int, evidence: Evidence) -> None:
        """Forget the label of node u, by the evidence at it."""

    def _with_sharper_diagonal(self, u: int, evidence: Evidence) -> Evidence:  # noqa: ARG002  it may be exact already
        """The same with a more accurate diagonal entry, where it was only estimated."""
        return evidence

    def reserve_labels(self, k: int) -> None:
        super().reserve_labels(k)
        self.gradients.reserve(k, 0)

    def best(self, u: int) -> int | None:
        scores, magnitude, _, _ = self._evidence(u)
        return _relaxation.best(self.history, scores, magnitude) if len(scores) else None

    def draw(self, u: int, number: float) -> int | None:
        psi = self._psi(u)
        return _relaxation.drawn(psi, number) if len(psi) else None

    def probabilities(self, u: int) -> NDArray[np.float64]:
        psi = self._psi(u)
        return water_filling(psi) if len(psi) else psi

    def learn(self, u: int, y: int) -> None:
        """Store the gradient of label `y` at node `u`, in place of what was stored of u before."""
        evidence = self._evidence(u)
        with self.lock:
            if self.gradients.has(u):
                evidence = self._with_sharper_diagonal(u, evidence)
            self.gradients.reserve(self.k, 1)
            self._learn(u, y, evidence, independent=False)

    def forget(self, u: int) -> None:
        """Take the gradient of node u out again; the others stay as they are."""
        with self.lock:
            self._forget(u, self._with_sharper_diagonal(u, self._evidence(u)))

    def stored_gradients(self) -> NDArray[np.float64]:
        """What is stored of each node, s times its gradient, as rows of a dense matrix: for tests."""
        n, k = self.gradients.n, self.k
        return np.array([self.gradients.read(u, k) for u in range(n)]).reshape(n, k)

    def _psi(self, u: int) -> NDArray[np.float64]:
        scores, _, diagonal, _ = self._evidence(u)
        return _relaxation.psi_of(self.gradients, scores, diagonal) if len(scores) else scores
