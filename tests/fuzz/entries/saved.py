"""Saved graphs and models with bits flipped, files cut or swapped: opening them raises, or what is opened works.

Models, and graphs with ``verify="checksum"``, are right or refused. Graphs that are opened by default may have other
edges and weights than before. Then they are only safe to use.
"""

import functools
import pickle
import tempfile
from pathlib import Path

import networkx as nx

import nx_fastonl as fo
from tests.fuzz.entries.pickles import METHODS, _check_graph
from tests.fuzz.verdicts import check


@functools.cache
def folders():
    """Graphs and models, small and of every kind: the files of each by name, and its answers."""
    G = nx.path_graph(6)
    G.add_edge(1, 4, weight=2.5)
    arcs = nx.DiGraph([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("e", "d")])
    mixed = nx.relabel_nodes(G, {0: "zero", 1: (1, "one")})
    found = [*map(fo.CSRGraph.from_networkx, (G, arcs, mixed)), fo.CSRGraph.from_edges([0, 1], [1, 2], nodes=[9, 3, 5])]
    found += [fo.OnlineNodeLabeler(G, method=method, seed=1).fit({0: "x", 5: "y"}) for method in METHODS]
    found.append(fo.OnlineNodeLabeler(arcs).fit({"a": "x", "d": "y", "e": "y"}))
    return [(_files_of(each), isinstance(each, fo.CSRGraph), _answers(each)) for each in found]


def _files_of(saved):
    with tempfile.TemporaryDirectory() as folder:
        saved.save(folder)
        return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def saved(draw):
    """One folder, damaged, opened and used."""
    files, is_graph, expected = draw.choice(folders())
    files = dict(files)
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        name = draw.choice(sorted(files))
        content = bytearray(files[name])
        damage = draw.choice(["bit", "bit", "bit", "byte", "cut", "longer", "swap", "gone"])
        if damage in ("bit", "byte") and content:
            content[draw.below(len(content))] ^= 1 << draw.below(8) if damage == "bit" else draw.between(1, 255)
        elif damage == "cut":
            del content[draw.below(len(content) + 1) :]
        elif damage == "longer":
            content += draw.rest(64)
        elif damage == "swap":
            content = files[draw.choice(sorted(files))]
        elif damage == "gone":
            del files[name]
            if not files:
                break
            continue
        files[name] = bytes(content)
        draw.note(name=name, damage=damage)
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        if not is_graph:
            return _load(folder, expected)
        checked = _open(folder, "checksum")
        if checked is not None:
            check(_answers(checked) == expected, "another graph was opened, though its checksums were compared")
        graph = _open(folder, True)
        if graph is None:
            return False
        _check_graph(graph)
        try:
            _answers(graph)
        except (ValueError, nx.NodeNotFound) as error:  # a name that is another one now, or no text
            check("UTF-8" in str(error) or "is not in the graph" in str(error), "{}", error)
        return True


def _open(folder, verify):
    try:
        return fo.CSRGraph.open(folder, verify=verify)
    except (ValueError, FileNotFoundError):
        return None


def _load(folder, expected):
    try:
        model = fo.OnlineNodeLabeler.load(folder)
    except (ValueError, FileNotFoundError):
        return False
    _check_graph(model._graph)
    check(_answers(model) == expected, "another model was loaded")
    return True


def _answers(found):
    if isinstance(found, fo.CSRGraph):
        found.degrees.sum()
        pushed = fo.fifo_push(found, found.nodes[0], 0.5, 0.01)
        ranks = fo.personalized_pagerank_local(found, 0.5)
        return pickle.dumps((list(found), pushed, ranks))
    return pickle.dumps((found.predict_many(), found.predict_proba_many(), found.labels, found.classes))
