"""A graph of the size of Wikipedia, from edges to labels: time and memory of each step.

    python -m tests.benchmarks.bench_large [--scale 0.02] [--folder FOLDER]

6.2 million nodes, 178 million edges and ten labels, drawn by `datasets.planted_partition`; with --scale, this fraction
of the nodes. The edges are shuffled and built again with `CSRGraph.from_edges`, saved, opened in three ways, and
150,000 nodes arrive to be labelled. Then come the ten largest values of PageRank around random nodes. A graph of 10^8
edges is opened as well.

Every step runs in a process of its own, with one thread. Memory is what the process has in RAM (RSS): pages of a mapped
file count once they were touched. "grown" is the peak during the step, less what was there before. The page cache is
warm. At full scale it takes some minutes, 12 GB of memory and 5 GB of disk. Linux only. --record writes the tables to
docs/benchmarks.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when numpy loads

import numpy as np

import nx_fastonl as fo
from nx_fastonl.graph.csr import CSRGraph
from tests.benchmarks.measure import Table, parser

NODES, MEAN_DEGREE, ARRIVALS = 6_200_000, 2 * 178 / 6.2, 150_000
OPENED_EDGES = 100_000_000
# Half of the edges lead to another label, and a tenth of the labels says nothing about the edges.
PLANTED = {"classes": 10, "mean_degree": MEAN_DEGREE, "homophily": 0.5, "label_noise": 0.1, "exponent": 2.5, "seed": 0}
METHODS = ("weighted-majority", "fastonl", "adaptive")
VERIFY: dict[str, Any] = {"False": False, "True": True, '"checksum"': "checksum"}
# How many queries, with which options.
TOP_TEN: dict[str, tuple[int, dict[str, float]]] = {
    "proven": (10, {}),
    "epsilon=1e-6": (100, {"epsilon": 1e-6}),
    "epsilon=1e-5": (100, {"epsilon": 1e-5}),
}
MB = 2**20


@dataclass
class Cost:
    """What a step cost, in seconds and MB."""

    wall: float = 0.0
    cpu: float = 0.0
    grown: float = 0.0
    peak: float = 0.0


@contextmanager
def measured() -> Iterator[Cost]:
    """The cost of what runs inside, once that is over."""
    cost, before = Cost(), _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again
    wall, cpu = time.perf_counter(), time.process_time()
    yield cost
    cost.wall, cost.cpu = time.perf_counter() - wall, time.process_time() - cpu
    cost.peak = _memory("VmHWM")
    cost.grown = cost.peak - before


def _memory(field: str) -> float:
    """A line of the process's status, in MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{field}:")[1].split()[0]) / 1024


# Each of these runs in a process of its own, and returns what can be written as JSON.


def draw(folder: Path, scale: float) -> dict[str, Any]:
    """Draw the graph. Write the ends of its edges in random order, and the labels."""
    with measured() as cost:
        made = fo.datasets.planted_partition(int(NODES * scale), **PLANTED)
    graph = made.graph
    sources = np.repeat(np.arange(len(graph), dtype=np.int32), np.diff(graph.indptr))
    once = sources < graph.indices
    ends = {"sources": sources[once], "targets": graph.indices[once]}
    order = np.random.default_rng(1).permutation(len(ends["sources"]))
    for name, end in ends.items():
        np.save(folder / f"{name}.npy", end[order])
    np.save(folder / "labels.npy", made.labels.array)
    return {**_size(graph), **asdict(cost)}


def build(folder: Path, scale: float) -> dict[str, Any]:
    """Build the graph from its edges."""
    sources, targets = np.load(folder / "sources.npy"), np.load(folder / "targets.npy")
    with measured() as cost:
        graph = CSRGraph.from_edges(sources, targets, n=int(NODES * scale))
    del sources, targets
    with measured() as saving:
        graph.save(folder / "graph")
    return {**_size(graph), **asdict(cost), "save": {**_size(graph), **asdict(saving)}}


def draw_to_open(folder: Path, scale: float) -> dict[str, Any]:
    """Draw the graph that is only opened, and save it."""
    graph = fo.datasets.planted_partition(int(2 * OPENED_EDGES / MEAN_DEGREE * scale), **PLANTED).graph
    graph.save(folder / "opened")
    return _size(graph)


def open_saved(folder: Path, _: float, name: str, verify: str) -> dict[str, Any]:
    """Open a graph that was saved."""
    small = folder / "small"
    fo.CSRGraph.from_edges([0], [1]).save(small)
    fo.CSRGraph.open(small, verify=VERIFY[verify])  # loads what has to be imported
    with measured() as cost:
        graph = fo.CSRGraph.open(folder / name, verify=VERIFY[verify])
    return {**_size(graph), **asdict(cost)}


def label(folder: Path, scale: float, method: str) -> dict[str, Any]:
    """Label nodes that arrive in random order, in a mapped graph."""
    labels = np.load(folder / "labels.npy")
    order = np.random.default_rng(2).permutation(len(labels))[: int(ARRIVALS * scale)]
    stream = list(zip(order.tolist(), labels[order].tolist(), strict=True))
    karate = fo.datasets.load_karate()
    fo.online_node_labeling(karate.graph, karate.labels, method=method)  # loads what has to be imported
    with measured() as setting_up:
        model = fo.OnlineNodeLabeler(fo.CSRGraph.open(folder / "graph", verify=False), method=method, seed=0)
    with measured() as cost:
        sequence = model.run(stream)
    return {
        "arrivals": len(stream),
        "set_up": setting_up.cpu,
        "each": cost.cpu / len(stream),
        "accuracy": sequence.accuracy,
        "peak": max(setting_up.peak, cost.peak),
    }


def top_ten(folder: Path, _: float, how: str) -> dict[str, Any]:
    """The ten largest values of PageRank around each of some nodes, in a mapped graph."""
    graph = fo.CSRGraph.open(folder / "graph", verify=False)
    queries, options = TOP_TEN[how]
    nodes = np.random.default_rng(3).integers(len(graph), size=queries).tolist()
    times, proven = [], 0
    with measured() as cost:
        for node in nodes:
            start = time.process_time()
            _, info = fo.personalized_pagerank_local(graph, personalization=node, top_k=10, full_output=True, **options)
            times.append(time.process_time() - start)
            proven += bool(info.top_k_proven)
    tenth, median, most = np.quantile(times, [0.1, 0.5, 0.9]).tolist()
    return {"queries": queries, "tenth": tenth, "median": median, "most": most, "proven": proven, "peak": cost.peak}


STEPS: dict[str, Callable[..., dict[str, Any]]] = {
    step.__name__: step for step in (draw, build, draw_to_open, open_saved, label, top_ten)
}


def _size(graph: CSRGraph) -> dict[str, Any]:
    arrays = (graph.indptr, graph.indices, graph.weights, graph.degrees)
    return {
        "nodes": len(graph),
        "edges": graph.number_of_edges(),
        "size": sum(array.nbytes for array in arrays if array is not None) / MB,
    }


def run(folder: Path, scale: float) -> list[Table]:
    """Run all steps, one after the other."""

    def child(*step: str) -> dict[str, Any]:
        command = [sys.executable, "-m", "tests.benchmarks.bench_large", "--folder", str(folder), "--scale", str(scale)]
        done = subprocess.run([*command, "--step", *step], check=True, stdout=subprocess.PIPE, text=True)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    steps = Table(
        "large-steps",
        *("step", "nodes", "edges", "graph, MB", "wall, s", "CPU, s", "grown, MB", "grown / graph"),
    )

    def add(step: str, found: dict[str, Any]) -> None:
        sizes = (found["nodes"], found["edges"], found["size"])
        steps.add(step, *sizes, found["wall"], found["cpu"], found["grown"], found["grown"] / found["size"])

    add("planted_partition", child("draw"))
    built = child("build")
    add("from_edges", built)
    add("save", built["save"])
    child("draw_to_open")
    for name in ("graph", "opened"):
        for verify in VERIFY:
            add(f"open, verify={verify}", child("open_saved", name, verify))
    labels = Table("large-labels", "method", "labels", "set-up, s", "per label, ms", "accuracy", "peak, MB")
    for method in METHODS:
        found = child("label", method)
        labels.add(method, found["arrivals"], found["set_up"], found["each"] * 1e3, found["accuracy"], found["peak"])
    pagerank = Table(
        "large-top-ten",
        *("ten largest", "queries", "median, ms", "10th percentile, ms", "90th percentile, ms", "proven", "peak, MB"),
    )
    for how in TOP_TEN:
        found = child("top_ten", how)
        times = (found["median"] * 1e3, found["tenth"] * 1e3, found["most"] * 1e3)
        pagerank.add(how, found["queries"], *times, found["proven"], found["peak"])
    return [steps, labels, pagerank]


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--scale", type=float, default=1.0, help="the fraction of the nodes; 1 by default")
    options.add_argument("--folder", type=Path, help="an empty folder for the files; by default one that is removed")
    options.add_argument("--step", nargs="+", help="run only this step; for this program itself")
    arguments = options.parse_args()
    if arguments.step:
        step, *others = arguments.step
        print(json.dumps(STEPS[step](arguments.folder, arguments.scale, *others)))
        return
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        tables = run(Path(folder), arguments.scale)
    if arguments.record:
        if arguments.scale != 1.0:
            raise SystemExit("only the full scale is recorded")
        for table in tables:
            table.record()


if __name__ == "__main__":
    main()
