"""Models on a DynamicGraph that are pickled and saved."""

import copy
import pickle

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import nx_fastonl as fo
from nx_fastonl.graph.growing_names import NamesState
from nx_fastonl.learners.registry import METHOD_OPTIONS


def grown(method, directed=False):
    """A graph with rows of nobody, rows that were given to another node, and times; and two models on it."""
    graph = fo.DynamicGraph(nx.gnp_random_graph(12, 0.3, seed=1, directed=directed))
    direction = "use" if method in ("adaptive", "weighted-majority") else "ignore"
    accuracy = {"epsilon": 1e-10} if "epsilon" in METHOD_OPTIONS[method] else {}
    models = [fo.OnlineNodeLabeler(graph, method=method, seed=1, direction=direction, **accuracy) for _ in range(2)]
    models[0].learn_many({0: "a", 1: "b", 5: "a", 6: "c"})
    graph.remove_nodes_from([3, 5, 7])
    graph.add_edge("new", 0, 2.5, time=3.0)
    for i in range(9):
        graph.add_edge(("more", i), i // 3 * 2, time=float(i))
    graph.remove_node(("more", 8))
    models[1].learn_many({"new": "b", 0: "a"})
    return graph, *models


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("method", METHOD_OPTIONS)
def test_pickled_models_predict_the_same_and_follow_their_own_graph(method, directed):
    graph, *models = grown(method, directed)
    other, *others = pickle.loads(pickle.dumps((graph, *models)))
    assert list(other) == list(graph)
    assert other.rows.node_rows() == graph.rows.node_rows()
    assert other.rows.version == graph.rows.version
    assert_array_equal(other.rows.degrees, graph.rows.degrees)
    assert other._times == graph._times
    for model, twin in zip(models, others, strict=True):
        assert twin.graph is other
        assert twin.labels == model.labels
        # The rows of W + W^T are made again, and may list neighbours in another order.
        assert_allclose(twin.predict_proba_many(), model.predict_proba_many(), atol=1e-6 if directed else 1e-12)
    before = models[0].predict_proba_many()
    other.add_edge("newest", "new")
    others[0].learn_one("newest", "c")
    assert others[0].predict_one("newest") is not None
    assert "newest" not in graph
    assert_array_equal(models[0].predict_proba_many(), before)
    # The next node gets the same row in both.
    graph.add_node("newest")
    assert graph.rows.index("newest") == other.rows.index("newest")
    assert other.expire_before(4.0) == graph.expire_before(4.0)


def test_a_copied_model_has_its_own_graph():
    graph, model, _ = grown("fastonl")
    other = copy.deepcopy(model)
    assert other.graph is not graph
    other.graph.remove_node(0)
    assert 0 in graph
    assert 0 in model.labels
    assert 0 not in other.labels


@pytest.mark.parametrize(
    "damage",
    [
        lambda state: state._replace(degrees=[state.degrees[0] + 1.0]),
        lambda state: state._replace(positions=[-1]),
        lambda state: state._replace(indices=np.roll(state.indices, 1)),
        lambda state: state._replace(nodes=state.nodes._replace(free=state.nodes.free[:-1])),
        lambda state: state._replace(nodes=state.nodes._replace(later=state.nodes.later[::-1][:-1])),
        lambda state: state._replace(nodes=state.nodes._replace(later=["new"] * len(state.nodes.later))),
        lambda state: state._replace(times=state.times + np.array([0, 20, 0])),
    ],
)
def test_states_that_do_not_fit_together_are_refused(damage):
    graph, *_ = grown("fastonl")
    function, _ = graph.__reduce__()
    state = graph._state()
    assert isinstance(state.nodes, NamesState)
    assert len(function(*state)) == len(graph)
    with pytest.raises(ValueError, match=r"damaged|must|one|row"):
        function(*damage(state))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("method", ["adaptive", "fastonl"])
def test_saved_models_are_loaded_with_the_graph_as_it_was(tmp_path, method, directed):
    graph = fo.DynamicGraph(nx.gnp_random_graph(20, 0.2, seed=1, directed=directed))
    direction = "ignore" if method == "fastonl" else "use"
    model = fo.OnlineNodeLabeler(graph, method=method, direction=direction).learn_many({0: "a", 3: "b"})
    graph.add_edge(0, 5, 2.0)
    graph.remove_edge(*graph.edges()[3])
    model.save(tmp_path / "model")
    loaded = fo.OnlineNodeLabeler.load(tmp_path / "model")
    assert isinstance(loaded.graph, fo.CSRGraph)
    assert_allclose(loaded.predict_proba_many(), model.predict_proba_many(), atol=1e-9)
    loaded.learn_one(4, "c")
    assert loaded.labels == {0: "a", 3: "b", 4: "c"}
    graph.add_edge("new", 1)
    with pytest.raises(ValueError, match="make the graph a DurableGraph"):
        model.save(tmp_path / "model")
