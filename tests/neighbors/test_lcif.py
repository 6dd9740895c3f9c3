"""LCIF and its parts: the paper's definitions, exact updates, evidence that adds up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from naive import lcif as naive
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from manylabel.exceptions import InputError, ParameterError
from manylabel.neighbors import LCIF, FeatureKNN, InstanceKNN

VALUES = st.sampled_from([0.0, 0.0, 1.0, 1.0, 2.0, 0.5])
MODELS = [InstanceKNN, FeatureKNN, LCIF]

# scikit-learn's checks that our contract contradicts, each with the reason.
EXPECTED_FAILURES = {
    "check_classifiers_multilabel_output_format_decision_function": "scores are sparse",
    "check_classifier_multioutput": "scores are sparse",
}


@st.composite
def problems(draw):
    n_features, n_labels = draw(st.integers(1, 5)), draw(st.integers(2, 4))
    n_rows = draw(st.integers(2, 9))
    X = draw(hnp.arrays(np.float64, (n_rows, n_features), elements=VALUES))
    Y = draw(hnp.arrays(np.int8, (n_rows, n_labels), elements=st.integers(0, 1)))
    Q = draw(hnp.arrays(np.float64, (draw(st.integers(1, 4)), n_features), elements=VALUES))
    return X, Y, Q


def as_dicts(scores):
    scores = sparse.csr_array(scores)
    return [
        dict(
            zip(
                scores.indices[scores.indptr[r] : scores.indptr[r + 1]].tolist(),
                scores.data[scores.indptr[r] : scores.indptr[r + 1]].tolist(),
                strict=True,
            )
        )
        for r in range(scores.shape[0])
    ]


def assert_same_scores(mine, theirs):
    assert len(mine) == len(theirs)
    for a, b in zip(mine, theirs, strict=True):
        assert a.keys() == b.keys()
        for label, score in a.items():
            assert score == pytest.approx(b[label], rel=1e-5, abs=1e-9)


def unit(X):
    norms = np.sqrt((X**2).sum(axis=1, keepdims=True))
    return np.divide(X, norms, out=np.zeros_like(X), where=norms > 0)


@given(
    problems(),
    st.integers(1, 6),
    st.sampled_from([0.5, 1.0, 2.0]),
    st.sampled_from([0.5, 1.0, 2.0]),
    st.sampled_from([0.0, 0.3, 1.0]),
)
def test_scores_are_those_of_the_definitions(problem, k, alpha, beta, lam):
    X, Y, Q = problem
    model = LCIF(k, alpha=alpha, beta=beta, lam=lam, weighting=None, threshold="top-1")
    expected = naive.lcif_scores(unit(X), Y, unit(Q), k, alpha, beta, lam)
    assert_same_scores(as_dicts(model.fit(X, Y).decision_function(Q)), expected)


@given(problems())
def test_lcif_equals_its_parts_at_zero_and_one(problem):
    X, Y, Q = problem
    instances = InstanceKNN(3).fit(X, Y).decision_function(Q)
    features = FeatureKNN().fit(X, Y).decision_function(Q)
    for lam, part in ((1.0, instances), (0.0, features)):
        both = LCIF(3, lam=lam).fit(X, Y).decision_function(Q)
        np.testing.assert_array_equal(both.toarray(), part.toarray())
        np.testing.assert_array_equal(both.indices, part.indices)


@given(problems())
def test_held_out_scores_are_those_of_a_model_without_the_document(problem):
    X, Y, _ = problem
    model = LCIF(3, lam=0.5, weighting=None, threshold="top-1").fit(X, Y)
    held_out, _ = model._held_out_scores(model.X_, model.Y_)
    for row in range(len(X)):
        rest = np.arange(len(X)) != row
        expected = naive.lcif_scores(unit(X[rest]), Y[rest], unit(X[[row]]), 3, 2.0, 1.0, 0.5)
        assert_same_scores(as_dicts(held_out[[row]]), expected)


@given(st.data(), st.sampled_from(MODELS), st.sampled_from([None, "tfidf"]))
def test_adding_and_removing_equals_fitting_on_what_is_left(data, model_class, weighting):
    X, Y, Q = data.draw(problems())
    cut = data.draw(st.integers(1, len(X) - 1))
    gone = data.draw(st.lists(st.integers(0, len(X) - 1), max_size=len(X) - 1, unique=True))
    n_early = data.draw(st.integers(1, Y.shape[1]))
    early = Y[:cut].copy()
    assume(not early[:, n_early:].any() and n_early > 1)
    model = model_class(weighting=weighting)
    model.fit(X[:cut], sparse.csr_array(early[:, :n_early])).partial_fit(X[cut:], Y[cut:])
    model.remove(gone)
    left = np.setdiff1d(np.arange(len(X)), gone)
    fresh = model_class(weighting=weighting).fit(X[left], sparse.csr_array(Y[left]))
    assert_same_scores(as_dicts(model.decision_function(Q)), as_dicts(fresh.decision_function(Q)))
    if hasattr(fresh, "index_"):
        queries = model.weighting_.transform(Q)
        mine = model.source_.index.search(queries, len(left)).indices[:, : len(left)]
        theirs = fresh.source_.index.search(queries, len(left)).indices
        np.testing.assert_array_equal(mine, np.where(theirs >= 0, left[theirs], -1))
    if weighting == "tfidf":
        # Updated sums may differ in the last digit, and a threshold may lie just there.
        np.testing.assert_array_equal(model.predict(Q).toarray(), fresh.predict(Q).toarray())


@given(problems(), st.sampled_from(MODELS), st.sampled_from([0.0, 0.4]))
def test_the_shares_of_an_explanation_sum_to_the_score(problem, model_class, second_order):
    X, Y, Q = problem
    model = model_class(k=3) if model_class is not FeatureKNN else model_class(beta=1.5)
    if model_class is not FeatureKNN:
        model.set_params(second_order=second_order)
    model.fit(X, Y)
    scores = model.decision_function(Q).toarray()
    for row, explanations in enumerate(model.explain(Q, top=10)):
        for why in explanations:
            assert why.row == row
            assert why.score == scores[row, why.label]
            assert why.total == pytest.approx(why.score, rel=1e-9, abs=1e-12)
            for reason in why.reasons:
                if reason.kind == "neighbour":
                    words = sum(word.share for word in reason.reasons)
                    assert words == pytest.approx(reason.similarity, rel=1e-5)


def test_an_explanation_can_be_asked_for_any_label():
    X, Y = np.eye(3), np.eye(3, dtype=int)
    first, second = InstanceKNN(1).fit(X, Y).explain(X[:1], labels=[0, 2])[0]
    assert (first.label, first.score, first.reasons[0].index) == (0, 1.0, 0)
    assert (second.label, second.score, second.reasons) == (2, 0.0, ())


def test_second_order_neighbours_bring_labels_of_their_own():
    X = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]])
    Y = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1]])
    first = InstanceKNN(1, weighting=None).fit(X, Y).decision_function(X[:1])
    second = InstanceKNN(1, weighting=None, second_order=0.5).fit(X, Y).decision_function(X[:1])
    assert as_dicts(first) == [{0: 1.0}]
    assert as_dicts(second) == [{0: 1.0, 1: 0.5}]


def test_the_scalable_variant_keeps_the_nearest_labels_of_each_feature():
    rng = np.random.default_rng(0)
    X, Y = rng.random((40, 6)), (rng.random((40, 9)) < 0.3).astype(int)
    full = FeatureKNN(weighting=None).fit(X, Y).source_.features.plain
    few = FeatureKNN(weighting=None, labels_per_feature=2).fit(X, Y).source_.features.plain
    for f in range(6):
        whole = dict(
            zip(
                full.indices[full.ptr[f] : full.ptr[f + 1]].tolist(),
                full.data[full.ptr[f] : full.ptr[f + 1]].tolist(),
                strict=True,
            )
        )
        best = sorted(whole, key=lambda label: (-whole[label], label))[:2]
        assert few.indices[few.ptr[f] : few.ptr[f + 1]].tolist() == sorted(best)


def test_feature_candidates_are_the_best_labels():
    rng = np.random.default_rng(1)
    X, Y = rng.random((60, 8)), (rng.random((60, 30)) < 0.2).astype(int)
    everything = FeatureKNN(1.0).fit(X, Y).decision_function(X, top=4)
    few = FeatureKNN(candidates=4).fit(X, Y).decision_function(X)
    np.testing.assert_array_equal(everything.toarray(), few.toarray())


@pytest.mark.parametrize("model_class", MODELS)
def test_the_number_of_threads_does_not_change_a_bit(model_class):
    rng = np.random.default_rng(2)
    X = sparse.random(700, 50, 0.2, random_state=rng, format="csr")
    Y = sparse.csr_array((rng.random((700, 12)) < 0.2).astype(np.int8))
    one = model_class(n_jobs=1).fit(X, Y)
    two = model_class(n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(
        one.decision_function(X).toarray(), two.decision_function(X).toarray()
    )
    assert (one.predict(X) != two.predict(X)).nnz == 0


def test_labels_come_back_in_the_form_they_were_given():
    X, Y = np.eye(4), np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    assert isinstance(LCIF(2).fit(X, Y).predict(X), np.ndarray)
    assert sparse.issparse(LCIF(2).fit(X, sparse.csr_matrix(Y)).predict(X))


def test_top_keeps_the_best_labels_of_each_row():
    rng = np.random.default_rng(3)
    X, Y = rng.random((30, 5)), (rng.random((30, 8)) < 0.4).astype(int)
    scores = LCIF(5).fit(X, Y).decision_function(X, top=2)
    assert np.diff(scores.indptr).max() == 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 0}, "`k` must be a whole number of at least 1; got 0"),
        ({"lam": 1.5}, "`lam` must be a number between 0 and 1; got 1.5"),
        ({"alpha": -1}, "`alpha` must be a number at least 0; got -1"),
        ({"labels_per_feature": 0}, "`labels_per_feature` must be a whole number"),
    ],
)
def test_a_parameter_outside_its_domain_is_named(parameters, message):
    with pytest.raises(ParameterError, match=message):
        LCIF(**parameters).fit(np.eye(2), np.eye(2, dtype=int))


def test_documents_that_are_not_there_cannot_be_removed():
    model = InstanceKNN(1).fit(np.eye(3), np.eye(3, dtype=int))
    with pytest.raises(InputError, match="training documents that have not been removed"):
        model.remove([3])
    with pytest.raises(InputError, match="cannot remove all training documents"):
        model.remove([0, 1, 2])
    with pytest.raises(InputError, match="the model has 3 labels"):
        model.partial_fit(np.eye(3), np.ones((3, 2), int))


@parametrize_with_checks(
    [model() for model in MODELS],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
