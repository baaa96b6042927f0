"""Each row of the table "What differs from nx.pagerank" in docs/guide/pagerank.md is a test of the same name."""

import re
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import nx_fastonl as fo
from tests import oracles

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "pagerank.md"
ours = fo.personalized_pagerank_local


def networkx(*args, **kwargs):
    """``nx.pagerank`` without its warnings of divisions by zero."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return nx.pagerank(*args, **kwargs)


def l1_error(found, G, alpha, seeds):
    exact = oracles.pagerank(oracles.adjacency(G), oracles.to_vector(seeds, G), alpha)
    return np.abs(oracles.to_vector(found, G) - exact).sum()


def test_every_row_has_its_test():
    table = PAGE.read_text("utf-8").partition("## What differs from `nx.pagerank`")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
    tests = {f"test_{row.strip('`').lower().replace(' ', '_').replace('-', '_')}" for row in rows}
    assert len(rows) == len(tests) > 10
    assert tests == {name for name in globals() if name.startswith("test_")} - {"test_every_row_has_its_test"}


def test_seeds(karate):
    expected = networkx(karate, personalization={0: 1, 5: 1}, tol=1e-12)
    weights = np.isin(np.arange(34), [0, 5]).astype(float)
    for seeds in ({0: 1, 5: 1}, weights, [0, 5], np.array([0, 5])):
        assert ours(karate, personalization=seeds, tol=1e-10) == pytest.approx(expected, abs=1e-9)
    for seeds in (0, [0, 5], weights):
        with pytest.raises(AttributeError):
            networkx(karate, personalization=seeds)


@pytest.mark.parametrize("name", ["personalization", "nstart", "dangling"])
def test_unknown_seeds(name):
    G = nx.DiGraph([(0, 1), (1, 0), (1, 2)])
    known, mixed = {name: {0: 1}}, {name: {0: 1, "x": 3}}
    expected = networkx(G, **known)
    assert networkx(G, **mixed) == expected
    with pytest.raises(nx.NodeNotFound, match="'x'"):
        ours(G, **mixed)
    assert ours(G, **mixed, unknown="skip", tol=1e-10) == ours(G, **known, tol=1e-10)
    with pytest.raises(ValueError, match='unknown="skip" left out'):
        ours(G, **{name: {"x": 3}}, unknown="skip")


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("personalization", ZeroDivisionError),
        ("nstart", nx.PowerIterationFailedConvergence),
        ("dangling", nx.PowerIterationFailedConvergence),
    ],
)
def test_sum_of_zero(karate, name, error):
    with pytest.raises(error):
        networkx(karate, **{name: {0: 0}})
    with pytest.raises(ValueError, match=f"{name} sums to zero"):
        ours(karate, **{name: {0: 0}})


def test_negative_weights(karate):
    seeds = {0: -1, 33: 3}
    assert networkx(karate, 0.1, seeds)[0] < 0
    with pytest.raises(ValueError, match="personalization gives node 0 the value -1"):
        ours(karate, 0.1, seeds)
    karate[0][1]["weight"] = -1
    assert len(networkx(karate)) == 34
    with pytest.raises(ValueError, match="a weight must be 0 or a number between"):
        ours(karate)


def test_empty_graph():
    assert networkx(nx.Graph()) == {}
    with pytest.raises(nx.NetworkXPointlessConcept):
        ours(nx.Graph())


def test_unreached_nodes():
    G = nx.path_graph(2000)
    assert len(networkx(G, personalization={0: 1})) == 2000
    found = ours(G, personalization=0)
    assert 0 < len(found) < 1000
    array = ours(G, personalization=0, as_array=True)
    assert array.tolist() == [found.get(node, 0.0) for node in G]


@pytest.mark.parametrize("arguments", [{"epsilon": 1e-2}, {"epsilon": 1e-4}, {"tol": 1e-2}, {"tol": 1e-12}])
def test_sum_of_values(karate, arguments):
    for seeds in (None, {0: 1}):
        assert sum(networkx(karate, personalization=seeds).values()) == pytest.approx(1, abs=1e-12)
        found, info = ours(karate, personalization=seeds, full_output=True, **arguments)
        assert abs(sum(found.values()) - 1) <= info.l1_error
    if "epsilon" in arguments:
        assert sum(found.values()) < 1 - 1e-6


@pytest.mark.parametrize("dangling", [None, {1: 1, 2: 5}])
def test_dead_ends(dangling):
    G = nx.DiGraph([(0, 1), (0, 2), (1, 0)])
    G.add_node(3)
    expected = networkx(G, personalization={0: 1, 3: 1}, dangling=dangling, tol=1e-13)
    assert ours(G, personalization=[0, 3], dangling=dangling, tol=1e-12) == pytest.approx(expected, abs=1e-11)


def test_self_loops():
    G = nx.Graph([(0, 0), (0, 1), (1, 2)])
    for rank in (networkx(G, 0.5, {0: 1}, tol=1e-12), ours(G, 0.5, 0, tol=1e-12)):
        assert rank[0] == pytest.approx(0.737, abs=5e-4)


@pytest.mark.parametrize("alpha", [0, 1])
def test_alpha(karate, alpha):
    assert len(networkx(karate, alpha, tol=1e-3)) == 34
    with pytest.raises(ValueError, match="alpha must lie strictly between 0 and 1"):
        ours(karate, alpha)


def test_tol():
    G = nx.path_graph(1000)
    assert l1_error(networkx(G, 0.85, {0: 1}, tol=1e-4), G, 0.85, {0: 1}) > 1e-2
    assert l1_error(ours(G, 0.85, {0: 1}, tol=1e-4), G, 0.85, {0: 1}) <= 1e-4


def test_max_iter():
    G = nx.cycle_graph(200)
    with pytest.raises(nx.PowerIterationFailedConvergence):
        networkx(G, 0.995, {0: 1}, tol=1e-8)
    assert l1_error(ours(G, 0.995, {0: 1}, tol=1e-8), G, 0.995, {0: 1}) <= 1e-8
    with pytest.raises(nx.PowerIterationFailedConvergence):
        ours(G, 0.995, {0: 1}, max_iter=3, tol=1e-8)


def test_nstart(karate):
    """NetworkX stops at once where it starts with the answer; here a good guess saves work, but not with dead ends."""
    exact = networkx(karate, tol=1e-14, max_iter=1000)
    assert networkx(karate, max_iter=1, nstart=exact) == pytest.approx(exact)

    def operations(G, nstart):
        return ours(G, tol=1e-9, nstart=nstart, full_output=True)[1].operations

    assert operations(karate, exact) < operations(karate, None)
    karate.add_node("isolated")
    exact = networkx(karate, tol=1e-14, max_iter=1000)
    assert operations(karate, exact) == operations(karate, None)
