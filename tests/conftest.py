import gc
from functools import cache

import networkx as nx
import numpy as np
import pytest
from hypothesis import settings

from nx_fastonl import datasets

# The machine that runs the tests may be busy: a slow example is not a failure.
settings.register_profile("default", deadline=None, max_examples=100)
settings.load_profile("default")
# `.ci/checked` takes the first of these, parts of the gate whose builds or versions differ take the other.
settings.register_profile("many", settings.get_profile("default"), max_examples=200)
settings.register_profile("few", settings.get_profile("default"), max_examples=20)


def pytest_collection_finish():
    """Thousands of tests are no garbage: otherwise each full collection walks them again, for half a second."""
    gc.collect()
    gc.freeze()


# What the paper calls them.
SHORT_NAMES = {"political": "political-blogs", "mnist": "mnist-knn"}


@cache
def dataset(name):
    """A published dataset from the folder that NX_FASTONL_DATA names, or from the cache; tests download nothing."""
    name = SHORT_NAMES.get(name, name)
    if not datasets.is_available(name):
        fetch = f"fo.datasets.{datasets.DATASETS[name].__name__}()"
        pytest.skip(
            f"{name} is not in {datasets.data_folder()}; fetch it: python -c 'import nx_fastonl as fo; {fetch}'"
        )
    return datasets.load(name)


@pytest.fixture(scope="session")
def real_graph():
    """A loader of the published graphs by name; a test that asks for one that is not on this machine is skipped."""
    return lambda name: dataset(name).graph


@pytest.fixture(scope="session")
def real_labels():
    """A loader of the labels of these graphs, in the order of the rows: numbers, -1 for nodes without one."""
    return lambda name: np.array([dataset(name).labels.get(node, -1) for node in dataset(name).graph])


@pytest.fixture
def karate():
    return nx.karate_club_graph()


@pytest.fixture
def _no_collection():
    """Python loses what is raised in a callback of the garbage collector, and hypothesis has one."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def _no_note_on_the_cache():
    """NetworkX warns whenever it uses a converted graph again. Tests that do so on purpose silence it."""
    with nx.config(warnings_to_ignore={"cache"}):
        yield
