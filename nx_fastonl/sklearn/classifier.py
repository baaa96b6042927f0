"""NodeClassifier: the labels of a graph's nodes, as scikit-learn asks for them."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Literal

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from nx_fastonl._lib.checks import shortened
from nx_fastonl._lib.log import warn_caller
from nx_fastonl.graph.base import ChangingGraph
from nx_fastonl.graph.convert import as_csr_graph
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.graph.rows import Rows, check_compressed, check_weights
from nx_fastonl.labeling.labeler import OnlineNodeLabeler

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.metrics import accuracy_score
    from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data
except ImportError as error:
    raise ImportError("NodeClassifier needs scikit-learn 1.6 or newer: pip install -U scikit-learn") from error

from nx_fastonl.sklearn.targets import check_same_kind, classes_and_codes, codes_among, labels_of

__all__ = ["NodeClassifier"]

METHODS = ("adaptive", "fastonl")
# The formats of scipy that scikit-learn checks for NaN without a copy.
FORMATS = ("csr", "csc", "coo")
# Weights in both directions that differ by at most this fraction are the same, computed twice in single precision.
ASYMMETRY = 1e-5


class NodeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Labels of a graph's nodes from those of others: a classifier of scikit-learn whose X is an adjacency matrix.

    In `fit`, row i of X has the weights of the edges of node i, and ``y[i]`` is its label, or -1 where that is not
    known, as for ``LabelSpreading``. Then there are two ways to go on. `transduction_` has the labels of all these
    nodes. And `predict` takes rows of further nodes, each with the weights of its edges to the nodes of `fit`.

    The tag ``pairwise`` is set, so ``cross_val_score``, ``GridSearchCV`` and the like cut rows and columns: they hold
    nodes out of the graph, and then ask for them by their edges to those that were left in.

    Parameters
    ----------
    method : {"adaptive", "fastonl"}, default "adaptive"
        See `nx_fastonl.OnlineNodeLabeler`. The probabilities of ``"adaptive"`` are calibrated.
    kernel : str, optional
        Which nodes count as similar: see `nx_fastonl.kernel_column`. By default ``"normalized-laplacian"``.
    smoothness : float, optional
        The smaller, the further labels reach: see `nx_fastonl.OnlineNodeLabeler`. By default as there.
    epsilon : float, optional
        The smaller, the more accurate and the slower: see `nx_fastonl.OnlineNodeLabeler`. By default as there. With
        ``"adaptive"``, it matters for `partial_fit` only.
    direction : {"use", "ignore"}, default "use"
        For an X that is not symmetric, where ``X[i, j]`` is the weight of an arc from i to j. ``"use"`` is for
        ``"adaptive"``, which tells arcs out from arcs in. ``"ignore"`` learns on X + X^T, with both methods.

    Attributes
    ----------
    classes_ : numpy.ndarray
        The labels, in order.
    labeler_ : OnlineNodeLabeler
        The model behind it, for all that scikit-learn has no word for: sets of labels, certificates, which labels are
        joined to which. Its nodes are the numbers of the rows, or the nodes of the graph that X was.
    n_features_in_ : int
        The number of nodes of `fit`.
    feature_names_in_ : numpy.ndarray
        The columns of X, if that was a DataFrame with texts as columns.

    Raises
    ------
    ImportError
        If scikit-learn is not installed, or older than 1.6.

    See Also
    --------
    nx_fastonl.OnlineNodeLabeler : The same with a graph and names of nodes, one label at a time.

    Notes
    -----
    If X in `predict` is the very matrix of `fit`, its rows are the nodes of `fit`: known labels are kept, as in
    `transduction_`. In any other X, or a part of that one, each row is a node that joins the graph, whatever other rows
    there are. The nodes of the graph do not see it. So a prediction takes time in proportion to the edges of the node,
    and changes nothing. Building the graph anew with this node would give nearly the same.

    A node that no label reaches is predicted to have the most frequent label.

    Examples
    --------
    >>> import networkx as nx
    >>> import numpy as np
    >>> from nx_fastonl.sklearn import NodeClassifier
    >>> G = nx.karate_club_graph()
    >>> X = nx.to_scipy_sparse_array(G)
    >>> clubs = np.array([club == "Officer" for _, club in G.nodes(data="club")], dtype=int)
    >>> y = np.where(np.isin(np.arange(34), [0, 1, 32, 33]), clubs, -1)
    >>> classifier = NodeClassifier().fit(X, y)
    >>> int((classifier.transduction_ == clubs).sum())
    33

    A member who joins, and knows members 0 and 7:

    >>> new = np.zeros((1, 34))
    >>> new[0, [0, 7]] = 1
    >>> classifier.predict(new)
    array([0])
    """

    classes_: NDArray[Any]
    labeler_: OnlineNodeLabeler
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def __init__(
        self,
        method: Literal["adaptive", "fastonl"] = "adaptive",
        *,
        kernel: str | None = None,
        smoothness: float | None = None,
        epsilon: float | None = None,
        direction: Literal["use", "ignore"] = "use",
    ) -> None:
        self.method = method
        self.kernel = kernel
        self.smoothness = smoothness
        self.epsilon = epsilon
        self.direction = direction

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.positive_only = tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: ArrayLike) -> NodeClassifier:
        """Learn the labels that are known of the nodes of a graph.

        Parameters
        ----------
        X : array_like or scipy sparse array of shape (n, n)
            The weights of edges, not negative, 0 where there is none. Also a CSRGraph, in memory or opened from disk, a
            DynamicGraph or an ``nx.Graph``; the order of its nodes is that of `y`.
        y : array_like of shape (n,)
            Labels in the order of the rows of X: whole numbers or texts; -1, None or NaN where a label is not known.

        Returns
        -------
        NodeClassifier
            This classifier.

        Raises
        ------
        ValueError
            If X is not square, or has a weight that is negative, infinite or not a number, if `y` has another length,
            no label at all or an index with the nodes of X in another order, or if a parameter is out of range.
        TypeError
            If `y` is a dict, or the labels cannot be put in order.
        networkx.NetworkXNotImplemented
            If X is not symmetric, and ``method="fastonl"`` is to use its arrows.

        Examples
        --------
        >>> import numpy as np
        >>> from nx_fastonl.sklearn import NodeClassifier
        >>> path = np.diag([1, 1, 1], 1) + np.diag([1, 1, 1], -1)
        >>> NodeClassifier().fit(path, ["a", None, None, "b"]).transduction_
        array(['a', 'a', 'b', 'b'], dtype=object)
        """
        fitted = copy.copy(self)  # so that nothing changes if this raises
        graph = fitted._fitted_graph(X)
        _check_same_nodes(X, y)
        labels, known = labels_of(y, len(graph), "NodeClassifier")
        _check_some_known(known)
        classes, codes = classes_and_codes(labels[known])
        if classes.tolist() == [1] and not known.all():
            warn_caller("the only label in y is 1, beside -1 for those not known; if -1 is a class, say 0 instead")
        labeler = self._labeler(graph, classes)
        labeler.fit(_pairs(graph, known, classes, codes))
        fitted._take(graph, labeler, classes)
        self.__dict__ = fitted.__dict__
        return self

    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> NodeClassifier:
        """Learn more labels of the same nodes, as they become known.

        Labels are learned as a stream is, in the order of the nodes: see
        `nx_fastonl.OnlineNodeLabeler.learn_many`. That is faster than `fit`, and less accurate with few labels.

        Parameters
        ----------
        X : array_like or scipy sparse array of shape (n, n)
            As in `fit`; in later calls the same.
        y : array_like of shape (n,)
            As in `fit`. Where a label was learned before and `y` has none, it is kept; another one takes its place.
        classes : array_like, optional
            All possible labels, in the first call; -1 and None among them do not count. By default those in `y`.

        Returns
        -------
        NodeClassifier
            This classifier.

        Raises
        ------
        TypeError, ValueError
            As `fit`; if a label is not one of the classes; if a later X is another graph, or later `classes` others.
            Nothing is learned then.

        Examples
        --------
        >>> import numpy as np
        >>> from nx_fastonl.sklearn import NodeClassifier
        >>> path = np.diag([1, 1, 1], 1) + np.diag([1, 1, 1], -1)
        >>> classifier = NodeClassifier().partial_fit(path, [0, -1, -1, -1], classes=[0, 1])
        >>> classifier.partial_fit(path, [-1, -1, -1, 1]).transduction_
        array([0, 0, 1, 1])
        """
        is_first = not hasattr(self, "labeler_")
        if not is_first and self._rows_of(X) is not None:
            raise ValueError("partial_fit learns more labels of the graph that it began with, and X is another one")
        fitted = copy.copy(self)
        graph = fitted._fitted_graph(X) if is_first else self._graph
        _check_same_nodes(X, y)
        labels, known = labels_of(y, len(graph), "NodeClassifier")
        given = self._given_classes(labels[known], classes, is_first=is_first)
        codes = codes_among(labels[known], given)
        labeler = self._labeler(graph, given) if is_first else self.labeler_
        pairs = _pairs(graph, known, given, codes)
        before = labeler.labels.copy()
        changed = [(node, label) for node, label in pairs if before.get(node, label) != label]
        if changed:  # one call for each: if an interrupt comes between, this classifier keeps its labeler
            labeler = copy.deepcopy(labeler)
        for node, label in changed:
            labeler.learn_one(node, label, overwrite=True)
        labeler.learn_many([(node, label) for node, label in pairs if node not in before])
        fitted._take(graph, labeler, given)
        self.__dict__ = fitted.__dict__
        return self

    def _given_classes(self, known: NDArray[Any], classes: ArrayLike | None, *, is_first: bool) -> NDArray[Any]:
        """All possible labels, which only the first call decides."""
        if classes is not None:
            if not hasattr(classes, "__array__") and not isinstance(classes, Sequence):
                raise TypeError(f"classes must be a list or an array of labels, got {shortened(classes)}")
            labels, are_labels = labels_of(classes, len(np.asarray(classes)), "partial_fit")
            found = classes_and_codes(labels[are_labels])[0]
            if not is_first and not np.array_equal(found, self.classes_):
                raise ValueError(f"classes were {self.classes_.tolist()} in the first call, got {found.tolist()}")
            return found
        if not is_first:
            return self.classes_
        _check_some_known(np.ones(len(known), dtype=bool))
        return classes_and_codes(known)[0]

    def predict(self, X: Any) -> NDArray[Any]:
        """The labels of nodes that join the graph, or of its own.

        Parameters
        ----------
        X : array_like or scipy sparse array of shape (m, n)
            For each node the weights of its edges to the n nodes of `fit`; of its arcs out, if the X of `fit` was not
            symmetric. Or the very X of `fit`: see the notes of the class.

        Returns
        -------
        numpy.ndarray of shape (m,)

        Raises
        ------
        sklearn.exceptions.NotFittedError
            Before `fit`.
        ValueError
            If X has another number of columns, or a weight that is negative, infinite or not a number.

        Examples
        --------
        >>> import numpy as np
        >>> from nx_fastonl.sklearn import NodeClassifier
        >>> path = np.diag([1, 1, 1], 1) + np.diag([1, 1, 1], -1)
        >>> classifier = NodeClassifier().fit(path, [0, -1, -1, 1])
        >>> classifier.predict([[1, 1, 0, 0], [0, 0, 0, 2.5]])
        array([0, 1])
        >>> classifier.predict(path)
        array([0, 0, 1, 1])
        """
        check_is_fitted(self)
        rows = self._rows_of(X)
        if rows is None:
            return self._labels_of_all()
        return self._as_array(self.labeler_._forecast_joining(rows)[0])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probabilities of the labels of nodes that join the graph, or of its own.

        They are calibrated with ``method="adaptive"``; those of ``"fastonl"`` are made for its regret bound, and are
        flatter. A label that is known has probability 1.

        Parameters
        ----------
        X : array_like or scipy sparse array of shape (m, n)
            As in `predict`.

        Returns
        -------
        numpy.ndarray of shape (m, k)
            Column j belongs to ``classes_[j]``.

        Raises
        ------
        sklearn.exceptions.NotFittedError, ValueError
            As `predict`.

        Examples
        --------
        >>> import numpy as np
        >>> from nx_fastonl.sklearn import NodeClassifier
        >>> path = np.diag([1, 1, 1], 1) + np.diag([1, 1, 1], -1)
        >>> NodeClassifier().fit(path, [0, -1, -1, 1]).predict_proba(path).round(2).tolist()
        [[1.0, 0.0], [0.76, 0.24], [0.24, 0.76], [0.0, 1.0]]
        """
        check_is_fitted(self)
        rows = self._rows_of(X)
        if rows is not None:
            return self.labeler_._forecast_joining(rows)[1]
        known, unknown, codes = self._known_and_unknown()
        probabilities = np.zeros((len(self._graph), len(self.classes_)))
        probabilities[known, codes] = 1.0
        probabilities[unknown] = self.labeler_.predict_proba_many(self._names(unknown))
        return probabilities

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The fraction of the labels that are known which is predicted right.

        Parameters
        ----------
        X : array_like or scipy sparse array of shape (m, n)
            As in `predict`.
        y : array_like of shape (m,)
            As in `fit`. Nodes without a label do not count. A label that is not one of ``classes_`` is a mistake.
        sample_weight : array_like of shape (m,), optional
            How much each node counts.

        Returns
        -------
        float

        Raises
        ------
        sklearn.exceptions.NotFittedError, ValueError
            As `predict`, and if `y` has another length, no label at all, an index with the nodes of X in another order,
            or texts where the classes are numbers, or the other way round.

        Examples
        --------
        >>> import numpy as np
        >>> from nx_fastonl.sklearn import NodeClassifier
        >>> path = np.diag([1, 1, 1], 1) + np.diag([1, 1, 1], -1)
        >>> classifier = NodeClassifier().fit(path, [0, -1, -1, 1])
        >>> classifier.score([[1, 1, 0, 0], [0, 0, 0, 2.5], [1, 0, 0, 0]], [0, 0, -1])
        0.5
        """
        predicted = self.predict(X)
        _check_same_nodes(X, y)
        labels, known = labels_of(y, len(predicted), "NodeClassifier")
        _check_some_known(known)
        check_same_kind(labels[known], self.classes_)
        check_consistent_length(labels, sample_weight)
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        # As Python objects: NumPy would cut texts, or refuse them, to compare them with labels of another type.
        pairs = zip(labels[known].tolist(), predicted[known].tolist(), strict=True)
        right = np.array([bool(true == label) for true, label in pairs])
        return float(accuracy_score(np.ones_like(right), right, sample_weight=weights))

    @property
    def transduction_(self) -> NDArray[Any]:
        """The label of each node of `fit`: as it was given or, where it was not known, as it is predicted.

        Computed at each access, of what ``labeler_`` has learned by then: keep the array if you read it in a loop.
        """
        check_is_fitted(self)
        return self._labels_of_all()

    def _labels_of_all(self) -> NDArray[Any]:
        known, unknown, codes = self._known_and_unknown()
        found = np.empty(len(self._graph), dtype=self.classes_.dtype)
        found[known] = self.classes_[codes]
        found[unknown] = self._as_array(self.labeler_.predict_many(self._names(unknown)))
        return found

    def _known_and_unknown(self) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """The rows of the nodes whose label was learned, those of the others, and the codes of the labels learned."""
        learned = self.labeler_.labels.copy()
        known = np.array(self._graph.rows_of(learned), dtype=np.intp)
        is_known = np.zeros(len(self._graph), dtype=bool)
        is_known[known] = True
        return known, np.flatnonzero(~is_known), self._codes(list(learned.values()))

    def _names(self, rows: NDArray[np.intp]) -> list[Any]:
        return [self._graph.nodes[u] for u in rows.tolist()]

    def _codes(self, labels: list[Any]) -> NDArray[np.intp]:
        code_of = {label: code for code, label in enumerate(self.classes_.tolist())}
        return np.array([code_of[label] for label in labels], dtype=np.intp)

    def _as_array(self, labels: list[Any]) -> NDArray[Any]:
        return np.asarray(self.classes_[self._codes(labels)])

    def _labeler(self, graph: CSRGraph, classes: NDArray[Any]) -> OnlineNodeLabeler:
        if self.method not in METHODS:
            raise ValueError(f'method must be "adaptive" or "fastonl", got {self.method!r}')
        return OnlineNodeLabeler(
            graph,
            classes.tolist(),
            kernel=self.kernel,
            smoothness=self.smoothness,
            method=self.method,
            direction=self.direction,
            epsilon=self.epsilon,
        )

    def _take(self, graph: CSRGraph, labeler: OnlineNodeLabeler, classes: NDArray[Any]) -> None:
        self._graph, self.labeler_, self.classes_ = graph, labeler, classes

    def _fitted_graph(self, X: Any) -> CSRGraph:
        """The graph that X is."""
        if _is_graph(X):
            graph = as_csr_graph(X)
            self.__dict__.pop("feature_names_in_", None)
            self.n_features_in_ = len(graph)
            return graph
        index = _index_of(X)
        X = validate_data(self, X, accept_sparse=FORMATS)
        _check_same_order(index, getattr(self, "feature_names_in_", None))
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"X must be a square matrix, the adjacency of a graph, got shape {X.shape}; {_way_out(X)}")
        return _graph_of(_checked_weights(X))

    def _rows_of(self, X: Any) -> Rows | None:
        """The rows of nodes that join; None if X is the graph of `fit`."""
        graph = self._graph
        if _is_graph(X):
            if not _are_equal(as_csr_graph(X), graph):
                raise ValueError("X is another graph than that of fit; nodes that join it are rows of a matrix")
            return None
        X = _checked_weights(validate_data(self, X, accept_sparse=FORMATS, reset=False))
        if X.shape[0] == X.shape[1] and _are_equal(_graph_of(X), graph):
            return None
        return _joining_rows(X)


def _is_graph(X: Any) -> bool:
    return isinstance(X, CSRGraph | ChangingGraph | nx.Graph)


def _way_out(X: Any) -> str:
    """What to do instead of passing a matrix that is not square."""
    advice = (
        "kneighbors_graph makes one of features, and to learn from some of the nodes, set y to -1 at the others or cut "
        "rows and columns"
    )
    if X.shape[0] > X.shape[1]:
        return advice
    return (
        f"{advice}. If only rows were cut by cross_val_score or GridSearchCV of a pipeline, its first step has no tag "
        "pairwise: transform X first, and pass NodeClassifier alone"
    )


def _index_of(values: Any) -> Any:
    """The index of a DataFrame or Series of pandas; None of anything else."""
    return values.index if hasattr(values, "iloc") else None


def _check_same_nodes(X: Any, y: Any) -> None:
    """Raise an error if y is a Series in whose index the nodes of X stand in another order."""
    index = _index_of(y)
    if index is not None and _are_reordered(index, list(X) if _is_graph(X) else _index_of(X)):
        raise ValueError(
            "y is a Series whose index has the nodes of X in another order: pass y.reindex(nodes), where nodes are "
            f"{'list(X)' if _is_graph(X) else 'X.index'}, or y.to_numpy() if its values are in the order of X"
        )


def _check_some_known(known: NDArray[np.bool_]) -> None:
    if not known.any():
        raise ValueError("y has no label at all, only -1, None or NaN, which mean that a label is not known")


def _check_same_order(index: Any, columns: Any) -> None:
    """Raise an error if rows and columns have the same names in another order."""
    if _are_reordered(index, columns):
        raise ValueError("the rows and the columns of X are the same nodes in another order: pass X[X.index]")


def _are_reordered(one: Any, other: Any) -> bool:
    """Whether both are the same names in another order."""
    if one is None or other is None or len(one) != len(other) or list(one) == list(other):
        return False
    return set(one) == set(other)


def _checked_weights(X: Any) -> Any:
    """The matrix, without negative weights."""
    is_sparse: bool = sparse.issparse(X)
    values = X.data if is_sparse else X  # min() of a sparse array would sum its duplicates in place
    if values.dtype.kind in "if" and values.size and values.min() < 0:
        entries: Any = sparse.coo_array(X)
        e = int((entries.data < 0).argmax())
        u, v = (int(ends[e]) for ends in entries.coords)
        raise ValueError(
            f"Negative values in data passed to NodeClassifier: the edge ({u}, {v}) has weight {entries.data[e]:g}, "
            "and weights say how much two nodes have in common"
        )
    return X


def _graph_of(X: Any) -> CSRGraph:
    """The graph of a square matrix: undirected if that is symmetric up to rounding, as matrices of kernels are."""
    A = sparse.csr_array(X)
    graph = CSRGraph.from_scipy(A)
    if not graph.is_directed():
        return graph
    A = graph.to_scipy()
    if (abs(A - A.T) > ASYMMETRY * A).nnz == 0:
        return CSRGraph.from_scipy(0.5 * (A + A.T))
    return graph


def _joining_rows(X: Any) -> Rows:
    """The rows of nodes that join, in time that depends on these alone, and not on the size of the graph."""
    A = sparse.csr_array(X, copy=True)
    check_compressed(A.indptr, A.indices, A.shape[1])
    check_weights(A.data, lambda e: (np.searchsorted(A.indptr, e, "right") - 1, A.indices[e]))
    A.sum_duplicates()
    A.eliminate_zeros()
    return Rows(A.indptr, A.indices, A.data.astype(np.float64))


def _are_equal(one: CSRGraph, other: CSRGraph) -> bool:
    """Whether both graphs have the same edges with the same weights, in whichever order they list them."""
    if one is other:
        return True
    if len(one) != len(other) or len(one.indices) != len(other.indices) or one.is_directed() != other.is_directed():
        return False
    if not np.array_equal(one.indptr, other.indptr):
        return False
    matrices = one.to_scipy(), other.to_scipy()
    for matrix in matrices:  # which are copies
        matrix.sort_indices()
    A, B = matrices
    return np.array_equal(A.indices, B.indices) and np.array_equal(A.data, B.data)


def _pairs(
    graph: CSRGraph, known: NDArray[np.bool_], classes: NDArray[Any], codes: NDArray[np.intp]
) -> list[tuple[Any, Any]]:
    """The nodes whose label is known, with their labels."""
    labels = classes.tolist()
    rows = np.flatnonzero(known).tolist()
    return [(graph.nodes[u], labels[code]) for u, code in zip(rows, codes.tolist(), strict=True)]
