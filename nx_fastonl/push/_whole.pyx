"""Vectors that cover the graph: each node pulls from its neighbours, and nothing that is shared is written.

Each function works on some chunks of rows, first..last, so that threads can divide them. Sums are taken per chunk: the
result does not depend on which thread took which chunk.
"""

from cython cimport floating
from libc.math cimport fabs

from nx_fastonl._lib.signals cimport EDGES_PER_POLL, is_poll_due, poll_or_cancel, poll_signals
from nx_fastonl._lib.typedefs cimport node_t, offset_t
from nx_fastonl.push._pulled cimport CHUNK, LANES, PulledRows, pull_lanes, pulled, pulled_exactly


def steps(
    PulledRows rows, const floating[::1] b, floating[::1] x, floating[::1] previous, const double[::1] omegas,
    const unsigned char[::1] cancelled, Py_ssize_t first, Py_ssize_t last,
):
    """Steps of Chebyshev's iteration. Each writes the next vector over the previous one.

    With y = (b + W x) / pivot, the next vector is ``previous + omega * (y - previous)``. After an odd number of steps
    the latest vector is in `previous`, else in `x`.
    """
    cdef const offset_t[::1] offsets = rows.offsets
    cdef const node_t[::1] columns = rows.columns
    cdef const double[::1] weights = rows.weights
    cdef const double[::1] shares = rows.shares
    cdef floating[::1] here = x, there = previous
    cdef Py_ssize_t step, i, stop = min(last * CHUNK, shares.shape[0]), edges = 0
    cdef floating y, omega
    with nogil:
        for step in range(omegas.shape[0]):
            omega = <floating> omegas[step]
            for i in range(first * CHUNK, stop):
                y = (b[i] + pulled(columns, weights, here, offsets[i], offsets[i + 1])) * <floating> shares[i]
                there[i] += omega * (y - there[i])
            here, there = there, here
            edges += offsets[stop] - offsets[first * CHUNK]
            if edges > EDGES_PER_POLL:
                poll_or_cancel(cancelled)
                edges = 0


def block_steps(
    PulledRows rows, const floating[:, ::1] b, floating[:, ::1] x, floating[:, ::1] previous, const double[::1] omegas,
    const unsigned char[::1] cancelled, Py_ssize_t first, Py_ssize_t last,
):
    """`steps` for several vectors at once, one in each column."""
    cdef const offset_t[::1] offsets = rows.offsets
    cdef const node_t[::1] columns = rows.columns
    cdef const double[::1] weights = rows.weights
    cdef const double[::1] shares = rows.shares
    cdef floating[:, ::1] here = x, there = previous
    cdef Py_ssize_t step, i, j, lane, block, k = x.shape[1], n_blocks = (k + LANES - 1) // LANES
    cdef Py_ssize_t stop = min(last * CHUNK, shares.shape[0]), edges = 0
    cdef floating omega, share
    cdef floating sums[LANES]
    with nogil:
        for step in range(omegas.shape[0]):
            omega = <floating> omegas[step]
            for i in range(first * CHUNK, stop):
                share = <floating> shares[i]
                for block in range(n_blocks):
                    lane = block * LANES
                    pull_lanes(columns, weights, here, offsets[i], offsets[i + 1], lane, sums)
                    for j in range(lane, min(lane + LANES, k)):
                        there[i, j] += omega * ((b[i, j] + sums[j - lane]) * share - there[i, j])
            here, there = there, here
            edges += k * (offsets[stop] - offsets[first * CHUNK])
            if edges > EDGES_PER_POLL:
                poll_or_cancel(cancelled)
                edges = 0


def residual(
    PulledRows rows, const double[::1] b, const double[::1] x, double[::1] out, double[::1] sums,
    Py_ssize_t first, Py_ssize_t last,
):
    """Write ``b - H x``, right to the last digits however long rows are; the sum of its magnitudes for each chunk."""
    cdef const offset_t[::1] offsets = rows.offsets
    cdef const node_t[::1] columns = rows.columns
    cdef const double[::1] weights = rows.weights
    cdef const double[::1] pivots = rows.pivots
    cdef Py_ssize_t chunk, i, n = pivots.shape[0]
    cdef double total
    with nogil:
        for chunk in range(first, last):
            total = 0.0
            for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, n)):
                out[i] = b[i] + pulled_exactly(columns, weights, x, offsets[i], offsets[i + 1]) - x[i] * pivots[i]
                total += fabs(out[i])
            sums[chunk] = total
            if is_poll_due(offsets[chunk * CHUNK], offsets[min((chunk + 1) * CHUNK, n)]):
                poll_signals()


def block_residual(
    PulledRows rows, const double[:, ::1] b, const double[:, ::1] x, double[:, ::1] out, double[:, ::1] sums,
    Py_ssize_t first, Py_ssize_t last,
):
    """`residual` for several vectors at once, one in each column."""
    cdef const offset_t[::1] offsets = rows.offsets
    cdef const node_t[::1] columns = rows.columns
    cdef const double[::1] weights = rows.weights
    cdef const double[::1] pivots = rows.pivots
    cdef Py_ssize_t chunk, i, j, lane, block, n = pivots.shape[0], k = x.shape[1], n_blocks = (k + LANES - 1) // LANES
    cdef double pulled_sums[LANES]
    with nogil:
        for chunk in range(first, last):
            for j in range(k):
                sums[chunk, j] = 0.0
            for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, n)):
                for block in range(n_blocks):
                    lane = block * LANES
                    pull_lanes(columns, weights, x, offsets[i], offsets[i + 1], lane, pulled_sums)
                    for j in range(lane, min(lane + LANES, k)):
                        out[i, j] = b[i, j] + pulled_sums[j - lane] - x[i, j] * pivots[i]
                        sums[chunk, j] += fabs(out[i, j])
            if is_poll_due(k * offsets[chunk * CHUNK], k * offsets[min((chunk + 1) * CHUNK, n)]):
                poll_signals()


def gauss_seidel(
    PulledRows rows, const double[::1] b, double[::1] x, double target, Py_ssize_t most,
    const unsigned char[::1] cancelled,
):
    """Sweeps of Gauss and Seidel over all rows, until the mass of the residual is at most `target`; their number.

    A row that changes by d leaves ``weight * d`` at rows before it. So the mass is at most the sum of ``pivot * d``.
    """
    cdef const offset_t[::1] offsets = rows.offsets
    cdef const node_t[::1] columns = rows.columns
    cdef const double[::1] weights = rows.weights
    cdef const double[::1] pivots = rows.pivots
    cdef Py_ssize_t count = 0, i, edges = 0
    cdef double y, mass = target + 1.0
    with nogil:
        while mass > target and count < most:
            mass = 0.0
            for i in range(x.shape[0]):
                y = (b[i] + pulled(columns, weights, x, offsets[i], offsets[i + 1])) / pivots[i]
                mass += pivots[i] * fabs(y - x[i])
                x[i] = y
            count += 1
            edges += columns.shape[0]
            if edges > EDGES_PER_POLL:
                poll_or_cancel(cancelled)
                edges = 0
    return count
