"""Nothing is lost at whatever call of the operating system something goes wrong."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
@pytest.mark.parametrize("n_points", [36, pytest.param(400, marks=pytest.mark.slow)])
def test_nothing_is_lost_at_any_call(tmp_path, n_points):
    command = [sys.executable, "-W", "ignore", "-m", "tests.crash_points", str(tmp_path), str(n_points)]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    assert found.stdout.endswith("points, 0 lost, 0 do not open, 0 else\n")
    assert int(found.stdout.splitlines()[-1].split()[0]) > 0.5 * n_points
