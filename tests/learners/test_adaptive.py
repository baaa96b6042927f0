from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import nx_fastonl as fo
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
    mixture = oracles.Mixture([1.0] + [0.0] * 6, 10.0, fading)
    for node in data.draw(st.permutations(list(G))):
        features, label = features_of(model, node), data.draw(st.integers(0, k - 1))
        top, mixed = model.predict_one(node), mixture.mixed(features)
        assert mixed[top] >= mixed.max() * (1.0 - 1e-9)
        expected = mixture.probabilities(features, top)
        assert_allclose(list(model.predict_proba_one(node).values()), expected, atol=1e-9)
        model.learn_one(node, label)
        mixture.step(features, label, top)
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
