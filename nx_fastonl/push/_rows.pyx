"""Rows of a sparse matrix, each from one push: many of them without a step of Python between."""

cimport cython
from libc.float cimport DBL_EPSILON
from libc.math cimport INFINITY, fabs
from libc.stdint cimport INT64_MAX, int64_t
from libc.string cimport memset

import numpy as np

from nx_fastonl._lib.signals cimport is_poll_due, poll_or_cancel
from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.push._filter cimport NodeFilter, is_allowed
from nx_fastonl.push._push cimport PushPlan, PushState, new_push, push_once, push_to_target
from nx_fastonl.push._system cimport SystemView, pivot_of
from nx_fastonl.push._workspace cimport Workspace, clear

_ALL = NodeFilter()

# As in pagerank.py.
cdef double NEIGHBOUR_ROUNDING = 0.5 * DBL_EPSILON
# Rows with fewer columns are sorted by insertion. In longer ones, this many bits are sorted at a time.
cdef Py_ssize_t SHORT_ROW = 48
cdef enum:
    FEW_NEIGHBOURS = 8
    BITS = 8
    BUCKETS = 1 << BITS
    NODE_BITS = 8 * sizeof(node_t)


@cython.final
cdef class RowBlock:
    """Rows that are packed one after another: their columns in ascending order, their values, and an error for each.

    There is room for `n_rows` rows. Room for values grows as it is needed.
    """

    def __init__(self, Py_ssize_t n_rows, Py_ssize_t n_values):
        self.offsets = np.zeros(n_rows + 1, dtype=np.int64)
        self.columns = np.empty(n_values, dtype=np.int32)
        self.values = np.empty(n_values)
        self.errors = np.zeros(n_rows)
        self.n_rows = 0

    cdef int check_room(self, Py_ssize_t n_rows) except -1:
        if n_rows > self.errors.shape[0] - self.n_rows:
            raise ValueError(f"the block has room for {self.errors.shape[0]} rows, not {self.n_rows + n_rows}")
        return 0

    def reserve(self, Py_ssize_t n_values):
        """Make room for this many more values."""
        cdef Py_ssize_t used = self.offsets[self.n_rows], size = used + max(n_values, used)
        columns, values = np.empty(size, dtype=np.int32), np.empty(size)
        columns[:used] = self.columns[:used]
        values[:used] = self.values[:used]
        self.columns, self.values = columns, values

    def add(self, columns, values, double error):
        """Add a row, whose columns ascend."""
        cdef Py_ssize_t start = self.offsets[self.n_rows], stop = start + len(columns)
        self.check_room(1)
        if stop > self.columns.shape[0]:
            self.reserve(len(columns))
        np.asarray(self.columns)[start:stop] = columns
        np.asarray(self.values)[start:stop] = values
        self.errors[self.n_rows] = error
        self.n_rows += 1
        self.offsets[self.n_rows] = stop

    def arrays(self):
        """The offsets, columns, values and errors of the rows so far."""
        cdef Py_ssize_t used = self.offsets[self.n_rows]
        return (
            np.asarray(self.offsets)[: self.n_rows + 1],
            np.asarray(self.columns)[:used],
            np.asarray(self.values)[:used],
            np.asarray(self.errors)[: self.n_rows],
        )


@cython.final
cdef class RowPlan:
    """How each row is pushed, and which of its values are kept.

    A node is pushed while its residual is at least `epsilon` per neighbour, and further until the residual mass is at
    most `target`, where that is not 0; but only until `max_operations` edges were walked. A row has at most `top_k`
    values: the largest of nodes that are `allowed` and, of equal ones, those whose columns come first. Setting
    ``cancelled[0]`` from another thread ends all with KeyboardInterrupt.
    """

    def __init__(
        self, double epsilon, double first_epsilon_factor, double omega, const unsigned char[::1] cancelled, *,
        double target=0.0, int64_t max_operations=INT64_MAX, top_k=None, NodeFilter allowed=_ALL,
    ):
        self.epsilon, self.first_epsilon_factor, self.omega = epsilon, first_epsilon_factor, omega
        self.target, self.max_operations = target, max_operations
        self.top_k = INT64_MAX if top_k is None else min(top_k, INT64_MAX)
        self.allowed = allowed
        self.cancelled = cancelled


cdef bint push_row(SystemView system, Workspace work, RowPlan plan, node_t source, int64_t* operations) except -1 nogil:
    """Push mass 1 from one node, at least once; return whether it converged. Adds to `operations`, and polls."""
    cdef PushPlan push_plan = PushPlan(
        plan.first_epsilon_factor * plan.epsilon, plan.epsilon, plan.omega, plan.target, plan.max_operations, INT64_MAX,
        False,
    )
    cdef PushState state = new_push(push_plan.first_epsilon)
    cdef int64_t before = operations[0]
    state.scale = plan.first_epsilon_factor
    push_once(system, work, &state, source)
    cdef bint converged = push_to_target(system, work, &state, &push_plan, plan.cancelled)
    operations[0] += state.operations + state.pushes
    if is_poll_due(before, operations[0]):
        poll_or_cancel(plan.cancelled)
    return converged


cdef inline bint is_less(Workspace work, node_t u, node_t v) noexcept nogil:
    """Whether node u comes after node v in a list of the largest values."""
    return work.estimate[u] < work.estimate[v] or (work.estimate[u] == work.estimate[v] and u > v)


cdef void sift_down(Workspace work, node_t[::1] heap, Py_ssize_t i, Py_ssize_t size, node_t u) noexcept nogil:
    """Put u at position i, or below it, of a heap whose parents are less than their children."""
    cdef Py_ssize_t child = 2 * i + 1
    while child < size:
        if child + 1 < size and is_less(work, heap[child + 1], heap[child]):
            child += 1
        if is_less(work, u, heap[child]):
            break
        heap[i] = heap[child]
        i = child
        child = 2 * i + 1
    heap[i] = u


cdef Py_ssize_t gather_pushed(Workspace work, double* mass) noexcept nogil:
    """Write the nodes that a push has pushed to the queue, which is empty now; return their number, and the residual mass.

    They are often many fewer than were touched.
    """
    cdef Py_ssize_t i, n_pushed = 0
    cdef node_t u
    mass[0] = 0.0
    for i in range(work.n_touched):
        u = work.touched[i]
        mass[0] += fabs(work.cells[u].residual)
        work.queue[n_pushed] = u
        n_pushed += work.estimate[u] != 0.0
    return n_pushed


cdef Py_ssize_t keep_allowed(
    SystemView system, Workspace work, NodeFilter allowed, node_t source, Py_ssize_t n_pushed,
) noexcept nogil:
    """Keep the nodes at the front of the queue that are allowed; return their number. No estimate may be negative.

    Those of the source and its neighbours become negative if these are excluded: the source was pushed, so they are
    among the touched nodes, which are cleared.
    """
    cdef Py_ssize_t i, e, n_kept = 0
    cdef node_t u
    if allowed.exclude_neighbors:
        work.estimate[source] = -1.0
        for e in range(system.starts[source], system.stops[source]):
            work.estimate[system.indices[e]] = -1.0
    elif allowed.marks.shape[0] == 0:
        return n_pushed
    for i in range(n_pushed):
        u = work.queue[i]
        work.queue[n_kept] = u
        n_kept += work.estimate[u] >= 0.0 and is_allowed(allowed, u)
    return n_kept


cdef void largest(Workspace work, Py_ssize_t n_pushed, node_t[::1] nodes) noexcept nogil:
    """Write those of the nodes at the front of the queue that have the largest estimates: as many as there is room."""
    cdef Py_ssize_t i, size = nodes.shape[0]
    cdef node_t u
    for i in range(size):
        nodes[i] = work.queue[i]
    if n_pushed == size:
        return
    for i in range(size // 2 - 1, -1, -1):
        sift_down(work, nodes, i, size, nodes[i])
    for i in range(size, n_pushed):
        u = work.queue[i]
        if is_less(work, nodes[0], u):
            sift_down(work, nodes, 0, size, u)


cdef void sort_short(node_t[::1] nodes) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef node_t u
    for i in range(1, nodes.shape[0]):
        u = nodes[i]
        j = i
        while j > 0 and nodes[j - 1] > u:
            nodes[j] = nodes[j - 1]
            j -= 1
        nodes[j] = u


cdef void sort_long(node_t[::1] nodes, node_t[::1] others, node_t largest_node) noexcept nogil:
    """A radix sort: by the lowest bits first, back and forth between the two arrays."""
    cdef Py_ssize_t[BUCKETS] starts
    cdef Py_ssize_t i, start, count
    cdef int shift = 0, bucket
    cdef bint is_elsewhere = False
    while shift < NODE_BITS and largest_node >> shift > 0:  # C does not define shifts by all bits of a number
        memset(starts, 0, sizeof(starts))
        for i in range(nodes.shape[0]):
            starts[(nodes[i] >> shift) & (BUCKETS - 1)] += 1
        start = 0
        for bucket in range(BUCKETS):
            count = starts[bucket]
            starts[bucket] = start
            start += count
        for i in range(nodes.shape[0]):
            bucket = (nodes[i] >> shift) & (BUCKETS - 1)
            others[starts[bucket]] = nodes[i]
            starts[bucket] += 1
        nodes, others = others, nodes
        is_elsewhere = not is_elsewhere
        shift += BITS
    if is_elsewhere:
        others[:] = nodes


cdef int pack_row(
    RowBlock block, Workspace work, Py_ssize_t n_pushed, Py_ssize_t top_k, double error,
) except -1 nogil:
    """Add the estimates of the nodes at the front of the queue as the next row, and clear the workspace."""
    cdef Py_ssize_t start = block.offsets[block.n_rows], size = min(top_k, n_pushed), i
    if block.columns.shape[0] - start < size:
        with gil:
            block.reserve(size)
    cdef node_t[::1] columns = block.columns[start:start + size]
    largest(work, n_pushed, columns)
    if size < SHORT_ROW:
        sort_short(columns)
    else:
        sort_long(columns, work.queue[:size], <node_t> (work.cells.shape[0] - 1))
    for i in range(size):
        block.values[start + i] = work.estimate[columns[i]]
    clear(work)
    block.errors[block.n_rows] = error
    block.n_rows += 1
    block.offsets[block.n_rows] = start + size
    return 0


def pagerank_rows(
    SystemView system, Workspace work, RowBlock block, const node_t[::1] sources, RowPlan plan, double damping,
    double rounding, const node_t[::1] counts, double tol=INFINITY,
):
    """Add the PageRank vector of each source to the block, and a bound on its L1 error; return how many were added.

    They are fewer than the sources if the push of the next one has walked as many edges as it may, or if rounding errors
    have left an error above `tol`. `counts` says from how many nodes each node has edges: the more, the more errors. If
    it is empty, they are as many as the edges of its row.

    Walks that end in dead ends begin again at the source. Of walks that die there, the fraction `leak` is lost. So the
    vector is that of these walks, divided by 1 - leak.
    """
    cdef Py_ssize_t i, n_pushed, made = 0
    cdef int64_t operations = 0
    cdef node_t u
    cdef double mass, leak, scale, at_hubs, error
    cdef Py_ssize_t row_length, count
    block.check_room(sources.shape[0])
    with nogil:
        while made < sources.shape[0] and push_row(system, work, plan, sources[made], &operations):
            n_pushed = gather_pushed(work, &mass)
            leak = at_hubs = 0.0
            for i in range(n_pushed):
                u = work.queue[i]
                row_length = system.stops[u] - system.starts[u]
                # No value is negative. What over-relaxation leaves below zero is wrong, and the error without it smaller.
                work.estimate[u] = max(
                    (1.0 - damping) * pivot_of(system, u, row_length) * work.estimate[u], 0.0,
                )
                count = counts[u] if counts.shape[0] > 0 else row_length
                at_hubs += max(count - FEW_NEIGHBOURS, 0) * work.estimate[u]
                if row_length == 0:
                    leak += work.estimate[u]
            scale = 1.0 / (1.0 - damping / (1.0 - damping) * leak)
            error = scale * (mass + NEIGHBOUR_ROUNDING * at_hubs / (1.0 - damping)) + rounding
            if error > tol:
                break
            if scale != 1.0:
                for i in range(n_pushed):
                    work.estimate[work.queue[i]] *= scale
            n_pushed = keep_allowed(system, work, plan.allowed, sources[made], n_pushed)
            pack_row(block, work, n_pushed, plan.top_k, error)
            made += 1
        clear(work)
    return made
