"""Texts become counts: those of a corpus at once, those of a file a part at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.corpus import Corpus
from manylabel.corpus.parts import TextFile
from manylabel.corpus.vocabulary import first_repeated
from manylabel.exceptions import InputError
from manylabel.progress import Clock
from manylabel.tagger.documents import SNIPPET
from manylabel.text import CountVectorizer

__all__ = ["Chooser", "Counted", "check_distinct", "count_corpus", "count_file"]

#: From what gives the texts of rows, the labels of all rows and a vectorizer to a better one.
Chooser = Callable[
    [Callable[[NDArray[np.int64]], list[str]], sparse.csr_array, CountVectorizer], CountVectorizer
]


class Counted(NamedTuple):
    """Documents as a model learns from them.

    Parameters
    ----------
    corpus : Corpus
    counts : csr_array
    vectorizer : CountVectorizer or None
        None if the documents had features from the beginning.
    """

    corpus: Corpus
    counts: sparse.csr_array
    vectorizer: CountVectorizer | None


def count_corpus(
    corpus: Corpus, vectorizer: CountVectorizer, choose: Chooser | None, clock: Clock
) -> Counted:
    """The counts of a corpus; one without texts has them."""
    _check(corpus)
    texts = corpus.texts
    if texts is None:
        return Counted(corpus, corpus.X, None)
    if choose is not None:
        vectorizer = choose(lambda rows: [texts[row] for row in rows], corpus.Y, vectorizer)
        clock.lap("features")
    counts = vectorizer.fit_transform(texts)
    clock.lap("vectorize")
    return Counted(corpus, counts, vectorizer)


def count_file(
    file: TextFile, vectorizer: CountVectorizer, choose: Chooser | None, clock: Clock
) -> Counted:
    """The counts of a file, of whose texts only the beginnings are kept."""
    corpus = file.count(vectorizer, SNIPPET)
    _check(corpus)
    clock.lap("vectorize")
    if choose is not None:
        better = choose(file.texts, corpus.Y, vectorizer)
        if better is not vectorizer:
            vectorizer, corpus = better, file.count(better, SNIPPET)
        clock.lap("features")
    return Counted(corpus, corpus.X, vectorizer)


def check_distinct(ids: list[str]) -> None:
    """Refuse two documents of one name."""
    repeated = first_repeated(ids)
    if repeated is not None:
        raise InputError(f"`ids` must be distinct; {repeated!r} is there twice.")


def _check(corpus: Corpus) -> None:
    check_distinct(corpus.ids)
    if corpus.Y.nnz == 0:
        raise InputError("no document has a label: there is nothing to learn.")
