"""Online labelling: the paper's loop against a plain numba one, and the accuracy of every method on real graphs.

    python -m tests.benchmarks.bench_online speed
    python -m tests.benchmarks.bench_online accuracy [graph ...]

`speed` prints CPU microseconds a node (the best of several runs, peers interleaved) and ratios; `accuracy` the mean
over random orders and the CPU seconds of the fastest, construction included. Needs the graphs of ../shared/data, and
numba for `speed`: pip install -e ".[bench]".
"""

from __future__ import annotations

import os
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the clock is that of one thread; read when numpy loads

import numpy as np

import nx_fastonl as fo
from nx_fastonl.graph import CSRGraph
from tests.benchmarks.measure import best_times, load, load_labels

# How many nodes of each graph arrive in one run.
SPEED = {"cora": 2485, "citeseer": 2110, "pubmed": 1000}
# Orders for the paper's loop; the methods of O(n^3) or O(n m) run on the small graphs only.
ORDERS = {"political": 10, "citeseer": 10, "cora": 10, "blogcatalog": 10, "mnist": 2, "pubmed": 2}
SMALL = ("political", "citeseer", "cora")
METHODS = {
    "fastonl-fifo, trace paper": {"trace": "paper"},
    "fastonl-fifo": {},
    "relaxation": {},
    "approximate": {},
    "weighted-majority": {},
    "weighted-tree": {},
}


def arrivals(labels: np.ndarray, seed: int, count: int | None = None) -> list[tuple[int, int]]:
    order = np.random.default_rng(seed).permutation(np.flatnonzero(labels >= 0))[:count]
    return list(zip(order.tolist(), labels[order].tolist(), strict=True))


def speed() -> None:
    from tests.benchmarks.numba_fastonl import fastonl

    for name, count in SPEED.items():
        graph, labels = load(name), load_labels(name)
        classes = np.unique(labels[labels >= 0])
        codes = np.searchsorted(classes, labels)
        stream = arrivals(labels, 0, count)
        order = np.array([node for node, _ in stream])
        epsilon = 0.1 / len(graph)
        found = {}

        def ours(graph=graph, stream=stream, classes=classes, found=found):
            found["ours"] = fo.online_node_labeling(graph, stream, trace="paper", classes=classes.tolist())

        def numba(graph=graph, codes=codes, order=order, classes=classes, epsilon=epsilon, found=found):
            found["numba"] = fastonl(graph.indptr, graph.indices, codes, order, len(classes), 0.15, epsilon)

        numba()  # compiles
        times = best_times({"ours": ours, "numba": numba}, 12)
        agree = np.mean(classes[found["numba"]] == np.array(list(found["ours"])))
        microseconds = {key: seconds / count * 1e6 for key, seconds in times.items()}
        print(
            f"{name:12} epsilon 0.1/n, {count} nodes: nx_fastonl {microseconds['ours']:7.1f} us a node, "
            f"numba {microseconds['numba']:7.1f} us, {times['numba'] / times['ours']:.2f}x; {agree:.1%} equal labels"
        )


def accuracy(names: list[str]) -> None:
    for name in names:
        graph, labels = load(name), load_labels(name)
        for method, options in METHODS.items():
            if name not in SMALL and method in ("relaxation", "approximate"):
                continue
            if name in ("mnist", "pubmed") and method == "fastonl-fifo":
                continue
            orders = ORDERS[name] if method.startswith("fastonl") else 10
            found, seconds = [], []
            for seed in range(orders):
                stream = arrivals(labels, seed)
                start = time.process_time()
                found.append(run(graph, stream, method, seed, options))
                seconds.append(time.process_time() - start)
            print(
                f"{name:12} {method:26} accuracy {np.mean(found):.4f} "
                f"(deviation {np.std(found):.4f}, {orders} orders), {min(seconds):.3f} s",
                flush=True,
            )


def run(graph: CSRGraph, stream: list[tuple[int, int]], method: str, seed: int, options: dict[str, str]) -> float:
    return fo.online_node_labeling(graph, stream, method=method.split(",")[0], seed=seed, **options).accuracy


if __name__ == "__main__":
    if sys.argv[1:] == ["speed"]:
        speed()
    elif sys.argv[1:2] == ["accuracy"]:
        accuracy(sys.argv[2:] or list(ORDERS))
    else:
        raise SystemExit(__doc__)
