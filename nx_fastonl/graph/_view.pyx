"""GraphView: the arrays of a graph, as compiled loops take them."""

import numpy as np

_EMPTY = np.empty(0)


cdef class GraphView:
    """The rows of a graph: starts, stops, indices, weights and degrees, shared and never changed.

    The owner of the arrays has checked them: every row lies within `indices`, every index is that of a node.
    """

    def __init__(self, starts, stops, indices, weights, degrees):
        self.starts = starts
        self.stops = stops
        self.indices = indices
        self.weights = _EMPTY if weights is None else weights
        self.degrees = _EMPTY if weights is None else degrees
