import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from nx_fastonl.learners import _relaxation
from nx_fastonl.learners._history import LabelHistory
from nx_fastonl.learners.relaxation import surrogate_gradient, surrogate_loss, water_filling
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


def history_of(counts, first_seen):
    """A history in which so many nodes have each label, and the labels were first seen in this order."""
    history = LabelHistory(sum(counts), len(counts))
    early = sorted((y for y in range(len(counts)) if counts[y]), key=first_seen.__getitem__)
    late = [y for y, count in enumerate(counts) for _ in range(count - 1)]
    labels = np.array([*early, *late], dtype=np.int32)
    history.record(np.arange(len(labels), dtype=np.int32), labels)
    return history


def test_ties_go_to_the_frequent_then_to_the_early():
    def best(votes, counts, first_seen, magnitude=1.0):
        votes, history = np.array(votes, dtype=float), history_of(counts, first_seen)
        found = _relaxation.best(history, -votes, magnitude)
        assert found == oracles.first_of_tied(votes, magnitude, np.array(counts), np.array(first_seen))
        assert _relaxation.best_of_each(history, -np.array([votes, votes])).tolist() == [found] * 2 or magnitude > 1.0
        return found

    assert best([0.0, 1.0, 0.5], [9, 1, 9], [0, 1, 2]) == 1
    assert best([1.0, 1.0, 0.5], [1, 2, 9], [0, 1, 2]) == 1
    assert best([1.0, 1.0, 0.5], [2, 2, 9], [7, 3, 0]) == 1
    assert best([1.0, 1.0 + 1e-14, 0.5], [2, 1, 9], [7, 3, 0]) == 0
    assert best([1.0, 1.0 + 1e-9, 0.5], [2, 1, 9], [7, 3, 0]) == 1
    assert best([1.0, 1.0 + 1e-9, 0.5], [2, 1, 9], [7, 3, 0], magnitude=1e5) == 0
    assert _relaxation.best(LabelHistory(0, 2), np.zeros(2), 0.0) == 0


def test_a_label_that_has_just_joined_is_not_counted_yet():
    assert _relaxation.best(LabelHistory(0, 2), np.array([0.0, -1.0, -5.0]), 5.0) == 1


def record(history, u, y):
    history.reserve(y + 1)
    history.record(np.array([u], dtype=np.int32), np.array([y], dtype=np.int32))


def test_history_counts_nodes():
    history = LabelHistory(10)
    for u, y in [(3, 1), (7, 0), (2, 1), (2, 5), (7, 1)]:
        record(history, u, y)
    assert (history.k, history.n_learned, history.label_counts.tolist()) == (6, 3, [0, 2, 0, 0, 0, 1])
    assert [array.tolist() for array in history.learned()] == [[3, 7, 2], [1, 1, 5]]
    assert history.labels_of([3, 9]).tolist() == [1, -1]
    other = pickle.loads(pickle.dumps(history))
    record(other, 9, 0)
    assert (other.n_learned, history.n_learned) == (4, 3)
    history.drop(3)
    history.drop(4)  # which was not learned
    assert (history.n_learned, history.label_of(3), history.label_counts.tolist()) == (2, None, [0, 1, 0, 0, 0, 1])
    record(history, 3, 1)
    assert history.learned()[0].tolist() == [7, 2, 3]


def test_a_damaged_history_is_refused():
    history = LabelHistory(3)
    record(history, 0, 2)
    restore, (sizes, arrays) = history.__reduce__()
    for k, marks in [(9, [3, 0, 0]), (3, [4, 0, 0]), (3, [-1, 0, 0]), (3, [3, 0])]:
        with pytest.raises(ValueError, match="what was saved is damaged: its labels"):
            restore((k, *sizes[1:]), (*arrays[:2], np.array(marks, dtype=np.int32), arrays[3]))


@pytest.mark.parametrize("which", [0, 4])  # of nodes with one label, of others
def test_infinite_gradients_are_refused(which):
    restore, (arrays, *rest) = _relaxation.GradientStore(3, 1.0, False, 0.0).__reduce__()
    arrays[which][0] = np.inf
    with pytest.raises(ValueError, match="what was saved is damaged: its gradients"):
        restore(arrays, *rest)


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
