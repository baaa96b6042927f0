"""The published files of the datasets: where each is, and its SHA-256."""

from __future__ import annotations

from typing import NamedTuple


class RemoteFile(NamedTuple):
    """A published file: its name in the folder for downloads, its address and the hash of its content."""

    name: str
    url: str
    sha256: str


_GITHUB = "https://raw.githubusercontent.com"
_FASTONL = f"{_GITHUB}/baojian/FastONL/035cbf7ff3de421aef833cab626d59b671cf42c3/datasets"
_DEEPWALK = f"{_GITHUB}/phanein/deepwalk/6e6dff245e4692e9bea47e9017c1034e51afbf29/example_graphs"
_NETBENCHMARK = f"{_GITHUB}/DEEP-PolyU/NetBenchmark/eb6d7273dd85dfac76e3fb19aafff707ae35fe54/data/ogbn-arxiv"

# The files of each dataset that is downloaded, by the name of the dataset.
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
