"""Personalised PageRank from many nodes: ppr_matrix."""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.checks import check_count, check_fraction, check_jobs, check_positive
from nx_fastonl.batch.jobs import computed, planned_by
from nx_fastonl.batch.matrix import SavedMatrix
from nx_fastonl.batch.rows import Block, checked_dtype, largest_by_column, sources_or_all
from nx_fastonl.graph.convert import as_csr_graph
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.nxapi.dispatch import dispatchable
from nx_fastonl.push._rows import RowBlock, pagerank_rows
from nx_fastonl.push.candidates import Candidates, checked_candidates
from nx_fastonl.push.elimination import MAX_NODES
from nx_fastonl.push.local import UNLIMITED, edges_of_column
from nx_fastonl.push.pagerank import (
    FIRST_EPSILON,
    L1_ROUNDING,
    check_tolerance,
    default_epsilon,
    hub_rounding,
    pagerank_vector,
)
from nx_fastonl.push.rows import PushedRows
from nx_fastonl.push.rule import cover, edges_before_pulling
from nx_fastonl.push.system import LinearSystem

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["PageRankRows", "plan_rows", "ppr_matrix"]

ONE = np.ones(1)
NOT_COUNTED = np.empty(0, dtype=np.int32)


class PageRankRows(PushedRows):
    """The PageRank vectors of some nodes. The error of a row is in the L1 norm."""

    function = "ppr_matrix"
    total_error = np.add
    parameter_of_array: ClassVar = {"sources": "sources", "candidates": "candidates", "exclude": "exclude"}

    def __init__(
        self,
        graph: CSRGraph,
        sources: NDArray[np.int32] | None,
        dtype: str,
        *,
        alpha: float,
        epsilon: float | None,
        tol: float | None,
        top_k: int | None,
        allowed: Candidates,
    ) -> None:
        system, mass_tolerance = LinearSystem(graph, shift=0.0, slope=1.0 / alpha), None
        max_operations = edges_of_column(system)
        if tol is not None:
            mass_tolerance = check_tolerance(graph, alpha, tol)
            # Rows that cover the graph are computed by pulling.
            before = 0 if cover(graph, np.zeros(1, dtype=np.int32)) else edges_before_pulling(system, mass_tolerance)
            max_operations = min(max_operations, UNLIMITED if before is None else before)
        super().__init__(
            graph,
            sources,
            dtype,
            system=system,
            epsilon=FIRST_EPSILON if epsilon is None else epsilon,
            top_k=top_k,
            mass_tolerance=mass_tolerance,
            max_operations=max_operations,
            allowed=allowed.filter(graph),
        )
        self.alpha, self.epsilon, self.tol, self._candidates = alpha, epsilon, tol, allowed

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            "alpha": self.alpha,
            "epsilon": self.epsilon,
            "tol": self.tol,
            "top_k": self.top_k,
            "exclude_neighbors": self.allowed.exclude_neighbors,
        }

    @property
    def max_row_length(self) -> int | None:
        known = [length for length in (self.top_k, self._candidates.number) if length is not None]
        return min(known) if known else None

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        named = {"candidates": self._candidates.only, "exclude": self._candidates.exclude}
        return {name: rows for name, rows in named.items() if rows is not None}

    @classmethod
    def restored(
        cls,
        graph: CSRGraph,
        sources: NDArray[np.int32] | None,
        dtype: str,
        parameters: dict[str, Any],
        arrays: dict[str, NDArray[Any]],
    ) -> PageRankRows:
        given = dict(parameters)
        allowed = Candidates(arrays.get("candidates"), arrays.get("exclude"), given.pop("exclude_neighbors"))
        return cls(graph, sources, dtype, allowed=allowed, **given)

    def _block(self, sources: NDArray[np.int32], cancelled: NDArray[np.uint8], *, with_errors: bool) -> Block:
        del with_errors  # they cost nothing
        block, plan = self.room(len(sources)), self.plan(cancelled)
        tol = math.inf if self.tol is None else self.tol
        rounding, counts = self._rounding(tol)
        while block.n_rows < len(sources):
            rest = sources[block.n_rows :]
            with self.workspace() as work:
                pagerank_rows(self.system.view, work, block, rest, plan, self.alpha, rounding, counts, tol)
            if cancelled[0]:  # an exact solution does not poll
                raise KeyboardInterrupt
            if block.n_rows < len(sources):
                self._add_whole(block, int(sources[block.n_rows]), cancelled)
        return Block(*block.arrays())

    def _rounding(self, tol: float) -> tuple[float, NDArray[np.int32]]:
        """What rounding may add to the error of any row; and how many edges lead to each node, where that matters."""
        rounding = L1_ROUNDING / (1.0 - self.alpha)
        if not self.graph.is_directed():
            return rounding, NOT_COUNTED
        at_hubs = hub_rounding(self.graph, self.alpha, tol)
        if at_hubs is not None:
            return rounding + at_hubs, NOT_COUNTED
        return rounding, self.graph._in_counts(slice(None)).astype(np.int32, copy=False)

    def _add_whole(self, block: RowBlock, u: int, cancelled: NDArray[np.uint8]) -> None:
        """Add the next row, which covers the graph, or takes long to push. It does not depend on other rows."""
        if self.system.settles_slowly:
            # An inverse that rows share is there before it is asked for.
            n = len(self.graph)
            sources = range(n) if self.graph.is_directed() and n <= MAX_NODES else [u]
            self.system.elimination.inverse(np.array(sources, dtype=np.int32))
        found = pagerank_vector(
            self.graph,
            (np.array([u]), ONE),
            None,
            self.alpha,
            self.push_epsilon,
            tol=self.tol,
            cancelled=cancelled,
            system=self.system,
        )
        kept = self.allowed.allows(found.nodes)
        if self.allowed.exclude_neighbors:
            neighbours = self.graph.indices[self.graph.indptr[u] : self.graph.indptr[u + 1]]
            kept &= np.isin(found.nodes, np.append(neighbours, u), invert=True)
        block.add(*largest_by_column(found.nodes[kept], found.values[kept], self.top_k), found.l1_error)


def plan_rows(
    G: Any,
    sources: Iterable[Hashable] | None = None,
    alpha: float = 0.85,
    epsilon: float | None = None,
    top_k: int | None = None,
    *,
    tol: float | None = None,
    candidates: Iterable[Hashable] | None = None,
    exclude: Iterable[Hashable] | None = None,
    exclude_neighbors: bool = False,
    dtype: Any = "float64",
    weight: str | None = "weight",
) -> PageRankRows:
    """What `ppr_matrix` is asked for, checked."""
    graph = as_csr_graph(G, weight)
    alpha = check_fraction("alpha", alpha)
    if tol is not None:
        tol, epsilon = check_positive("tol", tol), None
    else:
        epsilon = default_epsilon(graph) if epsilon is None else check_positive("epsilon", epsilon)
    check_count("top_k", top_k)
    rows = sources_or_all(graph, sources, "sources")
    allowed = checked_candidates(graph, candidates, exclude, exclude_neighbors)
    return PageRankRows(
        graph, rows, checked_dtype(dtype), alpha=alpha, epsilon=epsilon, tol=tol, top_k=top_k, allowed=allowed
    )


@overload
def ppr_matrix(
    G: Any,
    sources: Iterable[Hashable] | None = ...,
    alpha: float = ...,
    epsilon: float | None = ...,
    top_k: int | None = ...,
    n_jobs: int | None = ...,
    *,
    tol: float | None = ...,
    candidates: Iterable[Hashable] | None = ...,
    exclude: Iterable[Hashable] | None = ...,
    exclude_neighbors: bool = ...,
    dtype: Any = ...,
    out: None = ...,
    rows_per_shard: int | None = ...,
    weight: str | None = ...,
    progress: bool = ...,
) -> sparse.csr_array: ...
@overload
def ppr_matrix(
    G: Any,
    sources: Iterable[Hashable] | None = ...,
    alpha: float = ...,
    epsilon: float | None = ...,
    top_k: int | None = ...,
    n_jobs: int | None = ...,
    *,
    tol: float | None = ...,
    candidates: Iterable[Hashable] | None = ...,
    exclude: Iterable[Hashable] | None = ...,
    exclude_neighbors: bool = ...,
    dtype: Any = ...,
    out: str | os.PathLike[str],
    rows_per_shard: int | None = ...,
    weight: str | None = ...,
    progress: bool = ...,
) -> SavedMatrix: ...
@planned_by(plan_rows)
@dispatchable
def ppr_matrix(
    G: Any,
    sources: Iterable[Hashable] | None = None,
    alpha: float = 0.85,
    epsilon: float | None = None,
    top_k: int | None = None,
    n_jobs: int | None = None,
    *,
    tol: float | None = None,
    candidates: Iterable[Hashable] | None = None,
    exclude: Iterable[Hashable] | None = None,
    exclude_neighbors: bool = False,
    dtype: Any = "float64",
    out: str | os.PathLike[str] | None = None,
    rows_per_shard: int | None = None,
    weight: str | None = "weight",
    progress: bool = False,
) -> sparse.csr_array | SavedMatrix:
    """Personalised PageRank from many nodes at once, one row per node.

    Parameters
    ----------
    G : nx.Graph, scipy sparse array, CSRGraph or DynamicGraph
        Directed or not. The conversion of an nx.Graph is kept for later calls: see `CSRGraph.from_networkx`.
    sources : iterable of nodes, optional
        The seed of each row, by default every node in turn.
    alpha : float, default 0.85
        The damping, between 0 and 1, as in ``nx.pagerank``.
    epsilon : float, optional
        A node is pushed only while its residual exceeds this, per neighbour. Used where `tol` is not given. By default
        1e-6; in a graph whose nodes have more than 20 neighbours on average, 2e-5 divided by that number.
    top_k : int, optional
        Keep only the k largest values of each row; of equal ones, those that come first in ``list(G)``.
    n_jobs : int, optional
        Threads to use, by default 1; -1 for one per core. The result does not depend on it. With `out`, inside of
        ``joblib.parallel_config``, the number of tasks at once, by default what that says.
    tol : float, optional
        Push until the L1 error of each row, before `top_k` cuts it and nodes are left out, is certainly at most `tol`;
        `epsilon` is then ignored. In a directed graph, rounding errors at nodes with edges from very many others may
        exceed a small `tol`; `SavedMatrix.error` counts them.
    candidates : collection of nodes, optional
        Only these nodes may have values in the rows, by default all. Columns stay those of all nodes, and values do not
        depend on the candidates.
    exclude : collection of nodes, optional
        These nodes have no value in any row.
    exclude_neighbors : bool, default False
        In each row, neither its source nor the neighbours of this have a value: recommend what is new to the source. In
        a directed graph, neighbours are where the edges of the source lead.
    dtype : {"float64", "float32"}, default "float64"
        The type of the values. Those of single precision are rounded from double precision.
    out : path-like, optional
        A folder to write the rows to, in shards, instead of keeping them in memory. If it holds some of these rows
        already, only the others are computed: a job that was stopped goes on by the same call. Inside of
        ``joblib.parallel_config(backend=...)`` the shards are computed by its workers.
    rows_per_shard : int, optional
        Rows that are written together, and until then are in memory. By default a 64th of all rows, and at least 16.
        But with `top_k` or `candidates` at most as many as have two million values, otherwise at most 4,096: name fewer
        where these take too much memory.
    weight : str or None, default "weight"
        The edge attribute that holds the weight, 1 where it is missing. None ignores weights.
    progress : bool, default False
        Show a progress bar (needs tqdm).

    Returns
    -------
    scipy.sparse.csr_array or SavedMatrix
        Row i belongs to ``sources[i]``; columns follow ``list(G)``, and ascend in each row. Only the values returned
        take memory. With `out`, what `open_matrix` gives for the folder.

    Raises
    ------
    networkx.NodeNotFound
        If a source, or a node of `candidates` or `exclude`, is not in the graph.
    networkx.NetworkXPointlessConcept
        If `G` has no nodes.
    TypeError, ValueError
        If a parameter is of the wrong type or out of range.
    ValueError
        If the folder `out` holds rows of another graph, other sources or other parameters; the message says which.
    OSError
        If the folder cannot be written.
    ImportError
        If `progress` is asked for and tqdm is not installed.

    See Also
    --------
    personalized_pagerank_local
    shards : The tasks of which a job with `out` consists, for a batch queue.
    open_matrix

    Examples
    --------
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> P = fo.ppr_matrix(nx.karate_club_graph(), sources=[0, 33], top_k=5)
    >>> P.shape, P.nnz
    ((2, 34), 10)

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     P = fo.ppr_matrix(nx.karate_club_graph(), top_k=3, out=f"{folder}/rows")
    ...     P.shape, sorted(P.row(33))
    ((34, 34), [23, 32, 33])
    """
    check_jobs("n_jobs", n_jobs)
    rows = plan_rows(
        G,
        sources,
        alpha,
        epsilon,
        top_k,
        tol=tol,
        candidates=candidates,
        exclude=exclude,
        exclude_neighbors=exclude_neighbors,
        dtype=dtype,
        weight=weight,
    )
    return computed(rows, out, rows_per_shard, n_jobs, progress)
