"""Interrupted learning: Ctrl-C at any moment, and an exception at every line. The labeler must stay whole.

What `labels` shows afterwards decides: all or nothing of the call, for a stream a prefix of it. The labeler must then
be the same as one that was never interrupted and was given these labels, and stay so when both learn on.
"""

import functools
import linecache
import signal
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import networkx as nx
import numpy as np

import nx_fastonl as fo
from tests.fuzz.invariants import check_whole
from tests.fuzz.verdicts import Wrong, check
from tests.seams import learner_of, stored_gradients

PACKAGE = str(Path(fo.__file__).parent)
# The trace of the paper takes no time to compute.
MODELS = {
    "adaptive": {},
    "fastonl": {"trace": "paper"},
    "fastonl, single precision": {"dtype": "float32", "trace": "paper"},
    "fastonl, K6": {"kernel": "K6", "trace": "paper"},
    "fastonl, sampled": {"predict": "sample", "trace": "paper"},
    "fastonl-fifo": {"trace": "paper"},
    "fastonl-fifo, symmetrized": {"symmetrized": True, "trace": "paper"},
    "relaxation": {},
    "approximate": {"trace": "paper"},
    "perceptron": {},
    "weighted-majority": {},
    "weighted-tree": {},
}
BEFORE = {0: "a", 33: "b"}
FIRST = (1, "a")
STREAM = [(4, "a"), (5, "c"), (6, "b"), (7, "d"), (8, "a")]
# Each call by name, with the changes that it makes to the labels, in order; None means that a node is forgotten.
# "fit" begins from nothing.
CALLS = {
    "learn_one": (lambda model: model.learn_one(9, "a"), [(9, "a")]),
    "learn_one, new label": (lambda model: model.learn_one(9, "c"), [(9, "c")]),
    "overwrite": (lambda model: model.learn_one(0, "b", overwrite=True), [(0, "b")]),
    "overwrite, new label": (lambda model: model.learn_one(0, "c", overwrite=True), [(0, "c")]),
    "learn_many": (lambda model: model.learn_many(dict(STREAM)), STREAM),
    "fit": (lambda model: model.fit(dict(STREAM)), STREAM),
    "run": (lambda model: model.run(STREAM), STREAM),
}
if hasattr(fo.OnlineNodeLabeler, "forget"):
    CALLS["forget"] = (lambda model: model.forget(0), [(0, None)])


class Injected(BaseException):
    """What is raised at a line. As KeyboardInterrupt, it is no Exception."""


@functools.cache
def _club():
    return fo.CSRGraph.from_networkx(nx.karate_club_graph())


def make(name):
    """A labeler that has learned three labels."""
    model = fo.OnlineNodeLabeler(_club(), method=name.split(",")[0], seed=1, **MODELS[name])
    model.learn_many(BEFORE)
    model.learn_one(*FIRST)
    return model


def outcomes(call, before):
    """What the labels may be after a call that was interrupted, each with the changes that led there."""
    changes = CALLS[call][1]
    if call == "fit":
        return [(before, None), (dict(changes), changes)]
    prefixes = range(len(changes) + 1) if call == "run" else (0, len(changes))
    found = []
    for n in prefixes:
        labels = dict(before)
        for node, label in changes[:n]:
            if label is None:
                labels.pop(node)
            else:
                labels[node] = label
        found.append((labels, changes[:n]))
    return found


def check_interrupted(name, call, model):
    """Compare a labeler with one that was never interrupted, now and after both have learned on."""
    check_whole(model)
    before = {**BEFORE, **dict([FIRST])}
    labels = model.labels.copy()
    reached = next((changes for expected, changes in outcomes(call, before) if expected == labels), "none")
    check(reached != "none", "{} left the labels {}", call, labels)
    twin = make(name)
    if reached and call == "run":
        twin.run(reached)
    elif reached:
        CALLS[call][0](twin)
    compare(model, twin, "at once")
    for each in (model, twin):
        each.learn_one(20, "z")
        each.learn_many({21: "b", 22: "y"})
        each.run([(23, "a"), (24, "x")])
        each.learn_one(20, "b", overwrite=True)
    check_whole(model)
    compare(model, twin, "later")


def compare(model, twin, when):
    """Two labelers that know the same; a diffusion may have been pushed in another order."""
    check(model.labels == twin.labels, "{}: labels {} instead of {}", when, model.labels, twin.labels)
    check(model.classes == twin.classes, "{}: classes {} instead of {}", when, model.classes, twin.classes)
    if not hasattr(learner_of(model), "diffusion"):
        found, expected = model.predict_proba_many(), twin.predict_proba_many()
        check(
            np.allclose(found, expected, rtol=1e-9, atol=1e-12),
            "{}: probabilities are off by {}",
            when,
            np.abs(found - expected).max(),
        )
        check(model.predict_many() == twin.predict_many(), "{}: other predictions", when)
        return
    model.predict_many(), model.predict_proba_many()
    found, expected = stored_gradients(model), stored_gradients(twin)
    same = np.allclose(found, expected, rtol=1e-5, atol=1e-5)
    # Later, what is learned depends on scores, which agree only within their error.
    check(
        same or when == "later",
        "{}: gradients {} instead of {}",
        when,
        found[:, found.any(0)],
        expected[:, expected.any(0)],
    )
    if same:
        for one, other in zip(model.certify_many(range(0, 34, 5)), twin.certify_many(range(0, 34, 5)), strict=True):
            check(one.label == other.label or not (one.certain and other.certain), "{}: {} and {}", when, one, other)
            if one.label == other.label and one.margin < np.inf:
                slack = 1e-4 * (abs(one.margin) + abs(other.margin))  # the gradients differ by rounding
                check(
                    abs(one.margin - other.margin) <= one.error + other.error + slack, "{}: {} and {}", when, one, other
                )


# Signals at random moments


def _interrupt(*_):
    raise KeyboardInterrupt


@functools.cache
def _seconds(name, call):
    """How long an undisturbed call takes."""
    found = []
    for _ in range(3):
        model = make(name)
        start = time.perf_counter()
        CALLS[call][0](model)
        found.append(time.perf_counter() - start)
    return min(found)


def interrupts(draw):
    """A signal after a random part of the time that the call takes."""
    name, call = draw.choice(list(MODELS)), draw.choice(list(CALLS))
    delay = max(1e-6, 2.0 * draw.unit() * _seconds(name, call))
    draw.note(model=name, call=call, delay=delay)
    model = make(name)
    previous = signal.signal(signal.SIGALRM, _interrupt)
    was_interrupted = False
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, delay)
            CALLS[call][0](model)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
    except KeyboardInterrupt:
        was_interrupted = True
    finally:
        signal.signal(signal.SIGALRM, previous)
    with deadline(10.0):
        check_interrupted(name, call, model)
    return was_interrupted


@contextmanager
def deadline(seconds):
    """Raise `Wrong` where a labeler does not answer, because a lock is still held."""

    def give_up(*_):
        raise Wrong(f"no answer for {seconds:g} s: a lock may still be held")

    previous = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous)


# An exception at every line


@contextmanager
def raising_at(place):
    """Raise before the place-th line that is run inside of the package. Yields a counter."""
    state = {"count": 0, "where": None}
    entered = set()  # frames and lines whose `with` is open

    def trace(frame, event, _):
        name, line = frame.f_code.co_filename, frame.f_lineno
        if not name.startswith(PACKAGE):
            return None
        if event == "line" and not _is_no_place(entered, frame, name, line):
            state["count"] += 1
            if state["count"] == place:
                state["where"] = f"{Path(name).relative_to(PACKAGE)}:{line}"
                sys.settrace(None)
                raise Injected(state["where"])
        return trace

    sys.settrace(trace)
    try:
        yield state
    finally:
        sys.settrace(None)


def _is_no_place(entered, frame, name, line):
    """Whether this line is `try:` or leaves its `with`. No signal is handled just then, and a lock would stay."""
    text = linecache.getline(name, line).strip()
    if not text.startswith("with "):
        return text == "try:"
    key = (frame, line)
    leaves = key in entered
    (entered.discard if leaves else entered.add)(key)
    return leaves


@functools.cache
def places(name, call):
    """The number of places at which a call can be made to raise."""
    model = make(name)
    with raising_at(0) as state:
        CALLS[call][0](model)
    return state["count"]


def inject(name, call, place):
    """Make a call raise at one place, and check what it left. Returns where that was; None if it was not reached."""
    model = make(name)
    with raising_at(place) as state:
        try:
            CALLS[call][0](model)
        except Injected:
            pass
    try:
        with deadline(10.0):
            check_interrupted(name, call, model)
    except Wrong as error:
        raise Wrong(f"{error} (after an exception at {state['where']})") from None
    return state["where"]


def injections(draw):
    """An exception at a random place of a random call."""
    name, call = draw.choice(list(MODELS)), draw.choice(list(CALLS))
    place = draw.between(1, places(name, call))
    draw.note(model=name, call=call, place=place)
    where = inject(name, call, place)
    draw.note(where=where)
    return where is not None
