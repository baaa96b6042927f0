"""Where tasks run: in this process or, inside of ``joblib.parallel_config``, wherever that says."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

__all__ = ["is_elsewhere", "over_joblib"]

Task = TypeVar("Task")
Result = TypeVar("Result")


def is_elsewhere() -> bool:
    """Whether this is inside of a ``joblib.parallel_config`` that names a backend or a number of jobs."""
    if "joblib" not in sys.modules:
        return False
    from joblib.parallel import get_active_backend

    backend, n_jobs = get_active_backend()
    # A backend that nobody has named is made anew for each who asks.
    return n_jobs not in (None, 1) or backend is get_active_backend()[0]


def over_joblib(function: Callable[[Task], Result], tasks: Sequence[Task], n_jobs: int | None) -> Iterator[Result]:
    """Map over the workers of joblib's backend, by default processes; in the order in which results are there.

    Tasks and results travel to other processes, perhaps on other machines: both must be small.
    """
    from joblib import Parallel, delayed

    # joblib would start as many processes as it is told to.
    options: dict[str, Any] = {} if n_jobs is None else {"n_jobs": min(n_jobs, max(1, len(tasks)))}
    yield from Parallel(return_as="generator_unordered", **options)(delayed(function)(task) for task in tasks)
