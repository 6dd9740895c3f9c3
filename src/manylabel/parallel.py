"""Run blocks of rows in threads, or elsewhere, such as on a cluster.

Kernels are serial and release the GIL, so threads use every core. There is no global state: two
callers may run at the same time, as in a server. One thread writes each row, so the result is the
same at any number of threads.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from manylabel.exceptions import ParameterError

__all__ = [
    "Callback",
    "Place",
    "Zeros",
    "current_place",
    "effective_jobs",
    "map_blocks",
    "map_items",
    "run_blocks",
    "running_at",
    "single_threaded_blas",
]

#: Called with (rows done, total rows) as work proceeds.
Callback = Callable[[int, int], None]


def effective_jobs(n_jobs: int | None) -> int:
    """The number of threads for ``n_jobs``, as in scikit-learn: None is 1, -1 is every core.

    Examples
    --------
    >>> effective_jobs(None), effective_jobs(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ParameterError("`n_jobs` must be None or a whole number other than 0; got 0.")
    return n_jobs if n_jobs > 0 else max(1, _cores() + 1 + n_jobs)


@cache
def _cores() -> int:
    """The number of cores, cached: the call takes as long as ranking a document's labels."""
    return os.cpu_count() or 1


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
        The number of rows, and the maximum per call.
    n_jobs : int, optional
        Threads. With one, everything runs in the caller's thread.
    callback : callable, optional
        Called in the caller's thread with (rows done, total rows) after each block.
    """
    starts = range(0, n_rows, block)
    threads = min(effective_jobs(n_jobs), len(starts))
    if threads <= 1:
        for start in starts:
            stop = min(start + block, n_rows)
            work(start, stop)
            if callback is not None:
                callback(stop, n_rows)
        return
    done = 0

    with ThreadPoolExecutor(threads) as pool:
        pending: dict[Future[None], int] = {
            pool.submit(work, start, min(start + block, n_rows)): start for start in starts
        }
        try:
            while pending:
                for future in wait(pending, return_when=FIRST_COMPLETED).done:
                    start = pending.pop(future)
                    future.result()
                    done += min(start + block, n_rows) - start
                    if callback is not None:
                        callback(done, n_rows)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


class Place(Protocol):
    """Somewhere outside this process where blocks can run, such as a cluster."""

    #: An index with more rows than this is divided into shards of this size.
    shard_rows: int
    #: Whether paths of this process are valid there.
    sees_files: bool

    @property
    def scratch(self) -> Path:
        """A folder of this process with room for large temporary files."""

    def map_blocks(
        self,
        task: Callable[..., Any],
        shared: tuple[Any, ...],
        n_rows: int,
        block: int,
        callback: Callback | None,
        fixed: bool,
    ) -> Iterator[Any]:
        """Like the function `map_blocks`, but work starts before the first result is taken."""

    def map_items(
        self,
        task: Callable[..., Any],
        shared: tuple[Any, ...],
        items: Iterable[tuple[Any, ...]],
    ) -> Iterator[Any]:
        """Like the function `map_items`; work on a sequence starts at once."""

    def save_progress(self, work: Any, state: Any) -> None:
        """Save a checkpoint of some work, replacing the previous one."""

    def load_progress(self, work: Any) -> Any:
        """The last checkpoint of the same work, even from an earlier run; None if there is none."""


_place: ContextVar[Place | None] = ContextVar("place", default=None)


def current_place() -> Place | None:
    """Where `map_blocks` runs its blocks; None is this process."""
    return _place.get()


@contextmanager
def running_at(place: Place) -> Iterator[None]:
    """Let `map_blocks` run its blocks at a place within this context."""
    token = _place.set(place)
    try:
        yield
    finally:
        _place.reset(token)


def map_blocks(
    task: Callable[..., Any],
    shared: tuple[Any, ...],
    n_rows: int,
    block: int,
    n_jobs: int | None = None,
    callback: Callback | None = None,
    *,
    fixed: bool = False,
    here: Mapping[str, Any] | None = None,
) -> Iterator[Any]:
    """Results of ``task(*shared, start, stop)`` for consecutive blocks, in order.

    Parameters
    ----------
    task : callable
        A pure function at module level: the result depends only on its arguments.
    shared : tuple
        Arguments for all blocks, which must not change meanwhile. Their types, and those of the
        results, must be ones that a model folder can store.
    n_rows, block : int
        The number of rows, and the maximum per call.
    n_jobs : int, optional
        Threads, if this process does the work.
    callback : callable, optional
        Called with (rows done, total rows) as results are taken.
    fixed : bool
        Whether the result depends on the size of the blocks; otherwise a cluster may use larger
        ones.
    here : mapping, optional
        Further arguments for the task if it runs in this process, such as a progress bar.

    Examples
    --------
    >>> list(map_blocks(range, (), 5, 2))
    [range(0, 2), range(2, 4), range(4, 5)]
    """
    place = _place.get()
    if place is not None:
        return place.map_blocks(task, shared, n_rows, block, callback, fixed)
    return _map_here(task, shared, n_rows, block, effective_jobs(n_jobs), callback, here or {})


def map_items(
    task: Callable[..., Any], shared: tuple[Any, ...], items: Iterable[tuple[Any, ...]]
) -> Iterator[Any]:
    """Results of ``task(*shared, *item)`` for each item, in order.

    Parameters
    ----------
    task : callable
        As for `map_blocks`.
    shared : tuple
    items : iterable of tuple
        Arguments of the same types as the shared ones.

    Examples
    --------
    >>> list(map_items(pow, (2,), [(3,), (4,)]))
    [8, 16]
    """
    place = _place.get()
    if place is not None:
        return place.map_items(task, shared, items)
    return (task(*shared, *item) for item in items)


def _map_here(
    task: Callable[..., Any],
    shared: tuple[Any, ...],
    n_rows: int,
    block: int,
    threads: int,
    callback: Callback | None,
    here: Mapping[str, Any],
) -> Iterator[Any]:
    """Run the blocks in threads; only a few finished results are held at a time."""
    ranges = [(start, min(start + block, n_rows)) for start in range(0, n_rows, block)]
    threads = min(threads, len(ranges))
    if threads <= 1:
        for start, stop in ranges:
            yield task(*shared, start, stop, **here)
            if callback is not None:
                callback(stop, n_rows)
        return
    with ThreadPoolExecutor(threads) as pool:
        pending: deque[tuple[Future[Any], int]] = deque()

        def oldest() -> Any:
            future, stop = pending.popleft()
            result = future.result()
            if callback is not None:
                callback(stop, n_rows)
            return result

        try:
            for start, stop in ranges:
                pending.append((pool.submit(task, *shared, start, stop, **here), stop))
                if len(pending) > 2 * threads:
                    yield oldest()
            while pending:
                yield oldest()
        finally:
            pool.shutdown(cancel_futures=True)


class Zeros:
    """Lends arrays of zeros of one type to blocks that leave them as they were.

    To write half a million zeros takes longer than to count the votes for a document's labels.
    """

    #: Arrays that are kept for the next borrower.
    _MAX_KEPT = 8

    def __init__(self) -> None:
        self._kept: list[Any] = []

    @contextmanager
    def lent(self, shape: tuple[int, ...], dtype: str = "float64") -> Iterator[Any]:
        """An array of zeros for one borrower at a time; after an error it is not used again."""
        try:
            array = self._kept.pop()
        except IndexError:
            array = None
        if array is None or array.shape != shape:
            import numpy as np

            array = np.zeros(shape, dtype)
        yield array
        if len(self._kept) < self._MAX_KEPT:
            self._kept.append(array)


_blas_lock = threading.Lock()
_blas_users = 0
_blas_limit: Any = None


@cache
def _blas_libraries(is_scipy_loaded: bool) -> Any:
    """The BLAS libraries of NumPy, and of SciPy once loaded; cached because the search is slow."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Limit BLAS to one thread while our own threads call it.

    The limit applies to the whole process, so overlapping callers share it: the first sets it, the
    last removes it.
    """
    global _blas_users, _blas_limit
    with _blas_lock:
        if _blas_users == 0:
            _blas_limit = _blas_libraries("scipy.linalg" in sys.modules).limit(
                limits=1, user_api="blas"
            )
        _blas_users += 1
    try:
        yield
    finally:
        with _blas_lock:
            _blas_users -= 1
            if _blas_users == 0:
                _blas_limit.restore_original_limits()
                _blas_limit = None
