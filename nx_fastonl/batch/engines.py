"""Where tasks run: in this process or, inside of ``joblib.parallel_config``, wherever that says."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

__all__ = ["is_elsewhere", "over_joblib"]

Task = TypeVar("Task")
Result = TypeVar("Result")


def is_elsewhere() -> bool:
    """Whether this is inside of a ``joblib.parallel_config`` that names a backend or a number of jobs.

    A task that joblib runs is not: what it calls runs where the task runs.
    """
    if "joblib" not in sys.modules:
        return False
    from joblib.parallel import get_active_backend

    backend, n_jobs = get_active_backend()
    if n_jobs not in (None, 1):
        return True
    # A backend that nobody has named is made anew for each who asks. Inside of a task, joblib itself has named one.
    return not getattr(backend, "nesting_level", 0) and backend is get_active_backend()[0]


def over_joblib(function: Callable[[Task], Result], tasks: Sequence[Task], n_jobs: int | None) -> Generator[Result]:
    """Map over the workers of joblib's backend, by default processes; in the order in which results are there.

    Tasks and results travel to other processes, perhaps on other machines: both must be small. Backends that cannot
    give results one by one, such as ``"ray"`` and ``"multiprocessing"``, give all at the end.
    """
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    one_by_one = get_active_backend()[0].supports_return_generator
    options: dict[str, Any] = {"return_as": "generator_unordered" if one_by_one else "list"}
    if n_jobs is not None:  # joblib would start as many processes as it is told to
        options["n_jobs"] = min(n_jobs, max(1, len(tasks)))
    yield from Parallel(**options)(delayed(function)(task) for task in tasks)
