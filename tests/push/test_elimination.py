import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import nx_fastonl as fo
from nx_fastonl.push import elimination
from nx_fastonl.push.local import SLOW_OMEGA, push_or_solve
from nx_fastonl.push.system import LinearSystem
from tests.strategies import small_graphs


def system_of(G, shift=0.5):
    return LinearSystem(fo.CSRGraph.from_networkx(G), shift, 1.0)


@given(st.data(), small_graphs())
def test_a_component_is_found_and_solved(data, G):
    system = system_of(G)
    nodes = list(G)
    u = data.draw(st.integers(0, len(nodes) - 1))
    rows = system.elimination.component(u)
    assert [nodes[v] for v in rows] == [v for v in nodes if v in nx.node_connected_component(G, nodes[u])]
    W = nx.to_numpy_array(G)
    H = np.diag(0.5 + W.sum(axis=1)) - W
    b = data.draw(st.lists(st.floats(-1, 1), min_size=len(rows), max_size=len(rows)))
    factor = system.elimination.factorise(rows, system.pivots(rows))
    assert_allclose(H[np.ix_(rows, rows)] @ factor.solve(np.array(b)), b, atol=1e-9)
    assert all(system.elimination.known(v) is (factor if v in rows else None) for v in range(len(nodes)))


def factorised(system, u):
    rows = system.elimination.component(u)
    return system.elimination.factorise(rows, system.pivots(rows))


@pytest.mark.parametrize("limit", ["MAX_FACTORS", "MAX_FACTOR_BYTES"])
def test_the_factors_that_were_used_last_are_kept(monkeypatch, limit):
    monkeypatch.setattr(elimination, limit, {"MAX_FACTORS": 2, "MAX_FACTOR_BYTES": 2 * 9 * 8}[limit])
    system = system_of(nx.disjoint_union_all([nx.complete_graph(3)] * 4))
    known = system.elimination.known
    first, second = factorised(system, 0), factorised(system, 3)
    assert (known(5), known(1)) == (second, first)
    third = factorised(system, 6)
    assert [known(u) for u in (0, 4, 8, 9)] == [first, None, third, None]


def test_a_new_factor_takes_the_place_of_an_older_one():
    system = system_of(nx.disjoint_union_all([nx.complete_graph(3)] * 2))
    old, other = factorised(system, 0), factorised(system, 3)
    new = factorised(system, 1)
    assert new is not old
    assert all(system.elimination.known(u) is (new if u < 3 else other) for u in range(6))


@pytest.mark.parametrize("G", [nx.star_graph(3000), nx.path_graph(3000), nx.complete_graph(2001)])
def test_a_large_component_is_left_to_pushes(G):
    graph = fo.CSRGraph.from_networkx(G)
    assert LinearSystem(graph, 0.5, 1.0).elimination.component(0) is None


def test_only_the_component_is_walked():
    system = system_of(nx.disjoint_union_all([nx.complete_graph(3)] * 500), shift=1e-9)
    result = push_or_solve(system, 4, 1e-12)
    assert result.nodes.tolist() == [3, 4, 5]
    assert_allclose(result.estimate, 1 / 3e-9, rtol=1e-6)
    assert "components" not in vars(system.graph)


def test_a_singular_component_has_no_factor():
    system = system_of(nx.path_graph(3), shift=0.0)
    rows = np.arange(3, dtype=np.int32)
    assert system.elimination.factorise(rows, system.pivots(rows)) is None


def test_a_push_that_settles_quickly_is_not_solved(monkeypatch):
    monkeypatch.setattr(elimination.Elimination, "factorise", pytest.fail)
    system = system_of(nx.path_graph(40), shift=0.02)
    assert system.omega > SLOW_OMEGA
    result = push_or_solve(system, 0, 1e-6)
    assert result.converged
    assert result.residual.any()
