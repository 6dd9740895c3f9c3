"""What commands print: data to standard output, messages to standard error."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "complain",
    "counted",
    "counting",
    "make_console",
    "note",
    "print_json",
    "readable_size",
    "working",
]


def complain(sentence: str) -> None:
    """Print the one line of an error."""
    one_line = re.sub(r"\s*\n\s*", " ", sentence)
    print(f"manylabel: {one_line}", file=sys.stderr)


def note(message: str, quiet: bool) -> None:
    """Tell what is being done, unless nobody wants to know."""
    if not quiet:
        print(message, file=sys.stderr)


@contextmanager
def working(message: str, quiet: bool) -> Iterator[None]:
    """Show in a terminal that something takes its time; leaves no trace."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(message)):
        yield


@contextmanager
def counting(thing: str, quiet: bool) -> Iterator[Callable[[int, float, float | None], None]]:
    """Give a callback ``(count, done, total)`` that draws a bar with the time left in a terminal.

    ``total`` may be None: nobody knows how much there is.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda count, done, total: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    left = (TextColumn("left:"), TimeRemainingColumn())
    with Progress(*columns, *left, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"0 {thing}", total=None)

        def update(count: int, done: float, total: float | None) -> None:
            bar.update(task, description=f"{count:,} {thing}", completed=done, total=total)

        yield update


def counted(number: int, thing: str) -> str:
    """A number of things.

    Examples
    --------
    >>> counted(1, "document"), counted(1200, "label"), counted(2, "category")
    ('1 document', '1,200 labels', '2 categories')
    """
    several = f"{thing[:-1]}ies" if thing.endswith("y") else f"{thing}s"
    return f"{number:,} {thing if number == 1 else several}"


def readable_size(n_bytes: int) -> str:
    """A number of bytes as people say it.

    Examples
    --------
    >>> readable_size(1_234_567)
    '1.2 MB'
    """
    for power, unit in ((3, "GB"), (2, "MB"), (1, "KB")):
        if n_bytes >= 1000**power:
            return f"{n_bytes / 1000**power:.1f} {unit}"
    return f"{n_bytes} bytes"


def print_json(value: Any) -> None:
    """Print data for other programs."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def make_console() -> Console:
    """A terminal with colours, or plain text of 80 columns where there is none."""
    from rich.console import Console

    return Console(highlight=False)
