"""A battery that every method must pass, in the spirit of river's checks."""

import copy
import gc
import pickle
import random
import tempfile
import threading

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose

import nx_fastonl as fo
from tests.seams import dense, learner_of, store_of

METHODS = {
    "adaptive": {},
    "adaptive, sampled": {"predict": "sample"},
    "adaptive, single precision": {"dtype": "float32"},
    "adaptive, K6 and others": {"kernel": "K6", "experts": ["diffusion", "K1:0.3", "vote", "degree"]},
    "adaptive, forgetting": {"forgetting": 3.0},
    "fastonl": {},
    "fastonl, sampled": {"predict": "sample"},
    "fastonl, K6": {"kernel": "K6"},
    "fastonl, single precision": {"dtype": "float32"},
    "fastonl-fifo": {},
    "fastonl-fifo, symmetrized": {"symmetrized": True},
    "fastonl-fifo, sampled": {"predict": "sample"},
    "fastonl-fifo, K6": {"kernel": "K6"},
    "relaxation": {},
    "approximate": {},
    "perceptron": {},
    "perceptron, sampled": {"predict": "sample"},
    "perceptron, K2": {"kernel": "K2"},
    "perceptron, single precision": {"dtype": "float32"},
    "weighted-majority": {},
    "weighted-majority, sampled": {"predict": "sample"},
    "weighted-tree": {},
}


@pytest.fixture(params=METHODS)
def make(request):
    def make(G, classes=None, seed=7, **options):
        method = request.param.split(",")[0]
        return fo.OnlineNodeLabeler(G, classes, method=method, seed=seed, **METHODS[request.param], **options)

    make.samples = METHODS[request.param].get("predict") == "sample"
    make.guesses = request.param == "weighted-majority" or make.samples
    default = "K6" if request.param.startswith("perceptron") else "K2"
    make.balances = METHODS[request.param].get("kernel", default) == "K6"  # which knows that labels should be balanced
    make.options = {"method": request.param.split(",")[0], **METHODS[request.param]}
    return make


def state(model, nodes):
    return [(model.predict_one(node), model.predict_proba_one(node)) for node in nodes]


def trained(model, G):
    for node in list(G)[::2]:
        model.learn_one(node, G.nodes[node]["club"])
    return model


def test_predicting_never_learns(make, karate):
    model, quiet = trained(make(karate), karate), make(karate)
    once = state(model, karate)
    assert state(model, karate) == once
    model.predict_many(karate)
    for node in list(karate)[::2]:
        quiet.learn_one(node, karate.nodes[node]["club"])
    assert state(quiet, karate) == once


def test_learning_returns_none_and_helps(make, karate):
    model = make(karate)
    assert model.learn_one(0, "Mr. Hi") is None
    trained_model = trained(make(karate), karate)
    right = sum(trained_model.predict_one(node) == karate.nodes[node]["club"] for node in list(karate)[1::2])
    assert right >= (9 if make.samples else 13)


def test_probabilities_are_a_distribution_of_plain_numbers(make, karate):
    model = trained(make(karate), karate)
    for node in karate:
        probabilities = model.predict_proba_one(node)
        assert set(probabilities) == {"Mr. Hi", "Officer"}
        assert {type(value) for value in probabilities.values()} == {float}
        assert min(probabilities.values()) >= 0
        assert sum(probabilities.values()) == pytest.approx(1.0)


def saved_and_loaded(model):
    with tempfile.TemporaryDirectory() as folder:
        model.save(folder)
        return fo.OnlineNodeLabeler.load(folder)


@pytest.mark.parametrize(
    "duplicate", [lambda model: pickle.loads(pickle.dumps(model)), copy.deepcopy, saved_and_loaded]
)
def test_copies_predict_and_learn_the_same(make, karate, duplicate):
    model = trained(make(karate), karate)
    other = duplicate(model)
    assert state(other, karate) == state(model, karate)
    for each in (model, other):
        each.learn_one(1, "Officer")
        each.learn_one(3, "new")
    assert state(other, karate) == state(model, karate)
    other.learn_one(5, "new")
    assert (model.n_learned, other.n_learned) == (19, 20)


def test_clones_start_afresh_and_learn_the_same(make, karate):
    model = trained(make(karate), karate)
    clone = model.clone()
    assert (clone.n_learned, clone.classes) == (0, ())
    assert state(trained(clone, karate), karate) == state(model, karate)


def test_same_seed_same_answer(make, karate):
    assert state(trained(make(karate), karate), karate) == state(trained(make(karate), karate), karate)
    generators = (np.random.default_rng(3) for _ in range(2))
    one, two = (trained(make(karate, seed=generator), karate) for generator in generators)
    assert state(one, karate) == state(two, karate)


def test_unseen_node(make, karate):
    model = trained(make(karate), karate)
    for call in (model.predict_one, model.predict_proba_one, lambda node: model.predict_many([0, node])):
        with pytest.raises(nx.NodeNotFound, match="'x'"):
            call("x")
    with pytest.raises(nx.NodeNotFound, match="'x'"):
        model.learn_one("x", "Officer")
    with pytest.raises(TypeError, match=r"pass \[3\]"):
        model.predict_many(3)


def test_unknown_label(make, karate):
    model = make(karate, ["Mr. Hi", "Officer"])
    with pytest.raises(ValueError, match="'Nobody' of node 3 is not one of the classes"):
        model.learn_one(3, "Nobody")
    assert (model.n_learned, model.classes) == (0, ("Mr. Hi", "Officer"))
    model.learn_one(3, "Officer")
    discovering = make(karate)
    discovering.learn_one(3, "Nobody")
    assert discovering.classes == ("Nobody",)


def test_nothing_known(make, karate):
    model = make(karate)
    assert model.predict_one(0) is None
    assert model.predict_proba_one(0) == {}
    assert model.predict_many([0, 1]) == [None, None]
    assert model.predict_many([]) == []


def test_single_class(make, karate):
    for classes in (None, ["only"]):
        model = make(karate, classes)
        for node in range(10):
            model.learn_one(node, "only")
        assert set(model.predict_many(karate)) == {"only"}
        assert model.predict_proba_one(20) == {"only": pytest.approx(1.0)}


def test_what_was_learned_while_there_was_one_label_counts_when_a_second_appears(make, karate):
    model = make(karate)
    for node in (0, 1, 2, 3, 7, 13):
        model.learn_one(node, "Mr. Hi")
    for node in (32, 33):
        model.learn_one(node, "Officer")
    if not make.samples:
        assert model.predict_one(19) == "Mr. Hi"
        assert model.predict_one(29) == "Officer"


def test_one_node(make):
    G = nx.Graph()
    G.add_node("isolated")
    model = make(G)
    model.learn_one("isolated", 1)
    assert model.predict_one("isolated") == 1


def test_isolated_nodes_get_the_most_frequent_label(make):
    G = nx.path_graph(6)
    G.add_nodes_from(["isolated", "too"])
    model = make(G, ["rare", "frequent"])
    for node in range(5):
        model.learn_one(node, "rare" if node == 0 else "frequent")
    predicted = model.predict_one("isolated")
    if make.guesses:
        assert predicted in ("rare", "frequent")
    elif not make.balances:
        assert predicted == "frequent"
    model.learn_one("too", "rare")
    model.learn_one("isolated", "rare")


def test_string_nodes_and_any_hashable_label(make, karate):
    G = nx.relabel_nodes(karate, lambda node: f"member {node}")
    labels = [("tuple", 1), frozenset({2}), 3.5]
    model = make(G)
    for i, node in enumerate(G):
        model.learn_one(node, labels[i % 3])
    assert set(model.classes) == set(labels)
    assert set(model.predict_many(G)) <= set(labels)


def test_repeated_node(make, karate):
    model = make(karate)
    model.learn_one(0, "a")
    model.learn_one(1, "b")
    before = state(model, karate)
    with pytest.raises(
        ValueError, match=r"node 0 was learned before, as 'a'; learn_one\(..., overwrite=True\) replaces"
    ):
        model.learn_one(0, "b")
    assert state(model, karate) == before
    model.learn_one(0, "b", overwrite=True)
    assert model.n_learned == 2
    assert model.labels == {0: "b", 1: "b"}
    if not make.guesses and not make.balances:
        assert model.predict_many([2, 30]) == ["b", "b"]


def test_what_was_overwritten_no_longer_counts_as_frequent(make):
    G = nx.empty_graph(6)
    model = make(G, ["a", "b"])
    for node in range(4):
        model.learn_one(node, "a")
    for node in range(3):
        model.learn_one(node, "b", overwrite=True)
    assert learner_of(model).history.label_counts.tolist() == [1, 3]
    if not make.guesses and not make.balances:
        assert model.predict_one(5) == "b"


def test_what_is_interrupted_before_it_is_learned_changes_nothing(make, karate, monkeypatch):
    model, untouched = (trained(make(karate), karate) for _ in range(2))

    def interrupt(*_):
        raise KeyboardInterrupt

    for name, learn in [
        ("learn", lambda: model.learn_one(1, "new")),
        ("learn", lambda: model.learn_one(0, "Officer", overwrite=True)),
        ("learn_many", lambda: model.learn_many({1: "new", 3: "newer"})),
        ("run", lambda: model.run({1: "new", 3: "newer"})),
        ("blank", lambda: model.fit({1: "new"})),
    ]:
        with monkeypatch.context() as patch:
            patch.setattr(learner_of(model), name, interrupt)
            with pytest.raises(KeyboardInterrupt):
                learn()
        assert (model.n_learned, model.classes, model.labels) == (17, untouched.classes, untouched.labels)
        assert state(model, karate) == state(untouched, karate)
    for each in (model, untouched):
        each.learn_one(1, "other")
        each.learn_many({3: "new"})
    assert state(model, karate) == state(untouched, karate)


def test_a_stream_that_is_interrupted_stays_learned_up_to_there(make, karate):
    def interrupted(nodes):
        for node in nodes:
            yield node, karate.nodes[node]["club"]
        raise KeyboardInterrupt

    other = make(karate)
    other.run((node, karate.nodes[node]["club"]) for node in range(5))
    model = make(karate)
    with pytest.raises(KeyboardInterrupt):
        model.run(interrupted([*range(5)]))
    again = make(karate)
    arriving = [*((node, karate.nodes[node]["club"]) for node in range(5)), (99, "Officer"), (7, "Officer")]
    with pytest.raises(nx.NodeNotFound, match="99"):
        make(karate).run(arriving)  # whose nodes are looked up before anything is learned
    with pytest.raises(nx.NodeNotFound, match="99"):
        again.run(iter(arriving))
    for each in (model, again):
        assert each.labels == other.labels
        assert state(each, karate) == state(other, karate)


def test_what_was_learned_before_an_interrupt_stays(make, karate, monkeypatch):
    """Ctrl-C right after the learner has learned: the labeler knows, and counts nothing twice."""
    model, other = make(karate, ["a", "b"]), make(karate, ["a", "b"])
    other.learn_many({0: "a", 33: "b"})
    learner = learner_of(model)
    learn_many = learner.learn_many

    def interrupt(*arguments):
        learn_many(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(learner, "learn_many", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.learn_many({0: "a", 33: "b"})
    with pytest.raises(ValueError, match="node 0 was learned before, as 'a'"):
        model.learn_many({0: "a"})
    assert model.labels == other.labels
    for each in (model, other):
        each.learn_one(5, "b")
    assert state(model, karate) == state(other, karate)
    assert learner.history.label_counts.tolist() == [1, 2]


def test_rows_of_probabilities_sum_to_one_while_labels_join(make, karate):
    model = make(karate).fit({0: "a", 33: "b"})
    rows = np.arange(34, dtype=np.int32)
    learner = learner_of(model)
    k = learner.k
    model.learn_one(5, "c")
    found = learner.probabilities_of_each(rows, k)
    assert found.shape == (34, 2)
    assert found.sum(axis=1) == pytest.approx(np.ones(34))


def test_labels_can_be_read_while_others_are_learned(make):
    G = nx.cycle_graph(2000)
    model = make(G, ["a", "b"])
    learning = threading.Thread(target=lambda: [model.learn_one(node, "ab"[node % 2]) for node in range(300)])
    learning.start()
    while learning.is_alive():
        assert set(model.labels.values()) <= {"a", "b"}
    assert len(model.labels) == 300


@pytest.mark.parametrize("bad", [(2, "a"), (4, [1]), (5, "Nobody"), "ab"])
def test_a_bad_pair_ends_a_stream_and_what_came_before_stays(make, karate, bad):
    model, other = make(karate, ["a", "b"]), make(karate, ["a", "b"])
    with pytest.raises((TypeError, ValueError)):
        model.run(iter([(1, "a"), (2, "b"), bad, (3, "a")]))
    other.run([(1, "a"), (2, "b")])
    assert model.labels == other.labels == {1: "a", 2: "b"}
    assert state(model, karate) == state(other, karate)


def test_fitted_labels_are_evidence(make, karate):
    model = make(karate)
    assert model.fit({node: karate.nodes[node]["club"] for node in list(karate)[::2]}) is model
    right = sum(model.predict_one(node) == karate.nodes[node]["club"] for node in list(karate)[1::2])
    assert right >= (9 if make.samples else 13)
    assert model.n_learned == 17


def test_stream_is_the_same_as_one_by_one(make, karate):
    model = make(karate)
    expected = []
    for node, data in karate.nodes(data=True):
        expected.append(model.predict_one(node))
        model.learn_one(node, data["club"])
    seq = fo.online_node_labeling(karate, "club", seed=7, **make.options)
    assert list(seq) == expected
    assert len(fo.online_node_labeling(karate, [], seed=7, **make.options)) == 0


def test_a_stream_goes_on_where_it_was(make, karate):
    labels = list(nx.get_node_attributes(karate, "club").items())
    whole, halves = make(karate), make(karate)
    expected = whole.run(labels)
    first, second = halves.run(labels[:15]), halves.run(iter(labels[15:]))
    assert (*first, *second) == tuple(expected)
    assert (*first.nodes, *second.nodes) == expected.nodes
    assert state(halves, karate) == state(whole, karate)


def test_many_is_what_one_by_one_gives(make, karate):
    model = trained(make(karate), karate)
    assert model.predict_many() == [model.predict_one(node) for node in karate]
    each = [model.predict_proba_one(node) for node in karate]
    found = model.predict_proba_many()
    assert found.shape == (34, 2)
    assert found.tolist() == [[row[label] for label in model.classes] for row in each]
    assert model.predict_proba_many([3, 3]).tolist() == [found[3].tolist()] * 2
    assert make(karate).predict_proba_many().shape == (34, 0)


def test_many_labels(make):
    G = nx.random_regular_graph(4, 60, seed=1)
    model = make(G)
    for node in G:
        model.learn_one(node, node)
    assert len(model.classes) == 60
    assert model.predict_one(0) in model.classes


def test_numpy_labels_come_back_as_plain_python(make, karate):
    model = make(karate)
    for node, label in enumerate(np.arange(34) % 2):
        model.learn_one(np.int64(node), label)
    assert {type(label) for label in model.predict_many(karate)} == {int}


def test_repr(make, karate):
    assert repr(trained(make(karate), karate)).endswith("2 labels, 17 of 34 nodes learned")


# Forgetting


@pytest.mark.parametrize("seed", range(3))
def test_what_was_forgotten_leaves_nothing_behind(make, karate, seed):
    """All but one node, in any order: what is left is as if only that one had been learned at once."""
    rng = random.Random(seed)
    fine = {"epsilon": 1e-12} if make.options["method"].startswith(("fastonl", "perceptron")) else {}
    model = make(karate, ["a", "b"], **fine)
    nodes = rng.sample(range(34), 12)
    model.run([(node, "ab"[node % 2]) for node in nodes])
    rng.shuffle(nodes)
    last = nodes.pop()
    for node in nodes:
        model.forget(node)
    assert model.labels == {last: "ab"[last % 2]}
    learner = learner_of(model)
    counts = [0, 0]
    counts[last % 2] = 1
    assert learner.history.label_counts.tolist() == counts
    if hasattr(learner, "gradients"):
        gradients = learner.gradients
        # A perceptron stores nothing of a node that it predicted right.
        stored = [last] if gradients.has(last) or make.options["method"] != "perceptron" else []
        assert [u for u in range(34) if gradients.has(u)] == stored
        gradient = gradients.read(last, 2) / (gradients.scale(last) if stored else 1.0)
        assert gradients.sums(2) == pytest.approx(gradient, abs=1e-6)
        assert gradients.used_trace == pytest.approx(gradients.diagonal(last), rel=1e-6, abs=1e-9)
        squared = float(gradient @ gradient)
        near = 1e-2 if "dtype" in make.options else 1e-3 if fine else 1e-9  # scores are pushed, not exact
        diagonal = gradients.diagonal(last)
        assert gradients.energy == pytest.approx(squared * diagonal, abs=near * (diagonal or 1.0))
    if hasattr(learner, "diffusion"):
        H, Z, R, B = dense(model)
        assert np.flatnonzero(np.abs(B).sum(axis=1)).tolist() == stored
        assert_allclose(H @ Z + R, B, atol=1e-4 * np.abs(H).max())
    model.forget(last)
    fresh = make(karate, ["a", "b"], **fine)
    assert state(model, karate) == state(fresh, karate)
    assert (model.labels, model.classes, model.n_learned) == (fresh.labels, fresh.classes, 0)


def test_forgetting_after_fit_is_a_fit_without(make, karate):
    """For scores that do not depend on the order, up to the error of a push."""
    labels = {node: "abc"[node % 3] for node in range(0, 34, 2)}
    model = make(karate, list("abc")).fit(labels)
    for node in (4, 0, 30):
        model.forget(node)
        del labels[node]
    other = make(karate, list("abc")).fit(labels)
    assert model.labels == other.labels
    if make.options["method"] == "adaptive":
        return  # it forgets the label, but not what it has learned about its experts
    if getattr(learner_of(model), "diffusion", None) is None:
        near = 1e-3 if make.options["method"] == "fastonl-fifo" else 1e-9  # its columns are pushed, not exact
        assert model.predict_proba_many() == pytest.approx(other.predict_proba_many(), abs=near)
    if getattr(learner_of(model), "diffusion", None) is not None and not store_of(model).single:
        for node in karate:
            one, two = model.certify_one(node), other.certify_one(node)
            if one.certain and two.certain:
                assert one.label == two.label


def test_only_what_was_learned_can_be_forgotten(make, karate):
    model = make(karate, ["a", "b"]).fit({0: "a", 33: "b"})
    before = state(model, karate)
    with pytest.raises(ValueError, match="node 5 was not learned, so there is nothing to forget"):
        model.forget(5)
    with pytest.raises(nx.NodeNotFound, match="node 99 is not in the graph"):
        model.forget(99)
    assert state(model, karate) == before
    model.forget(0)
    with pytest.raises(ValueError, match="node 0 was not learned"):
        model.forget(0)


def test_a_forgotten_node_can_be_learned_again(make, karate):
    model = make(karate).fit({0: "a", 33: "b"})
    model.forget(33)
    model.learn_one(33, "c")
    assert (model.labels, model.classes) == ({0: "a", 33: "c"}, ("a", "b", "c"))
    model.forget(0)
    model.forget(33)
    assert model.classes == ()


def uncollected(work):
    """How many objects only the garbage collector finds after this work, which is done once before."""
    work()
    gc.collect()
    gc.disable()
    try:
        work()
        return gc.collect()
    finally:
        gc.enable()


def test_a_model_is_freed_as_soon_as_nobody_has_it(make):
    """Large models would pile up if that were left to the garbage collector."""
    G = nx.karate_club_graph()

    def work():
        model = make(G)
        model.run({0: "a", 33: "b"})
        model.learn_one(3, "a")
        model.predict_one(7)

    assert uncollected(work) == 0


@pytest.mark.parametrize("method", ["adaptive", "fastonl"])
def test_a_model_that_settles_slowly_is_freed_at_once_too(method):
    G = nx.path_graph(3)
    nx.set_edge_attributes(G, 1e7, "weight")
    options = {"kernel": "laplacian", "smoothness": 0.15, "method": method}
    assert uncollected(lambda: fo.OnlineNodeLabeler(G, **options).learn_one(0, "a")) == 0
    assert uncollected(lambda: fo.kernel_column(G, 0, kernel="laplacian")) == 0
