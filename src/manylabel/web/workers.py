"""Threads for the work of requests, within limits."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

from manylabel.web.errors import ApiError

__all__ = ["Workers"]

Result = TypeVar("Result")

#: Maximum texts of different requests that one call answers, and their characters.
_MAX_TEXTS, _MAX_CHARACTERS = 16, 100_000


class _Waiting(NamedTuple):
    """A text that waits for its answer."""

    text: str
    call: Callable[[list[str]], Sequence[Any]]
    awaited: asyncio.Future[Any]


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
        # Texts that wait for a call, by what they have in common.
        self._waiting: dict[Hashable, list[_Waiting]] = {}
        self._tasks: set[asyncio.Future[None]] = set()
        self._n_calls, self._most_calls = 0, min(threads, os.cpu_count() or 1)

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

    async def read_text(
        self, key: Hashable, text: str, call: Callable[[list[str]], Sequence[Result]]
    ) -> Result:
        """Answer a text, in one call with others that have the same key and wait already.

        A call for many texts takes less time than many calls. A text never waits for others to
        arrive: if a core is free, its call starts at once.

        Parameters
        ----------
        key : hashable
            What the texts have in common; equal keys mean that the calls do the same.
        text : str
        call : callable
            Returns an answer for each text.
        """
        self._check_busy()
        awaited: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._begun += 1
        awaited.add_done_callback(self._finished)
        self._waiting.setdefault(key, []).append(_Waiting(text, call, awaited))
        self._start_calls()
        await asyncio.wait({awaited}, timeout=self._timeout)
        if not awaited.done():
            awaited.cancel()
            raise self._too_late()
        return await awaited

    def _start_calls(self) -> None:
        """Start calls for waiting texts while cores are free; the first to wait come first."""
        while self._waiting and self._n_calls < self._most_calls:
            key = next(iter(self._waiting))
            queue = self._waiting.pop(key)
            texts: list[_Waiting] = []
            size = 0
            while queue and len(texts) < _MAX_TEXTS and (not texts or size < _MAX_CHARACTERS):
                waiting = queue.pop(0)
                if not waiting.awaited.done():
                    texts.append(waiting)
                    size += len(waiting.text)
            if queue:
                # Other keys come first the next time.
                self._waiting[key] = queue
            if texts:
                self._n_calls += 1
                task = asyncio.ensure_future(self._answer(texts))
                # Otherwise the task could be collected as garbage while it runs.
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _answer(self, texts: list[_Waiting]) -> None:
        """Answer texts by one call; if it fails, by one call each, since one may be at fault."""
        try:
            call = texts[0].call
            in_thread = self._threaded().submit(call, [waiting.text for waiting in texts])
            answers = await asyncio.wrap_future(in_thread)
            for waiting, answer in zip(texts, answers, strict=True):
                if not waiting.awaited.done():
                    waiting.awaited.set_result(answer)
        except Exception as error:
            if len(texts) == 1:
                if not texts[0].awaited.done():
                    texts[0].awaited.set_exception(error)
            else:
                for waiting in texts:
                    self._n_calls += 1
                    await self._answer([waiting])
        finally:
            self._n_calls -= 1
            self._start_calls()

    def _threaded(self) -> ThreadPoolExecutor:
        """The threads, which the first call starts."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="manylabel")
        return self._pool

    def _check_busy(self) -> None:
        """Refuse a call if too many wait."""
        if self._begun >= self._most:
            raise ApiError(
                503,
                f"The server is busy with {self._begun:,} requests; try again in a moment.",
                {"Retry-After": "1"},
            )

    def _too_late(self) -> ApiError:
        return ApiError(
            503,
            f"The answer took longer than {self._timeout:g} seconds; nothing was changed. "
            "Try again later, or with less text.",
            {"Retry-After": "5"},
        )

    async def _run(self, call: Callable[[], Result], may_abandon: bool) -> Result:
        self._check_busy()
        self._begun += 1
        in_thread = self._threaded().submit(call)
        awaited = asyncio.wrap_future(in_thread)
        awaited.add_done_callback(self._finished)
        await asyncio.wait({awaited}, timeout=self._timeout)
        if not awaited.done() and (in_thread.cancel() or may_abandon):
            raise self._too_late()
        return await awaited

    def _finished(self, awaited: asyncio.Future[Result]) -> None:
        self._begun -= 1
        # Mark the exception as seen: the caller of an abandoned call never looks at it.
        _ = awaited.cancelled() or awaited.exception()
