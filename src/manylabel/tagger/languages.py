"""Languages of texts: their names, how they are detected, and vectorizers for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from manylabel.corpus import Corpus
from manylabel.corpus.chunks import TextFile
from manylabel.exceptions import InputError, ParameterError
from manylabel.text import CountVectorizer
from manylabel.text.languages import DETECTED, detect_languages
from manylabel.text.words import LEMMAS
from manylabel.vocabulary import Vocabulary

__all__ = ["AUTO", "LANGUAGES", "STEMMED", "full_name", "make_vectorizer", "text_language"]

#: The value of ``language`` that means: detect it.
AUTO = "auto"
#: Code -> full name, for languages with stop words and stems.
LANGUAGES = DETECTED
#: Code -> full name, for languages that Snowball stems but that have no stop words here.
STEMMED = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "el": "greek",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "lt": "lithuanian",
    "ne": "nepali",
    "pl": "polish",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}
#: Codes of languages for which only simplemma has something: lemmas.
LEMMATIZED = ("bg", "cy", "he", "is", "ka", "lv", "mk", "ms", "sk", "sl", "sq", "sw", "tl", "uk")
#: Maximum documents to detect a language from.
_SAMPLED = 500


def full_name(language: str | None) -> str | None:
    """The name of a language for `CountVectorizer(stemming=...)`."""
    if language in LEMMATIZED:
        return f"{LEMMAS}{language}"
    return None if language is None else (LANGUAGES | STEMMED).get(language, language)


def text_language(
    language: str | None, documents: Corpus | TextFile | None, vocabulary: Vocabulary | None
) -> str | None:
    """The language of documents: as given or, for "auto", detected."""
    if language != AUTO:
        return language
    if documents is None:
        assert vocabulary is not None
        codes = [code for code in vocabulary.languages if code in LANGUAGES | STEMMED]
        if len(codes) == 1:
            return codes[0]
        raise InputError("the language cannot be detected without documents: give `language`.")
    if isinstance(documents, TextFile):
        return detect_languages(documents.sample(_SAMPLED))
    texts = documents.full_texts
    if texts is None:
        return None
    some = np.linspace(0, len(texts) - 1, min(_SAMPLED, len(texts))).astype(np.int64)
    return detect_languages(texts[row] for row in some.tolist())


def make_vectorizer(
    language: str | None, options: Any, n_jobs: int | None, verbose: int
) -> CountVectorizer:
    """Make a vectorizer: a copy of the given one, or one for the language with options."""
    from manylabel.estimators import clone

    if isinstance(options, CountVectorizer):
        return clone(options)
    name = None if language == AUTO else full_name(language)
    is_listed = name in LANGUAGES.values()
    if name is not None and not (is_listed or name in STEMMED.values() or name.startswith(LEMMAS)):
        raise ParameterError(
            f"`language` must be a code with stop words ({', '.join(LANGUAGES)}), a code without "
            f"({', '.join(sorted({*STEMMED, *LEMMATIZED}))}), a full name such as 'english', 'auto'"
            f" or None; got {language!r}."
        )
    vectorizer = CountVectorizer(
        stop_words=name if is_listed else None, stemming=name, n_jobs=n_jobs, verbose=verbose
    )
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
