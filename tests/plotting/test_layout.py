"""The layout of larger graphs, against sums over all pairs."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from nx_fastonl.plotting.graphs import MAX_SPRING_NODES, plot_labels
from nx_fastonl.plotting.layout import CELLS, attracted, grid_layout, repelled, repulsion
from tests.strategies import small_graphs


@pytest.fixture(scope="module")
def kernel():
    return np.fft.rfft2(repulsion())


def test_repulsion_is_that_of_all_pairs(kernel):
    """Exact between the middles of cells."""
    rng = np.random.default_rng(0)
    cells = rng.choice((CELLS - 1) ** 2, 200, replace=False)
    cells[:2] = 0, (CELLS - 1) ** 2 - 1  # the corners, which say where the grid is
    places = np.stack(np.divmod(np.unique(cells), CELLS - 1), axis=1).astype(float)
    ways = places[:, np.newaxis] - places
    squares = (ways**2).sum(axis=2)
    np.fill_diagonal(squares, 1.0)
    assert_allclose(repelled(places, kernel), (ways / squares[:, :, np.newaxis]).sum(axis=1), atol=1e-9)


def test_repulsion_between_the_middles_is_close(kernel):
    places = np.random.default_rng(0).random((300, 2))
    ways = places[:, np.newaxis] - places
    squares = (ways**2).sum(axis=2) + np.eye(300)
    exact = (ways / squares[:, :, np.newaxis]).sum(axis=1)
    found = repelled(places, kernel)
    assert np.corrcoef(found.ravel(), exact.ravel())[0, 1] > 0.95


def test_repulsion_of_a_node_between_the_middles_is_almost_exact_from_afar(kernel):
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    alone = repelled(corners, kernel)
    for place in 0.4 + 0.2 * np.random.default_rng(0).random((20, 2)):
        ways = corners - place
        added = repelled(np.vstack([corners, place]), kernel)[:4] - alone
        assert_allclose(added, ways / (ways**2).sum(axis=1, keepdims=True), rtol=1e-3)


@given(small_graphs(), st.integers(0, 1000))
def test_attraction_is_the_sum_over_neighbours(G, seed):
    places = np.random.default_rng(seed).random((len(G), 2))
    row = {node: u for u, node in enumerate(G)}
    pairs = [(row[u], row[v]) for u in G for v in G[u] if u != v]
    ends = tuple(np.array(end, dtype=np.intp) for end in (zip(*pairs, strict=True) if pairs else ([], [])))
    wanted = np.zeros((len(G), 2))
    for u, v in pairs:
        wanted[u] += (places[v] - places[u]) * np.linalg.norm(places[v] - places[u])
    assert_allclose(attracted(ends, places), wanted, atol=1e-12)


@settings(max_examples=10)
@given(small_graphs())
def test_every_node_has_a_place(G):
    found = grid_layout(G)
    assert list(found) == list(G)
    places = np.array(list(found.values()))
    assert np.isfinite(places).all()
    assert np.abs(places).max() <= 1.0
    assert_allclose(places, np.array(list(grid_layout(G).values())))


def test_groups_of_nodes_stay_together():
    sizes = [200] * 4
    G = nx.random_partition_graph(sizes, 0.08, 0.001, seed=1)
    groups = [np.array([place for v, place in grid_layout(G).items() if v in part]) for part in G.graph["partition"]]
    centres = np.array([np.median(group, axis=0) for group in groups])
    inside = max(
        np.median(np.linalg.norm(group - centre, axis=1)) for group, centre in zip(groups, centres, strict=True)
    )
    between = min(np.linalg.norm(a - b) for i, a in enumerate(centres) for b in centres[:i])
    assert between > 2.0 * inside


def test_larger_graphs_are_drawn_by_it(ax):
    G = nx.path_graph(MAX_SPRING_NODES + 1)
    plot_labels(G, dict.fromkeys(G, "a"), ax=ax)
    drawn = next(kind for kind in ax.collections if kind.get_label() == "a").get_offsets()
    assert_allclose(np.asarray(drawn), np.array(list(grid_layout(G).values())))
