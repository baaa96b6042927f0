"""The table of datasets, and the functions that take a dataset's name."""

from __future__ import annotations

import os
from collections.abc import Callable

from nx_fastonl._lib.checks import shortened
from nx_fastonl.datasets.base import Dataset
from nx_fastonl.datasets.download import data_folder
from nx_fastonl.datasets.files import FILES
from nx_fastonl.datasets.loaders import (
    fetch_blogcatalog,
    fetch_citeseer,
    fetch_cora,
    fetch_mnist_knn,
    fetch_ogbn_arxiv,
    fetch_political_blogs,
    fetch_pubmed,
    first_sentence,
    load_digits_graph,
    load_karate,
)

__all__ = ["DATASETS", "is_available", "load", "summary"]

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
    """One sentence that says what the dataset is.

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
    return first_sentence(_loader(name))


def is_available(name: str, data_home: str | os.PathLike[str] | None = None) -> bool:
    """Whether the dataset can be loaded without a download.

    Parameters
    ----------
    name : str
        One of `DATASETS`.
    data_home : path, optional
        The folder for downloaded files: see `data_folder`.

    Returns
    -------
    bool
        True if its files are in the folder, or it has none to download. Their content is not checked.

    Raises
    ------
    ValueError
        If there is no such dataset.
    ImportError
        If the cache folder is needed and pooch, which knows where it is, is not installed.

    Examples
    --------
    >>> from nx_fastonl.datasets import is_available
    >>> is_available("karate")
    True
    """
    _loader(name)
    return all((data_folder(data_home) / file.name).is_file() for file in FILES.get(name, ()))


def load(name: str, *, as_networkx: bool = False, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Load the dataset of this name, as its own function does.

    Parameters
    ----------
    name : str
        One of `DATASETS`.
    as_networkx : bool, default False
        Whether the graph is an ``nx.Graph`` rather than a `nx_fastonl.CSRGraph`.
    data_home : path, optional
        The folder for downloaded files: see `data_folder`. Used only if the dataset has files to download.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If there is no such dataset, or a file is not the published one.
    ConnectionError
        If a file is not in the folder and cannot be downloaded; the message says which file goes where.
    OSError
        If the folder is full or cannot be written to.
    ImportError
        If pooch or scikit-learn is not installed and the dataset needs it.

    Examples
    --------
    >>> from nx_fastonl import datasets
    >>> datasets.load("karate").labels[33]
    'Officer'
    """
    loader = _loader(name)
    options = {"data_home": data_home} if name in FILES else {}
    return loader(as_networkx=as_networkx, **options)


def _loader(name: str) -> Callable[..., Dataset]:
    if not isinstance(name, str) or name not in DATASETS:
        raise ValueError(f"unknown dataset {shortened(name)}; there are {', '.join(DATASETS)}")
    return DATASETS[name]
