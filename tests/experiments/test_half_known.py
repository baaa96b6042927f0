import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nx_fastonl as fo
from nx_fastonl import datasets, experiments
from nx_fastonl.experiments import graphs, half_known


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A file with a directed graph in which every label points to the next, few labels for many arcs."""
    table = [[1, 9, 1], [1, 1, 9], [9, 1, 1]]
    data = datasets.planted_partition(150, compatibility=table, mean_degree=12, exponent=None, directed=True, seed=0)
    path = tmp_path_factory.mktemp("planted") / "planted.npz"
    labels = np.array(list(data.labels.values()))
    np.savez(path, indptr=data.graph.indptr, indices=data.graph.indices, labels=labels)
    graphs._load.cache_clear()
    return str(path), data.graph, data.labels


@given(st.dictionaries(st.integers(), st.sampled_from("abc"), min_size=1), st.integers(0, 5))
def test_halves(labels, trial):
    known, hidden = half_known.halves(labels, trial)
    assert len(known) == len(labels) // 2
    assert dict(known + hidden) == labels
    assert len(known) + len(hidden) == len(labels)
    assert half_known.halves(labels, trial) == (known, hidden)


def test_trials_know_different_halves():
    labels = dict.fromkeys(range(100), 0)
    assert len({frozenset(dict(half_known.halves(labels, trial)[0])) for trial in range(10)}) == 10


def test_methods_are_those_of_the_labeller(planted, tmp_path):
    path, graph, labels = planted
    frame = experiments.run("half-known", path, trials=2, out=tmp_path)
    assert frame["method"].unique().tolist() == [*half_known.OURS, *half_known.LINK]
    for trial in range(2):
        known, hidden = half_known.halves(labels, trial)
        nodes, truth = zip(*hidden, strict=True)

        def model(direction="use", trial=trial):
            return fo.OnlineNodeLabeler(graph, direction=direction, seed=trial)

        expected = {
            "adaptive, fit": model().fit(known).predict_many(nodes),
            "adaptive, fit, then one by one": model().fit(known).run(hidden),
            "adaptive, learn_many, then one by one": model().learn_many(known).run(hidden),
            "adaptive, fit, arrows ignored": model("ignore").fit(known).predict_many(nodes),
            "adaptive, fit, then one by one, arrows ignored": model("ignore").fit(known).run(hidden),
        }
        rows = frame[frame["trial"] == trial].set_index("method")
        assert set(rows["known"]) == {75}
        assert (rows["seconds"] >= 0.0).all()
        for method, predicted in expected.items():
            right = np.mean([a == b for a, b in zip(predicted, truth, strict=True)])
            assert rows.loc[method, "accuracy"] == pytest.approx(right, rel=1e-12), method
    table = experiments.summary("half-known", frame)
    assert table.index.tolist() == [("planted", method) for method in (*half_known.OURS, *half_known.LINK)]
    means = frame.groupby("method")["accuracy"].mean()
    assert table.loc[("planted", "LINK, out"), "accuracy"] == pytest.approx(means["LINK, out"], abs=1e-4)


@pytest.mark.parametrize("method", half_known.LINK)
def test_link_is_logistic_regression_on_rows(planted, method):
    from sklearn.linear_model import LogisticRegression

    path, graph, labels = planted
    known, hidden = half_known.halves(labels, 0)
    A = graph.to_scipy().toarray()
    features = {"LINK, out": A, "LINK, out and in": np.hstack([A, A.T]), "LINK, W + W^T": A + A.T}[method]
    model = LogisticRegression(max_iter=2_000).fit(features[[u for u, _ in known]], [label for _, label in known])
    right = model.score(features[[u for u, _ in hidden]], [label for _, label in hidden])
    (record,) = half_known.measure({"graph": path, "method": method, "trial": 0})
    assert record["accuracy"] == pytest.approx(right, rel=1e-12)


def test_link_is_left_out_without_scikit_learn(monkeypatch):
    assert half_known.missing_link() == []
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setattr(half_known, "find_spec", lambda _: None)
    assert {task["method"] for task in half_known.tasks("karate", 1)} == set(half_known.OURS)
    assert experiments.EXPERIMENTS["half-known"].notes() == ["Without LINK: pip install scikit-learn"]
