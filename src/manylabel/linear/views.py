"""Linear models of views of a document other than its words.

Models that read different features make different errors, so their sum is better than one model
of all features: in one space the many features of one kind would drown the few of another.
"""

from __future__ import annotations

from typing import ClassVar

from manylabel.linear.scorer import LinearScorer

__all__ = ["OpeningScorer", "PhraseScorer"]


class PhraseScorer(LinearScorer):
    """A linear SVM for each label that reads pairs of words."""

    name: ClassVar[str] = "phrases"
    effort: ClassVar[str] = "normal"
    view: ClassVar[str] = "phrases"
    title: ClassVar[str] = "phrases for and against"
    sentence: ClassVar[str] = "Adjacent words, each pair with its weight for the label."


class OpeningScorer(LinearScorer):
    """A linear SVM for each label that reads the first words of a text, and pairs of them."""

    name: ClassVar[str] = "opening"
    effort: ClassVar[str] = "normal"
    view: ClassVar[str] = "opening"
    title: ClassVar[str] = "how the text begins"
    sentence: ClassVar[str] = "The first words of the text, each with its weight for the label."
