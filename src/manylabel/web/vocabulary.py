"""Find labels while people type."""

from __future__ import annotations

import unicodedata

import numpy as np
from numpy.typing import NDArray

from manylabel.tagger import Tagger

__all__ = ["Vocabulary"]

#: Maximum new labels before the main list is rebuilt.
_LATER = 1000
#: Rank, length of the name, normalised name, normalised label, label.
_Match = tuple[int, int, str, str, str]


class Vocabulary:
    """Finds a model's labels by substrings of their names.

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
        self._lists = _List([]), _List([])
        self._edits = 0

    def search(self, query: str, limit: int) -> tuple[list[str], int]:
        """Find labels that contain the query, best first, and count all of them.

        A match at the beginning of a name comes first, then one at the beginning of a word.
        """
        wanted = _plain(query).encode()
        matches: list[_Match] = []
        total = 0
        for labels in self._current():
            best, count = labels.search(wanted, limit)
            matches += best
            total += count
        return [label for *_, label in sorted(matches)[:limit]], total

    def _current(self) -> tuple[_List, _List]:
        """The main list, and a short one of the labels that are newer than it."""
        first, later = self._lists
        labels, edits = self._tagger.labels, self._tagger.label_edits
        known = len(first.labels)
        if edits != self._edits or labels[:known] != first.labels or len(labels) - known > _LATER:
            first, known = self._listed(labels), len(labels)
        if labels[known:] != later.labels:
            later = self._listed(labels[known:])
        self._lists, self._edits = (first, later), edits
        return first, later

    def _listed(self, labels: list[str]) -> _List:
        info = self._tagger.label_info
        return _List([(_plain(info(label).name), _plain(label), label) for label in labels])


class _List:
    """The names of labels as one array of bytes, with line breaks between them.

    Parameters
    ----------
    entries : list of (str, str, str)
        Per label: its name and itself, both normalised by `_plain`, and the label.
    """

    def __init__(self, entries: list[tuple[str, str, str]]) -> None:
        self.labels = [label for *_, label in entries]
        # Of equally good matches, the shorter name is better.
        self._order = sorted(sorted(entries), key=lambda entry: len(entry[0]))
        lines: list[str] = []
        owners: list[int] = []
        for position, (name, code, _) in enumerate(self._order):
            lines.append(name)
            owners.append(position)
            if code != name:
                lines.append(code)
                owners.append(position)
        self._bytes = np.frombuffer("\n".join(["", *lines, ""]).encode(), np.uint8)
        self._breaks = np.flatnonzero(self._bytes == _BREAK)
        self._owners = np.array(owners, np.int64)
        self._counts = np.bincount(self._bytes, minlength=256)

    def search(self, wanted: bytes, limit: int) -> tuple[list[_Match], int]:
        """Find the best matches, and count all of them."""
        if not wanted:
            ranks = np.zeros(len(self._order), np.int64)
            owners = np.arange(len(self._order))
        else:
            ranks, owners = self._matches(np.frombuffer(wanted, np.uint8))
        best = np.argsort(ranks, kind="stable")[:limit]
        return [
            (rank, len(self._order[position][0]), *self._order[position])
            for rank, position in zip(ranks[best].tolist(), owners[best].tolist(), strict=True)
        ], ranks.size

    def _matches(self, wanted: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Matches as ranks and positions of labels: 0 at the beginning, 1 of a word, 2 inside."""
        hits = self._hits(wanted)
        if not hits.size:
            return hits, hits
        before = self._bytes[hits - 1]
        ranks = np.where(before == _BREAK, 0, np.where(before == _SPACE, 1, 2))
        owners = self._owners[np.searchsorted(self._breaks, hits) - 1]
        first = np.flatnonzero(np.diff(owners, prepend=-1))
        return np.minimum.reduceat(ranks, first), owners[first]

    def _hits(self, wanted: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Where a string begins, found by its rarest byte."""
        rarest = int(np.argmin(self._counts[wanted]))
        last = self._bytes.size - wanted.size
        hits = np.flatnonzero(self._bytes == wanted[rarest]) - rarest
        hits = hits[(hits >= 0) & (hits <= last)]
        for at, byte in enumerate(wanted.tolist()):
            if at != rarest:
                hits = hits[self._bytes[hits + at] == byte]
        return hits


_BREAK, _SPACE = b"\n "


def _plain(text: str) -> str:
    """Normalise a text: one line, lower case, no accents."""
    text = " ".join(text.split())
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in parts if not unicodedata.combining(character))
