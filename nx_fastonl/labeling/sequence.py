"""The labels predicted along a stream, beside the true ones."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from nx_fastonl._lib.checks import check_whole
from nx_fastonl._lib.frames import Backend, make_frame
from nx_fastonl._lib.html import view_or_none
from nx_fastonl._lib.optional import axes_or_current
from nx_fastonl.labeling.calibration import Calibration, calibration_of
from nx_fastonl.labeling.views import sequence_view

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LabelSequence"]

# Bins beyond this are narrower than any sample could fill.
MAX_BINS = 1_000_000


@dataclass(frozen=True, repr=False)
class LabelSequence(Sequence[Any]):
    """Predicted labels in the order in which nodes arrived, with what they were compared with.

    A sequence of the predicted labels: it can be indexed, sliced and iterated over, and compared with another.

    Attributes
    ----------
    predicted : tuple
        The labels predicted; None, a mistake, where no label had been seen yet.
    nodes : tuple
        The nodes, in order of arrival.
    truth : tuple
        Their true labels.
    probabilities : tuple of float, optional
        How probable each predicted label was held; 0 where none was predicted. None for methods without calibrated
        probabilities: ``method="adaptive"`` has them.
    true_probabilities : tuple of float, optional
        How probable each true label was held, before it was learned; 0 where it had not been seen. None as above.

    Examples
    --------
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> seq = fo.online_node_labeling(nx.karate_club_graph(), "club")
    >>> seq
    LabelSequence of 34 predictions, 3 mistakes (error rate 0.088)
    >>> seq[:3].truth
    ('Mr. Hi', 'Mr. Hi', 'Mr. Hi')
    """

    predicted: tuple[Any, ...]
    nodes: tuple[Any, ...]
    truth: tuple[Hashable, ...]
    probabilities: tuple[float, ...] | None = None
    true_probabilities: tuple[float, ...] | None = None

    def __len__(self) -> int:
        return len(self.predicted)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> LabelSequence: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            predicted, nodes, truth = self.predicted[index], self.nodes[index], self.truth[index]
            if self.probabilities is None or self.true_probabilities is None:
                return LabelSequence(predicted, nodes, truth)
            return LabelSequence(predicted, nodes, truth, self.probabilities[index], self.true_probabilities[index])
        return self.predicted[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.predicted)

    def __repr__(self) -> str:
        rate = f" (error rate {self.error_rate:.3f})" if self else ""
        return f"LabelSequence of {len(self)} predictions, {self.mistakes} mistakes{rate}"

    def _repr_html_(self) -> str | None:
        return view_or_none(self._view)

    def _view(self) -> str:
        more: dict[str, object] = {}
        if self and self.probabilities is not None:
            more = {"log loss": self.log_loss, "calibration error": self.calibration().error}
        return sequence_view(self.predicted, self.truth, self.correct, more)

    @property
    def correct(self) -> tuple[bool, ...]:
        """Whether each prediction was right."""
        return tuple(
            predicted is not None and predicted == true
            for predicted, true in zip(self.predicted, self.truth, strict=True)
        )

    @property
    def mistakes(self) -> int:
        """The number of wrong predictions."""
        return len(self) - sum(self.correct)

    @property
    def error_rate(self) -> float:
        """The fraction of the predictions that were wrong; NaN for an empty stream."""
        return self.mistakes / len(self) if self else float("nan")

    @property
    def accuracy(self) -> float:
        """The fraction of the predictions that were right; NaN for an empty stream."""
        return 1.0 - self.error_rate

    @property
    def error_curve(self) -> list[float]:
        """The error rate so far, after each prediction."""
        wrong = accumulate(not right for right in self.correct)
        return [count / seen for seen, count in enumerate(wrong, start=1)]

    @property
    def log_loss(self) -> float:
        """The mean of -log of the true labels' probabilities; NaN if there is none to average.

        Only predictions count whose true label had been seen before: the probability of a new one says nothing. A label
        that had been seen and was held impossible, with a probability of exactly 0, makes the loss infinite.
        """
        _, true_probabilities = self._with_probabilities("log_loss")
        losses, seen = [], set()
        for label, probability in zip(self.truth, true_probabilities, strict=True):
            if probability > 0.0:  # it had been seen, if not in this part of the stream
                losses.append(-math.log(probability))
            elif label in seen:
                losses.append(math.inf)
            seen.add(label)
        return math.fsum(losses) / len(losses) if losses else math.nan

    def calibration(self, bins: int = 10) -> Calibration:
        """Compare how probable predictions were held with how often they were right.

        Parameters
        ----------
        bins : int, default 10
            Predictions are put into this many bins of equal width, by the probability of the predicted label.

        Returns
        -------
        Calibration
            The count, the mean probability and the accuracy of each bin, and the expected calibration error.

        Raises
        ------
        TypeError, ValueError
            If the method has no calibrated probabilities, or `bins` is not a whole number of at least 1.

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> seq = fo.LabelSequence(("a", "b"), (0, 1), ("a", "a"), (0.75, 0.5), (0.75, 0.5))
        >>> seq.calibration()
        Calibration of 2 predictions in 10 bins: mean probability 0.625, accuracy 0.500, calibration error 0.375
        """
        check_whole("bins", bins, least=1, most=MAX_BINS)
        probabilities, _ = self._with_probabilities("calibration()")
        return calibration_of(probabilities, self.correct, int(bins))

    def to_dict(self) -> dict[Any, Any]:
        """The predictions as ``{node: label}``.

        Returns
        -------
        dict

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> fo.online_node_labeling(nx.path_graph(3), {0: "a", 1: "a", 2: "b"}).to_dict()
        {0: None, 1: 'a', 2: 'a'}
        """
        return dict(zip(self.nodes, self.predicted, strict=True))

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """One row per prediction: node, predicted, truth, correct, error_rate (so far).

        Where there are `probabilities`, the column probability holds them.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default "pandas"
            The library whose table is made. It must be installed, and narwhals.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table

        Raises
        ------
        ValueError
            If `backend` is none of these.
        ImportError
            If it or narwhals is not installed.
        TypeError
            If nodes or labels are of several types, or tuples: only pandas has columns for them.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> fo.online_node_labeling(nx.path_graph(3), {0: "a", 1: "a", 2: "b"}).to_frame()[["correct", "error_rate"]]
           correct  error_rate
        0    False    1.000000
        1     True    0.500000
        2    False    0.666667
        """
        columns = {
            "node": self.nodes,
            "predicted": self.predicted,
            "truth": self.truth,
            "correct": np.array(self.correct, dtype=np.bool_),
            "error_rate": np.array(self.error_curve, dtype=np.float64),
        }
        if self.probabilities is not None:
            columns["probability"] = np.array(self.probabilities, dtype=np.float64)
        return make_frame(columns, backend)

    def plot(self, ax: Axes | None = None, **style: Any) -> Axes:
        """Draw the error rate so far against the number of nodes seen. Needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw, by default the current axes, so that several curves share a picture.
        **style
            Passed to ``ax.plot``: ``color``, ...; a ``label`` is shown in a legend.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        AttributeError
            If ``ax.plot`` does not know a style.

        Examples
        --------
        >>> import matplotlib; matplotlib.use("Agg")
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> ax = fo.online_node_labeling(nx.karate_club_graph(), "club").plot(label="FastONL")
        >>> ax.get_ylabel()
        'error rate'
        """
        ax = axes_or_current(ax, "plot")
        ax.plot(range(1, len(self) + 1), self.error_curve, **style)
        ax.set_xlabel("nodes seen")
        ax.set_ylabel("error rate")
        ax.set_ylim(bottom=0.0)
        if "label" in style:
            ax.legend()
        return ax

    def plot_calibration(self, ax: Axes | None = None) -> Axes:
        """Draw a reliability diagram: how often predictions were right, against how probable they were held.

        A point for each of ten bins that holds predictions, larger where it holds more. Points below the diagonal mean
        that the learner was too sure, points above that it was not sure enough. Needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw, by default the current axes, so that several curves share a picture.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ValueError
            If the method has no calibrated probabilities.
        ImportError
            If matplotlib is not installed.

        Examples
        --------
        >>> import matplotlib; matplotlib.use("Agg")
        >>> import matplotlib.pyplot as plt
        >>> import nx_fastonl as fo
        >>> seq = fo.LabelSequence(("a", "b"), (0, 1), ("a", "a"), (0.75, 0.5), (0.75, 0.5))
        >>> _, ax = plt.subplots()
        >>> seq.plot_calibration(ax).get_ylabel()
        'fraction right'
        >>> plt.close()
        """
        found = self.calibration()
        ax = axes_or_current(ax, "plot_calibration")
        ax.plot([0.0, 1.0], [0.0, 1.0], color="0.5", linestyle="--", linewidth=1.0)
        filled = [i for i, count in enumerate(found.counts) if count]
        x, y = ([values[i] for i in filled] for values in (found.confidences, found.accuracies))
        (line,) = ax.plot(x, y)
        largest = max(found.counts)
        areas = [15.0 + 85.0 * found.counts[i] / largest for i in filled]
        ax.scatter(x, y, areas, color=line.get_color(), zorder=3, clip_on=False)  # one at 1 stands on the rim
        ax.set_xlim(0.0, 1.0)
        ax.set_ylim(0.0, 1.0)
        ax.set_xlabel("probability of the predicted label")
        ax.set_ylabel("fraction right")
        return ax

    def _with_probabilities(self, name: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
        if self.probabilities is None or self.true_probabilities is None:
            raise ValueError(
                f"{name} needs calibrated probabilities, and the method of this stream has none; "
                'method="adaptive" has them'
            )
        return self.probabilities, self.true_probabilities
