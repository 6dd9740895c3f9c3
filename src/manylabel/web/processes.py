"""Several processes that answer the requests to one port."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

__all__ = ["Processes", "stop_with_parent"]

#: A process that ends sooner than this many seconds after its start would end again.
_YOUNG = 10.0


class Processes:
    """Starts processes, replaces those that die, and stops them all.

    Each process maps the same model folder, so they share its memory; changes go through the
    folder's journal, one writer at a time.

    Parameters
    ----------
    target : callable
        What each process runs, at module level. Its first argument is an event to set when it
        has started well.
    arguments : tuple
        Further arguments.
    number : int
    tell : callable
        Called when the first process has started well.
    """

    def __init__(
        self,
        target: Callable[..., None],
        arguments: tuple[Any, ...],
        number: int,
        tell: Callable[[], None],
    ) -> None:
        self._target, self._arguments, self._number, self._tell = target, arguments, number, tell
        self._context = multiprocessing.get_context("spawn")
        self._has_started = self._context.Event()
        self._running: dict[BaseProcess, float] = {}
        self._is_stopping = False

    def run(self) -> int:
        """Run until SIGINT or SIGTERM, or until a process cannot start; return the exit code."""
        with _handling((signal.SIGINT, signal.SIGTERM), lambda *_: self._stop()):
            # If the first one fails, for example without its model, there is one message.
            self._start()
            while not (self._has_started.wait(0.05) or self._is_stopping):
                if not next(iter(self._running)).is_alive():
                    return next(iter(self._running)).exitcode or 1
            if not self._is_stopping:
                self._tell()
            for _ in range(1, self._number):
                self._start()
            return self._supervise()

    def _start(self) -> None:
        """Start a process, unless all are to stop."""
        if not self._is_stopping:
            process = self._context.Process(
                target=self._target, args=(self._has_started, *self._arguments)
            )
            process.start()
            self._running[process] = time.monotonic()
            if self._is_stopping:  # the signal came between
                process.terminate()

    def _supervise(self) -> int:
        """Wait for the end of all processes, and replace those that end too early."""
        code = 0
        while self._running:
            wait([process.sentinel for process in self._running], timeout=1.0)
            for process in [one for one in self._running if not one.is_alive()]:
                age = time.monotonic() - self._running.pop(process)
                process.join()
                if self._is_stopping:
                    continue
                if age < _YOUNG:
                    code = process.exitcode or 1
                    self._stop()
                else:
                    self._start()
        return code

    def _stop(self) -> None:
        """Let every process answer its open requests and end."""
        self._is_stopping = True
        for process in list(self._running):
            process.terminate()


@contextmanager
def _handling(numbers: tuple[signal.Signals, ...], handler: Callable[..., None]) -> Iterator[None]:
    """Handle signals within this context."""
    before = [signal.signal(number, handler) for number in numbers]
    try:
        yield
    finally:
        for number, old in zip(numbers, before, strict=True):
            signal.signal(number, old)


def stop_with_parent() -> None:
    """Stop this process, as by SIGTERM, when the process that started it has died."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()
