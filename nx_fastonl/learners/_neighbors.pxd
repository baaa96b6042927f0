"""The labels learned around each node, as compiled loops see them."""

cimport cython
from libc.stdint cimport int32_t, int64_t

from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.graph._view cimport GraphView
from nx_fastonl.learners._history cimport LabelHistory


@cython.final
cdef class NeighborCounts:
    # Each learned node adds its stamp to counts of its label, or times the weight of an edge in units of the mean weight.
    # The stamp is 1, unless counts fade.
    cdef double[::1] labels  # learned nodes of each label
    cdef double[:, ::1] pairs  # edges between learned nodes: [a, b] and [b, a] for labels a and b at their ends
    cdef double[::1] pair_sums  # of the rows of `pairs`
    cdef double[:, ::1] cells  # learned nodes of each label in each cell of degrees
    cdef double n_labels  # the sum of `labels`
    # Of each node: how many of its neighbours were learned, and the weight of the edges to them.
    cdef int32_t[::1] learned_neighbors
    cdef double[::1] learned_weight
    # The same weight by label. Labels are stored in blocks: slots[u, block] is a row of `counts`. Row 0 belongs to no node.
    cdef int32_t[:, ::1] slots
    cdef double[:, ::1] counts
    cdef readonly int64_t n_slots
    cdef readonly double unit  # the mean weight
    cdef readonly double half_life  # in arrivals, after which a node counts half as much; infinite if nothing fades
    cdef int64_t base  # the arrival whose stamp is 1
    cdef object _slots, _learned_neighbors, _learned_weight  # the same memory, as numpy sees it


cdef int cell_of(GraphView graph, node_t u) noexcept nogil
cdef double stamp_of(NeighborCounts store, int64_t arrival) noexcept nogil
cdef void rebase(NeighborCounts store, int64_t arrival) noexcept nogil
cdef int reserve_for(NeighborCounts store, GraphView graph, node_t u) except -1 nogil
cdef void count(
    NeighborCounts store, GraphView graph, LabelHistory history, node_t u, Py_ssize_t y, double sign,
) noexcept nogil
cdef void read_counts(NeighborCounts store, node_t u, Py_ssize_t k, double[::1] row) noexcept nogil
