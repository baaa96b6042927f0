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
    int64_t next_check  # how many operations and pushes there may be before the next look at pending signals


cdef inline double limit_of(Py_ssize_t neighbours, System* system) noexcept nogil:
    # Never 0, which marks an untouched node. A node without out-edges is settled by one push: any mass makes it active.
    return max(system.epsilon * neighbours, DBL_MIN)


cdef inline double degree_of(const double[::1] degrees, node_t u, Py_ssize_t neighbours) noexcept nogil:
    # Without weights the degree is the number of neighbours, and no array of degrees is passed.
    return degrees[u] if degrees.shape[0] > 0 else <double> neighbours


cdef inline double pivot_of(double degree, System* system) noexcept nogil:
    # An empty row (no edge, no shift) reads `1 * estimate == source`.
    cdef double pivot = system.shift + system.slope * degree
    return pivot if pivot != 0.0 else 1.0


cdef int look_at_signals(Counters* count) except -1 nogil


cdef inline int check_signals(Counters* count) except -1 nogil:
    """Look at pending signals from time to time: Ctrl-C must work."""
    if count.operations + count.pushes >= count.next_check:
        look_at_signals(count)
    return 0


cdef int push_out(
    const offset_t[::1] indptr, const node_t[::1] indices, const double[::1] weights, const double[::1] degrees,
    Cell[::1] cells, double[::1] estimate, node_t[::1] queue, node_t[::1] touched, node_t source,
    bint at_least_once, int64_t most_edges, System* system, Counters* count,
) except -1 nogil
