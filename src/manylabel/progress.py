"""Long-running work: progress bars on stderr, seconds per phase, and peak memory."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from manylabel.parallel import Callback

__all__ = ["Clock", "peak_memory", "progress_bar"]


@contextmanager
def progress_bar(description: str, shown: bool | int) -> Iterator[Callback | None]:
    """Yield a callback ``(done, total)`` that draws a bar, or None if ``shown`` is false.

    Parameters
    ----------
    description : str
        Shown to the left of the bar.
    shown : bool or int
        Usually an estimator's ``verbose``.
    """
    if not shown:
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(description, total=None)

        def update(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield update


class Clock:
    """Seconds per phase, for phases that follow one another.

    Examples
    --------
    >>> clock = Clock()
    >>> clock.lap("nothing") < 1, list(clock.seconds)
    (True, ['nothing'])
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> float:
        """End a phase and return its seconds. A phase may have several laps."""
        now = time.perf_counter()
        took = round(now - self._last, 3)
        self.seconds[name] = round(self.seconds.get(name, 0.0) + took, 3)
        self._last = now
        return took

    def add(self, seconds: dict[str, float]) -> None:
        """Add phases that were timed elsewhere, and start the next one."""
        self.seconds |= seconds
        self._last = time.perf_counter()


def peak_memory() -> int | None:
    """The peak memory of this process so far, in bytes; None if the system does not report it."""
    status = Path("/proc/self/status")
    # Preferred to ru_maxrss, which on Linux starts from the parent's peak.
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
