from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import nx_fastonl as fo
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.learners import voters
from nx_fastonl.learners._history import LabelHistory
from nx_fastonl.learners.voters import WeightedMajority, WeightedTree, random_line, random_tree
from tests import oracles
from tests.strategies import small_graphs


@st.composite
def labelled_graphs(draw):
    G = draw(small_graphs())
    order = draw(st.permutations(range(len(G))))
    return G, [(u, draw(st.integers(0, 2))) for u in order]


@given(labelled_graphs())
def test_weighted_majority(case):
    G, stream = case
    learner = WeightedMajority(CSRGraph.from_networkx(G), LabelHistory(len(G), 3))
    for (u, y), votes in zip(stream, oracles.weighted_majority(oracles.adjacency(G), stream, 3), strict=True):
        assert_allclose(learner.votes(u), votes, rtol=1e-12)
        learner.learn(u, y)


@given(small_graphs(), st.integers(0, 2**64 - 1))
def test_random_tree_spans_every_component(G, seed):
    graph = CSRGraph.from_networkx(G)
    parents, weights = random_tree(graph, seed)
    W = oracles.adjacency(G)
    forest = nx.Graph()
    forest.add_nodes_from(range(len(G)))
    for u, parent in enumerate(parents):
        if parent >= 0:
            assert weights[u] == W[u, parent] > 0
            forest.add_edge(u, int(parent))
    assert nx.is_forest(forest)
    numbers = {node: i for i, node in enumerate(G)}
    components = {frozenset(numbers[node] for node in component) for component in nx.connected_components(G)}
    assert {frozenset(component) for component in nx.connected_components(forest)} == components


def test_trees_are_drawn_by_the_product_of_their_weights():
    G = nx.Graph()
    G.add_weighted_edges_from([(0, 1, 1.0), (1, 2, 3.0), (2, 0, 2.0), (2, 3, 0.5), (3, 0, 4.0)])
    graph = CSRGraph.from_networkx(G)
    likelihoods = {}
    for edges in nx.SpanningTreeIterator(G):
        tree = frozenset(frozenset(edge) for edge in edges.edges)
        likelihoods[tree] = np.prod([G.edges[tuple(edge)]["weight"] for edge in tree])
    total = sum(likelihoods.values())
    draws = 4000
    found = Counter()
    for seed in range(draws):
        parents, _ = random_tree(graph, seed)
        found[frozenset(frozenset((u, int(p))) for u, p in enumerate(parents) if p >= 0)] += 1
    assert set(found) <= set(likelihoods)
    expected = {tree: draws * likelihood / total for tree, likelihood in likelihoods.items()}
    chi_squared = sum((found[tree] - count) ** 2 / count for tree, count in expected.items())
    assert chi_squared < 30  # 7 degrees of freedom: one in 10,000 is above


def test_unweighted_trees_are_uniform():
    graph = CSRGraph.from_networkx(nx.complete_graph(4))
    found = Counter(tuple(random_tree(graph, seed)[0]) for seed in range(3200))
    assert len(found) == 16
    assert sum((count - 200) ** 2 / 200 for count in found.values()) < 45  # 15 degrees of freedom


@given(small_graphs(), st.integers(0, 2**63))
def test_line_is_a_walk_over_the_tree(G, seed):
    graph = CSRGraph.from_networkx(G)
    expected = oracles.tree_on_a_line(*random_tree(graph, seed))
    order, positions, distances, begins = random_line(graph, seed)
    assert sorted(order) == list(range(len(G)))
    assert (order[positions] == np.arange(len(G))).all()
    at, tree = distances[positions], begins[positions]
    found = np.where(tree[:, None] == tree, np.abs(at[:, None] - at), np.inf)
    assert_allclose(found, expected, rtol=1e-9)


@settings(max_examples=100)
@given(labelled_graphs(), st.integers(0, 1000))
def test_weighted_tree_votes_for_the_nearest(case, seed):
    G, stream = case
    learner = WeightedTree(CSRGraph.from_networkx(G), LabelHistory(len(G), 3), 3, seed)
    lines = zip(learner._positions, learner._distances, learner._begins, strict=True)
    distances = []
    for positions, along, begins in lines:
        at, tree = along[positions], begins[positions]
        distances.append(np.where(tree[:, None] == tree, np.abs(at[:, None] - at), np.inf))
    seen = {}
    for t, y in stream:
        votes = np.zeros(3)
        for distance in distances:
            nearest = min((distance[t, u] for u in seen), default=np.inf)
            if nearest < np.inf:
                tied = [u for u in seen if distance[t, u] == nearest]
                for u in tied:
                    votes[seen[u]] += 1 / len(tied)
        assert_allclose(learner.votes(t), votes)
        learner.learn(t, y)
        seen[t] = y
        own = learner.votes(t)
        assert own[y] == 3  # nothing is nearer than the node itself


def test_weights_that_no_walk_gets_across_are_an_error(monkeypatch):
    monkeypatch.setattr(voters, "MAX_STEPS_PER_EDGE", 1)
    G = nx.Graph()
    G.add_edge(0, 1, weight=1e90)
    G.add_edge(1, 2, weight=1e-90)
    G.add_edge(2, 3, weight=1e90)
    with pytest.raises(ValueError, match=r"no spanning tree after .* random steps: the weights"):
        random_tree(CSRGraph.from_networkx(nx.relabel_nodes(G, {0: 3, 3: 0})), 0)


# Mean accuracies of several orders, and by how much they may differ.
@pytest.mark.parametrize(
    ("method", "name", "accuracy", "off"),
    [
        ("weighted-majority", "citeseer", 0.574, 0.01),
        ("weighted-majority", "cora", 0.644, 0.01),
        ("weighted-majority", "pubmed", 0.652, 0.01),
        ("weighted-majority", "mnist", 0.740, 0.01),
        ("weighted-majority", "blogcatalog", 0.240, 0.01),
        ("weighted-tree", "political", 0.924, 0.015),
        ("weighted-tree", "citeseer", 0.695, 0.015),
        ("weighted-tree", "cora", 0.791, 0.015),
        ("weighted-tree", "pubmed", 0.774, 0.015),
    ],
)
def test_accuracy_on_real_graphs(real_graph, real_labels, method, name, accuracy, off):
    graph, labels = real_graph(name), real_labels(name)
    orders = 10 if len(labels) < 5000 else 3
    found = []
    for seed in range(orders):
        order = np.random.default_rng(seed).permutation(len(labels))
        stream = [(int(u), int(labels[u])) for u in order]
        found.append(fo.online_node_labeling(graph, stream, method=method, seed=seed).accuracy)
    assert np.mean(found) == pytest.approx(accuracy, abs=off)
