"""The linear system that every push solves."""

from __future__ import annotations

import math
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nx_fastonl.graph.base import RowGraph
from nx_fastonl.push._system import SystemView
from nx_fastonl.push.elimination import SLOW_RADIUS, Elimination

# The textbook's over-relaxation suits spectra that are symmetric around zero. Those of real graphs are not, and need
# more: omega is moved by this fraction of the way to 2. That saved a sixth to a quarter of the sweeps on three graphs,
# for dampings from 0.7 to 0.99.
BEYOND_TEXTBOOK = 0.1


class LinearSystem:
    """The linear system ``H z = b`` on a graph, with ``H = diag(pivot) - W`` and ``pivot = shift + slope * diagonal``.

    The diagonal is the degrees unless one is given, together with the largest ``D / pivot``. Personalised PageRank has
    ``slope = 1 / (1 - alpha)``, the regularised Laplacian ``shift = alpha``.

    Attributes
    ----------
    view : SystemView
        What compiled loops see of the system.
    omega : float
        The over-relaxation for sweeps.
    """

    def __init__(
        self,
        graph: RowGraph,
        shift: float,
        slope: float,
        diagonal: NDArray[np.float64] | None = None,
        radius: float | None = None,
    ) -> None:
        self.graph, self.shift, self.slope = graph, shift, slope
        self._diagonal, self._radius = diagonal, radius
        self.view = SystemView(graph.view, shift, slope, diagonal)
        self.omega = self._over_relaxation()

    @cached_property
    def elimination(self) -> Elimination:
        """Solves the system exactly where few nodes can be reached."""
        # Without a reference to the system, in which it is kept: inverses are large, and cycles stay for long.
        return Elimination(self.graph, partial(_pivots, self.graph, self.shift, self.slope, self._diagonal))

    @property
    def settles_slowly(self) -> bool:
        """Whether mass may settle so slowly that a system of few nodes is better solved exactly."""
        return self.radius > SLOW_RADIUS

    def __reduce__(self) -> tuple[Any, ...]:
        return LinearSystem, (self.graph, self.shift, self.slope, self._diagonal, self._radius)

    def pivots(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        """The pivots at these rows, as the compiled loops have them: an empty row gets 1."""
        return _pivots(self.graph, self.shift, self.slope, self._diagonal, rows)

    @property
    def radius(self) -> float:
        """The largest ``D / pivot``: no eigenvalue of the Jacobi iteration has a larger magnitude."""
        if self._radius is not None:
            return self._radius
        largest = self.graph.largest_degree
        return largest / (self.shift + self.slope * largest) if largest > 0.0 else 0.0

    def settled_fraction(self, degree: float) -> float:
        """The fraction of its residual that a push at a node of this degree settles."""
        return (self.shift + (self.slope - 1.0) * degree) / (self.shift + self.slope * degree) if degree > 0.0 else 1.0

    def _over_relaxation(self) -> float:
        """From the spectral radius of the Jacobi iteration."""
        largest = self.graph.largest_degree
        if self.graph.is_directed() or largest == 0.0:
            return 1.0  # over-relaxation need not converge on a system that is not symmetric
        textbook = 2.0 / (1.0 + math.sqrt(1.0 - self.radius**2))
        return textbook + BEYOND_TEXTBOOK * (2.0 - textbook)


def _pivots(
    graph: RowGraph, shift: float, slope: float, diagonal: NDArray[np.float64] | None, rows: NDArray[Any]
) -> NDArray[np.float64]:
    pivots: NDArray[np.float64] = shift + slope * (graph.degrees if diagonal is None else diagonal)[rows]
    pivots[pivots == 0.0] = 1.0
    return pivots
