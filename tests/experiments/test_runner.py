import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

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


def test_a_run_waits_while_another_one_writes(tmp_path, monkeypatch):
    path = tmp_path / "powers.csv"
    writing, written = threading.Event(), threading.Event()

    def write(path, records, original=runner._write):
        if not writing.is_set():  # the first: it has read the file, and gives the other one time to change it
            writing.set()
            written.wait(timeout=1)
            original(path, records)
        else:
            original(path, records)
            written.set()

    def later(task):
        assert writing.wait(timeout=60)
        return powers(task)

    monkeypatch.setattr(runner, "_write", write)
    with ThreadPoolExecutor(2) as threads:
        runs = [
            threads.submit(run_tasks, TASKS[:1], powers, path, None, progress=False),
            threads.submit(run_tasks, TASKS[3:4], later, path, None, progress=False),
        ]
        assert [len(run.result(timeout=60)) for run in runs] == [2, 2]
    assert sorted(pd.read_csv(path)["graph"]) == ["a", "a", "b", "b"]


def test_two_processes_write_to_one_file(tmp_path):
    program = (
        "import pathlib, sys\n"
        "from nx_fastonl.experiments.runner import run_tasks\n"
        "tasks = [{'graph': sys.argv[2], 'trial': trial} for trial in range(30)]\n"
        "sys.stdin.readline()\n"
        "run_tasks(tasks, lambda task: [{'value': 1}], pathlib.Path(sys.argv[1]), None, progress=False)\n"
    )
    path = tmp_path / "powers.csv"
    command = [sys.executable, "-c", program, path]
    pipe = subprocess.PIPE
    with subprocess.Popen([*command, "a"], stdin=pipe) as one, subprocess.Popen([*command, "b"], stdin=pipe) as two:
        for process in (one, two):
            process.stdin.write(b"go\n")
            process.stdin.close()
        assert [process.wait(timeout=100) for process in (one, two)] == [0, 0]
    frame = pd.read_csv(path)
    assert len(frame.drop_duplicates()) == len(frame) == 60


@pytest.mark.parametrize("n_jobs", [2**31, 10**100])
def test_more_processes_than_tasks(tmp_path, n_jobs):
    assert len(run_tasks(TASKS[:2], powers, tmp_path / "powers.csv", n_jobs, progress=False)) == 4
    assert len(run_tasks(TASKS[:2], powers, tmp_path / "powers.csv", n_jobs, progress=False)) == 4


def test_a_file_that_a_program_for_tables_saved(tmp_path):
    path = tmp_path / "powers.csv"
    run_tasks(TASKS[:1], powers, path, None, progress=False)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert len(run_tasks(TASKS[:2], powers, path, None, progress=False)) == 4


def test_names_outside_of_ascii(tmp_path):
    """The file is in UTF-8, whatever the machine's own encoding is."""
    program = (
        "import pathlib, sys\n"
        "from nx_fastonl.experiments.runner import run_tasks\n"
        "tasks = [{'graph': chr(0xc5)}]\n"
        "for _ in range(2):\n"
        "    run_tasks(tasks, lambda task: [{'value': 1}], pathlib.Path(sys.argv[1]), None, progress=False)\n"
    )
    latin = {**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    path = tmp_path / "powers.csv"
    subprocess.run([sys.executable, "-X", "utf8=0", "-c", program, path], env=latin, check=True, timeout=60)
    assert path.read_text("utf-8").splitlines()[1:] == ["Å,1"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("name,value\nx,1\n", "powers.csv holds other results than these, with columns name, value; move it away"),
        ("graph,trial,power,value\na,0,1,0.5\na,1\n", "powers.csv, line 3: not a record of these results; remove it"),
        ("graph,trial,power,value\na,0,1,\xff\n", "powers.csv is not a table in UTF-8; move it away"),
        (f"graph,trial\na,{'1' * 200_000}\n", "powers.csv is not a table in UTF-8; move it away"),
        (
            ",".join(f"c{i}" for i in range(10_000)),
            r"with columns c0, c1, c2, .*\.\.\. \(68,888 characters\); move it away",
        ),
    ],
    ids=["other results", "half a record", "Latin-1", "a long cell", "many columns"],
)
def test_a_file_that_is_not_understood_is_left_alone(tmp_path, content, message):
    path = tmp_path / "powers.csv"
    path.write_text(content, "latin-1")
    with pytest.raises(ValueError, match=message):
        run_tasks(TASKS, powers, path, None, progress=False)
    assert path.read_text("latin-1") == content


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
