import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.names import find_names, rest, split_passages

from manylabel.exceptions import StoreError
from manylabel.text.words import find_words
from manylabel.vocabulary import NameMatcher
from manylabel.vocabulary.matching import GAPS, split_qualifier

WORDS = ["red", "cat", "sea", "law", "art"]
words = st.lists(st.sampled_from(WORDS), max_size=6)


def found(matcher, texts):
    matches = matcher.find(texts)
    rows = zip(
        matches.documents, matches.passages, matches.names, matches.starts, matches.stops,
        matches.covered, strict=True,
    )  # fmt: skip
    return sorted((int(d), int(p), int(n), int(a), int(b), bool(c)) for d, p, n, a, b, c in rows)


@settings(max_examples=200, deadline=None)
@given(st.lists(words, max_size=6), st.lists(words, max_size=4))
def test_names_are_found_as_by_looking_for_each_at_each_word(names, texts):
    matcher = NameMatcher([" ".join(name) for name in names])
    expected = find_names(names, texts, GAPS)
    mine = found(matcher, [" ".join(text) for text in texts])
    assert mine == [(p, 0, n, a, b, c) for p, n, a, b, c in expected]


@settings(max_examples=50, deadline=None)
@given(st.lists(words, max_size=4), st.lists(words, min_size=1, max_size=4))
def test_sentences_are_passages_of_their_own(names, sentences):
    matcher = NameMatcher([" ".join(name) for name in names])
    mine = found(matcher, [". ".join(" ".join(sentence) for sentence in sentences)])
    before = np.concatenate([[0], np.cumsum([len(sentence) for sentence in sentences])])
    expected = find_names(names, sentences, GAPS)
    assert mine == [
        (0, p, n, int(a + before[p]), int(b + before[p]), c) for p, n, a, b, c in expected
    ]


SIGNS = [
    "a",
    "b.",
    ".",
    "!?",
    ":",
    "c",
    " ",
    "  ",
    "\n",
    "\r\n",
    "-",
    " - ",
    "–",
    " — ",
    "/",
    "\u3000",
]
SIGNS += ["\u2009", "\xa0", "\x85", "é", "日", "\u2028", "🙂"]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.sampled_from(SIGNS), max_size=9).map("".join), max_size=3))
def test_texts_are_split_where_sentences_lines_and_dashes_are(texts):
    tokens = NameMatcher(["cats"]).tokens(texts)
    passages = [split_passages(text) for text in texts]
    assert np.diff(tokens.sentences).tolist() == [len(each) for each in passages]
    n_words = [len(list(find_words(one, 1))) for each in passages for one in each]
    assert np.diff(tokens.pointers).tolist() == n_words


LETTERS = st.text("aAéÉßi日", min_size=1, max_size=4)


@settings(max_examples=200, deadline=None)
@given(LETTERS, LETTERS)
def test_how_far_a_word_is_from_a_name_is_counted_in_letters(written, name):
    matcher = NameMatcher([name])
    matcher._known.of([written.lower()], lambda new: [0])  # as if they had the same stem
    found = matcher.find([written])
    assert found.rest.tolist() == [rest(written.lower(), name.lower())]


def test_damaged_names_are_refused():
    matcher = NameMatcher(["cats", "big dogs"])
    matcher.names_by_node = matcher.names_by_node + 5
    with pytest.raises(StoreError, match="the names of labels are damaged; restore the folder"):
        matcher.find(["cats"])


def test_stems_gaps_and_order():
    matcher = NameMatcher(["unmanned aircraft", "aircraft", "art history"], "english")
    names = [matcher.names[m[2]] for m in found(matcher, ["Unmanned military aircrafts"])]
    assert sorted(names) == ["aircraft", "unmanned aircraft"]
    assert found(matcher, ["the history of art"]) == []
    assert len(found(matcher, ["unmanned big military aircraft"])) == 1  # aircraft alone


def test_a_longer_name_covers_a_shorter_one():
    matcher = NameMatcher(["air", "air traffic"], "english")
    assert found(matcher, ["air traffic"]) == [(0, 0, 0, 0, 1, True), (0, 0, 1, 0, 2, False)]


def test_a_qualifier_is_not_demanded():
    assert split_qualifier("coaches (occupations)") == ("coaches", "occupations")
    assert split_qualifier("(occupations)") == ("(occupations)", "")
    matcher = NameMatcher(["coaches (occupations)"], "english")
    assert len(found(matcher, ["a coach"])) == 1


def test_how_far_words_are_from_the_name():
    matcher = NameMatcher(["socialism", "cats"], "english")
    matches = matcher.find(["social cat cats"])
    rest = {(matcher.names[n], int(r)) for n, r in zip(matches.names, matches.rest, strict=True)}
    assert rest == {("socialism", 3), ("cats", 1), ("cats", 0)}


@pytest.mark.parametrize("text", ["", " ", "...", "\n", "🙂"])
def test_nothing_is_found_in_nothing(text):
    assert found(NameMatcher(["cats"], "english"), [text]) == []
    assert found(NameMatcher([], "english"), [text]) == []


def test_spans_are_those_of_words():
    text = "A cat, two cats"
    assert [text[a:b] for a, b in NameMatcher(["cat"]).spans(text)] == ["A", "cat", "two", "cats"]
