"""How to count words, from the options of a command."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import typer

from manylabel.cli.options import (
    CharNgrams,
    Features,
    Language,
    MaxDf,
    MaxFeatures,
    MinDf,
    Ngrams,
    Stemming,
    StopWords,
)

__all__ = ["Words"]


@dataclass(frozen=True)
class Words:
    """The options about words of every command that trains."""

    language: Language = "en"
    features: Features = "auto"
    stop_words: StopWords = None
    stemming: Stemming = None
    ngrams: Ngrams = None
    char_ngrams: CharNgrams = None
    min_df: MinDf = 1
    max_df: MaxDf = None
    max_features: MaxFeatures = None

    def of_tagger(self) -> dict[str, Any]:
        """The arguments of a tagger; "none" becomes None."""
        options = {
            "stop_words": self.stop_words,
            "stemming": self.stemming,
            "ngram_range": _range("--ngrams", self.ngrams),
            "char_ngrams": _range("--char-ngrams", self.char_ngrams),
            "min_df": self.min_df,
            "max_df": self.max_df,
            "max_features": self.max_features,
        }
        given = {name: _or_none(value) for name, value in options.items() if value is not None}
        return {
            "language": _or_none(self.language),
            "vectorizer": given,
            "features": self.features,
        }


def _or_none(value: Any) -> Any:
    return None if value == "none" else value


def _range(option: str, text: str | None) -> tuple[int, int] | None:
    """Parse ``1-2``, or one number for both ends."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", text)
    if match is None:
        raise typer.BadParameter(f"{option} must be a range such as 1-2; got {text}.")
    return int(match[1]), int(match[2] or match[1])
