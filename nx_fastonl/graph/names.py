"""Names of nodes as arrays: integers and texts, found without a Python object per name."""

from __future__ import annotations

import re
import secrets
from abc import abstractmethod
from collections.abc import Callable, Container, Hashable, Iterator, Sequence
from functools import partial
from itertools import islice, pairwise
from numbers import Number
from typing import Any, Generic, NamedTuple, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.arrays import read_only
from nx_fastonl._lib.checks import shortened
from nx_fastonl._lib.plain import MAX_BITS
from nx_fastonl.graph._names import (
    TextTable,
    integer_slots,
    row_of_integer,
    row_of_text,
    slots_for,
    text_slots,
)

__all__ = [
    "INTEGER",
    "ArrayNames",
    "IntegerNames",
    "NameSlots",
    "TextNames",
    "find_in_range",
    "finder_of",
    "integer_names",
    "is_hashable",
    "missing_node",
    "of_other_type",
    "text_names",
]

Name = TypeVar("Name", int, str)

# Names that are made Python objects at once where all are walked.
NAMES_AT_ONCE = 4096
# Integers as Python writes them.
INTEGER = re.compile(r"0|-?[1-9][0-9]{0,999}")
# Half of a character may stand in a Python text. It is kept as it is.
HALVES = "surrogatepass"


class NameSlots(NamedTuple):
    """The slots of a hash table, and its seed: see `_names.pyx`."""

    slots: NDArray[np.int32]
    seed: int


class ArrayNames(Sequence[Name], Generic[Name]):
    """Names in arrays. Slots to find them by are made at the first look-up, unless they are given."""

    def __init__(self, slots: NameSlots | None) -> None:
        self._slots = slots

    @property
    def slots(self) -> NameSlots:
        """What names are found by."""
        if self._slots is None:
            seed = secrets.randbits(64)
            slots = self._make_slots(seed)
            if slots is None:
                raise ValueError("the names of nodes must all be different")
            self._slots = NameSlots(read_only(slots, np.int32), seed)
        return self._slots

    @abstractmethod
    def _make_slots(self, seed: int) -> NDArray[np.int32] | None: ...

    @abstractmethod
    def _names(self, start: int, stop: int) -> list[Name]: ...

    @abstractmethod
    def at(self, rows: NDArray[np.integer]) -> list[Name]:
        """The names of these rows."""

    @abstractmethod
    def find(self, node: Any) -> int | None:
        """The row of a node; None if it has none."""

    def __contains__(self, node: object) -> bool:
        return self.find(node) is not None

    def __iter__(self) -> Iterator[Name]:
        for start in range(0, len(self), NAMES_AT_ONCE):
            yield from self._names(start, min(start + NAMES_AT_ONCE, len(self)))

    @overload
    def __getitem__(self, row: int) -> Name: ...
    @overload
    def __getitem__(self, row: slice) -> tuple[Name, ...]: ...
    def __getitem__(self, row: int | slice) -> Name | tuple[Name, ...]:
        if isinstance(row, slice):
            return tuple(self[u] for u in range(*row.indices(len(self))))
        u = range(len(self))[row]
        return self._names(u, u + 1)[0]

    def index(self, node: Any, start: int = 0, stop: int | None = None) -> int:
        u = self.find(node)
        if u is None or u not in range(len(self))[start:stop]:
            raise ValueError(f"{shortened(node)} is not among the names")
        return u

    def count(self, node: Any) -> int:
        return int(node in self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ArrayNames | tuple | range):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # compared by content

    def __repr__(self) -> str:
        first = ", ".join(map(shortened, islice(self, 3)))
        return f"{type(self).__name__}({first}{', ...' if len(self) > 3 else ''}; {len(self):,} names)"


class IntegerNames(ArrayNames[int]):
    """Integers of up to 64 bits.

    Parameters
    ----------
    values : numpy.ndarray of int64
        All different. It is not copied.
    slots : NameSlots, optional
        Not needed where values ascend: then they are found by bisection.
    ascending : bool, optional
        Whether they do. By default this is found out when it is needed.
    """

    def __init__(
        self, values: NDArray[np.int64], slots: NameSlots | None = None, *, ascending: bool | None = None
    ) -> None:
        super().__init__(slots)
        self.values = read_only(values, np.int64)
        self._ascending = ascending

    def __len__(self) -> int:
        return len(self.values)

    def __reduce__(self) -> tuple[Any, ...]:
        return IntegerNames, (np.array(self.values),)

    @property
    def ascending(self) -> bool:
        """Whether each value is larger than the one before it."""
        if self._ascending is None:
            self._ascending = bool((self.values[1:] > self.values[:-1]).all())
        return self._ascending

    def _names(self, start: int, stop: int) -> list[int]:
        return cast(list[int], self.values[start:stop].tolist())

    def at(self, rows: NDArray[np.integer]) -> list[int]:
        return cast(list[int], self.values[rows].tolist())

    def _make_slots(self, seed: int) -> NDArray[np.int32] | None:
        return integer_slots(self.values, seed, slots_for(len(self)))

    def find(self, node: Any) -> int | None:
        value = _integer(node)
        if value is None:
            return None
        if self._slots is None and self.ascending:
            u = int(self.values.searchsorted(value))
            return u if u < len(self) and self.values[u] == value else None
        u = row_of_integer(self.values, *self.slots, value)
        return None if u < 0 else u


class TextNames(ArrayNames[str]):
    """Texts.

    Parameters
    ----------
    data : numpy.ndarray of uint8
        All texts in UTF-8, one after another. It is not copied.
    offsets : numpy.ndarray of int64
        Text u is ``data[offsets[u]:offsets[u + 1]]``. All are different.
    slots : NameSlots, optional
    """

    def __init__(self, data: NDArray[np.uint8], offsets: NDArray[np.int64], slots: NameSlots | None = None) -> None:
        super().__init__(slots)
        self.data, self.offsets = read_only(data, np.uint8), read_only(offsets, np.int64)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __reduce__(self) -> tuple[Any, ...]:
        return TextNames, (np.array(self.data), np.array(self.offsets))

    def _names(self, start: int, stop: int) -> list[str]:
        first = int(self.offsets[start])
        data = self.data[first : int(self.offsets[stop])].tobytes()
        ends = (self.offsets[start : stop + 1] - first).tolist()
        try:
            return [data[a:b].decode(errors=HALVES) for a, b in pairwise(ends)]
        except UnicodeDecodeError as error:
            raise ValueError(f"a name among those of rows {start} to {stop - 1} is not UTF-8") from error

    def at(self, rows: NDArray[np.integer]) -> list[str]:
        return [self[u] for u in rows.tolist()]

    def _make_slots(self, seed: int) -> NDArray[np.int32] | None:
        return text_slots(self.data, self.offsets, seed, slots_for(len(self)))

    def find(self, node: Any) -> int | None:
        if not isinstance(node, str):
            return None
        u = row_of_text(self.data, self.offsets, *self.slots, node.encode(errors=HALVES))
        return None if u < 0 else u


def integer_names(values: NDArray[Any]) -> IntegerNames:
    """Names from integers that anybody has given, copied and checked."""
    names = IntegerNames(np.array(values, dtype=np.int64))
    if not names.ascending and (different := len(np.unique(names.values))) < len(names):
        raise ValueError(f"nodes must all be different, got {len(names)} names, {different} of them different")
    return names


def text_names(table: TextTable) -> TextNames:
    """The texts of a table, in the order of their numbers."""
    return TextNames(*table.names())


def finder_of(nodes: Sequence[Hashable]) -> tuple[Callable[[Any], int | None], int]:
    """What finds the row of a node, or None if it has none; and how many different names there are."""
    if isinstance(nodes, range):
        return partial(find_in_range, len(nodes)), len(nodes)
    if isinstance(nodes, ArrayNames):
        return nodes.find, len(nodes)
    index = {node: u for u, node in enumerate(nodes)}
    return partial(_find_in_dict, index), len(index)


def _find_in_dict(index: dict[Hashable, int], node: Any) -> int | None:
    try:
        return index.get(node)
    except TypeError:
        if is_hashable(node):
            raise
        return None


def is_hashable(node: object) -> bool:
    """Whether a node has a hash: a TypeError of its own code does not mean that it has none."""
    try:
        hash(node)
    except TypeError:
        return False
    return True


def find_in_range(n: int, node: Hashable) -> int | None:
    """The row of a node where nodes are 0, 1, 2, ...; None if it has none."""
    try:
        u = hash(node)  # an integer's hash is the integer; what equals it has the same hash, as in a dict
    except TypeError:
        if is_hashable(node):
            raise
        return None
    return u if 0 <= u < n and bool(u == node) else None


def _integer(node: Any) -> int | None:
    """The integer of 64 bits that a node equals, as in a dict; None if there is none."""
    if not isinstance(node, int):
        if not isinstance(node, Number):
            return None
        try:
            value = int(node)  # type: ignore[call-overload]
        except (TypeError, ValueError, OverflowError):
            return None
        if not bool(value == node):
            return None
        node = value
    return int(node) if -(2**63) <= node < 2**63 else None


def missing_node(node: Any, graph: Container[Any]) -> str:
    """What errors say of a node that the graph does not have."""
    return f"node {shortened(node)} is not in the graph{of_other_type(node, graph)}"


def of_other_type(node: Any, graph: Container[Any]) -> str:
    """Hint that a node of the graph prints the same but has another type, if there is one."""
    if isinstance(node, str):
        return f", which has the integer {node}" if INTEGER.fullmatch(node) and int(node) in graph else ""
    is_short = type(node) is int and node.bit_length() < MAX_BITS
    return f", which has the text {str(node)!r}" if is_short and str(node) in graph else ""
