"""`Experiment`: what it takes to repeat one table or figure of the paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Experiment", "Record", "Task", "Work"]

Task = dict[str, Any]  # one piece of work: a graph, a method, a trial, ...
Record = dict[str, Any]  # one result: a row of the table of results
Work = Callable[[Task], list[Record]]


@dataclass(frozen=True)
class Experiment:
    """One table or figure of the paper's evaluation, or a comparison of the same kind.

    Attributes
    ----------
    title : str
        What it shows, and where it is in the paper, if it is.
    table : str
        What the numbers of its `summary` are.
    graphs : tuple of str
        The datasets on which it runs by default.
    tasks : callable
        Takes the name of a dataset and the number of trials; returns the tasks, each a dict.
    work : callable
        Takes a task; returns the records that were measured, each a dict.
    picture : callable
        Takes the records of one graph, all records, and axes; draws the former, in the colours of the latter.
    summary : callable
        Takes all records; returns a small table.
    serial : bool
        Whether tasks run one at a time, since others at work would disturb what is measured.
    quick : tuple of str
        The graphs on which it runs for seconds, without a download.
    notes : callable
        Returns lines for the user, on what is left out for lack of a package.

    Examples
    --------
    >>> from nx_fastonl.experiments import EXPERIMENTS
    >>> EXPERIMENTS["nnz"].title
    'Nodes that power iteration has reached after each step (Figure 15)'
    >>> EXPERIMENTS["nnz"].tasks("karate", 2)
    [{'graph': 'karate', 'source': 2}, {'graph': 'karate', 'source': 11}]
    """

    title: str
    table: str
    graphs: tuple[str, ...]
    tasks: Callable[[str, int], list[Task]]
    work: Work
    picture: Callable[[pd.DataFrame, pd.DataFrame, Axes], object]
    summary: Callable[[pd.DataFrame], pd.DataFrame]
    serial: bool = False
    quick: tuple[str, ...] = ("karate", "digits")
    notes: Callable[[], list[str]] = field(default_factory=lambda: list)
