"""The ends of edges as callers pass them, in lists, arrays and columns: integers as they are, texts numbered."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.checks import shortened
from nx_fastonl._lib.frames import FIRST_INEXACT, is_frame, whole_numbers
from nx_fastonl.graph._ends import find_texts, number_integers, number_texts
from nx_fastonl.graph._names import IntegerTable, TextTable
from nx_fastonl.graph.names import HALVES, IntegerNames, integer_names, text_names

# So many texts of each column are copied at a time.
BLOCK = 65_536
ARROW_TEXTS = ("string", "large_string", "string_view")

Utf8 = tuple[NDArray[np.uint8], NDArray[np.int64]]


class Ends(NamedTuple):
    """Both ends of each edge, as integers, and the names that these count; None if the caller counted."""

    sources: Any
    targets: Any
    names: Sequence[Hashable] | None


class Texts:
    """A column of texts: an array of numpy's, or a list."""

    def __init__(self, values: Any, name: str) -> None:
        self.values = values
        self.name = name

    def __len__(self) -> int:
        return len(self.values)

    def block(self, start: int) -> Utf8:
        """The bytes of the block that begins here, and where in them each text begins, and the last one ends."""
        block = self.values[start : start + BLOCK]
        texts: list[str] = block.tolist() if isinstance(block, np.ndarray) else list(block)
        try:
            joined = "".join(texts)
        except TypeError:
            row = next(i for i, text in enumerate(texts) if not isinstance(text, str))
            raise _missing(self.name, start + row, texts[row], "a text") from None
        sizes = map(len, texts) if joined.isascii() else (len(text.encode(errors=HALVES)) for text in texts)
        offsets = np.zeros(len(texts) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(sizes, dtype=np.int64, count=len(texts)), out=offsets[1:])
        return np.frombuffer(joined.encode(errors=HALVES), dtype=np.uint8), offsets


class ArrowTexts(Texts):
    """A column of texts without nulls: a chunked array of Arrow's type large_string."""

    def block(self, start: int) -> Utf8:
        block = self.values.slice(start, BLOCK)
        array = block.chunk(0) if block.num_chunks == 1 else block.combine_chunks()
        return arrow_utf8(array)


def arrow_utf8(array: Any) -> Utf8:
    """The bytes of an array of Arrow's type large_string, and where in them each text begins, and the last one ends."""
    _, offsets, data = array.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    return np.frombuffer(b"" if data is None else data, dtype=np.uint8), ends


def numbered_texts(sources: Any, targets: Any, nodes: Sequence[Hashable] | None) -> Ends:
    """The ends of edges. Texts are numbered: as in `nodes`, or in the order in which they appear."""
    sources, targets = column_of(sources, "sources"), column_of(targets, "targets")
    for column, other in ((sources, targets), (targets, sources)):
        if isinstance(column, Texts) and not isinstance(other, Texts):
            raise TypeError(f"{column.name} holds texts, but the other ends are {other.dtype}; expected texts for both")
    if not isinstance(sources, Texts):
        return Ends(sources, targets, None)
    _check_parallel(sources, targets)
    return _numbered(sources, targets) if nodes is None else _found(sources, targets, nodes)


def numbered_ends(sources: Any, targets: Any) -> Ends:
    """The ends of edges, of which integers are names too: all are numbered in the order in which they appear."""
    sources, targets = column_of(sources, "sources"), column_of(targets, "targets")
    if isinstance(sources, Texts) or isinstance(targets, Texts):
        return numbered_texts(sources, targets, None)
    table = IntegerTable()
    rows, columns = _number_integers(table, sources, targets)
    return Ends(rows, columns, IntegerNames(table.names()))


def _number_integers(table: IntegerTable, sources: Any, targets: Any) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The numbers of the ends of edges in the table, which gets those that it lacks."""
    for column in (sources, targets):
        if len(column) and (column.dtype.kind not in "iu" or column.dtype == np.uint64):
            raise TypeError(f"nodes must be texts or integers of up to 64 bits with a sign, got {column.dtype}")
    _check_parallel(sources, targets)
    rows, columns = _empty_rows(sources), _empty_rows(targets)
    sources, targets = (np.ascontiguousarray(column, dtype=np.int64) for column in (sources, targets))
    number_integers(table, sources, targets, rows, columns)
    return rows, columns


def named_ends(sources: Any, targets: Any, nodes: Sequence[Hashable] | None) -> Ends:
    """The same, or numbered as in `nodes`."""
    sources, targets = (_signed(column_of(*column)) for column in ((sources, "sources"), (targets, "targets")))
    if nodes is None:
        return numbered_ends(sources, targets)
    if isinstance(sources, Texts) or isinstance(targets, Texts):
        return numbered_texts(sources, targets, nodes)
    names, table = _as_integers(nodes), IntegerTable()
    _number_integers(table, names.values, names.values)
    rows, columns = _number_integers(table, sources, targets)
    for column, found, name in ((sources, rows, "sources"), (targets, columns, "targets")):
        if len(found) and found.max() >= len(names):
            row = int((found >= len(names)).argmax())
            raise ValueError(f"{name} holds {int(column[row])} in row {row}, which is not among nodes")
    return Ends(rows, columns, names)


def _signed(column: Any) -> Any:
    """Integers without a sign with one, where all fit; others as they are."""
    if isinstance(column, Texts) or column.dtype != np.uint64:
        return column
    return column if (column > np.iinfo(np.int64).max).any() else column.astype(np.int64)


def _as_integers(nodes: Sequence[Hashable]) -> IntegerNames:
    if isinstance(nodes, IntegerNames):
        return nodes
    if isinstance(nodes, range):
        return integer_names(np.array(nodes, dtype=np.int64))
    other = next((node for node in nodes if isinstance(node, bool) or not isinstance(node, int | np.integer)), None)
    if other is not None:
        raise TypeError(f"the ends of edges are integers, so nodes must be integers, got {shortened(other)}")
    return integer_names(np.array(nodes, dtype=np.int64))


def whole_column(values: Any, name: str) -> Any:
    """Integers of which a data frame library has made floats or objects as integers; other columns as they are."""
    if not is_frame(values):
        return values
    found = column_of(_without_floats(values), name)
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "fO":
        return found
    return whole_numbers(found, name) if found.dtype.kind == "f" else np.array(found.tolist())


def _without_floats(values: Any) -> Any:
    """Objects among which whole floats are integers, as in `whole_numbers`; columns of other types as they are."""
    dtype = getattr(values, "dtype", None)
    if not isinstance(dtype, np.dtype) or dtype.kind != "O":
        return values
    objects = np.asarray(values)
    if any(isinstance(value, str) for value in objects):
        return objects
    whole = [int(x) if type(x) is float and x.is_integer() and abs(x) < FIRST_INEXACT else x for x in objects]
    return np.fromiter(whole, dtype=object, count=len(whole))


def column_of(values: Any, name: str) -> Any:
    """An array of numbers, or `Texts`."""
    if isinstance(values, Texts):
        return values
    if isinstance(getattr(values, "dtype", None), np.dtype):
        array = np.asarray(values)  # numpy's own, and columns of pandas that lie on one
    elif (pyarrow := sys.modules.get("pyarrow")) is not None and _is_arrow(values):
        return _arrow_column(pyarrow, values, name)  # whoever has a column of pyarrow has loaded it
    elif hasattr(values, "to_numpy"):
        array = values.to_numpy()
    elif isinstance(values, list | tuple) and values and isinstance(values[0], str):
        return Texts(values, name)  # as an array, all would take as much memory as the longest
    else:
        array = np.asarray(values)
        if array.ndim == 1 and array.dtype.kind == "U":
            return Texts(list(values), name)  # in the array, integers between texts are texts too
        if array.ndim == 1 and array.dtype.kind == "f":
            _check_size(values, name)  # numpy makes floats of integers that are too large
    if array.ndim != 1 or len(array) == 0:
        return array
    if array.dtype.kind in "UT":
        return Texts(array, name)
    if array.dtype.kind == "S":
        raise TypeError(f"{name} holds bytes, which are no texts; numpy.char.decode({name}) makes texts of them")
    if array.dtype.kind == "O":
        return _object_column(array, name)
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise _missing(name, int(np.isnan(array).argmax()), float("nan"), "an integer")
    return array


def _is_arrow(values: Any) -> bool:
    return hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__")


def _object_column(array: NDArray[Any], name: str) -> Any:
    if any(isinstance(value, str) for value in array):
        return Texts(array, name)
    for row, value in enumerate(array):
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise _missing(name, row, value, "an integer or a text")
    _check_size(array, name)
    return array


def _check_size(values: Iterable[Any], name: str) -> None:
    """Raise if an integer is too large for an array."""
    for row, value in enumerate(values):
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise ValueError(
                f"{name} holds {shortened(value)} in row {row}; integers may have 64 bits with their sign, texts any "
                "length"
            )


def _arrow_column(pyarrow: Any, values: Any, name: str) -> Any:
    """A column that Arrow can read; texts and integers stay where they are."""
    try:
        column = values if isinstance(values, pyarrow.ChunkedArray) else pyarrow.chunked_array(_chunks(pyarrow, values))
    except pyarrow.ArrowException as error:
        raise TypeError(f"{name} must be a column of integers or texts, and Arrow cannot read it: {error}") from error
    if len(column) == 0:
        return np.empty(0, dtype=np.int32)
    if pyarrow.types.is_dictionary(column.type):
        column = pyarrow.chunked_array([_decoded(pyarrow, chunk) for chunk in column.chunks])
    is_text = str(column.type) in ARROW_TEXTS
    if not (is_text or pyarrow.types.is_integer(column.type) or pyarrow.types.is_floating(column.type)):
        raise TypeError(f"{name} must be a column of integers or texts, got one of Arrow's type {column.type}")
    if column.null_count:
        raise _missing(name, int(column.is_null().to_numpy().argmax()), None, "an integer or a text")
    if is_text:
        column = column.cast(pyarrow.large_string())
        column.validate(full=True)  # that it is UTF-8
        return ArrowTexts(column, name)
    return column.chunk(0).to_numpy(zero_copy_only=False) if column.num_chunks == 1 else column.to_numpy()


def _decoded(pyarrow: Any, chunk: Any) -> Any:
    """The values of a chunk of categories, nulls among the categories too. Arrow has no cast for those of polars."""
    categories = chunk.dictionary
    if str(categories.type) in ARROW_TEXTS:
        categories = categories.cast(pyarrow.large_string())
    return categories.take(chunk.indices)


def _chunks(pyarrow: Any, values: Any) -> Any:
    return values if hasattr(values, "__arrow_c_stream__") else [pyarrow.array(values)]


def _missing(name: str, row: int, value: object, expected: str) -> TypeError:
    return TypeError(f"{name} holds {shortened(value)} in row {row}; expected {expected} in every row")


def _check_parallel(sources: Any, targets: Any) -> None:
    if len(sources) != len(targets):
        raise ValueError(f"sources and targets must be parallel, got {len(sources)} and {len(targets)} of them")


def _numbered(sources: Texts, targets: Texts) -> Ends:
    table, rows, columns = TextTable(), _empty_rows(sources), _empty_rows(targets)
    for start in range(0, len(sources), BLOCK):
        block = slice(start, start + BLOCK)
        number_texts(table, *sources.block(start), *targets.block(start), rows[block], columns[block])
    return Ends(rows, columns, text_names(table))


def _found(sources: Texts, targets: Texts, nodes: Sequence[Hashable]) -> Ends:
    table = TextTable()
    for node in nodes:
        if not isinstance(node, str):
            raise TypeError(f"the ends of edges are texts, so nodes must be texts, got {shortened(node)}")
        table.add(node.encode(errors=HALVES))
    if len(table) < len(nodes):
        raise ValueError(f"nodes must all be different, got {len(nodes)} names, {len(table)} of them different")
    return Ends(_rows_in(table, sources), _rows_in(table, targets), text_names(table))


def _rows_in(table: TextTable, column: Texts) -> NDArray[np.int32]:
    rows = _empty_rows(column)
    for start in range(0, len(column), BLOCK):
        data, offsets = column.block(start)
        block = rows[start : start + BLOCK]
        find_texts(table, data, offsets, block)
        if (block < 0).any():
            i = int(block.argmin())
            unknown = data[offsets[i] : offsets[i + 1]].tobytes().decode(errors=HALVES)
            raise ValueError(f"{column.name} holds {shortened(unknown)} in row {start + i}, which is not among nodes")
    return rows


def _empty_rows(column: Any) -> NDArray[np.int32]:
    return np.empty(len(column), dtype=np.int32)
