import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import nx_fastonl as fo
from nx_fastonl.kernels.table import KERNELS
from tests import oracles
from tests.seams import learner_of, scores_of, stored_gradients
from tests.strategies import small_graphs

LABELS = [f"label {i}" for i in range(10)]  # two blocks
FINE = 1e-13  # an epsilon with which scores are exact, up to rounding


def check_sums(model, M):
    """Scores, and the A that distributions depend on, follow from what is stored."""
    gradients, k, size = stored_gradients(model), len(model.classes), 1 + np.abs(M).max()
    assert_allclose(scores_of(model), oracles.scores(M, gradients), atol=1e-6 * size)
    sums = learner_of(model).gradients
    # Entries of the diagonal are those that were estimated when the nodes were learned.
    M = M - np.diag(np.diag(M) - [sums.diagonal(u) for u in range(len(M))])
    A = oracles.quadratic_form(M, gradients - gradients.sum(axis=0) / k)
    assert sums.energy - sums.single_energy / k == pytest.approx(A, abs=1e-3 * size * max(model.n_learned, 1))


@settings(max_examples=300)
@given(st.data(), small_graphs(), st.sampled_from(sorted(KERNELS)), st.booleans())
def test_a_mistake_stores_predicted_minus_true(data, G, kernel, known):
    model = fo.OnlineNodeLabeler(G, LABELS if known else None, kernel, method="perceptron", epsilon=FINE)
    M = fo.kernel_matrix(G, kernel=kernel, exact=True)
    nodes, gradients = list(G), np.zeros((len(LABELS), len(G)))
    for call in data.draw(st.lists(st.sampled_from(["learn_one", "run", "overwrite", "forget"]), max_size=12)):
        again = call in ("overwrite", "forget")
        able = [u for u, node in enumerate(nodes) if (node in model.labels) == again]
        if not able:
            continue
        t, label, k = data.draw(st.sampled_from(able)), data.draw(st.sampled_from(LABELS)), len(model.classes)
        gradients[:, t] = 0.0
        if call == "forget":
            model.forget(nodes[t])
        else:
            if call == "run":
                model.run([(nodes[t], label)])
            else:
                model.learn_one(nodes[t], label, overwrite=again)
            y = model.classes.index(label)
            # What was stored of the node itself is taken out of its scores by an estimate.
            allowed = oracles.perceptron_gradients(M, gradients, t, y, k, tolerance=1e-4 if again else 1e-6)
            found = np.zeros(len(LABELS))
            found[: len(model.classes)] = stored_gradients(model)[:, t]
            assert found.tolist() in [gradient.tolist() for gradient in allowed]
            gradients[:, t] = found
            assert model.labels[nodes[t]] == label
        assert (stored_gradients(model) == gradients[: len(model.classes)]).all()
        if model.classes:
            check_sums(model, M)


@given(st.data(), small_graphs(), st.sampled_from(sorted(KERNELS)))
def test_labels_that_are_learned_together_count_in_full(data, G, kernel):
    labels = data.draw(st.dictionaries(st.sampled_from(list(G)), st.sampled_from(LABELS[:4]), min_size=1))
    model = fo.OnlineNodeLabeler(G, LABELS[:4], kernel, method="perceptron", epsilon=FINE).fit(labels)
    expected = np.zeros((4, len(G)))
    for u, node in enumerate(G):
        if node in labels:
            expected[LABELS.index(labels[node]), u] = -1.0
    assert (stored_gradients(model) == expected).all()
    M = fo.kernel_matrix(G, kernel=kernel, exact=True)
    assert_allclose(scores_of(model), oracles.scores(M, expected), atol=1e-6 * (1 + np.abs(M).max()))


def test_only_mistakes_are_stored(karate):
    model = fo.OnlineNodeLabeler(karate, method="perceptron")
    seq = model.run(nx.get_node_attributes(karate, "club"))
    wrong = [predicted != truth for predicted, truth in zip(seq, seq.truth, strict=True)]
    assert 1 < sum(wrong) < 17
    assert [learner_of(model).gradients.has(u) for u in range(34)] == wrong
    assert model.n_learned == 34
    assert stored_gradients(model)[:, 0].tolist() == [-1.0, 0.0]  # nothing was predicted


def test_ties_are_broken_by_the_labels_learned_also_by_those_predicted_right():
    model = fo.OnlineNodeLabeler(nx.empty_graph(9), ["a", "b"], "K2", method="perceptron")
    seq = model.run(zip(range(6), "abbbaa", strict=True))
    assert "".join(seq) == "aaabbb"  # the first class; a was seen first; b more often
    expected = [[0, 1, 1, 0, -1, -1], [0, -1, -1, 0, 1, 1]]
    assert stored_gradients(model)[:, :6].tolist() == expected


def test_what_was_predicted_right_can_be_overwritten_and_forgotten(karate):
    model = fo.OnlineNodeLabeler(karate, ["a", "b"], method="perceptron", epsilon=FINE)
    model.learn_one(0, "a")  # the first of the classes is predicted
    assert not stored_gradients(model).any()
    model.learn_one(0, "b", overwrite=True)
    assert stored_gradients(model)[:, 0].tolist() == [1.0, -1.0]
    model.learn_one(1, "b")  # which is right, by the label of its neighbour
    assert model.labels == {0: "b", 1: "b"}
    model.forget(1)
    assert stored_gradients(model)[:, 0].tolist() == [1.0, -1.0]
    assert not stored_gradients(model)[:, 1:].any()
    assert model.labels == {0: "b"}
    check_sums(model, fo.kernel_matrix(karate, kernel="K6", exact=True))


def test_draws_do_not_change_what_is_stored(karate):
    labels = nx.get_node_attributes(karate, "club")
    ways = ("sample", "argmax")
    sampled, best = (fo.OnlineNodeLabeler(karate, method="perceptron", predict=way, seed=3) for way in ways)
    assert list(sampled.run(labels)) != list(best.run(labels))
    assert (stored_gradients(sampled) == stored_gradients(best)).all()


@given(st.data(), small_graphs(), st.sampled_from(sorted(KERNELS)))
def test_mistakes_are_bounded(data, G, kernel):
    labels = data.draw(st.lists(st.integers(0, 2), min_size=len(G), max_size=len(G)))
    seq = fo.online_node_labeling(
        G, zip(G, labels, strict=True), kernel, method="perceptron", classes=range(3), epsilon=FINE
    )
    assert seq.mistakes <= oracles.perceptron_mistakes(fo.kernel_matrix(G, kernel=kernel, exact=True), labels, 3) + 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_few_mistakes_where_cliques_share_labels(seed):
    """The bound says something: it allows a mistake or two per clique, in any order."""
    G = nx.connected_caveman_graph(4, 20)
    labels = np.arange(80) // 20
    kernel = {"kernel": "K6", "smoothness": 0.01, "beta": 0.0}
    bound = oracles.perceptron_mistakes(fo.kernel_matrix(G, exact=True, **kernel), labels, 4)
    assert 4 < bound < 20
    order = np.random.default_rng(seed).permutation(80)
    stream = [(int(u), int(labels[u])) for u in order]
    seq = fo.online_node_labeling(G, stream, method="perceptron", classes=range(4), epsilon=FINE, **kernel)
    assert 3 <= seq.mistakes <= bound


def test_the_default_kernel_is_that_of_the_method(karate):
    assert "kernel='augmented-laplacian'" in repr(fo.OnlineNodeLabeler(karate, method="perceptron"))
    assert "kernel='normalized-laplacian'" in repr(fo.OnlineNodeLabeler(karate, method="fastonl"))
    by_default, named = (fo.OnlineNodeLabeler(karate, kernel=name, method="perceptron") for name in (None, "K6"))
    for model in (by_default, named):
        model.run(nx.get_node_attributes(karate, "club"))
    assert by_default.predict_proba_many().tolist() == named.predict_proba_many().tolist()
    with pytest.raises(TypeError, match="'perceptron' has no option trace"):
        fo.OnlineNodeLabeler(karate, method="perceptron", trace="paper")


@pytest.mark.parametrize(("name", "accuracy"), [("cora", 0.751), ("citeseer", 0.626)])
def test_accuracy_is_close_to_that_of_the_exact_kernel(real_graph, real_labels, name, accuracy):
    graph, labels = real_graph(name), real_labels(name)
    found = []
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(graph)).tolist()
        found.append(fo.online_node_labeling(graph, [(u, int(labels[u])) for u in order], method="perceptron").accuracy)
    assert np.mean(found) == pytest.approx(accuracy, abs=0.01)
