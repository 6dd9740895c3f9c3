"""One text at a time: the counts of `transform`, whatever was read before."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manylabel.text import CountVectorizer
from manylabel.text import single as module
from manylabel.text.single import SingleTexts

WORDS = ["the", "Ship", "ships", "sailing", "sails", "İstanbul", "naïve", "x", "État", "ice"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=20).map(" ".join)


def fitted(lead: int = 0, weight: int = 1, **more) -> list[CountVectorizer]:
    rules = {"stop_words": "english", "stemming": "english", "lead": lead, "lead_weight": weight}
    texts = [" ".join(WORDS), "ships sail in the ice and the ice sails", "naïve État ships"]
    views = [{"ngram_range": (1, 1)}, {"ngram_range": (2, 2)}]
    if lead:
        views.append({"ngram_range": (1, 2), "lead_only": True})
    views.append({"char_ngrams": (3, 4)})
    views.append({"char_ngrams": (4, 4), "whole_words": True})
    return [CountVectorizer(**rules | more | view).fit(texts) for view in views]


def same(counts, expected) -> None:
    assert counts.shape == expected.shape
    assert (counts.indices.tolist(), counts.data.tolist(), counts.indptr.tolist()) == (
        expected.indices.tolist(),
        expected.data.tolist(),
        expected.indptr.tolist(),
    )
    assert counts.dtype == expected.dtype
    assert counts.indices.dtype == expected.indices.dtype


@given(st.lists(TEXTS, min_size=1, max_size=10), st.integers(0, 6), st.integers(1, 4))
def test_counts_are_those_of_transform(texts, lead, weight):
    vectorizers = fitted(lead, weight)
    assert SingleTexts.can_read(vectorizers)
    single = SingleTexts(vectorizers)
    for text in texts:
        for counts, vectorizer in zip(single.count([text]), vectorizers, strict=True):
            same(counts, vectorizer.transform([text]))
    for counts, vectorizer in zip(single.count(texts), vectorizers, strict=True):
        same(counts, vectorizer.transform(texts))


@given(st.lists(TEXTS, min_size=1, max_size=10))
def test_long_texts_are_read_as_short_ones_are(texts):
    single = SingleTexts(fitted())
    short = [single.count([text]) for text in texts]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("manylabel.text.single._LONG", 0)
        for text, expected in zip(texts, short, strict=True):
            for counts, others in zip(single.count([text]), expected, strict=True):
                same(counts, others)


def test_other_features_are_left_to_transform():
    assert not SingleTexts.can_read([CountVectorizer(ngram_range=(1, 3)).fit(["ice ships"])])
    words, *_ = fitted()
    other = CountVectorizer().fit(["ships"])
    assert not SingleTexts.can_read([words, other])


def test_forgotten_features_are_not_counted():
    vectorizers = fitted()
    single = SingleTexts(vectorizers)
    assert single.is_for(vectorizers)
    for vectorizer in vectorizers[1:]:
        vectorizer.forget_features(np.array([0, 1]))
    assert not single.is_for(vectorizers)
    again = SingleTexts(vectorizers)
    for _ in range(3):
        for counts, vectorizer in zip(again.count([" ".join(WORDS)]), vectorizers, strict=True):
            same(counts, vectorizer.transform([" ".join(WORDS)]))


def test_words_are_not_remembered_for_ever(monkeypatch):
    monkeypatch.setattr(module, "_MAX_WORDS", 5)
    vectorizers = fitted()
    single = SingleTexts(vectorizers)
    for number in range(30):
        text = f"ships word{number} sail in the ice{number}"
        for counts, vectorizer in zip(single.count([text]), vectorizers, strict=True):
            same(counts, vectorizer.transform([text]))
    assert len(single._terms.numbers) <= 5 + 6


def test_long_words_are_not_remembered(monkeypatch):
    monkeypatch.setattr(module, "_MAX_CHARACTERS", 1_000)
    single = SingleTexts(fitted())
    for number in range(5):
        single.count([f"ships {'ice' * 1_000}{number}"])
    assert sum(map(len, single._terms.numbers)) < 2 * 3_010


@pytest.mark.parametrize("n_threads", [8])
def test_threads_may_read_at_the_same_time(n_threads):
    vectorizers = fitted()
    single = SingleTexts(vectorizers)
    texts = [f"ships sail number{number % 7} in the ice" for number in range(200)]
    expected = [[v.transform([text]).toarray().tolist() for v in vectorizers] for text in texts]
    wrong: list[str] = []

    def read() -> None:
        for text, known in zip(texts, expected, strict=True):
            if [counts.toarray().tolist() for counts in single.count([text])] != known:
                wrong.append(text)

    threads = [threading.Thread(target=read) for _ in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
