"""Sweeps: the edges that leave each prefix of a list of nodes."""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t

import numpy as np

from nx_fastonl._lib.signals cimport is_poll_due, poll_signals
from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.graph._view cimport GraphView
from nx_fastonl.push._workspace cimport Workspace


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
    cdef double weight, degree, loop, to_inside, rest, cut = 0.0, volume = 0.0
    # Edges and entries are counted too: sums of weights are rounded, and would not be zero where nothing is left.
    cdef int64_t leaving = 0, entries = 0, edges_inside, loops, row_length
    cdef Py_ssize_t i, e, count = 0
    cdef node_t u, v
    cdef bint weighted = view.weights.shape[0] > 0
    with nogil:
        # Invariant: `cut` is the weight of the edges from nodes inside to nodes outside, `volume` the sum of degrees
        # inside. A self-loop counts once in a degree, and never leaves.
        for i in range(order.shape[0]):
            u = order[i]
            degree = loop = to_inside = 0.0
            edges_inside = loops = 0
            for e in range(view.starts[u], view.stops[u]):
                v = view.indices[e]
                weight = view.weights[e] if weighted else 1.0
                degree += weight
                if v == u:
                    loop += weight
                    loops += 1
                elif inside[v]:
                    to_inside += weight
                    edges_inside += 1
            if count > 0 and volume + degree > max_volume:
                break
            row_length = view.stops[u] - view.starts[u]
            inside[u] = 1
            leaving += row_length - loops - 2 * edges_inside
            cut = max(cut + (degree - loop) - 2.0 * to_inside, 0.0) if leaving > 0 else 0.0
            volume += degree
            rest = total - volume if entries + row_length < n_entries else 0.0
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
