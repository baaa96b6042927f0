"""The paper's loop in numba, as one would write it: a FIFO push for each node, dense columns, unweighted graphs."""

import numba
import numpy as np

from tests.benchmarks.numba_fifo import fifo_push


@numba.njit
def fastonl(indptr, indices, labels, order, k, smoothness, epsilon):
    """Predicted labels for the normalised Laplacian with trace k n^2; ties go to the first label."""
    n = len(indptr) - 1
    alpha = smoothness / (1 + smoothness)
    root_degrees = np.sqrt((indptr[1:] - indptr[:-1]).astype(np.float64))
    gradients = np.zeros((k, n))
    A, trace = 0.0, k * float(n) ** 2
    predicted = np.zeros(len(order), np.int64)
    for i, t in enumerate(order):
        pagerank, _ = fifo_push(indptr, indices, t, alpha, epsilon)
        column = 2 * n * pagerank / root_degrees * root_degrees[t]
        v = np.dot(gradients, column)
        psi = -v / np.sqrt(A + k * trace)
        falling = np.sort(psi)[::-1]
        total = 0.0
        tau, support = 0.0, 0
        for j in range(k):
            if j > 0 and falling[j] <= tau:
                break
            total += falling[j]
            support = j + 1
            tau = (total - 1) / support
        predicted[i] = np.argmax(psi)
        y = labels[t]
        gradient = np.zeros(k)
        if psi[y] > tau:
            gradient[psi > tau] = 1 / support
            gradient[y] -= 1
        else:
            rivals = psi.copy()
            rivals[y] = -np.inf
            gradient[np.argmax(rivals)] = 1 / (1 + 1 / support)
            gradient[y] = -1 / (1 + 1 / support)
        gradients[:, t] = gradient
        A += 2 * np.dot(gradient, v) + column[t] * np.dot(gradient, gradient)
        trace -= column[t]
    return predicted
