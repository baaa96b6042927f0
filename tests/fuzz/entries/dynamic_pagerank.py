"""A PageRank vector under changes of its graph, against the exact vector of each graph."""

import networkx as nx
import numpy as np

import nx_fastonl as fo
from nx_fastonl._lib.limits import ARC_RANGE
from tests.fuzz import inputs, truth
from tests.fuzz.truth import ZERO, exactly, number
from tests.fuzz.verdicts import REFUSALS, check

MAX_NODES = 8
LEAST, MOST = ARC_RANGE
# With a damping closer to 1 than this, a vector takes millions of pushes. Few inputs have one.
SLOW = 1e-4


@exactly
def dynamic_pagerank(draw):
    """One or two vectors, and up to twelve changes. After each, the L1 error is no more than what is certified."""
    graph = fo.DynamicGraph(nx.DiGraph() if draw.chance(0.5) else nx.Graph())
    nodes = range(draw.between(1, MAX_NODES))
    graph.add_nodes_from(nodes)
    weight = _weights_of(draw)
    edges = [(u, v, weight()) for u, v in inputs.edges(draw, len(nodes), graph.is_directed())]
    graph.add_weighted_edges_from(edges)
    alpha = _damping(draw)
    accuracy = _accuracy(draw, alpha)
    draw.note(directed=graph.is_directed(), nodes=len(nodes), edges=edges, alpha=alpha, **accuracy)
    try:
        vectors = [fo.DynamicPageRank(graph, _seeds(draw, nodes), alpha, **accuracy) for _ in range(draw.between(1, 2))]
    except REFUSALS:
        return False
    changes = []
    draw.note(seeds=[vector.personalization for vector in vectors], changes=changes)
    _check(graph, vectors[0], alpha)
    for _ in range(draw.below(13 if alpha <= 1.0 - SLOW else 3)):
        changes.append(_change(draw, graph, nodes, weight))
        if draw.chance(0.8):
            _check(graph, vectors[0], alpha)
    for vector in vectors:
        _check(graph, vector, alpha)
    return True


def _weights_of(draw):
    """A function that draws weights of one kind. Those of one graph may differ by 200 powers of ten."""
    weight = _any_weights_of(draw)
    return lambda: min(max(float(weight()), LEAST), MOST)


def _any_weights_of(draw):
    kind = draw.below(4)
    if kind == 0:
        return lambda: draw.choice([1.0, 1.0, 1e-100, 1e100, 1e50, 1e-50, draw.log_uniform(-100, 100)])
    if kind == 1:
        return lambda: 1.0 + 1e-3 * (draw.unit() - 0.5)
    return inputs.weights_of(draw)


def _damping(draw):
    kind = draw.below(8)
    if kind < 3:
        return 0.01 + 0.98 * draw.unit()
    if kind == 3:
        return draw.log_uniform(-11.9, -0.3)
    if draw.chance(0.02):
        return 1.0 - draw.log_uniform(-6, -4)
    return 1.0 - max(draw.log_uniform(-4, -0.3), SLOW)


def _accuracy(draw, alpha):
    kind = draw.below(4)
    if kind == 0:
        return {}
    if kind == 1:
        return {"epsilon": draw.log_uniform(-14, 0)}
    least = np.log10(1.0001e-13 / (1.0 - alpha) ** 2)
    return {"tol": draw.log_uniform(least, max(least + 0.1, 0.0)) if kind == 2 else 10.0**least}


def _seeds(draw, nodes):
    if draw.chance(0.6):
        return draw.choice(nodes)
    return {draw.choice(nodes): draw.log_uniform(-3, 3) for _ in range(draw.between(1, 4))}


def _change(draw, graph, nodes, weight):
    """Change the graph once, if it can be; returns what was done."""
    u, v, kind = draw.choice(nodes), draw.choice(nodes), draw.below(8)
    present = graph.edges()
    if kind in (0, 1, 5) and present:
        u, v = draw.choice(present)
    if kind in (0, 3):
        if graph.has_edge(u, v):
            graph.remove_edge(u, v)
            return "remove_edge", u, v
        return ()
    if kind == 4:
        if graph.has_node(u):
            graph.remove_node(u)
            return "remove_node", u
        graph.add_node(u)
        return "add_node", u
    more = weight()
    if kind == 5 and graph.has_edge(u, v):  # a little more than before
        more = min(graph.weight(u, v) * (1.0 + draw.log_uniform(-17, 0)), MOST)
    graph.add_edge(u, v, weight=more)
    return "add_edge", u, v, more


def _check(graph, vector, alpha):
    """The vector is as close to the exact one as it says, and as `tol` asks."""
    seeds = {node: weight for node, weight in vector.personalization.items() if node in graph}
    if not seeds:
        try:
            vector.ranks()
        except nx.NodeNotFound:
            return
        check(False, "a vector without seeds")
    found, promised = vector.ranks(), vector.l1_error
    check(all(np.isfinite(value) and value >= 0.0 for value in found.values()), "values {}", found)
    frozen = graph.freeze()
    exact = truth.pagerank(frozen, alpha, truth.distribution(frozen, seeds))
    off = sum((abs(number(found.get(node, 0.0)) - x) for node, x in zip(frozen, exact, strict=True)), ZERO)
    check(off <= number(promised), "L1 error {:.6g}, promised {:.6g}", off, promised)
    if vector.tol is not None:
        check(promised <= vector.tol, "l1_error {} above tol {}", promised, vector.tol)
