"""NetworkX's functions of electrical networks, with and without ``backend="fastonl"``; resistances on a large graph.

    python -m tests.benchmarks.bench_laplacian [--record]

Each figure comes from a process of its own with one BLAS thread, which prints its CPU seconds, the best of three runs
where one is short, and its peak of memory beyond the graph. NetworkX runs everything on graphs of about 1,000 nodes,
and two functions on 10,000 nodes, which takes it a quarter of an hour. Needs ogbn-arxiv from ../shared/data.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import networkx as nx
import numpy as np

import nx_fastonl as fo
from nx_fastonl.push.laplacian import COLUMNS
from tests.benchmarks.measure import Table, load, parser

# Five edges a node, as in many networks of people; grids are hard for conjugate gradients.
GRAPHS = {
    "1,000 nodes": lambda: nx.barabasi_albert_graph(1_000, 5, seed=1),
    "grid, 1,024 nodes": lambda: nx.convert_node_labels_to_integers(nx.grid_2d_graph(32, 32)),
    "10,000 nodes": lambda: nx.barabasi_albert_graph(10_000, 5, seed=1),
    "100,000 nodes": lambda: nx.barabasi_albert_graph(100_000, 5, seed=1),
}
CALLS = {
    "resistance_distance, two nodes": lambda G, **to: nx.resistance_distance(G, 3, len(G) - 1, **to),
    "resistance_distance, one node": lambda G, **to: nx.resistance_distance(G, 3, **to),
    "resistance_distance, all": lambda G, **to: nx.resistance_distance(G, **to),
    "current_flow_closeness_centrality": lambda G, **to: nx.current_flow_closeness_centrality(G, **to),
    "approximate_current_flow_betweenness_centrality": lambda G, **to: (
        nx.approximate_current_flow_betweenness_centrality(G, solver="lu", seed=1, **to)
    ),
}
NETWORKX = {
    "1,000 nodes": tuple(CALLS),
    "grid, 1,024 nodes": tuple(CALLS),
    "10,000 nodes": ("resistance_distance, two nodes", "current_flow_closeness_centrality"),
}
OURS = {
    "1,000 nodes": tuple(CALLS),
    "grid, 1,024 nodes": tuple(CALLS),
    "10,000 nodes": tuple(name for name in CALLS if "all" not in name),
    "100,000 nodes": ("resistance_distance, two nodes", "approximate_current_flow_betweenness_centrality"),
}
# What takes more seconds is called once.
LONG = 5.0
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
PAIRS = {"one pair": 1, "eight pairs": COLUMNS}


def peak() -> float:
    """The largest memory of this process so far, in MB; ``ru_maxrss`` would begin with that of its parent."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


def measure(path: str, call: str, backend: str) -> None:
    """In a process of its own: seconds of a first and a later call, memory, and the answer in a file."""
    nx.config.warnings_to_ignore.add("cache")
    folder = Path(path)
    G = pickle.loads((folder / "graph").read_bytes())
    CALLS[call](nx.barabasi_albert_graph(260, 3, seed=1), backend=backend)  # imports
    before = peak()
    first, answer = _seconds(call, G, backend)
    memory, later = peak() - before, []
    for _ in range(2 if first < LONG else 0):
        later.append(_seconds(call, G, backend)[0])
        G.__networkx_cache__.clear()
        first = min(first, _seconds(call, G, backend)[0])
    (folder / backend).write_bytes(pickle.dumps(answer))
    print(json.dumps({"first": first, "later": min(later, default=None), "memory": memory}))


def _seconds(call: str, G: nx.Graph, backend: str) -> tuple[float, object]:
    start = time.process_time()
    answer = CALLS[call](G, backend=backend)
    return time.process_time() - start, answer


def in_a_process(folder: Path, call: str, backend: str) -> dict:
    command = [sys.executable, "-m", "tests.benchmarks.bench_laplacian", "--measure", str(folder), call, backend]
    completed = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | ONE_THREAD)
    return json.loads(completed.stdout.splitlines()[-1])


def difference(folder: Path) -> float:
    """The largest, relative to the largest value."""
    found, expected = (_flat(pickle.loads((folder / backend).read_bytes())) for backend in ("fastonl", "networkx"))
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def _flat(answer) -> np.ndarray:
    if isinstance(answer, dict):
        return np.concatenate([_flat(value) for value in answer.values()])
    return np.array([answer])


def compare(table: Table, name: str) -> None:
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        (folder / "graph").write_bytes(pickle.dumps(GRAPHS[name]()))
        for call in OURS[name]:
            ours = in_a_process(folder, call, "fastonl")
            theirs = in_a_process(folder, call, "networkx") if call in NETWORKX.get(name, ()) else None
            first, later = ours["first"], ours["later"]
            seconds = min(filter(None, (theirs["first"], theirs["later"]))) if theirs else None
            ratios = [seconds / own if seconds and own else None for own in (first, later)]
            table.add(
                name,
                call,
                seconds,
                first,
                later,
                *ratios,
                theirs["memory"] if theirs else None,
                ours["memory"],
                difference(folder) if theirs else None,
            )


def large(table: Table) -> None:
    """Resistances on ogbn-arxiv."""
    graph = load("ogbn-arxiv")
    biggest = np.flatnonzero(graph.components == np.bincount(graph.components).argmax())
    nodes = np.random.default_rng(0).choice(biggest, (max(PAIRS.values()), 2))
    for tol in (1e-3, 1e-8):
        for title, count in PAIRS.items():
            pairs = [tuple(pair) for pair in nodes[:count].tolist()]
            start = time.thread_time()
            found, info = fo.effective_resistance(graph, pairs, tol=tol, full_output=True)
            seconds = time.thread_time() - start
            worst = max(error / value for value, error in zip(found, info.errors, strict=True))
            table.add(title, tol, seconds, seconds / count, worst)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--measure", nargs=3, metavar=("FOLDER", "CALL", "BACKEND"))
    arguments = options.parse_args()
    if arguments.measure:
        measure(*arguments.measure)
        return
    functions = Table(
        "laplacian",
        "graph",
        "function",
        "NetworkX, s",
        "first call, s",
        "later call, s",
        "NetworkX / first call",
        "NetworkX / later call",
        "NetworkX, MB",
        "fastonl, MB",
        "largest difference",
    )
    resistances = Table("resistance-large", "ogbn-arxiv", "tol", "seconds", "seconds a pair", "certified error")
    large(resistances)
    for name in GRAPHS:
        compare(functions, name)
    if arguments.record:
        functions.record()
        resistances.record()


if __name__ == "__main__":
    main()
