"""Inputs that once failed, as small tests. What could crash or not end runs in a process of its own."""

import json
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import nx_fastonl as fo
from tests.fuzz import corpus, interrupts
from tests.fuzz.workers import run_one

ROOT = Path(__file__).resolve().parents[2]
PREAMBLE = "import warnings; warnings.simplefilter('error')\nimport networkx as nx, numpy as np, nx_fastonl as fo\n"
METHODS = (
    *("adaptive", "fastonl", "fastonl-fifo", "relaxation", "approximate", "perceptron"),
    *("weighted-majority", "weighted-tree"),
)
pytestmark = pytest.mark.slow
# Each takes a second or two. What does not end must not keep the suite.
SECONDS = 15


def survives(code):
    """Run code in a process of its own: it must end by itself, without an error."""
    arguments = [sys.executable, "-X", "faulthandler", "-c", PREAMBLE + textwrap.dedent(code)]
    try:
        found = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        pytest.fail(f"no answer for {SECONDS} s")
    assert found.returncode == 0, found.stderr[-2000:]


@pytest.mark.parametrize("path", sorted(corpus.FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_what_the_campaign_kept(path):
    entry, data = corpus.read(path)
    if json.loads(path.read_text("utf-8"))["found"].endswith("of the process"):
        check = f"assert run_one({entry!r}, bytes.fromhex({data.hex()!r}))[1] is None"
        survives("from tests.fuzz.workers import run_one\n" + check)
    else:
        assert run_one(entry, data)[1] is None


# Conversion


@pytest.mark.parametrize("sign", ["<", ">"])
def test_a_view_that_hides_one_direction_of_an_edge(sign):
    """The edge of the node that comes first counts, as for nx.to_scipy_sparse_array."""
    survives(f"""
        V = nx.subgraph_view(nx.star_graph(3000), filter_edge=lambda u, v: u {sign} v)
        model = fo.OnlineNodeLabeler(V, method="weighted-tree", seed=0).fit({{0: "a", 5: "b"}})
        assert len(model.predict_many()) == 3001
        assert abs(fo.CSRGraph.from_networkx(V).to_scipy() - nx.to_scipy_sparse_array(V, dtype=float)).nnz == 0
    """)


@pytest.mark.parametrize("layout", ["csr", "csc", "bsr"])
@pytest.mark.parametrize("end", [-1, 0])
def test_a_sparse_matrix_whose_indptr_ends_below_its_middle(layout, end):
    """The check of scipy looks no further there, and its conversion then writes past an array."""
    survives(f"""
        for n in range(2, 400):
            A = nx.to_scipy_sparse_array(nx.path_graph(n), format={layout!r})
            A.indptr[-1] = {end}
            try:
                fo.CSRGraph.from_scipy(A)
            except ValueError as error:
                assert "indptr" in str(error)
            else:
                raise AssertionError(n)
            assert A.indptr[-1] == {end} and len(A.indices) == A.data.shape[0]
    """)


def test_rows_that_are_not_symmetric():
    with pytest.raises(ValueError, match="not symmetric"):
        fo.CSRGraph([0, 1, 1], [1])


@pytest.mark.parametrize("method", METHODS)
def test_rows_that_are_not_symmetric_and_not_checked(method):
    survives(f"""
        try:
            model = fo.OnlineNodeLabeler(fo.CSRGraph([0, 1, 1], [1], check=False), method={method!r}, seed=0)
        except (TypeError, ValueError):  # refused, or there is no such parameter
            raise SystemExit(0)
        model.fit({{0: "a"}}).run([(1, "b")])
        model.predict_many()
    """)


def test_a_push_on_a_view_that_hides_one_direction_ends():
    survives("""
        G = nx.Graph()
        G.add_weighted_edges_from([(0, 1, .563), (0, 2, .781), (1, 2, 32.715)])
        V = nx.subgraph_view(G, filter_edge=lambda u, v: (u, v) not in [(1, 0), (2, 1)])
        found = fo.personalized_pagerank_local(V, .99, personalization=0, epsilon=1e-9)
        assert abs(sum(found.values()) - 1) < 1e-3, found
    """)


def test_a_node_that_changes_the_arrays_while_it_is_hashed():
    survives("""
        indptr, indices = np.arange(5), np.arange(4)
        class Node:
            def __hash__(self):
                indices[:] = 2**30
                return id(self) >> 4
        try:
            graph = fo.CSRGraph(indptr, indices, nodes=[Node() for _ in range(4)], directed=True)
        except ValueError:
            raise SystemExit(0)
        assert graph.indices.max() < 4, graph.indices
        fo.ppr_matrix(graph)
    """)


@pytest.mark.parametrize("name", ["indptr", "indices", "weights", "degrees"])
def test_arrays_of_a_graph_cannot_be_made_writeable(name):
    array = getattr(fo.CSRGraph.from_edges([0, 1], [1, 2], [0.5, 2.0]), name)
    with pytest.raises(ValueError, match="WRITEABLE"):
        array.flags.writeable = True


@pytest.mark.parametrize("name", ["indptr", "indices", "weights", "degrees"])
def test_a_flipped_bit_in_a_pickled_graph(name):
    """Loading raises, or gives arrays that compiled loops can trust."""
    graph = fo.CSRGraph.from_edges([0, 1, 2], [1, 2, 3], [0.5, 2.0, 3.0])
    content, part = pickle.dumps(graph), getattr(graph, name).tobytes()
    at = content.find(part)
    for bit in range(8 * len(part) if at >= 0 else 0):
        damaged = bytearray(content)
        damaged[at + bit // 8] ^= 1 << bit % 8
        try:
            found = pickle.loads(bytes(damaged))
        except (ValueError, TypeError, nx.NetworkXException, pickle.UnpicklingError):
            continue
        assert found.indptr[0] == 0
        assert found.indptr[-1] == len(found.indices)
        assert (np.diff(found.indptr) >= 0).all()
        assert ((found.indices >= 0) & (found.indices < len(found))).all()
        dense = found.to_scipy().toarray()
        assert (dense == dense.T).all()
        assert found.degrees.tolist() == pytest.approx(dense.sum(axis=1).tolist())


@pytest.mark.parametrize("method", METHODS)
def test_flipped_bits_in_a_pickled_labeler(method):
    """Also in matrices and arrays that a learner keeps beside the graph."""
    survives(f"""
        import pickle
        from tests.fuzz.entries.pickles import payloads
        model = fo.OnlineNodeLabeler(nx.path_graph(40), method={method!r}, seed=0).fit({{0: "a", 5: "b"}})
        content = pickle.dumps(model)
        places = [at for payload in payloads(content) for at in payload]
        for at in places[7 :: max(17, len(places) // 1000)]:
            damaged = bytearray(content)
            damaged[at] ^= 64
            try:
                pickle.loads(bytes(damaged)).predict_many()
            except Exception:
                pass
    """)


def test_an_adjacency_that_names_a_node_which_is_not_there():
    G = nx.path_graph(5)
    G._adj[0][2**32 + 3] = {}
    with pytest.raises((ValueError, KeyError, nx.NetworkXException)):
        fo.CSRGraph.from_networkx(G)


@pytest.mark.parametrize("n", ["3", 2.5, True, [3]])
def test_a_number_of_nodes_that_is_none(n):
    with pytest.raises((TypeError, ValueError), match="n"):
        fo.CSRGraph.from_edges([0], [1], n=n)


def test_nodes_from_a_generator():
    with pytest.raises(TypeError, match="nodes must be a sequence"):
        fo.CSRGraph.from_edges([0], [1], nodes=(name for name in "ab"))
    with pytest.raises(TypeError, match="nodes must be a sequence"):
        fo.CSRGraph([0, 1, 2], [1, 0], nodes=(name for name in "ab"))


def test_sorting_the_rows_of_the_matrix_does_not_change_the_graph():
    graph = fo.CSRGraph([0, 2, 4, 6], [2, 1, 2, 0, 1, 0], [2.0, 1.0, 3.0, 1.0, 3.0, 2.0])
    before = graph.to_scipy().toarray(), graph.indices.copy()
    try:
        graph.to_scipy().sort_indices()
    except ValueError:  # read-only
        pass
    assert (graph.to_scipy().toarray() == before[0]).all()
    assert (graph.indices == before[1]).all()
    assert (graph.to_scipy().toarray() == graph.to_scipy().toarray().T).all()


# Numbers


@pytest.mark.parametrize("huge", [10**400, -(10**400)], ids=["10**400", "-10**400"])
def test_integers_beyond_any_float_are_refused_like_other_numbers(huge, karate):
    calls = [
        lambda: fo.fifo_push(karate, 0, 0.5, huge),
        lambda: fo.fifo_push(karate, 0, huge, 0.1, "laplacian"),
        lambda: fo.fifo_push(karate, {0: huge}, 0.5, 0.1),
        lambda: fo.personalized_pagerank_local(karate, 0.5, 0, epsilon=huge),
        lambda: fo.personalized_pagerank_local(karate, 0.5, 0, tol=huge),
        lambda: fo.kernel_column(karate, 0, smoothness=huge),
        lambda: fo.kernel_column(karate, 0, "K4", beta=huge),
        lambda: fo.kernel_column(karate, 0, "K6", b=huge),
        lambda: fo.OnlineNodeLabeler(karate, method="fastonl", trace=huge),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"got|must be a number"):
            call()


def test_the_backend_leaves_integers_beyond_any_float_to_networkx(karate):
    with pytest.raises(NotImplementedError, match="not implemented by 'fastonl' backend for the given arguments"):
        nx.pagerank(karate, personalization={0: 10**400}, backend="fastonl")
    assert sum(nx.pagerank(karate, l1_error=10**400, backend="fastonl").values()) == pytest.approx(1.0)


def test_a_regularisation_whose_inverse_overflows():
    """Refused, or finite: at a node without edges the estimate is mass / alpha."""
    G = nx.path_graph(3)
    G.add_node("isolated")
    try:
        estimate, _ = fo.fifo_push(G, {0: 1.0, "isolated": 18.0}, 5e-324, 0.01, "laplacian", max_operations=1000)
    except ValueError:
        return
    assert np.isfinite(list(estimate.values())).all()


def test_a_diagonal_on_a_node_without_edges():
    """No warning of an overflow; and the value is that of the definition."""
    column, info = fo.kernel_column(nx.empty_graph(1), 0, "K5", lam=0.03, beta=1e-5, S=[6e13], full_output=True)
    exact = 1 / (1e-5 / 6e13 / (2 * 0.03) + 1 / 2)
    assert abs(column[0] - exact) <= info.error + 1e-12


# What took too long


@pytest.mark.parametrize(
    "code",
    [
        """
        G = nx.path_graph(3)
        nx.set_edge_attributes(G, 5e7, "weight")
        model = fo.OnlineNodeLabeler(G, kernel="laplacian", method="fastonl")
        model.learn_one(0, "a")
        assert model.predict_one(2) == "a"
        """,
        """
        model = fo.OnlineNodeLabeler(nx.path_graph(10), smoothness=1e-8, method="fastonl")
        model.learn_one(0, "a")
        assert model.predict_one(9) == "a"
        """,
        """
        model = fo.OnlineNodeLabeler(nx.path_graph(10), smoothness=1e-8, method="fastonl", dtype="float32")
        model.learn_one(0, "a")
        assert model.predict_one(9) == "a"
        """,
        """
        model = fo.OnlineNodeLabeler(nx.path_graph(10), smoothness=1e-8)
        model.learn_one(0, "a")
        assert model.predict_one(9) == "a"
        """,
        """
        G = nx.Graph()
        G.add_edge(0, 0, weight=146.0)
        fo.kernel_column(G, 0, "K3", beta=1.15 - 4e-8, epsilon=3e-10)
        """,
        """
        G = nx.Graph()
        G.add_weighted_edges_from([(0, 1, 5e5), (0, 0, 3e5), (2, 3, 1e4), (3, 3, 950.0), (0, 3, 1.0), (2, 1, 0.016)])
        fo.kernel_column(G, 2, "K6", smoothness=0.001, epsilon=4e-7)
        """,
        """
        G = nx.Graph()
        G.add_weighted_edges_from([(0, 1, 1.4e43), (0, 0, 8.4e42)])
        fo.kernel_column(G, 1, "K2", epsilon=1e-300)
        fo.personalized_pagerank_local(G, 0.9, 1, epsilon=1e-310)
        """,
        """
        G = nx.Graph()
        G.add_weighted_edges_from([(0, 1, 6e84), (1, 1, 3.5e85)])
        fo.fifo_push(G, 1, 0.44, 5e-324)
        """,
    ],
    ids=[
        "heavy edges",
        "small smoothness",
        "in single precision",
        "small smoothness, adaptive",
        "a self-loop",
        "heavy and light edges",
        "huge weights and a tiny epsilon",
        "a tiny epsilon in FIFO order",
    ],
)
def test_small_graphs_that_took_long(code):
    """They end, or are refused."""
    survives(
        "try:\n"
        + textwrap.indent(textwrap.dedent(code), "    ")
        + "\nexcept ValueError as error:\n    assert 'got' in str(error) or 'must' in str(error), error"
    )


# Locks


@pytest.mark.parametrize("call", ["fit", "learn_many", "run"])
def test_labels_that_come_from_certificates_of_the_same_labeler(call):
    survives(f"""
        model = fo.OnlineNodeLabeler(nx.karate_club_graph()).fit({{0: "a", 33: "b"}})
        model.{call}((v, c.label) for v in range(1, 9) if (c := model.certify_one(v)).certain)
        assert model.n_learned >= 2
    """)


@pytest.mark.parametrize("when", ["__hash__", "__eq__"])
@pytest.mark.parametrize(
    "call", ["learn_one(3, Label())", "learn_many({3: Label()})", "run([(3, Label())])", "fit({3: Label()})"]
)
def test_labels_that_call_the_labeler(call, when):
    survives(f"""
        model = fo.OnlineNodeLabeler(nx.karate_club_graph()).fit({{0: "a", 33: "b"}})
        class Label:
            def __hash__(self):
                if {when!r} == "__hash__":
                    model.certify_one(5), model.predict_one(5), model.labels
                return hash("a")
            def __eq__(self, other):
                if {when!r} == "__eq__":
                    model.certify_one(5), model.predict_one(5), model.labels
                return self is other
        try:
            model.{call}
        except RuntimeError:  # refused is as good
            pass
        model.predict_many()
    """)


# Interrupts


@pytest.mark.parametrize("call", interrupts.CALLS)
@pytest.mark.parametrize("name", ["fastonl", "fastonl-fifo", "weighted-tree"])
def test_an_exception_at_every_seventh_line_of_a_learning_call(name, call):
    """`python -m tests.fuzz --every-line` tries every line of every method."""
    for place in range(1 + sum(map(ord, call)) % 7, interrupts.places(name, call) + 1, 7):
        interrupts.inject(name, call, place)


@pytest.mark.parametrize("call", ["learn_one", "overwrite", "overwrite, new label"])
@pytest.mark.parametrize("name", ["fastonl", "relaxation", "weighted-majority", "weighted-tree"])
def test_an_exception_at_the_last_lines_of_a_learning_call(name, call):
    """Where the learner has learned a label, and the labeler is about to record it."""
    n = interrupts.places(name, call)
    for place in range(n - 9, n + 1):
        interrupts.inject(name, call, place)
