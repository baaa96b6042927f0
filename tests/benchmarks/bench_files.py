"""Edges from a file: this package, pandas and `from_edges`, networkit, NetworkX.

    python -m tests.benchmarks.bench_files [speed] [--record]
    python -m tests.benchmarks.bench_files memory [--edges N] [--record]

`speed` writes com-dblp as text (1.05 million edges) and prints CPU milliseconds, the best of several runs, and ratios
to this package. networkit's time is that of all its threads. Needs the graphs of ../shared/data.

`memory` writes a file of 100 million edges to a temporary folder (1.6 GB, removed afterwards), reads it in a new
process and prints the peak of its memory over that of the graph's arrays. It takes some minutes, and 3 GB.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd

import nx_fastonl as fo
from tests.benchmarks.measure import Table, best_times, load, parser

REPEAT = 5
# Nodes of the large file: names of seven digits, so that all lines are equally long.
FIRST, LAST = 1_000_000, 10_000_000
EDGES_AT_ONCE = 1_000_000
# What the new process runs: it prints its peak in KiB, seconds, and the bytes of the graph's arrays.
READ = """
import json, resource, sys, time
import nx_fastonl as fo
start = time.perf_counter()
graph = fo.CSRGraph.from_edge_file(sys.argv[1])
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
size = sum(array.nbytes for array in (graph.indptr, graph.indices, graph.weights) if array is not None)
print(json.dumps([graph.number_of_nodes(), graph.number_of_edges(), peak * 1024, size, seconds]))
"""


def pandas_edges(path: Path) -> fo.CSRGraph:
    table = pd.read_csv(path, sep="\t", header=None)
    return fo.CSRGraph.from_edges(*(table[column] for column in table))


def text_lines(graph: fo.CSRGraph, prefix: str = "", weights: bool = False) -> bytes:
    rows = np.repeat(np.arange(len(graph)), np.diff(graph.indptr))
    once = rows <= graph.indices
    pairs = zip(rows[once].tolist(), graph.indices[once].tolist(), strict=True)
    if weights:
        return b"".join(b"%d\t%d\t%.3f\n" % (u, v, 1 + (u + v) % 997 / 1000) for u, v in pairs)
    return "".join(f"{prefix}{u}\t{prefix}{v}\n" for u, v in pairs).encode()


def speed(table: Table) -> None:
    import networkit as nk

    graph = load("com-dblp")
    contents = {
        "integers": text_lines(graph),
        "integers, weights": text_lines(graph, weights=True),
        "texts": text_lines(graph, prefix="author-"),
    }
    contents["integers, gz"] = gzip.compress(contents["integers"])
    with tempfile.TemporaryDirectory() as folder:
        for name, content in contents.items():
            path = Path(folder) / ("edges.txt.gz" if name.endswith("gz") else "edges.txt")
            path.write_bytes(content)
            readers = {
                "nx_fastonl": partial(fo.CSRGraph.from_edge_file, path, header=False),
                "pandas": partial(pandas_edges, path),
            }
            times = best_times(readers, REPEAT, time.process_time)
            if name == "integers":
                reader = nk.graphio.EdgeListReader("\t", 0)
                times |= best_times({"networkit": partial(reader.read, str(path))}, REPEAT, time.process_time)
            if name != "integers, gz":
                read = nx.read_weighted_edgelist if name == "integers, weights" else nx.read_edgelist
                kind = str if name == "texts" else int
                times |= best_times({"networkx": partial(read, path, nodetype=kind)}, 1, time.process_time)
            ours = times["nx_fastonl"]
            ratios = [times[peer] / ours if peer in times else None for peer in ("pandas", "networkit", "networkx")]
            table.add(name, len(content) / 1e6, 1e3 * ours, len(content) / 1e6 / ours, *ratios)


def write_large(path: Path, n_edges: int) -> None:
    """Edges that all differ, in random order: node u and the nodes that follow it at distances 1, 2, 3, ..."""
    rng = np.random.default_rng(0)
    n, written = LAST - FIRST, 0
    with path.open("wb") as file:
        for distance in range(1, n // 2):
            sources = rng.permutation(n)[: n_edges - written]
            targets = (sources + distance) % n
            for start in range(0, len(sources), EDGES_AT_ONCE):
                ends = FIRST + np.stack([sources, targets], axis=1)[start : start + EDGES_AT_ONCE]
                text = np.full((len(ends), 2, 8), ord("\t"), dtype=np.uint8)
                text[:, 1, 7] = ord("\n")
                for digit in range(6, -1, -1):
                    text[:, :, digit] = ord("0") + ends % 10
                    ends //= 10
                file.write(text.tobytes())
            written += len(sources)
            if written == n_edges:
                return


def memory(table: Table, n_edges: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.txt"
        write_large(path, n_edges)
        found = subprocess.run(
            [sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True
        ).stdout
        nodes, edges, peak, size, seconds = json.loads(found)
        table.add(nodes, edges, path.stat().st_size / 1e6, size / 1e6, peak / 1e6, peak / size, seconds)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("what", nargs="?", default="speed", choices=["speed", "memory"])
    options.add_argument("--edges", type=int, default=100_000_000)
    arguments = options.parse_args()
    if arguments.what == "speed":
        headers = ("file", "MB", "ms", "MB/s", "pandas / ours", "networkit / ours", "networkx / ours")
        table = Table("edge-files", *headers, peers=("pandas", "networkit"))
        speed(table)
    else:
        table = Table(
            "edge-files-memory", "nodes", "edges", "file MB", "graph MB", "peak MB", "peak / graph", "seconds"
        )
        memory(table, arguments.edges)
    if arguments.record:
        table.record()


if __name__ == "__main__":
    main()
