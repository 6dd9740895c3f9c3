"""A corpus as the options of a command describe it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from manylabel.cli.output import note

if TYPE_CHECKING:
    from manylabel.corpus import Corpus

__all__ = ["count_words"]


def count_words(
    corpus: Corpus,
    *,
    stop_words: str | None,
    stemming: str | None,
    min_df: float,
    jobs: int,
    quiet: bool,
) -> Corpus:
    """The corpus with counts of words as features; one that has features stays as it is."""
    if corpus.X is not None:
        return corpus
    from manylabel.text import CountVectorizer

    note(f"Counting the words of {len(corpus):,} texts ...", quiet)
    vectorizer = CountVectorizer(
        stop_words=stop_words,
        stemming=stemming,
        min_df=min_df,
        n_jobs=jobs,
        verbose=not quiet and sys.stderr.isatty(),
    )
    return corpus.vectorized(vectorizer)
