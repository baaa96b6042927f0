"""The experiments that compare the adaptive learner: with every kernel in hindsight, other packages, and no arrows.

    python -m tests.benchmarks.bench_experiments adaptive
    python -m tests.benchmarks.bench_experiments few-labels
    python -m tests.benchmarks.bench_experiments directed
    python -m tests.benchmarks.bench_experiments half-known

The first two run on all graphs of ../shared/data that have labels, those of `directed/` as undirected graphs.
`few-labels` leaves out ogbn-arxiv and com-dblp, on which each of most peers takes a minute for a draw. `directed` runs
on those of `directed/` with their arrows, on ogbn-arxiv as published, and on the same arcs with years as labels;
`half-known` runs on the last. There are ten trials on graphs of fewer than 13,000 nodes, two on others. --out names the
folder with the results: a run that was stopped goes on from there. --record writes the summaries to docs/benchmarks.
`few-labels` needs the extra `peers`.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from pathlib import Path

import pandas as pd

from nx_fastonl import experiments
from tests.benchmarks.measure import DATA, SMALL_DIRECTED, Table, parser

SMALL = ("political", "citeseer", "cora", "blogcatalog", "mnist")
LARGE = ("pubmed", "ogbn-arxiv", "com-dblp")
LARGE_DIRECTED = ("roman-empire",)
TRIALS = {"small": 10, "large": 2}
ARXIV_BY_YEAR = f"arxiv-by-year={DATA / 'ogbn-arxiv.npz'}"
PEERS = {
    "adaptive": (),
    "few-labels": ("graphlearning", "scikit-network"),
    "directed": (),
    "half-known": ("scikit-learn",),
}
# What takes a minute for each draw of each peer.
LEFT_OUT = {"adaptive": (), "few-labels": ("ogbn-arxiv", "com-dblp")}


def graphs(experiment: str) -> dict[str, list[Path | str]]:
    """The graphs of an experiment, by size."""
    if experiment == "half-known":
        return {"large": [ARXIV_BY_YEAR]}
    directed = {
        "small": [DATA / f"directed/{name}.npz" for name in SMALL_DIRECTED if name not in LARGE_DIRECTED],
        "large": [DATA / f"directed/{name}.npz" for name in LARGE_DIRECTED],
    }
    if experiment == "directed":
        return {"small": [*directed["small"]], "large": [*directed["large"], "ogbn-arxiv", ARXIV_BY_YEAR]}
    large = [name for name in LARGE if name not in LEFT_OUT[experiment]]
    return {
        "small": [*(DATA / f"{name}.npz" for name in SMALL), *directed["small"]],
        "large": [*(DATA / f"{name}.npz" for name in large), *directed["large"]],
    }


def main() -> None:
    options = parser(__doc__)
    options.add_argument("experiment", choices=tuple(PEERS))
    options.add_argument("--out", default="results", metavar="DIR", help="the folder with the results")
    arguments = options.parse_args()
    name = arguments.experiment
    if arguments.record and (notes := experiments.EXPERIMENTS[name].notes()):
        options.error("; ".join(notes))
    frames = [
        experiments.run(
            name, chosen, trials=TRIALS[size], out=arguments.out, data_home=DATA / "upstream", progress=True
        )
        for size, chosen in graphs(name).items()
    ]
    summary = experiments.summary(name, pd.concat(frames)).reset_index()
    table = Table(name, *summary.columns, peers=PEERS[name])
    for row in summary.itertuples(index=False):
        table.add(*(f"{cell:g}" if isinstance(cell, float) else str(cell) for cell in row))
    if arguments.record:
        table.record()


if __name__ == "__main__":
    main()
