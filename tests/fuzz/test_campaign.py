"""The campaign's own checks: they accept what is right within rounding, and see what is not."""

import io
import pickle
import pickletools
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import nx_fastonl as fo
from nx_fastonl.kernels.graph_kernel import GraphKernel
from tests.fuzz import invariants
from tests.fuzz.draws import Draw, data_of
from tests.fuzz.entries.conversion import _break_matrix
from tests.fuzz.entries.kernels import _check_exact, diagonal
from tests.fuzz.entries.pagerank import check_top
from tests.fuzz.entries.pickles import contents
from tests.fuzz.truth import exactly
from tests.fuzz.verdicts import Wrong
from tests.fuzz.workers import run_one

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("module", ["interrupts", "entries", "invariants", "workers"])
def test_a_module_can_be_imported_first(module):
    found = subprocess.run(
        [sys.executable, "-c", f"import tests.fuzz.{module}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr


# Inputs


@pytest.mark.parametrize("S", [0.5, np.float32(0.5), np.array(0.5)], ids=repr)
def test_a_diagonal_that_is_one_number(S):
    assert diagonal(fo.CSRGraph.from_edges([0, 1], [1, 2]), S) == [0.5, 0.5, 0.5]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "bool", "float64"])
def test_a_matrix_of_any_dtype_can_be_broken(dtype):
    for seed in range(40):
        _break_matrix(Draw(data_of(seed)), sparse.csr_array(np.ones((3, 3), dtype=dtype)))


def structure(content):
    return [(operation.name, at) for operation, _, at in pickletools.genops(content)]


class Recorder(pickle.Unpickler):
    """Loads a pickle, and keeps the names that it asked for, and the sizes of the arrays that NumPy started from."""

    def __init__(self, content):
        super().__init__(io.BytesIO(content))
        self.asked = set()
        try:
            self.load()
        except Exception:  # noqa: BLE001  a damaged pickle may raise anything
            pass

    def find_class(self, module, name):
        self.asked.add((module, name))
        found = super().find_class(module, name)
        if name != "_reconstruct":
            return found

        def start(cls, shape, typecode):
            self.asked.add(shape)
            return found(cls, shape, typecode)

        return start


@pytest.mark.slow
def test_flipped_bits_leave_the_structure_of_a_pickle():
    """No other operation, no other class, and no other array for NumPy to start from."""
    for content, payloads in contents():
        operations, asked = structure(content), Recorder(content).asked
        assert len(payloads) > 5
        for at in {end for payload in payloads for end in (payload[0], payload[-1])}:
            damaged = bytearray(content)
            damaged[at] ^= 4  # still a text
            assert structure(bytes(damaged)) == operations
            assert Recorder(bytes(damaged)).asked <= asked


# Checks


def test_rounding_of_labels_that_were_overwritten_is_accepted():
    """Z was 1e5 times as large as what is left of it, and so were the rounding errors."""
    model = fo.OnlineNodeLabeler(nx.complete_graph(6), kernel="K6", smoothness=1.3e-6, method="fastonl", trace=3.0)
    model.learn_one(2, "c")
    model.learn_one(2, "k", overwrite=True)
    invariants.check_whole(model)


def test_rounding_of_the_mass_of_a_heavy_node_that_was_forgotten_is_accepted():
    G = nx.Graph()
    G.add_weighted_edges_from([(0, 1, 7.5e15), (1, 2, 7.4e4), (2, 3, 4.5e-4)])
    model = fo.OnlineNodeLabeler(G, method="fastonl").fit({0: "a", 3: "b"})
    model.forget(0)
    invariants.check_whole(model)


def test_a_diffusion_that_is_off_is_found(monkeypatch, karate):
    model = fo.OnlineNodeLabeler(karate, method="fastonl").fit({0: "a", 33: "b"})
    invariants.check_whole(model)
    dense = invariants.dense

    def off(model):
        H, Z, R, B = dense(model)
        return H, Z * (1 + 1e-8), R, B

    monkeypatch.setattr(invariants, "dense", off)
    with pytest.raises(Wrong, match=r"H Z \+ R is off"):
        invariants.check_whole(model)


@pytest.mark.parametrize("options", [{"lam": None}, {"smoothness": 6e-8, "b": 192.0}, {"smoothness": 30.0}])
def test_the_exact_matrix_may_be_off_by_its_condition(options):
    G = nx.path_graph(3)
    G.add_edge(0, 0, weight=5.0)
    graph = fo.CSRGraph.from_networkx(G)
    row = fo.kernel_matrix(G, [1], "K6", exact=True, **options)[0].tolist()
    given = {key: value for key, value in options.items() if key != "smoothness"}
    check = exactly(_check_exact)
    check(graph, 1, "augmented-laplacian", row, given, options)
    g = GraphKernel(graph, "K6", **options).g
    wrong = [value + 1e-4 * (abs(value) + g) for value in row]
    with pytest.raises(Wrong, match="the exact matrix is off"):
        check(graph, 1, "augmented-laplacian", wrong, given, options)


@pytest.mark.parametrize(
    ("found", "certain", "top_k", "error", "message"),
    [
        ({0: 0.6, 1: 0.3}, True, 2, 1e-9, None),
        ({0: 0.6, 2: 0.1}, False, 2, 0.2, None),
        ({0: 0.6, 2: 0.1}, False, 2, 0.01, "not the top"),
        ({0: 0.6, 2: 0.1}, True, 2, 0.2, "not the top, but proven"),
        ({0: 0.6, 1: 0.2}, False, 2, 0.05, "off by"),
        ({0: 0.6, 1: 0.3, 2: 0.1, 4: 1e-12}, True, 9, 1e-9, None),
    ],
    ids=["right", "uncertain", "too far off", "certain and wrong", "a wrong value", "all nodes, but for a 0"],
)
def test_the_top_k(found, certain, top_k, error, message):
    graph = fo.CSRGraph.from_edges([0, 1], [1, 2], n=5)
    exact = [Decimal(value) for value in ("0.6", "0.3", "0.1", "0", "0")]
    info = SimpleNamespace(l1_error=error, top_k_proven=certain, tied=())
    if message is None:
        check_top(graph, found, info, top_k, exact)
    else:
        with pytest.raises(Wrong, match=message):
            check_top(graph, found, info, top_k, exact)


# Small parts of the campaign


@pytest.mark.parametrize(
    ("entry", "n"),
    [("hostile-nodes", 100), ("certificates", 50), ("adaptive-certificates", 20), ("prediction-sets", 20)],
)
def test_some_inputs(entry, n):
    for seed in range(n):
        assert run_one(entry, data_of(seed))[1] is None
