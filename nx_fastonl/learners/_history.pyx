"""LabelHistory: the labels of the nodes that were learned, and how often and since when each label was seen."""

cimport cython
from libc.stdint cimport INT64_MAX, int32_t

import numpy as np

from nx_fastonl._lib.arrays import check_restored, enlarged, restored_array, restored_count, shape_of

from nx_fastonl._lib.typedefs cimport node_t

NEVER = INT64_MAX

cdef double TIE_TOLERANCE = 1e-12


cdef void record_label(LabelHistory history, node_t u, Py_ssize_t y) noexcept nogil:
    """Record label y of node u, in place of another that it had. There must be room for y."""
    history.k = max(history.k, y + 1)
    if history.marks[u] == 0:
        history.n_learned += 1
        history.n_arrivals += 1
        history.arrivals[u] = history.n_arrivals
    else:
        history.counts[history.marks[u] - 1] -= 1
    history.marks[u] = <int32_t> (y + 1)
    history.counts[y] += 1
    history.first_seen[y] = min(history.first_seen[y], history.n_arrivals)


cdef void drop_label(LabelHistory history, node_t u) noexcept nogil:
    """Forget the label of node u, if it has one."""
    cdef Py_ssize_t y = history.marks[u] - 1
    if y < 0:
        return
    history.n_learned -= 1
    history.counts[y] -= 1
    if history.counts[y] == 0:
        history.first_seen[y] = INT64_MAX
    history.marks[u] = 0
    history.arrivals[u] = 0


@cython.final
cdef class LabelHistory:
    """The labels of the nodes that were learned. It is the one place that says which these are.

    Labels are numbers from 0 to k - 1. Ties between them are broken by how many nodes have each, more first, then by
    which was seen first.

    Some methods are called without the lock of the learner. Critical sections, which without the GIL do what it does,
    keep them from arrays that are just being replaced.

    Parameters
    ----------
    n : int
        The number of nodes.
    k : int
        The number of labels known from the start.
    """

    def __init__(self, Py_ssize_t n, Py_ssize_t k=0):
        self.k = 0
        self.n_learned = self.n_arrivals = 0
        self.counts = np.zeros(4, dtype=np.int64)
        self.first_seen = np.full(4, NEVER, dtype=np.int64)
        self.marks = self._marks = np.zeros(n, dtype=np.int32)
        self.arrivals = self._arrivals = np.zeros(n, dtype=np.int64)
        self.n_removals = 0
        self.reserve(k)
        self.k = k

    @property
    def n(self):
        """The number of nodes."""
        return self.marks.shape[0]

    @property
    def label_counts(self):
        """How many nodes have each label."""
        cdef Py_ssize_t k
        cdef const int64_t[::1] counts
        with cython.critical_section(self):
            k, counts = self.k, self.counts
        return np.array(counts[:k])

    @cython.critical_section
    def label_of(self, node_t u):
        """The label of node u; None if it was not learned."""
        return self.marks[u] - 1 if self.marks[u] else None

    def labels_of(self, rows):
        """The labels of these nodes; -1 for those that were not learned."""
        with cython.critical_section(self):
            marks = self._marks
        return marks[rows] - 1

    def learned(self):
        """The nodes that were learned, in the order in which they arrived, and their labels."""
        with cython.critical_section(self):
            marks, arrivals = self._marks, self._arrivals
        marks, arrivals = marks.copy(), arrivals.copy()  # another thread may learn meanwhile
        rows = np.flatnonzero(marks)
        rows = rows[np.argsort(arrivals[rows], kind="stable")]
        return rows, marks[rows] - 1

    def reserve(self, Py_ssize_t k):
        """Make room for k labels."""
        cdef Py_ssize_t room = self.counts.shape[0]
        cdef int64_t[::1] counts, first_seen
        if k <= room:
            return
        room = max(k, 2 * room)
        counts, first_seen = np.zeros(room, dtype=np.int64), np.full(room, NEVER, dtype=np.int64)
        counts[: self.k] = self.counts[: self.k]
        first_seen[: self.k] = self.first_seen[: self.k]
        with cython.critical_section(self):
            self.counts, self.first_seen = counts, first_seen

    def add_rows(self, Py_ssize_t n):
        """Make room for n nodes."""
        if n > self.n:
            marks, arrivals = enlarged(self._marks, n), enlarged(self._arrivals, n)
            with cython.critical_section(self):
                self.marks, self.arrivals, self._marks, self._arrivals = marks, arrivals, marks, arrivals

    @cython.critical_section
    def record(self, const node_t[::1] nodes, const int32_t[::1] labels):
        """Record the labels of these nodes. There must be room for the labels."""
        cdef Py_ssize_t i
        for i in range(nodes.shape[0]):
            record_label(self, nodes[i], labels[i])

    @cython.critical_section
    def drop(self, node_t u):
        """Forget the label of node u, if it has one."""
        drop_label(self, u)

    def copy(self):
        return _made(*self.__reduce__()[1])

    def __reduce__(self):
        cdef const int64_t[::1] counts, first_seen
        with cython.critical_section(self):
            counts, first_seen, marks, arrivals = self.counts, self.first_seen, self._marks, self._arrivals
        sizes = (self.k, self.n_learned, self.n_arrivals, self.n_removals)
        arrays = (np.array(counts), np.array(first_seen), marks.copy(), arrivals.copy())
        return restored, (sizes, arrays)


def restored(sizes, arrays):
    """What a pickle or a snapshot holds, checked."""
    counts, first_seen, marks, arrivals = arrays
    (room,), (n,) = shape_of(counts, "labels", 1), shape_of(marks, "labels", 1)
    n_arrivals, n_removals = (restored_count(size, "labels") for size in sizes[2:])
    k, n_learned = restored_count(sizes[0], "labels", 0, room), restored_count(sizes[1], "labels", 0, n)
    counts = restored_array(counts, "labels", np.int64, (room,), 0, n)
    first_seen = restored_array(first_seen, "labels", np.int64, (room,), 0, NEVER)
    marks = restored_array(marks, "labels", np.int32, (n,), 0, k)
    arrivals = restored_array(arrivals, "labels", np.int64, (n,), 0, n_arrivals)
    check_restored(n_learned == np.count_nonzero(marks), "labels")
    check_restored(((arrivals > 0) == (marks > 0)).all(), "labels")
    check_restored((np.bincount(marks, minlength=room + 1)[1:] == counts).all(), "labels")
    return _made((k, n_learned, n_arrivals, n_removals), (counts, first_seen, marks, arrivals))


def _made(sizes, arrays):
    """The history that has these numbers and arrays, which nobody else has."""
    cdef LabelHistory history = LabelHistory(0)
    history.k, history.n_learned, history.n_arrivals, history.n_removals = sizes
    history.counts, history.first_seen, history.marks, history.arrivals = arrays
    history._marks, history._arrivals = arrays[2:]
    return history
