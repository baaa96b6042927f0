"""Graphs that change: what an update costs, against computing anew.

    python -m tests.benchmarks.bench_dynamic pagerank

`pagerank` keeps one vector of ogbn-arxiv, without its arrows, under random insertions and removals of edges, and asks
for a value after each. It prints updates per second, the median and the 99th percentile of an update with its question,
in microseconds of CPU, and how much longer `personalized_pagerank_local` takes for a vector with the same certified
error, on a graph that needs no conversion and with arrays out. Each takes --record. Needs the graphs of ../shared/data.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the clock is that of one thread; read when numpy loads

import numpy as np

import nx_fastonl as fo
from nx_fastonl.graph.csr import CSRGraph
from tests.benchmarks.measure import Table, best_times, load, parser

GRAPH = "ogbn-arxiv"
DAMPING = 0.85
PAGERANK_UPDATES = 10_000
# With the last, an edge changes the vector by several times its tolerance: an update costs much, and there are fewer.
ACCURACIES = (({"epsilon": 1e-6}, 1), ({"tol": 1e-3}, 1), ({"tol": 1e-4}, 1), ({"tol": 1e-6}, 20))


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


def main() -> None:
    benchmarks = {"pagerank": pagerank}
    options = parser(__doc__)
    options.add_argument("benchmark", choices=tuple(benchmarks))
    arguments = options.parse_args()
    table = benchmarks[arguments.benchmark]()
    if arguments.record:
        table.record()


if __name__ == "__main__":
    main()
