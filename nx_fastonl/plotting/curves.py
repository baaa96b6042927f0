"""Curves over trials: means with bands, and error rates of label sequences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from nx_fastonl._lib.checks import shortened
from nx_fastonl._lib.optional import axes_or_empty, pandas_for
from nx_fastonl.labeling.sequence import LabelSequence
from nx_fastonl.plotting.style import LINE_COLOURS, line_style, literal
from nx_fastonl.push.sweep import SweepCut

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["plot_bands", "plot_error_curves", "plot_sweep"]

Band = Literal["std", "range"]

# If the largest x is more than this many times the smallest, the x axis is logarithmic.
LOG_RATIO = 50
# About how many points of a long error curve are drawn.
CURVE_POINTS = 200


def plot_bands(
    frame: pd.DataFrame,
    x: str,
    y: str,
    by: str,
    ax: Axes | None = None,
    *,
    band: Band | None = "std",
    order: Sequence[Any] | None = None,
) -> Axes:
    """Draw a line for each value of `by`: the mean of `y` over trials against `x`, with a band for the spread.

    Lines differ in colour, dashes and markers, so that the picture can be read in grey. The x axis is logarithmic if
    all of `x` is positive and the largest is more than 50 times the smallest.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per trial and `x`. Rows in which `x`, `y` or `by` is missing are left out.
    x, y, by : str
        The names of three columns. The first two hold numbers; the last says which line a row belongs to.
    ax : matplotlib Axes, optional
        Where to draw, by default the current axes, or a new figure if these hold a picture.
    band : {"std", "range"} or None, default "std"
        "std": from one standard deviation (of the sample) below the mean to one above; "range": from the smallest to
        the largest value; None: no band.
    order : sequence, optional
        The values of `by`, in the order that decides their colours and styles: pictures drawn with one order agree. By
        default the order in which they first appear.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    TypeError
        If `x` or `y` does not hold numbers.
    ValueError
        If a column is missing or named twice, there are no rows, `band` is unknown, or `order` lacks a value.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import matplotlib.pyplot as plt
    >>> import pandas as pd
    >>> from nx_fastonl.plotting import plot_bands
    >>> rows = [("push", 1, 0.5), ("push", 1, 0.7), ("push", 2, 0.8), ("exact", 1, 0.9), ("exact", 2, 1.0)]
    >>> frame = pd.DataFrame(rows, columns=["method", "labels_seen", "accuracy"])
    >>> _, ax = plt.subplots()
    >>> line, _ = plot_bands(frame, "labels_seen", "accuracy", by="method", ax=ax).lines
    >>> line.get_label(), line.get_ydata().tolist(), ax.get_xlabel()
    ('push', [0.6, 0.8], 'labels seen')
    >>> plt.close()
    """
    if band not in (*get_args(Band), None):
        raise ValueError(f'band must be "std", "range" or None, got {band!r}')
    rows = _complete_rows(frame, x, y, by)
    numbers = {value: i for i, value in enumerate(rows[by].unique() if order is None else order)}
    for value in rows[by].unique():
        if value not in numbers:
            raise ValueError(f"order lacks {value!r}, which column {by!r} has; it holds {list(numbers)}")
    ax = axes_or_empty(ax, "plot_bands")
    if rows[x].min() > 0.0 and rows[x].max() / rows[x].min() > LOG_RATIO:
        ax.set_xscale("log")
    lines = np.array([numbers[value] for value in rows[by]])
    for value in rows[by].unique():
        i = numbers[value]
        trials = rows[lines == i].groupby(x)[y]
        mean = trials.mean()
        ax.plot(mean.index, mean, label=literal(value), **line_style(i, len(mean)))
        if band is not None:
            low, high = _band_edges(trials, band)
            ax.fill_between(mean.index, low, high, color=LINE_COLOURS[i % len(LINE_COLOURS)], alpha=0.18, linewidth=0)
    ax.set_xlabel(_spaced(x))
    ax.set_ylabel(_spaced(y))
    ax.legend(title=_spaced(by), handlelength=3.0, fontsize="small")
    return ax


def plot_error_curves(
    sequences: LabelSequence | Mapping[str, LabelSequence | Sequence[LabelSequence]], ax: Axes | None = None
) -> Axes:
    """Draw the error rate so far against the number of nodes seen, for each learner. Needs pandas.

    Several trials are drawn as their mean, with a band of one standard deviation; a trial counts as far as it goes.
    About 200 points of a long curve are drawn.

    Parameters
    ----------
    sequences : dict or LabelSequence
        ``{name: LabelSequence}``, or ``{name: list of LabelSequences}`` for several trials, which may differ in length;
        or a single LabelSequence.
    ax : matplotlib Axes, optional
        Where to draw, by default the current axes, or a new figure if these hold a picture.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    TypeError
        If something is not a `nx_fastonl.LabelSequence`.
    ValueError
        If there are no sequences, or a name has no predictions.
    ImportError
        If pandas or matplotlib is not installed.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import matplotlib.pyplot as plt
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> from nx_fastonl.plotting import plot_error_curves
    >>> G = nx.karate_club_graph()
    >>> methods = ["fastonl-fifo", "relaxation"]
    >>> _, ax = plt.subplots()
    >>> ax = plot_error_curves({name: fo.online_node_labeling(G, "club", method=name) for name in methods}, ax)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('nodes seen', 'error rate')
    >>> plt.close()
    """
    if isinstance(sequences, LabelSequence):
        sequences = {"predictions": sequences}
    if not isinstance(sequences, Mapping):
        raise TypeError(f"sequences must be a LabelSequence or a dict {{name: LabelSequence}}, got {sequences!r}")
    if not sequences:
        raise ValueError("sequences is empty; it must hold a LabelSequence for each name")
    points = [(name, *point) for name, trials in sequences.items() for point in _curve(name, trials)]
    pd = pandas_for("plot_error_curves")
    ax = axes_or_empty(ax, "plot_error_curves")
    ax.set_xscale("log")
    frame = pd.DataFrame(points, columns=["name", "nodes_seen", "error_rate"], dtype=object)
    plot_bands(frame, "nodes_seen", "error_rate", by="name", ax=ax)
    ax.legend(handlelength=3.0, fontsize="small")  # the names need no title
    ax.set_ylim(0.0, min(1.05, ax.get_ylim()[1]))  # a band may reach above 1, a rate cannot
    return ax


def plot_sweep(found: SweepCut, ax: Axes | None = None) -> Axes:
    """Draw the conductance of each prefix of a sweep against its number of nodes, with a dot on the set found.

    A deep and narrow valley is a clear community. If the curve keeps falling to its end, the community may be larger
    than what the sweep saw. The x axis is logarithmic if there are more than 50 nodes.

    Parameters
    ----------
    found : SweepCut or LocalCommunity
        The result of `nx_fastonl.sweep_cut` or `nx_fastonl.local_community`.
    ax : matplotlib Axes, optional
        Where to draw, by default the current axes, or a new figure if these hold a picture.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    TypeError
        If `found` is something else.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import matplotlib.pyplot as plt
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> _, ax = plt.subplots()
    >>> ax = fo.plotting.plot_sweep(fo.local_community(nx.karate_club_graph(), 33), ax)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('nodes', 'conductance')
    >>> plt.close()
    """
    if not isinstance(found, SweepCut):
        raise TypeError(f"found must be what sweep_cut or local_community returns, got {shortened(found)}")
    ax = axes_or_empty(ax, "plot_sweep")
    conductance, size = found.profile.conductance, len(found.nodes)
    if len(conductance) > LOG_RATIO:
        ax.set_xscale("log")
    ax.plot(np.arange(1, len(conductance) + 1), conductance, color=LINE_COLOURS[0], label="each prefix")
    ax.plot(size, found.conductance, "o", color="black", label=f"lowest: {size:,} nodes")
    ax.set(xlabel="nodes", ylabel="conductance", ylim=(0.0, 1.05))
    ax.legend(fontsize="small")
    return ax


def _complete_rows(frame: pd.DataFrame, x: str, y: str, by: str) -> pd.DataFrame:
    """The three columns, the first two as floats, without the rows that lack a value."""
    for name in (x, y, by):
        if name not in frame.columns:
            raise ValueError(f"the frame has no column {name!r}; it has {list(frame.columns)}")
    if len({x, y, by}) < 3:
        raise ValueError(f"x, y and by must be three columns, got {x!r}, {y!r} and {by!r}")
    rows = frame[[x, y, by]].dropna()
    if rows.empty:
        raise ValueError(f"the frame has no rows with {x!r}, {y!r} and {by!r}")
    for name in (x, y):
        try:
            rows[name] = rows[name].astype(float)
        except (TypeError, ValueError):
            raise TypeError(f"column {name!r} must hold numbers, got {rows[name].iloc[0]!r}") from None
    return rows


def _band_edges(trials: Any, band: Band) -> tuple[Any, Any]:
    if band == "range":
        return trials.min(), trials.max()
    mean, spread = trials.mean(), trials.std().fillna(0.0)  # one trial has no spread
    return mean - spread, mean + spread


def _spaced(column: str) -> str:
    return literal(str(column).replace("_", " "))


def _curve(name: str, trials: LabelSequence | Sequence[LabelSequence]) -> list[tuple[int, float]]:
    """Points of the error curves of all trials of this name: the number of nodes seen, the error rate so far."""
    if isinstance(trials, LabelSequence) or not isinstance(trials, Iterable):
        trials = [trials]
    trials = list(trials)
    for trial in trials:
        if not isinstance(trial, LabelSequence):
            raise TypeError(f"sequences[{name!r}] must hold LabelSequences, got {trial!r}")
    lengths = {len(trial) for trial in trials if trial}
    if not lengths:
        raise ValueError(f"sequences[{name!r}] holds no predictions")
    shown = _thinned(max(lengths)) | lengths
    return [(seen, rate) for trial in trials for seen, rate in enumerate(trial.error_curve, start=1) if seen in shown]


def _thinned(longest: int) -> set[int]:
    """The numbers from 1 to `longest`; of many, about 200 that are evenly spaced on a logarithmic axis."""
    if longest <= CURVE_POINTS:
        return set(range(1, longest + 1))
    return {round(seen) for seen in np.geomspace(1, longest, CURVE_POINTS)}
