import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from nx_fastonl.graph.convert import as_csr_graph
from nx_fastonl.graph.products import transpose_times
from tests import oracles
from tests.strategies import small_graphs


@given(st.booleans().flatmap(lambda directed: small_graphs(directed=directed)), st.sampled_from(["weight", None]))
def test_transpose_times_is_the_dense_product(G, weight):
    vector = np.sin(np.arange(len(G)))
    expected = oracles.adjacency(G, weight).T @ vector
    assert_allclose(transpose_times(as_csr_graph(G, weight), vector), expected, rtol=1e-12, atol=1e-12)


def test_no_edges():
    graph = as_csr_graph(nx.empty_graph(3))
    found = transpose_times(graph, np.ones(3))
    assert found.tolist() == [0.0, 0.0, 0.0]
    assert found.dtype == np.float64
