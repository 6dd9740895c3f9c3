"""Translate reasons by number into words, spans of the text, and neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from manylabel.corpus import Document
from manylabel.evidence import (
    Explanation,
    Kind,
    NeighborReasons,
    Reason,
    WordReasons,
    kind_of,
)
from manylabel.tagger.explanations import (
    LabelReasons,
    NeighbourReason,
    PartReason,
    Span,
    WordReason,
)

__all__ = ["FoundNeighbours", "FoundWords", "Words", "label_reasons", "summed_words"]

_Made = TypeVar("_Made", WordReason, NeighbourReason)

#: Maximum words per neighbour that it shares with the text.
_SHARED = 12


#: A view, some of its features, and their shares.
_Direct = tuple[str, Sequence[int] | NDArray[np.int64], Sequence[float] | NDArray[np.float64]]
#: The `Words` of some views; the view of each word, its feature and its share.
_Placed = tuple[list["Words"], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


class Words:
    """Translates the features of a text into the words written there.

    Parameters
    ----------
    text : str
    spans : callable
        Returns where each feature occurs in the text; called when a word is first asked for.
    names : sequence of str
        Names for features that do not occur in it.
    """

    def __init__(
        self, text: str, spans: Callable[[], Mapping[int, list[Span]]], names: Sequence[str]
    ) -> None:
        self._text, self._find_spans, self._names = text, spans, names
        self._known: dict[int, tuple[str, list[Span]]] = {}

    @cached_property
    def _spans(self) -> Mapping[int, list[Span]]:
        return self._find_spans()

    def entry(self, feature: int) -> tuple[str, list[Span]]:
        """The word of a feature, and where it occurs."""
        known = self._known.get(feature)
        if known is None:
            spans = self._spans.get(feature, [])
            word = self._text[slice(*spans[0])] if spans else str(self._names[feature])
            known = self._known[feature] = word, spans
        return known

    def reason(self, feature: int, share: float) -> WordReason:
        """Make the reason for a feature: the word, its share and its spans."""
        word, spans = self.entry(feature)
        # Each label has hundreds, and the constructor would take twice the time.
        reason = object.__new__(WordReason)
        reason.__dict__.update(word=word, share=share, spans=spans)
        return reason

    def shared(self, words: Sequence[Reason]) -> Sequence[WordReason]:
        """The words that make a neighbour similar."""
        if isinstance(words, WordReasons):
            return FoundWords(partial(self._first, words))
        return [
            self.reason(word.index, word.share)
            for word in words[:_SHARED]
            if word.index is not None
        ]

    def _first(self, reasons: WordReasons) -> _Placed:
        """The first words as they are."""
        _, features, shares = reasons.words()
        views = np.zeros(min(features.size, _SHARED), np.int64)
        return [self], views, features[:_SHARED], shares[:_SHARED]

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
    near: list[NeighborReasons] = []
    direct: list[_Direct] = []
    written: list[WordReason] = []
    for reason in why.reasons:
        kind = kind_of(reason)
        part = kind.group or reason.kind, kind
        parts[part] = parts.get(part, 0.0) + reason.share
        if isinstance(reason.reasons, WordReasons) and reason.kind != "neighbour":
            direct.append(reason.reasons.words())
            continue
        if isinstance(reason.reasons, NeighborReasons):
            near.append(reason.reasons)
            continue
        for leaf in _leaves(reason):
            if leaf.spans:
                written.append(words[""].written(leaf))
            if leaf.index is None:
                continue
            if leaf.kind == "neighbour":
                near.append(_single(leaf))
            elif leaf.kind == "word":
                direct.append((leaf.view, [leaf.index], [leaf.share]))
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
        neighbours=_summed_neighbours(near, words[""], document),
        words=_sorted_words(written, summed_words(direct, words)),
        probability=why.probability,
    )


class _LikeList(Sequence[_Made]):
    """A sequence that equals a list of the same, and is shown like one."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # as a list

    def __repr__(self) -> str:
        return repr(list(self))


class FoundWords(_LikeList[WordReason]):
    """Words with their shares, made on first access: a label has hundreds.

    Parameters
    ----------
    find : callable
        Returns the `Words` of each view and three arrays: the view of each word, as a position
        among these, its feature there, and its share.
    """

    def __init__(self, find: Callable[[], _Placed]) -> None:
        self._find = find

    @cached_property
    def _placed(self) -> _Placed:
        return self._find()

    def __len__(self) -> int:
        return self._placed[3].size

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

    def triples(self) -> Iterator[tuple[str, float, list[Span]]]:
        """The word, share and spans of each, without an object: an explanation has thousands."""
        words, *arrays = self._placed
        entries = [view.entry for view in words]
        for view, feature, share in zip(*(array.tolist() for array in arrays), strict=True):
            word, spans = entries[view](feature)
            yield word, share, spans

    def _made(self, positions: slice) -> list[WordReason]:
        """Make some of the words."""
        words, *arrays = self._placed
        return [
            words[view].reason(feature, share)
            for view, feature, share in zip(
                *(array[positions].tolist() for array in arrays), strict=True
            )
        ]


def summed_words(direct: Sequence[_Direct], words: Mapping[str, Words]) -> FoundWords:
    """Sum the shares of each word; the greatest sums, for or against the label, come first.

    Each item of ``direct`` is a view, some of its features, and their shares. Shares are added in
    the given order, and equal sums stay in the order of their first occurrence.
    """
    return FoundWords(partial(_summed, direct, words))


def _summed(direct: Sequence[_Direct], words: Mapping[str, Words]) -> _Placed:
    """The words of `summed_words`."""
    if not direct:
        nothing = np.empty(0, np.int64)
        return [], nothing, nothing, np.empty(0)
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
    return by_number, numbers[chosen], features[chosen], sums[order]


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


def _single(reason: Reason) -> NeighborReasons:
    """A neighbour as the only one."""
    similarity = np.array([float(reason.similarity or 0.0)])
    number, share = np.array([reason.index], np.int64), np.array([float(reason.share)])
    return NeighborReasons(number, share, similarity, lambda _: reason.reasons)


def _summed_neighbours(
    found: Sequence[NeighborReasons], words: Words, document: Callable[[int], Document | None]
) -> Sequence[NeighbourReason]:
    """Sum the shares of each neighbour that is still there, the greatest sums first.

    Shares are added in the given order, and equal sums stay in the order of their first occurrence.
    """
    if not found:
        return []
    numbers = np.concatenate([near.numbers for near in found]).astype(np.int64, copy=False)
    firsts, which = _groups(numbers)
    sums = np.bincount(which, np.concatenate([near.shares for near in found]), firsts.size)
    order = firsts.argsort()
    order = order[np.argsort(-sums[order], kind="stable")]
    places = np.concatenate([near.places for near in found])
    similarities = np.concatenate([near.similarities for near in found])
    of = np.repeat(np.arange(len(found)), [len(near) for near in found])
    firsts, sums = firsts[order], sums[order]
    # Now, because documents may be forgotten or numbered differently later.
    documents = [document(number) for number in numbers[firsts].tolist()]
    if None in documents:
        there = np.array([each is not None for each in documents], np.bool_)
        firsts, sums = firsts[there], sums[there]
    return FoundNeighbours(
        [each for each in documents if each is not None],
        sums.tolist(),
        similarities[firsts].tolist(),
        [(found[one].words, place) for one, place in zip(of[firsts], places[firsts], strict=True)],
        words,
    )


class FoundNeighbours(_LikeList[NeighbourReason]):
    """Neighbours with their shares, made on first access: a label has dozens.

    Parameters
    ----------
    documents : list of Document
        Their beginnings.
    shares, similarities : list of float
    shared : list
        For each, a function that gives the words that it shares, and its argument.
    words : Words
    """

    def __init__(
        self,
        documents: list[Document],
        shares: list[float],
        similarities: list[float],
        shared: list[tuple[Callable[[int], Sequence[Reason]], int]],
        words: Words,
    ) -> None:
        self._documents, self._shares, self._similarities = documents, shares, similarities
        self._shared, self._words = shared, words

    def __len__(self) -> int:
        return len(self._documents)

    @overload
    def __getitem__(self, position: int) -> NeighbourReason: ...
    @overload
    def __getitem__(self, position: slice) -> list[NeighbourReason]: ...
    def __getitem__(self, position: int | slice) -> NeighbourReason | list[NeighbourReason]:
        places = range(len(self))[position]
        return self._made(places) if isinstance(places, int) else [*map(self._made, places)]

    def __iter__(self) -> Iterator[NeighbourReason]:
        return iter(self._all)

    @cached_property
    def _all(self) -> list[NeighbourReason]:
        return [*map(self._made, range(len(self)))]

    def _made(self, position: int) -> NeighbourReason:
        document, (words, place) = self._documents[position], self._shared[position]
        # As in `Words.reason`: each label has dozens.
        made = object.__new__(NeighbourReason)
        made.__dict__.update(
            id=str(document.id),
            text=document.text,
            labels=document.labels,
            similarity=self._similarities[position],
            share=self._shares[position],
            words=self._words.shared(words(place)),
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
