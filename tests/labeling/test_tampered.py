"""Saved models that somebody has altered, and whose checksums were mended: nothing leads outside of an array."""

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import nx_fastonl as fo
from nx_fastonl._lib.folders import DamagedError
from nx_fastonl.labeling.snapshot import decode_learner
from nx_fastonl.learners.registry import METHOD_OPTIONS
from nx_fastonl.learners.waiting import checked_history
from tests.seams import learner_of
from tests.tampering import tampered

MODELS = {
    **{method: {"method": method} for method in METHOD_OPTIONS},
    "votes": {"experts": ["vote"]},
    "several diffusions": {"experts": ["diffusion", "laplacian:0.3", "degree"], "forgetting": 3},
    "single precision": {"method": "fastonl", "dtype": "float32"},
    "symmetrized": {"method": "fastonl-fifo", "symmetrized": True},
    "given classes": {"method": "fastonl", "classes": ["x", "y", "z"]},
    "directed": {"directed": True},
}
# Any number of these may be there, but for the least that labels need.
OF_ANY_LENGTH = {"mixture", "adaptive"}


def model_of(name):
    options = dict(MODELS[name])
    directed = options.pop("directed", False)
    G = nx.gnp_random_graph(12, 0.4, seed=1, directed=directed)
    model = fo.OnlineNodeLabeler(G, seed=1, **options)
    model.learn_many({0: "x", 5: "y"})
    model.run([(7, "x"), (3, "z"), (9, "y")])
    model.forget(7)
    return model


def altered(model, array, values):
    """The learner of a model as it is loaded, with one array altered."""
    _, saved = model._saved()
    saved = saved._replace(arrays={**saved.arrays, array: values})
    return decode_learner(Path("model"), saved, model._graph, getattr(learner_of(model), "arrows", None))


def shorter(array):
    return array[:-1]


def longer(array):
    return np.concatenate([array, array[-1:] if len(array) else np.ones((1, *array.shape[1:]), array.dtype)])


def of_another_type(array):
    with np.errstate(all="ignore"):
        return array.astype({"f8": np.float32, "f4": np.float64, "i8": np.int32}.get(array.dtype.str[1:], np.int64))


@pytest.mark.parametrize("name", MODELS)
def test_arrays_that_do_not_fit_are_refused(name):
    model = model_of(name)
    arrays = model._saved()[1].arrays
    assert len(arrays) >= 4
    for array, values in arrays.items():
        for change in (shorter, longer, of_another_type):
            if change is of_another_type or (array.rpartition("_")[0] not in OF_ANY_LENGTH and len(change(values))):
                with pytest.raises(DamagedError, match="its learner cannot be made again"):
                    altered(model, array, change(values))
        altered(model, array, values)


# Cases that once led outside of an array, or to a computation without end.


@pytest.mark.parametrize("name", ["weighted-majority", "votes"])
def test_a_history_of_fewer_nodes_than_the_graph_has(tmp_path, name):
    model_of(name).save(tmp_path)
    with tampered(tmp_path) as content:
        for array in ("label_history_2", "label_history_3"):
            content.arrays[array] = content.arrays[array][:-1]
        for array, values in content.arrays.items():
            if array.startswith("neighbor_counts") and len(values) == 12:
                content.arrays[array] = values[:-1]
    with pytest.raises(ValueError, match="is damaged: its learner cannot be made again"):
        fo.OnlineNodeLabeler.load(tmp_path)


def test_absorption_without_pivots(tmp_path):
    model = model_of("adaptive")
    model.save(tmp_path)
    with tampered(tmp_path) as content:
        for array, values in content.arrays.items():
            if array.startswith("diffusion_") and not array.startswith("diffusion_store") and values.shape == (12,):
                content.arrays[array] = values[:0]
    with pytest.raises(ValueError, match="is damaged: its learner cannot be made again"):
        fo.OnlineNodeLabeler.load(tmp_path)


def replaced(tree, old, new):
    """The same tree with another number in place of one."""
    if isinstance(tree, dict):
        return {key: replaced(value, old, new) for key, value in tree.items()}
    if isinstance(tree, list):
        return [replaced(value, old, new) for value in tree]
    return new if type(tree) is type(old) and tree == old else tree


@pytest.mark.parametrize(
    ("name", "number", "changed"),
    [
        ("approximate", 10, 1 << 62),  # terms of a series
        ("approximate", 10, 0),
        ("several diffusions", 3, 0),  # the half-life
        ("fastonl", 0.1, -0.1),  # epsilon
        ("fastonl", 0.1, float("nan")),
        ("fastonl", 12, -12),  # nodes
        ("relaxation", 12, 0),
    ],
)
def test_numbers_that_are_out_of_range_are_refused(tmp_path, name, number, changed):
    model_of(name).save(tmp_path)
    with tampered(tmp_path) as content:
        tree = replaced(content.details["learner"], number, changed)
        assert json.dumps(tree) != json.dumps(content.details["learner"])
        content.details["learner"] = tree
    with pytest.raises(ValueError, match="is damaged: its learner cannot be made again"):
        fo.OnlineNodeLabeler.load(tmp_path)


def test_thresholds_of_prediction_sets_after_arrivals_that_there_were_not():
    model = model_of("adaptive")
    model.predict_set_one(1)
    ((coverage, (steps, threshold)),) = learner_of(model)._thresholds.items()
    for changed in (-1_000_000, steps + 1):
        learner_of(model)._thresholds = {coverage: (changed, threshold)}
        with pytest.raises(DamagedError, match="its thresholds do not fit together"):
            altered(model, "label_history_0", model._saved()[1].arrays["label_history_0"])


def gradients_of(model):
    """The arrays of stored gradients: s, labels, rows of those with several entries, and more."""
    return [pair for pair in model._saved()[1].arrays.items() if pair[0].startswith("gradient_store")]


def test_rows_of_gradients_that_two_nodes_share():
    """Once both were forgotten, more rows would be free than there are."""
    G = nx.karate_club_graph()
    model = fo.OnlineNodeLabeler(G, method="fastonl", trace=1.0, seed=1)
    model.run([(u, "xyz"[u % 3]) for u in range(12)])
    name, rows = gradients_of(model)[2]
    assert np.count_nonzero(rows) > 0
    for changed in (np.where(rows > 0, 1, 0), np.full_like(rows, rows.max())):
        with pytest.raises(DamagedError, match="its gradients do not fit together"):
            altered(model, name, changed.astype(np.int32))


def test_labels_of_gradients_that_nobody_learned():
    model = model_of("fastonl")
    name, labels = gradients_of(model)[1]
    with pytest.raises(DamagedError, match="its labels and gradients do not fit together"):
        altered(model, name, np.full_like(labels, 3))  # there is room for it, and no such label


@pytest.mark.parametrize("name", [12, "first"])
def test_names_of_labelers_that_are_no_texts_or_not_their_own(tmp_path, name):
    with fo.DurableGraph(tmp_path / "graph", nx.path_graph(3)) as graph:
        graph.labeler("first"), graph.labeler("second")
        graph.snapshot()
    with tampered(tmp_path / "graph" / "snapshot") as content:
        content.details["labelers"][1][0] = name
    with pytest.raises(ValueError, match="a labeler cannot be made again"):
        fo.DurableGraph(tmp_path / "graph")


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        (np.array([0.2, 0.7]), np.array([0, 1], np.int32)),  # rounded down, they would be one node
        (np.array([0, 0]), np.array([0, 1], np.int32)),
        (np.array([0, 3]), np.array([0, 1], np.int32)),
        (np.array([0, 1]), np.array([0, 2], np.int32)),
        (np.array([0, 1]), np.array([0.0, 0.9])),
        (np.array([0, 1]), np.array([0], np.int32)),
    ],
)
def test_labels_of_a_model_that_could_not_follow_its_graph(rows, labels):
    with pytest.raises(ValueError, match="its labels do not fit together"):
        checked_history(3, 2, rows, labels)
    assert checked_history(3, 2, np.array([2, 1]), np.array([0, 1], np.int32)).n_learned == 2


@pytest.mark.parametrize("method", ["fastonl", 7, []])
def test_a_method_that_cannot_have_learned_on_the_graph(tmp_path, method):
    model_of("directed").save(tmp_path)
    with tampered(tmp_path) as content:
        content.details["settings"]["method"] = method
    with pytest.raises(ValueError, match="learned on another graph"):
        fo.OnlineNodeLabeler.load(tmp_path)


@pytest.mark.parametrize("number", [10**30, -1, 2.5])
def test_numbers_of_nodes_that_cannot_be(tmp_path, number):
    with fo.DurableGraph(tmp_path / "graph", nx.path_graph(3)) as graph:
        graph.remove_node(1)
        graph.labeler("model")
        graph.snapshot()
    with tampered(tmp_path / "graph" / "snapshot") as content:
        content.details["graph"]["n_removals"] = number
    with pytest.raises(ValueError, match="is damaged"):
        fo.DurableGraph(tmp_path / "graph")
