"""Many rows of personalised PageRank: against the peers, over threads, and in little memory.

    python -m tests.benchmarks.bench_rows [peers] [threads] [memory] [--record]

`peers` computes the 32 largest values around 2,000 random nodes of ogbn-arxiv at epsilon 1e-4, on one thread, and all
rows of the graph with this package. It prints CPU time per row, the best of several interleaved runs. Before that, it
compares some rows of each with exact ones, and stops if one is outside of its bounds. A peer that is not installed is
left out. torch and torch_geometric are not in the `bench` extra: with what torch needs for GPUs, it takes 6 GB. Its own
pages say how to install it without.

`threads` prints wall times of one thread and of two. `memory` writes a million rows to a temporary folder (some 100 MB,
removed afterwards), in a process of its own, and prints what that process has in RAM (RSS) after each 100,000. Linux
only.

All parts run unless some are named. Needs the graphs of ../shared/data and the peers: pip install -e ".[bench]".
"""

from __future__ import annotations

import os

# One thread for all libraries: read when they load.
ONE_THREAD = ("MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
os.environ.update(dict.fromkeys(ONE_THREAD, "1"))

import multiprocessing
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import nx_fastonl as fo
from nx_fastonl.graph.csr import CSRGraph
from tests.benchmarks.measure import GRAPHS, Table, best_times, keep_freed_memory, load, parser

GRAPH = "ogbn-arxiv"
DAMPING, EPSILON, TOP_K = 0.85, 1e-4, 32
ALPHA = 1 - DAMPING
SOURCES, CHECKED, REPEAT, REPEAT_ALL, REPEAT_THREADS = 2_000, 10, 5, 2, 25
# The power iteration's error is less than DAMPING to this power: 3e-15.
EXACT_STEPS = 205
# torch-geometric returns float32.
ROUNDING = 1e-7
WRITTEN_ROWS, ROWS_PER_SAMPLE = 1_000_000, 100_000
SECONDS_PER_SAMPLE = 0.05
MB = 1e6


@dataclass
class Peer:
    """`rows` maps sources and k to what its user gets, with all values if k is None; `to_csr` reads that."""

    name: str
    rows: Callable[[np.ndarray, int | None], Any]
    to_csr: Callable[[Any], sparse.csr_array]
    needs: tuple[str, ...] = ()


def ours(graph: CSRGraph) -> Iterator[Peer]:
    def rows(sources, k):
        return fo.ppr_matrix(graph, sources, DAMPING, EPSILON, k)

    yield Peer("nx_fastonl", rows, lambda found: found)


def torch_geometric(graph: CSRGraph) -> Iterator[Peer]:
    """Its residuals start at alpha and are compared with alpha * eps * neighbours: `eps` is our epsilon."""
    import torch
    from torch_geometric.utils import get_ppr

    torch.set_num_threads(1)
    edges = torch.from_numpy(np.stack([row_of_edges(graph), graph.indices]).astype(np.int64))

    def vectors(sources):
        target = torch.from_numpy(sources)
        (row, column), values = get_ppr(edges, ALPHA, EPSILON, target, num_nodes=len(graph))
        return row, column, values

    def rows(sources, k):
        row, column, values = vectors(sources)
        if k is None:
            return row, column, values
        order = torch.argsort(values, descending=True)
        order = order[torch.argsort(row[order], stable=True)]
        _, sizes = torch.unique_consecutive(row[order], return_counts=True)
        starts = torch.cumsum(sizes, 0) - sizes
        rank = torch.arange(len(order)) - torch.repeat_interleave(starts, sizes)
        kept = order[rank < k]
        return row[kept], column[kept], values[kept]

    def to_csr(found):
        row, column, values = (tensor.numpy() for tensor in found)
        sources, order = np.unique(row, return_inverse=True)
        return sparse.csr_array((values, (order, column)), shape=(len(sources), len(graph)))

    needs = ("torch", "torch_geometric", "numba")
    yield Peer("torch-geometric", rows, to_csr, needs)
    yield Peer("torch-geometric, all values", lambda sources, _: vectors(sources), to_csr, needs)


def networkit(graph: CSRGraph) -> Iterator[Peer]:
    """It walks lazily, so its alpha is 0.15 / 1.85. An object is for one source: a second run adds to the first."""
    import networkit as nk

    nk.setNumberOfThreads(1)
    starts = row_of_edges(graph)
    once = starts <= graph.indices
    ends = (starts[once].astype(np.uint64), graph.indices[once].astype(np.uint64))
    peer = nk.GraphFromCoo(ends, n=len(graph), directed=False)

    def row(source, k):
        found = nk.scd.ApproximatePageRank(peer, ALPHA / (2 - ALPHA), EPSILON).run(source)
        return sorted(found, key=itemgetter(1), reverse=True)[:k]

    def rows(sources, k):
        return [row(source, k) for source in sources.tolist()]

    def to_csr(found):
        indptr = np.cumsum([0, *map(len, found)])
        nodes, values = np.array([pair for pairs in found for pair in pairs]).T
        return sparse.csr_array((values, nodes.astype(np.int64), indptr), shape=(len(found), len(graph)))

    yield Peer("networkit", rows, to_csr, ("networkit",))


def numba(graph: CSRGraph) -> Iterator[Peer]:
    from tests.benchmarks import numba_rows

    def to_csr(found):
        nodes, values = found
        row = np.broadcast_to(np.arange(len(nodes))[:, None], nodes.shape)
        kept = nodes >= 0
        return sparse.csr_array((values[kept], (row[kept], nodes[kept])), shape=(len(nodes), len(graph)))

    def peer(name, function):
        def rows(sources, k):
            return function(graph.indptr, graph.indices, sources, ALPHA, EPSILON, len(graph) if k is None else k)

        return Peer(name, rows, to_csr, ("numba",))

    yield peer("numba, dicts", numba_rows.from_dicts)
    yield peer("numba, new arrays", numba_rows.from_new_arrays)
    yield peer("numba, kept arrays", numba_rows.from_kept_arrays)


def row_of_edges(graph: CSRGraph) -> np.ndarray:
    return np.repeat(np.arange(len(graph)), np.diff(graph.indptr))


def installed_peers(graph: CSRGraph) -> list[Peer]:
    found = [*ours(graph)]
    for make, packages in (
        (torch_geometric, "torch torch_geometric numba"),
        (networkit, "networkit"),
        (numba, "numba"),
    ):
        try:
            found += make(graph)
        except ImportError as error:
            print(f"without {make.__name__}, which needs: pip install {packages} ({error})")
    return found


def exact_rows(graph: CSRGraph, sources: np.ndarray) -> np.ndarray:
    """One column per source, by power iteration."""
    adjacency, degrees = graph.to_scipy(), np.diff(graph.indptr)[:, None]
    restart = np.zeros((len(graph), len(sources)))
    restart[sources, np.arange(len(sources))] = ALPHA
    exact = restart
    for _ in range(EXACT_STEPS):
        exact = restart + DAMPING * (adjacency @ (exact / degrees))
    return exact.T


def accuracy(peer: Peer, graph: CSRGraph, sources: np.ndarray, exact: np.ndarray) -> tuple[float, float]:
    """The mean L1 error of whole vectors, and the fraction of the largest values that was found.

    On an undirected graph, residuals of at most epsilon per neighbour leave an error of at most that in every value.
    """
    whole = peer.to_csr(peer.rows(sources, None)).toarray()
    errors = np.abs(exact - whole)
    if (errors > EPSILON * np.diff(graph.indptr) + ROUNDING).any():
        raise AssertionError(f"{peer.name}: errors of more than {EPSILON} per neighbour")
    cut = peer.to_csr(peer.rows(sources, TOP_K))
    found = 0
    for i, row in enumerate(whole):
        nodes = cut.indices[cut.indptr[i] : cut.indptr[i + 1]]
        nodes = nodes[row[nodes] != 0.0]  # networkit also lists nodes with a value of 0
        nodes = nodes[np.argsort(-row[nodes], kind="stable")][:TOP_K]
        largest = -np.sort(-row)[: min(TOP_K, np.count_nonzero(row))]
        if len(nodes) != len(largest) or not np.allclose(row[nodes], largest, rtol=0, atol=ROUNDING):
            raise AssertionError(f"{peer.name}: not the largest values around node {sources[i]}")
        # Nodes with the same value are equally right.
        found += int((exact[i, nodes] >= np.partition(exact[i], -TOP_K)[-TOP_K] - 1e-14).sum())
    return float(errors.sum(axis=1).mean()), found / (len(sources) * TOP_K)


def peers() -> Table:
    """Rows on one thread; CPU time of the process, since numba may run a parallel loop in another thread."""
    keep_freed_memory()
    graph = load(GRAPH)
    # In order, as torch-geometric's rows are once they are cut.
    sources = np.sort(np.random.default_rng(0).choice(len(graph), SOURCES, replace=False))
    checked = sources[:: SOURCES // CHECKED]
    compared = installed_peers(graph)
    table = Table(
        "rows-peers",
        *(
            "library",
            "sources",
            "us per row",
            "rows per second",
            "time / nx_fastonl",
            "L1 error",
            "of the exact top 32",
        ),
        peers=tuple(sorted({package for peer in compared for package in peer.needs})),
    )
    exact = exact_rows(graph, checked)
    accuracies = {peer.name: accuracy(peer, graph, checked, exact) for peer in compared}
    times = best_times({peer.name: partial(peer.rows, sources, TOP_K) for peer in compared}, REPEAT, time.process_time)
    everything = partial(compared[0].rows, np.arange(len(graph)), TOP_K)
    all_rows = best_times({"all": everything}, REPEAT_ALL, time.process_time)["all"]

    def add(name: str, n_rows: int, seconds: float) -> None:
        ratio = seconds / n_rows / (times["nx_fastonl"] / SOURCES)
        table.add(name, n_rows, 1e6 * seconds / n_rows, n_rows / seconds, ratio, *accuracies[name])

    for name, seconds in times.items():
        add(name, SOURCES, seconds)
    add("nx_fastonl", len(graph), all_rows)
    return table


def threads() -> Table:
    """`ppr_matrix` by one thread and by two, wall time."""
    table = Table(
        "pagerank-threads", "graph", "sources", "epsilon", "1 thread, ms", "2 threads, ms", "1 thread / 2 threads"
    )
    graphs = {name: load(name) for name in GRAPHS}
    tasks = [(GRAPH, np.arange(len(graphs[GRAPH])), EPSILON, REPEAT_ALL)]
    for name, graph in graphs.items():
        tasks.append((name, np.random.default_rng(0).choice(len(graph), SOURCES, replace=False), 1e-5, REPEAT_THREADS))
    for name, sources, epsilon, repeat in tasks:
        matrix = partial(fo.ppr_matrix, graphs[name], sources, epsilon=epsilon, top_k=TOP_K)
        by_threads = {n_jobs: partial(matrix, n_jobs=n_jobs) for n_jobs in (2, 1)}
        times = best_times(by_threads, repeat, clock=time.perf_counter)
        table.add(name, len(sources), epsilon, times[1] * 1e3, times[2] * 1e3, times[1] / times[2])
    return table


def memory() -> Table:
    """RSS while rows are written to a folder."""
    table = Table("rows-memory", "rows", "RSS, MB", "on disk, MB")
    # Not a fork: a new process has nothing of the peers in memory.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        for cells in process.submit(write_rows).result():
            table.add(*cells)
    return table


def write_rows() -> list[tuple[int, float, float]]:
    """Rows written, RSS and the size of the folder: before the first row, and then for each 100,000."""
    graph = load(GRAPH)
    sources = np.resize(np.arange(len(graph)), WRITTEN_ROWS)
    samples = [(0, resident())]
    over = threading.Event()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "rows"

        def sample():
            while not over.wait(SECONDS_PER_SAMPLE):
                samples.append((size_of(out), resident()))

        sampler = threading.Thread(target=sample)
        sampler.start()
        try:
            matrix = fo.ppr_matrix(graph, sources, epsilon=1e-3, top_k=8, out=out)
        finally:
            over.set()
            sampler.join()
        total = size_of(out)
        if matrix.shape != (WRITTEN_ROWS, len(graph)):
            raise AssertionError(f"{WRITTEN_ROWS:,} rows were to be written, the matrix has the shape {matrix.shape}")
        samples.append((total, resident()))
    # Rows are about equally long, so the bytes on disk tell how many there are.
    reached = []
    for rows in range(0, WRITTEN_ROWS + 1, ROWS_PER_SAMPLE):
        size, rss = next(pair for pair in samples if pair[0] * WRITTEN_ROWS >= rows * total)
        reached.append((rows, rss / MB, size / MB))
    return reached


def resident() -> int:
    """Bytes of this process that are in RAM."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def size_of(folder: Path) -> int:
    """Bytes of the files that are there now: a temporary one may go while this looks."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(parent) / name).stat().st_size
            except FileNotFoundError:
                continue
    return total


def main() -> None:
    parts = {"peers": peers, "threads": threads, "memory": memory}
    options = parser(__doc__)
    options.add_argument("parts", nargs="*", metavar="part", help=", ".join(parts))
    arguments = options.parse_args()
    if unknown := [part for part in arguments.parts if part not in parts]:
        options.error(f"no such part: {unknown[0]!r}; there are {', '.join(parts)}")
    for part in arguments.parts or parts:
        table = parts[part]()
        if arguments.record:
            table.record()


if __name__ == "__main__":
    main()
