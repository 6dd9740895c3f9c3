r"""JSON Lines: one object ``{"id": ..., "title": ..., "text": ..., "labels": [...]}`` per line.

Only ``text`` is required. ``id`` is a string or a whole number; ``labels`` is a list of those, or
one string with separators; missing or null means no labels. `columns` lists the other field names
that are recognised. Blank lines are skipped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from manylabel.corpus.checks import require_texts, shorten
from manylabel.corpus.corpus import Corpus
from manylabel.corpus.files import atomic_write
from manylabel.exceptions import CorpusError

__all__ = ["check_letters", "rows", "write"]


def rows(lines: Any) -> Iterator[tuple[int, Any]]:
    """The records of a file, with their line numbers."""
    name = lines.source.name
    while True:
        try:
            line = next(lines, None)
            if line is None:
                return
            if line.isspace():
                continue
            record = _record(line.rstrip("\r\n"), name, lines.number)
        except CorpusError as error:
            yield lines.number, error
        else:
            yield lines.number, record


def _record(line: str, name: str, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise CorpusError(
            f"expected a JSON object, found an error at column {error.colno} "
            f"({error.msg}): {shorten(line)}.",
            name,
            number,
        ) from None
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"expected a JSON object ({error}).", name, number) from None
    if not isinstance(record, dict):
        raise CorpusError(f"expected a JSON object, found {shorten(line)}.", name, number)
    if "\\u" in line:
        check_letters(record, name, number)
    return record


def check_letters(record: dict[str, Any], name: str, number: int) -> None:
    """Refuse unpaired surrogates, which JSON can escape but UTF-8 cannot encode."""
    for field, value in record.items():
        values = value if isinstance(value, list) else [value]
        for text in values:
            if isinstance(text, str) and any("\ud800" <= letter <= "\udfff" for letter in text):
                raise CorpusError(
                    f"expected text as {field!r}, found an unpaired surrogate.", name, number
                )


def write(corpus: Corpus, path: str | os.PathLike[str]) -> None:
    """Write one object per line."""
    texts = require_texts(corpus, path)
    ids = corpus.ids
    with atomic_write(path) as file:
        for row, labels in enumerate(corpus.label_lists()):
            record: dict[str, Any] = {"id": ids[row]}
            if corpus.titles is not None:
                record["title"] = corpus.titles[row]
            record |= {"text": texts[row], "labels": labels}
            file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
