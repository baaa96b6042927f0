"""Certificates against the exact kernel: what is certain is right, and no margin is further off than its error."""

import math

from tests.fuzz import inputs, truth
from tests.fuzz.entries.kernels import diagonal
from tests.fuzz.entries.labelers import LABELS, labeler
from tests.fuzz.truth import ZERO, exactly, number
from tests.fuzz.verdicts import REFUSALS, check
from tests.seams import learner_of


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
        check_certificate(model.certify_one(node, max_operations=budget), model.classes, exact)
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
