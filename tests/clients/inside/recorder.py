"""A plugin of pytest that writes down every call of the functions that the backend has, and what became of the tests.

It runs in the client's environment, with the client's NetworkX. The file that NX_FASTONL_RECORD names gets the record.
"""

import contextlib
import inspect
import json
import os
import time
from pathlib import Path

import networkx as nx

FUNCTIONS = ("pagerank", "google_matrix", "katz_centrality", "local_and_global_consistency", "harmonic_function")
MASSES = ("personalization", "dangling", "nstart")

calls = []
outcomes = {}
reached = 0
current_test = "outside of tests"


def pytest_configure():
    nx.pagerank(nx.path_graph(3))  # modules are imported at the first call: no seconds of the client's
    dispatched = nx.utils.backends._dispatchable
    dispatched.__call__ = recording(dispatched.__call__)
    if has_priority():
        count_calls_of_the_backend()


def pytest_runtest_logstart(nodeid):
    global current_test
    current_test = nodeid


def pytest_runtest_logreport(report):
    if report.when == "call" or not report.passed:
        outcomes[report.nodeid] = report.outcome


def pytest_sessionfinish():
    record = {"networkx": nx.__version__, "outcomes": outcomes, "reached": reached, "calls": calls}
    Path(os.environ["NX_FASTONL_RECORD"]).write_text(json.dumps(record))


def recording(call):
    """The call of a dispatched function, with its input, its answer and its seconds written down."""

    def recorded(self, /, *args, **kwargs):
        if self.name not in FUNCTIONS:
            return call(self, *args, **kwargs)
        entry = {"test": current_test, "function": self.name, "input": described(self, args, kwargs)}
        calls.append(entry)
        try:
            return answered(entry, call, self, *args, **kwargs)
        finally:
            if has_priority():
                # A client may build another graph in its next run: NetworkX answers in this one, too.
                with contextlib.suppress(Exception):
                    answered(entry.setdefault("networkx", {}), call, self, *args, **kwargs | {"backend": "networkx"})

    return recorded


def answered(entry, function, *args, **kwargs):
    """What a function returns or raises, after it was written down."""
    started = time.perf_counter()
    try:
        answer = function(*args, **kwargs)
    except Exception as error:
        entry["raised"] = type(error).__name__
        raise
    finally:
        entry["seconds"] = time.perf_counter() - started
    if isinstance(answer, dict):
        entry["nodes"] = [str(node)[-60:] for node in answer]
        entry["values"] = [float(value) for value in answer.values()]
    return answer


def has_priority():
    return bool(os.environ.get("NETWORKX_BACKEND_PRIORITY"))


def described(function, args, kwargs):
    """The graph and the arguments as plain numbers: nodes are numbered in the order of the graph."""
    given = inspect.signature(function).bind(*args, **kwargs)
    given.apply_defaults()
    arguments = dict(given.arguments)
    G = arguments.pop("G")
    number = {node: i for i, node in enumerate(G)}
    weight = arguments.get("weight")
    edges = [(number[u], number[v], 1 if weight is None else data.get(weight, 1)) for u, v, data in G.edges(data=True)]
    for name in MASSES:
        if isinstance(masses := arguments.get(name), dict):
            arguments[name] = [[number[node], masses[node]] for node in masses if node in number]
    plain = {name: value if isinstance(value, float | int | list) else str(value) for name, value in arguments.items()}
    plain = {name: value for name, value in plain.items() if arguments[name] is not None}
    # Weights of numpy's types and of fractions become floats, as in the arrays that NetworkX makes.
    return json.loads(
        json.dumps({"directed": G.is_directed(), "n": len(G), "edges": edges, "arguments": plain}, default=float)
    )


def count_calls_of_the_backend():
    from nx_fastonl.nxapi import algorithms, support  # noqa: F401 - `support` reads signatures when it is imported

    # Without functools.wraps: the backend would unwrap it.
    def counted(function):
        def call(*args, **kwargs):
            global reached
            reached += 1
            return function(*args, **kwargs)

        return call

    for name in FUNCTIONS:
        setattr(algorithms, name, counted(getattr(algorithms, name)))
