"""Graphs and models that survive crashes."""

import copy
import errno
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings
from contextlib import suppress
from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from numpy.testing import assert_allclose

import nx_fastonl as fo
from nx_fastonl._lib import folders
from nx_fastonl._lib import journal as journals
from nx_fastonl._lib.folders import DamagedError
from nx_fastonl._lib.journal import JournalDamaged
from nx_fastonl.labeling import durable
from nx_fastonl.learners.registry import METHOD_OPTIONS
from tests import seams

POSIX = pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
ROOT = Path(__file__).resolve().parents[2]
NODES = [*range(6), "a", "b", (1, "c"), 2.5, True]
LABELS = ["red", "green", 3, ("x", 1)]
EPSILON = 1e-10  # so small that the errors of scores are too


def content_of(graph):
    """Nodes in order, edges with their weights, and times by nodes."""
    ends = {(repr(u), repr(v)): weight for u, v, weight in graph.edges(data="weight")}
    if not graph.is_directed():
        ends = {frozenset(pair): weight for pair, weight in ends.items()}
    names = graph._nodes
    times = {(repr(names[u]), repr(names[v])): time for (u, v), time in graph._times.items()}
    return [(type(node), node) for node in graph], ends, times


def assert_same_models(found, expected, atol=1e-6):
    assert list(found.labels.items()) == list(expected.labels.items())
    assert found.classes == expected.classes
    assert found.n_learned == expected.n_learned
    if len(expected.graph):
        assert_allclose(found.predict_proba_many(), expected.predict_proba_many(), atol=atol)


def assert_systems_hold(model):
    """H Z + R = B."""
    learner = seams.learner_of(model)
    if len(model.graph) == 0:
        return
    with model.graph.rows.reading():
        learner.follow()
        for diffusion in getattr(learner, "diffusions", None) or [learner.diffusion]:
            Z, R = diffusion.dense(learner.k)
            W = diffusion.kernel.graph.whole().shared_matrix.toarray()
            H = np.diag(diffusion.system.pivots(np.arange(len(W)))) - W
            if hasattr(learner, "gradients"):
                B = learner.stored_gradients()
            else:
                B = np.zeros((len(W), learner.k))
                rows, labels = learner.history.learned()
                B[rows, labels] = 1.0
            assert_allclose(H @ Z + R, B, atol=1e-9)


class DurableMachine(RuleBasedStateMachine):
    """The same calls to a graph on disk, which is opened again in between, and to one in memory."""

    @initialize(directed=st.booleans(), beginning=st.booleans())
    def begin(self, directed, beginning):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "graph"
        G = nx.gnp_random_graph(5, 0.5, seed=1, directed=directed) if beginning else None
        self.graph = fo.DurableGraph(self.path, G, directed, sync="never")
        self.plain = fo.DynamicGraph(G, directed)
        direction = "ignore" if directed else "use"
        self.settings = {
            "fast": {"method": "fastonl", "epsilon": EPSILON, "trace": 100.0, "seed": 1, "direction": direction},
            "adaptive": {"epsilon": EPSILON, "seed": 2},
        }
        self.models = {name: self.graph.labeler(name, **given) for name, given in self.settings.items()}
        self.twins = {name: fo.OnlineNodeLabeler(self.plain, **given) for name, given in self.settings.items()}

    def teardown(self):
        if hasattr(self, "graph"):
            self.compare()
            self.graph.close()
            self.folder.cleanup()

    def compare(self):
        assert content_of(self.graph) == content_of(self.plain)
        for name, twin in self.twins.items():
            assert_same_models(self.models[name], twin)
            assert_systems_hold(self.models[name])

    @rule(snapshot=st.booleans(), closed=st.booleans())
    def open_again(self, snapshot, closed):
        if snapshot:
            self.graph.snapshot()
        if closed:
            self.graph.close()
        else:  # as if the process had been killed
            self.graph._log.journal.close()
        self.graph = fo.DurableGraph(self.path, sync="never")
        assert self.graph.labelers == list(self.settings)
        self.models = {name: self.graph.labeler(name) for name in self.settings}
        self.compare()

    @rule()
    def take_snapshot(self):
        self.graph.snapshot()

    @rule(
        ends=st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), min_size=1, max_size=4),
        weight=st.none() | st.floats(0.1, 4.0),
        time=st.none() | st.floats(0.0, 10.0),
    )
    def add_edges(self, ends, weight, time):
        weights = None if weight is None else [weight] * len(ends)
        times = None if time is None else [time] * len(ends)
        for graph in (self.graph, self.plain):
            graph.add_edges_from(ends, weights, times)

    @rule(ends=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=12))
    def add_array(self, ends):
        for graph in (self.graph, self.plain):
            graph.add_edges_from(np.array(ends))

    @rule(node=st.sampled_from(NODES))
    def add_node(self, node):
        for graph in (self.graph, self.plain):
            graph.add_node(node)

    @rule(nodes=st.lists(st.sampled_from(NODES), max_size=2))
    def remove_nodes(self, nodes):
        for graph in (self.graph, self.plain):
            graph.remove_nodes_from(nodes)
        for twin in self.twins.values():  # those on disk forget the labels of these nodes at once
            assert set(twin.labels) <= set(self.plain)

    @rule(ends=st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)))
    def remove_edge(self, ends):
        for graph in (self.graph, self.plain):
            graph.remove_edges_from([ends])

    @rule(time=st.floats(0.0, 10.0))
    def expire(self, time):
        assert self.graph.expire_before(time) == self.plain.expire_before(time)

    @precondition(lambda self: len(self.plain) > 0)
    @rule(
        data=st.data(),
        name=st.sampled_from(["fast", "adaptive"]),
        how=st.sampled_from(["learn_one", "learn_one", "forget", "learn_many", "run", "fit"]),
    )
    def learn(self, data, name, how):
        node, label = data.draw(st.sampled_from(list(self.plain))), data.draw(st.sampled_from(LABELS))
        both = (self.models[name], self.twins[name])
        if how == "learn_one":
            for model in both:
                model.learn_one(node, label, overwrite=True)
        elif how == "forget":
            if node in self.twins[name].labels:
                for model in both:
                    model.forget(node)
        else:
            known = self.twins[name].labels
            pairs = {node: label for node in list(self.plain)[:3] if how == "fit" or node not in known}
            found = [getattr(model, how)(pairs) for model in both]
            if how == "run":
                assert list(found[0].truth) == list(found[1].truth)


TestDurable = DurableMachine.TestCase
TestDurable.settings = settings(max_examples=10, stateful_step_count=20, deadline=None)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "graph"


def karate(path, **options):
    return fo.DurableGraph(path, nx.karate_club_graph(), **options)


@pytest.mark.parametrize("method", METHOD_OPTIONS)
def test_every_method_goes_on_to_the_bit_after_a_snapshot(path, method):
    with karate(path) as graph:
        model = graph.labeler("clubs", method=method, seed=1, predict="sample")
        model.run([(0, "Mr. Hi"), (33, "Officer"), (1, "Mr. Hi")])
        graph.add_edge("new", 0, 2.0)
        graph.remove_node(5)
        model.learn_one("new", "Mr. Hi")
        graph.snapshot()
        expected = model.predict_many(), np.array(model.predict_proba_many())
    with fo.DurableGraph(path) as graph:
        model = graph.labeler("clubs")
        assert model.predict_many() == expected[0]
        assert_allclose(np.array(model.predict_proba_many()), expected[1], rtol=0, atol=0)
        model.learn_one(2, "Mr. Hi")
        assert model.graph is graph


def test_a_stream_that_was_replayed_gives_the_same_model(path):
    labels = nx.get_node_attributes(nx.karate_club_graph(), "club")
    with karate(path, sync="batch") as graph:
        model = graph.labeler("clubs", seed=1)
        model.run(labels)
        expected = model.predict_proba_many()
    with fo.DurableGraph(path) as graph:
        assert graph.labeler("clubs").labels == labels
        assert_allclose(graph.labeler("clubs").predict_proba_many(), expected, rtol=0, atol=0)


def test_arrays_of_edges_take_24_bytes_an_edge(path):
    edges = np.random.default_rng(1).integers(1000, size=(10_000, 2))
    with fo.DurableGraph(path, sync="never") as graph:
        before = graph._log.journal.n_bytes
        graph.add_edges_from(edges, weights=np.full(len(edges), 0.5))
        assert graph._log.journal.n_bytes - before < 24 * len(edges) + 200
        expected = content_of(graph)
    with fo.DurableGraph(path) as graph:
        assert content_of(graph) == expected


def test_labelers_are_made_once_and_checked(path):
    with karate(path) as graph:
        model = graph.labeler("clubs", classes=["Mr. Hi", "Officer"], method="fastonl", epsilon=0.001)
        assert graph.labeler("clubs") is model
        assert graph.labeler("clubs", method="fastonl") is model
    with fo.DurableGraph(path) as graph:
        model = graph.labeler("clubs", ["Mr. Hi", "Officer"], epsilon=0.001)
        for given, named in (
            ({"method": "adaptive"}, "method='fastonl'"),
            ({"epsilon": 0.01}, "epsilon=0.001"),
            ({"smoothness": 0.5}, "smoothness=None"),
            ({"classes": ["Mr. Hi"]}, r"classes=\['Mr. Hi', 'Officer'\]"),
        ):
            with pytest.raises(ValueError, match=named):
                graph.labeler("clubs", **given)
        with pytest.raises(TypeError, match="no option trees"):
            graph.labeler("other", trees=3)
        with pytest.raises(TypeError, match="must be a text, got 7"):
            graph.labeler(7)
        assert graph.labelers == ["clubs"]
        graph.drop_labeler("clubs")
        with pytest.raises(ValueError, match="was dropped"):
            model.learn_one(0, "Mr. Hi")
        with pytest.raises(KeyError, match="there is no labeler 'clubs'; there are none"):
            graph.drop_labeler("clubs")
    with fo.DurableGraph(path) as graph:
        assert graph.labelers == []


def test_the_draws_of_a_model_are_those_before(path):
    with karate(path) as graph:
        expected = graph.labeler("clubs", predict="sample").fit({0: "a", 33: "b"}).predict_many()
    with fo.DurableGraph(path) as graph:
        assert graph.labeler("clubs").predict_many() == expected


class Odd:
    pass


def test_what_cannot_be_written_is_refused_by_name(path):
    with karate(path) as graph:
        model = graph.labeler("clubs")
        before = graph._log.journal.n_bytes
        for change in (
            lambda: graph.add_node(Odd()),
            lambda: graph.add_edge(0, frozenset([1])),
            lambda: graph.add_edges_from([(0, 1), (Odd(), 2)], times=[1, 2]),
            lambda: model.learn_one(0, Odd()),
            lambda: model.learn_many({0: "a", 1: Odd()}),
            lambda: model.fit({0: Odd()}),
            lambda: graph.labeler("odd", classes=[Odd()]),
        ):
            with pytest.raises(TypeError, match=r"(Odd|frozenset).* cannot be saved"):
                change()
        with pytest.raises(TypeError, match=r"label .*Odd"):
            model.run([(0, "a"), (1, Odd())])
        assert model.labels == {0: "a"}  # what arrived before stays learned
        assert graph.number_of_nodes() == 34
        assert graph._log.journal.n_records == 2
        assert graph._log.journal.n_bytes > before
    with pytest.raises(TypeError, match="Odd"):
        fo.DurableGraph(path.with_name("other"), nx.Graph([(0, Odd())]))
    assert not path.with_name("other").exists()


def test_a_refused_change_writes_nothing(path):
    with karate(path) as graph:
        model = graph.labeler("clubs")
        model.learn_one(0, "a")
        before = graph._log.journal.n_bytes
        for error, change in (
            (nx.NetworkXError, lambda: graph.remove_edge(0, 33)),
            (nx.NetworkXError, lambda: graph.remove_node(99)),
            (ValueError, lambda: graph.add_edge(0, 1, -1.0)),
            (ValueError, lambda: model.learn_one(0, "b")),
            (ValueError, lambda: model.learn_many({1: "b", 0: "b"})),
            (ValueError, lambda: model.forget(1)),
            (nx.NodeNotFound, lambda: model.learn_one(99, "b")),
            (ValueError, lambda: model.fit({0: "a", 1: "b"}, class_prior={"a": 1})),
        ):
            with pytest.raises(error):
                change()
        assert graph._log.journal.n_bytes == before


def test_where_a_folder_holds_something_else(path, tmp_path):
    karate(path).close()
    with pytest.raises(FileExistsError, match="holds a graph already: leave G out"):
        karate(path)
    with pytest.raises(ValueError, match="is undirected, got directed=True"):
        fo.DurableGraph(path, directed=True)
    with fo.DurableGraph(path) as graph, pytest.raises(BlockingIOError, match="open already"):
        fo.DurableGraph(path)
    assert repr(graph) == "DurableGraph with 34 nodes and 78 edges"
    with pytest.raises(FileExistsError, match="has other files, such as graph"):
        fo.DurableGraph(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError, match="is a file"):
        fo.DurableGraph(tmp_path / "file")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        fo.DurableGraph(tmp_path / "no" / "graph")
    with pytest.raises(ValueError, match="sync must be one of"):
        fo.DurableGraph(tmp_path / "new", sync="sometimes")
    assert not (tmp_path / "new").exists()


def test_closed_graphs_can_be_read_and_not_changed(path):
    graph = karate(path)
    model = graph.labeler("clubs").fit({0: "a", 33: "b"})
    graph.close()
    graph.close()
    assert model.predict_one(0) == "a"
    for change in (lambda: graph.add_edge(0, 99), lambda: model.learn_one(1, "a"), graph.snapshot):
        with pytest.raises(ValueError, match="is closed; DurableGraph"):
            change()
    assert 99 not in graph
    assert 1 not in model.labels


def test_snapshots_are_taken_when_the_journal_is_long(path, monkeypatch):
    monkeypatch.setattr(durable, "MIN_JOURNAL", 1000)
    with karate(path, sync="never") as graph:
        model = graph.labeler("clubs")
        graph._snapshot_size = 0
        for i in range(100):
            graph.add_edge(i, f"node {i}")
        assert 1 < graph._number < 30
        graph._snapshot_size = 0
        number = graph._number
        for i in range(34):
            model.learn_one(i, "a long label" * 20)
        assert graph._number > number
    names = sorted(entry.name for entry in path.iterdir())
    assert names == [f".journal-{graph._number}.lock", f"journal-{graph._number}", "snapshot"]
    with fo.DurableGraph(path) as graph:
        assert graph.has_edge(99, "node 99")
        assert graph.labeler("clubs").n_learned == 34


def test_a_snapshot_that_fails_by_itself_warns_and_loses_nothing(path, monkeypatch):
    monkeypatch.setattr(durable, "MIN_JOURNAL", 0)
    with karate(path) as graph:
        graph._snapshot_size = 0

        def fail(*_, **__):
            raise OSError(errno.ENOSPC, "no space left")

        monkeypatch.setattr(durable, "write_folder", fail)
        with pytest.warns(UserWarning, match="no snapshot could be taken.*no space left"):
            graph.add_edge(0, "new")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            graph.add_edge(1, "new")  # not tried at each change
        with pytest.raises(OSError, match="no space left"):
            graph.snapshot()
        graph.add_edge(2, "new")
    with fo.DurableGraph(path) as graph:
        assert graph.degree("new") == 3


# Interrupts of each change.
INTERRUPTS = 40


class Stop(BaseException):
    """An interrupt."""


# Where a snapshot may be interrupted: before and after each of its steps.
STEPS = ["_content", "Journal.create", "write_folder", "_named_journal", "_remove_journal"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("goes_on", [False, True])
def test_snapshots_that_are_interrupted_between_two_steps(path, monkeypatch, step, after, goes_on):
    graph = karate(path)
    model = graph.labeler("clubs")
    model.learn_one(0, "a")
    graph.add_edge(0, "before")
    with monkeypatch.context() as patch:
        owner, name = {
            "_content": (graph, "_content"),
            "Journal.create": (durable.Journal, "create"),
        }.get(step, (durable, step))
        original = getattr(owner, name)

        def interrupted(*given, **options):
            made = original(*given, **options) if after else None
            if isinstance(made, durable.Journal):
                made.close()
            raise Stop

        patch.setattr(owner, name, interrupted)
        with pytest.raises(Stop):
            graph.snapshot()
    if goes_on:
        graph.add_edge(1, "after")
        model.learn_one(33, "b")
        graph.snapshot()
        model.learn_one(32, "b")
        graph.close()
    else:
        graph._log.journal.close()
        if graph._switch is not None:
            graph._switch.journal.close()
    with fo.DurableGraph(path) as graph:
        assert graph.has_edge(0, "before")
        assert graph.has_edge(1, "after") == goes_on
        assert graph.labeler("clubs").labels == ({0: "a", 33: "b", 32: "b"} if goes_on else {0: "a"})
        assert len(list(path.glob("journal-*"))) == 1


def test_a_folder_that_was_not_made_completely_is_made_again(path, monkeypatch):
    def fail(*_, **__):
        raise Stop

    with monkeypatch.context() as patch:
        patch.setattr(durable, "write_folder", fail)
        with pytest.raises(Stop):
            karate(path)
    assert (path / "journal-1").exists()
    with karate(path) as graph:
        graph.add_edge(0, "new")
    with fo.DurableGraph(path) as graph:
        assert len(graph) == 35


def synced_by(monkeypatch, work):
    """The files and folders that a call syncs, as device and number."""
    found, sync = set(), os.fsync

    def seen(file):
        found.add((os.fstat(file).st_dev, os.fstat(file).st_ino))
        sync(file)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", seen)
        work()
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="Windows syncs no folders")
@pytest.mark.parametrize("done", ["nothing", "folder", "journal", "all"])
def test_the_names_of_all_folders_are_synced_before_anything_is_acknowledged(path, monkeypatch, done):
    def stop(*_, **__):
        raise Stop

    if done == "all":  # by a process that was killed before it had synced anything
        karate(path).close()
    elif done != "nothing":
        monkeypatch.setattr(*{"folder": (durable.Journal, "create"), "journal": (durable, "write_folder")}[done], stop)
        with pytest.raises(Stop):
            karate(path)
        monkeypatch.undo()
    synced = synced_by(monkeypatch, lambda: fo.DurableGraph(path).close())
    for folder in (path.parent, path, path / "snapshot"):
        assert (folder.stat().st_dev, folder.stat().st_ino) in synced, folder


TOKEN = "0123456789abcdef"
# What crashes leave in the folder of a graph, and in its snapshot.
STRAYS = ["journal-7", ".journal-7.lock", ".journal-12.lock", f".nx-fastonl-{TOKEN}-{TOKEN}.part"]
SNAPSHOT_STRAYS = [f"row_starts-{TOKEN}.npy", f".nx-fastonl-{TOKEN}-{TOKEN}.part"]
OTHERS = [
    "journal-1.bak", "journal-", "journal-01", "journal-2-copy", "journal-\u0661", "a-journal-7", ".journal-1.lock.bak",
    ".journal-7", "journal-1.lock", ".nx-fastonl-notes", f".nx-fastonl-{TOKEN}.part", f".nx-fastonl-{TOKEN}-{TOKEN}",
]  # fmt: skip
SNAPSHOT_OTHERS = [
    "rows.npy",
    f"rows-{TOKEN}.npy.bak",
    f"rows-{TOKEN[:8]}.npy",
    ".nx-fastonl-mine",
    "manifest.json.bak",
]


def test_opening_removes_what_a_crash_has_left_and_nothing_else(path):
    karate(path).close()
    for name in STRAYS + OTHERS:
        (path / name).write_bytes(b"precious")
    for name in SNAPSHOT_STRAYS + SNAPSHOT_OTHERS:
        (path / "snapshot" / name).write_bytes(b"precious")
    with fo.DurableGraph(path) as graph:
        assert [name for name in STRAYS if (path / name).exists()] == []
        assert [name for name in SNAPSHOT_STRAYS if (path / "snapshot" / name).exists()] == []
        graph.add_edge(0, "new")
        graph.snapshot()
    with fo.DurableGraph(path) as graph:
        assert graph.has_edge(0, "new")
    assert {(path / name).read_bytes() for name in OTHERS} == {b"precious"}
    assert {(path / "snapshot" / name).read_bytes() for name in SNAPSHOT_OTHERS} == {b"precious"}


@pytest.mark.parametrize("name", OTHERS)
def test_a_new_graph_begins_in_no_folder_with_files_of_others(path, name):
    path.mkdir()
    (path / name).write_bytes(b"precious")
    with pytest.raises(FileExistsError, match="has other files, such as"):
        karate(path)
    assert [entry.name for entry in path.iterdir()] == [name]
    assert (path / name).read_bytes() == b"precious"


CHANGES = {
    "add_edge": lambda graph, _: graph.add_edge("new", "other", 2.0),
    "add_edges_from": lambda graph, _: graph.add_edges_from([(0, 5), ("new", "other")], times=[1.0, 2.0]),
    "add_array": lambda graph, _: graph.add_edges_from(np.arange(40).reshape(20, 2)),
    "remove_nodes_from": lambda graph, _: graph.remove_nodes_from([1, 2, 3, 4]),
    "remove_edge": lambda graph, _: graph.remove_edge(0, 1),
    "expire_before": lambda graph, _: graph.expire_before(5.0),
    "learn_one": lambda _, model: model.learn_one(1, "b"),
    "overwrite": lambda _, model: model.learn_one(0, "b", overwrite=True),
    "learn_many": lambda _, model: model.learn_many({1: "b", 2: "c"}),
    "forget": lambda _, model: model.forget(0),
    "fit": lambda _, model: model.fit({1: "b", 2: "c"}),
    "run": lambda _, model: model.run([(1, "b"), (2, "c"), (3, "b"), (4, "b")]),
    "labeler": lambda graph, _: graph.labeler("second", seed=1),
    "drop_labeler": lambda graph, _: graph.drop_labeler("clubs"),
}


def changed_graph(path, method):
    graph = karate(path, sync="never")
    graph.add_edges_from([(0, 33), (1, 33)], times=[1.0, 9.0])
    model = graph.labeler("clubs", method=method, seed=1)
    model.learn_many({0: "a", 33: "b"})
    return graph, model


def summary(graph):
    models = {name: graph.labeler(name).labels for name in graph.labelers}
    return content_of(graph), {name: list(labels.items()) for name, labels in models.items()}


def run_calls(work, at_call=None):
    """How many functions of the package were called; `Stop` is raised before this one begins, as by a signal.

    Locks are spared: they are as good as their few lines.
    """
    root, calls = str(Path(fo.__file__).parent), 0

    def trace(frame, event, _):
        nonlocal calls
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(root) and not file.endswith("sharing.py"):
            calls += 1
            if calls == at_call:
                raise Stop

    sys.settrace(trace)
    try:
        work()
    except Stop:
        pass
    finally:
        sys.settrace(None)
    return calls


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_memory_and_disk_agree_after_interrupts_anywhere(tmp_path, change):
    graph, model = changed_graph(tmp_path / "timed", "fastonl")
    n_calls = run_calls(partial(CHANGES[change], graph, model))
    graph.close()
    assert n_calls > 10
    for at_call in range(1, n_calls, 1 + n_calls // INTERRUPTS):
        path = tmp_path / f"{at_call}"
        graph, model = changed_graph(path, "fastonl")
        assert run_calls(partial(CHANGES[change], graph, model), at_call) >= at_call
        graph.add_edge("last", 0)  # settles what was left undone
        expected = summary(graph)
        graph.close()
        with fo.DurableGraph(path, sync="never") as again:
            assert summary(again) == expected, f"interrupted at call {at_call} of {change}"


def test_fit_after_the_graph_has_changed(path):
    """A model that was not asked since then fits as a new one does, and so again when the journal is replayed."""
    labels = {i: "ab"[i // 20] for i in range(0, 40, 3)}
    with fo.DurableGraph(path, nx.path_graph(3)) as graph:
        model = graph.labeler("model", method="fastonl")
        graph.add_edges_from([(i, i + 1) for i in range(40)])
        expected = fo.OnlineNodeLabeler(graph.freeze(), method="fastonl").fit(labels).predict_many()
        assert model.fit(labels).predict_many() == expected
    with fo.DurableGraph(path) as graph:
        assert graph.labeler("model").predict_many() == expected


def test_streams_that_are_interrupted_keep_what_was_learned(path, monkeypatch):
    graph, model = changed_graph(path, "fastonl")
    learner = seams.learner_of(model)
    original = type(learner).run

    def half(self, rows, labels, draws):
        original(self, rows[:2], labels[:2], draws[:2])
        raise Stop

    monkeypatch.setattr(type(learner), "run", half)
    with pytest.raises(Stop):
        model.run([(1, "b"), (2, "c"), (3, "b")])
    monkeypatch.undo()
    expected = {0: "a", 33: "b", 1: "b", 2: "c"}
    assert model.labels == expected
    graph.close()
    with fo.DurableGraph(path) as graph:
        assert graph.labeler("clubs").labels == expected


@pytest.mark.parametrize("change", CHANGES)
def test_a_full_disk_changes_nothing(path, monkeypatch, change):
    graph, model = changed_graph(path, "fastonl")
    before = summary(graph)
    write = os.write

    def full(file, content):
        write(file, bytes(content)[:5])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(journals.os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        CHANGES[change](graph, model)
    monkeypatch.undo()
    assert summary(graph) == before
    CHANGES[change](graph, model)
    expected = summary(graph)
    assert expected != before
    graph.close()
    with fo.DurableGraph(path) as again:
        assert summary(again) == expected


def test_a_disk_that_fails_to_sync_ends_writing(path, monkeypatch):
    graph = karate(path)
    model = graph.labeler("clubs")

    def fail(_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(journals.os, "fdatasync", fail)
    with pytest.raises(OSError, match=r"Input/output error|takes no more records"):
        graph.add_edge(0, "new")
    monkeypatch.undo()
    assert "new" not in graph
    with pytest.raises(OSError, match="takes no more records"):
        model.learn_one(0, "a")
    assert model.labels == {}
    graph.close()
    with fo.DurableGraph(path) as again:
        again.add_edge(0, "newer")


def test_damage_is_told_with_its_offset_and_recovered(path):
    with karate(path) as graph:
        positions = []
        for i in range(5):
            positions.append(graph._log.journal.n_bytes)
            graph.add_edge(0, f"new {i}")
    journal = path / "journal-1"
    content = bytearray(journal.read_bytes())
    content[positions[2] + 20] ^= 1
    journal.write_bytes(content)
    with pytest.raises(JournalDamaged, match=f"at byte {positions[2]}, after 2 whole records"):
        fo.DurableGraph(path)
    with pytest.warns(UserWarning, match="the rest of the file is in"), fo.DurableGraph(path, recover=True) as graph:
        assert [f"new {i}" in graph for i in range(5)] == [True, True, False, False, False]
    with fo.DurableGraph(path) as graph:
        assert len(list(path.glob("journal-1.damaged-*"))) == 1
    journal.write_bytes(journal.read_bytes()[:-3])  # a torn end
    with fo.DurableGraph(path) as graph:
        assert ["new 0" in graph, "new 1" in graph] == [True, False]


def test_snapshots_and_journals_of_different_graphs_do_not_mix(path, tmp_path):
    karate(path).close()
    fo.DurableGraph(tmp_path / "other").close()
    (path / "journal-1").write_bytes((tmp_path / "other" / "journal-1").read_bytes())
    with pytest.raises(DamagedError, match="belongs to another snapshot"):
        fo.DurableGraph(path)
    (path / "journal-1").unlink()
    with pytest.raises(DamagedError, match="journal-1 is missing"):
        fo.DurableGraph(path)


def test_a_journal_without_its_snapshot_is_not_thrown_away(path):
    with karate(path) as graph:
        graph.add_edge(0, "new")
    (path / "snapshot" / "manifest.json").unlink()
    with pytest.raises(DamagedError, match="its snapshot is missing"):
        fo.DurableGraph(path)


def test_copies_and_pickles_are_in_memory(path):
    with karate(path) as graph:
        model = graph.labeler("clubs").fit({0: "a", 33: "b"})
        graph.remove_node(5)
        n_records = graph._log.journal.n_records
        for other in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            assert type(other) is fo.OnlineNodeLabeler
            assert type(other.graph) is fo.DynamicGraph
            assert other.predict_many() == model.predict_many()
            other.graph.add_edge("new", 0)
            other.learn_one("new", "a")
        assert type(graph.copy()) is fo.DynamicGraph
        blank = model.clone()
        blank.learn_one(1, "c")
        assert graph._log.journal.n_records == n_records
        assert model.labels == {0: "a", 33: "b"}
        assert "new" not in graph


def test_signal_handlers_cannot_change_a_graph_that_is_being_changed(path):
    with karate(path) as graph:
        with graph._log.recorded(b"", lambda: "did not happen"), pytest.raises(RuntimeError, match="signal handler"):
            graph.add_edge(0, "new")
        assert "new" not in graph


@pytest.mark.parametrize("verb", ["snapshot", "close", "learn"])
@pytest.mark.parametrize("during", ["add_edges_from", "snapshot"])
def test_what_signal_handlers_cannot_do_loses_nothing(path, monkeypatch, during, verb):
    """In the middle of a change or of a snapshot."""
    graph = karate(path)
    model, errors = graph.labeler("clubs"), []
    verbs = {"snapshot": graph.snapshot, "close": graph.close, "learn": lambda: model.learn_one(5, "a")}

    def interrupted(function):
        def call(*arguments, **options):
            if not errors:
                errors.append(None)
                with pytest.raises(RuntimeError) as error:
                    verbs[verb]()
                errors[0] = str(error.value)
            return function(*arguments, **options)

        return call

    with monkeypatch.context() as patch:
        if during == "snapshot":
            patch.setattr(durable, "write_folder", interrupted(durable.write_folder))
            graph.snapshot()
        else:
            patch.setattr(graph._log.journal, "append", interrupted(graph._log.journal.append))
            graph.add_edges_from([(0, "new"), ("new", "newer")])
    assert "signal handler" in errors[0] or "reading" in errors[0]
    graph.add_edge("newest", 0)
    edges = sorted(graph.edges(), key=repr)
    graph.close()
    with fo.DurableGraph(path) as graph:
        assert sorted(graph.edges(), key=repr) == edges
        assert graph.has_node("newest")
        assert graph.labeler("clubs").labels == {}


def test_threads_that_learn_and_change_at_once(path):
    errors = []
    graph = karate(path, sync="never")
    models = [graph.labeler(name) for name in ("first", "second")]

    def learn(model):
        for u in range(34):
            model.learn_one(u, "ab"[u % 2])

    def change():
        for i in range(60):
            graph.add_edge(i % 34, f"node {i % 7}")
            if i % 20 == 0:
                graph.snapshot()

    def run(work, *given):
        try:
            work(*given)
        except BaseException as error:  # noqa: BLE001  reported below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(learn, model)) for model in models]
    threads.append(threading.Thread(target=run, args=(change,)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    expected = summary(graph)
    graph.close()
    with fo.DurableGraph(path) as again:
        assert summary(again) == expected


@POSIX
def test_what_was_acknowledged_survives_kills(tmp_path):
    command = [sys.executable, "-m", "tests.labeling.killed_writers", str(tmp_path / "graph"), "10"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    acknowledged, active = map(int, found.stdout.split())
    assert acknowledged > 10
    assert active > 2


@POSIX
@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize("by_itself", [False, True])
def test_a_folder_that_was_moved_is_written_on_and_the_one_in_its_place_is_not(path, monkeypatch, replaced, by_itself):
    graph = karate(path)
    model = graph.labeler("clubs", method="fastonl", seed=1)
    graph.add_edge(0, "before")
    moved = path.rename(path.with_name("moved"))
    if replaced:
        with fo.DurableGraph(path) as other:
            other.add_edge("of", "other")
            other.snapshot()
    graph.add_edge(1, "after")
    if by_itself:
        monkeypatch.setattr(durable, "MIN_JOURNAL", 0)
        graph._snapshot_size = 0
        with pytest.warns(UserWarning, match=r"no snapshot could be taken.* its folder was moved or removed"):
            model.learn_one(0, "a")
    else:
        model.learn_one(0, "a")
        for _ in range(2):
            with pytest.raises(OSError, match=r"its folder was moved or removed .* open it where the folder is now"):
                graph.snapshot()
    model.learn_one(33, "b")
    with pytest.raises(BlockingIOError, match="open already"):
        fo.DurableGraph(moved)
    expected = summary(graph)
    graph.close()
    with fo.DurableGraph(moved) as again:
        assert summary(again) == expected
        again.snapshot()
    assert path.exists() == replaced
    if replaced:
        with fo.DurableGraph(path) as other:
            assert list(other.edges()) == [("of", "other")]


# What a snapshot has done when the folder is moved: nothing, the journal, the arrays, all but the manifest, all but
# the old journal.
@POSIX
@pytest.mark.parametrize(
    ("owner", "step", "after"),
    [
        (durable, "_remove_journal", False),
        (durable, "write_folder", False),
        (folders, "_digest", True),
        (folders, "write_file", False),
        (durable, "write_folder", True),
        (durable, "_named_journal", True),
    ],
)
def test_a_folder_that_is_moved_while_a_snapshot_is_taken(path, monkeypatch, owner, step, after):
    graph = karate(path)
    graph.add_edge(0, "before")
    original, moved = getattr(owner, step), path.with_name("moved")

    def move(*given, **options):
        found = original(*given, **options) if after else None
        if not moved.exists():
            path.rename(moved)
            with fo.DurableGraph(path, sync="never") as other:
                other.add_edge("of", "other")
        return found if after else original(*given, **options)

    monkeypatch.setattr(owner, step, move)
    with suppress(OSError):
        graph.snapshot()
    monkeypatch.undo()
    with suppress(OSError):
        graph.add_edge(1, "after")
    expected = summary(graph)
    with suppress(OSError):
        graph.close()
    with fo.DurableGraph(moved) as again:
        assert summary(again) == expected
    with fo.DurableGraph(path) as other:
        assert list(other.edges()) == [("of", "other")]


@POSIX
@pytest.mark.parametrize(
    ("owner", "step"),
    [(journals, "write_file"), (durable, "_holds_graph"), (durable, "write_folder"), (folders, "_entry")],
)
def test_a_folder_that_is_moved_while_a_graph_is_made(path, monkeypatch, owner, step):
    original, moved = getattr(owner, step), path.with_name("moved")

    def move(*given, **options):
        if path.exists() and not moved.exists():
            path.rename(moved)
            with fo.DurableGraph(path, sync="never") as other:
                other.add_edge("of", "other")
        return original(*given, **options)

    monkeypatch.setattr(owner, step, move)
    with pytest.raises(OSError, match=r"moved or removed|holds a graph already"):
        karate(path)
    with fo.DurableGraph(path) as other:
        assert list(other.edges()) == [("of", "other")]


@POSIX
@pytest.mark.parametrize("sync", ["always", "never"])
def test_changes_of_a_graph_whose_folder_was_removed_are_refused(path, monkeypatch, sync):
    monkeypatch.setattr(journals, "BATCH_SECONDS", 0.0)
    graph = karate(path, sync=sync)
    graph.add_edge(0, "before")
    shutil.rmtree(path)
    gone = "was removed, or moved to another disk, while it was open: "
    for why in (f"the journal {gone}", f"the journal takes no more records, since it {gone}"):
        with pytest.raises(OSError, match=why):
            graph.add_edge(0, "after")
    with pytest.raises(OSError, match="moved or removed"):
        graph.snapshot()
    assert "after" not in graph
    with fo.DurableGraph(path.with_name("rescued"), graph) as rescued:
        assert list(rescued.edges(data="weight")) == list(graph.edges(data="weight"))
    assert graph.copy().has_edge(0, "before")
    graph.close()


@POSIX
def test_a_forked_child_reads_and_does_not_write(tmp_path):
    command = [sys.executable, "-m", "tests.labeling.forked", str(tmp_path)]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert int(found.stdout) == 23
