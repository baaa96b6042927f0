"""Matrices of the six kernels: kernel_matrix."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.checks import check_count, check_jobs, check_positive, shortened
from nx_fastonl.batch.jobs import computed, planned_by
from nx_fastonl.batch.matrix import SavedMatrix
from nx_fastonl.batch.rows import Block, checked_dtype, largest_by_column, rows_of, sources_or_all
from nx_fastonl.graph.convert import as_csr_graph
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.kernels._rows import Certifier, kernel_rows
from nx_fastonl.kernels.graph_kernel import SCALING_ROUNDING, GraphKernel
from nx_fastonl.kernels.table import KernelParameters
from nx_fastonl.nxapi.dispatch import dispatchable
from nx_fastonl.push._rows import RowBlock
from nx_fastonl.push.elimination import Solution
from nx_fastonl.push.local import UNLIMITED, PushResult, edges_of_column, local_push
from nx_fastonl.push.rows import PushedRows

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["KernelRows", "kernel_matrix", "plan_rows"]


class KernelRows(PushedRows):
    """Rows of a kernel matrix. The error of a row is that of each of its values."""

    function = "kernel_matrix"
    total_error = np.maximum
    parameter_of_array: ClassVar = {"sources": "nodes", "s_squared": "S"}

    def __init__(
        self,
        graph: CSRGraph,
        sources: NDArray[np.int32] | None,
        dtype: str,
        *,
        kernel: GraphKernel,
        epsilon: float,
        top_k: int | None,
    ) -> None:
        super().__init__(
            graph,
            sources,
            dtype,
            system=kernel.system,
            epsilon=kernel.push_epsilon(epsilon),
            top_k=top_k,
            max_operations=edges_of_column(kernel.system),
        )
        self.kernel, self.epsilon = kernel, epsilon

    @property
    def parameters(self) -> dict[str, Any]:
        return {**self.kernel.plain_parameters, "epsilon": self.epsilon, "top_k": self.top_k}

    @property
    def max_row_length(self) -> int | None:
        return len(self.graph) if self.top_k is None and self.kernel.g != 0.0 else self.top_k

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        S = self.kernel.given_diagonal
        return {} if S is None else {"s_squared": S}

    @classmethod
    def restored(
        cls,
        graph: CSRGraph,
        sources: NDArray[np.int32] | None,
        dtype: str,
        parameters: dict[str, Any],
        arrays: dict[str, NDArray[Any]],
    ) -> KernelRows:
        given = dict(parameters)
        epsilon, top_k = given.pop("epsilon"), given.pop("top_k")
        name, smoothness = given.pop("kernel"), given.pop("smoothness")
        if "s_squared" in arrays:
            given["S"] = arrays["s_squared"]
        kernel = GraphKernel(graph, name, smoothness, **given)
        return cls(graph, sources, dtype, kernel=kernel, epsilon=epsilon, top_k=top_k)

    def _block(self, sources: NDArray[np.int32], cancelled: NDArray[np.uint8], *, with_errors: bool) -> Block:
        kernel = self.kernel
        block, plan = self.room(len(sources)), self.plan(cancelled)
        certifier = None
        if with_errors:
            certifier = Certifier(*kernel.c_of_degree, kernel.largest_s, SCALING_ROUNDING, self._given_c)
        while block.n_rows < len(sources):
            if kernel.g == 0.0:
                rest = sources[block.n_rows :]
                # A certificate writes its roundings to where thresholds stand.
                with self.workspace(plain=with_errors) as work:
                    kernel_rows(self.system.view, kernel.scaling, work, block, rest, plan, kernel.a, certifier)
            if cancelled[0]:  # an exact solution does not poll
                raise KeyboardInterrupt
            if block.n_rows < len(sources):
                self._add_slowly(block, int(sources[block.n_rows]), cancelled, with_errors)
        return Block(*block.arrays())

    @cached_property
    def _given_c(self) -> NDArray[np.float64] | None:
        """The diagonal c at all nodes, if it does not follow from the degrees."""
        return None if self.kernel.given_diagonal is None else self.kernel.c(np.arange(len(self.graph)))

    def _add_slowly(self, block: RowBlock, u: int, cancelled: NDArray[np.uint8], with_errors: bool) -> None:
        """Add the next row, which takes long, or is full."""
        kernel = self.kernel
        result = self._push_or_solve(u, cancelled)
        columns, values = kernel.column(u, result)
        if kernel.g != 0.0:
            full = np.full(len(self.graph), -kernel.g)
            full[columns] += values
            columns, values = np.arange(len(self.graph), dtype=np.int32), full
        error = kernel.column_error(u, result) if with_errors else 0.0
        block.add(*largest_by_column(columns, values, self.top_k), error)

    def _push_or_solve(self, u: int, cancelled: NDArray[np.uint8]) -> PushResult:
        """A push from u; the exact solution, if that takes long and few nodes can be reached."""
        if self.max_operations == UNLIMITED:
            return self._push(u, None, cancelled)
        if self.kernel.g != 0.0:  # otherwise, the compiled loop has pushed as far as this
            result = self._push(u, self.max_operations, cancelled)
            if result.converged:
                return result
        column = self.system.elimination.column(u)
        if column is None:
            return self._push(u, None, cancelled)
        return PushResult.exact(Solution(*column, np.zeros(len(column[0]))))

    def _push(self, u: int, max_operations: int | None, cancelled: NDArray[np.uint8]) -> PushResult:
        neighbours = int(self.graph.neighbor_counts(u))
        epsilon = min(self.push_epsilon, 1.0 / max(neighbours, 1))
        return local_push(self.system, [u], [1.0], epsilon, max_operations=max_operations, cancelled=cancelled)


def plan_rows(
    G: Any,
    nodes: Iterable[Hashable] | None = None,
    kernel: str = "normalized-laplacian",
    smoothness: float | None = None,
    *,
    epsilon: float = 1e-6,
    top_k: int | None = None,
    dtype: Any = "float64",
    weight: str | None = "weight",
    **parameters: Unpack[KernelParameters],
) -> KernelRows:
    """What `kernel_matrix` is asked for, checked."""
    graph = as_csr_graph(G, weight)
    epsilon = check_positive("epsilon", epsilon)
    check_count("top_k", top_k)
    graph_kernel = GraphKernel(graph, kernel, smoothness, **parameters)
    rows = sources_or_all(graph, nodes, "nodes")
    return KernelRows(graph, rows, checked_dtype(dtype), kernel=graph_kernel, epsilon=epsilon, top_k=top_k)


@overload
def kernel_matrix(
    G: Any,
    nodes: Iterable[Hashable] | None = ...,
    kernel: str = ...,
    smoothness: float | None = ...,
    *,
    epsilon: float = ...,
    exact: Literal[False] = ...,
    top_k: int | None = ...,
    n_jobs: int | None = ...,
    dtype: Any = ...,
    out: None = ...,
    rows_per_shard: int | None = ...,
    weight: str | None = ...,
    progress: bool = ...,
    **parameters: Unpack[KernelParameters],
) -> sparse.csr_array: ...
@overload
def kernel_matrix(
    G: Any,
    nodes: Iterable[Hashable] | None = ...,
    kernel: str = ...,
    smoothness: float | None = ...,
    *,
    epsilon: float = ...,
    exact: Literal[False] = ...,
    top_k: int | None = ...,
    n_jobs: int | None = ...,
    dtype: Any = ...,
    out: str | os.PathLike[str],
    rows_per_shard: int | None = ...,
    weight: str | None = ...,
    progress: bool = ...,
    **parameters: Unpack[KernelParameters],
) -> SavedMatrix: ...
@overload
def kernel_matrix(
    G: Any,
    nodes: Iterable[Hashable] | None = ...,
    kernel: str = ...,
    smoothness: float | None = ...,
    *,
    epsilon: float = ...,
    exact: Literal[True],
    top_k: int | None = ...,
    n_jobs: int | None = ...,
    dtype: Any = ...,
    out: None = ...,
    rows_per_shard: int | None = ...,
    weight: str | None = ...,
    progress: bool = ...,
    **parameters: Unpack[KernelParameters],
) -> NDArray[np.float64]: ...
@planned_by(plan_rows)
@dispatchable
def kernel_matrix(
    G: Any,
    nodes: Iterable[Hashable] | None = None,
    kernel: str = "normalized-laplacian",
    smoothness: float | None = None,
    *,
    epsilon: float = 1e-6,
    exact: bool = False,
    top_k: int | None = None,
    n_jobs: int | None = None,
    dtype: Any = "float64",
    out: str | os.PathLike[str] | None = None,
    rows_per_shard: int | None = None,
    weight: str | None = "weight",
    progress: bool = False,
    **parameters: Unpack[KernelParameters],
) -> sparse.csr_array | SavedMatrix | NDArray[np.float64]:
    """Rows of the kernel matrix ``M = inv(inv(K) / (2 lam) + I / (2 n))``, by local pushes or exactly.

    Parameters
    ----------
    G : nx.Graph, scipy sparse array, CSRGraph or DynamicGraph
        Undirected: of a directed one, pass `CSRGraph.without_arrows`. The conversion of an nx.Graph is kept for later
        calls: see `CSRGraph.from_networkx`.
    nodes : iterable of nodes, optional
        The nodes whose rows to compute, by default all.
    kernel, smoothness, epsilon
        As for `kernel_column`.
    exact : bool, default False
        Factorise the dense matrix instead: O(n^3) time and O(n^2) memory, for up to 20,000 nodes.
    top_k : int, optional
        Keep only the k largest values of each row; of equal ones, those that come first in ``list(G)``. Not with
        `exact`.
    n_jobs, dtype, out, rows_per_shard : optional
        As for `ppr_matrix`. With `exact`, `n_jobs` makes no difference, and `out` and `rows_per_shard` are an error.
    weight : str or None, default "weight"
        The edge attribute that holds the weight, 1 where it is missing. None ignores weights.
    progress : bool, default False
        Show a progress bar (needs tqdm).
    lam, beta, b, S : optional
        As for `kernel_column`.

    Returns
    -------
    scipy.sparse.csr_array, SavedMatrix or numpy.ndarray
        Dense where `exact`, else sparse; with `out`, what `open_matrix` gives for the folder. Row i belongs to
        ``nodes[i]``; columns follow ``list(G)``, and ascend in each row. M is symmetric, so its rows are its columns;
        for pushed rows this holds up to their error. Only the values reached are stored; rows of
        ``"augmented-laplacian"`` are full.

    Raises
    ------
    networkx.NodeNotFound
        If a node, or one of `S`, is not in the graph.
    networkx.NetworkXNotImplemented
        If `G` is directed.
    networkx.NetworkXPointlessConcept
        If `G` has no nodes.
    TypeError, ValueError
        If the kernel is unknown, a parameter is not one of its own, of the wrong type or out of range, the graph is
        too large for `exact`, or the folder `out` holds rows of another graph, other nodes or other parameters.
    OSError
        If the folder cannot be written.
    ImportError
        If `progress` is asked for and tqdm is not installed.

    See Also
    --------
    kernel_column
    shards : The tasks of which a job with `out` consists, for a batch queue.
    open_matrix

    Examples
    --------
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> G = nx.karate_club_graph()
    >>> M = fo.kernel_matrix(G, exact=True)
    >>> M.shape
    (34, 34)
    >>> bool(abs(fo.kernel_matrix(G, [0, 33], epsilon=1e-9) - M[[0, 33]]).max() < 1e-6)
    True
    """
    check_jobs("n_jobs", n_jobs)
    if exact:
        _check_exact(top_k=top_k, out=out, rows_per_shard=rows_per_shard)
        check_positive("epsilon", epsilon)
        graph = as_csr_graph(G, weight)
        rows = rows_of(graph, nodes, "nodes")
        matrix = GraphKernel(graph, kernel, smoothness, **parameters).exact().astype(checked_dtype(dtype), copy=False)
        return matrix if nodes is None else matrix[np.asarray(rows, dtype=np.intp)]
    planned = plan_rows(
        G, nodes, kernel, smoothness, epsilon=epsilon, top_k=top_k, dtype=dtype, weight=weight, **parameters
    )
    return computed(planned, out, rows_per_shard, n_jobs, progress)


def _check_exact(**options: Any) -> None:
    for name, value in options.items():
        if value is not None:
            raise ValueError(
                f"with exact=True rows are dense and in memory, and {name} has no meaning: got {shortened(value)}"
            )
