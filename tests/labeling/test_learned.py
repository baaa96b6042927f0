import copy
import pickle
import threading

import networkx as nx
import pytest

import nx_fastonl as fo
from nx_fastonl.labeling.knowledge import Knowledge

LABELS = {3: "a", 0: "b", 4: "a"}


@pytest.fixture
def model():
    return fo.OnlineNodeLabeler(nx.path_graph(6)).learn_many(LABELS)


def test_labels_are_looked_up_without_a_list_of_all(model, monkeypatch):
    monkeypatch.setattr(Knowledge, "learned", lambda _: pytest.fail("lists all labels"))
    G, labels = nx.path_graph(6), model.labels
    assert [v for v in G if v not in model.labels] == [1, 2, 5]
    assert [labels[v] for v in LABELS] == list(LABELS.values())
    assert (len(labels), labels.get(1), labels.get("no node", 7), 9 in labels, bool(labels)) == (
        3,
        None,
        7,
        False,
        True,
    )
    with pytest.raises(KeyError, match="1"):
        labels[1]
    with pytest.raises(TypeError):
        [] in labels  # noqa: B015  as with a dict


def test_labels_are_as_a_dict(model):
    labels = model.labels
    assert labels == LABELS
    assert labels == LABELS
    assert labels != {3: "a"}
    assert list(labels) == list(labels.keys()) == list(LABELS)
    assert (list(labels.values()), list(labels.items())) == (list(LABELS.values()), list(LABELS.items()))
    assert dict(labels) == {**labels} == labels.copy() == LABELS
    assert list((labels | {0: "c", 1: "d"}).items()) == [(3, "a"), (0, "c"), (4, "a"), (1, "d")]
    assert list(({0: "c", 1: "d"} | labels).items()) == [(0, "b"), (1, "d"), (3, "a"), (4, "a")]
    assert type(labels | labels) is dict
    with pytest.raises(TypeError, match="unsupported operand"):
        labels | [(1, "c")]
    assert repr(labels) == repr(LABELS)
    for other in (copy.copy(labels), copy.deepcopy(labels), pickle.loads(pickle.dumps(labels))):
        assert type(other) is dict
        assert other == LABELS
    with pytest.raises(TypeError):
        labels[1] = "c"
    many = fo.OnlineNodeLabeler(nx.path_graph(2000)).fit(dict.fromkeys(range(1500), "a"))
    assert repr(many.labels).startswith("<1,500 labels: {0: 'a', 1: 'a', ")
    assert len(repr(many.labels)) < 200


def test_labels_follow_the_model(model):
    labels, before = model.labels, model.labels.copy()
    model.learn_one(1, "c")
    model.forget(3)
    assert (len(labels), labels.get(3), labels[1]) == (3, None, "c")
    assert before == LABELS
    assert model.fit(labels).labels == {0: "b", 4: "a", 1: "c"}


def test_labels_of_nodes_that_have_left_are_gone():
    graph = fo.DynamicGraph(nx.path_graph(6))
    model = fo.OnlineNodeLabeler(graph).learn_many(LABELS)
    graph.remove_node(3)
    graph.add_edge(0, "new")
    assert (3 in model.labels, "new" in model.labels, len(model.labels)) == (False, False, 2)
    graph.add_edge(3, 5)
    assert model.labels == {0: "b", 4: "a"}
    assert model.unlabeled_nodes() == [node for node in graph if node not in model.labels] == [1, 2, 5, "new", 3]


def test_iterating_while_another_thread_learns(model):
    G = nx.cycle_graph(3000)
    model = fo.OnlineNodeLabeler(G, ["a"], method="weighted-majority")
    learning = threading.Thread(target=lambda: [model.learn_one(node, "a") for node in G])
    learning.start()
    while learning.is_alive():
        assert len([label for _, label in model.labels.items()]) <= len(model.labels) <= 3000
    learning.join()
    assert model.unlabeled_nodes() == []
