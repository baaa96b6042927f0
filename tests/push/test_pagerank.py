import warnings

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import nx_fastonl as fo
from nx_fastonl.push import pagerank
from tests import oracles
from tests.strategies import alphas, masses, nodes_of, small_graphs


class TestPersonalizedPagerankLocal:
    @given(st.data(), st.one_of(small_graphs(), small_graphs(directed=True)), alphas(), st.booleans())
    def test_equals_networkx(self, data, G, damping, jumps):
        parameters = {"alpha": damping, "personalization": data.draw(masses(G))}
        if jumps:
            parameters["dangling"] = data.draw(masses(G))
        expected = oracles.networkx_pagerank(G, **parameters)
        found = fo.personalized_pagerank_local(G, tol=1e-11, **parameters)
        assert_allclose(oracles.to_vector(found, G), oracles.to_vector(expected, G), atol=1e-9)

    @given(
        st.data(),
        st.one_of(small_graphs(), small_graphs(directed=True)),
        alphas(),
        st.sampled_from([0.5, 1e-2, 1e-5, None]),
        st.booleans(),
    )
    def test_error_is_certified(self, data, G, damping, tol, jumps):
        seeds = data.draw(masses(G))
        dangling = data.draw(masses(G)) if jumps else None
        found, info = fo.personalized_pagerank_local(
            G, damping, seeds, tol=tol, dangling=dangling, epsilon=1e-3, full_output=True
        )

        def distribution(values):
            return oracles.to_vector(values, G) / sum(values.values())

        exact = oracles.pagerank(
            oracles.adjacency(G), distribution(seeds), damping, distribution(dangling) if jumps else None
        )
        assert np.abs(oracles.to_vector(found, G) - exact).sum() <= info.l1_error + 1e-13
        if tol is not None:
            assert info.l1_error <= tol

    @given(st.data(), small_graphs(), alphas(), st.integers(1, 6), st.sampled_from([1e-1, 1e-3, 1e-6]))
    def test_top_k_is_right_where_it_is_proven(self, data, G, damping, k, epsilon):
        seed = data.draw(nodes_of(G))
        everything = fo.personalized_pagerank_local(G, damping, seed, epsilon=epsilon)
        top, info = fo.personalized_pagerank_local(G, damping, seed, epsilon=epsilon, top_k=k, full_output=True)
        assert list(top.values()) == sorted(everything.values(), reverse=True)[:k]
        if info.top_k_proven:
            exact = oracles.pagerank(oracles.adjacency(G), oracles.to_vector({seed: 1.0}, G), damping)
            kth = np.sort(exact)[::-1][: len(top)].min()
            for node, value in zip(G, exact, strict=True):
                assert value <= kth + 1e-12 or node in top

    @pytest.mark.parametrize("tol", [0.3, 1e-2])
    def test_isolated_seeds_have_errors_too(self, tol):
        """Pulled rows leave residuals at isolated nodes, which a push would not."""
        G = nx.disjoint_union(nx.star_graph(5), nx.empty_graph(3))
        weights = {node: 1.0 + 1e-3 * node for node in G}
        exact = oracles.networkx_pagerank(G, personalization=weights)
        for k in range(1, len(G)):
            top, info = fo.personalized_pagerank_local(G, personalization=weights, tol=tol, top_k=k, full_output=True)
            if info.top_k_proven:
                assert set(top) == set(sorted(exact, key=exact.get, reverse=True)[:k])

    def test_top_k_becomes_proven(self, karate):
        found = [
            fo.personalized_pagerank_local(karate, personalization=0, top_k=5, epsilon=epsilon, full_output=True)[1]
            for epsilon in (1e-1, 1e-8)
        ]
        assert [info.top_k_proven for info in found] == [False, True]

    def test_a_node_never_reached_may_beat_the_top(self):
        """The leaves are too light to be pushed, so the hub gets nothing. Exactly, it beats the heaviest seed."""
        G = nx.star_graph(50)
        G.add_node("isolated")
        seeds = dict.fromkeys(range(1, 51), 1.0) | {"isolated": 10.0}
        exact = oracles.networkx_pagerank(G, personalization=seeds)
        assert max(exact, key=exact.get) == 0
        top, info = fo.personalized_pagerank_local(G, personalization=seeds, epsilon=0.99, top_k=1, full_output=True)
        assert list(top) == ["isolated"]
        assert info.top_k_proven is False

    def test_top_k_on_directed_graphs_with_dead_ends(self):
        G = nx.DiGraph([(0, 1), (1, 0), (0, 2), (0, 3)])
        top, info = fo.personalized_pagerank_local(G, personalization=0, tol=1e-10, top_k=1, full_output=True)
        assert (list(top), info.top_k_proven) == ([0], True)
        top, info = fo.personalized_pagerank_local(G, personalization=0, tol=1e-10, top_k=3, full_output=True)
        assert info.top_k_proven is False, "nodes 2 and 3 tie"

    def test_forms_of_personalization(self, karate):
        expected = fo.personalized_pagerank_local(karate, personalization={0: 2, 5: 2})
        generator = (node for node in (0, 5))
        for seeds in ([0, 5], {0, 5}, (0, 5), range(0, 6, 5), generator, np.array([0, 5]), {0: 0.5, 5: 0.5, 7: 0}):
            assert fo.personalized_pagerank_local(karate, personalization=seeds) == pytest.approx(expected)
        grid = nx.grid_2d_graph(3, 3)
        assert fo.personalized_pagerank_local(grid, personalization=(0, 0)) == fo.personalized_pagerank_local(
            grid, personalization=[(0, 0)]
        )

    def test_mappings_other_than_dicts(self, karate):
        pd = pytest.importorskip("pandas")
        seeds = {0: 1.0, 33: 3.0}
        expected = fo.personalized_pagerank_local(karate, personalization=seeds)
        assert fo.personalized_pagerank_local(karate, personalization=pd.Series(seeds)) == expected

    def test_default_is_the_global_vector(self, karate):
        found = fo.personalized_pagerank_local(karate, tol=1e-12)
        assert found == pytest.approx(oracles.networkx_pagerank(karate), abs=1e-11)
        G = nx.gnp_random_graph(3000, 0.004, seed=1)
        found, info = fo.personalized_pagerank_local(G, full_output=True)
        assert len(found) == 3000
        assert info.l1_error <= 1e-6

    @pytest.mark.parametrize("directed", [False, True])
    def test_default_epsilon_suits_dense_graphs(self, directed):
        for p in (0.01, 0.8):
            G = nx.gnp_random_graph(400, p, seed=1, directed=directed)
            mean_neighbours = sum(map(len, G.adj.values())) / 400
            assert (mean_neighbours > 20) == (p == 0.8)
            found, info = fo.personalized_pagerank_local(G, personalization=0, full_output=True)
            epsilon = 1e-6 * min(1, 20 / mean_neighbours)
            assert found == pytest.approx(fo.personalized_pagerank_local(G, personalization=0, epsilon=epsilon))
            assert info.l1_error < 0.01
            exact = oracles.pagerank(oracles.adjacency(G), np.eye(400)[0], 0.85)
            assert np.abs(oracles.to_vector(found, G) - exact).sum() <= info.l1_error

    def test_a_seed_is_always_found(self):
        star = nx.star_graph(3000)
        found = fo.personalized_pagerank_local(star, personalization=0, epsilon=1e-2)
        assert found == {0: pytest.approx(0.15)}

    def test_accuracy_does_not_fade_with_the_number_of_seeds(self):
        G = nx.gnp_random_graph(3000, 0.004, seed=1)
        errors = [
            fo.personalized_pagerank_local(G, personalization=range(k), epsilon=1e-4, full_output=True)[1].l1_error
            for k in (1, 1000)
        ]
        assert errors[1] <= errors[0]

    def test_positional_arguments_are_those_of_networkx(self):
        G = nx.DiGraph([(0, 1, {"cost": 2}), (0, 2, {"cost": 1}), (2, 0, {"cost": 1})])
        arguments = (0.7, {0: 1}, 1000, 1e-13, {0: 1}, "cost", {2: 1})
        assert fo.personalized_pagerank_local(G, *arguments) == pytest.approx(nx.pagerank(G, *arguments), abs=1e-12)

    def test_isolated_seed_keeps_its_mass(self):
        G = nx.Graph([(0, 1)])
        G.add_node(2)
        assert fo.personalized_pagerank_local(G, personalization=2) == {2: pytest.approx(1.0)}
        found = fo.personalized_pagerank_local(G, personalization=[0, 2], tol=1e-12)
        expected = oracles.networkx_pagerank(G, personalization={0: 1, 2: 1})
        assert found == pytest.approx(expected, abs=1e-10)

    def test_igraph_counts_an_undirected_self_loop_twice(self):
        igraph = pytest.importorskip("igraph", reason="igraph is not installed, so its values cannot be compared")
        edges = [(0, 0), (0, 1), (1, 2)]
        peer = igraph.Graph(n=3, edges=edges).personalized_pagerank(damping=0.5, reset_vertices=[0])
        once = fo.personalized_pagerank_local(nx.Graph(edges), 0.5, 0, tol=1e-12, as_array=True)
        assert (round(once[0], 3), round(peer[0], 3)) == (0.737, 0.808)
        twice = nx.Graph(edges)
        twice[0][0]["weight"] = 2
        assert_allclose(fo.personalized_pagerank_local(twice, 0.5, 0, tol=1e-12, as_array=True), peer, atol=1e-9)

    def test_passes_run_out(self, karate):
        with pytest.raises(nx.PowerIterationFailedConvergence):
            fo.personalized_pagerank_local(karate, personalization=0, max_iter=3, tol=1e-9)

    def test_networkx_and_scipy_and_csr_agree(self, karate):
        expected = fo.personalized_pagerank_local(karate, personalization=0)
        for G in (nx.to_scipy_sparse_array(karate), fo.CSRGraph.from_networkx(karate)):
            assert fo.personalized_pagerank_local(G, personalization=0) == pytest.approx(expected)

    @given(st.data(), small_graphs(directed=True), st.floats(0.05, 0.95), st.sampled_from([None, 1e-3, 1e-9]))
    def test_a_guess_changes_the_answer_within_its_error_only(self, data, G, damping, tol):
        seed = data.draw(nodes_of(G))
        guess = data.draw(masses(G))
        exact = oracles.pagerank(oracles.adjacency(G), np.eye(len(G))[list(G).index(seed)], damping)
        found, info = fo.personalized_pagerank_local(G, damping, seed, nstart=guess, tol=tol, full_output=True)
        assert np.abs(oracles.to_vector(found, G) - exact).sum() <= info.l1_error + 1e-12
        assert tol is None or info.l1_error <= tol

    def test_no_value_is_negative(self):
        G = nx.Graph([(1, 2), (1, 3), (2, 3), (0, 4)])
        found = fo.personalized_pagerank_local(G, 0.85, 0, nstart={3: 1.0}, epsilon=1e-4)
        assert min(found.values()) >= 0.0

    def test_numbers_in_single_precision(self, karate):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = fo.personalized_pagerank_local(karate, personalization=0, tol=np.float32(1e-3))
        assert found == fo.personalized_pagerank_local(karate, personalization=0, tol=float(np.float32(1e-3)))

    def test_a_good_guess_saves_work(self):
        G = nx.barabasi_albert_graph(500, 3, seed=1)
        start, cold = fo.personalized_pagerank_local(G, personalization=7, tol=1e-9, full_output=True)
        again, warm = fo.personalized_pagerank_local(G, personalization=7, tol=1e-8, nstart=start, full_output=True)
        assert warm.operations < cold.operations / 5
        assert_allclose(oracles.to_vector(again, G), oracles.to_vector(start, G), atol=1e-8)

    @given(st.data(), st.one_of(small_graphs(), small_graphs(directed=True)), alphas())
    def test_an_array_has_the_values_of_all_nodes(self, data, G, damping):
        seed = data.draw(nodes_of(G))
        expected, expected_info = fo.personalized_pagerank_local(G, damping, seed, epsilon=1e-2, full_output=True)
        found, info = fo.personalized_pagerank_local(G, damping, seed, epsilon=1e-2, as_array=True, full_output=True)
        assert (found.dtype, found.shape) == (np.float64, (len(G),))
        assert found.tolist() == oracles.to_vector(expected, G).tolist()
        assert info == expected_info

    def test_an_array_is_the_callers_own(self, karate):
        graph = fo.CSRGraph.from_networkx(karate)
        for arguments in ({"personalization": 0}, {"tol": 1e-9}, {"tol": 1e-9, "nstart": np.ones(34)}):
            first = fo.personalized_pagerank_local(graph, as_array=True, **arguments)
            expected = first.copy()
            first[:] = -1.0
            assert_array_equal(fo.personalized_pagerank_local(graph, as_array=True, **arguments), expected)

    def test_an_array_has_no_top(self, karate):
        message = r"top_k returns few nodes and as_array=True returns all: leave one of them out, got top_k=3$"
        with pytest.raises(ValueError, match=message):
            fo.personalized_pagerank_local(karate, personalization=0, top_k=3, as_array=True)

    @pytest.mark.parametrize(
        ("arguments", "error", "message"),
        [
            ({"personalization": "nobody"}, nx.NodeNotFound, "'nobody'"),
            ({"personalization": [0, 99]}, nx.NodeNotFound, "99"),
            ({"personalization": {0: 0}}, ValueError, "personalization sums to zero"),
            ({"personalization": []}, ValueError, "personalization sums to zero"),
            ({"personalization": {0: "1"}}, ValueError, "personalization gives node 0 the value '1'"),
            ({"dangling": {}}, ValueError, "dangling sums to zero"),
            ({"nstart": {77: 1}}, nx.NodeNotFound, "77"),
            ({"nstart": {0: -1}}, ValueError, "nstart gives node 0 the value -1"),
            *(
                ({name: [1]}, TypeError, rf"{name} must be a dict .* or an array .* got \[1\]")
                for name in ("dangling", "nstart")
            ),
            *(
                ({"alpha": alpha}, ValueError, f"alpha must lie strictly between 0 and 1.* got {alpha!r}")
                for alpha in (1.5, 0, 1, 1e-300, 1 - 1e-15)
            ),
            *(({name: "1"}, TypeError, f"{name} must be a number, got '1'") for name in ("alpha", "tol", "epsilon")),
            *(({name: -1}, ValueError, f"{name} must be a positive number .* got -1") for name in ("tol", "epsilon")),
            ({"tol": 1e-320}, ValueError, "tol must be at least 1e-14, where rounding errors begin, got 1e-320"),
            ({"epsilon": 1e308}, ValueError, r"epsilon must be a positive number up to 1e\+100, got 1e\+308"),
            *(({name: 2.5}, TypeError, rf"{name} must be a whole number, got 2\.5") for name in ("top_k", "max_iter")),
            *(({name: 0}, ValueError, f"{name} must be at least 1, got 0") for name in ("top_k", "max_iter")),
        ],
    )
    def test_bad_arguments(self, karate, arguments, error, message):
        with pytest.raises(error, match=message):
            fo.personalized_pagerank_local(karate, **{"personalization": 0, **arguments})

    def test_numbers_of_any_size(self, karate):
        assert fo.personalized_pagerank_local(karate, personalization=0, epsilon=1e99, max_iter=10**30)


class TestPprMatrix:
    @pytest.mark.parametrize("n_jobs", [None, 1, 2, -1])
    @pytest.mark.parametrize("directed", [False, True])
    def test_rows_are_the_exact_vectors(self, n_jobs, directed):
        G = nx.gnp_random_graph(40, 0.08, seed=3, directed=directed)
        P = fo.ppr_matrix(G, epsilon=1e-10, n_jobs=n_jobs)
        assert isinstance(P, sparse.csr_array)
        exact = [oracles.pagerank(oracles.adjacency(G), row, 0.85) for row in np.eye(40)]
        assert_allclose(P.toarray(), exact, atol=1e-8)

    def test_top_k_keeps_the_largest_in_column_order(self, karate):
        full = fo.ppr_matrix(karate, [3, 3, 8], top_k=None).toarray()
        cut = fo.ppr_matrix(karate, [3, 3, 8], top_k=4)
        assert cut.has_sorted_indices
        assert np.diff(cut.indptr).tolist() == [4, 4, 4]
        for whole, kept in zip(full, cut.toarray(), strict=True):
            largest = np.argsort(-whole)[:4]
            assert set(np.flatnonzero(kept)) == set(largest)
            assert_allclose(kept[largest], whole[largest])

    def test_string_nodes_follow_the_order_of_the_graph(self):
        G = nx.Graph([("b", "a"), ("a", "c")])
        P = fo.ppr_matrix(G, sources=["c"])
        assert P.shape == (1, 3)
        exact = fo.personalized_pagerank_local(G, personalization="c", tol=1e-12)
        assert_allclose(P.toarray()[0], oracles.to_vector(exact, G), atol=1e-5)

    def test_no_sources(self, karate):
        assert fo.ppr_matrix(karate, []).shape == (0, 34)

    def test_progress(self, karate, capsys):
        pytest.importorskip("tqdm")
        fo.ppr_matrix(karate, [0, 1], progress=True)
        assert "2/2" in capsys.readouterr().err

    @pytest.mark.parametrize("directed", [False, True])
    @pytest.mark.parametrize("tol", [1e-2, 1e-7])
    def test_every_row_has_the_error_asked_for(self, directed, tol):
        G = nx.gnp_random_graph(40, 0.08, seed=3, directed=directed)
        found = fo.ppr_matrix(G, tol=tol).toarray()
        exact = np.array([oracles.pagerank(oracles.adjacency(G), row, 0.85) for row in np.eye(40)])
        assert np.abs(found - exact).sum(axis=1).max() <= tol
        cut = fo.ppr_matrix(G, tol=tol, top_k=2)
        assert (np.diff(cut.indptr) <= 2).all()

    @pytest.mark.parametrize(
        ("arguments", "error", "message"),
        [
            ({"sources": [99]}, nx.NodeNotFound, "99"),
            ({"sources": 0}, TypeError, r"for one node pass \["),
            ({"sources": "ab"}, TypeError, r"for one node pass \["),
            ({"n_jobs": 0}, ValueError, "n_jobs must be a positive number, or -1 for one per core"),
            ({"n_jobs": "2"}, TypeError, "n_jobs must be a whole number, got '2'"),
            ({"top_k": 0}, ValueError, "top_k must be at least 1, got 0"),
            ({"tol": 0}, ValueError, "tol must be a positive number"),
            ({"tol": 1e-320}, ValueError, "tol must be at least 1e-14"),
        ],
    )
    def test_bad_arguments(self, karate, arguments, error, message):
        with pytest.raises(error, match=message):
            fo.ppr_matrix(karate, **{"sources": [0], **arguments})


class TestHubs:
    """At the centre of a star, as many equal terms are added as there are leaves, and round in one direction."""

    N_LEAVES = 100_000

    def star(self):
        leaves = np.arange(1, self.N_LEAVES + 1, dtype=np.int32)
        indptr = np.concatenate([[0], self.N_LEAVES + np.arange(self.N_LEAVES + 1)])
        return indptr, np.concatenate([leaves, np.zeros(self.N_LEAVES, dtype=np.int32)])

    def exact(self, alpha):
        """The PageRank of a leaf: ``centre == alpha * (1 - centre)``, and each leaf gets its part."""
        centre = alpha / (1.0 + alpha)
        expected = np.full(self.N_LEAVES + 1, alpha * centre / self.N_LEAVES)
        expected[0], expected[1] = centre, expected[1] + 1.0 - alpha
        return expected

    @pytest.mark.parametrize("alpha", [0.3, 0.85])
    @pytest.mark.parametrize("tol", [1e-13, 1e-12, 1e-9])
    def test_errors_are_certified(self, tol, alpha):
        graph = fo.CSRGraph(*self.star())
        values, info = fo.personalized_pagerank_local(graph, alpha, 1, tol=tol, as_array=True, full_output=True)
        assert np.abs(values - self.exact(alpha)).sum() <= info.l1_error <= tol

    @pytest.mark.parametrize("alpha", [0.3, 0.85])
    def test_errors_of_rows_are_certified(self, tmp_path, alpha):
        rows = fo.ppr_matrix(fo.CSRGraph(*self.star()), [1], alpha, tol=1e-13, out=tmp_path / "rows")
        error = np.abs(rows[:].toarray()[0] - self.exact(alpha)).sum()
        assert error <= rows.error(1) <= 1e-13

    @pytest.mark.parametrize("max_iter", [None, 1_000])
    def test_a_directed_graph_counts_them(self, max_iter):
        """Its errors may exceed `tol`, and say so."""
        graph = fo.CSRGraph(*self.star(), directed=True)
        values, info = fo.personalized_pagerank_local(graph, 0.85, 1, max_iter, 1e-13, as_array=True, full_output=True)
        assert np.abs(values - self.exact(0.85)).sum() <= info.l1_error <= 1e-9

    @pytest.mark.parametrize(("tol", "counted"), [(None, False), (1e-3, False), (1e-12, True)])
    def test_all_edges_are_looked_at_only_where_it_matters(self, tol, counted, tmp_path):
        for call in (
            lambda graph: fo.personalized_pagerank_local(graph, 0.3, [1], tol=tol),
            lambda graph: fo.ppr_matrix(graph, [1], 0.3, tol=tol, out=tmp_path / "rows"),
        ):
            graph = fo.CSRGraph(*self.star(), directed=True)
            call(graph)
            assert ("_counts_in" in vars(graph)) is counted

    def test_errors_of_rows_of_a_directed_graph_are_certified(self, tmp_path):
        graph = fo.CSRGraph(*self.star(), directed=True)
        for tol in (1e-12, 1e-6):
            rows = fo.ppr_matrix(graph, [1], 0.3, tol=tol, out=tmp_path / f"{tol}")
            assert np.abs(rows[:].toarray()[0] - self.exact(0.3)).sum() <= rows.error(1) <= max(tol, 1e-11)

    @pytest.mark.parametrize("directed", [False, True])
    @pytest.mark.parametrize("tol", [1e-3, 1e-6])
    def test_what_is_not_counted_has_room_below_the_tolerance(self, directed, tol):
        """Otherwise, a push that ends just below it would be made again."""
        graph = fo.CSRGraph(*self.star(), directed=directed)
        at_hubs = pagerank.hub_rounding(graph, 0.85, tol)
        assert at_hubs >= 0.5 * np.finfo(float).eps * self.N_LEAVES / 0.15
        mass = pagerank.check_tolerance(graph, 0.85, tol)
        assert mass + at_hubs + pagerank.L1_ROUNDING / 0.15 <= tol * (1.0 + 1e-12)
        assert mass > 0.99 * tol
        assert pagerank.hub_rounding(graph, 0.85, 1e-9) is None  # there, neighbours are counted
