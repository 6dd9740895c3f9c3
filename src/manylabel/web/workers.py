"""Threads that do the work of requests, within limits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from manylabel.web.errors import ApiError

__all__ = ["Workers"]

Result = TypeVar("Result")


class Workers:
    """Runs calls in threads; turns them away when too many wait or they take too long.

    Parameters
    ----------
    threads : int
    max_waiting : int
        Calls that may wait for a thread.
    timeout : float
        Seconds from the request to its answer.
    """

    def __init__(self, threads: int, max_waiting: int, timeout: float) -> None:
        self._threads = threads
        self._most = threads + max_waiting
        self._timeout = timeout
        self._begun = 0
        self._pool: ThreadPoolExecutor | None = None

    def close(self) -> None:
        """Finish what was begun; the next call opens it again."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    async def read(self, call: Callable[[], Result]) -> Result:
        """The result of a call that changes nothing, and may be given up at any time."""
        return await self._run(call, may_be_left=True)

    async def write(self, call: Callable[[], Result]) -> Result:
        """The result of a call that changes something: given up before it begins, or never."""
        return await self._run(call, may_be_left=False)

    async def _run(self, call: Callable[[], Result], may_be_left: bool) -> Result:
        if self._begun >= self._most:
            raise ApiError(
                503,
                f"{self._begun} requests are being answered; try again in a moment.",
                {"Retry-After": "1"},
            )
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="manylabel")
        self._begun += 1
        in_thread = self._pool.submit(call)
        awaited = asyncio.wrap_future(in_thread)
        awaited.add_done_callback(self._finished)
        await asyncio.wait({awaited}, timeout=self._timeout)
        if not awaited.done() and (in_thread.cancel() or may_be_left):
            raise ApiError(
                503,
                f"The answer took longer than {self._timeout:g} seconds; nothing was changed. "
                "Try again later, or with less text.",
                {"Retry-After": "5"},
            )
        return await awaited

    def _finished(self, awaited: asyncio.Future[Result]) -> None:
        self._begun -= 1
        # No one may be left to look at the exception of a call that was given up.
        _ = awaited.cancelled() or awaited.exception()
