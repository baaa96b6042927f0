"""One pass over the rows of a graph: no neighbour is listed twice, and undirected rows are symmetric."""

import numpy as np

from nx_fastonl._lib.typedefs cimport node_t, offset_t


cdef bint lists_twice(
    const offset_t[::1] indptr, const node_t[::1] indices, node_t[::1] last_row, bint* is_sorted,
) noexcept nogil:
    """Whether a row lists a neighbour twice; and, if none does, whether all rows are sorted."""
    cdef Py_ssize_t u, e
    for u in range(indptr.shape[0] - 1):
        for e in range(indptr[u], indptr[u + 1]):
            if last_row[indices[e]] == u + 1:
                return True
            last_row[indices[e]] = <node_t> (u + 1)
            if e > indptr[u] and indices[e] < indices[e - 1]:
                is_sorted[0] = False
    return False


cdef bint sorted_rows_match(
    const offset_t[::1] indptr, const node_t[::1] indices, const double[::1] weights, offset_t[::1] reached,
) noexcept nogil:
    """Whether every edge of sorted rows stands in the other row too, with the same weight.

    Rows are visited in order, so row v is asked for its neighbours in order too: each must be the next that it lists.
    """
    cdef Py_ssize_t u, e, back
    cdef node_t v
    cdef bint weighted = weights.shape[0] > 0
    for u in range(indptr.shape[0] - 1):
        reached[u] = indptr[u]
    for u in range(indptr.shape[0] - 1):
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            back = reached[v]
            if back == indptr[v + 1] or indices[back] != u or (weighted and weights[back] != weights[e]):
                return False
            reached[v] = back + 1
    return True


cdef bint transpose(
    const offset_t[::1] indptr, const node_t[::1] indices, const double[::1] weights, offset_t[::1] reached,
    node_t[::1] sources, double[::1] source_weights,
) noexcept nogil:
    """List in place of each row the rows that name it, with the weights; False if a row is named too often.

    There are as many names as places. So if no row is named too often, none is named too seldom.
    """
    cdef Py_ssize_t u, e, at
    for u in range(indptr.shape[0] - 1):
        reached[u] = indptr[u]
    for u in range(indptr.shape[0] - 1):
        for e in range(indptr[u], indptr[u + 1]):
            at = reached[indices[e]]
            if at == indptr[indices[e] + 1]:
                return False
            sources[at] = <node_t> u
            if weights.shape[0] > 0:
                source_weights[at] = weights[e]
            reached[indices[e]] = at + 1
    return True


cdef bint rows_match(
    const offset_t[::1] indptr, const node_t[::1] indices, const double[::1] weights, offset_t[::1] place,
    const node_t[::1] sources, const double[::1] source_weights,
) noexcept nogil:
    """The same for rows in any order; `place` is all zero. Each node's latest place in `sources`, plus 1, is put there."""
    cdef Py_ssize_t u, e, at
    for u in range(indptr.shape[0] - 1):
        for e in range(indptr[u], indptr[u + 1]):
            place[sources[e]] = e + 1
        for e in range(indptr[u], indptr[u + 1]):
            at = place[indices[e]] - 1
            if not (indptr[u] <= at < indptr[u + 1]) or (weights.shape[0] > 0 and source_weights[at] != weights[e]):
                return False
    return True


def find_fault(const offset_t[::1] indptr, const node_t[::1] indices, weights, *, bint symmetric):
    """What is wrong with the rows of a graph: "twice" or "one-sided"; None if all is right."""
    cdef Py_ssize_t n = indptr.shape[0] - 1
    cdef bint is_sorted = True, is_twice, match
    cdef node_t[::1] last_row = np.zeros(n, dtype=np.int32), sources
    cdef const double[::1] values = np.empty(0) if weights is None else weights
    cdef double[::1] source_weights
    cdef offset_t[::1] reached
    with nogil:
        is_twice = lists_twice(indptr, indices, last_row, &is_sorted)
    if is_twice:
        return "twice"
    if not symmetric:
        return None
    reached = np.zeros(n, dtype=np.int64)
    if is_sorted:
        with nogil:
            match = sorted_rows_match(indptr, indices, values, reached)
    else:
        sources, source_weights = np.zeros(indices.shape[0], dtype=np.int32), np.zeros(values.shape[0])
        with nogil:
            match = transpose(indptr, indices, values, reached, sources, source_weights)
            if match:
                reached[:] = 0
                match = rows_match(indptr, indices, values, reached, sources, source_weights)
    return None if match else "one-sided"
