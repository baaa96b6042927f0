"""Which labels were learned, as compiled loops see it."""

cimport cython
from libc.stdint cimport int32_t, int64_t

from nx_fastonl._lib.typedefs cimport node_t


@cython.final
cdef class LabelHistory:
    cdef readonly Py_ssize_t k  # labels known
    cdef readonly int64_t n_learned  # nodes
    cdef readonly int64_t n_arrivals  # nodes, those that were forgotten included
    # Both have room for at least k labels.
    cdef int64_t[::1] counts  # how many nodes have each label
    cdef int64_t[::1] first_seen  # how many nodes had arrived when the label was first seen
    # An entry for each node, 0 for those that were not learned.
    cdef int32_t[::1] marks  # the label plus 1
    cdef int64_t[::1] arrivals  # how many nodes had arrived when this one did
    cdef object _marks, _arrivals  # the same memory, as numpy sees it


cdef void record_label(LabelHistory history, node_t u, Py_ssize_t y) noexcept nogil
cdef void drop_label(LabelHistory history, node_t u) noexcept nogil
