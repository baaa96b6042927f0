"""The learner's arithmetic over k labels: water-filling, surrogate gradients, ties, and what is kept of a node."""

from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport qsort

import numpy as np

from nx_fastonl._typedefs cimport node_t

# Scores that differ by less than this part of what they were summed from differ by rounding only: a tie.
cdef double ROUNDING = 1e-12


cdef int falling(const void* left, const void* right) noexcept nogil:
    cdef double a = (<const double*> left)[0], b = (<const double*> right)[0]
    return (a < b) - (a > b)


cdef Py_ssize_t water_level(const double* psi, Py_ssize_t k, double* scratch, double* level) noexcept nogil:
    """Find the level with sum(max(psi - level, 0)) == 1; return how many labels rise above it.

    If the m largest rise above it, level = (their sum - 1) / m. Mostly that is all of them, which takes no sorting.
    """
    cdef Py_ssize_t j, m
    cdef double total = 0.0, least = psi[0]
    for j in range(k):
        total += psi[j]
        least = min(least, psi[j])
    level[0] = (total - 1.0) / k
    if least > level[0]:
        return k
    for j in range(k):
        scratch[j] = psi[j]
    qsort(scratch, k, sizeof(double), falling)
    total = 0.0
    m = 0
    while m < k and (m == 0 or scratch[m] > level[0]):
        total += scratch[m]
        m += 1
        level[0] = (total - 1.0) / m
    return m


cdef Py_ssize_t first_of_largest(const double* psi, Py_ssize_t k, Py_ssize_t y) noexcept nogil:
    """The largest entry apart from y; of those that only rounding tells apart, the first."""
    cdef double largest = -INFINITY, size = 0.0
    cdef Py_ssize_t j
    for j in range(k):
        size = max(size, fabs(psi[j]))
        if j != y:
            largest = max(largest, psi[j])
    for j in range(k):
        if j != y and psi[j] >= largest - ROUNDING * size:
            return j
    return y


cdef Py_ssize_t surrogate(
    const double* psi, Py_ssize_t k, Py_ssize_t y, double* scratch, double* gradient, double* loss,
) noexcept nogil:
    """The surrogate loss of label y at psi and its gradient; return how many labels are in the support."""
    cdef double level, step
    cdef Py_ssize_t j, rival
    cdef Py_ssize_t m = water_level(psi, k, scratch, &level)
    if psi[y] > level:
        for j in range(k):
            gradient[j] = 1.0 / m if psi[j] > level else 0.0
        gradient[y] -= 1.0
        loss[0] = 1.0 - (psi[y] - level)
        return m
    for j in range(k):
        gradient[j] = 0.0
    rival = first_of_largest(psi, k, y)
    step = m / (m + 1.0)
    gradient[rival] = step
    gradient[y] = -step
    loss[0] = (1.0 + psi[rival] - psi[y]) * step
    return m


cdef void to_psi(
    const double* scores, Py_ssize_t k, double diagonal, const Totals* totals, double* psi,
) noexcept nogil:
    """psi = -v / sqrt(A + k T), shifted so that the largest is 0.

    An estimate of the trace may run out before the nodes do.
    """
    cdef double trace = max(totals.trace * (k if totals.per_label else 1) - totals.spent, 0.0)
    cdef double scale = max(totals.squares - totals.ones / k + k * trace, diagonal)
    cdef double factor = 1.0 / sqrt(scale) if scale > 0.0 else 0.0
    cdef double least = scores[0]
    cdef Py_ssize_t j
    for j in range(k):
        least = min(least, scores[j])
    for j in range(k):
        psi[j] = factor * (least - scores[j])


cdef Py_ssize_t best_label(
    const double* scores, Py_ssize_t k, double size, const int64_t* counts, const int64_t* appearances,
) noexcept nogil:
    """The label of the least score; of several, the one seen most often, then the one that appeared first.

    `size` is the largest magnitude that the scores were summed from.
    """
    cdef Py_ssize_t j, best = -1
    cdef double least = scores[0]
    for j in range(k):
        least = min(least, scores[j])
    for j in range(k):
        if scores[j] <= least + ROUNDING * size and (
            best < 0 or counts[j] > counts[best]
            or (counts[j] == counts[best] and appearances[j] < appearances[best])
        ):
            best = j
    return best


cdef Py_ssize_t drawn_label(const double* psi, Py_ssize_t k, double draw, double* scratch) noexcept nogil:
    """The label at the part `draw` of the probabilities laid end to end."""
    cdef double level, below = 0.0
    cdef Py_ssize_t j, last = 0
    water_level(psi, k, scratch, &level)
    for j in range(k):
        if psi[j] > level:
            below += psi[j] - level
            last = j
            if draw < below:
                break
    return last


cdef Mark keep_gradient(
    const double* scores, const double* psi, Py_ssize_t k, Py_ssize_t y, double diagonal, double s, double* scratch,
    double* row, int32_t row_number, double* gradient_sum, Totals* totals,
) noexcept nogil:
    """Account for the gradient of label y in the sums; return it times s, which is in `row` unless it has one entry."""
    cdef double loss, along = 0.0, squared = 0.0, total = 0.0
    cdef Py_ssize_t j
    cdef Py_ssize_t support = surrogate(psi, k, y, scratch, row, &loss)
    totals.spent += diagonal
    if support == k:
        # Scores may be shifted, and so may gradients: -e_y says the same as 1 / k - e_y, and goes on to say it when
        # labels join that nobody has seen yet.
        for j in range(k):
            total += scores[j]
        totals.squares += diagonal - 2.0 * scores[y]
        totals.ones += diagonal - 2.0 * total
        gradient_sum[y] -= 1.0
        return Mark(s, <int32_t> y, 0)
    for j in range(k):
        along += row[j] * scores[j]
        squared += row[j] * row[j]
        gradient_sum[j] += row[j]
        row[j] *= s
    totals.squares += diagonal * squared + 2.0 * along
    return Mark(s, 0, row_number)


cdef Mark predict_and_keep(
    double* scores, double size, double diagonal, double s, Py_ssize_t y, double draw, double* scratch,
    double* row, int32_t row_number, double* gradient_sum, Totals* totals, Census* census, int32_t* predicted,
) noexcept nogil:
    """Predict the best label, or the one that `draw` picks unless that is negative, and -1 while there is none.

    Then learn label y, which joins if it is new. `scratch` has room for two numbers a label.
    """
    cdef double* psi = scratch + max(census.k, y + 1)
    predicted[0] = -1
    if census.k > 0 and draw >= 0.0:
        to_psi(scores, census.k, diagonal, totals, psi)
        predicted[0] = <int32_t> drawn_label(psi, census.k, draw, scratch)
    elif census.k > 0:
        predicted[0] = <int32_t> best_label(scores, census.k, size, census.counts, census.appearances)
    census.k = max(census.k, y + 1)
    census.learned += 1
    census.counts[y] += 1
    census.appearances[y] = min(census.appearances[y], census.learned)
    to_psi(scores, census.k, diagonal, totals, psi)
    return keep_gradient(scores, psi, census.k, y, diagonal, s, scratch, row, row_number, gradient_sum, totals)


def fill(const double[::1] psi, double[::1] scratch, double[::1] probabilities):
    """Write max(psi - level, 0), which sums to 1; return the size of the support."""
    cdef Py_ssize_t j, m, k = psi.shape[0]
    cdef double level
    with nogil:
        m = water_level(&psi[0], k, &scratch[0], &level)
        for j in range(k):
            probabilities[j] = max(psi[j] - level, 0.0)
    return m


def gradient(const double[::1] psi, Py_ssize_t y, double[::1] scratch, double[::1] gradient):
    """Write the surrogate gradient; return the loss."""
    cdef double loss
    surrogate(&psi[0], psi.shape[0], y, &scratch[0], &gradient[0], &loss)
    return loss


def psi(const double[::1] scores, double diagonal, Totals totals, double[::1] psi):
    """Write psi = -v / sqrt(A + k T)."""
    to_psi(&scores[0], scores.shape[0], diagonal, &totals, &psi[0])


def keep(
    const double[::1] scores, Py_ssize_t y, double diagonal, double s, double[::1] row, int32_t row_number,
    double[::1] gradient_sum, Totals totals, double[:, ::1] scratch, bint alone,
):
    """Account for the gradient of label y; return what is kept of it, and the totals.

    `alone` takes the gradient where no label is preferred yet, whatever the scores.
    """
    cdef Py_ssize_t j, k = scores.shape[0]
    to_psi(&scores[0], k, diagonal, &totals, &scratch[0, 0])
    if alone:
        for j in range(k):
            scratch[0, j] = 0.0
    cdef Mark mark = keep_gradient(
        &scores[0], &scratch[0, 0], k, y, diagonal, s, &scratch[1, 0], &row[0], row_number, &gradient_sum[0], &totals
    )
    return (mark.s, mark.label, mark.row), totals


def best(const double[::1] scores, double size, const int64_t[::1] counts, const int64_t[::1] appearances):
    """The label of the least score, ties broken by counts and appearances.

    A label that another thread added meanwhile has a score, but no count yet.
    """
    cdef Py_ssize_t k = min(scores.shape[0], counts.shape[0], appearances.shape[0])
    return best_label(&scores[0], k, size, &counts[0], &appearances[0])


def best_of_each(
    const double[:, ::1] scores, const int64_t[::1] counts, const int64_t[::1] appearances, int32_t[::1] found,
):
    """Write the label of the least score in each row, as `best` does; -1 where there is none."""
    cdef Py_ssize_t i, j, k = min(scores.shape[1], counts.shape[0], appearances.shape[0])
    cdef double size
    with nogil:
        for i in range(scores.shape[0]):
            size = 0.0
            for j in range(k):
                size = max(size, fabs(scores[i, j]))
            found[i] = <int32_t> best_label(&scores[i, 0], k, size, &counts[0], &appearances[0]) if k > 0 else -1


def drawn(const double[::1] psi, double draw):
    """The label that `draw`, between 0 and 1, picks from the distribution of psi."""
    cdef double[::1] scratch = np.empty(psi.shape[0])
    return drawn_label(&psi[0], psi.shape[0], draw, &scratch[0])


def add_gradients(
    const node_t[::1] nodes, const double[::1] values, const Mark[::1] marks, const double[:, ::1] rows,
    double[::1] scores,
):
    """Add values[i] times what is kept of nodes[i], over all i; return the sum of their magnitudes."""
    cdef Py_ssize_t i
    cdef double size = 0.0
    with nogil:
        for i in range(nodes.shape[0]):
            size += add_gradient(&scores[0], scores.shape[0], values[i], &marks[nodes[i]], rows)
    return size


def add_to_rows(const node_t[::1] nodes, const double[::1] values, const double[::1] gradient, double[:, ::1] rows):
    """Add values[i] times `gradient` to the row of nodes[i], for all i."""
    cdef Py_ssize_t i, j, k = gradient.shape[0]
    with nogil:
        for i in range(nodes.shape[0]):
            for j in range(k):
                rows[nodes[i], j] += values[i] * gradient[j]
