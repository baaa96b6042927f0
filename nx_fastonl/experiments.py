"""The paper's evaluation as code: run-times, accuracies, sweeps, operations and bounds, magnitudes.

Each experiment is a list of cells, work for one cell, and a picture; `run` does the rest. `EXPERIMENTS` has them by
name.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import product
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from nx_fastonl import datasets
from nx_fastonl._checks import check_jobs, check_whole
from nx_fastonl._runs import Cell, Row, run_cells
from nx_fastonl.fifo import fifo_push
from nx_fastonl.graph import CSRGraph
from nx_fastonl.kernels import kernel_column
from nx_fastonl.methods import METHOD_OPTIONS
from nx_fastonl.online import online_node_labeling
from nx_fastonl.pagerank import personalized_pagerank_local
from nx_fastonl.sequence import LabelSequence

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["EXPERIMENTS", "Experiment", "run", "summary"]

# What the paper reports for FastONL: accuracies of Table 6.
PAPER_ACCURACY = {
    "political-blogs": 0.9418,
    "citeseer": 0.7404,
    "cora": 0.8420,
    "blogcatalog": 0.2921,
    "mnist-knn": 0.7960,
    "pubmed": 0.8257,
    "ogbn-arxiv": 0.7089,
}
# Graphs with more nodes are too much for these methods: memory of n^2 numbers, or hours.
MOST_NODES = {"relaxation": 3_000, "approximate": 3_000, "fastonl-fifo": 20_000}
SMALL = ("political-blogs", "citeseer", "cora")
LARGE = (*SMALL, "blogcatalog", "mnist-knn", "pubmed", "ogbn-arxiv")
QUICK = ("karate", "digits")

SMOOTHNESSES = (0.01, 0.05, 0.15, 0.5, 0.9, 2.0, 5.0, 20.0)
# Below the first, mass of K1 spreads over the whole graph, and a run takes minutes; above the second, K4's beta of
# 1 - lambda / n would be negative.
SMOOTHNESS_RANGE = {"K1": (0.05, 20.0), "K2": (0.0, 20.0), "K3": (0.0, 20.0), "K4": (0.0, 0.9)}
EPSILONS_TIMES_N = (10.0, 1.0, 0.1, 0.01)
PUSH_EPSILONS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
PUSH_ALPHA = 0.15
POWER_STEPS = 15


@dataclass(frozen=True)
class Experiment:
    """One part of the paper's evaluation.

    Attributes
    ----------
    title : str
        What it shows, and where the paper does.
    table : str
        What the numbers of its `summary` are.
    graphs : tuple of str
        The datasets that it is run on by default.
    cells : callable
        From the name of a dataset and the number of trials to the pieces of work, each a dict.
    work : callable
        From a cell to the measurements, each a dict.
    picture : callable
        Draws the rows of one graph, given those rows, all rows, and the axes.
    summary : callable
        From all rows to a small table.
    alone : bool
        Whether others at work would disturb what it measures.

    Examples
    --------
    >>> from nx_fastonl.experiments import EXPERIMENTS
    >>> EXPERIMENTS["nnz"].title
    'Nodes that power iteration has reached after each step (Figure 15)'
    >>> EXPERIMENTS["nnz"].cells("karate", 2)
    [{'graph': 'karate', 'source': 2}, {'graph': 'karate', 'source': 11}]
    """

    title: str
    table: str
    graphs: tuple[str, ...]
    cells: Callable[[str, int], list[Cell]]
    work: Callable[[Cell], list[Row]]
    picture: Callable[[pd.DataFrame, pd.DataFrame, Axes], object]  # of one graph, in the style of the whole
    summary: Callable[[pd.DataFrame], pd.DataFrame]
    alone: bool = False  # whether others would disturb what it measures


def run(
    name: str,
    graphs: Sequence[str] | str | None = None,
    *,
    trials: int | None = None,
    quick: bool = False,
    jobs: int | None = None,
    out: str | os.PathLike[str] = "results",
    data_home: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> pd.DataFrame:
    """Run one of the `EXPERIMENTS`; leave a CSV file and a picture in a folder.

    Parameters
    ----------
    name : str
        The experiment, one of `EXPERIMENTS`.
    graphs : str or sequence of str, optional
        Datasets to run it on, by default those of the paper; see `nx_fastonl.datasets.DATASETS`.
    trials : int, optional
        Random orders of arrival, or sources, for each graph, by default 10.
    quick : bool, default False
        Two trials on the karate club and the digits, unless `trials` or `graphs` says otherwise: seconds, without a
        download.
    jobs : int, optional
        Processes to use, by default 1; -1 for one on each core (needs joblib). Times are always taken one at a time.
    out : path, default "results"
        The folder. What is in its CSV file from an earlier run, also one that was stopped, is not computed again.
    data_home : path, optional
        Where the datasets' files are: see `nx_fastonl.datasets.data_folder`.
    progress : bool, default False
        Show a progress bar (needs tqdm).

    Returns
    -------
    pandas.DataFrame
        A row for each measurement, as in the CSV file.

    Raises
    ------
    ValueError
        If there is no such experiment or dataset, a number is out of range, or the CSV file in the folder holds
        something else.
    TypeError
        If `trials` or `jobs` is not a whole number.
    ConnectionError
        If a dataset cannot be downloaded: see `nx_fastonl.datasets.fetch_cora`.
    ImportError
        If pandas, matplotlib, or what a dataset, `jobs` or `progress` needs is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from nx_fastonl import experiments
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame = experiments.run("nnz", ["karate"], trials=2, out=folder)
    >>> sorted(frame.columns)
    ['graph', 'part_reached', 'source', 'step']
    """
    experiment = _experiment(name)
    if trials is None:
        trials = 2 if quick else 10
    check_whole("trials", trials, least=1)
    check_jobs("jobs", jobs)
    if graphs is None:
        graphs = QUICK if quick else experiment.graphs
    chosen = [graphs] if isinstance(graphs, str) else list(dict.fromkeys(graphs))
    if not chosen:
        raise ValueError("graphs is empty; leave it out for those of the paper")
    with _data_home(data_home):
        cells = [cell for graph in chosen for cell in experiment.cells(graph, trials)]
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{name}-quick" if quick else name
    work = partial(_work_with, experiment.work, data_home)
    frame = run_cells(cells, work, folder / f"{stem}.csv", 1 if experiment.alone else jobs, progress)
    _draw(experiment, frame, folder / f"{stem}.png")
    return frame


def summary(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    """What a run of the experiment found, in a small table.

    Parameters
    ----------
    name : str
        The experiment, one of `EXPERIMENTS`.
    frame : pandas.DataFrame
        What `run` returned, or its CSV file.

    Returns
    -------
    pandas.DataFrame
        What its numbers are, ``EXPERIMENTS[name].table`` says.

    Raises
    ------
    ValueError
        If there is no such experiment.
    KeyError
        If the frame is that of another experiment, and lacks a column.

    Examples
    --------
    >>> import tempfile
    >>> from nx_fastonl import experiments
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame = experiments.run("nnz", "karate", trials=2, out=folder)
    >>> experiments.summary("nnz", frame).loc["karate", [0, 1, 2, 3, 4]].tolist()
    [0.029, 0.191, 0.706, 0.882, 1.0]
    """
    return _experiment(name).summary(frame)


@contextmanager
def _data_home(folder: str | os.PathLike[str] | None) -> Iterator[None]:
    """Datasets are looked for in this folder, if it is one."""
    before = os.environ.get(datasets.DATA_HOME)
    if folder is not None:
        os.environ[datasets.DATA_HOME] = os.fspath(folder)
    try:
        yield
    finally:
        if before is not None:
            os.environ[datasets.DATA_HOME] = before
        elif folder is not None:
            del os.environ[datasets.DATA_HOME]


def _work_with(work: Callable[[Cell], list[Row]], data_home: str | os.PathLike[str] | None, cell: Cell) -> list[Row]:
    """Work on a cell, perhaps in another process."""
    with _data_home(data_home):
        return work(cell)


def _experiment(name: str) -> Experiment:
    if name not in EXPERIMENTS:
        raise ValueError(f"unknown experiment {name!r}; there are {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]


def _dataset(name: str) -> tuple[CSRGraph, dict[Any, Any]]:
    return _loaded(name, os.environ.get(datasets.DATA_HOME))


@lru_cache(maxsize=1)  # cells come graph by graph
def _loaded(name: str, data_home: str | None) -> tuple[CSRGraph, dict[Any, Any]]:
    found = datasets.load(name, data_home=data_home)
    return cast(CSRGraph, found.graph), found.labels


def _sources(graph: str, trials: int) -> list[int]:
    n = len(_dataset(graph)[0])
    chosen: list[int] = np.random.default_rng(0).permutation(n)[:trials].tolist()
    return chosen


# Online labelling


def _label(cell: Cell, **options: Any) -> tuple[LabelSequence, float]:
    """One run over a random order of the labelled nodes, and its seconds of CPU."""
    graph, labels = _dataset(cell["graph"])
    nodes = list(labels)
    order = np.random.default_rng(cell["trial"]).permutation(len(nodes)).tolist()
    arrivals = [(nodes[i], labels[nodes[i]]) for i in order]
    _warm_up(options.get("method", "fastonl"))
    start = time.process_time()
    sequence = online_node_labeling(graph, arrivals, seed=cell["trial"], **options)
    return sequence, time.process_time() - start


@cache
def _warm_up(method: Any) -> None:
    """Import and allocate what the first run in a process would be charged for."""
    karate = datasets.load_karate()
    online_node_labeling(karate.graph, karate.labels, method=method)


def _method_cells(graph: str, trials: int) -> list[Cell]:
    n = len(_dataset(graph)[0])
    methods = [method for method in METHOD_OPTIONS if n <= MOST_NODES.get(method, n)]
    return [{"graph": graph, "method": method, "trial": trial} for method, trial in product(methods, range(trials))]


def _accuracy(cell: Cell) -> list[Row]:
    sequence, seconds = _label(cell, method=cell["method"])
    return [{"accuracy": sequence.accuracy, "seconds": seconds}]


def _error_curve(cell: Cell) -> list[Row]:
    sequence, _ = _label(cell, method=cell["method"])
    errors = sequence.errors
    seen = np.unique(np.geomspace(1, len(errors), 60).round().astype(int)).tolist()
    return [{"nodes_seen": count, "error_rate": errors[count - 1]} for count in seen]


def _smoothness_cells(graph: str, trials: int) -> list[Cell]:
    return [
        {"graph": graph, "kernel": kernel, "smoothness": smoothness, "trial": trial}
        for (kernel, (least, most)), smoothness, trial in product(SMOOTHNESS_RANGE.items(), SMOOTHNESSES, range(trials))
        if least <= smoothness <= most
    ]


def _smoothness(cell: Cell) -> list[Row]:
    sequence, _ = _label(cell, kernel=cell["kernel"], smoothness=cell["smoothness"])
    return [{"accuracy": sequence.accuracy}]


def _epsilon_cells(graph: str, trials: int) -> list[Cell]:
    return [
        {"graph": graph, "method": method, "epsilon_times_n": epsilon, "trial": trial}
        for method, epsilon, trial in product(("fastonl", "fastonl-fifo"), EPSILONS_TIMES_N, range(trials))
    ]


def _epsilon(cell: Cell) -> list[Row]:
    n = len(_dataset(cell["graph"])[0])
    sequence, seconds = _label(cell, method=cell["method"], epsilon=cell["epsilon_times_n"] / n)
    return [{"accuracy": sequence.accuracy, "seconds": seconds}]


# Pushes


def _source_cells(graph: str, trials: int) -> list[Cell]:
    return [{"graph": graph, "source": source} for source in _sources(graph, trials)]


def _operations(cell: Cell) -> list[Row]:
    graph, _ = _dataset(cell["graph"])
    rows = []
    for epsilon in PUSH_EPSILONS:
        _, _, info = fifo_push(graph, cell["source"], PUSH_ALPHA, epsilon, full_output=True)
        # Power iteration to a residual of epsilon for each neighbour, as if that were spread evenly.
        power = len(graph.indices) * max(log(1.0 / (epsilon * max(len(graph.indices), 1))) / PUSH_ALPHA, 1.0)
        counts = {
            "operations": info.operations,
            "local bound": info.local_bound,
            "worst-case bound": info.worst_case_bound,
            "power iteration": power,
        }
        rows += [{"epsilon": epsilon, "quantity": quantity, "edges": count} for quantity, count in counts.items()]
    return rows


def _magnitudes(cell: Cell) -> list[Row]:
    graph, _ = _dataset(cell["graph"])
    columns = {
        "pagerank": personalized_pagerank_local(graph, 1 - PUSH_ALPHA, cell["source"], tol=1e-10),
        "K1": kernel_column(graph, cell["source"], kernel="K1", epsilon=1e-9),
        "K2": kernel_column(graph, cell["source"], kernel="K2", epsilon=1e-9),
    }
    rows = []
    for vector, column in columns.items():
        values = np.sort(np.abs(list(column.values())))[::-1]
        ranks = np.unique(np.geomspace(1, len(values), 40).round().astype(int)).tolist()
        rows += [{"vector": vector, "rank": rank, "magnitude": float(values[rank - 1] / values[0])} for rank in ranks]
    return rows


def _nonzeros(cell: Cell) -> list[Row]:
    """The part of the nodes that power iteration from one node has reached after each step."""
    graph, _ = _dataset(cell["graph"])
    W = graph.to_scipy()
    reached = np.zeros(len(graph), dtype=bool)
    reached[cell["source"]] = True
    rows = []
    for step in range(POWER_STEPS + 1):
        rows.append({"step": step, "part_reached": float(reached.mean())})
        reached = reached | (W.T @ reached > 0)
    return rows


# Tables and pictures


def _accuracy_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean accuracies, a column for each method, beside what the paper reports for FastONL."""
    table = _means(frame, "method", "accuracy")
    if not PAPER_ACCURACY.keys() & set(table.index):
        return table.round(4)
    table["paper"] = [PAPER_ACCURACY.get(str(graph), float("nan")) for graph in table.index]
    table["fastonl - paper"] = table["fastonl"] - table["paper"]
    return table.round(4)


def _runtime_table(frame: pd.DataFrame) -> pd.DataFrame:
    fastest = frame.groupby(["graph", "method"], sort=False)["seconds"].min().unstack("method")
    return fastest[frame["method"].unique()].round(4)


def _means(frame: pd.DataFrame, by: str, y: str) -> pd.DataFrame:
    means = frame.groupby(["graph", by], sort=False)[y].mean().unstack(by)
    return means[frame[by].unique()]


def _last_errors(frame: pd.DataFrame) -> pd.DataFrame:
    last = frame[frame["nodes_seen"] == frame.groupby("graph")["nodes_seen"].transform("max")]
    return _means(last, "method", "error_rate").round(4)


def _epsilon_table(frame: pd.DataFrame) -> pd.DataFrame:
    groups = frame.groupby(["graph", "method", "epsilon_times_n"], sort=False)
    return groups[["accuracy", "seconds"]].mean().round(4)


def _best_smoothness(frame: pd.DataFrame) -> pd.DataFrame:
    means = frame.groupby(["graph", "kernel", "smoothness"], sort=False)["accuracy"].mean().reset_index()
    best = means.loc[means.groupby(["graph", "kernel"], sort=False)["accuracy"].idxmax()]
    return best.set_index(["graph", "kernel"]).round(4)


def _decay(frame: pd.DataFrame) -> pd.DataFrame:
    """The exponent of the power law between ranks 2 and 1,000: the slope in a double logarithmic picture."""
    middle = frame[(frame["rank"] >= 2) & (frame["rank"] <= 1_000) & (frame["magnitude"] > 0.0)]
    slopes = {
        key: float(np.polyfit(np.log(part["rank"]), np.log(part["magnitude"]), 1)[0])
        for key, part in middle.groupby(["graph", "vector"], sort=False)
    }
    import pandas as pd

    return pd.Series(slopes).unstack(sort=False).rename_axis("graph").round(2)


def _bands(
    part: pd.DataFrame, whole: pd.DataFrame, ax: Axes, x: str, y: str, by: str, logarithmic: bool = False
) -> Axes:
    from nx_fastonl.plotting import plot_bands

    ax = plot_bands(part[np.isfinite(part[y])], x, y, by, ax, order=list(whole[by].unique()))
    if logarithmic:
        ax.set_xscale("log")
        ax.set_yscale("log")
    if y == "error_rate":
        ax.set_ylim(0.0, 1.0)  # a standard deviation may reach beyond
    return ax


def _bars(part: pd.DataFrame, whole: pd.DataFrame, ax: Axes, y: str, logarithmic: bool = False) -> Axes:
    """A bar for each method, with a whisker over trials."""
    from nx_fastonl.plotting import COLOURS

    groups = part.groupby("method", sort=False)[y]
    means, deviations = groups.mean(), groups.std().fillna(0.0)
    colours = dict(zip(whole["method"].unique(), COLOURS, strict=False))
    ax.barh(list(means.index), means, xerr=deviations, color=[colours[method] for method in means.index])
    ax.invert_yaxis()
    if logarithmic:
        ax.set_xscale("log")
        ax.xaxis.set_minor_formatter("")
    ax.set_xlabel(y)
    return ax


def _draw(experiment: Experiment, frame: pd.DataFrame, path: Path) -> None:
    """A panel for each graph."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install matplotlib") from error
    graphs = list(dict.fromkeys(frame["graph"]))
    columns = min(len(graphs), 3)
    rows = -(-len(graphs) // columns)
    figure = Figure(figsize=(4.5 * columns, 3.4 * rows), layout="constrained")
    for i, graph in enumerate(graphs):
        ax = figure.add_subplot(rows, columns, i + 1)
        experiment.picture(frame[frame["graph"] == graph], frame, ax)
        ax.set_title(graph)
    figure.savefig(path, dpi=150)


def _median_edges(frame: pd.DataFrame) -> pd.DataFrame:
    medians = frame.groupby(["graph", "epsilon", "quantity"], sort=False)["edges"].median().unstack("quantity")
    return medians[frame["quantity"].unique()].round(0)


#: The experiments by name, which is what `run` goes by: accuracy, runtime, error-curves, smoothness, epsilon,
#: operations, magnitudes and nnz.
EXPERIMENTS: dict[str, Experiment] = {
    "accuracy": Experiment(
        "Accuracy of all methods over random orders (Table 6)",
        "mean accuracy",
        LARGE,
        _method_cells,
        _accuracy,
        partial(_bars, y="accuracy"),
        _accuracy_table,
    ),
    "runtime": Experiment(
        "Seconds for a whole run of each method (Tables 2 and 5)",
        "seconds of CPU, the fastest trial",
        LARGE,
        _method_cells,
        _accuracy,
        partial(_bars, y="seconds", logarithmic=True),
        _runtime_table,
        alone=True,
    ),
    "error-curves": Experiment(
        "Error rate against the number of nodes seen (Figures 4 and 5)",
        "mean error rate at the end",
        LARGE,
        _method_cells,
        _error_curve,
        partial(_bands, x="nodes_seen", y="error_rate", by="method"),
        _last_errors,
    ),
    "smoothness": Experiment(
        "Accuracy against lambda / n for the first four kernels (Figure 6)",
        "the best smoothness of each kernel, and the mean accuracy there",
        SMALL,
        _smoothness_cells,
        _smoothness,
        partial(_bands, x="smoothness", y="accuracy", by="kernel"),
        _best_smoothness,
    ),
    "epsilon": Experiment(
        "Accuracy against epsilon (Figure 16)",
        "mean accuracy and seconds of CPU",
        SMALL,
        _epsilon_cells,
        _epsilon,
        partial(_bands, x="epsilon_times_n", y="accuracy", by="method"),
        _epsilon_table,
    ),
    "operations": Experiment(
        "Edges walked by a push, its two bounds, and power iteration (Figures 3 and 8 to 13)",
        "median number of edges",
        LARGE,
        _source_cells,
        _operations,
        partial(_bands, x="epsilon", y="edges", by="quantity", logarithmic=True),
        _median_edges,
    ),
    "magnitudes": Experiment(
        "Magnitudes of a column by rank: a power law (Figures 2, 14, 17 and 18)",
        "the exponent between ranks 2 and 1,000",
        LARGE,
        _source_cells,
        _magnitudes,
        partial(_bands, x="rank", y="magnitude", by="vector", logarithmic=True),
        _decay,
    ),
    "nnz": Experiment(
        "Nodes that power iteration has reached after each step (Figure 15)",
        "the part of the nodes reached, by step",
        LARGE,
        _source_cells,
        _nonzeros,
        partial(_bands, x="step", y="part_reached", by="graph"),
        lambda frame: frame.groupby(["graph", "step"], sort=False)["part_reached"].mean().unstack("step").round(3),
    ),
}
