"""The progress of a comparison: a bar in a terminal, elsewhere one line per run."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from manylabel.cli.output import note
from manylabel.compare import Watcher
from manylabel.compare.cells import Cell

__all__ = ["watching"]


class _Lines(Watcher):
    """Prints a line when a run has ended."""

    def __init__(self, say: Any) -> None:
        self._say = say
        self._total = self._ended = 0
        self._started: dict[str, float] = {}

    def plan(self, total: int, finished: int) -> None:
        self._total, self._ended = total, finished
        if finished:
            self._say(f"{finished} of {total} runs are already finished.")

    def phase(self, cell: Cell, phase: str) -> None:
        self._started.setdefault(cell.key, time.perf_counter())

    def done(self, cell: Cell, error: str | None) -> None:
        self._ended += 1
        seconds = time.perf_counter() - self._started.get(cell.key, time.perf_counter())
        outcome = f"{seconds:.1f} s" if error is None else f"failed: {error}"
        self._say(f"{self._ended}/{self._total}  {cell.title}  {outcome}")


class _Bar(_Lines):
    """Also shows the current phase, and how many runs are left."""

    def __init__(self, bar: Any) -> None:
        super().__init__(bar.console.print)
        self._bar, self._task = bar, bar.add_task("", total=None)

    def plan(self, total: int, finished: int) -> None:
        super().plan(total, finished)
        self._bar.update(self._task, total=total, completed=finished)

    def preparing(self, name: str) -> None:
        self._bar.update(self._task, description=f"{name}: reading")

    def phase(self, cell: Cell, phase: str) -> None:
        super().phase(cell, phase)
        self._bar.update(self._task, description=f"{cell.title}: {phase}")

    def done(self, cell: Cell, error: str | None) -> None:
        super().done(cell, error)
        self._bar.update(self._task, completed=self._ended)


@contextmanager
def watching(quiet: bool) -> Iterator[Watcher]:
    """A watcher for standard error."""
    if quiet:
        yield Watcher()
        return
    if not sys.stderr.isatty():
        yield _Lines(lambda message: note(message, quiet))
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    console = Console(stderr=True, markup=False, highlight=False)
    with Progress(*columns, console=console) as bar:
        yield _Bar(bar)
