"""Which labels were learned, as compiled loops see it."""

cimport cython
from libc.stdint cimport int32_t, int64_t

from nx_fastonl._lib.typedefs cimport node_t

# Scores that differ by less than this fraction of what they were summed from differ by rounding only: a tie.
cdef double TIE_TOLERANCE


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
    cdef public int64_t n_removals  # of nodes of the graph, whose labels were forgotten


cdef void record_label(LabelHistory history, node_t u, Py_ssize_t y) noexcept nogil
cdef void drop_label(LabelHistory history, node_t u) noexcept nogil


cdef inline Py_ssize_t best_label(
    const double[::1] scores, Py_ssize_t k, double magnitude, const int64_t[::1] counts, const int64_t[::1] first_seen,
) noexcept nogil:
    """The label of the least score; of several, the one seen most often, then the one seen first.

    `magnitude` is the largest that the scores were summed from.
    """
    cdef Py_ssize_t j, best = -1
    cdef double least = scores[0]
    for j in range(k):
        least = min(least, scores[j])
    for j in range(k):
        if scores[j] <= least + TIE_TOLERANCE * magnitude and (
            best < 0 or counts[j] > counts[best]
            or (counts[j] == counts[best] and first_seen[j] < first_seen[best])
        ):
            best = j
    return best
