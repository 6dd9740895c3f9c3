"""Measures of whole rankings, for documents and for labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from metrics.problems import problems
from naive import measures as naive
from sklearn import metrics as sklearn_metrics

from manylabel import metrics
from manylabel.exceptions import ParameterError

MEASURES = {
    "auc-roc": metrics.auc_roc,
    "auc-pr": metrics.auc_pr,
    "average-precision": metrics.average_precision,
    "one-error": metrics.one_error,
    "is-error": metrics.is_error,
    "margin": metrics.margin,
    "ranking-loss": metrics.ranking_loss,
    "coverage-error": metrics.coverage_error,
}


@pytest.mark.parametrize("name", MEASURES)
@given(problem=problems())
def test_each_document_agrees_with_the_definition(name, problem):
    values = MEASURES[name](problem.Y, problem.S, empty="skip", average=False)
    for value, true, candidates in zip(values, problem.truth, problem.scores, strict=True):
        expected = naive.full_ranking(true, candidates, problem.n_labels)
        if expected is None:
            assert np.isnan(value)
        else:
            assert value == pytest.approx(expected[name])


@pytest.mark.parametrize("name", MEASURES)
@given(problem=problems())
def test_the_label_pivoted_view_is_the_transposed_problem(name, problem):
    values = MEASURES[name](problem.Y, problem.S, pivot="label", empty="skip", average=False)
    truth = naive.transposed_sets(problem.truth, problem.n_labels)
    scores = naive.transposed_scores(problem.scores, problem.n_labels)
    for value, true, candidates in zip(values, truth, scores, strict=True):
        expected = naive.full_ranking(true, candidates, len(problem.truth))
        if expected is None:
            assert np.isnan(value)
        else:
            assert value == pytest.approx(expected[name])


@pytest.mark.parametrize("name", MEASURES)
@given(problem=problems())
def test_labels_are_measured_that_occur_in_truth_and_training(name, problem):
    values = MEASURES[name](
        problem.Y, problem.S, pivot="label", Y_train=problem.Y_train, average=False
    )
    for label, value in enumerate(values):
        kept = any(label in t for t in problem.truth) and any(label in t for t in problem.train)
        assert np.isnan(value) == (not kept)


@given(problem=problems(min_labels=2))
def test_label_ranking_measures_agree_with_scikit_learn(problem):
    truth, scores = problem.dense_truth, problem.dense_scores
    assert metrics.average_precision(problem.Y, problem.S) == pytest.approx(
        sklearn_metrics.label_ranking_average_precision_score(truth, scores)
    )
    assert metrics.coverage_error(problem.Y, problem.S) == pytest.approx(
        sklearn_metrics.coverage_error(truth, scores)
    )


@given(problem=problems())
def test_areas_and_precisions_of_a_label_agree_with_scikit_learn(problem):
    truth, scores = problem.dense_truth, problem.dense_scores
    areas, precisions = (
        measure(problem.Y, problem.S, pivot="label", empty="skip", average=False)
        for measure in (metrics.auc_roc, metrics.average_precision)
    )
    for label in np.flatnonzero(~np.isnan(areas)):
        column = truth[:, label], scores[:, label]
        assert areas[label] == pytest.approx(sklearn_metrics.roc_auc_score(*column))
        assert precisions[label] == pytest.approx(sklearn_metrics.average_precision_score(*column))


@given(problem=problems())
def test_a_ranking_with_nothing_to_order_counts_as_perfect_or_not_at_all(problem):
    ordered = np.array([0 < len(t) < problem.n_labels for t in problem.truth])
    perfect = {"auc-roc": 1.0, "auc-pr": 1.0, "average-precision": 1.0}
    for name, measure in MEASURES.items():
        if name == "coverage-error":
            continue
        counted = measure(problem.Y, problem.S, average=False)
        assert set(counted[~ordered]) <= {perfect.get(name, 0.0)}
        left_out = measure(problem.Y, problem.S, empty="skip", average=False)
        np.testing.assert_array_equal(np.isnan(left_out), ~ordered)


@pytest.mark.parametrize("pivot", ["document", "label"])
@given(problem=problems())
def test_ranking_loss_is_one_minus_the_area_under_roc_whatever_the_ties(pivot, problem):
    loss, area = (
        measure(problem.Y, problem.S, pivot=pivot, empty="skip", average=False)
        for measure in (metrics.ranking_loss, metrics.auc_roc)
    )
    np.testing.assert_allclose(loss, 1 - area, atol=1e-12)


def test_ranking_loss_is_that_of_scikit_learn_where_nothing_is_tied():
    Y, scores = [[1, 0, 1, 0], [0, 0, 0, 1]], [[0.1, 0.4, 0.3, 0.2], [0.4, 0.1, 0.2, 0.3]]
    expected = sklearn_metrics.label_ranking_loss(Y, scores)
    assert metrics.ranking_loss(Y, scores) == pytest.approx(expected)


def test_precision_recall_begins_with_the_first_point_that_has_a_true_positive():
    assert metrics.auc_pr([[0, 1]], [[0.9, 0.5]]) == 0.5
    # Ranks 2 and 3: precisions 1/2 and 2/3, and level at 1/2 before.
    assert metrics.auc_pr([[0, 1, 1]], [[3, 2, 1]]) == pytest.approx((1 / 2 + 7 / 12) / 2)
    # Wrong, then two of three in a tie: one point with 2 right of 4.
    assert metrics.auc_pr([[0, 1, 1, 0]], [[3, 2, 2, 2]]) == pytest.approx(1 / 2)


def test_precision_bends_between_points_as_davis_and_goadrich_have_it():
    # One tied step from (tp 1, fp 0) to (tp 3, fp 4), then nothing: precisions 1, 1/2, 3/7.
    Y, scores = [[1, 1, 1, 0, 0, 0, 0]], [[0.9, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]]
    expected = (1 + (1 + 1 / 2) / 2 + (1 / 2 + 3 / 7) / 2) / 3
    assert metrics.auc_pr(Y, scores) == pytest.approx(expected)


def test_unknown_choices_are_refused():
    with pytest.raises(ParameterError, match="`pivot` must be 'document' or 'label'"):
        metrics.auc_roc([[1, 0]], [[1, 0]], pivot="row")
    with pytest.raises(ParameterError, match="`empty` must be 'perfect' or 'skip'"):
        metrics.auc_roc([[1, 0]], [[1, 0]], empty="zero")
