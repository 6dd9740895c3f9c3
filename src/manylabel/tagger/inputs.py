"""What people hand to a tagger: texts in lists, a corpus, or a file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from manylabel.corpus import Corpus, read
from manylabel.corpus.parts import TextFile
from manylabel.exceptions import InputError, ParameterError
from manylabel.text import CountVectorizer

__all__ = ["LANGUAGES", "as_corpus", "check_texts", "make_vectorizer", "text_file"]

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


def as_corpus(documents: Any, labels: Any = None, ids: Any = None) -> Corpus:
    """Documents with labels: lists, a corpus, or the path of a file."""
    if isinstance(documents, str | os.PathLike):
        documents = read(documents)
    if isinstance(documents, Corpus):
        if labels is not None or ids is not None:
            raise InputError(
                "a corpus brings its own labels and ids: leave `labels` and `ids` out."
            )
        return documents
    if labels is None:
        raise InputError("`labels` are missing: give a list of label names for each text.")
    texts = check_texts(documents, allow_empty=True)
    if isinstance(labels, str):
        raise InputError("`labels` must be a list of label names for each text; got a string.")
    return Corpus.from_texts(texts, labels, None if ids is None else list(ids))


def text_file(documents: Any, labels: Any = None, ids: Any = None) -> TextFile | None:
    """What was handed in as a file that can be read in parts; None if it is none."""
    if labels is None and ids is None and isinstance(documents, str | os.PathLike):
        return TextFile.at(documents)
    return None


def check_texts(texts: Iterable[Any], allow_empty: bool = False) -> list[str]:
    """A list of strings; by default with something in each."""
    listed = list(texts)
    for row, text in enumerate(listed):
        if not isinstance(text, str):
            raise InputError(f"texts must be strings; text {row} is {type(text).__name__}.")
        if not allow_empty and not text.strip():
            raise InputError(f"text {row} is empty; give it some words, or leave it out.")
    return listed


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
