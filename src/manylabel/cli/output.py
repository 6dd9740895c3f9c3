"""What commands print: data to standard output, messages to standard error."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["complain", "make_console", "note", "print_json", "working"]


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


def print_json(value: Any) -> None:
    """Print data for other programs."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def make_console() -> Console:
    """A terminal with colours, or plain text of 80 columns where there is none."""
    from rich.console import Console

    return Console(highlight=False)
