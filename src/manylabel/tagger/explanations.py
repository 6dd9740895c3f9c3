"""Why labels were suggested for a text: parts, neighbours and words that sum to the score."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Group

__all__ = [
    "LabelReasons",
    "NeighbourReason",
    "PartReason",
    "TextExplanation",
    "WordReason",
]

Span = tuple[int, int]


@dataclass(frozen=True)
class PartReason:
    """One part of a score: that of one scorer, or all reasons of one kind.

    The shares of the parts sum to the score.

    Parameters
    ----------
    kind : str
        An identifier for programs.
    share : float
    title : str
        A title for people; by default the kind.
    sentence : str
        An explanation for people; may be empty.
    """

    kind: str
    share: float
    title: str = ""
    sentence: str = ""

    def __post_init__(self) -> None:
        if not self.title:
            object.__setattr__(self, "title", self.kind)


@dataclass(frozen=True)
class WordReason:
    """A word in favour of a label or, with a negative share, against it.

    Parameters
    ----------
    word : str
        As written in the text.
    share : float
        Its contribution to the score or, for a word of a neighbour, to the similarity.
    spans : list of (int, int)
        Where it occurs in the text: start and end.
    """

    word: str
    share: float
    spans: list[Span]


@dataclass(frozen=True)
class NeighbourReason:
    """A document that has the label and is similar to the text.

    Parameters
    ----------
    id : str
    text : str
        The beginning of its text.
    labels : list of str
        All its labels.
    similarity : float
    share : float
        Its contribution to the score.
    words : sequence of WordReason
        The words it has in common with the text, greatest share first. Only the first 12 are
        kept; the shares of all sum to the similarity.
    """

    id: str
    text: str
    labels: list[str]
    similarity: float
    share: float
    words: Sequence[WordReason]


@dataclass(frozen=True)
class LabelReasons:
    """Why one label was suggested.

    Parameters
    ----------
    label, name : str
    score : float
        The score of `Tagger.suggest`, or its log-odds if that is a ``probability``: log-odds are
        sums of parts, probabilities are not.
    parts : list of PartReason
        Their shares sum to the score. Parts that do not depend on the text come first, then the
        greatest share.
    neighbours : sequence of NeighbourReason
    words : sequence of WordReason
        Greatest share first. Neighbours and words explain the parts that consist of them.
    probability : float, optional
        The score of `Tagger.suggest`, if that is a probability.
    """

    label: str
    name: str
    score: float
    parts: list[PartReason] = field(default_factory=list)
    neighbours: Sequence[NeighbourReason] = field(default_factory=list)
    words: Sequence[WordReason] = field(default_factory=list)
    probability: float | None = None

    @property
    def verdict(self) -> str:
        """The score as text: the probability and its log-odds, if there is one."""
        if self.probability is None:
            return f"{self.score:.4f}"
        return f"{self.probability:.1%} (log-odds {self.score:+.4f})"

    @property
    def total(self) -> float:
        """The sum of the parts."""
        return math.fsum(part.share for part in self.parts)

    def highlights(self) -> list[tuple[int, int, float]]:
        """Spans of the text with their contribution to the score, direct or through neighbours.

        A neighbour's share is divided among the words that make it similar.
        """
        weights: dict[Span, float] = {}
        before = weights.get
        for _, share, spans in _triples(self.words):
            each = share / len(spans) if spans else 0.0
            for span in spans:
                weights[span] = before(span, 0.0) + each
        for neighbour in self.neighbours:
            own, similarity = neighbour.share, neighbour.similarity
            for _, share, spans in _triples(neighbour.words):
                each = own * share / similarity / len(spans) if spans else 0.0
                for span in spans:
                    weights[span] = before(span, 0.0) + each
        return [(start, end, weight) for (start, end), weight in sorted(weights.items())]

    def to_dict(self) -> dict[str, Any]:
        """As data for JSON."""
        # `dataclasses.asdict` would copy the spans of every word, which takes most of the time.
        own = {**vars(self), "words": _word_data(self.words)}
        own["parts"] = [dict(vars(part)) for part in self.parts]
        own["neighbours"] = [
            {**vars(near), "words": _word_data(near.words)} for near in self.neighbours
        ]
        return own | {"total": self.total}


@dataclass(frozen=True)
class TextExplanation:
    """Why labels were suggested for a text; prints as tables, in notebooks too.

    Parameters
    ----------
    text : str
    labels : list of LabelReasons
        Best label first, or in the order asked for.
    """

    text: str
    labels: list[LabelReasons]

    def __iter__(self) -> Iterator[LabelReasons]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, label: int | str) -> LabelReasons:
        """Look up by position or by label."""
        if isinstance(label, int):
            return self.labels[label]
        for reasons in self.labels:
            if reasons.label == label:
                return reasons
        raise KeyError(label)

    def to_dict(self) -> dict[str, Any]:
        """As data for JSON."""
        return {"text": self.text, "labels": [reasons.to_dict() for reasons in self.labels]}

    def __rich__(self) -> Group:
        from manylabel.tagger.display import explanation_view

        return explanation_view(self)

    def __str__(self) -> str:
        from manylabel.rendering import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from manylabel.tagger.display import explanation_html

        return explanation_html(self)


def _triples(words: Sequence[WordReason]) -> Iterable[tuple[str, float, list[Span]]]:
    """The word, share and spans of each, without making reasons that do not exist yet."""
    made = getattr(words, "triples", None)
    return made() if made is not None else [(one.word, one.share, one.spans) for one in words]


def _word_data(words: Sequence[WordReason]) -> list[dict[str, Any]]:
    """Words as data for JSON."""
    return [
        {"word": word, "share": share, "spans": spans} for word, share, spans in _triples(words)
    ]
