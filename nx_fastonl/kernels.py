"""The six graph kernels on a graph, as one linear system: their columns, matrices and traces."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, Unpack, overload

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from nx_fastonl._batch import rows_of, stack_rows
from nx_fastonl._checks import check_between, check_jobs, check_positive
from nx_fastonl._convert import dict_from_arrays
from nx_fastonl._dispatch import dispatchable
from nx_fastonl._kernel_table import KERNELS, SMOOTHNESS_RANGE, KernelParameters, checked_parameters, full_name
from nx_fastonl.graph import CSRGraph, as_csr_graph
from nx_fastonl.push import NEVER_CANCELLED, PushResult, System, diagonal_entries, local_push

__all__ = ["GraphKernel", "KernelInfo", "kernel_column", "kernel_matrix"]

S_RANGE = (1e-18, 1e18)
# The largest graph whose exact matrix is computed: 3.2 GB.
MOST_EXACT_NODES = 20_000
# What floating point adds to a residual, as a part of what went in and out.
ROUNDING = 1e-15
# A trace is estimated from as many columns, each pushed until a neighbour of the source holds at most this part of
# what the source started with.
TRACE_SAMPLES = 200
TRACE_ACCURACY = 0.01


class GraphKernel:
    """One of the six kernels on one graph: ``M = a diag(s) inv(H) diag(s) - g`` with ``H = diag(c) + L``.

    Parameters
    ----------
    graph : CSRGraph
        Undirected.
    name : str
        One of `KERNELS`, or ``"K1"`` to ``"K6"``.
    smoothness, lam, beta, b, S
        See `kernel_column`.

    Attributes
    ----------
    name : str
    lam, beta, b, a, g : float
    system : System
        H, as the push takes it.

    Examples
    --------
    >>> import networkx as nx
    >>> from nx_fastonl import CSRGraph
    >>> from nx_fastonl.kernels import GraphKernel
    >>> kernel = GraphKernel(CSRGraph.from_networkx(nx.path_graph(4)), "K1", smoothness=0.5)
    >>> kernel.name, kernel.lam, kernel.a, kernel.c([0]).tolist()
    ('laplacian', 2.0, 4.0, [0.5])
    """

    def __init__(
        self,
        graph: CSRGraph,
        name: str = "normalized-laplacian",
        smoothness: float | None = None,
        **parameters: Unpack[KernelParameters],
    ) -> None:
        if graph.is_directed():
            raise nx.NetworkXNotImplemented(
                "kernels and labelling need an undirected graph: G.to_undirected(), or A + A.T of a matrix"
            )
        self.graph = graph
        self.name = full_name(name)
        recipe = KERNELS[self.name]
        p = checked_parameters(len(graph), self.name, smoothness, parameters)
        S = parameters.get("S")
        self.lam, self.beta, self.b = p.lam, p.beta, p.b if "b" in recipe.takes else 0.0
        form = recipe.form(p)
        self.a, self.g = form.a, form.g
        self._form = form
        self._ones = recipe.diagonal == "ones"
        self._S = None if S is None else _diagonal(graph, S)
        if self._S is not None:
            pivots = form.shift + form.slope * self._S + graph.degrees
            self.system = System(0.0, 1.0, pivots, float((graph.degrees / pivots).max()))
        elif self._ones:
            self.system = System(form.shift + form.slope, 1.0)
        else:
            self.system = System(form.shift, 1.0 + form.slope)
        self._check_conditioning()
        self._isolated_S = (form.shift or 1.0) * 2 * p.lam / (form.a * (p.smoothness + form.isolated))

    def _check_conditioning(self) -> None:
        """Refuse what no push would finish and rounding would spoil: c next to nothing beside the degree."""
        if self._S is not None:
            rows = np.arange(len(self.graph))
            u = int((self.c(rows) / np.maximum(self.graph.degrees, 1e-300)).argmin())
        elif self._ones:
            u = int(self.graph.degrees.argmax())
        else:
            return  # c / D is at least the smoothness
        c, degree = float(self.c([u])[0]), float(self.graph.degrees[u])
        if c < SMOOTHNESS_RANGE[0] * degree:
            raise ValueError(
                f"kernel {self.name!r} adds c = {c:g} to the degree {degree:g} of node {self.graph.nodes[u]!r}, which "
                f"must be at least {SMOOTHNESS_RANGE[0]:g} of it: give a larger smoothness, or scale the weights down"
            )

    def squared_s(self, rows: Any) -> NDArray[np.float64]:
        """The diagonal S, the square of `s`, at these rows.

        A node without edges has ``D^-1/2 = 0`` where S = D; what stands here in its place makes its entry of M right.
        """
        if self._S is not None:
            return np.asarray(self._S[rows])
        degrees = self.graph.degrees[rows]
        if self._ones:
            return np.ones_like(degrees)
        return np.where(degrees > 0.0, degrees, self._isolated_S)

    def s(self, rows: Any) -> NDArray[np.float64]:
        """The scaling ``s`` at these rows."""
        return np.sqrt(self.squared_s(rows))

    def s_of(self, u: int) -> float:
        """The scaling `s` at one row, sooner."""
        if self._S is not None:
            return math.sqrt(self._S[u])
        degree = 1.0 if self._ones else self.graph.degrees[u]
        return math.sqrt(degree) if degree > 0.0 else math.sqrt(self._isolated_S)

    def c(self, rows: Any) -> NDArray[np.float64]:
        """The diagonal ``c`` at these rows: what H has beyond the Laplacian."""
        if self._ones or self._S is not None:
            return self._form.shift + self._form.slope * self.squared_s(rows)
        degrees = self.graph.degrees[rows]
        return np.where(degrees > 0.0, self._form.shift + self._form.slope * degrees, self._form.shift or 1.0)

    def limit(self, epsilon: float) -> float:
        """The residual per neighbour below which a node rests.

        In the paper a residual starts at 1, but at 1 / c for the kernels without a scaling.
        """
        return epsilon * (self._form.shift + self._form.slope) if self._ones else epsilon

    @property
    def largest_s(self) -> float:
        """The largest `s` of all nodes, or a little more where some node has no edges."""
        if self._ones:
            return 1.0
        if self._S is not None:
            return math.sqrt(self._S.max())
        largest = self.graph.largest_degree
        return math.sqrt(max(largest, self._isolated_S) if self.graph.has_dead_ends else largest)

    def push(self, u: int, epsilon: float, cancelled: NDArray[np.uint8] = NEVER_CANCELLED) -> PushResult:
        """Push from `u`, at least once, for column u of M."""
        neighbours = int(self.graph.indptr[u + 1] - self.graph.indptr[u])
        limit = min(self.limit(epsilon), 1.0 / max(neighbours, 1))
        return local_push(self.graph, [u], [1.0], self.system, limit, cancelled=cancelled)

    def column(self, u: int, result: PushResult) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Column u of ``M + g`` at the nodes that a push from u pushed."""
        nodes, estimate = result.pushed()
        return nodes, self.a * float(self.s(u)) * self.s(nodes) * estimate

    def column_error(self, u: int, result: PushResult) -> float:
        """How far any entry of a pushed column can be off: ``|r| <= e c`` gives ``|z* - z| <= e``, as ``H 1 = c``."""
        nodes = result.nodes
        residual, rounding = self.residual(u, nodes, result.estimate)
        off = float(((np.abs(residual) + rounding) / self.c(nodes)).max(initial=0.0))
        return self.a * float(self.s(u)) * self.largest_s * off

    def residual(
        self, u: int, nodes: NDArray[np.int32], estimate: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """``e_u - H estimate`` at these nodes, neighbours of all that have an estimate; and its rounding errors.

        Worked out anew from the estimate: the residual that was pushed around has rounding errors in it.
        """
        graph = self.graph
        where = np.flatnonzero(estimate)
        pushed = nodes[where]
        counts = graph.indptr[pushed + 1] - graph.indptr[pushed]
        first = np.cumsum(counts) - counts  # of each row, among all edges walked
        edges = np.arange(counts.sum()) + np.repeat(graph.indptr[pushed] - first, counts)
        shares = np.repeat(estimate[where], counts)
        if graph.weights is not None:
            shares = shares * graph.weights[edges]
        position = np.empty(len(graph), dtype=np.intp)  # memory is committed only where it is written
        position[nodes] = np.arange(len(nodes))
        at = position[graph.indices[edges]]
        received = np.bincount(at, shares, len(nodes))
        size = np.bincount(at, np.abs(shares), len(nodes))
        settled = (self.c(nodes) + graph.degrees[nodes]) * estimate
        residual = (nodes == u) + received - settled
        return np.asarray(residual), np.asarray(ROUNDING * (size + np.abs(settled)), dtype=np.float64)

    def exact(self) -> NDArray[np.float64]:
        """The whole of M by a dense factorisation; refused for graphs beyond `MOST_EXACT_NODES`."""
        n = len(self.graph)
        if n > MOST_EXACT_NODES:
            raise ValueError(
                f"the exact kernel of {n:,} nodes takes {8 * n**2 / 1e9:.1f} GB and O(n^3) time; "
                f"it is computed for up to {MOST_EXACT_NODES:,} nodes. Pushes work on any graph: kernel_column, "
                'kernel_matrix with exact=False, method="fastonl" with trace="estimate"'
            )
        rows = np.arange(n)
        H = np.asfortranarray(-self.graph.to_scipy().toarray())
        H[rows, rows] += self.c(rows) + self.graph.degrees
        factor, lower = linalg.cho_factor(H, lower=True, overwrite_a=True, check_finite=False)
        inverse, info = linalg.lapack.dpotri(factor, lower=lower, overwrite_c=True)
        if info != 0:
            raise np.linalg.LinAlgError(f"the kernel matrix is singular to working precision (LAPACK info {info})")
        above = np.triu_indices(n, 1)
        inverse[above] = inverse.T[above]
        s = self.s(rows)
        inverse *= self.a
        inverse *= s
        inverse *= s[:, None]
        inverse -= self.g
        return np.ascontiguousarray(inverse.T)  # symmetric, and rows are what is read

    def exact_trace(self) -> float:
        """The trace of M, for graphs up to `MOST_EXACT_NODES`."""
        return float(np.trace(self.exact()))

    def estimated_trace(self) -> float:
        """The trace of M from a sample of its diagonal, the same sample on every call.

        With ``H z + r = e_u`` an entry of the diagonal of inv(H) is ``z_u + r z + r inv(H) r``. The last term is at
        least ``(sum of r)^2 / k``, k being the sum of c over the component of u, and at least ``r r / pivot``; the sum
        of both stands for it here. The part ``1 / k`` that all entries have in common is summed exactly, the rest from
        nodes drawn by ``S / (c + D)``.
        """
        graph = self.graph
        rows = np.arange(len(graph))
        S, c = self.squared_s(rows), self.c(rows)
        pivots = c + graph.degrees
        common = 1.0 / np.bincount(graph.components, c)[graph.components]
        shares = S / pivots
        sample = np.random.default_rng(0).choice(len(rows), TRACE_SAMPLES, p=shares / shares.sum())
        neighbours = np.maximum(graph.indptr[sample + 1] - graph.indptr[sample], 1)
        rows_drawn = sample.astype(np.int32)
        own, left = diagonal_entries(graph, rows_drawn, self.system, TRACE_ACCURACY / neighbours)
        beyond = float(np.maximum(own + common[sample] * (left**2 - 1.0), 0.0) @ pivots[sample])
        total = float(S @ common) + float(shares.sum()) * beyond / TRACE_SAMPLES
        return self.a * total - len(rows) * self.g


@dataclass(frozen=True)
class KernelInfo:
    """How a `kernel_column` went.

    Attributes
    ----------
    error : float
        No value is off by more than this.
    elsewhere : float
        The value of the nodes that are not in the column: 0, but for ``"augmented-laplacian"``, which is dense.
    operations, pushes, epochs : int
        Edges walked, nodes pushed, and passes over the active nodes.

    Examples
    --------
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> column, info = fo.kernel_column(nx.path_graph(100), 0, full_output=True)
    >>> len(column) < 100, info.elsewhere, info.error < 1e-3
    (True, 0.0, True)
    """

    error: float
    elsewhere: float
    operations: int
    pushes: int
    epochs: int


@overload
def kernel_column(
    G: Any,
    node: Hashable,
    kernel: str = ...,
    smoothness: float | None = ...,
    *,
    epsilon: float = ...,
    weight: str | None = ...,
    full_output: Literal[False] = ...,
    **parameters: Unpack[KernelParameters],
) -> dict[Any, float]: ...
@overload
def kernel_column(
    G: Any,
    node: Hashable,
    kernel: str = ...,
    smoothness: float | None = ...,
    *,
    epsilon: float = ...,
    weight: str | None = ...,
    full_output: Literal[True],
    **parameters: Unpack[KernelParameters],
) -> tuple[dict[Any, float], KernelInfo]: ...
@dispatchable
def kernel_column(
    G: Any,
    node: Hashable,
    kernel: str = "normalized-laplacian",
    smoothness: float | None = None,
    *,
    epsilon: float = 1e-6,
    weight: str | None = "weight",
    full_output: bool = False,
    **parameters: Unpack[KernelParameters],
) -> dict[Any, float] | tuple[dict[Any, float], KernelInfo]:
    """How close the nodes around `node` are to it: its column of ``M = inv(inv(K) / (2 lam) + I / (2 n))``.

    Parameters
    ----------
    G : nx.Graph, scipy sparse array or CSRGraph
        Undirected. The conversion of an nx.Graph is kept: see `CSRGraph.from_networkx`.
    node : node
        Whose column to compute.
    kernel : str, default "normalized-laplacian"
        With L = D - W, and ``"K1"`` to ``"K6"`` as other names:

        - ``"laplacian"``: inv(K) = L
        - ``"normalized-laplacian"``: D^-1/2 L D^-1/2
        - ``"normalized-adjacency"``: I - beta D^-1/2 W D^-1/2
        - ``"scaled-laplacian"``: beta I + S^-1/2 L S^-1/2
        - ``"scaled-regularized"``: S^-1/2 (beta I + L) S^-1/2
        - ``"augmented-laplacian"``: L + b 11^T + beta I
    smoothness : float, optional
        lam / n, between 1e-9 and 1e9, by default 0.15. Larger means that labels are expected to change more often
        along edges, and that less is learned from far away; but for ``"normalized-adjacency"``, whose `beta` grows
        with it unless given, that more is, and ``"scaled-laplacian"``, whose `beta` makes up for it.
    epsilon : float, default 1e-6
        The residual per neighbour below which a node rests, times c for ``"laplacian"`` and ``"augmented-laplacian"``,
        where c is lam / n or beta + lam / n. Smaller is more accurate and reaches further.
    weight : str or None, default "weight"
        The edge attribute that holds the weight, 1 where it is missing. None ignores weights.
    full_output : bool, default False
        Also return a `KernelInfo`: the error bound and the work done.
    lam : float, optional
        The absolute value, instead of `smoothness`.
    beta : float, optional
        For ``"normalized-adjacency"`` between 0 and 1 + lam / n, by default lam / n. For ``"scaled-laplacian"`` at
        least 0, by default 1 - lam / n; for the last two kernels at least 0, by default lam / n.
    b : float, optional
        For ``"augmented-laplacian"``, at least 0, by default 1 / n.
    S : dict, array or number, optional
        For the two scaled kernels: a positive diagonal, as ``{node: value}``, in the order of the nodes, or the same
        for all; by default the degrees.

    Returns
    -------
    column : dict
        ``{node: value}`` of the nodes reached. Every other node has 0; for ``"augmented-laplacian"``, whose columns
        are dense, the constant ``info.elsewhere``.
    info : KernelInfo
        With ``full_output=True`` only.

    Raises
    ------
    networkx.NodeNotFound
        If `node`, or a node of `S`, is not in the graph.
    networkx.NetworkXNotImplemented
        If `G` is directed.
    networkx.NetworkXPointlessConcept
        If `G` has no nodes.
    TypeError, ValueError
        If the kernel is unknown, or a parameter is not one of its own, of the wrong type or out of range.

    See Also
    --------
    kernel_matrix

    Notes
    -----
    Where S or D has a 0, which only a node without edges can have, its power -1/2 counts as 0.

    References
    ----------
    B. Zhou, Y. Sun, R. Babanezhad, "Fast Online Node Labeling for Very Large Graphs", ICML 2023, Table 1.

    Examples
    --------
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> column, info = fo.kernel_column(nx.path_graph(5), 0, smoothness=0.5, full_output=True)
    >>> {node: round(value, 3) for node, value in column.items()}
    {0: 4.476, 1: 2.424, 2: 0.943, 3: 0.404, 4: 0.19}
    >>> info.error < 1e-4
    True
    """
    graph = as_csr_graph(G, weight)
    epsilon = check_positive("epsilon", epsilon)
    on_graph = GraphKernel(graph, kernel, smoothness, **parameters)
    u = graph.index(node)
    result = on_graph.push(u, epsilon)
    nodes, values = on_graph.column(u, result)
    column = dict_from_arrays(graph.nodes, nodes, values - on_graph.g)
    if not full_output:
        return column
    work = (result.operations, result.pushes, result.epochs)
    return column, KernelInfo(on_graph.column_error(u, result), 0.0 - on_graph.g, *work)


@overload
def kernel_matrix(
    G: Any,
    nodes: Iterable[Hashable] | None = ...,
    kernel: str = ...,
    smoothness: float | None = ...,
    *,
    epsilon: float = ...,
    exact: Literal[False] = ...,
    n_jobs: int | None = ...,
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
    exact: Literal[True],
    n_jobs: int | None = ...,
    weight: str | None = ...,
    progress: bool = ...,
    **parameters: Unpack[KernelParameters],
) -> NDArray[np.float64]: ...
@dispatchable
def kernel_matrix(
    G: Any,
    nodes: Iterable[Hashable] | None = None,
    kernel: str = "normalized-laplacian",
    smoothness: float | None = None,
    *,
    epsilon: float = 1e-6,
    exact: bool = False,
    n_jobs: int | None = None,
    weight: str | None = "weight",
    progress: bool = False,
    **parameters: Unpack[KernelParameters],
) -> sparse.csr_array | NDArray[np.float64]:
    """Rows of the kernel matrix ``M = inv(inv(K) / (2 lam) + I / (2 n))``, by local pushes or exactly.

    Parameters
    ----------
    G : nx.Graph, scipy sparse array or CSRGraph
        Undirected. The conversion of an nx.Graph is kept: see `CSRGraph.from_networkx`.
    nodes : iterable of nodes, optional
        Whose rows to compute, by default those of every node.
    kernel, smoothness, epsilon
        As for `kernel_column`.
    exact : bool, default False
        Factorise the dense matrix instead: O(n^3) time and O(n^2) memory, for up to 20,000 nodes.
    n_jobs : int, optional
        Threads to push with, by default 1; -1 for one on each core. The result does not depend on it.
    weight : str or None, default "weight"
        The edge attribute that holds the weight, 1 where it is missing. None ignores weights.
    progress : bool, default False
        Show a progress bar (needs tqdm).
    lam, beta, b, S : optional
        As for `kernel_column`.

    Returns
    -------
    scipy.sparse.csr_array or numpy.ndarray
        Dense where `exact`, else sparse. Row i belongs to ``nodes[i]``; columns follow ``list(G)``. M is symmetric, so
        rows are columns; pushed rows are so up to their error. Memory is that of the values reached; rows of
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
        If the kernel is unknown, a parameter is not one of its own, of the wrong type or out of range, or the graph is
        too large for `exact`.
    ImportError
        If `progress` is asked for and tqdm is not installed.

    See Also
    --------
    kernel_column

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
    graph = as_csr_graph(G, weight)
    epsilon = check_positive("epsilon", epsilon)
    check_jobs("n_jobs", n_jobs)
    on_graph = GraphKernel(graph, kernel, smoothness, **parameters)
    rows = rows_of(graph, nodes, "nodes")
    if exact:
        matrix = on_graph.exact()
        return matrix if nodes is None else matrix[np.asarray(rows, dtype=np.intp)]

    def row(u: int, cancelled: NDArray[np.uint8]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        columns, values = on_graph.column(u, on_graph.push(u, epsilon, cancelled))
        if on_graph.g != 0.0:
            full = np.full(len(graph), -on_graph.g)
            full[columns] += values
            return np.arange(len(graph), dtype=np.int32), full
        order = np.argsort(columns)
        return columns[order], values[order]

    return stack_rows(row, rows, len(graph), n_jobs, progress)


def _diagonal(graph: CSRGraph, S: Any) -> NDArray[np.float64]:
    """S as an array in the order of the nodes."""
    if hasattr(S, "items"):
        values = np.full(len(graph), np.nan)
        for node, value in S.items():
            check_between(f"S at node {node!r}", value, *S_RANGE)
            values[graph.index(node)] = value
        if np.isnan(values).any():
            missing = graph.nodes[int(np.isnan(values).argmax())]
            raise ValueError(f"S must have a positive value for every node; that of {missing!r} is missing")
    else:
        try:
            values = np.asarray(S)
        except ValueError:
            values = np.asarray(None)
        if values.dtype.kind not in "iuf" or values.shape not in ((), (len(graph),)):
            got = f"{values.dtype} of shape {values.shape}"
            raise ValueError(f"S must be a number, a dict or an array of {len(graph)} numbers, got {got}")
        values = np.array(np.broadcast_to(values, len(graph)), dtype=np.float64)
    bad = ~((values >= S_RANGE[0]) & (values <= S_RANGE[1]))
    if bad.any():
        u = int(bad.argmax())
        check_between(f"S at node {graph.nodes[u]!r}", float(values[u]), *S_RANGE)
    return values
