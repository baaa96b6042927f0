"""One diffusion for all labels: labels spread over the graph, and nodes read what has arrived."""

cimport cython
from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t

import numpy as np

from nx_fastonl._lib.prefetch cimport prefetch
from nx_fastonl._lib.signals cimport is_poll_due, poll_signals
from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.learners._relaxation cimport Evidence, GradientStore, ScoreBuffers
from nx_fastonl.learners._stream cimport Engine
from nx_fastonl.push._push cimport PushState, new_push, push_from, recompute_residual
from nx_fastonl.push._system cimport SystemView, degree_of, pivot_of
from nx_fastonl.push._workspace cimport Workspace, clear

ctypedef fused real_t:
    float
    double

SLOT = np.dtype([("index", np.int32), ("neighbours", np.float32)])

# How many entries ahead in the queue a row's offsets, its neighbours, their slots and residuals are prefetched.
cdef Py_ssize_t OFFSETS_AHEAD = 8
cdef Py_ssize_t ROW_AHEAD = 5
cdef Py_ssize_t SLOTS_AHEAD = 3
cdef Py_ssize_t NUMBERS_AHEAD = 1
cdef enum:
    ENDS_PER_ROW = 8
# The same in the list of nodes that a push touched.
cdef Py_ssize_t NODES_AHEAD = 8
# Slots of larger graphs do not stay in the cache.
cdef Py_ssize_t SLOTS_IN_CACHE = 1 << 15
cdef float[2] WAITING = [0.0, INFINITY]

# A node's scores are read by a push from it. Its epsilon is READ_EPSILON once the fraction READ_FRACTION of the nodes
# was learned. Before, fewer labels have arrived near the node, and epsilon is smaller in proportion, down to the
# fraction MIN_READ_FRACTION of READ_EPSILON. These were chosen by accuracy on the graphs of the benchmarks, where
# reading further gains little.
cdef double READ_EPSILON = 0.06
cdef double READ_FRACTION = 0.1
cdef double MIN_READ_FRACTION = 0.005
# A read ends after this many edges. Mass hardly settles between two nodes whose edge is much heavier than c.
cdef enum:
    MAX_READ_EDGES = 20_000

# The smallest theta. No residual would ever be below a theta of 0.
cdef double SMALLEST_THETA = 1e-300
cdef Py_ssize_t MAX_LANES = 8  # per block: in double precision, a cache line
cdef Py_ssize_t MIN_LANES = 2
cdef Py_ssize_t MIN_SLOTS = 4096

# Where the numbers of a node for a block of labels are stored.
cdef struct Slot:
    int32_t index  # 0: nowhere yet
    float neighbours  # +inf while the node waits in the queue

# One label's push under way. Its queue is the ring work.queue[head], ..., work.queue[tail - 1].
cdef struct LaneState:
    Py_ssize_t block
    Py_ssize_t lane  # within the block
    double theta  # a node is active while |residual| >= theta * neighbours
    Py_ssize_t head
    Py_ssize_t tail
    int64_t operations  # edges walked and nodes pushed


@cython.final
cdef class DiffusionStore:
    """The estimates Z and residuals R of ``H Z + R = B``, with a lane for each label.

    Every label has a lane, a system of its own. Lanes are stored in blocks: ``slots[u, block]`` says where the lanes of
    a block are stored for node u, in `residuals` and `estimates`. A node gets a slot when mass first reaches it. Slot 0
    belongs to no node and is all zero.

    Parameters
    ----------
    n : int
        The number of nodes.
    rate : float
        A settled residual is less than ``theta * neighbours`` with ``theta = rate * mass``.
    single : bool
        Whether Z and R are stored in single precision.
    """

    cdef Slot[:, ::1] slots
    cdef int64_t[::1] slot_owners  # u * blocks + block
    # One of the two pairs is empty.
    cdef double[:, ::1] residuals64, estimates64
    cdef float[:, ::1] residuals32, estimates32
    cdef readonly object residuals, estimates  # the same memory, as numpy sees it
    cdef object _slots
    cdef unsigned char[::1] unsettled  # lanes in which an interrupted push left nodes active
    cdef readonly bint single
    cdef readonly Py_ssize_t width  # lanes of a block
    cdef readonly int64_t n_slots
    cdef readonly int64_t n_additions
    cdef readonly int64_t n_pushes
    cdef readonly int64_t n_placements  # calls of `place`
    cdef public double rate
    cdef readonly double mass  # the sum over nodes of the largest magnitude of their sources
    cdef readonly double largest_theta  # under which anything was settled

    def __init__(self, Py_ssize_t n, double rate, bint single):
        self.rate, self.single, self.width = rate, single, 0
        self.slots = self._slots = np.zeros((n, 1), dtype=SLOT)
        self.n_slots = 1
        self.n_additions = self.n_pushes = self.n_placements = 0
        self.mass = self.largest_theta = 0.0
        self.unsettled = np.zeros(MIN_LANES, dtype=np.uint8)
        self.resize(MIN_SLOTS, MIN_LANES)

    @property
    def lanes(self):
        """The number of labels that there is room for."""
        return self.slots.shape[1] * self.width

    @property
    def slot_indices(self):
        """Where the lanes of each block are stored for each node; 0: nowhere."""
        return self._slots["index"]

    @property
    def theta(self):
        """The residual per neighbour at which a node becomes active, for the present mass."""
        return theta_of(self)

    @property
    def unsettled_lanes(self):
        return np.flatnonzero(self.unsettled).tolist()

    def resize(self, Py_ssize_t slots, Py_ssize_t width):
        """Make room for this many slots, each of `width` lanes; copy those in use. Memory is committed when written."""
        cdef Py_ssize_t used = self.n_slots if self.width > 0 else 0
        dtype = np.float32 if self.single else np.float64
        residuals, estimates = np.zeros((slots, width), dtype=dtype), np.zeros((slots, width), dtype=dtype)
        slot_owners = np.zeros(slots, dtype=np.int64)
        if used:
            residuals[:used, : self.width] = self.residuals[:used]
            estimates[:used, : self.width] = self.estimates[:used]
            slot_owners[:used] = self.slot_owners[:used]
        self.bind(residuals, estimates)
        self.slot_owners, self.width = slot_owners, width

    cdef int bind(self, residuals, estimates) except -1:
        if self.single:
            self.residuals32, self.estimates32 = residuals, estimates
        else:
            self.residuals64, self.estimates64 = residuals, estimates
        self.residuals, self.estimates = residuals, estimates
        return 0

    def reserve_slots(self, Py_ssize_t count):
        """Make sure that at least `count` slots are free."""
        cdef Py_ssize_t room = self.slot_owners.shape[0]
        if self.n_slots + count > room:
            self.resize(max(self.n_slots + count, 2 * room), self.width)

    def reserve_labels(self, Py_ssize_t k):
        """Make a lane for each of k labels: widen the first block up to MAX_LANES, then add blocks."""
        cdef Py_ssize_t blocks = self.slots.shape[1], width = self.width
        while k > width and width < MAX_LANES:
            width *= 2
        if width > self.width:
            self.resize(self.slot_owners.shape[0], width)
        if k > blocks * width:
            more = (k + width - 1) // width
            slots, slot_owners = np.zeros((self.slots.shape[0], more), dtype=SLOT), np.array(self.slot_owners)
            node, block = np.divmod(slot_owners[1 : self.n_slots], blocks)
            slots[node, block] = self._slots[node, block]
            slot_owners[1 : self.n_slots] = node * more + block
            self.slots = self._slots = slots
            self.slot_owners = slot_owners
        if self.lanes > self.unsettled.shape[0]:
            unsettled = np.zeros(self.lanes, dtype=np.uint8)
            unsettled[: self.unsettled.shape[0]] = self.unsettled
            self.unsettled = unsettled

    def place(
        self, SystemView system, const node_t[::1] nodes, const double[::1] masses, const int32_t[::1] labels,
        double mass,
    ):
        """Add masses to the residuals of nodes in the lanes of their labels, and `mass` to the mass: all or nothing.

        `settle` has to follow.
        """
        cdef Py_ssize_t i
        self.reserve_slots(nodes.shape[0])
        for i in range(nodes.shape[0]):
            place_mass(system, self, nodes[i], labels[i], masses[i])
        self.mass += mass
        self.n_placements += 1

    def settle(self, SystemView system, Workspace work, const node_t[::1] nodes, Py_ssize_t label, double theta):
        """Push from these nodes, the only ones that may be active in the lane of a label, until it is settled."""
        cdef LaneState lane = lane_of(self, label, theta)
        cdef Py_ssize_t i
        self.largest_theta = max(self.largest_theta, theta)
        with nogil:
            self.unsettled[label] = True
            for i in range(nodes.shape[0]):
                enqueue_if_active(self, work, &lane, nodes[i])
            push_lane_of(system, self, work, &lane)
            self.unsettled[label] = False

    def resettle(self, SystemView system, Workspace work, Py_ssize_t label):
        """Finish what an interrupted push left undone in the lane of a label: check each of its nodes once."""
        cdef LaneState lane = lane_of(self, label, max(self.largest_theta, theta_of(self)))
        cdef Py_ssize_t i, u, blocks = self.slots.shape[1]
        self.largest_theta = max(self.largest_theta, lane.theta)
        with nogil:
            for i in range(1, self.n_slots):
                u = self.slot_owners[i] // blocks
                if self.slot_owners[i] % blocks == lane.block:
                    self.slots[u, lane.block].neighbours = <float> (system.stops[u] - system.starts[u])
                    enqueue_if_active(self, work, &lane, <node_t> u)
            push_lane_of(system, self, work, &lane)
            self.unsettled[label] = False

    def read_epsilon(self):
        """The epsilon of the push that reads a node's scores."""
        return read_epsilon_of(self)

    def read(
        self, SystemView system, Workspace work, const node_t[::1] nodes, double[:, ::1] rows, double[::1] diagonals,
    ):
        """Write rows of ``inv(H) B`` and diagonal entries of inv(H), from what a push from each node reaches."""
        cdef PushState state = new_push(read_epsilon_of(self))
        cdef Py_ssize_t i
        with nogil:
            for i in range(nodes.shape[0]):
                push_from(system, work, &state, nodes[i], True, MAX_READ_EDGES)
                read_lanes_of(system, self, work, rows[i], &diagonals[i])

    def read_with_bound(
        self, SystemView system, Workspace work, node_t u, const node_t[::1] nodes, const double[::1] estimate,
        const double[::1] c, double[::1] row,
    ):
        """Write row u of ``inv(H) B``, as `read` has it, from a push ``H z + r = e_u``; return two masses.

        Pushing every touched node once more gives values ``z + r / pivot``. The first mass is at least what that leaves,
        ``|r| D / pivot``; the second is the sum of ``|values| c``.
        """
        cdef double left = 0.0, read = 0.0, value, degree
        cdef Py_ssize_t i
        with nogil:
            recompute_residual(system, work, u, nodes, estimate, c)
            for i in range(nodes.shape[0]):
                degree = degree_of(system, nodes[i])
                value = estimate[i] + work.cells[nodes[i]].residual / (c[i] + degree)
                left += fabs(work.cells[nodes[i]].residual) * degree / (c[i] + degree) + work.cells[nodes[i]].threshold
                read += fabs(value) * c[i]
                work.estimate[nodes[i]] = value
            if self.single:
                sum_lanes[float](self, work, u, self.residuals32, self.estimates32, row)
            else:
                sum_lanes[double](self, work, u, self.residuals64, self.estimates64, row)
            clear(work)
        return left, read

    def __reduce__(self):
        arrays = (self._slots.copy(), np.array(self.slot_owners), self.residuals.copy(), self.estimates.copy())
        counts = (self.n_slots, self.n_additions, self.n_pushes)
        sums = (self.mass, self.largest_theta)
        return _restored, (self.rate, self.single, arrays, np.array(self.unsettled), counts, sums)


def _restored(rate, single, arrays, unsettled, counts, sums):
    cdef DiffusionStore store = DiffusionStore(1, rate, single)
    slots, store.slot_owners, residuals, estimates = arrays
    store.slots = store._slots = slots
    store.bind(residuals, estimates)
    store.unsettled, store.width = unsettled, residuals.shape[1]
    store.n_slots, store.n_additions, store.n_pushes = counts
    store.mass, store.largest_theta = sums
    return store


cdef inline double theta_of(DiffusionStore store) noexcept nogil:
    return max(store.rate * store.mass, SMALLEST_THETA)


cdef inline double read_epsilon_of(DiffusionStore store) noexcept nogil:
    cdef double learned = store.n_additions / (READ_FRACTION * store.slots.shape[0])
    return READ_EPSILON * min(1.0, max(MIN_READ_FRACTION, learned))


cdef inline LaneState lane_of(DiffusionStore store, Py_ssize_t label, double theta) noexcept nogil:
    return LaneState(label // store.width, label % store.width, theta, 0, 0, 0)


cdef int32_t new_slot(SystemView system, DiffusionStore store, Py_ssize_t u, Py_ssize_t block) noexcept nogil:
    """Give node u a slot. There must be a free one."""
    store.slots[u, block] = Slot(<int32_t> store.n_slots, <float> (system.stops[u] - system.starts[u]))
    store.slot_owners[store.n_slots] = u * store.slots.shape[1] + block
    store.n_slots += 1
    return store.slots[u, block].index


cdef inline int32_t slot_of(SystemView system, DiffusionStore store, Py_ssize_t u, Py_ssize_t block) noexcept nogil:
    """The slot of node u; a new one if it has none yet."""
    return store.slots[u, block].index or new_slot(system, store, u, block)


# Invariant of each lane:  H @ estimates + residuals == sources,  H = diag(pivot) - W.

cdef void place_mass(SystemView system, DiffusionStore store, node_t u, Py_ssize_t label, double mass) noexcept nogil:
    """Add mass to the residual of node u in the lane of a label, which is then not settled."""
    cdef int32_t slot = slot_of(system, store, u, label // store.width)
    if store.single:
        store.residuals32[slot, label % store.width] += <float> mass
    else:
        store.residuals64[slot, label % store.width] += mass
    store.n_additions += mass != 0.0
    store.unsettled[label] = True


cdef void enqueue_if_active(DiffusionStore store, Workspace work, LaneState* lane, node_t u) noexcept nogil:
    cdef Slot slot = store.slots[u, lane.block]
    cdef double residual
    if store.single:
        residual = store.residuals32[slot.index, lane.lane]
    else:
        residual = store.residuals64[slot.index, lane.lane]
    if fabs(residual) >= lane.theta * slot.neighbours:
        work.queue[lane.tail] = u
        lane.tail += 1
        store.slots[u, lane.block].neighbours = INFINITY


cdef inline void scatter(
    SystemView system, DiffusionStore store, Workspace work, LaneState* state, Slot[:] slots, real_t[:] residuals,
    node_t u, double share, bint weighted,
) noexcept nogil:
    """Add `share`, per unit of weight, to the residuals of u's neighbours; queue those it makes active."""
    cdef Py_ssize_t e, v, tail = state.tail, ring = work.queue.shape[0]
    cdef double theta = state.theta
    cdef int32_t slot
    cdef real_t residual
    cdef bint active
    for e in range(system.starts[u], system.stops[u]):
        v = system.indices[e]
        slot = slots[v].index
        if slot == 0:
            slot = new_slot(system, store, v, state.block)
        residual = residuals[slot] + <real_t> (share * system.weights[e] if weighted else share)
        residuals[slot] = residual
        active = fabs(residual) >= theta * slots[v].neighbours
        work.queue[tail] = <node_t> v
        tail += active
        if tail == ring:
            tail = 0
        slots[v].neighbours += WAITING[active]
    state.tail = tail


cdef inline void prefetch_slots(
    SystemView system, Workspace work, Py_ssize_t head, Slot[:] slots, real_t[:] residuals,
) noexcept nogil:
    """Prefetch the rows, slots and residuals of the next nodes in the queue. Each step needs the one before.

    Beyond its end, the queue holds old nodes. Prefetching their rows is useless, but never out of range.
    """
    cdef Py_ssize_t i, start, last = system.indices.shape[0] - ENDS_PER_ROW
    if head + OFFSETS_AHEAD >= work.queue.shape[0] or last < 0:
        return
    prefetch(&system.starts[work.queue[head + OFFSETS_AHEAD]])
    start = min(<Py_ssize_t> system.starts[work.queue[head + ROW_AHEAD]], last)
    prefetch(&system.indices[start])
    start = min(<Py_ssize_t> system.starts[work.queue[head + SLOTS_AHEAD]], last)
    for i in range(ENDS_PER_ROW):
        prefetch(&slots[system.indices[start + i]])
    start = min(<Py_ssize_t> system.starts[work.queue[head + NUMBERS_AHEAD]], last)
    for i in range(ENDS_PER_ROW):
        prefetch(&residuals[slots[system.indices[start + i]].index])


cdef int64_t push_lane(
    SystemView system, DiffusionStore store, Workspace work, LaneState state, real_t precision,
) except -1 nogil:
    """Push nodes in the order they became active, until none is; return the operations.

    A push at u settles the fraction c / (c + D) of its residual, which is at least theta * neighbours. So the loop ends
    if theta > 0.
    """
    # The columns of this block and lane, so that the loop indexes by node and by slot only.
    cdef Slot[:] slots = store.slots[:, state.block]
    cdef real_t[:] residuals, estimates
    cdef bint prefetches = slots.shape[0] > SLOTS_IN_CACHE, weighted = system.weights.shape[0] > 0
    cdef Py_ssize_t neighbours
    cdef int32_t slot
    cdef node_t u
    cdef double share
    if real_t is double:
        residuals, estimates = store.residuals64[:, state.lane], store.estimates64[:, state.lane]
    else:
        residuals, estimates = store.residuals32[:, state.lane], store.estimates32[:, state.lane]
    while state.head != state.tail:
        u = work.queue[state.head]
        neighbours = system.stops[u] - system.starts[u]
        if store.n_slots + neighbours > residuals.shape[0]:
            with gil:
                store.reserve_slots(neighbours)
            if real_t is double:
                residuals, estimates = store.residuals64[:, state.lane], store.estimates64[:, state.lane]
            else:
                residuals, estimates = store.residuals32[:, state.lane], store.estimates32[:, state.lane]
        if prefetches:
            prefetch_slots(system, work, state.head, slots, residuals)
        state.head += 1
        if state.head == work.queue.shape[0]:
            state.head = 0
        slot = slots[u].index
        slots[u].neighbours = <float> neighbours
        share = residuals[slot] / pivot_of(system, u, neighbours)
        residuals[slot] = 0.0
        estimates[slot] += <real_t> share
        if weighted:
            scatter(system, store, work, &state, slots, residuals, u, share, True)
        else:
            scatter(system, store, work, &state, slots, residuals, u, share, False)
        store.n_pushes += 1
        state.operations += neighbours + 1
        if is_poll_due(state.operations - neighbours - 1, state.operations):
            poll_signals()
    return state.operations


cdef int64_t push_lane_of(SystemView system, DiffusionStore store, Workspace work, LaneState* state) except -1 nogil:
    if store.single:
        return push_lane[float](system, store, work, state[0], 0.0)
    return push_lane[double](system, store, work, state[0], 0.0)


cdef void read_lanes(
    SystemView system, DiffusionStore store, Workspace work, const real_t[:, ::1] residuals,
    const real_t[:, ::1] estimates, double[::1] scores, double* own,
) noexcept nogil:
    """Read all lanes at the node that a push came from, and the diagonal entry of inv(H); clear the workspace.

    With H z + r = e_u:  inv(H)[u] @ sources = estimates[u] + z @ residuals + r @ inv(H) @ residuals. In the last term,
    inv(H) is replaced by 1 / pivot: that equals one more push at each touched node whose shares are thrown away. The
    same holds for inv(H)[u, u] = z[u] + r @ z + r @ inv(H) @ r.
    """
    cdef Py_ssize_t n_blocks = store.slots.shape[1], width = residuals.shape[1], block, i, j
    cdef int32_t slot
    cdef node_t v = work.touched[0]
    cdef double share, value
    own[0] = work.estimate[v]
    for block in range(n_blocks):
        slot = store.slots[v, block].index
        for j in range(width):
            scores[block * width + j] = estimates[slot, j]
    for i in range(work.n_touched):
        if i + NODES_AHEAD < work.n_touched:
            prefetch(&store.slots[work.touched[i + NODES_AHEAD], 0])
            prefetch(&residuals[store.slots[work.touched[i + NODES_AHEAD // 2], 0].index, 0])
        v = work.touched[i]
        share = work.cells[v].residual / pivot_of(system, v, system.stops[v] - system.starts[v])
        value = work.estimate[v] + share
        own[0] += work.cells[v].residual * value
        for block in range(n_blocks):
            slot = store.slots[v, block].index
            if slot != 0:
                for j in range(width):
                    scores[block * width + j] += value * residuals[slot, j]
        work.estimate[v] = 0.0
        work.cells[v].residual = 0.0
        work.cells[v].threshold = 0.0
    work.n_touched = 0


cdef void sum_lanes(
    DiffusionStore store, Workspace work, node_t u, const real_t[:, ::1] residuals, const real_t[:, ::1] estimates,
    double[::1] row,
) noexcept nogil:
    """Write the estimates of node u in all lanes, plus the residuals weighted by the estimates in the workspace."""
    cdef Py_ssize_t n_blocks = store.slots.shape[1], width = residuals.shape[1], block, i, j
    cdef int32_t slot
    cdef node_t v
    for block in range(n_blocks):
        for j in range(width):
            row[block * width + j] = estimates[store.slots[u, block].index, j]
    for i in range(work.n_touched):
        v = work.touched[i]
        for block in range(n_blocks):
            slot = store.slots[v, block].index
            if slot != 0:
                for j in range(width):
                    row[block * width + j] += work.estimate[v] * residuals[slot, j]


cdef void read_lanes_of(
    SystemView system, DiffusionStore store, Workspace work, double[::1] scores, double* own,
) noexcept nogil:
    if store.single:
        read_lanes[float](system, store, work, store.residuals32, store.estimates32, scores, own)
    else:
        read_lanes[double](system, store, work, store.residuals64, store.estimates64, scores, own)


@cython.final
cdef class DiffusionEngine(Engine):
    """Scores from a diffusion, in which what is learned of a node spreads; M is `a` times what the diffusion gives."""

    cdef SystemView system
    cdef DiffusionStore store
    cdef Workspace work
    cdef PushState state
    cdef double a
    cdef double[::1] row  # of inv(H) B, all lanes
    cdef int64_t operations  # of all lanes pushed

    def __init__(self, GradientStore gradients, SystemView system, DiffusionStore store, Workspace work, double a):
        super().__init__(gradients)
        self.system, self.store, self.work, self.a = system, store, work, a
        self.state = new_push(0.0)
        self.row = np.empty(store.lanes)
        self.operations = 0

    cdef int read(self, node_t u, Py_ssize_t k, ScoreBuffers buffers, Evidence* evidence) except -1 nogil:
        cdef double factor = self.a * evidence.s, constant = self.gradients.constant, own
        cdef Py_ssize_t j
        self.state.epsilon = read_epsilon_of(self.store)
        push_from(self.system, self.work, &self.state, u, True, MAX_READ_EDGES)
        read_lanes_of(self.system, self.store, self.work, self.row, &own)
        # Estimated from below: with the negative constant it may fall below 0, though the exact entry is positive.
        evidence.diagonal = max(factor * evidence.s * own + constant, 0.0)
        evidence.magnitude = 0.0
        for j in range(k):
            buffers.scores[j] = factor * self.row[j] + constant * self.gradients.total[j]
            evidence.magnitude = max(evidence.magnitude, fabs(buffers.scores[j]))
        return 0

    cdef int reserve(self) except -1 nogil:
        if self.store.n_slots + self.store.slots.shape[1] > self.store.slot_owners.shape[0]:
            with gil:
                self.store.reserve_slots(self.store.slots.shape[1])
        return 0

    cdef void add(self, node_t u, Py_ssize_t k, ScoreBuffers buffers) noexcept nogil:
        cdef Py_ssize_t j
        for j in range(k):
            if buffers.change[j] != 0.0:
                place_mass(self.system, self.store, u, j, buffers.change[j])
        self.store.mass += buffers.new_size - buffers.old_size

    cdef int settle(self, node_t u, Py_ssize_t k, ScoreBuffers buffers) except -1 nogil:
        cdef LaneState lane
        cdef Py_ssize_t j
        cdef double theta = theta_of(self.store)
        self.store.largest_theta = max(self.store.largest_theta, theta)
        for j in range(k):
            if buffers.change[j] != 0.0:
                lane = lane_of(self.store, j, theta)
                lane.operations = self.operations
                enqueue_if_active(self.store, self.work, &lane, u)
                self.operations = push_lane_of(self.system, self.store, self.work, &lane)
                self.store.unsettled[j] = False
        return 0
