"""`effective_resistance` against exact fractions."""

import math
import random
import re
import tracemalloc
import warnings
from itertools import combinations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import coo_array

import nx_fastonl as fo
from nx_fastonl.push import laplacian, resistance
from nx_fastonl.push.elimination import Elimination
from tests import oracles
from tests.strategies import nodes_of, small_graphs
from tests.views import view_of


@st.composite
def wide_graphs(draw):
    """Several components, self-loops, parallel edges, and weights over many magnitudes."""
    G = draw(small_graphs())
    if draw(st.booleans()):
        G = nx.MultiGraph(G)
        G.add_edges_from(draw(st.lists(st.tuples(nodes_of(G), nodes_of(G)), max_size=4)))
    exponents = draw(st.sampled_from([[], range(-6, 7), [0, 30], [0, 99], [-99, -30, 0, 30, 99]]))
    for *_, data in G.edges(data=True) if exponents else ():
        data["weight"] = 10.0 ** draw(st.sampled_from(exponents))
    return G


def all_pairs(G):
    return [(u, v) for u in G for v in G]


class TestAgainstFractions:
    @given(
        wide_graphs(), st.data(), st.sampled_from([1e-10, 1e-6, 1e-2]), st.sampled_from(["reduced", "steps", "both"])
    )
    def test_errors_are_certified(self, G, data, tol, way):
        exact = oracles.effective_resistances(G)
        pairs = data.draw(st.just(all_pairs(G)) | st.lists(st.sampled_from(all_pairs(G)), max_size=6))
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            if way != "reduced":
                patch.setattr(laplacian, "MAX_DENSE_FACTOR", 0)
            if way == "steps":
                patch.setattr(resistance, "MAX_NODES", 0)
                patch.setattr(resistance, "MAX_WEIGHT_RATIO", 1e60)
            warnings.simplefilter("ignore", RuntimeWarning)
            try:
                found, info = fo.effective_resistance(G, pairs, tol=tol, full_output=True)
            except ValueError as error:
                assert way == "steps"
                assert "times the smallest one" in str(error)  # noqa: PT017
                return
        assert all(type(value) is float for value in [*found, *info.errors])
        for value, error, pair in zip(found, info.errors, pairs, strict=True):
            if math.isinf(exact[pair]):
                assert (value, error) == (math.inf, 0.0)
            else:
                assert abs(value - exact[pair]) <= error
                assert way != "reduced" or error <= 1e-13 * value

    @given(small_graphs(), st.sampled_from([1e-12, 1e-9, 1e-3]))
    def test_tol_is_kept(self, G, tol):
        found, info = fo.effective_resistance(G, all_pairs(G), tol=tol, full_output=True)
        exact = oracles.effective_resistances(G)
        for value, error, pair in zip(found, info.errors, all_pairs(G), strict=True):
            assert error <= tol * value
            assert value == exact[pair] or abs(value - exact[pair]) <= tol * exact[pair]

    def test_without_weights(self):
        G = nx.Graph([(0, 1, {"weight": 5}), (1, 2, {"weight": 9}), (0, 2)])
        assert fo.effective_resistance(G, [(0, 1)], weight=None) == pytest.approx([2 / 3])
        assert fo.effective_resistance(G, [(0, 1)]) == pytest.approx([1 / (5 + 9 / 10)])

    def test_networkx_with_weights_as_conductances(self, karate):
        expected = nx.resistance_distance(karate, 0, weight="weight", invert_weight=False)
        found = fo.effective_resistance(karate, [(0, v) for v in karate])
        assert found == pytest.approx(list(expected.values()), rel=1e-8)


class TestPairs:
    def test_many_pairs_share_solves(self, monkeypatch):
        monkeypatch.setattr(laplacian, "MAX_DENSE_FACTOR", 0)
        G = nx.barabasi_albert_graph(300, 3, seed=1)
        nodes = list(range(40))
        pairs = [(u, v) for u in nodes for v in nodes]
        together, info = fo.effective_resistance(G, pairs, full_output=True)
        some = [1, 2, 100]
        alone, info_of_three = fo.effective_resistance(G, [pairs[i] for i in some], full_output=True)
        assert_allclose([together[i] for i in some], alone, rtol=1e-8)
        operations_per_solve = info_of_three.operations / 3
        n_solves = 39  # of 780 pairs; each takes about twice the steps
        assert info.operations < 2.5 * n_solves * operations_per_solve

    def test_memory_is_that_of_the_pairs(self):
        """All edges of a graph: potentials of each node at each other one would take 18 MB here."""
        graph = fo.CSRGraph.from_networkx(nx.barabasi_albert_graph(1_500, 3, seed=1))
        edges = list(graph.to_networkx().edges)
        fo.effective_resistance(graph, edges[:1])  # imports, and what the graph keeps
        tracemalloc.start()
        try:
            found = fo.effective_resistance(graph, edges, tol=1e-2)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 5e6
        assert sum(found) == pytest.approx(1_499, rel=1e-2)  # each edge's chance to be in a random spanning tree

    def test_order_direction_and_repetition_do_not_matter(self, karate):
        one, other, again = fo.effective_resistance(karate, [(3, 9), (9, 3), (3, 9)])
        assert one == other == again
        assert fo.effective_resistance(karate, []) == []
        assert fo.effective_resistance(karate, iter([(5, 5)])) == [0.0]

    def test_components(self):
        G = nx.disjoint_union(nx.cycle_graph(4), nx.path_graph(3))
        G.add_node("alone")
        G.add_edge(6, 6, weight=1e9)
        pairs = [(0, 2), (4, 6), (0, 6), ("alone", 0), ("alone", "alone")]
        assert fo.effective_resistance(G, pairs) == pytest.approx([1, 2, math.inf, math.inf, 0])

    @pytest.mark.parametrize("convert", [nx.to_scipy_sparse_array, fo.CSRGraph.from_networkx, fo.DynamicGraph])
    def test_other_graphs(self, karate, convert):
        pairs = [(0, 33), (5, 6)]
        assert fo.effective_resistance(convert(karate), pairs) == fo.effective_resistance(karate, pairs)

    def test_self_loops_carry_no_current(self, karate):
        G = karate.copy()
        G.add_edge(4, 4, weight=1e6)
        assert fo.effective_resistance(G, [(4, 9)]) == pytest.approx(fo.effective_resistance(karate, [(4, 9)]))


class TestHubs:
    """Complete bipartite graphs: between two hubs with m leaves each, the resistance is 2 / m."""

    @staticmethod
    def hubs(n_hubs, m):
        ends = np.repeat(np.arange(n_hubs), m), np.tile(np.arange(n_hubs, n_hubs + m), n_hubs)
        upper = coo_array((np.ones(n_hubs * m), ends), shape=(n_hubs + m, n_hubs + m)).tocsr()
        return upper + upper.T

    @pytest.mark.parametrize(("n_hubs", "m"), [(2, 300_000), (4, 50_000)])
    def test_rounding_errors_of_long_rows_are_certified(self, n_hubs, m):
        pairs = list(combinations(range(n_hubs), 2))
        found, info = fo.effective_resistance(self.hubs(n_hubs, m), pairs, tol=1e-12, full_output=True)
        for value, error in zip(found, info.errors, strict=True):
            assert abs(value - 2 / m) <= error <= 1e-12 * value

    def test_what_is_out_of_reach_does_not_use_up_all_steps(self):
        graph = self.hubs(4, 20_000)
        _, info = fo.effective_resistance(graph, list(combinations(range(4), 2)), tol=1e-12, full_output=True)
        n_steps = info.operations / graph.nnz
        assert n_steps <= 9 * 100


def cycle(weights):
    G = nx.cycle_graph(len(weights))
    nx.set_edge_attributes(G, dict(zip(G.edges, weights, strict=True)), "weight")
    return G


class TestWeightsThatDifferMuch:
    @pytest.mark.parametrize("small", [1e-20, 1e-30, 1e-100])
    @pytest.mark.parametrize("large", [1.0, 1e100])
    def test_cycles(self, small, large):
        G = cycle([large, small] * 3 + [large])
        exact = oracles.effective_resistances(G)
        found, info = fo.effective_resistance(G, all_pairs(G), full_output=True)
        for value, error, pair in zip(found, info.errors, all_pairs(G), strict=True):
            assert abs(value - exact[pair]) <= error <= 1e-13 * value

    def test_large_trees_are_sums(self):
        G = nx.path_graph(3_000)
        weights = [10.0 ** random.Random(u).choice([-100, -3, 0, 3, 100]) for u, _ in G.edges]
        nx.set_edge_attributes(G, dict(zip(G.edges, weights, strict=True)), "weight")
        pairs = [(0, 2_999), (1_000, 1_003), (2_000, 1_999)]
        found, info = fo.effective_resistance(G, pairs, tol=1e-12, full_output=True)
        for (u, v), value, error in zip(pairs, found, info.errors, strict=True):
            exact = math.fsum(1.0 / weight for weight in weights[min(u, v) : max(u, v)])
            assert abs(value - exact) <= error <= 1e-12 * value
        assert info.operations == 0

    def test_large_components_are_refused(self):
        G = nx.disjoint_union(nx.path_graph(3), cycle([1e-15, *[1.0] * 1_999, 1e15]))
        assert fo.effective_resistance(G, [(0, 2)]) == [2.0]
        message = (
            "in the component of node 3, the largest weight is 1e.30 times the smallest one; with 2,001 nodes and "
            "cycles, errors are known up to a factor of 1e.24: leave out edges that hardly conduct"
        )
        with pytest.raises(ValueError, match=message):
            fo.effective_resistance(G, [(0, 2), (3, 4)])
        assert fo.effective_resistance(G, [(3, 4)], weight=None) == pytest.approx([2_000 / 2_001])


class TestPatience:
    """Steps that walk more edges than reducing the network would take are given up."""

    def test_a_clique_with_a_tail(self):
        G = nx.lollipop_graph(200, 200)
        draw = random.Random(1)
        pairs = [draw.sample(range(400), 2) for _ in range(100)]
        found, info = fo.effective_resistance(G, pairs, full_output=True)
        for (u, v), value, error in zip(pairs, found, info.errors, strict=True):
            u, v = sorted((u, v))
            exact = v - u if u >= 199 else (0.01 if v < 200 else v - 199 + (u < 199) * 0.01)
            assert abs(value - exact) <= error <= 1e-8 * value
        n = len(G)
        assert info.operations <= Elimination.patience(n) * (1 + 2 * len(pairs) / n)

    def test_what_steps_reach_is_not_reduced(self, monkeypatch):
        monkeypatch.setattr(resistance, "reduced_resistances", None)
        G = nx.barabasi_albert_graph(500, 3, seed=1)
        _, info = fo.effective_resistance(G, [(0, v) for v in range(20)], full_output=True)
        assert info.operations > 0


def test_arrays_of_pairs(karate):
    pairs = [(0, 33), (1, 2), (5, 5)]
    expected = fo.effective_resistance(karate, pairs)
    assert fo.effective_resistance(karate, np.array(pairs)) == expected
    assert fo.effective_resistance(karate, list(np.array(pairs))) == expected


class TestErrors:
    @pytest.mark.parametrize(
        ("pairs", "parameters", "error", "message"),
        [
            ([(0, 99)], {}, nx.NodeNotFound, "node 99 is not in the graph"),
            ([(0, 1, 2)], {}, ValueError, r"pairs must hold pairs of nodes, such as \[\(0, 5\)\], got \(0, 1, 2\)"),
            ([3], {}, ValueError, "pairs must hold pairs of nodes, .* got 3"),
            ((0, 33), {}, ValueError, r"pairs must hold pairs of nodes, .* got 0; for one pair pass \[\(0, 33\)\]$"),
            (0, {"weight": 33}, TypeError, "pairs must be .* got 0"),  # which does not warn of the weight first
            (["ab"], {}, ValueError, "pairs must hold pairs of nodes, .* got 'ab'"),
            ([b"ab"], {}, ValueError, "pairs must hold pairs of nodes, .* got b'ab'"),
            ([{0, 1}], {}, ValueError, r"pairs must hold pairs of nodes, .* got \{0, 1\}"),
            ([{0: 1, 2: 3}], {}, ValueError, r"pairs must hold pairs of nodes, .* got \{0: 1, 2: 3\}"),
            ([np.zeros((2, 2))], {}, ValueError, "pairs must hold pairs of nodes, .*"),
            (0, {}, TypeError, r"pairs must be a table, an array .* such as \[\(0, 5\)\], got 0"),
            (np.array([0, 1]), {}, ValueError, "pairs must hold pairs of nodes, .* got 0"),
            (np.array([[0, 1, 2]]), {}, ValueError, "pairs must hold pairs of nodes, .*"),
            (pd.Series([0, 1]), {}, TypeError, "pairs must be a table with the columns source and target, got one"),
            (
                pd.DataFrame({"a": [0]}),
                {},
                ValueError,
                "pairs is a table with the columns 'a'; expected",
            ),
            ([(0, 1)], {"tol": 1e-15}, ValueError, "tol must lie between 1e-12 and 0.5, got 1e-15"),
            ([(0, 1)], {"n_jobs": 0}, ValueError, "n_jobs must be a positive number"),
        ],
    )
    def test_name_the_value(self, karate, pairs, parameters, error, message):
        with pytest.raises(error, match=message):
            fo.effective_resistance(karate, pairs, **parameters)

    def test_directed(self):
        with pytest.raises(nx.NetworkXNotImplemented, match="needs an undirected graph"):
            fo.effective_resistance(nx.DiGraph([(0, 1)]), [(0, 1)])

    def test_its_view(self, karate):
        _, info = fo.effective_resistance(karate, [(0, 33), (1, 2)], full_output=True)
        largest, operations = f"{max(info.errors):.4g}", f"{info.operations:,}"
        assert view_of(info).facts == {"pairs": "2", "largest error": largest, "operations": operations}
        _, nothing = fo.effective_resistance(karate, [], full_output=True)
        assert view_of(nothing).facts == {"pairs": "0", "operations": "0"}

    def test_what_is_not_reached_is_said(self, monkeypatch):
        monkeypatch.setattr(laplacian, "MAX_STEPS", 9)
        monkeypatch.setattr(laplacian, "MAX_DENSE_FACTOR", 0)
        monkeypatch.setattr(laplacian, "MAX_DENSE", 0)
        monkeypatch.setattr(resistance, "MAX_NODES", 0)
        G = nx.lollipop_graph(3, 297)
        with pytest.warns(
            RuntimeWarning, match="1 of 2 resistances have .* above tol = 1e-08, as that from 3 to 299"
        ) as warned:
            [far, _], info = fo.effective_resistance(G, [(3, 299), (5, 5)], full_output=True)
        assert abs(far - 296) <= info.errors[0]
        assert np.isfinite(info.errors[0])
        assert [warning.filename for warning in warned] == [__file__]


def test_one_line_says_what_was_found():
    _, info = fo.effective_resistance(nx.star_graph(100), [(0, u) for u in range(1, 101)], full_output=True)
    assert re.fullmatch(r"ResistanceInfo\(100 errors, of at most \S+, operations=\d+\)", repr(info))
