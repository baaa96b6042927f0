"""Nodes taken out of a network of conductors, without a subtraction: what is left of the weights keeps all its digits.

W holds the weight of the edge between nodes i > j in ``W[i, j]``; the rest of it is neither read nor kept. A node k with
the weights w_k to others, and s as their sum, leaves ``w_ki * w_kj / s`` between each two of these.
"""

import numpy as np

from libc.stdint cimport int64_t

from nx_fastonl._lib.exact cimport add_exactly


def eliminate(double[:, ::1] W, Py_ssize_t first, Py_ssize_t last, double[:, ::1] fractions):
    """Take out the nodes first..last, the last one first, of a network that has no more nodes.

    Only the rows of these nodes follow. For those above, ``W[first:last, :first]`` is left as each node saw it, and
    `fractions` gets the same, divided by each node's sum: the product of both is what must be added. A few dozen nodes
    at a time take milliseconds, so nothing here polls for Ctrl-C.
    """
    cdef Py_ssize_t i, k
    cdef double total
    with nogil:
        for k in range(last - 1, first - 1, -1):
            total = take_out(W, k, first)
            for i in range(first):
                fractions[k - first, i] = W[k, i] / total


def resistances_between(const double[:, ::1] W, const int64_t[:, ::1] pairs):
    """The resistance between the nodes of each pair, from taking out all others. For few nodes and pairs."""
    cdef Py_ssize_t n = W.shape[0], i, j, k, place, u, v
    values = np.empty(pairs.shape[0])
    cdef double[::1] out = values
    cdef double[:, ::1] rest = np.empty((n, n))
    cdef Py_ssize_t[::1] order = np.empty(n, dtype=np.intp)
    with nogil:
        for place in range(pairs.shape[0]):
            u, v = pairs[place, 0], pairs[place, 1]
            order[0], order[1] = u, v
            i = 2
            for k in range(n):
                if k != u and k != v:
                    order[i] = k
                    i += 1
            for i in range(n):
                for j in range(i):
                    rest[i, j] = W[max(order[i], order[j]), min(order[i], order[j])]
            for k in range(n - 1, 1, -1):
                take_out(rest, k, 1)
            out[place] = 1.0 / rest[1, 0]
    return values


cdef double take_out(double[:, ::1] W, Py_ssize_t k, Py_ssize_t first) noexcept nogil:
    """Take node k out of the nodes 0..k: the rows first..k follow. Returns the sum of its weights, which is not 0."""
    cdef Py_ssize_t i, j
    cdef double total = 0.0, lost = 0.0, fraction
    for j in range(k):
        add_exactly(W[k, j], &total, &lost)
    total += lost
    for i in range(first, k):
        fraction = W[k, i] / total
        if fraction != 0.0:
            for j in range(i):
                W[i, j] += fraction * W[k, j]
    return total
