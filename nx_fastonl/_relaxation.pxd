"""What other compiled loops use of the learner's arithmetic."""

from libc.stdint cimport int32_t, int64_t

# What is kept of a node: s times its gradient. Mostly that has one entry, else it is a row of an array apart.
cdef struct Mark:
    double entry
    int32_t label
    int32_t row  # 0: none

# What the learner's confidence is made of.
cdef struct Totals:
    double A
    double spent  # the part of the trace that learned nodes have used
    double trace  # T_1, or T_1 / k if per_label
    bint per_label


cdef void to_psi(const double* scores, Py_ssize_t k, double diagonal, const Totals* totals, double* psi) noexcept nogil

cdef Py_ssize_t best_label(
    const double* scores, Py_ssize_t k, const int64_t* counts, const int64_t* appearances
) noexcept nogil

cdef Py_ssize_t drawn_label(const double* psi, Py_ssize_t k, double draw, double* scratch) noexcept nogil

cdef Mark keep_gradient(
    const double* scores, const double* psi, Py_ssize_t k, Py_ssize_t y, double diagonal, double s, double* scratch,
    double* row, int32_t row_number, double* gradient_sum, Totals* totals
) noexcept nogil


cdef inline void add_gradient(
    double* scores, Py_ssize_t k, double value, const Mark* mark, const double[:, ::1] rows,
) noexcept nogil:
    """Add value times what is kept of a node. Labels or rows beyond the end were added by a thread meanwhile."""
    cdef Py_ssize_t j
    if mark.row == 0:
        if mark.label < k:
            scores[mark.label] += value * mark.entry
    elif mark.row < rows.shape[0]:
        for j in range(k):
            scores[j] += value * rows[mark.row, j]
