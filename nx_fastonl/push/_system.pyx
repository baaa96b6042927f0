"""SystemView: a graph and the pivots of a linear system on it."""

cimport cython

from nx_fastonl.graph._view cimport GraphView


@cython.final
cdef class SystemView(GraphView):
    """The system ``diag(shift + slope * diagonal) - W`` on a graph; the diagonal is by default the degrees."""

    def __init__(self, GraphView graph, double shift, double slope, diagonal=None):
        self.starts = graph.starts
        self.stops = graph.stops
        self.indices = graph.indices
        self.weights = graph.weights
        self.degrees = graph.degrees
        self.diagonal = graph.degrees
        if diagonal is not None:
            self.diagonal = diagonal
        self.shift = shift
        self.slope = slope
