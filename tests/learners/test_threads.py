"""What is read of a learner without its lock, while another thread makes room for labels and learns them."""

import sys
import threading

import numpy as np
import pytest

from nx_fastonl.learners import _relaxation
from nx_fastonl.learners._history import LabelHistory
from nx_fastonl.learners._relaxation import GradientStore

N_LEARNERS, N = 3_000, 64


@pytest.fixture
def _frequent_switches():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def check_reading(history, store, nodes, values):
    """Node u has label u, so that each label known was seen once, label 0 first; nothing is stored of any node."""
    k = history.k
    assert (history.label_counts[:k] == 1).all()
    assert history.labels_of(nodes)[:k].tolist() == list(range(k))
    assert history.learned()[0].tolist()[:k] == list(range(k))
    scores, _ = _relaxation.column_scores(store, nodes, values, k)
    assert len(scores) == len(store.sums(k)) == k
    assert not scores.any()
    if k > 0:
        assert _relaxation.best(history, scores, 1.0) == 0
        assert _relaxation.best_of_each(history, np.zeros((2, k))).tolist() == [0, 0]


@pytest.mark.usefixtures("_frequent_switches")
def test_labels_join_while_others_read():
    """Without the GIL, arrays that are replaced while they are read would end the process."""
    learners = [(LabelHistory(N), GradientStore(N, 1.0, False, 0.0)) for _ in range(N_LEARNERS)]
    nodes, values = np.arange(N, dtype=np.int32), np.ones(N)
    failures, current, together = [], [0], threading.Barrier(3)

    def learn():
        together.wait(60)
        for i, (history, store) in enumerate(learners):
            current[0] = i
            for u in range(N):
                history.reserve(u + 1)
                store.reserve(u + 1, 0)
                history.record(nodes[u : u + 1], nodes[u : u + 1])
        current[0] = -1

    def read():
        together.wait(60)
        try:
            while current[0] >= 0:
                check_reading(*learners[current[0]], nodes, values)
        except BaseException as error:  # noqa: BLE001  # told by the test's own thread
            failures.append(error)

    threads = [threading.Thread(target=function, daemon=True) for function in (read, read, learn)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures, failures[0]
    assert current == [-1]
    check_reading(*learners[-1], nodes, values)
    assert learners[-1][0].k == N
