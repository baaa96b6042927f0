"""Folders of DurableGraphs with bits flipped, files cut, swapped or gone: refused, or as at some moment before."""

import functools
import tempfile
import warnings
from pathlib import Path

import networkx as nx

import nx_fastonl as fo
from tests.fuzz.verdicts import check

DAMAGES = ("bit", "bit", "bit", "byte", "cut", "cut", "longer", "zeros", "swap", "gone")


def _events(graph):
    """What happened, one after another; each is a record of the journal."""
    fast = graph.labeler("fast", method="fastonl", seed=1)
    yield
    adaptive = graph.labeler("adaptive", seed=1)
    yield
    for change in (
        lambda: graph.add_edges_from([(0, "a"), ("a", (1, "b"))], times=[1.0, 2.0]),
        lambda: fast.learn_many({0: "x", "a": "y", (1, "b"): "x"}),
        lambda: adaptive.learn_one(0, "x"),
        lambda: graph.add_edge(0, 2, 2.5),
        lambda: graph.remove_nodes_from([3]),
        lambda: adaptive.run([(1, "y"), (2, "x")]),
        lambda: graph.expire_before(1.5),
        lambda: fast.forget(0),
        lambda: adaptive.fit({0: "x", 1: "y"}, class_prior={"x": 1.0, "y": 2.0}),
        lambda: graph.drop_labeler("fast"),
        lambda: graph.add_edges_from(nx.to_numpy_array(nx.path_graph(2)).astype(int)),
    ):
        change()
        yield


@functools.cache
def originals():
    """Files by name, with the states that the graph had since its snapshot."""
    found = []
    for snapshot_after, directed in ((0, False), (6, False), (9, True), (99, False)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "graph"
            G = nx.path_graph(5, create_using=nx.DiGraph if directed else nx.Graph)
            with fo.DurableGraph(path, G, sync="never") as graph:
                states = [_state(graph)]
                events = _undirected(graph) if directed else _events(graph)
                for i, _ in enumerate(events):
                    states.append(_state(graph))
                    if i == snapshot_after:
                        graph.snapshot()
                        states = states[-1:]
            files = {
                str(each.relative_to(path)): each.read_bytes() for each in sorted(path.rglob("*")) if each.is_file()
            }
            found.append((files, states))
    return found


def _undirected(graph):
    adaptive = graph.labeler("adaptive", seed=1)
    yield
    for u in range(12):
        graph.add_edge(u, u // 2)
        yield
        adaptive.learn_one(u, "xy"[u % 2])
        yield


def _state(graph):
    edges = sorted((str(u), str(v), weight) for u, v, weight in graph.edges(data="weight"))
    return list(graph), edges, {name: graph.labeler(name).labels.copy() for name in graph.labelers}


def durable(draw):
    """One folder, damaged, opened and used."""
    files, states = draw.choice(originals())
    files = dict(files)
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        journals = [name for name in sorted(files) if name.startswith("journal")]
        name = draw.choice(journals if journals and draw.chance(0.7) else sorted(files))
        damage = draw.choice(DAMAGES)
        files = _damaged(draw, files, name, damage)
        draw.note(name=name, damage=damage)
        if not files:
            break
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph"
        (path / "snapshot").mkdir(parents=True)
        for name, content in files.items():
            (path / name).write_bytes(content)
        is_new = not (path / "snapshot" / "manifest.json").exists()
        try:
            graph = _opened(path, recover=draw.chance(0.3))
        except (ValueError, FileNotFoundError, FileExistsError):
            return False
        with graph:
            found = _state(graph)
            check(found in ([([], [], {})] if is_new else states), "{} is no state that there was", found)
            graph.add_edge("more", 0)
            for name in graph.labelers:
                model = graph.labeler(name)
                model.learn_one("more", "z")
                model.predict_many()
            expected = _state(graph)
        with _opened(path, recover=False) as graph:
            check(_state(graph) == expected, "{} after {}", _state(graph), expected)
    return True


def _opened(path, *, recover):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return fo.DurableGraph(path, sync="never", recover=recover)


def _damaged(draw, files, name, damage):
    content = bytearray(files[name])
    at = draw.below(len(content) + 1)
    if damage in ("bit", "byte") and at < len(content):
        content[at] ^= 1 << draw.below(8) if damage == "bit" else draw.between(1, 255)
    elif damage == "cut":
        del content[at:]
    elif damage == "longer":
        content += draw.rest(64)
    elif damage == "zeros":
        content[at : at + 64] = bytes(len(content[at : at + 64]))
    elif damage == "swap":
        content = bytearray(files[draw.choice(sorted(files))])
    elif damage == "gone":
        return {other: kept for other, kept in files.items() if other != name}
    return {**files, name: bytes(content)}
