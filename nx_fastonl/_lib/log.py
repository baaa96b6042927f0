"""The package's logger: what it does without being asked, and why; and warnings, which users are to act upon.

INFO is for what takes time, or is done in another way than one would expect; DEBUG for what repeats at every call.
Nothing is logged inside of loops.
"""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Sized
from time import perf_counter

__all__ = ["elapsed", "log_rebuild", "logger", "warn_caller"]

LOG_VARIABLE = "NX_FASTONL_LOG"
LEVELS = ("DEBUG", "INFO", "WARNING")

logger = logging.getLogger("nx_fastonl")
logger.addHandler(logging.NullHandler())  # silent, unless the program or the environment asks for a log


def follow_environment() -> None:
    """Show the log on standard error, from the level on that the environment names.

    Where the program has handlers of its own, those show it.
    """
    wanted = os.environ.get(LOG_VARIABLE, "")
    if not wanted:
        return
    if wanted.upper() not in LEVELS:
        warnings.warn(f"{LOG_VARIABLE} must be debug, info or warning, got {wanted!r}", stacklevel=2)
        return
    shown = logging.StreamHandler()
    shown.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    shown.addFilter(lambda _: not logging.getLogger().handlers)
    logger.addHandler(shown)
    logger.setLevel(wanted.upper())


follow_environment()


def elapsed(began: float) -> str:
    """The time since `began`, which ``perf_counter`` gave."""
    seconds = perf_counter() - began
    return f"{seconds:.2f} s" if seconds >= 1.0 else f"{1e3 * seconds:.2f} ms"


def log_rebuild(what: str, changes: Sized | None, began: float, reason: str = "") -> None:
    """Say that part of a model was computed anew for a graph that has changed.

    `changes` are the edges that have; None if the graph's log of changes does not reach back so far.
    """
    if not reason:
        reason = "the graph's log is too short" if changes is None else f"{len(changes)} changes of edges"
    logger.info("computed %s anew instead of repairing it, in %s: %s", what, elapsed(began), reason)


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn of the line that has called this package, perhaps by way of NetworkX."""
    caller, stacklevel = sys._getframe(), 1
    while caller.f_back and caller.f_globals.get("__name__", "").partition(".")[0] in ("nx_fastonl", "networkx"):
        caller, stacklevel = caller.f_back, stacklevel + 1
    warnings.warn(message, category, stacklevel=stacklevel)
