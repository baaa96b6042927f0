"""A function for each dataset, which reads its files and returns a `Dataset`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable, Mapping
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar, cast

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from nx_fastonl._lib.checks import check_whole
from nx_fastonl.datasets.base import Dataset
from nx_fastonl.datasets.download import fetch_files
from nx_fastonl.datasets.files import FILES
from nx_fastonl.graph.csr import CSRGraph

Loader = TypeVar("Loader", bound=Callable[..., Dataset])


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
    return dataset_of("karate", load_karate, CSRGraph.from_networkx(G), labels, as_networkx)


def load_digits_graph(*, n_neighbors: int = 10, as_networkx: bool = False) -> Dataset:
    """scikit-learn's 1,797 handwritten digits, each joined to the ones that look most like it. Needs scikit-learn.

    Parameters
    ----------
    n_neighbors : int, default 10
        Two images are joined if one is among this many nearest neighbours of the other.
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
        If `n_neighbors` is not from 1 to 1,796.
    TypeError
        If it is not a whole number.

    Examples
    --------
    >>> from nx_fastonl.datasets import load_digits_graph
    >>> load_digits_graph()
    Dataset digits: 1,797 nodes, 12,339 edges, 10 labels
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise ImportError("the digits come with scikit-learn: pip install scikit-learn") from error
    digits = load_digits()
    check_whole("n_neighbors", n_neighbors, least=1, most=len(digits.data) - 1)
    nearest = _nearest(digits.data, n_neighbors)
    graph = CSRGraph.from_scipy(nearest.maximum(nearest.T))
    return dataset_of("digits", load_digits_graph, graph, _numbered(digits.target), as_networkx)


def _nearest(images: NDArray[np.float64], k: int) -> sparse.csr_array:
    """Each image and its k nearest; of those at the same distance, the first.

    Pixels are small integers, so distances are exact, and the graph is the same on every machine.
    """
    n = len(images)
    squares = (images**2).sum(axis=1)
    order = (squares[:, None] + squares - 2.0 * images @ images.T) * n + np.arange(n)
    np.fill_diagonal(order, np.inf)
    columns = np.argpartition(order, k - 1, axis=1)[:, :k]
    return sparse.csr_array((np.ones(n * k), columns.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))


_FETCHED = """

Parameters
----------
{parameters}as_networkx : bool, default False
    Whether the graph is an ``nx.Graph`` rather than a `nx_fastonl.CSRGraph`.
data_home : path, optional
    The folder for downloaded files: see `data_folder`.

Returns
-------
Dataset

Raises
------
ConnectionError
    If a file is not in the folder and cannot be downloaded; the message says which file goes where.
OSError
    If the folder is full or cannot be written to.
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


def _fetches(shown: str, parameters: str = "") -> Callable[[Loader], Loader]:
    """Complete the docstring of a function that fetches a dataset.

    `shown` is what its example prints, `parameters` describes those that other datasets do not have.
    """

    def complete(function: Loader) -> Loader:
        described = _FETCHED.format(name=function.__name__, shown=shown, parameters=parameters)
        function.__doc__ = f"{function.__doc__}{described}"
        return function

    return complete


@_fetches("Dataset cora: 2,485 nodes, 5,069 edges, 7 labels")
def fetch_cora(*, as_networkx: bool = False, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Cora: 2,485 papers on machine learning, joined by citations; the label is the subject. Needs pooch."""
    return _from_npz("cora", fetch_cora, as_networkx, data_home)


@_fetches("Dataset citeseer: 2,110 nodes, 3,668 edges, 6 labels")
def fetch_citeseer(*, as_networkx: bool = False, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Citeseer: 2,110 papers of computer science, joined by citations; the label is the area. Needs pooch."""
    return _from_npz("citeseer", fetch_citeseer, as_networkx, data_home)


@_fetches("Dataset pubmed: 19,717 nodes, 44,324 edges, 3 labels")
def fetch_pubmed(*, as_networkx: bool = False, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """PubMed: 19,717 papers on diabetes, joined by citations; the label is the type of diabetes. Needs pooch."""
    return _from_npz("pubmed", fetch_pubmed, as_networkx, data_home)


@_fetches("Dataset political-blogs: 1,222 nodes, 16,717 edges, 2 labels")
def fetch_political_blogs(*, as_networkx: bool = False, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Political blogs: 1,222 in 2004, joined by links; the label is 0 (liberal) or 1 (conservative). Needs pooch."""
    return _from_npz("political-blogs", fetch_political_blogs, as_networkx, data_home)


@_fetches("Dataset mnist-knn: 12,000 nodes, 97,089 edges, 10 labels")
def fetch_mnist_knn(*, as_networkx: bool = False, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """MNIST: 12,000 handwritten digits, joined to their nearest neighbours, weighted by similarity. Needs pooch."""
    return _from_npz("mnist-knn", fetch_mnist_knn, as_networkx, data_home)


@_fetches("Dataset blogcatalog: 10,312 nodes, 333,983 edges, 39 labels")
def fetch_blogcatalog(*, as_networkx: bool = False, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """BlogCatalog: 10,312 bloggers, joined by friendship; the label is a blogger's last group. Needs pooch."""
    from scipy import io

    (path,) = fetch_files("blogcatalog", data_home)
    # Newer versions of scipy ask which kind of sparse matrix is wanted.
    options: Any = {"spmatrix": False} if "spmatrix" in signature(io.loadmat).parameters else {}
    found = io.loadmat(path, **options)
    groups = sparse.csr_array(found["group"])
    groups.sort_indices()
    last = groups.indices[groups.indptr[1:] - 1]  # the paper's choice; every blogger has a group
    graph = CSRGraph.from_scipy(sparse.csr_array(found["network"]))
    return dataset_of("blogcatalog", fetch_blogcatalog, graph, _numbered(last), as_networkx)


_DIRECTED = """\
directed : bool, default False
    Whether the arrows are kept: the graph is directed, and u points to v where u cites v. Otherwise the two are joined
    by an edge, once where each cites the other.
"""


@_fetches("Dataset ogbn-arxiv: 169,343 nodes, 1,157,799 edges, 40 labels", _DIRECTED)
def fetch_ogbn_arxiv(
    *, directed: bool = False, as_networkx: bool = False, data_home: str | os.PathLike[str] | None = None
) -> Dataset:
    """ogbn-arxiv: 169,343 papers of arXiv, joined by citations; the label is one of 40 areas. Needs pooch."""
    adjacency, classes = fetch_files("ogbn-arxiv", data_home)
    A = _csr(adjacency)
    numbers = json.loads(classes.read_text())
    labels: dict[Hashable, Hashable] = {u: numbers[str(u)] for u in range(A.shape[0])}
    arcs = A if directed else ((A + A.T) > 0).astype(np.float64)
    graph = CSRGraph.from_scipy(arcs, directed=directed)
    return dataset_of("ogbn-arxiv", fetch_ogbn_arxiv, graph, labels, as_networkx)


def first_sentence(loader: Callable[..., Dataset]) -> str:
    """What the dataset is: the first sentence of its function's docstring."""
    text = cast(str, loader.__doc__)
    return text.split("\n\n")[0].removesuffix(" Needs pooch.")


def _from_npz(
    name: str, loader: Callable[..., Dataset], as_networkx: bool, data_home: str | os.PathLike[str] | None
) -> Dataset:
    (path,) = fetch_files(name, data_home)
    with np.load(path) as arrays:
        labels = _numbered(arrays["labels"])
    return dataset_of(name, loader, CSRGraph.from_scipy(_csr(path)), labels, as_networkx)


def _csr(path: Path) -> sparse.csr_array:
    """The matrix in a published npz file, which holds it as CSR arrays."""
    with np.load(path) as arrays:
        csr = arrays["data"].astype(np.float64), arrays["indices"], arrays["indptr"]
        return sparse.csr_array(csr, shape=tuple(arrays["shape"]))


def _numbered(labels: NDArray[Any]) -> dict[Hashable, Hashable]:
    """Labels by the number of the node."""
    return dict(enumerate(labels.astype(int).tolist()))


def dataset_of(
    name: str,
    loader: Callable[..., Dataset],
    graph: CSRGraph,
    labels: Mapping[Hashable, Hashable],
    as_networkx: bool,
) -> Dataset:
    description = first_sentence(loader) + "".join(f" Published at {file.url}" for file in FILES.get(name, ()))
    if not as_networkx:
        return Dataset(name, graph, labels, description)
    G = graph.to_networkx()
    nx.set_node_attributes(G, labels, "label")
    return Dataset(name, G, labels, description)
