"""The labels predicted along a stream, beside the true ones."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["LabelSequence"]


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

    Examples
    --------
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> seq = fo.online_node_labeling(nx.karate_club_graph(), "club")
    >>> seq
    LabelSequence of 34 predictions, 11 mistakes (error rate 0.324)
    >>> seq[:3].truth
    ('Mr. Hi', 'Mr. Hi', 'Mr. Hi')
    """

    predicted: tuple[Any, ...]
    nodes: tuple[Any, ...]
    truth: tuple[Hashable, ...]

    def __len__(self) -> int:
        return len(self.predicted)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> LabelSequence: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return LabelSequence(self.predicted[index], self.nodes[index], self.truth[index])
        return self.predicted[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.predicted)

    def __repr__(self) -> str:
        rate = f" (error rate {self.error_rate:.3f})" if self else ""
        return f"LabelSequence of {len(self)} predictions, {self.mistakes} mistakes{rate}"

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

    def to_pandas(self) -> pd.DataFrame:
        """One row per prediction: node, predicted, truth, correct, error_rate (so far). Needs pandas.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ImportError
            If pandas is not installed.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> fo.online_node_labeling(nx.path_graph(3), {0: "a", 1: "a", 2: "b"}).to_pandas()[["correct", "error_rate"]]
           correct  error_rate
        0    False    1.000000
        1     True    0.500000
        2    False    0.666667
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_pandas() needs pandas: pip install pandas") from error
        columns = {
            "node": pd.Series(self.nodes, dtype=None if self else object),
            "predicted": pd.Series(self.predicted, dtype=object),
            "truth": pd.Series(self.truth, dtype=object),
            "correct": pd.Series(self.correct, dtype=bool),
            "error_rate": pd.Series(self.error_curve, dtype=float),
        }
        return pd.DataFrame(columns)

    def plot(self, ax: Axes | None = None, **style: Any) -> Axes:
        """Draw the error rate so far against the number of nodes seen. Needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw, by default the current axes.
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
        if ax is None:
            try:
                import matplotlib.pyplot as plt
            except ImportError as error:
                raise ImportError("plot() needs matplotlib: pip install matplotlib") from error
            ax = plt.gca()
        ax.plot(range(1, len(self) + 1), self.error_curve, **style)
        ax.set_xlabel("nodes seen")
        ax.set_ylabel("error rate")
        ax.set_ylim(bottom=0.0)
        if "label" in style:
            ax.legend()
        return ax
