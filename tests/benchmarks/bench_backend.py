"""NetworkX's own functions, with and without ``backend="fastonl"``, in one process.

    python -m tests.benchmarks.bench_backend [--record]

Prints CPU milliseconds (the best of several runs) and ratios: NetworkX / this package, for the first call, which
converts the graph, and for later ones; then how many nodes have equal values. Needs the graphs of ../shared/data.
"""

from __future__ import annotations

from functools import partial

import networkx as nx
import numpy as np
from networkx.algorithms.node_classification import harmonic_function, local_and_global_consistency

from tests.benchmarks.measure import Table, best_times, load, load_labels, parser, to_networkx
from tests.symmetric import symmetric_graphs

SEED = {5: 1}
LABELLED_FRACTION = 0.1
TINY = (5, 10, 20, 50, 100)


def compare(function: partial, repeat_networkx: int = 2, repeat: int = 5) -> list[float]:
    """Milliseconds of NetworkX, of a first and of later calls here, and the ratios of the first to the others."""
    G = function.args[0]

    def first():
        G.__networkx_cache__.clear()
        return function(backend="fastonl")

    times = best_times({"networkx": partial(function, backend="networkx")}, repeat_networkx)
    times |= best_times({"first": first}, repeat)
    times |= best_times({"later": partial(function, backend="fastonl")}, repeat)
    ratios = [times["networkx"] / times[call] for call in ("first", "later")]
    return [*(seconds * 1e3 for seconds in times.values()), *ratios]


def l1_errors(function: partial) -> list[float]:
    exact = function(l1_error=1e-13, backend="fastonl")
    found = [function(backend=backend) for backend in ("networkx", "fastonl")]
    return [sum(abs(vector[node] - exact[node]) for node in exact) for vector in found]


def pageranks(table: Table, name: str) -> None:
    G = to_networkx(load(name))
    for title, parameters in (("from one node", {"personalization": SEED}), ("global", {})):
        function = partial(nx.pagerank, G, **parameters)
        table.add(name, f"pagerank, {title}", *compare(function), *l1_errors(function), None)


def others(table: Table, name: str) -> None:
    G = to_networkx(load(name))
    labels = load_labels(name).tolist()
    known = np.random.default_rng(0).choice(len(G), int(LABELLED_FRACTION * len(G)), replace=False)
    nx.set_node_attributes(G, {node: labels[node] for node in known.tolist()}, "label")
    for function in (local_and_global_consistency, harmonic_function):
        found = [np.array(function(G, backend=backend)) for backend in ("networkx", "fastonl")]
        equal = float(np.mean(found[0] == found[1]))
        table.add(f"{name}, a tenth labelled", function.__name__, *compare(partial(function, G)), None, None, equal)
    table.add(name, "katz_centrality, alpha 0.005", *compare(partial(nx.katz_centrality, G, 0.005)), None, None, None)


def tiny(table: Table) -> None:
    for n in TINY:
        G = nx.gnm_random_graph(n, min(4 * n, n * (n - 1) // 2), seed=1)
        nx.set_node_attributes(G, {node: node % 3 for node in range(0, n, 2)}, "label")
        for function, parameters in (
            (nx.pagerank, {}),
            (nx.google_matrix, {}),
            (nx.katz_centrality, {"alpha": 0.02}),
            (local_and_global_consistency, {}),
            (harmonic_function, {}),
            (nx.resistance_distance, {"nodeA": 0, "nodeB": 1}),
            (nx.current_flow_closeness_centrality, {}),
            (nx.approximate_current_flow_betweenness_centrality, {"seed": 1}),
        ):
            table.add(n, function.__name__, *compare(partial(function, G, **parameters), 50, 50))


def ties(table: Table) -> None:
    """How many nodes have the value of another one."""
    for name, G in symmetric_graphs().items():
        loose, tight = (
            nx.pagerank(G, tol=tol, max_iter=10_000, backend="networkx") for tol in (1e-6, min(1e-12, 1e-10 / len(G)))
        )
        ours = nx.pagerank(G, backend="fastonl")
        table.add(name, len(G), *(len(G) - len(set(ranks.values())) for ranks in (loose, tight, ours)))


def main() -> None:
    arguments = parser(__doc__).parse_args()
    nx.config.warnings_to_ignore.add("cache")
    times = ("NetworkX, ms", "first call, ms", "later calls, ms", "NetworkX / first call", "NetworkX / later calls")
    large = Table("backend", "graph", "function", *times, "NetworkX, L1 error", "fastonl, L1 error", "equal labels")
    small = Table("backend-tiny", "nodes", "function", *times)
    equal = Table("backend-ties", "graph", "nodes", "NetworkX", "NetworkX, tol=1e-12", "fastonl")
    pageranks(large, "ogbn-arxiv")
    others(large, "pubmed")
    tiny(small)
    ties(equal)
    if arguments.record:
        large.record()
        small.record()
        equal.record()


if __name__ == "__main__":
    main()
