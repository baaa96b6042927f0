"""Scaling: the diagonal s of a kernel ``a diag(s) inv(H) diag(s) - g``."""

cimport cython

from nx_fastonl.graph._view cimport GraphView


@cython.final
cdef class Scaling:
    """``s = sqrt(S)``; S is the given array, all ones, or by default the degrees."""

    def __init__(self, GraphView graph, double isolated, S=None, bint ones=False):
        self.graph, self.isolated, self.ones = graph, isolated, ones
        if S is not None:
            self.S = S
