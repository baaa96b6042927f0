"""How often predictions are right, beside how probable they were."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nx_fastonl._lib.frames import Backend, make_frame
from nx_fastonl._lib.html import view_or_none
from nx_fastonl.labeling.views import calibration_view

__all__ = ["Calibration"]


@dataclass(frozen=True, repr=False)
class Calibration:
    """Predictions in bins of their probability: the answer of `LabelSequence.calibration`.

    Bins are of equal width. With ten, the first holds probabilities from 0 up to, but without, 0.1; the last those from
    0.9 to 1, both included. Where probabilities are calibrated, `confidences` and `accuracies` agree.

    Attributes
    ----------
    counts : tuple of int
        How many predictions are in each bin.
    confidences : tuple of float
        The mean probability of the predicted labels in each bin; NaN in an empty bin.
    accuracies : tuple of float
        The fraction of the predictions in each bin that were right; NaN in an empty bin.

    Examples
    --------
    >>> import nx_fastonl as fo
    >>> probabilities = (0.9, 0.8, 0.6, 0.7)
    >>> seq = fo.LabelSequence(("a", "b", "a", "b"), (0, 1, 2, 3), ("a", "b", "b", "b"), probabilities, probabilities)
    >>> found = seq.calibration(bins=2)
    >>> found
    Calibration of 4 predictions in 2 bins: mean probability 0.750, accuracy 0.750, calibration error 0.000
    >>> found.counts, found.error
    ((0, 4), 0.0)
    """

    counts: tuple[int, ...]
    confidences: tuple[float, ...]
    accuracies: tuple[float, ...]

    def __repr__(self) -> str:
        size = f"{sum(self.counts)} predictions in {len(self.counts)} bins"
        if not any(self.counts):
            return f"Calibration of {size}"
        means = f"mean probability {self._mean(self.confidences):.3f}, accuracy {self._mean(self.accuracies):.3f}"
        return f"Calibration of {size}: {means}, calibration error {self.error:.3f}"

    def _repr_html_(self) -> str | None:
        return view_or_none(self._view)

    def _view(self) -> str:
        means = {
            "mean probability": self._mean(self.confidences),
            "accuracy": self._mean(self.accuracies),
            "calibration error": self.error,
        }
        return calibration_view(self.counts, means, zip(self.confidences, self.accuracies, strict=True))

    @property
    def error(self) -> float:
        """The expected calibration error; NaN without predictions.

        It is the mean over predictions of the difference between probability and accuracy in their bin.
        """
        return self._mean([abs(p - right) for p, right in zip(self.confidences, self.accuracies, strict=True)])

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """One row per bin: low, high (its bounds), count, confidence, accuracy.

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

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> seq = fo.LabelSequence(("a", "b"), (0, 1), ("a", "a"), (0.75, 0.5), (0.75, 0.5))
        >>> seq.calibration(bins=2).to_frame()
           low  high  count  confidence  accuracy
        0  0.0   0.5      0         NaN       NaN
        1  0.5   1.0      2       0.625       0.5
        """
        edges = np.array(bin_edges(len(self.counts)))
        columns = {
            "low": edges[:-1],
            "high": edges[1:],
            "count": np.array(self.counts, dtype=np.int64),
            "confidence": np.array(self.confidences, dtype=np.float64),
            "accuracy": np.array(self.accuracies, dtype=np.float64),
        }
        return make_frame(columns, backend)

    def _mean(self, of_bins: Sequence[float]) -> float:
        """The mean over all predictions of what is known of their bin."""
        total = sum(self.counts)
        weighted = (count * value for count, value in zip(self.counts, of_bins, strict=True) if count)
        return math.fsum(weighted) / total if total else math.nan


def bin_edges(bins: int) -> list[float]:
    """The bounds of bins of equal width: a number as written, such as 0.3, is equal to the bound of this name."""
    return [i / bins for i in range(bins + 1)]


def calibration_of(probabilities: Sequence[float], correct: Sequence[bool], bins: int) -> Calibration:
    """The calibration of predictions that have these probabilities, and were correct or not."""
    chosen = np.searchsorted(bin_edges(bins)[1:-1], probabilities, side="right")
    counts = np.bincount(chosen, minlength=bins)
    sums = (np.bincount(chosen, values, minlength=bins) for values in (probabilities, correct))
    # One NaN object for all: tuples that hold the same object are equal.
    confidences, accuracies = (
        tuple(total / count if count else math.nan for total, count in zip(each.tolist(), counts.tolist(), strict=True))
        for each in sums
    )
    return Calibration(tuple(counts.tolist()), confidences, accuracies)
