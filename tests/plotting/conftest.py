"""Axes to draw on, without a screen."""

import pytest


@pytest.fixture(autouse=True)
def _no_figures():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    plt.close("all")
    yield
    plt.close("all")


@pytest.fixture
def ax(_no_figures):
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots()
    yield ax
    figure.canvas.draw()  # some warnings come only now
