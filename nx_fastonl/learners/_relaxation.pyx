"""The learner's arithmetic over k labels: water-filling, surrogate gradients, ties, and the stored gradients."""

cimport cython
from libc.math cimport INFINITY, fabs, isnan, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport qsort

import numpy as np

from nx_fastonl._lib.arrays import (
    check_restored, enlarged, restored_array, restored_count, restored_number, shape_of,
)

from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.graph._dynamic cimport Change
from nx_fastonl.kernels._scaling cimport Scaling, s_at, s_of
from nx_fastonl.learners._history cimport TIE_TOLERANCE, LabelHistory, best_label, drop_label, record_label
from nx_fastonl.learners._stream cimport Engine

# No s is larger: it is the root of a sum of weights.
cdef double LARGEST_S = 1e60
STORED_GRADIENT = np.dtype([("s", np.float64), ("label", np.int32), ("dense", np.int32)])


@cython.final
cdef class ScoreBuffers:
    """Scratch memory for the scores of one node, with room for `lanes` labels."""

    def __init__(self, Py_ssize_t lanes):
        cdef double[:, ::1] memory = np.zeros((5, max(lanes, 1)))
        self.scores, self.psi, self.sorted = memory[0], memory[1], memory[2]
        self.gradient, self.change = memory[3], memory[4]
        self.old_size = self.new_size = 0.0


@cython.final
cdef class GradientStore:
    """What a learner has stored of each node it learned, and the sums that its distributions depend on.

    Parameters
    ----------
    n : int
        The number of nodes.
    trace : float
        T_1, the trace of M.
    trace_per_label : bool
        Whether T_1 is `trace` for each known label, as in the paper's experiments.
    constant : float
        What is added to every entry of M.
    unit : float, default 1
        What all entries of M are multiples of.
    position : int, default 0
        In the log of the graph's changes, up to which what is stored is right.
    """

    def __init__(
        self, Py_ssize_t n, double trace, bint trace_per_label, double constant, double unit=1.0, int64_t position=0,
    ):
        self.stored = self._stored = np.zeros(n, dtype=STORED_GRADIENT)
        self.diagonals = np.zeros(n)
        self.dense = np.zeros((16, 4))
        self.n_dense = 1
        self.free = np.zeros(16, dtype=np.int32)
        self.n_free = 0
        self.total = np.zeros(4)
        self.energy = self.single_energy = self.used_trace = 0.0
        self.unfinished = None
        self.trace, self.trace_per_label, self.constant = trace, trace_per_label, constant
        self.unit, self.position = unit, position

    @property
    def n(self):
        """The number of nodes."""
        return self.stored.shape[0]

    @property
    def lanes(self):
        """The number of labels that there is room for."""
        return self.total.shape[0]

    @property
    def dense_in_use(self):
        """How many nodes have a gradient with several entries."""
        return self.n_dense - 1 - self.n_free

    def reserve(self, Py_ssize_t k, Py_ssize_t count):
        """Make room for k labels, and for `count` more gradients with several entries."""
        cdef Py_ssize_t rows = self.dense.shape[0], lanes = self.total.shape[0]
        cdef double[:, ::1] dense
        cdef int32_t[::1] free
        cdef double[::1] total
        if k <= lanes and self.n_dense + count <= rows:
            return
        rows = rows if self.n_dense + count <= rows else max(self.n_dense + count, 2 * rows)
        lanes = lanes if k <= lanes else max(k, 2 * lanes)
        dense, free, total = np.zeros((rows, lanes)), np.zeros(rows, dtype=np.int32), np.zeros(lanes)
        dense[: self.n_dense, : self.total.shape[0]] = self.dense[: self.n_dense]
        free[: self.n_free] = self.free[: self.n_free]
        total[: self.total.shape[0]] = self.total
        with cython.critical_section(self):
            self.dense, self.free, self.total = dense, free, total

    def add_rows(self, Py_ssize_t n):
        """Make room for n nodes."""
        if n > self.n:
            stored, diagonals = enlarged(self._stored, n), enlarged(np.asarray(self.diagonals), n)
            with cython.critical_section(self):
                self.stored, self._stored, self.diagonals = stored, stored, diagonals

    def measure(self, double unit, double trace, double constant):
        """Follow M where its entries become multiples of another unit; take its trace and constant."""
        cdef double factor = unit / self.unit
        self.energy *= factor
        self.single_energy *= factor
        self.used_trace *= factor
        self.unit, self.trace, self.constant = unit, trace, constant

    def follow(self, Scaling scaling, const Change[::1] changes, int64_t position):
        """Give what is stored of nodes whose degree has changed the s that they have now."""
        cdef Py_ssize_t i
        with nogil:
            for i in range(changes.shape[0]):
                rescale_gradient(self, changes[i].u, s_at(scaling, changes[i].u_after))
                rescale_gradient(self, changes[i].v, s_at(scaling, changes[i].v_after))
            self.position = position

    def rescale(self, Scaling scaling, int64_t position):
        """Give what is stored of all nodes the s that they have now."""
        cdef node_t u
        with nogil:
            for u in range(<node_t> self.stored.shape[0]):
                rescale_gradient(self, u, s_of(scaling, u))
            self.position = position

    def has(self, node_t u):
        """Whether a gradient of node u is stored."""
        return self.stored[u].s != 0.0

    def read(self, node_t u, Py_ssize_t k):
        """What is stored of node u: s times its gradient, over k labels."""
        found = np.zeros(k)
        if self.stored[u].dense:
            found[:] = self.dense[self.stored[u].dense, :k]
        elif k > 0:
            found[self.stored[u].label] = -self.stored[u].s
        return found

    def scale(self, node_t u):
        """The factor s of what is stored of node u; 0 where nothing is."""
        return self.stored[u].s

    def diagonal(self, node_t u):
        """The entry of M's diagonal that node u was learned with; 0 where nothing is stored of it."""
        return self.diagonals[u] * self.unit

    def sums(self, Py_ssize_t k):
        """The sum of all gradients, over k labels."""
        cdef const double[::1] total
        with cython.critical_section(self):
            total = self.total
        return np.array(total[:k])

    def finish(self, double energy, double single_energy, const double[::1] diagonals):
        """Add what `store_independent` left out of the sums; the diagonal has an entry for each unfinished node."""
        cdef const node_t[::1] nodes = self.unfinished[0]
        cdef Py_ssize_t i
        for i in range(nodes.shape[0]):
            self.diagonals[nodes[i]] = diagonals[i] / self.unit
            self.used_trace += diagonals[i]
        self.energy += energy
        self.single_energy += single_energy
        self.unfinished = None

    def copy(self):
        return _made(*self.__reduce__()[1])

    def fits(self, LabelHistory history):
        """Whether gradients are stored of learned nodes only, each for the label that its node has."""
        if history.n != self.n or history.k > self.lanes:
            return False
        rows = np.flatnonzero(self._stored["s"])
        if not (history.labels_of(rows) == self._stored["label"][rows]).all():
            return False
        if self.unfinished is None:
            return True
        nodes, labels, _ = self.unfinished
        return bool((history.labels_of(nodes) == labels).all())

    def __reduce__(self):
        cdef const double[::1] diagonals, total
        cdef const double[:, ::1] dense
        cdef const int32_t[::1] free
        with cython.critical_section(self):
            stored, diagonals, dense, free, total = self._stored, self.diagonals, self.dense, self.free, self.total
        arrays = (*(stored[name].copy() for name in STORED_GRADIENT.names), *map(np.array, (diagonals, dense, free, total)))
        sums = (self.energy, self.single_energy, self.used_trace)
        settings = (self.trace, self.trace_per_label, self.constant, self.unit, self.position)
        return restored, (arrays, (self.n_dense, self.n_free), sums, settings, self.unfinished)


def restored(arrays, sizes, sums, settings, unfinished):
    """What a pickle or a snapshot holds, checked."""
    scales, labels, rows, diagonals, dense, free, total = arrays
    (n,), (room, lanes) = shape_of(scales, "gradients", 1), shape_of(dense, "gradients", 2)
    n_dense = restored_count(sizes[0], "gradients", 1, room)
    n_free = restored_count(sizes[1], "gradients", 0, n_dense - 1)
    scales = restored_array(scales, "gradients", np.float64, (n,), 0.0, LARGEST_S)
    labels = restored_array(labels, "gradients", np.int32, (n,), 0, lanes - 1)
    rows = restored_array(rows, "gradients", np.int32, (n,), 0, n_dense - 1)
    diagonals = restored_array(diagonals, "gradients", np.float64, (n,))
    dense = restored_array(dense, "gradients", np.float64, (room, lanes), -LARGEST_S, LARGEST_S)
    free = restored_array(free, "gradients", np.int32, (room,), 0, room - 1)
    total = restored_array(total, "gradients", np.float64, (lanes,), -n - 1.0, n + 1.0)  # entries are at most 1
    # Each row of `dense` belongs to one node, or is free once: the list of free rows has room for no more.
    taken = np.concatenate((rows[rows > 0], free[:n_free]))
    check_restored(np.array_equal(np.sort(taken), np.arange(1, n_dense)), "gradients")
    check_restored(not rows[scales == 0.0].any(), "gradients")
    sums = tuple(restored_number(value, "gradients") for value in sums)
    trace, trace_per_label, constant, unit, position = settings
    settings = (
        restored_number(trace, "gradients"), bool(trace_per_label), restored_number(constant, "gradients"),
        restored_number(unit, "gradients"), restored_count(position, "gradients"),
    )
    check_restored(unit > 0.0, "gradients")
    if unfinished is not None:
        nodes, values, s = unfinished
        (count,) = shape_of(nodes, "gradients", 1)
        unfinished = (
            restored_array(nodes, "gradients", np.int32, (count,), 0, n - 1),
            restored_array(values, "gradients", np.int32, (count,), 0, lanes - 1),
            restored_array(s, "gradients", np.float64, (count,), 0.0, LARGEST_S),
        )
    return _made((scales, labels, rows, diagonals, dense, free, total), (n_dense, n_free), sums, settings, unfinished)


def _made(arrays, sizes, sums, settings, unfinished):
    """The store that has these arrays and numbers, which nobody else has."""
    scales, labels, rows, diagonals, dense, free, total = arrays
    stored = np.zeros(len(scales), dtype=STORED_GRADIENT)
    stored["s"], stored["label"], stored["dense"] = scales, labels, rows
    cdef GradientStore store = GradientStore(1, *settings)
    store.stored = store._stored = stored
    store.diagonals, store.dense, store.free, store.total = diagonals, dense, free, total
    store.n_dense, store.n_free = sizes
    store.energy, store.single_energy, store.used_trace = sums
    store.unfinished = unfinished
    return store


cdef int falling(const void* left, const void* right) noexcept nogil:
    cdef double a = (<const double*> left)[0], b = (<const double*> right)[0]
    return (a < b) - (a > b)


cdef Py_ssize_t water_level(ScoreBuffers buffers, Py_ssize_t k, double* level) noexcept nogil:
    """Find the level with sum(max(psi - level, 0)) == 1; return how many labels rise above it.

    If the m largest rise above it, level = (their sum - 1) / m. Mostly that is all of them, which takes no sorting.
    """
    cdef Py_ssize_t j, m
    cdef double total = 0.0, least = buffers.psi[0]
    for j in range(k):
        total += buffers.psi[j]
        least = min(least, buffers.psi[j])
    level[0] = (total - 1.0) / k
    if least > level[0] or isnan(total):  # what is no number cannot be sorted
        return k
    for j in range(k):
        buffers.sorted[j] = buffers.psi[j]
    qsort(&buffers.sorted[0], k, sizeof(double), falling)
    total = 0.0
    m = 0
    while m < k and (m == 0 or buffers.sorted[m] > level[0]):
        total += buffers.sorted[m]
        m += 1
        level[0] = (total - 1.0) / m
    return m


cdef Py_ssize_t first_of_largest(ScoreBuffers buffers, Py_ssize_t k, Py_ssize_t y) noexcept nogil:
    """The largest entry of psi apart from y; of those that differ by rounding only, the first."""
    cdef double largest = -INFINITY, size = 0.0
    cdef Py_ssize_t j
    for j in range(k):
        size = max(size, fabs(buffers.psi[j]))
        if j != y:
            largest = max(largest, buffers.psi[j])
    for j in range(k):
        if j != y and buffers.psi[j] >= largest - TIE_TOLERANCE * size:
            return j
    return y


cdef Py_ssize_t surrogate(ScoreBuffers buffers, Py_ssize_t k, Py_ssize_t y, double* loss) noexcept nogil:
    """The surrogate loss of label y at psi, and its gradient; return how many labels are in the support."""
    cdef double level, step
    cdef Py_ssize_t j, rival
    cdef Py_ssize_t m = water_level(buffers, k, &level)
    if buffers.psi[y] > level:
        for j in range(k):
            buffers.gradient[j] = 1.0 / m if buffers.psi[j] > level else 0.0
        buffers.gradient[y] -= 1.0
        loss[0] = 1.0 - (buffers.psi[y] - level)
        return m
    for j in range(k):
        buffers.gradient[j] = 0.0
    rival = first_of_largest(buffers, k, y)
    step = m / (m + 1.0)
    buffers.gradient[rival] = step
    buffers.gradient[y] = -step
    loss[0] = (1.0 + buffers.psi[rival] - buffers.psi[y]) * step
    return m


cdef void to_psi(GradientStore store, ScoreBuffers buffers, Py_ssize_t k, double diagonal) noexcept nogil:
    """psi = -v / sqrt(A + k T), shifted so that the largest is 0.

    The trace that is left is at least 0: if `trace` is an estimate, it may be used up before all nodes are learned.
    """
    cdef double trace = max(store.trace * (k if store.trace_per_label else 1) - store.used_trace, 0.0)
    cdef double scale = max(store.energy - store.single_energy / k + k * trace, diagonal)
    cdef double factor = 1.0 / sqrt(scale) if scale > 0.0 else 0.0
    cdef double least = buffers.scores[0]
    cdef Py_ssize_t j
    for j in range(k):
        least = min(least, buffers.scores[j])
    for j in range(k):
        buffers.psi[j] = factor * (least - buffers.scores[j])


cdef Py_ssize_t drawn_label(ScoreBuffers buffers, Py_ssize_t k, double draw) noexcept nogil:
    """The first label at which the running sum of the probabilities exceeds `draw`."""
    cdef double level, below = 0.0
    cdef Py_ssize_t j, last = 0
    water_level(buffers, k, &level)
    for j in range(k):
        if buffers.psi[j] > level:
            below += buffers.psi[j] - level
            last = j
            if draw < below:
                break
    return last


cdef Py_ssize_t predicted_label(
    GradientStore store, LabelHistory history, ScoreBuffers buffers, const Evidence* evidence, double draw,
) noexcept nogil:
    """The best label, or the one that `draw` picks unless that is negative; -1 while no label is known."""
    if history.k == 0:
        return -1
    if draw < 0.0:
        return best_label(buffers.scores, history.k, evidence.magnitude, history.counts, history.first_seen)
    to_psi(store, buffers, history.k, evidence.diagonal)
    return drawn_label(buffers, history.k, draw)


cdef void store_independent(
    GradientStore store, LabelHistory history, const node_t[::1] nodes, const int32_t[::1] labels,
    const double[::1] s,
) noexcept nogil:
    """Store -e_y for each of these new nodes, and record their labels. There must be room for the labels.

    `energy`, `single_energy` and `used_trace` do not change: see `GradientStore.finish`.
    """
    cdef Py_ssize_t i
    for i in range(nodes.shape[0]):
        store.stored[nodes[i]] = StoredGradient(s[i], labels[i], 0)
        store.total[labels[i]] -= 1.0
        record_label(history, nodes[i], labels[i])


cdef double rescale_gradient(GradientStore store, node_t u, double s) noexcept nogil:
    """Give what is stored of node u, if anything, another s; return by how much it grew, as a fraction of what it was."""
    cdef double factor = s / store.stored[u].s if store.stored[u].s != 0.0 else 1.0
    cdef Py_ssize_t j
    if factor != 1.0:
        store.stored[u].s = s
        if store.stored[u].dense:
            for j in range(store.dense.shape[1]):
                store.dense[store.stored[u].dense, j] *= factor
    return factor - 1.0


cdef void remove_gradient(
    GradientStore store, ScoreBuffers buffers, Py_ssize_t k, node_t u, double diagonal,
) noexcept nogil:
    """Take the gradient of node u out of the sums and of the scores; `change` is then minus what was stored.

    A node's own gradient adds diagonal times the gradient to its scores. The sums were given the entry of the diagonal
    that the node was learned with, which may be a coarser estimate.
    """
    cdef StoredGradient old = store.stored[u]
    cdef double known = store.diagonals[u] * store.unit
    cdef double gradient, along = 0.0, squared = 0.0, total = 0.0
    cdef Py_ssize_t j
    for j in range(k):
        buffers.change[j] = 0.0
    buffers.old_size = 0.0
    if old.s == 0.0:
        return
    if old.dense:
        for j in range(k):
            buffers.change[j] = -store.dense[old.dense, j]
    else:
        buffers.change[old.label] = old.s
    for j in range(k):
        gradient = -buffers.change[j] / old.s
        buffers.old_size = max(buffers.old_size, fabs(buffers.change[j]))
        buffers.scores[j] -= diagonal * gradient
        store.total[j] -= gradient
        along += gradient * buffers.scores[j]
        squared += gradient * gradient
        total += buffers.scores[j]
    store.energy -= known * squared + 2.0 * along
    store.used_trace -= known
    store.diagonals[u] = 0.0
    if old.dense:
        store.free[store.n_free] = old.dense
        store.n_free += 1
    else:
        store.single_energy -= known - 2.0 * total
    store.stored[u] = StoredGradient(0.0, 0, 0)


cdef void store_gradient(
    GradientStore store, ScoreBuffers buffers, Py_ssize_t k, node_t u, Py_ssize_t y, GradientKind kind, double s,
    double diagonal,
) noexcept nogil:
    """Store the gradient of label y at node u, of which nothing is stored, and add it to `change` and to the sums.

    There must be room for k labels, and for one more dense gradient.
    """
    cdef double along = 0.0, squared = 0.0, total = 0.0
    cdef Py_ssize_t j
    cdef int32_t dense
    buffers.new_size = 0.0
    if kind == NO_GRADIENT:
        return
    store.used_trace += diagonal
    store.diagonals[u] = diagonal / store.unit
    if kind == ONE_ENTRY:
        for j in range(k):
            total += buffers.scores[j]
        store.energy += diagonal - 2.0 * buffers.scores[y]
        store.single_energy += diagonal - 2.0 * total
        store.total[y] -= 1.0
        store.stored[u] = StoredGradient(s, <int32_t> y, 0)
        buffers.change[y] -= s
        buffers.new_size = s
        return
    if store.n_free > 0:
        store.n_free -= 1
        dense = store.free[store.n_free]
    else:
        dense = <int32_t> store.n_dense
        store.n_dense += 1
    for j in range(k):
        along += buffers.gradient[j] * buffers.scores[j]
        squared += buffers.gradient[j] * buffers.gradient[j]
        store.total[j] += buffers.gradient[j]
        store.dense[dense, j] = buffers.gradient[j] * s
        buffers.change[j] += store.dense[dense, j]
        buffers.new_size = max(buffers.new_size, fabs(store.dense[dense, j]))
    store.energy += diagonal * squared + 2.0 * along
    store.stored[u] = StoredGradient(s, <int32_t> y, dense)


cdef void forget_gradient(
    GradientStore store, LabelHistory history, ScoreBuffers buffers, node_t u, double diagonal,
) noexcept nogil:
    """Take the gradient and the label of node u out again. The change of what is stored is left in `change`."""
    remove_gradient(store, buffers, history.k, u, diagonal)
    drop_label(history, u)
    buffers.new_size = 0.0


cdef class RelaxationEngine(Engine):
    """Learns by gradients: of the surrogate loss, unless a subclass finds others.

    Subclasses compute scores, and take in what is stored of a node.
    """

    def __init__(self, LabelHistory history, GradientStore gradients):
        super().__init__(history)
        self.gradients = gradients
        self.buffers = ScoreBuffers(gradients.lanes)
        self.evidence = Evidence(0.0, 0.0, 0.0)
        self.independent = False

    def take(
        self, const double[::1] scores, *, double s, double diagonal, double magnitude=0.0, bint independent=False,
    ):
        """Take the scores of a node that were read before, in place of `read`."""
        cdef Py_ssize_t j
        self.evidence = Evidence(s, diagonal, magnitude)
        self.independent = independent
        for j in range(scores.shape[0]):
            self.buffers.scores[j] = scores[j]

    cdef Py_ssize_t predict(self, double draw) noexcept nogil:
        return predicted_label(self.gradients, self.history, self.buffers, &self.evidence, draw)

    cdef void learn(self, node_t u, Py_ssize_t y) noexcept nogil:
        cdef Py_ssize_t k = max(self.history.k, y + 1)
        # A node that is learned again keeps its entry of the diagonal in the sums.
        cdef double entry = self.evidence.diagonal
        cdef GradientKind kind
        if self.gradients.stored[u].s != 0.0:
            entry = self.gradients.diagonals[u] * self.gradients.unit
        remove_gradient(self.gradients, self.buffers, k, u, self.evidence.diagonal)
        kind = self.find_gradient(k, y)
        record_label(self.history, u, y)
        store_gradient(self.gradients, self.buffers, k, u, y, kind, self.evidence.s, entry)
        self.add(u, k)

    cdef GradientKind find_gradient(self, Py_ssize_t k, Py_ssize_t y) noexcept nogil:
        """What to store of the node read, of which nothing is stored, for label y of k; the label is not recorded yet.

        `independent` ignores the scores: it takes the gradient at psi = 0, where no label is preferred.
        """
        cdef double loss
        cdef Py_ssize_t j
        to_psi(self.gradients, self.buffers, k, self.evidence.diagonal)
        if self.independent:
            for j in range(k):
                self.buffers.psi[j] = 0.0
        # Adding a constant to all labels' scores changes nothing. So -e_y can replace 1 / k - e_y. It also stays right
        # when new labels join.
        return ONE_ENTRY if surrogate(self.buffers, k, y, &loss) == k else SEVERAL_ENTRIES

    cdef void forget(self, node_t u) noexcept nogil:
        forget_gradient(self.gradients, self.history, self.buffers, u, self.evidence.diagonal)
        self.add(u, self.history.k)

    cdef void add(self, node_t u, Py_ssize_t k) noexcept nogil:
        """Take it in that what is stored of node u has changed by `buffers.change`."""
        pass


def water_filling(const double[::1] psi):
    """max(psi - level, 0), which sums to 1."""
    cdef ScoreBuffers buffers = ScoreBuffers(psi.shape[0])
    cdef double level
    buffers.psi[:] = psi
    water_level(buffers, psi.shape[0], &level)
    return np.maximum(np.asarray(psi) - level, 0.0)


def surrogate_of(const double[::1] psi, Py_ssize_t y):
    """The surrogate loss of label y, and its gradient."""
    cdef ScoreBuffers buffers = ScoreBuffers(psi.shape[0])
    cdef double loss
    buffers.psi[:] = psi
    surrogate(buffers, psi.shape[0], y, &loss)
    return loss, np.array(buffers.gradient)


def psi_of(GradientStore store, const double[::1] scores, double diagonal):
    """psi = -v / sqrt(A + k T)."""
    cdef ScoreBuffers buffers = ScoreBuffers(scores.shape[0])
    buffers.scores[:] = scores
    to_psi(store, buffers, scores.shape[0], diagonal)
    return np.array(buffers.psi)


def drawn(const double[::1] psi, double draw):
    """The label that `draw`, between 0 and 1, picks from the distribution of psi."""
    cdef ScoreBuffers buffers = ScoreBuffers(psi.shape[0])
    buffers.psi[:] = psi
    return drawn_label(buffers, psi.shape[0], draw)


def best(LabelHistory history, const double[::1] scores, double magnitude):
    """The label of the least score, ties broken by the history. A label that has just joined may have no score yet."""
    with cython.critical_section(history):
        return best_label(scores, min(scores.shape[0], history.k), magnitude, history.counts, history.first_seen)


def best_of_each(LabelHistory history, const double[:, ::1] scores):
    """The label of the least score in each row, as `best` finds it; -1 where there is none."""
    found = np.empty(scores.shape[0], dtype=np.int32)
    cdef int32_t[::1] found_out = found
    cdef const int64_t[::1] counts, first_seen
    cdef Py_ssize_t i, j, k
    cdef double magnitude
    with cython.critical_section(history):  # another thread may replace these arrays by larger ones
        k, counts, first_seen = min(scores.shape[1], history.k), history.counts, history.first_seen
    with nogil:
        for i in range(scores.shape[0]):
            magnitude = 0.0
            for j in range(k):
                magnitude = max(magnitude, fabs(scores[i, j]))
            found_out[i] = <int32_t> best_label(scores[i], k, magnitude, counts, first_seen) if k > 0 else -1
    return found


def probabilities_of_each(GradientStore store, const double[:, ::1] scores, const double[::1] diagonals):
    """The distribution over labels in each row, as `water_filling` of `psi_of` gives it."""
    probabilities = np.zeros((scores.shape[0], scores.shape[1]))
    cdef double[:, ::1] out = probabilities
    cdef Py_ssize_t i, j, k = scores.shape[1]
    cdef ScoreBuffers buffers = ScoreBuffers(k)
    cdef double level
    if k == 0:
        return probabilities
    with nogil:
        for i in range(scores.shape[0]):
            for j in range(k):
                buffers.scores[j] = scores[i, j]
            to_psi(store, buffers, k, diagonals[i])
            water_level(buffers, k, &level)
            for j in range(k):
                out[i, j] = max(buffers.psi[j] - level, 0.0)
    return probabilities


def column_scores(GradientStore store, const node_t[::1] nodes, const double[::1] values, Py_ssize_t k):
    """The sum of values[i] times what is stored of nodes[i], over all i; and the sum of their magnitudes."""
    scores = np.zeros(k)
    cdef double[::1] scores_out = scores
    cdef const StoredGradient[::1] stored
    cdef const double[:, ::1] dense
    cdef Py_ssize_t i
    cdef double magnitude = 0.0
    with cython.critical_section(store):  # another thread may replace these arrays by larger ones
        stored, dense = store.stored, store.dense
    with nogil:
        for i in range(nodes.shape[0]):
            magnitude += add_gradient(scores_out, stored, dense, k, nodes[i], values[i])
    return scores, magnitude
