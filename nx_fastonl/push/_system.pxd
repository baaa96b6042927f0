"""What compiled loops see of a linear system H z = b, H = diag(pivot) - W."""

cimport cython

from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.graph._view cimport GraphView


@cython.final
cdef class SystemView(GraphView):
    # pivot = shift + slope * diagonal; where `diagonal` is empty, it is the number of neighbours.
    cdef const double[::1] diagonal
    cdef double shift
    cdef double slope


cdef inline double diagonal_of(SystemView system, node_t u, Py_ssize_t neighbours) noexcept nogil:
    return system.diagonal[u] if system.diagonal.shape[0] > 0 else <double> neighbours


cdef inline double pivot_of(SystemView system, node_t u, Py_ssize_t neighbours) noexcept nogil:
    # A node without edges, where the shift is 0, has the equation `1 * estimate == source`.
    cdef double pivot = system.shift + system.slope * diagonal_of(system, u, neighbours)
    return pivot if pivot != 0.0 else 1.0


cdef inline double pivot_at(SystemView system, double degree) noexcept nogil:
    """The pivot of a node of this degree, where the diagonal is the degrees."""
    cdef double pivot = system.shift + system.slope * degree
    return pivot if pivot != 0.0 else 1.0


cdef inline double degree_of(SystemView system, node_t u) noexcept nogil:
    return system.degrees[u] if system.degrees.shape[0] > 0 else <double> (system.stops[u] - system.starts[u])
