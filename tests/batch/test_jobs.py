"""Jobs that write rows to a folder, and what reads them."""

import errno
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import threading
from contextlib import nullcontext
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nx_fastonl as fo
from nx_fastonl._lib.folders import open_folder
from nx_fastonl.batch import jobs
from nx_fastonl.batch.matrix import complete_shards, shard_name
from nx_fastonl.batch.rows import in_threads
from nx_fastonl.kernels.matrix import plan_rows as plan_kernel_rows
from nx_fastonl.push.matrix import PageRankRows, plan_rows


@pytest.fixture
def out(tmp_path):
    return tmp_path / "rows"


@pytest.fixture
def made(monkeypatch):
    """The rows that are computed, by their first and last."""
    blocks = []

    def block(self, first, last, cancelled, **options):
        blocks.append((first, last))
        return original(self, first, last, cancelled, **options)

    original = PageRankRows.block
    monkeypatch.setattr(PageRankRows, "block", block)
    return blocks


def same(A, B):
    return A.shape == B.shape and A.dtype == B.dtype and (A != B).nnz == 0 and (A.indptr == B.indptr).all()


def computed(made):
    """The numbers of the rows that were computed, from where blocks began and ended."""
    return sorted(row for first, last in made for row in range(first, last))


def run_once(first, then):
    """A function that is one at its first call, and another at all others."""
    functions = iter([first])
    return lambda *arguments: next(functions, then)(*arguments)


def flip_bit(folder, array, at, bit=1):
    """Flip a bit of the byte at this place of the file of an array."""
    (file,) = folder.glob(f"{array}-*.npy")
    content = bytearray(file.read_bytes())
    content[at] ^= bit
    file.write_bytes(content)


def shards_in(folder):
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("rows-"))


class TestWriting:
    @pytest.mark.parametrize("n_jobs", [None, 2])
    @pytest.mark.parametrize(
        "parameters",
        [
            {"top_k": 3},
            {"tol": 1e-6},
            {"sources": [5, 0, 5], "dtype": "float32"},
            {"top_k": 3, "candidates": range(20, 5, -1), "exclude": [9], "exclude_neighbors": True},
        ],
    )
    def test_the_same_rows_as_in_memory(self, karate, out, parameters, n_jobs):
        saved = fo.ppr_matrix(karate, out=out, rows_per_shard=7, n_jobs=n_jobs, **parameters)
        assert same(saved.to_scipy(), fo.ppr_matrix(karate, **parameters))
        assert same(fo.open_matrix(out).to_scipy(), saved.to_scipy())
        assert len(shards_in(out)) == -(-len(saved) // 7)

    @pytest.mark.parametrize(
        "parameters",
        [
            {"kernel": "K1"},
            {"kernel": "K6", "top_k": 4},
            {"kernel": "K4", "S": np.arange(1.0, 35.0), "epsilon": 1e-3},
            {"kernel": "K2", "smoothness": 1e-4},
            {"kernel": "K4", "beta": 0.3},
            {"lam": 5, "nodes": [3, 1]},
        ],
    )
    def test_kernels(self, karate, out, parameters):
        saved = fo.kernel_matrix(karate, out=out, rows_per_shard=9, **parameters)
        assert same(saved.to_scipy(), fo.kernel_matrix(karate, **parameters))
        exact = fo.kernel_matrix(karate, exact=True, **{k: v for k, v in parameters.items() if k != "top_k"})
        nodes = parameters.get("nodes", list(karate))
        for i, node in enumerate(nodes):
            for column, value in saved.row(node).items():
                assert abs(value - exact[i, column]) <= saved.error(node) + 1e-9

    @pytest.mark.parametrize("function", [fo.ppr_matrix, fo.kernel_matrix])
    def test_numbers_of_numpy(self, karate, out, function):
        saved = function(karate, top_k=np.int64(3), epsilon=np.float32(0.5), out=out, rows_per_shard=np.int16(20))
        assert same(function(karate, top_k=3, epsilon=0.5, out=out, rows_per_shard=20).to_scipy(), saved.to_scipy())

    def test_errors_count_the_rounding_to_single_precision(self, karate, tmp_path):
        ranks = fo.ppr_matrix(karate, tol=1e-12, dtype="float32", out=tmp_path / "ranks")
        exact = fo.ppr_matrix(karate, tol=1e-13).toarray()
        off = np.abs(ranks.to_scipy().toarray() - exact).sum(axis=1)
        assert all(1e-9 < off[u] <= ranks.error(u) < 1e-7 for u in karate)
        kernel = fo.kernel_matrix(karate, epsilon=1e-12, dtype="float32", out=tmp_path / "kernel")
        exact = fo.kernel_matrix(karate, exact=True)
        off = np.abs(kernel.to_scipy().toarray() - exact).max(axis=1)
        assert all(off[u] <= kernel.error(u) < 1e-6 * exact[u].max() for u in karate)

    def test_only_what_is_missing_is_computed(self, karate, out, made):
        first = fo.ppr_matrix(karate, out=out, rows_per_shard=10)
        assert computed(made) == list(range(34))
        del made[:]
        shutil.rmtree(out / shard_name(10, 20))
        with pytest.raises(ValueError, match=r"is not complete: 1 of 4 shards are missing, the first with row 10\."):
            fo.open_matrix(out)
        again = fo.ppr_matrix(karate, out=out)  # with the shards that the folder has
        assert computed(made) == list(range(10, 20))
        assert same(again.to_scipy(), first.to_scipy())

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"top_k": 5}, "holds rows with top_k=4, not top_k=5"),
            ({"alpha": 0.9}, "holds rows with alpha=0.85, not alpha=0.9"),
            ({"epsilon": 1e-3}, "holds rows with epsilon=0.0001, not epsilon=0.001"),
            ({"tol": 1e-3}, "holds rows with tol=None, not tol=0.001"),
            ({"dtype": "float32"}, "holds rows with dtype='float64', not dtype='float32'"),
            ({"sources": [2, 1]}, "holds rows with other sources"),
            ({"sources": None}, "holds rows with other sources"),
            ({"candidates": [3]}, "holds rows with other candidates"),
            ({"exclude": [3]}, "holds rows with other exclude"),
            ({"exclude_neighbors": True}, "holds rows with exclude_neighbors=False, not exclude_neighbors=True"),
            ({"weight": None}, "holds rows of another graph, or of other weights"),
            ({"rows_per_shard": 1}, "has shards of 2 rows, not 1"),
        ],
    )
    def test_other_rows_are_refused(self, karate, out, change, message, made):
        call = {"sources": [1, 2], "epsilon": 1e-4, "top_k": 4}
        fo.ppr_matrix(karate, out=out, **call)
        before = sorted(out.rglob("*"))
        del made[:]
        with pytest.raises(ValueError, match=message) as caught:
            fo.ppr_matrix(karate, out=out, **{**call, **change})
        assert "name another folder, or remove this one" in str(caught.value)
        assert made == []
        assert sorted(out.rglob("*")) == before

    def test_defaults_of_another_graph_are_not_blamed(self, out):
        fo.ppr_matrix(nx.path_graph(40), out=out)
        with pytest.raises(ValueError, match="holds rows of another graph"):
            fo.ppr_matrix(nx.complete_graph(40), out=out)  # whose epsilon is smaller by default

    def test_the_default_of_a_small_matrix_can_be_named(self, out):
        G = nx.path_graph(10)
        fo.ppr_matrix(G, out=out)
        for rows_per_shard in (10, 16, 20):
            fo.ppr_matrix(G, out=out, rows_per_shard=rows_per_shard)
        with pytest.raises(ValueError, match="has shards of 10 rows, not 3"):
            fo.ppr_matrix(G, out=out, rows_per_shard=3)

    def test_other_diagonals_of_a_kernel(self, karate, out):
        fo.kernel_matrix(karate, kernel="scaled-laplacian", S=np.full(34, 2.0), out=out)
        with pytest.raises(ValueError, match="holds rows with other S:"):
            fo.kernel_matrix(karate, kernel="scaled-laplacian", S=np.full(34, 3.0), out=out)

    def test_other_names_of_nodes(self, out):
        fo.ppr_matrix(fo.CSRGraph.from_edges([0, 1], [1, 2], nodes=["a", "b", "c"]), out=out)
        with pytest.raises(ValueError, match="holds rows of another graph"):
            fo.ppr_matrix(fo.CSRGraph.from_edges([0, 1], [1, 2], nodes=["a", "b", "d"]), out=out)

    def test_parameters_of_kernels_are_compared_as_they_are_meant(self, karate, out):
        fo.kernel_matrix(karate, kernel="K4", smoothness=0.15, S=2, out=out)
        fo.kernel_matrix(karate, kernel="scaled-laplacian", beta=0.85, S=2.0, out=out)
        with pytest.raises(ValueError, match=r"holds rows with beta=0\.85, not beta=0\.3"):
            fo.kernel_matrix(karate, kernel="K4", beta=0.3, S=2, out=out)
        with pytest.raises(ValueError, match=r"holds rows with kernel='scaled-laplacian', not kernel='laplacian'"):
            fo.kernel_matrix(karate, kernel="laplacian", out=out)
        with pytest.raises(ValueError, match="holds rows with other nodes"):
            fo.kernel_matrix(karate, [3], kernel="K4", S=2, out=out)

    def test_another_function(self, karate, out):
        fo.ppr_matrix(karate, out=out)
        with pytest.raises(ValueError, match="function='ppr_matrix', not function='kernel_matrix'"):
            fo.kernel_matrix(karate, out=out)

    def test_other_folders_are_left_alone(self, karate, tmp_path):
        (tmp_path / "notes.txt").write_text("mine")
        with pytest.raises(FileExistsError, match=r"has other files, such as notes\.txt"):
            fo.ppr_matrix(karate, out=tmp_path)
        with pytest.raises(FileNotFoundError, match="there is no folder"):
            fo.ppr_matrix(karate, out=tmp_path / "missing" / "rows")
        fo.CSRGraph.from_networkx(karate).save(tmp_path / "graph")
        with pytest.raises(ValueError, match="holds 'nx_fastonl graph', expected 'nx_fastonl matrix'"):
            fo.ppr_matrix(karate, out=tmp_path / "graph")

    def test_a_folder_that_is_replaced_meanwhile(self, karate, out, monkeypatch):
        original = PageRankRows.block

        def block(self, *args, **options):
            monkeypatch.setattr(PageRankRows, "block", original)
            shutil.rmtree(out)
            fo.ppr_matrix(karate, alpha=0.5, out=out, rows_per_shard=34)
            return original(self, *args, **options)

        monkeypatch.setattr(PageRankRows, "block", block)
        with pytest.raises(ValueError, match="holds other rows than when this job began"):
            fo.ppr_matrix(karate, alpha=0.85, out=out, rows_per_shard=34)
        assert fo.open_matrix(out).parameters["alpha"] == 0.5

    def test_a_folder_that_another_process_begins_meanwhile(self, karate, out, monkeypatch):
        def write_folder(*args, **options):
            original(*args, **options)
            raise FileExistsError(errno.EEXIST, "has other files, such as manifest.json")

        original = jobs.write_folder
        rows = plan_rows(karate)
        with monkeypatch.context() as patch:
            patch.setattr(jobs, "write_folder", write_folder)
            job = jobs._Job(rows, out, None)
        job.run(None, progress=False)
        assert same(fo.open_matrix(out).to_scipy(), fo.ppr_matrix(karate))

    def test_of_two_calls_that_begin_a_folder_one_is_refused(self, karate, out, monkeypatch):
        def write_folder(*args, **options):
            monkeypatch.undo()
            fo.ppr_matrix(karate, alpha=0.5, out=out)
            return original(*args, **options)

        original = jobs.write_folder
        monkeypatch.setattr(jobs, "write_folder", write_folder)
        with pytest.raises(ValueError, match=r"holds rows with alpha=0\.5, not alpha=0\.9"):
            fo.ppr_matrix(karate, alpha=0.9, out=out)
        assert same(fo.open_matrix(out).to_scipy(), fo.ppr_matrix(karate, alpha=0.5))
        assert sorted(path.name for path in out.iterdir() if path.suffix == ".npy") == sorted(
            entry["file"] for entry in json.loads((out / "manifest.json").read_text())["derived_arrays"].values()
        )

    @pytest.mark.parametrize("n_jobs", [2, 8])
    def test_threads_share_the_rows_of_one_shard(self, karate, out, monkeypatch, n_jobs):
        original, threads = PageRankRows.block, set()
        meet = threading.Barrier(2, timeout=60)

        def block(self, first, last, cancelled, **options):
            if threading.get_ident() not in threads and len(threads) < 2:
                threads.add(threading.get_ident())
                meet.wait()
            return original(self, first, last, cancelled, **options)

        with monkeypatch.context() as patch:
            patch.setattr(PageRankRows, "block", block)
            saved = fo.ppr_matrix(karate, out=out, rows_per_shard=34, n_jobs=n_jobs)
        assert len(shards_in(out)) == 1
        assert same(saved.to_scipy(), fo.ppr_matrix(karate))

    @pytest.mark.parametrize("n_jobs", [None, 2])
    def test_an_interrupt_leaves_whole_shards(self, karate, out, monkeypatch, n_jobs):
        original = PageRankRows.block

        def interrupted(self, first, last, cancelled, **options):
            if first >= 20:
                raise KeyboardInterrupt
            return original(self, first, last, cancelled, **options)

        with monkeypatch.context() as patch:
            patch.setattr(PageRankRows, "block", interrupted)
            with pytest.raises(KeyboardInterrupt):
                fo.ppr_matrix(karate, out=out, rows_per_shard=5, n_jobs=n_jobs)
        assert 0 < len(shards_in(out)) <= 4
        assert same(fo.ppr_matrix(karate, out=out).to_scipy(), fo.ppr_matrix(karate))

    @pytest.mark.parametrize("is_written", [True, False])
    def test_an_error_of_the_progress_bar_ends_all_threads(self, out, monkeypatch, is_written):
        def counting_bar(*_):
            return nullcontext(count)

        def count(_):
            raise BrokenPipeError

        monkeypatch.setattr("nx_fastonl.batch.jobs.counting_bar", counting_bar)
        monkeypatch.setattr("nx_fastonl.batch.rows.counting_bar", counting_bar)
        before = threading.active_count()
        with pytest.raises(BrokenPipeError) as caught:
            fo.ppr_matrix(
                nx.barabasi_albert_graph(4000, 3, seed=1), epsilon=1e-7, n_jobs=2, out=out if is_written else None
            )
        assert threading.active_count() == before, caught  # while the error, and so all frames, are still there

    def test_a_folder_that_is_replaced_before_it_is_opened(self, karate, out, monkeypatch):
        def run(job, *_):
            shutil.rmtree(job.path)
            fo.ppr_matrix(karate, alpha=0.5, out=job.path)

        with monkeypatch.context() as patch:
            patch.setattr(jobs._Job, "run", run_once(run, jobs._Job.run))
            with pytest.raises(ValueError, match="holds other rows than when this job began"):
                fo.ppr_matrix(karate, out=out)

    def test_a_shard_that_another_process_was_faster_to_write(self, karate, out, monkeypatch):
        rename = Path.rename

        def raced(self, target):
            shutil.copytree(self, target)
            return rename(self, target)

        monkeypatch.setattr(Path, "rename", raced)
        saved = fo.ppr_matrix(karate, out=out, rows_per_shard=20)
        assert same(saved.to_scipy(), fo.ppr_matrix(karate))
        assert not list(out.glob(".part-*"))

    def test_what_killed_processes_left_is_removed(self, karate, out):
        fo.ppr_matrix(karate, out=out)
        ended = subprocess.Popen([sys.executable, "-c", ""])
        ended.wait()
        here = jobs._machine()
        owners = [(ended.pid, here), (ended.pid, "e" * 16), (os.getpid(), here)]
        parts = [out / f".part-{'0' * 16}-{pid}@{host}" for pid, host in owners]
        for part in parts:
            part.mkdir()
        fo.ppr_matrix(karate, out=out)
        assert [part.exists() for part in parts] == [os.name != "posix", True, True]
        os.utime(parts[1], (0, 0))
        fo.ppr_matrix(karate, out=out)
        assert not parts[1].exists()

    def test_arrays_that_killed_processes_left_are_removed_after_a_day(self, karate, out):
        """The names of nodes, which a process wrote before it was killed, and another one began the folder."""
        G = nx.relabel_nodes(karate, str)
        fo.ppr_matrix(G, out=out)
        named = sorted(out.glob("*.npy"))
        old, recent = (out / f"names-{digit * 16}.npy" for digit in "01")
        for file in (old, recent):
            file.write_bytes(b"")
        for file in (old, *named):
            os.utime(file, (0, 0))
        expected = fo.ppr_matrix(G)
        assert same(fo.ppr_matrix(G, out=out).to_scipy(), expected)
        assert sorted(out.glob("*.npy")) == sorted([*named, recent])

    def test_no_rows(self, karate, out):
        saved = fo.ppr_matrix(karate, [], out=out)
        assert saved.shape == (0, 34)
        assert list(saved.shards()) == []
        assert same(saved.to_scipy(), fo.ppr_matrix(karate, []))

    def test_options_that_need_a_folder(self, karate, out):
        with pytest.raises(ValueError, match="rows_per_shard=3 is for rows that are written to a folder"):
            fo.ppr_matrix(karate, rows_per_shard=3)
        with pytest.raises(ValueError, match="rows_per_shard must be at least 1, got 0"):
            fo.ppr_matrix(karate, out=out, rows_per_shard=0)
        with pytest.raises(TypeError, match="out must be the path of a folder, got 5"):
            fo.ppr_matrix(karate, out=5)
        assert not out.exists()
        assert fo.ppr_matrix(karate, out=out, rows_per_shard=10**30)[3:5].shape == (2, 34)
        fo.ppr_matrix(karate, out=out, rows_per_shard=10**31)  # one shard too
        with pytest.raises(ValueError, match=r"with exact=True .* and out has no meaning"):
            fo.kernel_matrix(karate, exact=True, out=out)

    def test_no_folder_is_begun_where_there_is_no_progress_bar(self, karate, out, monkeypatch):
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
        with pytest.raises(ImportError, match="progress=True needs tqdm"):
            fo.ppr_matrix(karate, out=out, progress=True)
        assert not out.exists()

    def test_progress(self, karate, out, capsys):
        pytest.importorskip("tqdm")
        fo.ppr_matrix(karate, out=out, progress=True)
        assert "34/34" in capsys.readouterr().err

    def test_default_shards(self):
        def size(n, **parameters):
            graph = fo.CSRGraph.from_edges(np.arange(n - 1), np.arange(1, n))
            return jobs._default_size(plan_rows(graph, **parameters))

        assert size(10) == 10
        assert size(17) == size(64 * 16) == 16
        assert size(64 * 16 + 1) == 17
        assert size(64 * 50) == 50
        assert size(64 * 5000) == 4096
        assert size(64 * 5000, top_k=2) == 5000
        assert size(10, top_k=10**30) == 10
        assert size(64 * 5000, top_k=1022) == 2048
        assert size(64 * 5000, candidates=range(1022)) == 2048
        graph = fo.CSRGraph.from_edges(np.arange(2**17 - 1), np.arange(1, 2**17))
        assert jobs._default_size(plan_kernel_rows(graph, kernel="augmented-laplacian")) == 15  # full rows
        assert jobs._default_size(plan_kernel_rows(graph)) == 2048


class TestShards:
    def test_tasks_are_small_and_run_anywhere(self, karate, out, tmp_path, made):
        fo.CSRGraph.from_networkx(karate).save(tmp_path / "graph")
        graph = fo.CSRGraph.open(tmp_path / "graph")
        tasks = fo.shards(fo.ppr_matrix, graph, list(karate) * 1000, top_k=3, out=out)
        assert made == []
        sent = [pickle.dumps(task) for task in tasks]
        assert max(map(len, sent)) < 1000
        for content in sent[::-1]:
            task = pickle.loads(content)
            assert not task.done
            task.run()
            assert task.done
        n_made = len(made)
        tasks[0].run()
        assert len(made) == n_made
        assert computed(made) == list(range(34_000))
        assert same(fo.open_matrix(out).to_scipy(), fo.ppr_matrix(graph, list(karate) * 1000, top_k=3))

    def test_another_graph_is_refused(self, karate, out, tmp_path):
        path = tmp_path / "graph"
        fo.CSRGraph.from_networkx(karate).save(path)
        tasks = fo.shards(fo.ppr_matrix, fo.CSRGraph.open(path), out=out)
        fo.CSRGraph.from_networkx(nx.path_graph(34)).save(path)
        with pytest.raises(ValueError, match="holds another graph than when this task was made: its fingerprint is"):
            tasks[0].run()
        assert shards_in(out) == []

    def test_another_job_is_refused(self, karate, out, tmp_path):
        path = tmp_path / "graph"
        fo.CSRGraph.from_networkx(karate).save(path)
        tasks = fo.shards(fo.ppr_matrix, fo.CSRGraph.open(path), out=out)
        shutil.rmtree(out)
        fo.ppr_matrix(karate, out=out, top_k=1)
        shutil.rmtree(tasks[0].path)
        with pytest.raises(ValueError, match="holds other rows than when this job began"):
            tasks[0].run()

    def test_damaged_sources_are_not_pushed_from(self, karate, out, tmp_path):
        fo.CSRGraph.from_networkx(karate).save(tmp_path / "graph")
        (task,) = fo.shards(fo.ppr_matrix, fo.CSRGraph.open(tmp_path / "graph"), [5, 7], out=out, rows_per_shard=2)
        (file,) = out.glob("sources-*.npy")
        file.write_bytes(file.read_bytes()[:-4] + (1 << 30).to_bytes(4, "little"))
        with pytest.raises(ValueError, match="is damaged: the checksum of its array sources is wrong"):
            task.run()

    def test_a_graph_without_a_folder_is_saved_first(self, karate, out):
        with pytest.warns(
            UserWarning,
            match=rf"it is saved to {re.escape(str(out / 'graph-for-workers'))}\. Save it once with CSRGraph",
        ) as caught:
            tasks = fo.shards(fo.ppr_matrix, karate, out=out)
        assert caught[0].filename == __file__
        assert fo.shards(fo.ppr_matrix, karate, out=out) == tasks  # it is saved once, and so there is one warning
        tasks[0].run()
        assert same(fo.ppr_matrix(karate, out=out).to_scipy(), fo.ppr_matrix(karate))
        assert not (out / "graph-for-workers").exists()

    @pytest.mark.parametrize("is_all_gone", [True, False])
    @pytest.mark.parametrize("is_done", [True, False])
    def test_another_call_removes_the_graph_meanwhile(self, karate, out, monkeypatch, is_done, is_all_gone):
        """A worker has seen that its rows are missing, and then the other call ends before it opens the graph."""

        def end_the_other_call():
            if is_done:
                fo.ppr_matrix(karate, out=out)
            else:
                shutil.rmtree(out / jobs.GRAPH)
            if not is_all_gone:  # the other call is just removing the files
                (out / jobs.GRAPH).mkdir()
                (out / jobs.GRAPH / "manifest.json").write_bytes(manifest)

        with pytest.warns(UserWarning, match="the graph has no folder"):
            (task,) = fo.shards(fo.ppr_matrix, karate, out=out, rows_per_shard=34)
        manifest = (out / jobs.GRAPH / "manifest.json").read_bytes()
        folder_of = jobs._folder_of
        monkeypatch.setattr(jobs, "_folder_of", run_once(lambda _: end_the_other_call(), folder_of))
        jobs._opened_rows.cache_clear()
        if is_done:
            task.run()
            assert task.done
        else:
            with pytest.raises(FileNotFoundError if is_all_gone else ValueError, match="graph-for-workers"):
                task.run()

    @pytest.mark.parametrize("option", [{"n_jobs": 2}, {"progress": True}])
    @pytest.mark.parametrize("function", [fo.ppr_matrix, fo.kernel_matrix])
    def test_how_tasks_run_is_not_its_business(self, karate, out, function, option):
        (name,) = option
        with pytest.raises(TypeError, match=f"shards has no parameter {name}: it lists tasks"):
            fo.shards(function, karate, out=out, **option)
        assert not out.exists()

    def test_exact_rows_have_no_tasks(self, karate, out):
        with pytest.raises(TypeError, match="shards has no parameter exact"):
            fo.shards(fo.kernel_matrix, karate, exact=True, out=out)

    def test_arguments_by_position(self, karate, out):
        with pytest.warns(UserWarning, match="the graph has no folder"):
            tasks = fo.shards(fo.ppr_matrix, karate, [1, 2], 0.5, 1e-3, 4, None, out=out, rows_per_shard=1)
        assert len(tasks) == 2
        fo.ppr_matrix(karate, [1, 2], 0.5, 1e-3, 4, out=out)

    def test_tasks_of_rows_that_were_replaced(self, karate, out, tmp_path):
        fo.CSRGraph.from_networkx(karate).save(tmp_path / "graph")
        graph = fo.CSRGraph.open(tmp_path / "graph")
        old = fo.shards(fo.ppr_matrix, graph, top_k=3, out=out, rows_per_shard=10)
        old[0].run()
        shutil.rmtree(out)
        new = fo.shards(fo.ppr_matrix, graph, top_k=5, out=out, rows_per_shard=10)
        with pytest.raises(ValueError, match="holds other rows than when this job began"):
            old[1].run()
        assert not any(task.done for task in new)

    def test_other_functions(self, karate, out):
        with pytest.raises(TypeError, match="shards takes ppr_matrix or kernel_matrix"):
            fo.shards([], karate, out=out)
        with pytest.raises(TypeError, match="shards takes ppr_matrix or kernel_matrix, got <function"):
            fo.shards(fo.fifo_push, karate, 0, out=out)
        with pytest.raises(TypeError, match="ppr_matrix: got an unexpected keyword argument 'source'"):
            fo.shards(fo.ppr_matrix, karate, source=[0], out=out)

    def test_parts(self, karate, out):
        rows = plan_rows(karate)
        assert [jobs.write_part(rows, out, (i, 3), 1, None, False) for i in (2, 1, 1)] == [
            (11, 34),
            (23, 34),
            (23, 34),
        ]
        assert jobs.write_part(rows, out, (3, 3), 1, 2, False) == (34, 34)
        assert same(fo.open_matrix(out).to_scipy(), fo.ppr_matrix(karate))


NAMES = {
    "range": range(30),
    "another range": range(5, 35),
    "integers": [7 * i % 31 for i in range(30)],
    "texts": [f"node {i}" for i in range(30)],
    "mixed": [(i, "b") if i % 2 else i for i in range(30)],
}


def test_threads_begin_nothing_more_once_nobody_waits():
    begun = []

    def begin(i):
        begun.append(i)
        return i

    results = in_threads(begin, range(1000), 2, np.zeros(1, dtype=np.uint8))
    next(results)
    results.close()
    assert len(begun) <= 1 + 2 * 2


class TestSavedMatrix:
    @pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
    def test_rows_by_node(self, names, out):
        names = list(names)
        G = nx.relabel_nodes(nx.gnp_random_graph(30, 0.2, seed=1), dict(enumerate(names)))
        sources = names[::-2]
        saved = fo.ppr_matrix(G, sources, top_k=6, out=out, rows_per_shard=4)
        P = fo.ppr_matrix(G, sources, top_k=6)
        assert list(saved.nodes) == list(G)
        for i, node in enumerate(sources):
            expected = dict(zip([list(G)[j] for j in P[[i]].indices], P[[i]].data.tolist(), strict=True))
            row = saved.row(node)
            assert row == expected
            assert list(row.values()) == sorted(row.values(), reverse=True)
        assert same(saved.rows(sources[3:0:-1]), P[[3, 2, 1]])
        found = [node for nodes, _ in saved.shards() for node in nodes]
        assert found == list(saved.sources) == sources
        for node in (names[0], "nobody", [1]):
            with pytest.raises(nx.NodeNotFound, match="the matrix has no row of"):
                saved.row(node)

    @pytest.mark.parametrize("node", ["u7", ("u", 7), 7, "nobody", None])
    def test_one_node_is_no_collection(self, node, out):
        saved = fo.ppr_matrix(nx.path_graph(["u7", ("u", 7), 7]), out=out)
        with pytest.raises(TypeError, match="for one node pass") as caught:
            saved.rows(node)
        assert f"[{node!r}]" in str(caught.value)

    def test_the_nodes_that_it_has_rows_of(self, karate, out):
        saved = fo.ppr_matrix(karate, [5, 7], out=out)
        assert [node for node in (*karate, "nobody", [5]) if node in saved] == [5, 7]

    @given(st.data())
    def test_slices_are_those_of_scipy(self, data):
        saved, P = self.matrix()
        part = data.draw(st.slices(34) | st.lists(st.integers(-34, 33)))
        expected = P[np.arange(34)[part]] if part != [] else P[:0]
        assert same(saved[part], expected)

    _kept = None

    def matrix(self):
        if TestSavedMatrix._kept is None:
            import tempfile

            folder = tempfile.TemporaryDirectory()
            G = nx.karate_club_graph()
            saved = fo.ppr_matrix(G, top_k=4, out=Path(folder.name) / "rows", rows_per_shard=5)
            TestSavedMatrix._kept = folder, saved, fo.ppr_matrix(G, top_k=4)
        return TestSavedMatrix._kept[1:]

    def test_wrong_rows(self, karate, out):
        saved = fo.ppr_matrix(karate, out=out)
        with pytest.raises(IndexError, match="row 34 of a matrix with 34 rows"):
            saved[[0, 34]]
        for wrong in (3, "Mr. Hi", [0.5], [[1]]):
            with pytest.raises(TypeError, match="rows are taken by a slice or a list of their numbers"):
                saved[wrong]

    def test_what_it_says_of_itself(self, karate, out):
        saved = fo.ppr_matrix(karate, [1, 2], alpha=0.7, tol=1e-3, top_k=5, dtype="float32", out=out)
        assert repr(saved) == "<SavedMatrix of 2 rows and 34 columns, by ppr_matrix>"
        assert saved.parameters == {
            "function": "ppr_matrix",
            "alpha": 0.7,
            "epsilon": None,
            "tol": 1e-3,
            "top_k": 5,
            "exclude_neighbors": False,
        }
        assert (len(saved), saved.shape, saved.dtype, saved.path) == (2, (2, 34), np.float32, out)
        again = pickle.loads(pickle.dumps(saved))
        assert again.row(1) == saved.row(1)

    def test_a_relative_path_is_of_the_folder_where_it_was_opened(self, karate, out, tmp_path, monkeypatch):
        expected = fo.ppr_matrix(karate, out=out, rows_per_shard=20).row(33)
        monkeypatch.chdir(tmp_path)
        found = fo.open_matrix(out.name)
        monkeypatch.chdir("/")
        assert found.row(33) == pickle.loads(pickle.dumps(found)).row(33) == expected

    def test_a_pickled_matrix_is_no_other_one(self, karate, out):
        content = pickle.dumps(fo.ppr_matrix(karate, out=out))
        shutil.rmtree(out)
        fo.ppr_matrix(karate, alpha=0.5, out=out)
        with pytest.raises(ValueError, match="rows holds other rows than when the matrix was pickled"):
            pickle.loads(content)

    def test_what_arrays_do_and_it_does_not(self, karate, out):
        saved = fo.ppr_matrix(karate, out=out)
        chosen = np.arange(34) % 5 == 0
        assert same(saved[chosen], fo.ppr_matrix(karate)[chosen])
        for wrong in ((1, 2), np.ones(33, dtype=bool)):
            with pytest.raises(TypeError, match="rows are taken by a slice or a list of their numbers"):
                saved[wrong]
        with pytest.raises(TypeError, match=r"shards\(\) gives all its rows"):
            list(saved)
        with pytest.raises(TypeError, match=r"to_scipy\(\) reads all of it"):
            np.asarray(saved)

    def test_few_shards_are_mapped_at_once(self, karate, out, monkeypatch):
        monkeypatch.setattr("nx_fastonl.batch.matrix.MAX_OPEN_SHARDS", 3)
        saved = fo.ppr_matrix(karate, out=out, rows_per_shard=2)
        assert same(saved.to_scipy(), fo.ppr_matrix(karate))
        assert len(saved._shards) == 3

    @pytest.mark.skipif(sys.platform == "win32", reason="there a map keeps no file open")
    def test_more_shards_than_files_that_may_be_open(self, karate, out):
        fo.ppr_matrix(karate, list(karate) * 9, out=out, rows_per_shard=1)
        program = (
            "import resource, sys; import networkx as nx; import nx_fastonl as fo\n"
            "hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]\n"
            "resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))\n"
            "saved = fo.open_matrix(sys.argv[1]); assert len(saved.layout.starts) == 306\n"
            "nodes = list(nx.karate_club_graph()) * 9; expected = fo.ppr_matrix(nx.karate_club_graph(), nodes)\n"
            "assert (saved.to_scipy() != expected).nnz == 0; assert (saved[::-1] != expected[::-1]).nnz == 0\n"
            "assert sum(rows.nnz for _, rows in saved.shards()) == expected.nnz"
        )
        subprocess.run([sys.executable, "-c", program, str(out)], check=True, timeout=120)

    @pytest.mark.parametrize("array", ["offsets", "columns", "values", "errors"])
    def test_checksums(self, karate, out, array):
        fo.ppr_matrix(karate, out=out, rows_per_shard=10)
        assert fo.open_matrix(out, verify="checksum").shape == (34, 34)
        (file,) = (out / shard_name(20, 30)).glob(f"{array}-*.npy")
        content = bytearray(file.read_bytes())
        content[-8] ^= 1
        file.write_bytes(content)
        fo.open_matrix(out)
        with pytest.raises(
            ValueError, match=r"rows-000000000020-000000000030 is damaged.*Remove this folder of a shard, and repeat"
        ):
            fo.open_matrix(out, verify="checksum")
        with pytest.raises(ValueError, match=r'verify must be True or "checksum", got False'):
            fo.open_matrix(out, verify=False)
        shutil.rmtree(file.parent)
        assert same(fo.ppr_matrix(karate, out=out).to_scipy(), fo.ppr_matrix(karate))
        fo.open_matrix(out, verify="checksum")

    def test_a_row_is_served_as_that_of_no_other_node(self, karate, out):
        """With one bit flipped, the sources would be 6 and 5."""
        fo.ppr_matrix(karate, [3, 5], out=out)
        flip_bit(out, "sources", at=-8, bit=3 ^ 6)
        for use in (fo.open_matrix, lambda path: fo.ppr_matrix(karate, [3, 5], out=path), complete_shards):
            with pytest.raises(ValueError, match="is damaged: the checksum of its array sources is wrong"):
                use(out)

    def test_nothing_is_computed_for_damaged_sources(self, karate, out, made):
        fo.ppr_matrix(karate, [3, 5], out=out, rows_per_shard=1)
        shutil.rmtree(out / shard_name(1, 2))
        flip_bit(out, "sources", at=-8)
        del made[:]
        with pytest.raises(ValueError, match="checksum of its array sources"):
            fo.ppr_matrix(karate, [3, 5], out=out)
        assert made == []

    @pytest.mark.parametrize(
        ("names", "array", "is_seen"),
        [
            (lambda u: 2 * u, "names", True),  # they ascend, which is checked by reading them
            (lambda u: f"node {u:02}", "names", False),
            (lambda u: -2 * u, "names", False),
            (lambda u: f"node {u:02}", "slots", None),  # if it was empty: names hash to other slots in each run
            (lambda u: ("x", u), "names", True),
        ],
    )
    def test_checksums_of_names(self, karate, out, names, array, is_seen):
        fo.ppr_matrix(nx.relabel_nodes(karate, names), out=out)
        fo.open_matrix(out, verify="checksum")
        flip_bit(out, array, at=-8 if array == "names" else -4)
        with pytest.raises(ValueError, match=f"is damaged: the checksum of its array {array} is wrong"):
            fo.open_matrix(out, verify="checksum")
        if is_seen:
            with pytest.raises(ValueError, match="is damaged"):
                fo.open_matrix(out)
        elif is_seen is False:
            fo.open_matrix(out)

    def test_checksums_of_a_diagonal(self, karate, out):
        fo.kernel_matrix(karate, kernel="scaled-laplacian", S=np.full(34, 2.0), out=out)
        flip_bit(out, "s_squared", at=-8)
        fo.open_matrix(out)
        with pytest.raises(ValueError, match="is damaged: the checksum of its array s_squared is wrong"):
            fo.open_matrix(out, verify="checksum")

    @pytest.mark.parametrize("kind", [np.uint8, np.int8, np.uint64])
    def test_numbers_of_rows_in_small_types(self, karate, out, kind):
        saved = fo.ppr_matrix(karate, list(karate) * 9, out=out)
        assert same(saved[np.array([0, 100], dtype=kind)], saved[[0, 100]])
        if kind is np.uint64:
            with pytest.raises(IndexError, match="row 18446744073709551615 of a matrix with 306 rows"):
                saved[np.array([2**64 - 1], dtype=kind)]

    def test_folders_that_are_no_shards_do_not_count(self, karate, out):
        fo.ppr_matrix(karate, out=out, rows_per_shard=10)
        (out / "rows-old").mkdir()
        (out / "rows-000000000000-000000000034").mkdir()
        fo.open_matrix(out)
        shutil.rmtree(out / shard_name(10, 20))
        with pytest.raises(ValueError, match=r"1 of 4 shards are missing, the first with row 10\."):
            fo.open_matrix(out)

    @pytest.mark.parametrize("array", ["offsets", "columns", "values", "errors"])
    def test_damaged_shards(self, karate, out, array):
        fo.ppr_matrix(karate, out=out, rows_per_shard=34)
        (file,) = (out / shard_name(0, 34)).glob(f"{array}-*.npy")
        content = bytearray(file.read_bytes())
        saved = fo.open_matrix(out)
        file.write_bytes(content[:-1])
        with pytest.raises(ValueError, match="is damaged"):
            saved.row(0)
        if array in ("offsets", "columns"):
            content[-1] ^= 0x80  # the sign of the last number
            file.write_bytes(content)
            with pytest.raises(ValueError, match="is damaged"):
                saved.row(0)

    @pytest.mark.parametrize(("array", "last"), [("columns", 34), ("offsets", None)])
    def test_numbers_that_lead_outside(self, karate, out, array, last):
        """In files that are whole otherwise: the column after the last one; offsets that fall."""
        rows = fo.ppr_matrix(karate, out=out, top_k=3, rows_per_shard=34)
        (file,) = out.glob(f"rows-*/{array}-*.npy")
        values = np.load(file)
        if last is None:
            values[5], values[6] = values[6], values[5]
        else:
            values[-1] = last
        np.save(file, values)
        with pytest.raises(ValueError, match=r"offsets do not rise|columns that the matrix does not have"):
            fo.open_matrix(rows.path).row(0)

    def test_shards_that_nobody_wrote(self, karate, out):
        expected = fo.ppr_matrix(karate, out=out, rows_per_shard=20).to_scipy()
        (out / shard_name(20, 34)).rename(out / shard_name(20, 33))
        with pytest.raises(ValueError, match="1 of 2 shards are missing, the first with row 20"):
            fo.open_matrix(out)
        assert same(fo.ppr_matrix(karate, out=out, rows_per_shard=20).to_scipy(), expected)

    def test_an_empty_shard_is_computed_again(self, karate, out):
        expected = fo.ppr_matrix(karate, out=out, rows_per_shard=20).to_scipy()
        shard = out / shard_name(0, 20)
        shutil.rmtree(shard)
        shard.mkdir()
        with pytest.raises(ValueError, match="is not complete: 1 of 2 shards are missing, the first with row 0"):
            fo.open_matrix(out)
        assert same(fo.ppr_matrix(karate, out=out, rows_per_shard=20).to_scipy(), expected)
        shutil.rmtree(shard)
        shard.mkdir()
        (shard / "something").write_text("else")
        with pytest.raises(ValueError, match=r"no manifest\.json\. Remove this folder of a shard"):
            fo.ppr_matrix(karate, out=out, rows_per_shard=20)
        shutil.rmtree(shard)
        assert same(fo.ppr_matrix(karate, out=out, rows_per_shard=20).to_scipy(), expected)

    def test_a_shard_of_another_job(self, karate, out, tmp_path):
        fo.ppr_matrix(karate, out=out, rows_per_shard=34)
        fo.ppr_matrix(karate, out=tmp_path / "other", rows_per_shard=34, top_k=1)
        shutil.rmtree(out / shard_name(0, 34))
        shutil.copytree(tmp_path / "other" / shard_name(0, 34), out / shard_name(0, 34))
        with pytest.raises(ValueError, match="belongs to rows with other parameters than those of its folder"):
            fo.open_matrix(out).row(0)

    @pytest.mark.parametrize("verify", [True, "checksum"])
    def test_a_shard_under_the_name_of_another(self, karate, out, verify):
        """Its checksums are right, and its rows are those of other nodes."""
        fo.ppr_matrix(karate, out=out, rows_per_shard=10)
        first, second, spare = out / shard_name(0, 10), out / shard_name(10, 20), out / "spare"
        for old, new in ((first, spare), (second, first), (spare, second)):
            old.rename(new)
        with pytest.raises(ValueError, match=r"it holds rows 10 to 19, and its name says 0 to 9\. Remove this folder"):
            fo.open_matrix(out, verify=verify).to_scipy()

    def test_a_shard_with_values_of_another_type(self, karate, out):
        fo.ppr_matrix(karate, out=out, rows_per_shard=34)
        shard = open_folder(out / shard_name(0, 34), jobs.SHARD_KIND, jobs.VERSION).content
        values = shard.arrays["values"].astype(np.float32)
        jobs.write_folder(
            out / shard_name(0, 34),
            jobs.SHARD_KIND,
            jobs.VERSION,
            shard._replace(arrays={**shard.arrays, "values": values}),
        )
        with pytest.raises(ValueError, match="values of float32 in a matrix of float64"):
            fo.open_matrix(out).to_scipy()

    @pytest.mark.parametrize(
        ("details", "sources", "message"),
        [
            ({"shape": [1 << 60, 1 << 60]}, None, "does not fit together"),
            ({"shape": [(1 << 31) - 1, (1 << 31) - 1], "rows_per_shard": 1}, None, "2,147,483,647 shards are missing"),
            ({"shape": [35, 34]}, None, "does not fit together"),
            ({"shape": [-1, 34]}, None, "does not fit together"),
            ({"rows_per_shard": 0}, None, "does not fit together"),
            ({"shape": [1, 34]}, [34], "there are sources that are no columns"),
            ({"shape": [1, 34]}, [-1], "there are sources that are no columns"),
        ],
    )
    def test_manifests_that_nobody_wrote(self, karate, out, details, sources, message):
        content = jobs._content(plan_rows(karate), 34)
        arrays = {} if sources is None else {"sources": np.array(sources, dtype=np.int32)}
        content = content._replace(details={**content.details, **details}, arrays={**content.arrays, **arrays})
        jobs.write_folder(out, jobs.KIND, jobs.VERSION, content)
        with pytest.raises(ValueError, match=message):
            fo.open_matrix(out)

    def test_what_is_not_a_matrix(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="no such folder"):
            fo.open_matrix(tmp_path / "missing")
        with pytest.raises(FileNotFoundError, match=r"has no manifest\.json"):
            fo.open_matrix(tmp_path)


def test_the_command(tmp_path):
    def run(*arguments):
        command = [sys.executable, "-m", "nx_fastonl", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert run("example").returncode == 0
    assert run("convert", "friends.csv", "graph").returncode == 0
    first = run("ppr-matrix", "graph", "--out", "rows", "--top", "3", "--shard", "1/2")
    assert (first.returncode, first.stdout) == (0, "rows\n")
    assert first.stderr == "34 nodes, 78 edges; 2 of 3 shards are complete\n"
    second = run("ppr-matrix", "graph", "--out", "rows", "--top", "3", "--n-jobs", "2", "--json")
    assert '"done": 3\n' in second.stdout
    graph = fo.CSRGraph.open(tmp_path / "graph")
    assert same(fo.open_matrix(tmp_path / "rows").to_scipy(), fo.ppr_matrix(graph, top_k=3))
    third = run("ppr-matrix", "graph", "--out", "fewer", "--rows-per-shard", "20", "--json")
    assert '"shards": 2' in third.stdout
    other = run("ppr-matrix", "graph", "--out", "rows", "--top", "4")
    assert other.returncode == 1
    assert "holds rows with top_k=3, not top_k=4" in other.stderr


def test_files_of_others_stay(tmp_path):
    G, out, token = nx.karate_club_graph(), tmp_path / "out", "0123456789abcdef"
    with pytest.warns(UserWarning, match="is saved to"):
        fo.shards(fo.ppr_matrix, G, out=out)
    others = [".nx-fastonl-notes", f"rows-{token}.npy.bak", f".part-{token}-1@me", ".part-notes", "rows-old", "notes"]
    stray = out / f".part-{token}-1@{token}"
    for folder in (out, out / "graph-for-workers", stray):
        folder.mkdir(exist_ok=True)
        for name in others:
            (folder / name).write_bytes(b"precious")
            os.utime(folder / name, (0, 0))
    os.utime(stray, (0, 0))
    assert same(fo.ppr_matrix(G, out=out).to_scipy(), fo.ppr_matrix(G))
    assert not stray.exists()
    for folder in (out, out / "graph-for-workers"):
        assert {(folder / name).read_bytes() for name in others} == {b"precious"}
    assert {path.name for path in (out / "graph-for-workers").iterdir()} == set(others)
