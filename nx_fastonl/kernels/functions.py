"""Columns of the six kernels: kernel_column."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.checks import check_positive
from nx_fastonl._lib.html import record_view
from nx_fastonl.graph._dicts import dict_from_arrays
from nx_fastonl.graph.convert import as_row_graph
from nx_fastonl.graph.vectors import dense_vector
from nx_fastonl.kernels.graph_kernel import GraphKernel
from nx_fastonl.kernels.table import KernelParameters
from nx_fastonl.nxapi.dispatch import dispatchable

__all__ = ["KernelInfo", "kernel_column"]


@dataclass(frozen=True)
class KernelInfo:
    """Statistics of one call of `kernel_column`.

    Attributes
    ----------
    error : float
        No value is off by more than this.
    elsewhere : float
        The value of the nodes that are not in the column: 0, except for ``"augmented-laplacian"``, whose columns are
        dense.
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

    def _repr_html_(self) -> str | None:
        return record_view(self)


@overload
def kernel_column(
    G: Any,
    node: Hashable,
    kernel: str = ...,
    smoothness: float | None = ...,
    *,
    epsilon: float = ...,
    weight: str | None = ...,
    as_array: Literal[False] = ...,
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
    as_array: Literal[False] = ...,
    full_output: Literal[True],
    **parameters: Unpack[KernelParameters],
) -> tuple[dict[Any, float], KernelInfo]: ...
@overload
def kernel_column(
    G: Any,
    node: Hashable,
    kernel: str = ...,
    smoothness: float | None = ...,
    *,
    epsilon: float = ...,
    weight: str | None = ...,
    as_array: Literal[True],
    full_output: Literal[False] = ...,
    **parameters: Unpack[KernelParameters],
) -> NDArray[np.float64]: ...
@overload
def kernel_column(
    G: Any,
    node: Hashable,
    kernel: str = ...,
    smoothness: float | None = ...,
    *,
    epsilon: float = ...,
    weight: str | None = ...,
    as_array: Literal[True],
    full_output: Literal[True],
    **parameters: Unpack[KernelParameters],
) -> tuple[NDArray[np.float64], KernelInfo]: ...
@dispatchable
def kernel_column(
    G: Any,
    node: Hashable,
    kernel: str = "normalized-laplacian",
    smoothness: float | None = None,
    *,
    epsilon: float = 1e-6,
    weight: str | None = "weight",
    as_array: bool = False,
    full_output: bool = False,
    **parameters: Unpack[KernelParameters],
) -> dict[Any, float] | NDArray[np.float64] | tuple[dict[Any, float] | NDArray[np.float64], KernelInfo]:
    """How close the nodes around `node` are to it: its column of ``M = inv(inv(K) / (2 lam) + I / (2 n))``.

    Parameters
    ----------
    G : nx.Graph, scipy sparse array, CSRGraph or DynamicGraph
        Undirected: of a directed one, pass `CSRGraph.without_arrows`. The conversion of an nx.Graph is kept for later
        calls: see `CSRGraph.from_networkx`.
    node : node
        The node whose column to compute.
    kernel : str, default "normalized-laplacian"
        With L = D - W, and ``"K1"`` to ``"K6"`` as other names:

        - ``"laplacian"``: inv(K) = L
        - ``"normalized-laplacian"``: D^-1/2 L D^-1/2
        - ``"normalized-adjacency"``: I - beta D^-1/2 W D^-1/2
        - ``"scaled-laplacian"``: beta I + S^-1/2 L S^-1/2
        - ``"scaled-regularized"``: S^-1/2 (beta I + L) S^-1/2
        - ``"augmented-laplacian"``: L + b 11^T + beta I
    smoothness : float, optional
        lam / n, between 1e-9 and 1e9, by default 0.15. With a larger value, labels are expected to change more often
        along edges, and less is learned from far away. Two kernels differ, unless `beta` is given:
        ``"normalized-adjacency"``, whose `beta` grows with it, learns more from far away; ``"scaled-laplacian"``, whose
        `beta` falls with it, changes little.
    epsilon : float, default 1e-6
        A node is pushed only while its residual exceeds this, per neighbour; times c for ``"laplacian"`` and
        ``"augmented-laplacian"``, where c is lam / n or beta + lam / n. A smaller value is more accurate and reaches
        further.
    weight : str or None, default "weight"
        The edge attribute that holds the weight, 1 where it is missing. None ignores weights.
    as_array : bool, default False
        Return an array of the values of all nodes, in the order of ``list(G)``, instead of a dict.
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
    column : dict or numpy.ndarray
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
    graph = as_row_graph(G, weight, in_order=as_array)
    with graph.reading():
        epsilon = check_positive("epsilon", epsilon)
        graph_kernel = GraphKernel(graph, kernel, smoothness, **parameters)
        u = graph.index(node)
        result = graph_kernel.push(u, epsilon)
        nodes, values = graph_kernel.column(u, result)
        column: dict[Any, float] | NDArray[np.float64]
        if as_array:
            column = dense_vector(graph, nodes, values) - graph_kernel.g
        else:
            column = dict_from_arrays(graph.nodes, nodes, values - graph_kernel.g, zeros=True)
        if not full_output:
            return column
        work = (result.operations, result.pushes, result.epochs)
        return column, KernelInfo(graph_kernel.column_error(u, result), 0.0 - graph_kernel.g, *work)
