"""Learners that compute scores from columns of the kernel matrix, one column at a time."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.arrays import (
    check_parts,
    check_restored,
    enlarged,
    restored_array,
    restored_count,
    restored_number,
    shape_of,
)
from nx_fastonl.graph.base import RowGraph
from nx_fastonl.kernels.graph_kernel import GraphKernel
from nx_fastonl.learners import _columns, _relaxation, _stream
from nx_fastonl.learners._history import LabelHistory
from nx_fastonl.learners.relaxation import Evidence, RelaxationLearner
from nx_fastonl.learners.tuning import Tuning
from nx_fastonl.push.local import fifo_column

__all__ = ["Column", "ColumnLearner", "ExactColumns", "PushColumns", "SeriesColumns"]


# More terms of the series would take hours on any graph.
MAX_TERMS = 1_000_000_000


class Column(NamedTuple):
    """Column t of a kernel matrix: ``M[i, t] = factor * s_i * values[i] + constant`` at `nodes`, else `constant`."""

    nodes: NDArray[np.int32]
    values: NDArray[np.float64]
    own: float  # the value at node t itself
    s: float  # s_t
    factor: float  # common to the whole column


class Columns(Protocol):
    """The columns of a kernel matrix, by the row of a node; as many as there are rows.

    `constant` is what the columns leave out, for it is added to every entry. `renewed` gives the columns of the graph
    as it is now, with this epsilon where one matters. `scaled` says whether a column leaves out s of its entries.
    """

    kernel: GraphKernel
    scaled: bool

    def __call__(self, u: int, /) -> Column: ...

    def __len__(self) -> int: ...

    @property
    def constant(self) -> float: ...

    def renewed(self, tuning: Tuning) -> Columns: ...


class ColumnLearner(RelaxationLearner):
    """Computes scores from columns of M.

    Parameters
    ----------
    columns : Columns
    history : LabelHistory
    tuning : Tuning
        Epsilon, where it matters, and the trace.
    symmetrized : bool
        Take the mean of ``G @ M[:, t]`` and ``G @ M[t, :]``, as the paper's analysis does.
    """

    parts: ClassVar[dict[str, Any]] = {
        **RelaxationLearner.parts,
        "_columns": object,
        "_tuning": Tuning,
        "_row_scores": np.ndarray | None,
    }

    def __init__(
        self,
        columns: Columns,
        history: LabelHistory,
        tuning: Tuning,
        *,
        symmetrized: bool = False,
    ) -> None:
        self._columns: Any = columns
        self._tuning = tuning
        kernel, n = columns.kernel, len(columns)
        # Where symmetrized: the sum over learned nodes i of s_i gradient_i times their columns' values at each node.
        self._row_scores = np.zeros((n, 4)) if symmetrized else None
        self._latest: tuple[int, Column] | None = None
        super().__init__(
            n,
            history,
            tuning.trace_at(kernel.n),
            trace_per_label=tuning.trace_per_label,
            constant=columns.constant,
            unit=kernel.a,
            position=kernel.graph.position,
        )

    @property
    def graph(self) -> RowGraph:
        graph: RowGraph = self._columns.kernel.graph
        return graph

    def catch_up(self) -> None:
        """Take the columns of the graph as it is now. What was stored of nodes stays, in units of their present s."""
        graph = self.graph
        tuning = self._tuning.on(self._columns.kernel.renewed())
        columns = self._columns.renewed(tuning)
        kernel, gradients = columns.kernel, self.gradients
        gradients.add_rows(len(graph))
        if columns.scaled:
            changes = graph.changes_since(gradients.position)
            if changes is None:
                gradients.rescale(kernel.scaling, graph.position)
            else:
                gradients.follow(kernel.scaling, changes, graph.position)
        gradients.measure(kernel.a, tuning.trace_at(kernel.n), columns.constant)
        self._columns, self._tuning, self._latest = columns, tuning, None

    def __setstate__(self, state: dict[str, Any]) -> None:
        check_restored(isinstance(state.get("_columns"), PushColumns | ExactColumns | SeriesColumns), "columns")
        super().__setstate__(state)
        self._latest = None
        rows = self._row_scores
        if rows is not None:
            n, lanes = shape_of(rows, "scores", 2)
            check_restored(n == self.history.n and lanes >= self.k, "scores")
            self._row_scores = restored_array(rows, "scores", np.float64, (n, lanes))

    def blank(self, history: LabelHistory) -> ColumnLearner:
        return ColumnLearner(self._columns, history, self._tuning, symmetrized=self._row_scores is not None)

    def reserve_labels(self, k: int) -> None:
        super().reserve_labels(k)
        rows = self._row_scores
        if rows is not None and k > rows.shape[1]:
            self._row_scores = enlarged(rows, len(rows), max(k, 2 * rows.shape[1]))

    def learn_many(self, rows: NDArray[np.int32], labels: NDArray[np.int32]) -> None:
        """Learn each of these nodes as if it were the only one, so that their order does not matter."""
        with self.lock:
            k = max(self.k, int(labels.max(initial=-1)) + 1)
            history, gradients = self.history.copy(), self.gradients.copy()
            history.reserve(k)
            gradients.reserve(k, len(rows))
            row_scores = None if self._row_scores is None else self._row_scores.copy()
            for u, y in zip(rows.tolist(), labels.tolist(), strict=True):
                scores, _, diagonal, s = self._evidence_from(u, gradients, row_scores, history.k)
                engine = self._engine(u, history, gradients, row_scores)
                engine.take(scores, s=s, diagonal=diagonal, independent=True)
                _stream.learn(engine, u, y)
            # One call in C: whatever interrupts this, all of it is replaced or nothing.
            self.__dict__.update(history=history, gradients=gradients, _row_scores=row_scores)

    def _learn(self, u: int, y: int, evidence: Evidence, *, independent: bool) -> None:
        scores, _, diagonal, s = evidence
        engine = self._engine(u, self.history, self.gradients, self._row_scores)
        engine.take(scores, s=s, diagonal=diagonal, independent=independent)
        _stream.learn(engine, u, y)

    def _forget(self, u: int, evidence: Evidence) -> None:
        engine = self._engine(u, self.history, self.gradients, self._row_scores)
        engine.take(evidence.scores, s=evidence.s, diagonal=evidence.diagonal)
        _stream.forget(engine, u)

    def _engine(
        self,
        u: int,
        history: LabelHistory,
        gradients: _relaxation.GradientStore,
        row_scores: NDArray[np.float64] | None,
    ) -> _relaxation.RelaxationEngine:
        if row_scores is None:
            return _relaxation.RelaxationEngine(history, gradients)
        column = self._column(u)
        return _columns.RowEngine(history, gradients, row_scores, column.nodes, column.values)

    def _column(self, u: int) -> Column:
        """The column of node u. The latest is stored, so that learning a node just predicted needs no second one."""
        latest = self._latest
        if latest is not None and latest[0] == u:
            return latest[1]
        column: Column = self._columns(u)
        self._latest = (u, column)
        return column

    def _evidence(self, u: int) -> Evidence:
        # Without the lock: a stream in another thread, which holds it for seconds, only adds to what is read here.
        return self._evidence_from(u, self.gradients, self._row_scores, self.k)

    def _evidence_from(
        self, u: int, gradients: _relaxation.GradientStore, row_scores: NDArray[np.float64] | None, k: int
    ) -> Evidence:
        """The evidence at node u over k labels, from these gradients."""
        column = self._column(u)
        constant = gradients.constant
        diagonal = column.factor * column.s * column.own + constant
        if k == 0:
            return Evidence(np.zeros(0), 0.0, diagonal, column.s)
        scores, magnitude = _relaxation.column_scores(gradients, column.nodes, column.values, k)
        shift = constant * gradients.sums(k)
        if row_scores is not None:
            scores += row_scores[u, :k]
            scores *= 0.5
        scores *= column.factor
        magnitude *= column.factor
        if constant != 0.0:
            scores += shift
            magnitude = max(magnitude, float(np.abs(shift).max()))
        return Evidence(scores, magnitude, diagonal, column.s)


class PushColumns:
    """Columns by the paper's FIFOPush, or exact where that takes long: see `fifo_column`. The constant is left out."""

    scaled = True

    def __init__(self, kernel: GraphKernel, epsilon: float) -> None:
        self.kernel = kernel
        self.push_epsilon = kernel.push_epsilon(epsilon)

    def __len__(self) -> int:
        return len(self.kernel.graph)

    @property
    def constant(self) -> float:
        return -self.kernel.g

    def renewed(self, tuning: Tuning) -> PushColumns:
        kernel = self.kernel.renewed()
        return PushColumns(kernel, tuning.epsilon_at(kernel.n))

    def __setstate__(self, state: dict[str, Any]) -> None:
        check_parts(state, "columns", {"kernel": GraphKernel, "push_epsilon": int | float})
        check_restored(restored_number(state["push_epsilon"], "columns", 0.0) > 0.0, "columns")
        self.__dict__.update(state)

    def __call__(self, u: int) -> Column:
        nodes, estimate, _ = fifo_column(self.kernel.system, u, self.push_epsilon)
        s = self.kernel.s_of(u)
        own = float(estimate[0])  # a push lists its source first
        return Column(nodes, estimate, own, s, self.kernel.a * s)


class ExactColumns:
    """Columns of the exact kernel matrix, constant included."""

    scaled, constant = False, 0.0

    def __init__(self, kernel: GraphKernel) -> None:
        self.kernel, self._matrix = kernel, kernel.exact()
        self._rows = np.arange(len(kernel.graph), dtype=np.int32)

    def trace(self) -> float:
        return float(np.trace(self._matrix))

    def renewed(self, tuning: Tuning) -> ExactColumns:  # noqa: ARG002  nothing is approximate
        return ExactColumns(self.kernel.renewed())

    def __getstate__(self) -> dict[str, Any]:
        return {"kernel": self.kernel, "_matrix": self._matrix}

    def __setstate__(self, state: dict[str, Any]) -> None:
        check_parts(state, "kernel matrix", {"kernel": GraphKernel, "_matrix": np.ndarray})
        n = len(state["kernel"].graph)
        matrix = restored_array(state["_matrix"], "kernel matrix", np.float64, (n, n))
        self.__dict__.update(kernel=state["kernel"], _matrix=matrix, _rows=np.arange(n, dtype=np.int32))

    def __len__(self) -> int:
        return len(self._rows)

    def __call__(self, u: int) -> Column:
        values = self._matrix[u]
        return Column(self._rows, values, float(values[u]), s=1.0, factor=1.0)


class SeriesColumns:
    """Columns by power iteration: the first terms of ``inv(H) = sum of (W / pivot)^i / pivot``, one column at a time.

    For the normalised Laplacian this is ``2 n lam / (n + lam) * sum of (n / (n + lam) D^-1/2 W D^-1/2)^i``.
    """

    scaled = False

    def __init__(self, kernel: GraphKernel, terms: int) -> None:
        self.kernel = kernel
        rows = np.arange(len(kernel.graph), dtype=np.int32)
        self._rows = rows
        self._terms = terms
        self._s = kernel.s(rows)
        self._a = kernel.a
        self._inverse_pivots = 1.0 / (kernel.c(rows) + kernel.graph.degrees)
        self._W = kernel.graph.whole().shared_matrix

    @property
    def constant(self) -> float:
        return -self.kernel.g

    def renewed(self, tuning: Tuning) -> SeriesColumns:  # noqa: ARG002  it has no epsilon
        return SeriesColumns(self.kernel.renewed(), self._terms)

    def __reduce__(self) -> tuple[Any, ...]:
        return restored_series, (self.kernel, self._terms)

    def __len__(self) -> int:
        return len(self._rows)

    def __call__(self, u: int) -> Column:
        term = np.zeros(len(self._rows))
        term[u] = self._s[u] * self._inverse_pivots[u]
        total = term.copy()
        for _ in range(self._terms):
            term = self._inverse_pivots * (self._W @ term)
            total += term
        values = self._s * total
        return Column(self._rows, values, float(values[u]), s=1.0, factor=self._a)


def restored_series(kernel: GraphKernel, terms: int) -> SeriesColumns:
    """What a pickle or a snapshot holds, checked."""
    return SeriesColumns(kernel, restored_count(terms, "columns", 1, MAX_TERMS))
