"""Nodes that join a graph, against matrices with one more row: a node that sees others, and that no other sees."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

import nx_fastonl as fo
from nx_fastonl.graph.rows import Rows
from nx_fastonl.learners import _adaptive, _relaxation
from nx_fastonl.learners.joining import JoiningNodes
from nx_fastonl.learners.relaxation import water_filling
from tests import oracles, seams
from tests.strategies import small_graphs


def joining(weights):
    """Nodes with these weights of edges, a row for each."""
    rows = sparse.csr_array(np.atleast_2d(weights))
    return JoiningNodes(Rows(rows.indptr, rows.indices, rows.data))


@st.composite
def edge_weights(draw, n):
    """Of one node that joins n others; it may have no edge at all."""
    return np.array(draw(st.lists(st.sampled_from([0.0, 0.0, 1.0, 0.25, 7.5]), min_size=n, max_size=n)))


def relative(features):
    """A shift of an expert's feature changes nothing."""
    return features - features.mean(axis=1, keepdims=True)


@settings(max_examples=150, deadline=None)
@given(st.data(), st.booleans(), st.sampled_from([1, 2, 3, 20]), st.sampled_from([None, 3.0]))
def test_features_are_those_of_one_more_row(data, directed, k, forgetting):
    G = data.draw(small_graphs(directed=directed))
    A, n = oracles.adjacency(G), len(G)
    model = fo.OnlineNodeLabeler(
        sparse.csr_array(A), range(k), smoothness=0.3, epsilon=1e-16, forgetting=forgetting, method="adaptive"
    )
    directed = directed and not (A == A.T).all()
    labels = {u: data.draw(st.integers(0, k - 1)) for u in data.draw(st.permutations(range(n)))[: n // 2 + 1]}
    model.learn_many(labels)
    fading = 1.0 if forgetting is None else 0.5 ** (1.0 / forgetting)
    stamps = {u: fading**age for age, u in enumerate(reversed(labels))}
    weights = data.draw(edge_weights(n))
    answers, features = seams.learner_of(model)._join(joining(weights))
    expected = oracles.joining_features(A, labels, weights, k, 0.3, directed, stamps)
    assert_allclose(relative(features[0]), relative(expected), atol=1e-5)
    assert_allclose(answers.probabilities.sum(axis=1), 1.0)
    assert answers.probabilities[0].max() <= answers.probabilities[0, answers.predicted[0]] + 1e-9


@settings(max_examples=60, deadline=None)
@given(st.data(), small_graphs(), st.sampled_from(["adaptive", "fastonl"]))
def test_each_joins_alone_and_changes_nothing(data, G, method):
    model = fo.OnlineNodeLabeler(G, range(3), method=method).fit({u: data.draw(st.integers(0, 2)) for u in G})
    learner = seams.learner_of(model)
    before = model.predict_proba_many()
    weights = np.array([data.draw(edge_weights(len(G))) for _ in range(5)])
    together = learner.join(joining(weights))
    for i, row in enumerate(weights):
        alone = learner.join(joining(row))
        assert alone.predicted[0] == together.predicted[i]
        assert_allclose(alone.probabilities[0], together.probabilities[i], atol=1e-12)
    assert (model.predict_proba_many() == before).all()


KERNELS = [
    ("laplacian", {}),
    ("normalized-laplacian", {}),
    ("normalized-adjacency", {}),
    ("scaled-laplacian", {}),
    ("scaled-regularized", {"beta": 0.2}),
    ("augmented-laplacian", {"beta": 0.1, "b": 0.01}),
]


@pytest.mark.parametrize(("kernel", "parameters"), KERNELS, ids=[name for name, _ in KERNELS])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_scores_are_those_of_one_more_row(data, kernel, parameters):
    G = nx.gnp_random_graph(10, 0.4, seed=data.draw(st.integers(0, 50)))
    model = fo.OnlineNodeLabeler(
        G, range(3), method="fastonl", kernel=kernel, smoothness=0.3, epsilon=1e-16, trace="exact", **parameters
    )
    model.learn_many({u: data.draw(st.integers(0, 2)) for u in range(6)})
    learner, weights = seams.learner_of(model), data.draw(edge_weights(10))
    found = learner.join(joining(weights))
    H, _, _, B = seams.dense(model)
    grown = np.block([[H, np.zeros((10, 1))], [-weights[np.newaxis], np.ones((1, 1))]])
    (c,), (s,) = learner.kernel.at_degrees(weights[np.newaxis].sum(axis=1))
    grown[10, 10] = c + weights.sum()
    row = np.linalg.solve(grown, np.vstack([B, np.zeros((1, 3))]))[10]
    scores = learner.kernel.a * s * row - learner.kernel.g * (B / seams_scale(learner)).sum(axis=0)
    assert scores[found.predicted[0]] <= scores.min() + 1e-8
    diagonal = max(learner.kernel.a * s**2 / grown[10, 10] - learner.kernel.g, 0.0)
    expected = water_filling(_relaxation.psi_of(learner.gradients, scores, diagonal))
    assert_allclose(found.probabilities[0], expected, atol=1e-6)


def seams_scale(learner):
    """What gradients are stored in units of, a column."""
    return learner.kernel.s(np.arange(10))[:, None]


@pytest.mark.parametrize("kernel", [name for name, _ in KERNELS])
def test_c_and_s_at_degrees_are_those_of_nodes(kernel):
    G = nx.gnp_random_graph(12, 0.2, seed=4)
    G.add_node("alone")
    own = fo.OnlineNodeLabeler(G, method="fastonl", kernel=kernel)
    kernel = seams.learner_of(own).kernel
    rows = np.arange(len(G))
    c, s = kernel.at_degrees(kernel.graph.degrees)
    assert c.tolist() == kernel.c(rows).tolist()
    assert s.tolist() == kernel.s(rows).tolist()


def test_a_node_out_of_reach_gets_the_most_frequent_label():
    G = nx.Graph([(0, 1), (1, 2), (3, 4)])
    for method in ("adaptive", "fastonl"):
        model = fo.OnlineNodeLabeler(G, ["a", "b"], method=method).fit({0: "b", 1: "b", 2: "a"})
        found = seams.learner_of(model).join(joining([[0.0] * 5, [0, 0, 0, 1.0, 0]]))
        assert found.predicted.tolist() == [1, 1]


def test_other_methods_know_nodes_of_their_graph_only():
    model = fo.OnlineNodeLabeler(nx.path_graph(3), method="weighted-majority").fit({0: "a"})
    assert seams.learner_of(model).join(joining([0, 1.0, 0])) is None
    with pytest.raises(ValueError, match="'weighted-majority' knows nodes of its graph only"):
        model._forecast_joining(Rows(np.array([0, 1]), np.array([1]), None))


def test_a_kernel_with_a_diagonal_of_its_own_is_refused():
    model = fo.OnlineNodeLabeler(
        nx.path_graph(3), method="fastonl", kernel="scaled-laplacian", S={0: 1.0, 1: 2.0, 2: 3.0}
    ).fit({0: "a"})
    with pytest.raises(ValueError, match="a node that joins has none"):
        seams.learner_of(model).join(joining([0, 1.0, 0]))


def test_a_label_that_joins_before_the_lock_is_held(monkeypatch):
    model = fo.OnlineNodeLabeler(nx.path_graph(4)).learn_many({0: "a", 3: "b"})
    learner = seams.learner_of(model)

    class LockAfterAnotherThread:
        """The lock, which another thread has held right before: it has learned a new label."""

        def __init__(self, lock):
            self.lock = lock

        def __enter__(self):
            monkeypatch.undo()
            model.learn_one(1, "c")
            self.lock.__enter__()

        def __exit__(self, *_):
            self.lock.__exit__()

    monkeypatch.setattr(learner, "lock", LockAfterAnotherThread(learner.lock))
    found = learner.join(joining([0.0, 1.0, 0.0, 0.0]))
    assert found.probabilities.shape == (1, 3)
    assert model.classes[found.predicted[0]] == "c"


def test_nothing_is_written_for_labels_that_have_no_room():
    model = fo.OnlineNodeLabeler(nx.path_graph(4), experts=["vote", "frequency"]).learn_many({0: "a", 1: "b", 3: "c"})
    learner, nodes = seams.learner_of(model), joining([0.0, 1.0, 0.0, 0.0])
    engine = _adaptive.AdaptiveEngine(
        learner.history, nodes.view, learner.counts, learner.mixture, None, learner._places, joining=True
    )
    features, probabilities = np.zeros((2, len(learner.names), 2)), np.zeros((2, 2))
    engine.forecasts_joining(features[:1], probabilities[:1], np.zeros(1, dtype=np.int32), np.ones(1, dtype=np.uint8))
    assert features[0].any()
    assert not features[1].any()
    assert probabilities[0].all()
    assert not probabilities[1].any()
