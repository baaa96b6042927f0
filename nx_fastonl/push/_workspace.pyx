"""Workspace: arrays of the graph's length, all zero between two pushes."""

cimport cython
from libc.math cimport fabs

import numpy as np

from nx_fastonl._lib.typedefs cimport node_t

CELL = np.dtype([("residual", np.float64), ("threshold", np.float64)])


cdef void clear(Workspace work) noexcept nogil:
    """Reset the touched nodes, and with them the whole workspace."""
    cdef Py_ssize_t i
    cdef node_t u
    for i in range(work.n_touched):
        u = work.touched[i]
        work.estimate[u] = 0.0
        work.cells[u].residual = 0.0
        work.cells[u].threshold = -fabs(work.cells[u].threshold) if work.thresholds_known else 0.0
    work.n_touched = 0


@cython.final
cdef class Workspace:
    """Scratch memory of a push on a graph of n nodes. Memory is committed only where a push writes."""

    def __init__(self, Py_ssize_t n):
        cells = np.zeros(n, dtype=CELL)
        self._residuals = cells["residual"]
        self._touched = np.zeros(n + 1, dtype=np.int32)
        self.cells = cells
        self.touched = self._touched
        self.estimate = np.zeros(n)
        self.queue = np.zeros(n + 1, dtype=np.int32)
        self.n_touched = 0
        self.thresholds_known = False

    def know_thresholds(self, const double[::1] thresholds):
        """Set the threshold of every node in advance, so that pushes need not test whether a node is new."""
        cdef Py_ssize_t u
        for u in range(self.cells.shape[0]):
            self.cells[u].threshold = -at_least_smallest(thresholds[u])
        self.thresholds_known = True

    def start(self, sources, masses):
        """Place masses on distinct nodes of an empty workspace."""
        self._touched[: len(sources)] = sources
        self._residuals[sources] = masses
        self.n_touched = len(sources)

    def add(self, sources, masses):
        """Add masses to the residuals of distinct nodes, touched or not. Their thresholds are set by the next push."""
        new = sources[np.isin(sources, self._touched[: self.n_touched], invert=True)]
        self._touched[self.n_touched : self.n_touched + len(new)] = new
        self._residuals[sources] += masses
        self.n_touched += len(new)

    def resume(self, touched, estimate, residual):
        """Take estimates and residuals of the touched nodes, from arrays over all nodes, into an empty workspace."""
        self.start(touched, residual[touched])
        np.asarray(self.estimate)[touched] = estimate[touched]

    def drain(self):
        """Return the touched nodes, their estimates and residuals, and reset the workspace to zero."""
        nodes = np.empty(self.n_touched, dtype=np.int32)
        estimates = np.empty(self.n_touched)
        residuals = np.empty(self.n_touched)
        cdef node_t[::1] nodes_out = nodes
        cdef double[::1] estimates_out = estimates
        cdef double[::1] residuals_out = residuals
        cdef Py_ssize_t i
        cdef node_t u
        with nogil:
            for i in range(self.n_touched):
                u = self.touched[i]
                nodes_out[i] = u
                estimates_out[i] = self.estimate[u]
                residuals_out[i] = self.cells[u].residual
            clear(self)
        return nodes, estimates, residuals
