import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

import nx_fastonl as fo

RATIOS = [[0.25, 3.14, 1.0], [3.14, 1.02, 0.0], [12.4, 2.0, math.nan]]
COUNTS = [[1.0, 9.0, 3.0], [9.0, 8.0, 0.0], [40.0, 4.0, 0.0]]


@pytest.fixture
def found():
    return fo.Compatibility(("a", "b", ("c", 1)), RATIOS, COUNTS)


def test_ratios_by_name(found):
    assert found["a", "b"] == 3.14
    assert found[("c", 1), "a"] == 12.4
    assert found["a", ("c", 1)] == 1.0
    assert type(found["a", "b"]) is float


def test_unknown_labels(found):
    with pytest.raises(KeyError, match="label 'x' is not one of 'a', 'b', \\('c', 1\\)"):
        found["a", "x"]
    for key in ("a", ("a",), ("a", "b", "a"), "ab"):
        with pytest.raises(TypeError, match="two labels are needed"):
            found[key]


def test_sentences_name_what_is_furthest_from_chance(found):
    assert (
        repr(found).splitlines()
        == str(found).splitlines()
        == [
            "Compatibility of 3 labels",
            "('c', 1) is joined to a 12 times as often as chance",
            "a is joined to a 0.25 times as often as chance",
            "a is joined to b 3.1 times as often as chance",  # the other direction says the same
            "('c', 1) is joined to b 2 times as often as chance",  # which the other does not
            "b is joined to ('c', 1) 0 times as often as chance",  # and hardly once by chance
        ]
    )


def test_equal_ratios_are_told_apart_by_counts():
    counts = [[1.0, 5.0], [5.0, 7.0]]
    assert repr(fo.Compatibility(("a", "b"), np.full((2, 2), 2.0), counts)).splitlines()[1:] == [
        "b is joined to b 2 times as often as chance",
        "a is joined to b 2 times as often as chance",
        "a is joined to a 2 times as often as chance",
    ]


@given(st.data(), st.integers(0, 8))
def test_at_most_ten_lines_the_furthest_first(data, k):
    values = st.sampled_from([0.0, 1.0, 0.5, 2.0, math.nan]) | st.floats(1e-3, 1e3)
    ratios = data.draw(st_numpy.arrays(np.float64, (k, k), elements=values))
    found = fo.Compatibility(tuple(range(k)), ratios, np.full((k, k), 1e4))  # so 0 is 2e4 times less than chance
    sentences = repr(found).splitlines()[1:]
    assert len(sentences) <= 9
    pairs = [tuple(map(int, (words[0], words[4]))) for words in map(str.split, sentences)]
    far = [math.log(2e4) if found[pair] == 0.0 else abs(math.log(found[pair])) for pair in pairs]
    assert far == sorted(far, reverse=True)
    left_out = [
        abs(math.log(ratios[i, j]))
        for i in range(k)
        for j in range(k)
        if ratios[i, j] > 0 and (i, j) not in pairs and not ((j, i) in pairs and ratios[i, j] == ratios[j, i])
    ]
    if len(sentences) == 9:
        assert max(left_out, default=0.0) <= far[-1]
    else:
        assert max(left_out, default=0.0) < math.log(1.06)  # which is written as 1 or, without a sentence, unknown


def test_nothing_changes_it(found):
    ratios = np.ones((2, 2))
    mine = fo.Compatibility(("a", "b"), ratios, ratios)
    ratios[0, 1] = 5.0
    assert mine["a", "b"] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        mine.ratios[0, 1] = 5.0
    with pytest.raises(AttributeError):
        mine.labels = ()
    for other in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert repr(other) == repr(found)
        assert other.counts.tolist() == COUNTS
        assert not other.ratios.flags.writeable


def test_to_frame(found):
    frame = found.to_frame()
    assert list(frame["label"]) == ["a"] * 3 + ["b"] * 3 + [("c", 1)] * 3
    assert list(frame["neighbor"]) == ["a", "b", ("c", 1)] * 3
    np.testing.assert_array_equal(frame["ratio"], found.ratios.ravel())
    assert list(frame["count"]) == found.counts.ravel().tolist()
    frame.loc[1, "ratio"] = 9.0
    assert found["a", "b"] == 3.14
    with pytest.raises(TypeError, match="the column label holds values of type str, tuple, and a column of pyarrow"):
        found.to_frame("pyarrow")


@pytest.mark.parametrize("name", ["ratios", "counts"])
def test_a_row_and_a_column_for_each_label(name):
    arrays = {"ratios": np.ones((2, 2)), "counts": np.ones((2, 2)), name: np.ones((2, 3))}
    with pytest.raises(ValueError, match=rf"{name} must have a row and a column for each of 2 labels, got \(2, 3\)"):
        fo.Compatibility(("a", "b"), **arrays)
