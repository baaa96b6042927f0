"""Processes that are killed at random moments."""

import os
import select
import signal
import time

PATIENCE = 60.0  # seconds


def kill_at_random(child, reader, draw, longest):
    """Kill a forked process after at most so many seconds; every other time, only once it has written to its pipe.

    So on a machine that is busy, too, half of them have done something.
    """
    if draw.random() < 0.5:
        select.select([reader], [], [], PATIENCE)
    time.sleep(draw.random() * longest)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
