"""Networks reduced to two nodes, against exact fractions, sums, and themselves one pair at a time."""

import math
import random
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.push import reduction
from nx_fastonl.push._reduction import resistances_between
from nx_fastonl.push.laplacian import connected_part
from nx_fastonl.push.reduction import reduced_resistances, rounding_errors
from tests import oracles
from tests.strategies import small_graphs


def weighted(G, exponents, seed=0):
    draw = random.Random(seed)
    for _, _, data in G.edges(data=True):
        data["weight"] = 10.0 ** draw.choice(exponents)
    return G


def graph_of(G):
    return connected_part(CSRGraph.from_networkx(G))


class TestAgainstFractions:
    @settings(max_examples=40)
    @given(
        small_graphs(),
        st.sampled_from([[0], [0, 30], [-100, 100], range(-100, 101, 25)]),
        st.sampled_from([(2, 2), (3, 1), (64, 16)]),
    )
    def test_all_pairs(self, G, exponents, sizes):
        G = weighted(G.subgraph(max(nx.connected_components(G), key=len)).copy(), exponents)
        exact = oracles.effective_resistances(G)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(reduction, "FEW", sizes[0])
            patch.setattr(reduction, "BLOCK", sizes[1])
            pairs = list(combinations(range(len(G)), 2))
            found = reduced_resistances(graph_of(G), np.array(pairs).reshape(-1, 2))
        nodes = list(G)
        expected = [exact[nodes[u], nodes[v]] for u, v in pairs]
        assert_allclose(found, expected, rtol=rounding_errors(len(G)), atol=0.0)


class TestLarger:
    @pytest.mark.parametrize("n", [64, 65, 129, 200])
    def test_cycles(self, n):
        """Two paths between any two nodes: no digit is lost, wherever blocks end."""
        G = weighted(nx.cycle_graph(n), [-100, -50, 0, 50, 100], seed=n)
        ohms = [1.0 / G[u][(u + 1) % n]["weight"] for u in range(n)]
        pairs = np.array([sorted(random.Random(i).sample(range(n), 2)) for i in range(80)])
        for (u, v), value in zip(pairs.tolist(), reduced_resistances(graph_of(G), pairs).tolist(), strict=True):
            one, other = math.fsum(ohms[u:v]), math.fsum(ohms[:u] + ohms[v:])
            exact = 1.0 / (1.0 / one + 1.0 / other)
            assert abs(value - exact) <= rounding_errors(n) * value

    def test_pairs_together_and_alone(self):
        graph = graph_of(weighted(nx.barabasi_albert_graph(90, 4, seed=3), range(-100, 101)))
        pairs = np.array(list(combinations(range(90), 2)))
        together = reduced_resistances(graph, pairs)
        alone = resistances_between(graph.to_scipy().toarray(), pairs)
        assert_allclose(together, alone, rtol=2 * rounding_errors(90), atol=0.0)

    def test_the_order_of_pairs_does_not_matter(self):
        graph = graph_of(nx.barabasi_albert_graph(90, 4, seed=3))
        pairs = np.array(list(combinations(range(0, 90, 2), 2)))
        found = reduced_resistances(graph, pairs)
        order = np.random.default_rng(0).permutation(len(pairs))
        assert_allclose(reduced_resistances(graph, pairs[order][:, ::-1]), found[order], rtol=1e-13)

    def test_no_pairs(self):
        assert_array_equal(reduced_resistances(graph_of(nx.path_graph(3)), np.zeros((0, 2), dtype=int)), [])
