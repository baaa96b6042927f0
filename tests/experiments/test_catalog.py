import dataclasses
import os
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import nx_fastonl as fo
from nx_fastonl import datasets, experiments
from nx_fastonl.experiments import labeling
from tests.conftest import dataset

mpl.use("Agg")


def files_in(folder):
    """The names of the files, without those of locks."""
    return [path.name for path in folder.iterdir() if path.suffix != ".lock"]


@pytest.mark.slow
@pytest.mark.parametrize("name", experiments.EXPERIMENTS)
def test_every_experiment_runs(name, tmp_path):
    folder = tmp_path / "new" / "folder"
    frame = experiments.run(name, ["karate"], trials=2, out=folder)
    assert len(frame) > 0
    assert frame["graph"].unique().tolist() == ["karate"]
    assert not experiments.summary(name, frame).empty
    assert set(files_in(folder)) == {f"{name}.csv", f"{name}.png"}
    assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    pd.testing.assert_frame_equal(experiments.run(name, ["karate"], trials=2, out=folder), frame)


def test_accuracy_is_that_of_the_labeller(tmp_path):
    frame = experiments.run("accuracy", ["karate"], trials=3, out=tmp_path)
    data = datasets.load_karate()
    for row in frame.itertuples():
        order = np.random.default_rng(row.trial).permutation(34).tolist()
        expected = fo.online_node_labeling(
            data.graph, [(u, data.labels[u]) for u in order], method=row.method, seed=row.trial
        )
        # Before version 3.1, pandas makes numbers of texts with an error in the last digit.
        assert row.accuracy == pytest.approx(expected.accuracy, rel=1e-15)
    table = experiments.summary("accuracy", frame)
    assert table.loc["karate", "fastonl"] == pytest.approx(frame[frame.method == "fastonl"].accuracy.mean(), abs=1e-4)


def test_error_curves_end_at_the_error_rate(tmp_path):
    curves = experiments.run("error-curves", ["karate"], trials=2, out=tmp_path)
    accuracies = experiments.run("accuracy", ["karate"], trials=2, out=tmp_path)
    ends = curves[curves["nodes_seen"] == 34].set_index(["method", "trial"])["error_rate"]
    expected = 1.0 - accuracies.set_index(["method", "trial"])["accuracy"]
    pd.testing.assert_series_equal(ends, expected, check_names=False)


def test_operations_stay_below_their_bounds(tmp_path):
    frame = experiments.run("operations", ["karate", "digits"], trials=3, out=tmp_path)
    edges = frame.pivot_table(index=["graph", "source", "epsilon"], columns="quantity", values="edges")
    assert (edges["operations"] <= edges["local bound"]).all()
    assert (edges["operations"] <= edges["worst-case bound"]).all()


def test_power_iteration_reaches_what_is_near_first(tmp_path):
    frame = experiments.run("nnz", ["karate"], trials=5, out=tmp_path)
    neighbours = dict(datasets.load_karate(as_networkx=True).graph.adjacency())
    for source, records in frame.groupby("source"):
        assert records["fraction_reached"].is_monotonic_increasing
        assert records["fraction_reached"].iloc[1] == pytest.approx((1 + len(neighbours[source])) / 34)


def test_kernels_run_with_the_smoothness_that_they_allow():
    swept = {}
    for task in experiments.EXPERIMENTS["smoothness"].tasks("karate", 1):
        swept.setdefault(task["kernel"], []).append(task["smoothness"])
    assert (min(swept["K1"]), max(swept["K1"])) == (0.05, 20.0)
    assert swept["K2"] == swept["K3"] == list(labeling.SMOOTHNESSES)
    assert (min(swept["K4"]), max(swept["K4"])) == (0.01, 0.9)


def test_quick_needs_no_download_and_few_trials(tmp_path, monkeypatch):
    quick = dataclasses.replace(experiments.EXPERIMENTS["epsilon"], quick=("karate",))
    monkeypatch.setitem(experiments.EXPERIMENTS, "epsilon", quick)
    frame = experiments.run("epsilon", quick=True, out=tmp_path)
    assert frame["trial"].max() == 1
    assert set(files_in(tmp_path)) == {"epsilon-quick.csv", "epsilon-quick.png"}


def test_methods_that_are_too_slow_are_left_out(monkeypatch, tmp_path):
    monkeypatch.setitem(labeling.METHOD_MAX_NODES, "relaxation", 33)
    frame = experiments.run("accuracy", ["karate"], trials=1, out=tmp_path)
    assert "relaxation" not in set(frame["method"])
    assert {"fastonl", "weighted-tree"} <= set(frame["method"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "precision"}, "unknown experiment 'precision'; there are accuracy, runtime"),
        ({"graphs": ["coro"]}, "unknown dataset 'coro'"),
        ({"trials": 0}, "trials must be at least 1, got 0"),
        ({"n_jobs": 0}, "n_jobs must be a positive number, or -1 for one per core, got 0"),
        ({"graphs": []}, "graphs is empty"),
        ({"name": ["accuracy"]}, r"unknown experiment \['accuracy'\]; there are accuracy, runtime"),
        ({"name": "x" * 1_000}, r"unknown experiment 'x{119}\.\.\. \(1,002 characters\); there are"),
        ({"trials": 10**400}, "trials must be at most 100000, got an integer of about 401 digits"),
        ({"n_jobs": 10**400}, "n_jobs must be at most"),
    ],
)
def test_bad_arguments(tmp_path, arguments, message):
    with pytest.raises(ValueError, match=message):
        experiments.run(**{"name": "accuracy", "out": tmp_path, **arguments})
    assert list(tmp_path.iterdir()) == []


def test_one_graph_and_the_trials_that_are_asked_for(tmp_path):
    frame = experiments.run("nnz", "karate", quick=True, trials=3, out=tmp_path)
    assert frame["source"].nunique() == 3


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_folder_of_the_datasets(tmp_path, monkeypatch, n_jobs):
    dataset("citeseer")
    folder = datasets.data_folder()
    monkeypatch.setenv(datasets.DATA_HOME, str(tmp_path))
    frame = experiments.run("nnz", ["citeseer"], trials=2, out=tmp_path / "out", data_home=folder, n_jobs=n_jobs)
    assert len(frame) == 32
    assert os.environ[datasets.DATA_HOME] == str(tmp_path)


def test_more_trials_keep_the_sources(tmp_path):
    few = experiments.run("nnz", "karate", trials=3, out=tmp_path)
    many = experiments.run("nnz", ["karate", "karate"], trials=8, out=tmp_path)
    assert many["source"].unique()[:3].tolist() == few["source"].unique().tolist()
    assert len(pd.read_csv(tmp_path / "nnz.csv")) == len(many) == 8 * 16


def test_a_picture_that_fails_leaves_no_half_of_it(tmp_path, monkeypatch):
    def fail(*_args, **_options):
        raise OSError("No space left on device")

    monkeypatch.setattr("matplotlib.backends.backend_agg.FigureCanvasAgg.print_png", fail)
    with pytest.raises(OSError, match="No space"):
        experiments.run("nnz", "karate", trials=1, out=tmp_path)
    assert files_in(tmp_path) == ["nnz.csv"]


def test_import_alone_loads_nothing_heavy():
    program = "import sys, nx_fastonl.experiments; print({'numpy', 'networkx', 'pandas'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "set()\n"
