import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose

import nx_fastonl as fo
from nx_fastonl.push.elimination import Elimination

KERNEL = {"kernel": "augmented-laplacian", "trace": "exact"}


def heavy_graph():
    """Mass hardly settles between edges this heavy."""
    G = nx.disjoint_union(nx.path_graph(12), nx.cycle_graph(5))
    nx.set_edge_attributes(G, 5e6, "weight")
    return G


@pytest.fixture
def solved(monkeypatch):
    """The nodes whose column was solved for."""
    nodes = []

    def column(self, u):
        nodes.append(u)
        return original(self, u)

    original = Elimination.column
    monkeypatch.setattr(Elimination, "column", column)
    return nodes


@pytest.mark.parametrize("symmetrized", [False, True])
def test_columns_that_take_long_are_exact(solved, symmetrized):
    G = heavy_graph()
    labels = {u: "ab"[u % 2] for u in G}
    # The relaxation on the exact kernel. It loses digits too: the constant g is large beside differences of entries.
    exact = fo.OnlineNodeLabeler(G, ["a", "b"], method="relaxation", **KERNEL)
    model = fo.OnlineNodeLabeler(G, ["a", "b"], method="fastonl-fifo", symmetrized=symmetrized, **KERNEL)
    for u in G:
        assert_allclose(list(model.predict_proba_one(u).values()), list(exact.predict_proba_one(u).values()), atol=1e-4)
        model.learn_one(u, labels[u])
        exact.learn_one(u, labels[u])
    assert solved == list(G)


def test_a_stream_solves_for_the_same_columns(solved):
    """Also with thresholds that are known in advance, and for nodes that are pushed as before in between."""
    G = nx.disjoint_union(heavy_graph(), nx.star_graph(3))
    labels = [(u, "ab"[u % 2]) for u in G]
    model = fo.OnlineNodeLabeler(G, ["a", "b"], method="fastonl-fifo", kernel="augmented-laplacian")
    predicted = []
    for node, label in labels:
        predicted.append(model.predict_one(node))
        model.learn_one(node, label)
    one_by_one, solved[:] = sorted(set(solved)), []
    assert one_by_one == list(range(17))
    streamed = fo.OnlineNodeLabeler(G, ["a", "b"], method="fastonl-fifo", kernel="augmented-laplacian")
    assert list(streamed.run(labels).predicted) == predicted
    assert solved == one_by_one
    assert (streamed.predict_proba_many() == model.predict_proba_many()).all()


def test_a_column_that_is_not_solved_is_pushed_to_its_end(monkeypatch):
    G = heavy_graph()
    nx.set_edge_attributes(G, 1e4, "weight")
    model = fo.OnlineNodeLabeler(G, ["a", "b"], method="fastonl-fifo", kernel="laplacian", epsilon=1e-4)
    monkeypatch.setattr("nx_fastonl.push.local.LEAST_EDGES", 1 << 62)
    plain = model.clone().learn_many({0: "a", 11: "b"}).predict_proba_many()
    monkeypatch.setattr("nx_fastonl.push.local.LEAST_EDGES", 10)
    monkeypatch.setattr(Elimination, "column", lambda *_: None)
    assert (model.clone().learn_many({0: "a", 11: "b"}).predict_proba_many() == plain).all()
    assert np.isfinite(plain).all()
