"""GraphView: the arrays of a graph, as compiled loops take them."""

import numpy as np

from nx_fastonl.graph._arrows cimport ArrowView

_EMPTY = np.empty(0)
_NO_ARROWS = ArrowView(np.empty(0, dtype=np.uint8), _EMPTY, _EMPTY, *2 * [np.empty(0, dtype=np.int32)])


cdef class GraphView:
    """The rows of a graph: starts, stops, indices, weights, degrees and arrows, shared and never changed.

    The owner of the arrays has checked them: every row lies within `indices`, every index is that of a node.
    """

    def __init__(self, starts, stops, indices, weights, degrees, ArrowView arrows=_NO_ARROWS):
        self.starts = starts
        self.stops = stops
        self.indices = indices
        self.weights = _EMPTY if weights is None else weights
        self.degrees = _EMPTY if weights is None else degrees
        self.arrows = arrows
