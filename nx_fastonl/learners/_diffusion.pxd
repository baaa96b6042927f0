"""What other compiled loops use of a diffusion."""

cimport cython
from libc.stdint cimport int32_t, int64_t

from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.push._push cimport PushState
from nx_fastonl.push._system cimport SystemView
from nx_fastonl.push._workspace cimport Workspace

# Where the numbers of a node for a block of labels are stored.
cdef struct Slot:
    int32_t index  # 0: nowhere yet
    float allowance  # see `allowance_of`; +inf while the node waits in the queue


@cython.final
cdef class DiffusionStore:
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
    cdef public object when_slow
    cdef public double rate
    cdef readonly double least_allowance
    cdef readonly double largest_read_epsilon
    cdef readonly double mass  # the sum over nodes of the largest magnitude of their sources
    cdef bint solved  # labels were known at once, and solved for: nodes need not be read far
    cdef readonly double largest_theta  # under which anything was settled
    cdef public int64_t n_nodes  # of the graph
    cdef readonly int64_t position  # in the log of the graph's changes, up to which H Z + R = B holds

    cdef int bind(self, residuals, estimates, int64_t[::1] slot_owners) except -1


@cython.final
cdef class DiffusionRun:
    cdef SystemView system
    cdef DiffusionStore store
    cdef Workspace work
    cdef double[::1] pivots  # of the system, where they change; otherwise empty
    cdef PushState state
    cdef int64_t operations  # of all lanes pushed
    cdef double old_mass  # taken away since all was settled
    # Of the node read: its row of inv(H) B, all lanes, and its entry of the diagonal of inv(H).
    cdef double[::1] row
    cdef double own

    cdef int read(self, node_t u) except -1 nogil
    cdef int reserve(self) except -1 nogil
    cdef void place(self, node_t u, Py_ssize_t label, double mass) noexcept nogil
    cdef void absorb(self, node_t u, double pivot) noexcept nogil
    cdef void weigh(self, double old_mass, double new_mass) noexcept nogil
    cdef int settle(self, node_t u) except -1 nogil
