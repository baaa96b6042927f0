"""Ctrl-C in compiled loops."""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t

cdef enum:
    # Edges walked between two polls: some ten milliseconds.
    EDGES_PER_POLL = 1 << 20


cdef inline int poll_signals() except -1 nogil:
    """Raise KeyboardInterrupt if Ctrl-C was pressed."""
    with gil:
        PyErr_CheckSignals()
    return 0


cdef inline bint is_poll_due(int64_t before, int64_t after) noexcept nogil:
    """Whether a count of steps has passed a multiple of EDGES_PER_POLL, which is a power of two."""
    return (before ^ after) >= EDGES_PER_POLL


cdef inline int poll_or_cancel(const unsigned char[::1] cancelled) except -1 nogil:
    """Poll, and end like Ctrl-C once another thread has set ``cancelled[0]``."""
    poll_signals()
    if cancelled[0]:
        with gil:
            raise KeyboardInterrupt
    return 0
