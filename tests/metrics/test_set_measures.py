"""Measures of label sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from metrics.problems import indicator, problems
from naive import measures as naive
from sklearn import metrics as sklearn_metrics

from manylabel import metrics
from manylabel.exceptions import InputError, ParameterError

NAMES = ("precision", "recall", "f1")


def sets_of(problem):
    return problem.Y, indicator(problem.predicted, problem.n_labels)


@given(problem=problems(min_labels=2))
@pytest.mark.parametrize("average", ["micro", "macro", "example"])
def test_precision_recall_f1_agree_with_scikit_learn(average, problem):
    Y, P = sets_of(problem)
    theirs = sklearn_metrics.precision_recall_fscore_support(
        problem.dense_truth,
        P.toarray(),
        average="samples" if average == "example" else average,
        zero_division=0,
    )
    ours = [getattr(metrics, name)(Y, P, average) for name in NAMES]
    assert ours == pytest.approx(theirs[:3])


@given(problem=problems(min_labels=2))
def test_accuracies_and_hamming_loss_agree_with_scikit_learn(problem):
    Y, P = sets_of(problem)
    truth, given_labels = problem.dense_truth, P.toarray()
    assert metrics.accuracy(Y, P) == pytest.approx(
        sklearn_metrics.jaccard_score(truth, given_labels, average="samples", zero_division=0)
    )
    assert metrics.hamming_loss(Y, P) == pytest.approx(
        sklearn_metrics.hamming_loss(truth, given_labels)
    )
    assert metrics.subset_accuracy(Y, P) == pytest.approx(
        sklearn_metrics.accuracy_score(truth, given_labels)
    )


@given(problem=problems(min_labels=2))
def test_macro_f1_of_absent_labels_agrees_with_scikit_learn(problem):
    Y, P = sets_of(problem)
    for absent, zero_division in (("zero", 0.0), ("one", 1.0), ("skip", np.nan)):
        theirs = sklearn_metrics.f1_score(
            problem.dense_truth, P.toarray(), average="macro", zero_division=zero_division
        )
        assert metrics.f1(Y, P, "macro", absent=absent) == pytest.approx(theirs, nan_ok=True)


@given(problem=problems())
@pytest.mark.parametrize("absent", ["zero", "one", "skip"])
def test_means_agree_with_their_definitions(absent, problem):
    Y, P = sets_of(problem)
    by_label = [
        naive.transposed_sets(s, problem.n_labels) for s in (problem.truth, problem.predicted)
    ]
    for name in NAMES:
        measure = getattr(metrics, name)
        assert measure(Y, P, "macro", absent=absent) == pytest.approx(
            naive.set_measure(*by_label, name, absent), nan_ok=True
        )
        assert measure(Y, P, "example", absent=absent) == pytest.approx(
            naive.set_measure(problem.truth, problem.predicted, name, absent), nan_ok=True
        )
    assert metrics.accuracy(Y, P, absent=absent) == pytest.approx(
        naive.set_measure(problem.truth, problem.predicted, "jaccard", absent), nan_ok=True
    )


def test_a_label_that_is_true_but_never_given_has_precision_zero_whatever_absent_says():
    values = metrics.precision([[1, 0]], [[0, 0]], None, absent="one")
    assert values.tolist() == [0.0, 1.0]


def test_a_perfect_answer_scores_perfectly():
    Y = [[1, 0, 1], [0, 1, 0]]
    assert metrics.f1(Y, Y, "macro") == metrics.accuracy(Y, Y) == 1.0
    assert metrics.hamming_loss(Y, Y) == 0.0


def test_unknown_choices_are_refused():
    with pytest.raises(ParameterError, match="`average` must be 'micro', 'macro', 'example'"):
        metrics.f1([[1]], [[1]], "weighted")
    with pytest.raises(ParameterError, match="`absent` must be 'zero', 'one' or 'skip'"):
        metrics.f1([[1]], [[1]], absent="nan")


def test_shapes_must_agree():
    with pytest.raises(InputError, match="Y_true and Y_pred must have the same shape"):
        metrics.f1([[1, 0]], [[1]])
