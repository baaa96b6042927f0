"""What an engine of the online loop provides."""

from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.learners._history cimport LabelHistory


cdef class Engine:
    cdef LabelHistory history

    cdef int read(self, node_t u, Py_ssize_t k) except -1 nogil
    cdef Py_ssize_t predict(self, double draw) noexcept nogil
    cdef int reserve(self, node_t u) except -1 nogil
    cdef void learn(self, node_t u, Py_ssize_t y) noexcept nogil
    cdef void forget(self, node_t u) noexcept nogil
    cdef int settle(self, node_t u) except -1 nogil
