"""A straightforward FIFO push in numba: the peer that a user would write."""

import numba
import numpy as np


@numba.njit
def fifo_push(indptr, indices, source, alpha, epsilon):
    n = len(indptr) - 1
    estimate, residual = np.zeros(n), np.zeros(n)
    queue, queued = np.zeros(n + 1, np.int32), np.zeros(n, np.bool_)
    residual[source], queue[0], queued[source] = 1.0, source, True
    head, tail = 0, 1
    while head != tail:
        u = queue[head]
        head = head + 1 if head < n else 0
        queued[u] = False
        mass = residual[u]
        estimate[u] += alpha * mass
        residual[u] = 0.0
        share = (1 - alpha) * mass / (indptr[u + 1] - indptr[u])
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            residual[v] += share
            if not queued[v] and residual[v] >= epsilon * (indptr[v + 1] - indptr[v]):
                queue[tail] = v
                tail = tail + 1 if tail < n else 0
                queued[v] = True
    return estimate, residual
