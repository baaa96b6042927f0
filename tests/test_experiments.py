import os

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import nx_fastonl as fo
from nx_fastonl import _runs, experiments
from nx_fastonl._runs import run_cells
from tests.conftest import DATA

mpl.use("Agg")

UPSTREAM = DATA / "upstream"

CELLS = [{"graph": graph, "trial": trial} for graph in ("a", "b") for trial in range(3)]


def squares(cell):
    return [{"power": power, "value": cell["trial"] ** power + 0.5} for power in (1, 2)]


class TestRuns:
    @pytest.mark.parametrize("jobs", [None, 1, 2])
    def test_rows_in_the_order_of_the_cells(self, tmp_path, jobs):
        frame = run_cells(CELLS, squares, tmp_path / "squares.csv", jobs, progress=False)
        assert list(frame.columns) == ["graph", "trial", "power", "value"]
        assert frame["value"].tolist() == [0.5, 0.5, 1.5, 1.5, 2.5, 4.5] * 2
        assert frame["trial"].dtype == np.int64

    def test_goes_on_where_it_was_stopped(self, tmp_path):
        path = tmp_path / "squares.csv"
        worked_on = []

        def stopped(cell):
            if len(worked_on) == 4:
                raise KeyboardInterrupt
            worked_on.append(cell)
            return squares(cell)

        with pytest.raises(KeyboardInterrupt):
            run_cells(CELLS, stopped, path, None, progress=False)
        assert len(pd.read_csv(path)) == 8

        def resumed(cell):
            worked_on.append(cell)
            return squares(cell)

        frame = run_cells(CELLS, resumed, path, None, progress=False)
        assert worked_on == CELLS  # each once
        pd.testing.assert_frame_equal(frame, run_cells(CELLS, squares, tmp_path / "at-once.csv", None, progress=False))

    def test_cells_of_other_runs_stay_in_the_file(self, tmp_path):
        path = tmp_path / "squares.csv"
        run_cells(CELLS, squares, path, None, progress=False)
        frame = run_cells(CELLS[4:5], squares, path, None, progress=False)
        assert frame["graph"].tolist() == ["b", "b"]
        assert len(pd.read_csv(path)) == 12

    def test_file_of_something_else(self, tmp_path):
        path = tmp_path / "squares.csv"
        path.write_text("name,value\nx,1\n")
        with pytest.raises(
            ValueError, match=r"squares.csv holds other results than these, with columns name, value; move it away"
        ):
            run_cells(CELLS, squares, path, None, progress=False)
        assert path.read_text() == "name,value\nx,1\n"

    def test_two_runs_in_one_file(self, tmp_path):
        path = tmp_path / "squares.csv"

        def beside(cell):
            run_cells(CELLS[3:], squares, path, None, progress=False)
            return squares(cell)

        frame = run_cells(CELLS[:3], beside, path, None, progress=False)
        assert frame["graph"].unique().tolist() == ["a"]
        assert len(frame) == 6
        assert len(pd.read_csv(path)) == 12

    def test_damaged_file(self, tmp_path):
        path = tmp_path / "squares.csv"
        run_cells(CELLS[:1], squares, path, None, progress=False)
        damaged = path.read_text() + "a,1\n"
        path.write_text(damaged)
        with pytest.raises(ValueError, match=r"squares.csv, line 4: not a row of these results; remove it"):
            run_cells(CELLS, squares, path, None, progress=False)
        assert path.read_text() == damaged

    def test_a_write_that_fails_leaves_the_file_as_it_was(self, tmp_path, monkeypatch):
        path = tmp_path / "squares.csv"
        run_cells(CELLS[:1], squares, path, None, progress=False)
        before = path.read_text()

        def full(*_args):
            raise OSError("No space left on device")

        monkeypatch.setattr(_runs.csv.DictWriter, "writerows", full)
        with pytest.raises(OSError, match="No space"):
            run_cells(CELLS, squares, path, None, progress=False)
        assert path.read_text() == before


@pytest.mark.parametrize("name", experiments.EXPERIMENTS)
def test_every_experiment_runs(name, tmp_path):
    frame = experiments.run(name, ["karate"], trials=2, out=tmp_path / "new" / "folder")
    assert len(frame) > 0
    assert frame["graph"].unique().tolist() == ["karate"]
    assert not experiments.summary(name, frame).empty
    assert {path.name for path in (tmp_path / "new" / "folder").iterdir()} == {f"{name}.csv", f"{name}.png"}
    pd.testing.assert_frame_equal(experiments.run(name, ["karate"], trials=2, out=tmp_path / "new" / "folder"), frame)


def test_accuracy_is_that_of_the_labeller(tmp_path):
    frame = experiments.run("accuracy", ["karate"], trials=3, out=tmp_path)
    data = fo.datasets.load_karate()
    for row in frame.itertuples():
        order = np.random.default_rng(row.trial).permutation(34).tolist()
        expected = fo.online_node_labeling(
            data.graph, [(u, data.labels[u]) for u in order], method=row.method, seed=row.trial
        )
        assert row.accuracy == expected.accuracy
    table = experiments.summary("accuracy", frame)
    assert table.loc["karate", "fastonl"] == pytest.approx(frame[frame.method == "fastonl"].accuracy.mean(), abs=1e-4)


def test_operations_stay_below_their_bounds(tmp_path):
    frame = experiments.run("operations", ["karate", "digits"], trials=3, out=tmp_path)
    edges = frame.pivot_table(index=["graph", "source", "epsilon"], columns="quantity", values="edges")
    assert (edges["operations"] <= edges["local bound"]).all()
    assert (edges["operations"] <= edges["worst-case bound"]).all()


def test_power_iteration_reaches_what_is_near_first(tmp_path):
    frame = experiments.run("nnz", ["karate"], trials=5, out=tmp_path)
    lengths = dict(fo.datasets.load_karate(as_networkx=True).graph.adjacency())
    for source, part in frame.groupby("source"):
        assert part["part_reached"].is_monotonic_increasing
        assert part["part_reached"].iloc[1] == pytest.approx((1 + len(lengths[source])) / 34)


def test_quick_needs_no_download_and_few_trials(tmp_path, monkeypatch):
    monkeypatch.setattr(experiments, "QUICK", ("karate",))
    frame = experiments.run("epsilon", quick=True, out=tmp_path)
    assert frame["trial"].max() == 1
    assert {path.name for path in tmp_path.iterdir()} == {"epsilon-quick.csv", "epsilon-quick.png"}


def test_methods_that_are_too_slow_are_left_out(monkeypatch, tmp_path):
    monkeypatch.setitem(experiments.MOST_NODES, "relaxation", 33)
    frame = experiments.run("accuracy", ["karate"], trials=1, out=tmp_path)
    assert "relaxation" not in set(frame["method"])
    assert {"fastonl", "weighted-tree"} <= set(frame["method"])


def test_bad_names(tmp_path):
    with pytest.raises(ValueError, match="unknown experiment 'precision'; there are accuracy, runtime"):
        experiments.run("precision", out=tmp_path)
    with pytest.raises(ValueError, match="unknown dataset 'coro'"):
        experiments.run("accuracy", ["coro"], out=tmp_path)
    with pytest.raises(ValueError, match="trials must be at least 1, got 0"):
        experiments.run("accuracy", trials=0, out=tmp_path)
    with pytest.raises(ValueError, match="jobs must be a positive number, or -1 for one on each core, got 0"):
        experiments.run("accuracy", jobs=0, out=tmp_path)
    with pytest.raises(ValueError, match="graphs is empty"):
        experiments.run("accuracy", [], out=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_one_graph_and_the_trials_that_are_asked_for(tmp_path):
    frame = experiments.run("nnz", "karate", quick=True, trials=3, out=tmp_path)
    assert frame["source"].nunique() == 3


@pytest.mark.skipif(not UPSTREAM.is_dir(), reason=f"the published files are not at {UPSTREAM}")
@pytest.mark.parametrize("jobs", [None, 2])
def test_folder_of_the_datasets(tmp_path, monkeypatch, jobs):
    monkeypatch.setenv("NX_FASTONL_DATA", str(tmp_path))
    frame = experiments.run("nnz", ["citeseer"], trials=2, out=tmp_path / "out", data_home=UPSTREAM, jobs=jobs)
    assert len(frame) == 32
    assert os.environ["NX_FASTONL_DATA"] == str(tmp_path)


def test_more_trials_keep_the_sources(tmp_path):
    few = experiments.run("nnz", "karate", trials=3, out=tmp_path)
    many = experiments.run("nnz", ["karate", "karate"], trials=8, out=tmp_path)
    assert many["source"].unique()[:3].tolist() == few["source"].unique().tolist()
    assert len(pd.read_csv(tmp_path / "nnz.csv")) == len(many) == 8 * 16
