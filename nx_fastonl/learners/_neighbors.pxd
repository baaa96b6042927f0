"""The labels learned around each node, as compiled loops see them."""

cimport cython
from libc.stdint cimport int32_t, int64_t

from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.graph._view cimport GraphView
from nx_fastonl.learners._history cimport LabelHistory


# Edges as they are, and arcs from and to a node. Where edges point nowhere, there is only the first view.
cdef enum:
    ALL_EDGES = 0
    OUT_ARCS = 1
    IN_ARCS = 2
    N_VIEWS = 3

cdef enum:
    LANES = 8  # the most labels of a block: a cache line


@cython.final
cdef class NeighborCounts:
    # Each learned node adds its stamp to counts of its label, or times the weight of an edge in units of the mean weight.
    # The stamp is 1, unless counts fade.
    cdef double[::1] labels  # learned nodes of each label
    cdef double n_labels  # the sum of `labels`
    # Edges between learned nodes, of each view: [j, y] for those of nodes with label y that lead to label j, by weight.
    cdef double[:, :, ::1] pairs
    cdef double[:, ::1] pair_sums  # over j
    cdef double[:, :, ::1] cells  # of each view: learned nodes of each label in each cell of degrees
    cdef signed char[:, ::1] node_cells  # of each learned node and view: the cell that it is counted in
    # Of each node and view: how many of its neighbours were learned.
    cdef int32_t[:, ::1] learned_neighbors
    # The weight of edges to them, of each node and side. There is one side, or one for arcs out and one for arcs in.
    cdef double[:, ::1] learned_weight
    # The same weight by label. Labels are stored in blocks: slots[u, side, block] is a row of `counts`. Row 0 is zero.
    cdef int32_t[:, :, ::1] slots
    cdef double[:, ::1] counts
    cdef readonly int64_t n_slots
    cdef readonly double unit  # the mean weight of what is counted on a side
    cdef readonly double scale  # of the sum over both sides, so that it is in units of the mean weight of an edge
    cdef readonly double half_life  # in arrivals, after which a node counts half as much; infinite if nothing fades
    cdef int64_t base  # the arrival whose stamp is 1
    cdef object _slots, _learned_neighbors, _learned_weight, _node_cells  # the same memory, as numpy sees it
    cdef public int64_t position  # in the log of the graph's changes, up to which the counts are right


cdef int cell_of(GraphView graph, node_t u, int view) noexcept nogil
cdef double stamp_of(NeighborCounts store, int64_t arrival) noexcept nogil
cdef void rebase(NeighborCounts store, int64_t arrival) noexcept nogil
cdef int reserve_for(NeighborCounts store, GraphView graph, node_t u) except -1 nogil
cdef void count(
    NeighborCounts store, GraphView graph, LabelHistory history, node_t u, Py_ssize_t y, double sign,
) noexcept nogil
cdef void read_counts(NeighborCounts store, node_t u, Py_ssize_t k, int view, double[::1] row) noexcept nogil
