"""Pictures of the records of an experiment: a panel for each graph, with curves or bars."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nx_fastonl.experiments.adaptive import MOST_FREQUENT
from nx_fastonl.experiments.base import Experiment
from nx_fastonl.experiments.few_labels import OURS
from nx_fastonl.experiments.graphs import graph_name
from nx_fastonl.plotting.curves import plot_bands
from nx_fastonl.plotting.save import save_figure
from nx_fastonl.plotting.style import COLOURS, LINE_COLOURS, line_style, literal

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

PANELS_PER_ROW = 3


def draw_experiment(experiment: Experiment, frame: pd.DataFrame, path: Path) -> None:
    """Draw a panel for each graph, and write the picture to a file."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install matplotlib") from error
    graphs = list(dict.fromkeys(frame["graph"]))
    columns = min(len(graphs), PANELS_PER_ROW)
    rows = -(-len(graphs) // columns)
    figure = Figure(figsize=(4.5 * columns, 3.4 * rows), layout="constrained")
    for i, graph in enumerate(graphs):
        ax = figure.add_subplot(rows, columns, i + 1)
        experiment.picture(frame[frame["graph"] == graph], frame, ax)
        ax.set_title(literal(graph_name(graph)))
    save_figure(figure, path)


def draw_bands(
    records: pd.DataFrame, all_records: pd.DataFrame, ax: Axes, x: str, y: str, by: str, logarithmic: bool = False
) -> None:
    """A curve with a band over trials for each value of `by`."""
    plot_bands(records[np.isfinite(records[y])], x, y, by, ax, order=list(all_records[by].unique()))
    if logarithmic:
        ax.set_xscale("log")
        ax.set_yscale("log")
    if y == "error_rate":
        ax.set_ylim(0.0, 1.0)  # a band may reach above 1, a rate cannot


def draw_bars(records: pd.DataFrame, all_records: pd.DataFrame, ax: Axes, y: str, logarithmic: bool = False) -> None:
    """A bar for each method, with a whisker of one standard deviation over trials."""
    groups = records.groupby("method", sort=False)[y]
    means, deviations = groups.mean(), groups.std().fillna(0.0)
    colours = dict(zip(all_records["method"].unique(), cycle(LINE_COLOURS), strict=False))
    ax.barh(list(means.index), means, xerr=deviations, color=[colours[method] for method in means.index])
    ax.invert_yaxis()
    if logarithmic:
        ax.set_xscale("log")
        ax.xaxis.set_minor_formatter("")
    ax.set_xlabel(y)


def draw_hindsight(records: pd.DataFrame, _: pd.DataFrame, ax: Axes) -> None:
    """A dot for each kernel and smoothness, and for `fastonl` and the adaptive learner, where the best pair is 0."""
    means = records.groupby("method", sort=False)["accuracy"].mean().drop(MOST_FREQUENT)
    best = means.drop(["adaptive", "fastonl"]).max()
    lines = list(dict.fromkeys(_kernel(method) for method in means.index))
    for method, accuracy in means.items():
        line = lines.index(_kernel(str(method)))
        ax.plot(accuracy - best, line, "o", color=COLOURS[min(line, 2)], alpha=0.7, clip_on=False)
    ax.axvline(0.0, color="0.5", linestyle="--", linewidth=1.0)
    ax.set_yticks(range(len(lines)), lines)
    ax.invert_yaxis()
    ax.set_xlabel("accuracy - best kernel and smoothness")


def draw_rates(records: pd.DataFrame, _: pd.DataFrame, ax: Axes) -> None:
    """A line for each of our methods over the rates; peers are grey."""
    rates = list(records["rate"].unique())
    means = records.groupby(["rate", "method"], sort=False)["accuracy"].mean().unstack("method").loc[rates]
    peers = [method for method in means.columns if method not in OURS]
    for i, method in enumerate(peers):
        ax.plot(rates, means[method], color="0.7", marker=".", label="peers" if i == 0 else None)
    for i, method in enumerate(OURS):
        ax.plot(rates, means[method], label=method, **line_style(i, len(rates)))
    ax.set_ylabel("accuracy")
    ax.legend()


def _kernel(method: str) -> str:
    """The kernel of a pair; any other method is a line of its own."""
    return method.partition(" at ")[0]
