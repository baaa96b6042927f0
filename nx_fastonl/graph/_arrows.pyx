"""The rows of W + W^T, and which way each of their edges points."""

import numpy as np

from nx_fastonl._lib.typedefs cimport node_t, offset_t
from nx_fastonl.graph._edges cimport transpose


cdef class ArrowView:
    """Which way the edges of W + W^T point: arrays that are shared and never changed."""

    def __init__(self, codes, out_weights, in_weights, out_degrees, in_degrees):
        self.codes, self.out_weights, self.in_weights = codes, out_weights, in_weights
        self.out_degrees, self.in_degrees = out_degrees, in_degrees


def both_ways(const offset_t[::1] indptr, const node_t[::1] indices, weights):
    """The rows of W + W^T from those of W: indptr, indices, codes, and the weights of arcs out and in.

    A row lists the nodes that its node points to, in the order given, and then the others that point to it. The weights
    are empty where W has none.
    """
    cdef Py_ssize_t n = indptr.shape[0] - 1, u, e, at, size = 0
    cdef const double[::1] values = np.empty(0) if weights is None else weights
    cdef bint weighted = values.shape[0] > 0
    cdef offset_t[::1] starts = np.zeros(n + 1, dtype=np.int64), reached = np.zeros(n, dtype=np.int64)
    cdef node_t[::1] sources = np.empty(indices.shape[0], dtype=np.int32)
    cdef double[::1] source_weights = np.empty(values.shape[0])
    cdef offset_t[::1] place = np.full(n, -1, dtype=np.int64)  # where the present row lists each node
    with nogil:
        transpose(indptr, indices, values, starts, reached, sources, source_weights)
        for u in range(n):
            size += indptr[u + 1] - indptr[u]
            for e in range(indptr[u], indptr[u + 1]):
                place[indices[e]] = u
            for e in range(starts[u], starts[u + 1]):
                size += place[sources[e]] != u
    offsets_array, joined_array = np.zeros(n + 1, dtype=np.int64), np.empty(size, dtype=np.int32)
    codes_array = np.zeros(size, dtype=np.uint8)
    out_array, in_array = (np.zeros(size if weighted else 0) for _ in range(2))
    cdef offset_t[::1] offsets = offsets_array
    cdef node_t[::1] joined = joined_array
    cdef unsigned char[::1] codes = codes_array
    cdef double[::1] out_weights = out_array, in_weights = in_array
    with nogil:
        size = 0
        place[:] = -1
        for u in range(n):
            for e in range(indptr[u], indptr[u + 1]):
                place[indices[e]] = size
                joined[size], codes[size] = indices[e], OUT
                if weighted:
                    out_weights[size] = values[e]
                size += 1
            for e in range(starts[u], starts[u + 1]):
                at = place[sources[e]]
                if at < offsets[u]:
                    at = size
                    joined[at] = sources[e]
                    size += 1
                codes[at] |= IN
                if weighted:
                    in_weights[at] = source_weights[e]
            offsets[u + 1] = size
    return offsets_array, joined_array, codes_array, out_array, in_array


def count_arcs(const offset_t[::1] indptr, const unsigned char[::1] codes):
    """How many nodes each node points to, and how many point to it."""
    cdef Py_ssize_t u, e
    out_degrees, in_degrees = (np.zeros(indptr.shape[0] - 1, dtype=np.int32) for _ in range(2))
    cdef node_t[::1] outward = out_degrees, inward = in_degrees
    with nogil:
        for u in range(outward.shape[0]):
            for e in range(indptr[u], indptr[u + 1]):
                outward[u] += (codes[e] & OUT) != 0
                inward[u] += (codes[e] & IN) != 0
    return out_degrees, in_degrees
