"""Effective resistances against exact fractions: none is off by more than the error that comes with it."""

import math
import warnings
from contextlib import contextmanager
from fractions import Fraction
from unittest import mock

import networkx as nx

import nx_fastonl as fo
from nx_fastonl.push import laplacian, resistance
from tests.fuzz import inputs, truth
from tests.fuzz.verdicts import REFUSALS, check

# A resistance of one of NetworkX's functions may be off by this fraction, whatever the graph.
BACKEND_ERROR = Fraction(2, 10**9)
# So may one that comes with a certificate, in a component that is reduced to two nodes.
REDUCED_ERROR = Fraction(1, 10**13)
# Which modules' limits are set to what, so that small graphs take the ways of larger ones.
WAYS = {
    "as it is": (),
    "steps, with patience": ((laplacian, "MAX_DENSE_FACTOR", 0),),
    "steps": ((laplacian, "MAX_DENSE_FACTOR", 0), (resistance, "MAX_NODES", 0)),
    "steps only": ((laplacian, "MAX_DENSE_FACTOR", 0), (resistance, "MAX_NODES", 0), (laplacian, "MAX_DENSE", 0)),
    "steps beyond the ratio": (
        (laplacian, "MAX_DENSE_FACTOR", 0),
        (resistance, "MAX_NODES", 0),
        (resistance, "MAX_WEIGHT_RATIO", 1e60),
    ),
}


def resistances(draw):
    """One call of `effective_resistance`, or of one of NetworkX's functions through the backend."""
    G = _graph(draw)
    return _backend(draw, G) if draw.chance(0.25) else _certified(draw, G)


def _graph(draw):
    G = inputs.graph(draw, directed=draw.chance(0.02), max_nodes=12)
    if draw.chance(0.3):
        nodes = list(G)
        draw.shuffled(nodes)
        nx.add_path(G, nodes)  # connected, mostly with bridges
    if draw.chance(0.2):
        G = nx.MultiGraph(G)
        G.add_edges_from([(u, v, draw.between(0, 2), {**data}) for u, v, data in draw.some(G.edges(data=True))])
    if draw.chance(0.7):
        weight = _weights(draw)
        for *_, data in G.edges(data=True):
            data["weight"] = weight()
    return G


def _weights(draw):
    """A function that draws weights: of two magnitudes, of any, or close to each other."""
    kind = draw.below(5)
    if kind == 0:
        ratio, scale = 10.0 ** draw.between(0, 100), 10.0 ** draw.between(-100, 0)
        return lambda: scale * draw.choice([1.0, ratio])
    if kind == 1:
        return lambda: draw.choice([1e-100, 1.0, 1e100])
    if kind == 2:
        return lambda: 10.0 ** draw.between(-100, 100)
    if kind == 3:
        return lambda: 1.0 + draw.below(3) * 2.0**-52
    width = draw.choice([4, 13, 26])
    return lambda: draw.log_uniform(-width, width)


@contextmanager
def _way(name):
    """One of the ways, and no warning of what is out of reach."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*resistances have a relative error above tol", RuntimeWarning)
        patches = [mock.patch.object(*limit) for limit in WAYS[name]]
        for patch in patches:
            patch.start()
        try:
            yield
        finally:
            for patch in patches:
                patch.stop()


def _certified(draw, G):
    nodes, way = list(G), draw.choice(list(WAYS))
    pairs = [(u, v) for u in nodes for v in nodes]
    if draw.chance(0.5):
        pairs = [(inputs.node(draw, G), draw.choice(nodes)) for _ in range(draw.between(1, 8))]
    tol = inputs.parameter(draw, lambda: draw.log_uniform(-12, -0.4))
    weight = draw.choice(["weight"] * 7 + [None])
    draw.note(G=G, pairs=pairs, tol=tol, weight=weight, way=way)
    try:
        with _way(way):
            values, info = fo.effective_resistance(G, pairs, weight, tol=tol, full_output=True)
    except REFUSALS:
        return False
    graph = fo.CSRGraph.from_networkx(G, weight)
    exact = truth.effective_resistances(graph)
    for (u, v), value, error in zip(pairs, values, info.errors, strict=True):
        first, last = sorted((graph.index(u), graph.index(v)))
        if first == last or (first, last) not in exact:
            expected = 0.0 if first == last else math.inf
            check((value, error) == (expected, 0.0), "from {!r} to {!r}: {} +- {}", u, v, value, error)
            continue
        check(0.0 < value < math.inf and 0.0 < error < math.inf, "from {!r} to {!r}: {} +- {}", u, v, value, error)
        off = abs(Fraction(value) - exact[first, last])
        check(off <= Fraction(error), "from {!r} to {!r}: {} is off by {:.6g} > {}", u, v, value, float(off), error)
        check(
            way != "as it is" or Fraction(error) <= REDUCED_ERROR * Fraction(value),
            "from {!r} to {!r}: {} +- {}, though the graph is small",
            u,
            v,
            value,
            error,
        )
    return True


def _backend(draw, G):
    kind, way = draw.below(3) if len(G) > 1 else 0, draw.choice(list(WAYS))
    ends = [None if draw.chance(0.5) else draw.choice(list(G)) for _ in range(2)]
    draw.note(G=G, ends=ends, kind=kind, way=way)
    try:
        with _way(way):
            found = _call(kind, G, ends)
    except (*REFUSALS, NotImplementedError):
        return False
    graph = fo.CSRGraph.from_networkx(G)
    if kind == 2:
        check(all(map(math.isfinite, found.values())), "{} through the backend", found)
        return True
    exact = truth.effective_resistances(graph)
    exact = {(u, v): exact.get((min(u, v), max(u, v)), 0) for u in range(len(G)) for v in range(len(G))}
    if kind == 1:
        sums = {u: sum(exact[graph.index(u), v] for v in range(len(G))) for u in G}
        wrong = [(u, found[u]) for u in G if sums[u] and not _is_near(found[u], 1 / sums[u])]
    else:
        known = [[node] if node is not None else list(G) for node in ends]
        if None in ends and ends != [None, None]:
            known.sort(key=len)
            found = {known[0][0]: found}
        elif None not in ends:
            found = {ends[0]: {ends[1]: found}}
        wrong = [
            (u, v, found[u][v])
            for u in known[0]
            for v in known[1]
            if not _is_near(found[u][v], exact[graph.index(u), graph.index(v)])
        ]
    check(not wrong, "{} through the backend", wrong)
    return True


def _call(kind, G, ends):
    if kind == 0:
        return nx.resistance_distance(G, *ends, weight="weight", invert_weight=False, backend="fastonl")
    if kind == 1:
        return nx.current_flow_closeness_centrality(G, weight="weight", backend="fastonl")
    return nx.approximate_current_flow_betweenness_centrality(
        G, weight="weight", epsilon=1.0, seed=1, backend="fastonl"
    )


def _is_near(value, exact):
    return math.isfinite(value) and abs(Fraction(value) - exact) <= BACKEND_ERROR * exact
