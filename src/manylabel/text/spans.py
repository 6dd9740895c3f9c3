"""Find the words of a text behind its features."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence

from manylabel.estimators import check_is_fitted
from manylabel.text.blocks import NGRAM_MARK, character_ngrams
from manylabel.text.names import NameTable
from manylabel.text.vectorizer import CountVectorizer
from manylabel.text.words import WordRules, word_rules, word_spans

__all__ = ["feature_spans", "feature_spans_of", "surface_forms"]

Span = tuple[int, int]


def feature_spans(vectorizer: CountVectorizer, text: str) -> dict[int, list[Span]]:
    """The positions of each feature of the vocabulary in a text.

    Parameters
    ----------
    vectorizer : CountVectorizer
        Fitted.
    text : str

    Returns
    -------
    spans : dict
        Column to (start, end) positions, in order: ``text[start:end]`` is the feature as written.
        An n-gram reaches from its first word to its last, including stop words between them. A
        character n-gram points to the whole words that contain it, once per occurrence.

    Examples
    --------
    >>> vectorizer = CountVectorizer(stemming="english").fit(["ship sailing"])
    >>> feature_spans(vectorizer, "Ships! A ship sails.")
    {1: [(0, 5), (9, 13)], 0: [(14, 19)]}
    """
    return feature_spans_of([vectorizer], text)[0]


def feature_spans_of(
    vectorizers: Sequence[CountVectorizer],
    text: str,
    tables: Sequence[NameTable] | None = None,
) -> list[dict[int, list[Span]]]:
    """The `feature_spans` of several vectorizers; those with the same rules share the words.

    ``tables`` has their names of features at an earlier time.
    """
    for vectorizer in vectorizers:
        check_is_fitted(vectorizer)
    if tables is None:
        tables = [vectorizer.name_table for vectorizer in vectorizers]
    known: dict[tuple[WordRules, int], list[tuple[str, int, int]]] = {}
    spans: list[dict[int, list[Span]]] = []
    for vectorizer, table in zip(vectorizers, tables, strict=True):
        rules = word_rules(vectorizer.lowercase, vectorizer.stop_words, vectorizer.stemming)
        key = rules, vectorizer.min_length
        terms = known.get(key)
        if terms is None:
            terms = known[key] = _terms(*key, text)
        most = vectorizer.lead if vectorizer.lead_only else None
        mine: dict[int, list[Span]] = {}
        # Without stop words, whose terms are empty.
        placed = list(_features(vectorizer, [term for term in terms[:most] if term[0]]))
        columns = table.find([feature for feature, _, _ in placed])
        for column, (_, start, end) in zip(columns.tolist(), placed, strict=True):
            if column >= 0:
                mine.setdefault(column, []).append((start, end))
        spans.append(mine)
    return spans


def _terms(rules: WordRules, min_length: int, text: str) -> list[tuple[str, int, int]]:
    """The terms of a text with their positions."""
    placed = word_spans(text, min_length)
    terms = rules.terms([text[start:end] for start, end in placed])
    return [(term, start, end) for term, (start, end) in zip(terms, placed, strict=True)]


def _features(
    vectorizer: CountVectorizer, placed: list[tuple[str, int, int]]
) -> Iterable[tuple[str, int, int]]:
    """Every occurrence of a feature, in the vocabulary or not, among terms with their positions."""
    if vectorizer.char_ngrams is not None:
        mark = NGRAM_MARK if vectorizer.whole_words else ""
        for term, start, end in placed:
            for feature in character_ngrams(term, *vectorizer.char_ngrams):
                yield mark + feature, start, end
        if not vectorizer.whole_words:
            return
    low, high = vectorizer.ngram_range
    if (low, high) == (1, 1):
        yield from placed
        return
    if (low, high) == (2, 2):
        for (term, start, _), (other, _, end) in itertools.pairwise(placed):
            yield f"{term} {other}", start, end
        return
    for first in range(len(placed)):
        for last in range(first + low - 1, min(first + high, len(placed))):
            feature = " ".join(term for term, _, _ in placed[first : last + 1])
            yield feature, placed[first][1], placed[last][2]


def surface_forms(vectorizer: CountVectorizer, texts: Iterable[str]) -> dict[int, str]:
    """The most frequent written form of each feature in some texts.

    Use this for a few documents. For the training texts, `CountVectorizer.display_names_` has the
    forms already, with n-grams word by word.

    Parameters
    ----------
    vectorizer : CountVectorizer
        Fitted.
    texts : iterable of str

    Returns
    -------
    forms : dict
        Column to words; ties go to the form that occurs first.

    Examples
    --------
    >>> vectorizer = CountVectorizer(stemming="english").fit(["ship sailing"])
    >>> surface_forms(vectorizer, ["Ships! A ship sails.", "Two ships"])
    {1: 'Ships', 0: 'sails'}
    """
    written: dict[int, Counter[str]] = {}
    for text in texts:
        for column, spans in feature_spans(vectorizer, text).items():
            forms = (text[start:end] for start, end in spans)
            written.setdefault(column, Counter()).update(forms)
    return {column: forms.most_common(1)[0][0] for column, forms in written.items()}
