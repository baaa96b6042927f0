"""Jobs whose processes are killed, or whose folders are damaged."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.draws import data_of
from tests.fuzz.workers import run_one

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
def test_killed_jobs_go_on(tmp_path):
    command = [sys.executable, "-m", "tests.batch.killed_jobs", str(tmp_path / "rows"), "20"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    kills, _, n_jobs, n_shards = map(int, found.stdout.split())
    assert kills == 20
    assert n_jobs > 0
    assert n_shards > 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_forked_children_read_rows_and_remove_none(tmp_path):
    command = [sys.executable, "-W", "ignore", "-m", "tests.batch.forked_jobs", str(tmp_path)]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (found.stdout, found.stderr) == ("3 7", "")


def test_damaged_folders_are_refused_or_safe_to_read():
    found = [run_one("matrices", data_of(seed)) for seed in range(200)]
    assert [failure for _, failure in found if failure] == []
    assert len({passed for passed, _ in found}) == 2  # some were refused, others were read
