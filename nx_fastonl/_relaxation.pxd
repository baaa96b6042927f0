"""What other compiled loops use of the learner's arithmetic."""

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t

# What is kept of a node: s times its gradient. Mostly that has one entry, -s at its label, else it is a row of an
# array apart, whose entries are at most s.
cdef struct Mark:
    double s  # 0: nothing is kept
    int32_t label
    int32_t row  # 0: none

# What the learner's confidence is made of: the paper's A is `squares - ones / k`, as -e_y is kept for 1 / k - e_y.
cdef struct Totals:
    double squares  # the sum of M[i, j] times the product of what is kept of i and j
    double ones  # the sum of M[i, j] over nodes with one entry
    double spent  # the part of the trace that learned nodes have used
    double trace  # T_1, or T_1 / k if per_label
    bint per_label

# What is known of the labels in the middle of a stream.
cdef struct Census:
    Py_ssize_t k
    int64_t learned  # nodes
    int64_t* counts  # how often each label was learned
    int64_t* appearances  # how many nodes had been learned when it first was


cdef Mark predict_and_keep(
    double* scores, double size, double diagonal, double s, Py_ssize_t y, double draw, double* scratch,
    double* row, int32_t row_number, double* gradient_sum, Totals* totals, Census* census, int32_t* predicted
) noexcept nogil


cdef inline double add_gradient(
    double* scores, Py_ssize_t k, double value, const Mark* mark, const double[:, ::1] rows,
) noexcept nogil:
    """Add value times what is kept of a node; return the most that any score can have changed by.

    Labels or rows beyond the end were added by another thread meanwhile.
    """
    cdef Py_ssize_t j
    if mark.row == 0:
        if mark.label < k:
            scores[mark.label] -= value * mark.s
    elif mark.row < rows.shape[0]:
        for j in range(k):
            scores[j] += value * rows[mark.row, j]
    return fabs(value * mark.s)
