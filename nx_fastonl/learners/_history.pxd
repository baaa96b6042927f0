"""Which labels were learned, as compiled loops see it."""

cimport cython
from libc.stdint cimport int64_t


@cython.final
cdef class LabelHistory:
    cdef readonly Py_ssize_t k  # labels known
    cdef readonly int64_t n_learned  # nodes
    # Both have room for at least k labels.
    cdef int64_t[::1] counts  # how many nodes have each label
    cdef int64_t[::1] first_seen  # how many nodes had been learned when the label was first seen


cdef void count_label(LabelHistory history, Py_ssize_t y, Py_ssize_t old) noexcept nogil
