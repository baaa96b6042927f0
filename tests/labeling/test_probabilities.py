"""What stands around a learner with calibrated probabilities, shown with a toy learner."""

import math

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose

import nx_fastonl as fo
from nx_fastonl.labeling import labeler
from nx_fastonl.learners.voters import WeightedMajority

MESSAGE = 'method="adaptive" has'


class Counter(WeightedMajority):
    """Predicts the most frequent label, with its frequency; sets hold all labels as frequent as 1 - coverage."""

    calibrated = True
    guesses = False

    def votes(self, u):
        rows, labels = self.history.learned()
        return np.bincount(labels[rows != u], minlength=self.k).astype(np.float64)

    def prediction_sets(self, rows, coverage):
        return [np.flatnonzero(self.probabilities(u) >= 1.0 - coverage).astype(np.int32) for u in rows.tolist()]


@pytest.fixture
def make(monkeypatch):
    """Make a labeler with the toy learner."""

    def make(G, classes=None, **options):
        with monkeypatch.context() as toy:
            toy.setattr(labeler, "make_learner", lambda graph, *others: Counter(graph, others[1]))
            return fo.OnlineNodeLabeler(G, classes, **options)

    return make


def expected_probabilities(predicted, truth, before=()):
    """The frequencies of predicted and true labels among those that came earlier."""
    found = []
    for i, pair in enumerate(zip(predicted, truth, strict=True)):
        seen = [*before, *truth[:i]]
        found.append([seen.count(label) / len(seen) if seen else 0.0 for label in pair])
    return [tuple(column) for column in zip(*found, strict=True)]


@pytest.mark.parametrize("classes", [None, ["a", "b", "c", "d"]])
@pytest.mark.parametrize("predict", ["argmax", "sample"])
def test_a_stream_keeps_the_probabilities_of_before_learning(make, classes, predict):
    truth = [*"aabacbbab", *"abc" * 7]
    model = make(nx.path_graph(len(truth)), classes, predict=predict, seed=3)
    found = model.run(enumerate(truth))
    first = 1 if classes else 0  # while nothing is known, the votes are uniform over the classes given
    of_predicted, of_true = expected_probabilities(found.predicted, truth)
    assert_allclose(found.probabilities[first:], of_predicted[first:])
    assert_allclose(found.true_probabilities[first:], of_true[first:])
    assert (found.probabilities[0], found.true_probabilities[0]) == ((0.25, 0.25) if classes else (0.0, 0.0))
    assert {type(p) for p in (*found.probabilities, *found.true_probabilities)} == {float}
    assert (predict == "argmax") == (set(found[1:].predicted) == {"a"})


def test_batches_of_a_stream_are_joined(make, monkeypatch):
    truth = ["a", "b", "a", "c", "c", "c", "c"]
    whole = make(nx.path_graph(7)).run(enumerate(truth))
    monkeypatch.setattr(labeler, "STREAM_BATCH", 3)
    assert make(nx.path_graph(7)).run(enumerate(truth)) == whole
    model = make(nx.path_graph(7))
    model.run(enumerate(truth[:4]))
    later = model.run([(node, truth[node]) for node in (4, 5, 6)])
    assert later == whole[4:]
    assert later.true_probabilities == (1 / 4, 2 / 5, 3 / 6)


def test_an_empty_stream_of_a_calibrated_learner_has_no_probability(make):
    found = make(nx.path_graph(3)).run([])
    assert (found.probabilities, found.true_probabilities) == ((), ())
    assert math.isnan(found.log_loss)
    assert math.isnan(found.calibration().error)
    assert list(found.to_frame()["probability"]) == []


def test_present_methods_have_no_probabilities(karate):
    for method in ("fastonl", "fastonl-fifo", "relaxation", "weighted-tree"):
        model = fo.OnlineNodeLabeler(karate, method=method)
        found = model.run([(0, "a"), (1, "b")])
        assert not model.calibrated
        assert found.probabilities is found.true_probabilities is found[1:].probabilities is None


def test_a_labeler_says_whether_it_is_calibrated(make):
    assert make(nx.path_graph(2)).calibrated is True


# Sets


def test_sets_hold_labels(make, monkeypatch):
    monkeypatch.setattr(labeler, "STREAM_BATCH", 2)
    model = make(nx.path_graph(12)).fit(dict(enumerate("aaaaaaabbc")))
    assert model.predict_set_one(10) == {"a", "b", "c"}
    assert model.predict_set_one(10, coverage=0.85) == {"a", "b"}
    assert model.predict_set_one(10, 0.5) == {"a"}
    assert model.predict_set_many([11, 10, 11], 0.85) == [{"a", "b"}] * 3
    # Each learned node is left out of its own votes: without one b, b has 1 vote of 9; without the c, c has none.
    assert model.predict_set_many(coverage=0.85) == [{"a", "b"}] * 7 + [{"a"}] * 2 + [{"a", "b"}] * 3
    assert model.predict_set_many([]) == []


def test_sets_are_empty_while_no_label_is_known(make):
    assert make(nx.path_graph(2)).predict_set_many() == [set(), set()]


def test_sets_of_methods_without(karate):
    model = fo.OnlineNodeLabeler(karate, method="fastonl").fit({0: "a"})
    for call in (lambda: model.predict_set_one(1), lambda: model.predict_set_many([1, 2])):
        with pytest.raises(ValueError, match=f"method 'fastonl' has no prediction sets; {MESSAGE}"):
            call()


@pytest.mark.parametrize(
    ("coverage", "error"), [(0, ValueError), (1.0, ValueError), (-0.1, ValueError), (math.nan, ValueError)]
)
def test_coverage_lies_between_0_and_1(make, coverage, error):
    model = make(nx.path_graph(3)).fit({0: "a"})
    for call in (lambda: model.predict_set_one(1, coverage), lambda: model.predict_set_many([1], coverage)):
        with pytest.raises(error, match=f"coverage must lie strictly between 0 and 1.*got {coverage}"):
            call()
    with pytest.raises(TypeError, match="coverage must be a number, got '90%'"):
        model.predict_set_one(1, "90%")


def test_sets_of_unknown_nodes(make):
    model = make(nx.path_graph(3)).fit({0: "a"})
    with pytest.raises(nx.NodeNotFound, match="7"):
        model.predict_set_one(7)
    with pytest.raises(TypeError, match="nodes must be a collection of nodes"):
        model.predict_set_many(1)
