from nx_fastonl.datasets.base import Dataset as Dataset
from nx_fastonl.datasets.catalog import DATASETS as DATASETS
from nx_fastonl.datasets.catalog import is_available as is_available
from nx_fastonl.datasets.catalog import load as load
from nx_fastonl.datasets.catalog import summary as summary
from nx_fastonl.datasets.download import DATA_HOME as DATA_HOME
from nx_fastonl.datasets.download import data_folder as data_folder
from nx_fastonl.datasets.loaders import fetch_blogcatalog as fetch_blogcatalog
from nx_fastonl.datasets.loaders import fetch_citeseer as fetch_citeseer
from nx_fastonl.datasets.loaders import fetch_cora as fetch_cora
from nx_fastonl.datasets.loaders import fetch_mnist_knn as fetch_mnist_knn
from nx_fastonl.datasets.loaders import fetch_ogbn_arxiv as fetch_ogbn_arxiv
from nx_fastonl.datasets.loaders import fetch_political_blogs as fetch_political_blogs
from nx_fastonl.datasets.loaders import fetch_pubmed as fetch_pubmed
from nx_fastonl.datasets.loaders import load_digits_graph as load_digits_graph
from nx_fastonl.datasets.loaders import load_karate as load_karate
from nx_fastonl.datasets.planted import planted_partition as planted_partition

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
    "planted_partition",
    "summary",
]
