import sys

import pytest

from nx_fastonl._lib import threads
from nx_fastonl._lib.threads import MAX_SIZE_ON_ONE_THREAD, one_blas_thread

threadpoolctl = pytest.importorskip("threadpoolctl")


@pytest.fixture(autouse=True)
def _two_threads():
    """As on a machine with several cores."""
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        if blas_threads() != {2}:
            pytest.skip("BLAS cannot be told to use two threads here")
        yield


def blas_threads():
    return {library["num_threads"] for library in threadpoolctl.threadpool_info() if library["user_api"] == "blas"}


@pytest.mark.parametrize("size", [0, 10, MAX_SIZE_ON_ONE_THREAD])
def test_one_thread_within_the_context(size):
    with one_blas_thread(size):
        assert blas_threads() == {1}
    assert blas_threads() == {2}


def test_very_large_matrices_keep_their_threads():
    with one_blas_thread(MAX_SIZE_ON_ONE_THREAD + 1):
        assert blas_threads() == {2}


def test_threads_come_back_after_an_exception():
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        _ = 1 / 0
    assert blas_threads() == {2}


def test_one_thread_until_the_last_thread_of_python_has_left():
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert blas_threads() == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == {2}


def test_nothing_happens_without_threadpoolctl(monkeypatch):
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    threads._blas_controller.cache_clear()
    try:
        with one_blas_thread():
            assert blas_threads() == {2}
    finally:
        threads._blas_controller.cache_clear()
