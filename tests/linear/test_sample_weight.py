"""What a sample counts: its cost, and its documents in the weighting of features."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from linear.linear_problems import make_problem
from linear.test_svm_kernel import in_words, problems, solved
from naive import svm as naive
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
)

from manylabel.exceptions import InputError, ParameterError
from manylabel.linear import OneVsRestSVM, SubsetSVM
from manylabel.models import MODELS, make_model

EXACT = {"tol": 1e-10, "prune": 0, "max_iter": 100_000}


@given(problems(), st.integers(0, 2**16))
def test_the_objective_is_that_of_newtons_method(drawn, seed):
    weights = np.random.default_rng(seed).choice([0.1, 0.5, 1.0, 3.0], len(drawn[0]))
    _, solution = solved(*drawn, weights=weights)
    X, y, costs = in_words(*drawn)
    expected = naive.primal(naive.solve(X, y, costs * weights), X, y, costs * weights)
    found = naive.primal(solution.w, X, y, costs * weights)
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_coefficients_are_those_of_liblinear():
    X, Y = make_problem()
    weights = np.random.default_rng(1).uniform(0, 3, X.shape[0])
    ours = OneVsRestSVM(1.0, weighting="raw", threshold=0.0, **EXACT)
    ours.fit(X, Y, sample_weight=weights)
    for label in range(Y.shape[1] - 1):
        target = Y[:, [label]].toarray().ravel()
        theirs = LinearSVC(dual=True, tol=1e-9, max_iter=1_000_000)
        theirs.fit(X, target, sample_weight=weights)
        found = ours.coef_[:, [label]].toarray().ravel()
        np.testing.assert_allclose(found, theirs.coef_[0], atol=1e-5)
        assert ours.intercept_[label] == pytest.approx(theirs.intercept_[0], abs=1e-5)


@pytest.mark.parametrize("weighting", ["tfidf", "bm25", "raw"])
def test_a_sample_of_weight_two_is_the_sample_twice(weighting):
    X, Y = make_problem()
    weights = np.random.default_rng(2).integers(0, 4, X.shape[0])
    rows = np.repeat(np.arange(X.shape[0]), weights)
    model = OneVsRestSVM(weighting=weighting, threshold=0.0, n_candidates=None, **EXACT)
    scores = model.fit(X, Y, sample_weight=weights).decision_function(X)
    repeated = model.fit(X[rows], Y[rows]).decision_function(X)
    np.testing.assert_array_equal(scores.indices, repeated.indices)
    np.testing.assert_allclose(scores.data, repeated.data, atol=1e-5)


@pytest.mark.parametrize("cls", [OneVsRestSVM, SubsetSVM])
@pytest.mark.parametrize("threshold", ["cardinality", "proportional"])
def test_weights_of_zero_and_one_are_absence_and_presence(cls, threshold):
    X, Y = make_problem()
    there = np.arange(X.shape[0]) % 3 > 0
    some = cls(threshold=threshold).fit(X, Y, sample_weight=there)
    alone = cls(threshold=threshold).fit(X[there], Y[there])
    np.testing.assert_array_equal(some.coef_.toarray(), alone.coef_.toarray())
    np.testing.assert_array_equal(some.intercept_, alone.intercept_)
    np.testing.assert_array_equal(some.predict(X).toarray(), alone.predict(X).toarray())


def test_a_scorer_of_candidates_weighs_costs():
    X, Y = make_problem()
    heavy = np.where(np.arange(X.shape[0]) < 60, 5.0, 0.2)
    alike, weighted = SubsetSVM().fit(X, Y), SubsetSVM().fit(X, Y, sample_weight=heavy)
    first, last = slice(0, 60), slice(60, None)

    def loss(model, rows):
        signs = 2.0 * Y[rows].toarray()[:, :-1] - 1
        margins = (X_(model, rows) @ model.coef_ + model.intercept_)[:, :-1]
        return float((np.maximum(0, 1 - signs * margins) ** 2).sum())

    def X_(model, rows):
        return model.weighting_.transform(X[rows])

    assert loss(weighted, first) < loss(alike, first)
    assert loss(weighted, last) > loss(alike, last)


@pytest.mark.parametrize("cls", [OneVsRestSVM, SubsetSVM])
@pytest.mark.parametrize(
    "check",
    [check_sample_weight_equivalence_on_dense_data, check_sample_weight_equivalence_on_sparse_data],
)
def test_scikit_learn_finds_weights_equal_to_repetition(cls, check):
    check(cls.__name__, cls(tol=1e-12, prune=0, max_iter=100_000))


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ([1.0], "a number for each of the 120 samples; got an array of shape (1,)."),
        ([-1.0, *[1] * 119], "must contain numbers of at least 0; got -1.0 for sample 0."),
        (
            [1, float("nan"), *[1] * 118],
            "must contain numbers of at least 0; got nan for sample 1.",
        ),
        (["many"] * 120, "must contain numbers of at least 0; got 'many' for sample 0."),
        ([0] * 120, "`sample_weight` is zero for every sample; give at least one a weight."),
    ],
)
def test_what_is_no_weight_is_refused(weights, sentence):
    X, Y = make_problem()
    with pytest.raises(InputError) as refused:
        OneVsRestSVM().fit(X, Y, sample_weight=weights)
    assert sentence in str(refused.value)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_models_without_weights_say_so(name):
    X, Y = make_problem()
    model = make_model(name)
    if isinstance(model, OneVsRestSVM | SubsetSVM):
        return
    with pytest.raises(ParameterError) as refused:
        model.fit(X, Y, sample_weight=np.ones(X.shape[0]))
    assert str(refused.value) == (
        f"{type(model).__name__} does not support `sample_weight`; leave it out, repeat "
        "documents that should count more, or use OneVsRestSVM or SubsetSVM."
    )


def test_other_arguments_are_unknown():
    X, Y = make_problem()
    for model in (OneVsRestSVM(), make_model("lcif")):
        with pytest.raises(TypeError, match=r"\.fit has no argument 'wieght'"):
            model.fit(X, Y, wieght=1)


def test_targets_may_be_named_as_scikit_learn_names_them():
    X, Y = make_problem()
    for model in (OneVsRestSVM(), make_model("lcif")):
        scores = model.fit(X=X, y=Y).decision_function(X)
        again = model.fit(X, Y).decision_function(X)
        np.testing.assert_array_equal(scores.toarray(), again.toarray())
