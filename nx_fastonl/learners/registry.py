"""The methods by name: which learner each is made of, and which options it takes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any, Literal, TypeAlias, cast

import networkx as nx
import numpy as np

from nx_fastonl._lib.checks import check_positive, check_whole, perhaps, shortened
from nx_fastonl.graph.arrows import Arrows
from nx_fastonl.graph.base import RowGraph
from nx_fastonl.graph.dynamic_rows import DynamicArrows
from nx_fastonl.kernels.graph_kernel import GraphKernel
from nx_fastonl.kernels.table import DEFAULT_SMOOTHNESS, KERNELS, KernelParameters
from nx_fastonl.learners._history import LabelHistory
from nx_fastonl.learners.adaptive import NEIGHBOR_EXPERTS, AdaptiveLearner
from nx_fastonl.learners.base import Learner
from nx_fastonl.learners.columns import MAX_TERMS, ColumnLearner, ExactColumns, PushColumns, SeriesColumns
from nx_fastonl.learners.fastonl import FastONL, FifoFastONL
from nx_fastonl.learners.perceptron import Perceptron
from nx_fastonl.learners.tuning import Tuning, tuned
from nx_fastonl.learners.voters import WeightedMajority, WeightedTree

__all__ = ["make_learner"]

Method: TypeAlias = Literal[
    "adaptive",
    "fastonl",
    "fastonl-fifo",
    "relaxation",
    "approximate",
    "perceptron",
    "weighted-majority",
    "weighted-tree",
]


# The epsilon of each method, times n.
FASTONL_EPSILON, PERCEPTRON_EPSILON, ADAPTIVE_EPSILON = 0.1, 0.01, 0.03
# The smoothness of the adaptive learner in streams, and for labels known at once.
ADAPTIVE_SMOOTHNESS, FIT_SMOOTHNESS = 0.05, 0.01
DEFAULT_EXPERTS = ("diffusion", *NEIGHBOR_EXPERTS)
# More trees would take hours on any graph.
MAX_TREES = 1_000_000


class LabelerOptions(KernelParameters, total=False):
    """The parameters that belong to one kernel or method; see `OnlineNodeLabeler`."""

    epsilon: float | None
    experts: Sequence[str]
    forgetting: float | None
    trace: Literal["estimate", "paper", "exact"] | float
    symmetrized: bool
    dtype: Literal["float64", "float32"]
    terms: int
    trees: int


def _adaptive(
    kernel: GraphKernel,
    fit_kernel: GraphKernel,
    history: LabelHistory,
    arrows: Arrows | DynamicArrows | None,
    options: LabelerOptions,
) -> Learner:
    forgetting = options.get("forgetting")
    epsilon, per_node = _epsilon(options, ADAPTIVE_EPSILON)
    kernels, experts = _experts(kernel, options.get("experts", DEFAULT_EXPERTS))
    fit_kernels = {**kernels, "diffusion": fit_kernel} if "diffusion" in kernels else kernels
    return AdaptiveLearner(
        kernel.graph,
        kernels,
        fit_kernels,
        history,
        tuning=tuned(kernel, epsilon, per_node=per_node, trace=0.0),
        experts=experts,
        half_life=math.inf if forgetting is None else _half_life(forgetting),
        dtype=_dtype([*kernels.values(), *fit_kernels.values()], options),
        arrows=arrows,
    )


def _half_life(forgetting: float) -> float:
    if check_positive("forgetting", forgetting) < 1.0:
        raise ValueError(f"forgetting must be a half-life of at least 1 arrival, got {forgetting!r}")
    return float(forgetting)


def _experts(kernel: GraphKernel, names: Any) -> tuple[dict[str, GraphKernel], list[str]]:
    """The kernels of the experts that are diffusions, and the names of the others."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise TypeError(f"experts must be a list of names, got {shortened(names)}")
    kernels: dict[str, GraphKernel] = {}
    others: list[str] = []
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"experts must be a list of names, got {shortened(name)} in it")
        if name in kernels or name in others:
            raise ValueError(f"experts names {name!r} twice")
        if name in NEIGHBOR_EXPERTS:
            others.append(name)
        else:
            kernels[name] = kernel if name == "diffusion" else _further_kernel(kernel.graph, name)
    if not kernels and not others:
        raise ValueError("experts must name at least one expert, got none")
    return kernels, others


def _further_kernel(graph: RowGraph, name: str) -> GraphKernel:
    """The kernel that an expert is named after: "laplacian", or "laplacian:0.3" with a smoothness."""
    kernel, colon, smoothness = name.partition(":")
    known = [*KERNELS, *(recipe.alias for recipe in KERNELS.values())]
    try:
        value = float(smoothness) if colon else ADAPTIVE_SMOOTHNESS
    except ValueError:
        value = math.nan
    if kernel not in known or math.isnan(value):
        names = ", ".join(f'"{expert}"' for expert in DEFAULT_EXPERTS)
        raise ValueError(
            f"unknown expert {shortened(name)}; the experts are {names}, and kernels "
            'with a smoothness, as in "laplacian:0.3"'
        )
    return GraphKernel(graph, kernel, value)


def _dtype(kernels: Sequence[GraphKernel], options: LabelerOptions) -> np.dtype[Any]:
    dtype = options.get("dtype", "float64")
    if dtype not in ("float64", "float32"):
        raise ValueError(f'dtype must be "float64" or "float32", got {dtype!r}')
    if dtype == "float32":
        for kernel in kernels:
            kernel.check_single_precision()
    return np.dtype(dtype)


def _fastonl(kernel: GraphKernel, history: LabelHistory, options: LabelerOptions) -> Learner:
    dtype = _dtype([kernel], options)
    return FastONL(kernel, history, _tuning(kernel, options), dtype=dtype)


def _perceptron(kernel: GraphKernel, history: LabelHistory, options: LabelerOptions) -> Learner:
    epsilon, per_node = _epsilon(options, PERCEPTRON_EPSILON)
    tuning = tuned(kernel, epsilon, per_node=per_node, trace=0.0)
    return Perceptron(kernel, history, tuning, dtype=_dtype([kernel], options))


def _epsilon(options: LabelerOptions, times_n: float) -> tuple[float, bool]:
    """Epsilon as it was given; or by default what it is times n, and True."""
    epsilon = options.get("epsilon")
    return (times_n, True) if epsilon is None else (check_positive("epsilon", epsilon), False)


def _tuning(kernel: GraphKernel, options: LabelerOptions) -> Tuning:
    epsilon, per_node = _epsilon(options, FASTONL_EPSILON)
    return tuned(kernel, epsilon, per_node=per_node, trace=_trace(options))


def _trace(options: LabelerOptions) -> Any:
    """How the trace is found, or what it is."""
    trace: Any = options.get("trace", "estimate")
    if isinstance(trace, str) and trace in ("estimate", "exact", "paper"):
        return trace
    if not isinstance(trace, Real):
        raise ValueError(f'trace must be "estimate", "paper", "exact" or a positive number, got {shortened(trace)}')
    return check_positive("trace", cast(float, trace))


def _fastonl_fifo(kernel: GraphKernel, history: LabelHistory, options: LabelerOptions) -> Learner:
    tuning = _tuning(kernel, options)
    symmetrized = options.get("symmetrized", False)
    if not isinstance(symmetrized, bool):
        raise TypeError(f"symmetrized must be True or False, got {symmetrized!r}")
    if not symmetrized:
        return FifoFastONL(kernel, history, tuning)
    if kernel.graph.can_change:
        raise ValueError(
            "symmetrized=True adds up the columns of all learned nodes, which an edge that comes or goes would change: "
            "leave it out where the graph can change, or pass graph.freeze()"
        )
    return ColumnLearner(PushColumns(kernel, tuning.epsilon_at(kernel.n)), history, tuning, symmetrized=True)


def _relaxation(kernel: GraphKernel, history: LabelHistory, options: LabelerOptions) -> Learner:
    columns, trace = ExactColumns(kernel), _trace(options)
    if trace in ("estimate", "exact"):  # the matrix is there
        tuning = Tuning(FASTONL_EPSILON, True, "exact", columns.trace(), kernel.n)
    else:
        tuning = tuned(kernel, FASTONL_EPSILON, per_node=True, trace=trace)
    return ColumnLearner(columns, history, tuning)


def _approximate(kernel: GraphKernel, history: LabelHistory, options: LabelerOptions) -> Learner:
    terms = options.get("terms", 10)
    check_whole("terms", terms, least=1, most=MAX_TERMS)
    return ColumnLearner(SeriesColumns(kernel, terms), history, _tuning(kernel, options))


KERNEL_METHODS = {
    "fastonl": _fastonl,
    "fastonl-fifo": _fastonl_fifo,
    "relaxation": _relaxation,
    "approximate": _approximate,
    "perceptron": _perceptron,
}
KERNEL_OPTIONS = tuple(KernelParameters.__annotations__)
METHOD_OPTIONS: dict[str, tuple[str, ...]] = {
    "adaptive": ("epsilon", "experts", "forgetting", "dtype", *KERNEL_OPTIONS),
    "fastonl": ("epsilon", "trace", "dtype", *KERNEL_OPTIONS),
    "fastonl-fifo": ("epsilon", "trace", "symmetrized", *KERNEL_OPTIONS),
    "relaxation": ("trace", *KERNEL_OPTIONS),
    "approximate": ("terms", "trace", *KERNEL_OPTIONS),
    "perceptron": ("epsilon", "dtype", *KERNEL_OPTIONS),
    "weighted-majority": (),
    "weighted-tree": ("trees",),
}


def check_options(method: str, options: LabelerOptions) -> None:
    """Raise for an unknown method, and for options that are not its own."""
    if not isinstance(method, str) or method not in METHOD_OPTIONS:
        names = ", ".join(f'"{name}"' for name in METHOD_OPTIONS)
        raise ValueError(f"unknown method {method!r}; the methods are {names}")
    for option in options:
        if option not in METHOD_OPTIONS[method]:
            methods = [f'"{name}"' for name, names in METHOD_OPTIONS.items() if option in names]
            hint = f"; it belongs to {', '.join(methods)}" if methods else _like(option, method)
            takes = ", ".join(METHOD_OPTIONS[method]) or "none"
            raise TypeError(f"method {method!r} has no option {option}{hint}. Its options: {takes}")


def _like(option: str, method: str) -> str:
    """A hint to the parameter of a labeler that is spelled much like this."""
    others = ("classes", "kernel", "smoothness", "method", "predict", "seed", "weight", "direction")
    return perhaps(option, (*METHOD_OPTIONS[method], *others))


def kernel_of(method: str, kernel: str | None) -> str:
    """The name of the kernel; for None, of the one that the method has by default."""
    if kernel is not None:
        return kernel
    return "augmented-laplacian" if method == "perceptron" else "normalized-laplacian"


def smoothness_of(method: str, smoothness: float | None, *, online: bool) -> float:
    """The smoothness; for None, that which the method has by default in streams or, not online, in `fit`."""
    if smoothness is not None:
        return smoothness
    if method != "adaptive":
        return DEFAULT_SMOOTHNESS
    return ADAPTIVE_SMOOTHNESS if online else FIT_SMOOTHNESS


def undirected_for(method: str, graph: Any, direction: str) -> tuple[Any, Any]:
    """The undirected graph that a method learns on, and the arrows of a directed one where it uses them."""
    if not isinstance(direction, str) or direction not in ("use", "ignore"):
        raise ValueError(f'direction must be "use" or "ignore", got {shortened(direction)}')
    if not graph.is_directed():
        return graph, None
    if method == "adaptive" and direction == "use":
        arrows = graph.arrows  # once: another thread may make others at the same time
        return arrows.graph, arrows
    if method != "weighted-majority" and direction == "use":
        raise nx.NetworkXNotImplemented(
            f'method {method!r} needs an undirected graph, and this one is directed: direction="ignore" adds up the '
            'arcs between two nodes, and method="adaptive" uses them as they are'
        )
    return graph.without_arrows(), None


def make_learner(
    graph: RowGraph,
    arrows: Arrows | DynamicArrows | None,
    history: LabelHistory,
    kernel: str | None,
    smoothness: float | None,
    method: str,
    seed: int,
    options: LabelerOptions,
) -> Learner:
    """The learner of this name, whose options were checked by `check_options`."""
    parameters: Any = {name: value for name, value in options.items() if name in KERNEL_OPTIONS}
    name = kernel_of(method, kernel)
    if method == "adaptive":
        given = smoothness is not None or parameters.get("lam") is not None
        smoothnesses = (smoothness, smoothness) if given else (ADAPTIVE_SMOOTHNESS, FIT_SMOOTHNESS)
        stream = GraphKernel(graph, name, smoothnesses[0], **parameters)
        try:
            fit = GraphKernel(graph, name, smoothnesses[1], **parameters)
        except ValueError:  # too small a smoothness beside the largest degree
            fit = stream
        return _adaptive(stream, fit, history, arrows, options)
    graph_kernel = GraphKernel(graph, name, smoothness, **parameters)  # checked even where it is not used
    if method == "weighted-majority":
        return WeightedMajority(graph, history)
    if method == "weighted-tree":
        trees = options.get("trees", 5)
        check_whole("trees", trees, least=1, most=MAX_TREES)
        return WeightedTree(graph, history, trees, seed)
    return KERNEL_METHODS[method](graph_kernel, history, options)
