"""Epsilon and the trace of M: numbers that follow the size of the graph."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from nx_fastonl._lib.arrays import check_restored, restored_count, restored_number
from nx_fastonl.kernels.graph_kernel import GraphKernel

__all__ = ["Tuning", "tuned"]

TraceKind: TypeAlias = Literal["estimate", "exact", "paper", "given"]
# The trace is found anew once the number of nodes has changed by more than this factor.
LARGEST_GROWTH = 1.25


@dataclass(frozen=True)
class Tuning:
    """The paper's epsilon and the trace of M, as they were chosen.

    Parameters
    ----------
    epsilon : float
        As given, or what it is times n.
    epsilon_is_per_node : bool
        Whether `epsilon` is divided by n.
    trace_kind : str
        How the trace is found.
    trace : float
        As it was found.
    trace_n : int
        The number of nodes then.
    """

    epsilon: float
    epsilon_is_per_node: bool
    trace_kind: TraceKind
    trace: float
    trace_n: int

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, (self.epsilon, self.epsilon_is_per_node, self.trace_kind, self.trace, self.trace_n)

    @property
    def trace_per_label(self) -> bool:
        """Whether T_1 is the trace for each known label, as in the paper's experiments."""
        return self.trace_kind == "paper"

    def epsilon_at(self, n: int) -> float:
        """Epsilon on a graph of n nodes."""
        return self.epsilon / n if self.epsilon_is_per_node else self.epsilon

    def trace_at(self, n: int) -> float:
        """The trace on a graph of n nodes, somewhat more or less than when it was found.

        The entries of M are multiples of n, and there are n of them on the diagonal.
        """
        return self.trace if self.trace_kind == "given" else self.trace * (n / self.trace_n) ** 2

    def on(self, kernel: GraphKernel) -> Tuning:
        """The same for the graph as it is now. The trace is found anew where the graph is much larger or smaller."""
        growth = kernel.n / self.trace_n
        if 1.0 / LARGEST_GROWTH <= growth <= LARGEST_GROWTH or self.trace_kind in ("paper", "given"):
            return self
        return replace(self, trace=_find_trace(kernel, self.trace_kind), trace_n=kernel.n)


def tuned(kernel: GraphKernel, epsilon: float, *, per_node: bool, trace: TraceKind | float) -> Tuning:
    """How a learner begins; `trace` says how the trace is found, or gives it."""
    if isinstance(trace, str):
        return Tuning(epsilon, per_node, trace, _find_trace(kernel, trace), kernel.n)
    return Tuning(epsilon, per_node, "given", trace, kernel.n)


def _find_trace(kernel: GraphKernel, kind: TraceKind) -> float:
    if kind == "paper":
        return float(kernel.n) ** 2
    return kernel.estimated_trace() if kind == "estimate" else kernel.exact_trace()


def restored(epsilon: float, per_node: bool, trace_kind: TraceKind, trace: float, trace_n: int) -> Tuning:
    """What a pickle or a snapshot holds, checked."""
    check_restored(restored_number(epsilon, "settings") > 0.0, "settings")
    check_restored(trace_kind in ("estimate", "exact", "paper", "given"), "settings")
    trace, trace_n = restored_number(trace, "settings"), restored_count(trace_n, "settings", 1)
    return Tuning(epsilon, bool(per_node), trace_kind, trace, trace_n)
