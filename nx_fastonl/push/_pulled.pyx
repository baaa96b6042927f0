"""PulledRows: a copy of a system's rows, arranged for loops that visit all of them many times."""

cimport cython

import numpy as np

from nx_fastonl._lib.signals cimport is_poll_due, poll_signals
from nx_fastonl._lib.typedefs cimport node_t, offset_t
from nx_fastonl.push._system cimport SystemView, pivot_of

cdef enum:
    # Rows with at least as many entries are not told apart: they are few, and how each of them ends matters little.
    LONG = 256


@cython.final
cdef class PulledRows:
    """The equations ``pivot[u] z[u] - sum of weight * z[v] == b[u]``, where u pulls from each v that has an edge to u.

    There is a row for each of `nodes`, which are in ascending order, with their edges among each other. Within each
    chunk the rows are sorted by length. A loop over a row then ends after as many steps as the one before, which the
    processor foresees; and nodes that were numbered near each other stay so. The entries are there only after `fill`
    was called for all chunks.

    Attributes
    ----------
    order : array of int32
        The node of each row.
    ends : array of int64
        How many entries there are before each chunk, and in all.
    pivots : array of float64
        The pivot of each row.
    """

    def __init__(self, SystemView system, const node_t[::1] nodes, bint directed):
        cdef Py_ssize_t n = nodes.shape[0]
        order, offsets = np.empty(n, dtype=np.int32), np.zeros(n + 1, dtype=np.int64)
        positions = np.full(system.starts.shape[0], -1, dtype=np.int32)
        lengths = np.zeros(system.starts.shape[0], dtype=np.int32)
        self.system, self.directed, self.order, self.nodes, self.positions = system, directed, order, order, positions
        _count(system, nodes, directed, lengths)
        _sort(nodes, lengths, order, positions, offsets)
        self.ends = offsets[np.minimum(np.arange(0, n + CHUNK, CHUNK), n)]
        self.offsets = offsets
        self.columns = np.empty(offsets[n], dtype=np.int32)
        self.weights = np.empty(offsets[n] if system.weights.shape[0] > 0 else 0)
        self.pivots, self.shares = np.empty(n), np.empty(n)
        if directed:
            _fill_reversed(self, nodes, offsets[:n].copy())

    def fill(self, Py_ssize_t first, Py_ssize_t last):
        """Write pivots and entries of the chunks first..last. Entries of a directed graph are there from the start."""
        _fill(self, first, last)


cdef void _count(SystemView system, const node_t[::1] nodes, bint directed, node_t[::1] lengths) noexcept:
    """How many of the nodes each node pulls from."""
    cdef Py_ssize_t i, e
    cdef node_t u
    with nogil:
        for i in range(nodes.shape[0]):
            u = nodes[i]
            if directed:
                for e in range(system.starts[u], system.stops[u]):
                    lengths[system.indices[e]] += 1
            else:
                lengths[u] = <node_t> (system.stops[u] - system.starts[u])


cdef void _sort(
    const node_t[::1] nodes, const node_t[::1] lengths, node_t[::1] order, node_t[::1] positions, offset_t[::1] offsets
) noexcept:
    """Sort the nodes of each chunk by length, those of one length by number."""
    cdef Py_ssize_t n = nodes.shape[0], chunk, first, last, i, row
    cdef Py_ssize_t[LONG + 2] slots  # where the next row of each length goes
    cdef node_t u
    with nogil:
        for chunk in range((n + CHUNK - 1) // CHUNK):
            first, last = chunk * CHUNK, min((chunk + 1) * CHUNK, n)
            for i in range(LONG + 2):
                slots[i] = 0
            for i in range(first, last):
                slots[min(lengths[nodes[i]], LONG) + 1] += 1
            slots[0] = first
            for i in range(LONG):
                slots[i + 1] += slots[i]
            for i in range(first, last):
                u = nodes[i]
                row = slots[min(lengths[u], LONG)]
                slots[min(lengths[u], LONG)] += 1
                order[row] = u
                positions[u] = <node_t> row
            for row in range(first, last):
                offsets[row + 1] = offsets[row] + lengths[order[row]]


cdef int _fill(PulledRows rows, Py_ssize_t first, Py_ssize_t last) except -1:
    cdef SystemView system = rows.system
    cdef bint weighted = rows.weights.shape[0] > 0
    cdef Py_ssize_t i, e, slot, before
    cdef node_t u
    with nogil:
        for i in range(first * CHUNK, min(last * CHUNK, rows.nodes.shape[0])):
            u = rows.nodes[i]
            rows.pivots[i] = pivot_of(system, u, system.stops[u] - system.starts[u])
            rows.shares[i] = 1.0 / rows.pivots[i]
            if rows.directed:
                continue
            before = slot = rows.offsets[i]
            for e in range(system.starts[u], system.stops[u]):
                rows.columns[slot] = rows.positions[system.indices[e]]
                if weighted:
                    rows.weights[slot] = system.weights[e]
                slot += 1
            if is_poll_due(before, slot):
                poll_signals()
    return 0


cdef int _fill_reversed(PulledRows rows, const node_t[::1] nodes, offset_t[::1] slots) except -1:
    """Copy each entry into the next free slot of the row of the node that it points to."""
    cdef SystemView system = rows.system
    cdef bint weighted = rows.weights.shape[0] > 0
    cdef Py_ssize_t i, e, u, target, walked = 0, before
    with nogil:
        for i in range(nodes.shape[0]):
            u = nodes[i]
            for e in range(system.starts[u], system.stops[u]):
                target = rows.positions[system.indices[e]]
                if target < 0:
                    continue
                rows.columns[slots[target]] = rows.positions[u]
                if weighted:
                    rows.weights[slots[target]] = system.weights[e]
                slots[target] += 1
            before = walked
            walked += system.stops[u] - system.starts[u]
            if is_poll_due(before, walked):
                poll_signals()
    return 0
