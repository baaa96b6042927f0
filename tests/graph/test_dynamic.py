import math
import pickle
import signal
import threading

import networkx as nx
import numpy as np
import pytest
from hypothesis import settings
from hypothesis.stateful import invariant, run_state_machine_as_test

import nx_fastonl as fo
from nx_fastonl.graph import dynamic
from nx_fastonl.graph._dynamic import RowPool
from tests.graph.machines import GraphMachine


class ReadingMachine(GraphMachine):
    """Every way to read a graph, beside NetworkX's."""

    @invariant()
    def reads_are_equal(self):
        if self.graph is None:
            return
        graph, G = self.graph, self.G
        assert dict(graph.degree()) == dict(G.degree())
        weighted = dict(G.degree(weight="weight"))
        assert dict(graph.degree(weight="weight")) == pytest.approx(weighted, rel=1e-12)
        for node in G:
            assert set(graph.neighbors(node)) == set(G.neighbors(node))
            assert set(graph.predecessors(node)) == set((G.predecessors if G.is_directed() else G.neighbors)(node))
        if len(G):
            frozen = graph.freeze()
            assert list(frozen) == list(G)
            assert (frozen.to_scipy().toarray() == nx.to_numpy_array(G)).all()
            fo.CSRGraph(frozen.indptr, frozen.indices, frozen.weights, directed=G.is_directed())  # checks the rows
            np.testing.assert_allclose(frozen.degrees, nx.to_numpy_array(G).sum(axis=1), rtol=1e-13)
        for rows in graph._pools():
            assert rows.volume == pytest.approx(math.fsum(rows.degrees), rel=1e-15, abs=0.0)
        again = pickle.loads(pickle.dumps(graph))
        assert list(again) == list(G)
        assert sorted(again.edges(data="weight")) == sorted(graph.edges(data="weight"))


def test_the_graph_is_that_of_networkx():
    run_state_machine_as_test(
        ReadingMachine, settings=settings(max_examples=100, stateful_step_count=40, deadline=None)
    )


def test_rows_grow_move_and_are_packed():
    """More changes than any row has room for, in rows of all lengths, with most of them removed again."""
    rng = np.random.default_rng(0)
    graph, G = fo.DynamicGraph(), nx.Graph()
    for _ in range(30):
        edges = (rng.integers(300, size=(500, 2)) ** 2 // 300).tolist()  # a few hubs
        gone = [edge for edge in G.edges if rng.random() < 0.7]
        graph.add_edges_from(np.array(edges))
        graph.remove_edges_from(np.array(gone).reshape(-1, 2))
        G.add_edges_from(edges)
        G.remove_edges_from(gone)
        assert {frozenset(edge) for edge in graph.edges()} == {frozenset(edge) for edge in G.edges}
    assert len(graph.rows.indices) < 40 * graph.rows.n_entries + 1000


def test_degrees_do_not_keep_what_left():
    """A sum from which a large weight is taken away would keep its rounding error."""
    graph = fo.DynamicGraph()
    graph.add_edge("a", "b", weight=1e-3)
    graph.add_edge("a", "c", weight=1e14)
    graph.remove_edge("a", "c")
    assert graph.degree("a", weight="weight") == 1e-3
    assert graph.rows.volume == 2e-3


def test_the_volume_keeps_no_rounding_errors():
    """Weights of many magnitudes come and go, many more times than there are nodes."""
    rng = np.random.default_rng(0)
    graph = fo.DynamicGraph(nx.path_graph(40))
    for _ in range(2_000):
        graph.add_edge(*rng.choice(40, 2, replace=False).tolist(), weight=10.0 ** rng.uniform(-9, 9))
        graph.remove_edges_from([edge for edge in list(graph.edges()) if rng.random() < 0.02])
        assert graph.rows.volume == pytest.approx(math.fsum(graph.rows.degrees), rel=1e-15, abs=0.0)


@pytest.mark.parametrize("directed", [False, True])
def test_from_whatever_graph(directed):
    G = nx.gnp_random_graph(9, 0.4, seed=1, directed=True)
    nx.set_edge_attributes(G, dict.fromkeys(list(G.edges)[::2], 1.5), "weight")
    csr = fo.CSRGraph.from_networkx(G)
    for given in (G, csr, nx.to_scipy_sparse_array(G), fo.DynamicGraph(G)):
        graph = fo.DynamicGraph(given, directed=directed)
        expected = csr.to_scipy() if directed else csr.without_arrows().to_scipy()
        assert (graph.freeze().to_scipy() != expected).nnz == 0
    assert fo.DynamicGraph(csr, weight=None).rows.weights is None
    arcs = fo.DynamicGraph(nx.path_graph(3), directed=True)
    assert sorted(arcs.edges()) == [(0, 1), (1, 0), (1, 2), (2, 1)]


def test_a_copy_is_not_changed_with_its_graph():
    given = nx.path_graph(4)
    graph = fo.DynamicGraph(given)
    copied, frozen = graph.copy(), graph.freeze()
    graph.add_edge(0, 3)
    graph.remove_node(1)
    for other in (given, copied, frozen):
        assert other.number_of_edges() == 3
    assert graph.freeze() is graph.freeze()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda graph: graph.add_node(None), ValueError, "None cannot be a node"),
        (lambda graph: graph.add_node([]), TypeError, r"a node must be hashable, got \[\]"),
        (lambda graph: graph.add_edge(0, None), ValueError, "None cannot be a node"),
        (lambda graph: graph.add_edge(0, 9, weight=0), ValueError, r"edge \(0, 9\) has weight 0; .* remove_edge"),
        (lambda graph: graph.add_edge(0, 9, weight=-1.0), ValueError, "a weight must be a number between"),
        (lambda graph: graph.add_edge(0, 9, weight="heavy"), ValueError, "has weight 'heavy'"),
        (lambda graph: graph.add_edge(0, 9, time=np.nan), ValueError, "time must be a finite number, got nan"),
        (lambda graph: graph.add_edges_from([(9, 8), (7,)]), TypeError, r"must be a tuple .* got \(7,\)"),
        (lambda graph: graph.add_edges_from([(9, 8, 2.0)]), TypeError, "add_weighted_edges_from takes tuples"),
        (lambda graph: graph.add_weighted_edges_from([(9, 8)]), TypeError, r"\(u, v, weight\), got \(9, 8\)"),
        (lambda graph: graph.add_edges_from("ab"), TypeError, "got 'ab'"),
        (lambda graph: graph.add_edges_from(np.zeros((2, 3))), ValueError, r"2 columns, got one of shape \(2, 3\)"),
        (lambda graph: graph.add_edges_from([(9, 8)], weights=[1, 2]), ValueError, "for each of the 1 edges"),
        (lambda graph: graph.add_edges_from(np.array([[9, 8]]), [np.inf]), ValueError, r"edge \(9, 8\) has weight inf"),
        (lambda graph: graph.add_weighted_edges_from([(9, 8, None)]), ValueError, "has weight None"),
        (lambda graph: graph.add_edges_from([(9, 8, {"time": 3})]), ValueError, "times are given by times="),
        (lambda graph: nx.node_classification.harmonic_function(graph), nx.NetworkXError, "has no node attributes"),
        (lambda graph: graph.remove_edges_from([1, 2]), TypeError, "an edge must be a tuple .*, got 1"),
        (lambda graph: graph.remove_edge(0, 2), nx.NetworkXError, "0-2 is not in the graph"),
        (lambda graph: graph.remove_edge(0, 77), nx.NetworkXError, "0-77 is not in the graph"),
        (lambda graph: graph.remove_node(77), nx.NetworkXError, "The node 77 is not in the graph"),
        (lambda graph: graph.neighbors(77), nx.NetworkXError, "The node 77 is not in the graph"),
        (lambda graph: graph.degree(77), nx.NetworkXError, "The node 77 is not in the graph"),
        (lambda graph: graph.edges(data="color"), ValueError, "no attribute but their weight"),
        (lambda graph: graph.expire_before("now"), TypeError, "time must be a number, got 'now'"),
        (lambda _: fo.DynamicGraph(7), TypeError, "expected an nx.Graph.*DynamicGraph, got int"),
        (lambda _: fo.DynamicGraph(directed="yes"), TypeError, "directed must be True, False or None"),
    ],
)
def test_what_is_wrong_changes_nothing(call, error, message):
    graph = fo.DynamicGraph(nx.path_graph(3))
    with pytest.raises(error, match=message):
        call(graph)
    assert graph.edges() == [(0, 1), (1, 2)]
    assert list(graph) == [0, 1, 2]


def test_an_empty_graph():
    graph = fo.DynamicGraph()
    assert (len(graph), graph.edges(), graph.number_of_edges(), list(graph.to_networkx())) == (0, [], 0, [])
    with pytest.raises(nx.NetworkXPointlessConcept):
        graph.freeze()
    with pytest.raises(nx.NodeNotFound):
        fo.fifo_push(graph, 0)


def test_names_of_any_kind():
    graph = fo.DynamicGraph(nx.path_graph(["a", "b", "c"]))
    graph.add_edges_from(np.array([[5, 7], [7, 2**40]]))
    graph.add_edge(("x", 1), "a")
    graph.remove_node("b")
    graph.add_node(7.0)  # equal to 7
    assert list(graph) == ["a", "c", 5, 7, 2**40, ("x", 1)]
    assert set(graph.neighbors(7)) == {5, 2**40}


@pytest.mark.parametrize("directed", [False, True])
def test_an_interrupt_takes_back_what_was_added(directed, monkeypatch):
    """Between two compiled calls, after many edges and new nodes."""
    graph = fo.DynamicGraph(nx.gnp_random_graph(30, 0.2, seed=0, directed=directed))
    before, degrees = graph.edges(data="weight"), graph.rows.degrees.copy()
    monkeypatch.setattr(dynamic, "EDGES_AT_ONCE", 50)
    edges = np.random.default_rng(0).integers(60, size=(400, 2))
    calls = []

    class Interrupting:
        """A pool that is interrupted at its fourth call."""

        def __init__(self, pool):
            self.__dict__["pool"] = pool

        def __getattr__(self, name):
            return getattr(self.pool, name)

        def __setattr__(self, name, value):
            setattr(self.pool, name, value)

        def set_weights(self, *arguments):
            calls.append(arguments)
            if len(calls) == 4:
                raise KeyboardInterrupt
            self.pool.set_weights(*arguments)

    pool = graph.rows.pool
    graph.rows.pool = Interrupting(pool)
    with pytest.raises(KeyboardInterrupt):
        graph.add_edges_from(edges, weights=np.full(len(edges), 2.5))
    graph.rows.pool = pool
    assert len(calls) == 4
    assert sorted(
        graph.edges(
            data="weight",
        )
    ) == sorted(before)
    assert len(graph) == 30
    assert (graph.rows.degrees[:30] == degrees).all()
    graph.add_edges_from(edges)
    assert graph.number_of_nodes() == len({*range(30), *edges.ravel().tolist()})


def test_the_log_keeps_what_a_batch_may_take_back():
    pool = RowPool("undirected", np.zeros(3001, dtype=np.int64), np.empty(0, np.int32), None)
    rng = np.random.default_rng(0)
    ends = rng.integers(3000, size=(2, 100_000)).astype(np.int32)
    pool.set_weights(*ends[:, :1000], rng.uniform(0.1, 3.0, size=1000))
    start, degrees = pool.position, pool.arrays[4].copy()
    pool.keep_log(0)
    pool.set_weights(*ends, rng.choice([0.0, 0.1, 0.7], size=ends.shape[1]))
    assert pool.first_position <= start
    pool.undo(start)
    assert pool.position == start
    assert (pool.arrays[4] == degrees).all()
    assert pool.volume == pytest.approx(math.fsum(degrees), rel=1e-15, abs=0.0)


def test_undoing_with_a_full_log():
    """As many changes as it has room for: taking them back logs nothing that would drop others."""
    pool = RowPool("undirected", np.zeros(201, dtype=np.int64), np.empty(0, np.int32), None)
    ends = np.array([(u, v) for u in range(200) for v in range(u)], dtype=np.int32).T.copy()
    pool.set_weights(*ends[:, :16_000], np.full(16_000, np.nan))
    before, start = [array.copy() for array in pool.arrays if array is not None], pool.position
    pool.keep_log(384)
    pool.set_weights(*ends[:, :384], np.full(384, 0.0))
    pool.undo(start)
    assert pool.position == start
    assert (pool.arrays[4] == before[-1]).all()
    for u in range(200):
        rows = [set(indices[starts[u] : stops[u]].tolist()) for starts, stops, indices, *_ in (before, pool.arrays)]
        assert rows[0] == rows[1]


def test_a_log_that_is_cut_keeps_the_latest_changes():
    pool = RowPool("undirected", np.zeros(501, dtype=np.int64), np.empty(0, np.int32), None)
    ends = np.random.default_rng(0).integers(500, size=(2, 90_000)).astype(np.int32)
    weights = np.arange(1.0, 90_001.0)
    pool.keep_log(90_000)
    pool.set_weights(*ends, weights)
    pool.release_log()
    assert pool.first_position > 0
    found = pool.changes(pool.first_position)
    assert (found["after"] == weights[pool.first_position :]).all()
    assert (found["u"] == ends[0, pool.first_position :]).all()


def test_the_largest_degree_is_found_anew_when_rows_are_packed():
    graph = fo.DynamicGraph(nx.star_graph(50))
    graph.remove_node(0)
    graph.add_edges_from(np.random.default_rng(0).integers(1, 51, size=(4000, 2)))
    graph.remove_edges_from(np.array(graph.edges()))
    graph.rows.pool.pack()
    assert graph.rows.largest_degree == 0.0


def test_the_log_is_bounded():
    graph = fo.DynamicGraph(nx.path_graph(10))
    for _ in range(20):
        for weight in (1.0, 2.0):
            graph.add_edges_from(np.tile([[0, 1], [3, 4]], (1000, 1)), weights=np.repeat([weight, weight + 0.5], 1000))
            graph.add_edges_from(np.tile([[0, 1]], (2000, 1)), weights=np.tile([3.0, 4.0], 1000))
    pool = graph.rows.pool
    assert pool.position > 60_000
    assert pool.position - pool.first_position < 40_000


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such timers")
def test_ctrl_c_while_a_large_array_is_added():
    def interrupt(*_):
        raise KeyboardInterrupt

    graph = fo.DynamicGraph(nx.path_graph(3))
    edges = np.random.default_rng(0).integers(200_000, size=(2_000_000, 2))
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            graph.add_edges_from(edges)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert list(graph) == [0, 1, 2]
    assert graph.edges() == [(0, 1), (1, 2)]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such timers")
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.usefixtures("_no_collection")
def test_interrupts_at_any_moment_leave_all_or_nothing(directed):
    """Of nodes, edges and times, whatever call they come in."""

    def interrupt(*_):
        raise KeyboardInterrupt

    rng = np.random.default_rng(0)
    edges = rng.integers(60, size=(300, 2))
    calls = [
        lambda graph: graph.add_edges_from(edges, times=np.arange(300.0)),
        lambda graph: graph.add_edges_from([("a", "b"), ("b", 3)] * 20, times=np.arange(40.0)),
        lambda graph: graph.remove_edges_from(edges[::2]),
        lambda graph: graph.remove_nodes_from([0, 1, 2, 3]),
        lambda graph: graph.expire_before(150),
        lambda graph: graph.add_nodes_from(range(100, 140)),
    ]

    def state(graph):
        names = {u: graph.rows.nodes[u] for u in graph.rows.node_rows()}
        times = {(names[u], names[v]): time for (u, v), time in graph._times.items()}
        rows = graph.rows
        assert not rows.neighbor_counts(slice(None))[sorted(set(range(len(rows))) - set(names))].any()
        return list(graph), sorted(map(repr, graph.edges(data="weight"))), times

    before = signal.signal(signal.SIGALRM, interrupt)
    interrupted = 0
    try:
        for i in range(240):
            graph = fo.DynamicGraph(nx.gnp_random_graph(30, 0.2, seed=i, directed=directed))
            graph.add_edges_from(edges[:100], times=np.arange(100.0, 200.0))
            whole = graph.copy()
            calls[i % 6](whole)
            nothing, everything = state(graph), state(whole)
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-5 + 4e-6 * (i // 6))
                calls[i % 6](graph)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                interrupted += 1
                now = state(graph)
                assert now in (nothing, everything)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interrupted > 20


def test_a_change_waits_for_readers_and_readers_for_a_change():
    graph = fo.DynamicGraph(nx.path_graph(3))
    order = []

    def change():
        graph.add_edge(0, 2)
        order.append("changed")

    with graph.rows.reading():
        writer = threading.Thread(target=change)
        writer.start()
        writer.join(0.1)
        assert graph.number_of_edges() == 2  # this thread may read again, though a writer waits
        order.append("read")
    writer.join(10)
    assert order == ["read", "changed"]


def test_functions_agree_with_those_of_the_frozen_graph():
    """On rows that were used again, moved and emptied; with weights, and without."""
    rng = np.random.default_rng(3)
    for directed in (False, True):
        graph = fo.DynamicGraph(directed=directed)
        for _ in range(200):
            u, v = rng.integers(25, size=2).tolist()
            graph.add_edge(u, v, float(rng.uniform(0.5, 2)) if directed else None)
            if rng.random() < 0.15:
                graph.remove_node(u)
        frozen, node = graph.freeze(), list(graph)[3]
        for options in ({}, {"tol": 1e-9}, {"epsilon": 1e-3}, {"as_array": True}, {"personalization": None}):
            both = [
                fo.personalized_pagerank_local(G, full_output=True, **{"personalization": node, **options})
                for G in (graph, frozen)
            ]
            (found, info), (truth, frozen_info) = both
            if not isinstance(found, dict):
                found, truth = (dict(enumerate(vector.tolist())) for vector in (found, truth))
            off = sum(abs(found.get(key, 0.0) - truth.get(key, 0.0)) for key in {*found, *truth})
            assert off <= info.l1_error + frozen_info.l1_error
        for G in (graph, frozen):
            estimate, residual, _ = fo.fifo_push(G, node, epsilon=1e-5, full_output=True)
            assert sum(estimate.values()) + sum(residual.values()) <= 1.0 + 1e-9
        top = [fo.personalized_pagerank_local(G, personalization=node, top_k=5) for G in (graph, frozen)]
        assert list(top[0]) == list(top[1])
        assert (fo.ppr_matrix(graph) != fo.ppr_matrix(frozen)).nnz == 0
        assert nx.pagerank(graph, backend="fastonl") == nx.pagerank(frozen, backend="fastonl")
        if not directed:
            for kernel in ("K1", "K2", "K6"):
                columns = [fo.kernel_column(G, node, kernel, full_output=True) for G in (graph, frozen)]
                (found, info), (truth, frozen_info) = columns
                bound = info.error + frozen_info.error
                assert all(abs(found.get(key, info.elsewhere) - value) <= bound for key, value in truth.items())


def test_the_largest_degree_does_not_stay_that_of_an_edge_that_left():
    graph = fo.DynamicGraph(nx.path_graph(9))
    graph.add_edge(3, 4, weight=1e20)
    graph.add_edge(3, 4, weight=1.0)
    assert graph.rows.largest_degree == 2.0
    model = fo.OnlineNodeLabeler(graph, kernel="laplacian").fit({0: "a", 8: "b"})
    assert (
        model.predict_many()
        == fo.OnlineNodeLabeler(nx.path_graph(9), kernel="laplacian").fit({0: "a", 8: "b"}).predict_many()
    )
