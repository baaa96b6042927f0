from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nx_fastonl._lib._ties import with_ties


@given(st.data(), st.sampled_from([1e-12, 1e-6, 0.01]), st.integers(0, 10_000))
def test_close_values_become_one_of_them(data, gap, n_others):
    """Large arrays are sorted in another way than small ones."""
    sizes = st.just(0.0) | st.floats(1e-300, 1.0)
    values = data.draw(st.lists(sizes, max_size=15))
    nearby = st.floats(-3.0, 3.0).map(lambda steps: 1.0 + steps * gap)
    values += [value * data.draw(nearby) for value in values]
    given = np.concatenate([values, np.random.default_rng(0).random(n_others)])
    tied = with_ties(given, gap)
    assert set(tied) <= set(given)
    assert (np.abs(tied - given) <= gap * np.maximum(tied, given)).all()
    found = sorted(zip(given.tolist(), tied.tolist(), strict=True))
    for (small, its_tied), (large, other_tied) in pairwise(found):
        if large - small > 3.0 * gap * large:
            assert its_tied < other_tied
        assert its_tied <= other_tied


@pytest.mark.parametrize("n_others", [0, 10_000])
def test_values_that_differ_by_rounding_are_one(n_others):
    alike = 0.3 * (1.0 + 1e-15 * np.random.default_rng(1).integers(-9, 9, 50))
    others = np.random.default_rng(2).random(n_others)
    tied = with_ties(np.concatenate([alike, others]), 1e-12)
    assert len(set(tied[:50])) == 1 < len(set(alike))
    assert len(set(tied[50:])) == n_others


@pytest.mark.parametrize("n_others", [0, 10_000])
def test_a_negative_zero_is_zero(n_others):
    others = np.random.default_rng(2).random(n_others)
    assert with_ties(np.concatenate([[-0.0, 0.5, 0.0], others]), 1e-12)[:3].tolist() == [0.0, 0.5, 0.0]


def test_equal_values_stay_as_they_are():
    values = np.array([0.25, 0.5, 0.25, 0.0, 0.5, 0.0])
    assert with_ties(values, 1e-12).tolist() == values.tolist()
