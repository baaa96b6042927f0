import networkx as nx
import pytest

import nx_fastonl as fo
from nx_fastonl.plotting import plot_sweep


@pytest.mark.parametrize(("n", "scale"), [(5, "linear"), (60, "log")])
def test_the_curve_is_the_profile(ax, n, scale):
    found = fo.sweep_cut(nx.barbell_graph(n, 0), dict(enumerate(range(2 * n, 0, -1))), per_degree=False)
    assert plot_sweep(found, ax) is ax
    curve, dot = ax.lines
    assert curve.get_ydata().tolist() == found.profile.conductance.tolist()
    assert curve.get_xdata().tolist() == list(range(1, 2 * n + 1))
    assert (dot.get_xdata(), dot.get_ydata()) == ([n], [found.conductance])
    assert dot.get_label() == f"lowest: {n} nodes"
    assert ax.get_xscale() == scale


def test_other_things_are_refused(ax):
    with pytest.raises(TypeError, match=r"found must be what sweep_cut or local_community returns, got \[1, 2\]"):
        plot_sweep([1, 2], ax)
