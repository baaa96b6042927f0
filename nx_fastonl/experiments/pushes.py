"""Experiments on pushes and power iteration: the tasks, and the work on each."""

from __future__ import annotations

from math import log

import numpy as np

from nx_fastonl.experiments.base import Record, Task
from nx_fastonl.experiments.graphs import load_graph
from nx_fastonl.kernels.functions import kernel_column
from nx_fastonl.push.fifo import fifo_push
from nx_fastonl.push.pagerank import personalized_pagerank_local

PUSH_EPSILONS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
PUSH_ALPHA = 0.15
POWER_STEPS = 15
# About how many of the magnitudes of a vector are recorded.
RANKS = 40


def source_tasks(graph: str, trials: int) -> list[Task]:
    """A task for each of the first nodes of a random order, which does not depend on the number of trials."""
    n = len(load_graph(graph)[0])
    sources = np.random.default_rng(0).permutation(n)[:trials].tolist()
    return [{"graph": graph, "source": source} for source in sources]


def measure_operations(task: Task) -> list[Record]:
    graph, _ = load_graph(task["graph"])
    records = []
    for epsilon in PUSH_EPSILONS:
        _, _, info = fifo_push(graph, task["source"], PUSH_ALPHA, epsilon, full_output=True)
        # Power iteration until the residual is epsilon per neighbour, if it were spread evenly.
        power = len(graph.indices) * max(log(1.0 / (epsilon * max(len(graph.indices), 1))) / PUSH_ALPHA, 1.0)
        counts = {
            "operations": info.operations,
            "local bound": info.local_bound,
            "worst-case bound": info.worst_case_bound,
            "power iteration": power,
        }
        records += [{"epsilon": epsilon, "quantity": quantity, "edges": count} for quantity, count in counts.items()]
    return records


def measure_magnitudes(task: Task) -> list[Record]:
    graph, _ = load_graph(task["graph"])
    vectors = {
        "pagerank": personalized_pagerank_local(graph, 1 - PUSH_ALPHA, task["source"], tol=1e-10),
        "K1": kernel_column(graph, task["source"], kernel="K1", epsilon=1e-9),
        "K2": kernel_column(graph, task["source"], kernel="K2", epsilon=1e-9),
    }
    records = []
    for name, vector in vectors.items():
        values = np.sort(np.abs(list(vector.values())))[::-1]
        ranks = np.unique(np.geomspace(1, len(values), RANKS).round().astype(int)).tolist()
        records += [{"vector": name, "rank": rank, "magnitude": float(values[rank - 1] / values[0])} for rank in ranks]
    return records


def measure_reach(task: Task) -> list[Record]:
    """The fraction of the nodes that power iteration from one node has reached after each step."""
    graph, _ = load_graph(task["graph"])
    W = graph.to_scipy()
    reached = np.zeros(len(graph), dtype=bool)
    reached[task["source"]] = True
    records = []
    for step in range(POWER_STEPS + 1):
        records.append({"step": step, "fraction_reached": float(reached.mean())})
        reached = reached | (W.T @ reached > 0)
    return records
