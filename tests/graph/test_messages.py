"""Slips that users make, and errors that say what to write instead."""

from datetime import datetime
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import nx_fastonl as fo

G = nx.karate_club_graph()

SLIPS = {
    "a node in place of alpha": (
        lambda: fo.personalized_pagerank_local(G, 22),
        ValueError,
        "alpha must lie .* got 22; personalization=22 says where walks start",
    ),
    "a name in place of alpha": (
        lambda: fo.personalized_pagerank_local(G, "22"),
        TypeError,
        "alpha must be a number, got '22'; personalization='22' says where walks start",
    ),
    "a dict in place of alpha": (
        lambda: fo.personalized_pagerank_local(G, {22: 1.0}),
        TypeError,
        r"alpha must be a number, got {22: 1.0}; personalization={22: 1.0} says where walks start",
    ),
    "an alpha out of range": (lambda: fo.personalized_pagerank_local(G, 1.5), ValueError, "got 1.5$"),
    "a keyword": (
        lambda: fo.personalized_pagerank_local(G, personalization=22, topk=3),
        TypeError,
        r"personalized_pagerank_local\(\) got an unexpected keyword argument 'topk'; perhaps top_k was meant",
    ),
    "a keyword of a matrix": (lambda: fo.ppr_matrix(G, candidate=[3]), TypeError, "perhaps candidates was meant"),
    "a keyword like no other": (
        lambda: fo.fifo_push(G, 22, qqqq=3),
        TypeError,
        r"^fifo_push\(\) got an unexpected keyword argument 'qqqq'$",
    ),
    "a file in place of a graph": (
        lambda: fo.personalized_pagerank_local("graph.csv"),
        TypeError,
        r"got str; CSRGraph\.from_edge_file reads a file of edges, CSRGraph\.open a folder",
    ),
    "a path in place of a graph": (
        lambda: fo.OnlineNodeLabeler(Path("graph.csv")),
        TypeError,
        r"got \w*Path; CSRGraph\.from_edge_file reads",
    ),
    "an integer beyond 64 bits": (
        lambda: fo.CSRGraph.from_edges([0, 10**19], [1, 2]),
        ValueError,
        "sources holds 10000000000000000000 in row 1; integers may have 64 bits with their sign, texts any length",
    ),
    "an integer far beyond 64 bits": (
        lambda: fo.CSRGraph.from_edges(np.array([0, 1]), np.array([1, -(10**30)], dtype=object)),
        ValueError,
        "targets holds -1000000000000000000000000000000 in row 1; integers may have 64 bits with their sign",
    ),
    "a date in place of a time": (
        lambda: fo.DynamicGraph().add_edge(0, 1, time="2024-01-01"),
        TypeError,
        r"time must be a number, got '2024-01-01'; datetime\.fromisoformat\('2024-01-01'\)\.timestamp\(\) makes",
    ),
    "a text in place of a time": (
        lambda: fo.DynamicGraph().add_edge(0, 1, time="soon"),
        TypeError,
        "time must be a number, got 'soon'$",
    ),
    "a datetime in place of a time": (
        lambda: fo.DynamicGraph().add_edge(0, 1, time=datetime(2024, 1, 1)),
        TypeError,
        r"time must be a number, got datetime\.datetime\(.*\); its timestamp\(\) is one",
    ),
    "dates in place of times": (
        lambda: fo.DynamicGraph().add_edges_from([(0, 1), (1, 2)], times=["2024-01-01", "2024-01-02"]),
        TypeError,
        "times must be a number for each of the 2 edges, got '2024-01-01'; datetime.fromisoformat",
    ),
    "a date in an event": (
        lambda: list(fo.replay([("edge", 0, 1, 1.0, "2024-01-01")])),
        TypeError,
        "event 1: time must be a number, got '2024-01-01'; datetime.fromisoformat",
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_gets_an_error_that_says_what_to_write(slip):
    call, kind, message = SLIPS[slip]
    with pytest.raises(kind, match=message):
        call()


def test_errors_of_the_call_itself_stay():
    with pytest.raises(TypeError, match=r"multiple values for argument 'alpha'"):
        fo.personalized_pagerank_local(G, 0.85, alpha=0.85)
    with pytest.raises(TypeError, match=r"missing"):
        fo.fifo_push(G)
