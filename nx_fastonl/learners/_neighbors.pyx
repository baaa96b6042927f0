"""NeighborCounts: which labels were learned around each node, beside which other labels, and at which degrees."""

cimport cython
from libc.math cimport INFINITY, exp2, fabs, log2
from libc.stdint cimport int32_t, int64_t

import numpy as np

from nx_fastonl._lib.arrays import (
    check_restored, enlarged, restored_array, restored_count, restored_number, shape_of,
)

from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.graph._dynamic cimport Change
from nx_fastonl.graph._arrows cimport IN, OUT, in_weight, out_weight
from nx_fastonl.graph._view cimport GraphView
from nx_fastonl.learners._history cimport LabelHistory, record_label

cdef enum:
    MIN_LANES = 2
    N_CELLS = 64  # of degrees: half an octave each
cdef Py_ssize_t MIN_SLOTS = 4096
# Stamps grow up to 2 to this power before all counts are divided by them.
cdef double LARGEST_EXPONENT = 300.0
# What was added and taken away again leaves rounding errors, of less than this beside what a node counts that arrives now.
cdef double LARGEST_ROUNDING = 1e-3


@cython.final
cdef class NeighborCounts:
    """Counts of learned labels. They depend on which nodes have which label, and not on the order of learning.

    Learning a node adds to counts at its neighbours, and forgetting it takes the same away again. Memory follows the
    nodes that have a learned neighbour.

    Parameters
    ----------
    n : int
        The number of nodes.
    unit : float
        The mean weight of an edge, or of an arc.
    half_life : float
        After this many arrivals a node counts half as much as a new one; infinite if nothing fades.
    edge_unit : float, optional
        The mean weight of an edge of W + W^T, where arcs are counted: those out and those in apart.
    """

    def __init__(self, Py_ssize_t n, double unit, double half_life=INFINITY, edge_unit=None):
        cdef Py_ssize_t sides = 1 if edge_unit is None else 2, views = 1 if edge_unit is None else 3
        self.unit, self.half_life, self.base = unit, half_life, 0
        self.scale = 1.0 if edge_unit is None else unit / edge_unit
        self.labels, self.n_labels = np.zeros(MIN_LANES), 0.0
        self.pairs, self.pair_sums = np.zeros((views, MIN_LANES, MIN_LANES)), np.zeros((views, MIN_LANES))
        self.cells = np.zeros((views, N_CELLS, MIN_LANES))
        self.learned_neighbors = self._learned_neighbors = np.zeros((n, views), dtype=np.int32)
        self.learned_weight = self._learned_weight = np.zeros((n, sides))
        self.slots = self._slots = np.zeros((n, sides, 1), dtype=np.int32)
        self.node_cells = self._node_cells = np.zeros((n, views), dtype=np.int8)
        self.counts = np.zeros((MIN_SLOTS, MIN_LANES))
        self.n_slots = 1
        self.position = 0

    @property
    def n(self):
        """The number of nodes."""
        return self.slots.shape[0]

    def frequencies(self, Py_ssize_t k, int64_t arrival):
        """The frequencies of k labels now, each counted once more than it was learned."""
        one = stamp_of(self, arrival)
        return (np.maximum(self.labels[:k], 0.0) + one) / (max(self.n_labels, 0.0) + k * one)

    @property
    def lanes(self):
        """The number of labels that there is room for."""
        return self.labels.shape[0]

    @property
    def views(self):
        """1, or 3 where arcs are counted: edges, arcs out and arcs in."""
        return self.pairs.shape[0]

    def pair_counts(self, Py_ssize_t k, int64_t arrival):
        """How many edges join two of k labels now, by weight: those within a label count twice, once for each end.

        Where arcs are counted: how many there are from each label to each.
        """
        table = np.asarray(self.pairs[IN_ARCS if self.views > 1 else ALL_EDGES])
        return np.maximum(table[:k, :k], 0.0) / stamp_of(self, arrival)

    def reserve_labels(self, Py_ssize_t k):
        """Make room for k labels: widen the first block, then add blocks, half as many as there are or more.

        So labels that join one by one are not copied each time.
        """
        cdef Py_ssize_t width = self.counts.shape[1], blocks = self.slots.shape[2], views = self.views
        if k <= self.lanes:
            return
        while k > width and width < LANES:
            width *= 2
        if k > blocks * width:
            blocks = max(blocks + blocks // 2, (k + width - 1) // width)
        lanes = blocks * width
        labels, pair_sums = enlarged(np.asarray(self.labels), lanes), enlarged(np.asarray(self.pair_sums), views, lanes)
        pairs = enlarged(np.asarray(self.pairs), views, lanes, lanes)
        cells = enlarged(np.asarray(self.cells), views, N_CELLS, lanes)
        counts, slots = np.asarray(self.counts), self._slots
        if width > counts.shape[1]:
            counts = enlarged(counts, len(counts), width, used=self.n_slots)
        if blocks > slots.shape[2]:
            slots = enlarged(slots, *slots.shape[:2], blocks)
        self.labels, self.pair_sums, self.pairs, self.cells = labels, pair_sums, pairs, cells
        self.counts, self.slots, self._slots = counts, slots, slots

    def reserve_slots(self, Py_ssize_t more):
        """Make sure that at least this many slots are free."""
        cdef Py_ssize_t room = self.counts.shape[0], most = self._slots.size + 1
        if self.n_slots + more > room:
            size = max(self.n_slots + more, min(2 * room, most))
            self.counts = enlarged(np.asarray(self.counts), size, self.counts.shape[1], used=self.n_slots)

    def add_rows(self, Py_ssize_t n):
        """Make room for n nodes."""
        if n <= self.n:
            return
        neighbors, weight = (enlarged(a, n, a.shape[1]) for a in (self._learned_neighbors, self._learned_weight))
        slots = enlarged(self._slots, n, *self._slots.shape[1:])
        node_cells = enlarged(self._node_cells, n, self.views)
        self.learned_neighbors, self.learned_weight, self.slots, self.node_cells = neighbors, weight, slots, node_cells
        self._learned_neighbors, self._learned_weight, self._slots, self._node_cells = neighbors, weight, slots, node_cells

    def repair(self, GraphView graph, LabelHistory history, const Change[::1] changes, int64_t position):
        """Count edges that have come, and no longer those that have gone. The graph is that of now."""
        cdef Py_ssize_t i
        self.reserve_slots(min(2 * self.slots.shape[1] * changes.shape[0], self._slots.size))
        with nogil:
            for i in range(changes.shape[0]):
                if changes[i].u != changes[i].v:
                    recount_edge(self, history, changes[i])
                move_cell(self, graph, history, changes[i].u)
                move_cell(self, graph, history, changes[i].v)
            self.position = position

    def recount(self, GraphView graph, LabelHistory history, int64_t position):
        """Count all learned nodes anew. If this raises, call it again."""
        cdef LabelHistory counted = LabelHistory(history.n)
        nodes, numbers = history.learned()
        cdef node_t[::1] rows = nodes.astype(np.int32)
        cdef int32_t[::1] labels = numbers.astype(np.int32)
        cdef Py_ssize_t i
        self.position = -1
        counted.reserve(history.k)
        self.labels[:] = 0.0
        self.pair_sums[:] = 0.0
        self.pairs[:] = 0.0
        self.cells[:] = 0.0
        self.counts[:] = 0.0
        self.slots[:] = 0
        self.learned_neighbors[:] = 0
        self.learned_weight[:] = 0.0
        self.n_slots, self.n_labels = 1, 0.0
        with nogil:
            for i in range(rows.shape[0]):
                reserve_for(self, graph, rows[i])
                counted.n_arrivals = history.arrivals[rows[i]] - 1
                count(self, graph, counted, rows[i], labels[i], 1.0)
                record_label(counted, rows[i], labels[i])
            self.position = position

    def learn(self, GraphView graph, LabelHistory history, const node_t[::1] nodes, const int32_t[::1] labels):
        """Count these nodes, which were not learned before, and record their labels: all or, if this raises, none.

        They are known at once: all count as much as the last of them does.
        """
        cdef Py_ssize_t i
        cdef int64_t ends = 0, arrival = history.n_arrivals + nodes.shape[0]
        for i in range(nodes.shape[0]):
            ends += graph.stops[nodes[i]] - graph.starts[nodes[i]]
        self.reserve_slots(min(ends * self.slots.shape[1], self._slots.size))
        with nogil:
            rebase(self, arrival)
            for i in range(nodes.shape[0]):
                record_label(history, nodes[i], labels[i])
                history.arrivals[nodes[i]] = arrival
                count(self, graph, history, nodes[i], labels[i], 1.0)

    @property
    def size(self):
        """How many numbers a copy has, roughly."""
        return self.n_slots * self.counts.shape[1] + self.pairs.size + self._slots.size + 2 * self._learned_neighbors.size

    def copy(self):
        return _made(*self.__reduce__()[1])

    def fits(self, LabelHistory history):
        """Whether there is room for the labels of a history, and the learned nodes are those that were counted."""
        if history.n != self.n or history.k > self.lanes:
            return False
        if fabs((history.n_arrivals - self.base) / self.half_life) > LARGEST_EXPONENT + 1.0:
            return False
        rows, labels = history.learned()
        one = stamp_of(self, history.n_arrivals)
        stamps = np.exp2((history._arrivals[rows] - self.base) / self.half_life)
        expected = np.bincount(labels, stamps, minlength=self.lanes)
        off = np.append(np.asarray(self.labels) - expected, self.n_labels - expected.sum())
        return bool((np.abs(off) <= LARGEST_ROUNDING * one).all())

    def __reduce__(self):
        tables = (np.array(self.labels), np.array(self.pair_sums), np.array(self.pairs), np.array(self.cells))
        counts = np.array(self.counts[: self.n_slots])
        of_nodes = self._learned_neighbors.copy(), self._learned_weight.copy(), self._slots.copy(), self._node_cells.copy()
        rows = (*of_nodes, counts)
        sums = (self.n_labels, self.base, self.position)
        settings = (self.unit, self.half_life, self.scale)
        return restored, (tables, rows, sums, settings)


def restored(tables, rows, sums, settings):
    """What a pickle or a snapshot holds, checked."""
    labels, pair_sums, pairs, cells = tables
    learned_neighbors, learned_weight, slots, node_cells, counts = rows
    (n, sides, blocks), (n_slots, width) = shape_of(slots, "counts", 3), shape_of(counts, "counts", 2)
    check_restored(sides in (1, 2) and blocks > 0 and width in (MIN_LANES, 2 * MIN_LANES, LANES), "counts")
    lanes, views = blocks * width, 1 if sides == 1 else 3
    tables = (
        restored_array(labels, "counts", np.float64, (lanes,)),
        restored_array(pair_sums, "counts", np.float64, (views, lanes)),
        restored_array(pairs, "counts", np.float64, (views, lanes, lanes)),
        restored_array(cells, "counts", np.float64, (views, N_CELLS, lanes)),
    )
    rows = (
        restored_array(learned_neighbors, "counts", np.int32, (n, views), 0, n),
        restored_array(learned_weight, "counts", np.float64, (n, sides)),
        restored_array(slots, "counts", np.int32, (n, sides, blocks), 0, n_slots - 1),
        restored_array(node_cells, "counts", np.int8, (n, views), 0, N_CELLS - 1),
        restored_array(counts, "counts", np.float64, (n_slots, width)),
    )
    slots, counts = rows[2], rows[4]
    check_restored(np.array_equal(np.sort(slots[slots > 0]), np.arange(1, n_slots)), "counts")
    check_restored(n_slots > 0 and not counts[0].any(), "counts")
    n_labels, base, position = sums
    sums = (
        restored_number(n_labels, "counts"), restored_count(base, "counts"), restored_count(position, "counts", -1),
    )
    unit, half_life, scale = (restored_number(value, "counts", 0.0, INFINITY) for value in settings)
    check_restored(0.0 < unit < INFINITY and 0.0 < scale < INFINITY and half_life >= 1.0, "counts")
    return _made(tables, rows, sums, (unit, half_life, scale))


def _made(tables, rows, sums, settings):
    """The counts that have these arrays and numbers, which nobody else has."""
    labels, pair_sums, pairs, cells = tables
    learned_neighbors, learned_weight, slots, node_cells, counts = rows
    unit, half_life, scale = settings
    cdef NeighborCounts store = NeighborCounts(1, unit, half_life)
    store.scale = scale
    store.labels, store.pair_sums, store.pairs, store.cells = labels, pair_sums, pairs, cells
    store.counts, store.slots, store._slots = counts, slots, slots
    store.learned_neighbors = store._learned_neighbors = learned_neighbors
    store.learned_weight = store._learned_weight = learned_weight
    store.node_cells = store._node_cells = node_cells
    store.n_slots = len(counts)
    store.n_labels, store.base, store.position = sums
    return store


cdef int cell_of(GraphView graph, node_t u, int view) noexcept nogil:
    """The cell of node u: half an octave of numbers of neighbours."""
    cdef double neighbours = graph.stops[u] - graph.starts[u]
    if view == OUT_ARCS:
        neighbours = graph.arrows.out_degrees[u]
    elif view == IN_ARCS:
        neighbours = graph.arrows.in_degrees[u]
    return <int> (2.0 * log2(neighbours + 1.0))


cdef int reserve_for(NeighborCounts store, GraphView graph, node_t u) except -1 nogil:
    """Make sure that there are slots for all neighbours of node u, for a label and for one that it replaces."""
    cdef Py_ssize_t most = 2 * (graph.stops[u] - graph.starts[u]) * store.slots.shape[1]
    if store.n_slots + most > store.counts.shape[0]:
        with gil:
            store.reserve_slots(most)
    return 0


cdef double stamp_of(NeighborCounts store, int64_t arrival) noexcept nogil:
    """What a node counts that arrived then: twice as much as one that arrived a half-life before."""
    return exp2((arrival - store.base) / store.half_life) if store.half_life != INFINITY else 1.0


cdef void rebase(NeighborCounts store, int64_t arrival) noexcept nogil:
    """Divide all counts by the present stamp where it has become so large that it might overflow."""
    cdef double factor
    cdef Py_ssize_t i, j, view, side
    if store.half_life == INFINITY or (arrival - store.base) / store.half_life < LARGEST_EXPONENT:
        return
    factor = 1.0 / stamp_of(store, arrival)
    store.base = arrival
    store.n_labels *= factor
    for i in range(store.labels.shape[0]):
        store.labels[i] *= factor
        for view in range(store.pairs.shape[0]):
            store.pair_sums[view, i] *= factor
            for j in range(store.labels.shape[0]):
                store.pairs[view, i, j] *= factor
            for j in range(N_CELLS):
                store.cells[view, j, i] *= factor
    for i in range(store.learned_weight.shape[0]):
        for side in range(store.learned_weight.shape[1]):
            store.learned_weight[i, side] *= factor
    for i in range(store.n_slots):
        for j in range(store.counts.shape[1]):
            store.counts[i, j] *= factor


cdef inline double weight_of(NeighborCounts store, GraphView graph, Py_ssize_t e, Py_ssize_t side) noexcept nogil:
    """The weight of an edge, or of the arc out or in."""
    if store.slots.shape[1] == 1:
        return graph.weights[e] / store.unit if graph.weights.shape[0] > 0 else 1.0
    return (out_weight(graph.arrows, e) if side == 0 else in_weight(graph.arrows, e)) / store.unit


cdef void add_pair(NeighborCounts store, Py_ssize_t side, Py_ssize_t y, Py_ssize_t other, double weight) noexcept nogil:
    """Count an edge of a node with label y to one with another; on side 0 of two an arc out, on side 1 an arc in."""
    cdef Py_ssize_t ours = OUT_ARCS if side == 0 else IN_ARCS, theirs = IN_ARCS if side == 0 else OUT_ARCS
    add_edge(store, ALL_EDGES, y, other, store.scale * weight)
    add_edge(store, ALL_EDGES, other, y, store.scale * weight)
    if store.pairs.shape[0] > 1:
        add_edge(store, ours, y, other, weight)
        add_edge(store, theirs, other, y, weight)


cdef inline void add_edge(
    NeighborCounts store, Py_ssize_t view, Py_ssize_t y, Py_ssize_t other, double weight,
) noexcept nogil:
    store.pairs[view, other, y] += weight
    store.pair_sums[view, y] += weight


cdef void count_pairs(
    NeighborCounts store, GraphView graph, LabelHistory history, node_t u, Py_ssize_t y, double sign,
) noexcept nogil:
    """Count the edges from node u to learned neighbours, each by the smaller of both nodes' stamps."""
    cdef Py_ssize_t side, block, j, e, v, width = store.counts.shape[1]
    cdef double stamp
    if store.half_life == INFINITY or history.marks[u] == 0:  # no neighbour has a larger stamp than u
        for side in range(store.slots.shape[1]):
            for block in range(store.slots.shape[2]):
                if store.slots[u, side, block] != 0:
                    for j in range(width):
                        add_pair(
                            store, side, y, block * width + j, sign * store.counts[store.slots[u, side, block], j],
                        )
        return
    stamp = stamp_of(store, history.arrivals[u])
    for e in range(graph.starts[u], graph.stops[u]):
        v = graph.indices[e]
        if v != u and history.marks[v] != 0:
            for side in range(store.slots.shape[1]):
                add_pair(
                    store, side, y, history.marks[v] - 1,
                    sign * weight_of(store, graph, e, side) * min(stamp, stamp_of(store, history.arrivals[v])),
                )


cdef void count(
    NeighborCounts store, GraphView graph, LabelHistory history, node_t u, Py_ssize_t y, double sign,
) noexcept nogil:
    """Add what node u with label y counts, or with a sign of -1 take it away. There must be slots for its neighbours.

    A node whose label the history does not have counts as the next arrival, others as what they are. Edges are counted
    to the nodes whose labels it has.
    """
    cdef Py_ssize_t e, v
    cdef int view, n_views = <int> store.pairs.shape[0]
    # A node is counted by the degree that it has now, and no longer by the one that it was counted by.
    cdef bint is_new = history.marks[u] == 0
    cdef double amount = sign * stamp_of(store, history.n_arrivals + 1 if is_new else history.arrivals[u])
    store.labels[y] += amount
    store.n_labels += amount
    for view in range(n_views):
        if sign > 0.0:
            store.node_cells[u, view] = <signed char> cell_of(graph, u, view)
        store.cells[view, store.node_cells[u, view], y] += amount
    count_pairs(store, graph, history, u, y, sign)
    for e in range(graph.starts[u], graph.stops[u]):
        v = graph.indices[e]
        if v == u:
            continue
        store.learned_neighbors[v, ALL_EDGES] += <int32_t> sign
        if n_views == 1:
            add_neighbor(store, v, 0, ALL_EDGES, y, amount * weight_of(store, graph, e, 0))
            continue
        if graph.arrows.codes[e] & IN:  # v points to u
            store.learned_neighbors[v, OUT_ARCS] += <int32_t> sign
            add_neighbor(store, v, 0, OUT_ARCS, y, amount * weight_of(store, graph, e, 1))
        if graph.arrows.codes[e] & OUT:
            store.learned_neighbors[v, IN_ARCS] += <int32_t> sign
            add_neighbor(store, v, 1, IN_ARCS, y, amount * weight_of(store, graph, e, 0))


cdef void recount_edge(NeighborCounts store, LabelHistory history, Change change) noexcept nogil:
    """Count a change of the edge from u to v: its weight at each end for the label of the other, and their pair.

    There must be slots for both nodes.
    """
    cdef node_t u = change.u, v = change.v
    cdef double more = (change.after - change.before) / store.unit
    cdef int32_t arcs = (change.after > 0.0) - (change.before > 0.0)
    cdef bint one_view = store.pairs.shape[0] == 1
    cdef int out = ALL_EDGES if one_view else OUT_ARCS, back = ALL_EDGES if one_view else IN_ARCS
    cdef double u_stamp = stamp_of(store, history.arrivals[u]), v_stamp = stamp_of(store, history.arrivals[v])
    if history.marks[u] != 0:
        store.learned_neighbors[v, ALL_EDGES] += change.more
        if not one_view:
            store.learned_neighbors[v, IN_ARCS] += arcs
        add_neighbor(store, v, 0 if one_view else 1, back, history.marks[u] - 1, u_stamp * more)
    if history.marks[v] != 0:
        store.learned_neighbors[u, ALL_EDGES] += change.more
        if not one_view:
            store.learned_neighbors[u, OUT_ARCS] += arcs
        add_neighbor(store, u, 0, out, history.marks[v] - 1, v_stamp * more)
    if history.marks[u] != 0 and history.marks[v] != 0:
        add_pair(store, 0, history.marks[u] - 1, history.marks[v] - 1, more * min(u_stamp, v_stamp))


cdef void move_cell(NeighborCounts store, GraphView graph, LabelHistory history, node_t u) noexcept nogil:
    """Count a learned node by the degree that it has now."""
    cdef int view, cell
    cdef double amount
    if history.marks[u] == 0:
        return
    amount = stamp_of(store, history.arrivals[u])
    for view in range(<int> store.pairs.shape[0]):
        cell = cell_of(graph, u, view)
        if cell != store.node_cells[u, view]:
            store.cells[view, store.node_cells[u, view], history.marks[u] - 1] -= amount
            store.cells[view, cell, history.marks[u] - 1] += amount
            store.node_cells[u, view] = <signed char> cell


cdef inline void add_neighbor(
    NeighborCounts store, Py_ssize_t v, Py_ssize_t side, Py_ssize_t view, Py_ssize_t y, double weight,
) noexcept nogil:
    """Count a neighbour of node v with label y, on one side; or take it away with a negative weight."""
    cdef Py_ssize_t block = y // store.counts.shape[1]
    cdef int32_t slot = store.slots[v, side, block]
    if slot == 0:
        slot = <int32_t> store.n_slots
        store.slots[v, side, block] = slot
        store.n_slots += 1
    store.counts[slot, y % store.counts.shape[1]] += weight
    store.learned_weight[v, side] += weight
    if store.learned_neighbors[v, view] == 0:
        clear_counts(store, v, side)  # what is left is rounding errors


cdef void clear_counts(NeighborCounts store, Py_ssize_t u, Py_ssize_t side) noexcept nogil:
    cdef Py_ssize_t block, j
    store.learned_weight[u, side] = 0.0
    for block in range(store.slots.shape[2]):
        if store.slots[u, side, block] != 0:
            for j in range(store.counts.shape[1]):
                store.counts[store.slots[u, side, block], j] = 0.0


cdef void read_counts(NeighborCounts store, node_t u, Py_ssize_t k, int view, double[::1] row) noexcept nogil:
    """Write the weight of the edges of node u to learned neighbours, by label, up to a factor.

    `row` has room for all lanes.
    """
    cdef Py_ssize_t block, j, width = store.counts.shape[1]
    cdef int32_t first, second
    for block in range((k + width - 1) // width):
        first = store.slots[u, 1 if view == IN_ARCS else 0, block]
        second = store.slots[u, 1, block] if view == ALL_EDGES and store.slots.shape[1] > 1 else 0
        for j in range(width):
            row[block * width + j] = store.counts[first, j] + store.counts[second, j]
