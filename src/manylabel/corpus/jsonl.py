r"""JSON Lines: ``{"id": ..., "title": ..., "text": ..., "labels": [...]}`` a line.

Only ``text`` is needed. ``id`` is a string or a whole number, ``labels`` a list of those, absent or
null for none; other fields are ignored, and so are blank lines.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from manylabel.corpus.checks import require_texts, shorten
from manylabel.corpus.corpus import Corpus
from manylabel.corpus.documents import Document
from manylabel.corpus.files import Source, atomic_write

__all__ = ["iter_documents", "write"]


def iter_documents(source: Source) -> Iterator[Document]:
    """The documents of a file, one at a time."""
    for number, line in source.lines():
        if not line or line.isspace():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise source.error(
                f"expected a JSON object, found an error at column {error.colno} "
                f"({error.msg}): {shorten(line)}.",
                number,
            ) from None
        except (ValueError, RecursionError) as error:
            raise source.error(f"expected a JSON object ({error}).", number) from None
        if not isinstance(record, dict):
            raise source.error(f"expected a JSON object, found {shorten(line)}.", number)
        yield _document(source, record, number, escaped="\\u" in line)


def _document(source: Source, record: dict[str, Any], number: int, escaped: bool) -> Document:
    def field(name: str, value: Any) -> str:
        if isinstance(value, int) and not isinstance(value, bool) and name != "text":
            return str(value)
        if not isinstance(value, str):
            raise source.error(
                f"expected a string as {name!r}, found {shorten(json.dumps(value))}.", number
            )
        # JSON can escape half a character, which no text can hold.
        if escaped and any("\ud800" <= letter <= "\udfff" for letter in value):
            raise source.error(f"expected text as {name!r}, found half a surrogate pair.", number)
        return value

    if "text" not in record:
        raise source.error("expected a field 'text', found none.", number)
    labels = record.get("labels")
    if labels is None:
        labels = []
    if not isinstance(labels, list):
        raise source.error(
            f"expected a list as 'labels', found {shorten(json.dumps(labels))}.", number
        )
    name, title = record.get("id"), record.get("title")
    return Document(
        id=None if name is None else field("id", name),
        text=field("text", record["text"]),
        labels=[field("labels", label) for label in labels],
        title=None if title is None else field("title", title),
        line=number,
    )


def write(corpus: Corpus, path: str | os.PathLike[str]) -> None:
    """Write one object a line."""
    texts = require_texts(corpus, path)
    ids = corpus.ids
    with atomic_write(path) as file:
        for row, labels in enumerate(corpus.label_lists()):
            record: dict[str, Any] = {"id": ids[row]}
            if corpus.titles is not None:
                record["title"] = corpus.titles[row]
            record |= {"text": texts[row], "labels": labels}
            file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
