"""DynamicPageRank: a personalised PageRank vector that follows a graph as it changes."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from time import perf_counter
from typing import Any, NamedTuple, cast

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib._sharing import ThreadLock
from nx_fastonl._lib.checks import a_few, check_fraction, check_mapping, check_positive, check_whole, shortened
from nx_fastonl._lib.frames import Column
from nx_fastonl._lib.log import log_rebuild
from nx_fastonl.batch.rows import checked_nodes
from nx_fastonl.graph._dicts import dict_from_arrays
from nx_fastonl.graph._dynamic import CHANGE
from nx_fastonl.graph.base import ChangingGraph
from nx_fastonl.graph.convert import as_csr_graph, as_row_graph
from nx_fastonl.graph.vectors import sparse_vector, unframed
from nx_fastonl.push._kept import KeptVector
from nx_fastonl.push._push import Effort
from nx_fastonl.push.elimination import LEAST_EDGES as PATIENCE
from nx_fastonl.push.local import NEVER_CANCELLED, UNLIMITED, push_on
from nx_fastonl.push.pagerank import FIRST_EPSILON, L1_ROUNDING, as_weights, default_epsilon, scaled_epsilon
from nx_fastonl.push.system import LinearSystem

__all__ = ["DynamicPageRank"]

# What one push rounds, as a rule, is this fraction of the smallest tolerance, so that there is room for many changes.
ROUNDING_FRACTION = 0.01
# The normalisation and the values are rounded by this, over 1 less what dead ends lose.
VALUE_ROUNDING = 4.0 * float(np.finfo(float).eps)
# Where a repair leaves more residual mass than this, too few digits would be left: the vector starts again from zero,
# where the mass is 1. So no residual overflows.
LARGEST_MASS = 1000.0
# How often a residual that was computed anew is pushed, before rounding errors are accepted or the vector starts again.
MAX_ROUNDS = 3
# The residual is computed anew rather than repaired where more edges than this have changed, plus one for so many edges
# that are walked for it: about as many take as long as one repair.
LEAST_CHANGES, EDGES_PER_REPAIR = 1000, 8
# It is computed anew too where rounding errors have grown beyond this fraction of what is certified.
MAX_ROUNDING = 0.25
# A push around changes may walk this many edges, or all there are. One over the whole vector is faster then.
LEAST_EDGES = 1 << 16
# Where the residual mass is larger than its tolerance times this, rounds and sweeps pay.
FAR_ABOVE = 4.0
# With a tolerance, the first epsilon after a push over the whole vector: the mass is at most epsilon times the volume,
# and mostly much less. It falls by half where that was too much.
FIRST_EXCESS = 16.0

NO_ROWS, NO_MASSES = np.empty(0, dtype=np.int32), np.empty(0)


class DynamicPageRank:
    """A personalised PageRank vector that is kept while its graph changes, with a known error.

    Change the graph, and nothing else. The vector is that of the graph as it is when you ask: it then repairs itself
    where edges have changed, exactly, and pushes what that has stirred up. So a question after a change costs far less
    than a new vector, as long as changes are few. Where they are many, it starts again from the present values.

    Dead ends lead back to the seeds, as in `personalized_pagerank_local`, and the two agree within their errors.

    Parameters
    ----------
    graph : DynamicGraph
        Directed or not. Any other graph that the package takes will do, but is copied as it is now.
    personalization : node, dict or iterable of nodes
        The seeds. A dict ``{node: weight}`` gives their weights, and is normalised. A seed that leaves the graph takes
        its weight with it: the others are normalised without it, until it joins again.
    alpha : float, default 0.85
        The damping, between 0 and 1: the probability to follow an edge.
    epsilon : float, optional
        A node is pushed only while its residual exceeds this, per neighbour and as a fraction of what the heaviest seed
        starts with. By default 1e-6; if the nodes have more than 20 neighbours on average, 2e-5 divided by that number.
    tol : float, optional
        Push until the L1 error is certainly at most `tol`, instead. It may not be below ``1e-13 / (1 - alpha) ** 2``:
        rounding errors of many changes add up.

    Attributes
    ----------
    alpha, epsilon, tol : float
        As given. One of `epsilon` and `tol` is None.

    Raises
    ------
    networkx.NodeNotFound
        If a seed is not in the graph. Later, when a value is asked for and no seed is left in the graph.
    TypeError, ValueError
        If a parameter is of the wrong type or out of range, `epsilon` and `tol` are both given, or the weights add up
        to zero.

    See Also
    --------
    personalized_pagerank_local : One vector of a graph that stays as it is.
    DynamicGraph

    Notes
    -----
    The estimate z and the residual r satisfy ``H z + r = b``, and a change of H by one edge is made up for by a change
    of r at its ends. The L1 error is at most the sum of the magnitudes of r, over 1 less what dead ends lose. Rounding
    errors are counted in `l1_error` too.

    For a random seed in an undirected graph, k changes take O(k + 1 / epsilon) pushes on average [1]_. A single change
    may take a push over the whole vector, though: think of an edge beside the seed. And where `tol` is less than what
    one edge changes in the vector, each question takes a good part of the time of a new vector.

    Threads may ask at the same time as others change the graph. A vector that covers the graph takes 32 bytes per node.

    References
    ----------
    .. [1] Zhang, H., Lofgren, P., Goel, A. (2016). Approximate personalized PageRank on dynamic graphs. KDD.

    Examples
    --------
    >>> import nx_fastonl as fo
    >>> graph = fo.DynamicGraph()
    >>> graph.add_edges_from([("ann", "bob"), ("bob", "cid"), ("cid", "ann")])
    >>> ranks = fo.DynamicPageRank(graph, "ann", tol=1e-9)
    >>> round(ranks["cid"], 3)
    0.298
    >>> graph.add_edge("cid", "dee")
    >>> {node: round(value, 3) for node, value in ranks.top(3, exclude=["ann"]).items()}
    {'cid': 0.326, 'bob': 0.238, 'dee': 0.092}
    >>> ranks.l1_error <= 1e-9
    True
    """

    alpha: float
    epsilon: float | None
    tol: float | None

    def __init__(
        self,
        graph: Any,
        personalization: Any,
        alpha: float = 0.85,
        *,
        epsilon: float | None = None,
        tol: float | None = None,
    ) -> None:
        self._graph = as_row_graph(graph)
        self.alpha = check_fraction("alpha", alpha)
        if epsilon is not None and tol is not None:
            raise ValueError(
                "epsilon and tol both say when to stop: leave one of them out, "
                f"got epsilon={shortened(epsilon)} and tol={shortened(tol)}"
            )
        self.tol = None if tol is None else check_positive("tol", tol)
        self._rounding = L1_ROUNDING / (1.0 - self.alpha)  # of one push
        least = self._rounding / ROUNDING_FRACTION / (1.0 - self.alpha)
        if self.tol is not None and self.tol < least:
            raise ValueError(f"tol must be at least {least:.1g}, where rounding errors begin, got {shortened(tol)}")
        self.epsilon = None if epsilon is None else check_positive("epsilon", epsilon)
        self._lock = ThreadLock(once=True)
        with self._graph.reading():
            if tol is None and epsilon is None:
                self.epsilon = default_epsilon(self._graph)
            self._weights = self._checked(personalization)
            self._kept = KeptVector(len(self._graph))
            self._system = self._new_system()

    @classmethod
    def many(
        cls,
        graph: Any,
        personalizations: Mapping[Any, Any],
        alpha: float = 0.85,
        *,
        epsilon: float | None = None,
        tol: float | None = None,
    ) -> dict[Any, DynamicPageRank]:
        """A vector for each of several personalizations, on one graph.

        Parameters
        ----------
        graph : DynamicGraph
            See `DynamicPageRank`.
        personalizations : dict
            ``{name: personalization}``, with any names.
        alpha, epsilon, tol : float
            Of all vectors.

        Returns
        -------
        dict
            ``{name: DynamicPageRank}``. Each vector catches up with the graph when it is asked.

        Raises
        ------
        networkx.NodeNotFound
            If a seed is not in the graph.
        TypeError, ValueError
            If `personalizations` is no dict, or a parameter is wrong.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> graph = fo.DynamicGraph(nx.karate_club_graph())
        >>> ranks = fo.DynamicPageRank.many(graph, {"boss": 33, "others": [0, 1]})
        >>> list(ranks["others"].top(2)), list(ranks["boss"].top(2))
        ([0, 1], [33, 32])
        """
        check_mapping("personalizations", personalizations)
        same = graph if isinstance(graph, ChangingGraph) else as_csr_graph(graph)  # converted once
        return {
            name: cls(same, personalization, alpha, epsilon=epsilon, tol=tol)
            for name, personalization in personalizations.items()
        }

    @property
    def personalization(self) -> dict[Any, float]:
        """The weights of the seeds, as they were given: ``{node: weight}``.

        Setting it, to a node, a dict or an iterable of nodes, changes the seeds.
        """
        return dict(self._weights)

    @personalization.setter
    def personalization(self, personalization: Any) -> None:
        with self._graph.reading(), self._lock:
            self._weights = self._checked(personalization)

    @property
    def l1_error(self) -> float:
        """An upper bound on the L1 distance to the exact vector of the graph as it is now."""
        with self._graph.reading(), self._lock:
            self._catch_up()
            return self._error()

    __iter__ = None  # by `__getitem__` alone, Python would count through it

    def __getitem__(self, node: Hashable) -> float:
        with self._graph.reading():
            u = self._graph.index(node)
            with self._lock:
                self._catch_up()
                return self._scale() * (1.0 - self.alpha) * self._kept.value(self._system.view, u)

    def ranks(self) -> dict[Any, float]:
        """The values of all nodes that were reached.

        Returns
        -------
        dict
            ``{node: value}``, in no particular order; every other node has 0.

        Raises
        ------
        networkx.NodeNotFound
            If no seed is left in the graph.

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> graph = fo.DynamicGraph()
        >>> graph.add_nodes_from(["ann", "bob"])
        >>> ranks = fo.DynamicPageRank(graph, "ann")
        >>> ranks.ranks()
        {'ann': 1.0}
        """
        with self._graph.reading(), self._lock:
            return dict_from_arrays(self._graph.nodes, *self._values())

    def top(
        self, k: int, candidates: Iterable[Hashable] | None = None, exclude: Iterable[Hashable] | None = None
    ) -> dict[Any, float]:
        """The k largest values that were found, largest first.

        Nodes whose values differ by less than `l1_error` may stand in the wrong order.

        Parameters
        ----------
        k : int
            At most so many nodes. Those that were not reached are left out.
        candidates : iterable of nodes, optional
            Only these are considered.
        exclude : iterable of nodes, optional
            These are not; they need not be in the graph.

        Returns
        -------
        dict
            ``{node: value}``. Of nodes with the same value, the one that joined the graph earlier comes first, as a
            rule.

        Raises
        ------
        networkx.NodeNotFound
            If a candidate is not in the graph, or no seed is left in it.
        TypeError, ValueError
            If `k` is not a positive whole number, or `candidates` or `exclude` is a node instead of several.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> graph = fo.DynamicGraph(nx.path_graph(5))
        >>> ranks = fo.DynamicPageRank(graph, 0)
        >>> list(ranks.top(2, exclude=[0])), list(ranks.top(2, candidates=[3, 4, 2]))
        ([1, 2], [2, 3])
        """
        check_whole("k", k, 1)
        listed = None if candidates is None else checked_nodes(self._graph, candidates, "candidates")
        excluded = [] if exclude is None else checked_nodes(self._graph, exclude, "exclude")
        with self._graph.reading(), self._lock:
            chosen = None if listed is None else self._graph.rows_of(listed)
            unwanted = [row for row in map(self._graph._find, excluded) if row is not None]
            rows, values = self._values()
            keep = np.ones(len(rows), dtype=bool) if chosen is None else np.isin(rows, chosen)
            if unwanted:
                keep &= ~np.isin(rows, unwanted)
            rows, values = rows[keep], values[keep]
            if len(rows) > k:
                largest = values >= np.partition(values, len(values) - k)[len(values) - k]
                rows, values = rows[largest], values[largest]
            order = np.lexsort((rows, -values))[:k]
            return dict_from_arrays(self._graph.nodes, rows[order], values[order])

    def __repr__(self) -> str:
        accuracy = f"epsilon={self.epsilon:g}" if self.tol is None else f"tol={self.tol:g}"
        return f"DynamicPageRank({a_few(self._weights)}; alpha={self.alpha:g}, {accuracy})"

    # What follows is called while the graph is read and, but for the checks, the lock is held.

    def _checked(self, personalization: Any) -> dict[Hashable, float]:
        """The weights of the seeds, all of which must be in the graph."""
        personalization = unframed(personalization, "personalization")
        if isinstance(personalization, Column):
            if not personalization.holds_integers():
                raise TypeError(
                    "personalization is a column of weights without the names of nodes, and the graph may get other "
                    "nodes: pass dict(zip(graph, personalization))"
                )
            personalization = personalization.nodes()
        elif isinstance(personalization, np.ndarray):
            if personalization.dtype.kind == "f":
                raise TypeError(
                    "personalization is an array of weights, and the graph may get other nodes: "
                    "pass dict(zip(graph, array.tolist()))"
                )
            personalization = personalization.tolist()
        weights = dict(cast(Mapping[Hashable, float], as_weights(self._graph, personalization)).items())
        sparse_vector(self._graph, weights, "personalization")
        return {node: float(weight) for node, weight in weights.items() if float(weight) > 0.0}

    def _new_system(self) -> LinearSystem:
        return LinearSystem(self._graph, shift=0.0, slope=1.0 / self.alpha)

    def _scale(self) -> float:
        """The whole mass, over what is not lost in dead ends: between 0 and alpha of it are."""
        return 1.0 / (1.0 - min(max(self.alpha * self._kept.dead, 0.0), self.alpha))

    def _error(self) -> float:
        """A bound on the L1 error, derived in `docs/theory/dynamic.md`. Its last factor is for its own rounding."""
        kept = self._kept
        return self._scale() * (kept.mass + kept.rounding + VALUE_ROUNDING) * (1.0 + 1e-9)

    def _values(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The rows of the nodes that were reached, and their values, once the vector is up to date."""
        self._catch_up()
        rows, values = self._kept.values(self._system.view)
        return rows, self._scale() * (1.0 - self.alpha) * values

    def _catch_up(self) -> None:
        """Follow the graph, and settle. If this is interrupted, the next call goes on."""
        graph, kept, reached = self._graph, self._kept, self._kept.reached
        if reached is None or graph.version != reached.version or reached.weights is not self._weights:
            self._follow(reached)
        if not kept.settled or not self._is_enough():
            self._settle()

    def _is_enough(self) -> bool:
        """Whether the error is as small as it should be, with few rounding errors."""
        kept = self._kept
        if self.tol is not None:
            return self._error() <= self.tol
        least = max(self._rounding / ROUNDING_FRACTION, 2.0 * kept.least_rounding)
        return kept.rounding <= max(MAX_ROUNDING * kept.mass, least)

    def _follow(self, reached: _Reached | None) -> None:
        """Let ``H z + r = b`` hold for the graph as it is now."""
        graph, kept = self._graph, self._kept
        now = self._seeds(reached)
        kept.add_rows(len(graph))
        self._system = self._new_system()
        changes = None if reached is None else self._changes_since(reached)
        if reached is None or changes is None or self._are_too_many(changes):
            began = perf_counter()
            self._recompute(now)
            if reached is not None:
                log_rebuild("a PageRank vector", changes, began)
            return
        forgotten = self._isolated(self._removed_since(reached))
        sources, masses = NO_ROWS, NO_MASSES
        if now.masses is not reached.masses:
            before = {row: mass for row, mass in reached.masses.items() if row not in forgotten}
            rows = sorted(before.keys() | now.masses.keys())
            sources = np.array(rows, dtype=np.int32)
            masses = np.array([now.masses.get(row, 0.0) - before.get(row, 0.0) for row in rows])
        was_settled = kept.settled
        rows_forgotten = np.array(sorted(forgotten), dtype=np.int32)
        degree_roundings = graph.degree_roundings
        kept.follow(
            self._system.view, changes, graph.is_directed(), rows_forgotten, sources, masses, degree_roundings, now
        )
        if not kept.mass + kept.rounding <= LARGEST_MASS:
            kept.clear()
            self._recompute(now)
            return
        if was_settled and (self.epsilon is None or now.epsilon == kept.epsilon):
            ends = np.concatenate([changes["u"], changes["v"], sources])
            kept.settle_around(self._system.view, ends, max(LEAST_EDGES, graph.n_entries))

    def _changes_since(self, reached: _Reached) -> NDArray[Any] | None:
        """The edges that have changed; None if the log does not have them."""
        if not self._graph.can_change:
            return np.empty(0, dtype=CHANGE)
        return self._graph.changes_since(reached.version[0])

    def _are_too_many(self, changes: NDArray[Any]) -> bool:
        return len(changes) > LEAST_CHANGES + self._kept.volume / EDGES_PER_REPAIR

    def _removed_since(self, reached: _Reached) -> list[int]:
        removed: list[int] = self._graph.nodes.removed_since(reached.version[2]) if self._graph.can_change else []
        return removed

    def _isolated(self, rows: list[int]) -> set[int]:
        """Those of these rows that have no edges now."""
        both_ways = getattr(self._graph, "both_ways", None) or self._graph
        return {u for u in rows if both_ways.neighbor_counts(u) == 0}

    def _seeds(self, reached: _Reached | None) -> _Reached:
        """The seeds that are in the graph now, with their masses: those of before, where nothing has changed."""
        graph = self._graph
        if reached is not None and reached.weights is self._weights:
            left = any(row in reached.masses for row in self._removed_since(reached))
            if not left and not any(node in graph for node in reached.absent):
                return reached._replace(version=graph.version)
        rows = {node: graph._find(node) for node in self._weights}
        absent = [node for node, row in rows.items() if row is None]
        weights = {row: self._weights[node] for node, row in rows.items() if row is not None}
        if not weights:
            raise nx.NodeNotFound(
                f"no seed of this vector is in the graph any more: {a_few(absent)}; "
                "set personalization to nodes of the graph"
            )
        total = math.fsum(weights.values())
        masses = {row: weight / total for row, weight in weights.items()}
        epsilon = 0.0
        if self.epsilon is not None:
            sources = np.array(list(masses), dtype=np.intp), np.array(list(masses.values()))
            epsilon = scaled_epsilon(graph, sources, self.epsilon)
        return _Reached(graph.version, self._weights, masses, absent, epsilon)

    def _settle(self) -> None:
        """Push until no node is active and the error is small enough, or only rounding errors are left.

        At a hub, r may be the small difference of large sums. A push from nothing rounds less.
        """
        settle = self._settle_to_epsilon if self.tol is None else self._settle_to_tolerance
        for _ in range(MAX_ROUNDS):
            if settle():
                return
            self._recompute()
        reached = self._kept.reached
        self._kept.clear()
        self._recompute(reached)
        settle()

    def _recompute(self, reached: _Reached | None = None) -> None:
        """Compute the residual anew, by default for what the vector belongs to."""
        reached = self._kept.reached if reached is None else reached
        assert reached is not None
        sources, masses = reached.arrays()
        self._kept.recompute(self._system.view, sources, masses, self._graph.degree_roundings, reached)

    def _settle_to_epsilon(self) -> bool:
        """Push until no node is active; return whether there are few rounding errors."""
        kept, epsilon = self._kept, self._kept.reached.epsilon
        if not kept.settled:
            for _ in range(MAX_ROUNDS):
                self._push(epsilon, None)
                if kept.mass <= epsilon * kept.volume:  # otherwise it has rounded more than it was to leave
                    break
            kept.accept(epsilon)
        return self._is_enough()

    def _settle_to_tolerance(self) -> bool:
        """Push until the error is at most `tol`; return False if rounding errors are too large for that."""
        kept, tolerance = self._kept, self._tolerance()
        epsilon = kept.epsilon / 2.0
        if not kept.settled or kept.mass > FAR_ABOVE * tolerance:
            self._push(FIRST_EPSILON, (1.0 - MAX_ROUNDING) * tolerance)
            epsilon = FIRST_EXCESS * tolerance / max(kept.volume, 1)
        while kept.rounding <= MAX_ROUNDING * tolerance:
            self._settle_all(epsilon)
            if self._is_enough():
                return True
            epsilon /= 2.0
        return False

    def _tolerance(self) -> float:
        """What the residual mass and rounding errors may add up to."""
        assert self.tol is not None
        return self.tol * (1.0 - self.alpha if self._graph.has_dead_ends else 1.0)

    def _push(self, epsilon: float, mass_tolerance: float | None) -> None:
        """Push as from nothing. Then the residual is computed anew, which says what the push has rounded."""

        def push(max_operations: int) -> bool:
            effort = Effort(max_operations, UNLIMITED, NEVER_CANCELLED)
            return push_on(self._system, self._kept.work, effort, epsilon, mass_tolerance)

        if not self._push_or_solve(push):
            self._recompute()

    def _settle_all(self, epsilon: float) -> None:
        """Push under another epsilon until no node is active."""
        kept = self._kept

        def push(max_operations: int) -> bool:
            kept.settle_all(self._system.view, epsilon, max_operations)
            return kept.settled

        if self._push_or_solve(push) and not push(PATIENCE):
            kept.accept(epsilon)  # only rounding errors are left

    def _push_or_solve(self, push: Callable[[int], bool]) -> bool:
        """Push with a limit of the edges to walk, or solve exactly; return which, True for the second.

        The rule is that of other pushes: see `Elimination`. What is solved exactly lacks only rounding.
        """
        kept, system = self._kept, self._system
        if not system.settles_slowly:
            push(UNLIMITED)
            return False
        reached = kept.reached
        sources, masses = reached.arrays()
        if push(PATIENCE):
            return False
        cost = system.elimination.cost(sources)
        if push(UNLIMITED if cost is None else cost):
            return False
        solution = system.elimination.solve(sources, masses)
        if solution is None:
            push(UNLIMITED)
            return False
        kept.start_from(solution.rows, solution.estimate)
        self._recompute(reached)
        return True


class _Reached(NamedTuple):
    """What a vector belongs to: a version of the graph, and seeds."""

    version: Any
    weights: dict[Hashable, float]  # of all seeds
    masses: dict[int, float]  # by row, of those that are in the graph
    absent: list[Hashable]  # the others
    epsilon: float  # of the push for these seeds, without a tolerance

    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The rows and masses of the seeds."""
        return np.array(list(self.masses), dtype=np.int32), np.array(list(self.masses.values()))
