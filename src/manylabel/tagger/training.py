"""From what people hand to `Tagger.fit` to a fitted model: texts, counts, training."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.corpus import Corpus
from manylabel.corpus.parts import TextFile
from manylabel.corpus.vocabulary import first_repeated
from manylabel.exceptions import InputError, ParameterError
from manylabel.progress import Clock
from manylabel.scoring import Documents
from manylabel.tagger.documents import SNIPPET, KeptDocuments
from manylabel.tagger.labels import LabelInfo, Labels
from manylabel.tagger.state import TaggerState
from manylabel.text import CountVectorizer

__all__ = ["LANGUAGES", "check_distinct", "make_vectorizer", "text_file", "train"]

#: Short name -> the language whose stop words and stems are known.
LANGUAGES = {
    "da": "danish",
    "de": "german",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "sv": "swedish",
}

#: From what gives the texts of rows, the labels of all rows and a vectorizer to a better one.
Chooser = Callable[
    [Callable[[NDArray[np.int64]], list[str]], sparse.csr_array, CountVectorizer], CountVectorizer
]


def train(
    documents: Corpus | TextFile,
    model: Any,
    vectorizer: CountVectorizer,
    choose: Chooser | None,
    label_info: dict[str, LabelInfo],
    keep_texts: bool,
    clock: Clock,
) -> TaggerState:
    """Count the words of documents and fit a model to them.

    Parameters
    ----------
    documents : Corpus or TextFile
    model : MultiLabelClassifier
        Not fitted.
    vectorizer : CountVectorizer
        Not fitted; of no use for documents that have features already.
    choose : callable, optional
        Finds a better vectorizer.
    label_info : dict of str to LabelInfo
    keep_texts : bool
    clock : Clock
        Is told how long the phases took: "features", "vectorize", "train".
    """
    count = count_file if isinstance(documents, TextFile) else count_corpus
    corpus, counted, fitted = count(documents, vectorizer, choose, clock)  # type: ignore[arg-type]
    labels = Labels(corpus.label_names, label_info)
    if model.reads_views:
        model.set_params(vocabulary=labels)
    model.fit(counted, corpus.Y)
    clock.lap("train")
    counts = counted.counts
    return TaggerState(
        model,
        labels,
        KeptDocuments(corpus.ids, _kept_texts(corpus, keep_texts), corpus.Y),
        fitted,
        corpus.feature_names if fitted is None else [],
        np.bincount(counts.indices, minlength=counts.shape[1]),
        keep_texts,
    )


class Counted(NamedTuple):
    """Documents as a model learns from them.

    Parameters
    ----------
    corpus : Corpus
    documents : Documents
        Their counts and, where there are any, whole texts.
    vectorizer : CountVectorizer or None
        None if the documents had features from the beginning.
    """

    corpus: Corpus
    documents: Documents
    vectorizer: CountVectorizer | None


def count_corpus(
    corpus: Corpus, vectorizer: CountVectorizer, choose: Chooser | None, clock: Clock
) -> Counted:
    """The counts of a corpus; one without texts has them."""
    _check(corpus)
    texts = corpus.texts
    if texts is None:
        return Counted(corpus, Documents(corpus.X), None)
    if choose is not None:
        vectorizer = choose(lambda rows: [texts[row] for row in rows], corpus.Y, vectorizer)
        clock.lap("features")
    counts = vectorizer.fit_transform(texts)
    clock.lap("vectorize")
    return Counted(corpus, Documents(counts, texts=texts), vectorizer)


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
    return Counted(corpus, Documents(corpus.X), vectorizer)


def check_distinct(ids: list[str]) -> None:
    """Refuse two documents of one name."""
    repeated = first_repeated(ids)
    if repeated is not None:
        raise InputError(f"`ids` must be distinct; {repeated!r} is there twice.")


def _check(corpus: Corpus) -> None:
    check_distinct(corpus.ids)
    if corpus.Y.nnz == 0:
        raise InputError("no document has a label: there is nothing to learn.")


def _kept_texts(corpus: Corpus, keep_texts: bool) -> list[str]:
    """What is kept of texts."""
    if corpus.texts is None:
        return [""] * len(corpus)
    return corpus.texts if keep_texts else [text[:SNIPPET] for text in corpus.texts]


def text_file(documents: Any, labels: Any = None, ids: Any = None) -> TextFile | None:
    """What was handed in as a file that can be read in parts; None if it is none."""
    if labels is None and ids is None and isinstance(documents, str | os.PathLike):
        return TextFile.at(documents)
    return None


def make_vectorizer(
    language: str | None, options: Any, n_jobs: int | None, verbose: int
) -> CountVectorizer:
    """A new vectorizer: a copy of one that was given, or a language's with options."""
    from sklearn.base import clone

    if isinstance(options, CountVectorizer):
        return clone(options)
    name = LANGUAGES.get(language, language) if language is not None else None
    if name is not None and name not in LANGUAGES.values():
        raise ParameterError(
            f"`language` must be one of {', '.join(LANGUAGES)}, a full name such as 'english', "
            f"or None; got {language!r}."
        )
    vectorizer = CountVectorizer(stop_words=name, stemming=name, n_jobs=n_jobs, verbose=verbose)
    if options is None:
        return vectorizer
    if not isinstance(options, dict):
        raise ParameterError(
            "`vectorizer` must be a CountVectorizer, a dictionary of its parameters, or None; "
            f"got {options!r}."
        )
    known = vectorizer.get_params()
    for option in options:
        if option not in known:
            raise ParameterError(
                f"`vectorizer` has no parameter {option!r}; it has {', '.join(known)}."
            )
    return vectorizer.set_params(**options)
