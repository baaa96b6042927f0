"""Online node labelling: OnlineNodeLabeler, one node at a time, and online_node_labeling, a stream at once."""

from __future__ import annotations

import copy
import random
import threading
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from numbers import Integral
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._batch import rows_of, with_progress
from nx_fastonl._checks import check_whole
from nx_fastonl._dispatch import dispatchable
from nx_fastonl._labels import Labels, PlainLabels, arrivals, checked_label, distinct_labels, is_missing
from nx_fastonl.certificates import CertifiedLabel, certify
from nx_fastonl.fastonl import FastONL, FifoFastONL
from nx_fastonl.graph import as_csr_graph
from nx_fastonl.methods import KERNEL_METHODS, LabelerOptions, Method, make_learner
from nx_fastonl.sequence import LabelSequence

__all__ = ["OnlineNodeLabeler", "online_node_labeling"]


# Nodes that are handed to compiled code at once: enough to forget the cost of the call.
NODES_AT_ONCE = 2048
NEVER = np.iinfo(np.int64).max
NO_DRAWS = np.empty(0)


class OnlineNodeLabeler:
    """Predicts the labels of a graph's nodes, and learns them as they are revealed, one node at a time.

    Parameters
    ----------
    G : nx.Graph, scipy sparse array or CSRGraph
        Undirected; converted once, now: see `CSRGraph.from_networkx`. Nodes that never get a label still connect
        others.
    classes : iterable of hashable, optional
        The labels there are. By default they are discovered as they appear, and nothing is predicted (None, which
        counts as a mistake) before the first.
    kernel : str, default "normalized-laplacian"
        Which nodes count as similar: see `kernel_column`. The two weighted methods use none.
    smoothness : float, optional
        lam / n, by default 0.15: see `kernel_column`. What is best differs between kernels.
    method : str, default "fastonl"
        - ``"fastonl"``: the paper's FastONL on one diffusion for all nodes: learning spreads a label through the graph
          around it, predicting reads what arrived. The same error bound as the next, hundreds of times faster
        - ``"fastonl-fifo"``: as in the paper, a local push for each arriving node
        - ``"relaxation"``: the same learner on the exact kernel, for up to 20,000 nodes
        - ``"approximate"``: on the kernel's power series, one column at a time
        - ``"weighted-majority"``: labelled neighbours vote
        - ``"weighted-tree"``: the nearest labelled node on each of a few random spanning trees votes
    predict : {"argmax", "sample"}, default "argmax"
        Predict the most probable label, or draw one from the learner's distribution, as the regret bound assumes.
    seed : int or numpy.random.Generator, optional
        Decides what is drawn: samples, spanning trees, guesses; by default they differ from run to run. A
        prediction's draw depends on the seed, the node and the number of labels learned, so predicting has no side
        effects.
    weight : str or None, default "weight"
        The edge attribute that holds the weight, 1 where it is missing. None ignores weights.
    lam, beta, b, S : optional
        The kernel's parameters: see `kernel_column`.
    epsilon : float, optional
        For the two FastONL methods, the residual per neighbour below which a node rests, by default 0.1 / n as in the
        paper. Larger is faster and less accurate. The same epsilon gives both the same bound on the error of scores, of
        which ``"fastonl-fifo"`` often uses less. Where few labels are known, or all of them are learned by `fit`, a
        tenth of the default is usually more accurate. Without degrees in their scaling, ``"laplacian"`` and
        ``"augmented-laplacian"`` reach much further for the same epsilon than the other kernels, and take as much
        longer.
    trace : {"estimate", "paper", "exact"} or float, default "estimate"
        The trace of the kernel matrix, which sets how sure the learner is of itself, the less the larger: estimated
        from a sample, k n^2 as in the paper's experiments (almost uniform distributions; for ``"argmax"`` that hardly
        matters), exact (up to 20,000 nodes), or a number.
    symmetrized : bool, default False
        For ``"fastonl-fifo"``: score by the mean of a row and a column of the approximate kernel, as the paper's
        analysis does. Takes memory for every node that the columns of learned nodes reach.
    dtype : {"float64", "float32"}, default "float64"
        For ``"fastonl"``, what the diffusion is kept in. Single precision halves what a label takes; `certify_one`
        then has rounding errors to fear and is seldom certain.
    terms : int, default 10
        For ``"approximate"``: the terms of the power series beyond the first.
    trees : int, default 5
        For ``"weighted-tree"``: the number of spanning trees.

    Raises
    ------
    networkx.NodeNotFound
        If a node of `S` is not in the graph.
    networkx.NetworkXNotImplemented
        If `G` is directed.
    networkx.NetworkXPointlessConcept
        If `G` has no nodes.
    TypeError, ValueError
        If a parameter is unknown, of the wrong type or out of range, or the graph too large for an exact kernel.

    See Also
    --------
    online_node_labeling : Predict and learn a whole stream.

    Notes
    -----
    Labels with equal votes, all of them where a node has no labelled node near it, are told apart by how often they
    were learned, then by which was learned first, then by the order of `classes`. ``"weighted-majority"`` guesses at
    random instead for a node without labelled neighbours, as in the paper's experiments.

    Several threads may predict while one learns.

    With ``"fastonl"``, memory follows what labels reach: 16 bytes a label and 16 more for each node that a block of 8
    labels reaches, 144 in all; with up to 2 or 4 labels 48 or 80 bytes. Single precision halves what a label takes.

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
        method: Method = "fastonl",
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
        known = None if classes is None else distinct_labels(classes)
        self._arguments: dict[str, Any] = {"classes": known, "kernel": kernel, "smoothness": smoothness}
        self._arguments |= {"method": method, "predict": predict, **copy.deepcopy(options)}
        self._samples = predict == "sample"
        self._learner = make_learner(self._graph, kernel, smoothness, method, self._seed, options)
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
        shown = ("method", "kernel") if self._arguments["method"] in KERNEL_METHODS else ("method",)
        arguments = ", ".join(f"{name}={self._arguments[name]!r}" for name in shown)
        learned = f"{len(self._learned)} of {len(self._graph)} nodes learned"
        return f"OnlineNodeLabeler({arguments}): {len(self._classes)} labels, {learned}"

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

    @property
    def labels(self) -> dict[Any, Any]:
        """The labels learned: ``{node: label}``, in the order in which the nodes were."""
        return {self._graph.nodes[u]: self._classes[y] for u, y in self._learned.items()}

    def clone(self) -> OnlineNodeLabeler:
        """A new labeler with the same graph, parameters and random draws, which has learned nothing.

        Returns
        -------
        OnlineNodeLabeler

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> model = fo.OnlineNodeLabeler(nx.karate_club_graph()).fit({0: "Mr. Hi", 33: "Officer"})
        >>> model.clone()
        OnlineNodeLabeler(method='fastonl', kernel='normalized-laplacian'): 0 labels, 0 of 34 nodes learned
        """
        return type(self)(self._graph, **self._arguments, seed=self._seed)

    def predict_one(self, node: Hashable) -> Any:
        """The label that `node` probably has; None while no label is known.

        Parameters
        ----------
        node : node
            Whether its label was learned or not. A learned label counts as evidence, and is not simply returned:
            `labels` has those.

        Returns
        -------
        label

        Raises
        ------
        networkx.NodeNotFound
            If `node` is not in the graph.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> model = fo.OnlineNodeLabeler(nx.karate_club_graph())
        >>> model.predict_one(8) is None
        True
        >>> model.fit({0: "Mr. Hi", 33: "Officer"}).predict_one(8)
        'Officer'
        """
        return self._predict(self._graph.index(node))

    def predict_proba_one(self, node: Hashable) -> dict[Any, float]:
        """The learner's distribution over the labels known: what ``predict="sample"`` draws from.

        It is made for the regret bound, and no measure of confidence: mostly it is far less sure than it could be.
        `certify_one` says what is certain.

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

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> model = fo.OnlineNodeLabeler(nx.karate_club_graph()).fit({0: "Mr. Hi", 33: "Officer"})
        >>> {label: round(probability, 2) for label, probability in model.predict_proba_one(8).items()}
        {'Mr. Hi': 0.47, 'Officer': 0.53}
        """
        probabilities = self._learner.probabilities(self._graph.index(node))
        return dict(zip(self._classes, probabilities.tolist(), strict=False))  # a label may just have joined

    def predict_many(self, nodes: Iterable[Hashable] | None = None, *, progress: bool = False) -> list[Any]:
        """The labels that these nodes probably have, in the same order.

        Parameters
        ----------
        nodes : iterable of nodes, optional
            By default all nodes, in the order of the graph.
        progress : bool, default False
            Show a progress bar (needs tqdm).

        Returns
        -------
        list of labels

        Raises
        ------
        networkx.NodeNotFound
            If a node is not in the graph.
        TypeError
            If `nodes` is one node, or no collection.
        ImportError
            If `progress` is asked for and tqdm is not installed.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> model = fo.OnlineNodeLabeler(nx.karate_club_graph()).fit({0: "Mr. Hi", 33: "Officer"})
        >>> model.predict_many([1, 8])
        ['Mr. Hi', 'Officer']
        """
        rows = rows_of(self._graph, nodes, "nodes")
        if self._samples or not isinstance(self._learner, FastONL):
            return [self._predict(u) for u in with_progress(rows, len(rows), progress, "node")]
        predicted: list[Any] = []
        for part in with_progress(_parts(rows), None, progress, f"{NODES_AT_ONCE} nodes"):
            found = self._learner.best_of_each(np.array(part, dtype=np.int32), self._counts, self._appearances)
            predicted += self._named(found)
        return predicted

    def certify_one(self, node: Hashable, *, max_operations: int = 1_000_000) -> CertifiedLabel:
        """The label that `node` has by the exact kernel, if that can be proved.

        Looks further and further around the node, until the two best labels are further apart than what is left out
        can bridge, or the budget ends. For ``method="fastonl"`` only.

        Parameters
        ----------
        node : node
            Whether its label was learned or not.
        max_operations : int, default 1000000
            How many edges may be walked beyond a first look, which takes up to 20,000. A million take from some ten
            to a hundred milliseconds.

        Returns
        -------
        CertifiedLabel
            The label, the margin to the next best, the error of the margin, and whether the label is certain: that it
            is the one which the exact kernel matrix gives for what was learned.

        Raises
        ------
        networkx.NodeNotFound
            If `node` is not in the graph.
        TypeError, ValueError
            If the method gives no certificates, or `max_operations` is not a whole number of at least 0.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> G = nx.karate_club_graph()
        >>> model = fo.OnlineNodeLabeler(G)
        >>> model.learn_one(0, "Mr. Hi")
        >>> model.learn_one(33, "Officer")
        >>> answer = model.certify_one(8)
        >>> answer.label, answer.certain, answer.error < answer.margin
        ('Officer', True, True)
        """
        u = self._graph.index(node)
        check_whole("max_operations", max_operations, least=0)
        if not isinstance(self._learner, FastONL):
            raise ValueError(f'method {self._arguments["method"]!r} gives no certificates; method="fastonl" does')
        with self._lock:
            y, margin, error, certain = certify(self._learner, u, self._counts, self._appearances, int(max_operations))
            return CertifiedLabel(None if y is None else self._classes[y], margin, error, certain)

    def learn_one(self, node: Hashable, label: Hashable, *, overwrite: bool = False) -> None:
        """Learn the label of a node.

        Parameters
        ----------
        node : node
            Whose label it is.
        label : hashable
            Neither None nor NaN, and one of the `classes` if those were given.
        overwrite : bool, default False
            Whether to replace the label that `node` was learned with before. That label stays one of the `classes`.

        Raises
        ------
        networkx.NodeNotFound
            If `node` is not in the graph.
        ValueError
            If the label is None or NaN, or not one of the `classes` given, or if the node was learned before and
            `overwrite` is False.
        TypeError
            If the label cannot be hashed.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> model = fo.OnlineNodeLabeler(nx.path_graph(3))
        >>> model.learn_one(0, "a")
        >>> model.learn_one(0, "b", overwrite=True)
        >>> model.labels, model.classes
        ({0: 'b'}, ('a', 'b'))
        """
        self._learn(self._graph.index(node), checked_label(node, label), overwrite)

    def fit(self, labels: Labels) -> OnlineNodeLabeler:
        """Learn a set of labels at once, in no particular order.

        None of them is predicted before it is learned, so each counts in full, whatever the others are; and labels that
        are learned together spread together, which is faster than one by one. `predict_many` then labels other nodes.

        Parameters
        ----------
        labels : dict, or iterable of pairs
            ``{node: label}`` or ``(node, label)``. Nodes whose label is None or NaN are skipped. What was learned
            before stays; `clone` starts afresh.

        Returns
        -------
        OnlineNodeLabeler
            This labeler.

        Raises
        ------
        networkx.NodeNotFound
            If a node is not in the graph.
        TypeError, ValueError
            As `learn_one`. Nothing is learned then.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> G = nx.karate_club_graph()
        >>> model = fo.OnlineNodeLabeler(G).fit({0: "Mr. Hi", 1: "Mr. Hi", 32: "Officer", 33: "Officer"})
        >>> right = sum(label == data["club"] for label, data in zip(model.predict_many(), G.nodes.values()))
        >>> right, len(G)
        (33, 34)
        """
        if isinstance(labels, str):
            raise TypeError(f"fit takes {{node: label}} or pairs: nx.get_node_attributes(G, {labels!r}) has them")
        lessons: dict[int, Hashable] = {}
        with self._lock:
            for node, label in arrivals(None, labels)[0]:
                u = self._graph.index(node)
                if is_missing(label):
                    continue
                label = checked_label(node, label)
                self._check(u, label, hint=False)
                if u in lessons:
                    raise ValueError(f"node {node!r} is there twice, with labels {lessons[u]!r} and {label!r}")
                lessons[u] = label
            with self._new_classes_only_on_success():
                codes = [self._code_of(label) for label in lessons.values()]
                self._learner.fit(np.array(list(lessons), dtype=np.int32), np.array(codes, dtype=np.int32))
            for u, y in zip(lessons, codes, strict=True):
                self._count(u, y)
        return self

    def _learn(self, u: int, label: Hashable, overwrite: bool = False) -> None:
        with self._lock:
            self._check(u, label, overwrite)
            self._learner.prepare(u)  # what takes long comes before the first change, or takes its own changes back
            with self._new_classes_only_on_success():
                y = self._code_of(label)
                self._learner.learn(u, y)
            if u in self._learned:
                self._counts[self._learned[u]] -= 1
            self._count(u, y)

    @contextmanager
    def _new_classes_only_on_success(self) -> Iterator[None]:
        """Drop the labels that were new if nothing comes of it."""
        known = len(self._classes)
        try:
            yield
        except BaseException:
            while len(self._classes) > known:
                self._learner.drop_label()
                del self._code[self._classes.pop()]
            raise

    def _count(self, u: int, y: int) -> None:
        self._learned[u] = y
        self._counts[y] += 1
        self._appearances[y] = min(self._appearances[y], len(self._learned))

    def _check(self, u: int, label: Hashable, overwrite: bool = False, *, hint: bool = True) -> None:
        """Raise if the node was learned before, or the label is none of the classes given."""
        if u in self._learned and not overwrite:
            message = f"node {self._graph.nodes[u]!r} was learned before, as {self._classes[self._learned[u]]!r}"
            raise ValueError(message + ("; learn_one(..., overwrite=True) replaces that" if hint else ""))
        if not self._open and label not in self._code:
            raise ValueError(
                f"label {label!r} of node {self._graph.nodes[u]!r} is not one of the classes {self._classes!r}"
            )

    def _code_of(self, label: Hashable) -> int:
        if label not in self._code:
            self._add_class(label)
        return self._code[label]

    def _add_class(self, label: Hashable) -> None:
        if len(self._classes) == len(self._counts):
            self._counts = np.concatenate([self._counts, np.zeros_like(self._counts)])
            self._appearances = np.concatenate([self._appearances, np.full_like(self._appearances, NEVER)])
        self._classes.append(label)  # first: another thread may predict it as soon as the learner knows it
        try:
            self._learner.add_label()
        except BaseException:
            self._classes.pop()
            raise
        self._code[label] = len(self._classes) - 1

    def _predict(self, u: int) -> Any:
        if self._samples:
            y = self._learner.draw(u, self._draw(u, len(self._learned)))
        else:
            y = self._learner.best(u, self._counts, self._appearances)
            k = self._learner.k
            if y is None and k > 0:
                y = int(self._draw(u, len(self._learned)) * k)
        return None if y is None else self._classes[y]

    def _predict_and_learn(self, rows: list[int], labels: list[Hashable]) -> list[Any]:
        """What `_predict` and `_learn` give in turn; in compiled code where the learner has that."""
        if not isinstance(self._learner, FastONL | FifoFastONL):
            predicted = []
            for u, label in zip(rows, labels, strict=True):
                predicted.append(self._predict(u))
                self._learn(u, label)
            return predicted
        known, before = len(self._classes), len(self._learned)
        codes = self._enter(rows, labels)
        draws = [self._draw(u, before + i) for i, u in enumerate(rows)] if self._samples else NO_DRAWS
        found = self._learner.run(
            np.array(rows, dtype=np.int32),
            np.array(codes, dtype=np.int32),
            np.array(draws, dtype=np.float64),
            self._counts,
            self._appearances,
            known,
        )
        return self._named(found)

    def _enter(self, rows: list[int], labels: list[Hashable]) -> list[int]:
        """Enter these nodes among the learned; return the numbers of their labels."""
        new = [label for label in dict.fromkeys(labels) if label not in self._code]
        if len(set(rows)) < len(rows) or not self._learned.keys().isdisjoint(rows) or (new and not self._open):
            for u, label in zip(rows, labels, strict=True):
                self._check(u, label, hint=False)
                self._learned[u] = self._code_of(label)
        for label in new:
            self._add_class(label)
        codes = [self._code[label] for label in labels]
        self._learned.update(zip(rows, codes, strict=True))
        return codes

    def _named(self, codes: NDArray[np.int32]) -> list[Any]:
        """The labels of these numbers, None for -1."""
        classes = [*self._classes, None]
        return [classes[y] for y in codes.tolist()]

    def _draw(self, u: int, n_learned: int) -> float:
        """A number between 0 and 1 that belongs to this node at this time."""
        return random.Random((self._seed << 64) | (u << 32) | n_learned).random()


@dispatchable
def online_node_labeling(
    G: Any,
    labels: Labels,
    kernel: str = "normalized-laplacian",
    smoothness: float | None = None,
    method: Method = "fastonl",
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
        labels, in the order of the graph. Labels are hashable; nodes whose label is None or NaN are skipped. Mistakes
        depend on the order: shuffle, unless the order means something.
    kernel, smoothness, method, classes, predict, seed, weight
        As for `OnlineNodeLabeler`.
    progress : bool, default False
        Show a progress bar (needs tqdm).
    **options
        The parameters of single kernels and methods, as for `OnlineNodeLabeler`: `lam`, `beta`, `b`, `S`, `epsilon`,
        `trace`, `symmetrized`, `dtype`, `terms`, `trees`.

    Returns
    -------
    LabelSequence
        The predicted labels in order of arrival, with the nodes, the true labels, mistakes and error rates.

    Raises
    ------
    networkx.NodeNotFound
        If a labelled node, or one of `S`, is not in the graph.
    networkx.NetworkXNotImplemented
        If `G` is directed.
    networkx.NetworkXPointlessConcept
        If `G` has no nodes.
    TypeError, ValueError
        If a parameter is unknown, of the wrong type or out of range, a node arrives twice, or the graph is too large
        for an exact kernel.
    ImportError
        If `progress` is asked for and tqdm is not installed.

    See Also
    --------
    OnlineNodeLabeler : Predict and learn one node at a time.

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
    pairs, total = arrivals(G, labels)
    plain = PlainLabels()
    rows: list[int] = []
    truth: list[Hashable] = []
    predicted: list[Any] = []
    arriving = iter(with_progress(pairs, total, progress, "node"))
    while part := list(islice(arriving, NODES_AT_ONCE)):
        nodes_now, labels_now = zip(*part, strict=True)
        rows_now, truth_now = graph.rows_of(nodes_now), plain.of(nodes_now, labels_now)
        if None in truth_now:
            rows_now = [u for u, label in zip(rows_now, truth_now, strict=True) if label is not None]
            truth_now = [label for label in truth_now if label is not None]
        predicted += model._predict_and_learn(rows_now, truth_now)
        rows += rows_now
        truth += truth_now
    nodes = rows if isinstance(graph.nodes, range) else map(graph.nodes.__getitem__, rows)
    return LabelSequence(tuple(predicted), tuple(nodes), tuple(truth))


def _parts(rows: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(rows), NODES_AT_ONCE):
        yield rows[start : start + NODES_AT_ONCE]


def _as_seed(seed: Any) -> int:
    if seed is None or isinstance(seed, np.random.Generator):
        return int(np.random.default_rng(seed).integers(2**63))
    if isinstance(seed, bool) or not isinstance(seed, Integral):
        raise TypeError(f"seed must be a whole number, a numpy Generator or None, got {seed!r}")
    if int(seed) < 0:
        raise ValueError(f"seed must be at least 0, got {seed!r}")
    return int(seed)
