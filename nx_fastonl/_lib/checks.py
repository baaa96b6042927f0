"""Checks of what callers pass, made once at the edge: each names the value and says what would be right."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real

# Sums and quotients of weights inside this range neither overflow nor vanish.
WEIGHT_RANGE = (1e-100, 1e100)
# Closer to 0 or 1 than this, alpha and 1 - alpha no longer have enough digits to compute with.
SMALLEST_FRACTION = 1e-12


def check_fraction(name: str, value: float) -> float:
    check_strictly_between(name, value, 0.0, 1.0)
    return float(value)  # a number in single precision would make all later results single precision


def check_strictly_between(name: str, value: float, least: float, most: float) -> None:
    _check_number(name, value)
    if not least + SMALLEST_FRACTION <= value <= most - SMALLEST_FRACTION:
        raise ValueError(
            f"{name} must lie strictly between {least:g} and {most:g}, and {SMALLEST_FRACTION:g} away from both, "
            f"got {value!r}"
        )


def check_positive(name: str, value: float) -> float:
    _check_number(name, value)
    plain = float(value)  # single precision could not be compared with the largest number
    if not 0.0 < plain <= WEIGHT_RANGE[1]:
        raise ValueError(f"{name} must be a positive number up to {WEIGHT_RANGE[1]:g}, got {value!r}")
    return plain


def check_at_least_zero(name: str, value: float) -> None:
    check_between(name, value, 0.0, WEIGHT_RANGE[1])


def check_between(name: str, value: float, least: float, most: float) -> None:
    _check_number(name, value)
    if not least <= float(value) <= most:
        raise ValueError(f"{name} must lie between {least:g} and {most:g}, got {value!r}")


def check_count(name: str, value: int | None, least: int = 1) -> None:
    if value is not None:
        check_whole(name, value, least)


def check_whole(name: str, value: int, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value!r}")


def check_jobs(name: str, value: int | None) -> None:
    check_count(name, value, least=-1)
    if value == 0:
        raise ValueError(f"{name} must be a positive number, or -1 for one per core, got 0")


def check_mapping(name: str, value: object) -> None:
    if not hasattr(value, "items"):
        raise TypeError(f"{name} must be a dict {{node: value}}, got {value!r}")


def _check_number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")


def a_few(values: Sequence[object], most: int = 5) -> str:
    """The first of several values, and how many there are beyond these."""
    listed = ", ".join(map(repr, values[:most]))
    return f"[{listed}]" if len(values) <= most else f"[{listed}, ... and {len(values) - most:,} more]"
