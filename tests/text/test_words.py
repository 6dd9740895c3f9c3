from __future__ import annotations

import sys
import threading

import naive.text as naive
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manylabel.corpus import load_catalogue
from manylabel.kernels.text_tokens import MARK, OTHER, WORD
from manylabel.text.words import (
    RecentWords,
    WordRules,
    character_classes,
    find_words,
    list_words,
    word_rules,
    word_spans,
)

ALPHABET = "aAbB_19 '-.éÉßΣİ中\u0301\u0307\u0915\u093f😀\ud800"


@given(
    text=st.one_of(st.text(ALPHABET, max_size=30), st.text(max_size=15)),
    min_length=st.integers(1, 3),
)
def test_words_stand_where_plain_loops_find_them(text, min_length):
    spans = [match.span() for match in find_words(text, min_length)]
    assert spans == word_spans(text, min_length) == naive.words(text, min_length)
    assert list_words(text, min_length) == [text[start:stop] for start, stop in spans]


def test_every_character_has_the_class_that_unicode_gives_it():
    every = [chr(code) for code in range(sys.maxunicode + 1)]
    expected = bytes(
        WORD if c.isalnum() or c == "_" else MARK if naive.is_mark(c) else OTHER for c in every
    )
    assert character_classes().tobytes() == expected


def test_lower_casing_keeps_a_word_in_one_piece():
    classes = character_classes()
    for code in (classes == WORD).nonzero()[0]:
        first, *rest = chr(code).lower()
        assert classes[ord(first)] == WORD
        assert all(classes[ord(c)] != OTHER for c in rest)


def test_threads_that_share_rules_get_the_stems_of_one():
    words = [f"{stem}{ending}" for stem in ("sail", "ship", "walk") for ending in ("", "s", "ing")]
    expected = WordRules(True, None, "english").terms(words)
    shared = WordRules(True, None, "english")
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(shared.terms(words))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 8


@pytest.mark.parametrize(("lowercase", "terms"), [(True, ["", ""]), (False, ["", "the"])])
def test_stop_words_match_as_words_are_compared(lowercase, terms):
    assert WordRules(lowercase, ["The"], None).terms(["The", "the"]) == terms


def test_stems_are_remembered_up_to_a_limit(monkeypatch):
    monkeypatch.setattr("manylabel.text.words._MIN_CACHED", 2)
    monkeypatch.setattr("manylabel.text.words._TIMES", 1)
    rules = word_rules(True, "english", "english")
    assert rules is word_rules(True, "english", "english")
    for _ in range(3):
        assert rules.terms(["the", "Engines", "running", "ships"]) == ["", "engin", "run", "ship"]
    assert word_rules(True, ["the"], None) is not word_rules(True, ["the"], None)


def test_words_that_recur_are_kept_and_others_dropped(monkeypatch):
    monkeypatch.setattr("manylabel.text.words._MIN_CACHED", 10)
    monkeypatch.setattr("manylabel.text.words._TIMES", 1)
    lengths, computed = RecentWords(), []

    def compute(words):
        computed.extend(words)
        return map(len, words)

    for number in range(200):
        words = ["ship", f"word{number}", "ship"]
        assert lengths.of(words, compute) == [4, len(words[1]), 4]
        assert len(lengths) <= 2 * 12
    assert computed.count("ship") == 1
    assert lengths.of(["word0"], compute) == [5]
    assert computed.count("word0") == 2


def test_long_words_are_dropped_soon():
    lengths = RecentWords()
    for number in range(10):
        lengths.of([f"{'a' * 2_000_000}{number}", "ship"], lambda new: map(len, new))
    assert len(lengths) <= 4


def test_compiled_stemmers_give_the_stems_of_those_in_python():
    compiled = pytest.importorskip("Stemmer")
    from snowballstemmer.english_stemmer import EnglishStemmer
    from snowballstemmer.finnish_stemmer import FinnishStemmer

    texts = load_catalogue("test").texts[:40]
    words = sorted({word.lower() for text in texts for word in list_words(text)} | {"", "öljyä"})
    for language, in_python in (("english", EnglishStemmer()), ("finnish", FinnishStemmer())):
        assert compiled.Stemmer(language).stemWords(words) == in_python.stemWords(words)
