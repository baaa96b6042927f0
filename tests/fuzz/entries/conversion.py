"""Graphs from outside -> CSRGraph: the matrix that NetworkX or scipy would make of them, or an error."""

import networkx as nx
import numpy as np
from scipy import sparse

import nx_fastonl as fo
from tests.fuzz import inputs
from tests.fuzz.verdicts import REFUSALS, check

WEIGHTS = (1, 0, 2.5, 0.0, True, -1, 1e-150, 1e150, 1e-100, 1e100, float("nan"), float("inf"), None, "2", 10**400, 1j,
           np.float32(3), np.int8(4), np.array(2.0), [1])  # fmt: skip
METHODS = (
    *("adaptive", "fastonl", "fastonl-fifo", "relaxation", "approximate", "perceptron"),
    *("weighted-majority", "weighted-tree"),
)
DTYPES = ("int32", "int64", "uint8", "uint64", "int8", "float64", "bool", "O", "U3")


class Hostile(Exception):  # noqa: N818  it is raised by a node, and no error of the package
    """What a hostile node raises."""


class HostileNode:
    """A node that does something in `__hash__` or `__eq__` when it is asked the n-th time."""

    def __init__(self, name, patience, act, in_hash):
        self.name, self.patience, self.act, self.in_hash = name, patience, act, in_hash

    def _asked(self, in_hash):
        if in_hash == self.in_hash:
            self.patience -= 1
            if self.patience == 0:
                self.act()

    def __hash__(self):
        self._asked(True)
        return hash(self.name) % 3  # many nodes share a hash, so that they are compared

    def __eq__(self, other):
        self._asked(False)
        return isinstance(other, HostileNode) and self.name == other.name

    def __repr__(self):
        return f"HostileNode({self.name})"


def conversion(draw):
    """A graph in one of the forms that the package takes."""
    kind = draw.below(16)
    if kind < 6:
        return _networkx(draw)
    if kind < 8:
        return _hostile(draw)
    if kind < 11:
        return _scipy(draw)
    return _arrays(draw) if kind < 14 else _edges(draw)


def use(draw, graph):
    """Compute on a graph that was accepted: with a wrong index, this would read or write past an array."""
    W = graph.to_scipy()
    n = len(graph)
    check(graph.indptr[0] == 0 and graph.indptr[-1] == len(graph.indices), "indptr {}", graph.indptr)
    check((np.diff(graph.indptr) >= 0).all(), "indptr {}", graph.indptr)
    check(
        len(graph.indices) == 0 or (graph.indices.min() >= 0 and graph.indices.max() < n), "indices {}", graph.indices
    )
    dense = W.toarray()
    if not graph.is_directed():
        check((dense == dense.T).all(), "not symmetric: {}", dense.tolist())
    degrees = dense.sum(axis=1)
    check(np.allclose(graph.degrees, degrees, rtol=1e-13, atol=0.0), "degrees {} of {}", graph.degrees, dense.tolist())
    check(len(graph.nodes) == n == len(set(graph.nodes)), "nodes {}", graph.nodes)
    check([graph.index(node) for node in graph.nodes] == list(range(n)), "rows of {}", graph.nodes)
    first = graph.nodes[0]
    fo.fifo_push(graph, first, 0.5, 0.01, max_operations=1000)
    if not graph.is_directed() and draw.chance(0.1):
        method = draw.choice(METHODS)
        draw.note(method=method)
        try:
            model = fo.OnlineNodeLabeler(graph, method=method, seed=0)
        except REFUSALS:  # weights that no spanning tree can be drawn with
            return dense
        model.learn_many({first: "a"})
        model.run([(node, "b") for node in graph.nodes[1:3]])
        model.predict_many()
    return dense


def _networkx(draw):
    directed, multi = draw.chance(0.4), draw.chance(0.3)
    n = draw.between(0, 8)
    G = {(0, 0): nx.Graph, (1, 0): nx.DiGraph, (0, 1): nx.MultiGraph, (1, 1): nx.MultiDiGraph}[directed, multi]()
    name = draw.choice(inputs.NAMES)
    names = [name(i, n) for i in range(n)]
    G.add_nodes_from(names)
    weight = inputs.weights_of(draw)
    bad = draw.chance(0.1)
    for _ in range(draw.below(3 * n + 1) if n else 0):
        u, v = draw.choice(names), draw.choice(names)
        if draw.chance(0.3):
            G.add_edge(u, v)
        else:
            G.add_edge(
                u,
                v,
                weight=draw.choice(WEIGHTS) if bad else draw.choice([0, 0.0, True]) if draw.chance(0.05) else weight(),
            )
    view = draw.below(8)
    kept = set(draw.some(names))
    salt = draw.below(7)
    V = G
    if view == 1:
        V = G.subgraph(kept)
    elif view == 2:  # a filter may tell (u, v) from (v, u)
        V = nx.subgraph_view(G, filter_edge=lambda u, v, *_: hash((names.index(u), names.index(v), salt)) % 3 > 0)
    elif view == 3:
        V = nx.subgraph_view(G, filter_node=lambda u: u in kept)
    elif view == 4:
        V = G.to_undirected(as_view=True)
    elif view == 5:
        V = G.to_directed(as_view=True)
    elif view == 6 and directed:
        V = G.reverse(copy=False)
    elif view == 7 and n and draw.chance(0.3):
        V = G.copy()
        _break_adjacency(draw, V, names)
    draw.note(G=G, view=view, kept=kept, salt=salt)
    attribute = draw.choice(["weight", "weight", None, "missing"])
    try:
        graph = fo.CSRGraph.from_networkx(V, attribute)
    except (*REFUSALS, KeyError) as error:
        # A KeyError is NetworkX's own, from an adjacency that names a node which is not there.
        check(not isinstance(error, KeyError) or view == 7, "KeyError {}", error)
        return False
    dense = use(draw, graph)
    check(graph.is_directed() == V.is_directed(), "directed")
    if view == 7:
        return True
    check(list(graph.nodes) == list(V), "nodes {} of {}", graph.nodes, list(V))
    # NetworkX takes any weight, also one that is not a number; the package has accepted these.
    expected = nx.to_scipy_sparse_array(V, weight=attribute, dtype=float).toarray() if len(V) else dense
    check(np.allclose(dense, expected, rtol=1e-14, atol=0.0), "{} instead of {}", dense.tolist(), expected.tolist())
    again = fo.CSRGraph.from_networkx(V, attribute).to_scipy().toarray()
    check((again == dense).all(), "another matrix the second time")
    if type(V) is nx.Graph and draw.chance(0.3) and V.edges and attribute == "weight" and V is G:
        u, v = next(iter(V.edges))
        V[u][v]["weight"] = 7.25  # NetworkX does not notice
        i, j = list(V).index(u), list(V).index(v)
        check(fo.CSRGraph.from_networkx(V).to_scipy().toarray()[i, j] == 7.25, "an old weight of {!r}, {!r}", u, v)
    return True


def _break_adjacency(draw, G, names):
    """Edit the dicts of a graph, as some programs do."""
    u, kind = draw.choice(names), draw.below(4)
    data = {0: {"weight": 1}} if G.is_multigraph() else {"weight": 1}
    if kind == 0:
        G._adj[u][2**32 + 3] = data
    elif kind == 1:
        G._adj[u]["nobody"] = data
    elif kind == 2:
        del G._adj[u]
    else:
        G._adj[u][draw.choice(names)] = data  # one side only


def _hostile(draw):
    n = draw.between(1, 6)
    arrays = {"indptr": np.arange(n + 1), "indices": np.arange(n)}  # a self-loop at each node
    G = nx.Graph()
    kind = draw.below(5)

    def act():
        if kind == 0:
            raise Hostile
        if kind == 1:
            arrays["indices"][:] = 2**30
        elif kind == 2:
            arrays["indptr"][:] = 2**30
        elif kind == 3:
            G.add_edge("new", "newer")
        else:
            G.clear()

    in_hash = draw.chance(0.6)
    patience = draw.between(1, 8 * n)
    nodes = [HostileNode(i, 0, act, in_hash) for i in range(n)]
    through_networkx = draw.chance(0.5)
    draw.note(n=n, kind=kind, in_hash=in_hash, patience=patience, through_networkx=through_networkx)
    try:
        if through_networkx:
            G.add_nodes_from(nodes)
            G.add_edges_from((u, v) for u in nodes for v in nodes if draw.chance(0.4))
            nodes[draw.below(n)].patience = patience
            graph = fo.CSRGraph.from_networkx(G)
        else:
            nodes[draw.below(n)].patience = patience
            graph = fo.CSRGraph(arrays["indptr"], arrays["indices"], nodes=nodes)
    except (*REFUSALS, Hostile, RuntimeError, KeyError):  # "dictionary changed size", and what is no longer there
        return False
    try:
        use(draw, graph)
    except (Hostile, nx.NodeNotFound):
        pass
    return True


def _scipy(draw):
    n = draw.between(0, 7)
    nnz = draw.below(2 * n + 1) if n else 0
    rows, columns = ([draw.below(n) for _ in range(nnz)] for _ in range(2))
    weight = inputs.weights_of(draw)
    values = [float(weight()) for _ in range(nnz)]
    dtype = draw.choice(["float64", "float64", "float32", "int64", "int8", "uint8", "bool", "complex128"])
    with np.errstate(all="ignore"):
        data = (
            np.array(values).clip(-100, 100).astype(dtype)
            if dtype not in ("float64", "complex128")
            else np.array(values, dtype=dtype)
        )
    A = sparse.coo_array(
        (data, (np.array(rows, dtype=int), np.array(columns, dtype=int))), shape=(n, n + draw.choice([0] * 20 + [1]))
    )
    if draw.chance(0.6) and A.shape[0] == A.shape[1]:
        A = sparse.coo_array(A + A.T)
    A = A.asformat(draw.choice(["coo", "csr", "csc", "bsr", "dok", "lil", "dia"]))
    if A.format == "csr" and A.nnz and draw.chance(0.15):
        _break_matrix(draw, A)
    directed = draw.choice([None, None, None, True, False])
    draw.note(A=repr(A), rows=rows, columns=columns, values=values, directed=directed)
    try:
        graph = fo.CSRGraph.from_scipy(
            A, directed=directed, nodes=draw.choice([None, None, range(n), [*"abcdefgh"][:n], "aab", {1}])
        )
    except REFUSALS:
        return False
    dense = use(draw, graph)
    expected = sparse.coo_array(A).astype(float).toarray()  # duplicates add up as floats
    check(
        np.allclose(dense, expected, rtol=1e-6 if dtype == "float32" else 1e-14, atol=0.0),
        "{} instead of {}",
        dense.tolist(),
        expected.tolist(),
    )
    return True


def _break_matrix(draw, A):
    """Arrays of a matrix may be edited after scipy has checked them."""
    kind = draw.below(3)
    if kind == 0:
        A.indices[draw.below(A.nnz)] = draw.choice([-1, 100, 2**30])
    elif kind == 1:
        A.indptr[draw.below(len(A.indptr))] = draw.choice([-1, 100, 2**30])
    else:
        values = [0.0, 1.0] if A.dtype.kind in ("b", "u") else [-1.0, 0.0, 1.0]
        A.data[draw.below(len(A.data))] = draw.choice(values)


def _array(draw, values):
    dtype = draw.choice(DTYPES) if draw.chance(0.1) else draw.choice(["int64", "int32", None])
    if dtype is None:
        return list(values)
    with np.errstate(all="ignore"):
        try:
            return np.array(values).astype(dtype)
        except (ValueError, OverflowError):
            return values


def _arrays(draw):
    """Rows of a graph, with now and then one number changed."""
    n = draw.between(1, 7)
    rows = [set() for _ in range(n)]
    directed = draw.chance(0.3)
    for _ in range(draw.below(2 * n + 1)):
        u, v = draw.below(n), draw.below(n)
        rows[u].add(v)
        if not directed:
            rows[v].add(u)
    lists = [draw.shuffled(sorted(row)) for row in rows]
    indptr, indices = [0, *np.cumsum([len(row) for row in lists]).tolist()], [v for row in lists for v in row]
    weight = inputs.weights_of(draw)
    by_edge = {}
    weights = [by_edge.setdefault((min(u, v), max(u, v)), float(weight())) for u in range(n) for v in lists[u]]
    changed = draw.chance(0.3)
    if changed:
        target = draw.choice([array for array in (indptr, indices, weights) if array])
        if draw.chance(0.7):
            target[draw.below(len(target))] = draw.choice(
                [-1, 0, 1, 2, n, n + 1, 2**31, 2**63, 2**64 - 1, 0.5, 1e-200, float("nan")]
            )
        else:
            target.append(draw.below(n + 1))
    given = _array(draw, indptr), _array(draw, indices)
    weights = draw.choice([None, weights, np.array(weights)])
    nodes = draw.choice(
        [
            None,
            None,
            range(n),
            list("abcdefgh")[:n],
            np.arange(n) * 2,
            "abc",
            range(n + 1),
            [0] * n,
            iter(range(n)),
            {0, 1},
        ]
    )
    draw.note(
        indptr=indptr, indices=indices, weights=weights, nodes=nodes, directed=directed, dtypes=[type(a) for a in given]
    )
    try:
        graph = fo.CSRGraph(*given, weights, nodes=nodes, directed=directed)
    except REFUSALS:
        return False
    dense = use(draw, graph)
    if not changed:
        expected = np.zeros((n, n))
        for u in range(n):
            for e in range(indptr[u], indptr[u + 1]):
                expected[u, indices[e]] = 1.0 if weights is None else weights[e]
        check((dense == expected).all(), "{} instead of {}", dense.tolist(), expected.tolist())
    if draw.chance(0.2):
        _try_to_write(draw, graph, dense)
    return True


def _try_to_write(draw, graph, dense):
    """Whatever a caller does to the arrays that the graph shows, the graph stays as it is."""
    name = draw.choice(["indptr", "indices", "degrees"])
    array = getattr(graph, name)
    before = array.copy()
    kind = draw.below(3)
    try:
        if kind == 0:
            array.flags.writeable = True
            array[...] = 7
        elif kind == 1:
            array[...] = 7
        else:
            W = graph.to_scipy()
            W.sort_indices()
            W.data[...] = 7
    except (ValueError, AttributeError, RuntimeError):
        pass
    draw.note(wrote=(name, kind))
    check((array == before).all(), "{} could be written", name)
    check((graph.to_scipy().toarray() == dense).all(), "another matrix after a write to {}", name)


def _edges(draw):
    m, n = draw.below(12), draw.between(1, 8)
    sources, targets = ([draw.below(n) for _ in range(m)] for _ in range(2))
    weight = inputs.weights_of(draw)
    weights = [float(weight()) for _ in range(m)]
    if m and draw.chance(0.2):
        draw.choice([sources, targets, weights])[draw.below(m)] = draw.choice(
            [-1, n, 2**31, 2**40, 2**63, 0.5, float("nan"), 0]
        )
    size = inputs.parameter(
        draw, lambda: draw.choice([None, n, n, n + 2]), (0, -1, "3", 2.5, True, 10**12, 2**31, 10**400, [3], np.int8(9))
    )
    directed = draw.chance(0.4)
    options = {"n": size, "directed": directed}
    if draw.chance(0.2):
        options["nodes"] = draw.choice([range(n), list("abcdefghij")[:n], iter("abc"), {1: 2}, "abc", None, 5])
    draw.note(sources=sources, targets=targets, weights=weights, **options)
    with_weights = draw.chance(0.6)
    ends = _array(draw, sources), _array(draw, targets)
    try:
        graph = fo.CSRGraph.from_edges(*ends, _array(draw, weights) if with_weights else None, **options)
    except (*REFUSALS, MemoryError):
        return False
    dense = use(draw, graph)
    if not with_weights:
        expected = np.zeros_like(dense)
        for u, v in zip(*(np.asarray(end).tolist() for end in ends), strict=True):
            expected[u, v] += 1
            if not directed and u != v:
                expected[v, u] += 1
        check((dense == expected).all(), "{} instead of {}", dense.tolist(), expected.tolist())
    return True
