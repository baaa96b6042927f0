"""Rows of a kernel matrix, each from one push, and bounds on their errors."""

cimport cython
from libc.math cimport fabs
from libc.stdint cimport int64_t

import numpy as np

from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.kernels._scaling cimport Scaling, s_of
from nx_fastonl.push._push cimport recompute_residual
from nx_fastonl.push._rows cimport RowBlock, RowPlan, gather_pushed, pack_row, push_row
from nx_fastonl.push._system cimport SystemView, degree_of
from nx_fastonl.push._workspace cimport Workspace, clear


@cython.final
cdef class Certifier:
    """Bounds the errors of rows of ``a diag(s) inv(H) diag(s)``; `c` is the diagonal ``H 1``.

    With ``|r| <= e c`` for the residual r of a push, no entry of inv(H) is off by more than e. Where `c` is not given, it
    is ``shift + slope * degree``. Scaling an entry rounds it by at most `rounding`, relative to the largest.
    """

    cdef const double[::1] c
    cdef double shift, slope, largest_s, rounding
    # Copies of a push's result, since its residual is computed anew in the workspace.
    cdef node_t[::1] nodes
    cdef double[::1] estimate
    cdef double[::1] c_at_nodes

    def __init__(self, double shift, double slope, double largest_s, double rounding, c=None):
        self.shift, self.slope, self.largest_s, self.rounding = shift, slope, largest_s, rounding
        self.c = np.empty(0) if c is None else c
        self.reserve(0)

    def reserve(self, Py_ssize_t size):
        self.nodes = np.empty(size, dtype=np.int32)
        self.estimate, self.c_at_nodes = np.empty(size), np.empty(size)


cdef inline double c_of(Certifier certifier, SystemView system, node_t u) noexcept nogil:
    if certifier.c.shape[0] > 0:
        return certifier.c[u]
    cdef double c = certifier.shift + certifier.slope * degree_of(system, u)
    return c if c != 0.0 else 1.0


cdef double error_of(
    Certifier certifier, SystemView system, Scaling scaling, Workspace work, node_t source, double a,
) except -1.0 nogil:
    """A bound on the error of each entry of the row that a push gives. The workspace holds the same estimate then."""
    cdef Py_ssize_t i, n = work.n_touched
    cdef node_t u
    cdef double off = 0.0, most = 0.0, s = s_of(scaling, source)
    if certifier.nodes.shape[0] < n:
        with gil:
            certifier.reserve(2 * n)
    for i in range(n):
        u = work.touched[i]
        certifier.nodes[i] = u
        certifier.estimate[i] = work.estimate[u]
        certifier.c_at_nodes[i] = c_of(certifier, system, u)
        most = max(most, fabs(work.estimate[u]))
    clear(work)
    recompute_residual(
        system, work, source, certifier.nodes[:n], certifier.estimate[:n], certifier.c_at_nodes[:n],
    )
    for i in range(n):
        u = certifier.nodes[i]
        off = max(off, (fabs(work.cells[u].residual) + work.cells[u].threshold) / certifier.c_at_nodes[i])
    cdef double scale = a * s * (certifier.largest_s if system.stops[source] > system.starts[source] else s)
    return scale * (off * (1.0 + certifier.rounding) + certifier.rounding * most)


def kernel_rows(
    SystemView system, Scaling scaling, Workspace work, RowBlock block, const node_t[::1] sources, RowPlan plan, double a,
    Certifier certifier,
):
    """Add the rows ``a diag(s) inv(H) diag(s)`` of the sources to the block; return how many were added.

    They are fewer than the sources if the push of the next one has walked as many edges as it may. Without a certifier,
    their errors are written as 0.
    """
    cdef Py_ssize_t i, n_pushed, made = 0
    cdef int64_t operations = 0
    cdef double mass, scale, error = 0.0
    cdef bint certify = certifier is not None
    block.check_room(sources.shape[0])
    with nogil:
        while made < sources.shape[0] and push_row(system, work, plan, sources[made], &operations):
            if certify:
                error = error_of(certifier, system, scaling, work, sources[made], a)
            n_pushed = gather_pushed(work, &mass)
            scale = a * s_of(scaling, sources[made])
            for i in range(n_pushed):
                work.estimate[work.queue[i]] *= scale * s_of(scaling, work.queue[i])
            pack_row(block, work, n_pushed, plan.top_k, error)
            made += 1
        clear(work)
    return made
