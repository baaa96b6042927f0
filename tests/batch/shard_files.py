"""What a job has written, to be compared to the byte."""

import time

PATIENCE = 60.0  # seconds


def shard_files(out):
    """The bytes of every array of every shard that is complete, by shard and array. Names of files differ each time."""
    files = sorted(out.glob("rows-*/*.npy"))
    return {(file.parent.name, file.name.partition("-")[0]): file.read_bytes() for file in files}


def unfinished(out):
    """The names of the shards that nobody has completed."""
    return sorted(path.name for path in out.glob(".part-*"))


def wait_for_shards(out, n):
    """Wait until a job has completed n shards; return how many it has."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = len(list(out.glob("rows-*")))
        if found >= n:
            return found
        time.sleep(0.005)
    raise TimeoutError(f"{out} has not {n} shards after {PATIENCE} seconds")
