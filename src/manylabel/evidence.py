"""Why a label was given: reasons whose shares add up to its score."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["KINDS", "Explanation", "Kind", "Reason", "WordReasons", "kind_of", "word_reasons"]


class Kind(NamedTuple):
    """How a kind of reason is shown to people.

    Attributes
    ----------
    title : str
        Its name in a list.
    sentence : str
        What it means.
    group : str
        The kind under which several reasons of this kind are added up; empty for the kind itself.
    known_before : bool
        Whether it counts before any of the text is read.
    """

    title: str
    sentence: str = ""
    group: str = ""
    known_before: bool = False


#: The kinds that several models share. Reasons of other kinds carry their own titles.
KINDS: dict[str, Kind] = {
    "prior": Kind(
        "how common the label is",
        "What speaks for the label before any of the text is read.",
        known_before=True,
    ),
    "bias": Kind(
        "starting point",
        "What the label scores when no word speaks for or against it.",
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
    "word": Kind("words", "Words of the text that speak for the label or against it.", "words"),
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
    """How a reason is shown to people: its own title, or that of its kind.

    Examples
    --------
    >>> kind_of(Reason("word", 0.3)).title
    'words'
    >>> kind_of(Reason("moon", 0.3, title="phase of the moon")).title
    'phase of the moon'
    """
    known = KINDS.get(reason.kind, Kind(reason.kind))
    if reason.title:
        known = known._replace(title=reason.title, sentence=reason.sentence or known.sentence)
    return known


@dataclass(frozen=True)
class Reason:
    """One addend of a score.

    Parameters
    ----------
    kind : str
        What the reason is: ``"neighbour"``, ``"word"``, ``"prior"``, ``"bias"`` or the name of a
        part of a combined model.
    share : float
        What it adds to the score.
    index : int, optional
        The training document of a neighbour, the feature of a word.
    similarity : float, optional
        Of a neighbour to the document.
    reasons : sequence of Reason
        Reasons for this reason. A neighbour has the words it shares with the document, whose
        shares add up to its similarity. A part of a combined model has its own reasons, whose
        shares add up to this share.
    title : str
        The title to show; empty for the title that its kind has in ``KINDS``.
    sentence : str
        What the title means; empty for the sentence of its kind.
    spans : tuple of (int, int)
        Positions in the text, if the reason knows them.
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
        # There are hundreds per label: `replace` would take most of an explanation's time.
        same = object.__new__(Reason)
        same.__dict__.update(self.__dict__)
        same.__dict__["share"] = factor * self.share
        return same


def word_reasons(features: Iterable[int], shares: Iterable[float], view: str = "") -> list[Reason]:
    """Words as reasons, one for each feature of a view and its share.

    Examples
    --------
    >>> [(reason.index, reason.share) for reason in word_reasons([3], [0.5])]
    [(3, 0.5)]
    """
    reasons = []
    for feature, share in zip(features, shares, strict=True):
        reason = object.__new__(Reason)
        # The other fields are defaults, which the class has.
        reason.__dict__.update(kind="word", share=share, index=feature)
        if view:
            reason.__dict__["view"] = view
        reasons.append(reason)
    return reasons


class WordReasons(Sequence[Reason]):
    """Words as reasons, made on access: most are never looked at.

    Parameters
    ----------
    features, shares : array of int, array of float
    view : str
        That the features are of.
    bias : int, optional
        The place among them that is none: the feature there is -1, and the reason a bias.

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

    def __len__(self) -> int:
        return self._features.size

    def scaled(self, factor: float) -> WordReasons:
        """The same reasons where the score counts ``factor`` times, greatest share first."""
        shares = factor * self._shares
        order = np.argsort(-shares, kind="stable")
        bias = None if self._bias is None else int(np.argmax(order == self._bias))
        return WordReasons(self._features[order], shares[order], self._view, bias)

    def words(self) -> tuple[str, NDArray[np.int64], NDArray[np.float64]]:
        """The view, and the features and shares of all words."""
        if self._bias is None:
            return self._view, self._features, self._shares
        return (
            self._view,
            np.delete(self._features, self._bias),
            np.delete(self._shares, self._bias),
        )

    @overload
    def __getitem__(self, place: int) -> Reason: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Reason]: ...
    def __getitem__(self, place: int | slice) -> Reason | Sequence[Reason]:
        if isinstance(place, slice):
            return tuple(self._made(list(range(len(self))[place])))
        return self._made([range(len(self))[place]])[0]

    def __iter__(self) -> Iterator[Reason]:
        return iter(self._made(list(range(len(self)))))

    def _made(self, places: list[int]) -> list[Reason]:
        made = word_reasons(
            self._features[places].tolist(),
            self._shares[places].tolist(),
            self._view,
        )
        if self._bias is not None and self._bias in places:
            at = places.index(self._bias)
            made[at] = Reason("bias", made[at].share)
        return made

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


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
        As from :meth:`decision_function`, unless there is a ``probability``.
    reasons : tuple of Reason
        Their shares sum to the score.
    probability : float, optional
        The score as a probability, where :meth:`decision_function` gives probabilities.

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
