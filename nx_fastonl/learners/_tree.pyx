"""Random spanning trees laid out on a line, and the nearest labelled node on it."""

cimport cython
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t

import numpy as np

from nx_fastonl._lib.random cimport next_bits, next_fraction
from nx_fastonl._lib.signals cimport EDGES_PER_POLL, poll_signals
from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.graph._view cimport GraphView
from nx_fastonl.learners._history cimport LabelHistory, drop_label, record_label


cdef inline Py_ssize_t random_edge(
    const double[::1] cumulative, Py_ssize_t start, Py_ssize_t stop, uint64_t* state,
) noexcept nogil:
    """An edge of the row start..stop, by weight; `cumulative` holds running sums of the row, or nothing."""
    cdef double target
    cdef Py_ssize_t low, high, middle
    if cumulative.shape[0] == 0:
        return start + <Py_ssize_t> (((next_bits(state) >> 32) * <uint64_t> (stop - start)) >> 32)
    target = next_fraction(state) * cumulative[stop - 1]
    low, high = start, stop - 1
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] > target:
            high = middle
        else:
            low = middle + 1
    return low


def running_sums(GraphView graph):
    """The sums of weights along each row, starting anew with every row; nothing where every weight is 1."""
    sums = np.empty(graph.weights.shape[0])
    cdef double[::1] sums_out = sums
    cdef double total
    cdef Py_ssize_t u, e
    if sums_out.shape[0] == 0:
        return sums
    with nogil:
        for u in range(graph.starts.shape[0]):
            total = 0.0
            for e in range(graph.starts[u], graph.stops[u]):
                total += graph.weights[e]
                sums_out[e] = total
    return sums


# Wilson's algorithm: every node that is not in the tree yet walks at random until it meets the tree; the last edge
# by which the walk left each node joins the tree, which erases loops. Roots, one per component, are in it from the
# start.

cdef int64_t walk(
    GraphView graph, const double[::1] cumulative, int64_t[::1] edges, unsigned char[::1] in_tree,
    Py_ssize_t* start, Py_ssize_t* position, uint64_t* state, int64_t steps,
) noexcept nogil:
    """Go on from node `position` of the walk that began at `start`, for at most `steps` steps; return those left.

    -1 means that the walk came to a node without edges, from which it cannot go on.
    """
    cdef Py_ssize_t u
    while start[0] < in_tree.shape[0]:
        u = position[0]
        while not in_tree[u]:
            if steps == 0:
                position[0] = u
                return 0
            steps -= 1
            if graph.starts[u] == graph.stops[u]:
                return -1  # only in a graph that is not symmetric
            edges[u] = random_edge(cumulative, graph.starts[u], graph.stops[u], state)
            u = graph.indices[edges[u]]
        u = start[0]
        while not in_tree[u]:
            in_tree[u] = True
            u = graph.indices[edges[u]]
        start[0] += 1
        position[0] = start[0]
    return steps


def spanning_tree(
    GraphView graph, const double[::1] cumulative, unsigned char[::1] in_tree, uint64_t seed, int64_t max_steps,
):
    """The edge from each node to its parent, -1 for the roots; None if that takes more than about `max_steps` steps.

    `in_tree` is 1 for the roots. It is overwritten.
    """
    edges = np.full(in_tree.shape[0], -1, dtype=np.int64)
    cdef int64_t[::1] edges_out = edges
    cdef Py_ssize_t start = 0, position = 0
    cdef uint64_t state = seed
    cdef int64_t taken = 0, left
    while start < in_tree.shape[0]:
        if taken >= max_steps:
            return None
        with nogil:
            left = walk(graph, cumulative, edges_out, in_tree, &start, &position, &state, EDGES_PER_POLL)
        if left < 0:
            return None
        taken += EDGES_PER_POLL
        poll_signals()
    return edges


def line_up(const node_t[::1] parents, const double[::1] weights):
    """Lay the trees out in the order a depth-first walk first meets their nodes.

    `weights` are those of the edges to the parents; a root has parent -1. Returns the nodes in that order, the
    positions of the nodes, and for each position its distance from the first of its tree and where that tree begins.
    Between two neighbours on the line lies 1 / weight of the lightest edge that the walk took between them.
    """
    cdef Py_ssize_t n = parents.shape[0], count = 0, first = 0
    first_child = np.full(n, -1, dtype=np.int32)
    next_sibling = np.full(n, -1, dtype=np.int32)
    order, positions = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    distances, begins = np.empty(n), np.empty(n, dtype=np.int32)
    cdef node_t[::1] child = first_child, sibling = next_sibling, order_out = order, positions_out = positions
    cdef int32_t[::1] begins_out = begins
    cdef double[::1] distances_out = distances
    cdef double lightest
    cdef Py_ssize_t root, u, v
    with nogil:
        for v in range(n - 1, -1, -1):
            if parents[v] >= 0:
                sibling[v] = child[parents[v]]
                child[parents[v]] = <node_t> v
        for root in range(n):
            if parents[root] >= 0:
                continue
            first, u, lightest = count, root, INFINITY
            while u >= 0:
                order_out[count] = <node_t> u
                positions_out[u] = <node_t> count
                begins_out[count] = <int32_t> first
                distances_out[count] = 0.0 if count == first else distances_out[count - 1] + 1.0 / lightest
                count += 1
                lightest = INFINITY
                if child[u] < 0:
                    while u != root and sibling[u] < 0:
                        lightest = min(lightest, weights[u])
                        u = parents[u]
                    if u != root:
                        lightest = min(lightest, weights[u])
                    u = sibling[u] if u != root else -1
                else:
                    u = child[u]
                if u >= 0:
                    lightest = min(lightest, weights[u])
    return order, positions, distances, begins


# `occupied` is a complete binary tree over the positions: leaf `leaves + p` tells whether position p is labelled, an
# inner node i whether either of 2 i and 2 i + 1 is.

cdef void occupy_node(unsigned char[:, ::1] occupied, const node_t[:, ::1] positions, node_t u) noexcept nogil:
    cdef Py_ssize_t tree, i, leaves = occupied.shape[1] // 2
    for tree in range(occupied.shape[0]):
        i = leaves + positions[tree, u]
        while i > 0 and not occupied[tree, i]:
            occupied[tree, i] = True
            i //= 2


def occupy(unsigned char[:, ::1] occupied, const node_t[:, ::1] positions, const node_t[::1] nodes):
    """Mark the positions of these nodes on every line."""
    cdef Py_ssize_t j
    for j in range(nodes.shape[0]):
        occupy_node(occupied, positions, nodes[j])


def learn(
    LabelHistory history, unsigned char[:, ::1] occupied, const node_t[:, ::1] positions, const node_t[::1] nodes,
    const int32_t[::1] labels,
):
    """Record the labels of these nodes, and mark their positions on every line. There must be room for the labels."""
    cdef Py_ssize_t j
    with cython.critical_section(history):
        for j in range(nodes.shape[0]):
            record_label(history, nodes[j], labels[j])
            occupy_node(occupied, positions, nodes[j])


def forget(LabelHistory history, unsigned char[:, ::1] occupied, const node_t[:, ::1] positions, node_t u):
    """Drop the label of node u, and clear its positions."""
    cdef Py_ssize_t tree, i, leaves = occupied.shape[1] // 2
    with cython.critical_section(history):
        drop_label(history, u)
        for tree in range(occupied.shape[0]):
            i = leaves + positions[tree, u]
            occupied[tree, i] = False
            while i > 1 and not occupied[tree, i ^ 1]:
                i //= 2
                occupied[tree, i] = False


cdef Py_ssize_t nearest_before(const unsigned char[::1] occupied, Py_ssize_t position) noexcept nogil:
    """The last labelled position up to `position`, or -1."""
    cdef Py_ssize_t leaves = occupied.shape[0] // 2
    cdef Py_ssize_t i = leaves + position
    if occupied[i]:
        return position
    while i > 1 and not (i % 2 == 1 and occupied[i - 1]):
        i //= 2
    if i <= 1:
        return -1
    i -= 1
    while i < leaves:
        i = 2 * i + (1 if occupied[2 * i + 1] else 0)
    return i - leaves


cdef Py_ssize_t nearest_after(const unsigned char[::1] occupied, Py_ssize_t position) noexcept nogil:
    """The first labelled position from `position` on, or -1."""
    cdef Py_ssize_t leaves = occupied.shape[0] // 2
    cdef Py_ssize_t i = leaves + position
    if occupied[i]:
        return position
    while i > 1 and not (i % 2 == 0 and occupied[i + 1]):
        i //= 2
    if i <= 1:
        return -1
    i += 1
    while i < leaves:
        i = 2 * i + (0 if occupied[2 * i] else 1)
    return i - leaves


cdef inline void add_vote(double[::1] votes, Py_ssize_t label, double vote) noexcept nogil:
    # A label that another thread has just added has no entry in `votes` yet.
    if 0 <= label < votes.shape[0]:
        votes[label] += vote


def vote(
    const unsigned char[:, ::1] occupied, const node_t[:, ::1] order, const node_t[:, ::1] positions,
    const double[:, ::1] distances, const int32_t[:, ::1] begins, LabelHistory history, Py_ssize_t u,
    double[::1] votes,
):
    """Every line votes for the label of the labelled node nearest to u; two equally near ones share the vote."""
    cdef Py_ssize_t tree, here, before, after
    cdef double to_before, to_after
    with cython.critical_section(history):
        for tree in range(occupied.shape[0]):
            here = positions[tree, u]
            before = nearest_before(occupied[tree], here)
            after = nearest_after(occupied[tree], here)
            to_before = to_after = INFINITY
            if before >= 0 and begins[tree, before] == begins[tree, here]:
                to_before = distances[tree, here] - distances[tree, before]
            if after >= 0 and begins[tree, after] == begins[tree, here]:
                to_after = distances[tree, after] - distances[tree, here]
            if to_before < INFINITY and to_before <= to_after:
                add_vote(votes, history.marks[order[tree, before]] - 1, 1.0 if to_before < to_after else 0.5)
            if to_after < INFINITY and to_after <= to_before:
                add_vote(votes, history.marks[order[tree, after]] - 1, 1.0 if to_after < to_before else 0.5)
