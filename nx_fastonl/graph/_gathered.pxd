"""Edges as they are read from a file."""

cimport cython
from libc.stdint cimport INT32_MAX, int64_t

from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.graph._names cimport IntegerTable, TextTable

cdef enum Level:
    # What names have been so far: integers from 0 to 2**31 - 2, stored as they are; others of 64 bits; any texts.
    SMALL, WIDE, TEXT


cdef struct Name:
    Py_ssize_t start, stop  # where it stands in its text
    int64_t value
    bint is_integer


cdef inline bint is_small(Name name) noexcept nogil:
    return name.is_integer and 0 <= name.value < INT32_MAX


cdef bint parse_integer(
    const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t stop, int64_t* value,
) noexcept nogil


@cython.final
cdef class GatheredEdges:
    cdef Py_ssize_t chunk_size
    cdef list full_chunks
    cdef node_t[::1] sources
    cdef node_t[::1] targets
    cdef double[::1] weights
    cdef Py_ssize_t filled
    cdef bint is_weighted
    cdef Level level
    cdef node_t largest
    cdef list further
    cdef IntegerTable integers
    cdef TextTable texts
    cdef readonly Py_ssize_t count

    cdef int add_small(self, node_t source, node_t target, double weight) except -1 nogil
    cdef int add(
        self, const unsigned char[::1] source_text, Name source, const unsigned char[::1] target_text, Name target,
        double weight,
    ) except -1 nogil
    cdef node_t number(self, const unsigned char[::1] text, Name name) except -1 nogil
    cdef int raise_level(self, Level level) except -1 nogil
    cdef int begin_chunk(self) except -1 nogil
