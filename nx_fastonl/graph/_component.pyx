"""All nodes that some nodes lead to, if they are few: memory and work follow what is found, not the graph."""

import numpy as np

from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.graph._view cimport GraphView

cdef enum:
    EMPTY = -1
    SPREAD = 40503  # odd, so that neighbouring numbers are spread over the table


cdef bint add(node_t[::1] table, node_t u) noexcept nogil:
    """Add a node to a hash table of a power of two of places, some of them empty; False if it is there already."""
    cdef Py_ssize_t mask = table.shape[0] - 1, at = (<Py_ssize_t> u * SPREAD) & mask
    while table[at] != EMPTY:
        if table[at] == u:
            return False
        at = (at + 1) & mask
    table[at] = u
    return True


cdef Py_ssize_t walk(GraphView view, node_t[::1] table, node_t[::1] found, Py_ssize_t count) noexcept nogil:
    """Follow all edges from the first nodes; return how many nodes were found, at most as many as there is room for."""
    cdef Py_ssize_t i, e
    for i in range(count):
        add(table, found[i])
    i = 0
    while i < count:
        for e in range(view.starts[found[i]], view.stops[found[i]]):
            if add(table, view.indices[e]):
                found[count] = view.indices[e]
                count += 1
                if count == found.shape[0]:
                    return count
        i += 1
    return count


def reachable(GraphView view, const node_t[::1] sources, Py_ssize_t most):
    """The nodes that edges from distinct sources lead to, and these, sorted; None if there are more than `most`.

    In an undirected graph these are the components of the sources.
    """
    cdef node_t[::1] found, table
    cdef Py_ssize_t i, count = sources.shape[0]
    if count > most:
        return None
    found = np.empty(most + 1, dtype=np.int32)
    table = np.full(2 << int(most).bit_length(), EMPTY, dtype=np.int32)
    for i in range(count):
        if not 0 <= sources[i] < view.starts.shape[0]:
            raise IndexError(f"node {sources[i]} is not one of {view.starts.shape[0]}")
        found[i] = sources[i]
    with nogil:
        count = walk(view, table, found, count)
    return None if count > most else np.sort(found[:count])
