from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import settings

from nx_fastonl.graph import CSRGraph

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

# The machine that runs the tests may be busy: a slow example is not a failure.
settings.register_profile("default", deadline=None, max_examples=200)
settings.load_profile("default")


@pytest.fixture(scope="session")
def real_graph():
    """A loader of the real graphs; tests that use it are skipped where the folder is absent."""
    if not DATA.is_dir():
        pytest.skip(f"the real graphs are not at {DATA}")

    def load(name):
        with np.load(DATA / f"{name}.npz") as arrays:
            return CSRGraph(arrays["indptr"], arrays["indices"], arrays.get("weights"))

    return load


@pytest.fixture(scope="session")
def real_labels():
    """A loader of the real graphs' labels: numbers, -1 for nodes without one."""
    if not DATA.is_dir():
        pytest.skip(f"the real graphs are not at {DATA}")

    def load(name):
        with np.load(DATA / f"{name}.npz") as arrays:
            return arrays["labels"]

    return load


@pytest.fixture
def karate():
    return nx.karate_club_graph()


@pytest.fixture
def _no_note_on_the_cache():
    """NetworkX says whenever it uses a converted graph again; a test that expects it need not hear it."""
    with nx.config(warnings_to_ignore={"cache"}):
        yield
