"""The steps of conjugate gradients for several columns, and the energy of the flows that potentials drive.

The system is the Laplacian of a connected graph without self-loops, the preconditioner its diagonal. Each function works
on the chunks first..last of rows, so that threads can divide them. Sums are taken per chunk and column: the result
depends neither on which thread took which chunk, nor on the other columns.
"""

from libc.math cimport fabs

import numpy as np

from nx_fastonl._lib.exact cimport add_exactly
from nx_fastonl._lib.signals cimport is_poll_due, poll_signals
from nx_fastonl._lib.typedefs cimport node_t, offset_t
from nx_fastonl.push._pulled cimport CHUNK, LANES, PulledRows, pull_lanes

cdef enum:
    # Terms that are added one after another, before `add_exactly` adds their sum: equal terms round in one direction,
    # so of m of them, the sum would be off by up to m units of rounding.
    LONG = 64

# A little more than a unit of rounding, so that bounds that are computed with it may be rounded themselves.
cdef double UNIT = 1.2e-16


def update_directions(
    PulledRows rows, const double[:, ::1] r, double[:, ::1] p, const double[::1] betas,
    Py_ssize_t first, Py_ssize_t last,
):
    """The next directions: ``p = r / pivot + beta p``."""
    cdef const double[::1] shares = rows.shares
    cdef Py_ssize_t chunk, i, j, n = p.shape[0], k = p.shape[1]
    with nogil:
        for chunk in range(first, last):
            for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, n)):
                for j in range(k):
                    p[i, j] = r[i, j] * shares[i] + betas[j] * p[i, j]
            if is_poll_due(k * CHUNK * chunk, k * CHUNK * (chunk + 1)):
                poll_signals()


def multiply(
    PulledRows rows, const double[:, ::1] p, double[:, ::1] q, double[:, ::1] sums, Py_ssize_t first, Py_ssize_t last,
):
    """``q = L p``, and for each chunk the product of both."""
    cdef const offset_t[::1] offsets = rows.offsets
    cdef const node_t[::1] columns = rows.columns
    cdef const double[::1] weights = rows.weights
    cdef const double[::1] pivots = rows.pivots
    cdef Py_ssize_t chunk, i, j, lane, block, n = p.shape[0], k = p.shape[1], n_blocks = (k + LANES - 1) // LANES
    cdef double pulled_sums[LANES]
    with nogil:
        for chunk in range(first, last):
            for j in range(k):
                sums[chunk, j] = 0.0
            for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, n)):
                for block in range(n_blocks):
                    lane = block * LANES
                    pull_lanes(columns, weights, p, offsets[i], offsets[i + 1], lane, pulled_sums)
                    for j in range(lane, min(lane + LANES, k)):
                        q[i, j] = pivots[i] * p[i, j] - pulled_sums[j - lane]
                        sums[chunk, j] += p[i, j] * q[i, j]
            if is_poll_due(k * offsets[chunk * CHUNK], k * offsets[min((chunk + 1) * CHUNK, n)]):
                poll_signals()


def advance(
    PulledRows rows, double[:, ::1] x, double[:, ::1] r, const double[:, ::1] p, const double[:, ::1] q,
    const double[::1] alphas, double[:, ::1] sums, Py_ssize_t first, Py_ssize_t last,
):
    """Add ``alpha p`` to the potentials x, take ``alpha q`` from r; for each chunk, the sums of ``r**2 / pivot``."""
    cdef const double[::1] shares = rows.shares
    cdef Py_ssize_t chunk, i, j, n = x.shape[0], k = x.shape[1]
    with nogil:
        for chunk in range(first, last):
            for j in range(k):
                sums[chunk, j] = 0.0
            for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, n)):
                for j in range(k):
                    x[i, j] += alphas[j] * p[i, j]
                    r[i, j] -= alphas[j] * q[i, j]
                    sums[chunk, j] += r[i, j] * r[i, j] * shares[i]
            if is_poll_due(k * CHUNK * chunk, k * CHUNK * (chunk + 1)):
                poll_signals()


def residual_and_energy(
    PulledRows rows, const double[:, ::1] b, const double[:, ::1] x, double[:, ::1] r, double[:, ::1] slack,
    double[:, :, ::1] sums, Py_ssize_t first, Py_ssize_t last,
):
    """Write ``r = b - L x``; for each chunk, twice the energy of x, and the sums of ``b x`` and ``r**2 / pivot``.

    The flow along an edge is computed from the difference of two potentials, so it is right to the last digits, however
    much weights differ. Below the first two sums stands what rounding took from each: long rows and chunks lose nothing.
    `slack` gets a bound on the rounding errors of r. With a flow of 1, r is never known better than to 1e-16; along an
    edge that hardly conducts, the energy of that may be large.
    """
    cdef const offset_t[::1] offsets = rows.offsets
    cdef const node_t[::1] columns = rows.columns
    cdef const double[::1] weights = rows.weights
    cdef const double[::1] shares = rows.shares
    cdef bint weighted = weights.shape[0] > 0
    cdef Py_ssize_t chunk, i, j, block, lane, count, n = x.shape[0], k = x.shape[1]
    cdef offset_t e, start, stop
    cdef double drop, weight, units
    cdef double here[LANES]
    cdef double size[LANES]
    cdef double flow[LANES]
    cdef double energy[LANES]
    cdef double row_flow[LANES]
    cdef double flow_lost[LANES]
    with nogil:
        for chunk in range(first, last):
            sums[chunk] = 0.0
            for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, n)):
                for block in range((k + LANES - 1) // LANES):
                    lane = block * LANES
                    count = min(<Py_ssize_t> LANES, k - lane)
                    for j in range(count):
                        here[j] = x[i, lane + j]
                        row_flow[j] = flow_lost[j] = size[j] = 0.0
                    stop = offsets[i]
                    while stop < offsets[i + 1]:
                        start, stop = stop, min(stop + LONG, offsets[i + 1])
                        for j in range(count):
                            flow[j] = energy[j] = 0.0
                        for e in range(start, stop):
                            weight = weights[e] if weighted else 1.0
                            for j in range(count):
                                drop = here[j] - x[columns[e], lane + j]
                                flow[j] += weight * drop
                                size[j] += fabs(weight * drop)
                                energy[j] += weight * drop * drop
                        for j in range(count):
                            add_exactly(flow[j], &row_flow[j], &flow_lost[j])
                            add_exactly(energy[j], &sums[chunk, 0, lane + j], &sums[chunk, 1, lane + j])
                    # Differences, products and sums of a row's terms are rounded, and so are two differences with b.
                    units = UNIT * (min(offsets[i + 1] - offsets[i], <offset_t> LONG) + 2)
                    for j in range(count):
                        r[i, lane + j] = b[i, lane + j] - row_flow[j] - flow_lost[j]
                        slack[i, lane + j] = units * size[j] + 2.0 * UNIT * fabs(r[i, lane + j])
                        add_exactly(b[i, lane + j] * here[j], &sums[chunk, 2, lane + j], &sums[chunk, 3, lane + j])
                        sums[chunk, 4, lane + j] += r[i, lane + j] * r[i, lane + j] * shares[i]
            if is_poll_due(k * offsets[chunk * CHUNK], k * offsets[min((chunk + 1) * CHUNK, n)]):
                poll_signals()


def add_node_currents(
    PulledRows rows, const double[:, ::1] x, const node_t[:, ::1] ends, double[::1] currents,
    Py_ssize_t first, Py_ssize_t last,
):
    """Add the magnitudes of the flows at each node, in all columns but those of which it is an end.

    A node with one neighbour passes nothing on.
    """
    cdef const offset_t[::1] offsets = rows.offsets
    cdef const node_t[::1] columns = rows.columns
    cdef const double[::1] weights = rows.weights
    cdef bint weighted = weights.shape[0] > 0
    cdef Py_ssize_t chunk, i, j, e, n = x.shape[0], k = x.shape[1]
    cdef double total, lost
    with nogil:
        for chunk in range(first, last):
            for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, n)):
                if offsets[i + 1] - offsets[i] < 2:
                    continue
                for j in range(k):
                    if ends[j, 0] == i or ends[j, 1] == i:
                        continue
                    total = lost = 0.0
                    for e in range(offsets[i], offsets[i + 1]):
                        add_exactly((weights[e] if weighted else 1.0) * fabs(x[i, j] - x[columns[e], j]), &total, &lost)
                    currents[i] += total + lost
            if is_poll_due(k * offsets[chunk * CHUNK], k * offsets[min((chunk + 1) * CHUNK, n)]):
                poll_signals()


def tree_energy(
    const node_t[::1] order, const node_t[::1] parents, const double[::1] resistances, double[:, ::1] flows,
    double[:, ::1] slack,
):
    """Send what each row has of each column along a tree to its root; the largest energy that these flows may have.

    Each row of `order` stands behind its parent. What a row has may be off by its slack. What remains in `flows` is
    what each row sent, and in `slack` how far that may be off.
    """
    cdef Py_ssize_t place, j, k = flows.shape[1]
    cdef node_t u, parent
    cdef double flow, rounded
    energies, rest = np.zeros(k), np.zeros(k)
    cdef double[::1] out = energies, lost = rest
    with nogil:
        for place in range(order.shape[0] - 1, 0, -1):
            u, parent = order[place], parents[place]
            for j in range(k):
                flow = fabs(flows[u, j]) + slack[u, j]
                add_exactly(flow * flow * resistances[place], &out[j], &lost[j])
                rounded = 0.0
                add_exactly(flows[u, j], &flows[parent, j], &rounded)
                slack[parent, j] += slack[u, j] + fabs(rounded)
            if is_poll_due(k * place, k * (place + 1)):
                poll_signals()
    return energies + rest
