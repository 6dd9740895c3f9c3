"""Read vocabularies as JSON Lines, one object per label."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from manylabel.corpus.files import Source
from manylabel.vocabulary.label_names import ALTERNATIVE, HIDDEN, PREFERRED
from manylabel.vocabulary.vocabulary import Concept, Name

__all__ = ["read"]

_EXPECTED = 'expected a JSON object with "id" and "name"'


def read(source: Source) -> Iterator[Concept]:
    """Read ``{"id", "name", "alt", "hidden", "description", "parents", "related"}`` per line."""
    for number, line in source.lines():
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            identifier = str(entry["id"])
        except (ValueError, KeyError, TypeError):
            raise source.error(f"{_EXPECTED}.", number) from None
        try:
            yield Concept(
                identifier,
                [
                    *_names(entry.get("name"), PREFERRED),
                    *_names(entry.get("alt"), ALTERNATIVE),
                    *_names(entry.get("hidden"), HIDDEN),
                ],
                str(entry.get("notation") or ""),
                str(entry.get("description") or ""),
                _strings(entry.get("parents", entry.get("broader"))),
                _strings(entry.get("related")),
                bool(entry.get("deprecated")),
                _strings(entry.get("collections")),
            )
        except TypeError as error:
            raise source.error(f"{_EXPECTED}, found {error}.", number) from None


def _names(value: Any, kind: int) -> Iterator[Name]:
    """Names from a string, a list, or a mapping of languages to either."""
    if isinstance(value, dict):
        for language, texts in value.items():
            for text in _strings(texts):
                yield Name(text, kind, str(language))
    else:
        for text in _strings(value):
            yield Name(text, kind)


def _strings(value: Any) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str | int | float):
        return [str(value)]
    if isinstance(value, list) and all(isinstance(one, str | int | float) for one in value):
        return [str(one) for one in value]
    raise TypeError(f"{value!r}")
