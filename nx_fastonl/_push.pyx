"""The local push over CSR arrays: the one hot loop of the package."""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, fabs, isinf
from libc.stdint cimport INT64_MAX, int64_t

import numpy as np

from nx_fastonl._prefetch cimport prefetch
from nx_fastonl._typedefs cimport node_t, offset_t

# The queue is left for sweeps once an epoch this late still holds this part of the touched nodes.
cdef int64_t EPOCHS_BEFORE_SWEEPS = 8
cdef double ACTIVE_PART_FOR_SWEEPS = 0.25
# By how much epsilon falls from round to round.
cdef double EPSILON_STEP = 0.25
# How far ahead in the list of nodes a row's offsets, its neighbours and their cells are asked for.
cdef Py_ssize_t OFFSETS_AHEAD = 16
cdef Py_ssize_t ROW_AHEAD = 9
cdef Py_ssize_t CELLS_AHEAD = 4
cdef Py_ssize_t EDGES_AHEAD = 8  # within a row
cdef enum:
    CELLS_PER_ROW = 8
# What is added to the limit of a node by whether it is active: a table, because a jump on a coin toss costs more than
# the rest of an edge.
cdef double[2] WAITING = [0.0, INFINITY]
# Cells of larger graphs do not stay in the cache, and asking for them ahead pays: a megabyte.
cdef Py_ssize_t CELLS_IN_CACHE = 1 << 16

cdef inline double settled_part(double degree, System* system) noexcept nogil:
    # 1 - degree / pivot, without the cancellation.
    return (system.shift + (system.slope - 1.0) * degree) / pivot_of(degree, system) if degree > 0.0 else 1.0


cdef inline void look_ahead(
    const offset_t[::1] indptr, const node_t[::1] indices, Cell[::1] cells, double[::1] estimate,
    const node_t[::1] nodes, Py_ssize_t position, bint far,
) noexcept nogil:
    """Ask for the memory of the rows that `nodes` names next; for their neighbours' cells only if those are `far`.

    Slots of `nodes` that were not written yet hold old nodes: of no use, but never out of range.
    """
    cdef node_t u
    cdef Py_ssize_t i, start
    if position + OFFSETS_AHEAD >= nodes.shape[0] or indices.shape[0] < CELLS_PER_ROW:
        return
    u = nodes[position + OFFSETS_AHEAD]
    prefetch(&indptr[u])
    prefetch(&estimate[u])
    start = min(<Py_ssize_t> indptr[nodes[position + ROW_AHEAD]], indices.shape[0] - 1)
    prefetch(&indices[start])
    if not far:
        return
    # As many cells for every row, so that no jump depends on its length.
    start = min(<Py_ssize_t> indptr[nodes[position + CELLS_AHEAD]], indices.shape[0] - CELLS_PER_ROW)
    for i in range(CELLS_PER_ROW):
        prefetch(&cells[indices[start + i]])


# Invariant of both loops:  H @ estimate + residual == source,  H = diag(pivot) - W.
# `queue` is a ring that holds each node at most once; with the slot that is written before it is known whether
# its node is active that makes n + 1 slots.
# `touched` lists every node whose residual was ever written, so that a reset costs no more than the push did. It too
# has a slot more, for a node that is written before it is known whether it is listed already.

cdef inline void hand_out(
    const offset_t[::1] indptr, const node_t[::1] indices, const double[::1] weights, Cell[::1] cells,
    node_t[::1] queue, node_t[::1] touched, Py_ssize_t start, Py_ssize_t stop, double share,
    bint weighted, bint limits_known, System* system, Ring* ring, Counters* count,
) noexcept nogil:
    """Hand `share` to each unit of weight in the row start..stop, and queue the nodes that this makes active."""
    cdef Py_ssize_t e, tail = ring.tail, n_touched = count.touched
    cdef node_t v
    cdef double residual, limit
    cdef bint active
    for e in range(start, stop):
        if not limits_known and e + EDGES_AHEAD < stop:
            prefetch(&cells[indices[e + EDGES_AHEAD]])
            prefetch(&indptr[indices[e + EDGES_AHEAD]])
        v = indices[e]
        residual = cells[v].residual + (share * weights[e] if weighted else share)
        limit = cells[v].limit
        if limits_known:
            touched[n_touched] = v
            n_touched += limit < 0.0
            limit = fabs(limit)
        elif limit == 0.0:
            touched[n_touched] = v
            n_touched += 1
            limit = limit_of(indptr[v + 1] - indptr[v], system)
        active = fabs(residual) >= limit
        queue[tail] = v
        tail += active
        if tail == queue.shape[0]:
            tail = 0
        cells[v].residual = residual
        cells[v].limit = limit + WAITING[active]
    ring.tail = tail
    count.touched = n_touched


cdef inline void next_epoch(Ring* ring, Py_ssize_t slots) noexcept nogil:
    """All that is in the queue now makes the next epoch."""
    ring.left = ring.tail - ring.head
    if ring.left < 0:
        ring.left += slots


cdef inline int64_t push_next(
    const offset_t[::1] indptr, const node_t[::1] indices, const double[::1] weights, const double[::1] degrees,
    Cell[::1] cells, double[::1] estimate, node_t[::1] queue, node_t[::1] touched,
    bint far, System* system, Ring* ring, Counters* count,
) noexcept nogil:
    """Push the node at the head of the queue; return the number of its neighbours."""
    cdef node_t u = queue[ring.head]
    cdef Py_ssize_t start = indptr[u], stop = indptr[u + 1]
    cdef double share
    look_ahead(indptr, indices, cells, estimate, queue, ring.head, far)
    ring.head += 1
    if ring.head == queue.shape[0]:
        ring.head = 0
    share = cells[u].residual / pivot_of(degree_of(degrees, u, stop - start), system)
    cells[u].residual = 0.0
    cells[u].limit = limit_of(stop - start, system)
    estimate[u] += share
    # Four copies of one loop, each without the questions that the others ask at every edge.
    if weights.shape[0] > 0:
        if system.limits_known:
            hand_out(
                indptr, indices, weights, cells, queue, touched, start, stop, share, True, True, system, ring, count,
            )
        else:
            hand_out(
                indptr, indices, weights, cells, queue, touched, start, stop, share, True, False, system, ring, count,
            )
    elif system.limits_known:
        hand_out(
            indptr, indices, weights, cells, queue, touched, start, stop, share, False, True, system, ring, count,
        )
    else:
        hand_out(
            indptr, indices, weights, cells, queue, touched, start, stop, share, False, False, system, ring, count,
        )
    count.operations += stop - start
    count.pushes += 1
    return stop - start


cdef void push_epoch(
    const offset_t[::1] indptr, const node_t[::1] indices, const double[::1] weights, const double[::1] degrees,
    Cell[::1] cells, double[::1] estimate, node_t[::1] queue, node_t[::1] touched,
    System* system, int64_t edges, Ring* ring, Counters* count,
) noexcept nogil:
    """Push nodes in the order they became active, until the epoch ends or `edges` edges were walked."""
    cdef bint far = cells.shape[0] > CELLS_IN_CACHE
    while ring.left > 0 and edges > 0:
        ring.left -= 1
        edges -= 1 + push_next(
            indptr, indices, weights, degrees, cells, estimate, queue, touched, far, system, ring, count,
        )


cdef Py_ssize_t sweep(
    const offset_t[::1] indptr, const node_t[::1] indices, const double[::1] weights, const double[::1] degrees,
    Cell[::1] cells, double[::1] estimate, node_t[::1] touched, Py_ssize_t position,
    System* system, double omega, int64_t edges, Counters* count,
) noexcept nogil:
    """Over-relax the active nodes of `touched` from `position` on; return where it stopped.

    Every relaxation lowers the energy of a symmetric system for 0 < omega < 2, so sweeps end.
    """
    cdef bint weighted = weights.shape[0] > 0
    cdef Py_ssize_t e, start, stop
    cdef node_t u, v
    cdef double change, share
    while position < count.touched and edges > 0:
        u = touched[position]
        position += 1
        edges -= 1
        if fabs(cells[u].residual) < cells[u].limit:
            continue
        start = indptr[u]
        stop = indptr[u + 1]
        change = omega * cells[u].residual
        share = change / pivot_of(degree_of(degrees, u, stop - start), system)
        cells[u].residual -= change
        estimate[u] += share
        for e in range(start, stop):
            v = indices[e]
            if cells[v].limit == 0.0:
                cells[v].limit = limit_of(indptr[v + 1] - indptr[v], system)
                touched[count.touched] = v
                count.touched += 1
            cells[v].residual += share * weights[e] if weighted else share
        edges -= stop - start
        count.operations += stop - start
        count.pushes += 1
    return position


cdef void set_limits(
    const offset_t[::1] indptr, Cell[::1] cells, const node_t[::1] touched, System* system, Counters* count,
) noexcept nogil:
    """Give the touched nodes the limits of the current epsilon; none is queued any more."""
    cdef Py_ssize_t i
    cdef node_t u
    for i in range(count.touched):
        u = touched[i]
        cells[u].limit = limit_of(indptr[u + 1] - indptr[u], system)


cdef void enqueue_active(
    Cell[::1] cells, node_t[::1] queue, const node_t[::1] touched, Ring* ring, Counters* count,
) noexcept nogil:
    """Fill the empty ring with the active nodes, in the order they were touched."""
    cdef Py_ssize_t i
    cdef node_t u
    ring.head = ring.tail = 0
    for i in range(count.touched):
        u = touched[i]
        if fabs(cells[u].residual) >= cells[u].limit:
            cells[u].limit = INFINITY
            queue[ring.tail] = u
            ring.tail += 1
    ring.left = ring.tail


cdef void sort_touched(Cell[::1] cells, node_t[::1] touched) noexcept nogil:
    """List the touched nodes by index, so that sweeps walk the arrays forward."""
    cdef Py_ssize_t u, i = 0
    for u in range(cells.shape[0]):
        if cells[u].limit != 0.0:
            touched[i] = <node_t> u
            i += 1


cdef double mass_of(Cell[::1] cells, const node_t[::1] touched, Counters* count) noexcept nogil:
    cdef double mass = 0.0
    cdef Py_ssize_t i
    for i in range(count.touched):
        mass += fabs(cells[touched[i]].residual)
    return mass


cdef double decay_of(
    const offset_t[::1] indptr, const double[::1] degrees, Cell[::1] cells, const node_t[::1] touched,
    System* system, Counters* count,
) noexcept nogil:
    """The least part of the residual mass that pushing the queued nodes once removes.

    A push at u removes the part g_u = settled_part of its residual. Queued nodes hold at least epsilon per
    neighbour and the others less, so the whole loses at least min(sum of g_u d_u over the queue / volume of the
    support, min of g_u over the queue). For PageRank this is alpha * eta_t of the paper.
    """
    cdef double volume = 0.0, settled = 0.0, least = 1.0, part
    cdef Py_ssize_t i, neighbours
    cdef node_t u
    for i in range(count.touched):
        u = touched[i]
        if cells[u].residual == 0.0:
            continue
        neighbours = indptr[u + 1] - indptr[u]
        volume += neighbours
        if isinf(cells[u].limit):
            part = settled_part(degree_of(degrees, u, neighbours), system)
            settled += part * neighbours
            least = min(least, part)
    return min(least, settled / volume) if volume > 0.0 else least


cdef int look_at_signals(Counters* count) except -1 nogil:
    count.next_check = count.operations + count.pushes + EDGES_PER_SIGNAL_CHECK
    with gil:
        PyErr_CheckSignals()
    return 0


cdef int push_out(
    const offset_t[::1] indptr, const node_t[::1] indices, const double[::1] weights, const double[::1] degrees,
    Cell[::1] cells, double[::1] estimate, node_t[::1] queue, node_t[::1] touched, node_t source,
    bint at_least_once, int64_t most_edges, System* system, Counters* count,
) except -1 nogil:
    """Push mass 1 from one node, in FIFO order, until no node is active or `most_edges` edges were walked.

    The node is listed first among the touched.
    """
    cdef bint far = cells.shape[0] > CELLS_IN_CACHE
    cdef int64_t edges
    cdef Ring ring = Ring(0, 0, 0)
    cells[source].residual = 1.0
    cells[source].limit = limit_of(indptr[source + 1] - indptr[source], system)
    touched[0] = source
    count.touched = 1
    if at_least_once or 1.0 >= cells[source].limit:
        cells[source].limit = INFINITY
        queue[0] = source
        ring.tail = 1
    while ring.head != ring.tail and most_edges > 0:
        edges = min(most_edges, <int64_t> EDGES_PER_SIGNAL_CHECK)
        most_edges -= edges
        while ring.head != ring.tail and edges > 0:
            edges -= 1 + push_next(
                indptr, indices, weights, degrees, cells, estimate, queue, touched, far, system, &ring, count,
            )
        check_signals(count)
    return 0


cdef int check_interrupts(const unsigned char[::1] cancelled) except -1:
    PyErr_CheckSignals()
    if cancelled[0]:
        raise KeyboardInterrupt
    return 0


def push(
    const offset_t[::1] indptr, const node_t[::1] indices, const double[::1] weights, const double[::1] degrees,
    Cell[::1] cells, double[::1] estimate, node_t[::1] queue, node_t[::1] touched, Py_ssize_t n_touched, *,
    double first_epsilon, double epsilon, double shift, double slope, double omega, double target,
    int64_t epochs, int64_t max_operations, int64_t max_epochs, bint measure, const unsigned char[::1] cancelled,
):
    """Push until no node is active under `epsilon`, or the residual mass is at most `target`, or a budget ends.

    Rounds with a falling epsilon, from `first_epsilon` on, let mass gather before it is pushed. `omega > 0` allows the
    switch from the queue to sweeps over-relaxed by omega. `first_epsilon == epsilon` and `omega == 0` are the paper's
    FIFO order. The first `n_touched` entries of `touched` hold mass on entry, after `epochs` epochs of earlier calls.
    Returns the counters and whether it converged.
    """
    cdef System system = System(first_epsilon, shift, slope, False)
    cdef Ring ring
    cdef Counters count = Counters(n_touched, 0, 0, epochs, 0.0, EDGES_PER_SIGNAL_CHECK)
    cdef int64_t pushes_before
    cdef Py_ssize_t position
    cdef bint heavy = False, converged = False
    with nogil:
        while not (heavy or converged) and count.operations < max_operations and count.epochs < max_epochs:
            set_limits(indptr, cells, touched, &system, &count)
            enqueue_active(cells, queue, touched, &ring, &count)
            while ring.left > 0 and not heavy and count.operations < max_operations and count.epochs < max_epochs:
                if measure:
                    count.decay += decay_of(indptr, degrees, cells, touched, &system, &count)
                count.epochs += 1
                while ring.left > 0 and count.operations < max_operations:
                    push_epoch(
                        indptr, indices, weights, degrees, cells, estimate, queue, touched, &system,
                        min(EDGES_PER_SIGNAL_CHECK, max_operations - count.operations), &ring, &count,
                    )
                    if count.operations + count.pushes >= count.next_check:
                        count.next_check = count.operations + count.pushes + EDGES_PER_SIGNAL_CHECK
                        with gil:
                            check_interrupts(cancelled)
                if ring.left == 0:
                    next_epoch(&ring, queue.shape[0])
                    heavy = (
                        omega > 0.0 and count.epochs >= EPOCHS_BEFORE_SWEEPS
                        and ring.left > ACTIVE_PART_FOR_SWEEPS * count.touched
                    )
            converged = ring.left == 0 and system.epsilon <= epsilon
            system.epsilon = max(epsilon, system.epsilon * EPSILON_STEP)

        if heavy:
            # With a target, every node stays active until the mass must be below it.
            system.epsilon = min(epsilon, target / indices.shape[0]) if target > 0.0 else epsilon
            set_limits(indptr, cells, touched, &system, &count)
        while heavy and not converged and count.operations < max_operations and count.epochs < max_epochs:
            if count.touched > cells.shape[0] // 4:
                sort_touched(cells, touched)
            position = 0
            pushes_before = count.pushes
            while position < count.touched and count.operations < max_operations:
                position = sweep(
                    indptr, indices, weights, degrees, cells, estimate, touched, position, &system, omega,
                    min(EDGES_PER_SIGNAL_CHECK, max_operations - count.operations), &count,
                )
                with gil:
                    check_interrupts(cancelled)
            count.epochs += 1
            converged = (position == count.touched and count.pushes == pushes_before) or (
                target > 0.0 and mass_of(cells, touched, &count) <= target
            )
    return count.touched, count.operations, count.pushes, count.epochs, count.decay, converged


def drain(Cell[::1] cells, double[::1] estimate, const node_t[::1] touched, Py_ssize_t n_touched):
    """Take the touched nodes, their estimates and residuals out of the workspace, which is left all zero."""
    nodes = np.empty(n_touched, dtype=np.int32)
    estimates = np.empty(n_touched)
    residuals = np.empty(n_touched)
    cdef node_t[::1] nodes_out = nodes
    cdef double[::1] estimates_out = estimates
    cdef double[::1] residuals_out = residuals
    cdef Py_ssize_t i
    cdef node_t u
    with nogil:
        for i in range(n_touched):
            u = touched[i]
            nodes_out[i] = u
            estimates_out[i] = estimate[u]
            residuals_out[i] = cells[u].residual
            estimate[u] = 0.0
            cells[u].residual = 0.0
            cells[u].limit = 0.0
    return nodes, estimates, residuals


def column(
    const offset_t[::1] indptr, const node_t[::1] indices, const double[::1] weights, const double[::1] degrees,
    Cell[::1] cells, double[::1] estimate, node_t[::1] queue, node_t[::1] touched, node_t source, *,
    double epsilon, double shift, double slope,
):
    """Push mass 1 from one node as `push` does in FIFO order, with less around it; drain the workspace."""
    cdef System system = System(epsilon, shift, slope, False)
    cdef Counters count = Counters(0, 0, 0, 0, 0.0, EDGES_PER_SIGNAL_CHECK)
    push_out(indptr, indices, weights, degrees, cells, estimate, queue, touched, source, False, INT64_MAX, &system, &count)
    return drain(cells, estimate, touched, count.touched)


def diagonal(
    const offset_t[::1] indptr, const node_t[::1] indices, const double[::1] weights, const double[::1] degrees,
    Cell[::1] cells, double[::1] estimate, node_t[::1] queue, node_t[::1] touched,
    const node_t[::1] sources, const double[::1] epsilons, double[::1] entries, double[::1] masses, *,
    double shift, double slope,
):
    """Write `z[u] + r @ z + r @ (r / pivot)` of a push H z + r = e_u from each source, and the mass of r.

    The first is the entry of the diagonal of inv(H) but for a term of second order in r, which is not negative.
    """
    cdef System system = System(0.0, shift, slope, False)
    cdef Counters count = Counters(0, 0, 0, 0, 0.0, EDGES_PER_SIGNAL_CHECK)
    cdef Py_ssize_t i, j
    cdef node_t u
    cdef double residual, pivot
    with nogil:
        for j in range(sources.shape[0]):
            system.epsilon = epsilons[j]
            push_out(
                indptr, indices, weights, degrees, cells, estimate, queue, touched, sources[j], True, INT64_MAX,
                &system, &count,
            )
            entries[j] = estimate[sources[j]]
            masses[j] = 0.0
            for i in range(count.touched):
                u = touched[i]
                residual = cells[u].residual
                pivot = pivot_of(degree_of(degrees, u, indptr[u + 1] - indptr[u]), &system)
                entries[j] += residual * (estimate[u] + residual / pivot)
                masses[j] += residual
                estimate[u] = 0.0
                cells[u].residual = 0.0
                cells[u].limit = 0.0
