"""What other compiled loops use of the push."""

from libc.float cimport DBL_MIN
from libc.stdint cimport int64_t

from nx_fastonl._typedefs cimport node_t, offset_t

cdef enum:
    # Edges walked between two looks at pending signals: some ten milliseconds.
    EDGES_PER_SIGNAL_CHECK = 1 << 20

cdef struct Cell:
    double residual
    double limit  # +inf while the node waits in the queue; until first touched 0, or minus the limit if that is known

# A node is active while |residual| >= epsilon * neighbours; its pivot is shift + slope * degree.
cdef struct System:
    double epsilon
    double shift
    double slope
    bint limits_known

cdef struct Ring:
    Py_ssize_t head
    Py_ssize_t tail
    Py_ssize_t left  # nodes of the current epoch still to be pushed

cdef struct Counters:
    Py_ssize_t touched
    int64_t operations
    int64_t pushes
    int64_t epochs
    double decay  # sum over epochs of decay_of()


cdef inline double limit_of(Py_ssize_t neighbours, System* system) noexcept nogil:
    # Never 0, which marks an untouched node. A node without out-edges is settled by one push: any mass makes it active.
    return max(system.epsilon * neighbours, DBL_MIN)


cdef inline void next_epoch(Ring* ring, Py_ssize_t slots) noexcept nogil:
    """All that is in the queue now makes the next epoch."""
    ring.left = ring.tail - ring.head
    if ring.left < 0:
        ring.left += slots


cdef void push_epoch(
    const offset_t[::1] indptr, const node_t[::1] indices, const double[::1] weights, const double[::1] degrees,
    Cell[::1] cells, double[::1] estimate, node_t[::1] queue, node_t[::1] touched,
    System* system, int64_t edges, Ring* ring, Counters* count,
) noexcept nogil
