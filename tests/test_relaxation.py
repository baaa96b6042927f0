import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from nx_fastonl import _relaxation
from nx_fastonl.relaxation import surrogate_gradient, surrogate_loss, water_filling
from tests import oracles

SCORES = st.lists(st.one_of(st.floats(-3, 3), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=60)


@given(SCORES)
def test_water_filling(psi):
    q = water_filling(psi)
    assert_allclose(q, oracles.water_filling(np.array(psi)), atol=1e-12)
    assert q.sum() == pytest.approx(1.0)


@given(SCORES, st.floats(-5, 5))
def test_a_shift_of_all_scores_changes_nothing(psi, shift):
    assert_allclose(water_filling(np.array(psi) + shift), water_filling(psi), atol=1e-12)


@given(SCORES, st.data())
def test_surrogate(psi, data):
    y = data.draw(st.integers(0, len(psi) - 1))
    if len(psi) == 1:
        assert (surrogate_loss(psi, y), surrogate_gradient(psi, y).tolist()) == (0.0, [0.0])
        return
    loss, gradient = oracles.surrogate(np.array(psi), y)
    level = np.array(psi).max() - water_filling(psi).max()
    if np.abs(np.array(psi) - level).min() > 1e-9:  # else whether a label is in the support is a matter of rounding
        assert surrogate_loss(psi, y) == pytest.approx(loss, abs=1e-12)
        assert_allclose(surrogate_gradient(psi, y), gradient, atol=1e-12)
    assert surrogate_loss(psi, y) >= 1 - water_filling(psi)[y] - 1e-12
    assert surrogate_gradient(psi, y).sum() == pytest.approx(0.0, abs=1e-12)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=8), st.data())
def test_gradient_is_that_of_the_loss(psi, data):
    """Along any direction that leaves the support as it is."""
    y = data.draw(st.integers(0, len(psi) - 1))
    psi = np.array(psi)
    gaps = np.abs(psi - (psi.max() - water_filling(psi).max()))
    falling = np.sort(np.delete(psi, y))[::-1]
    if gaps.min() < 1e-3 or (len(falling) > 1 and falling[0] - falling[1] < 1e-3):
        return
    for j in range(len(psi)):
        step = np.zeros(len(psi))
        step[j] = 1e-5
        slope = (surrogate_loss(psi + step, y) - surrogate_loss(psi - step, y)) / 2e-5
        assert surrogate_gradient(psi, y)[j] == pytest.approx(slope, abs=1e-6)


def test_hundreds_of_labels():
    psi = np.random.default_rng(0).normal(size=700)
    assert_allclose(water_filling(psi), oracles.water_filling(psi), atol=1e-12)


def test_ties_go_to_the_frequent_then_to_the_early():
    def best(votes, counts, appearances, size=1.0):
        votes, counts, appearances = np.array(votes, dtype=float), np.array(counts), np.array(appearances)
        assert _relaxation.best(-votes, size, counts, appearances) == oracles.first_of_tied(
            votes, size, counts, appearances
        )
        return _relaxation.best(-votes, size, counts, appearances)

    assert best([0.0, 1.0, 0.5], [9, 0, 9], [0, 1, 2]) == 1
    assert best([1.0, 1.0, 0.5], [1, 2, 9], [0, 1, 2]) == 1
    assert best([1.0, 1.0, 0.5], [2, 2, 9], [7, 3, 0]) == 1
    assert best([1.0, 1.0 + 1e-14, 0.5], [2, 1, 9], [7, 3, 0]) == 0
    assert best([1.0, 1.0 + 1e-9, 0.5], [2, 1, 9], [7, 3, 0]) == 1
    assert best([1.0, 1.0 + 1e-9, 0.5], [2, 1, 9], [7, 3, 0], size=1e5) == 0
    assert best([0.0, 0.0], [0, 0], [5, 5]) == 0


def test_a_label_that_has_just_joined_is_not_counted_yet():
    counts = np.zeros(2, dtype=np.int64)
    assert _relaxation.best(np.array([0.0, -1.0, -5.0]), 5.0, counts, counts) == 1


def test_large_scores_keep_their_digits():
    assert water_filling([1e17, 0.0]).tolist() == [1.0, 0.0]
    assert surrogate_loss([1e17, 1e17], 0) == 0.5


@pytest.mark.parametrize("psi", [[], [[1.0]], [math.nan, 0.0], [math.inf]])
def test_bad_scores(psi):
    with pytest.raises(ValueError, match="one or more finite numbers"):
        water_filling(psi)


def test_bad_label():
    for y in (-1, 2):
        with pytest.raises(ValueError, match=f"between 0 and 1, got {y}"):
            surrogate_loss([0.0, 1.0], y)
