"""Labels by what people type."""

from __future__ import annotations

import unicodedata

import numpy as np
from numpy.typing import NDArray

from manylabel.tagger import Tagger

__all__ = ["Vocabulary"]

#: New labels before the long list is written again.
_LATER = 1000
#: Rank, length of the name, name and label as `_plain` writes them, label.
_Match = tuple[int, int, str, str, str]


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
        self._lists = _List([]), _List([])
        self._edits = 0

    def search(self, query: str, limit: int) -> tuple[list[str], int]:
        """Labels in which the query stands, and how many there are; beginnings first."""
        wanted = _plain(query).encode()
        matches: list[_Match] = []
        total = 0
        for part in self._current():
            best, count = part.search(wanted, limit)
            matches += best
            total += count
        return [label for *_, label in sorted(matches)[:limit]], total

    def _current(self) -> tuple[_List, _List]:
        """The labels, and in a short list of their own those that came since it was written."""
        first, later = self._lists
        labels, edits = self._tagger.labels, self._tagger.label_edits
        known = len(first.labels)
        if edits != self._edits or labels[:known] != first.labels or len(labels) - known > _LATER:
            first, known = self._written(labels), len(labels)
        if labels[known:] != later.labels:
            later = self._written(labels[known:])
        self._lists, self._edits = (first, later), edits
        return first, later

    def _written(self, labels: list[str]) -> _List:
        info = self._tagger.label_info
        return _List([(_plain(info(label).name), _plain(label), label) for label in labels])


class _List:
    """The names of labels, written one below the other and read as a whole.

    Parameters
    ----------
    written : list of (str, str, str)
        Each label's name and the label itself, as `_plain` writes them, and the label.
    """

    def __init__(self, written: list[tuple[str, str, str]]) -> None:
        self.labels = [label for *_, label in written]
        # Short names first: of those that match alike they are the better ones.
        self._order = sorted(sorted(written), key=lambda one: len(one[0]))
        lines: list[str] = []
        owners: list[int] = []
        for place, (name, code, _) in enumerate(self._order):
            lines.append(name)
            owners.append(place)
            if code != name:
                lines.append(code)
                owners.append(place)
        self._signs = np.frombuffer("\n".join(["", *lines, ""]).encode(), np.uint8)
        self._breaks = np.flatnonzero(self._signs == _BREAK)
        self._owners = np.array(owners, np.int64)
        self._counts = np.bincount(self._signs, minlength=256)

    def search(self, wanted: bytes, limit: int) -> tuple[list[_Match], int]:
        """The best matches, and how many there are."""
        if not wanted:
            ranks = np.zeros(len(self._order), np.int64)
            owners = np.arange(len(self._order))
        else:
            ranks, owners = self._matches(np.frombuffer(wanted, np.uint8))
        best = np.argsort(ranks, kind="stable")[:limit]
        return [
            (rank, len(self._order[place][0]), *self._order[place])
            for rank, place in zip(ranks[best].tolist(), owners[best].tolist(), strict=True)
        ], ranks.size

    def _matches(self, wanted: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """0 at the beginning, 1 at the beginning of a word, 2 inside; and the labels' places."""
        hits = self._hits(wanted)
        if not hits.size:
            return hits, hits
        before = self._signs[hits - 1]
        ranks = np.where(before == _BREAK, 0, np.where(before == _SPACE, 1, 2))
        owners = self._owners[np.searchsorted(self._breaks, hits) - 1]
        first = np.flatnonzero(np.diff(owners, prepend=-1))
        return np.minimum.reduceat(ranks, first), owners[first]

    def _hits(self, wanted: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Where a string begins, found by its rarest sign."""
        rarest = int(np.argmin(self._counts[wanted]))
        last = self._signs.size - wanted.size
        hits = np.flatnonzero(self._signs == wanted[rarest]) - rarest
        hits = hits[(hits >= 0) & (hits <= last)]
        for at, sign in enumerate(wanted.tolist()):
            if at != rarest:
                hits = hits[self._signs[hits + at] == sign]
        return hits


_BREAK, _SPACE = b"\n "


def _plain(text: str) -> str:
    """In one line, without capitals and accents."""
    text = " ".join(text.split())
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in parts if not unicodedata.combining(sign))
