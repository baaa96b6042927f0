"""The experiment `half-known`: half of the labels known at once, against logistic regression on the adjacency."""

from __future__ import annotations

import time
from importlib.util import find_spec
from itertools import product
from typing import Any, Literal

import numpy as np
from scipy import sparse

from nx_fastonl.experiments.base import Record, Task
from nx_fastonl.experiments.graphs import load_labelled_graph
from nx_fastonl.experiments.peers import quiet
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.labeling.labeler import OnlineNodeLabeler

Pairs = list[tuple[Any, Any]]

# How the known half is learned, whether the others are learned once they are predicted, and whether there are arrows.
OURS: dict[str, tuple[Literal["fit", "learn_many"], bool, Literal["use", "ignore"]]] = {
    "adaptive, fit": ("fit", False, "use"),
    "adaptive, fit, then one by one": ("fit", True, "use"),
    "adaptive, learn_many, then one by one": ("learn_many", True, "use"),
    "adaptive, fit, arrows ignored": ("fit", False, "ignore"),
    "adaptive, fit, then one by one, arrows ignored": ("fit", True, "ignore"),
}
LINK = ("LINK, out", "LINK, out and in", "LINK, W + W^T")
# Iterations within which scikit-learn's solver ends on the graphs at hand.
MAX_ITER = 2_000


def tasks(graph: str, trials: int) -> list[Task]:
    load_labelled_graph(graph, arrows=True)  # raises now if there are no labels
    methods = (*OURS, *(() if missing_link() else LINK))
    return [{"graph": graph, "method": method, "trial": trial} for trial, method in product(range(trials), methods)]


def missing_link() -> list[str]:
    """A line if scikit-learn is not installed."""
    return [] if find_spec("sklearn") else ["Without LINK: pip install scikit-learn"]


def measure(task: Task) -> list[Record]:
    """The accuracy over the nodes that are not known at first, and the seconds of CPU to learn and to predict."""
    graph, labels = load_labelled_graph(task["graph"], arrows=True)
    known, hidden = halves(labels, task["trial"])
    graph.without_arrows()  # kept with the graph: no method is charged for it
    start = time.process_time()
    predicted = _predict(task, graph, known, hidden)
    seconds = time.process_time() - start
    right = sum(label == truth for label, (_, truth) in zip(predicted, hidden, strict=True))
    return [{"known": len(known), "accuracy": right / len(hidden), "seconds": seconds}]


def halves(labels: dict[Any, Any], trial: int) -> tuple[Pairs, Pairs]:
    """The nodes with their labels in a random order, cut in the middle: what is known, and what is not."""
    pairs = list(labels.items())
    order = np.random.default_rng(trial).permutation(len(pairs)).tolist()
    middle = len(pairs) // 2
    return [pairs[i] for i in order[:middle]], [pairs[i] for i in order[middle:]]


def _predict(task: Task, graph: CSRGraph, known: Pairs, hidden: Pairs) -> list[Any]:
    """The labels of the hidden nodes."""
    if task["method"] in LINK:
        return _link(task["method"], graph, known, [node for node, _ in hidden])
    learn, online, direction = OURS[task["method"]]
    model = OnlineNodeLabeler(graph, method="adaptive", direction=direction, seed=task["trial"])
    getattr(model, learn)(known)
    return list(model.run(hidden)) if online else model.predict_many([node for node, _ in hidden])


def _link(method: str, graph: CSRGraph, known: Pairs, hidden: list[Any]) -> list[Any]:
    """Logistic regression whose features are the rows of a matrix: an own weight for each neighbour and label."""
    from sklearn.linear_model import LogisticRegression

    features: Any = graph.to_scipy()
    if method == "LINK, out and in":
        features = sparse.hstack([features, features.T], format="csr")
    elif method == "LINK, W + W^T":
        features = features + features.T
    names = list(dict.fromkeys(label for _, label in known))
    numbers = [names.index(label) for _, label in known]
    with quiet():
        model = LogisticRegression(max_iter=MAX_ITER).fit(features[graph.rows_of(node for node, _ in known)], numbers)
        found = model.predict(features[graph.rows_of(hidden)])
    return [names[number] for number in found.tolist()]
