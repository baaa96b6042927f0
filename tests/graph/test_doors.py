"""Every way in allows the same weights: what one accepts the others accept, and it comes out again."""

import pickle

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import nx_fastonl as fo
from nx_fastonl._lib.journal import Journal
from nx_fastonl._lib.limits import ARC_RANGE, WEIGHT_RANGE
from nx_fastonl._lib.records import RecordWriter

SMALLEST, LARGEST = WEIGHT_RANGE
# An edge, or an arc, and a self-loop.
U, V = np.array([0, 1]), np.array([1, 1])


def by_add_edge(weight, directed, _):
    graph = fo.DynamicGraph(directed=directed)
    for u, v in zip(U.tolist(), V.tolist(), strict=True):
        graph.add_edge(u, v, weight)
    return graph


def by_tuples(weight, directed, _):
    graph = fo.DynamicGraph(directed=directed)
    graph.add_weighted_edges_from([(u, v, weight) for u, v in zip(U.tolist(), V.tolist(), strict=True)])
    return graph


def by_array(weight, directed, _):
    graph = fo.DynamicGraph(directed=directed)
    graph.add_edges_from(np.stack([U, V], axis=1), weights=[weight, weight])
    return graph


def by_events(weight, directed, _):
    graph = fo.DynamicGraph(directed=directed)
    fo.replay([("edge", int(u), int(v), weight) for u, v in zip(U, V, strict=True)], graph=graph).run()
    return graph


def by_arrays(weight, directed, _):
    return fo.CSRGraph.from_edges(U, V, [weight, weight], directed=directed)


def by_rows(weight, directed, _):
    if directed:
        return fo.CSRGraph([0, 1, 2], [1, 1], [weight, weight], directed=True)
    return fo.CSRGraph([0, 1, 3], [1, 0, 1], [weight, weight, weight])


def networkx_graph(weight, directed):
    G = nx.DiGraph() if directed else nx.Graph()
    G.add_weighted_edges_from([(u, v, weight) for u, v in zip(U.tolist(), V.tolist(), strict=True)])
    return G


def by_networkx(weight, directed, _):
    return fo.CSRGraph.from_networkx(networkx_graph(weight, directed))


def by_scipy(weight, directed, _):
    A = nx.to_scipy_sparse_array(networkx_graph(weight, directed))
    return fo.CSRGraph.from_scipy(sparse.coo_array(A), directed=directed)


def by_parallel_edges(weight, directed, _):
    G = nx.MultiDiGraph() if directed else nx.MultiGraph()
    for share in (0.25, 0.75):
        for u, v in zip(U.tolist(), V.tolist(), strict=True):
            G.add_edge(u, v, weight=share * weight)
    return fo.DynamicGraph(G)


def by_edges_given_twice(weight, directed, _):
    shares = np.array([0.25, 0.25, 0.75, 0.75]) * weight
    return fo.CSRGraph.from_edges(np.tile(U, 2), np.tile(V, 2), shares, directed=directed)


def by_file(weight, directed, folder):
    (folder / "edges.txt").write_text("".join(f"{u} {v} {weight!r}\n" for u, v in zip(U, V, strict=True)))
    return fo.CSRGraph.from_edge_file(folder / "edges.txt", columns=(0, 1, 2), directed=directed)


def by_disk(weight, directed, folder):
    with fo.DurableGraph(folder / "graph", directed=directed) as graph:
        for u, v in zip(U.tolist(), V.tolist(), strict=True):
            graph.add_edge(u, v, weight)
    with fo.DurableGraph(folder / "graph") as graph:  # the journal is replayed
        return graph.copy()


DOORS = [
    by_add_edge, by_tuples, by_array, by_events, by_arrays, by_rows, by_networkx, by_scipy, by_parallel_edges,
    by_edges_given_twice, by_file, by_disk,
]  # fmt: skip
# Parallel edges and edges given twice are shares of a weight, which may be too light where the weight is not.
SHARED = (by_parallel_edges, by_edges_given_twice)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("door", DOORS)
def test_what_is_allowed_comes_out_again(door, directed, tmp_path):
    smallest, largest = ARC_RANGE if directed else WEIGHT_RANGE
    for number, weight in enumerate([4 * smallest, 1.0, 2.5, largest]):
        folder = tmp_path / str(number)
        folder.mkdir()
        graph = door(weight, directed, folder)
        expected = weights_of(graph)
        assert set(expected.values()) == {weight}
        assert weights_of(pickle.loads(pickle.dumps(graph))) == expected
        frozen = graph.freeze() if isinstance(graph, fo.DynamicGraph) else graph
        frozen.save(folder / "saved")
        assert weights_of(fo.CSRGraph.open(folder / "saved", verify="checksum")) == expected
        both = frozen.without_arrows()
        assert max(weights_of(both).values()) <= LARGEST
        fo.DurableGraph(folder / "durable", graph).close()
        with fo.DurableGraph(folder / "durable") as durable:
            assert weights_of(durable) == expected
            assert fo.OnlineNodeLabeler(durable, direction="ignore").predict_many() == [None, None]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("door", DOORS)
def test_what_is_not_allowed_is_refused_by_every_door(door, directed, tmp_path):
    smallest, largest = ARC_RANGE if directed else WEIGHT_RANGE
    bad = [1.0001 * largest, 1e150, -1.0, float("inf"), *([0.9 * smallest] if door not in SHARED else [])]
    for number, weight in enumerate(bad):
        folder = tmp_path / str(number)
        folder.mkdir()
        with pytest.raises(ValueError, match=r"weight .*(must be|positive)"):
            door(weight, directed, folder)


def weights_of(graph):
    return {(u, v): weight for u, v, weight in graph.to_networkx().edges(data="weight", default=1.0)}


def test_the_arcs_between_two_nodes_may_add_up():
    graph = fo.DynamicGraph(directed=True)
    graph.add_edge("a", "a", weight=ARC_RANGE[1])
    graph.add_edge("a", "b", weight=ARC_RANGE[1])
    graph.add_edge("b", "a", weight=ARC_RANGE[1])
    undirected = graph.freeze().without_arrows()
    assert undirected.to_scipy().toarray().tolist() == [[LARGEST, LARGEST], [LARGEST, 0.0]]
    with pytest.raises(ValueError, match=r"edge \('a', 'a'\) has weight 6e\+99; .* 5e\+99 in a directed graph, where"):
        graph.add_edge("a", "a", weight=6e99)
    assert graph.weight("a", "a") == ARC_RANGE[1]


def test_an_edge_that_would_become_two_arcs_is_refused_if_they_weigh_too_much():
    G = nx.Graph()
    G.add_edge("a", "b", weight=6e99)
    with pytest.raises(ValueError, match=r"edge \('a', 'b'\) has weight 6e\+99"):
        fo.DynamicGraph(G, directed=True)
    assert fo.DynamicGraph(G).weight("a", "b") == 6e99


def test_a_saved_graph_with_an_arc_that_weighs_too_much_is_refused(tmp_path):
    fo.CSRGraph.from_edges([0, 1], [1, 1], [1.0, 2.0], directed=True).save(tmp_path)
    (file,) = tmp_path.glob("weights-*.npy")
    np.save(file, np.array([1.0, 6e99]))
    (degrees,) = tmp_path.glob("degrees-*.npy")
    np.save(degrees, np.array([1.0, 6e99]))
    with pytest.raises(ValueError, match="a weight is out of range"):
        fo.CSRGraph.open(tmp_path)


@pytest.mark.parametrize("weight", [6e99, -1.0])
def test_a_record_with_a_weight_that_is_not_allowed_is_refused(tmp_path, weight):
    fo.DurableGraph(tmp_path, directed=True).close()
    with Journal.open(tmp_path / "journal-1", "always") as journal:
        journal.append(RecordWriter().record(["add edge", 0, 1, weight, None]))
    with pytest.raises(ValueError, match=r"record 0 cannot be replayed .*a weight must be a number between"):
        fo.DurableGraph(tmp_path)
