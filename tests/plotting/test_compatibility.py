import math
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import nx_fastonl as fo
from nx_fastonl.plotting import plot_compatibility

plt = pytest.importorskip("matplotlib.pyplot")

from matplotlib.colors import to_hex  # noqa: E402  after the check that matplotlib is there


def compatibility(ratios, labels=None, directed=False):
    ratios = np.array(ratios, dtype=float)
    labels = tuple(range(len(ratios)) if labels is None else labels)
    return fo.Compatibility(labels, ratios, np.ones_like(ratios), directed)


def colours(ax):
    """The colour of each cell as it is drawn."""
    (image,) = ax.images
    return [[to_hex(colour) for colour in row] for row in image.to_rgba(image.get_array())]


def test_names_and_numbers(ax):
    found = compatibility([[0.25, 3.14], [2.0, math.nan]], ["fox", "$hen"])
    assert plot_compatibility(found, ax) is ax
    for axis in (ax.xaxis, ax.yaxis):
        assert [text.get_text() for text in axis.get_ticklabels()] == ["fox", r"\$hen"]
    # x is the column, to which nodes of the row are joined.
    assert {text.get_position(): text.get_text() for text in ax.texts} == {(0, 0): "0.25", (1, 0): "3.1", (0, 1): "2"}
    assert ax.get_ylabel() == "nodes with this label"


def test_a_labeler_that_has_one(ax):
    labeler = SimpleNamespace(compatibility=compatibility([[2.0]], ["a"]))
    assert [text.get_text() for text in plot_compatibility(labeler, ax).texts] == ["2"]


def test_colours_diverge_around_1_on_a_logarithmic_scale(ax):
    (_, few, one), (many, none, unknown), _ = colours(
        plot_compatibility(compatibility([[4.0, 0.25, 1.0], [40.0, 0.0, math.nan], [40.0, 2.0, 0.5]]), ax)
    )
    (image,) = ax.images
    assert_allclose(
        [image.norm.vmin * image.norm.vmax, image.norm(1.0), image.norm(4.0) + image.norm(0.25)], [1, 0.5, 1]
    )
    assert one == to_hex(image.cmap(0.5))
    assert len({one, few, many, none, unknown}) == 5
    assert none == to_hex(image.cmap(0.0))  # 0 has no logarithm
    assert unknown == to_hex("0.8")


@pytest.mark.parametrize(
    ("ratio", "end"), [(1.01, 2.0), (0.99, 2.0), (30.0, 30.0), (0.05, 20.0), (1e9, 100.0), (0.0, 2.0), (math.nan, 2.0)]
)
def test_the_range_of_colours(ax, ratio, end):
    (image,) = plot_compatibility(compatibility([[ratio]]), ax).images
    assert_allclose([image.norm.vmin, image.norm.vmax], [1.0 / end, end])
    bar = ax.figure.axes[1]
    assert bar.get_ylabel() == "times as often as chance"
    ticks = [text.get_text() for text in bar.get_yticklabels()]
    assert {"0.5", "1", "2"} <= set(ticks)


def test_numbers_can_be_read_on_their_colour(ax):
    plot_compatibility(compatibility([[100.0, 1.0], [0.01, 2.0]]), ax)
    assert [text.get_color() for text in ax.texts] == ["white", "black", "white", "black"]


@pytest.mark.parametrize(("k", "numbers"), [(12, 144), (13, 0)])
def test_many_labels_have_no_numbers(ax, k, numbers):
    assert len(plot_compatibility(compatibility(np.full((k, k), 2.0)), ax).texts) == numbers
    assert len(ax.get_xticks()) == k


def test_both_directions_of_arrows_stand_side_by_side(ax):
    found = compatibility([[0.25, 3.14], [2.0, math.nan]], ["fox", "$hen"], directed=True)
    assert plot_compatibility(found, ax) is ax
    names, columns = [text.get_text() for text in ax.get_xticklabels()], ax.get_xticks()
    assert names == ["fox", r"\$hen", "fox", r"\$hen"]
    fox, hen, fox_again, hen_again = columns
    point_to = {(fox, 0): "0.25", (hen, 0): "3.1", (fox, 1): "2"}
    pointed_to_by = {(fox_again, 0): "0.25", (hen_again, 0): "2", (fox_again, 1): "3.1"}
    assert {text.get_position(): text.get_text() for text in ax.texts} == point_to | pointed_to_by
    left, right = ax.images
    assert left.norm.vmax == right.norm.vmax
    assert np.array_equal(left.get_array().filled(math.nan), right.get_array().filled(math.nan).T, equal_nan=True)
    for image, first in ((left, fox), (right, fox_again)):
        assert_allclose(image.get_extent(), [first - 0.5, first + 1.5, 1.5, -0.5])
    assert ax.get_xlim() == (fox - 0.5, hen_again + 0.5)
    assert hen + 1 < fox_again


def test_words_above_say_which_table_is_which(ax):
    plot_compatibility(compatibility(np.ones((3, 3)), directed=True), ax)
    (top,) = ax.child_axes
    middles = dict(zip((text.get_text() for text in top.get_xticklabels()), top.get_xticks(), strict=True))
    columns = ax.get_xticks()
    assert middles == {"point to": columns[1], "are pointed to by": columns[4]}
    assert ax.get_xlabel() == ax.get_ylabel() == "nodes with this label"


@pytest.mark.parametrize(("k", "numbers"), [(5, 50), (6, 0)])
def test_two_tables_have_room_for_fewer_numbers(ax, k, numbers):
    assert len(plot_compatibility(compatibility(np.full((k, k), 2.0), directed=True), ax).texts) == numbers


def test_nothing_of_two_tables_is_cut_off():
    figure, axes = plt.subplots(1, 2, figsize=(12, 3), layout="constrained")
    names = ["a long name", "a longer name", "b"]
    for ax in axes:
        plot_compatibility(compatibility(np.ones((3, 3)), names, directed=True), ax).set_title("Who points to whom?")
    figure.canvas.draw()
    for ax in axes:
        box = ax.get_tightbbox()
        assert min(box.x0, box.y0) >= 0
        assert box.y1 <= figure.bbox.height
    assert axes[0].get_tightbbox().x1 <= axes[1].get_tightbbox().x0
    plt.close(figure)


def test_errors(karate):
    for other in (fo.OnlineNodeLabeler(karate, method="fastonl"), {"a": 1}):
        with pytest.raises(
            TypeError, match='must be a Compatibility, or a labeler that has one, with method="adaptive"'
        ):
            plot_compatibility(other)
    with pytest.raises(ValueError, match="compatibility has no labels to draw"):
        plot_compatibility(fo.Compatibility((), np.ones((0, 0)), np.ones((0, 0))))
