"""The paper's online loop: for each arriving node a push, its score, a prediction, and what is kept of its label."""

from libc.math cimport fabs
from libc.stdint cimport INT64_MAX, int32_t, int64_t

import numpy as np

from nx_fastonl._prefetch cimport prefetch
from nx_fastonl._push cimport EDGES_PER_SIGNAL_CHECK, Cell, Counters, System, push_out
from nx_fastonl._relaxation cimport Census, Mark, Totals, add_gradient, predict_and_keep
from nx_fastonl._typedefs cimport node_t, offset_t

# How far ahead in the list of touched nodes their memory is asked for.
cdef Py_ssize_t NODES_AHEAD = 8


# Between two nodes of the stream every cell holds residual 0 and the limit of an untouched node, and every estimate is 0.

cdef double take_scores(
    Cell[::1] cells, double[::1] estimate, const node_t[::1] touched, Py_ssize_t n_touched,
    const Mark[::1] marks, const double[:, ::1] gradients, double* scores, Py_ssize_t k, bint limits_known,
) noexcept nogil:
    """Sum the gradients of the touched nodes, weighted by their estimates, and clear up; return the magnitude."""
    cdef double size = 0.0
    cdef Py_ssize_t i
    cdef node_t v
    for i in range(k):
        scores[i] = 0.0
    for i in range(n_touched):
        if i + NODES_AHEAD < n_touched:
            v = touched[i + NODES_AHEAD]
            prefetch(&marks[v])
            prefetch(&estimate[v])
            prefetch(&cells[v])
        v = touched[i]
        size += add_gradient(scores, k, estimate[v], &marks[v], gradients)
        estimate[v] = 0.0
        cells[v].residual = 0.0
        cells[v].limit = -fabs(cells[v].limit) if limits_known else 0.0
    return size


def run(
    const offset_t[::1] indptr, const node_t[::1] indices, const double[::1] weights, const double[::1] diagonal,
    Cell[::1] cells, double[::1] estimate, node_t[::1] queue, node_t[::1] touched,
    Mark[::1] marks, double[:, ::1] gradients, double[::1] gradient_sum, Totals totals,
    int64_t[::1] counts, int64_t[::1] appearances,
    const node_t[::1] rows, const double[::1] scales, const int32_t[::1] labels, const double[::1] draws,
    int32_t[::1] predicted, *,
    double epsilon, double shift, double slope, double a, double constant, Py_ssize_t k, Py_ssize_t n_rows,
    int64_t n_learned, bint limits_known,
):
    """Predict the label of each row, then learn it; return the totals and how many rows of `gradients` are in use.

    Labels are counted in the order of their appearance: one beyond the first `k` joins when it is learned, and -1 is
    predicted while there is none. Without `draws` the best label is predicted, else one drawn from the distribution.
    The first `n_rows` of `gradients` are in use; there must be one more for each node. `limits_known` says whether
    untouched cells hold minus their limit, rather than 0.
    """
    cdef System system = System(epsilon, shift, slope, limits_known)
    cdef Counters count = Counters(0, 0, 0, 0, 0.0, EDGES_PER_SIGNAL_CHECK)
    cdef Census census = Census(k, n_learned, &counts[0], &appearances[0])
    cdef double[:, ::1] scratch = np.empty((3, gradient_sum.shape[0]))
    cdef double* scores = &scratch[0, 0]
    cdef double own, factor, size
    cdef Py_ssize_t i, j, lanes
    cdef node_t u
    with nogil:
        for i in range(rows.shape[0]):
            u = rows[i]
            push_out(
                indptr, indices, weights, diagonal, cells, estimate, queue, touched, u, False, INT64_MAX,
                &system, &count,
            )
            lanes = max(census.k, labels[i] + 1)
            factor = a * scales[i]
            own = factor * scales[i] * estimate[u] + constant
            size = factor * take_scores(
                cells, estimate, touched, count.touched, marks, gradients, scores, lanes, limits_known,
            )
            for j in range(lanes):
                scores[j] = factor * scores[j] + constant * gradient_sum[j]
                size = max(size, fabs(constant * gradient_sum[j]))
            marks[u] = predict_and_keep(
                scores, size, own, scales[i], labels[i], draws[i] if draws.shape[0] > 0 else -1.0, &scratch[1, 0],
                &gradients[n_rows, 0], <int32_t> n_rows, &gradient_sum[0], &totals, &census, &predicted[i],
            )
            n_rows += marks[u].row > 0
    return totals, n_rows
