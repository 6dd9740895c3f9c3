"""Labels by what people type."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from heapq import nsmallest

from manylabel.tagger import Tagger

__all__ = ["Vocabulary"]


class Vocabulary:
    """Finds a model's labels by parts of their names.

    Parameters
    ----------
    tagger : Tagger

    Examples
    --------
    >>> labels = [["Big cats"], ["Dogs"]]
    >>> tagger = Tagger("lcif", parameters={"k": 1}).fit(["a cat", "a dog"], labels)
    >>> Vocabulary(tagger).search("CAT", 5)
    (['Big cats'], 1)
    """

    def __init__(self, tagger: Tagger) -> None:
        self._tagger = tagger
        self._labels: list[str] = []
        self._known: frozenset[str] = frozenset()
        self._written: list[tuple[str, str]] = []

    def search(self, query: str, limit: int) -> tuple[list[str], int]:
        """Labels in which the query stands, and how many there are; beginnings first."""
        labels, written = self._current()
        wanted = _plain(query.strip())
        found = [
            (place, len(name), name, number)
            for number, (name, code) in enumerate(written)
            if (place := min(_place(name, wanted), _place(code, wanted))) < _NOWHERE
        ]
        return [labels[number] for *_, number in nsmallest(limit, found)], len(found)

    def first_unknown(self, labels: Iterable[str]) -> str | None:
        """A label that the model does not know."""
        self._current()
        known = self._known
        return next((label for label in labels if label not in known), None)

    def _current(self) -> tuple[list[str], list[tuple[str, str]]]:
        labels = self._tagger.labels
        if labels != self._labels:
            info = self._tagger.label_info
            written = [(_plain(info(label).name), _plain(label)) for label in labels]
            self._known, self._written, self._labels = frozenset(labels), written, labels
            return labels, written
        return self._labels, self._written


_NOWHERE = 3


def _place(name: str, wanted: str) -> int:
    """0 at the beginning, 1 at the beginning of a word, 2 inside, `_NOWHERE`."""
    at = name.find(wanted)
    if at <= 0:
        return 0 if at == 0 else _NOWHERE
    return 1 if f" {wanted}" in name else 2


def _plain(text: str) -> str:
    """Without capitals and accents."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in parts if not unicodedata.combining(sign))
