"""Pickled graphs and labelers with some bits flipped, or cut short: loading and using them raises or works.

Only payloads are damaged: bytes of arrays, numbers and texts. Other operations, classes and dtypes make Python and
NumPy themselves crash, whatever the package does. So does another size of the empty array that NumPy starts from.
"""

import functools
import pickle
import pickletools

import networkx as nx
import numpy as np

import nx_fastonl as fo
from tests.fuzz.verdicts import Wrong, check

METHODS = (
    *("adaptive", "fastonl", "fastonl-fifo", "relaxation", "approximate", "perceptron"),
    *("weighted-majority", "weighted-tree"),
)
# Opcodes with a payload, and the bytes between the opcode and the payload: its length.
PAYLOADS = {
    "BINBYTES": 4, "SHORT_BINBYTES": 1, "BINBYTES8": 8, "BYTEARRAY8": 8, "BINUNICODE": 4, "SHORT_BINUNICODE": 1,
    "BINUNICODE8": 8, "BININT": 0, "BININT1": 0, "BININT2": 0, "BINFLOAT": 0, "LONG1": 1,
}  # fmt: skip
# What NumPy calls to make a dtype and an empty array, and the operation that ends what it is given.
NUMPY_ENDS = {"dtype": "BUILD", "_reconstruct": "REDUCE"}


@functools.cache
def contents():
    """Graphs and labelers, small and of every kind, each as a pickle and its payloads."""
    G = nx.path_graph(6)
    G.add_edge(1, 4, weight=2.5)
    found = [
        fo.CSRGraph.from_networkx(G),
        fo.CSRGraph.from_edges([0, 1, 2], [1, 2, 0], nodes=["a", "b", "c"], directed=True),
    ]
    found += [fo.OnlineNodeLabeler(G, method=method, seed=1).fit({0: "x", 5: "y"}) for method in METHODS]
    found.append(fo.OnlineNodeLabeler(G, ["x", "y"], method="fastonl", dtype="float32"))
    arcs = nx.DiGraph([(0, 1), (1, 2), (2, 0), (2, 3), (4, 3)])
    found.append(fo.OnlineNodeLabeler(arcs).fit({0: "x", 3: "y", 4: "y"}))
    arcs.add_edge(3, 4, weight=2.5)
    found.append(fo.OnlineNodeLabeler(arcs, ["x", "y", "z"], forgetting=3))
    pickled = [pickle.dumps(each, protocol=protocol) for each in found for protocol in (2, 5)]
    return [(content, payloads(content)) for content in pickled]


def payloads(content):
    """A range of bytes for each payload, without names of modules and classes, and without what only NumPy reads."""
    operations = list(pickletools.genops(content))
    ends = [at for _, _, at in operations[1:]] + [len(content)]
    found = {}  # by the number of the operation
    texts = []  # numbers of the operations that put texts on the stack
    memo, made = [], None  # numbers of operations, or names of functions
    until = None  # the operation that ends what only NumPy reads
    for i, ((operation, argument, at), end) in enumerate(zip(operations, ends, strict=True)):
        name = operation.name
        if name in ("MEMOIZE", "BINPUT", "LONG_BINPUT"):
            memo.append(made)
            continue
        made = i
        if name in ("BINGET", "LONG_BINGET"):
            made = memo[argument]
        elif name == "GLOBAL":
            made = argument.split()[-1]
        elif name == "STACK_GLOBAL":
            for text in texts[-2:]:
                found.pop(text, None)
            made = operations[texts[-1]][1]
        elif name == until:
            until = None
        elif name in PAYLOADS and until is None:
            found[i] = range(at + 1 + PAYLOADS[name], end)
        if isinstance(made, str):
            until = until or NUMPY_ENDS.get(made)
        elif isinstance(operations[made][1], str):
            texts.append(made)
    return [each for each in found.values() if each]


def pickles(draw):
    """One pickle, damaged, loaded and used."""
    which = draw.below(len(contents()))
    content, damageable = contents()[which]
    content = bytearray(content)
    flips = [(draw.choice(draw.choice(damageable)), draw.below(8)) for _ in range(draw.choice([1, 1, 1, 2, 3, 8]))]
    for at, bit in flips:
        content[at] ^= 1 << bit
    if draw.chance(0.05):
        del content[draw.below(len(content)) :]
    draw.note(which=which, flips=flips, length=len(content))
    try:
        loaded = pickle.loads(bytes(content))
    except Exception:  # noqa: BLE001  a damaged pickle may raise anything
        return False
    try:
        _use(loaded)
    except Wrong:
        raise
    except Exception:  # noqa: BLE001
        return True
    return True


def _use(loaded):
    if isinstance(loaded, fo.OnlineNodeLabeler):
        graph = loaded._graph
        if isinstance(graph, fo.CSRGraph):
            _check_graph(graph)
        loaded.predict_many()
        loaded.learn_many({list(graph)[2]: "x"})
        loaded.run([(list(graph)[3], "y"), (list(graph)[4], "z")])
        loaded.predict_proba_many()
    elif isinstance(loaded, fo.CSRGraph):
        _check_graph(loaded)
        fo.fifo_push(loaded, next(iter(loaded)), 0.5, 0.01, max_operations=1000)
        fo.personalized_pagerank_local(loaded, 0.5, max_iter=1000)


def _check_graph(graph):
    """What compiled loops trust. They may not happen to stumble over it here."""
    n, indptr, indices = len(graph), graph.indptr, graph.indices
    for name in ("indptr", "indices", "degrees"):
        check(not getattr(graph, name).flags.writeable, "{} can be written", name)
    check(len(indptr) == n + 1 and indptr[0] == 0 and indptr[-1] == len(indices), "indptr {} of {} nodes", indptr, n)
    check((np.diff(indptr) >= 0).all(), "indptr {}", indptr)
    check(((indices >= 0) & (indices < n)).all(), "indices {} of {} nodes", indices, n)
    check(len(graph.degrees) == n, "{} degrees of {} nodes", len(graph.degrees), n)
    check(graph.weights is None or len(graph.weights) == len(indices), "weights {}", graph.weights)
