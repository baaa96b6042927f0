"""Which labels stand beside each other."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.checks import a_few, cut, shortened
from nx_fastonl._lib.frames import Backend, make_frame
from nx_fastonl._lib.html import view_or_none
from nx_fastonl.labeling.views import compatibility_view

__all__ = ["Compatibility"]

# Sentences that a Compatibility shows of itself, below its first line.
MAX_SENTENCES = 9


@dataclass(frozen=True, repr=False, eq=False)
class Compatibility:
    """How much more or less often than by chance nodes with one label are joined to nodes with another.

    ``compatibility["a", "b"]`` is the ratio of two labels. Above 1 they attract each other, below 1 they repel. Of a
    directed graph, it is about arcs from nodes with label "a" to nodes with label "b".

    Attributes
    ----------
    labels : tuple
        The labels known.
    ratios : numpy.ndarray
        ``ratios[i, j]`` is how many times as often as chance nodes with ``labels[i]`` are joined to nodes with
        ``labels[j]``. It cannot be changed.
    counts : numpy.ndarray
        ``counts[i, j]`` is the weight of the edges between them that was counted. It cannot be changed.
    directed : bool
        Whether arcs were counted: rows point to columns.

    Examples
    --------
    >>> import nx_fastonl as fo
    >>> found = fo.Compatibility(("fox", "hen"), ratios=[[0.5, 3.14], [3.14, 1.0]], counts=[[2, 20], [20, 4]])
    >>> found
    Compatibility of 2 labels
    fox is joined to hen 3.1 times as often as chance
    fox is joined to fox 0.5 times as often as chance
    >>> found["hen", "fox"]
    3.14
    >>> fo.Compatibility(("fox", "hen"), ratios=[[1.0, 3.14], [0.4, 1.0]], counts=[[2, 20], [4, 2]], directed=True)
    Compatibility of 2 labels
    fox points to hen 3.1 times as often as chance, hen to fox 0.4 times
    """

    labels: tuple[Any, ...]
    ratios: NDArray[np.float64]
    counts: NDArray[np.float64]
    directed: bool = False

    def __post_init__(self) -> None:
        k = len(self.labels)
        for name in ("ratios", "counts"):
            values = np.array(getattr(self, name), dtype=np.float64)
            if values.shape != (k, k):
                raise ValueError(f"{name} must have a row and a column for each of {k} labels, got {values.shape}")
            values.setflags(write=False)
            object.__setattr__(self, name, values)

    def __reduce__(self) -> tuple[Any, ...]:
        # Which makes the arrays read-only again.
        return Compatibility, (self.labels, self.ratios, self.counts, self.directed)

    def __getitem__(self, pair: tuple[Hashable, Hashable]) -> float:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f'two labels are needed, as in compatibility["a", "b"], got {shortened(pair)}')
        for label in pair:
            if label not in self.labels:
                raise KeyError(f"label {shortened(label)} is not one of {a_few(self.labels)}")
        return float(self.ratios[self.labels.index(pair[0]), self.labels.index(pair[1])])

    def __repr__(self) -> str:
        return "\n".join([f"Compatibility of {len(self.labels)} labels", *self._sentences()])

    def _repr_html_(self) -> str | None:
        return view_or_none(self._view)

    def _view(self) -> str:
        verb = (
            "of the row points to one of the column" if self.directed else "of the row is joined to one of the column"
        )
        return compatibility_view(self.labels, self.ratios, self.counts, verb)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """One row per pair of labels: label, neighbor, ratio, count.

        Of a directed graph, nodes with the label point to those of the neighbor.

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
            If labels are of several types, or tuples: only pandas has columns for them.

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> found = fo.Compatibility(("fox", "hen"), ratios=[[0.5, 3.1], [3.1, 1.0]], counts=[[2, 20], [20, 4]])
        >>> found.to_frame()
          label neighbor  ratio  count
        0   fox      fox    0.5    2.0
        1   fox      hen    3.1   20.0
        2   hen      fox    3.1   20.0
        3   hen      hen    1.0    4.0
        """
        pairs = [(label, neighbor) for label in self.labels for neighbor in self.labels]
        columns = {
            "label": [label for label, _ in pairs],
            "neighbor": [neighbor for _, neighbor in pairs],
            "ratio": self.ratios.ravel(),
            "count": self.counts.ravel(),
        }
        return make_frame(columns, backend)

    def _sentences(self) -> Iterator[str]:
        """What is furthest from chance, the furthest first."""
        for i, j in self._strongest():
            if self.directed and self.ratios[j, i] > self.ratios[i, j]:
                i, j = j, i  # who points to whom, before who does not
            one, other = (cut(str(self.labels[number])) for number in (i, j))
            verb = "points" if self.directed else "is joined"
            sentence = f"{one} {verb} to {other} {written(self.ratios[i, j])} times as often as chance"
            if self.directed and i != j and not np.isnan(self.ratios[j, i]):
                sentence += f", {other} to {one} {written(self.ratios[j, i])} times"
            yield sentence

    def _strongest(self) -> list[tuple[int, int]]:
        """The pairs of labels whose ratios are furthest from 1 on a logarithmic scale, as far as they are shown.

        0 has no logarithm. Half an edge stands for no edge: then it is further, the more edges there are by chance.
        """
        by_chance = np.outer(self.counts.sum(axis=1), self.counts.sum(axis=0)) / max(self.counts.sum(), 1.0)
        ratios = np.where(self.ratios == 0.0, np.minimum(0.5 / np.maximum(by_chance, 0.5), 1.0), self.ratios)
        distances = np.abs(np.log(ratios))
        distances[np.isnan(distances)] = 0.0  # nothing is known
        # A sentence is about both directions: that which is further from chance comes first.
        said = (distances < distances.T) | np.tril(distances == distances.T, -1)
        distances[said & (self.directed | (self.ratios == self.ratios.T))] = 0.0
        rows, columns = np.nonzero(distances)
        order = np.lexsort((-self.counts[rows, columns], -distances[rows, columns]))[:MAX_SENTENCES]
        pairs = zip(rows[order].tolist(), columns[order].tolist(), strict=True)
        return [(i, j) for i, j in pairs if written(self.ratios[i, j]) != "1"]


def written(ratio: float) -> str:
    """A ratio with two digits, or as a whole number."""
    return f"{ratio:.2g}" if ratio < 10.0 else f"{ratio:,.0f}"
