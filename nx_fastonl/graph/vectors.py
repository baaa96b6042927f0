"""Vectors over the nodes: dicts as callers pass them -> rows and values."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.checks import WEIGHT_RANGE, shortened
from nx_fastonl.graph.csr import CSRGraph

# The rows and values of a sparse vector over the nodes.
SparseVector = tuple[NDArray[np.intp], NDArray[np.float64]]


def sparse_vector(graph: CSRGraph, masses: Mapping[Hashable, float], name: str) -> SparseVector:
    """Rows and values of a {node: mass} dict that holds some mass and nothing negative."""
    vector: dict[int, float] = {}
    largest = WEIGHT_RANGE[1]
    for node, mass in masses.items():
        row = graph.index(node)
        try:
            value = math.nan if isinstance(mass, str) else float(mass)
        except (TypeError, ValueError, OverflowError):
            value = math.nan
        if not 0.0 <= value <= largest:
            raise ValueError(
                f"{name} gives node {shortened(node)} the value {shortened(mass)}; "
                f"it must be a number between 0 and {largest:g}"
            )
        if value > 0.0:
            vector[row] = vector.get(row, 0.0) + value
    if not vector:
        raise ValueError(f"{name} sums to zero; at least one node needs a positive value")
    return np.array(list(vector)), np.array(list(vector.values()))


def distribution(graph: CSRGraph, masses: Mapping[Hashable, float], name: str) -> SparseVector:
    rows, values = sparse_vector(graph, masses, name)
    return rows, values / math.fsum(values)
