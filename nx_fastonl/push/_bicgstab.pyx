"""The loops of BiCGSTAB. Each works on the chunks first..last of rows, and takes sums per chunk, as in _whole.pyx."""

from cython cimport floating
from libc.math cimport fabs

from nx_fastonl._lib.signals cimport poll_or_cancel
from nx_fastonl._lib.typedefs cimport node_t, offset_t
from nx_fastonl.push._pulled cimport CHUNK, PulledRows, pulled


def direct(
    PulledRows rows, floating[::1] out, floating[::1] scaled, const floating[::1] x, floating a, const floating[::1] y, floating b,
    const floating[::1] z, Py_ssize_t first, Py_ssize_t last,
):
    """Write ``x + a y + b z``, and the same divided by the pivots; `out` may be one of x, y, z."""
    cdef const double[::1] shares = rows.shares
    cdef Py_ssize_t i
    with nogil:
        for i in range(first * CHUNK, min(last * CHUNK, out.shape[0])):
            out[i] = x[i] + a * y[i] + b * z[i]
            scaled[i] = out[i] * <floating> shares[i]


def apply(
    PulledRows rows, const floating[::1] x, const floating[::1] scaled, floating[::1] out, const floating[::1] other,
    double[:, ::1] sums, const unsigned char[::1] cancelled, Py_ssize_t first, Py_ssize_t last,
):
    """Write ``x - W (x / pivot)``, and for each chunk its products with `other` and with itself."""
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
        poll_or_cancel(cancelled)


def advance(
    floating[::1] z, floating a, const floating[::1] p, floating b, const floating[::1] scaled, floating[::1] r, const floating[::1] s,
    const floating[::1] t, const floating[::1] other, double[:, ::1] sums, Py_ssize_t first, Py_ssize_t last,
):
    """Add ``a p + b scaled`` to z, write ``r = s - b t``, and for each chunk its product with `other` and its mass."""
    cdef Py_ssize_t chunk, i, n = z.shape[0]
    cdef double with_other, mass
    with nogil:
        for chunk in range(first, last):
            with_other = mass = 0.0
            for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, n)):
                z[i] += a * p[i] + b * scaled[i]
                r[i] = s[i] - b * t[i]
                with_other += <double> r[i] * other[i]
                mass += fabs(r[i])
            sums[chunk, 0] = with_other
            sums[chunk, 1] = mass
