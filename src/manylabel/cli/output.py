"""Output of commands: data to standard output, messages to standard error."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from manylabel.exceptions import ManylabelError
from manylabel.wording import counted

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "counted",
    "counting",
    "in_percent",
    "make_console",
    "note",
    "print_error",
    "print_json",
    "readable_size",
    "renaming",
    "wants_data",
    "working",
]


def print_error(sentence: str) -> None:
    """Print an error as one line."""
    one_line = re.sub(r"\s*\n\s*", " ", sentence)
    print(f"manylabel: {one_line}", file=sys.stderr)


def note(message: str, quiet: bool) -> None:
    """Print a message, unless quiet."""
    if not quiet:
        print(message, file=sys.stderr)


@contextmanager
def renaming(**names: str) -> Iterator[None]:
    """Replace `arguments` in errors by the names that the command has for them."""
    try:
        yield
    except ManylabelError as error:
        sentence = str(error)
        for theirs, ours in names.items():
            sentence = sentence.replace(f"`{theirs}`", f"`{ours}`")
        raise ManylabelError(sentence) from error


@contextmanager
def working(message: str, quiet: bool) -> Iterator[None]:
    """Show a spinner with a message in a terminal."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(message)):
        yield


@contextmanager
def counting(thing: str, quiet: bool) -> Iterator[Callable[[int, float, float | None], None]]:
    """Provide a callback ``(count, done, total)`` that draws a progress bar in a terminal.

    ``total`` is None if unknown.
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


def in_percent(share: float) -> str:
    """Format a share for tables.

    Examples
    --------
    >>> in_percent(0.56712), in_percent(1.0)
    ('56.71 %', '100.00 %')
    """
    return f"{100 * share:.2f} %"


def readable_size(n_bytes: int) -> str:
    """Format a number of bytes.

    Examples
    --------
    >>> readable_size(1_234_567)
    '1.2 MB'
    """
    for power, unit in ((3, "GB"), (2, "MB"), (1, "KB")):
        if n_bytes >= 1000**power:
            return f"{n_bytes / 1000**power:.1f} {unit}"
    return f"{n_bytes} bytes"


def wants_data(asked: bool | None) -> bool:
    """Whether to print data for programs: as asked, by default without a terminal."""
    return not sys.stdout.isatty() if asked is None else asked


def print_json(value: Any) -> None:
    """Print JSON: on one line for programs, indented in a terminal."""
    indent = 2 if sys.stdout.isatty() else None
    print(json.dumps(value, indent=indent, ensure_ascii=False), flush=True)


def make_console() -> Console:
    """Make a console: with colours in a terminal, otherwise plain text in 80 columns."""
    from rich.console import Console

    return Console(highlight=False)
