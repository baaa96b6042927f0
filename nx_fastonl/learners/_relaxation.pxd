"""What other compiled loops use of the learner's arithmetic."""

cimport cython
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t

from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.learners._history cimport LabelHistory
from nx_fastonl.learners._stream cimport Engine

# What is stored of a node: s times its gradient. Mostly that has one entry, -s at its label; otherwise it is a row of
# `dense`, whose entries are at most s.
cdef struct StoredGradient:
    double s  # 0: nothing is stored
    int32_t label  # that was learned
    int32_t dense  # its row; 0: one entry

# What a learner stores of a node.
cdef enum GradientKind:
    NO_GRADIENT
    ONE_ENTRY  # -e_y
    SEVERAL_ENTRIES  # `gradient` of the buffers

# What a prediction at a node u depends on, beside its scores.
cdef struct Evidence:
    double s  # s_u
    double diagonal  # M[u, u]
    double magnitude  # the largest magnitude that the scores were summed from


@cython.final
cdef class ScoreBuffers:
    # Numbers for each label, of one node.
    cdef double[::1] scores  # v = G @ M[:, u], smaller for better labels
    cdef double[::1] psi
    cdef double[::1] sorted
    cdef double[::1] gradient
    cdef double[::1] change  # of what is stored of the node
    cdef double old_size, new_size  # the largest magnitude of what was and is stored of it


@cython.final
cdef class GradientStore:
    cdef StoredGradient[::1] stored  # one per node
    cdef object _stored  # the same memory, as numpy sees it
    cdef double[::1] diagonals  # M[u, u] / unit of each node u whose gradient is stored, as it was known then
    cdef readonly double unit  # what all entries of M are multiples of
    cdef double[:, ::1] dense  # row 0 belongs to no node and is all zero
    cdef Py_ssize_t n_dense  # rows of `dense` that were ever used
    cdef int32_t[::1] free  # rows of `dense` that are free again: the first n_free entries
    cdef Py_ssize_t n_free
    cdef double[::1] total  # the sum of all gradients, without their s
    cdef readonly int64_t position  # in the log of the graph's changes, up to which `s` is right
    cdef readonly double constant  # added to every entry of M
    # The paper's A is energy - single_energy / k, as -e_y is stored for 1 / k - e_y.
    cdef readonly double energy  # the sum of M[i, j] g_i g_j over the stored gradients
    cdef readonly double single_energy  # the sum of M[i, j] over the nodes whose gradient has one entry
    cdef readonly double used_trace  # the sum of M[i, i] over the nodes whose gradient is stored
    cdef readonly double trace  # T_1, or T_1 / k if trace_per_label
    cdef readonly bint trace_per_label
    # Nodes, labels and s of independent gradients that are not in the three sums yet; None mostly.
    cdef readonly object unfinished


cdef double rescale_gradient(GradientStore store, node_t u, double s) noexcept nogil


cdef class RelaxationEngine(Engine):
    cdef GradientStore gradients
    # Of the node read.
    cdef ScoreBuffers buffers
    cdef Evidence evidence
    cdef bint independent

    cdef GradientKind find_gradient(self, Py_ssize_t k, Py_ssize_t y) noexcept nogil
    cdef void add(self, node_t u, Py_ssize_t k) noexcept nogil


cdef void store_independent(
    GradientStore store, LabelHistory history, const node_t[::1] nodes, const int32_t[::1] labels, const double[::1] s,
) noexcept nogil


cdef inline double add_gradient(
    double[::1] scores, const StoredGradient[::1] stored, const double[:, ::1] dense, Py_ssize_t k, node_t u,
    double value,
) noexcept nogil:
    """Add value times what is stored of node u to the scores; return the most that any score can have changed by.

    Labels or rows of `dense` beyond the end are skipped: another thread has just added them.
    """
    cdef Py_ssize_t j
    if stored[u].dense == 0:
        if stored[u].label < k:
            scores[stored[u].label] -= value * stored[u].s
    elif stored[u].dense < dense.shape[0]:
        for j in range(k):
            scores[j] += value * dense[stored[u].dense, j]
    return fabs(value * stored[u].s)
