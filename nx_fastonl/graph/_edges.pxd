"""Rows, turned round."""

from nx_fastonl._lib.typedefs cimport node_t, offset_t


cdef int transpose(
    const offset_t[::1] starts, const node_t[::1] ends, const double[::1] end_weights, offset_t[::1] row_starts,
    offset_t[::1] reached, node_t[::1] rows, double[::1] row_weights,
) except -1 nogil
