"""Scaling: the diagonal s of a kernel ``a diag(s) inv(H) diag(s) - g``."""

cimport cython

import numpy as np

from nx_fastonl.graph._view cimport GraphView


@cython.final
cdef class Scaling:
    """``s = sqrt(S)``; S is the given array, the same for all nodes, or by default the degrees."""

    def __init__(self, GraphView graph, double isolated, S=None, double constant=0.0):
        self.graph, self.isolated, self.constant = graph, isolated, constant
        self.S = np.empty(0) if S is None else S
