"""A Corpus keeps its parts together, whatever is done to it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import stratification as naive

from manylabel.corpus import Corpus
from manylabel.corpus.splitting import stratified_folds
from manylabel.exceptions import InputError, ParameterError
from manylabel.kernels import corpus_stratification

PETS = Corpus(
    [[1, 0, 2], [0, 3, 0], [0, 0, 0], [1, 1, 1]],
    [[1, 0], [1, 1], [0, 0], [0, 1]],
    ids=["a", "b", "c", "d"],
    feature_names=["fur", "purr", "bark"],
    label_names=["cats", "dogs"],
    texts=["one", "two", "three", "four"],
    titles=["I", "II", "III", "IV"],
)


def label_sets(draw_max: int = 6):
    return st.lists(st.sets(st.integers(0, draw_max - 1)), min_size=2, max_size=14)


def indicator(sets: list[set[int]], n_labels: int = 6) -> np.ndarray:
    Y = np.zeros((len(sets), n_labels), int)
    for row, labels in enumerate(sets):
        Y[row, list(labels)] = 1
    return Y


@pytest.mark.parametrize(
    "rows", [slice(1, 3), [1, 2], np.array([1, 2]), [False, True, True, False]]
)
def test_rows_are_chosen_by_slices_integers_and_masks(rows):
    part = PETS[rows]
    assert part.ids == ["b", "c"]
    assert part.texts == ["two", "three"]
    assert part.titles == ["II", "III"]
    assert part.X.toarray().tolist() == [[0, 3, 0], [0, 0, 0]]
    assert part.Y.toarray().tolist() == [[1, 1], [0, 0]]
    assert part.label_names == PETS.label_names


def test_one_row_is_a_corpus_of_one_document():
    assert PETS[-1].ids == ["d"]


def test_rows_out_of_range_are_refused():
    with pytest.raises(InputError, match="invalid row selection"):
        PETS[[7]]


def test_an_unnamed_part_remembers_its_row_numbers():
    assert Corpus(np.eye(3), np.eye(3))[1:].ids == ["1", "2"]


@pytest.mark.parametrize("labels", [["dogs"], [1], slice(1, None), [False, True]])
def test_labels_are_chosen_by_name_and_column(labels):
    part = PETS.select_labels(labels)
    assert part.label_names == ["dogs"]
    assert part.Y.toarray().tolist() == [[0], [1], [0], [1]]


def test_no_labels_may_be_chosen():
    assert PETS.select_labels([]).Y.shape == (4, 0)


def test_an_unknown_label_is_named():
    with pytest.raises(InputError, match=r"unknown name 'cows' in `labels` \(2 names known\)"):
        PETS.select_labels(["cows"])


def test_align_moves_drops_and_adds_columns():
    moved = PETS.align_to(["dogs", "birds"], ["bark", "fur", "song"])
    assert moved.Y.toarray().tolist() == [[0, 0], [1, 0], [0, 0], [1, 0]]
    assert moved.X.toarray().tolist() == [[2, 1, 0], [0, 0, 0], [0, 0, 0], [1, 1, 0]]
    assert moved.feature_names == ["bark", "fur", "song"]


def test_join_unites_vocabularies():
    other = Corpus(
        [[5, 7]], [[1]], ids=["e"], feature_names=["bark", "song"], label_names=["birds"]
    )
    joined = PETS.join(other)
    assert joined.ids == ["a", "b", "c", "d", "e"]
    assert joined.feature_names == ["fur", "purr", "bark", "song"]
    assert joined.label_names == ["cats", "dogs", "birds"]
    assert joined.X.toarray()[-1].tolist() == [0, 0, 5, 7]
    assert joined.Y.toarray()[-1].tolist() == [0, 0, 1]
    assert joined.texts is None


def test_join_renumbers_if_ids_clash():
    assert PETS[:2].join(PETS[:1]).ids == ["0", "1", "2"]


def test_join_refuses_texts_with_features():
    with pytest.raises(InputError, match="vectorise them first"):
        Corpus(np.eye(2), np.eye(2)).join(Corpus.from_texts(["a"], [[]]))


def test_from_texts_sorts_label_names_and_counts_a_repeated_label_once():
    corpus = Corpus.from_texts(["x", "y", "z"], [["b", "a", "b"], [], ["c"]], ids=["1", "2", "3"])
    assert corpus.label_names == ["a", "b", "c"]
    assert corpus.Y.toarray().tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 1]]
    assert list(corpus.label_lists()) == [["a", "b"], [], ["c"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["x"], [[], []]), "`texts` and `labels` must have the same length; got 1 and 2"),
        (
            (["x"], ["cats"]),
            "the labels of document 0 must be a list of names, such as .'cats'.; got",
        ),
    ],
)
def test_from_texts_refuses(arguments, message):
    with pytest.raises(InputError, match=message):
        Corpus.from_texts(*arguments)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"X": None}, "a corpus needs `X`, `texts` or both"),
        ({"X": np.eye(3)}, "same number of rows; got 3 and 2"),
        ({"ids": ["a"]}, "`ids` must have one entry for each of 2 documents; got 1"),
        ({"label_names": ["a", "a"]}, "`label_names` must be distinct; 'a' occurs twice"),
        (
            {"label_names": ["a"]},
            "`label_names` must have a name for each of 2 columns; got 1 name",
        ),
        ({"texts": "ab"}, "`texts` must be a list of strings, one per document; got a string"),
        ({"texts": ["a", None]}, "`texts` must be strings; document 1 has None"),
        ({"X": [[np.nan, 0], [0, 0]]}, "must be finite"),
    ],
)
def test_parts_that_do_not_fit_are_refused(parts, message):
    with pytest.raises(InputError, match=message):
        Corpus(**({"X": np.eye(2), "Y": np.eye(2)} | parts))


class Lengths:
    """A stand-in for a vectoriser: one feature, the length of the text."""

    def fit_transform(self, texts):
        return self.transform(texts)

    def transform(self, texts):
        return [[len(text)] for text in texts]

    def get_feature_names_out(self):
        return np.array(["length"])


def test_vectorized_puts_the_vectorisers_counts_beside_the_texts():
    corpus = Corpus.from_texts(["abc", "d"], [["x"], []])
    for fit in (True, False):
        counted = corpus.vectorized(Lengths(), fit=fit)
        assert counted.X.toarray().tolist() == [[3], [1]]
        assert counted.feature_names == ["length"]
        assert counted.texts == ["abc", "d"]


def test_vectorized_needs_texts():
    with pytest.raises(InputError, match="no texts to vectorise"):
        Corpus(np.eye(2), np.eye(2)).vectorized(Lengths())


@pytest.mark.parametrize("stratified", [False, True])
def test_a_split_is_a_partition_and_repeats_with_its_seed(stratified):
    Y = (np.random.default_rng(0).random((40, 5)) < 0.3).astype(int)
    corpus = Corpus(np.arange(40)[:, None], Y)
    train, test = corpus.split(0.3, random_state=1, stratified=stratified)
    again = corpus.split(0.3, random_state=1, stratified=stratified)[1]
    assert sorted(train.ids + test.ids, key=int) == corpus.ids
    assert test.ids == again.ids == sorted(test.ids, key=int)
    assert abs(len(test) - 12) <= (2 if stratified else 0)


@pytest.mark.parametrize("stratified", [False, True])
def test_folds_test_each_document_once(stratified):
    corpus = Corpus(np.eye(11), np.eye(11))
    folds = list(corpus.folds(3, random_state=0, stratified=stratified))
    tested = [name for _, test in folds for name in test.ids]
    assert sorted(tested, key=int) == corpus.ids
    for train, test in folds:
        assert len(train) + len(test) == 11


def test_stratification_keeps_rare_labels_in_both_parts():
    random = np.random.default_rng(0)
    Y = np.zeros((300, 60), int)
    for label in range(60):
        Y[random.choice(300, 4, replace=False), label] = 1
    corpus = Corpus(np.ones((300, 1)), Y)
    for part in corpus.split(0.5, random_state=0, stratified=True):
        assert (part.Y.sum(axis=0) >= 1).all()
    at_random = corpus.split(0.5, random_state=0)[1]
    assert (at_random.Y.sum(axis=0) == 0).any()


@given(label_sets(), st.integers(2, 4), st.integers(0, 2**31))
def test_stratification_follows_the_algorithm(sets, n_parts, seed):
    random = np.random.RandomState(seed)
    shares = random.dirichlet(np.ones(n_parts))
    preferred = random.randint(n_parts, size=len(sets))
    Y = Corpus(None, indicator(sets), texts=[""] * len(sets)).Y
    columns = Y.T.tocsr()
    parts = corpus_stratification.stratify(
        Y.indptr.astype(np.int64),
        Y.indices.astype(np.int32),
        columns.indptr.astype(np.int64),
        columns.indices.astype(np.int32),
        shares,
        preferred,
    )
    assert parts.tolist() == naive.stratify(sets, 6, shares.tolist(), preferred.tolist())


def test_stratification_of_documents_without_labels_follows_the_shares():
    Y = Corpus(None, np.zeros((10, 0)), texts=[""] * 10).Y
    parts = stratified_folds(Y, np.array([0.7, 0.3]), np.random.RandomState(0))
    assert np.bincount(parts).tolist() == [7, 3]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PETS.split(0.01), "leave documents in both sets; 0.01 puts 0 of 4"),
        (lambda: PETS.split(2), "`test_size` must be a number between 0 and 1; got 2"),
        (lambda: PETS.split(0.5, "x"), "`random_state` must be None, a whole number"),
        (lambda: PETS.folds(5), "`n` must be at most the number of documents, 4; got 5"),
        (lambda: PETS.folds(1), "`n` must be a whole number of at least 2; got 1"),
    ],
)
def test_impossible_splits_are_refused(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


def test_repr_says_what_it_holds():
    assert repr(PETS) == "<Corpus: 4 documents, 3 features, 2 labels, 1.00 labels per document>"
    assert "texts" in repr(Corpus.from_texts(["a"], [[]]))


def test_blanks_around_labels_do_not_matter():
    labels = [["b", " b "], ["a\n", "b"], []]
    corpus = Corpus.from_texts(["x", "y", "z"], labels)
    assert corpus.label_names == ["a", "b"]
    assert corpus.Y.toarray().tolist() == [[0, 1], [1, 1], [0, 0]]
    fixed = Corpus.from_texts(["x"], [[" b"]], label_names=["a ", "b"])
    assert fixed.label_names == ["a", "b"]
    assert fixed.Y.toarray().tolist() == [[0, 1]]
    with pytest.raises(InputError, match="`label_names` must be distinct; 'b' occurs twice"):
        Corpus(np.eye(2), np.eye(2), label_names=["b", " b "])


def test_renamed_labels_can_become_one():
    corpus = Corpus.from_texts(["x", "y"], [["a", "b"], ["c"]])
    renamed = corpus.rename_labels({"a": "d", "b": "d"})
    assert renamed.label_names == ["c", "d"]
    assert renamed.Y.toarray().tolist() == [[0, 1], [1, 0]]
    assert renamed.texts == corpus.texts
