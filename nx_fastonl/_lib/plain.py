"""Names of nodes and labels: which values are none, and names <-> values that JSON holds without loss."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from nx_fastonl._lib.checks import shortened

# Python reads and writes integers of up to 4,300 digits as text.
MAX_BITS = 14_000
MAX_DEPTH = 50


def is_missing(value: Any) -> bool:
    """Whether this value means that there is none: None, NaN, a masked entry, or what pandas makes of these."""
    if value is None or value is np.ma.masked:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA has no truth value; an array raises elsewhere
        return isinstance(value, Hashable)


def to_json(name: Any, what: str, depth: int = 0) -> Any:
    """A name as JSON holds it; `what` it names is said in errors. A number or text of numpy becomes Python's."""
    if isinstance(name, bool | np.bool_):
        return bool(name)
    if isinstance(name, str):
        return str.__str__(name)
    if isinstance(name, int | np.integer) and int(name).bit_length() <= MAX_BITS:
        return int(name)
    if isinstance(name, float | np.floating) and not math.isnan(name) and float(name) == name:
        return float(name)
    if isinstance(name, tuple) and depth < MAX_DEPTH:
        return [to_json(part, what, depth + 1) for part in name]
    raise TypeError(
        f"{what} {shortened(name)} is a {type(name).__module__}.{type(name).__qualname__}, which cannot be saved; "
        "integers, texts, numbers, True, False and tuples of these can"
    )


def from_json(value: Any) -> Hashable:
    """The name that `to_json` made this value of."""
    if isinstance(value, list):
        return tuple(map(from_json, value))
    if isinstance(value, bool | int | float | str):
        return value
    raise ValueError(f"{shortened(value)} is no name")
