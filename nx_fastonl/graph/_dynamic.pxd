"""Rows that grow and shrink, and the log of their changes, as compiled loops see them."""

cimport cython
from libc.stdint cimport int32_t, int64_t

from nx_fastonl._lib.typedefs cimport node_t, offset_t

# What happened to the edge from u to v. A weight of 0 means that there is no edge. In an undirected graph, an edge from u
# to v is one from v to u.
cdef struct Change:
    node_t u
    node_t v
    double before  # the weight
    double after
    double u_before  # the degree of u: in rows of W + W^T, the sum of both directions
    double u_after
    double v_before  # the same of v; in rows of out-edges both are 0
    double v_after
    # How many entries row u got, and lost if negative, in rows of W + W^T only if it had none of the other direction.
    int32_t more

cdef enum Shape:
    UNDIRECTED = 0  # each edge stands in the rows of both its ends
    OUTWARD = 1  # only in that of the node that it leads from
    BOTH_WAYS = 2  # the rows of W + W^T, with a code for each entry


@cython.final
cdef class RowPool:
    cdef readonly Shape shape
    # Row u is indices[starts[u]:stops[u]], with room up to limits[u].
    cdef offset_t[::1] starts, stops, limits
    cdef double[::1] degrees
    cdef node_t[::1] indices
    cdef double[::1] weights  # parallel to indices; empty while every weight is 1
    # Of rows both ways, parallel to indices, as `ArrowView` has them; otherwise empty.
    cdef unsigned char[::1] codes
    cdef double[::1] out_weights, in_weights
    cdef int32_t[::1] out_counts, in_counts  # of each row: how many of its entries have arcs out, and in
    cdef offset_t used  # entries of the pool that belong or belonged to a row
    cdef readonly offset_t n_entries  # in rows
    cdef readonly int64_t n_loops  # entries that lead to their own row
    cdef readonly int64_t n_empty  # rows without entries
    cdef readonly double largest_degree  # of all rows since the degrees were last summed, or the rows packed
    # The sum of the degrees and what it lacks by rounding; its largest value and how many degrees changed since the
    # degrees were last summed.
    cdef double _volume, volume_rest, largest_volume
    cdef int64_t n_weighed
    # How often an edge that was there got heavier, and its degrees were rounded. A degree is off by at most half a unit for
    # each entry of its row, and a unit for each of these.
    cdef readonly int64_t n_rounded
    cdef readonly int64_t n_arrays  # how often arrays were replaced by others
    cdef Change[::1] log
    cdef object _log  # the same memory, as numpy sees it
    cdef int64_t log_start  # the position of log[0]
    cdef Py_ssize_t log_size
    cdef int64_t kept_from  # no change from this position on is dropped

    cdef int bind(self, tuple entries) except -1
    cdef void prefetch_offsets(self, node_t u) noexcept nogil
    cdef void prefetch_row(self, node_t u) noexcept nogil
    cdef double weight_at(self, node_t u, node_t v) noexcept nogil
    cdef bint is_in_row(self, node_t u, Py_ssize_t e) noexcept nogil
    cdef Py_ssize_t find(self, node_t u, node_t v) noexcept nogil
    cdef Py_ssize_t find_either(self, node_t u, node_t v) noexcept nogil
    cdef double sum_row(self, node_t u) noexcept nogil
    cdef int change(self, node_t u, node_t v, double weight) except -1 nogil
    cdef void weigh(self, node_t u, double entry_before, double entry_after) noexcept nogil
    cdef void add_volume(self, double degree) noexcept nogil
    cdef void sum_degrees(self) noexcept nogil
    cdef void set_arc(self, node_t u, Py_ssize_t e, unsigned char way, double weight) noexcept nogil
    cdef Py_ssize_t insert(self, node_t u, node_t v) noexcept nogil
    cdef void delete(self, node_t u, Py_ssize_t e) noexcept nogil
    cdef void copy_entry(self, Py_ssize_t source, Py_ssize_t target) noexcept nogil
    cdef int reserve_entries(self, node_t u, node_t v) except -1 nogil
    cdef void move(self, node_t u) noexcept nogil
    cdef void append(self, Change made) noexcept nogil
