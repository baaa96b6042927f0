"""One diffusion for all labels: labels spread over the graph, and nodes read what has arrived."""

cimport cython
from libc.math cimport INFINITY, fabs
from libc.stdint cimport INT64_MAX, int32_t, int64_t

import numpy as np

from nx_fastonl._lib.arrays import check_restored, restored_array, restored_count, restored_number, shape_of

from nx_fastonl._lib.prefetch cimport prefetch
from nx_fastonl._lib.signals cimport EDGES_PER_POLL, is_poll_due, poll_signals
from nx_fastonl._lib.typedefs cimport node_t, offset_t
from nx_fastonl.graph._dynamic cimport Change
from nx_fastonl.kernels._scaling cimport Scaling, s_at, s_of
from nx_fastonl.learners._history cimport LabelHistory
from nx_fastonl.learners._relaxation cimport (
    NO_GRADIENT, ONE_ENTRY, SEVERAL_ENTRIES, Evidence, GradientKind, GradientStore, RelaxationEngine, StoredGradient,
    rescale_gradient, store_independent,
)
from nx_fastonl.push._push cimport PushState, new_push, push_from, recompute_residual
from nx_fastonl.push._system cimport SystemView, degree_of, pivot_at, pivot_of
from nx_fastonl.push._workspace cimport Workspace, clear

ctypedef fused real_t:
    float
    double

SLOT = np.dtype([("index", np.int32), ("allowance", np.float32)])

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

# A node's scores are read by a push from it. Its epsilon is largest once the fraction READ_FRACTION of the nodes was
# learned. Before, fewer labels have arrived near the node, and epsilon is smaller in proportion, down to the fraction
# MIN_READ_FRACTION of it. These were chosen by accuracy on the graphs of the benchmarks, where reading further gains
# little.
cdef double READ_FRACTION = 0.1
cdef double MIN_READ_FRACTION = 0.005
# A read ends after this many edges. Mass hardly settles between two nodes whose edge is much heavier than c.
cdef enum:
    MAX_READ_EDGES = 20_000

# Where a degree falls below this fraction of what it was, the residuals of its row are computed anew. Repaired ones would
# keep rounding errors of the large weight that has left, which are large beside what is left.
cdef double SMALLEST_FALL = 1.0 / 16.0
# Where a degree rises by more, the estimates of its node are thrown away: pushes would take nearly all of them away again,
# and few digits would be left.
cdef double LARGEST_RISE = 2.0**20

# After this many edges, some 0.3 milliseconds, the owner of the store is asked whether to push on.
cdef int64_t EDGES_BEFORE_ASKING = 1 << 17

# The smallest theta. No residual would ever be below a theta of 0.
cdef double SMALLEST_THETA = 1e-200
cdef Py_ssize_t MAX_LANES = 8  # per block: in double precision, a cache line
cdef Py_ssize_t MIN_LANES = 2
cdef Py_ssize_t MIN_SLOTS = 4096

# One label's push under way. Its queue is the ring work.queue[head], ..., work.queue[tail - 1].
cdef struct LaneState:
    Py_ssize_t block
    Py_ssize_t lane  # within the block
    double theta  # a node is active while |residual| >= theta * allowance
    Py_ssize_t head
    Py_ssize_t tail
    int64_t operations  # edges walked and nodes pushed
    int64_t max_operations


@cython.final
cdef class DiffusionStore:
    """The estimates Z and residuals R of ``H Z + R = B``, with a lane for each label.

    Every label has a lane, a system of its own. Lanes are stored in blocks: ``slots[u, block]`` says where the lanes of
    a block are stored for node u, in `residuals` and `estimates`. A node gets a slot when mass first reaches it. Slot 0
    belongs to no node and is all zero.

    Parameters
    ----------
    n : int
        The number of rows.
    rate : float
        A settled residual is less than ``theta * allowance`` with ``theta = rate * mass``.
    least_allowance : float
        The allowance of a node is the number of its neighbours, and at least this if it has any.
    largest_read_epsilon : float
        The largest epsilon of the push by which a node's scores are read.
    single : bool
        Whether Z and R are stored in single precision.
    n_nodes : int
        How many of the rows belong to nodes.
    position : int
        In the log of the graph's changes, up to which ``H Z + R = B`` holds.

    Attributes
    ----------
    when_slow : callable
        Called with this store, the nodes in the queue, a label, theta and the edges walked so far, when a lane does not
        settle for long. It returns how many more edges to walk, or 0 if it has settled the lane by itself.
    """

    def __init__(
        self, Py_ssize_t n, double rate, double least_allowance, double largest_read_epsilon, bint single,
        int64_t n_nodes=-1, int64_t position=0,
    ):
        self.rate, self.least_allowance, self.largest_read_epsilon = rate, least_allowance, largest_read_epsilon
        self.single, self.width = single, 0
        self.when_slow = None
        self.slots = self._slots = np.zeros((n, 1), dtype=SLOT)
        self.n_slots = 1
        self.n_additions = self.n_pushes = 0
        self.mass = self.largest_theta = 0.0
        self.solved = False
        self.n_nodes, self.position = n if n_nodes < 0 else n_nodes, position
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
        return np.flatnonzero(self.unsettled[: self.lanes]).tolist()

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
        self.bind(residuals, estimates, slot_owners)

    cdef int bind(self, residuals, estimates, int64_t[::1] slot_owners) except -1:
        """Take these arrays: all of them or, if one does not fit, none."""
        cdef double[:, ::1] residuals64 = np.zeros((0, 0)) if self.single else residuals
        cdef double[:, ::1] estimates64 = np.zeros((0, 0)) if self.single else estimates
        cdef float[:, ::1] residuals32 = residuals if self.single else np.zeros((0, 0), dtype=np.float32)
        cdef float[:, ::1] estimates32 = estimates if self.single else np.zeros((0, 0), dtype=np.float32)
        self.residuals64, self.estimates64, self.residuals32, self.estimates32 = (
            residuals64, estimates64, residuals32, estimates32,
        )
        self.residuals, self.estimates, self.slot_owners = residuals, estimates, slot_owners
        self.width = residuals.shape[1]
        return 0

    def reserve_slots(self, Py_ssize_t count):
        """Make sure that at least `count` slots are free."""
        cdef Py_ssize_t room = self.slot_owners.shape[0], most = self.slots.shape[0] * self.slots.shape[1] + 1
        if self.n_slots + count > room:
            self.resize(max(self.n_slots + count, min(2 * room, most)), self.width)

    def reserve_labels(self, Py_ssize_t k):
        """Make a lane for each of k labels: widen the first block up to MAX_LANES, then add blocks."""
        cdef Py_ssize_t blocks = self.slots.shape[1], width = self.width, more
        while k > width and width < MAX_LANES:
            width *= 2
        more = max(blocks, (k + width - 1) // width)
        if more * width > self.unsettled.shape[0]:  # first: there is a flag for each lane, whatever interrupts this
            unsettled = np.zeros(more * width, dtype=np.uint8)
            unsettled[: self.unsettled.shape[0]] = self.unsettled
            self.unsettled = unsettled
        if width > self.width:
            self.resize(self.slot_owners.shape[0], width)
        if more > blocks:
            slots, slot_owners = np.zeros((self.slots.shape[0], more), dtype=SLOT), np.array(self.slot_owners)
            node, block = np.divmod(slot_owners[1 : self.n_slots], blocks)
            slots[node, block] = self._slots[node, block]
            slot_owners[1 : self.n_slots] = node * more + block
            self.slots, self.slot_owners, self._slots = slots, slot_owners, slots

    def add_rows(self, Py_ssize_t n):
        """Make room for n rows."""
        if n > self.slots.shape[0]:
            slots = np.zeros((n, self.slots.shape[1]), dtype=SLOT)
            slots[: self.slots.shape[0]] = self._slots
            self.slots = self._slots = slots

    def repair(
        self, SystemView system, SystemView unlearned, double[::1] pivots, double absorption, LabelHistory history,
        GradientStore gradients, Scaling scaling, const Change[::1] changes, double loops, int64_t position,
    ):
        """Keep ``H Z + R = B`` where edges have changed: R -= (H' - H) Z, and R += B' - B.

        The system is that of the graph as it is now. `unlearned` is the same without absorption, `pivots` are those with
        it, and are empty without. `gradients` are the sources, in units of what `scaling` gives; None if sources do not
        depend on the graph. A self-loop stands `loops` times in W.

        Returns whether estimates were thrown away. Then other nodes than the ends of the changes may be active, too.
        """
        cdef Py_ssize_t i
        cdef bint threw_away = False
        self.reserve_slots(2 * changes.shape[0] * self.slots.shape[1])
        with nogil:
            for i in range(changes.shape[0]):
                repair_edge(system, self, changes[i], loops)
                repair_pivot(self, unlearned, pivots, absorption, history, changes[i].u, changes[i].u_before, changes[i].u_after)
                if changes[i].u != changes[i].v:
                    repair_pivot(
                        self, unlearned, pivots, absorption, history, changes[i].v, changes[i].v_before, changes[i].v_after,
                    )
                if gradients is not None:
                    repair_source(system, self, gradients, changes[i].u, s_at(scaling, changes[i].u_after))
                    repair_source(system, self, gradients, changes[i].v, s_at(scaling, changes[i].v_after))
            for i in range(changes.shape[0]):
                if changes[i].u_after < SMALLEST_FALL * changes[i].u_before:
                    recompute_row(system, self, history, gradients, changes[i].u)
                if changes[i].v_after < SMALLEST_FALL * changes[i].v_before:
                    recompute_row(system, self, history, gradients, changes[i].v)
                if rises_much(changes[i].u_before, changes[i].u_after):
                    throw_away(system, self, history, gradients, changes[i].u)
                    threw_away = True
                if rises_much(changes[i].v_before, changes[i].v_after):
                    throw_away(system, self, history, gradients, changes[i].v)
                    threw_away = True
                renew_allowance(system, self, changes[i].u)
                renew_allowance(system, self, changes[i].v)
            # These round residuals as pushes do, but relative to what a degree was before it fell.
            self.n_pushes += <int64_t> (4.0 / SMALLEST_FALL) * changes.shape[0]
            self.position = position
            if gradients is not None:
                gradients.position = position
        return threw_away

    def recompute(self, SystemView system, LabelHistory history, GradientStore gradients, int64_t position):
        """Compute ``R = B - H Z`` anew, from Z as it is. If this raises, call it again: Z does not change.

        B is what `gradients` have stored, or if they are None a mass of 1 in the lane of each learned node's label. The
        lanes are not settled then.
        """
        cdef Py_ssize_t i, used = self.n_slots
        cdef node_t u
        self.position = -1
        np.asarray(self.residuals)[:used] = 0.0
        self.mass = 0.0
        with nogil:
            for i in range(1, used):
                if self.single:
                    spread_slot[float](system, self, i, 0.0)
                else:
                    spread_slot[double](system, self, i, 0.0)
        self.reserve_slots(self.slots.shape[1] * history.n_learned)
        with nogil:
            for u in range(<node_t> history.marks.shape[0]):
                if history.marks[u] != 0:
                    place_source(system, self, history, gradients, u)
            for i in range(self.unsettled.shape[0]):
                self.unsettled[i] = True
            self.position = position
            if gradients is not None:
                gradients.position = position

    def settle_around(self, SystemView system, Workspace work, const node_t[::1] nodes):
        """Push from these nodes, the only ones that may be active in any lane, until all is settled."""
        cdef LaneState lane
        cdef Py_ssize_t i, label
        cdef int64_t operations = 0
        with nogil:
            for label in range(self.slots.shape[1] * self.width):
                if not self.unsettled[label]:
                    continue
                lane = lane_of(self, label, theta_of(self))
                self.largest_theta = max(self.largest_theta, lane.theta)
                for i in range(nodes.shape[0]):
                    enqueue_if_active(self, work, &lane, nodes[i])
                settle_lane(system, self, work, &lane, label)
                operations += lane.operations
                if is_poll_due(operations - lane.operations, operations):
                    poll_signals()
        return operations

    def settle(self, SystemView system, Workspace work, const node_t[::1] nodes, Py_ssize_t label, double theta):
        """Push from these nodes, the only ones that may be active in the lane of a label, until it is settled."""
        cdef LaneState lane = lane_of(self, label, theta)
        cdef Py_ssize_t i
        self.largest_theta = max(self.largest_theta, theta)
        with nogil:
            self.unsettled[label] = True
            for i in range(nodes.shape[0]):
                enqueue_if_active(self, work, &lane, nodes[i])
            settle_lane(system, self, work, &lane, label)

    def resettle(self, SystemView system, Workspace work, Py_ssize_t label):
        """Finish what an interrupted push left undone in the lane of a label: check each of its nodes once."""
        cdef LaneState lane = lane_of(self, label, max(self.largest_theta, theta_of(self)))
        cdef Py_ssize_t i, u, blocks = self.slots.shape[1]
        self.largest_theta = max(self.largest_theta, lane.theta)
        with nogil:
            for i in range(1, self.n_slots):
                u = self.slot_owners[i] // blocks
                if self.slot_owners[i] % blocks == lane.block:
                    self.slots[u, lane.block].allowance = allowance_of(system, self, u)
                    enqueue_if_active(self, work, &lane, <node_t> u)
            settle_lane(system, self, work, &lane, label)

    def correct(
        self, SystemView system, const node_t[::1] nodes, const double[::1] corrections, Py_ssize_t label, double theta,
    ):
        """Add corrections to the estimates of these nodes, of whole components, and what follows from it to R.

        Returns the largest residual among them, as a multiple of ``theta * allowance``.
        """
        cdef LaneState lane = lane_of(self, label, theta)
        cdef double worst = 0.0
        cdef Py_ssize_t i
        self.reserve_slots(nodes.shape[0])
        with nogil:
            for i in range(nodes.shape[0]):
                slot_of(system, self, nodes[i], lane.block)
            if self.single:
                worst = correct_lane[float](system, self, &lane, nodes, corrections, self.residuals32, self.estimates32)
            else:
                worst = correct_lane[double](
                    system, self, &lane, nodes, corrections, self.residuals64, self.estimates64,
                )
            self.n_pushes += nodes.shape[0]
        return worst

    def accept(self, double theta, int64_t roundings=0):
        """Take residuals of up to theta * allowance as settled; each may have been rounded this often."""
        self.largest_theta = max(self.largest_theta, theta)
        self.n_pushes += roundings

    def fill(self, SystemView system, Py_ssize_t first, const double[:, ::1] estimates, const double[:, ::1] residuals):
        """Take the numbers of the labels from `first` on, a multiple of the width: a row for each node."""
        cdef Py_ssize_t u, width = self.width, block, n_blocks = (estimates.shape[1] + width - 1) // width
        self.reserve_slots(n_blocks * estimates.shape[0])
        for block in range(n_blocks):
            lanes = slice(block * width, (block + 1) * width)
            Z, R = np.asarray(estimates)[:, lanes], np.asarray(residuals)[:, lanes]
            rows = np.flatnonzero(Z.any(axis=1) | R.any(axis=1))
            for u in rows.tolist():
                slot_of(system, self, u, first // width + block)
            slots = self._slots["index"][rows, first // width + block]
            self.estimates[slots, : Z.shape[1]], self.residuals[slots, : R.shape[1]] = Z[rows], R[rows]

    def place(self, SystemView system, const node_t[::1] nodes, const int32_t[::1] labels):
        """Place a mass of 1 at each node, in the lane of its label. The lanes are not settled then."""
        cdef Py_ssize_t i
        self.reserve_slots(nodes.shape[0])
        with nogil:
            for i in range(nodes.shape[0]):
                place_mass(system, self, nodes[i], labels[i], 1.0)
            self.mass += nodes.shape[0]

    def count_sources(self, int64_t count, double mass):
        """Count sources that were solved for, on the whole graph."""
        self.solved = True
        self.n_additions += count
        self.mass += mass

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

    @property
    def size(self):
        """How many numbers a copy has, roughly."""
        return self.n_slots * (2 * self.width + 1) + self.slots.shape[0] * self.slots.shape[1]

    def copy(self):
        """The same with numbers of its own. `when_slow` is left to the owner."""
        cdef DiffusionStore other = DiffusionStore(
            1, self.rate, self.least_allowance, self.largest_read_epsilon, self.single, self.n_nodes, self.position,
        )
        other.slots = other._slots = self._slots.copy()
        residuals, estimates = self.residuals[: self.n_slots].copy(), self.estimates[: self.n_slots].copy()
        other.bind(residuals, estimates, np.array(self.slot_owners[: self.n_slots]))
        other.unsettled = np.array(self.unsettled)
        other.n_slots, other.n_additions, other.n_pushes = self.n_slots, self.n_additions, self.n_pushes
        other.mass, other.largest_theta, other.solved = self.mass, self.largest_theta, self.solved
        return other

    def __reduce__(self):
        slots, used = tuple(self._slots[name].copy() for name in SLOT.names), self.n_slots
        numbers = (self.residuals[:used].copy(), self.estimates[:used].copy())
        arrays = (*slots, np.array(self.slot_owners[:used]), *numbers)
        counts = (self.n_additions, self.n_pushes)
        settings = (
            self.rate, self.least_allowance, self.largest_read_epsilon, self.single, self.n_nodes, self.position,
        )
        sums = (self.mass, self.largest_theta, self.solved)
        return restored, (settings, arrays, np.array(self.unsettled[: self.lanes]), counts, sums)


def restored(settings, arrays, unsettled, counts, sums):
    """What a pickle or a snapshot holds, checked."""
    rate, least_allowance, read_epsilon, single, n_nodes, position = settings
    places, allowances, slot_owners, residuals, estimates = arrays
    (n, blocks), (n_slots, width) = shape_of(places, "diffusion", 2), shape_of(residuals, "diffusion", 2)
    check_restored(blocks > 0 and width in (MIN_LANES, 2 * MIN_LANES, MAX_LANES), "diffusion")
    check_restored(n_slots > 0 and isinstance(single, bool), "diffusion")
    slots = np.zeros((n, blocks), dtype=SLOT)
    slots["index"] = restored_array(places, "diffusion", np.int32, (n, blocks), 0, n_slots - 1)
    slots["allowance"] = restored_array(allowances, "diffusion", np.float32, (n, blocks), 0.0, INFINITY)
    slot_owners = restored_array(slot_owners, "diffusion", np.int64, (n_slots,), 0, n * blocks)
    # A slot belongs to one node and block, which knows it.
    owners, indices = slot_owners[1:], slots["index"].ravel()
    check_restored(owners.size == 0 or owners.max() < indices.size, "diffusion")
    check_restored(np.count_nonzero(indices) == owners.size, "diffusion")
    check_restored((indices[owners] == np.arange(1, n_slots)).all(), "diffusion")
    # `Diffusion` checks further how large these are.
    residuals, estimates = (
        restored_array(numbers, "diffusion", np.float32 if single else np.float64, (n_slots, width))
        for numbers in (residuals, estimates)
    )
    check_restored(not residuals[0].any() and not estimates[0].any(), "diffusion")
    cdef DiffusionStore store = DiffusionStore(
        1, restored_number(rate, "diffusion", 0.0), restored_number(least_allowance, "diffusion", 0.0),
        restored_number(read_epsilon, "diffusion", 0.0), single, restored_count(n_nodes, "diffusion", 0, max(n, 1)),
        restored_count(position, "diffusion", -1),
    )
    store.slots = store._slots = slots
    store.bind(residuals, estimates, slot_owners)
    store.unsettled = restored_array(unsettled, "diffusion", np.uint8, (blocks * width,))
    store.n_slots = n_slots
    store.n_additions, store.n_pushes = (restored_count(count, "diffusion") for count in counts)
    mass, largest_theta, solved = sums
    store.mass, store.largest_theta = restored_number(mass, "diffusion"), restored_number(largest_theta, "diffusion", 0.0)
    store.solved = bool(solved)
    return store


cdef inline double theta_of(DiffusionStore store) noexcept nogil:
    return max(store.rate * store.mass, SMALLEST_THETA)


cdef inline double read_epsilon_of(DiffusionStore store) noexcept nogil:
    cdef double learned = store.n_additions / (READ_FRACTION * max(store.n_nodes, 1))
    return store.largest_read_epsilon * (1.0 if store.solved else min(1.0, max(MIN_READ_FRACTION, learned)))


cdef inline float allowance_of(SystemView system, DiffusionStore store, Py_ssize_t u) noexcept nogil:
    """The residual that may stay at node u, in units of theta."""
    cdef double neighbours = <double> (system.stops[u] - system.starts[u])
    return <float> max(neighbours, store.least_allowance) if neighbours > 0.0 else 0.0


cdef inline LaneState lane_of(DiffusionStore store, Py_ssize_t label, double theta) noexcept nogil:
    return LaneState(label // store.width, label % store.width, theta, 0, 0, 0, EDGES_BEFORE_ASKING)


cdef int32_t new_slot(SystemView system, DiffusionStore store, Py_ssize_t u, Py_ssize_t block) noexcept nogil:
    """Give node u a slot. There must be a free one."""
    store.slots[u, block] = Slot(<int32_t> store.n_slots, allowance_of(system, store, u))
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
    if slot.index == 0:  # nothing has reached it, and its allowance is not set
        return
    if store.single:
        residual = store.residuals32[slot.index, lane.lane]
    else:
        residual = store.residuals64[slot.index, lane.lane]
    if fabs(residual) >= lane.theta * slot.allowance:
        work.queue[lane.tail] = u
        lane.tail += 1
        store.slots[u, lane.block].allowance = INFINITY


cdef inline void scatter(
    SystemView system, DiffusionStore store, LaneState* state, const node_t[::1] indices, const double[::1] weights,
    node_t[::1] queue, Slot[:] slots, real_t[:] residuals, Py_ssize_t start, Py_ssize_t stop, double share,
    bint weighted,
) noexcept nogil:
    """Add `share`, per unit of weight, to the residuals of the neighbours start..stop; queue those it makes active.

    `indices`, `weights` and `queue` are those of the system and the workspace, bound by the caller.
    """
    cdef Py_ssize_t e, v, tail = state.tail, ring = queue.shape[0]
    cdef double theta = state.theta
    cdef int32_t slot
    cdef real_t residual
    cdef bint active
    for e in range(start, stop):
        v = indices[e]
        slot = slots[v].index
        if slot == 0:
            slot = new_slot(system, store, v, state.block)
        residual = residuals[slot] + <real_t> (share * weights[e] if weighted else share)
        residuals[slot] = residual
        active = fabs(residual) >= theta * slots[v].allowance
        queue[tail] = <node_t> v
        tail += active
        if tail == ring:
            tail = 0
        slots[v].allowance += WAITING[active]
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


cdef int push_lane(
    SystemView system, DiffusionStore store, Workspace work, LaneState* state, real_t precision,
) except -1 nogil:
    """Push nodes in the order they became active, until none is or `max_operations` ends.

    A push at u settles the fraction c / (c + D) of its residual, which is at least theta * allowance. So the loop ends
    if theta > 0.
    """
    # The columns of this block and lane, so that the loop indexes by node and by slot only. All arrays are bound once: in
    # the loop the compiler would load them from the objects again and again.
    cdef Slot[:] slots = store.slots[:, state.block]
    cdef real_t[:] residuals, estimates
    cdef const offset_t[::1] starts = system.starts, stops = system.stops
    cdef const node_t[::1] indices = system.indices
    cdef const double[::1] weights = system.weights
    cdef node_t[::1] queue = work.queue
    cdef bint prefetches = slots.shape[0] > SLOTS_IN_CACHE, weighted = weights.shape[0] > 0
    cdef bint plain = store.least_allowance == 0.0
    cdef Py_ssize_t neighbours
    cdef int32_t slot
    cdef node_t u
    cdef double share
    cdef LaneState here = state[0]  # a copy stays in registers
    cdef int64_t pause  # at which to look for signals, or to end
    if real_t is double:
        residuals, estimates = store.residuals64[:, here.lane], store.estimates64[:, here.lane]
    else:
        residuals, estimates = store.residuals32[:, here.lane], store.estimates32[:, here.lane]
    pause = min(here.max_operations, here.operations + EDGES_PER_POLL)
    while here.head != here.tail:
        u = queue[here.head]
        neighbours = stops[u] - starts[u]
        if store.n_slots + neighbours > residuals.shape[0]:
            with gil:
                store.reserve_slots(neighbours)
            if real_t is double:
                residuals, estimates = store.residuals64[:, here.lane], store.estimates64[:, here.lane]
            else:
                residuals, estimates = store.residuals32[:, here.lane], store.estimates32[:, here.lane]
        if prefetches:
            prefetch_slots(system, work, here.head, slots, residuals)
        here.head += 1
        if here.head == queue.shape[0]:
            here.head = 0
        slot = slots[u].index
        slots[u].allowance = <float> neighbours if plain else allowance_of(system, store, u)
        share = residuals[slot] / pivot_of(system, u, neighbours)
        residuals[slot] = 0.0
        estimates[slot] += <real_t> share
        if weighted:
            scatter(
                system, store, &here, indices, weights, queue, slots, residuals, starts[u], stops[u], share, True,
            )
        else:
            scatter(
                system, store, &here, indices, weights, queue, slots, residuals, starts[u], stops[u], share, False,
            )
        store.n_pushes += 1
        here.operations += neighbours + 1
        if here.operations >= pause:
            poll_signals()
            if here.operations >= here.max_operations:
                break
            pause = min(here.max_operations, here.operations + EDGES_PER_POLL)
    state[0] = here
    return 0


cdef int push_lane_of(SystemView system, DiffusionStore store, Workspace work, LaneState* state) except -1 nogil:
    if store.single:
        return push_lane[float](system, store, work, state, 0.0)
    return push_lane[double](system, store, work, state, 0.0)


cdef object queued(Workspace work, LaneState* state):
    """A copy of the nodes in the queue."""
    if state.head <= state.tail:
        return np.array(work.queue[state.head : state.tail])
    return np.concatenate((work.queue[state.head :], work.queue[: state.tail]))


cdef int settle_lane(
    SystemView system, DiffusionStore store, Workspace work, LaneState* state, Py_ssize_t label,
) except -1 nogil:
    """Push from the nodes in the queue until the lane is settled."""
    cdef int64_t more
    push_lane_of(system, store, work, state)
    while state.head != state.tail:
        with gil:
            more = store.when_slow(store, queued(work, state), label, state.theta, state.operations)
        if more == 0:
            break
        state.max_operations = state.operations + min(more, INT64_MAX - state.operations)
        push_lane_of(system, store, work, state)
    store.unsettled[label] = False
    return 0


cdef double correct_lane(
    SystemView system, DiffusionStore store, LaneState* lane, const node_t[::1] nodes, const double[::1] corrections,
    real_t[:, ::1] residuals, real_t[:, ::1] estimates,
) noexcept nogil:
    """What `DiffusionStore.correct` does; all nodes and their neighbours have slots."""
    cdef double worst = 0.0, share
    cdef Py_ssize_t i, e, neighbours
    cdef int32_t slot
    cdef node_t u, v
    for i in range(nodes.shape[0]):
        u = nodes[i]
        slot = store.slots[u, lane.block].index
        share = corrections[i]
        neighbours = system.stops[u] - system.starts[u]
        estimates[slot, lane.lane] += <real_t> share
        residuals[slot, lane.lane] -= <real_t> (share * pivot_of(system, u, neighbours))
        for e in range(system.starts[u], system.stops[u]):
            v = system.indices[e]
            slot = store.slots[v, lane.block].index
            residuals[slot, lane.lane] += <real_t> (share * system.weights[e] if system.weights.shape[0] > 0 else share)
    for i in range(nodes.shape[0]):
        u = nodes[i]
        slot = store.slots[u, lane.block].index
        store.slots[u, lane.block].allowance = allowance_of(system, store, u)
        worst = max(worst, fabs(residuals[slot, lane.lane]) / (lane.theta * max(store.slots[u, lane.block].allowance, 1.0)))
    return worst


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


cdef void absorb_lanes(
    DiffusionStore store, node_t u, double more, real_t[:, ::1] residuals, const real_t[:, ::1] estimates,
) noexcept nogil:
    """Keep the invariant where the pivot of node u grows by `more`: R[u] -= more * Z[u]."""
    cdef Py_ssize_t block, j, width = residuals.shape[1]
    cdef int32_t slot
    for block in range(store.slots.shape[1]):
        slot = store.slots[u, block].index
        if slot != 0:
            for j in range(width):
                if estimates[slot, j] != 0.0:
                    residuals[slot, j] -= <real_t> (more * estimates[slot, j])
                    store.unsettled[block * width + j] = True


cdef void add_multiple(
    DiffusionStore store, Py_ssize_t target, Py_ssize_t source, double factor, Py_ssize_t block, real_t[:, ::1] residuals,
    const real_t[:, ::1] estimates,
) noexcept nogil:
    """Add a multiple of the estimates in one slot to the residuals in another, in all lanes of a block."""
    cdef Py_ssize_t j
    for j in range(residuals.shape[1]):
        if estimates[source, j] != 0.0:
            residuals[target, j] += <real_t> (factor * estimates[source, j])
            store.unsettled[block * residuals.shape[1] + j] = True


cdef void add_estimates(SystemView system, DiffusionStore store, node_t u, node_t v, double factor) noexcept nogil:
    """R[u] += factor * Z[v]. There must be free slots."""
    cdef Py_ssize_t block
    cdef int32_t source, target
    if factor == 0.0:
        return
    for block in range(store.slots.shape[1]):
        source = store.slots[v, block].index
        if source == 0:
            continue
        target = slot_of(system, store, u, block)
        if store.single:
            add_multiple[float](store, target, source, factor, block, store.residuals32, store.estimates32)
        else:
            add_multiple[double](store, target, source, factor, block, store.residuals64, store.estimates64)


cdef void repair_edge(SystemView system, DiffusionStore store, Change change, double loops) noexcept nogil:
    """What a change of W does to R = B - H Z, H = diag(pivot) - W."""
    cdef double more = change.after - change.before
    if change.u == change.v:
        add_estimates(system, store, change.u, change.u, more * loops)
        return
    add_estimates(system, store, change.v, change.u, more)
    add_estimates(system, store, change.u, change.v, more)


cdef void repair_pivot(
    DiffusionStore store, SystemView unlearned, double[::1] pivots, double absorption, LabelHistory history, node_t u,
    double before, double after,
) noexcept nogil:
    """What a change of the degree of node u does to R by its pivot."""
    cdef double old = pivot_at(unlearned, before), new = pivot_at(unlearned, after)
    if pivots.shape[0] > 0:
        if history.marks[u] != 0:
            new += absorption * after
        old = pivots[u]
        pivots[u] = new
    add_estimates(unlearned, store, u, u, old - new)


cdef void repair_source(
    SystemView system, DiffusionStore store, GradientStore gradients, node_t u, double s,
) noexcept nogil:
    """What another s of node u does to R: its source is s times its gradient."""
    cdef StoredGradient old = gradients.stored[u]
    cdef double growth = rescale_gradient(gradients, u, s), largest = 0.0, value
    cdef Py_ssize_t j
    if growth == 0.0:
        return
    if old.dense == 0:
        place_mass(system, store, u, old.label, -growth * old.s)
        largest = old.s
    else:
        for j in range(min(gradients.dense.shape[1], store.slots.shape[1] * store.width)):
            value = gradients.dense[old.dense, j] / (1.0 + growth)
            if value != 0.0:
                place_mass(system, store, u, j, growth * value)
                largest = max(largest, fabs(value))
    store.mass += growth * largest


cdef int spread_slot(SystemView system, DiffusionStore store, Py_ssize_t slot, real_t precision) except -1 nogil:
    """R -= H Z, for the part of Z that is in this slot."""
    cdef Py_ssize_t n_blocks = store.slots.shape[1], block = store.slot_owners[slot] % n_blocks, e, j
    cdef node_t u = <node_t> (store.slot_owners[slot] // n_blocks), v
    cdef Py_ssize_t neighbours = system.stops[u] - system.starts[u]
    cdef double pivot = pivot_of(system, u, neighbours), weight
    cdef real_t[:, ::1] residuals, estimates
    cdef int32_t target
    if store.n_slots + neighbours > store.slot_owners.shape[0]:
        with gil:
            store.reserve_slots(neighbours)
    if real_t is double:
        residuals, estimates = store.residuals64, store.estimates64
    else:
        residuals, estimates = store.residuals32, store.estimates32
    for j in range(estimates.shape[1]):
        residuals[slot, j] -= <real_t> (pivot * estimates[slot, j])
    for e in range(system.starts[u], system.stops[u]):
        v = system.indices[e]
        target = slot_of(system, store, v, block)
        weight = system.weights[e] if system.weights.shape[0] > 0 else 1.0
        for j in range(estimates.shape[1]):
            residuals[target, j] += <real_t> (weight * estimates[slot, j])
    store.n_pushes += 1
    return 0


cdef void recompute_row(
    SystemView system, DiffusionStore store, LabelHistory history, GradientStore gradients, node_t u,
) noexcept nogil:
    """R[u] = B[u] - (H Z)[u], in all blocks in which node u has a slot; for rows that are columns of H too."""
    cdef Py_ssize_t block, e, j
    cdef int32_t slot, other
    cdef double pivot = pivot_of(system, u, system.stops[u] - system.starts[u]), weight, mass = store.mass
    cdef int64_t additions = store.n_additions
    for block in range(store.slots.shape[1]):
        slot = store.slots[u, block].index
        if slot == 0:
            continue
        for j in range(store.width):
            set_residual(store, slot, j, -pivot * estimate_at(store, slot, j))
        for e in range(system.starts[u], system.stops[u]):
            other = store.slots[system.indices[e], block].index
            weight = system.weights[e] if system.weights.shape[0] > 0 else 1.0
            for j in range(store.width):
                set_residual(store, slot, j, residual_at(store, slot, j) + weight * estimate_at(store, other, j))
    if history.marks[u] != 0:
        place_source(system, store, history, gradients, u)
    store.mass, store.n_additions = mass, additions  # it was a source before


cdef inline bint rises_much(double before, double after) noexcept nogil:
    return before > 0.0 and after > LARGEST_RISE * before


cdef void throw_away(
    SystemView system, DiffusionStore store, LabelHistory history, GradientStore gradients, node_t u,
) noexcept nogil:
    """Z[u] = 0, in all blocks; R of the node and of its neighbours follows."""
    cdef Py_ssize_t block, e, j
    cdef int32_t slot
    for block in range(store.slots.shape[1]):
        slot = store.slots[u, block].index
        if slot != 0:
            for j in range(store.width):
                set_estimate(store, slot, j, 0.0)
    recompute_row(system, store, history, gradients, u)
    for e in range(system.starts[u], system.stops[u]):
        if system.indices[e] != u:
            recompute_row(system, store, history, gradients, system.indices[e])
    store.n_pushes += 1 + system.stops[u] - system.starts[u]


cdef inline double estimate_at(DiffusionStore store, int32_t slot, Py_ssize_t j) noexcept nogil:
    return store.estimates32[slot, j] if store.single else store.estimates64[slot, j]


cdef inline double residual_at(DiffusionStore store, int32_t slot, Py_ssize_t j) noexcept nogil:
    return store.residuals32[slot, j] if store.single else store.residuals64[slot, j]


cdef inline void set_estimate(DiffusionStore store, int32_t slot, Py_ssize_t j, double value) noexcept nogil:
    if store.single:
        store.estimates32[slot, j] = <float> value
    else:
        store.estimates64[slot, j] = value


cdef inline void set_residual(DiffusionStore store, int32_t slot, Py_ssize_t j, double value) noexcept nogil:
    if store.single:
        store.residuals32[slot, j] = <float> value
    else:
        store.residuals64[slot, j] = value


cdef void place_source(
    SystemView system, DiffusionStore store, LabelHistory history, GradientStore gradients, node_t u,
) noexcept nogil:
    """Add the source of a learned node to R, and its largest magnitude to the mass."""
    cdef StoredGradient stored
    cdef double largest = 0.0
    cdef Py_ssize_t j
    if gradients is None:
        place_mass(system, store, u, history.marks[u] - 1, 1.0)
        store.mass += 1.0
        return
    stored = gradients.stored[u]
    if stored.dense == 0:
        if stored.s != 0.0:
            place_mass(system, store, u, stored.label, -stored.s)
        store.mass += stored.s
        return
    for j in range(min(gradients.dense.shape[1], store.slots.shape[1] * store.width)):
        if gradients.dense[stored.dense, j] != 0.0:
            place_mass(system, store, u, j, gradients.dense[stored.dense, j])
            largest = max(largest, fabs(gradients.dense[stored.dense, j]))
    store.mass += largest


cdef void renew_allowance(SystemView system, DiffusionStore store, node_t u) noexcept nogil:
    """Set the allowance of node u, whose row has changed, in all blocks. Lanes in which it may be active are unsettled."""
    cdef Py_ssize_t block, j
    cdef int32_t slot
    for block in range(store.slots.shape[1]):
        slot = store.slots[u, block].index
        if slot != 0:
            store.slots[u, block].allowance = allowance_of(system, store, u)
            for j in range(store.width):
                if (store.residuals32[slot, j] if store.single else store.residuals64[slot, j]) != 0.0:
                    store.unsettled[block * store.width + j] = True


@cython.final
cdef class DiffusionRun:
    """A diffusion at work: masses are placed at one node at a time, and settled; nodes are read.

    All lanes must be settled before the first mass is placed.
    """

    def __init__(self, SystemView system, DiffusionStore store, Workspace work, double[::1] pivots):
        self.system, self.store, self.work, self.pivots = system, store, work, pivots
        self.state = new_push(0.0)
        self.operations = 0
        self.old_mass = self.own = 0.0
        self.row = np.empty(store.lanes)

    cdef int read(self, node_t u) except -1 nogil:
        """Read node u, from what a push from it reaches."""
        self.state.epsilon = read_epsilon_of(self.store)
        push_from(self.system, self.work, &self.state, u, True, MAX_READ_EDGES)
        read_lanes_of(self.system, self.store, self.work, self.row, &self.own)
        return 0

    cdef int reserve(self) except -1 nogil:
        """Make sure that there are slots for one node."""
        if self.store.n_slots + self.store.slots.shape[1] > self.store.slot_owners.shape[0]:
            with gil:
                self.store.reserve_slots(self.store.slots.shape[1])
        return 0

    cdef void place(self, node_t u, Py_ssize_t label, double mass) noexcept nogil:
        """Add mass to the source of node u in the lane of a label."""
        place_mass(self.system, self.store, u, label, mass)

    cdef void absorb(self, node_t u, double pivot) noexcept nogil:
        """Set the pivot of node u, where the diffusion has pivots of its own."""
        cdef double more = pivot - self.pivots[u]
        self.pivots[u] = pivot
        if self.store.single:
            absorb_lanes[float](self.store, u, more, self.store.residuals32, self.store.estimates32)
        else:
            absorb_lanes[double](self.store, u, more, self.store.residuals64, self.store.estimates64)
        self.store.n_pushes += 1  # it rounds residuals as a push does

    cdef void weigh(self, double old_mass, double new_mass) noexcept nogil:
        """Change the mass that the size of settled residuals depends on."""
        self.store.mass += new_mass - old_mass
        self.old_mass = old_mass

    cdef int settle(self, node_t u) except -1 nogil:
        """Push from node u, in all lanes in which it may have become active."""
        cdef LaneState lane
        cdef Py_ssize_t j
        # What was forgotten need not be settled more finely than when it was learned.
        cdef double theta = max(theta_of(self.store), self.store.rate * (self.store.mass + self.old_mass))
        self.store.largest_theta = max(self.store.largest_theta, theta)
        for j in range(self.row.shape[0]):
            if self.store.unsettled[j]:
                lane = lane_of(self.store, j, theta)
                enqueue_if_active(self.store, self.work, &lane, u)
                settle_lane(self.system, self.store, self.work, &lane, j)
                self.operations += lane.operations
                if is_poll_due(self.operations - lane.operations, self.operations):
                    poll_signals()
        return 0


cdef class DiffusionEngine(RelaxationEngine):
    """Scores from a diffusion, in which what is learned of a node spreads; M is `a` times what the diffusion gives."""

    cdef DiffusionRun diffusion
    cdef Scaling scaling
    cdef double a

    def __init__(
        self, LabelHistory history, GradientStore gradients, DiffusionRun diffusion, Scaling scaling, double a,
    ):
        super().__init__(history, gradients)
        self.diffusion, self.scaling, self.a = diffusion, scaling, a

    cdef int read(self, node_t u, Py_ssize_t k) except -1 nogil:
        cdef double s = s_of(self.scaling, u)
        cdef double factor = self.a * s, constant = self.gradients.constant
        cdef Py_ssize_t j
        self.diffusion.read(u)
        # Estimated from below: with the negative constant it may fall below 0, though the exact entry is positive.
        self.evidence = Evidence(s, max(factor * s * self.diffusion.own + constant, 0.0), 0.0)
        for j in range(k):
            self.buffers.scores[j] = factor * self.diffusion.row[j] + constant * self.gradients.total[j]
            self.evidence.magnitude = max(self.evidence.magnitude, fabs(self.buffers.scores[j]))
        return 0

    cdef int reserve(self, node_t u) except -1 nogil:
        return self.diffusion.reserve()

    cdef void add(self, node_t u, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t j
        for j in range(k):
            if self.buffers.change[j] != 0.0:
                self.diffusion.place(u, j, self.buffers.change[j])
        self.diffusion.weigh(self.buffers.old_size, self.buffers.new_size)

    cdef int settle(self, node_t u) except -1 nogil:
        return self.diffusion.settle(u)


@cython.final
cdef class PerceptronEngine(DiffusionEngine):
    """The same diffusion, in which only mistakes are stored: e_predicted - e_y, or -e_y while no label was known."""

    cdef GradientKind find_gradient(self, Py_ssize_t k, Py_ssize_t y) noexcept nogil:
        cdef Py_ssize_t j, predicted = self.predict(-1.0)
        if predicted == y:
            return NO_GRADIENT
        if predicted < 0 or self.independent:
            return ONE_ENTRY
        for j in range(k):
            self.buffers.gradient[j] = 0.0
        self.buffers.gradient[predicted] = 1.0
        self.buffers.gradient[y] = -1.0
        return SEVERAL_ENTRIES


def learn_together(
    GradientStore gradients, LabelHistory history, SystemView system, DiffusionStore store,
    const node_t[::1] nodes, const int32_t[::1] labels, const double[::1] s, double energy, double single_energy,
):
    """Learn labels of new nodes, each as if it were the only one: all of them or, if this raises, none.

    There must be room for the labels. The lanes are not settled then, and ``gradients.unfinished`` says what the sums
    still lack beyond `energy` and `single_energy`.
    """
    cdef double mass = 0.0
    cdef Py_ssize_t i
    unfinished = (np.array(nodes), np.array(labels), np.array(s))
    store.reserve_slots(nodes.shape[0])
    with nogil:
        store_independent(gradients, history, nodes, labels, s)
        for i in range(nodes.shape[0]):
            place_mass(system, store, nodes[i], labels[i], -s[i])
            mass += s[i]
        store.mass += mass
        gradients.energy += energy
        gradients.single_energy += single_energy
    gradients.unfinished = unfinished
