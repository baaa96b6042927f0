"""The scaling of a kernel, as compiled loops see it."""

cimport cython
from libc.math cimport sqrt

from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.graph._view cimport GraphView


@cython.final
cdef class Scaling:
    cdef GraphView graph
    cdef const double[::1] S  # empty where it is constant, or the degrees
    cdef double constant  # the root of S, where that is the same for all nodes; otherwise 0
    cdef double isolated  # S of a node without edges, where S is the degrees


cdef inline double s_of(Scaling scaling, node_t u) noexcept nogil:
    """The root of S at node u."""
    if scaling.constant > 0.0:
        return scaling.constant
    if scaling.S.shape[0] > 0:
        return sqrt(scaling.S[u])
    if scaling.graph.degrees.shape[0] > 0:
        return s_at(scaling, scaling.graph.degrees[u])
    return s_at(scaling, <double> (scaling.graph.stops[u] - scaling.graph.starts[u]))


cdef inline double s_at(Scaling scaling, double degree) noexcept nogil:
    """The root of S at a node of this degree, where S is constant or the degrees."""
    if scaling.constant > 0.0:
        return scaling.constant
    return sqrt(degree if degree > 0.0 else scaling.isolated)
