import math

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx.algorithms.node_classification import harmonic_function, local_and_global_consistency
from numpy.testing import assert_allclose

from nx_fastonl._lib._ties import with_ties
from nx_fastonl.graph.live import LiveGraph
from nx_fastonl.nxapi.algorithms import ERROR_PER_TOL, power_iteration_ends
from tests import oracles
from tests.oracles import outcome
from tests.strategies import in_double, masses, small_graphs
from tests.symmetric import symmetric_graphs

SYMMETRIC = symmetric_graphs()
BACKEND = "fastonl"

NETWORKX = "networkx"  # that is, not dispatched

ROUNDING = 1e-14

pytestmark = pytest.mark.usefixtures("_no_note_on_the_cache")


@st.composite
def any_graphs(draw):
    """Small graphs, directed or not; some with parallel edges, some with edges of weight 0."""
    G = draw(small_graphs(directed=draw(st.booleans())))
    if draw(st.booleans()):
        G = (nx.MultiDiGraph if G.is_directed() else nx.MultiGraph)(G)
        G.add_edges_from(draw(st.lists(st.sampled_from(list(G.edges(data=True)) or [(0, 0, {})]), max_size=5)))
    if G.number_of_edges() and draw(st.booleans()):
        u, v = draw(st.sampled_from(list(G.edges())))[:2]
        G.add_edge(u, v, weight=0)
    return G


@st.composite
def labelled_graphs(draw):
    """Undirected graphs with few labels on some nodes, so that ties are common."""
    G = in_double(draw(small_graphs()))
    if draw(st.booleans()):
        G = nx.MultiGraph(G)
    labels = draw(st.sampled_from([["a", "b"], [3, 1, 2], [True, False], [1.5, 2]]))
    chosen = draw(st.lists(st.sampled_from(list(G)), min_size=1, unique=True))
    for node in chosen:
        G.nodes[node]["label"] = draw(st.sampled_from(labels))
    return G


def vector(G, values):
    found = np.array([values.get(node, 0.0) for node in G], dtype=float)
    return found / found.sum()


class TestPageRank:
    @given(st.data(), any_graphs(), st.floats(0.02, 0.98), st.sampled_from([1e-1, 1e-3, 1e-6, 1e-9]))
    def test_keeps_the_error_that_tol_asks_for(self, data, G, alpha, tol):
        seeds = data.draw(st.none() | masses(G))
        jumps = data.draw(st.none() | masses(G))
        start = data.draw(st.none() | masses(G))
        weight = data.draw(st.sampled_from(["weight", None]))
        p = vector(G, seeds) if seeds else vector(G, dict.fromkeys(G, 1.0))
        exact = oracles.pagerank(oracles.adjacency(G, weight), p, alpha, vector(G, jumps) if jumps else None)
        found = nx.pagerank(G, alpha, seeds, 100, tol, start, weight, jumps, backend=BACKEND)
        assert list(found) == list(G)
        error = np.abs(np.array(list(found.values())) - exact).sum()
        assert error <= max(ERROR_PER_TOL * min(len(G) * tol, 1.0), ROUNDING / (1 - alpha))

    @pytest.mark.parametrize("seeded", [False, True])
    @pytest.mark.parametrize("name", SYMMETRIC)
    def test_nodes_that_are_alike_have_equal_values(self, name, seeded):
        """At least as many ties as NetworkX has at a tight tolerance, and the order of a stable sort."""
        G = SYMMETRIC[name]
        parameters = {"personalization": {next(iter(G)): 1}} if seeded else {}
        found = nx.pagerank(G, **parameters, backend=BACKEND)
        expected = nx.pagerank(G, **parameters, tol=1e-12 / len(G), max_iter=10_000, backend=NETWORKX)
        at_1e_12 = nx.pagerank(G, **parameters, tol=1e-12, max_iter=10_000, backend=NETWORKX)
        assert len(set(found.values())) <= min(len(set(expected.values())), len(set(at_1e_12.values())))
        # NetworkX has not converged where values are below its tolerance.
        tied = with_ties(np.array(list(expected.values())), 1e-9)
        tied[tied < 1e-11] = 0.0
        ranks = dict(zip(G, tied.tolist(), strict=True))
        first = [node for node in sorted(G, key=found.__getitem__, reverse=True) if ranks[node]]
        assert first == [node for node in sorted(G, key=ranks.__getitem__, reverse=True) if ranks[node]]

    def test_one_node_for_each_of_two_files(self):
        """Two files that use each other, as in the graphs of aider."""
        G = nx.MultiDiGraph([("a", "b", {"weight": 0.3}), ("b", "a", {"weight": 0.7}), ("a", "b", {"weight": 0.1})])
        found = nx.pagerank(G, backend=BACKEND)
        assert found["a"] == found["b"] == pytest.approx(0.5)

    @pytest.mark.parametrize("tol", [1e-2, 1e-6, 1e-10])
    @pytest.mark.parametrize("seeds", [None, {0: 1}, {0: 1, 7: 2}, dict.fromkeys(range(500), 1)])
    @pytest.mark.parametrize(
        "G",
        [
            nx.karate_club_graph(),
            nx.cycle_graph(50),
            nx.complete_graph(30),
            nx.hypercube_graph(4),
            nx.star_graph(40),
            nx.gnp_random_graph(60, 0.5, seed=1),
            nx.barabasi_albert_graph(500, 2, seed=1),
            nx.gnm_random_graph(100, 150, seed=1, directed=True),
            nx.gnp_random_graph(100, 0.02, directed=True, seed=1),
            nx.path_graph(20, nx.DiGraph),
            nx.union(nx.cycle_graph(30), nx.empty_graph(2), rename=("a", "b")),
        ],
        ids=str,
    )
    def test_never_less_accurate_than_networkx(self, G, seeds, tol):
        G = nx.convert_node_labels_to_integers(G)
        p = vector(G, seeds) if seeds else vector(G, dict.fromkeys(G, 1.0))
        exact = oracles.pagerank(oracles.adjacency(G), p, 0.85)
        error, error_of_networkx = (
            np.abs(
                vector(G, nx.pagerank(G, personalization=seeds, tol=tol, max_iter=1000, backend=backend)) - exact
            ).sum()
            for backend in (BACKEND, NETWORKX)
        )
        assert error <= error_of_networkx + ROUNDING

    @pytest.mark.parametrize(
        "G", [nx.karate_club_graph(), nx.gnm_random_graph(100, 150, seed=1, directed=True)], ids=["karate", "dead ends"]
    )
    def test_begins_where_it_is_told(self, G):
        exact = nx.pagerank(G, personalization={0: 1}, tol=1e-14, backend=BACKEND)
        again = nx.pagerank(G, personalization={0: 1}, tol=1.0, nstart=exact, backend=BACKEND)
        assert again == pytest.approx(exact, rel=1e-12)

    @pytest.mark.parametrize("kind", [np.float16, np.float32])
    def test_numbers_in_single_precision(self, karate, kind):
        found = nx.pagerank(karate, kind(0.85), tol=kind(1e-6), backend=BACKEND)
        assert found == pytest.approx(nx.pagerank(karate, float(kind(0.85)), tol=1e-12, backend=NETWORKX), abs=1e-11)

    @given(any_graphs(), st.floats(0.1, 0.95))
    def test_sums_to_one_in_plain_floats(self, G, alpha):
        found = nx.pagerank(G, alpha, tol=1e-2, backend=BACKEND)
        assert {type(value) for value in found.values()} == {float}
        assert math.fsum(found.values()) == pytest.approx(1.0, abs=1e-13)

    @pytest.mark.parametrize("l1_error", [1e-3, 1e-12])
    def test_error_that_is_asked_for(self, karate, l1_error):
        exact = oracles.pagerank(oracles.adjacency(karate), vector(karate, {0: 1}), 0.85)
        found = nx.pagerank(karate, personalization={0: 1}, l1_error=l1_error, backend=BACKEND)
        error = np.abs(vector(karate, found) - exact).sum()
        assert l1_error / 1e4 < error <= l1_error

    @pytest.mark.parametrize("l1_error", [0.0, -1.0, 1e-15, math.nan])
    def test_error_too_small_for_rounding(self, karate, l1_error):
        with pytest.raises(ValueError, match=r"l1_error must be at least 3e-14, where rounding errors begin, got"):
            nx.pagerank(karate, l1_error=l1_error, backend=BACKEND)

    def test_masses_in_something_like_a_dict(self, karate):
        found = nx.pagerank(karate, personalization=pd.Series({0: 1.0, 5: 2.0}), backend=BACKEND)
        assert found == nx.pagerank(karate, personalization={0: 1, 5: 2}, backend=BACKEND)

    def test_nodes_that_the_graph_does_not_have_are_ignored(self, karate):
        found = nx.pagerank(karate, personalization={0: 1, "stranger": 3}, backend=BACKEND)
        assert found == nx.pagerank(karate, personalization={0: 1}, backend=BACKEND)

    @pytest.mark.parametrize(
        "parameters",
        [
            {"max_iter": 0},
            {"max_iter": 1.5},
            {"max_iter": None},
            {"tol": 0.0},
            {"tol": math.nan},
            {"personalization": {0: 0, 1: 0}},
            {"personalization": {"stranger": 1}},
            {"personalization": {}},
            {"personalization": {0: 0}, "max_iter": 0},
            {"dangling": {0: 0}},
            {"nstart": {0: 0}},
        ],
    )
    @pytest.mark.filterwarnings("ignore:(invalid value|divide by zero):RuntimeWarning")
    def test_fails_as_networkx_does(self, karate, parameters):
        raised = outcome(nx.pagerank, karate, **parameters, backend=BACKEND)
        assert raised is outcome(nx.pagerank, karate, **parameters, backend=NETWORKX)
        assert issubclass(raised, TypeError | ZeroDivisionError | nx.PowerIterationFailedConvergence)

    def test_empty_graph(self):
        assert nx.pagerank(nx.DiGraph(), backend=BACKEND) == {}

    @given(st.data(), any_graphs().map(in_double), st.floats(0.5, 0.9999), st.integers(0, 40))
    def test_knows_where_networkx_fails(self, data, G, alpha, max_iter):
        seeds, start, jumps = (data.draw(st.none() | masses(G)) for _ in range(3))
        tol, weight = data.draw(st.sampled_from([3.7e-2, 3.7e-4, 3.7e-8])), data.draw(st.sampled_from(["weight", None]))
        arguments = (alpha, seeds, max_iter, tol, start, weight, jumps)
        found = outcome(nx.pagerank, G, *arguments, backend=NETWORKX)
        assert power_iteration_ends(LiveGraph(G), *arguments) is (found is not nx.PowerIterationFailedConvergence)


class TestGoogleMatrix:
    @given(st.data(), any_graphs().map(in_double), st.floats(0.0, 1.0))
    def test_is_that_of_networkx(self, data, G, alpha):
        parameters = {
            "alpha": alpha,
            "personalization": data.draw(st.none() | masses(G)),
            "dangling": data.draw(st.none() | masses(G)),
            "weight": data.draw(st.sampled_from(["weight", None])),
            "nodelist": data.draw(st.none() | st.permutations(list(G))),
        }
        expected = nx.google_matrix(G, **parameters, backend=NETWORKX)
        assert_allclose(nx.google_matrix(G, **parameters, backend=BACKEND), expected, rtol=1e-12)

    @pytest.mark.parametrize(
        "parameters",
        [
            {"nodelist": [0, 99]},
            {"nodelist": [0, 0]},
            {"nodelist": [0, 1]},
            {"nodelist": [0, 1], "personalization": {5: 1}},
            {"personalization": {0: 0}},
        ],
    )
    def test_fails_as_networkx_does(self, karate, parameters):
        raised = outcome(nx.google_matrix, karate, **parameters, backend=BACKEND)
        assert raised is outcome(nx.google_matrix, karate, **parameters, backend=NETWORKX)
        assert issubclass(raised, Exception)

    def test_some_of_the_nodes(self, karate):
        parameters = {"nodelist": [5, 0, 3], "personalization": {0: 1}}
        expected = nx.google_matrix(karate, **parameters, backend=NETWORKX)
        assert_allclose(nx.google_matrix(karate, **parameters, backend=BACKEND), expected)

    def test_empty_graph(self):
        assert nx.google_matrix(nx.Graph(), backend=BACKEND).shape == (0, 0)


class TestKatz:
    @given(st.data(), st.booleans().flatmap(lambda directed: small_graphs(directed=directed)).map(in_double))
    def test_is_that_of_networkx(self, data, G):
        parameters = {
            "alpha": data.draw(st.sampled_from([1e-4, 1e-3, 0.05, 0.9])),
            "beta": data.draw(
                st.sampled_from([1.0, 0.1]) | st.fixed_dictionaries(dict.fromkeys(G, st.integers(-1, 5)))
            ),
            "nstart": data.draw(st.none() | st.fixed_dictionaries(dict.fromkeys(reversed(list(G)), st.floats(0, 2)))),
            "normalized": data.draw(st.booleans()),
            "weight": data.draw(st.sampled_from(["weight", None])),
        }
        expected = outcome(nx.katz_centrality, G, **parameters, backend=NETWORKX)
        found = outcome(nx.katz_centrality, G, **parameters, backend=BACKEND)
        if isinstance(expected, dict):
            assert list(found) == list(expected)
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
            assert {type(value) for value in found.values()} == {float}
        else:
            assert found is expected is nx.PowerIterationFailedConvergence

    @pytest.mark.parametrize(
        ("G", "parameters"),
        [
            (nx.path_graph(3), {"max_iter": 0}),
            (nx.path_graph(3), {"beta": {0: 77}}),
            (nx.path_graph(3), {"beta": "foo"}),
            (nx.MultiGraph([(0, 1)]), {}),
        ],
    )
    def test_fails_as_networkx_does(self, G, parameters):
        raised = outcome(nx.katz_centrality, G, **parameters, backend=BACKEND)
        assert raised is outcome(nx.katz_centrality, G, **parameters, backend=NETWORKX)
        assert issubclass(raised, Exception)

    @pytest.mark.parametrize("beta", [1e200, 1e-200])
    def test_length_of_very_long_and_very_short_vectors(self, karate, beta):
        found = nx.katz_centrality(karate, 0.01, beta, tol=1e-9 * beta, backend=BACKEND)
        assert found == pytest.approx(nx.katz_centrality(karate, 0.01, backend=NETWORKX), rel=1e-4)

    def test_nothing_at_all(self):
        assert nx.katz_centrality(nx.Graph(), backend=BACKEND) == {}
        G = nx.path_graph(3)
        assert nx.katz_centrality(G, beta=0.0, backend=BACKEND) == {0: 0.0, 1: 0.0, 2: 0.0}


class TestNodeClassification:
    @given(labelled_graphs(), st.sampled_from([0, 1, 2, 30]))
    def test_harmonic_function_is_that_of_networkx(self, G, max_iter):
        found = harmonic_function(G, max_iter, backend=BACKEND)
        assert found == harmonic_function(G, max_iter, backend=NETWORKX)

    @given(labelled_graphs(), st.sampled_from([0.0, 0.3, 0.99]), st.sampled_from([0, 1, 30]))
    def test_consistency_is_that_of_networkx(self, G, alpha, max_iter):
        found = local_and_global_consistency(G, alpha, max_iter, backend=BACKEND)
        assert found == local_and_global_consistency(G, alpha, max_iter, backend=NETWORKX)

    @pytest.mark.parametrize("function", [harmonic_function, local_and_global_consistency])
    def test_ties_that_rounding_decides(self, function):
        """Two labels on a graph with mirror symmetry: nodes on its axis tie, up to the order of a sum."""
        for seed in range(60):
            rng = np.random.default_rng(seed)
            names = rng.permutation(15).tolist()  # 0 to 4 on the axis, 5 to 9 and 10 to 14 beside it
            G = nx.Graph()
            for _ in range(25):
                u, v = (names[end] for end in rng.integers(10, size=2))
                mirrored = {names[i]: names[i if i < 5 else i + 5] for i in range(10)}
                weight = float(rng.choice([0.1, 0.2, 0.3, 0.7]))
                G.add_edge(u, v, weight=weight)
                G.add_edge(mirrored[u], mirrored[v], weight=weight)
            for end, label in ((5, "left"), (10, "right")):
                G.add_node(names[end], label=label)
            assert function(G, backend=BACKEND) == function(G, backend=NETWORKX)

    @pytest.mark.parametrize("function", [harmonic_function, local_and_global_consistency])
    def test_on_real_labels(self, function, real_graph, real_labels):
        G = real_graph("citeseer").to_networkx()
        labels = real_labels("citeseer").tolist()
        for node in range(0, len(G), 10):
            G.nodes[node]["label"] = labels[node]
        found = function(G, backend=BACKEND)
        assert found == function(G, backend=NETWORKX)
        assert {type(label) for label in found} == {int}

    @pytest.mark.parametrize("function", [harmonic_function, local_and_global_consistency])
    @pytest.mark.parametrize("G", [nx.Graph(), nx.path_graph(3), nx.empty_graph(2), nx.path_graph(3, nx.DiGraph)])
    def test_fails_as_networkx_does(self, function, G):
        raised = outcome(function, G, backend=BACKEND)
        assert raised is outcome(function, G, backend=NETWORKX)
        assert issubclass(raised, nx.NetworkXException)

    @pytest.mark.parametrize("function", [harmonic_function, local_and_global_consistency])
    def test_labels_of_several_types_become_what_networkx_makes_of_them(self, function):
        G = nx.path_graph(4)
        G.nodes[0]["label"], G.nodes[3]["label"] = 1, "one"
        assert function(G, backend=BACKEND) == function(G, backend=NETWORKX) == ["1", "1", "one", "one"]
