"""The paper's engine: for each arriving node a push, and its scores from the gradients of the nodes it reached."""

cimport cython
from libc.math cimport fabs
from libc.stdint cimport int64_t

from nx_fastonl._lib.prefetch cimport prefetch
from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.kernels._scaling cimport Scaling, s_of
from nx_fastonl.learners._history cimport LabelHistory
from nx_fastonl.learners._relaxation cimport (
    Evidence, GradientStore, RelaxationEngine, ScoreBuffers, add_gradient,
)
from nx_fastonl.push._push cimport PushState, new_push, push_or_replace
from nx_fastonl.push._system cimport SystemView
from nx_fastonl.push._workspace cimport Workspace

# How many entries ahead in the list of touched nodes their memory is prefetched.
cdef Py_ssize_t NODES_AHEAD = 8


cdef double sum_gradients(
    GradientStore gradients, Workspace work, ScoreBuffers buffers, Py_ssize_t k,
) noexcept nogil:
    """Sum the touched nodes' gradients, weighted by their estimates; clear the workspace; return the magnitude."""
    cdef double magnitude = 0.0
    cdef Py_ssize_t i
    cdef node_t v
    for i in range(k):
        buffers.scores[i] = 0.0
    for i in range(work.n_touched):
        if i + NODES_AHEAD < work.n_touched:
            v = work.touched[i + NODES_AHEAD]
            prefetch(&gradients.stored[v])
            prefetch(&work.estimate[v])
            prefetch(&work.cells[v])
        v = work.touched[i]
        magnitude += add_gradient(buffers.scores, gradients.stored, gradients.dense, k, v, work.estimate[v])
        work.estimate[v] = 0.0
        work.cells[v].residual = 0.0
        work.cells[v].threshold = -fabs(work.cells[v].threshold) if work.thresholds_known else 0.0
    work.n_touched = 0
    return magnitude


@cython.final
cdef class PushEngine(RelaxationEngine):
    """Scores by a push of mass 1 from each node, down to `epsilon` per neighbour; M is `a` times what it gives.

    Where a push would walk more than `max_edges` edges, ``exact_column(u)`` takes its place, unless that is None.
    """

    cdef SystemView system
    cdef Workspace work
    cdef PushState state
    cdef Scaling scaling
    cdef double a
    cdef int64_t max_edges
    cdef object exact_column

    def __init__(
        self, LabelHistory history, GradientStore gradients, SystemView system, Scaling scaling, Workspace work,
        double epsilon, double a, int64_t max_edges, exact_column,
    ):
        super().__init__(history, gradients)
        self.system, self.scaling, self.work, self.a = system, scaling, work, a
        self.state = new_push(epsilon)
        self.max_edges, self.exact_column = max_edges, exact_column

    cdef int read(self, node_t u, Py_ssize_t k) except -1 nogil:
        cdef double s = s_of(self.scaling, u)
        cdef double factor = self.a * s, constant = self.gradients.constant, diagonal, magnitude, shift
        cdef Py_ssize_t j
        push_or_replace(self.system, self.work, &self.state, u, self.max_edges, self.exact_column)
        diagonal = factor * s * self.work.estimate[u] + constant
        magnitude = factor * sum_gradients(self.gradients, self.work, self.buffers, k)
        for j in range(k):
            shift = constant * self.gradients.total[j]
            self.buffers.scores[j] = factor * self.buffers.scores[j] + shift
            magnitude = max(magnitude, fabs(shift))
        self.evidence = Evidence(s, diagonal, magnitude)
        return 0


@cython.final
cdef class RowEngine(RelaxationEngine):
    """Adds up, for the mean of rows and columns, all learned nodes' columns of M times their gradients.

    `nodes` and `values` are the column of the node that is learned next.
    """

    cdef double[:, ::1] row_scores
    cdef const node_t[::1] nodes
    cdef const double[::1] values

    def __init__(
        self, LabelHistory history, GradientStore gradients, double[:, ::1] row_scores, const node_t[::1] nodes,
        const double[::1] values,
    ):
        super().__init__(history, gradients)
        self.row_scores, self.nodes, self.values = row_scores, nodes, values

    cdef void add(self, node_t u, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t i, j
        for i in range(self.nodes.shape[0]):
            for j in range(k):
                self.row_scores[self.nodes[i], j] += self.values[i] * self.buffers.change[j]
