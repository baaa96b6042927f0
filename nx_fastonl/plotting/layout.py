"""Places for the nodes of graphs that are too large for ``nx.spring_layout``."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

__all__ = ["grid_layout"]

# Steps of the walks that give the first places, and steps of the forces after them.
WALK_STEPS, FORCE_STEPS = 30, 120
# Along each side of the grid on which nodes repel each other.
CELLS = 128
# The longest step at the beginning, as a fraction of the side of the square that nodes would fill evenly.
FIRST_STEP = 0.1
# How strongly nodes are drawn to the middle, which keeps components together.
GRAVITY = 1.0
# Nodes at one place are this far apart.
LEAST_DISTANCE = 1e-9

Ends = tuple[NDArray[np.intp], NDArray[np.intp]]


def grid_layout(G: nx.Graph[Any], seed: int = 0) -> dict[Hashable, NDArray[np.float64]]:
    """Places between -1 and 1 where edges attract and all nodes repel, the same for the same seed.

    The forces are those of Fruchterman and Reingold. Nodes repel each other by way of a grid: they are spread over its
    cells, and one convolution gives the force in each. So a step takes O(edges + cells), and not O(n^2).
    """
    row = {node: u for u, node in enumerate(G)}
    pairs = np.array([(row[u], row[v]) for u, v in G.edges() if u != v], dtype=np.intp).reshape(-1, 2)
    ends = np.concatenate([pairs[:, 0], pairs[:, 1]]), np.concatenate([pairs[:, 1], pairs[:, 0]])
    n = len(row)
    places = _walked(ends, n, np.random.default_rng(seed))
    kernel = np.fft.rfft2(repulsion())
    distance = 1.0 / np.sqrt(n)  # at which one edge balances one node
    for step in range(FORCE_STEPS):
        forces = distance**2 * repelled(places, kernel)
        forces += attracted(ends, places) / distance
        forces -= GRAVITY * places
        lengths = np.maximum(np.hypot(*forces.T), LEAST_DISTANCE)
        furthest = FIRST_STEP * (1.0 - step / FORCE_STEPS)
        places += forces * (np.minimum(lengths, furthest) / lengths)[:, np.newaxis]
    places -= (places.max(axis=0) + places.min(axis=0)) / 2.0
    places /= max(np.abs(places).max(initial=0.0), LEAST_DISTANCE)
    return dict(zip(G, places, strict=True))


def _walked(ends: Ends, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Random numbers that neighbours have averaged for a while, as ranks: close nodes have similar ones."""
    u, v = ends
    degrees = np.maximum(np.bincount(u, minlength=n), 1)
    values = rng.standard_normal((2, n))
    for _ in range(WALK_STEPS):
        around = np.array([np.bincount(u, axis[v], n) for axis in values]) / degrees
        values = (values + around) / 2.0
        values -= (values @ degrees / degrees.sum())[:, np.newaxis]
        values[1] -= values[0] * ((values[0] * values[1]) @ degrees) / max(values[0] ** 2 @ degrees, LEAST_DISTANCE)
        values /= np.maximum(np.abs(values).max(axis=1, keepdims=True), LEAST_DISTANCE)
    return values.argsort(axis=1).argsort(axis=1).T / n - 0.5


def attracted(ends: Ends, places: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum over the neighbours of each node of the way to them, times its length."""
    u, v = ends
    ways = places[v] - places[u]
    ways *= np.hypot(*ways.T)[:, np.newaxis]
    return np.stack([np.bincount(u, axis, len(places)) for axis in ways.T], axis=1)


def repelled(places: NDArray[np.float64], kernel: NDArray[np.complex128]) -> NDArray[np.float64]:
    """The sum over all other nodes of the way from them, over the square of its length; about that, within a cell."""
    low = places.min(axis=0)
    cell = max(float((places.max(axis=0) - low).max()), LEAST_DISTANCE) / (CELLS - 2)
    inside = (places - low) / cell
    first = inside.astype(np.intp)
    later = inside - first
    # Each node belongs to four cells, the more to each the closer it is to its middle.
    corners = [(x, y) for x in (0, 1) for y in (0, 1)]
    shares = [np.prod(np.where([x, y], later, 1.0 - later), axis=1) for x, y in corners]
    slots = [(first[:, 0] + x) * CELLS + first[:, 1] + y for x, y in corners]
    masses = np.bincount(np.concatenate(slots), np.concatenate(shares), CELLS * CELLS).reshape(CELLS, CELLS)
    spectrum = np.fft.rfft2(masses, (2 * CELLS, 2 * CELLS))
    fields = np.fft.irfft2(spectrum * kernel, (2 * CELLS, 2 * CELLS))[:, :CELLS, :CELLS].reshape(2, -1)
    found: NDArray[np.float64] = (
        sum(share * fields[:, slot] for share, slot in zip(shares, slots, strict=True)).T / cell
    )
    return found


def repulsion() -> NDArray[np.float64]:
    """The force of a node in cell (0, 0) on each cell of a grid, in units of cells. Negative cells come last."""
    steps = np.fft.fftfreq(2 * CELLS, 1.0 / (2 * CELLS))
    x, y = np.meshgrid(steps, steps, indexing="ij")
    squares = x * x + y * y
    squares[0, 0] = 1.0  # where the force is 0
    force: NDArray[np.float64] = np.stack([x, y]) / squares
    return force
