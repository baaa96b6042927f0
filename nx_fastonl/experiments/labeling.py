"""Experiments on online labelling: the tasks, and the work on each."""

from __future__ import annotations

import time
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from nx_fastonl import datasets
from nx_fastonl.experiments.base import Record, Task
from nx_fastonl.experiments.graphs import load_labelled_graph
from nx_fastonl.labeling.sequence import LabelSequence
from nx_fastonl.labeling.stream import online_node_labeling
from nx_fastonl.learners.registry import METHOD_OPTIONS, Method

# On graphs with more nodes than this, these methods need n^2 numbers in memory, or hours.
METHOD_MAX_NODES = {"relaxation": 3_000, "approximate": 3_000, "fastonl-fifo": 20_000, "perceptron": 20_000}

SMOOTHNESSES = (0.01, 0.05, 0.15, 0.5, 0.9, 2.0, 5.0, 20.0)
# The values of lambda / n that each kernel runs with. Below 0.05, K1 spreads mass over the whole graph, and a run takes
# minutes; above 0.9, K4's beta of 1 - lambda / n would be negative.
KERNEL_SMOOTHNESSES = {
    "K1": tuple(smoothness for smoothness in SMOOTHNESSES if smoothness >= 0.05),
    "K2": SMOOTHNESSES,
    "K3": SMOOTHNESSES,
    "K4": tuple(smoothness for smoothness in SMOOTHNESSES if smoothness <= 0.9),
}
EPSILONS_TIMES_N = (10.0, 1.0, 0.1, 0.01)
# About how many points of an error curve are recorded.
CURVE_POINTS = 60


def method_tasks(graph: str, trials: int) -> list[Task]:
    n = len(load_labelled_graph(graph)[0])
    methods = [method for method in METHOD_OPTIONS if n <= METHOD_MAX_NODES.get(method, n)]
    return [{"graph": graph, "method": method, "trial": trial} for method, trial in product(methods, range(trials))]


def measure_accuracy(task: Task) -> list[Record]:
    sequence, seconds = run_stream(task, method=task["method"])
    return [{"accuracy": sequence.accuracy, "seconds": seconds}]


def measure_error_curve(task: Task) -> list[Record]:
    sequence, _ = run_stream(task, method=task["method"])
    curve = sequence.error_curve
    seen = np.unique(np.geomspace(1, len(curve), CURVE_POINTS).round().astype(int)).tolist()
    return [{"nodes_seen": count, "error_rate": curve[count - 1]} for count in seen]


def smoothness_tasks(graph: str, trials: int) -> list[Task]:
    return [
        {"graph": graph, "kernel": kernel, "smoothness": smoothness, "trial": trial}
        for kernel, smoothnesses in KERNEL_SMOOTHNESSES.items()
        for smoothness, trial in product(smoothnesses, range(trials))
    ]


def measure_smoothness(task: Task) -> list[Record]:
    sequence, _ = run_stream(task, method="fastonl", kernel=task["kernel"], smoothness=task["smoothness"])
    return [{"accuracy": sequence.accuracy}]


def epsilon_tasks(graph: str, trials: int) -> list[Task]:
    return [
        {"graph": graph, "method": method, "epsilon_times_n": epsilon, "trial": trial}
        for method, epsilon, trial in product(("fastonl", "fastonl-fifo"), EPSILONS_TIMES_N, range(trials))
    ]


def measure_epsilon(task: Task) -> list[Record]:
    n = len(load_labelled_graph(task["graph"])[0])
    sequence, seconds = run_stream(task, method=task["method"], epsilon=task["epsilon_times_n"] / n)
    return [{"accuracy": sequence.accuracy, "seconds": seconds}]


def label_stream(task: Task, *, arrows: bool = False) -> list[tuple[Any, Any]]:
    """The nodes and their labels in the random order of this trial; if the task has `arrivals`, so many."""
    _, labels = load_labelled_graph(task["graph"], arrows=arrows)
    nodes = list(labels)
    order = np.random.default_rng(task["trial"]).permutation(len(nodes)).tolist()
    return [(nodes[i], labels[nodes[i]]) for i in order[: task.get("arrivals")]]


def run_stream(task: Task, method: Method, *, arrows: bool = False, **options: Any) -> tuple[LabelSequence, float]:
    """Label the nodes in the random order of this trial; return the predictions and the seconds of CPU."""
    graph, _ = load_labelled_graph(task["graph"], arrows=arrows)
    stream = label_stream(task, arrows=arrows)
    _warm_up(method)
    graph.without_arrows()  # kept with the graph: no method is charged for it
    start = time.process_time()
    sequence = online_node_labeling(graph, stream, method=method, seed=task["trial"], **options)
    return sequence, time.process_time() - start


@cache
def _warm_up(method: Method) -> None:
    """Import and allocate what the first run in a process would otherwise be charged for."""
    karate = datasets.load_karate()
    online_node_labeling(karate.graph, karate.labels, method=method)
