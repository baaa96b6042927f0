import re
import subprocess
import sys
from itertools import pairwise
from statistics import mean, stdev

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose

import nx_fastonl as fo
from nx_fastonl.plotting import (
    CURVE_POINTS,
    LINE_COLOURS,
    plot_bands,
    plot_error_curves,
    plot_labels,
    plot_pagerank,
)

pd = pytest.importorskip("pandas")
matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402  the backend comes first
from matplotlib.collections import LineCollection  # noqa: E402
from matplotlib.colors import to_hex  # noqa: E402

ACCURACIES = {
    ("push", 10): [0.5, 0.6, 0.9],
    ("push", 20): [0.7, 0.8],
    ("exact", 10): [0.25, 0.75],
    ("exact", 20): [0.9],
}


@pytest.fixture(autouse=True)
def _no_figures():
    plt.close("all")
    yield
    plt.close("all")


@pytest.fixture
def ax(_no_figures):
    figure, ax = plt.subplots()
    yield ax
    figure.canvas.draw()  # some warnings come only now


@pytest.fixture
def frame():
    """Accuracies of some trials, in an order that is neither that of the names nor that of x."""
    rows = [(method, x, y) for (method, x), trials in ACCURACIES.items() for y in trials]
    rows = sorted(rows, key=lambda row: (row[0] != "push", -row[1]))
    return pd.DataFrame(rows, columns=["the_method", "labels_seen", "test_accuracy"])


def bands(ax, frame, **options):
    return plot_bands(frame, "labels_seen", "test_accuracy", "the_method", ax, **options)


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def edges_of(band, at):
    """The lowest and highest y of a band at this x."""
    corners = band.get_paths()[0].vertices
    ys = corners[corners[:, 0] == at, 1]
    return ys.min(), ys.max()


def drawn(ax, label):
    """Where nodes of this kind were drawn, as a set of points."""
    found = [kind for kind in ax.collections if kind.get_label() == label]
    return {tuple(point) for kind in found for point in np.asarray(kind.get_offsets()).tolist()}


def points(pos, nodes):
    return {tuple(map(float, pos[v])) for v in nodes}


def sequence(wrong):
    """A LabelSequence with mistakes where this is true."""
    n = len(wrong)
    return fo.LabelSequence(tuple("b" if bad else "a" for bad in wrong), tuple(range(n)), ("a",) * n)


# Bands


def test_lines_are_the_means(ax, frame):
    assert bands(ax, frame) is ax
    for line, method in zip(ax.lines, ["push", "exact"], strict=True):
        assert line.get_label() == method
        assert line.get_xdata().tolist() == [10, 20]
        assert_allclose(line.get_ydata(), [mean(ACCURACIES[method, x]) for x in (10, 20)])


def test_labels_and_legend_come_from_the_columns(ax, frame):
    bands(ax, frame)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("labels seen", "test accuracy")
    assert legend_texts(ax) == ["push", "exact"]
    assert ax.get_legend().get_title().get_text() == "the method"


@pytest.mark.parametrize(
    ("band", "expected"),
    [
        ("std", lambda ys: (mean(ys) - stdev(ys), mean(ys) + stdev(ys)) if len(ys) > 1 else (ys[0], ys[0])),
        ("range", lambda ys: (min(ys), max(ys))),
    ],
)
def test_band_edges(ax, frame, band, expected):
    bands(ax, frame, band=band)
    for collection, method in zip(ax.collections, ["push", "exact"], strict=True):
        for x in (10, 20):
            assert_allclose(edges_of(collection, x), expected(ACCURACIES[method, x]))


def test_no_band(ax, frame):
    bands(ax, frame, band=None)
    assert (len(ax.lines), len(ax.collections)) == (2, 0)


def test_a_band_has_the_colour_of_its_line_and_is_translucent(ax, frame):
    bands(ax, frame)
    for line, band in zip(ax.lines, ax.collections, strict=True):
        assert to_hex(band.get_facecolor()[0]) == to_hex(line.get_color())
        assert 0.0 < band.get_alpha() < 0.5


def test_lines_differ_in_colour_and_without_colour(ax):
    rows = [(i, x, i + x) for i in range(20) for x in (1, 2)]
    plot_bands(pd.DataFrame(rows, columns=["i", "x", "y"]), "x", "y", "i", ax)
    assert len({line.get_color() for line in ax.lines[: len(LINE_COLOURS)]}) == len(LINE_COLOURS)
    assert len({(line.get_linestyle(), line.get_marker()) for line in ax.lines}) == 20


@pytest.mark.parametrize(
    ("xs", "scale"),
    [([1, 51], "log"), ([1e-6, 1e-2], "log"), ([1, 50], "linear"), ([0, 1000], "linear"), ([-1000, -1], "linear")],
)
def test_scale_of_x(ax, xs, scale):
    plot_bands(pd.DataFrame({"x": xs, "y": [0, 1], "by": "a"}), "x", "y", "by", ax)
    assert ax.get_xscale() == scale


def test_rows_with_something_missing_are_left_out(ax):
    rows = [("a", 1, 1.0), ("a", 1, None), ("a", None, 9.0), (None, 1, 9.0), ("a", 2, 2.0)]
    plot_bands(pd.DataFrame(rows, columns=["by", "x", "y"]), "x", "y", "by", ax)
    (line,) = ax.lines
    assert (line.get_xdata().tolist(), line.get_ydata().tolist()) == ([1, 2], [1, 2])


def test_categories_and_truth_values_will_do(ax):
    by = pd.Categorical(["b", "b", "a"], categories=["a", "b", "c"])
    plot_bands(pd.DataFrame({"by": by, "x": [1, 1, 1], "right": [True, False, True]}), "x", "right", "by", ax)
    assert legend_texts(ax) == ["b", "a"]
    assert [line.get_ydata().tolist() for line in ax.lines] == [[0.5], [1.0]]


def test_the_frame_is_left_as_it_was(ax, frame):
    before = frame.copy()
    bands(ax, frame)
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        (("epsilon", "test_accuracy", "the_method"), ValueError, "no column 'epsilon'; it has ['the_method', "),
        (("labels_seen", "y", "the_method"), ValueError, "no column 'y'"),
        (("labels_seen", "test_accuracy", "kernel"), ValueError, "no column 'kernel'"),
        (("labels_seen", "labels_seen", "the_method"), ValueError, "three columns, got 'labels_seen', 'labels_seen'"),
        (("labels_seen", "the_method", "test_accuracy"), TypeError, "'the_method' must hold numbers, got 'push'"),
    ],
)
def test_columns_that_will_not_do(frame, columns, error, message):
    with pytest.raises(error, match=re.escape(message)):
        plot_bands(frame, *columns)
    assert plt.get_fignums() == []  # no empty figure is left behind


def test_empty_frame(frame):
    with pytest.raises(ValueError, match="no rows with 'labels_seen', 'test_accuracy' and 'the_method'"):
        bands(None, frame[:0])


def test_unknown_band(frame):
    with pytest.raises(ValueError, match='band must be "std", "range" or None, got \'sem\''):
        bands(None, frame, band="sem")


# Error curves


def test_curves_are_the_error_rates(ax, karate):
    seq = fo.online_node_labeling(karate, "club")
    assert plot_error_curves({"one": seq, "part": seq[:20]}, ax) is ax
    one, part = ax.lines
    assert one.get_xdata().tolist() == list(range(1, 35))
    assert_allclose(one.get_ydata(), seq.errors)
    assert_allclose(part.get_ydata(), seq.errors[:20])
    assert (ax.get_xscale(), ax.get_xlabel(), ax.get_ylabel()) == ("log", "nodes seen", "error rate")
    assert legend_texts(ax) == ["one", "part"]
    assert ax.get_ylim()[0] == 0.0


def test_trials_of_several_lengths(ax):
    trials = [sequence([1, 0, 0, 1]), sequence([0, 0]), sequence([]), sequence([1, 1, 1])]
    plot_error_curves({"some": trials}, ax)
    (line,) = ax.lines
    expected = [[1, 0, 1], [1 / 2, 0, 1], [1 / 3, 1], [1 / 2]]
    assert_allclose(line.get_ydata(), [mean(rates) for rates in expected])
    low, high = edges_of(ax.collections[0], at=2)
    assert_allclose((low, high), (0.5 - 0.5, 0.5 + 0.5))


def test_long_curves_are_thinned(ax):
    wrong = np.random.default_rng(0).random(30_000) < 0.3
    plot_error_curves({"long": [sequence(wrong), sequence(wrong[:12_345])]}, ax)
    (line,) = ax.lines
    seen = line.get_xdata().astype(int)
    assert 0.6 * CURVE_POINTS < len(seen) <= CURVE_POINTS + 1
    assert (seen[0], seen[-1]) == (1, 30_000)
    assert 12_345 in seen  # where a trial ends
    assert np.diff(np.log(seen[seen > 100])).max() < 0.1
    assert_allclose(line.get_ydata(), (np.cumsum(wrong) / np.arange(1, 30_001))[seen - 1])


def test_no_part_of_the_axis_lies_where_no_rate_can_be(ax):
    plot_error_curves({"some": [sequence([1, 1, 1]), sequence([1, 0, 1]), sequence([1, 1, 0])]}, ax)
    assert edges_of(ax.collections[0], at=2)[1] > 1.1 > ax.get_ylim()[1]


@pytest.mark.parametrize(
    ("sequences", "error", "message"),
    [
        ({}, ValueError, "sequences is empty"),
        ({"none": []}, ValueError, "sequences['none'] holds no predictions"),
        ({"none": sequence([])}, ValueError, "sequences['none'] holds no predictions"),
        ({"labels": ["a", "b"]}, TypeError, "sequences['labels'] must hold LabelSequences, got 'a'"),
        ({"number": 3}, TypeError, "sequences['number'] must hold LabelSequences, got 3"),
        ([sequence([1])], TypeError, "sequences must be a LabelSequence or a dict"),
    ],
)
def test_sequences_that_will_not_do(sequences, error, message):
    with pytest.raises(error, match=re.escape(message)):
        plot_error_curves(sequences)
    assert plt.get_fignums() == []


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


def test_truth_that_is_passed_goes_before_that_of_the_sequence(ax, karate):
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


def test_a_label_keeps_its_colour_where_it_is_never_predicted():
    G = nx.path_graph(3)
    truth = {0: "a", 1: "b", 2: "c"}
    colours = []
    for labels in (truth, {0: "c", 1: "c", 2: "c"}):
        _, ax = plt.subplots()
        plot_labels(G, labels, truth, ax=ax)
        (kind,) = [kind for kind in ax.collections if kind.get_label() == "c"]
        colours.append(to_hex(kind.get_facecolor()[0]))
    assert colours[0] == colours[1]


def test_labels_of_several_types(ax):
    plot_labels(nx.path_graph(4), {0: "a", 1: 1, 2: np.int64(1), 3: np.str_("a")}, ax=ax)
    assert legend_texts(ax) == ["a", "1"]


def test_labels_in_a_series(ax, karate, pos):
    truth = pd.Series({v: karate.nodes[v]["club"] for v in karate})
    plot_labels(karate, truth.where(truth.index > 4, "Officer"), truth, pos, ax)
    assert drawn(ax, "mistake") == points(pos, range(5))


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
    plot_pagerank(G, 0, pos=pos, ax=ax)


def test_many_edges_are_drawn_faintly(ax):
    darkness = {}
    for n in (10, 100):
        G = nx.complete_graph(n)
        plot_labels(G, dict.fromkeys(G, "a"), pos=nx.circular_layout(G), ax=ax)
        darkness[n] = next(c for c in ax.collections if isinstance(c, LineCollection)).get_alpha()
        ax.clear()
    assert darkness[10] == 0.5
    assert darkness[100] == pytest.approx(0.5 * 1000 / 4950)


def test_graphs_with_loops_or_no_edges(ax):
    plot_labels(nx.Graph([(0, 0), (0, 1)]), {0: "a"}, ax=ax)
    plot_labels(nx.empty_graph(1), {}, {}, ax=ax)
    plot_pagerank(nx.empty_graph(1), 0, ax=ax)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"labels": {99: "a"}}, nx.NodeNotFound, "labels: node 99 is not in the graph"),
        ({"labels": {}, "truth": {"x": "a"}}, nx.NodeNotFound, "truth: node 'x' is not in the graph"),
        ({"labels": {}, "pos": {0: (0, 0)}}, nx.NetworkXError, "pos has no position of node 1"),
        ({"labels": "club"}, TypeError, "labels must be a dict {node: value}, got 'club'"),
        ({"labels": {}, "truth": "club"}, TypeError, "truth must be a dict {node: value}, got 'club'"),
        ({"labels": {3: ["a"]}}, TypeError, "a label must be hashable, got ['a'] for node 3"),
    ],
)
def test_labels_that_will_not_do(karate, arguments, error, message):
    with pytest.raises(error, match=re.escape(message)):
        plot_labels(karate, **arguments)
    assert plt.get_fignums() == []


def test_graphs_that_will_not_do():
    with pytest.raises(nx.NetworkXPointlessConcept, match="no nodes"):
        plot_labels(nx.Graph(), {})
    with pytest.raises(TypeError, match="got list"):
        plot_labels([(0, 1)], {})
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
    assert {text.get_text(): tuple(text.xy) for text in ax.texts} == {v: tuple(pos[v]) for v in list(G)[:names]}
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
        ({"source": 22, "pos": {22: (0, 0)}}, nx.NetworkXError, "pos has no position of node 0"),
    ],
)
def test_sources_that_will_not_do(karate, arguments, error, message):
    with pytest.raises(error, match=re.escape(message)):
        plot_pagerank(karate, **arguments)
    assert plt.get_fignums() == []


# All


@pytest.mark.parametrize(
    ("plot", "arguments"),
    [
        (plot_bands, (pd.DataFrame({"x": [1], "y": [1], "by": ["a"]}), "x", "y", "by")),
        (plot_error_curves, ({"a": sequence([1, 0])},)),
        (plot_labels, (nx.path_graph(3), {0: "a"})),
        (plot_pagerank, (nx.path_graph(3), 0)),
    ],
)
def test_axes_by_default(monkeypatch, plot, arguments):
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "matplotlib.pyplot", None)
        with pytest.raises(ImportError, match=rf"{plot.__name__}\(\) needs matplotlib: pip install matplotlib"):
            plot(*arguments)
    _, ax = plt.subplots()
    assert plot(*arguments) is ax


def test_error_curves_need_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"plot_error_curves\(\) needs pandas: pip install pandas"):
        plot_error_curves({"a": sequence([1, 0])})


def test_matplotlib_is_not_imported_before_it_is_used():
    program = "import sys, nx_fastonl.plotting; print({'matplotlib', 'pandas'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "set()\n"


def test_a_value_looks_the_same_in_every_picture_of_one_order(ax):
    frame = pd.DataFrame({"by": ["a", "b", "c"], "x": 1, "y": 0.5})
    styles = {}
    for part in (frame, frame[1:], frame[::-1]):
        ax.clear()
        for line in plot_bands(part, "x", "y", "by", ax, order=["a", "b", "c"]).lines:
            styles.setdefault(line.get_label(), set()).add((line.get_color(), line.get_linestyle(), line.get_marker()))
    assert [len(seen) for seen in styles.values()] == [1, 1, 1]
    assert len(set.union(*styles.values())) == 3
    with pytest.raises(ValueError, match=r"order lacks 'c', which column 'by' has; it holds \['a', 'b'\]"):
        plot_bands(frame, "x", "y", "by", ax, order=["a", "b"])
