"""Graphs on disk: what is saved is opened, to the last bit; damage is noticed, or harms nobody."""

import json
import pickle
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nx_fastonl as fo
from nx_fastonl.graph.names import IntegerNames, TextNames
from tests._lib.test_folders import edited
from tests.strategies import small_graphs
from tests.tampering import tampered

NAMES = st.one_of(
    st.integers(-5, 5),
    st.integers(-(2**70), 2**70),
    st.text(max_size=5),
    st.floats(allow_nan=False),
    st.tuples(st.integers(0, 3), st.text(max_size=2)),
    st.tuples(),
    st.tuples(st.tuples(st.booleans()), st.integers(0, 3)),
)


def assert_same(found, graph):
    for name in ("indptr", "indices", "degrees"):
        np.testing.assert_array_equal(getattr(found, name), getattr(graph, name), strict=True)
        assert not getattr(found, name).flags.writeable
    if graph.weights is None:
        assert found.weights is None
    else:
        np.testing.assert_array_equal(found.weights, graph.weights, strict=True)
    assert list(found) == list(graph)
    assert [type(node) for node in found] == [type(node) for node in graph]
    assert found.is_directed() == graph.is_directed()
    assert found.number_of_edges() == graph.number_of_edges()
    assert found.fingerprint == graph.fingerprint
    assert all(found.index(node) == u for u, node in enumerate(graph))


@given(G=st.booleans().flatmap(lambda directed: small_graphs(directed=directed)), data=st.data())
def test_any_graph_survives(tmp_path_factory, G, data):
    kind = data.draw(st.sampled_from([None, st.integers(-(2**63), 2**63 - 1), st.text(), NAMES]))
    if kind is not None:
        names = data.draw(st.lists(kind, min_size=len(G), max_size=len(G), unique=True))
        G = nx.relabel_nodes(G, {node: (name, "new") for node, name in zip(G, names, strict=True)})
        G = nx.relabel_nodes(G, {node: node[0] for node in G})
    graph = fo.CSRGraph.from_networkx(G)
    folder = tmp_path_factory.mktemp("graph")
    graph.save(folder)
    for verify in (True, False, "checksum"):
        assert_same(fo.CSRGraph.open(folder, verify=verify), graph)
    found = fo.CSRGraph.open(folder)
    assert nx.utils.graphs_equal(found.to_networkx(), graph.to_networkx())
    source = data.draw(st.sampled_from(list(G)))
    assert fo.personalized_pagerank_local(found, personalization={source: 1}) == (
        fo.personalized_pagerank_local(graph, personalization={source: 1})
    )


def test_names_stay_on_disk(tmp_path):
    ends = ([0, 1], [1, 2])
    for nodes, kind in ((("x", "ä", ""), TextNames), ((7, -3, 2**40), IntegerNames), (None, range)):
        fo.CSRGraph.from_edges(*ends, nodes=nodes).save(tmp_path / "graph")
        found = fo.CSRGraph.open(tmp_path / "graph")
        assert isinstance(found.nodes, kind)
        assert "y" not in found
        assert 5 not in found


def test_names_of_numpy_become_those_of_python(tmp_path):
    nodes = [np.int64(3), np.str_("a"), np.float32(0.5), np.bool_(True)]
    fo.CSRGraph.from_edges([0, 1], [2, 3], nodes=nodes).save(tmp_path)
    assert list(map(repr, fo.CSRGraph.open(tmp_path))) == ["3", "'a'", "0.5", "True"]


@pytest.mark.parametrize(
    "node", [b"bytes", frozenset({1}), float("nan"), (1, None), object, 1j, pytest.param(10**5000, id="huge")]
)
def test_names_that_cannot_be_saved_are_refused(tmp_path, node):
    graph = fo.CSRGraph.from_edges([0], [1], nodes=["a", node])
    with pytest.raises(TypeError, match="cannot be saved; integers, texts, numbers"):
        graph.save(tmp_path / "graph")
    assert not (tmp_path / "graph").exists()
    with pytest.raises(TypeError, match="cannot be saved"):
        _ = graph.fingerprint


def test_fingerprints_tell_graphs_apart():
    ends = ([0, 1, 2], [1, 2, 0])
    graphs = [
        fo.CSRGraph.from_edges(*ends),
        fo.CSRGraph.from_edges(*ends, directed=True),
        fo.CSRGraph.from_edges(*ends, n=4),
        fo.CSRGraph.from_edges(*ends, weights=[1, 2, 1]),
        fo.CSRGraph.from_edges(*ends, nodes=[1, 2, 3]),
        fo.CSRGraph.from_edges(*ends, nodes=["1", "2", "3"]),
        fo.CSRGraph.from_edges(*ends, nodes=["2", "1", "3"]),
        fo.CSRGraph.from_edges(*ends, nodes=[1, "2", "3"]),
    ]
    assert len({graph.fingerprint for graph in graphs}) == len(graphs)
    assert fo.CSRGraph.from_edges(*ends).fingerprint == graphs[0].fingerprint
    assert fo.CSRGraph.from_edges(*ends, nodes=(1, 2, 3)).fingerprint == (
        fo.CSRGraph.from_edges(*ends, nodes=np.array([1, 2, 3])).fingerprint
    )


def test_an_opened_graph_pickles_as_its_path(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    graph = fo.CSRGraph.from_edges(rng.integers(0, 1000, 5000), rng.integers(0, 1000, 5000))
    graph.save(tmp_path / "graph")
    monkeypatch.chdir(tmp_path)
    content = pickle.dumps(fo.CSRGraph.open("graph"))
    assert len(content) < 500
    monkeypatch.chdir("/")
    found = pickle.loads(content)
    assert found is pickle.loads(content)  # one graph for all tasks of a process
    assert_same(found, graph)
    graph.unweighted.save(tmp_path / "graph")
    del found
    with pytest.raises(ValueError, match="holds another graph than before"):
        pickle.loads(content)
    assert graph.path is None
    assert len(pickle.dumps(graph)) > 10_000


def test_an_open_graph_outlives_its_folder(tmp_path):
    graph = fo.CSRGraph.from_edges([0, 1], [1, 2], weights=[2, 3])
    graph.save(tmp_path)
    found = fo.CSRGraph.open(tmp_path)
    fo.CSRGraph.from_edges([0], [1]).save(tmp_path)
    assert_same(found, graph)
    assert len(fo.CSRGraph.open(tmp_path)) == 2


def test_numpy_reads_the_files(tmp_path):
    graph = fo.CSRGraph.from_edges([0, 1], [1, 2])
    graph.save(tmp_path)
    (file,) = tmp_path.glob("indices-*.npy")
    np.testing.assert_array_equal(np.load(file), graph.indices)


@pytest.mark.parametrize("verify", ["yes", None, 2, "checksums"])
def test_verify_has_three_values(tmp_path, verify):
    with pytest.raises(ValueError, match=r'True, False or "checksum", got'):
        fo.CSRGraph.open(tmp_path, verify=verify)


def saved_graph(folder):
    fo.CSRGraph.from_edges([0, 1, 2], [1, 2, 0], [2.0, 0.5, 1.0], nodes=["a", "b", "c"]).save(folder)
    return folder


@pytest.mark.parametrize(
    ("name", "position", "value", "why"),
    [
        ("indices", 0, 3, "an edge leads to a node that is not there"),
        ("indices", 0, -1, "an edge leads to a node that is not there"),
        ("indptr", 1, -1, "offsets of its rows do not rise"),
        ("indptr", 1, 5, "offsets of its rows do not rise"),
        ("indptr", 3, 7, "offsets of its rows do not rise"),
        ("weights", 2, np.nan, "a weight is out of range"),
        ("weights", 2, -1.0, "a weight is out of range"),
        ("weights", 2, 1e200, "a weight is out of range"),
        ("weights", 2, 4.0, "a degree is not the sum of its row"),
        ("degrees", 2, 0.1, "a degree is not the sum of its row"),
        ("name_offsets", 1, 9, "offsets of its names do not rise"),
        ("slots", 3, 4, "a slot of its names holds a row that is not there"),
        ("slots", 3, -1, "a slot of its names holds a row that is not there"),
    ],
)
def test_damage_that_could_do_harm_is_noticed(tmp_path, name, position, value, why):
    (file,) = saved_graph(tmp_path).glob(f"{name}-*.npy")
    array = np.load(file)
    array[position] = value
    np.save(file, array)
    with pytest.raises(ValueError, match=f"is damaged: .*{why}"):
        fo.CSRGraph.open(tmp_path)
    with pytest.raises(ValueError, match=f"checksum of its array {name} is wrong"):
        fo.CSRGraph.open(tmp_path, verify="checksum")


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m["details"].update(nodes=4),
        lambda m: m["details"].update(nodes="3"),
        lambda m: m["details"].update(nodes=0),
        lambda m: m["details"].update(directed=None),
        lambda m: m["details"].update(names="range of"),
        lambda m: m["details"].update(names="json"),
        lambda m: m["details"].update(names="integers"),
        lambda m: m["derived"].update(self_loops=-1),
        lambda m: m["derived"].update(seed=2**64),
        lambda m: m["derived"].pop("seed"),
        lambda m: m["arrays"].pop("indptr"),
        lambda m: m["derived_arrays"].pop("degrees"),
        lambda m: m["arrays"].update(indices=m["arrays"]["weights"]),
        lambda m: m["derived_arrays"].update(slots=m["arrays"]["indices"]),
        lambda m: m.update(details=[]),
    ],
)
def test_edited_manifests_are_noticed(tmp_path, change):
    edited(saved_graph(tmp_path), change, with_fingerprint=True)
    with pytest.raises(ValueError, match="is damaged"):
        fo.CSRGraph.open(tmp_path)


def test_integers_that_do_not_ascend_are_noticed(tmp_path):
    fo.CSRGraph.from_edges([0, 1], [1, 2], nodes=[3, 5, 9]).save(tmp_path)
    (file,) = tmp_path.glob("names-*.npy")
    np.save(file, np.array([3, 9, 5]))
    with pytest.raises(ValueError, match="names do not ascend"):
        fo.CSRGraph.open(tmp_path)


def test_a_name_that_is_no_text_raises_where_it_is_read(tmp_path):
    (file,) = saved_graph(tmp_path).glob("names-*.npy")
    np.save(file, np.array([255, 98, 99], dtype=np.uint8))
    graph = fo.CSRGraph.open(tmp_path)
    with pytest.raises(ValueError, match="is not UTF-8"):
        list(graph)


@pytest.mark.parametrize("weights", [None, [0.5, 2.0, 3.0]])
@pytest.mark.parametrize("verify", [True, "checksum"])
def test_undirected_rows_that_differ_about_an_edge_are_refused(tmp_path, weights, verify):
    """Over-relaxed pushes might never end on them, though the checksums were mended."""
    fo.CSRGraph.from_edges([0, 1, 2], [1, 2, 3], weights).save(tmp_path)
    with tampered(tmp_path) as content:
        if weights is None:
            content.arrays["indices"][0] = 2
        else:
            content.arrays["weights"][:] = [0.5, 0.5, 3.0, 2.0, 3.0, 3.0]  # the sums of rows but one stay
            content.derived_arrays["degrees"][:] = [0.5, 3.5, 5.0, 3.0]
    with pytest.raises(ValueError, match="is damaged: two rows differ about an edge"):
        fo.CSRGraph.open(tmp_path, verify=verify)
    assert len(fo.CSRGraph.open(tmp_path, verify=False)) == 4


def test_rows_in_any_order_agree(tmp_path):
    graph = fo.CSRGraph([0, 3, 5, 7, 8], [3, 1, 2, 2, 0, 0, 1, 0], [4.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 4.0])
    graph.save(tmp_path)
    assert_same(fo.CSRGraph.open(tmp_path), graph)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("verify", [True, "checksum"])
def test_a_graph_whose_rows_list_a_neighbour_twice_is_not_changed(tmp_path, directed, verify):
    """Whoever changes an edge relies on finding it in both rows, once."""
    fo.CSRGraph.from_edges([0, 1, 2], [1, 2, 0]).save(tmp_path / "graph")
    with tampered(tmp_path / "graph") as content:
        content.arrays["indices"][:] = [1, 1, 0, 0, 2, 2]
        content.details["directed"] = directed
    graph, why = fo.CSRGraph.open(tmp_path / "graph", verify=verify), "a row lists a neighbour twice"
    for change in (fo.DynamicGraph, lambda G: fo.DynamicGraph(G, directed=not directed)):
        with pytest.raises(ValueError, match=f"graph is damaged: {why}. Save it again"):
            change(graph)
    with pytest.raises(ValueError, match=why):
        fo.DurableGraph(tmp_path / "durable", graph)
    if directed:
        with pytest.raises(ValueError, match=why):
            fo.OnlineNodeLabeler(graph)  # which learns on W + W^T
    else:
        fo.OnlineNodeLabeler(graph, method="weighted-majority").save(tmp_path / "model")
        with pytest.raises(ValueError, match=f"the graph was saved and altered: {why}"):
            fo.DynamicGraph(fo.OnlineNodeLabeler.load(tmp_path / "model").graph)


def test_only_graphs_that_were_saved_are_looked_at_again(tmp_path, monkeypatch):
    graph = fo.CSRGraph.from_edges([0, 1], [1, 2])
    graph.save(tmp_path)
    opened, looks = fo.CSRGraph.open(tmp_path), []
    monkeypatch.setattr("nx_fastonl.graph.csr.find_fault", lambda *rows, **_: looks.append(rows))
    for trusted in (graph, fo.CSRGraph.open(tmp_path, verify=False)):
        fo.DynamicGraph(trusted)
    assert not looks
    for _ in range(2):
        fo.DynamicGraph(opened)
    assert len(looks) == 1


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_opening_without_a_check_reads_next_to_nothing(tmp_path):
    """In a process of its own: pages that this one has read would count."""
    n = 3_000_000
    fo.CSRGraph.from_edges(np.arange(n), (np.arange(n) + 1) % n).save(tmp_path / "ring")
    script = """
import sys
import nx_fastonl as fo
def mapped():
    lines = open("/proc/self/smaps").read().split("\\n")
    return sum(int(line.split()[1]) for line in lines if line.startswith("Rss:"))
fo.CSRGraph.open(sys.argv[1], verify=False)
before = mapped()
graph = fo.CSRGraph.open(sys.argv[1], verify=False)
graph.number_of_edges(), graph.indices[5], len(graph)
print(mapped() - before)
"""
    command = [sys.executable, "-c", script, str(tmp_path / "ring")]
    grown = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert sum(file.stat().st_size for file in (tmp_path / "ring").iterdir()) > 60_000_000
    assert grown < 2_000  # kB


def test_the_manifest_is_readable(tmp_path):
    manifest = json.loads((saved_graph(tmp_path) / "manifest.json").read_text())
    assert manifest["format"] == "nx_fastonl graph"
    assert manifest["version"] == 1
    assert manifest["details"] == {"nodes": 3, "directed": False, "names": "texts"}
