"""Labels that share words with a text."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.names import share_words
from scipy import sparse

from manylabel.kernels import vocabulary_words
from manylabel.scoring import Documents
from manylabel.vocabulary import LabelNames
from manylabel.vocabulary.name_clues import look_for_names, names_in
from manylabel.vocabulary.name_words import Rarity, count_words

WORDS = ["red", "cat", "sea", "law", "art"]
words = st.lists(st.sampled_from(WORDS), max_size=5)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(words, max_size=6),
    st.lists(st.lists(st.sampled_from([*WORDS, "sky"]), max_size=6), max_size=3),
    st.lists(st.integers(0, 3), min_size=6, max_size=6),
    st.integers(1, 4),
    st.integers(1, 3),
)
def test_labels_share_words_as_by_looking_at_every_name(
    names, texts, columns, most_names, most_terms
):
    named = LabelNames([" ".join(n) for n in names], columns[: len(names)], [0] * len(names), 4)
    matcher, columns = named.matcher, named.columns.tolist()
    # Powers of two add up exactly, in any order.
    weight = {word: 2.0**position for position, word in enumerate(WORDS)}
    rarity = np.array([weight[term] for term in matcher.terms], np.float64)
    tokens = matcher.tokens([" ".join(text) for text in texts])
    counts, labels, best, found, total = vocabulary_words.share_words(
        tokens.terms, tokens.bounds, most_names, most_terms, *matcher.term_names,
        matcher.name_ptr, matcher.name_terms, named.columns, rarity, 4,
    )  # fmt: skip
    ends = np.cumsum(counts)
    for text, begin, end in zip(texts, ends - counts, ends, strict=True):
        mine = {
            int(labels[i]): (int(best[i]), float(found[i]), float(total[i]))
            for i in range(begin, end)
        }
        assert mine == share_words(names, columns, text, weight, most_names, most_terms)


def test_the_answer_does_not_depend_on_threads_or_blocks(monkeypatch):
    monkeypatch.setattr("manylabel.vocabulary.name_clues.BLOCK", 3)
    named = LabelNames(["red cats", "sea law", "art"], [0, 1, 2], [0, 0, 1], 3, "english")
    texts = ["a red sea", "cat art", "", "laws of the sea", "art", "cats", "red", "red art"]
    rarity = count_words(named, texts)
    whole = look_for_names(named, rarity.of(named), texts).named
    for n_jobs in (1, 2):
        documents = Documents(sparse.csr_array((len(texts), 1)), texts=texts)
        for mine, other in zip(names_in(documents, named, rarity, n_jobs), whole, strict=True):
            assert (mine != other).nnz == 0


def test_words_count_where_there_is_no_whole_name():
    named = LabelNames(["sea law", "law"], [0, 1], [0, 0], 2, "english")
    looked = look_for_names(named, np.ones(2), ["The law of the sea", "Sea law"])
    assert looked.pattern.toarray().tolist() == [[1, 1], [1, 1]]
    assert looked.in_found.tolist() == [-1, 0, 1, 2]
    assert looked.in_shared.tolist() == [0, -1, -1, -1]


def test_rarity_follows_words_to_another_vocabulary():
    first = LabelNames(["red cats", "sea law"], [0, 1], [0, 0], 2)
    rarity = Rarity(first.matcher.terms, np.array([5, 0, 900, 2]), 1000)  # cats law red sea
    weights = dict(zip(first.matcher.terms, rarity.of(first), strict=True))
    other = LabelNames(["sky", "red cats", "sea law"], [0, 1, 2], [0, 0, 0], 3)
    moved = dict(zip(other.matcher.terms, rarity.of(other), strict=True))
    assert sorted(moved, key=moved.get)[0] == "red"
    assert moved["red"] == pytest.approx(weights["red"], rel=0.5)
    assert set(moved) == {"sky", *weights}
