"""`fifo_push` and the push behind every function: H z + r = b, and what converged is below its threshold."""

import numpy as np

import nx_fastonl as fo
from nx_fastonl.push.local import local_push
from nx_fastonl.push.system import LinearSystem
from tests.fuzz import inputs, truth
from tests.fuzz.truth import ZERO, Decimal, exactly, number
from tests.fuzz.verdicts import REFUSALS, check

UNIT = 2.0**-52
# Smaller floats have fewer digits: they are rounded as if they were as large as this.
SMALLEST_NORMAL = Decimal(2.0**-1022)
# A residual may stay below this, whatever epsilon is: thresholds are no smaller.
TINY = Decimal("1e-200")
# Below this, a push in FIFO order takes so many steps that only a budget ends it.
SLOW = 1e-3


@exactly
def push(draw):
    """One call of `fifo_push`, or of `local_push` with what its callers pass."""
    return _local_push(draw) if draw.chance(0.4) else _fifo_push(draw)


def _fifo_push(draw):
    kind = inputs.parameter(draw, lambda: draw.choice(["ppr", "laplacian"]), ("PPR", None, 1))
    G = inputs.graph(draw, directed=kind == "ppr" and draw.chance(0.3))
    if kind == "ppr" or draw.chance(0.5):
        alpha = inputs.parameter(draw, lambda: inputs.fraction(draw))
    else:
        alpha = inputs.parameter(draw, lambda: draw.log_uniform(-120, 120))
    epsilon = inputs.parameter(
        draw, lambda: draw.log_uniform(-16, 1) if draw.chance(0.8) else draw.log_uniform(-330, 100)
    )
    source = inputs.node(draw, G)
    if draw.chance(0.3):
        source = {u: inputs.parameter(draw, lambda: draw.log_uniform(-3, 3)) for u in draw.some([*G, *G, 9**9])}
    budget = inputs.parameter(draw, lambda: draw.choice([10**4, 10**5, 0, 1, 7, 10**3]))
    weight = draw.choice(["weight", "weight", "weight", None])
    if _is_slow(G, alpha, kind, weight) and not (type(budget) is int and budget <= 10**5):
        budget = 10**5
    draw.note(G=G, source=source, alpha=alpha, epsilon=epsilon, kind=kind, weight=weight, max_operations=budget)
    try:
        estimate, residual, info = fo.fifo_push(
            G, source, alpha, epsilon, kind, weight, max_operations=budget, full_output=True
        )
    except REFUSALS:
        return False
    graph = fo.CSRGraph.from_networkx(G, weight)
    z, r = ([number(values.get(node, 0.0)) for node in graph] for values in (estimate, residual))
    check(
        all(value.is_finite() and value >= 0 for value in (*z, *r)),
        "not a number, or negative: {} {}",
        estimate,
        residual,
    )
    masses = {source: 1.0} if source in graph else source
    b = [ZERO] * len(graph)
    for node, mass in masses.items():
        b[graph.index(node)] += number(mass)
    W, a = truth.adjacency(graph), number(alpha)
    degrees = [sum(row, ZERO) for row in W]
    total = sum(b, ZERO)
    rounding = Decimal(UNIT) * (4 * info.operations + 4 * info.pushes + 16 * len(graph))
    if kind == "ppr":
        # With x = alpha * pivot * z, H z is x / alpha - (1 - alpha) / alpha P^T x.
        for u in range(len(graph)):
            passed = sum((W[v][u] / degrees[v] * z[v] for v in range(len(graph)) if degrees[v]), ZERO)
            off = (z[u] - (1 - a) * passed) / a + r[u] - b[u]
            size = (z[u] + passed + SMALLEST_NORMAL) / a + r[u] + b[u]
            check(abs(off) <= rounding * size, "row {} is off by {:.3g} of {:.3g}", u, off, size)
        if all(degrees):
            check(
                abs(sum(z, ZERO) + sum(r, ZERO) - total) <= rounding * total / a,
                "mass {:.17g} became {:.17g}", total, sum(z, ZERO) + sum(r, ZERO),
            )  # fmt: skip
        thresholds = [float(epsilon)] * len(graph)
    else:
        for u in range(len(graph)):
            received = sum((W[u][v] * z[v] for v in range(len(graph))), ZERO)
            kept = (a + degrees[u]) * z[u]
            off = kept - received + r[u] - b[u]
            size = kept + received + r[u] + b[u] + (a + degrees[u] + 1) * SMALLEST_NORMAL
            check(abs(off) <= rounding * size, "row {} is off by {:.3g} of {:.3g}", u, off, size)
        thresholds = [float(alpha) * float(epsilon)] * len(graph)
    check(
        abs(number(info.residual_mass) - sum(r, ZERO)) <= rounding * (sum(r, ZERO) + total),
        "residual mass {}",
        info.residual_mass,
    )
    check(info.operations <= info.worst_case_bound * (1 + 1e-9), "more operations than the worst case: {}", info)
    if info.outcome == "converged":
        check(info.operations <= info.local_bound * (1 + 1e-9), "more operations than the local bound: {}", info)
        neighbours = np.diff(graph.indptr).tolist()
        for u in range(len(graph)):
            limit = number(thresholds[u] * neighbours[u])
            check(
                r[u] < limit * (1 + rounding) + TINY, "row {} converged with {:.3g} left, above {:.3g}", u, r[u], limit
            )
    else:
        check(budget is not None and info.operations >= budget, "exhausted after {} of {}", info.operations, budget)
    return True


def _is_slow(G, alpha, kind, weight):
    try:
        if kind == "ppr":
            return not float(alpha) >= SLOW
        degrees = [degree for _, degree in G.degree(weight=weight)]
        return not float(alpha) >= SLOW * max(degrees)
    except (TypeError, ValueError, OverflowError, RuntimeWarning):
        return True


def _local_push(draw):
    """As PageRank, kernels and certificates call it: a system, distinct sources, a tolerance, budgets."""
    directed = draw.chance(0.2)
    G = inputs.graph(draw, directed=directed)
    draw.note(G=G)
    try:
        graph = fo.CSRGraph.from_networkx(G)
    except REFUSALS:
        return False
    rows = draw.some(range(len(graph))) or [0]
    masses = [draw.log_uniform(-3, 1) * (-1 if draw.chance(0.1) else 1) for _ in rows]
    alpha = min(max(inputs.fraction(draw), 1e-6), 1 - 1e-6)
    if directed or draw.chance(0.6):
        shift, slope = 0.0, 1.0 / (1.0 - alpha)
    else:
        shift, slope = alpha * max(graph.largest_degree, 1e-30), 1.0
    epsilon = draw.log_uniform(-14, 0)
    tolerance = draw.log_uniform(-12, -1) * sum(map(abs, masses)) if draw.chance(0.5) else None
    limits = {
        "adaptive": draw.chance(0.8),
        "mass_tolerance": tolerance,
        "max_operations": draw.choice([10**5, 10**4, 0, 1, 50, 10**6]),
        "max_epochs": draw.choice([None, None, 1, 5, 100, 10**6]),
        "measure": draw.chance(0.5),
    }
    draw.note(rows=rows, masses=masses, shift=shift, slope=slope, epsilon=epsilon, **limits)
    system = LinearSystem(graph, shift=shift, slope=slope)
    result = local_push(system, rows, masses, epsilon, **limits)
    n = len(graph)
    z, r, b = [ZERO] * n, [ZERO] * n, [ZERO] * n
    for u, estimate, residual in zip(
        result.nodes.tolist(), result.estimate.tolist(), result.residual.tolist(), strict=True
    ):
        check(np.isfinite(estimate) and np.isfinite(residual), "row {}: {} {}", u, estimate, residual)
        z[u], r[u] = Decimal(estimate), Decimal(residual)
    for u, mass in zip(rows, masses, strict=True):
        b[u] += Decimal(mass)
    W, pivots = truth.adjacency(graph), system.pivots(np.arange(n)).tolist()
    rounding = Decimal(UNIT) * (4 * result.operations + 4 * result.pushes + 16 * n)
    size = sum(map(abs, b), ZERO) * 4
    for u in range(n):
        received = sum((W[v][u] * z[v] for v in range(n)), ZERO)
        kept = Decimal(pivots[u]) * z[u]
        off = kept - received + r[u] - b[u]
        small = (Decimal(pivots[u]) + 1) * SMALLEST_NORMAL
        check(abs(off) <= rounding * (abs(kept) + abs(received) + size + small), "row {} is off by {:.3g}", u, off)
    if result.converged and tolerance is not None:
        check(result.residual_mass <= tolerance, "{} left, of {} allowed", result.residual_mass, tolerance)
    elif result.converged:
        neighbours = np.diff(graph.indptr).tolist()
        for u in range(n):
            check(
                abs(r[u]) < number(epsilon * neighbours[u]) * (1 + rounding) + TINY, "row {} has {:.3g} left", u, r[u]
            )
    return True
