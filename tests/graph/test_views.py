"""What notebooks show of graphs, and of rows on disk."""

import threading

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nx_fastonl as fo
from nx_fastonl.graph import views
from tests.strategies import small_graphs
from tests.views import view_of


def heights(counts):
    """Nodes with 0, 1, 2 to 3, 4 to 7, ... neighbours, from the first of these that has any, over the largest."""
    sizes = {}
    for count in counts:
        sizes[int(count).bit_length()] = sizes.get(int(count).bit_length(), 0) + 1
    return [sizes[size] / max(sizes.values()) for size in sorted(sizes)]


@given(st.one_of(small_graphs(), small_graphs(directed=True)))
def test_graphs(G):
    frozen, dynamic = fo.CSRGraph.from_networkx(G), fo.DynamicGraph(G)
    for graph in (frozen, dynamic):
        found = view_of(graph)
        kind = "directed" if G.is_directed() else "undirected"
        assert f"{kind}, {len(G):,} nodes, {frozen.number_of_edges():,} edges" in found.texts
        assert found.facts["weights"] == ("every weight is 1" if frozen.weights is None else "one per edge")
        counts = frozen.neighbor_counts(slice(None))
        assert [height / 96.0 for height in found.bars] == pytest.approx(heights(counts), abs=1e-3)


def test_nodes_that_left_are_not_counted():
    graph = fo.DynamicGraph(nx.path_graph(5))
    graph.remove_node(2)
    assert view_of(graph).bars == pytest.approx([96.0])
    graph.add_node("alone")
    found = view_of(graph)
    assert "undirected, 5 nodes, 2 edges" in found.texts
    assert found.bars == pytest.approx([24.0, 96.0])  # one without neighbours, four with one
    assert found.facts["names of nodes"] == "0, 1, 3, 4, alone"


def test_large_graphs_are_not_counted(monkeypatch):
    monkeypatch.setattr("nx_fastonl.graph.csr.MAX_COUNTED_NODES", 4)
    monkeypatch.setattr("nx_fastonl.graph.dynamic.MAX_COUNTED_NODES", 4)
    for graph in (fo.CSRGraph.from_networkx(nx.path_graph(5)), fo.DynamicGraph(nx.path_graph(5))):
        assert view_of(graph).bars == []
    assert view_of(fo.CSRGraph.from_networkx(nx.path_graph(4))).bars
    assert views.MAX_COUNTED_NODES > 100_000


def test_where_a_graph_is(tmp_path):
    graph = fo.CSRGraph.from_edges([0, 1], [1, 2])
    assert "saved in" not in view_of(graph).facts
    graph.save(tmp_path / "<b>graph")
    opened = fo.CSRGraph.open(tmp_path / "<b>graph")
    assert view_of(opened).facts["saved in"] == str(opened.path)
    with fo.DurableGraph(tmp_path / "durable", nx.path_graph(3), sync="never") as durable:
        durable.labeler("<i>")
        durable.add_edge(0, 2, time=5.0)
        facts = view_of(durable).facts
    assert (facts["saved in"], facts["sync"], facts["labelers"], facts["open"]) == (
        str(durable.path),
        "never",
        "<i>",
        "yes",
    )
    assert facts["edges with a time"] == "1"
    assert view_of(durable).facts["open"] == "no"


def test_graph_without_nodes():
    assert "undirected, 0 nodes, 0 edges" in view_of(fo.DynamicGraph()).texts


def test_a_look_makes_nothing():
    """No conversion, no copy, no catching up."""
    graph = fo.DynamicGraph(nx.path_graph(5))
    view_of(graph)
    assert graph._frozen is None
    assert graph.rows._whole is None


def test_names_are_asked_while_no_lock_is_held():
    class Nosy:
        def __repr__(self):
            changer = threading.Thread(target=graph.add_edge, args=("a", "b"))
            changer.start()
            changer.join(timeout=60)  # for ever, if the graph were being read
            return f"nosy, {graph.has_edge('a', 'b')}"

    graph = fo.DynamicGraph()
    graph.add_node(Nosy())
    assert view_of(graph).facts["names of nodes"] == "nosy, True"


def test_a_saved_matrix(tmp_path, karate):
    P = fo.ppr_matrix(karate, top_k=3, out=tmp_path / "rows")
    found = view_of(P)
    assert "34 rows and 34 columns, by ppr_matrix" in found.texts
    assert (found.facts["saved in"], found.facts["top_k"], found.facts["nodes"]) == (
        str(P.path),
        "3",
        "0, 1, 2, 3, 4, 29 more",
    )


@pytest.mark.parametrize("name", ["<script>", "a\nb", "x" * 1000, np.str_("Ω")])
def test_names_are_short(name):
    graph = fo.CSRGraph.from_networkx(nx.Graph([(name, 1)]))
    assert len(view_of(graph).facts["names of nodes"]) < 50
