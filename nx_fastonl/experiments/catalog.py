"""The experiments by name, `run` and `summary`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nx_fastonl._lib.checks import check_jobs, check_whole, shortened
from nx_fastonl.experiments import adaptive, directed, few_labels, half_known, labeling, pushes, tables
from nx_fastonl.experiments.base import Experiment, Record, Task, Work
from nx_fastonl.experiments.graphs import PLANTED, data_from, graph_keys, graph_name
from nx_fastonl.experiments.peers import missing_peers
from nx_fastonl.experiments.pictures import draw_bands, draw_bars, draw_experiment, draw_hindsight, draw_rates
from nx_fastonl.experiments.runner import run_tasks

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["EXPERIMENTS", "run", "summary"]

SMALL = ("political-blogs", "citeseer", "cora")
LARGE = (*SMALL, "blogcatalog", "mnist-knn", "pubmed", "ogbn-arxiv")
DIRECTED = ("ogbn-arxiv",)
# All tasks are in memory before the first one runs.
MAX_TRIALS = 100_000

EXPERIMENTS: dict[str, Experiment] = {
    "accuracy": Experiment(
        title="Accuracy of all methods over random orders (Table 6)",
        table="mean accuracy",
        graphs=LARGE,
        tasks=labeling.method_tasks,
        work=labeling.measure_accuracy,
        picture=partial(draw_bars, y="accuracy"),
        summary=tables.accuracy_table,
    ),
    "runtime": Experiment(
        title="Seconds for a whole run of each method (Tables 2 and 5)",
        table="seconds of CPU, the fastest trial",
        graphs=LARGE,
        tasks=labeling.method_tasks,
        work=labeling.measure_accuracy,
        picture=partial(draw_bars, y="seconds", logarithmic=True),
        summary=tables.fastest_runs,
        serial=True,
    ),
    "error-curves": Experiment(
        title="Error rate against the number of nodes seen (Figures 4 and 5)",
        table="mean error rate at the end",
        graphs=LARGE,
        tasks=labeling.method_tasks,
        work=labeling.measure_error_curve,
        picture=partial(draw_bands, x="nodes_seen", y="error_rate", by="method"),
        summary=tables.last_errors,
    ),
    "smoothness": Experiment(
        title="Accuracy against lambda / n for the first four kernels (Figure 6)",
        table="the best smoothness of each kernel, and the mean accuracy there",
        graphs=SMALL,
        tasks=labeling.smoothness_tasks,
        work=labeling.measure_smoothness,
        picture=partial(draw_bands, x="smoothness", y="accuracy", by="kernel"),
        summary=tables.best_smoothness,
    ),
    "epsilon": Experiment(
        title="Accuracy against epsilon (Figure 16)",
        table="mean accuracy and seconds of CPU",
        graphs=SMALL,
        tasks=labeling.epsilon_tasks,
        work=labeling.measure_epsilon,
        picture=partial(draw_bands, x="epsilon_times_n", y="accuracy", by="method"),
        summary=tables.epsilon_table,
    ),
    "operations": Experiment(
        title="Edges walked by a push, its two bounds, and power iteration (Figures 3 and 8 to 13)",
        table="median number of edges",
        graphs=LARGE,
        tasks=pushes.source_tasks,
        work=pushes.measure_operations,
        picture=partial(draw_bands, x="epsilon", y="edges", by="quantity", logarithmic=True),
        summary=tables.median_edges,
    ),
    "magnitudes": Experiment(
        title="Magnitudes of a column by rank: a power law (Figures 2, 14, 17 and 18)",
        table="the exponent between ranks 2 and 1,000",
        graphs=LARGE,
        tasks=pushes.source_tasks,
        work=pushes.measure_magnitudes,
        picture=partial(draw_bands, x="rank", y="magnitude", by="vector", logarithmic=True),
        summary=tables.decay_exponents,
    ),
    "nnz": Experiment(
        title="Nodes that power iteration has reached after each step (Figure 15)",
        table="the fraction of the nodes reached, by step",
        graphs=LARGE,
        tasks=pushes.source_tasks,
        work=pushes.measure_reach,
        picture=partial(draw_bands, x="step", y="fraction_reached", by="graph"),
        summary=tables.mean_reach,
    ),
    "adaptive": Experiment(
        title="The adaptive learner against every kernel and smoothness in hindsight",
        table="mean accuracy, calibration error, and seconds of CPU of the fastest trial",
        graphs=LARGE,
        tasks=adaptive.tasks,
        work=adaptive.measure,
        picture=draw_hindsight,
        summary=tables.hindsight_table,
    ),
    "few-labels": Experiment(
        title="Few labels, known at once: against other packages",
        table="means over graphs of the accuracy and of the seconds of CPU",
        graphs=LARGE,
        tasks=few_labels.tasks,
        work=few_labels.measure,
        picture=draw_rates,
        summary=tables.few_labels_table,
        serial=True,
        notes=missing_peers,
    ),
    "directed": Experiment(
        title="What arrows add: the adaptive learner with them, without them, and other methods",
        table="mean accuracy, calibration error, coverage and size of 90 % sets, and seconds of the fastest trial",
        graphs=DIRECTED,
        quick=(PLANTED,),
        tasks=directed.tasks,
        work=directed.measure,
        picture=partial(draw_bars, y="accuracy"),
        summary=tables.directed_table,
    ),
    "half-known": Experiment(
        title="Half of the labels known at once: against logistic regression on rows of the adjacency",
        table="mean accuracy over the other half, and seconds of CPU",
        graphs=DIRECTED,
        quick=(PLANTED,),
        tasks=half_known.tasks,
        work=half_known.measure,
        picture=partial(draw_bars, y="accuracy"),
        summary=tables.half_known_table,
        serial=True,
        notes=half_known.missing_link,
    ),
}


def run(
    name: str,
    graphs: Sequence[str | os.PathLike[str]] | str | os.PathLike[str] | None = None,
    *,
    trials: int | None = None,
    quick: bool = False,
    n_jobs: int | None = None,
    out: str | os.PathLike[str] = "results",
    data_home: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> pd.DataFrame:
    """Run one of the `EXPERIMENTS`, and write a CSV file and a picture to a folder.

    Parameters
    ----------
    name : str
        The experiment, one of `EXPERIMENTS`.
    graphs : str, path, or sequence of them, optional
        What to run it on: names of `nx_fastonl.datasets.DATASETS`, by default the paper's; and paths of files
        ``NAME.npz``, which the guide describes. ``arxiv-by-year=FILE.npz`` is ogbn-arxiv with years as labels.
    trials : int, optional
        How many random orders of arrival, or sources, there are for each graph. By default 10.
    quick : bool, default False
        Run two trials on the karate club and the digits, unless `trials` or `graphs` says otherwise. This takes
        seconds and downloads nothing.
    n_jobs : int, optional
        The number of processes, by default 1; -1 means one per core (needs joblib). What measures time always runs
        in one process.
    out : path, default "results"
        The folder for the two files. Results that are in its CSV file, from an earlier or interrupted run, are not
        computed again. Several runs may use one folder at the same time.
    data_home : path, optional
        The folder with the datasets' files: see `nx_fastonl.datasets.data_folder`.
    progress : bool, default False
        Show a progress bar (needs tqdm).

    Returns
    -------
    pandas.DataFrame
        One row per record, as in the CSV file. A graph from a file has its whole path there, and its name in tables
        and pictures.

    Raises
    ------
    ValueError
        If there is no such experiment, dataset or file, a file holds no graph, two graphs have one name, a number is
        out of range, or the CSV file in the folder holds something else.
    TypeError
        If `trials` or `n_jobs` is not a whole number.
    ConnectionError
        If a dataset cannot be downloaded: see `nx_fastonl.datasets.fetch_cora`.
    ImportError
        If pandas, matplotlib or filelock is not installed, or another package that a dataset, `n_jobs` or `progress`
        needs.

    Examples
    --------
    >>> import tempfile
    >>> from nx_fastonl import experiments
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame = experiments.run("nnz", ["karate"], trials=2, out=folder)
    >>> sorted(frame.columns)
    ['fraction_reached', 'graph', 'source', 'step']
    """
    experiment = _experiment(name)
    if trials is None:
        trials = 2 if quick else 10
    check_whole("trials", trials, least=1, most=MAX_TRIALS)
    check_jobs("n_jobs", n_jobs)
    if graphs is None:
        graphs = experiment.quick if quick else experiment.graphs
    chosen = graph_keys([graphs] if isinstance(graphs, str | os.PathLike) else graphs)
    if not chosen:
        raise ValueError("graphs is empty; leave it out to run on those of the paper")
    with data_from(data_home):
        tasks = [task for graph in chosen for task in experiment.tasks(graph, trials)]
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{name}-quick" if quick else name
    work = partial(_work_in, data_home, experiment.work)
    frame = run_tasks(tasks, work, folder / f"{stem}.csv", n_jobs, progress, serial=experiment.serial)
    draw_experiment(experiment, frame, folder / f"{stem}.png")
    return frame


def summary(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    """Summarise the results of an experiment in a small table.

    Parameters
    ----------
    name : str
        The experiment, one of `EXPERIMENTS`.
    frame : pandas.DataFrame
        What `run` returned, or what pandas reads from its CSV file.

    Returns
    -------
    pandas.DataFrame
        ``EXPERIMENTS[name].table`` says what the numbers are.

    Raises
    ------
    ValueError
        If there is no such experiment.
    KeyError
        If the frame belongs to another experiment and lacks a column.

    Examples
    --------
    >>> import tempfile
    >>> from nx_fastonl import experiments
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame = experiments.run("nnz", "karate", trials=2, out=folder)
    >>> experiments.summary("nnz", frame).loc["karate", [0, 1, 2, 3, 4]].tolist()
    [0.029, 0.191, 0.706, 0.882, 1.0]
    """
    return _experiment(name).summary(frame.assign(graph=frame["graph"].map(graph_name)))


def _experiment(name: str) -> Experiment:
    if not isinstance(name, str) or name not in EXPERIMENTS:
        raise ValueError(f"unknown experiment {shortened(name)}; there are {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]


def _work_in(folder: str | os.PathLike[str] | None, work: Work, task: Task) -> list[Record]:
    """Work on a task, perhaps in another process, with the datasets' files from this folder."""
    with data_from(folder):
        return work(task)
