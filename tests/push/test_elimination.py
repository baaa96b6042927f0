import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import nx_fastonl as fo
from nx_fastonl.push import elimination
from nx_fastonl.push.elimination import LEAST_EDGES
from nx_fastonl.push.local import fifo_column, push_or_solve
from nx_fastonl.push.system import LinearSystem
from tests import oracles
from tests.strategies import small_graphs

# With this damping, mass settles in a hundred million steps.
SLOW = 1.0 - 1e-8


def system_of(G, shift=0.5):
    return LinearSystem(fo.CSRGraph.from_networkx(G), shift, 1.0)


def rows_of(*nodes):
    return np.array(nodes, dtype=np.int32)


@given(st.data(), small_graphs())
def test_components_are_found_and_solved(data, G):
    system = system_of(G)
    nodes = list(G)
    sources = data.draw(st.lists(st.integers(0, len(nodes) - 1), min_size=1, max_size=3, unique=True))
    rows = system.elimination.rows(rows_of(*sources))
    parts = set().union(*(nx.node_connected_component(G, nodes[u]) for u in sources))
    assert [nodes[v] for v in rows] == [v for v in nodes if v in parts]
    W = nx.to_numpy_array(G)
    H = (np.diag(0.5 + W.sum(axis=1)) - W)[np.ix_(rows, rows)]
    b = np.array(data.draw(st.lists(st.floats(-1, 1), min_size=len(rows), max_size=len(rows))))
    inverse = system.elimination.inverse(rows_of(*sources))
    assert_allclose(H @ inverse.solve(b), b, atol=1e-9)
    _, estimate, residual = inverse.solution(b)
    assert_allclose(H @ estimate + residual, b, atol=1e-12)
    assert np.abs(residual).sum() <= 1e-14 * (1.0 + (np.diag(H) @ np.abs(estimate)))
    known = [system.elimination.known(rows_of(v)) for v in range(len(nodes))]
    assert known == [inverse if v in rows else None for v in range(len(nodes))]


@pytest.mark.parametrize("limit", ["MAX_KEPT", "MAX_KEPT_BYTES"])
def test_the_inverses_that_were_used_last_are_kept(monkeypatch, limit):
    monkeypatch.setattr(elimination, limit, {"MAX_KEPT": 2, "MAX_KEPT_BYTES": 2 * 2 * 9 * 8}[limit])
    found = system_of(nx.disjoint_union_all([nx.complete_graph(3)] * 4)).elimination
    first, second = found.inverse(rows_of(0)), found.inverse(rows_of(3))
    assert (found.known(rows_of(5)), found.known(rows_of(1))) == (second, first)
    third = found.inverse(rows_of(6))
    assert [found.known(rows_of(u)) for u in (0, 4, 8, 9)] == [first, None, third, None]


def test_an_inverse_counts_while_the_pivots_are_the_same():
    pivots = np.full(3, 3.0)
    graph = fo.CSRGraph.from_networkx(nx.complete_graph(3))
    found = LinearSystem(graph, 0.0, 1.0, pivots, 2 / 3).elimination
    old = found.inverse(rows_of(0))
    assert found.cost(rows_of(1)) == 0
    pivots[2] = 4.0
    assert found.cost(rows_of(1)) == found.patience(3)
    new = found.inverse(rows_of(1))
    assert new is not old
    assert found.known(rows_of(0)) is new


@pytest.mark.parametrize("G", [nx.star_graph(3000), nx.path_graph(3000), nx.complete_graph(2001)])
def test_a_large_component_is_left_to_pushes(G):
    graph = fo.CSRGraph.from_networkx(G)
    assert LinearSystem(graph, 0.5, 1.0).elimination.cost(rows_of(0)) is None


def test_only_the_component_is_walked():
    system = system_of(nx.disjoint_union_all([nx.complete_graph(3)] * 500), shift=1e-9)
    result = push_or_solve(system, [4], [1.0], 1e-12)
    assert result.nodes.tolist() == [3, 4, 5]
    assert_allclose(result.estimate, 1 / 3e-9, rtol=1e-6)
    assert "components" not in vars(system.graph)


def test_a_singular_component_has_no_inverse():
    assert system_of(nx.path_graph(3), shift=0.0).elimination.inverse(rows_of(0)) is None
    arcs = fo.CSRGraph.from_networkx(nx.cycle_graph(3, create_using=nx.DiGraph))
    assert LinearSystem(arcs, 0.0, 1.0).elimination.inverse(rows_of(0)) is None


def test_a_push_that_settles_quickly_is_not_solved(monkeypatch):
    monkeypatch.setattr(elimination.Elimination, "invert", pytest.fail)
    system = system_of(nx.path_graph(40), shift=0.02)
    assert system.settles_slowly
    result = push_or_solve(system, [0], [1.0], 1e-6)
    assert result.converged
    assert result.residual.any()


def test_what_is_solved_was_walked_no_longer_than_that_takes():
    """Also within a budget."""
    system = system_of(nx.cycle_graph(30), shift=1e-9)
    patience = system.elimination.patience(30)
    result = push_or_solve(system, [0], [1.0], 1e-9, max_operations=1000)
    assert not result.converged
    assert result.operations <= 1002
    assert LEAST_EDGES < push_or_solve(system, [0], [1.0], 1e-9).operations <= patience + 2
    assert push_or_solve(system, [5], [1.0], 1e-9).operations == 0  # the inverse is kept


def test_columns_that_take_long_are_exact_and_begin_with_their_node():
    system = system_of(nx.cycle_graph(30), shift=1e-9)
    W = nx.to_numpy_array(nx.cycle_graph(30))
    exact = np.linalg.inv(np.diag(1e-9 + W.sum(axis=1)) - W)
    for u in (0, 7, 29):
        nodes, estimate, residual = fifo_column(system, u, 1e-12)
        assert nodes[0] == u
        assert_allclose(estimate, exact[nodes, u], rtol=1e-5)
        assert not residual.any()


SLOW_GRAPHS = (
    nx.path_graph(5),
    nx.cycle_graph(5, create_using=nx.DiGraph),
    nx.disjoint_union(nx.lollipop_graph(20, 20), nx.empty_graph(2)),
    nx.disjoint_union(nx.cycle_graph(8, create_using=nx.DiGraph), nx.path_graph(3, create_using=nx.DiGraph)),
    nx.DiGraph([(0, 1), (1, 2), (2, 0), (2, 3), (3, 2), (9, 0), (3, 4), (4, 3)]),
)


@pytest.mark.parametrize("G", SLOW_GRAPHS, ids=str)
@pytest.mark.parametrize("given", [{"tol": 2.1e-7}, {"epsilon": 1e-9}, {}, {"top_k": 3}], ids=str)
@pytest.mark.parametrize("seeds", [[0], [0, 1], None], ids=str)
def test_pagerank_with_a_damping_near_1_walks_few_edges(G, given, seeds):
    found, info = fo.personalized_pagerank_local(G, SLOW, seeds, **given, full_output=True)
    assert info.operations <= 20 * LEAST_EDGES
    if "tol" in given:
        assert info.l1_error <= given["tol"]
    if "top_k" not in given:
        start = np.array([1.0 if seeds is None or node in seeds else 0.0 for node in G])
        exact = oracles.pagerank(nx.to_numpy_array(G), start / start.sum(), SLOW)
        off = sum(abs(found.get(node, 0.0) - value) for node, value in zip(G, exact, strict=True))
        assert off <= info.l1_error + 1e-6  # the oracle rounds, too
