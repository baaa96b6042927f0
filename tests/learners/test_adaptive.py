import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import nx_fastonl as fo
from nx_fastonl.learners import _stream
from nx_fastonl.learners._neighbors import NeighborCounts
from tests import oracles
from tests.seams import learner_of
from tests.strategies import small_graphs

LABELS = [f"label {i}" for i in range(20)]  # three blocks


def adaptive(G, **options):
    return fo.OnlineNodeLabeler(G, method="adaptive", **options)


def features_of(model, node):
    learner = learner_of(model)
    with learner._engine() as engine:
        return engine.features_of(learner.graph.index(node))


def relative(features):
    """A shift of an expert's feature changes nothing."""
    return features - features.mean(axis=1, keepdims=True)


@st.composite
def events(draw, G, n_labels):
    """Nodes that are learned, learned anew and forgotten."""
    found, learned = [], set()
    for _ in range(draw(st.integers(1, 2 * len(G)))):
        node = draw(st.sampled_from(sorted(G)))
        if node in learned and draw(st.booleans()):
            found.append((node, None))
            learned.discard(node)
        else:
            found.append((node, draw(st.integers(0, n_labels - 1))))
            learned.add(node)
    return found


def known_labels(G, k, min_size):
    return st.dictionaries(st.sampled_from(list(G)), st.integers(0, k - 1), min_size=min(min_size, len(G)))


@settings(max_examples=150, deadline=None)
@given(st.data(), small_graphs(), st.sampled_from([1, 2, 3, 20]), st.sampled_from([0.02, 0.3]))
def test_features_are_those_of_their_definitions(data, G, k, smoothness):
    """Whatever was learned, learned anew and forgotten before."""
    W, nodes = oracles.adjacency(G), list(G)
    model = adaptive(G, classes=range(k), smoothness=smoothness, epsilon=1e-16)
    labels = {}
    for node, label in data.draw(events(G, k)):
        if label is None:
            model.forget(node)
            del labels[node]
        else:
            model.learn_one(node, label, overwrite=True)
            labels[node] = label
        rows = {nodes.index(v): y for v, y in labels.items()}
        u = data.draw(st.integers(0, len(G) - 1))
        expected = oracles.expert_features(W, rows, u, k, smoothness)
        assert_allclose(relative(features_of(model, nodes[u])), relative(expected), atol=1e-5)


@settings(max_examples=100, deadline=None)
@given(st.data(), small_graphs(), st.sampled_from([1, 2, 3, 20]), st.sampled_from([None, 5.0]))
def test_weights_and_probabilities_follow_the_log_loss(data, G, k, forgetting):
    model = adaptive(G, classes=range(k), forgetting=forgetting)
    fading = 1.0 if forgetting is None else 0.5 ** (1.0 / forgetting)
    mixture = oracles.Mixture([0.5, 0.5, 0.0, 0.0, 0.2, 0.1, 0.0], 10.0, fading)
    for node in data.draw(st.permutations(list(G))):
        features, label = features_of(model, node), data.draw(st.integers(0, k - 1))
        if not model.reached([node])[0]:  # the label frequencies are all that is known
            assert_allclose(list(model.predict_proba_one(node).values()), np.exp(features[-1]))
            model.learn_one(node, label)
            continue
        seen = np.isin(np.arange(k), list(model.labels.values()))  # other labels are as probable as they are frequent
        rank = np.cumsum(seen) - 1
        top, mixed = model.predict_one(node), mixture.mixed(features[:, seen])
        assert mixed[rank[top]] >= mixed.max() * (1.0 - 1e-9)
        expected = np.exp(features[-1])
        expected[seen] = mixture.probabilities(features[:, seen], rank[top]) * (1.0 - expected[~seen].sum())
        assert_allclose(list(model.predict_proba_one(node).values()), expected, atol=1e-9)
        model.learn_one(node, label)
        if k > 1:
            mixture.calibrate(features[:, seen], label == top)
        if seen[label]:
            mixture.step(features[:, seen], rank[label])
        assert_allclose(list(model.weights.values()), mixture.weights, atol=1e-7)


@settings(max_examples=50, deadline=None)
@given(st.data(), small_graphs())
def test_a_stream_is_the_same_as_one_by_one(data, G):
    labels = {node: data.draw(st.sampled_from(LABELS)) for node in data.draw(st.permutations(list(G)))}
    one, many, stream = adaptive(G), adaptive(G), adaptive(G)
    predicted = []
    for node, label in labels.items():
        predicted.append(one.predict_one(node))
        one.learn_one(node, label)
    assert list(stream.run(labels)) == predicted
    many.learn_many(labels)
    assert one.weights == stream.weights == many.weights
    assert (
        one.predict_proba_many().tolist() == stream.predict_proba_many().tolist() == many.predict_proba_many().tolist()
    )


@settings(max_examples=100, deadline=None)
@given(st.data(), small_graphs(), st.sampled_from([1, 3, 20]), st.sampled_from([None, 3.0]))
def test_features_without_a_fold_are_those_of_the_other_labels(data, G, k, forgetting):
    labels = data.draw(known_labels(G, k, 1))
    check_features_without(G, k, labels, data.draw(st.sets(st.sampled_from(list(labels)), min_size=1)), forgetting)


@pytest.mark.parametrize("forgetting", [None, 3.0, 20.0])
def test_edges_inside_of_a_fold_are_left_out_once(karate, forgetting):
    labels = {node: node % 2 for node in karate}
    check_features_without(karate, 2, labels, range(10, 34), forgetting)


def check_features_without(G, k, labels, fold, forgetting):
    """Of the experts that need no diffusion; label frequencies stay those of all. Nothing is changed by asking."""
    model = adaptive(G, classes=range(k), forgetting=forgetting).learn_many(labels)
    learner, nodes = learner_of(model), list(G)
    before = model.predict_proba_many()
    rows = np.array([nodes.index(node) for node in fold], dtype=np.int32)
    features = np.zeros((len(rows), 7, k))
    with learner._engine() as engine:
        engine.features_without(rows, features)
    assert model.labels == labels
    assert_allclose(model.predict_proba_many(), before, atol=1e-12)
    fading = 1.0 if forgetting is None else 0.5 ** (1.0 / forgetting)
    stamps = {nodes.index(node): fading**age for age, node in enumerate(reversed(labels))}
    frequencies = oracles.label_frequencies(list(labels.values()), k, [stamps[nodes.index(node)] for node in labels])
    others = {nodes.index(node): y for node, y in labels.items() if node not in fold}
    for u, found in zip(rows, features, strict=True):
        expected = oracles.expert_features(
            oracles.adjacency(G), others, u, k, 0.1, frequencies=frequencies, stamps=stamps
        )
        assert_allclose(relative(found[2:]), relative(expected[2:]), atol=1e-9)


@settings(max_examples=100, deadline=None)
@given(st.data(), small_graphs(), st.sampled_from([2, 20]), st.sampled_from([None, 2.0, 1.0]))
def test_counts_do_not_depend_on_what_was_learned_and_forgotten_before(data, G, k, forgetting):
    """Weights of edges that fade are those of the nodes that are left, as they arrived."""
    model = adaptive(G, classes=range(k), forgetting=forgetting)
    arrivals, labels, n_arrivals = {}, {}, 0
    for node, label in data.draw(events(G, k)):
        if label is None:
            model.forget(node)
            del labels[node], arrivals[node]
        else:
            if node not in labels:
                n_arrivals += 1
                arrivals[node] = n_arrivals
            model.learn_one(node, label, overwrite=True)
            labels[node] = label
    if not labels:
        return
    half_life = np.inf if forgetting is None else forgetting
    stamps = {node: 0.5 ** ((n_arrivals - arrival) / half_life) for node, arrival in arrivals.items()}
    W, nodes = oracles.adjacency(G), list(G)
    unit = W[W > 0].mean() if (W > 0).any() else 1.0
    expected = np.zeros((k, k))
    for u, v in ((u, v) for u in labels for v in labels if u != v):
        weight = W[nodes.index(u), nodes.index(v)] / unit
        expected[labels[u], labels[v]] += weight * min(stamps[u], stamps[v])
    counts = model.compatibility.counts
    assert_allclose(counts, expected, atol=1e-9 * (1.0 + expected.max()))


@pytest.mark.parametrize(("copied", "tolerance"), [(True, 0.0), (False, 1e-9)])
def test_learning_that_is_interrupted_is_taken_back(karate, monkeypatch, copied, tolerance):
    model = adaptive(karate, epsilon=1e-14)
    model.learn_many({0: "a", 33: "b"})
    if not copied:
        monkeypatch.setattr("nx_fastonl.learners.adaptive.COPIED_PER_LABEL", 0)
    before = model.weights, model.predict_proba_many().tolist(), model.predict_set_many(), model.classes
    labels = {node: f"label {node}" for node in range(1, 20)}
    monkeypatch.setattr("nx_fastonl.learners.adaptive._stream.run", interrupted_after(5))
    with pytest.raises(KeyboardInterrupt):
        model.learn_many(labels)
    monkeypatch.undo()
    assert model.labels == {0: "a", 33: "b"}
    assert (model.weights, model.predict_set_many(), model.classes) == (before[0], before[2], before[3])
    assert_allclose(model.predict_proba_many(), before[1], rtol=0.0, atol=tolerance)


def test_an_interrupt_changes_no_bit(monkeypatch):
    """With the usual epsilon, what is learned and then forgotten leaves other residuals."""
    G = nx.gnm_random_graph(600, 2400, seed=0)
    model, other = (adaptive(G).learn_many({node: node % 3 for node in range(200)}) for _ in range(2))
    labels = {node: node % 5 for node in range(200, 600)}
    with monkeypatch.context() as patch:
        patch.setattr("nx_fastonl.learners.adaptive._stream.run", interrupted_after(300))
        with pytest.raises(KeyboardInterrupt):
            model.learn_many(labels)
    for node in (200, 201):
        assert (model.labels, model.classes, model.weights) == (other.labels, other.classes, other.weights)
        assert model.predict_proba_many().tolist() == other.predict_proba_many().tolist()
        for each in (model, other):
            each.learn_many({node: "new"})


@settings(max_examples=50, deadline=None)
@given(st.data(), small_graphs(), st.sampled_from([None, 2.0]))
def test_learning_on_a_copy_is_the_same(data, G, forgetting):
    """Also after labels joined, and were learned anew and forgotten."""
    one, many = adaptive(G, forgetting=forgetting), adaptive(G, forgetting=forgetting)
    for node, label in data.draw(events(G, 20)):
        if label is None:
            one.forget(node), many.forget(node)
        elif node in one.labels:
            one.learn_one(node, label, overwrite=True), many.learn_one(node, label, overwrite=True)
        else:
            one.learn_one(node, label), many.learn_many({node: label})
        assert many.predict_proba_many().tolist() == one.predict_proba_many().tolist()
    assert many.weights == one.weights


def interrupted_after(count):
    run = _stream.run

    def interrupted(engine, rows, labels, draws, predicted):
        run(engine, rows[:count], labels[:count], draws[:count], predicted[:count])
        raise KeyboardInterrupt

    return interrupted


def absorb_nothing(learner):
    learner.diffusions[0].absorption = -1.0


def repel(learner):
    learner.diffusions[0].pivots[2] /= 4.0


def ask_elsewhere(learner):
    learner.names = (*learner.names[:-1], "vote", "profile")


@pytest.mark.parametrize(
    ("damage", "what"), [(absorb_nothing, "diffusion"), (repel, "diffusion"), (ask_elsewhere, "experts")]
)
def test_damaged_experts_are_refused(karate, damage, what):
    """Residuals would grow with every push; features would be written beyond their array."""
    model = adaptive(karate).fit({0: "a", 33: "b"})
    damage(learner_of(model))
    with pytest.raises(ValueError, match=f"what was saved is damaged: its {what}"):
        pickle.loads(pickle.dumps(model))


@settings(max_examples=60, deadline=None)
@given(st.data(), small_graphs(), st.sampled_from([2, 3]))
def test_certain_labels_are_those_of_exact_diffusions(data, G, k):
    model = adaptive(G, classes=range(k), smoothness=0.1)
    labels = data.draw(known_labels(G, k, 1))
    model.learn_many(labels)
    W, nodes = oracles.adjacency(G), list(G)
    rows = {nodes.index(node): y for node, y in labels.items()}
    for u, answer in enumerate(model.certify_many()):
        scores = np.array(list(model.weights.values())) @ oracles.expert_features(W, rows, u, k, 0.1)
        others = np.array([scores[y] for y in set(labels.values()) - {answer.label}])
        if not model.reached([nodes[u]])[0] or len(others) == 0:
            continue
        if answer.certain:
            assert scores[answer.label] > others.max()
        assert scores[answer.label] - others.max() == pytest.approx(answer.margin, abs=answer.error + 1e-9)


def test_the_error_of_a_margin_holds_where_centred_votes_are_zero():
    """Of votes that are 0 but for rounding errors, the share of a label may be anything from 0 to 1."""
    G = nx.Graph()
    G.add_weighted_edges_from([(0, 1, 2), (0, 2, 1), (0, 3, 1), (0, 4, 3)])
    labels = {2: 1, 3: 0, 4: 0, 1: 0}
    model = adaptive(G, classes=range(2), smoothness=0.9).learn_many(labels)
    scores = np.array(list(model.weights.values())) @ oracles.expert_features(nx.to_numpy_array(G), labels, 0, 2, 0.9)
    answer = model.certify_one(0)
    assert answer.label == 0
    assert answer.certain
    assert scores[0] - scores[1] == pytest.approx(answer.margin, abs=answer.error)


def test_certificates_prove_most_labels(karate):
    model = adaptive(karate).fit({0: "Mr. Hi", 1: "Mr. Hi", 32: "Officer", 33: "Officer"})
    answers = model.certify_many()
    assert sum(answer.certain for answer in answers) >= 30
    assert [answer.label for answer in answers if answer.certain] == [
        label for label, answer in zip(model.predict_many(), answers, strict=True) if answer.certain
    ]


@settings(max_examples=50, deadline=None)
@given(st.data(), small_graphs(), st.sampled_from([0.5, 0.9]))
def test_prediction_sets_follow_their_threshold(data, G, coverage):
    """A label is in the set if it is the one predicted, or 1 minus its probability is at most the threshold."""
    model = adaptive(G)
    threshold = coverage
    for node in data.draw(st.permutations(list(G))):
        label, probabilities = data.draw(st.sampled_from(LABELS[:3])), model.predict_proba_one(node)
        expected = {y for y, p in probabilities.items() if 1.0 - p <= threshold} | ({model.predict_one(node)} - {None})
        assert model.predict_set_one(node, coverage) == expected
        threshold = max(threshold + 0.05 * (coverage - (label in expected)), 0.0)
        model.learn_one(node, label)


def test_sets_cover_at_the_stated_rate_whatever_arrives():
    """Labels that nothing predicts: the guarantee does not need a good learner."""
    rng = np.random.default_rng(0)
    G, labels = nx.gnm_random_graph(600, 1200, seed=1), rng.integers(5, size=600).tolist()
    model, covered = adaptive(G), 0
    for node in rng.permutation(600).tolist():
        covered += labels[node] in model.predict_set_one(node, 0.8)
        model.learn_one(node, labels[node])
    assert covered / 600 >= 0.8 - 1.05 / (0.05 * 600)


def test_weights_forget_where_labels_switch():
    """Two communities; from half-way on, neighbours repel instead of attracting each other."""
    rng = np.random.default_rng(0)
    G = nx.random_regular_graph(6, 1200, seed=2)
    labels = {}
    for i, node in enumerate(rng.permutation(1200).tolist()):
        known = [labels[v] for v in G[node] if v in labels]
        majority = int(np.mean(known) > 0.5) if known else int(rng.integers(2))
        labels[node] = majority if i < 600 else 1 - majority
    steady, forgetful = (adaptive(G, forgetting=forgetting).run(labels) for forgetting in (None, 50))
    assert forgetful[700:].mistakes < 0.8 * steady[700:].mistakes


def test_memory_follows_what_learned_nodes_touch():
    G = fo.CSRGraph.from_networkx(nx.random_regular_graph(3, 50_000, seed=0))
    model = adaptive(G, classes=range(100))
    model.learn_many({node: node % 100 for node in range(0, 1000, 10)})
    assert learner_of(model).counts.n_slots <= 1 + 3 * 100


def test_tables_of_labels_that_join_one_by_one_are_seldom_copied():
    store, sizes = NeighborCounts(10, 1.0), []
    for k in range(1, 1601):
        store.reserve_labels(k)
        sizes.append(store.lanes)
    assert all(k <= lanes <= max(8, 2 * k) for k, lanes in enumerate(sizes, start=1))
    assert len(set(sizes)) < 20
    known_at_once = NeighborCounts(10, 1.0)
    known_at_once.reserve_labels(100)
    assert known_at_once.lanes == 104


def test_repulsion_is_learned():
    """Neighbours never share a label: the diffusion alone would be wrong nearly always."""
    G = nx.bipartite.random_graph(200, 200, 0.02, seed=1)
    labels = {node: "left" if node < 200 else "right" for node in np.random.default_rng(0).permutation(400).tolist()}
    repelled = fo.online_node_labeling(G, labels, method="fastonl")
    model = adaptive(G)
    assert model.run(labels)[200:].mistakes < repelled[200:].mistakes / 10
    assert model.compatibility["left", "right"] == pytest.approx(2.0)
    assert model.compatibility["left", "left"] == 0.0


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"experts": "vote"}, TypeError, "experts must be a list of names, got 'vote'"),
        ({"experts": []}, ValueError, "experts must name at least one expert"),
        ({"experts": ["vote", "vote"]}, ValueError, "experts names 'vote' twice"),
        ({"experts": ["crowd"]}, ValueError, 'unknown expert \'crowd\'; the experts are "diffusion", "vote"'),
        ({"experts": ["laplacian:much"]}, ValueError, "unknown expert 'laplacian:much'"),
        ({"experts": ["laplacian:"]}, ValueError, "unknown expert 'laplacian:'"),
        ({"experts": [["vote"]]}, TypeError, r"experts must be a list of names, got \['vote'\] in it"),
        ({"forgetting": 0.0}, ValueError, "forgetting must be"),
        ({"forgetting": 0.5}, ValueError, "forgetting must be a half-life of at least 1 arrival, got 0.5"),
        ({"dtype": "int8"}, ValueError, 'dtype must be "float64" or "float32"'),
        ({"trace": "exact"}, TypeError, "method 'adaptive' has no option trace"),
    ],
)
def test_bad_options(karate, options, error, message):
    with pytest.raises(error, match=message):
        adaptive(karate, **options)


def test_experts_by_name(karate):
    labels = nx.get_node_attributes(karate, "club")
    model = adaptive(karate, experts=["K1:0.3", "degree", "vote"])
    model.run(labels)
    assert list(model.weights) == ["K1:0.3", "K1:0.3 centred", "degree", "vote"]
    assert model.weights["degree"] != 0.0
    alone = adaptive(karate, experts=["frequency"])
    assert set(alone.run(labels)[1:]) <= set(labels.values())


def test_only_the_adaptive_method_has_weights_and_compatibility(karate):
    model = fo.OnlineNodeLabeler(karate, method="weighted-majority")
    for name in ("weights", "compatibility"):
        with pytest.raises(AttributeError, match='method="adaptive" does'):
            getattr(model, name)


def test_labels_that_no_node_has_are_not_predicted():
    """Two typos that were taken back: nothing is left of them."""
    G = nx.stochastic_block_model([100, 100], [[0.06, 0.006], [0.006, 0.06]], seed=1)
    order = np.random.default_rng(2).permutation(200).tolist()
    model = adaptive(G)
    for node in order[:60]:
        model.learn_one(node, "ab"[node // 100])
    for node in order[60:62]:
        model.learn_one(node, "typo")
        model.learn_one(node, "ab"[node // 100], overwrite=True)
    predicted = model.predict_many(order[62:])
    assert "typo" not in predicted
    assert sum(label == "ab"[node // 100] for node, label in zip(order[62:], predicted, strict=True)) > 110


def test_weights_of_edges_that_differ_much_leave_numbers():
    G = nx.Graph()
    G.add_weighted_edges_from([("v", "a", 1.0), ("v", "b", 1e-17), ("v", "c", 1.0), ("c", "d", 1.0)])
    model = adaptive(G)
    model.learn_one("b", "y")
    model.learn_one("a", "x")
    model.forget("a")
    for node in "vcd":
        assert sum(model.predict_proba_one(node).values()) == pytest.approx(1.0)
        model.learn_one(node, "x")
