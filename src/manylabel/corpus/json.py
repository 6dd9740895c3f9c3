"""A JSON array of objects, read one object at a time; `jsonl` describes the objects."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from manylabel.corpus.checks import shorten
from manylabel.corpus.jsonl import check_letters
from manylabel.exceptions import CorpusError

__all__ = ["rows"]

_BLANK = re.compile(r"[\s,]*")


def rows(lines: Any) -> Iterator[tuple[int, Any]]:
    """The objects of an array, with the line where each ends.

    A syntax error in the array itself ends the file, because the next object cannot be found.
    """
    name, decoder = lines.source.name, json.JSONDecoder()
    buffer, has_begun, tried = "", False, 0
    while True:
        try:
            line = next(lines, None)
        except CorpusError as error:
            yield lines.number, error
            return
        buffer += line or ""
        if not has_begun:
            buffer = buffer.lstrip()
            if buffer and not buffer.startswith("["):
                yield 1, CorpusError("expected a JSON array, which begins with '['.", name, 1)
                return
            has_begun, buffer = bool(buffer), buffer[1:]
        # An incomplete object is parsed again only when the text has doubled, so that the cost of a
        # long object is linear.
        if line is not None and len(buffer) < 2 * tried:
            continue
        position = 0
        while True:
            position = _BLANK.match(buffer, position).end()  # type: ignore[union-attr]
            if position == len(buffer) or buffer[position] == "]":
                break
            try:
                record, position = decoder.raw_decode(buffer, position)
            except (ValueError, RecursionError) as error:
                if line is not None and not isinstance(error, RecursionError):
                    break
                yield (
                    lines.number,
                    CorpusError(f"expected a JSON array of objects ({error}).", name, lines.number),
                )
                return
            yield lines.number, _checked(record, name, lines.number)
        buffer, tried = buffer[position:], len(buffer) - position
        if buffer.startswith("]"):
            return
        if line is None:
            yield (
                lines.number,
                CorpusError(
                    "expected ']' at the end of the JSON array; the file is truncated.",
                    name,
                    lines.number,
                ),
            )
            return


def _checked(record: Any, name: str, number: int) -> Any:
    """The record, or the error to report instead."""
    if not isinstance(record, dict):
        instead = shorten(json.dumps(record))
        return CorpusError(f"expected a JSON object, found {instead}.", name, number)
    try:
        check_letters(record, name, number)
    except CorpusError as error:
        return error
    return record
