"""Which nodes may be in an answer, as compiled loops see it."""

cimport cython

from nx_fastonl._lib.typedefs cimport node_t


@cython.final
cdef class NodeFilter:
    # One for each node; or none at all, where every node may be in the answer.
    cdef const unsigned char[::1] marks
    cdef unsigned char allowed_mark
    cdef readonly bint exclude_neighbors


cdef inline bint is_allowed(NodeFilter node_filter, node_t u) noexcept nogil:
    return node_filter.marks.shape[0] == 0 or node_filter.marks[u] == node_filter.allowed_mark
