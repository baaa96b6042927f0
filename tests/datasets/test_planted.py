import itertools
import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

import nx_fastonl as fo
from nx_fastonl import datasets
from nx_fastonl.datasets import planted
from tests import oracles

SIZES = [5, 1, 9, 4]
TABLE = np.array([[0.5, 3.0, 1.0, 0.0], [2.0, 7.0, 0.5, 1.0], [0.1, 1.0, 1.5, 2.5], [1.0, 0.4, 0.0, 3.0]])
TABLES = {True: TABLE, False: TABLE + TABLE.T}


def labels_of(sizes):
    return [label for label, size in enumerate(sizes) for _ in range(size)]


def power_law(sizes, exponent):
    """The weights of all nodes, label by label, the largest first."""
    weights = []
    for size in sizes:
        of_label = [1.0 if exponent is None else ((r + 0.5) / size) ** (-1 / (exponent - 1)) for r in range(size)]
        mean = sum(of_label) / size
        weights += [weight / mean for weight in of_label]
    return np.array(weights)


@st.composite
def partitions(draw):
    """Sizes, an exponent, a table, a mean degree that is possible and whether directed."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    exponent = draw(st.sampled_from([None, 2.01, 2.5, 40.0]))
    k = len(sizes)
    entries = st.sampled_from([0.0, 0.0, 1e-9, 0.3, 1.0, 8.0, 1e9])
    table = np.array(draw(st.lists(entries, min_size=k * k, max_size=k * k))).reshape(k, k)
    directed = draw(st.booleans())
    if not directed:
        table = table + table.T
    labels, weights = labels_of(sizes), power_law(sizes, exponent)
    pairs = np.array([[table[i, j] * (u != v) for v, j in enumerate(labels)] for u, i in enumerate(labels)])
    assume(pairs.any())
    # As much as possible: all pairs of one cell are certain.
    last = np.cumsum(sizes) - 1
    cells = table * np.outer(weights[last], weights[last]) * (1 - np.diag(np.array(sizes) == 1))
    most = np.minimum(pairs * np.outer(weights, weights) / cells.max(), 1.0).sum() / len(labels)
    return sizes, exponent, table, draw(st.floats(0.01, 1.0)) * most, directed


@given(partitions(), st.integers(0, 2**32))
def test_what_every_graph_keeps(partition, seed):
    sizes, exponent, table, mean_degree, directed = partition
    options = {"compatibility": table, "exponent": exponent, "mean_degree": mean_degree, "directed": directed}
    data = datasets.planted_partition(sum(sizes), sizes, seed=seed, **options)
    labels = labels_of(sizes)
    assert data.labels == dict(enumerate(labels))
    assert data.graph.is_directed() == directed
    A = data.graph.to_scipy().toarray()
    assert A.shape == (len(labels), len(labels))
    assert set(np.unique(A)) <= {0.0, 1.0}
    assert not A[table[np.ix_(labels, labels)] == 0.0].any()
    assert not A.diagonal().any()
    if exponent is None:
        P = oracles.planted_probabilities(labels, np.ones(len(labels)), table, mean_degree)
        assert A[P > 1.0 - 1e-9].all()
    if not directed:
        np.testing.assert_array_equal(A, A.T)
    again = datasets.planted_partition(sum(sizes), sizes, seed=seed, **options)
    np.testing.assert_array_equal(again.graph.to_scipy().toarray(), A)


@given(partitions())
def test_factors_are_those_of_the_oracle(partition):
    sizes, exponent, table, mean_degree, _ = partition
    by_size = {size: planted._power_law(size, exponent) for size in sizes}
    factors = planted._factors_of_table(sizes, by_size, table, mean_degree)
    labels, weights = labels_of(sizes), power_law(sizes, exponent)
    P = oracles.planted_probabilities(labels, weights, table, mean_degree)
    found = np.minimum(factors[np.ix_(labels, labels)] * np.outer(weights, weights), 1.0)
    np.fill_diagonal(found, 0.0)
    np.testing.assert_allclose(found, P, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("exponent", [None, 2.2])
def test_each_pair_is_drawn_as_often_as_it_should_be(directed, exponent, monkeypatch):
    """Seeds are fixed, so this holds or fails for good."""
    graphs, mean_degree = 1_500, 4.0
    by_size = {size: planted._power_law(size, exponent) for size in SIZES}
    factors = planted._factors_of_table(SIZES, by_size, TABLES[directed], mean_degree)
    nodes, n = [], sum(SIZES)

    def drawn_once(seed):
        monkeypatch.setattr(planted, "draw_pairs", lambda *arguments: nodes.append(arguments[4]) or draw(*arguments))
        ends = planted._pairs(SIZES, by_size, factors, 80, directed, np.random.default_rng(seed))
        place = np.argsort(nodes[-1])  # of each node: its weight
        A = np.zeros((n, n))
        np.add.at(A, tuple(place[end] for end in ends), 1)
        return A if directed else A + A.T

    draw = planted.draw_pairs
    drawn = np.array([drawn_once(seed) for seed in range(graphs)])
    P = oracles.planted_probabilities(labels_of(SIZES), power_law(SIZES, exponent), TABLES[directed], mean_degree)
    variances = P * (1.0 - P)
    deviations = np.abs(drawn.mean(axis=0) - P)
    assert (deviations <= 4.5 * np.sqrt(variances / graphs) + 1e-9).all()
    # Pairs are independent, so variances add up; an edge is counted from both sides.
    arcs = drawn.sum(axis=(1, 2))
    expected_variance = variances.sum() * (1 if directed else 2)
    assert abs(arcs.var() / expected_variance - 1.0) <= 4.5 * np.sqrt(2.0 / graphs)
    assert abs(arcs.mean() / n - mean_degree) <= 4.5 * np.sqrt(expected_variance / graphs) / n
    # What follows in the stream of random numbers is independent as well.
    used = (variances > 1e-4) & (directed | ~np.tri(n, dtype=bool))
    pairs = (drawn[:, used] - P[used]) / np.sqrt(variances[used])
    correlations = (pairs[:, 1:] * pairs[:, :-1]).mean(axis=0)
    assert (np.abs(correlations) <= 4.5 / np.sqrt(graphs) * 1.5).all()
    # Every node gets every weight.
    assert [len(set(at_place)) for at_place in np.transpose(nodes)] == np.repeat(SIZES, SIZES).tolist()


@pytest.mark.parametrize("exponent", [2.4, 2.8, 3.5])
def test_degrees_follow_the_power_law(exponent):
    n, mean_degree = 100_000, 4.0
    data = datasets.planted_partition(n, 2, mean_degree=mean_degree, homophily=0.5, exponent=exponent, seed=0)
    degrees = data.graph.degrees
    assert degrees.mean() == pytest.approx(mean_degree, rel=4.5 / np.sqrt(mean_degree * n / 2))
    # A node of weight w has about Poisson(mean_degree * w) neighbours; hubs fewer, as a pair is joined at most once.
    weights = power_law([n], exponent)
    for degree in (1, 2, 5, 10, 20, 50):
        expected = stats.poisson.sf(degree, mean_degree * weights).mean()
        assert (degrees > degree).mean() == pytest.approx(expected, rel=0.05, abs=4.5 * np.sqrt(expected / n))
    slope = np.log((degrees > 50).sum() / (degrees > 15).sum()) / np.log(50 / 15)
    assert slope == pytest.approx(1 - exponent, abs=0.15)


@pytest.mark.parametrize("homophily", [0.0, 0.3, 0.8, 1.0])
@pytest.mark.parametrize("directed", [True, False])
def test_homophily_is_as_asked(homophily, directed):
    options = {"mean_degree": 15.0, "homophily": homophily, "directed": directed, "seed": 0}
    data = datasets.planted_partition(20_000, [5, 1, 3], **options)
    labels = data.labels.array
    sources, targets = data.graph.to_scipy().nonzero()
    assert len(sources) / 20_000 == pytest.approx(15.0, rel=0.02)
    same = labels[sources] == labels[targets]
    deviation = np.sqrt(homophily * (1 - homophily) / (len(sources) / 2))
    assert same.mean() == pytest.approx(homophily, abs=4.5 * deviation)
    inside = np.bincount(labels[sources[same]], minlength=3) / np.bincount(labels)
    np.testing.assert_allclose(inside, 15.0 * homophily, rtol=0.05)  # whatever the size of a label; hubs vary


def test_label_noise():
    options = {"mean_degree": 3.0, "seed": 5}
    plain = datasets.planted_partition(40_000, 4, **options)
    noisy = datasets.planted_partition(40_000, 4, label_noise=0.25, **options)
    np.testing.assert_array_equal(noisy.graph.indices, plain.graph.indices)
    counts = np.zeros((4, 4))
    np.add.at(counts, (plain.labels.array, noisy.labels.array), 1)
    expected = 10_000 * (0.25 / 3 * (1 - np.eye(4)) + 0.75 * np.eye(4))
    assert (np.abs(counts - expected) <= 4.5 * np.sqrt(expected)).all()
    never = datasets.planted_partition(40_000, 4, label_noise=1.0, **options)
    assert not (never.labels.array == plain.labels.array).any()


@given(st.integers(1, 300), st.lists(st.floats(0.5, 2.0), min_size=1, max_size=5))
def test_sizes_are_as_asked(n, shares):
    assume(n >= 4 * len(shares))
    expected = np.array(shares) / sum(shares) * n
    found = planted._sizes(n, planted._shares(shares, None))
    assert sum(found) == n
    assert (np.abs(found - expected) <= 1).all()


def test_classes():
    def sizes(*arguments, **options):
        data = datasets.planted_partition(*arguments, mean_degree=2, seed=0, **options)
        return np.bincount(data.labels.array).tolist()

    assert sizes(200) == [20] * 10
    assert sizes(100, 3) == [33, 34, 33]
    assert sizes(100, [4, 1]) == [80, 20]
    assert sizes(100, compatibility=np.ones((4, 4))) == [25] * 4


def test_labels_are_a_mapping():
    data = datasets.planted_partition(60, 3, mean_degree=4, seed=0)
    plain = dict(enumerate(labels_of([20] * 3)))
    labels = data.labels
    assert labels == plain
    assert list(labels) == list(plain)
    assert list(labels.items()) == list(plain.items())
    assert list(labels.values()) == list(plain.values())
    assert {type(label) for label in labels.values()} == {int} == {type(labels[3])}
    assert labels[np.int64(59)] == labels[59.0] == 2
    for node in (-1, 60, 0.5, "0", None):
        assert node not in labels
        with pytest.raises(KeyError):
            labels[node]
    with pytest.raises(TypeError, match="unhashable"):
        labels[[0]]
    with pytest.raises(ValueError, match="read-only"):
        labels.array[0] = 1
    assert pickle.loads(pickle.dumps(labels)) == plain
    assert repr(labels) == "<labels of 60 nodes>"
    assert list(fo.online_node_labeling(data.graph, labels)) == list(fo.online_node_labeling(data.graph, plain))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_the_table_is_found_again(directed, seed):
    sizes = [3_000, 200, 5_000, 1_800]
    options = {"compatibility": TABLES[directed], "directed": directed, "mean_degree": 12.0, "exponent": 40.0}
    data = datasets.planted_partition(sum(sizes), sizes, seed=seed, **options)
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


def test_seeds():
    def arcs(seed):
        return datasets.planted_partition(80, 2, seed=seed).graph.indices.tolist()

    assert arcs(1) == arcs(1) == arcs(np.int64(1)) == arcs(np.random.default_rng(1))
    assert arcs(1) != arcs(2)
    assert arcs(None) != arcs(None)
    generator = np.random.default_rng(1)
    assert arcs(generator) != arcs(generator)


def test_more_pairs_than_there_is_room_for(monkeypatch):
    options = {"mean_degree": 5.0, "seed": 3}
    expected = datasets.planted_partition(30, 3, **options).graph
    monkeypatch.setattr(planted, "DEVIATIONS", -4)
    found = datasets.planted_partition(30, 3, **options).graph
    np.testing.assert_array_equal(found.to_scipy().toarray(), expected.to_scipy().toarray())


def test_every_pair():
    data = datasets.planted_partition(7, compatibility=np.ones((2, 2)), mean_degree=6, exponent=None, seed=0)
    np.testing.assert_array_equal(data.graph.to_scipy().toarray(), 1 - np.eye(7))
    options = {"compatibility": [[0, 5], [0, 0]], "mean_degree": 6 / 5, "exponent": None, "directed": True}
    one_way = datasets.planted_partition(5, [2, 3], seed=0, **options)
    assert nx.utils.edges_equal(one_way.graph.to_networkx().edges, itertools.product((0, 1), (2, 3, 4)), directed=True)


@pytest.mark.parametrize(("directed", "kind"), [(True, nx.DiGraph), (False, nx.Graph)])
def test_as_networkx(directed, kind):
    options = {"directed": directed, "mean_degree": 3.0, "seed": 0}
    plain = datasets.planted_partition(40, 2, **options)
    data = datasets.planted_partition(40, 2, as_networkx=True, **options)
    assert type(data.graph) is kind
    assert nx.get_node_attributes(data.graph, "label") == data.labels == plain.labels
    np.testing.assert_array_equal(nx.to_numpy_array(data.graph), plain.graph.to_scipy().toarray())
    assert data.description == "A random graph in which labels decide how often nodes are joined."


def test_labels_with_two_nodes_each():
    data = datasets.planted_partition(2_000, 1_000, mean_degree=3, homophily=0.2, seed=0)
    assert data.graph.degrees.mean() == pytest.approx(3.0, rel=0.15)


TWO = np.ones((2, 2))


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"n": 0}, ValueError, "n must be at least 1, got 0"),
        ({"n": 2.5}, TypeError, "n must be a whole number, got 2.5"),
        ({"n": 2**31}, ValueError, "n must be at most"),
        ({"classes": 0}, ValueError, "classes must be at least 1, got 0"),
        ({"classes": 2_001}, ValueError, "classes must be at most 2000, got 2001"),
        ({"classes": [1] * 2_001}, ValueError, "classes must name at most 2000 labels, got 2001"),
        ({"classes": "ab"}, TypeError, "classes must be a whole number, got 'ab'"),
        ({"classes": []}, ValueError, "classes is empty; it has the fraction of the nodes of each label"),
        ({"classes": [1, -2]}, ValueError, r"classes\[1\] must be a positive number .* got -2"),
        ({"classes": [1, "x"]}, TypeError, r"classes\[1\] must be a number, got 'x'"),
        ({"classes": [1, 1e-9]}, ValueError, "label 1 would have none of the 20 nodes; ask for more nodes or fewer"),
        ({"classes": 1}, ValueError, "homophily must be 1 where there is only one label, got 0.8"),
        ({"classes": 20}, ValueError, "homophily must be 0 where no label has two nodes, got 0.8"),
        ({"classes": 1, "homophily": 1, "label_noise": 0.1}, ValueError, "label_noise must be 0 where .* got 0.1"),
        ({"homophily": 1.5}, ValueError, "homophily must lie between 0 and 1, got 1.5"),
        ({"homophily": 0.5, "compatibility": TWO}, ValueError, "homophily and compatibility both say .* one of them"),
        ({"exponent": 2}, ValueError, "exponent must be more than 2, where the mean is finite, got 2"),
        ({"exponent": "x"}, TypeError, "exponent must be a number, got 'x'"),
        ({"label_noise": -0.1}, ValueError, "label_noise must lie between 0 and 1, got -0.1"),
        ({"mean_degree": 0}, ValueError, "mean_degree must be a positive number"),
        ({"mean_degree": "3"}, TypeError, "mean_degree must be a number, got '3'"),
        (
            {"mean_degree": 15, "exponent": None},
            ValueError,
            "mean_degree must be at most 11.25 here, got 15: then nodes with label 0 are joined to all with label 0",
        ),
        (
            {"compatibility": [[1, 2], [1, 1]], "mean_degree": 13, "directed": True, "exponent": None},
            ValueError,
            "mean_degree must be at most 12 here, got 13: then nodes with label 0 are joined to all with label 1",
        ),
        ({"compatibility": TWO, "classes": 3}, ValueError, r"column for each of 3 labels, got shape \(2, 2\)"),
        ({"compatibility": np.ones((2, 3))}, ValueError, r"a row and a column for each label, got shape \(2, 3\)"),
        ({"compatibility": 5}, ValueError, r"a row and a column for each label, got shape \(\)"),
        ({"compatibility": [[1, -2], [0, 1]]}, ValueError, r"compatibility\[0, 1\] must be 0 or .* got -2.0"),
        ({"compatibility": [[1, 0], [np.nan, 1]]}, ValueError, r"compatibility\[1, 0\] must be 0 or .* got nan"),
        ({"compatibility": np.zeros((2, 2))}, ValueError, "compatibility joins no two nodes"),
        ({"n": 2, "compatibility": np.eye(2)}, ValueError, "compatibility joins no two nodes"),
        (
            {"compatibility": [[1, 3], [0.4, 1]]},
            ValueError,
            r"compatibility\[0, 1\] is 3.0 and compatibility\[1, 0\] is 0.4; they must be equal, or pass directed=True",
        ),
        ({"compatibility": [[1, 2], [3]]}, ValueError, "compatibility must be a table of numbers, got"),
        ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
        ({"seed": "3"}, TypeError, "seed must be a whole number, a numpy Generator or None, got '3'"),
    ],
)
def test_bad_arguments(changes, error, message):
    classes = None if "compatibility" in changes else 2
    with pytest.raises(error, match=message):
        datasets.planted_partition(**{"n": 20, "classes": classes, "mean_degree": 4.0, **changes})
