"""The steps of BiCGSTAB (van der Vorst, 1992) on ``y - W (y / pivot) = b``.

Its vectors are the rows of one array. Each function works on the chunks first..last of rows of the system, so that
threads can divide them, and takes sums per chunk: the result does not depend on which thread took which chunk.
"""

from cython cimport floating
from libc.math cimport fabs

import numpy as np

from nx_fastonl._lib.signals cimport poll_or_cancel
from nx_fastonl._lib.typedefs cimport node_t, offset_t
from nx_fastonl.push._pulled cimport CHUNK, PulledRows, pulled

cdef enum:
    # z = y / pivot is the estimate, r the residual, and the shadow is the first residual. p is a direction, s what is
    # left after a step along it; v and t are the system times p and s. Each of these two stands beside itself / pivot.
    Z
    R
    SHADOW
    P
    P_SCALED
    V
    S
    S_SCALED
    T
    COUNT


def start(b):
    """The vectors at the start, and the square of the residual."""
    vectors = np.zeros((COUNT, len(b)), dtype=b.dtype)
    vectors[R] = vectors[SHADOW] = b
    return vectors, float(np.square(b, dtype=np.float64).sum())


def estimate(vectors):
    return vectors[Z]


def turn(PulledRows rows, floating[:, ::1] vectors, floating beta, floating omega, Py_ssize_t first, Py_ssize_t last):
    """The next direction: ``p = r + beta (p - omega v)``."""
    cdef floating[::1] r = vectors[R], p = vectors[P], scaled = vectors[P_SCALED], v = vectors[V]
    cdef const double[::1] shares = rows.shares
    cdef Py_ssize_t i
    with nogil:
        for i in range(first * CHUNK, min(last * CHUNK, p.shape[0])):
            p[i] = r[i] + beta * (p[i] - omega * v[i])
            scaled[i] = p[i] * <floating> shares[i]


def step(PulledRows rows, floating[:, ::1] vectors, floating alpha, Py_ssize_t first, Py_ssize_t last):
    """What a step along the direction leaves: ``s = r - alpha v``."""
    cdef floating[::1] r = vectors[R], v = vectors[V], s = vectors[S], scaled = vectors[S_SCALED]
    cdef const double[::1] shares = rows.shares
    cdef Py_ssize_t i
    with nogil:
        for i in range(first * CHUNK, min(last * CHUNK, s.shape[0])):
            s[i] = r[i] - alpha * v[i]
            scaled[i] = s[i] * <floating> shares[i]


def multiply_direction(
    PulledRows rows, floating[:, ::1] vectors, double[:, ::1] sums, const unsigned char[::1] cancelled,
    Py_ssize_t first, Py_ssize_t last,
):
    """``v = p - W (p / pivot)``, and for each chunk its products with the shadow and with itself."""
    multiply(rows, vectors[P], vectors[P_SCALED], vectors[V], vectors[SHADOW], sums, first, last)
    poll_or_cancel(cancelled)


def multiply_rest(
    PulledRows rows, floating[:, ::1] vectors, double[:, ::1] sums, const unsigned char[::1] cancelled,
    Py_ssize_t first, Py_ssize_t last,
):
    """``t = s - W (s / pivot)``, and for each chunk its products with s and with itself."""
    multiply(rows, vectors[S], vectors[S_SCALED], vectors[T], vectors[S], sums, first, last)
    poll_or_cancel(cancelled)


cdef void multiply(
    PulledRows rows, const floating[::1] x, const floating[::1] scaled, floating[::1] out, const floating[::1] other,
    double[:, ::1] sums, Py_ssize_t first, Py_ssize_t last,
) noexcept:
    cdef const offset_t[::1] offsets = rows.offsets
    cdef const node_t[::1] columns = rows.columns
    cdef const double[::1] weights = rows.weights
    cdef Py_ssize_t chunk, i, n = x.shape[0]
    cdef double with_other, with_itself
    with nogil:
        for chunk in range(first, last):
            with_other = with_itself = 0.0
            for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, n)):
                out[i] = x[i] - pulled(columns, weights, scaled, offsets[i], offsets[i + 1])
                with_other += <double> out[i] * other[i]
                with_itself += <double> out[i] * out[i]
            sums[chunk, 0] = with_other
            sums[chunk, 1] = with_itself


def advance(
    floating[:, ::1] vectors, floating alpha, floating omega, double[:, ::1] sums, Py_ssize_t first, Py_ssize_t last
):
    """Add ``alpha p + omega s`` to the estimate: ``r = s - omega t``; for each chunk, r times the shadow and r's mass."""
    cdef floating[::1] z = vectors[Z], r = vectors[R], shadow = vectors[SHADOW], s = vectors[S], t = vectors[T]
    cdef floating[::1] p_scaled = vectors[P_SCALED], s_scaled = vectors[S_SCALED]
    cdef Py_ssize_t chunk, i, n = z.shape[0]
    cdef double with_shadow, mass
    with nogil:
        for chunk in range(first, last):
            with_shadow = mass = 0.0
            for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, n)):
                z[i] += alpha * p_scaled[i] + omega * s_scaled[i]
                r[i] = s[i] - omega * t[i]
                with_shadow += <double> r[i] * shadow[i]
                mass += fabs(r[i])
            sums[chunk, 0] = with_shadow
            sums[chunk, 1] = mass
