"""Potentials and their bounds: Dirichlet below, Thomson above."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.push import laplacian as module
from nx_fastonl.push import resistance
from nx_fastonl.push.laplacian import Laplacian, blocks_of, connected_part
from nx_fastonl.push.resistance import all_resistances, pair_resistances, resistance_sums, resistances_from
from tests import oracles
from tests.strategies import small_graphs


def laplacian_of(G, n_jobs=None):
    return Laplacian(connected_part(CSRGraph.from_networkx(G)), n_jobs)


def resistances(G):
    exact = oracles.effective_resistances(G)
    return np.array([[exact[u, v] for v in G] for u in G])


def never(energies, _):
    return np.zeros(len(energies), dtype=bool)


@pytest.fixture
def iterating(monkeypatch):
    """Conjugate gradients, however small the graph is."""
    monkeypatch.setattr(module, "MAX_DENSE_FACTOR", 0)
    monkeypatch.setattr(module, "MAX_DENSE", 0)
    monkeypatch.setattr(module, "MAX_DENSE_FOR_EACH", 0)
    monkeypatch.setattr(resistance, "DENSE_STEPS", np.inf)


@st.composite
def connected_graphs(draw):
    G = draw(small_graphs())
    return G.subgraph(max(nx.connected_components(G), key=len)).copy()


class TestBounds:
    @settings(max_examples=40)
    @given(connected_graphs(), st.randoms(use_true_random=False))
    def test_any_potentials_bound_the_energy(self, G, random):
        """Thomson and Dirichlet: also for potentials that have nothing to do with the source."""
        laplacian = laplacian_of(G)
        n, exact = len(G), resistances(G)
        pairs = np.array([random.sample(range(n), 2) for _ in range(3)]) if n > 1 else np.zeros((0, 2), dtype=int)
        state = module._Gradients(laplacian, laplacian.pair_sources(pairs), _threads(laplacian))
        state.x = np.array([[random.uniform(-1, 1) for _ in pairs] for _ in range(n)]).reshape(n, len(pairs))
        energies, gaps = state.bounds()
        wanted = exact[pairs[:, 0], pairs[:, 1]]
        slack = 1e-12 * (np.abs(energies) + gaps + wanted)
        assert (energies <= wanted + slack).all()
        assert (wanted <= energies + gaps + slack).all()

    @settings(max_examples=40)
    @given(connected_graphs())
    def test_the_gap_is_the_energy_of_a_flow_on_the_tree(self, G):
        laplacian = laplacian_of(G)
        n, (order, parents, ohms) = len(G), laplacian.tree
        assert sorted(order) == list(range(n))
        place = {u: i for i, u in enumerate(order.tolist())}
        assert all(place[parent] < i for i, parent in enumerate(parents.tolist()) if i)
        names = [list(G)[u] for u in laplacian.rows.order]
        tree = nx.Graph()
        tree.add_nodes_from(range(n))
        for u, parent, ohm in zip(order[1:].tolist(), parents[1:].tolist(), ohms[1:].tolist(), strict=True):
            assert 1 / float(G[names[u]][names[parent]].get("weight", 1)) == ohm
            tree.add_edge(u, parent, weight=1 / ohm)
        r = np.random.default_rng(n).normal(size=(n, 2))
        r -= r.mean(axis=0)
        L = np.linalg.pinv(nx.laplacian_matrix(tree).toarray().astype(float))
        expected = np.einsum("ij,ik,kj->j", r, L, r)
        assert_allclose(laplacian.tree_energies(r), expected, rtol=1e-6, atol=1e-12)
        gaps, wider = (laplacian.gaps(r.copy(), np.full_like(r, slack)) for slack in (0.0, 2e-3))
        assert_allclose(gaps, expected, rtol=1e-6, atol=1e-12)
        noise = 1e-3 * np.random.default_rng(n + 1).choice([-1.0, 1.0], r.shape)
        off = r + noise - noise.mean(axis=0)
        assert (np.einsum("ij,ik,kj->j", off, L, off) <= (1.0 + 1e-9) * wider + 1e-12).all()

    @settings(max_examples=40)
    @given(connected_graphs(), st.sampled_from([1e-1, 1e-6, 1e-12]))
    def test_both_solvers(self, G, tol):
        exact = resistances(G)
        with pytest.MonkeyPatch.context() as patch:
            for few in (0, 200):
                patch.setattr(module, "MAX_DENSE_FACTOR", few)
                laplacian = laplacian_of(G)
                pairs = np.array([(u, v) for u in range(len(G)) for v in range(u)]).reshape(-1, 2)
                for block in blocks_of(len(pairs)):
                    found = laplacian.potentials(
                        laplacian.pair_sources(pairs[block]), lambda energies, gaps: gaps <= tol * energies
                    )
                    wanted = exact[pairs[block, 0], pairs[block, 1]]
                    assert (found.gaps <= tol * found.energies).all()
                    assert_allclose(found.energies, wanted, rtol=max(2 * tol, 1e-10))

    @pytest.mark.usefixtures("iterating")
    def test_a_column_does_not_depend_on_the_others(self):
        laplacian = laplacian_of(nx.grid_2d_graph(30, 7))
        pairs = np.array([[0, 209], [3, 4], [100, 50]])

        def enough(energies, gaps):
            return gaps <= 1e-9 * energies

        together = laplacian.potentials(laplacian.pair_sources(pairs), enough)
        for j in range(3):
            alone = laplacian.potentials(laplacian.pair_sources(pairs[[j]]), enough)
            assert_allclose(alone.x[:, 0], together.x[:, j], rtol=1e-13, atol=1e-15)
            assert alone.energies[0] == pytest.approx(together.energies[j], rel=1e-14)

    @pytest.mark.usefixtures("iterating")
    @pytest.mark.parametrize(
        "G", [nx.diamond_graph(), nx.complete_graph(7), nx.star_graph(6), nx.cycle_graph(9)], ids=str
    )
    def test_steps_beyond_the_solution_do_no_harm(self, G):
        """Then only rounding errors along the null vector are left, which no step can make smaller."""
        laplacian = laplacian_of(G)
        found = laplacian.potentials(laplacian.mean_sources(np.arange(len(G))), never)
        exact = np.linalg.pinv(nx.laplacian_matrix(G).toarray().astype(float)).diagonal()
        assert np.abs(found.x).max() < 10
        assert_allclose(found.energies, exact, rtol=1e-12)
        assert (np.abs(found.energies - exact) <= found.gaps + resistance.ENERGY_ROUNDING * found.scales).all()

    @pytest.mark.parametrize("constant", [1e6, 1e10, 6.07e13])
    def test_a_constant_in_the_potentials_does_not_matter(self, constant):
        laplacian = laplacian_of(nx.krackhardt_kite_graph())
        exact = np.linalg.pinv(nx.laplacian_matrix(nx.krackhardt_kite_graph()).toarray().astype(float)).diagonal()
        state = module._Gradients(laplacian, laplacian.mean_sources(np.arange(10)), _threads(laplacian))
        state.x += np.random.default_rng(0).normal(size=state.x.shape) + constant
        energies, gaps = state.bounds()
        rounding = resistance.ENERGY_ROUNDING * state.scales
        assert (rounding < 1e-10).all()
        assert (energies - rounding <= exact).all()
        assert (exact <= energies + gaps + rounding).all()
        assert_allclose(
            energies, 2 * (state.b * state.x).sum(axis=0) - _twice_energy(laplacian, state.x) / 2, rtol=1e-12
        )

    @pytest.mark.usefixtures("iterating")
    @pytest.mark.parametrize("G", [nx.cycle_graph(2_001), nx.grid_2d_graph(4, 1_000), nx.path_graph(2_000)], ids=str)
    def test_ends_where_only_rounding_errors_are_left(self, G):
        """Not before: these take as many steps as nodes stand one after another, and gaps fall at the end only."""
        laplacian = laplacian_of(G)
        n = len(G)
        found = laplacian.potentials(laplacian.pair_sources(np.array([[0, n - 2], [n // 3, n // 2]])), never)
        assert found.n_steps <= 2 * n
        assert (found.gaps <= 1e-22 * found.energies).all()

    @pytest.mark.usefixtures("iterating")
    def test_ends_where_nothing_is_enough(self):
        laplacian = laplacian_of(nx.barbell_graph(5, 3))
        found = laplacian.potentials(laplacian.pair_sources(np.array([[0, 12]])), never)
        assert 0 < found.n_steps <= module.FIRST_CHECK + module.STEPS_PER_NODE * 13
        assert found.energies[0] == pytest.approx(2 / 5 * 2 + 4, rel=1e-12)


def _twice_energy(laplacian, x):
    at_nodes = x[laplacian.row_of]
    sources = np.repeat(np.arange(len(laplacian)), np.diff(laplacian.graph.indptr))
    return ((at_nodes[sources] - at_nodes[laplacian.graph.indices]) ** 2).sum(axis=0)


def _threads(laplacian):
    return module.Threads(laplacian.rows.ends, None).__enter__()


class TestThreads:
    def test_the_result_is_the_same_to_the_last_bit(self, monkeypatch):
        monkeypatch.setattr("nx_fastonl.push.whole.ENTRIES_PER_THREAD", 1)
        G = nx.gnm_random_graph(10_000, 25_000, seed=1)
        G = G.subgraph(max(nx.connected_components(G), key=len))
        pairs = np.random.default_rng(0).choice(len(G), (2, 2))
        found = [pair_resistances(laplacian_of(G, n_jobs), pairs, 1e-9) for n_jobs in (None, 2, 3)]
        for other in found[1:]:
            assert_array_equal(other.values, found[0].values)
            assert_array_equal(other.errors, found[0].errors)


class TestArrays:
    @settings(max_examples=40)
    @given(connected_graphs())
    def test_dense(self, G):
        self.check(G)

    @settings(max_examples=40)
    @given(connected_graphs())
    def test_iterating(self, G):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "MAX_DENSE_FACTOR", 0)
            patch.setattr(module, "MAX_DENSE_FOR_EACH", 0)
            patch.setattr(resistance, "DENSE_STEPS", np.inf)
            self.check(G)

    def check(self, G):
        laplacian, exact = laplacian_of(G), resistances(G)
        scale = {"rtol": 1e-9, "atol": 1e-13}
        if len(G) > 1:
            assert_allclose(resistance_sums(laplacian, 1e-12), exact.sum(axis=1), **scale)
            assert_allclose(resistances_from(laplacian, 0, 1e-12), exact[0], **scale)
        assert_allclose(all_resistances(laplacian, 1e-12), exact, **scale)

    def test_the_cheaper_way_is_taken(self, monkeypatch):
        monkeypatch.setattr(module, "MAX_DENSE_FOR_EACH", 100)
        for G, is_dense in ((nx.cycle_graph(400), True), (nx.random_regular_graph(4, 400, seed=1), False)):
            monkeypatch.setattr(resistance, "DENSE_STEPS", 2.0)
            called = []
            laplacian = laplacian_of(G)
            monkeypatch.setattr(Laplacian, "inverse", lambda self, it=called: it.append(self))
            resistance_sums(laplacian, 1e-9)
            assert bool(called) is is_dense

    def test_all_are_symmetric_to_the_last_bit(self):
        values = all_resistances(laplacian_of(nx.barabasi_albert_graph(700, 3, seed=1)), 1e-12)
        assert_array_equal(values, values.T)
