"""Graphs that change: what an update costs, against computing anew.

    python -m tests.benchmarks.bench_dynamic labels|edges|push|pagerank|temporal|journal

`labels` inserts and then removes 100,000 random edges of ogbn-arxiv under a labeler that has learned 50,000 nodes, and
asks for a prediction after each. It prints the median and the 99th percentile of an update with its prediction, in
microseconds of CPU, and how much longer it takes to learn the 50,000 labels again. `edges` inserts a million random
edges into the same graph, by array and one by one, beside NetworkX, igraph and networkit. `push` compares pushes on a
DynamicGraph with those on its CSRGraph, beside a second run on the CSRGraph: on a fresh one, and where 30 % of the rows
have moved. With valgrind installed it also counts instructions.

`pagerank` keeps one vector of ogbn-arxiv, without its arrows, under random insertions and removals of edges, and asks
for a value after each. It prints updates per second, the median and the 99th percentile of an update with its question,
in microseconds of CPU, and how much longer `personalized_pagerank_local` takes for a vector with the same certified
error, on a graph that needs no conversion and with arrays out.

`temporal` lets the papers of ogbn-arxiv arrive by year, within a year in random order. Each comes with its edges to
papers that are there, is predicted, then learned, by `replay` of one stream of events. It prints accuracy by year, and
events per second of CPU: an edge is one event, an arrival another.

`journal` adds edges and learns labels one by one, in memory and on disk, and prints how many of each per second: by the
clock, since most of it is waiting for the disk where ``sync="always"``.

Each takes --record. Needs the graphs of ../shared/data.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the clock is that of one thread; read when numpy loads

import numpy as np

import nx_fastonl as fo
from nx_fastonl.graph.csr import CSRGraph
from tests.benchmarks.measure import DATA, Table, best_times, load, load_labels, parser, to_networkx

GRAPH = "ogbn-arxiv"
KNOWN, UPDATES = 50_000, 100_000
INSERTED = 1_000_000
ONE_BY_ONE = 100_000
PUSHES = 300
MOVED = 0.3
DAMPING = 0.85
PAGERANK_UPDATES = 10_000
# With the last, an edge changes the vector by several times its tolerance: an update costs much, and there are fewer.
ACCURACIES = (({"epsilon": 1e-6}, 1), ({"tol": 1e-3}, 1), ({"tol": 1e-4}, 1), ({"tol": 1e-6}, 20))
TEMPORAL_METHODS = ("adaptive", "fastonl")
# Before this year there are few papers each year.
FIRST_SINGLE_YEAR = 2000


def random_updates(graph: CSRGraph, count: int, seed: int = 0) -> Iterator[tuple[int, int, bool]]:
    """Ends of an edge, and whether it is to be inserted: as many insertions, of any two nodes, as removals."""
    random = np.random.default_rng(seed)
    rows = np.repeat(np.arange(len(graph)), graph.neighbor_counts(slice(None)))
    once = np.flatnonzero(rows < graph.indices)
    removed = random.permutation(once)[: count // 2]
    inserted = random.integers(len(graph), size=(count - len(removed), 2))
    ends = np.concatenate([np.stack([rows[removed], graph.indices[removed]], axis=1), inserted])
    for i in random.permutation(count).tolist():
        yield *ends[i].tolist(), i >= len(removed)


def labels() -> Table:
    """A labeler under updates, with a prediction after each."""
    headers = ("method", "updates", "median, us", "99 %, us", "mean, us", "learned again, s", "again / update")
    table = Table("dynamic-labels", *headers)
    frozen, truth = load(GRAPH), load_labels(GRAPH).tolist()
    random = np.random.default_rng(0)
    known = random.permutation(len(frozen))[:KNOWN].tolist()
    pairs = [(u, truth[u]) for u in known]
    edges = random.integers(len(frozen), size=(UPDATES, 2)).tolist()
    questions = random.integers(len(frozen), size=UPDATES).tolist()
    for method in ("fastonl", "adaptive"):
        graph = fo.DynamicGraph(frozen)
        model = fo.OnlineNodeLabeler(graph, method=method)
        again = best_times({"again": lambda model=model: model.clone().run(pairs)}, 3)["again"]
        model.run(pairs)
        for name, change in (("inserted", graph.add_edge), ("removed", graph.remove_edge)):
            seconds = []
            for (u, v), node in zip(edges, questions, strict=True):
                start = time.thread_time()
                if name == "inserted" or graph.has_edge(u, v):
                    change(u, v)
                model.predict_one(node)
                seconds.append(time.thread_time() - start)
            median, slow = np.quantile(seconds, [0.5, 0.99]).tolist()
            mean = float(np.mean(seconds))
            cells = (median * 1e6, slow * 1e6, mean * 1e6, again, again / mean)
            table.add(f"{method}, {name}", len(seconds), *cells)
    return table


def edges() -> Table:
    """Edges that are inserted by array and one by one, in millions per second."""
    import igraph
    import networkit

    table = Table("dynamic-edges", "edges given", "million / s", "DynamicGraph / it", peers=("igraph", "networkit"))
    frozen = load(GRAPH)
    n, G = len(frozen), to_networkx(frozen)
    many = np.random.default_rng(0).integers(n, size=(INSERTED, 2))
    few = many[:ONE_BY_ONE].tolist()
    ends = list(G.edges)

    def one_by_one(add) -> None:
        for u, v in few:
            add(u, v)

    def in_igraph() -> igraph.Graph:
        return igraph.Graph(n=n, edges=ends)

    def in_networkit() -> networkit.Graph:
        graph = networkit.Graph(n)
        for u, v in ends:
            graph.addEdge(u, v)
        return graph

    def fresh() -> fo.DynamicGraph:
        return fo.DynamicGraph(frozen)

    runs = {
        "array, DynamicGraph": (INSERTED, fresh, lambda graph: graph.add_edges_from(many)),
        "array, igraph add_edges": (INSERTED, in_igraph, lambda graph: graph.add_edges(many)),
        "one by one, DynamicGraph": (
            ONE_BY_ONE,
            lambda: fo.DynamicGraph(frozen),
            lambda graph: one_by_one(graph.add_edge),
        ),
        "one by one, NetworkX": (ONE_BY_ONE, G.copy, lambda graph: one_by_one(graph.add_edge)),
        "one by one, networkit": (
            ONE_BY_ONE,
            in_networkit,
            lambda graph: one_by_one(lambda u, v: graph.addEdge(u, v, checkMultiEdge=True)),
        ),
    }
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(3):
        for name, (_, make, add) in runs.items():
            graph = make()
            start = time.thread_time()
            add(graph)
            best[name] = min(best[name], time.thread_time() - start)
    graph = in_igraph()
    start = time.thread_time()
    for u, v in few[:200]:  # each copies the whole graph
        graph.add_edge(u, v)
    best["one by one, igraph"] = (time.thread_time() - start) * ONE_BY_ONE / 200
    for name, seconds in best.items():
        way = name.split(",")[0]
        count = INSERTED if way == "array" else ONE_BY_ONE
        table.add(name, count / seconds / 1e6, seconds / best[f"{way}, DynamicGraph"])
    return table


def moved_graph(frozen: CSRGraph) -> fo.DynamicGraph:
    """The same graph, after an edge has joined and left again at enough nodes for 30 % of the rows to move."""
    graph = fo.DynamicGraph(frozen)
    chosen = np.random.default_rng(0).permutation(len(frozen))[: int(MOVED * len(frozen)) // 2 * 2].reshape(-1, 2)
    chosen = chosen[[not graph.has_edge(u, v) for u, v in chosen.tolist()]]
    graph.add_edges_from(chosen)
    graph.remove_edges_from(chosen)
    return graph


def push() -> Table:
    """The same pushes on a CSRGraph, twice, on a fresh DynamicGraph and on one whose rows have moved."""
    table = Table("dynamic-push", "graph", "ms", "/ CSRGraph", "instructions, millions", "/ CSRGraph, instructions")
    frozen = load(GRAPH)
    graphs = {
        "CSRGraph": frozen,
        "CSRGraph again": frozen,
        "fresh": fo.DynamicGraph(frozen),
        "moved": moved_graph(frozen),
    }
    sources = np.random.default_rng(1).integers(len(frozen), size=PUSHES).tolist()

    def pushes(G: object) -> None:
        for source in sources:
            fo.personalized_pagerank_local(G, personalization=source, epsilon=1e-6)

    seconds = best_times({name: lambda G=G: pushes(G) for name, G in graphs.items()}, 7)
    counts = {name: instructions(name) for name in ("CSRGraph", "fresh")} if shutil.which("valgrind") else {}
    for name in graphs:
        count, base = counts.get(name), counts.get("CSRGraph")
        ratio = count / base if count and base else None
        table.add(name, seconds[name] * 1e3, seconds[name] / seconds["CSRGraph"], count and count / 1e6, ratio)
    return table


def instructions(name: str) -> float:
    """How many instructions one push takes on a graph of this name, by callgrind: ten pushes more, over ten."""

    def counted(pushes: int) -> int:
        program = (
            "import sys, nx_fastonl as fo; from tests.benchmarks.measure import load; frozen = load('cora')\n"
            f"G = frozen if {name!r} == 'CSRGraph' else fo.DynamicGraph(frozen)\n"
            f"for _ in range({pushes}): fo.personalized_pagerank_local(G, personalization=5, epsilon=1e-9)\n"
        )
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, "-c", program]
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        return int(re.search(r"Collected : (\d+)", done.stderr)[1])

    return (counted(12) - counted(2)) / 10


def pagerank() -> Table:
    """One vector under updates, with a question after each."""
    table = Table(
        "dynamic-pagerank",
        *(
            "graph",
            "stop",
            "updates",
            "L1 error",
            "updates per second",
            "median, us",
            "99 %, us",
            "anew, ms",
            "anew / update",
        ),
    )
    frozen = load(GRAPH)
    source = 0
    for accuracy, fewer in ACCURACIES:
        updates = list(random_updates(frozen, PAGERANK_UPDATES // fewer))
        nodes = np.random.default_rng(1).integers(len(frozen), size=len(updates)).tolist()
        graph = fo.DynamicGraph(frozen)
        ranks = fo.DynamicPageRank(graph, source, DAMPING, **accuracy)
        ranks[source]
        seconds = []
        for node, (u, v, inserts) in zip(nodes, updates, strict=True):
            start = time.thread_time()
            if inserts:
                graph.add_edge(u, v)
            elif graph.has_edge(u, v):
                graph.remove_edge(u, v)
            ranks[node]
            seconds.append(time.thread_time() - start)
        error, now = ranks.l1_error, graph.freeze()
        exact = fo.personalized_pagerank_local(now, DAMPING, source, tol=1e-12, as_array=True)
        found = ranks.ranks()
        assert np.abs(exact - [found.get(u, 0.0) for u in range(len(now))]).sum() <= error + 1e-12

        def anew(now: CSRGraph = now, error: float = error) -> object:
            return fo.personalized_pagerank_local(now, DAMPING, source, tol=error, as_array=True)

        again = best_times({"anew": anew}, 5)["anew"]
        median, slow = np.quantile(seconds, [0.5, 0.99]).tolist()
        stop = " ".join(f"{name}={value:g}" for name, value in accuracy.items())
        mean = float(np.mean(seconds))
        table.add(GRAPH, stop, len(updates), error, 1 / mean, median * 1e6, slow * 1e6, again * 1e3, again / mean)
    return table


def temporal() -> list[Table]:
    """Papers arrive with their edges, are predicted, then learned."""
    with np.load(DATA / f"{GRAPH}.npz") as arrays:
        years = np.array(arrays["year"]).ravel()
    shuffled = np.random.default_rng(0).permutation(len(years))
    order = shuffled[np.argsort(years[shuffled], kind="stable")]
    correct, speed = {}, Table("dynamic-temporal-speed", "method", "events", "seconds", "events per second")
    for method in TEMPORAL_METHODS:
        graph = fo.DynamicGraph()
        stream = fo.replay(papers(order), graph, fo.OnlineNodeLabeler(graph, method=method, seed=0))
        start = time.thread_time()
        correct[method] = np.array(stream.run().correct)
        seconds = time.thread_time() - start
        speed.add(method, stream.n_events, seconds, stream.n_events / seconds)
    accuracy = Table("dynamic-temporal", "years", "papers", *TEMPORAL_METHODS)
    arrived = years[order]
    begins = [int(arrived[0]), *(year for year in np.unique(arrived).tolist() if year >= FIRST_SINGLE_YEAR)]
    for first, after in zip(begins, [*begins[1:], int(arrived[-1]) + 1], strict=True):
        these = (arrived >= first) & (arrived < after)
        name = str(first) if after == first + 1 else f"{first}-{after - 1}"
        accuracy.add(name, int(these.sum()), *(float(correct[method][these].mean()) for method in TEMPORAL_METHODS))
    accuracy.add("all", len(arrived), *(float(correct[method].mean()) for method in TEMPORAL_METHODS))
    return [accuracy, speed]


def papers(order: np.ndarray) -> Iterator[tuple[Any, ...]]:
    """For each paper, its edges to those that have arrived, then itself."""
    graph, labels = load(GRAPH), load_labels(GRAPH).ravel().tolist()
    arrival = np.empty(len(graph), dtype=np.int64)
    arrival[order] = np.arange(len(order))
    for i, paper in enumerate(order.tolist()):
        others = graph.indices[graph.indptr[paper] : graph.indptr[paper + 1]]
        for other in others[arrival[others] < i].tolist():
            yield "edge", paper, other
        yield "arrival", paper, labels[paper]


def journal() -> Table:
    """One edge and one label, by how they are written."""
    table = Table("dynamic-journal", "sync", "edges per second", "labels per second")
    for sync in ("none", "never", "batch", "always"):
        n = 300 if sync == "always" else 10_000
        with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
            if sync == "none":
                graph = fo.DynamicGraph(load(GRAPH))
                model = fo.OnlineNodeLabeler(graph, method="fastonl", seed=0)
            else:
                graph = opened.enter_context(fo.DurableGraph(f"{folder}/graph", load(GRAPH), sync=sync))
                model = graph.labeler("labels", method="fastonl", seed=0)
            ends = np.random.default_rng(0).integers(len(graph), size=(n, 2)).tolist()
            start = time.perf_counter()
            for u, v in ends:
                graph.add_edge(u, v)
            edges_done = time.perf_counter()
            model.predict_one(0)
            learning = time.perf_counter()
            for u in range(n):
                model.learn_one(u, u % 40)
            table.add(sync, n / (edges_done - start), n / (time.perf_counter() - learning))
    return table


def main() -> None:
    benchmarks: dict[str, Callable[[], list[Table]]] = {
        "labels": lambda: [labels()],
        "edges": lambda: [edges()],
        "push": lambda: [push()],
        "pagerank": lambda: [pagerank()],
        "temporal": temporal,
        "journal": lambda: [journal()],
    }
    options = parser(__doc__)
    options.add_argument("benchmark", choices=tuple(benchmarks))
    arguments = options.parse_args()
    for table in benchmarks[arguments.benchmark]():
        if arguments.record:
            table.record()


if __name__ == "__main__":
    main()
