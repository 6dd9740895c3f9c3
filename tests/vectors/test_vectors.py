"""Vectors of words and labels: they agree with loops, and connect words that never met."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from manylabel import Ensemble
from manylabel.exceptions import InputError
from manylabel.scoring import Candidates, Documents, Training
from manylabel.scoring.candidates import all_pairs
from manylabel.text.weighting import make_weighting
from manylabel.vectors.scorer import VectorScorer, VectorSource, trained_vectors
from manylabel.vectors.training import Trainer, VectorSettings
from manylabel.vectors.vectors import Vectors
from tests.naive import vectors as naive


def problem(seed, n_rows, n_features, n_labels):
    """Rows and labels; some rows are empty, some have no label."""
    rng = np.random.default_rng(seed)
    dense = rng.random((n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.4)
    Y = sparse.csr_array((rng.random((n_rows, n_labels)) < 0.3).astype(np.int8))
    return sparse.csr_array(dense.astype(np.float32)), Y


def as_dictionaries(matrix):
    """Each row from columns to values."""
    return [
        dict(zip(matrix.indices[a:b].tolist(), matrix.data[a:b].tolist(), strict=True))
        for a, b in zip(matrix.indptr, matrix.indptr[1:], strict=False)
    ]


shapes = st.tuples(
    st.integers(0, 99), st.integers(1, 9), st.integers(1, 6), st.integers(1, 6), st.integers(1, 4)
)


@given(shapes, st.integers(0, 5))
@settings(deadline=None, max_examples=30)
def test_a_step_is_that_of_the_loops(shape, n_drawn):
    *shape, size = shape
    X, Y = problem(*shape)
    own = VectorSettings(size=size, epochs=1, batch=10, drawn=n_drawn)
    trainer = Trainer(X, Y, own, seed=3)
    # What the trainer draws, in its order.
    rng = np.random.default_rng(3)
    for n in (X.shape[1], Y.shape[1]):
        rng.standard_normal((n, size), np.float32)
    rng.permutation(X.shape[0])
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    sums = np.cumsum(counts**0.75 / max((counts**0.75).sum(), 1.0))
    drawn = np.minimum(np.searchsorted(sums, rng.random(n_drawn)), Y.shape[1] - 1)
    before = trainer.vectors.copy()
    after = trainer.train(np.arange(X.shape[0]))
    if not counts.any():
        return
    present = naive.presence(counts.tolist(), X.shape[0], n_drawn, own.batch)
    expected = naive.one_step(
        as_dictionaries(X),
        [set(row) for row in as_dictionaries(Y)],
        drawn.tolist(),
        before.features.tolist(),
        before.labels.tolist(),
        before.constants.tolist(),
        [max(p, 1e-9) for p in present],
        own.rate,
    )
    for name, loops in zip(("features", "labels", "constants"), expected, strict=True):
        np.testing.assert_allclose(getattr(after, name), np.array(loops), atol=2e-3)


@given(shapes, st.integers(1, 7))
@settings(deadline=None, max_examples=30)
def test_scores_shares_and_the_best_labels_are_those_of_the_loops(shape, top):
    *shape, size = shape
    X, Y = problem(*shape)
    vectors = Trainer(X, Y, VectorSettings(size=size)).vectors
    scores = vectors.scores(X, all_pairs(*Y.shape), None).reshape(Y.shape)
    best = as_dictionaries(vectors.best(X, top))
    lists = vectors.features.tolist(), vectors.labels.tolist(), vectors.constants.tolist()
    for row, given_row in enumerate(as_dictionaries(X)):
        shares = vectors.shares(X, row)
        for label in range(Y.shape[1]):
            expected = naive.score(given_row, label, *lists)
            assert scores[row, label] == pytest.approx(expected, abs=1e-6)
            _, words, constant = shares(label)
            assert words.sum() + constant == pytest.approx(scores[row, label], abs=1e-6)
        assert sorted(best[row]) == naive.best(given_row, top, *lists, vectors.is_trained)
        (alone,) = as_dictionaries(vectors.best(X[[row]], top))
        assert alone == best[row]


@given(st.integers(0, 99), st.sampled_from([1e-20, 1e-3, 1.0, 1e6]), st.integers(1, 60))
@settings(deadline=None, max_examples=30)
def test_rounded_vectors_rule_out_no_label_of_the_best(seed, scale, top):
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((30, 24)).astype(np.float32)
    # Many labels are nearly the same, so that rounding would change their order.
    labels = np.repeat(rng.standard_normal((40, 24)), 10, axis=0) * scale
    labels *= 1 + 1e-4 * rng.standard_normal(labels.shape)
    constants = rng.standard_normal(400).astype(np.float32)
    vectors = Vectors(features, labels.astype(np.float32), constants, rng.random(400) < 0.8)
    X = sparse.csr_array(np.where(rng.random((1, 30)) < 0.3, rng.random((1, 30)), 0))
    scores = vectors.scores(X, all_pairs(1, 400), None)
    known = np.flatnonzero(vectors.is_trained)
    expected = np.sort(known[np.argsort(-scores[known], kind="stable")[:top]])
    assert vectors.best(X, top).indices.tolist() == (expected.tolist() if X.nnz else [])


def test_of_equal_labels_the_first_are_proposed():
    ones = np.ones((40, 2), np.float32)
    same = Vectors(ones, ones, np.zeros(40, np.float32), np.ones(40, np.bool_))
    X = sparse.csr_array(np.ones((1, 40), np.float32))
    assert same.best(X, 3).indices.tolist() == [0, 1, 2]


@pytest.fixture(scope="module")
def synonyms():
    """Six subjects with two words each, of which a document has one, and a word of any subject."""
    rng = np.random.default_rng(5)
    subject, which = rng.integers(0, 6, 1_500), rng.integers(0, 2, 1_500)
    X = np.zeros((1_500, 18), np.float32)
    X[np.arange(1_500), 2 * subject + which] = 1
    X[np.arange(1_500), 12 + rng.integers(0, 6, 1_500)] = 1
    Y = np.eye(6, dtype=np.int8)[subject]
    return sparse.csr_array(X), sparse.csr_array(Y)


def test_it_learns(synonyms):
    X, Y = synonyms
    vectors = Trainer(X, Y, VectorSettings(size=8)).train(np.arange(1_200))
    found = vectors.best(X[1_200:], 1)
    assert found.multiply(Y[1_200:]).nnz > 0.95 * 300


def test_the_number_of_threads_changes_nothing(synonyms):
    X, Y = synonyms
    one, two = (Trainer(X, Y, VectorSettings(), 0, n).train(np.arange(1_500)) for n in (1, 3))
    np.testing.assert_array_equal(one.features, two.features)
    np.testing.assert_array_equal(one.labels, two.labels)
    np.testing.assert_array_equal(one.constants, two.constants)


def training(X, Y, folds, **more):
    documents = Documents(X).weighted(make_weighting(None, np.float32).fit(X))
    return Training(documents, Y, folds.astype(np.int8), **more)


def test_held_out_documents_are_scored_by_vectors_that_have_not_seen_them(synonyms):
    X, Y = synonyms
    folds = np.where(np.arange(1_500) < 100, 0, -1)
    given = training(X, Y, folds)
    before = Trainer(given.documents.rows, Y, VectorSettings(), 0).train(np.arange(100, 1_500))
    scorer, held = VectorScorer(), Candidates(all_pairs(100, 6))
    scores = scorer.fit(given, all_pairs(1_500, 6), held)
    np.testing.assert_array_equal(scores, before.scores(given.shared.rows[:100], held.pattern, 1))
    source = VectorSource()
    source.fit(given)
    assert source.vectors is scorer.vectors
    proposed = source.propose(given.shared, np.arange(1_500)).pattern
    assert np.diff(proposed.indptr).tolist() == [6] * 1_500


def test_with_several_folds_the_mean_of_their_vectors_is_used(synonyms):
    X, Y = synonyms
    given = training(X, Y, np.arange(1_500) % 3)
    found = trained_vectors(given)
    assert len(found.without) == 3
    every = all_pairs(1_500, 6)
    each = [vectors.scores(X, every, None) for vectors in found.without]
    np.testing.assert_allclose(found.kept.scores(X, every, None), np.mean(each, axis=0), atol=1e-4)


def test_only_complete_documents_are_learned_from(synonyms):
    X, Y = synonyms
    incomplete = np.arange(1_500) >= 1_400
    folds = np.where(np.arange(1_500) < 100, 0, -1)
    some, fewer = (
        trained_vectors(training(X, Y, folds, incomplete=incomplete)),
        trained_vectors(training(X[:1_400], Y[:1_400], folds[:1_400])),
    )
    np.testing.assert_array_equal(some.kept.labels, fewer.kept.labels)
    assert some.folds.size == 1_500


@pytest.fixture(scope="module")
def ensemble(synonyms):
    return Ensemble(k=20).fit(*synonyms)


def test_an_ensemble_uses_vectors_where_there_is_enough_to_learn_from(ensemble, synonyms):
    X, Y = synonyms
    assert "vectors" in ensemble.report_.gain
    assert "vectors" not in Ensemble(k=20).fit(X[:900], Y[:900]).report_.gain
    # A quick training has a regression instead.
    assert "vectors" not in Ensemble(k=20, effort="quick").fit(X, Y).report_.gain


def test_vectors_propose_only_where_that_finds_more_true_labels(synonyms):
    X, Y = synonyms
    # With as many candidates as labels, all would be candidates. Neighbours find every label here.
    assert Ensemble(k=20, n_candidates=5).fit(X, Y).sources_ == []
    # A third of the labels are moved to other documents, so one neighbour is often wrong.
    order = np.arange(1_500)
    order[:500] = order[:500][::-1]
    model = Ensemble(k=1, n_candidates=5, scorers=["neighbours", "vectors"]).fit(X, Y[order])
    assert [source.name for source in model.sources_] == ["vectors"]


def test_labels_without_documents_have_no_score_and_are_not_proposed(synonyms):
    X, Y = synonyms
    wider = sparse.csr_array(sparse.hstack([Y, sparse.csr_array((Y.shape[0], 1), dtype=np.int8)]))
    vectors = Trainer(X, wider, VectorSettings(size=4, epochs=1)).train(np.arange(1_500))
    assert vectors.is_trained.tolist() == [True] * 6 + [False]
    grown = vectors.grown(9)
    assert grown.is_trained.tolist() == [True] * 6 + [False] * 3
    assert grown.best(X[:3], 20).indices.tolist() == list(range(6)) * 3


def test_damaged_vectors_are_refused():
    vectors = Trainer(*problem(0, 5, 4, 3), VectorSettings(size=2)).vectors
    damaged = replace(vectors, labels=vectors.labels[:1])
    with pytest.raises(InputError, match="the vectors are damaged"):
        damaged._check_stored()
