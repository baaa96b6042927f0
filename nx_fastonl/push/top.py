"""When the k largest values of PageRank are proven, as a set and in their order."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.graph.vectors import SparseVector, dense_vector
from nx_fastonl.push import _push, _top
from nx_fastonl.push._workspace import Workspace
from nx_fastonl.push.candidates import Allowed
from nx_fastonl.push.elimination import LEAST_EDGES
from nx_fastonl.push.local import FIRST_EPSILON_FACTOR, NEVER_CANCELLED, UNLIMITED
from nx_fastonl.push.rule import cover
from nx_fastonl.push.system import LinearSystem
from nx_fastonl.push.twins import twins_of
from nx_fastonl.push.whole import WholeSolution, solve_everywhere

__all__ = ["PASSES", "LargestValues", "largest_values"]

# By default a proof may walk every edge of the graph, from each of its ends, this many times.
PASSES = 20
# The first epsilon, and the factors by which it falls while nothing is proven: while the push is local, and once it has
# walked as many edges as the graph has. Then one more round costs little more than a check.
FIRST_PROOF_EPSILON = 1e-5
LOCAL_DROP, GLOBAL_DROP = 1 / 4, 1 / 16
# Where the seeds cover the graph, rows pull until this mass is left.
PULLED_TOLERANCE = 1e-6
# Thresholds are no smaller: see `at_least_smallest`.
SMALLEST_EPSILON = 1e-200
# Below this epsilon, whether only rounding errors are left is looked at.
LIMIT_EPSILON = 1e-13
# Sums of many bounds are themselves rounded, by far less than this.
MARGIN = 1.0 + 1e-6

# Of one sign: their mass, the largest per degree, and the largest of nodes without out-edges.
Residuals = tuple[float, float, float]


class LargestValues(NamedTuple):
    """The k largest values of the nodes allowed, the largest first, and what is proven of them.

    Where they are proven, nodes of different groups are in the order of their exact values, and no node that is allowed
    and neither returned nor in a group has more than any that is returned. A group has twins, or values that double
    precision cannot tell apart. The last one may go on with nodes that are not returned.
    """

    rows: NDArray[np.int32]
    values: NDArray[np.float64]
    proven: bool
    tied: list[NDArray[np.int32]]
    l1_error: float
    effort: _push.Effort


class _Bound(NamedTuple):
    """No value is off by more than `most`, nor by more than ``offset + slope * degree``."""

    most: float
    offset: float
    slope: float

    def at(self, degrees: NDArray[np.float64] | float) -> Any:
        return np.minimum(self.most, self.offset + self.slope * degrees)


class _Bounds(NamedTuple):
    """How far exact values may be above those found, and below.

    A node that is allowed and was not touched has at most `elsewhere`.
    """

    above: _Bound
    below: _Bound
    elsewhere: float


class _Ranking(NamedTuple):
    """The largest values in order, cut into runs where the order is proven."""

    rows: NDArray[np.int32]
    values: NDArray[np.float64]
    bounds: _Bounds
    runs: list[NDArray[np.int32]]
    floor: float  # no exact value of these nodes is smaller
    closed: bool  # no node that is allowed and was not touched has more than that


def largest_values(
    graph: CSRGraph,
    seeds: SparseVector,
    jumps: SparseVector | None,
    damping: float,
    k: int,
    allowed: Allowed,
    max_operations: int | None = None,
    max_epochs: int | None = None,
    n_jobs: int | None = None,
) -> LargestValues:
    """One push, whose epsilon falls until the k largest values are proven, or `max_operations` edges were walked.

    The proof concerns the nodes that are allowed. The others may have any values. Where the push takes longer than an
    exact solution, which is known once few nodes can be reached, that takes its place, unless epochs are limited.

    Walks that reach a dead end jump to `jumps`, by default back to the seeds. If the seeds cover the graph, and neither
    edges nor epochs are limited, all rows pull first, and the push goes on from what they leave.
    """
    system = LinearSystem(graph, shift=0.0, slope=1.0 / damping)
    pulled = None
    if max_operations is None and max_epochs is None and cover(graph, seeds[0]):
        pulled = solve_everywhere(system, dense_vector(graph, *seeds), PULLED_TOLERANCE, n_jobs=n_jobs)
    operations = 0 if pulled is None else pulled.operations
    if max_operations is None:
        max_operations = operations + PASSES * max(len(graph.indices), 1)
    effort = _push.Effort(
        min(max_operations, UNLIMITED),
        UNLIMITED if max_epochs is None else min(max_epochs, UNLIMITED),
        NEVER_CANCELLED,
        operations,
    )
    epsilon = FIRST_PROOF_EPSILON * float(seeds[1].max())
    first_epsilon = FIRST_EPSILON_FACTOR * epsilon
    with graph.scratch(Workspace) as work:
        if pulled is None:
            work.start(*seeds)
        else:
            work.resume(_touched(graph, pulled), pulled.estimate, pulled.residual)
        search = _Search(system, seeds, jumps, damping, k, allowed, work, effort)
        if system.settles_slowly and max_epochs is None:
            search.limit_push(LEAST_EDGES)
        while True:
            converged = search.push(first_epsilon, epsilon)
            ranking, limit = search.rank(), False
            tied = search.groups(ranking, only_twins=True)
            if tied is not None or epsilon < LIMIT_EPSILON:
                search.recompute()
                ranking, limit = search.rank(with_rounding=True), epsilon < LIMIT_EPSILON and search.is_at_limit()
                tied = search.groups(ranking, only_twins=not limit)
            if tied is not None or limit or not converged or epsilon < SMALLEST_EPSILON:
                break
            search.send_on()
            is_local = effort.operations < len(graph.indices)
            first_epsilon, epsilon = epsilon, epsilon * (LOCAL_DROP if is_local else GLOBAL_DROP)
        scale = search.scale()
        work.drain()
    if tied is None and not (limit or converged) and effort.operations < max_operations:
        raise nx.PowerIterationFailedConvergence(max_epochs)
    l1_error = scale * (ranking.bounds.above.most + ranking.bounds.below.most)
    return LargestValues(ranking.rows, scale * ranking.values, tied is not None, tied or [], l1_error, effort)


class _Search:
    """The push of one `largest_values`, in its workspace."""

    def __init__(
        self,
        system: LinearSystem,
        seeds: SparseVector,
        jumps: SparseVector | None,
        damping: float,
        k: int,
        allowed: Allowed,
        work: Workspace,
        effort: _push.Effort,
    ) -> None:
        graph = system.graph
        self.system, self._graph, self._seeds, self._jumps = system, graph, seeds, jumps
        self._damping, self._k, self._work, self._effort = damping, min(k, max(allowed.n_nodes, 1)), work, effort
        self._allowed = allowed
        self._max_operations = effort.max_operations
        self._is_limited = self._is_solved = False  # solved: the exact solution takes the place of the push
        self._symmetric = jumps is None and not graph.is_directed()
        self._stopped = 0.0  # the sum of the estimates in dead ends
        self._sent_on = 0.0  # the mass that left them for `jumps`
        self._edges_read = 0  # to find the edges into a node of a directed graph

    def limit_push(self, more: int) -> None:
        """Ask after so many more edges whether an exact solution takes less time."""
        self._is_limited = True
        self._effort.max_operations = min(self._effort.operations + more, self._max_operations)

    def push(self, first_epsilon: float, epsilon: float) -> bool:
        """Push until no residual reaches `epsilon`, or solve exactly; return whether it converged within the effort."""
        while not self._is_solved:
            converged = _push.push(
                self.system.view,
                self._work,
                self._effort,
                first_epsilon=first_epsilon,
                epsilon=epsilon,
                omega=self.system.omega,
                target=0.0,
                measure=False,
            )
            if converged or not self._is_limited or self._effort.operations >= self._max_operations:
                return converged
            rows = self._sources()[0]
            cost = self.system.elimination.cost(rows)
            if cost is None:
                self._is_limited, self._effort.max_operations = False, self._max_operations
            elif self._effort.operations < cost:
                self.limit_push(cost - self._effort.operations)
            else:
                self._is_solved = self.system.elimination.inverse(rows) is not None
                self._is_limited, self._effort.max_operations = False, self._max_operations
        found = self.system.elimination.solve(*self._sources())
        if found is not None:
            self._work.drain()
            estimate, residual = (dense_vector(self._graph, found.rows, values) for values in found[1:])
            self._work.resume(found.rows, estimate, residual)
        return True

    def _sources(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The seeds, and what was sent on from dead ends, also where that is nothing yet."""
        if self._jumps is None:
            return self._seeds[0].astype(np.int32), self._seeds[1]
        source = np.zeros(len(self._graph))
        source[self._seeds[0]] = self._seeds[1]
        source[self._jumps[0]] += self._sent_on * self._jumps[1]
        rows = np.union1d(self._seeds[0], self._jumps[0]).astype(np.int32)
        return rows, source[rows]

    def rank(self, *, with_rounding: bool = False) -> _Ranking:
        values, rows, above, below, self._stopped, pushed, allowed_touched, allowed_pushed = _top.survey(
            self.system.view, self._work, self._allowed.filter, self._k, with_rounding
        )
        order = np.lexsort((rows, -values))[: np.count_nonzero(rows >= 0)]
        rows, values = rows[order], (1.0 - self._damping) * values[order]
        bounds = self._bounds(above, below, pushed)
        rounding = _top.roundings(self.system.view, rows) * values
        degrees = self._graph.degrees[rows]
        low = values - rounding - bounds.below.at(degrees)
        high = values + rounding + bounds.above.at(degrees)
        if len(rows) == 0:
            closed = self._allowed.n_nodes == 0 or (bounds.elsewhere == 0.0 and allowed_pushed == 0)
            return _Ranking(rows, values, bounds, [rows], 0.0, closed)
        before, after = np.minimum.accumulate(low), np.maximum.accumulate(high[::-1])[::-1]
        runs = np.split(rows, 1 + np.flatnonzero(before[:-1] > after[1:]))
        floor = float(before[-1])
        if len(rows) < self._k:  # they must be all that can be reached
            return _Ranking(rows, values, bounds, runs, floor, bounds.elsewhere == 0.0 and len(rows) == allowed_pushed)
        closed = allowed_touched == self._allowed.n_nodes or bounds.elsewhere < floor
        return _Ranking(rows, values, bounds, runs, floor, closed)

    def _bounds(self, above: Residuals, below: Residuals, pushed: int) -> _Bounds:
        """From residuals to errors of values.

        Residuals move as mass does, so errors are never more than their mass. On an undirected graph, walks that start
        in proportion to the degrees stay so: what bounds residuals per degree bounds errors per degree. An isolated
        node has its own residual only.
        """
        slack = 0.0
        if self._jumps is not None:  # mass that has yet to jump, and what a sum over the touched nodes is rounded by
            rounding = sys.float_info.epsilon * self._work.n_touched * self._stopped
            slack = abs(self._yet_to_jump) + rounding

        def bound(mass: float, per_degree: float, isolated: float) -> _Bound:
            if self._symmetric:
                return _Bound(MARGIN * mass, MARGIN * isolated, MARGIN * per_degree)
            return _Bound(MARGIN * (mass + slack), np.inf, 0.0)

        bounds = _Bounds(bound(*above), bound(*below), 0.0)
        if pushed == self._work.n_touched and (slack == 0.0 or self._sent_on != 0.0):
            return bounds  # no walk leads to other nodes
        return bounds._replace(elsewhere=float(bounds.above.at(self._allowed.largest_degree)))

    def groups(self, ranking: _Ranking, *, only_twins: bool) -> list[NDArray[np.int32]] | None:
        """The nodes whose order is not proven; None if others may be among them, or if some are not twins."""
        if not ranking.closed or (only_twins and not all(map(self._are_twins, ranking.runs))):
            return None
        last = self._last_group(ranking)
        if only_twins and not self._are_twins(last):
            return None
        return [group for group in [*ranking.runs[:-1], last] if len(group) > 1]

    def _last_group(self, ranking: _Ranking) -> NDArray[np.int32]:
        """The last run, and every other node allowed whose exact value may be as large as the smallest of them."""
        if len(ranking.rows) < self._k:
            return ranking.runs[-1]
        keep = 1.0 - self._damping
        bound = (MARGIN * number / keep for number in ranking.bounds.above)
        rivals = _top.rivals(self.system.view, self._work, self._allowed.filter, ranking.floor / keep, *bound)
        return np.concatenate([ranking.runs[-1], rivals[np.isin(rivals, ranking.rows, invert=True)]])

    def _are_twins(self, group: NDArray[np.int32]) -> bool:
        if len(group) <= 1:
            return True
        graph = self._graph
        if graph.is_directed():
            # This reads all edges. A push should not wait for more edges than it has walked.
            if self._edges_read + len(graph.indices) > self._effort.operations:
                return False
            self._edges_read += len(graph.indices)
        elif np.ptp(graph.neighbor_counts(group)) > 0:
            return False
        if any(np.ptp(_at(vector, group)) > 0.0 for vector in (self._seeds, self._jumps) if vector is not None):
            return False
        return bool(twins_of(graph, int(group[0]), group[1:]).all())

    def recompute(self) -> None:
        """Residuals without the rounding errors of the push, and bounds on those that are left."""
        rows, masses = self._seeds
        if self._jumps is not None and self._sent_on != 0.0:
            source = np.zeros(len(self._graph))
            source[rows] = masses
            source[self._jumps[0]] += self._sent_on * self._jumps[1]
            rows = np.flatnonzero(source)
            masses = source[rows]
        _top.recompute(self.system.view, self._work, rows.astype(np.int32), masses)

    def is_at_limit(self) -> bool:
        """Whether rounding errors are most of a bound, so that pushing on would make it at most half as large."""
        plain, rounded = (
            np.add(*_top.survey(self.system.view, self._work, self._allowed.filter, 1, rounding)[2:4])
            for rounding in (False, True)
        )
        plain[0] += abs(self._yet_to_jump)
        mass, per_degree, _ = plain <= 0.5 * rounded
        return bool(mass or (self._symmetric and per_degree))

    @property
    def _yet_to_jump(self) -> float:
        return 0.0 if self._jumps is None else self._damping * self._stopped - self._sent_on

    def send_on(self) -> None:
        """Let the mass that dead ends have gathered jump."""
        mass = self._yet_to_jump
        if self._jumps is not None and mass != 0.0:
            self._work.add(self._jumps[0], mass * self._jumps[1])
            self._sent_on += mass

    def scale(self) -> float:
        """What the values are multiplied by, where walks jump from dead ends back to the seeds."""
        return 1.0 if self._jumps is not None else 1.0 / (1.0 - self._damping * self._stopped)


def _touched(graph: CSRGraph, found: WholeSolution) -> NDArray[np.intp]:
    """The nodes that a push with this result would have touched: those with a value, and their neighbours."""
    touched = (found.estimate != 0.0) | (found.residual != 0.0)
    if not touched.all():
        touched[graph.indices[np.repeat(found.estimate != 0.0, np.diff(graph.indptr))]] = True
    return np.flatnonzero(touched)


def _at(vector: SparseVector, rows: NDArray[np.int32]) -> NDArray[np.float64]:
    """The values of a sparse vector at these rows."""
    where, values = vector
    order = np.argsort(where)
    position = order[np.minimum(np.searchsorted(where, rows, sorter=order), len(where) - 1)]
    return np.where(where[position] == rows, values[position], 0.0)
