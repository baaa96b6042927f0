import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import nx_fastonl as fo
from tests import oracles
from tests.strategies import alphas, epsilons, masses, nodes_of, small_graphs

KINDS = st.sampled_from(["ppr", "laplacian"])


@given(st.data(), small_graphs(), alphas(), epsilons(), KINDS)
def test_pushes_in_the_order_of_the_paper(data, G, alpha, epsilon, kind):
    source = data.draw(masses(G))
    z, r, operations, pushes, epochs, bound = oracles.fifo_push(G, source, alpha, epsilon, kind)
    estimate, residual, info = fo.fifo_push(G, source, alpha, epsilon, kind, full_output=True)
    if kind == "ppr":
        degrees = dict(zip(G, oracles.adjacency(G).sum(axis=1), strict=True))
        z = {u: alpha * (degrees[u] / (1 - alpha) or 1.0) * value for u, value in z.items()}
    assert residual == {u: value for u, value in r.items() if value}
    assert estimate == pytest.approx({u: value for u, value in z.items() if value}, rel=1e-14)
    assert (info.operations, info.pushes, info.epochs) == (operations, pushes, epochs)
    assert info.local_bound == pytest.approx(bound, rel=1e-9)


@given(st.data(), small_graphs(), alphas(), epsilons())
def test_residual_mass_is_the_exact_l1_error(data, G, alpha, epsilon):
    source = data.draw(nodes_of(G))
    assume(G.degree(source) > 0)
    estimate, residual, info = fo.fifo_push(G, source, alpha, epsilon, full_output=True)
    indicator = oracles.to_vector({source: 1.0}, G)
    exact = oracles.pagerank(oracles.adjacency(G), indicator, 1 - alpha)
    error = np.abs(exact - oracles.to_vector(estimate, G)).sum()
    assert_allclose(error, info.residual_mass, atol=1e-13)
    assert_allclose(sum(residual.values()), info.residual_mass, rtol=1e-12)
    assert_allclose(sum(estimate.values()) + sum(residual.values()), 1.0, rtol=1e-12)


@given(st.data(), small_graphs(), alphas(), epsilons(), KINDS)
def test_both_bounds_hold(data, G, alpha, epsilon, kind):
    source = data.draw(masses(G))
    *_, info = fo.fifo_push(G, source, alpha, epsilon, kind, full_output=True)
    assert info.operations <= info.worst_case_bound
    assert info.operations <= info.local_bound * (1 + 1e-9)


@pytest.mark.parametrize("name", ["cora", "citeseer", "political", "pubmed", "mnist"])
@pytest.mark.parametrize("kind", ["ppr", "laplacian"])
def test_both_bounds_hold_on_real_graphs(real_graph, name, kind):
    graph = real_graph(name)
    for source in range(0, len(graph), len(graph) // 10):
        for epsilon in (1e-3, 1e-5):
            *_, info = fo.fifo_push(graph, source, 0.15, epsilon, kind, full_output=True)
            assert info.outcome == "converged"
            assert info.operations <= min(info.worst_case_bound, info.local_bound)


def test_worst_case_bound_is_that_of_the_paper(karate):
    *_, info = fo.fifo_push(karate, 0, 0.2, 1e-3, full_output=True)
    assert info.worst_case_bound == pytest.approx(1 / (0.2 * 1e-3))
    *_, info = fo.fifo_push(karate, 0, 0.2, 0.9, full_output=True)
    assert (info.operations, info.local_bound) == (0, 0.0)
    assert info.worst_case_bound == pytest.approx(1 / (0.2 * 0.9))


def test_a_residual_at_its_threshold_is_active():
    estimate, residual = fo.fifo_push(nx.path_graph(2), 0, alpha=0.5, epsilon=0.5)
    assert estimate == {0: 0.5, 1: 0.25}
    assert residual == {0: 0.25}


def test_local_bound_does_not_count_a_source_that_was_never_active():
    G = nx.disjoint_union(nx.path_graph(3), nx.star_graph(50))
    source = {0: 1.0, 3: 0.1}
    *_, bound = oracles.fifo_push(G, source, 0.15, 0.01, "ppr")
    estimate, _, info = fo.fifo_push(G, source, 0.15, 0.01, full_output=True)
    assert 3 not in estimate
    assert info.local_bound == pytest.approx(bound)


def test_a_node_that_looks_like_a_dict_is_still_a_node():
    class Node:
        def items(self):
            return []

    node = Node()
    G = nx.Graph([(node, "b")])
    assert node in fo.fifo_push(G, node)[0]
    assert node in fo.personalized_pagerank_local(G, personalization=node)


@pytest.mark.parametrize(
    "tiny", [{"epsilon": 1e-320}, {"alpha": 1e-100, "kind": "laplacian"}, {"alpha": 1e-99, "kind": "laplacian"}]
)
def test_bounds_of_vanishing_parameters_are_infinite_not_an_error(karate, tiny):
    *_, info = fo.fifo_push(karate, 0, max_operations=100, full_output=True, **tiny)
    assert info.worst_case_bound > 1e90
    assert info.local_bound == math.inf


def test_bounds_survive_parts_that_are_nearly_nothing():
    G = nx.Graph([(0, 1, {"weight": 1e17}), (1, 2, {"weight": 1e17})])
    *_, info = fo.fifo_push(G, 0, kind="laplacian", max_operations=100, full_output=True)
    assert info.worst_case_bound > 1e17


@given(st.data(), small_graphs(directed=True), alphas())
def test_directed_graphs_push_along_out_edges(data, G, alpha):
    source = data.draw(nodes_of(G))
    estimate, _ = fo.fifo_push(G, source, alpha, 1e-12)
    W = oracles.adjacency(G)
    z = np.linalg.solve(oracles.dense_system(W, alpha, "ppr"), oracles.to_vector({source: 1.0}, G))
    degrees = W.sum(axis=1)
    exact = alpha * np.where(degrees > 0, degrees / (1 - alpha), 1.0) * z
    assert_allclose(oracles.to_vector(estimate, G), exact, atol=1e-9)


@given(st.data(), small_graphs(), alphas(), epsilons(), KINDS)
def test_arrays_have_the_values_of_all_nodes(data, G, alpha, epsilon, kind):
    source = data.draw(nodes_of(G))
    *expected, expected_info = fo.fifo_push(G, source, alpha, epsilon, kind, full_output=True)
    *found, info = fo.fifo_push(G, source, alpha, epsilon, kind, as_array=True, full_output=True)
    for array, values in zip(found, expected, strict=True):
        assert (array.dtype, array.shape) == (np.float64, (len(G),))
        assert array.tolist() == oracles.to_vector(values, G).tolist()
    assert info == expected_info


def test_budget(karate):
    estimate, residual, info = fo.fifo_push(karate, 0, epsilon=1e-9, max_operations=50, full_output=True)
    assert info.outcome == "budget exhausted"
    assert 50 <= info.operations < 50 + 17
    assert math.isinf(info.local_bound)
    assert sum(estimate.values()) + sum(residual.values()) == pytest.approx(1.0)


def test_results_are_plain_python(karate):
    for nodes in (karate, nx.relabel_nodes(karate, str), nx.to_scipy_sparse_array(karate)):
        source = next(iter(nodes)) if isinstance(nodes, nx.Graph) else 0
        estimate, residual, info = fo.fifo_push(nodes, source, full_output=True)
        for result in (estimate, residual):
            assert {type(node) for node in result} == {type(source)}
            assert {type(value) for value in result.values()} == {float}
        assert type(info.operations) is int
        assert type(info.residual_mass) is type(info.local_bound) is type(info.worst_case_bound) is float


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"source": "x"}, nx.NodeNotFound, "'x'"),
        ({"source": {0: 1, 99: 1}}, nx.NodeNotFound, "99"),
        ({"source": [0, 1]}, nx.NodeNotFound, "for several sources pass"),
        ({"source": {0: -1}}, ValueError, "source gives node 0 the value -1"),
        ({"source": {0: "a"}}, ValueError, "source gives node 0 the value 'a'"),
        ({"source": {0: 1e300}}, ValueError, r"between 0 and 1e\+100"),
        ({"source": {0: 0.0}}, ValueError, "sums to zero"),
        *(
            ({"alpha": alpha}, ValueError, "alpha must lie strictly between 0 and 1")
            for alpha in (0, 1, -0.5, math.nan)
        ),
        ({"alpha": 0, "kind": "laplacian"}, ValueError, "alpha must lie between 1e-100 and 1e\\+100, got 0"),
        ({"alpha": None}, TypeError, "alpha must be a number, got None"),
        *(({"epsilon": eps}, ValueError, "epsilon must be a positive number") for eps in (0, -1, math.inf, math.nan)),
        ({"kind": "heat"}, ValueError, '"ppr" or "laplacian", got \'heat\''),
        ({"max_operations": -1}, ValueError, "max_operations must be at least 0, got -1"),
        ({"max_operations": "5"}, TypeError, "max_operations must be a whole number, got '5'"),
        ({"G": nx.DiGraph([(0, 1)]), "kind": "laplacian"}, nx.NetworkXNotImplemented, "undirected"),
    ],
)
def test_bad_arguments(karate, arguments, error, message):
    with pytest.raises(error, match=message):
        fo.fifo_push(**{"G": karate, "source": 0, **arguments})


def test_two_entries_for_one_row_add_up(karate):
    class Entries:
        def items(self):
            return [(1, 0.25), (1, 0.75)]

    assert fo.fifo_push(karate, Entries()) == fo.fifo_push(karate, 1)
