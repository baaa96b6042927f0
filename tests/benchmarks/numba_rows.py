"""The k largest values of many PageRank vectors in numba: the peers that a user would write.

All push in the order of a queue, in float64 and on one thread, and return two arrays with a row per source: nodes, from
the largest value down, and values. Where fewer than k nodes were reached, nodes are -1 and values 0.
"""

import numba
import numpy as np

from tests.benchmarks.numba_fifo import fifo_push


@numba.njit
def from_dicts(indptr, indices, sources, alpha, epsilon, k):
    """Estimates and residuals in dicts and the queue in a list, as PPRGo's paper describes its push.

    A node is appended when its residual reaches the threshold. It stays above until it is pushed, so it is in the queue
    once.
    """
    top_nodes, top_values = _no_rows(len(sources), k)
    for row, source in enumerate(sources):
        estimate = {source: 0.0}
        residual = {source: 1.0}
        queue = [source]
        head = 0
        while head < len(queue):
            u = queue[head]
            head += 1
            mass = residual[u]
            residual[u] = 0.0
            estimate[u] = estimate.get(u, 0.0) + alpha * mass
            neighbors = indices[indptr[u] : indptr[u + 1]]
            share = (1 - alpha) * mass / max(len(neighbors), 1)
            for v in neighbors:
                before = residual.get(v, 0.0)
                residual[v] = before + share
                threshold = epsilon * (indptr[v + 1] - indptr[v])
                if before < threshold <= before + share:
                    queue.append(v)
        nodes, values = np.empty(len(estimate), np.int32), np.empty(len(estimate))
        for i, (u, value) in enumerate(estimate.items()):
            nodes[i], values[i] = u, value
        _keep_largest(nodes, values, top_nodes[row], top_values[row])
    return top_nodes, top_values


@numba.njit
def from_new_arrays(indptr, indices, sources, alpha, epsilon, k):
    """`numba_fifo.fifo_push`, which makes arrays of the graph's length for each source."""
    top_nodes, top_values = _no_rows(len(sources), k)
    for row, source in enumerate(sources):
        estimate, _ = fifo_push(indptr, indices, source, alpha, epsilon)
        nodes = np.flatnonzero(estimate)
        _keep_largest(nodes, estimate[nodes], top_nodes[row], top_values[row])
    return top_nodes, top_values


@numba.njit
def from_kept_arrays(indptr, indices, sources, alpha, epsilon, k):
    """Arrays of the graph's length, made once: after a source, only what was touched is set to zero."""
    n = len(indptr) - 1
    top_nodes, top_values = _no_rows(len(sources), k)
    estimate, residual, met = np.zeros(n), np.zeros(n), np.zeros(n, np.bool_)
    threshold = epsilon * (indptr[1:] - indptr[:-1])
    # The queue is a ring: a node is in it once, beside the node that is being pushed.
    queue, touched = np.empty(n + 1, np.int32), np.empty(n, np.int32)
    for row, source in enumerate(sources):
        residual[source], met[source] = 1.0, True
        queue[0], touched[0], n_touched = source, source, 1
        head, tail = 0, 1
        while head != tail:
            u = queue[head]
            head = head + 1 if head < n else 0
            mass = residual[u]
            estimate[u] += alpha * mass
            residual[u] = 0.0
            start, end = indptr[u], indptr[u + 1]
            share = (1 - alpha) * mass / max(end - start, 1)
            for e in range(start, end):
                v = indices[e]
                before = residual[v]
                residual[v] = before + share
                if not met[v]:
                    met[v] = True
                    touched[n_touched] = v
                    n_touched += 1
                if before < threshold[v] <= before + share:
                    queue[tail] = v
                    tail = tail + 1 if tail < n else 0
        nodes = touched[:n_touched]
        pushed = nodes[estimate[nodes] > 0.0]
        _keep_largest(pushed, estimate[pushed], top_nodes[row], top_values[row])
        estimate[nodes], residual[nodes], met[nodes] = 0.0, 0.0, False
    return top_nodes, top_values


@numba.njit
def _no_rows(n_rows, k):
    return np.full((n_rows, k), -1, np.int32), np.zeros((n_rows, k))


@numba.njit
def _keep_largest(nodes, values, top_nodes, top_values):
    order = np.argsort(-values)[: len(top_nodes)]
    top_nodes[: len(order)] = nodes[order]
    top_values[: len(order)] = values[order]
