"""KeptVector: a solution of H z = b that is repaired where edges change, and pushed on from there."""

cimport cython
from libc.float cimport DBL_EPSILON
from libc.math cimport INFINITY, fabs, fmin
from libc.stdint cimport INT64_MAX, int64_t

import numpy as np

from nx_fastonl._lib.exact cimport add_exactly
from nx_fastonl._lib.signals cimport EDGES_PER_POLL, is_poll_due, poll_signals
from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.graph._dynamic cimport Change
from nx_fastonl.push._push cimport PushState, new_push, threshold_of
from nx_fastonl.push._system cimport SystemView, pivot_of
from nx_fastonl.push._workspace cimport Workspace, clear


@cython.final
cdef class KeptVector:
    """Estimate and residual of ``H z + r = b`` on a graph that changes.

    A push never enlarges the residual mass, and a change of an edge adds to it at its ends only. So the mass is known at
    any time without a look at other nodes.

    In H stand the exact sums of the weights. The degrees that a graph has are rounded: pushes use them, and `rounding`
    counts what that leaves. `docs/theory/dynamic.md` derives each term.

    Parameters
    ----------
    n : int
        The number of rows.

    Attributes
    ----------
    work : Workspace
        The estimate z and the residual r of the touched nodes. Unlike that of other pushes, it is not cleared.
    mass : float
        The sum of the magnitudes of r.
    rounding : float
        `mass`, ``alpha * dead``, the L1 norm of ``b - H z`` and, times ``1 - alpha``, that of ``pivot * z`` are off by
        no more than this, taken together.
    least_rounding : float
        What `rounding` was when r was last computed anew.
    dead : float
        The sum of z over the rows without entries.
    volume : int
        How many entries the touched rows had when r was last computed anew.
    epsilon : float
        Nodes are pushed while their residual exceeds this, per neighbour.
    settled : bool
        Whether no node is to be pushed.
    reached : object
        What ``H z + r = b`` holds for; None before there is a b, and while it is computed anew.
    """

    cdef readonly Workspace work
    cdef readonly double mass
    cdef readonly double rounding
    cdef readonly double least_rounding
    cdef readonly double dead
    cdef readonly int64_t volume
    cdef readonly double epsilon
    cdef readonly bint settled
    cdef readonly object reached
    # How many units a degree may be rounded by, beyond one for each entry of its row.
    cdef double degree_roundings

    def __init__(self, Py_ssize_t n):
        self.work = Workspace(n)
        self.mass = self.rounding = self.least_rounding = self.dead = self.epsilon = self.degree_roundings = 0.0
        self.volume = 0
        self.settled = False
        self.reached = None

    def add_rows(self, Py_ssize_t n):
        """Make room for n rows."""
        cdef Workspace old = self.work, new
        cdef Py_ssize_t i
        cdef node_t u
        if n <= old.estimate.shape[0]:
            return
        new = Workspace(n)
        with nogil:
            for i in range(old.n_touched):
                u = new.touched[i] = old.touched[i]
                new.cells[u], new.estimate[u] = old.cells[u], old.estimate[u]
            new.n_touched = old.n_touched
        self.work = new

    def follow(
        self, SystemView system, const Change[::1] changes, bint directed, const node_t[::1] forgotten,
        const node_t[::1] sources, const double[::1] masses, int64_t degree_roundings, reached,
    ):
        """Keep ``H z + r = b`` where edges have changed, nodes have left and b has grown: r -= (H' - H) z, r += b' - b.

        The system is that of the graph as it is now. Rows that are forgotten have neither entries nor sources, and no
        other row lists them. Then `settle_around` the ends of the changes, and the sources.
        """
        cdef Py_ssize_t i, count = changes.shape[0]
        cdef Change change
        self.settled = False
        self.degree_roundings = degree_roundings
        with nogil:
            for i in range(count):
                change = changes[i]
                if change.u == change.v:
                    self.add(change.u, (change.after - change.before) * self.work.estimate[change.u])
                else:
                    self.add(change.v, (change.after - change.before) * self.work.estimate[change.u])
                    if not directed:
                        self.add(change.u, (change.after - change.before) * self.work.estimate[change.v])
                        self.turn(system, change.v, &change, change.v_before, change.v_after, count)
                self.turn(system, change.u, &change, change.u_before, change.u_after, count)
            for i in range(forgotten.shape[0]):
                self.forget(forgotten[i])
            for i in range(sources.shape[0]):
                self.add(sources[i], masses[i])
                self.rounding += 2.0 * DBL_EPSILON  # of the masses of before and now
        self.reached = reached

    def recompute(
        self, SystemView system, const node_t[::1] sources, const double[::1] masses, int64_t degree_roundings, reached,
    ):
        """Compute ``r = b - H z`` anew, from z as it is. If this is interrupted, call it again.

        Sums are rounded only once, at their end. Rows without entries are settled: all that is left there is their estimate.
        So nothing is left of a node that was removed.
        """
        cdef Workspace work = self.work
        cdef double[::1] rests = np.zeros(work.estimate.shape[0])  # memory is committed only where it is written
        cdef Py_ssize_t i, e, n_before = work.n_touched
        cdef int64_t walked = 0, volume = 0
        cdef node_t u
        cdef double z, settled, degree, rest, size = 0.0, off = 0.0
        cdef double mass = 0.0, mass_rest = 0.0, dead = 0.0, dead_rest = 0.0
        cdef bint weighted = system.weights.shape[0] > 0
        self.settled, self.reached = False, None
        self.degree_roundings = degree_roundings
        with nogil:
            for i in range(n_before):
                work.cells[work.touched[i]].residual = 0.0
            for i in range(n_before):
                u = work.touched[i]
                if system.stops[u] == system.starts[u]:
                    work.estimate[u] = 0.0
                z = work.estimate[u]
                if z == 0.0:
                    continue
                degree, rest = <double> (system.stops[u] - system.starts[u]), 0.0
                if weighted:
                    degree = 0.0
                    for e in range(system.starts[u], system.stops[u]):
                        add_exactly(system.weights[e], &degree, &rest)
                    off += fabs(z * ((degree - system.degrees[u]) + rest))
                for e in range(system.starts[u], system.stops[u]):
                    self.add_term(work, system.indices[e], z * system.weights[e] if weighted else z, rests)
                settled = system.slope * z
                self.add_term(work, u, -settled * degree, rests)
                rests[u] -= settled * rest
                size += fabs(settled * degree)
                walked += 1 + system.stops[u] - system.starts[u]
                if walked >= EDGES_PER_POLL:
                    walked = 0
                    poll_signals()
            for i in range(sources.shape[0]):
                self.add_term(work, sources[i], masses[i], rests)
            for i in range(work.n_touched):
                u = work.touched[i]
                work.cells[u].residual += rests[u]
                volume += system.stops[u] - system.starts[u]
                if system.stops[u] == system.starts[u]:
                    work.estimate[u] = work.cells[u].residual
                    work.cells[u].residual = 0.0
                    add_exactly(work.estimate[u], &dead, &dead_rest)
                else:
                    add_exactly(fabs(work.cells[u].residual), &mass, &mass_rest)
        self.mass, self.dead, self.volume = mass + mass_rest, dead + dead_rest, volume
        # Products with a weight and a pivot, the masses of the sources, sums, and the degrees in the values.
        self.rounding = (
            DBL_EPSILON * (2.5 * size + 2.0 + self.mass + fabs(self.dead)) + (system.slope - 1.0) * off
            + (DBL_EPSILON * (work.n_touched + 3)) ** 2 * (2.0 * size + 1.0)  # what the rests leave
        )
        self.least_rounding = self.rounding
        self.reached = reached

    def clear(self):
        """Set everything to zero, as at first."""
        clear(self.work)
        self.mass = self.rounding = self.least_rounding = self.dead = self.epsilon = 0.0
        self.settled, self.reached = False, None

    def accept(self, double epsilon):
        """Take the workspace as settled under `epsilon`, after another push and `recompute`."""
        self.epsilon, self.settled = epsilon, True

    def settle_around(self, SystemView system, const node_t[::1] nodes, int64_t max_operations):
        """Push from these nodes, the only ones that may be active, until none is or `max_operations` ends."""
        cdef PushState state = new_push(self.epsilon)
        cdef Py_ssize_t i
        with nogil:
            for i in range(nodes.shape[0]):
                self.renew_threshold(system, &state, nodes[i])
            for i in range(nodes.shape[0]):
                self.enqueue_if_active(self.work, &state, nodes[i])
            self.push(system, self.work, &state, max_operations)

    def start_from(self, const node_t[::1] nodes, const double[::1] estimate):
        """Take this estimate in place of all that was there; the nodes are distinct. Then `recompute` the residual."""
        cdef Py_ssize_t i
        self.clear()
        for i in range(nodes.shape[0]):
            self.touch(self.work, nodes[i])
            self.work.estimate[nodes[i]] = estimate[i]

    def settle_all(self, SystemView system, double epsilon, int64_t max_operations=INT64_MAX):
        """Push under another epsilon until no node is active or `max_operations` ends."""
        cdef PushState state = new_push(epsilon)
        cdef Py_ssize_t i
        self.epsilon, self.settled = epsilon, False
        with nogil:
            for i in range(self.work.n_touched):
                self.renew_threshold(system, &state, self.work.touched[i])
            for i in range(self.work.n_touched):
                self.enqueue_if_active(self.work, &state, self.work.touched[i])
            self.push(system, self.work, &state, max_operations)

    def value(self, SystemView system, node_t u):
        """``pivot * z`` of a node, or 0 if it is negative."""
        return max(self.work.estimate[u] * pivot_of(system, u, system.stops[u] - system.starts[u]), 0.0)

    def values(self, SystemView system):
        """The nodes where ``pivot * z`` is positive, and what it is."""
        cdef Workspace work = self.work
        nodes, values = np.empty(work.n_touched, dtype=np.int32), np.empty(work.n_touched)
        cdef node_t[::1] nodes_out = nodes
        cdef double[::1] values_out = values
        cdef Py_ssize_t i, found = 0
        cdef node_t u
        with nogil:
            for i in range(work.n_touched):
                u = work.touched[i]
                if work.estimate[u] > 0.0:
                    nodes_out[found] = u
                    values_out[found] = work.estimate[u] * pivot_of(system, u, system.stops[u] - system.starts[u])
                    found += 1
        return nodes[:found], values[:found]

    def dense(self):
        """Copies of z and r over all rows: for tests."""
        cells = np.asarray(self.work.cells)
        return np.array(self.work.estimate), cells["residual"].copy()

    cdef inline void touch(self, Workspace work, node_t u) noexcept nogil:
        """List node u among the touched."""
        if work.cells[u].threshold == 0.0:
            work.touched[work.n_touched] = u
            work.n_touched += 1
            work.cells[u].threshold = INFINITY  # until it is known

    cdef inline void add_term(self, Workspace work, node_t u, double more, double[::1] rests) noexcept nogil:
        """Add to the residual of node u, and what rounding takes from it to its rest."""
        self.touch(work, u)
        add_exactly(more, &work.cells[u].residual, &rests[u])

    cdef void add(self, node_t u, double more) noexcept nogil:
        """Add to the residual of node u, and to the sums. `more` may be rounded four times."""
        cdef double before = self.work.cells[u].residual, after = before + more
        if more == 0.0:
            return
        self.touch(self.work, u)
        self.work.cells[u].residual = after
        self.rounding += DBL_EPSILON * (3.0 * fabs(more) + fabs(before) + fabs(after) + fabs(self.mass))
        self.mass += fabs(after) - fabs(before)

    cdef void turn(
        self, SystemView system, node_t u, const Change* change, double degree_before, double degree_after,
        Py_ssize_t n_changes,
    ) noexcept nogil:
        """Keep the invariant where the degree of node u has changed, and with it the pivot."""
        cdef double z = self.work.estimate[u], off
        if z == 0.0:
            return
        if degree_before > 0.0 and degree_after > 0.0:
            self.add(u, (change.before - change.after) * system.slope * z)
        elif degree_after > 0.0:
            self.add(u, z)
            self.add(u, -change.after * system.slope * z)
            self.dead -= z
        else:
            self.add(u, change.before * system.slope * z)
            self.add(u, -z)
            self.dead += z
        self.rounding += DBL_EPSILON * (fabs(self.dead) + fabs(z))
        if system.weights.shape[0] > 0:
            # A degree that grows is rounded, one that falls is a new sum. A row had as many entries as it has now, and
            # perhaps one for each change.
            off = DBL_EPSILON * degree_after * fabs(z)
            if change.after < change.before:
                off *= system.stops[u] - system.starts[u] + n_changes
            self.rounding += (system.slope - 1.0) * off

    cdef void forget(self, node_t u) noexcept nogil:
        """Set the estimate and the residual of a row to exactly 0, which no entry, node or source belongs to."""
        self.mass -= fabs(self.work.cells[u].residual)
        self.dead -= self.work.estimate[u]
        self.rounding += DBL_EPSILON * (self.mass + fabs(self.dead))
        self.work.cells[u].residual = self.work.estimate[u] = 0.0

    cdef void renew_threshold(self, SystemView system, const PushState* state, node_t u) noexcept nogil:
        """Set the threshold of node u, if it was touched."""
        if self.work.cells[u].threshold != 0.0:
            self.work.cells[u].threshold = threshold_of(system.stops[u] - system.starts[u], state)

    cdef void enqueue_if_active(self, Workspace work, PushState* state, node_t u) noexcept nogil:
        if work.cells[u].threshold != 0.0 and fabs(work.cells[u].residual) >= work.cells[u].threshold:
            work.cells[u].threshold = INFINITY
            work.queue[state.tail] = u
            state.tail += 1

    cdef int push(
        self, SystemView system, Workspace work, PushState* state, int64_t max_operations,
    ) except -1 nogil:
        """Push nodes in the order they became active, until none is, or `max_operations` ends.

        A push at u settles a fraction of its residual, at least epsilon. So the loop ends if epsilon > 0.
        """
        cdef Py_ssize_t e, start, stop, ring = work.queue.shape[0]
        cdef int64_t before
        cdef node_t u, v
        cdef double pivot, share, old, new, mass = self.mass, peak, magnitudes
        cdef bint weighted = system.weights.shape[0] > 0
        while state.head != state.tail and state.operations < max_operations:
            u = work.queue[state.head]
            state.head = state.head + 1 if state.head + 1 < ring else 0
            start, stop = system.starts[u], system.stops[u]
            pivot = pivot_of(system, u, stop - start)
            old = work.cells[u].residual
            share = old / pivot
            work.cells[u].residual = 0.0
            work.cells[u].threshold = threshold_of(stop - start, state)
            work.estimate[u] += share
            peak = fabs(mass) + fabs(old)
            mass -= fabs(old)
            # The pivot, the share and what it gives the neighbours are rounded; an estimate by no more than its change.
            magnitudes = 2.0 * fabs(old) + fmin(2.0 * fabs(old) / DBL_EPSILON, pivot * fabs(work.estimate[u]))
            if weighted:
                magnitudes += 2.0 * (stop - start + self.degree_roundings) * fabs(old)
            if start == stop:
                self.dead += share
                magnitudes += fabs(self.dead)
            for e in range(start, stop):
                v = system.indices[e]
                old = work.cells[v].residual
                new = old + (share * system.weights[e] if weighted else share)
                if work.cells[v].threshold == 0.0:
                    work.touched[work.n_touched] = v
                    work.n_touched += 1
                    work.cells[v].threshold = threshold_of(system.stops[v] - system.starts[v], state)
                work.cells[v].residual = new
                mass += fabs(new) - fabs(old)
                magnitudes += fabs(new)
                if fabs(new) >= work.cells[v].threshold:
                    work.cells[v].threshold = INFINITY
                    work.queue[state.tail] = v
                    state.tail = state.tail + 1 if state.tail + 1 < ring else 0
            # Every residual is rounded once, and the mass twice.
            self.rounding += DBL_EPSILON * (magnitudes + (stop - start + 2) * peak)
            self.mass = mass
            before = state.operations
            state.operations += stop - start + 1
            if is_poll_due(before, state.operations):
                poll_signals()
        self.settled = state.head == state.tail
        return 0
