"""LabelHistory: how often and since when each label was seen. A labeler and its learner share one."""

cimport cython
from libc.stdint cimport INT64_MAX, int32_t, int64_t

import numpy as np

from nx_fastonl._lib.typedefs cimport node_t

NEVER = INT64_MAX


cdef void count_label(LabelHistory history, Py_ssize_t y, Py_ssize_t old) noexcept nogil:
    """Count a node that has label y, and had label `old` before, -1 for none. There must be room for y."""
    history.k = max(history.k, y + 1)
    if old < 0:
        history.n_learned += 1
    else:
        history.counts[old] -= 1
    history.counts[y] += 1
    history.first_seen[y] = min(history.first_seen[y], history.n_learned)


@cython.final
cdef class LabelHistory:
    """How many nodes have each label, and when it was first seen. Labels are numbers from 0 to k - 1.

    Ties between labels are broken by it: more nodes first, then the label that was seen first.
    """

    def __init__(self, Py_ssize_t k=0):
        self.k = 0
        self.n_learned = 0
        self.counts = np.zeros(4, dtype=np.int64)
        self.first_seen = np.full(4, NEVER, dtype=np.int64)
        self.reserve(k)
        self.k = k

    @property
    def label_counts(self):
        """How many nodes have each label."""
        return np.array(self.counts[: self.k])

    def reserve(self, Py_ssize_t k):
        """Make room for k labels."""
        cdef Py_ssize_t room = self.counts.shape[0]
        if k <= room:
            return
        room = max(k, 2 * room)
        counts, first_seen = np.zeros(room, dtype=np.int64), np.full(room, NEVER, dtype=np.int64)
        counts[: self.k] = self.counts[: self.k]
        first_seen[: self.k] = self.first_seen[: self.k]
        self.counts, self.first_seen = counts, first_seen

    def count(self, Py_ssize_t y, Py_ssize_t old=-1):
        """Count a node that has label y, and had label `old` before, -1 for none."""
        self.reserve(y + 1)
        count_label(self, y, old)

    def store(self, int32_t[::1] stored, const node_t[::1] nodes, const int32_t[::1] labels):
        """Store the labels of these nodes in an array with an entry for each node, -1 for none, and count them.

        There must be room for the labels.
        """
        cdef Py_ssize_t i
        for i in range(nodes.shape[0]):
            count_label(self, labels[i], stored[nodes[i]])
            stored[nodes[i]] = labels[i]

    def copy(self):
        return _restored(*self.__reduce__()[1])

    def restore(self, LabelHistory other):
        """Take over the state of `other`."""
        self.k, self.n_learned = other.k, other.n_learned
        self.counts, self.first_seen = other.counts, other.first_seen

    def __reduce__(self):
        return _restored, (self.k, self.n_learned, np.array(self.counts), np.array(self.first_seen))


def _restored(Py_ssize_t k, int64_t n_learned, int64_t[::1] counts, int64_t[::1] first_seen):
    cdef LabelHistory history = LabelHistory()
    history.k, history.n_learned = k, n_learned
    history.counts, history.first_seen = counts, first_seen
    return history
