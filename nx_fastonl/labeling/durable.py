"""DurableGraph: a graph that changes, and models on it, which are on disk and survive crashes.

The folder of a graph holds ``snapshot``, a folder of arrays, and ``journal-N``, which has what happened since. The
snapshot names its journal. Taking a snapshot is to make an empty journal, to replace the snapshot in one step by one
that names it, and to remove the old journal. So there is one snapshot and its journal at any time, whatever is
interrupted; what else a crash leaves is removed when the graph is opened again.
"""

from __future__ import annotations

import copy
import errno
import inspect
import os
import re
import secrets
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np

from nx_fastonl._lib.arrays import check_restored
from nx_fastonl._lib.checks import UnknownLabels, a_few, shortened
from nx_fastonl._lib.files import TEMPORARY, errors_name, sync_folder
from nx_fastonl._lib.folders import Content, DamagedError, open_folder, read_arrays, remove_strays, write_folder
from nx_fastonl._lib.html import few_names
from nx_fastonl._lib.journal import Journal, Sync, check_sync
from nx_fastonl._lib.log import logger
from nx_fastonl._lib.plain import from_json, to_json
from nx_fastonl._lib.records import RecordReader, RecordWriter
from nx_fastonl._lib.seeds import as_seed
from nx_fastonl.graph.base import RowGraph
from nx_fastonl.graph.dynamic import DynamicGraph
from nx_fastonl.graph.dynamic_storage import read_state, write_state
from nx_fastonl.graph.event_records import GRAPH_EVENTS, read_event, write_event
from nx_fastonl.graph.events import GraphEvent, RemoveNodes
from nx_fastonl.labeling.event_log import EventLog, Outcome
from nx_fastonl.labeling.knowledge import Knowledge
from nx_fastonl.labeling.labeler import UNRECORDED, LabelEventKind, OnlineNodeLabeler
from nx_fastonl.labeling.labels import Labels, distinct_labels
from nx_fastonl.labeling.snapshot import SavedLearner, decode_learner
from nx_fastonl.learners._history import LabelHistory
from nx_fastonl.learners.base import CannotFollowError, Learner
from nx_fastonl.learners.registry import undirected_for
from nx_fastonl.learners.waiting import WaitingLearner, checked_history

__all__ = ["DurableGraph"]

KIND, VERSION = "nx_fastonl durable graph", 1
SNAPSHOT, JOURNAL = "snapshot", "journal-"
# The names of journals and their locks. What else begins like that belongs to somebody else, such as a copy.
JOURNAL_FILE, LOCK_FILE = re.compile(JOURNAL + "[1-9][0-9]*"), re.compile(rf"\.{JOURNAL}[1-9][0-9]*\.lock")
# A snapshot is taken when the journal has become larger than this, and than the snapshot before.
MIN_JOURNAL = 64 << 20
# Tries to open a folder in which another process takes snapshots.
TRIES = 20
# In place of a learner, a snapshot has the labels of one that could not follow its graph.
LABELS_ONLY = "labels only"
# The parameters of a labeler, and what they are by default.
DEFAULTS = {
    name: parameter.default
    for name, parameter in inspect.signature(OnlineNodeLabeler).parameters.items()
    if name not in ("G", "options")
}


class DurableGraph(DynamicGraph):
    """A `DynamicGraph` that is on disk with the models on it: what a call has done is there after a crash.

    Making one with a path that does not exist makes a folder. Later the same path opens it again, with the graph and
    its models as they were. Every change is written to a journal before it is made. Now and then, and by `snapshot`,
    the whole state is saved, and the journal begins anew.

    Parameters
    ----------
    path : path-like
        The folder.
    G : nx.Graph, scipy sparse array, CSRGraph or DynamicGraph, optional
        What a new graph begins with, without times of edges; by default there are no nodes.
    directed : bool, optional
        As for `DynamicGraph`. Of a graph that is there already, it must be what that is.
    weight : str or None, default "weight"
        The edge attribute of `G` that holds the weight, 1 where it is missing. None ignores weights.
    sync : {"always", "batch", "never"}, default "always"
        What survives if the power fails. With ``"always"``, every change whose call has returned. With ``"batch"``,
        every change but those of the last moments: 0.1 seconds, if changes go on. With ``"never"``, what the operating
        system has written. If only this process is killed, no change is lost whose call has returned, with any of them.
    recover : bool, default False
        Whether to open a graph whose journal is damaged: the changes before the damage are kept, and a warning says
        where the rest is.

    Raises
    ------
    FileExistsError
        If `G` is given though the folder holds a graph, or the folder holds something else.
    BlockingIOError
        If the graph is open already, in this process or another.
    ValueError
        If what is in the folder is damaged, or was written by a newer version.
    TypeError
        If the name of a node of `G` cannot be saved: integers, texts, numbers, True, False and tuples of these can.

    See Also
    --------
    DynamicGraph, OnlineNodeLabeler

    Notes
    -----
    Nodes and labels must be integers, texts, numbers, True, False or tuples of these. Others are refused before
    anything changes.

    A change that raises, for instance because the disk is full, has changed neither the graph nor the disk. A change
    that Ctrl-C interrupts has happened in both or in neither. After an error of the disk itself, nothing more is
    written until the graph was closed and opened again.

    In a forked child, what is in memory can be read, and changes are refused with a ValueError. If the folder is moved
    while it is open, changes go on in it, and snapshots are refused; once it is removed, changes are refused too.

    A model that was opened again has the same labels. Its numbers agree with those before within the accuracy that its
    epsilon asks for: how far it had caught up with the graph, and when, is not recorded.

    A model whose kernel cannot do with the graph as it is now raises a ValueError when it is asked. The graph and other
    models go on, and `labels` can be read. It goes on once the graph is in range again; if the graph was opened
    meanwhile, it then learns its labels anew.

    `DynamicGraph.copy` and pickles are a `DynamicGraph` in memory.

    Examples
    --------
    >>> import tempfile
    >>> import nx_fastonl as fo
    >>> folder = tempfile.TemporaryDirectory()
    >>> with fo.DurableGraph(f"{folder.name}/friends") as graph:
    ...     graph.add_edges_from([("ann", "bob"), ("bob", "cid")])
    ...     graph.labeler("colors").learn_one("ann", "red")
    >>> with fo.DurableGraph(f"{folder.name}/friends") as graph:
    ...     graph.labeler("colors").predict_one("cid")
    'red'
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        G: Any = None,
        directed: bool | None = None,
        *,
        weight: str | None = "weight",
        sync: Sync = "always",
        recover: bool = False,
    ) -> None:
        check_sync(sync)
        self._labelers: dict[str, _DurableLabeler] = {}
        self._is_replaying = self._is_closed = False
        self._switch: _Switch | None = None
        self._sync: Sync = sync
        self._snapshot_size = 0  # in bytes
        self.path = Path(os.path.realpath(path))
        with errors_name(self.path):
            exists = _holds_graph(self.path)
        if not exists:
            super().__init__(G, directed, weight=weight)
            self._make()
            return
        if G is not None:
            _refuse_to_replace(self.path)
        self._open(recover)
        if directed is not None and directed != self._directed:
            self.close()
            kind = "directed" if self._directed else "undirected"
            raise ValueError(f"{path} holds a graph that is {kind}, got directed={directed!r}")

    def _facts(self) -> dict[str, object]:
        names = self.labelers
        return {
            **super()._facts(),
            "saved in": str(self.path),
            "sync": self._sync,
            "labelers": few_names(names, len(names)) if names else "none",
            "open": not self._is_closed,
        }

    # ------------------------------------------------------------------------------------------------ models

    @property
    def labelers(self) -> list[str]:
        """The names of the models on the graph, in the order in which they were made."""
        return list(self._labelers)

    def labeler(
        self,
        name: str,
        classes: Iterable[Hashable] | None = None,
        kernel: str | None = None,
        smoothness: float | None = None,
        method: str | None = None,
        **settings: Any,
    ) -> OnlineNodeLabeler:
        """The model of this name: a new one, or the one that was made before.

        What it learns and forgets goes into the same journal as the changes of the graph.

        Parameters
        ----------
        name : str
            Any text.
        classes, kernel, smoothness, method, **settings
            As for `OnlineNodeLabeler`. Of a model that is there, they may be left out, and must be those that it was
            made with.

        Returns
        -------
        OnlineNodeLabeler
            The same object each time, as long as the graph is open.

        Raises
        ------
        ValueError
            If the model was made with other settings, or the graph is closed.
        TypeError, ValueError
            As `OnlineNodeLabeler`, and if one of `classes` cannot be saved.

        Examples
        --------
        >>> import tempfile
        >>> import networkx as nx
        >>> import nx_fastonl as fo
        >>> folder = tempfile.TemporaryDirectory()
        >>> with fo.DurableGraph(f"{folder.name}/club", nx.karate_club_graph()) as graph:
        ...     model = graph.labeler("club", method="fastonl").fit({0: "Mr. Hi", 33: "Officer"})
        ...     graph.labelers, model.predict_one(32)
        (['club'], 'Officer')
        >>> folder.cleanup()
        """
        if not isinstance(name, str):
            raise TypeError(f"the name of a labeler must be a text, got {shortened(name)}")
        own = {"classes": classes, "kernel": kernel, "smoothness": smoothness, "method": method}
        given = {**{key: value for key, value in own.items() if value is not None}, **settings}
        made_with = _plain_settings(given)
        if name not in self._labelers:
            self._check_open()
        with self._lock.writing:
            found = self._labelers.get(name)
            if found is None:
                made_with.setdefault("seed", as_seed(None))
                model = _DurableLabeler._made(self, name, made_with)
                record = RecordWriter().record(["labeler", name, made_with])

                def outcome() -> Outcome:
                    return "happened" if self._labelers.get(name) is model else "did not happen"

                with self._changing(record, outcome):
                    self._labelers[name] = model
                return model
        different = [key for key, value in made_with.items() if not found.was_made_with(key, value)]
        if different:
            shown = ", ".join(f"{key}={shortened(found.made_with.get(key, DEFAULTS.get(key)))}" for key in different)
            raise ValueError(
                f"labeler {name!r} was made with {shown}: leave {a_few(different)} out, or drop_labeler({name!r}) first"
            )
        return found

    def drop_labeler(self, name: str) -> None:
        """Remove a model, and all that it has learned. The object that was it can no longer be changed.

        Parameters
        ----------
        name : str
            As given to `labeler`.

        Raises
        ------
        KeyError
            If there is no such model.

        Examples
        --------
        >>> import tempfile
        >>> import nx_fastonl as fo
        >>> folder = tempfile.TemporaryDirectory()
        >>> with fo.DurableGraph(f"{folder.name}/graph") as graph:
        ...     model = graph.labeler("colors")
        ...     graph.drop_labeler("colors")
        ...     graph.labelers
        []
        >>> folder.cleanup()
        """
        self._check_open()
        with self._lock.writing:
            if name not in self._labelers:
                there = f"those there are: {a_few(self.labelers)}" if self._labelers else "there are none"
                raise KeyError(f"there is no labeler {shortened(name)}; {there}")

            def outcome() -> Outcome:
                return "did not happen" if name in self._labelers else "happened"

            with self._changing(RecordWriter().record(["drop labeler", name]), outcome):
                del self._labelers[name]

    # ------------------------------------------------------------------------------------------------ disk

    def snapshot(self) -> None:
        """Save the whole state, and begin the journal anew. Nothing can be read or changed meanwhile.

        That is done by itself whenever the journal has become larger than 64 MB and than the snapshot before. It makes
        opening faster.

        Raises
        ------
        OSError
            If the folder cannot be written, or was moved since the graph was opened. Nothing is lost then.
        ValueError
            If the graph is closed.

        Examples
        --------
        >>> import tempfile
        >>> import nx_fastonl as fo
        >>> folder = tempfile.TemporaryDirectory()
        >>> with fo.DurableGraph(f"{folder.name}/graph") as graph:
        ...     graph.add_edge("ann", "bob")
        ...     graph.snapshot()
        >>> folder.cleanup()
        """
        self._check_open()
        with self._lock.writing:
            self._check_open()
            self._finish_switch()
            self._log.settle()
            with self._log.between_events():
                self._take_snapshot()

    def close(self) -> None:
        """Let others open the graph. What is in memory can still be read. May be called again.

        No snapshot is taken: opening again replays the journal. In a forked child, the graph stays open in the parent.

        Raises
        ------
        OSError
            If what was not synced yet cannot be: with `sync` other than ``"always"``.

        Examples
        --------
        >>> import tempfile
        >>> import nx_fastonl as fo
        >>> folder = tempfile.TemporaryDirectory()
        >>> graph = fo.DurableGraph(f"{folder.name}/graph")
        >>> graph.close()
        >>> folder.cleanup()
        """
        if self._log.journal.is_inherited:
            self._is_closed = True
            return
        with self._lock.writing:
            if self._is_closed:
                return
            self._log.check_between_events()
            try:
                self._finish_switch()
                self._log.settle()
            finally:
                self._is_closed = True
                if self._switch is not None:
                    self._switch.journal.close()
                self._log.journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ------------------------------------------------------------------------------------------------ how it is done

    def _check_open(self) -> None:
        """Asked before any lock is taken too: in a forked child, nobody may be there to release it."""
        if self._log.journal.is_inherited:
            raise ValueError(
                f"{self.path} was opened by the process that this one was forked from, and only that one writes to it: "
                f"close it there, then DurableGraph({str(self.path)!r}) opens it here. What is in memory can be read"
            )
        if self._is_closed:
            raise ValueError(f"{self.path} is closed; DurableGraph({str(self.path)!r}) opens it again")

    def _commit(self, event: GraphEvent) -> None:
        record = write_event(event)
        self._check_open()
        with self._lock.writing:
            before, has_begun = self._measure(), False

            def outcome() -> Outcome:
                if not has_begun or self._measure() == before:
                    return "did not happen"
                self._apply(event)  # to the end; what was done already, it does not change
                return "happened"

            with self._changing(record, outcome):
                has_begun = True
                self._apply(event)
        self._snapshot_if_due()

    def _apply(self, event: GraphEvent) -> None:
        super()._apply(event)
        if isinstance(event, RemoveNodes):
            # Models forget the labels of these nodes now, not when they are next asked. So what forgetting leaves of
            # them is the same when the journal is replayed.
            for model in self._labelers.values():
                model._forget_removed()

    def _measure(self) -> tuple[int, ...]:
        """Numbers that differ after any change of nodes, edges and times that was not taken back."""
        return (len(self._nodes), *self._positions())

    def _changing(self, record: bytes, outcome: Callable[[], Outcome]) -> AbstractContextManager[None]:
        """Entered right before a change is made."""
        self._check_open()
        self._finish_switch()
        return self._log.recorded(record, outcome)

    def _finish_interrupted(self) -> None:
        """Decide about what was interrupted, while nobody reads: a change may have to be made to the end."""
        self._check_open()
        if self._switch is not None or self._log.is_unsettled:
            with self._lock.writing:
                self._finish_switch()
                self._log.settle()

    def _snapshot_if_due(self) -> None:
        if self._log.journal.n_bytes <= max(MIN_JOURNAL, self._snapshot_size):
            return
        try:
            self.snapshot()
        except OSError as error:  # what has happened is in the journal, which goes on
            self._snapshot_size = 2 * self._log.journal.n_bytes
            warnings.warn(f"no snapshot could be taken, so the journal stays long: {error}", stacklevel=4)

    def _make(self) -> None:
        """Make the folder of a new graph."""
        content = self._content(1, "")  # raises if a name cannot be saved
        with errors_name(self.path):
            self.path.mkdir(exist_ok=True)
        sync_folder(self.path.parent)
        path = self.path / f"{JOURNAL}1"
        try:
            journal = Journal.create(path, secrets.token_hex(16).encode(), self._sync)
        except FileExistsError:  # of a process that was killed while it made the folder
            journal = Journal.open(path, self._sync)
        try:
            if _holds_graph(self.path, locked=True):  # another process was faster
                _refuse_to_replace(self.path)
            content.details["token"] = journal.token.decode()
            write_folder(self.path / SNAPSHOT, KIND, VERSION, content, check=partial(_check_in_place, journal))
        except BaseException:
            journal.close()
            raise
        self._log, self._number = EventLog(journal), 1
        self._snapshot_size = _size_of(content)

    def _content(self, number: int, token: str) -> Content:
        """The graph and its models, which go with the journal of this number and token."""
        with self._lock.reading:
            models = [(model, *model._saved()) for model in self._labelers.values()]
            details, arrays = write_state(self._state())
        labelers = []
        for i, (model, settings, learner) in enumerate(models):
            labelers.append([model.name, model.made_with, settings, learner.tree])
            arrays.update({f"model_{i}_{name}": array for name, array in learner.arrays.items()})
        whole = {"graph": details, "labelers": labelers, "journal": number, "token": token}
        return Content(whole, arrays, {}, {})

    def _take_snapshot(self) -> None:
        number, token = self._number + 1, secrets.token_hex(16)
        content, check = self._content(number, token), partial(_check_in_place, self._log.journal)
        check()
        _remove_journal(self.path / f"{JOURNAL}{number}")  # an interrupt may have left one that nothing names
        journal = Journal.create(self.path / f"{JOURNAL}{number}", token.encode(), self._sync)
        self._switch = _Switch(number, journal, _size_of(content), self._log.journal)
        try:
            write_folder(self.path / SNAPSHOT, KIND, VERSION, content, check=check)
        finally:
            self._end_switch()

    def _finish_switch(self) -> None:
        """Go on with the journal that the snapshot names, after an interrupt."""
        if self._switch is not None:
            self._log.check_between_events()
            self._end_switch()

    def _end_switch(self) -> None:
        """Go on with the journal that the snapshot names, and remove the other. In a forked child, the parent does."""
        if self._switch is None or self._log.journal.is_inherited:
            return
        _check_in_place(self._log.journal)
        number, journal, size, other = self._switch
        if _named_journal(self.path) == number:
            self._log.journal, self._number, self._snapshot_size = journal, number, size
        else:
            other = journal
        self._switch = None
        _discard(other)

    def _open(self, recover: bool) -> None:
        for _ in range(TRIES):
            number = _named_journal(self.path)
            try:
                journal = Journal.open(self.path / f"{JOURNAL}{number}", self._sync, recover=recover)
            except FileNotFoundError:
                if _named_journal(self.path) == number:
                    raise DamagedError(self.path, f"its {JOURNAL}{number} is missing") from None
                continue
            if _named_journal(self.path) == number:
                break
            journal.close()  # another process has taken a snapshot meanwhile
        else:
            raise BlockingIOError(errno.EWOULDBLOCK, "another process takes snapshots of it", str(self.path))
        try:
            for folder in (self.path / SNAPSHOT, self.path, self.path.parent):
                sync_folder(folder)  # a process that was killed may have left names that are not on disk
            self._load(journal)
            self._log, self._number = EventLog(journal), number
            self._replay()
            _check_in_place(journal)
            self._remove_strays(journal)
            remove_strays(self.path / SNAPSHOT)
        except BaseException:
            journal.close()
            raise

    def _remove_strays(self, journal: Journal) -> None:
        """Remove what crashes have left beside the snapshot and this journal, and nothing else."""
        for entry in self.path.iterdir():
            if entry.name not in (journal.path.name, journal.lock_path.name) and _is_ours(entry.name):
                with suppress(OSError):
                    entry.unlink()

    def _load(self, journal: Journal) -> None:
        """Take the snapshot, which this journal continues."""
        path = self.path / SNAPSHOT
        folder = open_folder(path, KIND, VERSION)
        details, arrays = folder.content.details, read_arrays(folder, list(folder.content.arrays))
        try:
            token, labelers = str(details["token"]).encode(), list(details["labelers"])
            self._restore(read_state(details["graph"], arrays))
        except Exception as error:  # whatever a manifest that was tampered with leads to
            raise DamagedError(path, f"its graph cannot be made again ({error})") from error
        if journal.token != token:
            raise DamagedError(self.path, f"{journal.path.name} belongs to another snapshot")
        self._snapshot_size = _size_of(folder.content)
        for i, saved in enumerate(labelers):
            prefix = f"model_{i}_"
            own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
            try:
                name, made_with, settings, tree = saved
                check_restored(isinstance(name, str) and name not in self._labelers, "labelers")
                self._labelers[name] = _DurableLabeler._loaded(
                    self, str(name), dict(made_with), settings, SavedLearner(tree, own)
                )
            except DamagedError:
                raise
            except Exception as error:
                raise DamagedError(path, f"a labeler cannot be made again ({error})") from error

    def _replay(self) -> None:
        self._is_replaying = True
        for i, record in enumerate(self._log.journal.records()):
            try:
                self._replay_one(RecordReader(record))
            except Exception as error:
                raise DamagedError(self._log.journal.path, f"its record {i} cannot be replayed ({error})") from error
        self._is_replaying = False

    def _replay_one(self, reader: RecordReader) -> None:
        kind, *content = reader.content
        if kind in GRAPH_EVENTS:
            self._apply(read_event(reader, directed=self._directed))
        elif kind == "labeler":
            name, made_with = content
            self._labelers[name] = _DurableLabeler._made(self, name, made_with)
        elif kind == "drop labeler":
            del self._labelers[content[0]]
        else:
            name, nodes, labels, *more = content
            self._labelers[name]._replay(kind, reader.listed(nodes), reader.listed(labels), *more)


class _Switch(NamedTuple):
    """A journal that takes over once the snapshot names it."""

    number: int
    journal: Journal
    snapshot_size: int
    journal_before: Journal


class _DurableLabeler(OnlineNodeLabeler):
    """A model whose changes go into the journal of its graph."""

    name: str
    made_with: dict[str, Any]
    _durable: DurableGraph

    @classmethod
    def _made(cls, graph: DurableGraph, name: str, made_with: dict[str, Any]) -> _DurableLabeler:
        settings = dict(made_with)
        if settings.get("classes") is not None:
            settings["classes"] = [from_json(label) for label in settings["classes"]]
        model = cls(graph, **settings)
        model.name, model.made_with, model._durable = name, made_with, graph
        return model

    @classmethod
    def _loaded(
        cls, graph: DurableGraph, name: str, made_with: dict[str, Any], settings: Mapping[str, Any], saved: SavedLearner
    ) -> _DurableLabeler:
        rows, arrows = undirected_for(settings["method"], graph.rows, settings["direction"])
        model = cls.__new__(cls)
        model.name, model.made_with, model._durable = name, made_with, graph
        if isinstance(saved.tree, dict) and LABELS_ONLY in saved.tree:
            k, calibrated, fitted = saved.tree[LABELS_ONLY]
            check_restored(k == len(settings["classes"]), "labels and classes")
            history = checked_history(len(rows), k, saved.arrays["rows"], saved.arrays["numbers"])
            learner: Learner = model._waiting(rows, history, calibrated=calibrated, fitted=fitted)
        else:
            learner = decode_learner(graph.path, saved, rows, arrows)
        model._take(settings, learner, rows)
        model._given_graph = graph
        return model

    def _waiting(self, rows: RowGraph, history: LabelHistory, *, calibrated: bool, fitted: bool) -> WaitingLearner:
        """A learner with these labels alone."""

        def make(blank: LabelHistory) -> Learner:
            return _DurableLabeler._made(self._durable, self.name, self.made_with)._knowledge.learner.blank(blank)

        return WaitingLearner(rows, history, make, calibrated=bool(calibrated), fitted=bool(fitted))

    def _forget_removed(self) -> None:
        """Forget the labels of nodes that have just left the graph, unless the model cannot follow it."""
        try:
            self._knowledge.follow()
        except (CannotFollowError, MemoryError, RuntimeError) as error:  # what happened to the graph has happened
            logger.info("labeler %r does not follow its graph: %s", self.name, error)

    def _saved(self) -> tuple[dict[str, Any], SavedLearner]:
        """What is saved of the model: only its labels if it cannot follow its graph."""
        try:
            return super()._saved()
        except CannotFollowError:
            knowledge = self._knowledge
            learner = knowledge.learner
            rows, numbers = learner.learned()
            tree = {LABELS_ONLY: [learner.k, learner.calibrated, learner.is_fitted]}
            return self._settings(knowledge.classes), SavedLearner(tree, {"rows": rows, "numbers": numbers})

    def was_made_with(self, setting: str, value: Any) -> bool:
        made_with: Any = self.made_with.get(setting, DEFAULTS.get(setting))
        return bool(made_with == value)

    def __reduce__(self) -> tuple[Any, ...]:
        return _plain_labeler, (self._plain_state(),)

    def __copy__(self) -> OnlineNodeLabeler:
        return copy.deepcopy(self)  # two models that share what they have learned would both change it

    def _plain_state(self) -> dict[str, Any]:
        own = ("name", "made_with", "_durable")
        return {name: value for name, value in self.__getstate__().items() if name not in own}

    def clone(self) -> OnlineNodeLabeler:
        other = _plain_labeler(self._plain_state())
        with self._present() as knowledge:
            other._knowledge = knowledge.blank(self._given)
        return other

    def _change(
        self,
        nodes: list[Hashable],
        labels: list[Hashable],
        commit: Callable[..., int | None],
    ) -> int | None:
        graph = self._durable
        if not graph._is_replaying:
            graph._finish_interrupted()
        answer = super()._change(nodes, labels, commit)
        if not graph._is_replaying:
            graph._snapshot_if_due()
        return answer

    def _recorded(
        self, kind: LabelEventKind, nodes: Sequence[Hashable], labels: Sequence[Hashable]
    ) -> AbstractContextManager[None]:
        if len(nodes) == 0:
            return UNRECORDED
        learned, knowledge = self._knowledge.n_learned, self._knowledge
        u = self._graph.index(nodes[0])
        label_before = knowledge.label_of(u)

        def outcome() -> Outcome:
            now = self._knowledge.label_of(u)
            if kind == "forget":
                return "happened" if now is None else "did not happen"
            if kind == "overwrite" and label_before is not None:
                return "happened" if now == labels[0] else "did not happen"
            done = self._knowledge.n_learned - learned
            if done == 0:
                return "did not happen"
            return "happened" if done == len(nodes) else self._record(kind, nodes[:done], labels[:done])

        return self._changing(self._record(kind, nodes, labels), outcome)

    def _changing(self, record: bytes, outcome: Callable[[], Outcome]) -> AbstractContextManager[None]:
        graph = self._durable
        if graph._is_replaying:
            return UNRECORDED
        if graph._labelers.get(self.name) is not self:
            raise ValueError(f"labeler {self.name!r} was dropped from its graph, and cannot be changed")
        graph._check_open()
        return graph._log.recorded(record, outcome)

    def _record(
        self, kind: LabelEventKind, nodes: Sequence[Hashable], labels: Sequence[Hashable], *more: object
    ) -> bytes:
        writer = RecordWriter()
        content = [self.name, writer.names(nodes, "node"), writer.names(labels, "label"), *more]
        return writer.record([kind, *content])

    def fit(
        self,
        labels: Labels,
        *,
        class_prior: Mapping[Hashable, float] | None = None,
        unknown: UnknownLabels = "error",
    ) -> OnlineNodeLabeler:
        if not self._durable._is_replaying:
            self._durable._finish_interrupted()
        with self._known_labels(labels, unknown) as pairs:
            self._fit(pairs, class_prior)
        if not self._durable._is_replaying:
            self._durable._snapshot_if_due()
        return self

    def _fit(self, pairs: list[tuple[Hashable, Any]], class_prior: Mapping[Hashable, float] | None) -> None:
        with self._graph.reading():  # so that the labels are learned on the graph that they follow in the journal
            fitted = self.clone().fit(pairs, class_prior=class_prior)
            known, prior = fitted.labels.copy(), None
            if class_prior is not None:
                prior = [[to_json(label, "label"), float(share)] for label, share in class_prior.items()]
            record = self._record("fit", list(known), list(known.values()), prior)
            self._check_not_changing()

            def outcome() -> Outcome:
                return "happened" if self._knowledge is fitted._knowledge else "did not happen"

            with self._lock, self._changing(record, outcome):
                self._knowledge = fitted._knowledge

    def _replay(
        self, kind: str, nodes: list[Hashable], labels: list[Hashable], prior: list[list[Any]] | None = None
    ) -> None:
        try:
            self._replay_now(kind, nodes, labels, prior)
        except CannotFollowError:  # it could when this was recorded
            self._replay_labels(kind, nodes, labels)

    def _replay_labels(self, kind: str, nodes: list[Hashable], labels: list[Hashable]) -> None:
        """Keep what a record says of labels, for when the model can follow its graph again."""
        knowledge, rows = self._knowledge, np.array(self._graph.rows_of(nodes), dtype=np.int32)
        learner, n = knowledge.learner, len(self._graph)
        if kind == "fit":
            blank = LabelHistory(n, len(self._given))
            learner = self._waiting(self._graph, blank, calibrated=learner.calibrated, fitted=True)
            knowledge = self._knowledge = Knowledge(learner, self._given)
        elif not isinstance(learner, WaitingLearner):
            history = checked_history(n, learner.k, *learner.learned())
            settings = {"calibrated": learner.calibrated, "fitted": learner.is_fitted}
            learner = knowledge.learner = self._waiting(self._graph, history, **settings)
        if kind == "forget":
            learner.forget(int(rows[0]))
        else:
            learner.learn_many(rows, knowledge.numbers(map(knowledge.entry, labels)))

    def _replay_now(
        self, kind: str, nodes: list[Hashable], labels: list[Hashable], prior: list[list[Any]] | None
    ) -> None:
        pairs = list(zip(nodes, labels, strict=kind != "forget"))
        if kind in ("learn", "overwrite"):
            self.learn_one(*pairs[0], overwrite=kind == "overwrite")
        elif kind == "learn many":
            self.learn_many(pairs)
        elif kind == "forget":
            self.forget(nodes[0])
        elif kind == "run":
            self.run(pairs)
        elif kind == "fit":
            known = None if prior is None else {from_json(label): share for label, share in prior}
            self.fit(pairs, class_prior=known)
        else:
            raise ValueError(f"unknown kind of record {shortened(kind)}")


def _plain_labeler(state: dict[str, Any]) -> OnlineNodeLabeler:
    model = OnlineNodeLabeler.__new__(OnlineNodeLabeler)
    model.__setstate__(state)
    return model


def _plain_settings(given: dict[str, Any]) -> dict[str, Any]:
    """The settings of a labeler as JSON holds them."""
    plain: dict[str, Any] = {}
    for name, value in given.items():
        if name == "classes":
            plain[name] = [to_json(label, "label") for label in distinct_labels(value)]
        elif name == "seed":
            plain[name] = as_seed(value)
        elif name == "experts" and not isinstance(value, str):
            plain[name] = list(value)
        elif isinstance(value, np.generic):
            plain[name] = value.item()
        else:
            plain[name] = value
        if not _is_plain(plain[name]):
            raise TypeError(f"{name} must be a number, a text or a list of these to be saved, got {shortened(value)}")
    return plain


def _is_plain(value: object) -> bool:
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | float | str)


def _refuse_to_replace(path: Path) -> None:
    why = "holds a graph already: leave G out to open it, or name another folder"
    raise FileExistsError(errno.EEXIST, why, str(path))


def _holds_graph(path: Path, *, locked: bool = False) -> bool:
    """Whether a folder holds a graph; False if it does not exist, is empty, or was not made completely.

    Unless they are `locked` by this process, its journals are looked at: without a snapshot they must be empty.
    """
    if not path.is_dir():
        if path.exists():
            raise FileExistsError(errno.EEXIST, "this is a file; name a folder, which may not exist yet")
        if not path.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, f"there is no folder {path.parent} to make it in")
        return False
    if (path / SNAPSHOT / "manifest.json").exists():
        return True
    for entry in path.iterdir():
        if entry.name != SNAPSHOT and not _is_ours(entry.name):
            raise FileExistsError(errno.EEXIST, f"the folder has other files, such as {entry.name}; name a new folder")
        if JOURNAL_FILE.fullmatch(entry.name) and not locked:
            with Journal.open(entry, "never") as journal:
                if journal.n_records:
                    raise DamagedError(path, f"its {SNAPSHOT} is missing")
    return False


def _is_ours(name: str) -> bool:
    """Whether a file beside the snapshot has a name that only graphs give."""
    return any(names.fullmatch(name) for names in (JOURNAL_FILE, LOCK_FILE, TEMPORARY))


def _named_journal(path: Path) -> int:
    """The number of the journal that the snapshot names."""
    number = open_folder(path / SNAPSHOT, KIND, VERSION).content.details.get("journal")
    if type(number) is not int:
        raise DamagedError(path / SNAPSHOT, f"its journal is {shortened(number)}")
    return number


def _check_in_place(journal: Journal) -> None:
    """Asked before a file of the journal's folder is replaced or removed by its name."""
    if not journal.is_in_place():
        why = "its folder was moved or removed while the graph was open: close it, open it where the folder is now"
        raise OSError(errno.ESTALE, why, str(journal.path.parent))


def _discard(journal: Journal) -> None:
    """Close a journal and remove it, unless another file has its name by now."""
    in_place = False
    with suppress(OSError):
        in_place = journal.is_in_place()
    with suppress(OSError):
        journal.close()
    if in_place:
        _remove_journal(journal.path)


def _remove_journal(path: Path) -> None:
    """Remove a journal and its lock: no other journal ever has its number."""
    for file in (path, path.with_name(f".{path.name}.lock")):
        with suppress(OSError):
            file.unlink()


def _size_of(content: Content) -> int:
    return sum(array.nbytes for array in content.arrays.values())
