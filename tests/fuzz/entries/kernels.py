"""Columns of the six kernels, against the definition: no value is off by more than the error that comes with it."""

import nx_fastonl as fo
from nx_fastonl.kernels.table import ALIASES
from tests.fuzz import inputs, truth
from tests.fuzz.truth import ZERO, exactly, number
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
    return [float(S)] * len(graph) if not hasattr(S, "__len__") else list(S)


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
        _compare_matrix(draw, G, graph, name, epsilon, weight, given, column, info, exact)
    return True


def _compare_matrix(draw, G, graph, name, epsilon, weight, given, column, info, exact):
    options = {key: value for key, value in draw.notes.items() if key in ("smoothness", "lam", "beta", "b", "S")}
    node = draw.notes["node"]
    row = fo.kernel_matrix(G, [node], name, epsilon=epsilon, weight=weight, **options).toarray()[0].tolist()
    for other, value in zip(graph, row, strict=True):
        expected = column.get(other, info.elsewhere)
        check(
            abs(value - expected) <= 1e-12 * (abs(value) + abs(expected)) + 1e-15 * info.error,
            "matrix {}, column {}",
            value,
            expected,
        )
    dense = fo.kernel_matrix(G, [node], name, exact=True, weight=weight, **options)[0].tolist()
    W = truth.adjacency(graph)
    degrees = [float(sum(line, ZERO)) for line in W]
    x = given.get("lam", 0.0) / len(graph) or options.get("smoothness") or 0.15
    tolerance = (
        1e-13 * len(graph) * (1 + max(degrees) / min([d for d in degrees if d] or [1.0]) + float(x) + 1 / float(x)) * 10
    )
    largest = max(map(abs, exact))
    if tolerance < 1e-3 and "S" not in options and "beta" not in options:
        for v, value in enumerate(dense):
            off = abs(number(value) - exact[v])
            check(off <= number(tolerance) * largest, "the exact matrix is off by {:.3g} of {:.3g}", off, largest)
