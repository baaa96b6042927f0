"""NetworkX's own functions, with and without ``backend="fastonl"``, in one process.

    python -m tests.benchmarks.bench_backend

Prints CPU milliseconds (the best of several runs) and ratios: NetworkX / this package, for the first call, which
converts the graph, and for later ones. Needs the graphs of ../shared/data.
"""

from __future__ import annotations

from functools import partial

import networkx as nx
import numpy as np
from networkx.algorithms.node_classification import harmonic_function, local_and_global_consistency

from tests.benchmarks.measure import best_times, load, load_labels, to_networkx

SEED = {5: 1}
LABELLED_PART = 0.1
TINY = (5, 10, 20, 50, 100)


def compare(title: str, function: partial, G: nx.Graph, repeat_networkx: int = 2, repeat: int = 5) -> None:
    def first():
        G.__networkx_cache__.clear()
        return function(backend="fastonl")

    times = best_times({"networkx": partial(function, backend="networkx")}, repeat_networkx)
    times |= best_times({"first": first}, repeat)
    times |= best_times({"later": partial(function, backend="fastonl")}, repeat)
    first_ratio, later_ratio = (times["networkx"] / times[call] for call in ("first", "later"))
    milliseconds = [f"{times[call] * 1e3:11.2f}" for call in ("networkx", "first", "later")]
    print(f"  {title:<34}{''.join(milliseconds)} ms {first_ratio:9.1f}x {later_ratio:9.1f}x")


def l1_errors(G: nx.Graph, **parameters) -> None:
    exact = nx.pagerank(G, **parameters, l1_error=1e-13, backend="fastonl")
    for backend in ("networkx", "fastonl"):
        found = nx.pagerank(G, **parameters, backend=backend)
        print(f"    L1 error, {backend:<10}{sum(abs(found[node] - exact[node]) for node in G):.1e}")


def pageranks(name: str) -> None:
    G = to_networkx(load(name))
    print(f"{name}: {G.number_of_nodes():,} nodes, {G.number_of_edges():,} edges")
    compare("pagerank, personalised", partial(nx.pagerank, G, personalization=SEED), G)
    l1_errors(G, personalization=SEED)
    compare("pagerank, global", partial(nx.pagerank, G), G)
    l1_errors(G)


def others(name: str) -> None:
    G = to_networkx(load(name))
    labels = load_labels(name).tolist()
    print(f"{name}: {G.number_of_nodes():,} nodes, {G.number_of_edges():,} edges, a tenth of the labels known")
    known = np.random.default_rng(0).choice(len(G), int(LABELLED_PART * len(G)), replace=False)
    nx.set_node_attributes(G, {node: labels[node] for node in known.tolist()}, "label")
    for function in (local_and_global_consistency, harmonic_function):
        same = function(G, backend="fastonl") == function(G, backend="networkx")
        compare(f"{function.__name__}{'' if same else ' DIFFERS'}", partial(function, G), G)
    compare("katz_centrality, alpha 0.005", partial(nx.katz_centrality, G, 0.005), G)


def tiny() -> None:
    for n in TINY:
        G = nx.gnm_random_graph(n, min(4 * n, n * (n - 1) // 2), seed=1)
        nx.set_node_attributes(G, {node: node % 3 for node in range(0, n, 2)}, "label")
        print(f"random graph: {n} nodes")
        for function, parameters in (
            (nx.pagerank, {}),
            (nx.google_matrix, {}),
            (nx.katz_centrality, {"alpha": 0.02}),
            (local_and_global_consistency, {}),
            (harmonic_function, {}),
        ):
            compare(function.__name__, partial(function, G, **parameters), G, 50, 50)


def main() -> None:
    nx.config.warnings_to_ignore.add("cache")
    print(f"{'':<36}{'networkx':>11}{'first':>11}{'later':>11}    {'first':>10} {'later':>9}")
    pageranks("ogbn-arxiv")
    others("pubmed")
    tiny()


if __name__ == "__main__":
    main()
