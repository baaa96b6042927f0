"""Nodes whose own code raises at any call: each verb happens wholly or not at all, beside plain dicts."""

import networkx as nx

import nx_fastonl as fo
from tests.fuzz import inputs, truth
from tests.fuzz.invariants import check_whole
from tests.fuzz.verdicts import REFUSALS, check
from tests.hostile import Broken, Fuse, HostileNode

LABELS = ("red", "blue", "green")
METHODS = ("fastonl", "adaptive", "weighted-majority", "perceptron")
ERRORS = (Broken, ValueError, KeyError, nx.NetworkXError, TypeError)
NAMES = 9  # of nodes that are there, and of some that are not
SEED = 0  # the node whose vector is kept


class Refused(Exception):  # noqa: N818
    """The verb should be refused."""


class State:
    """What a graph and a labeler on it should hold, by the names of nodes."""

    def __init__(self, directed, nodes, edges=(), times=(), labels=()):
        self.directed = directed
        self.nodes, self.edges, self.times, self.labels = dict(nodes), dict(edges), dict(times), dict(labels)
        self.prefixes = []  # states after a part of a stream, which may stay where it raises

    def copy(self):
        return State(self.directed, self.nodes, self.edges, self.times, self.labels)

    def __eq__(self, other):
        return list(self.nodes) == list(other.nodes) and vars(self) | {"prefixes": 0} == vars(other) | {"prefixes": 0}

    __hash__ = None

    def __repr__(self):
        return f"nodes {list(self.nodes)}, edges {self.edges}, times {self.times}, labels {self.labels}"

    def key(self, u, v):
        return (u, v) if self.directed else (min(u, v), max(u, v))

    def add_nodes(self, *names):
        for name in names:
            self.nodes.setdefault(name)

    def add_edge(self, u, v, weight=None, time=None):
        self.add_nodes(u, v)
        key = self.key(u, v)
        self.edges[key] = self.edges.get(key, 1.0) if weight is None else weight
        if time is not None:
            self.times[key] = time

    def remove_edge(self, u, v, *, must=False):
        if self.edges.pop(self.key(u, v), None) is None and must:
            raise Refused
        self.times.pop(self.key(u, v), None)

    def remove_node(self, name, *, must=False):
        if name not in self.nodes:
            if must:
                raise Refused
            return
        del self.nodes[name]
        self.labels.pop(name, None)
        for key in [key for key in self.edges if name in key]:
            self.remove_edge(*key)

    def expire(self, time):
        for key in [key for key, happened in self.times.items() if happened < time]:
            self.remove_edge(*key)

    def learn(self, pairs, *, overwrite=False, unknown="error", stream=False):
        """Learn labels: all, or of a stream those before the first that is refused."""
        for name, _ in pairs:
            if name not in self.nodes and unknown == "error":
                raise Refused
        added = dict.fromkeys(name for name, _ in pairs if name not in self.nodes)
        for name, label in pairs:
            if name in self.labels and not overwrite:
                raise Refused
            if stream:
                self.add_nodes(*([name] if name in added else []))
                self.labels[name] = label
                self.prefixes.append(self.copy())
        if len(dict(pairs)) < len(pairs):
            raise Refused
        self.add_nodes(*added)
        self.labels.update(pairs)

    def forget(self, name):
        if name not in self.labels:
            raise Refused
        del self.labels[name]


def _graph_verb(draw):
    """The name of a verb, its arguments by names of nodes, and what it does to a state."""
    u, v = draw.below(NAMES), draw.below(NAMES)
    weight = draw.between(1, 4) / 2 if draw.chance(0.5) else None
    time = float(draw.below(8)) if draw.chance(0.5) else None
    several = [(draw.below(NAMES), draw.below(NAMES)) for _ in range(draw.between(1, 4))]
    times = [float(draw.below(8)) for _ in several] if draw.chance(0.5) else None
    kind = draw.below(10)
    if kind == 0:
        return "add_node", (u,), {}, lambda state: state.add_nodes(u)
    if kind == 1:
        names = [name for pair in several for name in pair]
        return "add_nodes_from", (names,), {}, lambda state: state.add_nodes(*names)
    if kind < 4:
        return "add_edge", (u, v, weight), {"time": time}, lambda state: state.add_edge(u, v, weight, time)
    if kind == 4:

        def add(state):
            for i, pair in enumerate(several):
                state.add_edge(*pair, None, None if times is None else times[i])

        return "add_edges_from", (several,), {"times": times}, add
    if kind == 5:
        return "remove_edge", (u, v), {}, lambda state: state.remove_edge(u, v, must=True)
    if kind == 6:
        return "remove_edges_from", (several,), {}, lambda state: [state.remove_edge(*pair) for pair in several]
    if kind == 7:
        return "remove_node", (u,), {}, lambda state: state.remove_node(u, must=True)
    if kind == 8:
        names = [name for pair in several for name in pair][:4]
        return "remove_nodes_from", (names,), {}, lambda state: [state.remove_node(name) for name in names]
    time = float(draw.below(8))
    return "expire_before", (time,), {}, lambda state: state.expire(time)


def _learning_verb(draw, *, can_grow):
    name, label = draw.below(NAMES), draw.choice(LABELS)
    pairs = [(draw.below(NAMES), draw.choice(LABELS)) for _ in range(draw.between(1, 4))]
    unknown = "add" if can_grow and draw.chance(0.4) else "error"
    kind = draw.below(7)
    if kind < 2:
        overwrite = draw.chance(0.3)
        return (
            "learn_one",
            (name, label),
            {"overwrite": overwrite},
            lambda s: s.learn([(name, label)], overwrite=overwrite),
        )
    if kind == 2:
        return "learn_many", (pairs,), {"unknown": unknown}, lambda state: state.learn(pairs, unknown=unknown)
    if kind == 3:

        def fit(state):
            state.labels = {}
            state.learn(pairs, unknown=unknown)

        return "fit", (pairs,), {"unknown": unknown}, fit
    if kind == 4:
        return "run", (pairs,), {"unknown": unknown}, lambda state: state.learn(pairs, unknown=unknown, stream=True)
    if kind == 5:
        return "forget", (name,), {}, lambda state: state.forget(name)
    return "predict_one", (name,), {}, lambda state: None if name in state.nodes else state.forget(name)


def hostile_nodes(draw):
    """A graph, a labeler and a vector on it, and up to twelve verbs in most of which some node raises."""
    fuse, n_hashes = Fuse(), draw.between(1, 5)

    def node(name):
        return HostileNode(name, fuse, n_hashes)

    can_grow, directed = draw.chance(0.7), draw.chance(0.4)
    n = draw.between(2, 6)
    state = State(directed, dict.fromkeys(range(n)))
    for u, v in inputs.edges(draw, n, directed):
        if u < n and v < n:
            state.add_edge(u, v)
    method = "adaptive" if directed else draw.choice(METHODS)
    steps = []
    draw.note(can_grow=can_grow, n_hashes=n_hashes, method=method, start=repr(state), steps=steps)
    G = (nx.DiGraph if directed else nx.Graph)()
    G.add_nodes_from(map(node, range(n)))
    G.add_edges_from((node(u), node(v)) for u, v in state.edges)
    graph = fo.DynamicGraph(G) if can_grow else fo.CSRGraph.from_networkx(G)
    labeler = fo.OnlineNodeLabeler(graph, method=method, seed=1)
    vector = fo.DynamicPageRank(graph, personalization={node(SEED): 1.0}, tol=1e-6) if can_grow else None
    for _ in range(draw.between(1, 12)):
        is_change = can_grow and draw.chance(0.6)
        name, arguments, options, apply = _graph_verb(draw) if is_change else _learning_verb(draw, can_grow=can_grow)
        error = draw.choice(ERRORS)
        at, lasting = draw.between(1, 24) if draw.chance(0.7) else 0, error is not TypeError and draw.chance(0.3)
        steps.append((name, arguments, options, at, lasting, error.__name__))
        call = getattr(graph if is_change else labeler, name)
        arguments = tuple(_hostile(argument, node) for argument in arguments)
        state = _step(
            call,
            arguments,
            options,
            apply,
            state,
            (fuse, {"at": at, "lasting": lasting, "error": error}),
            (graph, labeler),
        )
        if vector is not None and draw.chance(0.2):
            _check_vector(vector, graph, state, node, fuse, at)
    labeler.predict_many()
    if method in ("fastonl", "perceptron"):
        check_whole(labeler)
    return True


def _hostile(argument, node):
    """The argument with nodes in place of names, a new object for each."""
    if isinstance(argument, list):
        return [_hostile(part, node) for part in argument]
    if isinstance(argument, tuple):
        return tuple(_hostile(part, node) for part in argument)
    return node(argument) if type(argument) is int else argument


def _step(call, arguments, options, apply, state, armed, subjects):
    """Call the verb, check what is there afterwards, and return that."""
    after, refused = state.copy(), False
    try:
        apply(after)
    except Refused:
        refused = True
    fuse, plan = armed
    fuse.arm(**plan)
    raised = None
    try:
        call(*arguments, **options)
    except (*REFUSALS, Broken, KeyError) as error:
        raised = error
    has_blown = fuse.has_blown
    fuse.arm(0)
    found = _found(*subjects, state)
    allowed = [state, *after.prefixes] if raised is not None else [after]
    check(raised is None or refused or has_blown, "raised {!r}", raised)
    check(raised is not None or not refused, "was not refused")
    check(found in allowed, "{!r}: {} instead of {}", raised, found, allowed)
    return found


def _found(graph, labeler, state):
    """What is there by name; a row in which two nodes stand is seen."""
    labels = {node.name: label for node, label in labeler.labels.items()}
    if not isinstance(graph, fo.DynamicGraph):
        return State(state.directed, state.nodes, state.edges, state.times, labels)
    rows = [graph._nodes.find(node) for node in graph]
    check(None not in rows and len(set(rows)) == len(rows) == len(graph), "rows {} of {}", rows, list(graph))
    names = {u: node.name for u, node in zip(rows, graph, strict=True)}
    found = State(state.directed, dict.fromkeys(names.values()), labels=labels)
    for u, v, weight in graph.edges(data="weight"):
        found.edges[found.key(u.name, v.name)] = weight
    for (u, v), time in graph._times.items():
        found.times[found.key(names[u], names[v])] = time
    return found


@truth.exactly
def _check_vector(vector, graph, state, node, fuse, at):
    """The vector is right, also if a node has raised while it was asked."""
    fuse.arm(at)
    try:
        vector[node(SEED)]
    except (Broken, nx.NetworkXException):
        check(fuse.has_blown or SEED not in state.nodes, "the seed {} is there", SEED)
    fuse.arm(0)
    if SEED not in state.nodes:
        return
    frozen = graph.freeze()
    seeds = [truth.ONE if name == SEED else truth.ZERO for name in state.nodes]
    exact = dict(zip(state.nodes, truth.pagerank(frozen, 0.85, seeds), strict=True))
    found = {other.name: value for other, value in vector.ranks().items()}
    off = sum(abs(truth.number(found.get(name, 0.0)) - value) for name, value in exact.items())
    check(off <= truth.number(vector.l1_error), "L1 error {:.3g} instead of {:.3g}", off, vector.l1_error)
