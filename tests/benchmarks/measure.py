"""Timing that a busy machine disturbs little, the graphs to time on, and the tables that the figures go into."""

from __future__ import annotations

import argparse
import csv
import ctypes
import datetime
import json
import os
import platform
import re
import sys
import time
from importlib.metadata import version
from pathlib import Path

import networkx as nx
import numpy as np

from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.push import _push

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
RECORDS = Path(__file__).resolve().parents[2] / "docs" / "benchmarks"
# The smallest width of a printed column.
WIDTH = 11
GRAPHS = ("com-dblp", "ogbn-arxiv", "cnr-2000")
SMALL_DIRECTED = ("chameleon", "cora-ml", "crocodile", "fly-larva", "roman-empire", "telegram", "texas", "wiki")
DIRECTED = ("ogbn-arxiv", "web", *SMALL_DIRECTED)


def load(name: str) -> CSRGraph:
    with np.load(DATA / f"{name}.npz") as arrays:
        return CSRGraph(arrays["indptr"], arrays["indices"], arrays.get("weights"))


def load_directed(name: str) -> CSRGraph:
    """A graph with arrows: ogbn-arxiv as published, one of the folder `directed`, or "web", which is generated."""
    if name == "web":
        return web_graph()
    path = DATA / ("upstream/ogbn-arxiv-adj_full.npz" if name == "ogbn-arxiv" else f"directed/{name}.npz")
    with np.load(path) as arrays:
        return CSRGraph(arrays["indptr"], arrays["indices"], directed=True)


def web_graph(n: int = 600_000, seed: int = 0) -> CSRGraph:
    """Sites are near each other and link among themselves; one link in three goes to a page that is popular."""
    random = np.random.default_rng(seed)
    sources = np.repeat(np.arange(n), 1 + random.zipf(1.9, n) % 200)
    near = np.maximum(0, sources - (10 * random.pareto(1.2, len(sources))).astype(np.int64) % 2000)
    popular = (n * random.random(len(sources)) ** 4).astype(np.int64)
    links = np.unique(np.stack([sources, np.where(random.random(len(sources)) < 0.7, near, popular)]), axis=1)
    return CSRGraph.from_edges(*links[:, links[0] != links[1]], n=n, directed=True)


def load_labels(name: str) -> np.ndarray:
    """Numbers, -1 for nodes without a label. A blogger has its last group, as in `datasets.fetch_blogcatalog`."""
    with np.load(DATA / f"{name}.npz") as arrays:
        if name == "blogcatalog":
            return arrays["group_indices"][arrays["group_indptr"][1:] - 1]
        return arrays["labels"]


def to_networkx(graph: CSRGraph) -> nx.Graph:
    rows = np.repeat(np.arange(len(graph)), np.diff(graph.indptr))
    once = rows <= graph.indices
    G = nx.Graph()
    G.add_nodes_from(range(len(graph)))
    G.add_edges_from(zip(rows[once].tolist(), graph.indices[once].tolist(), strict=True))
    return G


def best_times(functions: dict[str, object], repeat: int, clock=time.thread_time) -> dict[str, float]:
    """The fewest seconds of CPU of each function. Their runs are interleaved, so that they share the noise.

    The clock is that of this thread: idle BLAS threads of one peer, still spinning, must not count against the next.
    """
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(repeat):
        for name, function in functions.items():
            start = clock()
            function()
            best[name] = min(best[name], clock() - start)
    return best


def keep_freed_memory() -> None:
    """Tell glibc to give no memory back to the system.

    A peer that allocates arrays of the graph's length at each call otherwise pays for page faults or does not, six
    times as much at a loose epsilon, depending on what the process freed before.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt:
        trim_threshold, mmap_threshold = -1, -3  # their numbers in malloc.h
        mallopt(trim_threshold, 2**30)
        mallopt(mmap_threshold, 2**25)


def parser(description: str) -> argparse.ArgumentParser:
    """The options that all benchmarks have."""
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--record", action="store_true", help="write the tables to docs/benchmarks as well")
    return options


class Table:
    """One table of figures. A line is printed as soon as it is there, and `record` writes all of them."""

    _printed_last: Table | None = None  # headers are printed again after rows of another table

    def __init__(self, name: str, *headers: str, peers: tuple[str, ...] = ()):
        self.name, self.headers, self.peers = name, headers, peers
        self.rows: list[list[str]] = []

    def add(self, *cells: str | float | None) -> None:
        row = [_text(cell) for cell in cells]
        if Table._printed_last is not self:
            print(f"\n{self.name}\n" + "  ".join(header.rjust(WIDTH) for header in self.headers))
        print("  ".join(cell.rjust(max(WIDTH, len(header))) for cell, header in zip(row, self.headers, strict=True)))
        sys.stdout.flush()
        Table._printed_last = self
        self.rows.append(row)

    def record(self) -> None:
        """Write the rows to docs/benchmarks, and to runs.json there how they were made."""
        RECORDS.mkdir(exist_ok=True)
        with (RECORDS / f"{self.name}.csv").open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([self.headers, *self.rows])
        path = RECORDS / "runs.json"
        runs = json.loads(path.read_text()) if path.exists() else {}
        runs[self.name] = {
            "command": " ".join(["python -m", f"tests.benchmarks.{Path(sys.argv[0]).stem}", *sys.argv[1:]]),
            "date": datetime.date.today().isoformat(),
            "machine": _machine(),
            "versions": {"nx_fastonl": version("nx-fastonl")}
            | {peer: version(peer) for peer in ("networkx", "numpy", "scipy", *self.peers)},
        }
        temporary = path.with_suffix(".tmp")
        temporary.write_text(json.dumps(runs, indent=2, sort_keys=True) + "\n")
        temporary.replace(path)


def _text(cell: str | float | None) -> str:
    """Numbers with four significant digits, without an exponent unless they are tiny; None is an empty cell."""
    if cell is None:
        return ""
    if not isinstance(cell, float):
        return str(cell)
    if 0 < cell <= 1e-4:
        return np.format_float_scientific(cell, precision=3, trim="-", exp_digits=1)
    return f"{cell:#.4g}" if cell < 999.95 else f"{float(f'{cell:.4g}'):.0f}"


def _machine() -> dict[str, str | int | None]:
    cpus = Path("/proc/cpuinfo")
    model = re.search(r"model name\s*: (.*)", cpus.read_text()) if cpus.exists() else None
    # gcc leaves its name in what it compiles; Python's own compiler may be another.
    compiler = re.search(rb"GCC: \(.*?\) ([\d.]+)", Path(_push.__file__).read_bytes())
    return {
        "cpu": model[1].strip() if model else platform.processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "compiler": f"gcc {compiler[1].decode()}" if compiler else platform.python_compiler(),
    }
