"""Threads for the work of requests, within limits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from manylabel.web.errors import ApiError

__all__ = ["Workers"]

Result = TypeVar("Result")


class Workers:
    """Runs calls in threads; refuses them when too many wait or they take too long.

    Parameters
    ----------
    threads : int
    max_waiting : int
        Maximum calls that wait for a thread.
    timeout : float
        Maximum seconds from the call to its result.
    """

    def __init__(self, threads: int, max_waiting: int, timeout: float) -> None:
        self._threads = threads
        self._most = threads + max_waiting
        self._timeout = timeout
        self._begun = 0
        self._pool: ThreadPoolExecutor | None = None

    def close(self) -> None:
        """Finish running calls; the next call starts new threads."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    async def read(self, call: Callable[[], Result]) -> Result:
        """Run a call that changes nothing and may be abandoned at any time."""
        return await self._run(call, may_abandon=True)

    async def write(self, call: Callable[[], Result]) -> Result:
        """Run a call that changes something; it is abandoned before it starts, or never."""
        return await self._run(call, may_abandon=False)

    async def _run(self, call: Callable[[], Result], may_abandon: bool) -> Result:
        if self._begun >= self._most:
            raise ApiError(
                503,
                f"The server is busy with {self._begun:,} requests; try again in a moment.",
                {"Retry-After": "1"},
            )
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="manylabel")
        self._begun += 1
        in_thread = self._pool.submit(call)
        awaited = asyncio.wrap_future(in_thread)
        awaited.add_done_callback(self._finished)
        await asyncio.wait({awaited}, timeout=self._timeout)
        if not awaited.done() and (in_thread.cancel() or may_abandon):
            raise ApiError(
                503,
                f"The answer took longer than {self._timeout:g} seconds; nothing was changed. "
                "Try again later, or with less text.",
                {"Retry-After": "5"},
            )
        return await awaited

    def _finished(self, awaited: asyncio.Future[Result]) -> None:
        self._begun -= 1
        # Mark the exception as seen: the caller of an abandoned call never looks at it.
        _ = awaited.cancelled() or awaited.exception()
