import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from nx_fastonl._lib._sharing import SharedLock, ThreadLock

WAIT = 20  # seconds, before a test gives up


def started(function):
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    return thread


def holds(lock_side, entered, leave):
    def hold():
        with lock_side:
            entered.set()
            assert leave.wait(WAIT)

    return hold


def test_readers_share_and_writers_do_not():
    lock, leave = SharedLock(), threading.Event()
    inside = [threading.Event() for _ in range(4)]
    readers = [started(holds(lock.reading, event, leave)) for event in inside[:2]]
    assert all(event.wait(WAIT) for event in inside[:2])
    writer = started(holds(lock.writing, inside[2], leave))
    assert not inside[2].wait(0.05)
    late = started(holds(lock.reading, inside[3], leave))  # comes after the writer
    assert not inside[3].wait(0.05)
    leave.set()
    for thread in (*readers, writer, late):
        thread.join(WAIT)
    assert all(event.is_set() for event in inside)


def test_a_thread_may_take_it_again():
    lock = SharedLock()
    entered, leave = threading.Event(), threading.Event()
    with lock.reading:
        writer = started(holds(lock.writing, entered, leave))
        time.sleep(0.02)
        with lock.reading:  # though a writer waits
            assert not entered.is_set()
    assert entered.wait(WAIT)
    leave.set()
    writer.join(WAIT)
    with lock.writing, lock.writing, lock.reading, lock.writing:
        pass
    with lock.reading, pytest.raises(RuntimeError, match="this thread is reading the graph"):
        lock.writing.__enter__()
    with lock.writing:
        pass


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such timers")
def test_interrupts_leave_it_free():
    """Whenever they come: while it is taken, held, waited for or given back."""

    def interrupt(*_):
        raise KeyboardInterrupt

    lock, interrupted = SharedLock(), 0
    before = signal.signal(signal.SIGALRM, interrupt)
    stop = threading.Event()

    def others():
        while not stop.is_set():
            with lock.writing:
                pass
            with lock.reading:
                time.sleep(0)

    rival = started(others)
    try:
        for i in range(300):
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0002 + 1e-6 * i)
                while True:
                    with lock.reading, lock.reading:
                        pass
                    with lock.writing, lock.reading:
                        pass
            except KeyboardInterrupt:
                interrupted += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    stop.set()
    rival.join(WAIT)
    assert not rival.is_alive()
    assert interrupted == 300
    done = threading.Event()
    started(lambda: (lock.writing.__enter__(), done.set()))
    assert done.wait(WAIT)


def test_an_error_inside_frees_it():
    lock = SharedLock()
    for side in (lock.reading, lock.writing):
        with pytest.raises(ZeroDivisionError), side:
            raise ZeroDivisionError
    done = threading.Event()
    started(lambda: (lock.writing.__enter__(), done.set()))
    assert done.wait(WAIT)


def test_writers_see_no_other_writer_or_reader():
    """Many threads, each of which would notice another one beside it."""
    lock, state, seen = SharedLock(), {"value": 0, "twin": 0}, []

    def write():
        for _ in range(300):
            with lock.writing:
                value = state["value"] + 1
                state["value"] = value
                time.sleep(0)
                state["twin"] = value

    def read():
        for _ in range(300):
            with lock.reading:
                before = state["value"]
                time.sleep(0)
                seen.append(before == state["value"] == state["twin"])

    threads = [started(function) for function in (write, read, write, read, read)]
    for thread in threads:
        thread.join(WAIT)
    assert state["value"] == state["twin"] == 600
    assert len(seen) == 900
    assert all(seen)


def test_threads_that_switch_at_any_time():
    """Readers and writers, nested too, on builds without the GIL all at once."""
    lock, state, seen, rounds = SharedLock(), [0, 0], [], 400
    together = threading.Barrier(4)

    def write():
        together.wait(WAIT)
        for _ in range(rounds):
            with lock.writing, lock.reading:
                state[0] += 1
                with lock.writing:
                    state[1] += 1

    def read():
        together.wait(WAIT)
        for _ in range(rounds):
            with lock.reading, lock.reading:
                seen.append(state[0] - state[1])

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [started(function) for function in (write, read, write, read)]
        for thread in threads:
            thread.join(WAIT)
    finally:
        sys.setswitchinterval(interval)
    assert not any(thread.is_alive() for thread in threads), "a deadlock"
    assert state == [2 * rounds, 2 * rounds]
    assert seen == [0] * (2 * rounds)


FORKS = """
import os, signal, threading
from contextlib import nullcontext
import networkx as nx
import nx_fastonl as fo

def in_a_child(side, work):
    graph = fo.DynamicGraph(nx.path_graph(3))
    held, leave = threading.Event(), threading.Event()

    def hold():
        with getattr(graph._lock, side):
            held.set()
            leave.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(20)
    with graph._lock.reading if side == "reading" else nullcontext():  # the child holds it too
        child = os.fork()
    if child == 0:
        signal.alarm(20)
        work(graph)
        os._exit(1)
    leave.set()
    thread.join()
    graph.add_edge(2, 3)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

def change(graph):
    graph.add_edge(0, 2)
    os._exit(graph.number_of_edges())

def refused(graph):
    for call in (lambda: graph.add_edge(0, 2), lambda: graph.neighbors(0), lambda: graph.copy()) * 2:
        try:
            call()
        except RuntimeError as error:
            assert "half changed here: fork while no thread changes it" in str(error)
        else:
            return
    os._exit(4)

in_a_child("reading", change)
in_a_child("writing", refused)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_forked_child_waits_for_no_thread_of_its_parent():
    found = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKS], capture_output=True, text=True, check=False)
    assert (found.stdout, found.stderr) == ("3\n4\n", "")


FORKED_MODELS = """
import os
import signal
import threading

import networkx as nx
import nx_fastonl as fo

model = fo.OnlineNodeLabeler(nx.path_graph(4)).learn_many({0: "a"})
ranks = fo.DynamicPageRank(fo.DynamicGraph(nx.path_graph(3)), 0)
locks = [model._knowledge.learner.lock, model._lock, ranks._lock]
calls = [lambda: model.predict_one(1), lambda: model.learn_one(1, "b", overwrite=True), ranks.ranks]
for lock, call in zip(locks, calls):
    held, leave = threading.Event(), threading.Event()

    def hold():
        with lock:
            held.set()
            leave.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(20)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            call()
        except RuntimeError as error:
            os._exit(3 if "fork while no thread uses it" in str(error) else 4)
        os._exit(5)
    leave.set()
    thread.join()
    call()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    child = os.fork()  # now that nobody holds it
    if child == 0:
        signal.alarm(20)
        call()
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_forked_child_refuses_a_model_that_another_thread_was_using():
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED_MODELS], capture_output=True, text=True, check=False
    )
    assert (found.stdout, found.stderr) == ("3\n0\n" * 3, "")


def test_a_lock_of_one_thread():
    lock, once = ThreadLock(), ThreadLock(once=True)
    with lock, lock:
        assert lock.is_owned()
    assert not lock.is_owned()
    with once, pytest.raises(RuntimeError, match="computing it already"), once:
        pass
    with once:
        entered, leave = threading.Event(), threading.Event()
        thread = started(holds(once, entered, leave))
        assert not entered.wait(0.01)
    assert entered.wait(WAIT)
    leave.set()
    thread.join(WAIT)
