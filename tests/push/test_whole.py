import threading

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import nx_fastonl as fo
from nx_fastonl.push import _substitution, rule, whole
from nx_fastonl.push.rule import push_or_pull
from nx_fastonl.push.system import LinearSystem
from nx_fastonl.push.whole import chebyshev_steps, solve_everywhere
from tests import oracles
from tests.strategies import small_graphs

any_graphs = small_graphs() | small_graphs(directed=True)


def large_graph(n=10_000, seed=1, directed=False):
    """Large enough for several chunks of rows."""
    ends = np.random.default_rng(seed).integers(n, size=(2, 8 * n))
    weights = np.random.default_rng(seed).random(8 * n) + 0.1
    return fo.CSRGraph.from_edges(*ends, weights, n=n, directed=directed)


def pagerank_system(graph, alpha=0.85):
    return LinearSystem(graph, 0.0, 1.0 / alpha)


def dense(system):
    """The matrix of the equations that a push solves: what is at a node goes along its edges."""
    rows = np.arange(len(system.graph))
    return np.diag(system.pivots(rows)) - system.graph.to_scipy().toarray().T


@pytest.fixture(params=["few", "many"])
def entries(request, monkeypatch):
    """Directed graphs take Gauss-Seidel sweeps if they have few entries, BiCGSTAB if they have many."""
    monkeypatch.setattr(whole, "FEW_ENTRIES", 10**9 if request.param == "few" else 0)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.usefixtures("entries")
@given(any_graphs, st.floats(0.05, 0.99), st.integers(0, 2**32), st.booleans(), st.booleans())
def test_the_residual_is_what_the_estimate_lacks(G, alpha, seed, guessed, keep_ties):
    system = pagerank_system(fo.CSRGraph.from_networkx(G), alpha)
    random = np.random.default_rng(seed)
    source, guess = random.random(len(G)), random.random(len(G)) if guessed else None
    kept = None if guess is None else guess.copy()
    found = solve_everywhere(system, source, 1e-9, guess=guess, keep_ties=keep_ties)
    assert found.mass <= 1e-9
    assert_allclose(dense(system) @ found.estimate + found.residual, source, rtol=1e-9, atol=1e-12)
    assert found.mass == pytest.approx(np.abs(found.residual).sum())
    assert_allclose(found.estimate, np.linalg.solve(dense(system), source), rtol=1e-6, atol=1e-8)
    assert guess is None or (guess == kept).all()


@given(small_graphs(), st.integers(0, 4), st.integers(0, 2**32))
def test_columns_are_solved_for_at_once(G, k, seed):
    system = pagerank_system(fo.CSRGraph.from_networkx(G))
    source = np.random.default_rng(seed).random((len(G), k))
    source[:, :1] = 0.0
    found = solve_everywhere(system, source, 1e-9)
    assert found.mass <= 1e-9
    assert found.mass == pytest.approx(np.abs(found.residual).sum(axis=0).max(initial=0.0))
    assert_allclose(dense(system) @ found.estimate + found.residual, source, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("alpha", [0.5, 0.85, 0.99, 0.999])
@pytest.mark.parametrize("spread", ["one node", "every node"])
def test_steps_are_as_many_as_needed(alpha, spread):
    """The bound of Chebyshev's iteration: an error becomes smaller by the factor, in the norm of D."""
    graph = large_graph(3000)
    source = np.full(len(graph), 1 / len(graph)) if spread == "every node" else np.eye(1, len(graph), 7)[0]
    found = solve_everywhere(pagerank_system(graph, alpha), source, 1e-10)
    few = chebyshev_steps(alpha, 1e-10)
    assert few <= found.operations / len(graph.indices) <= 1.5 * few + 12


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("n_jobs", [2, 3, 7, -1])
def test_the_number_of_threads_changes_no_bit(monkeypatch, n_jobs, directed):
    monkeypatch.setattr(whole, "ENTRIES_PER_THREAD", 1)
    graph = large_graph(30_000, directed=directed)
    system = pagerank_system(graph)
    source = np.random.default_rng(0).random(len(graph))
    one, more = (solve_everywhere(system, source, 1e-11, n_jobs=jobs) for jobs in (1, n_jobs))
    assert one.estimate.tobytes() == more.estimate.tobytes()
    assert one.residual.tobytes() == more.residual.tobytes()
    assert (one.mass, one.operations) == (more.mass, more.operations)


@pytest.mark.parametrize("directed", [False, True])
def test_rounding_errors_end_it(directed):
    graph = large_graph(3000, directed=directed)
    found = solve_everywhere(pagerank_system(graph), np.full(len(graph), 1.0 / len(graph)), 0.0)
    assert 0.0 < found.mass < 1e-14


@pytest.mark.parametrize("alpha", [0.85, 0.999])
def test_a_directed_ring_on_which_bicgstab_gives_up(monkeypatch, alpha):
    """Each walk comes back only after n steps, so no polynomial of fewer steps is better than Jacobi's iteration."""
    monkeypatch.setattr(whole, "FEW_ENTRIES", 0)
    n = 20_000
    graph = fo.CSRGraph.from_edges(np.arange(n), (np.arange(n) + 1) % n, n=n, directed=True)
    system, source = pagerank_system(graph, alpha), np.eye(1, n)[0]
    found = solve_everywhere(system, source, 1e-10)
    assert found.mass <= 1e-10
    assert_allclose(found.estimate, alpha ** np.arange(1, n + 1), atol=1e-9 / (1 - alpha))


@pytest.mark.parametrize("broken", [0.0, np.inf, np.nan])
def test_bicgstab_that_breaks_down(monkeypatch, broken):
    def multiply(rows, vectors, sums, *arguments):
        del rows, arguments
        vectors[:], sums[:] = broken, broken

    monkeypatch.setattr(whole, "FEW_ENTRIES", 0)
    monkeypatch.setattr(whole._bicgstab, "multiply_direction", multiply)
    system = pagerank_system(large_graph(3000, directed=True))
    found = solve_everywhere(system, np.full(3000, 1 / 3000), 1e-10)
    assert found.mass <= 1e-10


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("scale", [1e-90, 1e90])
def test_weights_that_single_precision_cannot_hold(directed, scale):
    G = nx.gnp_random_graph(60, 0.1, seed=3, directed=directed)
    nx.set_edge_attributes(G, scale, "weight")
    system = pagerank_system(fo.CSRGraph.from_networkx(G))
    source = np.full(60, 1.0 / 60)
    found = solve_everywhere(system, source, 1e-12)
    assert found.mass <= 1e-12
    assert_allclose(found.estimate, np.linalg.solve(dense(system), source), rtol=1e-9)


@pytest.mark.parametrize("directed", [False, True])
def test_another_thread_can_end_it(directed):
    graph = large_graph(300_000, directed=directed)
    cancelled = np.zeros(1, dtype=np.uint8)
    threading.Timer(0.02, lambda: cancelled.fill(1)).start()
    with pytest.raises(KeyboardInterrupt):
        solve_everywhere(pagerank_system(graph, 0.99999), np.ones(len(graph)), 1e-9, cancelled=cancelled)


@given(small_graphs(directed=True))
def test_peeling_finds_what_is_on_no_cycle_and_between_none(G):
    graph = fo.CSRGraph.from_networkx(G)
    upstream, core, downstream = (part.tolist() for part in _substitution.peel(pagerank_system(graph).view))
    assert sorted(upstream + core + downstream) == list(range(len(G)))
    names = [graph.nodes[u] for u in upstream + core + downstream]
    place = {node: i for i, node in enumerate(names)}
    for u, v in G.edges:
        both_in_core = all(len(upstream) <= place[node] < len(upstream) + len(core) for node in (u, v))
        assert both_in_core or place[u] < place[v]
    on_cycles = {u for part in nx.strongly_connected_components(G) for u in part if len(part) > 1 or G.has_edge(u, u)}
    before = {u for u in G if not on_cycles & ({u} | nx.ancestors(G, u))}
    assert {graph.nodes[u] for u in upstream} == before
    after = {u for u in set(G) - before if not on_cycles & ({u} | nx.descendants(G, u))}
    # On graphs this small, the passes find all of them.
    assert {graph.nodes[u] for u in downstream} == after


class TestTheRule:
    """Which vectors are pulled: `push_or_pull`."""

    def pulls(self, monkeypatch, graph, sources, epsilon=1e-2, **options):
        calls = []
        monkeypatch.setattr(rule, "solve_everywhere", lambda *a, **k: calls.append(1) or solve_everywhere(*a, **k))
        masses = np.full(len(sources), 1.0 / len(sources))
        result = push_or_pull(pagerank_system(graph), np.array(sources), masses, epsilon, **options)
        assert result.converged
        return bool(calls)

    def test_many_sources(self, monkeypatch):
        graph = large_graph(1000)
        assert self.pulls(monkeypatch, graph, range(125), mass_tolerance=1e-6)
        assert not self.pulls(monkeypatch, graph, range(124), mass_tolerance=0.5)

    def test_a_push_that_walks_the_graph_again_and_again(self, monkeypatch):
        graph = large_graph(1000)
        assert self.pulls(monkeypatch, graph, [0], mass_tolerance=1e-10)
        assert not self.pulls(monkeypatch, graph, [0], mass_tolerance=1e-6)
        assert self.pulls(monkeypatch, large_graph(1000, directed=True), [0], mass_tolerance=1e-6)

    def test_a_push_that_stays_near_its_source(self, monkeypatch):
        ring = fo.CSRGraph.from_networkx(nx.cycle_graph(10_000))
        assert not self.pulls(monkeypatch, ring, [0], mass_tolerance=1e-10)

    def test_epsilon_alone_is_a_push(self, monkeypatch):
        assert not self.pulls(monkeypatch, large_graph(1000), range(1000))

    def test_directed_graphs_too(self, monkeypatch):
        directed = fo.CSRGraph.from_networkx(nx.gnp_random_graph(200, 0.05, seed=1, directed=True))
        assert self.pulls(monkeypatch, directed, range(200), mass_tolerance=1e-8)

    def test_one_source_where_ties_are_kept(self, monkeypatch):
        assert self.pulls(monkeypatch, large_graph(1000), [0], mass_tolerance=0.5, keep_ties=True)

    def test_a_limit_of_passes_is_one_of_a_push(self, monkeypatch):
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


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("directed", [False, True])
def test_the_number_of_threads_does_not_change_the_rule(monkeypatch, directed, tol):
    monkeypatch.setattr(whole, "ENTRIES_PER_THREAD", 1)
    graph = large_graph(directed=directed)
    one, more = (fo.personalized_pagerank_local(graph, personalization=3, tol=tol, n_jobs=jobs) for jobs in (1, 3))
    assert one == more


@pytest.mark.parametrize("k", [None, 3])
def test_small_components_that_settle_slowly_are_solved_exactly(k):
    """Each once, and others by steps."""
    G = nx.disjoint_union_all([nx.path_graph(200), nx.empty_graph(2), nx.cycle_graph(30)])
    graph = fo.CSRGraph.from_networkx(G)
    system = LinearSystem(graph, 1e-9, 1.0)
    source = np.ones(len(graph)) if k is None else np.random.default_rng(0).random((len(graph), k))
    found = solve_everywhere(system, source, 1e-4)
    assert found.operations <= 8 * len(graph.indices)
    assert found.mass <= 1e-4
    assert_allclose(dense(system) @ found.estimate + found.residual, source, atol=1e-4)


def test_a_small_core_that_settles_slowly_is_solved_exactly():
    """Nodes before it are not."""
    G = nx.cycle_graph(30, create_using=nx.DiGraph)
    nx.add_path(G, [*range(100, 3100), 0])
    graph = fo.CSRGraph.from_networkx(G)
    system = pagerank_system(graph, 1 - 1e-8)
    source = np.full(len(graph), 1.0 / len(graph))
    found = solve_everywhere(system, source, 1e-14)
    assert found.operations <= 2 * system.elimination.patience(30)
    assert found.exact
    residual = source - system.pivots(np.arange(len(graph))) * found.estimate
    np.add.at(residual, graph.indices, np.repeat(found.estimate, np.diff(graph.indptr)))
    assert_allclose(residual, found.residual, atol=1e-8)  # estimates of a million round
    assert found.mass <= 1e-6
