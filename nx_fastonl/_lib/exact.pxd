"""Sums of doubles that keep what rounding takes from them: for small differences of large sums."""

cdef enum:
    # Doubles have bits in 2,098 places. No two parts have bits in the same places, so there are never more of them.
    MAX_PARTS = 2100


# The exact sum of all terms so far. Mostly, it has one to three parts.
cdef struct ExactSum:
    double[MAX_PARTS] parts
    Py_ssize_t n_parts


cdef inline void add(ExactSum* total, double term) noexcept nogil:
    """Add a term. What rounding takes from a sum of two becomes a part of its own.

    J. R. Shewchuk: Adaptive precision floating-point arithmetic and fast robust geometric predicates. 1997.
    """
    # Invariant: the sum is that of the parts and `term`. The parts grow, and do not overlap.
    cdef Py_ssize_t i, count = 0
    cdef double part, high, added
    for i in range(total.n_parts):
        part = total.parts[i]
        high = term + part
        added = high - term
        total.parts[count] = (term - (high - added)) + (part - added)  # exact, whichever is larger
        count += total.parts[count] != 0.0
        term = high
    total.parts[count] = term
    total.n_parts = count + (term != 0.0)


cdef inline void add_exactly(double term, double* total, double* lost) noexcept nogil:
    """Add a term to a total, and what rounding takes from the total to `lost`: Knuth's sum of two numbers.

    A sum of n terms, with what it lost, is off by at most n * n * DBL_EPSILON**2 times the sum of their magnitudes.
    """
    cdef double before = total[0], added
    total[0] = before + term
    added = total[0] - before
    lost[0] += (before - (total[0] - added)) + (term - added)


cdef inline double rounded(const ExactSum* total) noexcept nogil:
    """The sum as a double, off by a few units of rounding; 0 only if it is 0."""
    cdef Py_ssize_t i
    cdef double result = 0.0
    for i in range(total.n_parts):
        result += total.parts[i]
    return result
