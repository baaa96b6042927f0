"""What makes rows of a matrix, each from one push."""

cimport cython
from libc.stdint cimport int64_t

from nx_fastonl._lib.typedefs cimport node_t, offset_t
from nx_fastonl.push._filter cimport NodeFilter
from nx_fastonl.push._system cimport SystemView
from nx_fastonl.push._workspace cimport Workspace


@cython.final
cdef class RowBlock:
    # The columns of row i, in ascending order, are columns[offsets[i]:offsets[i + 1]]; values are parallel to them.
    cdef offset_t[::1] offsets
    cdef node_t[::1] columns
    cdef double[::1] values
    cdef double[::1] errors
    cdef readonly Py_ssize_t n_rows

    cdef int check_room(self, Py_ssize_t n_rows) except -1


@cython.final
cdef class RowPlan:
    cdef double epsilon
    cdef double first_epsilon_factor
    cdef double omega
    cdef double target
    cdef int64_t max_operations
    cdef readonly Py_ssize_t top_k
    cdef NodeFilter allowed
    cdef const unsigned char[::1] cancelled


cdef bint push_row(SystemView system, Workspace work, RowPlan plan, node_t source, int64_t* operations) except -1 nogil

cdef Py_ssize_t gather_pushed(Workspace work, double* mass) noexcept nogil

cdef int pack_row(
    RowBlock block, Workspace work, Py_ssize_t n_pushed, Py_ssize_t top_k, double error,
) except -1 nogil
