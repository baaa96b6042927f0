import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nx_fastonl import datasets
from nx_fastonl.datasets import planted
from tests import oracles

SIZES = [5, 1, 9, 4]
TABLE = np.array([[0.5, 3.0, 1.0, 0.0], [2.0, 7.0, 0.5, 1.0], [0.1, 1.0, 1.5, 2.5], [1.0, 0.4, 0.0, 3.0]])
TABLES = {True: TABLE, False: TABLE + TABLE.T}


def labels_of(sizes):
    return [label for label, size in enumerate(sizes) for _ in range(size)]


@st.composite
def partitions(draw):
    """Sizes, a table, a mean degree that is possible, whether directed, and a seed."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    k = len(sizes)
    entries = st.sampled_from([0.0, 0.0, 1e-9, 0.3, 1.0, 8.0, 1e9])
    table = np.array(draw(st.lists(entries, min_size=k * k, max_size=k * k))).reshape(k, k)
    directed = draw(st.booleans())
    if not directed:
        table = table + table.T
    labels = labels_of(sizes)
    pairs = [table[labels[u], labels[v]] for u, v in itertools.permutations(range(len(labels)), 2)]
    assume(any(pairs))
    mean_degree = draw(st.floats(0.01, 1.0)) * sum(pairs) / max(pairs) / len(labels)
    return sizes, table, mean_degree, directed, draw(st.integers(0, 2**32))


@given(partitions())
def test_what_every_graph_keeps(partition):
    sizes, table, mean_degree, directed, seed = partition
    options = {"mean_degree": mean_degree, "directed": directed}
    data = datasets.make_planted_partition(sizes, table, seed=seed, **options)
    labels = labels_of(sizes)
    assert data.labels == dict(enumerate(labels))
    assert data.graph.is_directed() == directed
    A = data.graph.to_scipy().toarray()
    assert A.shape == (len(labels), len(labels))
    assert set(np.unique(A)) <= {0.0, 1.0}
    P = oracles.planted_probabilities(labels, table, mean_degree)
    assert not A[P == 0.0].any()  # the diagonal as well
    assert A[P > 1.0 - 1e-9].all()
    if not directed:
        np.testing.assert_array_equal(A, A.T)
    again = datasets.make_planted_partition(sizes, table, seed=seed, **options)
    np.testing.assert_array_equal(again.graph.to_scipy().toarray(), A)


@pytest.mark.parametrize("directed", [True, False])
def test_each_pair_is_drawn_as_often_as_it_should_be(directed):
    """Seeds are fixed, so this holds or fails for good."""
    graphs, mean_degree = 1_500, 4.0
    drawn = np.array(
        [
            datasets.make_planted_partition(
                SIZES, TABLES[directed], mean_degree=mean_degree, directed=directed, seed=seed
            )
            .graph.to_scipy()
            .toarray()
            for seed in range(graphs)
        ]
    )
    P = oracles.planted_probabilities(labels_of(SIZES), TABLES[directed], mean_degree)
    variances = P * (1.0 - P)
    assert (P <= 1.0).all()
    deviations = np.abs(drawn.mean(axis=0) - P)
    assert (deviations <= 4.5 * np.sqrt(variances / graphs)).all()
    # Pairs are independent, so variances add up; an edge is counted from both sides.
    arcs = drawn.sum(axis=(1, 2))
    expected_variance = variances.sum() * (1 if directed else 2)
    assert abs(arcs.var() / expected_variance - 1.0) <= 4.5 * np.sqrt(2.0 / graphs)
    assert abs(arcs.mean() / len(P) - mean_degree) <= 4.5 * np.sqrt(expected_variance / graphs) / len(P)
    # What follows in the stream of random numbers is independent as well.
    used = (variances > 0) & ~np.tri(len(P), dtype=bool) if not directed else variances > 0
    pairs = (drawn[:, used] - P[used]) / np.sqrt(variances[used])
    correlations = (pairs[:, 1:] * pairs[:, :-1]).mean(axis=0)
    assert (np.abs(correlations) <= 4.5 / np.sqrt(graphs) * 1.5).all()


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_the_table_is_found_again(directed, seed):
    sizes = [3_000, 200, 5_000, 1_800]
    data = datasets.make_planted_partition(sizes, TABLES[directed], directed=directed, mean_degree=12.0, seed=seed)
    sources, targets = data.graph.to_scipy().nonzero()
    labels = np.array(labels_of(sizes))
    counts = np.zeros((4, 4))
    np.add.at(counts, (labels[sources], labels[targets]), 1)
    # The oracle's matrix of all pairs would be too large; its probabilities depend only on labels.
    pairs = np.outer(sizes, sizes) - np.diag(sizes)
    expected = TABLES[directed] * pairs
    expected *= 12.0 * sum(sizes) / expected.sum()
    twice = np.ones((4, 4)) if directed else 1 + np.eye(4)  # both ends of an edge are in one cell
    assert (np.abs(counts - expected) <= 4.5 * np.sqrt(twice * expected)).all()


def test_expected_numbers_are_those_of_the_oracle():
    for directed, table in TABLES.items():
        found = planted._probabilities(np.array(SIZES), table, 3.0, directed)
        labels = labels_of(SIZES)
        P = oracles.planted_probabilities(labels, table, 3.0)
        for u, v in itertools.permutations(range(len(labels)), 2):
            assert found[labels[u], labels[v]] == pytest.approx(P[u, v], rel=1e-12)


def test_seeds():
    def arcs(seed):
        return datasets.make_planted_partition([40, 40], [[1, 2], [3, 4]], seed=seed).graph.indices.tolist()

    assert arcs(1) == arcs(1) == arcs(np.int64(1)) == arcs(np.random.default_rng(1))
    assert arcs(1) != arcs(2)
    assert arcs(None) != arcs(None)
    generator = np.random.default_rng(1)
    assert arcs(generator) != arcs(generator)


def test_more_pairs_than_there_is_room_for(monkeypatch):
    options = {"mean_degree": 5.0, "seed": 3}
    expected = datasets.make_planted_partition(SIZES, TABLE, **options).graph
    monkeypatch.setattr(planted, "DEVIATIONS", -4)
    found = datasets.make_planted_partition(SIZES, TABLE, **options).graph
    np.testing.assert_array_equal(found.to_scipy().toarray(), expected.to_scipy().toarray())


def test_every_pair():
    data = datasets.make_planted_partition([3, 4], np.ones((2, 2)), mean_degree=6, seed=0)
    np.testing.assert_array_equal(data.graph.to_scipy().toarray(), 1 - np.eye(7))
    one_way = datasets.make_planted_partition([2, 3], [[0, 5], [0, 0]], mean_degree=6 / 5, seed=0)
    assert nx.utils.edges_equal(one_way.graph.to_networkx().edges, itertools.product((0, 1), (2, 3, 4)), directed=True)


@pytest.mark.parametrize(("directed", "kind"), [(True, nx.DiGraph), (False, nx.Graph)])
def test_as_networkx(directed, kind):
    options = {"directed": directed, "mean_degree": 3.0, "seed": 0}
    plain = datasets.make_planted_partition([20, 20], np.ones((2, 2)), **options)
    data = datasets.make_planted_partition([20, 20], np.ones((2, 2)), as_networkx=True, **options)
    assert type(data.graph) is kind
    assert nx.get_node_attributes(data.graph, "label") == data.labels == plain.labels
    np.testing.assert_array_equal(nx.to_numpy_array(data.graph), plain.graph.to_scipy().toarray())
    assert data.description == "A random graph in which labels decide how often nodes are joined."


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"sizes": []}, ValueError, "sizes is empty; it has the number of nodes of each label"),
        ({"sizes": [10, 0]}, ValueError, r"sizes\[1\] must be at least 1, got 0"),
        ({"sizes": [10, 2.5]}, TypeError, r"sizes\[1\] must be a whole number, got 2.5"),
        ({"sizes": [2**30, 2**30]}, ValueError, r"at most 2\*\*31 - 1 nodes, got 2147483648"),
        ({"sizes": [10]}, ValueError, r"a row and a column for each of 1 labels, got shape \(2, 2\)"),
        ({"compatibility": [[1, -2], [0, 1]]}, ValueError, r"compatibility\[0, 1\] must be 0 or .* got -2.0"),
        ({"compatibility": [[1, 0], [np.nan, 1]]}, ValueError, r"compatibility\[1, 0\] must be 0 or .* got nan"),
        ({"compatibility": np.zeros((2, 2))}, ValueError, "compatibility joins no two nodes"),
        ({"sizes": [1, 1], "compatibility": np.eye(2)}, ValueError, "compatibility joins no two nodes"),
        (
            {"compatibility": [[1, 3], [0.4, 1]], "directed": False},
            ValueError,
            r"compatibility\[0, 1\] is 3.0 and compatibility\[1, 0\] is 0.4; they must be equal, or pass directed=True",
        ),
        ({"mean_degree": 0}, ValueError, "mean_degree must be a positive number"),
        ({"mean_degree": "3"}, TypeError, "mean_degree must be a number, got '3'"),
        (
            {"compatibility": [[1, 2], [1, 1]], "mean_degree": 13},
            ValueError,
            "mean_degree must be at most 12 with .* got 13.*: then every node with label 0 points to all with label 1",
        ),
        ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
        ({"seed": "3"}, TypeError, "seed must be a whole number, a numpy Generator or None, got '3'"),
        ({"sizes": 5}, TypeError, "sizes must be a sequence of whole numbers, got 5"),
        ({"compatibility": [[1, 2], [3]]}, ValueError, "compatibility must be a table of numbers, got"),
    ],
)
def test_bad_arguments(changes, error, message):
    arguments = {"sizes": [10, 10], "compatibility": np.ones((2, 2)), **changes}
    with pytest.raises(error, match=message):
        datasets.make_planted_partition(**arguments)
