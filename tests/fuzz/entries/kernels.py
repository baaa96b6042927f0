"""Columns of the six kernels, against the definition: no value is off by more than the error that comes with it."""

import tempfile

import numpy as np

import nx_fastonl as fo
from nx_fastonl.kernels.graph_kernel import GraphKernel
from nx_fastonl.kernels.table import ALIASES
from tests.fuzz import inputs, truth
from tests.fuzz.truth import exactly, number
from tests.fuzz.verdicts import REFUSALS, check

NAMES = sorted(ALIASES.values())


def parameters(draw, G, name):
    """Keyword arguments of a kernel; sometimes those of another one."""
    found = {}
    if draw.chance(0.25):
        found["lam"] = inputs.parameter(draw, lambda: len(G) * draw.log_uniform(-3, 3))
    elif draw.chance(0.8):
        found["smoothness"] = smoothness(draw)
    x = found.get("smoothness", 0.15)
    takes_beta = name in ("normalized-adjacency", "scaled-laplacian", "scaled-regularized", "augmented-laplacian")
    if draw.chance(0.3 if takes_beta else 0.01):
        top = 1.0 + (x if isinstance(x, float) else 0.0)
        found["beta"] = inputs.parameter(
            draw, lambda: top * inputs.fraction(draw) if name == "normalized-adjacency" else draw.log_uniform(-6, 3)
        )
    if draw.chance(0.3 if name == "augmented-laplacian" else 0.01):
        found["b"] = inputs.parameter(draw, lambda: draw.log_uniform(-6, 3))
    if draw.chance(0.3 if name.startswith("scaled") else 0.01):
        spread = draw.choice([0.5, 3.0, 18.0])
        S = {node: draw.log_uniform(-spread, spread) for node in G}
        found["S"] = inputs.parameter(draw, lambda: draw.choice([S, list(S.values()), 2.5]))
    return found


def smoothness(draw):
    """The ratio lam / n: mostly moderate, sometimes anything that is permitted and more."""
    return inputs.parameter(draw, lambda: draw.log_uniform(-3, 2) if draw.chance(0.8) else draw.log_uniform(-10, 10))


def diagonal(graph, S):
    """S in the order of the rows."""
    if S is None:
        return None
    if hasattr(S, "items"):
        return [S[node] for node in graph]
    return [float(S)] * len(graph) if np.ndim(S) == 0 else list(S)


@exactly
def kernels(draw):
    """One call of `kernel_column`, and now and then of `kernel_matrix`."""
    G = inputs.graph(draw, max_nodes=7)
    name = draw.choice(NAMES)
    given = parameters(draw, G, name)
    epsilon = inputs.parameter(draw, lambda: draw.log_uniform(-14, 0))
    node = inputs.node(draw, G)
    weight = draw.choice(["weight", "weight", "weight", None])
    draw.note(G=G, node=node, kernel=name, epsilon=epsilon, weight=weight, **given)
    try:
        column, info = fo.kernel_column(G, node, name, epsilon=epsilon, weight=weight, full_output=True, **given)
    except REFUSALS:
        return False
    graph = fo.CSRGraph.from_networkx(G, weight)
    u = graph.index(node)
    given["S"] = diagonal(graph, given.get("S"))
    exact = truth.kernel_columns(graph, name, given.pop("smoothness", None), [u], **given)[0]
    largest = max(map(abs, exact))
    for v, other in enumerate(graph):
        value = column.get(other, info.elsewhere)
        check(abs(value) < float("inf"), "value of {!r}: {}", other, value)
        off = abs(number(value) - exact[v])
        check(
            off <= number(info.error),
            "value of {!r} is off by {:.6g}, promised {:.6g}, largest {:.6g}",
            other,
            off,
            info.error,
            largest,
        )
    if draw.chance(0.15):
        _check_matrix(draw, G, graph, name, epsilon, weight, given, exact)
    return True


def _check_matrix(draw, G, graph, name, epsilon, weight, given, exact):
    """The row of the same node, in memory and on disk, where it has an error of its own."""
    options = {key: value for key, value in draw.notes.items() if key in ("smoothness", "lam", "beta", "b", "S")}
    node = draw.notes["node"]
    row = fo.kernel_matrix(G, [node], name, epsilon=epsilon, weight=weight, **options).toarray()[0].tolist()
    with tempfile.TemporaryDirectory() as folder:
        try:
            saved = fo.kernel_matrix(G, [node], name, epsilon=epsilon, weight=weight, out=f"{folder}/rows", **options)
        except TypeError:  # names that cannot be saved
            saved = None
        if saved is not None:
            on_disk, error = saved.to_scipy().toarray()[0].tolist(), saved.error(node)
            check(on_disk == row, "{} on disk, {} in memory", on_disk, row)
            for value, right in zip(row, exact, strict=True):
                off = abs(number(value) - right)
                check(off <= number(error), "a value of the matrix is off by {:.6g}, promised {:.6g}", off, error)
    dense = fo.kernel_matrix(G, [node], name, exact=True, weight=weight, **options)[0].tolist()
    _check_exact(graph, graph.index(node), name, dense, given, options)


def _check_exact(graph, u, name, dense, given, options):
    """The dense factorisation, whose error grows with the condition of H.

    H with its rows and columns divided by the root of the diagonal has a condition of at most about
    max((c + D) / c). An entry of its inverse is then off by that many roundings, beside the roots of the two entries
    of the diagonal. This also holds for M + g, which only scales rows and columns. K6 subtracts g, a constant that M
    may be much smaller than.
    """
    n, kernel = len(graph), GraphKernel(graph, name, **options)
    c, g = kernel.c(np.arange(n)), number(kernel.g)
    condition = float(((c + graph.degrees) / c).max())
    tolerance = number(1e-9 + 4e-16 * n * condition)
    columns = truth.kernel_columns(graph, name, options.get("smoothness"), range(n), **given)
    for v, value in enumerate(dense):
        off = abs(number(value) - columns[u][v])
        size = ((columns[u][u] + g) * (columns[v][v] + g)).sqrt() + g
        check(off <= tolerance * size, "the exact matrix is off by {:.3g} of {:.3g}", off, size)
