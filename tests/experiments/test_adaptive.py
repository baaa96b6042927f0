import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nx_fastonl as fo
from nx_fastonl import datasets, experiments
from nx_fastonl.experiments import adaptive


def karate_stream(trial, arrivals=34):
    data = datasets.load_karate()
    order = np.random.default_rng(trial).permutation(34).tolist()[:arrivals]
    return data.graph, [(u, data.labels[u]) for u in order]


def test_every_method_is_that_of_the_labeller(tmp_path, monkeypatch):
    monkeypatch.setattr(adaptive, "MAX_ARRIVALS", 20)
    frame = experiments.run("adaptive", "karate", trials=2, out=tmp_path)
    assert len(frame) == 2 * (3 + 6 * 5)
    assert set(frame["arrivals"]) == {20}
    for row in frame[frame["method"] != "most frequent"].itertuples():
        graph, stream = karate_stream(row.trial, 20)
        kernel, at, smoothness = row.method.partition(" at ")
        options = {"method": "fastonl" if at else row.method}
        if at:
            options |= {"kernel": kernel, "smoothness": float(smoothness)}
        expected = fo.online_node_labeling(graph, stream, seed=row.trial, **options)
        assert row.accuracy == pytest.approx(expected.accuracy, rel=1e-15)
        assert row.seconds >= 0.0
        if row.method == "adaptive":
            assert row.calibration_error == pytest.approx(expected.calibration().error, rel=1e-12)
            assert row.log_loss == pytest.approx(expected.log_loss, rel=1e-12)
        elif at:
            assert np.isnan(row.calibration_error)


def test_shares_of_fastonl_are_taken_for_probabilities(tmp_path):
    frame = experiments.run("adaptive", "karate", trials=1, out=tmp_path)
    graph, stream = karate_stream(0)
    shares, right, losses, seen = [], [], [], set()
    model = fo.OnlineNodeLabeler(graph, method="fastonl", seed=0)
    for node, label in stream:
        distribution = model.predict_proba_one(node)
        model.learn_one(node, label)
        best = max(distribution, key=distribution.get) if distribution else None
        shares.append(distribution.get(best, 0.0))
        right.append(best == label)
        if label in seen:
            losses.append(-np.log(distribution[label]))
        seen.add(label)
    error = 0.0
    for low in np.arange(10) / 10:
        inside = [i for i, share in enumerate(shares) if low <= share < low + 0.1 or (low == 0.9 and share == 1.0)]
        if inside:
            error += abs(np.mean([shares[i] for i in inside]) - np.mean([right[i] for i in inside])) * len(inside)
    row = frame[frame["method"] == "fastonl"].iloc[0]
    assert row["calibration_error"] == pytest.approx(error / 34, rel=1e-9)
    assert row["log_loss"] == pytest.approx(np.mean(losses), rel=1e-9)


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=40))
def test_most_frequent_label(labels):
    right = 0
    for t, label in enumerate(labels[1:], start=1):
        before = labels[:t]
        right += label == max(dict.fromkeys(before), key=before.count)
    assert adaptive.frequency_accuracy(labels) == right / len(labels)


def test_pairs_that_the_package_refuses_are_left_out(monkeypatch):
    monkeypatch.setattr(adaptive, "SMOOTHNESSES", (0.5, 2.0))
    names = set(adaptive.pairs(34))
    assert "K4 at 2.0" not in names
    assert names == {f"K{i} at {s}" for i in range(1, 7) for s in (0.5, 2.0)} - {"K4 at 2.0"}


def test_summary():
    columns = ["graph", "method", "trial", "arrivals", "accuracy", "seconds", "calibration_error", "log_loss"]
    nan = float("nan")
    rows = [
        ("b", "adaptive", 0, 9, 0.8, 4.0, 0.02, 0.3),
        ("b", "fastonl", 0, 9, 0.5, 2.0, 0.3, 0.9),
        ("b", "most frequent", 0, 9, 0.4, nan, nan, nan),
        ("b", "K1 at 0.1", 0, 9, 0.7, 9.0, nan, nan),
        ("b", "K2 at 0.1", 0, 9, 0.6, 9.0, nan, nan),
        ("b", "adaptive", 1, 9, 0.9, 3.0, 0.04, 0.3),
        ("b", "fastonl", 1, 9, 0.6, 2.0, 0.5, 0.9),
        ("b", "most frequent", 1, 9, 0.2, nan, nan, nan),
        ("b", "K1 at 0.1", 1, 9, 0.7, 9.0, nan, nan),
        ("b", "K2 at 0.1", 1, 9, 0.9, 9.0, nan, nan),
        ("a", "adaptive", 0, 5, 0.1, 1.0, 0.5, 0.3),
        ("a", "fastonl", 0, 5, 0.2, 4.0, 0.5, 0.9),
        ("a", "most frequent", 0, 5, 0.3, nan, nan, nan),
        ("a", "K1 at 0.1", 0, 5, 0.4, 9.0, nan, nan),
    ]
    table = experiments.summary("adaptive", pd.DataFrame(rows, columns=columns))
    assert table.index.tolist() == ["b", "a"]
    expected = [9, 0.85, 0.55, 0.3, "K2 at 0.1", 0.75, 0.1, 0.3, 0.03, 0.4, 3.0, 1.5]  # the pair of both trials
    assert table.loc["b"].tolist() == expected
    assert table.loc["a"].tolist() == [5, 0.1, 0.2, -0.1, "K1 at 0.1", 0.4, -0.3, 0.3, 0.5, 0.5, 1.0, 0.25]
