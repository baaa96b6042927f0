import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import oracles
from tests.clients import rankings
from tests.clients.inside import recorder


def call(G, plain=None, through=None, **arguments):
    """A call of nx.pagerank as the recorder writes it down: exact values, with something added to some of them."""
    entry = {"test": "test", "function": "pagerank", "input": recorder.described(nx.pagerank, (G,), arguments)}
    exact = rankings.exact_vector(entry).round(14)  # with exact ties
    entry["networkx"] = {"values": [value + (plain or {}).get(node, 0.0) for node, value in zip(G, exact, strict=True)]}
    values = [value + (through or {}).get(node, 0.0) for node, value in zip(G, exact, strict=True)]
    return entry | {"nodes": [str(node) for node in G], "values": values}


@st.composite
def multigraphs(draw):
    nodes = st.integers(0, 6)
    G = draw(st.sampled_from([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]))()
    G.add_nodes_from(range(7))
    for u, v, weight in draw(st.lists(st.tuples(nodes, nodes, st.floats(0.1, 10.0)), max_size=12)):
        G.add_edge(u, v, weight=weight)
    return G


MASSES = st.dictionaries(st.integers(0, 9), st.floats(0.1, 9.0)).filter(lambda masses: any(u < 7 for u in masses))


@given(multigraphs(), st.sampled_from([0.5, 0.85]), st.sampled_from([None, "weight"]), MASSES, MASSES)
def test_exact_vector_is_networkx_pagerank(G, alpha, weight, seeds, jumps):
    arguments = {"alpha": alpha, "weight": weight, "personalization": seeds, "dangling": jumps}
    expected = oracles.networkx_pagerank(G, **arguments)
    np.testing.assert_allclose(call(G, **arguments)["values"], list(expected.values()), atol=1e-11)


@pytest.mark.parametrize(
    ("plain", "through", "verdict"),
    [
        ({}, {2: 1e-10}, rankings.BACKEND_BREAKS_TIE),
        ({2: 1e-10}, {}, rankings.NETWORKX_BREAKS_TIE),
        ({1: 1e-10}, {2: 1e-10}, rankings.BOTH_BREAK_TIE),
        ({}, {2: 0.5}, rankings.NETWORKX_RIGHT),
        ({2: 0.5}, {}, rankings.BACKEND_RIGHT),
    ],
)
def test_pairs_in_another_order_are_judged_by_the_exact_vector(plain, through, verdict):
    """On this path, 1 and 2 have one value, and 0 between them has a larger one."""
    (found,) = rankings.compare([call(nx.star_graph(2), plain, through)])
    assert verdict in {pairs.verdict for pairs in found.pairs}
    assert found.is_fault == (verdict in {rankings.BACKEND_BREAKS_TIE, rankings.NETWORKX_RIGHT})


@given(st.permutations(range(6)), st.permutations(range(6)))
def test_pairs_are_those_that_two_orders_disagree_on(order, other):
    found = list(rankings.pairs_in_another_order(np.array(order), np.array(other)))
    assert found == sorted(found, key=lambda pair: order.index(pair[0]))
    assert sorted(found) == sorted(
        (u, v)
        for u in range(6)
        for v in range(6)
        if order.index(u) < order.index(v) and other.index(u) > other.index(v)
    )


def test_same_order_with_other_values_is_no_difference():
    assert rankings.compare([call(nx.star_graph(3), through={0: 1e-3})]) == []


def test_empty_graph_has_no_ranking():
    values = {"nodes": [], "values": []}
    empty = {"test": "test", "function": "pagerank", "input": recorder.described(nx.pagerank, (nx.Graph(),), {})}
    assert rankings.compare([empty | values | {"networkx": values}]) == []


def test_calls_that_raise_are_no_ranking_but_an_outcome():
    good, bad = call(nx.path_graph(4)), {"raised": "ZeroDivisionError"}
    both, one = {"test": "both", "networkx": bad} | bad, {"test": "one", "networkx": bad, "values": [1.0]}
    assert rankings.compare([both, one]) == []
    assert rankings.other_outcomes([good, both, one]) == {"one": ("ZeroDivisionError", None)}
