"""What compiled loops see of a linear system H z = b, H = diag(pivot) - W."""

cimport cython

from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.graph._view cimport GraphView


@cython.final
cdef class SystemView(GraphView):
    # pivot = shift + slope * diagonal; where `diagonal` is empty, the number of neighbours stands for it.
    cdef const double[::1] diagonal
    cdef double shift
    cdef double slope


cdef inline double diagonal_of(SystemView system, node_t u, Py_ssize_t neighbours) noexcept nogil:
    return system.diagonal[u] if system.diagonal.shape[0] > 0 else <double> neighbours


cdef inline double pivot_of(SystemView system, node_t u, Py_ssize_t neighbours) noexcept nogil:
    # An empty row (no edge, no shift) reads `1 * estimate == source`.
    cdef double pivot = system.shift + system.slope * diagonal_of(system, u, neighbours)
    return pivot if pivot != 0.0 else 1.0
