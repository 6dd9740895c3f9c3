from __future__ import annotations

import re
from pathlib import Path

import naive.text as naive
import numpy as np
import pytest
import snowballstemmer
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer as SklearnVectorizer

import manylabel.text
from manylabel.exceptions import InputError, ParameterError
from manylabel.kernels import text_tokens
from manylabel.kernels.compile import Kernel
from manylabel.text import CountVectorizer, blocks
from manylabel.text.spans import feature_spans
from manylabel.text.stop_words import LANGUAGES, stop_words

# Few letters, so that words repeat; some of every kind that a tokenizer may stumble over.
PLAIN = "aAbBcC_19 '-.,\n\t\x00éÉßẞΣσςжЖ中文ש😀²½Ⅷªﬁ\ud800"
MARKED = PLAIN + "İı\u0301\u0307\u093f\u0915\u094d\ufe0f\u20e3\u200d"
PROSE = ["The ship sails at dawn.", "", "Ships sailing, a ship: the SHIP!", "dawn — 2 ships"]


def texts_of(alphabet: str, **sizes):
    text = st.one_of(st.text(alphabet, max_size=30), st.text(max_size=10))
    return st.lists(text, max_size=8, **sizes)


def assert_same(ours: CountVectorizer, counts, names, expected):
    assert ours.get_feature_names_out().tolist() == list(names)
    assert counts.has_canonical_format
    assert counts.dtype == np.float64
    np.testing.assert_array_equal(counts.toarray(), expected)


def try_fit(vectorizer, texts):
    """Counts, or None where no feature is left."""
    try:
        return vectorizer.fit_transform(texts)
    except ValueError:
        return None


def without_marks(text: str) -> str:
    """Leaves out what scikit-learn treats differently: marks, İ, whose lower case has one, and Σ.

    The lower case of Σ depends on what follows it, even in the next word.
    """
    return "".join(c for c in text if c not in "İΣ" and not naive.is_mark(c))


@pytest.fixture(scope="module", autouse=True)
def small_blocks():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "_BLOCK_CHARACTERS", 20)
        # All tests but one let the kernels count.
        patch.setattr(blocks, "_FEW_CHARACTERS", 0)
        patch.setattr(blocks, "_FEW_WORDS", 0)
        patch.setattr(blocks, "_n_split", [0, 0])
        yield


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"lowercase": False},
        {"ngram_range": (1, 3)},
        {"ngram_range": (2, 2)},
        {"stop_words": ["aa", "bb", "ab"]},
        {"stop_words": ["aa", "b1", "ab"], "ngram_range": (1, 2)},
        {"min_df": 2},
        {"min_df": 0.4, "max_df": 0.9},
        {"max_df": 2},
    ],
    ids=str,
)
@given(texts=texts_of(PLAIN))
def test_counts_are_scikit_learns_on_texts_without_marks(options, texts):
    texts = [without_marks(text) for text in texts]
    ours, theirs = CountVectorizer(**options), SklearnVectorizer(**options)
    counts, expected = try_fit(ours, texts), try_fit(theirs, texts)
    assert (counts is None) == (expected is None)
    if counts is not None:
        assert_same(ours, counts, theirs.get_feature_names_out(), expected.toarray())


@pytest.mark.parametrize("min_length", [1, 2, 4])
@pytest.mark.parametrize("n_jobs", [1, 2])
@given(texts=texts_of(MARKED, min_size=1))
def test_counts_are_those_of_plain_loops_on_any_text(min_length, n_jobs, texts):
    documents = [naive.document_features(text, min_length=min_length) for text in texts]
    features = naive.vocabulary(documents)
    ours = CountVectorizer(min_length=min_length, n_jobs=n_jobs)
    counts = try_fit(ours, texts)
    assert (counts is None) == (features == [])
    if counts is not None:
        assert_same(ours, counts, features, naive.counts(documents, features))


@given(texts=texts_of(MARKED, min_size=1), max_features=st.integers(1, 4))
def test_of_equally_frequent_features_the_first_are_kept(texts, max_features):
    documents = [naive.document_features(text) for text in texts]
    features = naive.vocabulary(documents, max_features=max_features)
    ours = CountVectorizer(max_features=max_features)
    counts = try_fit(ours, texts)
    if counts is not None:
        assert_same(ours, counts, features, naive.counts(documents, features))


@pytest.mark.parametrize("char_ngrams", [(1, 1), (2, 4), (5, 7)])
@given(words=st.lists(st.lists(st.text("abcé", min_size=2), max_size=5), min_size=1, max_size=5))
def test_character_ngrams_are_scikit_learns_on_plain_words(char_ngrams, words):
    texts = [" ".join(document) for document in words]
    ours = CountVectorizer(char_ngrams=char_ngrams)
    theirs = SklearnVectorizer(analyzer="char_wb", ngram_range=char_ngrams)
    counts, expected = try_fit(ours, texts), try_fit(theirs, texts)
    assert (counts is None) == (expected is None)
    if counts is not None:
        assert_same(ours, counts, theirs.get_feature_names_out(), expected.toarray())


def test_english_stop_words_are_scikit_learns():
    ours, theirs = (kind(stop_words="english") for kind in (CountVectorizer, SklearnVectorizer))
    expected = theirs.fit_transform(PROSE).toarray()
    assert_same(ours, ours.fit_transform(PROSE), theirs.get_feature_names_out(), expected)


@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2)])
def test_stop_words_go_before_stemming(ngram_range):
    stem = snowballstemmer.stemmer("english").stemWord
    documents = [
        naive.document_features(text, stop_words=["ships", "the"], stem=stem, ngrams=ngram_range)
        for text in PROSE
    ]
    features = naive.vocabulary(documents)
    ours = CountVectorizer(
        stop_words=["Ships", "the"], stemming="english", ngram_range=ngram_range, n_jobs=2
    )
    assert_same(ours, ours.fit_transform(PROSE), features, naive.counts(documents, features))
    assert "ship" in features


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_list_of_stop_words_names_a_language_of_the_stemmers(language):
    assert language in snowballstemmer.algorithms()
    listed = sorted(stop_words(language))
    assert listed == [word.lower() for word in listed]
    ours = CountVectorizer(stop_words=language).fit([" ".join(listed), "xyz"])
    assert list(ours.vocabulary_) == ["xyz"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_list_of_stop_words_names_its_source_and_licence(language):
    folder = Path(manylabel.text.__file__).with_name("stop_lists")
    head = (folder / f"{language}.txt").read_text(encoding="utf-8").partition("\n# see")[0]
    head = "\n".join(line for line in head.splitlines() if line.startswith("#"))
    assert re.search(r"Snowball project, https://|scikit-learn's ENGLISH_STOP_WORDS", head)
    assert "BSD 3-clause licence" in head
    assert {path.stem for path in folder.glob("*.txt")} == set(LANGUAGES)


def test_the_english_list_is_that_of_scikit_learn():
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    assert stop_words("english") == ENGLISH_STOP_WORDS


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("हिन्दी में", ["में", "हिन्दी"]),
        ("cafe\u0301 CAFÉ", ["cafe\u0301", "café"]),
        ("İstanbul'da", ["da", "i\u0307stanbul"]),
        ("Straße STRASSE", ["strasse", "straße"]),
        ("ΟΔΟΣ οδος", ["οδος"]),
        ("l'État e-mail", ["mail", "état"]),
        ("I ❤️ 10️⃣ 👩‍🚀ab", ["10\ufe0f", "ab"]),
    ],
)
def test_words_of_many_scripts_stay_whole(text, words):
    assert list(CountVectorizer().fit([text]).vocabulary_) == words


@given(train=texts_of(MARKED), texts=texts_of(MARKED))
def test_unknown_words_are_left_out(train, texts):
    ours = CountVectorizer(ngram_range=(1, 2), n_jobs=2).fit(["aa bb 😀 ab", *train])
    documents = [naive.document_features(text, ngrams=(1, 2)) for text in texts]
    counts = ours.transform(texts)
    assert counts.shape == (len(texts), len(ours.vocabulary_))
    assert_same(
        ours,
        counts,
        ours.vocabulary_,
        np.reshape(naive.counts(documents, ours.vocabulary_), counts.shape),
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"stemming": "english", "ngram_range": (1, 2)},
        {"char_ngrams": (2, 3)},
        {"char_ngrams": (2, 3), "whole_words": True},
        {"lead": 3, "lead_weight": 4},
        {"lead": 3, "lead_only": True, "ngram_range": (1, 2)},
        {"min_df": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_transforming_the_training_texts_gives_their_counts(options, n_jobs):
    one = CountVectorizer(**options)
    expected = one.fit_transform(iter(PROSE))
    many = clone(one).set_params(n_jobs=n_jobs)
    for counts in (many.fit_transform(PROSE), many.transform(iter(PROSE))):
        assert (counts != expected).nnz == 0
        assert counts.has_canonical_format
    assert many.vocabulary_ == one.vocabulary_
    assert many.display_names_.tolist() == one.display_names_.tolist()


@pytest.mark.parametrize(
    "options",
    [
        {"lowercase": False},
        {"stop_words": ["aa", "b1", "ab"], "ngram_range": (1, 2)},
        {"char_ngrams": (2, 3), "whole_words": True},
        {"min_length": 1, "lead": 3, "lead_weight": 2},
    ],
    ids=str,
)
@given(texts=texts_of(MARKED))
def test_few_texts_are_counted_without_kernels_to_the_same_result(options, texts):
    ours, other = CountVectorizer(**options), CountVectorizer(**options)
    expected = try_fit(other, texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "_FEW_CHARACTERS", 1000)
        patch.setattr(Kernel, "is_compiled", False)
        patch.setattr(blocks, "_FEW_WORDS", 1000)
        counts = try_fit(ours, texts)
    assert (counts is None) == (expected is None)
    if counts is not None:
        assert_same(ours, counts, other.get_feature_names_out(), expected.toarray())
        assert counts.indices.dtype == expected.indices.dtype
        assert ours.display_names_.tolist() == other.display_names_.tolist()


def test_the_first_characters_of_a_process_are_split_without_kernels(monkeypatch):
    called = []
    kernel = text_tokens.tokenize

    def tokenize(*arguments):
        called.append(True)
        return kernel(*arguments)

    monkeypatch.setattr(text_tokens, "tokenize", tokenize)
    monkeypatch.setattr(blocks, "_n_split", [0, 20])
    found = []
    for _ in range(3):
        sequence, pointers, words = blocks.find_tokens(["one two", "two"], 2)
        found.append((sequence.tolist(), pointers.tolist(), words, len(called)))
    expected = [0, 1, 1], [0, 2, 3], ["one", "two"]
    assert found == [(*expected, 0), (*expected, 1), (*expected, 2)]


def test_the_disk_is_rarely_asked_for_kernels(monkeypatch):
    asked = []

    class Missing:
        @property
        def is_compiled(self):
            asked.append(True)
            return False

    monkeypatch.setattr(text_tokens, "tokenize", Missing())
    monkeypatch.setattr(blocks, "_FEW_CHARACTERS", 1000)
    monkeypatch.setattr(blocks, "_PATIENCE", 20)
    monkeypatch.setattr(blocks, "_n_split", [0, 20])
    for _ in range(8):  # of ten characters each
        assert blocks.find_tokens(["one two", "two"], 2)[2] == ["one", "two"]
    assert len(asked) == 4


def test_a_vocabulary_larger_than_the_first_hash_table_is_counted_exactly():
    words = [f"w{i}" for i in range(20_000)]
    text = " ".join(words)
    ours = CountVectorizer(ngram_range=(1, 2))
    counts = ours.fit_transform([text, text + " " + words[0]])
    assert counts.shape == (2, 20_000 + 19_999 + 1)
    assert counts[:, [ours.vocabulary_["w0"]]].toarray().ravel().tolist() == [1, 2]
    assert counts.sum() == 2 * (20_000 + 19_999) + 2


def test_display_names_are_the_words_most_often_written():
    texts = ["Ships sail to Paris", "the Ships sailing", "sailing a ship to PARIS", "Paris"]
    ours = CountVectorizer(stemming="english", stop_words=["to", "the"], ngram_range=(1, 2))
    ours.fit(texts)
    shown = dict(zip(ours.vocabulary_, ours.display_names_, strict=True))
    assert shown == {
        "pari": "Paris",
        "sail": "sailing",
        "sail pari": "sailing Paris",
        "sail ship": "sailing Ships",
        "ship": "Ships",
        "ship pari": "Ships Paris",
        "ship sail": "Ships sailing",
    }


def test_display_names_of_character_ngrams_are_the_ngrams():
    ours = CountVectorizer(char_ngrams=(2, 2)).fit(["Ship"])
    assert ours.display_names_.tolist() == [" s", "hi", "ip", "p ", "sh"]


def test_character_n_grams_differ_from_whole_words():
    ours = CountVectorizer(char_ngrams=(4, 4), whole_words=True)
    counts = ours.fit_transform(["ship Leadership", "ship"])
    assert counts[:, [ours.vocabulary_["ship"]]].toarray().ravel().tolist() == [1, 1]
    assert counts[:, [ours.vocabulary_["~ship"]]].toarray().ravel().tolist() == [2, 1]
    shown = dict(zip(ours.vocabulary_, ours.display_names_, strict=True))
    assert (shown["leadership"], shown["~ship"]) == ("Leadership", "~ship")


def test_the_first_words_of_a_text_count_more():
    ours = CountVectorizer(lead=3, lead_weight=4, stop_words=["the"])
    counts = ours.fit_transform(["the ship sails the sea", "sea", ""])
    assert ours.get_feature_names_out().tolist() == ["sails", "sea", "ship"]
    assert counts.toarray().tolist() == [[4, 1, 4], [0, 4, 0], [0, 0, 0]]


@given(
    st.lists(st.lists(st.sampled_from(["the", "ship", "sails", "sea"]), max_size=9), min_size=1),
    st.integers(1, 4),
    st.integers(1, 3),
    st.integers(1, 3),
)
def test_phrases_at_the_beginning_of_a_text_count_more(documents, lead, weight, n):
    texts = [" ".join(words) for words in documents]
    expected = [naive.lead_counts(text, lead, weight, n, ["the"]) for text in texts]
    assume(any(expected))
    ours = CountVectorizer(lead=lead, lead_weight=weight, ngram_range=(n, n), stop_words=["the"])
    counts = ours.fit_transform(texts).toarray()
    names = ours.get_feature_names_out()
    for row, counted in zip(counts, expected, strict=True):
        assert {name: value for name, value in zip(names, row, strict=True) if value} == counted


@given(
    st.lists(st.lists(st.sampled_from(["the", "ship", "sails", "sea"]), max_size=9), min_size=1),
    st.integers(1, 4),
    st.sampled_from([(1, 1), (1, 2), (2, 2), (1, 3)]),
)
def test_what_comes_after_the_first_words_can_be_left_out(documents, lead, sizes):
    texts = [" ".join(words) for words in documents]
    cut = [naive.first_words(text, lead) for text in texts]
    shared = {"ngram_range": sizes, "stop_words": ["the"]}
    expected = CountVectorizer(**shared)
    try:
        counts = expected.fit_transform(cut)
    except InputError:
        return
    ours = CountVectorizer(lead=lead, lead_weight=3, lead_only=True, **shared)
    assert (ours.fit_transform(texts) != counts).nnz == 0
    assert ours.vocabulary_ == expected.vocabulary_
    assert (ours.transform(texts) != counts).nnz == 0
    for text, beginning in zip(texts, cut, strict=True):
        assert feature_spans(ours, text) == feature_spans(expected, beginning)


def test_no_text_gives_no_rows():
    assert CountVectorizer().fit(["ship"]).transform([]).shape == (0, 1)
    assert CountVectorizer().fit(["ship"]).transform(["", "?"]).nnz == 0


def test_progress_goes_to_stderr(capsys):
    CountVectorizer(verbose=True).fit(iter(PROSE))
    captured = capsys.readouterr()
    assert "Counting words" in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        (
            ["ab", "cd" * 20, None],
            {},
            "every text must be a str; text 2 is NoneType. "
            "Decode bytes and replace missing texts with ''.",
        ),
        ("ab cd", {}, "texts must be a list of str, one per document; got a single str."),
        ([], {}, "no texts to learn from; give at least one."),
        (
            ["a b", "THE the"],
            {"stop_words": "english"},
            "the vocabulary is empty: 2 documents without a word of at least 2 characters that is "
            "not a stop word; give other texts, lower `min_length` or drop `stop_words`.",
        ),
        (
            ["ab cd", "ef"],
            {"min_df": 2},
            "the vocabulary is empty: none of 3 features occurs in `min_df`=2 to `max_df`=1.0 of "
            "2 documents; lower `min_df` or raise `max_df`.",
        ),
    ],
)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_texts_that_cannot_be_used_are_refused(texts, options, message, n_jobs):
    with pytest.raises(InputError) as error:
        CountVectorizer(**options, n_jobs=n_jobs).fit(texts)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_df": 0}, "`min_df` must be a whole number of at least 1; got 0."),
        ({"max_df": 1.5}, "`max_df` must be a number between 0 and 1; got 1.5."),
        ({"max_features": 0}, "`max_features` must be a whole number of at least 1; got 0."),
        ({"min_length": 0}, "`min_length` must be a whole number of at least 1; got 0."),
        (
            {"ngram_range": (2, 1)},
            "`ngram_range` must be a pair of whole numbers, 1 <= minimum <= maximum; got (2, 1).",
        ),
        (
            {"char_ngrams": 3},
            "`char_ngrams` must be a pair of whole numbers, 1 <= minimum <= maximum; got 3.",
        ),
        (
            {"char_ngrams": (2, 3), "ngram_range": (1, 2)},
            "`char_ngrams` counts character n-grams of words, so `ngram_range` must be (1, 1); "
            "got (1, 2).",
        ),
        (
            {"lead": 5, "ngram_range": (1, 2)},
            "`lead` needs features of one length, so `ngram_range` must be a pair of equal "
            "numbers, such as (1, 1); got (1, 2).",
        ),
        ({"lead_weight": 0}, "`lead_weight` must be a whole number of at least 1; got 0."),
        (
            {"lead_only": True},
            "`lead_only` leaves out what comes after the first `lead` words, so `lead` must be at "
            "least 1; got 0.",
        ),
        ({"stop_words": [1]}, "`stop_words` must contain strings; got 1."),
        (
            {"stop_words": "klingon"},
            "`stop_words` must be None, a list of words or one of danish, dutch, english, "
            "finnish, french, german, italian, norwegian, portuguese, spanish, swedish; "
            "got 'klingon'.",
        ),
    ],
)
def test_a_bad_parameter_is_refused(options, message):
    with pytest.raises(ParameterError) as error:
        CountVectorizer(**options).fit(PROSE)
    assert str(error.value) == message


def test_an_unknown_language_for_stemming_is_refused_with_those_there_are():
    with pytest.raises(ParameterError, match=r"`stemming` must be .* swedish.*; got 'klingon'\."):
        CountVectorizer(stemming="klingon").fit(PROSE)


def test_transform_needs_fit():
    with pytest.raises(NotFittedError):
        CountVectorizer().transform(PROSE)
