"""One of the six kernels on one graph, as a linear system: its columns, matrix and trace."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, Unpack

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from nx_fastonl._lib.checks import check_between
from nx_fastonl._lib.limits import S_RANGE, SINGLE_DEGREES, SINGLE_FRACTION, SMALLEST_C
from nx_fastonl._lib.threads import one_blas_thread
from nx_fastonl.graph.base import RowGraph
from nx_fastonl.kernels._scaling import Scaling
from nx_fastonl.kernels.table import KERNELS, KernelParameters, checked_parameters, full_name
from nx_fastonl.push import _push
from nx_fastonl.push._workspace import Workspace
from nx_fastonl.push.local import NEVER_CANCELLED, PushResult, diagonal_entries, push_or_solve
from nx_fastonl.push.system import LinearSystem

__all__ = ["GraphKernel"]

# The largest graph whose exact matrix is computed: 3.2 GB.
MAX_EXACT_NODES = 20_000
# The relative rounding error of one operation in double precision is at most this.
UNIT_ROUNDOFF = float(np.finfo(np.float64).eps)
# Scaling an estimate and taking a constant away rounds a few times: at most this, relative to the largest value.
SCALING_ROUNDING = 8.0 * UNIT_ROUNDOFF
# A trace is estimated from this many columns. Each is pushed with an epsilon of TRACE_ACCURACY, divided by the number
# of the source's neighbours.
TRACE_SAMPLES = 200
TRACE_ACCURACY = 0.01


class GraphKernel:
    """One of the six kernels on one graph: ``M = a diag(s) inv(H) diag(s) - g`` with ``H = diag(c) + L``.

    Parameters
    ----------
    graph : RowGraph
        Undirected.
    name : str
        One of `KERNELS`, or ``"K1"`` to ``"K6"``.
    smoothness, lam, beta, b, S
        See `kernel_column`.

    Attributes
    ----------
    name : str
    lam, beta, b, a, g : float
    system : LinearSystem
        H, as the push takes it.

    Examples
    --------
    >>> import networkx as nx
    >>> from nx_fastonl import CSRGraph
    >>> from nx_fastonl.kernels.graph_kernel import GraphKernel
    >>> kernel = GraphKernel(CSRGraph.from_networkx(nx.path_graph(4)), "K1", smoothness=0.5)
    >>> kernel.name, kernel.lam, kernel.a, kernel.c([0]).tolist()
    ('laplacian', 2.0, 4.0, [0.5])
    """

    def __init__(
        self,
        graph: RowGraph,
        name: str = "normalized-laplacian",
        smoothness: float | None = None,
        **parameters: Unpack[KernelParameters],
    ) -> None:
        if graph.is_directed():
            raise nx.NetworkXNotImplemented(
                "kernels are symmetric and need an undirected graph. CSRGraph.from_networkx(G).without_arrows(), or "
                "A + A.T of a matrix, adds up both arcs between two nodes"
            )
        self.graph = graph
        self.name = full_name(name)
        recipe = KERNELS[self.name]
        self.n = max(graph.number_of_nodes(), 1)
        p = checked_parameters(self.n, self.name, smoothness, parameters)
        S = parameters.get("S")
        if graph.can_change and not (S is None or isinstance(S, Real)):
            raise ValueError(
                "S must be a number where the graph can change: later nodes would have none. Pass a number, or leave S "
                "out for the weighted degrees"
            )
        self.lam, self.beta, self.b = p.lam, p.beta, p.b if "b" in recipe.takes else 0.0
        self._smoothness = p.smoothness
        form = recipe.form(p)
        self.a, self.g = form.a, form.g
        self._form = form
        self._ones = recipe.diagonal == "ones"
        # S where it is the same for all nodes; otherwise an array, or the degrees.
        self._constant_S: float | None = 1.0 if self._ones else None
        self._S: NDArray[np.float64] | None = None
        if isinstance(S, Real) and not isinstance(S, bool):
            check_between("S", S, *S_RANGE)
            self._constant_S = float(S)
        elif S is not None:
            self._S = _diagonal(graph, S)
        self._given = self.name, smoothness, KernelParameters({**parameters, "S": S if self._S is None else self._S})
        if self._S is not None:
            pivots = form.shift + form.slope * self._S + graph.degrees
            self.system = LinearSystem(graph, 0.0, 1.0, pivots, float((graph.degrees / pivots).max()))
        elif self._constant_S is not None:
            self.system = LinearSystem(graph, form.shift + form.slope * self._constant_S, 1.0)
        else:
            self.system = LinearSystem(graph, form.shift, 1.0 + form.slope)
        self._seen = graph.view, graph.number_of_nodes(), graph.largest_degree
        self._check_conditioning()
        # Used where S is not given.
        self._isolated_S = 1.0
        if self._S is None and self._constant_S is None:
            self._isolated_S = (form.shift or 1.0) * 2 * p.lam / (form.a * (p.smoothness + form.isolated))

    def __reduce__(self) -> tuple[Any, ...]:
        # What was given is checked again. No push would end where c, which follows from it, was damaged.
        return restored, (self.graph, *self._given)

    def renewed(self) -> GraphKernel:
        """The same kernel on the graph as it is now: this one, if its arrays and its size are still right."""
        graph, seen = self.graph, self._seen
        if seen[0] is graph.view and seen[1:] == (graph.number_of_nodes(), graph.largest_degree):
            self.system.__dict__.pop("elimination", None)  # it may know components as they were
            return self
        return restored(graph, *self._given)

    @property
    def plain_parameters(self) -> dict[str, Any]:
        """What was given, or else its default, as JSON has it; an `S` that is an array is left out."""
        # Whichever of lam and smoothness follows from the other is rounded.
        given = (
            {"lam": self.lam, "smoothness": None} if self.follows_n else {"lam": None, "smoothness": self._smoothness}
        )
        takes = {"beta": self.beta, "b": self.b, "S": self._constant_S}
        own = {name: takes[name] for name in KERNELS[self.name].takes if name != "S" or self._S is None}
        return {"kernel": self.name, **given, **own}

    @property
    def given_diagonal(self) -> NDArray[np.float64] | None:
        """S at all nodes, if it was given for each of them."""
        return self._S

    @property
    def follows_n(self) -> bool:
        """Whether c depends on the number of nodes: where lam was given, and not lam / n."""
        return self._given[2].get("lam") is not None

    def _check_conditioning(self) -> None:
        """Raise if c is so small beside a degree that no push would end and rounding would spoil the result."""
        if self._S is not None:
            rows = np.arange(len(self.graph))
            u = int((self.graph.degrees / self.c(rows)).argmax())
        elif self._constant_S is None:
            return  # c / D is at least the smoothness
        elif self._form.shift + self._form.slope * self._constant_S >= SMALLEST_C * self.graph.largest_degree:
            return
        else:
            u = int(self.graph.degrees.argmax())
        c, degree = float(self.c([u])[0]), float(self.graph.degrees[u])
        if c < SMALLEST_C * degree:
            raise ValueError(
                f"kernel {self.name!r} adds c = {c:g} to the degree {degree:g} of node {self.graph.nodes[u]!r}, which "
                f"must be at least {SMALLEST_C:g} of it: give a larger smoothness, or scale the weights down"
            )

    def check_single_precision(self, rows: NDArray[np.int32] | None = None) -> None:
        """Raise if 32 bits are too few for the degrees of these rows, by default all, or for c beside them."""
        rows = np.arange(len(self.graph), dtype=np.int32) if rows is None else rows
        rows = rows[self.graph.degrees[rows] > 0.0]
        if len(rows) == 0:
            return
        degrees = self.graph.degrees[rows]
        smallest, largest = SINGLE_DEGREES
        if not smallest <= degrees.min() <= degrees.max() <= largest:
            raise ValueError(
                f'dtype="float32" needs weighted degrees between {smallest:g} and {largest:g}, got {degrees.min():g} '
                f"to {degrees.max():g}: scale the weights, or use float64"
            )
        settled = float((self.c(rows) / degrees).min())
        if settled < SINGLE_FRACTION:
            raise ValueError(
                f'dtype="float32" needs a smoothness with which c, which a kernel adds to weighted degrees, is at '
                f"least {SINGLE_FRACTION:g} of each, got {settled:.2g}: use float64"
            )

    def at_degrees(self, degrees: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The diagonal ``c`` and the scaling ``s`` that nodes of these degrees would have, if they joined the graph."""
        if self._S is not None:
            raise ValueError("S was given for the nodes of the graph, and a node that joins has none")
        return self._c_at(degrees), np.sqrt(self._squared_s_at(degrees))

    def squared_s(self, rows: Any) -> NDArray[np.float64]:
        """The diagonal S, the square of `s`, at these rows.

        A node without edges has ``D^-1/2 = 0`` where S = D; the value used here instead makes its entry of M right.
        """
        if self._S is not None:
            return np.asarray(self._S[rows])
        return self._squared_s_at(self.graph.degrees[rows])

    def _squared_s_at(self, degrees: NDArray[np.float64]) -> NDArray[np.float64]:
        if self._constant_S is not None:
            return np.full_like(degrees, self._constant_S)
        return np.where(degrees > 0.0, degrees, self._isolated_S)

    def s(self, rows: Any) -> NDArray[np.float64]:
        """The scaling ``s`` at these rows."""
        return np.sqrt(self.squared_s(rows))

    @property
    def scaling(self) -> Scaling:
        """What compiled loops see of `s`."""
        return Scaling(self.graph.view, self._isolated_S, self._S, constant=math.sqrt(self._constant_S or 0.0))

    def s_of(self, u: int) -> float:
        """The scaling `s` at one row; faster."""
        if self._S is not None:
            return math.sqrt(self._S[u])
        degree = self.graph.degrees[u] if self._constant_S is None else self._constant_S
        return math.sqrt(degree) if degree > 0.0 else math.sqrt(self._isolated_S)

    def c(self, rows: Any) -> NDArray[np.float64]:
        """The diagonal ``c`` at these rows: what H has beyond the Laplacian."""
        if self._S is not None:
            return self._form.shift + self._form.slope * self.squared_s(rows)
        return self._c_at(self.graph.degrees[rows])

    @property
    def c_of_degree(self) -> tuple[float, float]:
        """Shift and slope of ``c = shift + slope * degree``, where S is not an array. A c of 0 stands for 1."""
        if self._constant_S is not None:
            return self._form.shift + self._form.slope * self._constant_S, 0.0
        return self._form.shift, self._form.slope

    def _c_at(self, degrees: NDArray[np.float64]) -> NDArray[np.float64]:
        shift, slope = self.c_of_degree
        return np.where(degrees > 0.0, shift + slope * degrees, shift or 1.0)

    def push_epsilon(self, epsilon: float) -> float:
        """The epsilon of the push that the paper's `epsilon` stands for.

        In the paper a residual starts at 1, but at 1 / c for the kernels without a scaling.
        """
        return epsilon * (self._form.shift + self._form.slope) if self._ones else epsilon

    @property
    def slowness(self) -> float:
        """How much smaller the paper's thresholds are than for the normalised Laplacian, minus 1; 0 if they are not.

        It is 0 also for kernels with a constant, whose scores are small differences of large numbers.
        """
        c = self._form.shift + self._form.slope
        return max(1.0 / c - 1.0, 0.0) if self._ones and self.g == 0.0 else 0.0

    @property
    def largest_s(self) -> float:
        """The largest `s` of all nodes, or a little more where some node has no edges."""
        if self._constant_S is not None:
            return math.sqrt(self._constant_S)
        if self._S is not None:
            return math.sqrt(self._S.max())
        largest = self.graph.largest_degree
        return math.sqrt(max(largest, self._isolated_S) if self.graph.has_dead_ends else largest)

    def push(self, u: int, epsilon: float, cancelled: NDArray[np.uint8] = NEVER_CANCELLED) -> PushResult:
        """Push from `u`, at least once, for column u of M."""
        neighbours = int(self.graph.neighbor_counts(u))
        epsilon = min(self.push_epsilon(epsilon), 1.0 / max(neighbours, 1))
        return push_or_solve(self.system, [u], [1.0], epsilon, cancelled=cancelled)

    def column(self, u: int, result: PushResult) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Column u of ``M + g`` at the nodes that a push from u pushed."""
        nodes, estimate = result.pushed()
        return nodes, self.a * float(self.s(u)) * self.s(nodes) * estimate

    def column_error(self, u: int, result: PushResult) -> float:
        """The error bound of a pushed column's entries: ``|r| <= e c`` gives ``|z* - z| <= e``, as ``H 1 = c``."""
        c = self.c(result.nodes)
        with self.graph.scratch(Workspace) as workspace:
            residual, rounding = _push.residual(self.system.view, workspace, u, result.nodes, result.estimate, c)
        off = float(((np.abs(residual) + rounding) / c).max(initial=0.0))
        s = float(self.s(u))
        scale = self.a * s * (self.largest_s if self.graph.neighbor_counts(u) > 0 else s)
        largest = scale * float(np.abs(result.estimate).max(initial=0.0)) + self.g
        return scale * off * (1.0 + SCALING_ROUNDING) + SCALING_ROUNDING * largest

    def exact(self) -> NDArray[np.float64]:
        """M by a dense factorisation. Raises for graphs with more than `MAX_EXACT_NODES` nodes."""
        n = self.graph.number_of_nodes()
        if n > MAX_EXACT_NODES:
            raise ValueError(
                f"the exact kernel of {n:,} nodes takes {8 * n**2 / 1e9:.1f} GB and O(n^3) time; "
                f"it is computed for up to {MAX_EXACT_NODES:,} nodes. Pushes work on any graph: kernel_column, "
                'kernel_matrix with exact=False, method="fastonl" with trace="estimate"'
            )
        if n == 0:
            return np.zeros((len(self.graph), len(self.graph)))
        rows = np.sort(np.array(self.graph.node_rows(), dtype=np.int64))
        W = self.graph.whole().shared_matrix
        H = np.asfortranarray(-(W if len(rows) == W.shape[0] else W[rows][:, rows]).toarray())
        each = np.arange(n)
        H[each, each] = 0.0  # a self-loop adds to the degree and takes it away again
        H[each, each] = self.c(rows) - H.sum(axis=1)
        H += self._constant_mode
        with one_blas_thread(n):
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
        if self._constant_mode != 0.0:
            c = float(self.c([0])[0])
            inverse += self.a / n * (1.0 / (c + n * self.b) - 1.0 / (c + n * self._constant_mode))
        if n == len(self.graph):
            return np.ascontiguousarray(inverse.T)  # M is symmetric, and its rows are read later
        M = np.zeros((len(self.graph), len(self.graph)))
        M[np.ix_(rows, rows)] = inverse
        return M

    @property
    def _constant_mode(self) -> float:
        """What is added to all entries of H before it is inverted: as much of b as does not drown the other entries.

        H and M share the constant vector as an eigenvector, so what is left of b adds a constant to M.
        """
        return min(self.b, max(self.graph.largest_degree, float(self.c([0])[0])) / self.n)

    def exact_trace(self) -> float:
        """The trace of M, for graphs up to `MAX_EXACT_NODES`."""
        return float(np.trace(self.exact()))

    def estimated_trace(self) -> float:
        """The trace of M from a sample of its diagonal, the same sample on every call.

        With ``H z + r = e_u`` an entry of the diagonal of inv(H) is ``z_u + r z + r inv(H) r``. The last term is at
        least ``(sum of r)^2 / C``, where C is the sum of c over the component of u, and at least ``r r / pivot``. Here
        the sum of both replaces it. The term ``1 / C``, which all entries have in common, is summed exactly. What the
        entries have beyond it is estimated from nodes drawn with probabilities proportional to ``S / (c + D)``.
        """
        if self.graph.number_of_nodes() == 0:
            return 0.0
        graph = self.graph.whole()
        rows = np.arange(len(graph))
        S, c = self.squared_s(rows), self.c(rows)
        if self.graph.can_change:  # rows that no node has do not count
            others = np.ones(len(rows), dtype=bool)
            others[np.array(self.graph.node_rows(), dtype=np.int64)] = False
            S[others] = 0.0
        pivots = c + graph.degrees
        common = 1.0 / np.bincount(graph.components, c)[graph.components]
        shares = S / pivots
        sample = np.random.default_rng(0).choice(len(rows), TRACE_SAMPLES, p=shares / shares.sum())
        neighbours = np.maximum(graph.neighbor_counts(sample), 1)
        rows_drawn = sample.astype(np.int32)
        own, left = diagonal_entries(self.system, rows_drawn, TRACE_ACCURACY / neighbours)
        beyond = float(np.maximum(own + common[sample] * (left**2 - 1.0), 0.0) @ pivots[sample])
        total = float(S @ common) + float(shares.sum()) * beyond / TRACE_SAMPLES
        return self.a * total - self.n * self.g


def restored(graph: RowGraph, name: str, smoothness: float | None, parameters: KernelParameters) -> GraphKernel:
    """What a pickle or a snapshot holds, checked."""
    return GraphKernel(graph, name, smoothness, **parameters)


def _diagonal(graph: RowGraph, S: Any) -> NDArray[np.float64]:
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
            with np.errstate(over="ignore"):
                values = np.asarray(S)
                values = values.astype(np.float64) if values.dtype.kind == "f" else values
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
