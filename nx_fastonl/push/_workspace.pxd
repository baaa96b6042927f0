"""Scratch memory of a push."""

cimport cython

from nx_fastonl._lib.typedefs cimport node_t

cdef struct Cell:
    double residual
    # A node is active while |residual| >= threshold. +inf while it waits in the queue. Until it is first touched 0, or
    # where thresholds are known, minus its threshold.
    double threshold


@cython.final
cdef class Workspace:
    cdef Cell[::1] cells
    cdef double[::1] estimate
    # A ring that holds each node at most once, with a slot more: one is written before it is known whether its node is
    # active.
    cdef node_t[::1] queue
    # Every node whose residual was ever written, so that a reset costs no more than the push did; with a slot more, as
    # one is written before it is known whether its node is listed already.
    cdef node_t[::1] touched
    cdef Py_ssize_t n_touched
    cdef readonly bint thresholds_known
    cdef object _residuals, _touched  # numpy's views of the same memory


cdef void clear(Workspace work) noexcept nogil
