"""Blocks of rows over a pool of threads.

Kernels are serial and release the GIL, so plain threads use every core. Nothing here is global:
two callers may run at the same time, which a server does, and each row is written by one thread,
so the answer is the same at any number of threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

from manylabel.exceptions import ParameterError

__all__ = ["Callback", "effective_jobs", "run_blocks", "single_threaded_blas"]

#: Called with (rows done, rows in all) as work goes on.
Callback = Callable[[int, int], None]


def effective_jobs(n_jobs: int | None) -> int:
    """Threads to use: scikit-learn's meaning of ``n_jobs`` (None is 1, -1 is every core).

    Examples
    --------
    >>> effective_jobs(None), effective_jobs(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ParameterError("`n_jobs` must be None, a positive number or negative; got 0.")
    cores = os.cpu_count() or 1
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def run_blocks(
    work: Callable[[int, int], None],
    n_rows: int,
    block: int,
    n_jobs: int | None = None,
    callback: Callback | None = None,
) -> None:
    """Call ``work(start, stop)`` for consecutive blocks that cover ``range(n_rows)``.

    Parameters
    ----------
    work : callable
        Writes the rows ``start`` to ``stop`` of its output and nothing else.
    n_rows, block : int
        How many rows in all, and at most how many a call.
    n_jobs : int, optional
        Threads. With one, everything runs in the caller's thread.
    callback : callable, optional
        Called in the caller's thread with (rows done, rows in all) after each block.
    """
    starts = range(0, n_rows, block)
    threads = min(effective_jobs(n_jobs), len(starts))
    done = 0

    def finished(start: int) -> None:
        nonlocal done
        done += min(start + block, n_rows) - start
        if callback is not None:
            callback(done, n_rows)

    if threads <= 1:
        for start in starts:
            work(start, min(start + block, n_rows))
            finished(start)
        return

    with ThreadPoolExecutor(threads) as pool:
        pending: dict[Future[None], int] = {
            pool.submit(work, start, min(start + block, n_rows)): start for start in starts
        }
        try:
            while pending:
                for future in wait(pending, return_when=FIRST_COMPLETED).done:
                    start = pending.pop(future)
                    future.result()
                    finished(start)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


_blas_lock = threading.Lock()
_blas_users = 0
_blas_limit: Any = None


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Keep BLAS to one thread while our own threads call it.

    The limit belongs to the whole process, so overlapping users share one: the first sets it, the
    last lifts it.
    """
    global _blas_users, _blas_limit
    from threadpoolctl import threadpool_limits

    with _blas_lock:
        if _blas_users == 0:
            _blas_limit = threadpool_limits(1, user_api="blas")
        _blas_users += 1
    try:
        yield
    finally:
        with _blas_lock:
            _blas_users -= 1
            if _blas_users == 0:
                _blas_limit.restore_original_limits()
                _blas_limit = None
