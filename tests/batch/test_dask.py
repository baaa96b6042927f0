"""Jobs over dask.distributed: a scheduler and two worker processes, of which some are killed."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import joblib
import networkx as nx
import pytest

import nx_fastonl as fo
from nx_fastonl.batch import jobs
from tests.batch.shard_files import PATIENCE, shard_files, unfinished, wait_for_shards

distributed = pytest.importorskip("distributed")
protocol = distributed.protocol

ROOT = Path(__file__).resolve().parents[2]
N = 400  # shards of a job that is not over before something happens to it
LARGEST_TASK = 10_000  # bytes


class Messages(distributed.SchedulerPlugin):
    """Notes the tasks that the scheduler sends to workers: their keys, and the bytes that each is sent as."""

    name = "messages"

    def __init__(self):
        self.sizes = {}

    def start(self, scheduler):
        self.scheduler = scheduler

    def transition(self, key, start, finish, *_, **__):
        del start
        if finish == "processing":
            frames = protocol.dumps({"key": key, "run_spec": protocol.ToPickle(self.scheduler.tasks[key].run_spec)})
            self.sizes[key] = sum(memoryview(frame).nbytes for frame in frames)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            local_directory=str(tmp_path_factory.mktemp("dask")),
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "graph"
    fo.CSRGraph.from_networkx(nx.barabasi_albert_graph(N, 3, seed=1)).save(path)
    return fo.CSRGraph.open(path)


@pytest.fixture(scope="module")
def expected(graph, tmp_path_factory):
    """What one process writes, one row per shard."""
    out = tmp_path_factory.mktemp("serial") / "rows"
    run(graph, out)
    return shard_files(out)


def run(G, out):
    return fo.ppr_matrix(G, top_k=20, out=out, rows_per_shard=1)


@pytest.mark.usefixtures("client")
def test_workers_write_the_bytes_that_one_process_writes(graph, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(jobs._Job, "run_here", None)
    with joblib.parallel_config(backend="dask"):
        matrix = run(graph, tmp_path / "rows")
    assert matrix.shape == (N, N)
    assert len(expected) == 4 * N
    assert shard_files(tmp_path / "rows") == expected
    assert not unfinished(tmp_path / "rows")


@pytest.mark.usefixtures("client")
def test_a_graph_without_a_folder(tmp_path):
    G = nx.karate_club_graph()
    with joblib.parallel_config(backend="dask"), pytest.warns(UserWarning, match="it is saved to"):
        matrix = fo.ppr_matrix(G, out=tmp_path / "rows", rows_per_shard=10)
    assert (matrix.to_scipy() != fo.ppr_matrix(G)).nnz == 0
    assert not (tmp_path / "rows" / "graph-for-workers").exists()


@pytest.mark.parametrize("n_sources", [10, 30_000])
def test_what_the_scheduler_sends_is_small(client, graph, tmp_path, n_sources):
    """Whatever the number of sources: neither they nor the graph travel, in the task or on their own."""
    client.register_plugin(Messages())
    try:
        with joblib.parallel_config(backend="dask"):
            fo.ppr_matrix(
                graph,
                [i % N for i in range(n_sources)],
                top_k=2,
                epsilon=0.01,
                out=tmp_path / "rows",
                rows_per_shard=-(-n_sources // jobs.SHARDS),
            )
        (sizes,) = client.run_on_scheduler(lambda dask_scheduler: [dask_scheduler.plugins["messages"].sizes])
    finally:
        client.unregister_scheduler_plugin("messages")
    assert sizes
    n_tasks = 0
    for key, size in sizes.items():
        n_calls = int(re.match(r"batch_of__run_(\d+)_calls-", key)[1])  # joblib sends several tasks at once
        n_tasks += n_calls
        assert size < LARGEST_TASK * n_calls
    assert n_tasks == -(-n_sources // -(-n_sources // jobs.SHARDS))
    most = max(sizes.values())
    sys.stdout.write(f"{n_sources} sources: {len(sizes)} messages for {n_tasks} tasks, of at most {most} bytes\n")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
def test_a_worker_is_killed(client, graph, expected, tmp_path):
    out, at_the_kill = tmp_path / "rows", []

    def kill():
        victim = min(client.run(os.getpid).values())
        wait_for_shards(out, 20)
        os.kill(victim, signal.SIGKILL)
        at_the_kill.append(wait_for_shards(out, 0))

    killer = threading.Thread(target=kill)
    killer.start()
    with joblib.parallel_config(backend="dask"):
        run(graph, out)
    killer.join()
    assert 20 <= at_the_kill[0] < N
    assert shard_files(out) == expected
    client.wait_for_workers(2, timeout=PATIENCE)  # the one that was killed has a successor, and is no zombie
    run(graph, out)
    assert not unfinished(out)
    assert sorted(path.name for path in out.iterdir() if path.is_dir()) == sorted({shard for shard, _ in expected})


@pytest.mark.skipif(os.name != "posix", reason="only there can a process interrupt another one")
def test_an_interrupted_call_goes_on(client, graph, expected, tmp_path, monkeypatch):
    out = tmp_path / "rows"
    code = f"""
        import distributed, joblib
        import nx_fastonl as fo
        from tests.batch.test_dask import run
        with distributed.Client({client.scheduler.address!r}), joblib.parallel_config(backend="dask"):
            run(fo.CSRGraph.open({str(graph.path)!r}), {str(out)!r})
    """
    caller = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    with contextlib.closing(caller.stderr), caller:
        wait_for_shards(out, 20)
        caller.send_signal(signal.SIGINT)
        _, errors = caller.communicate(timeout=PATIENCE)
    assert b"KeyboardInterrupt" in errors
    done, written = {path.name for path in out.glob("rows-*")}, []
    assert 20 <= len(done) < N
    with pytest.raises(ValueError, match="is not complete"):
        fo.open_matrix(out)

    def write(shard, block, original=jobs._write_shard):
        written.append(shard.path.name)
        original(shard, block)

    monkeypatch.setattr(jobs, "_write_shard", write)
    run(graph, out)
    # Workers may have completed some more after the caller was gone.
    assert written
    assert not done.intersection(written)
    assert len(written) == len(set(written))
    assert shard_files(out) == expected
