"""Communities around single nodes: conductance and time, against networkit.

    python -m tests.benchmarks.bench_communities [--record]

For each of 200 random nodes that have an edge it looks for a community with `local_community` and with networkit's
`PageRankNibble`, at several epsilons. It prints the CPU time of a call, the mean and the median conductance, computed
anew from the sets, the median size, and the ratios to `local_community` with its defaults. Needs the graphs of
../shared/data and networkit: pip install -e ".[bench]".
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # read when networkit loads

import time
from collections.abc import Callable

import networkit as nk
import numpy as np

import nx_fastonl as fo
from nx_fastonl.graph.csr import CSRGraph
from tests.benchmarks.measure import Table, load, parser

GRAPHS = ("com-dblp", "ogbn-arxiv")
SEEDS, REPEAT = 200, 3
# Of the lazy walk: damping (1 - NIBBLE_ALPHA) / (1 + NIBBLE_ALPHA).
NIBBLE_ALPHA = 0.1

Find = Callable[[int], "list[int] | set[int]"]


def methods(graph: CSRGraph) -> dict[str, Find]:
    """Functions from a seed to the nodes of a community. The first is what the others are compared with."""
    rows = np.repeat(np.arange(len(graph)), np.diff(graph.indptr))
    once = rows < graph.indices
    theirs = nk.GraphFromCoo((rows[once], graph.indices[once].astype(np.int64)), n=len(graph))

    def ours_at(epsilon: float | None) -> Find:
        return lambda seed: fo.local_community(graph, seed, epsilon=epsilon).nodes

    def networkit_at(epsilon: float) -> Find:
        nibble = nk.scd.PageRankNibble(theirs, NIBBLE_ALPHA, epsilon)
        return nibble.expandOneCommunity

    found = {"nx_fastonl": ours_at(None), "nx_fastonl, epsilon 1e-6": ours_at(1e-6)}
    return found | {f"networkit, epsilon {epsilon:.0e}": networkit_at(epsilon) for epsilon in (1e-4, 1e-5, 1e-6)}


def conductance(graph: CSRGraph, nodes: list[int] | set[int]) -> float:
    members = np.array(sorted(nodes))
    slots, _ = graph.row_slots(members)
    cut = np.isin(graph.indices[slots], members, invert=True).sum()
    volume, total = graph.degrees[members].sum(), graph.degrees.sum()
    return float(cut / min(volume, total - volume)) if 0 < volume < total else 1.0


def main() -> None:
    options = parser(__doc__).parse_args()
    headers = ("graph", "method", "ms", "mean conductance", "median", "median size", "time", "conductance")
    table = Table("communities", *headers, peers=("networkit",))
    for name in GRAPHS:
        graph = load(name)
        seeds = np.random.default_rng(0).choice(np.flatnonzero(graph.degrees), SEEDS, replace=False).tolist()
        finders = methods(graph)
        seconds = dict.fromkeys(finders, float("inf"))
        found: dict[str, list[list[int] | set[int]]] = {}
        for method, find in finders.items():
            find(seeds[0])
            found[method] = []
        for _ in range(REPEAT):
            for method, find in finders.items():
                start = time.process_time()
                found[method] = [find(seed) for seed in seeds]
                seconds[method] = min(seconds[method], time.process_time() - start)
        reference: tuple[float, float] | None = None
        for method, sets in found.items():
            each, values = seconds[method] / SEEDS, [conductance(graph, nodes) for nodes in sets]
            mean = float(np.mean(values))
            reference = reference or (each, mean)
            size = int(np.median([len(nodes) for nodes in sets]))
            ratios = (each / reference[0], mean / reference[1])
            table.add(name, method, 1e3 * each, mean, float(np.median(values)), size, *ratios)
    if options.record:
        table.record()


if __name__ == "__main__":
    main()
