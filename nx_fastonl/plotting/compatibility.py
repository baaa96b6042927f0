"""Which labels stand beside each other, as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.checks import shortened
from nx_fastonl._lib.optional import axes_or_empty
from nx_fastonl.labeling.compatibility import Compatibility, written
from nx_fastonl.plotting.style import LUMINANCE, UNLABELLED, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

__all__ = ["plot_compatibility"]

# With at most this many labels, each cell shows its number. Two tables side by side have room for fewer.
NUMBERED_LABELS, NUMBERED_ARROW_LABELS = 12, 5
# Between two tables, in columns.
GAP = 0.5
# The colours end at these ratios, and at the inverse: a narrower range would show noise, a wider one little else.
LEAST_RANGE, MOST_RANGE = 2.0, 100.0
TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)


def plot_compatibility(compatibility: Any, ax: Axes | None = None) -> Axes:
    """Draw how many times as often as chance nodes with one label are joined to nodes with another.

    Colours are logarithmic, and white is chance: orange pairs of labels attract each other, purple ones repel. With up
    to 12 labels, the cells show the numbers.

    Of a directed graph there are two tables side by side. The row of label "a" says how often its nodes point to nodes
    with label "b", and at the same place in the other table, how often nodes with label "b" point to them. With up to
    5 labels, the cells show the numbers.

    Parameters
    ----------
    compatibility : Compatibility or OnlineNodeLabeler
        What was counted, or a labeler that counts it.
    ax : matplotlib Axes, optional
        Where to draw, by default the current axes, or a new figure if these hold a picture. Both tables of a directed
        graph stand in the same axes, which should be wide. The colour bar takes some of their space.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    TypeError
        If `compatibility` is something else, or a labeler whose method counts none.
    ValueError
        If there are no labels.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import matplotlib.pyplot as plt
    >>> import nx_fastonl as fo
    >>> from nx_fastonl.plotting import plot_compatibility
    >>> found = fo.Compatibility(("fox", "hen"), ratios=[[0.5, 3.1], [3.1, 1.0]], counts=[[2, 20], [20, 4]])
    >>> _, ax = plt.subplots()
    >>> [text.get_text() for text in plot_compatibility(found, ax).texts]
    ['0.5', '3.1', '3.1', '1']
    >>> plt.close()
    >>> found = fo.Compatibility(("fox", "hen"), [[1.0, 3.1], [0.4, 1.0]], [[2, 20], [4, 2]], directed=True)
    >>> _, ax = plt.subplots(figsize=(8, 4))
    >>> [text.get_text() for text in plot_compatibility(found, ax).texts]
    ['1', '3.1', '0.4', '1', '1', '0.4', '3.1', '1']
    >>> plt.close()
    """
    found = getattr(compatibility, "compatibility", compatibility)
    if not isinstance(found, Compatibility):
        raise TypeError(
            'compatibility must be a Compatibility, or a labeler that has one, with method="adaptive"; '
            f"got {shortened(compatibility)}"
        )
    k = len(found.labels)
    if k == 0:
        raise ValueError("compatibility has no labels to draw")
    ax = axes_or_empty(ax, "plot_compatibility")
    end = _largest_shown(found)
    tables = [found.ratios, found.ratios.T] if found.directed else [found.ratios]
    numbered = k <= (NUMBERED_ARROW_LABELS if found.directed else NUMBERED_LABELS)
    places = [i * (k + GAP) for i in range(len(tables))]
    for table, x in zip(tables, places, strict=True):
        image = _draw_table(table, x, end, numbered, ax)
    names = [literal(label) for label in found.labels]
    columns = [x + j for x in places for j in range(k)]
    ax.set_xticks(columns, len(places) * names, rotation=90 if max(map(len, names)) > 3 else 0)
    ax.set_yticks(range(k), names)
    ax.set_xlabel("nodes with this label" if found.directed else "are joined to nodes with this label")
    ax.set_ylabel("nodes with this label")
    if found.directed:
        ax.set_xlim(-0.5, places[1] + k - 0.5)
        ax.set_aspect("auto")  # two tables of squares would seldom fill the axes
        _write_above({"point to": places[0], "are pointed to by": places[1]}, k, ax)
    ticks = [ratio for ratio in TICKS if 1.0 / end <= ratio <= end]
    bar = ax.figure.colorbar(image, ax=ax, label="times as often as chance", ticks=ticks, format="{x:g}")
    bar.minorticks_off()
    return ax


def _draw_table(ratios: NDArray[np.float64], x: float, end: float, numbered: bool, ax: Axes) -> AxesImage:
    """Draw ratios as cells, the first column at x. Colours end at `end`."""
    k = len(ratios)
    image = ax.imshow(ratios, extent=(x - 0.5, x + k - 0.5, k - 0.5, -0.5), **_colours(end))
    if numbered:
        _write_numbers(ratios, x, image, ax)
    return image


def _write_above(verbs: dict[str, float], k: int, ax: Axes) -> None:
    """Write above each table what its rows do to its columns. There is no frame: it would be around the gap as well."""
    top = ax.secondary_xaxis("top")
    top.set_xticks([x + (k - 1) / 2 for x in verbs.values()], list(verbs))
    top.tick_params(length=0)
    for axes in (ax, top):
        axes.spines[:].set_visible(False)


def _largest_shown(found: Compatibility) -> float:
    """The ratio at which the colours end, at the other side at its inverse."""
    known = found.ratios[np.isfinite(found.ratios) & (found.ratios > 0.0)]
    furthest = float(np.exp(np.abs(np.log(known)).max(initial=0.0)))
    return min(max(furthest, LEAST_RANGE), MOST_RANGE)


def _colours(end: float) -> dict[str, Any]:
    from matplotlib import colormaps
    from matplotlib.colors import LogNorm

    # A ratio of 0 has no logarithm: it takes the colour of the end of the scale.
    return {"norm": LogNorm(1.0 / end, end, clip=True), "cmap": colormaps["PuOr_r"].with_extremes(bad=UNLABELLED)}


def _write_numbers(ratios: NDArray[np.float64], x: float, image: AxesImage, ax: Axes) -> None:
    brightness = image.to_rgba(ratios)[:, :, :3] @ LUMINANCE
    for (i, j), ratio in np.ndenumerate(ratios):
        if not np.isnan(ratio):
            ink = "black" if brightness[i, j] > 0.5 else "white"
            ax.text(x + j, i, written(ratio), ha="center", va="center", color=ink)
