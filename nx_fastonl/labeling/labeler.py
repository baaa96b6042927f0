"""OnlineNodeLabeler: predicts the labels of nodes, and learns them as they are revealed."""

from __future__ import annotations

import copy
import math
import os
import random
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, Unpack

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib._sharing import ThreadLock
from nx_fastonl._lib.checks import (
    UnknownLabels,
    a_few,
    check_fraction,
    check_positive,
    check_unknown,
    check_whole,
    shortened,
)
from nx_fastonl._lib.folders import DamagedError
from nx_fastonl._lib.html import view_or_none
from nx_fastonl._lib.plain import from_json, to_json
from nx_fastonl._lib.progress import in_batches, with_progress
from nx_fastonl._lib.seeds import as_seed
from nx_fastonl.batch.rows import checked_nodes, rows_of
from nx_fastonl.graph.base import ChangingGraph, RowGraph
from nx_fastonl.graph.convert import as_row_graph
from nx_fastonl.graph.csr import CSRGraph
from nx_fastonl.graph.rows import Rows
from nx_fastonl.labeling.certificates import CertifiedLabel
from nx_fastonl.labeling.compatibility import Compatibility
from nx_fastonl.labeling.knowledge import Knowledge, LabelEntry, restored_knowledge
from nx_fastonl.labeling.labels import (
    Labels,
    PlainLabels,
    checked_label,
    distinct_labels,
    label_stream,
    unknown_nodes,
    with_labels,
)
from nx_fastonl.labeling.learned import LearnedLabels
from nx_fastonl.labeling.sequence import LabelSequence
from nx_fastonl.labeling.snapshot import SavedLearner, encode_learner, read_model, write_model
from nx_fastonl.labeling.views import labeler_view
from nx_fastonl.learners._history import LabelHistory
from nx_fastonl.learners.adaptive import AdaptiveLearner
from nx_fastonl.learners.base import Learner
from nx_fastonl.learners.joining import JoiningNodes
from nx_fastonl.learners.registry import (
    KERNEL_METHODS,
    LabelerOptions,
    Method,
    check_options,
    kernel_of,
    make_learner,
    undirected_for,
)

__all__ = ["OnlineNodeLabeler"]

# Nodes that a learner gets in one call: enough that the cost of the call does not matter.
STREAM_BATCH = 2048


# What happens to a model.
LabelEventKind = Literal["learn", "overwrite", "learn many", "forget", "run", "fit"]
UNRECORDED: AbstractContextManager[None] = nullcontext()


class _Arrived(NamedTuple):
    """Nodes of a stream that were predicted and learned; `probabilities` as in `Answers`."""

    nodes: list[Hashable]
    truth: list[Hashable]
    predicted: list[Any]
    probabilities: NDArray[np.float64] | None


class OnlineNodeLabeler:
    """Predicts the labels of a graph's nodes, and learns them as they are revealed, one node at a time.

    Parameters
    ----------
    G : nx.Graph, scipy sparse array, CSRGraph or DynamicGraph
        Converted once, now: see `CSRGraph.from_networkx`. Only a DynamicGraph is followed as it changes: answers are
        for the graph as it is when you ask. Nodes that never get a label still connect others. Of a directed graph,
        ``"adaptive"`` uses the arrows: see `direction`.
    classes : iterable of hashable, optional
        All possible labels. By default labels are discovered as they appear. Before the first one, the prediction is
        None, which counts as a mistake.
    kernel : str, optional
        Which nodes count as similar: see `kernel_column`. By default ``"normalized-laplacian"``, for ``"perceptron"``
        ``"augmented-laplacian"``. For ``"adaptive"``, that of the expert ``"diffusion"``. The two weighted methods use
        none.
    smoothness : float, optional
        lam / n: see `kernel_column`. What is best differs between kernels. By default 0.15; for ``"adaptive"`` 0.05,
        and 0.01 in `fit`.
    method : str, default "adaptive"
        - ``"adaptive"``: a mixture of experts. Its weights are learned along the stream. The experts are a diffusion,
          read raw and centred, the vote of labelled neighbours, which labels stand beside which, the labels of nodes
          that share a neighbour, degrees, and how often each label was seen. Its probabilities are calibrated
        - ``"fastonl"``: the paper's FastONL on one diffusion for all nodes. Learning spreads a label through the graph
          around it; predicting reads what has arrived. It has the error bound of the next method, and is hundreds of
          times faster
        - ``"fastonl-fifo"``: as in the paper, a local push for each arriving node; where that takes long among few
          nodes, the exact column
        - ``"relaxation"``: the same learner on the exact kernel, for up to 20,000 nodes
        - ``"approximate"``: on the kernel's power series, one column at a time
        - ``"perceptron"``: the kernel perceptron of Herbster, Pontil and Wainer for any number of labels, on the
          diffusion of ``"fastonl"``. It learns from mistakes only: of what it predicts right, it records the label
          and nothing else
        - ``"weighted-majority"``: labelled neighbours vote
        - ``"weighted-tree"``: the nearest labelled node on each of a few random spanning trees votes
    predict : {"argmax", "sample"}, default "argmax"
        ``"argmax"`` predicts the best label. ``"sample"`` draws one from the learner's distribution, as the regret
        bound assumes. What ``"perceptron"`` counts as a mistake depends on its best label, also where it draws others.
    seed : int or numpy.random.Generator, optional
        Decides what is drawn: samples, spanning trees, guesses. By default they differ from run to run. What is drawn
        for a prediction depends on the seed, the node and the number of labels learned, so predicting has no side
        effects.
    weight : str or None, default "weight"
        The edge attribute that holds the weight, 1 where it is missing. None ignores weights.
    direction : {"use", "ignore"}, default "use"
        For directed graphs. ``"use"`` is for ``"adaptive"``: its diffusion runs on W + W^T, and the experts that look
        at neighbours tell arcs out from arcs in. ``"ignore"`` learns on W + W^T, with any method.
        ``"weighted-majority"`` counts the neighbours on both sides anyway.
    lam, beta, b, S : optional
        The kernel's parameters: see `kernel_column`.
    epsilon : float, optional
        For ``"adaptive"``, the two FastONL methods and ``"perceptron"``: a node is pushed only while its residual
        exceeds this, per neighbour. By default 0.1 / n, as in the paper, 0.03 / n for ``"adaptive"`` and 0.01 / n for
        ``"perceptron"``. A larger value is faster and less accurate. Both FastONL methods have the same bound on the
        error of scores; ``"fastonl-fifo"`` is often further below it. Where few labels are known, or all of them are
        learned by `fit` or `learn_many`, a tenth of their default is usually more accurate. ``"laplacian"`` and
        ``"augmented-laplacian"`` do not scale by degrees: with the same epsilon they reach further than the other
        kernels, and take longer. With ``"laplacian"``, ``"fastonl"`` lets nodes with few neighbours keep more than
        this, as far as the bound allows.
    experts : sequence of str, optional
        For ``"adaptive"``: which experts are asked. By default ``"diffusion"``, ``"vote"``, ``"compatibility"``,
        ``"profile"``, ``"degree"`` and ``"frequency"``. Further diffusions are named after a kernel and its smoothness,
        as in ``"laplacian:0.3"``. `weights` shows how much each is trusted.
    forgetting : float, optional
        For ``"adaptive"``: a half-life, as a number of arrivals. What was seen so many arrivals ago counts half as much
        for the weights and for the experts that count labels. By default nothing is forgotten.
    trace : {"estimate", "paper", "exact"} or float, default "estimate"
        For the two FastONL methods, ``"relaxation"`` and ``"approximate"``: the trace of the kernel matrix. A larger
        trace gives flatter distributions. ``"estimate"`` takes a sample; ``"paper"`` is k n^2, as in the paper's
        experiments: almost uniform distributions, which hardly matters for ``predict="argmax"``; ``"exact"`` is for up
        to 20,000 nodes.
    symmetrized : bool, default False
        For ``"fastonl-fifo"``: score by the mean of a row and a column of the approximate kernel, as the paper's
        analysis does. Takes memory for every node that the columns of learned nodes reach.
    dtype : {"float64", "float32"}, default "float64"
        For ``"adaptive"``, ``"fastonl"`` and ``"perceptron"``: the precision of the diffusion. Single precision halves
        the memory of a label. Its rounding errors make `certify_one` seldom certain.
    terms : int, default 10
        For ``"approximate"``: the terms of the power series beyond the first.
    trees : int, default 5
        For ``"weighted-tree"``: the number of spanning trees.

    Raises
    ------
    networkx.NodeNotFound
        If a node of `S` is not in the graph.
    networkx.NetworkXNotImplemented
        If `G` is directed, its arrows are not ignored, and the method cannot use them.
    networkx.NetworkXPointlessConcept
        If `G` has no nodes.
    TypeError, ValueError
        If a parameter is unknown, of the wrong type or out of range, or the graph too large for an exact kernel.

    See Also
    --------
    online_node_labeling : Predict and learn a whole stream.

    Notes
    -----
    Ties between labels are broken by how often each was learned, then by which was learned first, then by the order of
    `classes`. At a node with no labelled node near it, all labels tie. There ``"weighted-majority"`` guesses at random
    instead, as in the paper's experiments.

    Several threads may predict while one learns.

    With ``"adaptive"``, ``"fastonl"`` and ``"perceptron"``, memory depends on how many nodes labels reach. Each node
    that a block of 8 labels reaches takes 144 bytes: 16 for each label and 16 more. With up to 2 or 4 labels it is 48
    or 80 bytes. Single precision halves what a label takes. Beside its diffusion, ``"adaptive"`` takes 68 bytes per
    block of 8 labels for each node with a learned neighbour, and 20 bytes for each node. With arrows it takes twice as
    much for each node with learned neighbours on both sides, and 36 bytes for each node. W + W^T and its arrows are
    made once for a CSRGraph and shared by all models on it: 24 bytes for each node and up to 13 for each of its
    entries, 16 more where arcs have weights.

    References
    ----------
    B. Zhou, Y. Sun, R. Babanezhad, "Fast Online Node Labeling for Very Large Graphs", ICML 2023.

    M. Herbster, M. Pontil, L. Wainer, "Online Learning over Graphs", ICML 2005.

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
        kernel: str | None = None,
        smoothness: float | None = None,
        method: Method = "adaptive",
        *,
        predict: Literal["argmax", "sample"] = "argmax",
        seed: int | np.random.Generator | None = None,
        weight: str | None = "weight",
        direction: Literal["use", "ignore"] = "use",
        **options: Unpack[LabelerOptions],
    ) -> None:
        check_options(method, options)
        if isinstance(G, ChangingGraph) and weight is None:
            raise ValueError(
                "weight=None would ignore weights, and a model on a graph that changes follows them: give the graph no "
                "weights, as DynamicGraph(G, weight=None) does, or pass graph.freeze()"
            )
        self._given_graph = G if isinstance(G, ChangingGraph) else None
        self._graph, arrows = undirected_for(method, as_row_graph(G, weight), direction)
        if predict not in ("argmax", "sample"):
            raise ValueError(f'predict must be "argmax" or "sample", got {predict!r}')
        self._seed = as_seed(seed)
        self._given = [] if classes is None else distinct_labels(classes)
        self._samples = predict == "sample"
        with self._graph.reading():
            history = LabelHistory(len(self._graph), len(self._given))
            learner = make_learner(self._graph, arrows, history, kernel, smoothness, method, self._seed, options)
        self._kernel, self._method = kernel_of(method, kernel), method
        self._weight, self._direction = weight, direction
        self._graph_path = G.path if isinstance(G, CSRGraph) else None
        self._knowledge = Knowledge(learner, self._given)
        # Held by one changing call at a time, while no code of the caller runs.
        self._lock = ThreadLock()

    def __repr__(self) -> str:
        kernel = f", kernel={self._kernel!r}" if self._method in KERNEL_METHODS else ""
        learned = f"{self.n_learned} of {self._graph.number_of_nodes()} nodes learned"
        arrows = ", with arrows" if getattr(self._knowledge.learner, "arrows", None) is not None else ""
        return f"OnlineNodeLabeler(method={self._method!r}{kernel}): {len(self.classes)} labels, {learned}{arrows}"

    def _repr_html_(self) -> str | None:
        return view_or_none(self._view)

    def _view(self) -> str:
        arrows = getattr(self._knowledge.learner, "arrows", None)
        settings = {
            "method": self._method,
            "kernel": self._kernel if self._method in KERNEL_METHODS else None,
            "graph": repr(self.graph),
            "arrows": None if arrows is None else "used",
        }
        return labeler_view(settings, self._knowledge, self._graph.number_of_nodes())

    def __getstate__(self) -> dict[str, Any]:
        with self._present():  # numbers that are stored by row are as many as the graph has rows
            pass
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=ThreadLock())

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels known: those given, or those learned so far, in the order in which they were first seen."""
        return tuple(self._knowledge.classes)

    @property
    def graph(self) -> Any:
        """The graph that the model learns on; of a directed one that cannot change, W + W^T."""
        return self._graph if self._given_graph is None else self._given_graph

    @property
    def calibrated(self) -> bool:
        """Whether `predict_proba_one` says how often each label is right: with ``method="adaptive"`` only."""
        return self._knowledge.learner.calibrated

    @property
    def n_learned(self) -> int:
        """The number of nodes whose label was learned."""
        with self._graph.reading():
            return self._knowledge.learner.n_learned

    @contextmanager
    def _present(self) -> Iterator[Knowledge]:
        """What was learned, after it has caught up with the graph, which does not change meanwhile."""
        with self._graph.reading():
            knowledge = self._knowledge
            knowledge.follow()
            yield knowledge

    @property
    def labels(self) -> LearnedLabels:
        """The labels learned: ``{node: label}``, in the order in which the nodes were learned.

        A read-only mapping that follows the model: ``node in model.labels``, ``model.labels[node]`` and ``len`` are of
        now, and take the same time however many labels there are. Iterating goes through a copy, and
        ``model.labels.copy()`` is a dict.
        """
        return LearnedLabels(self)

    def unlabeled_nodes(self) -> list[Any]:
        """The nodes of the graph whose label was not learned, in the order of the graph.

        Returns
        -------
        list of nodes

        See Also
        --------
        OnlineNodeLabeler.predict_many : Predict them all.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> model = fo.OnlineNodeLabeler(nx.path_graph(5)).fit({0: "a", 3: "b"})
        >>> model.unlabeled_nodes()
        [1, 2, 4]
        """
        graph = self._graph
        with graph.reading():
            known = set(self._knowledge.learned()[0])
            return [graph.nodes[u] for u in graph.node_rows() if u not in known]

    # The model need not catch up with the graph for these two, and may be unable to.

    def _label_of(self, node: Any) -> Any:
        with self._graph.reading():
            knowledge, u = self._knowledge, self._graph._find(node)
            if u is None:
                hash(node)  # raises TypeError for what cannot be hashed, as a dict does
            return knowledge.label_of(u) if u is not None and knowledge.learner.has_learned(u) else None

    def _learned_labels(self) -> dict[Any, Any]:
        with self._graph.reading():
            rows, labels = self._knowledge.learned()
            return dict(zip(map(self._graph.nodes.__getitem__, rows), labels, strict=True))

    @property
    def weights(self) -> dict[str, float]:
        """How much ``method="adaptive"`` trusts each expert now: ``{name: weight}``."""
        learner = self._knowledge.learner
        if not isinstance(learner, AdaptiveLearner):
            raise AttributeError(f'method {self._method!r} has no weights; method="adaptive" does')
        return learner.weights()

    @property
    def compatibility(self) -> Compatibility:
        """Which labels are joined to which among the nodes learned, compared with chance (``method="adaptive"``).

        Of a directed graph, which label points to which.
        """
        knowledge = self._knowledge
        learner = knowledge.learner
        if not isinstance(learner, AdaptiveLearner):
            raise AttributeError(f'method {self._method!r} does not count pairs of labels; method="adaptive" does')
        ratios, counts = learner.compatibility()
        labels = tuple(knowledge.classes[: len(ratios)])
        return Compatibility(labels, ratios, counts, directed=learner.arrows is not None)

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
        OnlineNodeLabeler(method='adaptive'): 0 labels, 0 of 34 nodes learned
        """
        other = copy.copy(self)
        with self._present() as knowledge:  # which has caught up with the graph: so does the new one begin
            other._knowledge = knowledge.blank(self._given)
        return other

    def save(self, path: str | os.PathLike[str], *, include_graph: bool = True) -> None:
        """Save the model to a folder, from which `load` takes it up again.

        The folder has an ``.npy`` file for each array and a ``manifest.json`` with their checksums; nothing in it is
        pickled. If this is interrupted, or the disk is full, then what was there before is still there, and whole.
        Another thread may learn meanwhile: what is saved is the model between two of its steps.

        Parameters
        ----------
        path : path-like
            The folder. It is made; if it holds a model already, this takes its place.
        include_graph : bool, default True
            Whether the folder gets the graph too. If not, `load` looks for the graph in the folder from which it was
            opened (`CSRGraph.open`), or takes it as an argument.

        Raises
        ------
        TypeError
            If the name of a node or a label cannot be saved: integers, texts, numbers, True, False and tuples of these
            can.
        OSError
            If the folder cannot be written, or has other files in it.

        See Also
        --------
        OnlineNodeLabeler.load

        Examples
        --------
        >>> import tempfile
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> model = fo.OnlineNodeLabeler(nx.karate_club_graph()).fit({0: "Mr. Hi", 33: "Officer"})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/model")
        ...     fo.OnlineNodeLabeler.load(f"{folder}/model")
        OnlineNodeLabeler(method='adaptive'): 2 labels, 2 of 34 nodes learned
        """
        graph, arrows = self._graph, getattr(self._knowledge.learner, "arrows", None)
        with graph.reading():
            if graph.can_change:
                frozen = self._frozen_as_it_is()
                graph, arrows = (frozen if arrows is not None else frozen.without_arrows()), None
            settings, learner = self._saved()
        write_model(
            Path(path), settings, learner, graph, arrows, include_graph=include_graph, graph_path=self._graph_path
        )

    def _frozen_as_it_is(self) -> CSRGraph:
        """A graph that changes, which must have a row for each node and no other, as a CSRGraph."""
        rows = self.graph.rows
        frozen: CSRGraph = self.graph.freeze()
        if len(rows) > len(frozen) or list(rows.node_rows()) != list(range(len(frozen))):
            raise ValueError(
                "this model is on a graph whose nodes have come and gone, and what it has learned is stored by their "
                "rows: make the graph a DurableGraph, which keeps itself and its models on disk, or save "
                "OnlineNodeLabeler(graph.freeze()).fit(model.labels)"
            )
        return frozen

    def _saved(self) -> tuple[dict[str, Any], SavedLearner]:
        """What `load` makes a model of, beside its graph. The graph must not change meanwhile."""
        self._check_not_changing()
        # A copy is taken under the locks, and written without them.
        with self._lock, getattr(self._knowledge.learner, "lock", nullcontext()):
            knowledge = self._knowledge
            knowledge.follow()
            learner, classes = encode_learner(knowledge.learner), list(knowledge.classes)
        return self._settings(classes), learner

    def _settings(self, classes: Sequence[Hashable]) -> dict[str, Any]:
        """What is saved of a model with these labels, beside its learner."""
        return {
            "method": self._method,
            "kernel": self._kernel,
            "predict": "sample" if self._samples else "argmax",
            "seed": self._seed,
            "weight": self._weight,
            "direction": self._direction,
            "given": [to_json(label, "label") for label in self._given],
            "classes": [to_json(label, "label") for label in classes],
        }

    @classmethod
    def load(cls, path: str | os.PathLike[str], graph: Any = None) -> OnlineNodeLabeler:
        """Take up a model that `save` has saved. It predicts and learns as the saved one would, to the last bit.

        The model is read into memory. It and a graph that was saved with it are compared with their checksums. Such a
        graph is mapped; one in another folder is opened by `CSRGraph.open`.

        Parameters
        ----------
        path : path-like
            The folder.
        graph : nx.Graph, scipy sparse array or CSRGraph, optional
            The graph that the model learned on, with neighbours in the same order: that of a scipy array may differ
            from that of an ``nx.Graph``. By default the one that was saved with it, or the one in the folder from which
            it was opened.

        Returns
        -------
        OnlineNodeLabeler

        Raises
        ------
        ValueError
            If the folder is damaged, holds something else, was saved by a newer version, or has no graph, or if the
            graph is another one.
        FileNotFoundError
            If there is no such folder, it was not saved completely, or the folder of the graph is gone.

        See Also
        --------
        OnlineNodeLabeler.save

        Examples
        --------
        >>> import tempfile
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> G = nx.karate_club_graph()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fo.OnlineNodeLabeler(G).fit({0: "Mr. Hi", 33: "Officer"}).save(f"{folder}/model", include_graph=False)
        ...     model = fo.OnlineNodeLabeler.load(f"{folder}/model", graph=G)
        >>> model.predict_one(32)
        'Officer'
        """
        found = read_model(Path(path), graph)
        model = cls.__new__(cls)
        try:
            model._take(found.settings, found.learner, found.graph)
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedError(Path(path), f"its settings do not fit together ({error})") from error
        model._graph_path = found.graph_path
        return model

    def _take(self, settings: Mapping[str, Any], learner: Learner, graph: Any) -> None:
        """Become the model that was saved with these settings and this learner."""
        given, classes = ([from_json(label) for label in settings[name]] for name in ("given", "classes"))
        self.__setstate__(
            {
                "_graph": graph,
                "_seed": as_seed(settings["seed"]),
                "_given": given,
                "_samples": settings["predict"] == "sample",
                "_kernel": settings["kernel"],
                "_method": settings["method"],
                "_weight": settings["weight"],
                "_direction": settings["direction"],
                "_given_graph": None,
                "_graph_path": None,
                "_knowledge": restored_knowledge(learner, classes),
            }
        )

    def predict_one(self, node: Hashable) -> Any:
        """The predicted label of `node`; None while no label is known.

        Parameters
        ----------
        node : node
            Its label may have been learned. A learned label counts as evidence, and is not simply returned: `labels`
            has those.

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
        with self._present() as knowledge:
            u = self._graph.index(node)
            if self._samples:
                y = knowledge.learner.draw(u, self._draw(u, knowledge.n_learned))
            else:
                y = knowledge.learner.best(u)
                if y is None:
                    y = self._guess(u, knowledge.n_learned, knowledge.learner.k)
            return knowledge.label(y)

    def predict_many(self, nodes: Iterable[Hashable] | None = None, *, progress: bool = False) -> list[Any]:
        """The predicted labels of these nodes, in the same order.

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
            If `nodes` is a single node, or not iterable.
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

        def predict(knowledge: Knowledge, rows: NDArray[np.int32]) -> list[Any]:
            learner, n_learned = knowledge.learner, knowledge.n_learned
            if self._samples:
                draws = (learner.draw(u, self._draw(u, n_learned)) for u in rows.tolist())
                found = np.array([-1 if y is None else y for y in draws], dtype=np.int32)
            else:
                found = learner.best_of_each(rows)
                for i in np.flatnonzero(found < 0).tolist():
                    found[i] = self._guess(int(rows[i]), n_learned, learner.k)
            return knowledge.labels(found)

        return [label for batch in self._ask(nodes, predict, progress) for label in batch]

    def _ask(
        self,
        nodes: Iterable[Hashable] | None,
        answer: Callable[[Knowledge, NDArray[np.int32]], Any],
        progress: bool = False,
    ) -> list[Any]:
        """Answers about some nodes, by default all, batch by batch. The graph may change between two batches."""
        graph = self._graph
        items: Sequence[Any]
        if graph.can_change:
            items = [] if nodes is None else checked_nodes(graph, nodes, "nodes")
        else:
            items = rows_of(graph, nodes, "nodes")
        answers = []
        with graph.reading() if nodes is None else nullcontext():  # all nodes are those of one moment
            items = list(graph.nodes) if graph.can_change and nodes is None else items
            for batch in in_batches(items, STREAM_BATCH, progress, "node"):
                with self._present() as knowledge:
                    rows = graph.rows_of(batch) if graph.can_change else batch
                    answers.append(answer(knowledge, np.array(rows, dtype=np.int32)))
        return answers

    def predict_proba_one(self, node: Hashable) -> dict[Any, float]:
        """The learner's distribution over the labels known, from which ``predict="sample"`` draws.

        Where `calibrated` is true, with ``method="adaptive"``, these are probabilities: of the predictions with 0.8,
        about 80 % are right. The paper's methods have another distribution, which is made for the regret bound. It puts
        the labels in order and is no measure of confidence: mostly it is much flatter than it could be. With the two
        weighted methods it is the labels' shares of the votes; with ``"perceptron"`` it only says how the margins
        compare to the norm of what is stored. `certify_one` says what is certain of the computation.

        Parameters
        ----------
        node : node
            Its label may have been learned.

        Returns
        -------
        dict
            ``{label: share}`` of every label known. The shares sum to 1.

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
        {'Mr. Hi': 0.21, 'Officer': 0.79}
        """
        with self._present() as knowledge:
            probabilities = knowledge.learner.probabilities(self._graph.index(node))
            return dict(zip(knowledge.classes, probabilities.tolist(), strict=False))  # a thread may add a label

    def predict_proba_many(
        self, nodes: Iterable[Hashable] | None = None, *, progress: bool = False
    ) -> NDArray[np.float64]:
        """The learner's distributions over the labels known, a row for each node: see `predict_proba_one`.

        They are calibrated probabilities with ``method="adaptive"`` only. Those of the paper's methods are made for the
        regret bound.

        Parameters
        ----------
        nodes : iterable of nodes, optional
            By default all nodes, in the order of the graph.
        progress : bool, default False
            Show a progress bar (needs tqdm).

        Returns
        -------
        numpy.ndarray
            Row i belongs to ``nodes[i]``, column j to ``classes[j]``.

        Raises
        ------
        networkx.NodeNotFound
            If a node is not in the graph.
        TypeError
            If `nodes` is a single node, or not iterable.
        ImportError
            If `progress` is asked for and tqdm is not installed.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> model = fo.OnlineNodeLabeler(nx.karate_club_graph()).fit({0: "Mr. Hi", 33: "Officer"})
        >>> model.classes, model.predict_proba_many([1, 8]).round(2).tolist()
        (('Mr. Hi', 'Officer'), [[0.83, 0.17], [0.21, 0.79]])
        """
        k = self._knowledge.learner.k  # read once: another thread may add a label meanwhile
        found = self._ask(nodes, lambda knowledge, rows: knowledge.learner.probabilities_of_each(rows, k), progress)
        return np.concatenate([np.zeros((0, k)), *found])

    def _forecast_joining(self, rows: Rows) -> tuple[list[Any], NDArray[np.float64]]:
        """The labels predicted of nodes that are not in the graph, and their distributions.

        A row holds the neighbours of one of these nodes: rows of the graph, in which it then is the only new node.
        """
        nodes = JoiningNodes(rows)
        labels: list[Any] = []
        probabilities = []
        with self._present() as knowledge:
            for start in range(0, len(nodes), STREAM_BATCH):
                found = knowledge.learner.join(nodes[start : start + STREAM_BATCH])
                if found is None:
                    raise ValueError(
                        f"method {self._method!r} knows nodes of its graph only; "
                        'methods "adaptive" and "fastonl" predict nodes that join it'
                    )
                labels += knowledge.labels(found.predicted)
                probabilities.append(found.probabilities)
            return labels, np.concatenate([np.zeros((0, knowledge.learner.k)), *probabilities])

    def predict_set_one(self, node: Hashable, coverage: float = 0.9) -> set[Any]:
        """A set of labels that holds the true one of `node` with a given frequency along a stream.

        The harder a node is, the more labels are in its set. For methods whose probabilities are calibrated:
        ``method="adaptive"``.

        Parameters
        ----------
        node : node
            Its label may have been learned.
        coverage : float, default 0.9
            How often the true label should be in the set: strictly between 0 and 1.

        Returns
        -------
        set of labels
            Empty only while no label is known.

        Raises
        ------
        networkx.NodeNotFound
            If `node` is not in the graph.
        TypeError, ValueError
            If the method has no prediction sets, or `coverage` is not a number between 0 and 1.

        See Also
        --------
        OnlineNodeLabeler.predict_proba_one : The probability of each label.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> G = nx.karate_club_graph()
        >>> clubs = nx.get_node_attributes(G, "club")
        >>> model = fo.OnlineNodeLabeler(G).fit({member: clubs[member] for member in range(0, 34, 2)})
        >>> model.predict_set_one(7, coverage=0.95)
        {'Mr. Hi'}
        >>> sorted(model.predict_set_one(9, coverage=0.95))
        ['Mr. Hi', 'Officer']
        """
        return self._prediction_sets([self._known(node)], coverage, progress=False)[0]

    def predict_set_many(
        self, nodes: Iterable[Hashable] | None = None, coverage: float = 0.9, *, progress: bool = False
    ) -> list[set[Any]]:
        """Sets of labels that hold the true ones of these nodes with a given frequency: see `predict_set_one`.

        Parameters
        ----------
        nodes : iterable of nodes, optional
            By default all nodes, in the order of the graph.
        coverage : float, default 0.9
            How often the true label should be in the set: strictly between 0 and 1.
        progress : bool, default False
            Show a progress bar (needs tqdm).

        Returns
        -------
        list of sets of labels
            In the order of the nodes.

        Raises
        ------
        networkx.NodeNotFound
            If a node is not in the graph.
        TypeError, ValueError
            If `nodes` is one node, the method has no prediction sets, or `coverage` is not a number between 0 and 1.
        ImportError
            If `progress` is asked for and tqdm is not installed.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> G = nx.karate_club_graph()
        >>> clubs = nx.get_node_attributes(G, "club")
        >>> model = fo.OnlineNodeLabeler(G).fit({member: clubs[member] for member in range(0, 34, 2)})
        >>> [sorted(labels) for labels in model.predict_set_many([7, 9], coverage=0.95)]
        [['Mr. Hi'], ['Mr. Hi', 'Officer']]
        """
        return self._prediction_sets(nodes, coverage, progress)

    def certify_one(self, node: Hashable, *, max_operations: int = 1_000_000) -> CertifiedLabel:
        """The label that the exact kernel gives to `node`, if that can be proved.

        It reads further and further around the node. It stops when the margin between the two best labels is larger
        than its error, or when the budget ends. For the methods ``"adaptive"``, ``"fastonl"`` and ``"perceptron"``
        only. With ``"adaptive"``, the label is that of the mixture with its present weights and the exact diffusion.

        Parameters
        ----------
        node : node
            Its label may have been learned.
        max_operations : int, default 1000000
            How many edges may be walked after a first push, which takes up to 20,000. A million edges take from ten to
            a hundred milliseconds.

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
        return self._certify([self._known(node)], max_operations, progress=False)[0]

    def certify_many(
        self,
        nodes: Iterable[Hashable] | None = None,
        *,
        max_operations: int = 1_000_000,
        progress: bool = False,
    ) -> list[CertifiedLabel]:
        """The labels that the exact kernel gives to these nodes, as far as that can be proved: see `certify_one`.

        Parameters
        ----------
        nodes : iterable of nodes, optional
            By default all nodes, in the order of the graph.
        max_operations : int, default 1000000
            How many edges may be walked for each node after a first push.
        progress : bool, default False
            Show a progress bar (needs tqdm).

        Returns
        -------
        list of CertifiedLabel
            In the order of the nodes.

        Raises
        ------
        networkx.NodeNotFound
            If a node is not in the graph.
        TypeError, ValueError
            If `nodes` is one node, the method gives no certificates, or `max_operations` is not a whole number of at
            least 0.
        ImportError
            If `progress` is asked for and tqdm is not installed.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> model = fo.OnlineNodeLabeler(nx.karate_club_graph()).fit({0: "Mr. Hi", 33: "Officer"})
        >>> [answer.certain for answer in model.certify_many([1, 8])]
        [True, True]
        """
        return self._certify(nodes, max_operations, progress)

    def learn_one(self, node: Hashable, label: Hashable, *, overwrite: bool = False) -> None:
        """Learn the label of a node.

        Parameters
        ----------
        node : node
            The node whose label it is.
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
        self._known(node)
        plain = checked_label(node, label)

        def learn(knowledge: Knowledge, rows: list[int], entries: list[LabelEntry]) -> int | None:
            u = rows[0]
            if not overwrite and knowledge.label_of(u) is not None:
                return u
            with self._recorded("overwrite" if overwrite else "learn", [node], [plain]):
                knowledge.learner.learn(u, int(knowledge.numbers(entries)[0]))
            return None

        again = self._change([node], [plain], learn)
        if again is not None:
            raise ValueError(f"{self._learned_before(again)}; learn_one(..., overwrite=True) replaces that")

    def learn_many(self, labels: Labels, *, unknown: UnknownLabels = "error") -> OnlineNodeLabeler:
        """Learn a set of labels at once, in addition to what was learned before.

        None of them is predicted before it is learned, so each counts in full, whatever the others are, and their order
        does not matter. Labels that are learned together spread together, which is faster than one by one. The weights
        of ``"adaptive"`` are learned from predictions: it learns the labels in the order given, as a stream does.
        `predict_many` then labels other nodes.

        If Ctrl-C interrupts it, all labels are learned or none, as `labels` shows. The next call finishes what is left.
        ``"adaptive"`` then is as before, bit for bit; only where few labels were to be added to a large graph, the
        votes of its diffusion may differ within the accuracy that `epsilon` asks for.

        Parameters
        ----------
        labels : dict, iterable of pairs, table, or array
            ``{node: label}``, also as a pandas Series that is indexed by nodes; ``(node, label)``; a table of pandas,
            polars or Arrow with the columns node and label, or any two in this order; an array with a label for each
            node, in the order of the graph; or another column, if the nodes are 0, 1, 2, ... in this order. None, NaN
            and masked entries mean that a node has no label; in an array or column of integers -1 does too.
        unknown : {"error", "skip", "add"}, default "error"
            What to do with nodes that are not in the graph. ``"add"`` adds them, without edges, to a DynamicGraph. If
            this raises, nodes that were added stay only if this model has learned their label, or if they have got
            edges meanwhile.

        Returns
        -------
        OnlineNodeLabeler
            This labeler.

        Raises
        ------
        networkx.NodeNotFound
            If nodes are not in the graph and `unknown` is ``"error"``.
        TypeError, ValueError
            As `learn_one`, if a node is given twice, or if `unknown` is ``"skip"``, and nodes came, but none that is in
            the graph. Nothing is learned then.

        See Also
        --------
        OnlineNodeLabeler.fit : Forget what was learned first.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> model = fo.OnlineNodeLabeler(nx.karate_club_graph())
        >>> model.learn_many({0: "Mr. Hi", 1: "Mr. Hi"}).learn_many({33: "Officer"}).n_learned
        3
        """
        with self._known_labels(labels, unknown) as pairs:
            self._learn_together(pairs, lambda learner, rows, numbers: learner.learn_many(rows, numbers))
        return self

    @contextmanager
    def _known_labels(self, labels: Labels, unknown: UnknownLabels) -> Iterator[list[tuple[Hashable, Any]]]:
        """The labels of nodes in the graph. Nodes that `unknown` adds leave it again if what follows raises."""
        pairs, missing = self._labels_and_unknown(with_labels(label_stream(labels, self._graph)[0]), unknown)
        with self._added_nodes() as added:
            self._add(missing, added)
            yield pairs

    @contextmanager
    def _added_nodes(self) -> Iterator[list[Hashable]]:
        """A list for `_add`. If what follows raises, its nodes leave the graph again.

        Those stay whose label was learned, and those that another thread has given edges.
        """
        added: list[Hashable] = []
        try:
            yield added
        except BaseException:
            if added and self._given_graph is not None:
                self._given_graph._remove_lone_nodes(added, self._is_learned)
            raise

    def _add(self, nodes: list[Hashable], added: list[Hashable]) -> None:
        """Add nodes to a graph that changes, and append those to `added` that were not there."""
        if nodes and self._given_graph is not None:
            self._given_graph._add_new_nodes(nodes, added)

    def _is_learned(self, u: int) -> bool:
        with self._graph.reading():
            return self._knowledge.learner.has_learned(u)

    def _labels_and_unknown(
        self, labels: Iterable[tuple[Hashable, Any]], unknown: UnknownLabels
    ) -> tuple[list[tuple[Hashable, Any]], list[Hashable]]:
        """Labels of nodes, and those nodes which are to be added first, in their order."""
        can_grow = self._given_graph is not None
        check_unknown(unknown, can_grow=can_grow)
        pairs = list(labels)
        missing = unknown_nodes(pairs, self._graph, unknown, can_grow=can_grow)
        if unknown == "skip" and missing:
            skipped = set(missing)
            return [(node, label) for node, label in pairs if node not in skipped], []
        return pairs, missing

    def _learn_together(
        self,
        labels: Iterable[tuple[Hashable, Any]],
        learn_many: Callable[[Learner, NDArray[np.int32], NDArray[np.int32]], None],
    ) -> None:
        """Learn these labels, all or none, by this call of the learner."""
        new_labels: dict[int, Hashable] = {}
        nodes: list[Hashable] = []
        for node, label in labels:
            u = self._known_row(node)
            plain = checked_label(node, label)
            if u in new_labels:
                both = f"{shortened(new_labels[u])} and {shortened(plain)}"
                raise ValueError(f"node {shortened(node)} is given twice, with labels {both}")
            new_labels[u] = plain
            nodes.append(node)

        def learn(knowledge: Knowledge, rows: list[int], entries: list[LabelEntry]) -> int | None:
            new_rows = np.array(rows, dtype=np.int32)
            again = knowledge.first_learned(new_rows)
            if again is None:
                with self._recorded("learn many", nodes, plain_labels):
                    learn_many(knowledge.learner, new_rows, knowledge.numbers(entries))
            return again

        plain_labels = list(new_labels.values())
        again = self._change(nodes, plain_labels, learn)
        if again is not None:
            raise ValueError(self._learned_before(again))

    def forget(self, node: Hashable) -> None:
        """Forget the label of a node, as if it had never been learned.

        What was stored of the node is taken out again. Other nodes keep what was stored when they were learned. So
        after `fit` or `learn_many`, where the order does not matter, the result is that of learning the others alone. A
        label that no node has any more stays one of the `classes`, until no node is learned at all. ``"adaptive"``
        keeps what the label has taught it about its experts.

        Parameters
        ----------
        node : node
            One whose label was learned.

        Raises
        ------
        networkx.NodeNotFound
            If `node` is not in the graph.
        ValueError
            If its label was not learned.

        See Also
        --------
        OnlineNodeLabeler.learn_one : With ``overwrite=True``, learn another label of the node instead.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> model = fo.OnlineNodeLabeler(nx.path_graph(3)).fit({0: "a", 2: "b"})
        >>> model.forget(2)
        >>> model.labels
        {0: 'a'}
        """
        self._known(node)

        def forget(knowledge: Knowledge, rows: list[int], _: list[LabelEntry]) -> int | None:
            u = rows[0]
            if knowledge.label_of(u) is None:
                return u
            with self._recorded("forget", [node], []):
                if knowledge.n_learned == 1:
                    self._knowledge = knowledge.blank(self._given)
                else:
                    knowledge.learner.forget(u)
            return None

        if self._change([node], [], forget) is not None:
            raise ValueError(f"node {shortened(node)} was not learned, so there is nothing to forget")

    def fit(
        self,
        labels: Labels,
        *,
        class_prior: Mapping[Hashable, float] | None = None,
        unknown: UnknownLabels = "error",
    ) -> OnlineNodeLabeler:
        """Forget what was learned, then learn a set of labels at once, in no particular order.

        ``method="adaptive"`` takes its time here: it solves its diffusions on the whole graph, and learns its weights
        from known nodes whose labels are left out in turn. With few labels that is more accurate than `learn_many`.

        Parameters
        ----------
        labels : dict, iterable of pairs, table, or array
            As for `learn_many`.
        class_prior : dict, optional
            How frequent each label is among all nodes, where that is known: ``{label: frequency}``, of every label and
            up to a factor. By default as frequent as among the known nodes. For ``method="adaptive"``.
        unknown : {"error", "skip", "add"}, default "error"
            As for `learn_many`.

        Returns
        -------
        OnlineNodeLabeler
            This labeler.

        Raises
        ------
        networkx.NodeNotFound
            If nodes are not in the graph and `unknown` is ``"error"``.
        TypeError, ValueError
            As `learn_many`, and if `class_prior` lacks a label or has a frequency that is not positive. Nothing is
            changed then.

        See Also
        --------
        OnlineNodeLabeler.learn_many : Add labels to those learned before.

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
        with self._known_labels(labels, unknown) as pairs:
            fitted = self.clone()
            fitted._learn_together(pairs, lambda learner, rows, numbers: learner.fit(rows, numbers))
            if class_prior is not None:
                fitted._know_prior(class_prior)
            self._check_not_changing()
            with self._lock:
                self._knowledge = fitted._knowledge
        return self

    def _know_prior(self, class_prior: Mapping[Hashable, float]) -> None:
        knowledge = self._knowledge
        learner = knowledge.learner
        if not isinstance(learner, AdaptiveLearner):
            raise ValueError(f'method {self._method!r} knows no class_prior; method="adaptive" does')
        if not isinstance(class_prior, Mapping):
            raise TypeError(f"class_prior must be a dict of labels and their frequencies, got {shortened(class_prior)}")
        missing = [label for label in knowledge.classes if label not in class_prior]
        unknown = [label for label in class_prior if knowledge.find(label) is None]
        if missing or unknown:
            raise ValueError(
                f"class_prior must have a frequency for every label and no other; "
                f"{'missing' if missing else 'unknown'}: {a_few(missing or unknown)}"
            )
        prior = [
            check_positive(f"class_prior of {shortened(label)}", class_prior[label]) for label in knowledge.classes
        ]
        shares = np.array(prior) / math.fsum(prior)
        if shares.min() < np.finfo(np.float64).tiny:
            raise ValueError(f"the frequencies of class_prior differ too much, got {min(prior):g} to {max(prior):g}")
        learner.know_prior(shares)

    def reached(self, nodes: Iterable[Hashable] | None = None) -> list[bool]:
        """Whether any learned label is in reach of each of these nodes: for ``method="adaptive"``.

        A node that no label reaches, for instance in a component in which nothing was learned, is predicted to have the
        most frequent label.

        Parameters
        ----------
        nodes : iterable of nodes, optional
            By default all nodes, in the order of the graph.

        Returns
        -------
        list of bool

        Raises
        ------
        networkx.NodeNotFound
            If a node is not in the graph.
        TypeError, ValueError
            If `nodes` is a single node, or not iterable; if the method does not tell.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> G = nx.Graph([(0, 1), (2, 3)])
        >>> model = fo.OnlineNodeLabeler(G, method="adaptive").fit({0: "a"})
        >>> model.reached([1, 2])
        [True, False]
        """
        answers = self._ask(nodes, lambda knowledge, rows: knowledge.learner.reached(rows))
        if any(found is None for found in answers):
            raise ValueError(f'method {self._method!r} does not tell which nodes labels reach; method="adaptive" does')
        return [bool(is_reached) for found in answers for is_reached in found]

    def run(self, labels: Labels, *, unknown: UnknownLabels = "error", progress: bool = False) -> LabelSequence:
        """Predict the label of each arriving node, then learn its true label.

        Parameters
        ----------
        labels : dict, iterable of pairs, table, or array
            ``{node: label}``, also as a pandas Series that is indexed by nodes, ``(node, label)``, or a table of
            pandas, polars or Arrow with the columns node and label, or any two in this order: in order of arrival. Or
            an array with a label for each node, in the order of the graph, or another column, if the nodes are
            0, 1, 2, ... in this order. Labels are hashable. Nodes whose label is None or NaN are skipped, also those
            whose label is masked or, in an array or column of integers, -1. Mistakes depend on the order: shuffle,
            unless the order means something.
        unknown : {"error", "skip", "add"}, default "error"
            What to do with nodes that are not in the graph. ``"add"`` adds them, without edges, to a DynamicGraph.
            Nodes of an iterator are looked up as they arrive, others before anything is learned. If this raises, nodes
            that were added stay only if this model has learned their label, or if they have got edges meanwhile.
        progress : bool, default False
            Show a progress bar (needs tqdm).

        Returns
        -------
        LabelSequence
            The predicted labels in order of arrival, with the nodes, the true labels, mistakes and error rates.

        Raises
        ------
        networkx.NodeNotFound
            If nodes are not in the graph and `unknown` is ``"error"``.
        TypeError, ValueError
            If a label cannot be hashed or is not one of the `classes` given, or a node was learned before. The nodes
            that arrived earlier stay learned, also when Ctrl-C interrupts a stream. If `unknown` is ``"skip"``, and
            nodes came, but none that is in the graph: of an iterator, this is known when it has ended.
        ImportError
            If `progress` is asked for and tqdm is not installed.

        See Also
        --------
        online_node_labeling : Make a labeler and run it in one call.

        Examples
        --------
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> model = fo.OnlineNodeLabeler(nx.karate_club_graph())
        >>> list(model.run([(0, "a"), (33, "b"), (1, "a")]))
        [None, 'a', 'a']
        >>> list(model.run([(32, "b"), (2, "a")]))
        ['b', 'a']
        """
        with self._added_nodes() as added:
            pairs, total = self._arriving_labels(labels, unknown, added)
            return self._run_stream(with_progress(pairs, total, progress, "node"))

    def _run_stream(self, pairs: Iterable[tuple[Hashable, Any]]) -> LabelSequence:
        plain = PlainLabels()
        nodes: list[Hashable] = []
        truth: list[Hashable] = []
        predicted: list[Any] = []
        probabilities: list[NDArray[np.float64]] = []
        arriving = iter(pairs)
        is_over = False
        while not is_over:
            batch: list[tuple[Hashable, Any]] = []
            try:
                batch.extend(islice(arriving, STREAM_BATCH))
                is_over = len(batch) < STREAM_BATCH
            finally:  # what has arrived is learned, even if the next of an iterator raises
                arrived = self._run_batch(batch, plain)
            nodes += arrived.nodes
            truth += arrived.truth
            predicted += arrived.predicted
            if arrived.probabilities is not None:
                probabilities.append(arrived.probabilities)
        answers = (tuple(predicted), tuple(nodes), tuple(truth))
        if not probabilities:
            return LabelSequence(*answers)
        of_predicted, of_true = np.concatenate(probabilities).T.tolist()
        return LabelSequence(*answers, tuple(of_predicted), tuple(of_true))

    def _arriving_labels(
        self, labels: Labels, unknown: UnknownLabels, added: list[Hashable]
    ) -> tuple[Iterable[tuple[Hashable, Any]], int | None]:
        """Labels of nodes that are in the graph when they arrive, and how many there are if that is known."""
        pairs, total = label_stream(labels, self._graph)
        pairs = with_labels(pairs)
        if total is None:
            check_unknown(unknown, can_grow=self._given_graph is not None)
            if unknown == "error":
                return pairs, None
            return self._with_added(pairs, added) if unknown == "add" else self._with_skipped(pairs), None
        listed, missing = self._labels_and_unknown(pairs, unknown)
        self._add(missing, added)
        return listed, len(listed)

    def _with_added(
        self, pairs: Iterable[tuple[Hashable, Any]], added: list[Hashable]
    ) -> Iterator[tuple[Hashable, Any]]:
        """The pairs of an iterator, whose nodes are added as they arrive."""
        for node, label in pairs:
            if not self._has_node(node):
                self._add([node], added)
            yield node, label

    def _with_skipped(self, pairs: Iterable[tuple[Hashable, Any]]) -> Iterator[tuple[Hashable, Any]]:
        """The pairs of an iterator whose nodes are in the graph. An error if others came, and none of these."""
        skipped: list[tuple[Hashable, Any]] | None = []  # until a node is found
        for node, label in pairs:
            if self._has_node(node):
                skipped = None
                yield node, label
            elif skipped is not None:
                skipped.append((node, label))
        if skipped:
            self._labels_and_unknown(skipped, "skip")

    def _has_node(self, node: Hashable) -> bool:
        with self._graph.reading():
            return node in self._graph

    def _run_batch(self, batch: list[tuple[Hashable, Any]], plain: PlainLabels) -> _Arrived:
        """Predict and learn pairs that arrive in turn. A bad one raises; those before it are learned."""
        try:
            return self._run_whole(batch, plain)
        except (nx.NodeNotFound, TypeError, ValueError):  # before anything was learned
            if len(batch) > 1:
                for pair in batch:
                    self._run_whole([pair], plain)
            raise

    def _run_whole(self, batch: list[tuple[Hashable, Any]], plain: PlainLabels) -> _Arrived:
        """The same for good pairs; a bad one raises before any is learned."""
        nodes, labels = [node for node, _ in batch], [label for _, label in batch]
        truth = plain.of(nodes, labels)
        with self._graph.reading():
            given = self._graph.rows_of(nodes)
        if None in truth:
            given = [u for u, label in zip(given, truth, strict=True) if label is not None]
            nodes = [node for node, label in zip(nodes, truth, strict=True) if label is not None]
            truth = [label for label in truth if label is not None]
        if len(set(given)) < len(given):
            raise ValueError("a node is given twice")
        if not isinstance(self._graph.nodes, range):
            nodes = list(map(self._graph.nodes.__getitem__, given))
        else:
            nodes = list(given)
        predicted: list[Any] = []
        probabilities: NDArray[np.float64] | None = None

        def run(knowledge: Knowledge, rows: list[int], entries: list[LabelEntry]) -> int | None:
            nonlocal predicted, probabilities
            again = knowledge.first_learned(np.array(rows, dtype=np.int32))
            if again is None:
                with self._recorded("run", nodes, truth):
                    predicted, probabilities = self._predict_and_learn(knowledge, rows, entries)
            return again

        again = self._change(nodes, truth, run)
        if again is not None:
            raise ValueError(self._learned_before(again))
        return _Arrived(nodes, truth, predicted, probabilities)

    def _predict_and_learn(
        self, knowledge: Knowledge, rows: list[int], entries: list[LabelEntry]
    ) -> tuple[list[Any], NDArray[np.float64] | None]:
        learner, before = knowledge.learner, knowledge.n_learned
        k = learner.k
        draws = [self._draw(u, before + i) for i, u in enumerate(rows)] if self._samples else ()
        numbers = knowledge.numbers(entries)
        found, probabilities = learner.run(np.array(rows, dtype=np.int32), numbers, np.array(draws, dtype=np.float64))
        for i in np.flatnonzero(found < 0).tolist():
            known = max(k, 1 + int(numbers[:i].max(initial=-1)))  # labels, when this node arrived
            found[i] = self._guess(rows[i], before + i, known)
        return knowledge.labels(found), probabilities

    def _change(
        self,
        nodes: list[Hashable],
        labels: list[Hashable],
        commit: Callable[[Knowledge, list[int], list[LabelEntry]], int | None],
    ) -> int | None:
        """Call `commit` with what was learned, the rows of the nodes and the entries of the labels; return its answer.

        One thread at a time does so, while the graph does not change. Looking up a label runs code of the caller, as
        does naming a node in a message. So neither is done with the lock held: `commit` returns the row of a node that
        is in the way.
        """
        self._check_not_changing()
        graph = self._graph
        rows = [] if graph.can_change else graph.rows_of(nodes)
        while True:
            knowledge = self._knowledge
            if self._given:
                entries = [self._checked_entry(knowledge, *pair) for pair in zip(nodes, labels, strict=False)]
            else:
                entries = list(map(knowledge.entry, labels))
            with graph.reading():
                if graph.can_change:
                    rows = graph.rows_of(nodes)
                with self._lock:
                    if knowledge is self._knowledge:  # else `fit` has replaced it meanwhile
                        knowledge.follow()
                        return commit(knowledge, rows, entries)

    def _recorded(
        self,
        kind: LabelEventKind,  # noqa: ARG002  only what is on disk keeps records
        nodes: Sequence[Hashable],  # noqa: ARG002
        labels: Sequence[Hashable],  # noqa: ARG002
    ) -> AbstractContextManager[None]:
        """Entered right before the learner changes, when all that can be checked was checked."""
        return UNRECORDED

    def _known(self, node: Hashable) -> Hashable:
        """The node, which must be in the graph."""
        self._known_row(node)
        return node

    def _known_row(self, node: Hashable) -> int:
        graph: RowGraph = self._graph
        with graph.reading():
            return graph.index(node)

    def _check_not_changing(self) -> None:
        """Raise where this thread is changing the model already: where a signal handler runs meanwhile."""
        if self._lock.is_owned():
            raise RuntimeError(
                "this model is being changed by the same thread; a signal handler cannot change or save it"
            )

    def _certify(self, nodes: Iterable[Hashable] | None, max_operations: int, progress: bool) -> list[CertifiedLabel]:
        check_whole("max_operations", max_operations, least=0)
        graph = self._graph
        listed = [] if nodes is None else checked_nodes(graph, nodes, "nodes")
        answers = []
        with graph.reading() if nodes is None else nullcontext():  # all nodes are those of one moment
            listed = list(graph.nodes) if nodes is None else listed
            for node in with_progress(listed, len(listed), progress, "node"):
                with graph.reading(), self._lock:
                    knowledge = self._knowledge
                    knowledge.follow()
                    found = knowledge.learner.certify(graph.index(node), int(max_operations))
                if found is None:
                    raise ValueError(f'method {self._method!r} gives no certificates; method="fastonl" does')
                answers.append(CertifiedLabel(knowledge.label(found.label), *found[1:]))
        return answers

    def _prediction_sets(self, nodes: Iterable[Hashable] | None, coverage: float, progress: bool) -> list[set[Any]]:
        coverage = check_fraction("coverage", coverage)

        def find_sets(knowledge: Knowledge, rows: NDArray[np.int32]) -> list[set[Any]]:
            found = knowledge.learner.prediction_sets(rows, coverage)
            if found is None:
                raise ValueError(f'method {self._method!r} has no prediction sets; method="adaptive" has')
            return [set(knowledge.labels(numbers)) for numbers in found]

        return [labels for sets in self._ask(nodes, find_sets, progress) for labels in sets]

    def _learned_before(self, u: int) -> str:
        return f"node {shortened(self._graph.nodes[u])} was learned before, as {shortened(self._knowledge.label_of(u))}"

    def _checked_entry(self, knowledge: Knowledge, node: Hashable, label: Hashable) -> LabelEntry:
        entry = knowledge.find(label)
        if entry is None:
            raise ValueError(
                f"label {shortened(label)} of node {shortened(node)} is not one of the classes: {a_few(self._given)}"
            )
        return entry

    def _guess(self, u: int, n_learned: int, k: int) -> int:
        """One of k labels at random; -1 if there is none."""
        return int(self._draw(u, n_learned) * k) if k > 0 else -1

    def _draw(self, u: int, n_learned: int) -> float:
        """A random number between 0 and 1: the same for the same seed, node and number of labels learned."""
        return random.Random((self._seed << 64) | (u << 32) | n_learned).random()
