"""The rows of a linear system as its nodes pull them."""

cimport cython
from cython cimport floating

from nx_fastonl._lib.typedefs cimport node_t, offset_t
from nx_fastonl.push._system cimport SystemView

cdef enum:
    # Rows in a chunk. Threads divide chunks, so a graph of a few thousand nodes has enough of them for two threads.
    CHUNK = 4096


@cython.final
cdef class PulledRows:
    # Row i belongs to node nodes[i], which pulls from the rows columns[offsets[i]:offsets[i + 1]].
    cdef SystemView system
    cdef bint directed
    cdef readonly object order
    cdef readonly object ends
    cdef const node_t[::1] nodes
    cdef const node_t[::1] positions  # the row of each node, -1 where it has none
    cdef const offset_t[::1] offsets
    cdef node_t[::1] columns
    cdef double[::1] weights  # parallel to columns; empty where every weight is 1
    cdef readonly double[::1] pivots
    cdef double[::1] shares  # 1 / pivot


cdef inline floating pulled(
    const node_t[::1] columns, const double[::1] weights, const floating[::1] x, Py_ssize_t e, Py_ssize_t stop
) noexcept nogil:
    """The sum of the values at columns e..stop, times the weights."""
    cdef floating even = 0.0, odd = 0.0  # two sums, so that an addition need not wait for the one before
    if weights.shape[0] > 0:
        while e + 1 < stop:
            even += <floating> weights[e] * x[columns[e]]
            odd += <floating> weights[e + 1] * x[columns[e + 1]]
            e += 2
        if e < stop:
            even += <floating> weights[e] * x[columns[e]]
    else:
        while e + 1 < stop:
            even += x[columns[e]]
            odd += x[columns[e + 1]]
            e += 2
        if e < stop:
            even += x[columns[e]]
    return even + odd
