"""The regression agrees with one that is solved from scratch, and its scorer keeps the contract."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from manylabel import Ensemble
from manylabel.exceptions import InputError
from manylabel.linear.scorer import LinearScorer
from manylabel.regression.landmarks import JITTER, solve_landmarks
from manylabel.regression.scorers import RegressionScorer
from manylabel.regression.training import OFFSET, Regression, solve
from manylabel.scoring import Candidates, Documents, Training
from manylabel.scoring.candidates import all_pairs
from manylabel.text.weighting import make_weighting
from tests.naive import regression as naive


def problem(seed, n_rows, n_features, n_labels):
    """Rows of unit length, some of them empty or equal, and labels."""
    rng = np.random.default_rng(seed)
    X = sparse.csr_array(rng.poisson(0.5, (n_rows, n_features)).astype(float))
    rows = make_weighting(None, np.float32).fit(X).transform(X)
    Y = sparse.csr_array((rng.random((n_rows, n_labels)) < 0.3).astype(np.int8))
    return sparse.csr_array(rows), Y


def as_dictionaries(matrix):
    """Each row from columns to values."""
    return [
        dict(zip(matrix.indices[a:b].tolist(), matrix.data[a:b].tolist(), strict=True))
        for a, b in zip(matrix.indptr, matrix.indptr[1:], strict=False)
    ]


sizes = st.tuples(st.integers(0, 99), st.integers(2, 9), st.integers(1, 6), st.integers(1, 4))


@given(sizes, st.sampled_from([0.1, 1.0]))
@settings(deadline=None, max_examples=40)
def test_scores_and_shares_are_those_of_the_loops(shape, ridge):
    rows, Y = problem(*shape)
    new, _ = problem(shape[0] + 1, *shape[1:])
    model = solve(rows, Y, ridge).regression()
    every = all_pairs(new.shape[0], Y.shape[1])
    scores = model.scores(new, every, None).reshape(-1, Y.shape[1])
    given_rows, truth = as_dictionaries(rows), Y.toarray().tolist()
    for place, row in enumerate(as_dictionaries(new)):
        expected = naive.score(given_rows, truth, row, ridge, OFFSET)
        expected = np.where(model.is_trained, expected, 0.0)
        np.testing.assert_allclose(scores[place], expected, atol=1e-4)
        for label in np.flatnonzero(model.is_trained):
            shares = model.shares(new[[place]], label)
            total = shares.sum() + model.constants[label]
            assert total == pytest.approx(scores[place, label], abs=1e-6)


@given(sizes, st.sampled_from([0.1, 1.0]))
@settings(deadline=None, max_examples=40)
def test_a_left_out_document_is_scored_by_the_others_alone(shape, ridge):
    rows, Y = problem(*shape)
    some = np.arange(0, rows.shape[0], 2)
    every = all_pairs(some.size, Y.shape[1])
    scores = solve(rows, Y, ridge).left_out(some, every).reshape(-1, Y.shape[1])
    given_rows, truth = as_dictionaries(rows), Y.toarray().tolist()
    for place, which in enumerate(some):
        expected = naive.left_out(given_rows, truth, which, ridge, OFFSET)
        np.testing.assert_allclose(scores[place], expected, atol=1e-3)


@pytest.fixture(scope="module")
def either_or():
    """A label for documents with one of two words but not both: no sum of weights tells that."""
    rng = np.random.default_rng(3)
    words = rng.random((1_200, 6)) < 0.5
    Y = np.stack([words[:, 0] ^ words[:, 1], words[:, 2]], axis=1).astype(np.int8)
    return sparse.csr_array(words.astype(np.float32)), sparse.csr_array(Y)


def trained(X, Y, n_jobs=None):
    """A scorer, and its out-of-sample scores of every other document."""
    folds = np.where(np.arange(X.shape[0]) % 2, 0, -1).astype(np.int8)
    documents = Documents(X).weighted(make_weighting(None, np.float32).fit(X))
    scorer = RegressionScorer()
    training = Training(documents, Y, folds, n_jobs=n_jobs)
    held = Candidates(all_pairs(training.held.size, Y.shape[1]))
    return scorer, scorer.fit(training, all_pairs(*Y.shape), held), training, held


def test_it_learns_what_no_linear_model_can(either_or):
    X, Y = either_or
    _, scores, training, _ = trained(X, Y)
    found = scores.reshape(-1, 2) > 0.5
    assert (found == Y[training.held].toarray()).mean() > 0.95


def test_the_number_of_threads_and_the_size_of_a_batch_change_nothing(either_or):
    X, Y = either_or
    (one, held_one, training, _), (two, held_two, _, _) = (trained(X, Y, n) for n in (1, 2))
    np.testing.assert_array_equal(held_one, held_two)
    every = Candidates(all_pairs(*Y.shape))
    scores = one.score(training.documents, every, 1)
    np.testing.assert_array_equal(scores, two.score(training.documents, every, 2))
    single = one.score(training.documents[np.array([7])], Candidates(all_pairs(1, 2)))
    np.testing.assert_array_equal(single, scores.reshape(-1, 2)[7])


def test_a_trial_scores_the_first_fold_without_reading_it(either_or):
    X, Y = either_or
    scorer, _, training, held = trained(X, Y)
    rows, scores = scorer.trial(training, all_pairs(*Y.shape), held)
    assert rows.tolist() == list(range(training.held.size))
    found = scores.reshape(-1, 2) > 0.5
    assert (found == Y[training.held].toarray()).mean() > 0.9


def test_an_ensemble_reads_it_where_there_is_enough_to_learn_from(either_or):
    X, Y = either_or
    assert "regression" in Ensemble(k=20).fit(X, Y).report_.gain
    assert "regression" not in Ensemble(k=20).fit(X[:900], Y[:900]).report_.gain
    assert "regression" in Ensemble(k=20, effort="quick").fit(X, Y).report_.gain


@given(sizes, st.sampled_from([0.1, 1.0]), st.integers(1, 4))
@settings(deadline=None, max_examples=40)
def test_landmarks_score_and_leave_out_as_the_loops_do(shape, ridge, n_landmarks):
    rows, Y = problem(*shape)
    new, _ = problem(shape[0] + 1, *shape[1:])
    n_rows, n_labels = Y.shape
    chosen = np.sort(np.random.default_rng(shape[0]).permutation(n_rows)[:n_landmarks])
    solution = solve_landmarks(rows, Y, chosen, ridge)
    model, given_rows = solution.regression(), as_dictionaries(rows)
    truth, marks = Y.toarray().tolist(), [given_rows[i] for i in chosen]
    fixed = ridge, OFFSET, JITTER
    scores = model.scores(new, all_pairs(*Y.shape), None).reshape(-1, n_labels)
    for place, row in enumerate(as_dictionaries(new)):
        expected = naive.score_by_landmarks(given_rows, truth, marks, row, *fixed)
        expected = np.where(model.is_trained, expected, 0.0)
        np.testing.assert_allclose(scores[place], expected, atol=1e-4)
    every = all_pairs(*Y.shape)
    left_out = solution.solution.left_out(np.arange(n_rows), every).reshape(-1, n_labels)
    for which in range(n_rows):
        others = [i for i in range(n_rows) if i != which]
        known = [given_rows[i] for i in others], [truth[i] for i in others]
        expected = naive.score_by_landmarks(*known, marks, given_rows[which], *fixed)
        np.testing.assert_allclose(left_out[which], expected, atol=1e-3)


def test_quick_training_compares_with_landmarks_only(either_or, monkeypatch):
    monkeypatch.setattr("manylabel.regression.scorers.MANY", 900)
    monkeypatch.setattr("manylabel.regression.scorers._QUICK_LANDMARKS", 300)
    X, Y = either_or
    settings = {"effort": "quick"}
    folds = np.where(np.arange(X.shape[0]) % 5, -1, 0).astype(np.int8)
    documents = Documents(X).weighted(make_weighting(None, np.float32).fit(X))
    training = Training(documents, Y, folds, settings=settings)
    scorer = RegressionScorer()
    assert scorer.wants(training)
    assert not LinearScorer().wants(training)
    assert not scorer.needs_trial(training)
    held = Candidates(all_pairs(training.held.size, Y.shape[1]))
    found = scorer.fit(training, all_pairs(*Y.shape), held).reshape(-1, 2) > 0.5
    assert scorer.model.duals.shape == (2, 300)
    assert (found == Y[training.held].toarray()).mean() > 0.9


def test_too_many_documents_or_labels_are_left_to_others():
    scorer = RegressionScorer()
    for n_rows, n_labels, wanted in ((1_000, 9, True), (15_001, 9, False), (5_000, 5_000, False)):
        Y = sparse.csr_array((n_rows, n_labels), dtype=np.int8)
        training = Training(Documents(Y), Y, np.zeros(n_rows, np.int8))
        assert scorer.wants(training) is wanted


def test_new_labels_have_no_score(either_or):
    X, Y = either_or
    model = solve(X, Y, 1.0).regression().grown(4)
    assert model.is_trained.tolist() == [True, True, False, False]
    scores = model.scores(X[:3], all_pairs(3, 4), None).reshape(3, 4)
    assert not scores[:, 2:].any()


def test_damaged_arrays_are_refused(either_or):
    X, Y = either_or
    model = solve(X, Y, 1.0).regression()
    damaged = Regression(model.postings, model.duals[:, 1:], model.constants, model.is_trained)
    with pytest.raises(InputError, match="the regression is damaged"):
        damaged._check_stored()


def test_a_forgotten_document_leaves_no_words():
    rows, Y = problem(5, 9, 4, 3)
    rows = sparse.csr_array(sparse.vstack([rows, rows[[2]]], "csr"))  # one of them twice
    Y = sparse.csr_array(sparse.vstack([Y, Y[[2]]], "csr"))
    model = solve(rows, Y, 0.3).regression()
    less = model.without(rows[[2, 4]])
    assert less.postings.nnz == model.postings.nnz - rows[[2, 4]].nnz
    assert less.postings[:, [2, 4]].nnz == 0
    every = all_pairs(*Y.shape)
    before, after = (each.scores(rows, every, None).reshape(Y.shape) for each in (model, less))
    similar = (rows @ rows[[2, 4]].T).toarray()
    lost = ((similar + OFFSET) / (1 + OFFSET)) ** 2 @ model.duals[:, [2, 4]].T
    np.testing.assert_allclose(after, np.where(model.is_trained, before - lost, 0), atol=1e-5)
    assert model.without(rows[[2]] * np.float32(0.5)) is model
