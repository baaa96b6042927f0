"""The rows of a linear system as its nodes pull them."""

cimport cython
from cython cimport floating

from nx_fastonl._lib.exact cimport add_exactly
from nx_fastonl._lib.typedefs cimport node_t, offset_t
from nx_fastonl.push._system cimport SystemView

cdef enum:
    # Rows in a chunk. Threads divide chunks, so a graph of a few thousand nodes has enough of them for two threads.
    CHUNK = 4096
    TERMS = 16  # what `pulled_exactly` adds without caring for rounding errors
    LANES = 8  # columns that are walked together: a loop of known length, which stays in registers


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


cdef inline double pulled_exactly(
    const node_t[::1] columns, const double[::1] weights, const double[::1] x, Py_ssize_t e, Py_ssize_t stop
) noexcept nogil:
    """`pulled`, but long rows lose no more than `TERMS` terms do."""
    cdef double total = 0.0, lost = 0.0
    if stop - e <= TERMS:
        return pulled(columns, weights, x, e, stop)
    while e < stop:
        add_exactly(pulled(columns, weights, x, e, min(e + TERMS, stop)), &total, &lost)
        e += TERMS
    return total + lost


cdef inline void pull_lanes(
    const node_t[::1] columns, const double[::1] weights, const floating[:, ::1] x, offset_t start, offset_t stop,
    Py_ssize_t lane, floating* sums,
) noexcept nogil:
    """Write what a row pulls of `LANES` columns of x, from this one on, or of those that there are."""
    cdef Py_ssize_t j, count = min(<Py_ssize_t> LANES, x.shape[1] - lane)
    cdef offset_t e
    cdef floating total[LANES]
    cdef floating weight
    cdef bint weighted = weights.shape[0] > 0
    if count == LANES:
        for j in range(LANES):
            total[j] = 0.0
        for e in range(start, stop):
            weight = <floating> weights[e] if weighted else <floating> 1.0
            for j in range(LANES):
                total[j] += weight * x[columns[e], lane + j]
        for j in range(LANES):
            sums[j] = total[j]
        return
    for j in range(count):
        sums[j] = 0.0
    for e in range(start, stop):
        weight = <floating> weights[e] if weighted else <floating> 1.0
        for j in range(count):
            sums[j] += weight * x[columns[e], lane + j]
