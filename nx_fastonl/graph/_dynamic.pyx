"""RowPool: rows of neighbours with room to grow, and a log of what changed in them."""

cimport cython
from libc.float cimport DBL_EPSILON
from libc.math cimport ceil, fabs, floor, isnan
from libc.stdint cimport INT64_MAX, int32_t, int64_t
from libc.string cimport memmove

import numpy as np

from nx_fastonl._lib.arrays import enlarged

from nx_fastonl._lib.exact cimport add_exactly
from nx_fastonl._lib.prefetch cimport prefetch
from nx_fastonl._lib.typedefs cimport node_t, offset_t
from nx_fastonl.graph._arrows cimport IN, OUT

CHANGE = np.dtype(
    [
        ("u", np.int32), ("v", np.int32), ("before", np.float64), ("after", np.float64), ("u_before", np.float64),
        ("u_after", np.float64), ("v_before", np.float64), ("v_after", np.float64), ("more", np.int32),
    ],
    align=True,
)
SHAPES = {"undirected": UNDIRECTED, "outward": OUTWARD, "both ways": BOTH_WAYS}

cdef enum:
    MIN_ROOM = 4  # of a row that moves
    # How many edges ahead the offsets of their rows are prefetched, and the rows themselves.
    OFFSETS_AHEAD = 16
    ROWS_AHEAD = 8
# The log has room for this many changes, or for this fraction of the entries of all rows: a model that is further behind
# takes less time to compute its residuals anew. Then the older half is dropped.
cdef Py_ssize_t MIN_LOG = 1 << 14
cdef double LOG_FRACTION = 0.125
# The sum of the degrees is taken anew once it is less than this fraction of what it was: rounding errors are a fraction
# of the larger sum.
cdef double VOLUME_DROP = 1e-3
cdef double WHOLE_BELOW = 2.0**53  # sums of whole numbers are exact


cdef inline bint is_whole(double value) noexcept nogil:
    return floor(value) == value


cdef int64_t units_between(double exact, double degree) noexcept nogil:
    """How many units of rounding a degree is away from another one, at least."""
    return <int64_t> ceil(min(fabs(degree - exact) / (0.5 * DBL_EPSILON * exact), WHOLE_BELOW)) if exact > 0.0 else 0


@cython.final
cdef class RowPool:
    """The rows of a graph that changes. A full row moves to the end of the pool, where it gets twice the room.

    Once more than half of the pool belongs to no row, the rows are packed again. So an edge takes O(1) on average,
    beyond finding it: an edge is looked for in the shorter of its two rows, or in the only one.

    Every change is logged. Positions in the log count changes from the first one on, so they stay what they are when
    old changes are dropped.

    Parameters
    ----------
    shape : str
        One of `SHAPES`.
    indptr, indices, weights : arrays
        The rows, which were checked; copied. Both rows of an edge list it, once: `change` relies on that. `weights` is
        None where every weight is 1.
    codes, out_weights, in_weights : arrays, optional
        Of rows both ways: see `ArrowView`.
    position : int, default 0
        How many changes there were before.
    degrees : array, optional
        As they were when the rows were saved. By default the sums of the weights, from which those differ by rounding.
    """

    def __init__(
        self, shape, const offset_t[::1] indptr, indices, weights, codes=None, out_weights=None, in_weights=None,
        position=0, degrees=None,
    ):
        cdef Py_ssize_t n = indptr.shape[0] - 1, u, e
        self.shape = SHAPES[shape]
        bounds = np.array(indptr)
        self.starts, self.stops, self.limits = bounds[:n].copy(), bounds[1:].copy(), bounds[1:].copy()
        self.used = self.n_entries = bounds[n]
        self.indices = np.array(indices, dtype=np.int32)
        self.weights = np.empty(0) if weights is None or not len(weights) else np.array(weights, dtype=np.float64)
        self.codes, self.out_weights, self.in_weights = np.empty(0, dtype=np.uint8), np.empty(0), np.empty(0)
        self.out_counts, self.in_counts = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32)
        self.degrees = np.zeros(n)
        self.n_loops = self.n_empty = self.n_arrays = 0
        self.n_rounded = 0
        if self.shape == BOTH_WAYS:
            self.weights = np.ones(len(indices)) if weights is None else np.array(weights, dtype=np.float64)
            self.codes = np.array(codes, dtype=np.uint8)
            ways = zip((OUT, IN), (out_weights, in_weights))
            self.out_weights, self.in_weights = (
                np.array(given, dtype=np.float64) if len(given) else ((np.asarray(codes) & way) > 0).astype(np.float64)
                for way, given in ways
            )
            self.out_counts, self.in_counts = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int32)
        # Arrays of entries are never empty, but where there is nothing to store in them.
        self.bind(self.copies(slice(None), max(self.used, MIN_ROOM)))
        for u in range(n):
            self.n_empty += self.starts[u] == self.stops[u]
            self.degrees[u] = self.sum_row(<node_t> u)
            if degrees is not None:
                self.n_rounded = max(self.n_rounded, units_between(self.degrees[u], degrees[u]))
                self.degrees[u] = degrees[u]
            for e in range(self.starts[u], self.stops[u]):
                self.n_loops += self.indices[e] == u
                if self.shape == BOTH_WAYS:
                    self.out_counts[u] += (self.codes[e] & OUT) != 0
                    self.in_counts[u] += (self.codes[e] & IN) != 0
        self.sum_degrees()
        self.log = self._log = np.zeros(256, dtype=CHANGE)
        self.log_start, self.log_size = position, 0
        self.kept_from = INT64_MAX

    @property
    def n_rows(self):
        return self.starts.shape[0]

    @property
    def is_weighted(self):
        return self.shape == BOTH_WAYS or self.weights.shape[0] > 0

    @property
    def arrays(self):
        """The arrays as numpy sees them: starts, stops, indices, weights or None, degrees."""
        weights = np.asarray(self.weights) if self.is_weighted else None
        return np.asarray(self.starts), np.asarray(self.stops), np.asarray(self.indices), weights, np.asarray(self.degrees)

    @property
    def arrow_arrays(self):
        """The codes, the weights of arcs out and in, and how many of either a row has."""
        weights = np.asarray(self.out_weights), np.asarray(self.in_weights)
        return np.asarray(self.codes), *weights, np.asarray(self.out_counts), np.asarray(self.in_counts)

    @property
    def volume(self):
        """The sum of the degrees."""
        return self._volume + self.volume_rest

    @property
    def position(self):
        """How many changes there were."""
        return self.log_start + self.log_size

    @property
    def first_position(self):
        """The position of the first change that the log still has."""
        return self.log_start

    def changes(self, int64_t position):
        """A copy of the changes from a position on, which the log must have."""
        return self._log[position - self.log_start : self.log_size].copy()

    def add_rows(self, Py_ssize_t n_rows):
        """Make room for so many rows, which are empty."""
        cdef Py_ssize_t more = n_rows - self.starts.shape[0]
        if more <= 0:
            return
        cdef offset_t[::1] starts = enlarged(np.asarray(self.starts), n_rows)
        cdef offset_t[::1] stops = enlarged(np.asarray(self.stops), n_rows)
        cdef offset_t[::1] limits = enlarged(np.asarray(self.limits), n_rows)
        cdef double[::1] degrees = enlarged(np.asarray(self.degrees), n_rows)
        cdef Py_ssize_t n_counts = n_rows if self.shape == BOTH_WAYS else 0
        cdef int32_t[::1] out_counts = enlarged(np.asarray(self.out_counts), n_counts)
        cdef int32_t[::1] in_counts = enlarged(np.asarray(self.in_counts), n_counts)
        # From here on nothing can raise.
        self.starts, self.stops, self.limits, self.degrees = starts, stops, limits, degrees
        self.out_counts, self.in_counts = out_counts, in_counts
        self.n_empty += more
        self.n_arrays += 1

    def weight(self, node_t u, node_t v):
        """The weight of the edge from u to v; 0 if there is none."""
        return self.weight_at(u, v)

    def set_weight(self, node_t u, node_t v, double weight):
        """Set the weight of one edge, as `set_weights` does."""
        if not self.is_weighted and weight > 0.0 and weight != 1.0:
            self.become_weighted()
        self.change(u, v, weight)

    def set_weights(self, const node_t[::1] sources, const node_t[::1] targets, const double[::1] weights):
        """Set the weights of edges, one after the other; 0 removes an edge.

        Not a number stands for the weight that an edge has, or for 1 if there is no edge.
        """
        cdef Py_ssize_t i, count = sources.shape[0]
        if not self.is_weighted and ((np.asarray(weights) > 0.0) & (np.asarray(weights) != 1.0)).any():
            self.become_weighted()
        with nogil:
            for i in range(count):
                if i + OFFSETS_AHEAD < count:
                    self.prefetch_offsets(sources[i + OFFSETS_AHEAD])
                    self.prefetch_offsets(targets[i + OFFSETS_AHEAD])
                    self.prefetch_row(sources[i + ROWS_AHEAD])
                    self.prefetch_row(targets[i + ROWS_AHEAD])
                self.change(sources[i], targets[i], weights[i])

    def clear_row(self, node_t u):
        """Remove all entries of row u. Of rows both ways, edges of both directions.

        Each step removes one, as both rows of an edge list it.
        """
        cdef Py_ssize_t at
        cdef node_t v
        self.reserve_log(2 * (self.stops[u] - self.starts[u]))
        with nogil:
            while self.stops[u] > self.starts[u]:
                at = self.stops[u] - 1
                v = self.indices[at]
                if self.shape == BOTH_WAYS and not self.codes[at] & OUT:
                    self.change(v, u, 0.0)
                else:
                    self.change(u, v, 0.0)

    def undo(self, int64_t position):
        """Take back all changes from a position on, which must be kept, and drop them from the log."""
        cdef Change made
        cdef int64_t size = position - self.log_start, i
        with nogil:
            for i in range(self.log_size - 1, size - 1, -1):
                made = self.log[i]
                self.log_size = i  # so that there is room for what `change` logs, and nothing is dropped for it
                self.change(made.u, made.v, made.before)
                self.log_size = i
                self.degrees[made.u] = made.u_before
                if self.shape != OUTWARD:
                    self.degrees[made.v] = made.v_before
            self.sum_degrees()

    def become_weighted(self):
        """Store a weight for each entry."""
        self.weights = np.ones(self.indices.shape[0])
        self.n_arrays += 1

    cdef void prefetch_offsets(self, node_t u) noexcept nogil:
        prefetch(&self.starts[u])
        prefetch(&self.stops[u])
        prefetch(&self.limits[u])
        prefetch(&self.degrees[u])

    cdef void prefetch_row(self, node_t u) noexcept nogil:
        """Prefetch the two ends of a row: it is searched from the first one, and grows at the other."""
        cdef Py_ssize_t last = self.indices.shape[0] - 1
        prefetch(&self.indices[min(self.starts[u], last)])
        prefetch(&self.indices[min(self.stops[u], last)])

    cdef double weight_at(self, node_t u, node_t v) noexcept nogil:
        cdef Py_ssize_t e = self.find_either(u, v)
        if e < 0:
            return 0.0
        if self.shape == BOTH_WAYS:
            return self.out_weights[e] if self.is_in_row(u, e) else self.in_weights[e]
        return self.weights[e] if self.weights.shape[0] > 0 else 1.0

    cdef bint is_in_row(self, node_t u, Py_ssize_t e) noexcept nogil:
        """Whether an entry stands in row u."""
        return self.starts[u] <= e < self.stops[u]

    cdef Py_ssize_t find(self, node_t u, node_t v) noexcept nogil:
        """Where row u lists node v; -1 if it does not."""
        cdef Py_ssize_t e
        for e in range(self.starts[u], self.stops[u]):
            if self.indices[e] == v:
                return e
        return -1

    cdef Py_ssize_t find_either(self, node_t u, node_t v) noexcept nogil:
        """Where row u lists v or, if that is shorter, row v lists u; -1 if they do not."""
        if self.shape != OUTWARD and self.stops[v] - self.starts[v] < self.stops[u] - self.starts[u]:
            return self.find(v, u)
        return self.find(u, v)

    cdef double sum_row(self, node_t u) noexcept nogil:
        cdef double total = 0.0
        cdef Py_ssize_t e
        if self.weights.shape[0] == 0:
            return <double> (self.stops[u] - self.starts[u])
        for e in range(self.starts[u], self.stops[u]):
            total += self.weights[e]
        return total

    cdef int change(self, node_t u, node_t v, double weight) except -1 nogil:
        """Set the weight of the edge from u to v, and log it."""
        cdef Py_ssize_t e = self.find_either(u, v), other = -1
        cdef bint in_u = e >= 0 and self.is_in_row(u, e), both = self.shape == BOTH_WAYS
        cdef bint two_rows = self.shape != OUTWARD and u != v
        cdef double before = 0.0, entry_before = 0.0, entry_after, more
        cdef Change made
        cdef int64_t loop = u == v
        if e >= 0:
            entry_before = self.weights[e] if self.weights.shape[0] > 0 else 1.0
            before = (self.out_weights[e] if in_u else self.in_weights[e]) if both else entry_before
        if isnan(weight):
            weight = before if before > 0.0 else 1.0
        if weight == before:
            return 0
        # The entry of the other direction stays; a self-loop counts in both.
        entry_after = weight
        if both:
            more = 0.0
            if e >= 0 and not loop:
                more = self.in_weights[e] if in_u else self.out_weights[e]
            entry_after = 2.0 * weight if loop else weight + more
        made = Change(u, v, before, weight, self.degrees[u], 0.0, self.degrees[v], 0.0, 0)
        made.more = (entry_after > 0.0) - (e >= 0)
        if self.log_size == self.log.shape[0]:
            with gil:
                self.reserve_log(1)
        if e < 0:
            self.reserve_entries(u, v)
            e = self.insert(u, v)
            other = self.insert(v, u) if two_rows else e
        elif two_rows:
            other = self.find(v, u) if in_u else e
            e = e if in_u else self.find(u, v)
        else:
            other = e
        if both:
            self.set_arc(u, e, OUT, weight)
            self.set_arc(v, other, IN, weight)
        if self.weights.shape[0] > 0:
            self.weights[e] = self.weights[other] = entry_after
        if entry_after == 0.0:
            self.delete(u, e)
            if other != e:
                self.delete(v, other)
        self.n_loops += loop * made.more
        self.weigh(u, entry_before, entry_after)
        if two_rows:
            self.weigh(v, entry_before, entry_after)
        made.u_after, made.v_after = self.degrees[u], self.degrees[v]
        if self.shape == OUTWARD:
            made.v_before = made.v_after = 0.0
        self.append(made)
        return 0

    cdef void weigh(self, node_t u, double entry_before, double entry_after) noexcept nogil:
        """Keep the degree of node u where an entry has changed.

        Sums that fall are taken anew: of what is taken away, rounding errors stay.
        """
        cdef double before = self.degrees[u], more = entry_after - entry_before
        self.degrees[u] = before + more if more > 0.0 else self.sum_row(u)
        self.n_rounded += more > 0.0 and entry_before > 0.0 and not (
            self.degrees[u] < WHOLE_BELOW and is_whole(before) and is_whole(entry_before) and is_whole(more)
        )
        self.largest_degree = max(self.largest_degree, self.degrees[u])
        self.add_volume(self.degrees[u])
        self.add_volume(-before)
        self.n_weighed += 1
        if self.n_weighed >= self.degrees.shape[0] or self._volume < VOLUME_DROP * self.largest_volume:
            self.sum_degrees()

    cdef void add_volume(self, double degree) noexcept nogil:
        """Add to the sum of the degrees."""
        add_exactly(degree, &self._volume, &self.volume_rest)
        self.largest_volume = max(self.largest_volume, self._volume)

    cdef void sum_degrees(self) noexcept nogil:
        """Take the sum of the degrees anew, and the largest of them."""
        cdef Py_ssize_t u
        self._volume = self.volume_rest = self.largest_volume = self.largest_degree = 0.0
        self.n_weighed = 0
        for u in range(self.degrees.shape[0]):
            self.add_volume(self.degrees[u])
            self.largest_degree = max(self.largest_degree, self.degrees[u])

    cdef void set_arc(self, node_t u, Py_ssize_t e, unsigned char way, double weight) noexcept nogil:
        """Set the weight of the arc out of row u, or into it, at an entry."""
        cdef int more = (weight > 0.0) - ((self.codes[e] & way) != 0)
        if way == OUT:
            self.out_weights[e] = weight
            self.out_counts[u] += more
        else:
            self.in_weights[e] = weight
            self.in_counts[u] += more
        self.codes[e] = (self.codes[e] | way) if weight > 0.0 else (self.codes[e] & ~way)

    cdef Py_ssize_t insert(self, node_t u, node_t v) noexcept nogil:
        """Append node v to row u, which must have room, with a weight of 1 and no arcs."""
        cdef Py_ssize_t e = self.stops[u]
        self.n_empty -= self.starts[u] == e
        self.indices[e] = v
        if self.weights.shape[0] > 0:
            self.weights[e] = 1.0
        if self.codes.shape[0] > 0:
            self.codes[e], self.out_weights[e], self.in_weights[e] = 0, 0.0, 0.0
        self.stops[u] += 1
        self.n_entries += 1
        return e

    cdef void delete(self, node_t u, Py_ssize_t e) noexcept nogil:
        """Remove an entry of row u. The last one takes its place."""
        self.stops[u] -= 1
        self.copy_entry(self.stops[u], e)
        self.n_entries -= 1
        self.n_empty += self.starts[u] == self.stops[u]

    cdef void copy_entry(self, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
        self.indices[target] = self.indices[source]
        if self.weights.shape[0] > 0:
            self.weights[target] = self.weights[source]
        if self.codes.shape[0] > 0:
            self.codes[target] = self.codes[source]
            self.out_weights[target], self.in_weights[target] = self.out_weights[source], self.in_weights[source]

    cdef int reserve_entries(self, node_t u, node_t v) except -1 nogil:
        """Make sure that the rows of both nodes have room for one more."""
        cdef offset_t most = max(self.stops[u] - self.starts[u], self.stops[v] - self.starts[v])
        if self.stops[u] == self.limits[u] or self.stops[v] == self.limits[v]:
            if self.used + 4 * most + 2 * MIN_ROOM > self.indices.shape[0]:
                with gil:
                    self.enlarge(4 * most + 2 * MIN_ROOM)
            if self.stops[u] == self.limits[u]:
                self.move(u)
            if self.stops[v] == self.limits[v] and self.shape != OUTWARD:
                self.move(v)
        return 0

    cdef void move(self, node_t u) noexcept nogil:
        """Move row u to the end of the pool, where it gets twice the room."""
        cdef Py_ssize_t i, size = self.stops[u] - self.starts[u], start = self.used
        for i in range(size):
            self.copy_entry(self.starts[u] + i, start + i)
        self.used += max(2 * size, MIN_ROOM)
        self.starts[u], self.stops[u], self.limits[u] = start, start + size, self.used

    def enlarge(self, offset_t more):
        """Make room for so many more entries at the end of the pool. If half of it belongs to no row, pack the rows."""
        cdef offset_t size
        if 2 * self.n_entries < self.used:
            self.pack()
        if self.used + more > self.indices.shape[0]:
            size = max(self.used + more, self.used + self.used // 2)
            self.bind(self.copies(slice(self.used), size))

    def pack(self):
        """Put all rows side by side, in new arrays as large as the old ones, without room to grow."""
        starts_array, stops_array, slots = self.packed()
        cdef offset_t[::1] starts = starts_array, stops = stops_array, limits = stops_array.copy()
        cdef double largest = np.max(self.degrees, initial=0.0)
        self.bind(self.copies(slots, self.indices.shape[0]))
        self.starts, self.stops, self.limits = starts, stops, limits
        self.used, self.largest_degree = self.n_entries, largest

    def copies(self, slots, offset_t size):
        """The entries in these slots, in larger arrays: indices, weights, codes, and weights of arcs out and in."""
        present = (
            np.asarray(self.indices), np.asarray(self.weights), np.asarray(self.codes), np.asarray(self.out_weights),
            np.asarray(self.in_weights),
        )
        stored = (True, self.is_weighted, *3 * (self.shape == BOTH_WAYS,))
        return tuple(enlarged(array[slots], size) if kept else array for array, kept in zip(present, stored))

    cdef int bind(self, tuple entries) except -1:
        """Take what `copies` returns: all of it or, if this raises, nothing."""
        cdef node_t[::1] indices = entries[0]
        cdef double[::1] weights = entries[1], out_weights = entries[3], in_weights = entries[4]
        cdef unsigned char[::1] codes = entries[2]
        self.indices, self.weights, self.codes = indices, weights, codes
        self.out_weights, self.in_weights = out_weights, in_weights
        self.n_arrays += 1
        return 0

    def packed(self):
        """Where rows would start and stop if they stood side by side, and the slots of the entries in that order."""
        counts = np.asarray(self.stops) - np.asarray(self.starts)
        stops = np.cumsum(counts)
        starts = stops - counts
        slots = np.repeat(np.asarray(self.starts) - starts, counts) + np.arange(self.n_entries)
        return starts, stops, slots

    cdef void append(self, Change made) noexcept nogil:
        self.log[self.log_size] = made
        self.log_size += 1

    def keep_log(self, Py_ssize_t more):
        """Drop no change from now on, until `release_log`, and make room for so many more."""
        self.kept_from = self.position
        self.reserve_log(more)

    def release_log(self):
        """Let changes be dropped again. What is too much of the log goes at once."""
        cdef Py_ssize_t most = self.most_changes(), size = min(self.log_size, most)
        if self.log.shape[0] > 4 * most:
            log = np.zeros(2 * size + 256, dtype=CHANGE)
            log[:size] = self._log[self.log_size - size : self.log_size]
            self.log_start += self.log_size - size
            self.log = self._log = log
            self.log_size = size
        self.kept_from = INT64_MAX

    def most_changes(self):
        """How many changes the log may have."""
        return max(MIN_LOG, <Py_ssize_t> (LOG_FRACTION * self.n_entries))

    def reserve_log(self, Py_ssize_t more):
        """Make room for more changes. Old ones that nobody needs are dropped where there are many."""
        cdef Py_ssize_t most = self.most_changes(), dropped
        if self.log_size + more <= self.log.shape[0]:
            return
        dropped = min(self.log_size // 2, max(self.kept_from - self.log_start, 0))
        if self.log_size + more > most and dropped > 0:
            memmove(&self.log[0], &self.log[dropped], (self.log_size - dropped) * sizeof(Change))
            self.log_start += dropped
            self.log_size -= dropped
        if self.log_size + more > self.log.shape[0]:
            size = max(self.log_size + more, 2 * self.log.shape[0])
            self.log = self._log = enlarged(self._log, size, used=self.log_size)
