"""Online labelling: one diffusion against the paper's loop, that against numba, and the accuracy of every method.

    python -m tests.benchmarks.bench_online engine [graph ...]
    python -m tests.benchmarks.bench_online speed
    python -m tests.benchmarks.bench_online accuracy [graph ...]
    python -m tests.benchmarks.bench_online growth

`engine` prints CPU milliseconds of whole runs (the best of several) of "fastonl" and "fastonl-fifo" and their ratio,
and how both do on the first nodes of the graphs that are too large for the latter; `speed` CPU microseconds per node of
"fastonl-fifo" and numba (peers interleaved); `accuracy` the mean over random orders, its deviation, and the CPU seconds
of the fastest, construction included; `growth` the cost of a label in planted partitions of growing size; `fit` the
accuracy of labels that are learned at once. Each takes --record, then for all graphs. Needs the graphs of
../shared/data, and numba for `speed`: pip install -e ".[bench]".
"""

from __future__ import annotations

import os
import time
from functools import partial

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the clock is that of one thread; read when numpy loads

import numpy as np

import nx_fastonl as fo
from nx_fastonl.experiments.tables import PAPER_ACCURACY
from nx_fastonl.graph.csr import CSRGraph
from tests.benchmarks.measure import Table, best_times, load, load_labels, parser
from tests.seams import store_of

# How many nodes of each graph arrive in one run.
SPEED = {"cora": 2485, "citeseer": 2110, "pubmed": 1000}
# The paper's loop takes too long on large graphs; methods of O(n^3) or O(n m) run on small ones only.
SMALL = ("political", "citeseer", "cora")
MEDIUM = ("blogcatalog", "mnist", "pubmed")
LARGE = ("ogbn-arxiv", "com-dblp")
ORDERS = 10
# Nodes of a large graph that the paper's loop is given.
FIRST_NODES = 2000
# Planted partitions: sizes; nodes of a community, which has one of ten labels; neighbours inside and outside of it.
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
COMMUNITY, INSIDE, OUTSIDE = 50, 8, 2
PAPER = {**PAPER_ACCURACY, "political": PAPER_ACCURACY["political-blogs"], "mnist": PAPER_ACCURACY["mnist-knn"]}
METHODS = {
    "fastonl": {"method": "fastonl"},
    "fastonl-fifo (paper's trace)": {"method": "fastonl-fifo", "trace": "paper"},
    **{method: {"method": method} for method in ("fastonl-fifo", "relaxation", "approximate")},
    **{method: {"method": method} for method in ("weighted-majority", "weighted-tree")},
}
# For labels that are learned at once: the fractions of the nodes that are known, and epsilon in units of 1 / n.
KNOWN_FRACTIONS = (0.01, 0.05, 0.2)
EPSILONS = (0.1, 0.01)


def label_stream(labels: np.ndarray, seed: int, count: int | None = None) -> list[tuple[int, int]]:
    order = np.random.default_rng(seed).permutation(np.flatnonzero(labels >= 0))[:count]
    return list(zip(order.tolist(), labels[order].tolist(), strict=True))


def engine(names: list[str]) -> list[Table]:
    table = Table(
        "engine",
        *("graph", "nodes", "fastonl, ms", "fastonl, us per node"),
        *(
            "nodes for fastonl-fifo",
            "fastonl-fifo, ms",
            "fastonl-fifo, us per node",
            "fastonl-fifo / fastonl, per node",
        ),
    )
    first = Table("accuracy-first-nodes", "graph", "nodes", "fastonl", "fastonl-fifo")
    calls = Table("single-calls", "graph", "labels", "call", "median, us", "10th percentile, us", "90th percentile, us")
    for name in names:
        graph, labels = load(name), load_labels(name)
        stream = label_stream(labels, 0)
        few = stream[:FIRST_NODES] if name in LARGE else stream
        label_all = partial(fo.online_node_labeling, graph, stream, method="fastonl")
        label_few = partial(fo.online_node_labeling, graph, few, method="fastonl-fifo")
        ours = best_times({"fastonl": label_all}, 3 if name in LARGE else 15)["fastonl"]
        fifo = best_times({"fifo": label_few}, 5 if name in SMALL else 3)["fifo"]
        each, fifo_each = ours / len(stream) * 1e6, fifo / len(few) * 1e6
        table.add(name, len(stream), ours * 1e3, each, len(few), fifo * 1e3, fifo_each, fifo_each / each)
        if name in LARGE:
            both = (fo.online_node_labeling(graph, few, method=method) for method in ("fastonl", "fastonl-fifo"))
            first.add(name, len(few), *(sequence.accuracy for sequence in both))
            prediction(calls, name, graph, stream)
    return [table, first, calls]


def prediction(table: Table, name: str, graph: CSRGraph, stream: list[tuple[int, int]]) -> None:
    """Single calls from Python, wall time, after a hundred thousand labels, for nodes that are not among them."""
    known, unknown = stream[:100_000], stream[100_000:]
    model = fo.OnlineNodeLabeler(graph, method="fastonl").fit(known)
    for call in ("predict_one", "certify_one"):
        times = []
        for node, _ in unknown[-1000:]:
            start = time.perf_counter()
            getattr(model, call)(node)
            times.append(time.perf_counter() - start)
        tenth, median, most = np.quantile(times, [0.1, 0.5, 0.9]) * 1e6
        table.add(name, len(known), call, float(median), float(tenth), float(most))


def growth() -> list[Table]:
    """The cost of a label where the local structure is always the same: communities of the same size and density."""
    table = Table(
        "growth",
        *("nodes n", "first n/20 labels, pushes each", "first n/20 labels, us each"),
        *("second n/20 labels, pushes each", "second n/20 labels, us each"),
    )
    for n in SIZES:
        rng = np.random.default_rng(0)
        u = np.repeat(np.arange(n), (INSIDE + OUTSIDE) // 2)
        own = u // COMMUNITY * COMMUNITY + rng.integers(COMMUNITY, size=len(u))
        is_inside = np.tile(np.arange((INSIDE + OUTSIDE) // 2) < INSIDE // 2, n)
        v = np.where(is_inside, own, rng.integers(n, size=len(u)))
        graph = CSRGraph.from_edges(u[u != v], v[u != v], n=n)
        labels = rng.integers(10, size=n // COMMUNITY)[np.arange(n) // COMMUNITY]
        parts = np.split(rng.permutation(n)[: n // 10], [n // 20])
        runs = [learn(graph, labels, parts) for _ in range(3)]
        pushes, seconds = runs[0][0], np.min([seconds for _, seconds in runs], axis=0)
        each = [(p / len(part), s / len(part) * 1e6) for p, s, part in zip(pushes, seconds, parts, strict=True)]
        table.add(n, *(float(figure) for pair in each for figure in pair))
    return [table]


def learn(graph: CSRGraph, labels: np.ndarray, parts: list[np.ndarray]) -> tuple[list[int], list[float]]:
    """The pushes and the seconds of CPU that each part of the nodes takes, one after the other."""
    model = fo.OnlineNodeLabeler(graph, range(10), method="fastonl", trace="paper")
    pushes, seconds = [], []
    for part in parts:
        start = time.thread_time()
        model.run(zip(part.tolist(), labels[part].tolist(), strict=True))
        seconds.append(time.thread_time() - start)
        pushes.append(store_of(model).n_pushes - sum(pushes))
    return pushes, seconds


def speed() -> list[Table]:
    from tests.benchmarks.numba_fastonl import fastonl

    table = Table(
        "paper-loop",
        *("graph", "nodes", "fastonl-fifo, us per node", "numba, us per node", "numba / fastonl-fifo", "equal labels"),
        peers=("numba",),
    )

    for name, count in SPEED.items():
        graph, labels = load(name), load_labels(name)
        classes = np.unique(labels[labels >= 0])
        codes = np.searchsorted(classes, labels)
        stream = label_stream(labels, 0, count)
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
        each = {key: seconds / count * 1e6 for key, seconds in times.items()}
        table.add(name, count, each["ours"], each["numba"], each["numba"] / each["ours"], float(agree))
    return [table]


def accuracy(names: list[str]) -> list[Table]:
    """The mean over random orders, its deviation, and the seconds of CPU of the fastest."""
    tables = [
        Table("accuracy", "graph", *METHODS, "FastONL in the paper"),
        Table("accuracy-deviation", "graph", *METHODS),
        Table("accuracy-seconds", "graph", *(f"{method}, s" for method in METHODS)),
    ]
    for name in names:
        graph, labels = load(name), load_labels(name)
        found, deviations, seconds = ({} for _ in tables)
        for method, options in METHODS.items():
            if name not in SMALL and method in ("relaxation", "approximate"):
                continue
            if name in LARGE and method.startswith("fastonl-fifo"):
                continue
            accuracies, times = [], []
            for seed in range(ORDERS):
                stream = label_stream(labels, seed)
                start = time.process_time()
                accuracies.append(fo.online_node_labeling(graph, stream, seed=seed, **options).accuracy)
                times.append(time.process_time() - start)
            found[method], deviations[method] = float(np.mean(accuracies)), float(np.std(accuracies))
            seconds[method] = min(times)
        found_row, deviation_row, seconds_row = (
            [figures.get(method) for method in METHODS] for figures in (found, deviations, seconds)
        )
        tables[0].add(name, *found_row, PAPER.get(name))
        tables[1].add(name, *deviation_row)
        tables[2].add(name, *seconds_row)
    return tables


def fit(names: list[str]) -> list[Table]:
    """A fraction of the nodes is learned at once, up to 20,000 others are labelled: accuracy and time by epsilon."""
    accuracies = (f"accuracy at {epsilon}/n" for epsilon in EPSILONS)
    table = Table("fit", "graph", "fraction known", *accuracies, *(f"{epsilon}/n, ms" for epsilon in EPSILONS))
    for name in names:
        graph, labels = load(name), load_labels(name)
        for fraction in KNOWN_FRACTIONS:
            found = [[fit_once(graph, labels, fraction, epsilon, seed) for seed in range(5)] for epsilon in EPSILONS]
            means = [float(np.mean([accuracy for accuracy, _ in runs])) for runs in found]
            table.add(name, fraction, *means, *(min(seconds for _, seconds in runs) * 1e3 for runs in found))
    return [table]


def fit_once(graph: CSRGraph, labels: np.ndarray, fraction: float, epsilon: float, seed: int) -> tuple[float, float]:
    stream = label_stream(labels, seed)
    known, others = np.split(np.array(stream), [int(fraction * len(stream))])
    nodes, truth = others[:20_000].T.tolist()
    start = time.thread_time()
    model = fo.OnlineNodeLabeler(graph, method="fastonl", epsilon=epsilon / len(graph))
    predicted = model.fit(known.tolist()).predict_many(nodes)
    seconds = time.thread_time() - start
    return float(np.mean(np.array(predicted) == truth)), seconds


def main() -> None:
    options = parser(__doc__)
    options.add_argument("benchmark", choices=("engine", "speed", "accuracy", "growth", "fit"))
    options.add_argument("graphs", nargs="*", metavar="graph")
    arguments = options.parse_args()
    if arguments.graphs and (arguments.record or arguments.benchmark in ("speed", "growth")):
        options.error("--record, speed and growth are for all graphs")
    names = arguments.graphs or [*SMALL, *MEDIUM, *LARGE]
    benchmarks = {
        "engine": partial(engine, names),
        "speed": speed,
        "accuracy": partial(accuracy, names),
        "growth": growth,
        "fit": partial(fit, names),
    }
    for table in benchmarks[arguments.benchmark]():
        if arguments.record:
            table.record()


if __name__ == "__main__":
    main()
