"""The adaptive learner on directed graphs."""

import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import nx_fastonl as fo
from tests import oracles

KINDS = ("vote", "compatibility", "profile", "degree")
KERNEL_METHODS = ("fastonl", "fastonl-fifo", "relaxation", "approximate", "perceptron")


@st.composite
def digraphs(draw, max_nodes=9):
    """Directed graphs with loops, dead ends and isolated nodes; weighted or not."""
    n = draw(st.integers(2, max_nodes))
    G = nx.DiGraph()
    G.add_nodes_from(draw(st.permutations(range(n))))
    weights = st.sampled_from([0.5, 1.0, 3.0]) if draw(st.booleans()) else st.just(1.0)
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    for u, v in draw(st.lists(pairs, max_size=4 * n, unique=True)):
        G.add_edge(u, v, weight=draw(weights))
    return G


def adjacency(G):
    return nx.to_numpy_array(G, weight="weight")


def features_of(model, node):
    learner = model._knowledge.learner
    with learner._engine() as engine:
        return engine.features_of(model._graph.index(node))


def relative(features):
    return features - features.mean(axis=1, keepdims=True)


def labels_of(G, k, draw):
    return {node: draw(st.integers(0, k - 1)) for node in draw(st.permutations(list(G)))}


@given(st.data(), digraphs(), st.sampled_from([1, 2, 3, 20]))
def test_features_are_those_of_their_definitions(data, G, k):
    """Whatever was learned, learned anew and forgotten before."""
    A, nodes = adjacency(G), list(G)
    model = fo.OnlineNodeLabeler(G, classes=range(k), smoothness=0.3, epsilon=1e-16)
    labels = {}
    for _ in range(data.draw(st.integers(1, 12))):
        node = data.draw(st.sampled_from(nodes))
        if node in labels and data.draw(st.booleans()):
            model.forget(node)
            del labels[node]
        else:
            labels[node] = data.draw(st.integers(0, k - 1))
            model.learn_one(node, labels[node], overwrite=True)
    rows = {nodes.index(v): y for v, y in labels.items()}
    u = data.draw(st.integers(0, len(G) - 1))
    expected = oracles.arrow_features(A, rows, u, k, 0.3)
    assert_allclose(relative(features_of(model, nodes[u])), relative(expected), atol=1e-5)


@settings(max_examples=60, deadline=None)
@given(st.data(), digraphs(), st.sampled_from([2, 3]))
def test_counts_fade(data, G, k):
    half_life, A, nodes = 3.0, adjacency(G), list(G)
    model = fo.OnlineNodeLabeler(G, classes=range(k), smoothness=0.3, epsilon=1e-16, forgetting=half_life)
    labels = labels_of(G, k, data.draw)
    model.learn_many(labels)
    forgotten = data.draw(st.sampled_from(nodes))
    model.forget(forgotten)
    stamps = {nodes.index(v): 2.0 ** ((t + 1 - len(nodes)) / half_life) for t, v in enumerate(labels) if v != forgotten}
    rows = {nodes.index(v): y for v, y in labels.items() if v != forgotten}
    frequencies = oracles.label_frequencies(np.array(list(rows.values())), k, np.array([stamps[v] for v in rows]))
    u = data.draw(st.integers(0, len(G) - 1))
    expected = oracles.arrow_features(A, rows, u, k, 0.3, frequencies, stamps)
    assert_allclose(relative(features_of(model, nodes[u]))[2:], relative(expected)[2:], atol=1e-5)


def test_counts_fade_for_long():
    """So long that what is counted would overflow, if it were not divided now and then."""
    G = nx.gnp_random_graph(450, 0.02, seed=3, directed=True)
    A, labels = adjacency(G), {node: node % 3 for node in G}
    model = fo.OnlineNodeLabeler(G, classes=range(3), smoothness=0.3, forgetting=1.0)
    model.learn_many({node: label for node, label in labels.items() if node < 440})
    rows = {node: label for node, label in labels.items() if node < 440}
    stamps = {node: 2.0 ** (node + 1.0 - 440.0) for node in rows}
    frequencies = oracles.label_frequencies(np.array(list(rows.values())), 3, np.array(list(stamps.values())))
    for u in (0, 438, 439, 445):
        expected = oracles.arrow_features(A, rows, u, 3, 0.3, frequencies, stamps)
        assert_allclose(relative(features_of(model, u))[2:], relative(expected)[2:], atol=1e-4)


def test_votes_along_light_arcs_are_seen_beside_heavy_ones():
    A = np.zeros((4, 4))
    A[0, 1], A[0, 3], A[2, 0] = 1.0, 3.0, 1e15
    model = fo.OnlineNodeLabeler(sparse.csr_array(A), classes=range(3))
    model.learn_many({1: 0, 2: 1, 3: 2})
    out = features_of(model, 0)[[2, 7]].sum(axis=0)
    expected = oracles._neighbor_features(A, {1: 0, 2: 1, 3: 2}, 0, 3, np.full(3, 1 / 3))[0]
    assert_allclose(out - out.mean(), expected - expected.mean(), atol=1e-9)


def test_weights_that_add_up_to_too_much_are_refused():
    with pytest.raises(ValueError, match=r"edge \(0, 1\) has weight 6e\+99; a weight must be .* 5e\+99 in a directed"):
        fo.CSRGraph.from_edges([0, 1], [1, 0], [6e99, 6e99], directed=True)
    graph = fo.CSRGraph.from_edges([0, 1], [1, 0], [5e99, 5e99], directed=True)
    assert fo.OnlineNodeLabeler(graph).learn_many({0: "a"}).predict_one(1) == "a"


@pytest.mark.parametrize("name", ["vote", "profile out", "degree in"])
def test_a_damaged_name_of_an_expert_is_refused(name):
    model = fo.OnlineNodeLabeler(nx.DiGraph([(0, 1), (1, 2)])).fit({0: "a", 1: "b"})
    damaged = pickle.dumps(model).replace(name.encode(), b"x" + name.encode()[1:])
    with pytest.raises(ValueError, match="what was saved is damaged"):
        pickle.loads(damaged)


@settings(max_examples=60, deadline=None)
@given(st.data(), digraphs(), st.sampled_from([2, 3]), st.sampled_from([None, 5.0]))
def test_weights_of_arrows_start_at_nothing_and_move_more_slowly(data, G, k, forgetting):
    model = fo.OnlineNodeLabeler(G, classes=range(k), forgetting=forgetting)
    start = [0.5, 0.5, 0.0, 0.0, 0.2, 0.1, 0.0, *8 * [0.0]]
    fading = 1.0 if forgetting is None else 0.5 ** (1.0 / forgetting)
    mixture = oracles.Mixture(start, [*7 * [10.0], *8 * [20.0]], fading)
    for node, label in labels_of(G, k, data.draw).items():
        features = features_of(model, node)
        seen = np.isin(np.arange(k), list(model.labels.values()))
        if model.reached([node])[0] and seen[label]:
            mixture.step(features[:, seen], (np.cumsum(seen) - 1)[label])
        model.learn_one(node, label)
    learner = model._knowledge.learner
    assert_allclose(learner.mixture.expert_weights, mixture.weights, atol=1e-7)
    shown, raw = model.weights, dict(zip(learner.names, mixture.weights, strict=True))
    for kind in KINDS:  # what is multiplied with the features of edges alone
        assert shown[kind] == pytest.approx(raw[kind] - raw[f"{kind} out"] - raw[f"{kind} in"])


@settings(max_examples=60, deadline=None)
@given(st.data(), digraphs(), st.sampled_from([2, 3]))
def test_both_arcs_everywhere_are_edges(data, G, k):
    """Label for label, and as sure."""
    both = nx.DiGraph(G.to_undirected())
    labels = labels_of(G, k, data.draw)
    one, other = fo.OnlineNodeLabeler(G.to_undirected()), fo.OnlineNodeLabeler(both)
    first, second = one.run(labels), other.run(labels)
    assert list(first) == list(second)
    assert_allclose(first.probabilities, second.probabilities, atol=1e-9)
    assert all(abs(other.weights[f"{kind}{way}"]) < 1e-9 for kind in KINDS for way in (" out", " in"))


@settings(max_examples=40, deadline=None)
@given(st.data(), digraphs(), st.sampled_from([2, 3]))
def test_a_stream_is_the_same_as_one_by_one(data, G, k):
    labels = labels_of(G, k, data.draw)
    one, many, stream = (fo.OnlineNodeLabeler(G) for _ in range(3))
    predicted = []
    for node, label in labels.items():
        predicted.append(one.predict_one(node))
        one.learn_one(node, label)
    assert list(stream.run(labels)) == predicted
    many.learn_many(labels)
    assert one.weights == stream.weights == many.weights


@settings(max_examples=40, deadline=None)
@given(st.data(), digraphs(), st.sampled_from([2, 3]))
def test_forgetting_takes_back_what_was_counted(data, G, k):
    labels = labels_of(G, k, data.draw)
    model, fewer = fo.OnlineNodeLabeler(G, classes=range(k)), fo.OnlineNodeLabeler(G, classes=range(k))
    forgotten = set(data.draw(st.lists(st.sampled_from(list(G)), unique=True)))
    model.learn_many(labels)
    for node in forgotten:
        model.forget(node)
    fewer.learn_many({node: label for node, label in labels.items() if node not in forgotten})
    assert_allclose(model.compatibility.counts, fewer.compatibility.counts, atol=1e-9)
    for node in G:
        assert_allclose(
            relative(features_of(model, node))[2:], relative(features_of(fewer, node))[2:], atol=1e-6, err_msg=str(node)
        )


@settings(max_examples=60, deadline=None)
@given(st.data(), digraphs(), st.sampled_from([2, 3]))
def test_compatibility_counts_arcs_between_learned_nodes(data, G, k):
    A, nodes = adjacency(G), list(G)
    labels = labels_of(G, k, data.draw)
    model = fo.OnlineNodeLabeler(G, classes=range(k))
    model.learn_many(labels)
    one_hot = np.eye(k)[[labels[node] for node in nodes]]
    arcs = A - np.diag(np.diag(A))
    unit = A[A > 0].mean() if A.any() else 1.0
    found = model.compatibility
    assert found.directed
    assert_allclose(found.counts, one_hot.T @ arcs @ one_hot / unit, atol=1e-9)


def test_compatibility_says_who_points_to_whom():
    rng = np.random.default_rng(0)
    G = nx.DiGraph()
    G.add_nodes_from(range(40))
    G.add_edges_from((int(u), 20 + int(v)) for u, v in rng.integers(20, size=(150, 2)))
    model = fo.OnlineNodeLabeler(G)
    model.learn_many({node: "hen" if node >= 20 else "fox" for node in G})
    assert model.compatibility["fox", "hen"] == pytest.approx(1.0)  # all arcs go there
    assert "points to" in repr(fo.Compatibility(("a", "b"), [[1, 2], [0.5, 1]], np.ones((2, 2)), directed=True))


@pytest.mark.parametrize("method", [*KERNEL_METHODS, "weighted-tree"])
def test_methods_of_the_paper_name_both_ways_on(method):
    with pytest.raises(nx.NetworkXNotImplemented, match=r'direction="ignore".*method="adaptive"'):
        fo.OnlineNodeLabeler(nx.DiGraph([(0, 1)]), method=method)


@pytest.mark.parametrize("method", ["adaptive", *KERNEL_METHODS, "weighted-majority"])
def test_arrows_can_be_ignored(method):
    """As if the weights of both arcs between two nodes had been added up before."""
    rng = np.random.default_rng(1)
    A = sparse.csr_array(np.triu(rng.integers(0, 3, size=(12, 12)), 1) + np.tril(rng.integers(0, 2, size=(12, 12)), -1))
    labels = {u: int(y) for u, y in enumerate(rng.integers(2, size=12))}
    ignored = fo.online_node_labeling(A, labels, method=method, direction="ignore", seed=0)
    assert list(ignored) == list(fo.online_node_labeling(A + A.T, labels, method=method, seed=0))


def test_spanning_trees_take_arcs_in_both_directions():
    model = fo.OnlineNodeLabeler(nx.DiGraph([(1, 0), (1, 2)]), method="weighted-tree", direction="ignore", seed=0)
    model.learn_one(0, "a")
    assert model.predict_many() == ["a", "a", "a"]


def test_a_majority_counts_neighbours_on_both_sides():
    model = fo.OnlineNodeLabeler(nx.DiGraph([(0, 1), (1, 2), (3, 1)]), method="weighted-majority")
    model.learn_many({0: "a", 3: "a", 2: "b"})
    assert model.predict_one(1) == "a"


def test_an_unknown_direction_is_refused():
    with pytest.raises(ValueError, match='direction must be "use" or "ignore", got \'both\''):
        fo.OnlineNodeLabeler(nx.path_graph(3), direction="both")


def test_whatever_holds_a_directed_graph_is_taken():
    arcs = [(0, 1), (1, 2), (2, 0), (3, 0), (3, 2), (3, 2)]
    labels = [(0, "a"), (2, "b"), (3, "a"), (1, "b")]
    G = nx.MultiDiGraph(arcs)
    A = nx.to_scipy_sparse_array(G)
    graphs = [G, nx.DiGraph(A), A, fo.CSRGraph.from_scipy(A), fo.CSRGraph.from_networkx(G)]
    models = [fo.OnlineNodeLabeler(graph) for graph in graphs]
    for model in models:
        model.learn_many(labels)
    for model in models[1:]:
        assert model.weights == pytest.approx(models[0].weights)
        assert_array_equal(model.compatibility.counts, models[0].compatibility.counts)


def test_models_share_what_is_made_of_a_graph():
    graph = fo.CSRGraph.from_edges([0, 1, 2], [1, 2, 0], directed=True)
    one, other = fo.OnlineNodeLabeler(graph), fo.OnlineNodeLabeler(graph)
    assert one._graph is other._graph is fo.OnlineNodeLabeler(graph, method="fastonl", direction="ignore")._graph
    assert one._knowledge.learner.arrows is other._knowledge.learner.arrows


@settings(max_examples=30, deadline=None)
@given(st.data(), digraphs(), st.sampled_from([2, 3]))
def test_models_survive_pickling(data, G, k):
    labels = labels_of(G, k, data.draw)
    model = fo.OnlineNodeLabeler(G, classes=range(k))
    model.learn_many(dict(list(labels.items())[: len(labels) // 2]))
    again = pickle.loads(pickle.dumps(model))
    rest = dict(list(labels.items())[len(labels) // 2 :])
    assert list(again.run(rest)) == list(model.run(rest))
    assert again.weights == model.weights


@settings(max_examples=40, deadline=None)
@given(st.data(), digraphs(), st.sampled_from([2, 3]))
def test_fit_does_not_depend_on_the_order(data, G, k):
    labels = labels_of(G, k, data.draw)
    known = dict(list(labels.items())[: max(1, 2 * len(labels) // 3)])
    shuffled = dict(data.draw(st.permutations(list(known.items()))))
    one, other = (fo.OnlineNodeLabeler(G, classes=range(k)).fit(given) for given in (known, shuffled))
    assert one.weights == other.weights
    assert one.predict_many() == other.predict_many()


@settings(max_examples=30, deadline=None)
@given(st.data(), digraphs(), st.sampled_from([2, 3]))
def test_certain_labels_are_those_of_exact_diffusions(data, G, k):
    A, nodes = adjacency(G), list(G)
    model = fo.OnlineNodeLabeler(G, classes=range(k), smoothness=0.1)
    labels = dict(list(labels_of(G, k, data.draw).items())[: max(1, len(G) // 2)])
    model.learn_many(labels)
    rows = {nodes.index(node): y for node, y in labels.items()}
    weights = model._knowledge.learner.mixture.expert_weights
    for u, answer in enumerate(model.certify_many()):
        scores = weights @ oracles.arrow_features(A, rows, u, k, 0.1)
        others = np.array([scores[y] for y in set(labels.values()) - {answer.label}])
        if answer.certain and len(others) and model.reached([nodes[u]])[0]:
            assert scores[answer.label] > others.max()


def test_an_interrupted_stream_keeps_what_was_learned():
    G = nx.gnp_random_graph(60, 0.1, seed=1, directed=True)
    labels = {node: node % 3 for node in G}
    model, half = fo.OnlineNodeLabeler(G, classes=range(3)), fo.OnlineNodeLabeler(G, classes=range(3))

    def stream():
        for t, item in enumerate(labels.items()):
            if t == 30:
                raise KeyboardInterrupt
            yield item

    with pytest.raises(KeyboardInterrupt):
        model.run(stream())
    half.run(list(labels.items())[: model.n_learned])
    assert model.weights == half.weights
    assert_array_equal(model.compatibility.counts, half.compatibility.counts)
