"""Pictures: curves with bands, labelled graphs, and personalised PageRank around a node. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from nx_fastonl._checks import check_mapping
from nx_fastonl._labels import PlainLabels
from nx_fastonl.graph import as_csr_graph
from nx_fastonl.pagerank import personalized_pagerank_local
from nx_fastonl.sequence import LabelSequence

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["plot_bands", "plot_error_curves", "plot_labels", "plot_pagerank"]

Band = Literal["std", "range"]
Positions = Mapping[Any, Any]

# Okabe and Ito's colours. Yellow is too pale for a line, and black is what marks a mistake on a node.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9")
LINE_COLOURS = (*COLOURS, "#000000")
NODE_COLOURS = (*COLOURS, "#F0E442")
# Their numbers have no common divisor with that of the colours: as many pairs as possible before one comes again.
LINE_STYLES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "*")
UNLABELLED = "0.8"
EDGE_COLOUR = "0.5"
RIM: dict[str, Any] = {"edgecolors": "0.3", "linewidths": 0.5, "zorder": 2}
RING = "#D55E00"
# How bright red, green and blue look.
LUMINANCE = np.array([0.299, 0.587, 0.114])

# The ratio of the largest to the smallest x from which a logarithmic axis shows more.
LOG_RATIO = 50
# Up to how many points of a line each get a marker.
MARKED_POINTS = 15
CURVE_POINTS = 200
NAMED_NODES = 60


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
    """Draw the mean of `y` over trials against `x`, with a band for its spread, for each value of `by`.

    Colours, line styles and markers all differ, so that it can be read in grey. The x axis is logarithmic if all of
    `x` is positive and the largest is more than 50 times the smallest.

    Parameters
    ----------
    frame : pandas.DataFrame
        A row for each trial and `x`. Rows where `x`, `y` or `by` is missing are left out.
    x, y, by : str
        Three columns. The first two hold numbers; the last says which line a row belongs to.
    ax : matplotlib Axes, optional
        Where to draw, by default the current axes.
    band : {"std", "range"} or None, default "std"
        One (sample) standard deviation either side of the mean, from the least to the largest, or no band.
    order : sequence, optional
        Values of `by`, of which each has the same colour and style in every picture that is drawn with this order. By
        default that in which they first appear.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    TypeError
        If `x` or `y` does not hold numbers.
    ValueError
        If a column is missing or named twice, there are no rows, `band` is not known, or `order` lacks a value.
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
    rows = _numbers(frame, x, y, by)
    places = {value: i for i, value in enumerate(rows[by].unique() if order is None else order)}
    for value in rows[by].unique():
        if value not in places:
            raise ValueError(f"order lacks {value!r}, which column {by!r} has; it holds {list(places)}")
    ax = _axes(ax, "plot_bands")
    if rows[x].min() > 0.0 and rows[x].max() / rows[x].min() > LOG_RATIO:
        ax.set_xscale("log")
    for value, line in rows.groupby(by, sort=False, observed=True):
        i = places[value]
        trials = line.groupby(x)[y]
        mean = trials.mean()
        ax.plot(mean.index, mean, label=str(value), **_line_style(i, len(mean)))
        if band is not None:
            low, high = _edges(trials, band)
            ax.fill_between(mean.index, low, high, color=LINE_COLOURS[i % len(LINE_COLOURS)], alpha=0.18, linewidth=0)
    ax.set_xlabel(_spaced(x))
    ax.set_ylabel(_spaced(y))
    ax.legend(title=_spaced(by), handlelength=3.0, fontsize="small")
    return ax


def plot_error_curves(
    sequences: LabelSequence | Mapping[str, LabelSequence | Sequence[LabelSequence]], ax: Axes | None = None
) -> Axes:
    """Draw the error rate so far against the number of nodes seen, for each learner. Needs pandas.

    Of several trials, the mean is drawn with a band of one standard deviation, of those trials that got so far. Long
    curves are thinned to about 200 points.

    Parameters
    ----------
    sequences : dict or LabelSequence
        ``{name: LabelSequence}``, or ``{name: list of LabelSequences}`` for several trials, not always of one length;
        or only one.
    ax : matplotlib Axes, optional
        Where to draw, by default the current axes.

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
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("plot_error_curves() needs pandas: pip install pandas") from error
    ax = _axes(ax, "plot_error_curves")
    ax.set_xscale("log")
    frame = pd.DataFrame(points, columns=["name", "nodes_seen", "error_rate"])
    plot_bands(frame, "nodes_seen", "error_rate", by="name", ax=ax)
    ax.legend(handlelength=3.0, fontsize="small")  # the names need no title
    ax.set_ylim(0.0, min(1.05, ax.get_ylim()[1]))  # a standard deviation may reach beyond what a rate can be
    return ax


def plot_labels(
    G: Any,
    labels: Mapping[Any, Any] | LabelSequence,
    truth: Mapping[Any, Any] | None = None,
    pos: Positions | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a graph of up to some hundreds of nodes, coloured by label, with a cross on every mistake.

    Parameters
    ----------
    G : nx.Graph, scipy sparse array or CSRGraph
        Drawn without directions.
    labels : dict or LabelSequence
        ``{node: label}``, or what `nx_fastonl.online_node_labeling` returned. Nodes without a label, or with None, are
        grey.
    truth : dict, optional
        The true labels, ``{node: label}``; those of the LabelSequence by default. A node in `labels` with None there
        is a mistake, as it is for a LabelSequence; a node not in `labels`, or without a true label, is not.
    pos : dict, optional
        ``{node: (x, y)}``, by default ``nx.spring_layout(G, seed=0)``.
    ax : matplotlib Axes, optional
        Where to draw, by default the current axes. The legend goes below.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    networkx.NodeNotFound
        If a node with a label, predicted or true, is not in the graph.
    networkx.NetworkXPointlessConcept
        If `G` has no nodes.
    networkx.NetworkXError
        If `pos` misses a node.
    TypeError
        If `G` is no graph, `labels` or `truth` no dict, or a label is not hashable.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import matplotlib.pyplot as plt
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> from nx_fastonl.plotting import plot_labels
    >>> G = nx.karate_club_graph()
    >>> _, ax = plt.subplots()
    >>> ax = plot_labels(G, fo.online_node_labeling(G, "club"), ax=ax)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['Mr. Hi', 'Officer', 'no label', 'mistake']
    >>> plt.close()
    """
    G = _as_networkx(G)
    if isinstance(labels, LabelSequence):
        truth = dict(zip(labels.nodes, labels.truth, strict=True)) if truth is None else truth
        labels = labels.to_dict()
    predicted = _plain_labels(G, labels, "labels")
    true = {} if truth is None else _plain_labels(G, truth, "truth")
    mistakes = [v for v, label in predicted.items() if true.get(v) is not None and label != true[v]]
    pos = _positions(G, pos)
    ax = _axes(ax, "plot_labels")
    area = float(np.clip(8_000 / len(G), 20.0, 130.0))

    _draw_edges(G, pos, ax)
    # True labels count too: then two learners on one graph get the same colours.
    for i, label in enumerate(_in_order({*predicted.values(), *true.values()} - {None})):
        nodes = [v for v in predicted if predicted[v] == label]
        _draw_nodes(nodes, pos, ax, str(label), s=area, **_node_style(i), **RIM)
    nodes = [v for v in G if predicted.get(v) is None]
    _draw_nodes(nodes, pos, ax, "no label", s=area, color=UNLABELLED, **RIM)
    # Its arms reach beyond the node, so that they are seen on a dark one.
    _draw_nodes(mistakes, pos, ax, "mistake", s=2.0 * area, color="black", marker="x", linewidths=1.2, zorder=3)
    _legend_below(ax)
    return ax


def plot_pagerank(
    G: Any, source: Hashable, alpha: float = 0.85, pos: Positions | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the personalised PageRank of a node, as area and colour of the nodes of a small graph.

    Parameters
    ----------
    G : nx.Graph, scipy sparse array or CSRGraph
        Directed or not; drawn without directions. Edge attributes "weight" count. Up to 60 nodes get their names.
    source : node
        Where the walks start: it is ringed.
    alpha : float, default 0.85
        The damping, between 0 and 1, as in ``nx.pagerank``.
    pos : dict, optional
        ``{node: (x, y)}``, by default ``nx.spring_layout(G, seed=0)``.
    ax : matplotlib Axes, optional
        Where to draw, by default the current axes. The colour bar takes some of their room.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    networkx.NodeNotFound
        If `source` is not in the graph.
    networkx.NetworkXPointlessConcept
        If `G` has no nodes.
    networkx.NetworkXError
        If `pos` misses a node.
    TypeError, ValueError
        If a parameter is of the wrong type, or `alpha` out of range.
    ImportError
        If matplotlib is not installed.

    See Also
    --------
    nx_fastonl.personalized_pagerank_local

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import matplotlib.pyplot as plt
    >>> import networkx as nx
    >>> from nx_fastonl.plotting import plot_pagerank
    >>> _, ax = plt.subplots()
    >>> ax = plot_pagerank(nx.karate_club_graph(), source=22, ax=ax)
    >>> len(ax.texts)
    34
    >>> plt.close()
    """
    G = _as_networkx(G)
    _check_nodes(G, [source], "source")
    pagerank = personalized_pagerank_local(G, alpha, {source: 1.0})
    pos = _positions(G, pos)
    ax = _axes(ax, "plot_pagerank")
    # Small nodes last: a large one would hide them.
    nodes = sorted(G, key=lambda v: pagerank.get(v, 0.0), reverse=True)
    values = np.array([pagerank.get(v, 0.0) for v in nodes])
    least, growth = (150.0, 700.0) if len(G) <= NAMED_NODES else (15.0, 250.0)
    areas = least + growth * values / values[0]
    # Its diameter is that of the node and a gap.
    ring = (areas[nodes.index(source)] ** 0.5 + 7.0) ** 2

    _draw_edges(G, pos, ax)
    drawn = ax.scatter(*_points(nodes, pos), areas, values, **_mass_style(values[0]))
    ax.scatter(*_points([source], pos), ring, "none", edgecolors=RING, linewidths=2.0, zorder=2)
    if len(G) <= NAMED_NODES:
        _write_names(nodes, pos, drawn.to_rgba(values), ax)
    ax.figure.colorbar(drawn, ax=ax, label=f"personalised PageRank from {source} (alpha = {float(alpha):g})")
    return ax


def _axes(ax: Axes | None, function: str) -> Axes:
    """What was passed, by default the current axes."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(f"{function}() needs matplotlib: pip install matplotlib") from error
    return plt.gca()


# Lines


def _numbers(frame: pd.DataFrame, x: str, y: str, by: str) -> pd.DataFrame:
    """The three columns, the first two as floats, without rows where something is missing."""
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


def _edges(trials: Any, band: Band) -> tuple[Any, Any]:
    if band == "range":
        return trials.min(), trials.max()
    mean, spread = trials.mean(), trials.std().fillna(0.0)  # one trial has no spread
    return mean - spread, mean + spread


def _line_style(i: int, points: int) -> dict[str, Any]:
    # A float spaces the markers along the line as it is drawn; other starts keep them off one another.
    every = 1 if points <= MARKED_POINTS else (0.02 * (i % 5), 0.1)
    return {
        "color": LINE_COLOURS[i % len(LINE_COLOURS)],
        "linestyle": LINE_STYLES[i % len(LINE_STYLES)],
        "marker": MARKERS[i % len(MARKERS)],
        "markevery": every,
        "markersize": 5.0,
    }


def _spaced(column: str) -> str:
    return str(column).replace("_", " ")


def _curve(name: str, trials: LabelSequence | Sequence[LabelSequence]) -> list[tuple[int, float]]:
    """The number of nodes seen and the error rate so far, for every trial of this name."""
    if isinstance(trials, LabelSequence) or not isinstance(trials, Iterable):
        trials = [trials]
    for trial in trials:
        if not isinstance(trial, LabelSequence):
            raise TypeError(f"sequences[{name!r}] must hold LabelSequences, got {trial!r}")
    lengths = {len(trial) for trial in trials if trial}
    if not lengths:
        raise ValueError(f"sequences[{name!r}] holds no predictions")
    shown = _thinned(max(lengths)) | lengths
    return [(seen, rate) for trial in trials for seen, rate in enumerate(trial.errors, start=1) if seen in shown]


def _thinned(longest: int) -> set[int]:
    """All numbers from 1 up to this, or about 200 of them, evenly spaced on a logarithmic axis."""
    if longest <= CURVE_POINTS:
        return set(range(1, longest + 1))
    return {round(seen) for seen in np.geomspace(1, longest, CURVE_POINTS)}


# Graphs


def _as_networkx(G: Any) -> nx.Graph[Any]:
    if not isinstance(G, nx.Graph):
        return as_csr_graph(G).to_networkx()
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("the graph has no nodes to draw")
    return G


def _check_nodes(G: nx.Graph[Any], nodes: Iterable[Any], name: str) -> None:
    for v in nodes:
        if v not in G:
            raise nx.NodeNotFound(f"{name}: node {v!r} is not in the graph")


def _plain_labels(G: nx.Graph[Any], labels: Mapping[Any, Any], name: str) -> dict[Any, Any]:
    """The labels as plain objects, None for one that is missing."""
    check_mapping(name, labels)
    nodes, found = [v for v, _ in labels.items()], [label for _, label in labels.items()]  # a pandas Series will do
    _check_nodes(G, nodes, name)
    return dict(zip(nodes, PlainLabels().of(nodes, found), strict=True))


def _in_order(labels: Iterable[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:  # of several types
        return sorted(labels, key=repr)


def _positions(G: nx.Graph[Any], pos: Positions | None) -> Positions:
    if pos is None:
        layout: Positions = nx.spring_layout(G, seed=0)
        return layout
    for v in G:
        if v not in pos:
            raise nx.NetworkXError(f"pos has no position of node {v!r}")
    return pos


def _points(nodes: Iterable[Any], pos: Positions) -> tuple[list[float], list[float]]:
    xs, ys = zip(*(pos[v] for v in nodes), strict=True)
    return list(xs), list(ys)


def _draw_edges(G: nx.Graph[Any], pos: Positions, ax: Axes) -> None:
    """Draw the edges, fainter where there are more than a thousand, or they would cover the picture."""
    alpha = 0.5 / max(1.0, G.number_of_edges() / 1000.0)
    nx.draw_networkx_edges(G, pos, ax=ax, arrows=False, width=0.5, edge_color=EDGE_COLOUR, alpha=alpha)
    ax.set_axis_off()


def _draw_nodes(nodes: Sequence[Any], pos: Positions, ax: Axes, label: str, **style: Any) -> None:
    """Draw nodes of one kind, if there are any: a kind without nodes stays out of the legend."""
    if nodes:
        ax.scatter(*_points(nodes, pos), label=label, **style)


def _node_style(i: int) -> dict[str, Any]:
    return {"color": NODE_COLOURS[i % len(NODE_COLOURS)], "marker": MARKERS[i % len(MARKERS)]}


def _mass_style(largest: float) -> dict[str, Any]:
    from matplotlib.colors import PowerNorm

    # Reversed, much is dark: that stands out on white paper. The square root tells small values apart.
    norm = PowerNorm(0.5, vmin=0.0, vmax=largest)
    return {"cmap": "viridis_r", "norm": norm, **RIM}


def _write_names(nodes: Sequence[Any], pos: Positions, colours: NDArray[np.float64], ax: Axes) -> None:
    from matplotlib.patheffects import withStroke

    for v, colour in zip(nodes, colours, strict=True):
        # The halo carries a name that is wider than its node.
        ink, halo = ("black", "white") if colour[:3] @ LUMINANCE > 0.35 else ("white", colour)
        style: dict[str, Any] = {"color": ink, "path_effects": [withStroke(linewidth=1.5, foreground=halo)]}
        ax.annotate(str(v), pos[v], ha="center", va="center", fontsize=7, parse_math=False, zorder=3, **style)


def _legend_below(ax: Axes) -> None:
    """A legend where the axis would be, out of the way of the nodes."""
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=5, frameon=False, handletextpad=0.2)
