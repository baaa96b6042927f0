"""Scratch memory of a push."""

cimport cython

from nx_fastonl._lib.typedefs cimport node_t

# No threshold is smaller. Shares of smaller residuals would lose their digits, and pushes might go on for ever.
cdef inline double at_least_smallest(double threshold) noexcept nogil:
    return max(threshold, 1e-200)


cdef struct Cell:
    double residual
    # A node is active while |residual| >= threshold. It is +inf while the node waits in the queue. Before the node is
    # touched it is 0 or, where all thresholds are known, minus the threshold.
    double threshold


@cython.final
cdef class Workspace:
    cdef Cell[::1] cells
    cdef double[::1] estimate
    # A ring that holds each node at most once. It has n + 1 slots, because a node is written before it is known whether
    # it is active.
    cdef node_t[::1] queue
    # Every node whose residual was ever written, so that a reset costs no more than the push did. It has n + 1 slots,
    # because a node is written before it is known whether it is listed already.
    cdef node_t[::1] touched
    cdef readonly Py_ssize_t n_touched
    cdef readonly bint thresholds_known
    cdef object _residuals, _touched  # numpy's views of the same memory


cdef void clear(Workspace work) noexcept nogil
