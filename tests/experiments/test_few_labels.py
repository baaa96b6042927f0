import sys
from collections import Counter
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import csgraph

import nx_fastonl as fo
from nx_fastonl import datasets, experiments
from nx_fastonl.experiments import few_labels, peers

LABELS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=150).map(lambda labels: dict(enumerate(labels)))


@given(LABELS, st.sampled_from([1, 5, 20]), st.integers(0, 5))
def test_known_labels_of_each_class(labels, count, trial):
    known = few_labels.known_labels(labels, f"{count} a class", trial)
    assert known.items() <= labels.items()
    sizes = Counter(labels.values())
    assert Counter(known.values()) == {label: max(1, min(count, size // 2)) for label, size in sizes.items()}
    assert few_labels.known_labels(labels, f"{count} a class", trial) == known


@given(LABELS)
def test_known_fraction(labels):
    known = few_labels.known_labels(labels, "5 %", 0)
    assert known.items() <= labels.items()
    assert len(known) == max(1, round(len(labels) / 20))


def test_trials_know_other_nodes():
    labels = {u: u % 2 for u in range(200)}
    draws = {frozenset(few_labels.known_labels(labels, rate, trial)) for rate in few_labels.RATES for trial in range(5)}
    assert len(draws) == 5 * len(few_labels.RATES)


@pytest.mark.parametrize("method", few_labels.OURS)
def test_accuracy_is_that_of_hidden_nodes(method):
    data = datasets.load_karate()
    known = few_labels.known_labels(data.labels, "5 a class", 3)
    task = {"graph": "karate", "rate": "5 a class", "trial": 3, "method": method}
    (record,) = few_labels.measure(task)
    hidden = [u for u in range(34) if u not in known]
    predicted = fo.OnlineNodeLabeler(data.graph, method=method).fit(known).predict_many(hidden)
    assert len(hidden) == 24
    assert record["accuracy"] == np.mean([data.labels[u] == label for u, label in zip(hidden, predicted, strict=True)])


def named_karate():
    """The karate club, with names of nodes in another order than the rows, and two labels known."""
    G = nx.relabel_nodes(nx.karate_club_graph(), {u: f"member {u * 7 % 34}" for u in range(34)})
    first, last = "member 0", f"member {33 * 7 % 34}"
    return fo.CSRGraph.from_networkx(G), G, {last: "Officer", first: "Mr. Hi"}


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("NetworkX harmonic", nx.algorithms.node_classification.harmonic_function),
        ("NetworkX consistency", nx.algorithms.node_classification.local_and_global_consistency),
    ],
)
def test_networkx(name, function):
    graph, G, known = named_karate()
    for _ in range(2):  # what was known before is taken out
        predicted, _ = few_labels._predict(name, graph, known)
    nx.set_node_attributes(G, known, "label")
    assert predicted == dict(zip(G, function(G), strict=True))
    other, _ = few_labels._predict(name, graph, {next(iter(known)): "alone"})
    assert set(other.values()) == {"alone"}


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("scikit-network PageRank", "PageRankClassifier"),
        ("scikit-network diffusion", "DiffusionClassifier"),
        ("scikit-network propagation", "Propagation"),
    ],
)
def test_scikit_network(name, make):
    classification = pytest.importorskip("sknetwork.classification")
    graph, G, known = named_karate()
    predicted, _ = few_labels._predict(name, graph, known)
    labels = [{"Officer": 0, "Mr. Hi": 1}.get(known.get(node), -1) for node in G]
    with peers.quiet():
        expected = getattr(classification, make)().fit_predict(
            sparse.csr_matrix(nx.to_scipy_sparse_array(G)), labels=labels
        )
    assert predicted == {u: ("Officer", "Mr. Hi", None)[i] for u, i in zip(G, expected, strict=True)}


class NearestLabel:
    """Stands for a method of graphlearning. It takes connected graphs and labels 0, 1, ... only."""

    def __init__(self, W, **options):
        assert csgraph.connected_components(W)[0] == 1
        self.W, self.options = W, options

    def fit(self, rows, labels):
        assert set(labels.tolist()) == set(range(labels.max() + 1))
        self.nearest = labels[csgraph.shortest_path(self.W, unweighted=True)[rows].argmin(axis=0)]

    def predict(self):
        return self.nearest


def test_graphlearning_sees_one_component_at_a_time(monkeypatch):
    used = []

    def make(W, **options):
        used.append((W.shape[0], options))
        return NearestLabel(W, **options)

    monkeypatch.setitem(sys.modules, "graphlearning", SimpleNamespace(ssl=SimpleNamespace(laplace=make)))
    #      a - o - o - c    o - b    b - o - o - a    o - o    o
    G = nx.Graph([(0, 1), (1, 2), (2, 3), (4, 5), (6, 7), (7, 8), (8, 9), (10, 11)])
    G.add_node(12)
    graph = fo.CSRGraph.from_networkx(G)
    known = {0: "a", 3: "c", 5: "b", 6: "b", 9: "a"}
    predicted, _ = few_labels._predict("graphlearning WNLL, mean shift", graph, {**known, 4: "b"})
    assert "".join(predicted[u] for u in range(13)) == "aaccbbbbaa" + "bbb"  # b is the most frequent
    options = {"reweighting": "wnll", "mean_shift": True}
    assert used == [(4, options), (4, options)]


def test_graphlearning_itself():
    gl = pytest.importorskip("graphlearning")
    graph, _, known = named_karate()
    with peers.quiet():
        model = gl.ssl.poisson(peers._matrix(graph))
        model.fit(np.array(graph.rows_of(known)), np.array([0, 1]))
        expected = [("Officer", "Mr. Hi")[i] for i in model.predict()]
    assert list(few_labels._predict("graphlearning Poisson", graph, known)[0].values()) == expected


def test_packages_that_are_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(peers, "_is_installed", lambda module: module == "networkx")
    methods = {task["method"] for task in few_labels.tasks("karate", 1)}
    assert methods == {"adaptive", "fastonl", "NetworkX harmonic", "NetworkX consistency"}
    assert experiments.EXPERIMENTS["few-labels"].notes() == [
        "Without 7 methods of graphlearning==1.7.5: pip install graphlearning==1.7.5",
        "Without 3 methods of scikit-network: pip install scikit-network",
    ]
    monkeypatch.setattr(peers, "_is_installed", lambda _: False)
    frame = experiments.run("few-labels", "karate", trials=1, out=tmp_path)
    table = experiments.summary("few-labels", frame)
    assert table.index.tolist() == [(rate, method) for rate in few_labels.RATES for method in few_labels.OURS]
    assert table["- best peer"].isna().all()


def test_peers_that_are_too_slow_are_left_out(monkeypatch):
    monkeypatch.setattr(
        few_labels, "installed_peers", lambda: {"a": SimpleNamespace(max_nodes=33), "b": SimpleNamespace(max_nodes=34)}
    )
    assert {task["method"] for task in few_labels.tasks("karate", 1)} == {"adaptive", "fastonl", "b"}


def test_summary():
    columns = ["graph", "rate", "trial", "method", "accuracy", "seconds"]
    rows = [
        ("x", "1 a class", 0, "adaptive", 0.5, 1.0),
        ("x", "1 a class", 0, "fastonl", 0.4, 2.0),
        ("x", "1 a class", 0, "p", 0.6, 3.0),
        ("x", "1 a class", 0, "q", 0.2, 0.5),
        ("x", "1 a class", 1, "adaptive", 0.7, 3.0),
        ("x", "1 a class", 1, "fastonl", 0.4, 2.0),
        ("x", "1 a class", 1, "p", 0.4, 3.0),
        ("x", "1 a class", 1, "q", 0.4, 0.5),
        ("y", "1 a class", 0, "adaptive", 0.7, 6.0),
        ("y", "1 a class", 0, "fastonl", 0.9, 2.0),
        ("y", "1 a class", 0, "p", 0.8, 1.0),
    ]
    table = experiments.summary("few-labels", pd.DataFrame(rows, columns=columns))
    assert table.loc["1 a class", "adaptive"].tolist() == [2, 0.65, 0.0, -0.1, "y", 0.0, 4.0, 1.0]
    assert table.loc["1 a class", "fastonl"].tolist() == [2, 0.65, 0.0, -0.1, "x", 0.0, 2.0, 0.5]
    assert table.loc["1 a class", "p"].tolist() == [2, 0.65, 0.0, 0.0, "x", 0.0, 2.0, 0.5]
    assert table.loc["1 a class", "q"].tolist() == [1, 0.3, -0.2, -0.2, "x", 0.3, 0.5, 0.25]  # of its graph alone
