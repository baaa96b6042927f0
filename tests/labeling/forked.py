"""Processes that are forked while a DurableGraph is open: a script, since only one thread may fork.

``python -m tests.labeling.forked FOLDER`` forks a child for each thing that it may do with the graph of its parent, and
at moments when another thread holds a lock or a snapshot is being taken. The parent goes on with its graph, and the
graph is opened again after each. It prints how many children were forked.
"""

import gc
import os
import signal
import sys
import threading
from pathlib import Path

import networkx as nx

import nx_fastonl as fo
from nx_fastonl._lib import folders
from nx_fastonl.labeling import durable

PATIENCE = 60  # seconds, until a child counts as hanging
REFUSED = (
    "was opened by the process that this one was forked from",
    "was changing the graph when this process was forked",
)
# What a child tries, and must be refused.
CHANGES = {
    "snapshot": lambda graph, _: graph.snapshot(),
    "add_edge": lambda graph, _: graph.add_edge("child", 0),
    "remove_nodes_from": lambda graph, _: graph.remove_nodes_from([0]),
    "learn_one": lambda _, model: model.learn_one("b", "blue"),
    "learn_many": lambda _, model: model.learn_many({"b": "blue"}),
    "run": lambda _, model: model.run([("b", "blue")]),
    "forget": lambda _, model: model.forget("a"),
    "fit": lambda _, model: model.fit({"b": "blue"}),
    "labeler": lambda graph, _: graph.labeler("other"),
    "drop_labeler": lambda graph, _: graph.drop_labeler("colors"),
}


def made(path):
    graph = fo.DurableGraph(path, nx.Graph([("a", "b"), ("b", 0)]))
    model = graph.labeler("colors", method="fastonl", seed=1)
    model.learn_one("a", "red")
    return graph, model


def forked(work):
    """Fork a child that does this work; return its exit code, or minus the signal that ended it."""
    child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE)
        code = 1
        try:
            code = work() or 0
        except BaseException as error:  # noqa: BLE001  seen in the output
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def is_refused(change, *given):
    try:
        change(*given)
    except (ValueError, RuntimeError) as error:
        return any(why in str(error) for why in REFUSED)
    return False


def goes_on(path, graph, model):
    """The parent changes its graph, with a snapshot or without, and everything is there when it is opened again."""
    graph.add_edge("c", "d")
    model.learn_one("c", "green")
    expected = set(map(frozenset, graph.edges())), model.labels.copy()
    graph.close()
    with fo.DurableGraph(path) as again:
        assert (set(map(frozenset, again.edges())), again.labeler("colors").labels) == expected
        again.snapshot()
    with fo.DurableGraph(path) as again:
        assert (set(map(frozenset, again.edges())), again.labeler("colors").labels) == expected


def children(path):
    """What a child does with an open graph, each in turn; children have the exit code 0 if all is as it should be."""
    for name, change in CHANGES.items():
        graph, model = made(path / name)
        assert forked(lambda graph=graph, model=model, change=change: not is_refused(change, graph, model)) == 0, name
        yield name, graph, model

    graph, model = made(path / "reads")

    def read():
        assert graph.has_edge("a", "b")
        assert model.predict_one(0) == "red"
        assert graph.copy().number_of_edges() == 2
        graph.close()
        assert model.predict_one(0) == "red"

    assert forked(read) == 0
    yield "reads", graph, model

    graph, model = made(path / "collected")
    box = [graph, model]

    def collect():
        nonlocal graph, model
        graph = model = None
        box.clear()
        gc.collect()

    assert forked(collect) == 0
    yield "collected", graph, model


def locked(path):
    """Another thread of the parent holds a lock of the graph: children are refused, and do not wait for it."""
    for name in ("reading", "writing", "log"):
        graph, model = made(path / name)
        side = graph._log._lock if name == "log" else getattr(graph._lock, name)
        held, leave = threading.Event(), threading.Event()

        def hold(side=side, held=held, leave=leave):
            with side:
                held.set()
                leave.wait(PATIENCE)

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait(PATIENCE)

        def all_refused(graph=graph, model=model):
            for change in CHANGES.values():
                assert is_refused(change, graph, model)
            graph.close()

        assert forked(all_refused) == 0, name
        leave.set()
        thread.join()
        yield name, graph, model


def amid_a_snapshot(path):
    """A signal handler forks at each step of a snapshot, and the child leaves by an exception."""
    steps = [(durable, "write_folder"), (folders, "write_file"), (durable, "_named_journal"), (folders, "_digest")]
    for owner, step in steps:
        for after in (False, True):
            graph, model = made(path / f"{step}-{after}")
            original, child = getattr(owner, step), []

            def fork(*given, original=original, after=after, child=child, **options):
                found = original(*given, **options) if after else None
                if not child:
                    child.append(os.fork())
                    if child == [0]:
                        signal.alarm(PATIENCE)
                        sys.exit(7)
                    os.waitpid(child[0], 0)
                return found if after else original(*given, **options)

            setattr(owner, step, fork)
            try:
                graph.snapshot()
            except SystemExit:
                os._exit(7)
            finally:
                setattr(owner, step, original)
            yield step, graph, model


def fork_all(path):
    n = 0
    for cases in (children, locked, amid_a_snapshot):
        (path / cases.__name__).mkdir()
        for name, graph, model in cases(path / cases.__name__):
            goes_on(graph.path, graph, model)
            n += 1
            assert name
    return n


if __name__ == "__main__":
    sys.stdout.write(str(fork_all(Path(sys.argv[1]))))
