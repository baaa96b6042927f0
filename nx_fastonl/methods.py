"""The methods by name: which learner each is made of, and which options it takes."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._checks import check_positive, check_whole
from nx_fastonl._kernel_table import KernelParameters
from nx_fastonl.baselines import ExactColumns, SeriesColumns, WeightedMajority, WeightedTree
from nx_fastonl.fastonl import FastONL, FifoFastONL, PushColumns
from nx_fastonl.graph import CSRGraph
from nx_fastonl.kernels import GraphKernel
from nx_fastonl.relaxation import ColumnLearner

__all__ = ["Learner", "make_learner"]

Method: TypeAlias = Literal[
    "fastonl", "fastonl-fifo", "relaxation", "approximate", "weighted-majority", "weighted-tree"
]


# Weighted degrees whose roots, products and quotients stay numbers in single precision.
SINGLE_PRECISION_RANGE = (1e-20, 1e20)


class Learner(Protocol):
    """What learns and predicts, on rows of the graph and labels counted from 0."""

    k: int

    def add_label(self) -> None:
        """Make room for one more label."""

    def drop_label(self) -> None:
        """Take the last `add_label` back, for a label that no node has got."""

    def prepare(self, u: int) -> None:
        """Do what takes long of `learn`, without changing anything."""

    def learn(self, u: int, y: int) -> None:
        """Learn label `y` of node `u`, in place of another that it had."""

    def fit(self, rows: NDArray[np.int32], labels: NDArray[np.int32]) -> None:
        """Learn labels of distinct nodes that were not learned before, in no particular order."""

    def best(self, u: int, counts: NDArray[np.int64], appearances: NDArray[np.int64]) -> int | None:
        """The best label, ties broken by how often and how early labels were seen; None to guess at random."""

    def draw(self, u: int, number: float) -> int | None:
        """The label that a number between 0 and 1 picks from the distribution; None while there is no label."""

    def probabilities(self, u: int) -> NDArray[np.float64]:
        """The distribution over the k labels."""


class LabelerOptions(KernelParameters, total=False):
    """The parameters that belong to one kernel or method; see `OnlineNodeLabeler`."""

    epsilon: float | None
    trace: Literal["estimate", "paper", "exact"] | float
    symmetrized: bool
    dtype: Literal["float64", "float32"]
    terms: int
    trees: int


def _fastonl(kernel: GraphKernel, options: LabelerOptions) -> Learner:
    dtype = options.get("dtype", "float64")
    if dtype not in ("float64", "float32"):
        raise ValueError(f'dtype must be "float64" or "float32", got {dtype!r}')
    if dtype == "float32":
        _check_single_precision(kernel.graph)
    trace = {"trace_per_label": False, **_trace(kernel, options, kernel.estimated_trace, kernel.exact_trace)}
    return FastONL(kernel, _epsilon(kernel, options), **trace, dtype=np.dtype(dtype))


def _check_single_precision(graph: CSRGraph) -> None:
    degrees = graph.degrees[graph.degrees > 0.0]
    smallest, largest = SINGLE_PRECISION_RANGE
    if len(degrees) and not smallest <= degrees.min() <= degrees.max() <= largest:
        raise ValueError(
            f'dtype="float32" needs weighted degrees between {smallest:g} and {largest:g}, got {degrees.min():g} to '
            f"{degrees.max():g}: scale the weights, or use float64"
        )


def _epsilon(kernel: GraphKernel, options: LabelerOptions) -> float:
    epsilon = options.get("epsilon")
    if epsilon is None:
        epsilon = 0.1 / len(kernel.graph)
    return check_positive("epsilon", epsilon)


def _fastonl_fifo(kernel: GraphKernel, options: LabelerOptions) -> Learner:
    n = len(kernel.graph)
    epsilon = _epsilon(kernel, options)
    trace = _trace(kernel, options, kernel.estimated_trace, kernel.exact_trace)
    symmetrized = options.get("symmetrized", False)
    if not isinstance(symmetrized, bool):
        raise TypeError(f"symmetrized must be True or False, got {symmetrized!r}")
    if symmetrized:
        columns = PushColumns(kernel, epsilon)
        return ColumnLearner(n, columns, **trace, constant=-kernel.g, symmetrized=True)
    return FifoFastONL(kernel, epsilon, **trace)


def _relaxation(kernel: GraphKernel, options: LabelerOptions) -> Learner:
    columns = ExactColumns(kernel)
    trace = _trace(kernel, options, columns.trace, columns.trace)
    return ColumnLearner(len(kernel.graph), columns, **trace)


def _approximate(kernel: GraphKernel, options: LabelerOptions) -> Learner:
    terms = options.get("terms", 10)
    check_whole("terms", terms, least=1)
    trace = _trace(kernel, options, kernel.estimated_trace, kernel.exact_trace)
    return ColumnLearner(len(kernel.graph), SeriesColumns(kernel, terms), **trace, constant=-kernel.g)


def _trace(
    kernel: GraphKernel, options: LabelerOptions, estimate: Callable[[], float], exact: Callable[[], float]
) -> dict[str, Any]:
    trace: Any = options.get("trace", "estimate")
    if isinstance(trace, str) and trace in ("estimate", "exact"):
        return {"trace": estimate() if trace == "estimate" else exact()}
    if isinstance(trace, str) and trace == "paper":
        return {"trace": float(len(kernel.graph)) ** 2, "trace_per_label": True}
    if not isinstance(trace, Real):
        raise ValueError(f'trace must be "estimate", "paper", "exact" or a positive number, got {trace!r}')
    check_positive("trace", float(trace))
    return {"trace": float(trace)}


KERNEL_METHODS = {
    "fastonl": _fastonl,
    "fastonl-fifo": _fastonl_fifo,
    "relaxation": _relaxation,
    "approximate": _approximate,
}
KERNEL_OPTIONS = tuple(KernelParameters.__annotations__)
METHOD_OPTIONS: dict[str, tuple[str, ...]] = {
    "fastonl": ("epsilon", "trace", "dtype", *KERNEL_OPTIONS),
    "fastonl-fifo": ("epsilon", "trace", "symmetrized", *KERNEL_OPTIONS),
    "relaxation": ("trace", *KERNEL_OPTIONS),
    "approximate": ("terms", "trace", *KERNEL_OPTIONS),
    "weighted-majority": (),
    "weighted-tree": ("trees",),
}


def make_learner(
    graph: CSRGraph, kernel: str, smoothness: float | None, method: str, seed: int, options: LabelerOptions
) -> Learner:
    """The learner of this name; raises for an unknown one, and for options that are not its own."""
    if not isinstance(method, str) or method not in METHOD_OPTIONS:
        names = ", ".join(f'"{name}"' for name in METHOD_OPTIONS)
        raise ValueError(f"unknown method {method!r}; the methods are {names}")
    for option in options:
        if option not in METHOD_OPTIONS[method]:
            owners = [f'"{name}"' for name, names in METHOD_OPTIONS.items() if option in names]
            hint = f"; it belongs to {', '.join(owners)}" if owners else ""
            takes = ", ".join(METHOD_OPTIONS[method]) or "none"
            raise TypeError(f"method {method!r} has no option {option}{hint}. Its options: {takes}")
    parameters: Any = {name: value for name, value in options.items() if name in KERNEL_OPTIONS}
    on_graph = GraphKernel(graph, kernel, smoothness, **parameters)  # checked even where it is not used
    if method == "weighted-majority":
        return WeightedMajority(graph)
    if method == "weighted-tree":
        trees = options.get("trees", 5)
        check_whole("trees", trees, least=1)
        return WeightedTree(graph, trees, seed)
    return KERNEL_METHODS[method](on_graph, options)
