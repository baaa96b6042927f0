"""Which way edges point, as compiled loops see it."""

from libc.stdint cimport int32_t

cdef enum:
    OUT = 1
    IN = 2


cdef class ArrowView:
    # Parallel to the indices of the rows of W + W^T. In row u, the entry of node v has the sum of OUT, where there is an
    # arc from u to v, and IN, where there is one from v to u.
    cdef const unsigned char[::1] codes
    # The weights of these arcs, 0 where there is none; both empty where every arc has weight 1.
    cdef const double[::1] out_weights
    cdef const double[::1] in_weights
    # Of each node: how many nodes it points to, and how many point to it.
    cdef const int32_t[::1] out_degrees
    cdef const int32_t[::1] in_degrees


cdef inline double out_weight(ArrowView arrows, Py_ssize_t e) noexcept nogil:
    return arrows.out_weights[e] if arrows.out_weights.shape[0] > 0 else 1.0 if arrows.codes[e] & OUT else 0.0


cdef inline double in_weight(ArrowView arrows, Py_ssize_t e) noexcept nogil:
    return arrows.in_weights[e] if arrows.in_weights.shape[0] > 0 else 1.0 if arrows.codes[e] & IN else 0.0
