import numpy as np
import pandas as pd
import pytest

from nx_fastonl.experiments import runner
from nx_fastonl.experiments.runner import run_tasks

TASKS = [{"graph": graph, "trial": trial} for graph in ("a", "b") for trial in range(3)]


def powers(task):
    return [{"power": power, "value": task["trial"] ** power + 0.5} for power in (1, 2)]


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
def test_records_are_in_the_order_of_the_tasks(tmp_path, n_jobs):
    frame = run_tasks(TASKS, powers, tmp_path / "powers.csv", n_jobs, progress=False)
    assert list(frame.columns) == ["graph", "trial", "power", "value"]
    assert frame["value"].tolist() == [0.5, 0.5, 1.5, 1.5, 2.5, 4.5] * 2
    assert frame["trial"].dtype == np.int64


def test_a_stopped_run_is_resumed(tmp_path):
    path = tmp_path / "powers.csv"
    worked_on = []

    def stopped(task):
        if len(worked_on) == 4:
            raise KeyboardInterrupt
        worked_on.append(task)
        return powers(task)

    with pytest.raises(KeyboardInterrupt):
        run_tasks(TASKS, stopped, path, None, progress=False)
    assert len(pd.read_csv(path)) == 8

    def resumed(task):
        worked_on.append(task)
        return powers(task)

    frame = run_tasks(TASKS, resumed, path, None, progress=False)
    assert worked_on == TASKS  # each once
    pd.testing.assert_frame_equal(frame, run_tasks(TASKS, powers, tmp_path / "at-once.csv", None, progress=False))


def test_records_of_other_tasks_stay_in_the_file(tmp_path):
    path = tmp_path / "powers.csv"
    run_tasks(TASKS, powers, path, None, progress=False)
    frame = run_tasks(TASKS[4:5], powers, path, None, progress=False)
    assert frame["graph"].tolist() == ["b", "b"]
    assert len(pd.read_csv(path)) == 12


def test_two_runs_write_to_one_file(tmp_path):
    path = tmp_path / "powers.csv"

    def beside(task):
        run_tasks(TASKS[3:], powers, path, None, progress=False)
        return powers(task)

    frame = run_tasks(TASKS[:3], beside, path, None, progress=False)
    assert frame["graph"].unique().tolist() == ["a"]
    assert len(frame) == 6
    assert len(pd.read_csv(path)) == 12


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("name,value\nx,1\n", "powers.csv holds other results than these, with columns name, value; move it away"),
        ("graph,trial,power,value\na,0,1,0.5\na,1\n", "powers.csv, line 3: not a record of these results; remove it"),
    ],
    ids=["other results", "half a record"],
)
def test_a_file_that_is_not_understood_is_left_alone(tmp_path, content, message):
    path = tmp_path / "powers.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        run_tasks(TASKS, powers, path, None, progress=False)
    assert path.read_text() == content


def test_a_write_that_fails_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "powers.csv"
    run_tasks(TASKS[:1], powers, path, None, progress=False)
    before = path.read_text()

    def full(*_args):
        raise OSError("No space left on device")

    monkeypatch.setattr(runner.csv.DictWriter, "writerows", full)
    with pytest.raises(OSError, match="No space"):
        run_tasks(TASKS, powers, path, None, progress=False)
    assert path.read_text() == before


def test_progress_counts_tasks(tmp_path, capsys):
    run_tasks(TASKS, powers, tmp_path / "powers.csv", None, progress=True)
    shown = capsys.readouterr().err
    assert "powers:" in shown
    assert "0/6 [" in shown
    assert "task/s" in shown
