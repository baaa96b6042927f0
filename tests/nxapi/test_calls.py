"""What is recorded of NetworkX's dispatch, whatever version of NetworkX writes the log."""

import contextlib
import logging
import threading

import networkx as nx
import pytest

import nx_fastonl as fo
from nx_fastonl.nxapi import calls
from nx_fastonl.nxapi.calls import CallRecorder

pytestmark = [pytest.mark.usefixtures("_no_note_on_the_cache"), pytest.mark.filterwarnings("ignore:Note")]


@pytest.fixture(autouse=True)
def _priority():
    with nx.config.backend_priority(algos=["fastonl"]):
        yield


def listed(recorder):
    return {(summary.function, summary.ran_in): (summary.calls, summary.why) for summary in recorder.summaries()}


def test_reasons_of_both_kinds():
    G = nx.karate_club_graph()
    with CallRecorder() as recorder:
        nx.pagerank(G)
        nx.pagerank(G, alpha=0.99999)
        nx.google_matrix(G)
        nx.diameter(G)
    found = listed(recorder)
    assert found["pagerank", "fastonl"] == (1, "")
    assert found["pagerank", "networkx"][1] == "this backend may take too long where alpha is above 0.9999, got 0.99999"
    assert found["google_matrix", "networkx"] == (
        1,
        "converting a graph of 34 nodes would take longer than NetworkX does",
    )
    assert found["diameter", "networkx"] == (1, calls.MISSING)


def test_a_call_that_the_backend_hands_back():
    G = nx.Graph()
    G.add_edge(0, 1, weight=-1.0)
    with CallRecorder() as recorder:
        nx.pagerank(G)
        with pytest.raises(nx.PowerIterationFailedConvergence):
            nx.pagerank(nx.path_graph(3), max_iter=0)
    found = listed(recorder)
    assert found["pagerank", "networkx"][1].startswith("edge (0, 1) has weight -1")
    assert found["pagerank", "fastonl"] == (1, "raised PowerIterationFailedConvergence")


def test_inner_calls_count_where_they_ran_here_or_are_asked_for():
    G = nx.karate_club_graph()
    for inner in (False, True):
        with CallRecorder(inner=inner) as recorder:
            nx.average_clustering(G)
        assert [summary.function for summary in recorder.summaries()] == ["average_clustering", "clustering"][
            : 1 + inner
        ]


def test_the_functions_of_the_package_ran_here():
    with CallRecorder() as recorder:
        fo.fifo_push(nx.path_graph(3), 0)
        fo.fifo_push(fo.CSRGraph.from_edges([0], [1]), 0)
        fo.fifo_push(nx.path_graph(3), 0, backend="networkx")
    assert listed(recorder)["fifo_push", "fastonl"] == (3, "")


def test_many_reasons_are_one_in_the_end(monkeypatch):
    monkeypatch.setattr(calls, "MAX_REASONS", 2)
    G = nx.karate_club_graph()
    with CallRecorder() as recorder:
        for solver in ("full", "a", "b", "c", "d"):
            with contextlib.suppress(KeyError):
                nx.current_flow_closeness_centrality(G, solver=solver)
    found = [(summary.calls, summary.why) for summary in recorder.summaries()]
    assert sum(count for count, _ in found) == 5
    assert (3, calls.OTHER_REASONS) in found


def test_threads_do_not_mix_up_their_calls():
    G = nx.karate_club_graph()

    def work():
        for _ in range(20):
            nx.pagerank(G)
            nx.diameter(G)

    threads = [threading.Thread(target=work) for _ in range(4)]
    with CallRecorder() as recorder:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert {key: count for key, (count, _) in listed(recorder).items()} == {
        ("pagerank", "fastonl"): 80,
        ("diameter", "networkx"): 80,
    }


def test_all_is_as_before_afterwards_and_the_log_shows_no_more(caplog):
    log = logging.getLogger("networkx.utils.backends")
    entry = nx.utils.backends._dispatchable.__call__
    with CallRecorder() as recorder:
        nx.pagerank(nx.path_graph(3))
        assert not caplog.records
    with caplog.at_level("DEBUG", "networkx"), CallRecorder() as recorder:
        nx.pagerank(nx.path_graph(3))
    assert any(record.name == log.name for record in caplog.records)
    assert listed(recorder)["pagerank", "fastonl"] == (1, "")
    assert nx.utils.backends._dispatchable.__call__ is entry
    assert (log.level, log.filters) == (logging.NOTSET, [])
