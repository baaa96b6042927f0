"""Labels as scikit-learn has them: arrays in which -1 stands for a label that is not known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from nx_fastonl._lib.checks import shortened
from nx_fastonl._lib.frames import Table, is_frame, read_frame
from nx_fastonl._lib.plain import is_missing
from nx_fastonl.labeling.labels import UNLABELLED

__all__ = ["check_same_kind", "classes_and_codes", "codes_among", "labels_of"]

# What becomes of -1 among texts.
UNLABELLED_TEXTS = (str(UNLABELLED), str(UNLABELLED).encode())


def labels_of(y: Any, n: int, estimator: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The labels as an array with an entry for each of n nodes, and which of them are known."""
    if y is None:
        raise ValueError(f"{estimator} requires y to be passed, but the target y is None")
    if isinstance(y, Mapping):
        raise TypeError(
            f"y must be an array with a label, or -1, for each node of X in turn, got {shortened(y)}. "
            "OnlineNodeLabeler.fit takes a dict of nodes"
        )
    y = _with_integers(y)
    labels: NDArray[Any] = column_or_1d(_as_objects(y) if isinstance(y, list | tuple) else y, warn=True)
    if len(labels) != n:
        raise ValueError(f"y must hold a label, or -1, for each of the {n} nodes of X in turn, got {len(labels)}")
    known = _known(labels)
    return labels, known & ~np.ma.getmaskarray(y).ravel() if isinstance(y, np.ma.MaskedArray) else known


def _with_integers(y: Any) -> Any:
    """A column with gaps as Python objects: scikit-learn would make floats of integers among them."""
    dtype = getattr(y, "dtype", None)
    if isinstance(dtype, np.dtype) or not is_frame(y):
        return y
    found = read_frame(y, "y")
    if isinstance(found, Table) and len(found.columns) == 1:
        return _with_integers(found.column(0).native)
    if (getattr(dtype, "kind", "") in ("i", "u", "b") or str(dtype) == "category") and hasattr(
        y, "astype"
    ):  # of pandas
        return np.asarray(y.astype(object))
    to_list = getattr(y, "to_pylist", None) or getattr(y, "to_list", None)
    return to_list() if to_list is not None and hasattr(y, "null_count") else y  # of Arrow and polars


def _as_objects(y: list[Any] | tuple[Any, ...]) -> NDArray[Any]:
    """A list as an array. NumPy would make the text "-1" of -1 beside other texts."""
    array = np.asarray(y)
    if array.ndim == 1 and array.dtype.kind in "US" and not all(isinstance(label, str | bytes) for label in y):
        return np.array(y, dtype=object)
    return array


def _known(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Which entries are neither -1 nor missing."""
    kind = labels.dtype.kind
    if kind not in "iuf" and any(isinstance(label, str | bytes) and label in UNLABELLED_TEXTS for label in labels):
        raise ValueError(
            'y holds texts, and "-1" among them: nodes without a label are -1 or None in an array with dtype=object'
        )
    if kind in "US":
        return np.ones(len(labels), dtype=bool)
    if kind in "iuf":
        if np.isinf(labels).any():
            raise ValueError("Input y contains infinity; labels are whole numbers or texts")
        return np.asarray((labels == labels) & (labels != UNLABELLED))
    return np.array([not _is_unknown(label) for label in labels], dtype=bool)


def _is_unknown(label: Any) -> bool:
    return is_missing(label) or (isinstance(label, int | float | np.number) and label == UNLABELLED)


def classes_and_codes(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The different labels in order, and the number of each label among them. None of the labels is unknown."""
    if labels.dtype.kind == "O" and not any(isinstance(label, str) for label in labels):
        other = next((label for label in labels if isinstance(label, Iterable)), None)
        if other is not None:
            raise TypeError(f"labels must be whole numbers or texts, got {shortened(other)}")
        labels = np.array(labels.tolist())  # whole numbers, beside None
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels})
        raise TypeError(f"the labels of y cannot be ordered, they are of types {', '.join(kinds)}") from None
    check_classification_targets(labels)
    return classes, codes


def codes_among(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """The numbers of labels among classes that were given before."""
    found, codes = classes_and_codes(labels)
    new = [label for label in found.tolist() if label not in classes.tolist()]
    if new:
        raise ValueError(
            f"label {shortened(new[0])} of y is not one of the classes: {shortened(classes.tolist())}; the first call "
            "of partial_fit takes all of them as classes="
        )
    return np.searchsorted(classes, found)[codes]


def check_same_kind(labels: NDArray[Any], classes: NDArray[Any]) -> None:
    """Raise an error if only labels are texts, or only classes."""
    are_texts = {isinstance(label, str) for label in labels.tolist()}
    if are_texts.isdisjoint({isinstance(label, str) for label in classes.tolist()}):
        raise ValueError(
            f"y has labels such as {shortened(labels.tolist()[0])}, and those of fit are such as "
            f"{shortened(classes.tolist()[0])}: only one of both are texts"
        )
