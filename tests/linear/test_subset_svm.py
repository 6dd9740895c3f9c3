from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from linear.linear_problems import make_problem
from naive import svm as naive
from scipy import sparse
from sklearn.base import clone

from manylabel.exceptions import ParameterError
from manylabel.linear import OneVsRestSVM, SubsetSVM, train_on_candidates
from manylabel.linear.training import Settings
from manylabel.neighbors import NeighborIndex, Neighbors
from manylabel.neighbors.source import NeighborSource
from manylabel.scoring import Documents

X, Y = make_problem()
SETTINGS = Settings(
    C=1.0, bias=True, prune=0.0, max_iter=10**5, tol=1e-6, seed=0, n_jobs=None, verbose=0
)


def label_sets(matrix):
    return [set(np.flatnonzero(row).tolist()) for row in matrix.toarray()]


def candidates_of(X, Y, k):
    """The labels of the k nearest other rows."""
    source = NeighborSource(NeighborIndex(X), Y, k=k)
    return source.propose(Documents(X), leave_out=np.arange(X.shape[0])).pattern


@given(st.integers(0, 2**16), st.integers(1, 6))
def test_candidates_are_the_labels_of_the_neighbours(seed, k):
    random = np.random.default_rng(seed)
    labels = sparse.csr_array((random.random((8, 5)) < 0.3).astype(np.int8))
    neighbors = random.integers(0, 8, (6, k)).astype(np.int32)
    neighbors[np.arange(k) >= random.integers(0, k + 1, (6, 1))] = -1
    similarities = (neighbors >= 0).astype(np.float32)
    near = Neighbors(neighbors, similarities, "given", 0, 0)
    found = NeighborSource(None, labels).vote(sparse.csr_array((6, 3)), near).pattern
    assert label_sets(found) == naive.candidates(neighbors.tolist(), label_sets(labels))
    assert found.has_canonical_format


def test_a_label_is_trained_on_its_documents_and_those_with_it_among_their_candidates():
    candidates = candidates_of(X, Y, 3)
    model, _, _ = train_on_candidates(X, Y, candidates, SETTINGS)
    rows = naive.with_bias(X.toarray().astype(np.float32).astype(float), 1.0)
    for label in range(Y.shape[1] - 1):
        positive = Y.toarray()[:, label] == 1
        members = positive | (candidates.toarray()[:, label] == 1)
        assert positive.sum() < members.sum() < X.shape[0]
        y = np.where(positive, 1.0, -1.0)[members]
        w = naive.solve(rows[members], y, np.ones(y.size))
        np.testing.assert_allclose(model.coef.toarray()[:, label], w[:-1], atol=1e-3)
        np.testing.assert_allclose(model.intercept[label], w[-1], atol=1e-3)


def test_held_out_scores_are_of_candidates_alone_and_do_not_know_their_rows():
    candidates = candidates_of(X, Y, 5)
    folds = (np.arange(X.shape[0]) % 3).astype(np.int8)
    model, held_out, _ = train_on_candidates(X, Y, candidates, SETTINGS, folds)
    np.testing.assert_array_equal(held_out.indptr, candidates.indptr)
    np.testing.assert_array_equal(held_out.indices, candidates.indices)
    seen = (X @ model.coef).toarray() + np.where(np.isfinite(model.intercept), model.intercept, 0)
    rows, labels = candidates.nonzero()
    truth = np.where(Y.toarray()[rows, labels] == 1, 1, -1)
    margins, optimistic = truth * held_out.data, truth * seen[rows, labels]
    assert margins.mean() < optimistic.mean()


def test_rows_without_a_fold_have_no_scores():
    candidates = candidates_of(X, Y, 5)
    folds = np.where(np.arange(X.shape[0]) % 4 == 0, 0, -1).astype(np.int8)
    _, some, _ = train_on_candidates(X, Y, candidates, SETTINGS, folds)
    assert set(np.flatnonzero(np.diff(some.indptr))) <= set(np.flatnonzero(folds == 0))
    held = candidates[folds == 0]
    np.testing.assert_array_equal(some[folds == 0].indices, held.indices)


def test_with_every_document_as_neighbour_it_is_one_vs_rest():
    same = {"weighting": None, "prune": 0, "tol": 1e-7, "max_iter": 10**5}
    filled = sparse.csr_array(X.toarray() + 0.01)
    subset = SubsetSVM(n_neighbors=X.shape[0], **same).fit(filled, Y)
    everyone = OneVsRestSVM(n_candidates=None, **same).fit(filled, Y)
    np.testing.assert_allclose(
        subset.decision_function(filled).toarray(),
        everyone.decision_function(filled).toarray(),
        atol=1e-4,
    )


def test_only_labels_of_neighbours_are_scored():
    svm = SubsetSVM(n_neighbors=4).fit(X, Y)
    queries, _ = make_problem(30, seed=7)
    scores = svm.decision_function(queries)
    candidates = svm.source_.propose(Documents(queries, weighting=svm.weighting_)).pattern
    np.testing.assert_array_equal(scores.indptr, candidates.indptr)
    np.testing.assert_array_equal(scores.indices, candidates.indices)


def test_a_document_without_known_features_gets_no_labels():
    svm = SubsetSVM().fit(X, Y)
    nothing = sparse.csr_array((1, X.shape[1]))
    assert svm.decision_function(nothing).nnz == 0
    assert svm.predict(nothing).nnz == 0
    assert svm.explain(nothing) == [[]]


def test_the_number_of_threads_changes_nothing():
    one = SubsetSVM(n_neighbors=5, n_jobs=1).fit(X, Y)
    two = clone(one).set_params(n_jobs=2).fit(X, Y)
    assert abs(one.coef_ - two.coef_).max() == 0
    np.testing.assert_array_equal(one.intercept_, two.intercept_)
    assert one.threshold_.threshold_ == two.threshold_.threshold_
    assert abs(one.decision_function(X) - two.decision_function(X)).max() == 0


def test_reasons_add_up_to_the_score():
    svm = SubsetSVM(n_neighbors=5).fit(X, Y)
    scores = svm.decision_function(X, top=2)
    for row, explanations in enumerate(svm.explain(X, top=2)):
        assert {why.label for why in explanations} == set(scores[[row]].indices)
        for why in explanations:
            assert why.score == pytest.approx(scores[row, why.label], abs=1e-12)
            assert why.total == pytest.approx(why.score, abs=1e-12)


def test_a_number_of_neighbours_below_1_is_refused():
    with pytest.raises(
        ParameterError, match=r"^`n_neighbors` must be a whole number of at least 1; got 0\.$"
    ):
        SubsetSVM(n_neighbors=0).fit(X, Y)
