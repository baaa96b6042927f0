"""A graph that leaves the range of a model: the model says so, and everything else goes on."""

import copy
import pickle

import networkx as nx
import numpy as np
import pytest

import nx_fastonl as fo
from nx_fastonl.learners.base import CannotFollowError
from tests.seams import learner_of

# Settings of a model, and the weight of an edge that it cannot follow.
MODELS = {
    "perceptron": ({"method": "perceptron"}, 1e9),
    "fastonl": ({"method": "fastonl", "kernel": "laplacian"}, 1e9),
    "fifo": ({"method": "fastonl-fifo", "kernel": "laplacian", "classes": ["y", "x", "z", "v"]}, 1e9),
    "relaxation": ({"method": "relaxation", "kernel": "laplacian"}, 1e9),
    "expert": ({"experts": ["diffusion", "vote", "laplacian:0.3"]}, 1e10),
    "single": ({"method": "fastonl", "dtype": "float32"}, 1e50),
    "single and light": ({"method": "perceptron", "dtype": "float32"}, 1e-50),
    "single and slow": ({"kernel": "laplacian", "dtype": "float32"}, 1e6),
    "arrows": ({"kernel": "laplacian"}, 1e10),
}
CANNOT = 'this model cannot follow its graph as that is now: (kernel |dtype="float32" needs ).* its labels are kept'
ASKED = {
    "predict_one": lambda model: model.predict_one("b"),
    "predict_many": lambda model: model.predict_many(),
    "predict_proba_one": lambda model: model.predict_proba_one("b"),
    "learn_one": lambda model: model.learn_one("b", "x"),
    "learn_many": lambda model: model.learn_many({"b": "x"}),
    "run": lambda model: model.run([("b", "x")]),
    "added": lambda model: model.run([("new", "x"), *((f"new {i}", "y") for i in range(99))], unknown="add"),
    "fit": lambda model: model.fit({"b": "x"}),
    "forget": lambda model: model.forget("a"),
    "clone": lambda model: model.clone(),
    "pickle": pickle.dumps,
    "copy": copy.deepcopy,
}


def labeled(graph, name="model", **settings):
    model = graph.labeler(name, seed=1, **settings) if hasattr(graph, "labeler") else fo.OnlineNodeLabeler(graph)
    for node, label in (("a", "x"), ("c", "z"), ("e", "y")):
        model.learn_one(node, label)
    return model


@pytest.fixture(params=MODELS)
def case(request):
    """A graph to begin with, the settings of a model, and an edge that it cannot follow."""
    settings, weight = MODELS[request.param]
    kind = nx.DiGraph if request.param == "arrows" else nx.Graph
    return nx.path_graph("abcdef", create_using=kind), settings, ("b", "z", weight)


@pytest.mark.parametrize("call", ASKED)
def test_a_model_says_that_it_cannot_follow(case, call, tmp_path):
    G, settings, heavy = case
    graph = fo.DurableGraph(tmp_path, G)
    model = labeled(graph, **settings)
    graph.add_edge(*heavy)
    with pytest.raises(ValueError, match=f"(?i){CANNOT}"):
        ASKED[call](model)
    assert model.labels == {"a": "x", "c": "z", "e": "y"}
    assert model.n_learned == 3
    assert "3 of 7 nodes learned" in repr(model)
    assert "behind" in model._repr_html_()
    assert len(graph) == 7
    graph.remove_edge(*heavy[:2])
    assert model.predict_one("b") in {"x", "y", "z"}
    graph.close()


def test_the_graph_goes_on(case, tmp_path):
    G, settings, heavy = case
    with fo.DurableGraph(tmp_path, G) as graph:
        model, other = labeled(graph, **settings), labeled(graph, "other")
        graph.add_edge(*heavy)
        graph.remove_node("c")
        graph.add_edge("g", "h", 2.0)  # g gets the row that c had
        graph.expire_before(1.0)
        assert other.predict_one("b") in {"x", "y"}
        other.learn_one("g", "w")
        graph.snapshot()
        graph.remove_edge("g", "h")
        assert graph.labeler("third").predict_one("a") is None
        assert model.labels == {"a": "x", "e": "y"}
        assert model.n_learned == 2
        nodes = list(graph)
    for recover in (True, False):
        with fo.DurableGraph(tmp_path, recover=recover) as graph:
            assert list(graph) == nodes
            assert graph.labelers == ["model", "other", "third"]
            model = graph.labeler("model", **settings)
            assert graph.labeler("other").labels == {"a": "x", "e": "y", "g": "w"}
            assert model.labels == {"a": "x", "e": "y"}
            assert model.calibrated == (settings.get("method", "adaptive") == "adaptive")
            with pytest.raises(ValueError, match=f"(?i){CANNOT}"):
                model.predict_one("b")
            graph.snapshot()
    with fo.DurableGraph(tmp_path) as graph:
        model = graph.labeler("model")
        graph.remove_node("a")
        graph.add_node("i")  # in the row of a
        assert model.labels == {"e": "y"}
        graph.remove_edge(*heavy[:2])
        model.learn_one("i", "v")
        assert model.labels == {"e": "y", "i": "v"}
        assert model.predict_one("i") in model.classes
    with fo.DurableGraph(tmp_path) as graph:
        model = graph.labeler("model")
        assert model.labels == {"e": "y", "i": "v"}
        model.forget("e")
        model.run([("b", "y")])
        assert not np.isnan(model.predict_proba_many()).any()


def test_a_model_that_cannot_follow_can_be_dropped(case, tmp_path):
    G, settings, heavy = case
    with fo.DurableGraph(tmp_path, G) as graph:
        labeled(graph, **settings)
        graph.add_edge(*heavy)
        graph.remove_node("d")
        graph.drop_labeler("model")
        with pytest.raises(ValueError, match=r"scale the weights|use float64"):
            graph.labeler("model", **settings)
        assert graph.labelers == []
    with fo.DurableGraph(tmp_path) as graph:
        assert graph.labelers == []
        assert list(graph) == ["a", "b", "c", "e", "f", "z"]


def test_nothing_is_lost_if_the_process_dies(case, tmp_path):
    G, settings, heavy = case
    graph = fo.DurableGraph(tmp_path, G)
    labeled(graph, **settings)
    graph.add_edge(*heavy)
    graph.remove_node("c")
    graph._log.journal.close()  # as the end of the process does
    with fo.DurableGraph(tmp_path) as graph:
        model = graph.labeler("model")
        graph.remove_edge(*heavy[:2])
        assert model.labels == {"a": "x", "e": "y"}
        assert model.predict_one("b") in {"x", "y", "z"}


@pytest.mark.parametrize("fit", [False, True])
def test_labels_are_as_if_they_had_been_learned_anew(tmp_path, fit):
    """After being opened, a model that could not follow agrees with one that learns the same labels."""
    settings = {"experts": ["diffusion", "vote", "laplacian:0.3"], "classes": ["y", "x"], "seed": 1}
    labels = {0: "x", 16: "x", 33: "y", 30: "y"}
    with fo.DurableGraph(tmp_path, nx.karate_club_graph()) as graph:
        model = graph.labeler("model", **settings)
        (model.fit if fit else model.learn_many)(labels)
        graph.add_edge(0, 33, weight=1e20)
        graph.snapshot()
        with pytest.raises(CannotFollowError):
            model.predict_one(3)
    with fo.DurableGraph(tmp_path) as graph:
        graph.remove_edge(0, 33)
        model = graph.labeler("model")
        expected = fo.OnlineNodeLabeler(graph.freeze(), **settings)
        (expected.fit if fit else expected.learn_many)(labels)
        np.testing.assert_allclose(model.predict_proba_many(), expected.predict_proba_many(), atol=1e-9)
        assert model.classes == ("y", "x")


def test_a_record_of_a_model_that_cannot_follow_any_more_keeps_its_labels(tmp_path, monkeypatch):
    """Whatever the reason is that a model could follow when a label was learned, and cannot when that is replayed."""
    with fo.DurableGraph(tmp_path, nx.path_graph("abcdef")) as graph:
        model = graph.labeler("model", method="fastonl", kernel="laplacian")
        model.learn_one("a", "x")
        graph.add_edge("b", "z", 2.0)
        model.run([("c", "y"), ("d", "x")])
        model.learn_one("c", "z", overwrite=True)
        model.forget("a")
        graph.labeler("fitted", kernel="laplacian").fit({"a": "x", "b": "y"}).learn_one("c", "y")
    kind = type(learner_of(model))
    with monkeypatch.context() as patch:
        patch.setattr(kind, "catch_up", cannot)
        patch.setattr("nx_fastonl.learners.adaptive.AdaptiveLearner.catch_up", cannot)
        with fo.DurableGraph(tmp_path) as graph:
            assert graph.labeler("model").labels == {"d": "x", "c": "z"}
            assert graph.labeler("fitted").labels == {"a": "x", "b": "y", "c": "y"}
            graph.snapshot()
    with fo.DurableGraph(tmp_path) as graph:
        assert graph.labeler("model").labels == {"d": "x", "c": "z"}
        assert graph.labeler("model").predict_one("c") == "z"


def cannot(_):
    raise ValueError("the graph is out of range")


def test_a_graph_in_memory_goes_on_as_well():
    graph = fo.DynamicGraph(nx.path_graph("abcdef"))
    model = fo.OnlineNodeLabeler(graph, method="fastonl", kernel="laplacian").learn_many({"a": "x", "c": "z", "e": "y"})
    graph.add_edge("b", "z", 1e9)
    graph.remove_node("c")
    with pytest.raises(CannotFollowError, match=f"(?i){CANNOT}"):
        model.predict_one("b")
    assert model.labels == {"a": "x", "e": "y"}
    assert len(pickle.loads(pickle.dumps(graph))) == 6
    graph.add_edge("b", "z", 2.0)
    expected = fo.OnlineNodeLabeler(graph.freeze(), method="fastonl", kernel="laplacian", epsilon=1e-10)
    expected.learn_many({"a": "x", "e": "y"})
    assert model.predict_one("f") == expected.predict_one("f")
