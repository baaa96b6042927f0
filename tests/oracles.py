"""Slow, obvious truths that the fast code is tested against. Everything is dense or a plain loop."""

import csv
import functools
import io
import math
import operator
import re
import zlib
from collections import deque
from fractions import Fraction

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
    pivot, threshold = {}, {}
    for u in G:
        degree = functools.reduce(operator.add, weights[u].values(), 0.0)
        pivot[u] = (1 / (1 - alpha) * degree if kind == "ppr" else alpha + degree) or 1.0
        threshold[u] = (epsilon if kind == "ppr" else alpha * epsilon) * len(weights[u])
    estimate, residual = dict.fromkeys(G, 0.0), {u: source.get(u, 0.0) for u in G}
    queue = deque(u for u in source if residual[u] >= threshold[u])
    operations = pushes = epochs = 0
    settled_fractions, least_handed_over = [], math.inf
    while queue:
        epochs += 1
        fractions = {u: 1 - sum(weights[u].values()) / pivot[u] for u in queue}
        volume = sum(len(weights[u]) for u in G if residual[u] > 0)
        settled = sum(fractions[u] * len(weights[u]) for u in queue)
        settled_fractions.append(min(settled / volume if volume else 1.0, *fractions.values()))
        for _ in range(len(queue)):
            u = queue.popleft()
            share = residual[u] / pivot[u]
            estimate[u] += share
            residual[u] = 0.0
            pushes += 1
            for v, weight in weights[u].items():
                residual[v] += weight * share
                least_handed_over = min(least_handed_over, weight * threshold[u] / pivot[u])
                operations += 1
                if residual[v] >= threshold[v] and v not in queue:
                    queue.append(v)
    holders = sum(residual[u] > 0 and not (u in source and estimate[u] == 0) for u in G)
    bound = math.inf if epochs else 0.0
    if holders:
        mass_ratio = sum(source.values()) / (holders * least_handed_over)
        bound = operations / sum(settled_fractions) * math.log(mass_ratio)
    return estimate, residual, operations, pushes, epochs, bound


def pagerank(W, personalization, damping, dangling=None):
    """The fixed point of x = damping (P^T x + dangling * mass in dead ends) + (1 - damping) personalization."""
    n = len(W)
    degrees = W.sum(axis=1)
    transition = np.divide(W, degrees[:, None], out=np.zeros_like(W), where=degrees[:, None] > 0)
    jump = personalization if dangling is None else dangling
    matrix = transition.T + np.outer(jump, degrees == 0)
    return np.linalg.solve(np.eye(n) - damping * matrix, (1 - damping) * personalization)


def sweep(W, order):
    """The cut, volume and conductance of each prefix, without rounding; 1 where one of the two sides has no edge."""
    edges = [(u, v, Fraction(W[u, v])) for u, v in np.argwhere(W).tolist()]
    found = []
    for size in range(1, len(order) + 1):
        inside = set(order[:size])
        cut = sum(weight for u, v, weight in edges if u in inside and v not in inside)
        volume = sum(weight for u, _, weight in edges if u in inside)
        smaller = min(volume, sum(weight for u, _, weight in edges if u not in inside))
        found.append((cut, volume, cut / smaller if smaller > 0 else 1))
    return found


def networkx_pagerank(G, **parameters):
    return nx.pagerank(G, tol=1e-12 / len(G), max_iter=2000, **parameters)


def outcome(function, *args, **kwargs):
    """What a call returns, or the type of what it raises: to compare with NetworkX in either case."""
    try:
        return function(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - whatever it is
        return type(error)


def inverse_kernel(W, name, beta=None, b=None, S=None):
    """K^-1 of the paper's Table 1, as it is defined; 0 to the power -1/2 is 0."""
    n = len(W)
    D = W.sum(axis=1)
    L = np.diag(D) - W

    def inverse_root(diagonal):
        return np.diag(np.divide(1, np.sqrt(diagonal), out=np.zeros(n), where=diagonal > 0))

    root_D, root_S = inverse_root(D), inverse_root(D if S is None else S)
    identity, ones = np.eye(n), np.ones((n, n))
    return {
        "laplacian": lambda: L,
        "normalized-laplacian": lambda: root_D @ L @ root_D,
        "normalized-adjacency": lambda: identity - beta * root_D @ W @ root_D,
        "scaled-laplacian": lambda: beta * identity + root_S @ L @ root_S,
        "scaled-regularized": lambda: root_S @ (beta * identity + L) @ root_S,
        "augmented-laplacian": lambda: L + b * ones + beta * identity,
    }[name]()


def kernel_matrix(W, name, lam, **parameters):
    n = len(W)
    return np.linalg.inv(inverse_kernel(W, name, **parameters) / (2 * lam) + np.eye(n) / (2 * n))


def kernel_form(W, name, lam, beta=None, b=0.0, S=None):
    """a, s, c and g of ``M = a diag(s) inv(diag(c) + L) diag(s) - g``, for graphs without isolated nodes."""
    n = len(W)
    x = lam / n
    D = W.sum(axis=1)
    ones = np.ones(n)
    S = D if S is None else np.asarray(S)
    al = (beta or 0.0) + x
    return {
        "laplacian": lambda: (2 * lam, ones, x * ones, 0.0),
        "normalized-laplacian": lambda: (2 * lam, np.sqrt(D), x * D, 0.0),
        "normalized-adjacency": lambda: (2 * lam / beta, np.sqrt(D), (1 + x - beta) / beta * D, 0.0),
        "scaled-laplacian": lambda: (2 * lam, np.sqrt(S), (beta + x) * S, 0.0),
        "scaled-regularized": lambda: (2 * lam, np.sqrt(S), beta + x * S, 0.0),
        "augmented-laplacian": lambda: (2 * lam, ones, al * ones, 2 * lam * b / (al * (al + n * b))),
    }[name]()


def rows_in_order(G):
    """The neighbours of each node by number, in the order in which the graph lists them."""
    position = {node: i for i, node in enumerate(G)}
    return [[position[v] for v in G[u]] for u in G]


def push_column(W, rows, pivots, thresholds, source, most_edges=np.inf):
    """The FIFO push on arrays: the estimate of column `source` of inv(diag(pivots) - W).

    It is the column itself where the push walks more than `most_edges` edges; each push counts as one more.
    """
    estimate, residual, edges = np.zeros(len(W)), np.zeros(len(W)), 0
    residual[source] = 1.0
    queue = deque([source] if residual[source] >= thresholds[source] else [])
    while queue:
        u = queue.popleft()
        edges += 1 + len(rows[u])
        if edges > most_edges:
            return np.linalg.inv(np.diag(pivots) - W)[:, source]
        share = residual[u] / pivots[u]
        estimate[u] += share
        residual[u] = 0.0
        for v in rows[u]:
            residual[v] += share * W[u, v]
            if residual[v] >= thresholds[v] and v not in queue:
                queue.append(v)
    return estimate


def push_lane(W, rows, pivots, thresholds, estimate, residual, node, mass):
    """Add mass to the residual of a node, and push active nodes in FIFO order, in place. Residuals are signed."""
    residual[node] += mass
    queue = deque([node] if abs(residual[node]) >= thresholds[node] else [])
    pushes = 0
    while queue:
        u = queue.popleft()
        share = residual[u] / pivots[u]
        estimate[u] += share
        residual[u] = 0.0
        pushes += 1
        for v in rows[u]:
            residual[v] += share * W[u, v]
            if abs(residual[v]) >= thresholds[v] and v not in queue:
                queue.append(v)
    return pushes


def water_filling(psi):
    """Q = max(psi - tau, 0) with sum 1, by bisection on tau."""
    low, high = min(psi) - 1.0, max(psi)
    for _ in range(200):
        tau = (low + high) / 2
        if np.maximum(psi - tau, 0).sum() > 1:
            low = tau
        else:
            high = tau
    return np.maximum(psi - high, 0)


def surrogate(psi, y):
    """The surrogate loss of Rakhlin and Sridharan and its gradient."""
    q = water_filling(psi)
    support = q > 1e-13
    identity = np.eye(len(psi))
    if support[y]:
        return 1 - q[y], support / support.sum() - identity[y]
    others = np.where(np.arange(len(psi)) == y, -np.inf, psi)
    rival = int((others >= others.max() - 1e-12 * np.abs(psi).max()).argmax())
    factor = 1 / (1 + 1 / support.sum())
    return (1 + psi[rival] - psi[y]) * factor, (identity[rival] - identity[y]) * factor


def first_of_tied(votes, size, counts, first_seen):
    """The most voted label; ties, up to rounding of `size`, by how often it was seen, then by when it first was."""
    tied = [y for y in range(len(votes)) if votes[y] >= max(votes) - 1e-12 * size]
    return min(tied, key=lambda y: (-counts[y], first_seen[y], y))


def relaxation(M, stream, k, trace):
    """The paper's algorithm on a matrix M, line by line; returns labels, distributions, losses, gradients and A."""
    n = len(M)
    G = np.zeros((k, n))
    A, T = 0.0, trace
    counts, first_seen = np.zeros(k), np.full(k, np.inf)
    labels, distributions, losses = [], [], []
    for i, (t, y) in enumerate(stream):
        v = G @ M[:, t]
        scale = max(A + k * max(T, 0.0), M[t, t])
        psi = -v / math.sqrt(scale) if scale > 0 else np.zeros(k)  # an approximate M need not be positive
        labels.append(first_of_tied(-v, (np.abs(G) @ np.abs(M[:, t])).max(), counts, first_seen))
        distributions.append(water_filling(psi))
        loss, gradient = surrogate(psi, y)
        losses.append(loss)
        A += 2 * gradient @ v + M[t, t] * gradient @ gradient
        T -= M[t, t]
        G[:, t] = gradient
        counts[y] += 1
        first_seen[y] = min(first_seen[y], i)
    return labels, distributions, losses, G, A


def perceptron_gradients(M, G, t, y, known, tolerance):
    """What a perceptron may store of node t when it learns label y: one gradient for each label that is tied for best.

    G has a column for each node, in which nothing is stored of t; `known` labels can be predicted.
    """
    identity = np.eye(len(G))
    if known == 0:
        return [-identity[y]]
    v = G[:known] @ M[:, t]
    tied = np.flatnonzero(v <= v.min() + tolerance * (np.abs(G) @ np.abs(M[:, t])).max())
    return [identity[predicted] - identity[y] for predicted in tied]


def perceptron_mistakes(M, labels, k):
    """The most mistakes that a perceptron can make on all nodes, where M is exact and all k labels are known.

    The functions F[j, i] = 1 if labels[i] == j else 0, minus 1 / k, tell the labels apart by a margin of 1. Their
    squared norm is the trace of F inv(M) F^T.
    """
    F = np.eye(k)[:, labels] - 1 / k
    return 2 * np.diag(M).max() * np.trace(F @ np.linalg.solve(M, F.T))


def scores(M, gradients):
    """G @ M, one row per node: smaller is better."""
    return (gradients @ M).T


def quadratic_form(M, gradients):
    """The paper's A: the sum of M[i, j] times the product of the gradients of i and j."""
    return float(np.trace(gradients @ M @ gradients.T))


def weighted_majority(W, stream, k):
    """The votes that each node gets from its neighbours earlier in the stream."""
    seen, found = {}, []
    for t, y in stream:
        votes = np.zeros(k)
        for u, label in seen.items():
            if u != t:
                votes[label] += W[t, u]
        found.append(votes)
        seen[t] = y
    return found


def calibration_error(probabilities, correct, bins):
    """The sum over bins of the fraction of predictions in it times |mean probability - accuracy|."""
    error = 0.0
    for i in range(bins):
        low, high = i / bins, (i + 1) / bins
        inside = [j for j, p in enumerate(probabilities) if low <= p < high or (i == bins - 1 and p == 1.0)]
        if inside:
            confidence = sum(probabilities[j] for j in inside) / len(inside)
            accuracy = sum(correct[j] for j in inside) / len(inside)
            error += len(inside) / len(probabilities) * abs(confidence - accuracy)
    return error


def tree_on_a_line(parents, weights):
    """The distances between all pairs of nodes, from a walk over each tree; infinite between trees."""
    n = len(parents)
    children = {u: [v for v in range(n) if parents[v] == u] for u in range(-1, n)}
    distance = np.full((n, n), np.inf)
    for root in children[-1]:
        steps = []  # nodes in the order of the walk, with the weights of the edges between them

        def walk(u, steps=steps):
            steps.append((u, None))
            for v in children[u]:
                steps.append((None, weights[v]))
                walk(v)
                steps.append((None, weights[v]))

        walk(root)
        line, along, lightest = [], [0.0], np.inf
        for node, weight in steps:
            if node is None:
                lightest = min(lightest, weight)
            else:
                if line:
                    along.append(along[-1] + 1 / lightest)
                line.append(node)
                lightest = np.inf
        for u, at_u in zip(line, along, strict=True):
            for v, at_v in zip(line, along, strict=True):
                distance[u, v] = abs(at_u - at_v)
    return distance


def expert_features(W, labels, u, k, smoothness, absorption=1.0, frequencies=None, stamps=None, unit=None):
    """What each expert of the adaptive learner says of node u, from definitions. `labels` is {node: label}, learned.

    `stamps` is {node: how much it counts}, for the experts that need no diffusion; 1 for all by default. `unit` is the
    mean weight, by default of W.
    """
    n = len(W)
    D = W.sum(axis=1)
    known = np.array(sorted(labels), dtype=int)
    y = np.array([labels[v] for v in known], dtype=int)
    if frequencies is None:
        frequencies = label_frequencies(y, k)
    H = np.diag(np.where(D > 0, smoothness * D, 1.0)) + np.diag(D) - W
    H[known, known] += absorption * D[known]
    B = np.zeros((n, k))
    B[known, y] = 1.0
    votes = np.linalg.solve(H, B)[u]
    least = 1e-13 * max(votes.sum(), np.linalg.inv(H)[u, u])
    mass = B.sum(axis=0)
    centred = votes - votes.sum() * mass / mass.sum() if mass.sum() > 0 else votes

    diffused = [_log_shares(votes, frequencies, least), _log_shares(centred, frequencies, least)]
    neighbors = _neighbor_features(W, labels, u, k, frequencies, stamps, unit)
    return np.array([*diffused, *neighbors, np.log(frequencies)])


def arrow_features(A, labels, u, k, smoothness, frequencies=None, stamps=None):
    """The same for a directed graph: after the experts on W + W^T, what arcs out and arcs in add to each of them."""
    y = np.array(list(labels.values()), dtype=int)
    edges = expert_features(A + A.T, labels, u, k, smoothness, frequencies=frequencies, stamps=stamps)
    if frequencies is None:
        frequencies = label_frequencies(y, k)
    views = [_neighbor_features(B, labels, u, k, frequencies, stamps) for B in (A, A.T)]
    return np.array([*edges, *(view[e] - edges[2 + e] for e in range(4) for view in views)])


def joining_features(A, labels, weights, k, smoothness, directed, stamps=None):
    """The same for a node that joins by these weights of edges, or of arcs out, and that no node of A sees.

    Its row is added to the matrix, and a column of zeros.
    """
    W = A + A.T if directed else A
    n = len(A)
    frequencies = label_frequencies(list(labels.values()), k, None if stamps is None else [stamps[v] for v in labels])
    units = [B[B > 0].mean() if (B > 0).any() else 1.0 for B in (W, A)]
    edges = expert_features(
        _with_row(W, weights), labels, n, k, smoothness, frequencies=frequencies, stamps=stamps, unit=units[0]
    )
    if not directed:
        return edges
    views = [_with_row(A, weights), _with_row(A.T, np.zeros(n))]
    views = [_neighbor_features(B, labels, n, k, frequencies, stamps, units[1]) for B in views]
    return np.array([*edges, *(view[e] - edges[2 + e] for e in range(4) for view in views)])


def _with_row(A, row):
    return np.block([[A, np.zeros((len(A), 1))], [row[np.newaxis], np.zeros((1, 1))]])


def _neighbor_features(A, labels, u, k, frequencies, stamps=None, unit=None):
    """Vote, compatibility, profile and degree of node u, which looks along its row of A."""
    n = len(A)
    known = np.array(sorted(labels), dtype=int)
    y = np.array([labels[v] for v in known], dtype=int)
    edges = A - np.diag(np.diag(A))
    if unit is None:
        unit = A[A > 0].mean() if (A > 0).any() else 1.0
    one_hot = np.zeros((n, k))
    one_hot[known, y] = 1.0
    stamp = np.array([1.0 if stamps is None else stamps.get(v, 0.0) for v in range(n)])
    faded = stamp[:, np.newaxis] * one_hot
    around = edges @ faded / unit  # of each node, the weight of the edges to neighbours with each label
    witnesses = (edges > 0) @ one_hot.sum(axis=1)
    pairs = one_hot.T @ (edges * np.minimum.outer(stamp, stamp)) @ one_hot / unit
    share = (pairs + 10.0 * frequencies) / (pairs.sum(axis=1, keepdims=True) + 10.0)
    compatibility = np.zeros(k)
    if witnesses[u] > 0:
        compatibility = np.sqrt(witnesses[u]) * np.log(share) @ around[u] / around[u].sum()
    back = edges.T @ faded / unit  # of each node, the same for the nodes that look at it
    siblings = [v for v in np.flatnonzero(edges[u]) if (edges[:, v] > 0) @ one_hot.sum(axis=1) > 0]
    profile = np.zeros(k)
    for v in siblings:
        profile += np.log((back[v] + 2.0 * frequencies) / (back[v].sum() + 2.0)) / np.sqrt(len(siblings))
    cells = np.floor(2.0 * np.log2((A > 0).sum(axis=1) + 1.0))
    degree = np.log(faded[cells == cells[u]].sum(axis=0) + 4.0 * frequencies)
    return [_log_shares(around[u], frequencies, 0.0), compatibility, profile, degree]


def label_frequencies(labels, k, stamps=None):
    counts = np.bincount(labels, stamps, minlength=k) + 1.0
    return counts / counts.sum()


def _log_shares(votes, frequencies, least):
    votes = np.where(votes > least, votes, 0.0)
    shares = votes / votes.sum() if votes.sum() > 0 else frequencies
    return np.log(0.8 * shares + 0.2 * frequencies)


class Mixture:
    """A log-linear mixture whose weights take online Newton steps, and whose best probability is calibrated.

    `top` is the label predicted: one of the largest probability.
    """

    def __init__(self, start, precision, fading=1.0):
        self.weights, self.fading = np.array(start, dtype=float), fading
        self.start_precision = np.diag(np.broadcast_to(precision, len(start)))
        self.A = self.start_precision
        self.calibration, self.B = np.array([0.0, 1.0]), 30.0 * np.eye(2)

    def mixed(self, features):
        scores = self.weights @ features
        q = np.exp(scores - scores.max())
        return q / q.sum()

    def _inputs(self, features):
        confidence = self.mixed(features).max().clip(1e-6, 1.0 - 1e-6)
        return np.array([1.0, np.log(confidence / (1.0 - confidence))])

    def probabilities(self, features, top):
        q = self.mixed(features)
        if len(q) == 1:
            return q
        others = np.delete(q, top)
        confidence = 1.0 / (1.0 + np.exp(-self.calibration @ self._inputs(features)))
        if others.sum() == 0.0:
            return q
        confidence = max(confidence, others.max() / (others.sum() + others.max()))
        q = q / others.sum() * (1.0 - confidence)
        q[top] = confidence
        return q

    def calibrate(self, features, right):
        x = self._inputs(features)
        p = 1.0 / (1.0 + np.exp(-self.calibration @ x))
        self.B = self.fading * self.B + (1.0 - self.fading) * 30.0 * np.eye(2) + p * (1.0 - p) * np.outer(x, x)
        self.calibration = self.calibration - np.linalg.solve(self.B, (p - right) * x)

    def step(self, features, y):
        q = self.mixed(features)
        fisher = features @ (np.diag(q) - np.outer(q, q)) @ features.T
        self.A = self.fading * self.A + (1.0 - self.fading) * self.start_precision + fisher
        step = np.linalg.solve(self.A, features @ (q - np.eye(len(q))[y]))
        self.weights = self.weights - step * min(1.0, 0.1 / max(np.abs(step).max(), 0.1))


def planted_probabilities(labels, weights, compatibility, mean_degree):
    """P[u, v] is the probability of an arc from node u to v: table and weights, times a number that fits the mean."""
    n = len(labels)
    P = np.zeros((n, n))
    for u in range(n):
        for v in range(n):
            if u != v:
                P[u, v] = compatibility[labels[u]][labels[v]] * weights[u] * weights[v]
    low, high = 0.0, 1.0 / P[P > 0].min()  # at the latter, all pairs are certain that can be
    for _ in range(300):
        middle = (low + high) / 2
        if np.minimum(middle * P, 1.0).sum() < mean_degree * n:
            low = middle
        else:
            high = middle
    return np.minimum(high * P, 1.0)


def graph_of_table(text, delimiter, directed=False, width=3):
    """The nodes and the dense matrix of a table of edges without a header, of which so many columns count, by csv.

    Where all names are integers of 64 bits, as Python writes them, nodes are these in order; else the texts as they
    come.
    """
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True)
    rows = [[cell.strip(" \t") for cell in cells] for cells in lines if "".join(cells).strip(" \t")]
    if delimiter == " ":
        rows = [[cell for cell in cells if cell] for cells in rows]
    names = list(dict.fromkeys(name for row in rows for name in row[:2]))
    if all(re.fullmatch("0|-?[1-9][0-9]*", name) and -(2**63) <= int(name) < 2**63 for name in names):
        nodes = sorted(map(int, names))
        names = [str(node) for node in nodes]
    else:
        nodes = names
    W = np.zeros((len(names), len(names)))
    for source, target, *weight in (row[:width] for row in rows):
        u, v = names.index(source), names.index(target)
        W[u, v] += float(weight[0]) if weight else 1.0
        if not directed and u != v:
            W[v, u] += float(weight[0]) if weight else 1.0
    return nodes, W


def journal_of(content):
    """The whole records of a journal, where they end, and whether what follows is no more than a crash leaves."""
    n_token = int.from_bytes(content[12:16], "little")
    header = content[: 16 + n_token]
    header_crc = zlib.crc32(header)
    if content[:8] != b"nxfo-log" or content[8:12] != _le(1) or content[len(header) :][:4] != _le(header_crc):
        return [], 0, False
    payloads, at = [], len(header) + 4
    while True:
        head, rest = content[at : at + 12], content[at + 12 :]
        length, payload_crc = (int.from_bytes(head[i : i + 4], "little") for i in (0, 4))
        check = zlib.crc32(at.to_bytes(8, "little") + head[:8], header_crc)
        is_record = len(head) == 12 and head[8:] == _le(check or 1)
        payload, after = (rest[:length], rest[length:]) if is_record else (b"", rest)
        if not is_record or len(payload) < length or zlib.crc32(payload) != payload_crc:
            return payloads, at, not any(after)
        payloads.append(payload)
        at += 12 + length


def _le(number):
    return number.to_bytes(4, "little")


def effective_resistances(G, weight="weight"):
    """{(u, v): resistance} in fractions, exact whatever the weights: L with one node of each component grounded."""
    W = {u: dict.fromkeys(G, Fraction(0)) for u in G}
    for u, v, data in G.edges(data=True):
        if u != v:
            W[u][v] += Fraction(float(data.get(weight, 1))) if weight is not None else 1
            W[v][u] = W[u][v]
    resistances = {(u, v): 0.0 if u == v else math.inf for u in G for v in G}
    for component in nx.connected_components(G):
        _, *nodes = component
        inverse = inverse_of_fractions([[sum(W[u].values()) if u == v else -W[u][v] for v in nodes] for u in nodes])
        C = {(u, v): inverse[i][j] for i, u in enumerate(nodes) for j, v in enumerate(nodes)}
        for u in component:
            for v in component:
                resistances[u, v] = float(C.get((u, u), 0) + C.get((v, v), 0) - 2 * C.get((u, v), 0))
    return resistances


def inverse_of_fractions(A):
    """Gauss and Jordan's inverse of a matrix whose pivots are not 0."""
    n = len(A)
    rows = [[*row, *(Fraction(i == j) for j in range(n))] for i, row in enumerate(A)]
    for i in range(n):
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for j in range(n):
            if j != i and rows[j][i]:
                rows[j] = [a - rows[j][i] * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [row[n:] for row in rows]
