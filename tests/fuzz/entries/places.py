"""DurableGraphs that are open while a child is forked, and while their folder is moved, replaced or removed."""

import os
import shutil
import signal
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import networkx as nx

import nx_fastonl as fo
from tests.fuzz.verdicts import check

METHODS = {"fast": "fastonl", "adaptive": "adaptive"}
PATIENCE = 30  # seconds, until a child counts as hanging
NODES = [*range(5), "a", (1, "b")]


class _Pair:
    """A graph with its models, on disk or in memory."""

    def __init__(self, graph):
        self.graph = graph
        made = graph.labeler if isinstance(graph, fo.DurableGraph) else None
        self.models = {
            name: made(name, method=method, seed=1) if made else fo.OnlineNodeLabeler(graph, method=method, seed=1)
            for name, method in METHODS.items()
        }

    def state(self):
        edges = {frozenset(map(repr, (u, v))): weight for u, v, weight in self.graph.edges(data="weight")}
        return list(self.graph), edges, {name: model.labels for name, model in self.models.items()}


def _change(draw):
    """A change, as a function of a `_Pair`; it may be refused, as by nodes that are not there."""
    u, v, name = draw.choice(NODES), draw.choice(NODES), draw.choice(sorted(METHODS))
    return draw.choice(
        [
            lambda pair: pair.graph.add_edge(u, v, 2.0),
            lambda pair: pair.graph.add_edges_from([(u, v), (v, "new")], times=[1.0, 2.0]),
            lambda pair: pair.graph.remove_nodes_from([u]),
            lambda pair: pair.graph.expire_before(1.5),
            lambda pair: pair.models[name].learn_one(u, "red", overwrite=True),
            lambda pair: pair.models[name].fit({u: "red", v: "blue"}),
            lambda pair: pair.models[name].forget(v),
        ]
    )


def _refused(pair, change):
    """Why a change was refused, if it was."""
    try:
        change(pair)
    except (ValueError, KeyError, nx.NetworkXException, OSError) as error:
        return error
    return None


def _both(found, expected, change):
    errors = _refused(found, change), _refused(expected, change)
    check(type(errors[0]) is type(errors[1]), "on disk {}, in memory {}", *errors)


def _begun(draw, path):
    sync = draw.choice(["never", "batch", "always"])
    graphs = fo.DurableGraph(path, nx.path_graph(4), sync=sync), fo.DynamicGraph(nx.path_graph(4))
    return tuple(map(_Pair, graphs))


@contextmanager
def _unsynced():
    """Leave out what only a power cut would need."""
    with mock.patch("os.fsync"), mock.patch("os.fdatasync", create=True):
        yield


def _check_saved(path, expected):
    """The folder opens as it must be, with a snapshot and without."""
    for _ in range(2):
        with fo.DurableGraph(path, sync="never") as graph:
            found = _Pair(graph)
            check(found.state() == expected.state(), "{} after {}", found.state(), expected.state())
            graph.snapshot()


def forks(draw):
    """Changes, snapshots, and children that try to change what they have inherited."""
    if not hasattr(os, "fork"):
        return False
    with tempfile.TemporaryDirectory() as folder, _unsynced():
        path = Path(folder) / "graph"
        found, expected = _begun(draw, path)
        for _ in range(draw.between(1, 8)):
            kind = draw.choice(["change", "change", "fork", "snapshot"])
            if kind == "change":
                _both(found, expected, _change(draw))
            elif kind == "snapshot":
                found.graph.snapshot()
            else:
                changes = [_change(draw) for _ in range(draw.below(4))]
                code = _in_a_child(found, expected, changes, closes=draw.chance(0.5))
                check(code == 0, "a child ended with {}", code)
        found.graph.close()
        _check_saved(path, expected)
    return True


def _in_a_child(found, expected, changes, *, closes):
    """Try changes in a child that was forked; 0 if all were refused and it could read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads, which no input here has
        child = os.fork()
    if child == 0:
        code = 4
        try:
            signal.alarm(PATIENCE)
            code = 0
            for change in changes:  # some leave all as it is: to remove a node that is not there
                _refused(found, change)
                code |= found.state() != expected.state()
            code |= 2 * (not isinstance(_refused(found, lambda pair: pair.graph.snapshot()), ValueError))
            if closes:
                found.graph.close()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def moves(draw):
    """Changes and snapshots, while the folder is moved away and back, and other graphs begin in its place."""
    if os.name == "nt":
        return False
    with tempfile.TemporaryDirectory() as folder, _unsynced():
        home, away = Path(folder) / "graph", Path(folder) / "away"
        found, expected = _begun(draw, home)
        is_gone, others = False, {}
        for i in range(draw.between(1, 10)):
            kind = draw.choice(["change", "change", "snapshot", "move", "another", "remove"])
            is_home = not is_gone and not away.exists()
            draw.note(**{f"step {i}": kind})
            if kind == "change" and not is_gone:
                _both(found, expected, _change(draw))
            elif kind == "snapshot":
                refused = _refused(found, lambda pair: pair.graph.snapshot())
                check((refused is None) == is_home, "a snapshot at home {}: {}", is_home, refused)
            elif kind == "move" and is_home:
                home.rename(away)
            elif kind == "move" and away.exists() and not home.exists():
                away.rename(home)
            elif kind == "another" and not home.exists():
                with fo.DurableGraph(home, sync="never") as other:
                    other.add_edge("of", f"other {i}")
                others = {frozenset(("of", f"other {i}"))}
            elif kind == "remove" and not is_gone and draw.chance(0.3):
                shutil.rmtree(home if is_home else away)
                is_gone = True
        if is_gone and found.graph._sync == "always":
            refused = _refused(found, lambda pair: pair.graph.add_edge("more", 0))
            check(isinstance(refused, OSError), "a change of what is gone: {}", refused)
        found.graph.close()
        if not is_gone:
            _check_saved(away if away.exists() else home, expected)
        if others:
            with fo.DurableGraph(home, sync="never") as other:
                check(set(map(frozenset, other.edges())) == others, "another graph has {}", list(other.edges()))
    return True
