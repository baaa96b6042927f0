"""Graphs with labels to try things on: two that need no download, seven of the paper, and random ones.

`DATASETS` has the function of each dataset by name; `load` takes such a name. `planted_partition` draws a graph.
"""

from nx_fastonl._lib.lazy import lazy_names
from nx_fastonl.datasets.download import DATA_HOME as DATA_HOME

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "DATASETS": "catalog",
        "Dataset": "base",
        "data_folder": "download",
        "fetch_blogcatalog": "loaders",
        "fetch_citeseer": "loaders",
        "fetch_cora": "loaders",
        "fetch_mnist_knn": "loaders",
        "fetch_ogbn_arxiv": "loaders",
        "fetch_political_blogs": "loaders",
        "fetch_pubmed": "loaders",
        "is_available": "catalog",
        "load": "catalog",
        "load_digits_graph": "loaders",
        "load_karate": "loaders",
        "planted_partition": "planted",
        "summary": "catalog",
    },
)

#: The function of each dataset by name, for `load`: karate, digits, political-blogs, citeseer, cora, blogcatalog,
#: mnist-knn, pubmed and ogbn-arxiv.
DATASETS: dict  # for the documentation; its value is loaded on first use
