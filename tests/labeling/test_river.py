"""OnlineNodeLabeler among the tools of river: its metrics, its evaluation, its checks."""

import copy
import pickle

import networkx as nx
import pytest

import nx_fastonl as fo

pytest.importorskip("river")
from river import base, evaluate, metrics
from river.checks import clf, common

G = nx.karate_club_graph()
CLUBS = nx.get_node_attributes(G, "club")
CLASSES = ["Mr. Hi", "Officer"]


class NodeModel(base.Classifier):
    """The label of the node that x names."""

    def __init__(self, G=G, method="adaptive"):
        self.G = G
        self.method = method
        self.model = fo.OnlineNodeLabeler(G, CLASSES, method=method)

    def learn_one(self, x, y):
        self.model.learn_one(x["node"], y)

    def predict_one(self, x):
        return self.model.predict_one(x["node"])

    def predict_proba_one(self, x):
        return self.model.predict_proba_one(x["node"])

    @property
    def _multiclass(self):
        return True


def stream():
    return [({"node": node}, club) for node, club in CLUBS.items()]


@pytest.mark.parametrize("method", ["adaptive", "fastonl", "perceptron"])
def test_metrics_of_labels_count_what_a_run_counts(method):
    model, expected = (fo.OnlineNodeLabeler(G, CLASSES, method=method) for _ in range(2))
    sequence = expected.run(CLUBS)
    accuracy, report, confusion = metrics.Accuracy(), metrics.ClassificationReport(), metrics.ConfusionMatrix()
    for node, club in CLUBS.items():
        guess = model.predict_one(node)
        for metric in (accuracy, report, confusion):
            metric.update(club, guess)
        model.learn_one(node, club)
    assert accuracy.get() == pytest.approx(1.0 - sequence.error_rate)
    right = sum(confusion[club][club] for club in CLASSES)
    assert right == len(sequence) - sequence.mistakes
    assert all(club in str(report) for club in CLASSES)


def test_metrics_of_probabilities_see_those_of_a_run():
    model, binary = fo.OnlineNodeLabeler(G, CLASSES), fo.OnlineNodeLabeler(G, [True, False])
    sequence = fo.OnlineNodeLabeler(G, CLASSES).run(CLUBS)
    cross_entropy, log_loss = metrics.CrossEntropy(), metrics.LogLoss()
    for node, club in CLUBS.items():
        cross_entropy.update(club, model.predict_proba_one(node))
        log_loss.update(club == "Mr. Hi", binary.predict_proba_one(node))
        model.learn_one(node, club)
        binary.learn_one(node, club == "Mr. Hi")
    assert cross_entropy.get() == pytest.approx(sequence.log_loss)
    assert log_loss.get() == pytest.approx(sequence.log_loss)


def test_the_first_prediction_is_none_where_labels_are_discovered():
    """As that of river's own classifiers, which its evaluation leaves out."""
    model = fo.OnlineNodeLabeler(G)
    assert model.predict_one(0) is None
    assert model.predict_proba_one(0) == {}


@pytest.mark.parametrize("metric", [metrics.Accuracy, metrics.CrossEntropy, metrics.MacroF1])
def test_progressive_validation(metric):
    found = evaluate.progressive_val_score(stream(), NodeModel(), metric())
    model, expected = fo.OnlineNodeLabeler(G, CLASSES), metric()
    for node, club in CLUBS.items():
        expected.update(club, model.predict_one(node) if expected.requires_labels else model.predict_proba_one(node))
        model.learn_one(node, club)
    assert found.get() == expected.get()


def test_progressive_validation_with_labels_that_come_late():
    found = evaluate.progressive_val_score(stream(), NodeModel(), metrics.Accuracy(), delay=5)
    assert 0.8 < found.get() < 1.0


CHECKS = [
    common.check_learn_one,
    common.check_shuffle_features_no_impact,
    common.check_pickling,
    clf.check_predict_proba_one,
]
CHECKS_WITHOUT_DATA = [
    common.check_repr,
    common.check_str,
    common.check_tags,
    common.check_clone_same_class,
    common.check_clone_is_idempotent,
    common.check_clone_changes_memory_addresses,
    common.check_doc,
    clf.check_multiclass_is_bool,
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("method", ["adaptive", "fastonl"])
def test_checks_of_river_on_a_stream_of_nodes(check, method):
    """Those that ask for other features do not apply: the node is the only one."""
    check(NodeModel(method=method), stream())


@pytest.mark.parametrize("check", CHECKS_WITHOUT_DATA, ids=lambda check: check.__name__)
def test_checks_of_river_on_the_model(check):
    check(NodeModel())


def test_predicting_changes_neither_the_model_nor_what_is_asked():
    model = NodeModel()
    for x, club in stream():
        asked, before = copy.deepcopy(x), pickle.dumps(model.model.labels)
        model.predict_one(x)
        model.predict_proba_one(x)
        assert x == asked
        assert pickle.dumps(model.model.labels) == before
        model.learn_one(x, club)
