"""A lock that many readers share and one writer has alone; a lock of one thread. Both know of forks.

The first is compiled so that nothing, no signal handler either, runs between taking the lock and entering a ``with`` block. Its
numbers belong together: the GIL sees to that or, in a build of Python without it, the critical section of the lock. Of
both, a thread that blocks lets go, and has it again when it goes on.

A forked child has one thread. What others held at the fork to read, they hold no more. What another one was changing is
half changed for ever.
"""

import _thread
import os
import threading

cimport cython
from cpython.pythread cimport PyThread_get_thread_ident

cdef unsigned long n_forks = 0  # between the first process and this one
cdef unsigned long survivor = 0  # the thread that went on in this process


def _note_fork():
    global n_forks, survivor
    n_forks += 1
    survivor = PyThread_get_thread_ident()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


@cython.final
cdef class Side:
    """One of the ways to hold a lock: a context manager that can be entered any number of times."""

    cdef SharedLock lock
    cdef bint writes, changes

    def __init__(self, SharedLock lock, bint writes, bint changes=False):
        self.lock, self.writes, self.changes = lock, writes, changes

    def __enter__(self):
        with cython.critical_section(self.lock):
            if self.changes:
                self.lock.begin_changing()
            elif self.writes:
                self.lock.begin_writing()
            else:
                self.lock.begin_reading()

    def __exit__(self, *_):
        with cython.critical_section(self.lock):
            if self.changes:
                self.lock.is_changing = False
            if self.writes:
                self.lock.end_writing()
            else:
                self.lock.end_reading()


@cython.final
cdef class SharedLock:
    """Held by any number of threads that read, or by one that writes.

    A thread may take it again while it has it, but not to write while it only reads: that is a RuntimeError, as two such
    threads would wait for each other. To write once more while a change is being made is one too: a node's ``__eq__`` and
    signal handlers run in the middle of it. Threads that want to write come before those that begin to read. It must not be
    held while a caller's code runs, apart from looking up nodes. In a forked child it is a RuntimeError to take it if
    another thread was writing at the fork.

    Attributes
    ----------
    reading, writing : context managers
    changing : context manager
        To write, and to make one change while no other is being made.
    """

    cdef readonly Side reading, writing, changing
    cdef bint is_changing
    cdef dict readers  # how often each thread has it to read
    cdef unsigned long writer  # the thread that writes; 0: none
    cdef Py_ssize_t depth  # how often it has it
    cdef Py_ssize_t waiting_writers
    cdef list waiters  # locks that waiting threads block on
    cdef unsigned long n_forks  # when it was last taken

    def __init__(self):
        self.reading, self.writing, self.changing = Side(self, False), Side(self, True), Side(self, True, True)
        self.is_changing = False
        self.readers, self.waiters = {}, []
        self.writer, self.depth, self.waiting_writers = 0, 0, 0
        self.n_forks = n_forks

    # The methods below are called within the critical section.

    cdef int begin_reading(self) except -1:
        cdef unsigned long me = PyThread_get_thread_ident()
        if self.n_forks != n_forks:
            self.leave_out_others()
        if self.writer != me and me not in self.readers:
            while self.writer != 0 or self.waiting_writers > 0:
                self.wait(False)
        self.readers[me] = self.readers.get(me, 0) + 1
        return 0

    cdef int end_reading(self) except -1:
        cdef unsigned long me = PyThread_get_thread_ident()
        if self.readers[me] > 1:
            self.readers[me] -= 1
        else:
            del self.readers[me]
            self.wake()
        return 0

    cdef int begin_writing(self) except -1:
        cdef unsigned long me = PyThread_get_thread_ident()
        if self.n_forks != n_forks:
            self.leave_out_others()
        if self.writer != me:
            if me in self.readers:
                raise RuntimeError(
                    "this thread is reading the graph, so it cannot change it: a signal handler or a node's __eq__ may not"
                )
            while self.writer != 0 or len(self.readers) > 0:
                self.wait(True)
            self.writer = me
        self.depth += 1
        return 0

    cdef int begin_changing(self) except -1:
        self.begin_writing()
        if self.is_changing:
            self.end_writing()
            raise RuntimeError(
                "this thread is in the middle of another change of the same graph: a signal handler or a node's __eq__ "
                "cannot change it"
            )
        self.is_changing = True
        return 0

    cdef int end_writing(self) except -1:
        self.depth -= 1
        if self.depth == 0:
            self.writer = 0
            self.wake()
        return 0

    cdef int leave_out_others(self) except -1:
        """Forget the threads that only the process before the fork has."""
        if self.writer != 0 and self.writer != survivor:
            raise RuntimeError(
                "another thread was changing the graph when this process was forked from its parent, so it is half changed "
                "here: fork while no thread changes it, or open or make the graph in this process"
            )
        self.readers = {me: depth for me, depth in self.readers.items() if me == survivor}
        self.waiters, self.waiting_writers = [], 0
        self.n_forks = n_forks
        return 0

    cdef int wait(self, bint writes) except -1:
        """Block until something has changed; at once if nothing is in the way any more."""
        waiter = _thread.allocate_lock()
        waiter.acquire()
        self.waiters.append(waiter)
        # Looked at again: making the lock may have let other threads run, which did not know of it.
        if self.writer == 0 and (len(self.readers) == 0 if writes else self.waiting_writers == 0):
            self.waiters.remove(waiter)
            return 0
        self.waiting_writers += writes
        try:
            waiter.acquire()
        except BaseException:  # an interrupt
            if waiter in self.waiters:
                self.waiters.remove(waiter)
            self.waiting_writers -= writes
            self.wake()
            raise
        self.waiting_writers -= writes
        return 0

    cdef int wake(self) except -1:
        waiters, self.waiters = self.waiters, []
        for waiter in waiters:
            waiter.release()
        return 0


@cython.final
cdef class ThreadLock:
    """Held by one thread at a time, which may take it again unless it is `once`: then that is a RuntimeError.

    In a forked child it is one to take it if another thread held it at the fork.
    """

    cdef object lock
    cdef bint once
    cdef unsigned long n_forks  # when it was last known to be whole

    def __init__(self, bint once=False):
        self.lock, self.once, self.n_forks = threading.RLock(), once, n_forks

    def __enter__(self):
        if self.n_forks != n_forks:
            self.check_survived()
        if self.once and self.lock._is_owned():
            raise RuntimeError("this thread is computing it already: a signal handler or a node's __eq__ cannot")
        self.lock.acquire()

    def __exit__(self, *_):
        self.lock.release()

    def is_owned(self):
        """Whether this thread holds it."""
        return self.lock._is_owned()

    cdef int check_survived(self) except -1:
        if not self.lock.acquire(blocking=False):
            raise RuntimeError(
                "another thread was using this model when this process was forked from its parent, so it may be half "
                "changed here: fork while no thread uses it, or make or load it in this process"
            )
        self.n_forks = n_forks
        self.lock.release()
        return 0
