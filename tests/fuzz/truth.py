"""Exact answers: linear algebra with 260 decimal digits, on lists of lists; resistances as fractions.

Weights lie between 1e-100 and 1e100 and parameters may be as small, so that 60 digits would not always do. The
standard library's decimals are fast enough for a dozen nodes. Differences of resistances lose as many digits as weights
differ by, so these come from whole numbers.
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import wraps
from math import lcm

DIGITS = 260
ZERO, ONE, TWO = Decimal(0), Decimal(1), Decimal(2)


def exactly(function):
    """Run a function with enough digits."""

    @wraps(function)
    def run(*args, **kwargs):
        with localcontext(prec=DIGITS):
            return function(*args, **kwargs)

    return run


def number(value):
    """A float, or any number of numpy's, as it is."""
    return Decimal(float(value))


def adjacency(graph):
    """W of a CSRGraph, as it stores it."""
    n = len(graph)
    W = [[ZERO] * n for _ in range(n)]
    starts, targets = graph.indptr.tolist(), graph.indices.tolist()
    weights = [1.0] * len(targets) if graph.weights is None else graph.weights.tolist()
    for u in range(n):
        for e in range(starts[u], starts[u + 1]):
            W[u][targets[e]] += Decimal(weights[e])
    return W


def solve(A, columns):
    """The columns x of A x = b, by elimination with the largest pivot of each column."""
    n = len(A)
    rows = [list(A[i]) + [column[i] for column in columns] for i in range(n)]
    for i in range(n):
        best = max(range(i, n), key=lambda j: abs(rows[j][i]))
        rows[i], rows[best] = rows[best], rows[i]
        pivot = rows[i]
        for j in range(i + 1, n):
            row = rows[j]
            if row[i]:
                factor = row[i] / pivot[i]
                row[i] = ZERO
                for e in range(i + 1, len(row)):
                    if pivot[e]:
                        row[e] -= factor * pivot[e]
    for i in range(n - 1, -1, -1):
        row = rows[i]
        for e in range(n, len(row)):
            total = row[e]
            for j in range(i + 1, n):
                if row[j]:
                    total -= row[j] * rows[j][e]
            row[e] = total / row[i]
    return [[rows[i][n + e] for i in range(n)] for e in range(len(columns))]


def unit(n, u):
    column = [ZERO] * n
    column[u] = ONE
    return column


def pagerank(graph, alpha, seeds, jumps=None):
    """The x with x = alpha (P^T x + the mass in dead ends, which jumps) + (1 - alpha) seeds; both sum to 1."""
    W, n, alpha = adjacency(graph), len(graph), number(alpha)
    degrees = [sum(row, ZERO) for row in W]
    jumps = seeds if jumps is None else jumps
    A = [[-alpha * (W[v][u] / degrees[v] if degrees[v] else jumps[u]) for v in range(n)] for u in range(n)]
    for u in range(n):
        A[u][u] += ONE
    return solve(A, [[(ONE - alpha) * value for value in seeds]])[0]


def distribution(graph, masses):
    """A dict over nodes as a vector that sums to 1."""
    vector = [ZERO] * len(graph)
    for node, mass in masses.items():
        vector[graph.index(node)] += number(mass)
    total = sum(vector, ZERO)
    return [value / total for value in vector]


def inverse_kernel(W, name, beta, b, S):
    """K^-1 of the paper's Table 1, as it is defined; 0 to the power -1/2 is 0."""
    n = len(W)
    D = [sum(row, ZERO) for row in W]
    L = [[(D[i] if i == j else ZERO) - W[i][j] for j in range(n)] for i in range(n)]

    def scaled(A, diagonal):
        root = [ONE / value.sqrt() if value else ZERO for value in diagonal]
        return [[root[i] * A[i][j] * root[j] for j in range(n)] for i in range(n)]

    def plus(A, value):
        return [[A[i][j] + (value if i == j else ZERO) for j in range(n)] for i in range(n)]

    S = D if S is None else S
    if name == "laplacian":
        return L
    if name == "normalized-laplacian":
        return scaled(L, D)
    if name == "normalized-adjacency":
        return [
            [(ONE if i == j else ZERO) - beta * value for j, value in enumerate(row)]
            for i, row in enumerate(scaled(W, D))
        ]
    if name == "scaled-laplacian":
        return plus(scaled(L, S), beta)
    if name == "scaled-regularized":
        return scaled(plus(L, beta), S)
    return [[value + b for value in row] for row in plus(L, beta)]


def kernel_columns(graph, name, smoothness, rows, *, lam=None, beta=None, b=None, S=None):
    """Columns of M = inv(K^-1 / (2 lam) + I / (2 n)); parameters as `kernel_column` takes them."""
    n = len(graph)
    x = number(lam) / n if lam is not None else number(0.15 if smoothness is None else smoothness)
    lam = x * n
    default = ONE - x if name == "scaled-laplacian" else x
    beta = default if beta is None else number(beta)
    b = ONE / n if b is None else number(b)
    S = None if S is None else [number(value) for value in S]
    inverse = inverse_kernel(adjacency(graph), name, beta, b, S)
    A = [
        [value / (TWO * lam) + (ONE / (2 * n) if i == j else ZERO) for j, value in enumerate(row)]
        for i, row in enumerate(inverse)
    ]
    return solve(A, [unit(n, u) for u in rows])


def effective_resistances(graph):
    """{(u, v): resistance} of the rows u < v that a path joins, as fractions."""
    return {pair: value for nodes in _components(graph) for pair, value in _within(graph, nodes).items()}


def _components(graph):
    numbers = graph.components.tolist()
    return [[u for u, number in enumerate(numbers) if number == wanted] for wanted in sorted(set(numbers))]


def _within(graph, nodes):
    """From ``inv(L)``, where L is that of one component without its first node, which has the potential 0."""
    starts, targets = graph.indptr.tolist(), graph.indices.tolist()
    weights = [1.0] * len(targets) if graph.weights is None else graph.weights.tolist()
    edges = {(u, targets[e]): Fraction(weights[e]) for u in nodes for e in range(starts[u], starts[u + 1])}
    scale = lcm(*(weight.denominator for weight in edges.values()))
    L = [[int(-scale * edges.get((u, v), 0)) if u != v else 0 for v in nodes] for u in nodes]
    for i, row in enumerate(L):
        row[i] = -sum(row)
    determinant, C = _adjugate([row[1:] for row in L[1:]])
    C = [[0] * len(nodes), *([0, *row] for row in C)]
    return {
        (nodes[i], nodes[j]): Fraction(scale * (C[i][i] + C[j][j] - 2 * C[i][j]), determinant)
        for j in range(len(nodes))
        for i in range(j)
    }


def _adjugate(A):
    """The determinant of a matrix of whole numbers, and its inverse times that: Bareiss's elimination.

    Each quotient is a whole number. All leading minors must be positive.
    """
    n, before = len(A), 1
    rows = [[*row, *(int(i == j) for j in range(n))] for i, row in enumerate(A)]
    for k in range(n):
        pivot = rows[k]
        for i in range(n):
            if i != k:
                factor = rows[i][k]
                rows[i] = [(pivot[k] * a - factor * b) // before for a, b in zip(rows[i], pivot, strict=True)]
        before = pivot[k]
    return before, [row[n:] for row in rows]
