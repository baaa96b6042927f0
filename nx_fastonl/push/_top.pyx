"""The largest values of a push that is under way, and bounds on what its residuals may still add to them."""

from libc.float cimport DBL_EPSILON
from libc.math cimport fabs

import numpy as np

from nx_fastonl._lib.prefetch cimport prefetch
from nx_fastonl._lib.signals cimport is_poll_due, poll_signals
from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.push._filter cimport NodeFilter, is_allowed
from nx_fastonl.push._system cimport SystemView, degree_of, pivot_of
from nx_fastonl.push._workspace cimport Workspace

# Half a unit of rounding, and the little that sums of roundings lose to rounding themselves.
cdef double UNIT = 0.51 * DBL_EPSILON
# How many roundings go into a pivot, a product with it, a normalised mass; in a weighted graph, those of the row's sum
# come on top.
cdef Py_ssize_t ROUNDINGS = 12
# How many nodes, and edges of a row, ahead memory is prefetched.
cdef Py_ssize_t AHEAD = 16


cdef inline double rounding_of(SystemView system, node_t u) noexcept nogil:
    """The relative rounding error of the product of a pivot and an estimate."""
    cdef Py_ssize_t neighbours = system.stops[u] - system.starts[u]
    return UNIT * (ROUNDINGS + neighbours if system.weights.shape[0] > 0 else ROUNDINGS)


cdef inline node_t touched_at(SystemView system, Workspace work, Py_ssize_t i) noexcept nogil:
    """The i-th touched node; what is known of a later one is prefetched."""
    cdef node_t later
    if i + AHEAD < work.n_touched:
        later = work.touched[i + AHEAD]
        prefetch(&work.cells[later])
        prefetch(&work.estimate[later])
        prefetch(&system.starts[later])
    return work.touched[i]


cdef inline double value_of(SystemView system, Workspace work, node_t u) noexcept nogil:
    return pivot_of(system, u, system.stops[u] - system.starts[u]) * work.estimate[u]


cdef void replace_smallest(double[::1] heap, node_t[::1] rows, double value, node_t u) noexcept nogil:
    """Replace the root of a heap, whose parents are no larger than their children."""
    cdef Py_ssize_t i = 0, child = 1, size = heap.shape[0]
    while child < size:
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if value <= heap[child]:
            break
        heap[i] = heap[child]
        rows[i] = rows[child]
        i = child
        child = 2 * i + 1
    heap[i] = value
    rows[i] = u


def survey(SystemView system, Workspace work, NodeFilter allowed, Py_ssize_t k, bint with_rounding):
    """The k largest values ``pivot * estimate`` of nodes that are allowed, and what bounds the errors of all values.

    Returns values and rows, in any order, with rows of -1 where fewer have a value; the residuals above zero, then those
    below: their mass, the largest per degree, and the largest of nodes without out-edges; the sum of the estimates of
    such nodes; how many of the touched nodes were pushed; of those that are allowed, how many were touched, and how many
    pushed. Residuals include the rounding errors that `recompute` found, if asked for.
    """
    values, rows = np.zeros(min(k, work.n_touched)), np.full(min(k, work.n_touched), -1, dtype=np.int32)
    cdef double[::1] heap = values
    cdef node_t[::1] heap_rows = rows
    cdef double degree, value, stopped = 0.0
    cdef double above, above_mass = 0.0, above_per_degree = 0.0, above_peak = 0.0
    cdef double below, below_mass = 0.0, below_per_degree = 0.0, below_peak = 0.0
    cdef Py_ssize_t i, pushed = 0, allowed_touched = 0, allowed_pushed = 0
    cdef node_t u
    cdef bint can_return
    with nogil:
        for i in range(work.n_touched):
            u = touched_at(system, work, i)
            degree = degree_of(system, u)
            above = work.cells[u].residual
            below = -above
            if with_rounding:
                above += work.cells[u].threshold
                below += work.cells[u].threshold
            above_mass += max(above, 0.0)
            below_mass += max(below, 0.0)
            if degree > 0.0:
                above_per_degree = max(above_per_degree, above / degree)
                below_per_degree = max(below_per_degree, below / degree)
            else:
                above_peak = max(above_peak, above)
                below_peak = max(below_peak, below)
            can_return = is_allowed(allowed, u)
            allowed_touched += can_return
            if work.estimate[u] == 0.0:
                continue
            pushed += 1
            allowed_pushed += can_return
            if degree == 0.0:
                stopped += work.estimate[u]
            if not can_return:
                continue
            value = value_of(system, work, u)
            if value > heap[0]:
                replace_smallest(heap, heap_rows, value, u)
    above_all, below_all = (above_mass, above_per_degree, above_peak), (below_mass, below_per_degree, below_peak)
    return values, rows, above_all, below_all, stopped, pushed, allowed_touched, allowed_pushed


def rivals(
    SystemView system, Workspace work, NodeFilter allowed, double floor, double most, double offset, double slope,
):
    """The touched nodes that are allowed and whose exact ``pivot * estimate`` may be at least `floor`.

    It is above the one found by `most` at most, and by ``offset + slope * degree``.
    """
    found = np.empty(work.n_touched, dtype=np.int32)
    cdef node_t[::1] out = found
    cdef double value, error
    cdef Py_ssize_t i, count = 0
    cdef node_t u
    with nogil:
        for i in range(work.n_touched):
            u = touched_at(system, work, i)
            value = value_of(system, work, u)
            out[count] = u
            error = rounding_of(system, u) * fabs(value) + min(most, offset + slope * degree_of(system, u))
            count += value + error >= floor and is_allowed(allowed, u)
    return found[:count]


def roundings(SystemView system, const node_t[::1] rows):
    """The relative rounding errors of ``pivot * estimate`` at these rows."""
    cdef Py_ssize_t i
    return np.array([rounding_of(system, rows[i]) for i in range(rows.shape[0])])


def recompute(SystemView system, Workspace work, const node_t[::1] sources, const double[::1] masses):
    """Compute the residuals anew from the estimates, and bounds on their rounding errors in place of the thresholds.

    The residuals that a push updates collect rounding errors that nobody counts. The next push sets the thresholds.
    """
    cdef Py_ssize_t i, e, walked = 0, before
    cdef node_t u, v
    cdef double share, settled
    cdef bint weighted = system.weights.shape[0] > 0
    with nogil:
        for i in range(work.n_touched):
            u = work.touched[i]
            work.cells[u].residual = work.cells[u].threshold = 0.0
        for i in range(sources.shape[0]):
            u = sources[i]
            work.cells[u].residual = masses[i]
            work.cells[u].threshold = ROUNDINGS * masses[i]
        # Every addition is off by at most half a unit of its result: the thresholds sum up the results.
        for i in range(work.n_touched):
            u = touched_at(system, work, i)
            if work.estimate[u] == 0.0:
                continue
            for e in range(system.starts[u], system.stops[u]):
                if e + AHEAD < system.stops[u]:
                    prefetch(&work.cells[system.indices[e + AHEAD]])
                v = system.indices[e]
                share = work.estimate[u]
                if weighted:
                    share *= system.weights[e]
                    work.cells[v].threshold += fabs(share)
                work.cells[v].residual += share
                work.cells[v].threshold += fabs(work.cells[v].residual)
            before = walked
            walked += system.stops[u] - system.starts[u]
            if is_poll_due(before, walked):
                poll_signals()
        for i in range(work.n_touched):
            u = work.touched[i]
            settled = value_of(system, work, u)
            work.cells[u].residual -= settled
            work.cells[u].threshold = (
                UNIT * (work.cells[u].threshold + fabs(work.cells[u].residual))
                + rounding_of(system, u) * fabs(settled)
            )
