cimport cython
from libc.stdint cimport int64_t, uint64_t

from nx_fastonl._lib.typedefs cimport node_t, offset_t


@cython.final
cdef class TextTable:
    cdef unsigned char[::1] data
    cdef offset_t[::1] offsets
    cdef node_t[::1] slots
    cdef Py_ssize_t n
    cdef readonly uint64_t seed

    cdef node_t find(self, const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t stop) noexcept nogil
    cdef node_t number(self, const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t stop) except -1 nogil
    cdef int make_room(self, Py_ssize_t size) except -1 nogil


@cython.final
cdef class IntegerTable:
    cdef int64_t[::1] values
    cdef node_t[::1] slots
    cdef Py_ssize_t n
    cdef readonly uint64_t seed

    cdef node_t number(self, int64_t value) except -1 nogil
    cdef int make_room(self) except -1 nogil


@cython.final
cdef class ObjectTable:
    cdef readonly dict names
    cdef dict plain  # the rows of texts and integers, which are in neither of the next two
    cdef dict hashes  # by row
    cdef dict rows  # by hash: a row, or a tuple of several

    cdef bint is_at(self, row, name) except -1
