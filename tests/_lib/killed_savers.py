"""Processes that save to one folder, and are killed: run as a script, since only a process without threads may fork.

``python -m tests._lib.killed_savers FOLDER 200`` prints how many of 200 processes replaced what was saved before, and
what another process read beside one that saved.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np

from nx_fastonl._lib.folders import Content, check_sums, open_folder, write_folder

KIND = "a test"
SAVES = 3  # that a process has time for, at most


def content(value, size=5):
    return Content({"value": value}, {"numbers": np.full(size, value), "none": np.empty((0, 3))}, {"more": 1}, {})


def value_in(folder):
    """What was saved, if it is whole."""
    found = open_folder(folder, KIND, 1)
    check_sums(found)
    assert (found.content.arrays["numbers"] == found.content.details["value"]).all()
    return found.content.details["value"]


def kill_savers(folder, kills):
    """Kill processes at random moments. The folder then has what was saved before, or what came after: whole."""
    draw = random.Random(1)
    start = time.perf_counter()
    write_folder(folder.with_name("timed"), KIND, 1, content(0, size=20_000))
    longest = SAVES * (time.perf_counter() - start)
    latest, replaced = -1, 0
    for _ in range(kills):
        child = os.fork()
        if child == 0:
            for value in range(latest + 1, sys.maxsize):
                write_folder(folder, KIND, 1, content(value, size=20_000))
        time.sleep(draw.random() * longest)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        try:
            found = value_in(folder)
        except FileNotFoundError:
            assert latest == -1, "what was saved is gone"
            continue
        assert found >= latest, f"{found} was saved before {latest}"
        replaced += found > latest
        latest = found
    return replaced


def read_beside_a_saver(folder):
    """Read while another process saves; return what was read."""
    write_folder(folder, KIND, 1, content(0))
    child = os.fork()
    if child == 0:
        for value in range(1, 100):
            write_folder(folder, KIND, 1, content(value, size=100))
        os._exit(0)
    seen = []
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        seen.append(value_in(folder))
    return [*seen, value_in(folder)]


if __name__ == "__main__":
    place = Path(sys.argv[1])
    lines = [
        str(kill_savers(place / "killed", int(sys.argv[2]))),
        " ".join(map(str, read_beside_a_saver(place / "beside"))),
    ]
    sys.stdout.write("\n".join(lines))
