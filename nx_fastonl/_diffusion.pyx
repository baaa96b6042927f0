"""One diffusion for all labels, kept at rest: what labels spread, and what a node reads of it."""

from libc.float cimport DBL_MIN
from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t

import numpy as np

from nx_fastonl._prefetch cimport prefetch
from nx_fastonl._push cimport (
    EDGES_PER_SIGNAL_CHECK, Cell, Counters, Ring, System, check_signals, degree_of, pivot_of, push_out,
)
from nx_fastonl._relaxation cimport Census, Mark, Totals, predict_and_keep
from nx_fastonl._typedefs cimport node_t, offset_t

ctypedef fused real_t:
    float
    double

# Where a node keeps its numbers for a block of labels.
cdef struct Place:
    int32_t row  # 0: nowhere yet
    float neighbours  # +inf while the node waits in the queue

# What is counted: rows in use, masses added and nodes pushed. Each of the last two may add a rounding error.
cdef enum:
    ROWS = 0
    ADDITIONS = 1
    PUSHES = 2
# How far ahead in the queue a row's offsets, its neighbours, their places and the numbers there are asked for.
cdef Py_ssize_t OFFSETS_AHEAD = 8
cdef Py_ssize_t ROW_AHEAD = 5
cdef Py_ssize_t PLACES_AHEAD = 3
cdef Py_ssize_t NUMBERS_AHEAD = 1
cdef enum:
    ENDS_PER_ROW = 8
# How far ahead in the list of nodes that a push touched.
cdef Py_ssize_t NODES_AHEAD = 8
# Places of larger graphs do not stay in the cache.
cdef Py_ssize_t PLACES_IN_CACHE = 1 << 15
cdef float[2] WAITING = [0.0, INFINITY]

# A node looks around by a push down to this residual per neighbour once a tenth of the nodes were learned, and down to
# less before, as less rests near it: chosen by accuracy on the graphs of the benchmarks, where looking further gains
# little.
cdef double SIGHT = 0.06
cdef double PART_FOR_SIGHT = 0.1
cdef double FARTHEST = 0.005  # as a part of SIGHT

# Where mass hardly settles, as between two nodes whose edge is far heavier than c, looking on would not end soon.
cdef enum:
    MOST_EDGES_IN_SIGHT = 20_000

# Every label is a lane, a system of its own. Invariant of each:
#     H @ estimates + residuals == sources,  H = diag(pivot) - W,
# and at rest |residual| < theta * neighbours. `width` lanes make a block; `places[u, block]` says in which row of
# `residuals` and `estimates` node u has the lanes of a block. Rows are handed out when mass first reaches them; row 0
# is nobody's, and all zero. `queue` is a ring of n + 1 slots, as in the push.

cpdef double sight(Py_ssize_t n, const int64_t[::1] tally) noexcept nogil:
    """The residual per neighbour down to which a node looks around."""
    return SIGHT * min(1.0, max(FARTHEST, tally[ADDITIONS] / (PART_FOR_SIGHT * n)))


cdef inline int32_t row_of(
    const offset_t[::1] indptr, Place[:, ::1] places, int64_t[::1] owners, Py_ssize_t u, Py_ssize_t block,
    int64_t* n_rows,
) noexcept nogil:
    """The row of node u; a new one if it has none yet."""
    if places[u, block].row == 0:
        places[u, block] = Place(<int32_t> n_rows[0], <float> (indptr[u + 1] - indptr[u]))
        owners[n_rows[0]] = u * places.shape[1] + block
        n_rows[0] += 1
    return places[u, block].row


cdef inline void add_mass(
    const offset_t[::1] indptr, Place[:, ::1] places, real_t[:, ::1] residuals, int64_t[::1] owners, node_t[::1] queue,
    node_t u, Py_ssize_t block, Py_ssize_t lane, double mass, double theta, Ring* ring, int64_t* tally,
) noexcept nogil:
    """Add mass to a lane of node u, and queue u if that makes it active."""
    cdef int32_t row = row_of(indptr, places, owners, u, block, &tally[ROWS])
    residuals[row, lane] += <real_t> mass
    tally[ADDITIONS] += mass != 0.0
    if fabs(residuals[row, lane]) >= theta * places[u, block].neighbours:
        queue[ring.tail] = u
        ring.tail += 1
        places[u, block].neighbours = INFINITY


cdef inline void hand_out(
    const offset_t[::1] indptr, const node_t[::1] indices, const double[::1] weights, Place[:, ::1] places,
    real_t[:, ::1] residuals, int64_t[::1] owners, node_t[::1] queue, Py_ssize_t start, Py_ssize_t stop,
    Py_ssize_t block, Py_ssize_t lane, double share, bint weighted, double theta, Ring* ring, int64_t* n_rows,
) noexcept nogil:
    """Hand `share` to each unit of weight in the row start..stop, and queue the nodes that this makes active."""
    cdef Py_ssize_t e, v, tail = ring.tail
    cdef int32_t row
    cdef real_t residual
    cdef bint active
    for e in range(start, stop):
        v = indices[e]
        row = row_of(indptr, places, owners, v, block, n_rows)
        residual = residuals[row, lane] + <real_t> (share * weights[e] if weighted else share)
        residuals[row, lane] = residual
        active = fabs(residual) >= theta * places[v, block].neighbours
        queue[tail] = <node_t> v
        tail += active
        if tail == queue.shape[0]:
            tail = 0
        places[v, block].neighbours += WAITING[active]
    ring.tail = tail


cdef inline void look_ahead(
    const offset_t[::1] indptr, const node_t[::1] indices, const Place[:, ::1] places, const real_t[:, ::1] residuals,
    const node_t[::1] queue, Py_ssize_t block, Py_ssize_t lane, Py_ssize_t head,
) noexcept nogil:
    """Ask for the memory of the rows that the queue names next, as the push does: each step needs the one before.

    Slots of the queue that were not written yet hold old nodes: of no use, but never out of range.
    """
    cdef Py_ssize_t i, start
    if head + OFFSETS_AHEAD >= queue.shape[0] or indices.shape[0] < ENDS_PER_ROW:
        return
    prefetch(&indptr[queue[head + OFFSETS_AHEAD]])
    start = min(<Py_ssize_t> indptr[queue[head + ROW_AHEAD]], indices.shape[0] - ENDS_PER_ROW)
    prefetch(&indices[start])
    start = min(<Py_ssize_t> indptr[queue[head + PLACES_AHEAD]], indices.shape[0] - ENDS_PER_ROW)
    for i in range(ENDS_PER_ROW):
        prefetch(&places[indices[start + i], block])
    start = min(<Py_ssize_t> indptr[queue[head + NUMBERS_AHEAD]], indices.shape[0] - ENDS_PER_ROW)
    for i in range(ENDS_PER_ROW):
        prefetch(&residuals[places[indices[start + i], block].row, lane])


cdef inline Py_ssize_t push_lane(
    const offset_t[::1] indptr, const node_t[::1] indices, const double[::1] weights, const double[::1] diagonal,
    Place[:, ::1] places, real_t[:, ::1] residuals, real_t[:, ::1] estimates, int64_t[::1] owners, node_t[::1] queue,
    Py_ssize_t block, Py_ssize_t lane, double theta, System* system, Ring* ring, int64_t* tally, Counters* count,
) except -1 nogil:
    """Push nodes in the order they became active; return 0 once none is, or how many rows are lacking to go on.

    A push at u takes the part c / (c + D) of its residual, at least theta * neighbours, out of the lane: with
    theta > 0 it ends.
    """
    cdef Py_ssize_t start, stop
    cdef int32_t row
    cdef node_t u
    cdef double share
    while ring.head != ring.tail:
        u = queue[ring.head]
        start = indptr[u]
        stop = indptr[u + 1]
        if tally[ROWS] + (stop - start) > residuals.shape[0]:
            return tally[ROWS] + (stop - start) - residuals.shape[0]
        if places.shape[0] > PLACES_IN_CACHE:
            look_ahead(indptr, indices, places, residuals, queue, block, lane, ring.head)
        ring.head += 1
        if ring.head == queue.shape[0]:
            ring.head = 0
        row = places[u, block].row
        places[u, block].neighbours = <float> (stop - start)
        share = residuals[row, lane] / pivot_of(degree_of(diagonal, u, stop - start), system)
        residuals[row, lane] = 0.0
        estimates[row, lane] += <real_t> share
        if weights.shape[0] > 0:
            hand_out(
                indptr, indices, weights, places, residuals, owners, queue, start, stop, block, lane, share, True,
                theta, ring, &tally[ROWS],
            )
        else:
            hand_out(
                indptr, indices, weights, places, residuals, owners, queue, start, stop, block, lane, share, False,
                theta, ring, &tally[ROWS],
            )
        tally[PUSHES] += 1
        count.operations += stop - start + 1
        check_signals(count)
    return 0


cdef double largest(const double* values, Py_ssize_t k) noexcept nogil:
    cdef double found = 0.0
    cdef Py_ssize_t j
    for j in range(k):
        found = max(found, fabs(values[j]))
    return found


cdef inline void read_scores(
    const offset_t[::1] indptr, const double[::1] diagonal, Cell[::1] cells, double[::1] estimate,
    const node_t[::1] touched, Py_ssize_t n_touched, const Place[:, ::1] places, const real_t[:, ::1] residuals,
    const real_t[:, ::1] estimates, System* system, double* scores, double* own,
) noexcept nogil:
    """Read all lanes at the node that a push came from, and the diagonal entry of inv(H); clear up after the push.

    With H z + r = e_u:  inv(H)[u] @ sources = estimates[u] + z @ residuals + r @ inv(H) @ residuals. In the last
    term 1 / pivot stands for inv(H): as if every node touched were pushed once more, to nobody's gain. The same for
    inv(H)[u, u] = z[u] + r @ z + r @ inv(H) @ r.
    """
    cdef Py_ssize_t n_blocks = places.shape[1], width = residuals.shape[1], block, i, j
    cdef int32_t row
    cdef node_t v = touched[0]
    cdef double share, value
    own[0] = estimate[v]
    for block in range(n_blocks):
        row = places[v, block].row
        for j in range(width):
            scores[block * width + j] = estimates[row, j]
    for i in range(n_touched):
        if i + NODES_AHEAD < n_touched:
            prefetch(&places[touched[i + NODES_AHEAD], 0])
            prefetch(&residuals[places[touched[i + NODES_AHEAD // 2], 0].row, 0])
        v = touched[i]
        share = cells[v].residual / pivot_of(degree_of(diagonal, v, indptr[v + 1] - indptr[v]), system)
        value = estimate[v] + share
        own[0] += cells[v].residual * value
        for block in range(n_blocks):
            row = places[v, block].row
            if row != 0:
                for j in range(width):
                    scores[block * width + j] += value * residuals[row, j]
        estimate[v] = 0.0
        cells[v].residual = 0.0
        cells[v].limit = 0.0


def look(
    const offset_t[::1] indptr, const node_t[::1] indices, const double[::1] weights, const double[::1] diagonal,
    Cell[::1] cells, double[::1] estimate, node_t[::1] queue, node_t[::1] touched,
    const Place[:, ::1] places, const real_t[:, ::1] residuals, const real_t[:, ::1] estimates,
    const node_t[::1] rows, double[:, ::1] scores, double[::1] diagonals, *,
    double epsilon, double shift, double slope,
):
    """Write what each node reads in all lanes, and its diagonal entry of inv(H)."""
    cdef System system = System(epsilon, shift, slope, False)
    cdef Counters count = Counters(0, 0, 0, 0, 0.0, EDGES_PER_SIGNAL_CHECK)
    cdef Py_ssize_t i
    with nogil:
        for i in range(rows.shape[0]):
            push_out(
                indptr, indices, weights, diagonal, cells, estimate, queue, touched, rows[i], True, MOST_EDGES_IN_SIGHT,
                &system, &count,
            )
            read_scores(
                indptr, diagonal, cells, estimate, touched, count.touched, places, residuals, estimates, &system,
                &scores[i, 0], &diagonals[i],
            )


def settle(
    const offset_t[::1] indptr, const node_t[::1] indices, const double[::1] weights, const double[::1] diagonal,
    node_t[::1] queue, Place[:, ::1] places, real_t[:, ::1] residuals, real_t[:, ::1] estimates, int64_t[::1] owners,
    int64_t[::1] tally, grow, const node_t[::1] nodes, double[::1] masses, *,
    Py_ssize_t label, double theta, double shift, double slope,
):
    """Move masses to distinct nodes in the lane of one label, and push until it rests.

    What was moved is 0 in `masses`, whatever happens afterwards. There must be a free row for each node; `grow(count)`
    adds at least that many.
    """
    cdef System system = System(0.0, shift, slope, False)
    cdef Counters count = Counters(0, 0, 0, 0, 0.0, EDGES_PER_SIGNAL_CHECK)
    cdef Ring ring = Ring(0, 0, 0)
    cdef Py_ssize_t block = label // residuals.shape[1], lane = label % residuals.shape[1], i, lacking = -1
    with nogil:
        for i in range(nodes.shape[0]):
            add_mass(
                indptr, places, residuals, owners, queue, nodes[i], block, lane, masses[i], theta, &ring, &tally[0],
            )
            masses[i] = 0.0
        while lacking != 0:
            lacking = push_lane(
                indptr, indices, weights, diagonal, places, residuals, estimates, owners, queue, block, lane, theta,
                &system, &ring, &tally[0], &count,
            )
            if lacking > 0:
                with gil:
                    residuals, estimates, owners = grow(lacking)


def run(
    const offset_t[::1] indptr, const node_t[::1] indices, const double[::1] weights, const double[::1] diagonal,
    Cell[::1] cells, double[::1] estimate, node_t[::1] queue, node_t[::1] touched,
    Place[:, ::1] places, real_t[:, ::1] residuals, real_t[:, ::1] estimates, int64_t[::1] owners,
    int64_t[::1] tally, grow,
    Mark[::1] marks, double[:, ::1] gradients, double[::1] gradient_sum, Totals totals,
    int64_t[::1] counts, int64_t[::1] appearances,
    const node_t[::1] rows, const double[::1] scales, const int32_t[::1] labels, const double[::1] draws,
    int32_t[::1] predicted, *,
    double rate, double learned_mass, double shift, double slope, double a, double constant,
    Py_ssize_t k, Py_ssize_t n_gradients, int64_t n_learned,
):
    """Predict the label of each row, then learn it.

    As `run` of the paper's loop, on the diffusion: nodes rest below `rate` times the mass learned, times their
    neighbours. Returns the totals, how many rows of `gradients` are in use, and the mass learned.
    """
    cdef System system = System(0.0, shift, slope, False)
    cdef Counters count = Counters(0, 0, 0, 0, 0.0, EDGES_PER_SIGNAL_CHECK)
    cdef Counters spread = Counters(0, 0, 0, 0, 0.0, EDGES_PER_SIGNAL_CHECK)
    cdef Census census = Census(k, n_learned, &counts[0], &appearances[0])
    cdef Ring ring
    cdef Py_ssize_t width = residuals.shape[1], lanes = places.shape[1] * width
    cdef double[:, ::1] scratch = np.empty((3, max(lanes, gradient_sum.shape[0])))
    cdef double* scores = &scratch[0, 0]
    cdef double own, factor, size, theta
    cdef Py_ssize_t i, j, lacking
    cdef Mark mark
    with nogil:
        for i in range(rows.shape[0]):
            system.epsilon = sight(cells.shape[0], tally)
            push_out(
                indptr, indices, weights, diagonal, cells, estimate, queue, touched, rows[i], True, MOST_EDGES_IN_SIGHT,
                &system, &count,
            )
            read_scores(
                indptr, diagonal, cells, estimate, touched, count.touched, places, residuals, estimates, &system,
                scores, &own,
            )
            factor = a * scales[i]
            own = max(factor * scales[i] * own + constant, 0.0)
            size = 0.0
            for j in range(max(census.k, labels[i] + 1)):
                scores[j] = factor * scores[j] + constant * gradient_sum[j]
                size = max(size, fabs(scores[j]))
            mark = predict_and_keep(
                scores, size, own, scales[i], labels[i], draws[i] if draws.shape[0] > 0 else -1.0, &scratch[1, 0],
                &gradients[n_gradients, 0], <int32_t> n_gradients, &gradient_sum[0], &totals, &census, &predicted[i],
            )
            marks[rows[i]] = mark
            if mark.row == 0:
                gradients[0, mark.label] = -mark.s  # row 0 is nobody's
            n_gradients += mark.row > 0
            learned_mass += largest(&gradients[mark.row, 0], census.k)
            theta = max(rate * learned_mass, DBL_MIN)  # never 0, which nothing would ever be below
            for j in range(census.k):
                if gradients[mark.row, j] == 0.0:
                    continue
                ring = Ring(0, 0, 0)
                if tally[ROWS] == residuals.shape[0]:
                    with gil:
                        residuals, estimates, owners = grow(1)
                add_mass(
                    indptr, places, residuals, owners, queue, rows[i], j // width, j % width,
                    gradients[mark.row, j], theta, &ring, &tally[0],
                )
                lacking = -1
                while lacking != 0:
                    lacking = push_lane(
                        indptr, indices, weights, diagonal, places, residuals, estimates, owners, queue, j // width,
                        j % width, theta, &system, &ring, &tally[0], &spread,
                    )
                    if lacking > 0:
                        with gil:
                            residuals, estimates, owners = grow(lacking)
            gradients[0, mark.label] = 0.0
    return totals, n_gradients, learned_mass
