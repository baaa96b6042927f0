"""The page on which numbers are allowed says what the code checks."""

import re
from pathlib import Path

from nx_fastonl._lib import limits

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "numbers.md"
# The rows of the page, with the constants behind them; None where the number is explained in words.
RANGES = {
    "the weight of an edge": limits.WEIGHT_RANGE,
    "the weight of an arc of a directed graph": limits.ARC_RANGE,
    "a mass of a seed, `epsilon`, `tol`, `beta`, `b`, `forgetting`": (0, limits.LARGEST_NUMBER),
    "`alpha`, a probability": (limits.SMALLEST_FRACTION, f"1 - {limits.SMALLEST_FRACTION:g}"),
    "`smoothness`, and `lam` divided by n": limits.SMOOTHNESS_RANGE,
    "`S`": limits.S_RANGE,
    'a weighted degree with `dtype="float32"`': limits.SINGLE_DEGREES,
    "the largest weight over the smallest, for resistances in a component of more than 2,000 nodes that is no tree": (
        1,
        limits.MAX_WEIGHT_RATIO,
    ),
    "a time": None,
}
FRACTIONS = {"c / D": limits.SMALLEST_C, 'c / D with `dtype="float32"`': limits.SINGLE_FRACTION}


def rows():
    lines = PAGE.read_text("utf-8").splitlines()
    tables = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    return {cells[0]: cells[1:-1] for cells in tables if cells[0] not in ("number", "fraction")}


def test_the_page_has_the_ranges():
    found = rows()
    assert list(found) == [*RANGES, *FRACTIONS]
    for name, bounds in RANGES.items():
        if bounds is not None:
            shown = [bound if isinstance(bound, str) else f"{bound:g}" for bound in bounds]
            assert found[name] == shown, name
    for name, least in FRACTIONS.items():
        assert found[name] == [f"{least:g}"]


def test_no_other_module_has_ranges_of_its_own():
    folder = Path(limits.__file__).parents[1]
    for path in folder.rglob("*.py*"):
        if path.suffix in (".py", ".pyx", ".pyi") and path.name != "limits.py":
            for line in path.read_text("utf-8").splitlines():
                assert not re.search(r"\b1e-\d+, 1e\+?\d+", line), f"{path}: {line}"
