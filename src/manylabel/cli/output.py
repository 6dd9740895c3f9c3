"""What commands print: data to standard output, messages to standard error."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["complain", "make_console", "note", "print_json"]


def complain(sentence: str) -> None:
    """Print the one line of an error."""
    print(f"manylabel: {' '.join(sentence.split())}", file=sys.stderr)


def note(message: str, quiet: bool) -> None:
    """Tell what is being done, unless nobody wants to know."""
    if not quiet:
        print(message, file=sys.stderr)


def print_json(value: Any) -> None:
    """Print data for other programs."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def make_console() -> Console:
    """A terminal with colours, or plain text of 80 columns where there is none."""
    from rich.console import Console

    return Console(highlight=False)
