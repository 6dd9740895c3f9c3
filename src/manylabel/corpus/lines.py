"""Plain text, one document per line; blank lines are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from manylabel.exceptions import CorpusError

__all__ = ["rows"]


def rows(lines: Any) -> Iterator[tuple[int, Any]]:
    """One record per line, with a text."""
    while True:
        try:
            line = next(lines, None)
        except CorpusError as error:
            yield lines.number, error
            continue
        if line is None:
            return
        bare = line.rstrip("\n").removesuffix("\r")
        if bare.strip():
            yield lines.number, {"text": bare}
