"""Models on disk: a model that is loaded goes on as the saved one would have, to the last bit."""

import pickle
import threading

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nx_fastonl as fo
from nx_fastonl.kernels.table import KERNELS
from nx_fastonl.learners.registry import METHOD_OPTIONS
from tests._lib.test_folders import edited
from tests.strategies import small_graphs

LABELS = ("a", "ä", 3, ("d", 1), 7.5, True, "\ud800")


def answers(model):
    """All that a model says of its nodes, and what it keeps, as bytes."""
    return pickle.dumps((model.predict_many(), model.predict_proba_many(), model.labels, model.classes))


def go_on(model, stream):
    return [(model.predict_one(node), model.predict_proba_one(node), model.learn_one(node, y)) for node, y in stream]


@given(G=st.booleans().flatmap(lambda directed: small_graphs(directed=directed)), data=st.data())
def test_any_model_survives(tmp_path_factory, G, data):
    method = data.draw(st.sampled_from(sorted(METHOD_OPTIONS)))
    options = {"predict": data.draw(st.sampled_from(["argmax", "sample"])), "seed": data.draw(st.integers(0, 9))}
    if "lam" in METHOD_OPTIONS[method]:
        options["kernel"] = data.draw(st.sampled_from(sorted(KERNELS)))
        options["smoothness"] = data.draw(st.floats(0.05, 1.0))
    if "dtype" in METHOD_OPTIONS[method] and data.draw(st.booleans()):
        options["dtype"] = "float32"
    if G.is_directed() and method != "adaptive":
        options["direction"] = "ignore"
    classes = data.draw(st.sampled_from([None, LABELS]))
    model = fo.OnlineNodeLabeler(G, classes, method=method, **options)
    stream = [(node, data.draw(st.sampled_from(LABELS))) for node in data.draw(st.permutations(list(G)))]
    half = data.draw(st.integers(0, len(stream)))
    if data.draw(st.booleans()):
        model.fit(dict(stream[:half]))
    else:
        model.learn_many(dict(stream[:half]))
    folder = tmp_path_factory.mktemp("model")
    model.save(folder)
    loaded = fo.OnlineNodeLabeler.load(folder)
    assert answers(loaded) == answers(model)
    assert [type(label) for label in loaded.classes] == [type(label) for label in model.classes]
    assert repr(loaded) == repr(model)
    assert go_on(loaded, stream[half:]) == go_on(model, stream[half:])
    assert answers(loaded) == answers(model)
    assert answers(loaded.clone().fit(dict(stream))) == answers(model.clone().fit(dict(stream)))


@pytest.fixture
def model():
    G = nx.karate_club_graph()
    clubs = nx.get_node_attributes(G, "club")
    return fo.OnlineNodeLabeler(G, seed=1).fit({node: clubs[node] for node in range(0, 34, 3)})


def test_a_model_without_its_graph_finds_it_where_it_was(tmp_path, model):
    graph = fo.CSRGraph.from_networkx(nx.karate_club_graph())
    graph.save(tmp_path / "graph")
    opened = fo.CSRGraph.open(tmp_path / "graph")
    on_disk = fo.OnlineNodeLabeler(opened, seed=1).fit(model.labels)
    on_disk.save(tmp_path / "model", include_graph=False)
    assert not list((tmp_path / "model").glob("graph_*"))
    assert answers(fo.OnlineNodeLabeler.load(tmp_path / "model")) == answers(model)
    (tmp_path / "graph").rename(tmp_path / "moved")
    with pytest.raises(FileNotFoundError, match=r"was saved without its graph, .* that is gone: pass graph="):
        fo.OnlineNodeLabeler.load(tmp_path / "model")
    moved = fo.CSRGraph.open(tmp_path / "moved")
    loaded = fo.OnlineNodeLabeler.load(tmp_path / "model", graph=moved)
    assert answers(loaded) == answers(model)
    loaded.save(tmp_path / "model", include_graph=False)  # now with the new place
    assert answers(fo.OnlineNodeLabeler.load(tmp_path / "model")) == answers(model)
    fo.CSRGraph.from_networkx(nx.path_graph(34)).save(tmp_path / "moved")
    with pytest.raises(ValueError, match="was learned on another graph"):
        fo.OnlineNodeLabeler.load(tmp_path / "model")


@pytest.mark.parametrize("direction", ["use", "ignore"])
@pytest.mark.parametrize("weight", ["weight", None])
def test_arrows_of_a_graph_on_disk_are_found_again(tmp_path, direction, weight):
    G = nx.gnp_random_graph(30, 0.15, directed=True, seed=1)
    nx.set_edge_attributes(G, {edge: 1.0 + edge[0] % 3 for edge in G.edges}, "weight")
    fo.CSRGraph.from_networkx(G).save(tmp_path / "graph")
    opened = fo.CSRGraph.open(tmp_path / "graph")
    model = fo.OnlineNodeLabeler(opened, weight=weight, direction=direction, seed=2).fit({u: u % 3 for u in range(20)})
    for include_graph, graph in ((True, None), (False, None), (False, G)):
        model.save(tmp_path / "model", include_graph=include_graph)
        loaded = fo.OnlineNodeLabeler.load(tmp_path / "model", graph)
        assert answers(loaded) == answers(model)
        assert repr(loaded) == repr(model)


def test_another_graph_is_refused(tmp_path, model):
    model.save(tmp_path, include_graph=False)
    with pytest.raises(ValueError, match="was saved without its graph: pass graph="):
        fo.OnlineNodeLabeler.load(tmp_path)
    G = nx.karate_club_graph()
    assert answers(fo.OnlineNodeLabeler.load(tmp_path, G)) == answers(model)
    G[0][1]["weight"] = 4.5
    for other in (nx.Graph(G), nx.path_graph(34), nx.relabel_nodes(nx.karate_club_graph(), {0: "zero"})):
        with pytest.raises(ValueError, match="was learned on another graph than the one given"):
            fo.OnlineNodeLabeler.load(tmp_path, other)


@pytest.mark.parametrize("label", [b"x", None, frozenset(), nx.Graph])
def test_labels_that_cannot_be_saved_are_refused(tmp_path, label):
    if label is None:
        label = ("a", None)
    model = fo.OnlineNodeLabeler(nx.path_graph(3), ["a", label])
    model.learn_one(0, label)
    with pytest.raises(TypeError, match=r"label .* cannot be saved"):
        model.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_every_array_has_a_checksum(tmp_path, model):
    model.save(tmp_path)
    before = answers(model)
    files = [file for file in tmp_path.glob("*.npy") if not file.name.startswith("graph_")]
    assert len(files) > 10
    for file in files:
        content = file.read_bytes()
        if len(content) > 128:
            file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
            with pytest.raises(ValueError, match="is damaged: the checksum of its array"):
                fo.OnlineNodeLabeler.load(tmp_path)
        file.write_bytes(content[:-1])
        with pytest.raises(ValueError, match="is damaged"):
            fo.OnlineNodeLabeler.load(tmp_path)
        file.write_bytes(content)
    assert answers(fo.OnlineNodeLabeler.load(tmp_path)) == answers(model) == before


def test_the_graph_of_a_model_has_checksums(tmp_path, model):
    model.save(tmp_path)
    (file,) = tmp_path.glob("graph_indices-*.npy")
    indices = np.load(file)
    indices[[0, 1]] = indices[[1, 0]]
    np.save(file, indices)
    with pytest.raises(ValueError, match="checksum of its array graph_indices is wrong"):
        fo.OnlineNodeLabeler.load(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m["details"].pop("learner"),
        lambda m: m["details"].update(learner=3),
        lambda m: m["details"].update(learner={"class": ["os.system", "echo"]}),
        lambda m: m["details"].update(learner={"function": ["kernel", {"tuple": [{"graph": None}, "K9"]}]}),
        lambda m: m["details"].update(learner={"array": "none"}),
        lambda m: m["details"].update(learner={"same": 0}),
        lambda m: m["details"].update(learner={}),
        lambda m: m["details"]["settings"].pop("method"),
        lambda m: m["details"]["settings"].pop("classes"),
        lambda m: m["details"]["settings"].update(seed="x"),
        lambda m: m["details"]["settings"].update(classes=["a"]),
        lambda m: m["details"]["settings"].update(classes=[{}, "b"]),
        lambda m: m["details"].update(settings=None),
        lambda m: m["details"].pop("fingerprint"),
        lambda m: m["arrays"].pop("graph_indptr"),
        lambda m: m["details"].update(graph=3),
    ],
)
def test_edited_manifests_are_noticed(tmp_path, model, change):
    model.save(tmp_path)
    edited(tmp_path, change, with_fingerprint=True)
    with pytest.raises(ValueError, match="is damaged"):
        fo.OnlineNodeLabeler.load(tmp_path)


def test_graphs_and_models_are_told_apart(tmp_path, model):
    model.save(tmp_path / "model")
    with pytest.raises(ValueError, match="holds 'nx_fastonl model', expected 'nx_fastonl graph'"):
        fo.CSRGraph.open(tmp_path / "model")
    fo.CSRGraph.from_edges([0], [1]).save(tmp_path / "graph")
    with pytest.raises(ValueError, match="holds 'nx_fastonl graph', expected 'nx_fastonl model'"):
        fo.OnlineNodeLabeler.load(tmp_path / "graph")
    with pytest.raises(FileExistsError, match="holds 'nx_fastonl graph', which is not replaced"):
        model.save(tmp_path / "graph")


def test_saving_while_another_thread_learns(tmp_path):
    G = nx.connected_caveman_graph(40, 10)
    model = fo.OnlineNodeLabeler(G, seed=1)
    thread = threading.Thread(target=lambda: [model.learn_one(node, node // 10) for node in G])
    thread.start()
    is_learning = True
    while is_learning:  # at least once, however busy the machine is
        is_learning = thread.is_alive()
        model.save(tmp_path)
        loaded = fo.OnlineNodeLabeler.load(tmp_path)
        learned = dict(list({node: node // 10 for node in G}.items())[: loaded.n_learned])
        assert loaded.labels == learned
    thread.join()
    expected = fo.OnlineNodeLabeler(G, seed=1)
    for node in learned:
        expected.learn_one(node, node // 10)
    assert answers(loaded) == answers(expected)


def test_a_model_on_disk_is_as_large_as_its_arrays(tmp_path):
    G = nx.path_graph(1000)
    model = fo.OnlineNodeLabeler(G).fit({u: u % 2 for u in range(0, 1000, 2)})
    model.save(tmp_path, include_graph=False)
    size = sum(file.stat().st_size for file in tmp_path.iterdir())
    assert size < 2 * len(pickle.dumps(model))
    assert np.load(next(tmp_path.glob("label_history_2-*.npy"))).shape == (1000,)
