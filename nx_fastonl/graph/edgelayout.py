"""Where the edges stand in a file of text: what separates cells, which columns count, whether there is a header."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from numbers import Integral
from typing import NamedTuple

from nx_fastonl._lib.checks import cut, shortened
from nx_fastonl.graph._edgefile import EdgeTokenizer, LineError

# The names of two columns that hold the ends of edges, and of one that holds weights, in small letters.
KNOWN_ENDS = (
    *(("source", "target"), ("from", "to"), ("src", "dst"), ("u", "v"), ("node1", "node2"), ("node_1", "node_2")),
    *(("source_id", "target_id"), ("from_id", "to_id"), ("src_id", "dst_id"), ("fromnodeid", "tonodeid")),
    *(("id1", "id2"), ("id_1", "id_2")),
)
KNOWN_WEIGHTS = ("weight", "weights", "w", "value")
# What may separate cells, the first that fits: semicolons before commas, which may stand in decimal numbers.
DELIMITERS = ("\t", ";", ",", "|", " ")
DELIMITER_NAMES = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars", " ": "blanks"}
COMMENTS = "#%"
# The records that are looked at.
SAMPLE_RECORDS = 1000
# Integers from here on, in all lines, are more likely seconds since 1970 than weights.
FIRST_TIME = 10**8
INTEGER = re.compile(rb"0|-?[1-9][0-9]*")
NUMBER = re.compile(rb"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
SEVERAL_NUMBERS = re.compile(rb"[-+0-9.]+([ \t]+[-+0-9.]+)+")
# The first line of a file of KONECT: the kind of graph, and of its weights.
KONECT = re.compile(rb"% +(sym|asym|bip) ")

Columns = Sequence[str] | Sequence[int]
Record = tuple[int, list[bytes]]


class Options(NamedTuple):
    """What the caller says of a file; None is found out."""

    delimiter: str | None
    columns: Columns | None
    header: bool | None
    comments: str | None

    @property
    def comment_bytes(self) -> bytes:
        return (COMMENTS if self.comments is None else self.comments).encode()


class Layout(NamedTuple):
    """Where the edges stand: the columns of source, target and weight or -1, and how many columns there must be."""

    delimiter: str
    columns: tuple[int, int, int]
    width: int
    header: list[bytes] | None = None
    is_header_certain: bool = True  # the caller says that there is one
    warning: str = ""

    def tokenizer(self, options: Options) -> EdgeTokenizer:
        return EdgeTokenizer(
            ord(self.delimiter), options.comment_bytes, self.columns, self.width, self.header is not None
        )


def checked_options(
    delimiter: str | None, columns: Columns | None, header: bool | None, comments: str | None
) -> Options:
    """The options of a caller; raises for those that mean nothing."""
    if delimiter is not None:
        fits = isinstance(delimiter, str) and len(delimiter) == 1 and delimiter.isascii() and delimiter not in '"\r\n\0'
        fits = fits and not delimiter.isalnum()
        if not fits:
            raise ValueError(
                f'delimiter must be one ASCII character, "," for example, or " " for blanks, got {shortened(delimiter)}'
            )
    if header is not None and not isinstance(header, bool):
        raise TypeError(f"header must be True, False or None, got {shortened(header)}")
    if comments is not None and not (isinstance(comments, str) and comments.isascii() and '"' not in comments):
        raise ValueError(f'comments must be a text of ASCII characters such as "#%", got {shortened(comments)}')
    if columns is not None:
        _check_columns(columns, header)
    return Options(delimiter, columns, header, comments)


def _check_columns(columns: Columns, header: bool | None) -> None:
    right = 'two or three names or numbers, such as ("from", "to") or (0, 1, 2)'
    if isinstance(columns, str) or not isinstance(columns, Sequence) or len(columns) not in (2, 3):
        raise ValueError(f"columns must be {right}, got {shortened(columns)}")
    by_name = all(isinstance(column, str) for column in columns)
    by_number = all(isinstance(column, Integral) and not isinstance(column, bool) and column >= 0 for column in columns)
    if not (by_name or by_number) or len(set(columns)) < len(columns) or (by_number and max(columns) >= 2**31):  # type: ignore[operator]
        raise ValueError(f"columns must be {right}, all different, got {shortened(columns)}")
    if by_name and header is False:
        raise ValueError("columns by name need a header, got header=False; pass their numbers, such as (0, 1)")


def find_layout(
    head: bytearray | memoryview, is_whole: bool, options: Options, first: Layout | None = None
) -> Layout | None:
    """The layout of a file that begins with `head`; None if that has no records, or too few to tell.

    `first` is the layout of the first of several files. Raises LineError where it cannot be found out. Where a first
    line is taken for a header without knowing its names, the layout has a warning that says so.
    """
    konect = KONECT.match(head)
    if konect and konect[1] == b"bip" and options.columns is None:
        raise LineError(
            "line 1: a bipartite graph of KONECT. Each of its two columns counts from 1, so that a number means two "
            "nodes. Write a letter before those of the second column: awk '!/^%/ {print $1, \"r\" $2}'. "
            "columns=(0, 1) reads the file as it is"
        )
    delimiter, rows = _split(head, is_whole, options)
    if len(rows) < (1 if is_whole else 2):
        return None
    line, cells = rows[0]
    names = [cell.decode("utf-8", "backslashreplace") for cell in cells]
    if options.columns is not None and isinstance(options.columns[0], str):
        return Layout(delimiter, _by_name(options.columns, names, line), 0, cells)
    if first is not None and first.header is not None and _lower(cells) == _lower(first.header):
        return first._replace(delimiter=delimiter, warning="")
    known = None if options.columns is not None else known_columns(names)
    has_header, warning = options.header, ""
    if has_header is None:
        has_header, warning = _has_header(rows, options.columns, known, first)
    if has_header and known is not None and known[2] < 0:
        others = [column for column in range(len(cells)) if column not in known and names[column]]
        numbers = [column for column in others if _are_numbers(rows[1:], (column,))]
        if numbers:
            shown = ", ".join(shortened(names[column]) for column in (*known[:2], numbers[0]))
            ignored = are_ignored([names[column] for column in numbers])
            warning = f"line {line}: {ignored}; columns=({shown}) takes {names[numbers[0]]} as the weight"
    if options.columns is not None:
        columns, width = _three([int(column) for column in options.columns]), 0
    else:
        width = len(cells)
        if has_header:
            columns = known or _by_elimination(names, line)
        elif first is not None:
            columns, width = first.columns, first.width
        else:
            columns = _by_count(rows, delimiter, konect is not None)
    return Layout(delimiter, columns, width, cells if has_header else None, options.header is True, warning)


def _split(head: bytearray | memoryview, is_whole: bool, options: Options) -> tuple[str, list[Record]]:
    """What separates the cells, and the first records."""
    fitting: list[tuple[str, list[Record]]] = []
    problem: LineError | None = None
    for delimiter in DELIMITERS if options.delimiter is None else (options.delimiter,):
        tokenizer = EdgeTokenizer(ord(delimiter), options.comment_bytes)
        try:
            rows = tokenizer.sample(head, is_whole, SAMPLE_RECORDS)
        except LineError as error:
            problem = error
            continue
        widths = {len(cells) for _, cells in rows}
        if (
            not rows
            or options.delimiter is not None
            or (len(widths) == 1 and min(widths) > 1 and not _splits_less(rows))
        ):
            return delimiter, rows
        if len(rows[0][1]) > 1 or delimiter == " ":  # the line that has too few or too many cells will be found later
            fitting.append((delimiter, rows))
    if problem is not None and not fitting:
        raise problem
    return fitting[0]


def _splits_less(rows: list[Record]) -> bool:
    """Whether some cell holds several numbers between blanks: then blanks separate the cells."""
    return any(SEVERAL_NUMBERS.fullmatch(cell) for _, cells in rows for cell in cells)


def known_columns(names: Sequence[str]) -> tuple[int, int, int] | None:
    """The columns of source, target and weight (or -1) by the names that they usually have; None without both ends."""
    lower = [name.lower() for name in names]
    for source, target in KNOWN_ENDS:
        if lower.count(source) == lower.count(target) == 1:
            return lower.index(source), lower.index(target), known_weight(lower)
    return None


def known_weight(lower: Sequence[str]) -> int:
    """The column of the weight, -1 if there is none; of several that it may be, the one with the first known name."""
    return next((lower.index(name) for name in KNOWN_WEIGHTS if lower.count(name) == 1), -1)


def are_ignored(names: Sequence[str]) -> str:
    """That the columns of these names are, which hold numbers."""
    return f"the column {names[0]} is ignored" if len(names) == 1 else f"the columns {_listed(names)} are ignored"


def _by_elimination(names: Sequence[str], line: int) -> tuple[int, int, int]:
    """The columns of a header whose names are not known: two besides that of the weight."""
    weight = known_weight([name.lower() for name in names])
    # The column of an index, as pandas writes it, has no name.
    others = [column for column, name in enumerate(names) if column != weight and name]
    if len(others) < 2:
        raise LineError(
            f"line {line}: too few columns with names, {_listed(names)}; expected two nodes and, optionally, a weight. "
            "delimiter= names the character between them, columns= their numbers"
        )
    if len(others) > 2:
        shown = ", ".join(shortened(names[column]) for column in others[:2])
        raise LineError(
            f"line {line}: which of the columns {_listed(names)} are the ends of an edge? columns=({shown}) says so, "
            f"for example, and columns=({shown}, {shortened(names[others[2]])}) takes a third as the weight"
        )
    return others[0], others[1], weight


def _by_name(columns: Columns, names: Sequence[str], line: int) -> tuple[int, int, int]:
    for column in columns:
        if names.count(str(column)) != 1:
            problem = "no column" if column not in names else "more than one column"
            raise LineError(
                f"line {line}: {problem} named {shortened(column)} in the header {_listed(names)}; "
                "columns= takes numbers too, from 0"
            )
    return _three([names.index(str(column)) for column in columns])


def _three(columns: list[int]) -> tuple[int, int, int]:
    return columns[0], columns[1], columns[2] if len(columns) == 3 else -1


def _by_count(rows: list[Record], delimiter: str, has_weights: bool) -> tuple[int, int, int]:
    """The columns of a file without a header. The third of three is the weight, if it looks like one."""
    line, cells = rows[0]
    width = len(cells)
    between = f"between {DELIMITER_NAMES.get(delimiter, repr(delimiter))}"
    shown = _listed([cell.decode("utf-8", "backslashreplace") for cell in cells])
    if width == 1:
        raise LineError(
            f"line {line}: one column, {shown}; expected two nodes and, optionally, a weight. delimiter= names the "
            "character between them"
        )
    if width == 2:
        return 0, 1, -1
    if has_weights:
        return 0, 1, 2
    if width > 3:
        raise LineError(
            f"line {line}: {width} columns {between}, {shown}; columns=(0, 1) takes the first two as the ends of an "
            "edge, columns=(0, 1, 2) the third as its weight"
        )
    for line, cells in rows:
        if len(cells) == 3 and not NUMBER.fullmatch(cells[2]):
            third = shortened(cells[2].decode("utf-8", "backslashreplace"))
            raise LineError(
                f"line {line}: three columns {between}, and the third, {third}, is no number; columns=(0, 1) ignores it"
            )
    if all(len(cells) == 3 and _is_time(cells[2]) for _, cells in rows):
        raise LineError(
            f"line {rows[0][0]}: the third column, {rows[0][1][2].decode()}, looks like a time; columns=(0, 1) ignores "
            "it, columns=(0, 1, 2) takes it as the weight"
        )
    return 0, 1, 2


def _is_time(cell: bytes) -> bool:
    return len(cell) >= len(str(FIRST_TIME)) and INTEGER.fullmatch(cell) is not None and not cell.startswith(b"-")


def _has_header(
    rows: list[Record], columns: Columns | None, known: tuple[int, int, int] | None, first: Layout | None
) -> tuple[bool, str]:
    """Whether the first record is a header, and what to warn of. Raises LineError if it cannot be told."""
    line, cells = rows[0]
    names = _listed([cell.decode("utf-8", "backslashreplace") for cell in cells])
    says = "header=True says that it is one, header=False that it is not"
    if known is not None and not (_lower(cells)[:2] == [b"u", b"v"] and not _are_numbers(rows[1:], (0, 1))):
        return True, ""
    found = _looks_like_header(rows, columns)
    if found == "edge":
        return False, ""
    if found == "either" and first is None:
        raise LineError(f"line {line}: {names} may be a header or an edge; header=True or header=False says which")
    if found == "header" or first is None:
        return True, f"line {line}: {names} was taken for a header, not for an edge; {says}"
    return False, f"line {line}: {names} was taken for an edge, as the first file has another first line; {says}"


def _are_numbers(rows: list[Record], columns: Sequence[int]) -> bool:
    return all(NUMBER.fullmatch(row[column]) for _, row in rows for column in columns if column < len(row))


def _looks_like_header(rows: list[Record], columns: Columns | None) -> str:
    """What the first record is, by what follows it.

    "header": a text where the rest are numbers; "unique": two names that occur nowhere else; "either": the same, and
    there are such names in other records too; "edge".
    """
    _, cells = rows[0]
    used = [int(column) for column in columns or range(len(cells)) if int(column) < len(cells)]
    if len(used) < 2:
        return "edge"
    source, target = used[:2]
    others = [row for _, row in rows[1:] if len(row) == len(cells)]
    texts = [column for column in used if cells[column] and not NUMBER.fullmatch(cells[column])]
    if others and any(all(NUMBER.fullmatch(row[column]) for row in others) for column in texts):
        return "header"
    if len(texts) < min(len(used), 3) or cells[source] == cells[target]:
        return "edge"
    counts = Counter(row[column] for row in others for column in (source, target))
    if counts[cells[source]] or counts[cells[target]]:
        return "edge"
    if not others or any(counts[row[source]] == counts[row[target]] == 1 for row in others):
        return "either"
    return "unique"


def _lower(cells: list[bytes]) -> list[bytes]:
    return [cell.lower() for cell in cells]


def _listed(names: Sequence[str]) -> str:
    return cut(", ".join(names))
