"""The local push over rows of neighbours: the one hot loop of the package."""

cimport cython
from libc.float cimport DBL_EPSILON
from libc.math cimport INFINITY, fabs, isinf
from libc.stdint cimport INT64_MAX, int64_t

import numpy as np

from nx_fastonl._lib.prefetch cimport prefetch
from nx_fastonl._lib.signals cimport EDGES_PER_POLL, is_poll_due, poll_or_cancel, poll_signals
from nx_fastonl._lib.typedefs cimport node_t, offset_t
from nx_fastonl.push._system cimport SystemView, degree_of, diagonal_of, pivot_of
from nx_fastonl.push._workspace cimport Cell, Workspace, clear

# Sweeps replace the queue if, after this many epochs, more than this fraction of the touched nodes is active.
cdef int64_t EPOCHS_BEFORE_SWEEPS = 8
cdef double MIN_ACTIVE_FRACTION = 0.25
# The factor by which epsilon falls from round to round.
cdef double EPSILON_STEP = 0.25
# While the residual mass is above its target, epsilon is multiplied by a factor between these two; but not below the
# last, since thresholds are no smaller than that.
cdef double SMALLEST_DROP = 0.5
cdef double LARGEST_DROP = 0.0625
cdef double SMALLEST_EPSILON = 1e-200
# How many entries ahead in the queue a row's offsets, its neighbours and their cells are prefetched.
cdef Py_ssize_t OFFSETS_AHEAD = 16
cdef Py_ssize_t ROW_AHEAD = 9
cdef Py_ssize_t CELLS_AHEAD = 4
cdef Py_ssize_t EDGES_AHEAD = 8  # within a row
cdef enum:
    CELLS_PER_ROW = 8
# What is added to the threshold of a node that is not active, and of one that is. A table, because a branch that the
# processor cannot predict costs more than all other work at an edge.
cdef double[2] WAITING = [0.0, INFINITY]
# In graphs with more nodes than the first, the cells (more than a megabyte) do not stay in the cache, and prefetching
# them pays. In graphs with at most as many nodes as the second, everything stays in the cache.
cdef Py_ssize_t CELLS_IN_CACHE = 1 << 16
cdef Py_ssize_t NODES_IN_CACHE = 1 << 12


@cython.final
cdef class Effort:
    """The work that a push has done so far, over several calls, and how much it may do.

    Setting ``cancelled[0]`` from another thread ends it with KeyboardInterrupt.
    """

    def __init__(
        self, int64_t max_operations, int64_t max_epochs, const unsigned char[::1] cancelled, int64_t operations=0
    ):
        self.operations = operations
        self.pushes = self.epochs = 0
        self.decay = 0.0
        self.max_operations = max_operations
        self.max_epochs = max_epochs
        self.cancelled = cancelled


cdef PushState new_push(double epsilon) noexcept nogil:
    return PushState(epsilon, 0, 0, 0, 0, 0, 0, 0.0, 1.0)


cdef enum Prefetch:
    NOTHING
    ROWS
    ROWS_AND_CELLS


cdef inline Prefetch prefetch_of(Workspace work) noexcept nogil:
    """What is worth prefetching in a graph of this size."""
    if work.cells.shape[0] <= NODES_IN_CACHE:
        return NOTHING
    return ROWS if work.cells.shape[0] <= CELLS_IN_CACHE else ROWS_AND_CELLS


cdef inline void prefetch_rows(
    SystemView system, Workspace work, Py_ssize_t position, bint prefetch_cells,
) noexcept nogil:
    """Prefetch the rows of the next nodes in the queue and, if wanted, their neighbours' cells.

    Beyond its end, the queue holds old nodes. Prefetching their rows is useless, but never out of range.
    """
    cdef node_t u
    cdef Py_ssize_t i, start
    if position + OFFSETS_AHEAD >= work.queue.shape[0] or system.indices.shape[0] < CELLS_PER_ROW:
        return
    u = work.queue[position + OFFSETS_AHEAD]
    prefetch(&system.starts[u])
    prefetch(&work.estimate[u])
    start = min(<Py_ssize_t> system.starts[work.queue[position + ROW_AHEAD]], system.indices.shape[0] - 1)
    prefetch(&system.indices[start])
    if not prefetch_cells:
        return
    # The same number of cells for every row, so that no branch depends on the row's length.
    start = min(
        <Py_ssize_t> system.starts[work.queue[position + CELLS_AHEAD]], system.indices.shape[0] - CELLS_PER_ROW,
    )
    for i in range(CELLS_PER_ROW):
        prefetch(&work.cells[system.indices[start + i]])


# Invariant of both loops:  H @ estimate + residual == source,  H = diag(pivot) - W.

cdef inline void scatter(
    SystemView system, Workspace work, PushState* state, Py_ssize_t start, Py_ssize_t stop, double share,
    bint weighted, bint thresholds_known,
) noexcept nogil:
    """Add `share`, per unit of weight, to the residuals of the neighbours start..stop; queue those it makes active."""
    cdef Py_ssize_t e, tail = state.tail, n_touched = work.n_touched
    cdef node_t v
    cdef double residual, threshold
    cdef double scale = -state.scale
    cdef bint active
    for e in range(start, stop):
        if not thresholds_known and e + EDGES_AHEAD < stop:
            prefetch(&work.cells[system.indices[e + EDGES_AHEAD]])
            prefetch(&system.starts[system.indices[e + EDGES_AHEAD]])
        v = system.indices[e]
        residual = work.cells[v].residual + (share * system.weights[e] if weighted else share)
        threshold = work.cells[v].threshold
        if thresholds_known:
            work.touched[n_touched] = v
            n_touched += threshold < 0.0
            threshold = max(threshold, scale * threshold)  # the second is positive if the node is new
        elif threshold == 0.0:
            work.touched[n_touched] = v
            n_touched += 1
            threshold = threshold_of(system.stops[v] - system.starts[v], state)
        active = fabs(residual) >= threshold
        work.queue[tail] = v
        tail += active
        if tail == work.queue.shape[0]:
            tail = 0
        work.cells[v].residual = residual
        work.cells[v].threshold = threshold + WAITING[active]
    state.tail = tail
    work.n_touched = n_touched


cdef inline int64_t push_next(SystemView system, Workspace work, PushState* state, Prefetch ahead) noexcept nogil:
    """Push the node at the head of the queue; return the number of its neighbours."""
    cdef node_t u = work.queue[state.head]
    cdef Py_ssize_t start = system.starts[u], stop = system.stops[u]
    cdef double share
    if ahead != NOTHING:
        prefetch_rows(system, work, state.head, ahead == ROWS_AND_CELLS)
    state.head += 1
    if state.head == work.queue.shape[0]:
        state.head = 0
    share = work.cells[u].residual / pivot_of(system, u, stop - start)
    work.cells[u].residual = 0.0
    work.cells[u].threshold = threshold_of(stop - start, state)
    work.estimate[u] += share
    # The compiler makes four copies of one loop, so that none of them tests the two flags at every edge.
    if system.weights.shape[0] > 0:
        if work.thresholds_known:
            scatter(system, work, state, start, stop, share, True, True)
        else:
            scatter(system, work, state, start, stop, share, True, False)
    elif work.thresholds_known:
        scatter(system, work, state, start, stop, share, False, True)
    else:
        scatter(system, work, state, start, stop, share, False, False)
    state.operations += stop - start
    state.pushes += 1
    return stop - start


cdef inline void begin_epoch(Workspace work, PushState* state) noexcept nogil:
    """The nodes that are in the queue now are the next epoch."""
    state.left = state.tail - state.head
    if state.left < 0:
        state.left += work.queue.shape[0]


cdef void push_epoch(SystemView system, Workspace work, PushState* state, int64_t max_edges) noexcept nogil:
    """Push nodes in the order they became active, until the epoch ends or `max_edges` edges were walked."""
    cdef Prefetch ahead = prefetch_of(work)
    # A copy stays in registers. Of state[0] the compiler must assume that writing to arrays of integers changes it.
    cdef PushState here = state[0]
    while here.left > 0 and max_edges > 0:
        here.left -= 1
        max_edges -= 1 + push_next(system, work, &here, ahead)
    state[0] = here


cdef Py_ssize_t sweep(
    SystemView system, Workspace work, PushState* state, Py_ssize_t position, double omega, int64_t max_edges,
) noexcept nogil:
    """Over-relax the active nodes of `touched` from `position` on; return where it stopped.

    Every relaxation lowers the energy of a symmetric system for 0 < omega < 2, so sweeps end.
    """
    # Bound once: in the loop the compiler would load them from the objects again and again.
    cdef Cell[::1] cells = work.cells
    cdef double[::1] estimate = work.estimate
    cdef node_t[::1] touched = work.touched
    cdef const offset_t[::1] starts = system.starts, stops = system.stops
    cdef const node_t[::1] indices = system.indices
    cdef const double[::1] weights = system.weights
    cdef bint weighted = weights.shape[0] > 0
    cdef Py_ssize_t e, start, stop, n_touched = work.n_touched
    cdef int64_t operations = 0, pushes = 0
    cdef node_t u, v
    cdef double change, share
    while position < n_touched and max_edges > 0:
        u = touched[position]
        position += 1
        max_edges -= 1
        if fabs(cells[u].residual) < cells[u].threshold:
            continue
        start = starts[u]
        stop = stops[u]
        change = omega * cells[u].residual
        share = change / pivot_of(system, u, stop - start)
        cells[u].residual -= change
        estimate[u] += share
        for e in range(start, stop):
            v = indices[e]
            if cells[v].threshold <= 0.0:
                cells[v].threshold = threshold_of(stops[v] - starts[v], state)
                touched[n_touched] = v
                n_touched += 1
            cells[v].residual += share * weights[e] if weighted else share
        max_edges -= stop - start
        operations += stop - start
        pushes += 1
    work.n_touched = n_touched
    state.operations += operations
    state.pushes += pushes
    return position


cdef void set_thresholds(SystemView system, Workspace work, PushState* state, double epsilon) noexcept nogil:
    """Give the touched nodes the thresholds of the state's epsilon; none is queued any more.

    `epsilon` is that of the thresholds that a workspace may know.
    """
    cdef double ratio = state.epsilon / (epsilon * state.scale)
    cdef Py_ssize_t i
    cdef node_t u
    state.scale = state.epsilon / epsilon
    for i in range(work.n_touched):
        u = work.touched[i]
        if work.thresholds_known and 0.0 < work.cells[u].threshold < INFINITY:
            work.cells[u].threshold *= ratio
        else:
            work.cells[u].threshold = threshold_of(system.stops[u] - system.starts[u], state)


cdef void enqueue_active(Workspace work, PushState* state) noexcept nogil:
    """Fill the empty queue with the active nodes, in the order they were touched."""
    cdef Py_ssize_t i
    cdef node_t u
    state.head = state.tail = 0
    for i in range(work.n_touched):
        u = work.touched[i]
        if fabs(work.cells[u].residual) >= work.cells[u].threshold:
            work.cells[u].threshold = INFINITY
            work.queue[state.tail] = u
            state.tail += 1
    state.left = state.tail


cdef void sort_touched(Workspace work) noexcept nogil:
    """List the touched nodes by index, so that sweeps walk the arrays forward."""
    cdef Py_ssize_t u, i = 0
    for u in range(work.cells.shape[0]):
        if work.cells[u].threshold > 0.0:
            work.touched[i] = <node_t> u
            i += 1


cdef double mass_of(Workspace work) noexcept nogil:
    cdef double mass = 0.0
    cdef Py_ssize_t i
    for i in range(work.n_touched):
        mass += fabs(work.cells[work.touched[i]].residual)
    return mass


cdef double settled_fraction(SystemView system, node_t u, Py_ssize_t neighbours) noexcept nogil:
    """The fraction of its residual that a push at u settles: 1 - degree / pivot, without cancellation."""
    cdef double degree = diagonal_of(system, u, neighbours)
    if degree <= 0.0:
        return 1.0
    return (system.shift + (system.slope - 1.0) * degree) / pivot_of(system, u, neighbours)


cdef double epoch_decay(SystemView system, Workspace work) noexcept nogil:
    """A lower bound on the fraction of the residual mass that pushing each queued node once removes.

    A push at u removes the fraction g_u = settled_fraction of its residual. Queued nodes hold at least epsilon per
    neighbour and the others hold less, so the mass falls by at least min(sum of g_u d_u over the queue / volume of the
    support, min of g_u over the queue). For PageRank this is alpha * eta_t of the paper.
    """
    cdef double volume = 0.0, settled = 0.0, least = 1.0, fraction
    cdef Py_ssize_t i, neighbours
    cdef node_t u
    for i in range(work.n_touched):
        u = work.touched[i]
        if work.cells[u].residual == 0.0:
            continue
        neighbours = system.stops[u] - system.starts[u]
        volume += neighbours
        if isinf(work.cells[u].threshold):
            fraction = settled_fraction(system, u, neighbours)
            settled += fraction * neighbours
            least = min(least, fraction)
    return min(least, settled / volume) if volume > 0.0 else least


cdef int push_from(
    SystemView system, Workspace work, PushState* state, node_t source, bint at_least_once, int64_t max_edges,
) except -1 nogil:
    """Push mass 1 from one node, in FIFO order, until no node is active or `max_edges` edges were walked.

    The node is listed first among the touched.
    """
    state.head = state.tail = 0
    work.cells[source].residual = 1.0
    work.cells[source].threshold = threshold_of(system.stops[source] - system.starts[source], state)
    work.touched[0] = source
    work.n_touched = 1
    if at_least_once or 1.0 >= work.cells[source].threshold:
        work.cells[source].threshold = INFINITY
        work.queue[0] = source
        state.tail = 1
    return push_queue(system, work, state, max_edges)


cdef int push_queue(SystemView system, Workspace work, PushState* state, int64_t max_edges) except -1 nogil:
    """Push from the queue, in FIFO order, until it is empty or `max_edges` edges were walked."""
    cdef Prefetch ahead = prefetch_of(work)
    cdef PushState here = state[0]  # in registers, as in push_epoch
    cdef int64_t edges, before = here.operations + here.pushes
    while here.head != here.tail and max_edges > 0:
        edges = min(max_edges, <int64_t> EDGES_PER_POLL)
        max_edges -= edges
        while here.head != here.tail and edges > 0:
            edges -= 1 + push_next(system, work, &here, ahead)
        if is_poll_due(before, here.operations + here.pushes):
            poll_signals()
        before = here.operations + here.pushes
    state[0] = here
    return 0


cdef int push_or_replace(
    SystemView system, Workspace work, PushState* state, node_t source, int64_t max_edges, exact_column,
) except -1 nogil:
    """`push_from`; where more than `max_edges` edges would be walked, ``exact_column(source)`` takes its place.

    That returns the nodes and values of the column, the source first, or None: then the push goes on.
    """
    push_from(system, work, state, source, False, max_edges)
    if state.head != state.tail:
        with gil:
            column = exact_column(source)
            if column is not None:
                state.head = state.tail
                nodes, values = column
                replace_push(system, work, state, nodes, values)
        push_queue(system, work, state, INT64_MAX)
    return 0


cdef int replace_push(
    SystemView system, Workspace work, PushState* state, const node_t[::1] nodes, const double[::1] values,
) except -1:
    """Put values of nodes in place of what a push has left."""
    cdef Py_ssize_t i
    cdef node_t u
    for i in range(work.n_touched):
        u = work.touched[i]
        work.cells[u].threshold = threshold_of(system.stops[u] - system.starts[u], state)  # it may have been queued
    clear(work)
    work.n_touched = nodes.shape[0]
    for i in range(nodes.shape[0]):
        work.touched[i] = nodes[i]
        work.estimate[nodes[i]] = values[i]
    return 0


cdef bint push_all(
    SystemView system, Workspace work, PushState* state, const PushPlan* plan, const unsigned char[::1] cancelled,
) except -1 nogil:
    """Push until no node is active under the plan's epsilon, or its target is reached, or a budget ends.

    Returns whether it converged.
    """
    cdef int64_t pushes_before, scanned = 0, next_poll = state.operations + state.pushes + EDGES_PER_POLL
    cdef Py_ssize_t position
    cdef bint sweeping = False, converged = False
    state.epsilon = plan.first_epsilon
    while not (sweeping or converged) and state.operations < plan.max_operations and state.epochs < plan.max_epochs:
        set_thresholds(system, work, state, plan.epsilon)
        enqueue_active(work, state)
        while (
            state.left > 0 and not sweeping and state.operations < plan.max_operations and state.epochs < plan.max_epochs
        ):
            if plan.measure:
                state.decay += epoch_decay(system, work)
            state.epochs += 1
            while state.left > 0 and state.operations < plan.max_operations:
                push_epoch(system, work, state, min(EDGES_PER_POLL, plan.max_operations - state.operations))
                if state.operations + state.pushes >= next_poll:
                    next_poll = state.operations + state.pushes + EDGES_PER_POLL
                    poll_or_cancel(cancelled)
            if state.left == 0:
                begin_epoch(work, state)
                sweeping = (
                    plan.omega > 0.0 and state.epochs >= EPOCHS_BEFORE_SWEEPS
                    and state.left > MIN_ACTIVE_FRACTION * work.n_touched
                )
        converged = state.left == 0 and state.epsilon <= plan.epsilon
        state.epsilon = max(plan.epsilon, state.epsilon * EPSILON_STEP)

    if sweeping:
        # With a target: once every residual is below this epsilon per neighbour, the mass is below the target.
        state.epsilon = min(plan.epsilon, plan.target / system.indices.shape[0]) if plan.target > 0.0 else plan.epsilon
        set_thresholds(system, work, state, plan.epsilon)
    while sweeping and not converged and state.operations < plan.max_operations and state.epochs < plan.max_epochs:
        if work.n_touched > work.cells.shape[0] // 4:
            sort_touched(work)
        position = 0
        pushes_before = state.pushes
        while position < work.n_touched and state.operations < plan.max_operations:
            position = sweep(
                system, work, state, position, plan.omega, min(EDGES_PER_POLL, plan.max_operations - state.operations),
            )
            if state.operations + state.pushes + scanned + position >= next_poll:
                next_poll = state.operations + state.pushes + scanned + position + EDGES_PER_POLL
                poll_or_cancel(cancelled)
        scanned += position
        state.epochs += 1
        converged = (position == work.n_touched and state.pushes == pushes_before) or (
            plan.target > 0.0 and mass_of(work) <= plan.target
        )
    return converged


cdef bint push_to_target(
    SystemView system, Workspace work, PushState* state, PushPlan* plan, const unsigned char[::1] cancelled,
) except -1 nogil:
    """`push_all`; with a target, epsilon then falls until the residual mass is at most that. Changes the plan."""
    cdef double mass
    while True:
        if not push_all(system, work, state, plan, cancelled):
            return False
        if plan.target <= 0.0:
            return True
        mass = mass_of(work)
        if mass <= plan.target or plan.epsilon < SMALLEST_EPSILON:
            return mass <= plan.target
        plan.first_epsilon = plan.epsilon
        plan.epsilon *= min(SMALLEST_DROP, max(LARGEST_DROP, plan.target / mass))


cdef void push_once(SystemView system, Workspace work, PushState* state, node_t source) noexcept nogil:
    """Put mass 1 on a node of an empty workspace, and push it once. The node is listed first among the touched."""
    work.touched[0] = source
    work.n_touched = 1
    work.cells[source].residual = 1.0
    work.cells[source].threshold = INFINITY
    work.queue[0] = source
    state.head, state.tail, state.left = 0, 1, 1
    push_epoch(system, work, state, 1)


def push(
    SystemView system, Workspace work, Effort effort, *,
    double first_epsilon, double epsilon, double omega, double target, bint measure,
):
    """Push until no node is active under `epsilon` and the residual mass is at most `target`, or a budget ends.

    Rounds with a falling epsilon, from `first_epsilon` on, let mass gather before it is pushed. `omega > 0` allows the
    switch from the queue to sweeps over-relaxed by omega. `first_epsilon == epsilon` and `omega == 0` are the paper's
    FIFO order. A `target` of 0 stands for none. Returns whether it converged, and adds to `effort`.
    """
    cdef PushPlan plan = PushPlan(
        first_epsilon, epsilon, omega, target, effort.max_operations, effort.max_epochs, measure,
    )
    cdef PushState state = new_push(first_epsilon)
    cdef bint converged
    state.operations, state.pushes, state.epochs = effort.operations, effort.pushes, effort.epochs
    with nogil:
        converged = push_to_target(system, work, &state, &plan, effort.cancelled)
    effort.operations, effort.pushes, effort.epochs = state.operations, state.pushes, state.epochs
    effort.decay += state.decay
    return converged


def column(SystemView system, Workspace work, node_t source, double epsilon, int64_t max_edges, exact_column):
    """Push mass 1 from one node, as `push` does in FIFO order but with less set-up; drain the workspace.

    Where it would walk more than `max_edges` edges, ``exact_column(source)`` takes its place, unless that is None.
    """
    cdef PushState state = new_push(epsilon)
    push_or_replace(system, work, &state, source, max_edges, exact_column)
    return work.drain()


def diagonal(
    SystemView system, Workspace work, const node_t[::1] sources, const double[::1] epsilons,
    double[::1] entries, double[::1] masses,
):
    """Write `z[u] + r @ z + r @ (r / pivot)` of a push H z + r = e_u from each source, and the mass of r.

    The first is the entry of the diagonal of inv(H) up to a term of second order in r, which is not negative.
    """
    cdef PushState state = new_push(0.0)
    cdef Py_ssize_t i, j
    cdef node_t u
    cdef double residual, pivot
    with nogil:
        for j in range(sources.shape[0]):
            state.epsilon = epsilons[j]
            push_from(system, work, &state, sources[j], True, INT64_MAX)
            entries[j] = work.estimate[sources[j]]
            masses[j] = 0.0
            for i in range(work.n_touched):
                u = work.touched[i]
                residual = work.cells[u].residual
                pivot = pivot_of(system, u, system.stops[u] - system.starts[u])
                entries[j] += residual * (work.estimate[u] + residual / pivot)
                masses[j] += residual
            clear(work)


cdef void recompute_residual(
    SystemView system, Workspace work, node_t source, const node_t[::1] nodes, const double[::1] estimate,
    const double[::1] c,
) noexcept nogil:
    """Write ``e_source - H estimate`` into the residuals of a clean workspace, and a bound on its rounding error.

    `nodes` holds the neighbours of every node that has an estimate; `c` is parallel to it. The bounds stand where the
    thresholds were. It is computed anew, because the residual that a push updates collects rounding errors.
    """
    cdef Py_ssize_t i, e
    cdef node_t u, v
    cdef double share, settled
    cdef bint weighted = system.weights.shape[0] > 0
    work.cells[source].residual = 1.0
    for i in range(nodes.shape[0]):
        u = nodes[i]
        work.touched[i] = u
        if estimate[i] == 0.0:
            continue
        for e in range(system.starts[u], system.stops[u]):
            v = system.indices[e]
            share = estimate[i] * system.weights[e] if weighted else estimate[i]
            work.cells[v].residual += share
            work.cells[v].threshold += fabs(share)
    work.n_touched = nodes.shape[0]
    for i in range(nodes.shape[0]):
        u = nodes[i]
        work.estimate[u] = estimate[i]
        settled = (c[i] + degree_of(system, u)) * estimate[i]
        work.cells[u].residual -= settled
        # A sum of m numbers is off by at most m half units of rounding of the sum of their magnitudes.
        work.cells[u].threshold = (
            0.5 * DBL_EPSILON * (system.stops[u] - system.starts[u] + 5) * (work.cells[u].threshold + fabs(settled))
        )


def residual(
    SystemView system, Workspace work, node_t source, const node_t[::1] nodes, const double[::1] estimate,
    const double[::1] c,
):
    """``e_source - H estimate`` at the touched nodes of a push, and a bound on its rounding error."""
    residuals, roundings = np.empty(nodes.shape[0]), np.empty(nodes.shape[0])
    cdef double[::1] residuals_out = residuals, roundings_out = roundings
    cdef Py_ssize_t i
    with nogil:
        recompute_residual(system, work, source, nodes, estimate, c)
        for i in range(nodes.shape[0]):
            residuals_out[i] = work.cells[nodes[i]].residual
            roundings_out[i] = work.cells[nodes[i]].threshold
        clear(work)
    return residuals, roundings
