"""Values that are equal up to rounding errors made equal."""

from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcpy

import numpy as np

cdef enum:
    # Values are sorted by their 52 upper bits, 13 at a time: by exponent and 40 bits of the mantissa. Values that agree in
    # these differ by less than 1e-12 of themselves.
    DIGIT_BITS = 13
    SKIPPED_BITS = 12
    DIGITS = 4
    BUCKETS = 1 << DIGIT_BITS

cdef uint64_t NO_SIGN = (<uint64_t> 1 << 63) - 1


def with_ties(const double[::1] values, double gap):
    """Make values equal that differ by at most the fraction `gap`, which must be 1e-12 or more. None may be negative.

    Each group of values gets the first of them, and goes on as long as values are within the gap of that. So no value
    changes by more than the gap.
    """
    cdef Py_ssize_t n = values.shape[0]
    tied = np.empty(n)
    _make_equal(values, gap, np.argsort(values).astype(np.int32) if n < BUCKETS else _sorted(values), tied)
    return tied


def _sorted(const double[::1] values):
    """The order of the values by their upper bits: a radix sort, in time proportional to their number."""
    cdef Py_ssize_t n = values.shape[0], i, bucket, total, count
    cdef int digit, shift
    keys, order, other_order = np.empty(n, np.uint64), np.arange(n, dtype=np.int32), np.empty(n, np.int32)
    cdef uint64_t[::1] key = keys
    cdef int32_t[::1] here = order, there = other_order
    cdef Py_ssize_t[::1] starts = np.empty(BUCKETS, np.intp)
    with nogil:
        for i in range(n):
            memcpy(&key[i], &values[i], sizeof(double))
            key[i] &= NO_SIGN  # -0.0 is 0.0
        for digit in range(DIGITS):
            shift = SKIPPED_BITS + digit * DIGIT_BITS
            starts[:] = 0
            for i in range(n):
                starts[(key[i] >> shift) & (BUCKETS - 1)] += 1
            total = 0
            for bucket in range(BUCKETS):
                count = starts[bucket]
                starts[bucket] = total
                total += count
            for i in range(n):
                bucket = (key[here[i]] >> shift) & (BUCKETS - 1)
                there[starts[bucket]] = here[i]
                starts[bucket] += 1
            here, there = there, here
    return order


cdef void _make_equal(const double[::1] values, double gap, const int32_t[::1] order, double[::1] tied) noexcept:
    cdef Py_ssize_t i
    cdef double shared = 0.0, value
    with nogil:
        for i in range(order.shape[0]):
            value = values[order[i]]
            if i == 0 or value - shared > gap * value:
                shared = value
            tied[order[i]] = shared
