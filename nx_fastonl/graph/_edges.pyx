"""Edges given by their ends -> sorted rows, by a counting sort in two passes.

The first pass puts every edge into the row of its target. The second walks these rows in order, and puts each edge into
the row of its source. So rows are sorted, and edges that were given twice stand beside each other in the order given.
"""

from libc.stdint cimport int32_t, int64_t

import numpy as np

from nx_fastonl._lib.prefetch cimport prefetch
from nx_fastonl._lib.signals cimport is_poll_due, poll_signals
from nx_fastonl._lib.typedefs cimport node_t, offset_t

cdef enum:
    # How many edges ahead the counter of a row is prefetched, and the place that it points to.
    COUNTER_AHEAD = 48
    PLACE_AHEAD = 24

ctypedef fused end_t:
    int32_t
    int64_t


def sorted_rows(list chunks, Py_ssize_t n, bint directed, bint keep_last=False):
    """The rows of edges as indptr, indices and weights; no weights where none are given and no edge is given twice.

    Edges come in chunks of arrays (sources, targets, weights or None), which are taken from the list as they are used
    up. Edges that are given twice are added up, in the order given, and left out if the sum is 0. With `keep_last`, the
    one given last counts instead. An undirected edge stands in the rows of both ends, a loop once. The ends were checked
    before. They are not copied: if another thread changes them meanwhile, this raises.
    """
    cdef Py_ssize_t size
    cdef bint weighted = any(weights is not None for _, _, weights in chunks)
    cdef offset_t[::1] starts = np.zeros(n + 1, dtype=np.int64), reached = np.zeros(n, dtype=np.int64)
    for sources, targets, _ in chunks:
        count_ends(sources, targets, directed, starts)
    with nogil:
        add_up(starts, reached)
    size = starts[n]
    cdef node_t[::1] ends = np.empty(size, dtype=np.int32)
    cdef double[::1] end_weights = np.empty(size if weighted else 0)
    sources = targets = None
    while chunks:
        chunk = chunks.pop(0)
        weights = np.ones(len(chunk[0])) if weighted and chunk[2] is None else chunk[2]
        scatter(chunk[0], chunk[1], weights if weighted else np.empty(0), directed, reached, ends, end_weights)
    chunk = weights = None
    with nogil:
        check_full(starts, reached)

    # A row names as many as name it where edges have no direction.
    indptr = np.zeros(n + 1, dtype=np.int64) if directed else np.array(starts)
    indices = np.empty(size, dtype=np.int32)
    values = np.empty(size if weighted else 0)
    cdef offset_t[::1] row_starts = indptr
    cdef node_t[::1] rows = indices
    cdef double[::1] row_weights = values
    with nogil:
        transpose(starts, ends, end_weights, row_starts, reached, rows, row_weights)
    del ends, end_weights, starts, reached
    if not weighted and has_twice(row_starts, rows):
        values = np.ones(size)
        row_weights = values
    if len(values):
        with nogil:
            size = merge(row_starts, rows, row_weights, keep_last)
    del rows, row_weights
    return indptr, _cut(indices, size), _cut(values, size if len(values) else 0)


def row_sums(const offset_t[::1] indptr, const double[::1] weights):
    """The sum of the weights of each row."""
    cdef Py_ssize_t u, e
    sums = np.zeros(indptr.shape[0] - 1)
    cdef double[::1] sums_out = sums
    with nogil:
        for u in range(sums_out.shape[0]):
            for e in range(indptr[u], indptr[u + 1]):
                sums_out[u] += weights[e]
    return sums


def _cut(array, Py_ssize_t size):
    """The first entries; in the same memory where they are all."""
    return array if len(array) == size else array[:size].copy()


def count_ends(const end_t[::1] sources, const end_t[::1] targets, bint directed, offset_t[::1] counts):
    """Count the edges of each node's row, one place further on."""
    cdef Py_ssize_t e, n = counts.shape[0] - 1, size = sources.shape[0]
    cdef end_t u, v
    with nogil:
        for e in range(size):
            if e + COUNTER_AHEAD < size:
                u, v = sources[e + COUNTER_AHEAD], targets[e + COUNTER_AHEAD]
                if 0 <= u < n and 0 <= v < n:
                    prefetch(&counts[v + 1])
                    prefetch(&counts[u + 1])
            u, v = sources[e], targets[e]
            if not (0 <= u < n and 0 <= v < n):
                changed()
            counts[v + 1] += 1
            if not directed and u != v:
                counts[u + 1] += 1
            if is_poll_due(e, e + 1):
                poll_signals()


cdef void add_up(offset_t[::1] starts, offset_t[::1] reached) noexcept nogil:
    """From the sizes of rows to where they start, twice: one copy moves on as rows are filled."""
    cdef Py_ssize_t u
    for u in range(reached.shape[0]):
        starts[u + 1] += starts[u]
        reached[u] = starts[u]


def scatter(
    const end_t[::1] sources, const end_t[::1] targets, const double[::1] weights, bint directed,
    offset_t[::1] reached, node_t[::1] ends, double[::1] end_weights,
):
    """Put each edge into the row of its target, and an undirected one into that of its source too."""
    cdef Py_ssize_t e, n = reached.shape[0], size = sources.shape[0], room = ends.shape[0]
    cdef end_t u, v
    with nogil:
        for e in range(size):
            if e + COUNTER_AHEAD < size:
                u, v = sources[e + COUNTER_AHEAD], targets[e + COUNTER_AHEAD]
                if 0 <= u < n and 0 <= v < n:
                    prefetch(&reached[v])
                    prefetch(&reached[u])
                u, v = sources[e + PLACE_AHEAD], targets[e + PLACE_AHEAD]
                if 0 <= u < n and 0 <= v < n:
                    prefetch(&ends[min(reached[v], room - 1)])
                    prefetch(&ends[min(reached[u], room - 1)])
            u, v = sources[e], targets[e]
            if not (0 <= u < n and 0 <= v < n):
                changed()
            put(<node_t> u, <node_t> v, e, weights, reached, ends, end_weights)
            if not directed and u != v:
                put(<node_t> v, <node_t> u, e, weights, reached, ends, end_weights)
            if is_poll_due(e, e + 1):
                poll_signals()


cdef inline int put(
    node_t u, node_t v, Py_ssize_t e, const double[::1] weights, offset_t[::1] reached, node_t[::1] ends,
    double[::1] end_weights,
) except -1 nogil:
    """Put u into the row of v, with the weight of edge e."""
    cdef offset_t at = reached[v]
    if at >= ends.shape[0]:
        changed()
    ends[at] = u
    if weights.shape[0] > 0:
        end_weights[at] = weights[e]
    reached[v] = at + 1
    return 0


cdef int check_full(const offset_t[::1] starts, const offset_t[::1] reached) except -1 nogil:
    """Raise unless each row has as many ends as were counted."""
    cdef Py_ssize_t u
    for u in range(reached.shape[0]):
        if reached[u] != starts[u + 1]:
            changed()
    return 0


cdef int changed() except -1 nogil:
    with gil:
        raise ValueError("the edges were changed while they were read")


cdef int transpose(
    const offset_t[::1] starts, const node_t[::1] ends, const double[::1] end_weights, offset_t[::1] row_starts,
    offset_t[::1] reached, node_t[::1] rows, double[::1] row_weights,
) except -1 nogil:
    """List for each node the rows that name it, in their order; `row_starts` is all zero, or known already."""
    cdef Py_ssize_t u, e, at, size = ends.shape[0]
    if row_starts[reached.shape[0]] == 0:
        for e in range(size):
            if e + COUNTER_AHEAD < size:
                prefetch(&row_starts[ends[e + COUNTER_AHEAD] + 1])
            row_starts[ends[e] + 1] += 1
        add_up(row_starts, reached)
    else:
        reached[:] = row_starts[:reached.shape[0]]
    for u in range(reached.shape[0]):
        for e in range(starts[u], starts[u + 1]):
            if e + COUNTER_AHEAD < size:
                prefetch(&reached[ends[e + COUNTER_AHEAD]])
                prefetch(&rows[min(reached[ends[e + PLACE_AHEAD]], size - 1)])
            at = reached[ends[e]]
            rows[at] = <node_t> u
            if end_weights.shape[0] > 0:
                row_weights[at] = end_weights[e]
            reached[ends[e]] = at + 1
        if is_poll_due(starts[u], starts[u + 1]):
            poll_signals()
    return 0


cdef bint has_twice(const offset_t[::1] starts, const node_t[::1] rows) noexcept nogil:
    """Whether a sorted row lists a neighbour twice."""
    cdef Py_ssize_t u, e
    for u in range(starts.shape[0] - 1):
        for e in range(starts[u] + 1, starts[u + 1]):
            if rows[e] == rows[e - 1]:
                return True
    return False


cdef Py_ssize_t merge(offset_t[::1] starts, node_t[::1] rows, double[::1] weights, bint keep_last) noexcept nogil:
    """Add up what a sorted row lists twice, or keep the last, and leave out 0.

    Return how many entries are left, at the front.
    """
    cdef Py_ssize_t u, e, stop, size = 0, first = 0
    for u in range(starts.shape[0] - 1):
        e, stop, first = starts[u], starts[u + 1], size
        starts[u] = first
        while e < stop:
            rows[size], weights[size] = rows[e], weights[e]
            e += 1
            while e < stop and rows[e] == rows[size]:
                weights[size] = weights[e] if keep_last else weights[size] + weights[e]
                e += 1
            size += weights[size] != 0.0
    starts[starts.shape[0] - 1] = size
    return size
