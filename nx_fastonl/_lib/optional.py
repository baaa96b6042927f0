"""Packages that only some functions need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def pandas_for(function: str) -> Any:
    """The module pandas, which `function` needs."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(f"{function}() needs pandas: pip install pandas") from error
    return pd


def axes_or_current(ax: Axes | None, function: str) -> Axes:
    """The axes that `function` was given; without any, the current axes."""
    return _pyplot_for(function).gca() if ax is None else ax


def axes_or_empty(ax: Axes | None, function: str) -> Axes:
    """The axes that `function` was given; without any, the current axes or, if these are in use, a new figure's."""
    if ax is not None:
        return ax
    plt = _pyplot_for(function)
    current: Axes = plt.gca()
    return plt.figure().gca() if current.has_data() else current


def _pyplot_for(function: str) -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(f"{function}() needs matplotlib: pip install matplotlib") from error
    return plt
