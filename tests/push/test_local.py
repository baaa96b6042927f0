import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.push._workspace import Workspace
from nx_fastonl.push.local import local_push
from nx_fastonl.push.system import LinearSystem
from tests import oracles
from tests.seams import idle_workspaces
from tests.strategies import alphas, epsilons, nodes_of, small_graphs


def ppr(graph, alpha):
    return LinearSystem(graph, shift=0.0, slope=1 / (1 - alpha))


def spread(graph, result):
    """Estimate and residual over all nodes."""
    estimate, residual = np.zeros(len(graph)), np.zeros(len(graph))
    estimate[result.nodes], residual[result.nodes] = result.estimate, result.residual
    return estimate, residual


@given(st.data(), small_graphs(), alphas(), epsilons(), st.sampled_from(["ppr", "laplacian"]), st.booleans())
def test_push_keeps_its_invariant(data, G, alpha, epsilon, kind, adaptive):
    graph = CSRGraph.from_networkx(G)
    source = graph.index(data.draw(nodes_of(G)))
    system = ppr(graph, alpha) if kind == "ppr" else LinearSystem(graph, shift=alpha, slope=1.0)
    result = local_push(system, [source], [1.0], epsilon, adaptive=adaptive)
    estimate, residual = spread(graph, result)
    H = oracles.dense_system(oracles.adjacency(G), alpha, kind)
    rounding = 1e-12 * max(1.0, (np.abs(H) @ np.abs(estimate)).max())
    assert_allclose(H @ estimate + residual, np.eye(len(G))[source], atol=rounding)
    neighbours = np.diff(graph.indptr)
    assert (np.abs(residual) < np.where(neighbours > 0, epsilon * neighbours, 1e-300)).all()
    assert result.converged


@given(st.data(), small_graphs(directed=True), alphas(), st.sampled_from([1e-1, 1e-4, 1e-8, 1e-12]))
def test_mass_tolerance_is_met(data, G, alpha, tolerance):
    graph = CSRGraph.from_networkx(G)
    source = graph.index(data.draw(nodes_of(G)))
    result = local_push(ppr(graph, alpha), [source], [1.0], 0.1, mass_tolerance=tolerance)
    estimate, residual = spread(graph, result)
    assert result.residual_mass <= tolerance
    H = oracles.dense_system(oracles.adjacency(G), alpha, "ppr")
    assert_allclose(H @ estimate + residual, np.eye(len(G))[source], atol=1e-12)


def test_sweeps_take_over_where_mass_settles_slowly_and_save_work():
    graph = CSRGraph.from_networkx(nx.barabasi_albert_graph(300, 4, seed=1))
    queue = local_push(ppr(graph, 0.02), [5], [1.0], 1e-10, adaptive=False)
    sweeps = local_push(ppr(graph, 0.02), [5], [1.0], 1e-10)
    assert sweeps.operations < queue.operations / 3
    assert_allclose(spread(graph, sweeps)[0], spread(graph, queue)[0], atol=1e-7)


def test_sweeps_cope_with_negative_residuals_on_weighted_loops():
    G = nx.complete_graph(30)
    G.add_weighted_edges_from((u, u, 5.0) for u in range(0, 30, 2))
    graph = CSRGraph.from_networkx(G)
    result = local_push(ppr(graph, 0.01), [0], [1.0], 1e-12)
    assert (result.residual < 0).any()
    exact = np.linalg.solve(oracles.dense_system(oracles.adjacency(G), 0.01, "ppr"), np.eye(30)[0])
    assert_allclose(spread(graph, result)[0], exact, rtol=1e-7)


def test_work_follows_what_is_touched():
    small, large = (CSRGraph.from_networkx(nx.cycle_graph(n)) for n in (1_000, 100_000))
    in_small, in_large = (local_push(ppr(graph, 0.15), [500], [1.0], 1e-4) for graph in (small, large))
    assert in_small.operations == in_large.operations
    assert_array_equal(in_small.nodes, in_large.nodes)
    assert len(in_small.nodes) < 200


def test_workspace_is_reused_and_left_zero():
    graph = CSRGraph.from_networkx(nx.karate_club_graph())
    local_push(ppr(graph, 0.15), [0], [1.0], 1e-6)
    with graph.scratch(Workspace) as workspace:
        assert idle_workspaces(graph) == 0
    local_push(ppr(graph, 0.01), [3, 4], [0.5, 0.5], 1e-8)
    assert idle_workspaces(graph) == 1
    with graph.scratch(Workspace) as again:
        assert again is workspace
        again.start(np.arange(34), np.zeros(34))  # takes out what is there
        _, estimate, residual = again.drain()
    assert not estimate.any()
    assert not residual.any()
    # A threshold that was left behind would keep its node from being listed.
    expected = local_push(ppr(CSRGraph.from_networkx(nx.karate_club_graph()), 0.15), [0], [1.0], 1e-6)
    assert_array_equal(local_push(ppr(graph, 0.15), [0], [1.0], 1e-6).nodes, expected.nodes)


@pytest.mark.parametrize("budget", [0, 1, 100, 5_000])
@pytest.mark.parametrize("adaptive", [True, False])
def test_operation_budget(budget, adaptive):
    G = nx.barabasi_albert_graph(300, 4, seed=1)
    graph = CSRGraph.from_networkx(G)
    result = local_push(ppr(graph, 0.02), [5], [1.0], 1e-10, adaptive=adaptive, max_operations=budget)
    assert not result.converged
    assert budget <= result.operations <= budget + np.diff(graph.indptr).max()
    estimate, residual = spread(graph, result)
    H = oracles.dense_system(oracles.adjacency(G), 0.02, "ppr")
    assert_allclose(H @ estimate + residual, np.eye(300)[5], atol=1e-12)


@pytest.mark.parametrize("tiny", [5e-324, 1e-310])
def test_thresholds_never_vanish(tiny):
    """A threshold of 0 means that a node is untouched. If one were set, nodes would be listed twice, past the end."""
    graph = CSRGraph.from_networkx(nx.complete_graph(12))
    for adaptive in (True, False):
        result = local_push(ppr(graph, 0.5), [0], [1.0], tiny, adaptive=adaptive, max_operations=10_000)
        assert sorted(result.nodes) == list(range(12))
    result = local_push(ppr(graph, 0.5), [0], [1.0], 0.1, mass_tolerance=tiny)
    assert sorted(result.nodes) == list(range(12))


def test_epoch_budget():
    graph = CSRGraph.from_networkx(nx.barabasi_albert_graph(300, 4, seed=1))
    for adaptive in (True, False):
        result = local_push(ppr(graph, 0.02), [5], [1.0], 1e-10, adaptive=adaptive, max_epochs=12)
        assert (result.epochs, result.converged) == (12, False)


def test_threads_give_the_single_thread_answers():
    graph = CSRGraph.from_networkx(nx.barabasi_albert_graph(3_000, 4, seed=1))

    def push(source):
        return local_push(ppr(graph, 0.1), [source], [1.0], 1e-7)

    sources = range(60)
    serial = [push(source) for source in sources]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(push, sources))
    for one, other in zip(serial, together, strict=True):
        assert_array_equal(one.nodes, other.nodes)
        assert_array_equal(one.estimate, other.estimate)
        assert_array_equal(one.residual, other.residual)


def endless_push(graph, cancelled=None):
    """Hours of work: a cycle loses mass slowly when hardly any of it stops."""
    extra = {} if cancelled is None else {"cancelled": cancelled}
    return local_push(ppr(graph, 1e-9), [0], [1.0], 1e-15, adaptive=False, **extra)


def test_a_push_can_be_cancelled_from_another_thread():
    graph = CSRGraph.from_networkx(nx.cycle_graph(10_000))
    cancelled = np.zeros(1, dtype=np.uint8)
    timer = threading.Timer(0.2, lambda: cancelled.fill(1))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        endless_push(graph, cancelled)
    assert idle_workspaces(graph) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize(
    "work",
    [
        "fo.fifo_push(G, 0, alpha=1e-9, epsilon=1e-15)",
        "fo.personalized_pagerank_local(G, 1 - 1e-9, 0, epsilon=1e-15)",
        "fo.ppr_matrix(G, alpha=1 - 1e-9, epsilon=1e-15, n_jobs=2)",
    ],
)
def test_control_c_stops_long_work(work):
    program = f"""
import signal
import networkx as nx
import nx_fastonl as fo
signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored where the tests run in the background
G = nx.cycle_graph(10_000)
fo.fifo_push(G, 0, epsilon=0.5)
print("ready", flush=True)
try:
    {work}
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.5)
            assert process.poll() is None, "the push must still be running when it is interrupted"
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=20)[0] == "stopped\n"
        finally:
            process.kill()
