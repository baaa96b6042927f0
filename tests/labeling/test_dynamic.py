"""Models on graphs that change: what they keep is what they would have built on the graph as it is now."""

import copy
import signal

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule, run_state_machine_as_test
from numpy.testing import assert_allclose

import nx_fastonl as fo
from nx_fastonl.graph import _dynamic
from nx_fastonl.learners._neighbors import NeighborCounts
from tests import oracles
from tests.graph.machines import NODES, GraphMachine, adjacency_by_row
from tests.seams import catch_up, learner_of

LABELS = [f"label {i}" for i in range(11)]  # two blocks
KERNELS = {
    "K1": "laplacian",
    "K2": "normalized-laplacian",
    "K3": "normalized-adjacency",
    "K4": "scaled-laplacian",
    "K5": "scaled-regularized",
    "K6": "augmented-laplacian",
}
SMOOTHNESS = 0.2
MODELS = [
    *(("fastonl", kernel, {}) for kernel in KERNELS),
    ("fastonl", "K2", {"epsilon": 1e-12}),
    ("fastonl", "K1", {"lam": 1.5}),
    ("fastonl", "K5", {"S": 2.0, "beta": 0.3}),
    ("perceptron", "K6", {}),
    ("adaptive", "K2", {}),
    ("adaptive", "K2", {"forgetting": 4.0}),
    ("adaptive", "K1", {"experts": ("diffusion", "laplacian:0.3", "vote", "compatibility", "profile", "degree")}),
]


def system_by_row(W, kernel, parameters, n, absorbing=()):
    """H and s of a kernel with n nodes, from W by rows; rows without edges as the kernel has them."""
    smoothness = parameters["lam"] / n if "lam" in parameters else SMOOTHNESS
    beta = parameters.get("beta", 1.0 - smoothness if kernel == "K4" else smoothness)
    D = W.sum(axis=1)
    S = np.full(len(W), parameters["S"]) if "S" in parameters else None
    with np.errstate(divide="ignore", invalid="ignore"):
        _, s, c, _ = oracles.kernel_form(W, KERNELS[kernel], smoothness * len(W), beta=beta, b=1.0 / n, S=S)
    s, c = np.array(s), np.array(c)
    if S is None:
        # An isolated node has c = 1 where c follows the degree, and the s with which its entry of M is right.
        isolated = D == 0.0
        if kernel in ("K2", "K3", "K4"):
            c[isolated] = 1.0
        s_isolated = {"K2": 1 / smoothness, "K3": beta / (1 + smoothness), "K4": 1 / (beta + smoothness)}
        s_isolated["K5"] = beta / smoothness
        if kernel in s_isolated:
            s[isolated] = np.sqrt(s_isolated[kernel])
    H = np.diag(c + D) - W
    for u in absorbing:
        H[u, u] += D[u]
    return H, s


class ModelMachine(GraphMachine):
    """A model on a graph that changes, asked, taught and made to forget in between."""

    def __init__(self):
        super().__init__()
        self.model, self.labels, self.n_steps = None, {}, 0

    @initialize(directed=st.booleans(), n=st.integers(0, 6), seed=st.integers(0, 20), which=st.sampled_from(MODELS))
    def begin(self, directed, n, seed, which):
        self.method, self.kernel, self.options = which
        directed = directed and self.method == "adaptive"
        super().begin(directed, n, seed)
        smoothness = {} if "lam" in self.options else {"smoothness": SMOOTHNESS}
        self.model = fo.OnlineNodeLabeler(
            self.graph, method=self.method, kernel=self.kernel, **smoothness, **self.options
        )

    @rule(nodes=st.lists(NODES, max_size=2))
    def remove_nodes(self, nodes):
        super().remove_nodes(nodes)
        self.labels = {node: label for node, label in self.labels.items() if node in self.G}

    @precondition(lambda self: self.G is not None and len(self.G))
    @rule(node=NODES, label=st.sampled_from(LABELS))
    def learn(self, node, label):
        assume(node in self.G)
        self.model.learn_one(node, label, overwrite=True)
        self.labels[node] = label

    @rule(labels=st.dictionaries(NODES, st.sampled_from(LABELS), max_size=4))
    def learn_many(self, labels):
        new = {node: label for node, label in labels.items() if node in self.G and node not in self.labels}
        self.model.learn_many(new)
        self.labels.update(new)

    @rule(labels=st.dictionaries(NODES, st.sampled_from(LABELS), max_size=4))
    def fit(self, labels):
        labels = {node: label for node, label in labels.items() if node in self.G}
        assume(len(self.G))
        self.model.fit(labels)
        self.labels = labels

    @rule(node=NODES)
    def forget(self, node):
        if node in self.labels:
            self.model.forget(node)
            del self.labels[node]

    @rule(node=NODES)
    def predict(self, node):
        if node in self.G:
            assert self.model.predict_one(node) in {None, *self.model.classes}
        else:
            with pytest.raises(nx.NodeNotFound):
                self.model.predict_one(node)

    @rule()
    def reread_from_scratch(self):
        """As if the log did not reach back far enough: residuals and counts are computed anew."""
        learner = learner_of(self.model)
        with self.graph.rows.reading():
            learner.follow()
            for diffusion in getattr(learner, "diffusions", [getattr(learner, "diffusion", None)]):
                diffusion._rebuild(learner.history, getattr(learner, "gradients", None))
            if hasattr(learner, "counts"):
                learner.counts.recount(learner._view, learner.history, learner.graph.position)

    @invariant()
    def model_is_right(self):
        self.n_steps += 1
        if self.model is None or self.n_steps % 3:  # it need not have caught up with each change before the next call
            return
        assert self.model.labels == self.labels
        assert self.model.n_learned == len(self.labels)
        catch_up(self.model)  # labels can be read without
        learner = learner_of(self.model)
        k = learner.k
        if len(self.graph.rows) == 0 or k == 0:
            return
        W = adjacency_by_row(self.graph, self.G)
        rows, numbers = learner.history.learned()
        n = max(len(self.G), 1)
        if self.method == "adaptive":
            for diffusion, (kernel, smoothness) in zip(learner.diffusions, self.kernels(), strict=True):
                H, _ = self.absorbing_system(W, kernel, smoothness, rows)
                B = np.zeros((len(W), k))
                B[rows, numbers] = 1.0
                self.check_diffusion(diffusion, W, H, B, k)
            self.check_counts(learner)
            return
        H, s = system_by_row(W, self.kernel, self.options, n)
        B = learner.stored_gradients()
        scales = np.array([learner.gradients.scale(u) for u in range(len(W))])
        assert_allclose(scales[scales > 0], s[scales > 0], rtol=1e-9)
        self.check_diffusion(learner.diffusion, W, H, B, k)
        assert_allclose(learner.diffusion.store.mass, np.abs(B).max(axis=1).sum(), rtol=1e-9, atol=1e-9)
        assert_allclose(learner.gradients.unit, learner.kernel.a, rtol=1e-12)

    def kernels(self):
        fitted = learner_of(self.model).is_fitted
        for name, kernel in (
            learner_of(self.model)._fit_kernels if fitted else learner_of(self.model)._kernels
        ).items():
            yield kernel, (0.3 if ":" in name else SMOOTHNESS)

    def absorbing_system(self, W, kernel, smoothness, rows):
        D = W.sum(axis=1)
        c = np.full(len(W), smoothness) if kernel.name == "laplacian" else np.where(D > 0, smoothness * D, 1.0)
        H = np.diag(c + D) - W
        H[rows, rows] += D[rows]
        return H, None

    def check_diffusion(self, diffusion, W, H, B, k):
        Z, R = diffusion.dense(k)
        size = max(1.0, np.abs(H).max())
        assert_allclose(H @ Z + R, B, atol=1e-9 * size)
        assert not diffusion.store.unsettled_lanes
        neighbours = (W > 0).sum(axis=1)
        allowed = np.where(neighbours > 0, np.maximum(neighbours, diffusion.store.least_allowance), 0.0)
        assert (np.abs(R) <= (1.0 + 1e-6) * diffusion.largest_theta * allowed[:, None] + 1e-12 * size).all()
        # Built from scratch for the same sources, the estimates would differ by at most inv(H) of both residuals.
        assert (np.abs(Z - np.linalg.solve(H, B)) <= np.linalg.inv(H) @ np.abs(R) + 1e-9 * size).all()

    def check_counts(self, learner):
        counts = learner.counts
        edge_unit = None if counts.views == 1 else counts.unit / counts.scale
        fresh = NeighborCounts(counts.n, counts.unit, counts.half_life, edge_unit)
        fresh.reserve_labels(counts.lanes)
        fresh.recount(learner._view, learner.history, 0)
        tables, of_nodes, (_, base, _), _ = counts.__reduce__()[1]
        fresh_tables, fresh_of_nodes, *_ = fresh.__reduce__()[1]
        scale = np.exp2(-base / counts.half_life)  # counts may be divided by a common stamp
        for table, truth in zip(tables, fresh_tables, strict=True):
            assert_allclose(table, truth * scale, atol=1e-6)
        assert (of_nodes[0] == fresh_of_nodes[0]).all()
        learned = learner.history.learned()[0]
        assert (of_nodes[3][learned] == fresh_of_nodes[3][learned]).all()


@pytest.mark.slow
def test_models_are_those_of_the_final_graph():
    run_state_machine_as_test(ModelMachine, settings=settings(max_examples=150, stateful_step_count=30, deadline=None))


@pytest.mark.parametrize("method", ["fastonl-fifo", "relaxation", "approximate"])
def test_learners_by_columns_score_by_the_kernel_of_now(method):
    """Their scores are those of the stored gradients on the matrix of the graph as it is."""
    graph = fo.DynamicGraph(nx.gnp_random_graph(9, 0.5, seed=2))
    options = {"terms": 3000} if method == "approximate" else {"epsilon": 1e-14} if method == "fastonl-fifo" else {}
    model = fo.OnlineNodeLabeler(graph, method=method, smoothness=0.3, trace=50.0, **options)
    rng = np.random.default_rng(0)
    for step in range(40):
        u, v = rng.integers(12, size=2).tolist()
        graph.add_edge(u, v, float(rng.uniform(0.5, 2.0)))
        if step % 6 == 5:
            graph.remove_node(int(rng.choice(list(graph))))
        if u in graph and u not in model.labels:
            model.learn_one(u, LABELS[u % 3])
        model.predict_one(next(iter(graph)))
        frozen = graph.freeze()
        exact = fo.kernel_matrix(frozen, smoothness=0.3, exact=True)
        learner = learner_of(model)
        order = list(graph.rows.node_rows())
        s = np.array([learner.gradients.scale(u) for u in order])
        stored = learner.stored_gradients()[order]
        gradients = np.divide(stored, s[:, None], out=np.zeros_like(stored), where=s[:, None] > 0)
        with graph.rows.reading():
            found = np.array([learner._evidence(u).scores for u in order])
        assert_allclose(found, exact @ gradients, rtol=1e-6, atol=1e-8)


def test_trees_are_drawn_anew():
    graph = fo.DynamicGraph(nx.path_graph(6))
    model = fo.OnlineNodeLabeler(graph, method="weighted-tree", seed=0).fit({0: "left", 5: "right"})
    assert model.predict_one(1) == "left"
    graph.remove_edge(0, 1)
    graph.add_edge(1, 6, weight=50.0)
    graph.add_edge(6, 5, weight=50.0)
    assert model.predict_one(1) == model.predict_one(6) == "right"


def test_neighbours_that_join_vote_at_once():
    graph = fo.DynamicGraph()
    graph.add_node("ann")
    model = fo.OnlineNodeLabeler(graph, method="weighted-majority", classes=["red", "blue"])
    graph.add_edge("bob", "ann")
    model.learn_one("bob", "red")
    assert model.predict_one("ann") == "red"
    graph.add_edge("cid", "ann", weight=3.0)
    model.learn_one("cid", "blue")
    assert model.predict_one("ann") == "blue"
    graph.remove_node("cid")
    assert model.predict_one("ann") == "red"
    assert model.labels == {"bob": "red"}


@pytest.mark.parametrize("method", ["fastonl", "adaptive"])
def test_a_log_that_does_not_reach_back(method):
    """More changes than the log keeps, and than are worth repairing one by one."""
    rng = np.random.default_rng(0)
    graph = fo.DynamicGraph(nx.gnm_random_graph(60, 150, seed=0))
    model = fo.OnlineNodeLabeler(graph, method=method, smoothness=0.2)
    model.learn_many({node: LABELS[node % 4] for node in range(0, 60, 2)})
    for _ in range(12):
        graph.add_edges_from(rng.integers(60, size=(4000, 2)), weights=rng.uniform(0.5, 2.0, size=4000))
        graph.remove_edges_from(rng.integers(60, size=(2000, 2)))
    learner = learner_of(model)
    position = (learner.counts if method == "adaptive" else learner.diffusion.store).position
    assert graph.rows.pool.first_position > position
    model.predict_one(3)
    W = adjacency_by_row(graph, graph.to_networkx())
    machine = ModelMachine()
    machine.model = model
    k = learner.k
    if method == "fastonl":
        H, _ = system_by_row(W, "K2", {}, 60)
        machine.check_diffusion(learner.diffusion, W, H, learner.stored_gradients(), k)
    else:
        rows, numbers = learner.history.learned()
        B = np.zeros((len(W), k))
        B[rows, numbers] = 1.0
        H, _ = machine.absorbing_system(W, learner.diffusions[0].kernel, SMOOTHNESS, rows)
        machine.check_diffusion(learner.diffusions[0], W, H, B, k)
        machine.check_counts(learner)


def test_rows_that_are_used_again_do_not_inherit_labels():
    graph = fo.DynamicGraph(nx.path_graph(["a", "b", "c"]))
    model = fo.OnlineNodeLabeler(graph).fit({"a": "x", "c": "y"})
    graph.remove_node("c")
    graph.add_edge("d", "b")  # takes the row of "c"
    assert graph.rows.index("d") == 2
    assert model.labels == {"a": "x"}
    assert model.n_learned == 1
    model.learn_one("d", "z")
    assert model.labels == {"a": "x", "d": "z"}


def test_several_models_share_a_graph():
    graph = fo.DynamicGraph(nx.karate_club_graph())
    models = [fo.OnlineNodeLabeler(graph, method=method) for method in ("adaptive", "fastonl", "perceptron")]
    for model in models:
        model.fit({0: "a", 33: "b"})
    graph.add_edge("new", 33)
    assert [model.predict_one("new") for model in models] == ["b"] * 3
    graph.remove_edge("new", 33)
    graph.add_edge("new", 0)
    assert [model.predict_one("new") for model in models] == ["a"] * 3
    assert models[0].graph is graph


@pytest.mark.parametrize("kernel", KERNELS)
def test_certificates_stay_true(kernel):
    """The certified margin is that of the exact kernel of the graph as it is, within its error."""
    rng = np.random.default_rng(1)
    graph = fo.DynamicGraph(nx.gnm_random_graph(25, 60, seed=1))
    model = fo.OnlineNodeLabeler(graph, method="fastonl", kernel=kernel, smoothness=0.3)
    certain = 0
    for step in range(30):
        u, v = rng.integers(30, size=2).tolist()
        graph.add_edge(u, v, float(rng.uniform(0.2, 3.0)))
        if step % 5 == 4:
            graph.remove_edges_from([graph.edges()[0]])
        if u not in model.labels:
            model.learn_one(u, LABELS[u % 3])
        node = int(rng.choice(list(graph)))
        found = model.certify_one(node)
        learner = learner_of(model)
        frozen = graph.freeze()
        exact = fo.kernel_matrix(frozen, kernel=kernel, smoothness=0.3, exact=True)
        order = list(graph.rows.node_rows())
        s = np.array([learner.gradients.scale(u) for u in order])
        stored = learner.stored_gradients()[order]
        gradients = np.divide(stored, s[:, None], out=np.zeros_like(stored), where=s[:, None] > 0)
        scores = exact[list(frozen).index(node)] @ gradients
        best = list(model.classes).index(found.label)
        others = np.delete(scores, best)
        margin = (others.min() - scores[best]) if len(others) else np.inf
        if np.isfinite(margin):
            assert abs(margin - found.margin) <= found.error + 1e-9 * np.abs(scores).max()
        certain += found.certain
    assert certain > 5


@pytest.mark.parametrize("method", ["adaptive", "fastonl", "fastonl-fifo", "relaxation", "perceptron", "weighted-tree"])
def test_fit_after_the_graph_has_changed(method):
    """A model that was never asked since then fits as a new one does."""
    graph = fo.DynamicGraph(nx.path_graph(3))
    old = fo.OnlineNodeLabeler(graph, method=method, seed=0)
    graph.add_edges_from([(i, i + 1) for i in range(40)])
    labels = {i: "ab"[i // 20] for i in range(0, 40, 3)}
    new = fo.OnlineNodeLabeler(graph, method=method, seed=0)
    assert old.fit(labels).predict_many() == new.fit(labels).predict_many()
    assert len(old.clone().predict_many()) == 41


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kernel", ["K2", "K4", "K5"])
def test_a_heavy_edge_leaves_no_rounding_errors(kernel, dtype):
    """Certificates are true after a weight has come and gone beside which all else is rounding."""
    graph = fo.DynamicGraph(nx.gnm_random_graph(25, 60, seed=1))
    model = fo.OnlineNodeLabeler(graph, method="fastonl", kernel=kernel, smoothness=0.3, dtype=dtype)
    model.learn_many({node: LABELS[node % 3] for node in range(0, 25, 2)})
    for weight in (1e12, 1e16) if dtype == "float64" else (1e6, 1e9):
        graph.add_edge(3, 9, weight)
        model.predict_one(5)
        graph.remove_edge(3, 9)
    learner = learner_of(model)
    model.predict_one(5)
    H = np.diag(learner.kernel.system.pivots(np.arange(25))) - adjacency_by_row(graph, graph.to_networkx())
    Z, R = learner.diffusion.dense(3)
    assert_allclose(H @ Z + R, learner.stored_gradients(), atol=1e-9 if dtype == "float64" else 1e-2)
    exact = fo.kernel_matrix(graph.freeze(), kernel=kernel, smoothness=0.3, exact=True)
    s = np.array([learner.gradients.scale(u) for u in range(25)])
    gradients = learner.stored_gradients() / np.where(s > 0, s, 1.0)[:, None]
    scores = exact @ gradients
    for node in range(25):
        found = model.certify_one(node)
        best = list(model.classes).index(found.label)
        margin = np.delete(scores[node], best).min() - scores[node, best]
        assert abs(margin - found.margin) <= found.error + 1e-9 * np.abs(scores).max()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fastonl", "adaptive"])
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such timers")
@pytest.mark.usefixtures("_no_collection")
def test_an_interrupt_while_catching_up(method):
    """Whenever it comes, the next call goes on, and all is right then."""

    def interrupt(*_):
        raise KeyboardInterrupt

    rng = np.random.default_rng(0)
    graph = fo.DynamicGraph(nx.gnm_random_graph(3000, 30_000, seed=0))
    model = fo.OnlineNodeLabeler(graph, method=method, smoothness=0.01, epsilon=1e-8)
    model.learn_many({node: LABELS[node % 3] for node in range(0, 3000, 10)})
    machine = ModelMachine()
    machine.model, interrupted = model, 0
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for delay in (0.0005, 0.002, 0.005, 0.02, 0.05):
            graph.add_edges_from(rng.integers(3000, size=(50, 2)))
            signal.setitimer(signal.ITIMER_REAL, delay)
            try:
                model.predict_one(5)
            except KeyboardInterrupt:
                interrupted += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before)
    model.predict_one(5)
    assert interrupted > 0
    learner = learner_of(model)
    diffusion = learner.diffusions[0] if method == "adaptive" else learner.diffusion
    Z, R = diffusion.dense(learner.k)
    W = graph.freeze().to_scipy()
    B = learner.stored_gradients() if method == "fastonl" else np.zeros_like(Z)
    if method == "adaptive":
        rows, numbers = learner.history.learned()
        B[rows, numbers] = 1.0
        machine.check_counts(learner)
    assert_allclose(diffusion.system.pivots(np.arange(3000))[:, None] * Z - W @ Z + R, B, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight": None}, r"weight=None would ignore weights.*DynamicGraph\(G, weight=None\)"),
        ({"method": "fastonl", "kernel": "K5", "S": {0: 1.0}}, "S must be a number where the graph can change"),
        ({"method": "fastonl-fifo", "symmetrized": True}, r"symmetrized=True adds up .* graph.freeze\(\)"),
    ],
)
def test_what_cannot_follow_says_why(options, message):
    with pytest.raises(ValueError, match=message):
        fo.OnlineNodeLabeler(fo.DynamicGraph(nx.path_graph(3)), **options)


def test_numbers_that_follow_the_size():
    """Lam = smoothness * n, epsilon and the trace are those of the graph as it is."""
    graph = fo.DynamicGraph(nx.path_graph(10))
    model = fo.OnlineNodeLabeler(graph, method="fastonl", smoothness=0.5, trace="paper")
    model.learn_one(0, "a")
    graph.add_edges_from([(i, i + 1) for i in range(9, 39)])
    model.predict_one(5)
    learner, fresh = (
        learner_of(model),
        learner_of(fo.OnlineNodeLabeler(graph, method="fastonl", smoothness=0.5, trace="paper")),
    )
    assert (learner.kernel.lam, learner.kernel.a) == (20.0, 40.0)
    assert learner.diffusion.store.rate == fresh.diffusion.store.rate
    assert learner.gradients.trace == fresh.gradients.trace == 1600.0


def test_a_model_on_a_graph_without_nodes():
    model = fo.OnlineNodeLabeler(fo.DynamicGraph())
    assert model.predict_many() == []
    with pytest.raises(nx.NodeNotFound):
        model.learn_one(0, "a")
    model.graph.add_edge(0, 1)
    model.learn_one(0, "a")
    assert model.predict_one(1) == "a"


def test_changes_have_the_layout_that_compiled_loops_expect():
    pool = _dynamic.RowPool("undirected", np.zeros(3, dtype=np.int64), np.empty(0, np.int32), None)
    pool.set_weights(*(np.array([end], np.int32) for end in (0, 1)), np.array([2.5]))
    (change,) = pool.changes(0)
    assert change.tolist() == (0, 1, 0.0, 2.5, 0.0, 2.5, 0.0, 2.5, 1)
    assert copy.copy(change)["more"] == 1
