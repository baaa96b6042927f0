"""Sweep cuts, and the communities that they find around some nodes."""

import dataclasses
import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nx_fastonl as fo
from nx_fastonl._lib.arrays import no_marks
from nx_fastonl.graph.dynamic_rows import DynamicRows
from tests import oracles
from tests.strategies import alphas, graphs_with_ties, masses, nodes_of, small_graphs
from tests.views import view_of

undirected = small_graphs() | graphs_with_ties().filter(lambda G: not G.is_directed())


def rows_of(G, nodes):
    names = list(G)
    return [names.index(node) for node in nodes]


def assert_profile(G, found):
    """Every number is that of the definition, up to rounding. No cut is 0 where an edge leaves, however light it is."""
    expected = oracles.sweep(oracles.adjacency(G), rows_of(G, found.order))
    cuts, volumes, conductances = (list(map(float, numbers)) for numbers in zip(*expected, strict=True))
    np.testing.assert_allclose(found.profile.cut, cuts, rtol=1e-14)
    np.testing.assert_allclose(found.profile.volume, volumes, rtol=1e-14)
    np.testing.assert_allclose(found.profile.conductance, conductances, rtol=1e-12)


def assert_best(found):
    """The set is the shortest prefix of the lowest conductance."""
    size = len(found.nodes)
    assert found.nodes == found.order[:size]
    assert found.conductance == found.profile.conductance.min() == found.profile.conductance[size - 1]
    assert (found.profile.conductance[: size - 1] > found.conductance).all()
    assert (found.cut, found.volume) == (found.profile.cut[size - 1], found.profile.volume[size - 1])


@st.composite
def weights_that_differ_much(draw, graphs):
    G = draw(graphs)
    weights = st.sampled_from([1e-100, 1e-30, 1e-17, 1e-5, 0.1, 1 / 3, 1, 3, 1e12, 1e17, 1e99])
    for *_, data in G.edges(data=True):
        data["weight"] = draw(weights)
    return G


class PartsOnly(np.ndarray):
    """An array that refuses to be computed with as a whole. Parts of it are plain."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        raise AssertionError(f"a pass over {len(self)} values")

    def __getitem__(self, part):
        return self.view(np.ndarray)[part]


class TestSweepCut:
    @settings(max_examples=70)
    @given(st.data(), undirected)
    def test_every_prefix(self, data, G):
        vector = data.draw(masses(G))
        found = fo.sweep_cut(G, vector)
        degrees = dict(zip(G, oracles.adjacency(G).sum(axis=1), strict=True))
        names = list(G)

        def place(node):
            return (-vector[node] / degrees[node] if degrees[node] else -np.inf, names.index(node))

        assert found.order == sorted(vector, key=place)
        assert_profile(G, found)
        assert_best(found)

    @settings(max_examples=300)
    @given(weights_that_differ_much(undirected), st.randoms())
    def test_weights_that_differ_much(self, G, random):
        vector = dict.fromkeys(G, 1.0)
        expected = fo.sweep_cut(G, vector, per_degree=False)
        assert_profile(G, expected)
        assert_best(expected)
        graph = fo.DynamicGraph(G)
        for u, v in random.sample(sorted(G.edges, key=str), len(G.edges) // 2):
            graph.remove_edge(u, v)
            G.remove_edge(u, v)
        assert_profile(G, fo.sweep_cut(graph, vector, per_degree=False))

    def test_the_weight_of_the_rest_is_small(self):
        """A difference of rounded sums has no right digit of it."""
        G = weighted((0, 1, 1e12), (1, 2, 1e-5), (2, 3, 1.0), (3, 4, 1.0))
        found = fo.sweep_cut(G, {0: 3, 1: 2, 2: 1}, per_degree=False)
        assert (found.nodes, found.cut) == ([0, 1], 1e-5)
        assert found.conductance == pytest.approx(1e-5 / (4 + 1e-5), rel=1e-15)
        G = weighted((0, 1, 1e17), (1, 2, 1.0), (2, 3, 1.0), (3, 4, 1.0))
        found = fo.sweep_cut(G, {0: 3, 1: 2, 2: 1}, per_degree=False)
        assert found.profile.cut.tolist() == [1e17, 1.0, 1.0]
        assert found.profile.conductance.tolist() == [1.0, 1 / 5, 1 / 3]

    def test_a_sum_of_many_parts(self):
        """Of an edge at each order of magnitude, all leave; then one after another no longer does."""
        weights = 2.0 ** np.arange(-330, 331, 2)
        G = weighted(*(("hub", i, weight) for i, weight in enumerate(weights.tolist())), ("a", "b", 1.0))
        found = fo.sweep_cut(G, {node: 1 / i for i, node in enumerate(G, 1)}, per_degree=False)
        assert found.order[0] == "hub"
        assert_profile(G, found)
        assert found.profile.cut[len(weights) - 1] == weights[-1]
        assert found.profile.cut[len(weights)] == 0.0

    @settings(max_examples=70)
    @given(st.data(), undirected, st.integers(1, 8))
    def test_arrays_and_sizes(self, data, G, max_size):
        vector = data.draw(masses(G))
        expected = fo.sweep_cut(G, vector, per_degree=False)
        names = list(G)
        assert expected.order == sorted(vector, key=lambda node: (-vector[node], names.index(node)))
        found = fo.sweep_cut(G, oracles.to_vector(vector, G), max_size, per_degree=False)
        assert found.order == expected.order[:max_size]
        assert found.profile.conductance.tolist() == expected.profile.conductance[:max_size].tolist()
        assert_best(found)

    @settings(max_examples=70)
    @given(st.data(), small_graphs())
    def test_equals_networkx(self, data, G):
        G.remove_edges_from(list(nx.selfloop_edges(G)))
        vector = data.draw(masses(G))
        found = fo.sweep_cut(G, vector)
        for size, phi in enumerate(found.profile.conductance.tolist(), 1):
            S, T = found.order[:size], found.order[size:] + [node for node in G if node not in vector]
            if nx.volume(G, S, weight="weight") > 0 and nx.volume(G, T, weight="weight") > 1e-9:
                assert phi == pytest.approx(nx.conductance(G, S, T, weight="weight"), abs=1e-6)

    def test_self_loops_count_once(self):
        G = nx.Graph([(0, 0), (0, 1), (1, 2), (2, 3), (3, 3)])
        found = fo.sweep_cut(G, {0: 4, 1: 3, 2: 2, 3: 1}, per_degree=False)
        assert found.profile.volume.tolist() == [2, 4, 6, 8]
        assert (found.nodes, found.conductance) == ([0, 1], 0.25)

    def test_zero_is_zero(self):
        """Sums of weights are rounded; a component has no cut all the same."""
        G = nx.Graph()
        G.add_weighted_edges_from([(0, 1, 0.1), (1, 2, 0.2), (2, 0, 0.3), (3, 4, 0.7)])
        found = fo.sweep_cut(G, dict.fromkeys(range(5), 1.0), per_degree=False)
        assert (found.nodes, found.conductance, found.cut) == ([0, 1, 2], 0.0, 0.0)
        assert found.profile.conductance[-1] == 1.0  # all nodes: no cut

    def test_nodes_without_edges(self):
        G = nx.path_graph(4)
        G.add_nodes_from(["a", "b"])
        found = fo.sweep_cut(G, {"b": 1e-3, 0: 1.0, 1: 0.1, "a": 1e-3})
        assert found.order == ["a", "b", 0, 1]
        assert found.profile.conductance[:3].tolist() == [1.0, 1.0, 1.0]
        assert found.conductance == pytest.approx(1 / 3)

    def test_errors(self, karate):
        with pytest.raises(nx.NetworkXNotImplemented, match="conductance is that of an undirected graph"):
            fo.sweep_cut(nx.DiGraph([(0, 1)]), {0: 1.0})
        with pytest.raises(nx.NodeNotFound, match="node 99 is not in the graph"):
            fo.sweep_cut(karate, {99: 1.0, 0: 1.0})
        assert fo.sweep_cut(karate, {99: 1.0, 0: 1.0}, unknown="skip").order == [0]
        with pytest.raises(ValueError, match="vector gives node 0 the value -1"):
            fo.sweep_cut(karate, {0: -1})
        with pytest.raises(ValueError, match="vector sums to zero"):
            fo.sweep_cut(karate, np.zeros(34))
        with pytest.raises(ValueError, match="max_size must be at least 1, got 0"):
            fo.sweep_cut(karate, {0: 1}, 0)
        with pytest.raises(TypeError, match="per_degree must be True or False, got 'degree'"):
            fo.sweep_cut(karate, {0: 1}, per_degree="degree")

    def test_what_it_found_cannot_change(self, karate):
        found = fo.sweep_cut(karate, {0: 2, 1: 1})
        with pytest.raises(ValueError, match="read-only"):
            found.profile.cut[0] = 0.0
        assert repr(found) == "SweepCut(2 nodes, 2 swept, conductance=0.8873)"
        assert len(found) == len(found.nodes) == 2

    def test_its_view(self, karate):
        found = fo.sweep_cut(karate, {0: 2, 1: 1})
        shown = view_of(found)
        assert "2 nodes, 2 swept, conductance=0.8873" in shown.texts
        cut, volume = f"{found.cut:.4g}", f"{found.volume:.4g}"
        assert shown.facts == {"nodes": "0, 1", "swept": "2", "conductance": "0.8873", "cut": cut, "volume": volume}
        community = fo.local_community(karate, 0, epsilon=1e-3)
        assert view_of(community).facts["operations"] == str(community.operations)
        assert view_of(community).facts["epsilon"] == "0.001"


class TestLocalCommunity:
    @settings(max_examples=70)
    @given(st.data(), undirected, alphas(), st.sampled_from([None, 1e-1, 1e-3, 1e-6]), st.none() | st.integers(1, 6))
    def test_the_best_of_its_sweep(self, data, G, alpha, epsilon, max_size):
        seeds = data.draw(masses(G))
        found = fo.local_community(G, seeds, alpha, epsilon, max_size)
        assert_profile(G, found)
        assert_best(found)
        assert len(found.order) <= (max_size or len(G))
        half = oracles.adjacency(G).sum() / 2
        assert len(found.order) == 1 or found.profile.volume[-1] <= half * (1 + 1e-12)
        if len(seeds) == 1:
            assert found.nodes[0] == next(iter(seeds))

    @settings(max_examples=70)
    @given(st.data(), undirected, alphas())
    def test_the_sweep_of_personalized_pagerank(self, data, G, alpha):
        """Where the order is clear, it is that of the exact vector."""
        seed = data.draw(nodes_of(G))
        found = fo.local_community(G, seed, alpha, epsilon=1e-14)
        W = oracles.adjacency(G)
        exact = oracles.pagerank(W, oracles.to_vector({seed: 1.0}, G), alpha)
        scores = exact[rows_of(G, found.order)] / np.maximum(W.sum(axis=1)[rows_of(G, found.order)], 1e-300)
        assert (np.diff(scores) <= 1e-9 * scores[0]).all()

    @settings(max_examples=70)
    @given(st.data(), undirected)
    def test_epsilon_falls_and_the_best_wins(self, data, G):
        seed = data.draw(nodes_of(G))
        found = fo.local_community(G, seed)
        assert found.epsilon in (1e-3, 1e-4, 1e-5)
        first = fo.local_community(G, seed, epsilon=1e-3)
        assert found.conductance <= first.conductance
        assert (found.epsilon == 1e-3) == (found.conductance == first.conductance)

    def test_planted_communities_are_found(self):
        G = nx.connected_caveman_graph(40, 12)
        for seed in range(0, 480, 37):
            found = fo.local_community(G, seed, max_size=20)  # several caves in a row would be better still
            assert sorted(found.nodes) == list(range(seed // 12 * 12, seed // 12 * 12 + 12))

    def test_a_small_component_is_the_community(self):
        G = nx.disjoint_union(nx.path_graph(4), nx.complete_graph(30))
        found = fo.local_community(G, 1)
        assert (sorted(found.nodes), found.conductance, found.cut) == ([0, 1, 2, 3], 0.0, 0.0)
        within = fo.local_community(G, 10)  # its component has more than half of all edges
        assert within.nodes[0] == 10
        assert within.conductance > 0.0

    def test_isolated_seeds(self):
        G = nx.connected_caveman_graph(5, 6)
        G.add_node("isolated")
        found = fo.local_community(G, "isolated")
        assert (found.nodes, found.conductance, found.volume) == (["isolated"], 1.0, 0.0)
        both = fo.local_community(G, ["isolated", 7])
        assert both.order[0] == "isolated"
        assert set(both.nodes) == {"isolated", *range(6, 12)}

    def test_tiny_graphs(self):
        for G in (nx.empty_graph(1), nx.empty_graph(3), nx.Graph([(0, 0)]), nx.path_graph(2), nx.star_graph(3)):
            found = fo.local_community(G, 0)
            assert (found.nodes, found.conductance) == ([0], 1.0)

    def test_graphs_that_change_and_memory_left_clean(self):
        G = nx.connected_caveman_graph(10, 8)
        graph = fo.DynamicGraph(G)
        expected = fo.local_community(G, 3)
        for _ in range(2):
            found = fo.local_community(graph, 3)
            assert (found.nodes, found.conductance) == (expected.nodes, expected.conductance)
            with graph.rows.scratch(no_marks) as marks:
                assert not marks.any()
        graph.remove_node(5)
        graph.add_edge("new", 3, weight=2.0)
        now = fo.local_community(graph, "new")
        assert_profile(graph.freeze().to_networkx(), now)
        assert "new" in now.nodes
        assert 5 not in now.order

    def test_the_work_is_local(self):
        """The same community in a small graph and in one that is a hundred times as large takes the same work."""
        few, many = (fo.local_community(nx.connected_caveman_graph(n, 10), 205, epsilon=1e-3) for n in (50, 5000))
        assert many.operations == few.operations
        assert many.order == few.order

    def test_no_pass_over_all_nodes_of_a_graph_that_changes(self, monkeypatch):
        graph = fo.DynamicGraph(nx.connected_caveman_graph(50, 10))
        graph.add_edge(0, 1, weight=2.5)
        expected = fo.local_community(graph.freeze(), 205)
        degrees = DynamicRows.degrees.fget
        monkeypatch.setattr(DynamicRows, "degrees", property(lambda rows: degrees(rows).view(PartsOnly)))
        with pytest.raises(AssertionError, match="a pass over 500 values"):
            graph.rows.degrees.sum()
        for _ in range(2):
            found = fo.local_community(graph, 205)
            assert (found.nodes, found.conductance) == (expected.nodes, pytest.approx(expected.conductance, rel=1e-14))
            assert fo.sweep_cut(graph, {3: 1.0, 4: 1.0}).order == [3, 4]
            graph.add_edge(0, 1, weight=3.5)

    def test_errors(self, karate):
        with pytest.raises(nx.NetworkXNotImplemented, match="conductance is that of an undirected graph"):
            fo.local_community(nx.DiGraph([(0, 1)]), 0)
        with pytest.raises(nx.NodeNotFound, match="node 99 is not in the graph"):
            fo.local_community(karate, [0, 99])
        assert fo.local_community(karate, [0, 99], unknown="skip").nodes[0] == 0
        for options, message in (
            ({"alpha": 1.0}, "alpha must lie strictly between 0 and 1"),
            ({"epsilon": 0.0}, "epsilon must be a positive number"),
            ({"max_size": 0}, "max_size must be at least 1"),
            ({"unknown": "drop"}, "unknown, for nodes that are not in the graph"),
        ):
            with pytest.raises(ValueError, match=message):
                fo.local_community(karate, 0, **options)
        with pytest.raises(nx.NetworkXPointlessConcept):
            fo.local_community(nx.Graph(), 0)
        with pytest.raises(ValueError, match="seeds is an array of int64 with an entry for each of the 34 nodes"):
            fo.local_community(karate, np.arange(34))


def test_a_community_is_a_collection_of_nodes():
    found = fo.local_community(nx.barbell_graph(10, 0), 0)
    assert set(found) == set(range(10))
    assert 0 in found
    assert 10 not in found
    assert [0] not in found
    again = pickle.loads(pickle.dumps(found))
    assert vars(again).keys() == {field.name for field in dataclasses.fields(found)}
    assert 9 in again


class CountedName:
    """A node that counts how often it was compared."""

    compared = 0

    def __init__(self, number):
        self.number = number

    def __hash__(self):
        return self.number

    def __eq__(self, other):
        CountedName.compared += 1
        return self.number == other.number


def test_membership_does_not_walk_the_nodes():
    names = [CountedName(i) for i in range(1000)]
    found = fo.SweepCut(names, 0.5, 1.0, 2.0, names, fo.SweepProfile(*(np.ones(1000) for _ in range(3))))
    assert all(CountedName(i) in found for i in range(1000))
    assert CountedName.compared <= 3000


def weighted(*edges):
    G = nx.Graph()
    G.add_weighted_edges_from(edges)
    return G


@pytest.mark.parametrize(
    ("G", "seeds"),
    [
        (
            weighted((0, 1, 5.4869), (0, 2, 0.0094), (0, 3, 0.0002), (1, 2, 1.2775), (1, 3, 0.0003), (2, 3, 0.082)),
            [0],
        ),
        (
            weighted((0, 1, 1.578), (0, 2, 0.0049), (0, 3, 0.0455), (0, 4, 0.0248), (1, 3, 0.0001), (1, 4, 0.0006)),
            [0, 1],
        ),
        (weighted(("a", "b", 4.56), ("a", "c", 4e-4)), ["a", "b"]),
    ],
)
def test_a_seed_comes_first(G, seeds):
    """Also where the push leaves so much that another node has more per degree."""
    for epsilon in (None, 0.05):
        assert fo.local_community(G, seeds, 0.99, epsilon=epsilon).order[0] in seeds


@pytest.mark.parametrize("loop", [None, 0.3])
@pytest.mark.parametrize(
    "weights", [(0.1, 0.1, 0.7), (0.1, 0.7, 0.1), (0.7, 0.1, 0.1), (0.1, 0.2, 0.3), (0.6, 0.7, 0.1)]
)
def test_rounding_makes_no_cut(weights, loop):
    """Sums of these weights are rounded: a component has no cut, nor have all nodes; and no cut is below zero."""
    a, b, c = weights
    G = weighted((0, 1, a), (1, 2, b), (2, 0, c), (3, 4, 0.7), (4, 5, a), (5, 3, b))
    if loop is not None:
        G.add_edge(2, 2, weight=loop)
    found = fo.sweep_cut(G, dict.fromkeys(G, 1.0), per_degree=False)
    assert (found.order, found.nodes) == ([0, 1, 2, 3, 4, 5], [0, 1, 2])
    assert (found.cut, found.conductance, found.profile.cut[-1], found.profile.conductance[-1]) == (0.0, 0.0, 0.0, 1.0)
    G.add_edge(2, 3, weight=1e-30)
    found = fo.sweep_cut(G, dict.fromkeys(G, 1.0), per_degree=False)
    assert_profile(G, found)
    assert (found.nodes, found.cut) == ([0, 1, 2], 1e-30)
    assert 0.0 < found.conductance < 1e-29
