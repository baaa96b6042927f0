import pickle
import subprocess
import sys
import tracemalloc

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler

import nx_fastonl as fo
from nx_fastonl.sklearn import NodeClassifier
from tests import oracles
from tests.strategies import small_graphs

FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)
PATH = sparse.csr_array(np.diag([1.0, 1.0, 1.0], 1) + np.diag([1.0, 1.0, 1.0], -1))


@pytest.fixture(scope="module")
def digits():
    """The graph of the digits as a matrix, and their labels."""
    data = fo.datasets.load_digits_graph()
    graph = fo.CSRGraph.from_networkx(data.graph) if isinstance(data.graph, nx.Graph) else data.graph
    return graph.to_scipy(), np.array([data.labels[node] for node in graph])


def hidden(y, fraction, seed=0):
    """Labels of which only a fraction is known."""
    return np.where(np.random.default_rng(seed).random(len(y)) < fraction, y, -1)


@pytest.mark.filterwarnings("ignore:the only label in y is 1")
@settings(max_examples=60, deadline=None)
@given(st.data(), st.booleans(), st.sampled_from(["adaptive", "fastonl"]))
def test_the_nodes_of_fit_have_their_labels_or_those_of_the_labeler(data, directed, method):
    G = data.draw(small_graphs(directed=directed))
    A = sparse.csr_array(oracles.adjacency(G))
    y = np.array([data.draw(st.integers(-1, 2)) for _ in G])
    y[0] = data.draw(st.integers(0, 2))
    classifier = NodeClassifier(method, direction="ignore").fit(A, y)
    labeler = fo.OnlineNodeLabeler(A, np.unique(y[y >= 0]).tolist(), method=method, direction="ignore").fit(y)
    expected = np.where(y >= 0, y, labeler.predict_many())
    assert classifier.transduction_.tolist() == classifier.predict(A).tolist() == expected.tolist()
    probabilities = classifier.predict_proba(A.toarray())
    assert_allclose(probabilities[y < 0], labeler.predict_proba_many(np.flatnonzero(y < 0).tolist()))
    assert (probabilities[y >= 0] == (y[y >= 0, None] == classifier.classes_)).all()
    assert classifier.score(A, np.where(y >= 0, y, -1)) == 1.0


@pytest.mark.parametrize("method", ["adaptive", "fastonl"])
@pytest.mark.parametrize("fraction", [1.0, 0.1])
def test_a_node_that_joins_gets_the_label_that_a_graph_with_it_gives(digits, method, fraction):
    """The graph is built anew for each, and all is learned anew."""
    A, y = digits
    n, new = 1200, range(1200, 1220)
    known = hidden(y[:n], fraction)
    classifier = NodeClassifier(method).fit(A[:n][:, :n], known)
    rows = A[list(new)][:, :n]
    same = 0
    for u, found in zip(new, classifier.predict_proba(rows), strict=True):
        both = [*range(n), u]
        labeler = fo.OnlineNodeLabeler(A[both][:, both], range(10), method=method).fit(np.append(known, -1))
        expected = labeler.predict_proba_many([n])[0]
        same += found.argmax() == expected.argmax()
        if method == "adaptive":
            assert_allclose(found, expected, atol=0.1)
    assert same == len(new)


def test_cross_validation_holds_nodes_out_of_the_graph(digits):
    A, y = digits

    scores = cross_val_score(NodeClassifier(), A, y, cv=FOLDS)
    expected = []
    for train, test in FOLDS.split(A, y):
        classifier = NodeClassifier().fit(A[train][:, train], y[train])
        expected.append((classifier.predict(A[test][:, train]) == y[test]).mean())
    assert scores.tolist() == expected
    assert scores.min() > 0.97
    assert cross_val_predict(NodeClassifier(), A, y, cv=FOLDS, method="predict_proba").shape == (len(y), 10)


def test_grid_search_and_dense_kernels(digits):
    A, y = digits
    search = GridSearchCV(
        NodeClassifier(), {"method": ["adaptive", "fastonl"], "smoothness": [None, 0.15]}, cv=FOLDS, error_score="raise"
    ).fit(A, y)
    assert search.best_score_ > 0.95
    assert search.predict(A).tolist() == y.tolist()
    few = np.arange(300)
    X = load_digits().data[few] / 16.0
    assert cross_val_score(NodeClassifier(), rbf_kernel(X, gamma=0.3), y[few], cv=3, error_score="raise").min() > 0.85


@pytest.mark.parametrize("direction", ["use", "ignore"])
def test_features_become_a_graph_in_a_pipeline(direction):
    X, y = load_digits(return_X_y=True)
    train, test = np.arange(0, 1500), np.arange(1500, len(y))
    pipeline = make_pipeline(
        KNeighborsTransformer(n_neighbors=10, mode="connectivity"), NodeClassifier(direction=direction)
    )
    known = hidden(y[train], 0.1)
    pipeline.fit(X[train], known)
    assert pipeline.score(X[test], y[test]) > 0.9
    assert (pipeline[-1].transduction_ == y[train])[known < 0].mean() > 0.95
    assert pipeline.predict(X[train]).tolist() == pipeline[-1].transduction_.tolist()
    assert cross_val_score(pipeline, X, y, cv=3, error_score="raise").mean() > 0.95


def test_a_graph_that_a_pipeline_scales():
    pipeline = make_pipeline(FunctionTransformer(lambda X: X * 3.0, accept_sparse=True), NodeClassifier())
    assert pipeline.fit(PATH, [0, -1, -1, 1]).predict(PATH).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("method", ["adaptive", "fastonl"])
def test_clones_and_pickles(digits, method):
    A, y = digits
    classifier = NodeClassifier(method, smoothness=0.2, epsilon=1e-4).fit(A, hidden(y, 0.1))
    other = clone(classifier)
    assert other.get_params() == classifier.get_params()
    with pytest.raises(NotFittedError):
        other.predict(A)
    assert not hasattr(other, "transduction_")
    again = pickle.loads(pickle.dumps(classifier))
    assert (again.predict(A) == classifier.transduction_).all()
    assert (again.predict_proba(A[:50]) == classifier.predict_proba(A[:50])).all()
    assert clone(classifier).set_params(method="adaptive").fit(A, y).method == "adaptive"


def test_a_graph_on_disk(digits, tmp_path):
    A, y = digits
    fo.CSRGraph.from_scipy(A).save(tmp_path / "digits")
    graph, known = fo.CSRGraph.open(tmp_path / "digits"), hidden(y, 0.1)
    classifier, expected = NodeClassifier().fit(graph, known), NodeClassifier().fit(A, known)
    for X in (graph, A, fo.CSRGraph.open(tmp_path / "digits")):
        assert (classifier.predict(X) == expected.transduction_).all()
    assert classifier.n_features_in_ == len(y)
    assert (classifier.predict(A[:20]) == expected.predict(A[:20])).all()
    assert len(pickle.dumps(classifier)) < len(pickle.dumps(expected))
    with pytest.raises(ValueError, match="X is another graph than that of fit"):
        classifier.predict(fo.CSRGraph.from_scipy(2.0 * A))


def test_graphs_with_names():
    G = nx.Graph([("ann", "bob"), ("bob", "cid"), ("cid", "dee")])
    for X in (G, fo.CSRGraph.from_networkx(G), fo.DynamicGraph(G)):
        classifier = NodeClassifier().fit(X, ["red", None, None, "blue"])
        assert classifier.predict(X).tolist() == ["red", "red", "blue", "blue"]
        assert classifier.predict([[2, 0, 0, 0]]).tolist() == ["red"]
        assert classifier.labeler_.predict_one("cid") == "blue"
        assert not hasattr(classifier, "feature_names_in_")


def test_data_frames_name_their_columns():
    X = pd.DataFrame(PATH.toarray(), columns=list("abcd"))
    classifier = NodeClassifier().fit(X, [0, -1, -1, 1])
    assert classifier.feature_names_in_.tolist() == list("abcd")
    assert classifier.predict(X).tolist() == [0, 0, 1, 1]
    with pytest.raises(ValueError, match="feature names"):
        classifier.predict(X[list("dcba")])


@pytest.mark.parametrize(
    "y",
    [
        [5, -1, -1, 7],
        [5.0, np.nan, -1.0, 7.0],
        [5, None, -1, 7],
        np.array([5, -1, None, 7], dtype=object),
        pd.Series([5, None, None, 7], dtype="Int64"),
        np.array([5, -1, -1, 7], dtype=np.int8),
    ],
    ids=["ints", "floats", "ints and None", "objects", "pandas", "int8"],
)
def test_unknown_labels(y):
    assert NodeClassifier().fit(PATH, y).transduction_.tolist() == [5, 5, 7, 7]


@pytest.mark.parametrize("dtype", ["Int64", "UInt8", "int64[pyarrow]"])
def test_integers_of_pandas_stay_integers(dtype):
    if "pyarrow" in dtype:
        pytest.importorskip("pyarrow")
    classifier = NodeClassifier().fit(PATH, pd.Series([5, None, None, 7], dtype=dtype))
    assert classifier.classes_.dtype.kind == "i"
    assert classifier.classes_.tolist() == [5, 7]


@pytest.mark.parametrize(
    ("library", "make"), [("polars", "Series"), ("pyarrow", "array"), ("pyarrow", "chunked_array")]
)
def test_columns_with_gaps(library, make):
    make_column = getattr(pytest.importorskip(library), make)
    for labels in ([5, None, None, 7], [5, -1, -1, 7], ["u", None, None, "v"], [True, None, None, False]):
        column = make_column([labels] if make == "chunked_array" else labels)
        classifier, expected = NodeClassifier().fit(PATH, column), NodeClassifier().fit(PATH, labels)
        assert repr(classifier.transduction_.tolist()) == repr(expected.transduction_.tolist())
        assert classifier.score(PATH, column) == 1.0


@pytest.mark.parametrize("cv", [3, 2])
def test_folds_of_texts_among_which_some_are_missing(cv, digits):
    X, truth = digits
    y = np.array([f"digit {label}" for label in truth], dtype=object)
    y[::3] = None
    with pytest.raises(ValueError, match="unknown"):
        cross_val_score(NodeClassifier(), X, y, cv=StratifiedKFold(cv))
    assert cross_val_score(NodeClassifier(), X, y, cv=cv).min() > 0.8


@pytest.mark.parametrize(
    "y",
    [
        ["u", None, -1, "v"],
        np.array(["u", None, np.nan, "v"], dtype=object),
        pd.Series(["u", None, None, "v"]),
        pd.Series(["u", None, None, "v"], dtype="category"),
    ],
    ids=["list", "objects", "pandas", "category"],
)
def test_unknown_texts(y):
    classifier = NodeClassifier().fit(PATH, y)
    assert classifier.transduction_.tolist() == ["u", "u", "v", "v"]
    assert classifier.score(PATH, y) == 1.0
    assert classifier.score(PATH, np.array(["u", "v", "v", "v"])) == 0.75


def test_true_and_false_are_labels():
    assert NodeClassifier().fit(PATH, [True, True, False, False]).predict([[1, 1, 0, 0]]).tolist() == [True]


@pytest.mark.parametrize("method", ["adaptive", "fastonl"])
def test_nodes_that_no_label_reaches_get_the_most_frequent_one(method):
    """They are class 0 elsewhere."""
    X = sparse.block_diag([np.ones((3, 3)), np.ones((2, 2)), np.zeros((1, 1))], format="csr")
    classifier = NodeClassifier(method).fit(X, [1, 1, 0, -1, -1, -1])
    assert classifier.transduction_.tolist() == [1, 1, 0, 1, 1, 1]
    assert classifier.predict([[0, 0, 0, 1, 1, 0], [0] * 6]).tolist() == [1, 1]
    if method == "adaptive":
        shares = [2 / 5, 3 / 5]  # each label counts once more than it was seen
        assert_allclose(classifier.predict_proba([[0, 0, 0, 1, 1, 0], [0] * 6]), [shares] * 2)


def test_one_label_is_enough():
    classifier = NodeClassifier().fit(PATH, [4, -1, -1, -1])
    assert classifier.transduction_.tolist() == [4] * 4
    assert classifier.predict_proba(PATH).tolist() == [[1.0]] * 4


def test_a_matrix_that_rounding_made_asymmetric_is_symmetric():
    X = rbf_kernel(load_digits().data[:40].astype(np.float32) / 16.0)
    skewed = X * (1.0 + 1e-7 * np.random.default_rng(0).random(X.shape))
    y = hidden(load_digits().target[:40], 0.5)
    for method in ("adaptive", "fastonl"):
        classifier = NodeClassifier(method).fit(skewed, y)
        assert not classifier.labeler_.graph.is_directed()
        assert (classifier.predict(skewed) == NodeClassifier(method).fit(X, y).transduction_).all()
        assert (classifier.predict(skewed) == classifier.transduction_).all()


def test_arrows_are_used_or_ignored():
    arcs = sparse.csr_array(np.diag([1.0, 1.0, 1.0], 1))
    y = [0, -1, -1, 1]
    assert "vote out" in NodeClassifier().fit(arcs, y).labeler_.weights
    with pytest.raises(nx.NetworkXNotImplemented, match='direction="ignore"'):
        NodeClassifier("fastonl").fit(arcs, y)
    ignored = NodeClassifier("fastonl", direction="ignore").fit(arcs, y)
    assert ignored.transduction_.tolist() == ignored.predict(arcs).tolist() == [0, 0, 1, 1]


def test_labels_that_become_known_later(digits):
    A, y = digits
    first, second = hidden(y, 0.1, 1), hidden(y, 0.1, 2)
    classifier = NodeClassifier().partial_fit(A, first, classes=range(10))
    assert (classifier.transduction_ == y).mean() > 0.9
    classifier.partial_fit(A, second)
    both = np.where(second >= 0, second, first)
    expected = fo.OnlineNodeLabeler(A, range(10)).learn_many(first)
    expected.learn_many(np.where(first >= 0, -1, second))
    assert (classifier.transduction_ == np.where(both >= 0, both, expected.predict_many())).all()
    node = int(np.flatnonzero(first >= 0)[0])
    corrected = np.full(len(y), -1)
    corrected[node] = (y[node] + 1) % 10
    assert classifier.partial_fit(A, corrected).transduction_[node] == corrected[node]
    assert classifier.fit(A, first).labeler_.n_learned == (first >= 0).sum()


def test_a_single_label_may_be_a_mistake():
    with pytest.warns(UserWarning, match="if -1 is a class, say 0 instead"):
        NodeClassifier().fit(PATH, [1, -1, -1, 1])
    NodeClassifier().fit(PATH, [1, 1, 1, 1])
    NodeClassifier().fit(PATH, [2, -1, -1, 2])


def test_rows_and_columns_in_another_order():
    X = pd.DataFrame(PATH.toarray(), index=list("abcd"), columns=list("abcd"))
    shuffled = X.loc[list("cabd")]
    with pytest.raises(ValueError, match=r"the same nodes in another order: pass X\[X.index\]"):
        NodeClassifier().fit(shuffled, [0, -1, -1, 1])
    expected = NodeClassifier().fit(X, [0, -1, -1, 1]).predict_proba(X)
    found = NodeClassifier().fit(shuffled[shuffled.index], [-1, 0, -1, 1])
    np.testing.assert_allclose(found.predict_proba(shuffled[shuffled.index]), expected[[2, 0, 1, 3]], rtol=1e-6)


def test_partial_fit_is_all_or_nothing(monkeypatch):
    classifier = NodeClassifier().partial_fit(PATH, [0, -1, 1, -1])
    found, learn_one = classifier.transduction_.tolist(), fo.OnlineNodeLabeler.learn_one

    def interrupted(labeler, node, label, **options):
        if node == 2:
            raise KeyboardInterrupt
        learn_one(labeler, node, label, **options)

    with monkeypatch.context() as patch:
        patch.setattr(fo.OnlineNodeLabeler, "learn_one", interrupted)
        with pytest.raises(KeyboardInterrupt):
            classifier.partial_fit(PATH, [1, 1, 0, -1])
    assert classifier.labeler_.labels == {0: 0, 2: 1}
    assert classifier.transduction_.tolist() == found
    assert classifier.partial_fit(PATH, [1, 1, 0, -1]).labeler_.labels == {0: 1, 1: 1, 2: 0}


def test_partial_fit_refuses_other_graphs_and_new_labels():
    classifier = NodeClassifier().partial_fit(PATH, [0, -1, -1, 1])
    with pytest.raises(ValueError, match=r"label 2 of y is not one of the classes: \[0, 1\]"):
        classifier.partial_fit(PATH, [-1, 2, -1, -1])
    with pytest.raises(ValueError, match="X is another one"):
        classifier.partial_fit(2.0 * PATH, [-1, 1, -1, -1])
    with pytest.raises(ValueError, match="expecting 4 features"):
        classifier.partial_fit(PATH[:3, :3], [-1, 1, -1])
    with pytest.raises(ValueError, match=r"classes were \[0, 1\] in the first call, got \[0, 2\]"):
        classifier.partial_fit(PATH, [-1, 1, -1, -1], classes=[0, 2])
    assert classifier.labeler_.labels == {0: 0, 3: 1}
    with pytest.raises(ValueError, match="no label at all"):
        NodeClassifier().partial_fit(PATH, [-1] * 4)
    none_yet = NodeClassifier().partial_fit(PATH, [-1] * 4, classes=["a", "b"])
    assert none_yet.transduction_.tolist() == ["a"] * 4


@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        (np.ones((3, 4)), [0, 1, 1], ValueError, r"square matrix, the adjacency of a graph, got shape \(3, 4\)"),
        (np.diag([0.0, -2.0]), [0, 1], ValueError, r"edge \(1, 1\) has weight -2"),
        (sparse.csr_array([[0.0, -0.5], [-0.5, 0.0]]), [0, 1], ValueError, r"edge \(0, 1\) has weight -0.5"),
        (np.array([[0.0, np.nan], [np.nan, 0.0]]), [0, 1], ValueError, "contains NaN"),
        (sparse.csr_array([[0.0, np.inf], [np.inf, 0.0]]), [0, 1], ValueError, "contains infinity"),
        (PATH, [0, 1], ValueError, "for each of the 4 nodes of X in turn, got 2"),
        (np.ones((5, 5)), [0, 1], ValueError, "for each of the 5 nodes"),
        (PATH, [-1, -1, None, -1], ValueError, "y has no label at all"),
        (PATH, {0: 5, 3: 7}, TypeError, r"y must be an array with a label.*got \{0: 5, 3: 7\}.*OnlineNodeLabeler.fit"),
        (PATH, None, ValueError, "requires y to be passed, but the target y is None"),
        (PATH, [0.5, 1.5, 2.25, -1], ValueError, "Unknown label type"),
        (PATH, [0, np.inf, 1, 1], ValueError, "infinity"),
        (PATH, np.array(["a", "-1", "-1", "b"]), ValueError, 'holds texts, and "-1" among them'),
        (PATH, np.array(["a", "-1", "-1", "b"], dtype=object), ValueError, 'holds texts, and "-1" among them'),
        (PATH, pd.Series(["a", "-1", None, "b"]), ValueError, 'holds texts, and "-1" among them'),
        (PATH, ["a", "-1", None, "b"], ValueError, 'holds texts, and "-1" among them'),
        (PATH, ["a", 1, 2, "b"], TypeError, "cannot be ordered, they are of types int, str"),
        (PATH, [[0, 1], [1, 0], [1, 1], [0, 0]], ValueError, "1d array"),
        (np.zeros((0, 0)), [], ValueError, "minimum of 1 is required"),
        ("a graph", [0], ValueError, "Expected 2D array"),
        (1e300 * PATH, [0, -1, -1, 1], ValueError, r"edge \(0, 1\) has weight 1e\+300"),
    ],
)
def test_bad_input_is_named_and_changes_nothing(X, y, error, message):
    classifier = NodeClassifier().fit(PATH, [0, -1, -1, 1])
    with pytest.raises(error, match=message):
        classifier.fit(X, y)
    assert classifier.labeler_.labels == {0: 0, 3: 1}
    assert classifier.n_features_in_ == 4
    new = NodeClassifier()
    with pytest.raises(error, match=message):
        new.fit(X, y)
    assert set(vars(new)) == set(new.get_params())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "relaxation"}, 'method must be "adaptive" or "fastonl", got \'relaxation\''),
        ({"kernel": "rbf"}, "rbf"),
        ({"smoothness": -1.0}, "smoothness"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"direction": "in"}, 'direction must be "use" or "ignore"'),
    ],
)
def test_bad_parameters_are_named_by_fit(parameters, message):
    with pytest.raises(ValueError, match=message):
        NodeClassifier(**parameters).fit(PATH, [0, -1, -1, 1])


def test_bad_rows_are_named_by_predict():
    classifier = NodeClassifier().fit(PATH, [0, -1, -1, 1])
    with pytest.raises(ValueError, match="X has 3 features, but NodeClassifier is expecting 4"):
        classifier.predict(np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"edge \(1, 2\) has weight -1"):
        classifier.predict([[0, 0, 0, 0], [0, 0, -1, 0]])
    with pytest.raises(ValueError, match="no label at all"):
        classifier.score([[1, 0, 0, 0]], [-1])
    with pytest.raises(ValueError, match="for each of the 1 nodes"):
        classifier.score([[1, 0, 0, 0]], [1, 1])


@pytest.mark.parametrize(
    ("known", "truth", "score"),
    [
        (np.array(["ab", "ab", "cd", "cd"]), np.array(["abX", "ab", "cd", "cdY"], dtype=object), 0.5),
        (np.array(["ab", "ab", "cd", "cd"]), np.array(["abX", "ab", "cd", "cdY"]), 0.5),
        ([0, 0, 1, 1], np.array(["a", 0, 1, "0"], dtype=object), 0.5),
        ([0, 0, 1, 1], [0.0, 0.0, 0.5, 1.0], 0.75),
        (["0", "0", "1", "1"], np.array([0, "0", None, "1"], dtype=object), 2 / 3),
        ([0, 0, 1, 1], pd.Series([0, 7, None, 1], dtype="Int64"), 2 / 3),
        ([False, False, True, True], np.array([False, None, False, True], dtype=object), 2 / 3),
    ],
)
def test_a_label_that_is_not_among_the_classes_is_a_mistake(known, truth, score):
    assert NodeClassifier().fit(PATH, known).score(PATH, truth) == pytest.approx(score)


def test_rows_may_list_entries_in_any_order_and_twice():
    for method in ("adaptive", "fastonl"):
        classifier = NodeClassifier(method).fit(PATH, [0, -1, -1, 1])
        listed = np.array([0.5, 0.0, 2.0, 1.0, 0.25]), np.array([3, 1, 0, 3, 2]), np.array([0, 4, 4, 5])
        X = sparse.csr_array(listed, shape=(3, 4))
        assert not X.has_canonical_format
        expected = classifier.predict_proba(X.toarray())
        for other in (X, X.tocsc(), X.tocoo(), sparse.csr_array(listed, shape=(3, 4))):
            assert classifier.predict_proba(other) == pytest.approx(expected, abs=1e-15)
        assert X.nnz == 5
        X.indices[0] = 9
        with pytest.raises(ValueError, match="the matrix's indices must lie between 0 and 3"):
            classifier.predict(X)


@pytest.mark.parametrize("method", ["adaptive", "fastonl"])
def test_a_node_that_joins_takes_no_memory_for_others(method):
    n = 100_000
    ring = sparse.coo_array((np.ones(n), (np.arange(n), np.roll(np.arange(n), 1))), shape=(n, n)).tocsr()
    classifier = NodeClassifier(method).partial_fit(ring + ring.T, np.r_[0, 1, np.full(n - 2, -1)])
    row = sparse.csr_array((np.ones(2), [0, 7], [0, 2]), shape=(1, n))
    classifier.predict(row)
    tracemalloc.start()
    try:
        classifier.predict(row)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < n


def test_what_the_labeler_learns_is_seen():
    classifier = NodeClassifier("fastonl").fit(PATH, [0, -1, -1, 1])
    assert classifier.transduction_.tolist() == [0, 0, 1, 1]
    classifier.labeler_.learn_one(1, 1)
    classifier.labeler_.learn_one(0, 1, overwrite=True)
    assert classifier.transduction_.tolist() == classifier.predict(PATH).tolist() == [1, 1, 1, 1]


def test_weights_of_samples_count_in_scores():
    classifier = NodeClassifier().fit(PATH, [0, -1, -1, 1])
    assert classifier.score(PATH, [0, 1, -1, 1], sample_weight=[1.0, 2.0, 100.0, 1.0]) == 0.5


def test_without_scikit_learn_it_is_named():
    program = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import nx_fastonl as fo; fo.sklearn\n"
        "try: fo.sklearn.NodeClassifier\n"
        "except ImportError as error: print(error)"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert found == "NodeClassifier needs scikit-learn 1.6 or newer: pip install -U scikit-learn\n"


def test_classes_may_hold_what_is_not_known():
    y = np.array([0, -1, -1, 1])
    for classes in (np.unique(y), [1, 0, None], [0.0, np.nan, 1.0]):
        found = NodeClassifier().partial_fit(PATH, [-1] * 4, classes=classes)
        assert found.classes_.tolist() == [0, 1]
    with pytest.raises(ValueError, match="1d array"):
        NodeClassifier().partial_fit(PATH, y, classes=[[0, 1], [2, 3]])


def test_what_is_masked_is_not_known():
    y = np.ma.masked_array([0, 1, 1, 1], mask=[False, True, True, False])
    expected = NodeClassifier().fit(PATH, [0, -1, -1, 1])
    found = NodeClassifier().fit(PATH, y)
    assert found.labeler_.labels == expected.labeler_.labels == {0: 0, 3: 1}


def test_categories_of_integers_stay_integers():
    found = NodeClassifier().fit(PATH, pd.Series([0, None, None, 1], dtype="category"))
    assert found.classes_.dtype.kind == "i"


def test_a_label_that_is_known_already_changes_nothing(monkeypatch):
    classifier = NodeClassifier().partial_fit(PATH, [0, -1, -1, 1])
    labeler = classifier.labeler_
    monkeypatch.setattr(fo.OnlineNodeLabeler, "learn_one", None)
    assert classifier.partial_fit(PATH, [0, -1, 1, 1]).labeler_ is labeler
    assert labeler.labels == {0: 0, 2: 1, 3: 1}


def test_a_graph_with_arrows_is_another_one():
    graph = fo.CSRGraph.from_scipy(PATH)
    classifier = NodeClassifier().fit(graph, [0, -1, -1, 1])
    with pytest.raises(ValueError, match="X is another graph than that of fit"):
        classifier.predict(fo.CSRGraph(graph.indptr, graph.indices, directed=True))


def test_weights_of_another_number():
    classifier = NodeClassifier().fit(PATH, [0, -1, -1, 1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        classifier.score(PATH, [0, 0, 1, 1], sample_weight=[1])


ways_to_pass_a_graph = {
    "networkx": lambda G: G,
    "CSRGraph": fo.CSRGraph.from_networkx,
    "DynamicGraph": fo.DynamicGraph,
    "sorted matrix": nx.to_scipy_sparse_array,
    "matrix of a CSRGraph": lambda G: fo.CSRGraph.from_networkx(G).to_scipy(),
    "dense": nx.to_numpy_array,
}


@pytest.mark.parametrize("fitted", ways_to_pass_a_graph)
@pytest.mark.parametrize("asked", ways_to_pass_a_graph)
def test_the_graph_of_fit_is_known_again_however_it_is_passed(fitted, asked):
    G = nx.les_miserables_graph()  # which does not list the neighbours of a node in the order of the nodes
    y = np.arange(len(G)) % 3
    classifier = NodeClassifier().fit(ways_to_pass_a_graph[fitted](G), y)
    X = ways_to_pass_a_graph[asked](G)
    assert classifier.score(X, y) == 1.0
    classifier.partial_fit(X, y)
    heavier = nx.Graph(G)
    heavier["Javert"]["Cosette"]["weight"] += 1
    assert classifier.score(ways_to_pass_a_graph["dense"](heavier), y) < 1.0


def test_what_rounding_made_asymmetric_keeps_its_scale():
    X = nx.to_numpy_array(nx.les_miserables_graph())
    rounded = X * (1.0 + 1e-7 * np.triu(np.ones_like(X)))
    y = np.where(np.arange(len(X)) % 2, np.arange(len(X)) % 3, -1)
    probabilities = [NodeClassifier("fastonl", kernel="laplacian").fit(A, y).predict_proba(A) for A in (X, rounded)]
    assert_allclose(*probabilities, atol=1e-4)


@pytest.mark.parametrize(
    ("y", "message"),
    [([(1, 2), None, None, (1, 3)], r"labels must be whole numbers or texts, got \(1, 2\)")],
)
def test_labels_of_another_kind(y, message):
    labels = np.empty(4, dtype=object)
    labels[:] = y
    with pytest.raises(TypeError, match=message):
        NodeClassifier().fit(PATH, labels)


@pytest.mark.parametrize("classes", [5, {0, 1}, iter([0, 1])])
def test_classes_that_have_no_order(classes):
    with pytest.raises(TypeError, match="classes must be a list or an array of labels, got "):
        NodeClassifier().partial_fit(PATH, [0, -1, -1, 1], classes=classes)


def test_categories_outside_of_a_series():
    found = NodeClassifier().fit(PATH, pd.Categorical(["a", None, None, "b"]))
    assert found.transduction_.tolist() == ["a", "a", "b", "b"]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_table_of_one_column_is_this_column(make):
    large = 2**53 + 1  # no float
    found = NodeClassifier().fit(
        PATH,
        make(
            {"y": [large, None, None, 1]}
            if make is not pd.DataFrame
            else {"y": pd.array([large, None, None, 1], dtype="Int64")}
        ),
    )
    assert found.classes_.tolist() == [1, large]


def test_no_label_known_at_first():
    classifier = NodeClassifier().partial_fit(PATH, [-1] * 4, classes=[0, 1])
    assert set(classifier.predict(np.ones((1, 4)))) <= {0, 1}


def test_labels_whose_index_has_another_order():
    G = nx.relabel_nodes(nx.path_graph(4), dict(enumerate("abcd")))
    y = pd.Series(["u", None, None, "v"], index=list("abcd"))
    shuffled = y.loc[list("dbca")]
    for X in (G, nx.to_pandas_adjacency(G)):
        classifier = NodeClassifier().fit(X, y)
        assert classifier.transduction_.tolist() == ["u", "u", "v", "v"]
        for learn in (classifier.fit, classifier.partial_fit, classifier.score, NodeClassifier().partial_fit):
            with pytest.raises(ValueError, match=r"nodes of X in another order: pass y\.reindex\(nodes\)"):
                learn(X, shuffled)
        assert classifier.labeler_.labels == NodeClassifier().fit(X, y).labeler_.labels
    # Rows of an array have no names.
    assert NodeClassifier().fit(PATH, shuffled).transduction_.tolist() == ["v", "v", "u", "u"]


@pytest.mark.parametrize(("known", "truth"), [("uv", [0, 1, 1, 0]), ([0, 1], ["0", "1", "1", "0"])])
def test_scores_need_labels_of_one_kind(known, truth):
    classifier = NodeClassifier().fit(PATH, [known[0], None, None, known[1]])
    with pytest.raises(ValueError, match="only one of both are texts"):
        classifier.score(PATH, truth)


def test_a_pipeline_whose_first_step_hides_that_x_is_a_graph():
    G = nx.karate_club_graph()
    X, y = nx.to_scipy_sparse_array(G), np.array([club == "Officer" for _, club in G.nodes(data="club")], dtype=int)
    pipeline = make_pipeline(MaxAbsScaler(), NodeClassifier())
    message = r"only rows were cut.* a pipeline.* first step .*transform X first, and pass NodeClassifier alone"
    with pytest.raises(ValueError, match=message):
        cross_val_score(pipeline, X, y, cv=3, error_score="raise")
    assert cross_val_score(NodeClassifier(), MaxAbsScaler().fit_transform(X), y, cv=3).mean() > 0.8
    assert cross_val_score(make_pipeline(NodeClassifier()), X, y, cv=3).mean() > 0.8
    with pytest.raises(ValueError, match=r"got shape \(34, 22\); kneighbors_graph"):
        NodeClassifier().fit(X[:, :22], y)
