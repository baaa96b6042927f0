import math
import pickle
import subprocess
import sys
import threading
from functools import partial

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from numpy.testing import assert_allclose

import nx_fastonl as fo
from nx_fastonl.kernels.table import KERNELS
from nx_fastonl.learners import _diffusion, _relaxation
from nx_fastonl.learners.relaxation import water_filling
from tests import oracles
from tests.seams import allowances, dense, learner_of, scores_of, store_of, stored_gradients
from tests.strategies import small_graphs

LABELS = [f"label {i}" for i in range(20)]  # three blocks

fastonl = partial(fo.OnlineNodeLabeler, method="fastonl")
label_stream = partial(fo.online_node_labeling, method="fastonl")


def assert_invariant(model, tolerance=1e-9):
    H, Z, R, B = dense(model)
    size = 1.0 + np.abs(H) @ np.abs(Z) + np.abs(B)
    assert (np.abs(H @ Z + R - B) <= tolerance * size).all()


def assert_settled(model):
    learner = learner_of(model)
    _, _, R, B = dense(model)
    assert store_of(model).mass == pytest.approx(np.abs(B).max(axis=1, initial=0.0).sum(), rel=1e-9, abs=1e-12)
    # A node without neighbours keeps nothing.
    assert (np.abs(R).max(axis=1, initial=0.0) <= learner.diffusion.largest_theta * allowances(model)).all()


def exact_scores(model):
    return oracles.scores(learner_of(model).kernel.exact(), stored_gradients(model))


class LearningAndPredicting(RuleBasedStateMachine):
    """Whatever happens in whatever order, H Z + R = B, and all is settled."""

    @initialize(
        G=small_graphs(),
        kernel=st.sampled_from(sorted(KERNELS)),
        smoothness=st.sampled_from([0.01, 0.15, 0.7]),
        epsilon=st.sampled_from([None, 0.3, 1e-2, 1e-5]),
        trace=st.sampled_from(["paper", "estimate", 3.0]),
        known=st.booleans(),
    )
    def start(self, G, kernel, smoothness, epsilon, trace, known):
        self.nodes = list(G)
        classes = LABELS if known else None
        options = {"smoothness": smoothness, "epsilon": epsilon, "trace": trace}
        self.model = fastonl(G, classes, kernel, **options)

    @rule(data=st.data(), label=st.sampled_from(LABELS))
    def learn(self, data, label):
        new = [node for node in self.nodes if node not in self.model.labels]
        if new:
            self.model.learn_one(data.draw(st.sampled_from(new)), label)

    @rule(data=st.data(), label=st.sampled_from(LABELS))
    def learn_again(self, data, label):
        if self.model.labels:
            self.model.learn_one(data.draw(st.sampled_from(list(self.model.labels))), label, overwrite=True)

    @rule(data=st.data())
    def forget(self, data):
        if self.model.labels:
            self.model.forget(data.draw(st.sampled_from(list(self.model.labels))))

    @rule(data=st.data())
    def learn_many(self, data):
        new = [node for node in self.nodes if node not in self.model.labels]
        if new:
            some = st.dictionaries(st.sampled_from(new), st.sampled_from(LABELS), max_size=4)
            self.model.learn_many(data.draw(some))

    @rule(data=st.data())
    def stream(self, data):
        new = [node for node in self.nodes if node not in self.model.labels]
        if new:
            nodes = data.draw(st.lists(st.sampled_from(new), unique=True, max_size=4))
            labels = data.draw(st.lists(st.sampled_from(LABELS), min_size=4))
            self.model.run(zip(nodes, labels, strict=False))

    @rule(data=st.data())
    def predict(self, data):
        before = [array.copy() for array in dense(self.model)]
        node = data.draw(st.sampled_from(self.nodes))
        self.model.predict_one(node)
        self.model.certify_one(node, max_operations=100)
        assert self.model.predict_many() == [self.model.predict_one(node) for node in self.nodes]
        each = [list(self.model.predict_proba_one(node).values()) for node in self.nodes]
        assert self.model.predict_proba_many().tolist() == each
        for found, expected in zip(dense(self.model), before, strict=True):
            assert (found == expected).all()

    @invariant()
    def holds(self):
        if hasattr(self, "model"):
            assert_invariant(self.model)
            assert_settled(self.model)


LearningAndPredicting.TestCase.settings = settings(max_examples=150, stateful_step_count=12)
TestLearningAndPredicting = LearningAndPredicting.TestCase


@st.composite
def trained_labelers(draw, **options):
    """A labeler that has learned some nodes of a small graph one by one or together."""
    G = draw(small_graphs())
    nodes = list(G)
    k = draw(st.integers(1, 5))
    labels = draw(st.dictionaries(st.sampled_from(nodes), st.sampled_from(LABELS[:k]), min_size=1))
    kernel = draw(st.sampled_from(sorted(KERNELS)))
    options |= {"smoothness": draw(st.sampled_from([0.02, 0.15, 0.7])), "trace": draw(st.sampled_from(["paper", 3.0]))}
    options["epsilon"] = draw(st.sampled_from([0.5, 0.05, None, 1e-6]))
    model = fastonl(G, LABELS[:k], kernel, **options)
    if draw(st.booleans()):
        return model.fit(labels)
    for node, label in labels.items():
        model.learn_one(node, label)
    return model


@settings(max_examples=500)
@given(trained_labelers())
def test_scores_are_within_the_bound_of_the_paper(model):
    """|v - G M| <= a s_t theta max(neighbours / c), theta = epsilon times the mass learned."""
    kernel, theta = learner_of(model).kernel, learner_of(model).diffusion.largest_theta
    rows = np.arange(len(kernel.graph))
    found = scores_of(model)
    expected = exact_scores(model)
    bound = kernel.a * kernel.s(rows) * theta * (np.diff(kernel.graph.indptr) / kernel.c(rows)).max()
    rounding = 1e-9 * (1.0 + np.abs(expected).max())
    assert (np.abs(found - expected).max(axis=1) <= bound + rounding).all()


@given(st.data(), small_graphs(), st.sampled_from(sorted(KERNELS)), st.sampled_from([0.3, 1e-2, None, 1e-6]))
def test_learning_is_a_push_of_each_lane(data, G, kernel, epsilon):
    """Every number is that of a plain FIFO push of signed residuals, whose epsilon grows with the mass learned."""
    nodes = list(G)
    labels = data.draw(st.dictionaries(st.sampled_from(nodes), st.sampled_from(LABELS[:3])))
    trace = data.draw(st.sampled_from(["paper", 1.0]))
    model = fastonl(G, LABELS[:3], kernel, epsilon=epsilon, trace=trace)
    store_of(model).when_slow = lambda *arguments: arguments[-1]  # push on, never solve
    learner = learner_of(model)
    graph_kernel = learner.kernel
    graph = graph_kernel.graph
    W = graph.to_scipy().toarray()
    rows = np.split(graph.indices, graph.indptr[1:-1])
    pivots = graph_kernel.c(np.arange(len(W))) + W.sum(axis=1)
    Z, R = np.zeros((3, len(W))), np.zeros((3, len(W)))
    mass, pushes = 0.0, 0
    for node, label in labels.items():
        u = nodes.index(node)
        model.learn_one(node, label)
        stored = learner.gradients.read(u, 3)
        mass += np.abs(stored).max()
        for y in np.flatnonzero(stored):
            thresholds = graph_kernel.push_epsilon(epsilon or 0.1 / len(W)) * mass * allowances(model)
            pushes += oracles.push_lane(W, rows, pivots, thresholds, Z[y], R[y], u, stored[y])
        _, found_Z, found_R, _ = dense(model)
        assert_allclose(found_Z, Z.T, rtol=1e-9, atol=1e-12 * (1 + np.abs(Z).max()))
        assert_allclose(found_R, R.T, rtol=1e-9, atol=1e-12 * (1 + np.abs(W).max() * np.abs(Z).max()))
    assert store_of(model).n_pushes == pushes


@given(trained_labelers(), st.data())
def test_reading_is_what_its_formula_says(model, data):
    """Z[u] + (z + r / pivot) R of a push from u; the diagonal likewise, a lower bound."""
    learner = learner_of(model)
    u = data.draw(st.integers(0, len(learner.kernel.graph) - 1))
    H, Z, R, _ = dense(model)
    graph = learner.kernel.graph
    assume((graph.degrees / learner.kernel.c(np.arange(len(graph)))).max() < 30)  # else it may read no further
    W = graph.to_scipy().toarray()
    pivots = np.diag(H) + np.diag(W)
    rows = np.split(graph.indices, graph.indptr[1:-1])
    z = oracles.push_column(W, rows, pivots, learner.diffusion.read_epsilon(u) * np.diff(graph.indptr), u)
    r = np.eye(len(H))[u] - H @ z
    values = z + r / pivots
    found, diagonal = learner.diffusion.read(np.array([u], dtype=np.int32))
    assert_allclose(found[0, : learner.k], Z[u] + values @ R, atol=1e-9 * (1 + np.abs(Z).max() + np.abs(R).max()))
    exact = np.linalg.inv(H)[u, u]
    assert diagonal[0] == pytest.approx(z[u] + r @ values, rel=1e-9)
    assert diagonal[0] <= exact * (1 + 1e-9)


def test_the_push_from_a_node_sharpens_its_scores(karate):
    """Reading around a node gets closer to the exact kernel than its own numbers do."""
    model = fastonl(karate, trace="paper", epsilon=0.02).fit(nx.get_node_attributes(karate, "club"))
    kernel = learner_of(model).kernel
    expected = exact_scores(model)
    _, Z, _, _ = dense(model)
    own = kernel.a * kernel.s(np.arange(34))[:, None] * Z
    assert np.abs(scores_of(model) - expected).sum() < 0.75 * np.abs(own - expected).sum()


@given(st.data(), small_graphs(), st.sampled_from(sorted(KERNELS)))
def test_a_tiny_epsilon_gives_the_predictions_of_the_exact_kernel(data, G, kernel):
    """Nodes are read more finely too, so that the diagonal of M is right up to a hundredth, and gradients too."""
    order = data.draw(st.permutations(list(G)))
    stream = [(node, data.draw(st.sampled_from(LABELS[:3]))) for node in order]
    options = {"kernel": kernel, "trace": "exact"}
    model = fastonl(G, epsilon=1e-16, **options)
    exact = fo.OnlineNodeLabeler(G, method="relaxation", **options)
    for node, label in stream:
        scores, _, diagonal, _ = learner_of(exact)._evidence(learner_of(model).kernel.graph.index(node))
        if len(scores) > 1 and np.diff(np.sort(scores)).min() > 1e-6 * np.abs(scores).max():
            assert model.predict_one(node) == exact.predict_one(node)
        if label not in exact.classes:
            scores = np.append(scores, 0.0)
        psi = _relaxation.psi_of(learner_of(exact).gradients, scores, diagonal)
        if np.abs(psi - (psi.max() - water_filling(psi).max())).min() < 1e-2:
            return  # a label is about to get or to lose its probability: small errors decide which gradient is stored
        model.learn_one(node, label)
        exact.learn_one(node, label)
        assert_allclose(stored_gradients(model), stored_gradients(exact), atol=1e-6)


# Certificates


@settings(max_examples=600)
@given(trained_labelers(), st.data())
def test_what_is_certain_is_the_label_of_the_exact_kernel(model, data):
    node = data.draw(st.sampled_from(list(learner_of(model).kernel.graph)))
    budget = data.draw(st.sampled_from([0, 10, 1_000_000]))
    answer = model.certify_one(node, max_operations=budget)
    exact = exact_scores(model)[learner_of(model).kernel.graph.index(node)]
    best, *others = np.sort(exact)
    true_margin = others[0] - best if others else math.inf
    assert [type(value) for value in (answer.margin, answer.error, answer.certain)] == [float, float, bool]
    if answer.certain:
        assert answer.label == model.classes[int(exact.argmin())]
    if len(model.classes) > 1:
        own = model.classes.index(answer.label)
        exact_margin = np.delete(exact, own).min() - exact[own]
        assert abs(exact_margin - answer.margin) <= answer.error
    # Rounding errors of the diffusion itself cannot be read away.
    learner = learner_of(model)
    u = learner.kernel.graph.index(node)
    rounding = learner.kernel.a * learner.kernel.s_of(u) * learner.diffusion._drift()
    if budget == 1_000_000 and true_margin > 1e-7 * np.abs(exact).max() + 8.0 * rounding:
        assert answer.certain


def test_certificates_on_a_real_graph(real_graph, real_labels):
    graph, labels = real_graph("cora"), real_labels("cora")
    order = np.random.default_rng(0).permutation(len(graph)).tolist()
    model = fastonl(graph)
    for u in order[:1000]:
        model.learn_one(u, int(labels[u]))
    exact = exact_scores(model)
    answers = [model.certify_one(u) for u in order[1000:1300]]
    expected = [model.classes[int(exact[u].argmin())] for u in order[1000:1300]]
    assert sum(answer.certain for answer in answers) >= 290
    assert all(answer.label == label for answer, label in zip(answers, expected, strict=True) if answer.certain)
    cheap = [model.certify_one(u, max_operations=0) for u in order[1000:1300]]
    assert 0 < sum(answer.certain for answer in cheap) < sum(answer.certain for answer in answers)


@settings(max_examples=300)
@given(st.floats(0.5, 2.0), st.floats(-1e-7, 1e-7), st.sampled_from(["float32", "float64"]))
def test_near_ties_are_not_mistaken(size, difference, dtype):
    """The error bound counts the rounding of each added mass, even where nothing is pushed."""
    S = {0: size, 1: 1.0, 2: size * (1 + difference)}
    model = fastonl(nx.path_graph(3), ["a", "b"], "K4", S=S, dtype=dtype, epsilon=0.9)
    model.fit({0: "a", 2: "b"})
    answer = model.certify_one(1)
    exact = exact_scores(model)[1]
    assert abs(abs(exact[1] - exact[0]) - answer.margin) <= answer.error or not answer.certain
    assert not answer.certain or answer.label == "ab"[int(exact.argmin())]


def test_a_larger_budget_is_never_worse(karate):
    model = fastonl(karate).fit({0: "a", 33: "b", 5: "a"})
    for node in karate:
        errors = [model.certify_one(node, max_operations=budget).error for budget in (0, 1, 10, 100, 1000)]
        assert errors == sorted(errors, reverse=True)


def test_a_tie_is_never_certain():
    model = fastonl(nx.path_graph(3), ["a", "b"]).fit({0: "a", 2: "b"})
    answer = model.certify_one(1)
    assert (answer.certain, answer.margin <= answer.error) == (False, True)
    assert model.certify_one(0).certain
    isolated = fastonl(nx.empty_graph(2), ["a", "b"]).fit({0: "a"})
    assert (isolated.certify_one(1).label, isolated.certify_one(1).certain) == ("a", False)  # the most frequent


def test_certificates_of_few_labels(karate):
    assert fastonl(karate).certify_one(3) == fo.CertifiedLabel(None, math.inf, 0.0, False)
    answer = fastonl(karate).fit({0: "only"}).certify_one(3)
    assert (answer.label, answer.margin, answer.certain) == ("only", math.inf, True)


def test_certificate_errors(karate):
    model = fo.OnlineNodeLabeler(karate, method="relaxation")
    with pytest.raises(ValueError, match="method 'relaxation' gives no certificates; method=\"fastonl\" does"):
        model.certify_one(3)
    with pytest.raises(nx.NodeNotFound, match="'x'"):
        fastonl(karate).certify_one("x")
    with pytest.raises(ValueError, match="max_operations must be at least 0, got -1"):
        fastonl(karate).certify_one(3, max_operations=-1)


def test_single_precision_is_close_but_seldom_certain(real_graph, real_labels):
    graph, labels = real_graph("citeseer"), real_labels("citeseer")
    stream = [(u, int(labels[u])) for u in np.random.default_rng(0).permutation(len(graph)).tolist()]
    double, single = (label_stream(graph, stream, dtype=dtype) for dtype in ("float64", "float32"))
    assert np.mean([a == b for a, b in zip(double, single, strict=True)]) > 0.999
    model = fastonl(graph, dtype="float32").fit(stream[:1500])
    assert_invariant(model, tolerance=1e-4)
    exact = exact_scores(model)
    for u, _ in stream[1500:1600]:
        answer = model.certify_one(u)
        assert not answer.certain or answer.label == model.classes[int(exact[u].argmin())]


# Labels that are learned together


@given(st.data(), small_graphs(), st.sampled_from(sorted(KERNELS)), st.sampled_from(["fastonl", "relaxation"]))
def test_fitting_is_adding_up_columns_of_the_kernel(data, G, kernel, method):
    """Each label counts -1 in its lane, whatever the order; A and T follow."""
    labels = data.draw(st.dictionaries(st.sampled_from(list(G)), st.sampled_from(LABELS[:4]), min_size=1))
    options = {"epsilon": 1e-12} if method == "fastonl" else {}
    model = fo.OnlineNodeLabeler(G, LABELS[:4], kernel, method=method, trace=1e6, **options)
    rows = {node: u for u, node in enumerate(G)}
    diagonals = 0.0
    for half in (dict(list(labels.items())[::2]), dict(list(labels.items())[1::2])):
        assert model.learn_many(half) is model
        # How closely an entry of the diagonal is read depends on how many nodes were learned.
        diagonals += sum(learner_of(model)._evidence(rows[node]).diagonal for node in half)
    gradients = np.zeros((4, len(G)))
    for node, label in labels.items():
        gradients[LABELS.index(label), rows[node]] = -1.0
    M = fo.kernel_matrix(G, kernel=kernel, exact=True)
    assert (stored_gradients(model) == gradients).all()
    expected = oracles.scores(M, gradients)
    for u in range(len(G)):
        assert_allclose(learner_of(model)._evidence(u).scores, expected[u], atol=1e-6 * (1 + np.abs(M).max()))
    sums = learner_of(model).gradients
    size = np.abs(M).sum()
    centred = gradients + (gradients.any(axis=0)) / 4
    A = oracles.quadratic_form(M, centred)
    assert sums.energy - sums.single_energy / 4 == pytest.approx(A, abs=1e-6 * size)
    used_trace = sum(M[u, u] for u in range(len(G)) if gradients[:, u].any())
    if method == "relaxation":
        assert sums.used_trace == pytest.approx(used_trace)
    else:  # estimated from below, as for a single node
        assert sums.used_trace == pytest.approx(diagonals)
        assert diagonals <= used_trace * (1 + 1e-9)
    assert model.labels == labels


def test_fitting_in_any_order_predicts_the_same(karate):
    labels = [(node, data["club"]) for node, data in karate.nodes(data=True)][::3]
    one = fastonl(karate, ["Mr. Hi", "Officer"]).fit(labels)
    two = fastonl(karate, ["Mr. Hi", "Officer"]).fit(dict(labels[::-1]))
    assert one.predict_many() == two.predict_many()
    assert one.labels == two.labels
    assert one.predict_many() == one.predict_many(karate) == one.predict_many(karate, progress=True)


def test_failed_learning_changes_nothing(karate):
    model = fastonl(karate, ["a", "b"]).fit({0: "a"})
    before = (model.predict_proba_one(5), model.labels.copy(), model.classes)
    for labels, error, message in [
        ({1: "a", 0: "b"}, ValueError, "node 0 was learned before, as 'a'"),
        ({1: "a", 2: "c"}, ValueError, "label 'c' of node 2 is not one of the classes"),
        ({1: "a", 99: "b"}, nx.NodeNotFound, "99"),
        ([(1, "a"), (1, "b")], ValueError, "node 1 is given twice, with labels 'a' and 'b'"),
        ([(1, "a"), (2, [])], TypeError, r"must be hashable, got \[\] for node 2"),
        ([1, 2], TypeError, "pairs"),
        ("club", TypeError, r"nx.get_node_attributes\(G, 'club'\)"),
    ]:
        with pytest.raises(error, match=message):
            model.learn_many(labels)
        assert (model.predict_proba_one(5), model.labels, model.classes) == before
    assert model.learn_many({1: None, 2: math.nan}).n_learned == 1
    assert model.learn_many({}).n_learned == 1


def test_fit_forgets_what_was_learned(karate):
    model = fastonl(karate, ["a", "b"]).fit({0: "a", 1: "b"})
    fresh = fastonl(karate, ["a", "b"]).fit({33: "b"})
    assert model.fit({33: "b"}) is model
    assert (model.labels, model.n_learned) == ({33: "b"}, 1)
    assert model.predict_proba_many().tolist() == fresh.predict_proba_many().tolist()
    discovering = fastonl(karate).fit({0: "a"}).fit({1: "b"})
    assert discovering.classes == ("b",)


def test_a_failed_fit_forgets_nothing(karate):
    model = fastonl(karate).fit({0: "a", 1: "b"})
    before = model.predict_proba_many().tolist()
    with pytest.raises(nx.NodeNotFound, match="99"):
        model.fit({5: "c", 99: "a"})
    assert (model.labels, model.classes) == ({0: "a", 1: "b"}, ("a", "b"))
    assert model.predict_proba_many().tolist() == before


# Many labels, many nodes


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("k", [1, 2, 3, 8, 9, 16, 17, 70])
def test_any_number_of_labels(k, known):
    G = nx.random_regular_graph(5, 300, seed=1)
    labels = {node: f"label {node * 7 % k}" for node in G}
    classes = list(dict.fromkeys(labels.values())) if known else None
    model = fastonl(G, classes, epsilon=1e-6, trace="paper")
    expected = []
    for node, label in labels.items():
        expected.append(model.predict_one(node))
        model.learn_one(node, label)
    assert_invariant(model)
    assert_settled(model)
    stream = fastonl(G, classes, epsilon=1e-6, trace="paper")
    assert list(stream.run(labels)) == expected
    for one, other in zip(dense(stream), dense(model), strict=True):
        assert (one == other).all()
    one, other = store_of(stream), store_of(model)
    assert (one.n_slots, one.n_additions, one.n_pushes) == (other.n_slots, other.n_additions, other.n_pushes)
    exact = exact_scores(model)
    assert np.abs(scores_of(model) - exact).max() < 0.02 * np.abs(exact).max()


def test_labels_that_reach_few_nodes_take_little_memory():
    """Four hundred labels on as many cliques: each block of labels has slots on its own cliques only."""
    G = nx.disjoint_union_all([nx.complete_graph(5) for _ in range(400)])
    model = fastonl(G)
    for node in range(0, 2000, 5):
        model.learn_one(node, f"clique {node // 5}")
    assert store_of(model).slot_indices.shape == (2000, 50)
    assert store_of(model).n_slots == 2001  # not 50 * 2000
    assert model.predict_many() == [f"clique {node // 5}" for node in G]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_slots_are_added_in_the_middle_of_a_push(dtype):
    """A star's centre needs more slots at once than there were."""
    G = nx.star_graph(9000)
    model = fastonl(G, dtype=dtype, epsilon=1e-9)
    model.learn_one(5, "a")
    model.learn_one(0, "b")
    assert store_of(model).n_slots == 9002
    assert_allclose(np.bincount(store_of(model).slot_indices[:, 0])[1:9002], 1)
    stream = label_stream(G, {5: "a", 0: "b", 7: "b"}, dtype=dtype, epsilon=1e-9)
    assert list(stream)[:2] == [None, "a"]


# Trouble


@pytest.mark.parametrize("method", ["fastonl", "perceptron"])
@pytest.mark.parametrize("kernel", ["normalized-laplacian", "scaled-laplacian"])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_weights_that_jump_leave_digits(method, kernel, n):
    """Where a degree rises by a large factor, nearly all of an estimate goes, so it is not what a push starts from."""
    graph = fo.DynamicGraph(nx.cycle_graph(n) if n > 2 else None)
    graph.add_weighted_edges_from([(0, 1 % n, 1.0)])
    model = fo.OnlineNodeLabeler(graph, method=method, kernel=kernel)
    for u in range(n):
        model.learn_one(u, LABELS[u % 2])
    for weight in (1e50, 1e-50, 1.0, 1e12, 1e-99, 1e99):
        graph.add_edge(0, 1 % n, weight=weight)
        model.predict_one(0)
        H, Z, R, B = dense(model)
        Z_exact = np.linalg.solve(H, B - R)
        assert (np.abs(Z - Z_exact) <= 1e-6 * np.abs(Z_exact).max()).all()


def test_an_interrupted_push_is_completed_later():
    """Ctrl-C while learning: the label is learned, and what was not pushed yet is pushed by the next call."""
    program = """
import os, signal, threading
import numpy as np, nx_fastonl as fo
from tests.learners.test_diffusion import assert_invariant, assert_settled
from tests.seams import store_of
n = 3000
rng = np.random.default_rng(0)
graph = fo.CSRGraph.from_edges(rng.integers(n, size=4 * n), rng.integers(n, size=4 * n), n=n)
model = fo.OnlineNodeLabeler(graph, ["a", "b"], smoothness=1e-5, epsilon=1e-11, trace="paper", method="fastonl")
store_of(model).rate = 1e-3
for node in range(5):
    model.learn_one(node, "ab"[node % 2])
store_of(model).rate = 1e-11
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    model.learn_one(100, "b")
except KeyboardInterrupt:
    print("interrupted")
print(model.n_learned, model.labels[100], store_of(model).unsettled_lanes)
assert_invariant(model, 1e-6)
store_of(model).rate = 1e-3
model.learn_one(101, "a")
print(model.n_learned, store_of(model).unsettled_lanes)
assert_invariant(model, 1e-6)
assert_settled(model)
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=True)
    assert found.stdout.splitlines() == ["interrupted", "6 b [1]", "7 []"]


class NoMemory:
    """Stands for numpy in a compiled module: after some arrays there is no more memory."""

    def __init__(self, arrays):
        self.left = arrays

    def __getattr__(self, name):
        return getattr(np, name)

    def zeros(self, *arguments, **options):
        self.left -= 1
        if self.left < 0:
            raise MemoryError
        return np.zeros(*arguments, **options)


@pytest.mark.slow
@pytest.mark.parametrize("arrays", range(3))
@pytest.mark.parametrize("stream", [True, False])
def test_running_out_of_memory_in_a_push_loses_nothing(monkeypatch, arrays, stream):
    """The label is learned, and pushed on once there is memory: a star's centre needs more slots than there are."""
    model = fastonl(nx.star_graph(4200), ["a", "b"], epsilon=1e-9)
    model.learn_one(5, "a")  # which has reached all leaves
    untouched = fastonl(nx.star_graph(4200), ["a", "b"], epsilon=1e-9)
    with monkeypatch.context() as patch:
        patch.setattr(_diffusion, "np", NoMemory(arrays))
        with pytest.raises(MemoryError):
            untouched.run([(5, "a")]) if stream else untouched.learn_one(5, "a")
    assert untouched.labels == {5: "a"}
    assert store_of(untouched).unsettled_lanes == [0]
    untouched.learn_one(7, "b")
    model.learn_one(7, "b")
    assert store_of(untouched).unsettled_lanes == []
    assert untouched.predict_many() == model.predict_many()
    assert_allclose(scores_of(untouched), scores_of(model), rtol=1e-6)


@pytest.mark.parametrize(("known", "arrays"), [(2, 0), (2, 1), (2, 2), (8, 0), (8, 1)])
def test_running_out_of_memory_for_a_new_label_changes_nothing(karate, monkeypatch, known, arrays):
    """Wider blocks after two labels, a block more after eight: all arrays stay as they were, the next try succeeds."""
    model = fastonl(karate)
    for node in range(known):
        model.learn_one(node, node)
    before = [array.copy() for array in dense(model)]
    with monkeypatch.context() as patch:
        patch.setattr(_diffusion, "np", NoMemory(arrays))
        with pytest.raises(MemoryError):
            model.learn_one(20, "new")
    assert (model.n_learned, model.classes) == (known, tuple(range(known)))
    for found, expected in zip(dense(model), before, strict=True):
        assert (found == expected).all()
    model.learn_one(20, "new")
    assert model.classes == (*range(known), "new")
    assert_invariant(model)
    assert_settled(model)


def test_reading_ends_where_mass_hardly_settles():
    """Along a heavy edge a push goes back and forth; predictions and certificates do not wait for it."""
    G = nx.Graph()
    G.add_edge(0, 1, weight=1e8)
    model = fastonl(G, ["a", "b"], "K1", trace="paper", epsilon=1e6)
    model.learn_one(0, "b")
    assert (model.predict_one(1), model.certify_one(1).label) == ("b", "b")
    assert_invariant(model)


@pytest.mark.parametrize("method", ["learn_one", "stream"])
def test_the_smallest_epsilon_ends(method):
    G = nx.path_graph(3)
    options = {"kernel": "K1", "epsilon": 5e-324, "smoothness": 0.5}
    if method == "stream":
        assert list(label_stream(G, {0: "a", 2: "b", 1: "a"}, **options)) == [None, "a", "a"]
    else:
        model = fastonl(G, **options)
        model.learn_one(0, "a")
        assert model.predict_one(2) == "a"


def test_predictions_wait_until_a_label_is_wholly_learned(karate, monkeypatch):
    """K6 reads the lanes and the sum of gradients: both from before a label was learned, or both from after it."""
    model = fastonl(karate, ["a", "b"], "K6").fit({0: "a", 33: "b"})
    learner, seen = learner_of(model), []
    learn = learner._learn
    reader = threading.Thread(target=lambda: seen.append(learner._evidence(20).scores))

    def learn_and_be_read(*arguments, **options):
        learn(*arguments, **options)
        reader.start()
        reader.join(0.2)
        assert reader.is_alive()

    with monkeypatch.context() as patch:
        patch.setattr(learner, "_learn", learn_and_be_read)
        model.learn_one(5, "b")
    reader.join()
    assert (seen[0] == learner._evidence(20).scores).all()


@pytest.mark.parametrize("step", ["settle_at", "_sums"])
def test_interrupted_learning_of_many_is_finished_later(karate, monkeypatch, step):
    """Once the labels are stored, they stay: the next call pushes on and completes the sums."""
    model, other = (fastonl(karate, ["a", "b"]).fit({0: "a", 33: "b"}) for _ in range(2))
    learner = learner_of(model)
    owner = learner.diffusion if step == "settle_at" else learner
    original, calls = getattr(owner, step), []

    def interrupt(*arguments):
        calls.append(arguments)
        if step == "settle_at" or len(calls) == 2:
            raise KeyboardInterrupt
        return original(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(owner, step, interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.learn_many({1: "a", 2: "b", 3: "b"})
    other.learn_many({1: "a", 2: "b", 3: "b"})
    assert model.labels == other.labels
    assert learner.gradients.unfinished is not None
    restored = pickle.loads(pickle.dumps(model))
    for each in (model, restored):
        assert each.predict_proba_many() == pytest.approx(other.predict_proba_many(), rel=1e-3)
        assert learner_of(each).gradients.unfinished is None
        assert_invariant(each)
        assert_settled(each)


@pytest.mark.parametrize("name", ["political", "citeseer", "cora"])
def test_accuracy_is_that_of_the_papers_loop(real_graph, real_labels, name):
    graph, labels = real_graph(name), real_labels(name)
    found, paper = [], []
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(len(graph)).tolist()
        stream = [(u, int(labels[u])) for u in order]
        found.append(label_stream(graph, stream).accuracy)
        paper.append(fo.online_node_labeling(graph, stream, method="fastonl-fifo").accuracy)
    assert np.mean(found) >= np.mean(paper) - 0.003


@pytest.mark.parametrize("value", [1e300, -1e300, np.inf, np.nan])
@pytest.mark.parametrize("numbers", ["residuals", "estimates"])
def test_a_diffusion_with_a_number_that_cannot_be_is_refused(karate, numbers, value):
    """Pushes of a large one take long; one that is not finite spreads to all nodes."""
    model = fastonl(karate).fit({0: "a", 33: "b"})
    getattr(store_of(model), numbers)[1] = value
    with pytest.raises(ValueError, match="what was saved is damaged: its diffusion"):
        pickle.loads(pickle.dumps(model))


def test_a_diffusion_whose_threshold_is_no_number_is_refused(karate):
    model = fastonl(karate).fit({0: "a", 33: "b"})
    store_of(model).rate = np.nan
    with pytest.raises(ValueError, match="what was saved is damaged: its diffusion"):
        pickle.loads(pickle.dumps(model))


@settings(max_examples=100, deadline=None)
@given(
    st.data(), small_graphs(), st.sampled_from(["fastonl", "perceptron", "adaptive"]), st.sampled_from(list(KERNELS)),
    st.sampled_from([(1e-6, "float64"), (0.01, "float32"), (0.9, "float64")]),
)  # fmt: skip
def test_a_whole_diffusion_is_not_refused(data, G, method, kernel, numbers):
    """Whatever the kernel, and whatever was learned, learned anew and forgotten."""
    smoothness, dtype = numbers
    model = fo.OnlineNodeLabeler(G, kernel=kernel, smoothness=smoothness, method=method, dtype=dtype)
    if data.draw(st.booleans()):
        model.fit(
            {node: data.draw(st.sampled_from(LABELS[:3])) for node in data.draw(st.sets(st.sampled_from(list(G))))}
        )
    for node in data.draw(st.lists(st.sampled_from(list(G)), max_size=12)):
        if node in model.labels and data.draw(st.booleans()):
            model.forget(node)
        else:
            model.learn_one(node, data.draw(st.sampled_from(LABELS[:3])), overwrite=True)
        restored = pickle.loads(pickle.dumps(model))
        assert restored.predict_proba_many().tolist() == model.predict_proba_many().tolist()
