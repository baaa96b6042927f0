import threading

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import nx_fastonl as fo
from nx_fastonl.push import whole
from nx_fastonl.push.system import LinearSystem
from nx_fastonl.push.whole import chebyshev_omegas, push_or_pull, solve_everywhere
from tests import oracles
from tests.strategies import small_graphs


def large_graph(n=10_000, seed=1):
    """Large enough for several chunks of rows."""
    ends = np.random.default_rng(seed).integers(n, size=(2, 4 * n))
    weights = np.random.default_rng(seed).random(4 * n) + 0.1
    return fo.CSRGraph.from_edges(*ends, weights, n=n)


def dense(system):
    rows = np.arange(len(system.graph))
    return np.diag(system.pivots(rows)) - system.graph.to_scipy().toarray()


@given(small_graphs(), st.floats(0.05, 0.99), st.integers(0, 2**32), st.booleans())
def test_the_residual_is_what_the_estimate_lacks(G, alpha, seed, guessed):
    system = LinearSystem(fo.CSRGraph.from_networkx(G), 0.0, 1.0 / alpha)
    random = np.random.default_rng(seed)
    source, guess = random.random(len(G)), random.random(len(G)) if guessed else None
    kept = None if guess is None else guess.copy()
    found = solve_everywhere(system, source, 1e-9, guess=guess)
    assert found.mass <= 1e-9
    assert_allclose(dense(system) @ found.estimate + found.residual, source, rtol=1e-9, atol=1e-12)
    assert found.mass == pytest.approx(np.abs(found.residual).sum())
    assert_allclose(found.estimate, np.linalg.solve(dense(system), source), rtol=1e-6, atol=1e-8)
    assert guess is None or (guess == kept).all()


@pytest.mark.parametrize("alpha", [0.5, 0.85, 0.99, 0.999])
def test_steps_are_as_many_as_needed(alpha):
    """The bound of Chebyshev's iteration: an error becomes smaller by the factor, in the norm of D."""
    graph = large_graph(3000)
    system = LinearSystem(graph, 0.0, 1.0 / alpha)
    found = solve_everywhere(system, np.full(len(graph), 1 / len(graph)), 1e-10)
    few = len(chebyshev_omegas(alpha, 1e-10))
    assert few <= found.steps <= 1.5 * few + 8


@pytest.mark.parametrize("n_jobs", [2, 3, 7, -1])
def test_the_number_of_threads_changes_no_bit(n_jobs):
    graph = large_graph()
    system = LinearSystem(graph, 0.0, 1.0 / 0.85)
    source = np.random.default_rng(0).random(len(graph))
    one, more = (solve_everywhere(system, source, 1e-11, n_jobs=jobs) for jobs in (1, n_jobs))
    assert one.estimate.tobytes() == more.estimate.tobytes()
    assert one.residual.tobytes() == more.residual.tobytes()
    assert (one.mass, one.steps) == (more.mass, more.steps)


def test_rounding_errors_end_it():
    graph = large_graph(3000)
    found = solve_everywhere(LinearSystem(graph, 0.0, 1.0 / 0.85), np.full(len(graph), 1.0 / len(graph)), 0.0)
    assert 0.0 < found.mass < 1e-14


def test_another_thread_can_end_it():
    graph = large_graph(300_000)
    cancelled = np.zeros(1, dtype=np.uint8)
    threading.Timer(0.02, lambda: cancelled.fill(1)).start()
    system = LinearSystem(graph, 0.0, 1.0 / 0.99999)
    with pytest.raises(KeyboardInterrupt):
        solve_everywhere(system, np.ones(len(graph)), 1e-9, cancelled=cancelled)


class TestTheRule:
    """Which vectors are pulled: `push_or_pull`."""

    def pulls(self, monkeypatch, graph, sources, epsilon=1e-2, **options):
        calls = []
        monkeypatch.setattr(whole, "solve_everywhere", lambda *a, **k: calls.append(1) or solve_everywhere(*a, **k))
        masses = np.full(len(sources), 1.0 / len(sources))
        result = push_or_pull(LinearSystem(graph, 0.0, 1.0 / 0.85), np.array(sources), masses, epsilon, **options)
        assert result.converged
        return bool(calls)

    def test_many_sources(self, monkeypatch):
        graph = large_graph(1000)
        assert self.pulls(monkeypatch, graph, range(125), mass_tolerance=1e-6)
        assert not self.pulls(monkeypatch, graph, range(124), mass_tolerance=0.5)

    def test_a_push_that_walks_the_graph_again_and_again(self, monkeypatch):
        assert self.pulls(monkeypatch, large_graph(1000), [0], mass_tolerance=1e-10)

    def test_epsilon_alone_is_a_push(self, monkeypatch):
        assert not self.pulls(monkeypatch, large_graph(1000), range(1000))

    def test_directed_graphs_and_limits_are_pushed(self, monkeypatch):
        directed = fo.CSRGraph.from_networkx(nx.gnp_random_graph(200, 0.05, seed=1, directed=True))
        assert not self.pulls(monkeypatch, directed, range(200), mass_tolerance=1e-8)
        assert not self.pulls(monkeypatch, large_graph(1000), range(1000), mass_tolerance=1e-6, max_epochs=1000)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_reset_over_all_nodes_is_certified(n_jobs):
    graph = large_graph(2000)
    weights = dict(enumerate(np.random.default_rng(3).random(2000).tolist()))
    found, info = fo.personalized_pagerank_local(
        graph, personalization=weights, tol=1e-9, n_jobs=n_jobs, full_output=True
    )
    p = np.array(list(weights.values()))
    exact = oracles.pagerank(graph.to_scipy().toarray(), p / p.sum(), 0.85)
    assert np.abs(np.array([found[u] for u in range(2000)]) - exact).sum() <= info.l1_error <= 1e-9
