"""Labels that are known at once: `fit` of the adaptive learner."""

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import optimize

import nx_fastonl as fo
from nx_fastonl.kernels.graph_kernel import GraphKernel
from nx_fastonl.learners import fitting
from nx_fastonl.learners._mixture import Mixture
from nx_fastonl.learners.diffusion import Diffusion
from tests import oracles
from tests.seams import learner_of
from tests.strategies import small_graphs

SMOOTHNESS = 0.1


@pytest.fixture(autouse=True)
def solved_to_rounding(monkeypatch):
    monkeypatch.setattr(fitting, "SOLVED_MASS", 1e-12)
    monkeypatch.setattr(fitting, "DIAGONAL_EPSILON", 1e-12)


def adaptive(G, **options):
    return fo.OnlineNodeLabeler(G, method="adaptive", **options)


@st.composite
def known(draw, G, k, min_size=1):
    rows = sorted(draw(st.sets(st.integers(0, len(G) - 1), min_size=min(min_size, len(G)))))
    labels = [draw(st.integers(0, k - 1)) for _ in rows]
    return np.array(rows, dtype=np.int32), np.array(labels, dtype=np.int32)


def absorbing_system(W, rows):
    D = W.sum(axis=1)
    H = np.diag(np.where(D > 0, SMOOTHNESS * D, 1.0) + D) - W
    H[rows, rows] += D[rows]
    return H


def new_diffusion(G, k):
    kernel = GraphKernel(fo.CSRGraph.from_networkx(G), "K2", SMOOTHNESS)
    diffusion = Diffusion(kernel, 1e-16, np.dtype(np.float64), absorption=1.0)
    diffusion.store.reserve_labels(k)
    return diffusion


def one_hot(n, rows, labels, k):
    B = np.zeros((n, k))
    B[rows, labels] = 1.0
    return B


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data(), small_graphs(), st.sampled_from([1, 3, 20]), st.sampled_from([0, fitting.MAX_SOLVED]))
def test_votes_are_those_of_a_dense_solve(monkeypatch, data, G, k, most):
    """Solved on the whole graph, or pushed."""
    monkeypatch.setattr(fitting, "MAX_SOLVED", most)
    rows, labels = data.draw(known(G, k))
    W, diffusion = oracles.adjacency(G), new_diffusion(G, k)
    mass = fitting.solve_votes(diffusion, rows, labels, k)
    H, B = absorbing_system(W, rows), one_hot(len(W), rows, labels, k)
    Z, R = diffusion.dense(k)
    assert_allclose(H @ Z + R, B, atol=1e-9 * np.abs(H).max())
    assert_allclose(Z, np.linalg.solve(H, B), atol=1e-8)
    totals = W.sum(axis=1) @ np.linalg.solve(H, B)
    if totals.any():
        assert_allclose(mass / mass.sum(), totals / totals.sum(), atol=1e-8)
    assert diffusion.store.mass == len(rows)


@settings(max_examples=100, deadline=None)
@given(st.data(), small_graphs(), st.sampled_from([1, 2]))
def test_votes_without_a_node_are_those_of_solving_without_it(data, G, k):
    rows, labels = data.draw(known(G, k, min_size=3))
    W, diffusion = oracles.adjacency(G), new_diffusion(G, k)
    fitting.solve_votes(diffusion, rows, labels, k)
    left_out = fitting.leave_out(rows, labels)
    if len(left_out.rows) == 0:
        return
    counts = np.bincount(labels, minlength=k)
    found = fitting.votes_without(diffusion, left_out, counts)
    for u, y, votes in zip(left_out.rows, left_out.labels, found, strict=True):
        others = rows != u
        H = absorbing_system(W, rows[others])
        expected = np.linalg.solve(H, one_hot(len(W), rows[others], labels[others], k))[u]
        expected[y] *= counts[y] / (counts[y] - 1)
        size = expected.sum()
        if size > 1e-9:
            assert_allclose(votes / votes.sum(), expected / size, atol=1e-6)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(2, 5), st.integers(1, 6))
def test_weights_have_the_least_loss(seed, m, k, n_experts):
    rng = np.random.default_rng(seed)
    features, labels = 3.0 * rng.normal(size=(m, n_experts, k)), rng.integers(k, size=m).astype(np.int32)
    start, precision = rng.normal(size=n_experts), 20.0 + 20.0 * rng.random(n_experts)

    def loss(weights):
        scores = np.einsum("e,mek->mk", weights, features)
        log_losses = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(m), labels]
        return log_losses.sum() + 0.5 * (precision * (weights - start) ** 2).sum()

    weights, hessian = fitting.fit_weights(features, labels, start, precision)
    best = optimize.minimize(loss, start, method="BFGS")
    assert loss(weights) <= best.fun + 1e-6 * (1.0 + abs(best.fun))
    step = 1e-4
    for e, f in np.ndindex(n_experts, n_experts):
        a, b = step * np.eye(n_experts)[e], step * np.eye(n_experts)[f]
        second = loss(weights + a + b) - loss(weights + a) - loss(weights + b) + loss(weights)
        assert hessian[e, f] == pytest.approx(second / step**2, rel=0.02, abs=0.05 * hessian[e, e])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=800))
def test_folds_have_as_many_nodes_of_a_label_as_any_other(labels):
    labels = np.array(labels, dtype=np.int32)
    left_out = fitting.leave_out(np.arange(len(labels), dtype=np.int32), labels)
    assert len(left_out.rows) == min((np.bincount(labels)[labels] > 1).sum(), max(128, len(labels) // 4))
    assert len(set(left_out.rows.tolist())) == len(left_out.rows)
    assert (labels[left_out.rows] == left_out.labels).all()
    for label in range(5):
        sizes = [np.count_nonzero(left_out.labels[fold] == label) for fold in left_out.in_folds()]
        assert not sizes or max(sizes) - min(sizes) <= 1


@settings(max_examples=50, deadline=None)
@given(st.data(), small_graphs(), st.sampled_from([None, 2.0]))
def test_fit_does_not_depend_on_order(data, G, forgetting):
    labels = data.draw(st.dictionaries(st.sampled_from(list(G)), st.integers(0, 2), min_size=1))
    shuffled = dict(data.draw(st.permutations(list(labels.items()))))
    model = adaptive(G, classes=range(3), forgetting=forgetting).fit(labels)
    other = adaptive(G, classes=range(3), forgetting=forgetting).fit(shuffled)
    assert model.weights == other.weights
    assert model.predict_proba_many().tolist() == other.predict_proba_many().tolist()


def test_fit_does_not_depend_on_the_order_in_which_labels_are_discovered(karate):
    labels = nx.get_node_attributes(karate, "club")
    labels = {node: labels[node] for node in sorted(range(0, 34, 2), key=labels.get)}
    model, other = adaptive(karate).fit(labels), adaptive(karate).fit(dict(reversed(labels.items())))
    assert model.classes == other.classes[::-1]
    assert_allclose(model.predict_proba_many(), other.predict_proba_many()[:, ::-1], atol=1e-9)


def test_labels_known_at_once_fade_together(karate):
    """At first not at all; once others are learned, all by the same."""
    labels = nx.get_node_attributes(karate, "club")
    known = {node: labels[node] for node in range(0, 34, 2)}
    steady, fading = adaptive(karate).fit(known), adaptive(karate, forgetting=3).fit(known)
    assert list(fading.weights.values()) == pytest.approx(list(steady.weights.values()), rel=1e-6)
    assert_allclose(fading.predict_proba_many(), steady.predict_proba_many(), atol=1e-9)
    isolated = karate.copy()
    isolated.add_node("alone")
    model = adaptive(isolated, forgetting=3).fit(known)
    before = model.compatibility.counts
    model.learn_one("alone", "Officer")
    assert_allclose(model.compatibility.counts, before * 0.5 ** (1 / 3))


@settings(max_examples=50, deadline=None)
@given(st.data(), small_graphs())
def test_a_fitted_model_goes_on_learning(data, G):
    """Its diffusion stays what its definition says, whatever is learned, learned anew and forgotten after `fit`."""
    nodes, W = list(G), oracles.adjacency(G)
    labels = data.draw(st.dictionaries(st.sampled_from(nodes), st.integers(0, 2), min_size=1))
    model = adaptive(G, classes=range(3), smoothness=SMOOTHNESS, epsilon=1e-16).fit(labels)
    for _ in range(data.draw(st.integers(0, 4))):
        node, label = data.draw(st.sampled_from(nodes)), data.draw(st.integers(0, 2))
        if node in labels and len(labels) > 1 and data.draw(st.booleans()):
            model.forget(node)
            del labels[node]
        else:
            model.learn_one(node, label, overwrite=True)
            labels[node] = label
    rows = np.array([nodes.index(node) for node in labels])
    Z, R = learner_of(model).diffusions[0].dense(3)
    H, B = absorbing_system(W, rows), one_hot(len(W), rows, list(labels.values()), 3)
    assert_allclose(H @ Z + R, B, atol=1e-8 * np.abs(H).max())
    assert_allclose(Z, np.linalg.solve(H, B), atol=1e-6)


def test_a_known_prior_scales_probabilities(karate):
    labels = {0: "Mr. Hi", 1: "Mr. Hi", 32: "Officer", 33: "Officer"}
    plain, prior = adaptive(karate).fit(labels), adaptive(karate).fit(labels, class_prior={"Officer": 3, "Mr. Hi": 1})
    rare = adaptive(karate).fit(labels, class_prior={"Officer": 1, "Mr. Hi": 1})
    assert (prior.predict_proba_many()[:, 1] > plain.predict_proba_many()[:, 1]).all()
    assert_allclose(rare.predict_proba_many(), plain.predict_proba_many())


@pytest.mark.parametrize(
    ("prior", "error", "message"),
    [
        ({"a": 0.5}, ValueError, "class_prior must have a frequency for every label and no other; missing: 'b'"),
        ({"a": 0.5, "b": 0.2, "c": 0.3}, ValueError, "unknown: 'c'"),
        ({"a": 0.5, "b": 0.0}, ValueError, "class_prior of 'b' must be"),
        ([0.5, 0.5], TypeError, "class_prior must be a dict of labels and their frequencies"),
    ],
)
def test_a_bad_prior_changes_nothing(karate, prior, error, message):
    model = adaptive(karate).fit({5: "c", 6: "d"})
    with pytest.raises(error, match=message):
        model.fit({0: "a", 33: "b"}, class_prior=prior)
    assert model.labels == {5: "c", 6: "d"}


def test_other_methods_know_no_prior(karate):
    with pytest.raises(ValueError, match='method="adaptive" does'):
        fo.OnlineNodeLabeler(karate, method="fastonl").fit({0: "a"}, class_prior={"a": 1.0})


def test_nodes_that_no_label_reaches_have_the_most_frequent_one():
    G = nx.disjoint_union(nx.star_graph(5), nx.path_graph(4))
    model = adaptive(G).fit({1: "a", 2: "b", 3: "b", 4: "b"})
    assert model.reached([0, 5, 6, 9]) == [True, True, False, False]
    assert model.predict_many([6, 7, 8, 9]) == ["b"] * 4
    assert not any(answer.certain for answer in model.certify_many([6, 9]))
    with pytest.raises(ValueError, match="does not tell which nodes labels reach"):
        fo.OnlineNodeLabeler(G, method="fastonl").reached()


def test_fit_of_nothing_and_of_one_label(karate):
    assert adaptive(karate).fit({}).predict_one(3) is None
    model = adaptive(karate).fit({0: "a"})
    assert model.predict_many([1, 33]) == ["a", "a"]
    assert model.predict_proba_one(1) == {"a": 1.0}


def test_fit_is_more_accurate_than_a_stream_with_few_labels(real_graph, real_labels):
    G, labels = real_graph("cora"), real_labels("cora")
    right = {"fit": 0, "learn_many": 0}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rows = np.concatenate([rng.choice(np.flatnonzero(labels == y), 2, replace=False) for y in np.unique(labels)])
        known = {int(u): int(labels[u]) for u in rng.permutation(rows)}
        for how in right:
            predicted = getattr(adaptive(G), how)(known).predict_many()
            right[how] += int((np.array(predicted) == labels).sum())
    assert right["fit"] > right["learn_many"]


def test_sets_after_fit_cover_as_asked():
    """Nodes that were left out say which labels are too improbable. Seeds are fixed: this holds or fails for good."""
    covered = []
    for seed in range(10):
        made = fo.datasets.planted_partition(
            450, 3, mean_degree=6, homophily=0.5, exponent=None, directed=True, seed=seed
        )
        order = np.random.default_rng(seed).permutation(450).tolist()
        model = fo.OnlineNodeLabeler(made.graph).fit({node: made.labels[node] for node in order[:200]})
        hidden = order[200:]
        sets = model.predict_set_many(hidden, coverage=0.9)
        covered.append(np.mean([made.labels[node] in found for node, found in zip(hidden, sets, strict=True)]))
        assert model.predict_many(hidden) != [made.labels[node] for node in hidden]
    assert 0.88 <= np.mean(covered) <= 0.93
    assert min(covered) >= 0.75  # the deviation of one of them is 0.045


def test_the_threshold_of_sets_is_a_quantile_of_nodes_left_out():
    mixture = Mixture([1.0], [10.0], math.inf)
    restore, (settings_, arrays, _, _, offsets) = mixture.__reduce__()
    scores = np.array([0.3, 0.9, 0.1, 0.5, 0.7])
    fitted = restore(settings_, arrays, scores, 5, offsets)
    assert fitted.threshold(0.5, 0.5, 0) == 0.5  # the third of five: with one node more, half of six
    assert fitted.threshold(0.8, 0.8, 0) == 0.9
    assert fitted.threshold(0.95, 0.95, 0) == 0.9  # at most the largest
    later = restore(settings_, arrays, np.append(scores, [0.95, 0.0]), 5, offsets)
    assert later.threshold(0.8, 0.8, 0) == pytest.approx(0.9 + 0.05 * 0.8 - 0.05 * 0.2)


def test_isolated_nodes_are_solved_exactly(monkeypatch):
    """A coarse solution leaves a residual at them, which is not just dropped."""
    monkeypatch.setattr(fitting, "SOLVED_MASS", 1e-1)
    G = nx.Graph([(0, 1), (1, 2)])
    G.add_nodes_from([3, 4])
    model = adaptive(G, kernel="laplacian", smoothness=0.3).fit({3: "a", 0: "b"})
    diffusion = learner_of(model).diffusions[0]
    Z, R = diffusion.dense(2)
    assert_allclose(Z[3], [1.0 / 0.3, 0.0], rtol=1e-12)
    assert (R[3:] == 0.0).all()
