"""What compiled loops see of any graph."""

from nx_fastonl._lib.typedefs cimport node_t, offset_t
from nx_fastonl.graph._arrows cimport ArrowView


cdef class GraphView:
    # The neighbours of node u are indices[starts[u]:stops[u]].
    cdef const offset_t[::1] starts
    cdef const offset_t[::1] stops
    cdef const node_t[::1] indices
    cdef const double[::1] weights  # parallel to indices; empty where every weight is 1
    cdef const double[::1] degrees  # the sum of the weights of each row; empty where that is the number of neighbours
    cdef ArrowView arrows  # which way edges point; empty where they point nowhere
