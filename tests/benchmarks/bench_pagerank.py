"""One PageRank vector: this package against its peers, in one process, at equal error.

    python -m tests.benchmarks.bench_pagerank [graph ...]
    python -m tests.benchmarks.bench_pagerank --record

Prints CPU milliseconds (the best of several runs, all peers interleaved) and ratios: peer / this package.
Needs the graphs of ../shared/data and the peers: pip install -e ".[bench]".
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import igraph
import networkit
import networkx as nx
import numpy as np
from scipy import sparse
from sknetwork.ranking import PageRank

import nx_fastonl as fo
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.push.local import local_push
from nx_fastonl.push.system import LinearSystem
from nx_fastonl.push.whole import solve_everywhere
from tests.benchmarks import numba_fifo
from tests.benchmarks.measure import (
    DIRECTED,
    GRAPHS,
    Table,
    best_times,
    keep_freed_memory,
    load,
    load_directed,
    parser,
    to_networkx,
)

DAMPING = 0.85
ALPHA = 1 - DAMPING
SOURCES = 20


def error(exact: np.ndarray, found: np.ndarray) -> float:
    return float(np.abs(exact - found).sum())


def to_networkit(graph: CSRGraph) -> networkit.Graph:
    rows = np.repeat(np.arange(len(graph)), np.diff(graph.indptr))
    once = rows <= graph.indices
    ends = (rows[once].astype(np.uint64), graph.indices[once].astype(np.uint64))
    return networkit.GraphFromCoo(ends, n=len(graph), directed=False)


def to_igraph(graph: CSRGraph) -> igraph.Graph:
    rows = np.repeat(np.arange(len(graph)), np.diff(graph.indptr))
    once = (rows <= graph.indices) | graph.is_directed()
    edges = np.column_stack([rows[once], graph.indices[once]])
    return igraph.Graph(n=len(graph), edges=edges, directed=graph.is_directed())


def local_functions(graph: CSRGraph, peer: networkit.Graph, epsilon: float) -> dict[str, Callable[[int], object]]:
    """From a source to its vector. networkit walks lazily, so its alpha is 0.15 / 1.85."""
    system = LinearSystem(graph, shift=0.0, slope=1 / DAMPING)
    lazy = ALPHA / (2 - ALPHA)
    return {
        "dict out": lambda s: fo.personalized_pagerank_local(graph, DAMPING, s, epsilon=epsilon),
        "fifo_push": lambda s: fo.fifo_push(graph, s, ALPHA, epsilon),
        "push": lambda s: local_push(system, [s], [1.0], epsilon),
        "numba": lambda s: numba_fifo.fifo_push(graph.indptr, graph.indices, s, ALPHA, epsilon),
        "networkit": lambda s: networkit.scd.ApproximatePageRank(peer, lazy, epsilon).run(s),
    }


def local(graphs: dict[str, CSRGraph], sources: dict[str, list[int]]) -> Table:
    """Loose: the same epsilon for all, the mean of some sources."""
    table = Table(
        "pagerank-local",
        *("graph", "epsilon", "dict out, ms", "fifo_push, ms", "push, ms", "numba FIFO, ms", "networkit, ms"),
        *("numba / dict out", "networkit / dict out", "numba / push", "networkit / push"),
        peers=("networkit", "numba"),
    )
    for name, graph in graphs.items():
        peer = to_networkit(graph)
        numba_fifo.fifo_push(graph.indptr, graph.indices, 0, ALPHA, 0.1)  # compiles
        few = sources[name][:SOURCES]
        for epsilon, repeat in ((1e-4, 15), (1e-6, 7)):
            functions = local_functions(graph, peer, epsilon)
            over_sources = {
                key: lambda function=function, few=few: [function(source) for source in few]
                for key, function in functions.items()
            }
            times = {key: total / SOURCES for key, total in best_times(over_sources, repeat).items()}
            ratios = [times[key] / times[ours] for ours in ("dict out", "push") for key in ("numba", "networkit")]
            table.add(name, epsilon, *(seconds * 1e3 for seconds in times.values()), *ratios)
    return table


def certified(graphs: dict[str, CSRGraph], sources: dict[str, list[int]]) -> Table:
    """Tight: an L1 error of 1e-6, each peer set so that it gets there; igraph is always exact."""
    table = Table(
        "pagerank-certified",
        *("graph", "nx_fastonl, ms", "igraph, ms", "scikit-network, ms", "NetworkX, ms"),
        *("igraph / nx_fastonl", "scikit-network / nx_fastonl", "NetworkX / nx_fastonl"),
        *("scikit-network, iterations", "nx_fastonl, L1 error", "scikit-network, L1 error", "NetworkX, L1 error"),
        peers=("igraph", "scikit-network"),
    )
    for name, graph in graphs.items():
        functions, iterations = certified_functions(graph, sources[name][0])
        found = {key: as_array(function(), len(graph)) for key, function in functions.items()}
        errors = [error(found["igraph"], found[key]) for key in ("ours", "scikit-network", "networkx")]
        networkx = functions.pop("networkx")
        times = best_times(functions, 9) | best_times({"networkx": networkx}, 2)
        ratios = [seconds / times["ours"] for key, seconds in times.items() if key != "ours"]
        table.add(name, *(seconds * 1e3 for seconds in times.values()), *ratios, iterations, *errors)
    return table


def certified_functions(graph: CSRGraph, source: int) -> tuple[dict[str, Callable[[], object]], int]:
    """What to time, and how many iterations scikit-network needs."""
    peer = to_igraph(graph)
    matrix = sparse.csr_matrix(graph.to_scipy())
    G = to_networkx(graph)

    def piteration(iterations):
        return PageRank(DAMPING, solver="piteration", n_iter=iterations, tol=0).fit_predict(matrix, {source: 1})

    exact = np.array(peer.personalized_pagerank(damping=DAMPING, reset_vertices=[source]))
    iterations = 40
    while error(exact, piteration(iterations)) > 1e-6:
        iterations += 2
    return {
        "ours": partial(fo.personalized_pagerank_local, graph, DAMPING, source, tol=1e-6),
        "igraph": partial(peer.personalized_pagerank, damping=DAMPING, reset_vertices=[source]),
        "scikit-network": partial(piteration, iterations),
        "networkx": partial(nx.pagerank, G, DAMPING, {source: 1}, max_iter=1000, tol=1.5e-7 / len(graph)),
    }, iterations


def as_array(found: np.ndarray | list[float] | dict[int, float], n: int) -> np.ndarray:
    return np.array([found.get(u, 0.0) for u in range(n)] if isinstance(found, dict) else found)


def conversion(graphs: dict[str, CSRGraph], sources: dict[str, list[int]]) -> Table:
    """From nx.Graph to arrays; and a call with a single push on a graph that has been converted."""
    table = Table(
        "conversion",
        *("graph", "CSRGraph, ms", "nx.to_scipy_sparse_array, ms", "NetworkX / CSRGraph", "second call, us"),
    )
    calls = 200
    for name, graph in graphs.items():
        G = to_networkx(graph)

        def convert(G=G):
            G.__networkx_cache__.clear()
            return CSRGraph.from_networkx(G)

        times = best_times({"ours": convert, "networkx": partial(nx.to_scipy_sparse_array, G)}, 3)
        push = partial(fo.fifo_push, G, sources[name][0], epsilon=0.9)
        push()
        second = best_times({"call": lambda push=push: [push() for _ in range(calls)]}, 5)["call"] / calls
        ratio = times["networkx"] / times["ours"]
        table.add(name, times["ours"] * 1e3, times["networkx"] * 1e3, ratio, second * 1e6)
    return table


def everywhere(graphs: dict[str, CSRGraph], sources: dict[str, list[int]]) -> Table:
    """A reset over all nodes: arrays in and out on one thread and on two, a dict in and out, and igraph; wall time."""
    del sources
    return resets("pagerank-everywhere", graphs)


def directed(graphs: dict[str, CSRGraph], sources: dict[str, list[int]]) -> Table:
    """The same on graphs with arrows."""
    del graphs, sources
    return resets("pagerank-directed", {name: load_directed(name) for name in DIRECTED})


def resets(title: str, graphs: dict[str, CSRGraph]) -> Table:
    table = Table(
        title,
        *(
            "graph",
            "L1 error",
            "1 thread, ms",
            "2 threads, ms",
            "dict in and out, ms",
            "igraph, ms",
            "igraph, L1 error",
        ),
        *("igraph / 1 thread", "igraph / 2 threads", "igraph / dict", "1 thread / 2 threads"),
        peers=("igraph",),
    )
    for name, graph in graphs.items():
        reset = np.random.default_rng(0).random(len(graph))
        weights = dict(enumerate(reset.tolist()))
        peer = partial(to_igraph(graph).personalized_pagerank, damping=DAMPING, reset=reset.tolist())
        vector = partial(fo.personalized_pagerank_local, graph, DAMPING, reset, as_array=True)
        peer_error = error(vector(tol=1e-13), np.array(peer()))
        for tol in (1e-6, 1e-12):
            functions = {
                "one": partial(vector, tol=tol),
                "two": partial(vector, tol=tol, n_jobs=2),
                "dict": partial(fo.personalized_pagerank_local, graph, DAMPING, weights, tol=tol),
                "igraph": peer,
            }
            times = best_times(functions, 7, clock=time.perf_counter)
            ratios = [times["igraph"] / times[key] for key in ("one", "two", "dict")]
            milliseconds = (seconds * 1e3 for seconds in times.values())
            table.add(name, tol, *milliseconds, peer_error, *ratios, times["one"] / times["two"])
    return table


def top_ten(graphs: dict[str, CSRGraph], sources: dict[str, list[int]]) -> Table:
    """The proven top ten of 200 sources beside that of the default epsilon; CPU time of one call each.

    Every claim is checked against a vector with an L1 error of 1e-14.
    """
    table = Table(
        "pagerank-top-ten",
        *("graph", "proven", "proven up to ties", "wrong claims", "median, ms", "90 %, ms"),
        *("epsilon=1e-6: proven", "right", "median, ms", "90 %, ms"),
    )
    for name, graph in graphs.items():
        system = LinearSystem(graph, shift=0.0, slope=1 / DAMPING)
        query = partial(fo.personalized_pagerank_local, graph, DAMPING, top_k=10, full_output=True)
        query(sources[name][0])  # reserves memory
        times: dict[str, list[float]] = {"proof": [], "default": []}
        strict = decided = wrong = proven_by_default = right_by_default = 0
        for source in sources[name]:
            answers = {}
            for key, options in (("proof", {}), ("default", {"epsilon": 1e-6})):
                start = time.thread_time()
                answers[key] = query(source, **options)
                times[key].append(1e3 * (time.thread_time() - start))
            exact = exact_vector(system, source)
            top, info = answers["proof"]
            decided += info.top_k_proven
            strict += info.top_k_proven and not info.tied
            wrong += info.top_k_proven and not is_order(exact, list(top), info.tied)
            top, info = answers["default"]
            proven_by_default += info.top_k_proven
            right_by_default += is_order(exact, list(top), answers["proof"][1].tied)
        fractions = [count / len(sources[name]) for count in (strict, decided, proven_by_default, right_by_default)]
        proof, default = (np.quantile(times[key], [0.5, 0.9]).tolist() for key in ("proof", "default"))
        table.add(name, *fractions[:2], wrong, *proof, *fractions[2:], *default)
    return table


def exact_vector(system: LinearSystem, source: int) -> np.ndarray:
    seed = np.zeros(len(system.graph))
    seed[source] = 1.0
    everywhere = np.arange(len(seed))
    return ALPHA * system.pivots(everywhere) * solve_everywhere(system, seed, 1e-14).estimate


def is_order(exact: np.ndarray, top: list[int], tied: tuple[tuple[int, ...], ...]) -> bool:
    """Whether these nodes have the largest values, in this order, where nodes in one group count as equal."""
    rank = exact.copy()
    for group in tied:
        if np.ptp(rank[list(group)]) > 1e-14:
            return False
        rank[list(group)] = rank[group[0]]
    others = np.delete(rank, [*top, *(node for group in tied for node in group)])
    return bool((np.diff(rank[top]) <= 0.0).all() and others.max(initial=0.0) < rank[top].min())


def main() -> None:
    options = parser(__doc__)
    options.add_argument("graphs", nargs="*", metavar="graph")
    arguments = options.parse_args()
    if arguments.record and arguments.graphs:
        options.error("--record is for all graphs")
    keep_freed_memory()
    networkit.setNumberOfThreads(1)
    graphs = {name: load(name) for name in arguments.graphs or GRAPHS}
    for name, graph in graphs.items():
        print(f"{name}: {graph.number_of_nodes():,} nodes, {graph.number_of_edges():,} edges")
    sources = {
        name: np.random.default_rng(0).choice(len(graph), 200, replace=False).tolist() for name, graph in graphs.items()
    }
    for benchmark in (local, certified, top_ten, everywhere, directed, conversion):
        table = benchmark(graphs, sources)
        if arguments.record:
            table.record()


if __name__ == "__main__":
    main()
