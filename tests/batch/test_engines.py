"""Jobs over joblib: other processes write, byte for byte, what one process writes."""

import os
import pickle
import signal
import subprocess
import sys
import threading

import joblib
import networkx as nx
import numpy as np
import pandas as pd
import pytest

import nx_fastonl as fo
from nx_fastonl import experiments
from nx_fastonl.batch import jobs
from nx_fastonl.batch.engines import is_elsewhere
from nx_fastonl.experiments.runner import run_tasks
from tests.batch.shard_files import shard_files, unfinished, wait_for_shards

N, ROWS_PER_SHARD = 90, 20
LARGEST_TASK = 10_000  # bytes


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "graph"
    fo.CSRGraph.from_networkx(nx.barabasi_albert_graph(N, 3, seed=1)).save(path)
    return fo.CSRGraph.open(path)


@pytest.fixture
def _not_here(monkeypatch):
    """Rows cannot be computed in this process."""
    monkeypatch.setattr(jobs._Job, "run_here", None)


def diagonal():
    return np.linspace(1.0, 3.0, N)


CALLS = {
    "ppr": lambda G, out: fo.ppr_matrix(G, out=out, rows_per_shard=ROWS_PER_SHARD),
    "ppr-of-some": lambda G, out: fo.ppr_matrix(G, [5, 3, 80, 3], top_k=4, dtype="float32", out=out, rows_per_shard=3),
    "ppr-tol": lambda G, out: fo.ppr_matrix(G, tol=1e-4, alpha=0.5, out=out, rows_per_shard=ROWS_PER_SHARD),
    "kernel": lambda G, out: fo.kernel_matrix(G, top_k=6, out=out, rows_per_shard=ROWS_PER_SHARD),
    "kernel-with-an-array": lambda G, out: fo.kernel_matrix(
        G, range(50), "scaled-laplacian", S=diagonal(), out=out, rows_per_shard=ROWS_PER_SHARD
    ),
    "ppr-of-candidates": lambda G, out: fo.ppr_matrix(
        G, candidates=range(70, 3, -1), exclude=[9, 30], exclude_neighbors=True, out=out, rows_per_shard=ROWS_PER_SHARD
    ),
    "kernel-with-numbers": lambda G, out: fo.kernel_matrix(
        G, range(5), "K5", lam=3, beta=0.2, S=2, out=out, rows_per_shard=2
    ),
    "full-kernel": lambda G, out: fo.kernel_matrix(G, range(5), "K6", b=0.1, out=out, rows_per_shard=2),
}


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
@pytest.mark.parametrize("name", CALLS)
def test_joblib_writes_the_bytes_that_one_process_writes(graph, tmp_path, monkeypatch, name, backend):
    CALLS[name](graph, tmp_path / "serial")
    monkeypatch.setattr(jobs._Job, "run_here", None)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        matrix = CALLS[name](graph, tmp_path / "parallel")
    expected = shard_files(tmp_path / "serial")
    assert len(expected) == 4 * len(matrix.layout.starts) > 4
    assert shard_files(tmp_path / "parallel") == expected
    assert not unfinished(tmp_path / "parallel")


@pytest.mark.usefixtures("_not_here")
def test_a_complete_job_sends_no_tasks(graph, tmp_path, monkeypatch):
    with joblib.parallel_config(backend="loky", n_jobs=2):
        CALLS["ppr"](graph, tmp_path / "rows")
        monkeypatch.setattr(jobs, "_run", None)
        assert CALLS["ppr"](graph, tmp_path / "rows").shape == (N, N)


@pytest.mark.usefixtures("_not_here")
def test_only_what_is_missing_is_sent(graph, tmp_path, monkeypatch):
    tasks = fo.shards(fo.ppr_matrix, graph, out=tmp_path / "rows", rows_per_shard=ROWS_PER_SHARD)
    tasks[1].run()
    tasks[3].run()
    sent = []

    def here(function, missing, _):
        sent.extend(missing)
        return (function(task) for task in missing)

    monkeypatch.setattr(jobs, "over_joblib", here)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        CALLS["ppr"](graph, tmp_path / "rows")
    assert sent == [tasks[0], tasks[2], tasks[4]]


@pytest.mark.usefixtures("_not_here")
def test_a_graph_without_a_folder_is_saved_until_the_job_is_complete(tmp_path, monkeypatch):
    G = nx.relabel_nodes(nx.barabasi_albert_graph(N, 3, seed=1), str)
    out = tmp_path / "rows"

    def stop(*_):
        raise KeyboardInterrupt

    def interrupted():
        with monkeypatch.context() as patch:
            patch.setattr(jobs, "_count", stop)
            with pytest.raises(KeyboardInterrupt):
                CALLS["ppr"](G, out)

    with joblib.parallel_config(backend="loky", n_jobs=2):
        with pytest.warns(UserWarning, match=r"is saved to .*graph-for-workers\. Save it once"):
            interrupted()
        assert fo.CSRGraph.open(out / "graph-for-workers", verify="checksum").nodes[7] == "7"
        matrix = CALLS["ppr"](G, out)  # without another warning: it is there
    assert not (out / "graph-for-workers").exists()
    expected = fo.ppr_matrix(G)
    assert (matrix.to_scipy() != expected).nnz == 0
    assert next(iter(matrix.row("7"))) == "7"


@pytest.mark.usefixtures("_not_here")
def test_the_folder_of_a_saved_graph_stays(tmp_path):
    """Also if it is where graphs without one are saved."""
    out = tmp_path / "rows"
    with pytest.warns(UserWarning, match="is saved to"):
        fo.shards(fo.ppr_matrix, nx.karate_club_graph(), out=out)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        fo.ppr_matrix(fo.CSRGraph.open(out / "graph-for-workers"), out=out)
    assert len(fo.CSRGraph.open(out / "graph-for-workers")) == 34


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
def test_a_job_whose_worker_was_killed_goes_on(graph, tmp_path):
    """Unlike dask, loky gives up when it loses a worker."""
    out = tmp_path / "rows"

    def job():
        return fo.ppr_matrix(graph, list(range(N)) * 5, out=out, rows_per_shard=1)

    with joblib.parallel_config(backend="loky", n_jobs=2):
        victim = joblib.Parallel()(joblib.delayed(os.getpid)() for _ in range(4))[0]

        def kill():
            wait_for_shards(out, 5)
            os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        with pytest.raises(RuntimeError, match="worker process"):
            job()
        killer.join()
        assert 5 <= wait_for_shards(out, 5) < 5 * N
        matrix = job()
    assert (matrix.to_scipy() != fo.ppr_matrix(graph, list(range(N)) * 5)).nnz == 0
    assert not unfinished(out)


# Tasks


@pytest.mark.parametrize("n", [10, 20_000])
def test_a_task_is_small_whatever_the_number_of_sources(tmp_path, n):
    G = fo.CSRGraph.from_networkx(nx.cycle_graph(n))
    G.save(tmp_path / "graph")
    G = fo.CSRGraph.open(tmp_path / "graph")
    S = np.linspace(1.0, 2.0, n)
    tasks = [
        *fo.shards(fo.ppr_matrix, G, range(n), out=tmp_path / "ppr", rows_per_shard=n),
        *fo.shards(fo.kernel_matrix, G, range(n), "scaled-laplacian", S=S, out=tmp_path / "kernel", rows_per_shard=n),
    ]
    assert len(tasks) == 2
    for task in tasks:
        content = pickle.dumps(task)
        assert len(content) < LARGEST_TASK
        assert pickle.loads(content) == task


def test_a_worker_refuses_another_graph(tmp_path):
    path = tmp_path / "graph"
    fo.CSRGraph.from_networkx(nx.path_graph(6)).save(path)
    tasks = fo.shards(fo.ppr_matrix, fo.CSRGraph.open(path), out=tmp_path / "rows", rows_per_shard=2)
    fo.CSRGraph.from_networkx(nx.cycle_graph(6)).save(path)
    with (
        joblib.parallel_config(backend="loky", n_jobs=2),
        pytest.raises(ValueError, match="graph holds another graph than when this task was made"),
    ):
        joblib.Parallel()(joblib.delayed(jobs._run)(task) for task in tasks)
    assert not shard_files(tmp_path / "rows")


@pytest.mark.parametrize("array", ["sources", "s_squared"])
def test_a_worker_refuses_damaged_sources_and_parameters(graph, tmp_path, array):
    """Compiled code would push from nodes that the graph does not have."""
    out = tmp_path / "rows"
    (task,) = fo.shards(fo.kernel_matrix, graph, [3, 5], "scaled-laplacian", S=diagonal(), out=out, rows_per_shard=2)
    (file,) = out.glob(f"{array}-*.npy")
    content = bytearray(file.read_bytes())
    content[-2] ^= 0x40
    file.write_bytes(content)
    with pytest.raises(ValueError, match=f"rows is damaged: the checksum of its array {array} is wrong"):
        task.run()
    assert not shard_files(out)


def test_damaged_sources_are_not_opened(tmp_path):
    fo.ppr_matrix(nx.path_graph(6), [3, 5], out=tmp_path / "rows")
    (file,) = (tmp_path / "rows").glob("sources-*.npy")
    content = file.read_bytes()
    for damage in (b"\x06\x00\x00\x00", b"\xff\xff\xff\xff"):
        file.write_bytes(content[:-4] + damage)
        with pytest.raises(ValueError, match="is damaged: the checksum of its array sources is wrong"):
            fo.open_matrix(tmp_path / "rows")


# Where tasks run


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"backend": "loky"}, True),
        ({"backend": "loky", "n_jobs": 1}, True),
        ({"backend": "threading"}, True),
        ({"n_jobs": 2}, True),
        ({"n_jobs": -1}, True),
        ({"n_jobs": 1}, False),
        ({"verbose": 1}, False),
        ({"prefer": "threads"}, False),
    ],
    ids=str,
)
def test_a_backend_or_a_number_of_jobs_is_elsewhere(config, expected):
    assert not is_elsewhere()
    with joblib.parallel_config(**config):
        assert is_elsewhere() is expected
    assert not is_elsewhere()


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_a_task_of_joblib_is_not_elsewhere_again(backend):
    """What it calls runs in its own process: joblib names a backend there, but nobody has asked for one."""
    found = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(is_elsewhere)() for _ in range(2))
    assert found == [False, False]


def test_nothing_is_elsewhere_without_joblib():
    """And to ask does not import it, which takes a while."""
    code = """
import sys
from nx_fastonl.batch.engines import is_elsewhere
assert not is_elsewhere()
assert "joblib" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


# Experiments


def process(task):
    return [{"process": os.getpid(), "value": task["trial"]}]


def test_experiments_run_in_other_processes(tmp_path):
    tasks = [{"graph": "a", "trial": trial} for trial in range(4)]
    with joblib.parallel_config(backend="loky", n_jobs=2):
        frame = run_tasks(tasks, process, tmp_path / "there.csv", None, progress=False)
        serial = run_tasks(tasks, process, tmp_path / "here.csv", None, progress=False, serial=True)
    assert os.getpid() not in set(frame["process"])
    assert set(serial["process"]) == {os.getpid()}
    assert frame["value"].tolist() == serial["value"].tolist() == [0, 1, 2, 3]


def test_an_experiment_gives_the_same_over_joblib(tmp_path):
    serial = experiments.run("nnz", ["karate"], trials=3, out=tmp_path / "serial")
    with joblib.parallel_config(backend="loky", n_jobs=2):
        parallel = experiments.run("nnz", ["karate"], trials=3, out=tmp_path / "parallel")
    assert len(serial) > 3
    pd.testing.assert_frame_equal(parallel, serial)
