"""Sweeps: the edges that leave each prefix of a list of nodes."""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t

import numpy as np

from nx_fastonl._lib.exact cimport ExactSum, add, rounded
from nx_fastonl._lib.signals cimport is_poll_due, poll_signals
from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.graph._view cimport GraphView
from nx_fastonl.push._workspace cimport Workspace

# Once the nodes outside have at most this fraction of the volume, theirs is summed up: as a difference of rounded sums,
# too few of its digits would be right. Then most of the weight was swept, or lies at the first node.
cdef double SMALL_REST = 2.0 ** -10


def pushed_so_far(Workspace work):
    """The nodes of a workspace that have an estimate above zero, in the order they were touched, and the estimates."""
    rows, estimates = np.empty(work.n_touched, dtype=np.int32), np.empty(work.n_touched)
    cdef node_t[::1] rows_out = rows
    cdef double[::1] estimates_out = estimates
    cdef Py_ssize_t i, count = 0
    cdef node_t u
    with nogil:
        for i in range(work.n_touched):
            u = work.touched[i]
            rows_out[count] = u
            estimates_out[count] = work.estimate[u]
            count += work.estimate[u] > 0.0
    return rows[:count], estimates[:count]


cdef void move_inside(
    GraphView view, const unsigned char[::1] inside, node_t u, ExactSum* cut, int64_t* leaving,
) noexcept nogil:
    """Edges from u to nodes outside leave from now on, and those to nodes inside no longer do."""
    cdef Py_ssize_t e
    cdef int sign
    for e in range(view.starts[u], view.stops[u]):
        if view.indices[e] != u:
            sign = -1 if inside[view.indices[e]] else 1
            leaving[0] += sign
            if view.weights.shape[0] > 0:
                add(cut, sign * view.weights[e])


cdef void add_row(GraphView view, node_t u, double sign, ExactSum* total) noexcept nogil:
    """Add the weights of a row, or subtract them if the sign is -1."""
    cdef Py_ssize_t e
    for e in range(view.starts[u], view.stops[u]):
        add(total, sign * view.weights[e])


cdef int add_outside(GraphView view, const unsigned char[::1] inside, ExactSum* total) except -1 nogil:
    """Add the weights of all rows outside."""
    cdef node_t u
    cdef int64_t walked = 0, row_length
    for u in range(<node_t> inside.shape[0]):
        if not inside[u]:
            row_length = view.stops[u] - view.starts[u]
            add_row(view, u, 1.0, total)
            if is_poll_due(walked, walked + row_length):
                poll_signals()
            walked += row_length
    return 0


def sweep(
    GraphView view, unsigned char[::1] inside, const node_t[::1] order, double total, int64_t n_entries,
    double max_volume=INFINITY,
):
    """The weight of the edges that leave each prefix of `order`, its volume, and its conductance.

    `total` is the volume of all nodes, `n_entries` how many entries their rows have. After the first node, the sweep ends
    before the volume exceeds `max_volume`. `inside` has a zero for each node of the graph, and again at the end.
    """
    cuts, volumes, conductances = (np.empty(order.shape[0]) for _ in range(3))
    cdef double[::1] cuts_out = cuts, volumes_out = volumes, conductances_out = conductances
    cdef double degree, cut, rest, volume = 0.0
    # A cut and a rest may be many orders of magnitude smaller than the sums that they are what is left of.
    cdef ExactSum exact_cut, exact_volume, exact_rest
    # Edges and entries are counted too: `total` is rounded, and what is left of it would not be zero.
    cdef int64_t leaving = 0, entries = 0, row_length
    cdef Py_ssize_t i, count = 0
    cdef node_t u
    cdef bint weighted = view.weights.shape[0] > 0, rest_is_exact = False
    exact_cut.n_parts = exact_volume.n_parts = exact_rest.n_parts = 0
    with nogil:
        # Invariant: `exact_cut` is the weight of the edges from nodes inside to nodes outside, and `leaving` their number;
        # `exact_volume` is the sum of degrees inside and, once `rest_is_exact`, `exact_rest` that of degrees outside. A
        # self-loop counts once in a degree, and never leaves.
        for i in range(order.shape[0]):
            u = order[i]
            row_length = view.stops[u] - view.starts[u]
            degree = view.degrees[u] if weighted else <double> row_length
            if count > 0 and volume + degree > max_volume:
                break
            move_inside(view, inside, u, &exact_cut, &leaving)
            inside[u] = 1
            # Weights are the same from both ends, so that no cut is below zero, and none is zero while an edge leaves.
            cut = (rounded(&exact_cut) if weighted else <double> leaving) if leaving > 0 else 0.0
            add(&exact_volume, degree)
            volume = rounded(&exact_volume)
            rest = total - volume if entries + row_length < n_entries else 0.0
            if rest_is_exact:
                add_row(view, u, -1.0, &exact_rest)
            elif weighted and rest <= SMALL_REST * total:
                add_outside(view, inside, &exact_rest)
                rest_is_exact = True
            if rest_is_exact:
                rest = rounded(&exact_rest)
            cuts_out[count] = cut
            volumes_out[count] = volume
            # Where one side has no edges there is no cut, and no set is worse.
            conductances_out[count] = min(cut / min(volume, rest), 1.0) if volume > 0.0 and rest > 0.0 else 1.0
            count += 1
            if is_poll_due(entries + i, entries + row_length + i + 1):
                poll_signals()
            entries += row_length
        for i in range(count):
            inside[order[i]] = 0
    return cuts[:count], volumes[:count], conductances[:count]
