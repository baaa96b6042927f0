"""Answers of some nodes only: candidates, without those that are excluded."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nx_fastonl as fo
from nx_fastonl._lib.arrays import no_marks
from tests import oracles
from tests.push.test_top import ENOUGH, any_graphs, assert_claims, top_of
from tests.strategies import alphas, masses, nodes_of, small_graphs

GRAPHS = small_graphs() | small_graphs(directed=True)


@st.composite
def restrictions(draw, G):
    """Options that leave nodes out of an answer."""
    some = st.none() | st.lists(nodes_of(G), max_size=len(G))
    return {"candidates": draw(some), "exclude": draw(some), "exclude_neighbors": draw(st.booleans())}


def allowed_nodes(G, seeds, candidates, exclude, exclude_neighbors):
    """The nodes that may be in an answer, in the order of the graph."""
    allowed = set(G if candidates is None else candidates) - set(exclude or ())
    if exclude_neighbors:
        allowed -= set(seeds).union(*(G[seed] for seed in seeds))
    return [node for node in G if node in allowed]


def exact_values(G, damping, seeds):
    distribution = oracles.to_vector(seeds, G) / sum(seeds.values())
    return dict(zip(G, oracles.pagerank(oracles.adjacency(G), distribution, damping), strict=True))


class TestProof:
    @settings(max_examples=70)
    @given(st.data(), any_graphs, alphas(), st.integers(1, 12), st.sampled_from([1, 30, 300, ENOUGH]))
    def test_no_claim_is_wrong(self, data, G, damping, k, max_operations):
        seeds, options = data.draw(masses(G)), data.draw(restrictions(G))
        found, info = top_of(G, damping, seeds, k, max_operations=max_operations, **options)
        allowed = allowed_nodes(G, seeds, **options)
        assert set(found) <= set(allowed)
        if info.top_k_proven:
            assert_claims(G, damping, seeds, k, found, info, allowed=allowed)
        else:
            assert info.tied == ()

    @settings(max_examples=70)
    @given(st.data(), small_graphs(directed=True), alphas(), st.integers(1, 12), st.sampled_from([300, ENOUGH]))
    def test_no_claim_is_wrong_where_dead_ends_jump(self, data, G, damping, k, max_operations):
        seeds, dangling, options = data.draw(masses(G)), data.draw(masses(G)), data.draw(restrictions(G))
        found, info = top_of(G, damping, seeds, k, dangling=dangling, max_operations=max_operations, **options)
        if info.top_k_proven:
            assert_claims(G, damping, seeds, k, found, info, dangling, allowed_nodes(G, seeds, **options))

    @settings(max_examples=70)
    @given(st.data(), small_graphs(), st.floats(0.1, 0.9), st.integers(1, 12))
    def test_they_are_the_largest_of_the_dense_solution(self, data, G, damping, k):
        seed, options = data.draw(nodes_of(G)), data.draw(restrictions(G))
        found, info = top_of(G, damping, seed, k, max_operations=ENOUGH, **options)
        exact = exact_values(G, damping, {seed: 1.0})
        reached = nx.node_connected_component(G, seed)
        values = sorted((exact[node] for node in allowed_nodes(G, [seed], **options) if node in reached), reverse=True)
        assert info.top_k_proven
        assert len(found) == min(k, len(values))
        np.testing.assert_allclose([exact[node] for node in found], values[:k], atol=1e-11)

    def test_other_nodes_need_not_be_told_apart(self):
        """Ties among nodes that are no candidates take all digits where all nodes are."""
        G = nx.Graph([("seed", "left"), ("seed", "right"), ("seed", "near"), ("near", "far")])
        G.add_edges_from((hub, (hub, i)) for hub in ("left", "right") for i in range(500))
        _, of_all = top_of(G, 0.85, "seed", 4, max_operations=ENOUGH)
        found, of_two = top_of(G, 0.85, "seed", 2, candidates=["far", "near"])
        assert (list(found), of_two.top_k_proven) == (["near", "far"], True)
        assert of_two.operations < of_all.operations / 2

    def test_all_candidates_touched_is_enough(self):
        """Then no node that was not touched is a rival."""
        G = nx.barabasi_albert_graph(2000, 3, seed=1)
        near = next(iter(G[0]))
        found, info = top_of(G, 0.85, 0, 5, candidates=[near, 0])
        assert (sorted(found), info.top_k_proven) == (sorted([near, 0]), True)
        _, of_all = top_of(G, 0.85, 0, 2)
        assert info.operations <= of_all.operations
        found, info = top_of(nx.star_graph(6), 0.85, 0, 2, candidates=[1, 3, 4], max_operations=10)
        assert (list(found), info.top_k_proven) == ([1, 3], True)

    def test_no_candidate_is_left(self, karate):
        for options in ({"candidates": []}, {"exclude": list(karate)}, {"candidates": [3], "exclude": [3]}):
            found, info = top_of(karate, 0.85, 0, 3, **options)
            assert (found, info.top_k_proven, info.tied) == ({}, True, ())
            assert fo.ppr_matrix(karate, top_k=3, **options).nnz == 0

    @pytest.mark.parametrize("options", [{"candidates": [0, 1, 2], "exclude": [1]}, {"exclude": [3]}])
    def test_all_that_are_left_are_proven(self, options):
        """Then there is no rival, however large errors are."""
        G = nx.path_graph(4)
        left = [node for node in options.get("candidates", G) if node not in options["exclude"]]
        for accuracy in ({"tol": 0.5}, {"epsilon": 1e-4}):
            found, info = top_of(G, 0.85, 0, 4, **accuracy, **options)
            assert (sorted(found), info.top_k_proven) == (left, True)

    def test_nodes_that_are_not_reached_are_rivals(self):
        """With this epsilon only the seeds are pushed, and node 2 has more than one of them."""
        found, info = top_of(nx.Graph([(0, 2), (1, 2)]), 0.5, 0, 1, epsilon=0.3, candidates=[1, 2])
        assert (found, info.top_k_proven) == ({}, False)
        G = nx.Graph([(0, 2), (1, 2)])
        G.add_node(3)
        found, info = top_of(G, 0.5, {0: 1.0, 3: 0.3}, 2, epsilon=0.3)
        assert (list(found), info.top_k_proven) == ([0, 3], False)

    def test_candidates_that_are_not_reached(self):
        G = nx.disjoint_union(nx.path_graph(3), nx.path_graph(4))
        found, info = top_of(G, 0.85, 0, 3, candidates=[2, 4, 5])
        assert (list(found), info.top_k_proven) == ([2], True)

    @pytest.mark.parametrize(("G", "candidate"), [(nx.path_graph(40), 20), (nx.star_graph(30), 3)])
    def test_a_candidate_that_no_mass_has_reached_is_not_left_out_for_certain(self, G, candidate):
        found, info = fo.personalized_pagerank_local(
            G, personalization=0, top_k=1, candidates=[candidate], max_operations=5, full_output=True
        )
        assert info.top_k_proven == (list(found) == [candidate])


class TestFilters:
    @settings(max_examples=70)
    @given(st.data(), GRAPHS, alphas(), st.sampled_from([{"epsilon": 1e-2}, {"epsilon": 1e-6}, {"tol": 1e-3}]))
    def test_the_same_values_without_the_others(self, data, G, damping, accuracy):
        seeds, options = data.draw(masses(G)), data.draw(restrictions(G))
        whole = fo.personalized_pagerank_local(G, damping, seeds, **accuracy)
        expected = {node: whole[node] for node in allowed_nodes(G, seeds, **options) if node in whole}
        assert fo.personalized_pagerank_local(G, damping, seeds, **accuracy, **options) == expected
        array = fo.personalized_pagerank_local(G, damping, seeds, as_array=True, **accuracy, **options)
        assert array.tolist() == [expected.get(node, 0.0) for node in G]
        k = data.draw(st.integers(1, 6))
        top = fo.personalized_pagerank_local(G, damping, seeds, top_k=k, **accuracy, **options)
        assert list(top.values()) == sorted(expected.values(), reverse=True)[:k]
        assert top.items() <= expected.items()

    @settings(max_examples=70)
    @given(st.data(), GRAPHS, alphas(), st.integers(1, 8), st.sampled_from([{"epsilon": 1e-3}, {"tol": 1e-6}]))
    def test_top_k_is_right_where_it_is_proven(self, data, G, damping, k, accuracy):
        seeds, options = data.draw(masses(G)), data.draw(restrictions(G))
        top, info = fo.personalized_pagerank_local(G, damping, seeds, top_k=k, full_output=True, **accuracy, **options)
        if info.top_k_proven:
            exact = exact_values(G, damping, seeds)
            allowed = allowed_nodes(G, seeds, **options)
            assert len(top) == min(k, len(allowed))
            kth = min((exact[node] for node in top), default=0.0)
            assert all(exact[node] <= kth + 1e-12 for node in allowed if node not in top)

    @settings(max_examples=70)
    @given(st.data(), GRAPHS, st.sampled_from([None, 1, 3]), st.sampled_from([{"epsilon": 1e-4}, {"tol": 1e-3}]))
    def test_rows(self, data, G, k, accuracy):
        options = data.draw(restrictions(G))
        whole = fo.ppr_matrix(G, **accuracy)
        found = fo.ppr_matrix(G, top_k=k, **accuracy, **options)
        position = {node: i for i, node in enumerate(G)}
        for i, source in enumerate(G):
            row = dict(zip(whole[[i]].indices.tolist(), whole[[i]].data.tolist(), strict=True))
            columns = [position[node] for node in allowed_nodes(G, [source], **options)]
            largest = sorted((column for column in columns if column in row), key=lambda c: (-row[c], c))[:k]
            kept = found[[i]]
            assert kept.indices.tolist() == sorted(largest)
            assert kept.data.tolist() == [row[column] for column in sorted(largest)]

    def test_nothing_is_left_behind(self, karate):
        """The next answer is that of a graph which nobody has asked anything yet."""
        graph = fo.CSRGraph.from_networkx(karate)
        options = {"candidates": range(3, 20), "exclude": [7, 30], "exclude_neighbors": True}
        for _ in range(3):
            fo.personalized_pagerank_local(graph, personalization=0, top_k=4, **options)
            fo.personalized_pagerank_local(graph, personalization=0, exclude=[5])
            assert fo.personalized_pagerank_local(graph, personalization=0, top_k=4) == (
                fo.personalized_pagerank_local(karate.copy(), personalization=0, top_k=4)
            )
            with graph.scratch(no_marks) as marks:
                assert not marks.any()

    def test_ways_to_name_nodes(self, karate):
        expected = fo.personalized_pagerank_local(karate, personalization=0, candidates=[4, 5, 6])
        some = nx.subgraph(karate, [4, 5, 6])
        for candidates in ({4, 5, 6}, np.array([6, 5, 4, 4]), range(4, 7), some, some.nodes, iter([5, 6, 4])):
            assert fo.personalized_pagerank_local(karate, personalization=0, candidates=candidates) == expected
        assert sorted(expected) == [4, 5, 6]

    @pytest.mark.parametrize("nodes", [None, range(10, 70, 10), [5, 3, 9, 1, 7, 20], [3, 5, 7, 9, 20, 1 << 40]])
    def test_arrays_of_integers(self, nodes):
        """They are found all at once where names ascend."""
        graph = fo.CSRGraph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 5], nodes=nodes)
        names = list(graph.nodes)
        for some in ([names[4], names[1]], [names[5]] * 3, names):
            found = fo.personalized_pagerank_local(graph, 0.9, names[0], candidates=np.array(some))
            assert found == fo.personalized_pagerank_local(graph, 0.9, names[0], candidates=some)
            assert sorted(found) == sorted(set(some))
        for wrong in (-1, 4, 1 << 50, 6):
            if wrong not in names:
                with pytest.raises(nx.NodeNotFound, match=f"node {wrong} is not in the graph"):
                    fo.personalized_pagerank_local(graph, 0.9, names[0], candidates=np.array([names[2], wrong]))

    def test_graphs_that_change(self):
        graph = fo.DynamicGraph(nx.path_graph(6))
        graph.remove_node(1)
        graph.add_edge(0, "new")
        found = fo.personalized_pagerank_local(graph, personalization=0, exclude_neighbors=True)
        assert found == {}
        graph.add_edge("new", 3)
        assert sorted(fo.personalized_pagerank_local(graph, personalization=0, exclude_neighbors=True)) == [2, 3, 4, 5]
        top = fo.personalized_pagerank_local(graph, personalization=0, top_k=2, candidates=["new", 3, 4])
        assert list(top) == ["new", 3]


class TestErrors:
    @pytest.mark.parametrize("name", ["candidates", "exclude"])
    def test_names(self, karate, name):
        calls = [
            lambda **options: fo.personalized_pagerank_local(karate, personalization=0, **options),
            lambda **options: fo.ppr_matrix(karate, [0], **options),
        ]
        for call, top_k in itertools.product(calls, (None, 3)):
            with pytest.raises(nx.NodeNotFound, match="node 'nobody' is not in the graph"):
                call(top_k=top_k, **{name: [1, "nobody"]})
            with pytest.raises(TypeError, match=rf"{name} must be a collection of nodes; for one node pass \[7\]"):
                call(top_k=top_k, **{name: 7})
            with pytest.raises(ValueError, match=rf"{name} must be a collection of nodes, got an array of bool"):
                call(top_k=top_k, **{name: np.ones(34, dtype=bool)})

    def test_unknown_nodes_can_be_skipped(self, karate):
        options = {"candidates": ["nobody", 1, 2], "exclude": ["nobody", 1], "unknown": "skip"}
        assert list(fo.personalized_pagerank_local(karate, personalization=0, top_k=3, **options)) == [2]

    def test_exclude_neighbors(self, karate):
        with pytest.raises(ValueError, match="exclude_neighbors=True leaves no node where all are seeds"):
            fo.personalized_pagerank_local(karate, top_k=3, exclude_neighbors=True)
        for call in (fo.personalized_pagerank_local, fo.ppr_matrix):
            with pytest.raises(TypeError, match=r"exclude_neighbors must be True or False, got \[3\]"):
                call(karate, exclude_neighbors=[3])


def test_an_iterator_of_the_caller_may_change_the_graph():
    """It is read before the graph is: while a graph is read, no caller's code runs."""
    graph = fo.DynamicGraph(nx.path_graph(3))

    def joining(node):
        graph.add_edge(2, node)
        yield node

    found = fo.personalized_pagerank_local(graph, personalization=joining(3), candidates=joining(4), top_k=1)
    assert list(found) == [4]
    assert 5 in fo.local_community(graph, joining(5)).nodes
