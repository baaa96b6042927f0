"""Saved graphs, models, rows and DurableGraphs that were altered, and whose checksums were mended.

Each is refused with a ValueError, or safe to use, whatever its numbers mean then: it is used hard.
"""

import functools
import itertools
import tempfile
import warnings
from pathlib import Path

import networkx as nx
import numpy as np

import nx_fastonl as fo
from nx_fastonl.kernels.table import KERNELS
from tests.fuzz.entries.pickles import METHODS, _check_graph
from tests.fuzz.verdicts import check
from tests.tampering import mend, read

# What numbers are set to, beside those of the draw.
WHOLE = (0, -1, 1, 2, 3, 6, 7, 8, 12, 64, 2**31 - 1, 2**31, -(2**31), 2**62, 10**30)
REAL = (0.0, -1.0, 1.0, 1e-300, 1e-12, 0.5, 1e12, 1e149, 1e300, -1e300, float("inf"), float("-inf"), float("nan"))
OTHER = (None, True, False, "", "range", "x", [], {}, *WHOLE, *REAL)
CHANGES = ("one", "one", "one", "some", "all", "swap", "shift", "shorter", "longer", "empty", "type", "other")
TYPES = ("<i1", "<i4", "<i8", "<f4", "<f8", "|u1", "|b1", "<u4")


def tampered_graphs(draw):
    """One graph, altered, opened and used."""
    with _written(draw.choice(_graphs())) as path:
        content = _altered(draw, read(path))
        if draw.chance(0.7):
            _sum_up(content)
        mend(path, content)
        verify = draw.choice([True, "checksum"])
        try:
            graph = fo.CSRGraph.open(path, verify=verify)
        except ValueError:
            return False
        _check_graph(graph)
        _use(draw, graph, (_push, _learn, _change, _explore, _rows))
    return True


def tampered_models(draw):
    """One model, altered, loaded and used."""
    with _written(draw.choice(_models())) as path:
        content = _altered(draw, read(path), but="graph_" if draw.chance(0.9) else "")
        mend(path, content)
        try:
            model = fo.OnlineNodeLabeler.load(path)
        except ValueError:
            return False
        _check_graph(model._graph)
        _use(draw, model, (_predict, _go_on, _forget, _certify, _save_again, lambda model: _change(model.graph)))
    return True


def tampered_matrices(draw):
    """One folder of rows, altered, opened and read."""
    files, shape = draw.choice(_matrices())
    with _written(files) as path:
        shards = sorted(each.parent for each in path.rglob("*/manifest.json"))
        for folder in {draw.choice([path, *shards]) for _ in range(draw.choice([1, 1, 2]))}:
            fingerprint = mend(folder, _altered(draw, read(folder)))
            if folder == path:
                for shard in shards:
                    content = read(shard)
                    if isinstance(content.details, dict):
                        content.details["job"] = fingerprint
                        mend(shard, content)
        if draw.chance(0.2):
            first, second, spare = shards[0], draw.choice(shards), path / "spare"
            first.rename(spare)
            second.exists() and second.rename(first)
            spare.rename(second)
        try:
            matrix = fo.open_matrix(path, verify=draw.choice([True, "checksum"]))
            rows = matrix.to_scipy()
        except ValueError:
            return False
        check(rows.shape == matrix.shape, "{} rows and columns of {}", rows.shape, matrix.shape)
        rows.check_format(full_check=True)
        if matrix.shape == shape:
            _use(draw, matrix, (_read_rows,))
    return True


def tampered_durable(draw):
    """One DurableGraph, its snapshot altered, opened, used and opened again."""
    with _written(draw.choice(_durable())) as path:
        mend(path / "snapshot", _altered(draw, read(path / "snapshot")))
        try:
            graph = _opened(path)
        except ValueError:
            return False
        with graph:
            _use(draw, graph, (_change, _use_labelers, lambda graph: graph.snapshot(), _change, _use_labelers))
        try:
            with _opened(path) as graph:
                _use(draw, graph, (_use_labelers, _change))
        except ValueError:
            return True
    return True


# What was saved, by the paths of its files.


@functools.cache
def _graphs():
    G = nx.gnp_random_graph(9, 0.4, seed=1)
    weighted = nx.Graph(G)
    weighted.add_edge(1, 4, weight=2.5)
    arcs = nx.gnp_random_graph(9, 0.3, seed=2, directed=True)
    named = nx.relabel_nodes(weighted, {u: f"node {u}" for u in weighted})
    mixed = nx.relabel_nodes(arcs, {0: "zero", 1: (1, "one")})
    graphs = [fo.CSRGraph.from_networkx(each) for each in (G, weighted, arcs, named, mixed)]
    graphs.append(fo.CSRGraph.from_edges([0, 1, 2], [1, 2, 0], nodes=[9, 3, 5]))
    return [_files_of(graph.save) for graph in graphs]


@functools.cache
def _models():
    G = nx.gnp_random_graph(9, 0.4, seed=1)
    G.add_edge(1, 4, weight=2.5)
    arcs = nx.gnp_random_graph(9, 0.3, seed=2, directed=True)
    made = [(G, {"method": method}) for method in METHODS]
    made += [(G, {"method": "fastonl", "kernel": kernel, "smoothness": 0.3}) for kernel in KERNELS]
    made += [
        (arcs, {}),
        (arcs, {"classes": ["x", "y", "z"], "forgetting": 2}),
        (G, {"experts": ["vote"]}),
        (G, {"experts": ["profile", "laplacian:0.3", "frequency"]}),
        (G, {"method": "fastonl", "dtype": "float32", "trace": 1.0}),
        (G, {"method": "perceptron", "dtype": "float32"}),
        (G, {"method": "fastonl-fifo", "symmetrized": True, "trace": 1.0}),
    ]
    found = []
    for graph, options in made:
        model = fo.OnlineNodeLabeler(graph, seed=1, **options)
        model.learn_many({0: "x", 5: "y"})
        model.run([(7, "x"), (3, "z"), (8, "y")])
        model.forget(7)
        if "experts" not in options and options.get("method", "adaptive") == "adaptive":
            model.predict_set_one(1)
        found.append(_files_of(model.save))
    fitted = fo.OnlineNodeLabeler(G).fit({0: "x", 5: "y", 3: "z", 7: "x"}, class_prior={"x": 0.5, "y": 0.3, "z": 0.2})
    return [*found, _files_of(fitted.save)]


@functools.cache
def _matrices():
    G = nx.path_graph(7)
    G.add_edge(1, 4, weight=2.5)
    texts = nx.relabel_nodes(G, str)
    calls = [
        (G, fo.ppr_matrix, {}),
        (texts, fo.ppr_matrix, {"sources": ["1", "3", "0"], "top_k": 3, "dtype": "float32"}),
        (G, fo.kernel_matrix, {"kernel": "scaled-laplacian", "S": np.linspace(1.0, 2.0, 7)}),
    ]
    found = []
    for graph, function, options in calls:
        save = functools.partial(function, graph, rows_per_shard=2, **options)
        files = _files_of(lambda path, save=save: save(out=path))
        found.append((files, (len(options.get("sources", graph)), 7)))
    return found


@functools.cache
def _durable():
    found = []
    for directed in (False, True):

        def make(path, directed=directed):
            G = nx.gnp_random_graph(7, 0.4, seed=1, directed=directed)
            with fo.DurableGraph(path, G, sync="never") as graph:
                direction = "ignore" if directed else "use"
                models = [
                    graph.labeler("adaptive", seed=1),
                    graph.labeler("fastonl", method="fastonl", seed=1, direction=direction),
                    graph.labeler("tree", method="weighted-tree", seed=1, direction=direction),
                    graph.labeler("majority", method="weighted-majority", seed=1),
                ]
                graph.add_edges_from([(0, "a"), ("a", (1, "b")), (2, 3)], times=[1.0, 2.0, 3.0])
                for model in models:
                    model.learn_many({0: "x", "a": "y", 5: "x"})
                graph.remove_nodes_from([6, "a"])
                graph.add_edge("late", 2, 2.5)
                graph.snapshot()

        found.append(_files_of(make))
    return found


def _files_of(save):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "saved"
        save(path)
        return {str(each.relative_to(path)): each.read_bytes() for each in sorted(path.rglob("*")) if each.is_file()}


class _written(tempfile.TemporaryDirectory):  # noqa: N801  used as a function
    """A folder with these files, as long as it is entered."""

    def __init__(self, files):
        super().__init__()
        self._files = files

    def __enter__(self):
        path = Path(super().__enter__()) / "saved"
        for name, content in self._files.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(content)
        return path


# How it is altered.


def _altered(draw, content, but=None):
    """The content with a few arrays and numbers changed; arrays whose names begin with `but` stay as they are."""
    details, derived = content.details, content.derived_details
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        places = [
            (part, name)
            for part in (content.arrays, content.derived_arrays)
            for name in part
            if not but or not name.startswith(but)
        ]
        if draw.chance(0.3) or not places:
            whole = {"details": details, "derived": derived}
            draw.note(number=_change_number(draw, whole))
            details, derived = whole["details"], whole["derived"]
            continue
        part, name = draw.choice(places)
        change = draw.choice(CHANGES)
        draw.note(array=name, change=change)
        part[name] = _changed(draw, part[name], change, [array for _, array in places and part.items()])
    return content._replace(details=details, derived_details=derived)


def _changed(draw, array, change, others):
    """One array after a change."""
    if change == "other":
        return draw.choice(others)
    if change == "type":
        with np.errstate(all="ignore"):
            return array.astype(draw.choice(TYPES))
    if change in ("shorter", "longer", "empty"):
        count = 0 if change == "empty" else max(0, len(array) + draw.choice([1, 2, 9]) * (-1) ** (change == "shorter"))
        shape = (count, *array.shape[1:])
        return np.resize(array, shape) if array.size else np.ones(shape, array.dtype)
    if change == "shift":
        return np.roll(array, 1)
    flat = array.ravel().copy()
    if flat.size == 0:
        return array
    places = [draw.below(flat.size) for _ in range({"some": 3, "swap": 2}.get(change, 1))]
    if change == "swap":
        flat[places] = flat[places[::-1]]
        return flat.reshape(array.shape)
    value = draw.choice(REAL if array.dtype.kind == "f" else (*WHOLE, len(array), len(array) - 1, array.size))
    with np.errstate(all="ignore"):
        fitting = np.array(value).astype(array.dtype) if abs(value) < 2**62 or array.dtype.kind == "f" else array.max()
    flat[... if change == "all" else places] = fitting
    return flat.reshape(array.shape)


def _change_number(draw, tree):
    """Change one leaf of a tree of JSON; return its path and what it became."""
    path, here = [], tree
    while True:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        key = draw.choice(keys)
        path.append(key)
        if isinstance(here[key], dict | list) and len(here[key]) and not draw.chance(0.02):
            here = here[key]
            continue
        here[key] = draw.choice(OTHER)
        return path, here[key]


def _sum_up(content):
    """Give a graph the degrees that its rows have now."""
    arrays = content.arrays
    if not {"indptr", "indices"} <= arrays.keys():
        return
    indptr, weights = arrays["indptr"], arrays.get("weights")
    try:
        with np.errstate(all="ignore"):
            if weights is None:
                degrees = np.diff(indptr).astype(np.float64)
            else:
                rows = [weights[a:b].tolist() for a, b in itertools.pairwise(indptr.tolist())]
                degrees = np.array([functools.reduce(float.__add__, row, 0.0) for row in rows])
    except (IndexError, TypeError, ValueError):
        return
    content.derived_arrays["degrees"] = degrees


# How it is used.


def _use(draw, what, uses):
    """Use what was opened in every way, in some order. A use may be refused, for names or numbers without a meaning."""
    for use in draw.shuffled(uses):
        draw.note(use=use.__name__)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)
            warnings.simplefilter("ignore", UserWarning)
            try:
                use(what)
            except (ValueError, nx.NetworkXException):
                continue


def _nodes(graph, count=4):
    found = []
    for u in range(min(count, len(graph.nodes))):
        try:
            found.append(graph.nodes[u])
        except ValueError:  # no text
            continue
    return found


def _push(graph):
    for node in _nodes(graph):
        fo.fifo_push(graph, node, 0.5, 1e-3, max_operations=10_000)
        fo.personalized_pagerank_local(graph, personalization=node, epsilon=1e-4)
        fo.personalized_pagerank_local(graph, personalization=node, top_k=3, max_operations=10_000)
    fo.personalized_pagerank_local(graph, 0.5)
    fo.ppr_matrix(graph, tol=1e-3)


def _learn(graph):
    for options in ({}, {"method": "fastonl"}, {"method": "weighted-majority"}):
        direction = "ignore" if graph.is_directed() and "method" in options else "use"
        model = fo.OnlineNodeLabeler(graph, seed=1, direction=direction, **options)
        nodes = _nodes(graph, 5)
        model.learn_many(dict(zip(nodes, "xyxzy", strict=False)))
        model.predict_proba_many()
        for node in nodes:
            model.forget(node)
        model.fit(dict(zip(nodes, "xyxzy", strict=False)))
        model.predict_many()


def _change(graph):
    dynamic = graph if isinstance(graph, fo.DynamicGraph) else fo.DynamicGraph(graph)
    nodes = list(dynamic)
    for u, v in zip(nodes, nodes[1:] + nodes[:1], strict=True):
        dynamic.add_edge(u, v, 2.5)
    dynamic.add_edges_from([("new", node) for node in nodes[:5]])
    for u, v in list(dynamic.edges())[::2]:
        dynamic.remove_edge(u, v)
    dynamic.expire_before(2.5)
    dynamic.remove_nodes_from(nodes[1::2])
    frozen = dynamic.freeze()
    _check_graph(frozen)
    fo.CSRGraph(frozen.indptr, frozen.indices, frozen.weights, directed=frozen.is_directed())


def _explore(graph):
    for node in _nodes(graph, 2):
        fo.local_community(graph, node)
        fo.sweep_cut(graph, fo.personalized_pagerank_local(graph, personalization=node))
    graph.components, graph.self_loops, graph.to_scipy().sum()
    undirected = graph.without_arrows()
    nodes = [*_nodes(undirected), None, None]
    fo.effective_resistance(undirected, [(nodes[0], nodes[1])])


def _rows(graph):
    undirected = graph.without_arrows()
    fo.kernel_matrix(undirected, smoothness=0.3)
    for node in _nodes(undirected, 2):
        fo.kernel_column(undirected, node, smoothness=0.3)


def _predict(model):
    model.predict_many()
    model.predict_proba_many()
    model.reached()
    if model.calibrated:
        model.predict_set_many(coverage=0.8)
        model.predict_set_many(coverage=0.9)
    repr(model), model.labels, (model.weights, model.compatibility) if model.calibrated else None


def _go_on(model):
    nodes = _nodes(model.graph, 9)
    for node, label in zip(nodes, "zyxzyxzyx", strict=False):
        model.predict_one(node)
        model.learn_one(node, label, overwrite=True)
    model.run([(node, "x") for node in nodes if node not in model.labels])
    model.predict_many()


def _forget(model):
    for node in list(model.labels):
        model.forget(node)
    model.predict_many()
    nodes = _nodes(model.graph, 9)
    model.learn_many(dict(zip(nodes, "xxyyzzwwv", strict=False)))
    model.predict_many()


def _certify(model):
    for node in _nodes(model.graph, 3):
        model.certify_one(node, max_operations=10_000)


def _save_again(model):
    with tempfile.TemporaryDirectory() as folder:
        model.save(folder)
        loaded = fo.OnlineNodeLabeler.load(folder)
        _predict(loaded)
        loaded.clone().fit(dict(zip(_nodes(model.graph, 5), "xyxzy", strict=False))).predict_many()


def _use_labelers(graph):
    for name in graph.labelers:
        model = graph.labeler(name)
        model.predict_many()
        model.learn_many({node: "z" for node in list(graph)[:3] if node not in model.labels})
        for node in list(model.labels)[:2]:
            model.forget(node)
        model.predict_proba_many()


def _read_rows(matrix):
    for node in matrix.sources:
        matrix.row(node), matrix.error(node), matrix.rows([node])
    sum(len(names) for names, _ in matrix.shards())


def _opened(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return fo.DurableGraph(path, sync="never")
