"""Graphs with labels to try things on: two that need no download, and those of the paper.

`DATASETS` has the function of each by name, which is what `load` goes by.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from nx_fastonl.graph import CSRGraph

__all__ = [
    "DATASETS",
    "Dataset",
    "data_folder",
    "fetch_blogcatalog",
    "fetch_citeseer",
    "fetch_cora",
    "fetch_mnist_knn",
    "fetch_ogbn_arxiv",
    "fetch_political_blogs",
    "fetch_pubmed",
    "is_available",
    "load",
    "load_digits_graph",
    "load_karate",
    "summary",
]

Fetcher = TypeVar("Fetcher", bound=Callable[..., Any])

# The environment variable that names the folder where downloaded files are kept and looked for.
DATA_HOME = "NX_FASTONL_DATA"


class RemoteFile(NamedTuple):
    """A published file: where it is, and what it must be to the bit."""

    name: str
    url: str
    sha256: str


_GITHUB = "https://raw.githubusercontent.com"
_FASTONL = f"{_GITHUB}/baojian/FastONL/035cbf7ff3de421aef833cab626d59b671cf42c3/datasets"
_DEEPWALK = f"{_GITHUB}/phanein/deepwalk/6e6dff245e4692e9bea47e9017c1034e51afbf29/example_graphs"
_NETBENCHMARK = f"{_GITHUB}/DEEP-PolyU/NetBenchmark/eb6d7273dd85dfac76e3fb19aafff707ae35fe54/data/ogbn-arxiv"

FILES = {
    "political-blogs": (
        RemoteFile(
            "political-blog.npz",
            f"{_FASTONL}/political-blog.npz",
            "84009995b87ab92b3efaafb3dc2bac4094e52eed87e6e79190902522406f3ac5",
        ),
    ),
    "cora": (
        RemoteFile(
            "cora.npz", f"{_FASTONL}/cora.npz", "6bc9c2bdd7395c59772f0a53f072386991a141175e550545ba62854864c8a31c"
        ),
    ),
    "citeseer": (
        RemoteFile(
            "citeseer.npz",
            f"{_FASTONL}/citeseer.npz",
            "28393f8bd374877ace60883b152c3bc4be19beae29ec6fd52c689c8f4c6a44be",
        ),
    ),
    "pubmed": (
        RemoteFile(
            "pubmed.npz", f"{_FASTONL}/pubmed.npz", "462306a6242bd7dfae530b4f51ab3ee5e9642332d69bdaa57e56877a3c84fe71"
        ),
    ),
    "mnist-knn": (
        RemoteFile(
            "mnist-tr-nei10.npz",
            f"{_FASTONL}/mnist-tr-nei10.npz",
            "8d47745d6fc931fbdf2d02d8dc6a9e2e1b71caa1324555cd790fafebccebdb68",
        ),
    ),
    "blogcatalog": (
        RemoteFile(
            "blogcatalog.mat",
            f"{_DEEPWALK}/blogcatalog.mat",
            "d4f4fb89ce1ccd4b7e2a183386c000773cc9362cc61f1be5b246a6d9c259da8f",
        ),
    ),
    "ogbn-arxiv": (
        RemoteFile(
            "ogbn-arxiv-adj_full.npz",
            f"{_NETBENCHMARK}/adj_full.npz",
            "920dae5bad3f63b07f5b8883493b298f026778d7358c14b955985bacbbd13771",
        ),
        RemoteFile(
            "ogbn-arxiv-class_map.json",
            f"{_NETBENCHMARK}/class_map.json",
            "7db3b1c89beeaa51c10d43b5888b60fb8b23a73ced4ca6df0a413240a3820b77",
        ),
    ),
}


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A graph whose nodes have labels.

    Attributes
    ----------
    name : str
        The name, as `DATASETS` has it.
    graph : CSRGraph or nx.Graph
        Undirected. As an nx.Graph, its nodes have their label as attribute "label".
    labels : dict
        ``{node: label}`` of the nodes that have one.
    description : str
        What the nodes, the edges and the labels are, and where they come from.

    Examples
    --------
    >>> from nx_fastonl.datasets import load_karate
    >>> karate = load_karate()
    >>> karate
    Dataset karate: 34 nodes, 78 edges, 2 labels
    >>> karate.graph
    CSRGraph with 34 nodes and 78 edges
    >>> karate.labels[33]
    'Officer'
    """

    name: str
    graph: CSRGraph | nx.Graph[Any]
    labels: dict[Hashable, Hashable]
    description: str

    def __repr__(self) -> str:
        n, m = self.graph.number_of_nodes(), self.graph.number_of_edges()
        return f"Dataset {self.name}: {n:,} nodes, {m:,} edges, {len(set(self.labels.values()))} labels"


def load_karate(*, as_networkx: bool = False) -> Dataset:
    """Zachary's karate club; the label is the club that a member joined after the split.

    Parameters
    ----------
    as_networkx : bool, default False
        Whether the graph is an ``nx.Graph`` rather than a `nx_fastonl.CSRGraph`.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from nx_fastonl.datasets import load_karate
    >>> load_karate()
    Dataset karate: 34 nodes, 78 edges, 2 labels
    """
    G = nx.karate_club_graph()
    labels = nx.get_node_attributes(G, "club")
    return _dataset("karate", CSRGraph.from_networkx(G), labels, as_networkx)


def load_digits_graph(*, n_neighbors: int = 10, as_networkx: bool = False) -> Dataset:
    """scikit-learn's 1,797 handwritten digits, each joined to those that look most like it. Needs scikit-learn.

    Parameters
    ----------
    n_neighbors : int, default 10
        Two images are joined if one is among so many nearest neighbours of the other.
    as_networkx : bool, default False
        Whether the graph is an ``nx.Graph`` rather than a `nx_fastonl.CSRGraph`.

    Returns
    -------
    Dataset

    Raises
    ------
    ImportError
        If scikit-learn is not installed.
    ValueError
        If `n_neighbors` is not a whole number from 1 to 1,796.

    Examples
    --------
    >>> from nx_fastonl.datasets import load_digits_graph
    >>> load_digits_graph()
    Dataset digits: 1,797 nodes, 12,340 edges, 10 labels
    """
    try:
        from sklearn.datasets import load_digits
        from sklearn.neighbors import kneighbors_graph
    except ImportError as error:
        raise ImportError("the digits come with scikit-learn: pip install scikit-learn") from error
    digits = load_digits()
    nearest = kneighbors_graph(digits.data, n_neighbors)
    return _dataset("digits", CSRGraph.from_scipy(nearest.maximum(nearest.T)), _numbered(digits.target), as_networkx)


_FETCHED = """

Parameters
----------
as_networkx : bool, default False
    Whether the graph is an ``nx.Graph`` rather than a `nx_fastonl.CSRGraph`.
data_home : path, optional
    The folder where downloaded files are kept and looked for: see `data_folder`.

Returns
-------
Dataset

Raises
------
ConnectionError
    If a file is not in the folder and cannot be downloaded; the message says which file goes where.
ImportError
    If pooch is not installed.
ValueError
    If a file, found or downloaded, is not the published one.

Examples
--------
>>> from nx_fastonl.datasets import {name}
>>> {name}()  # doctest: +SKIP
{shown}
"""


def _fetches(shown: str) -> Callable[[Fetcher], Fetcher]:
    """Complete the docstring of a function that fetches a dataset, which its example shows like this."""

    def complete(function: Fetcher) -> Fetcher:
        function.__doc__ = f"{function.__doc__}{_FETCHED.format(name=function.__name__, shown=shown)}"
        return function

    return complete


@_fetches("Dataset cora: 2,485 nodes, 5,069 edges, 7 labels")
def fetch_cora(*, as_networkx: bool = False, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Cora: 2,485 papers on machine learning, joined by citations; the label is the subject. Needs pooch."""
    return _from_npz("cora", as_networkx, data_home)


@_fetches("Dataset citeseer: 2,110 nodes, 3,668 edges, 6 labels")
def fetch_citeseer(*, as_networkx: bool = False, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Citeseer: 2,110 papers of computer science, joined by citations; the label is the area. Needs pooch."""
    return _from_npz("citeseer", as_networkx, data_home)


@_fetches("Dataset pubmed: 19,717 nodes, 44,324 edges, 3 labels")
def fetch_pubmed(*, as_networkx: bool = False, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """PubMed: 19,717 papers on diabetes, joined by citations; the label is the type of diabetes. Needs pooch."""
    return _from_npz("pubmed", as_networkx, data_home)


@_fetches("Dataset political-blogs: 1,222 nodes, 16,717 edges, 2 labels")
def fetch_political_blogs(*, as_networkx: bool = False, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Political blogs: 1,222 of 2004, joined by links; the label is 0, liberal, or 1, conservative. Needs pooch."""
    return _from_npz("political-blogs", as_networkx, data_home)


@_fetches("Dataset mnist-knn: 12,000 nodes, 97,089 edges, 10 labels")
def fetch_mnist_knn(*, as_networkx: bool = False, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """12,000 digits of MNIST, joined to their nearest neighbours and weighted by likeness. Needs pooch."""
    return _from_npz("mnist-knn", as_networkx, data_home)


@_fetches("Dataset blogcatalog: 10,312 nodes, 333,983 edges, 39 labels")
def fetch_blogcatalog(*, as_networkx: bool = False, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """BlogCatalog: 10,312 bloggers, joined by friendship; the label is the last of their groups. Needs pooch."""
    from scipy import io

    (path,) = _fetch("blogcatalog", data_home)
    found = io.loadmat(path)
    groups = sparse.csr_array(found["group"])
    groups.sort_indices()
    last = groups.indices[groups.indptr[1:] - 1]  # as the paper has it; every blogger has a group
    return _dataset(
        "blogcatalog", CSRGraph.from_scipy(sparse.csr_array(found["network"])), _numbered(last), as_networkx
    )


@_fetches("Dataset ogbn-arxiv: 169,343 nodes, 1,157,799 edges, 40 labels")
def fetch_ogbn_arxiv(*, as_networkx: bool = False, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """ogbn-arxiv: 169,343 papers of arXiv, joined by citations; the label is one of 40 areas. Needs pooch."""
    adjacency, classes = _fetch("ogbn-arxiv", data_home)
    A = _csr(adjacency)
    numbers = json.loads(classes.read_text())
    labels: dict[Hashable, Hashable] = {u: numbers[str(u)] for u in range(A.shape[0])}
    return _dataset("ogbn-arxiv", CSRGraph.from_scipy(((A + A.T) > 0).astype(np.float64)), labels, as_networkx)


#: The function of each dataset by name, which is what `load` goes by: karate, digits, political-blogs, citeseer, cora,
#: blogcatalog, mnist-knn, pubmed and ogbn-arxiv.
DATASETS: dict[str, Callable[..., Dataset]] = {
    "karate": load_karate,
    "digits": load_digits_graph,
    "political-blogs": fetch_political_blogs,
    "citeseer": fetch_citeseer,
    "cora": fetch_cora,
    "blogcatalog": fetch_blogcatalog,
    "mnist-knn": fetch_mnist_knn,
    "pubmed": fetch_pubmed,
    "ogbn-arxiv": fetch_ogbn_arxiv,
}


def summary(name: str) -> str:
    """What the dataset of this name is, in a sentence.

    Parameters
    ----------
    name : str
        One of `DATASETS`.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If there is no such dataset.

    Examples
    --------
    >>> from nx_fastonl.datasets import summary
    >>> summary("karate")
    "Zachary's karate club; the label is the club that a member joined after the split."
    """
    text = cast(str, _loader(name).__doc__)
    return text.split("\n\n")[0].removesuffix(" Needs pooch.")


def is_available(name: str, data_home: str | os.PathLike[str] | None = None) -> bool:
    """Whether the files of the dataset of this name are there, so that no download is needed.

    Parameters
    ----------
    name : str
        One of `DATASETS`.
    data_home : path, optional
        The folder for downloaded files: see `data_folder`.

    Returns
    -------
    bool
        True also where there are no files to download. Whether they are the published ones is not looked at.

    Raises
    ------
    ValueError
        If there is no such dataset.
    ImportError
        If no folder is named and pooch, which knows the cache folder, is not installed.

    Examples
    --------
    >>> from nx_fastonl.datasets import is_available
    >>> is_available("karate")
    True
    """
    _loader(name)
    return all((data_folder(data_home) / file.name).is_file() for file in FILES.get(name, ()))


def load(name: str, *, as_networkx: bool = False, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """The dataset of this name: what its own function gives.

    Parameters
    ----------
    name : str
        One of `DATASETS`.
    as_networkx : bool, default False
        Whether the graph is an ``nx.Graph`` rather than a `nx_fastonl.CSRGraph`.
    data_home : path, optional
        The folder for downloaded files: see `data_folder`. Looked at where there are files to fetch.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If there is no such dataset, or a file is not the published one.
    ConnectionError
        If a file is not in the folder and cannot be downloaded; the message says which file goes where.
    ImportError
        If what the dataset needs, pooch or scikit-learn, is not installed.

    Examples
    --------
    >>> from nx_fastonl import datasets
    >>> datasets.load("karate").labels[33]
    'Officer'
    """
    options = {"data_home": data_home} if name in FILES else {}
    return _loader(name)(as_networkx=as_networkx, **options)


def _loader(name: str) -> Callable[..., Dataset]:
    if name not in DATASETS:
        raise ValueError(f"unknown dataset {name!r}; there are {', '.join(DATASETS)}")
    return DATASETS[name]


def data_folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """The folder where downloaded files are kept and looked for.

    Parameters
    ----------
    data_home : path, optional
        A folder, by default the one that the environment variable ``NX_FASTONL_DATA`` names, or a cache folder of the
        user.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    ImportError
        If neither names a folder and pooch, which knows the cache folder, is not installed.
    ValueError
        If the folder starts with ``~name`` and there is no such user.

    Examples
    --------
    >>> from nx_fastonl.datasets import data_folder
    >>> data_folder("downloads").name
    'downloads'
    """
    chosen = data_home or os.environ.get(DATA_HOME)
    if chosen:
        try:
            return Path(chosen).expanduser()
        except RuntimeError as error:  # ~somebody who is not here
            raise ValueError(f"{chosen} is no folder: {error}") from error
    return Path(_pooch().os_cache("nx_fastonl"))


def _pooch() -> Any:
    try:
        import pooch
    except ImportError as error:
        raise ImportError("downloads need pooch: pip install pooch") from error
    return pooch


def _fetch(name: str, data_home: str | os.PathLike[str] | None) -> list[Path]:
    """The files of a dataset, downloaded where they are not in the folder yet, and checked either way."""
    pooch = _pooch()
    folder = data_folder(data_home)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for file in FILES[name]:
        path = folder / file.name
        if path.exists() and pooch.file_hash(path) != file.sha256:  # which pooch would write over
            raise ValueError(f"{path} is not the published file, whose SHA-256 is {file.sha256}; move it away")
        try:
            pooch.retrieve(file.url, f"sha256:{file.sha256}", file.name, folder)
        except OSError as error:  # what requests raises without a connection
            raise ConnectionError(
                f"{file.name} is not in {folder} and could not be downloaded ({type(error).__name__}). "
                f"Fetch {file.url} elsewhere and put it there as {file.name}, "
                f"or set {DATA_HOME} to a folder that has it."
            ) from error
        paths.append(path)
    return paths


def _from_npz(name: str, as_networkx: bool, data_home: str | os.PathLike[str] | None) -> Dataset:
    (path,) = _fetch(name, data_home)
    with np.load(path) as arrays:
        labels = _numbered(arrays["labels"])
    return _dataset(name, CSRGraph.from_scipy(_csr(path)), labels, as_networkx)


def _csr(path: Path) -> sparse.csr_array:
    """A CSR matrix as the published npz files hold it."""
    with np.load(path) as arrays:
        parts = arrays["data"].astype(np.float64), arrays["indices"], arrays["indptr"]
        return sparse.csr_array(parts, shape=tuple(arrays["shape"]))


def _numbered(labels: NDArray[Any]) -> dict[Hashable, Hashable]:
    return dict(enumerate(labels.astype(int).tolist()))


def _dataset(name: str, graph: CSRGraph, labels: dict[Hashable, Hashable], as_networkx: bool) -> Dataset:
    sources = "".join(f" Published at {file.url}" for file in FILES.get(name, ()))
    if not as_networkx:
        return Dataset(name, graph, labels, summary(name) + sources)
    G = graph.to_networkx()
    nx.set_node_attributes(G, labels, "label")
    return Dataset(name, G, labels, summary(name) + sources)
