"""Vectors that cover the graph: each node pulls from its neighbours, and nothing that is shared is written.

Rows are divided into chunks, so that threads take chunks and the result does not depend on which thread took which.
"""

from cython cimport floating
from libc.math cimport fabs

from nx_fastonl._lib.signals cimport EDGES_PER_POLL, poll_or_cancel
from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.push._system cimport SystemView, pivot_of

cdef enum:
    # A chunk is short enough that four of them keep two threads busy, and long enough that starting one costs nothing.
    ROWS = 2048

ROWS_PER_CHUNK = ROWS


cdef inline double pulled(SystemView system, const floating[::1] x, Py_ssize_t u, bint weighted) noexcept nogil:
    """What node u pulls: the sum of its neighbours' values, times the weights."""
    cdef Py_ssize_t e = system.starts[u], stop = system.stops[u]
    cdef floating even = 0.0, odd = 0.0  # two sums, so that an addition need not wait for the one before
    if weighted:
        while e + 1 < stop:
            even += <floating> system.weights[e] * x[system.indices[e]]
            odd += <floating> system.weights[e + 1] * x[system.indices[e + 1]]
            e += 2
        if e < stop:
            even += <floating> system.weights[e] * x[system.indices[e]]
    else:
        while e + 1 < stop:
            even += x[system.indices[e]]
            odd += x[system.indices[e + 1]]
            e += 2
        if e < stop:
            even += x[system.indices[e]]
    return even + odd


cdef inline double pivot_at(SystemView system, Py_ssize_t u) noexcept nogil:
    return pivot_of(system, <node_t> u, system.stops[u] - system.starts[u])


def steps(
    SystemView system, const floating[::1] b, floating[::1] x, floating[::1] previous, const double[::1] omegas,
    const unsigned char[::1] cancelled, Py_ssize_t first, Py_ssize_t last,
):
    """Steps of Chebyshev's iteration in the chunks first..last. Each writes the next vector over the previous one.

    With y = (b + W x) / pivot, the next vector is ``previous + omega * (y - previous)``. After an odd number of steps
    the latest vector is in `previous`, else in `x`.
    """
    cdef floating[::1] here = x, there = previous
    cdef Py_ssize_t i, u, chunk, n = x.shape[0], edges = 0
    cdef bint weighted = system.weights.shape[0] > 0
    cdef double y
    with nogil:
        for i in range(omegas.shape[0]):
            for chunk in range(first, last):
                for u in range(chunk * ROWS, min((chunk + 1) * ROWS, n)):
                    y = (b[u] + pulled(system, here, u, weighted)) / pivot_at(system, u)
                    there[u] += <floating> (omegas[i] * (y - there[u]))
                    edges += system.stops[u] - system.starts[u]
                if edges > EDGES_PER_POLL:
                    poll_or_cancel(cancelled)
                    edges = 0
            here, there = there, here


def residual(
    SystemView system, const double[::1] b, const double[::1] x, double[::1] out, double[::1] sums,
    Py_ssize_t first, Py_ssize_t last,
):
    """Write ``b - H x`` in the chunks first..last, and the sum of its magnitudes for each chunk."""
    cdef Py_ssize_t chunk, u, n = x.shape[0]
    cdef bint weighted = system.weights.shape[0] > 0
    cdef double total
    with nogil:
        for chunk in range(first, last):
            total = 0.0
            for u in range(chunk * ROWS, min((chunk + 1) * ROWS, n)):
                out[u] = b[u] + pulled(system, x, u, weighted) - x[u] * pivot_at(system, u)
                total += fabs(out[u])
            sums[chunk] = total
