"""Everything that can go wrong at every call of the operating system: a script, since only one thread may fork.

``python -m tests.crash_points FOLDER 1000`` goes through 1,000 points: a fault, and the number of the call at which it
happens. ``python -m tests.crash_points FOLDER 100 fork moved`` names faults. A forked process makes a DurableGraph,
changes it and takes snapshots, or writes the rows of a job. What was acknowledged must then be there, what was refused
must not, and the folder must open and go on. It prints how many points of each kind were reached, and how often
something was lost or did not open.

The faults: the process is killed before the call, or in the middle of a write; the disk is full, at this call or from
then on; the disk fails, once or from then on; writes are short from then on; a child is forked and leaves by an
exception, or uses what it has inherited; the folder is moved, and another graph or job begins in its place.
"""

import builtins
import errno
import io
import mmap
import os
import random
import shutil
import signal
import sys
import traceback
from collections import Counter
from contextlib import suppress
from pathlib import Path

import networkx as nx

import nx_fastonl as fo
from nx_fastonl.batch import jobs
from tests.batch import killed_jobs

FAULTS = ("kill", "torn write", "full", "full from then on", "EIO", "EIO from then on", "short writes", "fork", "moved")
CALLS = ("write", "fsync", "fdatasync", "ftruncate", "replace", "rename", "link", "unlink", "mkdir", "rmdir", "open")
KILLED = 9  # exit code
PATIENCE = 60  # seconds, until a process counts as hanging
BEGUN, DONE, REFUSED = b"b", b"d", b"r"
MODELS = {"fast": "fastonl", "adaptive": "adaptive"}


class Leave(BaseException):
    """How a forked child leaves."""


class Fault:
    """What happens at call number `at`. Calls are counted once this is installed, in this process alone."""

    def __init__(self, kind, at, notes, path, begin_another):
        self.kind, self.at, self.notes, self.path, self.begin_another = kind, at, notes, path, begin_another
        self.is_on, self.n, self.graph = True, 0, None

    def install(self):
        for name in CALLS:
            if hasattr(os, name):
                setattr(os, name, self._counted(name, getattr(os, name)))
        original = io.open
        io.open = builtins.open = lambda *given, **options: self._opened(original, *given, **options)

    def _counted(self, name, original):
        def call(*given, **options):
            with_half = name == "write" and (lambda: original(given[0], bytes(given[1])[: len(given[1]) // 2]))
            if self.reached(name, with_half) == "short" and name == "write":
                given = (given[0], bytes(given[1])[:3])
            return None if "sync" in name else original(*given, **options)  # only a power cut would need to sync

        return call

    def _opened(self, original, file, mode="r", *given, **options):
        if set(mode).isdisjoint("wax+"):
            return original(file, mode, *given, **options)
        self.reached("open", None)
        return File(original(file, mode, *given, **options), self)

    def reached(self, name, with_half):
        """Count a call, and let happen what is due. `with_half` does half of a write."""
        if not self.is_on:
            return None
        self.n += 1
        self.notes.count(self.n)
        goes_on = self.kind in ("full from then on", "EIO from then on", "short writes")
        if self.n < self.at or (self.n > self.at and not goes_on):
            return None
        if self.kind == "full from then on" and name in ("ftruncate", "unlink", "rmdir"):  # they need no room
            return None
        if self.kind == "moved" and not self.path.exists():  # it is moved once it is there
            self.at += 1
            return None
        self.notes.reached()
        if self.kind == "kill":
            os._exit(KILLED)
        if self.kind == "torn write":
            if with_half:
                with_half()
            os._exit(KILLED)
        if self.kind in ("full", "full from then on"):
            if with_half:
                with_half()
            raise OSError(errno.ENOSPC, "No space left on device")
        if self.kind in ("EIO", "EIO from then on"):
            raise OSError(errno.EIO, "Input/output error")
        if self.kind == "fork":
            self._fork()
        elif self.kind == "moved":
            self.is_on = False
            self.path.rename(moved(self.path))
            self.begin_another(self.path)
            self.is_on = True
        return "short"

    def _fork(self):
        self.is_on = False
        child = os.fork()
        if child == 0:
            if self.at % 2 == 0:
                raise Leave
            if self.graph is not None:
                for change in (self.graph.snapshot, lambda: self.graph.add_edge("child", 0), self.graph.close):
                    with suppress(ValueError, RuntimeError):
                        change()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        self.is_on = True


class File:
    """A file that is written to; each write is a call."""

    def __init__(self, file, fault):
        self._file, self._fault = file, fault

    def __getattr__(self, name):
        return getattr(self._file, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()

    def write(self, content):
        def with_half():
            self._file.write(bytes(content)[: len(content) // 2])
            self._file.flush()

        self._fault.reached("write", with_half)
        return self._file.write(content)


class Notes:
    """What a process tells its parent, in shared memory: so it is there when the process is killed."""

    SIZE = 4096

    def __init__(self):
        self._shared = mmap.mmap(-1, self.SIZE)

    def clear(self):
        self._shared[:] = bytes(self.SIZE)

    def count(self, n):
        self._shared[:8] = n.to_bytes(8, "little")

    @property
    def n_calls(self):
        return int.from_bytes(self._shared[:8], "little")

    def reached(self):
        self._shared[8:9] = b"!"

    @property
    def was_reached(self):
        return self._shared[8:9] == b"!"

    def set(self, i, state):
        self._shared[9 + i : 10 + i] = state

    def all_in(self, state):
        return [i for i, found in enumerate(self._shared[9:]) if found == state[0]]


def moved(path):
    return path.with_name(f"{path.name}-moved")


class Graphs:
    """A DurableGraph and two models on it."""

    name = "graphs"

    def __init__(self):
        self._states = {}

    def work(self, fault):
        graph, models = None, None
        for i in range(len(EVENTS) + 1):
            fault.notes.set(i, BEGUN)
            try:
                if graph is None:
                    graph = fault.graph = fo.DurableGraph(fault.path, beginning())
                    models = {name: graph.labeler(name, method=method, seed=1) for name, method in MODELS.items()}
                else:
                    EVENTS[i - 1](graph, models)
                fault.notes.set(i, DONE)
            except (OSError, ValueError, KeyError, nx.NetworkXException):
                fault.notes.set(i, REFUSED)
                if models is None:
                    return
        with suppress(OSError):
            graph.close()

    def begin_another(self, path):
        with fo.DurableGraph(path, nx.Graph([("of", "other")])):
            pass

    def check(self, fault):
        done, begun = fault.notes.all_in(DONE), fault.notes.all_in(BEGUN)
        refused = fault.notes.all_in(REFUSED)
        path = fault.path
        if moved(path).exists():
            with fo.DurableGraph(path) as other:
                assert list(other.edges()) == [("of", "other")], "the graph in its place is another one"
            path = moved(path)
        states = [self.state(done)] if 0 in done else [([], {}, {}), self.state([0], {}), self.state([0], ["fast"])]
        states += [self.state(sorted([*done, i])) for i in begun]  # one more may be, whole
        if fault.kind == "EIO from then on" and refused:  # it could not be taken back
            states.append(self.state(sorted([*done, refused[0]])))
        with fo.DurableGraph(path) as graph:
            found = state_of(graph, {name: graph.labeler(name) for name in graph.labelers})
            assert found in states, f"changes {done} of {len(EVENTS)} were acknowledged, and something else is there"
            graph.add_edge("more", 0)
            graph.snapshot()
            graph.labeler("more").learn_one("more", "x")
        with fo.DurableGraph(path) as graph:
            assert graph.has_edge("more", 0)
            assert graph.labeler("more").labels == {"more": "x"}

    def state(self, done, models=MODELS):
        """What is there after these changes, by a graph and models in memory."""
        key = (*done, *models)
        if key not in self._states:
            graph = fo.DynamicGraph(beginning())
            known = {name: fo.OnlineNodeLabeler(graph, method=MODELS[name], seed=1) for name in models}
            for i in done:
                if i > 0:
                    with suppress(ValueError, KeyError, nx.NetworkXException):
                        EVENTS[i - 1](graph, known)
            self._states[key] = state_of(graph, known)
        return self._states[key]


def beginning():
    return nx.path_graph(4)


def snapshot(graph, _):
    if isinstance(graph, fo.DurableGraph):
        graph.snapshot()


EVENTS = (
    lambda graph, _: graph.add_edge(0, "a", 2.0),
    lambda _, models: models["fast"].learn_one(0, "red"),
    lambda graph, _: graph.add_edges_from([(1, "b"), ("b", "c")], times=[1.0, 2.0]),
    snapshot,
    lambda _, models: models["adaptive"].learn_many({0: "x", 2: "y"}),
    lambda graph, _: graph.remove_nodes_from([3]),
    lambda _, models: models["fast"].learn_one(0, "green", overwrite=True),
    lambda graph, _: graph.expire_before(1.5),
    snapshot,
    lambda _, models: models["adaptive"].forget(2),
    lambda _, models: models["fast"].fit({0: "red", 2: "blue"}),
    lambda graph, _: graph.add_edge(5, 6),
)


def state_of(graph, models):
    edges = {frozenset(map(str, (u, v))): weight for u, v, weight in graph.edges(data="weight")}
    return list(graph), edges, {name: model.labels for name, model in models.items()}


class Jobs:
    """Rows of a small graph, in shards."""

    name = "jobs"

    def __init__(self):
        self.G = nx.path_graph([f"node {u}" for u in range(9)])
        self.expected = killed_jobs.KINDS[0](self.G)

    def work(self, fault):
        reported, original = 0, jobs._write_shard

        def write(shard, block):
            nonlocal reported
            original(shard, block)
            if fault.is_on:  # else it is one of another job
                fault.notes.set(reported, DONE)
                reported += 1

        jobs._write_shard = write
        with suppress(OSError, ValueError):
            killed_jobs.KINDS[0](self.G, out=fault.path, rows_per_shard=killed_jobs.ROWS_PER_SHARD)

    def begin_another(self, path):
        fo.ppr_matrix(self.G, alpha=0.5, top_k=3, out=path, rows_per_shard=2)

    def check(self, fault):
        path = fault.path
        if moved(path).exists():
            other = fo.ppr_matrix(self.G, alpha=0.5, top_k=3, out=path, rows_per_shard=2)
            assert (other.to_scipy() != fo.ppr_matrix(self.G, alpha=0.5, top_k=3)).nnz == 0, "the job in its place"
            path = moved(path)
        if path.exists():
            found = killed_jobs.complete_shards(path, self.expected)
            assert len(found) >= len(fault.notes.all_in(DONE)), "a shard that was reported is not there"
        killed_jobs.finish(self.G, 0, path, self.expected)


def go_through(place, n_points, faults=FAULTS, seed=1):
    """Go through so many points; return how many of each kind were reached, and the failures."""
    os.fsync = os.fdatasync = lambda _: None
    notes, points = Notes(), {}
    for subject in (Graphs(), Jobs()):
        run(subject, Fault("", 0, notes, place / "counted" / subject.name, None))
        points[subject] = [(kind, at) for kind in faults for at in range(1, notes.n_calls + 1)]
        random.Random(seed).shuffle(points[subject])
        shutil.rmtree(place / "counted")
    graphs, rows = points
    found, failures = Counter(), []
    for i in range(n_points):
        subject = rows if i % 3 == 2 else graphs
        kind, at = points[subject].pop()
        folder = place / str(i)
        fault = Fault(kind, at, notes, folder / "saved", subject.begin_another)
        failure = run(subject, fault)
        if failure is None:
            try:
                subject.check(fault)
            except AssertionError as error:
                failure = f"lost: {error}"
            except Exception:  # noqa: BLE001  whatever it is, the folder does not open
                failure = f"does not open: {traceback.format_exc()}"
        found[subject.name, kind] += notes.was_reached
        if failure is not None:
            failures.append(f"{subject.name}, {kind} at call {at}: {failure}")
        shutil.rmtree(folder, ignore_errors=True)
    return found, failures


def run(subject, fault):
    """Let a forked process do its work, with the fault; return what went wrong in a way that it must not."""
    fault.path.parent.mkdir(parents=True)
    fault.notes.clear()
    child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE)
        code = 0
        try:
            fault.install()
            subject.work(fault)
        except Leave:
            pass
        except BaseException:  # noqa: BLE001  the parent counts it
            code = 1
            traceback.print_exc()
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return None if code in (0, KILLED) else f"the process ended with {code}"


def table(found, failures):
    lines = [f"{name:8}{kind:20}{n:6}" for (name, kind), n in sorted(found.items())]
    lost = sum("lost:" in failure for failure in failures)
    closed = sum("does not open:" in failure for failure in failures)
    total = f"{sum(found.values())} points, {lost} lost, {closed} do not open, {len(failures) - lost - closed} else"
    return "\n".join([*failures, *lines, total])


if __name__ == "__main__":
    result = go_through(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] or FAULTS)
    sys.stdout.write(table(*result) + "\n")
    sys.exit(1 if result[1] else 0)
