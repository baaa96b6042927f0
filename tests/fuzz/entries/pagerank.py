"""PageRank in three ways, against the exact vector: the L1 error that is promised is never exceeded."""

from itertools import combinations

import networkx as nx
import numpy as np

import nx_fastonl as fo
from tests.fuzz import inputs, truth
from tests.fuzz.truth import ZERO, exactly, number
from tests.fuzz.verdicts import REFUSALS, check


@exactly
def pagerank(draw):
    """One call of `personalized_pagerank_local`, `ppr_matrix` or NetworkX's pagerank through the backend."""
    kind = draw.below(8)
    return _local(draw) if kind < 4 else _matrix(draw) if kind < 6 else _backend(draw)


def _masses(draw, G):
    nodes = [*G, *G, *G, 9**9]
    return {
        draw.choice(nodes): inputs.parameter(draw, lambda: draw.log_uniform(-3, 3)) for _ in range(draw.between(1, 4))
    }


def _seeds(draw, G):
    kind = draw.below(6)
    if kind == 0:
        return None
    if kind <= 2:
        return inputs.node(draw, G)
    return draw.some(G) if kind == 3 else _masses(draw, G)


def _local(draw):
    G = inputs.graph(draw, directed=draw.chance(0.4))
    alpha = inputs.parameter(draw, lambda: inputs.fraction(draw))
    options = {"epsilon": inputs.parameter(draw, lambda: draw.log_uniform(-14, 0))}
    if draw.chance(0.4):
        options["tol"] = inputs.parameter(draw, lambda: draw.log_uniform(-16, 0))
    if draw.chance(0.3):
        options["top_k"] = inputs.parameter(draw, lambda: draw.between(1, 12))
    if draw.chance(0.25):
        options["nstart"] = _masses(draw, G)
    if draw.chance(0.25):
        options["dangling"] = _masses(draw, G)
    if draw.chance(0.15):
        options["max_iter"] = inputs.parameter(
            draw, lambda: draw.choice([1000, 1, 10, 100]), (0, -1, "3", 2.0, True, 10**400)
        )
    options["weight"] = draw.choice(["weight", "weight", "weight", None])
    seeds = _seeds(draw, G)
    proves = "top_k" in options and "tol" not in options and draw.chance(0.5)
    if proves:
        del options["epsilon"]
        options["max_operations"] = inputs.parameter(draw, lambda: draw.choice([10**5, 1, 100, 10**30]))
    draw.note(G=G, alpha=alpha, personalization=seeds, **options)
    try:
        found, info = fo.personalized_pagerank_local(G, alpha, seeds, full_output=True, **options)
    except nx.PowerIterationFailedConvergence:
        return True
    except REFUSALS:
        return False
    graph = fo.CSRGraph.from_networkx(G, options["weight"])
    start = _as_masses(graph, seeds)
    jumps = truth.distribution(graph, options["dangling"]) if options.get("dangling") else None
    exact = truth.pagerank(graph, alpha, truth.distribution(graph, start), jumps)
    values = [number(found.get(node, 0.0)) for node in graph]
    check(all(value.is_finite() and value >= 0 for value in values), "values {}", found)
    top_k = options.get("top_k")
    if top_k is None or top_k >= len(graph):
        off = sum((abs(x - y) for x, y in zip(values, exact, strict=True)), ZERO)
        check(off <= number(info.l1_error), "L1 error {:.6g}, promised {:.6g}", off, info.l1_error)
    if options.get("tol") is not None:
        check(info.l1_error <= float(options["tol"]), "l1_error {} above tol {}", info.l1_error, options["tol"])
    if top_k is not None:
        check_top(graph, found, info, top_k, exact)
    if options.get("epsilon") is None and options.get("tol") is None and info.top_k_proven:
        check_order(graph, found, info, exact)
    isolated = any(graph.neighbor_counts(graph.index(node)) == 0 for node in start)
    if (
        seeds is not None
        and options.get("epsilon") is not None
        and not options.get("tol")
        and not (graph.is_directed() or graph.weights is not None or isolated)
    ):
        neighbours = np.diff(graph.indptr).tolist()
        for node, value in found.items():
            u = graph.index(node)
            limit = number(options["epsilon"]) * neighbours[u] + number(2e-15 / (1 - float(alpha)))
            check(
                abs(number(value) - exact[u]) <= limit,
                "value of {!r} is off by {:.6g}, above {:.6g}",
                node,
                abs(number(value) - exact[u]),
                limit,
            )
    return True


def check_top(graph, found, info, top_k, exact):
    """The values are right within their error, and so is the choice of nodes; where it is proven, it is right.

    Groups of ties may go on with nodes that are left out.
    """
    check(len(found) <= top_k and list(found.values()) == sorted(found.values(), reverse=True), "top k: {}", found)
    rows = {graph.index(node) for node in found}
    worst = min((exact[u] for u in rows), default=ZERO)
    best = max((exact[u] for u in range(len(graph)) if u not in rows), default=ZERO)
    check(best - worst <= 2 * number(info.l1_error), "not the top: {}; left out {:.6g}", found, best)
    # Where all nodes are asked for, those with the value 0 are left out of the dict, and there is nothing to prove.
    if info.top_k_proven and top_k < len(graph):
        tied = {graph.index(node) for group in info.tied for node in group}
        best = max((exact[u] for u in range(len(graph)) if u not in rows | tied), default=ZERO)
        check(best < worst or len(rows) < top_k, "not the top, but proven: {}; left out {:.6g}", found, best)
    for node, value in found.items():
        off = abs(number(value) - exact[graph.index(node)])
        check(
            off <= number(info.l1_error),
            "value of {!r} is off by {:.6g}, promised {:.6g}",
            node,
            off,
            info.l1_error,
        )


def check_order(graph, found, info, exact):
    """The order is that of the exact values, apart from ties."""
    group_of = {graph.index(node): i for i, group in enumerate(info.tied) for node in group}
    rows = [graph.index(node) for node in found]
    for u, v in combinations(rows, 2):
        same = u in group_of and group_of[u] == group_of.get(v)
        check(same or exact[u] > exact[v], "order of {}: {:.6g} before {:.6g}", found, exact[u], exact[v])


def _as_masses(graph, seeds):
    if seeds is None:
        return dict.fromkeys(graph, 1.0)
    if seeds in graph:
        return {seeds: 1.0}
    return seeds if hasattr(seeds, "items") else dict.fromkeys(seeds, 1.0)


def _matrix(draw):
    G = inputs.graph(draw, directed=draw.chance(0.4), max_nodes=7)
    alpha = inputs.parameter(draw, lambda: inputs.fraction(draw))
    options = {
        "epsilon": inputs.parameter(draw, lambda: draw.log_uniform(-12, 0)),
        "top_k": draw.choice([None, None, 1, 3, 100]),
        "n_jobs": draw.choice([None] * 30 + [1, 2, -1, 0, "2"]),
        "tol": inputs.parameter(draw, lambda: draw.log_uniform(-16, 0)) if draw.chance(0.5) else None,
    }
    sources = None if draw.chance(0.2) else [inputs.node(draw, G) for _ in range(draw.below(4))]
    draw.note(G=G, sources=sources, alpha=alpha, **options)
    try:
        P = fo.ppr_matrix(G, sources, alpha, **options)
    except REFUSALS:
        return False
    graph = fo.CSRGraph.from_networkx(G)
    nodes = list(graph) if sources is None else sources
    check(P.shape == (len(nodes), len(graph)), "shape {}", P.shape)
    check(np.isfinite(P.data).all() and (P.data >= 0).all(), "values {}", P.data)
    top_k = options["top_k"]
    for i, node in enumerate(nodes):
        row = P[[i]].toarray()[0]
        if top_k is not None:
            check(np.count_nonzero(row) <= top_k, "{} values in row {}", np.count_nonzero(row), i)
        if options["tol"] is not None and (top_k is None or top_k >= len(graph)):
            exact = truth.pagerank(graph, alpha, truth.distribution(graph, {node: 1.0}))
            off = sum((abs(number(x) - y) for x, y in zip(row, exact, strict=True)), ZERO)
            check(off <= number(options["tol"]), "row {}: L1 error {:.6g} with tol {:.6g}", i, off, options["tol"])
    return True


def _backend(draw):
    G = inputs.graph(draw, directed=draw.chance(0.5))
    options = {"alpha": inputs.parameter(draw, lambda: inputs.fraction(draw))}
    for name in ("personalization", "nstart", "dangling"):
        if draw.chance(0.25):
            options[name] = _masses(draw, G)
    if draw.chance(0.5):
        options["tol"] = inputs.parameter(draw, lambda: draw.log_uniform(-16, -1))
    if draw.chance(0.3):
        options["l1_error"] = inputs.parameter(draw, lambda: draw.log_uniform(-14, 0))
    draw.note(G=G, **options)
    try:
        found = nx.pagerank(G, backend="fastonl", **options)
    except nx.PowerIterationFailedConvergence:
        return True
    except (*REFUSALS, NotImplementedError, ZeroDivisionError):
        return False
    graph = fo.CSRGraph.from_networkx(G)
    masses = {}
    for name in ("personalization", "dangling"):
        given = {node: mass for node, mass in (options.get(name) or {}).items() if node in G and mass}
        masses[name] = truth.distribution(graph, given) if given else None
    seeds = masses["personalization"] or truth.distribution(graph, dict.fromkeys(graph, 1.0))
    exact = truth.pagerank(graph, options["alpha"], seeds, masses["dangling"])
    off = sum((abs(number(found[node]) - exact[u]) for u, node in enumerate(graph)), ZERO)
    limit = options.get("l1_error")
    if limit is None:
        limit = max(len(G) * float(min(options.get("tol", 1e-6), 1.0)), 1e-14 / (1 - float(options["alpha"])))
        limit += 1e-12  # values that differ by less count as tied
    limit = min(limit, 2.0)
    check(off <= number(limit), "L1 error {:.6g}, promised {:.6g}", off, limit)
    return True
