from __future__ import annotations

import numpy as np
import pytest
from linear.linear_problems import make_problem
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from manylabel.exceptions import ParameterError
from manylabel.linear import OneVsRestSVM
from manylabel.linear.one_vs_rest import NearRows
from manylabel.text import Weighting

X, Y = make_problem()
RAW = Weighting(None, normalize=False)
LABELS_WITH_DOCUMENTS = Y.shape[1] - 1


def exact(**parameters):
    """A classifier that leaves nothing out."""
    return OneVsRestSVM(1.0, prune=0, tol=1e-6, max_iter=100_000, n_candidates=None, **parameters)


def test_scores_are_those_of_liblinear():
    svm = exact(weighting=RAW).fit(X, Y)
    scores = svm.decision_function(X).toarray()
    for label in range(LABELS_WITH_DOCUMENTS):
        theirs = LinearSVC(tol=1e-6, max_iter=100_000).fit(X.toarray(), Y.toarray()[:, label])
        np.testing.assert_allclose(
            scores[:, label], theirs.decision_function(X.toarray()), atol=1e-3
        )


def test_without_a_bias_there_is_no_intercept():
    svm = exact(bias=False).fit(X, Y)
    assert (svm.intercept_[:LABELS_WITH_DOCUMENTS] == 0).all()
    assert all(why.kind == "word" for why in svm.explain(X[[5]], labels=[0])[0][0].reasons)


def test_a_label_without_documents_gets_no_scores():
    svm = exact().fit(X, Y)
    assert svm.intercept_[-1] == -np.inf
    assert set(svm.decision_function(X).indices) == set(range(LABELS_WITH_DOCUMENTS))


def test_no_labels_at_all_leave_no_scores():
    svm = OneVsRestSVM().fit(X, sparse.csr_array(Y.shape, dtype=np.int8))
    assert svm.decision_function(X).nnz == 0
    assert svm.predict(X).nnz == 0


def test_a_label_that_everyone_has_is_given_to_everyone():
    everywhere = sparse.hstack([Y, sparse.csr_array(np.ones((X.shape[0], 1), np.int8))]).tocsr()
    svm = OneVsRestSVM(threshold=0.0).fit(X, everywhere)
    assert svm.predict(X).toarray()[:, -1].all()


def test_a_row_without_features_scores_the_intercepts():
    svm = exact().fit(X, Y)
    scores = svm.decision_function(sparse.csr_array((1, X.shape[1])))
    np.testing.assert_array_equal(scores.data, svm.intercept_[:LABELS_WITH_DOCUMENTS])


@pytest.mark.parametrize("tuned", [False, True])
def test_the_number_of_threads_and_the_size_of_blocks_change_nothing(tuned, monkeypatch):
    one = OneVsRestSVM(tuned=tuned, n_jobs=1).fit(X, Y)
    monkeypatch.setattr("manylabel.linear.candidates.BLOCK", 7)
    monkeypatch.setattr("manylabel.linear.training.BLOCK", 3)
    two = clone(one).set_params(n_jobs=2).fit(X, Y)
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(one.coef_, name), getattr(two.coef_, name))
    np.testing.assert_array_equal(one.intercept_, two.intercept_)
    np.testing.assert_array_equal(one.positive_weights_, two.positive_weights_)
    assert one.threshold_.threshold_ == two.threshold_.threshold_
    assert abs(one.decision_function(X) - two.decision_function(X)).max() == 0


def test_a_label_is_trained_alike_whatever_the_others():
    alone = OneVsRestSVM().fit(X, Y[:, [0]])
    assert abs(alone.coef_[:, [0]] - OneVsRestSVM().fit(X, Y).coef_[:, [0]]).max() == 0


def test_pruning_drops_small_weights_only():
    full, pruned = exact().fit(X, Y), exact().set_params(prune=0.3).fit(X, Y)
    expected = full.coef_.toarray()
    expected[np.abs(expected) < 0.3] = 0
    np.testing.assert_array_equal(pruned.coef_.toarray(), expected)
    assert 0 < pruned.coef_.nnz < full.coef_.nnz
    assert pruned.coef_.dtype == np.float32
    assert pruned.coef_.indices.dtype == np.int32


def test_only_the_best_candidates_are_kept_and_ties_go_to_the_lower_label():
    svm = exact().fit(X, Y)
    whole = svm.decision_function(X)
    for top in (1, 3, LABELS_WITH_DOCUMENTS, 100):
        few = clone(svm).set_params(n_candidates=top).fit(X, Y).decision_function(X)
        expected = svm.decision_function(X, top=top)
        np.testing.assert_array_equal(few.indices, expected.indices)
        np.testing.assert_array_equal(few.data, expected.data)
    assert whole.shape == Y.shape
    twins = sparse.hstack([Y[:, [0]]] * 3).tocsr()
    scores = OneVsRestSVM(n_candidates=2, tol=1e-9, max_iter=10**5).fit(X, twins)
    scores.coef_ = sparse.csr_array(scores.coef_[:, [0]] @ np.ones((1, 3), np.float32))
    scores.intercept_[:] = scores.intercept_[0]
    assert scores.decision_function(X[[3]]).indices.tolist() == [0, 1]


def test_top_may_ask_for_more_than_the_candidates():
    svm = OneVsRestSVM(n_candidates=2).fit(X, Y)
    assert np.diff(svm.decision_function(X, top=4).indptr).tolist() == [4] * X.shape[0]


def test_reasons_add_up_to_the_score():
    svm = OneVsRestSVM().fit(X, Y)
    scores = svm.decision_function(X)
    explained = svm.explain(X, top=3)
    assert len(explained) == X.shape[0]
    for row, explanations in enumerate(explained):
        best = np.argsort(-scores[[row]].toarray()[0, :LABELS_WITH_DOCUMENTS], kind="stable")
        assert [why.label for why in explanations] == best[:3].tolist()
        for why in explanations:
            assert why.row == row
            assert why.score == pytest.approx(scores[row, why.label], abs=1e-12)
            assert why.total == pytest.approx(why.score, abs=1e-12)
            shares = [reason.share for reason in why.reasons]
            assert shares == sorted(shares, reverse=True)
            assert {reason.kind for reason in why.reasons} <= {"word", "bias"}


def test_a_reason_is_a_weight_times_a_value():
    svm = OneVsRestSVM(weighting=RAW).fit(X, Y)
    (why,) = svm.explain(X[[5]], labels=[2])[0]
    for reason in why.reasons:
        if reason.kind == "word":
            expected = X[5, reason.index] * svm.coef_[reason.index, 2]
            assert reason.share == pytest.approx(expected)


def test_a_label_without_training_documents_has_no_reasons():
    svm = OneVsRestSVM().fit(X, Y)
    (why,) = svm.explain(X[[0]], labels=[11])[0]
    assert (why.score, why.reasons) == (0.0, ())


def test_the_threshold_is_fitted_on_documents_that_training_leaves_out():
    """Scores of training documents would put the threshold too high."""
    many_X, many_Y = make_problem(600, 120, 20, seed=1)
    svm = OneVsRestSVM().fit(many_X[:300], many_Y[:300])
    given = svm.predict(many_X[300:]).nnz / 300
    naive_cut = clone(svm.threshold_).fit(svm.decision_function(many_X[:300]), many_Y[:300])
    seen = naive_cut.apply(svm.decision_function(many_X[300:])).nnz / 300
    wanted = many_Y[:300].nnz / 300
    assert abs(given - wanted) < abs(seen - wanted)


@pytest.mark.parametrize("threshold", ["top", "top-2", "proportional", 0.0, "best:micro-f1"])
def test_any_threshold_will_do(threshold):
    svm = OneVsRestSVM(threshold=threshold).fit(X, Y)
    assert svm.predict(X).shape == Y.shape


def test_labels_that_do_not_converge_are_warned_of():
    with pytest.warns(ConvergenceWarning, match=r"did not converge in max_iter=1 sweeps; raise"):
        OneVsRestSVM(max_iter=1).fit(X, Y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, r"^`C` must be a number above 0; got 0\.$"),
        ({"C": -1}, r"^`C` must be a number at least 0; got -1\.$"),
        ({"C": "best"}, r"^`C` must be a number or 'auto'; got 'best'\.$"),
        ({"tol": 0}, r"^`tol` must be a number above 0; got 0\.$"),
        ({"prune": -0.5}, r"^`prune` must be a number at least 0; got -0\.5\.$"),
        ({"max_iter": 0}, r"^`max_iter` must be a whole number of at least 1; got 0\.$"),
        ({"n_candidates": 0}, r"^`n_candidates` must be a whole number of at least 1; got 0\.$"),
    ],
)
def test_parameters_outside_their_domain_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        OneVsRestSVM(**parameters).fit(X, Y)


def test_near_rows_are_all_there_and_the_sample_stands_for_the_rest():
    n_rows, k = 40_000, 3
    random = np.random.default_rng(0)
    by_label = sparse.csr_array((random.random((2, n_rows)) < 0.0005).astype(np.int8))
    neighbors = random.integers(0, n_rows, (n_rows, k))
    members = NearRows(by_label, neighbors, 7)
    for label in range(2):
        rows, positive, factors = members.of_label(label)
        own = by_label.toarray()[label].astype(bool)
        assert np.array_equal(np.flatnonzero(own), rows[positive])
        assert set(neighbors[own].ravel()) <= set(rows)
        assert factors.sum() == pytest.approx(n_rows)
        assert rows.size == own.sum() + np.sum(factors > 1) + np.sum(factors[~positive] == 1)
        again = members.of_label(label)
        assert all(
            np.array_equal(a, b) for a, b in zip((rows, positive, factors), again, strict=True)
        )


def test_on_few_documents_near_rows_are_all_rows():
    X, Y = make_problem(120, 40, 6, seed=1)
    exact = OneVsRestSVM(tuned=False, threshold="top").fit(X, Y)
    near = OneVsRestSVM(tuned=False, threshold="top", near=5).fit(X, Y)
    assert (exact.coef_ != near.coef_).nnz == 0
    assert np.array_equal(exact.intercept_, near.intercept_)


def test_near_must_be_a_positive_whole_number():
    X, Y = make_problem(20, 10, 3, seed=1)
    with pytest.raises(ParameterError, match="near"):
        OneVsRestSVM(near=0).fit(X, Y)
