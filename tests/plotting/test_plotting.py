import subprocess
import sys

import networkx as nx
import pytest

import nx_fastonl as fo
from nx_fastonl.plotting import (
    plot_bands,
    plot_compatibility,
    plot_error_curves,
    plot_labels,
    plot_pagerank,
    plot_sweep,
)
from nx_fastonl.plotting.save import save_figure
from tests.plotting.helpers import sequence

pd = pytest.importorskip("pandas")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.mark.parametrize(
    ("plot", "arguments"),
    [
        (plot_bands, (pd.DataFrame({"x": [1], "y": [1], "by": ["a"]}), "x", "y", "by")),
        (plot_compatibility, (fo.Compatibility(("a",), [[2.0]], [[1.0]]),)),
        (plot_error_curves, ({"a": sequence([1, 0])},)),
        (plot_labels, (nx.path_graph(3), {0: "a"})),
        (plot_pagerank, (nx.path_graph(3), 0)),
        (plot_sweep, (fo.local_community(nx.path_graph(3), 0),)),
    ],
)
def test_axes_by_default(monkeypatch, plot, arguments):
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "matplotlib.pyplot", None)
        with pytest.raises(ImportError, match=rf"{plot.__name__}\(\) needs matplotlib: pip install matplotlib"):
            plot(*arguments)
    _, ax = plt.subplots()
    assert plot(*arguments) is ax
    again = plot(*arguments)  # not over the first picture
    assert again is not ax
    assert again.figure is not ax.figure


def test_curves_of_sequences_share_axes():
    seq = fo.LabelSequence(("a", "b"), (0, 1), ("a", "a"), (0.75, 0.5), (0.75, 0.5))
    assert seq.plot() is seq.plot()
    assert seq.plot_calibration() is seq.plot_calibration()


def test_error_curves_need_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"plot_error_curves\(\) needs pandas: pip install pandas"):
        plot_error_curves({"a": sequence([1, 0])})


@pytest.mark.parametrize(
    ("statement", "packages"),
    [
        ("import nx_fastonl.plotting", {"numpy", "networkx", "matplotlib", "pandas"}),
        ("from nx_fastonl.plotting import *", {"matplotlib", "pandas"}),
    ],
)
def test_packages_are_not_imported_before_they_are_used(statement, packages):
    program = f"import sys\n{statement}\nprint({packages} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "set()\n"


@pytest.mark.parametrize(("suffix", "begin"), [("png", b"\x89PNG"), ("SVG", b"<?xml"), ("pdf", b"%PDF")])
def test_a_figure_is_saved_in_the_format_of_its_suffix(tmp_path, suffix, begin):
    figure, _ = plt.subplots()
    save_figure(figure, tmp_path / f"picture.{suffix}")
    assert (tmp_path / f"picture.{suffix}").read_bytes().startswith(begin)
    assert len(list(tmp_path.iterdir())) == 1
