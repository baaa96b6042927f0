"""Processes that change one DurableGraph and its models, and are killed: a script, since only one thread may fork.

``python -m tests.labeling.killed_writers FOLDER 200`` kills 200 processes at random moments. Each adds edges, removes
some, learns labels with two models and takes snapshots, with ``sync="always"``, and reports over a pipe what it was
told. It prints how many events were acknowledged, and how many of the processes had acknowledged any.
"""

import copy
import os
import random
import struct
import sys
import time
from pathlib import Path

import nx_fastonl as fo
from tests.killing import kill_at_random

NUMBER = struct.Struct("<q")
ROUNDS = 4  # that a process has time for, at most
MODELS = {"fast": "fastonl", "adaptive": "adaptive"}
KEPT = 40  # nodes


def event(graph, models, i):
    """What happens as number i: each kind of event in turn."""
    u, kind = i // 6, i % 6
    if kind == 0:
        graph.add_edge(u, u + 1, 1.0 + u % 3)
    elif kind == 1:
        graph.add_edges_from([(u, u // 2), (u, f"tag {u % 5}")], times=[float(u), float(u)])
    elif kind == 2:
        models["fast"].learn_one(u, "ab"[u % 2], overwrite=True)
    elif kind == 3:
        models["adaptive"].learn_many({u: "cd"[u % 2]})
    elif kind == 4:
        graph.remove_nodes_from([u - KEPT] if u >= KEPT else [])
    elif u % 3 == 0:
        if isinstance(graph, fo.DurableGraph):
            graph.snapshot()
    elif u % 3 == 1:
        models["fast"].forget(u)
    else:
        graph.expire_before(float(u - KEPT // 2))


def state_of(graph, models):
    edges = {frozenset(map(str, (u, v))): weight for u, v, weight in graph.edges(data="weight")}
    labels = [list(model.labels.items()) for model in models.values()]
    return list(graph), edges, labels


class Twin:
    """The same events in memory: what the graph on disk must be after so many of them."""

    def __init__(self):
        self.graph, self.n = fo.DynamicGraph(), 0
        self.models = {name: fo.OnlineNodeLabeler(self.graph, method=method) for name, method in MODELS.items()}

    def go_on(self, n):
        """The state after n events, which must not be fewer than before."""
        assert n >= self.n
        for i in range(self.n, n):
            event(self.graph, self.models, i)
        self.n = n
        return state_of(self.graph, self.models)


def opened(path):
    graph = fo.DurableGraph(path, sync="always")
    return graph, {name: graph.labeler(name, method=method, seed=1) for name, method in MODELS.items()}


def write_and_report(path, pipe, start, rounds=1 << 40):
    graph, models = opened(path)
    for i in range(start, start + 6 * rounds):
        event(graph, models, i)
        os.write(pipe, NUMBER.pack(i))
    graph.close()


def latest_of(pipe):
    content = b""
    while block := os.read(pipe, 1 << 16):
        content += block
    return NUMBER.unpack_from(content, len(content) - NUMBER.size)[0] if content else -1


def kill_writers(path, kills):
    draw = random.Random(1)
    with Path(os.devnull).open("wb") as nobody:
        began = time.perf_counter()
        write_and_report(path.with_name("timed"), nobody.fileno(), 0, ROUNDS)
        longest = time.perf_counter() - began
    twin, done, acknowledged, active = Twin(), 0, 0, 0
    for _ in range(kills):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            write_and_report(path, writer, done)
        os.close(writer)
        kill_at_random(child, reader, draw, longest)
        latest = latest_of(reader)
        os.close(reader)
        graph, models = opened(path)
        found = state_of(graph, models)
        # What was acknowledged is there. One more event may be, whole. Snapshots change nothing.
        least = max(done, latest + 1)
        states = [twin.go_on(least), copy.deepcopy(twin).go_on(least + 1)]
        assert found in states, f"{least} events were acknowledged, and something else is there"
        graph.close()
        done = least + (found != states[0])
        acknowledged, active = done, active + (latest >= 0)
    return acknowledged, active


if __name__ == "__main__":
    sys.stdout.write(" ".join(map(str, kill_writers(Path(sys.argv[1]), int(sys.argv[2])))))
