from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from manylabel.text import CountVectorizer, feature_spans, surface_forms

ALPHABET = "aAbB_19 '-.éÉßΣİ中\u0301\u0307\u0915\u093f😀\ud800"
TEXT = st.one_of(st.text(ALPHABET, max_size=30), st.text(max_size=15))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"lowercase": False},
        {"stop_words": ["aa", "bb"], "ngram_range": (1, 3)},
        {"stemming": "english", "ngram_range": (2, 2)},
        {"char_ngrams": (2, 3)},
        {"char_ngrams": (2, 3), "whole_words": True},
        {"min_length": 1, "stemming": "german"},
    ],
    ids=str,
)
@given(text=TEXT, other=TEXT)
def test_every_count_has_its_span(options, text, other):
    vectorizer = CountVectorizer(**options).fit(["aaß aB éé bb aB", other])
    counts = vectorizer.transform([text]).toarray()[0]
    spans = feature_spans(vectorizer, text)
    found = np.zeros_like(counts)
    for column, places in spans.items():
        found[column] = len(places)
        assert places == sorted(places)
    np.testing.assert_array_equal(found, counts)


@given(text=TEXT)
def test_the_words_at_a_span_give_the_feature(text):
    vectorizer = CountVectorizer(ngram_range=(1, 2), stemming="english").fit(["aa bb", text])
    names = vectorizer.get_feature_names_out()
    for column, places in feature_spans(vectorizer, text).items():
        for start, end in places:
            assert vectorizer.transform([text[start:end]])[0, column] == 1, names[column]


def test_spans_point_at_the_words_as_written():
    vectorizer = CountVectorizer(stemming="english", stop_words="english", ngram_range=(1, 2))
    vectorizer.fit(["the running of the ships"])
    text = "İ: RUNNING the Ships’ run, ship"
    written = {
        vectorizer.get_feature_names_out()[column]: [text[start:end] for start, end in places]
        for column, places in feature_spans(vectorizer, text).items()
    }
    assert written == {
        "run": ["RUNNING", "run"],
        "run ship": ["RUNNING the Ships", "run, ship"],
        "ship": ["Ships", "ship"],
    }


def test_surface_forms_are_the_most_frequent_ways_of_writing():
    vectorizer = CountVectorizer(stemming="english").fit(["ship", "sail"])
    forms = surface_forms(vectorizer, ["Ships ships", "ships sailing", "no such word"])
    assert forms == {
        vectorizer.vocabulary_["ship"]: "ships",
        vectorizer.vocabulary_["sail"]: "sailing",
    }


def test_spans_need_a_fitted_vectorizer():
    with pytest.raises(NotFittedError):
        feature_spans(CountVectorizer(), "ship")
