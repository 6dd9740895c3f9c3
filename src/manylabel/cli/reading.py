"""A corpus as the options of a command describe it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from manylabel.cli.output import note, working

if TYPE_CHECKING:
    from manylabel.corpus import Corpus

__all__ = ["can_be_counted_in_parts", "count_words", "read_corpus"]


def read_corpus(
    path: str,
    format: str | None,
    *,
    labels: str | None,
    separator: str | None,
    zero_based: bool | None,
    quiet: bool,
) -> Corpus:
    """Read a corpus, while a terminal shows that this takes its time."""
    from manylabel.corpus import read

    with working(f"Reading {path} ...", quiet):
        return read(path, format, labels=labels, separator=separator, zero_based=zero_based)


def can_be_counted_in_parts(
    path: str, format: str | None, labels: str | None, separator: str | None
) -> bool:
    """Whether a file holds texts that a tagger can read part by part, with no more said."""
    from manylabel.corpus.parts import TextFile

    return format is labels is separator is None and TextFile.at(path) is not None


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
