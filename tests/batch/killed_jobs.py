"""Processes that write the rows of a job, and are killed: a script, since only one thread may fork.

``python -m tests.batch.killed_jobs FOLDER 200`` kills 200 processes at random moments. Each goes on with the job that
the one before has left. What is complete of it is compared with rows that were computed in memory, after each kill. A
job that is complete is followed by another one. It prints how many processes were killed, how many of them in the
middle of a shard, how many jobs were completed, and how many shards were compared for the first time.
"""

import os
import random
import shutil
import sys
import time
import traceback
from pathlib import Path

import networkx as nx
import numpy as np

import nx_fastonl as fo
from nx_fastonl._lib.folders import check_sums, open_folder
from nx_fastonl.batch import jobs
from nx_fastonl.batch.matrix import KIND, SHARD_KIND, VERSION, open_shard, shard_name
from tests.batch.shard_files import unfinished
from tests.killing import kill_at_random

ROWS_PER_SHARD = 3
# A process has time for at most this fraction of a job.
LONGEST = 0.4


def graph():
    G = nx.barabasi_albert_graph(60, 3, seed=1)
    return nx.relabel_nodes(G, {u: f"node {u}" for u in range(0, 60, 2)})


# What jobs compute, in turn.
KINDS = (
    lambda G, **options: fo.ppr_matrix(G, top_k=10, **options),
    lambda G, **options: fo.kernel_matrix(G, list(G)[::-1], "scaled-laplacian", S=np.linspace(1, 2, 60), **options),
    lambda G, **options: fo.ppr_matrix(G, tol=1e-3, dtype="float32", n_jobs=2, **options),
)


def work(G, kind, path, pipe):
    """Go on with a job, report each shard that is complete, and end the process."""

    def write(shard, block, original=jobs._write_shard):
        original(shard, block)
        os.write(pipe, b".")

    try:
        jobs._write_shard = write
        KINDS[kind](G, out=path, rows_per_shard=ROWS_PER_SHARD)
    except BaseException:  # noqa: BLE001  the parent raises an error
        os.write(pipe, traceback.format_exc().encode())
    finally:
        os._exit(0)


def n_reported(reader):
    content = b""
    while block := os.read(reader, 1 << 16):
        content += block
    assert not content.strip(b"."), content.decode()
    return len(content)


def complete_shards(path, expected):
    """The shards that are complete, by their first rows; each is compared with the rows that it must have."""
    starts = range(0, expected.shape[0], ROWS_PER_SHARD)
    found = [first for first in starts if (path / shard_name(first, first + ROWS_PER_SHARD)).exists()]
    assert len(found) == len(list(path.glob("rows-*"))), "a shard has rows that no shard has"
    if found:
        job = open_folder(path, KIND, VERSION).fingerprint
    for first in found:
        last = first + ROWS_PER_SHARD
        shard = path / shard_name(first, last)
        check_sums(open_folder(shard, SHARD_KIND, VERSION))
        block, rows = open_shard(shard, job, first, last, expected.shape[1]), expected[first:last]
        for array, right in ((block.offsets, rows.indptr), (block.columns, rows.indices), (block.values, rows.data)):
            assert array.tolist() == right.tolist(), f"{shard} is complete, and wrong"
    return found


def finish(G, kind, path, expected):
    """Compute what is missing of a job, compare all of it, and remove it."""
    matrix = KINDS[kind](G, out=path, rows_per_shard=ROWS_PER_SHARD)
    assert (matrix.to_scipy() != expected).nnz == 0
    assert matrix.dtype == expected.dtype
    assert list(matrix.nodes) == list(G)
    assert not unfinished(path)
    shutil.rmtree(path)


def kill_jobs(path, kills):
    draw, G = random.Random(1), graph()
    expected = [compute(G) for compute in KINDS]
    began = time.perf_counter()
    KINDS[0](G, out=path, rows_per_shard=ROWS_PER_SHARD)
    longest = LONGEST * (time.perf_counter() - began)
    shutil.rmtree(path)
    kind, before, in_a_shard, n_jobs, n_shards = 0, [], 0, 0, 0
    for _ in range(kills):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            work(G, kind, path, writer)
        os.close(writer)
        kill_at_random(child, reader, draw, longest)
        reported = n_reported(reader)
        os.close(reader)
        found = complete_shards(path, expected[kind])
        assert set(before) <= set(found), "a shard that was complete is gone"
        assert len(found) >= len(before) + reported, "a shard that was reported is not there"
        in_a_shard += any(name.endswith(f"-{child}@{jobs._machine()}") for name in unfinished(path))
        n_shards += len(found) - len(before)
        before = found
        if len(found) == len(range(0, expected[kind].shape[0], ROWS_PER_SHARD)):
            finish(G, kind, path, expected[kind])
            n_jobs, kind, before = n_jobs + 1, (kind + 1) % len(KINDS), []
    if path.exists():
        finish(G, kind, path, expected[kind])
        n_jobs += 1
    assert in_a_shard or kills < 100, "no process was killed in the middle of a shard"
    return kills, in_a_shard, n_jobs, n_shards


if __name__ == "__main__":
    sys.stdout.write(" ".join(map(str, kill_jobs(Path(sys.argv[1]), int(sys.argv[2])))))
