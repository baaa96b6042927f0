"""The nodes of a directed graph that no cycle leads to, or that lead to no cycle: one push at each solves for them."""

import numpy as np

from nx_fastonl._lib.signals cimport is_poll_due, poll_signals
from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.push._system cimport SystemView, pivot_of

cdef enum:
    # Passes over the nodes that look for those that lead to no cycle. What they do not find counts as leading to one.
    PASSES = 8
    CORE = 0
    UPSTREAM = 1
    DOWNSTREAM = 2


def peel(SystemView system):
    """Nodes in three arrays: those that no cycle leads to, the others, and among these some that lead to no cycle.

    The first and the last are sorted so that edges among them point forward.
    """
    cdef Py_ssize_t n = system.starts.shape[0]
    upstream, downstream = np.empty(n + 1, dtype=np.int32), np.empty(n, dtype=np.int32)
    kinds = np.zeros(n, dtype=np.uint8)
    n_upstream = _peel_upstream(system, np.zeros(n, dtype=np.int32), upstream, kinds)
    n_downstream = _peel_downstream(system, downstream, kinds)
    core = np.flatnonzero(kinds == CORE).astype(np.int32)
    return upstream[:n_upstream], core, np.ascontiguousarray(downstream[:n_downstream][::-1])


cdef Py_ssize_t _peel_upstream(
    SystemView system, node_t[::1] counts, node_t[::1] queue, unsigned char[::1] kinds
) except -1:
    """Take nodes without edges from nodes that are left, until there are none. `counts` is zero."""
    cdef const node_t[::1] indices = system.indices
    cdef Py_ssize_t n = counts.shape[0], u, e, head = 0, tail = 0
    cdef node_t v
    with nogil:
        for u in range(n):
            for e in range(system.starts[u], system.stops[u]):
                counts[indices[e]] += 1
        poll_signals()
        for u in range(n):
            if counts[u] == 0:
                queue[tail] = <node_t> u
                tail += 1
        while head < tail:
            u = queue[head]
            head += 1
            kinds[u] = UPSTREAM
            for e in range(system.starts[u], system.stops[u]):
                v = indices[e]
                counts[v] -= 1
                queue[tail] = v  # kept only if v has no edge left: a branch here would often be mispredicted
                tail += counts[v] == 0
    return tail


cdef Py_ssize_t _peel_downstream(SystemView system, node_t[::1] found, unsigned char[::1] kinds) except -1:
    """Take nodes without edges to nodes that are left. Passes go up and down through the nodes in turn."""
    cdef Py_ssize_t n = kinds.shape[0], i, u, e, count = 0, before
    cdef int turn
    with nogil:
        for turn in range(PASSES):
            before = count
            for i in range(n):
                u = n - 1 - i if turn % 2 else i
                if kinds[u] != CORE:
                    continue
                e = system.starts[u]
                while e < system.stops[u] and kinds[system.indices[e]] == DOWNSTREAM:
                    e += 1
                if e == system.stops[u]:
                    kinds[u] = DOWNSTREAM
                    found[count] = <node_t> u
                    count += 1
            poll_signals()
            if count == before:
                break
    return count


def settle(SystemView system, const node_t[::1] nodes, double[::1] estimate, double[::1] residual):
    """Push the residual of each node in turn."""
    cdef Py_ssize_t i, walked = 0, before
    with nogil:
        for i in range(nodes.shape[0]):
            _push(system, nodes[i], residual[nodes[i]] / _pivot(system, nodes[i]), estimate, residual)
            before = walked
            walked += system.stops[nodes[i]] - system.starts[nodes[i]]
            if is_poll_due(before, walked):
                poll_signals()


def substitute(
    SystemView system, const node_t[::1] nodes, const double[::1] values, double[::1] estimate, double[::1] residual
):
    """Add values to the estimates of nodes; residuals change so that ``H @ estimate + residual`` does not."""
    cdef Py_ssize_t i, walked = 0, before
    with nogil:
        for i in range(nodes.shape[0]):
            _push(system, nodes[i], values[i], estimate, residual)
            before = walked
            walked += system.stops[nodes[i]] - system.starts[nodes[i]]
            if is_poll_due(before, walked):
                poll_signals()


cdef inline double _pivot(SystemView system, node_t u) noexcept nogil:
    return pivot_of(system, u, system.stops[u] - system.starts[u])


cdef inline void _push(
    SystemView system, node_t u, double share, double[::1] estimate, double[::1] residual
) noexcept nogil:
    cdef Py_ssize_t e
    cdef bint weighted = system.weights.shape[0] > 0
    estimate[u] += share
    residual[u] -= share * _pivot(system, u)
    for e in range(system.starts[u], system.stops[u]):
        residual[system.indices[e]] += share * (system.weights[e] if weighted else 1.0)
