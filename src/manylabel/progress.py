"""Progress bars on stderr for long work; silent unless asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from manylabel.parallel import Callback

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(description: str, shown: bool | int) -> Iterator[Callback | None]:
    """Give a callback ``(done, total)`` that draws a bar, or None when ``shown`` is false.

    Parameters
    ----------
    description : str
        What is being done, shown left of the bar.
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
