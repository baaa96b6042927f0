"""Random sequences of everything a labeler does, beside a plain dict of what it should know."""

import copy
import pickle

import numpy as np

from tests.fuzz import inputs
from tests.fuzz.entries.labelers import LABELS, labeler
from tests.fuzz.invariants import check_whole
from tests.fuzz.verdicts import REFUSALS, check
from tests.seams import learner_of

BAD_LABELS = (None, float("nan"), [1], {}, np.nan)


def learners(draw):
    """A labeler, then up to eight calls."""
    G = inputs.graph(draw)
    try:
        model = labeler(draw, G)
    except REFUSALS:
        return False
    known = {}
    steps = []
    draw.note(steps=steps)
    for _ in range(draw.between(1, 8)):
        model, known = _step(draw, model, known, list(G), steps)
        check(model.labels == known, "labels {} instead of {}", model.labels, known)
        check_whole(model)
    check_predictions(model, G)
    return True


def _pairs(draw, nodes, known, overlap=0.05):
    """Some nodes that were not learned, with labels; now and then something that is refused."""
    pairs = [(node, draw.choice(LABELS)) for node in draw.some(nodes) if node not in known or draw.chance(overlap)]
    if draw.chance(0.05):
        pairs.append((draw.choice(["nobody", *nodes]), draw.choice(BAD_LABELS)))
    return pairs


def _is_missing(label):
    return label is None or (isinstance(label, float) and label != label)


def _step(draw, model, known, nodes, steps):
    kind = draw.below(16)
    before = dict(known)
    if kind < 4:
        node, label, overwrite = draw.choice(nodes), draw.choice(LABELS), draw.chance(0.4)
        steps.append(("learn_one", node, label, overwrite))
        try:
            model.learn_one(node, label, overwrite=overwrite)
            known[node] = label
        except REFUSALS:
            check(not overwrite or label not in model.classes, "overwriting {!r} was refused", node)
    elif kind < 7:
        pairs = _pairs(draw, nodes, known)
        if draw.chance(0.5):
            pairs = list(dict(pairs).items())
        steps.append(("learn_many", pairs))
        try:
            check(model.learn_many(iter(pairs)) is model, "another labeler")
            known.update((node, label) for node, label in pairs if not _is_missing(label))
        except REFUSALS:
            check(model.labels == before, "refused and learned {}", model.labels)
    elif kind < 9:
        pairs = _pairs(draw, nodes, {})
        steps.append(("fit", pairs))
        try:
            model.fit(pairs)
            known = {node: label for node, label in pairs if not _is_missing(label)}
        except REFUSALS:
            check(model.labels == before, "refused and learned {}", model.labels)
    elif kind < 12:
        pairs = _pairs(draw, nodes, known)
        steps.append(("run", pairs))
        labelled = [(node, label) for node, label in pairs if not _is_missing(label)]
        try:
            found = model.run(pairs)
            check(list(found.nodes) == [node for node, _ in labelled], "nodes {}", found.nodes)
            check(list(found.truth) == [label for _, label in labelled], "truth {}", found.truth)
            known.update(labelled)
        except REFUSALS:
            learned = [item for item in model.labels.items() if item not in before.items()]
            check(
                learned == labelled[: len(learned)] and len(model.labels) == len(before) + len(learned),
                "no prefix: {}",
                learned,
            )
            known = model.labels.copy()
    elif kind == 12:
        steps.append("pickle")
        state = _state(model)
        model = pickle.loads(pickle.dumps(model)) if draw.chance(0.5) else copy.deepcopy(model)
        _check_same(_state(model), state)
    elif kind == 13:
        steps.append("clone")
        other = model.clone()
        check((other.n_learned, other.labels) == (0, {}), "a clone that has learned {}", other.labels)
        if draw.chance(0.3):
            return other, {}
    elif kind == 14 and hasattr(model, "forget"):
        node = draw.choice(nodes)
        steps.append(("forget", node))
        try:
            model.forget(node)
            known.pop(node, None)
        except REFUSALS:
            check(node not in before, "forgetting {!r} was refused", node)
    else:
        steps.append("predict")
        state = _state(model)
        model.predict_one(draw.choice(nodes))
        _check_same(_state(model), state)
    return model, known


def _state(model):
    return model.labels, model.classes, model.predict_many(), model.predict_proba_many()


def _check_same(found, expected):
    check(found[:3] == expected[:3], "{} instead of {}", found[:3], expected[:3])
    check(np.array_equal(found[3], expected[3]), "probabilities {} instead of {}", found[3], expected[3])


def check_predictions(model, G):
    """One and many agree; probabilities are a distribution; votes are counted right."""
    predicted, probabilities, classes = model.predict_many(), model.predict_proba_many(), model.classes
    check(predicted == [model.predict_one(node) for node in G], "many {}", predicted)
    check(probabilities.shape == (len(G), len(classes)), "shape {}", probabilities.shape)
    check(
        all(label in classes for label in predicted) if classes else set(predicted) == {None},
        "{} of {}",
        predicted,
        classes,
    )
    if classes:
        totals = probabilities.sum(axis=1)
        check((probabilities >= 0).all() and np.allclose(totals, 1.0, rtol=1e-9), "probabilities {}", probabilities)
        each = [[row[label] for label in classes] for row in map(model.predict_proba_one, G)]
        check(probabilities.tolist() == each, "many {} and each {}", probabilities.tolist(), each)
    learner = learner_of(model)
    if type(learner).__name__ == "WeightedMajority" and not model._samples:
        W = learner.graph.to_scipy().toarray() if hasattr(learner, "graph") else model._graph.to_scipy().toarray()
        labels = model.labels.copy()
        for u, node in enumerate(G):
            votes = dict.fromkeys(classes, 0.0)
            for v, other in enumerate(G):
                if other in labels and v != u:
                    votes[labels[other]] += W[u, v]
            if any(votes.values()):
                best = max(votes.values())
                check(votes[predicted[u]] >= best * (1 - 1e-9), "{!r} at {!r} has votes {}", predicted[u], node, votes)
