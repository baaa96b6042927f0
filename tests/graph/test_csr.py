import pickle
import tracemalloc

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from nx_fastonl.graph._check import find_fault
from nx_fastonl.graph.convert import as_csr_graph
from nx_fastonl.graph.csr import CSRGraph
from tests import oracles
from tests.strategies import small_graphs


def dense(graph):
    return graph.to_scipy().toarray()


@given(st.one_of(small_graphs(), small_graphs(directed=True)), st.sampled_from(["weight", None]))
def test_networkx_conversion_matches_the_edge_list(G, weight):
    graph = CSRGraph.from_networkx(G, weight)
    W = oracles.adjacency(G, weight)
    assert_array_equal(dense(graph), W)
    assert list(graph.nodes) == list(G)
    assert graph.is_directed() == G.is_directed()
    assert graph.number_of_edges() == G.number_of_edges()
    np.testing.assert_allclose(graph.degrees, W.sum(axis=1), rtol=1e-14)
    assert [graph.index(node) for node in G] == list(range(len(G)))
    if np.isin(W, [0, 1]).all():
        assert graph.weights is None


@pytest.mark.parametrize("kind", [nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("weight", ["weight", None])
def test_parallel_edges_add_up(kind, weight):
    G = kind([("a", "b", {"weight": 2}), ("a", "b", {"weight": 0.5}), ("b", "b", {}), ("b", "b", {}), ("b", "c", {})])
    assert_array_equal(dense(CSRGraph.from_networkx(G, weight)), oracles.adjacency(G, weight))


def test_edges_of_weight_zero_are_left_out():
    graph = CSRGraph.from_networkx(nx.Graph([("a", "b", {"weight": 0}), ("b", "c", {"weight": 3})]))
    assert graph.number_of_edges() == 1
    assert graph.degrees.tolist() == [0.0, 3.0, 3.0]


def test_nodes_equal_to_integers_under_another_type():
    G = nx.Graph([(0, 1), (1, 2)])
    G.add_edge(0, 2.0)
    G.add_edge(True, np.int64(2))
    assert_array_equal(dense(CSRGraph.from_networkx(G)), oracles.adjacency(nx.complete_graph(3)))


@pytest.mark.parametrize(
    "value", [-1, float("nan"), float("inf"), "3", None, 1j, 10**400, 1e-200, np.float32("nan"), [1]]
)
@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph])
def test_bad_weights_name_the_edge(value, kind):
    G = kind([("a", "b"), ("b", "c", {"cost": value})])
    with pytest.raises(ValueError, match=r"edge \('b', 'c'\) has cost"):
        CSRGraph.from_networkx(G, weight="cost")
    assert CSRGraph.from_networkx(G, weight=None).number_of_edges() == 2


@pytest.mark.parametrize("G", [nx.Graph(), nx.DiGraph(), sparse.csr_array((0, 0))])
def test_empty_graph_is_refused(G):
    with pytest.raises(nx.NetworkXPointlessConcept, match="no nodes"):
        as_csr_graph(G)


@pytest.mark.parametrize("G", [{1: [2]}, np.eye(3), None])
def test_other_types_are_refused(G):
    with pytest.raises(TypeError, match=r"nx\.Graph"):
        as_csr_graph(G)
    with pytest.raises(TypeError, match=r"nx\.Graph"):
        CSRGraph.from_networkx(G)
    with pytest.raises(TypeError, match="scipy sparse"):
        CSRGraph.from_scipy(G)


def test_weights_of_arrays_can_be_ignored():
    graph = CSRGraph.from_edges([0, 1], [1, 2], weights=[0.5, 3.0], nodes=["a", "b", "c"])
    plain = as_csr_graph(graph, weight=None)
    assert plain.weights is None
    assert plain.degrees.tolist() == [1.0, 2.0, 1.0]
    assert list(plain) == ["a", "b", "c"]
    assert as_csr_graph(graph) is graph
    assert as_csr_graph(graph, weight=None) is plain
    assert as_csr_graph(plain, weight=None) is plain


def compressed(entries, layout, dtype):
    """A sparse matrix that lists these entries in this order, zeros and duplicates included, for types of indices."""
    if layout in ("csr", "csc"):
        axis = 0 if layout == "csr" else 1
        entries = sorted(entries, key=lambda entry: entry[axis])
        sizes = [sum(entry[axis] == u for entry in entries) for u in range(4)]
        A = sparse.coo_array((4, 4)).asformat(layout)
        A.data = np.array([w for *_, w in entries])
        A.indices = np.array([entry[1 - axis] for entry in entries], dtype=dtype)
        A.indptr = np.array([0, *np.cumsum(sizes)], dtype=dtype)
        return A
    ends = tuple(np.array([entry[i] for entry in entries], dtype=dtype) for i in (0, 1))
    A = sparse.coo_array((np.array([w for *_, w in entries], dtype=float), ends), shape=(4, 4))
    return A if layout == "coo" else A.tobsr((2, 2))


def with_indptr(indptr):
    A = sparse.csr_array(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]))
    A.indptr = np.array(indptr)
    return A


class TestFromScipy:
    @pytest.mark.parametrize("layout", ["csr", "csc", "coo", "lil", "dok", "bsr"])
    @pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float32, np.float64])
    def test_every_format_and_type(self, layout, dtype):
        W = np.array([[1, 1, 0], [1, 0, 3], [0, 3, 0]]).astype(dtype)
        for A in (sparse.csr_array(W).asformat(layout), sparse.csr_matrix(W).asformat(layout)):
            graph = CSRGraph.from_scipy(A)
            assert_array_equal(dense(graph), W.astype(float))
            assert not graph.is_directed()

    def test_duplicates_and_zeros_do_not_change_the_given_array(self):
        A = sparse.csr_array(
            (np.array([1.0, 2.0, 0.0, 3.0]), np.array([1, 1, 0, 0]), np.array([0, 3, 4])), shape=(2, 2)
        )
        graph = CSRGraph.from_scipy(A)
        assert_array_equal(dense(graph), [[0, 3], [3, 0]])
        assert A.nnz == 4

    @given(
        st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0]))),
        st.sampled_from(["csr", "csc", "coo", "bsr"]),
        st.sampled_from([np.int32, np.int64]),
        st.booleans(),
    )
    def test_entries_in_any_order_add_up_and_stay_as_they_were(self, entries, layout, dtype, mirrored):
        if mirrored:
            entries = entries + [(v, u, w) for u, v, w in entries]
        W = np.zeros((4, 4))
        for u, v, w in entries:
            W[u, v] += w
        A = compressed(entries, layout, dtype)
        before = {name: np.array(getattr(A, name)) for name in ("data", "indices", "indptr", "row") if hasattr(A, name)}
        graph = CSRGraph.from_scipy(A)
        assert_array_equal(dense(graph), W)
        assert graph.is_directed() == (W != W.T).any()
        assert find_fault(graph.indptr, graph.indices, graph.weights, symmetric=not graph.is_directed()) is None
        assert (graph.weights is None) == np.isin(W, (0.0, 1.0)).all()
        for name, array in before.items():
            assert_array_equal(getattr(A, name), array)
            assert getattr(A, name).dtype == array.dtype

    @pytest.mark.parametrize(("layout", "times"), [("csr", 1.2), ("csc", 2.5), ("coo", 2.5)])
    def test_memory(self, layout, times):
        rng = np.random.default_rng(0)
        ends = [rng.integers(0, 20_000, 400_000).astype(np.int32) for _ in range(2)]
        A = sparse.coo_array((rng.random(400_000) + 1, ends), shape=(20_000, 20_000)).tocsr().asformat(layout)
        CSRGraph.from_scipy(sparse.eye_array(2, format=layout))  # whatever the first call loads
        tracemalloc.start()
        graph = CSRGraph.from_scipy(A)
        size, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(graph.indices) == A.nnz
        assert peak <= times * size

    def test_small_integers_do_not_overflow_where_entries_add_up(self):
        ends = (np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
        A = sparse.coo_array((np.array([200, 100, 200, 100], dtype=np.uint8), ends), shape=(2, 2))
        assert CSRGraph.from_scipy(A).degrees.tolist() == [300.0, 300.0]

    def test_direction_is_found_or_told(self):
        A = sparse.csr_array([[0, 1], [0, 0]])
        assert CSRGraph.from_scipy(A).is_directed()
        assert CSRGraph.from_scipy(A + A.T, directed=True).is_directed()
        with pytest.raises(ValueError, match="not symmetric"):
            CSRGraph.from_scipy(A, directed=False)

    def test_weight_none_ignores_the_values(self):
        assert CSRGraph.from_scipy(sparse.csr_array([[0, 4], [4, 0]]), weight=None).weights is None

    @pytest.mark.parametrize(
        ("A", "message"),
        [
            (sparse.csr_array((2, 3)), "square"),
            (sparse.csr_array([[0, 1j], [1j, 0]]), "real numbers"),
            (sparse.csr_array([[0, -1], [-1, 0]]), r"edge \(0, 1\) has weight -1"),
            (sparse.csr_array([[0, 1], [np.nan, 0]]), r"edge \(1, 0\) has weight nan"),
            (sparse.csr_array((np.ones(2), np.array([10**8, 0]), np.array([0, 1, 2])), shape=(2, 2)), "to 100000000"),
            (with_indptr([0, 3, 1, 2]), "indptr must rise from 0"),
            (with_indptr([1, 1, 1, 2]), "indptr|index pointer"),
        ],
    )
    def test_bad_matrices(self, A, message):
        with pytest.raises(ValueError, match=message):
            CSRGraph.from_scipy(A)


class TestFromEdges:
    @given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.floats(0.5, 9)), max_size=15), st.booleans())
    def test_edges_add_up(self, edges, directed):
        G = nx.MultiDiGraph() if directed else nx.MultiGraph()
        G.add_nodes_from(range(7))
        G.add_weighted_edges_from(edges)
        sources, targets, weights = zip(*edges, strict=True) if edges else ([], [], [])
        graph = CSRGraph.from_edges(sources, targets, weights, n=7, directed=directed)
        np.testing.assert_allclose(dense(graph), oracles.adjacency(G), rtol=1e-14)

    @pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.uint32, np.uint64])
    def test_narrow_and_unsigned_ends(self, dtype):
        with pytest.warns(UserWarning, match="most of the nodes 0 to 127 have no edge"):
            graph = CSRGraph.from_edges(np.array([0, 1], dtype=dtype), np.array([127, 127], dtype=dtype))
        assert len(graph) == 128
        assert graph.degrees[127] == 2.0

    def test_names_and_count(self):
        graph = CSRGraph.from_edges([0, 1], [1, 1], nodes="abc")
        assert list(graph) == ["a", "b", "c"]
        assert graph.weights is None
        assert len(CSRGraph.from_edges([0], [3])) == 4

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (([0], [1, 2]), "parallel"),
            (([0], [1], [1, 2]), "parallel"),
            (([0], [1], 3), "parallel"),
            (([0], [2**63]), r"2\*\*31 - 1 nodes"),
            (([-1], [0]), "between 0 and 0, got -1"),
            (([0.5], [1]), "integers"),
            (([0], [1], [-2.0]), r"edge \(0, 1\) has weight -2"),
            (([0], [1], ["x"]), "real numbers"),
        ],
    )
    def test_bad_edges(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            CSRGraph.from_edges(*arguments)


class TestConstructor:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (([1, 2], [0]), "rise from 0"),
            (([0, 2], [0]), "rise from 0"),
            (([0, 2, 1, 2], [0, 1]), "rise from 0"),
            (([], []), "rise from 0"),
            (([0, 1], [7]), "between 0 and 0, got 7"),
            (([0, 1], [-1]), "between 0 and 0, got -1"),
            (([0.0, 1.0], [0]), "indptr must be a one-dimensional array of integers"),
            (([0, 1], [0], [1.0, 2.0]), "parallel"),
            (([0, 1], [0], [0.0]), "positive"),
            (([0, 1], [0], [np.inf]), r"edge \(0, 0\) has weight inf"),
            ((np.array([0, 5, 2], dtype=np.uint32), [0, 1]), "rise from 0"),
            ((np.array([0, 5, 2], dtype=np.uint64), [0, 1]), "rise from 0"),
            ((np.array([0, 100, -100, 2], dtype=np.int8), [0, 1]), "rise from 0"),
            (([0, 2**63 - 1, -(2**63), -1, 2], [0, 1]), "rise from 0"),
            ((np.array([0, 2**64 - 1, 2], dtype=np.uint64), [0, 1]), r"2\*\*31 - 1 nodes"),
            (([0, 1, 2], [1, 1]), "not symmetric"),
            (([0, 1, 2], [1, 0], [1.0, 2.0]), "not symmetric"),
            (([0, 2, 4], [1, 1, 0, 0]), "lists a neighbour twice"),
        ],
    )
    def test_bad_arrays(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            CSRGraph(*arguments)

    @pytest.mark.parametrize("nodes", ["a", "abc", "aa"])
    def test_bad_names(self, nodes):
        with pytest.raises(ValueError, match="each of the 2 nodes once"):
            CSRGraph([0, 0, 0], [], nodes=nodes)

    def test_arrays_are_read_only(self):
        graph = CSRGraph([0, 1, 2], [1, 0], [2.0, 2.0])
        for array in (graph.indptr, graph.indices, graph.weights, graph.degrees):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1

    def test_nothing_can_be_changed(self):
        graph = CSRGraph([0, 1, 2], [1, 0], nodes="ab")
        with pytest.raises(AttributeError, match="cannot be changed"):
            graph.indptr = np.array([0, 1000, 2000])
        assert isinstance(graph.nodes, tuple)
        assert not pickle.loads(pickle.dumps(graph)).indices.flags.writeable

    def test_arrays_are_copied(self):
        indptr, indices, weights = np.array([0, 1, 2]), np.array([1, 0], dtype=np.int32), np.ones(2)
        graph = CSRGraph(indptr, indices, weights)
        indices[:] = 10**6
        assert graph.indices.tolist() == [1, 0]

    def test_unknown_nodes(self):
        for graph in (CSRGraph([0, 0, 0], []), CSRGraph([0, 0, 0], [], nodes="ab")):
            for node in (2, -1, "c", 0.5, None, [0], {}, float("nan"), -2):
                assert node not in graph
                with pytest.raises(nx.NodeNotFound, match="not in the graph"):
                    graph.index(node)

    def test_nodes_are_found_by_equality_as_in_a_dict(self):
        for graph in (CSRGraph([0, 0, 0], []), CSRGraph([0, 0, 0], [], nodes=[1, 0])):
            row = graph.index(1)
            assert {graph.index(node) for node in (1, 1.0, np.int64(1), np.float32(1), True, np.True_)} == {row}

    def test_names_from_an_array_are_plain_objects_and_a_set_is_refused(self):
        graph = CSRGraph([0, 0, 0], [], nodes=np.array([7, 8]))
        assert [type(node) for node in graph] == [int, int]
        with pytest.raises(TypeError, match="sequence"):
            CSRGraph([0, 0, 0], [], nodes={"a", "b"})

    def test_pickle(self):
        graph = CSRGraph.from_edges([0, 1], [1, 2], [1.5, 2.0], nodes="abc", directed=True)
        copy = pickle.loads(pickle.dumps(graph))
        assert repr(copy) == "directed CSRGraph with 3 nodes and 2 edges"
        assert copy.index("c") == 2
        assert_array_equal(dense(copy), dense(graph))


@given(small_graphs())
def test_components(G):
    graph = CSRGraph.from_networkx(G)
    found = {frozenset(graph.nodes[u] for u in np.flatnonzero(graph.components == c)) for c in graph.components}
    assert found == {frozenset(component) for component in nx.connected_components(G)}
    assert not graph.components.flags.writeable


@given(small_graphs(directed=True))
def test_components_of_directed_graphs(G):
    graph = CSRGraph.from_networkx(G)
    firsts = sorted(min(map(graph.index, component)) for component in nx.weakly_connected_components(G))
    numbers = graph.components
    for component in nx.weakly_connected_components(G):
        rows = graph.rows_of(component)
        assert {firsts.index(min(rows))} == set(numbers[rows].tolist())
    assert graph.self_loops == nx.number_of_selfloops(G)


@st.composite
def raw_rows(draw):
    """Rows in any order, often symmetric; the matrix of their weights, or None where a neighbour is listed twice."""
    n = draw(st.integers(1, 6))
    W = np.array(draw(st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.0]), min_size=n * n, max_size=n * n))).reshape(n, n)
    if draw(st.booleans()):
        W = np.maximum(W, W.T)
    rows = [draw(st.permutations(np.flatnonzero(row).tolist())) for row in W]
    if draw(st.booleans()):
        rows = [sorted(row) for row in rows]
    twice = draw(st.sampled_from([None, None, *(u for u in range(n) if rows[u])]))
    if twice is not None:
        rows[twice] = [*rows[twice], rows[twice][0]]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    indices = np.array([v for row in rows for v in row], dtype=np.int32)
    weights = np.array([W[u, v] for u, row in enumerate(rows) for v in row])
    return indptr, indices, weights, None if twice is not None else W


@settings(max_examples=500)
@given(raw_rows(), st.booleans())
def test_faults_of_rows_are_found(case, weighted):
    indptr, indices, weights, W = case
    found = find_fault(indptr, indices, weights if weighted else None, symmetric=True)
    if W is None:
        assert found == "twice"
        assert find_fault(indptr, indices, weights, symmetric=False) == "twice"
        return
    W = W if weighted else W > 0
    assert found == (None if (W == W.T).all() else "one-sided")
    assert find_fault(indptr, indices, weights, symmetric=False) is None


def test_one_sided_rows_are_named():
    with pytest.raises(ValueError, match="not symmetric: rows 0 and 2 differ about their edge"):
        CSRGraph([0, 2, 3, 3], [1, 2, 0])


def test_neighbours_that_are_no_nodes_are_refused():
    G = nx.path_graph(3)
    G._adj[0][2**32 + 1] = {}
    with pytest.raises(ValueError, match="node 0 has the neighbour 4294967297, which is not a node of the graph"):
        CSRGraph.from_networkx(G)


def test_the_matrix_of_unsorted_rows_is_a_sorted_copy():
    graph = CSRGraph([0, 2, 4, 6], [2, 1, 2, 0, 1, 0])
    W = graph.to_scipy()
    W.sort_indices()
    assert (W.indices.tolist(), graph.indices.tolist()) == ([1, 2, 0, 2, 0, 1], [2, 1, 2, 0, 1, 0])
