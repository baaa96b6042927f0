"""Checks of what callers pass, made once at the edge: each names the value and says what would be right."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable
from itertools import islice
from numbers import Integral, Real
from typing import Any, Literal, get_args

from nx_fastonl._lib.limits import LARGEST_COUNT, LARGEST_NUMBER, SMALLEST_FRACTION

# What of a value is shown in a message: this many characters, this many values of a collection.
SHOWN_CHARACTERS = 120
SHOWN_VALUES = 5
# Characters that act instead of being shown, except for the tab and the end of a line: those that a terminal obeys,
# other ends of lines, those that turn the direction of a text around, and halves of characters.
ACTING = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
# What to do with nodes that the graph does not have.
Unknown = Literal["error", "skip"]
# The same for nodes that have labels. A graph that changes can get them.
UnknownLabels = Literal["error", "skip", "add"]


def shortened(value: object) -> str:
    """The value as messages show it: its `repr`, or the beginning of that if it is long."""
    if isinstance(value, int) and value.bit_length() > SHOWN_CHARACTERS * math.log2(10):
        digits = math.ceil(value.bit_length() * math.log10(2))
        return f"{'a negative' if value < 0 else 'an'} integer of about {digits:,} digits"
    try:
        text = repr(value)
    except ValueError:  # Python refuses to write integers of more than 4,300 digits, here inside of another value
        return f"a {type(value).__name__} with an integer that is too long to show"
    except Exception:  # noqa: BLE001  of the value's own code: the message is about something else
        return f"a {type(value).__name__} whose repr raises"
    return cut(text)


def cut(text: str) -> str:
    """The text, or the beginning of one that is too long for a message."""
    if len(text) <= SHOWN_CHARACTERS:
        return text
    return f"{text[:SHOWN_CHARACTERS]}... ({len(text):,} characters)"


def perhaps(word: str, words: Iterable[str]) -> str:
    """Hint at the one of these words that is spelled much like another word, if there is one."""
    import difflib  # takes longer to load than most commands to run

    found = difflib.get_close_matches(word, words, n=1, cutoff=0.7)
    return f"; perhaps {found[0]} was meant" if found else ""


def printable(text: str) -> str:
    """The text as people may see it, on a terminal or in a picture: with escapes for characters that act."""
    return ACTING.sub(lambda found: repr(found[0])[1:-1], text)


def a_few(values: Collection[object]) -> str:
    """The first of these values, as messages show them, and how many others there are."""
    shown = ", ".join(map(shortened, islice(values, SHOWN_VALUES)))
    others = len(values) - SHOWN_VALUES
    return f"{shown} and {others:,} more" if others > 0 else shown


def check_fraction(name: str, value: float) -> float:
    check_strictly_between(name, value, 0.0, 1.0)
    return float(value)  # a number in single precision would make all later results single precision


def check_strictly_between(name: str, value: float, least: float, most: float) -> None:
    _check_number(name, value)
    if not least + SMALLEST_FRACTION <= as_float(value) <= most - SMALLEST_FRACTION:
        raise ValueError(
            f"{name} must lie strictly between {least:g} and {most:g}, and {SMALLEST_FRACTION:g} away from both, "
            f"got {shortened(value)}"
        )


def check_positive(name: str, value: float) -> float:
    _check_number(name, value)
    plain = as_float(value)  # single precision could not be compared with the largest number
    if not 0.0 < plain <= LARGEST_NUMBER:
        raise ValueError(f"{name} must be a positive number up to {LARGEST_NUMBER:g}, got {shortened(value)}")
    return plain


def check_at_least_zero(name: str, value: float) -> None:
    check_between(name, value, 0.0, LARGEST_NUMBER)


def check_between(name: str, value: float, least: float, most: float) -> None:
    _check_number(name, value)
    if not least <= as_float(value) <= most:
        raise ValueError(f"{name} must lie between {least:g} and {most:g}, got {shortened(value)}")


def check_count(name: str, value: int | None, least: int = 1) -> None:
    if value is not None:
        check_whole(name, value, least)


def check_whole(name: str, value: int, least: int, most: int = LARGEST_COUNT) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, got {shortened(value)}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {shortened(value)}")
    if value > most:
        raise ValueError(f"{name} must be at most {most:g}, got {shortened(value)}")


def check_jobs(name: str, value: int | None) -> None:
    check_count(name, value, least=-1)
    if value == 0:
        raise ValueError(f"{name} must be a positive number, or -1 for one per core, got 0")


def check_mapping(name: str, value: object) -> None:
    if not hasattr(value, "items"):
        raise TypeError(f"{name} must be a dict {{node: value}}, got {shortened(value)}")


def check_unknown(value: object, *, can_grow: bool = False) -> None:
    words = get_args(UnknownLabels if can_grow else Unknown)
    if not (isinstance(value, str) and value in words):
        valid = " or ".join(f'"{word}"' for word in words)
        hint = "; a DynamicGraph can add them" if value == "add" else ""
        raise ValueError(f"unknown, for nodes that are not in the graph, must be {valid}, got {shortened(value)}{hint}")


def _check_number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {shortened(value)}")


def as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer or a fraction above the largest float, which every range excludes
        return math.inf if value > 0 else -math.inf
