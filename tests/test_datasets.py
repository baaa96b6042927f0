import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from nx_fastonl import datasets
from nx_fastonl.graph import CSRGraph
from tests.conftest import DATA

UPSTREAM = DATA / "upstream"
# The graphs of ../shared/data that were made from the published files.
SAME_AS = {
    "citeseer": "citeseer",
    "cora": "cora",
    "pubmed": "pubmed",
    "mnist-knn": "mnist",
    "ogbn-arxiv": "ogbn-arxiv",
}
needs_files = pytest.mark.skipif(not UPSTREAM.is_dir(), reason=f"the published files are not at {UPSTREAM}")


@pytest.fixture(autouse=True)
def _offline(monkeypatch):
    """No download, whatever the machine can reach."""

    def refuse(*_args, **_kwargs):
        raise OSError("no route to host")

    monkeypatch.setattr("pooch.core.stream_download", refuse)
    monkeypatch.delenv(datasets.DATA_HOME, raising=False)


@pytest.mark.parametrize("name", ["karate", "digits"])
def test_what_needs_no_download(name):
    found = datasets.load(name)
    assert isinstance(found.graph, CSRGraph)
    assert not found.graph.is_directed()
    assert found.labels.keys() == set(found.graph.nodes)
    assert datasets.is_available(name)
    assert found.description.startswith(datasets.summary(name))


def test_digits_look_like_their_neighbours():
    found = datasets.load_digits_graph()
    rows = np.repeat(np.arange(len(found.graph)), np.diff(found.graph.indptr))
    alike = [
        found.labels[u] == found.labels[v] for u, v in zip(rows.tolist(), found.graph.indices.tolist(), strict=True)
    ]
    assert np.mean(alike) > 0.9
    assert np.diff(found.graph.indptr).min() >= 10
    assert datasets.load_digits_graph(n_neighbors=3).graph.number_of_edges() < found.graph.number_of_edges()


@needs_files
@pytest.mark.parametrize("name", SAME_AS)
def test_published_files_are_read(name, real_graph, real_labels):
    found = datasets.load(name, data_home=UPSTREAM)
    expected = real_graph(SAME_AS[name])
    assert_array_equal(found.graph.indptr, expected.indptr)
    assert_array_equal(found.graph.indices, expected.indices)
    if expected.weights is not None:
        assert found.graph.weights == pytest.approx(expected.weights, rel=1e-6)
    assert list(found.labels.values()) == real_labels(SAME_AS[name]).tolist()
    assert {type(label) for label in found.labels.values()} == {int}


@needs_files
def test_political_blogs_keep_their_self_loops(real_labels):
    found = datasets.fetch_political_blogs(data_home=UPSTREAM)
    assert found.graph.number_of_edges() == 16_717
    assert repr(found) == "Dataset political-blogs: 1,222 nodes, 16,717 edges, 2 labels"
    assert list(found.labels.values()) == real_labels("political").tolist()


@needs_files
def test_bloggers_have_the_last_of_their_groups(real_graph):
    found = datasets.fetch_blogcatalog(data_home=UPSTREAM)
    assert_array_equal(found.graph.indices, real_graph("blogcatalog").indices)
    with np.load(DATA / "blogcatalog.npz") as arrays:
        assert list(found.labels.values()) == arrays["labels_last"].tolist()


@needs_files
def test_as_networkx():
    found = datasets.fetch_cora(as_networkx=True, data_home=UPSTREAM)
    assert type(found.graph) is nx.Graph
    assert nx.get_node_attributes(found.graph, "label") == found.labels
    assert found.graph.number_of_edges() == 5_069


@needs_files
def test_folder_by_environment(monkeypatch, tmp_path):
    monkeypatch.setenv(datasets.DATA_HOME, str(UPSTREAM))
    assert datasets.is_available("cora")
    assert len(datasets.fetch_cora().graph) == 2_485
    assert not datasets.is_available("cora", tmp_path)  # what is passed comes first


def test_without_a_connection(tmp_path):
    with pytest.raises(ConnectionError) as error:
        datasets.fetch_citeseer(data_home=tmp_path)
    message = str(error.value)
    assert message.startswith(f"citeseer.npz is not in {tmp_path} and could not be downloaded")
    assert datasets.FILES["citeseer"][0].url in message
    assert "set NX_FASTONL_DATA to a folder that has it" in message
    assert list(tmp_path.iterdir()) == []


def test_download_is_kept_and_checked(monkeypatch, tmp_path):
    """A download as pooch makes it, from a server that serves a small graph."""
    arrays = {"data": [1, 1], "indices": [1, 0], "indptr": [0, 1, 2], "shape": [2, 2], "labels": [0, 1]}
    np.savez(tmp_path / "served.npz", **{name: np.array(values) for name, values in arrays.items()})
    served = (tmp_path / "served.npz").read_bytes()
    downloads = []

    def download(url, fname, *_args, **_kwargs):
        downloads.append(url)
        fname.write_bytes(served)

    import pooch

    remote = datasets.RemoteFile("cora.npz", "https://example.org/cora.npz", pooch.file_hash(tmp_path / "served.npz"))
    monkeypatch.setitem(datasets.FILES, "cora", (remote,))
    monkeypatch.setattr("pooch.core.stream_download", download)
    home = tmp_path / "home"
    assert not datasets.is_available("cora", home)
    for _ in range(2):
        assert datasets.fetch_cora(data_home=home).labels == {0: 0, 1: 1}
    assert downloads == ["https://example.org/cora.npz"]
    assert datasets.is_available("cora", home)


def test_a_file_of_the_same_name_is_not_written_over(tmp_path):
    mine = tmp_path / "cora.npz"
    mine.write_text("my own")
    with pytest.raises(
        ValueError, match=r"cora.npz is not the published file, whose SHA-256 is 6bc9c2bd.*; move it away"
    ):
        datasets.fetch_cora(data_home=tmp_path)
    assert mine.read_text() == "my own"


@pytest.mark.parametrize("function", [datasets.load, datasets.summary, datasets.is_available])
def test_unknown_name(function):
    with pytest.raises(ValueError, match="unknown dataset 'coro'; there are karate, digits, political-blogs"):
        function("coro")


def test_every_dataset_has_a_function():
    assert {loader.__name__ for loader in datasets.DATASETS.values()} == {
        name for name in datasets.__all__ if name.startswith(("fetch_", "load_"))
    }
    assert datasets.FILES.keys() <= datasets.DATASETS.keys()
    assert all(datasets.summary(name).endswith(".") for name in datasets.DATASETS)


def test_a_folder_that_cannot_be():
    with pytest.raises(ValueError, match="~nobody-of-this-name is no folder"):
        datasets.data_folder("~nobody-of-this-name")


def test_a_file_in_place_of_the_folder(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        datasets.fetch_cora(data_home=tmp_path / "file")
