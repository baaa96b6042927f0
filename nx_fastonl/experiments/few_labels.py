"""The experiment `few-labels`: labels that are known at once, against other packages."""

from __future__ import annotations

import time
from collections.abc import Hashable
from functools import cache
from itertools import product
from typing import Any, cast

import numpy as np

from nx_fastonl import datasets
from nx_fastonl.experiments.base import Record, Task
from nx_fastonl.experiments.graphs import load_labelled_graph
from nx_fastonl.experiments.peers import PEERS, Peer, installed_peers, quiet
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.labeling.labeler import OnlineNodeLabeler
from nx_fastonl.learners.registry import Method

OURS = ("adaptive", "fastonl")
# How many labels of each class are known; or the fraction of all labels.
RATES: dict[str, int | float] = {"1 a class": 1, "5 a class": 5, "20 a class": 20, "5 %": 0.05}

Labels = dict[Hashable, Hashable]


def tasks(graph: str, trials: int) -> list[Task]:
    n = len(load_labelled_graph(graph)[0])
    peers = [name for name, peer in installed_peers().items() if n <= peer.max_nodes]
    return [
        {"graph": graph, "rate": rate, "trial": trial, "method": method}
        for trial, rate, method in product(range(trials), RATES, (*OURS, *peers))
    ]


def measure(task: Task) -> list[Record]:
    graph, labels = load_labelled_graph(task["graph"])
    known = known_labels(labels, task["rate"], task["trial"])
    _warm_up(task["method"])
    predicted, seconds = _predict(task["method"], graph, known)
    hidden = [node for node in labels if node not in known]
    right = sum(predicted[node] == labels[node] for node in hidden)
    return [{"accuracy": right / len(hidden) if hidden else float("nan"), "seconds": seconds}]


def known_labels(labels: Labels, rate: str, trial: int) -> Labels:
    """The labels that every method is told in this trial.

    Of a class, at most half of the nodes are known, and at least one.
    """
    rng = np.random.default_rng((trial, list(RATES).index(rate)))
    count = RATES[rate]
    if isinstance(count, float):
        groups = [list(labels)]
        counts = [max(1, round(count * len(labels)))]
    else:
        classes: dict[Hashable, list[Hashable]] = {}
        for node, label in labels.items():
            classes.setdefault(label, []).append(node)
        groups = list(classes.values())
        counts = [max(1, min(count, len(nodes) // 2)) for nodes in groups]
    chosen = [
        nodes[i]
        for nodes, size in zip(groups, counts, strict=True)
        for i in rng.choice(len(nodes), size, replace=False).tolist()
    ]
    return {node: labels[node] for node in chosen}


def _predict(method: str, graph: CSRGraph, known: Labels) -> tuple[Labels, float]:
    """The label of each node, and the seconds of CPU. What each method takes for a graph is made before."""
    if method in PEERS:
        return _predict_peer(PEERS[method], graph, known)
    start = time.process_time()
    model = OnlineNodeLabeler(graph, method=cast(Method, method)).fit(known)
    predicted = model.predict_many()
    return dict(zip(graph.nodes, predicted, strict=True)), time.process_time() - start


def _predict_peer(peer: Peer, graph: CSRGraph, known: Labels) -> tuple[Labels, float]:
    names = list(dict.fromkeys(known.values()))
    numbers = {label: i for i, label in enumerate(names)}
    rows = np.array(graph.rows_of(known))
    labels = np.array([numbers[label] for label in known.values()])
    converted = peer.convert(graph)
    start = time.process_time()
    with quiet():
        predicted = peer.predict(converted, rows, labels)
    seconds = time.process_time() - start
    # Some say -1 where no label has reached a node.
    return {u: names[i] if i >= 0 else None for u, i in zip(graph.nodes, predicted.tolist(), strict=True)}, seconds


@cache
def _warm_up(method: str) -> None:
    """Import and compile what the first run in a process would otherwise be charged for."""
    karate: Any = datasets.load_karate()
    _predict(method, karate.graph, {0: karate.labels[0], 33: karate.labels[33]})
