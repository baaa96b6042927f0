"""Pieces of views: whatever the text, it stays a text."""

import math
from dataclasses import dataclass
from html import unescape

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nx_fastonl._lib.html import (
    CURVE_POINTS,
    NAME_CHARACTERS,
    NAMES_SHOWN,
    bars,
    curve,
    facts,
    few_names,
    fraction,
    heading,
    name_of,
    note,
    number,
    record_view,
    table,
    tint,
    view,
    view_or_none,
)
from tests.views import View

HOSTILE = [
    "<script>alert(1)</script>",
    "a\nb",
    "</style>",
    "&lt;",
    '"onload="x',
    "'",
    "\u202eevil",
    "\x00",
    "",
    " ",
    "é漢🙂",
]
texts = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=60))


class Unspeakable:
    def __repr__(self):
        raise RuntimeError("no")


@given(texts, texts, texts, st.lists(texts, min_size=1, max_size=3))
def test_every_text_comes_back_as_it_was(kind, text, other, names):
    names = [name.replace("\x00", "0").replace("\r", "r") for name in names]  # which no HTML can hold
    kind, text, other = (each.replace("\x00", "0").replace("\r", "r") for each in (kind, text, other))
    rows = [(name, [(text, tint("1,2,3", 0.5)), (other, "")]) for name in names]
    parts = [
        heading(kind),
        note(text),
        facts({text: other}),
        table([text, other], rows, kind),
        curve([0.5], text, other),
    ]
    found = View(view(kind, text, *parts, bars([1, 2], (kind, text, other), other)))
    assert found.tables == [[[kind, text, other], *([name, text, other] for name in names)]]
    assert "".join(found.texts).count(kind) >= 4


def test_empty_parts_are_left_out():
    assert view("a", "b", "", note("c")).count('class="part"') == 1
    assert View(facts({"a": None, "b": 1})).facts == {"b": "1"}
    assert curve([], "x", "d") == bars([], ("", "", ""), "d") == bars([0, 0], ("", "", ""), "d") == ""


@given(st.one_of(texts, st.integers(), st.floats(), st.tuples(texts, st.integers()), st.binary()))
def test_names_are_short_and_printable(value):
    shown = name_of(value)
    assert 0 < len(shown) <= NAME_CHARACTERS + 1
    assert shown.isprintable()
    assert shown.strip()


def test_names():
    assert name_of("a") == "a"
    assert name_of(("a", 1)) == "('a', 1)"
    assert name_of("a\nb") == r"'a\nb'"
    assert name_of("") == "''"
    assert name_of("x" * 100) == "x" * NAME_CHARACTERS + "…"
    assert name_of(Unspeakable()) == "a Unspeakable"
    assert few_names(range(3), 3) == "0, 1, 2"
    assert few_names(iter(range(10**9)), 10**9) == "0, 1, 2, 3, 4, 999,999,995 more"
    assert few_names("abcdef", 6).count(",") == NAMES_SHOWN


def test_numbers():
    assert [number(1234567), number(0.123456), number(math.nan), number(-(10**30))] == [
        "1,234,567",
        "0.1235",
        "nan",
        "-1e+30",
    ]
    assert fraction(1, 3) == "33.3 %"
    assert fraction(0, 0) == "-"


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=400))
def test_a_curve_goes_through_its_values(values):
    found = View(curve(values, "x", "d"))
    assert len(found.points) <= CURVE_POINTS
    assert len(found.points) == min(len(values), CURVE_POINTS)
    assert all(0.0 <= x <= 300.0 and 0.0 <= y <= 96.0 for x, y in found.points)
    top = float(found.texts[2]) if found.texts[2] != "0" else 1.0
    assert found.points[-1][1] == pytest.approx(96.0 * (1.0 - values[-1] / top), abs=0.06) or top < 1e-3
    least = min(values)
    if least == values[0]:  # not cut off
        assert found.points[0][1] == pytest.approx(96.0 * (1.0 - least / top), abs=0.06) or top < 1e-3


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=40))
def test_bars_are_as_high_as_their_counts(counts):
    if not any(counts):
        return
    heights = View(bars(counts, ("a", "b", "c"), "d")).bars
    wanted = [96.0 * count / max(counts) for count in counts if count]
    assert heights == pytest.approx(wanted, abs=0.051)


@dataclass(frozen=True)
class Record:
    count: int
    share: float
    proven: bool
    label: object
    groups: tuple
    nothing: None = None

    def _repr_html_(self) -> str | None:
        return record_view(self)


def test_records():
    found = View(Record(1234, 0.5, True, "<b>\n", ((1, 2), ("a",)))._repr_html_()).facts
    assert found == {
        "count": "1,234",
        "share": "0.5",
        "proven": "yes",
        "label": r"'<b>\n'",
        "groups": "(1, 2), ('a',)",
        "nothing": "None",
    }
    assert View(Record(1, 0.0, False, ("a", 1), ())._repr_html_()).facts["label"] == "('a', 1)"
    assert View(Record(1, 0.0, np.bool_(True), None, ())._repr_html_()).facts["proven"] == "yes"


@pytest.mark.parametrize("name", [True, 2024, 0.30000000000000004, 10**20, "a", (1, 2), ((1, 2), (3, 4)), None])
def test_names_in_records(name):
    found = View(record_view(Record(1234, 0.5, True, name, ()), names=("label",))).facts
    assert (found["label"], found["count"]) == (str(name), "1,234")


def test_nothing_is_raised():
    def fail():
        raise RuntimeError("no")

    assert view_or_none(fail) is None
    assert view_or_none(lambda: "view") == "view"
    assert record_view("no dataclass") is None


def test_tints_are_translucent():
    strengths = [float(tint("1,2,3", strength).rpartition(",")[2][:-1]) for strength in (-1.0, 0.0, 0.5, 1.0, 9.0)]
    assert strengths == sorted(strengths)
    assert strengths[0] == 0.0
    assert strengths[-1] < 0.5
    assert unescape(tint("1,2,3", 0.0)) == "rgba(1,2,3,0.00)"
