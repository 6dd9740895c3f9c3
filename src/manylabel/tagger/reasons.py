"""Translate reasons by number into words, spans of the text, and neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from manylabel.corpus import Document
from manylabel.evidence import Explanation, Kind, Reason, WordReasons, kind_of
from manylabel.tagger.explanations import (
    LabelReasons,
    NeighbourReason,
    PartReason,
    Span,
    WordReason,
)

__all__ = ["FoundWords", "Words", "label_reasons", "summed_words"]

#: Maximum words per neighbour that it shares with the text.
_SHARED = 12

#: Positions in a list of views, for words of the first.
_FIRST_VIEW = np.zeros(_SHARED, np.int64)

#: The view of some features, as a position in a list of one, the features and their shares.
_Shares = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


class Words:
    """Translates the features of a text into the words written there.

    Parameters
    ----------
    text : str
    spans : mapping of int to list of (int, int)
        Where each feature occurs in the text.
    names : sequence of str
        Names for features that do not occur in it.
    """

    def __init__(self, text: str, spans: Mapping[int, list[Span]], names: Sequence[str]) -> None:
        self._text, self._spans, self._names = text, spans, names
        self._known: dict[int, tuple[str, list[Span]]] = {}
        self._shared: dict[int | None, list[WordReason] | _Shares] = {}

    def reason(self, feature: int, share: float) -> WordReason:
        """Make the reason for a feature: the word, its share and its spans."""
        known = self._known.get(feature)
        if known is None:
            spans = self._spans.get(feature, [])
            word = self._text[slice(*spans[0])] if spans else str(self._names[feature])
            known = self._known[feature] = word, spans
        # Each label has hundreds, and the constructor would take twice the time.
        reason = object.__new__(WordReason)
        reason.__dict__.update(word=known[0], share=share, spans=known[1])
        return reason

    def shared(self, neighbour: Reason) -> Sequence[WordReason]:
        """The words that make a neighbour similar; cached, as they are the same for all labels."""
        found = self._shared.get(neighbour.index)
        if found is None:
            if isinstance(neighbour.reasons, WordReasons):
                _, features, shares = neighbour.reasons.words()
                features, shares = features[:_SHARED], shares[:_SHARED]
                found = _FIRST_VIEW[: features.size], features, shares
            else:
                found = [
                    self.reason(word.index, word.share)
                    for word in neighbour.reasons[:_SHARED]
                    if word.index is not None
                ]
            self._shared[neighbour.index] = found
        if isinstance(found, list):
            return found
        # Not cached: it refers to `self`, and only the garbage collector would free both.
        return FoundWords([self], *found)

    def written(self, reason: Reason) -> WordReason:
        """Translate a reason that has spans already."""
        spans = list(reason.spans)
        return WordReason(self._text[slice(*spans[0])], float(reason.share), spans)


def label_reasons(
    why: Explanation,
    label: str,
    name: str,
    words: Mapping[str, Words],
    document: Callable[[int], Document | None],
) -> LabelReasons:
    """Translate the explanation of one label.

    ``words`` has an entry per view, by name. ``document`` returns the beginning of a training
    document by its number, or None if it was forgotten.
    """
    parts: dict[tuple[str, Kind], float] = {}
    near: dict[int, tuple[float, Reason]] = {}
    direct: list[
        tuple[str, Sequence[int] | NDArray[np.int64], Sequence[float] | NDArray[np.float64]]
    ] = []
    written: list[WordReason] = []
    for reason in why.reasons:
        kind = kind_of(reason)
        part = kind.group or reason.kind, kind
        parts[part] = parts.get(part, 0.0) + reason.share
        if isinstance(reason.reasons, WordReasons) and reason.kind != "neighbour":
            direct.append(reason.reasons.words())
            continue
        for leaf in _leaves(reason):
            if leaf.spans:
                written.append(words[""].written(leaf))
            if leaf.index is None:
                continue
            if leaf.kind == "neighbour":
                share, first = near.get(leaf.index, (0.0, leaf))
                near[leaf.index] = share + leaf.share, first
            elif leaf.kind == "word":
                direct.append((leaf.view, [leaf.index], [leaf.share]))
    neighbours = [
        _neighbour(similar, share, reason, words[""])
        for number, (share, reason) in near.items()
        if (similar := document(number)) is not None
    ]
    return LabelReasons(
        label=label,
        name=name,
        score=float(why.score),
        parts=[
            PartReason(name, float(share), kind.title, kind.sentence)
            for (name, kind), share in sorted(
                parts.items(), key=lambda part: (not part[0][1].known_before, -part[1])
            )
        ],
        neighbours=sorted(neighbours, key=lambda reason: -reason.share),
        words=_sorted_words(written, summed_words(direct, words)),
        probability=why.probability,
    )


class FoundWords(Sequence[WordReason]):
    """Words with their shares, made on first access: a label has hundreds.

    Parameters
    ----------
    words : list of Words
        One per view.
    views, features : array of int
        The view of each word, as a position in ``words``, and its feature there.
    shares : array of float
    """

    def __init__(
        self,
        words: Sequence[Words],
        views: NDArray[np.int64],
        features: NDArray[np.int64],
        shares: NDArray[np.float64],
    ) -> None:
        self._words, self._views, self._features, self._shares = words, views, features, shares

    def __len__(self) -> int:
        return self._shares.size

    @overload
    def __getitem__(self, position: int) -> WordReason: ...
    @overload
    def __getitem__(self, position: slice) -> list[WordReason]: ...
    def __getitem__(self, position: int | slice) -> WordReason | list[WordReason]:
        if isinstance(position, slice):
            return self._made(position)
        (reason,) = self._made(slice(position, position + 1 or None))
        return reason

    def __iter__(self) -> Iterator[WordReason]:
        return iter(self._made(slice(None)))

    def _made(self, positions: slice) -> list[WordReason]:
        """Make some of the words."""
        return [
            self._words[view].reason(feature, share)
            for view, feature, share in zip(
                self._views[positions].tolist(),
                self._features[positions].tolist(),
                self._shares[positions].tolist(),
                strict=True,
            )
        ]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # as a list

    def __repr__(self) -> str:
        return repr(list(self))


def summed_words(
    direct: Sequence[
        tuple[str, Sequence[int] | NDArray[np.int64], Sequence[float] | NDArray[np.float64]]
    ],
    words: Mapping[str, Words],
) -> FoundWords:
    """Sum the shares of each word; the greatest sums, for or against the label, come first.

    Each item of ``direct`` is a view, some of its features, and their shares. Shares are added in
    the given order, and equal sums stay in the order of their first occurrence.
    """
    if not direct:
        nothing = np.empty(0, np.int64)
        return FoundWords([], nothing, nothing, np.empty(0))
    views = list(dict.fromkeys(view for view, _, _ in direct))
    sizes = [len(features) for _, features, _ in direct]
    numbers = np.repeat([views.index(view) for view, _, _ in direct], sizes)
    features = np.concatenate([np.asarray(features, np.int64) for _, features, _ in direct])
    shares = np.concatenate([np.asarray(shares, np.float64) for _, _, shares in direct])
    keys = features * len(views) + numbers
    firsts, which = _groups(keys)
    sums: NDArray[np.float64] = np.bincount(which, shares, firsts.size).astype(np.float64)
    order = firsts.argsort()
    order = order[np.argsort(-np.abs(sums[order]), kind="stable")]
    chosen = firsts[order]
    by_number = [words[view] for view in views]
    return FoundWords(by_number, numbers[chosen], features[chosen], sums[order])


def _groups(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each key occurs first, by key, and the place of each key among these.

    ``np.unique`` returns the same, and takes longer for the few hundred keys of a label.
    """
    order = keys.argsort(kind="stable")
    ranked = keys[order]
    begins = np.ones(keys.size, np.bool_)
    np.not_equal(ranked[1:], ranked[:-1], out=begins[1:])
    places = np.empty(keys.size, np.int64)
    places[order] = begins.cumsum() - 1
    return order[begins], places


def _sorted_words(written: list[WordReason], found: FoundWords) -> Sequence[WordReason]:
    """Merge both, the greatest share for or against the label first."""
    if not written:
        return found
    return sorted([*written, *found], key=lambda word: -abs(word.share))


def _neighbour(document: Document, share: float, reason: Reason, words: Words) -> NeighbourReason:
    """The beginning of a training document as a reason."""
    # As in `Words.reason`: each label has dozens.
    made = object.__new__(NeighbourReason)
    made.__dict__.update(
        id=str(document.id),
        text=document.text,
        labels=document.labels,
        similarity=float(reason.similarity or 0.0),
        share=float(share),
        words=words.shared(reason),
    )
    return made


def _leaves(reason: Reason) -> Iterator[Reason]:
    """The neighbours and words in a reason: itself, or those below it."""
    if reason.kind in ("neighbour", "word") or reason.spans:
        yield reason
    else:
        for below in reason.reasons:
            if below.kind in ("neighbour", "word"):
                yield below
            else:
                yield from _leaves(below)
