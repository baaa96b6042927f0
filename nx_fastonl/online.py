"""Online node labelling: OnlineNodeLabeler, one node at a time, and online_node_labeling, a stream at once."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, Unpack

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from nx_fastonl._batch import rows_of, with_progress
from nx_fastonl._checks import check_count, check_positive
from nx_fastonl.baselines import ExactColumns, SeriesColumns, WeightedMajority, WeightedTree
from nx_fastonl.fastonl import FastONL, PushColumns
from nx_fastonl.graph import CSRGraph, as_csr_graph
from nx_fastonl.kernels import GraphKernel, KernelParameters
from nx_fastonl.relaxation import RelaxationLearner, best_label
from nx_fastonl.sequence import LabelSequence

__all__ = ["LabelerOptions", "OnlineNodeLabeler", "online_node_labeling"]

Method: TypeAlias = Literal["fastonl-fifo", "relaxation", "approximate", "weighted-majority", "weighted-tree"]

# Nodes of a stream that are handed to compiled code at once: enough to forget the cost of the call.
NODES_AT_ONCE = 256
NEVER = np.iinfo(np.int64).max
NO_DRAWS = np.empty(0)


class Learner(Protocol):
    """What learns and votes, on rows of the graph and labels counted from 0."""

    k: int

    @property
    def guesses(self) -> bool:
        """Whether a node without a vote gets a random label rather than the most frequent one."""

    def add_label(self) -> None: ...
    def votes(self, u: int) -> NDArray[np.float64]: ...
    def probabilities(self, u: int) -> NDArray[np.float64]: ...
    def learn(self, u: int, y: int) -> None: ...


class LabelerOptions(KernelParameters, total=False):
    """The parameters that belong to one kernel or method; see `OnlineNodeLabeler`."""

    epsilon: float
    trace: Literal["estimate", "paper", "exact"] | float
    symmetrized: bool
    terms: int
    trees: int


def _fastonl_fifo(kernel: GraphKernel, options: LabelerOptions) -> Learner:
    n = len(kernel.graph)
    epsilon = options.get("epsilon", 0.1 / n)
    check_positive("epsilon", epsilon)
    trace = _trace(kernel, options, kernel.estimated_trace)
    if options.get("symmetrized", False):
        columns = PushColumns(kernel, epsilon)
        return RelaxationLearner(n, columns, **trace, constant=-kernel.g, symmetrized=True)
    return FastONL(kernel, epsilon, **trace)


def _relaxation(kernel: GraphKernel, options: LabelerOptions) -> Learner:
    columns = ExactColumns(kernel)
    return RelaxationLearner(len(kernel.graph), columns, **_trace(kernel, options, lambda: columns.trace))


def _approximate(kernel: GraphKernel, options: LabelerOptions) -> Learner:
    terms = options.get("terms", 10)
    check_count("terms", terms)
    trace = _trace(kernel, options, kernel.estimated_trace)
    return RelaxationLearner(len(kernel.graph), SeriesColumns(kernel, terms), **trace, constant=-kernel.g)


def _trace(kernel: GraphKernel, options: LabelerOptions, estimate: Callable[[], float]) -> dict[str, Any]:
    trace = options.get("trace", "estimate")
    if trace == "estimate":
        return {"trace": estimate()}
    if trace == "paper":
        return {"trace": float(len(kernel.graph)) ** 2, "trace_per_label": True}
    if trace == "exact":
        return {"trace": float(np.trace(kernel.exact()))}
    if isinstance(trace, str):
        raise ValueError(f'trace must be "estimate", "paper", "exact" or a positive number, got {trace!r}')
    check_positive("trace", trace)
    return {"trace": float(trace)}


class _KernelMethod(NamedTuple):
    build: Callable[[GraphKernel, LabelerOptions], Learner]
    options: tuple[str, ...]


KERNEL_METHODS = {
    "fastonl-fifo": _KernelMethod(_fastonl_fifo, ("epsilon", "trace", "symmetrized")),
    "relaxation": _KernelMethod(_relaxation, ("trace",)),
    "approximate": _KernelMethod(_approximate, ("terms", "trace")),
}
KERNEL_OPTIONS = tuple(KernelParameters.__annotations__)
VOTING_METHODS = {"weighted-majority": (), "weighted-tree": ("trees",)}


def _make_learner(
    graph: CSRGraph, kernel: str, smoothness: float | None, method: str, seed: int, options: LabelerOptions
) -> Learner:
    if method not in KERNEL_METHODS and method not in VOTING_METHODS:
        names = ", ".join(f'"{name}"' for name in (*KERNEL_METHODS, *VOTING_METHODS))
        raise ValueError(f"unknown method {method!r}; the methods are {names}")
    if method in KERNEL_METHODS:
        known: tuple[str, ...] = (*KERNEL_METHODS[method].options, *KERNEL_OPTIONS)
    else:
        known = VOTING_METHODS[method]
    for option in options:
        if option not in known:
            takes = ", ".join(known) or "no options"
            raise TypeError(f"method {method!r} takes {takes}; it has no option {option}")
    if graph.is_directed():
        raise nx.NetworkXNotImplemented("online labelling needs an undirected graph; G.to_undirected() makes one")
    if method == "weighted-majority":
        return WeightedMajority(graph)
    if method == "weighted-tree":
        trees = options.get("trees", 5)
        check_count("trees", trees)
        return WeightedTree(graph, trees, seed)
    parameters: Any = {name: value for name, value in options.items() if name in KERNEL_OPTIONS}
    return KERNEL_METHODS[method].build(GraphKernel(graph, kernel, smoothness, **parameters), options)


class OnlineNodeLabeler:
    """Predicts the labels of a graph's nodes, and learns them as they are revealed, one node at a time.

    Parameters
    ----------
    G : nx.Graph, scipy sparse array or CSRGraph
        Undirected. Nodes that never get a label still connect others.
    classes : iterable of hashable, optional
        The labels there are. By default they are discovered as they appear, and nothing is predicted (None) before
        the first.
    kernel : str, default "normalized-laplacian"
        Which nodes count as similar: see `kernel_column`. The two weighted methods use none.
    smoothness : float, optional
        lam / n, by default 0.15: see `kernel_column`.
    method : str, default "fastonl-fifo"
        - ``"fastonl-fifo"``: the paper's FastONL, a local push for each arriving node
        - ``"relaxation"``: the same learner on the exact kernel, for up to 20,000 nodes
        - ``"approximate"``: on the kernel's power series, one column at a time
        - ``"weighted-majority"``: labelled neighbours vote
        - ``"weighted-tree"``: the nearest labelled node on each of a few random spanning trees votes
    predict : {"argmax", "sample"}, default "argmax"
        Predict the most probable label, or draw one from the learner's distribution, as the regret bound assumes.
    seed : int or numpy.random.Generator, optional
        Decides what is drawn: samples, spanning trees, guesses. A prediction's draw depends on the seed, the node and
        the number of labels learned, so predicting has no side effects.
    weight : str or None, default "weight"
        The edge attribute that holds the weight, 1 where it is missing. None ignores weights.
    lam, beta, b, S : optional
        The kernel's parameters: see `kernel_column`.
    epsilon : float, optional
        For ``"fastonl-fifo"``, the residual per neighbour below which a node rests, by default 0.1 / n.
    trace : {"estimate", "paper", "exact"} or float, default "estimate"
        The trace of the kernel matrix, which sets how sure the learner is of itself: estimated from a sample, k n^2 as
        in the paper's experiments (almost uniform distributions; for ``"argmax"`` that hardly matters), exact (up to
        20,000 nodes), or a number.
    symmetrized : bool, default False
        For ``"fastonl-fifo"``: score by the mean of a row and a column of the approximate kernel, as the paper's
        analysis does. Takes memory for every node that the columns of learned nodes reach.
    terms : int, default 10
        For ``"approximate"``: the terms of the power series beyond the first.
    trees : int, default 5
        For ``"weighted-tree"``: the number of spanning trees.

    Raises
    ------
    networkx.NetworkXNotImplemented
        If `G` is directed.
    networkx.NetworkXPointlessConcept
        If `G` has no nodes.
    TypeError, ValueError
        If a parameter is unknown, of the wrong type or out of range, or the graph too large for an exact kernel.

    Notes
    -----
    Labels with equal votes, all of them where a node has no labelled node near it, are told apart by how often they
    were learned, then by which was learned first, then by the order of `classes`. ``"weighted-majority"`` guesses at
    random instead for a node without labelled neighbours, as in the paper's experiments.

    Several threads may predict while one learns.

    References
    ----------
    B. Zhou, Y. Sun, R. Babanezhad, "Fast Online Node Labeling for Very Large Graphs", ICML 2023.

    Examples
    --------
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> G = nx.karate_club_graph()
    >>> model = fo.OnlineNodeLabeler(G, classes=["Mr. Hi", "Officer"])
    >>> model.learn_one(0, "Mr. Hi")
    >>> model.learn_one(33, "Officer")
    >>> model.predict_one(32)
    'Officer'
    >>> model.predict_many([1, 2, 29])
    ['Mr. Hi', 'Mr. Hi', 'Officer']
    """

    def __init__(
        self,
        G: Any,
        classes: Iterable[Hashable] | None = None,
        kernel: str = "normalized-laplacian",
        smoothness: float | None = None,
        method: Method = "fastonl-fifo",
        *,
        predict: Literal["argmax", "sample"] = "argmax",
        seed: int | np.random.Generator | None = None,
        weight: str | None = "weight",
        **options: Unpack[LabelerOptions],
    ) -> None:
        self._graph = as_csr_graph(G, weight)
        if predict not in ("argmax", "sample"):
            raise ValueError(f'predict must be "argmax" or "sample", got {predict!r}')
        self._seed = _as_seed(seed)
        known = None if classes is None else _distinct_labels(classes)
        self._arguments: dict[str, Any] = {"classes": known, "kernel": kernel, "smoothness": smoothness}
        self._arguments |= {"method": method, "predict": predict, **options}
        self._samples = predict == "sample"
        self._learner = _make_learner(self._graph, kernel, smoothness, method, self._seed, options)
        self._classes: list[Any] = []
        self._code: dict[Hashable, int] = {}
        # How often each label was learned, and how many nodes had been when it first was.
        self._counts = np.zeros(4, dtype=np.int64)
        self._appearances = np.full(4, NEVER)
        self._learned: dict[int, int] = {}
        self._lock = threading.Lock()
        for label in known or ():
            self._add_class(label)
        self._open = known is None

    def __repr__(self) -> str:
        method, k, learned = self._arguments["method"], len(self._classes), len(self._learned)
        return f"OnlineNodeLabeler(method={method!r}): {k} labels, {learned} of {len(self._graph)} nodes learned"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels known: those given, or those learned so far, in order of appearance."""
        return tuple(self._classes)

    @property
    def n_learned(self) -> int:
        """The number of nodes whose label was learned."""
        return len(self._learned)

    def clone(self) -> OnlineNodeLabeler:
        """A new labeler with the same graph, parameters and random draws, which has learned nothing."""
        return OnlineNodeLabeler(self._graph, **self._arguments, seed=self._seed)

    def predict_one(self, node: Hashable) -> Any:
        """The label that `node` probably has; None while no label is known.

        Parameters
        ----------
        node : node
            Whether its label was learned or not.

        Returns
        -------
        label

        Raises
        ------
        networkx.NodeNotFound
            If `node` is not in the graph.
        """
        return self._predict(self._graph.index(node))

    def predict_proba_one(self, node: Hashable) -> dict[Any, float]:
        """The learner's distribution over the labels known: what ``predict="sample"`` draws from.

        Parameters
        ----------
        node : node
            Whether its label was learned or not.

        Returns
        -------
        dict
            ``{label: probability}``, of every label known.

        Raises
        ------
        networkx.NodeNotFound
            If `node` is not in the graph.
        """
        u = self._graph.index(node)
        if not self._classes:
            return {}
        return dict(zip(self._classes, self._learner.probabilities(u).tolist(), strict=False))

    def predict_many(self, nodes: Iterable[Hashable]) -> list[Any]:
        """The labels that these nodes probably have, in the same order.

        Parameters
        ----------
        nodes : iterable of nodes

        Returns
        -------
        list of labels

        Raises
        ------
        networkx.NodeNotFound
            If a node is not in the graph.
        """
        return [self._predict(u) for u in rows_of(self._graph, nodes, "nodes")]

    def learn_one(self, node: Hashable, label: Hashable, *, overwrite: bool = False) -> None:
        """Learn the label of a node.

        Parameters
        ----------
        node : node
        label : hashable
            Not None.
        overwrite : bool, default False
            Whether to replace the label that `node` was learned with before.

        Raises
        ------
        networkx.NodeNotFound
            If `node` is not in the graph.
        ValueError
            If the label is not one of the `classes` given, or the node was learned before and `overwrite` is False.
        TypeError
            If the label is None or cannot be hashed.
        """
        self._learn(self._graph.index(node), _checked_label(node, label), overwrite)

    def _learn(self, u: int, label: Hashable, overwrite: bool = False) -> None:
        with self._lock:
            before = self._learned.get(u)
            y = self._register(u, label, overwrite)
            self._learner.learn(u, y)
            if before is not None:
                self._counts[before] -= 1
            self._counts[y] += 1
            self._appearances[y] = min(self._appearances[y], len(self._learned))

    def _register(self, u: int, label: Hashable, overwrite: bool = False) -> int:
        """Note the label of a node that is about to be learned; return its code."""
        if u in self._learned and not overwrite:
            before = self._classes[self._learned[u]]
            raise ValueError(
                f"node {self._graph.nodes[u]!r} was learned before, as {before!r}; overwrite=True replaces that"
            )
        if label not in self._code:
            if not self._open:
                raise ValueError(
                    f"label {label!r} of node {self._graph.nodes[u]!r} is not one of the classes {self._classes!r}"
                )
            self._add_class(label)
        self._learned[u] = self._code[label]
        return self._code[label]

    def _add_class(self, label: Hashable) -> None:
        if len(self._classes) == len(self._counts):
            self._counts = np.concatenate([self._counts, np.zeros_like(self._counts)])
            self._appearances = np.concatenate([self._appearances, np.full_like(self._appearances, NEVER)])
        self._classes.append(label)
        self._learner.add_label()
        self._code[label] = len(self._classes) - 1

    def _predict(self, u: int) -> Any:
        if not self._classes:
            return None
        if self._samples:
            below = np.cumsum(self._learner.probabilities(u))
            y = int(np.searchsorted(below, self._draw(u, len(self._learned)), side="right"))
            return self._classes[min(y, len(below) - 1)]
        votes = self._learner.votes(u)
        if self._learner.guesses and not votes.any():
            return self._classes[int(self._draw(u, len(self._learned)) * len(votes))]
        return self._classes[best_label(votes, self._counts, self._appearances)]

    def _predict_and_learn(self, rows: list[int], labels: list[Hashable]) -> list[Any]:
        """What `_predict` and `_learn` give in turn; in compiled code where the learner has that."""
        if not isinstance(self._learner, FastONL):
            predicted = []
            for u, label in zip(rows, labels, strict=True):
                predicted.append(self._predict(u))
                self._learn(u, label)
            return predicted
        known, before = len(self._classes), len(self._learned)
        codes = [self._register(u, label) for u, label in zip(rows, labels, strict=True)]
        draws = [self._draw(u, before + i) for i, u in enumerate(rows)] if self._samples else NO_DRAWS
        found = self._learner.run(
            np.array(rows, dtype=np.int32),
            np.array(codes, dtype=np.int32),
            np.array(draws, dtype=np.float64),
            self._counts,
            self._appearances,
            known,
        )
        return [self._classes[y] if y >= 0 else None for y in found.tolist()]

    def _draw(self, u: int, n_learned: int) -> float:
        """A number between 0 and 1 that belongs to this node at this time."""
        return random.Random((self._seed << 64) | (u << 32) | n_learned).random()


def online_node_labeling(
    G: Any,
    labels: Mapping[Hashable, Hashable] | Iterable[tuple[Hashable, Hashable]] | str,
    kernel: str = "normalized-laplacian",
    smoothness: float | None = None,
    method: Method = "fastonl-fifo",
    *,
    classes: Iterable[Hashable] | None = None,
    predict: Literal["argmax", "sample"] = "argmax",
    seed: int | np.random.Generator | None = None,
    weight: str | None = "weight",
    progress: bool = False,
    **options: Unpack[LabelerOptions],
) -> LabelSequence:
    """Predict the label of each arriving node from the graph and the labels before it, then learn its true label.

    Parameters
    ----------
    G : nx.Graph, scipy sparse array or CSRGraph
        Undirected. Nodes without a label still connect others.
    labels : dict, iterable of pairs, or str
        ``{node: label}`` or ``(node, label)`` in order of arrival, or the name of the node attribute that holds the
        labels, in the order of the graph. Labels are hashable; nodes whose label is None are skipped.
    kernel, smoothness, method, classes, predict, seed, weight
        As for `OnlineNodeLabeler`.
    progress : bool, default False
        Show a progress bar (needs tqdm).
    **options
        The parameters of single kernels and methods, as for `OnlineNodeLabeler`: `lam`, `beta`, `b`, `S`, `epsilon`,
        `trace`, `symmetrized`, `terms`, `trees`.

    Returns
    -------
    LabelSequence
        The predicted labels in order of arrival, with the nodes, the true labels, mistakes and error rates.

    Raises
    ------
    networkx.NodeNotFound
        If a labelled node is not in the graph.
    networkx.NetworkXNotImplemented
        If `G` is directed.
    networkx.NetworkXPointlessConcept
        If `G` has no nodes.
    TypeError, ValueError
        If a parameter is unknown, of the wrong type or out of range, or a node arrives twice.

    References
    ----------
    B. Zhou, Y. Sun, R. Babanezhad, "Fast Online Node Labeling for Very Large Graphs", ICML 2023.

    Examples
    --------
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> G = nx.karate_club_graph()
    >>> seq = fo.online_node_labeling(G, [(0, "a"), (33, "b"), (1, "a"), (32, "b"), (2, "a")])
    >>> list(seq)
    [None, 'a', 'a', 'b', 'a']
    >>> seq.mistakes, seq.error_rate
    (2, 0.4)
    """
    model = OnlineNodeLabeler(
        G, classes, kernel, smoothness, method, predict=predict, seed=seed, weight=weight, **options
    )
    graph = model._graph
    arrivals, total = _arrivals(G, labels)
    rows, truth, predicted = [], [], []
    done = 0
    for node, label in with_progress(arrivals, total, progress, "node"):
        u = graph.index(node)
        if label is None:
            continue
        rows.append(u)
        truth.append(_checked_label(node, label))
        if len(rows) == done + NODES_AT_ONCE:
            predicted += model._predict_and_learn(rows[done:], truth[done:])
            done = len(rows)
    predicted += model._predict_and_learn(rows[done:], truth[done:])
    return LabelSequence(tuple(predicted), tuple(graph.nodes[u] for u in rows), tuple(truth))


def _arrivals(G: Any, labels: Any) -> tuple[Iterable[tuple[Hashable, Any]], int | None]:
    """The pairs of node and label, and how many there are if that is known."""
    if isinstance(labels, str):
        if not isinstance(G, nx.Graph):
            raise TypeError(f"labels={labels!r} names a node attribute, and only an nx.Graph has those")
        found = [(node, data[labels]) for node, data in G.nodes(data=True) if labels in data]
        if not found and len(G) > 0:
            raise ValueError(f"no node has the attribute {labels!r}")
        return found, len(found)
    total = len(labels) if hasattr(labels, "__len__") else None
    if hasattr(labels, "items"):
        return labels.items(), total
    if not isinstance(labels, Iterable):
        raise TypeError(f"labels must be a dict, an iterable of (node, label) or an attribute's name, got {labels!r}")
    return _pairs(labels), total


def _pairs(labels: Iterable[Any]) -> Iterator[tuple[Hashable, Any]]:
    for item in labels:
        if isinstance(item, str) or not hasattr(item, "__len__") or len(item) != 2:
            raise TypeError(f"labels must hold pairs (node, label), got {item!r}")
        node, label = item
        yield node, label


def _checked_label(node: Any, label: Any) -> Hashable:
    """The label as a plain Python object that can be told apart from others."""
    if isinstance(label, np.generic):
        label = label.item()
    if label is None:
        raise TypeError(f"the label of node {node!r} is None, which means that it has none")
    try:
        hash(label)
    except TypeError:
        raise TypeError(f"a label must be hashable, got {label!r} for node {node!r}") from None
    if label != label:
        raise ValueError(f"the label of node {node!r} is {label!r}, which does not equal itself; None marks no label")
    plain: Hashable = label
    return plain


def _as_seed(seed: int | np.random.Generator | None) -> int:
    if seed is None or isinstance(seed, np.random.Generator):
        return int(np.random.default_rng(seed).integers(2**63))
    check_count("seed", seed, least=0)
    return int(seed)


def _distinct_labels(classes: Iterable[Hashable]) -> list[Hashable]:
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        raise TypeError(f"classes must be a collection of labels, got {classes!r}")
    labels = [_checked_label("(classes)", label) for label in classes]
    if len(set(labels)) < len(labels):
        raise ValueError(f"classes must hold each label once, got {labels!r}")
    if not labels:
        raise ValueError("classes is empty; leave it out to discover labels as they appear")
    return labels
