import re
from statistics import mean, stdev

import numpy as np
import pytest
from numpy.testing import assert_allclose

import nx_fastonl as fo
from nx_fastonl.plotting import plot_bands, plot_error_curves
from nx_fastonl.plotting.curves import CURVE_POINTS
from nx_fastonl.plotting.style import LINE_COLOURS
from tests.plotting.helpers import legend_texts, sequence

pd = pytest.importorskip("pandas")
plt = pytest.importorskip("matplotlib.pyplot")

from matplotlib.colors import to_hex  # noqa: E402  after the check that matplotlib is there

ACCURACIES = {
    ("push", 10): [0.5, 0.6, 0.9],
    ("push", 20): [0.7, 0.8],
    ("exact", 10): [0.25, 0.75],
    ("exact", 20): [0.9],
}


@pytest.fixture
def frame():
    """Accuracies of some trials, in an order that is neither that of the names nor that of x."""
    rows = [(method, x, y) for (method, x), trials in ACCURACIES.items() for y in trials]
    rows = sorted(rows, key=lambda row: (row[0] != "push", -row[1]))
    return pd.DataFrame(rows, columns=["the_method", "labels_seen", "test_accuracy"])


def bands(ax, frame, **options):
    return plot_bands(frame, "labels_seen", "test_accuracy", "the_method", ax, **options)


def edges_of(band, at):
    """The lowest and highest y of a band at this x."""
    corners = band.get_paths()[0].vertices
    ys = corners[corners[:, 0] == at, 1]
    return ys.min(), ys.max()


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


def test_categories_and_truth_values(ax):
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
def test_bad_columns(frame, columns, error, message):
    with pytest.raises(error, match=re.escape(message)):
        plot_bands(frame, *columns)
    assert plt.get_fignums() == []  # no empty figure is left behind


def test_empty_frame(frame):
    with pytest.raises(ValueError, match="no rows with 'labels_seen', 'test_accuracy' and 'the_method'"):
        bands(None, frame[:0])


def test_unknown_band(frame):
    with pytest.raises(ValueError, match='band must be "std", "range" or None, got \'sem\''):
        bands(None, frame, band="sem")


def test_a_value_looks_the_same_in_every_picture_of_one_order(ax):
    frame = pd.DataFrame({"by": ["a", "b", "c"], "x": 1, "y": 0.5})
    styles = {}
    for rows in (frame, frame[1:], frame[::-1]):
        ax.clear()
        for line in plot_bands(rows, "x", "y", "by", ax, order=["a", "b", "c"]).lines:
            styles.setdefault(line.get_label(), set()).add((line.get_color(), line.get_linestyle(), line.get_marker()))
    assert [len(seen) for seen in styles.values()] == [1, 1, 1]
    assert len(set.union(*styles.values())) == 3
    with pytest.raises(ValueError, match=r"order lacks 'c', which column 'by' has; it holds \['a', 'b'\]"):
        plot_bands(frame, "x", "y", "by", ax, order=["a", "b"])


# Error curves


def test_curves_are_the_error_rates(ax, karate):
    seq = fo.online_node_labeling(karate, "club")
    assert plot_error_curves({"all": seq, "first": seq[:20]}, ax) is ax
    line, first = ax.lines
    assert line.get_xdata().tolist() == list(range(1, 35))
    assert_allclose(line.get_ydata(), seq.error_curve)
    assert_allclose(first.get_ydata(), seq.error_curve[:20])
    assert (ax.get_xscale(), ax.get_xlabel(), ax.get_ylabel()) == ("log", "nodes seen", "error rate")
    assert legend_texts(ax) == ["all", "first"]
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


def test_the_axis_ends_where_rates_end(ax):
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
def test_bad_sequences(sequences, error, message):
    with pytest.raises(error, match=re.escape(message)):
        plot_error_curves(sequences)
    assert plt.get_fignums() == []
