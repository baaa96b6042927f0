"""Small graphs, drawn with their labels or with the personalised PageRank of a node."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.checks import Unknown, check_unknown
from nx_fastonl._lib.optional import axes_or_empty
from nx_fastonl._lib.plain import is_missing
from nx_fastonl.graph.convert import as_csr_graph
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.graph.names import missing_node
from nx_fastonl.labeling.labels import Labels, PlainLabels, label_stream, read_attribute, unknown_nodes
from nx_fastonl.labeling.sequence import LabelSequence
from nx_fastonl.plotting.layout import grid_layout
from nx_fastonl.plotting.style import EDGE_COLOUR, LUMINANCE, RIM, RING, UNLABELLED, dot_style, literal, node_style
from nx_fastonl.push.pagerank import personalized_pagerank_local

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_labels", "plot_pagerank"]

Positions = Mapping[Any, Any]

# Graphs with at most this many nodes get the names of their nodes in a picture of PageRank.
NAMED_NODES = 60
# Markers of the legend are at least this large. Nodes below it are dots: they differ in colour rather than in shape.
LEGEND_AREA = 20.0
# With more edges than this, each is drawn fainter.
CLEAR_EDGES = 1000
# The time of ``nx.spring_layout`` grows with the square of the number of nodes. Above this, a grid is used.
MAX_SPRING_NODES = 500
# With more nodes or edges, a picture shows little, and takes more than some seconds.
MAX_LAYOUT_NODES, MAX_LAYOUT_EDGES = 20_000, 200_000
# A legend names no more kinds of nodes than this.
MAX_NAMED_KINDS = 25


def plot_labels(
    G: Any,
    labels: Labels | LabelSequence,
    truth: Labels | None = None,
    pos: Positions | None = None,
    ax: Axes | None = None,
    *,
    with_labels: bool = False,
    unknown: Unknown = "error",
) -> Axes:
    """Draw a graph with its nodes coloured by label, and a cross on every mistake.

    Single nodes can be told apart up to some hundreds of them, groups of nodes up to some thousands. Above 400 nodes,
    they are dots of up to 20 colours. Below, labels differ in shape too.

    Parameters
    ----------
    G : nx.Graph, scipy sparse array or CSRGraph
        Directions of edges are not drawn.
    labels : dict, iterable of pairs, table, array, str or LabelSequence
        Labels as `nx_fastonl.online_node_labeling` takes them, or what that has returned. Nodes without a label, or
        with None, are grey.
    truth : dict, iterable of pairs, table, array or str, optional
        The true labels, in the same forms; by default those of the LabelSequence. Where `labels` has None for a node
        with a true label, that is a mistake, as in a LabelSequence. A node that is not in `labels`, or that has no true
        label, is never a mistake.
    pos : dict, optional
        ``{node: (x, y)}``, by default ``nx.spring_layout(G, seed=0)``. With more than 500 nodes, where this would take
        long, a layout by the same forces, in which nodes repel each other by way of a grid. It shows groups that have
        few edges between them. A large graph with long distances, such as a map, comes out folded: pass its places.
    ax : matplotlib Axes, optional
        Where to draw, by default the current axes, or a new figure if these hold a picture. The legend goes below.
    with_labels : bool, default False
        Whether to write the names of the nodes, as in ``nx.draw``.
    unknown : {"error", "skip"}, default "error"
        What to do with labels of nodes that are not in the graph.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    networkx.NodeNotFound
        If nodes with a label, predicted or true, are not in the graph and `unknown` is ``"error"``.
    networkx.NetworkXPointlessConcept
        If `G` has no nodes.
    networkx.NetworkXError
        If `pos` lacks a node.
    ValueError
        If there are more than 20,000 nodes or 200,000 edges, and no `pos`. If `unknown` is ``"skip"``, and nodes came,
        but none that is in the graph.
    TypeError
        If `G` is not a graph, `labels` or `truth` holds no labels, or a label is not hashable.
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
    G = _as_networkx(G, pos)
    if isinstance(labels, LabelSequence):
        truth = dict(zip(labels.nodes, labels.truth, strict=True)) if truth is None else truth
        labels = labels.to_dict()
    predicted = _plain_labels(G, labels, unknown)
    true = {} if truth is None else _plain_labels(G, truth, unknown)
    mistakes = [v for v, label in predicted.items() if true.get(v) is not None and label != true[v]]
    pos = _positions(G, pos)
    ax = axes_or_empty(ax, "plot_labels")
    area = float(np.clip(8_000 / len(G), 5.0, 130.0))
    are_dots = area < LEGEND_AREA
    style_of = dot_style if are_dots else node_style
    # The rim of a small node would cover its colour.
    rim = {**RIM, "edgecolors": "none", "linewidths": 0.0} if are_dots else RIM

    _draw_edges(G, pos, ax)
    colours: dict[Any, str] = dict.fromkeys(G, UNLABELLED)
    # Labels that are only true, never predicted, count too: so the pictures of two learners have the same colours.
    for i, label in enumerate(_in_order({*predicted.values(), *true.values()} - {None})):
        nodes = [v for v in predicted if predicted[v] == label]
        style = style_of(i)
        colours.update(dict.fromkeys(nodes, style["color"]))
        _draw_nodes(nodes, pos, ax, literal(label), s=area, **style, **rim)
    nodes = [v for v in G if predicted.get(v) is None]
    _draw_nodes(nodes, pos, ax, "no label", s=area, color=UNLABELLED, **rim)
    # The cross is larger than the node, so that it can be seen on a dark one.
    _draw_nodes(mistakes, pos, ax, "mistake", s=2.0 * area, color="black", marker="x", linewidths=1.2, zorder=3)
    if with_labels:
        _write_names(list(G), pos, [colours[v] for v in G], ax)
    _legend_below(ax, max(1.0, (LEGEND_AREA / area) ** 0.5))
    return ax


def plot_pagerank(
    G: Any, source: Hashable, alpha: float = 0.85, pos: Positions | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a small graph whose nodes show the personalised PageRank of one node by their area and colour.

    Parameters
    ----------
    G : nx.Graph, scipy sparse array or CSRGraph
        Directed or undirected; directions are not drawn. The edge attribute "weight" is used. With up to 60 nodes,
        their names are shown.
    source : node
        The node at which the random walks start. It is drawn with a ring around it.
    alpha : float, default 0.85
        The damping, between 0 and 1, as in ``nx.pagerank``.
    pos : dict, optional
        ``{node: (x, y)}``, by default ``nx.spring_layout(G, seed=0)``. With more than 500 nodes, where this would take
        long, a layout by the same forces, in which nodes repel each other by way of a grid.
    ax : matplotlib Axes, optional
        Where to draw, by default the current axes, or a new figure if these hold a picture. The colour bar takes
        some of their space.

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
        If `pos` lacks a node.
    ValueError
        If there are more than 20,000 nodes or 200,000 edges, and no `pos`.
    TypeError, ValueError
        If a parameter has the wrong type, or `alpha` is out of range.
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
    G = _as_networkx(G, pos)
    if source not in G:
        raise nx.NodeNotFound(f"source: {missing_node(source, G)}")
    pagerank = personalized_pagerank_local(G, alpha, {source: 1.0})
    pos = _positions(G, pos)
    ax = axes_or_empty(ax, "plot_pagerank")
    # Small nodes are drawn last: a large one would hide them.
    nodes = sorted(G, key=lambda v: pagerank.get(v, 0.0), reverse=True)
    values = np.array([pagerank.get(v, 0.0) for v in nodes])
    least, growth = (150.0, 700.0) if len(G) <= NAMED_NODES else (15.0, 250.0)
    areas = least + growth * values / values[0]
    # Areas are squares of diameters: the ring is 7 points wider than the node.
    ring = (areas[nodes.index(source)] ** 0.5 + 7.0) ** 2

    _draw_edges(G, pos, ax)
    drawn = ax.scatter(*_points(nodes, pos), areas, values, **_mass_style(values[0]))
    ax.scatter(*_points([source], pos), ring, "none", edgecolors=RING, linewidths=2.0, zorder=2)
    if len(G) <= NAMED_NODES:
        _write_names(nodes, pos, drawn.to_rgba(values), ax)
    ax.figure.colorbar(drawn, ax=ax, label=f"personalised PageRank from {literal(source)} (alpha = {float(alpha):g})")
    return ax


def _as_networkx(G: Any, pos: Positions | None) -> nx.Graph[Any]:
    """The graph to draw. One that is too large for a layout is refused before it is converted."""
    if not isinstance(G, nx.Graph):
        graph = as_csr_graph(G)
        if pos is None:
            _check_size(graph)
        return graph.to_networkx()
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("the graph has no nodes to draw")
    return G


def _plain_labels(G: nx.Graph[Any], labels: Labels, unknown: Unknown) -> dict[Any, Any]:
    """The labels as plain Python objects, None where one is missing."""
    check_unknown(unknown)
    graph = as_csr_graph(G, None)
    pairs = list(label_stream(read_attribute(G, labels), graph)[0])
    labelled = [pair for pair in pairs if not is_missing(pair[1])]
    unknown_nodes(labelled, graph, unknown, can_grow=False)  # raises, unless they are skipped
    nodes, found = [node for node, _ in pairs if node in G], [label for node, label in pairs if node in G]
    return dict(zip(nodes, PlainLabels().of(nodes, found), strict=True))


def _in_order(labels: Iterable[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:  # labels of several types
        return sorted(labels, key=repr)


def _positions(G: nx.Graph[Any], pos: Positions | None) -> Positions:
    if pos is None:
        _check_size(G)
        if len(G) > MAX_SPRING_NODES:
            return grid_layout(G)
        layout: Positions = nx.spring_layout(G, seed=0)
        return layout
    for v in G:
        if v not in pos:
            raise nx.NetworkXError(f"pos has no position for node {v!r}")
    return pos


def _check_size(G: nx.Graph[Any] | CSRGraph) -> None:
    if len(G) > MAX_LAYOUT_NODES or G.number_of_edges() > MAX_LAYOUT_EDGES:
        raise ValueError(
            f"a layout of {len(G):,} nodes and {G.number_of_edges():,} edges would take long, and show little; "
            f"pass an nx.Graph with up to {MAX_LAYOUT_NODES:,} nodes and {MAX_LAYOUT_EDGES:,} edges, such as "
            "G.subgraph(nodes) with those around a few nodes, or positions as pos=. CSRGraph.to_networkx makes an "
            "nx.Graph"
        )


def _points(nodes: Iterable[Any], pos: Positions) -> tuple[list[float], list[float]]:
    xs, ys = zip(*(pos[v] for v in nodes), strict=True)
    return list(xs), list(ys)


def _draw_edges(G: nx.Graph[Any], pos: Positions, ax: Axes) -> None:
    """Draw the edges, fainter the more there are: otherwise they would cover the picture."""
    alpha = 0.5 / max(1.0, G.number_of_edges() / CLEAR_EDGES)
    nx.draw_networkx_edges(G, pos, ax=ax, arrows=False, width=0.5, edge_color=EDGE_COLOUR, alpha=alpha)
    ax.set_axis_off()


def _draw_nodes(nodes: Sequence[Any], pos: Positions, ax: Axes, label: str, **style: Any) -> None:
    """Draw the nodes of one kind. A kind without nodes does not appear in the legend."""
    if nodes:
        ax.scatter(*_points(nodes, pos), label=label, **style)


def _mass_style(largest: float) -> dict[str, Any]:
    from matplotlib.colors import PowerNorm

    # In the reversed map large values are dark, which stands out on white. The square root separates small values.
    norm = PowerNorm(0.5, vmin=0.0, vmax=largest)
    return {"cmap": "viridis_r", "norm": norm, **RIM}


def _write_names(nodes: Sequence[Any], pos: Positions, colours: Sequence[str] | NDArray[np.float64], ax: Axes) -> None:
    """Write the names of nodes that have these colours."""
    from matplotlib.colors import to_rgba_array
    from matplotlib.patheffects import withStroke

    for v, colour in zip(nodes, to_rgba_array(colours), strict=True):
        # The halo keeps a name readable that is wider than its node.
        ink, halo = ("black", "white") if colour[:3] @ LUMINANCE > 0.35 else ("white", colour)
        style: dict[str, Any] = {"color": ink, "path_effects": [withStroke(linewidth=1.5, foreground=halo)]}
        ax.annotate(literal(v), pos[v], ha="center", va="center", fontsize=7, zorder=3, **style)


def _legend_below(ax: Axes, scale: float) -> None:
    """Put the legend below the nodes, where the x axis would be, with markers so many times as wide as nodes.

    Of many kinds of nodes, the first are named, and the last two: nodes without a label and mistakes, if there are any.
    """
    handles, names = ax.get_legend_handles_labels()
    if len(names) > MAX_NAMED_KINDS:
        left_out = slice(MAX_NAMED_KINDS - 3, -2)
        handles[left_out], names[left_out] = [handles[left_out.start]], [f"{len(names[left_out])} more labels"]
    ax.legend(
        handles,
        names,
        markerscale=scale,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.02),
        ncols=5,
        frameon=False,
        handletextpad=0.2,
    )
