import re
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose

import nx_fastonl as fo
from nx_fastonl.plotting import plot_labels, plot_pagerank
from nx_fastonl.plotting.style import DOT_COLOURS, UNLABELLED
from tests.plotting.helpers import legend_texts

pd = pytest.importorskip("pandas")
plt = pytest.importorskip("matplotlib.pyplot")

from matplotlib.collections import LineCollection  # noqa: E402  after the check that matplotlib is there
from matplotlib.colors import to_hex, to_rgba_array  # noqa: E402


def drawn(ax, label):
    """Where nodes of this kind were drawn, as a set of points."""
    found = [kind for kind in ax.collections if kind.get_label() == label]
    return {tuple(point) for kind in found for point in np.asarray(kind.get_offsets()).tolist()}


def points(pos, nodes):
    return {tuple(map(float, pos[v])) for v in nodes}


# Labels


@pytest.fixture
def pos(karate):
    return nx.circular_layout(karate)


def test_every_label_has_its_nodes(ax, karate, pos):
    labels = {v: karate.nodes[v]["club"] for v in karate if v % 5}
    assert plot_labels(karate, labels, pos=pos, ax=ax) is ax
    for club in ("Mr. Hi", "Officer"):
        assert drawn(ax, club) == points(pos, [v for v in labels if labels[v] == club])
    assert drawn(ax, "no label") == points(pos, range(0, 34, 5))
    assert legend_texts(ax) == ["Mr. Hi", "Officer", "no label"]


def test_crosses_are_the_mistakes(ax, karate, pos):
    seq = fo.online_node_labeling(karate, "club")
    plot_labels(karate, seq, pos=pos, ax=ax)
    assert legend_texts(ax) == ["Mr. Hi", "Officer", "no label", "mistake"]
    wrong = [v for v, right in zip(seq.nodes, seq.correct, strict=True) if not right]
    assert drawn(ax, "mistake") == points(pos, wrong)
    assert len(wrong) == seq.mistakes > 1


def test_what_counts_as_a_mistake(ax):
    G, pos = nx.path_graph(6), {v: (v, 0) for v in range(6)}
    labels = {0: "a", 1: "a", 2: None, 3: float("nan"), 4: "a"}
    truth = {0: "a", 1: "b", 2: "b", 3: None, 5: "b"}  # 4 has no true label, 5 was not predicted
    plot_labels(G, labels, truth, pos, ax)
    assert drawn(ax, "mistake") == points(pos, [1, 2])
    assert drawn(ax, "no label") == points(pos, [2, 3, 5])


def test_truth_that_is_passed_replaces_that_of_the_sequence(ax, karate):
    seq = fo.online_node_labeling(karate, "club")
    plot_labels(karate, seq, truth={}, ax=ax)
    assert "mistake" not in legend_texts(ax)


def test_labels_differ_in_colour_and_in_shape(ax):
    G = nx.empty_graph(30)
    plot_labels(G, {v: v for v in G}, ax=ax)
    kinds = [kind for kind in ax.collections if kind.get_label() in set(map(str, G))]
    looks = [(to_hex(kind.get_facecolor()[0]), kind.get_paths()[0].vertices.tobytes()) for kind in kinds]
    assert [kind.get_label() for kind in kinds] == list(map(str, G))  # numbers in their order, not as text
    assert len({colour for colour, _ in looks[:7]}) == 7
    assert len(set(looks)) == 30
    assert all(look != other for (_, look), (_, other) in pairwise(looks))
    assert "#000000" not in {colour for colour, _ in looks}  # a cross is black


def test_labels_of_a_large_graph_differ_in_colour_without_rims(ax):
    G = nx.empty_graph(500)
    plot_labels(G, {v: v % 24 for v in range(480)}, pos=nx.circular_layout(G), ax=ax)
    kinds = [kind for kind in ax.collections if kind.get_label() in {*map(str, range(24)), "no label"}]
    assert len(kinds) == 25
    assert {float(kind.get_linewidths()[0]) for kind in kinds} == {0.0}
    looks = [(to_hex(kind.get_facecolor()[0]), kind.get_paths()[0].vertices.tobytes()) for kind in kinds]
    assert len({colour for colour, _ in [*looks[:20], looks[-1]]}) == 21
    assert len({shape for _, shape in looks[:20]}) == 1
    assert len(set(looks)) == 25


def test_colours_of_dots_are_far_apart():
    """By distances in CIELAB, where 2 can just be seen, from each other and from white, grey and black."""
    colours = cielab([*DOT_COLOURS, "white", UNLABELLED, "black"])
    for i in range(len(DOT_COLOURS)):
        assert np.linalg.norm(colours[i] - colours[i + 1 :], axis=1).min() > 25.0, DOT_COLOURS[i]


def cielab(colours):
    rgb = to_rgba_array(colours)[:, :3]
    linear = np.where(rgb > 0.04045, ((rgb + 0.055) / 1.055) ** 2.4, rgb / 12.92)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.asarray(to_xyz) @ linear.T / np.array([[0.9505], [1.0], [1.089]])
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16.0 / 116.0)
    return np.column_stack([116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)])


def test_a_label_has_the_same_colour_whether_it_is_predicted_or_only_true():
    G = nx.path_graph(3)
    truth = {0: "a", 1: "b", 2: "c"}
    colours = []
    for labels in (truth, {0: "c", 1: "c", 2: "c"}):
        _, ax = plt.subplots()
        plot_labels(G, labels, truth, ax=ax)
        (kind,) = [kind for kind in ax.collections if kind.get_label() == "c"]
        colours.append(to_hex(kind.get_facecolor()[0]))
    assert colours[0] == colours[1]


@pytest.mark.parametrize("with_labels", [False, True])
def test_names_of_nodes_on_request(ax, with_labels):
    G = nx.path_graph(["$a$", "<b>", 3])
    plot_labels(G, {"$a$": "x", 3: "y"}, ax=ax, with_labels=with_labels)
    assert [text.get_text() for text in ax.texts] == ([r"\$a\$", "<b>", "3"] if with_labels else [])
    # Ink that can be read on the colour of its node: dark on light grey, white on dark blue.
    assert [text.get_color() for text in ax.texts] == (["white", "black", "black"] if with_labels else [])


@pytest.mark.parametrize("limit", ["MAX_LAYOUT_NODES", "MAX_LAYOUT_EDGES"])
def test_graphs_that_are_too_large_are_refused_with_advice(ax, monkeypatch, limit):
    monkeypatch.setattr(f"nx_fastonl.plotting.graphs.{limit}", 3)
    G = nx.complete_graph(4)
    message = r"a layout of 4 nodes and 6 edges .* pass an nx.Graph .* such as G.subgraph.* CSRGraph.to_networkx makes"
    for graph in (G, fo.CSRGraph.from_networkx(G)):
        with pytest.raises(ValueError, match=message):
            plot_labels(graph, {}, ax=ax)
    plot_labels(G, {}, pos=nx.circular_layout(G), ax=ax)


def test_labels_of_several_types(ax):
    plot_labels(nx.path_graph(4), {0: "a", 1: 1, 2: np.int64(1), 3: np.str_("a")}, ax=ax)
    assert legend_texts(ax) == ["a", "1"]


def test_labels_in_a_series(ax, karate, pos):
    truth = pd.Series({v: karate.nodes[v]["club"] for v in karate})
    plot_labels(karate, truth.where(truth.index > 4, "Officer"), truth, pos, ax)
    assert drawn(ax, "mistake") == points(pos, range(5))


def test_labels_in_tables_and_columns(ax, karate, pos):
    clubs = dict(karate.nodes("club"))
    table = pd.DataFrame({"node": list(clubs), "label": list(clubs.values())})
    guesses = table["label"].where(table["node"] > 4, "Officer")
    plot_labels(karate, guesses, table, pos, ax)
    assert drawn(ax, "mistake") == points(pos, range(5))
    with pytest.raises(ValueError, match="index is without names of nodes, and it has 2 rows"):
        plot_labels(karate, pd.Series(["Officer", "Officer"]))


def test_default_layout_is_always_the_same(ax, karate):
    plot_labels(karate, dict.fromkeys(karate, "a"), ax=ax)
    assert drawn(ax, "a") == points(nx.spring_layout(karate, seed=0), karate)


@pytest.mark.parametrize(
    "G",
    [
        fo.CSRGraph.from_edges([0, 1], [1, 2], weights=[0.5, 2]),
        nx.to_scipy_sparse_array(nx.path_graph(3)),
        nx.DiGraph([(0, 1), (2, 1)]),
        nx.MultiGraph([(0, 1), (0, 1), (1, 2)]),
    ],
    ids=["CSRGraph", "scipy", "DiGraph", "MultiGraph"],
)
def test_kinds_of_graph(ax, G):
    pos = {v: (v, v % 2) for v in range(3)}
    plot_labels(G, {0: "a"}, pos=pos, ax=ax)
    segments = {tuple(map(tuple, line.tolist())) for line in ax.collections[0].get_segments()}
    assert {frozenset(line) for line in segments} == {frozenset({(0, 0), (1, 1)}), frozenset({(1, 1), (2, 0)})}
    assert drawn(ax, "no label") == points(pos, [1, 2])
    ax.clear()
    plot_pagerank(G, 0, pos=pos, ax=ax)
    assert len(ax.collections[1].get_offsets()) == 3


def test_many_edges_are_drawn_faintly(ax):
    darkness = {}
    for n in (10, 100):
        G = nx.complete_graph(n)
        plot_labels(G, dict.fromkeys(G, "a"), pos=nx.circular_layout(G), ax=ax)
        darkness[n] = next(c for c in ax.collections if isinstance(c, LineCollection)).get_alpha()
        ax.clear()
    assert darkness[10] == 0.5
    assert darkness[100] == pytest.approx(0.5 * 1000 / 4950)


@pytest.mark.parametrize(
    ("G", "lines"),
    [(nx.Graph([(0, 0), (0, 1)]), [[(0, 0), (1, 1)]]), (nx.empty_graph(2), [])],
    ids=["a self-loop", "no edges"],
)
def test_graphs_with_self_loops_or_without_edges(ax, G, lines):
    pos = {0: (0, 0), 1: (1, 1)}
    plot_labels(G, {0: "a"}, pos=pos, ax=ax)
    assert (drawn(ax, "a"), drawn(ax, "no label")) == ({(0, 0)}, {(1, 1)})
    collections = [collection for collection in ax.collections if isinstance(collection, LineCollection)]
    segments = [line.tolist() for collection in collections for line in collection.get_segments()]
    assert [[tuple(point) for point in line] for line in segments if line[0] != line[-1]] == lines


@pytest.mark.parametrize(
    ("G", "values"),
    [(nx.Graph([(0, 0)]), [1.0]), (nx.empty_graph(1), [1.0]), (nx.empty_graph(2), [1.0, 0.0])],
    ids=["a self-loop", "one node", "no edges"],
)
def test_walks_that_cannot_leave_their_source(ax, G, values):
    plot_pagerank(G, 0, pos={0: (0, 0), 1: (1, 1)}, ax=ax)
    (nodes,) = [collection for collection in ax.collections if collection.get_array() is not None]
    assert_allclose(nodes.get_array(), values, atol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"labels": {99: "a"}}, nx.NodeNotFound, "node 99 is not in the graph"),
        ({"labels": {}, "truth": {"x": "a"}}, nx.NodeNotFound, "node 'x' is not in the graph"),
        ({"labels": {}, "pos": {0: (0, 0)}}, nx.NetworkXError, "pos has no position for node 1"),
        ({"labels": "team"}, ValueError, "no node has the attribute 'team'"),
        ({"labels": {}, "truth": 7}, TypeError, "labels must be a dict, pairs (node, label), a table"),
        ({"labels": {3: ["a"]}}, TypeError, "a label must be hashable, got ['a'] for node 3"),
    ],
)
def test_bad_labels(karate, arguments, error, message):
    with pytest.raises(error, match=re.escape(message)):
        plot_labels(karate, **arguments)
    assert plt.get_fignums() == []


@pytest.mark.parametrize(
    ("G", "error", "message"),
    [(nx.Graph(), nx.NetworkXPointlessConcept, "no nodes"), ([(0, 1)], TypeError, "got list")],
)
def test_bad_graphs(G, error, message):
    with pytest.raises(error, match=message):
        plot_labels(G, {})
    assert plt.get_fignums() == []


# PageRank


@pytest.mark.parametrize("alpha", [0.5, 0.85])
def test_area_and_colour_grow_with_pagerank(ax, karate, pos, alpha):
    assert plot_pagerank(karate, 22, alpha, pos, ax) is ax
    expected = nx.pagerank(karate, alpha, personalization={22: 1}, tol=1e-12)
    nodes = ax.collections[1]
    at = {tuple(map(float, point)): v for v, point in pos.items()}
    order = [at[tuple(point)] for point in np.asarray(nodes.get_offsets()).tolist()]
    values = np.array([expected[v] for v in order])
    assert_allclose(nodes.get_array(), values, atol=2e-5)  # epsilon = 1e-6 times 17 neighbours
    areas = nodes.get_sizes()
    assert_allclose((areas - areas.min()) / np.ptp(areas), (values - values.min()) / np.ptp(values), atol=1e-3)
    assert (np.diff(areas) <= 0).all()  # small nodes are drawn last
    assert nodes.get_clim() == (0.0, nodes.get_array().max())


def test_source_is_ringed(ax, karate, pos):
    plot_pagerank(karate, 22, pos=pos, ax=ax)
    _, nodes, ring = ax.collections
    assert ring.get_offsets().tolist() == [list(pos[22])]
    assert ring.get_sizes()[0] > nodes.get_sizes()[nodes.get_offsets().tolist().index(list(pos[22]))]
    assert len(ring.get_facecolor()) == 0


def test_colour_bar_says_what_is_shown(ax, karate):
    plot_pagerank(karate, 22, ax=ax)
    _, bar = ax.figure.axes
    assert bar.get_ylabel() == "personalised PageRank from 22 (alpha = 0.85)"


@pytest.mark.parametrize(("n", "names"), [(60, 60), (61, 0)])
def test_small_graphs_get_names(ax, n, names):
    G = nx.relabel_nodes(nx.cycle_graph(n), lambda v: f"${v}$")  # not a formula
    pos = nx.circular_layout(G)
    plot_pagerank(G, "$0$", pos=pos, ax=ax)
    places = {text.get_text().replace(r"\$", "$"): tuple(text.xy) for text in ax.texts}
    assert places == {v: tuple(pos[v]) for v in list(G)[:names]}
    assert len(ax.texts) == names


def test_nodes_out_of_reach_are_drawn(ax):
    plot_pagerank(nx.Graph([(0, 1), (2, 3)]), 0, ax=ax)
    assert sorted(ax.collections[1].get_array())[:2] == [0, 0]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"source": 99}, nx.NodeNotFound, "source: node 99 is not in the graph"),
        ({"source": [1, 2]}, nx.NodeNotFound, "source: node [1, 2] is not in the graph"),
        ({"source": 22, "alpha": 1.5}, ValueError, "alpha must lie strictly between 0 and 1"),
        ({"source": 22, "pos": {22: (0, 0)}}, nx.NetworkXError, "pos has no position for node 0"),
    ],
)
def test_bad_sources(karate, arguments, error, message):
    with pytest.raises(error, match=re.escape(message)):
        plot_pagerank(karate, **arguments)
    assert plt.get_fignums() == []


def test_labels_in_every_form(karate):
    clubs = nx.get_node_attributes(karate, "club")
    for labels in (clubs, "club", list(clubs.items()), np.array(list(clubs.values()))):
        _, ax = plt.subplots()
        assert legend_texts(plot_labels(karate, labels, ax=ax)) == ["Mr. Hi", "Officer"]
        plt.close()


def test_a_legend_names_some_of_many_labels(ax):
    G = nx.path_graph(60)
    plot_labels(G, {v: f"label {v:02}" for v in range(59)}, {0: "label 58"}, ax=ax)
    names = legend_texts(ax)
    assert len(names) == 25
    assert names[:2] + names[-4:] == ["label 00", "label 01", "label 21", "37 more labels", "no label", "mistake"]


def test_a_graph_too_large_is_not_converted(monkeypatch):
    graph = fo.CSRGraph.from_edges(range(20_000), range(1, 20_001))
    monkeypatch.setattr(fo.CSRGraph, "to_networkx", None)
    with pytest.raises(ValueError, match="a layout of 20,001 nodes and 20,000 edges would take long"):
        plot_labels(graph, {})
