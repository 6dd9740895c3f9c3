"""Explain labels by reasons whose shares add up to the score."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "KINDS",
    "Explanation",
    "Kind",
    "NeighborReasons",
    "Reason",
    "ReasonsOnAccess",
    "WordReasons",
    "kind_of",
    "word_reasons",
]


class Kind(NamedTuple):
    """How a kind of reason is displayed.

    Attributes
    ----------
    title : str
        Its name in a list.
    sentence : str
        What it means.
    group : str
        The kind whose reason sums up several reasons of this kind; empty for the kind itself.
    known_before : bool
        Whether it does not depend on the text.
    """

    title: str
    sentence: str = ""
    group: str = ""
    known_before: bool = False


#: The kinds that several models share. Reasons of other kinds have their own titles.
KINDS: dict[str, Kind] = {
    "prior": Kind(
        "how common the label is",
        "How likely the label is before the text is read.",
        known_before=True,
    ),
    "rivals": Kind(
        "how well all labels fit",
        "How well the text fits its candidate labels: the better all fit, the less likely each is.",
    ),
    "bias": Kind(
        "starting point",
        "The label's score without any words.",
        known_before=True,
    ),
    "neighbour": Kind(
        "similar documents",
        "Documents that have the label and share words with the text.",
        "neighbours",
    ),
    "neighbours": Kind(
        "similar documents", "Documents that have the label and share words with the text."
    ),
    "word": Kind("words", "Words of the text that count for or against the label.", "words"),
    "words": Kind(
        "words typical of it", "Words of the text that are common in documents with the label."
    ),
    "topic": Kind("topics it belongs to", "Topics of the text in which the label is common."),
    "tree": Kind(
        "groups of similar documents", "Groups of documents that the text falls into.", "trees"
    ),
    "trees": Kind("groups of similar documents", "Groups of documents that the text falls into."),
    "centroid": Kind(
        "similarity to its documents",
        "How close the text is to the centre of the label's documents.",
    ),
}


def kind_of(reason: Reason) -> Kind:
    """How a reason is displayed: by its own title, or by that of its kind.

    Examples
    --------
    >>> kind_of(Reason("word", 0.3)).title
    'words'
    >>> kind_of(Reason("moon", 0.3, title="phase of the moon")).title
    'phase of the moon'
    """
    return _kind(reason.kind, reason.title, reason.sentence)


@lru_cache(maxsize=256)
def _kind(name: str, title: str, sentence: str) -> Kind:
    known = KINDS.get(name, Kind(name))
    return known._replace(title=title, sentence=sentence or known.sentence) if title else known


@dataclass(frozen=True)
class Reason:
    """One term of a score.

    Parameters
    ----------
    kind : str
        ``"neighbour"``, ``"word"``, ``"prior"``, ``"bias"`` or the name of a scorer of an ensemble.
    share : float
        What it adds to the score.
    index : int, optional
        The training document of a neighbour, or the feature of a word.
    similarity : float, optional
        Similarity of a neighbour to the document.
    reasons : sequence of Reason
        Reasons for this reason. A neighbour has the words that it shares with the document, whose
        shares add up to its similarity. A scorer of an ensemble has its own reasons, whose shares
        add up to this share.
    title : str
        The title to show; empty for the title that its kind has in ``KINDS``.
    sentence : str
        What the title means; empty for the sentence of its kind.
    spans : tuple of (int, int)
        Positions in the text, if known.
    view : str
        The view of the document that ``index`` is a feature of; empty for the counts.
    """

    kind: str
    share: float
    index: int | None = None
    similarity: float | None = None
    reasons: Sequence[Reason] = ()
    title: str = ""
    sentence: str = ""
    spans: tuple[tuple[int, int], ...] = ()
    view: str = ""

    def scaled(self, factor: float) -> Reason:
        """The same reason with ``factor`` times its share.

        Its own reasons do not change: they add up to a similarity.
        """
        # Not `replace`: there are hundreds per label, and it would take most of the time.
        same = object.__new__(Reason)
        same.__dict__.update(self.__dict__)
        same.__dict__["share"] = factor * self.share
        return same


def word_reasons(features: Iterable[int], shares: Iterable[float], view: str = "") -> list[Reason]:
    """Make a reason of each feature of a view and its share.

    Examples
    --------
    >>> [(reason.index, reason.share) for reason in word_reasons([3], [0.5])]
    [(3, 0.5)]
    """
    reasons = []
    for feature, share in zip(features, shares, strict=True):
        reason = object.__new__(Reason)
        # The other fields are class attributes with the defaults.
        reason.__dict__.update(kind="word", share=share, index=feature)
        if view:
            reason.__dict__["view"] = view
        reasons.append(reason)
    return reasons


class ReasonsOnAccess(Sequence[Reason]):
    """Reasons in arrays, created on access because most are never used."""

    def _made(self, positions: list[int]) -> list[Reason]:
        """Create the reasons at some positions."""
        raise NotImplementedError

    def scaled(self, factor: float) -> ReasonsOnAccess:
        """The same reasons with ``factor`` times their shares, greatest share first."""
        raise NotImplementedError

    @overload
    def __getitem__(self, position: int) -> Reason: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[Reason]: ...
    def __getitem__(self, position: int | slice) -> Reason | Sequence[Reason]:
        if isinstance(position, slice):
            return tuple(self._made(list(range(len(self))[position])))
        return self._made([range(len(self))[position]])[0]

    def __iter__(self) -> Iterator[Reason]:
        return iter(self._made(list(range(len(self)))))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


class NeighborReasons(ReasonsOnAccess):
    """Neighbours as reasons.

    Parameters
    ----------
    numbers, shares, similarities : array of int, array of float, array of float
        The training documents, what each adds to the score, and its similarity.
    words : callable
        Gives the words that a neighbour shares with the document, by its place.
    places : array of int, optional
        The neighbours' places; by default their numbers.

    Examples
    --------
    >>> near = NeighborReasons(np.array([7, 2]), np.array([0.1, 0.5]), np.ones(2), lambda _: ())
    >>> near[0] == Reason("neighbour", 0.1, 7, 1.0)
    True
    >>> [(reason.index, reason.share) for reason in near.scaled(2.0)]
    [(2, 1.0), (7, 0.2)]
    """

    def __init__(
        self,
        numbers: NDArray[np.integer],
        shares: NDArray[np.float64],
        similarities: NDArray[np.float64],
        words: Callable[[int], Sequence[Reason]],
        places: NDArray[np.integer] | None = None,
    ) -> None:
        self.numbers, self.shares, self.similarities = numbers, shares, similarities
        self.words, self.places = words, numbers if places is None else places

    def __len__(self) -> int:
        return self.numbers.size

    def scaled(self, factor: float) -> NeighborReasons:
        """The same reasons with ``factor`` times their shares, greatest share first."""
        shares = factor * self.shares
        order = np.argsort(-shares, kind="stable")
        return NeighborReasons(
            self.numbers[order],
            shares[order],
            self.similarities[order],
            self.words,
            self.places[order],
        )

    def _made(self, positions: list[int]) -> list[Reason]:
        made = []
        for number, share, similarity, place in zip(
            self.numbers[positions].tolist(),
            self.shares[positions].tolist(),
            self.similarities[positions].tolist(),
            self.places[positions].tolist(),
            strict=True,
        ):
            # As in `word_reasons`: there are hundreds per document.
            reason = object.__new__(Reason)
            reason.__dict__.update(
                kind="neighbour",
                share=share,
                index=number,
                similarity=similarity,
                reasons=self.words(place),
            )
            made.append(reason)
        return made


class WordReasons(ReasonsOnAccess):
    """Words as reasons.

    Parameters
    ----------
    features, shares : array of int, array of float
    view : str
        The view that has the features.
    bias : int, optional
        The position of the bias, whose feature is -1.

    Examples
    --------
    >>> words = WordReasons([3, 1], [0.5, 0.2])
    >>> len(words), words[0].index, sum(word.share for word in words)
    (2, 3, 0.7)
    >>> [word.share for word in words.scaled(-2.0)]
    [-0.4, -1.0]
    """

    def __init__(
        self, features: ArrayLike, shares: ArrayLike, view: str = "", bias: int | None = None
    ) -> None:
        self._features, self._shares = np.asarray(features, np.int64), np.asarray(shares, float)
        self._view, self._bias = view, bias

    @classmethod
    def with_bias(
        cls, bias: float, features: ArrayLike, shares: ArrayLike, view: str = ""
    ) -> WordReasons:
        """The bias, then words."""
        words = np.asarray(features)
        numbers, values = np.empty(words.size + 1, np.int64), np.empty(words.size + 1)
        numbers[0], numbers[1:], values[0], values[1:] = -1, words, bias, shares
        return cls(numbers, values, view, bias=0)

    def __len__(self) -> int:
        return self._features.size

    def scaled(self, factor: float) -> WordReasons:
        """The same reasons with ``factor`` times their shares, greatest share first."""
        shares = factor * self._shares
        order = np.argsort(-shares, kind="stable")
        bias = None if self._bias is None else int(np.argmax(order == self._bias))
        return WordReasons(self._features[order], shares[order], self._view, bias)

    def words(self) -> tuple[str, NDArray[np.int64], NDArray[np.float64]]:
        """The view, and the features and shares of all words."""
        if self._bias is None:
            return self._view, self._features, self._shares
        before, after = slice(self._bias), slice(self._bias + 1, None)
        return (
            self._view,
            np.concatenate((self._features[before], self._features[after])),
            np.concatenate((self._shares[before], self._shares[after])),
        )

    def _made(self, positions: list[int]) -> list[Reason]:
        made = word_reasons(
            self._features[positions].tolist(),
            self._shares[positions].tolist(),
            self._view,
        )
        if self._bias is not None and self._bias in positions:
            at = positions.index(self._bias)
            made[at] = Reason("bias", made[at].share)
        return made


@dataclass(frozen=True)
class Explanation:
    """The reasons for one label of one document, greatest share first.

    Parameters
    ----------
    row : int
        The document, by its row in the matrix that was explained.
    label : int
        The label, by its column.
    score : float
        The value of :meth:`decision_function`, unless there is a ``probability``.
    reasons : tuple of Reason
        Their shares sum to the score.
    probability : float, optional
        The value of :meth:`decision_function`, if it returns probabilities.

    Examples
    --------
    >>> why = Explanation(0, 3, 0.5, (Reason("neighbour", 0.3, 7), Reason("neighbour", 0.2, 2)))
    >>> round(why.total, 6)
    0.5
    """

    row: int
    label: int
    score: float
    reasons: tuple[Reason, ...] = field(default=())
    probability: float | None = None

    @property
    def total(self) -> float:
        """The sum of the shares."""
        return math.fsum(reason.share for reason in self.reasons)
