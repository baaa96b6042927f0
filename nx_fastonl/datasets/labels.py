"""Labels of all nodes of a graph, as an array."""

from __future__ import annotations

from collections.abc import Hashable, ItemsView, Iterator, Mapping, ValuesView

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.arrays import read_only
from nx_fastonl.graph.names import find_in_range


class ArrayLabels(Mapping[Hashable, int]):
    """``{node: label}`` for the nodes 0, 1, 2, ..., in the memory of an array: a dict takes ten times as much.

    Parameters
    ----------
    array : numpy.ndarray of int
        The label of each node. Nobody else may have it.

    Attributes
    ----------
    array : numpy.ndarray of int
        The same, read-only.
    """

    def __init__(self, array: NDArray[np.int32]) -> None:
        self.array: NDArray[np.int32] = read_only(array, np.int32)

    def __getitem__(self, node: Hashable) -> int:
        u = find_in_range(len(self.array), node)
        if u is None:
            hash(node)  # raises TypeError for what cannot be hashed, as a dict does
            raise KeyError(node)
        return int(self.array[u])

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.array)))

    def __len__(self) -> int:
        return len(self.array)

    def __repr__(self) -> str:
        return f"<labels of {len(self)} nodes>"

    def items(self) -> ItemsView[Hashable, int]:
        return _Items(self)

    def values(self) -> ValuesView[int]:
        return _Values(self)


class _Items(ItemsView[Hashable, int]):
    _mapping: ArrayLabels

    def __iter__(self) -> Iterator[tuple[Hashable, int]]:
        return zip(self._mapping, self._mapping.array.tolist(), strict=True)


class _Values(ValuesView[int]):
    _mapping: ArrayLabels

    def __iter__(self) -> Iterator[int]:
        return iter(self._mapping.array.tolist())
