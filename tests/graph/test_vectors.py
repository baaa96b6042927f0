"""Weights and seeds as dicts and arrays, through the functions that take them."""

import re
import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import nx_fastonl as fo
from tests import oracles
from tests.strategies import alphas, masses, nodes_of, small_graphs

pagerank = fo.personalized_pagerank_local
WEIGHTS = np.linspace(0.0, 1.0, num=34)


def in_order(values, G):
    """The same dict in the order of the graph's nodes."""
    return {node: values[node] for node in G if node in values}


@st.composite
def graphs_in_all_forms(draw):
    """A graph, and this graph as nx.Graph, CSRGraph or scipy array, whose nodes are numbers."""
    G = draw(small_graphs(directed=draw(st.booleans())))
    form = draw(st.sampled_from(["networkx", "csr", "scipy"]))
    if form == "csr":
        return G, fo.CSRGraph.from_networkx(G)
    if form == "scipy":
        A = nx.to_scipy_sparse_array(G, dtype=float)
        return nx.relabel_nodes(G, dict(zip(G, range(len(G)), strict=True))), A
    return G, G


class TestWeights:
    @given(st.data(), graphs_in_all_forms(), alphas(), st.sampled_from([None, 1e-3, 1e-10]))
    def test_an_array_is_a_dict_in_the_order_of_the_nodes(self, data, forms, damping, tol):
        G, graph = forms
        dicts, arrays = {"tol": tol}, {"tol": tol}
        for name in ("personalization", "dangling", "nstart"):
            if name == "personalization" or data.draw(st.booleans()):
                dicts[name] = in_order(data.draw(masses(G)), G)
                arrays[name] = oracles.to_vector(dicts[name], G)
        expected, expected_info = pagerank(graph, damping, full_output=True, **dicts)
        found, info = pagerank(graph, damping, full_output=True, as_array=True, **arrays)
        assert found.tolist() == oracles.to_vector(expected, G).tolist()
        assert info == expected_info
        seeds, jumps = (
            None if (given := arrays.get(name)) is None else given / given.sum()
            for name in ("personalization", "dangling")
        )
        exact = oracles.pagerank(oracles.adjacency(G), seeds, damping, jumps)
        assert np.abs(found - exact).sum() <= info.l1_error + 1e-13

    @given(st.data(), small_graphs(), st.sampled_from(["ppr", "laplacian"]))
    def test_a_source_of_fifo_push(self, data, G, kind):
        source = in_order(data.draw(masses(G)), G)
        expected = fo.fifo_push(G, source, 0.2, 1e-3, kind, full_output=True)
        found = fo.fifo_push(G, oracles.to_vector(source, G), 0.2, 1e-3, kind, full_output=True)
        assert found == expected

    @pytest.mark.parametrize("few", [True, False])
    def test_views_have_their_own_order(self, karate, few):
        G = nx.relabel_nodes(karate, str).subgraph(str(i) for i in (range(8, 0, -1) if few else range(33, 4, -1)))
        weights = np.arange(1.0, len(G) + 1)
        expected = oracles.networkx_pagerank(G, personalization=dict(zip(G.nodes, weights, strict=True)))
        found = pagerank(G, personalization=weights, tol=1e-11, as_array=True)
        assert_allclose(found, oracles.to_vector(expected, G.nodes), atol=1e-9)

    @pytest.mark.usefixtures("_no_note_on_the_cache")
    def test_arrays_through_dispatch(self, karate):
        expected = pagerank(karate, personalization=WEIGHTS, as_array=True)
        assert_array_equal(pagerank(karate, personalization=WEIGHTS, as_array=True, backend="fastonl"), expected)
        with nx.config.backend_priority(algos=["fastonl"]):
            assert_array_equal(pagerank(karate, personalization=WEIGHTS, as_array=True), expected)

    def test_floats_of_all_kinds(self, karate):
        expected = pagerank(karate, personalization=WEIGHTS, as_array=True)
        read_only = WEIGHTS.copy()
        read_only.flags.writeable = False
        for array in (
            WEIGHTS.astype(">f8"),
            WEIGHTS.astype(np.longdouble),
            np.repeat(WEIGHTS, 2)[::2],
            WEIGHTS[::-1].copy()[::-1],
            read_only,
        ):
            assert_array_equal(pagerank(karate, personalization=array, as_array=True), expected)
        for kind in (np.float16, np.float32):
            rounded = WEIGHTS.astype(kind)
            found = pagerank(karate, personalization=rounded, as_array=True)
            assert_array_equal(found, pagerank(karate, personalization=rounded.astype(float), as_array=True))

    def test_what_is_passed_does_not_change(self, karate):
        array = WEIGHTS.copy()
        pagerank(karate, personalization=array, dangling=array, nstart=array, tol=1e-9)
        assert_array_equal(array, WEIGHTS)

    def test_what_was_checked_is_what_is_used(self, karate):
        class Changing(np.ndarray):
            """Weights that become negative as soon as somebody has looked at them."""

            def __array_ufunc__(self, ufunc, method, *inputs, **options):
                result = getattr(ufunc, method)(*map(np.asarray, inputs), **options)
                np.asarray(self)[:] = -1.0
                return result

        expected = pagerank(karate, personalization=WEIGHTS, as_array=True)
        found = pagerank(karate, personalization=WEIGHTS.copy().view(Changing), as_array=True)
        assert_array_equal(found, expected)

    @pytest.mark.parametrize("name", ["personalization", "dangling", "nstart", "source"])
    @pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, 1e101])
    def test_bad_values(self, name, value):
        G = nx.relabel_nodes(nx.path_graph(4), dict(enumerate("abcd")))
        weights = np.array([1.0, 0.0, value, -5.0])
        message = re.escape(f"{name}[2], which is for node 'c', is {value!r}; it must be a number between 0 and 1e+100")
        with pytest.raises(ValueError, match=message):
            fo.fifo_push(G, weights) if name == "source" else pagerank(G, **{name: weights})

    def test_long_doubles_that_no_double_holds(self, karate):
        weights = WEIGHTS.astype(np.longdouble)
        with np.errstate(over="ignore"):
            weights[5] = np.longdouble(1e300) * np.longdouble(1e300)
        with pytest.raises(ValueError, match=r"personalization\[5\], which is for node 5, is inf"):
            pagerank(karate, personalization=weights)

    @pytest.mark.parametrize("name", ["personalization", "dangling", "nstart", "source"])
    def test_zeros_only(self, karate, name):
        with pytest.raises(ValueError, match=f"{name} sums to zero; at least one node needs a positive value"):
            fo.fifo_push(karate, np.zeros(34)) if name == "source" else pagerank(karate, **{name: np.zeros(34)})

    @pytest.mark.parametrize("name", ["dangling", "nstart", "source"])
    @pytest.mark.parametrize(
        ("array", "message"),
        [
            (np.ones(33), r"is an array of float64 of shape \(33,\); it must hold 34 floats, .* order of the graph$"),
            (np.ones((34, 1)), r"is an array of float64 of shape \(34, 1\); it must hold 34 floats"),
            (np.array(1.0), r"is an array of float64 of shape \(\); it must hold 34 floats"),
            (np.arange(34), r"is an array of int\d+ .*: pass array\.astype\(float\)$"),
            (np.ones(34, bool), r"is an array of bool .*: pass array\.astype\(float\)$"),
            (np.ones(34, complex), "is an array of complex128 .* order of the graph$"),
            (np.array(list("ab")), "is an array of <U1"),
            (np.ma.array(WEIGHTS, mask=WEIGHTS > 0.5), r"is a masked array.*: pass array\.filled\(0\.0\)$"),
        ],
    )
    def test_arrays_that_are_no_weights(self, karate, name, array, message):
        with pytest.raises(ValueError, match=f"^{name} {message}"):
            fo.fifo_push(karate, array) if name == "source" else pagerank(karate, **{name: array})

    def test_work_does_not_grow_in_python(self):
        def lines_run(n):
            G = nx.relabel_nodes(nx.cycle_graph(n), str)
            count, weights = 0, np.linspace(1.0, 2.0, num=n)
            pagerank(G, personalization=weights)  # converts the graph

            def trace(_frame, event, _argument):
                nonlocal count
                count += event == "line"
                return trace

            before = sys.gettrace()
            sys.settrace(trace)
            try:
                pagerank(G, personalization=weights, dangling=weights, nstart=weights, tol=1e-6, as_array=True)
            finally:
                sys.settrace(before)
            return count

        assert lines_run(5000) < lines_run(500) + 1000


class TestSeedsOrWeights:
    @pytest.mark.parametrize(
        ("nodes", "seeds"),
        [
            (range(34), np.array([3, 5, 3])),
            (range(34), np.array([3, 5], np.uint8)),
            (range(34), np.array([3, 5], object)),
            (map(str, range(34)), np.array(["3", "5"])),
            (map(str, range(34)), np.array(["3", "5"], object)),
            ((b"%d" % i for i in range(34)), np.array([b"3", b"5"])),
            ((i + 0.5 for i in range(34)), np.array([3.5, 5.5], object)),
        ],
    )
    def test_arrays_of_nodes(self, karate, nodes, seeds):
        names = list(nodes)
        G = nx.relabel_nodes(karate, dict(enumerate(names)))
        found = pagerank(G, personalization=seeds)
        assert found == pagerank(G, personalization=[names[3], names[5]])

    def test_all_nodes_may_be_seeds(self):
        G = nx.relabel_nodes(nx.path_graph(3), {0: "a", 1: "b", 2: "c"})
        assert pagerank(G, personalization=np.array(["c", "a", "b"])) == pagerank(G, personalization=["c", "a", "b"])
        grid = nx.grid_2d_graph(2, 2)
        seeds = np.empty(4, object)
        seeds[:] = list(grid)
        assert pagerank(grid, personalization=seeds) == pagerank(grid, personalization=list(grid))

    @pytest.mark.parametrize(
        "array", [np.arange(34), np.arange(34, dtype=np.uint8), np.arange(34) == 3, np.arange(34).astype(object)]
    )
    def test_numbers_for_all_nodes_are_ambiguous(self, karate, array):
        message = (
            f"personalization is an array of {array.dtype} with an entry for each of the 34 nodes, so it may be "
            "weights or seeds: pass array.astype(float) for weights, array.tolist() for seeds"
        )
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            pagerank(karate, personalization=array)
        weights = {node: float(value) for node, value in zip(karate, array, strict=True) if value}
        assert pagerank(karate, personalization=array.astype(float)) == pagerank(karate, personalization=weights)
        assert pagerank(karate, personalization=array.tolist()) == pagerank(karate, personalization=set(array))

    @pytest.mark.parametrize("kind", [float, np.float64])
    def test_floats_are_ambiguous_where_nodes_are_floats(self, kind):
        G = nx.relabel_nodes(nx.path_graph(3), {0: kind(0.5), 1: "b", 2: kind(0.25)})
        array = np.array([0.5, 0.0, 0.25])
        message = (
            "personalization is an array of float64, and the graph has floats as nodes: pass "
            "dict(zip(G, array.tolist())) for weights, array.tolist() for seeds"
        )
        for graph in (G, fo.CSRGraph.from_networkx(G)):
            with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
                pagerank(graph, personalization=array)
        expected = pagerank(nx.path_graph(3), personalization=array, as_array=True)
        weights = dict(zip(G, array.tolist(), strict=True))
        assert_array_equal(pagerank(G, personalization=weights, as_array=True), expected)
        # `nstart` and `dangling` take no seeds.
        assert pagerank(G, nstart=array, tol=1e-3) == pagerank(G, nstart=weights, tol=1e-3)
        assert pagerank(G, dangling=array, tol=1e-3) == pagerank(G, dangling=weights, tol=1e-3)

    @pytest.mark.parametrize(
        "array",
        [
            np.array([0.0, 5.0]),
            np.ones(35),
            np.ones((34, 1)),
            np.array(3),
            np.array([True]),
            np.array([[0, 1]]),
            np.ones(34, complex),
            np.array(["2020-01-01"], "datetime64[D]"),
        ],
    )
    def test_neither_weights_nor_seeds(self, karate, array):
        got = f"personalization is an array of {array.dtype} of shape {array.shape}: for weights pass 34 floats,"
        with pytest.raises(
            ValueError, match=f"^{re.escape(got)} one for each node .*; for seeds pass .* array\\.tolist"
        ):
            pagerank(karate, personalization=array)

    def test_masked_arrays(self, karate):
        array = np.ma.array(WEIGHTS, mask=WEIGHTS > 0.5)
        with pytest.raises(ValueError, match=r"masked array.* array\.filled\(0\.0\) for weights, .* for seeds"):
            pagerank(karate, personalization=array)
        expected = pagerank(karate, personalization=np.where(WEIGHTS > 0.5, 0.0, WEIGHTS))
        assert pagerank(karate, personalization=array.filled(0.0)) == expected


class TestUnknown:
    @given(st.data(), small_graphs(directed=True), alphas())
    def test_skipped_nodes_change_nothing(self, data, G, damping):
        known = {name: data.draw(masses(G)) for name in ("personalization", "dangling", "nstart")}
        strangers = {"stranger": 2.0, -1: "not a number", (1, 2): -7.0}
        with_strangers = {
            name: dict(data.draw(st.permutations([*values.items(), *strangers.items()])))
            for name, values in known.items()
        }
        ordered = {name: {u: x for u, x in values.items() if u in G} for name, values in with_strangers.items()}
        expected = pagerank(G, damping, **ordered, tol=1e-9)
        assert pagerank(G, damping, **with_strangers, tol=1e-9, unknown="skip") == expected
        for name, values in with_strangers.items():
            with pytest.raises(nx.NodeNotFound, match="is not in the graph"):
                pagerank(G, damping, **{**known, name: values})

    @given(st.data(), small_graphs())
    def test_seeds_without_weights(self, data, G):
        seed = data.draw(nodes_of(G))
        expected = pagerank(G, personalization=seed)
        for seeds in ([seed, "stranger"], {"stranger", seed}, np.array(["stranger", seed], object)):
            assert pagerank(G, personalization=seeds, unknown="skip") == expected

    @pytest.mark.parametrize("name", ["personalization", "dangling", "nstart"])
    def test_nothing_is_left(self, karate, name):
        for given_values in ({"x": 1.0, "y": 2.0}, {"x": 1.0, "y": 1.0, 5: 0.0}):
            message = f"{name} has no node .* with a positive value; unknown=\"skip\" left out 'x', 'y'$"
            with pytest.raises(ValueError, match=message):
                pagerank(karate, **{name: given_values}, unknown="skip")
        with pytest.raises(ValueError, match=f"{name} sums to zero"):
            pagerank(karate, **{name: {5: 0.0}}, unknown="skip")
        many = dict.fromkeys(map(str, range(1000)), 1.0)
        with pytest.raises(ValueError, match=r"left out '0', '1', '2', '3', '4' and 995 more$"):
            pagerank(karate, **{name: many}, unknown="skip")

    def test_one_unknown_seed(self, karate):
        with pytest.raises(ValueError, match=r"left out 'x'$"):
            pagerank(karate, personalization="x", unknown="skip")

    @pytest.mark.parametrize("word", ["ignore", "Skip", "", None, True, np.array(["skip"])])
    def test_unknown_words(self, karate, word):
        with pytest.raises(ValueError, match=r'unknown, for nodes .* must be "error" or "skip", got'):
            pagerank(karate, personalization=0, unknown=word)
