"""Names of nodes that come and go."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from itertools import chain, islice, takewhile
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.arrays import check_restored
from nx_fastonl.graph._names import ObjectTable
from nx_fastonl.graph.names import IntegerNames, finder_of, is_hashable

__all__ = ["GrowingNames", "NamesState"]


class NamesState(NamedTuple):
    """All that `GrowingNames` are made of."""

    first: Sequence[Hashable]
    removed: NDArray[np.int64]  # rows whose first node is gone
    later: list[Hashable]  # the names of nodes that came later, in order
    later_rows: NDArray[np.int64]
    free: NDArray[np.int64]  # rows of nobody; the last one is given away first
    n_used: int
    n_joined: int
    n_removals: int
    removals: NDArray[np.int64]  # rows in the order of their last removals, and which removal that was


class GrowingNames:
    """The names of the rows of a graph that changes. The row of a node that was removed is given to a later one.

    Names that the graph began with stay as they are, in a range or in arrays. Only others take a Python object each.
    A name's own code, ``__hash__`` and ``__eq__``, runs where names are looked up, and as the first step of `add`. So a
    name that raises changes nothing.

    Parameters
    ----------
    first : sequence of hashable
        The names of the first rows.
    find : callable
        From one of these names to its row; to None from any other object.
    """

    def __init__(self, first: Sequence[Hashable], find: Callable[[Any], int | None]) -> None:
        self._first, self._find_first = first, find
        self._removed: set[int] = set()  # rows whose first node is gone
        self._is_removed = np.zeros(0, dtype=bool)  # the same by row, once there are any
        self._later = ObjectTable()  # nodes that came later
        self._free: dict[int, None] = {}  # rows of removed nodes, which no other node has got yet
        self.n_used = len(first)  # rows that a node has or had
        self.n_joined = self.n_removals = 0
        self._removals: dict[int, int] = {}  # which removal was the last of each row, in this order

    def state(self) -> NamesState:
        """Copies of all that these names are made of."""
        rows: list[NDArray[np.int64]] = [
            np.array(list(found), dtype=np.int64)
            for found in (sorted(self._removed), self._later.names, self._free, self._removals.items())
        ]
        removed, later_rows, free, removals = rows
        counts = (self.n_used, self.n_joined, self.n_removals)
        later = list(self._later.names.values())
        return NamesState(self._first, removed, later, later_rows, free, *counts, removals.reshape(-1, 2))

    @classmethod
    def restored(cls, state: NamesState) -> GrowingNames:
        """The names that had this state, checked."""
        first, removed, later, later_rows, free, n_used, n_joined, n_removals, removals = state
        find, n_different = finder_of(first)
        check_restored(n_different == len(first), "names")
        check_restored(not isinstance(first, range) or first == range(len(first)), "names")
        names = cls(first, find)
        check_restored(removed.size == 0 or (removed.min() >= 0 and removed.max() < len(first)), "names")
        kept = np.setdiff1d(np.arange(len(first)), removed)
        owned = np.concatenate([kept, later_rows, free])
        check_restored(bool(np.array_equal(np.sort(owned), np.arange(n_used))), "names")
        check_restored(len(later) == len(later_rows) and removals.shape == (len(removals), 2), "names")
        check_restored(n_joined >= 0 and n_removals >= int(removals[:, 1].max(initial=0)), "names")
        names._removed = set(removed.tolist())
        if removed.size:
            names._is_removed = np.isin(np.arange(len(first)), removed)
        for node, row in zip(later, later_rows.tolist(), strict=True):
            check_restored(names.find(node) is None, "names")
            names._later.add(row, node)
        names._free = dict.fromkeys(free.tolist())
        names.n_used, names.n_joined, names.n_removals = int(n_used), int(n_joined), int(n_removals)
        names._removals = dict(removals.tolist())
        return names

    def __len__(self) -> int:
        return len(self._first) - len(self._removed) + self.n_later

    @property
    def n_later(self) -> int:
        """The number of nodes that came later and are still there."""
        return len(self._later)

    def __iter__(self) -> Iterator[Hashable]:
        kept = (node for u, node in enumerate(self._first) if u not in self._removed) if self._removed else self._first
        return chain(kept, self._later.names.values())

    def __getitem__(self, row: int) -> Hashable:
        found = self._later.names.get(row, self)
        return self._first[row] if found is self else found

    def plain(self) -> Any:
        """The first names, if no others have joined, which are faster to look at; else these names."""
        return self if self.n_later else self._first

    def at(self, rows: NDArray[np.integer]) -> list[Hashable]:
        """The names of these rows."""
        if isinstance(self._first, range):
            joined = self._later.names
            return [joined.get(u, u) for u in rows.tolist()] if joined else rows.tolist()
        return [self[u] for u in rows.tolist()]

    def rows(self) -> Sequence[int]:
        """The rows of all nodes, in the order of iteration."""
        if not self._removed and not self.n_later:
            return range(len(self._first))
        return [*(u for u in range(len(self._first)) if u not in self._removed), *self._later.names]

    def find(self, node: Any) -> int | None:
        """The row of a node; None if it has none."""
        try:
            row = self._later.find(node)
        except TypeError:
            if is_hashable(node):
                raise
            return None
        if row is None:
            row = self._find_first(node)
            if row is not None and row in self._removed:
                row = None
        return row

    def rows_of_objects(self, nodes: Collection[Hashable]) -> list[int]:
        """The rows of those later nodes that are these very objects; none of their code runs.

        They are looked for from the node that joined last, where those stand that are to be taken back.
        """
        wanted = set(map(id, nodes))
        found = (row for row, node in reversed(self._later.names.items()) if id(node) in wanted)
        return sorted(islice(found, len(wanted)))

    def find_integers(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of nodes that are integers; -1 for those that have none."""
        if isinstance(self._first, range):
            found = np.where((nodes >= 0) & (nodes < len(self._first)), nodes, -1)
        elif isinstance(self._first, IntegerNames) and self._first.ascending and len(self._first):
            values = self._first.values
            found = np.minimum(np.searchsorted(values, nodes), len(values) - 1)
            found = np.where(values[found] == nodes, found, -1)
        else:
            return self._find_each(nodes)
        if self._removed:
            found[(found >= 0) & self._is_removed[found]] = -1
        if self.n_later:
            others = np.flatnonzero(found < 0)
            found[others] = self._find_each(nodes[others])
        return found

    def _find_each(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        distinct, places = np.unique(nodes, return_inverse=True)
        rows = [-1 if row is None else row for row in map(self.find, distinct.tolist())]
        return np.array(rows, dtype=np.int64)[places]

    # What an interrupt leaves of `add` and `remove` is made whole by calling `remove` again, while the row has a node.

    def has(self, row: int) -> bool:
        """Whether a node has this row."""
        return row in self._later.names or (row < len(self._first) and row not in self._removed)

    def add(self, node: Hashable) -> int:
        """Give a row to a node that has none."""
        row = next(reversed(self._free)) if self._free else self.n_used
        self._later.add(row, node)
        self._free.pop(row, None)
        self.n_used = max(self.n_used, row + 1)
        self.n_joined += 1
        return row

    def remove(self, row: int) -> None:
        """Take this row away from the node that has it."""
        self._free[row] = None
        self.n_used = max(self.n_used, row + 1)
        self.n_removals += 1
        self._removals.pop(row, None)
        self._removals[row] = self.n_removals
        if row in self._later.names:
            self._later.remove(row)
            return
        if len(self._is_removed) == 0:
            self._is_removed = np.zeros(len(self._first), dtype=bool)
        self._is_removed[row] = True
        self._removed.add(row)

    def take_back(self, n_later: int, n_used: int) -> None:
        """Undo what joined since there were so many later nodes and used rows. Nobody may have seen it."""
        while self.n_later > n_later:
            row = next(reversed(self._later.names))
            if row < n_used:
                self._free[row] = None
            self._later.remove(row)
        self.n_used = n_used

    def removed_since(self, n_removals: int) -> list[int]:
        """The rows whose node was removed after so many removals."""
        recent = takewhile(lambda row: self._removals[row] > n_removals, reversed(self._removals))
        return list(recent)
