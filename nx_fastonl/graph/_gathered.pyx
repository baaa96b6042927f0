"""Edges as they are read: their ends become numbers at once, and stand in chunks of arrays.

While all names are small integers, ends are stored as they are, and numbered when all are known. The first name of
another kind puts all names so far into a hash table.
"""

cimport cython
from libc.stdint cimport INT64_MAX, int64_t, uint64_t

import numpy as np

from nx_fastonl._lib.signals cimport poll_signals
from nx_fastonl._lib.typedefs cimport node_t, offset_t
from nx_fastonl.graph._names cimport IntegerTable, TextTable

# Numbering by a bitmap takes less than two bits for each integer up to the largest, a chunk 64 bits for each edge.
INTEGERS_PER_EDGE = 32

cdef enum:
    MAX_DIGITS = 20  # of an integer of 64 bits, with its sign


@cython.final
cdef class GatheredEdges:
    """Edges from files, in the order in which they come.

    Attributes
    ----------
    count : int
        The number of edges.
    """

    def __cinit__(self, Py_ssize_t chunk_size):
        self.chunk_size = chunk_size
        self.full_chunks, self.further = [], []
        self.largest = -1
        self.sources = self.targets = np.empty(0, dtype=np.int32)

    def begin_file(self, bint is_weighted):
        """Say whether the edges that follow have weights."""
        if is_weighted != self.is_weighted:
            self._close_chunk()
            self.is_weighted = is_weighted

    def add_integers(self, const int64_t[::1] sources, const int64_t[::1] targets, const double[::1] weights):
        """Add edges between integers; `weights` is empty where there are none."""
        cdef Py_ssize_t e
        cdef unsigned char[::1] digits = np.empty(2 * MAX_DIGITS, dtype=np.uint8)
        cdef Name source, target
        with nogil:
            for e in range(sources.shape[0]):
                source = written(sources[e], digits, 0)
                target = written(targets[e], digits, MAX_DIGITS)
                self.add(digits, source, digits, target, weights[e] if weights.shape[0] > 0 else 1.0)

    def add_texts(
        self, const unsigned char[::1] source_data, const offset_t[::1] source_offsets,
        const unsigned char[::1] target_data, const offset_t[::1] target_offsets, const double[::1] weights,
    ):
        """Add edges between texts in UTF-8; text e is ``data[offsets[e]:offsets[e + 1]]``."""
        cdef Py_ssize_t e
        with nogil:
            for e in range(source_offsets.shape[0] - 1):
                self.add(
                    source_data, named(source_data, source_offsets[e], source_offsets[e + 1]),
                    target_data, named(target_data, target_offsets[e], target_offsets[e + 1]),
                    weights[e] if weights.shape[0] > 0 else 1.0,
                )

    def add_nodes(self, names):
        """Add nodes, given as bytes of UTF-8, which edges may name or not."""
        cdef Name name
        cdef const unsigned char[::1] text
        for item in names:
            text = item
            name = named(text, 0, text.shape[0])
            if level_of(name) > self.level:
                self.raise_level(level_of(name))
            if self.level == SMALL:
                self.add_small_nodes(np.array([name.value], dtype=np.int32))
            else:
                self.number(text, name)

    def add_small_nodes(self, values):
        """Add nodes given as an array of int32, from 0 on, while all others are such integers too."""
        self.further.append(values)
        self.largest = max(self.largest, values.max())

    def small_ends(self):
        """The smallest and the largest end; None if there are none, or not all are stored as they are."""
        self._close_chunk()
        if self.level != SMALL or not self.full_chunks:
            return None
        return min(min(s.min(), t.min()) for s, t, _ in self.full_chunks), self.largest

    def has_text(self, const unsigned char[::1] text):
        """Whether names are texts, and this, as bytes of UTF-8, is one of them."""
        return self.level == TEXT and self.texts.find(text, 0, text.shape[0]) >= 0

    def finish(self):
        """The chunks (sources, targets, weights) with ends that count from 0, and the names of the nodes.

        Names are an int if they are 0 to that minus 1, an array of integers that ascend, or a TextTable. This object is
        of no use afterwards.
        """
        self._close_chunk()
        chunks, self.full_chunks = self.full_chunks, []
        if self.level == TEXT:
            return chunks, self.texts
        if self.level == SMALL and self.largest >= INTEGERS_PER_EDGE * (self.count + sum(map(len, self.further))):
            self.full_chunks = chunks
            self._number_small()
        if self.level == SMALL:
            return chunks, numbered_by_bitmap(chunks, self.further, self.largest)
        names = self.integers.names()
        order = np.argsort(names)
        ranks = np.empty(len(names), dtype=np.int32)
        ranks[order] = np.arange(len(names), dtype=np.int32)
        for sources, targets, _ in chunks:
            sources[:], targets[:] = ranks[sources], ranks[targets]
        return chunks, names[order]

    cdef int add_small(self, node_t source, node_t target, double weight) except -1 nogil:
        """Add an edge whose ends are stored as they are."""
        if self.filled == self.sources.shape[0]:
            self.begin_chunk()
        self.sources[self.filled] = source
        self.targets[self.filled] = target
        if self.is_weighted:
            self.weights[self.filled] = weight
        self.largest = max(self.largest, source, target)
        self.filled += 1
        self.count += 1
        return 0

    cdef int add(
        self, const unsigned char[::1] source_text, Name source, const unsigned char[::1] target_text, Name target,
        double weight,
    ) except -1 nogil:
        cdef Level level = max(level_of(source), level_of(target))
        cdef node_t u, v
        if level > self.level:
            self.raise_level(level)
        u = self.number(source_text, source)
        v = self.number(target_text, target)
        return self.add_small(u, v, weight)

    cdef node_t number(self, const unsigned char[::1] text, Name name) except -1 nogil:
        """What stands for a name in the chunks; the level is at least that of the name."""
        if self.level == SMALL:
            return <node_t> name.value
        if self.level == WIDE:
            return self.integers.number(name.value)
        return self.texts.number(text, name.start, name.stop)

    cdef int raise_level(self, Level level) except -1 nogil:
        with gil:
            if self.level == SMALL:
                self._close_chunk()
                self._number_small()
            if level == TEXT:
                self._write_integers()
        return 0

    def _number_small(self):
        self.integers = IntegerTable()
        for sources, targets, _ in self.full_chunks:
            number_pairs(self.integers, sources, targets)
            poll_signals()
        for values in self.further:
            number_nodes(self.integers, values)
        self.level = WIDE

    def _write_integers(self):
        """Make texts of all integers, numbered as they were: the chunks stay as they are."""
        cdef const int64_t[::1] values = self.integers.names()
        cdef unsigned char[::1] digits = np.empty(MAX_DIGITS, dtype=np.uint8)
        cdef Py_ssize_t u
        cdef Name name
        self.integers, self.texts = None, TextTable()
        with nogil:
            for u in range(values.shape[0]):
                name = written(values[u], digits, 0)
                self.texts.number(digits, name.start, name.stop)
        self.level = TEXT

    cdef int begin_chunk(self) except -1 nogil:
        with gil:
            self._close_chunk()
            self.sources, self.targets = np.empty((2, self.chunk_size), dtype=np.int32)
            if self.is_weighted:
                self.weights = np.empty(self.chunk_size)
        return 0

    def _close_chunk(self):
        if self.filled:
            ends = (np.asarray(self.sources)[:self.filled], np.asarray(self.targets)[:self.filled])
            self.full_chunks.append((*ends, np.asarray(self.weights)[:self.filled] if self.is_weighted else None))
        self.sources = self.targets = np.empty(0, dtype=np.int32)
        self.filled = 0


cdef inline Level level_of(Name name) noexcept nogil:
    return SMALL if is_small(name) else WIDE if name.is_integer else TEXT


cdef inline Name named(const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    cdef Name name
    name.start, name.stop, name.value = start, stop, 0
    name.is_integer = parse_integer(text, start, stop, &name.value)
    return name


cdef bint parse_integer(
    const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t stop, int64_t* value,
) noexcept nogil:
    """Whether this is an integer of 64 bits as Python writes it, which excludes "007", "-0" and "+7"."""
    cdef bint is_negative = start < stop and text[start] == c"-"
    cdef Py_ssize_t at = start + is_negative
    cdef uint64_t size = 0
    cdef unsigned char digit
    if at == stop or stop - at >= MAX_DIGITS or (text[at] == c"0" and stop - start > 1):
        return False
    while at < stop:
        digit = text[at] - c"0"
        if digit > 9:
            return False
        size = 10 * size + digit  # 19 digits fit
        at += 1
    if size > <uint64_t> INT64_MAX + is_negative:
        return False
    value[0] = <int64_t> (0 - size if is_negative else size)
    return True


cdef Name written(int64_t value, unsigned char[::1] digits, Py_ssize_t at) noexcept nogil:
    """Write an integer to the MAX_DIGITS bytes from here on."""
    cdef Name name
    cdef uint64_t size = 0 - <uint64_t> value if value < 0 else <uint64_t> value
    name.stop = name.start = at + MAX_DIGITS
    name.value, name.is_integer = value, True
    while True:
        name.start -= 1
        digits[name.start] = <unsigned char> (c"0" + size % 10)
        size //= 10
        if size == 0:
            break
    if value < 0:
        name.start -= 1
        digits[name.start] = c"-"
    return name


def number_pairs(IntegerTable table, node_t[::1] sources, node_t[::1] targets):
    """Replace the ends of edges by their numbers, source before target."""
    cdef Py_ssize_t e
    with nogil:
        for e in range(sources.shape[0]):
            sources[e] = table.number(sources[e])
            targets[e] = table.number(targets[e])


def number_nodes(IntegerTable table, const node_t[::1] values):
    cdef Py_ssize_t i
    with nogil:
        for i in range(values.shape[0]):
            table.number(values[i])


def numbered_by_bitmap(list chunks, list further, node_t largest):
    """Replace the ends in all chunks by their ranks, and return the names as `GatheredEdges.finish` does."""
    cdef Py_ssize_t i, n = 0
    cdef uint64_t[::1] seen = np.zeros(largest // 64 + 1, dtype=np.uint64)
    cdef node_t[::1] ranks
    for values in further:
        mark(seen, values)
    for sources, targets, _ in chunks:
        mark(seen, sources)
        mark(seen, targets)
        poll_signals()
    ranks = np.empty(seen.shape[0], dtype=np.int32)
    with nogil:
        for i in range(seen.shape[0]):
            ranks[i] = <node_t> n
            n += ones(seen[i])
    if n == <Py_ssize_t> largest + 1:
        return n
    for sources, targets, _ in chunks:
        replace_by_rank(seen, ranks, sources)
        replace_by_rank(seen, ranks, targets)
        poll_signals()
    return marked(seen, n)


def mark(uint64_t[::1] seen, const node_t[::1] values):
    cdef Py_ssize_t e
    with nogil:
        for e in range(values.shape[0]):
            seen[values[e] >> 6] |= (<uint64_t> 1) << (values[e] & 63)


def replace_by_rank(const uint64_t[::1] seen, const node_t[::1] ranks, node_t[::1] values):
    cdef Py_ssize_t e
    cdef node_t value
    with nogil:
        for e in range(values.shape[0]):
            value = values[e]
            values[e] = ranks[value >> 6] + ones(seen[value >> 6] & (((<uint64_t> 1) << (value & 63)) - 1))


def marked(const uint64_t[::1] seen, Py_ssize_t n):
    """The integers whose bits are set, n of them."""
    cdef Py_ssize_t i, bit, found = 0
    values = np.empty(n, dtype=np.int64)
    cdef int64_t[::1] values_out = values
    with nogil:
        for i in range(seen.shape[0]):
            if seen[i] == 0:
                continue
            for bit in range(64):
                if (seen[i] >> bit) & 1:
                    values_out[found] = 64 * i + bit
                    found += 1
    return values


cdef inline node_t ones(uint64_t bits) noexcept nogil:
    """How many bits are set: counted in pairs, in fours, in bytes, then over all bytes."""
    bits = bits - ((bits >> 1) & <uint64_t> 0x5555555555555555)
    bits = (bits & <uint64_t> 0x3333333333333333) + ((bits >> 2) & <uint64_t> 0x3333333333333333)
    bits = (bits + (bits >> 4)) & <uint64_t> 0x0F0F0F0F0F0F0F0F
    return <node_t> ((bits * <uint64_t> 0x0101010101010101) >> 56)
