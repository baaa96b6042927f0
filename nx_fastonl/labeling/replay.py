"""Events in, answers out: a graph that changes, and a model that is asked and taught meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Sized
from contextlib import suppress
from itertools import chain, islice
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from nx_fastonl._lib.checks import check_at_least_zero, shortened
from nx_fastonl._lib.frames import is_frame
from nx_fastonl._lib.log import warn_caller
from nx_fastonl._lib.progress import with_progress
from nx_fastonl._lib.streams import FileLike
from nx_fastonl.graph.base import ChangingGraph
from nx_fastonl.graph.dynamic import DynamicGraph
from nx_fastonl.graph.names import missing_node, of_other_type
from nx_fastonl.labeling.eventfile import Located, events_of_table, read_events
from nx_fastonl.labeling.events import Event, event_of
from nx_fastonl.labeling.labeler import OnlineNodeLabeler
from nx_fastonl.labeling.sequence import LabelSequence

__all__ = ["Answer", "Replay", "replay"]

# Edges that are added in one call: enough that the cost of the call does not matter.
EDGES_AT_ONCE = 4096
# Fewer edges are added faster as tuples.
MIN_ARRAY_EDGES = 64
# What a bad event raises. The message then says which event it was.
EVENT_ERRORS = (ValueError, TypeError, nx.NetworkXException)


class Answer(NamedTuple):
    """What a model predicted along a `replay`.

    Attributes
    ----------
    node : node
        The node that was asked about, or that arrived.
    predicted : label
        The predicted label; None while no label is known.
    truth : label or None
        The true label of a node that arrived; None for a question.
    probability : float or None
        How probable the predicted label was held, with a method whose probabilities are calibrated.
    time : float or None
        The time of the event, if it has one.

    Examples
    --------
    >>> import nx_fastonl as fo
    >>> next(fo.replay([("label", "ann", "red"), ("edge", "ann", "bob"), ("question", "bob", 2024)]))
    Answer(node='bob', predicted='red', truth=None, probability=1.0, time=2024.0)
    """

    node: Any
    predicted: Any
    truth: Any = None
    probability: float | None = None
    time: float | None = None


class _Edges:
    """Edges that follow each other, to be added together. All of them have a time, or none has."""

    def __init__(self) -> None:
        self.ends: list[tuple[Hashable, Hashable]] = []
        self.weights: list[float] = []
        self.times: list[float] = []

    def fits(self, event: Event) -> bool:
        """Whether the edge can be added together with the others."""
        if not self.ends:
            return True
        return len(self.ends) < EDGES_AT_ONCE and (event.time is not None) == bool(self.times)

    def append(self, event: Event) -> None:
        self.ends.append((event.u, event.v))
        self.weights.append(np.nan if event.weight is None else event.weight)
        if event.time is not None:
            self.times.append(event.time)

    def add_to(self, graph: Any) -> None:
        """Add them to a graph, all or none. One edge, and many integers as an array, take less time."""
        ends: Any = self.ends
        if len(ends) == 1:
            weight = None if np.isnan(self.weights[0]) else self.weights[0]
            graph.add_edge(*ends[0], weight, time=self.times[0] if self.times else None)
            return
        if len(ends) >= MIN_ARRAY_EDGES and all(type(u) is int and type(v) is int for u, v in ends):
            with suppress(OverflowError):  # integers of more than 63 bits
                ends = np.array(ends, dtype=np.int64)
        graph.add_edges_from(ends, self.weights, self.times or None)


class Replay:
    """Applies events to a graph and a model, one after the other, and yields the answers: see `replay`.

    It is an iterator of `Answer`. An event is read when the next answer is asked for; when an answer comes out, all
    events before it were applied, and none after it.

    Parameters
    ----------
    events : iterable of Located
        Events, each with the place where it stands: `replay` makes them of events and files.
    graph, labeler, window
        As for `replay`.

    Attributes
    ----------
    graph : DynamicGraph
        The graph.
    labeler : OnlineNodeLabeler
        The model. Other threads may ask it, and read the graph, while events are applied.
    n_events, n_answers : int
        The numbers of events applied and of answers given so far.
    clock : float or None
        The latest time that an event had so far.

    Raises
    ------
    TypeError, ValueError
        If the window is not a number of at least 0.

    Examples
    --------
    >>> import nx_fastonl as fo
    >>> events = [("arrival", "ann", "red"), ("edge", "bob", "ann"), ("arrival", "bob", "red")]
    >>> stream = fo.replay(events)
    >>> [answer.predicted for answer in stream]
    [None, 'red']
    >>> stream.n_events, stream.sequence.mistakes
    (3, 1)
    """

    graph: DynamicGraph
    labeler: OnlineNodeLabeler
    n_events: int
    n_answers: int
    clock: float | None

    def __init__(
        self, events: Iterable[Located], graph: Any, labeler: OnlineNodeLabeler, window: float | None = None
    ) -> None:
        if window is not None:
            check_at_least_zero("window", window)
        self.graph, self.labeler = graph, labeler
        self.n_events = self.n_answers = 0
        self.clock = None
        self._events = iter(events)
        self._window = window
        self._held = _Edges()
        self._types: set[type] | None = {type(node) for node in islice(graph, 1)}  # of nodes so far; None once warned
        self._may_expire = False
        self._arrivals: list[Answer] = []
        self._true_probabilities: list[float] = []

    def __repr__(self) -> str:
        return f"Replay: {self.n_events} events, {self.n_answers} answers; {self.graph!r}"

    def __iter__(self) -> Iterator[Answer]:
        return self

    def __next__(self) -> Answer:
        while True:
            try:
                read = next(self._events)
            except BaseException:  # the end, a file that cannot be read further, or Ctrl-C
                self._add_held()
                raise
            answer = self._take(read)
            self.n_events += 1
            if answer is not None:
                self.n_answers += 1
                return answer

    @property
    def sequence(self) -> LabelSequence:
        """The predictions for the nodes that have arrived so far, beside their true labels."""
        nodes, predicted, truth, probabilities, _ = zip(*self._arrivals, strict=True) if self._arrivals else ((),) * 5
        if not self.labeler.calibrated:
            return LabelSequence(predicted, nodes, truth)
        return LabelSequence(predicted, nodes, truth, probabilities, tuple(self._true_probabilities))

    def run(self) -> LabelSequence:
        """Apply all events that are left.

        Returns
        -------
        LabelSequence
            The predictions for all nodes that arrived, beside their true labels.

        Raises
        ------
        TypeError, ValueError, networkx.NetworkXException
            If an event is bad: see `replay`.

        Examples
        --------
        >>> import nx_fastonl as fo
        >>> fo.replay([("arrival", 0, "a"), ("edge", 0, 1), ("arrival", 1, "a")]).run()
        LabelSequence of 2 predictions, 1 mistakes (error rate 0.500)
        """
        for _ in self:
            pass
        return self.sequence

    def _take(self, read: Located) -> Answer | None:
        """Apply an event. If it is bad, those before it were applied, and nothing of it is."""
        try:
            event = event_of(read.item, directed=self.graph.is_directed())
        except EVENT_ERRORS as error:
            self._add_held()
            raise _located(error, read) from error
        if event.kind == "edge":
            if not self._held.fits(event):
                self._add_held()
            self._held.append(event)
            self._see(event.time)
            return None
        self._add_held()
        if event.node is not None:
            self._compare_types([event.node])
        self._see(event.time)
        self._expire()
        try:
            return self._apply(event)
        except EVENT_ERRORS as error:
            raise _located(error, read) from error

    def _add_held(self) -> None:
        if self._held.ends:
            self._compare_types(list(chain.from_iterable(self._held.ends)))
            self._held.add_to(self.graph)  # if this is interrupted, the next call adds them
            self._held = _Edges()

    def _compare_types(self, nodes: Sequence[Hashable]) -> None:
        """Warn once of an integer and a text that print the same: JSON tells them apart, and they are two nodes."""
        if self._types is None:
            return
        self._types.update(map(type, nodes))
        if not self._types >= {int, str}:
            return
        plain = [node for node in nodes if type(node) in (int, str)]
        names = set(plain)
        for node in plain:
            if of_other_type(node, names) or of_other_type(node, self.graph):
                self._types = None
                warn_caller(
                    f"the integer {node} and the text {str(node)!r} are two nodes; if one was meant, write all ids as "
                    "numbers, or all as texts"
                )
                return

    def _see(self, time: float | None) -> None:
        if time is not None:
            self.clock = time if self.clock is None else max(time, self.clock)
            self._may_expire = True

    def _expire(self) -> None:
        if self._may_expire and self._window is not None and self.clock is not None:
            self.graph.expire_before(self.clock - self._window)
        self._may_expire = False

    def _apply(self, event: Event) -> Answer | None:
        graph = self.graph
        match event.kind:
            case "remove-edge":
                if self._window is None or graph.has_edge(event.u, event.v):  # with a window, it may have left before
                    graph.remove_edge(event.u, event.v)
            case "node":
                graph.add_node(event.node)
            case "remove-node":
                graph.remove_node(event.node)
            case "label":
                return self._with_node(event, self._learn)
            case "arrival":
                return self._with_node(event, self._arrive)
            case "question":
                return self._ask(event)
        return None

    def _with_node(self, event: Event, learn: Callable[[Event], Answer | None]) -> Answer | None:
        """Let the node join, if it is not there, and learn its label: both or, if this raises, neither."""
        is_new = event.node not in self.graph
        try:
            if is_new:
                self.graph.add_node(event.node)
            return learn(event)
        except BaseException:
            if is_new:
                self.graph.remove_nodes_from([event.node])
            raise

    def _learn(self, event: Event) -> None:
        self.labeler.learn_one(event.node, event.label, overwrite=True)

    def _arrive(self, event: Event) -> Answer:
        found = self.labeler.run([(event.node, event.label)])
        probability = None
        if found.probabilities is not None and found.true_probabilities is not None:
            probability = found.probabilities[0]
            self._true_probabilities.append(found.true_probabilities[0])
        answer = Answer(event.node, found.predicted[0], event.label, probability, event.time)
        self._arrivals.append(answer)
        return answer

    def _ask(self, event: Event) -> Answer:
        if event.node not in self.graph:
            raise nx.NodeNotFound(f'{missing_node(event.node, self.graph)}; a "node" event lets it join')
        predicted = self.labeler.predict_one(event.node)
        probability = None
        if self.labeler.calibrated:
            probability = self.labeler.predict_proba_one(event.node).get(predicted, 0.0)
        return Answer(event.node, predicted, None, probability, event.time)


def replay(
    events: Iterable[Any] | FileLike,
    graph: Any = None,
    labeler: OnlineNodeLabeler | None = None,
    *,
    window: float | None = None,
    progress: bool = False,
) -> Replay:
    """Apply events to a graph and a model, in their order, and answer the questions among them.

    ========================================  ======================================================================
    event                                     what happens
    ========================================  ======================================================================
    ``("edge", u, v, weight, time)``          An edge joins, with its nodes, or changes: `DynamicGraph.add_edge`.
                                              Weight and time may be left out.
    ``("remove-edge", u, v)``                 An edge leaves.
    ``("node", node)``                        A node joins, unless it is there.
    ``("remove-node", node)``                 A node leaves, with its edges and its label.
    ``("label", node, label)``                The model learns a label, in place of an earlier one. A node that is not
                                              in the graph joins, without edges.
    ``("question", node)``                    The model predicts a label.
    ``("arrival", node, label)``              The model predicts the label, then learns it. A node that is not in the
                                              graph joins, without edges; none may arrive that has a label.
    ``("time", time)``                        Time passes: see `window`.
    ========================================  ======================================================================

    Each may also be a dict: ``{"event": "edge", "u": 1, "v": 2, "weight": 0.5}``, with the names of the table. Every
    event may have a time, as its last value or under that name.

    Parameters
    ----------
    events : iterable of tuples and dicts, table, path-like, or binary file
        A table of pandas, polars or Arrow has an event per row, in the columns event, u, v, node, label, weight and
        time, as far as they are needed, with empty cells. A file holds such a table (``.csv``, ``.tsv``,
        ``.parquet``), or dicts as lines of JSON (``.jsonl``, ``.ndjson``). Text may be compressed, as for
        `CSRGraph.from_edge_file`. In CSV, nodes that look like integers are integers, also those that look like 1.0, as
        pandas writes integers in a column with empty cells. All labels of CSV are texts.
    graph : DynamicGraph, optional
        By default that of the labeler, or a new undirected graph.
    labeler : OnlineNodeLabeler, optional
        A model on this graph. By default a new one with the default method.
    window : float, optional
        Edges that are older than this, compared with the latest time that an event had, leave before the next event
        that is not an edge. Those without a time stay. By default none leaves.
    progress : bool, default False
        Show a progress bar (needs tqdm).

    Returns
    -------
    Replay
        An iterator of an `Answer` for each question and each arrival. It has the graph, the model and the score so far.

    Raises
    ------
    TypeError, ValueError, networkx.NetworkXException
        If an argument is bad, now; if an event is bad, when it is reached. Then all events before it were applied,
        nothing of it was, and the message says where it stands. Among these are an edge or a node to be removed that is
        not there, unless there is a window through which the edge may have left, and a question about a node that is
        not in the graph.
    ImportError
        If `progress` is asked for and tqdm is not installed, or pyarrow for Parquet.

    See Also
    --------
    OnlineNodeLabeler.run : A stream of labels on a graph as it is.

    Notes
    -----
    Edges that follow each other are added together: before the next event of another kind, and at the latest when there
    are 4096. Other threads may read the graph and ask the model meanwhile.

    After a bad event, or Ctrl-C, the next answer can be asked for: the replay goes on behind the event at hand.

    Examples
    --------
    Accounts sign up, with a friend, and are guessed before anybody looks at them:

    >>> import nx_fastonl as fo
    >>> events = [
    ...     ("label", "ann", "person"),
    ...     ("label", "spam1", "robot"),
    ...     ("edge", "bob", "ann"),
    ...     ("question", "bob"),
    ...     ("edge", "spam2", "spam1"),
    ...     ("arrival", "spam2", "robot"),
    ... ]
    >>> for answer in fo.replay(events):
    ...     print(answer.node, answer.predicted)
    bob person
    spam2 robot
    """
    if graph is None:
        graph = DynamicGraph() if labeler is None else labeler.graph
    if not isinstance(graph, ChangingGraph):
        whose = "graph" if labeler is None else "the graph of the labeler"
        raise TypeError(f"{whose} must be a DynamicGraph, got {shortened(graph)}; DynamicGraph(G) makes one")
    if labeler is None:
        labeler = OnlineNodeLabeler(graph)
    elif not isinstance(labeler, OnlineNodeLabeler):
        raise TypeError(f"labeler must be an OnlineNodeLabeler, got {shortened(labeler)}")
    elif labeler.graph is not graph:
        raise ValueError(f"the labeler must be on the same graph, got one on {shortened(labeler.graph)}")
    total = len(events) if isinstance(events, Sized) and not isinstance(events, str) else None
    return Replay(with_progress(_located_events(events), total, progress, "event"), graph, labeler, window)


def _located_events(events: Any) -> Iterable[Located]:
    if isinstance(events, str | os.PathLike) or hasattr(events, "read"):
        return read_events(events)
    if is_frame(events):
        return events_of_table(events)
    if isinstance(events, dict) or not isinstance(events, Iterable):
        raise TypeError(f"events must be an iterable of events or the path of a file, got {shortened(events)}")
    return (Located("event", number, item) for number, item in enumerate(events, start=1))


def _located(error: Exception, read: Located) -> Exception:
    """The same error, with the place of the event in its message."""
    kinds: list[type[Exception]] = [nx.NodeNotFound, nx.NetworkXError, TypeError]
    kind = next((kind for kind in kinds if isinstance(error, kind)), ValueError)
    return kind(f"{read.where}: {error}")
