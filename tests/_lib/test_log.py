"""What the package says of what it does, and that it says nothing unasked."""

import logging
import os
import re
import subprocess
import sys
from time import perf_counter

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import nx_fastonl as fo
from nx_fastonl._lib.log import elapsed, log_rebuild
from nx_fastonl.nxapi.backend import BackendInterface
from nx_fastonl.push import rule

pytestmark = pytest.mark.usefixtures("_no_note_on_the_cache")

TIME = r"[\d.]+ m?s"


@pytest.fixture
def said(caplog):
    """A function that returns what was logged since it was last called, as levels and messages."""
    caplog.set_level(logging.DEBUG, "nx_fastonl")

    def messages():
        found = [(record.levelname, record.getMessage()) for record in caplog.records if record.name == "nx_fastonl"]
        caplog.clear()
        return found

    return messages


def check(found, *wanted):
    assert len(found) == len(wanted), found
    for (level, message), (wanted_level, pattern) in zip(found, wanted, strict=True):
        assert level == wanted_level
        assert re.fullmatch(pattern, message), message


def many_edges(n_nodes, n_edges):
    rng = np.random.default_rng(0)
    return [(u, v) for u, v in rng.integers(0, n_nodes, (n_edges, 2)).tolist()]


def test_nothing_is_said_unasked():
    code = (
        "import networkx as nx, nx_fastonl as fo\n"
        "nx.config.warnings_to_ignore.add('cache')\n"
        "G = nx.karate_club_graph()\n"
        "fo.personalized_pagerank_local(G)\n"
        "nx.google_matrix(G, backend='fastonl')\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == found.stderr == ""


def test_nothing_is_formatted_unasked(karate, monkeypatch):
    def fail(*_):
        raise AssertionError

    monkeypatch.setattr(logging.LogRecord, "__init__", fail)
    logging.getLogger("nx_fastonl").setLevel("ERROR")
    try:
        nx.pagerank(karate, backend="fastonl")
        nx.pagerank(karate, backend="fastonl")
    finally:
        logging.getLogger("nx_fastonl").setLevel("NOTSET")


def test_conversions_of_a_graph(karate, said):
    converted = f"converted an nx.Graph with 34 nodes, weight='weight', in {TIME}"
    fo.CSRGraph.from_networkx(karate)
    check(said(), ("INFO", converted))
    fo.CSRGraph.from_networkx(karate)
    check(said(), ("DEBUG", "used the arrays that are kept of an nx.Graph with 34 nodes, weight='weight'"))
    fo.CSRGraph.from_networkx(karate, weight=None)
    check(said(), ("INFO", converted.replace("'weight'", "None")))
    karate[0][1]["weight"] = 9
    fo.CSRGraph.from_networkx(karate)
    dropped = "dropped the arrays that were kept of an nx.Graph with 34 nodes, weight='weight': it was changed by .*"
    check(said(), ("INFO", dropped), ("INFO", converted))
    karate.add_edge(0, 99)
    fo.CSRGraph.from_networkx(karate)
    check(said(), ("INFO", converted.replace("34", "35")))


def test_conversions_of_a_view(karate, said):
    for _ in range(2):
        fo.CSRGraph.from_networkx(karate.subgraph([0, 1]))
        check(said(), ("INFO", "converted an nx.Graph with 2 nodes, .*; it is a view, .*"))


def test_other_conversions(said):
    fo.personalized_pagerank_local(sparse.csr_array(np.ones((3, 3))), personalization=0)
    check(said(), ("INFO", f"converted a scipy array with 3 nodes, in {TIME}"))
    arcs = fo.CSRGraph.from_edges([0, 1], [1, 2], directed=True)
    for wanted in ([("INFO", f"made W \\+ W\\^T of a directed CSRGraph with 3 nodes, in {TIME}")], []):
        arcs.without_arrows()
        check(said(), *wanted)
    graph = fo.DynamicGraph(arcs)
    said()
    for wanted in ([("INFO", f"copied a DynamicGraph with 3 nodes to a CSRGraph, in {TIME}")], []):
        graph.freeze()
        check(said(), *wanted)


def test_graphs_of_other_backends(said):
    foreign = type("Foreign", (), {"__networkx_backend__": "nobody"})()
    with pytest.raises(Exception, match="nobody"):
        fo.fifo_push.orig_func(foreign, 0)
    check(said(), ("INFO", "a Foreign is made an nx.Graph first, by its own backend"))


def test_why_a_call_is_left_to_networkx(said):
    with nx.config.backend_priority(algos=["fastonl"]):
        nx.katz_centrality(nx.path_graph(3))
    check(said(), ("INFO", "left katz_centrality to NetworkX: converting a graph of 3 nodes would take longer .*"))


def test_why_a_call_cannot_run(karate, said):
    with pytest.raises(NotImplementedError):
        nx.pagerank(karate, alpha=2.0, backend="fastonl")
    check(said(), ("INFO", "cannot run pagerank as NetworkX does: alpha must lie strictly between 0 and 1.*got 2.0"))


def test_why_a_call_does_not_run(karate, said):
    karate[0][1]["weight"] = -1
    with pytest.raises(NotImplementedError):
        nx.pagerank(karate, backend="fastonl")
    check(said(), ("INFO", r"cannot run pagerank: edge \(0, 1\) has weight -1; .*"))


def test_reasons_are_those_that_networkx_gets(said):
    reason = BackendInterface.should_run("katz_centrality", (nx.path_graph(3),), {})
    check(said(), ("INFO", f"left katz_centrality to NetworkX: {reason}"))
    assert BackendInterface.can_run("pagerank", (nx.path_graph(3),), {}) is True
    check(said())


def test_vectors_that_are_pulled(karate, said, monkeypatch):
    graph = fo.CSRGraph.from_networkx(karate)
    said()
    fo.personalized_pagerank_local(graph, personalization=0, epsilon=1e-4)
    check(said())
    pulled = "pulled a vector of 34 nodes instead of pushing it: it covers the graph; 0 edges were walked before"
    fo.personalized_pagerank_local(graph, tol=1e-6)
    check(said(), ("DEBUG", pulled))
    solve = rule.solve_everywhere
    monkeypatch.setattr(rule, "solve_everywhere", lambda *given, **options: solve(*given, **options)._replace(mass=1.0))
    fo.personalized_pagerank_local(graph, tol=1e-6)
    pushed = "pushed a vector after all: rounding errors kept pulled rows above the tolerance"
    check(said(), ("DEBUG", pulled), ("INFO", pushed))


@pytest.mark.parametrize("method", ["adaptive", "fastonl"])
def test_models_that_are_rebuilt(method, said):
    graph = fo.DynamicGraph(nx.path_graph(500))
    model = fo.OnlineNodeLabeler(graph, method=method)
    model.learn_one(0, "a")
    graph.add_edge(0, 2)
    said()
    model.predict_one(3)
    check(said())  # repaired
    graph.add_edges_from(many_edges(500, 6000))
    model.predict_one(3)
    anew = f"anew instead of repairing it, in {TIME}: \\d+ changes of edges"
    check(said(), ("INFO", f"computed a diffusion of labels {anew}"))


def test_a_kernel_that_follows_n_is_rebuilt(said):
    graph = fo.DynamicGraph(nx.path_graph(50))
    model = fo.OnlineNodeLabeler(graph, method="fastonl", lam=5.0)
    model.learn_one(0, "a")
    graph.add_edge(0, "new")
    said()
    model.predict_one(3)
    check(said(), ("INFO", "computed a diffusion of labels anew .*: its kernel follows n"))


def test_counts_that_are_taken_anew(said):
    graph = fo.DynamicGraph(nx.path_graph(10))
    model = fo.OnlineNodeLabeler(graph)
    model.learn_one(0, "a")
    for _ in range(6):
        for u, v in many_edges(10, 3000):
            graph.add_edge(u, v)
            graph.remove_edge(u, v)
    said()
    model.predict_one(3)
    assert any("computed the counts of labels around nodes anew" in message for _, message in said())


def test_pagerank_vectors_that_are_rebuilt(said):
    graph = fo.DynamicGraph(nx.path_graph(500))
    ranks = fo.DynamicPageRank(graph, 0)
    ranks[1]
    graph.add_edge(0, 7)
    said()
    ranks[1]
    check(said())
    graph.add_edges_from(many_edges(500, 60_000))
    ranks[1]
    check(said(), ("INFO", f"computed a PageRank vector anew .*, in {TIME}: \\d+ changes of edges"))


def test_times_and_reasons(said):
    assert re.fullmatch(r"0\.\d\d ms", elapsed(perf_counter()))
    assert re.fullmatch(r"100\.\d\d s", elapsed(perf_counter() - 100.0))
    log_rebuild("it", None, perf_counter())
    log_rebuild("it", [1, 2], perf_counter())
    log_rebuild("it", [1, 2], perf_counter(), "a reason")
    ends = [message.rpartition(": ")[2] for _, message in said()]
    assert ends == ["the graph's log is too short", "2 changes of edges", "a reason"]


PROGRAM = """
import networkx as nx
{setup}
with nx.config.backend_priority(algos=["fastonl"]):
    nx.google_matrix(nx.path_graph(3))
"""
LEFT = "left google_matrix to NetworkX: converting a graph of 3 nodes would take longer than NetworkX does"


@pytest.mark.parametrize(
    ("level", "setup", "shown"),
    [
        ("", "", ""),
        ("info", "", f"nx_fastonl: {LEFT}\n"),
        ("INFO", "", f"nx_fastonl: {LEFT}\n"),
        ("warning", "", ""),
        ("info", "import logging; logging.basicConfig(format='%(message)s')", f"{LEFT}\n"),
    ],
)
def test_the_environment_asks_for_the_log(level, setup, shown):
    environment = {**os.environ, "NX_FASTONL_LOG": level}
    code = PROGRAM.format(setup=setup)
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert found.stderr == shown


def test_a_level_that_is_none_is_said():
    environment = {**os.environ, "NX_FASTONL_LOG": "loud"}
    code = PROGRAM.format(setup="")
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert "NX_FASTONL_LOG must be debug, info or warning, got 'loud'" in found.stderr
