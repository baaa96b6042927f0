"""Scaling: the diagonal s of a kernel ``a diag(s) inv(H) diag(s) - g``."""

cimport cython

import numpy as np

from nx_fastonl.graph._view cimport GraphView


@cython.final
cdef class Scaling:
    """``s = sqrt(S)``; S is the given array, all ones, or by default the degrees."""

    def __init__(self, GraphView graph, double isolated, S=None, bint ones=False):
        self.graph, self.isolated, self.ones = graph, isolated, ones
        self.S = np.empty(0) if S is None else S
