"""BRkNN scores labels by the share of neighbours that carry them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import lazy as naive
from naive.lazy import problems
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from manylabel.exceptions import ParameterError
from manylabel.neighbors.brknn import BRkNN, label_counts, share_scores
from manylabel.neighbors.iblr import IBLR
from manylabel.neighbors.mlknn import MLkNN

# scikit-learn's checks that our contract contradicts, each with the reason.
EXPECTED_FAILURES = {
    "check_classifier_multioutput": "scores of many labels are sparse",
    "check_classifiers_multilabel_output_format_decision_function": "scores are sparse",
}
COSINE = {
    f"check_classifiers_train{case}": "accuracy .83 on clouds that differ in length, not direction"
    for case in ("", "(readonly_memmap=True)", "(readonly_memmap=True,X_dtype=float32)")
}


def expected_failures(estimator):
    return EXPECTED_FAILURES | (COSINE if isinstance(estimator, MLkNN) else {})


@parametrize_with_checks([BRkNN(), MLkNN(), IBLR()], expected_failed_checks=expected_failures)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


@given(problems())
def test_scores_are_the_shares_of_the_neighbours(problem):
    X, Y, Q, k = problem
    scores = BRkNN(k, weighting=None).fit(X, Y).decision_function(Q)
    assert (scores.data > 0).all()
    np.testing.assert_allclose(scores.toarray(), naive.brknn(X, Y, Q, k), rtol=1e-12)


@pytest.mark.parametrize("variant", [None, "a", "b"])
@given(problem=problems())
def test_each_variant_gives_the_labels_of_its_rule(variant, problem):
    X, Y, Q, k = problem
    given_labels = BRkNN(k, variant=variant, weighting=None).fit(X, Y).predict(Q)
    expected = naive.brknn_labels(X, Y, Q, k, variant)
    assert [set(np.flatnonzero(row)) for row in given_labels] == expected


@given(problems())
def test_neighbours_of_a_larger_k_begin_with_those_of_a_smaller(problem):
    X, Y, Q, k = problem
    model = BRkNN(k, weighting=None).fit(X, Y)
    found = model.index_.search(Q, k + 3).indices[:, :k]
    again = share_scores(found, model.labels_)
    np.testing.assert_array_equal(again.toarray(), model.decision_function(Q).toarray())


@given(problems(), st.integers(1, 3))
def test_counts_are_canonical_and_complete(problem, k):
    X, Y, _, _ = problem
    # The first of each row's neighbours is missing, as if it had been left out.
    found = np.array([[(row + j) % len(X) if j else -1 for j in range(k)] for row in range(len(X))])
    counts = label_counts(found.astype(np.int32), sparse.csr_array(Y))
    expected = naive.counts([[n for n in row if n >= 0] for row in found], Y)
    assert counts.toarray().tolist() == expected
    assert counts.has_canonical_format
    assert (counts.data > 0).all()


def test_the_number_of_threads_does_not_change_a_bit():
    rng = np.random.default_rng(3)
    X = sparse.random(3000, 60, 0.1, random_state=rng, format="csr")
    Y = sparse.csr_array(rng.random((3000, 30)) < 0.1).astype(np.int8)
    one, two = (BRkNN(n_jobs=n).fit(X, Y).decision_function(X) for n in (1, 2))
    np.testing.assert_array_equal(one.indptr, two.indptr)
    np.testing.assert_array_equal(one.indices, two.indices)
    np.testing.assert_array_equal(one.data, two.data)


def test_a_document_without_neighbours_gets_no_label():
    model = BRkNN(2, variant="a").fit([[1, 0], [2, 0]], [[1, 1], [1, 0]])
    assert model.predict([[0, 1]]).tolist() == [[0, 0]]


def test_sparse_labels_in_give_sparse_labels_out():
    model = BRkNN(1).fit(np.eye(2), sparse.csr_array(np.eye(2, dtype=np.int8)))
    given_labels = model.predict(np.eye(2))
    assert sparse.issparse(given_labels)
    assert given_labels.toarray().tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 0}, "`k` must be a whole number of at least 1; got 0."),
        ({"k": "many"}, "`k` must be a number or 'auto'; got 'many'."),
        ({"variant": "c"}, "`variant` must be None, 'a' or 'b'; got 'c'."),
        (
            {"weighting": "tf"},
            "`weighting` must be 'tfidf', 'bm25', 'binary', 'share', 'raw', None or a Weighting; "
            "got 'tf'.",
        ),
    ],
)
def test_a_bad_parameter_is_refused(parameters, message):
    with pytest.raises(ParameterError) as error:
        BRkNN(**parameters).fit(np.eye(2), np.eye(2))
    assert str(error.value) == message


@pytest.mark.parametrize("model", [BRkNN(), MLkNN(), IBLR()])
def test_more_neighbours_vote_where_single_ones_say_little(model):
    rng = np.random.default_rng(0)
    X = (rng.random((300, 8)) < 0.5).astype(float)
    Y = sparse.csr_array((rng.random((300, 5)) < 0.15 + 0.35 * X[:, :5]).astype(np.int8))
    assert model.fit(X, Y).k_ > 10
    fixed = type(model)(k=model.k_).fit(X, Y)
    assert abs(model.decision_function(X[:20]) - fixed.decision_function(X[:20])).max() == 0
    assert model.fit(X[:49], Y[:49]).k_ == 10
