"""A corpus as the options of a command describe it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from manylabel.cli.output import note, working

if TYPE_CHECKING:
    from manylabel.corpus import Corpus

__all__ = ["can_be_counted_in_parts", "count_words", "read_corpus"]


def read_corpus(
    path: str,
    format: str | None,
    *,
    labels: str | None,
    zero_based: bool | None,
    quiet: bool,
    **columns: Any,
) -> Corpus:
    """Read a corpus, while a terminal shows that this takes its time.

    ``columns`` are the options about columns and signs that `manylabel.corpus.read` has.
    """
    from manylabel.corpus import read

    said: list[str] = []
    with working(f"Reading {path} ...", quiet):
        found = read(
            path, format, labels=labels, zero_based=zero_based, tell=said.append, **columns
        )
    for sentence in said:
        note(sentence, quiet)
    return found


def can_be_counted_in_parts(path: str, *said: Any) -> bool:
    """Whether a file holds texts that a tagger can read part by part, with no more said."""
    from manylabel.corpus.parts import TextFile

    return not any(said) and TextFile.at(path) is not None


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
