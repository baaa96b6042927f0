import math
import pickle
import struct

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import nx_fastonl as fo
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.kernels import graph_kernel
from nx_fastonl.kernels.graph_kernel import GraphKernel
from nx_fastonl.kernels.matrix import KernelRows, plan_rows
from nx_fastonl.kernels.table import KERNELS
from nx_fastonl.push.elimination import Elimination
from tests import oracles
from tests.strategies import nodes_of, small_graphs

NAMES = list(KERNELS)
SCALED = ("scaled-laplacian", "scaled-regularized")


@st.composite
def kernels_on(draw, G):
    """Arguments of kernel_matrix, and the same for the oracle: every kernel, with and without its parameters."""
    n = len(G)
    name = draw(st.sampled_from(NAMES))
    smoothness = draw(st.floats(0.01, 5.0))
    ours = {"kernel": draw(st.sampled_from([name, KERNELS[name].alias])), "smoothness": smoothness}
    if draw(st.booleans()):
        ours["lam"] = ours.pop("smoothness") * n
    oracle = {"name": name, "lam": smoothness * n}
    beta = {
        "normalized-adjacency": st.floats(0.01, 0.99).map(lambda part: part * (1 + smoothness)),
        "scaled-laplacian": st.floats(0.0, 3.0),
        "scaled-regularized": st.floats(0.0, 3.0),
        "augmented-laplacian": st.floats(0.0, 3.0),
    }.get(name)
    if beta is not None:
        oracle["beta"] = 1 - smoothness if name == "scaled-laplacian" else smoothness
        if oracle["beta"] < 0 or draw(st.booleans()):
            ours["beta"] = oracle["beta"] = draw(beta)
    if name == "augmented-laplacian":
        oracle["b"] = 1 / n
        if draw(st.booleans()):
            ours["b"] = oracle["b"] = draw(st.floats(0.0, 3.0))
    if name in SCALED:
        S = draw(st.one_of(st.none(), st.just(1.0), st.lists(st.floats(0.1, 10.0), min_size=n, max_size=n)))
        if S is not None:
            oracle["S"] = np.broadcast_to(S, n)
            as_dict = isinstance(S, list) and draw(st.booleans())
            ours["S"] = dict(zip(G, S, strict=True)) if as_dict else S
    return ours, oracle


@given(st.data(), small_graphs())
def test_exact_matrix_is_that_of_the_definition(data, G):
    ours, oracle = data.draw(kernels_on(G))
    expected = oracles.kernel_matrix(oracles.adjacency(G), **oracle)
    assert_allclose(fo.kernel_matrix(G, exact=True, **ours), expected, atol=1e-10 * np.abs(expected).max())


def _entry_bound(G, node, epsilon, parameters):
    """What the bound of a saved row is."""
    rows = plan_rows(G, [node], epsilon=epsilon, **parameters)
    return float(rows.block(0, 1, np.zeros(1, dtype=np.uint8)).errors[0])


@given(st.data(), small_graphs(), st.sampled_from([1e-2, 1e-4, 1e-8]))
def test_pushed_columns_are_within_their_certificate(data, G, epsilon):
    ours, oracle = data.draw(kernels_on(G))
    node = data.draw(nodes_of(G))
    expected = oracles.kernel_matrix(oracles.adjacency(G), **oracle)
    exact = expected[list(G).index(node)]
    column, info = fo.kernel_column(G, node, epsilon=epsilon, full_output=True, **ours)
    found = np.array([column.get(v, info.elsewhere) for v in G])
    assert np.abs(found - exact).max() <= info.error + 1e-11 * np.abs(expected).max()
    rows = fo.kernel_matrix(G, [node], epsilon=epsilon, **ours).toarray()
    assert np.abs(rows[0] - exact).max() <= _entry_bound(G, node, epsilon, ours) + 1e-11 * np.abs(expected).max()
    array, array_info = fo.kernel_column(G, node, epsilon=epsilon, as_array=True, full_output=True, **ours)
    assert (array.dtype, array.tolist(), array_info) == (np.float64, found.tolist(), info)


@given(st.data(), small_graphs())
def test_columns_converge_as_epsilon_falls(data, G):
    ours, oracle = data.draw(kernels_on(G))
    node = data.draw(nodes_of(G))
    _, info = fo.kernel_column(G, node, epsilon=1e-13, full_output=True, **ours)
    expected = oracles.kernel_matrix(oracles.adjacency(G), **oracle)
    assert info.error <= 1e-6 * max(expected.max(), 1.0)


def test_the_bound_of_a_node_without_edges_does_not_depend_on_other_nodes():
    G = nx.Graph([(1, 1)])
    G.add_node(0)
    column, info = fo.kernel_column(G, 0, kernel="scaled-regularized", smoothness=1.0, beta=1e-80, full_output=True)
    assert info.error < 1e-12
    assert column == pytest.approx({0: 4.0})


@given(st.data(), small_graphs())
def test_error_bound_follows_from_c(data, G):
    """H 1 = c, from which the error bound follows."""
    ours, _ = data.draw(kernels_on(G))
    graph = CSRGraph.from_networkx(G)
    kernel = GraphKernel(graph, ours.pop("kernel"), **ours)
    rows = np.arange(len(G))
    pivots = kernel.system.pivots(rows)
    assert_allclose(pivots - graph.degrees, kernel.c(rows), rtol=1e-9, atol=1e-9 * pivots.max())
    assert kernel.largest_s >= kernel.s(rows).max() * (1 - 1e-15)


@pytest.mark.parametrize("smoothness", [5e-4, 0.01, 0.15, 0.9])
@pytest.mark.parametrize("name", ["cora", "political"])
def test_trace_is_estimated_well(real_graph, name, smoothness):
    for name_of_kernel in NAMES:
        kernel = GraphKernel(real_graph(name), name_of_kernel, smoothness)
        assert kernel.estimated_trace() == pytest.approx(kernel.exact_trace(), rel=0.08)


@given(small_graphs())
def test_trace_of_small_graphs(G):
    kernel = GraphKernel(CSRGraph.from_networkx(G))
    trace = kernel.exact_trace()
    assert trace / 3 < kernel.estimated_trace() < 3 * trace
    assert kernel.estimated_trace() == kernel.estimated_trace()


def test_trace_of_a_kernel_that_is_nearly_all_constant_is_positive():
    G = nx.complete_graph(20)
    nx.set_edge_attributes(G, 1e4, "weight")
    kernel = GraphKernel(CSRGraph.from_networkx(G), "K6", b=100.0)
    assert kernel.estimated_trace() == pytest.approx(kernel.exact_trace(), rel=0.08)


@pytest.mark.parametrize("weight", [1.0, 1e3, 1e6, 1e7])
def test_certificate_knows_of_rounding(weight):
    G = nx.path_graph(5)
    nx.set_edge_attributes(G, weight, "weight")
    column, info = fo.kernel_column(G, 0, "K1", epsilon=1e-12, full_output=True)
    exact = oracles.kernel_matrix(oracles.adjacency(G), "laplacian", 0.15 * 5)
    # Nearly all of M is the constant 2; for large weights the remainder is much below 1e-9.
    assert np.abs(oracles.to_vector(column, G) - exact[0]).max() <= info.error + 1e-15 * weight
    assert info.error < 1e-4


def test_same_kernel_same_work_however_its_diagonal_is_given(karate):
    degrees = dict(karate.degree(weight="weight"))
    default, info = fo.kernel_column(karate, 0, "K5", epsilon=1e-4, full_output=True)
    given, info_given = fo.kernel_column(karate, 0, "K5", S=degrees, epsilon=1e-4, full_output=True)
    assert given == pytest.approx(default)
    assert info_given.operations == info.operations


def test_isolated_node_of_the_normalized_laplacian():
    G = nx.Graph([(0, 1)])
    G.add_node(2)
    assert fo.kernel_column(G, 2) == {2: pytest.approx(2 * 3)}


@pytest.mark.parametrize("beta", [0.0, 5e-324, 1e-101, 1e-99])
def test_vanishing_beta(beta):
    G = nx.Graph([(0, 1)])
    G.add_node(2)
    for node in G:
        column, info = fo.kernel_column(G, node, "K5", beta=beta, epsilon=1e-12, full_output=True)
        assert column == pytest.approx(fo.kernel_column(G, node, "K2", epsilon=1e-12), rel=1e-9)
        assert math.isfinite(info.error)


def test_matrix_over_threads_and_in_order(karate):
    one = fo.kernel_matrix(karate, [5, 0, 33])
    two = fo.kernel_matrix(karate, [5, 0, 33], n_jobs=2)
    assert (one != two).nnz == 0
    assert one.has_sorted_indices
    assert fo.kernel_matrix(karate, []).shape == (0, 34)
    exact = fo.kernel_matrix(karate, [5, 0], exact=True)
    assert_allclose(exact, fo.kernel_matrix(karate, exact=True)[[5, 0]])
    assert fo.kernel_matrix(karate, [], exact=True).shape == (0, 34)


@pytest.mark.parametrize("kernel", ["K1", "K6"])
def test_top_k_keeps_the_largest(karate, kernel):
    whole = fo.kernel_matrix(karate, [5, 0, 33], kernel).toarray()
    cut = fo.kernel_matrix(karate, [5, 0, 33], kernel, top_k=4)
    assert np.diff(cut.indptr).tolist() == [4, 4, 4]
    assert cut.has_sorted_indices
    for full, kept in zip(whole, cut.toarray(), strict=True):
        largest = np.argsort(-full)[:4]
        assert set(np.flatnonzero(kept)) == set(largest)
        assert_allclose(kept[largest], full[largest])
    with pytest.raises(ValueError, match=r"with exact=True rows are dense.*top_k has no meaning: got 2"):
        fo.kernel_matrix(karate, exact=True, top_k=2)
    with pytest.raises(ValueError, match="top_k must be at least 1, got 0"):
        fo.kernel_matrix(karate, top_k=0)


def test_results_are_plain_python(karate):
    column, info = fo.kernel_column(karate, 0, full_output=True)
    assert {type(value) for value in column.values()} == {float}
    assert type(info.error) is type(info.elsewhere) is float


def test_exact_matrix_of_a_large_graph_is_refused(monkeypatch, karate):
    monkeypatch.setattr(graph_kernel, "MAX_EXACT_NODES", 33)
    with pytest.raises(ValueError, match=r"34 nodes takes 0.0 GB .* up to 33 nodes"):
        fo.kernel_matrix(karate, exact=True)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "heat"}, r"unknown kernel 'heat'; the kernels are \"laplacian\" \(K1\), .*K6"),
        ({"kernel": 1}, "unknown kernel 1"),
        ({"smoothness": 0.1, "lam": 3.0}, "give one of them, got smoothness=0.1 and lam=3.0"),
        ({"smoothness": 0}, "smoothness must lie between 1e-09 and 1e[+]09, got 0"),
        ({"smoothness": math.nan}, "smoothness must lie between"),
        ({"lam": -1}, "lam must lie between 3.4e-08 and 3.4e[+]10, got -1"),
        ({"kernel": "K3", "beta": 1.2}, "beta must lie strictly between 0 and 1.15, .*got 1.2"),
        ({"kernel": "K3", "beta": 0}, "beta must lie strictly between"),
        ({"kernel": "K4", "beta": -0.1}, "beta must lie between 0 and"),
        ({"kernel": "K4", "smoothness": 1.5}, "negative for smoothness = 1.5; pass a beta"),
        ({"kernel": "K6", "b": -1}, "b must lie between 0"),
        ({"kernel": "K4", "S": [1.0]}, "an array of 34 numbers, got float64 of shape"),
        ({"kernel": "K4", "S": {0: 1.0}}, "that of 1 is missing"),
        ({"kernel": "K5", "S": -1.0}, "S must lie between 1e-18 and 1e[+]18, got -1.0"),
        ({"kernel": "K5", "S": {0: -1.0}}, "S at node 0 must lie between"),
        ({"kernel": "K5", "S": [[1.0], 2.0]}, "S must be a number, a dict or an array"),
        ({"kernel": "K5", "S": True}, "S must be a number, a dict or an array"),
        (
            {"kernel": "K1", "smoothness": 1e-8},
            "adds c = 1e-08 to the degree 48 of node 33, which must be at least 1e-09",
        ),
        ({"kernel": "K4", "S": 1e-12, "beta": 0}, "adds c = 1.5e-13 to the degree .* scale the weights down"),
        ({"epsilon": 0}, "epsilon must be a positive number"),
        ({"smoothness": 10**400}, r"smoothness must lie between 1e-09 and 1e\+09, got an integer of about 401 digits"),
        ({"lam": 10**400}, r"lam must lie between 3.4e-08 and 3.4e\+10, got an integer of about 401 digits"),
        ({"kernel": "K4", "beta": 10**400}, r"beta must lie between 0 and 1e\+100, got an integer of about 401"),
        ({"kernel": "K6", "b": -(10**400)}, r"b must lie between 0 and 1e\+100, got a negative integer of about 401"),
        (
            {"lam": 10**400, "smoothness": 1},
            "give one of them, got smoothness=1 and lam=an integer of about 401 digits",
        ),
        ({"kernel": "K" * 1_000}, r"unknown kernel 'K{119}\.\.\. \(1,002 characters\); the kernels are"),
    ],
)
def test_values_out_of_range(karate, parameters, message):
    for function in (lambda **arguments: fo.kernel_column(karate, 0, **arguments),
                     lambda **arguments: fo.kernel_matrix(karate, **arguments)):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            function(**parameters)


def test_parameters_of_other_kernels_are_refused(karate):
    with pytest.raises(TypeError, match="'normalized-laplacian' takes neither beta, b nor S; it has no parameter beta"):
        fo.kernel_column(karate, 0, beta=0.5)
    with pytest.raises(TypeError, match="takes beta and S; it has no parameter b"):
        fo.kernel_column(karate, 0, "K4", b=0.5)
    with pytest.raises(TypeError, match="there is no parameter 'alpha'; kernels have lam, beta, b, S"):
        fo.kernel_column(karate, 0, alpha=0.5)
    with pytest.raises(TypeError, match="S at node 0 must be a number, got '2'"):
        fo.kernel_column(karate, 0, "K4", S=dict.fromkeys(karate, "2"))
    assert GraphKernel(CSRGraph.from_networkx(nx.empty_graph(200_000)), smoothness=np.float16(0.5)).lam == 100_000
    with pytest.raises(TypeError, match="smoothness must be a number, got '1'"):
        fo.kernel_column(karate, 0, smoothness="1")


def test_graphs_that_have_no_kernel(karate):
    with pytest.raises(nx.NetworkXNotImplemented, match="undirected"):
        fo.kernel_column(nx.DiGraph(karate), 0)
    with pytest.raises(nx.NodeNotFound, match="'x'"):
        fo.kernel_column(karate, "x")
    with pytest.raises(TypeError, match=r"pass \[3\]"):
        fo.kernel_matrix(karate, 3)


def test_a_hub_is_pushed_however_large_epsilon_is(karate):
    assert fo.kernel_column(karate, 0, epsilon=1.0)


@given(st.data(), small_graphs())
def test_a_pickled_kernel_is_the_same(data, G):
    graph = CSRGraph.from_networkx(G)
    ours, _ = data.draw(kernels_on(G))
    kernel = GraphKernel(graph, ours.pop("kernel"), **ours)
    restored, rows = pickle.loads(pickle.dumps(kernel)), np.arange(len(graph))
    for name in ("name", "lam", "beta", "b", "a", "g", "largest_s"):
        assert getattr(restored, name) == getattr(kernel, name)
    assert restored.system.pivots(rows).tolist() == kernel.system.pivots(rows).tolist()
    assert restored.s(rows).tolist() == kernel.s(rows).tolist()


def test_a_damaged_kernel_is_refused(karate):
    """On a system with such a c, no push would end."""
    graph = CSRGraph.from_networkx(karate)
    content = pickle.dumps(GraphKernel(graph, "K6", smoothness=0.15, beta=0.25))
    for number, damaged in [(0.15, 1e-39), (0.25, math.nan), (0.15, math.inf)]:
        with pytest.raises(ValueError, match="must lie between"):
            pickle.loads(content.replace(struct.pack(">d", number), struct.pack(">d", damaged)))


def test_rows_that_take_long_leave_nothing_for_the_next():
    G = nx.disjoint_union(nx.random_regular_graph(4, 3000, seed=1), nx.path_graph(4))
    sources = [source for i in range(3) for source in (i, 3000 + i)]
    found = fo.kernel_matrix(G, sources, lam=1e2).toarray()
    for i, source in enumerate(sources):
        assert (found[i] == fo.kernel_matrix(G, [source], lam=1e2).toarray()[0]).all()


@pytest.fixture
def inverted(monkeypatch):
    """The sizes of the components on which H is inverted."""
    sizes = []

    def invert(self, rows):
        sizes.append(len(rows))
        return original(self, rows)

    original = Elimination.invert
    monkeypatch.setattr(Elimination, "invert", invert)
    return sizes


def two_components(n):
    """Random graphs of n and n + 2 nodes."""
    return nx.disjoint_union(nx.random_regular_graph(4, n, seed=1), nx.random_regular_graph(4, n + 2, seed=2))


@pytest.mark.parametrize("kernel", ["normalized-laplacian", "augmented-laplacian"])
def test_rows_that_take_long_are_solved(inverted, kernel):
    """Also where all values have a constant taken away."""
    G = nx.random_regular_graph(4, 300, seed=1)
    exact = fo.kernel_matrix(G, kernel=kernel, smoothness=1e-8, exact=True)
    rows = plan_rows(G, [7, 0, 7], kernel, 1e-8)
    found = rows.block(0, 3, np.zeros(1, dtype=np.uint8))
    assert inverted == [300]
    off = np.abs(found.values.reshape(3, 300) - exact[[7, 0, 7]]).max(axis=1)
    assert (off <= found.errors).all()
    assert (found.errors <= 1e-6 * (np.abs(exact).max() + rows.kernel.g)).all()


def test_components_take_turns_and_are_inverted_once(inverted):
    G = two_components(200)
    in_turn = [source for i in range(6) for source in (i, 200 + i)]
    found = fo.kernel_matrix(G, in_turn, smoothness=1e-8)
    assert sorted(inverted) == [200, 202]
    one_by_one = [fo.kernel_matrix(G, [source], smoothness=1e-8).toarray()[0] for source in in_turn]
    assert (found.toarray() == one_by_one).all()
    assert (found != fo.kernel_matrix(G, in_turn, smoothness=1e-8, n_jobs=3)).nnz == 0


@pytest.mark.parametrize(("kernel", "n_pushes"), [("normalized-laplacian", 0), ("augmented-laplacian", 1)])
def test_no_row_is_pushed_twice(monkeypatch, kernel, n_pushes):
    """What the compiled loop has pushed in vain is not pushed again, before the row is solved."""
    rows = plan_rows(two_components(200), None, kernel, 1e-8)
    running = np.zeros(1, dtype=np.uint8)
    pushed = []
    monkeypatch.setattr(rows, "_push", lambda u, *limits: pushed.append(u) or KernelRows._push(rows, u, *limits))
    rows.block(0, 2, running)
    assert pushed == [0, 1] * n_pushes


@pytest.mark.parametrize(
    ("kernel", "parameters"),
    [
        ("scaled-laplacian", {"S": np.geomspace(0.1, 50, 31)}),
        ("scaled-regularized", {"S": np.geomspace(0.1, 50, 31)}),
        ("scaled-regularized", {"S": 3.0}),
        ("normalized-laplacian", {}),
        ("normalized-laplacian", {"smoothness": 1e-7}),  # 1 + smoothness has lost half of the digits
    ],
)
def test_bounds_of_rows_are_those_of_single_pushes(kernel, parameters):
    G = nx.star_graph(30)
    G.add_edges_from(nx.cycle_graph(31).edges)
    rows = plan_rows(G, None, kernel, epsilon=0.1, **parameters)  # pushed in the same order
    running = np.zeros(1, dtype=np.uint8)
    alone = [rows.kernel.column_error(u, rows._push(u, None, running)) for u in range(31)]
    assert rows.block(0, 31, running).errors == pytest.approx(alone, rel=1e-14)
