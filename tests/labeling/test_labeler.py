import math
import os
import subprocess
import sys
import threading

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import nx_fastonl as fo
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.kernels.graph_kernel import GraphKernel
from nx_fastonl.kernels.table import KERNELS
from nx_fastonl.labeling.labeler import STREAM_BATCH
from nx_fastonl.learners.relaxation import surrogate_loss
from nx_fastonl.push.elimination import LEAST_EDGES
from nx_fastonl.push.local import local_push
from tests import oracles
from tests.seams import learner_of, stored_gradients
from tests.strategies import small_graphs

LABELS = "abcd"


@st.composite
def streams_on(draw, G):
    """Some nodes of G in any order, with labels; and the same as rows and numbers."""
    nodes = list(G)
    order = draw(st.permutations(range(len(nodes))))[: draw(st.integers(0, len(nodes)))]
    labels = draw(st.lists(st.integers(0, len(LABELS) - 1), min_size=len(order), max_size=len(order)))
    named = [(nodes[u], LABELS[y]) for u, y in zip(order, labels, strict=True)]
    return named, list(zip(order, labels, strict=True))


@st.composite
def connected_graphs(draw):
    """Graphs for the kernels' forms as they stand in the paper: no node without edges."""
    G = draw(small_graphs())
    nodes = list(G)
    for node in nodes:
        if G.degree(node) == 0:
            G.add_edge(node, nodes[0])
    return G


def pushed_matrix(G, kernel, epsilon, smoothness):
    """Column by column from the pure-Python push, exact where that takes long; kernels with default parameters."""
    W = oracles.adjacency(G)
    n = len(W)
    lam = smoothness * n
    defaults = {
        "normalized-adjacency": {"beta": smoothness},
        "scaled-laplacian": {"beta": 1 - smoothness},
        "scaled-regularized": {"beta": smoothness},
        "augmented-laplacian": {"beta": smoothness, "b": 1 / n},
    }
    a, s, c, g = oracles.kernel_form(W, kernel, lam, **defaults.get(kernel, {}))
    scale = c[0] if kernel in ("laplacian", "augmented-laplacian") else 1.0
    thresholds = scale * epsilon * (W > 0).sum(axis=1)
    rows, pivots = oracles.rows_in_order(G), c + W.sum(axis=1)
    columns = [oracles.push_column(W, rows, pivots, thresholds, t, most_edges=LEAST_EDGES) for t in range(n)]
    return a * s[:, None] * np.array(columns).T * s - g


@settings(max_examples=150)
@given(
    st.data(),
    connected_graphs(),
    st.sampled_from(sorted(KERNELS)),
    st.sampled_from([0.3, 1e-2, 1e-5]),
    st.sampled_from([0.15, 0.7]),
    st.sampled_from(["paper", "exact", 3.0]),
)
def test_fastonl_is_the_algorithm_of_the_paper(data, G, kernel, epsilon, smoothness, trace):
    named, stream = data.draw(streams_on(G))
    k, n = len(LABELS), len(G)
    M = pushed_matrix(G, kernel, epsilon, smoothness)
    start = {"paper": k * n**2, "exact": np.trace(GraphKernel(CSRGraph.from_networkx(G), kernel, smoothness).exact())}
    expected, distributions, _, _, _ = oracles.relaxation(M, stream, k, start.get(trace, trace))
    options = {"kernel": kernel, "smoothness": smoothness, "epsilon": epsilon, "trace": trace, "method": "fastonl-fifo"}
    options["classes"] = list(LABELS)
    assert list(fo.online_node_labeling(G, named, **options)) == [LABELS[y] for y in expected]
    model = fo.OnlineNodeLabeler(G, **options)
    for (node, label), expected_label, distribution in zip(named, expected, distributions, strict=True):
        assert model.predict_one(node) == LABELS[expected_label]
        assert_allclose(list(model.predict_proba_one(node).values()), distribution, atol=1e-8)
        model.learn_one(node, label)


@settings(max_examples=100)
@given(st.data(), connected_graphs(), st.sampled_from([0.3, 1e-2]))
def test_symmetrized_fastonl_is_the_analysed_variant(data, G, epsilon):
    named, stream = data.draw(streams_on(G))
    M = pushed_matrix(G, "normalized-laplacian", epsilon, 0.15)
    expected, *_ = oracles.relaxation((M + M.T) / 2, stream, len(LABELS), len(LABELS) * len(G) ** 2)
    options = {"epsilon": epsilon, "trace": "paper", "classes": list(LABELS), "method": "fastonl-fifo"}
    found = fo.online_node_labeling(G, named, symmetrized=True, **options)
    assert list(found) == [LABELS[y] for y in expected]


@settings(max_examples=100)
@given(st.data(), small_graphs(), st.sampled_from(sorted(KERNELS)))
def test_relaxation_is_the_algorithm_on_the_exact_kernel(data, G, kernel):
    named, stream = data.draw(streams_on(G))
    M = fo.kernel_matrix(G, kernel=kernel, exact=True)
    expected, *_ = oracles.relaxation(M, stream, len(LABELS), np.trace(M))
    found = fo.online_node_labeling(G, named, kernel, method="relaxation", classes=list(LABELS))
    assert list(found) == [LABELS[y] for y in expected]


@settings(max_examples=100)
@given(st.data(), small_graphs(), st.sampled_from(["K2", "K3", "K4", "K5"]))
def test_many_terms_of_the_series_are_the_exact_kernel(data, G, kernel):
    """For the kernels normalised by degrees, whose series falls by 1 / 1.15 or faster from term to term."""
    named, _ = data.draw(streams_on(G))
    trace = fo.kernel_matrix(G, kernel=kernel, exact=True).trace()
    exact = fo.OnlineNodeLabeler(G, kernel=kernel, method="relaxation", classes=list(LABELS), trace=trace)
    series = fo.OnlineNodeLabeler(G, kernel=kernel, method="approximate", classes=list(LABELS), terms=200, trace=trace)
    for node, label in named:
        exact.learn_one(node, label)
        series.learn_one(node, label)
    for node in G:
        expected = list(exact.predict_proba_one(node).values())
        assert_allclose(list(series.predict_proba_one(node).values()), expected, atol=1e-6)


def test_series_of_the_normalized_laplacian_is_the_formula_of_the_paper(karate):
    W = oracles.adjacency(karate)
    n, lam, terms = len(W), 5.0, 3
    root = np.diag(W.sum(axis=1) ** -0.5)
    step = n / (n + lam) * root @ W @ root
    M = 2 * n * lam / (n + lam) * sum(np.linalg.matrix_power(step, i) for i in range(terms + 1))
    labels = nx.get_node_attributes(karate, "club")
    names = sorted(set(labels.values()))
    expected, *_ = oracles.relaxation(M, [(u, names.index(y)) for u, y in labels.items()], 2, 2 * n**2)
    found = fo.online_node_labeling(
        karate, labels, method="approximate", lam=lam, terms=terms, trace="paper", classes=names
    )
    assert list(found) == [names[y] for y in expected]


def real_stream(labels, seed, count=None):
    order = np.random.default_rng(seed).permutation(len(labels))[:count]
    return [(int(u), int(labels[u])) for u in order if labels[u] >= 0]


def test_fastonl_on_cora_is_the_algorithm_of_the_paper(real_graph, real_labels):
    graph, labels = real_graph("cora"), real_labels("cora")
    n, k = len(graph), 7
    stream = real_stream(labels, 0)
    degrees = graph.degrees
    W = graph.to_scipy().toarray()
    rows = [np.flatnonzero(row) for row in W]
    M = np.zeros((n, n))
    kernel = GraphKernel(graph)
    for t in range(n):
        result = local_push(kernel.system, [t], [1.0], 0.1 / n, adaptive=False)
        M[result.nodes, t] = 2 * 0.15 * n * np.sqrt(degrees[t] * degrees[result.nodes]) * result.estimate
    for t in range(0, n, 250):
        column = oracles.push_column(W, rows, 1.15 * degrees, 0.1 / n * degrees, t)
        assert_allclose(M[:, t], 0.3 * n * np.sqrt(degrees[t] * degrees) * column, rtol=1e-10)
    expected, *_ = oracles.relaxation(M, stream, k, k * n**2)
    found = fo.online_node_labeling(graph, stream, method="fastonl-fifo", trace="paper", classes=range(k))
    assert list(found) == expected


@pytest.mark.parametrize(
    ("name", "accuracy", "relaxation"),
    [("political", 0.942, 0.9493), ("citeseer", 0.740, 0.7415), ("cora", 0.842, 0.8404)],
)
def test_accuracy_on_real_graphs(real_graph, real_labels, name, accuracy, relaxation):
    graph, labels = real_graph(name), real_labels(name)
    streams = [real_stream(labels, seed) for seed in range(10)]
    found = [fo.online_node_labeling(graph, stream, method="fastonl", trace="paper").accuracy for stream in streams]
    assert np.mean(found) >= accuracy - 0.005
    exact = fo.OnlineNodeLabeler(graph, method="relaxation")
    scores = [_accuracy(exact.clone(), stream) for stream in streams]
    assert np.mean(scores) == pytest.approx(relaxation, abs=0.005)


def _accuracy(model, stream):
    right = 0
    for node, label in stream:
        right += model.predict_one(node) == label
        model.learn_one(node, label)
    return right / len(stream)


@settings(max_examples=100)
@given(st.data(), small_graphs(), st.sampled_from(sorted(KERNELS)), st.sampled_from([0.5, 30.0, 1e4]))
def test_confidence_is_that_of_the_labels_known_by_now(data, G, kernel, trace):
    """A = tr(G M G^T), whether labels were known from the start, discovered on the way, or overwritten."""
    named, stream = data.draw(streams_on(G))
    if not stream:
        return
    again = data.draw(st.lists(st.tuples(st.sampled_from([u for u, _ in stream]), st.sampled_from(LABELS))))
    model = fo.OnlineNodeLabeler(G, kernel=kernel, method="relaxation", trace=trace)
    nodes = list(G)
    for node, label in named:
        model.learn_one(node, label)
    for u, label in again:
        model.learn_one(nodes[u], label, overwrite=True)
    learner = learner_of(model)
    stored = stored_gradients(model)
    one_entry = (stored != 0).sum(axis=0) == 1
    M = fo.kernel_matrix(G, kernel=kernel, exact=True)
    expected = oracles.quadratic_form(M, stored + one_entry / learner.k)
    sums = learner.gradients
    size = np.abs(M).sum()
    assert sums.energy - sums.single_energy / learner.k == pytest.approx(expected, abs=1e-10 * size)
    assert sums.used_trace == pytest.approx(sum(M[u, u] for u, _ in stream), abs=1e-10 * size)
    learned = learner.history.labels_of(np.arange(len(G))) >= 0
    assert sums.dense_in_use == (~one_entry & learned).sum()


def test_relearning_what_is_known_changes_nothing(karate):
    model = fo.OnlineNodeLabeler(karate, list("abc"), method="fastonl", trace=1.0)
    for node in range(20):
        model.learn_one(node, "a")
    sums = learner_of(model).gradients
    before, dense = (sums.energy, sums.single_energy, sums.used_trace), sums.dense_in_use
    for _ in range(50):
        model.learn_one(19, "a", overwrite=True)
    assert (sums.energy, sums.single_energy, sums.used_trace) == pytest.approx(before)
    assert sums.dense_in_use == dense


# Streams


def test_labels_may_come_as_dict_pairs_generator_or_attribute(karate):
    labels = nx.get_node_attributes(karate, "club")
    expected = fo.online_node_labeling(karate, labels)
    assert fo.online_node_labeling(karate, list(labels.items())) == expected
    assert fo.online_node_labeling(karate, (pair for pair in labels.items())) == expected
    assert fo.online_node_labeling(karate, "club") == expected
    assert fo.online_node_labeling(karate, "club", progress=True) == expected
    # There, neighbours have another order: what pushes leave, and so probabilities, may differ a little.
    assert list(fo.online_node_labeling(nx.to_scipy_sparse_array(karate), labels)) == list(expected)


def test_unlabelled_nodes_are_skipped_but_conduct():
    G = nx.path_graph(5)
    seq = fo.online_node_labeling(G, {0: "a", 1: None, 4: "b", 2: "a", 3: None})
    assert seq.nodes == (0, 4, 2)
    assert list(seq) == [None, "a", "a"]
    assert fo.online_node_labeling(G, pd.Series({0: "a", 1: None, 4: "b", 2: "a", 3: pd.NA})) == seq
    assert fo.online_node_labeling(G, {0: "a", 1: math.nan, 4: "b", 2: "a", 3: pd.NA}) == seq
    H = nx.Graph([(0, 1), (1, 2), (3, 4)])
    assert fo.online_node_labeling(H, [(4, "b"), (3, "b"), (0, "a"), (2, "a")])[3] == "a"


@pytest.mark.parametrize("method", ["adaptive", "fastonl"])
def test_compiled_stream_is_predicting_and_learning_in_turn(karate, method):
    labels = list(nx.get_node_attributes(karate, "club").items())
    labels = [(node, f"{club} {node % 3}") for node, club in labels]  # six labels, discovered on the way
    for predict in ("argmax", "sample"):
        for kernel in KERNELS:
            options = {"kernel": kernel, "method": method, "predict": predict, "seed": 3}
            model = fo.OnlineNodeLabeler(karate, **options)
            expected = []
            for node, label in labels:
                expected.append(model.predict_one(node))
                model.learn_one(node, label)
            assert list(fo.online_node_labeling(karate, labels, **options)) == expected


@pytest.mark.parametrize(
    "options", [{"method": "adaptive"}, {"method": "fastonl", "trace": 1e4}, {"method": "fastonl-fifo", "trace": 1e4}]
)
def test_streams_longer_than_one_batch(real_graph, real_labels, options):
    stream = real_stream(real_labels("citeseer"), 1)
    assert len(stream) > STREAM_BATCH
    graph = real_graph("citeseer")
    options = {**options, "epsilon": 1e-3}
    model = fo.OnlineNodeLabeler(graph, **options)
    expected = []
    for node, label in stream:
        expected.append(model.predict_one(node))
        model.learn_one(node, label)
    assert list(fo.online_node_labeling(graph, stream, **options)) == expected


def test_sampling_follows_the_distribution(karate):
    model = fo.OnlineNodeLabeler(karate, predict="sample", seed=1)
    model.learn_one(0, "a")
    model.learn_one(33, "b")
    probability = model.predict_proba_one(8)["a"]
    assert 0.1 < probability < 0.9
    draws = []
    for seed in range(400):
        other = fo.OnlineNodeLabeler(karate, predict="sample", seed=seed)
        other.learn_one(0, "a")
        other.learn_one(33, "b")
        draws.append(other.predict_one(8) == "a")
    assert np.mean(draws) == pytest.approx(probability, abs=4 * math.sqrt(0.25 / 400))


def test_draws_of_different_nodes_differ():
    model = fo.OnlineNodeLabeler(nx.empty_graph(200), list("ab"), predict="sample", seed=0)
    drawn = model.predict_many(range(200))
    assert 60 < drawn.count("a") < 140
    model.learn_one(0, "a")
    assert model.predict_many(range(1, 200)) != drawn[1:]


def test_the_papers_trace_makes_draws_almost_uniform(real_graph, real_labels):
    graph, stream = real_graph("citeseer"), real_stream(real_labels("citeseer"), 0)

    def accuracy(trace):
        return fo.online_node_labeling(graph, stream, method="fastonl", predict="sample", trace=trace, seed=0).accuracy

    assert accuracy("paper") < 0.3
    assert 0.4 < accuracy("estimate") < 0.55
    assert accuracy("exact") == pytest.approx(accuracy("estimate"), abs=0.03)


def test_overwriting_forgets(karate):
    """A labeler that learned a wrong label and then the right one is one that learned the right one."""
    for options in (
        {"method": "fastonl", "epsilon": 1e-9},
        {"method": "fastonl-fifo"},
        {"method": "fastonl-fifo", "symmetrized": True},
        {"method": "fastonl-fifo", "kernel": "K6"},
        {"method": "fastonl-fifo", "trace": 30.0},
        {"method": "relaxation"},
    ):
        twice, once = (fo.OnlineNodeLabeler(karate, ["a", "b", "c"], **options) for _ in range(2))
        for model in (twice, once):
            for node in range(0, 30, 3):
                model.learn_one(node, "abc"[node % 2])
        twice.learn_one(33, "a")
        twice.learn_one(33, "c", overwrite=True)
        once.learn_one(33, "c")
        for node in karate:
            expected = once.predict_proba_one(node)
            # "fastonl" estimates the diagonal of the kernel, roughly before it has to be exact.
            tolerance = 1e-6 if options["method"] == "fastonl" else 1e-9
            assert twice.predict_proba_one(node) == pytest.approx(expected, abs=tolerance)
        assert twice.n_learned == once.n_learned


# The sequence


def test_sequence(karate):
    seq = fo.online_node_labeling(karate, "club")
    truth = list(nx.get_node_attributes(karate, "club").values())
    wrong = [predicted != true for predicted, true in zip(seq, truth, strict=True)]
    assert (list(seq.truth), list(seq.nodes)) == (truth, list(karate))
    assert seq.mistakes == sum(wrong)
    assert seq.error_rate == sum(wrong) / 34 == pytest.approx(1 - seq.accuracy)
    assert seq.error_curve == [sum(wrong[: i + 1]) / (i + 1) for i in range(34)]
    assert type(seq.error_curve[0]) is float
    assert seq.to_dict() == dict(zip(karate, seq, strict=True))
    assert (seq[3], seq[-1], len(seq[5:9]), seq[5:9].nodes) == (list(seq)[3], list(seq)[-1], 4, (5, 6, 7, 8))
    assert "Officer" in seq


def test_sequence_to_frame(karate):
    seq = fo.online_node_labeling(karate, "club", method="fastonl")
    frame = seq.to_frame()
    assert list(frame.columns) == ["node", "predicted", "truth", "correct", "error_rate"]  # and no probability
    assert frame["correct"].sum() == len(frame) - seq.mistakes
    seq = fo.online_node_labeling(karate, "club")
    assert seq.to_frame()["probability"].tolist() == pytest.approx(list(seq.probabilities))
    assert len(fo.online_node_labeling(karate, {}).to_frame()) == 0


def test_sequence_plot(karate):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots()
    seq = fo.online_node_labeling(karate, "club")
    assert seq.plot(ax, label="karate") is ax
    assert ax.lines[0].get_ydata().tolist() == seq.error_curve
    assert (ax.get_legend().get_texts()[0].get_text(), ax.get_xlabel()) == ("karate", "nodes seen")
    plt.close(figure)


def test_empty_sequence(karate):
    seq = fo.online_node_labeling(karate, [])
    assert (len(seq), seq.mistakes, seq.error_curve) == (0, 0, [])
    assert math.isnan(seq.error_rate)
    assert repr(seq) == "LabelSequence of 0 predictions, 0 mistakes"


# Regret


@settings(max_examples=100)
@given(st.data(), small_graphs(), st.sampled_from(sorted(KERNELS)))
def test_cut_is_that_of_the_definition(data, G, kernel):
    named, stream = data.draw(streams_on(G))
    F = np.zeros((len(LABELS), len(G)))
    for u, y in stream:
        F[y, u] = 1.0
    beta = {"scaled-laplacian": 0.85, "laplacian": None, "normalized-laplacian": None}.get(kernel, 0.15)
    inverse = oracles.inverse_kernel(oracles.adjacency(G), kernel, beta=beta, b=1 / len(G))
    expected = np.trace(F @ inverse @ F.T)
    assert fo.labeling_cut(G, dict(named), kernel) == pytest.approx(
        expected, abs=1e-9 * max(1.0, np.abs(inverse).sum())
    )


@settings(max_examples=60)
@given(st.data(), connected_graphs(), st.sampled_from(["laplacian", "normalized-laplacian"]))
def test_expected_mistakes_stay_within_the_regret_bound(data, G, kernel):
    """For the true labelling as comparator, whose surrogate losses are all 0, and lam its cut."""
    nodes = list(G)
    labels = data.draw(st.lists(st.integers(0, 2), min_size=len(G), max_size=len(G)))
    order = data.draw(st.permutations(range(len(G))))
    lam = max(fo.labeling_cut(G, dict(zip(nodes, labels, strict=True)), kernel), 1e-3 * len(G))
    options = {"kernel": kernel, "lam": lam}
    bound = fo.regret_bound(G, 3, exact=True, **options)
    model = fo.OnlineNodeLabeler(G, classes=[0, 1, 2], method="relaxation", **options)
    expected_mistakes = 0.0
    for u in order:
        expected_mistakes += 1 - model.predict_proba_one(nodes[u])[labels[u]]
        model.learn_one(nodes[u], labels[u])
    assert expected_mistakes <= bound + 1e-9
    options |= {"method": "fastonl-fifo", "epsilon": 0.05}
    symmetrized = fo.OnlineNodeLabeler(G, classes=[0, 1, 2], symmetrized=True, trace="exact", **options)
    wider = fo.regret_bound(G, 3, exact=True, **options)
    expected_mistakes = 0.0
    for u in order:
        expected_mistakes += 1 - symmetrized.predict_proba_one(nodes[u])[labels[u]]
        symmetrized.learn_one(nodes[u], labels[u])
    assert expected_mistakes <= wider + 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_the_bound_holds_at_the_sending_halves_of_a_double_cover(seed):
    """Whatever labels a comparator gives to the receiving halves, which never arrive. Neighbours never share labels."""
    n, rng = 180, np.random.default_rng(seed)
    kinds = rng.permutation(np.arange(n) % 3)
    tails = rng.integers(n, size=60 * n)
    heads = np.argsort(kinds, kind="stable").reshape(3, -1)[(kinds[tails] + 1) % 3, rng.integers(n // 3, size=60 * n)]
    cover = fo.CSRGraph.from_edges(tails, n + heads, n=2 * n)
    W = fo.CSRGraph.from_edges(tails, heads, n=n, directed=True).to_scipy().toarray()
    assert_array_equal(cover.to_scipy().toarray(), np.block([[0 * W, W], [W.T, 0 * W]]))
    lam = fo.labeling_cut(cover, np.concatenate([kinds, (kinds - 1) % 3]))
    bound = fo.regret_bound(cover, 3, lam=lam, exact=True)
    model = fo.OnlineNodeLabeler(cover, classes=[0, 1, 2], method="relaxation", lam=lam, trace="exact")
    expected_mistakes = 0.0
    for u in range(n):
        expected_mistakes += 1 - model.predict_proba_one(u)[kinds[u]]
        model.learn_one(u, kinds[u])
    guessing = n * 2 / 3
    assert expected_mistakes <= bound < guessing


def test_surrogate_loss_of_a_comparator_that_is_right_is_zero():
    """The linear function that touches the loss at psi is 0 at the true label's corner. regret_bound needs it."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        psi, y = rng.normal(size=4), int(rng.integers(4))
        gradient = oracles.surrogate(psi, y)[1]
        assert surrogate_loss(psi, y) + gradient @ (np.eye(4)[y] - psi) == pytest.approx(0.0, abs=1e-9)


def test_regret_errors(karate):
    with pytest.raises(ValueError, match='"relaxation" or "fastonl-fifo", got \'x\''):
        fo.regret_bound(karate, 2, method="x")
    with pytest.raises(ValueError, match="k must be at least 2"):
        fo.regret_bound(karate, 1)
    with pytest.raises(TypeError, match="k must be a whole number, got None"):
        fo.regret_bound(karate, None)
    with pytest.raises(ValueError, match="epsilon must be a positive number"):
        fo.regret_bound(karate, 2, epsilon=-1)
    trace = fo.kernel_matrix(karate, exact=True).trace()
    assert fo.regret_bound(karate, 3) == pytest.approx(math.sqrt(3 * trace))
    assert fo.regret_bound(karate, 3, exact=False) == pytest.approx(math.sqrt(3 * trace), rel=0.05)
    assert fo.regret_bound(karate, 2, method="fastonl-fifo") > fo.regret_bound(karate, 2)
    with pytest.raises(nx.NodeNotFound, match="99"):
        fo.labeling_cut(karate, {99: "a"})
    with pytest.raises(TypeError, match=r"must be hashable, got \[1\] for node 0"):
        fo.labeling_cut(karate, {0: [1]})
    assert fo.labeling_cut(karate, "club") == fo.labeling_cut(karate, nx.get_node_attributes(karate, "club"))


# Trouble


KARATE = nx.karate_club_graph()

BAD_ARGUMENTS = [
    (
        {"method": "magic"},
        ValueError,
        'unknown method \'magic\'; the methods are "adaptive", "fastonl", "fastonl-fifo", .*"weighted-tree"',
    ),
    ({"kernel": "K7"}, ValueError, "unknown kernel 'K7'"),
    ({"predict": "best"}, ValueError, 'predict must be "argmax" or "sample", got \'best\''),
    ({"trees": 3}, TypeError, "'adaptive' has no option trees; it belongs to \"weighted-tree\". Its"),
    (
        {"method": "weighted-majority", "lam": 3.0},
        TypeError,
        "'weighted-majority' has no option lam; it belongs .* Its options: none",
    ),
    ({"symmetrized": True}, TypeError, "'adaptive' has no option symmetrized; it belongs to \"fastonl-fifo\". Its"),
    ({"method": "fastonl-fifo", "symmetrized": "yes"}, TypeError, "symmetrized must be True or False, got 'yes'"),
    ({"classes": [[1]]}, TypeError, r"a label must be hashable, got \[1\]$"),
    ({"dtype": "float16"}, ValueError, 'dtype must be "float64" or "float32", got \'float16\''),
    ({"dtype": None}, ValueError, 'dtype must be "float64" or "float32", got None'),
    (
        {"dtype": "float32", "G": nx.Graph([(0, 1, {"weight": 1e30})]), "labels": {}},
        ValueError,
        r"needs weighted degrees between 1e-20 and 1e\+20, got 1e\+30 to 1e\+30",
    ),
    ({"method": "fastonl", "trace": "good"}, ValueError, "trace must be .* got 'good'"),
    ({"method": "fastonl", "trace": -1}, ValueError, "trace must be a positive number"),
    ({"epsilon": 0}, ValueError, "epsilon must be a positive number"),
    ({"method": "weighted-tree", "trees": 0}, ValueError, "trees must be at least 1"),
    ({"method": "approximate", "terms": 0}, ValueError, "terms must be at least 1"),
    ({"seed": -1}, ValueError, "seed must be at least 0"),
    ({"seed": "x"}, TypeError, "seed must be a whole number, a numpy Generator or None, got 'x'"),
    ({"classes": "ab"}, TypeError, "classes must be a collection of labels, got 'ab'"),
    ({"classes": ["a", "a"]}, ValueError, "each label once"),
    ({"classes": []}, ValueError, "classes is empty"),
    ({"classes": ["x"]}, ValueError, r"label 'Mr. Hi' of node 0 is not one of the classes: 'x'"),
    ({"labels": "team"}, ValueError, "no node has the attribute 'team'"),
    ({"labels": 5}, TypeError, "got 5"),
    ({"labels": [1, 2]}, TypeError, r"pairs \(node, label\), as zip.* got 1"),
    ({"labels": ["ab"]}, TypeError, "pairs .* got 'ab'"),
    ({"labels": {99: "a"}}, nx.NodeNotFound, "99"),
    ({"labels": {0: []}}, TypeError, r"must be hashable, got \[\] for node 0"),
    ({"labels": pd.DataFrame({"node": [0]})}, ValueError, "expected columns node and label"),
    ({"classes": {"a": 1}}, TypeError, "classes must be a collection of labels"),
    ({"classes": ["a", None]}, ValueError, "classes holds None or NaN"),
    ({"method": "weighted-tree", "kernel": "K7"}, ValueError, "unknown kernel 'K7'"),
    ({"method": "weighted-majority", "smoothness": -5}, ValueError, "smoothness must lie between"),
    ({"eps": 0.1}, TypeError, "'adaptive' has no option eps. Its options: epsilon, experts"),
    ({"labels": [(0, "a"), (1, "a"), (0, "b")]}, ValueError, "node 0 was learned before, as 'a'$"),
    ({"method": ["relaxation"]}, ValueError, "unknown method"),
    ({"method": "weighted-tree", "trees": None}, TypeError, "trees must be a whole number, got None"),
    ({"method": "approximate", "terms": None}, TypeError, "terms must be a whole number, got None"),
    ({"method": "fastonl", "trace": None}, ValueError, 'trace must be "estimate", "paper", "exact" or'),
    ({"labels": [{0, 1}]}, TypeError, "pairs .* got {0, 1}"),
    ({"labels": np.array(5)}, TypeError, "got array"),
    ({"G": nx.DiGraph(KARATE), "method": "fastonl"}, nx.NetworkXNotImplemented, "undirected"),
    ({"G": nx.Graph()}, nx.NetworkXPointlessConcept, "no nodes"),
    ({"G": nx.to_scipy_sparse_array(KARATE)}, TypeError, "only an nx.Graph has those"),
]


@pytest.mark.parametrize(("options", "error", "message"), BAD_ARGUMENTS)
def test_bad_arguments(options, error, message):
    arguments = {"G": KARATE, "labels": "club", **options}
    with pytest.raises(error, match=message):
        fo.online_node_labeling(**arguments)


def test_exact_methods_refuse_large_graphs_and_say_what_they_would_need():
    n = 30_000
    path = CSRGraph.from_edges(range(n - 1), range(1, n))
    for options in ({"method": "relaxation"}, {"method": "fastonl", "trace": "exact"}):
        with pytest.raises(ValueError, match=r"30,000 nodes takes 7.2 GB .* up to 20,000 nodes"):
            fo.OnlineNodeLabeler(path, **options)


def test_failed_learning_changes_nothing(karate):
    model = fo.OnlineNodeLabeler(karate, ["a", "b"])
    model.learn_one(0, "a")
    before = model.predict_proba_one(5)
    for node, label in [(0, "b"), (1, "c"), (1, None), (1, math.nan), (1, pd.NA), (1, []), (77, "a")]:
        with pytest.raises((ValueError, TypeError, nx.NodeNotFound)):
            model.learn_one(node, label)
    assert model.predict_proba_one(5) == before
    assert (model.classes, model.n_learned, model.labels) == (("a", "b"), 1, {0: "a"})


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts kilobytes as Linux does")
@pytest.mark.parametrize("method", ["fastonl", "fastonl-fifo"])
@pytest.mark.parametrize("call", ["learn_one", "stream"])
def test_memory_follows_labels_and_what_is_touched(call, method):
    """On a graph of two million nodes, ten labels commit little more than the graph."""
    program = f"""
import resource, numpy as np, nx_fastonl as fo
n = 2_000_000
u = np.arange(n)
graph = fo.CSRGraph.from_edges(u, (u + 1) % n)
nodes = range(0, n, n // 10)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
if {call == "stream"}:
    fo.online_node_labeling(graph, zip(nodes, nodes), method={method!r}, epsilon=1e-4, trace="paper")
else:
    model = fo.OnlineNodeLabeler(graph, method={method!r}, epsilon=1e-4, trace="paper")
    for node in nodes:
        model.learn_one(node, node)
        model.predict_one(node + 1)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    # Where numpy asks for pages of 2 MB, each array that is written once commits one.
    environment = {**os.environ, "NUMPY_MADVISE_HUGEPAGE": "0"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    growth = int(done.stdout)
    assert growth < 14_000  # kilobytes; an array of one double per node has 16,000


@pytest.mark.slow
@pytest.mark.parametrize("method", ["adaptive", "fastonl"])
@pytest.mark.parametrize("nodes", ["range(n)", "[0]"])
def test_ctrl_c_ends_a_long_stream(nodes, method):
    """Between nodes, and within the push of one node."""
    program = f"""
import signal, threading, os
import numpy as np, nx_fastonl as fo
n = 20_000
rng = np.random.default_rng(0)
graph = fo.CSRGraph.from_edges(rng.integers(n, size=5 * n), rng.integers(n, size=5 * n), n=n)
options = {{"smoothness": 1e-8, "epsilon": 1e-16, "method": {method!r}}}
fo.online_node_labeling(graph, [], **options)  # what it imports, an interrupt would break
signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored where the tests run in the background
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    fo.online_node_labeling(graph, ((u, u % 5) for u in {nodes}), **options)
except KeyboardInterrupt:
    print("interrupted")
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=True)
    assert found.stdout == "interrupted\n"


def test_threads_predict_while_one_learns(real_graph, real_labels):
    graph, labels = real_graph("citeseer"), real_labels("citeseer")
    stream = real_stream(labels, 0, 500)
    stream = [(node, f"{label} {i % 30}") for i, (node, label) in enumerate(stream)]  # many labels, discovered
    for options in (
        {},
        {"predict": "sample"},
        {"method": "fastonl"},
        {"method": "fastonl", "kernel": "K6", "epsilon": 1e-3},
        {"method": "fastonl", "predict": "sample"},
        {"method": "fastonl-fifo"},
        {"method": "fastonl-fifo", "symmetrized": True},
        {"method": "weighted-majority"},
        {"method": "weighted-tree"},
    ):
        model = fo.OnlineNodeLabeler(graph, seed=0, **options)
        done = threading.Event()
        failures = []

        def predict(model=model, done=done, failures=failures):
            rng = np.random.default_rng(threading.get_ident() % 2**32)
            while not done.is_set():
                try:
                    model.predict_one(int(rng.integers(len(graph))))
                    model.predict_proba_one(int(rng.integers(len(graph))))
                except BaseException as error:
                    failures.append(error)
                    raise

        threads = [threading.Thread(target=predict) for _ in range(3)]
        for thread in threads:
            thread.start()
        for node, label in stream:
            model.learn_one(node, label)
        done.set()
        for thread in threads:
            thread.join()
        serial = fo.OnlineNodeLabeler(graph, seed=0, **options)
        for node, label in stream:
            serial.learn_one(node, label)
        assert not failures
        nodes = range(0, len(graph), 20)
        assert model.predict_many(nodes) == serial.predict_many(nodes)
