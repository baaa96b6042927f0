import pickle
import subprocess
import sys
import threading

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import nx_fastonl as fo
from nx_fastonl.push import dynamic_pagerank
from nx_fastonl.push._push import Effort
from nx_fastonl.push.local import NEVER_CANCELLED, UNLIMITED, push_on
from tests import oracles
from tests.fuzz import truth
from tests.strategies import alphas

NODES = st.integers(0, 7)
WEIGHTS = st.one_of(st.none(), st.just(1), st.floats(0.01, 100.0))
CHANGES = st.one_of(
    st.tuples(st.just("add_edge"), NODES, NODES, WEIGHTS),
    st.tuples(st.just("add_edge"), NODES, NODES, WEIGHTS),
    st.tuples(st.just("remove_edge"), NODES, NODES),
    st.tuples(st.just("add_node"), NODES),
    st.tuples(st.just("remove_node"), NODES),
    st.tuples(st.just("ask"), st.integers(0, 2)),
)
ACCURACIES = st.sampled_from([{"epsilon": 0.3}, {"epsilon": 1e-2}, {"epsilon": 1e-7}, {"tol": 0.1}, {"tol": 1e-6}, {}])
SEEDS = st.one_of(
    NODES, st.lists(NODES, min_size=1, unique=True), st.dictionaries(NODES, st.floats(0.1, 5), min_size=1)
)


def apply(change, G, graph):
    """The same change to a graph of NetworkX and to one of ours, if it can be made."""
    verb, *arguments = change
    if verb == "add_edge":
        u, v, weight = arguments
        if weight is None:
            weight = G.edges[u, v]["weight"] if G.has_edge(u, v) else 1.0
        G.add_edge(u, v, weight=weight)
        graph.add_edge(*arguments)
    elif verb != "ask":
        can_be_made = {"remove_edge": G.has_edge, "remove_node": G.has_node}.get(verb, lambda _: True)
        if can_be_made(*arguments):
            getattr(G, verb)(*arguments)
            getattr(graph, verb)(*arguments)


def weights_of(seeds):
    if isinstance(seeds, int):
        return {seeds: 1.0}
    return seeds if isinstance(seeds, dict) else dict.fromkeys(seeds, 1.0)


def check(ranks, G, graph):
    """The vector is that of the graph within its error, and its state solves the system."""
    weights = {node: weight for node, weight in ranks.personalization.items() if node in G}
    if not weights:
        with pytest.raises(nx.NodeNotFound, match="no seed of this vector is in the graph any more"):
            ranks.ranks()
        return
    b = oracles.to_vector(weights, G) / sum(weights.values())
    W = oracles.adjacency(G)
    found = ranks.ranks()
    assert found.keys() <= set(G)
    exact = oracles.pagerank(W, b, ranks.alpha)
    assert np.abs(oracles.to_vector(found, G) - exact).sum() <= ranks.l1_error
    if ranks.tol is not None:
        assert ranks.l1_error <= ranks.tol
    assert {node: ranks[node] for node in G} == {node: found.get(node, 0.0) for node in G}
    assert list(ranks.top(3).values()) == sorted(found.values(), reverse=True)[:3]

    z, r = ranks._kept.dense()
    rows = [graph.rows.index(node) for node in G]
    H = oracles.dense_system(W, 1.0 - ranks.alpha, "ppr")
    assert_allclose(H @ z[rows] + r[rows], b, atol=1e-9)
    assert_allclose([z.sum(), np.abs(r).sum()], [z[rows].sum(), np.abs(r[rows]).sum()], atol=0)  # nothing elsewhere
    assert_allclose(ranks._kept.mass, np.abs(r).sum(), atol=1e-12)
    assert_allclose(ranks._kept.dead, z[rows][W.sum(axis=1) == 0.0].sum(), atol=1e-12)
    if ranks.tol is None:
        assert ranks._kept.epsilon == ranks._kept.reached.epsilon
        neighbours = np.array([len(G.adj[node]) for node in G])
        assert (np.abs(r[rows]) <= np.maximum(ranks._kept.epsilon * neighbours, 1e-200)).all()

    again, info = fo.personalized_pagerank_local(graph.freeze(), ranks.alpha, weights, tol=1e-9, full_output=True)
    distance = np.abs(oracles.to_vector(found, G) - oracles.to_vector(again, G)).sum()
    assert distance <= ranks.l1_error + info.l1_error


@truth.exactly
def distance(ranks, graph):
    """The L1 distance to the exact vector, computed with 260 digits, and what is certified."""
    found, frozen = ranks.ranks(), graph.freeze()
    seeds = {node: weight for node, weight in ranks.personalization.items() if node in graph}
    exact = truth.pagerank(frozen, ranks.alpha, truth.distribution(frozen, seeds))
    off = sum(abs(truth.number(found.get(node, 0.0)) - x) for node, x in zip(frozen, exact, strict=True))
    return float(off), ranks.l1_error


HEAVY = st.integers(-100, 99).map(lambda exponent: float(f"1e{exponent}"))
NEAR_ONE = st.floats(0.99, 1.01)
PAIRS = st.tuples(st.integers(0, 3), st.integers(0, 3))


class TestError:
    """Whatever happens to a graph, the L1 error is at most what is certified: to the last digit."""

    @given(
        st.booleans(),
        st.lists(st.tuples(PAIRS, st.one_of(HEAVY, NEAR_ONE)), max_size=8),
        st.lists(st.tuples(PAIRS, st.one_of(st.none(), HEAVY, NEAR_ONE)), max_size=8),
        st.sampled_from([1e-11, 0.1, 0.85, 0.999]),
        st.sampled_from([{}, {"epsilon": 1e-16}, {"epsilon": 0.1}, {"tol": 2e-7}]),
    )
    def test_any_weights_and_changes(self, directed, edges, changes, alpha, accuracy):
        graph = fo.DynamicGraph(directed=directed)
        graph.add_nodes_from(range(4))
        graph.add_weighted_edges_from([(u, v, weight) for (u, v), weight in edges])
        ranks = fo.DynamicPageRank(graph, {0: 1.0, 1: 0.3}, alpha, **accuracy)
        for (u, v), weight in [((0, 0), 1.0), *changes]:
            if weight is not None:
                graph.add_edge(u, v, weight=weight)
            elif graph.has_edge(u, v):
                graph.remove_edge(u, v)
            off, certified = distance(ranks, graph)
            assert off <= certified
            assert ranks.tol is None or certified <= ranks.tol

    @pytest.mark.parametrize("weights", [(1.1, 1.3, 1.7), (1.003, 1.004, 1.006)])
    def test_changes_that_lead_to_dead_ends(self, weights):
        graph = fo.DynamicGraph(directed=True)
        graph.add_weighted_edges_from([(0, 1, weights[0]), (1, 0, weights[1]), (1, 1, weights[2])])
        ranks = fo.DynamicPageRank(graph, 0, 0.999, epsilon=1e-14)
        for edge in ((0, 1), (1, 0)):
            assert distance(ranks, graph)[0] <= ranks.l1_error
            graph.remove_edge(*edge)
        off, certified = distance(ranks, graph)
        assert off <= certified

    def test_it_is_not_much_more_than_it_has_to_be(self):
        """What rounding adds is a few units, over the probability to stop."""
        for alpha in (0.5, 0.85, 0.999):
            ranks = fo.DynamicPageRank(fo.DynamicGraph(nx.karate_club_graph()), 0, alpha, epsilon=1e-18)
            assert ranks.l1_error <= 2e-15 + 1e-15 / (1.0 - alpha)

    def test_degrees_that_were_rounded_often(self):
        """Half of what is added to the weight of an edge is lost in the degree of its node."""
        graph = fo.DynamicGraph(directed=True)
        graph.add_weighted_edges_from([(0, 1, 1.0), (0, 2, 1e-12), (1, 0, 1.0), (2, 2, 1.0)])
        ranks = fo.DynamicPageRank(graph, 0, 0.5, epsilon=1e-16)
        for i in range(1, 20_001):
            graph.add_edge(0, 2, weight=1e-12 + i * 6e-17)
        for vector in (ranks, fo.DynamicPageRank(graph, 0, 0.5, epsilon=1e-16)):
            off, certified = distance(vector, graph)
            assert 1e-13 < off <= certified < 1e-10

    def test_degrees_of_a_pickled_graph_are_not_taken_for_new_sums(self):
        graph = fo.DynamicGraph(directed=True)
        graph.add_weighted_edges_from([(0, 1, 1.0), (0, 2, 1e-12), (1, 0, 1.0)])
        for i in range(1, 10_001):
            graph.add_edge(0, 2, weight=1e-12 + i * 6e-17)
        assert graph.rows.degree_roundings >= 10_000
        again = pickle.loads(pickle.dumps(graph))
        assert again.rows.degrees.tolist() == graph.rows.degrees.tolist()
        assert again.rows.degree_roundings > 1000
        off, certified = distance(fo.DynamicPageRank(again, 0, 0.5, epsilon=1e-16), again)
        assert 1e-14 < off <= certified

    def test_sums_of_whole_numbers_are_not_rounded(self):
        graph = fo.DynamicGraph(nx.path_graph(3))
        for weight in range(2, 100):
            graph.add_edge(0, 1, weight=weight)
        assert graph.rows.degree_roundings == 0
        graph.add_edge(0, 1, weight=100.5)
        assert graph.rows.degree_roundings == 2


class TestFollowing:
    @given(
        st.booleans(),
        st.lists(st.tuples(SEEDS, ACCURACIES, alphas()), min_size=3, max_size=3),
        st.lists(CHANGES, max_size=40),
    )
    def test_equals_the_vector_of_the_present_graph(self, directed, parameters, changes):
        G = nx.DiGraph() if directed else nx.Graph()
        G.add_nodes_from(range(8))
        graph = fo.DynamicGraph(G)
        vectors = [fo.DynamicPageRank(graph, seeds, alpha, **accuracy) for seeds, accuracy, alpha in parameters]
        for change in changes:
            apply(change, G, graph)
            if change[0] == "ask":
                check(vectors[change[1]], G, graph)
        for ranks, (seeds, *_) in zip(vectors, parameters, strict=True):
            assert ranks.personalization == weights_of(seeds)
            check(ranks, G, graph)

    @pytest.mark.parametrize("directed", [False, True])
    @pytest.mark.parametrize("accuracy", [{"epsilon": 1e-5}, {"tol": 1e-7}, {"tol": 1e-11}])
    def test_long_streams(self, directed, accuracy):
        G = nx.gnp_random_graph(60, 0.08, seed=3, directed=directed)
        nx.set_edge_attributes(G, 1.0, "weight")
        graph = fo.DynamicGraph(G)
        ranks = fo.DynamicPageRank(graph, [0, 1], **accuracy)
        random = np.random.default_rng(0)
        for step in range(600):
            u, v = random.integers(60, size=2).tolist()
            apply(("remove_edge", u, v) if G.has_edge(u, v) else ("add_edge", u, v, None), G, graph)
            ranks[u]
            if step % 100 == 99:
                check(ranks, G, graph)

    def test_more_changes_than_the_log_keeps(self):
        G = nx.karate_club_graph()
        graph = fo.DynamicGraph(G)
        ranks = fo.DynamicPageRank(graph, 5, tol=1e-8)
        check(ranks, G, graph)
        position = graph.rows.position
        for weight in (*range(2, 900), 0.25):
            edges = [(u, v, float(weight)) for u, v in list(G.edges)[:30]]
            graph.add_weighted_edges_from(edges)
        G.add_weighted_edges_from(edges)
        row = graph.rows.index(33)
        apply(("remove_node", 33), G, graph)
        apply(("add_node", "new"), G, graph)
        assert graph.rows.changes_since(position) is None
        ranks._follow(ranks._kept.reached)
        assert ranks._kept.dense()[0][row] == 0.0  # also before anything is pushed
        check(ranks, G, graph)
        assert ranks["new"] == 0.0

    @pytest.mark.parametrize("accuracy", [{"tol": 1e-8}, {}])
    def test_many_changes_that_the_log_has(self, accuracy):
        G = nx.karate_club_graph()
        graph = fo.DynamicGraph(G)
        ranks = fo.DynamicPageRank(graph, 5, **accuracy)
        check(ranks, G, graph)
        position = graph.rows.position
        for weight in range(1, 30):
            for u, v in list(G.edges):
                apply(("add_edge", u, v, weight), G, graph)
        assert len(graph.rows.changes_since(position)) > dynamic_pagerank.LEAST_CHANGES + G.number_of_edges()
        check(ranks, G, graph)

    @pytest.mark.parametrize("directed", [False, True])
    def test_a_row_that_another_node_gets(self, directed):
        G = nx.path_graph(5, create_using=nx.DiGraph if directed else nx.Graph)
        graph = fo.DynamicGraph(G)
        ranks = fo.DynamicPageRank(graph, 0, tol=1e-9)
        assert ranks[2] > 0.0
        row = graph.rows.index(2)
        apply(("remove_node", 2), G, graph)
        apply(("add_node", "new"), G, graph)
        assert graph.rows.index("new") == row
        assert ranks["new"] == 0.0
        assert ranks.ranks().keys() <= {0, 1, 3, 4}
        apply(("add_edge", 1, "new", None), G, graph)
        assert ranks["new"] > 0.0
        check(ranks, G, graph)

    def test_nodes_join_and_graphs_grow(self):
        G = nx.Graph([("a", "b")])
        graph = fo.DynamicGraph(G)
        ranks = fo.DynamicPageRank(graph, "a", tol=1e-10)
        check(ranks, G, graph)
        for i in range(100):
            apply(("add_edge", i, "b" if i % 3 else "a", None), G, graph)
            assert ranks[i] > 0.0
        check(ranks, G, graph)

    def test_isolated_seeds(self):
        graph = fo.DynamicGraph()
        graph.add_nodes_from("ab")
        ranks = fo.DynamicPageRank(graph, {"a": 3, "b": 1})
        assert ranks.ranks() == {"a": 0.75, "b": 0.25}
        assert ranks.l1_error < 1e-13


class TestSeeds:
    def test_seeds_that_leave_and_join_again(self):
        G = nx.karate_club_graph()
        graph = fo.DynamicGraph(G)
        ranks = fo.DynamicPageRank(graph, {0: 1, 5: 2}, tol=1e-9)
        before = ranks.ranks()
        edges = [(5, v, data["weight"]) for v, data in G.adj[5].items()]
        graph.remove_node(5)
        G.remove_node(5)
        check(ranks, G, graph)
        assert 5 not in ranks.ranks()
        graph.remove_node(0)
        with pytest.raises(nx.NodeNotFound, match=r"any more: 0, 5; set personalization to nodes of the graph"):
            ranks[1]
        with pytest.raises(nx.NodeNotFound, match="any more"):
            ranks.l1_error  # noqa: B018 - it raises
        ranks.personalization = 33
        G.remove_node(0)
        check(ranks, G, graph)
        original = nx.karate_club_graph()
        graph.add_weighted_edges_from([(0, v, data["weight"]) for v, data in original.adj[0].items()])
        graph.add_weighted_edges_from(edges)
        ranks.personalization = {0: 1, 5: 2}
        assert_allclose(oracles.to_vector(ranks.ranks(), original), oracles.to_vector(before, original), atol=2e-9)

    @pytest.mark.parametrize("accuracy", [{"tol": 1e-9}, {"epsilon": 1e-4}])
    def test_other_seeds(self, accuracy):
        G = nx.karate_club_graph()
        graph = fo.DynamicGraph(G)
        ranks = fo.DynamicPageRank(graph, 3, **accuracy)
        for seeds in (5, [1, 2, 3], {0: 0.5, 33: 7}, np.array([4, 5]), {3: 1.0, 4: 0.0}):
            ranks.personalization = seeds
            check(ranks, G, graph)
        assert ranks.personalization == {3: 1.0}

    def test_graphs_that_cannot_change(self):
        G = nx.karate_club_graph()
        ranks = fo.DynamicPageRank(G, 3, tol=1e-9)
        assert_allclose(
            oracles.to_vector(ranks.ranks(), G),
            oracles.to_vector(oracles.networkx_pagerank(G, personalization={3: 1}), G),
            atol=2e-9,
        )
        ranks.personalization = 7
        expected = fo.personalized_pagerank_local(G, personalization=7, tol=1e-9)
        assert_allclose(oracles.to_vector(ranks.ranks(), G), oracles.to_vector(expected, G), atol=2e-9)

    def test_many(self):
        graph = fo.DynamicGraph(nx.path_graph(4))
        many = fo.DynamicPageRank.many(graph, {"left": 0, "right": {3: 1}, 7: [1, 2]}, 0.5, tol=1e-6)
        graph.add_edge(3, 4)
        assert list(many) == ["left", "right", 7]
        for name, seeds in (("left", 0), ("right", 3), (7, [1, 2])):
            alone = fo.DynamicPageRank(graph, seeds, 0.5, tol=1e-9).ranks()
            found = many[name].ranks()
            assert (many[name].tol, many[name].alpha) == (1e-6, 0.5)
            assert_allclose(oracles.to_vector(found, graph), oracles.to_vector(alone, graph), atol=2e-6)
        static = fo.DynamicPageRank.many(nx.path_graph(4), {"a": 0, "b": 1})
        assert static["a"]._graph is static["b"]._graph


class TestTop:
    def test_largest_first(self):
        graph = fo.DynamicGraph(nx.karate_club_graph())
        ranks = fo.DynamicPageRank(graph, 22, tol=1e-9)
        everything = sorted(ranks.ranks().items(), key=lambda item: -item[1])
        assert list(ranks.top(5).items()) == everything[:5]
        assert list(ranks.top(100).items()) == everything
        assert list(ranks.top(4, candidates=[3, 33, 8, 0, 8])) == [
            node for node, _ in everything if node in {0, 3, 8, 33}
        ]
        assert list(ranks.top(2, exclude=[33, 22, "gone"]).items()) == everything[2:4]
        assert list(ranks.top(9, candidates=iter([3, 33]), exclude=iter([33]))) == [3]
        assert ranks.top(3, candidates=[]) == {}

    def test_equal_values_are_in_the_order_of_the_nodes(self):
        ranks = fo.DynamicPageRank(fo.DynamicGraph(nx.star_graph(6)), 0)
        assert list(ranks.top(4)) == [0, 1, 2, 3]

    def test_nodes_that_were_not_reached_are_left_out(self):
        graph = fo.DynamicGraph(nx.path_graph(3))
        graph.add_node("far")
        ranks = fo.DynamicPageRank(graph, 0)
        assert ranks.top(4, candidates=["far", 1]).keys() == {1}
        assert ranks["far"] == 0.0


class TestTrouble:
    @pytest.mark.parametrize("accuracy", [{"epsilon": 1e-8}, {"tol": 1e-2}])
    @pytest.mark.parametrize("G", [nx.DiGraph([(0, 0)]), nx.cycle_graph(3), nx.cycle_graph(5, create_using=nx.DiGraph)])
    def test_a_damping_near_1_walks_few_edges(self, G, accuracy):
        """Few nodes are solved exactly once the pushes have walked more edges than that takes; a hang otherwise."""
        alpha = 1.0 - (1e-9 if "epsilon" in accuracy else 1e-5)
        graph = fo.DynamicGraph(G)
        ranks = fo.DynamicPageRank(graph, 0, alpha, **accuracy)
        for change in (lambda: None, lambda: graph.add_edge(0, 1, 3.0), lambda: graph.add_edge(1, 5), lambda: None):
            change()
            G = graph.to_networkx()
            exact = oracles.pagerank(oracles.adjacency(G), oracles.to_vector({0: 1.0}, G), alpha)
            off = np.abs(oracles.to_vector(ranks.ranks(), G) - exact).sum()
            assert off <= ranks.l1_error + 1e-15 / (1.0 - alpha)  # what the dense truth rounds
            if "tol" in accuracy:
                assert ranks.l1_error <= accuracy["tol"]

    @pytest.mark.parametrize("accuracy", [{}, {"epsilon": 1e-3}, {"tol": 1e-6}])
    @pytest.mark.parametrize("alpha", [0.85, 0.999])
    def test_a_weight_that_jumps(self, accuracy, alpha):
        """What is left of the estimate is rounding errors of large numbers, so the vector starts again from zero."""
        graph = fo.DynamicGraph()
        graph.add_edge(0, 0, weight=1.0)
        ranks = fo.DynamicPageRank(graph, 0, alpha, **accuracy)
        before = ranks.l1_error
        for weight in (1e50, 1e-50, 1e100, 1e-100, 1e100, 1.0):
            graph.add_edge(0, 0, weight=weight)
            assert abs(ranks[0] - 1.0) <= ranks.l1_error <= max(1.1 * before, 2e-3)
            z, r = ranks._kept.dense()
            assert np.isfinite([*z, *r]).all()

    @pytest.mark.parametrize(
        ("arguments", "error", "message"),
        [
            ({"personalization": 99}, nx.NodeNotFound, "node 99 is not in the graph"),
            ({"personalization": [0, 99]}, nx.NodeNotFound, "node 99"),
            ({"personalization": []}, ValueError, "personalization sums to zero"),
            ({"personalization": {0: 0.0}}, ValueError, "personalization sums to zero"),
            ({"personalization": {0: -1.0}}, ValueError, "gives node 0 the value -1.0"),
            ({"personalization": np.ones(5)}, TypeError, r"pass dict\(zip\(graph, array.tolist\(\)\)\)"),
            ({"alpha": 1.0}, ValueError, "alpha must lie strictly between 0 and 1"),
            ({"epsilon": 0.0}, ValueError, "epsilon must be a positive number"),
            ({"tol": -1}, ValueError, "tol must be a positive number"),
            ({"tol": 1e-13}, ValueError, "tol must be at least 4e-12, where rounding errors begin, got 1e-13"),
            ({"tol": 1e-3, "epsilon": 1e-3}, ValueError, "leave one of them out, got epsilon=0.001 and tol=0.001"),
        ],
    )
    def test_bad_parameters(self, arguments, error, message):
        with pytest.raises(error, match=message):
            fo.DynamicPageRank(fo.DynamicGraph(nx.path_graph(5)), **{"personalization": 0, **arguments})

    def test_bad_questions(self):
        graph = fo.DynamicGraph(nx.path_graph(3))
        ranks = fo.DynamicPageRank(graph, 0)
        for call in (lambda: ranks[7], lambda: ranks.top(1, candidates=[7])):
            with pytest.raises(nx.NodeNotFound, match="node 7 is not in the graph"):
                call()
        with pytest.raises(ValueError, match="k must be at least 1, got 0"):
            ranks.top(0)
        for name in ("candidates", "exclude"):
            for node, shown in ((0, r"\[0\]"), ("anna", r"\['anna'\]")):
                with pytest.raises(TypeError, match=f"{name} must be a collection of nodes; for one node pass {shown}"):
                    ranks.top(1, **{name: node})
        with pytest.raises(TypeError, match="not iterable"):
            list(ranks)
        with pytest.raises(nx.NodeNotFound, match="node 7"):
            ranks.personalization = {7: 1}
        assert ranks.personalization == {0: 1.0}
        with pytest.raises(TypeError, match="personalizations must be a dict"):
            fo.DynamicPageRank.many(graph, [0, 1])
        with pytest.raises(TypeError, match=r"expected an nx\.Graph"):
            fo.DynamicPageRank("graph", 0)

    def test_rounding_errors_are_counted_and_end(self):
        """At the smallest tolerance every few changes call for a new residual, and a hub for a push from nothing."""
        G = nx.star_graph(3000)
        nx.set_edge_attributes(G, 1.0, "weight")
        graph = fo.DynamicGraph(G)
        ranks = fo.DynamicPageRank(graph, 1, tol=4.5e-12)
        for leaf in range(2, 40):
            graph.add_edge(0, leaf, weight=1.0 + leaf / 7)
            G.add_edge(0, leaf, weight=1.0 + leaf / 7)
            assert ranks.l1_error <= 4.5e-12
        weights = np.array([G.edges[0, leaf]["weight"] for leaf in range(1, 3001)])
        # x0 = alpha (1 - x0), and a leaf has alpha x0 times its fraction; the seed also 1 - alpha.
        center = 0.85 / 1.85
        leaves = 0.85 * center * weights / weights.sum()
        leaves[0] += 0.15
        found = oracles.to_vector(ranks.ranks(), G)
        assert np.abs(found - np.concatenate([[center], leaves])).sum() <= 4.5e-12

    def test_a_push_around_changes_that_takes_long_is_finished_otherwise(self, monkeypatch):
        monkeypatch.setattr(dynamic_pagerank, "LEAST_EDGES", 1)
        G = nx.karate_club_graph()
        graph = fo.DynamicGraph(G)
        ranks = fo.DynamicPageRank(graph, 0, epsilon=1e-9)
        check(ranks, G, graph)
        apply(("add_edge", 0, 33, 50.0), G, graph)
        check(ranks, G, graph)

    def test_large_rounding_errors_call_for_a_new_residual(self):
        """The pivot of a seed without edges grows from 1 to 8200: for a moment the residual mass is 8199."""
        graph = fo.DynamicGraph(nx.empty_graph(4, create_using=nx.DiGraph))
        ranks = fo.DynamicPageRank(graph, 2, 0.5, epsilon=0.3)
        assert ranks[2] == 1.0
        graph.add_edge(2, 3, weight=4100.0)
        assert ranks.l1_error < 1e-13
        assert_allclose(ranks[2], 2 / 3, rtol=1e-14)

    @pytest.mark.parametrize("accuracy", [{"tol": 1e-9}, {"epsilon": 1e-6}])
    def test_a_push_that_is_interrupted_goes_on(self, accuracy, monkeypatch):
        G = nx.gnp_random_graph(200, 0.05, seed=1)
        nx.set_edge_attributes(G, 1.0, "weight")
        graph = fo.DynamicGraph(G)
        ranks = fo.DynamicPageRank(graph, 0, **accuracy)
        interrupts = 0

        def interrupted(system, workspace, _, epsilon, mass_tolerance=None):
            nonlocal interrupts
            interrupts += 1
            few = Effort(300, UNLIMITED, NEVER_CANCELLED)
            if not push_on(system, workspace, few, epsilon, mass_tolerance):
                raise KeyboardInterrupt

        monkeypatch.setattr(dynamic_pagerank, "push_on", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ranks[3]
        apply(("add_edge", 0, 77, None), G, graph)
        with pytest.raises(KeyboardInterrupt):
            ranks[3]
        assert interrupts == 2
        monkeypatch.undo()
        check(ranks, G, graph)

    def test_signals_are_looked_for_while_it_pushes(self):
        program = """
import os, signal, threading
import numpy as np, nx_fastonl as fo
n = 200_000
rng = np.random.default_rng(0)
graph = fo.DynamicGraph(fo.CSRGraph.from_edges(rng.integers(n, size=8 * n), rng.integers(n, size=8 * n), n=n))
ranks = fo.DynamicPageRank(graph, 0, 0.99, tol=1e-8)

def interrupted(function):
    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        function()
    except KeyboardInterrupt:
        print("interrupted", ranks._kept.settled)

interrupted(lambda: ranks[1])
graph.add_edge(0, n)
ranks[1]
interrupted(lambda: ranks._kept.settle_all(ranks._system.view, 1e-30))
graph.remove_edge(0, n)
exact = fo.personalized_pagerank_local(graph.freeze(), 0.99, 0, tol=1e-10)
found = ranks.ranks()
error = sum(abs(exact.get(u, 0.0) - found.get(u, 0.0)) for u in range(n + 1))
print(ranks._kept.settled, ranks.l1_error <= 1e-8, error <= ranks.l1_error + 1e-10)
"""
        found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=True)
        assert found.stdout.splitlines() == ["interrupted False", "interrupted False", "True True True"]

    def test_one_thread_writes_and_two_read(self):
        G = nx.gnp_random_graph(80, 0.05, seed=2)
        nx.set_edge_attributes(G, 1.0, "weight")
        graph = fo.DynamicGraph(G)
        ranks = fo.DynamicPageRank(graph, [0, 1], tol=1e-7)
        done, failures = threading.Event(), []

        def read():
            try:
                while not done.is_set():
                    # The values of every vector add up to 1.
                    assert abs(sum(ranks.ranks().values()) - 1.0) <= 1e-7
                    assert ranks.l1_error <= 1e-7
                    ranks.top(3)
            except BaseException as error:
                failures.append(error)
                raise

        readers = [threading.Thread(target=read) for _ in range(2)]
        for reader in readers:
            reader.start()
        random = np.random.default_rng(0)
        try:
            for _ in range(400):
                u, v = random.integers(80, size=2).tolist()
                apply(("remove_edge", u, v) if G.has_edge(u, v) else ("add_edge", u, v, None), G, graph)
        finally:
            done.set()
            for reader in readers:
                reader.join()
        assert failures == []
        check(ranks, G, graph)
