"""Texts that matplotlib would read as formulas, leave out or fail to write: they are drawn as they are."""

import io
from html import unescape

import matplotlib as mpl
import networkx as nx
import numpy as np
import pandas as pd
import pytest

import nx_fastonl as fo
from nx_fastonl import plotting
from nx_fastonl.experiments.pictures import draw_experiment
from tests.plotting.helpers import sequence

# How a text comes, and how it is drawn.
TEXTS = {
    "$x_{$": "$x_{$",
    "cost in $ or $": "cost in $ or $",
    r"5 \$": r"5 \$",
    "_hidden": "_hidden",
    "half \ud800": r"half \ud800",
    "\x1b[2J\x00": r"\x1b[2J\x00",
}


def labels_picture(text, ax):
    G = nx.path_graph([text, "b", "c"])
    return plotting.plot_labels(G, {text: text, "b": "other"}, {text: text, "b": text}, ax=ax, with_labels=True)


def pagerank_picture(text, ax):
    return plotting.plot_pagerank(nx.path_graph([text, "b", "c"]), text, ax=ax)


def compatibility_picture(text, ax):
    return plotting.plot_compatibility(fo.Compatibility((text, "b"), [[1, 2], [2, 1]], [[2, 2], [2, 2]]), ax)


def arrows_picture(text, ax):
    found = fo.Compatibility((text, "b"), [[1.0, 3.0], [0.5, 1.0]], [[2, 2], [2, 2]], directed=True)
    return plotting.plot_compatibility(found, ax)


def curves_picture(text, ax):
    return plotting.plot_error_curves({text: sequence([True, False]), "b": sequence([False, True])}, ax)


def bands_picture(text, ax):
    columns = ("x", "y", "by") if "\ud800" in text else (text, f"{text}y", f"{text}by")  # pandas cannot have it
    frame = pd.DataFrame(dict(zip(columns, ([1, 2], [1, 2], pd.Series([text, "b"], dtype=object)), strict=True)))
    return plotting.plot_bands(frame, *columns, ax)


PICTURES = [labels_picture, pagerank_picture, compatibility_picture, arrows_picture, curves_picture, bands_picture]


def drawn(figure):
    """The texts of a picture, from a file that has them as texts."""
    for suffix in ("png", "pdf"):
        figure.savefig(io.BytesIO(), format=suffix)
    content = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none"}):
        figure.savefig(content, format="svg")
    return unescape(content.getvalue())


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.__name__)
def test_texts_are_drawn_as_they_are(picture, text, ax):
    content = drawn(picture(text, ax).figure)
    shown = TEXTS[text].replace("_", " ") if picture is bands_picture else TEXTS[text]  # of names of columns
    assert shown in content
    if picture in (labels_picture, curves_picture, bands_picture):
        assert ax.get_legend().get_texts()[0].get_text().strip().replace("\\$", "$") == TEXTS[text]


def test_a_legend_can_be_made_anew(ax):
    curves_picture("$x_{$", ax).legend()
    assert "$x_{$" in drawn(ax.figure)


def test_names_of_experiments(tmp_path):
    class Plain:
        picture = staticmethod(lambda records, _, ax: ax.plot(np.arange(len(records))))

    frame = pd.DataFrame({"graph": ["no/such/$x_{$.csv"]})
    draw_experiment(Plain(), frame, tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").is_file()
