"""Lines of text -> edges: one pass over blocks of bytes, which finds the cells of each line and reads them.

A record is a line, or several lines where a cell in quotes holds line breaks. What a block holds of its last record is
left for the next block, so that blocks may end anywhere. Python looks for Ctrl-C between blocks.
"""

cimport cython
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from nx_fastonl._lib import checks, limits

from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.graph._gathered cimport SMALL, TEXT, GatheredEdges, Level, Name, is_small, parse_integer

cdef extern from "Python.h":
    double PyOS_string_to_double(const char* text, char** end, void* overflow) except? -1.0

cdef enum Kind:
    # What a byte means outside of quotes. Those up to BLANK may stand inside of a cell.
    PLAIN, BLANK, DELIMITER, NEWLINE, RETURN, NUL

cdef enum:
    FAST_DIGITS = 18  # so many digits fit into 64 bits, whatever they are
    MAX_EXACT_POWER = 22  # of ten, as a float
    MAX_NUMBER = 500  # characters of a weight
    SHOWN = 200  # bytes of a cell that a message may show
    INCOMPLETE = -1  # said of a record that goes on after the block

cdef uint64_t MAX_EXACT = <uint64_t> 1 << 53  # integers up to this are exact as floats
cdef double[23] POWERS_OF_TEN = [10.0**exponent for exponent in range(23)]
cdef double SMALLEST_WEIGHT = limits.WEIGHT_RANGE[0], LARGEST_WEIGHT = limits.WEIGHT_RANGE[1]


class LineError(ValueError):
    """What is wrong with a line of a file; the message begins with the number of the line."""


cdef struct Cell:
    Name name  # `is_integer` is set where digits are all there is; other integers are found later
    unsigned char bits  # of all its bytes, joined by "or"
    bint has_quotes  # it holds two quotes that stand for one


@cython.final
cdef class EdgeTokenizer:
    """The edges in the text of one file.

    Parameters
    ----------
    delimiter : int
        The byte between cells; a blank stands for any run of blanks and tabs.
    comments : bytes
        A line that begins with one of these is skipped.
    columns : tuple of int
        Those of the source, the target and the weight, or -1.
    width : int
        How many columns each line must have; 0 if any number will do that includes `columns`.
    skips_first : bool
        Whether the first record is a header.
    line : int
        The number of the first line.

    Attributes
    ----------
    line : int
        The line in which the next record begins.
    comments_among_edges : int
        How many lines after the first edge were skipped, though no blank follows the comment character.
    first_comment_line : int
        The first of them.
    """

    cdef Kind[256] kinds
    cdef bint[256] is_comment
    cdef bint is_blank_separated, skips_first, has_edges
    cdef Py_ssize_t source_column, target_column, weight_column, width
    cdef unsigned char[::1] text
    cdef Cell source, target, weight, other
    cdef Py_ssize_t found, lines  # columns of the current record, and its lines
    cdef list row  # all its cells, where a sample is taken
    cdef readonly Py_ssize_t line, comments_among_edges, first_comment_line

    def __cinit__(
        self, int delimiter, bytes comments, columns=(0, 1, -1), Py_ssize_t width=0, bint skips_first=False,
        Py_ssize_t line=1,
    ):
        cdef int byte
        for byte in range(256):
            self.kinds[byte] = PLAIN
            self.is_comment[byte] = byte in comments
        self.is_blank_separated = delimiter == c" "
        self.kinds[c" "] = self.kinds[c"\t"] = DELIMITER if self.is_blank_separated else BLANK
        self.kinds[delimiter] = DELIMITER
        self.kinds[c"\n"], self.kinds[c"\r"], self.kinds[0] = NEWLINE, RETURN, NUL
        self.source_column, self.target_column, self.weight_column = columns
        self.width, self.skips_first = width, skips_first
        self.line = line

    def read(self, unsigned char[::1] text, Py_ssize_t size, bint is_last, GatheredEdges edges):
        """Gather the edges of the complete records in the first bytes of a text; return how many bytes they take.

        The text may be changed there. The last of the texts of a file ends its last record too.
        """
        cdef Py_ssize_t at = 0, after
        if not 0 <= size <= text.shape[0]:
            raise ValueError(f"size must lie between 0 and {text.shape[0]}, got {size}")
        self.text = text
        with nogil:
            while at < size:
                after = self.scan_record(at, size, is_last)
                if after == INCOMPLETE:
                    break
                if self.found > 0:
                    if self.skips_first:
                        self.skips_first = False
                    else:
                        self.take_record(edges)
                self.line += self.lines
                at = after
        self.text = None
        return at

    def sample(self, unsigned char[::1] text, bint is_last, Py_ssize_t most):
        """The first complete records of a text, at most so many, as pairs of a line number and cells."""
        cdef Py_ssize_t at = 0, after, size = text.shape[0]
        rows = []
        self.text = text
        while at < size and len(rows) < most:
            self.row = []
            after = self.scan_record(at, size, is_last)
            if after == INCOMPLETE:
                break
            if self.found > 0:
                rows.append((self.line, self.row))
            self.line += self.lines
            at = after
        self.row = self.text = None
        return rows

    cdef Py_ssize_t scan_record(
        self, Py_ssize_t at, Py_ssize_t size, bint is_last,
    ) except? -2 nogil:
        """Find the cells of the record that begins here; return where the next one begins, or INCOMPLETE.

        A line without cells counts as a record.
        """
        cdef Cell* cell
        cdef Kind kind
        self.found, self.lines = 0, 1
        at = self.skip_blanks(at, size)
        if at < size and self.is_comment[self.text[at]]:
            return self.skip_comment(at, size, is_last)
        if at == size:
            return size if is_last else INCOMPLETE
        if self.kinds[self.text[at]] == NEWLINE or self.kinds[self.text[at]] == RETURN:
            return self.after_line(at, size, is_last)
        while True:
            if self.found == self.source_column:
                cell = &self.source
            elif self.found == self.target_column:
                cell = &self.target
            elif self.found == self.weight_column:
                cell = &self.weight
            else:
                cell = &self.other
            at = self.scan_cell(at, size, is_last, cell)
            if at == INCOMPLETE or (at == size and not is_last):
                return INCOMPLETE
            if self.row is not None:
                self.keep(cell)
            self.found += 1
            if at == size:
                return size
            if self.kinds[self.text[at]] != DELIMITER:
                return self.after_line(at, size, is_last)
            at += 1
            if self.is_blank_separated:
                at = self.skip_blanks(at, size)
                if at == size:
                    return size if is_last else INCOMPLETE
                kind = self.kinds[self.text[at]]
                if kind == NEWLINE or kind == RETURN:
                    return self.after_line(at, size, is_last)

    cdef inline Py_ssize_t skip_blanks(
        self, Py_ssize_t at, Py_ssize_t size,
    ) noexcept nogil:
        cdef Kind blank = DELIMITER if self.is_blank_separated else BLANK
        while at < size and self.kinds[self.text[at]] == blank:
            at += 1
        return at

    cdef Py_ssize_t scan_cell(
        self, Py_ssize_t at, Py_ssize_t size, bint is_last, Cell* cell,
    ) except? -2 nogil:
        """Find the cell that begins here; return where the byte stands that ends it."""
        cdef Py_ssize_t digits
        cdef uint64_t value = 0
        cdef unsigned char digit
        cdef Kind kind
        if not self.is_blank_separated:
            at = self.skip_blanks(at, size)
        if at < size and self.text[at] == c'"':
            return self.scan_quoted(at + 1, size, is_last, cell)
        cell.bits, cell.has_quotes = 0, False
        cell.name.start = at
        while at < size:
            digit = self.text[at] - c"0"
            if digit > 9:
                break
            value = 10 * value + digit
            at += 1
        cell.name.stop = at
        cell.name.value = <int64_t> value
        digits = at - cell.name.start
        cell.name.is_integer = 0 < digits <= FAST_DIGITS and (self.text[cell.name.start] != c"0" or digits == 1)
        while at < size:
            kind = self.kinds[self.text[at]]
            if kind > BLANK:
                if kind == NUL:
                    self.fail("a NUL byte; expected text in UTF-8")
                break
            if kind == PLAIN:
                cell.bits |= self.text[at]
                cell.name.stop = at + 1
                cell.name.is_integer = False
            at += 1
        return at

    cdef Py_ssize_t scan_quoted(
        self, Py_ssize_t at, Py_ssize_t size, bint is_last, Cell* cell,
    ) except? -2 nogil:
        """The same for the cell after an opening quote."""
        cdef unsigned char byte
        cell.bits, cell.has_quotes = 0, False
        cell.name.start, cell.name.value, cell.name.is_integer = at, 0, False
        while True:
            if at == size:
                if is_last:
                    self.fail('a quote that is never closed; a cell that begins with " ends with another one')
                return INCOMPLETE
            byte = self.text[at]
            if byte == c'"':
                if at + 1 == size and not is_last:
                    return INCOMPLETE
                if at + 1 == size or self.text[at + 1] != c'"':
                    break
                cell.has_quotes = True
                at += 1
            elif byte == c"\n":
                self.lines += 1
            elif byte == 0:
                self.fail("a NUL byte; expected text in UTF-8")
            cell.bits |= byte
            at += 1
        cell.name.stop = at
        at += 1
        if not self.is_blank_separated:
            at = self.skip_blanks(at, size)
        if at < size and self.kinds[self.text[at]] == PLAIN:
            self.fail('text after a closing quote; inside of quotes, write two quotes ("") for one')
        return at

    cdef Py_ssize_t after_line(
        self, Py_ssize_t at, Py_ssize_t size, bint is_last,
    ) except? -2 nogil:
        """Where the next record begins, if a line ends here."""
        if self.text[at] == c"\n":
            return at + 1
        if self.text[at] == 0:
            self.fail("a NUL byte; expected text in UTF-8")
        if at + 1 == size:
            return size if is_last else INCOMPLETE
        if self.text[at + 1] != c"\n":
            self.fail("a carriage return inside of the line; lines end with LF or CR LF")
        return at + 2

    cdef Py_ssize_t skip_comment(
        self, Py_ssize_t at, Py_ssize_t size, bint is_last,
    ) noexcept nogil:
        cdef Py_ssize_t start = at
        while at < size and self.text[at] != c"\n":
            at += 1
        if at == size and not is_last:
            return INCOMPLETE
        if self.has_edges and start + 1 < at and self.kinds[self.text[start + 1]] == PLAIN:
            if not self.is_comment[self.text[start + 1]]:
                if self.comments_among_edges == 0:
                    self.first_comment_line = self.line
                self.comments_among_edges += 1
        return min(at + 1, size)

    cdef int take_record(self, GatheredEdges edges) except -1 nogil:
        """Gather the edge of the record that was scanned."""
        cdef node_t u, v
        cdef double weight = 1.0
        if self.width > 0 and self.found != self.width:
            self.fail_width()
        if self.found <= max(self.source_column, self.target_column, self.weight_column):
            self.fail_width()
        self.read_name(&self.source, self.source_column, edges.level)
        self.read_name(&self.target, self.target_column, edges.level)
        if self.weight_column >= 0:
            weight = self.read_weight(self.weight.name.start, self.weight.name.stop)
        self.has_edges = True
        # What follows does the same for all names. Two shorter ways are for most of them: views take long to pass on.
        if edges.level == SMALL and is_small(self.source.name) and is_small(self.target.name):
            return edges.add_small(<node_t> self.source.name.value, <node_t> self.target.name.value, weight)
        if edges.level == TEXT:
            u = edges.texts.number(self.text, self.source.name.start, self.source.name.stop)
            v = edges.texts.number(self.text, self.target.name.start, self.target.name.stop)
            return edges.add_small(u, v, weight)
        return edges.add(self.text, self.source.name, self.text, self.target.name, weight)

    cdef inline int read_name(self, Cell* cell, Py_ssize_t column, Level level) except -1 nogil:
        """Make the name of a node of its cell."""
        if cell.name.is_integer:
            return 0
        if cell.name.start == cell.name.stop:
            self.fail_empty(column)
        if cell.has_quotes:
            join_quotes(self.text, &cell.name)
        if level != TEXT:
            cell.name.is_integer = parse_integer(self.text, cell.name.start, cell.name.stop, &cell.name.value)
        if cell.bits >= 0x80 and not is_utf8(self.text, cell.name.start, cell.name.stop):
            self.fail_encoding(cell.name.start, cell.name.stop)
        return 0

    cdef double read_weight(
        self, Py_ssize_t start, Py_ssize_t stop,
    ) except? -1.0 nogil:
        """The number in a cell: exact where digits and exponent are few, else as Python reads it."""
        cdef Py_ssize_t at = start
        cdef uint64_t digits = 0
        cdef int power = 0
        cdef bint is_fraction = False
        cdef double value
        cdef unsigned char digit
        if start == stop:
            self.fail_empty(self.weight_column)
        while at < stop and digits <= MAX_EXACT:
            digit = self.text[at] - c"0"
            if digit <= 9:
                digits = 10 * digits + digit
                power += is_fraction
            elif self.text[at] == c"." and not is_fraction:
                is_fraction = True
            else:
                break
            at += 1
        if at == stop and digits <= MAX_EXACT and power <= MAX_EXACT_POWER and stop - start > is_fraction:
            value = <double> digits / POWERS_OF_TEN[power]
        else:
            value = self.parse_weight(start, stop)
        if value != 0.0 and not SMALLEST_WEIGHT <= value <= LARGEST_WEIGHT:
            self.fail_weight(start, stop)
        return value

    cdef double parse_weight(
        self, Py_ssize_t start, Py_ssize_t stop,
    ) except? -1.0 nogil:
        cdef char[MAX_NUMBER + 1] characters
        if stop - start > MAX_NUMBER:
            self.fail_weight(start, stop)
        memcpy(characters, &self.text[start], stop - start)
        characters[stop - start] = 0
        with gil:
            try:
                return PyOS_string_to_double(characters, NULL, NULL)
            except ValueError:
                pass
        self.fail_weight(start, stop)

    cdef int keep(self, Cell* cell) except -1 nogil:
        with gil:
            content = bytes(self.text[cell.name.start:cell.name.stop])
            self.row.append(content.replace(b'""', b'"') if cell.has_quotes else content)
        return 0

    cdef int fail(self, str problem) except -1 nogil:
        with gil:
            raise LineError(f"line {self.line}: {problem}")

    cdef int fail_empty(self, Py_ssize_t column) except -1 nogil:
        with gil:
            others = "; columns= names others" if column != self.weight_column else f"; {self._without_weights()}"
            raise LineError(f"line {self.line}: column {column} is empty{others}")

    cdef int fail_width(self) except -1 nogil:
        with gil:
            count = "1 column" if self.found == 1 else f"{self.found} columns"
            if self.width:
                wanted = f"but {self.width} in the first line; {self._any_width()} takes lines of any length"
            else:
                wanted = f"but column {max(self.source_column, self.target_column, self.weight_column)} is wanted"
            raise LineError(f"line {self.line}: {count}, {wanted}")

    cdef int fail_encoding(self, Py_ssize_t start, Py_ssize_t stop) except -1 nogil:
        with gil:
            raise LineError(
                f"line {self.line}: {shown(self.text, start, stop)} is not UTF-8; convert the file first, for example "
                "with iconv -f latin1 -t utf-8"
            )

    cdef int fail_weight(self, Py_ssize_t start, Py_ssize_t stop) except -1 nogil:
        with gil:
            text = shown(self.text, start, stop)
            point = "; write decimals with a point, not with a comma" if "," in text else ""
            raise LineError(
                f"line {self.line}: the weight {text} must be {limits.allowed_weights(False, or_zero=True)}{point}; "
                f"{self._without_weights()}"
            )

    def _any_width(self):
        columns = (self.source_column, self.target_column, self.weight_column)
        return f"columns={columns if self.weight_column >= 0 else columns[:2]}"

    def _without_weights(self):
        return f"columns=({self.source_column}, {self.target_column}) ignores weights"


def shown(const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t stop):
    """A cell as messages show it."""
    return checks.shortened(bytes(text[start:min(stop, start + SHOWN)]).decode("utf-8", "backslashreplace"))


cdef void join_quotes(unsigned char[::1] text, Name* name) noexcept nogil:
    """Make one quote of every two, in place."""
    cdef Py_ssize_t at = name.start, end = name.start
    while at < name.stop:
        at += text[at] == c'"'  # the first of two
        text[end] = text[at]
        at += 1
        end += 1
    name.stop = end


cdef bint is_utf8(const unsigned char[::1] text, Py_ssize_t at, Py_ssize_t stop) noexcept nogil:
    """Whether this is UTF-8: no character in more bytes than it needs, no halves, none above U+10FFFF."""
    cdef unsigned char first, second
    cdef Py_ssize_t others, i
    while at < stop:
        first = text[at]
        at += 1
        if first < 0x80:
            continue
        others = 1 if first < 0xE0 else 2 if first < 0xF0 else 3
        if first < 0xC2 or first > 0xF4 or stop - at < others:
            return False
        second = text[at]
        if (first == 0xE0 and second < 0xA0) or (first == 0xED and second > 0x9F):
            return False
        if (first == 0xF0 and second < 0x90) or (first == 0xF4 and second > 0x8F):
            return False
        for i in range(others):
            if text[at + i] & 0xC0 != 0x80:
                return False
        at += others
    return True
