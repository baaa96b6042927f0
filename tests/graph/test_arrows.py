"""A directed graph as an undirected one, and which way each edge of that points."""

import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import nx_fastonl as fo


@st.composite
def adjacencies(draw, max_nodes=8):
    """Adjacency matrices of directed graphs: loops, dead ends, isolated nodes; weighted or not."""
    n = draw(st.integers(1, max_nodes))
    weights = draw(st.sampled_from([[0, 1], [0, 0, 1, 2.5, 7]]))
    return np.array(draw(st.lists(st.lists(st.sampled_from(weights), min_size=n, max_size=n), min_size=n, max_size=n)))


def directed(W):
    rows, columns = np.nonzero(W)
    return fo.CSRGraph.from_edges(rows, columns, W[rows, columns], n=len(W), directed=True)


def dense(graph, values):
    """What is parallel to the indices of a graph, as a matrix."""
    matrix = np.zeros((len(graph), len(graph)))
    matrix[np.repeat(np.arange(len(graph)), np.diff(graph.indptr)), graph.indices] = values
    return matrix


@given(adjacencies())
def test_arrows_are_those_of_the_matrix(W):
    arrows = directed(W).arrows
    graph = arrows.graph
    assert not graph.is_directed()
    assert_array_equal(graph.to_scipy().toarray(), W + W.T)
    assert_array_equal(dense(graph, arrows.codes), (W > 0) + 2 * (W.T > 0))
    if len(arrows.out_weights):
        assert_array_equal(dense(graph, arrows.out_weights), W)
        assert_array_equal(dense(graph, arrows.in_weights), W.T)
    else:
        assert set(np.unique(W)) <= {0, 1}
    assert arrows.mean_weight == pytest.approx(W[W > 0].mean() if W.any() else 1.0)


@settings(max_examples=50, deadline=None)
@given(adjacencies())
def test_arrows_survive_pickling(W):
    arrows = directed(W).arrows
    again = pickle.loads(pickle.dumps(arrows))
    assert_array_equal(again.codes, arrows.codes)
    assert_array_equal(again.graph.to_scipy().toarray(), W + W.T)
    assert again.mean_weight == arrows.mean_weight


def test_damaged_arrows_are_refused():
    restore, (graph, codes, *weights) = directed(np.array([[0, 1], [0, 0]])).arrows.__reduce__()
    with pytest.raises(ValueError, match="its arrows do not fit together"):
        restore(graph, codes[:-1], *weights)
    with pytest.raises(ValueError, match="its arrows do not fit together"):
        restore(graph, codes, weights[0], np.ones(1))


def test_both_arcs_between_two_nodes_keep_the_rows_of_the_undirected_graph():
    """In the same order: so that whatever is computed on them is the same."""
    G = nx.karate_club_graph()
    undirected, arrows = fo.CSRGraph.from_networkx(G), fo.CSRGraph.from_networkx(G.to_directed()).arrows
    assert_array_equal(arrows.graph.indices, undirected.indices)
    assert_array_equal(arrows.graph.weights, 2 * undirected.weights)
    assert (arrows.codes == 3).all()


def test_the_undirected_graph_is_made_once_and_only_where_there_are_arrows():
    graph = directed(np.array([[0, 1], [0, 0]]))
    assert graph.without_arrows() is graph.without_arrows() is graph.arrows.graph
    assert graph.without_arrows().without_arrows() is graph.without_arrows()
