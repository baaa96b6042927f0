"""All components of a graph, and its self-loops, in one pass over its rows."""

import numpy as np

from nx_fastonl._lib.signals cimport is_poll_due, poll_signals
from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.graph._view cimport GraphView


def component_numbers(GraphView view, bint symmetric):
    """The number of the component of each node, counted from 0 in the order of their first nodes.

    Directions do not matter. If the rows are `symmetric`, each edge is looked at once.
    """
    cdef Py_ssize_t n = view.starts.shape[0], u, e
    cdef node_t count = 0
    cdef node_t[::1] parents = np.arange(n, dtype=np.int32)
    numbers = np.empty(n, dtype=np.int32)
    cdef node_t[::1] out = numbers
    with nogil:
        # Invariant: no parent is larger than its node, and the nodes of a tree belong to one component.
        for u in range(n):
            for e in range(view.starts[u], view.stops[u]):
                if not symmetric or view.indices[e] < u:
                    join(parents, <node_t> u, view.indices[e])
            if is_poll_due(view.starts[u], view.stops[u]):
                poll_signals()
        for u in range(n):
            if parents[u] == u:
                out[u] = count
                count += 1
            else:
                out[u] = out[parents[u]]
    return numbers


cdef inline void join(node_t[::1] parents, node_t u, node_t v) noexcept nogil:
    """Make one tree of those of u and v, under the smaller root."""
    u, v = root(parents, u), root(parents, v)
    parents[max(u, v)] = min(u, v)


cdef inline node_t root(node_t[::1] parents, node_t u) noexcept nogil:
    """The root of the tree of u; every second node on the way moves closer to it."""
    while parents[u] != u:
        parents[u] = parents[parents[u]]
        u = parents[u]
    return u


def count_self_loops(GraphView view):
    """How many rows list their own node."""
    cdef Py_ssize_t u, e, count = 0
    with nogil:
        for u in range(view.starts.shape[0]):
            for e in range(view.starts[u], view.stops[u]):
                count += view.indices[e] == u
            if is_poll_due(view.starts[u], view.stops[u]):
                poll_signals()
    return count
