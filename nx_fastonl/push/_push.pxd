"""What other compiled loops use of the push."""

cimport cython
from libc.stdint cimport int64_t

from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.push._system cimport SystemView
from nx_fastonl.push._workspace cimport Workspace, at_least_smallest

# One push under way. Its queue is the ring work.queue[head], ..., work.queue[tail - 1].
cdef struct PushState:
    double epsilon  # a node is active while |residual| >= epsilon * neighbours
    Py_ssize_t head
    Py_ssize_t tail
    Py_ssize_t left  # nodes of the current epoch still to be pushed
    int64_t operations  # edges walked
    int64_t pushes
    int64_t epochs
    double decay  # sum over epochs of epoch_decay()
    double scale  # where a workspace knows the thresholds: what epsilon is to theirs


# How a push is made, and when it ends.
cdef struct PushPlan:
    double first_epsilon  # of the first round
    double epsilon  # of the last
    double omega  # the over-relaxation of sweeps; 0 for none
    double target  # the residual mass to be reached; 0 for none
    int64_t max_operations
    int64_t max_epochs
    bint measure  # whether to sum up epoch_decay()


@cython.final
cdef class Effort:
    cdef readonly int64_t operations
    cdef readonly int64_t pushes
    cdef readonly int64_t epochs
    cdef readonly double decay
    cdef public int64_t max_operations
    cdef int64_t max_epochs
    cdef const unsigned char[::1] cancelled


cdef PushState new_push(double epsilon) noexcept nogil


cdef inline double threshold_of(Py_ssize_t neighbours, const PushState* state) noexcept nogil:
    # Never 0, which means that a node is untouched. A node without out-edges is active whenever it has mass; one push
    # settles it.
    return at_least_smallest(state.epsilon * neighbours)


cdef void push_once(SystemView system, Workspace work, PushState* state, node_t source) noexcept nogil

cdef bint push_to_target(
    SystemView system, Workspace work, PushState* state, PushPlan* plan, const unsigned char[::1] cancelled,
) except -1 nogil

cdef int push_from(
    SystemView system, Workspace work, PushState* state, node_t source, bint at_least_once, int64_t max_edges,
) except -1 nogil

cdef int push_queue(SystemView system, Workspace work, PushState* state, int64_t max_edges) except -1 nogil

cdef int push_or_replace(
    SystemView system, Workspace work, PushState* state, node_t source, int64_t max_edges, exact_column,
) except -1 nogil

cdef void recompute_residual(
    SystemView system, Workspace work, node_t source, const node_t[::1] nodes, const double[::1] estimate,
    const double[::1] c,
) noexcept nogil
