import os
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nx_fastonl import experiments
from nx_fastonl.experiments.graphs import _load, graph_keys, graph_name, load_graph, load_labelled_graph
from tests.conftest import dataset

PATH = {"indptr": [0, 1, 3, 4], "indices": [1, 0, 2, 1], "labels": [5, -1, 7]}  # 0 - 1 - 2


@pytest.fixture
def save(tmp_path):
    def save(name="path", **changes):
        arrays = {key: value for key, value in {**PATH, **changes}.items() if value is not None}
        path = tmp_path / f"{name}.npz"
        np.savez(path, **arrays)
        return str(path)

    _load.cache_clear()  # a file of this name may have been read before
    return save


def rows_of(A, **arrays):
    """The compressed sparse rows of a dense matrix."""
    counts = (A != 0).sum(axis=1)
    return {"indptr": np.concatenate([[0], np.cumsum(counts)]), "indices": np.nonzero(A)[1], **arrays}


def test_a_file(save):
    graph, labels = load_graph(save())
    assert not graph.is_directed()
    np.testing.assert_array_equal(graph.to_scipy().toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    assert graph.weights is None
    assert labels == {0: 5, 2: 7}


def test_weights_of_edges_are_kept(save):
    graph, _ = load_graph(save(weights=[0.5, 0.5, 2.0, 2.0]))
    np.testing.assert_array_equal(graph.to_scipy().toarray(), [[0, 0.5, 0], [0.5, 0, 2], [0, 2, 0]])


@given(hnp.arrays(bool, (6, 6)))
def test_arcs_become_edges(tmp_path_factory, arcs):
    path = tmp_path_factory.mktemp("arcs") / "arcs.npz"
    np.savez(path, **rows_of(arcs))
    graph, _ = load_graph(str(path))
    assert not graph.is_directed()
    np.testing.assert_array_equal(graph.to_scipy().toarray(), arcs | arcs.T)


@given(hnp.arrays(bool, (6, 6)), st.booleans())
def test_arrows_are_kept_where_they_are_asked_for(tmp_path_factory, arcs, weighted):
    path = tmp_path_factory.mktemp("arcs") / "arcs.npz"
    A = arcs * (np.arange(1.0, 37.0).reshape(6, 6) if weighted else 1.0)
    np.savez(path, **rows_of(A, **({"weights": A[A != 0]} if weighted else {})))
    graph, _ = load_graph(str(path), arrows=True)
    assert graph.is_directed() == (not (A == A.T).all())
    np.testing.assert_array_equal(graph.to_scipy().toarray(), A)
    assert not load_graph(str(path))[0].is_directed()


@pytest.mark.parametrize("arrows", [False, True])
def test_arxiv_by_year(tmp_path, arrows):
    data = dataset("ogbn-arxiv")
    path = tmp_path / "years.npz"
    years = np.resize([1971, 2013, 2014, 2015, 2016, 2017, 2018, 2019, 2020], len(data.graph))
    np.savez(path, year=years)
    (key,) = graph_keys([f"arxiv-by-year={path}"])
    assert graph_name(key) == "arxiv-by-year"
    graph, labels = load_graph(key, arrows=arrows)
    assert graph.number_of_edges() == (1_166_243 if arrows else data.graph.number_of_edges())
    assert list(labels) == list(range(len(graph)))
    assert list(labels.values())[:9] == [0, 0, 1, 1, 2, 2, 3, 4, 4]
    assert load_graph("ogbn-arxiv", arrows=arrows)[0].is_directed() == graph.is_directed() == arrows
    assert load_graph("ogbn-arxiv", arrows=arrows)[1] == data.labels


def test_years_that_do_not_fit(tmp_path, save):
    dataset("ogbn-arxiv")
    for years, found in ((np.arange(3), r"int64 of shape \(3,\)"), (np.zeros(169_343), "float64")):
        np.savez(tmp_path / "years.npz", year=years)
        with pytest.raises(ValueError, match=f"year must be an integer for each of the 169343 nodes.* {found}"):
            load_graph(f"arxiv-by-year={tmp_path / 'years.npz'}")
    with pytest.raises(ValueError, match=r"path\.npz lacks the array year; it has none of year"):
        load_graph(f"arxiv-by-year={save()}")
    with pytest.raises(ValueError, match=r"arxiv-by-year needs a file with the array year: arxiv-by-year=FILE\.npz"):
        graph_keys(["arxiv-by-year"])


@given(hnp.arrays(float, (6, 6), elements=st.sampled_from([0.0, 0.0, 0.5, 1.0, 3.0])))
def test_weights_of_both_directions_add_up(tmp_path_factory, A):
    path = tmp_path_factory.mktemp("arcs") / "arcs.npz"
    np.savez(path, **rows_of(A, weights=A[A != 0]))
    graph, _ = load_graph(str(path))
    expected = A if (A == A.T).all() else A + A.T
    np.testing.assert_array_equal(graph.to_scipy().toarray(), expected)


def test_labels_may_be_missing_where_they_are_not_used(save, tmp_path):
    path = save(labels=None)
    assert load_graph(path)[1] == {}
    assert len(experiments.run("nnz", path, trials=1, out=tmp_path)) == 16
    for unlabelled in (path, save("none", labels=[-1, -1, -1])):
        with pytest.raises(ValueError, match="has no labels; this experiment needs the array labels"):
            load_labelled_graph(unlabelled)


@pytest.mark.parametrize("name", ["accuracy", "smoothness", "adaptive", "few-labels", "directed", "half-known"])
def test_experiments_that_need_labels_say_so(save, tmp_path, name):
    with pytest.raises(ValueError, match="has no labels"):
        experiments.run(name, save(labels=None), trials=1, out=tmp_path / "out")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"indices": None}, "lacks the array indices; it has indptr, labels"),
        ({"indptr": None, "indices": None, "labels": None, "data": [1]}, "lacks the array indptr; it has none of"),
        ({"labels": [1, 2]}, r"path\.npz: labels must be an integer for each of the 3 nodes, .* shape \(2,\)"),
        ({"labels": [0.5, 1.0, 2.0]}, "labels must be an integer for each of the 3 nodes, -1 for none, got .* float64"),
        ({"indptr": [0, 1, 3, 5]}, r"path\.npz: indptr must rise from 0 to len\(indices\) = 4"),
        ({"indices": [1, 0, 3, 1]}, r"path\.npz: indices must lie between 0 and 2, got 0 to 3"),
        ({"weights": [1.0, 1.0]}, r"path\.npz: .*weights"),
        ({"labels": np.array(["a", None, 2], dtype=object)}, "is not a file of arrays, as numpy.savez writes it"),
    ],
)
def test_files_that_hold_no_graph(save, changes, message):
    with pytest.raises(ValueError, match=message):
        load_graph(save(**changes))


@pytest.mark.parametrize("content", [b"", b"indptr 0 1 3 4", b"PK\x03\x04 and no more"])
def test_files_of_another_kind(tmp_path, content):
    path = tmp_path / "text.npz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"text\.npz is not a file of arrays"):
        load_graph(str(path))


def test_one_array_alone(tmp_path):
    path = tmp_path / "alone.npz"
    with path.open("wb") as file:
        np.save(file, np.arange(3))
    with pytest.raises(ValueError, match=r"alone\.npz is not a file of arrays"):
        load_graph(str(path))


def test_a_file_cut_short(save):
    path = save(indices=np.arange(10_000) % 3)
    os.truncate(path, 1_000)
    with pytest.raises(ValueError, match="is not a file of arrays"):
        load_graph(path)


def test_no_such_file(tmp_path):
    folder = tmp_path / "folder.npz"
    folder.mkdir()
    for path in (tmp_path / "no.npz", folder):
        with pytest.raises(ValueError, match=re.escape(f"there is no file {path}")):
            load_graph(str(path))


def test_tables_have_the_name_and_records_the_path(save, tmp_path):
    path = save("some-name")
    frame = experiments.run("nnz", [path, "karate"], trials=1, out=tmp_path / "out")
    assert frame["graph"].unique().tolist() == [path, "karate"]
    for records in (frame, pd.read_csv(tmp_path / "out" / "nnz.csv")):
        assert experiments.summary("nnz", records).index.tolist() == ["some-name", "karate"]


def test_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    inside = str(tmp_path / "a" / "b.npz")
    assert graph_keys(["cora", "a/b.npz", tmp_path / "a" / "b.npz", "cora"]) == ["cora", inside]
    assert (graph_name("cora"), graph_name(inside)) == ("cora", "b")
    assert graph_keys(["arxiv-by-year=a/b.npz", "a/b.npz"]) == [f"arxiv-by-year={inside}", inside]
    for others in (["c/b.npz"], ["b"]):
        with pytest.raises(ValueError, match="two graphs have the name b: "):
            graph_keys(["a/b.npz", *others])
