"""What an engine of the online loop provides."""

from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.learners._relaxation cimport Evidence, GradientStore, ScoreBuffers


cdef class Engine:
    cdef GradientStore gradients

    cdef int read(self, node_t u, Py_ssize_t k, ScoreBuffers buffers, Evidence* evidence) except -1 nogil
    cdef int reserve(self) except -1 nogil
    cdef void add(self, node_t u, Py_ssize_t k, ScoreBuffers buffers) noexcept nogil
    cdef int settle(self, node_t u, Py_ssize_t k, ScoreBuffers buffers) except -1 nogil
