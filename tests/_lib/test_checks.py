from fractions import Fraction

import numpy as np
import pytest

import nx_fastonl as fo
from nx_fastonl._lib import checks
from nx_fastonl._lib.checks import a_few, cut, shortened

HUGE = 10**400  # above the largest float
UNWRITABLE = 10**5_000  # more digits than Python writes


class Unshown:
    def __repr__(self):
        raise RuntimeError


def kind(value):
    """What pytest calls a value, which it could not write."""
    return type(value).__name__


@pytest.mark.parametrize(
    "value", [0, -7, 10**100, 0.5, float("nan"), "text", None, [1, 2], {"b": 1, "a": 2}, np.int8(3)]
)
def test_short_values_are_shown_as_they_are(value):
    assert shortened(value) == repr(value)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (HUGE, "an integer of about 401 digits"),
        (-HUGE, "a negative integer of about 401 digits"),
        (UNWRITABLE, "an integer of about 5,001 digits"),
        (Fraction(UNWRITABLE, 7), "a Fraction with an integer that is too long to show"),
        ([1, UNWRITABLE], "a list with an integer that is too long to show"),
        (Unshown(), "a Unshown whose repr raises"),
        ("x" * 100_000, f"'{'x' * 119}... (100,002 characters)"),
        (list(range(100_000)), f"{str(list(range(100)))[:120]}... (688,890 characters)"),
    ],
    ids=kind,
)
def test_long_values_are_shortened(value, shown):
    assert shortened(value) == shown


def test_text_of_a_message_is_cut_without_quotes():
    assert cut("x" * 120) == "x" * 120
    assert cut("x" * 121) == f"{'x' * 120}... (121 characters)"


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([], ""),
        (["a", 2], "'a', 2"),
        (range(5), "0, 1, 2, 3, 4"),
        (range(6), "0, 1, 2, 3, 4 and 1 more"),
        (dict.fromkeys(range(100_000)), "0, 1, 2, 3, 4 and 99,995 more"),
        ([HUGE], "an integer of about 401 digits"),
    ],
)
def test_a_few_of_many(values, shown):
    assert a_few(values) == shown


FLOATS = {
    "check_fraction": ((), "x must lie strictly between 0 and 1, and 1e-12 away from both"),
    "check_strictly_between": ((0.0, 1.5), "x must lie strictly between 0 and 1.5, and 1e-12 away from both"),
    "check_positive": ((), r"x must be a positive number up to 1e\+100"),
    "check_at_least_zero": ((), r"x must lie between 0 and 1e\+100"),
    "check_between": ((0.5, 2.0), "x must lie between 0.5 and 2"),
}


@pytest.mark.parametrize("value", [HUGE, -HUGE, UNWRITABLE, Fraction(HUGE), -Fraction(UNWRITABLE)], ids=kind)
@pytest.mark.parametrize("check", FLOATS)
def test_numbers_above_the_largest_float(check, value):
    others, message = FLOATS[check]
    with pytest.raises(ValueError, match=f"{message}, got (an? |Fraction)") as caught:
        getattr(checks, check)("x", value, *others)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("value", [HUGE, UNWRITABLE], ids=kind)
@pytest.mark.parametrize(("check", "others"), [("check_whole", (1,)), ("check_count", ()), ("check_jobs", ())])
def test_counts_that_are_no_counts(check, others, value):
    with pytest.raises(ValueError, match=r"x must be at most 1e\+100, got an integer of about [45],?[0-9]*1 digits"):
        getattr(checks, check)("x", value, *others)
    with pytest.raises(ValueError, match=r"x must be at least -?1, got a negative integer of about"):
        getattr(checks, check)("x", -value, *others)
    getattr(checks, check)("x", 10**100, *others)


def test_a_count_has_the_limit_that_is_asked_for():
    checks.check_whole("x", 9, least=1, most=9)
    with pytest.raises(ValueError, match="x must be at most 9, got 10"):
        checks.check_whole("x", 10, least=1, most=9)


def test_unknown_is_one_of_its_words():
    checks.check_unknown("error")
    checks.check_unknown("skip")
    with pytest.raises(ValueError, match=r'must be "error" or "skip", got \'y{119}\.\.\. \(100,002 characters\)$'):
        checks.check_unknown("y" * 100_000)


def test_what_is_no_number_is_shortened_too():
    with pytest.raises(
        TypeError, match=r"^x must be a dict \{node: value\}, got \[0, 1, .*\.\.\. \(688,890 characters\)$"
    ):
        checks.check_mapping("x", list(range(100_000)))
    with pytest.raises(TypeError, match=r"^x must be a number, got 'y{119}\.\.\. \(100,002 characters\)$"):
        checks.check_positive("x", "y" * 100_000)
    with pytest.raises(TypeError, match=r"^x must be a whole number, got 'y{119}\.\.\. \(100,002 characters\)$"):
        checks.check_whole("x", "y" * 100_000, least=1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda G: fo.personalized_pagerank_local(G, HUGE, 0), "alpha must lie strictly between 0 and 1"),
        (lambda G: fo.personalized_pagerank_local(G, personalization=0, epsilon=HUGE), "epsilon must be a positive"),
        (lambda G: fo.personalized_pagerank_local(G, personalization=0, tol=HUGE), "tol must be a positive number"),
        (lambda G: fo.personalized_pagerank_local(G, personalization=0, top_k=HUGE), "top_k must be at most 1e"),
        (lambda G: fo.ppr_matrix(G, [0], n_jobs=HUGE), "n_jobs must be at most 1e"),
        (lambda G: fo.fifo_push(G, 0, alpha=HUGE, kind="laplacian"), "alpha must lie between 1e-100 and 1e"),
        (lambda G: fo.fifo_push(G, 0, max_operations=HUGE), "max_operations must be at most 1e"),
        (lambda G: fo.OnlineNodeLabeler(G, epsilon=HUGE), "epsilon must be a positive number up to 1e"),
        (lambda G: fo.OnlineNodeLabeler(G, smoothness=HUGE), "smoothness must lie between 1e-09 and 1e"),
        (lambda G: fo.OnlineNodeLabeler(G, method="approximate", terms=HUGE), "terms must be at most 1e"),
        (lambda G: fo.OnlineNodeLabeler(G, method="weighted-tree", trees=HUGE), "trees must be at most 1e"),
        (lambda G: fo.OnlineNodeLabeler(G).fit({0: "a"}).certify_one(1, max_operations=HUGE), "at most 1e"),
    ],
)
def test_arguments(karate, call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call(karate)
    assert str(caught.value).endswith("got an integer of about 401 digits")
