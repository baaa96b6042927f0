"""Prediction sets along long streams, against the promise: misses are at most what the coverage allows, plus 21.

The labels of half of the streams come from an adversary, which reveals a label outside of the set where it can.
"""

import pickle

import networkx as nx

import nx_fastonl as fo
from tests.fuzz import inputs
from tests.fuzz.entries.kernels import NAMES
from tests.fuzz.verdicts import check

# (1 + step) / step, for steps of 0.05.
SLACK = 21.0


def prediction_sets(draw):
    """A stream of up to 100 arrivals on a small graph: nodes are forgotten, and arrive again."""
    n, k = draw.between(2, 12), draw.between(2, 5)
    G = nx.empty_graph(n)
    G.add_edges_from((u, v) for u, v in inputs.edges(draw, n, directed=False) if max(u, v) < n)
    coverages = [draw.choice([0.5, 0.8, 0.9, 0.95, 0.99, 0.01 + 0.98 * draw.unit()]) for _ in range(2)]
    options = {"kernel": draw.choice(NAMES), "smoothness": draw.log_uniform(-2, -0.1)}
    if draw.chance(0.2):
        options["forgetting"] = 20.0
    classes = range(k) if draw.chance(0.5) else None
    adversary, n_arrivals = draw.choice([0.0, 0.3, 1.0]), draw.between(40, 100)
    draw.note(G=G, coverages=coverages, options=options, classes=classes, adversary=adversary, n_arrivals=n_arrivals)
    model = fo.OnlineNodeLabeler(G, classes, method="adaptive", **options)
    check_stream(draw, model, list(G), range(k), coverages, adversary, n_arrivals)
    return True


def check_stream(draw, model, nodes, labels, coverages, adversary, n_arrivals):
    """Ask and learn, and count what was missed."""
    missed, first_seen, learned = dict.fromkeys(coverages, 0), 0, set()
    truth = {node: draw.choice(labels) for node in nodes}
    for t in range(1, n_arrivals + 1):
        node = draw.choice(nodes)
        if node in learned:
            model.forget(node)
            learned.remove(node)
        known = set(model.classes)
        sets = {coverage: model.predict_set_one(node, coverage) for coverage in coverages}
        for found in sets.values():
            check(found <= known and bool(found) == bool(known), "a set {} of {}", found, known)
        outside = [label for label in labels if label in known - sets[coverages[0]]]
        label = draw.choice(outside) if outside and draw.chance(adversary) else truth[node]
        first_seen += label not in known
        if known and draw.chance(0.05):
            best = model.predict_one(node)
            check(all(best in found for found in sets.values()), "{!r} is not in {}", best, sets)
        for coverage, found in sets.items():
            missed[coverage] += label not in found
            most = (1.0 - coverage) * t + SLACK + first_seen
            check(missed[coverage] <= most + 1e-9, "{} of {} sets at {} missed", missed[coverage], t, coverage)
        model.learn_one(node, label)
        learned.add(node)
        if draw.chance(0.01):
            model = pickle.loads(pickle.dumps(model))
