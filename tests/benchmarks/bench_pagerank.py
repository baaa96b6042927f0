"""One PageRank vector and many: this package against its peers, in one process, at equal error.

    python -m tests.benchmarks.bench_pagerank [graph ...]

Prints CPU seconds (the best of several runs, all peers interleaved) and ratios: peer / this package.
Needs the graphs of ../shared/data and the peers: pip install -e ".[bench]".
"""

from __future__ import annotations

import sys
import time
from functools import partial

import igraph
import networkit
import networkx as nx
import numpy as np
from scipy import sparse
from sknetwork.ranking import PageRank

import nx_fastonl as fo
from nx_fastonl.graph import CSRGraph
from nx_fastonl.push import System, local_push
from tests.benchmarks import numba_fifo
from tests.benchmarks.measure import GRAPHS, best_times, load, to_networkx

DAMPING = 0.85
ALPHA = 1 - DAMPING
SOURCES = 20


def report(title: str, times: dict[str, float], ours: str) -> None:
    print(f"  {title}")
    for name, seconds in times.items():
        ratio = "" if name == ours else f"{seconds / times[ours]:9.1f}x"
        print(f"    {name:<44}{seconds * 1e3:12.3f} ms{ratio}")


def error(exact: np.ndarray, found: np.ndarray) -> float:
    return float(np.abs(exact - found).sum())


def to_networkit(graph: CSRGraph) -> networkit.Graph:
    rows = np.repeat(np.arange(len(graph)), np.diff(graph.indptr))
    once = rows <= graph.indices
    ends = (rows[once].astype(np.uint64), graph.indices[once].astype(np.uint64))
    return networkit.GraphFromCoo(ends, n=len(graph), directed=False)


def to_igraph(graph: CSRGraph) -> igraph.Graph:
    rows = np.repeat(np.arange(len(graph)), np.diff(graph.indptr))
    once = rows <= graph.indices
    return igraph.Graph(n=len(graph), edges=np.column_stack([rows[once], graph.indices[once]]))


def local(name: str, graph: CSRGraph, sources: list[int]) -> None:
    """Loose: the same epsilon for all. networkit walks lazily, so its alpha is 0.15 / 1.85."""
    peer = to_networkit(graph)
    lazy = ALPHA / (2 - ALPHA)
    system = System(shift=0.0, slope=1 / DAMPING)
    numba_fifo.fifo_push(graph.indptr, graph.indices, 0, ALPHA, 0.1)

    def over_sources(function):
        return lambda: [function(source) for source in sources]

    for epsilon, repeat in ((1e-4, 15), (1e-6, 7)):
        functions = {
            "nx_fastonl, dict out": partial(
                lambda epsilon, s: fo.personalized_pagerank_local(graph, DAMPING, s, epsilon=epsilon), epsilon
            ),
            "nx_fastonl fifo_push, two dicts out": partial(
                lambda epsilon, s: fo.fifo_push(graph, s, ALPHA, epsilon), epsilon
            ),
            "nx_fastonl, compiled part": partial(
                lambda epsilon, s: local_push(graph, [s], [1.0], system, epsilon), epsilon
            ),
            "numba FIFO, arrays out": partial(
                lambda epsilon, s: numba_fifo.fifo_push(graph.indptr, graph.indices, s, ALPHA, epsilon), epsilon
            ),
            "networkit ApproximatePageRank": partial(
                lambda epsilon, s: networkit.scd.ApproximatePageRank(peer, lazy, epsilon).run(s), epsilon
            ),
        }
        times = best_times({key: over_sources(function) for key, function in functions.items()}, repeat)
        times = {key: seconds / len(sources) for key, seconds in times.items()}
        report(f"{name}: local, epsilon {epsilon:g}, mean of {len(sources)} sources", times, "nx_fastonl, dict out")
        compiled = times["nx_fastonl, compiled part"]
        for key in ("numba FIFO, arrays out", "networkit ApproximatePageRank"):
            print(f"      compiled part alone: {times[key] / compiled:9.1f}x  {key}")


def certified(name: str, graph: CSRGraph, G: nx.Graph, source: int) -> None:
    """Tight: an L1 error of 1e-6, each peer set so that it gets there."""
    peer = to_igraph(graph)
    matrix = sparse.csr_matrix(graph.to_scipy())
    n = len(graph)
    exact = np.array(peer.personalized_pagerank(damping=DAMPING, reset_vertices=[source]))

    def ours(tol, as_array=False):
        found = fo.personalized_pagerank_local(graph, DAMPING, source, tol=tol)
        return np.array([found.get(u, 0.0) for u in range(n)]) if as_array else found

    def sknetwork_piteration():
        return PageRank(DAMPING, solver="piteration", n_iter=iterations, tol=0).fit_predict(matrix, {source: 1})

    def networkx():
        return nx.pagerank(G, DAMPING, {source: 1}, max_iter=1000, tol=1.5e-7 / n)

    iterations = 40
    while error(exact, sknetwork_piteration()) > 1e-6:
        iterations += 2

    functions = {
        "nx_fastonl tol=1e-6, certified": partial(ours, 1e-6),
        "igraph personalized_pagerank (always exact)": partial(
            peer.personalized_pagerank, damping=DAMPING, reset_vertices=[source]
        ),
        f"scikit-network piteration, {iterations} iterations": sknetwork_piteration,
    }
    times = best_times(functions, 9)
    times |= best_times({"networkx pagerank": networkx}, 1)
    report(f"{name}: certified L1 error", times, "nx_fastonl tol=1e-6, certified")
    from_networkx = networkx()
    print(
        "      L1 distance to igraph: nx_fastonl "
        f"{error(exact, ours(1e-6, as_array=True)):.1e}, scikit-network {error(exact, sknetwork_piteration()):.1e}, "
        f"networkx {error(exact, np.array([from_networkx[u] for u in range(n)])):.1e}"
    )


def conversion(name: str, G: nx.Graph, source: int) -> None:
    def convert():
        G.__networkx_cache__.clear()
        return CSRGraph.from_networkx(G)

    times = best_times(
        {"nx_fastonl CSRGraph": convert, "nx.to_scipy_sparse_array": partial(nx.to_scipy_sparse_array, G)}, 2
    )
    report(f"{name}: nx.Graph to CSR", times, "nx_fastonl CSRGraph")
    convert()
    calls = 200
    second = best_times({"call": lambda: [fo.fifo_push(G, source, epsilon=0.9) for _ in range(calls)]}, 5)["call"]
    print(f"    a second call on the same nx.Graph, one push: {second / calls * 1e6:.1f} microseconds")


def batch(name: str, graph: CSRGraph, sources: list[int]) -> None:
    for epsilon in (1e-5, 1e-6):
        times = best_times(
            {
                f"{n_jobs} thread(s)": partial(fo.ppr_matrix, graph, sources, epsilon=epsilon, top_k=32, n_jobs=n_jobs)
                for n_jobs in (2, 1)
            },
            9,
            clock=time.perf_counter,
        )
        report(f"{name}: ppr_matrix, {len(sources)} sources, epsilon {epsilon:g}, wall time", times, "2 thread(s)")


def main() -> None:
    networkit.setNumberOfThreads(1)
    for name in sys.argv[1:] or GRAPHS:
        graph = load(name)
        print(f"{name}: {graph.number_of_nodes():,} nodes, {graph.number_of_edges():,} edges")
        sources = np.random.default_rng(0).choice(len(graph), 200, replace=False).tolist()
        G = to_networkx(graph)
        local(name, graph, sources[:SOURCES])
        certified(name, graph, G, sources[0])
        conversion(name, G, sources[0])
        batch(name, graph, sources)


if __name__ == "__main__":
    main()
