import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import nx_fastonl as fo
from nx_fastonl.graph.vectors import distribution
from nx_fastonl.push import _push, _top
from nx_fastonl.push._filter import NodeFilter
from nx_fastonl.push._workspace import Workspace
from nx_fastonl.push.elimination import LEAST_EDGES
from nx_fastonl.push.system import LinearSystem
from nx_fastonl.push.twins import twins_of
from tests import oracles
from tests.fuzz import truth
from tests.strategies import alphas, graphs_with_ties, masses, nodes_of, small_graphs

ENOUGH = 10**8
any_graphs = st.one_of(graphs_with_ties(), small_graphs(), small_graphs(directed=True))


@truth.exactly
def assert_claims(G, damping, seeds, k, found, info, dangling=None, allowed=None):
    """What the notes of `personalized_pagerank_local` say, against values with 260 digits."""
    graph = fo.CSRGraph.from_networkx(G)
    jumps = None if dangling is None else truth.distribution(graph, dangling)
    exact = dict(zip(graph, truth.pagerank(graph, damping, truth.distribution(graph, seeds), jumps), strict=True))
    if allowed is not None:
        exact = {node: exact[node] for node in allowed}
    group_of = {node: i for i, group in enumerate(info.tied) for node in group}

    def is_larger(node, other):
        same_group = node in group_of and group_of[node] == group_of.get(other)
        return same_group or exact[node] > exact[other]

    returned = list(found)
    assert len(returned) <= k
    assert all(itertools.starmap(is_larger, itertools.combinations(returned, 2)))
    for node in exact.keys() - found.keys():
        assert all(is_larger(other, node) for other in returned)
        assert len(returned) == k or exact[node] == 0
    assert len(group_of) == sum(map(len, info.tied)), "a node in two groups"
    for group in info.tied:
        assert len(group) > 1
        in_order = [node for node in returned if node in group]
        assert list(group[: len(in_order)]) == in_order != []
        assert group is info.tied[-1] or len(in_order) == len(group)
        assert max(exact[u] for u in group) - min(exact[u] for u in group) <= 1e-12 / (1 - damping)
    for node, value in found.items():
        assert abs(truth.number(value) - exact[node]) <= info.l1_error


def top_of(G, damping, seeds, k, **options):
    return fo.personalized_pagerank_local(G, damping, seeds, top_k=k, full_output=True, **options)


class TestProof:
    @given(st.data(), any_graphs, alphas(), st.integers(1, 12), st.sampled_from([1, 30, 300, ENOUGH]))
    def test_no_claim_is_wrong(self, data, G, damping, k, max_operations):
        seeds = data.draw(masses(G))
        found, info = top_of(G, damping, seeds, k, max_operations=max_operations)
        if info.top_k_proven:
            assert_claims(G, damping, seeds, k, found, info)
        else:
            assert info.tied == ()

    @given(st.data(), small_graphs(directed=True), alphas(), st.integers(1, 12), st.sampled_from([300, ENOUGH]))
    def test_no_claim_is_wrong_where_dead_ends_jump(self, data, G, damping, k, max_operations):
        seeds, dangling = data.draw(masses(G)), data.draw(masses(G))
        found, info = top_of(G, damping, seeds, k, dangling=dangling, max_operations=max_operations)
        if info.top_k_proven:
            assert_claims(G, damping, seeds, k, found, info, dangling)

    @given(st.data(), graphs_with_ties(), st.floats(0.1, 0.9), st.integers(1, 12))
    def test_everything_is_decided_up_to_ties(self, data, G, damping, k):
        seed = data.draw(nodes_of(G))
        found, info = top_of(G, damping, seed, k, max_operations=ENOUGH)
        assert info.top_k_proven
        assert_claims(G, damping, {seed: 1.0}, k, found, info)

    @given(st.data(), small_graphs(), alphas(), st.integers(1, 12))
    def test_values_are_those_of_the_dense_solution(self, data, G, damping, k):
        seed = data.draw(nodes_of(G))
        found, info = top_of(G, damping, seed, k)
        exact = oracles.pagerank(oracles.adjacency(G), oracles.to_vector({seed: 1.0}, G), damping)
        assert np.abs([found[node] - exact[list(G).index(node)] for node in found]).sum() <= info.l1_error + 1e-13

    def test_two_values_that_differ_in_the_twelfth_digit(self):
        G = nx.Graph()
        G.add_edge("seed", "a", weight=1.0)
        G.add_edge("seed", "b", weight=1.0 + 1e-12)
        G.add_edge("seed", "c", weight=1.0)
        found, info = top_of(G, 0.85, "seed", 4, max_operations=ENOUGH)
        assert list(found)[:2] == ["seed", "b"]
        assert (info.top_k_proven, [set(group) for group in info.tied]) == (True, [{"a", "c"}])

    def test_two_values_that_double_precision_cannot_tell_apart(self):
        G = nx.Graph()
        G.add_edge("seed", "a", weight=1.0)
        G.add_edge("seed", "b", weight=1.0 + 2**-52)
        found, info = top_of(G, 0.85, "seed", 3, max_operations=ENOUGH)
        assert (info.top_k_proven, [set(group) for group in info.tied]) == (True, [{"a", "b"}])
        assert next(iter(found)) == "seed"

    def test_ties_across_the_last_place_name_who_is_left_out(self):
        found, info = top_of(nx.star_graph(9), 0.85, 0, 4)
        assert info.top_k_proven
        assert len(found) == 4
        (group,) = info.tied
        assert list(group[:3]) == list(found)[1:]
        assert sorted(group) == list(range(1, 10))

    def test_ties_that_twins_prove_need_few_edges(self):
        """The leaves of one star are twins; those of two stars around the seed are tied, which takes all digits."""
        twins, ties = nx.star_graph(1000), nx.Graph([("seed", "left"), ("seed", "right")])
        ties.add_edges_from((hub, (hub, i)) for hub in ("left", "right") for i in range(500))
        (_, of_twins), (_, of_ties) = top_of(twins, 0.85, 0, 10), top_of(ties, 0.85, "seed", 10, max_operations=ENOUGH)
        assert of_twins.top_k_proven
        assert of_ties.top_k_proven
        assert of_twins.operations < 20_000 < of_ties.operations
        assert {len(group) for group in of_ties.tied} == {2, 1000}

    def test_the_budget_is_respected(self):
        G = nx.gnp_random_graph(200, 0.1, seed=1)
        edges, largest = 2 * G.number_of_edges(), max(dict(G.degree).values())
        for budget in (1, 1000, 10_000):
            found, info = top_of(G, 0.99, 0, 100, max_operations=budget)
            assert (info.top_k_proven, info.tied) == (False, ())
            assert budget <= info.operations < budget + largest
            assert 1 <= len(found) <= min(100, info.pushes)
            assert list(found.values()) == sorted(found.values(), reverse=True)
        _, info = top_of(G, 0.999, 0, 100)
        assert 20 * edges <= info.operations < 20 * edges + largest
        assert not info.top_k_proven

    def test_fewer_nodes_than_asked_for(self):
        G = nx.disjoint_union(nx.path_graph(3), nx.path_graph(4))
        for k in (5, 7, 10**30):
            found, info = top_of(G, 0.85, 0, k)
            assert list(found) == [1, 0, 2]
            assert info.top_k_proven

    def test_an_isolated_seed(self):
        G = nx.path_graph(3)
        G.add_node("isolated")
        found, info = top_of(G, 0.85, "isolated", 2)
        assert (found, info.top_k_proven) == ({"isolated": pytest.approx(1.0)}, True)

    def test_a_graph_without_edges(self):
        found, info = top_of(nx.empty_graph(100), 0.85, 0, 3)
        assert (found, info.top_k_proven) == ({0: pytest.approx(1.0)}, True)

    def test_every_node_is_a_seed_by_default(self, karate):
        found, info = fo.personalized_pagerank_local(karate, top_k=5, full_output=True)
        exact = oracles.networkx_pagerank(karate)
        assert list(found) == sorted(exact, key=exact.get, reverse=True)[:5]
        assert (info.top_k_proven, info.tied) == (True, ())

    def test_passes_run_out(self, karate):
        with pytest.raises(nx.PowerIterationFailedConvergence):
            top_of(karate, 0.85, 0, 30, max_iter=3)

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"max_operations": 0}, ValueError, "max_operations must be at least 1, got 0"),
            ({"max_operations": 1.5}, TypeError, "max_operations must be a whole number, got 1.5"),
            *(
                ({"max_operations": 5, name: 1e-6}, ValueError, "give top_k, and neither epsilon nor tol")
                for name in ("epsilon", "tol")
            ),
            ({"max_operations": 5, "top_k": None}, ValueError, "max_operations limits the proof of the k largest"),
        ],
    )
    def test_bad_arguments(self, karate, options, error, message):
        with pytest.raises(error, match=message):
            fo.personalized_pagerank_local(karate, 0.85, 0, **{"top_k": 3, **options})


class TestTwins:
    @given(st.data(), any_graphs)
    @example(None, nx.Graph([(0, 1), (1, 2), (0, 2), (2, 3)]))
    @example(None, nx.DiGraph([(0, 1), (1, 0), (2, 0), (2, 1), (0, 3)]))
    def test_exactly_those_that_swap(self, data, G):
        graph = fo.CSRGraph.from_networkx(G)
        W = oracles.adjacency(G)
        u = 0 if data is None else data.draw(st.integers(0, len(G) - 1))
        others = np.array([v for v in range(len(G)) if v != u], dtype=np.int32)
        found = dict(zip(others.tolist(), twins_of(graph, u, others).tolist(), strict=True))
        for v in others.tolist():
            names = np.arange(len(G))
            names[[u, v]] = v, u
            swaps = (W[np.ix_(names, names)] == W).all()
            if G.is_directed():  # only the edges into both matter, unless they lead to each other
                into = W[np.ix_(names, names)][:, [u, v]] == W[:, [u, v]]
                between = W[np.ix_([u, v], [u, v])].any()
                same_weights = (np.sort(W[u]) == np.sort(W[v])).all()
                swaps = into.all() and (same_weights or not between)
            assert found[v] == swaps


class TestBounds:
    @given(st.data(), any_graphs, alphas())
    def test_they_hold_for_the_exact_residual(self, data, G, damping):
        """Of the estimates as they are, in numbers without rounding errors; and they are not much wider."""
        graph = fo.CSRGraph.from_networkx(G)
        system = LinearSystem(graph, shift=0.0, slope=1 / damping)
        sources, seed_masses = distribution(graph, data.draw(masses(G)), "seeds")
        with graph.scratch(Workspace) as work:
            work.start(sources, seed_masses)
            effort = _push.Effort(10**6, 10**6, np.zeros(1, dtype=np.uint8))
            options = {"omega": system.omega, "target": 0.0, "measure": False}
            _push.push(system.view, work, effort, first_epsilon=1e-15, epsilon=1e-15, **options)
            _top.recompute(system.view, work, sources.astype(np.int32), seed_masses)
            found = _top.survey(system.view, work, NodeFilter(), 1, True)[2:4]
            nodes, estimate, _ = work.drain()
        residual, degrees = self.exact_residual(graph, damping, sources, seed_masses, nodes, estimate)
        for sign, (mass, per_degree, isolated) in zip((1, -1), found, strict=True):
            part = [max(sign * value, 0) for value in residual]
            ratios = [value / degree for value, degree in zip(part, degrees, strict=True) if degree]
            assert float(sum(part)) <= mass * (1 + 1e-9)
            assert float(max(ratios, default=0)) <= per_degree * (1 + 1e-9)
            alone = [value for value, degree in zip(part, degrees, strict=True) if not degree]
            assert max(alone, default=0) <= isolated
            assert mass <= float(sum(part)) + 1e-13 / (1 - damping)

    @staticmethod
    @truth.exactly
    def exact_residual(graph, damping, sources, seed_masses, nodes, estimate):
        W = truth.adjacency(graph)
        degrees = [sum(row, truth.ZERO) for row in W]
        residual = [truth.ZERO] * len(graph)
        for u, mass in zip(sources.tolist(), seed_masses.tolist(), strict=True):
            residual[u] += truth.number(mass)
        for u, z in zip(nodes.tolist(), estimate.tolist(), strict=True):
            residual[u] -= (degrees[u] / truth.number(damping) if degrees[u] else 1) * truth.number(z)
            for v in range(len(graph)):
                residual[v] += W[u][v] * truth.number(z)
        return residual, degrees


def test_many_ties_are_counted():
    _, info = fo.personalized_pagerank_local(nx.star_graph(50), personalization=0, top_k=3, full_output=True)
    assert "tied=<50 nodes in 1 groups>, " in repr(info)
    _, info = fo.personalized_pagerank_local(nx.star_graph(3), personalization=0, top_k=3, full_output=True)
    assert f"tied={info.tied}, " in repr(info)


SLOW_GRAPHS = (
    nx.path_graph(9),
    nx.disjoint_union(nx.lollipop_graph(4, 5), nx.star_graph(3)),
    nx.DiGraph([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2), (9, 0)]),
    nx.DiGraph([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2), (4, 5), (9, 0)]),
)


@pytest.mark.parametrize("G", SLOW_GRAPHS, ids=str)
@pytest.mark.parametrize("damping", [1 - 1e-6, 1 - 1e-9])
@pytest.mark.parametrize("seeds", [{0: 1.0}, {1: 1.0, 2: 3.0}], ids=str)
@pytest.mark.parametrize("dangling", [None, {1: 1.0}], ids=str)
def test_a_proof_with_a_damping_near_1_walks_few_edges(G, damping, seeds, dangling):
    found, info = top_of(G, damping, seeds, 3, dangling=dangling, max_operations=10**30)
    assert info.operations <= 2 * LEAST_EDGES
    if dangling is None or not G.has_node(5):  # what jumps from dead ends is pushed in turns, each of which proves less
        assert info.top_k_proven
    if info.top_k_proven:
        assert_claims(G, damping, seeds, 3, found, info, dangling)


def test_an_exact_solution_in_place_of_a_push_is_within_the_budget_of_the_caller():
    for most in (1000, LEAST_EDGES // 2, LEAST_EDGES + 1):
        _, info = top_of(nx.path_graph(9), 1 - 1e-12, {0: 1.0}, 3, max_operations=most)
        assert info.operations <= most + 2  # the last row is walked to its end
