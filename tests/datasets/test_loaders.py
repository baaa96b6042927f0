import json
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from scipy import io, sparse

from nx_fastonl import datasets
from nx_fastonl.datasets.files import FILES
from nx_fastonl.graph.csr import CSRGraph
from tests.conftest import dataset

NPZ_DATASETS = ["political-blogs", "citeseer", "cora", "pubmed", "mnist-knn"]


def published(name):
    """The paths of the published files of a dataset. The test is skipped if they are not on this machine."""
    dataset(name)
    return [datasets.data_folder() / file.name for file in FILES[name]]


def read_matrix(path):
    with np.load(path) as arrays:
        csr = arrays["data"], arrays["indices"], arrays["indptr"]
        return sparse.csr_array(csr, shape=tuple(arrays["shape"])).astype(float)


def assert_same_matrix(found, expected):
    assert found.shape == expected.shape
    difference = abs(found - expected)
    assert difference.nnz == 0 or difference.max() < 1e-12


@pytest.mark.parametrize("name", ["karate", "digits"])
def test_datasets_that_need_no_download(name, tmp_path):
    data = datasets.load(name)
    assert isinstance(data.graph, CSRGraph)
    assert not data.graph.is_directed()
    assert data.labels.keys() == set(data.graph.nodes)
    assert datasets.is_available(name, tmp_path)
    assert data.description.startswith(datasets.summary(name))


def test_karate_is_that_of_networkx(karate):
    data = datasets.load_karate(as_networkx=True)
    assert_same_matrix(nx.to_scipy_sparse_array(data.graph), nx.to_scipy_sparse_array(karate))
    assert data.labels == nx.get_node_attributes(karate, "club")


def test_digits_look_like_their_neighbours():
    data = datasets.load_digits_graph()
    rows = np.repeat(np.arange(len(data.graph)), np.diff(data.graph.indptr))
    pairs = zip(rows.tolist(), data.graph.indices.tolist(), strict=True)
    assert np.mean([data.labels[u] == data.labels[v] for u, v in pairs]) > 0.9


@pytest.mark.parametrize(
    ("n_neighbors", "error", "message"),
    [
        (0, ValueError, "n_neighbors must be at least 1, got 0"),
        (1_797, ValueError, "n_neighbors must be at most 1796, got 1797"),
        (10**400, ValueError, "n_neighbors must be at most 1796, got an integer of about 401 digits"),
        (2.5, TypeError, "n_neighbors must be a whole number, got 2.5"),
    ],
    ids=["none", "all", "huge", "a fraction"],
)
def test_numbers_of_neighbours_that_the_digits_cannot_have(n_neighbors, error, message):
    with pytest.raises(error, match=f"^{message}$"):
        datasets.load_digits_graph(n_neighbors=n_neighbors)


@pytest.mark.parametrize("n_neighbors", [3, 10])
def test_digits_have_as_many_neighbours_as_asked_for(n_neighbors):
    graph = datasets.load_digits_graph(n_neighbors=n_neighbors).graph
    assert np.diff(graph.indptr).min() == n_neighbors


@pytest.mark.parametrize("name", NPZ_DATASETS)
def test_npz_files_are_read_as_they_were_published(name):
    (path,) = published(name)
    data = dataset(name)
    assert_same_matrix(data.graph.to_scipy(), read_matrix(path))
    with np.load(path) as arrays:
        assert list(data.labels.values()) == arrays["labels"].tolist()
    assert list(data.labels) == list(data.graph)
    assert {type(label) for label in data.labels.values()} == {int}


def test_arxiv_is_read_without_directions():
    adjacency, classes = published("ogbn-arxiv")
    data = dataset("ogbn-arxiv")
    A = read_matrix(adjacency)
    assert_same_matrix(data.graph.to_scipy(), ((A + A.T) != 0).astype(float))
    assert {str(node): label for node, label in data.labels.items()} == json.loads(classes.read_text())


@pytest.mark.parametrize("as_networkx", [False, True])
def test_arxiv_is_read_with_its_arrows(as_networkx):
    adjacency, _ = published("ogbn-arxiv")
    data = datasets.fetch_ogbn_arxiv(directed=True, as_networkx=as_networkx)
    assert data.graph.is_directed()
    assert repr(data) == "Dataset ogbn-arxiv: 169,343 nodes, 1,166,243 edges, 40 labels"
    found = nx.to_scipy_sparse_array(data.graph) if as_networkx else data.graph.to_scipy()
    assert_same_matrix(found, read_matrix(adjacency))
    assert data.labels == dataset("ogbn-arxiv").labels


def test_political_blogs_keep_their_self_loops():
    data = dataset("political-blogs")
    assert data.graph.to_scipy().diagonal().astype(bool).sum() == 3
    assert data.graph.number_of_edges() == 16_717
    assert repr(data) == "Dataset political-blogs: 1,222 nodes, 16,717 edges, 2 labels"


@pytest.mark.filterwarnings("ignore:The default value for `spmatrix`:DeprecationWarning")
def test_bloggers_have_the_last_of_their_groups():
    (path,) = published("blogcatalog")
    arrays = io.loadmat(path)
    data = dataset("blogcatalog")
    assert_same_matrix(data.graph.to_scipy(), sparse.csr_array(arrays["network"]).astype(float))
    members, groups = arrays["group"].nonzero()
    assert data.labels == dict(sorted(zip(members.tolist(), groups.tolist(), strict=True)))


def test_as_networkx():
    data = dataset("cora")
    found = datasets.fetch_cora(as_networkx=True)
    assert type(found.graph) is nx.Graph
    assert nx.get_node_attributes(found.graph, "label") == found.labels == data.labels
    assert found.graph.number_of_edges() == data.graph.number_of_edges() == 5_069


@pytest.mark.parametrize("name", FILES)
def test_description_names_the_published_files(name):
    urls = [file.url for file in FILES[name]]
    assert Counter(word for word in dataset(name).description.split() if "://" in word) == Counter(urls)
