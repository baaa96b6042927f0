"""The scaling of a kernel, as compiled loops see it."""

cimport cython
from libc.math cimport sqrt

from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.graph._view cimport GraphView


@cython.final
cdef class Scaling:
    cdef GraphView graph
    cdef const double[::1] S  # empty where it is 1, or the degrees
    cdef bint ones
    cdef double isolated  # S of a node without edges, where S is the degrees


cdef inline double s_of(Scaling scaling, node_t u) noexcept nogil:
    """The root of S at node u."""
    cdef double S
    if scaling.ones:
        return 1.0
    if scaling.S.shape[0] > 0:
        return sqrt(scaling.S[u])
    if scaling.graph.degrees.shape[0] > 0:
        S = scaling.graph.degrees[u]
    else:
        S = <double> (scaling.graph.stops[u] - scaling.graph.starts[u])
    return sqrt(S if S > 0.0 else scaling.isolated)
