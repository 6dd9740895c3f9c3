"""Candidates and votes, beside the definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from naive import ensemble as naive
from scipy import sparse

from manylabel.ensemble.neighborhood import Neighborhood, recall
from manylabel.text import Weighting


def weighted(X):
    return Weighting(None).fit_transform(X)


def make(X, Y, **parameters):
    rows = weighted(X)
    settings = {"k": 4, "near": 2, "alpha": 2.0, "n_candidates": 3, **parameters}
    return Neighborhood(rows, Y, **settings), rows


matrices = st.tuples(
    arrays(np.int64, (8, 5), elements=st.integers(0, 3)),
    arrays(np.int8, (8, 6), elements=st.integers(0, 1)),
    arrays(np.int64, (3, 5), elements=st.integers(0, 3)),
)


@settings(deadline=None, max_examples=40)
@given(matrices, st.booleans())
def test_proposals_follow_the_definitions(given, words):
    X, Y, Q = given
    hood, rows = make(sparse.csr_array(X.astype(float)), sparse.csr_array(Y))
    if words:
        hood.learn_words(rows)
    queries = weighted(sparse.csr_array(Q.astype(float)))
    found = hood.search(queries, 1)
    proposals = hood.proposals(queries, found)
    for row in range(3):
        there = found.indices[row] >= 0
        near, similar = found.indices[row][there], found.similarities[row][there]
        everyone = naive.votes(near, similar, 2.0, Y)
        nearest = naive.votes(near[:2], similar[:2], 2.0, Y)
        by_words = naive.word_votes(queries.toarray()[row], rows.toarray(), Y)
        scores = 0.5 * everyone + 0.5 * by_words if words else everyone
        start, stop = proposals.candidates.indptr[row : row + 2]
        labels = proposals.candidates.indices[start:stop]
        # Ties by rounding may fall either way; the scores of what is chosen must not.
        expected = naive.best(scores, 3)
        assert len(labels) == len(expected)
        assert sorted(scores[labels]) == pytest.approx(sorted(scores[expected]), abs=1e-6)
        assert proposals.votes["neighbours"][start:stop] == pytest.approx(
            everyone[labels], abs=1e-6
        )
        assert proposals.votes["nearest"][start:stop] == pytest.approx(nearest[labels], abs=1e-6)
        if words:
            assert proposals.votes["words"][start:stop] == pytest.approx(by_words[labels], abs=1e-6)


@settings(deadline=None, max_examples=20)
@given(matrices)
def test_training_documents_are_looked_at_as_if_they_were_not_there(given):
    X, Y, _ = given
    X, Y = sparse.csr_array(X.astype(float)), sparse.csr_array(Y)
    hood, rows = make(X, Y)
    hood.learn_words(rows)
    candidates, mine = hood.training_proposals(rows, np.arange(8), None)
    np.testing.assert_array_equal(candidates.indices, mine.candidates.indices)
    for row in range(8):
        others = np.flatnonzero(np.arange(8) != row)
        without = Neighborhood(rows[others], Y[others], k=4, near=2, alpha=2.0, n_candidates=3)
        without.learn_words(rows[others])
        expected = without.proposals(rows[[row]], without.search(rows[[row]], 1))
        start, stop = mine.candidates.indptr[row : row + 2]
        for name in ("neighbours", "words"):
            found, wanted = mine.votes[name][start:stop], expected.votes[name]
            assert sorted(found) == pytest.approx(sorted(wanted), abs=1e-5)


def test_documents_come_and_go_as_if_they_had_always_been_there():
    rng = np.random.default_rng(3)
    X = sparse.csr_array(rng.poisson(0.8, (40, 12)).astype(float))
    Y = sparse.csr_array((rng.random((40, 5)) < 0.3).astype(np.int8))
    hood, rows = make(X[:30], Y[:30])
    hood.learn_words(rows)
    all_rows = weighted(X)
    hood.add(all_rows[30:], Y[30:])
    hood.remove([2, 35])
    left = np.setdiff1d(np.arange(40), [2, 35])
    fresh = Neighborhood(all_rows[left], Y[left], k=4, near=2, alpha=2.0, n_candidates=3)
    fresh.learn_words(all_rows[left])
    for name, values in fresh.proposals(all_rows, fresh.search(all_rows, 1)).votes.items():
        mine = hood.proposals(all_rows, hood.search(all_rows, 1)).votes[name]
        assert mine == pytest.approx(values, abs=1e-5)


def test_a_label_without_documents_has_no_words_any_more():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.random((60, 12)) * (rng.random((60, 12)) < 0.5))
    Y = np.zeros((60, 3), np.int8)
    Y[:58, 0], Y[57:, 1], Y[59, 2] = 1, 1, 1
    rows = Weighting(None, dtype=np.float32).fit_transform(X)
    hood = Neighborhood(rows, sparse.csr_array(Y), k=4, near=2, alpha=2.0, n_candidates=3)
    hood.learn_words(rows)
    hood.remove([59])
    hood.compact()
    assert np.isfinite(hood.features.plain.data).all()
    assert 2 not in hood.features.plain.indices


def test_recall_counts_true_labels_among_candidates():
    candidates = sparse.csr_array(np.array([[1, 1, 0], [0, 0, 1]], np.int8))
    truth = sparse.csr_array(np.array([[1, 0, 1], [0, 0, 1]], np.int8))
    assert recall(candidates, truth) == pytest.approx(2 / 3)


def test_rows_of_proposals_can_be_taken_out():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.poisson(0.8, (20, 12)).astype(float))
    Y = sparse.csr_array((rng.random((20, 5)) < 0.3).astype(np.int8))
    hood, rows = make(X, Y)
    _, whole = hood.training_proposals(rows, np.arange(20), None)
    some = whole.of_rows(np.array([3, 11, 4]))
    one = whole.of_rows(np.array([11]))
    start, stop = some.candidates.indptr[1:3]
    assert some.candidates.indices[start:stop].tolist() == one.candidates.indices.tolist()
    assert some.votes["nearest"][start:stop].tolist() == one.votes["nearest"].tolist()
