"""Weights at and beyond the ends of what is allowed, through every door; models on graphs that leave their range."""

import pickle
import tempfile
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
from scipy import sparse

import nx_fastonl as fo
from tests.fuzz.verdicts import check

N = 7
# Folders in memory, where there are such: the disk would take most of the time.
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
# What is allowed, written down a second time.
SMALLEST, LARGEST, LARGEST_ARC = 1e-100, 1e100, 5e99
ENDS = (1e-100, 9.99e-101, 1e100, 1.001e100, 5e99, 5.001e99, 6e99, 1e-101, 1e150, 1e-150, 5e-324, 1.7e308)
LABELS = ("red", "green", "blue")
METHODS = (
    {"method": "adaptive"},
    {"method": "adaptive", "dtype": "float32"},
    {"method": "adaptive", "kernel": "laplacian"},
    {"method": "adaptive", "experts": ["vote", "laplacian:0.3", "compatibility"]},
    {"method": "fastonl"},
    {"method": "fastonl", "dtype": "float32"},
    {"method": "fastonl", "kernel": "laplacian", "smoothness": 1.0},
    {"method": "fastonl", "kernel": "normalized-adjacency"},
    {"method": "fastonl", "kernel": "scaled-laplacian", "S": 2.0},
    {"method": "fastonl", "kernel": "scaled-regularized", "dtype": "float32"},
    {"method": "fastonl", "lam": 1e-3},
    {"method": "perceptron"},
    {"method": "perceptron", "dtype": "float32"},
    {"method": "fastonl-fifo", "kernel": "laplacian"},
    {"method": "relaxation"},
    {"method": "approximate"},
    {"method": "weighted-majority"},
)


def ranges(draw):
    """Weights through all doors, or a model on a graph whose weights change."""
    return _doors(draw) if draw.chance(0.5) else _models(draw)


def _weight(draw, *, wild=0.2):
    if draw.chance(wild):
        return draw.choice(ENDS)
    exponent = draw.choice((0, 1, 2, 10, 50, 100))
    return float(np.clip(draw.log_uniform(-exponent, exponent), SMALLEST, LARGEST))


# ---------------------------------------------------------------------------------------------------- doors


def _doors(draw):
    directed, twice = draw.chance(0.5), draw.chance(0.3)
    wild = draw.choice((0.0, 0.0, 0.1, 0.5))
    edges = [
        (draw.below(N), draw.below(N), min(_weight(draw, wild=wild), LARGEST if wild else LARGEST_ARC))
        for _ in range(draw.between(1, 8))
    ]
    edges = edges + draw.some(edges) if twice else edges
    draw.note(directed=directed, edges=edges)
    total, latest = {}, {}
    for u, v, weight in edges:
        pair = (u, v) if directed else (min(u, v), max(u, v))
        total[pair] = total.get(pair, 0.0) + weight
        latest[pair] = weight
    most = LARGEST_ARC if directed else LARGEST
    each_is_allowed = all(SMALLEST <= weight <= most for *_, weight in edges)
    sums_are_allowed = all(weight >= SMALLEST for *_, weight in edges) and max(total.values()) <= most
    passed = False
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        for number, (door, adds_up) in enumerate(draw.shuffled(DOORS)):
            place = Path(folder) / str(number)
            place.mkdir()
            expected, is_allowed = (total, sums_are_allowed) if adds_up else (latest, each_is_allowed)
            try:
                graph = door(edges, directed, place)
            except ValueError:
                check(not is_allowed, "{} refuses {}", door.__name__, edges)
                continue
            check(is_allowed, "{} accepts {}", door.__name__, edges)
            _check_content(door.__name__, graph, expected, directed)
            _check_saved(draw, door.__name__, graph, expected, directed, place)
            passed = True
    return passed


def _by_add_edge(edges, directed, _):
    graph = fo.DynamicGraph(directed=directed)
    for u, v, weight in edges:
        graph.add_edge(u, v, weight)
    return graph


def _by_tuples(edges, directed, _):
    graph = fo.DynamicGraph(directed=directed)
    graph.add_weighted_edges_from(edges)
    return graph


def _by_array(edges, directed, _):
    graph = fo.DynamicGraph(directed=directed)
    graph.add_edges_from(np.array([edge[:2] for edge in edges]), weights=[edge[2] for edge in edges])
    return graph


def _by_events(edges, directed, _):
    graph = fo.DynamicGraph(directed=directed)
    fo.replay([("edge", *edge) for edge in edges], graph=graph).run()
    return graph


def _by_journal(edges, directed, folder):
    with fo.DurableGraph(folder / "graph", directed=directed, sync="never") as graph:
        for u, v, weight in edges:
            graph.add_edge(u, v, weight)
    with fo.DurableGraph(folder / "graph", sync="never") as graph:
        return graph.copy()


def _by_networkx(edges, directed, _):
    G = nx.DiGraph() if directed else nx.Graph()
    G.add_weighted_edges_from(edges)
    for u, v, weight in edges:  # NetworkX would take the last, but an earlier one may not be allowed
        if not SMALLEST <= weight <= (LARGEST_ARC if directed else LARGEST):
            G[u][v]["weight"] = weight
    return fo.CSRGraph.from_networkx(G)


def _by_parallel_edges(edges, directed, _):
    G = nx.MultiDiGraph() if directed else nx.MultiGraph()
    G.add_weighted_edges_from(edges)
    return fo.DynamicGraph(G)


def _by_edges(edges, directed, _):
    sources, targets, weights = map(list, zip(*edges, strict=True))
    return fo.CSRGraph.from_edges(sources, targets, weights, n=N, directed=directed)


def _by_matrix(edges, directed, _):
    both = []  # both ways in the same order, so that both sums are rounded alike
    for u, v, weight in edges:
        both += [(u, v, weight)] if directed or u == v else [(u, v, weight), (v, u, weight)]
    sources, targets, weights = map(np.array, zip(*both, strict=True))
    A = sparse.coo_array((weights, (sources, targets)), shape=(N, N))
    return fo.CSRGraph.from_scipy(A, directed=directed)


DOORS = (
    (_by_add_edge, False),
    (_by_tuples, False),
    (_by_array, False),
    (_by_events, False),
    (_by_journal, False),
    (_by_networkx, False),
    (_by_parallel_edges, True),
    (_by_edges, True),
    (_by_matrix, True),
)


def _content(graph):
    edges = graph.to_networkx().edges(data="weight", default=1.0)
    if graph.is_directed():
        return {(u, v): weight for u, v, weight in edges}
    return {(min(u, v), max(u, v)): weight for u, v, weight in edges}


def _check_content(door, graph, expected, directed):
    found = _content(graph)
    check(graph.is_directed() == directed and found.keys() == expected.keys(), "{}: {} of {}", door, found, expected)
    close = all(abs(found[pair] - weight) <= 1e-12 * weight for pair, weight in expected.items())
    check(close, "{}: {} instead of {}", door, found, expected)


def _check_saved(draw, door, graph, expected, directed, folder):
    """What was accepted opens again, with equal content."""
    frozen = graph.freeze() if isinstance(graph, fo.DynamicGraph) else graph
    way = draw.below(4)
    if way == 0:
        opened = pickle.loads(pickle.dumps(graph))
    elif way == 1:
        frozen.save(folder / "saved")
        opened = fo.CSRGraph.open(folder / "saved", verify=draw.choice((True, False, "checksum")))
    elif way == 2:
        fo.DurableGraph(folder / "durable", graph, sync="never").close()
        with fo.DurableGraph(folder / "durable", sync="never") as durable:
            opened = durable.copy()
    else:
        opened = fo.DynamicGraph(frozen)
    _check_content(door + " and back", opened, expected, directed)
    opened = opened.freeze() if way in (2, 3) else frozen if way == 0 else opened
    both_ways = opened.without_arrows()
    check(bool((both_ways.to_scipy().data <= LARGEST).all()), "{}: W + W^T out of range", door)
    check(bool(np.isfinite(both_ways.degrees).all()), "{}: degrees {}", door, both_ways.degrees)
    vector = fo.personalized_pagerank_local(opened, personalization=dict.fromkeys(list(opened)[:1], 1), tol=1e-6)
    check(all(0.0 <= value <= 1.0 + 1e-6 for value in vector.values()), "{}: PageRank {}", door, vector)


# ---------------------------------------------------------------------------------------------------- models


def _models(draw):
    settings = dict(draw.choice(METHODS))
    directed = settings["method"] == "adaptive" and draw.chance(0.3)
    draw.note(settings=settings, directed=directed, steps=[])
    wild = draw.choice((0.0, 0.1, 0.3))
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        G = nx.path_graph(N, create_using=nx.DiGraph if directed else nx.Graph)
        graph = fo.DurableGraph(Path(folder) / "graph", G, sync="never")
        try:
            graph = _steps(draw, graph, settings, directed, wild)
            # With usual weights, every model goes on.
            for u, v in graph.edges():
                graph.add_edge(u, v, weight=1.0)
            _check_answers(graph.labeler("model"), must_answer=True)
        finally:
            graph.close()
    return True


def _steps(draw, graph, settings, directed, wild):
    steps = draw.notes["steps"]
    model, labels = graph.labeler("model", seed=1, **settings), {}
    for _ in range(draw.between(1, 12)):
        step = draw.below(10)
        node = draw.below(N + 3)
        if step < 4:
            edge = (draw.below(N + 3), draw.below(N + 3), _weight(draw, wild=wild))
            steps.append(("add_edge", *edge))
            is_allowed = SMALLEST <= edge[2] <= (LARGEST_ARC if directed else LARGEST)
            try:
                graph.add_edge(*edge)
                check(is_allowed, "{} was added", edge)
            except ValueError:
                check(not is_allowed, "{} was refused", edge)
        elif step == 4 and graph.number_of_edges():
            edge = draw.choice(graph.edges())
            steps.append(("remove_edge", *edge))
            graph.remove_edge(*edge)
        elif step == 5 and node in graph:
            steps.append(("remove_node", node))
            graph.remove_node(node)
            labels.pop(node, None)
        elif step < 8 and node in graph:
            label = draw.choice(LABELS)
            steps.append(("learn", node, label))
            try:
                model.learn_one(node, label, overwrite=True)
                labels.setdefault(node, label)
                labels[node] = label
            except ValueError as error:
                _check_refusal(error)
        elif step == 8:
            steps.append(("open again",))
            if draw.chance(0.5):
                graph.snapshot()
            graph.close()
            graph = fo.DurableGraph(graph.path, sync="never")
            model = graph.labeler("model")
        else:
            steps.append(("ask",))
            _check_answers(model, must_answer=False)
        check(model.labels == labels, "labels {} instead of {}", model.labels, labels)
        check(model.n_learned == len(labels), "{} learned instead of {}", model.n_learned, labels)
    return graph


def _check_refusal(error):
    check("cannot follow its graph" in str(error), "{!r}", error)


def _check_answers(model, *, must_answer):
    try:
        found = np.array(model.predict_proba_many())
        alone = [model.predict_proba_one(node) for node in model.graph]
        names = model.predict_many()
    except ValueError as error:
        check(not must_answer, "with usual weights: {!r}", error)
        _check_refusal(error)
        return
    check(bool(np.isfinite(found).all() and (found >= 0.0).all()), "probabilities {}", found)
    if found.size:
        check(bool(np.allclose(found.sum(axis=1), 1.0)), "probabilities {}", found)
        one = np.array([[each[label] for label in model.classes] for each in alone])
        check(bool(np.allclose(one, found, atol=1e-6)), "{} alone, {} together", one, found)
    check(set(names) <= {None, *model.classes}, "predicted {}", names)
