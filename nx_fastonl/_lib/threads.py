"""How many threads: of this package, and of BLAS, the library behind dense linear algebra."""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

# Inverting a matrix of this size takes about 3 seconds on one thread. Above it, several threads may save much time.
MAX_SIZE_ON_ONE_THREAD = 5_000


def usable_cores() -> int:
    """The number of cores that this process may use: in a batch queue, often a part of the machine."""
    if hasattr(os, "sched_getaffinity"):  # Linux
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def one_blas_thread(size: int = 0) -> AbstractContextManager[Any]:
    """Within this context BLAS uses one thread for matrices with `size` rows, unless they are very large.

    Threads of BLAS wait for each other in busy loops. Where other processes use the cores, half a second of work then
    takes ten seconds; on idle cores, two threads save less than half of the time. The number of threads usually holds
    for the whole process: other Python threads see it too. Without threadpoolctl, nothing changes.
    """
    return _one_thread if size <= MAX_SIZE_ON_ONE_THREAD else nullcontext()


class _OneThread(AbstractContextManager[None]):
    """BLAS uses one thread while any thread of Python is in this context.

    Otherwise, the first one to leave would give threads back to the others, whose results would be rounded in another
    way then; and the last one might leave BLAS with one thread for good.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_inside = 0
        self._limit: AbstractContextManager[Any] = nullcontext()

    def __enter__(self) -> None:
        with self._lock:
            if self._n_inside == 0:
                controller = _blas_controller()
                self._limit = nullcontext() if controller is None else controller.limit(limits=1)
                self._limit.__enter__()
            self._n_inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                self._limit.__exit__(None, None, None)


_one_thread = _OneThread()


@cache  # finding the libraries takes milliseconds
def _blas_controller() -> Any:
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    import scipy.linalg  # noqa: F401  (its BLAS is not numpy's, and is found only once it is loaded)

    return ThreadpoolController().select(user_api="blas")
