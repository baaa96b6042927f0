"""One writer and three readers: what a reader sees is always a state that there was.

The writer replays events that take a small graph through the same states again and again. All of them are known from
the same calls made by one thread. `make threads` lets it run for a minute.
"""

import itertools
import os
import sys
import threading
import time

import numpy as np
import pytest

import nx_fastonl as fo

SECONDS = float(os.environ.get("NX_FASTONL_SECONDS", "1.5"))
COLORS = ("red", "blue", "green")
WINDOW = 10
ME = "me"


def first_events():
    """Four nodes of each color in a row, the first of them joined in a triangle, and a node that is joined to one."""
    for color in COLORS:
        for i in range(4):
            yield "label", f"{color}{i}", color
        for i in range(3):
            yield "edge", f"{color}{i}", f"{color}{i + 1}"
    for a, b in itertools.combinations(COLORS, 2):
        yield "edge", f"{a}0", f"{b}0", 0.25
    yield "edge", ME, "red3"


def events_of_round(i):
    """What happens in each round. It ends as it began. Edges that follow each other are one change."""
    now = 100.0 * i
    yield from [("edge", ME, "red0"), ("edge", ME, "red1"), ("edge", ME, "red2")]
    yield "question", ME
    yield from [("edge", ME, "green0", 3.0, now), ("edge", ME, "green1", 3.0, now), ("edge", ME, "green2", 3.0, now)]
    yield "time", now + 1
    yield "remove-edge", ME, "red0"
    yield from [("edge", ME, "blue0", 8.0), ("edge", ME, "blue1", 8.0)]
    yield "remove-node", "red1"
    yield "time", now + 50  # the green ones leave
    yield "label", "red1", "red"
    yield from [("edge", "red0", "red1"), ("edge", "red1", "red2")]
    yield "remove-node", "blue0"
    yield "remove-edge", ME, "blue1"
    yield "label", "blue0", "blue"
    yield from [("edge", "blue0", "blue1"), ("edge", "red0", "blue0", 0.25), ("edge", "blue0", "green0", 0.25)]
    yield "remove-edge", ME, "red2"


def changes(events):
    """The calls that these events amount to, each of which changes the graph or the model at once."""
    for is_edge, run in itertools.groupby(events, lambda event: event[0] == "edge"):
        if is_edge:
            for timed, edges in itertools.groupby(run, lambda event: len(event) == 5):
                edges = list(edges)
                ends, weights = [edge[1:3] for edge in edges], [edge[3] if len(edge) > 3 else np.nan for edge in edges]
                yield (
                    lambda graph, _, given=(ends, weights, [edge[4] for edge in edges] if timed else None): (
                        graph.add_edges_from(*given)
                    )
                )
            continue
        for kind, *values in run:
            match kind:
                case "remove-edge":
                    yield lambda graph, _, edge=values: graph.remove_edge(*edge)
                case "remove-node":
                    yield lambda graph, _, node=values[0]: graph.remove_node(node)
                case "label":
                    yield lambda graph, _, node=values[0]: graph.add_node(node)
                    yield lambda _, model, pair=values: model.learn_one(*pair)
                case "time":
                    yield lambda graph, _, now=values[0]: graph.expire_before(now - WINDOW)


def edges_of(graph, _):
    return frozenset(
        (frozenset((u, v)), u if graph.is_directed() else None, w) for u, v, w in graph.edges(data="weight")
    )


def prediction_of(_, model):
    """Which votes there are is known exactly; of other methods, which label is best."""
    if model.method == "weighted-majority":
        return tuple(sorted((label, round(share, 9)) for label, share in model.model.predict_proba_one(ME).items()))
    return model.model.predict_one(ME)


def pagerank_of(graph, _):
    ranks = fo.personalized_pagerank_local(graph, personalization=ME, tol=1e-10)
    return tuple(sorted((node, round(rank, 6)) for node, rank in ranks.items() if rank > 1e-5))


READERS = {"edges": edges_of, "prediction": prediction_of, "PageRank": pagerank_of}


class Labeler:
    """A model, with the name of its method."""

    def __init__(self, graph, method):
        direction = "ignore" if method == "fastonl" else "use"
        self.method, self.model = method, fo.OnlineNodeLabeler(graph, method=method, direction=direction, seed=0)


def states(method, directed):
    """What each reader may see."""
    graph = fo.DynamicGraph(directed=directed)
    labeler = Labeler(graph, method)
    for change in changes(first_events()):
        change(graph, labeler.model)
    seen = {name: {read(graph, labeler)} for name, read in READERS.items()}
    for i in range(3):
        for change in changes(events_of_round(i)):
            change(graph, labeler.model)
            for name, read in READERS.items():
                seen[name].add(read(graph, labeler))
    return seen


def is_among(name, found, expected):
    """Whether an answer is one of those expected; ranks that were rounded may differ in the last digit."""
    if name != "PageRank" or found in expected:
        return found in expected
    ranks = dict(found)
    others = (dict(other) for other in expected)
    return any(
        max(abs(ranks.get(node, 0.0) - other.get(node, 0.0)) for node in ranks.keys() | other.keys()) < 2e-5
        for other in others
    )


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("method", ["weighted-majority", "fastonl", "adaptive"])
def test_one_writer_and_three_readers(method, directed):
    expected = states(method, directed)
    graph = fo.DynamicGraph(directed=directed)
    labeler = Labeler(graph, method)
    fo.replay(first_events(), graph, labeler.model).run()
    end = time.monotonic() + SECONDS
    over = threading.Event()
    failures, seen, answers = [], {name: set() for name in READERS}, []

    def events():
        for i in itertools.count():
            if time.monotonic() > end or failures:
                return
            yield from events_of_round(i)

    def write():
        try:
            answers.extend(answer.predicted for answer in fo.replay(events(), graph, labeler.model, window=WINDOW))
        except BaseException as error:  # noqa: BLE001  # told by the test's own thread
            failures.append(error)
        finally:
            over.set()

    def read(name):
        while not (over.is_set() or failures):
            try:
                found = READERS[name](graph, labeler)
                if not is_among(name, found, expected[name]):
                    failures.append(AssertionError(f"{name}: there was no state with {found}"))
                seen[name].add(found)
            except BaseException as error:  # noqa: BLE001  # told by the test's own thread
                failures.append(error)

    threads = [threading.Thread(target=write, daemon=True)]
    threads += [threading.Thread(target=read, args=(name,), daemon=True) for name in READERS]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS + 30)
    finally:
        sys.setswitchinterval(interval)
    assert not any(thread.is_alive() for thread in threads), "a deadlock"
    assert not failures, failures[0]
    assert all(len(found) > 1 for found in seen.values()), "the readers saw nothing change"
    assert set(answers) == {"red"}
    assert edges_of(graph, None) in expected["edges"]


def test_the_states_tell_a_change_from_half_of_it():
    """Otherwise the test above could not fail."""
    expected = states("weighted-majority", False)
    graph = fo.DynamicGraph()
    labeler = Labeler(graph, "weighted-majority")
    fo.replay(first_events(), graph, labeler.model).run()
    graph.add_edge(ME, "red0")  # of three that come together
    assert not any(is_among(name, READERS[name](graph, labeler), expected[name]) for name in ("edges", "PageRank"))
    fo.replay([("edge", ME, "red1"), ("edge", ME, "red2"), ("edge", ME, "green0", 3.0)], labeler=labeler.model).run()
    assert not any(is_among(name, READERS[name](graph, labeler), expected[name]) for name in READERS)
