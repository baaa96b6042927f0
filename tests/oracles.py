"""Slow, obvious truths that the fast code is tested against. Everything is dense or a plain loop."""

import functools
import math
import operator
from collections import deque

import networkx as nx
import numpy as np


def adjacency(G, weight="weight"):
    """W[i, j] is the total weight of the edges from the i-th node to the j-th."""
    position = {node: i for i, node in enumerate(G)}
    W = np.zeros((len(G), len(G)))
    for u, v, data in G.edges(data=True):
        value = float(data.get(weight, 1)) if weight is not None else 1.0
        W[position[u], position[v]] += value
        if not G.is_directed() and u != v:
            W[position[v], position[u]] += value
    return W


def dense_system(W, alpha, kind):
    """H of `H z = b`: c + D - W with c = alpha / (1 - alpha) D for PageRank and alpha for the Laplacian.

    Columns spread mass, so a directed W is transposed; a node without out-edges has pivot 1.
    """
    degrees = W.sum(axis=1)
    pivots = degrees / (1 - alpha) if kind == "ppr" else degrees + alpha
    return np.diag(np.where(pivots == 0, 1.0, pivots)) - W.T


def to_vector(values, nodes):
    return np.array([values.get(node, 0.0) for node in nodes])


def fifo_push(G, source, alpha, epsilon, kind):
    """The paper's Algorithm 2 with dicts; returns estimate z, residual, operations, pushes, epochs and local bound."""
    weights = {u: {v: float(data.get("weight", 1)) for v, data in G[u].items()} for u in G}
    pivot, limit = {}, {}
    for u in G:
        degree = functools.reduce(operator.add, weights[u].values(), 0.0)
        pivot[u] = (1 / (1 - alpha) * degree if kind == "ppr" else alpha + degree) or 1.0
        limit[u] = (epsilon if kind == "ppr" else alpha * epsilon) * len(weights[u])
    estimate, residual = dict.fromkeys(G, 0.0), {u: source.get(u, 0.0) for u in G}
    queue = deque(u for u in source if residual[u] >= limit[u])
    operations = pushes = epochs = 0
    settled_parts, least_handed_over = [], math.inf
    while queue:
        epochs += 1
        parts = {u: 1 - sum(weights[u].values()) / pivot[u] for u in queue}
        volume = sum(len(weights[u]) for u in G if residual[u] > 0)
        settled = sum(parts[u] * len(weights[u]) for u in queue)
        settled_parts.append(min(settled / volume if volume else 1.0, *parts.values()))
        for _ in range(len(queue)):
            u = queue.popleft()
            share = residual[u] / pivot[u]
            estimate[u] += share
            residual[u] = 0.0
            pushes += 1
            for v, weight in weights[u].items():
                residual[v] += weight * share
                least_handed_over = min(least_handed_over, weight * limit[u] / pivot[u])
                operations += 1
                if residual[v] >= limit[v] and v not in queue:
                    queue.append(v)
    holders = sum(residual[u] > 0 and not (u in source and estimate[u] == 0) for u in G)
    bound = math.inf if epochs else 0.0
    if holders:
        mass_ratio = sum(source.values()) / (holders * least_handed_over)
        bound = operations / sum(settled_parts) * math.log(mass_ratio)
    return estimate, residual, operations, pushes, epochs, bound


def pagerank(W, personalization, damping, dangling=None):
    """The fixed point of x = damping (P^T x + dangling * mass in dead ends) + (1 - damping) personalization."""
    n = len(W)
    degrees = W.sum(axis=1)
    transition = np.divide(W, degrees[:, None], out=np.zeros_like(W), where=degrees[:, None] > 0)
    jump = personalization if dangling is None else dangling
    matrix = transition.T + np.outer(jump, degrees == 0)
    return np.linalg.solve(np.eye(n) - damping * matrix, (1 - damping) * personalization)


def networkx_pagerank(G, **parameters):
    return nx.pagerank(G, tol=1e-12 / len(G), max_iter=2000, **parameters)
