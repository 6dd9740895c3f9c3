from __future__ import annotations

import numpy as np
import pytest

from manylabel import CountVectorizer, Tagger
from manylabel.corpus import Corpus
from manylabel.exceptions import ParameterError
from manylabel.tagger import features
from manylabel.tagger.features import choose_features


@pytest.fixture
def few(monkeypatch):
    """Let features be chosen on few documents."""
    monkeypatch.setattr(features, "_MIN_DOCUMENTS", 100)


def titles(seed: int = 0, n: int = 300) -> Corpus:
    """Short texts whose words are hardly ever the same, but have the same beginnings."""
    rng = np.random.default_rng(seed)
    stems, ends = ["marin", "fores", "mount", "desert"], list("abcdefghijklmnopqrst")
    kinds = rng.integers(0, 4, n)
    texts = [f"{stems[kind]}{''.join(rng.choice(ends, 4))}" for kind in kinds]
    return Corpus.from_texts(texts, [[stems[kind]] for kind in kinds])


def articles(seed: int = 0, n: int = 300) -> Corpus:
    """Long texts that say in the first lines what they are about, and other things later."""
    rng = np.random.default_rng(seed)
    subjects = [f"subject{i}" for i in range(12)]
    kinds = rng.integers(0, 12, n)
    texts = [
        " ".join([subjects[kind]] * 3 + ["word"] * 47 + rng.choice(subjects, 60).tolist())
        for kind in kinds
    ]
    return Corpus.from_texts(texts, [[subjects[kind]] for kind in kinds])


def chosen_for(corpus: Corpus, vectorizer: CountVectorizer | None = None) -> CountVectorizer:
    def texts(rows):
        return [corpus.texts[row] for row in rows]

    return choose_features(texts, corpus.Y, vectorizer or CountVectorizer(), None)


@pytest.mark.usefixtures("few")
def test_character_n_grams_are_counted_where_whole_words_say_little():
    chosen = chosen_for(titles())
    assert (chosen.char_ngrams, chosen.whole_words) == ((4, 4), True)


@pytest.mark.usefixtures("few")
def test_first_words_weigh_more_where_they_name_the_subject():
    assert chosen_for(articles()).lead == 50


@pytest.mark.usefixtures("few")
def test_what_does_not_pay_is_left_out():
    rng = np.random.default_rng(0)
    words = ["sea", "forest", "hill", "desert"]
    kinds = rng.integers(0, 4, 300)
    corpus = Corpus.from_texts([words[k] for k in kinds], [[words[k]] for k in kinds])
    plain = CountVectorizer()
    assert chosen_for(corpus, plain) is plain


def test_few_documents_are_counted_by_words():
    plain = CountVectorizer()
    assert chosen_for(titles(), plain) is plain


@pytest.mark.usefixtures("few")
def test_a_tagger_chooses_unless_told_otherwise():
    corpus = titles()
    chosen = Tagger(language=None).fit(corpus)
    words = Tagger(language=None, features="words").fit(corpus)
    own = Tagger(language=None, vectorizer={"char_ngrams": (3, 3)}).fit(corpus)
    assert [t._state.vectorizer.char_ngrams for t in (chosen, words, own)] == [
        (4, 4),
        None,
        (3, 3),
    ]
    assert chosen.suggest("marinade", top=1).labels == ["marin"]
    assert "marinade" in str(chosen.explain("marinade", top=1))


def test_other_features_are_refused():
    with pytest.raises(ParameterError) as error:
        Tagger(features="all")
    assert str(error.value) == "`features` must be 'auto' or 'words'; got 'all'."
