"""One pass over the rows of a graph: no neighbour is listed twice, and undirected rows are symmetric."""

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy

import secrets

import numpy as np

from nx_fastonl._lib.limits import weight_range

from nx_fastonl._lib.signals cimport poll_signals
from nx_fastonl._lib.typedefs cimport node_t, offset_t

cdef enum:
    ROWS_PER_POLL = 1 << 16


cdef bint lists_twice(
    const offset_t[::1] indptr, const node_t[::1] indices, node_t[::1] last_row, bint* is_sorted,
) noexcept nogil:
    """Whether a row lists a neighbour twice; and, if none does, whether all rows are sorted."""
    cdef Py_ssize_t u, e
    for u in range(indptr.shape[0] - 1):
        for e in range(indptr[u], indptr[u + 1]):
            if last_row[indices[e]] == u + 1:
                return True
            last_row[indices[e]] = <node_t> (u + 1)
            if e > indptr[u] and indices[e] < indices[e - 1]:
                is_sorted[0] = False
    return False


cdef bint sorted_rows_match(
    const offset_t[::1] indptr, const node_t[::1] indices, const double[::1] weights, offset_t[::1] reached,
) noexcept nogil:
    """Whether every edge of sorted rows stands in the other row too, with the same weight.

    Rows are visited in order, so row v is asked for its neighbours in order too: each must be the next that it lists.
    """
    cdef Py_ssize_t u, e, back
    cdef node_t v
    cdef bint weighted = weights.shape[0] > 0
    for u in range(indptr.shape[0] - 1):
        reached[u] = indptr[u]
    for u in range(indptr.shape[0] - 1):
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            back = reached[v]
            if back == indptr[v + 1] or indices[back] != u or (weighted and weights[back] != weights[e]):
                return False
            reached[v] = back + 1
    return True


cdef bint transpose(
    const offset_t[::1] indptr, const node_t[::1] indices, const double[::1] weights, offset_t[::1] reached,
    node_t[::1] sources, double[::1] source_weights,
) noexcept nogil:
    """List in place of each row the rows that name it, with the weights; False if a row is named too often.

    There are as many names as places. So if no row is named too often, none is named too seldom.
    """
    cdef Py_ssize_t u, e, at
    for u in range(indptr.shape[0] - 1):
        reached[u] = indptr[u]
    for u in range(indptr.shape[0] - 1):
        for e in range(indptr[u], indptr[u + 1]):
            at = reached[indices[e]]
            if at == indptr[indices[e] + 1]:
                return False
            sources[at] = <node_t> u
            if weights.shape[0] > 0:
                source_weights[at] = weights[e]
            reached[indices[e]] = at + 1
    return True


cdef bint rows_match(
    const offset_t[::1] indptr, const node_t[::1] indices, const double[::1] weights, offset_t[::1] place,
    const node_t[::1] sources, const double[::1] source_weights,
) noexcept nogil:
    """The same for rows in any order; `place` is all zero. Each node's latest place in `sources`, plus 1, is put there."""
    cdef Py_ssize_t u, e, at
    for u in range(indptr.shape[0] - 1):
        for e in range(indptr[u], indptr[u + 1]):
            place[sources[e]] = e + 1
        for e in range(indptr[u], indptr[u + 1]):
            at = place[indices[e]] - 1
            if not (indptr[u] <= at < indptr[u + 1]) or (weights.shape[0] > 0 and source_weights[at] != weights[e]):
                return False
    return True


def find_fault(const offset_t[::1] indptr, const node_t[::1] indices, weights, *, bint symmetric):
    """What is wrong with the rows of a graph: "twice" or "one-sided"; None if all is right."""
    cdef Py_ssize_t n = indptr.shape[0] - 1
    cdef bint is_sorted = True, is_twice, match
    cdef node_t[::1] last_row = np.zeros(n, dtype=np.int32), sources
    cdef const double[::1] values = np.empty(0) if weights is None else weights
    cdef double[::1] source_weights
    cdef offset_t[::1] reached
    with nogil:
        is_twice = lists_twice(indptr, indices, last_row, &is_sorted)
    if is_twice:
        return "twice"
    if not symmetric:
        return None
    reached = np.zeros(n, dtype=np.int64)
    if is_sorted:
        with nogil:
            match = sorted_rows_match(indptr, indices, values, reached)
    else:
        sources, source_weights = np.zeros(indices.shape[0], dtype=np.int32), np.zeros(values.shape[0])
        with nogil:
            match = transpose(indptr, indices, values, reached, sources, source_weights)
            if match:
                reached[:] = 0
                match = rows_match(indptr, indices, values, reached, sources, source_weights)
    return None if match else "one-sided"


def find_damage(
    const offset_t[::1] indptr, const node_t[::1] indices, weights, const double[::1] degrees, name_offsets,
    const node_t[::1] slots, Py_ssize_t name_size, *, bint directed=False,
):
    """What in the arrays of a saved graph could lead a loop outside of an array, or on forever; None if nothing.

    Offsets rise and stay inside, indices and slots are rows, weights are in range, and degrees are the sums of rows.
    Undirected rows list each edge as often as its other row does: over-relaxation ends on such rows only.
    """
    # Each edge has a random number, which its two rows add and take away. The numbers follow from a secret, so nobody
    # can choose edges whose numbers cancel: they do with a probability of 1 to 2^64.
    cdef uint64_t secret = secrets.randbits(64), balance = 0
    cdef const double[::1] values = np.empty(0) if weights is None else weights
    cdef const offset_t[::1] offsets = np.zeros(1, dtype=np.int64) if name_offsets is None else name_offsets
    cdef Py_ssize_t n = indptr.shape[0] - 1, u, end = 0 if name_offsets is None else name_size
    cdef bint right
    cdef double smallest, largest
    smallest, largest = weight_range(directed)
    with nogil:
        right = rise(indptr, indices.shape[0])
    if not right:
        return "the offsets of its rows do not rise from 0 to their end"
    with nogil:
        right = rise(offsets, end)
    if not right:
        return "the offsets of its names do not rise from 0 to their end"
    with nogil:
        right = lie_below(indices, n)
    if not right:
        return f"an edge leads to a node that is not there; its {n} nodes count from 0"
    with nogil:
        right = lie_below(slots, n + 1)
    if not right:
        return f"a slot of its names holds a row that is not there; its {n} rows count from 1"
    for u in range(0, n, ROWS_PER_POLL):
        with nogil:
            right = sum_up(indptr, values, degrees, u, min(u + ROWS_PER_POLL, n), smallest, largest)
            if not directed:
                balance += imbalance(indptr, indices, values, secret, u, min(u + ROWS_PER_POLL, n))
            poll_signals()
        if not right:
            return "a weight is out of range, or a degree is not the sum of its row"
    return None if balance == 0 else "two rows differ about an edge"


cdef inline uint64_t mixed(uint64_t x) noexcept nogil:
    """A number that looks random, another one for each x: the last steps of splitmix64."""
    x = (x ^ (x >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    x = (x ^ (x >> 27)) * <uint64_t> 0x94D049BB133111EB
    return x ^ (x >> 31)


cdef uint64_t imbalance(
    const offset_t[::1] indptr, const node_t[::1] indices, const double[::1] weights, uint64_t secret, Py_ssize_t first,
    Py_ssize_t last,
) noexcept nogil:
    """The sum of the numbers of edges to later rows, less that of edges to rows before, modulo 2^64."""
    cdef uint64_t total = 0, number, bits = 0, here, there
    cdef Py_ssize_t u, e
    cdef bint weighted = weights.shape[0] > 0
    for u in range(first, last):
        here = <uint64_t> u
        for e in range(indptr[u], indptr[u + 1]):
            there = <uint64_t> indices[e]
            number = mixed(secret ^ (min(here, there) << 32 | max(here, there)))
            if weighted:
                memcpy(&bits, &weights[e], sizeof(bits))
                number = mixed(number ^ bits)
            if there != here:
                total += number if there > here else 0 - number
    return total


cdef bint rise(const offset_t[::1] offsets, Py_ssize_t end) noexcept nogil:
    cdef Py_ssize_t u, n = offsets.shape[0] - 1
    cdef bint falls = False
    for u in range(n):
        falls |= offsets[u] > offsets[u + 1]
    return not falls and offsets[0] == 0 and offsets[n] == end


cdef bint lie_below(const node_t[::1] rows, Py_ssize_t n) noexcept nogil:
    """Whether all lie from 0 to n - 1. Without a way out of the loop, the compiler compares many at once."""
    cdef Py_ssize_t e
    cdef uint32_t limit = <uint32_t> n
    cdef bint outside = False
    for e in range(rows.shape[0]):
        outside |= <uint32_t> rows[e] >= limit
    return not outside


cdef bint sum_up(
    const offset_t[::1] indptr, const double[::1] weights, const double[::1] degrees, Py_ssize_t first, Py_ssize_t last,
    double smallest, double largest,
) noexcept nogil:
    """Whether the degrees of these rows are the sums of their weights, which are in range; 1 where there are none."""
    cdef Py_ssize_t u, e
    cdef double total
    cdef bint wrong = False
    if weights.shape[0] == 0:
        for u in range(first, last):
            wrong |= degrees[u] != <double> (indptr[u + 1] - indptr[u])
        return not wrong
    for u in range(first, last):
        total = 0.0
        for e in range(indptr[u], indptr[u + 1]):
            wrong |= not (smallest <= weights[e] <= largest)
            total += weights[e]
        wrong |= degrees[u] != total
    return not wrong
