"""Which functions of NetworkX a program calls, where each call ran, and why there.

NetworkX's own log of its dispatch says which backends it tried, and why one did not run a call. It does not say when a
call ends, so the entry of dispatched functions is wrapped while calls are recorded.
"""

from __future__ import annotations

import logging
import re
import threading
from time import perf_counter
from typing import Any, NamedTuple, Self

import networkx as nx

from nx_fastonl.graph.live import BACKEND_NAME
from nx_fastonl.nxapi.backend import BackendInterface

__all__ = ["CallRecorder", "CallSummary"]

NETWORKX = "networkx"
DISPATCH_LOG = "networkx.utils.backends"
MISSING = "the backend does not have it"
NOT_ASKED = "NetworkX's configuration does not name the backend for it"
OTHER_REASONS = "other reasons"
# Reasons that differ only in their numbers are one. Of one function, so many are listed.
MAX_REASONS = 10
NUMBER = re.compile(r"[0-9][0-9.,]*(?:e[+-]?[0-9]+)?")


class CallSummary(NamedTuple):
    """Calls of one function that ran in one place for one reason. The reason is empty for calls that ran here."""

    function: str
    ran_in: str
    calls: int
    seconds: float
    why: str


class _Call:
    """A call that has not returned yet, and what the log has said about it."""

    def __init__(self, function: str, depth: int, keyword: str | None) -> None:
        self.function, self.depth = function, depth
        self.backend = NETWORKX
        self.reason = None if keyword in (None, BACKEND_NAME) else f'the call says backend="{keyword}"'
        self.error = ""
        self.began = perf_counter()


class CallRecorder(logging.Filter):
    """While it is entered, it sees every call that NetworkX dispatches in this process.

    Calls that NetworkX's functions make of each other count only where they ran in this backend, or with `inner`. The
    seconds of a call are those until it returned, calls inside of it included. The log shows no more than before.

    Parameters
    ----------
    inner : bool, default False
        Whether to list all calls that NetworkX's functions make of each other, too.

    Attributes
    ----------
    n_reused : int
        How often a graph that was converted before was used again.
    """

    def __init__(self, *, inner: bool = False) -> None:
        super().__init__()
        self.inner = inner
        self.n_reused = 0
        self._calls: dict[tuple[str, str, str], CallSummary] = {}
        self._open = threading.local()
        self._lock = threading.Lock()
        self._logger = logging.getLogger(DISPATCH_LOG)

    def __enter__(self) -> Self:
        dispatchable: Any = nx.utils.backends._dispatchable
        self._level, self._entry = self._logger.level, dispatchable.__call__
        entry = self._entry

        def call(function: Any, /, *args: Any, backend: str | None = None, **kwargs: Any) -> Any:
            opened = self._begin(function.name, backend)
            try:
                return entry(function, *args, backend=backend, **kwargs)
            except BaseException as error:
                opened.error = type(error).__name__
                raise
            finally:
                self._end(opened)

        self._logger.addFilter(self)
        self._logger.setLevel(logging.DEBUG)
        dispatchable.__call__ = call
        return self

    def __exit__(self, *_: object) -> None:
        dispatchable: Any = nx.utils.backends._dispatchable
        dispatchable.__call__ = self._entry
        self._logger.setLevel(self._level)
        self._logger.removeFilter(self)

    def summaries(self) -> list[CallSummary]:
        """What was called, the functions that took longest first."""
        with self._lock:
            found = list(self._calls.values())
        return sorted(found, key=lambda summary: -summary.seconds)

    def filter(self, record: logging.LogRecord) -> bool:
        """Read a line of NetworkX's log, and let it pass only where it would have passed before."""
        calls = self._stack()
        if calls:
            self._read(calls[-1], str(record.msg), record.args)
        parent = self._logger.parent
        return record.levelno >= (self._level or (parent.getEffectiveLevel() if parent else logging.WARNING))

    def _read(self, call: _Call, line: str, values: Any) -> None:
        """What a line says about a call; the words are those of NetworkX 3.4 to 3.7."""
        if not isinstance(values, tuple) or len(values) < 2:
            return
        if line.startswith("Using backend "):
            call.backend = str(values[0])
        elif line.startswith("Using cached converted graph"):
            with self._lock:
                self.n_reused += 1
        elif line.startswith("Backend ") and values[0] == BACKEND_NAME:
            if " does not implement " in line:
                call.reason = MISSING
            elif " raised when calling " in line and len(values) > 2:
                call.backend, call.reason = NETWORKX, str(values[2])
            elif " run `" in line and len(values) > 3:  # can't, shouldn't
                call.reason = str(values[3]).removeprefix(", because: ")

    def _stack(self) -> list[_Call]:
        """The calls of this thread that have not returned yet."""
        calls: list[_Call] | None = getattr(self._open, "calls", None)
        if calls is None:
            calls = self._open.calls = []
        return calls

    def _begin(self, function: str, keyword: str | None) -> _Call:
        calls = self._stack()
        call = _Call(function, len(calls), keyword)
        calls.append(call)
        return call

    def _end(self, call: _Call) -> None:
        seconds = perf_counter() - call.began
        calls = self._stack()
        del calls[calls.index(call) :]
        is_here = call.backend == BACKEND_NAME or call.function.startswith(f"{BACKEND_NAME}_")
        if call.function.endswith("__new__") or (call.depth > 0 and not (is_here or self.inner)):
            return
        why = f"raised {call.error}" if call.error else ""
        if not is_here:
            why = "; ".join(filter(None, [why, self._reason(call)]))
        ran_in = BACKEND_NAME if is_here else call.backend
        function = call.function.removeprefix(f"{BACKEND_NAME}_")
        with self._lock:
            self._count(CallSummary(function, ran_in, 1, seconds, why))

    def _reason(self, call: _Call) -> str:
        if call.reason is not None:
            return call.reason
        return NOT_ASKED if hasattr(BackendInterface, call.function) else MISSING

    def _count(self, call: CallSummary) -> None:
        key = (call.function, call.ran_in, NUMBER.sub("0", call.why))
        if key not in self._calls and sum(call.function == function for function, *_ in self._calls) >= MAX_REASONS:
            key, call = (*key[:2], OTHER_REASONS), call._replace(why=OTHER_REASONS)
        before = self._calls.get(key, call._replace(calls=0, seconds=0.0))
        self._calls[key] = before._replace(calls=before.calls + 1, seconds=before.seconds + call.seconds)
