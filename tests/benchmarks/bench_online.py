"""Online labelling: one diffusion against the paper's loop, that against numba, and the accuracy of every method.

    python -m tests.benchmarks.bench_online engine [graph ...]
    python -m tests.benchmarks.bench_online speed
    python -m tests.benchmarks.bench_online accuracy [graph ...]
    python -m tests.benchmarks.bench_online growth

`engine` prints CPU seconds of whole runs (the best of several) of "fastonl" and "fastonl-fifo" and their ratio, and
how both do on the first nodes of the graphs that are too large for the latter; `speed` CPU microseconds a node of
"fastonl-fifo" and numba (peers interleaved); `accuracy` the mean over random orders and the CPU seconds of the
fastest, construction included; `growth` the cost of a label in planted partitions of growing size. Needs the graphs
of ../shared/data, and numba for `speed`: pip install -e ".[bench]".
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
# Orders for the paper's loop, which takes too long on large graphs; methods of O(n^3) or O(n m) run on small ones only.
ORDERS = {"political": 10, "citeseer": 10, "cora": 10, "blogcatalog": 10, "mnist": 10, "pubmed": 10}
LARGE = ("ogbn-arxiv", "com-dblp")
SMALL = ("political", "citeseer", "cora")
# Nodes of a large graph that the paper's loop is given.
FIRST_NODES = 2000
# Planted partitions: sizes; nodes of a community, which has one of ten labels; neighbours inside and outside of it.
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
COMMUNITY, INSIDE, OUTSIDE = 50, 8, 2
METHODS = {
    "fastonl": {},
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


def engine(names: list[str]) -> None:
    for name in names:
        graph, labels = load(name), load_labels(name)
        stream = arrivals(labels, 0)
        few = stream[:FIRST_NODES] if name in LARGE else stream
        runs = {
            "fastonl": lambda graph=graph, stream=stream: fo.online_node_labeling(graph, stream),
            "fifo": lambda graph=graph, stream=few: fo.online_node_labeling(graph, stream, method="fastonl-fifo"),
        }
        ours = best_times({"fastonl": runs["fastonl"]}, 3 if name in LARGE else 15)["fastonl"]
        fifo = best_times({"fifo": runs["fifo"]}, 5 if name in SMALL else 1)["fifo"]
        each, fifo_each = ours / len(stream) * 1e6, fifo / len(few) * 1e6
        print(
            f"{name:12} fastonl {ours:8.4f} s for {len(stream):6} nodes, {each:6.2f} us each; "
            f"fastonl-fifo {fifo:8.4f} s for {len(few):6}, {fifo_each:9.1f} us each; {fifo_each / each:.1f}x",
            flush=True,
        )
        if name in LARGE:
            found = {method: run(graph, few, method, 0, {}) for method in ("fastonl", "fastonl-fifo")}
            print(f"{'':12} accuracy on the first {len(few)} nodes: {found}", flush=True)
            prediction(graph, stream)


def prediction(graph: CSRGraph, stream: list[tuple[int, int]]) -> None:
    """Single calls from Python after a hundred thousand labels, and the error of what they say."""
    model = fo.OnlineNodeLabeler(graph).fit(stream[:100_000])
    for name in ("predict_one", "certify_one"):
        times = []
        for node, _ in stream[-1000:]:
            start = time.perf_counter()
            getattr(model, name)(node)
            times.append(time.perf_counter() - start)
        tenth, median, most = np.quantile(times, [0.1, 0.5, 0.9]) * 1e6
        print(
            f"{'':12} {name} after 100,000 labels: median {median:.1f} us, 10 % {tenth:.1f}, 90 % {most:.1f}",
            flush=True,
        )


def growth() -> None:
    """The cost of a label where the local structure is always the same: communities of the same size and density."""
    for n in SIZES:
        rng = np.random.default_rng(0)
        u = np.repeat(np.arange(n), (INSIDE + OUTSIDE) // 2)
        own = u // COMMUNITY * COMMUNITY + rng.integers(COMMUNITY, size=len(u))
        is_inside = np.tile(np.arange((INSIDE + OUTSIDE) // 2) < INSIDE // 2, n)
        v = np.where(is_inside, own, rng.integers(n, size=len(u)))
        graph = CSRGraph.from_edges(u[u != v], v[u != v], n=n)
        labels = rng.integers(10, size=n // COMMUNITY)[np.arange(n) // COMMUNITY]
        order = rng.permutation(n)[: n // 10]
        parts = np.split(order, [n // 20])  # the first twentieth of the nodes, and the second
        model = fo.OnlineNodeLabeler(graph, range(10), trace="paper")
        line, pushes_before = f"n = {n:9,}", 0
        for name, part in zip(("first", "second"), parts, strict=True):
            start = time.thread_time()
            model._predict_and_learn(part.tolist(), labels[part].tolist())
            seconds = time.thread_time() - start
            pushes = int(model._learner.diffusion.tally[2]) - pushes_before
            pushes_before += pushes
            line += f"; {name} n/20 labels: {pushes / len(part):5.1f} pushes, {seconds / len(part) * 1e6:6.2f} us each"
        print(line, flush=True)


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
            options = {"method": "fastonl-fifo", "trace": "paper", "classes": classes.tolist()}
            found["ours"] = fo.online_node_labeling(graph, stream, **options)

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
            if name in LARGE and method.startswith("fastonl-fifo"):
                continue
            orders = ORDERS.get(name, 10) if method.startswith("fastonl-fifo") else 10
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
    elif sys.argv[1:] == ["growth"]:
        growth()
    elif sys.argv[1:2] == ["engine"]:
        engine(sys.argv[2:] or [*ORDERS, *LARGE])
    elif sys.argv[1:2] == ["accuracy"]:
        accuracy(sys.argv[2:] or [*ORDERS, *LARGE])
    else:
        raise SystemExit(__doc__)
