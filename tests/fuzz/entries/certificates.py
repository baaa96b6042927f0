"""Certificates against the exact kernel: what is certain is right, and no margin is further off than its error."""

import math

import networkx as nx
import numpy as np

import nx_fastonl as fo
from tests import oracles
from tests.fuzz import inputs, truth
from tests.fuzz.entries.kernels import diagonal
from tests.fuzz.entries.labelers import LABELS, labeler
from tests.fuzz.truth import ZERO, exactly, number
from tests.fuzz.verdicts import REFUSALS, check
from tests.seams import learner_of

# What the other experts' features, which the oracle computes with floats, may be off beside the largest of them.
FEATURE_ROUNDING = 1e-12
TINY = number(1e-200)  # exact votes below this fraction of their sum are 0


@exactly
def certificates(draw):
    """A labeler that has learned something, and certificates of some nodes."""
    G = inputs.graph(draw, max_nodes=7)
    try:
        model = labeler(draw, G, ("fastonl", "perceptron"))
    except REFUSALS:
        return False
    nodes = draw.some(G)
    labels = model.classes or LABELS
    pairs = [(node, draw.choice(labels)) for node in nodes]
    cut = draw.between(0, len(pairs))
    overwritten = [(node, draw.choice(labels)) for node in nodes if draw.chance(0.2)]
    draw.note(fitted=pairs[:cut], streamed=pairs[cut:], overwritten=overwritten)
    model.fit(pairs[:cut])
    model.run(pairs[cut:])
    for node, label in overwritten:
        model.learn_one(node, label, overwrite=True)
    asked = [draw.choice(list(G)) for _ in range(3)]
    scores = exact_scores(model, draw.notes["options"], asked)
    for node, exact in zip(asked, scores, strict=True):
        budget = draw.choice([0, 10, 1000, 100_000])
        draw.note(node=node, budget=budget)
        answer = model.certify_one(node, max_operations=budget)
        check_certificate(answer, model.classes, exact)
        [other] = model.certify_many([node], max_operations=budget)
        check(other == answer, "one {}, of many {}", answer, other)
    return True


def exact_scores(model, options, nodes):
    """What the exact kernel gives to each label at these nodes, for the gradients that the labeler stores."""
    graph, learner = model._graph, learner_of(model)
    rows = [graph.index(node) for node in nodes]
    given = {key: options[key] for key in ("lam", "beta", "b") if key in options}
    S = diagonal(graph, options.get("S"))
    columns = truth.kernel_columns(graph, options["kernel"], options.get("smoothness"), rows, S=S, **given)
    stored, s = learner.stored_gradients(), [learner.gradients.scale(u) for u in range(len(graph))]
    gradients = [[number(value) / number(s[u]) if s[u] else ZERO for value in row] for u, row in enumerate(stored)]
    return [
        [sum((gradients[v][y] * column[v] for v in range(len(graph))), ZERO) for y in range(len(model.classes))]
        for column in columns
    ]


def check_certificate(answer, classes, exact):
    """The margin is within its error; a label that is certain is the exact kernel's."""
    if not classes:
        check(answer.label is None and not answer.certain, "{} without labels", answer)
        return
    check(not math.isnan(answer.margin) and not math.isnan(answer.error) and answer.error >= 0, "{}", answer)
    own = classes.index(answer.label)
    rivals = [score for y, score in enumerate(exact) if y != own]
    if not rivals:
        check(answer.margin == math.inf, "{} without a rival", answer)
        return
    margin = min(rivals) - exact[own]
    if answer.error < math.inf:
        off = abs(margin - number(answer.margin))
        check(
            off <= number(answer.error),
            "margin {:.6g}, exactly {:.6g}, error {:.6g}",
            answer.margin,
            margin,
            answer.error,
        )
    check(answer.certain == (answer.error < answer.margin), "{}", answer)
    if answer.certain:
        check(margin > 0, "certain of {!r}, but a rival is better by {:.6g}", answer.label, -margin)


@exactly
def adaptive_certificates(draw):
    """The same of `"adaptive"`: the label of the mixture with its present weights on exact diffusions."""
    G = _moderate_graph(draw)
    smoothness, k = draw.log_uniform(-3, 1), draw.between(2, 4)
    options = {"smoothness": smoothness, "epsilon": draw.log_uniform(-8, 0)}
    pairs = [(node, draw.below(k)) for node in draw.some(G)]
    verb, budget = draw.choice(["learn_many", "run", "fit"]), draw.choice([0, 10, 1000, 100_000])
    draw.note(G=G, options=options, classes=k, pairs=pairs, verb=verb, budget=budget)
    model = fo.OnlineNodeLabeler(G, range(k), method="adaptive", **options)
    getattr(model, verb)(pairs)
    reached = model.reached()
    labels = dict(pairs)
    for u, (node, answer) in enumerate(zip(G, model.certify_many(max_operations=budget), strict=True)):
        check(
            answer == model.certify_one(node, max_operations=budget), "many {}, one {}", answer, model.certify_one(node)
        )
        rivals = set(labels.values()) - {answer.label}
        if not reached[u] or not rivals:
            check(reached[u] or not answer.certain, "certain of {!r}, which no label reaches", node)
            continue
        scores, rounding = _exact_scores(model, G, u, labels, k, smoothness)
        margin = scores[answer.label] - max(scores[y] for y in rivals)
        draw.note(node=node, answer=answer, exact=[float(score) for score in scores])
        if answer.certain:
            check(margin > -rounding, "certain of {!r}, but a rival is better by {:.6g}", answer.label, -margin)
        if answer.error < math.inf:
            off = abs(margin - number(answer.margin))
            check(off <= number(answer.error) + rounding, "margin {:.6g}, exactly {:.6g}", answer.margin, margin)
    return True


def _moderate_graph(draw):
    n = draw.between(2, 7)
    G = nx.empty_graph(n)
    weights = draw.choice([[1], [1, 2, 3], [0.1, 1.0, 30.0]])
    G.add_weighted_edges_from(
        (u, v, draw.choice(weights)) for u, v in inputs.edges(draw, n, directed=False) if max(u, v) < n
    )
    return G


def _exact_scores(model, G, u, labels, k, smoothness):
    """The score of each label at node u: both experts on the diffusion exactly, the others as the oracle has them.

    The weights and the masses of labels are those that the model has learned: a certificate is about the diffusion.
    """
    weights = list(model.weights.values())
    features = oracles.expert_features(nx.to_numpy_array(G), labels, u, k, smoothness)
    frequencies = [number(1 + sum(y == label for y in labels.values())) for label in range(k)]
    total = sum(frequencies)
    frequencies = [value / total for value in frequencies]
    votes = _exact_votes(G, u, labels, k, smoothness)
    masses = list(map(number, learner_of(model)._label_mass[0][:k]))
    centred = [vote - sum(votes) * mass / sum(masses) for vote, mass in zip(votes, masses, strict=True)]
    scores = []
    exact = [_log_shares(values, frequencies, sum(votes)) for values in (votes, centred)]
    for y in range(k):
        diffused = sum(number(weights[e]) * exact[e][y] for e in range(2))
        others = sum(number(weights[e]) * number(features[e][y]) for e in range(2, len(weights)))
        scores.append(diffused + others)
    return scores, number(FEATURE_ROUNDING * (1.0 + float(np.abs(weights) @ np.abs(features).max(axis=1))))


def _exact_votes(G, u, labels, k, smoothness):
    """What each label's diffusion gives to node u."""
    graph = fo.CSRGraph.from_networkx(G)
    W = truth.adjacency(graph)
    n = len(W)
    degrees = [sum(row, ZERO) for row in W]
    H = [[-W[i][j] for j in range(n)] for i in range(n)]
    for i in range(n):
        H[i][i] += (number(smoothness) * degrees[i] if degrees[i] else truth.ONE) + degrees[i]
        H[i][i] += degrees[i] if i in labels else ZERO
    [row] = truth.solve(H, [truth.unit(n, u)])  # H is symmetric
    return [sum((row[v] for v, y in labels.items() if y == label), ZERO) for label in range(k)]


def _log_shares(votes, frequencies, size):
    votes = [vote if vote > TINY * size else ZERO for vote in votes]
    total = sum(votes)
    shares = [vote / total for vote in votes] if total else frequencies
    part = number(1) / 5
    return [((1 - part) * share + part * frequency).ln() for share, frequency in zip(shares, frequencies, strict=True)]
