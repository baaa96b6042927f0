"""Names of nodes <-> rows: hash tables over texts and integers, without a Python object per name, and over any objects.

A table of texts or integers is an array of slots, a power of two, of which at most half are taken. A slot holds a row
plus 1, or 0. A name is searched from the slot that its hash gives, up to the first empty one. The seed of the hash is
drawn at random for each table, so that nobody can choose names that all fall into one slot.
"""

cimport cython
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcmp, memcpy

import secrets

import numpy as np

from nx_fastonl._lib.signals cimport is_poll_due, poll_signals
from nx_fastonl._lib.typedefs cimport node_t, offset_t

cdef enum:
    FIRST_SLOTS = 16
    MAX_ROWS = 2147483647


cdef inline uint64_t scrambled(uint64_t bits) noexcept nogil:
    """Bits that each depend on all bits given: the last step of SplitMix64."""
    bits = (bits ^ (bits >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    bits = (bits ^ (bits >> 27)) * <uint64_t> 0x94D049BB133111EB
    return bits ^ (bits >> 31)


cdef uint64_t hash_text(
    const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t stop, uint64_t seed,
) noexcept nogil:
    cdef uint64_t found = seed ^ <uint64_t> (stop - start), word
    while start < stop:
        word = 0
        memcpy(&word, &text[start], min(stop - start, 8))
        found = scrambled(found ^ word) + seed
        start += 8
    return scrambled(found)


cdef node_t find_text(
    const unsigned char[::1] data, const offset_t[::1] offsets, const node_t[::1] slots, uint64_t seed,
    const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t* free,
) noexcept nogil:
    """The row of a text; -1 if it has none, and then `free` is the slot to put it in."""
    cdef Py_ssize_t mask = slots.shape[0] - 1, at, size = stop - start, _
    cdef node_t u
    at = <Py_ssize_t> (hash_text(text, start, stop, seed) & <uint64_t> mask)
    for _ in range(mask + 1):  # a table from a damaged file may have no empty slot
        u = slots[at] - 1
        if u < 0:
            free[0] = at
            return -1
        if offsets[u + 1] - offsets[u] == size:
            if size == 0 or memcmp(&data[offsets[u]], &text[start], size) == 0:
                return u
        at = (at + 1) & mask
    return -1


cdef node_t find_integer(
    const int64_t[::1] values, const node_t[::1] slots, uint64_t seed, int64_t value, Py_ssize_t* free,
) noexcept nogil:
    """The same for an integer."""
    cdef Py_ssize_t mask = slots.shape[0] - 1, at, _
    cdef node_t u
    at = <Py_ssize_t> (scrambled(<uint64_t> value ^ seed) & <uint64_t> mask)
    for _ in range(mask + 1):
        u = slots[at] - 1
        if u < 0:
            free[0] = at
            return -1
        if values[u] == value:
            return u
        at = (at + 1) & mask
    return -1


@cython.final
cdef class TextTable:
    """Texts in UTF-8, numbered in the order in which they first come."""

    def __cinit__(self):
        self.seed = secrets.randbits(64)
        self.data = np.empty(1024, dtype=np.uint8)
        self.offsets = np.zeros(FIRST_SLOTS // 2 + 1, dtype=np.int64)
        self.slots = np.zeros(FIRST_SLOTS, dtype=np.int32)

    def __len__(self):
        return self.n

    cdef node_t find(self, const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
        """The row of a text; -1 if it has none."""
        cdef Py_ssize_t free = 0
        return find_text(self.data, self.offsets, self.slots, self.seed, text, start, stop, &free)

    cdef node_t number(self, const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t stop) except -1 nogil:
        """The row of a text; a new one if it has none."""
        cdef Py_ssize_t free = 0, used, size = stop - start
        cdef node_t u = find_text(self.data, self.offsets, self.slots, self.seed, text, start, stop, &free)
        if u >= 0:
            return u
        used = self.offsets[self.n]
        if used + size > self.data.shape[0] or self.n + 1 == self.offsets.shape[0]:
            self.make_room(size)
            find_text(self.data, self.offsets, self.slots, self.seed, text, start, stop, &free)
        if size > 0:
            memcpy(&self.data[used], &text[start], size)
        self.n += 1
        self.offsets[self.n] = used + size
        self.slots[free] = <node_t> self.n
        return <node_t> (self.n - 1)

    cdef int make_room(self, Py_ssize_t size) except -1 nogil:
        """Make room for a new text of this size."""
        cdef Py_ssize_t n = self.n, used = self.offsets[n]
        with gil:
            if used + size > self.data.shape[0]:
                self.data = _enlarged(self.data, used, max(used + size, 2 * self.data.shape[0]))
            if n + 1 == self.offsets.shape[0]:
                _check_room(n)
                offsets = _enlarged(self.offsets, n + 1, 2 * n + 1)
                slots = text_slots(self.data, offsets[:n + 1], self.seed, 2 * self.slots.shape[0])
                self.offsets, self.slots = offsets, slots
        return 0

    def add(self, text):
        """The row of a text, as bytes of UTF-8; a new one if it has none."""
        return self.number(text, 0, len(text))

    def names(self):
        """The bytes of all texts, and where each begins: n + 1 offsets."""
        return np.array(self.data[:self.offsets[self.n]]), np.array(self.offsets[:self.n + 1])


@cython.final
cdef class IntegerTable:
    """Integers, numbered in the order in which they first come."""

    def __cinit__(self):
        self.seed = secrets.randbits(64)
        self.values = np.empty(FIRST_SLOTS // 2, dtype=np.int64)
        self.slots = np.zeros(FIRST_SLOTS, dtype=np.int32)

    def __len__(self):
        return self.n

    cdef node_t number(self, int64_t value) except -1 nogil:
        """The row of an integer; a new one if it has none."""
        cdef Py_ssize_t free = 0
        cdef node_t u = find_integer(self.values, self.slots, self.seed, value, &free)
        if u >= 0:
            return u
        if self.n == self.values.shape[0]:
            self.make_room()
            find_integer(self.values, self.slots, self.seed, value, &free)
        self.values[self.n] = value
        self.n += 1
        self.slots[free] = <node_t> self.n
        return <node_t> (self.n - 1)

    cdef int make_room(self) except -1 nogil:
        """Make room for a new integer."""
        with gil:
            _check_room(self.n)
            values = _enlarged(self.values, self.n, 2 * self.n)
            self.values, self.slots = values, integer_slots(values[:self.n], self.seed, 2 * self.slots.shape[0])
        return 0

    def add(self, int64_t value):
        """The row of an integer; a new one if it has none."""
        return self.number(value)

    def names(self):
        """All integers."""
        return np.array(self.values[:self.n])


@cython.final
cdef class ObjectTable:
    """Any objects, each with a row. Their own code, ``__hash__`` and ``__eq__``, runs in `find` and as `add` begins.

    So an object joins and leaves as a whole, whatever that code does. A dict would also run it in between.

    Attributes
    ----------
    names : dict
        The objects by row, in the order in which they joined. Not to be changed by others.
    """

    def __cinit__(self):
        self.names, self.plain, self.hashes, self.rows = {}, {}, {}, {}

    def __len__(self):
        return len(self.names)

    def find(self, name):
        """The row of an object; None if it has none."""
        found = self.plain.get(name)
        if found is not None or not self.rows:
            return found
        found = self.rows.get(hash(name))
        if type(found) is tuple:
            for row in found:
                if self.is_at(row, name):
                    return row
            return None
        return found if found is not None and self.is_at(found, name) else None

    cdef bint is_at(self, row, name) except -1:
        other = self.names.get(row, self)
        return other is name or (other is not self and other == name)

    # What an interrupt leaves of `add` and `remove` is made whole by calling `remove` again, while the row is listed.

    def add(self, row, name):
        """Give a row that nobody has to an object that has none. What its hash raises changes nothing."""
        cdef Py_hash_t key = hash(name)
        self.names[row] = name
        if is_plain(name):
            self.plain[name] = row
            return
        self.hashes[row] = key
        found = self.rows.get(key)
        if found is None:
            self.rows[key] = row
        else:
            self.rows[key] = (*found, row) if type(found) is tuple else (found, row)

    def remove(self, row):
        """Take its row away from an object."""
        name = self.names[row]
        if is_plain(name):
            self.plain.pop(name, None)
        else:
            key = self.hashes.get(row)
            found = self.rows.get(key)
            if type(found) is tuple:
                others = tuple([other for other in found if other != row])
                self.rows[key] = others if len(others) > 1 else others[0]
            elif found == row:
                del self.rows[key]
            self.hashes.pop(row, None)
        del self.names[row]


cdef bint is_plain(name):
    """Whether hash and equality are Python's own: then a dict runs no other code, and finds it in less time."""
    return type(name) is str or type(name) is int


def slots_for(Py_ssize_t n):
    """How many slots a table of n names has."""
    cdef Py_ssize_t size = FIRST_SLOTS
    while size < 2 * n:
        size *= 2
    return size


def text_slots(const unsigned char[::1] data, const offset_t[::1] offsets, uint64_t seed, Py_ssize_t size):
    """The slots of texts; None if a text comes twice. `size` is a power of two and at least twice their number."""
    cdef Py_ssize_t u, free = 0
    cdef bint is_twice = False
    slots = np.zeros(size, dtype=np.int32)
    cdef node_t[::1] table = slots
    with nogil:
        for u in range(offsets.shape[0] - 1):
            if find_text(data, offsets, table, seed, data, offsets[u], offsets[u + 1], &free) >= 0:
                is_twice = True
                break
            table[free] = <node_t> (u + 1)
            if is_poll_due(u, u + 1):
                poll_signals()
    return None if is_twice else slots


def integer_slots(const int64_t[::1] values, uint64_t seed, Py_ssize_t size):
    """The same for integers."""
    cdef Py_ssize_t u, free = 0
    cdef bint is_twice = False
    slots = np.zeros(size, dtype=np.int32)
    cdef node_t[::1] table = slots
    with nogil:
        for u in range(values.shape[0]):
            if find_integer(values, table, seed, values[u], &free) >= 0:
                is_twice = True
                break
            table[free] = <node_t> (u + 1)
            if is_poll_due(u, u + 1):
                poll_signals()
    return None if is_twice else slots


def row_of_text(
    const unsigned char[::1] data, const offset_t[::1] offsets, const node_t[::1] slots, uint64_t seed, text,
):
    """The row of a text, given as bytes of UTF-8; -1 if it has none."""
    cdef Py_ssize_t free = 0
    return find_text(data, offsets, slots, seed, text, 0, len(text), &free)


def row_of_integer(const int64_t[::1] values, const node_t[::1] slots, uint64_t seed, int64_t value):
    """The row of an integer; -1 if it has none."""
    cdef Py_ssize_t free = 0
    return find_integer(values, slots, seed, value, &free)


def _enlarged(array, Py_ssize_t used, Py_ssize_t size):
    larger = np.empty(size, dtype=np.asarray(array).dtype)
    larger[:used] = array[:used]
    return larger


def _check_room(Py_ssize_t n):
    if n >= MAX_ROWS // 2:
        raise ValueError(f"a graph with names may have at most {MAX_ROWS // 2 + 1} nodes")
