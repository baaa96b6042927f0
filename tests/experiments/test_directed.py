import numpy as np
import pandas as pd
import pytest

import nx_fastonl as fo
from nx_fastonl import datasets, experiments
from nx_fastonl.experiments import directed, graphs

NAN = float("nan")


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A file with a directed graph in which every label points to the next; the graph and its labels."""
    table = [[1, 9, 1], [1, 1, 9], [9, 1, 1]]
    data = datasets.planted_partition(120, compatibility=table, mean_degree=6, exponent=None, directed=True, seed=0)
    labels = np.array(list(data.labels.values()))
    labels[::10] = -1
    path = tmp_path_factory.mktemp("planted") / "planted.npz"
    np.savez(path, indptr=data.graph.indptr, indices=data.graph.indices, labels=labels)
    graphs._load.cache_clear()
    return str(path), data.graph, {u: label for u, label in enumerate(labels.tolist()) if label != -1}


@pytest.fixture(scope="module")
def frame(planted, tmp_path_factory):
    return experiments.run("directed", planted[0], trials=2, out=tmp_path_factory.mktemp("out"))


def stream_of(labels, trial):
    nodes = list(labels)
    return [(nodes[i], labels[nodes[i]]) for i in np.random.default_rng(trial).permutation(len(nodes))]


def test_every_method_is_that_of_the_labeller(planted, frame):
    _, graph, labels = planted
    options = {
        "adaptive": {"method": "adaptive"},
        "adaptive, arrows ignored": {"method": "adaptive", "direction": "ignore"},
        "fastonl": {"method": "fastonl", "direction": "ignore"},
        "weighted-majority": {"method": "weighted-majority"},
    }
    assert frame["method"].unique().tolist() == [*options, "most frequent"]
    assert set(frame["arrivals"]) == {len(labels)} == {108}
    for row in frame[frame["method"] != "most frequent"].itertuples():
        expected = fo.online_node_labeling(graph, stream_of(labels, row.trial), seed=row.trial, **options[row.method])
        assert row.accuracy == pytest.approx(expected.accuracy, rel=1e-15)
        assert row.seconds >= 0.0
        if "adaptive" in row.method:
            assert row.calibration_error == pytest.approx(expected.calibration().error, rel=1e-12)
        else:
            assert np.isnan([row.calibration_error, row.coverage, row.set_size]).all()


def test_arrows_are_kept(frame):
    means = frame.groupby("method")["accuracy"].mean()
    assert means["adaptive"] > means["adaptive, arrows ignored"] + 0.05


def test_sets_are_those_that_come_before_each_label(planted, frame):
    _, graph, labels = planted
    model = fo.OnlineNodeLabeler(graph, seed=1)
    sets = []
    for node, label in stream_of(labels, 1):
        sets.append((label, model.predict_set_one(node, 0.9)))
        model.learn_one(node, label)
    row = frame[(frame["method"] == "adaptive") & (frame["trial"] == 1)].iloc[0]
    assert row["coverage"] == pytest.approx(np.mean([label in found for label, found in sets]), rel=1e-12)
    assert row["set_size"] == pytest.approx(np.mean([len(found) for _, found in sets]), rel=1e-12)


def test_most_frequent_label(planted, frame):
    labels = [label for _, label in stream_of(planted[2], 0)]
    right = sum(
        label == max(dict.fromkeys(labels[:t]), key=labels[:t].count) for t, label in enumerate(labels[1:], start=1)
    )
    row = frame[(frame["method"] == "most frequent") & (frame["trial"] == 0)].iloc[0]
    assert row["accuracy"] == pytest.approx(right / len(labels), rel=1e-12)


def test_summary():
    columns = [
        *("graph", "method", "trial", "arrivals", "accuracy", "seconds", "calibration_error", "coverage", "set_size")
    ]
    rows = [
        ("b", "adaptive", 0, 9, 0.8, 4.0, 0.02, 0.91, 1.5),
        ("b", directed.IGNORED, 0, 9, 0.7, 2.0, 0.03, 0.89, 2.5),
        ("b", "fastonl", 0, 9, 0.5, 9.0, NAN, NAN, NAN),
        ("b", "weighted-majority", 0, 9, 0.6, 9.0, NAN, NAN, NAN),
        ("b", "most frequent", 0, 9, 0.4, NAN, NAN, NAN, NAN),
        ("b", "adaptive", 1, 9, 0.9, 3.0, 0.04, 0.93, 1.7),
        ("b", directed.IGNORED, 1, 9, 0.8, 3.0, 0.05, 0.87, 2.7),
        ("b", "fastonl", 1, 9, 0.6, 9.0, NAN, NAN, NAN),
        ("b", "weighted-majority", 1, 9, 0.6, 9.0, NAN, NAN, NAN),
        ("b", "most frequent", 1, 9, 0.2, NAN, NAN, NAN, NAN),
        ("a", "adaptive", 0, 5, 0.1, 1.0, 0.5, 0.6, 3.0),
        ("a", directed.IGNORED, 0, 5, 0.2, 4.0, 0.5, 0.7, 3.0),
        ("a", "fastonl", 0, 5, 0.3, 9.0, NAN, NAN, NAN),
        ("a", "weighted-majority", 0, 5, 0.4, 9.0, NAN, NAN, NAN),
        ("a", "most frequent", 0, 5, 0.5, NAN, NAN, NAN, NAN),
    ]
    table = experiments.summary("directed", pd.DataFrame(rows, columns=columns))
    assert table.index.tolist() == ["b", "a"]
    expected = [9, 0.85, 0.75, 0.1, 0.55, 0.3, 0.6, 0.3, 0.03, 0.04, 0.92, 0.88, 1.6, 2.6, 3.0, 1.5]
    assert table.loc["b"].tolist() == pytest.approx(expected, abs=1e-12)
    expected = [5, 0.1, 0.2, -0.1, 0.3, -0.2, 0.4, 0.5, 0.5, 0.5, 0.6, 0.7, 3.0, 3.0, 1.0, 0.25]
    assert table.loc["a"].tolist() == pytest.approx(expected, abs=1e-12)
